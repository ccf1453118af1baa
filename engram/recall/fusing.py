"""Fusing: the searches of a question's variants as one result. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from engram import ranking
from engram.channels import keyword, semantic
from engram.ranking import Leg, Scored
from engram.recall import results
from engram.recall.finding import Candidate, Found
from engram.recall.question import Asked, Looked
from engram.rerank import Judged
from engram.values import SearchResults

RRF: Final = "rrf"
SCORE: Final = "score"
SCORE_WEIGHT: Final = 3.0  # of the leg by the score of the question itself


@dataclass(frozen=True, slots=True)
class Part:
    """One variant's search: the query, what was found, and how much of the question it asks (1 for itself).

    `ordered` is what was found as it ranks it, where that is known already.
    """

    asked: Asked
    looked: Looked
    found: Found
    share: float = 1.0
    ordered: Sequence[results.Pair] | None = None


def fused(
    asked: Asked, parts: Sequence[Part], *, k: float, weight: float, judged: Judged | None = None
) -> SearchResults:
    """The results of several searches, by gated reciprocal rank fusion with `k`; the first is the question itself.

    The question gives a leg by the score, which weighs 3, and one by words and one by meaning, which weigh `weight`. A
    variant gives one by the score, weighed by its share of the question times `weight`. Another profile than `rrf`
    scores the rows of all of them, each by the search that suits it best.
    """
    kept = pairs(asked, parts, k=k, weight=weight)
    return results.results_of(asked, together(parts), kept, judged=judged)


def pairs(asked: Asked, parts: Sequence[Part], *, k: float, weight: float) -> list[tuple[Candidate, Scored]]:
    """The rows of several searches in their fused order, each with its score and terms."""
    best: dict[str, tuple[Candidate, Scored]] = {}
    legs: list[Leg] = []
    actors: set[str] = set()
    for place, part in enumerate(parts):
        found = part.ordered
        if found is None:
            found = results.relevant(part.asked, part.looked, part.found)
        legs += (
            _legs(found, weight) if place == 0 else [Leg(f"{SCORE} {place + 1}", _scores(found), weight * part.share)]
        )
        actors |= {one.memory.memory_id for one, scores in found if scores.added("actor") > 0}
        for one, scores in found:
            mine = _shared(scores, part.share)
            known = best.get(one.memory.memory_id)
            if known is None or mine.relevance > known[1].relevance:
                best[one.memory.memory_id] = (one, mine)
    if ranking.name_of(asked.profile) != RRF:
        whole = [pair for pair in best.values() if asked.takes(pair[1].score)]
        scored = sorted(whole, key=lambda pair: ranking.best_first(pair[1].score, pair[0].memory))
        return results.one_a_lineage(asked, scored)
    recorded = {memory_id: one.memory.recorded_at for memory_id, (one, _) in best.items()}
    order = ranking.fuse_ranks([leg for leg in legs if leg.values], k, actors=actors, recorded=recorded)
    fused_rows = []
    for row in order:
        one, scores = best[row.memory_id]
        by_leg = {name: (term.value, term.weight, term.contribution) for name, term in row.terms.items()}
        if asked.takes(row.score):
            fused_rows.append((one, scores._replace(score=row.score, parts=by_leg)))
    return results.one_a_lineage(asked, fused_rows)


def _legs(found: Sequence[tuple[Candidate, Scored]], weight: float) -> list[Leg]:
    """The legs of the question itself: by words, by meaning and by the score.

    Each orders its rows as the score does, so that who is asked about, and what answers a question, weighs in all of
    them what it weighs there.
    """
    answer = {one.memory.memory_id: scores.added("answer") for one, scores in found}
    worded = {one.memory.memory_id: one.coverage for one, _ in found if one.coverage > 0}
    near = {one.memory.memory_id: one.cosine for one, _ in found if one.cosine is not None}
    gate = ranking.keyword_gate(max(worded.values(), default=0.0))
    return [
        Leg(
            keyword.NAME,
            {one: ranking.nearness(value, None) + answer[one] for one, value in worded.items()},
            weight * gate,
        ),
        Leg(semantic.NAME, {one: ranking.nearness(0.0, value) + answer[one] for one, value in near.items()}, weight),
        Leg(SCORE, _scores(found), SCORE_WEIGHT),
    ]


def _scores(found: Sequence[tuple[Candidate, Scored]]) -> dict[str, float]:
    """The score of each row, without what its actor adds: every leg adds that before it is ranked."""
    return {one.memory.memory_id: scores.score - scores.added("actor") for one, scores in found}


def _shared(scores: Scored, share: float) -> Scored:
    """A score by a variant, counted by how much of the question the variant asks; its terms still add up to it."""
    if share == 1.0:
        return scores
    parts = {
        name: (value * share if name == "relevance" else value, weight * share, added * share)
        for name, (value, weight, added) in scores.parts.items()
    }
    parts["share"] = (share, 0.0, 0.0)
    return scores._replace(score=scores.score * share, relevance=scores.relevance * share, parts=parts)


def together(parts: Sequence[Part]) -> Found:
    """What all the searches found besides their candidates."""
    first = parts[0].found
    distilled = {event_id: facts for part in parts for event_id, facts in part.found.distilled.items()}
    channels: dict[str, int] = {}
    for part in parts:
        for name, count in part.found.channels.items():
            channels[name] = max(count, channels.get(name, 0))
    return replace(
        first,
        distilled=distilled,
        shadowed=frozenset().union(*(part.found.shadowed for part in parts)),
        degraded=tuple(dict.fromkeys(name for part in parts for name in part.found.degraded)),
        channels=channels,
    )
