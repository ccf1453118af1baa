"""What a model's cosines mean beside those of the local one."""

from __future__ import annotations

import random

import pytest

from engram import verdicts
from engram.gates import Near, Statement, decide
from engram.scales import Scale, of_model

CONE = 2.5  # of a common direction, squared


def in_a_cone(cosine: float) -> float:
    """The cosine of two vectors, each with a direction of that length beside it which all have."""
    return (cosine + CONE) / (1 + CONE)


def coned() -> Scale:
    """The scale of the local model's vectors in a cone."""
    own = Scale()
    return Scale(in_a_cone(own.unrelated), own.spread / (1 + CONE), in_a_cone(own.alike))


def test_the_local_model_is_told_as_it_is() -> None:
    for _ in range(100):
        cosine = random.uniform(-1, 1)
        assert Scale().told(cosine) == cosine
        assert Scale().of_the_model(cosine) == cosine


def test_a_common_direction_of_all_vectors_changes_nothing() -> None:
    for share in range(101):
        cosine = -0.2 + 1.2 * share / 100
        assert coned().told(in_a_cone(cosine)) == pytest.approx(cosine, abs=1e-9)
        assert coned().of_the_model(cosine) == pytest.approx(in_a_cone(cosine), abs=1e-9)


@pytest.mark.parametrize(
    "scale", [Scale(0.05, 0.08, 0.8), Scale(0.75, 0.03, 0.92), Scale(-0.02, 0.05, 0.6), Scale(0.3, 0.1, 0.75)]
)
def test_what_is_nearer_stays_nearer_and_there_is_a_way_back(scale: Scale) -> None:
    assert scale.has_order
    told = [scale.told(step / 500) for step in range(501)]
    assert told == sorted(told)
    assert told[-1] == 1
    assert all(-1 <= one <= 1 for one in told)
    for step in range(501):
        if told[step] > -1:
            assert scale.of_the_model(told[step]) == pytest.approx(step / 500, abs=1e-9)


def test_what_is_told_has_its_ends() -> None:
    assert Scale(0.75, 0.001, 0.92).told(-1) == -1
    assert Scale(0.05, 0.2, 0.9).of_the_model(-1) == -1


@pytest.mark.parametrize(
    "scale",
    [Scale(0.5, 0.2, 0.6), Scale(0.1, 0.05, 0.05), Scale(0.1, 0.0, 0.9), Scale(0.1, 0.05, 1.0), Scale(0.9, 0.1, 0.95)],
)
def test_a_scale_without_order_is_known(scale: Scale) -> None:
    assert not scale.has_order


@pytest.mark.parametrize("told", [None, {}, {"near": 0.97}])
def test_a_model_that_was_not_calibrated_has_no_scale(told: dict[str, float] | None) -> None:
    assert of_model(told) is None


def test_a_model_that_was_calibrated_has_one() -> None:
    told = {"unrelated": 0.7, "spread": 0.03, "alike": 0.9, "near": 0.98}
    assert of_model(told) == Scale(0.7, 0.03, 0.9)


def test_no_model_is_asked_about_what_is_only_near_as_everything_is() -> None:
    near = [Near(str(n), f"The train to {n} leaves at nine", in_a_cone(0.05 * n + 0.01)) for n in range(20)]
    judged = decide(Statement("Ines keeps bees behind the house"), neighbours=near, scale=coned())
    for full, least in ((False, verdicts.GREY), (True, verdicts.CLOSE)):
        asked = verdicts.unsure(judged, full=full, scale=coned())
        assert [one.memory_id for one in asked] == [str(n) for n in range(20) if 0.05 * n + 0.01 >= least]


def test_surprise_is_measured_on_the_scale() -> None:
    new = Statement("Ines keeps bees behind the house")
    asked = {"same_type": 4, "mode": "gate"}
    plain = decide(new, neighbours=[Near("m", "The train leaves at nine", 0.02)], **asked)  # type: ignore[arg-type]
    far = [Near("m", "The train leaves at nine", in_a_cone(0.02))]
    narrow = decide(new, neighbours=far, scale=coned(), **asked)  # type: ignore[arg-type]
    assert plain.surprise is not None
    assert narrow.surprise is not None
    assert narrow.surprise.score == pytest.approx(plain.surprise.score, abs=1e-9)
