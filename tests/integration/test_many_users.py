"""What a call reads for one user grows neither with the other users of the tenant nor with other tenants.

A tenant of many users among many small ones is what a planner that goes by averages takes for a small one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import neighbours
import psycopg
import pytest
from alone import Alone
from quiet import quiet

from engram import Engram, Scope, tenancy
from engram.database import Connection, execute, fetch_all
from engram.operations.arguments import Message
from engram.settings import load

MANY: Final = 800
TENANTS: Final = 1_000
MORE: Final = 120  # rows of a table that a call may read beside those it read before: half of what a scan would add
TENANT, USER = "many", "ada"
STAGES: Final = ("few", "users", "tenants")  # what the user is among: few of both, many users, and many tenants besides
READ: Final = """
    SELECT relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables
     WHERE schemaname = 'engram' AND relname NOT LIKE 'memory_embeddings%'
"""  # of their parts each is read for its scopes alone, which other tests see to
# Through an index alone no row is read: its entries are counted apart.
ENTRIES: Final = """
    SELECT relname || ' by index', sum(idx_tup_read) FROM pg_stat_user_indexes
     WHERE schemaname = 'engram' AND relname NOT LIKE 'memory_embeddings%' GROUP BY relname
"""
# Of what one transaction has read so far:
SO_FAR: Final = """
    SELECT coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::integer
      FROM pg_stat_xact_user_tables
     WHERE schemaname = 'engram'
"""
UNTOLD: Final = """
    SELECT c.oid::regclass::text FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
     WHERE c.relnamespace = 'engram'::regnamespace AND c.relkind IN ('r', 'p')
       AND coalesce(array_to_string(a.attoptions, ','), '') NOT IN ('n_distinct=20', 'n_distinct_inherited=20')
