"""Batches: what `add_many` and a derivation write together is what one after the other would have written."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
import sqlalchemy as sa
from lives import EVERY

from engram import AsyncEngram, Engram, Scope, batching, get_policy
from engram.channels import nearness
from engram.database import Connection, Database
from engram.embedded import EmbeddedServer
from engram.embedding import local
from engram.gates import WRITE_MODES, WriteMode
from engram.values import Memory
from engram.writing import Origin

SEED: Final = 20_261
ITEMS: Final = 36
CITIES: Final = ("Oslo", "Bergen", "Turin", "Lima")
DRINKS: Final = ("green tea", "black coffee", "cold milk")
ANIMALS: Final = ("the cat", "the old dog", "a parrot")
TABLES: Final[Mapping[str, str]] = {
    "agent_events": "SELECT e.event_id, e.role, e.event_type, e.trust, p.body FROM engram.agent_events e"
    " JOIN engram.agent_event_payloads p USING (tenant_id, stream_id, position) ORDER BY e.position",
    "agent_memory": "SELECT to_jsonb(m) FROM engram.agent_memory m ORDER BY m.recorded_at, m.event_id",
    "memory_changes": "SELECT to_jsonb(c) FROM engram.memory_changes c ORDER BY c.change_id",
    "memory_sources": "SELECT to_jsonb(s) FROM engram.memory_sources s ORDER BY s.recorded_at, s.event_id, s.ordinal",
    "memory_relations": "SELECT to_jsonb(r) FROM engram.memory_relations r ORDER BY r.recorded_at, r.source_id",
    "memory_activity": "SELECT m.fact, m.revision, m.status, a.repetition_count FROM engram.memory_activity a"
    " JOIN engram.agent_memory m USING (tenant_id, memory_id) ORDER BY m.recorded_at, m.event_id",
    "memory_embeddings": "SELECT m.fact, e.embedding::text, e.indexed FROM engram.memory_embeddings e"
    " JOIN engram.agent_memory m USING (tenant_id, memory_id) ORDER BY m.recorded_at, m.event_id",
    "memory_lexemes": "SELECT m.fact, regexp_replace(l.lexemes::text, '''-?\\d+:', '''', 'g'), l.own_terms"
    " FROM engram.memory_lexemes l JOIN engram.agent_memory m USING (tenant_id, memory_id)"
    " ORDER BY m.recorded_at, m.event_id",
    "memory_jobs": "SELECT DISTINCT j.kind FROM engram.memory_jobs j ORDER BY j.kind",
}  # fmt: skip
ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
CLOCK: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(?:\+00:00|\+00|Z)?")
OWN: Final = ("tenant_id", "scope_id", "change_id", "hash", "stands_ordinal")


def told(rng: random.Random, number: int) -> dict[str, Any]:
    """One candidate: new facts, repeats, near repeats, keys that clash, and what callers may say of a fact."""
    city, drink, animal = rng.choice(CITIES), rng.choice(DRINKS), rng.choice(ANIMALS)
    kinds: tuple[Callable[[], dict[str, Any]], ...] = (
        lambda: {"fact": f"I live in {city}."},
        lambda: {"fact": f"The user lives in {city} now.", "topic_key": "home"},
        lambda: {"fact": f"My favourite drink is {drink}."},
        lambda: {"fact": f"My favorite drink is {drink}", "tags": [rng.choice("abc")]},
        lambda: {"fact": f"In room {number} of the house sleeps {animal}."},
        lambda: {"fact": f"The parcel weighs {rng.randint(1, 3)} kg.", "force": rng.random() < 0.3},
        lambda: {"fact": f"{animal.capitalize()} eats at noon.", "private": rng.random() < 0.5},
        lambda: {"fact": f"I no longer live in {city}."},
        lambda: {"fact": f"The budget is {rng.randint(1, 2)} million.", "attribute": "budget", "importance": 0.9},
        lambda: {"fact": f"Said of {animal}: it is loud.", "category": "verbatim"},
        lambda: {"fact": f"The shop in {city} is closed.", "memory_type": rng.choice(["episodic", "project"])},
    )
    return rng.choice(kinds)()


def stored(conn: Connection) -> dict[str, list[Any]]:
    """Every table of a tenant, its ids told by when they are first met, without the clock."""
    names: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        return names.setdefault(found.group(), f"#{len(names)}")

    tables = {}
    for table, select in TABLES.items():
        rows = [
            [bytes(one).decode() if isinstance(one, memoryview | bytes) else one for one in row]
            for row in conn.exec_driver_sql(select).fetchall()
        ]
        tables[table] = [json.loads(CLOCK.sub("*", ID.sub(name, json.dumps(plain(row), default=str)))) for row in rows]
    return tables


def plain(value: Any) -> Any:
    """A row without what belongs to its tenant alone."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items() if key not in OWN}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def alike(one: Any, other: Any) -> bool:
    """Whether two rows are the same, but for the last digits of a number that was added up in another order."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(alike(*pair) for pair in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) < 1e-4
    return bool(one == other)


@pytest.mark.parametrize("mode", WRITE_MODES)
def test_a_batch_leaves_what_one_after_the_other_leaves(
    database_url: str, database: Database, tenant: str, mode: WriteMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "LEAST", 5)  # so that a few facts are looked at several times
    monkeypatch.setattr(batching, "MOST", 12)
    monkeypatch.setattr(nearness, "BLOCK", 7)
    rng = random.Random(f"{SEED}/{mode}")
    items = [told(rng, number) for number in range(ITEMS)]
    policy = replace(get_policy("default"), write_mode=mode)
    with Engram(database_url, policy=policy) as engram:
        single, many = (engram.scoped(tenant_id=f"{tenant}-{way}", user_id="ada") for way in ("one", "many"))
        for door in (single, many):
            door.add("I live in Lima.")
            door.add("The parcel weighs 2 kg.", trust="operator")
        one_by_one = [single.add(**item) for item in items]
        together = [*many.add_many(items[:30]), *many.add_many(items[30:])]
        assert [(one.kind, one.reasons) for one in together] == [(one.kind, one.reasons) for one in one_by_one]
        states = []
        for door in (single, many):
            with database.transaction(door.scope.tenant_id) as conn:
                states.append(stored(conn))
    for table in TABLES:
        for pair in zip(states[0][table], states[1][table], strict=True):
            assert alike(*pair), (table, *pair)
    assert {one.kind for one in together} >= {"add", "revise", "reinforce"}, "the list says too little"


@pytest.mark.parametrize("mode", WRITE_MODES)
def test_without_vectors_a_batch_leaves_what_one_after_the_other_leaves(
    database_url: str, tenant: str, mode: WriteMode, tmp_path: Path
) -> None:
    """Then the words say what is near, and must find what was said before in the same batch, and in the same file."""
    rng = random.Random(f"{SEED}/words/{mode}")
    said = ("I like {}.", "I do not like {}.", "The parcel holds {}.", "The parcel holds {} and string.", "{} is loud.")
    facts = [rng.choice(said).format(rng.choice((*DRINKS, *ANIMALS))) for _ in range(ITEMS // 2)]
    path = tmp_path / "facts.jsonl"
    path.write_text("".join(json.dumps({"id": f"f{place}", "fact": fact}) + "\n" for place, fact in enumerate(facts)))
    policy = replace(get_policy("default"), write_mode=mode)
    with Engram(database_url, policy=policy, embedder="none") as engram:
        single, many, read = (engram.scoped(tenant_id=f"{tenant}-{way}", user_id="ada") for way in ("1", "all", "file"))
        one_by_one = [single.add(fact) for fact in facts]
        together = many.add_many([{"fact": fact} for fact in facts])
        read.ops.import_(path)

        def held(door: Engram) -> list[Any]:
            kept = ("fact", "status", "revision", "importance", "surprise")
            rows = [one.to_dict() for one in door.list_memories(EVERY, sort="oldest", limit=200)]
            return sorted(([row[name] for name in kept] for row in rows), key=json.dumps)

        assert [(one.kind, one.reasons) for one in together] == [(one.kind, one.reasons) for one in one_by_one]
        assert alike(held(many), held(single))
        assert alike(held(read), held(single))


def again(rng: random.Random, number: int) -> dict[str, Any]:
    """One candidate of an import that is repeated: what is known, said anew, with what only the row can tell."""
    city = rng.choice(CITIES)
    kinds: tuple[Callable[[], dict[str, Any]], ...] = (
        lambda: {"fact": f"Crate {rng.randint(1, 9)} holds bolts of {city}.", "tags": rng.sample("zäBa", 2)},
        lambda: {"fact": f"I live in {city}.", "expires_in_days": 30.0},
        lambda: {"fact": f"The yard of {city} is shut.", "topic_key": f"yard {city}", "importance": rng.random()},
        lambda: {"fact": f"The yard of {city} is shut!", "critical_slot": f"yard {city}"},
        lambda: {"fact": f"The quay has {number % 3} cranes.", "topic_key": "quay"},
        lambda: {"fact": "The mast is tall.", "valid_from": datetime(2010, 1, 1, tzinfo=UTC)},
        lambda: {"fact": f"Bell {number} rings.", "private": rng.random() < 0.5},
        lambda: {"fact": "The lamp is lit."},
    )
    return rng.choice(kinds)()


@pytest.mark.parametrize("mode", WRITE_MODES)
def test_what_is_told_again_in_a_batch_leaves_what_it_leaves_one_by_one(
    database_url: str, database: Database, tenant: str, mode: WriteMode
) -> None:
    """Tags, trust, importance, expiry, pins and keys with a past, with new, refused and superseding facts between."""
    rng = random.Random(f"{SEED}/again/{mode}")
    told_first = [again(rng, number) for number in range(ITEMS)]
    rounds = [[again(rng, number) for number in range(ITEMS)], [*told_first, *told_first[:9]], told_first]
    policy = replace(get_policy("default"), write_mode=mode)
    with Engram(database_url, policy=policy) as engram:
        single, many = (engram.scoped(tenant_id=f"{tenant}-{way}", user_id="ada") for way in ("one", "many"))
        for door in (single, many):
            for item in told_first:
                door.add(**item, trust="web")
        for trust, items in zip(("document", "user", "agent"), rounds, strict=True):
            one_by_one = [single.add(**item, trust=trust) for item in items]
            together = many.add_many(items, trust=trust)
            assert [(one.kind, one.reasons) for one in together] == [(one.kind, one.reasons) for one in one_by_one]
            for door in (single, many):
                old = min(door.list_memories(limit=200), key=lambda one: (one.fact, one.private)).memory_id
                door.add_many([{"fact": f"Now {trust} speaks.", "supersedes": [old]}, items[0], items[1]], trust=trust)
        states = []
        for door in (single, many):
            with database.transaction(door.scope.tenant_id) as conn:
                states.append(stored(conn))
    for table in TABLES:
        for pair in zip(states[0][table], states[1][table], strict=True):
            assert alike(*pair), (table, *pair)


def turned(rng: random.Random) -> dict[str, Any]:
    """One candidate that gives a key another value, mostly: of several types, ending, expiring, earlier and later."""
    key = rng.choice(("mast", "keel", "sail", "hull", "deck"))
    said = {"fact": f"The {key} is worth {rng.randint(1, 4)} coins.", "topic_key": key}
    more: tuple[dict[str, Any], ...] = (
        {},
        {},
        {"memory_type": rng.choice(("project", "episodic"))},
        {"valid_from": datetime(rng.choice((2010, 2190)), 1, 1, tzinfo=UTC)},
        {"valid_from": datetime(2015, 1, 1, tzinfo=UTC), "valid_to": datetime(2020, 1, 1, tzinfo=UTC)},
        {"critical_slot": key, "tags": [rng.choice("ab")]},
        {"topic_key": None, "fact": f"{rng.choice(ANIMALS).capitalize()} eats at noon."},
    )
    return said | rng.choice(more)


def compared_without_neighbours(doors: Iterable[Engram], database: Database) -> None:
    """That two doors left the same, but for which of several rows that are as near is named first."""
    states = []
    for door in doors:
        with database.transaction(door.scope.tenant_id) as conn:
            states.append(stored(conn))
    for table in TABLES:
        for pair in zip(states[0][table], states[1][table], strict=True):
            for [row] in pair if table == "memory_changes" else ():
                (row["decision"] or {}).pop("nearest", None)
                ((row["decision"] or {}).get("surprise") or {}).pop("closest_id", None)
            assert alike(*pair), (table, *pair)


@pytest.mark.parametrize("mode", ["return", "report", "gate", "merge"])
def test_keys_that_change_in_a_batch_leave_what_they_leave_one_by_one(
    database_url: str, database: Database, tenant: str, mode: WriteMode
) -> None:
    """Heads, the contested, what came too late, and what ended: lineages of several keys, each turned several times."""
    rng = random.Random(f"{SEED}/turned/{mode}")
    rounds = [[turned(rng) for _ in range(18)] for _ in range(4)]
    policy = replace(get_policy("default"), write_mode=mode)
    with Engram(database_url, policy=policy) as engram:
        single, many = (engram.scoped(tenant_id=f"{tenant}-{way}", user_id="ada") for way in ("one", "many"))
        for trust, items in zip(("web", "user", "document", "user"), rounds, strict=True):
            one_by_one = [single.add(**item, trust=trust) for item in items]
            together = many.add_many(items, trust=trust)
            assert [(one.kind, one.reasons) for one in together] == [(one.kind, one.reasons) for one in one_by_one]
            behind = [one for one in together if one.memory is not None and one.memory.status != "active"]
            for one in behind:
                assert one.memory is not None
                assert one.head == many.get_lineage(one.memory.memory_id).head
            assert behind, "nothing was superseded within its batch"
        compared_without_neighbours((single, many), database)


def test_a_batch_whose_clock_went_back_orders_its_lineages_by_what_was_recorded(
    database_url: str, database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A draft that was held for the head before its event was recorded, and is none by then."""
    items = [{"fact": f"The {key} is red.", "topic_key": key} for key in ("mast", "keel", "sail")]
    with Engram(database_url) as engram:
        single, many = (engram.scoped(tenant_id=f"{tenant}-{way}", user_id="ada") for way in ("one", "many"))
        for door in (single, many):
            door.add("The keel is blue.", topic_key="keel", valid_from=datetime(2190, 1, 1, tzinfo=UTC))
            door.add("The mast is blue.", topic_key="mast")
            door.add("The sail is blue.", topic_key="sail")
        one_by_one = [single.add(**item) for item in items]
        late = datetime(2195, 1, 1, tzinfo=UTC)
        monkeypatch.setattr(Origin, "recorded", lambda self, _: replace(self, recorded_at=late, occurred_at=late))
        together = many.add_many(items)
        assert [(one.kind, one.reasons) for one in together] == [(one.kind, one.reasons) for one in one_by_one]
        assert [one.head and one.head.fact for one in together] == [
            "The mast is red.", "The keel is blue.", "The sail is red.",
        ]  # fmt: skip
        compared_without_neighbours((single, many), database)


