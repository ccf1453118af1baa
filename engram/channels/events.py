"""The ledger's own channel: events by their words and, where memories were made of them, by meaning.

All that has a body can be found, whether a memory was made of it or not. The words of large scopes are in an index that
a job writes (`index`); what is not in it yet is read itself, newest first and up to a bound: so an append pays nothing,
and what was said a moment ago is found. An event is scored like a memory: coverage squared, and half the cosine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from engram import embedding, inputs, ledger, served, tasks
from engram.channels import keyword, semantic
from engram.channels.keyword import Words
from engram.database import (
    Connection,
    execute,
    fetch_all,
    fetch_kept,
    fetch_named,
    fetch_one,
    fetch_value,
    send_ahead,
    statement,
)
from engram.memories import NOW, Moment
from engram.scales import REFERENCE, Scale
from engram.tenancy import Visible
from engram.values import ChannelHit, Event, EventHit, Mode, Window

if TYPE_CHECKING:
    from engram.embedding import Vectors

KIND: Final = "index_events"  # of the job
KEYWORD, SEMANTIC, UNREAD = "keyword", "semantic", "unread"  # what a search may have had to do without
# What is said and done; the engine's own events are found where a search names their types.
SAID: Final = (
    "user_message", "assistant_message", "tool_call", "tool_result", "agent_action", "decision", "observation",
    "artifact", "error", "system_note", "meeting", tasks.STARTED, tasks.UPDATED,
)  # fmt: skip
CALLERS: Final = "x."  # types of callers begin with it, and are said and done as well

MOST_WAITING: Final = 500  # events of a scope that may be in no index before a job is asked for
MOST_UNREAD: Final = 1_000  # events that one search reads itself
MOST_LOOKED: Final = 20_000  # headers it looks at to choose them
MOST_BYTES: Final = 4 * 1024 * 1024  # of their bodies; the one that passes the bound is read whole
BATCH: Final = 500  # events a job indexes at once
CONTENT: Final = 16_384  # characters of an event that are words to find it by
PAYLOAD: Final = 4_096  # and of its payload
LEAVES: Final = 200
MOST_MATCHES: Final = 5_000  # indexed events that one search compares, the newest
OVERFETCH: Final = 5
LEAST_FETCHED: Final = 50
COSINE: Final = 0.5  # what a cosine weighs beside the square of the coverage, as among memories
PREFERRED: Final = 0.1  # what a role that is asked for adds; a preference, never a filter
LINE: Final = 300  # characters of an event that its line shows

AGENTS: Final = ("assistant", "agent", "tool")  # whose doing is what an agent is asked about as "you"
USERS: Final = ("user",)
NO_LIMIT: Final = 2**31 - 1  # milliseconds, beside the limit that a transaction has
_WHO: Final = re.compile(
    r"\b(?:did|do|had|have|was|were|are|am|could|would|should|will)(?:n['’]t)?\s+(i|my|you|your)\b", re.IGNORECASE
)

ALLOWED: Final = """
       e.tenant_id = %(tenant_id)s AND e.scope_id = ANY(%(scope_ids)s)
   AND (e.event_type = ANY(%(types)s::text[]) OR (%(callers)s AND left(e.event_type, 2) = 'x.'))
   AND (%(roles)s::text[] IS NULL OR e.role = ANY(%(roles)s))
   AND (%(session_id)s::text IS NULL OR e.session_id = %(session_id)s)
   AND (%(task_run_id)s::uuid IS NULL OR e.task_run_id = %(task_run_id)s::uuid)
   AND (%(since)s::timestamptz IS NULL OR e.occurred_at >= %(since)s)
   AND (%(until)s::timestamptz IS NULL OR e.occurred_at < %(until)s)
   AND (%(as_of)s::timestamptz IS NULL OR e.occurred_at <= %(as_of)s)
   AND (%(known_at)s::timestamptz IS NULL OR e.recorded_at <= %(known_at)s)
   AND (e.task_run_id IS NULL OR coalesce((
        SELECT false FROM engram.agent_task_runs h
         WHERE h.tenant_id = e.tenant_id AND h.task_run_id = e.task_run_id
           AND h.forgotten_at <= coalesce(%(known_at)s::timestamptz, 'infinity')), true))
   AND (%(alone)s OR NOT EXISTS (
        SELECT FROM engram.memory_changes hc
          LEFT JOIN engram.agent_memory hm ON hm.tenant_id = hc.tenant_id AND hm.memory_id = hc.memory_id
         WHERE hc.tenant_id = e.tenant_id AND hc.event_id = e.event_id
           AND (hm.private OR hc.decision->'private' = 'true')
           AND coalesce(hm.scope_id, hc.scope_id) IS DISTINCT FROM %(own)s)
        AND NOT EXISTS (
        SELECT FROM engram.relation_changes hr
         CROSS JOIN LATERAL (
               SELECT x.private, x.scope_id FROM engram.agent_memory x
                WHERE x.tenant_id = e.tenant_id AND x.memory_id IN (hr.source_id, hr.target_id) OFFSET 0) hm
         WHERE hr.tenant_id = e.tenant_id AND hr.event_id = e.event_id
           AND hm.private AND hm.scope_id IS DISTINCT FROM %(own)s)
        AND (e.event_type <> 'session_ended' OR e.scope_id IS NOT DISTINCT FROM %(own)s
             OR NOT engram.holds_private(e.tenant_id, e.scope_id, e.session_id, NULL)))"""

GRAPHED: Final = """ARRAY(
           SELECT g.scope_id FROM engram.memory_graphs g
            WHERE g.tenant_id = %(tenant_id)s AND g.scope_id = ANY(%(scope_ids)s) AND g.model_id = %(model_id)s)"""
OF_EVENTS: Final = f"""
           SELECT m.memory_id
             FROM engram.agent_events e
            CROSS JOIN LATERAL (
                  SELECT x.memory_id, x.scope_id FROM engram.agent_memory x
                   WHERE x.tenant_id = %(tenant_id)s AND x.event_id = e.event_id OFFSET 0) m
            WHERE m.scope_id = ANY(%(scope_ids)s) AND {ALLOWED}"""  # noqa: S608 - constants
NEAREST: Final = semantic.NEAREST.replace("%(graphed)s::bigint[]", GRAPHED)
AMONG: Final = semantic.AMONG.replace("/*ids*/", OF_EVENTS)


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Which events may be found: half-open window of `occurred_at`, types, roles, session, task run; None is any.

    Without types it is what was said and done: messages, tools, actions, decisions, notes, and callers' own types.
    """

    window: Window | None = None
    types: Sequence[str] | None = None
    roles: Sequence[str] | None = None
    session_id: str | None = None
    task_run_id: str | None = None

    @property
    def is_any(self) -> bool:
        """Whether nothing was asked for but words."""
        return self == Narrowed()


