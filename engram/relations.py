"""Relations: typed, weighted, directed edges between memories, and walks along them, now or as of any moment.

A walk looks at every hop as a search looks at its results: only what the scope may see and what is current there is
passed through. Of each memory the heaviest relations are followed, so that a hub costs no more than any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy.engine import Row

from engram import embedding, inputs, memories, tenancy
from engram.database import Connection, ending, execute, fetch_all, fetch_named, send_ahead, statement
from engram.errors import InvalidInput
from engram.memories import NOW, Moment
from engram.scope import Scope
from engram.tenancy import Visible
from engram.values import Direction, Memory, Relation, Traversal, TraversalResult

# What holds of the memories themselves, whatever is asked: no question keeps a walk from passing here.
STRUCTURAL: Final = ("part_of", "contains", "derived_from", "supersedes", "revision_of", "summarized_by")
ALIASES: Final[Mapping[str, str]] = {"relates_to": "related_to"}
TYPE: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
ADDED: Final = "relation_added"  # the types of the events of relations that calls made and ended
ENDED: Final = "relation_ended"
TYPES: Final = 64  # that one read may name
MAX_DEPTH: Final = 10
BREADTH: Final = 50  # relations followed from one memory
BUDGET: Final = 500  # paths kept of one hop, at most
PATHS: Final = 4  # paths kept of one hop for each result that is wanted
FAR: Final = 0.55  # distance from the question over which a loose relation is not followed
WEIGHTS: Final = (0.7, 0.0, 0.3)  # of the path, the question and the importance, in a score
ASKED_WEIGHTS: Final = (0.5, 0.3, 0.2)


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation about to be made: what its event keeps, when that was recorded, and since when it holds."""

    source_id: str
    target_id: str
    relation_type: str
    weight: float
    metadata: Mapping[str, Any] | None  # None keeps what is there
    event_id: str
    at: datetime
    holds_at: datetime


@dataclass(frozen=True, slots=True)
class Walk:
    """How far and along what a walk goes, and what it is asked for; `gate` is the least cosine of a loose relation."""

    max_depth: int
    direction: Direction = "any"
    relation_types: tuple[str, ...] | None = None
    min_weight: float = 0.0
    limit_per_seed: int = inputs.RESULTS
    limit: int = inputs.RESULTS
    include_superseded: bool = False
    vector: Any = field(default=None, compare=False)
    model_id: int | None = None
    gate: float = 1 - FAR

    @property
    def weights(self) -> tuple[float, float, float]:
        """What the path, the nearness to the question and the importance count in a score."""
        return WEIGHTS if self.vector is None else ASKED_WEIGHTS


# What is given -------------------------------------------------------------------------------------------------------


def relation_type(value: object, field: str = "relation_type") -> str:
    """The name of a relation: small letters, digits and underscores, at most 64; a known alias becomes its name."""
    name = inputs.label(value, field)
    if not TYPE.fullmatch(name):
        raise InvalidInput(field, "small letters, digits and underscores, a letter first", "another form")
    return ALIASES.get(name, name)


def relation_types(value: object, field: str = "relation_types") -> tuple[str, ...] | None:
    """The names of relations a read is narrowed to; None for every one, an empty list for none."""
    if value is None:
        return None
    return tuple(dict.fromkeys(relation_type(one, field) for one in inputs.items(value, field, TYPES)))


# Writing -------------------------------------------------------------------------------------------------------------


def relate(conn: Connection, tenant_id: str, edges: Sequence[Edge]) -> None:
    """Write relations, with the next statement; of two that are one the later counts. The caller holds all lineages."""
    send_ahead(
        conn, "put_relation", tenant_id=tenant_id,
        source_ids=[edge.source_id for edge in edges], target_ids=[edge.target_id for edge in edges],
        relation_types=[edge.relation_type for edge in edges], weights=[edge.weight for edge in edges],
        metadata=[
            None if edge.metadata is None else inputs.canonical_json(dict(edge.metadata)).decode() for edge in edges
        ],
        event_ids=[edge.event_id for edge in edges], ats=[edge.at for edge in edges],
        holds_ats=[edge.holds_at for edge in edges],
    )  # fmt: skip


def end(
    conn: Connection, tenant_id: str, ends: tuple[str, str, str], *, event_id: str, at: datetime, holds_at: datetime
) -> bool:
    """End a relation; whether it stood."""
    source_id, target_id, kind = ends
    touched = execute(
        conn, "end_relation", tenant_id=tenant_id, source_id=source_id, target_id=target_id, relation_type=kind,
        event_id=event_id, at=at, holds_at=holds_at,
    )  # fmt: skip
    return touched > 0


