"""The ledger: append events, read them back, redact what one said, and verify that nothing was changed since."""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, NoReturn
from uuid import UUID

from sqlalchemy.engine import Row
from sqlalchemy.exc import DBAPIError

from engram import chain
from engram.arrays import Blobs, Texts
from engram.database import Connection, ending, fetch_ahead, fetch_all, fetch_named, fetch_one, send_now, statement
from engram.errors import IdempotencyMismatch, InvalidInput, LimitExceeded, NotFound, StaleStream
from engram.ids import new_id
from engram.scope import Scope
from engram.values import BadPosition, Event, VerifyReport, trust_rank

MOST_EVENTS: Final = 500  # a batch
MOST_BYTES: Final = 8 * 1024 * 1024  # of bodies, a batch
MOST_BODY: Final = 1024 * 1024
SURELY_FITS: Final = 160_000  # characters, of which JSON writes some in six bytes, beside any metadata
LOOKED_AT: Final = 400  # of the newest events of each scope, for what was said: direct changes of memory are events too
SHORT: Final = 2_000  # bytes of a message that is read with those before it
LINKS_AT_ONCE: Final = 1_000
HEADS_AT_ONCE: Final = 500
MOST_LATELY: Final = 4_096  # streams kept in mind
WITHHELD: Final = {"withheld": "private"}  # by an export: what is for its own scope alone
BEHIND_KEY: Final = "\x1f"  # in the keys of a batch, before the place of an event

BODY_REUSED: Final = "23P99"  # SQLSTATEs of 030_ledger.sql
STREAM_ELSEWHERE: Final = "23P98"
NOTHING_THERE: Final = "P0002"
REFUSED: Final = "22023"

AppendStatus = Literal["appended", "duplicate", "erased"]
Anchor = str | tuple[int, str]
"""A head exported earlier: `(position, hash)`, or the text `position:hash` that a VerifyReport prints."""


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event about to be appended; its id is made with it, so that appending it again is recognised."""

    role: str
    event_type: str
    content: str | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    trust: str = "user"
    occurred_at: datetime | None = None
    session_id: str | None = None
    task_run_id: str | None = None
    actor: str | None = None
    idempotency_key: str | None = None
    derive: tuple[str, ...] = ()
    event_id: str = field(default_factory=new_id)


def is_withheld(event: Event) -> bool:
    """Whether what an event said was left out of the export that it came with. Pure."""
    return event.content is None and event.payload == WITHHELD


class AppendedEvent(NamedTuple):
    """What an append did with one event; a duplicate names the event, stream and job of the first time."""

    event_id: str
    stream_id: str
    position: int
    recorded_at: datetime
    status: AppendStatus
    job_id: str | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append did, event by event in the caller's order."""

    stream_id: str
    events: tuple[AppendedEvent, ...]

    @property
    def position(self) -> int:
        """The position of the last event."""
        return self.events[-1].position

    @property
    def job_ids(self) -> tuple[str, ...]:
        """The jobs these events caused, in their order."""
        return tuple(event.job_id for event in self.events if event.job_id is not None)

    @property
    def duplicate(self) -> bool:
        """Whether every event was there before."""
        return all(event.status != "appended" for event in self.events)

    @property
    def erased(self) -> bool:
        """Whether what one of the events said has been erased since."""
        return any(event.status == "erased" for event in self.events)

    @property
    def derives_nothing(self) -> bool:
        """Whether all of it is new and no deriver is asked to read it."""
        return all(event.status == "appended" and event.job_id is None for event in self.events)


