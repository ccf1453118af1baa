"""Memories: reading them back whole, by id, in order, by lineage and by pin, now or as of any moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, tzinfo
from functools import lru_cache
from typing import Any, Final

from sqlalchemy.engine import Row

from engram import filters, ids, paging, tenancy, text
from engram.database import Connection, fetch_all, fetch_named, statement
from engram.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from engram.filters import Filter
from engram.scope import Scope
from engram.tenancy import Shelves, Visible
from engram.values import (
    TRUSTS,
    TYPE_ALIASES,
    Activity,
    Citation,
    CriticalMemories,
    Lineage,
    Memory,
    Page,
    is_of_type,
    trust_rank,
)

CRITICAL_ORDER: Final = ("profile", "constraint", "preference", "project", "task", "decision", "tool_result")
# Each order ends with recorded_at and memory_id, so it is total and a page can continue from its last row.
RECENT: Final = (("m.recorded_at", "DESC"), ("m.memory_id::text", "ASC"))
SORTS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "recent": RECENT,
    "oldest": (("m.recorded_at", "ASC"), ("m.memory_id::text", "ASC")),
    "importance": (("m.importance", "DESC"), *RECENT),
    "accessed": (("coalesce(a.last_accessed_at, '1900-01-01+00')", "DESC"), *RECENT),
}


ACTIVITY: Final = " LEFT JOIN engram.memory_activity a ON a.tenant_id = m.tenant_id AND a.memory_id = m.memory_id"
SCOPES: Final = " JOIN engram.memory_scopes s ON s.tenant_id = m.tenant_id AND s.scope_id = m.scope_id"
# How many epochs of its scope a row has lived through, over the aliases `m` and `s`, by what was known at a moment.
EPOCHS: Final = """greatest(CASE WHEN %(known_at)s::timestamptz IS NULL THEN s.epoch ELSE (
           SELECT coalesce(max((r.cycle ->> 'epoch')::bigint) + 1, 0) FROM engram.lifecycle_runs r
            WHERE r.tenant_id = %(tenant_id)s AND r.scope_id = m.scope_id AND r.step = 'consolidate'
              AND r.started_at <= %(known_at)s::timestamptz AND 'epoch' = ANY(r.steps)) END - m.born_epoch, 0)"""


@dataclass(frozen=True, slots=True)
class Moment:
    """The moment a read asks for: what was true `as_of`, as known at `known_at`; neither means now."""

    as_of: datetime | None = None
    known_at: datetime | None = None

    @property
    def is_now(self) -> bool:
        """Whether the read asks for the present."""
        return self.as_of is None and self.known_at is None

    @property
    def earliest(self) -> datetime | None:
        """The earlier of both: what is told by events alone is told by those there were by then."""
        given = [at for at in (self.as_of, self.known_at) if at is not None]
        return min(given) if given else None

    @property
    def clock(self) -> datetime | None:
        """The moment at which expiry and age are judged; None is the database's own clock."""
        return self.as_of or self.known_at


NOW: Final = Moment()
AT: Final = "coalesce(%(as_of)s::timestamptz, %(known_at)s::timestamptz)"  # what now means in a read of the past


def source(moment: Moment) -> str:
    """The FROM item, alias `m`, that holds the rows of the readable scopes at a moment."""
    if moment.is_now:
        return "engram.agent_memory m"
    return "engram.memories_at(%(scope_ids)s, %(as_of)s::timestamptz, %(known_at)s::timestamptz) m"


def newest(moment: Moment) -> str:
    """The same for now with the newest `%(most)s` rows of each scope only; the past is read whole."""
    return NEWEST if moment.is_now else source(moment)


def filled(name: str, rows: str, moment: Moment) -> str:
    """A statement with the rows it reads, those of them a reader may see, and what is current at a moment."""
    sql = statement(name).replace("/*source*/", rows).replace("/*visible*/", VISIBLE)
    return sql.replace("/*current*/", current(moment))


def visible_params(visible: Visible, moment: Moment = NOW) -> dict[str, Any]:
    """The parameters every read shares."""
    return {
        "tenant_id": visible.scope.tenant_id, "scope_ids": list(visible.scope_ids), "own": visible.own,
        "as_of": moment.as_of, "known_at": moment.known_at,
    }  # fmt: skip