@pytest.fixture
def statements() -> Iterator[list[str]]:
    """The statements that go to PostgreSQL, as they are sent."""
    sent: list[str] = []

    def note(_conn: Any, _cursor: Any, sql: str, *_: Any) -> None:
        sent.append(sql)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    yield sent
    sa.event.remove(sa.Engine, "before_cursor_execute", note)


def facts(first: int, count: int) -> list[dict[str, Any]]:
    """Facts that have nothing to do with each other."""
    return [{"fact": f"Crate {n} of the {n * 7} crates holds {n * 13} bolts."} for n in range(first, first + count)]


def test_what_is_as_near_as_its_twin_is_so_in_a_batch_and_alone(database_url: str, tenant: str) -> None:
    policy = replace(get_policy("default"), write_mode="merge")
    calls: tuple[tuple[str, list[dict[str, Any]]], ...] = (
        ("user", [{"fact": "I don't drink green tea.", "valid_from": datetime(2025, 4, 11, tzinfo=UTC)}]),
        ("web", [
            {"fact": "I don't drink green tea.", "valid_from": datetime(2021, 4, 13, tzinfo=UTC)},
            {"fact": "My favourite drink is tea.", "force": True},
        ]),
        ("user", [{"fact": "I drink green tea again."}]),
    )  # fmt: skip
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), policy=policy) as engram:
        made = [engram.add_many([{**one, "private": True} for one in said], trust=trust) for trust, said in calls]
        denial, drink = made[0][0], made[1][1]
        assert drink.surprise is not None
        assert drink.surprise.closest_id == denial.memory.memory_id
        assert engram.ops.replay().is_same


