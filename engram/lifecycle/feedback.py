"""Feedback: what a rating does to the confidence of a memory, and when a memory rated down is put away. Pure."""

from __future__ import annotations

from typing import Any, Final, Literal

from engram.lifecycle.deeds import Count, Deed, Effect
from engram.policies import MemoryPolicy
from engram.policies.guards import keeps
from engram.values import Memory
from engram.writing import EVIDENCE

Rating = Literal[1, -1]
UP: Final = 0.15
DOWN: Final = 0.2
NEGATIVES: Final = 3
REASON: Final = "feedback"


def rated(confidence: float, value: Rating) -> float:
    """The confidence after one rating, never below 0 nor above 1."""
    moved = confidence + UP if value > 0 else confidence - DOWN
    return round(min(1.0, max(0.0, moved)), 9)


def deed(memory: Memory, value: Rating, policy: MemoryPolicy) -> Deed:
    """What a rating does: it moves the confidence, is counted, and may put the memory away."""
    confidence = rated(memory.confidence, value)
    negative = memory.activity.negative + (value < 0)
    columns: dict[str, Any] = {"confidence": confidence}
    because = "rated up" if value > 0 else "rated down"
    if value < 0 and _goes(memory, confidence, negative, policy):
        columns |= {"status": "archived", "status_reason": REASON}
        because = f"rated down {negative} times, and a confidence of {confidence:.2f} is left"
    effect = Effect(memory.memory_id, columns, because, was={"status": memory.status, "confidence": memory.confidence})
    return Deed(effects=(effect,), counts=(Count(memory.memory_id, positive=int(value > 0), negative=int(value < 0)),))


def _goes(memory: Memory, confidence: float, negative: int, policy: MemoryPolicy) -> bool:
    """Whether a memory is put away: current, rated down often enough, and nothing protects it."""
    protected = memory.is_critical or memory.category in EVIDENCE or memory.status != "active"
    low = negative >= NEGATIVES and confidence < policy.feedback_floor
    return low and not protected and not keeps(policy, memory)
