"""Other memory libraries beside Engram: the same memories, the same vectors, the same machine, one run.

    python -m venv .venv-peers
    .venv-peers/bin/pip install -r benchmarks/peers/requirements.txt
    python benchmarks/peers/run.py --env .venv-peers --rows 10000
    python benchmarks/peers/run.py --env .venv-peers --rows 10000,100000 --large "engram;sqlite-vec" --data locomo=PATH
    python benchmarks/peers/run.py --env .venv-peers --only "engram;sqlite-vec" --rows 2000

Each peer runs in a process of its own; those that keep their rows in PostgreSQL share Engram's embedded server, with a
database each. Nobody embeds: vectors are looked up. Speed is measured on made-up memories of a big user (20 % of the
rows) and of many small ones (0.8 % each); quality on labelled conversations: each turn is a memory, each question one
search of ten. What is not installed is named in the report and left out.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import psycopg
import report
from contract import LEFT_OUT, PEERS
from labelled import labelled
from machine import number, scratch, versions
from machine import sizes as sizes_of
from quality import EMBEDDERS, measures
from verdicts import Quality, Speed, paces, percentile, qualities, speeds
from watching import took
from work import BIG, SMALL, Work, made_up, truth

from engram import migrations
from engram.embedded import EmbeddedServer

HERE = Path(__file__).resolve().parent
K = 10
PATIENCE = 300.0  # seconds of a peer's bulk writing, and of its questions in one mode
LARGE = 20_000  # memories from which a comparison of all takes long
PIECE, WORKED, ASKED = 20_000, 9, 501  # numbers of a piece of work, how often it is done, and how often is asked
SINGLES = 200  # memories that are written one at a time
APP_ROLE = "engram_app"
MEASURES = ("R@5", "R@10", "hit@10", "MRR@10", "nDCG@10")
ABOUT = (
    "Each library keeps the same memories with the same vectors, looked up and not computed, in a process of its own;"
    " those that keep their rows in PostgreSQL share one server with a database each. `add /s`: one memory a call;"
    " `bulk /s`: up to 500 of one user a call, without what is done afterwards (`settle s`). `big` is a user with a"
    " fifth of the memories, `small` one with 0.8 %; milliseconds. R@10: the share of the exactly nearest ten that a"
    " search of ten finds, which only a search by vector alone aims at; target MRR: one by the place of the memory that"
    " a question was made from. MiB: what the process grew by; the server is not in it. Pace: how much longer a fixed"
    " piece of work, and a `SELECT 1`, took before and after a library's turn than around the quickest one: a slow"
    " machine is no slow library. What the figures say is written below each table, by rules; where a pace was more"
    " than 15 % slower than in Engram's turn, they say so behind the library's name."
)


@dataclass
class Stage:
    """Where the peers run: a folder, a server, and the Python that has the rivals."""

    folder: Path
    server: EmbeddedServer
    rivals: Path
    number: int = 0

    def url(self, role: str, database: str) -> str:
        """An address as psycopg takes it."""
        return self.server.url(role, database).replace("postgresql+psycopg://", "postgresql://")

    @contextmanager
    def database(self, own: bool) -> Iterator[str]:
        """A database that is dropped afterwards: migrated for Engram, empty but for pgvector for others."""
        self.number += 1
        name = f"peer_{self.number}"
        with psycopg.connect(self.url("postgres", "postgres"), autocommit=True) as conn:
            conn.execute(f"CREATE DATABASE {name} OWNER {'postgres' if own else APP_ROLE}")
            try:
                if own:
                    migrations.upgrade(self.server.url("postgres", name))
                else:
                    with psycopg.connect(self.url("postgres", name)) as other:
                        other.execute("CREATE EXTENSION vector")
                yield name
            finally:
                conn.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def size(self, database: str) -> int:
        """Bytes of a database, after a checkpoint."""
        with psycopg.connect(self.url("postgres", "postgres"), autocommit=True) as conn:
            conn.execute("CHECKPOINT")
            row = conn.execute("SELECT pg_database_size(%s)", (database,)).fetchone()
        assert row is not None
        return int(row[0])

    def pace(self) -> tuple[float, float]:
        """How quick the machine is now: ms of a fixed piece of work, and of a `SELECT 1`; the median of some."""
        with psycopg.connect(self.url("postgres", "postgres"), autocommit=True) as conn:
            asked = statistics.median(took(lambda: conn.execute("SELECT 1").fetchone()) for _ in range(ASKED))
        worked = statistics.median(
            took(lambda: sum(hash((one, str(one))) for one in range(PIECE))) for _ in range(WORKED)
        )
        return worked, asked

    def run(self, name: str, work: Path, singles: int, patience: float) -> dict[str, Any]:
        """What a peer's process says of a work, with the bytes it left on the disk."""
        entry = PEERS[name]
        own = Path(tempfile.mkdtemp(dir=self.folder))
        (own / "data").mkdir()
        try:
            if entry.keeps != "server":
                return self._child(name, own, work, "", singles, patience) | {"disk": _bytes(own / "data")}
            with self.database(entry.own) as database:
                before = self.size(database)
                told = self._child(name, own, work, database, singles, patience)
                return told | {"disk": self.size(database) - before + _bytes(own / "data")}
        finally:
            shutil.rmtree(own)

    def _child(self, name: str, own: Path, work: Path, database: str, singles: int, patience: float) -> dict[str, Any]:
        job = {
            "peer": name, "work": str(work), "folder": str(own / "data"), "answer": str(own / "answer.json"), "k": K,
            "url": self.url(APP_ROLE, database), "owner_url": self.url("postgres", database),
            "singles": singles, "patience": patience,
        }  # fmt: skip
        (own / "job.json").write_text(json.dumps(job), encoding="utf-8")
        python = Path(sys.executable) if PEERS[name].own else self.rivals
        ran = subprocess.run(
            [str(python), str(HERE / "child.py"), str(own / "job.json")],
            env=os.environ | {"HOME": str(own), "ANONYMIZED_TELEMETRY": "False", "DO_NOT_TRACK": "1"},
            cwd=own, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        if os.environ.get("PEERS_TRACE"):
            print(ran.stderr, file=sys.stderr)
        answer = own / "answer.json"
        if not answer.exists():
            return {"failed": (ran.stderr.strip().splitlines() or [f"ended with {ran.returncode}"])[-1]}
        told: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
        return told


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file())


