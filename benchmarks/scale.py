"""What more memories, more scopes and more tenants cost: the same calls from 1,000 to 1,000,000 memories.

    python benchmarks/scale.py                                   one large scope, and scopes of 100, at every size
    python benchmarks/scale.py --sizes 1000,10000 --kinds large  some of it
    python benchmarks/scale.py --keep DIR                        keeps the crowds in DIR, and finds them there again

Every size is a crowd (`benchmarks/crowds.py`) in a database of its own. Of each: the time of every call beside its
floor, the growth per tenfold, planning, what sixteen clients get done, recall@10 of the vectors against an exact scan,
and bytes a memory by table. Then reads and writes while the job puts vectors of a large scope into its graph, with many
sessions and with much that waits for a worker, and the same memories in 10 and in 10,000 tenants.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))

import machine
import psycopg
import report
from clients import Case, Client
from crowds import Crowd, Filled, Shape, opened, vectors_of
from floors import EXACT, Half
from profile_calls import Watch, watched
from speed import ALTERNATED, LEAST, SECONDS, Measured, compare, crowd_data, many_clients, milliseconds, percentiles
from watching import took

from engram import derivation, recall, tenancy
from engram.channels import semantic

SIZES: Final = (1_000, 10_000, 100_000, 1_000_000)
KINDS: Final = ("large", "small")
CALLS: Final = (
    "search", "recall", "build_context", "traverse", "get_lineage", "add", "add_many", "remember", "append",
    "append_many", "enqueue", "claim",
)  # fmt: skip
RUSHED: Final = ("search", "recall", "build_context", "traverse", "add", "add_many", "append", "claim")
TIMES: Final = 100
ASKED: Final = 30  # questions of which the nearest are compared with the exact ones
MANY_TENANTS: Final = (10, 10_000)
TENANT_ROWS: Final = 100_000
LARGEST: Final = 14  # tables and indexes that are shown
WAITING: Final = ((1, 0), (1_000, 0), (10_000, 0), (10_000, 100), (10_000, 1_000), (10_000, 10_000), (10_000, 100_000))
WAITING_ROWS: Final = 10_000
MESSAGES: Final = 500  # of one call
GRAPHED: Final = 5_000  # vectors that are put into a graph while others read and write
BYTES: Final = """
    SELECT regexp_replace(coalesce(p.relname, c.relname), '_\\d\\d$', '') AS name,
           CASE WHEN c.relkind = 'i' THEN regexp_replace(c.relname, '_\\d\\d_', '_') ELSE 'rows' END AS part,
           sum(pg_table_size(c.oid)) AS bytes
      FROM pg_class c
      LEFT JOIN pg_index x ON x.indexrelid = c.oid
      LEFT JOIN pg_class p ON p.oid = x.indrelid
     WHERE c.relnamespace = 'engram'::regnamespace AND c.relkind IN ('r', 'i')
     GROUP BY 1, 2 HAVING sum(pg_table_size(c.oid)) > 0 ORDER BY 3 DESC
