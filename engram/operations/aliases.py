"""The names other memory libraries use, so that code written for them ports in minutes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from engram import inputs, memories, tenancy
from engram.database import Connection
from engram.errors import Conflict, InvalidInput, NotFound
from engram.filters import Filter
from engram.memories import Moment
from engram.operations import changing, reading, recalling, steps
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.scope import Ids, Scope
from engram.values import HistoryEntry, Memory, Page, Status, WriteDecision

FORGETTABLE: Final[tuple[Status, ...]] = ("active", "superseded", "contested", "archived")


def update(
    setup: Setup, memory_id: object, fact: object, fields: Mapping[str, Any]
) -> Operation[WriteDecision | Memory]:
    """Revise when a fact is given, otherwise annotate; both at once are refused, as two changes are no single one."""
    attributes = {name: value for name, value in fields.items() if name in changing.ATTRIBUTES}
    if fact is None:
        return (yield from changing.annotate(setup, memory_id, fields))
    if attributes:
        raise InvalidInput("fact", "a new fact or new attributes, one after the other (revise, annotate)", "both")
    return (
        yield from changing.revise(
            setup, memory_id, fact, main_content=None, valid_from=None, expected_revision=None, given=fields
        )
    )


def context_block(setup: Setup, query: object, max_tokens: object, given: Mapping[str, Any]) -> Operation[str]:
    """The text of a context, and nothing else of it."""
    block = yield from recalling.build_context(
        setup, query, task_run_id=None, session_id=None, max_tokens=max_tokens, sections=None, format="markdown",
        include_graph=True, group_by=None, detail="full", metadata=False, min_trust="web", strict=False,
        token_counter=None, given=given,
    )  # fmt: skip
    return block.text


def delete_all(setup: Setup, given: Mapping[str, Any]) -> Operation[tuple[str, ...]]:
    """Forget every memory of exactly one scope, which must be named, whatever has become of it meanwhile."""
    if not any(name in Ids.__annotations__ and name != "shared" for name in given):
        raise InvalidInput("user_id", "the scope whose memories are to be forgotten", "none named")
    call = setup.writing(given)
    tried: set[str] = set()
    forgotten: dict[str, None] = {}
    while True:
        found = yield from steps.read(call.tenant_id, lambda conn: _kept(setup, conn, call.scope))
        left = [memory_id for memory_id in found if memory_id not in tried]
        for memory_id in left:
            tried.add(memory_id)
            if memory_id not in forgotten:
                # Each is a change of its own, so each needs a key of its own.
                own_key = (
                    {} if call.idempotency_key is None else {"idempotency_key": _key(call.idempotency_key, memory_id)}
                )
                try:
                    done = yield from changing.forget(setup, memory_id, False, {**given, **own_key})
                except (Conflict, NotFound):
                    if not (yield from _is_gone(call, memory_id)):
                        raise
                else:
                    forgotten.update(dict.fromkeys(done))
        if not left or call.dry_run:  # one that was put away may free others, and somebody may write meanwhile
            return tuple(forgotten)


def _kept(setup: Setup, conn: Connection, scope: Scope) -> list[str]:
    """The memories of exactly one scope that can be forgotten, oldest first."""
    scope_id = tenancy.find(conn, scope)
    visible = tenancy.visible(conn, scope)
    if scope_id is None:
        return []
    own = tenancy.Visible(scope, (scope_id,), visible.own, visible.nearness, visible.scopes)
    found: list[str] = []
    cursor = None
    while True:
        page = memories.list_memories(
            conn, own, filter=Filter(statuses=FORGETTABLE), sort="oldest", limit=inputs.RESULTS, cursor=cursor,
            moment=Moment(), key=setup.cursor_key,
        )  # fmt: skip
        found.extend(memory.memory_id for memory in page)
        cursor = page.cursor
        if cursor is None:
            return found


def _is_gone(call: Writing, memory_id: str) -> Operation[bool]:
    """Whether somebody erased a memory meanwhile, or put a replay without it in its place: more than to forget it."""
    found = yield from steps.read(
        call.tenant_id, lambda conn: memories.find(conn, tenancy.visible(conn, call.scope), memory_id)
    )
    return found is None or found.status_reason == "erased"


def _key(key: str, memory_id: str) -> str:
    return f"delete_all/{hashlib.sha256(f'{key}/{memory_id}'.encode()).hexdigest()}"


def history(setup: Setup, memory_id: object, given: Mapping[str, Any]) -> Operation[Page[HistoryEntry]]:
    """The history of one memory."""
    look = reading.get_history(
        setup, memory_id=inputs.memory_id(memory_id), filter=None, since=None, until=None, include_superseded=True,
        limit=50, cursor=None, given=given,
    )  # fmt: skip
    return (yield from look)
