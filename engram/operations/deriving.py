"""Deriving: a job reads events after each deriver's cursor and writes their memories once, fenced and in one go."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from engram import (
    batching,
    chain,
    citations,
    derivation,
    history,
    inputs,
    jobs,
    ledger,
    memories,
    policies,
    tenancy,
    writing,
)
from engram.database import Connection, ending, fetch_ahead, fetch_all, fetch_one
from engram.derivation import documents, llm, rules, verbatim
from engram.derivation.proposals import Proposed, fitted
from engram.english import replies
from engram.errors import PASSING, EngramError, NotFound, PolicyError, Unavailable, class_of
from engram.jobs import Job
from engram.operations import echoing, spaces, steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.policies import guards
from engram.policies.classify import Classified, Proposal, classify
from engram.scope import Scope
from engram.tenancy import Visible
from engram.values import MEMORY_TYPES, Event, Receipt, WriteDecision
from engram.writing import Draft, Origin

BATCH: Final = 100
WHOLE: Final = -1
"""In the place of a statement's ordinal: all that a deriver finds in an event."""
FIRST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 0.5
MESSAGES: Final = ("assistant_message", "user_message")

logger = logging.getLogger("engram")


@dataclass(frozen=True, slots=True)
class Span:
    """The events of one stream that one deriver has yet to read: from after `old` up to `new`."""

    name: str
    version: int
    old: int
    new: int
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a derive job found to do: spans by deriver, the scope, who the user is, and what was said before.

    `preceding` are the messages right before those that may need them, nearest first, by the later one's id.
    """

    scope: Scope
    scope_id: int
    spans: tuple[Span, ...]
    preceding: Mapping[str, Sequence[Event]] = field(default_factory=dict)
    size: int = 0  # events it was read from
    more: bool = False  # whether others wait behind them

    @property
    def after(self) -> int:
        """The position after which it was read."""
        return min((span.old for span in self.spans), default=0)

    @property
    def upto(self) -> int | None:
        """The position up to which every deriver has read with it; None where there was nothing to read."""
        return max((span.new for span in self.spans), default=None)


@dataclass(frozen=True, slots=True)
class Drafted:
    """What was drafted for one scope, in the order in which it is judged; `said` is that before echoes are put."""

    scope: Scope
    scope_id: int
    said: Sequence[tuple[Draft, Origin]]
    pairs: Sequence[tuple[Draft, Origin]]


def wait_for(
    setup: Setup, what: object, *, deriver: object, timeout: object, given: Mapping[str, Any]
) -> Operation[tuple[WriteDecision, ...]]:
    """Wait until the events of a receipt, or one event, are derived, as `waited` does; NotFound for an unknown one."""
    reading = setup.reading(given)
    several = inputs.items(what.event_ids, "what", inputs.BATCH_ITEMS) if isinstance(what, Receipt) else (what,)
    named = list(dict.fromkeys(inputs.named_event_id(one, "what") for one in several))
    name = inputs.optional(inputs.choice, deriver, "deriver", [*(one.NAME for one in derivation.DERIVERS), llm.NAME])
    patience, scope = inputs.number(timeout, "timeout", 0, 3_600), reading.scope
    if isinstance(what, Receipt) and what.dry_run:  # whose events are nowhere
        return ()

    def work(conn: Connection) -> list[str]:
        visible = tenancy.visible(conn, scope)
        wanted = citations.resolve_event_ids(conn, visible, named)
        if len(citations.seen(conn, visible, wanted, reading.moment)) < len(wanted):
            raise NotFound(citations.NO_EVENT)
        return wanted

    event_ids = yield from steps.read(scope.tenant_id, work)
    return (yield from waited(scope, event_ids, deriver=name, timeout=patience))


def waited(
    scope: Scope, event_ids: Sequence[str], *, deriver: str | None = None, timeout: float
) -> Operation[tuple[WriteDecision, ...]]:
    """What came of some events of a scope once they are derived; Unavailable with the backlog when not in time.

    A job that is dead is not waited for: Unavailable names its class at once. The language model's work is an exception
    unless it is asked for by name: where it failed or is paused, what the other derivers made is the answer. Where it
    is all that is not done in time, the error says so, and what its last try failed with.
    """
    until, pause = timeout + time.monotonic(), FIRST_PAUSE
    while True:
        behind, dead, made = yield from steps.read(
            scope.tenant_id, lambda conn: _standing(conn, scope, event_ids, deriver)
        )
        if not behind:
            return tuple(made)
        if dead is not None:
            raise Unavailable(f"the job that derives the events is dead ({dead})", behind=behind, error_class=dead)
        left = until - time.monotonic()
        if left <= 0:
            late = partial(_late, scope=scope, event_ids=event_ids, behind=behind)
            raise (yield from steps.read(scope.tenant_id, late))
        yield from steps.pause(min(pause, left))
        pause = min(pause * 2, LONGEST_PAUSE)


def decisions_of(scope: Scope, event_ids: Sequence[str]) -> Operation[list[WriteDecision]]:
    """The decisions that came of some events, with their memories as they stand now."""

    if not event_ids:
        return []
    return (
        yield from steps.read(
            scope.tenant_id, lambda conn: _decisions(conn, tenancy.visible(conn, scope), event_ids)
        )
    )  # fmt: skip


def _decisions(conn: Connection, visible: Visible, event_ids: Sequence[str]) -> list[WriteDecision]:
    kept = history.decisions_of(conn, visible, event_ids=event_ids)
    ids = {one for decision in kept for one in (decision["memory_id"], decision["target_id"]) if one is not None}
    found = {memory.memory_id: memory for memory in memories.load(ending(conn), visible, sorted(ids))}
    decided = []
    for decision in kept:
        memory, target = found.get(decision["memory_id"]), found.get(decision["target_id"])
        head = (
            memory
            if memory is None or (memory.status == "active" and "moot" not in memory.labels)
            else memories.lineage(conn, visible, memory.lineage_id).head
        )
        decided.append(writing.revive(decision, memory, head, target))
    return decided


def rehearse(
    setup: Setup, scope: Scope, events: Sequence[ledger.NewEvent], append: Callable[[Connection], Receipt], *, key: str
) -> Operation[Receipt]:
    """What appending and deriving these events would do: all of it in one transaction that is taken back."""
    setup = yield from spaces.ready(setup, scope.tenant_id)
    put = _drafts(setup, _reading_of(scope, 0, events, _imagined(events)))
    if echoing.looks(put):
        held = (yield from steps.read(scope.tenant_id, lambda conn: tenancy.find(conn, scope))) or 0
        put = yield from echoing.resolved(setup, scope.tenant_id, held, put)
    facts = [draft.fact for draft, _ in put]
    vector_of = dict(zip(facts, (yield from vectors(setup, facts)), strict=True))

    def work(conn: Connection) -> Receipt:
        with conn.begin_nested() as savepoint:
            receipt = append(conn)
            desk = setup.desk(conn, scope)
            known = ledger.get_many(conn, [event.event_id for event in events])
            there = [event for event in events if event.event_id in known]
            reading = replace(
                _reading_of(scope, desk.scope_id, there, known), preceding=preceding(conn, list(known.values()))
            )
            told = _drafts(setup, reading) if not receipt.duplicate else []
            pairs = echoing.resolve(setup, conn, scope.tenant_id, desk.scope_id, told)
            drafts = [(replace(draft, vector=vector_of.get(draft.fact)), origin) for draft, origin in pairs]
            decisions = writing.whole(desk, batching.write_all(desk, drafts))
            savepoint.rollback()
        return replace(receipt, decisions=tuple(replace(one, dry_run=True) for one in decisions), dry_run=True)

    return (yield from steps.write(scope.tenant_id, work, key=key))


def _reading_of(scope: Scope, scope_id: int, events: Sequence[ledger.NewEvent], known: Mapping[str, Event]) -> Reading:
    spans = [
        Span(one.NAME, one.VERSION, 0, 0, tuple(known[event.event_id] for event in events if one.NAME in event.derive))
        for one in derivation.DERIVERS
    ]
    return Reading(scope, scope_id, tuple(spans))


def _imagined(events: Sequence[ledger.NewEvent]) -> dict[str, Event]:
    """New events as they might stand in the ledger: enough for derivers, which look at words and times."""
    now = datetime.now(UTC)
    return {
        event.event_id: Event(
            event_id=event.event_id, stream_id="", position=place, role=event.role, event_type=event.event_type,  # type: ignore[arg-type]
            trust=event.trust, content=event.content, payload=event.payload, metadata=event.metadata,  # type: ignore[arg-type]
            occurred_at=event.occurred_at or now, recorded_at=now, session_id=event.session_id,
            task_run_id=event.task_run_id, actor=event.actor, erased=False, hash="",
        )
        for place, event in enumerate(events, 1)
    }  # fmt: skip


Found = tuple[Job, Reading]


def derive(setup: Setup, job: Job) -> Operation[None]:
    """Derive memories from the events of a job's stream, by every deriver that needs no language model."""
    while (yield from derive_together(setup, [job])):
        continue