@dataclass(frozen=True, slots=True)
class Found:
    """The events found, best first, what the search had to do without, and how many events wait for the index."""

    hits: tuple[EventHit, ...] = ()
    degraded: tuple[str, ...] = ()
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class _Unread:
    """Events in no index yet: where they stand, and their words."""

    stream_ids: list[str] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    waiting: int = 0
    cut: bool = False


def said(event_type: str) -> bool:
    """Whether an event of this type is something said or done, and not the engine's own. Pure."""
    return event_type in SAID or event_type.startswith(CALLERS)


def is_told(words: Words) -> bool:
    """Whether a question has anything to search by: a letter or a digit in any script. Pure."""
    return any(c.isalnum() for word in words.words for c in word)


def preferred(question: str) -> tuple[str, ...]:
    """The roles whose events a question asks for: "when did I" the user's, "when did you" the agent's. Pure."""
    found = _WHO.search(question)
    if found is None:
        return ()
    return USERS if found[1].casefold() in ("i", "my") else AGENTS


def line(event: Event, tz: tzinfo = UTC) -> str:
    """An event on one line, for an answer: when (in a time zone), who, and what in words of its own. Pure."""
    who = " ".join(dict.fromkeys(one for one in (event.role, event.actor) if one))
    what = " ".join((served.without(event.content) if event.content else " ".join(_leaves(event.payload))).split())
    if event.erased:
        what = "(erased)"
    shown = what if len(what) <= LINE else what[: LINE - 1].rstrip() + "…"
    return f"{event.occurred_at.astimezone(tz):%Y-%m-%d %H:%M} {who}: {shown}".rstrip()


