"""Running jobs here and now: claim, derive, embed, and write the effect once, under lease, fence and cursor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from engram import derivation, history, inputs, jobs, ledger, memories, policies, tenancy, writing
from engram.channels import semantic, upkeep
from engram.database import Connection, fetch_all
from engram.derivation.proposals import Proposed
from engram.errors import Conflict, EngramError, LeaseLost, Unavailable
from engram.ids import new_id
from engram.jobs import Job
from engram.operations import steps
from engram.operations.changing import EMBED
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.policies import Proposal
from engram.scope import Scope
from engram.values import Event, Receipt, WriteDecision
from engram.writing import Draft, Origin

KINDS: Final = (jobs.DERIVE, EMBED, upkeep.KIND)
BATCH: Final = 100
EMBED_BATCH: Final = 100
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


def run_jobs(setup: Setup, limit: object) -> Operation[int]:
    """Claim due jobs of the tenant and run them here; how many were run."""
    most = inputs.limit(limit)
    tenant = setup.scope.tenant_id
    ran = 0
    while ran < most:
        claimed = yield from steps.write(tenant, partial(_claim, tenant_id=tenant, limit=most - ran), key="claim")
        if not claimed:
            break
        for job in claimed:
            yield from _run(setup, job)
        ran += len(claimed)
    return ran


def derive_receipt(setup: Setup, scope: Scope, receipt: Receipt) -> Operation[list[WriteDecision]]:
    """Run the jobs of a receipt here, and give the decisions that came of its events. Failed work stays a job."""
    # The first job reads its stream to the end and finishes the others with it; what another worker holds, it runs.
    for job_ids in (receipt.job_ids[:1], receipt.job_ids[1:]):
        if job_ids:
            take = partial(jobs.claim_these, job_ids=job_ids, token=new_id())
            claimed = yield from steps.write(scope.tenant_id, take, key="claim")
            for job in claimed:
                yield from _run(setup, job)
    return (yield from decisions_of(scope, receipt.event_ids))


def wait_for(
    setup: Setup, what: object, *, deriver: object, timeout: object, given: Mapping[str, Any]
) -> Operation[tuple[WriteDecision, ...]]:
    """Wait until the events of a receipt are derived; Unavailable with the backlog when they are not in time."""
    reading = setup.reading(given)
    several = inputs.items(what.event_ids, "what", inputs.BATCH_ITEMS) if isinstance(what, Receipt) else (what,)
    event_ids = [inputs.event_id(one, "what") for one in several]
    name = inputs.optional(inputs.choice, deriver, "deriver", [one.NAME for one in derivation.DERIVERS])
    left = inputs.number(timeout, "timeout", 0, 3_600)
    pause = FIRST_PAUSE
    while True:
        behind = yield from steps.read(
            reading.scope.tenant_id, lambda conn: _behind(conn, reading.scope, event_ids, name)
        )
        if not behind:
            return tuple((yield from decisions_of(reading.scope, event_ids)))
        if left <= 0:
            raise Unavailable("the events are not derived yet", retry_after=1.0, behind=behind)
        yield from steps.pause(min(pause, left))
        left, pause = left - pause, min(pause * 2, LONGEST_PAUSE)


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
    facts = [draft.fact for draft, _ in _drafts(setup, _reading_of(scope, 0, events, _imagined(events)))]
    vectors = yield from _vectors(setup, facts)

    def work(conn: Connection) -> Receipt:
        with conn.begin_nested() as savepoint:
            receipt = append(conn)
            desk = setup.desk(conn, scope)
            known = ledger.get_many(conn, [event.event_id for event in events])
            there = [event for event in events if event.event_id in known]
            pairs = _drafts(setup, _reading_of(scope, desk.scope_id, there, known)) if not receipt.duplicate else []
            drafts = [(replace(draft, vector=v), origin) for (draft, origin), v in zip(pairs, vectors, strict=False)]
            decisions = writing.whole(desk, writing.write_all(desk, drafts))
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


def _claim(conn: Connection, *, tenant_id: str, limit: int) -> list[Job]:
    jobs.rescue(conn)
    return jobs.claim(conn, KINDS, limit, tenant_id=tenant_id)


def _run(setup: Setup, job: Job) -> Operation[None]:
    """Run one job to its end; what fails goes back to the queue with its class, and never as a silence."""
    try:
        if job.kind == jobs.DERIVE:
            yield from _derive(setup, job)
        elif job.kind == upkeep.KIND:
            yield from _tend(setup, job)
        else:
            yield from _embed(setup, job)
    except LeaseLost:
        return  # another worker has it: its effect is the one that counts
    except EngramError as error:
        wait = getattr(error, "retry_after", None) if isinstance(error, Unavailable) else None
        permanent = not isinstance(error, Unavailable | Conflict)
        code = error.code

        def give_back(conn: Connection) -> None:
            try:
                jobs.fail(conn, job, code, permanent=permanent, retry_after=wait)
            except LeaseLost:
                return

        yield from steps.write(job.tenant_id, give_back, key=job.job_id)


def _derive(setup: Setup, job: Job) -> Operation[None]:
    while True:
        reading = yield from steps.read(job.tenant_id, lambda conn: _read(conn, job))
        pairs = _drafts(setup, reading)
        vectors = yield from _vectors(setup, [draft.fact for draft, _ in pairs])
        drafts = [
            (replace(draft, vector=vector), origin) for (draft, origin), vector in zip(pairs, vectors, strict=True)
        ]

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
                (event.position, order, proposed.ordinal, _draft(setup, event, proposed, span, user))
                for proposed in modules[span.name].derive(event, user_name=user)
            )
    return [pair for *_, pair in sorted(found, key=lambda item: item[:3])]


def _draft(setup: Setup, event: Event, proposed: Proposed, span: Span, user: str | None) -> tuple[Draft, Origin]:
    classified = policies.classify(
        setup.policy,
        Proposal(
            fact=proposed.fact, memory_type=proposed.memory_type, category=proposed.category, metadata=event.metadata,
            subject=proposed.subject, attribute=proposed.attribute, topic_key=None, critical_slot=None,
            importance=proposed.importance, role=event.role, user_name=user, event_type=event.event_type,
        ),
    )  # fmt: skip
    draft = Draft(
        fact=proposed.fact, classified=policies.not_before(classified, proposed.valid_from, event.occurred_at),
        tags=proposed.tags, attribute=proposed.attribute, value=proposed.value,
        valid_from=proposed.valid_from, still=proposed.still, valid_to=proposed.valid_to,
    )  # fmt: skip
    origin = Origin(
        event_id=event.event_id, recorded_at=event.recorded_at, occurred_at=event.occurred_at, trust=event.trust,
        content=event.content, stream_id=event.stream_id, position=event.position, session_id=event.session_id,
        task_run_id=event.task_run_id, actor=event.actor or event.role, char_start=proposed.char_start,
        char_end=proposed.char_end, ordinal=proposed.ordinal, deriver=span.name, deriver_version=span.version,
    )  # fmt: skip
    return draft, origin


def _effect(setup: Setup, conn: Connection, job: Job, reading: Reading, drafts: Sequence[tuple[Draft, Origin]]) -> bool:
    """Write everything in one transaction; True when the stream is derived to its end and the job is done.

    First the fence, then the locks in order, then the cursors by compare-and-set: whoever comes second changes nothing.
    """
    assert job.stream_id is not None
    jobs.hold(conn, job)
    desk = setup.desk(conn, reading.scope)
    desk = replace(desk, scope_id=reading.scope_id)
    writing.lock(desk, [draft for draft, _ in drafts], f"derive/{job.stream_id}")
    for span in reading.spans:
        if jobs.cursor(conn, job.stream_id, span.name, span.version) != span.old:
            return False  # another worker came first: look again at what is left
    writing.write_all(desk, drafts)
    for span in reading.spans:
        jobs.advance(conn, job.stream_id, span.name, span.version, span.old, span.new)
    if any(draft.vector is None for draft, _ in drafts) and setup.embedder is not None:
        jobs.add(conn, kind=EMBED, dedup_key=f"{job.job_id}/{reading.spans[0].new}", scope_id=reading.scope_id)
    if any(len(span.events) == BATCH for span in reading.spans):
        return False
    jobs.finish(conn, job)
    jobs.finish_derived(conn, job.stream_id)
    return True


def _vectors(setup: Setup, facts: Sequence[str]) -> Operation[list[Any]]:
    """One vector a fact; None each when the model fails: a job defers, the fact is found by its words meanwhile."""
    embedder = setup.embedder
    if embedder is None or not facts:
        return [None] * len(facts)
    try:
        return list((yield from steps.think(lambda: embedder.embed(facts))))
    except Unavailable:
        return [None] * len(facts)


def _exact_vectors(setup: Setup, facts: Sequence[str]) -> Operation[list[Any]]:
    embedder = setup.embedder
    if embedder is None or not facts:
        return []
    return list((yield from steps.think(lambda: embedder.embed(facts))))


def _embed(setup: Setup, job: Job) -> Operation[None]:
    """Give the memories that wait for a vector theirs."""
    embedder = setup.embedder
    while True:
        rows = yield from steps.read(
            job.tenant_id,
            lambda conn: fetch_all(
                conn, "list_unembedded", tenant_id=job.tenant_id, scope_id=job.scope_id, limit=EMBED_BATCH
            ),
        )
        waiting = [(row.memory_id, row.fact) for row in rows]
        vectors = yield from _exact_vectors(setup, [fact for _, fact in waiting])

        def effect(conn: Connection, waiting: Any = waiting, vectors: Any = vectors) -> bool:
            jobs.hold(conn, job)
            if embedder is not None and waiting:
                ids = [memory_id for memory_id, _ in waiting]
                semantic.store(
                    conn, job.tenant_id, int(job.scope_id or 0), embedder.model_id, list(zip(ids, vectors, strict=True))
                )
                fetch_all(conn, "mark_embedded", tenant_id=job.tenant_id, memory_ids=ids)
            if len(waiting) == EMBED_BATCH:
                return False
            jobs.finish(conn, job)
            return True

        if (yield from steps.write(job.tenant_id, effect, key=job.job_id)):
            return


def _tend(setup: Setup, job: Job) -> Operation[None]:
    """Count the words of a scope that has grown large, and put its new vectors into the graph, batch by batch."""

    def effect(conn: Connection) -> bool:
        jobs.hold(conn, job)
        if upkeep.tend(conn, job.tenant_id, int(job.scope_id or 0), setup.model_id):
            jobs.extend(conn, job)
            return True
        jobs.finish(conn, job)
        return False

    while (yield from steps.write(job.tenant_id, effect, key=job.job_id)):
        pass


def _behind(conn: Connection, scope: Scope, event_ids: Sequence[str], deriver: str | None) -> int:
    visible = tenancy.visible(conn, scope)
    rows = fetch_all(
        conn,
        "count_underived",
        tenant_id=scope.tenant_id,
        scope_ids=list(visible.scope_ids),
        event_ids=list(event_ids),
        deriver=deriver,
    )
    return int(rows[0].behind)
