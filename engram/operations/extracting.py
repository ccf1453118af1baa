"""Extracting: a job asks a language model what a stream's events say, and writes it once, fenced and in one go.

Rules have read every event before the model does, so whatever becomes of a call, their memories stand. What the model
answers is judged by the same gates as everything else; above the gates stand quotes, trust and the value-change guard.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, takewhile
from typing import Any, Final

from engram import (
    chain,
    gates,
    jobs,
    ledger,
    memories,
    prompting,
    served,
    sessions,
    spending,
    tenancy,
    verdicts,
    writing,
)
from engram.channels import keyword
from engram.database import Connection, Jsonb, execute, fetch_all
from engram.derivation import documents, llm, relations
from engram.derivation.llm import Extracted, Passage
from engram.errors import BadOutput, InvalidInput, LimitExceeded, ModelRejected, Refused, Unavailable
from engram.jobs import Job
from engram.llm import UNFIT
from engram.operations import asking, deriving, steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.scope import Scope
from engram.tenancy import Visible
from engram.values import Event, Memory, trust_rank
from engram.verdicts import Advice, Case, Offer, Verdicts
from engram.writing import Desk, Draft, Judged, Origin, Settled

COMPONENT: Final = "extract"
ADJUDICATE: Final = "adjudicate"
AGENTS: Final = ("assistant", "agent")
RAW: Final = (
    "user_message", "assistant_message", "agent_action", "tool_result", "decision", "observation", "error", "meeting",
)  # fmt: skip
CONTEXT_EVENTS: Final = 12
KNOWN: Final = 64  # memories an agent's words are compared with
ANSWER_TOKENS: Final = 4_096
GIVEN_UP: Final = (BadOutput, Refused, InvalidInput, LimitExceeded)


@dataclass(frozen=True, slots=True)
class Batch:
    """The events one pass reads: all of one trust, so that no text stands beside what is trusted more."""

    scope: Scope
    scope_id: int
    old: int
    new: int
    turns: tuple[Passage, ...] = ()
    context: tuple[Event, ...] = ()
    desk: Callable[[Connection], Desk] | None = None  # where it is judged and written, if not with the live memories

    @property
    def event_ids(self) -> list[str]:
        """The events that the model is shown."""
        return sorted({event.event_id for event in (*(turn.event for turn in self.turns), *self.context)})

    @property
    def trust(self) -> str:
        """The trust of whatever comes of the batch."""
        return llm.worst_trust([*(turn.event for turn in self.turns), *self.context])


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact of the model, ready to be judged: what it says, what it rests on, and whether its quote was found."""

    found: Extracted
    draft: Draft
    origin: Origin


def extract(setup: Setup, job: Job) -> Operation[None]:
    """Derive memories by the language model from the events of a stream that wait for it, or that the job failed on."""
    while True:
        batch = yield from steps.read(job.tenant_id, lambda conn: _read(conn, job))
        try:
            found, models = yield from _found(setup, job, batch)
        except GIVEN_UP:
            if (yield from steps.write(job.tenant_id, _giving_up(job, batch), key=job.job_id)):
                raise
            continue
        candidates = _candidates(setup, batch, found, models)
        vectors = yield from deriving.vectors(setup, [one.draft.fact for one in candidates], job)
        candidates = [
            replace(one, draft=replace(one.draft, vector=vector))
            for one, vector in zip(candidates, vectors, strict=True)
        ]
        advice = yield from _advice(setup, job, batch, candidates)

        def effect(
            conn: Connection,
            batch: Batch = batch,
            candidates: Sequence[Candidate] = candidates,
            advice: Mapping[int, Advice] = advice,
        ) -> bool:
            return _effect(setup, conn, job, batch, candidates, advice)

        if (yield from steps.write(job.tenant_id, effect, key=job.job_id)):
            return


@dataclass(frozen=True, slots=True)
class Again:
    """What the model finds in the first of some events once more, ready to be judged and written to another desk."""

    events: int
    candidates: tuple[Candidate, ...]
    advice: Mapping[int, Advice]

    @property
    def pairs(self) -> list[tuple[Draft, Origin]]:
        """The candidates as drafts with their origins."""
        return [(one.draft, one.origin) for one in self.candidates]