def find(conn: Connection, tenant_id: str, ends: Sequence[tuple[str, str, str]]) -> list[Relation | None]:
    """Relations by source, target and type, whether they stand or were ended; None where there never was one."""
    rows = fetch_all(
        conn, "get_relations", tenant_id=tenant_id, source_ids=[one[0] for one in ends],
        target_ids=[one[1] for one in ends], relation_types=[one[2] for one in ends],
    )  # fmt: skip
    found = {(row.source_id, row.target_id, row.relation_type): _relation(row, row.ended_at) for row in rows}
    return [found.get(one) for one in ends]


def erase_event(conn: Connection, event_id: str, memory_ids: Sequence[str]) -> None:
    """Take away what an event said of relations, and the relations of memories emptied with it, with their history."""
    fetch_all(conn, "erase_relations", event_id=event_id, memory_ids=list(memory_ids))


# Reading -------------------------------------------------------------------------------------------------------------


def list_relations(
    conn: Connection, visible: Visible, memory_id: str, *, direction: Direction, relation_types: Sequence[str] | None,
    limit: int | None, moment: Moment = NOW,
) -> tuple[Relation, ...]:  # fmt: skip
    """The relations of a memory that stand at a moment, the heaviest first; both ends are in the reader's sight.

    All of them, without a limit.
    """
    if not visible.scope_ids or limit == 0:
        return ()
    params = memories.visible_params(visible, moment) | {
        "memory_id": memory_id, "limit": limit, "relation_types": _list(relation_types),
    }  # fmt: skip
    sql = statement("list_relations").replace("/*relations*/", held(direction, moment, "%(memory_id)s::uuid"))
    sql = sql.replace("/*ends*/", ENDS if moment.is_now else PAST_ENDS)
    return tuple(_relation(row, None) for row in conn.exec_driver_sql(sql, params))


def is_cut(rows: Sequence[Any]) -> bool:
    """Whether a walk that led there left something out. Pure."""
    return bool(rows) and (rows[0].cut or rows[0].reached > len(rows))


def ties(
    conn: Connection, reader: Visible | Scope, seeds: Sequence[str], asked: Walk, moment: Moment = NOW, *,
    with_seeds: bool = False,
) -> tuple[list[Any], dict[str, Memory]]:  # fmt: skip
    """Where a walk leads, the best score first, and the memories at its ends, or at both, by their ids.

    That of now is one statement, which also looks up what a reader may see, where only his scope is known.
    """
    return _tied(conn, reader, _walking(seeds, asked), list(seeds) if with_seeds else [], moment)


