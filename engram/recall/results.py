"""Results: what was found, scored, explained and cut. Pure, but for the count of what was returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from engram import filters, ranking, rerank, text
from engram.channels import graph, keyword, semantic, tail, temporal
from engram.citations import whole_of
from engram.database import MADE, Connection, execute
from engram.english import wishes
from engram.english.windows import RECENT
from engram.english.worth import STATEMENT
from engram.ranking import Brief, Scored, Signals
from engram.recall import turns
from engram.recall.finding import EVIDENCE, Candidate, Found, holds_in, with_ranks
from engram.recall.question import Asked, Looked
from engram.regex import regex
from engram.rerank import Judged
from engram.values import ChannelHit, Event, Memory, Mode, SearchResult, SearchResults, Trust

Pair = tuple[Candidate, Scored]
Load = Callable[[Sequence[Pair]], Sequence[Memory]]
"""What brings the whole memories of the rows that are returned, as far as they are there."""

GONE: Final = ("superseded", "deleted")
FORGOTTEN: Final = ("deleted",)
OF_THE_USER: Final[frozenset[Trust]] = frozenset(("operator", "user"))
OF_THE_AGENT: Final[frozenset[Trust]] = frozenset(("agent",))
OF_NOBODY: Final[frozenset[Trust]] = frozenset()
AGENTS: Final = frozenset(("agent", "assistant"))  # actors by their role alone: they have no name
BESIDE: Final = frozenset({"moot", "since_forgotten"})  # labels of rows that stand beside their lineage
WEAK: Final = 0.20  # relevance under which the best hit is no answer
TELLS_AS_MUCH: Final = 0.75  # share of the relevance of somebody's words with which a fact made of them stands for them
TOUCHED: Final = 0.5  # relevance over which a returned row counts as accessed
_CJK = regex(f"[{text.CJK}]")


def rank(asked: Asked, looked: Looked, found: Found, *, now: datetime | None = None) -> SearchResults:
    """Score what was found, best first, with every reason; cut to the limit. Pure."""
    return results_of(asked, found, relevant(asked, looked, found, now))


def results_of(
    asked: Asked, found: Found, ordered: Sequence[Pair], *, judged: Judged | None = None, load: Load | None = None
) -> SearchResults:
    """The results of scored rows, best first: cut, spread, joined with their evidence and explained. Pure.

    `judged` is what a reranker made of the texts that are `judgeable`. `load` brings the memories of those that are
    returned, where the search was a light one; what is gone by then is left out.
    """
    kept = _near(asked, list(ordered))
    by_reranker: dict[str, float] = {}
    if judged is not None:
        by_reranker = {kept[place][0].memory.memory_id: score for place, score in enumerate(judged.scores)}
        # What the reranker was not shown follows only where it found nothing to leave out.
        rest = kept[len(judged.scores) :] if len(judged.kept) == len(judged.scores) else []
        kept = [*(kept[place] for place in judged.kept), *rest]
    chosen, evidence = _join_evidence(kept, found.distilled, lambda pairs: _placed(asked, pairs))
    if asked.keep_pinned:
        chosen += [pair for pair in kept if pair[0].memory.is_critical and pair not in chosen]
    weak = not chosen or max(scores.relevance for _, scores in chosen) < WEAK
    listed = _loaded(ranking.listed(chosen, asked.sort, lambda pair: pair[0].memory), load)
    return SearchResults(
        results=tuple(
            _result(asked, found, one, scores, place, evidence, by_reranker.get(one.memory.memory_id))
            for place, (one, scores) in enumerate(listed, 1)
        ),
        profile=ranking.name_of(asked.profile),
        watermark=found.watermark,
        degraded=found.degraded,
        weak=weak,
        channels=found.channels,
    )


def _loaded(listed: list[Pair], load: Load | None) -> list[Pair]:
    if load is None or not any(isinstance(one.memory, Brief) for one, _ in listed):
        return listed
    there = {memory.memory_id: memory for memory in load(listed)}
    found: list[Pair] = []
    for one, scores in listed:
        memory = there.get(one.memory.memory_id) if isinstance(one.memory, Brief) else one.memory
        if memory is not None:
            found.append((one._replace(memory=memory), scores))
    return found


def judgeable(asked: Asked, ordered: Sequence[Pair]) -> list[str]:
    """The texts a reranker is shown of scored rows; none where they are too few, or good enough as they are. Pure."""
    kept = _near(asked, list(ordered))
    shown = kept[: rerank.considered(asked.limit)]
    if len(shown) < rerank.LEAST or _suffice(asked, kept):
        return []
    return [one.whole.fact for one, _ in shown]


def is_good_enough(asked: Asked, looked: Looked, found: Found, *, now: datetime | None = None) -> bool:
    """Whether vectors and words alone found as much as was asked for, so that nobody else need be asked. Pure."""
    return asked.good_enough is not None and _suffice(asked, _near(asked, relevant(asked, looked, found, now)))


def _suffice(asked: Asked, kept: Sequence[Pair]) -> bool:
    first = [scores.score for one, scores in kept if one.cosine is not None or one.coverage > 0]
    return ranking.is_good_enough(first, asked.limit, asked.good_enough)


def relevant(asked: Asked, looked: Looked, found: Found, now: datetime | None = None) -> list[Pair]:
    """What has to do with the question, scored, best first; in a read of today one row a lineage. Pure."""
    candidates = [*with_ranks(_shown(asked, found)), *_tail_candidates(asked, looked, found)]
    scale = _scale(asked, looked, candidates, now or looked.now)
    if found.distilled:
        # Evidence all of whose facts were forgotten is not shown, nor, where only the current is asked for, superseded.
        candidates = [one for one in candidates if not is_put_away(asked, facts_of(found, one.memory))]
    kept = [pair for pair in _scored(candidates, scale) if _is_relevant(asked, *pair)]
    return one_a_lineage(asked, _best_first(kept))


def _best_first(kept: list[Pair]) -> list[Pair]:
    """Rows in the order of their scores, and of `ranking.best_first` where some are equal. Pure."""
    if len({scores.score for _, scores in kept}) == len(kept):
        kept.sort(key=lambda pair: -pair[1].score)
    else:
        kept.sort(key=lambda pair: ranking.best_first(pair[1].score, pair[0].memory))
    return kept


def _near(asked: Asked, kept: list[Pair]) -> list[Pair]:
    """What is not much farther away than the nearest, where the adaptive cut is asked for. Pure."""
    if asked.cut != "adaptive":
        return kept
    farthest = ranking.adaptive_cut([scores.distance for _, scores in kept])
    return [pair for pair in kept if pair[1].distance <= farthest]


def _placed(asked: Asked, pairs: Sequence[Pair]) -> list[Pair]:
    """The rows that the limit has places for. Pure."""
    if asked.per_session is None:
        return list(pairs[: asked.limit])
    return ranking.round_robin(pairs, lambda pair: pair[0].memory.session_id, asked.per_session, asked.limit)


def _shown(asked: Asked, found: Found) -> list[Candidate]:
    """The candidates that this search may show: a search for the past may have found more than one for today. Pure."""
    past = not asked.current_only
    return [one for one in found.candidates if one.stands and (past or one.memory.status != "superseded")]


@dataclass(frozen=True, slots=True)
class _Scale:
    """What all rows of a search are scored against."""

    score: Callable[[Signals], Scored]
    clock: datetime
    mode: Mode
    best: float  # coverage
    cjk: int | None  # characters of the question, where a profile asks for them
    words: frozenset[str] | None  # of the question, where a profile compares them
    namespace: str
    several: bool  # namespaces are read
    named: frozenset[str]  # actors
    about: frozenset[Trust]  # whose words are asked for where nobody is named: the user's, the agent's, or nobody's
    recent: bool  # the last days count more
    floored: bool
    answers: Mapping[str, float]  # to the questions among the candidates
    wishes: bool  # of the asker count


def _scale(asked: Asked, looked: Looked, candidates: Sequence[Candidate], clock: datetime) -> _Scale:
    return _Scale(
        score=ranking.scorer(asked.profile),
        clock=clock,
        mode=asked.mode,
        best=max([one.coverage for one in candidates], default=0.0),
        cjk=len(_CJK.findall(asked.query)) if ranking.name_of(asked.profile) == "lifecycle" else None,
        words=text.tokens(asked.query) if ranking.compares_words(asked.profile) else None,
        namespace=looked.visible.scope.namespace,
        several=len({scope.namespace for scope in looked.visible.scopes.values()}) > 1,
        named=looked.named,
        about=_about(asked),
        recent=asked.recent,
        floored=not asked.min_score,
        answers={} if semantic.tells(asked.query) else _answers(candidates),
        wishes=asked.request and not looked.named,
    )


def _about(asked: Asked) -> frozenset[Trust]:
    """Whose words a question asks for: the agent's by "what did you tell me", the user's by any other "me". Pure.

    Who asks for something new asks it for himself, whether he says so or not.
    """
    if semantic.is_second_person(asked.query):
        return OF_THE_AGENT
    return OF_THE_USER if asked.request or semantic.is_first_person(asked.query) else OF_NOBODY


def _is_wish(memory: Memory | Brief) -> bool:
    """Whether a memory is what a user wants done every time, or likes. Pure."""
    if memory.trust not in OF_THE_USER:
        return False
    return memory.memory_type in wishes.TYPES or (isinstance(memory, Memory) and wishes.is_wish(memory.fact))


def _scored(candidates: Sequence[Candidate], scale: _Scale) -> list[Pair]:
    # Of every row of a search: little is called here, and what all rows share is looked up once.
    score, clock, best, answers, own, cjk, words = (
        scale.score, scale.clock, scale.best, scale.answers, scale.namespace, scale.cjk, scale.words,
    )  # fmt: skip
    named, about, several, mode, recent, floored, wished = (
        scale.named, scale.about, scale.several, scale.mode, scale.recent, scale.floored, scale.wishes,
    )  # fmt: skip
    made: list[Pair] = []
    for one in candidates:
        memory = one.memory
        activity, namespace, coverage = memory.activity, memory.scope.namespace, one.coverage
        nearness = "own" if namespace == own else "default" if namespace == "default" else "other"
        age = (clock - memory.recorded_at).total_seconds()
        last = activity.last_accessed_at
        idle = (clock - last).total_seconds() if last else age
        # It is of the actor the question names, or of whom it asks about.
        spoken = memory.actor in named if named else memory.trust in about
        # Who is asked about answers for himself, and an agent without a name for nobody else: it repeats what it was
        # asked.
        answering = answers and (spoken if named or about else memory.actor not in AGENTS)
        # In the order of their fields, since by their names it takes eight times as long.
        signals: Signals = MADE(
            Signals,
            (one.cosine, coverage, one.semantic_rank, one.keyword_rank, coverage / best if best > 0 else 0.0,
             spoken, answers.get(memory.memory_id) if answering else None,
             memory.memory_type, memory.layer, memory.critical_slot is not None, memory.importance, memory.confidence,
             age / 86_400 if age > 0 else 0.0, idle / 3_600 if idle > 0 else 0.0,
             activity.access_count, activity.repetition_count, nearness, float(one.epochs), mode,
             None, one.graph, one.temporal, float(clock - memory.valid_from <= RECENT) if recent else None,
             several and nearness == "own", floored, wished and _is_wish(memory)),
        )  # fmt: skip
        if words is not None and isinstance(memory, Memory):
            signals = signals._replace(keyword_relevance=text.jaccard(words, text.tokens(memory.fact)))
        made.append((one, score(signals if cjk is None else ranking.with_dual_hit(signals, cjk))))
    return made


def _answers(candidates: Sequence[Candidate]) -> dict[str, float]:
    """The nearness of the question that each memory answers: the last thing said before it, by another. Pure."""
    answered = {
        turns.after(one.place): one
        for one in candidates
        if one.place is not None and one.memory.category in EVIDENCE and _asks(one.memory)
    }
    found = {}
    for one in candidates:
        question = None if one.place is None else answered.get(one.place)
        if question is not None and question.memory.actor != one.memory.actor:
            found[one.memory.memory_id] = ranking.nearness(question.coverage, question.cosine)
    return found


def _asks(memory: Memory | Brief) -> bool:
    return memory.asks if isinstance(memory, Brief) else turns.asks(memory.fact)


def _is_relevant(asked: Asked, one: Candidate, scores: Scored) -> bool:
    if not asked.takes(scores.score) or not scores.relevant:
        return False
    if one.coverage > 0:
        return asked.mode != "semantic" or one.cosine is not None
    if one.temporal is not None or one.graph is not None:
        return True
    if one.cosine is None:
        return False
    # What is far by its words and its vector may still be said by who is asked about, or answer what is asked; and a
    # wish is like no request.
    near = max(one.cosine, scores.relevance) > ranking.SEMANTIC_FLOOR
    return near or asked.mode == "semantic" or "wish" in scores.parts


def facts_of(found: Found, memory: Memory | Brief) -> Sequence[tuple[str, str]]:
    """The facts that were made of evidence, each with its status; none of what is a fact itself. Pure."""
    return found.distilled.get(memory.event_id, ()) if memory.category in EVIDENCE else ()


def is_put_away(asked: Asked, facts: Sequence[tuple[str, str]]) -> bool:
    """Whether evidence of these facts is not shown: what was forgotten never is, unless a filter names states. Pure."""
    if not facts or (asked.filter is not None and asked.filter.names_statuses()):
        return False
    away = GONE if asked.current_only else FORGOTTEN
    return all(status in away for _, status in facts)


def _evidence_state(found: Found, memory: Memory | Brief) -> str:
    gone = [status in GONE for _, status in facts_of(found, memory)]
    return "gone" if gone and all(gone) else "partly" if any(gone) else "whole"


def one_a_lineage(asked: Asked, kept: Sequence[Pair]) -> list[Pair]:
    """The best row of each lineage, where only the current is asked for. Pure."""
    if not asked.current_only:
        return list(kept)
    best: dict[str, Pair] = {}
    for pair in kept:
        memory = pair[0].memory
        # A moot negation, or what was forgotten since, stands beside its lineage: it takes nobody's place, nobody its.
        beside = memory.labels and not BESIDE.isdisjoint(memory.labels)
        key = memory.memory_id if beside else memory.lineage_id
        if key not in best:
            best[key] = pair
    return list(best.values())


def _join_evidence(
    kept: Sequence[Pair],
    distilled: Mapping[str, tuple[tuple[str, str], ...]],
    placed: Callable[[Sequence[Pair]], list[Pair]],
) -> tuple[list[Pair], dict[str, str]]:
    """The rows there are places for, where evidence joins a fact made of it that has one instead of taking one too.

    Also which evidence joined which fact. Of a message that says much, a fact may have little to do with the question
    and the rest of it all the more: then it stands for itself. So it does beside a statement kept as it stands, which
    tells the same without saying when: of those two the words are shown, at the better place of both.
    """
    joined: dict[str, str] = {}
    kept = _without_statements(kept)
    while True:
        chosen = placed([pair for pair in kept if pair[0].memory.memory_id not in joined])
        there = {pair[0].memory.memory_id: pair for pair in chosen}
        more = {}
        for pair in chosen:
            one = pair[0]
            if one.memory.category in EVIDENCE:
                made = (there.get(fact) for fact, _ in distilled.get(one.memory.event_id, ()))
                facts = [fact[0].memory.memory_id for fact in made if fact is not None and _tells_as_much(fact, pair)]
                if facts:
                    more[one.memory.memory_id] = facts[0]
        if not more:
            return chosen, joined
        joined |= more


def _without_statements(kept: Sequence[Pair]) -> list[Pair]:
    """The rows, best first, with the words in the place of the statement that was made of them as it stands. Pure."""
    words = {pair[0].memory.event_id: pair for pair in kept if pair[0].memory.category in EVIDENCE}
    shown: list[Pair] = []
    seen: set[str] = set()
    for pair in kept:
        row = words.get(pair[0].memory.event_id, pair) if pair[0].memory.category == STATEMENT else pair
        if row[0].memory.memory_id not in seen:
            seen.add(row[0].memory.memory_id)
            shown.append(row)
    return shown


def _tells_as_much(fact: Pair, evidence: Pair) -> bool:
    """Whether a fact has as much to do with a question as the words it was made of. Pure.

    Words found by their vector alone say no more: that of "I rent it" is nearer than that of "User rents it".
    """
    return not evidence[0].matched or fact[1].relevance >= TELLS_AS_MUCH * evidence[1].relevance


def _result(
    asked: Asked,
    found: Found,
    one: Candidate,
    scores: Scored,
    place: int,
    evidence: Mapping[str, str],
    rerank_score: float | None,
) -> SearchResult:
    memory = one.whole
    return SearchResult(
        memory=memory,
        score=scores.score,
        rank=place,
        terms=scores.terms,
        channels=hits(one),
        matched=keyword.as_asked(one.matched),
        labels=_labels(asked, found, memory, evidence) + (("by an earlier value",) if one.inherited else ()),
        derived=one.derived,
        rerank_score=rerank_score,
    )


def hits(one: Candidate) -> dict[str, ChannelHit]:
    """Where each channel that found a row ranked it. Pure."""
    if not one.derived:
        return {tail.NAME: ChannelHit(one.keyword_rank or 1, one.coverage)}
    places = {
        semantic.NAME: (one.semantic_rank, one.cosine), keyword.NAME: (one.keyword_rank, one.coverage),
        graph.NAME: (one.graph_rank, one.graph), temporal.NAME: (one.temporal_rank, one.temporal),
    }  # fmt: skip
    return {
        name: ChannelHit(rank, value)
        for name, (rank, value) in places.items()
        if name in one.by and rank is not None and value is not None
    }


def _labels(asked: Asked, found: Found, memory: Memory, evidence: Mapping[str, str]) -> tuple[str, ...]:
    labels = list(memory.labels)
    state = _evidence_state(found, memory)
    if not asked.current_only:
        labels.append("SUPERSEDED" if state == "gone" else memory.status.upper())
    if state == "partly":
        labels.append("partly superseded")
    if memory.memory_id in found.shadowed:
        labels.append("shadowed")
    labels.extend(f"evidence {key}" for key, fact in evidence.items() if fact == memory.memory_id)
    return tuple(labels)


def _tail_candidates(asked: Asked, looked: Looked, found: Found) -> list[Candidate]:
    made = []
    for hit, cosine in found.tail:
        memory = as_memory(hit, looked)
        if (asked.filter is None or filters.matches(asked.filter, memory)) and (
            asked.within is None or holds_in(memory, asked.within)
        ):
            made.append((hit, cosine, memory))
    ranked = sorted(made, key=lambda item: (-item[0].coverage, -(item[1] or 0.0), item[2].memory_id))
    return [
        Candidate(
            memory,
            cosine,
            hit.coverage,
            hit.matched,
            None,
            place,
            derived=False,
            place=None if hit.event.session_id is None else (hit.event.stream_id, hit.event.position),
        )
        for place, (hit, cosine, memory) in enumerate(ranked, 1)
    ]


def as_memory(hit: tail.Hit, looked: Looked) -> Memory:
    """An event that no memory rests on yet, in the form of one; its id is the event's."""
    event: Event = hit.event
    return Memory(
        memory_id=event.event_id, scope=looked.visible.scopes[hit.scope_id], fact=hit.fact, main_content=None,
        memory_type="episodic", category="verbatim", tags=(), importance=0.5, confidence=0.5, trust=event.trust,
        layer="working", status="active", status_reason=None, critical_slot=None, conflict_key=None, topic_key=None,
        subject=None, attribute=None, value=None, lineage_id=event.event_id, revision=1, superseded_by=None,
        superseded_at=None, consolidated_into=None, valid_from=event.occurred_at, valid_from_stated=False,
        valid_to=None, recorded_at=event.recorded_at, expires_at=None, surprise=None, source=None,
        session_id=event.session_id, task_run_id=event.task_run_id, metadata={}, private=False, deriver=None,
        deriver_version=None, policy="", rule=None, embedded=False, event_id=event.event_id,
        actor=event.actor or event.role, labels=("not derived yet",),
        citations=(whole_of(event.event_id, event.content or ""),),
    )  # fmt: skip


def accessed(results: SearchResults) -> tuple[str, ...]:
    """The memories of a result that count as read: relevant ones, derived already. Pure."""
    return tuple(one.memory.memory_id for one in results if one.derived and relevance_of(one) > TOUCHED)


def touched(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """The same of rows that are about to be returned. Pure."""
    return tuple([one.memory.memory_id for one, scores in pairs if one.derived and scores.shown_relevance > TOUCHED])


def track(conn: Connection, tenant_id: str, memory_ids: Sequence[str]) -> None:
    """Count that memories were returned; best effort, in a transaction of its own."""
    if memory_ids:
        execute(conn, "count_accesses", tenant_id=tenant_id, memory_ids=sorted(memory_ids))


def relevance_of(one: SearchResult) -> float:
    """How much a result has to do with the question, by the profile it was scored with. Pure."""
    return one.terms["relevance"].value
