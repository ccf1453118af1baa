"""History: every change of every memory, and why a memory is believed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from engram import filters, ledger, memories, newest, paging
from engram.database import Connection, fetch_all, fetch_named, statement
from engram.filters import Filter
from engram.memories import VISIBLE, Moment, visible_params
from engram.newest import Walk
from engram.tenancy import Visible
from engram.values import Event, HistoryEntry, Memory, MemoryExplanation, Page, WriteDecision

UNSAID: Final[Mapping[str, Any]] = {  # of a decision
    "memory_id": None, "target_id": None, "event_id": None, "fact": None, "surprise": None, "options": [], "hints": [],
    "rule": None,
}  # fmt: skip
ENTRIES: Final = (
    "added", "revised", "superseded", "reinforced", "contested", "archived", "restored", "forgotten", "expired",
    "erased",
    "annotated", "ended", "reordered", "endorsed", "rated",
)  # fmt: skip
CALLED: Final = (  # rows keep what erasures and replays go by: there only a statement that came again is `reinforced`
    "CASE WHEN h.entry = 'revised' AND h.status = 'contested' THEN 'contested'"
    " WHEN h.entry = 'annotated' AND h.because IS NULL THEN coalesce((SELECT CASE x.event_type"
    " WHEN 'memory_reinforced' THEN 'reinforced' WHEN 'memory_endorsed' THEN 'endorsed' END FROM engram.agent_events x"
    " WHERE x.tenant_id = %(tenant_id)s AND x.event_id = h.event_id), h.entry) ELSE h.entry END"
)


def get_history(
    conn: Connection, visible: Visible, *, memory_id: str | None, filter: Filter | None, since: datetime | None,
    until: datetime | None, include_superseded: bool, limit: int, cursor: str | None, moment: Moment, key: bytes,
) -> Page[HistoryEntry]:  # fmt: skip
    """The changes of a memory's lineage, or of a whole scope, newest first."""
    lineage_id = memories.get(conn, visible, memory_id, moment).lineage_id if memory_id is not None else None
    binding = repr(
        ("changes", visible.scope, lineage_id, moment, filters.to_dict(filter), since, until, include_superseded)
    )
    position = paging.decode_cursor(cursor, binding, key) if cursor is not None else ()
    if limit == 0 or not visible.scope_ids:
        return Page(())
    where, wanted = filters.to_sql(filter) if filter is not None else ("TRUE", {})
    named = None if filter is None else filter.memory_ids
    if lineage_id is not None:
        walk: Walk = newest.of_lineage(position)
    elif named is not None:
        walk = newest.of_memories(position)
    else:
        walk = newest.of_scopes(visible.scope_ids, position)
    newest.check(conn, visible.scope.tenant_id, walk, position)
    known = Moment(known_at=moment.known_at)
    params = wanted | visible_params(visible, known) | {
        "entries": list(ENTRIES), "lineage_id": lineage_id, "since": since, "until": until,
        "include_superseded": include_superseded, "limit": limit + 1, "memory_ids": list(dict.fromkeys(named or ())),
    }  # fmt: skip
    if known.is_now:
        rows = fetch_named(conn, _sql(walk, where), params | walk.params())
    else:
        rows = _as_they_stood(conn, walk, where, params)
    whole = {m.memory_id: m for m in memories.load(conn, visible, sorted({row.memory_id for row in rows}), known)}
    unsaid = unsaid_reasons(conn, visible, rows)
    entries = tuple(
        HistoryEntry(
            row.recorded_at,
            row.entry,
            whole[row.memory_id],
            row.previous_id,
            row.heir,
            None if row.event_id in unsaid else row.reason,
            row.actor,
            row.event_id,
        )
        for row in rows[:limit]
        if row.memory_id in whole
    )
    return Page(entries, newest.cursor(walk, rows, limit, binding, key))


def _sql(walk: Walk, where: str) -> str:
    sql = walk.sql("list_history").replace("/*entry*/", CALLED)
    return sql.replace("/*visible*/", VISIBLE).replace("/*filter*/", where)


