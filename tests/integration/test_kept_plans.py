"""The search whose plan the server keeps: it finds what the composed statement finds, and looks into one part only."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, Final
from unittest.mock import Mock

import numpy as np
import psycopg
import pytest
from plans import nodes
from quiet import quiet

from engram import Engram, Filter, Scope, memories, recall, tenancy
from engram.channels import graph, keyword, semantic, temporal
from engram.database import Database, execute, statement
from engram.embedded import EmbeddedServer
from engram.operations import searching_events
from engram.ranking import Brief
from engram.recall import EVIDENCE, finding, turns
from engram.settings import load
from engram.values import Memory

NOW = datetime(2025, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)
PEOPLE = ("Ada", "Ottokar", "Milena")
THINGS = ("bicycle", "garden", "piano", "kitchen", "mortgage", "parrot", "violin")
WAYS: tuple[dict[str, Any], ...] = (
    {}, {"limit": 1}, {"limit": 60}, {"include_superseded": True}, {"include_consolidated": True}, {"depth": 0},
    {"mode": "semantic"}, {"mode": "keyword"}, {"window": (NOW - 9 * DAY, NOW - 2 * DAY)},
    {"window": (NOW - DAY, None)},
)  # fmt: skip
QUESTIONS = ("What does Ada say of the bicycle?", 'Ottokar "sold the piano" again', "Milena's parrot", "violin xyzzy")
FIND_ALL = recall.find_all


@dataclass(frozen=True)
class Life:
    """A tenant in which everything that a search tells apart occurs, read by two scopes."""

    database: Database
    tenant: str
    scopes: tuple[Scope, ...]
    some_ids: tuple[str, ...]


@pytest.fixture(scope="module")
def address(server: EmbeddedServer, migrated: str) -> str:
    """A database of this file's own, as the superuser: what others wrote would decide about the plans."""
    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE kept_plans TEMPLATE {migrated}")  # type: ignore[arg-type]
    return server.url(user="postgres", database="kept_plans")


@pytest.fixture(scope="module")
def database(address: str, server: EmbeddedServer) -> Iterator[Database]:
    opened = Database(server.url(database="kept_plans"), load({}))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def life(database: Database) -> Life:
    database_url = database.url
    tenant = f"kept-{uuid.uuid4().hex[:8]}"
    own, shared = Scope(tenant, user_id="ada"), Scope(tenant)
    made: list[str] = []
    with (
        Engram(database_url, scope=own, settings=load({})) as door,
        Engram(database_url, scope=shared, settings=load({})) as everyone,
    ):
        for place, (person, thing) in enumerate(product(PEOPLE, THINGS)):
            fact = f"{person} sold the {thing} and bought another {THINGS[place % 5]} on Sunday {place}"
            one = (door if place % 4 else everyone).add(
                fact, subject=person, topic_key=f"{person}/{thing}", valid_from=NOW - place * DAY,
                valid_to=NOW - (place - 3) * DAY if place % 6 == 5 else None,
                critical_slot="house" if place == 3 else None,
            ).memory  # fmt: skip
            assert one is not None
            made.append(one.memory_id)
        for place in (1, 2, 7, 9):
            door.revise(made[place], f"{PEOPLE[place % 3]} kept the {THINGS[place % 7]} after all")
        for place in (14, 10):
            door.forget(made[place])
        for place, kind in ((3, "part_of"), (6, "knows"), (11, "contains"), (13, "likes")):
            door.relate(made[place], made[place + 4], kind, weight=0.2 + place / 20)
        for place in range(12):
            said = f"Ada: the {THINGS[place % 7]} number {place} is in the {THINGS[(3 * place) % 7]}"
            asked = f"{said}, or is the {THINGS[place % 5]} Milena's?" if place % 3 == 0 else said
            door.remember(asked, session_id="talk" if place % 2 else None)
    return Life(database, tenant, (own, shared), tuple(made[:3]))