# --- scores -----------------------------------------------------------------------------------------------------------


def speed_rows(name: str, told: Mapping[str, Any], work: Work, exact: Sequence[set[int]]) -> list[Speed]:
    """A peer's figures on made-up memories, one row for each way it searches. Pure."""
    rows = []
    for mode, found in told.get("found", {}).items():
        shares: dict[str, list[float]] = {BIG: [], SMALL: []}
        times: dict[str, list[float]] = {BIG: [], SMALL: []}
        for one in found:
            user, nearest = work.questions[one["question"]].user, exact[one["question"]]
            shares[user].append(len(nearest & set(one["rows"])) / len(nearest))
            times[user].append(one["ms"])
        ones = told["one_ms"]
        rows.append(
            Speed(
                peer=name,
                mode=mode,
                one_rate=1000 * len(ones) / sum(ones) if ones else None,
                many_rate=told["many_rows"] / told["many_seconds"],
                settle_seconds=told["settle_seconds"],
                p50={user: statistics.median(mine) for user, mine in times.items()},
                p95={user: percentile(mine, 0.95) for user, mine in times.items()},
                recall={user: statistics.fmean(mine) for user, mine in shares.items()},
                target=statistics.fmean(_worth(one, work) for one in found),
                strangers=strangers(found, work),
                memory_mib=told["memory_bytes"] / 2**20,
                disk_bytes=told["disk"] / len(work.texts) if PEERS[name].keeps != "memory" else None,
                floor=PEERS[name].keeps == "memory",
                pace=told.get("pace"),
            )
        )
    return rows


def _worth(one: Mapping[str, Any], work: Work) -> float:
    (wanted,) = work.questions[one["question"]].evidence
    return 1 / (1 + one["rows"].index(wanted)) if wanted in one["rows"] else 0.0


def strangers(found: Sequence[Mapping[str, Any]], work: Work) -> int:
    """How many memories of another user were returned. Pure."""
    return sum(work.users[row] != work.questions[one["question"]].user for one in found for row in one["rows"])


def quality_rows(name: str, told: Mapping[str, Any], work: Work) -> list[Quality]:
    """A peer's measures on labelled questions, one row for each way it searches. Pure."""
    rows = []
    for mode, found in told.get("found", {}).items():
        worth = []
        for one in found:
            few = [str(row) for row in one["rows"]]
            evidence = frozenset(str(row) for row in work.questions[one["question"]].evidence)
            worth.append(measures(few, few, evidence))
        means = {key: statistics.fmean(one[key] for one in worth) for key in MEASURES}
        rows.append(Quality(name, mode, means, statistics.median(one["ms"] for one in found)))
    return rows


# --- the report -------------------------------------------------------------------------------------------------------


