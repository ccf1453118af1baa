"""Plans: on a filled database each statement of a search uses the index it was written for, as the application role."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import psycopg
import pytest
from plans import nodes
from walks import walk

from engram import Engram, Scope, embedding, ledger, memories, recall, tenancy
from engram.arrays import Halves
from engram.channels import events, keyword, semantic
from engram.database import Connection, Database, statement
from engram.embedded import EmbeddedServer
from engram.recall import finding
from engram.settings import load

ROWS = 1_000
GRAPHED = 500
SPOKEN = list(keyword.SPOKEN)
LARGE_TABLES = (
    "agent_memory",
    "memory_lexemes",
    "memory_embeddings",
    "memory_activity",
    "agent_events",
    "memory_sources",
)


@dataclass(frozen=True)
class Crowd:
    """A tenant with one filled scope, and ids to ask for."""

    tenant: str
    scope_id: int
    memory_id: str
    event_id: str
    stream_id: str
    vector: Halves
    superuser: str


# Rows like those that were written through the door, in the tenant and in three others, so that no scope is all there
# is; foreign keys are not looked at while a replica is played.
FILL = (
    """
    INSERT INTO engram.agent_memory
    SELECT (jsonb_populate_record(m, jsonb_build_object(
              'tenant_id', m.tenant_id || t.k, 'scope_id', m.scope_id + 1000000 * coalesce(nullif(t.k, '')::bigint, 0),
              'memory_id', gen_random_uuid(), 'lineage_id', gen_random_uuid(), 'event_id', gen_random_uuid(),
              'conflict_key', 'topic:' || n, 'fact', 'Row ' || n || ' stands in house word' || n %% 40
                || (SELECT string_agg(' term' || (n * k) %% 397, '') FROM generate_series(1, 30) k)))).*
      FROM engram.agent_memory m
     CROSS JOIN (VALUES (''), ('1'), ('2'), ('3')) t(k)
     CROSS JOIN generate_series(1, %(rows)s) n
     WHERE m.tenant_id = %(tenant)s
    """,
    """
    INSERT INTO engram.memory_lexemes
    SELECT m.tenant_id, m.scope_id, m.memory_id, engram.memory_lexemes_of(m.scope_id, 'english', m.fact, '', '', ''), 36
      FROM engram.agent_memory m
     WHERE m.tenant_id LIKE %(tenant)s || '%%' AND m.memory_id <> %(memory_id)s
    """,
    """
    INSERT INTO engram.memory_activity (tenant_id, memory_id, scope_id)
    SELECT m.tenant_id, m.memory_id, m.scope_id
      FROM engram.agent_memory m
     WHERE m.tenant_id LIKE %(tenant)s || '%%' AND m.memory_id <> %(memory_id)s
    """,
    """
    INSERT INTO engram.agent_events
    SELECT (jsonb_populate_record(e, jsonb_build_object(
              'event_id', m.event_id, 'tenant_id', m.tenant_id, 'scope_id', m.scope_id, 'idempotency_key', NULL,
              'position', 10 + row_number() OVER (PARTITION BY m.tenant_id ORDER BY m.memory_id)))).*
      FROM engram.agent_events e
      JOIN engram.agent_memory m ON m.tenant_id LIKE e.tenant_id || '%%' AND m.memory_id <> %(memory_id)s
     WHERE e.tenant_id = %(tenant)s AND e.event_id = %(event_id)s
    """,
    """
    INSERT INTO engram.memory_sources
    SELECT (jsonb_populate_record(s, jsonb_build_object('tenant_id', m.tenant_id, 'memory_id', m.memory_id,
              'event_id', m.event_id))).*
      FROM engram.memory_sources s
      JOIN engram.agent_memory m ON m.tenant_id LIKE s.tenant_id || '%%' AND m.memory_id <> s.memory_id
     WHERE s.tenant_id = %(tenant)s
    """,
)


@pytest.fixture(scope="module")
def crowd(server: EmbeddedServer, database: Database, database_url: str) -> Iterator[Crowd]:
    tenant = f"plans-{uuid.uuid4().hex[:8]}"
    with Engram(database_url, scope=Scope(tenant), settings=load({})) as door:
        made = door.add("The first row of the house", session_id="s").memory
        assert made is not None
        stream_id = door.get_event(made.event_id).stream_id
    vectors = np.random.default_rng(1).normal(size=(ROWS, 256)).astype(np.float32)
    superuser = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    values = {"tenant": tenant, "rows": ROWS, "memory_id": made.memory_id, "event_id": made.event_id}
    with psycopg.connect(superuser) as conn:
        conn.execute("SET session_replication_role = replica")
        for fill in FILL:
            conn.execute(fill, values)  # type: ignore[arg-type]
    with database.transaction(tenant) as app:
        scope_id = tenancy.ensure(app, Scope(tenant))
        rows = [(str(uuid.uuid4()), vector / np.linalg.norm(vector)) for vector in vectors]
        semantic.store(app, tenant, scope_id, semantic.default_model(), rows)
        semantic.index_fresh(app, tenant, scope_id, semantic.default_model(), batch=GRAPHED, large=10, fresh=10)
    with psycopg.connect(superuser, autocommit=True) as conn:
        conn.execute("ANALYZE")
    yield Crowd(tenant, scope_id, made.memory_id, made.event_id, stream_id, embedding.halves(vectors[0]), superuser)
    with psycopg.connect(superuser) as conn:
        conn.execute("SET session_replication_role = replica")
        for table in (
            *LARGE_TABLES,
            "agent_event_payloads",
            "memory_changes",
            "memory_jobs",
            "event_streams",
            "memory_graphs",
        ):
            conn.execute(f"DELETE FROM engram.{table} WHERE tenant_id LIKE %s", (f"{tenant}%",))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def untold(server: EmbeddedServer, migrated: str) -> Iterator[tuple[Database, Scope]]:
    """A filled database of its own that has no statistics."""
    name = f"untold_{uuid.uuid4().hex[:12]}"
    superuser = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(superuser, autocommit=True) as conn:
        conn.execute(f'CREATE DATABASE "{name}" TEMPLATE {migrated}')  # type: ignore[arg-type]
    url, scope = server.url(user="postgres", database=name), Scope("untold")
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as conn:
        for table in ("agent_memory", "memory_lexemes"):
            conn.execute(f"ALTER TABLE engram.{table} SET (autovacuum_enabled = off)")  # type: ignore[arg-type]
        with Engram(url, scope=scope, settings=load({})) as door:
            made = door.add("The first row of the house", session_id="s").memory
        assert made is not None
        values = {"tenant": "untold", "rows": ROWS // 4, "memory_id": made.memory_id, "event_id": made.event_id}
        conn.execute("SET session_replication_role = replica")
        for fill in FILL[:2]:
            conn.execute(fill, values)  # type: ignore[arg-type]
    database = Database(url, load({}))
    yield database, scope
    database.close()
    with psycopg.connect(superuser, autocommit=True) as conn:
        conn.execute(f'DROP DATABASE "{name}" WITH (FORCE)')  # type: ignore[arg-type]


def explain(conn: Connection, sql: str, params: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], dict[str, Any]]:
    found = conn.exec_driver_sql("EXPLAIN (FORMAT JSON, SUMMARY) " + sql, dict(params)).scalar()
    whole = (json.loads(found) if isinstance(found, str) else found)[0]
    return list(nodes(whole["Plan"])), whole


def indexes(found: list[Mapping[str, Any]]) -> set[str]:
    return {node["Index Name"] for node in found if "Index Name" in node}


def read_whole(found: list[Mapping[str, Any]]) -> set[str]:
    """The large tables a plan reads from end to end."""
    whole = {node.get("Relation Name", "") for node in found if node["Node Type"] == "Seq Scan"}
    return {table for table in whole for large in LARGE_TABLES if table.startswith(large)}


def asked(crowd: Crowd, **more: Any) -> dict[str, Any]:
    return {
        "tenant_id": crowd.tenant, "scope_ids": [crowd.scope_id], "scope_id": crowd.scope_id, "own": crowd.scope_id,
        "model_id": semantic.default_model(), "vector": crowd.vector, "limit": 50, "as_of": None, "known_at": None,
        "config": "english", "most": 100, **more,
    }  # fmt: skip


def test_the_graph_is_walked_and_only_the_scopes_partition_is_read(database: Database, crowd: Crowd) -> None:
    with database.transaction(crowd.tenant, read_only=True) as conn:
        conn.exec_driver_sql(statement("set_search"), {"breadth": "100", "milliseconds": 60_000})
        # Sorting a thousand rows is cheap; that the graph *can* serve the statement is what matters when they are many.
        conn.exec_driver_sql("SET LOCAL enable_sort = off")
        numbers = {"scope_id": crowd.scope_id, "model_id": semantic.default_model(), "most": 50}
        found, whole = explain(conn, walk(conn, dimensions=256, **numbers), asked(crowd))
    assert any("embedding" in name for name in indexes(found))
    assert not read_whole(found)
    assert not any(node["Node Type"] == "Sort" for node in found)
    assert len({node["Relation Name"] for node in found if "Relation Name" in node}) == 1
    assert whole["Planning Time"] < 50


def test_no_statement_starts_workers(database: Database, crowd: Crowd) -> None:
    eager = (
        "parallel_setup_cost",
        "parallel_tuple_cost",
        "min_parallel_table_scan_size",
        "min_parallel_index_scan_size",
    )
    nearest = (
        "SELECT e.memory_id FROM engram.memory_embeddings e WHERE e.tenant_id = %(tenant_id)s"
        " AND e.scope_id = ANY(%(scope_ids)s) ORDER BY e.embedding <=> %(vector)s::halfvec"
    )
    with database.transaction(crowd.tenant, read_only=True) as conn:
        for name in eager:
            conn.exec_driver_sql("SELECT set_config(%s, '0', true)", (name,))
        found, _ = explain(conn, nearest, asked(crowd))
        conn.exec_driver_sql("SET LOCAL max_parallel_workers_per_gather = 2")
        otherwise, _ = explain(conn, nearest, asked(crowd))
    assert not [node for node in found if node["Node Type"].startswith("Gather")]
    assert [node for node in otherwise if node["Node Type"].startswith("Gather")]


@pytest.mark.parametrize(
    "more",
    [
        {}, {"mode": "keyword"}, {"mode": "semantic"}, {"include_superseded": True},
        {"window": (datetime(2024, 1, 1, tzinfo=UTC), None)}, {"query": "word7 -house of Ada"},
    ],
)  # fmt: skip
def test_a_whole_search_reads_its_candidates_by_their_indexes(
    database: Database, crowd: Crowd, more: dict[str, Any]
) -> None:
    question = recall.prepare(more.get("query", "word7 of Ada"), **{k: v for k, v in more.items() if k != "query"})
    vector = np.frombuffer(crowd.vector.numbers, dtype=">f2").astype(np.float32)
    meaning = recall.Meaning(vector, semantic.default_model())
    with database.transaction(crowd.tenant, read_only=True) as conn:
        looked = recall.look(conn, tenancy.visible(conn, Scope(crowd.tenant)), question)
        assert looked.graphed
        sql, params = finding.composed(question, looked, meaning, finding.allowed(question, meaning))
        found, _ = explain(conn, sql, params)
    assert "agent_memory_pkey" in indexes(found)
    assert not read_whole(found)
    # Of vectors it asks functions, which look into the parts of its scopes alone.
    assert not [node for node in found if node.get("Relation Name", "").startswith("memory_emb")]


@pytest.mark.parametrize(
    "more", [{}, {"query": "word7 -house of Ada"}, {"window": (datetime(2024, 1, 1, tzinfo=UTC), None), "depth": 2}]
)
def test_a_table_without_statistics_is_asked_for_each_memory_by_its_key(
    untold: tuple[Database, Scope], more: dict[str, Any], guesses: bool
) -> None:
    """Indexes that begin with the tenant then look alike: one that is wrong reads the scope whole, once a memory."""
    database, scope = untold
    question = recall.prepare(more.get("query", "word7 of Ada"), **{k: v for k, v in more.items() if k != "query"})
    meaning = recall.Meaning(np.eye(256, dtype=np.float32)[0], semantic.default_model())
    with database.transaction(scope.tenant_id, read_only=True) as conn:
        looked = recall.look(conn, tenancy.visible(conn, scope), question)
        sql, params = finding.composed(question, looked, meaning, finding.allowed(question, meaning))
        found, _ = explain(conn, sql, params)
    narrow = {"agent_memory_critical", "agent_memory_subject", "agent_memory_valid", "agent_memory_until"}
    wide = [
        (node["Index Name"], node.get("Index Cond"))
        for node in found
        if node.get("Relation Name") in ("agent_memory", "memory_lexemes")
        and node["Index Name"] not in narrow
        and not any(f"{key} = " in node.get("Index Cond", "") for key in ("memory_id", "lineage_id"))
    ]
    # What stands is read once, where too little of what was found does; until 17 what is pinned, too.
    assert len(wide) <= 1 + guesses, wide
    assert not [node for node in found if node["Node Type"] == "Hash Join" and "agent_memory" in str(node)]


def test_without_statistics_the_memories_of_events_are_asked_for_by_their_keys(
    untold: tuple[Database, Scope],
) -> None:
    """Joined to tables that seem empty, all events of a scope were read once a memory."""
    database, scope = untold
    with database.transaction(scope.tenant_id, read_only=True) as conn:
        visible = tenancy.visible(conn, scope)
        params = events._params(visible, events.Narrowed(roles=("user",)), memories.NOW) | {
            "vector": embedding.halves(np.eye(256, dtype=np.float32)[0]), "model_id": semantic.default_model(),
            "fetch": 100,
        }  # fmt: skip
        found, _ = explain(conn, events._text_of("find_events_by_vector", events.AMONG), params)
    read = [node.get("Index Cond", "") for node in found if node.get("Relation Name") == "agent_memory"]
    assert len(read) >= 2
    assert [one for one in read if "event_id = " not in one and "memory_id = " not in one] == []


@pytest.mark.parametrize("function", ["lexeme_matches", "lexeme_frequency"])
def test_words_are_found_by_the_word_index(crowd: Crowd, function: str) -> None:
    """The functions read as the owner; their own text is explained, with and without values known to the planner."""
    with psycopg.connect(crowd.superuser) as conn:
        body = conn.execute("SELECT prosrc FROM pg_proc WHERE proname = %s", (function,)).fetchone()
        assert body is not None
        conn.execute("SET ROLE engram_owner")
        conn.execute("SELECT set_config('engram.tenant_id', %s, false)", (crowd.tenant,))
        query = keyword.any_scoped(["word7"], [crowd.scope_id]).replace("'", "''").replace(":A", "")
        prepared = body[0].replace("p_scopes", "$1").replace("p_query", "$2").replace("p_most", "$3")
        conn.execute(f"PREPARE asked(bigint[], tsquery, integer) AS {prepared}")  # type: ignore[arg-type]
        for mode in ("force_custom_plan", "force_generic_plan"):
            conn.execute(f"SET plan_cache_mode = {mode}")  # type: ignore[arg-type]
            row = conn.execute(
                f"EXPLAIN (FORMAT JSON) EXECUTE asked('{{{crowd.scope_id}}}', '{query}', 100)"  # type: ignore[arg-type]
            ).fetchone()
            assert row is not None
            found = list(nodes(row[0][0]["Plan"]))
            assert indexes(found) == {"memory_lexemes_words"}
            assert not read_whole(found)


def test_the_app_role_itself_cannot_use_the_word_index(database: Database, crowd: Crowd) -> None:
    """Why the functions are there: a text match is not leakproof, so row-level security comes before it."""
    sql = "SELECT memory_id FROM engram.memory_lexemes WHERE lexemes @@ %(q)s::tsquery"
    with database.transaction(crowd.tenant, read_only=True) as conn:
        found, _ = explain(conn, sql, {"q": keyword.any_scoped(["word7"], [crowd.scope_id])})
    assert "memory_lexemes_words" not in indexes(found)


@pytest.mark.parametrize(
    ("name", "more", "index"),
    [
        ("load_memories", {"wanted": "memory"}, "agent_memory_pkey"),
        ("list_key_holders", {"conflict_keys": ["topic:7"]}, "agent_memory_"),
        (
            "list_surroundings",
            {"stream_ids": "stream", "firsts": [42], "lasts": [55], "most": 14, "spoken": SPOKEN},
            "agent_events_pkey",
        ),
        (
            "list_indexable",
            {"memory_ids": "memory", "stream_id": None, "first": 50, "last": 50, "before": 2, "after": 4,
             "spoken": SPOKEN, "scope_id": None},
            "agent_events_",
        ),
        ("count_accesses", {"memory_ids": "memory"}, "memory_activity_pkey"),
    ],
)  # fmt: skip
def test_each_statement_of_a_search_uses_its_index(
    database: Database, crowd: Crowd, name: str, more: dict[str, Any], index: str
) -> None:
    ids = {"memory": [crowd.memory_id], "event": [crowd.event_id], "stream": [crowd.stream_id]}
    params = {key: ids.get(value, value) if isinstance(value, str) else value for key, value in more.items()}
    if name == "list_indexable":
        params["stream_id"] = crowd.stream_id
    with database.transaction(crowd.tenant) as conn:
        sql = memories.loading(memories.NOW, memories.BY_ID) if name == "load_memories" else statement(name)
        found, _ = explain(conn, sql, asked(crowd, **params))
    assert any(used.startswith(index) for used in indexes(found)), (name, indexes(found))
    assert not read_whole(found)


@pytest.mark.parametrize("own_ids", [None, []])
def test_a_page_of_the_events_known_at_a_moment_is_read_by_their_index(
    database: Database, crowd: Crowd, own_ids: list[int] | None
) -> None:
    """From the moment on, and not from what came later; whether one speaks of something private is asked by keys."""
    nothing = ("after", "before", "types", "roles", "trusts", "since", "until", "start_at", "start_stream")
    params = dict.fromkeys(nothing) | {"start_position": None, "own_ids": own_ids, "known_at": datetime.now(UTC)}
    with database.transaction(crowd.tenant, read_only=True) as conn:
        found, _ = explain(conn, ledger.listing("scope", newest_first=True), asked(crowd, **params))
    assert not read_whole(found)
    [bounds] = [node["Index Cond"] for node in found if node.get("Index Name") == "agent_events_scope"]
    assert "recorded_at <=" in bounds
    keys = {node["Index Name"] for node in found if node.get("Relation Name") in ("memory_changes", "agent_memory")}
    assert keys == (set() if own_ids is None else {"memory_changes_event", "agent_memory_pkey"})


def test_a_whole_search_of_a_filled_scope_names_its_rows(database: Database, crowd: Crowd) -> None:
    question = recall.prepare("word7 of the house", mode="keyword", limit=5)
    with database.transaction(crowd.tenant, read_only=True) as conn:
        looked = recall.look(conn, tenancy.visible(conn, Scope(crowd.tenant)), question)
        found = recall.find(conn, question, looked, recall.Meaning())
    assert looked.size == ROWS + 1
    results = recall.rank(question, looked, found)
    assert len(results) == 5
    assert all("word7" in one.matched for one in results)