def derive_together(setup: Setup, several: Sequence[Job]) -> Operation[list[Job]]:
    """The same for jobs of different streams of a tenant; those that are left, each to be run by itself.

    What is left has more events than are read at once, or has moved on meanwhile. An error leaves nothing half done:
    what was not finished before it is as it was.
    """
    tenant_id = several[0].tenant_id
    left: list[Job] = []
    for pack in _packs((yield from steps.read(tenant_id, lambda conn: _read(conn, several)))):
        left += yield from _derived(setup, tenant_id, pack)
    return left


def _packs(found: Sequence[Found]) -> Iterator[list[Found]]:
    """What was found to do, in packs of about a batch of events: each is the effect of one transaction. Pure."""
    pack: list[Found] = []
    for one in sorted(found, key=lambda one: one[1].size):
        if pack and sum(reading.size for _, reading in (*pack, one)) > BATCH:
            yield pack
            pack = []
        pack.append(one)
    if pack:
        yield pack


def _derived(setup: Setup, tenant_id: str, pack: Sequence[Found]) -> Operation[list[Job]]:
    """Derive what was found to do for some jobs, and write it in one go; the jobs that are left."""
    drafted: list[Drafted] = []
    for scope_id in sorted({reading.scope_id for _, reading in pack}):
        here = [reading for _, reading in pack if reading.scope_id == scope_id]
        pairs = [pair for reading in here for pair in _drafts(setup, reading)]
        put = yield from echoing.resolved(setup, tenant_id, scope_id, pairs)
        drafted.append(Drafted(here[0].scope, scope_id, pairs, put))
    facts = [draft.fact for one in drafted for draft, _ in one.pairs]
    found = iter((yield from vectors(setup, facts, *(job for job, _ in pack))))
    made = [
        replace(one, pairs=[(replace(draft, vector=next(found)), origin) for draft, origin in one.pairs])
        for one in drafted
    ]
    return (
        yield from steps.write(
            tenant_id, lambda conn: _effect(setup, conn, pack, made), key=pack[0][0].job_id
        )
    )  # fmt: skip