def speed_table(rows: Sequence[Speed], work: Work) -> report.Table:
    """One size's table, and what it says in words. Pure."""
    columns = (
        "memory", "search", "add /s", "bulk /s", "big p50", "big p95", "big R@10", "small p50", "small p95",
        "small R@10", "target MRR", "settle s", "MiB", "bytes a memory", "pace",
    )  # fmt: skip
    lines = [
        (
            row.peer, row.mode, row.one_rate and round(row.one_rate), round(row.many_rate),
            _ms(row.p50[BIG]), _ms(row.p95[BIG]), f"{row.recall[BIG]:.3f}",
            _ms(row.p50[SMALL]), _ms(row.p95[SMALL]), f"{row.recall[SMALL]:.3f}",
            f"{row.target:.3f}", _ms(row.settle_seconds), round(row.memory_mib),
            row.disk_bytes and round(row.disk_bytes), pace,
        )
        for row, pace in zip(rows, paces(rows), strict=True)
    ]  # fmt: skip
    return report.Table(f"{len(work.texts):,} memories", columns, lines, speeds(rows))


def speed_plot(rows: Sequence[Speed], work: Work) -> report.Plot:
    """How long each way of searching takes, for both users. Pure."""
    shown = [row for row in rows if not row.floor]
    names = [f"{row.peer}, {row.mode}" for row in shown]
    series = [report.Series(f"the {user} user", names, [row.p50[user] for row in shown]) for user in (BIG, SMALL)]
    return report.Plot(f"{len(work.texts):,} memories: search, p50", "bars", series, "milliseconds", log=("x",))


def quality_plot(rows: Sequence[Quality], work: Work) -> report.Plot:
    """How good each way of searching is. Pure."""
    best = sorted(rows, key=lambda row: -row.measures["nDCG@10"])
    names = [f"{row.peer}, {row.mode}" for row in best]
    series = [report.Series(one, names, [100 * row.measures[one] for row in best]) for one in ("R@10", "nDCG@10")]
    return report.Plot(f"{work.name}: evidence found in the first ten", "bars", series, "per cent")


