"""Milliseconds of every call beside its floor, with one client and with sixteen; statements and round trips of each.

    python benchmarks/speed.py                        10,000 memories, two of whose users are measured
    python benchmarks/speed.py --rows 10000,100000 --keep DIR      and what ten times more cost
    python benchmarks/speed.py --only search,add --times 200

A crowd (`benchmarks/crowds.py`) of the shape `mixed`: one user has 20 % of the rows, one 0.8 %, the others 100 each.
Every call is measured in turn with its floor (`benchmarks/floors.py`), the same rows or the same question in bare SQL
on the same tables: what else the machine does falls on both, and the ratio is what counts. Calls are the door's own,
with default settings: recalls are logged, accesses counted, writes judged and durable.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))

import machine
import numpy as np
import psutil
import psycopg
import report
from clients import CALLS, READS, Case, Client
from crowds import BIG, LITTLE, Crowd, Shape, digest, opened, vectors_of
from watching import Sent, Wire, took

from engram.cli.machine import LEAST, milliseconds, percentiles
from engram.settings import load

TIMES: Final = 150
WARM: Final = 8
CLIENTS: Final = 16
PROCESSES: Final = 4
READY: Final = 60.0  # seconds that a process of clients waits for the others, so that they begin together
_GATES: Final[list[Any]] = []  # of this process, where it is one of several
SENT: Final = 5  # calls of which that is told that sends the least: some write asks for upkeep
SECONDS: Final = 1.5
TURNS: Final = 3  # rushes of the calls and of their floors, in turn
USUAL: Final = 10_000  # memories, of fewer of which nothing is saved
FEWEST: Final = 100  # memories, so that somebody has the ten that are sought
REFERRED: Final = 200  # searches beside what they consist of
REFERENCES: Final = ("what", "p50", "p95", "p99", "a search beside it, times")
HIDDEN: Final = ("search", "recall", "add", "append")  # calls that are measured in processes too
SLOW: Final = 3.0  # seconds after which a case has been measured enough
PATIENCE: Final = 20.0  # seconds after which even a case of few calls has been
WARMED: Final = 0.5


@dataclass(frozen=True, slots=True)
class Measured:
    """The times of a call and of its floor, in milliseconds."""

    case: Case
    calls: list[float]
    floors: list[float]

    @property
    def ratio(self) -> float:
        """How many times its floor a call takes, at the median."""
        return statistics.median(self.calls) / statistics.median(self.floors)

    def row(self) -> list[Any]:
        """Its row in a table."""
        own, bare = percentiles(self.calls), percentiles(self.floors)
        times = map(milliseconds, (*own, *bare))
        return [self.case.name, len(self.calls), *times, f"{self.ratio:.2f}", self.case.against]


@dataclass(frozen=True, slots=True)
class Rush:
    """What many clients got done at once."""

    done: int
    seconds: float
    took: list[float]

    @property
    def rate(self) -> float:
        """Calls a second."""
        return self.done / self.seconds


Pair = tuple[list[Rush], list[Rush]]


def multiple(new: float | None, old: float | None) -> str:
    """How many times as long one took as the other, as a table shows it."""
    return "–" if new is None or old is None else f"{new / old:.2f}"


def compare(case: Case, times: int) -> Measured:
    """Measure a call and its floor in turn, now one first, now the other."""
    calls: list[float] = []
    floors: list[float] = []
    begun = time.perf_counter()
    for _ in range(WARM):
        case.call()
        case.floor()
        if time.perf_counter() - begun > WARMED:
            break
    begun = time.perf_counter()
    for place in range(times):
        pairs = [(case.call, calls), (case.floor, floors)]
        for work, into in pairs if place % 2 else pairs[::-1]:
            into.append(took(work))
        spent = time.perf_counter() - begun
        if spent > SLOW and (place >= LEAST or spent > PATIENCE):
            break
    return Measured(case, calls, floors)


def rush(works: Sequence[Callable[[], object]], seconds: float) -> Rush:
    """Let each client work in a thread of its own for some seconds, and to the end of the call it is at by then."""
    begun = until = 0.0
    barrier = threading.Barrier(len(works))

    def one(work: Callable[[], object]) -> tuple[list[float], float]:
        nonlocal begun, until
        work()
        if barrier.wait() == 0:
            begun = time.perf_counter()
            until = begun + seconds
        barrier.wait()
        found = []
        while time.perf_counter() < until:
            found.append(took(work))
        return found, time.perf_counter()

    with ThreadPoolExecutor(len(works)) as pool:
        done = list(pool.map(one, works))
    all_of = [spent for found, _ in done for spent in found]
    return Rush(len(all_of), max(ended for _, ended in done) - begun, all_of)


def alternated(calls: Sequence[Callable[[], object]], floors: Sequence[Callable[[], object]], seconds: float) -> Pair:
    """Rushes of calls and of their floors in turn, each as long together as it says: so both have what drifts."""
    done: Pair = [], []
    for _ in range(TURNS):
        for works, into in zip((calls, floors), done, strict=True):
            into.append(rush(works, seconds / TURNS))
    return done


def gated(gate: Any) -> None:
    """Give a process the gate at which it waits for the others."""
    _GATES.append(gate)


def rush_in_process(crowd: Crowd, name: str, numbers: Sequence[int], seconds: float) -> Rush:
    """The same with some of the clients, in a process of its own, which waits for the others."""
    with ExitStack() as stack:
        clients = [stack.enter_context(_client(crowd, number)) for number in numbers]
        works = [client.cases((name,))[0].call for client in clients]
        for work in works:
            work()
        _GATES[-1].wait(READY)
        return rush(works, seconds)


def in_processes(crowd: Crowd, name: str, seconds: float) -> Rush:
    """What sixteen clients get done in four processes, where no two of them share an interpreter's lock."""
    shares = [range(n, CLIENTS, PROCESSES) for n in range(PROCESSES)]
    spawning = get_context("spawn")
    gate = spawning.Barrier(PROCESSES)
    with ProcessPoolExecutor(PROCESSES, mp_context=spawning, initializer=gated, initargs=(gate,)) as pool:
        tasks = [pool.submit(rush_in_process, crowd, name, share, seconds) for share in shares]
        done = [task.result() for task in tasks]
    all_of = [spent for one in done for spent in one.took]
    return Rush(len(all_of), max(one.seconds for one in done), all_of)


