"""Tables that have grown since they were made are analyzed, so that no session keeps a plan for empty ones."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from quiet import quiet

from engram import AsyncEngram, Engram, Scope, database
from engram.database import Connection, fetch_named
from engram.embedded import EmbeddedServer
from engram.recall import log
from engram.settings import load
from engram.wire import Wire

MANY: Final = 100  # facts of a write
WRITES: Final = 4
WRITTEN: Final = (
    "agent_events", "agent_memory", "memory_activity", "memory_changes", "memory_lexemes", "memory_sources",
)  # fmt: skip


@dataclass(frozen=True)
class Young:
    """A migrated database in which nothing was written, as the application and as its owner."""

    url: str
    owner: psycopg.Connection[Any]

    def counted(self) -> dict[str, float]:
        """The tables that were analyzed, with their rows as the planner knows them."""
        rows = self.owner.execute(
            "SELECT relname, reltuples FROM pg_class"
            " WHERE relnamespace = 'engram'::regnamespace AND relkind = 'r' AND reltuples >= 0"
        )
        return {name: rows for name, rows in rows.fetchall()}  # noqa: C416 - rows of two columns


@pytest.fixture(scope="module")
def template(server: EmbeddedServer, migrated: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection to a server with a migrated database that the others are copies of."""
    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE unwritten TEMPLATE {migrated}")  # type: ignore[arg-type]
        url = server.url(user="postgres", database="unwritten")
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as inside:
            tables = (
                "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'engram'::regnamespace AND relkind = 'r'"
            )
            for (name,) in inside.execute(tables).fetchall():
                inside.execute(f"ALTER TABLE {name} SET (autovacuum_enabled = false)")
        yield conn
        conn.execute("DROP DATABASE unwritten WITH (FORCE)")


@pytest.fixture
def young(server: EmbeddedServer, template: psycopg.Connection[Any]) -> Iterator[Young]:
    template.execute("CREATE DATABASE young_tables TEMPLATE unwritten")
    owner = server.url(user="postgres", database="young_tables").replace("+psycopg", "")
    with psycopg.connect(owner, autocommit=True) as conn:
        yield Young(server.url(database="young_tables"), conn)
    template.execute("DROP DATABASE young_tables WITH (FORCE)")


def opened(young: Young, tenant: str = "young", user: str = "ada") -> Engram:
    settings = load({}, pool_size=1, dispatch="doorbell")
    return quiet(Engram(young.url, scope=Scope(tenant, user_id=user), settings=settings))


def facts(part: int) -> list[dict[str, Any]]:
    return [{"fact": f"Boat {part}.{number} is moored at pier {number % 9}."} for number in range(MANY)]


def pages_read(conn: Connection) -> int:
    """The pages that the gates read for one fact, by the plan that this session keeps."""
    given = {"hash": hashlib.sha256(b"no fact").digest()}
    asked = (
        "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM engram.gate_rows('young', (SELECT min(scope_id)"
        " FROM memory_scopes WHERE scope_id > 0), ARRAY[%(hash)s::bytea], ARRAY['a key'], ARRAY['a type'],"
        " ARRAY[false], ARRAY[now()], 1)"
    )
    [row] = fetch_named(conn, asked, given)
    [plan] = json.loads(row[0]) if isinstance(row[0], str) else row[0]
    return int(plan["Plan"]["Shared Hit Blocks"]) + int(plan["Plan"]["Shared Read Blocks"])


def pages_after(young: Young) -> int:
    """Those pages, in a session that made its plan when the first messages were derived."""
    with opened(young) as door:
        for part in range(2 * WRITES):
            said = [{"role": "user", "content": f"I have moored boat {part}.{number}."} for number in range(MANY)]
            door.remember(said, session_id=f"talk {part}")
            while door.ops.run_jobs():
                pass
        return int(door._core.database().run("young", pages_read))


def test_a_plan_for_all_but_empty_tables_is_not_kept(young: Young) -> None:
    assert pages_after(young) < 30


def test_it_would_be_kept_otherwise(young: Young, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "ANALYZED_AT", frozenset())
    assert pages_after(young) > MANY, "a whole tenant is read for a fact, or this test shows nothing any more"
    assert young.counted() == {}


def test_what_has_grown_is_analyzed_and_what_has_not_is_left(young: Young) -> None:
    with opened(young) as door:
        for part in range(WRITES - 1):
            door.add_many(facts(part))
        assert young.counted() == {}
        door.add_many(facts(WRITES))
    counted = young.counted()
    assert {name: counted.get(name) for name in WRITTEN} == dict.fromkeys(WRITTEN, (WRITES - 1) * MANY)
    assert not {"agent_task_runs", "memory_scopes", "memory_topics"} & set(counted)


def test_what_was_analyzed_is_analyzed_again_when_it_is_four_times_as_large(young: Young) -> None:
    with opened(young) as door:
        for part in range(16):
            door.add_many(facts(part))
            if part + 1 in (WRITES, 8, 16):
                rows = {WRITES: 3, 8: 3, 16: 15}[part + 1]  # what was there before the write
                assert young.counted()["agent_memory"] == rows * MANY, part