def test_statements_do_not_grow_with_a_batch(database_url: str, tenant: str, statements: list[str]) -> None:
    with Engram(database_url) as engram:
        door = engram.scoped(tenant_id=tenant)
        door.add("The first fact makes the scope.")
        door.add("The second one knows the model.")
        taken = []
        for size in (20, 100):
            statements.clear()
            door.add_many(facts(size, size))
            taken.append(len(statements))
    assert taken[1] <= taken[0] + 2, "what is near but not among the first looked at may be asked for apart"
    assert taken[0] <= 12


def test_statements_do_not_grow_with_a_batch_of_what_is_known(
    database_url: str, tenant: str, statements: list[str]
) -> None:
    """An import that is repeated, of plain facts and of keys that have changed before."""
    with Engram(database_url) as engram:
        door = engram.scoped(tenant_id=tenant)
        taken = []
        for first, size in ((0, 20), (100, 100)):
            keyed = [{**one, "topic_key": f"crate {first + n}"} for n, one in enumerate(facts(first, size))]
            door.add_many([{**one, "fact": f"{one['fact']} It was so."} for one in keyed[::2]])
            plainly = facts(first + 500, size)
            known = [(keyed, plainly)[n % 2][n] for n in range(size)]
            door.add_many(known)
            statements.clear()
            made = door.add_many([*known, *facts(first + 900, 3)])
            taken.append(len(statements))
            assert [one.kind for one in made] == ["reinforce"] * size + ["add"] * 3
    assert taken[1] <= taken[0] + 2, "what is near but not among the first looked at may be asked for apart"
    assert taken[0] <= 15, statements