def find(
    conn: Connection,
    visible: Visible,
    words: Words,
    narrowed: Narrowed | None = None,
    *,
    limit: int = 50,
    mode: Mode = "hybrid",
    moment: Moment = NOW,
    prefer: Sequence[str] = (),
    vector: Vectors | None = None,
    model_id: int | None = None,
    scale: Scale = REFERENCE,
    config: str = "english",
) -> Found:
    """The events that hold the words of a question or are near its vector, best first.

    Events of the roles to `prefer` come a little earlier. A question without words lists the newest events where it is
    narrowed, and finds nothing otherwise.
    """
    asked = narrowed or Narrowed()
    if limit == 0 or not visible.scope_ids:
        return Found()
    params = _params(visible, asked, moment)
    # "What did you do yesterday?" asks for all of yesterday: it holds no word that tells one event from another.
    wordless = not is_told(words) or (
        mode != "semantic"
        and not asked.is_any
        and not fetch_value(conn, "has_lexemes", config=config, said=" ".join(words.words))
    )
    if wordless:
        return Found() if asked.is_any else Found(_listed(conn, visible, params, asked, limit))
    fetch = max(OVERFETCH * limit, LEAST_FETCHED)
    degraded: list[str] = []
    near: list[Any] = []
    if mode != "keyword" and vector is not None and model_id is not None:
        near = _near(conn, params, asked, vector, model_id, limit, fetch)
    if not near and mode == "semantic":
        degraded.append(SEMANTIC)
    # By meaning alone words only do without: then what is in no index is still read for those that it must not hold.
    sought = Words(without=words.without) if mode == "semantic" else words
    unread = _read(conn, params, asked) if sought.words or (near and sought.without) else _Unread()
    if unread.cut:
        degraded.append(UNREAD)
    rows = (
        _score(conn, params, asked, sought, unread, near, vector, model_id, fetch, config)
        if sought.words or near
        else []
    )
    if any(row.cut for row in rows[:1]):
        degraded.append(KEYWORD)
    return Found(_ranked(conn, visible, rows, limit, mode, prefer, scale), tuple(degraded), unread.waiting)


def read_and_waiting(conn: Connection, tenant_id: str, scope_id: int) -> tuple[int, int]:
    """How many events of a scope were read for the index, and how many wait for it."""
    row = fetch_one(conn, "count_unread_events", tenant_id=tenant_id, scope_id=scope_id)
    assert row is not None
    return row.read, row.waiting


def may_be_due(conn: Connection, tenant_id: str, scope_id: int) -> bool:
    """Whether so many events may wait for the index that a job is wanted, as far as the newest of them tell."""
    asked = {"tenant_id": tenant_id, "scope_id": scope_id, "least": MOST_WAITING, "kind": KIND}
    return bool(fetch_value(conn, "has_unread_events", **asked))


def index(conn: Connection, tenant_id: str, scope_id: int, *, config: str = "english", batch: int = BATCH) -> bool:
    """Write the words of a batch of a scope's events to the index; True when there may be more. A job's work."""
    # What is being erased waits for this transaction, or this one for it: then its body is gone when it is read below.
    _lock(conn, tenant_id, scope_id)
    rows = fetch_all(
        conn, "list_unindexed_events", tenant_id=tenant_id, scope_id=scope_id, limit=batch, bytes=MOST_BYTES
    )
    if not rows:
        return False
    execute(
        conn,
        "index_event_words",
        tenant_id=tenant_id,
        scope_id=scope_id,
        config=config,
        stream_ids=[row.stream_id for row in rows],
        positions=[row.position for row in rows],
        occurred=[row.occurred_at for row in rows],
        texts=[_text(row) for row in rows],
        house=[not said(row.event_type) for row in rows],
    )
    return True


