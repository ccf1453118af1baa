"""Sessions, at the door: open, end, get and list them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engram import ids, inputs, ledger, paging, sessions, tenancy
from engram.database import Connection
from engram.errors import IdempotencyMismatch, InvalidInput, NotFound
from engram.memories import NOW
from engram.operations import running, steps
from engram.operations.arguments import SessionWrite
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.sessions import Visit
from engram.values import Event, Page, Session

GONE = "no session with that id in this scope"


def visit(setup: Setup, session_id: object, metadata: object) -> Visit:
    """What a door bound to a session says of it; an id of Engram's own where the caller gives none. Pure but for it."""
    named = inputs.optional(inputs.name, session_id, "session_id")
    more = setup.censor().data(inputs.optional(inputs.metadata, metadata) or {}, "metadata")
    return Visit(named or ids.new_id(), "caller" if named else "engram", announced=True, metadata=more)


def open_session(setup: Setup) -> Operation[None]:
    """Begin the session a door is bound to, or go on with it and note what is new in its metadata."""
    assert setup.session is not None
    bound, call = setup.session, setup.writing({})

    def work(conn: Connection) -> None:
        scope_id = tenancy.ensure(conn, call.scope)
        part = setup.entered(conn, scope_id, call)
        assert part is not None
        secret = setup.settings.secret_key
        adds = bool(bound.metadata) and not part.is_new
        told = adds and sessions.add_metadata(conn, scope_id, part, bound.metadata, secret)
        sessions.reopen(conn, scope_id, part, setup.policy, told=told, key=secret)

    yield from steps.write(call.tenant_id, work, key=bound.session_id)


def end_session(
    setup: Setup, session_id: object, summary: object, given: Mapping[str, Any], *, error: str | None = None
) -> Operation[Session]:
    """End a session; one that has ended stays as it is, unless the caller brings a summary."""
    for name in given:
        if name not in SessionWrite.__annotations__:
            raise InvalidInput(inputs.field_name(name, "argument"), "an argument of this call", "an unknown name")
    call = setup.writing(given)
    named = inputs.name(session_id, "session_id")
    said = inputs.optional(call.censor.checking(inputs.fact), summary, "summary")
    event_id = ids.new_id()
    due: list[str] = []

    def work(conn: Connection) -> Session:
        due.clear()
        visible = tenancy.visible(conn, call.scope)
        scope_id = tenancy.find(conn, call.scope)
        if scope_id is None or not sessions.exists(conn, scope_id, named):
            raise NotFound(GONE)
        part = sessions.enter(conn, scope_id, Visit(named), gap=sessions.NEVER, key=None)
        before = _told_before(conn, scope_id, call, part.stream_id)
        if not part.ended or said is not None:
            facts = {name: value for name, value in (("error", error), ("reason", call.reason)) if value}
            # A summary that is brought later changes nothing of how it ended.
            came_to = sessions.outcome_of(conn, scope_id, part) if before is None else before.payload.get("outcome")
            done = sessions.end(
                conn, scope_id, part, outcome=came_to or ("failed" if error else "completed"),
                key=setup.settings.secret_key, summary=said, event_id=event_id, facts=facts, actor=call.actor,
                trust=call.trust or "agent", occurred_at=call.occurred_at, idempotency_key=call.idempotency_key,
            )  # fmt: skip
            due.extend([done.job_id] if done.job_id is not None else [])
        found = sessions.find(conn, visible, part.session_id, NOW)
        assert found is not None
        return found

    def rehearsed(conn: Connection) -> Session:
        with conn.begin_nested() as savepoint:
            found = work(conn)
            savepoint.rollback()
        return found

    key = call.idempotency_key or event_id
    ended = yield from steps.write(call.tenant_id, rehearsed if call.dry_run else work, key=key)
    if call.dry_run or not due:
        return ended
    yield from running.run_unasked(setup, call.tenant_id, due)
    return (yield from _found(call, ended.session_id))


def get_session(setup: Setup, session_id: object, given: Mapping[str, Any]) -> Operation[Session]:
    """The session of that id in the nearest readable scope that has one, or NotFound."""
    reading = setup.reading(given)
    named = inputs.name(session_id, "session_id")

    def work(conn: Connection) -> Session:
        found = sessions.find(conn, tenancy.visible(conn, reading.scope), named, reading.moment)
        if found is None:
            raise NotFound(GONE)
        return found

    return (yield from steps.read(reading.scope.tenant_id, work))


def list_sessions(
    setup: Setup, *, open_only: object, limit: object, cursor: object, given: Mapping[str, Any]
) -> Operation[Page[Session]]:
    """A page of the sessions of the readable scopes, the youngest first."""
    reading = setup.reading(given)
    only, most = inputs.flag(open_only, "open_only"), inputs.limit(limit)
    place = inputs.optional(paging.check_cursor, cursor)

    def work(conn: Connection) -> Page[Session]:
        return sessions.listed(
            conn, tenancy.visible(conn, reading.scope), open_only=only, limit=most, cursor=place,
            moment=reading.moment, key=setup.cursor_key,
        )  # fmt: skip

    return (yield from steps.read(reading.scope.tenant_id, work))


def _told_before(conn: Connection, scope_id: int, call: Writing, stream_id: str) -> Event | None:
    """The end that an earlier call with the same key told of; IdempotencyMismatch where it told of something else.

    A key stands for the end of one session, also where another has ended already and there is nothing to append.
    """
    if call.idempotency_key is None:
        return None
    before = ledger.find_by_key(conn, scope_id, call.idempotency_key)
    if before is not None and (before.event_type, before.stream_id) != (sessions.ENDED, stream_id):
        raise IdempotencyMismatch
    return before


def _found(call: Writing, session_id: str) -> Operation[Session]:
    def work(conn: Connection) -> Session:
        found = sessions.find(conn, tenancy.visible(conn, call.scope), session_id, NOW)
        assert found is not None
        return found

    return (yield from steps.read(call.tenant_id, work))
