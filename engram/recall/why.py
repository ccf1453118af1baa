"""Why: the one reason for which a search does not return a memory. Pure.

Nothing here searches, and nothing ranks in a way of its own. The reasons before ranking are read off the memory; those
of ranking are found by ranking again what the search found, with one rule after another let go: the first without which
the memory is there is why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import inf
from typing import Any, Final, Literal, get_args

from engram import filters
from engram.channels import keyword
from engram.filters import Filter
from engram.ranking import Brief
from engram.recall import results
from engram.recall.finding import Candidate, Found, with_ranks
from engram.recall.question import CHUNK, Asked, Looked
from engram.recall.results import Pair
from engram.rerank import Judged
from engram.values import Memory, SearchResult, SearchResults, WhyNot

Reason = Literal[
    "found",
    # before it is looked for
    "superseded", "contested", "archived", "deleted", "quarantined", "consolidated", "expired", "not_valid_then",
    "not_known_then", "filtered", "excluded_word", "not_derived_yet", "derived",
    # where it is looked for
    "not_embedded", "missed",
    # where it is ranked
    "evidence_superseded", "below_gate", "below_min_score", "same_lineage", "cut", "reranked_out", "evidence_joined",
    "diversified", "outranked",
    # where it is printed
    "shadowed", "over_budget",
]  # fmt: skip
REASONS: Final[tuple[str, ...]] = get_args(Reason)
# What other words for the same question may change.
OF_THE_WORDS: Final[tuple[Reason, ...]] = (
    "not_embedded", "missed", "below_gate", "below_min_score", "cut", "reranked_out", "evidence_joined", "diversified",
    "outranked",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measured:
    """What each channel says of a memory, asked for more than a search asks for; None where it has it not at all."""

    candidate: Candidate | None
    fetched: int  # by a channel, in the search itself
    looked: int  # by a channel, in this look

    @property
    def ranks(self) -> dict[str, int | None]:
        """Its place in each channel; None where it is not among those that were looked at."""
        one = self.candidate
        places = {} if one is None else {
            "semantic": one.semantic_rank if one.cosine is not None else None,
            "keyword": one.keyword_rank, "graph": one.graph_rank, "temporal": one.temporal_rank,
        }  # fmt: skip
        return {name: place if place is None or place <= self.looked else None for name, place in places.items()}

    @property
    def detail(self) -> dict[str, Any]:
        """Its value in each channel, and how many a channel brings."""
        one = self.candidate
        values = {"fetched": self.fetched}
        if one is None:
            return values
        return {
            **values,
            "cosine": one.cosine,
            "coverage": one.coverage,
            "matched": list(keyword.as_asked(one.matched)),
        }


def measured(found: Found, memory_id: str, *, fetched: int, looked: int) -> Measured:
    """A memory among what a wide look found, with its true places. Pure."""
    ranked = with_ranks([one for one in found.candidates if one.stands])
    return Measured(next((one for one in ranked if one.memory.memory_id == memory_id), None), fetched, looked)


# Found ---------------------------------------------------------------------------------------------------------------


def found_as(made: SearchResults, memory_id: str, **more: Any) -> WhyNot | None:
    """That a search returns a memory, and how; None where it does not. Pure."""
    one = next((one for one in made if one.memory.memory_id == memory_id), None)
    if one is None:
        return None
    detail = {"rank": one.rank, "labels": list(one.labels), "matched": list(one.matched), **more}
    return WhyNot(memory_id, True, "found", detail, _ranks(one), one.score)


def _ranks(one: SearchResult) -> dict[str, int | None]:
    return {name: hit.rank for name, hit in one.channels.items()}


# Before it is looked for ---------------------------------------------------------------------------------------------


def standing(asked: Asked, memory: Memory, clock: datetime) -> WhyNot | None:
    """Why a memory may not be returned whatever it says: its state, or a field of the filter. Pure."""
    named = asked.filter is not None and asked.filter.names_statuses()
    if not named:
        told = _state(memory, clock)
        if told is not None:
            return told
    failing = _failing(asked, memory)
    return WhyNot(memory.memory_id, False, "filtered", {"fields": failing}) if failing else None


def _state(memory: Memory, clock: datetime) -> WhyNot | None:
    memory_id = memory.memory_id
    if memory.consolidated_into is not None:
        return WhyNot(memory_id, False, "consolidated", {"into": memory.consolidated_into})
    if memory.status != "active" and memory.status_reason != "since_forgotten":
        why = {"status_reason": memory.status_reason, "superseded_by": memory.superseded_by}
        return WhyNot(memory_id, False, memory.status, {name: said for name, said in why.items() if said is not None})
    if memory.expires_at is not None and memory.expires_at <= clock:
        return WhyNot(memory_id, False, "expired", {"expires_at": memory.expires_at.isoformat()})
    if "ended" in memory.labels:
        return not_valid(memory)
    return None


def not_valid(memory: Memory) -> WhyNot:
    """That a memory does not hold at the moment a read asks for. Pure."""
    times = {"valid_from": memory.valid_from, "valid_to": memory.valid_to}
    shown = {name: None if at is None else at.isoformat() for name, at in times.items()}
    return WhyNot(memory.memory_id, False, "not_valid_then", shown)


def _failing(asked: Asked, memory: Memory) -> list[str]:
    """The fields of a filter that a memory does not satisfy, each by itself; chunks are asked for by category. Pure."""
    if memory.category == CHUNK and asked.shelves == "without":
        return ["categories"]
    if asked.filter is None or filters.matches(asked.filter, memory):
        return []
    given = {name: getattr(asked.filter, name) for name in filters.FIELDS if getattr(asked.filter, name) is not None}
    return [name for name, value in given.items() if not filters.matches(Filter(**{name: value}), memory)]


# Where it is looked for ----------------------------------------------------------------------------------------------


def missed(asked: Asked, looked: Looked, memory: Memory, seen: Measured, *, vectors: bool) -> WhyNot:
    """Why no channel brings a memory that might be returned. Pure."""
    one = seen.candidate
    if one is None and looked.sought.without:
        return WhyNot(memory.memory_id, False, "excluded_word", {"words": list(asked.words.without)})
    worded = one is not None and one.coverage > 0 and asked.mode != "semantic"
    if vectors and not memory.embedded and not worded:
        return WhyNot(memory.memory_id, False, "not_embedded", {}, seen.ranks)
    return WhyNot(memory.memory_id, False, "missed", seen.detail, seen.ranks)


# Where it is ranked --------------------------------------------------------------------------------------------------


def ranked(
    asked: Asked, looked: Looked, found: Found, memory: Memory, made: SearchResults, judged: Judged | None = None
) -> WhyNot:
    """Why a memory that a channel found is not among the results. Pure."""
    memory_id = memory.memory_id
    joined = _joined(made, memory_id)
    if joined is not None:
        return joined
    facts = results.facts_of(found, memory)
    if results.is_put_away(asked, facts):
        return WhyNot(memory_id, False, "evidence_superseded", {"facts": [fact for fact, _ in facts]})
    every = replace(asked, min_score=-inf if asked.min_score else 0.0)
    mates = [one for one in found.candidates if _is_mate(one.memory, memory)]
    alone = replace(found, candidates=tuple(one for one in found.candidates if one not in mates), distilled={})
    own = _pair(results.relevant(every, looked, alone), memory_id)
    if own is None:
        return _below(looked, found, memory_id)
    told = _Told(memory_id, own, asked)
    if not asked.takes(own[1].score):
        return told.why("below_min_score", needed=asked.min_score)
    beside = results.relevant(asked, looked, replace(found, distilled={}))
    if _pair(beside, memory_id) is None:
        first = next((one.memory.memory_id for one, _ in beside if _is_mate(one.memory, memory)), None)
        return told.why("same_lineage", returned=first)
    return _placed(asked, found, results.relevant(asked, looked, found), own, made, judged)


def outdone(
    asked: Asked, found: Found, ordered: Sequence[Pair], memory_id: str, made: SearchResults,
    judged: Judged | None = None,
) -> WhyNot | None:  # fmt: skip
    """Why a memory among rows that were ordered is not among the results; None where it is no such row. Pure."""
    own = _pair(ordered, memory_id)
    if own is None:
        return None
    if not asked.takes(own[1].score):
        return _Told(memory_id, own, asked).why("below_min_score", needed=asked.min_score)
    kept = [pair for pair in ordered if asked.takes(pair[1].score)]
    return _joined(made, memory_id) or _placed(asked, found, kept, own, made, judged)


def _joined(made: SearchResults, memory_id: str) -> WhyNot | None:
    facts = [one.memory.memory_id for one in made if f"evidence {memory_id}" in one.labels]
    return WhyNot(memory_id, False, "evidence_joined", {"facts": facts}) if facts else None


def _placed(
    asked: Asked, found: Found, ordered: Sequence[Pair], own: Pair, made: SearchResults, judged: Judged | None
) -> WhyNot:
    """Why a row has no place among the results. Pure."""
    memory_id = own[0].memory.memory_id
    place = next((place for place, (one, _) in enumerate(ordered, 1) if one.memory.memory_id == memory_id), None)
    told = _Told(memory_id, _pair(ordered, memory_id) or own, asked, {"rank": place, "limit": asked.limit})
    all_of = replace(asked, limit=len(ordered) + 1, per_session=None)
    if not _has(results.results_of(all_of, found, ordered), memory_id):
        return told.why("cut")
    if judged is not None:
        if not _has(results.results_of(all_of, found, ordered, judged=judged), memory_id):
            return told.why("reranked_out")
        told = replace(told, detail={**told.detail, "reranked": True})
    at_once = replace(asked, per_session=None)
    if asked.per_session and _has(results.results_of(at_once, found, ordered, judged=judged), memory_id):
        return told.why("diversified", per_session=asked.per_session)
    return told.why("outranked", needed=min((one.score for one in made), default=None))


@dataclass(frozen=True, slots=True)
class _Told:
    memory_id: str
    pair: Pair
    asked: Asked
    detail: Mapping[str, Any] = field(default_factory=dict)

    def why(self, reason: Reason, *, needed: float | None = None, **more: Any) -> WhyNot:
        one, scores = self.pair
        ranks = {"semantic": one.semantic_rank, "keyword": one.keyword_rank, "graph": one.graph_rank,
                 "temporal": one.temporal_rank}  # fmt: skip
        detail = {**self.detail, "relevance": scores.relevance, **more}
        return WhyNot(self.memory_id, False, reason, detail, ranks, scores.score, needed)


def _below(looked: Looked, found: Found, memory_id: str) -> WhyNot:
    """That what was found of a memory is too little for the profile, or for any answer. Pure."""
    ranked = with_ranks([one for one in found.candidates if one.stands])
    one = next((one for one in ranked if one.memory.memory_id == memory_id), None)
    if one is None:  # an event that is not derived yet
        return WhyNot(memory_id, False, "below_gate", {"waiting": len(looked.tail)})
    ranks = {"semantic": one.semantic_rank, "keyword": one.keyword_rank}
    return WhyNot(memory_id, False, "below_gate", {"cosine": one.cosine, "coverage": one.coverage}, ranks)


def _is_mate(one: Memory | Brief, memory: Memory) -> bool:
    return one.lineage_id == memory.lineage_id and one.memory_id != memory.memory_id


def _pair(ordered: Sequence[Pair], memory_id: str) -> Pair | None:
    return next((pair for pair in ordered if pair[0].memory.memory_id == memory_id), None)


def _has(made: SearchResults, memory_id: str) -> bool:
    """Whether a memory is in a result, or joined to a fact that is."""
    return any(one.memory.memory_id == memory_id or f"evidence {memory_id}" in one.labels for one in made)