def _client(crowd: Crowd, number: int, url: str | None = None) -> Client:
    """A client by its number, each of another scope as far as there are enough."""
    return Client(crowd, crowd.scopes[number % len(crowd.scopes)], number, url)


def count(crowd: Crowd, names: Sequence[str]) -> dict[str, Sent]:
    """What each call sends: the least of some, when everything is known that is asked once, and nothing is tended."""
    server = Path(psycopg.conninfo.conninfo_to_dict(crowd.plain)["host"])
    found = {}
    apart = len(crowd.scopes) * CLIENTS  # of the first scope, with facts that no other client tells
    with Wire(server) as wire, _client(crowd, apart, wire.url(crowd.url)) as client:
        client.fill_queue(100)
        for case in client.cases(tuple(names)):
            for _ in range(2):
                case.call()
            found[case.name] = min((wire.count(case.call) for _ in range(SENT)), key=lambda sent: sent.statements)
    return found


def one_client(crowd: Crowd, user: str, names: Sequence[str], times: int) -> list[Measured]:
    """Every call of a user beside its floor."""
    found = []
    with Client(crowd, crowd.of(user)) as client, report.progress(f"one client, {user}", len(names)) as step:
        if "claim" in names:
            client.fill_queue(12 * times + 1_000)
        for case in client.cases(tuple(names)):
            found.append(compare(case, times))
            print(f"  {user:<8}{case.name:<18}" + "".join(f"{one:>10}" for one in found[-1].row()[1:9]), flush=True)
            step(case.name)
        client.derive()
    return found


def many_clients(crowd: Crowd, names: Sequence[str], seconds: float, *, split: bool = True) -> list[list[Any]]:
    """Calls a second of sixteen clients, and of their floors; of some calls in four processes, too, where `split`."""
    rows = []
    with ExitStack() as stack, report.progress("16 clients", len(names)) as step:
        clients = [stack.enter_context(_client(crowd, number)) for number in range(CLIENTS)]
        if "claim" in names:
            clients[0].fill_queue(60_000)
        cases = [client.cases(tuple(names)) for client in clients]
        for place, name in enumerate(names):
            mine = [one[place] for one in cases]
            calls, floors = alternated([one.call for one in mine], [one.floor for one in mine], seconds)
            rate, bare = (statistics.median(one.rate for one in rushes) for rushes in (calls, floors))
            apart = in_processes(crowd, name, seconds) if split and name in HIDDEN else None
            many = mine[0].rows
            middle, late, last = percentiles([spent for one in calls for spent in one.took])
            rows.append(
                [name, round(many * rate), round(many * bare), f"{bare / rate:.2f}",
                 None if apart is None else round(many * apart.rate),
                 *map(milliseconds, (middle, late, last))]
            )  # fmt: skip
            print("  16 clients " + " ".join(f"{one!s:>12}" for one in rows[-1]), flush=True)
            step(name)
        clients[0].derive()
    return rows


