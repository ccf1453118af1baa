"""Fusion and profiles against the worked numbers of the requirement texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram import ranking
from engram.errors import SettingsError
from engram.ranking import ProfileWeights, Signals

CLOSE = 5e-4
ADDITIVE = ("recall", "hybrid", "simple", "lifecycle_linear", "activation", "rrf")

# One row: in both channels first, created ten days ago, read seven times, the last time two days ago.
ROW = Signals(
    cosine=0.82, coverage=0.6, semantic_rank=1, keyword_rank=1, keyword_relevance=1.0, importance=0.7, confidence=0.65,
    age_days=10, idle_hours=48, accesses=7, repetitions=1,
)  # fmt: skip


@pytest.mark.parametrize(
    ("profile", "row", "expected"),
    [
        ("hybrid", replace(ROW, memory_type="preference"), 0.8133),
        ("hybrid", ROW, 0.8263),
        ("hybrid", replace(ROW, memory_type="episodic"), 0.8306),
        ("hybrid", replace(ROW, memory_type="tool_result"), 0.8271),
        ("simple", ROW, 0.8045),
        ("project", ROW, 0.9115),
        ("lifecycle", ROW, 0.8600),
        ("lifecycle", ranking.with_dual_hit(ROW), 0.9330),
        ("lifecycle_linear", ROW, 0.7823),
        ("activation", ROW, 0.7935),
        ("recall", ROW, 0.36 + 0.41 + 0.1 * (0.625 * 0.7862 + 0.375 * 0.7)),
    ],
)
def test_worked_scores_of_one_row(profile: str, row: Signals, expected: float) -> None:
    assert ranking.score(row, profile).score == pytest.approx(expected, abs=CLOSE)


def test_the_parts_of_the_lifecycle_score() -> None:
    assert ranking.lifecycle_weight(ROW) == pytest.approx(1.0674, abs=CLOSE)
    assert ranking.score(ROW, "lifecycle").terms["recency"].value == pytest.approx(0.7515, abs=CLOSE)
    assert ranking.dual_hit(0.82, 1.0) == pytest.approx(1.066, abs=CLOSE)


@pytest.mark.parametrize(("age", "factor"), [(14, 1.0), (104, 1.1), (194, 1.2), (400, 1.2)])
def test_a_row_never_read_grows_stale_in_a_project(age: float, factor: float) -> None:
    stale = ranking.score(replace(ROW, accesses=0, age_days=age), "project").terms["stale"]
    assert stale.value == pytest.approx(factor, abs=CLOSE)


@pytest.mark.parametrize("profile", ADDITIVE)
@given(
    cosine=st.none() | st.floats(-1, 1), coverage=st.floats(0, 1), rank=st.none() | st.integers(1, 99),
    importance=st.floats(0, 1), idle_hours=st.floats(0, 1e5), actor=st.booleans(), critical=st.booleans(),
    memory_type=st.sampled_from(["semantic", "episodic", "preference", "tool_result"]),
    mode=st.sampled_from(["hybrid", "semantic", "keyword"]),
)  # fmt: skip
def test_the_terms_of_an_additive_profile_add_up(
    profile: str, coverage: float, rank: int | None, **values: Any
) -> None:
    row = Signals(coverage=coverage, keyword_relevance=coverage, keyword_rank=rank, semantic_rank=rank, **values)
    scored = ranking.score(row, profile)
    assert sum(term.contribution for term in scored.terms.values()) == pytest.approx(scored.score, abs=1e-9)


def test_a_row_over_a_better_one_only_where_both_are_near() -> None:
    irrelevant = Signals(cosine=0.0, importance=1.0)
    relevant = Signals(cosine=0.5, coverage=0.3, importance=0.0, idle_hours=1e6)
    assert ranking.score(relevant).score > ranking.score(irrelevant).score


def test_critical_and_core_rows_do_not_fade() -> None:
    old = Signals(cosine=0.5, idle_hours=10_000)
    fresh = Signals(cosine=0.5, idle_hours=0)
    assert ranking.score(old).score < ranking.score(fresh).score
    for kept in (replace(old, critical=True), replace(old, layer="core")):
        assert ranking.score(kept).score == pytest.approx(ranking.score(fresh).score)


@pytest.mark.parametrize(
    ("relevance", "importance", "recency", "expected"), [(0.8, 0.7, 0.78, 0.766), (0.2, 0.9, 0.95, 0.56)]
)
def test_the_ranking_example(relevance: float, importance: float, recency: float, expected: float) -> None:
    weights = ranking.WEIGHTS["simple"]
    total = weights["relevance"] * relevance + weights["importance"] * importance + weights["recency"] * recency
    assert total == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize(("days", "recency"), [(0, 1), (5, 0.944), (30, 0.667), (60, 0.333), (90, 0), (200, 0)])
def test_recency_falls_in_a_line(days: float, recency: float) -> None:
    assert ranking.score(replace(ROW, age_days=days), "simple").terms["recency"].value == pytest.approx(
        recency, abs=CLOSE
    )


@pytest.mark.parametrize(("accesses", "value"), [(10, 0.1), (50, 0.5), (200, 1.0)])
def test_the_access_term_is_linear(accesses: int, value: float) -> None:
    assert ranking.score(replace(ROW, accesses=accesses), "simple").terms["access"].value == pytest.approx(value)


def test_decayed_importance_of_the_example() -> None:
    row = replace(ROW, importance=0.85, age_days=20)
    assert ranking.score(replace(row, accesses=0), "simple").terms["importance"].value == pytest.approx(
        0.535, abs=CLOSE
    )
    assert ranking.score(replace(row, accesses=7), "simple").terms["importance"].value == pytest.approx(
        0.696, abs=CLOSE
    )


def test_reciprocal_rank_fusion_with_the_classic_constant() -> None:
    assert ranking.reciprocal([1, 1], k=60) == pytest.approx(0.03279, abs=1e-5)
    assert ranking.keyword_score(1, 1) == pytest.approx(0.984, abs=CLOSE)
    assert ranking.keyword_score(1, None) == pytest.approx(0.492, abs=CLOSE)


def test_rank_fusion_believes_words_only_where_they_cover_the_question() -> None:
    assert ranking.keyword_gate(0.5) == 1.0
    assert ranking.keyword_gate(0.9) == 1.0
    assert ranking.keyword_gate(0.1) == pytest.approx(0.2)


def test_a_dual_hit_is_raised_and_a_lone_one_held_back() -> None:
    assert ranking.dual_hit(0.4, 0.8) == pytest.approx(0.4853, abs=CLOSE)
    assert ranking.dual_hit(0.4, 0.8, short_cjk=True) == pytest.approx(0.78)
    assert ranking.dual_hit(None, 0.8) == pytest.approx(0.2)
    assert ranking.dual_hit(None, 0.8, cjk=True) == pytest.approx(0.32)
    assert ranking.dual_hit(0.4, None) == 0.4
    assert ranking.dual_hit(0.4, None, term_present=False) == pytest.approx(0.28)


def test_the_hybrid_gate_drops_what_no_channel_stands_for() -> None:
    assert not ranking.score(Signals(cosine=0.1), "hybrid").relevant
    assert ranking.score(Signals(cosine=0.11), "hybrid").relevant
    assert ranking.score(Signals(cosine=0.0, keyword_rank=3), "hybrid").relevant


def test_without_a_vector_words_stand_in() -> None:
    row = replace(ROW, cosine=None, keyword_relevance=0.5)
    assert ranking.score(row, "hybrid").score == pytest.approx(0.6 * 0.5 + 0.25 * 0.7862 + 0.15 * 0.7, abs=CLOSE)
    assert "cosine" not in ranking.score(row, "recall").terms


def test_weights_of_a_profile_may_be_replaced_within_their_sum() -> None:
    changed = ProfileWeights("simple", {"relevance": 0.2, "access": 0.3})
    assert ranking.score(ROW, changed).terms["access"].contribution == pytest.approx(0.3 * 0.07)
    for wrong in (
        ProfileWeights("simple", {"relevance": 0.9}),
        ProfileWeights("simple", {"speed": 0.1}),
        ProfileWeights("simple", {"relevance": -0.1, "recency": 0.8}),
        ProfileWeights("simple", {"relevance": float("nan")}),
        ProfileWeights("nothing", {}),
    ):
        with pytest.raises(SettingsError):
            ranking.score(ROW, wrong)
    with pytest.raises(SettingsError):
        ranking.score(ROW, "nothing")


def test_every_profile_with_weights_has_a_scorer() -> None:
    assert set(ranking.WEIGHTS) == set(ranking.SCORERS)
    for name in ("hybrid", "simple", "lifecycle_linear", "activation"):
        assert sum(ranking.WEIGHTS[name].values()) == pytest.approx(1.0, abs=0.01)
