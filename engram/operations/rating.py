"""Rating: feedback on memories that were recalled, as one run of the life cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from engram import inputs, memories, tenancy, writing
from engram.database import Connection, execute, fetch_one
from engram.errors import Conflict, IdempotencyMismatch, InvalidInput, NotFound
from engram.lifecycle import feedback as rules
from engram.operations import changing, living, spaces, steps
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.recall import log
from engram.values import Change, Memory
from engram.writing import Desk

STEP: Final = "feedback"


def feedback(
    setup: Setup, memory_ids: object, value: object, *, recall_id: object, note: object, given: Mapping[str, Any]
) -> Operation[tuple[Memory, ...]]:
    """Rate some memories, all of them or none."""
    call = setup.writing(given)
    several = [memory_ids] if isinstance(memory_ids, str) else inputs.items(memory_ids, "memory_ids", living.MOST_IDS)
    wanted = [inputs.memory_id(one, "memory_ids") for one in several]
    if isinstance(value, bool) or not isinstance(value, int) or value not in (1, -1):
        raise InvalidInput("value", "1 or -1", "another number" if type(value) is int else type(value).__name__)
    chosen = cast("rules.Rating", value)
    of = inputs.optional(inputs.event_id, recall_id, "recall_id")
    said = inputs.optional(call.censor.checking(inputs.note), note, "note")
    if said is not None and call.reason is not None:
        raise InvalidInput("note", "a note or a reason, which is the same", "both")
    if not wanted:
        return ()
    call = replace(call, reason=said or call.reason)
    setup = yield from spaces.ready(setup, call.tenant_id)
    named = yield from steps.read(call.tenant_id, lambda conn: _named(conn, call, wanted, of))
    run = yield from living.opened(
        call, STEP, asked={"memory_ids": named, "value": chosen, "recall_id": of}, later=True
    )
    changes: list[Change] = []

    def work(conn: Connection) -> list[Memory]:
        desk = setup.desk(conn, call.scope, reason=call.reason)
        living.hold(desk, run)
        if not _done_before(desk, run, named, chosen, of):
            living.begin(conn, run)
            changes[:] = _rate(setup, desk, run, named, chosen)
            if not call.dry_run:
                execute(
                    conn, "add_feedback", tenant_id=desk.tenant_id, run_id=run.run_id, scope_id=desk.scope_id,
                    value=chosen, memory_ids=named, recall_id=of,
                )  # fmt: skip
        return memories.load(conn, desk.visible, named)

    found = yield from steps.write(call.tenant_id, steps.undone(work) if call.dry_run else work, key=run.run_id)
    if not call.dry_run:
        yield from living.closed(run, changes)
    return tuple(found)


def _named(conn: Connection, call: Writing, wanted: Sequence[str], recall_id: str | None) -> list[str]:
    """The whole ids of the memories, each once; NotFound for a memory or a recall that the caller cannot see."""
    visible = tenancy.visible(conn, call.scope)
    if recall_id is not None:
        log.get(conn, visible, recall_id)
    held = [memories.get(conn, visible, one) for one in wanted]
    if call.idempotency_key is None:  # a call with a key may have rated them before they were erased
        _refuse_erased(held)
    return list(dict.fromkeys(one.memory_id for one in held))


def _refuse_erased(held: Sequence[Memory]) -> None:
    if any(one.status_reason == "erased" for one in held):
        raise Conflict(changing.ERASED)


def _done_before(desk: Desk, run: living.Run, named: Sequence[str], value: int, recall_id: str | None) -> bool:
    """Whether an earlier call with this key rated the same; IdempotencyMismatch where it rated something else."""
    row = fetch_one(desk.conn, "find_feedback", tenant_id=desk.tenant_id, run_id=run.run_id)
    if row is None:  # or what it rated stayed behind, where its scope was exported
        return not run.call.is_own_key and living.ended(desk.conn, desk.visible, run) is not None
    if (row.memory_ids, row.value, row.recall_id) != (list(named), value, recall_id):
        raise IdempotencyMismatch
    return True


def _rate(setup: Setup, desk: Desk, run: living.Run, named: Sequence[str], value: rules.Rating) -> list[Change]:
    """Move the confidence of memories from where it stands under their locks, one event for each of their scopes."""
    chosen: dict[int, list[Memory]] = {}
    held = _locked(desk, named)
    _refuse_erased(held)
    for memory in held:
        scope_id = desk.visible.id_of(memory.scope)
        chosen.setdefault(scope_id, []).append(memory)
    changes: list[Change] = []
    for scope_id, found in sorted(chosen.items()):
        deeds = [rules.deed(memory, value, setup.policy) for memory in found]
        changes += living.perform(setup, replace(desk, scope_id=scope_id), run, deeds)
    return changes


def _locked(desk: Desk, named: Sequence[str]) -> list[Memory]:
    """The memories as they stand under the locks of their lineages."""
    names: set[str] = set()
    scopes = {scope: scope_id for scope_id, scope in desk.visible.scopes.items()}
    while True:
        found = memories.load(desk.conn, desk.visible, named)
        if len(found) < len(named):
            raise NotFound("no memory with that id in this scope")
        theirs = {
            name for one in found for name in writing.lineage_locks(one.lineage_id, scopes[one.scope], one.conflict_key)
        }
        if theirs <= names:
            return found
        names |= theirs
        writing.lock(desk, [], *sorted(names), scopes=sorted({scopes[one.scope] for one in found}))