def again(setup: Setup, scope: Scope, events: Sequence[Event], desk: Callable[[Connection], Desk]) -> Operation[Again]:
    """Ask about the next of some events of a stream once more, outside of any job: how a replay reads them.

    The question is put as it was before wherever its answer was paid for, and then nothing is asked of the model.
    """
    batch, size = yield from steps.read(scope.tenant_id, lambda conn: _batch_again(setup, conn, scope, events, desk))
    try:
        found, models = yield from _found(setup, None, batch)
    except GIVEN_UP:
        return Again(size, (), {})
    candidates = _candidates(setup, batch, found, models)
    vectors = yield from deriving.vectors(setup, [one.draft.fact for one in candidates])
    if setup.embedder is not None and any(vector is None for vector in vectors):
        raise Unavailable("the embedding model failed")
    candidates = [
        replace(one, draft=replace(one.draft, vector=vector)) for one, vector in zip(candidates, vectors, strict=True)
    ]
    return Again(size, tuple(candidates), (yield from _advice(setup, None, batch, candidates)))


def settle(setup: Setup, desk: Desk, found: Again, *, anew: bool) -> None:
    """Judge and write what was found once more; not `anew` where something of its events was erased."""
    _settle(setup, desk, found.candidates, found.advice, anew=anew)


def _batch_again(
    setup: Setup, conn: Connection, scope: Scope, events: Sequence[Event], desk: Callable[[Connection], Desk]
) -> tuple[Batch, int]:
    """The longest beginning of some events that was asked about before, or else that one question can hold."""
    own = desk(conn)
    most, _ = _gathered(conn, own.visible, events)
    batches = []
    for size in range(len(most), 0, -1):
        _, turns = _gathered(conn, own.visible, events[:size])
        context = _context(conn, own.visible, events[0]) if turns else ()
        batches.append((Batch(scope, own.scope_id, 0, 0, tuple(turns), context, desk), size))
    return next((one for one in batches if _is_known(setup, conn, one[0])), batches[0])


def _is_known(setup: Setup, conn: Connection, batch: Batch) -> bool:
    if not setup.asks(COMPONENT) or not batch.turns:
        return False
    prompt, turns = prompting.load(COMPONENT), next(llm.batches(batch.turns))
    messages = prompt.fill(**llm.shown(turns, batch.context))
    key = asking.call_key(COMPONENT, prompt, setup.model_for(COMPONENT).name, llm.Extraction, messages)
    return spending.find_answer(conn, key) is not None


# ------------------------------------------------ reading


def _read(conn: Connection, job: Job) -> Batch:
    """The next events for the model: those after its cursor, or those an earlier try of this job failed on."""
    assert job.stream_id is not None
    failed = "upto" in job.payload
    old = int(job.payload["after"]) if failed else jobs.cursor(conn, job.stream_id, llm.NAME, llm.VERSION)
    rows = fetch_all(
        conn, "list_extractable_events", stream_id=job.stream_id, after=old,
        upto=int(job.payload["upto"]) if failed else None, limit=llm.MOST_TURNS,
    )  # fmt: skip
    scope_row = fetch_all(conn, "find_scope_by_id", tenant_id=job.tenant_id, scope_id=job.scope_id)[0]
    scope = Scope(job.tenant_id, scope_row.namespace, scope_row.agent_id, scope_row.user_id)
    ready = [chain.event(row) for row in takewhile(lambda row: row.ready, rows)]
    visible = tenancy.visible(conn, scope)
    events, turns = _gathered(conn, visible, ready)
    new = events[-1].position if events else old
    context = _context(conn, visible, events[0]) if turns else ()
    return Batch(scope, int(scope_row.scope_id), old, new, tuple(turns), context)


def _gathered(conn: Connection, visible: Visible, ready: Sequence[Event]) -> tuple[list[Event], list[Passage]]:
    """The first of some events that one question can hold, all of one trust, and their turns."""
    events: list[Event] = []
    turns: list[Passage] = []
    for event in next((list(group) for _, group in groupby(ready, key=lambda event: event.trust)), []):
        own = llm.passages(event, _said(conn, visible, event))
        if events and len(tuple(llm.batches([*turns, *own]))) > 1:
            break
        events.append(event)
        turns.extend(own)
    return events, turns


