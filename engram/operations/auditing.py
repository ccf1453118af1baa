"""Auditing: who changed what, why, and what undoing it would take back. A pure read over the history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy.engine import Row

from engram import history, inputs, ledger, memories, newest, paging, tenancy
from engram.database import Connection, fetch_named
from engram.errors import InvalidInput
from engram.lifecycle.deeds import STATE
from engram.operations import steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.tenancy import Visible
from engram.values import AuditEntry, Change, Page


def audit_log(
    setup: Setup, *, memory_id: object, actor: object, since: object, until: object, limit: object, cursor: object,
    given: Mapping[str, Any],
) -> Operation[Page[AuditEntry]]:  # fmt: skip
    """The changes of the readable scopes' memories, newest first."""
    scope, most = setup.reading(given).scope, inputs.limit(limit)
    wanted = inputs.optional(inputs.memory_id, memory_id)
    who = inputs.optional(inputs.name, actor, "actor")
    who = who and setup.censored(who, "actor")  # as it was kept
    start, end = inputs.optional(inputs.moment, since, "since"), inputs.optional(inputs.moment, until, "until")
    if start is not None and end is not None and end <= start:
        raise InvalidInput("until", "a time after since", "one that is not")
    place = inputs.optional(paging.check_cursor, cursor)

    def work(conn: Connection) -> Page[AuditEntry]:
        visible = tenancy.visible(conn, scope, shelves="without" if wanted is None else "with")
        named = None if wanted is None else memories.get(conn, visible, wanted).memory_id
        binding = repr(("audited", visible.scope, named, who, start, end))
        position = paging.decode_cursor(place, binding, setup.cursor_key) if place is not None else ()
        if not most or not visible.scope_ids:
            return Page(())
        walk = newest.of_scopes(visible.scope_ids, position) if named is None else newest.of_memories(position)
        newest.check(conn, scope.tenant_id, walk, position)
        rows = fetch_named(conn, walk.sql("list_audit").replace("/*entry*/", history.CALLED), walk.params() | {
            "tenant_id": scope.tenant_id, "scope_ids": list(visible.scope_ids), "own": visible.own,
            "memory_ids": [named], "actor": who, "since": start, "until": end, "limit": most + 1,
        })  # fmt: skip
        last = newest.cursor(walk, rows, most, binding, setup.cursor_key)
        unsaid = history.unsaid_reasons(conn, visible, rows[:most])
        why = _reasons(conn, visible, rows[:most])
        return Page(tuple(_entry(row, why, told=row.event_id not in unsaid) for row in rows[:most]), last)

    return (yield from steps.read(scope.tenant_id, work))


def _reasons(conn: Connection, visible: Visible, rows: Sequence[Row[Any]]) -> dict[str, str]:
    """Why the events were recorded of which derivers made changes, by their ids: such a change has no reason itself."""
    made_of = {row.event_id for row in rows if row.reason is None and row.event_id is not None}
    found = ledger.get_many(conn, sorted(made_of), scope_ids=visible.scope_ids) if made_of else {}
    said = ((event_id, event.payload.get("reason")) for event_id, event in found.items())
    return {event_id: reason for event_id, reason in said if isinstance(reason, str)}


def _entry(row: Row[Any], why: Mapping[str, str], *, told: bool) -> AuditEntry:
    return AuditEntry(
        at=row.recorded_at, entry=row.entry, memory_id=row.memory_id, fact=row.fact, actor=row.actor,
        reason=(row.reason or why.get(row.event_id)) if told else None,
        because=row.because, step=row.step, run_id=row.run_id, event_id=row.event_id, undone=row.undone,
        changes=tuple(_changes(row)),
    )  # fmt: skip


def _changes(row: Row[Any]) -> Iterator[Change]:
    """What the change did, column by column: what undoing it would take back."""
    because = row.because or ""
    if row.after is None:
        return
    if row.before is None:
        yield Change(row.memory_id, "memory", row.previous_id, row.memory_id, because)
        return
    for name in sorted(STATE & set(row.before) & set(row.after)):
        if row.before[name] != row.after[name]:
            yield Change(row.memory_id, name, row.before[name], row.after[name], because)