def _as_they_stood(conn: Connection, walk: Walk, where: str, params: Mapping[str, Any]) -> list[Any]:
    """The newest changes of those memories that are asked for as they stood then: read on until there are enough."""
    asked_for = (
        f"SELECT m.memory_id::text FROM {memories.AMONG} WHERE {memories.BY_ID} AND {VISIBLE}"  # noqa: S608 - constants
        f" AND (%(include_superseded)s OR m.status = 'active') AND ({where})"
    )
    most, found, reach = params["limit"], list[Any](), params["limit"]
    while True:
        rows = fetch_named(
            conn, _sql(walk, "TRUE"), {**params, **walk.params(), "limit": reach, "include_superseded": True}
        )
        named = {"wanted": sorted({row.memory_id for row in rows})}
        kept = {row.memory_id for row in fetch_named(conn, asked_for, {**params, **named})}
        found += [row for row in rows if row.memory_id in kept]
        if len(rows) < reach or len(found) >= most:
            return found[:most]
        walk, reach = walk.after(rows), memories.REACH * reach


def decisions_of(
    conn: Connection, visible: Visible, *, memory_id: str | None = None, event_ids: Sequence[str] = (),
    moment: Moment = memories.NOW,
) -> list[Mapping[str, Any]]:  # fmt: skip
    """The decisions, in the form the history keeps, that concern a memory or came of some events, in order."""
    rows = fetch_all(
        conn, "list_decisions", memory_id=memory_id, event_ids=list(dict.fromkeys(event_ids)),
        **visible_params(visible, moment),
    ) if visible.scope_ids else []  # fmt: skip
    return _shown(conn, visible, [_whole(row.decision, row.facts or {}) for row in rows])


def list_decisions(
    conn: Connection, visible: Visible, *, kind: str | None, since: datetime | None, limit: int, cursor: str | None,
    moment: Moment, key: bytes,
) -> Page[Mapping[str, Any]]:  # fmt: skip
    """A page of the decisions of some scopes, in the form the history keeps, newest first; `as_of` leaves none out."""
    binding = repr(("decided", visible.scope, kind, since, moment))
    position = paging.decode_cursor(cursor, binding, key) if cursor is not None else ()
    if limit == 0 or not visible.scope_ids:
        return Page(())
    walk = newest.of_scopes(visible.scope_ids, position)
    newest.check(conn, visible.scope.tenant_id, walk, position)
    rows = fetch_named(conn, walk.sql("list_newest_decisions"), {
        **visible_params(visible, moment), **walk.params(), "kind": kind, "since": since, "limit": limit + 1,
    })  # fmt: skip
    shown = _shown(conn, visible, [_whole(row.decision, row.facts or {}) for row in rows[:limit]])
    return Page(tuple(shown), newest.cursor(walk, rows, limit, binding, key))