def _read(conn: Connection, several: Sequence[Job]) -> list[Found]:
    """The events that jobs have to derive from: those after each deriver's cursor, up to a batch a stream."""
    streams = [job.stream_id for job in several if job.stream_id is not None]
    numbers = sorted({job.scope_id for job in several if job.scope_id is not None})
    rows = fetch_ahead(conn, "list_scopes_by_id", tenant_id=several[0].tenant_id, scope_ids=numbers)
    cursors_of = jobs.cursors_ahead(conn, streams, derivation.versions())
    waiting: dict[str, list[tuple[Event, list[str]]]] = {stream_id: [] for stream_id in streams}
    found, there = ledger.derivable(ending(conn), streams, derivation.versions(), limit=BATCH + 1)
    for event, derivers in found:
        waiting[event.stream_id].append((event, derivers))
    scopes = {row.scope_id: Scope(several[0].tenant_id, row.namespace, row.agent_id, row.user_id) for row in rows()}
    cursors = cursors_of()
    told = [*there, *(event for event, _ in found)]
    before = preceding(conn, [event for behind in waiting.values() for event, _ in behind[:BATCH]], told)
    readings = []
    for job in several:
        assert job.stream_id is not None
        assert job.scope_id is not None
        behind = waiting[job.stream_id]
        events = behind[:BATCH]
        spans = [_span(cursor, events) for cursor in cursors if cursor.stream_id == job.stream_id]
        read = tuple(span for span in spans if span.events)
        readings.append(
            (job, Reading(scopes[job.scope_id], job.scope_id, read, before, len(events), len(behind) > BATCH))
        )
    return readings


