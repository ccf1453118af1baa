"""The bench: what memory costs on this machine and this server, in a database of its own that goes afterwards."""

from __future__ import annotations

import hashlib
import random
import shlex
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from engram.cli.desk import Desk
from engram.cli.server import plain_url
from engram.errors import SettingsError

if TYPE_CHECKING:
    from rich.console import Console

    from engram import Engram
    from engram.settings import Settings

SEED: Final = 7
BATCH: Final = 100
WARM: Final = 3  # calls of each kind that are not counted: they open connections and fill caches
PINNED: Final = 5
CHAINED: Final = 20
MERGED: Final = 20  # merges at most: each puts two memories away
WIDE: Final = 1_000  # tokens of a context
PERCENTILES: Final = ("p50_ms", "p95_ms", "p99_ms")
NO_RIGHT: Final = (
    "The bench measures in a database of its own, and this login may create none: name one that may as "
    "ENGRAM_MIGRATION_URL, or --data-dir for an embedded server."
)
PEOPLE: Final = ("Milena", "Tariq", "Ingrid", "Olu", "Hana", "Marek", "Leila", "Bruno", "Yuki", "Nadia")
DEEDS: Final = ("stores", "repairs", "sells", "draws", "collects", "cleans", "weighs", "photographs")
THINGS: Final = ("boat", "kite", "clock", "loom", "lamp", "drum", "saddle", "kettle", "telescope", "violin", "globe")
PLACES: Final = ("Oslo", "Lima", "Kyoto", "Accra", "Bern", "Quito", "Perth", "Riga", "Tunis", "Hanoi", "Porto")


def bench(
    desk: Desk,
    rows: Annotated[int, typer.Option("--rows", help="Memories that are there.", min=100, max=1_000_000)] = 1_000,
    times: Annotated[int, typer.Option("--times", help="Calls of each kind.", min=1, max=10_000)] = 100,
) -> None:
    """Measure what memory costs on this machine and server, in a database of its own that is dropped afterwards."""
    desk.show(measured(desk, rows, times), render)


def measured(desk: Desk, rows: int, times: int) -> dict[str, Any]:
    """Everything that is measured, as data: printing comes after."""
    from engram import Engram, Scope
    from engram.cli import files, machine

    with ExitStack() as stack:
        with desk.waiting("Making a database"):
            settings = stack.enter_context(alone(desk.settings()))
        url = settings.database_url.get_secret_value()  # type: ignore[union-attr]
        told: dict[str, Any] = {
            "machine": machine.machine(), "versions": machine.versions(url),
            "command": _command(desk, rows, times), "embedding_model": settings.embedding_model,
            "data": {"rows": rows, "seed": SEED, "sha256": _digest(rows)},
        }  # fmt: skip
        with Engram(settings=settings, scope=Scope("bench", user_id="bench")) as engram, files.progress(desk) as bar:
            ids, told["rows_a_second"] = filled(engram, rows, lambda done: bar("Adding memories", done))
            floor = Floor(url)
            told["calls"] = [
                compared(one, floor, times, lambda done, one=one: bar(one.name, done))  # type: ignore[misc]
                for one in calls(engram, ids, random.Random(SEED))  # noqa: S311 - the same questions every time
            ]
            floor.close()
            told["found"] = _share(found(engram, rows, times))
            told["export"] = exported(engram)
    return told


# What is measured -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the door, what it is called, and how often it can be made at most."""

    name: str
    make: Callable[[], object]
    most: int = 10_000


class Floor:
    """The least that any call costs: `SELECT 1`, there and back, in a transaction of its own."""

    def __init__(self, url: str) -> None:
        import psycopg

        self._conn = psycopg.connect(plain_url(url), autocommit=True)

    def __call__(self) -> object:
        return self._conn.execute("SELECT 1").fetchone()

    def close(self) -> None:
        """Give the connection back."""
        self._conn.close()


def fact(number: int) -> str:
    """A made-up fact like no other. Pure."""
    return f"{_who(number)} {DEEDS[number % 8]} the {_what(number)} in {PLACES[number % 11]}"


def question(number: int) -> str:
    """A question that the fact of this number answers. Pure."""
    return f"In which town is it that {_who(number)} {DEEDS[number % 8]} the {_what(number)}?"


