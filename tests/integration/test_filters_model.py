"""SQL and memory give the same answer: 1,000 random filters, and hostile values in every place, over the same rows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from badinputs import INJECTIONS

from engram import filters, ledger, memories, streams, tenancy, text
from engram.database import Connection, Database, Jsonb
from engram.filters import Filter, matches, to_sql
from engram.ids import new_id
from engram.memories import load
from engram.scope import Scope
from engram.tenancy import Visible
from engram.values import KINDS, LAYERS, MEMORY_TYPES, STATUSES, TRUSTS, Memory

FILTERS = 1_000
ROWS = 160
SEED = 20_260_301
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MOMENTS = [NOW + timedelta(hours=hour) for hour in (-48, -24, -1, 0, 1, 24, 48)]
WORDS = ["alpha", "Beta", "café", "日本", "z", "_", *INJECTIONS[:8]]
TASKS = [new_id() for _ in range(3)]
NUMBERS = [0, 1, -1, 2, 2.5, 0.1, 1e300, -1e-300, 5e-324, 1e16, 2**53 - 1, 1.0]
INSERT = """
insert into engram.agent_memory (tenant_id, memory_id, scope_id, fact, fact_hash, memory_type, category, tags,
  importance, confidence, trust, layer, status, critical_slot, conflict_key, topic_key, lineage_id, revision,
  valid_from, valid_from_stated, valid_to, recorded_at, source, session_id, task_run_id, metadata,
  policy, policy_version, event_id, embed_state, stands_at, stands_recorded_at, stands_event_id, stands_ordinal)
values (%(tenant_id)s, %(memory_id)s, %(scope_id)s, %(fact)s, %(fact_hash)s, %(memory_type)s, %(category)s, %(tags)s,
  %(importance)s, %(confidence)s, %(trust)s, %(layer)s, %(status)s, %(critical_slot)s, %(conflict_key)s, %(topic_key)s,
  %(memory_id)s, 1, %(valid_from)s, false, %(valid_to)s, %(recorded_at)s, %(source)s, %(session_id)s, %(task_run_id)s,
  %(metadata)s, 'default', 1, %(event_id)s, 'none', %(valid_from)s, %(recorded_at)s, %(event_id)s, 0)
