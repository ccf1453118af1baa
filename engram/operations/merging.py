"""Merging: like memories become one, by rules or with a language model, and by hand; and reconciling what is near.

A run looks at the memories that nobody has looked at, then judges the pairs it knows of. A model is asked between
transactions, about a bounded number of pairs, and what it writes is kept only if no value and no word is lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from engram import inputs, memories, prompting, tenancy, writing
from engram.channels import semantic
from engram.database import Connection, fetch_all
from engram.errors import BadOutput, BudgetSpent, Conflict, InvalidInput, ModelRejected, NotFound, Refused, Unavailable
from engram.lifecycle import merging, pairing, reconciling
from engram.lifecycle.cycle import Cycle
from engram.lifecycle.deeds import Deed, Tie
from engram.lifecycle.keeping import is_rewording, says_all
from engram.lifecycle.merging import Choice
from engram.lifecycle.pairing import Pair, Row
from engram.lifecycle.thresholds import Thresholds
from engram.operations import asking, changing, living, spaces, steps, sweeping
from engram.operations.changing import DIRECT_TRUST
from engram.operations.living import Run
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.policies import guards
from engram.tenancy import Visible
from engram.values import Change, LifecycleRun, Memory, trust_rank
from engram.writing import EVIDENCE, Desk, Draft

T = TypeVar("T")
MERGE: Final = "merge"
RECONCILE: Final = "reconcile"
PAIRS: Final = 60  # judged in one transaction
LOOKED: Final = 1_000  # memories looked at in one step of a cycle
LOOKS: Final = 4  # batches of them in one transaction
ASKED: Final = 10  # pairs a model is asked about at once
MOST_ASKED: Final = 30  # in one run
MOST_BY_HAND: Final = 20
APART: Final = "apart"
SHOWN: Final = 1_000  # characters of a memory that a model is shown: longer ones it is not asked about
ANSWER_TOKENS: Final = 4_096
UNANSWERED: Final = (BadOutput, BudgetSpent, ModelRejected, Refused, Unavailable)


class Same(BaseModel):
    """What a model says of one pair of like memories."""

    model_config = ConfigDict(extra="forbid")

    pair: int
    same: bool
    text: Annotated[str, Field(max_length=2 * SHOWN)] = ""


class Sames(BaseModel):
    """What a model says of pairs of like memories."""

    model_config = ConfigDict(extra="forbid")

    pairs: Annotated[list[Same], Field(max_length=ASKED)]


class Reconciled(BaseModel):
    """What a model says of an older and a newer memory."""

    model_config = ConfigDict(extra="forbid")

    pair: int
    decision: Literal["update", "absorb", "keep_both"]
    text: Annotated[str, Field(max_length=2 * SHOWN)] = ""


class Reconcilings(BaseModel):
    """What a model says of older and newer memories."""

    model_config = ConfigDict(extra="forbid")

    pairs: Annotated[list[Reconciled], Field(max_length=ASKED)]


@dataclass(frozen=True, slots=True)
class Question:
    """Pairs to ask a model about, with their memories as they stood."""

    choices: tuple[Choice, ...]
    heads: Mapping[str, Memory]
    ties: tuple[Tie, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """What becomes of a pair a model was asked about: the verdict, and the deed that goes with it."""

    choice: Choice
    verdict: str
    deed: Deed


# ------------------------------------------------ what is like what


def thresholds(setup: Setup, conn: Connection) -> Thresholds:
    """The similarities that hold for a tenant: the policy's, else those of its model, else the fall-back."""
    active, _ = semantic.hold_models(conn)
    return Thresholds.of(None if active is None else active.thresholds, setup.policy.thresholds)


