"""Measuring what a model's cosines are, and the thresholds that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from engram import gates
from engram.embedding import CachedEmbedder, calibrating, local
from engram.embedding.calibrating import Pairs, built_in, checked_pairs, measure
from engram.errors import InvalidInput, LimitExceeded
from engram.lifecycle import links, thresholds, topics
from engram.operations.calibrating import COSINES, DISTANCES, fall_back, on_the_scale
from engram.scales import Scale

# What is no cosine: shares of words, a deviation, surprise, and the scale itself.
OTHERS = {
    "conflict_jaccard", "surprise", "dedup_jaccard", "cluster_jaccard", "cluster_words", "redundant_deviation",
}  # fmt: skip
# Of means of vectors, which have a rule of their own.
TOPICS = {"topic_assign", "topic_merge", "topic_inner", "topic_absorb"}


class Cone:
    """The local model, with a direction that all its vectors have beside their own."""

    name, max_tokens = "cone", None

    def __init__(self, size: float) -> None:
        self.size, self.model = size, local.load()
        self.dimensions = self.model.dimensions + 1

    def embed(self, texts: Sequence[str], kind: Any) -> Any:
        own = np.asarray(self.model.embed(texts, kind), dtype=np.float64)
        own /= np.linalg.norm(own, axis=1, keepdims=True)
        return np.hstack([own, np.full((len(own), 1), self.size**0.5)]).astype(np.float32)


def test_the_pairs_that_come_with_engram_are_as_many_different_ones() -> None:
    pairs = built_in()
    assert len(pairs) == 48
    assert checked_pairs([asdict(one) for one in pairs]) == pairs
    texts = [text for one in pairs for text in asdict(one).values()]
    assert len(set(texts)) == 4 * 48
    assert all(one.question.endswith("?") for one in pairs)


def test_the_scale_of_the_local_model_is_the_one_that_all_are_told_on() -> None:
    measured = measure(CachedEmbedder(local.load()), built_in())
    assert asdict(measured.scale) == pytest.approx(asdict(Scale()), abs=1e-4)
    assert 0.4 < measured.first < 0.5


def test_a_cone_is_measured_as_one() -> None:
    plain, cone = measure(CachedEmbedder(local.load()), built_in()), measure(CachedEmbedder(Cone(3.0)), built_in())
    assert cone.first == plain.first
    assert cone.scale.unrelated == pytest.approx((plain.scale.unrelated + 3) / 4, abs=1e-3)
    assert cone.scale.spread == pytest.approx(plain.scale.spread / 4, abs=1e-3)
    assert cone.scale.alike == pytest.approx((plain.scale.alike + 3) / 4, abs=1e-3)


def test_what_is_measured_is_what_it_says() -> None:
    """Four words' directions by hand: no question is near another fact, and each fact is near its own."""

    class ByHand:
        name, dimensions, max_tokens = "by hand", 41, None

        def embed(self, texts: Sequence[str], kind: Any) -> Any:
            rows = np.zeros((len(texts), 41), dtype=np.float32)
            for row, text in zip(rows, texts, strict=True):
                what, _, number = text.partition(" ")
                row[int(number)] = {"fact": 1.0, "paraphrase": 0.8, "changed": 0.6, "question": 0.3}[what]
                row[40] = (1 - row[int(number)] ** 2) ** 0.5
            return rows

    pairs = [Pairs(f"fact {n}", f"paraphrase {n}", f"changed {n}", f"question {n}") for n in range(40)]
    measured = measure(CachedEmbedder(ByHand()), pairs)
    assert measured.scale == Scale(unrelated=0.0, spread=0.0, alike=0.7)
    assert measured.first == 1.0
    assert not measured.scale.has_order  # nothing is known of how far what is unrelated strays