VISIBLE: Final = (
    "m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s) AND (NOT m.private OR m.scope_id = %(own)s)"
)


NEWEST: Final = (
    "unnest(%(scope_ids)s::bigint[]) s(scope_id) CROSS JOIN LATERAL ("
    "SELECT m.tenant_id, m.scope_id, m.memory_id, m.event_id, m.recorded_at, m.born_epoch, m.private, m.status,"
    " m.consolidated_into, m.expires_at, m.ended_at, m.moot, m.layer, m.critical_slot, m.category, m.task_run_id,"
    " m.subject, m.attribute, m.topic_key, m.memory_type, m.trust"
    " FROM engram.agent_memory m WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = s.scope_id"
    " ORDER BY m.recorded_at DESC, m.memory_id LIMIT %(most)s) m"
)


def current(moment: Moment, *, consolidated: bool = False) -> str:
    """The condition on `m` that makes a row current at a moment, or with `consolidated` what a summary stands for."""
    now = "clock_timestamp()" if moment.is_now else AT
    return (
        f"m.status = 'active'{'' if consolidated else ' AND m.consolidated_into IS NULL'}"
        f" AND (m.expires_at IS NULL OR m.expires_at > {now})"
        f" AND (m.ended_at IS NULL OR m.ended_at > {now})"
    )


def load(conn: Connection, visible: Visible, memory_ids: Sequence[str], moment: Moment = NOW) -> list[Memory]:
    """The memories with these ids that the read may see, in the order of the ids."""
    if not memory_ids or not visible.scope_ids:
        return []
    if moment.is_now:
        params = visible_params(visible) | {"wanted": list(memory_ids)}
        rows = fetch_named(conn, statement("call_memories"), params, binary=True)
    else:
        rows = _rows(conn, visible, moment, BY_ID, list(memory_ids))
    found = {row.memory_id: made(row, visible) for row in rows}
    return [found[memory_id] for memory_id in memory_ids if memory_id in found]


# The rows of each scope by themselves, so that an index brings them in their order, whatever their number.
BY_INDEX: Final = ("recent", "oldest")
EACH_SCOPE: Final = (
    "unnest(%(scope_ids)s::bigint[]) s(scope_id) CROSS JOIN LATERAL ("
    "SELECT m.* FROM engram.agent_memory m WHERE m.scope_id = s.scope_id AND /*rows*/) m"
)
BY_ID: Final = "m.memory_id = ANY(%(wanted)s::uuid[])"
# Row by row: of a list the planner would guess that reading the whole tenant by another index is as cheap.
EACH: Final = (
    "unnest(%(wanted)s::uuid[]) w(memory_id) CROSS JOIN LATERAL (SELECT m.* FROM engram.agent_memory m"
    " WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = w.memory_id OFFSET 0) m"
)
# Their past, with the rest of their lineages.
AMONG: Final = (
    "engram.memories_at(%(scope_ids)s, %(as_of)s::timestamptz, %(known_at)s::timestamptz, %(wanted)s::uuid[]) m"
)
BY_LINEAGE: Final = "m.lineage_id = %(wanted)s::uuid"
_THEN: Final = "%(scope_ids)s::bigint[], %(as_of)s::timestamptz, %(known_at)s::timestamptz"
LINEAGE_THEN: Final = f"engram.lineages_at({_THEN}, ARRAY[%(wanted)s::uuid]) m"
LINEAGES_THEN: Final = f"engram.lineages_at({_THEN}, %(lineage_ids)s::uuid[]) m"
PINNED_THEN: Final = (
    f"engram.memories_around({_THEN}, ARRAY(SELECT c.memory_id FROM engram.memory_changes c"  # noqa: S608 - constants
    " WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = ANY(%(scope_ids)s)"
    " AND c.state ->> 'critical_slot' IS NOT NULL)) m"
)
SUPERSEDED_THEN: Final = (
    f"engram.memories_around({_THEN}, ARRAY("  # noqa: S608 - constants
    "SELECT %(memory_id)s::uuid UNION ALL SELECT o.memory_id FROM engram.agent_memory o"
    " WHERE o.tenant_id = %(tenant_id)s AND o.superseded_by = %(memory_id)s::uuid"
    " UNION ALL SELECT x.memory_id FROM engram.memory_changes c CROSS JOIN LATERAL ("
    "SELECT x.memory_id FROM engram.memory_changes x"
    " WHERE x.tenant_id = %(tenant_id)s AND x.event_id = c.event_id OFFSET 0) x"
    " WHERE c.tenant_id = %(tenant_id)s AND c.memory_id = %(memory_id)s::uuid)) m"
)
REACH: Final = 4  # times as many rows as a page of the past has are put together for it first