"""


@dataclass
class Size:
    """What was measured of one crowd."""

    kind: str
    rows: int
    relations: int  # of a memory
    found: list[Measured] = field(default_factory=list)
    planning: float = 0.0  # ms of a search
    recalled: float = 0.0
    exact: float = 0.0  # ms of the exact scan
    rushed: list[list[Any]] = field(default_factory=list)  # what sixteen clients get done, a call a row
    bytes: list[tuple[str, str, int]] = field(default_factory=list)
    seconds: float = 0.0  # that filling took

    def middle(self, name: str) -> float:
        """The median of a call."""
        return next(statistics.median(one.calls) for one in self.found if one.case.name == name)

    def late(self, name: str) -> float | None:
        """The 95th percentile of a call."""
        return next(percentiles(one.calls)[1] for one in self.found if one.case.name == name)

    def shown(self, name: str) -> str:
        """The percentiles of a call."""
        return next(
            " / ".join(map(milliseconds, percentiles(one.calls))) for one in self.found if one.case.name == name
        )


def measure(crowd: Crowd, names: Sequence[str], times: int, seconds: float) -> Size:
    """Everything of one crowd."""
    size = Size(crowd.shape.kind, crowd.shape.rows, crowd.shape.relations, seconds=sum(crowd.seconds.values()))
    size.bytes = _bytes(crowd)
    filled = crowd.scopes[len(crowd.scopes) // 2]
    with Client(crowd, filled) as client:
        if "claim" in names:
            client.fill_queue(12 * times + 1_000)
        for case in client.cases(tuple(names)):
            size.found.append(compare(case, times))
            print(f"  {size.kind} {size.rows:>9,}  " + " ".join(map(str, size.found[-1].row()[:9])), flush=True)
        client.derive()
        size.planning = planning(client)
        size.recalled, size.exact = recalled(client, filled)
    print(f"  {size.kind} {size.rows:>9,}  recall@10 {size.recalled:.3f}, planning {size.planning:.2f} ms", flush=True)
    size.rushed = many_clients(crowd, [name for name in RUSHED if name in names], seconds, split=False)
    return size


def _bytes(crowd: Crowd) -> list[tuple[str, str, int]]:
    with psycopg.connect(crowd.plain) as conn:
        return [(name, part, int(size)) for name, part, size in conn.execute(BYTES)]


def planning(client: Client) -> float:
    """Milliseconds that the server plans the statements of a search, as far as they are not kept planned."""
    watch = Watch(explain=True)
    for _ in range(3):
        client.door.search(client.question())
    with watched(watch):
        for _ in range(5):
            client.door.search(client.question())
    return sum(one.planning for one in watch.ran.values()) / 5


def recalled(client: Client, filled: Filled) -> tuple[float, float]:
    """The share of the ten nearest that a search by meaning finds, and the milliseconds of the exact scan."""
    found, scanned = 0, []
    exact = EXACT.replace("LIMIT 60", "LIMIT 10")
    vectors = vectors_of([client.question() for _ in range(ASKED)])
    asked = recall.prepare("anything", mode="semantic", limit=10)
    database = client.door._core.database()
    for vector in vectors:

        def ask(conn: Any, vector: Any = vector) -> Any:
            looked = recall.look(conn, tenancy.visible(conn, filled.scope), asked)
            return recall.find(conn, asked, looked, recall.Meaning(vector, semantic.default_model()))

        answer = database.run(filled.scope.tenant_id, ask, read_only=True)
        nearest = sorted(answer.candidates, key=lambda one: -(one.cosine or -1.0))[:10]
        sent = client.floors.read | {"vector": Half(vector)}
        scanned.append(took(lambda sent=sent: client.floors.conn.execute(exact, sent).fetchall()))
        true = {str(row[0]) for row in client.floors.conn.execute(exact, sent)}
        found += len(true & {one.memory.memory_id for one in nearest})
    return found / (min(10, filled.rows) * ASKED), statistics.median(scanned)


def graphing(keep: Path | None, rows: int, times: int) -> report.Table:
    """Reads and writes of a large scope before, and while its vectors go into the graph as the job puts them there."""
    columns = ["", "search p50 ms", "search p95", "add p50", "add p95"]
    with opened(Shape.usual("large", rows), keep, say=_say) as crowd, Client(crowd, crowd.scopes[0]) as client:
        _ungraph(crowd, GRAPHED)
        cases = client.cases(("search", "add"))
        before = ["before", *_both(cases, times)]
        with ThreadPoolExecutor(1) as pool:
            job = pool.submit(_graph, client)
            meanwhile = ["meanwhile", *_both(cases, times, job)]
            batches = job.result()
    print("  graph", before, meanwhile, flush=True)
    middle, longest = statistics.median(batches), max(batches)
    rate = GRAPHED / sum(batches)
    note = (
        f"{GRAPHED:,} vectors went into the graph of {rows:,}, {rate:,.0f} a second, in transactions of"
        f" {semantic.BATCH:,}: {middle:.1f} s at the median, {longest:.1f} s at most. What a job has put there stays"
        " when it is stopped. Until then a search compares what waits exactly, and finds it."
    )
    return report.Table(f"While a graph is built, one scope of {rows:,}", columns, [before, meanwhile], [note])


def _ungraph(crowd: Crowd, many: int) -> None:
    with psycopg.connect(crowd.plain, autocommit=True) as conn:
        conn.execute(
            "UPDATE engram.memory_embeddings e SET indexed = false WHERE (e.tenant_id, e.scope_id, e.memory_id) IN ("
            " SELECT i.tenant_id, i.scope_id, i.memory_id FROM engram.memory_embeddings i WHERE i.indexed LIMIT %s)",
            (many,),
        )
        conn.execute("VACUUM ANALYZE engram.memory_embeddings")


def _graph(client: Client) -> list[float]:
    """Put what waits into the graph, as the job does; seconds of each batch."""
    tenant = client.filled.scope.tenant_id
    found: list[float] = []

    def batch(conn: Any) -> int:
        asked = (tenant, client.filled.scope_id, semantic.default_model())
        return semantic.index_fresh(conn, *asked, fresh=0, large=0)

    while True:
        begun = time.perf_counter()
        if not client.door._core.database().run(tenant, batch):
            return found
        found.append(time.perf_counter() - begun)


def _both(cases: Sequence[Case], times: int, until: Future[Any] | None = None) -> list[str]:
    """Percentiles of two calls in turn: so many times, or for as long as something else is not done."""
    found: list[list[float]] = [[] for _ in cases]
    while len(found[0]) < times if until is None else not until.done():
        for case, into in zip(cases, found, strict=True):
            into.append(took(case.call))
    return [milliseconds(one) for into in found for one in percentiles(into)[:2]]


def waiting(keep: Path | None, rows: int, times: int) -> report.Table:
    """Calls in a scope of many sessions that are derived to their end, and then with more and more that is not."""
    columns = [
        "sessions",
        "events that wait",
        "search p50 ms",
        "search p95",
        "times its floor",
        "remember p50 ms",
        "p95",
    ]
    made = []
    with opened(Shape.usual("large", rows), keep, say=_say) as crowd, Client(crowd, crowd.scopes[0]) as client:
        client.derive()
        held = waits = 0
        for sessions, events in WAITING:
            while held < sessions:
                client.door.remember(client.facts(1)[0], session_id=f"read-{held}")
                held += 1
            if not waits:
                _read_to_the_end(crowd)
            while waits < events:
                many = min(MESSAGES, events - waits)
                client.door.remember(
                    [{"role": "user", "content": one} for one in client.facts(many)], session_id="waits"
                )
                waits += many
            left = _left(crowd)
            search = compare(client.cases(("search",))[0], times)
            remember = compare(client.cases(("remember",))[0], times if not events else LEAST)
            spent = [*percentiles(search.calls)[:2], *percentiles(remember.calls)[:2]]
            first, second, third, last = map(milliseconds, spent)
            made.append([held, left, first, second, f"{search.ratio:.2f}", third, last])
            print("  waiting", made[-1], flush=True)
    note = (
        "Sessions of one message each, which every deriver has read; then messages of one more session, which none has:"
        " as if no worker ran. The newest 200 are compared with the question by their words, 99 by their meaning."
    )
    return report.Table(f"Sessions, and what waits for a worker: one scope of {rows:,}", columns, made, [note])


def _left(crowd: Crowd) -> int:
    """How many events wait for derivers."""
    with psycopg.connect(crowd.plain) as conn:
        row = conn.execute("SELECT coalesce(sum(derivable - derived), 0) FROM engram.event_streams").fetchone()
    assert row is not None
    return int(row[0])


def _read_to_the_end(crowd: Crowd) -> None:
    """Leave all events as a worker does that has found nothing to keep in them."""
    with psycopg.connect(crowd.plain, autocommit=True) as conn:
        conn.execute(
            "INSERT INTO engram.derivations (tenant_id, stream_id, deriver, version, position)"
            " SELECT s.tenant_id, s.stream_id, d.name, d.version, s.derivable FROM engram.event_streams s"
            "  CROSS JOIN unnest(%s::text[], %s::integer[]) d (name, version) WHERE s.waiting"
            " ON CONFLICT (tenant_id, stream_id, deriver, version) DO UPDATE SET position = excluded.position",
            [list(one) for one in zip(*derivation.versions(), strict=True)],
        )
        conn.execute("UPDATE engram.event_streams SET derived = derivable WHERE waiting")
        conn.execute(
            "UPDATE engram.memory_jobs SET state = 'done', asleep = false, finished_at = clock_timestamp()"
            " WHERE kind = 'derive' AND state = 'queued'"
        )
        conn.execute("VACUUM ANALYZE engram.event_streams, engram.derivations, engram.memory_jobs")


def tenants(keep: Path | None, rows: int, times: int) -> report.Table:
    """The same memories in few tenants and in many: nothing may grow with their number."""
    columns = ["tenants", "search p50 ms", "search p95", "add p50", "add p95", "planning ms", "indexes", "relations"]
    made = []
    for many in MANY_TENANTS:
        most = min(many, rows // 10)
        with opened(Shape("small", rows, most, each=10), keep, say=_say) as crowd:
            with psycopg.connect(crowd.plain) as conn:
                counted = conn.execute(
                    "SELECT count(*) FILTER (WHERE relkind IN ('i', 'I')), count(*) FROM pg_class"
                    " WHERE relnamespace = 'engram'::regnamespace"
                ).fetchone()
            assert counted is not None
            with Client(crowd, crowd.scopes[0]) as client:
                search, add = (compare(case, times) for case in client.cases(("search", "add")))
                spent = [*percentiles(search.calls)[:2], *percentiles(add.calls)[:2], planning(client)]
                made.append([most, *map(milliseconds, spent), *counted])
                print("  tenants", made[-1], flush=True)
    return report.Table(f"{rows:,} memories, ten a scope, in few tenants and in many", columns, made)


def times_table(kind: str, sizes: Sequence[Size]) -> report.Table:
    """A call a row, its times at every size, and what the last ten times more memories cost."""
    columns = [
        "call",
        *(f"{one.rows:,}" for one in sizes),
        "ratio to floor, largest",
        "per tenfold p50",
        "p95",
    ]
    rows = []
    for place, measured in enumerate(sizes[0].found):
        name = measured.case.name
        grown = [growth(sizes, each) for each in (partial(Size.middle, name=name), partial(Size.late, name=name))]
        told = ["–" if one is None else f"{one:.2f}" for one in grown]
        rows.append([name, *(one.shown(name) for one in sizes), f"{sizes[-1].found[place].ratio:.2f}", *told])
    title = f"{TITLES[kind]}: p50 / p95 / p99 in ms by the number of memories"
    return report.Table(title, columns, rows, lighter(sizes))


def crowded_table(kind: str, sizes: Sequence[Size]) -> report.Table:
    """What sixteen clients get done at every size, a call a row: rows a second, how many their floors, and times."""
    columns = ["call", *(f"{one.rows:,}" for one in sizes)]
    rows = []
    for place, (name, *_) in enumerate(sizes[0].rushed):
        cells = []
        for one in sizes:
            _, rate, bare, _, _, middle, late, last = one.rushed[place]
            cells.append(f"{rate:,} of {bare:,}; {middle} / {late} / {last}")
        rows.append([name, *cells])
    note = "Calls or rows a second of those of the bare statements; p50 / p95 / p99 of a call in ms."
    return report.Table(f"{TITLES[kind]}: sixteen clients by the number of memories", columns, rows, [note, ALTERNATED])


def lighter(sizes: Sequence[Size]) -> list[str]:
    """What is to be known where not all sizes have as many relations. Pure."""
    few = [one for one in sizes if one.relations < sizes[0].relations]
    return [
        f"A memory has {sizes[0].relations} relations, of {one.rows:,} memories {one.relations}: there `traverse`,"
        " `build_context` and the bytes of a memory are less for that, too, and their growth says nothing."
        for one in few
    ]


def growth(sizes: Sequence[Size], of: Callable[[Size], float | None]) -> float | None:
    """By how much something grows where the memories grow tenfold, from the smallest size to the largest. Pure."""
    first, last = of(sizes[0]), of(sizes[-1])
    if first is None or last is None or sizes[0].rows == sizes[-1].rows:
        return None
    return float((last / first) ** (1 / math.log10(sizes[-1].rows / sizes[0].rows)))


def size_table(kind: str, sizes: Sequence[Size]) -> report.Table:
    """What is not a time of a call."""
    columns = ["memories", "recall@10", "exact scan ms", "planning of a search ms", "KB a memory", "filled in s"]
    rows = [
        [one.rows, f"{one.recalled:.3f}", milliseconds(one.exact), milliseconds(one.planning),
         f"{sum(b for _, _, b in one.bytes) / one.rows / 1024:.1f}", round(one.seconds)]
        for one in sizes
    ]  # fmt: skip
    return report.Table(f"{TITLES[kind]}: recall, planning, bytes", columns, rows)


def bytes_table(kind: str, size: Size) -> report.Table:
    """Bytes a memory by table and index, the largest first."""
    rows = [[name, part, round(held / size.rows)] for name, part, held in size.bytes[:LARGEST]]
    rest = sum(held for _, _, held in size.bytes[LARGEST:])
    title = f"{TITLES[kind]}: bytes a memory on disk, of {size.rows:,}"
    return report.Table(
        title, ["table", "rows or index", "bytes"], [*rows, ["all others", "", round(rest / size.rows)]]
    )


TITLES: Final = {"large": "One large scope", "small": "Scopes of 100"}
ABOUT: Final = (
    "The same calls on crowds of different sizes, each in a database of its own: one scope that holds everything, and"
    " as many scopes of 100 as it takes. Goals: p95 at a million memories in 10,000 scopes at most twice that at"
    " 10,000; planning constant; nothing linear in the number of tenants."
)


def _say(said: str) -> None:
    print(said, file=sys.stderr, flush=True)


def main() -> None:
    """Measure every size of every kind, print, and save; of a part nothing is saved."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=machine.sizes, default=SIZES, help="by commas; of fewer nothing is saved")
    parser.add_argument("--kinds", type=machine.some_of(KINDS), default=KINDS, help="one of them; nothing is saved")
    parser.add_argument("--only", type=machine.some_of(CALLS), default=CALLS, help="some calls; nothing is saved")
    parser.add_argument(
        "--times", type=machine.number, default=TIMES, help=f"calls of each; below {TIMES} nothing is saved"
    )
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of sixteen clients; of less nothing is saved")
    parser.add_argument("--tenant-rows", type=int, default=TENANT_ROWS, help="0 leaves the tenants out")
    parser.add_argument("--graph-rows", type=int, default=TENANT_ROWS, help="0 leaves the graph out")
    parser.add_argument("--waiting-rows", type=int, default=WAITING_ROWS, help="0 leaves out what waits")
    parser.add_argument("--keep", type=Path, help="keep the crowds in this folder, and find them there again")
    given = parser.parse_args()
    tables, plots, used = [], [], []
    versions: dict[str, str] = {}
    with report.progress("crowds", len(given.sizes) * len(given.kinds)) as step:
        for kind in given.kinds:
            found = []
            for rows in given.sizes:
                shape = Shape.usual(kind, rows)
                with opened(shape, given.keep, say=_say) as crowd:
                    versions = machine.versions(crowd.url)
                    found.append(measure(crowd, given.only, given.times, given.seconds))
                used.append(crowd_data(shape))
                step(f"{kind} {rows:,}")
            made = [times_table, crowded_table, size_table]
            tables += [*(each(kind, found) for each in made), bytes_table(kind, found[-1])]
            plots += plots_of(kind, found)
            show(tables[-4:])
    if "large" in given.kinds and given.graph_rows:
        tables.append(graphing(given.keep, given.graph_rows, given.times))
        show(tables[-1:])
    if "large" in given.kinds and given.waiting_rows:
        tables.append(waiting(given.keep, given.waiting_rows, given.times))
        show(tables[-1:])
    if given.tenant_rows:
        tables.append(tenants(given.keep, given.tenant_rows, given.times))
        show(tables[-1:])
    if not is_whole(given):
        print(report.PART)
        return
    report.save("scale", title="Scale", about=ABOUT, versions=versions, tables=tables, plots=plots, data=used)


