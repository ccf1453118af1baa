"""The decay table against the numbers of the requirement texts: what is left, and what is crossed when."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from engram.lifecycle import weighing
from engram.lifecycle.weighing import Epochs
from engram.scope import Scope
from engram.values import Activity, DecayRow, Memory

CLOSE = 5e-4
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PLAIN = Memory(
    memory_id="01890000-0000-7000-8000-00000000a001", scope=Scope(),
    fact="User likes tea", main_content=None, memory_type="semantic", category=None, tags=(),
    importance=0.8, confidence=0.5, trust="user", layer="working", status="active",
    status_reason=None, critical_slot=None, conflict_key=None, topic_key=None, subject=None,
    attribute=None, value=None, lineage_id="x", revision=1, superseded_by=None,
    superseded_at=None, consolidated_into=None, valid_from=NOW, valid_from_stated=False,
    valid_to=None, recorded_at=NOW, expires_at=None, surprise=None, source=None,
    session_id=None, task_run_id=None, metadata={}, private=False, deriver=None,
    deriver_version=None, policy="default@1", rule=None, embedded=True, event_id="e",
)  # fmt: skip


def aged(days: float, *, accesses: int = 0, idle: float | None = None, **changes: Any) -> Memory:
    """A memory so many days old, last accessed so many days ago."""
    last = None if idle is None else NOW - timedelta(days=idle)
    return replace(
        PLAIN, recorded_at=NOW - timedelta(days=days),
        activity=Activity(access_count=accesses, last_accessed_at=last), **changes,
    )  # fmt: skip


def row_of(memory: Memory, curve: str, **epochs: Any) -> DecayRow:
    return weighing.row(memory, curve=curve, now=NOW, epochs=Epochs(**epochs))


@pytest.mark.parametrize(("hours", "left"), [(0, 1.0), (24, 0.8867), (48, 0.7862), (168, 0.4308), (720, 0.0271)])
def test_the_access_curve_counts_from_the_last_access(hours: float, left: float) -> None:
    line = row_of(aged(400, idle=hours / 24, accesses=9), "access")
    assert (line.factor, line.boost) == (pytest.approx(left, abs=CLOSE), 1.0)
    assert line.effective == pytest.approx(0.8 * left, abs=CLOSE)


def test_without_an_access_the_access_curve_counts_from_the_birth() -> None:
    assert row_of(aged(2), "access").factor == pytest.approx(0.7862, abs=CLOSE)


@pytest.mark.parametrize(("days", "left"), [(0, 1.0), (30, 0.5), (60, 0.25), (90, 0.125)])
def test_the_ebbinghaus_curve_counts_from_the_birth_whatever_was_accessed(days: float, left: float) -> None:
    assert row_of(aged(days, idle=0.0, accesses=0), "ebbinghaus").factor == pytest.approx(left, abs=1e-9)


@pytest.mark.parametrize(("accesses", "boost"), [(0, 1), (1, 1.1), (3, 1.2), (7, 1.3), (15, 1.4), (100, 1.666)])
def test_accesses_boost_what_the_ebbinghaus_curve_left(accesses: int, boost: float) -> None:
    assert row_of(aged(0, accesses=accesses), "ebbinghaus").boost == pytest.approx(boost, abs=CLOSE)


def test_a_memory_of_point_eight_after_thirty_days_and_three_accesses() -> None:
    line = row_of(aged(30, accesses=3), "ebbinghaus")
    assert (line.base, line.factor, line.boost) == (0.8, pytest.approx(0.5), pytest.approx(1.2))
    assert line.effective == pytest.approx(0.48, abs=1e-9)


def test_what_is_left_is_never_more_than_one_though_its_terms_are_not_cut() -> None:
    line = row_of(aged(0, accesses=100), "ebbinghaus")
    assert line.base * line.factor * line.boost == pytest.approx(0.8 * 1.6658, abs=CLOSE)
    assert line.effective == 1.0


@pytest.mark.parametrize(("days", "accesses", "left"), [(7, 0, 0.811), (30, 0, 0.407), (30, 10, 0.638), (2, 7, 0.965)])
def test_accesses_slow_the_retention_curve(days: float, accesses: int, left: float) -> None:
    assert row_of(aged(99, idle=days, accesses=accesses), "retention").factor == pytest.approx(left, abs=CLOSE)


def test_the_epochs_curve_counts_activity_and_adds_what_accesses_left() -> None:
    memory = aged(900, accesses=4, importance=0.6)
    line = row_of(memory, "epochs", now=50, born=0, accessed=40)
    assert line.effective == pytest.approx(0.4345, abs=CLOSE)
    assert line.base * line.factor == pytest.approx(0.3281, abs=CLOSE)
    assert line.base * line.factor * line.boost == pytest.approx(line.effective, abs=1e-9)
    idle = row_of(replace(memory, recorded_at=NOW - timedelta(days=5)), "epochs", now=50, born=0, accessed=40)
    assert idle.effective == line.effective


@pytest.mark.parametrize(("kind", "epochs"), [("episodic", 194), ("semantic", 325), ("procedural", 977)])
def test_a_row_of_one_half_falls_under_the_prune_threshold_at_the_stated_epoch(kind: str, epochs: int) -> None:
    memory = aged(0, importance=0.5, memory_type=kind)
    lived = row_of(memory, "epochs", now=100, born=60)
    assert lived.next_threshold is not None
    half = row_of(memory, "epochs").next_threshold
    assert half is not None
    assert (half.name, half.epochs) == ("half", {"episodic": 35, "semantic": 58, "procedural": 173}[kind])
    late = row_of(memory, "epochs", now=180, born=0).next_threshold
    if kind != "procedural":
        assert late is not None
        assert (late.name, late.at, 180 + (late.epochs or 0)) == ("prune", None, epochs)


@pytest.mark.parametrize(
    ("curve", "after"), [("access", 5.7617), ("ebbinghaus", 30.0), ("retention", 23.1049)]
)  # fmt: skip
def test_the_half_is_crossed_after_one_half_life(curve: str, after: float) -> None:
    line = row_of(aged(0), curve)
    assert line.next_threshold is not None
    assert (line.next_threshold.name, line.next_threshold.value) == ("half", 0.4)
    assert line.next_threshold.at is not None
    assert (line.next_threshold.at - NOW) / timedelta(days=1) == pytest.approx(after, abs=CLOSE)


def test_accesses_put_off_what_the_retention_curve_crosses() -> None:
    line = row_of(aged(0, accesses=10), "retention")
    assert line.next_threshold is not None
    assert line.next_threshold.at is not None
    assert (line.next_threshold.at - NOW) / timedelta(days=1) == pytest.approx(2 * 23.1049, abs=CLOSE)


@pytest.mark.parametrize("age", [31.0, 100.0, 189.0])
def test_an_unaccessed_row_of_point_eight_is_pruned_189_7_days_after_its_birth(age: float) -> None:
    line = row_of(aged(age), "ebbinghaus")
    assert line.next_threshold is not None
    assert line.next_threshold.name == "prune"
    assert line.next_threshold.at is not None
    born = NOW - timedelta(days=age)
    assert (line.next_threshold.at - born) / timedelta(days=1) == pytest.approx(189.66, abs=0.05)


def test_a_row_under_the_prune_threshold_has_nothing_to_cross() -> None:
    assert row_of(aged(190), "ebbinghaus").next_threshold is None
    assert row_of(aged(0, importance=0.0), "access").next_threshold is None


@pytest.mark.parametrize("curve", ["access", "ebbinghaus", "retention", "epochs"])
@pytest.mark.parametrize("changes", [{"critical_slot": "profile:name"}, {"layer": "core"}])
def test_what_is_pinned_or_of_the_core_does_not_fade(curve: str, changes: dict[str, Any]) -> None:
    line = row_of(aged(500, **changes), curve, now=900)
    assert (line.factor, line.boost, line.effective, line.next_threshold) == (1.0, 1.0, 0.8, None)
    assert {point.left for point in weighing.curve_of(line)} == {0.8}


@pytest.mark.parametrize("curve", ["access", "ebbinghaus", "retention", "epochs"])
def test_a_curve_begins_with_what_is_left_and_falls_to_the_prune_threshold(curve: str) -> None:
    line = row_of(aged(20, accesses=2, idle=1), curve, now=30, born=10, accessed=25)
    points = weighing.curve_of(line)
    assert points[0].after == 0.0
    assert points[0].left == pytest.approx(line.effective, abs=1e-9)
    assert points[-1].left == pytest.approx(weighing.PRUNED, abs=1e-9)
    assert all(one.left > other.left for one, other in pairwise(points))
    middle = points[len(points) // 2]
    if curve != "epochs":
        later = weighing.row(line.memory, curve=curve, now=NOW + timedelta(days=middle.after))
        assert later.effective == pytest.approx(middle.left, abs=1e-9)


def test_a_memory_from_a_clock_ahead_counts_as_new() -> None:
    assert row_of(aged(-3), "access").factor == 1.0
    assert row_of(aged(-3), "ebbinghaus").factor == 1.0