@dataclass(frozen=True, slots=True)
class AtOnce:
    """What an append in one statement did, and in which scope; how far the session was before, and who opened it."""

    done: Appended
    scope_id: int
    before: int | None
    opened_by: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a list of events over several streams: read on from here."""

    recorded_at: datetime
    stream_id: str
    position: int


def append(
    conn: Connection,
    *,
    scope_id: int,
    stream_id: str,
    events: Sequence[NewEvent],
    expected_position: int | None = None,
    key: bytes | None = None,
) -> Appended:
    """Append events to one stream, all or none, each once: durable when the transaction's commit returns.

    An event whose id or idempotency key is known comes back as `duplicate` (or `erased`) with its first position; the
    same id or key with another body raises IdempotencyMismatch. A stream that is not at `expected_position` raises
    StaleStream, unless the whole batch is known.
    """
    return _append(conn, scope_id, stream_id, [(event, _body(event)) for event in events], expected_position, key)


def append_at_once(
    conn: Connection, *, scope: Scope, session_id: str | None, stream: tuple[str, str], gap: timedelta,
    events: Sequence[NewEvent], expected_position: int | None = None, key: bytes | None = None,
    every: int | None = None,
) -> AtOnce | None:  # fmt: skip
    """Append events as `append` does, in one statement; None, and nothing done, where something must come before it.

    That is a scope, a session or a stream that is not there yet, a session that has ended, was silent for longer than
    `gap` or is not heard, and, with a key, a stream that was not written to lately. With `every` the transaction ends
    with the statement, and nothing is done either where the session would pass a multiple of so many events.
    """
    names = (scope.tenant_id, scope.namespace, scope.agent_id, scope.user_id, session_id, *stream)
    stream_id = _LATELY.get(names) if key is not None else None
    if key is not None and stream_id is None:
        return None
    chosen, places, bodies = _prepared([(event, _body(event)) for event in events])
    with _refusals(expected_position):
        rows = fetch_all(
            conn if every is None else ending(conn), "append_at_once", every=every, namespace=scope.namespace,
            agent_id=scope.agent_id, user_id=scope.user_id, session_id=session_id, kind=stream[0],
            stream_name=stream[1], stream_id=stream_id, gap=gap, expected_position=expected_position,
            **_columns(chosen, bodies), **_pads(key, stream_id),
        )  # fmt: skip
    if not rows:
        return None
    first = rows[0]
    written = Appended(first.stream_id, tuple(_appended(rows[place], repeated) for place, repeated in places))
    return AtOnce(written, first.scope_id, first.before, first.opened_by)


def lately(scope: Scope, session_id: str | None, stream: tuple[str, str], stream_id: str) -> None:
    """Keep in mind which stream was written to, for the key of `append_at_once`."""
    if len(_LATELY) >= MOST_LATELY:
        _LATELY.clear()
    _LATELY[scope.tenant_id, scope.namespace, scope.agent_id, scope.user_id, session_id, *stream] = stream_id


def append_all(
    conn: Connection, *, scope_id: int, stream_id: str, events: Sequence[NewEvent], key: bytes | None = None
) -> list[AppendedEvent]:
    """Append events of any number, in batches that one append takes."""
    done: list[AppendedEvent] = []
    for batch in _batches([(event, _body(event)) for event in events]):
        done += _append(conn, scope_id, stream_id, batch, None, key).events
    return done


Written = tuple[NewEvent, bytes]
"""An event and its body."""
_LATELY: Final[dict[tuple[object, ...], str]] = {}
"""The streams written to, by the names of their scope, session and own: only a hint, which the database checks."""


def _append(
    conn: Connection, scope_id: int, stream_id: str, events: Sequence[Written], expected_position: int | None,
    key: bytes | None,
) -> Appended:  # fmt: skip
    chosen, places, bodies = _prepared(events)
    with _refusals(expected_position):
        rows = fetch_all(
            conn,
            "append_events",
            scope_id=scope_id,
            stream_id=stream_id,
            expected_position=expected_position,
            **_columns(chosen, bodies),
            **_pads(key, stream_id),
        )
    return Appended(stream_id, tuple(_appended(rows[place], repeated) for place, repeated in places))


def _prepared(events: Sequence[Written]) -> tuple[list[NewEvent], list[tuple[int, bool]], list[bytes]]:
    """The distinct events of a batch, the place of each given one among them, and their bodies."""
    written = {id(event): body for event, body in events}
    chosen, places = _distinct([event for event, _ in events])
    bodies = [written[id(event)] for event in chosen]
    if sum(map(len, bodies)) > MOST_BYTES:
        raise LimitExceeded("events", MOST_BYTES, sum(map(len, bodies)), "bytes")
    return chosen, places, bodies


def _batches(events: Sequence[Written]) -> Iterator[list[Written]]:
    batch: list[Written] = []
    size = 0
    for event, body in events:
        if batch and (len(batch) == MOST_EVENTS or size + len(body) > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append((event, body))
        size += len(body)
    if batch:
        yield batch


def redact(
    conn: Connection,
    *,
    event_id: str,
    stream_id: str,
    reason: str | None = None,
    actor: str | None = None,
    trust: str = "operator",
    key: bytes | None = None,
    redaction_id: str | None = None,
) -> AppendedEvent:
    """Erase what an event said, for ever; its place and hash stay, and an event of type `redaction` tells of it.

    `stream_id` is the event's own (as `get` returns it). Repeating it gives the first redaction back.
    """
    with _refusals(None):
        row = fetch_one(
            conn,
            "redact_event",
            event_id=event_id,
            redaction_id=redaction_id or new_id(),
            trust=trust_rank(trust),
            actor=actor,
            salt=chain.new_salt(),
            body=chain.body(None, {"event_id": event_id} | ({"reason": reason} if reason else {}), {}),
            **_pads(key, stream_id),
        )
    if row is None:
        raise NotFound
    return _appended(row, False)


def get(conn: Connection, event_id: str, *, scope_ids: Sequence[int] | None = None) -> Event | None:
    """The event of that id, if it is there and in one of the scopes."""
    row = fetch_one(conn, "get_event", event_id=event_id, scope_ids=_list(scope_ids))
    return None if row is None else chain.event(row)


def get_many(conn: Connection, event_ids: Iterable[str], *, scope_ids: Sequence[int] | None = None) -> dict[str, Event]:
    """The events of these ids that are there and in one of the scopes, by id."""
    rows = fetch_all(conn, "get_events", event_ids=list(event_ids), scope_ids=_list(scope_ids))
    return {str(row.event_id): chain.event(row) for row in rows}


def has_erased(conn: Connection, event_ids: Iterable[str]) -> bool:
    """Whether what one of these events said has been erased."""
    found = erased_ahead(conn, event_ids)
    send_now(conn)
    return found()


def erased_ahead(conn: Connection, event_ids: Iterable[str]) -> Callable[[], bool]:
    """The same in one message with the next statement, which tells it once it is answered."""
    wanted = list(event_ids)
    rows = fetch_ahead(conn, "find_erased_event", event_ids=wanted) if wanted else list
    return lambda: bool(rows())


def find_by_key(conn: Connection, scope_id: int, idempotency_key: str) -> Event | None:
    """The event a scope recorded under an idempotency key, or None."""
    row = fetch_one(conn, "find_event_by_key", scope_id=scope_id, idempotency_key=idempotency_key)
    return None if row is None else chain.event(row)


def key_at(idempotency_key: str, index: int) -> str:
    """The key of an event of a batch: the batch's own for the first, for the others one that no caller can give. Pure.

    Batches were once told apart by a slash, as keys of callers may be; those that were are still found.
    """
    return f"{idempotency_key}{BEHIND_KEY}{index}" if index else idempotency_key


def old_key_at(idempotency_key: str, index: int) -> str:
    """The same as it was once made. Pure."""
    return f"{idempotency_key}/{index}" if index else idempotency_key


def find_at(
    conn: Connection, scope_id: int, idempotency_key: str, index: int, recorded: Sequence[datetime] | None
) -> Event | None:  # fmt: skip
    """The event at a place of the batch that a scope recorded under a key, or None.

    `recorded` is when the places before it were. What has a key as batches once had may be another call's: it is of
    the batch where it was recorded with one of them, and wherever None is given.
    """
    found = find_by_key(conn, scope_id, key_at(idempotency_key, index))
    if found is not None or not index:
        return found
    old = find_by_key(conn, scope_id, old_key_at(idempotency_key, index))
    return old if old is not None and (recorded is None or old.recorded_at in recorded) else None


def goes_on(conn: Connection, scope_id: int, idempotency_key: str, recorded: Sequence[datetime]) -> bool:
    """Whether the batch of a key has more events than those that were recorded at these times."""
    if find_by_key(conn, scope_id, key_at(idempotency_key, len(recorded))) is not None:
        return True
    old = find_by_key(conn, scope_id, old_key_at(idempotency_key, len(recorded)))
    # It may be the key of another call: what was appended together was recorded at one time.
    return old is not None and old.recorded_at in recorded


def read(
    conn: Connection,
    *,
    stream_id: str | None = None,
    session_id: str | None = None,
    task_run_id: str | None = None,
    scope_ids: Sequence[int] | None = None,
    after: int | None = None,
    before: int | None = None,
    types: Sequence[str] | None = None,
    roles: Sequence[str] | None = None,
    trusts: Sequence[str] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    own_ids: Sequence[int] | None = None,
    start: Place | None = None,
    newest_first: bool = False,
    limit: int = 50,
) -> list[Event]:
    """The events of a stream, a session, a task run or some scopes, in order.

    Within a stream the order is the position, else the time of recording. `after` and `before` are positions, both left
    out of the result; `since <= occurred_at < until`, `occurred_at <= as_of`, `recorded_at <= known_at`; `start`
    continues a list over several streams. With `own_ids` what speaks of private memories of other scopes than these is
    left out. An empty list of scopes, types, roles or trusts matches nothing.
    """
    by = {"stream_id": stream_id, "session_id": session_id, "task_run_id": task_run_id}
    given = {name: value for name, value in by.items() if value is not None}
    if len(given) > 1 or (not given and scope_ids is None):
        raise InvalidInput("events", "one of stream, session, task run or scopes", f"{len(given)} of them")
    kind = next(iter(given), "scope_ids").split("_")[0]
    place = {} if kind == "stream" else _start(start)
    wanted = {
        "scope_ids": _list(scope_ids), "after": after, "before": before, "types": _list(types), "roles": _list(roles),
        "trusts": None if trusts is None else [trust_rank(trust) for trust in trusts], "since": since, "until": until,
        "as_of": as_of, "known_at": known_at, "own_ids": _list(own_ids), "limit": limit,
    }  # fmt: skip
    rows = conn.exec_driver_sql(listing(kind, newest_first=newest_first), {**wanted, **given, **place})
    return [chain.event(row) for row in rows.fetchall()]


LISTED: Final[Mapping[str, str]] = {  # of which one a list is, where it is not of scopes
    "stream": "e.stream_id = %(stream_id)s",
    "session": "e.session_id = %(session_id)s",
    "task": "e.task_run_id = %(task_run_id)s",
}


@lru_cache(maxsize=8)
def listing(kind: str, *, newest_first: bool) -> str:
    """The statement that lists the events of a stream, a session, a task run or some scopes. Pure."""
    way = " DESC" if newest_first else ""
    keys = ("position",) if kind == "stream" else ("recorded_at", "stream_id", "position")
    wanted = statement("match_events").rstrip()
    if kind != "stream":
        start = statement("follow_events").rstrip().replace("/*after*/", "<" if newest_first else ">")
        wanted = f"{start}\n          AND {wanted}"
    sql = statement("list_scope_events" if kind == "scope" else "list_chosen_events")
    for row in ("e", "o", "n"):
        sql = sql.replace(f"/*order of {row}*/", ", ".join(f"{row}.{key}{way}" for key in keys))
    return sql.replace("/*of*/", LISTED.get(kind, "")).replace("/*wanted*/", wanted)


def told(
    conn: Connection, scope_ids: Sequence[int], *, types: Sequence[str], own: str, said: int, made: int,
    session_id: str | None = None, task_run_id: str | None = None, until: datetime | None = None,
    start: Place | None = None,
) -> tuple[list[Event], list[Event]]:  # fmt: skip
    """The newest events of what was said and done, and of artifacts and results of tools, each newest first.

    Said and done is what has one of `types`, or a type that begins with `own`. Of each scope the newest 400 events are
    looked at for it. Events of documents are listed by their stream.
    """
    if (session_id, task_run_id, until, start) == (None, None, None, None):
        sql = statement("call_told_events")  # as it is now: the server keeps the plan
    else:
        kinds = {"session": session_id, "task": task_run_id, "scope": scope_ids}
        of = next(OF[kind] for kind, given in kinds.items() if given is not None)
        both = (("said", SAID), ("made", MADE))
        parts = [_part("list_told_events", {"kind": kind, "of": of, **which}) for kind, which in both]
        sql = (
            f"SELECT t.* FROM ({' UNION ALL '.join(parts)}) t"  # noqa: S608 - constants
            " ORDER BY t.recorded_at DESC, t.stream_id DESC, t.position DESC"
        )
    rows = fetch_named(
        conn, sql,
        {"scope_ids": list(scope_ids), "types": list(types), "own": own, "said": said, "made": made,
         "looked": LOOKED_AT, "session_id": session_id, "task_run_id": task_run_id, "until": until, **_start(start)},
    )  # fmt: skip
    found = {kind: [chain.event(row) for row in rows if row.kind == kind] for kind in ("said", "made")}
    return found["said"], found["made"]


SAID: Final = {
    "among": "true", "looked": "%(looked)s",
    "which": "(o.event_type = ANY (%(types)s) OR starts_with(o.event_type, %(own)s))",
}  # fmt: skip
MADE: Final = {  # as the index of those few says it
    "among": "e.event_type IN ('artifact', 'tool_result')", "looked": "%(made)s", "which": "true",
}  # fmt: skip
OF: Final = {
    "session": "e.session_id = %(session_id)s",
    "task": "e.task_run_id = %(task_run_id)s",
    # In a coalesce(), so that no statistics of streams are asked: they would say that hardly an event is left.
    "scope": "coalesce(e.stream_id <> ALL (ARRAY(SELECT d.stream_id FROM engram.event_streams d"
    " WHERE d.tenant_id = engram.current_tenant() AND d.scope_id = ANY (%(scope_ids)s)"
    " AND d.kind = 'document')), true)",
}


def derivable(
    conn: Connection, stream_ids: Sequence[str], derivers: Sequence[tuple[str, int]], *, limit: int = 100
) -> tuple[list[tuple[Event, list[str]]], list[Event]]:
    """The events of streams that wait for derivers, named with their versions; in order, so many of each at most.

    Each comes with all the derivers it was meant for; erased ones are among them. Then the two events before short
    messages of users, where they do not wait themselves: of messages with their words, for these are read with them.
    """
    rows = fetch_all(
        conn, "list_derivable_events", stream_ids=list(stream_ids), derivers=[name for name, _ in derivers],
        versions=[version for _, version in derivers], limit=limit, short=SHORT,
    )  # fmt: skip
    found = [(chain.event(row), row.derive) for row in rows]
    return [pair for pair in found if pair[1]], [event for event, meant in found if not meant]


def verify(
    conn: Connection,
    *,
    stream_ids: Sequence[str] | None = None,
    scope_ids: Sequence[int] | None = None,
    key: bytes | None = None,
    anchors: Mapping[str, Anchor] | None = None,
    unkeyed: bool = False,
) -> VerifyReport:
    """Recompute the hash chain from what is stored, and name the first position of each stream that does not hold.

    Without a selection every stream of the tenant is checked. `anchors` are heads exported earlier (the `heads` of a
    former report): only they can show that a tail was cut off, or a whole unkeyed chain computed anew. With `key` every
    event must have been sealed with it; `unkeyed=True` lets events pass that were appended before there was a key.
    """
    known = {stream_id: _anchor(anchor) for stream_id, anchor in (anchors or {}).items()}
    counted, erased, heads, bad = 0, 0, {}, []
    for head in _heads(conn, stream_ids, scope_ids):
        stream_id = str(head.stream_id)
        walk = _Walk(head, chain.pads(key, head.stream_id), known.pop(stream_id, None), unkeyed)
        problem = walk.run(conn)
        counted, erased = counted + walk.counted, erased + walk.erased
        heads[stream_id] = f"{head.position}:{bytes(head.head_hash).hex()}"
        if problem is not None:
            bad.append(problem)
    wanted = [name for name in known if stream_ids is None or name in stream_ids]
    elsewhere = {str(head.stream_id) for head in _heads(conn, wanted, None)} if wanted else set()
    bad.extend(BadPosition(name, 1, "the whole stream is gone") for name in wanted if name not in elsewhere)
    return VerifyReport(len(heads), counted, erased, not bad, bad[0] if bad else None, tuple(bad), heads)


class _Walk:
    """One walk along one stream, from its first event to its head."""

    def __init__(self, head: Row[Any], pads: chain.Pads | None, anchor: tuple[int, str] | None, unkeyed: bool) -> None:
        self.head, self.pads, self.anchor, self.unkeyed = head, pads, anchor, unkeyed
        self.stream_id = str(head.stream_id)
        self.position, self.hash = 0, chain.GENESIS
        self.counted = self.erased = 0

    def run(self, conn: Connection) -> BadPosition | None:
        """The first position that does not hold, or None."""
        while True:
            rows = fetch_all(
                conn,
                "list_links",
                stream_id=self.stream_id,
                after=self.position,
                until=self.head.position,
                limit=LINKS_AT_ONCE,
            )
            for row in rows:
                problem = self._link(row)
                if problem is not None:
                    return self._bad(self.position + 1, problem)
                self.position, self.hash = row.position, bytes(row.hash)
                self.counted += 1
                self.erased += row.salt is None
            if len(rows) < LINKS_AT_ONCE:
                return self._end()

    def _link(self, row: Row[Any]) -> str | None:
        if row.position != self.position + 1:
            return "the event is missing"
        if bytes(row.prev_hash) != self.hash:
            return "the event does not follow the one before it"
        if row.salt is None:
            if not row.redacted:
                return "the payload is missing and no redaction says why"
        elif chain.commitment(bytes(row.salt), bytes(row.body)) != bytes(row.commitment):
            return "the payload was changed"
        return self._seal(row) or self._anchored(row)

    def _seal(self, row: Row[Any]) -> str | None:
        if row.hash_version == chain.KEYED and self.pads is None:
            return "the event is sealed with a key that was not given"
        if row.hash_version == chain.PLAIN and self.pads is not None and not self.unkeyed:
            return "the event is not sealed with the key"
        pads = self.pads if row.hash_version == chain.KEYED else None
        same = hmac.compare_digest(chain.event_hash(row, pads), bytes(row.hash))
        return None if same else "the header was changed, or sealed with another key"

    def _anchored(self, row: Row[Any]) -> str | None:
        if self.anchor is None or self.anchor[0] != row.position or self.anchor[1] == bytes(row.hash).hex():
            return None
        return "the event is not the one that was anchored"

    def _end(self) -> BadPosition | None:
        if self.position < self.head.position:
            return self._bad(self.position + 1, "the event is missing")
        if self.hash != bytes(self.head.head_hash):
            return self._bad(max(1, self.position), "the head of the stream does not belong to its last event")
        if (self.head.last_position or 0) > self.head.position:
            return self._bad(self.head.position + 1, "the event is behind the head of its stream")
        if self.anchor is not None and self.anchor[0] > self.head.position:
            return self._bad(self.head.position + 1, "the tail was cut: an anchor is farther on")
        return None

    def _bad(self, position: int, problem: str) -> BadPosition:
        return BadPosition(self.stream_id, position, problem)


def _heads(conn: Connection, stream_ids: Sequence[str] | None, scope_ids: Sequence[int] | None) -> Iterator[Row[Any]]:
    after: UUID | None = None
    while True:
        rows = fetch_all(
            conn,
            "list_heads",
            after=after,
            stream_ids=_list(stream_ids),
            scope_ids=_list(scope_ids),
            limit=HEADS_AT_ONCE,
        )
        yield from rows
        if len(rows) < HEADS_AT_ONCE:
            return
        after = rows[-1].stream_id


def _anchor(anchor: Anchor) -> tuple[int, str]:
    if isinstance(anchor, str):
        position, _, digest = anchor.partition(":")
        if not position.isdecimal() or not digest:
            raise InvalidInput("anchors", "texts such as 12:9f86d0…", "another form")
        return int(position), digest
    return anchor


def _distinct(events: Sequence[NewEvent]) -> tuple[list[NewEvent], list[tuple[int, bool]]]:
    # The same event twice in one batch: the second is a duplicate of the first. For each event given: its place among
    # the distinct ones, and whether it is a repetition.
    if not 1 <= len(events) <= MOST_EVENTS:
        raise InvalidInput("events", f"1 to {MOST_EVENTS} events", str(len(events)))
    if all(event.idempotency_key is None for event in events) and len({event.event_id for event in events}) == len(
        events
    ):
        return list(events), [(place, False) for place in range(len(events))]  # nearly always
    chosen: list[NewEvent] = []
    places: list[tuple[int, bool]] = []
    seen: dict[tuple[str, str], int] = {}
    for event in events:
        names = [("id", event.event_id), *([("key", event.idempotency_key)] if event.idempotency_key else [])]
        found = {seen[name] for name in names if name in seen}
        if not found:
            seen |= dict.fromkeys(names, len(chosen))
            places.append((len(chosen), False))
            chosen.append(event)
        elif len(found) == 1 and _same(chosen[place := found.pop()], event):
            places.append((place, True))
        else:
            raise IdempotencyMismatch
    return chosen, places


def _same(first: NewEvent, second: NewEvent) -> bool:
    return replace(second, event_id=first.event_id, idempotency_key=first.idempotency_key) == first


def check_size(event: NewEvent, field: str) -> None:
    """Refuse an event that is too large for the ledger, before there is a transaction. Pure."""
    shown = len(event.content or "") + (len(repr(event.payload)) if event.payload else 0)
    if shown > SURELY_FITS:
        _body(event, field)


def _body(event: NewEvent, field: str = "event") -> bytes:
    body = chain.body(event.content, event.payload, event.metadata)
    if len(body) > MOST_BODY:
        raise LimitExceeded(field, MOST_BODY, len(body), "bytes")
    return body


def _columns(events: Sequence[NewEvent], bodies: Sequence[bytes]) -> dict[str, Any]:
    salts = os.urandom(chain.SALT_BYTES * len(events))
    return {
        "event_ids": Texts([event.event_id for event in events]),
        "job_ids": Texts([new_id() for _ in events]),
        "roles": Texts([event.role for event in events]),
        "types": Texts([event.event_type for event in events]),
        "trusts": Texts([str(trust_rank(event.trust)) for event in events]),
        "occurred": _sparse([None if event.occurred_at is None else event.occurred_at.isoformat() for event in events]),
        "sessions": _sparse([event.session_id for event in events]),
        "tasks": _sparse([event.task_run_id for event in events]),
        "actors": _sparse([event.actor for event in events]),
        "keys": _sparse([event.idempotency_key for event in events]),
        "derive": Texts([",".join(event.derive) for event in events]),
        "salts": Blobs([salts[at : at + chain.SALT_BYTES] for at in range(0, len(salts), chain.SALT_BYTES)]),
        "bodies": Blobs(bodies),
    }


def _sparse(items: Sequence[str | None]) -> Texts:
    """A column that often says nothing: an empty one is read as NULL beside the others."""
    return Texts([] if items.count(None) == len(items) else items)


def _pads(key: bytes | None, stream_id: str | None) -> dict[str, bytes | None]:
    if key is None or stream_id is None:
        return {"inner": None, "outer": None}
    pads = chain.pads(key, UUID(stream_id))
    return {"inner": pads and pads.inner, "outer": pads and pads.outer}


def _appended(row: Row[Any], repeated: bool) -> AppendedEvent:
    status: AppendStatus = "duplicate" if repeated and row.status == "appended" else row.status
    return AppendedEvent(row.event_id, row.stream_id, row.position, row.recorded_at, status, row.job_id)


def _start(start: Place | None) -> dict[str, Any]:
    if start is None:
        return {"start_at": None, "start_stream": None, "start_position": None}
    return {"start_at": start.recorded_at, "start_stream": start.stream_id, "start_position": start.position}


def _part(name: str, places: Mapping[str, str]) -> str:
    """A part of a statement, with constants in its places."""
    sql = statement(name)
    for place, text in places.items():
        sql = sql.replace(f"/*{place}*/", text)
    return f"({sql})"


def _list(values: Sequence[Any] | None) -> list[Any] | None:
    return None if values is None else list(values)


@contextmanager
def _refusals(expected_position: int | None) -> Iterator[None]:
    """Turn the refusals of the ledger's own functions into Engram's errors; everything else passes."""
    try:
        yield
    except DBAPIError as error:
        _refuse(error, expected_position)


def _refuse(error: DBAPIError, expected_position: int | None) -> NoReturn:
    state = getattr(error.orig, "sqlstate", None)
    if state == BODY_REUSED:
        raise IdempotencyMismatch from None
    if state == STREAM_ELSEWHERE:
        detail = getattr(getattr(error.orig, "diag", None), "message_detail", None)
        raise StaleStream(expected_position or 0, int(detail or 0)) from None
    if state == NOTHING_THERE:
        raise NotFound from None
    if state == REFUSED:
        raise InvalidInput("event", "an event callers may append or redact", "a redaction, or a key of one") from None
    raise error