def erase(conn: Connection, tenant_id: str, scope_id: int, event: Event) -> int:
    """Take the words of an event out of the index, for ever, in the transaction of its redaction; how many rows."""
    _lock(conn, tenant_id, scope_id)
    return execute(conn, "erase_event_words", tenant_id=tenant_id, stream_id=event.stream_id, position=event.position)


def _lock(conn: Connection, tenant_id: str, scope_id: int) -> None:
    fetch_all(conn, "lock_event_words", key=f"{tenant_id}/{scope_id}/words")


def _params(visible: Visible, asked: Narrowed, moment: Moment) -> dict[str, Any]:
    since, until = asked.window or (None, None)
    return {
        "tenant_id": visible.scope.tenant_id,
        "scope_ids": list(visible.scope_ids),
        "own": visible.own,
        "alone": visible.own_ids is None,
        "types": list(SAID if asked.types is None else asked.types),
        "callers": asked.types is None,
        "roles": None if asked.roles is None else list(asked.roles),
        "session_id": asked.session_id,
        "task_run_id": asked.task_run_id,
        "since": since,
        "until": until,
        "as_of": moment.as_of,
        "known_at": moment.known_at,
    }


def _ask(conn: Connection, name: str, params: Mapping[str, Any], asked: Narrowed, near: str = "") -> list[Any]:
    """The rows of a statement; what narrows the events is planned for its values, since it may have an index."""
    return (fetch_kept if asked.is_any else fetch_named)(conn, _text_of(name, near), params)


@lru_cache(maxsize=16)
def _text_of(name: str, near: str = "") -> str:
    return statement(name).replace("/*near*/", near).replace("/*allowed*/", ALLOWED)


def _listed(
    conn: Connection, visible: Visible, params: Mapping[str, Any], asked: Narrowed, limit: int
) -> tuple[EventHit, ...]:
    ids = [row.event_id for row in _ask(conn, "list_newest_events", {**params, "limit": limit}, asked)]
    events = ledger.get_many(conn, ids, scope_ids=visible.scope_ids)
    return tuple(EventHit(events[event_id], 0.0, rank) for rank, event_id in enumerate(ids, 1))


def _near(
    conn: Connection, params: Mapping[str, Any], asked: Narrowed, vector: Vectors, model_id: int, limit: int, fetch: int
) -> list[Any]:
    about = {**params, "vector": embedding.halves(vector), "model_id": model_id, "fetch": fetch}
    if asked.is_any:
        breadth = semantic.breadth(semantic.BREADTHS[0][0], fetch)  # nobody has counted the memories: of many
        send_ahead(conn, "set_search", breadth=str(breadth), milliseconds=NO_LIMIT)
        near, compared = _found(_ask(conn, "find_events_by_vector", about, asked, NEAREST))
        # Most memories stand for something said. Where they do not, the narrow form looks at those that do only.
        if len(near) >= limit or compared < fetch:
            return near
    return _found(fetch_named(conn, _text_of("find_events_by_vector", AMONG), about))[0]


def _found(rows: Sequence[Any]) -> tuple[list[Any], int]:
    """The rows of a statement that always has one, and of how many memories they are. Pure."""
    return [row for row in rows if row.stream_id is not None], rows[0].memories


def _read(conn: Connection, params: Mapping[str, Any], asked: Narrowed) -> _Unread:
    bounds = {"looked": MOST_LOOKED, "limit": MOST_UNREAD, "bytes": MOST_BYTES}
    first, *rest = _ask(conn, "list_unread_events", {**params, **bounds}, asked)
    rows = [row for row in (first, *rest) if row.stream_id is not None]
    cut = first.waiting > MOST_LOOKED or first.allowed > MOST_UNREAD or first.left_out
    places = [row.stream_id for row in rows], [row.position for row in rows]
    return _Unread(*places, [_text(row) for row in rows], first.waiting, cut)


