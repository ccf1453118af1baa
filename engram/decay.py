"""Forgetting curves: what time has left of a memory's weight. Pure; computed on read, never written over importance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from engram.values import Kind

Basis = Literal["created", "accessed", "epoch"]

HOURLY: Final = 0.995  # what an hour without access leaves
EBBINGHAUS_DAYS: Final = 30.0
RETENTION_RATE: Final = 0.03  # a day without access
FLOOR: Final = 0.01
CURVES: Final = ("access", "ebbinghaus", "retention", "epochs")
ACCESS_BONUS: Final = 0.03
EPOCH_FACTORS: Final[Mapping[Kind, float]] = {"episodic": 0.98, "semantic": 0.988, "procedural": 0.996}


@dataclass(frozen=True, slots=True)
class DecayProfile:
    """A named forgetting curve: what its age is counted from, and how fast half of it is gone.

    `half_life` is in days, or in epochs on the basis `epoch`. Each access slows the ageing by `slowing`.
    """

    name: str
    basis: Basis
    half_life: float
    slowing: float = 0.0
    floor: float = 0.0

    def factor(self, age: float, accesses: int = 0) -> float:
        """What is left, from 1 (fresh) down to the floor, after `age` days or epochs."""
        slowed = self.half_life * (1 + self.slowing * accesses)
        return max(self.floor, math.pow(0.5, max(age, 0.0) / slowed))


PROFILES: Final[Mapping[str, DecayProfile]] = {
    profile.name: profile
    for profile in (
        DecayProfile("access", "accessed", math.log(0.5) / math.log(HOURLY) / 24),
        DecayProfile("ebbinghaus", "created", EBBINGHAUS_DAYS),
        DecayProfile("retention", "accessed", math.log(2) / RETENTION_RATE, slowing=0.1),
        DecayProfile("epochs_episodic", "epoch", math.log(0.5) / math.log(EPOCH_FACTORS["episodic"]), floor=FLOOR),
        DecayProfile("epochs_semantic", "epoch", math.log(0.5) / math.log(EPOCH_FACTORS["semantic"]), floor=FLOOR),
        DecayProfile("epochs_procedural", "epoch", math.log(0.5) / math.log(EPOCH_FACTORS["procedural"]), floor=FLOOR),
    )
}


def profile_of(curve: str, kind: Kind) -> DecayProfile:
    """The profile behind the name of a curve: by epochs, each kind of memory has its own."""
    return PROFILES[f"epochs_{kind}" if curve == "epochs" else curve]


def access_decay(hours: float) -> float:
    """What is left after so many hours without access."""
    return math.pow(HOURLY, hours if hours > 0 else 0.0)


def recall_boost(accesses: int) -> float:
    """How much accesses strengthen a memory, from 1."""
    return 1 + 0.1 * math.log2(1 + max(accesses, 0))


def ebbinghaus(importance: float, age_days: float, accesses: int = 0) -> float:
    """Importance after so many days since creation, strengthened by accesses; not clamped."""
    return importance * PROFILES["ebbinghaus"].factor(age_days) * recall_boost(accesses)


def retention(days: float, accesses: int = 0) -> float:
    """What is left after so many days without access, where accesses slow the forgetting."""
    return PROFILES["retention"].factor(days, accesses)


def fade_by_epochs(importance: float, kind: Kind, epochs: float) -> float:
    """Importance after so many epochs, never under the floor."""
    return max(FLOOR, importance * math.pow(EPOCH_FACTORS[kind], max(epochs, 0.0)))


def by_epochs(
    importance: float, kind: Kind, epochs: float, accesses: int = 0, epochs_since_access: float | None = None
) -> float:
    """Importance after so many epochs with what accesses add, which fades from the last access on; at most 1."""
    since = epochs if epochs_since_access is None else epochs_since_access
    added = ACCESS_BONUS * accesses * math.pow(EPOCH_FACTORS[kind], max(since, 0.0))
    return min(1.0, fade_by_epochs(importance, kind, epochs) + added)
