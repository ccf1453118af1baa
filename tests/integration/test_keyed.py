"""What is planned for no values: each statement finds what it reads by its keys, and no plan outlives its tables."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from plans import nodes
from quiet import quiet

from engram import Engram, Scope, database, jobs, wire
from engram.database import KEYED, Connection, Database, fetch_ahead, fetch_all, fetch_named, statement
from engram.embedded import EmbeddedServer
from engram.ids import new_id
from engram.settings import load
from engram.wire import Kept, Keyed, Wire

ROOT: Final = Path(__file__).parents[2]
ROWS: Final = 1_500
SESSIONS: Final = 400
KEYLESS: Final = frozenset({"tenant_id", "scope_id", "kind", "state"})  # a condition on these alone reads far and wide
BY_SCOPE: Final = frozenset({
    "agent_memory_key", "agent_memory_recent",  # so many of the newest, and what stands under a key
    "memory_jobs_open",  # what a language model has yet to read
    "memory_scopes_pkey",  # where the scope is the key
})  # fmt: skip


@dataclass(frozen=True)
class Filled:
    """A database with rows in every table that a statement finds by keys, and one of its users."""

    url: str
    owner: str
    scope: Scope


@pytest.fixture(scope="module")
def filled(server: EmbeddedServer, migrated: str) -> Iterator[Filled]:
    address = server.superuser_url.replace("+psycopg", "")
    with psycopg.connect(address, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE keyed TEMPLATE {migrated}")  # type: ignore[arg-type]
    owner = server.url(user="postgres", database="keyed")
    sys.path.insert(0, str(ROOT / "benchmarks"))
    crowds = importlib.import_module("crowds")
    crowd = crowds.fill(server.url(database="keyed"), owner, crowds.Shape("mixed", ROWS, relations=3))
    sys.path.remove(str(ROOT / "benchmarks"))
    scope = crowd.of(crowds.LITTLE).scope
    with quiet(Engram(crowd.url, scope=scope, settings=load({}, dispatch="doorbell"))) as door:
        for number in range(SESSIONS):
            door.remember(f"Boat {number} is moored at pier {number % 9}.", session_id=f"session {number}")
        while door.ops.run_jobs():
            pass
    yield Filled(crowd.url, crowds.plain(owner), scope)
    with psycopg.connect(address, autocommit=True) as conn:
        conn.execute("DROP DATABASE keyed WITH (FORCE)")


def live(door: Engram) -> None:
    """Calls in which every statement that is kept for its keys is said."""
    one = door.add("The harbour opens at six.", topic_key="harbour").memory
    two = door.add("The lighthouse is white.", force=True).memory
    assert one is not None
    assert two is not None
    for _ in range(2):
        door.add("The lighthouse is white.", idempotency_key="lighthouse")
    door.revise(one.memory_id, "The harbour opens at seven.")
    door.forget(door.revise(one.memory_id, "The harbour opens at eight.").memory.memory_id, revision_only=True)  # type: ignore[union-attr]
    door.relate(one.memory_id, two.memory_id, "beside")
    door.add("The lighthouse is red.", supersedes=[two.memory_id], force=True)
    said = [
        "I live in Bonn.",
        "I moved to Rome.",
        "I like sailing a lot.",
        "I no longer like sailing.",
        "I live in Rome.",
    ]
    for words in said:
        door.remember(words, session_id="talk", wait=60)
    long = [{"role": "user", "content": f"Buoy {number} is green."} for number in range(120)]
    door.remember(long, session_id="long", wait=60)
    door.ops.redact_event(door.list_events(limit=1, session_id="talk")[0].event_id)


def kept_plans(conn: Connection) -> dict[str, dict[str, Any]]:
    """The plans for no values of what this session keeps for its keys, by the names of the statements."""
    names = {wire._numbered(statement(name))[0].decode(): name for name in KEYED}
    asked = "SELECT name, statement, cardinality(parameter_types) AS many FROM pg_prepared_statements"
    kept = [row for row in fetch_named(conn, asked, {}) if row.statement in names]
    fetch_named(conn, "SELECT set_config('plan_cache_mode', 'force_generic_plan', true)", {})
    plans = {}
    for row in kept:
        [told] = fetch_named(conn, f"EXPLAIN (FORMAT JSON) EXECUTE {row.name} ({', '.join(['NULL'] * row.many)})", None)
        plan = json.loads(told[0]) if isinstance(told[0], str) else told[0]
        plans[names[row.statement]] = plan[0]["Plan"]
    return plans


def far_and_wide(plan: dict[str, Any]) -> list[str]:
    """The scans of a plan that read more than some keys name."""
    found = []
    for node in nodes(plan):
        if node["Node Type"] == "Seq Scan":
            found.append(f"all of {node['Relation Name']}")
        if "Index Cond" in node or node["Node Type"].startswith("Index"):
            said = node.get("Index Cond", "")
            keys = {*re.findall(r"\(+(?:\w+\.)?\"?(\w+)\"? (?:=|>|<|>=|<=|~>=~) ", said)} - KEYLESS
            if not keys and not (node["Index Name"] in BY_SCOPE and "scope_id" in said):
                found.append(f"{node['Index Name']} {said}")
    return found


@pytest.mark.parametrize("known", ["counted", "uncounted"])
def test_each_finds_what_it_reads_by_its_keys(filled: Filled, known: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the planner has counted nothing yet, and takes a tenant for one of hundreds."""
    monkeypatch.setattr(database, "ANALYZED_AT", frozenset())
    with psycopg.connect(filled.owner, autocommit=True) as conn:
        if known == "counted":
            conn.execute("ANALYZE")
        else:
            conn.execute("DELETE FROM pg_statistic WHERE starelid::regclass::text LIKE 'engram.%'")
            conn.execute("UPDATE pg_class SET reltuples = -1 WHERE relnamespace = 'engram'::regnamespace")
    settings = load({}, pool_size=1, dispatch="doorbell")
    with quiet(Engram(filled.url, scope=filled.scope, settings=settings)) as door:
        live(door)
        plans = door._core.database().run(filled.scope.tenant_id, kept_plans)
    assert set(plans) == KEYED
    assert {name: found for name, plan in plans.items() if (found := far_and_wide(plan))} == {}