def best_path(
    conn: Connection, reader: Visible | Scope, source_id: str, target_id: str, max_depth: int, moment: Moment = NOW
) -> tuple[list[Any], dict[str, Memory]]:
    """The path of the largest product of weights between two memories, over relations of either direction.

    Two walks meet in the middle, so that a path through a hub is found by its other end. What comes back are both
    halves, or nothing, and the memories at their ends. A path leads to what is current alone.
    """
    ends = [source_id, target_id]
    walking = _walking(ends, Walk(max_depth)) | {
        "depths": [(max_depth + 1) // 2, max_depth // 2], "budget": BUDGET, "most": max_depth,
    }  # fmt: skip
    rows, found = _tied(conn, reader, walking, ends, moment)
    if not found.keys() >= {*ends} or labels(found[target_id]):
        rows = []
    return sorted(rows, key=lambda row: row.seed != source_id), found


def _tied(
    conn: Connection, reader: Visible | Scope, walking: dict[str, Any], beside: Sequence[str], moment: Moment
) -> tuple[list[Any], dict[str, Memory]]:
    """Where a walk leads, and the memories at its ends with those beside them; the transaction ends with it."""
    if isinstance(reader, Visible) and not moment.is_now:
        params = memories.visible_params(reader, moment) | walking
        rows = fetch_named(conn, statement("call_walk"), params) if reader.scope_ids else []
        wanted = dict.fromkeys([*beside, *(row.node for row in rows)])
        loaded = memories.load(ending(conn), reader, list(wanted), moment) if rows or beside else []
        return rows, {one.memory_id: one for one in loaded}
    params = tenancy.reader_params(reader) | walking | {"beside": list(beside)}
    rows = fetch_named(ending(conn), statement("call_ties"), params, binary=True)
    visible = reader if isinstance(reader, Visible) else tenancy.seen(reader, rows)
    return [row for row in rows if row.depth is not None], {row.memory_id: memories.made(row, visible) for row in rows}


def results(rows: Iterable[Row[Any]], found: Mapping[str, Memory]) -> tuple[TraversalResult, ...]:
    """What a walk found, with whole memories. Pure."""
    return tuple(
        TraversalResult(
            memory=found[row.node], depth=row.depth, path=tuple(row.path), relation_types=tuple(row.types),
            path_weight=row.weight, score=row.score, seed_id=row.seed, labels=labels(found[row.node]),
            directions=tuple("inbound" if way else "outbound" for way in row.ways),
        )
        for row in rows
        if row.node in found
    )  # fmt: skip


def between(source: Any, target: Any, memory: Memory) -> TraversalResult:
    """A path made of a half from either end. Pure."""
    ways = [*source.ways, *(not way for way in reversed(target.ways))]
    return TraversalResult(
        memory=memory, depth=source.depth + target.depth, path=(*source.path, *reversed(target.path[:-1])),
        relation_types=(*source.types, *reversed(target.types)), path_weight=source.score,
        score=WEIGHTS[0] * source.score + WEIGHTS[2] * memory.importance, seed_id=source.path[0], labels=labels(memory),
        directions=tuple("inbound" if way else "outbound" for way in ways),
    )  # fmt: skip


def labels(memory: Memory) -> tuple[str, ...]:
    """What keeps a memory from being current; nothing where it is. Pure."""
    status = () if memory.status == "active" else (memory.status,)
    consolidated = () if memory.consolidated_into is None else ("consolidated",)
    return (*status, *consolidated, *memory.labels)


def empty(seeds: Sequence[Memory] = (), degraded: tuple[str, ...] = ()) -> Traversal:
    """A walk that led nowhere. Pure."""
    return Traversal((), False, degraded, tuple(seeds))


def _walking(seeds: Sequence[str], asked: Walk) -> dict[str, Any]:
    """What the function of the server takes that walks. Pure."""
    by_path, by_question, by_importance = asked.weights
    hops = asked.max_depth if asked.limit and asked.limit_per_seed else 0
    return {
        "seeds": list(seeds), "depths": [hops] * len(seeds), "outbound": asked.direction != "inbound",
        "inbound": asked.direction != "outbound", "relation_types": _list(asked.relation_types),
        "min_weight": asked.min_weight, "superseded": asked.include_superseded, "breadth": BREADTH,
        "budget": min(BUDGET, max(BREADTH, PATHS * asked.limit)), "limit": asked.limit,
        "limit_per_seed": asked.limit_per_seed, "by_path": by_path, "by_question": by_question,
        "by_importance": by_importance, "structural": list(STRUCTURAL), "model_id": asked.model_id,
        "gate": None if asked.vector is None else asked.gate,
        "vector": None if asked.vector is None else embedding.halves(asked.vector), "most": None,
    }  # fmt: skip


def held(direction: Direction, moment: Moment, of: str) -> str:
    """The relations of a memory at a moment, as a query; `node` is the other end of each. Pure."""
    kinds = PRESENT if moment.is_now else PAST
    chosen = [text for name, text in kinds.items() if direction in (name, "any")]
    return " UNION ALL ".join(chosen).replace("/*of*/", of)


def _list(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(names)


def _relation(row: Row[Any], ended_at: datetime | None) -> Relation:
    metadata = row.metadata if isinstance(row.metadata, dict) else {}
    return Relation(
        row.source_id, row.target_id, row.relation_type, row.weight, row.auto, metadata, row.recorded_at, ended_at
    )


IN_SIGHT: Final = "m.status NOT IN ('deleted', 'quarantined')"
_COLUMNS: Final = "r.source_id, r.target_id, r.relation_type, r.weight, r.auto, r.metadata"
_STANDS: Final = "FROM engram.memory_relations r WHERE r.tenant_id = %(tenant_id)s AND r.ended_at IS NULL"
_AT: Final = "%(as_of)s::timestamptz, %(known_at)s::timestamptz"
PRESENT: Final[Mapping[str, str]] = {
    "outbound": f"SELECT {_COLUMNS}, r.target_id AS node, false AS inbound {_STANDS} AND r.source_id = /*of*/",
    "inbound": f"SELECT {_COLUMNS}, r.source_id AS node, true AS inbound {_STANDS} AND r.target_id = /*of*/",
}
PAST: Final[Mapping[str, str]] = {
    "outbound": f"SELECT {_COLUMNS}, r.target_id AS node, false AS inbound"  # noqa: S608 - constants
    f" FROM engram.relations_at(/*of*/, false, {_AT}) r",
    "inbound": f"SELECT {_COLUMNS}, r.source_id AS node, true AS inbound"  # noqa: S608 - constants
    f" FROM engram.relations_at(/*of*/, true, {_AT}) r",
}
# The other ends, one by one and by their key, heaviest first, until there are enough: whatever the statistics say of a
# table. What is IS TRUE of a row chooses no index.
_SEEN: Final = f"m.scope_id = ANY(%(scope_ids)s) AND (NOT m.private OR m.scope_id = %(own)s) AND {IN_SIGHT}"
ENDS: Final = (
    "CROSS JOIN LATERAL (SELECT FROM engram.agent_memory m"
    f" WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = r.node AND ({_SEEN}) IS TRUE OFFSET 0) m"
)
PAST_ENDS: Final = (
    "CROSS JOIN LATERAL (SELECT FROM (SELECT (s.standing).* FROM engram.standings_at("  # noqa: S608 - constants
    f"%(tenant_id)s, %(scope_ids)s, {_AT}, ARRAY[r.node]) s) m WHERE ({_SEEN}) IS TRUE OFFSET 0) m"
)