def looked(setup: Setup, call: Writing, most: int | None = LOOKED) -> Operation[int]:
    """Look at memories of a scope that nobody has looked at, at most `most`; how many batches it took."""
    after, batches = pairing.FIRST, 0

    def work(conn: Connection, after: str) -> str | None:
        desk = setup.desk(conn, call.scope)
        writing.lock(desk, [], f"{desk.tenant_id}/{desk.scope_id}/looks")
        if after == pairing.FIRST:
            pairing.sweep(desk)
        found: str | None = after
        for _ in range(LOOKS):
            found = None if found is None else pairing.look(desk, found)
        return found

    while most is None or batches * LOOKS * pairing.EXACT_BATCH < most:
        found = yield from steps.write(call.tenant_id, lambda conn, after=after: work(conn, after), key="looks")  # type: ignore[misc]
        batches += 1
        if found is None:
            break
        after = found
    return batches


def relations_of(desk: Desk, memory_ids: Sequence[str]) -> tuple[Tie, ...]:
    """The loose relations of memories, as they stand."""
    found = fetch_all(desk.conn, "list_loose_relations", tenant_id=desk.tenant_id, memory_ids=sorted(memory_ids))
    return tuple(Tie(row.source_id, row.target_id, row.relation_type, row.weight, row.auto) for row in found)


def candidates(setup: Setup, desk: Desk, memory_ids: Iterable[str]) -> dict[str, Row]:
    """The memories among these that take part, with what the policy's veto says of each."""
    rows = pairing.rows(desk, memory_ids)
    if setup.policy.keep is None:
        return rows
    found = memories.load(desk.conn, desk.visible, list(rows))
    kept = {one.memory_id for one in found if guards.keeps(setup.policy, one)}
    return {one: replace(row, kept=one in kept) for one, row in rows.items()}


def rehearsed(setup: Setup, call: Writing, work: Callable[[Setup], Operation[T]]) -> Operation[T]:
    """The work itself, or as a dry run: by rules, in one transaction that is taken back."""
    if not call.dry_run:
        return (yield from work(setup))
    quiet = replace(setup, llm=None)
    whole = steps.undone(lambda conn: steps.carried_out(conn, work(quiet)))
    return (yield from steps.write(call.tenant_id, whole, key="rehearsal"))


# ------------------------------------------------ merging what is alike


def merge_similar(
    setup: Setup, threshold: object, use_llm: object, given: Mapping[str, Any]
) -> Operation[LifecycleRun]:  # fmt: skip
    """Make one of memories that say the same."""
    call = setup.writing(given)
    least = inputs.optional(inputs.unit, threshold, "threshold")
    asks = inputs.optional(inputs.flag, use_llm, "use_llm")
    if asks:
        setup.model_for(MERGE)
    asks = setup.asks(MERGE) if asks is None else asks
    setup = yield from spaces.ready(setup, call.tenant_id)
    asks = asks and not call.dry_run
    told = {"threshold": least, "use_llm": use_llm}
    return (yield from rehearsed(setup, call, lambda setup: _merged(setup, call, least, asks=asks, told=told)))


def _merged(
    setup: Setup, call: Writing, least: float | None, *, asks: bool, told: Mapping[str, Any]
) -> Operation[LifecycleRun]:  # fmt: skip
    run = yield from living.opened(call, MERGE, asked=told)
    before = yield from living.finished(run)
    if before is not None:
        return before
    changes = yield from _merging(setup, run, least, asks=asks)
    return (yield from living.closed(run, changes))