def _ms(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def quality_table(rows: Sequence[Quality], work: Work) -> report.Table:
    """The measures, and what they say in words. Pure."""
    names = list(rows[0].measures) if rows else []
    lines = [
        (row.peer, row.mode, *(round(100 * row.measures[name], 1) for name in names), _ms(row.p50))
        for row in sorted(rows, key=lambda row: -row.measures[names[-1]])
    ]
    title = f"{work.name}: {len(work.texts):,} memories, {len(work.questions):,} questions"
    return report.Table(title, ("memory", "search", *names, "p50 ms"), lines, qualities(rows))


def settings_table(answers: Mapping[str, Mapping[str, Any]]) -> report.Table:
    """Who took part, how it was set up, and why others did not."""
    lines = [(name, told["version"], told["settings"]) for name, told in answers.items() if "version" in told]
    absent = [
        f"{name} did not take part: {told.get('missing') or told.get('failed')}."
        for name, told in answers.items()
        if "missing" in told or "failed" in told
    ]
    absent += [
        f"{name} did not finish, and was stopped {told['gave_up']}."
        for name, told in answers.items()
        if "gave_up" in told
    ]
    absent += [
        f"{name}: {told['degraded']} searches gave a channel up."
        for name, told in answers.items()
        if told.get("degraded")
    ]
    absent += [f"{name} is not here: it {why}." for name, why in LEFT_OUT.items()]
    return report.Table("Versions and settings", ("memory", "version", "settings"), lines, absent)


# --- the run ----------------------------------------------------------------------------------------------------------


def options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", type=Path, help="the environment that requirements.txt was installed in")
    parser.add_argument(
        "--rows", type=_sizes, default=(10_000,), help="sizes of made-up data, by commas; 0: none, and nothing is saved"
    )
    parser.add_argument("--only", help="some peers, by semicolons, as in the table; nothing is saved")
    parser.add_argument("--large", help=f"the same, for sizes above {LARGE:,}; otherwise all")
    parser.add_argument("--data", action="append", help="demo, or NAME=PATH, as of quality.py; may be given again")
    parser.add_argument("--cases", type=number, help="only so many conversations; nothing is saved")
    parser.add_argument("--embedder", choices=sorted(EMBEDDERS), default="wordllama", help="of the labelled texts")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds to write, and to search in a mode")
    parser.add_argument("--no-quality", action="store_true", help="measure speed alone; nothing is saved")
    return parser.parse_args()


def _sizes(given: str) -> tuple[int, ...]:
    return () if given == "0" else sizes_of(given)


def compare(stage: Stage, names: Sequence[str], work: Work, singles: int, patience: float, step: Any) -> dict[str, Any]:
    """What each peer says of a work, one after the other."""
    place = stage.folder / f"work-{work.digest[:12]}"
    work.save(place)
    answers = {}
    for name in names:
        step(f"{name}: {work.name}", 0)
        start, before = time.perf_counter(), stage.pace()
        answers[name] = stage.run(name, place, singles, patience)
        answers[name]["pace"] = tuple(map(statistics.fmean, zip(before, stage.pace(), strict=True)))
        trouble = answers[name].get("failed") or answers[name].get("missing") or answers[name].get("gave_up") or ""
        print(f"{time.perf_counter() - start:7.1f} s  {name} {trouble}", file=sys.stderr, flush=True)
        step(name)
    return answers


def chosen_names(only: str | None, quality: bool) -> list[str]:
    """The peers that take part, in the order of the table."""
    named = None if only is None else {one.strip() for one in only.split(";")}
    if named is not None and named - set(PEERS):
        raise SystemExit(f"no such peer: {', '.join(sorted(named - set(PEERS)))}; there are {'; '.join(PEERS)}")
    return [
        name for name, entry in PEERS.items()
        if (named is None or name in named) and (quality or not entry.quality_only)
    ]  # fmt: skip


def measured(
    stage: Stage, chosen: argparse.Namespace, step: Callable[..., None]
) -> Iterator[tuple[report.Table, report.Plot, report.Data, dict[str, Any]]]:
    """Each work's table and plot, what it was made from, and what everybody said."""
    # Before anything is measured: a set that cannot be read is told now.
    sets = [labelled(word, chosen.embedder, chosen.cases) for word in words(chosen)]
    for size in sizes(chosen):
        work = made_up(size)
        exact = truth(work, K)
        answers = compare(stage, sized(chosen, size), work, SINGLES, chosen.patience, step)
        speed = [row for name, told in answers.items() for row in speed_rows(name, told, work, exact)]
        rows = f"{size:,} memories, {len(work.questions)} questions"
        data = report.Data("made up", work.digest, "made by rules", rows)
        yield speed_table(speed, work), speed_plot(speed, work), data, answers
    for work, data in sets:
        answers = compare(stage, chosen_names(chosen.only, True), work, 0, chosen.patience, step)
        found = [row for name, told in answers.items() for row in quality_rows(name, told, work)]
        yield quality_table(found, work), quality_plot(found, work), data, answers


def sizes(chosen: argparse.Namespace) -> list[int]:
    """The sizes of made-up data."""
    return list(chosen.rows)


def sized(chosen: argparse.Namespace, size: int) -> list[str]:
    """The peers that a size is given to."""
    return chosen_names(chosen.only if size <= LARGE or chosen.large is None else chosen.large, False)


def words(chosen: argparse.Namespace) -> list[str]:
    """The labelled sets."""
    return [] if chosen.no_quality else chosen.data or ["demo"]


def main() -> None:
    chosen = options()
    rivals = (chosen.env / "bin" / "python").absolute() if chosen.env else Path(sys.executable)
    if not rivals.exists():
        raise SystemExit(f"--env {chosen.env}: no environment is there")
    turns = sum(len(sized(chosen, size)) for size in sizes(chosen))
    turns += len(words(chosen)) * len(chosen_names(chosen.only, True))
    tables, plots, data, everyone = [], [], [], {}
    with (
        scratch("engram-peers-") as folder,
        EmbeddedServer.start(folder / "server") as server,
        report.progress("peers", turns) as step,
    ):
        migrations.upgrade(server.superuser_url)
        ran = versions(server.superuser_url)
        for table, plot, read, answers in measured(Stage(folder, server, rivals), chosen, step):
            show(table)
            tables.append(table)
            plots.append(plot)
            data.append(read)
            everyone = answers | everyone
    tables.append(settings_table(everyone))
    show(tables[-1])
    whole = sizes(chosen) and words(chosen) and chosen.only is None and chosen.cases is None
    if not whole:
        print(f"\n{report.PART}")
    else:
        saved = report.save(
            "peers", title="Other libraries on the same data", about=ABOUT, versions=ran, data=data, tables=tables,
            plots=plots,
        )  # fmt: skip
        print(f"\n{report.shown(saved)} is written, and the page")


def show(table: report.Table) -> None:
    """Print a table and what it says."""
    print(f"\n{table.title}\n\n{report.markdown(table.columns, table.rows)}\n")
    print("\n".join(f"- {note}" for note in table.notes), flush=True)


if __name__ == "__main__":
    main()