@pytest.fixture
def alone(database_url: str) -> Iterator[Database]:
    """A database with one connection, whose session is looked into."""
    opened = Database(database_url, load({}, pool_size=1))
    opened.run("anybody", lambda conn: fetch_named(conn, "SELECT 1", {}))  # behind a first message statements are kept
    yield opened
    opened.close()


def times_planned(conn: Connection, name: str) -> tuple[int, int]:
    """How often this session used its kept plan of a statement for no values, and for its values."""
    asked = "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement = %(text)s"
    [row] = fetch_named(conn, asked, {"text": wire._numbered(statement(name))[0].decode()})
    return row.generic_plans, row.custom_plans


def cursors(conn: Connection) -> list[jobs.Cursor]:
    return jobs.cursors(conn, [new_id()], [("rules", 1)])


def test_a_plan_is_made_again_when_it_was_used_as_often_again(alone: Database, tenant: str) -> None:
    used = []
    for _ in range(12):
        alone.run(tenant, cursors)
        used.append(alone.run(tenant, lambda conn: times_planned(conn, "list_cursors")))
    assert used == [(n, 0) for n in (1, 2, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6)]


def test_a_plan_is_used_no_longer_than_some_seconds(
    alone: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "MOST_SECONDS", 0.0)
    for _ in range(3):
        alone.run(tenant, cursors)
        assert alone.run(tenant, lambda conn: times_planned(conn, "list_cursors")) == (1, 0)