def test_statements_do_not_grow_with_a_batch_of_revisions(
    database_url: str, tenant: str, statements: list[str]
) -> None:
    """Facts that each revise another one, and are revised themselves by the next batch."""
    with Engram(database_url) as engram:
        door = engram.scoped(tenant_id=tenant)
        taken = []
        for first, size in ((0, 20), (100, 100)):
            keyed = [{**one, "topic_key": f"crate {first + n}"} for n, one in enumerate(facts(first, size))]
            door.add_many(keyed)
            made = door.add_many([{**one, "fact": f"{one['fact']} It was so."} for one in keyed])
            assert [one.kind for one in made] == ["revise"] * size
            statements.clear()
            made = door.add_many([{**one, "fact": f"{one['fact']} It is over."} for one in keyed])
            taken.append(len(statements))
            assert all(one.kind == "revise" and one.memory is not None and one.memory.revision == 3 for one in made)
    assert taken[1] <= taken[0] + 2, "what is near but not among the first looked at may be asked for apart"
    assert taken[0] <= 16, statements


def test_both_doors_compare_a_batch_with_what_is_there_alike(database_url: str, tenant: str) -> None:
    """The vectors of a scope come in another form than other answers, by both drivers."""
    scopes = [Scope(tenant, user_id=user) for user in ("ada", "bea")]
    before, after = facts(0, 30), facts(0, 12)
    after = [{**one, "fact": f"{one['fact']} And more of it."} for one in after]
    with Engram(database_url, scope=scopes[0]) as door:
        door.add_many(before)
        first = door.add_many(after)

    async def asked() -> tuple[Any, ...]:
        async with AsyncEngram(database_url, scope=scopes[1]) as door:
            await door.add_many(before)
            return await door.add_many(after)

    second = asyncio.run(asked())
    assert [one.kind for one in first] == [one.kind for one in second]
    for one, other in zip(first, second, strict=True):  # how a cosine ends depends on where its row stood among others
        told = [near.cosine for near in one.nearest]
        assert told == pytest.approx([near.cosine for near in other.nearest], abs=2e-6)
        assert told


