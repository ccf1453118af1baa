"""The relations deriver: what the facts of one batch have to do with each other. Pure.

A relation comes from the model's answer, or from triples: a fact whose value is the subject of another refers to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engram.derivation.llm import Extracted
from engram.english.subjects import is_self
from engram.text import compared

NAME: Final = "relations"
VERSION: Final = 1
REFERS: Final = "references"
WEIGHT: Final = 0.5


def between(found: Sequence[Extracted]) -> tuple[tuple[int, int, str, float], ...]:
    """The relations of facts by their places: (source, target, type, weight), each once and in order."""
    weights: dict[tuple[int, int, str], float] = {}
    for source, one in enumerate(found):
        for target, kind, weight in one.links:
            weights.setdefault((source, target, kind), weight)
        value = compared(one.proposed.value or "")
        for target, other in enumerate(found):
            subject = other.proposed.subject
            if value and subject and target != source and not is_self(subject, None) and compared(subject) == value:
                weights.setdefault((source, target, REFERS), WEIGHT)
    return tuple((*key, weight) for key, weight in sorted(weights.items()))