def references(crowd: Crowd) -> list[list[Any]]:
    """What calls consist of at least, a round trip, an embedding, a scan in memory, each beside a search that is asked
    in turn with it; and the library's weight."""
    filled = max(crowd.scopes, key=lambda one: one.rows)
    vectors = vectors_of(crowd.texts.facts(filled.first, min(filled.rows, 100_000))).astype(np.float32)
    with Client(crowd, filled) as client:
        asked = [client.question() for _ in range(REFERRED)]
        works: dict[str, Callable[[str, Any], object]] = {
            "search, ms": lambda question, _: client.door.search(question),
            "SELECT 1, ms": lambda *_: client.floors.one(),
            "embedding of a question, ms": lambda question, _: vectors_of([f"{question} again"]),
            f"numpy, exact, {len(vectors):,} vectors in memory, ms": lambda _, vector: np.argpartition(
                vectors @ vector, -10
            )[-10:],
        }
        spent: dict[str, list[float]] = {name: [] for name in works}
        for question, vector in zip(asked, vectors_of(asked).astype(np.float32), strict=True):
            for name, work in works.items():
                spent[name].append(took(partial(work, question, vector)))
        weight = psutil.Process().memory_info().rss / 2**20
    found = {name: percentiles(values) for name, values in spent.items()}
    search = found["search, ms"][0]
    imported = percentiles([_fresh("from engram import Engram") for _ in range(7)])
    return [
        *([name, *map(milliseconds, one), multiple(search, one[0])] for name, one in found.items()),
        ["`from engram import Engram`, s", *map(milliseconds, imported), None],
        ["process of the library after its first search, MiB", f"{_weight(crowd):.0f}", None, None, None],
        ["process of this benchmark, MiB", f"{weight:.0f}", None, None, None],
    ]


def _fresh(code: str) -> float:
    timed = f"import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
    return float(subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True).stdout)


def _weight(crowd: Crowd) -> float:
    """MiB of a process that has the library and has searched once."""
    scope = crowd.scopes[0].scope
    code = (
        "import psutil; from engram import Engram, Scope;"
        f" door = Engram({crowd.url!r}, scope=Scope({scope.tenant_id!r}, user_id={scope.user_id!r}));"
        " door.search('what is said?'); print(psutil.Process().memory_info().rss / 2**20); door.close()"
    )
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def counted(found: dict[str, Sent]) -> report.Table:
    """The table of what is sent."""
    rows = [[name, sent.statements, sent.transactions, sent.round_trips] for name, sent in found.items()]
    columns = ["call", "statements", "transactions", "round trips"]
    return report.Table("What a call sends to the server", columns, rows)