def test_a_plan_for_a_young_table_does_not_outlive_it(
    server: EmbeddedServer, migrated: str, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While there is nothing any index is as good for any key; when there is much, one that reads it all is not."""
    monkeypatch.setattr(database, "ANALYZED_AT", frozenset())
    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE young TEMPLATE {migrated}")  # type: ignore[arg-type]
    with quiet(Engram(server.url(database="young"), scope=Scope(tenant), settings=load({}, pool_size=1))) as door:
        opened = door._core.database()
        asked = [new_id()]

        def plan(conn: Connection) -> list[str]:
            return far_and_wide(kept_plans(conn)["list_decisions"])

        def ask(conn: Connection) -> list[Any]:
            return fetch_all(
                conn, "list_decisions", tenant_id=tenant, scope_ids=[1], own=1, memory_id=None, event_ids=asked,
                known_at=None,
            )  # fmt: skip

        for _ in range(2):  # behind a first message statements are kept
            opened.run(tenant, ask)
        assert len(opened.run(tenant, plan)) > 0, "what is to be outlived"
        door.add_many([{"fact": f"Boat {number} is moored at pier {number % 9}."} for number in range(300)])
        for _ in range(2):
            opened.run(tenant, ask)  # at the latest the second time it is planned anew
        assert opened.run(tenant, plan) == []
    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
        conn.execute("DROP DATABASE young WITH (FORCE)")


MODE: Final = "SELECT current_setting('plan_cache_mode') AS mode"


def test_only_what_is_kept_for_its_keys_is_planned_for_no_values(alone: Database, tenant: str) -> None:
    def modes(conn: Connection) -> list[str]:
        asked = (Kept(MODE), Keyed(MODE + " "), Keyed(MODE + " "), Kept(MODE), Keyed(MODE + " "), MODE)
        return [fetch_named(conn, said, {})[0].mode for said in asked]

    assert alone.run(tenant, modes) == ["auto", *["force_generic_plan"] * 2, "auto", "force_generic_plan", "auto"]


def test_a_savepoint_that_is_taken_back_leaves_the_plans_as_they_were(alone: Database, tenant: str) -> None:
    def modes(conn: Connection) -> list[str]:
        found = [fetch_named(conn, Keyed(MODE), {})[0].mode]
        with conn.begin_nested() as savepoint:
            found += [conn.exec_driver_sql(MODE).scalar_one(), fetch_named(conn, Keyed(MODE), {})[0].mode]
            savepoint.rollback()
        found.append(fetch_named(conn, MODE, {})[0].mode)
        with pytest.raises(Exception, match="division by zero"), conn.begin_nested():
            fetch_named(conn, Keyed("SELECT 1 / 0"), {})
        return [*found, fetch_named(conn, MODE, {})[0].mode]

    assert alone.run(tenant, modes) == ["force_generic_plan", "auto", "force_generic_plan", "auto", "auto"]


def test_what_sqlalchemy_says_behind_what_went_ahead_is_planned_as_before(alone: Database, tenant: str) -> None:
    def modes(conn: Connection) -> list[str]:
        rows = fetch_ahead(conn, "list_scopes_by_id", tenant_id=tenant, scope_ids=[1])
        found = [conn.exec_driver_sql(MODE).scalar_one()]
        fetch_ahead(conn, "list_scopes_by_id", tenant_id=tenant, scope_ids=[1])
        with conn.begin_nested():
            found.append(fetch_named(conn, MODE, {})[0].mode)
        assert rows() == []
        return found

    assert alone.run(tenant, modes) == ["auto", "auto"]


def test_a_plan_that_is_gone_when_it_is_to_be_made_again_is_no_failure(
    alone: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone.run(tenant, cursors)
    alone.run(tenant, lambda conn: conn.exec_driver_sql("DEALLOCATE ALL"))
    monkeypatch.setattr(wire, "MOST_SECONDS", 0.0)
    for _ in range(3):
        [found] = alone.run(tenant, cursors)
        assert found.position == 0


def test_a_statement_that_fails_beside_one_that_is_planned_again_leaves_it_kept(
    alone: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(conn: Connection) -> None:
        found = jobs.cursors_ahead(conn, [new_id()], [("rules", 1)])
        fetch_named(conn, "SELECT 1 / 0", {})
        found()

    alone.run(tenant, cursors)
    monkeypatch.setattr(wire, "MOST_SECONDS", 0.0)
    for _ in range(2):
        with pytest.raises(Exception, match="22012"):
            alone.run(tenant, fails)
        [found] = alone.run(tenant, cursors)
        assert found.position == 0
    assert alone.run(tenant, lambda conn: times_planned(conn, "list_cursors")) == (1, 0)
    assert alone.run(tenant, lambda conn: fetch_all(conn, "hold_models")) == []


def test_what_is_kept_is_known_to_the_wire_as_often_as_to_the_session(alone: Database, tenant: str) -> None:
    def kept(conn: Connection) -> tuple[int, int]:
        mine: Wire = conn.info["engram_wire"]
        [row] = fetch_named(conn, "SELECT count(*) AS many FROM pg_prepared_statements", {})
        return len(mine._kept), row.many

    for _ in range(5):
        alone.run(tenant, cursors)
    known, there = alone.run(tenant, kept)
    assert known == there > 2
