"""Deriving: a job reads events after each deriver's cursor and writes their memories once, fenced and in one go."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from engram import batching, derivation, history, inputs, jobs, ledger, memories, policies, tenancy, writing
from engram.database import Connection, fetch_all, fetch_one
from engram.derivation import llm
from engram.derivation.proposals import Proposed
from engram.errors import EngramError, PolicyError, Unavailable
from engram.jobs import Job
from engram.operations import echoing, spaces, steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.policies import Proposal, guards
from engram.scope import Scope
from engram.values import MEMORY_TYPES, Event, Receipt, WriteDecision
from engram.writing import Draft, Origin

BATCH: Final = 100
FIRST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 0.5


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
    """What a derive job found to do: spans by deriver, the scope, and who the user is."""

    scope: Scope
    scope_id: int
    spans: tuple[Span, ...]


def wait_for(
    setup: Setup, what: object, *, deriver: object, timeout: object, given: Mapping[str, Any]
) -> Operation[tuple[WriteDecision, ...]]:
    """Wait until the events of a receipt are derived; Unavailable with the backlog when they are not in time.

    A job that is dead is not waited for: Unavailable names its class at once. The language model's work is an exception
    unless it is asked for by name: where it failed or is paused, what the other derivers made is the answer.
    """
    reading = setup.reading(given)
    several = inputs.items(what.event_ids, "what", inputs.BATCH_ITEMS) if isinstance(what, Receipt) else (what,)
    event_ids = [inputs.event_id(one, "what") for one in several]
    name = inputs.optional(inputs.choice, deriver, "deriver", [*(one.NAME for one in derivation.DERIVERS), llm.NAME])
    until = inputs.number(timeout, "timeout", 0, 3_600) + time.monotonic()
    scope, pause = reading.scope, FIRST_PAUSE
    while True:
        behind, dead = yield from steps.read(scope.tenant_id, lambda conn: _standing(conn, scope, event_ids, name))
        if not behind:
            return tuple((yield from decisions_of(scope, event_ids)))
        if dead is not None:
            raise Unavailable(f"the job that derives the events is dead ({dead})", behind=behind, error_class=dead)
        left = until - time.monotonic()
        if left <= 0:
            raise Unavailable("the events are not derived yet", retry_after=1.0, behind=behind)
        yield from steps.pause(min(pause, left))
        pause = min(pause * 2, LONGEST_PAUSE)


def decisions_of(scope: Scope, event_ids: Sequence[str]) -> Operation[list[WriteDecision]]:
    """The decisions that came of some events, with their memories as they stand now."""

    def work(conn: Connection) -> list[WriteDecision]:
        visible = tenancy.visible(conn, scope)
        kept = history.decisions_of(conn, visible, event_ids=event_ids)
        ids = {one for decision in kept for one in (decision["memory_id"], decision["target_id"]) if one is not None}
        found = {memory.memory_id: memory for memory in memories.load(conn, visible, sorted(ids))}
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

    if not event_ids:
        return []
    return (yield from steps.read(scope.tenant_id, work))


def rehearse(
    setup: Setup, scope: Scope, events: Sequence[ledger.NewEvent], append: Callable[[Connection], Receipt], *, key: str
) -> Operation[Receipt]:
    """What appending and deriving these events would do: all of it in one transaction that is taken back."""
    setup = yield from spaces.ready(setup, scope.tenant_id)
    facts = [draft.fact for draft, _ in _drafts(setup, _reading_of(scope, 0, events, _imagined(events)))]
    found = yield from vectors(setup, facts)

    def work(conn: Connection) -> Receipt:
        with conn.begin_nested() as savepoint:
            receipt = append(conn)
            desk = setup.desk(conn, scope)
            known = ledger.get_many(conn, [event.event_id for event in events])
            there = [event for event in events if event.event_id in known]
            pairs = _drafts(setup, _reading_of(scope, desk.scope_id, there, known)) if not receipt.duplicate else []
            drafts = [(replace(draft, vector=v), origin) for (draft, origin), v in zip(pairs, found, strict=False)]
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


def derive(setup: Setup, job: Job) -> Operation[None]:
    """Derive memories from the events of a job's stream, by every deriver that needs no language model."""
    while True:
        reading = yield from steps.read(job.tenant_id, lambda conn: _read(conn, job))
        pairs = yield from echoing.resolved(setup, reading.scope, _drafts(setup, reading))
        found = yield from vectors(setup, [draft.fact for draft, _ in pairs], job)
        drafts = [(replace(draft, vector=vector), origin) for (draft, origin), vector in zip(pairs, found, strict=True)]

        def effect(
            conn: Connection, reading: Reading = reading, drafts: Sequence[tuple[Draft, Origin]] = drafts
        ) -> bool:
            return _effect(setup, conn, job, reading, drafts)

        if (yield from steps.write(job.tenant_id, effect, key=job.job_id)):
            return