def test_every_threshold_is_a_cosine_a_distance_or_known_to_be_neither() -> None:
    rooms: list[Any] = [gates.Thresholds(), thresholds.Thresholds(), links.Limits(), topics.Limits()]
    named = {name for room in rooms for name in asdict(room)}
    assert named == {*COSINES, *DISTANCES} | OTHERS | TOPICS
    assert len(named) == len(COSINES) + len(DISTANCES) + len(OTHERS) + len(TOPICS)


def test_by_the_local_model_the_thresholds_are_the_fall_back() -> None:
    cosines, distances = fall_back()
    topical = {name: value for name, value in asdict(topics.Limits()).items() if name in TOPICS}
    assert on_the_scale(Scale()) == pytest.approx(asdict(Scale()) | cosines | distances | topical, abs=1e-6)


def test_by_a_cone_they_are_narrow() -> None:
    cosines, distances = fall_back()
    own = Scale()
    told = on_the_scale(Scale((own.unrelated + 3) / 4, own.spread / 4, (own.alike + 3) / 4))
    assert told["near"] == pytest.approx((0.95 + 3) / 4, abs=1e-3)
    assert told["conflict_distance"] == pytest.approx(0.12 / 4, abs=1e-3)
    assert all(told[name] > value for name, value in cosines.items())
    assert all(told[name] < value for name, value in distances.items())


def test_by_a_cone_a_row_joins_the_leaf_that_it_would_join_without() -> None:
    """Leaves of members with a cosine of .3: cosines to their mean, with and without the shared direction."""
    size = 2.3
    one, other = np.random.default_rng(3).normal(size=(2, 60, 400))
    one[:, :20] += 3.4  # what is about the same has a cosine of about .3
    leaf = one / np.linalg.norm(one, axis=1, keepdims=True)
    rows = np.concatenate([one[:30], other]) / np.linalg.norm(np.concatenate([one[:30], other]), axis=1, keepdims=True)
    coned = [np.hstack([each, np.full((len(each), 1), size**0.5)]) / (1 + size) ** 0.5 for each in (leaf, rows)]
    near, near_in_a_cone = (
        part @ (mean / np.linalg.norm(mean)) for part, mean in ((rows, leaf.mean(0)), (coned[1], coned[0].mean(0)))
    )
    own = Scale()
    told = on_the_scale(
        Scale((own.unrelated + size) / (1 + size), own.spread / (1 + size), (own.alike + size) / (1 + size))
    )
    joins, joins_in_a_cone = near >= topics.Limits().topic_assign, near_in_a_cone >= told["topic_assign"]
    assert joins[:30].all()
    assert not joins[30:].any()
    assert (joins == joins_in_a_cone).all()


def _some(count: int) -> list[dict[str, str]]:
    return [
        {"fact": f"Fact {n}", "paraphrase": f"So {n}", "changed": f"Not {n}", "question": f"Which {n}?"}
        for n in range(count)
    ]


@pytest.mark.parametrize(
    "given",
    [
        "fact", 7, [], _some(19), [*_some(19), "fact"], [*_some(19), {"fact": "x"}], [*_some(20), _some(1)[0]],
        [*_some(19), _some(20)[19] | {"more": "x"}], [*_some(19), _some(20)[19] | {"fact": ""}],
        [*_some(19), _some(20)[19] | {"question": 3}],
        [*_some(19), _some(20)[19] | {"question": "FACT 19"}], [*_some(19), _some(20)[19] | {"changed": "x\0y"}],
    ],
)  # fmt: skip
def test_other_pairs_are_refused(given: Any) -> None:
    with pytest.raises(InvalidInput, match="pairs"):
        checked_pairs(given)


def test_too_many_pairs_are_refused() -> None:
    with pytest.raises(LimitExceeded):
        checked_pairs(_some(calibrating.MOST_PAIRS + 1))


def test_pairs_are_taken_as_mappings_or_as_they_are() -> None:
    assert checked_pairs(_some(20))[3] == Pairs("Fact 3", "So 3", "Not 3", "Which 3?")
    assert checked_pairs(checked_pairs(_some(20))) == checked_pairs(_some(20))