def _score(
    conn: Connection,
    params: Mapping[str, Any],
    asked: Narrowed,
    words: Words,
    unread: _Unread,
    near: Sequence[Any],
    vector: Vectors | None,
    model_id: int | None,
    fetch: int,
    config: str,
) -> list[Any]:
    return _ask(
        conn,
        "find_events",
        {
            **params,
            "config": config,
            "words": list(words.words),
            "phrases": list(words.phrases),
            "without": list(words.without),
            # Only what was said and done carries weight A: without types the index need not look at the rest.
            "weight": ":A" if params["callers"] else "",
            "stream_ids": unread.stream_ids,
            "positions": unread.positions,
            "texts": unread.texts,
            "near_streams": [row.stream_id for row in near],
            "near_positions": [row.position for row in near],
            "cosines": [row.cosine for row in near],
            "vector": None if vector is None or not near else embedding.halves(vector),
            "model_id": model_id,
            "least": keyword.LEAST_WORDS,
            "budget": keyword.BUDGET,
            "counted": keyword.COUNTED_ROWS,
            "most": MOST_MATCHES,
            "fetch": fetch,
        },
        asked,
    )


def _ranked(
    conn: Connection, visible: Visible, rows: Sequence[Any], limit: int, mode: Mode, prefer: Sequence[str],
    scale: Scale,
) -> tuple[EventHit, ...]:  # fmt: skip
    cosines: dict[str, Any] = {row.event_id: None if row.cosine is None else scale.told(row.cosine) for row in rows}

    def score(row: Any) -> float:
        cosine = 0.0 if mode == "keyword" else COSINE * min(max(cosines[row.event_id] or 0.0, 0.0), 1.0)
        return float(row.coverage**2 + cosine + (PREFERRED if row.role in prefer else 0.0))

    # The one order: best first, then what happened last, then what was recorded last. One row is always there.
    shown = [row for row in rows if (row.coverage or 0.0) > 0 or (cosines[row.event_id] or 0.0) > 0]
    newest = sorted(shown, key=lambda row: (row.occurred_at, row.recorded_at, row.event_id), reverse=True)
    best = sorted(newest, key=score, reverse=True)[:limit]
    by_words = _places({row.event_id: row.coverage for row in newest if row.coverage > 0})
    by_vector = _places({row.event_id: cosine for row in newest if (cosine := cosines[row.event_id]) is not None})
    events = ledger.get_many(conn, [row.event_id for row in best], scope_ids=visible.scope_ids)
    found = [row for row in best if row.event_id in events]
    return tuple(
        EventHit(
            events[row.event_id],
            score(row),
            rank,
            keyword.as_asked(row.matched),
            {
                name: ChannelHit(places[row.event_id], value)
                for name, places, value in (
                    (KEYWORD, by_words, row.coverage),
                    (SEMANTIC, by_vector, cosines[row.event_id]),
                )
                if row.event_id in places
            },
        )
        for rank, row in enumerate(found, 1)
    )


def _places(values: Mapping[str, float]) -> dict[str, int]:
    return {one: place for place, one in enumerate(sorted(values, key=lambda i: -values[i]), 1)}


def _text(row: Any) -> str:
    """What an event is found by, as the index sees it: speaker, content, and what that leaves out of the payload."""
    body = None if row.body is None else inputs.load_json(bytes(row.body))
    if not isinstance(body, dict):
        return ""
    content = body.get("content")
    shown = content[:CONTENT] if isinstance(content, str) else ""
    more, size = [], 0
    for leaf in _leaves(body.get("payload")):
        if size >= PAYLOAD:
            break
        if leaf not in shown:
            more.append(leaf[: PAYLOAD - size])
            size += len(leaf)
    told = " ".join([shown, *more]).strip()
    return keyword.plain(f"{row.actor}: {told}" if row.actor and told else told)


def _leaves(value: Any) -> list[str]:
    """The texts and numbers in a payload, in its order, so many at most."""
    return [leaf for leaf, _ in zip(_walk(value), range(LEAVES), strict=False)]


def _walk(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _walk(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _walk(one)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