def preceding(conn: Connection, events: Sequence[Event], there: Iterable[Event] = ()) -> dict[str, list[Event]]:
    """The messages right before those of some events that may need them, nearest first, by the later one's id.

    What is `there` already is not read again.
    """
    wanted = [event for event in events if event.position > 1 and rules.reads_on(event)]
    known = {(event.stream_id, event.position): event for event in there}
    unknown = [event.event_id for event in wanted if not _places_before(event) <= known.keys()]
    for row in fetch_all(conn, "list_preceding", event_ids=unknown) if unknown else ():
        event = chain.event(row)
        known[event.stream_id, event.position] = event
    return {event.event_id: _before(event, known) for event in wanted}


def _places_before(event: Event) -> set[tuple[str, int]]:
    return {(event.stream_id, event.position - back) for back in (1, 2) if event.position > back}


def _before(event: Event, known: Mapping[tuple[str, int], Event]) -> list[Event]:
    """The messages right before an event that are read with it, nearest first. Pure."""
    found = (known.get((event.stream_id, event.position - back)) for back in (1, 2))
    return [
        one
        for one in found
        if one is not None
        and one.event_type in MESSAGES
        and one.content is not None
        and replies.is_in_time(one.occurred_at, event.occurred_at)
    ]


def _span(cursor: jobs.Cursor, waiting: Sequence[tuple[Event, list[str]]]) -> Span:
    """Those of some events that wait for the deriver of a cursor. Pure."""
    events = [
        event for event, derivers in waiting if event.position > cursor.position and cursor.deriver in derivers
    ]  # fmt: skip
    new = events[-1].position if events else cursor.position
    return Span(cursor.deriver, cursor.version, cursor.position, new, tuple(events))


def _drafts(setup: Setup, reading: Reading, *, parks: bool = True) -> list[tuple[Draft, Origin]]:
    """What the derivers propose and the policy makes of it, in the order of the events. Pure.

    What fails on one event is a refused draft, which stands in the way of no other; unless it `parks`, it is raised.
    """
    user = reading.scope.user_id if isinstance(reading.scope.user_id, str) else None
    found: list[tuple[int, int, int, tuple[Draft, Origin]]] = []
    modules = {module.NAME: module for module in derivation.DERIVERS}
    told = {
        event_id: [one for one in before if _may_be_told(setup, one)] for event_id, before in reading.preceding.items()
    }
    for order, span in enumerate(reading.spans):
        deriver = (span.name, span.version)
        for event in span.events:
            before = told.get(event.event_id, [])
            try:
                proposals = modules[span.name].derive(event, user_name=user, preceding=before)
                made = [draft(setup, event, proposed, deriver, user, before, parks=parks) for proposed in proposals]
            except PASSING:
                raise
            except Exception as error:
                if not parks:
                    raise
                made = [_unread(event, deriver, error)]
            found.extend((event.position, order, pair[1].ordinal, pair) for pair in made)
    return [pair for *_, pair in sorted(found, key=lambda item: item[:3])]


def _may_be_told(setup: Setup, event: Event) -> bool:
    """Whether the words of a message may be in what is read with it: not what a guard refuses or hides, or fails on."""
    if not setup.policy.guards:
        return True
    try:
        own = [_guarded(setup, event, proposed) for proposed in verbatim.derive(event)]
    except PASSING:
        raise
    except Exception:  # noqa: BLE001 - it is parked where it is read itself
        return False
    return all(refused is None and not private for _, refused, private in own)


def drafts_of(
    setup: Setup, scope: Scope, event: Event, deriver: str, before: Sequence[Event] = (), *, parks: bool = True
) -> list[tuple[Draft, Origin]]:
    """What one deriver that needs no model proposes for one event, as the policy sees it. Pure.

    `before` are the messages before the event, as `preceding` gives them.
    """
    chosen = (module for module in derivation.DERIVERS if deriver == module.NAME)
    spans = tuple(Span(one.NAME, one.VERSION, 0, 0, (event,)) for one in chosen)
    return _drafts(setup, Reading(scope, 0, spans, {event.event_id: before}), parks=parks)