def test_a_decision_is_read_as_it_was_made(database_url: str, server: EmbeddedServer, tenant: str) -> None:
    """The history keeps no copies of its neighbours' facts: they are read from where they stand."""
    with Engram(database_url, scope=Scope(tenant)) as door:
        made = [
            *door.add_many(facts(0, 12)),
            door.add("The harbour opens at six."),
            door.add("The harbour opens at six."),
        ]
        for one in made:
            assert one.memory is not None
            kept = door.explain_memory(one.memory.memory_id).decisions
            found = next(other for other in kept if other.event_id == one.event_id)
            for name in ("kind", "reasons", "nearest", "surprise", "options", "hints", "policy", "rule"):
                assert getattr(found, name) == getattr(one, name), name
    with psycopg.connect(server.superuser_url.replace("+psycopg", "")) as conn:
        rows = conn.execute("SELECT decision FROM engram.memory_changes WHERE tenant_id = %s", (tenant,)).fetchall()
    assert len(rows) == len(made)
    assert not any("fact" in near for (decision,) in rows for near in decision["nearest"])


def test_a_plain_add_takes_nine_statements(database_url: str, tenant: str, statements: list[str]) -> None:
    with Engram(database_url) as engram:
        door = engram.scoped(tenant_id=tenant)
        door.add("The first fact makes the scope.")
        door.add("The second one knows the model.")
        statements.clear()
        door.add("The harbour opens at six.")
    assert len(statements) <= 9, statements