def _said(conn: Connection, visible: Visible, event: Event) -> str:
    """What an event says without what Engram printed; an agent's own words without what they repeat of a memory."""
    content = event.content or ""
    content = content if documents.is_chunk(event) else served.blanked(content)
    if llm.NO_MEMORY in content.casefold() or (event.role == "user" and not sessions.beside_switches(content)):
        return ""
    return content if event.role not in AGENTS else llm.without_echoes(content, _known(conn, visible, event))


def _known(conn: Connection, visible: Visible, event: Event) -> list[str]:
    """The memories of the scope nearest in words to what an agent said, but for those made of these very words."""
    words = keyword.parse((event.content or "")[: llm.TOKENS])
    tenant_id, scope_ids = visible.scope.tenant_id, visible.scope_ids
    sought = keyword.look_up(conn, tenant_id, scope_ids, words, size=writing.NEAR_SIZE)
    hits = keyword.find(conn, tenant_id, scope_ids, sought, limit=KNOWN)
    found = memories.load(conn, visible, [hit.memory_id for hit in hits])
    return [memory.fact for memory in found if memory.stands and memory.event_id != event.event_id]


def _context(conn: Connection, visible: Visible, first: Event) -> tuple[Event, ...]:
    """What was said just before, in order: raw events only, and none that is trusted less than what is read."""
    before = ledger.read(
        conn, stream_id=first.stream_id, before=first.position, types=RAW, newest_first=True, limit=CONTEXT_EVENTS
    )
    chosen: list[Event] = []
    left = llm.CONTEXT_TOKENS
    for event in before:
        said = _said(conn, visible, event).strip()
        if not said or trust_rank(event.trust) > trust_rank(first.trust):
            continue
        left -= llm.weight(said)
        if left < 0:
            break
        chosen.append(replace(event, content=said))
    return tuple(reversed(chosen))


# ------------------------------------------------ asking


def _found(setup: Setup, job: Job | None, batch: Batch) -> Operation[tuple[tuple[Extracted, ...], dict[str, str]]]:
    """The facts the model finds in a batch, and by event which model it was; what is too long is asked in halves."""
    answers: list[tuple[Sequence[Passage], llm.Extraction]] = []
    models: dict[str, str] = {}
    for turns in llm.batches(batch.turns):
        parts: tuple[tuple[Passage, ...], ...] = (turns,)
        try:
            said = [(yield from _asked(setup, job, batch, turns))]
        except BadOutput as error:
            if not getattr(error, "too_long", False):
                raise
            parts, said = llm.halves(turns), []
            for part in parts:
                said.append((yield from _asked(setup, job, batch, part)))
        for part, one in zip(parts, said, strict=True):
            answers.append((part, one.value))
            models |= {turn.event.event_id: one.model for turn in part}
    return llm.extracted(answers), models


def _asked(
    setup: Setup, job: Job | None, batch: Batch, turns: Sequence[Passage]
) -> Operation[asking.Said[llm.Extraction]]:
    context = {event.event_id for event in batch.context}
    try:
        return (
            yield from asking.ask(
                setup, scope=batch.scope, component=COMPONENT, prompt=prompting.load(COMPONENT),
                values=llm.shown(turns, batch.context), schema=llm.Extraction, job=job, max_tokens=ANSWER_TOKENS,
                event_ids=sorted(context | {turn.event.event_id for turn in turns}), context_ids=sorted(context),
            )
        )  # fmt: skip
    except (Refused, ModelRejected) as error:
        if not context or (isinstance(error, ModelRejected) and error.facts.get("status") not in UNFIT):
            raise
    # It may be what was said before that it refuses: the stream must not stop behind that.
    return (yield from _asked(setup, job, replace(batch, context=()), turns))