def main() -> None:
    """Measure, print, and save; of a part of the calls nothing is saved."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rows", type=machine.sizes, default=(USUAL,), help=f"sizes, by commas; below {USUAL:,} nothing is saved"
    )
    parser.add_argument("--keep", type=Path, help="keep the crowds in this folder, and find them there again")
    parser.add_argument("--only", type=machine.some_of(CALLS), default=CALLS, help="some calls; nothing is saved")
    parser.add_argument(
        "--times", type=machine.number, default=TIMES, help=f"calls of each; below {TIMES} nothing is saved"
    )
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of sixteen clients; of less nothing is saved")
    parser.add_argument("--no-rush", action="store_true", help="only one client; nothing is saved")
    given = parser.parse_args()
    names, sizes = given.only, given.rows
    if min(sizes) < FEWEST:
        parser.error(f"--rows: expected sizes from {FEWEST} on, found {min(sizes)}")
    tables: list[report.Table] = []
    plots: list[report.Plot] = []
    found: dict[tuple[int, str], list[Measured]] = {}
    for rows in sizes:
        with opened(Shape.usual("mixed", rows), given.keep, say=_say) as crowd:
            print(machine.heading(crowd.url))
            versions = machine.versions(crowd.url)
            for user in (BIG, LITTLE):
                few = names if user == BIG else [name for name in names if name in (*READS, "add")]
                found[rows, user] = one_client(crowd, user, few, given.times)
                tables.append(alone(crowd, user, found[rows, user]))
                plots.append(_plot(f"Medians beside their floors, {whose(crowd, user)}", found[rows, user]))
            if rows == sizes[0]:
                tables.append(counted(count(crowd, names)))
            if not given.no_rush:
                tables.append(crowded(rows, many_clients(crowd, names, given.seconds)))
            tables.append(report.Table(f"References beside {rows:,} memories", REFERENCES, references(crowd)))
        for table in tables[len(tables) - 5 :]:
            print(f"\n{table.title}\n{report.markdown(table.columns, table.rows)}", flush=True)
    if len(sizes) > 1:
        tables += [grown(user, sizes, found) for user in (BIG, LITTLE)]
    if not is_whole(given):
        print(report.PART)
        return
    report.save(
        "speed", title="Speed", about=ABOUT, versions=versions, tables=tables, plots=plots,
        data=[crowd_data(Shape.usual("mixed", rows)) for rows in sizes],
        notes=[f"Recalls are logged ({load({}).recall_log}), accesses counted.", ABOVE],
    )  # fmt: skip


def is_whole(given: argparse.Namespace) -> bool:
    """Whether a run is of all calls, nowhere less than usual, and may take the place of the record. Pure."""
    usual = ((min(given.rows), USUAL), (given.times, TIMES), (given.seconds, SECONDS))
    return not given.no_rush and set(given.only) == set(CALLS) and all(one >= least for one, least in usual)


def _say(said: str) -> None:
    print(said, file=sys.stderr, flush=True)


def whose(crowd: Crowd, user: str) -> str:
    """A user, as a title says it."""
    return f"a user with {crowd.of(user).rows:,} of {crowd.shape.rows:,} memories"


def alone(crowd: Crowd, user: str, found: Sequence[Measured]) -> report.Table:
    """The table of one client."""
    columns = ["call", "calls", "p50", "p95", "p99", "floor p50", "floor p95", "floor p99", "ratio", "floor"]
    return report.Table(f"One client, {whose(crowd, user)}, ms", columns, [one.row() for one in found])


def crowded(rows: int, found: Sequence[Sequence[Any]]) -> report.Table:
    """The table of many clients."""
    columns = ["call", "per s", "floor per s", "ratio", "per s in 4 processes", "p50 ms", "p95 ms", "p99 ms"]
    title = f"Sixteen clients on {rows:,} memories: rows or calls a second"
    return report.Table(title, columns, found, [ALTERNATED])


def grown(user: str, sizes: Sequence[int], found: Mapping[tuple[int, str], Sequence[Measured]]) -> report.Table:
    """What more memories cost a user: times by their number, and the last beside the first. Pure."""
    columns = ["call", *(f"{rows:,} p50 / p95 ms" for rows in sizes), "p50, times", "p95, times", "floor p50, times"]
    lines = []
    for each in zip(*(found[rows, user] for rows in sizes), strict=True):
        calls, floors = [percentiles(one.calls) for one in each], [percentiles(one.floors) for one in each]
        shown = [f"{milliseconds(one[0])} / {milliseconds(one[1])}" for one in calls]
        compared = [(calls, 0), (calls, 1), (floors, 0)]
        lines.append([each[0].case.name, *shown, *(multiple(of[-1][place], of[0][place]) for of, place in compared)])
    return report.Table(f"What {sizes[-1] // sizes[0]} times more memories cost, the {user} user", columns, lines)


ABOUT: Final = (
    "Every call beside its floor: the same question in one bare statement, or the same rows in one bare durable"
    " transaction, on the same tables, measured in turn. The ratio is of the medians."
)
ALTERNATED: Final = (
    f"Calls and their floors rush in turn, {TURNS} times each; rates are medians of these: where a machine drifts, it"
    " does so for both."
)
ABOVE: Final = (
    "Floors are sent by psycopg's pipeline, the library's messages by its own code, which is a few tenths of a"
    " millisecond quicker: so the smallest writes can take less than their floor."
)


def crowd_data(shape: Shape) -> report.Data:
    """What a crowd is, for a report."""
    about = f"{shape.rows:,} memories, {len(shape.users()):,} scopes, seed {shape.seed}"
    return report.Data(f"crowd {shape.key}", digest(shape), "generated", about)


def _plot(title: str, found: Sequence[Measured]) -> report.Plot:
    names = [one.case.name for one in found]
    series = [
        report.Series("Engram", names, [statistics.median(one.calls) for one in found]),
        report.Series("floor", names, [statistics.median(one.floors) for one in found]),
    ]
    return report.Plot(title, "bars", series, x_label="ms", log=("x",))


if __name__ == "__main__":
    main()