"""


class Maker:
    """Random rows and random filters over the same few values, so that they meet."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def maybe(self, value: Any) -> Any:
        return value if self.random.random() < 0.6 else None

    def some(self, values: Sequence[Any], most: int = 3) -> list[Any]:
        return self.random.sample(list(values), self.random.randint(0, min(most, len(values))))

    def json(self, depth: int = 2) -> Any:
        kind = self.random.choice(["number", "word", "flag", "list", "object"] if depth else ["number", "word", "flag"])
        if kind == "number":
            return self.random.choice(NUMBERS)
        if kind == "word":
            return self.random.choice(WORDS)
        if kind == "flag":
            return self.random.choice([True, False, None])
        inner = [self.json(depth - 1) for _ in range(self.random.randint(0, 3))]
        return inner if kind == "list" else {self.random.choice("abc"): one for one in inner}

    def metadata(self) -> dict[str, Any]:
        return {name: self.json() for name in self.some(["a", "b", "c", "%s", "1"])}

    def row(self) -> dict[str, Any]:
        choice = self.random.choice
        topic = self.maybe(choice(["Sprint", "café", "B", *INJECTIONS[:4]]))
        memory_id = new_id()
        start = choice(MOMENTS)
        return {
            "memory_id": memory_id,
            "fact": memory_id,
            "fact_hash": text.fact_hash(memory_id),
            "memory_type": choice(MEMORY_TYPES),
            "category": self.maybe(choice(WORDS)),
            "tags": [word.casefold() for word in self.some(WORDS)],
            "importance": choice([0, 0.1, 0.5, 0.7, 1]),
            "confidence": choice([0, 0.3, 1]),
            "trust": choice(range(6)),
            "layer": choice(LAYERS),
            "status": choice([one for one in STATUSES if one != "active"]),
            "critical_slot": self.maybe("slot"),
            "topic_key": topic,
            "conflict_key": None if topic is None else "topic:" + text.normalise_key(topic),
            "valid_from": start,
            "valid_to": self.maybe(start + timedelta(hours=choice([0, 1, 24, 96]))),
            "recorded_at": choice(MOMENTS),
            "source": self.maybe(choice(WORDS)),
            "session_id": self.maybe(choice(WORDS)),
            "task_run_id": self.maybe(choice(TASKS)),
            "metadata": self.metadata(),
        }

    def window(self) -> tuple[datetime | None, datetime | None]:
        start, end = sorted(self.random.sample(MOMENTS, 2))
        return self.maybe(start), self.maybe(end)

    def bounds(self) -> tuple[Any, Any]:
        values: list[Any] = self.random.choice([NUMBERS, WORDS])
        low, high = sorted(self.random.sample(values, 2))
        pair = self.random.choice([(low, high), (low, None), (None, high)])
        return pair if low != high else (low, None)

    def wanted(self, row: dict[str, Any]) -> dict[str, Any]:
        """Every field of a filter, with values that a row of the table might have."""
        paths = ["a", "b", "c", "a.b", "a.0", "b.-1", "a.a.b", "1", "c.1.a", "b.00", "a.-0", "missing"]
        part = dict(list(row["metadata"].items())[:1])
        return {
            "memory_types": self.some([*MEMORY_TYPES, "fact", "lesson", "context"], 6),
            "categories": self.some(WORDS, 6),
            "kinds": self.some(KINDS),
            "layers": self.some(LAYERS),
            "statuses": self.some(STATUSES, 5),
            "tags_all": self.some([*row["tags"], *row["tags"], "z"], 2),
            "tags_any": self.some(WORDS),
            "sources": self.some(WORDS, 6),
            "memory_ids": [row["memory_id"]],
            "session_ids": self.some(WORDS, 6),
            "task_run_ids": self.some(TASKS),
            "topic_keys": self.some(["SPRINT", "b", "x"]),
            "critical": self.random.random() < 0.5,
            "min_trust": self.random.choice(TRUSTS),
            "min_importance": self.random.choice([0, 0.1, 0.5, 1]),
            "min_confidence": self.random.choice([0.3, 0.31]),
            "valid": self.window(),
            "recorded": self.window(),
            "metadata": part if self.random.random() < 0.8 else self.metadata(),
            "metadata_range": {path: self.bounds() for path in self.some(paths, 2)},
        }

    def filter(self, rows: Sequence[dict[str, Any]], depth: int = 3) -> Filter:
        wanted = self.wanted(self.random.choice(rows))
        asked = {
            name: wanted[name] for name in self.random.sample(list(wanted), self.random.choice([0, 1, 1, 1, 2, 3]))
        }
        if depth:
            for branch in self.random.sample(["all_of", "any_of", "none_of"], self.random.choice([0, 0, 1, 1, 2])):
                asked[branch] = [self.filter(rows, depth - 1) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3]))]
        return Filter(**asked)


def store(conn: Connection, scope: Scope, rows: Sequence[dict[str, Any]]) -> tuple[Visible, list[Memory]]:
    """The rows as memories of one scope, read back as a caller gets them."""
    scope_id = tenancy.ensure(conn, scope)
    stream = streams.open(conn, scope_id, "scope", "scope")
    event = ledger.NewEvent("user", "memory_added", "rows for filters")
    ledger.append(conn, scope_id=scope_id, stream_id=stream.stream_id, events=[event])
    given = {"tenant_id": scope.tenant_id, "scope_id": scope_id, "event_id": event.event_id}
    conn.exec_driver_sql(INSERT, [row | given | {"metadata": Jsonb(row["metadata"])} for row in rows])
    visible = tenancy.visible(conn, scope)
    return visible, load(conn, visible, [row["memory_id"] for row in rows])


