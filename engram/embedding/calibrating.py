"""Calibrating: what a model's cosines are of pairs of texts about which somebody knows how alike they are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from engram import inputs
from engram.errors import InvalidInput
from engram.scales import Scale

if TYPE_CHECKING:
    from engram.embedding import CachedEmbedder

PARTS: Final = ("fact", "paraphrase", "changed", "question")
LEAST_PAIRS: Final = 20
MOST_PAIRS: Final = 500
DIGITS: Final = 6
SHAPE: Final = "an object of fact, paraphrase, changed and question"


@dataclass(frozen=True, slots=True)
class Pairs:
    """A fact, the same in other words, the same with another value, and a question that it answers."""

    fact: str
    paraphrase: str
    changed: str
    question: str


@dataclass(frozen=True, slots=True)
class Measured:
    """The scale of a model over some pairs, and the share of questions to which their own fact is nearest."""

    scale: Scale
    first: float


def built_in() -> tuple[Pairs, ...]:
    """The pairs that come with Engram: 48 facts of private life and of work, in English."""
    lines = resources.files("engram.embedding").joinpath("pairs.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(Pairs(**json.loads(line)) for line in lines)


def checked_pairs(value: object) -> tuple[Pairs, ...]:
    """Pairs that a caller gives, from 20 to 500 of them; InvalidInput says what is wrong with them. Pure."""
    found = tuple(_pairs(one) for one in inputs.items(value, "pairs", MOST_PAIRS))
    if len(found) < LEAST_PAIRS:
        raise InvalidInput("pairs", f"at least {LEAST_PAIRS} of them", str(len(found)))
    if len({one.fact.casefold() for one in found}) < len(found):
        raise InvalidInput("pairs", "facts that differ", "one of them twice")
    return found


def _pairs(value: object) -> Pairs:
    if isinstance(value, Pairs):
        return value
    given = inputs.keys(value, "pairs", PARTS)
    if set(given) != set(PARTS):
        raise InvalidInput("pairs", SHAPE, "one without some of them")
    texts = {name: inputs.fact(given[name], "pairs") for name in PARTS}
    if len({text.casefold() for text in texts.values()}) < len(PARTS):
        raise InvalidInput("pairs", "four texts that differ", "one of them twice")
    return Pairs(**texts)


def measure(embedder: CachedEmbedder, pairs: Sequence[Pairs]) -> Measured:
    """The scale of a model, for which a provider is called once for each hundred texts; Unavailable if it is out.

    Every question is compared with every fact but its own for what is unrelated, and every fact with its paraphrase and
    with its changed form for what is alike.
    """
    import numpy as np

    told = embedder.embed(_texts(pairs, "fact", "paraphrase", "changed")).astype(np.float64)
    facts, paraphrases, changed = np.split(told, 3)
    asked = embedder.embed(_texts(pairs, "question"), "query").astype(np.float64) @ facts.T
    others = asked[~np.eye(len(pairs), dtype=bool)]
    same = np.concatenate([(facts * paraphrases).sum(axis=1), (facts * changed).sum(axis=1)])
    scale = Scale(*(round(float(one), DIGITS) for one in (others.mean(), others.std(), np.median(same))))
    return Measured(scale, float((asked.argmax(axis=1) == np.arange(len(pairs))).mean()))


def _texts(pairs: Iterable[Pairs], *names: str) -> list[str]:
    several = list(pairs)
    return [getattr(one, name) for name in names for one in several]


def on_the_scale(
    scale: Scale, cosines: Mapping[str, float], distances: Mapping[str, float]
) -> dict[str, float]:  # fmt: skip
    """Thresholds that are cosines or distances, where they are by a model of this scale, and the scale itself. Pure."""
    told: dict[str, Any] = {"unrelated": scale.unrelated, "spread": scale.spread, "alike": scale.alike}
    told |= {name: scale.of_the_model(value) for name, value in cosines.items()}
    told |= {name: 1.0 - scale.of_the_model(1.0 - value) for name, value in distances.items()}
    return {name: round(value, DIGITS) for name, value in told.items()}