def _read(conn: Connection, job: Job) -> Reading:
    """The events this job has to derive from: those after each deriver's cursor, up to a batch."""
    assert job.stream_id is not None
    spans = []
    for deriver in derivation.DERIVERS:
        old = jobs.cursor(conn, job.stream_id, deriver.NAME, deriver.VERSION)
        events = ledger.derivable(conn, stream_id=job.stream_id, deriver=deriver.NAME, after=old, limit=BATCH)
        if events:
            spans.append(Span(deriver.NAME, deriver.VERSION, old, events[-1].position, tuple(events)))
    row = fetch_all(conn, "find_scope_by_id", tenant_id=job.tenant_id, scope_id=job.scope_id)[0]
    scope = Scope(job.tenant_id, row.namespace, row.agent_id, row.user_id)
    return Reading(scope, int(row.scope_id), tuple(spans))


def _drafts(setup: Setup, reading: Reading) -> list[tuple[Draft, Origin]]:
    """What the derivers propose and the policy makes of it, in the order of the events. Pure."""
    user = reading.scope.user_id if isinstance(reading.scope.user_id, str) else None
    found: list[tuple[int, int, int, tuple[Draft, Origin]]] = []
    modules = {module.NAME: module for module in derivation.DERIVERS}
    for order, span in enumerate(reading.spans):
        for event in span.events:
            found.extend(
                (
                    event.position,
                    order,
                    proposed.ordinal,
                    draft(setup, event, proposed, (span.name, span.version), user),
                )
                for proposed in modules[span.name].derive(event, user_name=user)
            )
    return [pair for *_, pair in sorted(found, key=lambda item: item[:3])]


def drafts_of(setup: Setup, scope: Scope, event: Event, deriver: str) -> list[tuple[Draft, Origin]]:
    """What one deriver that needs no model proposes for one event, as the policy sees it. Pure."""
    chosen = (module for module in derivation.DERIVERS if deriver == module.NAME)
    return _drafts(setup, Reading(scope, 0, tuple(Span(one.NAME, one.VERSION, 0, 0, (event,)) for one in chosen)))


def draft(
    setup: Setup, event: Event, proposed: Proposed, deriver: tuple[str, int], user: str | None
) -> tuple[Draft, Origin]:
    """A proposed memory as the policy sees it, with the event it rests on and the deriver's name and version. Pure."""
    proposed, refused = _guarded(setup, event, proposed)
    classified = policies.classify(
        setup.policy,
        Proposal(
            fact=proposed.fact, memory_type=proposed.memory_type, category=proposed.category, metadata=event.metadata,
            subject=proposed.subject, attribute=proposed.attribute, topic_key=None, critical_slot=None,
            importance=proposed.importance, role=event.role, user_name=user, event_type=event.event_type,
        ),
    )  # fmt: skip
    drafted = Draft(
        fact=proposed.fact, classified=policies.not_before(classified, proposed.valid_from, event.occurred_at),
        tags=proposed.tags, attribute=proposed.attribute, value=proposed.value,
        echo=proposed.echo,
        valid_from=proposed.valid_from, still=proposed.still, valid_to=proposed.valid_to, captured=True,
        refused=refused,
    )  # fmt: skip
    origin = Origin(
        event_id=event.event_id, recorded_at=event.recorded_at, occurred_at=event.occurred_at, trust=event.trust,
        content=event.content, stream_id=event.stream_id, position=event.position, session_id=event.session_id,
        task_run_id=event.task_run_id, actor=event.actor or event.role, char_start=proposed.char_start,
        char_end=proposed.char_end, ordinal=proposed.ordinal, deriver=deriver[0], deriver_version=deriver[1],
    )  # fmt: skip
    return drafted, origin


GUARDED: Final = ("fact", "memory_type", "category", "subject", "attribute", "value", "importance", "tags")
"""What a guard sees of a proposed memory and may change; it sees the role, type and metadata of the event too."""


