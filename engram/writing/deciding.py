"""A decision as the history keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from engram import secrets
from engram.values import Neighbour, SurpriseTerms
from engram.writing.desk import Desk, Origin
from engram.writing.judging import Judged

LONG_FACT: Final = 1_000
LISTED: Final = ("reasons", "nearest")  # of a decision, which are there when they are empty too


def decision_of(
    desk: Desk, judged: Judged, origin: Origin, *, memory_id: str | None, target_id: str | None
) -> dict[str, Any]:
    """The decision as the history keeps it, but for what `as_kept` leaves out: memories are named by their ids."""
    made = judged.judgement
    hints: tuple[str, ...] = (
        ("split",) if len(judged.draft.fact) > LONG_FACT and f"\n{judged.draft.fact}".count("\n#") >= 2 else ()
    )
    hints += ("secret",) if secrets.MARK.search(judged.draft.fact) else ()
    return {
        "kind": made.kind, "memory_id": memory_id, "target_id": target_id, "event_id": origin.event_id,
        "fact": judged.draft.fact if memory_id is None else None,
        "reasons": list(made.reasons), "nearest": [_kept_near(near) for near in made.nearest],
        "surprise": None if made.surprise is None else _kept_terms(made.surprise), "options": list(made.options),
        "hints": list(hints), "policy": f"{desk.policy.name}@{desk.policy.version}",
        "rule": judged.draft.classified.rule,
    }  # fmt: skip


def _kept_near(near: Neighbour) -> dict[str, Any]:
    """A neighbour as the history keeps it: without its fact, which its own row has."""
    return {
        "memory_id": near.memory_id, "cosine": near.cosine, "jaccard": near.jaccard, "changed": list(near.changed)
    }  # fmt: skip


def _kept_terms(terms: SurpriseTerms) -> dict[str, Any]:
    told: dict[str, Any] = {
        "semantic": terms.semantic, "keyword": terms.keyword, "rarity": terms.rarity, "score": terms.score,
        "closest_id": terms.closest_id, "threshold": terms.threshold,
    }  # fmt: skip
    return {name: value for name, value in told.items() if value is not None}


def as_kept(decision: Mapping[str, Any]) -> dict[str, Any]:
    """A decision without what it says nothing in; `history.decisions_of` makes it whole again."""
    return {name: value for name, value in decision.items() if value is not None and (value != [] or name in LISTED)}