@lru_cache(maxsize=64)
def loading(moment: Moment, which: str, rows: str | None = None, more: str = "") -> str:
    """The statement that loads whole memories of a moment, chosen by a constant condition over one value.

    They come from `rows`, where another statement has them already, and with `more` columns; constants too.
    """
    now = "clock_timestamp()" if moment.is_now else AT
    if which == BY_ID and moment.is_now:
        rows, which = EACH, "true"
    elif which == BY_ID:
        rows = AMONG
    elif which == BY_LINEAGE and not moment.is_now:
        rows = LINEAGE_THEN
    filled = statement("load_memories").replace("/*source*/", rows or source(moment)).replace("/*now*/", now)
    return filled.replace("/*which*/", which).replace("/*more*/", more)


def _rows(conn: Connection, visible: Visible, moment: Moment, which: str, wanted: Any) -> list[Any]:
    params = visible_params(visible, moment) | {"wanted": wanted}
    return fetch_named(conn, loading(moment, which), params)


def resolve_id(conn: Connection, visible: Visible, memory_id: str) -> str:
    """The full id for a full or short one; NotFound when the scope has none, Conflict when a short one is ambiguous."""
    if not ids.is_short(memory_id):
        return ids.parse_id(memory_id, "memory_id")
    if not memory_id.startswith("mem-"):
        raise InvalidInput("memory_id", "the id of a memory", "the short id of something else")
    found = whole_ids(conn, visible, [memory_id]).get(memory_id)
    if found is None:
        raise NotFound("no memory with that id in this scope")
    return found


def whole_ids(conn: Connection, visible: Visible, short_ids: Iterable[str]) -> dict[str, str]:
    """The full ids of those short ones that the scope has, by them; Conflict when one of them is ambiguous."""
    by_ending: dict[str, list[str]] = {}
    for short in short_ids:
        by_ending.setdefault(short[-ids.SHORT_DIGITS :], []).append(short)
    if not by_ending or not visible.scope_ids:
        return {}
    known: dict[str, str] = {}
    for row in fetch_all(conn, "find_short_ids", endings=list(by_ending), **visible_params(visible)):
        digits = row.memory_id.replace("-", "")
        for short in by_ending[digits[-ids.SHORT_DIGITS :]]:
            if not digits.endswith(short.removeprefix("mem-")):
                continue
            if short in known:
                raise Conflict("the short id is ambiguous in this scope: give the full id")
            known[short] = row.memory_id
    return known


def find(conn: Connection, visible: Visible, memory_id: str, moment: Moment = NOW) -> Memory | None:
    """The memory with this id, or None."""
    try:
        full = resolve_id(conn, visible, memory_id)
    except NotFound:
        return None
    return next(iter(load(conn, visible, [full], moment)), None)


def find_at_once(conn: Connection, scope: Scope, memory_id: str) -> Memory | None:
    """The memory with this full id as it is now, or None; the scopes of the read are found by the same statement."""
    rows = _at_once(conn, "get_from_scope", scope, "with", memory_id=memory_id)
    return made(rows[0], tenancy.seen(scope, rows)) if rows else None


def lineage_at_once(conn: Connection, scope: Scope, memory_id: str) -> Lineage:
    """The same of the lineage of a memory, newest first; NotFound when the read sees none with that id."""
    rows = _at_once(conn, "lineage_from_scope", scope, "with", memory_id=memory_id)
    return _newest_first(rows, tenancy.seen(scope, rows))