def _guarded(setup: Setup, event: Event, proposed: Proposed) -> tuple[Proposed, str | None]:
    """A proposed memory after the guards of the policy, and the guard that refused it. Pure."""
    if not setup.policy.guards:
        return proposed, None
    seen = {name: getattr(proposed, name) for name in GUARDED}
    seen |= {"role": event.role, "event_type": event.event_type, "trust": event.trust, "metadata": event.metadata}
    found = guards.passed(setup.policy, seen)
    left = {name: found.candidate.get(name) for name in GUARDED}
    if left == {name: seen[name] for name in GUARDED}:
        return proposed, found.refused
    try:
        left["fact"] = inputs.fact(left["fact"])
        left["memory_type"] = inputs.optional(inputs.choice, left["memory_type"], "memory_type", MEMORY_TYPES)
        for name, most in (("category", 64), ("subject", 200), ("attribute", 200), ("value", 1_000)):
            left[name] = inputs.optional(inputs.label, left[name], name, most)
        left["importance"] = inputs.optional(inputs.unit, left["importance"], "importance")
        left["tags"] = inputs.tags(left["tags"] or ())
    except EngramError as error:
        raise PolicyError(f"a guard of the policy made a candidate that is none ({error.code})") from error
    return replace(proposed, **left), found.refused  # type: ignore[arg-type]


def _effect(setup: Setup, conn: Connection, job: Job, reading: Reading, drafts: Sequence[tuple[Draft, Origin]]) -> bool:
    """Write everything in one transaction; True when the stream is derived to its end and the job is done.

    First the fence, then the locks in order, then the cursors by compare-and-set: whoever comes second changes nothing.
    """
    assert job.stream_id is not None
    jobs.hold(conn, job)
    desk = setup.desk(conn, reading.scope)
    desk = replace(desk, scope_id=reading.scope_id)
    writing.lock(desk, [draft for draft, _ in drafts], writing.deriving_lock(job.stream_id))
    for span in reading.spans:
        if jobs.cursor(conn, job.stream_id, span.name, span.version) != span.old:
            return False  # another worker came first: look again at what is left
    if ledger.has_erased(conn, {origin.event_id for _, origin in drafts}):
        return False  # erased since it was read: look again
    batching.write_all(desk, drafts)
    for span in reading.spans:
        jobs.advance(conn, job.stream_id, span.name, span.version, span.old, span.new)
    upto = max((span.new for span in reading.spans), default=None)
    jobs.finish_derived(conn, job.stream_id, upto)
    queue_extract(conn, job, min((span.old for span in reading.spans), default=0), upto)
    if any(len(span.events) == BATCH for span in reading.spans):
        jobs.extend(conn, job)
        return False
    jobs.finish(conn, job)
    return True


def queue_extract(conn: Connection, job: Job, after: int, upto: int | None = None) -> None:
    """Queue the language model's job where some events of a job's stream wait for it, once others have read them."""
    asked = {"stream_id": job.stream_id, "after": after, "upto": upto, "version": llm.VERSION}
    row = fetch_one(conn, "find_waiting_event", **asked)
    if row is not None and row.position is not None:
        jobs.add(
            conn, kind=jobs.EXTRACT, dedup_key=f"{job.job_id}/{row.position}", scope_id=job.scope_id,
            stream_id=job.stream_id, position=row.position,
        )  # fmt: skip


def vectors(setup: Setup, facts: Sequence[str], job: Job | None = None) -> Operation[list[Any]]:
    """One vector a fact; None each when the model fails: a job defers, the fact is found by its words meanwhile."""
    embedder = setup.embedder
    if embedder is None or not facts:
        return [None] * len(facts)
    try:
        return list((yield from steps.think(lambda: embedder.embed(facts), job)))
    except Unavailable:
        return [None] * len(facts)


def _standing(conn: Connection, scope: Scope, event_ids: Sequence[str], deriver: str | None) -> tuple[int, str | None]:
    """How many of the events are not derived yet and, where some are, the class under which their work died."""
    these = {
        "tenant_id": scope.tenant_id, "scope_ids": list(tenancy.visible(conn, scope).scope_ids),
        "event_ids": list(event_ids),
    }  # fmt: skip
    behind = int(fetch_all(conn, "count_underived", **these, deriver=deriver)[0].behind)
    if not behind:
        return 0, None
    kinds = [jobs.DERIVE, jobs.EXTRACT] if deriver == llm.NAME else [jobs.DERIVE]
    row = fetch_one(conn, "find_dead_end", **these, kinds=kinds)
    return behind, None if row is None else str(row.error_class)