GRAPHS: Final = """
    SELECT coalesce(pg_get_expr(i.indpred, i.indrelid), ''), pg_relation_size(i.indexrelid), s.idx_scan
      FROM pg_index i
      JOIN pg_class c ON c.oid = i.indexrelid
      JOIN pg_am a ON a.oid = c.relam AND a.amname = 'hnsw'
      LEFT JOIN pg_stat_user_indexes s ON s.indexrelid = i.indexrelid
     ORDER BY i.indexrelid
"""


def test_no_write_touches_a_graph(
    server: EmbeddedServer, database_url: str, database: Database, tenant: str, statements: list[str]
) -> None:
    """A graph holds only rows that say they are in it; writes say of none, and read none by a graph."""

    def graphs() -> list[Any]:
        with psycopg.connect(server.superuser_url.replace("+psycopg", "")) as conn:
            conn.execute("SELECT pg_stat_clear_snapshot()")
            return conn.execute(GRAPHS).fetchall()

    before = graphs()
    with Engram(database_url) as engram:
        door = engram.scoped(tenant_id=tenant)
        door.add("The first fact makes the scope.")
        door.add_many(facts(0, 40))
        door.remember("I moved to Oslo last spring.", session_id="s")
        door.add("I live in Bergen now.")
    after = graphs()
    assert before, "there are graphs"
    assert all("indexed" in predicate for predicate, _, _ in before)
    assert after == before, "no graph has grown, or was walked"
    with database.transaction(tenant) as conn:
        [marked] = conn.exec_driver_sql("SELECT count(*) FROM engram.memory_embeddings WHERE indexed").fetchone() or ()
    assert marked == 0
    assert not [sql for sql in statements if re.search(r"(?i)set\s+indexed|halfvec\(\d+\)", sql)]