def test_reading_analyzes_nothing(young: Young, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(young) as door:
        monkeypatch.setattr(database, "ANALYZED_AT", frozenset())
        for part in range(WRITES):
            door.add_many(facts(part))
        monkeypatch.setattr(database, "ANALYZED_AT", range(1_000_000))
        monkeypatch.setattr(log, "SWEEPS", 2**97)  # a row with which old ones go, one in so many, is a write of its own
        door.search("boat")
        assert young.counted() == {}


async def test_the_asynchronous_door_does_the_same(young: Young, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "ANALYZED_AT", range(1_000_000))
    async with AsyncEngram(young.url, scope=Scope("young"), settings=load({}, dispatch="doorbell")) as door:
        for part in range(2):
            await door.add_many(facts(part))
        assert (await door.search("boat")).results
    assert young.counted()["agent_memory"] == MANY


def test_a_table_that_somebody_works_on_is_left_to_them(young: Young) -> None:
    with opened(young) as door, young.owner.transaction():
        young.owner.execute("LOCK TABLE engram.agent_memory IN SHARE UPDATE EXCLUSIVE MODE")  # as VACUUM takes it
        for part in range(WRITES):
            door.add_many(facts(part))
        assert set(WRITTEN) - set(young.counted()) == {"agent_memory"}


HINDERED: Final = {
    "refused": "REVOKE EXECUTE ON FUNCTION engram.analyze_grown_table FROM engram_app",
    "not there": "DROP FUNCTION engram.analyze_grown_table",
    "the session dies": (
        "CREATE OR REPLACE FUNCTION engram.analyze_grown_table() RETURNS text LANGUAGE sql SECURITY DEFINER"
        " AS $$ SELECT pg_terminate_backend(pg_backend_pid())::text $$"
    ),
}


@pytest.mark.parametrize("hindered", HINDERED)
def test_what_hinders_it_harms_no_write(young: Young, monkeypatch: pytest.MonkeyPatch, hindered: str) -> None:
    monkeypatch.setattr(database, "ANALYZED_AT", range(1_000_000))
    young.owner.execute(HINDERED[hindered])
    with opened(young) as door:
        for part in range(3):
            assert len(door.add_many(facts(part))) == MANY
        assert len(door.search("boat", limit=50).results) == 50
    assert young.counted() == {}


def test_no_time_limit_cuts_it_short(young: Young, monkeypatch: pytest.MonkeyPatch) -> None:
    """That a table was analyzed is noted at once, and what was learned of it only with the transaction."""
    said: list[Any] = []
    real = Wire.say

    def say(wire: Wire, statements: Sequence[Any], **more: Any) -> list[Any]:
        if any("analyze_grown_table" in text for text, _ in statements):
            said.append(dict(statements[1][1]))
        return real(wire, statements, **more)

    monkeypatch.setattr(Wire, "say", say)
    with opened(young) as door:
        for part in range(WRITES):
            door.add_many(facts(part))
    assert [given["statement_timeout"] for given in said] == ["0"] * (len(young.counted()) + 1)
    learned = young.owner.execute("SELECT DISTINCT starelid::regclass::text FROM pg_statistic").fetchall()
    assert {f"engram.{name}" for name in young.counted()} <= {name for (name,) in learned}


def test_a_table_nobody_may_touch_is_waited_for_no_longer_than_a_moment(young: Young) -> None:
    with opened(young) as door, young.owner.transaction():
        for part in range(WRITES - 1):
            door.add_many(facts(part))
        young.owner.execute("LOCK TABLE engram.memory_topics IN ACCESS EXCLUSIVE MODE")
        assert len(door.add_many(facts(WRITES))) == MANY
    assert "agent_memory" in young.counted(), "what comes before it by name"


def test_who_may_only_read_analyzes_nothing(young: Young) -> None:
    with opened(young) as door:
        door.add_many(facts(0))
    with psycopg.connect(young.url.replace("+psycopg", ""), autocommit=True) as conn:
        conn.execute("SET default_transaction_read_only = on")
        row = conn.execute("SELECT engram.analyze_grown_table()").fetchone()
    assert row == (None,)


def read(young: Young) -> Mapping[str, int]:
    """How many entries of each index have been read since the database was made, by sessions that have ended."""
    wanted = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'young_tables' AND pid <> pg_backend_pid()"
    while young.owner.execute(wanted).fetchone() != (0,):
        time.sleep(0.02)
    rows = young.owner.execute(
        "SELECT indexrelname, idx_tup_read FROM pg_stat_user_indexes WHERE schemaname = 'engram'"
    )
    return dict(rows.fetchall())


@pytest.fixture
def unmet(young: Young, monkeypatch: pytest.MonkeyPatch) -> Young:
    """A tenant with rows of two users in tables that were analyzed before it had any."""
    monkeypatch.setattr(database, "ANALYZED_AT", frozenset())
    for tenant, user in (("met", "ada"), ("unmet", "ada"), ("unmet", "bob")):
        with opened(young, tenant, user) as door:
            for part in range(WRITES):
                door.add_many(facts(part))
        if tenant == "met":
            young.owner.execute("ANALYZE")
    return young


def entries(unmet: Young, call: Callable[[Engram], object], user: str = "ada") -> Mapping[str, int]:
    """The entries of each index that a call of a user of that tenant reads, in a session of its own."""
    before = read(unmet)
    with opened(unmet, "unmet", user) as door:
        call(door)
    return {name: many - before[name] for name, many in read(unmet).items() if many > before[name]}


def test_a_batch_does_not_read_a_tenant_that_the_planner_has_not_met(unmet: Young) -> None:
    found = entries(unmet, lambda door: door.add_many(facts(WRITES)))
    # What the names of indexes say is by scope, or by a key: of the others each fact reads some, and not all there is.
    assert found["agent_memory_pkey"] < 25 * MANY
    assert found.get("agent_memory_one_head", 0) < 25 * MANY


def test_a_derivation_does_not_read_a_tenant_that_the_planner_has_not_met(unmet: Young) -> None:
    def derived(door: Engram) -> None:
        said = [{"role": "user", "content": f"I have moored boat {number}."} for number in range(20)]
        door.remember(said, session_id="talk")
        while door.ops.run_jobs():
            pass

    found = entries(unmet, derived)
    assert found["agent_events_tenant_id_event_id_key"] >= 20
    assert found.get("agent_events_scope", 0) < 2 * WRITES * MANY, "not all events of the tenant for each"


@pytest.mark.parametrize("known", ["unmet", "met"])
def test_the_history_of_a_scope_reads_its_newest_changes(unmet: Young, known: str) -> None:
    if known == "met":
        unmet.owner.execute("ANALYZE")
    history: list[Any] = []
    found = entries(unmet, lambda door: history.append(door.get_history(limit=5)))
    assert [entry.memory.fact for entry in history[0]] == [
        f"Boat 3.{n} is moored at pier {n % 9}." for n in range(99, 94, -1)
    ]
    changes = {name: many for name, many in found.items() if name.startswith(("memory_changes", "agent_memory"))}
    assert sum(changes.values()) < (50 if known == "met" else 3 * WRITES * MANY), changes


def test_the_history_of_then_reads_the_newest_changes_of_its_scope_too(unmet: Young) -> None:
    unmet.owner.execute("ANALYZE")
    mark, history = datetime.now(UTC), list[Any]()
    found = entries(
        unmet, lambda door: history.append(door.get_history(limit=5, include_superseded=False, known_at=mark))
    )
    assert [entry.memory.fact for entry in history[0]] == [
        f"Boat 3.{n} is moored at pier {n % 9}." for n in range(99, 94, -1)
    ]
    changes = {name: many for name, many in found.items() if name.startswith(("memory_changes", "agent_memory"))}
    assert sum(changes.values()) < 100, changes


def test_the_history_of_a_memory_reads_its_changes(unmet: Young) -> None:
    with opened(unmet, "unmet") as door:
        memory_id = door.get_history(limit=1).results[0].memory.memory_id
    history: list[Any] = []
    found = entries(unmet, lambda door: history.append(door.get_history(memory_id)))
    assert [entry.entry for entry in history[0]] == ["added"]
    assert sum(many for name, many in found.items() if name.startswith(("memory_changes", "agent_memory"))) < 100, found


def test_an_export_of_a_user_does_not_read_the_others(unmet: Young, tmp_path: Path) -> None:
    with opened(unmet, "unmet", "eve") as door:
        door.add_many(facts(WRITES)[:10])
    unmet.owner.execute("ANALYZE")
    found = entries(unmet, lambda door: door.ops.export(tmp_path / "all.jsonl", vectors=True), "eve")
    assert found["agent_events_scope"] >= 10
    assert max(found.values()) < 100, found


def test_what_was_said_is_in_no_statistics(young: Young) -> None:
    """ANALYZE keeps samples of columns, which an erasure does not reach."""
    with opened(young) as door:
        for part in range(2 * WRITES):
            said = [{"role": "user", "content": f"My qanari{part:03}{number:03}zx is ill."} for number in range(20)]
            door.remember(said, session_id=f"talk {part}")
            while door.ops.run_jobs():
                pass
        for number in range(40):
            word = f"qanari{number:06}zx"
            door.add(
                f"A tame {word}.",
                topic_key=word,
                category=word,
                tags=[word],
                metadata={"of": word},
                source=word,
                force=True,
            )
            door.search(f"Whose is {word}?")
    young.owner.execute("ANALYZE")
    sampled = young.owner.execute(
        "SELECT tablename, attname FROM pg_stats WHERE schemaname = 'engram' AND concat_ws("
        " ' ', most_common_vals::text, histogram_bounds::text, most_common_elems::text) ~ 'qanari'"
    ).fetchall()
    assert sampled == []
    assert young.owner.execute("SELECT count(*) FROM pg_stats WHERE schemaname = 'engram'").fetchone() > (100,)
