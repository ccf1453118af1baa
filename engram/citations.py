"""Citations looked up: whether the characters still say what was cited, and what stands around them.

A citation names code points of the *stored* text of an event, which is NFC: it is checked by the hash of the very
characters, never by their position alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from engram import history, ids, ledger, memories, tasks, text
from engram.database import Connection, fetch_all
from engram.errors import Conflict, NotFound
from engram.memories import NOW, Moment, visible_params
from engram.tenancy import Visible
from engram.values import Citation, CitationState, CitedText, Event

AROUND: Final = 500  # characters of context on either side at most
SHOWN_DIGITS: Final = 24  # of a hash, where it is shown to people: as many as no two quotes share
UNKNOWN: Final = "nothing with that id in this scope"
NO_EVENT: Final = "no event with that id in this scope"


def state_of(citation: Citation, content: str | None) -> CitationState:
    """Whether the characters a citation names are there and say what they said when it was made. Pure.

    Its hash may be cut short, as it is shown to people; of no digits at all nothing is known.
    """
    if content is None:
        return "erased"
    quote = content[citation.char_start : citation.char_end]
    whole = bool(quote) and len(quote) == citation.char_end - citation.char_start
    same = len(citation.quote_hash) >= SHOWN_DIGITS and text.quote_hash(quote).startswith(citation.quote_hash)
    return "verified" if whole and same else "changed"


def whole_of(event_id: str, said: str) -> Citation:
    """A citation of everything an event says. Pure."""
    return Citation(event_id, 0, len(said), text.quote_hash(said), None, verified=bool(said))


def around(content: str, start: int, end: int, lines: int) -> tuple[str, str]:
    """The text before and after a quote: the rest of its own lines, and so many lines beyond. Pure."""
    head, tail = content[max(0, start - AROUND) : start], content[end : end + AROUND]
    before = head.splitlines(keepends=True)
    after = tail.splitlines(keepends=True)
    own = 1 if before and not before[-1].endswith(("\n", "\r")) else 0
    rest = 0 if content[start:end].endswith(("\n", "\r")) else 1
    return "".join(before[max(0, len(before) - lines - own) :]), "".join(after[: lines + rest])


def line_of(content: str, start: int) -> int:
    """The number, from 1, of the line a place stands in. Pure."""
    return len(f"{content[:start]}x".splitlines())


def verify(conn: Connection, visible: Visible, citation: Citation) -> CitationState:
    """Whether a citation holds; NotFound where the reader sees no such event."""
    event = _events(conn, visible, [citation.event_id], Moment()).get(citation.event_id)
    if event is None:
        raise NotFound(NO_EVENT)
    return state_of(citation, event.content)


def cite(conn: Connection, visible: Visible, cited_id: str, lines: int, moment: Moment) -> tuple[CitedText, ...]:
    """Every citation of a memory looked up, or all of an event; by a full id or a mark."""
    memory = None if cited_id.startswith("evt-") else memories.find(conn, visible, cited_id, moment)
    if memory is not None:
        events = _events(conn, visible, [one.event_id for one in memory.citations], moment)
        there = [one for one in memory.citations if one.event_id in events]
        return tuple(_told(events[one.event_id], one, lines, memory.memory_id) for one in there)
    event = _event(conn, visible, cited_id, moment)
    if event is None:
        raise NotFound(UNKNOWN)
    return (_told(event, whole_of(event.event_id, event.content or ""), lines),)


def resolve_event_id(conn: Connection, visible: Visible, event_id: str, moment: Moment = NOW) -> str:
    """The full id for a full or short one; NotFound where the reader sees none, Conflict where several end so."""
    if not ids.is_short(event_id):
        return event_id
    event = _event(conn, visible, event_id, moment)
    if event is None:
        raise NotFound(NO_EVENT)
    return event.event_id


def seen(conn: Connection, visible: Visible, event_ids: Iterable[str], moment: Moment) -> dict[str, Event]:
    """The events a reader sees of some at a moment, by id: what happened or was recorded later is not among them."""
    found = _events(conn, visible, event_ids, moment)
    return {event_id: event for event_id, event in found.items() if not is_later(event, moment)}


def is_later(event: Event, moment: Moment) -> bool:
    """Whether an event happened after the moment that is read, or was recorded after it. Pure."""
    as_of, known_at = moment.as_of, moment.known_at
    return (as_of is not None and event.occurred_at > as_of) or (known_at is not None and event.recorded_at > known_at)


def resolve_event_ids(conn: Connection, visible: Visible, event_ids: Iterable[str]) -> list[str]:
    """The full ids of events by full or short ones, each once; NotFound where the reader sees one of them not."""
    wanted = list(dict.fromkeys(resolve_event_id(conn, visible, one) for one in event_ids))
    known = ledger.get_many(conn, wanted, scope_ids=visible.scope_ids)
    if len(known) < len(wanted) or history.private_events(conn, visible, wanted):
        raise NotFound(NO_EVENT)
    return wanted


def _event(conn: Connection, visible: Visible, event_id: str, moment: Moment) -> Event | None:
    found = list(seen(conn, visible, _event_ids(conn, visible, event_id), moment).values())
    if len(found) > 1:
        raise Conflict("the mark is ambiguous in this scope: give the full id")
    return found[0] if found else None


def _event_ids(conn: Connection, visible: Visible, cited_id: str) -> Sequence[str]:
    if not ids.is_short(cited_id):
        return [cited_id]
    if not cited_id.startswith("evt-") or not visible.scope_ids:
        return []
    rows = fetch_all(conn, "find_short_event", ending=cited_id[4:], **visible_params(visible))
    return [row.event_id for row in rows]


def _events(conn: Connection, visible: Visible, event_ids: Iterable[str], moment: Moment) -> dict[str, Event]:
    """The events a reader sees of some, by id."""
    wanted = sorted(set(event_ids))
    if not wanted or not visible.scope_ids:
        return {}
    return dict(_seen(conn, visible, ledger.get_many(conn, wanted, scope_ids=visible.scope_ids), moment))


def _seen(conn: Connection, visible: Visible, found: dict[str, Event], moment: Moment) -> Iterator[tuple[str, Event]]:
    hidden, tenant_id = history.private_events(conn, visible, sorted(found)), visible.scope.tenant_id
    of_run = {event.task_run_id: event for event in found.values()}
    forgotten = {run for run, event in of_run.items() if tasks.hides(conn, tenant_id, event, moment.known_at)}
    for event_id, event in found.items():
        early = moment.known_at is not None and event.recorded_at > moment.known_at
        if event_id not in hidden and not early and event.task_run_id not in forgotten:
            yield event_id, event


def _told(event: Event, citation: Citation, lines: int, memory_id: str | None = None) -> CitedText:
    content, start, end = event.content, citation.char_start, citation.char_end
    before, after = ("", "") if content is None else around(content, start, end, lines)
    quote = None if content is None else content[start:end]
    cited = Citation(citation.event_id, start, end, citation.quote_hash, quote, citation.verified)
    return CitedText(
        citation=cited, state=state_of(citation, content), before=before, after=after,
        line=1 if content is None else line_of(content, start), role=event.role, event_type=event.event_type,
        trust=event.trust, occurred_at=event.occurred_at, recorded_at=event.recorded_at, session_id=event.session_id,
        actor=event.actor, memory_id=memory_id,
    )  # fmt: skip