def draft(
    setup: Setup, event: Event, proposed: Proposed, deriver: tuple[str, int], user: str | None,
    before: Sequence[Event] = (), *, parks: bool = True,
) -> tuple[Draft, Origin]:  # fmt: skip
    """A proposed memory as the policy sees it, with the event it rests on and the deriver's name and version. Pure.

    Where the policy fails on it, it is refused for that; unless it `parks`, the error is raised.
    """
    origin = _origin(event, proposed, deriver)
    try:
        return _ruled(setup, event, proposed, user, before), origin
    except PASSING:
        raise
    except Exception as error:
        if not parks:
            raise
        return _failed(proposed, error, f"the policy {setup.policy.name}"), origin


def _ruled(setup: Setup, event: Event, proposed: Proposed, user: str | None, before: Sequence[Event]) -> Draft:
    """A proposed memory after the guards and rules of the policy. Pure."""
    proposed, refused, private = _guarded(setup, event, proposed)
    classified = classify(
        setup.policy,
        Proposal(
            fact=proposed.fact, memory_type=proposed.memory_type, category=proposed.category, metadata=event.metadata,
            subject=proposed.subject, attribute=proposed.attribute, topic_key=None, critical_slot=None,
            importance=proposed.importance, role=event.role, user_name=user, event_type=event.event_type,
            place=documents.place_of(event, proposed.char_start),
        ),
    )  # fmt: skip
    return Draft(
        fact=proposed.fact, classified=policies.not_before(classified, proposed.valid_from, event.occurred_at),
        main_content=proposed.main_content, tags=proposed.tags, attribute=proposed.attribute, value=proposed.value,
        echo=proposed.echo,
        valid_from=proposed.valid_from, still=proposed.still, ahead=proposed.ahead, valid_to=proposed.valid_to,
        captured=True, refused=refused, private=private, beside=_beside(proposed, before),
    )  # fmt: skip


def _origin(event: Event, proposed: Proposed, deriver: tuple[str, int]) -> Origin:
    return Origin(
        event_id=event.event_id, recorded_at=event.recorded_at, occurred_at=event.occurred_at, trust=event.trust,
        content=event.content, stream_id=event.stream_id, position=event.position, session_id=event.session_id,
        task_run_id=event.task_run_id, actor=event.actor or event.role, char_start=proposed.char_start,
        char_end=proposed.char_end, ordinal=proposed.ordinal, deriver=deriver[0], deriver_version=deriver[1],
    )  # fmt: skip


def _unread(event: Event, deriver: tuple[str, int], error: Exception) -> tuple[Draft, Origin]:
    """What stands for an event on which a deriver failed: its own words, refused. Pure."""
    fact, _ = fitted(event.content or event.event_type)
    proposed = Proposed(fact, 0, min(len(fact), len(event.content or "")), ordinal=WHOLE)
    return _failed(proposed, error, f"the deriver {deriver[0]}"), _origin(event, proposed, deriver)


def _failed(proposed: Proposed, error: Exception, who: str) -> Draft:
    """A proposed memory that is refused since something failed on it: what, and how, without its text. Pure."""
    why = str(error) if isinstance(error, PolicyError) else f"{who} failed ({class_of(error)})"
    classified = Classified(proposed.memory_type or "semantic", category=proposed.category)
    return Draft(proposed.fact, classified, captured=True, refused=why, failed=True)


def _beside(proposed: Proposed, before: Sequence[Event]) -> tuple[Origin, ...]:
    """The characters of earlier messages that a proposed memory was read with. Pure."""
    said = {event.event_id: event for event in before}
    return tuple(
        Origin(
            event_id=event_id, recorded_at=said[event_id].recorded_at, occurred_at=said[event_id].occurred_at,
            trust=said[event_id].trust, content=said[event_id].content, char_start=start, char_end=end,
        )
        for event_id, start, end in proposed.beside
    )  # fmt: skip


GUARDED: Final = ("fact", "memory_type", "category", "subject", "attribute", "value", "importance", "tags")
"""What a guard sees of a proposed memory and may change; it sees the role, type and metadata of the event too, and may
make it private."""


