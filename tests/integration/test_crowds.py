"""A crowd's rows are what the product would have written, and the product works on them."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from quiet import quiet

from engram import Engram, Scope, migrations
from engram.embedded import EmbeddedServer
from engram.settings import load

ROOT: Final = Path(__file__).parents[2]
ROWS: Final = 250  # a user of 50 and two others
# What no two memories have in common: ids, clocks, chains, what the gates saw of the scope as it was, and what the
# policy reads out of a fact.
OWN: Final = {
    "tenant_id", "scope_id", "memory_id", "lineage_id", "event_id", "stands_event_id", "stream_id", "change_id", "txid",
    "recorded_at", "stands_recorded_at", "occurred_at", "created_at", "position", "idempotency_key", "salt",
    "commitment", "prev_hash", "hash", "head_hash", "job_id", "user_id", "run_at", "surprise", "importance", "subject",
    "memory_type", "category", "negates", "attribute", "value", "rule", "conflict_key", "expires_at",
}  # fmt: skip
JOBS: Final = "memory_jobs"  # a write may ask for upkeep, by chance


@dataclass(frozen=True)
class Twins:
    """A crowd, and a tenant whose memories were written by the door with the same facts."""

    crowds: Any
    crowd: Any
    door: Engram
    facts: list[str]
    address: str


@pytest.fixture(scope="module")
def twins(server: EmbeddedServer, migrated: str) -> Iterator[Twins]:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    crowds = importlib.import_module("crowds")
    address = server.superuser_url.replace("+psycopg", "")
    with psycopg.connect(address, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE crowds TEMPLATE {migrated}")  # type: ignore[arg-type]
    url = server.url(user="postgres", database="crowds")
    crowd = crowds.fill(server.url(database="crowds"), url, crowds.Shape("mixed", ROWS))
    filled = crowd.of(crowds.BIG)
    facts = crowd.texts.facts(filled.first, filled.rows)
    with Engram(crowd.url, scope=Scope("written", user_id="ada"), settings=load({})) as door:
        given = [{"fact": fact, "valid_from": crowds.since(filled.first + n)} for n, fact in enumerate(facts)]
        quiet(door).add_many(given)
        yield Twins(crowds, crowd, door, facts, crowds.plain(url))
    with psycopg.connect(address, autocommit=True) as conn:
        conn.execute("DROP DATABASE crowds WITH (FORCE)")
    sys.path.remove(str(ROOT / "benchmarks"))


def rows_of(twins: Twins, scope_id: int) -> dict[str, list[dict[str, Any]]]:
    """Every row of a scope by table, without what no two memories have in common, in an order of their contents."""
    with psycopg.connect(twins.address) as conn:
        tables = conn.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'scope_id'"
            " WHERE c.relnamespace = 'engram'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
        ).fetchall()
        found = {}
        for (table,) in tables:
            sql = f"SELECT to_jsonb(t) FROM engram.{table} t WHERE t.scope_id = %s"
            rows = [row[0] for row in conn.execute(sql, (scope_id,))]  # type: ignore[arg-type]
            alike = [{name: same(name, row[name], scope_id) for name in row if name not in OWN} for row in rows]
            found[table] = sorted(alike, key=lambda row: json.dumps(row, sort_keys=True))
    return found


def same(name: str, value: Any, scope_id: int) -> Any:
    """A value as far as two memories of one fact have it in common."""
    if name == "lexemes":
        return value.replace(f"'{scope_id}:", "'")
    if name == "embedding":
        return [round(one, 3) for one in json.loads(value)]
    if name == "state":
        return sorted(set(value) - {"importance"})
    if name == "decision":
        return sorted(value), value["kind"], value["policy"], [sorted(near) for near in value["nearest"]][:1]
    return value


def test_a_crowd_has_the_rows_that_the_door_writes(twins: Twins) -> None:
    with psycopg.connect(twins.address) as conn:
        row = conn.execute("SELECT scope_id FROM engram.memory_scopes WHERE tenant_id = 'written'").fetchone()
    assert row is not None
    written, made = rows_of(twins, row[0]), rows_of(twins, twins.crowd.of(twins.crowds.BIG).scope_id)
    assert len(written["agent_memory"]) == ROWS // 5
    for table in sorted(set(written) - {JOBS}):
        if table == "memory_changes":
            # The first of a scope has no neighbours, and each next one more.
            assert [one["entry"] for one in made[table]] == [one["entry"] for one in written[table]]
            assert sorted(made[table][-1]) == sorted(written[table][-1])
            assert made[table][-1]["state"] == written[table][-1]["state"]
        else:
            assert made[table] == written[table], table


def test_the_same_number_gives_the_same_fact_wherever_it_is_asked_for(twins: Twins) -> None:
    texts = twins.crowds.Texts(1)
    assert texts.facts(0, 2_500)[1_700:1_710] == twins.crowds.Texts(1).facts(1_700, 10)
    assert len(set(texts.facts(0, 2_500))) == 2_500


def test_the_product_works_on_a_crowd(twins: Twins) -> None:
    crowd, crowds = twins.crowd, twins.crowds
    with crowd.door(crowd.of(crowds.BIG), settings=load({})) as door:
        assert quiet(door).ops.verify_ledger().ok
        found = door.search(twins.facts[7])
        assert found[0].memory.fact == twins.facts[7]
        assert {"semantic", "keyword"} <= set(found[0].channels)
        assert door.recall(twins.facts[8]).found
        memory_id = found[0].memory.memory_id
        assert door.get_lineage(memory_id).head is not None
        assert [one.entry for one in door.get_history(memory_id)] == ["added"]
        assert door.get(memory_id).citations[0].verified
        assert door.stats().memories == ROWS // 5
        told = [door.traverse(one.memory.memory_id) for one in found]
        assert any(walk.results for walk in told)
        decision = door.add(twins.facts[9])
        assert decision.kind == "reinforce"


def test_hubs_have_many_relations(twins: Twins) -> None:
    with psycopg.connect(twins.address) as conn:
        rows = conn.execute(
            "SELECT count(*) FROM engram.memory_relations GROUP BY target_id ORDER BY 1 DESC"
        ).fetchall()
        histories = conn.execute("SELECT count(*) FROM engram.relation_changes").fetchone()
    assert rows[0][0] >= 4 * rows[len(rows) // 2][0]
    assert histories == (sum(row[0] for row in rows),)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that a server may enter."""
    made = Path(tempfile.mkdtemp(prefix="engram-kept-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def test_every_run_begins_with_the_rows_that_were_kept(twins: Twins, folder: Path) -> None:
    crowds, shape = twins.crowds, twins.crowds.Shape("small", 20, each=10)
    for _ in range(2):
        with crowds.opened(shape, folder) as crowd, crowd.door(crowd.scopes[0], settings=load({})) as door:
            assert len(crowd.scopes) == 2
            assert door.stats().memories == 10
            door.add("The kettle is in the cellar.")
    assert [path.name for path in folder.iterdir()] == [f"{shape.key}-{crowds.FORM}"]


def test_a_crowds_indexes_are_built_as_the_product_builds_them(twins: Twins, migrated_database_url: str) -> None:
    """They are dropped while a crowd is filled: what a graph is built with must not be lost."""
    made = []
    for address in (twins.address, twins.crowds.plain(migrated_database_url)):
        with psycopg.connect(address) as conn:
            rows = conn.execute(
                "SELECT tablename, regexp_replace(indexdef, '^(CREATE (UNIQUE )?INDEX) [^ ]+', '\\1') FROM pg_indexes"
                " WHERE schemaname = 'engram'"
            ).fetchall()
        made.append(sorted(rows))
    assert sum("ef_construction" in definition for _, definition in made[0]) == migrations.PARTITIONS
    assert made[0] == made[1]
