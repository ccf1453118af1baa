"""Verdicts: what a language model says of candidates the gates are unsure of, and how much of it counts. Pure.

A model may choose between add, revise, reinforce and keep both; code decides what it is asked about and what of its
answer stands. Above every verdict are the gates: an exact duplicate and a conflict key are never asked about, a changed
value never becomes a duplicate, and nothing more trusted is displaced.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from engram.gates import Judgement
from engram.scales import REFERENCE, Scale
from engram.values import DecisionKind, Neighbour

MOST_CASES: Final = 12
MOST_OFFERS: Final = 8
GREY: Final = 0.65  # how near in meaning a row must be for the gates to be unsure
CLOSE: Final = 0.5  # how near at level full, where every near row is asked about
ALIKE: Final = 0.4  # or how much the words must share


class Verdict(BaseModel):
    """What becomes of one candidate; `target` is the number of one of the near facts it was shown with."""

    model_config = ConfigDict(extra="forbid")

    candidate: Annotated[int, Field(ge=1, le=MOST_CASES)]
    decision: Literal["add", "revise", "reinforce", "keep_both"]
    target: Annotated[int, Field(ge=1, le=MOST_OFFERS)] | None = None


class Verdicts(BaseModel):
    """An answer: at most one verdict a candidate; a candidate without one stays with the gates."""

    model_config = ConfigDict(extra="forbid")

    decisions: Annotated[list[Verdict], Field(max_length=MOST_CASES)]


@dataclass(frozen=True, slots=True)
class Offer:
    """A near fact that a model may name: never one less trusted than the candidate, whose text could speak for it."""

    memory_id: str
    fact: str
    trust: int
    lineage_id: str
    conflict_key: str | None = None
    importance: float = 0.5


@dataclass(frozen=True, slots=True)
class Case:
    """A candidate and the near facts it is shown with."""

    fact: str
    offers: tuple[Offer, ...]


@dataclass(frozen=True, slots=True)
class Advice:
    """A verdict as code takes it: the decision and the offer it names."""

    decision: str
    target: Offer | None = None


def unsure(judgement: Judgement, *, full: bool, scale: Scale = REFERENCE) -> tuple[Neighbour, ...]:
    """The near rows for which a model is asked; none where an exact duplicate, a key or a barrier has decided."""
    by_nearness = judgement.kind == "add" or "near_duplicate" in judgement.reasons
    if judgement.kind not in ("add", "reinforce") or "new_key" in judgement.reasons or not by_nearness:
        return ()
    if judgement.kind == "reinforce" and not full:
        return ()
    least = scale.of_the_model(CLOSE if full else GREY)
    return tuple(near for near in judgement.nearest if (near.cosine or 0.0) >= least or near.jaccard >= ALIKE)


def shown(cases: Sequence[Case]) -> dict[str, str]:
    """What fills the prompt: one JSON object a candidate, its near facts numbered."""
    lines = (
        {
            "candidate": number, "fact": case.fact,
            "near": [{"number": place, "fact": offer.fact} for place, offer in enumerate(case.offers, 1)],
        }
        for number, case in enumerate(cases, 1)
    )  # fmt: skip
    return {"candidates": "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)}


def read(cases: Sequence[Case], answer: Verdicts) -> Mapping[int, Advice]:
    """The advice by the place of its case; one on no candidate, or naming what was not offered, is nothing."""
    found: dict[int, Advice] = {}
    for verdict in answer.decisions:
        place = verdict.candidate - 1
        if place >= len(cases) or place in found:
            continue
        offers = cases[place].offers
        if verdict.target is None:
            if verdict.decision == "add":
                found[place] = Advice("add")
        elif verdict.target <= len(offers):
            found[place] = Advice(verdict.decision, offers[verdict.target - 1])
    return found


def advised(judgement: Judgement, trust: int, advice: Advice) -> Judgement:
    """What the gates decided, with advice as far as it may count; `trust` is the candidate's rank, 0 the best."""
    if advice.decision == "add":
        return _added(judgement) if judgement.kind != "add" else _marked(judgement)
    target = advice.target
    near = next((one for one in judgement.nearest if target and one.memory_id == target.memory_id), None)
    if target is None or near is None:
        return _refused(judgement, "target_changed")
    if advice.decision == "keep_both":
        return replace(_added(judgement), target_id=target.memory_id, reasons=(ADJUDICATED, KEPT_BOTH))
    if not near.changed:  # it says the same, or less: a revision would lose what the target says
        return _on(judgement, "reinforce", target)
    if advice.decision == "reinforce":
        return _refused(judgement, "value_changed")
    if target.trust < trust:
        return _refused(judgement, "more_trusted")
    if target.conflict_key is not None:
        return _refused(judgement, "keyed")
    return _on(judgement, "revise", target)


ADJUDICATED: Final = "adjudicated"
KEPT_BOTH: Final = "kept_both"


def _added(judgement: Judgement) -> Judgement:
    return Judgement("add", None, (ADJUDICATED,), (), judgement.surprise, nearest=judgement.nearest)


def _on(judgement: Judgement, kind: DecisionKind, target: Offer) -> Judgement:
    return Judgement(kind, target.memory_id, (ADJUDICATED,), (), judgement.surprise, nearest=judgement.nearest)


def _marked(judgement: Judgement) -> Judgement:
    return replace(judgement, reasons=(*judgement.reasons, ADJUDICATED))


def _refused(judgement: Judgement, why: str) -> Judgement:
    return replace(judgement, reasons=(*judgement.reasons, f"advice_refused:{why}"))
