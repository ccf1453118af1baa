"""Pairing: which memories of a scope are like which, found once a memory and kept until somebody has judged them.

Each memory that takes part is compared with the few nearest to it, through the graph of its scope where there is one,
and by its words where there are no vectors. No run compares every memory with every other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from engram import memories
from engram.channels import keyword, semantic
from engram.database import Connection, execute, fetch_one, fetch_value, statement
from engram.memories import NOW
from engram.text import jaccard, tokens
from engram.values import Layer, MemoryType
from engram.writing import Desk

NEAR: Final = 32  # the nearest that one memory is compared with
EXACT_BATCH: Final = 16  # memories compared in one statement, where every vector is read for each
GRAPH_BATCH: Final = 64
WORD_BATCH: Final = 8
DROPPED: Final = 1_000
LEAST: Final = 0.55  # under this similarity no step looks at a pair
LEAST_WORDS: Final = 0.30  # the same, where words are all there is
FIRST: Final = "00000000-0000-0000-0000-000000000000"
LAST: Final = "ffffffff-ffff-ffff-ffff-ffffffffffff"
BY_WORDS: Final = 0
LAYERS: Final[tuple[Layer, ...]] = ("buffer", "working", "core")
EARLIEST: Final = datetime(1900, 1, 1, tzinfo=UTC)
SUMMARY: Final = "summary"  # the category of what stands for other memories

TAKING_PART: Final = (
    f"{memories.current(NOW)} AND NOT m.moot AND m.critical_slot IS NULL AND NOT m.private"
    f" AND coalesce(m.category, '') NOT IN ('verbatim', 'source_chunk', '{SUMMARY}')"
)
"""The condition on `m` that lets a memory take part in what makes one of several."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is looked at of a memory before it and another become one; `trust` is a rank, 0 the most trusted."""

    memory_id: str
    fact: str
    memory_type: MemoryType = "semantic"
    importance: float = 0.5
    layer: Layer = "working"
    trust: int = 1
    tags: tuple[str, ...] = ()
    category: str | None = None
    conflict_key: str | None = None
    recorded_at: datetime = EARLIEST
    stated_from: datetime | None = None
    expires_at: datetime | None = None
    accesses: int = 0
    repetitions: int = 0
    event_id: str = ""
    valid_to: datetime | None = None
    kept: bool = False  # the policy's veto keeps it from being put away


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories and how alike they are, from 0 to 1; the smaller id first."""

    low_id: str
    high_id: str
    similarity: float

    @property
    def ids(self) -> tuple[str, str]:
        """Both."""
        return self.low_id, self.high_id


FIRST_PAIR: Final = Pair(LAST, LAST, 2.0)


def look(desk: Desk, after: str = FIRST) -> str | None:
    """Look at the next memories that nobody has looked at; the last of them, or None when there is none left."""
    if desk.model_id is None:
        return _look_by_words(desk, after)
    graphed = semantic.has_graph(desk.conn, desk.model_id) and _is_graphed(desk)
    dimensions = _dimensions(desk)
    near = statement("near_by_graph" if graphed else "near_exactly").replace("(256)", f"({dimensions})")
    if graphed:
        fetch_one(
            desk.conn, "set_search", breadth=str(semantic.LEAST_BREADTH), milliseconds=int(semantic.TIMEOUT * 1000)
        )
    sql = statement("look_around").replace("/*near*/", near).replace("/*taking part*/", TAKING_PART)
    given = {
        "tenant_id": desk.tenant_id, "scope_id": desk.scope_id, "model_id": desk.model_id, "after": after,
        "limit": GRAPH_BATCH if graphed else EXACT_BATCH, "near": NEAR, "least": desk.scale.of_the_model(LEAST),
    }  # fmt: skip
    looked = list(desk.conn.exec_driver_sql(sql, given))
    return str(looked[-1].memory_id) if looked else None


def sweep(desk: Desk) -> None:
    """Forget open pairs of memories that are not current any more."""
    fetch_one(
        desk.conn, "drop_pairs", tenant_id=desk.tenant_id, scope_id=desk.scope_id, model_id=_model(desk), limit=DROPPED
    )


def pairs(
    desk: Desk, least: float, most: float = 2.0, *, after: Pair = FIRST_PAIR, layers: Sequence[str] = LAYERS,
    limit: int = 200,
) -> list[Pair]:  # fmt: skip
    """Open pairs with a similarity of at least `least` and under `most`, the most alike first, behind `after`."""
    given = {
        "tenant_id": desk.tenant_id, "scope_id": desk.scope_id, "model_id": _model(desk), "least": least, "most": most,
        "before": after.similarity, "low": after.low_id, "high": after.high_id, "layers": list(layers), "limit": limit,
    }  # fmt: skip
    found = _listed(desk.conn, "list_pairs", given)
    return [Pair(row.low_id, row.high_id, row.similarity) for row in found]


def alike(desk: Desk, least: float, *, limit: int) -> list[Pair]:
    """Pairs with a similarity of at least `least`, whatever was made of them, the most alike first."""
    given = {
        "tenant_id": desk.tenant_id, "scope_id": desk.scope_id, "model_id": _model(desk), "least": least,
        "limit": limit,
    }  # fmt: skip
    return [Pair(row.low_id, row.high_id, row.similarity) for row in _listed(desk.conn, "list_alike", given)]


def rows(desk: Desk, memory_ids: Iterable[str]) -> dict[str, Row]:
    """The memories among these that take part, by their ids."""
    wanted = sorted(set(memory_ids))
    if not wanted:
        return {}
    given = {"tenant_id": desk.tenant_id, "scope_id": desk.scope_id, "memory_ids": wanted}
    return {
        row.memory_id: Row(
            row.memory_id, row.fact, row.memory_type, row.importance, row.layer, row.trust, tuple(row.tags),
            row.category, row.conflict_key, row.recorded_at, row.stated_from, row.expires_at, row.accesses,
            row.repetitions, row.event_id, row.valid_to,
        )
        for row in _listed(desk.conn, "list_rows_to_merge", given)
    }  # fmt: skip


def judged(desk: Desk, verdicts: Sequence[tuple[Pair, str]]) -> None:
    """Note what was made of pairs: `apart`, `merged`, `reconciled` or `like`."""
    if verdicts:
        execute(
            desk.conn, "judge_pairs", tenant_id=desk.tenant_id, low_ids=[pair.low_id for pair, _ in verdicts],
            high_ids=[pair.high_id for pair, _ in verdicts], verdicts=[verdict for _, verdict in verdicts],
        )  # fmt: skip


def _look_by_words(desk: Desk, after: str) -> str | None:
    given = {"tenant_id": desk.tenant_id, "scope_id": desk.scope_id, "after": after, "limit": WORD_BATCH}
    asked = _listed(desk.conn, "list_unlooked", given)
    if not asked:
        return None
    found: dict[tuple[str, str], float] = {}
    for row in asked:
        own = tokens(row.fact)
        for other_id, fact in _worded(desk, row.fact):
            alike = jaccard(own, tokens(fact))
            if other_id != row.memory_id and alike >= LEAST_WORDS:
                found[min(row.memory_id, other_id), max(row.memory_id, other_id)] = alike
    execute(
        desk.conn, "add_pairs", tenant_id=desk.tenant_id, scope_id=desk.scope_id, low_ids=[low for low, _ in found],
        high_ids=[high for _, high in found], similarities=list(found.values()),
        memory_ids=[row.memory_id for row in asked],
    )  # fmt: skip
    return str(asked[-1].memory_id)


def _worded(desk: Desk, fact: str) -> list[tuple[str, str]]:
    sought = keyword.look_up(
        desk.conn, desk.tenant_id, [desk.scope_id], keyword.parse(fact), size=1_000, config=desk.config
    )
    hits = keyword.find(desk.conn, desk.tenant_id, [desk.scope_id], sought, limit=NEAR)
    given = {"tenant_id": desk.tenant_id, "scope_id": desk.scope_id, "memory_ids": [hit.memory_id for hit in hits]}
    return [(row.memory_id, row.fact) for row in _listed(desk.conn, "list_facts_among", given)]


def _listed(conn: Connection, name: str, given: dict[str, Any]) -> list[Any]:
    return list(conn.exec_driver_sql(statement(name).replace("/*taking part*/", TAKING_PART), given))


def _model(desk: Desk) -> int:
    return BY_WORDS if desk.model_id is None else desk.model_id


def _is_graphed(desk: Desk) -> bool:
    return (
        fetch_value(desk.conn, "is_graphed", tenant_id=desk.tenant_id, scope_id=desk.scope_id, model_id=desk.model_id)
        is not None
    )


def _dimensions(desk: Desk) -> int:
    active, _ = semantic.hold_models(desk.conn)
    return 256 if active is None else active.dimensions