def _candidates(setup: Setup, batch: Batch, found: Sequence[Extracted], models: Mapping[str, str]) -> list[Candidate]:
    """The facts as the policy sees them, with the trust of the worst text the model was shown. Pure."""
    user = batch.scope.user_id if isinstance(batch.scope.user_id, str) else None
    prompt = prompting.load(COMPONENT)
    made = []
    for one in found:
        draft, origin = deriving.draft(setup, one.event, one.proposed, (llm.NAME, llm.VERSION), user)
        model = models[one.event.event_id]
        origin = replace(origin, trust=batch.trust, model=model[:200], prompt_hash=prompt.hash)
        made.append(Candidate(one, draft, origin))
    return made


def _advice(
    setup: Setup, job: Job | None, batch: Batch, candidates: Sequence[Candidate]
) -> Operation[Mapping[int, Advice]]:
    """What the model says of the candidates the gates leave unsure, by their place; none is as good as no opinion."""
    if not setup.asks(ADJUDICATE) or not candidates:
        return {}
    cases = yield from steps.read(batch.scope.tenant_id, lambda conn: _cases(setup, conn, batch, candidates))
    found: dict[int, Advice] = {}
    for start in range(0, len(cases), verdicts.MOST_CASES):
        part = cases[start : start + verdicts.MOST_CASES]
        asked = [case for _, case in part]
        try:
            answer = yield from asking.ask(
                setup, scope=batch.scope, component=ADJUDICATE, prompt=prompting.load(ADJUDICATE),
                values=verdicts.shown(asked), schema=Verdicts, job=job,
                event_ids=batch.event_ids,
            )  # fmt: skip
        except GIVEN_UP:
            continue
        found |= {part[place][0]: advice for place, advice in verdicts.read(asked, answer.value).items()}
    return found


def _cases(setup: Setup, conn: Connection, batch: Batch, candidates: Sequence[Candidate]) -> list[tuple[int, Case]]:
    desk = _desk(setup, conn, batch)
    cited = _cited(desk, candidates)
    cases = []
    for place, one in enumerate(candidates):
        judged = writing.judge(desk, one.draft, one.origin.trust, one.origin.recorded_at)
        if not one.found.verified or _told_before(desk, one, judged, cited) is not None:
            continue
        near = verdicts.unsure(judged.judgement, full=_is_full(setup), scale=desk.scale)
        offers = [
            _offer(memory)
            for memory in memories.load(conn, desk.visible, [one.memory_id for one in near])
            if memory.scope == batch.scope and memory.is_current
        ]
        offers = [offer for offer in offers if offer.trust <= trust_rank(one.origin.trust)][: verdicts.MOST_OFFERS]
        if offers:
            cases.append((place, Case(one.draft.fact, tuple(offers))))
    return cases


def _is_full(setup: Setup) -> bool:
    return setup.level_of(ADJUDICATE) == "full"


def _offer(memory: Memory) -> Offer:
    return Offer(
        memory.memory_id, memory.fact, trust_rank(memory.trust), memory.lineage_id, memory.conflict_key,
        memory.importance,
    )  # fmt: skip


# ------------------------------------------------ writing


def _effect(
    setup: Setup, conn: Connection, job: Job, batch: Batch, candidates: Sequence[Candidate],
    advice: Mapping[int, Advice],
) -> bool:  # fmt: skip
    """Write everything in one transaction; True when nothing is left to read and the job is done."""
    assert job.stream_id is not None
    failed = "upto" in job.payload
    jobs.hold(conn, job)
    desk = _desk(setup, conn, batch)
    targets = {one.target.lineage_id: one.target for one in advice.values() if one.target is not None}
    lineages = [
        name
        for one in targets.values()
        for name in writing.lineage_locks(one.lineage_id, batch.scope_id, one.conflict_key)
    ]
    writing.lock(desk, [one.draft for one in candidates], writing.deriving_lock(job.stream_id), *lineages)
    if not failed and jobs.cursor(conn, job.stream_id, llm.NAME, llm.VERSION) != batch.old:
        return False  # another worker came first: look again at what is left
    if candidates and ledger.has_erased(conn, batch.event_ids):
        return False  # erased since the model was shown it: look again
    _settle(setup, desk, candidates, advice, anew=not failed)
    if desk.embeds and any(one.draft.vector is None for one in candidates):
        jobs.add(conn, kind=jobs.EMBED, dedup_key=f"{job.job_id}/{batch.new}", scope_id=batch.scope_id)
    if batch.new > batch.old and not failed:
        jobs.advance(conn, _moved(job.stream_id, batch))
        return False
    jobs.finish(conn, job)
    if not failed:
        jobs.finish_derived(conn, {job.stream_id: None})
    return True


