"""A decision as the history keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from engram import secrets
from engram.values import Memory, Neighbour, SurpriseTerms
from engram.writing.desk import Desk, Draft, Origin
from engram.writing.judging import Judged

LONG_FACT: Final = 1_000
LISTED: Final = ("reasons", "nearest")  # of a decision, which are there when they are empty too
KEPT_BY: Final[Mapping[str, str]] = {
    "memory_type": "memory_type", "category": "category", "source": "source", "metadata": "metadata",
    "importance": "importance", "priority": "importance", "rating": "importance", "confidence": "confidence",
    "critical_slot": "critical_slot", "private": "private", "expires_at": "expires_at", "expires_in": "expires_at",
    "expires_in_days": "expires_at", "main_content": "main_content", "parent_id": "parent_id",
}  # fmt: skip
"""What a caller may give by name and a repetition leaves as it is, by the field of the memory that holds it; a hub is
held by a relation, and by no field."""
CHANGED_BY: Final = {"main_content": "revise", "parent_id": "relate"}  # all else of it is changed by annotate


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


def kept_hints(draft: Draft, held: Memory, expires_at: datetime | None, *, absorbs: bool) -> list[str]:
    """What a caller stated and a memory that he repeats holds otherwise and keeps, each behind its verb. Pure.

    The verb is the call that changes it. `expires_at` is when the draft would expire; a memory that `absorbs` takes the
    higher importance.
    """
    rules = draft.classified
    said = {
        "memory_type": rules.memory_type, "category": rules.category, "source": draft.source,
        "metadata": draft.metadata, "importance": rules.importance, "confidence": draft.confidence,
        "critical_slot": rules.critical_slot, "private": draft.private, "expires_at": expires_at,
        "main_content": draft.main_content, "parent_id": draft.parent_id,
    }  # fmt: skip
    kept = {name for name, value in said.items() if value != getattr(held, name, None)}
    if absorbs and (rules.importance or 0.0) >= held.importance:
        kept.discard("importance")
    return [f"{CHANGED_BY.get(name, 'annotate')}:{name}" for name in draft.stated if KEPT_BY[name] in kept]


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