def _shown(conn: Connection, visible: Visible, kept: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Decisions as a reader may see them: what one was compared with may be a private memory of another scope."""
    near = sorted({neighbour["memory_id"] for decision in kept for neighbour in decision["nearest"]})
    hidden = private_memories(conn, visible, near)
    return [_without(decision, hidden) for decision in kept] if hidden else kept


def _without(decision: Mapping[str, Any], hidden: Collection[str]) -> dict[str, Any]:
    """A decision that names none of some memories. Pure."""
    nearest = [one for one in decision["nearest"] if one["memory_id"] not in hidden]
    surprise = decision["surprise"]
    if surprise is not None and surprise.get("closest_id") in hidden:
        surprise = {**surprise, "closest_id": None}
    return {**decision, "nearest": nearest, "surprise": surprise}


def _whole(kept: Mapping[str, Any], facts: Mapping[str, str]) -> dict[str, Any]:
    """A decision with what the history leaves out: what it says nothing in, and the facts of its neighbours. Pure."""
    nearest = [{"fact": facts.get(near["memory_id"], ""), **near} for near in kept["nearest"]]
    return {**UNSAID, **kept, "nearest": nearest}


def private_memories(conn: Connection, visible: Visible, memory_ids: Sequence[str]) -> frozenset[str]:
    """Those of some memories that are private to other scopes than the reader's own."""
    if not memory_ids or visible.own_ids is None:
        return frozenset()
    params = {"tenant_id": visible.scope.tenant_id, "memory_ids": list(memory_ids), "own": visible.own}
    return frozenset(row.memory_id for row in fetch_all(conn, "list_private_memories", **params))


def private_events(conn: Connection, visible: Visible, event_ids: Sequence[str]) -> frozenset[str]:
    """Those of some events that speak of private memories of other scopes than the reader's own."""
    if not event_ids or visible.own_ids is None:
        return frozenset()
    rows = fetch_all(
        conn, "list_private_events", tenant_id=visible.scope.tenant_id, event_ids=list(event_ids), own=visible.own
    )
    return frozenset(row.event_id for row in rows)


def unsaid_reasons(conn: Connection, visible: Visible, rows: Sequence[Any]) -> frozenset[str]:
    """The events of some changes whose reasons are as private as a memory they speak of; those of runs are told."""
    return private_events(conn, visible, sorted({row.event_id for row in rows if row.event_id and not row.run_id}))


def explain_memory(
    conn: Connection, visible: Visible, memory_id: str, decide: Any, moment: Moment = memories.NOW
) -> MemoryExplanation:
    """Why a memory is believed: sources with their characters, deriver, rule, lineage, decisions. A pure read."""
    memory = memories.get(conn, visible, memory_id, moment)
    line = memories.lineage(conn, visible, memory.lineage_id, moment)
    cited = sorted({citation.event_id for citation in memory.citations})
    hidden = private_events(conn, visible, cited)
    events = ledger.get_many(conn, [one for one in cited if one not in hidden], scope_ids=visible.scope_ids)
    contents = {event_id: event.content for event_id, event in events.items()}
    memory = memories.with_quotes(memory, contents)
    decided: tuple[WriteDecision, ...] = tuple(
        decide(kept, memory, line.head)
        for kept in decisions_of(conn, visible, memory_id=memory.memory_id, moment=moment)
    )
    rated = _feedback(conn, visible, memory, moment)
    return MemoryExplanation(
        memory=memory, head=line.head, lineage=line, supersedes=_superseded_by(conn, visible, memory, moment),
        superseded_by=memory.superseded_by, citations=memory.citations,
        derivation=_derivation(memory) | _model(conn, visible, memory, moment),
        decisions=decided, feedback=rated,
    )  # fmt: skip


def _superseded_by(conn: Connection, visible: Visible, memory: Memory, moment: Moment) -> tuple[str, ...]:
    """The memories that a memory supersedes at a moment, the latest revision first."""
    rows = memories.source(moment) if moment.is_now else memories.SUPERSEDED_THEN
    sql = statement("list_superseded_by").replace("/*source*/", rows).replace("/*visible*/", VISIBLE)
    params = {**visible_params(visible, moment), "memory_id": memory.memory_id}
    return tuple(row.memory_id for row in fetch_named(conn, sql, params))


def _feedback(conn: Connection, visible: Visible, memory: Memory, moment: Moment) -> tuple[Event, ...]:
    """The events that rated a memory, oldest first, without those that speak of what the reader may not see."""
    asked = {"tenant_id": visible.scope.tenant_id, "memory_id": memory.memory_id, "known_at": moment.known_at}
    rated = [row.event_id for row in fetch_all(conn, "list_feedback", **asked)]
    hidden = private_events(conn, visible, rated)
    found = ledger.get_many(conn, [one for one in rated if one not in hidden], scope_ids=visible.scope_ids)
    return tuple(found[one] for one in rated if one in found)


def _model(conn: Connection, visible: Visible, memory: Memory, moment: Moment) -> dict[str, str]:
    """The language model that gave a memory, or cited it first, and the hash of the prompt it was asked with."""
    asked = {"tenant_id": visible.scope.tenant_id, "memory_id": memory.memory_id, "known_at": moment.known_at}
    rows = fetch_all(conn, "list_statements", **asked)
    return {"model": rows[0].model, "prompt_hash": rows[0].prompt_hash} if rows else {}


def _derivation(memory: Memory) -> dict[str, str]:
    facts = {
        "deriver": memory.deriver, "version": None if memory.deriver_version is None else str(memory.deriver_version),
        "policy": memory.policy, "rule": memory.rule, "event_id": memory.event_id, "trust": memory.trust,
    }  # fmt: skip
    return {name: value for name, value in facts.items() if value is not None}
