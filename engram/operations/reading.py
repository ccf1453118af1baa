"""Reading back: by id, in order, by lineage, by pin, and why a memory is believed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast

from engram import filters, history, ids, inputs, memories, paging, recall, tenancy, timelines, writing
from engram.database import Connection, ending
from engram.errors import InvalidInput, LimitExceeded, NotFound
from engram.filters import Filter
from engram.memories import Moment
from engram.operations import steps
from engram.operations.setup import Reading, Setup
from engram.operations.steps import Operation
from engram.recall import Asked, triggers
from engram.scope import Scope
from engram.tenancy import Shelves, Visible
from engram.values import (
    CALENDARS,
    DECISIONS,
    TYPE_ALIASES,
    Calendar,
    CriticalMemories,
    HistoryEntry,
    Lineage,
    Memory,
    MemoryExplanation,
    Page,
    Timeline,
    Trigger,
    WriteDecision,
)

T = TypeVar("T")


def get(setup: Setup, memory_id: object, given: Mapping[str, Any]) -> Operation[Memory]:
    """The memory of that id, or NotFound."""
    memory = yield from find(setup, memory_id, given)
    if memory is None:
        raise NotFound("no memory with that id in this scope")
    return memory


def find(setup: Setup, memory_id: object, given: Mapping[str, Any]) -> Operation[Memory | None]:
    """The memory of that id, or None."""
    wanted = inputs.memory_id(memory_id)

    def work(conn: Connection, visible: Visible, moment: Moment) -> Memory | None:
        return memories.find(ending(conn), visible, wanted, moment)

    def at_once(conn: Connection, scope: Scope) -> Memory | None:
        return memories.find_at_once(ending(conn), scope, wanted)

    return (yield from _seen(setup, given, work, shelves="with", at_once=None if ids.is_short(wanted) else at_once))


def get_current(setup: Setup, memory_id: object, topic_key: object, given: Mapping[str, Any]) -> Operation[Memory]:
    """The head of the lineage that an id or a topic key names; NotFound when nothing of it is current."""
    line = yield from get_lineage(setup, memory_id, topic_key, given)
    if line.head is None:
        raise NotFound("nothing of this lineage is current")
    return line.head


def list_memories(
    setup: Setup, *, filter: object, sort: object, limit: object, cursor: object, given: Mapping[str, Any]
) -> Operation[Page[Memory]]:
    """A page of memories in a total order."""
    order = inputs.choice(sort, "sort", memories.SORTS)
    most = inputs.limit(limit)
    checked = chosen_filter(filter)
    place = inputs.optional(paging.check_cursor, cursor)
    chosen = yield from with_whole_ids(setup.reading(given), checked)

    def work(conn: Connection, visible: Visible, moment: Moment) -> Page[Memory]:
        return memories.list_memories(
            conn, visible, filter=chosen, sort=order, limit=most, cursor=place, moment=moment, key=setup.cursor_key
        )

    return (yield from _seen(setup, given, work, shelves="with" if recall.asks_for_chunks(chosen) else "without"))


def get_lineage(setup: Setup, memory_id: object, topic_key: object, given: Mapping[str, Any]) -> Operation[Lineage]:
    """All revisions of one fact, newest first, and its head."""
    if (memory_id is None) == (topic_key is None):
        raise InvalidInput(
            "memory_id", "either a memory_id or a topic_key", "both" if memory_id is not None else "neither"
        )
    wanted = inputs.optional(inputs.memory_id, memory_id)
    topic = inputs.optional(inputs.key_text, topic_key, "topic_key")

    def work(conn: Connection, visible: Visible, moment: Moment) -> Lineage:
        if topic is not None:
            return memories.lineage_of_topic(conn, visible, topic, moment)
        return memories.lineage_of(ending(conn), visible, str(wanted), moment)

    def at_once(conn: Connection, scope: Scope) -> Lineage:
        return memories.lineage_at_once(ending(conn), scope, str(wanted))

    apart = wanted is None or ids.is_short(wanted)
    return (yield from _seen(setup, given, work, shelves="with", at_once=None if apart else at_once))


def get_history(
    setup: Setup, *, memory_id: object, filter: object, since: object, until: object, include_superseded: object,
    limit: object,
    cursor: object, given: Mapping[str, Any],
) -> Operation[Page[HistoryEntry]]:  # fmt: skip
    """The changes of a memory or of a scope, newest first."""
    checked = chosen_filter(filter)
    look = partial(
        history.get_history, memory_id=inputs.optional(inputs.memory_id, memory_id),
        since=inputs.optional(inputs.moment, since, "since"), until=inputs.optional(inputs.moment, until, "until"),
        include_superseded=inputs.flag(include_superseded, "include_superseded"), limit=inputs.limit(limit),
        cursor=inputs.optional(paging.check_cursor, cursor), key=setup.cursor_key,
    )  # fmt: skip
    chosen = yield from with_whole_ids(setup.reading(given), checked)
    shelves: Shelves = "with" if memory_id is not None or recall.asks_for_chunks(chosen) else "without"

    def work(conn: Connection, visible: Visible, moment: Moment) -> Page[HistoryEntry]:
        return look(conn, visible, filter=chosen, moment=moment)

    return (yield from _seen(setup, given, work, shelves=shelves))


def timeline(
    setup: Setup, *, filter: object, around: object, since: object, until: object, group_by: object, limit: object,
    given: Mapping[str, Any],
) -> Operation[Timeline]:  # fmt: skip
    """Memories by the period in which they became true, newest first; with `around` those about that one."""
    tz = inputs.zone(setup.settings.time_zone)
    checked, named = chosen_filter(filter), inputs.optional(inputs.memory_id, around, "around")
    start = inputs.optional(inputs.moment_said, since, "since", tz)
    end = inputs.optional(inputs.moment_said, until, "until", tz)
    if start is not None and end is not None and end <= start:
        raise InvalidInput("until", "a time after since", "one that is not")
    by = cast("Calendar", inputs.choice(group_by, "group_by", CALENDARS))
    look = partial(timelines.timeline, since=start, until=end, group_by=by, limit=inputs.limit(limit), tz=tz)
    reading: Reading = setup.reading(given)
    chosen = yield from with_whole_ids(reading, checked)

    def work(conn: Connection) -> Timeline:
        whole, chunks = None, recall.asks_for_chunks(chosen)
        if named is not None:
            whole = memories.get(conn, tenancy.visible(conn, reading.scope, shelves="with"), named, reading.moment)
            chunks = chunks or whole.category == recall.CHUNK
        visible = tenancy.visible(conn, reading.scope, shelves="with" if chunks else "without")
        return look(conn, visible, around=whole, filter=chosen, moment=reading.moment)

    return (yield from steps.read(reading.scope.tenant_id, work))


def list_decisions(
    setup: Setup, *, kind: object, since: object, limit: object, cursor: object, given: Mapping[str, Any]
) -> Operation[Page[WriteDecision]]:
    """A page of what was decided of candidates, newest first, with the memories as they stand."""
    look = partial(
        history.list_decisions, kind=inputs.optional(inputs.choice, kind, "kind", DECISIONS),
        since=inputs.optional(inputs.moment, since, "since"), limit=inputs.limit(limit),
        cursor=inputs.optional(paging.check_cursor, cursor), key=setup.cursor_key,
    )  # fmt: skip

    def work(conn: Connection, visible: Visible, moment: Moment) -> Page[WriteDecision]:
        known = Moment(known_at=moment.known_at)
        page = look(conn, visible, moment=moment)
        return Page(tuple(writing.told(conn, visible, page.results, known)), page.cursor)

    return (yield from _seen(setup, given, work))


def explain_memory(setup: Setup, memory_id: object, given: Mapping[str, Any]) -> Operation[MemoryExplanation]:
    """Why a memory is believed. Calls no model and changes nothing."""
    wanted = inputs.memory_id(memory_id)

    def decide(kept: Mapping[str, Any], memory: Memory, head: Memory | None) -> Any:
        return writing.revive(kept, memory, head, memory)

    def work(conn: Connection, visible: Visible, moment: Moment) -> MemoryExplanation:
        return history.explain_memory(conn, visible, wanted, decide, moment)

    return (yield from _seen(setup, given, work, shelves="with"))


def recall_critical(
    setup: Setup, *, memory_types: object, limit: object, max_tokens: object, strict: object, given: Mapping[str, Any]
) -> Operation[CriticalMemories]:
    """Every pinned memory of the readable scopes, in a fixed order."""
    types = None
    if memory_types is not None:
        types = [
            inputs.choice(one, "memory_types", TYPE_ALIASES)
            for one in inputs.items(memory_types, "memory_types", len(TYPE_ALIASES))
        ]
    wanted: dict[str, Any] = {
        "memory_types": types, "limit": inputs.limit(limit),
        "max_tokens": inputs.optional(inputs.whole, max_tokens, "max_tokens", 0, inputs.MOST_TOKENS),
        "strict": inputs.flag(strict, "strict"),
    }  # fmt: skip

    def work(conn: Connection, visible: Visible, moment: Moment) -> CriticalMemories:
        return memories.recall_critical(ending(conn), visible, moment=moment, **wanted)

    def at_once(conn: Connection, scope: Scope) -> CriticalMemories:
        return memories.critical_at_once(ending(conn), scope, **wanted)

    return (yield from _seen(setup, given, work, at_once=at_once))


def recall_trigger(
    setup: Setup, action: object, *, limit: object, given: Mapping[str, Any]
) -> Operation[tuple[Memory, ...]]:
    """The memories tagged with an action."""
    wanted = _action(action)
    look = partial(triggers.recall_trigger, action=wanted, limit=inputs.limit(limit))
    return tuple((yield from _seen(setup, given, lambda conn, visible, moment: look(conn, visible, moment=moment))))


def list_triggers(setup: Setup, given: Mapping[str, Any]) -> Operation[tuple[Trigger, ...]]:
    """The actions that memories are tagged with."""

    def work(conn: Connection, visible: Visible, moment: Moment) -> tuple[Trigger, ...]:
        return tuple(triggers.list_triggers(conn, visible, moment=moment))

    return (yield from _seen(setup, given, work))


def _action(value: object) -> str:
    """What is about to be done, as it stands in a tag behind the prefix."""
    action = inputs.tag(value, "action").removeprefix(triggers.PREFIX).strip()
    if inputs.is_blank(action):
        raise InvalidInput("action", "what is about to be done, such as git-push", "nothing")
    most = inputs.TAG_CHARACTERS - len(triggers.PREFIX)
    if len(action) > most:
        raise LimitExceeded("action", most, len(action), "characters")
    return action


def chosen_filter(value: object) -> Filter | None:
    """A filter given as a Filter or in its JSON form."""
    if value is None or isinstance(value, Filter):
        return value
    if not isinstance(value, Mapping):
        raise InvalidInput("filter", "a Filter or its JSON form", type(value).__name__)
    return filters.parse(value)


def with_whole_ids(reading: Reading, chosen: Filter | None) -> Operation[Filter | None]:
    """The same filter with the ids of memories whole; Conflict where a short one is of several that the read sees.

    A short id that the read sees none of names nothing, as an unknown full one does.
    """
    short = frozenset[str]() if chosen is None else filters.short_ids(chosen)
    if chosen is None or not short:
        return chosen

    def work(conn: Connection) -> dict[str, str]:
        return memories.whole_ids(ending(conn), tenancy.visible(conn, reading.scope, shelves="with"), short)

    return filters.with_whole_ids(chosen, (yield from steps.read(reading.scope.tenant_id, work)))


def named(reading: Reading, asked: Asked) -> Operation[Asked]:
    """The same search with the ids in its filter whole."""
    chosen = yield from with_whole_ids(reading, asked.filter)
    return asked if chosen is asked.filter else replace(asked, filter=chosen)


def _seen(
    setup: Setup, given: Mapping[str, Any], work: Callable[[Connection, Visible, Moment], T], *,
    shelves: Shelves = "without", at_once: Callable[[Connection, Scope], T] | None = None,
) -> Operation[T]:  # fmt: skip
    """What a read finds in the scopes it may see; of now by one statement, where there is one that finds both."""
    reading: Reading = setup.reading(given)

    def look(conn: Connection) -> T:
        if at_once is not None and reading.moment.is_now:
            return at_once(conn, reading.scope)
        return work(conn, tenancy.visible(conn, reading.scope, shelves=shelves), reading.moment)

    return (yield from steps.read(reading.scope.tenant_id, look))