def both(life: Life, scope: Scope, query: str, **options: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What the composed statement and the kept one bring, by id; and that its light rows say the same in less."""
    asked = recall.prepare(query, **options)
    with life.database.transaction(life.tenant, read_only=True) as conn:
        looked = recall.look(conn, tenancy.visible(conn, scope), asked)
        assert finding.is_ordinary(asked, looked)
        vector = np.random.default_rng(len(query)).normal(size=256).astype(np.float32)
        meaning = recall.Meaning(vector / np.linalg.norm(vector), looked.model_id)
        channels = finding.allowed(asked, meaning)
        found = [
            conn.exec_driver_sql(*make(asked, looked, meaning, channels)).mappings().all()
            for make in (finding.composed, finding.called_whole, finding.called)
        ]
    assert len({tuple(row.keys()) for rows in found[:2] for row in rows}) <= 1, "they may be parts of one statement"
    composed, called, light = (sorted((dict(row) for row in rows), key=lambda row: row["memory_id"]) for rows in found)
    assert [row.pop("asks") is True for row in light] == [
        row["category"] in EVIDENCE and row["session_id"] is not None and turns.asks(row["fact"]) for row in composed
    ]
    assert light == [{name: row[name] for name in light[0]} for row in composed]
    return composed, called


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize(("reader", "fetched"), [(0, 50), (1, 50), (0, 1)])
def test_what_is_kept_finds_what_is_composed(
    life: Life, monkeypatch: pytest.MonkeyPatch, reader: int, fetched: int, way: dict[str, Any]
) -> None:
    seen = 0
    bring(monkeypatch, fetched)
    for query in QUESTIONS:
        composed, called = both(life, life.scopes[reader], query, **way)
        assert called == composed
        seen += len(called)
    assert seen > 0


@pytest.mark.parametrize("budget", [1, 12])
def test_words_that_are_too_common_to_lead_are_counted_alike(
    life: Life, monkeypatch: pytest.MonkeyPatch, budget: int
) -> None:
    monkeypatch.setattr(keyword, "BUDGET", budget)
    for query in (*QUESTIONS, "Sunday bicycle after all", '"another garden" on Sunday'):
        composed, called = both(life, life.scopes[0], query)
        assert called == composed
        assert any(row["coverage"] for row in called)


def test_what_else_is_to_be_measured_is(life: Life) -> None:
    composed, called = both(life, life.scopes[0], QUESTIONS[0], also=life.some_ids, limit=1)
    assert called == composed
    assert {row["memory_id"] for row in called} >= set(life.some_ids[:1])


def test_of_whom_is_named_the_newest_memories_count(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all of them, and not of those that were met first."""
    for name, value in (("CONSIDERED", 2), ("BREADTH", 2), ("SEED_FLOOR", 9.0)):
        monkeypatch.setattr(graph, name, value)
    composed, called = both(life, life.scopes[0], "Milena")
    assert called == composed
    with Engram(life.database.url, scope=life.scopes[0], settings=load({})) as door:
        newest = [one.memory_id for one in door.list_memories(limit=200) if one.fact.startswith("Milena sold")]
    assert len(newest) > 2
    assert {row["memory_id"] for row in called if row["closeness"]} == set(newest[:2])


def bring(patch: pytest.MonkeyPatch, fetched: int) -> None:
    """A channel brings so many; where that is few, what stands is asked for again."""
    patch.setattr(finding, "LEAST_FETCHED", fetched)
    patch.setattr(finding, "OVERFETCH", 5 if fetched > 1 else 1)


def test_the_life_that_is_searched_has_everything_in_it(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    bring(monkeypatch, 1)
    ways = (WAYS[0], WAYS[3], WAYS[8])
    rows = [row for query in QUESTIONS for way in ways for row in both(life, life.scopes[0], query, **way)[1]]
    found_by = {name for row in rows for name in finding.FOUND_BY[row["channels"]]}
    assert found_by == {"semantic", "keyword", "graph", "temporal"}
    assert {row["status"] for row in rows} >= {"active", "superseded"}
    assert any(row["heir"] for row in rows if not row["found"])
    assert any(row["seed_id"] for row in rows)
    assert any(row["critical_slot"] for row in rows)
    assert any(row["citations"] for row in rows)
    assert {row["user_id"] for row in rows} == {"ada", None}
    assert {turns.asks(row["fact"]) for row in rows if row["place"] and row["category"] in EVIDENCE} == {True, False}


def test_a_search_brings_whole_what_it_returns_and_no_more(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Mock(wraps=memories.made)
    monkeypatch.setattr(memories, "made", made)
    with Engram(life.database.url, scope=life.scopes[0], settings=load({})) as door:
        found = door.search(QUESTIONS[0], limit=2, expand=False)
    assert len(found) == made.call_count == 2
    assert all(one.memory.citations for one in found)


def test_a_context_and_an_answer_bring_whole_what_they_tell_and_no_more(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[recall.Found] = []
    monkeypatch.setattr(
        recall, "find_all", lambda *given, **how: built.extend(found := FIND_ALL(*given, **how)) or found
    )
    whole = Mock(wraps=memories.load)
    monkeypatch.setattr(memories, "load", whole)
    with Engram(life.database.url, scope=life.scopes[0], settings=load({})) as door:
        for call in (door.build_context, lambda query: door.recall(query, limit=2)):
            whole.reset_mock()
            told = call(QUESTIONS[0])
            found = built.pop().candidates
            assert {type(one.memory) for one in found} == {Brief}
            assert whole.call_count == 1 + bool(getattr(told, "since", ()))  # what was said since is brought for itself
            assert 0 < sum(len(loaded.args[2]) for loaded in whole.call_args_list) < len(found)


def test_searches_made_together_bring_whole_what_they_return(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[recall.Found] = []
    monkeypatch.setattr(
        recall, "find_all", lambda *given, **how: built.extend(found := FIND_ALL(*given, **how)) or found
    )
    made = Mock(wraps=memories.made)
    monkeypatch.setattr(memories, "made", made)
    with Engram(life.database.url, scope=life.scopes[0], settings=load({}), embedder=None) as door:
        found = door.deep_search(QUESTIONS[0], queries=["bicycle", "garden"], limit=2)
    assert [{type(one.memory) for one in searched.candidates} for searched in built] == 3 * [{Brief}]
    assert len(found) == made.call_count == 2


@pytest.mark.parametrize(
    ("way", "made"),
    [({"filter": Filter(memory_types=("semantic",))}, Brief), ({"depth": 2}, Brief),
     ({"filter": Filter(statuses=("active",))}, Memory), ({"as_of": NOW}, Memory)],
)  # fmt: skip
def test_a_search_with_a_filter_brings_whole_what_it_returns_unless_it_names_states_or_is_of_the_past(
    life: Life, monkeypatch: pytest.MonkeyPatch, way: dict[str, Any], made: type
) -> None:
    built: list[recall.Found] = []
    monkeypatch.setattr(
        recall, "find_all", lambda *given, **how: built.extend(found := FIND_ALL(*given, **how)) or found
    )
    with Engram(life.database.url, scope=life.scopes[0], settings=load({})) as door:
        found = door.search(QUESTIONS[0], **way)
    assert {type(one.memory) for one in built.pop().candidates} == {made}
    assert {type(one.memory) for one in found} == {Memory}


def at(now: datetime, look: Callable[..., Any]) -> Callable[..., Any]:
    """The same look at one moment."""

    def looked(*given: Any, **how: Any) -> Any:
        told = look(*given, **how)
        return [replace(one, now=now) for one in told] if isinstance(told, list) else replace(told, now=now)

    return looked


@pytest.mark.parametrize("reader", [0, 1])
def test_a_context_an_answer_and_any_search_of_briefs_say_what_those_of_whole_memories_say(
    life: Life, monkeypatch: pytest.MonkeyPatch, reader: int
) -> None:
    """To the byte, in what is logged of them too."""

    each: dict[str, Any] = {"recall_id": None, "timings_ms": {}}  # another each time
    composed: list[dict[str, Any]] = [
        {"depth": 2}, {"filter": Filter(statuses=("active",))},
        {"filter": Filter(memory_types=("semantic", "episodic"))},
        {"filter": Filter(memory_types=("semantic",)), "include_superseded": True},
    ]  # fmt: skip

    def told() -> list[Any]:
        made: list[Any] = []
        for query in (*QUESTIONS, "What happened?", "Who had the bicycle before?", "violin, then piano, in order"):
            answer, block = door.recall(query, track=False), door.build_context(query, group_by="session")
            then = door.recall(query, window=(NOW, None), track=False)
            searches = [door.deep_search(query, track=False), door.search(query, expand=True, track=False)]
            searches += [door.search(query, track=False, **way) for way in composed]
            searches.append(door.search(f"{query} -garden", track=False))
            logged = [door.ops.get_recall(str(one.recall_id)) for one in (answer, then, block, *searches)]
            made += [replace(one, recall_id=None, trace=replace(one.trace, **each)) for one in (answer, then, block)]
            made += [replace(one, recall_id=None) for one in searches]
            made += [(one.found, one.chosen, one.plan, one.degraded) for one in logged]
        return made

    def heavy(*given: Any, light: bool = False) -> list[recall.Found]:
        return FIND_ALL(*given)

    for name in ("look", "look_from"):  # at one moment, so that the ages of memories are the same
        monkeypatch.setattr(recall, name, at(datetime.now(UTC), getattr(recall, name)))
    settings = load({}, recall_log="full")
    with Engram(life.database.url, scope=life.scopes[reader], settings=settings) as door:
        briefs = told()
        monkeypatch.setattr(recall, "find_all", heavy)
        for brief, whole in zip(briefs, told(), strict=True):
            assert brief == whole


@pytest.mark.parametrize(
    ("way", "ordinary"),
    [
        ({}, True), ({"depth": 2}, False), ({"filter": Filter(tags_any=("a",))}, False),
        ({"within": (NOW, None)}, False), ({"query": "bicycle -garden"}, False), ({"window": (NOW, None)}, True),
    ],
)  # fmt: skip
def test_a_search_with_bounds_of_its_own_is_composed(life: Life, way: dict[str, Any], ordinary: bool) -> None:
    asked = recall.prepare(way.get("query", "bicycle"), **{k: v for k, v in way.items() if k != "query"})
    with life.database.transaction(life.tenant, read_only=True) as conn:
        looked = recall.look(conn, tenancy.visible(conn, life.scopes[0]), asked)
    assert finding.is_ordinary(asked, looked) is ordinary


# The plans -----------------------------------------------------------------------------------------------------------


DERIVERS: Final[Mapping[str, Any]] = {"derivers": ["rules"], "versions": [1]}


def prepared(conn: psycopg.Connection[Any], name: str) -> list[str]:
    """Prepares each query of a function under its place, as the function's own plan; its parameters' names."""
    row = conn.execute(
        "SELECT p.prosrc, p.proargnames[1:p.pronargs], p.proargtypes::regtype[]::text[] FROM pg_proc p"
        " WHERE p.pronamespace = 'engram'::regnamespace AND p.proname = %s", (name,)
    ).fetchone()  # fmt: skip
    assert row is not None
    source = re.sub(r"--[^\n]*", "", row[0])
    told = re.findall(r"^  (v_\w+) ([\w.\[\]]+)(?: :=[^;]*)?;", source, re.MULTILINE)
    names, types = [*row[1], *(one for one, _ in told)], [*row[2], *(kind for _, kind in told)]
    for place, query in enumerate(queries(source)):
        body = query
        for number, one in enumerate(names, 1):
            body = re.sub(rf"\b{one}\b", f"${number}", body)
        conn.execute(f"PREPARE asked_{place}({', '.join(types)}) AS {body}")  # type: ignore[arg-type]
    return names


def queries(source: str) -> Iterator[str]:
    """The queries of a function: those it returns, and those it keeps in its variables."""
    begun = r"(:=(?: \w+ \|\|)? array\(|return query|^|then|begin)\s*\b((?:select|with)\b.*)"
    for one in source.split(";"):
        found = re.search(begun, one, re.DOTALL)
        if found is not None:
            said = found[2].rstrip().removesuffix(")") if "array(" in found[1] else found[2]
            yield re.sub(r"\binto v_\w+(, v_\w+)*", "", said)


def plan(
    conn: psycopg.Connection[Any], place: int, names: list[str], values: Mapping[str, Any], *, analyze: bool = False
) -> dict[str, Any]:
    """The plan of a prepared query, of whose function's variables those are set that `values` name."""
    holders = ", ".join(f"%({name.removeprefix('p_')})s" for name in names)
    how = f"FORMAT JSON, ANALYZE {analyze}"
    given = {name: None for name in names if name.startswith("v_")} | dict(values)
    row = conn.execute(f"EXPLAIN ({how}) EXECUTE asked_{place}({holders})", given).fetchone()  # type: ignore[arg-type]
    assert row is not None
    return dict(row[0][0]["Plan"])


def condition_of(node: Mapping[str, Any]) -> str:
    """What a table's index is asked for."""
    return str(node.get("Index Cond") or node.get("Recheck Cond", ""))


def index_of(node: Mapping[str, Any]) -> str:
    """The index a table is read by, which a bitmap is made of one node below."""
    return next(str(below["Index Name"]) for below in nodes(node) if "Index Name" in below)


LARGE: Final = (
    "ALTER TABLE engram.agent_memory ALTER tenant_id SET (n_distinct = 1)",
    "ALTER TABLE engram.memory_lexemes ALTER tenant_id SET (n_distinct = 1), ALTER scope_id SET (n_distinct = 2)",
    "ANALYZE engram.agent_memory, engram.memory_lexemes",
)


@pytest.fixture
def behind(address: str, life: Life) -> Iterator[psycopg.Connection[Any]]:
    """A connection as the application, whose plans are made for no values, and for a tenant that has all memories.

    Of so few rows a twentieth, for which plans are made elsewhere, costs less than a key.
    """
    with psycopg.connect(address.replace("+psycopg", ""), cursor_factory=psycopg.ClientCursor) as conn:
        for told in LARGE:
            conn.execute(told)
        conn.execute("SET ROLE engram_app")
        conn.execute("SELECT set_config('engram.tenant_id', %s, false)", (life.tenant,))
        conn.execute("SET plan_cache_mode = force_generic_plan")
        conn.execute("SET enable_seqscan = off")
        yield conn
        conn.rollback()


def values_of(life: Life) -> dict[str, Any]:
    asked = recall.prepare(QUESTIONS[0])
    with life.database.transaction(life.tenant, read_only=True) as conn:
        looked = recall.look(conn, tenancy.visible(conn, life.scopes[0]), asked)
    meaning = recall.Meaning(np.eye(256, dtype=np.float32)[0], semantic.default_model())
    sql, params = finding.called(asked, looked, meaning, finding.allowed(asked, meaning))
    assert sql == statement("call_candidates")
    vector = str(np.eye(256)[0].tolist())
    more = {"v_scope": looked.visible.scope_ids[0], "v_tenant": life.tenant, "vector": vector}
    return {**params, **more, "memory_ids": list(life.some_ids)}


@pytest.mark.parametrize("name", ["near_vectors", "vector_cosines"])
def test_each_scope_is_looked_for_in_its_own_part_of_the_vectors(
    life: Life, behind: psycopg.Connection[Any], name: str
) -> None:
    names = prepared(behind, name)
    places = behind.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()
    assert places is not None
    parts = []
    for place in range(places[0]):
        found = list(nodes(plan(behind, place, names, {**values_of(life), "most": 50})))
        parts.append(len({node["Relation Name"] for node in found if "Relation Name" in node}))
        assert not [node for node in found if node["Node Type"] == "Seq Scan"]
    assert sorted(set(parts)) == [1, 32]  # the parts of all are looked into for many scopes alone
    assert parts.count(32) == 1


@pytest.mark.parametrize("name", ["near_vectors", "near_among"])
def test_of_many_scopes_no_more_parts_are_read_than_there_are_scopes(
    life: Life, behind: psycopg.Connection[Any], name: str
) -> None:
    """A list of scopes prunes nothing in a kept plan: the vectors of all tenants would be read."""
    names = prepared(behind, name)
    places = behind.execute("SELECT name FROM pg_prepared_statements").fetchall()
    given = {**values_of(life), "scope_ids": list(range(1, 13)), "most": 50}
    whole = [list(nodes(plan(behind, place, names, given, analyze=True))) for place in range(len(places))]
    parts = next(
        found for found in whole if len({one["Relation Name"] for one in found if "Relation Name" in one}) == 32
    )
    read = {one["Relation Name"] for one in parts if "Relation Name" in one and one["Actual Loops"]}
    assert 1 < len(read) <= 12


@pytest.mark.parametrize("name", ["find_candidates", "whole_memories"])
def test_the_kept_plans_ask_for_each_memory_by_its_key(life: Life, behind: psycopg.Connection[Any], name: str) -> None:
    names = prepared(behind, name)
    places = behind.execute("SELECT name FROM pg_prepared_statements").fetchall()
    given = values_of(life)
    found = [node for place in range(len(places)) for node in nodes(plan(behind, place, names, given))]
    read = [node for node in found if node.get("Relation Name") in ("agent_memory", "memory_lexemes")]
    narrow = {"agent_memory_critical", "agent_memory_subject", "agent_memory_valid", "agent_memory_until"}
    wide = [
        node
        for node in read
        if index_of(node) not in narrow and not re.search(r"(memory_id|lineage_id) = ", condition_of(node))
    ]
    assert len(read) > (8 if name == "find_candidates" else 0)
    assert len(wide) <= 1, json.dumps(wide)  # what stands is read once, where too little of what was found does
    assert not [node for node in found if node["Node Type"] == "Seq Scan"]
    assert not [node for node in found if node.get("Relation Name", "").startswith("memory_embeddings")]


def test_the_words_of_a_question_are_found_and_told_by_the_word_index(
    life: Life, behind: psycopg.Connection[Any]
) -> None:
    behind.execute("RESET ROLE")
    behind.execute("SET ROLE engram_owner")
    names = prepared(behind, "score_words")
    found = list(nodes(plan(behind, 0, names, {**values_of(life), "best": 31})))
    words = [node for node in found if node.get("Relation Name") == "memory_lexemes"]
    assert sorted(index_of(node) for node in words) == ["memory_lexemes_pkey", *["memory_lexemes_words"] * 2]
    assert not [node for node in found if node["Node Type"] == "Seq Scan"]


def test_what_is_looked_at_is_counted_alike_with_and_without_a_table_of_frequencies(life: Life) -> None:
    asked = recall.prepare("Ada's bicycle on Sunday, xyzzy after all")
    with life.database.transaction(life.tenant) as conn:
        visible = tenancy.visible(conn, life.scopes[0])
        for counted in ((), visible.scope_ids[:1], visible.scope_ids):
            for scope_id in counted:
                keyword.refresh_terms(conn, life.tenant, scope_id)
            looked = recall.look(conn, visible, asked)
            alike = keyword.look_up(conn, life.tenant, visible.scope_ids, asked.words, size=looked.size)
            assert looked.sought == alike
            assert {("sunday", True), ("xyzzi", False)} <= {(term.label, term.df > 5) for term in alike.terms}
        for scope_id in visible.scope_ids:
            execute(conn, "clear_terms", tenant_id=life.tenant, scope_id=scope_id)


def test_words_are_counted_by_the_word_index(life: Life, behind: psycopg.Connection[Any]) -> None:
    behind.execute("RESET ROLE")
    behind.execute("SET ROLE engram_owner")
    names = prepared(behind, "lexeme_frequencies")
    found = list(nodes(plan(behind, 0, names, {**values_of(life), "scopes": [1], "lexemes": ["word"]})))
    assert [index_of(node) for node in found if node.get("Relation Name")] == ["memory_lexemes_words"]


def test_what_is_asked_before_a_search_is_read_by_its_indexes(life: Life, behind: psycopg.Connection[Any]) -> None:
    names = prepared(behind, "look_at_question")
    given = {"words": ["bicycle"], "config": "english", "most": 100, **DERIVERS}
    found = list(nodes(plan(behind, 0, names, {**values_of(life), **given})))
    read = {node["Index Name"]: node.get("Index Cond", "") for node in found if "Index Name" in node}
    assert read.keys() >= {"memory_lexemes_scope", "memory_terms_pkey"}
    # Of the frequencies only those of the words asked for, and the size of the scope: a tenant has many.
    terms = [node["Index Cond"] for node in found if node.get("Index Name") == "memory_terms_pkey"]
    assert len(terms) == 2
    assert all("scope_id = " in condition and "term = " in condition for condition in terms), terms
    assert not [node for node in found if node["Node Type"] == "Seq Scan"]


HEADS: Final = {"derivations_pkey": "stream_id", "event_streams_pkey": "stream_id", "event_streams_waiting": "kind"}


@pytest.mark.parametrize(
    ("name", "given", "wanted"),
    [
        (
            "watermarks",
            DERIVERS,
            HEADS
            | {"agent_events_pkey": "position", "agent_events_scope": "scope_id"}
            | {"event_streams_tenant_id_scope_id_kind_name_key": "scope_id"},
        ),
        (
            "tail_events",
            {**DERIVERS, "most": 200},
            HEADS
            | {"agent_events_pkey": "position", "agent_events_scope": "scope_id"}
            | {"agent_event_payloads_pkey": "position", "agent_memory_event": "event_id"}
            | {"agent_task_runs": "task_run_id"},
        ),
    ],
)
def test_what_waits_for_derivers_is_found_by_keys(
    life: Life, behind: psycopg.Connection[Any], name: str, given: Mapping[str, Any], wanted: Mapping[str, str]
) -> None:
    names = prepared(behind, name)
    settings = behind.execute("SELECT unnest(proconfig) FROM pg_proc WHERE proname = %s", (name,)).fetchall()
    for (setting,) in settings:
        behind.execute("SET LOCAL " + setting.replace("=", " = "))
    found = nodes(plan(behind, 0, names, {**values_of(life), **given}))
    read = {index_of(node): condition_of(node) for node in found if node.get("Relation Name")}
    for index in [one for one in read if one.startswith("agent_task_runs_")]:  # of so few, either is as good
        read["agent_task_runs"] = read.pop(index)
    assert read.keys() == wanted.keys()
    assert all(wanted[index] in condition for index, condition in read.items()), read


def test_a_call_is_short_enough_for_its_driver_to_remember() -> None:
    """psycopg keeps what it has read of statements up to 4,096 characters."""
    assert len(statement("call_candidates")) < 4_096
    assert {module.NAME for module in (semantic, keyword, temporal, graph)} == set(finding.TIMEOUTS)


def test_what_is_pinned_and_a_lineage_are_those_of_the_composed_statements(life: Life) -> None:
    with life.database.transaction(life.tenant, read_only=True) as conn:
        for scope in life.scopes:
            visible = tenancy.visible(conn, scope)
            types: list[list[str] | None] = [None, ["semantic"], ["procedural"]]
            for chosen in types:
                composed = memories._pinned_then(conn, visible, chosen, memories.NOW)
                assert memories._pinned_now(conn, visible, chosen) == composed
            for one in memories.load(conn, visible, life.some_ids):
                assert memories.lineage_of(conn, visible, one.memory_id) == memories.lineage(
                    conn, visible, one.lineage_id
                )
        visible = tenancy.visible(conn, life.scopes[0])
        assert memories._pinned_now(conn, visible, None)
        assert any(len(memories.lineage_of(conn, visible, one).revisions) > 1 for one in life.some_ids)


def asking(address: str, tenant: str) -> psycopg.Connection[Any]:
    """A connection of its own as the application, which plans as in a database with many rows."""
    conn = psycopg.connect(address.replace("+psycopg", ""), cursor_factory=psycopg.ClientCursor)
    conn.execute("SET ROLE engram_app")
    conn.execute("SET enable_seqscan = off")
    conn.execute("SELECT set_config('engram.tenant_id', %s, false)", (tenant,))
    return conn


def pages(conn: psycopg.Connection[Any], given: Mapping[str, Any]) -> int:
    """The pages that a search reads for its candidates."""
    query = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement('call_candidates')}"
    told = [conn.execute(query, given).fetchone() for _ in range(3)][-1]  # the first times it is planned
    assert told is not None
    plan = told[0][0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])  # however many have left the cache meanwhile


def test_a_connection_that_searched_before_the_first_memory_keeps_no_plans_for_empty_tables(
    migrated_database_url: str,
) -> None:
    """Nobody counts the rows of a young database for a while, and what was planned meanwhile is kept."""
    scope = Scope("young", user_id="ada")

    with (
        psycopg.connect(migrated_database_url.replace("+psycopg", ""), autocommit=True) as owner,
        closing(Database(migrated_database_url, load({}))) as database,
        Engram(migrated_database_url, scope=scope, settings=load({})) as door,
        asking(migrated_database_url, scope.tenant_id) as early,
    ):
        for table in ("agent_memory", "memory_lexemes"):  # it counts the one, and puts the other's new words in order
            owner.execute(f"ALTER TABLE engram.{table} SET (autovacuum_enabled = off)")
        life = Life(database, scope.tenant_id, (scope,), ())
        door.record_event("Ada came in", derive="skip")
        assert pages(early, values_of(life)) < 20
        early.commit()
        for thing in THINGS:
            door.add_many([{"fact": f"Ada sold the {thing} number {n}"} for n in range(230)])
        given = values_of(life)
        with asking(migrated_database_url, scope.tenant_id) as late:
            assert 200 < pages(early, given) <= 1.1 * pages(late, given)


@pytest.mark.parametrize("size", [400, 1_600])
def test_whatever_is_known_of_the_rows_a_memory_is_found_by_its_key(
    migrated_database_url: str, size: int, guesses: bool
) -> None:
    """Planned for one memory, for some hundreds that nobody counted, or for as many that were."""
    scope = Scope("young", user_id="ada")

    def rows_read(call: Callable[[], object]) -> int:
        """The entries that a call of the early door reads in the indexes of memories."""

        def seen() -> int:
            early._core.database().run(
                scope.tenant_id, lambda conn: conn.exec_driver_sql("SELECT pg_stat_force_next_flush()")
            )
            row = owner.execute(
                "SELECT sum(idx_tup_read)::int FROM pg_stat_user_indexes WHERE relname = 'agent_memory'"
            ).fetchone()
            assert row is not None
            return int(row[0])

        call()
        before = seen()
        call()
        return seen() - before

    with (
        psycopg.connect(migrated_database_url.replace("+psycopg", ""), autocommit=True) as owner,
        closing(Database(migrated_database_url, load({}))) as database,
        Engram(migrated_database_url, scope=scope, settings=load({})) as early,
        asking(migrated_database_url, scope.tenant_id) as once,
    ):
        for table in ("agent_memory", "memory_lexemes"):  # it counts the one, and puts the other's new words in order
            owner.execute(f"ALTER TABLE engram.{table} SET (autovacuum_enabled = off)")
        life = Life(database, scope.tenant_id, (scope,), ())
        for turn in range(6):  # what is prepared is kept from the sixth time on
            early.add(f"Ada sold the {THINGS[0]} number {turn} of old")
            early.search(f"Ada's {THINGS[0]}")
        pages(once, values_of(life))
        once.commit()
        with Engram(migrated_database_url, scope=scope, settings=load({})) as door:
            for start in range(0, size, 200):
                door.add_many([{"fact": f"Ada sold the {THINGS[n % 3]} number {start + n}"} for n in range(200)])
        given = values_of(life)
        with asking(migrated_database_url, scope.tenant_id) as late:
            uncounted = pages(late, given)
        before = pages(once, given)
        once.commit()
        numbers = iter(range(9_000, 9_100))
        once = 2 * size if guesses else 0  # what is pinned is looked for in the whole scope, and never once a memory
        assert rows_read(lambda: early.search(f"Ada's {THINGS[0]}")) < 400 + once
        assert rows_read(lambda: early.add(f"Ada sold the {THINGS[0]} number {next(numbers)}")) < 400 + once
        assert rows_read(lambda: early.list_memories(limit=5)) < 40 + once
        owner.execute("ANALYZE")
        with asking(migrated_database_url, scope.tenant_id) as counted:
            known = pages(counted, given)
    assert before <= 1.1 * uncounted
    # Walks of the graph and the tables beside: a memory is not looked for in all.
    assert uncounted <= (3 if guesses else 2) * known


def test_whatever_is_known_of_the_rows_an_event_is_found_by_its_key(
    migrated_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of indexes that cost the same in a young database none that reads the whole tenant is taken for an id."""
    monkeypatch.setattr(searching_events, "EVERY", 2**61 - 1)  # one append in so many looks at what is in no index
    scope = Scope("young", user_id="ada")

    def rows_read(call: Callable[[], object]) -> int:
        """The entries that a call reads in the indexes of events."""

        def seen() -> int:
            door._core.database().run(
                scope.tenant_id, lambda conn: conn.exec_driver_sql("SELECT pg_stat_force_next_flush()")
            )
            row = owner.execute(
                "SELECT sum(idx_tup_read)::int FROM pg_stat_user_indexes WHERE relname = 'agent_events'"
            ).fetchone()
            assert row is not None
            return int(row[0])

        call()
        before = seen()
        call()
        return seen() - before

    # One connection: what another one has counted is told whenever that one pleases; and no job that reads events.
    with (
        psycopg.connect(migrated_database_url.replace("+psycopg", ""), autocommit=True) as owner,
        Engram(migrated_database_url, scope=scope, settings=load({}, pool_size=1)) as door,
    ):
        quiet(door)
        owner.execute("ALTER TABLE engram.agent_events SET (autovacuum_enabled = off)")
        told = [door.record_event(f"Ada came in, visit {n}", derive="skip", session_id="s") for n in range(20)]
        for _ in range(6):  # what is prepared is kept from the sixth time on
            door.get_event(told[0].event_ids[0])
        for start in range(0, 1_000, 200):
            door.remember(
                [{"role": "user", "content": f"visit {start + n}"} for n in range(200)], derive="skip", session_id="s"
            )
        numbers = iter(range(9))
        memory = door.add("Ada sold the chair").memory
        assert memory is not None
        reads = {
            "an event": rows_read(lambda: door.get_event(told[0].event_ids[0])),
            "one told again": rows_read(
                lambda: door.record_event("Ada left", derive="skip", session_id="s", idempotency_key="k")
            ),
            "a new one": rows_read(lambda: door.record_event("Ada came again", derive="skip", session_id="s")),
            "a memory's sources": rows_read(lambda: door.get(memory.memory_id)),
            "a new memory": rows_read(lambda: door.add(f"Ada sold the table {next(numbers)}")),
            "what is told of it": rows_read(lambda: door.search("Ada's chair")),
            "a lineage": rows_read(lambda: door.get_lineage(memory.memory_id)),
            "a history": rows_read(lambda: door.get_history(memory.memory_id)),
        }
    assert max(reads.values()) < 100, reads
