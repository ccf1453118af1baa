"""Weighing: what time has left of a memory by a forgetting curve, and when it will cross the next threshold. Pure.

All four curves halve in a fixed time once their last access is past, so the day a value is crossed follows from what is
left today.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from engram import decay
from engram.values import DecayPoint, DecayRow, DecayThreshold, Memory

PRUNED: Final = 0.01
POINTS: Final = 24
FAR: Final = 365_000.0  # days; a date further away is none


@dataclass(frozen=True, slots=True)
class Epochs:
    """The clock of a scope's activity, as one memory met it: now, at its birth, and at its last access."""

    now: int = 0
    born: int = 0
    accessed: int | None = None


def row(memory: Memory, *, curve: str, now: datetime, epochs: Epochs = Epochs()) -> DecayRow:
    """One memory's line of the decay table; a pinned or core memory does not fade."""
    base, profile = memory.importance, decay.profile_of(curve, memory.kind)
    if not fades(memory):
        return DecayRow(memory, curve, base, 1.0, 1.0, base, None)
    used, age = memory.activity, (now - memory.recorded_at) / timedelta(days=1)
    idle = max(0.0, (now - (used.last_accessed_at or memory.recorded_at)) / timedelta(days=1))
    boost, slowed = 1.0, profile.half_life * (1 + profile.slowing * used.access_count)
    if curve == "epochs":
        lived = max(0, epochs.now - epochs.born)
        since = lived if epochs.accessed is None else max(0, epochs.now - epochs.accessed)
        factor = 0.5 ** (lived / slowed)
        unfloored = base * factor + decay.ACCESS_BONUS * used.access_count * 0.5 ** (since / slowed)
        boost = unfloored / (base * factor) if base > 0 else 1.0
        effective = decay.by_epochs(base, memory.kind, lived, used.access_count, since)
    else:
        factor = profile.factor(max(0.0, age) if profile.basis == "created" else idle, used.access_count)
        boost = decay.recall_boost(used.access_count) if curve == "ebbinghaus" else 1.0
        unfloored = base * factor * boost
        effective = min(1.0, unfloored)
    following = _next(base, unfloored, slowed, now, by_epochs=curve == "epochs")
    return DecayRow(memory, curve, base, factor, boost, effective, following)


def fades(memory: Memory) -> bool:
    """Whether time takes weight from a memory: from none that is pinned or of the core."""
    return not memory.is_critical and memory.layer != "core"


def curve_of(row: DecayRow, points: int = POINTS) -> tuple[DecayPoint, ...]:
    """What will be left of a memory that nobody accesses, from now until it falls under the prune threshold.

    The times are days from now, or epochs.
    """
    profile = decay.profile_of(row.curve, row.memory.kind)
    if not fades(row.memory):
        return tuple(DecayPoint(float(place), row.effective) for place in range(points + 1))
    slowed = profile.half_life * (1 + profile.slowing * row.memory.activity.access_count)
    left = row.base * row.factor * row.boost
    end = max(slowed, slowed * math.log2(left / PRUNED) if left > PRUNED else slowed)
    times = (end * place / points for place in range(points + 1))
    return tuple(DecayPoint(at, min(1.0, max(left * 0.5 ** (at / slowed), profile.floor))) for at in times)


def _next(base: float, left: float, half_life: float, now: datetime, *, by_epochs: bool) -> DecayThreshold | None:
    """The threshold that is crossed next: half of the importance, or the prune threshold."""
    thresholds: tuple[tuple[Literal["half", "prune"], float], ...] = (("half", base / 2), ("prune", PRUNED))
    ahead = [(name, value) for name, value in thresholds if left >= value > 0]
    if not ahead:
        return None
    name, value = max(ahead, key=lambda one: one[1])
    wait = half_life * math.log2(left / value)
    if by_epochs:
        whole = math.floor(wait + 1e-9) + 1
        return DecayThreshold(name, value, epochs=whole)
    return DecayThreshold(name, value, now + timedelta(days=wait) if wait < FAR else None)