def test_a_decision_shows_the_memory_as_it_is_read(database_url: str, tenant: str) -> None:
    rng = random.Random(SEED)
    items = [told(rng, number) for number in range(ITEMS)]
    plain = [{"fact": f"Shelf {n} holds {n} jars.", "metadata": {"note": "x"}, "tags": ["b", "a"]} for n in range(5)]
    with Engram(database_url, scope=Scope(tenant, user_id="ada")) as engram:
        for item in [*items, {"fact": "Due.", "expires_in_days": 3.0}, {"fact": "Half.", "metadata": {"n": 1.50}}]:
            shown = engram.add(**item).memory
            assert shown is not None
            assert shown == unquoted(engram.get(shown.memory_id)), item
        for one in engram.add_many(plain):
            assert one.memory is not None
            assert one.memory == unquoted(engram.get(one.memory.memory_id))


def unquoted(memory: Memory) -> Memory:
    """The memory without the characters it quotes, which a decision does not show."""
    return replace(memory, citations=tuple(replace(one, quote=None) for one in memory.citations))


BARS: Final = [f"{city} has {n} {drink} bars." for city in CITIES for drink in DRINKS for n in range(8)]
TOLD: Final = [f"{city} has {n} {drink} bars, they say." for city in CITIES for drink in DRINKS for n in (3, 9)]


def put_into_graph(conn: Connection) -> None:
    """Say that about half of a tenant's vectors are in the graph."""
    conn.exec_driver_sql("UPDATE engram.memory_embeddings SET indexed = true WHERE memory_id::text < '8'")
    conn.exec_driver_sql(
        "INSERT INTO engram.memory_graphs SELECT DISTINCT e.tenant_id, e.scope_id, e.model_id"
        " FROM engram.memory_embeddings e"
    )


def test_a_scope_with_its_graph_knows_what_a_candidate_resembles(
    database_url: str, database: Database, tenant: str
) -> None:
    """What is near is asked of the graph, and of what is not in it yet; who is near is the same."""
    with Engram(database_url, scope=Scope(tenant, user_id="ada")) as engram:
        engram.add_many([{"fact": fact, "force": True} for fact in BARS])
        exactly = [engram.add(fact, dry_run=True) for fact in TOLD]
        with database.transaction(tenant) as conn:
            put_into_graph(conn)
        through = [engram.add(fact, dry_run=True) for fact in TOLD]
    for one, other in zip(exactly, through, strict=True):
        assert (one.kind, one.reasons) == (other.kind, other.reasons)
        assert [near.memory_id for near in one.nearest] == [near.memory_id for near in other.nearest]


def test_a_batch_asks_the_graph_where_reading_the_scope_costs_more_and_finds_the_same(
    database_url: str, database: Database, tenant: str, statements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = local.load().embed(TOLD)

    def near(conn: Connection, given: Any) -> list[dict[str, float]]:
        [row] = conn.exec_driver_sql("SELECT DISTINCT scope_id, model_id FROM engram.memory_embeddings").fetchall()
        statements.clear()
        found = nearness.nearest(conn, tenant, row.scope_id, row.model_id, given)
        return [dict(one.ranked()) for one in found]

    with Engram(database_url, scope=Scope(tenant, user_id="ada")) as engram:
        engram.add_many([{"fact": fact, "force": True} for fact in BARS])
    with database.transaction(tenant) as conn:
        exactly = near(conn, vectors)
        put_into_graph(conn)
        assert near(conn, vectors) == exactly
        assert len(statements) == 1, "a small scope is read"
        monkeypatch.setattr(nearness, "WALK", len(BARS) // len(TOLD))
        through = near(conn, vectors)
        assert len(statements) == 2
        assert "near_rows" in statements[1], "and what is read of a large one is how large it is"
        few = near(conn, vectors[: nearness.FEW])
    for one, other in zip([*exactly, *exactly], [*through, *few], strict=False):
        least = min(one.values()) + 1e-4  # the last of them may be as near as one that is left out
        kept = {memory_id: cosine for memory_id, cosine in one.items() if cosine > least}
        assert len(kept) > 30
        assert kept == pytest.approx({memory_id: other.get(memory_id, -1.0) for memory_id in kept}, abs=1e-4)