def _at_once(conn: Connection, name: str, scope: Scope, shelves: Shelves, **given: Any) -> list[Any]:
    return fetch_named(conn, statement(name), tenancy.asked_at_once(scope, shelves) | given, binary=True)


def get(conn: Connection, visible: Visible, memory_id: str, moment: Moment = NOW) -> Memory:
    """The memory with this id; NotFound says the same for unknown, foreign and not yet known ids."""
    found = find(conn, visible, memory_id, moment)
    if found is None:
        raise NotFound("no memory with that id in this scope")
    return found


def list_memories(
    conn: Connection,
    visible: Visible,
    *,
    filter: Filter | None,
    sort: str,
    limit: int,
    cursor: str | None,
    moment: Moment,
    key: bytes,
) -> Page[Memory]:
    """A page of the memories of the readable scopes in a total order; current ones unless the filter names statuses."""
    binding = repr((visible.scope, sort, moment, filters.to_dict(filter)))
    keys = SORTS[sort]
    after, params = _after(keys, paging.decode_cursor(cursor, binding, key)) if cursor is not None else ("TRUE", {})
    if limit == 0 or not visible.scope_ids:
        return Page(())
    where, wanted = filters.to_sql(filter) if filter is not None else ("TRUE", {})
    standing = "TRUE" if filter is not None and filter.names_statuses() else current(moment)
    chosen = f"{VISIBLE} AND {standing} AND ({where}) AND ({after})"
    order = f"ORDER BY {', '.join(f'{name} {way}' for name, way in keys)} LIMIT %(limit)s"
    rows_of = f"{source(moment)}{ACTIVITY if sort == 'accessed' else ''} WHERE {chosen}"
    if moment.is_now and sort in BY_INDEX:
        rows_of = EACH_SCOPE.replace("/*rows*/", f"{chosen} {order}")
    params |= wanted | visible_params(visible, moment) | {"limit": limit + 1}
    shown = f"SELECT m.memory_id::text, {', '.join(f'({name})::text' for name, _ in keys)} FROM"
    rows: Sequence[Row[Any]] = ()
    whole = moment.is_now or sort not in BY_INDEX
    if not whole:
        # When a memory was recorded never changes: the first of the rows there are, as they stood then, are a page.
        reach = {"limit": REACH * (limit + 1)}
        first = EACH_SCOPE.replace("/*rows*/", f"m.tenant_id = %(tenant_id)s AND ({after}) {order}")
        reached = [str(row[0]) for row in conn.exec_driver_sql(f"{shown} {first} {order}", params | reach)]  # constants
        near = f"{shown} {AMONG} WHERE {chosen} AND {BY_ID} {order}"
        rows = conn.exec_driver_sql(near, params | {"wanted": reached}).fetchall()
        whole = len(rows) <= limit and len(reached) == reach["limit"]
    if whole:
        rows = conn.exec_driver_sql(f"{shown} {rows_of} {order}", params).fetchall()  # constants
    found = load(conn, visible, [str(row[0]) for row in rows[:limit]], moment)
    more = paging.encode_cursor(tuple(rows[limit - 1][1:]), binding, key) if len(rows) > limit else None
    return Page(tuple(found), more)