def found_by_sql(conn: Connection, visible: Visible, asked: Filter) -> set[str]:
    """The ids that the condition of a filter lets through."""
    condition, params = to_sql(asked)
    query = "select m.memory_id::text from engram.agent_memory m where " + memories.VISIBLE + " and " + condition
    found = conn.exec_driver_sql(
        query, params | {"tenant_id": visible.scope.tenant_id, "scope_ids": list(visible.scope_ids), "own": None}
    )
    return {row.memory_id for row in found}


@pytest.fixture
def scope(tenant: str) -> Scope:
    """A scope of a tenant of its own."""
    return Scope(tenant_id=tenant)


def test_random_filters_find_in_sql_what_they_match_in_memory(database: Database, scope: Scope) -> None:
    maker = Maker(SEED)
    rows = [maker.row() for _ in range(ROWS)]
    found_some, found_all = 0, 0
    with database.transaction(scope.tenant_id) as conn:
        visible, held = store(conn, scope, rows)
        assert len(held) == ROWS
        for number in range(FILTERS):
            asked = maker.filter(rows)
            expected = {memory.memory_id for memory in held if matches(asked, memory)}
            assert found_by_sql(conn, visible, asked) == expected, (number, asked.to_dict())
            found_some += 0 < len(expected) < ROWS
            found_all += len(expected) == ROWS
    # The test is worth something only where filters tell rows apart.
    assert found_some > FILTERS / 5
    assert found_all < FILTERS / 2


def test_each_field_alone_finds_in_sql_what_it_matches_in_memory(database: Database, scope: Scope) -> None:
    maker = Maker(SEED + 1)
    rows = [maker.row() for _ in range(ROWS)]
    telling: set[str] = set()
    with database.transaction(scope.tenant_id) as conn:
        visible, held = store(conn, scope, rows)
        for row in rows[:40]:
            for name, value in maker.wanted(row).items():
                for asked in (Filter(**{name: value}), Filter(none_of=[Filter(**{name: value})])):
                    expected = {memory.memory_id for memory in held if matches(asked, memory)}
                    assert found_by_sql(conn, visible, asked) == expected, asked.to_dict()
                    telling |= {name} if 0 < len(expected) < ROWS else set()
    assert telling == set(filters.FIELDS) - {"all_of", "any_of", "none_of"}


def test_hostile_values_are_plain_data_in_every_field(database: Database, scope: Scope) -> None:
    rows = [Maker(SEED + 2).row() for _ in range(2)]
    for hostile, row in zip(["%(f_1)s'); select 1 --", "plain"], rows, strict=True):
        row |= {"category": hostile, "source": hostile, "session_id": hostile, "tags": [hostile], "topic_key": hostile}
        row |= {"conflict_key": "topic:" + text.normalise_key(hostile), "metadata": {hostile: hostile, "t": hostile}}
    with database.transaction(scope.tenant_id) as conn:
        visible, held = store(conn, scope, rows)
        for value in ("%(f_1)s'); select 1 --", *INJECTIONS):
            for asked in (
                Filter(categories=[value]),
                Filter(sources=[value]),
                Filter(session_ids=[value]),
                Filter(tags_any=[value]),
                Filter(tags_all=[value]),
                Filter(topic_keys=[value]),
                Filter(metadata={value: value}),
                Filter(metadata={"t": value}),
                Filter(metadata_range={"t": (value, None)}),
                Filter(metadata_range={"t": (None, value)}),
                Filter(none_of=[Filter(categories=[value])]),
            ):
                expected = {memory.memory_id for memory in held if matches(asked, memory)}
                assert found_by_sql(conn, visible, asked) == expected, asked.to_dict()
        assert found_by_sql(conn, visible, Filter(categories=["%(f_1)s'); select 1 --"])) == {rows[0]["memory_id"]}
