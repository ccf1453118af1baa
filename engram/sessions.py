"""Sessions: where a conversation begins, goes on, is split and ends, and the summary that rolls along with it.

A session is made by the first event that names it, in that event's transaction. One with the caller's id is never
split; one that Engram named is continued by a successor after a gap, and a write to any part goes to the newest.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final, Literal

from sqlalchemy.engine import Row

from engram import chain, jobs, ledger, paging, served
from engram.database import Connection, Jsonb, execute, fetch_all, fetch_one
from engram.errors import NotFound
from engram.ids import new_id
from engram.ledger import Appended, AppendedEvent, NewEvent
from engram.memories import Moment
from engram.policies import MemoryPolicy
from engram.tenancy import Visible
from engram.values import Event, Page, Session, trust_rank

SUMMARY: Final = "summary"
CLOSE: Final = "close_session"
STARTED: Final = "session_started"
REOPENED: Final = "session_reopened"
ENDED: Final = "session_ended"
OpenedBy = Literal["caller", "engram"]
NEVER: Final = timedelta.max  # a gap that no silence is longer than
SWITCH: Final = re.compile(r"#mem-(on|off)(?![\w-])", re.IGNORECASE)
_STOPS: Final = string.punctuation + string.whitespace
SAID: Final = (
    "user_message", "assistant_message", "agent_action", "decision", "observation", "artifact", "error", "meeting",
)  # fmt: skip
"""The types of events a summary is made of; results of tools, and all that is less trusted than an agent, are not."""


@dataclass(frozen=True, slots=True)
class Visit:
    """The session a write names, and what is to be noted should the write be its first."""

    session_id: str
    opened_by: OpenedBy = "caller"
    announced: bool = False  # opened by a call of its own, which is an event, and not by the way
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a session that a write goes to, its stream locked: what is known of it holds until the commit."""

    session_id: str
    stream_id: str
    position: int
    idle: timedelta
    opened_by: OpenedBy
    ended: bool
    unheard: bool  # the user has switched memory off
    is_new: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the summary of a session has come, and how far the session has."""

    session_id: str
    scope_id: int
    summary: str | None
    summary_position: int
    summary_by: str | None
    redactions: int
    ended: bool
    head: int
    idle: timedelta


def enter(
    conn: Connection, scope_id: int, visit: Visit, *, gap: timedelta, key: bytes | None,
    repeated: Callable[[], bool] = lambda: False,
) -> Part:  # fmt: skip
    """The part of a session a write goes to, begun if need be; its stream stays locked until the commit.

    A session that Engram named and that was silent for longer than `gap` is ended, and a successor begun; unless the
    write is `repeated`, for then it has its place already.
    """
    part = _enter(conn, scope_id, visit)
    if part.opened_by == "engram" and not part.is_new and _was_silent(conn, scope_id, part, gap) and not repeated():
        if not part.ended:
            end(conn, scope_id, part, outcome="idle", key=key)
        successor = _enter(conn, scope_id, Visit(new_id(), "engram", announced=True), continues=part.session_id)
        return _announced(conn, scope_id, successor, {"continues": part.session_id}, gap, key)
    if part.is_new and visit.announced:
        return _announced(conn, scope_id, part, {"metadata": dict(visit.metadata)}, gap, key)
    return part


def _was_silent(conn: Connection, scope_id: int, part: Part, gap: timedelta) -> bool:
    """Whether a part was silent for longer than `gap`, or for so long that it was ended: that end is an event, too."""
    if part.idle > gap or not part.ended or gap == NEVER:
        return part.idle > gap
    return outcome_of(conn, scope_id, part) == "idle"


def add_metadata(conn: Connection, scope_id: int, part: Part, metadata: Mapping[str, Any], key: bytes | None) -> bool:
    """Put what is said of a session beside what was said of it before, and tell of it in its stream, if it is new."""
    if fetch_one(conn, "add_session_metadata", stream_id=part.stream_id, metadata=Jsonb(dict(metadata))) is None:
        return False
    _tell(conn, scope_id, part, NewEvent("system", STARTED, None, {"metadata": dict(metadata)}, trust="agent"), key)
    return True


def switched(events: Sequence[NewEvent], unheard: bool) -> tuple[list[NewEvent], list[tuple[int, bool]]]:
    """The events as they are recorded while `#mem-off` and `#mem-on` switch memory, and where they switch it. Pure.

    The message that switches memory off is itself not derived from; the one that switches it on is.
    """
    heard, switches = [], []
    for place, event in enumerate(events):
        words = SWITCH.findall(served.without(event.content)) if event.role == "user" and event.content else ()
        off = words[-1].lower() == "off" if words else unheard
        if off != unheard:
            switches.append((place, off))
        unheard = off
        heard.append(replace(event, derive=()) if unheard and event.derive else event)
    return heard, switches


def beside_switches(said: str) -> str:
    """What a message says beside `#mem-off` and `#mem-on`; nothing where only stops and spaces are left. Pure."""
    rest = SWITCH.sub("", said)
    return rest if rest == said or rest.strip(_STOPS) else ""


def went_on(
    conn: Connection, scope_id: int, part: Part, done: Appended, switches: Sequence[tuple[int, bool]],
    policy: MemoryPolicy, key: bytes | None,
) -> list[str]:  # fmt: skip
    """What an append means for its session: reopened, switched, due for a summary, whose job is given.

    A repeated append means nothing.
    """
    if done.duplicate:
        return []
    own = done.stream_id == part.stream_id  # a task's events stand in the task's stream
    reopen(conn, scope_id, part, policy, told=own, key=key)
    for place, off in switches:
        event = done.events[place]
        if event.status == "appended":
            position = event.position if own else part.position + 1
            execute(conn, "switch_session", stream_id=part.stream_id, position=position, off=off)
    every = policy.summary_every
    if own and done.position // every > part.position // every:
        why = str(done.position // every)
        job_id = ask_for_summary(conn, scope_id, part.session_id, part.stream_id, done.position, why)
        return [] if job_id is None else [job_id]
    return []


def reopen(
    conn: Connection, scope_id: int, part: Part, policy: MemoryPolicy, *, told: bool, key: bytes | None
) -> None:  # fmt: skip
    """A session that had ended goes on with whatever is written into it; its stream says so, unless it is `told`."""
    if not part.ended:
        return
    if not told:
        _tell(conn, scope_id, part, NewEvent("system", REOPENED, None, {}, trust="agent"), key)
    execute(conn, "reopen_session", stream_id=part.stream_id)
    if part.opened_by == "engram":
        ask_to_close(conn, scope_id, part, policy.session_gap, once=f"reopened/{part.position}")


def end(
    conn: Connection, scope_id: int, part: Part, *, outcome: str, key: bytes | None, summary: str | None = None,
    event_id: str | None = None, facts: Mapping[str, Any] | None = None, **more: Any,
) -> AppendedEvent:  # fmt: skip
    """Append the end of a session and ask for its last summary, unless the caller gives it."""
    event = NewEvent(
        "system", ENDED, summary, {"outcome": outcome, **(facts or {})}, event_id=event_id or new_id(),
        **{"trust": "agent", **more},
    )  # fmt: skip
    done = _tell(conn, scope_id, part, event, key)
    if done.status != "appended":
        return done
    execute(
        conn, "end_session", stream_id=part.stream_id, ended_at=done.recorded_at, outcome=outcome, summary=summary,
        position=done.position,
    )  # fmt: skip
    if summary is None:
        job_id = ask_for_summary(conn, scope_id, part.session_id, part.stream_id, done.position, f"end/{done.position}")
        return done._replace(job_id=job_id)
    return done


def ask_for_summary(
    conn: Connection, scope_id: int, session_id: str, stream_id: str, position: int, why: str
) -> str | None:
    """Queue the summary of a session up to a position, once for each reason; the id of the job."""
    return jobs.add(
        conn, kind=SUMMARY, dedup_key=f"{stream_id}/{why}", scope_id=scope_id, stream_id=stream_id, position=position,
        payload={"session_id": session_id},
    )  # fmt: skip


def ask_to_close(conn: Connection, scope_id: int, part: Part, delay: timedelta, *, once: str) -> None:
    """Have a session looked at when it may have been silent for long enough to end; `once` for each reason."""
    jobs.add(
        conn, kind=CLOSE, dedup_key=f"{part.stream_id}/{once}", scope_id=scope_id, stream_id=part.stream_id,
        position=part.position, payload={"session_id": part.session_id}, delay=delay.total_seconds(),
    )  # fmt: skip


def exists(conn: Connection, scope_id: int, session_id: str) -> bool:
    """Whether a scope has a session of that id."""
    return fetch_one(conn, "find_session", scope_id=scope_id, session_id=session_id) is not None


def outcome_of(conn: Connection, scope_id: int, part: Part) -> str | None:
    """How a part of a session has ended; None where it has not."""
    row = fetch_one(conn, "find_session", scope_id=scope_id, session_id=part.session_id) if part.ended else None
    return None if row is None else row.outcome


def progress(conn: Connection, stream_id: str) -> Progress:
    """How far the summary of the session with this stream has come."""
    row = fetch_one(conn, "get_summary", stream_id=stream_id)
    if row is None:
        raise NotFound("no session with that stream")
    return Progress(**row._mapping)


def turns(
    conn: Connection, stream_id: str, *, after: int = 0, until: int, limit: int, last: bool = False
) -> list[Event]:
    """The first, or the last, events after a position of which a summary may be made, in order."""
    rows = fetch_all(
        conn, "list_turns", stream_id=stream_id, after=after, until=until, types=list(SAID), trust=trust_rank("agent"),
        last=last, limit=limit,
    )  # fmt: skip
    return [event for event in map(chain.event, rows[::-1] if last else rows) if event.content]


def write_summary(
    conn: Connection, stream_id: str, before: Progress, *, summary: str | None, position: int, style: str, by: str,
    prompt: str | None,
) -> bool:  # fmt: skip
    """Write the next summary by compare-and-set; False when another came first, or something was redacted meanwhile.

    Without a summary nothing was said that one could tell: then only the position moves.
    """
    return execute(
        conn, "write_summary", stream_id=stream_id, summary=summary, position=position, style=style, by=by,
        prompt=prompt, old=before.summary_position, redactions=before.redactions,
    ) == 1  # fmt: skip


def erase_event(conn: Connection, event: Event, *, again: bool = True, repeated: bool = False) -> int:
    """Empty the summary that covers an erased event, and queue `again` one from the events that remain; how many.

    Where the erasure is `repeated` the summary that stands was made without the event, and stays.
    """
    if repeated:
        execute(conn, "erase_summaries", stream_id=event.stream_id, position=event.position)
        return 0
    row = fetch_one(
        conn, "clear_summary", stream_id=event.stream_id, position=event.position, event_type=event.event_type
    )
    if row is None:
        return 0
    # What a model was paid for goes too, and all that it answered later: each summary rests on the one before.
    execute(conn, "erase_summaries", stream_id=event.stream_id, position=event.position)
    if again and row.summary_position == 0:
        ask_for_summary(
            conn, row.scope_id, row.session_id, event.stream_id, event.position, f"redacted/{event.event_id}"
        )
    return 1


def find(conn: Connection, visible: Visible, session_id: str, moment: Moment) -> Session | None:
    """The session of that id in the nearest scope that has one."""
    rows = _rows(conn, visible, moment, session_id=session_id, limit=len(visible.scope_ids))
    nearest = sorted(rows, key=lambda row: (visible.nearness[row.scope_id], row.scope_id))
    return _session(nearest[0]) if nearest else None


def listed(
    conn: Connection, visible: Visible, *, open_only: bool, limit: int, cursor: str | None, moment: Moment, key: bytes
) -> Page[Session]:
    """A page of sessions, the youngest first."""
    binding = repr(("sessions", visible.scope, open_only, moment))
    after = paging.decode_cursor(cursor, binding, key) if cursor is not None else (None, None, None)
    if limit == 0 or not visible.scope_ids:
        return Page(())
    rows = _rows(conn, visible, moment, open_only=open_only, after=after, limit=limit + 1)
    last = rows[limit - 1] if len(rows) > limit else None
    place = last and paging.encode_cursor((last.started_at, last.session_id, last.scope_id), binding, key)
    return Page(tuple(_session(row) for row in rows[:limit]), place)


def _rows(
    conn: Connection, visible: Visible, moment: Moment, *, limit: int, session_id: str | None = None,
    open_only: bool = False, after: Sequence[Any] = (None, None, None),
) -> list[Row[Any]]:  # fmt: skip
    return fetch_all(
        conn, "list_sessions", scope_ids=list(visible.scope_ids), own=visible.own, at=moment.earliest,
        session_id=session_id, open_only=open_only, after_at=after[0], after_id=after[1], after_scope=after[2],
        limit=limit,
    ) if visible.scope_ids else []  # fmt: skip


def _session(row: Row[Any]) -> Session:
    values = dict(row._mapping)
    values.pop("scope_id")
    return Session(**{**values, "stream_id": str(row.stream_id)})


def _enter(conn: Connection, scope_id: int, visit: Visit, continues: str | None = None) -> Part:
    row = fetch_one(
        conn, "enter_session", scope_id=scope_id, session_id=visit.session_id, stream_id=new_id(),
        opened_by=visit.opened_by, metadata=Jsonb(dict(visit.metadata)), continues=continues,
    )  # fmt: skip
    if row is None:  # pragma: no cover - the function answers with a row or an error
        raise NotFound
    return Part(**{**row._mapping, "stream_id": str(row.stream_id)})


def _announced(
    conn: Connection, scope_id: int, part: Part, facts: Mapping[str, Any], gap: timedelta, key: bytes | None
) -> Part:
    payload = {"opened_by": part.opened_by, **{name: value for name, value in facts.items() if value}}
    done = _tell(conn, scope_id, part, NewEvent("system", STARTED, None, payload, trust="agent"), key)
    if part.opened_by == "engram":
        ask_to_close(conn, scope_id, part, gap, once="started")
    return replace(part, position=done.position)


def _tell(conn: Connection, scope_id: int, part: Part, event: NewEvent, key: bytes | None) -> AppendedEvent:
    event = replace(event, session_id=part.session_id)
    return ledger.append(conn, scope_id=scope_id, stream_id=part.stream_id, events=[event], key=key).events[0]