def _settle(
    setup: Setup, desk: Desk, candidates: Sequence[Candidate], advice: Mapping[int, Advice], *, anew: bool = True
) -> None:
    """Judge and write candidates, in order; not `anew` where their events may have given facts that stand."""
    cited = _cited(desk, candidates)
    taken = {} if anew else _taken(desk, candidates)
    settled: list[Settled] = []
    for place, one in enumerate(candidates):
        judged, origin = _judged(setup, desk, one, advice.get(place), cited), one.origin
        if judged.kind in ("add", "revise") and origin.ordinal in taken.get(origin.event_id, ()):
            origin = replace(origin, ordinal=max(taken[origin.event_id]) + 1)
            taken[origin.event_id].add(origin.ordinal)
        settled.append(writing.settle(desk, judged, origin))
        given, made = cited[one.origin.event_id], settled[-1]
        if made.is_quarantined:
            given.apart.add(one.draft.fact)
        elif made.memory_id is not None:
            given.memory_ids.add(made.memory_id)
    writing.index(desk, settled)
    _relate(desk, candidates, settled)


def _moved(stream_id: str, batch: Batch) -> dict[jobs.Cursor, int]:
    """The model's cursor in a stream, and where it stands after a batch."""
    return {jobs.Cursor(stream_id, llm.NAME, llm.VERSION, batch.old): batch.new}


def _giving_up(job: Job, batch: Batch) -> Any:
    """Let the stream go on without a batch the model failed on: the job keeps its place, to be retried by hand."""

    def work(conn: Connection) -> bool:
        assert job.stream_id is not None
        jobs.hold(conn, job)
        if "upto" in job.payload:
            return True
        if not jobs.advance(conn, _moved(job.stream_id, batch)):
            return False  # another worker came first: its answer counts
        execute(conn, "note_range", job_id=job.job_id, lease_token=job.lease_token, after=batch.old, upto=batch.new)
        deriving.queue_extract(conn, [(job, batch.new, None)])
        return True

    return work


def _desk(setup: Setup, conn: Connection, batch: Batch) -> Desk:
    return replace(setup.desk(conn, batch.scope), scope_id=batch.scope_id) if batch.desk is None else batch.desk(conn)


def _taken(desk: Desk, candidates: Sequence[Candidate]) -> dict[str, set[int]]:
    """By event the numbers that cannot be a new fact's: a memory has them, be it a tombstone, or another candidate."""
    events = sorted({one.origin.event_id for one in candidates})
    rows = fetch_all(
        desk.conn, "list_memories_of_events", tenant_id=desk.tenant_id, scope_id=desk.scope_id, event_ids=events
    )
    found = {row.event_id: set[int]() for row in rows}
    for row in rows:
        found[row.event_id].add(row.ordinal)
    return found


@dataclass(slots=True)
class Given:
    """What an event gave before: the memories that rest on it, and the texts of those forgotten and kept apart."""

    memory_ids: set[str] = field(default_factory=set)
    forgotten: list[str] = field(default_factory=list)
    apart: set[str] = field(default_factory=set)

    def gave_and_lost(self, fact: str) -> bool:
        """Whether the event gave this before, and somebody forgot it."""
        return any(not gates.changes(fact, lost) for lost in self.forgotten)


Cited = defaultdict[str, Given]


def _cited(desk: Desk, candidates: Sequence[Candidate]) -> Cited:
    events = sorted({one.origin.event_id for one in candidates})
    found: Cited = defaultdict(Given)
    rows = (
        fetch_all(desk.conn, "list_cited_memories", tenant_id=desk.tenant_id, scope_id=desk.scope_id, event_ids=events)
        if events
        else []
    )
    for row in rows:
        given = found[row.event_id]
        if row.quarantined:
            given.apart.add(row.fact)
            continue
        given.memory_ids.add(row.memory_id)
        if row.forgotten:
            given.forgotten.append(row.fact)
    return found