def _guarded(setup: Setup, event: Event, proposed: Proposed) -> tuple[Proposed, str | None, bool]:
    """A proposed memory after the guards of the policy, the guard that refused it, and whether it is private. Pure."""
    if not setup.policy.guards:
        return proposed, None, False
    seen = {name: getattr(proposed, name) for name in GUARDED}
    seen |= {"role": event.role, "event_type": event.event_type, "trust": event.trust, "metadata": event.metadata}
    found = guards.passed(setup.policy, seen)
    left = {name: found.candidate.get(name) for name in GUARDED}
    try:
        private = inputs.flag(found.candidate.get("private", False), "private")
        if left == {name: seen[name] for name in GUARDED}:
            return proposed, found.refused, private
        left["fact"] = inputs.fact(left["fact"])
        left["memory_type"] = inputs.optional(inputs.choice, left["memory_type"], "memory_type", MEMORY_TYPES)
        for name, most in (("category", 64), ("subject", 200), ("attribute", 200), ("value", 1_000)):
            left[name] = inputs.optional(inputs.label, left[name], name, most)
        left["importance"] = inputs.optional(inputs.unit, left["importance"], "importance")
        left["tags"] = inputs.tags(left["tags"] or ())
    except EngramError as error:
        raise PolicyError(f"a guard of the policy made a candidate that is none ({error.code})") from error
    return replace(proposed, **left), found.refused, private  # type: ignore[arg-type]


def rests_on(draft: Draft, origin: Origin) -> tuple[str, ...]:
    """The events whose words a draft has. Pure."""
    return (origin.event_id, *(one.event_id for one in draft.beside))


def _effect(setup: Setup, conn: Connection, pack: Sequence[Found], drafted: Sequence[Drafted]) -> list[Job]:
    """Write everything in one transaction; the jobs whose streams are not derived to their end, all where one moved on.

    First the fence, then the locks in order, then the cursors by compare-and-set: whoever comes second changes nothing.
    """
    several = [job for job, _ in pack]
    jobs.hold(conn, *several)
    desks = [
        (replace(desk, scope_id=one.scope_id), one.pairs)
        for desk, one in zip(setup.desks(conn, [one.scope for one in drafted]), drafted, strict=True)
    ]
    streams = [str(job.stream_id) for job in several]
    writing.lock_all(
        [(desk, [draft for draft, _ in pairs]) for desk, pairs in desks], *map(writing.deriving_lock, streams),
        alone=[one.scope_id for one in drafted if echoing.looks(one.said)],
    )  # fmt: skip
    is_erased = ledger.erased_ahead(conn, {one for each in drafted for pair in each.pairs for one in rests_on(*pair)})
    moves = {
        jobs.Cursor(str(job.stream_id), span.name, span.version, span.old): span.new
        for job, reading in pack
        for span in reading.spans
    }
    cursors = set(jobs.cursors(conn, streams, derivation.versions()))
    # Another worker came first, an event was erased since it was read, or what is spoken of has changed: look again.
    if not moves.keys() <= cursors or is_erased() or not all(_still_means(setup, conn, one) for one in drafted):
        return several
    batching.write_desks(desks)
    for one in drafted:
        _park(conn, one)
    jobs.advance_held(conn, moves)
    jobs.mark_derived_after(conn, streams)
    jobs.finish_derived(conn, {str(job.stream_id): reading.upto for job, reading in pack})
    queue_extract(conn, [(job, reading.after, reading.upto) for job, reading in pack])
    left = [job for job, reading in pack if reading.more]
    done = [job for job in several if job not in left]
    if left:
        jobs.extend(conn, *left)
    if done:
        jobs.finish_held(conn, *done)
    return left


def _still_means(setup: Setup, conn: Connection, made: Drafted) -> bool:
    """Whether what speaks of what the scope held means the same beside what it holds now."""
    return echoing.still_means(setup, conn, made.scope.tenant_id, made.scope_id, made.said, made.pairs)