def _who(number: int) -> str:
    return PEOPLE[number // 8 % 10]


def _what(number: int) -> str:
    return f"{THINGS[number // 80 % 11]} number {number}"


def filled(engram: Engram, rows: int, told: Callable[[float], None]) -> tuple[list[str], float]:
    """Add the memories, some pinned and some related; their ids, and how many a second."""
    engram.health(probe_embedder=True)  # opens the door and loads the embedder
    begun, ids = time.perf_counter(), list[str]()
    for first in range(0, rows, BATCH):
        made = engram.add_many([{"fact": fact(number)} for number in range(first, min(rows, first + BATCH))])
        ids += [one.memory.memory_id for one in made if one.memory is not None]
        told(min(rows, first + BATCH) / rows)
    seconds = time.perf_counter() - begun
    for place in range(PINNED):
        engram.annotate(ids[place], critical_slot=f"bench-{place}")
    engram.relate_batch(
        [
            {"source_id": one, "target_id": other, "relation_type": "related_to"}
            for one, other in pairwise(ids[: CHAINED + 1])
        ]
    )
    return ids, round(rows / seconds, 1)


def calls(engram: Engram, ids: Sequence[str], dice: random.Random) -> Iterator[Call]:
    """The calls that agents make most, each with something of its own: no question is asked twice."""
    asked, fresh = _endless(len(ids), dice), count(len(ids))
    yield Call("add", lambda: engram.add(fact(next(fresh))))
    yield Call("add_many (100)", lambda: engram.add_many([{"fact": fact(next(fresh))} for _ in range(BATCH)]), 20)
    yield Call("remember", lambda: engram.remember(f"{fact(next(fresh))}.", session_id="bench"))
    yield Call("search", lambda: engram.search(question(next(asked))))
    yield Call("recall", lambda: engram.recall(question(next(asked))))
    yield Call("recall_critical", engram.recall_critical)
    yield Call("build_context", lambda: engram.build_context(question(next(asked)), max_tokens=WIDE))
    yield Call("get_history", lambda: engram.get_history(limit=20))
    yield Call("traverse", lambda: engram.traverse(ids[0], max_depth=3))
    pairs = iter(range(len(ids) // 2, len(ids) - 1, 2))
    yield Call("merge", lambda: _merge(engram, ids, next(pairs)), MERGED)


def _endless(rows: int, dice: random.Random) -> Iterator[int]:
    while True:
        yield from dice.sample(range(rows), rows)


def _merge(engram: Engram, ids: Sequence[str], at: int) -> object:
    return engram.merge(ids[at : at + 2], fact=f"{fact(at)}, and {fact(at + 1)}")


def compared(call: Call, floor: Floor, times: int, told: Callable[[float], None]) -> dict[str, Any]:
    """Milliseconds of a call, and of its floor in turn: what else the machine does falls on both."""
    from engram.cli import machine

    many = min(times, call.most)
    for _ in range(min(WARM, many)):
        call.make()
    own, bare = list[float](), list[float]()
    for place in range(many):
        for work, into in ((call.make, own), (floor, bare)):
            begun = time.perf_counter()
            work()
            into.append((time.perf_counter() - begun) * 1000)
        told((place + 1) / many)
    told_of = (None if one is None else round(one, 3) for one in machine.percentiles(own))
    return {
        "name": call.name, "times": many, **dict(zip(PERCENTILES, told_of, strict=True)),
        "select_1_ms": round(statistics.median(bare), 4),
    }  # fmt: skip


def found(engram: Engram, rows: int, times: int) -> list[bool]:
    """Of some questions, whether the fact that answers each was among the ten that were found."""
    dice = random.Random(SEED + 1)  # noqa: S311 - the same questions every time
    return [
        any(one.memory.fact == fact(number) for one in engram.search(f"{question(number)} Do you know?", limit=10))
        for number in dice.sample(range(PINNED, rows // 2), min(times, rows // 2 - PINNED))
    ]


def exported(engram: Engram) -> dict[str, float]:
    """How long it takes to write everything to a file, and how many rows that are."""
    with tempfile.TemporaryDirectory(prefix="engram-bench-") as folder:
        begun = time.perf_counter()
        report = engram.ops.export(Path(folder) / "bench.jsonl")
        seconds = time.perf_counter() - begun
    return {"seconds": round(seconds, 3), "rows": sum(report.counts.values())}


def _command(desk: Desk, rows: int, times: int) -> str:
    from engram.database import without_passwords

    typed = ["engram", "bench", "--rows", str(rows), "--times", str(times)]
    typed += [] if desk.database_url is None else ["--database-url", without_passwords(desk.database_url)]
    return shlex.join(typed + ([] if desk.data_dir is None else ["--data-dir", desk.data_dir]))


def _share(hits: Sequence[bool]) -> float:
    return round(sum(hits) / len(hits), 3)


def _digest(rows: int) -> str:
    return hashlib.sha256("\n".join(map(fact, range(rows))).encode()).hexdigest()


# Where ----------------------------------------------------------------------------------------------------------------


@contextmanager
def alone(settings: Settings) -> Iterator[Settings]:
    """The same settings with a new database in the place of theirs, without a language model and Redis; then it goes.

    On the server that they name, or on an embedded one of its own, on the disk of their data folder.
    """
    others = {"migration_url": None, "redis_url": None, "dispatch": "inline", "llm_level": "off"}
    with _embedded(settings) if settings.database_url is None else _beside(settings) as url:
        yield settings.model_copy(update={**others, "database_url": _secret(url)})


@contextmanager
def _embedded(settings: Settings) -> Iterator[str]:
    from engram import migrations
    from engram.cli.machine import scratch
    from engram.embedded import EmbeddedServer

    near = None if settings.data_dir is None else settings.data_dir.expanduser().absolute().parent
    within = near if near is not None and near.is_dir() else None
    with scratch("engram-bench-", within) as folder, EmbeddedServer.start(folder / "data") as server:
        migrations.upgrade(server.superuser_url)
        yield server.url()


@contextmanager
def _beside(settings: Settings) -> Iterator[str]:
    from engram import migrations
    from engram.cli.machine import ending
    from engram.ids import new_id

    own = settings.database_url.get_secret_value()  # type: ignore[union-attr]
    owner = own if settings.migration_url is None else settings.migration_url.get_secret_value()
    name = f"engram_bench_{new_id().replace('-', '')}"
    with ending():
        try:
            _told(owner, f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
            migrations.upgrade(_named(owner, name))
            yield _named(own, name)
        finally:
            _told(owner, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def _told(url: str, statement: str) -> None:
    from sqlalchemy.exc import ProgrammingError

    from engram import migrations

    with migrations.connected(url, isolation_level="AUTOCOMMIT") as conn:
        try:
            conn.exec_driver_sql(statement)
        except ProgrammingError as error:
            if getattr(error.orig, "sqlstate", None) != "42501":
                raise
            raise SettingsError(NO_RIGHT, sqlstate="42501") from error


def _named(url: str, database: str) -> str:
    from engram.database import address

    return address(url).set(database=database).render_as_string(hide_password=False)


def _secret(url: str) -> Any:
    from pydantic import SecretStr

    return SecretStr(url)


# For people -----------------------------------------------------------------------------------------------------------


def render(console: Console, told: dict[str, Any]) -> None:
    """What was measured, on what, as a table."""
    from engram.cli import machine, show

    show.facts(console, {
        "machine": told["machine"],
        "versions": ", ".join(f"{name} {version}" for name, version in told["versions"].items()),
        "command": told["command"],
        "data": f"{told['data']['rows']:,} made-up facts, seed {SEED}, SHA-256 {told['data']['sha256'][:16]}…",
        "embedder": told["embedding_model"],
    })  # fmt: skip
    made = show.table("call", "times", "p50 ms", "p95 ms", "p99 ms", "of SELECT 1")
    for call in told["calls"]:
        ratio = call["p50_ms"] / call["select_1_ms"]
        cells = [machine.milliseconds(call[name]) for name in PERCENTILES]
        made.add_row(call["name"], str(call["times"]), *cells, f"{ratio:.0f} times")
    show.draw(console, made)
    show.facts(console, {
        "added": f"{told['rows_a_second']:,.0f} memories a second in batches of {BATCH}",
        "exported": f"{told['export']['rows']:,} rows in {told['export']['seconds']:.2f} s",
        "found": f"{told['found']:.1%} of the facts among the first ten for their questions",
    })  # fmt: skip