def _judged(setup: Setup, desk: Desk, one: Candidate, advice: Advice | None, cited: Cited) -> Judged:
    """What becomes of a candidate: first its quote, then what the event gave before, then the gates with the advice."""
    judged = writing.judge(desk, one.draft, one.origin.trust, one.origin.recorded_at)
    if one.draft.refused is not None:
        return judged
    own = cited[one.origin.event_id]
    if not one.found.verified and setup.policy.unverified != "keep":
        is_there = judged.kind == "reinforce" or one.draft.fact in own.apart
        if setup.policy.unverified == "reject" or is_there or own.gave_and_lost(one.draft.fact):
            return writing.rejected(judged, "unverified_quote")
        return writing.quarantined(judged, "unverified_quote")
    same = _told_before(desk, one, judged, cited)
    if same is not None:
        return writing.told_before(judged, same)
    if own.gave_and_lost(one.draft.fact):
        return writing.rejected(judged, "forgotten")
    if (
        judged.judgement.contradicts_id in own.memory_ids
    ):  # who says two things in one breath does not contradict themselves
        judged = replace(judged, judgement=replace(judged.judgement, contradicts_id=None))
    near = [neighbour.fact for neighbour in judged.judgement.nearest]
    if one.found.event.role in AGENTS and (judged.kind == "reinforce" or llm.is_echo(one.draft.fact, near)):
        return writing.rejected(judged, "echo")
    if advice is None or not verdicts.unsure(judged.judgement, full=_is_full(setup), scale=desk.scale):
        return judged
    held = None if advice.target is None else desk.load(advice.target.memory_id)
    target = None if held is None else _offer(held)  # as it is now: it may have gained trust or a key meanwhile
    judgement = verdicts.advised(judged.judgement, trust_rank(one.origin.trust), Advice(advice.decision, target))
    if judgement.kind != "revise" or target is None:
        return replace(judged, judgement=judgement)
    return replace(judged, judgement=judgement, lineage_id=target.lineage_id, head_importance=target.importance)


def _told_before(desk: Desk, one: Candidate, judged: Judged, cited: Cited) -> str | None:
    """The memory another deriver made of the same event that says the same; None where this says something new."""
    own = cited[one.origin.event_id].memory_ids
    target = judged.judgement.target_id
    if target in own and judged.kind == "reinforce":
        return target
    if target in own and judged.kind == "revise":
        held = desk.load(target)
        return target if held is not None and gates.restates(one.draft.fact, held.fact) else None
    alike = (near for near in judged.judgement.nearest if near.memory_id in own and not near.changed)
    return next((near.memory_id for near in alike if (near.cosine or 0.0) >= ALIKE or near.jaccard >= SHARED), None)


ALIKE: Final = 0.8
SHARED: Final = 0.5


def _relate(desk: Desk, candidates: Sequence[Candidate], settled: Sequence[Settled]) -> None:
    """Write the relations between the memories of one batch, each with the event it was drawn from."""
    stands = [None if one.is_quarantined else one.memory_id for one in settled]
    for source, target, kind, weight in relations.between([one.found for one in candidates]):
        source_id, target_id = stands[source], stands[target]
        if source_id is None or target_id is None or source_id == target_id:
            continue
        _relation(desk, source_id, target_id, kind, weight, candidates[source].origin.event_id)
    for candidate, one in zip(candidates, settled, strict=True):
        if verdicts.KEPT_BOTH in one.decision["reasons"] and one.memory_id is not None:
            _relation(desk, one.memory_id, one.decision["target_id"], "kept_apart", 1.0, candidate.origin.event_id)


def _relation(desk: Desk, source_id: str, target_id: str, kind: str, weight: float, event_id: str) -> None:
    execute(
        desk.conn, "relate_derived", tenant_id=desk.tenant_id, source_id=source_id, target_id=target_id,
        relation_type=kind, weight=weight, event_id=event_id,
        metadata=Jsonb({"deriver": relations.NAME, "version": relations.VERSION}), at=desk.at,
    )  # fmt: skip
