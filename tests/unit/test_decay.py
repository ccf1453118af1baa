"""Forgetting curves against the values of the requirement texts."""

from __future__ import annotations

import math

import pytest

from engram import decay

CLOSE = 5e-4


@pytest.mark.parametrize(("hours", "left"), [(0, 1.0), (24, 0.8867), (48, 0.7862), (168, 0.4308), (720, 0.0271)])
def test_access_decay_after_hours_without_access(hours: float, left: float) -> None:
    assert decay.access_decay(hours) == pytest.approx(left, abs=CLOSE)


def test_access_decay_is_half_after_138_hours() -> None:
    profile = decay.PROFILES["access"]
    assert profile.half_life * 24 == pytest.approx(138.28, abs=0.005)
    assert profile.factor(48 / 24) == pytest.approx(decay.access_decay(48), abs=1e-12)


@pytest.mark.parametrize(("days", "left"), [(0, 1), (30, 0.5), (60, 0.25), (90, 0.125)])
def test_ebbinghaus_halves_each_thirty_days(days: float, left: float) -> None:
    assert decay.ebbinghaus(1.0, days) == pytest.approx(left, abs=1e-9)


@pytest.mark.parametrize(("accesses", "boost"), [(0, 1), (1, 1.1), (3, 1.2), (7, 1.3), (15, 1.4), (100, 1.666)])
def test_recall_boost_grows_with_the_logarithm_of_accesses(accesses: int, boost: float) -> None:
    assert decay.recall_boost(accesses) == pytest.approx(boost, abs=CLOSE)


def test_ebbinghaus_with_accesses() -> None:
    assert decay.ebbinghaus(0.8, 30, 3) == pytest.approx(0.48, abs=1e-9)


def test_an_unaccessed_row_falls_under_the_floor_after_the_stated_days() -> None:
    days = 30 * math.log2(0.8 / 0.01)
    assert days == pytest.approx(189.7, abs=0.05)
    assert decay.ebbinghaus(0.8, days) == pytest.approx(0.01, abs=1e-9)


@pytest.mark.parametrize(("days", "accesses", "left"), [(7, 0, 0.811), (30, 0, 0.407), (30, 10, 0.638), (2, 7, 0.965)])
def test_retention_is_slowed_by_accesses(days: float, accesses: int, left: float) -> None:
    assert decay.retention(days, accesses) == pytest.approx(left, abs=CLOSE)


@pytest.mark.parametrize(
    ("kind", "half_life", "first", "after", "gone"),
    [
        ("episodic", 34.31, 35, (0.8171, 0.3642, 0.1326), 194),
        ("semantic", 57.41, 58, (0.8863, 0.5468, 0.2990), 325),
        ("procedural", 172.94, 173, (0.9607, 0.8184, 0.6698), 977),
    ],
)
def test_epochs_fade_each_kind_at_its_own_rate(
    kind: str, half_life: float, first: int, after: tuple[float, ...], gone: int
) -> None:
    profile = decay.PROFILES[f"epochs_{kind}"]
    assert profile.half_life == pytest.approx(half_life, abs=0.005)
    assert next(n for n in range(500) if decay.fade_by_epochs(1.0, kind, n) <= 0.5) == first  # type: ignore[arg-type]
    for epochs, left in zip((10, 50, 100), after, strict=True):
        assert decay.fade_by_epochs(1.0, kind, epochs) == pytest.approx(left, abs=CLOSE)  # type: ignore[arg-type]
        assert profile.factor(epochs) == pytest.approx(left, abs=CLOSE)
    factor = decay.EPOCH_FACTORS[kind]  # type: ignore[index]
    assert 0.5 * factor**gone < 0.01 <= 0.5 * factor ** (gone - 1)


def test_epochs_add_a_fading_bonus_for_accesses() -> None:
    assert decay.fade_by_epochs(0.6, "semantic", 50) == pytest.approx(0.3281, abs=CLOSE)
    assert decay.by_epochs(0.6, "semantic", 50, accesses=4, epochs_since_access=10) == pytest.approx(0.4345, abs=CLOSE)


def test_epochs_never_pass_the_floor_or_one() -> None:
    assert decay.fade_by_epochs(0.5, "episodic", 10_000) == decay.FLOOR
    assert decay.by_epochs(1.0, "semantic", 0, accesses=50) == 1.0


def test_an_age_before_birth_counts_as_none() -> None:
    assert decay.access_decay(-5) == 1.0
    assert decay.PROFILES["retention"].factor(-1) == 1.0
