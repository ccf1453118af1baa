"""Scales: what the cosines of an embedding model mean, beside those of the local one. Pure.

A cosine means nothing by itself. Two sentences that have nothing to do with each other have one of .02 by one model and
of .75 by another, whose vectors lie in a narrow cone. Whatever is decided by a cosine is decided on the scale of the
local model, by which all thresholds were set; a model that was calibrated has its own cosines told on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engram.layered import Layered

__all__ = ["REFERENCE", "Scale", "in_use", "of_model"]

# Of the local model, over the pairs that come with Engram.
UNRELATED: Final = 0.015429
SPREAD: Final = 0.073645
ALIKE: Final = 0.756592
BOUND: Final = 4.0  # spreads above which nothing is unrelated
END: Final = 1.0  # of a text with itself, by every model


@dataclass(frozen=True, slots=True)
class Scale(Layered):
    """What a model's cosines are of known pairs; the fall-back is the local model's.

    `unrelated` is the mean of questions with facts that have nothing to do with them, and `spread` their standard
    deviation; `alike` is the median of facts said twice, in other words or with another value.
    """

    unrelated: float = UNRELATED
    spread: float = SPREAD
    alike: float = ALIKE

    @property
    def has_order(self) -> bool:
        """Whether what is alike is nearer than what is not: without that no scale can be told."""
        return self.spread > 0 and self.unrelated + BOUND * self.spread < self.alike < END

    @property
    def shared(self) -> float:
        """The cosine that any two vectors have of a direction that all have in common, beyond the local model."""
        return max(0.0, (self.unrelated - UNRELATED) / (1 - UNRELATED))

    def told(self, cosine: float) -> float:
        """A cosine of the model on the scale of the local one, from -1 to 1."""
        return cosine if self == REFERENCE else max(-END, min(END, _between(_places(self), COMMON, cosine)))

    def of_the_model(self, cosine: float) -> float:
        """The other way: what the model's own cosine is where that of the local one would be this."""
        return cosine if self == REFERENCE else max(-END, min(END, _between(COMMON, _places(self), cosine)))


REFERENCE: Final = Scale()


def of_model(thresholds: Mapping[str, float] | None) -> Scale | None:
    """The scale that a model's row tells; None where the model was not calibrated. Pure."""
    return Scale.of(thresholds) if thresholds and "unrelated" in thresholds else None


def in_use(thresholds: Mapping[str, float] | None) -> Scale:
    """The same; the local model's where it was not. Pure."""
    return of_model(thresholds) or REFERENCE


def _places(scale: Scale) -> tuple[float, ...]:
    """Cosines that stand in the same places by every model, rising."""
    return scale.unrelated, scale.unrelated + BOUND * scale.spread, scale.alike, END


def _between(places: Sequence[float], values: Sequence[float], at: float) -> float:
    """The value at a place, on the lines between those that are known, and on the first of them before it."""
    end = next((end for end in range(1, len(places) - 1) if at <= places[end]), len(places) - 1)
    share = (at - places[end - 1]) / (places[end] - places[end - 1])
    return values[end - 1] + share * (values[end] - values[end - 1])


COMMON: Final = _places(REFERENCE)
