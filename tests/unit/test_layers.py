"""Layers, the gate, triage and pruning as pure decisions, with the numbers of the specification."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engram import decay
from engram.lifecycle import cycle, gate, layers, pruning
from engram.lifecycle.layers import Row
from engram.values import TRUSTS

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def row(**given: Any) -> Row:
    return Row(**{"memory_id": "m", "recorded_at": NOW - timedelta(days=1), "layer": "buffer", **given})


# Y-4, Y-5: fading by epochs ------------------------------------------------------------------------------------------


def test_what_epochs_leave_with_what_accesses_add() -> None:
    faded = row(importance=0.6, accesses=4, born_epoch=0, accessed_epoch=40)
    assert layers.left_of(faded, 50) == pytest.approx(0.4345, abs=5e-4)
    assert decay.fade_by_epochs(0.6, "semantic", 50) == pytest.approx(0.3281, abs=5e-4)
    assert layers.left_of(replace(faded, layer="core"), 50) == 0.6
    assert layers.left_of(replace(faded, critical=True), 50) == 0.6


def test_a_buffer_row_that_was_never_accessed_is_counted_from_its_birth() -> None:
    assert layers.left_of(row(importance=0.6, accesses=4, born_epoch=10), 60) == pytest.approx(
        0.3281 + 0.12 * 0.988**50, abs=5e-4
    )


@pytest.mark.parametrize(
    ("memory_type", "last"), [("episodic", 194), ("tool_result", 194), ("semantic", 325), ("procedural", 977)]
)
def test_a_buffer_row_is_spent_in_the_epoch_in_which_less_than_a_hundredth_is_left(memory_type: Any, last: int) -> None:
    one = row(memory_type=memory_type, importance=0.5, born_epoch=7)
    assert not layers.is_spent(one, 7 + last - 1)
    assert layers.is_spent(one, 7 + last)
    assert not layers.is_spent(replace(one, layer="working"), 7 + last)
    assert not layers.is_spent(replace(one, critical=True), 7 + last)
    assert not layers.is_spent(replace(one, accesses=1, accessed_epoch=7 + last), 7 + last)


# Y-7: rising ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accesses", "repetitions", "score", "rises"),
    [(0, 2, 5.0, True), (5, 0, 5.0, True), (2, 1, 4.5, False), (1, 2, 6.0, True), (4, 0, 4.0, False)],
)
def test_a_buffer_row_rises_from_a_score_of_five(accesses: int, repetitions: int, score: float, rises: bool) -> None:
    one = row(accesses=accesses, repetitions=repetitions)
    assert layers.score(one) == score
    assert (layers.rises(one, 0) is not None) is rises
    assert layers.rises(replace(one, layer="working"), 0) is None
    assert layers.rises(replace(one, tags=("distilled",)), 0) is not None or not rises


def test_a_threshold_of_the_policy_only_raises_the_five() -> None:
    assert layers.rises(row(accesses=5), 0, least=3.0) is not None
    assert layers.rises(row(accesses=5), 0, least=6.0) is None
    assert layers.rises(row(accesses=6), 0, least=6.0) is not None


@pytest.mark.parametrize(
    ("given", "rises"),
    [
        ({"tags": ("lesson",)}, True),
        ({"category": "lesson"}, True),
        ({"memory_type": "procedural"}, True),
        ({"memory_type": "procedural", "tags": ("distilled",)}, False),
        ({"tags": ("lesson", "auto-distilled")}, False),
        ({}, False),
    ],
)
def test_lessons_and_procedures_rise_after_four_epochs_in_the_buffer(given: Any, rises: bool) -> None:
    one = row(layer_epoch=10, born_epoch=2, **given)
    assert layers.rises(one, 13) is None
    assert (layers.rises(one, 14) is not None) is rises


def test_the_core_takes_candidates_by_score_or_by_age() -> None:
    def is_candidate(**given: Any) -> bool:
        return layers.is_candidate(row(**{"layer": "working", "importance": 0.9, **given}), 0, NOW)

    assert is_candidate(accesses=3)
    assert not is_candidate(accesses=2)
    assert is_candidate(accesses=1, repetitions=1)
    assert not is_candidate(accesses=3, importance=0.49)  # with three accesses .09 more
    assert is_candidate(accesses=3, importance=0.51)
    assert is_candidate(accesses=1, recorded_at=NOW - timedelta(days=7, seconds=1))
    assert not is_candidate(accesses=1, recorded_at=NOW - timedelta(days=7))
    assert not is_candidate(accesses=0, recorded_at=NOW - timedelta(days=99))
    assert not is_candidate(accesses=9, layer="buffer")
    assert not is_candidate(accesses=9, layer="core")
    for word in ("session", "ephemeral", "distilled", "auto-distilled", "project-status"):
        assert not is_candidate(accesses=9, tags=(word,))
    assert not is_candidate(accesses=9, category="session")


def test_importance_counts_as_it_is_after_the_epochs() -> None:
    one = row(layer="working", importance=0.7, accesses=3, accessed_epoch=0)
    assert layers.is_candidate(one, 0, NOW)
    assert not layers.is_candidate(one, 100, NOW)


# Falling, caps -------------------------------------------------------------------------------------------------------


def test_only_notes_of_sessions_and_the_ephemeral_fall_out_of_the_core() -> None:
    assert layers.falls(row(layer="core", tags=("session",))) is not None
    assert layers.falls(row(layer="core", tags=("ephemeral",))) is not None
    assert layers.falls(row(layer="core")) is None
    assert layers.falls(row(layer="core", tags=("session",), critical=True)) is None
    assert layers.falls(row(layer="working", tags=("session",))) is None
    moved = layers.to(row(layer="core"), "working", 7, "why")
    assert moved.set == {"layer": "working", "layer_epoch": 7}
    assert moved.was == {"status": "active", "consolidated_into": None, "layer": "core"}


def test_a_cap_takes_the_lowest_weight_first_and_of_equals_the_oldest() -> None:
    rows = [
        row(memory_id="old", importance=0.5, recorded_at=NOW - timedelta(days=9)),
        row(memory_id="light", importance=0.1),
        row(memory_id="new", importance=0.5, recorded_at=NOW - timedelta(days=2)),
        row(memory_id="heavy", importance=0.5, accesses=9),
        row(memory_id="pinned", importance=0.0, critical=True),
        row(memory_id="risen", importance=0.0, layer="working"),
    ]
    random.Random(7).shuffle(rows)
    assert [one.memory_id for one in layers.over_cap(rows, 1, 0)] == ["light"]
    assert [one.memory_id for one in layers.over_cap(rows, 2, 0)] == ["light", "old"]
    assert [one.memory_id for one in layers.over_cap(rows, 9, 0)] == ["light", "old", "new", "heavy"]


def test_a_cap_counts_the_weight_of_the_life_cycle_as_the_epochs_left_it() -> None:
    fresh, faded = row(memory_id="fresh", importance=0.4, born_epoch=100), row(memory_id="faded", importance=0.5)
    assert layers.weight(row(importance=0.7, accesses=7, repetitions=1, layer="working"), 0) == pytest.approx(
        1.0674, abs=5e-4
    )
    assert [one.memory_id for one in layers.over_cap([fresh, faded], 1, 0)] == ["fresh"]
    assert [one.memory_id for one in layers.over_cap([fresh, faded], 1, 100)] == ["faded"]


@pytest.mark.parametrize(
    ("count", "told"), [(79, None), (80, 80), (89, 80), (90, 90), (99, 90), (100, 100), (250, 100)]
)
def test_a_scope_is_warned_at_80_90_and_100_percent(count: int, told: int | None) -> None:
    assert layers.warning_at(count, 100) == told


def test_a_warning_is_given_once_for_each_percentage_that_is_reached() -> None:
    assert layers.crossed(0, None) == []
    assert layers.crossed(0, 90) == [80, 90]
    assert layers.crossed(80, 80) == []
    assert layers.crossed(80, 100) == [90, 100]
    assert layers.crossed(100, 80) == []


def test_marks_that_say_nothing_any_more_go() -> None:
    def left(**given: Any) -> Any:
        effect = layers.stale(row(**given), frozenset({"there"}))
        return None if effect is None else effect.set["marks"]

    candidate, triaged = {layers.CANDIDATE: 3}, {layers.TRIAGED: 3}
    assert left(layer="working", marks=candidate) is None
    assert left(layer="core", marks=candidate) == {}
    assert left(layer="buffer", marks=triaged) is None
    assert left(layer="working", marks=triaged | {"gate-rejected": 1}) == {"gate-rejected": 1}
    assert left(layer="core", marks={layers.OVERLAP: "there"}) is None
    assert left(layer="core", marks={layers.OVERLAP: "gone"}) == {}
    assert left(layer="working", marks={layers.OVERLAP: "there"}) == {}


# Y-8: the gate -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fact", "memory_type", "tags", "verdict"),
    [
        ("Retry with a smaller batch when the queue is full", "semantic", ("lesson",), "pass"),
        ("User is called Ada", "profile", (), "pass"),
        ("User prefers TypeScript", "preference", (), "pass"),
        ("Never deploy on Fridays", "constraint", (), "pass"),
        ("Never deploy if the tests are red", "constraint", (), "unclear"),
        ("We chose PostgreSQL because it has row security", "decision", (), "pass"),
        ("We chose PostgreSQL", "decision", (), "unclear"),
        ("The cache holds 200 entries", "semantic", (), "refuse"),
        ("The build passed", "tool_result", (), "refuse"),
        ("Write the report", "task", (), "refuse"),
        ("User prefers tea for now", "preference", (), "refuse"),
        ("A temporary token is used", "constraint", (), "refuse"),
        ("Do not merge until the freeze ends", "constraint", (), "refuse"),
        ("User currently lives in Rome", "profile", (), "refuse"),
        ("Keep it small for now", "semantic", ("lesson",), "refuse"),
    ],
)
def test_the_gate_lets_in_lessons_identities_constraints_and_reasons(
    fact: str, memory_type: Any, tags: tuple[str, ...], verdict: str
) -> None:
    judged = gate.of_core(row(fact=fact, memory_type=memory_type, tags=tags))
    assert judged.verdict == verdict
    assert gate.asks_model(judged, "off") is False
    assert gate.asks_model(judged, "auto") is (verdict == "unclear")
    passing = judged.because == "what it says is for the time being"
    assert gate.asks_model(judged, "full") is not passing
    assert gate.without_model(judged).verdict == ("pass" if verdict == "pass" else "refuse")


@pytest.mark.parametrize("trust", TRUSTS)
def test_the_core_takes_nothing_that_nobody_stands_for(trust: str) -> None:
    one = row(
        fact="Never deploy on Fridays", memory_type="constraint", tags=("lesson",), layer="working", accesses=9,
        importance=0.9, trust=TRUSTS.index(trust),
    )  # fmt: skip
    stands = trust in ("operator", "user", "agent")
    judged = gate.of_core(one)
    assert (judged.verdict == "pass") is stands
    assert gate.asks_model(judged, "full") is stands
    assert layers.is_candidate(one, 0, NOW) is stands


def test_no_row_keeps_others_from_their_turn_with_the_model() -> None:
    rows = [row(memory_id=f"m{place}") for place in range(60)]
    asked = [{one.memory_id for one in gate.in_turn(rows, epoch)} for epoch in range(20)]
    assert {len(one) for one in asked} == {gate.BATCH}
    assert set().union(*asked) == {one.memory_id for one in rows}
    assert gate.in_turn(rows, 3) == gate.in_turn(rows[::-1], 3)


def test_what_changes_marks_names_those_it_saw() -> None:
    one = row(layer="working", marks={"seen": 1})
    effects = (
        gate.refused(one, 1, "no"), gate.passed(one, 1, "yes"), gate.triaged(one, 1, gate.Judged("unclear", "?")),
    )  # fmt: skip
    assert all(effect.was is not None and effect.was["marks"] == {"seen": 1} for effect in effects)


@pytest.mark.parametrize(("accesses", "repetitions", "told"), [(29, 1, False), (30, 0, True), (0, 2, True)])
def test_a_model_is_told_what_is_used_a_lot(accesses: int, repetitions: int, told: bool) -> None:
    assert gate.is_well_used(row(accesses=accesses, repetitions=repetitions)) is told


def test_refusals_escalate_and_wait_for_epochs_not_for_time() -> None:
    one = row(layer="working", marks={layers.CANDIDATE: 9})
    assert gate.may_ask(one.marks, 0)
    first = gate.refused(one, 100, "no").set["marks"]
    assert first == {"gate-rejected": 100}
    assert not gate.may_ask(first, 147)
    assert gate.may_ask(first, 148)
    second = gate.refused(replace(one, marks=first), 148, "no").set["marks"]
    assert second == {"gate-rejected-2": 148}
    assert not gate.may_ask(second, 291)
    assert gate.may_ask(second, 292)
    final = gate.refused(replace(one, marks=second), 292, "no").set["marks"]
    assert final == {"gate-rejected-final": 292}
    assert not gate.may_ask(final, 1_000_000)
    assert gate.refused(replace(one, marks=final), 400, "no").set["marks"] == {"gate-rejected-final": 400}


def test_who_passes_the_gate_is_core_and_was_never_refused() -> None:
    effect = gate.passed(
        row(layer="working", marks={layers.CANDIDATE: 1, "gate-rejected": 3, "kept": 1}), 9, "a lesson"
    )
    assert effect.set == {"layer": "core", "layer_epoch": 9, "marks": {"kept": 1}}


# Triage --------------------------------------------------------------------------------------------------------------


def test_triage_looks_once_at_what_is_older_than_ten_minutes() -> None:
    def due(**given: Any) -> bool:
        return gate.is_due(row(**given), NOW)

    assert due(recorded_at=NOW - timedelta(minutes=10, seconds=1))
    assert not due(recorded_at=NOW - timedelta(minutes=10))
    assert not due(marks={layers.TRIAGED: 3})
    assert not due(layer="working")
    assert not due(critical=True)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({"accesses": 4}, "pass"), ({"accesses": 3}, "unclear"),
        ({"repetitions": 2}, "pass"), ({"repetitions": 1}, "unclear"),
        ({"importance": 0.7}, "pass"), ({"importance": 0.69}, "unclear"),
        ({"tags": ("lesson",)}, "pass"), ({"memory_type": "procedural"}, "pass"),
        ({"memory_type": "preference"}, "pass"), ({"memory_type": "constraint"}, "pass"),
        ({"memory_type": "profile"}, "unclear"), ({}, "unclear"),
    ],
)  # fmt: skip
def test_triage_goes_by_use_importance_and_kind(given: Any, verdict: str) -> None:
    judged = gate.of_buffer(row(**given))
    assert judged.verdict == verdict
    effect = gate.triaged(row(**given, marks={"kept": 1}), 5, judged)
    if verdict == "pass":
        assert effect.set["layer"] == "working"
    else:
        assert effect.set == {"marks": {"kept": 1, "triaged": 5}}


# Y-10: pruning -------------------------------------------------------------------------------------------------------


def hundred() -> list[Row]:
    """A hundred rows, four of them expired, six others faded."""
    rows = [row(memory_id=f"{n:03}", layer="working", importance=0.2 + n / 1_000) for n in range(90)]
    rows += [row(memory_id=f"expired-{n}", expires_at=NOW - timedelta(seconds=n)) for n in range(4)]
    rows += [row(memory_id=f"faded-{n}", importance=0.8, recorded_at=NOW - timedelta(days=190 + n)) for n in range(6)]
    random.Random(3).shuffle(rows)
    return rows


@pytest.mark.parametrize(("mode", "many"), [("gentle", 4), ("normal", 10), ("aggressive", 19)])
def test_pruning_a_hundred_rows(mode: Any, many: int) -> None:
    pruned = pruning.plan(hundred(), mode, NOW)
    assert len(pruned) == many
    assert [one.row.memory_id for one in pruned[10:]] == [f"{n:03}" for n in range(9)][: many - 10 if many > 10 else 0]
    assert {one.row.memory_id for one in pruned if one.reason == "expired"} == {f"expired-{n}" for n in range(4)}
    assert all(one.because for one in pruned)


def test_an_unaccessed_row_of_eight_tenths_fades_after_190_days() -> None:
    def falls(days: float) -> bool:
        one = row(importance=0.8, recorded_at=NOW - timedelta(days=days))
        return pruning.falls_to(one, "normal", NOW) is not None

    assert not falls(189.6)
    assert falls(189.7)


def test_core_and_pinned_rows_are_exempt_and_working_ones_where_new_rows_wait_in_the_buffer() -> None:
    gone = {"expires_at": NOW - timedelta(days=1)}
    for layer in ("buffer", "working", "core"):
        assert pruning.is_exempt(row(layer=layer, critical=True, **gone), "working")
    rows = [row(memory_id=layer, layer=layer, **gone) for layer in ("buffer", "working", "core")]
    assert {one.row.memory_id for one in pruning.plan(rows, "aggressive", NOW)} == {"buffer", "working"}
    assert {one.row.memory_id for one in pruning.plan(rows, "aggressive", NOW, "buffer")} == {"buffer"}
    assert pruning.layers_of("working", None) == ("buffer", "working")
    assert pruning.layers_of("buffer", None) == ("buffer",)
    assert pruning.layers_of("working", ("working", "core")) == ("working",)
    assert pruning.layers_of("buffer", ("working", "core")) == ()


# The cycle -----------------------------------------------------------------------------------------------------------


def test_a_cycle_runs_what_is_left_in_its_order_and_merges_only_when_asked() -> None:
    one = cycle.Cycle("01a20397-6a43-75f1-b167-c98892aa507e", 3, NOW)
    assert len(cycle.STEPS) == 17
    assert one.left(()) == tuple(step for step in cycle.STEPS if step != "merge")
    assert replace(one, merge=True).left(()) == cycle.STEPS
    assert one.left(cycle.STEPS[:15]) == ("missing_vectors", "core_summary")
    assert one.step_id("gate") == one.step_id("gate") != one.step_id("triage")