"""
NUMBERS: Final = itertools.count()
CALLS: Final[Mapping[str, Callable[[Engram, Life], object]]] = {
    "get": lambda door, life: door.get(life.ids[1]),
    "search": lambda door, life: door.search("Where is the parrot?"),
    "recall": lambda door, life: door.recall("Where do I live?"),
    "build_context": lambda door, life: door.build_context("parrot", task_run_id=life.run),
    "search_events": lambda door, life: door.search_events("parrot"),
    "list_events": lambda door, life: door.list_events(session_id="chat"),
    "list_memories": lambda door, life: door.list_memories(),
    "timeline": lambda door, life: door.timeline(),
    "traverse": lambda door, life: door.traverse(life.ids[1]),
    "stats": lambda door, life: door.stats(),
    "list_jobs": lambda door, life: door.ops.list_jobs(),
    "audit_log": lambda door, life: door.ops.audit_log(),
    "export": lambda door, life: door.ops.export(life.folder / f"{next(NUMBERS)}.jsonl"),
    "add": lambda door, life: added(door),
    "remember": lambda door, life: door.remember("It is green.", session_id="chat", wait=True),
    "annotate": lambda door, life: door.annotate(life.ids[1], tags=[f"mark-{next(NUMBERS)}"]),
    "relate": lambda door, life: door.relate(life.ids[1], added(door), "causes"),
}


@dataclass(frozen=True)
class Life:
    """What is there of a user that calls name."""

    ids: tuple[str, ...]
    run: str
    folder: Path


def added(door: Engram) -> str:
    memory = door.add(f"The lighthouse has {next(NUMBERS)} steps").memory
    assert memory is not None
    return memory.memory_id


def opened(url: str, user: str | None = USER) -> Engram:
    return quiet(Engram(url, scope=Scope(TENANT, user_id=user), settings=load({}, pool_size=1)))


def lived(door: Engram, folder: Path) -> Life:
    """A little of everything, in a scope."""
    door.remember("I live in Berlin. My sister Milena has a parrot.", session_id="chat", wait=True)
    door.remember("I moved to Hamburg.", session_id="chat", wait=True)
    ids = [door.add(f"Ada sold the {thing}", topic_key=f"ada/{thing}").memory for thing in ("piano", "boat", "lamp")]
    assert all(ids)
    known = tuple(memory.memory_id for memory in ids if memory is not None)
    door.revise(known[0], "Ada kept the piano")
    door.relate(known[1], known[2], "causes")
    run = door.start_task("Paint the boat").task_run_id
    door.save_checkpoint(run, "Half of it is painted")
    door.record_long_input("# Contract\n\nThe rent is 900 euros a month.", title="contract.md", wait=True)
    door.ops.archive([known[2]], reason="It is gone")
    door.search("parrot")
    while door.ops.run_jobs():
        pass
    return Life(known, run, folder)


@dataclass(frozen=True)
class Crowd:
    """A user among many, and what calls for that user read of each table at every stage."""

    url: str
    life: Life
    read: Mapping[str, list[dict[str, int]]]


@pytest.fixture(scope="module")
def crowd(alone: Alone, tmp_path_factory: pytest.TempPathFactory) -> Crowd:
    found: dict[str, list[dict[str, int]]] = {name: [] for name in CALLS}
    with psycopg.connect(alone.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
        for user in (None, "eve"):
            with opened(alone.url(), user) as door:
                door.remember("The office closes at six.", session_id="chat", wait=True)
        with opened(alone.url()) as door:
            life = lived(door, tmp_path_factory.mktemp("exports"))
        neighbours.add(conn, TENANT, USER, range(1, 3), tenants=False)
        for stage in STAGES:
            if stage == "users":
                neighbours.add(conn, TENANT, f"{USER}-1", range(10, 10 + MANY), tenants=False)
            if stage == "tenants":
                neighbours.add(conn, TENANT, "eve", range(1_000, 1_000 + TENANTS), tenants=True)
            conn.execute("VACUUM ANALYZE")
            conn.execute("SELECT pg_stat_force_next_flush()")  # what this connection has read is none of theirs
            with opened(alone.url()) as door:
                for name, call in CALLS.items():
                    call(door, life)  # it plans, and looks at tables that have grown
                    found[name].append(rows_read(conn, door, call, life))
    return Crowd(alone.url(), life, found)


def rows_read(
    conn: psycopg.Connection[Any], door: Engram, call: Callable[[Engram, Life], object], life: Life
) -> dict[str, int]:
    def seen() -> dict[str, int]:
        door._core.database().run(TENANT, lambda own: own.exec_driver_sql("SELECT pg_stat_force_next_flush()"))
        return dict(conn.execute(READ).fetchall()) | {
            name: int(many) for name, many in conn.execute(ENTRIES).fetchall()
        }

    before = seen()
    call(door, life)
    return {name: many - before[name] for name, many in seen().items()}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("stage", STAGES[1:])
def test_what_is_read_for_one_user_does_not_grow_with_others(crowd: Crowd, name: str, stage: str) -> None:
    few, many = crowd.read[name][0], crowd.read[name][STAGES.index(stage)]
    assert sum(few.values()) > 0
    assert {table: (few[table], rows) for table, rows in many.items() if rows > few[table] + MORE} == {}


ERASING: Final[Mapping[str, Mapping[str, Any]]] = {
    "list_scopes_to_erase": {"user_id": None},
    "erase_run_reasons": {"run_id": None},
    "list_events_made_of": {"beside": [], "lifecycle": "memory_lifecycle", "relating": ["related"], "whole": False},
    "erase_job_texts": {},
}


@pytest.mark.parametrize("name", ERASING)
def test_what_an_erasure_asks_of_one_user_does_not_grow_with_others(crowd: Crowd, name: str) -> None:
    """But for its second look, which is at all of the tenant on purpose."""
    with opened(crowd.url) as door:
        gone = door.get(crowd.life.ids[1])
        event = door.get_event(gone.event_id)

        def work(conn: Connection) -> int:
            scope_id = tenancy.find(conn, door.scope)
            given = ERASING[name] | {
                "tenant_id": TENANT, "scope_id": scope_id, "event_id": gone.event_id, "memory_ids": [gone.memory_id],
                "stream_id": event.stream_id,
            }  # fmt: skip
            before = conn.exec_driver_sql(SO_FAR).scalar_one()
            execute(conn, name, **given)
            return int(conn.exec_driver_sql(SO_FAR).scalar_one() - before)

        assert door._core.database().run(TENANT, work) < MORE + MORE


def test_the_planner_is_told_of_few_tenants_in_every_table(crowd: Crowd, alone: Alone) -> None:
    with psycopg.connect(alone.superuser_url.replace("+psycopg", "")) as conn:
        untold = conn.execute(UNTOLD).fetchall()
        taken = conn.execute(
            "SELECT DISTINCT n_distinct FROM pg_stats WHERE schemaname = 'engram' AND attname = 'tenant_id'"
            " AND NOT inherited AND tablename IN ('agent_memory', 'memory_jobs', 'memory_scopes')"
        ).fetchall()
    assert untold == []
    assert taken == [(20.0,)]


def test_the_messages_before_one_are_found_by_their_places(crowd: Crowd) -> None:
    with opened(crowd.url) as door:
        for _ in range(3):
            told = [Message(role="user", content=f"Boat {n} came in", derive="skip") for n in range(400)]
            receipt = door.remember(told, session_id="long")

        def work(conn: Connection) -> tuple[list[Any], int]:
            before = conn.exec_driver_sql(SO_FAR).scalar_one()
            found = fetch_all(conn, "list_preceding", event_ids=[receipt.event_ids[-1], receipt.event_ids[1]])
            return found, conn.exec_driver_sql(SO_FAR).scalar_one() - before

        found, many = door._core.database().run(TENANT, work)
    assert sorted(row.position for row in found) == [800, 801, 1198, 1199]
    assert many < 50