def _after(keys: Sequence[tuple[str, str]], position: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    """The condition for rows that come after a position in a total order, and its parameters."""
    parts = []
    for depth, (name, way) in enumerate(keys):
        equal = [f"{before} = {_typed(before, place)}" for place, (before, _) in enumerate(keys[:depth])]
        parts.append(" AND ".join([*equal, f"{name} {'<' if way == 'DESC' else '>'} {_typed(name, depth)}"]))
    return " OR ".join(f"({part})" for part in parts), {f"after{place}": value for place, value in enumerate(position)}


def _typed(name: str, place: int) -> str:
    kind = "text" if name.endswith("::text") else "float8" if name == "m.importance" else "timestamptz"
    return f"%(after{place})s::{kind}"


def lineage(conn: Connection, visible: Visible, lineage_id: str, moment: Moment = NOW) -> Lineage:
    """All revisions of one lineage the read may see, newest first; NotFound when there are none."""
    if not visible.scope_ids:
        rows = []
    elif moment.is_now:
        rows = _line(conn, visible, lineage_id, None)
    else:
        rows = _rows(conn, visible, moment, BY_LINEAGE, lineage_id)
    return _lineage(lineage_id, rows, visible)


def heads(conn: Connection, visible: Visible, lineage_ids: Sequence[str], moment: Moment = NOW) -> dict[str, Memory]:
    """The heads of some lineages that the read may see and that are current at a moment, by their lineages."""
    if not lineage_ids:
        return {}
    rows = "engram.agent_memory m" if moment.is_now else LINEAGES_THEN
    sql = statement("list_lineage_heads").replace("/*source*/", rows)
    found = fetch_named(conn, sql, visible_params(visible, moment) | {"lineage_ids": list(lineage_ids)})
    heads_of = load(conn, visible, [row.memory_id for row in found], moment)
    return {memory.lineage_id: memory for memory in heads_of if memory.stands}


def lineage_of(conn: Connection, visible: Visible, memory_id: str, moment: Moment = NOW) -> Lineage:
    """The lineage of a memory the read may see, newest first; NotFound when it sees none with that id."""
    if not moment.is_now:
        seen = get(conn, visible, memory_id, Moment(known_at=moment.known_at))
        return lineage(conn, visible, seen.lineage_id, moment)
    params = visible_params(visible) | {"memory_id": resolve_id(conn, visible, memory_id)}
    rows = fetch_named(conn, statement("call_lineage"), params, binary=True) if visible.scope_ids else []
    return _newest_first(rows, visible)


def _newest_first(rows: list[Any], visible: Visible) -> Lineage:
    if not rows:
        raise NotFound("no memory with that id in this scope")
    rows.sort(key=lambda row: row.revision, reverse=True)
    return _lineage(rows[0].lineage_id, rows, visible)


def lineage_and_rivals(
    conn: Connection, visible: Visible, lineage_id: str, memory_id: str
) -> tuple[Lineage | None, list[Memory]]:
    """A lineage as it is now, None where there is none, and what contradicts one memory without a key, at once."""
    rows = _line(conn, visible, lineage_id, memory_id) if visible.scope_ids else []
    rivals = [made(row, visible) for row in rows if row.rival]
    own = [row for row in rows if row.lineage_id == lineage_id]
    return _lineage(lineage_id, own, visible) if own else None, rivals


def _line(conn: Connection, visible: Visible, lineage_id: str, memory_id: str | None) -> list[Any]:
    params = visible_params(visible) | {"lineage_id": lineage_id, "memory_id": memory_id}
    return fetch_named(conn, statement("list_line"), params, binary=True)


def _lineage(lineage_id: str, rows: Sequence[Any], visible: Visible) -> Lineage:
    if not rows:
        raise NotFound("no lineage with that id in this scope")
    revisions = tuple(made(row, visible) for row in rows)
    moot = {row.memory_id for row in rows if row.moot}
    head = next((memory for memory in revisions if memory.stands and memory.memory_id not in moot), None)
    contested = tuple(memory for memory in revisions if memory.status == "contested")
    return Lineage(lineage_id, revisions[0].conflict_key, head, revisions, contested)


def lineage_of_topic(conn: Connection, visible: Visible, topic_key: str, moment: Moment = NOW) -> Lineage:
    """The lineage of a caller's topic key, the nearest scope first; NotFound when no memory has it."""
    line = lineage_of_key(conn, visible, f"topic:{text.normalise_key(topic_key)}", moment)
    if line is None:
        raise NotFound("no memory with that topic key in this scope")
    return line


def lineage_of_key(conn: Connection, visible: Visible, conflict_key: str, moment: Moment = NOW) -> Lineage | None:
    """The lineage of a conflict key, the nearest scope first; None when no memory has it."""
    params = visible_params(visible)
    rows = fetch_all(conn, "find_lineage_of_key", conflict_key=conflict_key, **params) if visible.scope_ids else []
    for row in sorted(rows, key=lambda row: visible.nearness[int(row.scope_id)]):
        with suppress(NotFound):  # a nearer one may not have been known then
            return lineage(conn, visible, str(row.lineage_id), moment)
    return None


def recall_critical(
    conn: Connection, visible: Visible, *, memory_types: Sequence[str] | None, limit: int, max_tokens: int | None,
    strict: bool,
    moment: Moment = NOW, count: Any = text.count_tokens,
) -> CriticalMemories:  # fmt: skip
    """Every pinned memory of the readable scopes: no vectors, no model, no ranking; what does not fit is named."""
    if not visible.scope_ids:
        return CriticalMemories(())
    types = _types_of(memory_types)
    found = _pinned_now(conn, visible, types) if moment.is_now else _pinned_then(conn, visible, types, moment)
    found = _of_types(found, memory_types)
    return _fitting(chosen_critical(found, visible, limit=limit, max_tokens=max_tokens, count=count), strict=strict)


def critical_at_once(
    conn: Connection, scope: Scope, *, memory_types: Sequence[str] | None, limit: int, max_tokens: int | None,
    strict: bool,
) -> CriticalMemories:  # fmt: skip
    """The same as it is now; the scopes of the read are found by the same statement."""
    rows = _at_once(conn, "pinned_from_scope", scope, "without", memory_types=_types_of(memory_types))
    visible = tenancy.seen(scope, rows)
    found = _of_types(_in_order(rows, visible), memory_types)
    return _fitting(chosen_critical(found, visible, limit=limit, max_tokens=max_tokens), strict=strict)


def _types_of(names: Sequence[str] | None) -> list[str] | None:
    """The types that names of types, or sister names, stand for. Pure."""
    return None if names is None else [TYPE_ALIASES[name][0] for name in names]


def _of_types(found: list[Memory], names: Sequence[str] | None) -> list[Memory]:
    """Those of the types' memories that are of the category, too, which a sister name may stand for. Pure."""
    if names is None:
        return found
    return [memory for memory in found if is_of_type(names, memory.memory_type, memory.category)]


def _fitting(chosen: CriticalMemories, *, strict: bool) -> CriticalMemories:
    if strict and chosen.omitted:
        kept = len(chosen.results)
        raise LimitExceeded("recall_critical", kept, kept + len(chosen.omitted), "critical memories within the budget")
    return chosen


def _pinned_now(conn: Connection, visible: Visible, types: list[str] | None) -> list[Memory]:
    params = visible_params(visible) | {"memory_types": types}
    return _in_order(fetch_named(conn, statement("call_pinned"), params, binary=True), visible)


def _in_order(rows: list[Any], visible: Visible) -> list[Memory]:
    places = {kind: place for place, kind in enumerate(CRITICAL_ORDER)}
    rows.sort(key=lambda row: row.memory_id)
    rows.sort(key=lambda row: row.recorded_at, reverse=True)
    rows.sort(key=lambda row: places.get(row.memory_type, len(places)))
    return [made(row, visible) for row in rows]


def _pinned_then(conn: Connection, visible: Visible, types: list[str] | None, moment: Moment) -> list[Memory]:
    sql = (
        f"SELECT m.memory_id::text FROM {PINNED_THEN} WHERE {VISIBLE} AND {current(moment)}"  # noqa: S608 - constants
        " AND m.critical_slot IS NOT NULL AND NOT m.moot"
        " AND (%(memory_types)s::text[] IS NULL OR m.memory_type = ANY(%(memory_types)s))"
        " ORDER BY coalesce(array_position(%(order)s::text[], m.memory_type), 99), m.recorded_at DESC, m.memory_id"
    )
    params = visible_params(visible, moment) | {"memory_types": types, "order": list(CRITICAL_ORDER)}
    rows = conn.exec_driver_sql(sql, params).fetchall()
    return load(conn, visible, [row.memory_id for row in rows], moment)


def chosen_critical(
    found: list[Memory], visible: Visible, *, limit: int, max_tokens: int | None = None, count: Any = text.count_tokens
) -> CriticalMemories:
    """Of the pinned memories of a read the nearest of each slot, as many as fit; the others are named. Pure."""
    shown = _nearest_of_each_slot(found, visible)
    kept, omitted, used = fit(shown, limit=limit, max_tokens=max_tokens, count=count)
    return CriticalMemories(tuple(kept), tuple(memory.memory_id for memory in omitted), used, not omitted)


def fit(
    found: Iterable[Memory], *, limit: int, max_tokens: int | None, count: Any = text.count_tokens
) -> tuple[list[Memory], list[Memory], int]:
    """What fits a limit and a budget, in order; a memory that does not fit is skipped, not the end. Pure."""
    kept: list[Memory] = []
    omitted: list[Memory] = []
    used = 0
    for memory in found:
        cost = count(memory.fact)
        if len(kept) < limit and (max_tokens is None or used + cost <= max_tokens):
            kept.append(memory)
            used += cost
        else:
            omitted.append(memory)
    return kept, omitted, used


def _nearest_of_each_slot(found: list[Memory], visible: Visible) -> list[Memory]:
    """S-5: of one slot in several scopes the nearest is shown, unless a farther one is trusted more: then both."""
    near = {scope: visible.nearness[scope_id] for scope_id, scope in visible.scopes.items()}

    def hidden(memory: Memory) -> bool:
        return any(
            other.critical_slot == memory.critical_slot
            and other.scope.agent_id == memory.scope.agent_id
            and near[other.scope] < near[memory.scope]
            and trust_rank(other.trust) <= trust_rank(memory.trust)
            for other in found
        )  # fmt: skip

    return [memory for memory in found if memory.critical_slot is None or not hidden(memory)]


def made(row: Any, visible: Visible) -> Memory:
    """The memory of a row of `loading`. Pure."""
    forgotten = row.status_reason == "since_forgotten"
    labels: tuple[str, ...] = ()
    if row.moot or row.expired or row.ended or forgotten:
        held = ("moot", row.moot), ("expired", row.expired), ("ended", row.ended), ("since_forgotten", forgotten)
        labels = tuple(label for label, holds in held if holds)
    return Memory(
        memory_id=row.memory_id, scope=visible.scopes[int(row.scope_id)], fact=row.fact, main_content=row.main_content,
        memory_type=row.memory_type, category=row.category, tags=tuple(row.tags), importance=row.importance,
        confidence=row.confidence, trust=TRUSTS[row.trust], layer=row.layer, status=row.status,
        status_reason=row.status_reason,
        critical_slot=row.critical_slot, conflict_key=row.conflict_key, topic_key=row.topic_key, subject=row.subject,
        attribute=row.attribute, value=row.value, lineage_id=row.lineage_id, revision=row.revision,
        superseded_by=row.superseded_by, superseded_at=row.superseded_at, consolidated_into=row.consolidated_into,
        valid_from=row.valid_from, valid_from_stated=row.valid_from_stated, valid_to=row.valid_to,
        recorded_at=row.recorded_at,
        expires_at=row.expires_at, surprise=row.surprise, source=row.source, session_id=row.session_id,
        task_run_id=row.task_run_id, metadata=row.metadata if isinstance(row.metadata, dict) else {},
        private=row.private, deriver=row.deriver,
        deriver_version=row.deriver_version, policy=f"{row.policy}@{row.policy_version}", rule=row.rule,
        embedded=row.embed_state == "embedded", event_id=row.event_id, actor=row.actor, labels=labels,
        citations=tuple(Citation(c[0], c[1], c[2], c[3], None, c[4]) for c in row.citations),
        activity=Activity(
            row.access_count or 0, row.last_accessed_at, row.repetition_count or 0, row.positive or 0, row.negative or 0
        ),
    )  # fmt: skip


def day_of(memory: Memory, tz: tzinfo) -> date:
    """The day since which a memory holds, in a zone; a bare date, stated as midnight UTC, stays that day. Pure."""
    at = memory.valid_from.astimezone(UTC)
    return (at if memory.valid_from_stated and at.time() == time.min else at.astimezone(tz)).date()


def with_quotes(memory: Memory, contents: Mapping[str, str | None]) -> Memory:
    """The memory with the quoted characters of each citation filled in from the contents of its events."""

    def quoted(citation: Citation) -> Citation:
        content = contents.get(citation.event_id)
        return (
            citation if content is None else replace(citation, quote=content[citation.char_start : citation.char_end])
        )

    return replace(memory, citations=tuple(quoted(citation) for citation in memory.citations))