def merge_step(setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """The step `merge` of a cycle: bounded in what it looks at and asks."""
    setup = yield from spaces.ready(setup, call.tenant_id)

    def work(run: Run) -> Operation[list[Change]]:
        return (yield from _merging(setup, run, None, asks=setup.asks(MERGE), most=LOOKED))

    return (yield from sweeping.step(call, MERGE, cycle, work))


def _merging(
    setup: Setup, run: Run, least: float | None, *, asks: bool, most: int | None = None
) -> Operation[list[Change]]:  # fmt: skip
    """What rules can say first, then what a model is asked."""
    yield from looked(setup, run.call, most)
    changes = yield from living.planned(setup, run, lambda desk: plan_merges(setup, desk, least, asks=asks))
    if asks:
        changes += yield from _worded(setup, run, least)
    return changes


def _at(setup: Setup, desk: Desk, least: float | None, *, asks: bool = False) -> Thresholds:
    at = thresholds(setup, desk.conn)
    if least is None:
        return at
    return replace(at, merge=least, merge_text=min(at.merge_text, least) if asks else least)


def plan_merges(
    setup: Setup, desk: Desk, least: float | None = None, *, asks: bool = False,
    layers: Sequence[str] = pairing.LAYERS, most: int = PAIRS,
) -> list[Deed]:  # fmt: skip
    """The next merges that need no model; `asks` leaves what rules keep apart for a model to judge."""
    at, after = _at(setup, desk, least), pairing.FIRST_PAIR
    while most > 0 and (found := pairing.pairs(desk, at.merge, after=after, layers=layers, limit=most)):
        rows = candidates(setup, desk, [one for pair in found for one in pair.ids])
        chosen = merging.choose(rows, found, at)
        ties = relations_of(desk, [one.loser.memory_id for one in chosen.merges])
        verdicts = [(one.pair, "merged") for one in chosen.merges]
        if not asks:  # what rules keep apart, a model may still word as one
            verdicts += [(pair, "apart") for pair in chosen.apart]
        pairing.judged(desk, verdicts)
        if chosen.merges:
            return _deeds(chosen.merges, ties)
        after = found[-1]
    return []


def _deeds(choices: Sequence[Choice], ties: Sequence[Tie]) -> list[Deed]:
    """Deeds of choices, of which one may have won what the next puts away: relations go along."""
    found: list[Deed] = []
    standing = list(ties)
    for one in choices:
        found.append(merging.deed(one, standing))
        standing = [
            tie for tie in (*standing, *merging.moved(standing, one.loser.memory_id, one.winner.memory_id))
            if not tie.ended and one.loser.memory_id not in (tie.source_id, tie.target_id)
        ]  # fmt: skip
    return found


def _worded(setup: Setup, run: Run, least: float | None) -> Operation[list[Change]]:
    """What a model makes of pairs that are alike and say not quite the same."""

    def look(conn: Connection, after: Pair) -> tuple[Question | None, Pair]:
        desk = setup.desk(conn, run.call.scope)
        at = _at(setup, desk, least, asks=True)
        return _next_question(
            setup, desk, after,
            lambda after: pairing.pairs(desk, at.merge_text, after=after, limit=PAIRS),
            lambda rows, found: merging.choose(rows, found, at, asks=True),
        )  # fmt: skip

    return (yield from _asked_of_all(setup, run, MERGE, Sames, look, _same))


def _next_question(
    setup: Setup, desk: Desk, after: Pair,
    pairs: Callable[[Pair], Sequence[Pair]],
    choose: Callable[[Mapping[str, Row], Sequence[Pair]], merging.Chosen | reconciling.Chosen],
) -> tuple[Question | None, Pair]:  # fmt: skip
    """The next pairs that a model is to be asked about, and after which pair to go on; None where there are no more."""
    while found := pairs(after):
        chosen = choose(candidates(setup, desk, [one for pair in found for one in pair.ids]), found)
        pairing.judged(desk, [(pair, "apart") for pair in chosen.apart])
        asked = [one for one in chosen.asked if len(one.winner.fact) <= SHOWN and len(one.loser.fact) <= SHOWN]
        after = found[-1]
        if asked:
            kept = asked[:ASKED]
            return _question(desk, kept), kept[-1].pair if len(asked) > ASKED else after
    return None, after


def _asked_of_all(
    setup: Setup, run: Run, component: str, schema: type[Any],
    look: Callable[[Connection, Pair], tuple[Question | None, Pair]],
    judge: Callable[[Setup, Question, Any], Operation[list[Judged]]],
) -> Operation[list[Change]]:  # fmt: skip
    """Ask a model about a bounded number of pairs, and do what may be done of its answers."""
    changes: list[Change] = []
    after = pairing.FIRST_PAIR
    for _ in range(-(-MOST_ASKED // ASKED)):
        question, after = yield from steps.write(
            run.call.tenant_id, lambda conn, after=after: look(conn, after), key=run.run_id  # type: ignore[misc]
        )  # fmt: skip
        if question is None:
            break
        answer = yield from _asked(setup, run, component, question, schema)
        if answer is None:
            break
        judged = yield from judge(setup, question, answer)
        changes += yield from _done(setup, run, judged)
    return changes


def _question(desk: Desk, choices: Sequence[Choice]) -> Question:
    ids = [one for choice in choices for one in choice.pair.ids]
    heads = {one.memory_id: one for one in memories.load(desk.conn, desk.visible, list(dict.fromkeys(ids)))}
    return Question(tuple(choices), heads, relations_of(desk, [one.loser.memory_id for one in choices]))


def _asked(
    setup: Setup, run: Run, component: str, question: Question, schema: type[Any]
) -> Operation[Any | None]:  # fmt: skip
    """What a model answers about pairs; None where none can be asked: the pairs wait for another day."""
    shown = "\n".join(
        json.dumps({"pair": place, **_shown(component, choice)}, ensure_ascii=False)
        for place, choice in enumerate(question.choices, 1)
    )
    events = sorted({row.event_id for one in question.choices for row in (one.winner, one.loser) if row.event_id})
    try:
        said: asking.Said[Any] = yield from asking.ask(
            setup, scope=run.call.scope, component=component, prompt=prompting.load(component), schema=schema,
            values={"pairs": shown, "mark": prompting.mark(shown)}, max_tokens=ANSWER_TOKENS, event_ids=events,
        )  # fmt: skip
    except UNANSWERED:
        return None
    return said.value


def _shown(component: str, choice: Choice) -> dict[str, str]:
    names = ("newer", "older") if component == RECONCILE else ("one", "two")
    return dict(zip(names, (choice.winner.fact, choice.loser.fact), strict=True))


def _same(setup: Setup, question: Question, answer: Sames) -> Operation[list[Judged]]:
    """Deeds of what a model says is the same, if it lost nothing; it is believed in nothing else."""
    said = {one.pair: one for one in answer.pairs}
    wanted: list[tuple[Choice, str]] = []
    apart: list[Choice] = []
    for place, choice in enumerate(question.choices, 1):
        one = said.get(place)
        text = "" if one is None else " ".join(one.text.split())
        facts = (choice.winner.fact, choice.loser.fact)
        if one is None or not one.same:
            apart += [] if one is None else [choice]
        elif says_all(*facts) and (not text or not _may_reword(choice, text)):
            wanted.append((choice, choice.winner.fact))
        elif _may_reword(choice, text):
            wanted.append((choice, text))
    drafts = yield from _drafts(setup, question, wanted)
    why = "a language model says that both tell the same, and no value was lost"
    return [
        *(
            Judged(choice, "merged", merging.deed(choice, question.ties, draft, why))
            for (choice, _), draft in zip(wanted, drafts, strict=True)
        ),
        *(_kept_apart(one) for one in apart),
    ]  # fmt: skip


def _may_reword(choice: Choice, text: str) -> bool:
    alike = choice.winner.trust == choice.loser.trust
    return alike and len(text) <= SHOWN and is_rewording((choice.winner.fact, choice.loser.fact), text)


def _drafts(
    setup: Setup, question: Question, wanted: Sequence[tuple[Choice, str]]
) -> Operation[list[Draft | None]]:  # fmt: skip
    """New revisions of winners, where the text is not theirs already."""
    made: list[Draft | None] = []
    for choice, text in wanted:
        head = question.heads[choice.winner.memory_id]
        made.append(None if text == head.fact else changing.revision_of(head, text, None, None, None))
    embedded = yield from changing.with_vectors(setup, [one for one in made if one is not None])
    waiting = list(embedded)
    return [None if one is None else waiting.pop(0) for one in made]


def _kept_apart(choice: Choice) -> Judged:
    return Judged(choice, APART, Deed(ties=(Tie(*choice.pair.ids, "kept_apart"),)))


def _done(setup: Setup, run: Run, judged: Sequence[Judged]) -> Operation[list[Change]]:
    """Do what a model said, each pair's verdict in the transaction of its deed: one that was not done stays open."""
    changes: list[Change] = []

    def work(conn: Connection, one: Judged) -> list[Change]:
        desk = setup.desk(conn, run.call.scope, reason=run.call.reason)
        made = living.perform(setup, desk, run, [one.deed])
        if made or one.verdict == APART:
            pairing.judged(desk, [(one.choice.pair, one.verdict)])
        return made

    for one in judged:
        changes += yield from steps.write(
            run.call.tenant_id, lambda conn, one=one: work(conn, one), key=run.run_id  # type: ignore[misc]
        )  # fmt: skip
    return changes


# ------------------------------------------------ reconciling what is near


def reconcile_step(setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """The step `reconcile` of a cycle: a model joins newer memories with older ones of the same thing.

    None where there is no model to ask.
    """
    if not setup.asks(RECONCILE):
        return None
    setup = yield from spaces.ready(setup, call.tenant_id)

    def work(run: Run) -> Operation[list[Change]]:
        return (yield from _reconciling(setup, run))

    return (yield from sweeping.step(call, RECONCILE, cycle, work))


def _reconciling(setup: Setup, run: Run) -> Operation[list[Change]]:
    """Ask about a bounded number of pairs, and do what may be done."""
    yield from looked(setup, run.call)

    def look(conn: Connection, after: Pair) -> tuple[Question | None, Pair]:
        desk = setup.desk(conn, run.call.scope)
        at = thresholds(setup, conn)
        return _next_question(
            setup, desk, after,
            lambda after: pairing.pairs(
                desk, at.reconcile_min, at.reconcile_max, after=after, layers=("working", "core"), limit=PAIRS
            ),
            lambda rows, found: reconciling.choose(rows, [one for one in found if one.similarity > at.reconcile_min]),
        )  # fmt: skip

    return (yield from _asked_of_all(setup, run, RECONCILE, Reconcilings, look, _joined))


def _joined(setup: Setup, question: Question, answer: Reconcilings) -> Operation[list[Judged]]:
    said = {one.pair: one for one in answer.pairs}
    wanted: list[tuple[Choice, str]] = []
    apart: list[Choice] = []
    for place, choice in enumerate(question.choices, 1):
        one = said.get(place)
        if one is None:
            continue
        text = " ".join(one.text.split()) or choice.winner.fact
        if one.decision != "keep_both" and reconciling.may_join(choice, text):
            wanted.append((choice, text))
        else:
            apart.append(choice)
    drafts = yield from _drafts(setup, question, wanted)
    return [
        *(
            Judged(choice, "reconciled", reconciling.deed(choice, draft))
            for (choice, _), draft in zip(wanted, drafts, strict=True)
        ),
        *(_kept_apart(one) for one in apart),
    ]  # fmt: skip


# ------------------------------------------------ by hand


def merge(setup: Setup, memory_ids: object, fact: object, given: Mapping[str, Any]) -> Operation[LifecycleRun]:
    """Make one of memories that a caller names: the text is a new revision of the first, the others are put away."""
    call = setup.writing(given)
    wanted = [inputs.memory_id(one, "memory_ids") for one in inputs.items(memory_ids, "memory_ids", MOST_BY_HAND)]
    if len(wanted) < 2:
        raise InvalidInput("memory_ids", "two memories or more", f"{len(wanted)}")
    text = inputs.optional(call.censor.checking(inputs.fact), fact, "fact")
    call = replace(call, trust=call.trust or DIRECT_TRUST)
    named = yield from steps.read(call.tenant_id, lambda conn: _named(conn, tenancy.visible(conn, call.scope), wanted))
    setup = yield from spaces.ready(setup, call.tenant_id)
    told = {"memory_ids": [one.memory_id for one in named], "fact": text}
    run = yield from living.opened(call, "merge_by_hand", asked=told, later=True)
    try:
        first, deed = yield from _by_hand(setup, run, wanted, text)
    except Conflict:  # of what is there now: an earlier call with this key met what was
        before = yield from living.finished(run)
        if before is None:
            raise
        return before

    def work(desk: Desk) -> list[Change]:
        scope_id = desk.visible.id_of(first.scope)
        done = living.perform(setup, replace(desk, scope_id=scope_id), run, [deed])
        if not done:
            raise Conflict("these memories have changed meanwhile: look at them again")
        return done

    return (yield from living.at_once(setup, run, work))


def _by_hand(setup: Setup, run: Run, wanted: Sequence[str], text: str | None) -> Operation[tuple[Memory, Deed]]:
    """The first of the memories a caller names, and the deed that makes one of them; Conflict where they cannot be."""
    call = run.call

    def look(conn: Connection) -> tuple[list[Memory], tuple[Tie, ...], list[Row]]:
        desk = setup.desk(conn, call.scope)
        found = _named(conn, desk.visible, wanted)
        _check_mergeable(found)
        return found, relations_of(desk, [one.memory_id for one in found[1:]]), [_row(one) for one in found]

    found, ties, rows = yield from steps.write(call.tenant_id, look, key=run.run_id)
    first = found[0]
    kept = text or next((row.fact for row in rows if all(says_all(row.fact, other.fact) for other in rows)), None)
    if kept is None:
        raise Conflict("none of these says all that the others do: give the text that is to stand for them as fact")
    draft = None
    if kept != first.fact:
        drafts = yield from changing.with_vectors(setup, [changing.revision_of(first, kept, None, None, None)])
        draft = drafts[0]
        worst = trust_rank(call.trust or DIRECT_TRUST) if text else max(trust_rank(one.trust) for one in found)
        if worst > trust_rank(first.trust):
            raise Conflict("the first of these has a better source than the text: it would not become current")
    return first, merging.joined(rows[0], rows[1:], ties, draft, because="merged by hand", of_all=text is None)


def _named(conn: Connection, visible: Visible, wanted: Sequence[str]) -> list[Memory]:
    """The memories that a caller names; NotFound where one of them is not in sight, before anything is written."""
    named = list(dict.fromkeys(memories.resolve_id(conn, visible, one) for one in wanted))
    found = memories.load(conn, visible, named)
    if len(found) < len(named):
        raise NotFound("no memory with that id in this scope")
    return found


def _check_mergeable(found: Sequence[Memory]) -> None:
    if len(found) < 2:
        raise InvalidInput("memory_ids", "two memories or more", "one memory twice")
    if any(not one.is_current for one in found):
        raise Conflict("only current memories can be merged: name the heads of their lineages")
    if len({one.scope for one in found}) > 1 or len({one.private for one in found}) > 1:
        raise Conflict("memories of different scopes, or private ones and others, cannot become one")
    if any(one.is_critical for one in found[1:]):
        raise Conflict("a pinned memory is not put away: name it first, or unpin it")
    if any(one.conflict_key not in (None, found[0].conflict_key) for one in found[1:]):
        raise Conflict("a memory with a key is what the key asks for, and is not put away: name it first")
    if any(one.category in EVIDENCE for one in found):
        raise Conflict("what was said word for word is evidence, and is not merged")


def _row(memory: Memory) -> Row:
    return Row(
        memory.memory_id, memory.fact, memory.memory_type, memory.importance, memory.layer, trust_rank(memory.trust),
        memory.tags, memory.category, memory.conflict_key, memory.recorded_at, accesses=memory.activity.access_count,
        repetitions=memory.activity.repetition_count,
    )  # fmt: skip