def _park(conn: Connection, made: Drafted) -> None:
    """Queue the statements of events on which something failed, a job an event: it is tried again, and ends as dead.

    So it is counted and told of, and can be taken up once the policy, or the program, is mended.
    """
    failed: dict[str, list[Origin]] = defaultdict(list)
    for draft, origin in made.pairs:
        if draft.failed:
            failed[origin.event_id].append(origin)
    for event_id, several in failed.items():
        logger.warning("event %s could not be read whole: it is tried again by itself", event_id)
        versions = sorted({f"{one.deriver}@{one.deriver_version}" for one in several})
        sources = [[event_id, one.ordinal, one.deriver] for one in several]
        jobs.add(
            conn, kind=jobs.REDERIVE, dedup_key=f"failed/{event_id}/{','.join(versions)}", scope_id=made.scope_id,
            payload={"sources": sources}, delay=jobs.backoff(1),
        )  # fmt: skip


def queue_extract(conn: Connection, read: Sequence[tuple[Job, int, int | None]]) -> None:
    """Queue the language model's jobs where events of jobs' streams wait for it, once others have read them.

    Of each stream the events after a position are looked at, up to another where one is known.
    """
    owed = {str(job.stream_id): job for job, _, _ in read}
    rows = fetch_all(
        conn, "list_waiting_events", stream_ids=list(owed), afters=[after for _, after, _ in read],
        uptos=[upto for _, _, upto in read], version=llm.VERSION,
    )  # fmt: skip
    for row in rows:
        job = owed[row.stream_id]
        jobs.add(
            conn, kind=jobs.EXTRACT, dedup_key=f"{job.job_id}/{row.position}", scope_id=job.scope_id,
            stream_id=job.stream_id, position=row.position,
        )  # fmt: skip


def vectors(setup: Setup, facts: Sequence[str], *several: Job) -> Operation[list[Any]]:
    """One vector a fact; None each when the model fails: a job defers, the fact is found by its words meanwhile."""
    embedder = setup.embedder
    if embedder is None or not facts:
        return [None] * len(facts)
    try:
        return list((yield from steps.think(lambda: embedder.embed(facts), *several)))
    except Unavailable:
        return [None] * len(facts)


def _late(conn: Connection, scope: Scope, event_ids: Sequence[str], behind: int) -> Unavailable:
    """What is said of events that are not derived in time: whether only the language model has not read them yet."""
    visible = tenancy.visible(conn, scope)
    these = {"tenant_id": scope.tenant_id, "scope_ids": list(visible.scope_ids), "event_ids": list(event_ids)}
    rows = [fetch_one(conn, "count_underived", **these, deriver=one.NAME) for one in derivation.DERIVERS]
    if any(row is None or row.behind for row in rows):
        return Unavailable("the events are not derived yet", retry_after=1.0, behind=behind)
    streams = {event.stream_id for event in ledger.get_many(conn, event_ids).values()}
    coming = jobs.list_jobs(
        conn, scope_ids=visible.scope_ids, kinds=[jobs.EXTRACT], states=["queued", "running", "paused"], limit=200
    )  # fmt: skip
    failed = next((job.error_class for job in coming if job.stream_id in streams and job.error_class is not None), None)
    why = f", which failed ({failed}) and is tried again by itself" if failed else ", which has yet to read them"
    return Unavailable(
        f"what the rules found in the events is there, and only the language model is waited for{why}",
        retry_after=1.0, behind=behind, waiting=(llm.NAME,), error_class=failed,
    )  # fmt: skip


def _standing(
    conn: Connection, scope: Scope, event_ids: Sequence[str], deriver: str | None
) -> tuple[int, str | None, list[WriteDecision]]:
    """How many of the events are not derived yet and, where some are, the class under which their work died.

    Where none are, what came of them.
    """
    visible = tenancy.visible(conn, scope)
    these = {"tenant_id": scope.tenant_id, "scope_ids": list(visible.scope_ids), "event_ids": list(event_ids)}
    behind = int(fetch_all(conn, "count_underived", **these, deriver=deriver)[0].behind)
    if not behind:
        return 0, None, _decisions(conn, visible, event_ids)
    kinds = [jobs.DERIVE, jobs.EXTRACT] if deriver == llm.NAME else [jobs.DERIVE]
    row = fetch_one(conn, "find_dead_end", **these, kinds=kinds)
    return behind, None if row is None else str(row.error_class), []