def is_whole(given: argparse.Namespace) -> bool:
    """Whether a run is of everything, nowhere less than usual, and may take the place of the record. Pure."""
    usual = (
        (given.times, TIMES), (given.seconds, SECONDS), (given.graph_rows, TENANT_ROWS),
        (given.waiting_rows, WAITING_ROWS), (given.tenant_rows, TENANT_ROWS),
    )  # fmt: skip
    parts = ((given.sizes, SIZES), (given.kinds, KINDS), (given.only, CALLS))
    return all(set(some) >= set(every) for some, every in parts) and all(one >= least for one, least in usual)


def show(tables: Sequence[report.Table]) -> None:
    """Print tables as they are done: what a crash would lose otherwise."""
    for table in tables:
        print(f"\n{table.title}\n{report.markdown(table.columns, table.rows)}", flush=True)


def plots_of(kind: str, sizes: Sequence[Size]) -> list[report.Plot]:
    """Medians and 95th percentiles by the number of memories, and bytes by table. Pure."""
    at = [float(size.rows) for size in sizes]
    made = []
    for title, of in (("medians", Size.middle), ("95th percentiles", Size.late)):
        series = []
        for one in sizes[0].found:
            lines = [(x, y) for x, size in zip(at, sizes, strict=True) if (y := of(size, one.case.name)) is not None]
            series.append(report.Series(one.case.name, [x for x, _ in lines], [y for _, y in lines]))
        made.append(report.Plot(f"{TITLES[kind]}: {title}", "lines", series, "memories", "ms", ("x", "y")))
    parts = [(table, part) for table, part, _ in sizes[-1].bytes[:LARGEST]]
    names = [table if part == "rows" else part for table, part in parts]
    series = []
    for size in sizes:
        held = {(table, part): bytes_ / size.rows for table, part, bytes_ in size.bytes}
        series.append(report.Series(f"{size.rows:,}", names, [held.get(one, 0.0) for one in parts]))
    made.append(report.Plot(f"{TITLES[kind]}: bytes a memory on disk", "bars", series, "bytes a memory"))
    return made


if __name__ == "__main__":
    main()
