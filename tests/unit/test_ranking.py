"""Fusion, profiles and choosing, against worked numbers and over random rows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engram import ranking
from engram.errors import InvalidInput, SettingsError
from engram.ranking import Leg, Profile, ProfileWeights, Signals
from engram.scope import Scope
from engram.values import LAYERS, MEMORY_TYPES, MODES, Activity, Memory, Term

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
        ("hybrid", ROW._replace(memory_type="preference"), 0.8133),
        ("hybrid", ROW, 0.8263),
        ("hybrid", ROW._replace(memory_type="episodic"), 0.8306),
        ("hybrid", ROW._replace(memory_type="tool_result"), 0.8271),
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
    stale = ranking.score(ROW._replace(accesses=0, age_days=age), "project").terms["stale"]
    assert stale.value == pytest.approx(factor, abs=CLOSE)


SHARES = st.floats(0, 1)
PROFILES = [*ranking.WEIGHTS, Profile("mine", {"cosine": 1.5, "recency": -0.5, "rest": 0.25})]


@st.composite
def signals(draw: st.DrawFn, **fixed: Any) -> Signals:
    """Any row that can be found."""
    coverage = draw(SHARES)
    drawn: dict[str, Any] = {
        "cosine": draw(st.none() | st.floats(-1, 1)), "coverage": coverage,
        "keyword_relevance": coverage, "semantic_rank": draw(st.none() | st.integers(1, 99)),
        "keyword_rank": draw(st.none() | st.integers(1, 99)), "actor": draw(st.booleans()),
        "answers": draw(st.none() | st.floats(0, 1.5)),
        "memory_type": draw(st.sampled_from(MEMORY_TYPES)), "layer": draw(st.sampled_from(LAYERS)),
        "critical": draw(st.booleans()), "importance": draw(SHARES), "confidence": draw(SHARES),
        "age_days": draw(st.floats(0, 1e5)), "idle_hours": draw(st.floats(0, 1e6)),
        "accesses": draw(st.integers(0, 10**6)), "repetitions": draw(st.integers(0, 10**6)),
        "nearness": draw(st.sampled_from(["own", "default", "other"])), "epochs": draw(st.floats(0, 1e4)),
        "mode": draw(st.sampled_from(MODES)), "closeness": draw(st.none() | SHARES),
        "in_time": draw(st.none() | SHARES), "recent": draw(st.none() | SHARES), "preferred": draw(st.booleans()),
        "wish": draw(st.booleans()),
    }  # fmt: skip
    row = Signals(**{**drawn, **fixed})
    return ranking.with_dual_hit(row) if draw(st.booleans()) else row


def recomputed(profile: str, terms: Mapping[str, Term]) -> float:
    """The score of a profile that is no sum, from its terms alone, as the documents say it is made."""
    counted = {name: term for name, term in terms.items() if term.weight}
    if profile == "project":
        return 1 - math.prod(term.value for term in counted.values())
    return math.tanh(
        counted["relevance"].value
        * (1 + sum(term.value * term.weight for name, term in counted.items() if name != "relevance"))
    )


@given(row=signals())
def test_the_terms_of_a_score_give_the_score(row: Signals) -> None:
    for profile in PROFILES:
        scored, name = ranking.score(row, profile), ranking.name_of(profile)
        if name in (*ADDITIVE, "mine"):
            total = math.fsum(term.contribution for term in scored.terms.values())
        else:
            assert all(term.contribution == 0 for term in scored.terms.values())
            total = recomputed(name, scored.terms)
        assert total == pytest.approx(scored.score, abs=1e-9), name
        assert math.isfinite(scored.score)
        assert 0 <= scored.distance <= 1
        for term_name, term in scored.terms.items():
            value = term.value**2 if (name, term_name) == ("recall", "coverage") else term.value
            if term.contribution:
                assert value * term.weight == pytest.approx(term.contribution, abs=1e-9), (name, term_name)


@given(near=signals(), far=signals())
def test_nothing_lifts_an_irrelevant_row_over_a_relevant_one(near: Signals, far: Signals) -> None:
    irrelevant, relevant = ranking.score(far), ranking.score(near)
    if irrelevant.relevance <= 0.04 and relevant.relevance >= 0.2:
        assert relevant.score > irrelevant.score


@given(
    relevant=signals(cosine=0.41, closeness=None, in_time=None, recent=None, preferred=False, wish=False),
    cosine=st.floats(0, 0.08),
    row=signals(
        coverage=0.0, actor=False, answers=None, closeness=1.0, in_time=1.0, recent=1.0, preferred=True, importance=1.0,
        wish=True,
    ),
)  # fmt: skip
def test_all_that_may_speak_for_an_irrelevant_row_is_not_enough(relevant: Signals, row: Signals, cosine: float) -> None:
    far = ranking.score(row._replace(cosine=cosine))
    assert far.relevance <= 0.04
    assert ranking.score(relevant).score > far.score


def test_an_answer_takes_over_half_the_nearness_of_its_question_and_no_more_than_its_own() -> None:
    question = ranking.nearness(coverage=0.8, cosine=0.4)
    assert question == pytest.approx(0.84)
    plain = Signals(coverage=0.5, cosine=0.4, actor=True)  # 0.25 + 0.2 + 0.1
    answer = ranking.score(plain._replace(answers=question))
    assert answer.terms["answer"] == Term(pytest.approx(0.84), 0.5, pytest.approx(0.42))
    assert answer.relevance == pytest.approx(0.55 + 0.42)
    assert answer.score == pytest.approx(ranking.score(plain).score + 0.42)
    short = ranking.score(Signals(coverage=0.3, cosine=0.1, answers=question))  # 0.09 + 0.05
    assert short.terms["answer"] == Term(pytest.approx(0.28), 0.5, pytest.approx(0.14))
    assert "answer" not in ranking.score(plain).terms
    assert ranking.score(Signals(answers=question)).relevance == 0


def test_what_other_channels_say_orders_near_ties() -> None:
    row = Signals(cosine=0.5)
    plain = ranking.score(row).score
    for more, bonus in (
        ({"closeness": 1.0}, 0.08), ({"in_time": 0.5}, 0.03), ({"recent": 1.0}, 0.03), ({"preferred": True}, 0.02),
        ({"wish": True}, 0.1),
    ):  # fmt: skip
        assert ranking.score(row._replace(**more)).score - plain == pytest.approx(bonus)
    half = row._replace(cosine=0.2)  # relevance 0.1, half of what makes a bonus whole
    linked = ranking.score(half._replace(closeness=1.0))
    assert linked.terms["graph"] == Term(1.0, 0.04, 0.04)
    assert linked.score - ranking.score(half).score == pytest.approx(0.04)
    assert linked.relevance == ranking.score(half).relevance


def test_a_channel_that_did_not_find_a_row_has_no_term_in_it() -> None:
    assert not {"graph", "temporal", "recent", "namespace", "wish"} & set(ranking.score(ROW).terms)


def test_a_row_over_a_better_one_only_where_both_are_near() -> None:
    irrelevant = Signals(cosine=0.0, importance=1.0)
    relevant = Signals(cosine=0.5, coverage=0.3, importance=0.0, idle_hours=1e6)
    assert ranking.score(relevant).score > ranking.score(irrelevant).score


def test_critical_and_core_rows_do_not_fade() -> None:
    old = Signals(cosine=0.5, idle_hours=10_000)
    fresh = Signals(cosine=0.5, idle_hours=0)
    assert ranking.score(old).score < ranking.score(fresh).score
    for kept in (old._replace(critical=True), old._replace(layer="core")):
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
    assert ranking.score(ROW._replace(age_days=days), "simple").terms["recency"].value == pytest.approx(
        recency, abs=CLOSE
    )


@pytest.mark.parametrize(("accesses", "value"), [(10, 0.1), (50, 0.5), (200, 1.0)])
def test_the_access_term_is_linear(accesses: int, value: float) -> None:
    assert ranking.score(ROW._replace(accesses=accesses), "simple").terms["access"].value == pytest.approx(value)


def test_decayed_importance_of_the_example() -> None:
    row = ROW._replace(importance=0.85, age_days=20)
    assert ranking.score(row._replace(accesses=0), "simple").terms["importance"].value == pytest.approx(
        0.535, abs=CLOSE
    )
    assert ranking.score(row._replace(accesses=7), "simple").terms["importance"].value == pytest.approx(
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


def test_the_profile_lifecycle_has_a_floor_unless_the_caller_set_one() -> None:
    assert not ranking.score(Signals(cosine=0.29), "lifecycle").relevant
    assert ranking.score(Signals(cosine=0.31), "lifecycle").relevant
    assert ranking.score(Signals(cosine=0.29, floored=False), "lifecycle").relevant
    assert ranking.score(Signals(cosine=0.1, keyword_rank=1), "lifecycle").relevant
    assert ranking.score(Signals(cosine=0.1, closeness=0.5), "lifecycle").relevant


def test_a_row_is_raised_by_what_found_it_and_how_long_the_question_is() -> None:
    both = Signals(cosine=0.4, keyword_relevance=0.8, keyword_rank=2)
    assert ranking.with_dual_hit(both).relevance == pytest.approx(0.4853, abs=CLOSE)
    assert ranking.with_dual_hit(both, cjk=9).relevance == pytest.approx(0.78)
    assert ranking.with_dual_hit(both, cjk=10).relevance == pytest.approx(0.4853, abs=CLOSE)
    words = both._replace(cosine=None)
    assert ranking.with_dual_hit(words).relevance == pytest.approx(0.2)
    assert ranking.with_dual_hit(words, cjk=20).relevance == pytest.approx(0.32)
    vector = Signals(cosine=0.4)
    assert ranking.with_dual_hit(vector).relevance == pytest.approx(0.28)
    assert ranking.with_dual_hit(vector._replace(mode="semantic")).relevance == pytest.approx(0.4)
    assert ranking.with_dual_hit(vector._replace(closeness=0.2)).relevance == 1.0
    assert ranking.with_dual_hit(ROW._replace(closeness=0.2)).relevance == pytest.approx(1.066, abs=CLOSE)


@pytest.mark.parametrize(("signal", "cap", "at"), [("repetitions", 0.7, 61), ("accesses", 0.55, 97)])
def test_bonuses_of_the_life_cycle_reach_their_caps(signal: str, cap: float, at: int) -> None:
    def bonus(count: int) -> float:
        row = Signals()
        return ranking.lifecycle_weight(row._replace(**{signal: count})) - ranking.lifecycle_weight(row)

    assert bonus(at) == bonus(10**6) == pytest.approx(cap)
    assert bonus(at - 1) < cap


def test_without_a_vector_words_stand_in() -> None:
    row = ROW._replace(cosine=None, keyword_relevance=0.5)
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


# Profiles of one's own -----------------------------------------------------------------------------------------------


def test_a_profile_of_ones_own_is_a_sum_of_signals() -> None:
    mine = Profile("mine", {"coverage_squared": 2, "cosine": 0.5, "recency": 0.2, "access": -0.5})
    scored = ranking.score(ROW, mine)
    assert scored.score == pytest.approx(2 * 0.36 + 0.5 * 0.82 + 0.2 * (1 - 10 / 90) - 0.5 * 0.07)
    assert set(scored.terms) == {"coverage_squared", "cosine", "recency", "access", "decay", "relevance"}
    assert scored.relevance == 0.82


@given(row=signals())
def test_every_score_shows_the_relevance_it_rests_on(row: Signals) -> None:
    for profile in PROFILES:
        scored = ranking.score(row, profile)
        assert scored.terms["relevance"].value == scored.relevance


@given(row=signals())
def test_every_signal_is_a_share(row: Signals) -> None:
    for name, signal in ranking.SIGNALS.items():
        assert 0 <= signal(row) <= 1, name


@pytest.mark.parametrize("name", ranking.SIGNALS)
def test_every_signal_can_tell_two_rows_apart(name: str) -> None:
    one = ROW._replace(coverage=0.2, keyword_relevance=0.2, cosine=0.2, nearness="other", idle_hours=900, age_days=80)
    other = ROW._replace(
        actor=True, answers=0.8, closeness=1.0, in_time=1.0, recent=1.0, importance=0.9, confidence=0.9,
        repetitions=5, accesses=90, critical=True, layer="core", wish=True,
    )  # fmt: skip
    mine = Profile("mine", {name: 1.0})
    assert ranking.score(other, mine).score > ranking.score(one, mine).score


def test_the_documents_of_a_profile_name_every_signal() -> None:
    assert Profile.__doc__ is not None
    for name in ranking.SIGNALS:
        assert f"`{name}`" in Profile.__doc__


def test_a_floor_leaves_out_what_is_less_relevant() -> None:
    mine = Profile("mine", {"recency": 1.0}, floor=0.4)
    assert ranking.score(Signals(cosine=0.4), mine).relevant
    assert not ranking.score(Signals(cosine=0.39), mine).relevant
    assert ranking.score(Signals(cosine=0.39, floored=False), mine).relevant


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": {}}, {"weights": {"speed": 1.0}}, {"weights": {"cosine": math.nan}}, {"weights": {"cosine": True}},
        {"weights": {"cosine": math.inf}}, {"weights": {"cosine": "1"}}, {"weights": {"cosine": -1.0}},
        {"weights": {"cosine": 0}}, {"weights": {"cosine": 1001}}, {"weights": [("cosine", 1)]}, {"weights": {1: 1}},
        {"name": ""}, {"name": "recall"}, {"name": "default"}, {"name": "a b"}, {"name": "x" * 65}, {"name": 7},
        {"floor": 1.1}, {"floor": -0.1}, {"floor": math.nan}, {"floor": "0"}, {"floor": True},
    ],
    ids=str,
)  # fmt: skip
def test_a_profile_that_makes_no_sense_cannot_be_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="profile"):
        Profile(**{"name": "mine", "weights": {"cosine": 1.0}, **wrong})
    with pytest.raises(InvalidInput, match="profile"):
        ranking.resolve({"name": "mine", "weights": {"cosine": 1.0}, **wrong})


def test_a_profile_cannot_be_changed_behind_its_back() -> None:
    weights = {"cosine": 1.0}
    mine = Profile("mine", weights)
    weights["cosine"] = 9.0
    assert mine.weights == {"cosine": 1.0}
    with pytest.raises(TypeError):
        mine.weights["cosine"] = 9.0  # type: ignore[index]


def test_a_profile_goes_through_json() -> None:
    mine = Profile("mine", {"cosine": 1.0, "recent": 0.5}, floor=0.2)
    assert ranking.resolve(json.loads(json.dumps(mine.to_dict()))) == mine
    assert Profile.from_dict(mine.to_dict()) == mine
    changed = ranking.resolve({"base": "simple", "weights": {"relevance": 0.2, "access": 0.3}})
    assert changed == ProfileWeights("simple", {"relevance": 0.2, "access": 0.3})


def test_a_profile_is_found_by_its_name() -> None:
    mine = Profile("mine", {"cosine": 1.0})
    assert ranking.resolve("mine", [mine]) is mine
    assert ranking.resolve("default", [mine]) == "recall"
    assert ranking.resolve("hybrid") == "hybrid"
    assert ranking.resolve(mine) is mine
    with pytest.raises(InvalidInput, match=r"one of default, recall, .*, mine"):
        ranking.resolve("yours", [mine])
    assert [ranking.name_of(one) for one in ("default", "rrf", ProfileWeights("simple", {}), mine)] == [
        "recall", "rrf", "simple", "mine",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (7, InvalidInput), (None, InvalidInput), (b"recall", InvalidInput), ([], InvalidInput), ({}, InvalidInput),
        ({"name": "mine"}, InvalidInput), ({"base": 7}, InvalidInput), ({"base": "no"}, InvalidInput),
        ({"base": "simple", "weights": [1]}, InvalidInput), ({"base": "simple", "name": "x"}, InvalidInput),
        ({"name": "mine", "weights": {"cosine": 1}, "speed": 1}, InvalidInput), ({7: 7}, InvalidInput),
        (ProfileWeights("simple", {"relevance": 0.9}), SettingsError),
    ],
)  # fmt: skip
def test_what_is_no_profile_is_refused(wrong: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="profile"):
        ranking.resolve(wrong)


# Fusion --------------------------------------------------------------------------------------------------------------


def test_fused_ranks_of_two_queries() -> None:
    fused = ranking.fuse_ranks([Leg("one", {"a": 0.9, "b": 0.8, "c": 0.7}), Leg("two", {"b": 0.5, "d": 0.4})])
    assert [one.memory_id for one in fused] == ["b", "a", "d", "c"]
    assert fused[0].score == pytest.approx(1 / 12 + 1 / 11)
    assert fused[0].ranks == {"one": 2, "two": 1}
    assert fused[0].terms["two"] == Term(1 / 11, 1.0, 1 / 11)


def test_fused_ranks_with_the_classic_constant() -> None:
    both = ranking.fuse_ranks([Leg("words", {"a": 1.0}), Leg("vector", {"a": 1.0})], k=60)
    assert both[0].score == pytest.approx(0.03279, abs=1e-5)


def test_a_leg_of_words_weighs_as_much_as_it_covers() -> None:
    weak = Leg("words", {"a": 0.1, "b": 0.05}, gated=True)
    assert weak.belief == pytest.approx(0.2)
    assert Leg("words", {"a": 0.7}, gated=True).belief == 1.0
    assert Leg("words", {"a": 0.1}, weight=3.0, gated=True).belief == pytest.approx(0.6)
    assert Leg("words", {}, gated=True).belief == 0.0
    fused = ranking.fuse_ranks([weak, Leg("vector", {"b": 0.9, "a": 0.8})])
    assert [one.memory_id for one in fused] == ["b", "a"]  # ungated, both would have the same score
    assert fused[1].terms["words"].weight == pytest.approx(0.2)


def test_who_is_asked_about_counts_before_a_leg_is_ranked() -> None:
    legs = [Leg("words", {"a": 0.30, "b": 0.25}, gated=True), Leg("vector", {"a": 0.5, "b": 0.45})]
    assert [one.memory_id for one in ranking.fuse_ranks(legs)] == ["a", "b"]
    fused = ranking.fuse_ranks(legs, actors={"b"})
    assert [one.memory_id for one in fused] == ["b", "a"]
    assert fused[0].terms["words"].weight == pytest.approx(0.6)  # what is covered is measured without it
    far = [Leg("vector", {"a": 0.61, "b": 0.5})]
    assert [one.memory_id for one in ranking.fuse_ranks(far, actors={"b"})] == ["a", "b"]


def test_ties_of_a_fusion_end_with_the_newest_and_then_the_id() -> None:
    day = datetime(2025, 1, 1, tzinfo=UTC)
    leg = Leg("vector", {"c": 0.5, "a": 0.5, "b": 0.5})
    assert [one.memory_id for one in ranking.fuse_ranks([leg])] == ["a", "b", "c"]
    recorded = {"a": day, "b": day + timedelta(days=1), "c": day}
    assert [one.memory_id for one in ranking.fuse_ranks([leg], recorded=recorded)] == ["b", "a", "c"]
    crossed = [Leg("one", {"a": 2, "b": 1}), Leg("two", {"a": 1, "b": 2})]
    assert [one.memory_id for one in ranking.fuse_ranks(crossed, recorded=recorded)] == ["b", "a"]


IDS = st.sampled_from("abcdefgh")
LEGS = st.lists(
    st.builds(
        lambda values, gated: (values, gated), st.dictionaries(IDS, st.sampled_from([0.1, 0.2, 0.9])), st.booleans()
    ),
    max_size=4,
)


@given(LEGS, st.floats(0, 100), st.sets(IDS))
def test_a_fusion_adds_up_and_has_one_order(legs: list[Any], k: float, actors: set[str]) -> None:
    made = [Leg(str(n), values, gated=gated) for n, (values, gated) in enumerate(legs)]
    turned = [Leg(leg.name, dict(reversed(leg.values.items())), gated=leg.gated) for leg in made]
    fused = ranking.fuse_ranks(made, k, actors=actors)
    assert fused == ranking.fuse_ranks(turned, k, actors=actors)
    assert {one.memory_id for one in fused} == {one for leg in made for one in leg.values}
    assert [one.score for one in fused] == sorted((one.score for one in fused), reverse=True)
    for one in fused:
        assert math.fsum(term.contribution for term in one.terms.values()) == pytest.approx(one.score, abs=1e-9)
    for leg in made:
        assert sorted(one.ranks[leg.name] for one in fused if leg.name in one.ranks) == [*range(1, len(leg.values) + 1)]


@pytest.mark.parametrize("k", [-1, math.nan, math.inf, True, "10", None])
def test_a_constant_that_makes_no_sense_is_refused(k: Any) -> None:
    with pytest.raises(InvalidInput, match="k: "):
        ranking.fuse_ranks([], k)


def test_two_legs_of_one_name_would_hide_each_other() -> None:
    with pytest.raises(ValueError, match="same name"):
        ranking.fuse_ranks([Leg("a", {}), Leg("a", {})])


# Choosing ------------------------------------------------------------------------------------------------------------


def test_the_adaptive_cut_keeps_what_is_near_the_nearest() -> None:
    assert ranking.adaptive_cut([0.1, 0.2, 0.5, 0.9]) == pytest.approx(0.3)  # 3 times the nearest
    assert ranking.adaptive_cut([0.4, 0.5, 0.5, 0.5]) == pytest.approx(0.6)  # 1.2 times the third quartile
    assert ranking.adaptive_cut([0.2, 0.3, 0.4, 0.5, 0.6]) == pytest.approx(0.6)
    assert ranking.adaptive_cut([0.3, 0.4]) == pytest.approx(1.2 * 0.375)
    assert ranking.adaptive_cut([0.0, 0.5]) == 1e-9
    assert ranking.adaptive_cut([]) == 1e-9


@given(st.lists(st.floats(0, 1), min_size=1))
@example([0.0])
def test_the_adaptive_cut_never_leaves_nothing(distances: list[float]) -> None:
    assert min(distances) <= ranking.adaptive_cut(distances)


def test_the_distance_of_a_row_is_of_the_profiles_own_scale() -> None:
    assert ranking.score(Signals(cosine=1.0, coverage=1.0, actor=True)).distance == 0
    assert ranking.score(Signals(cosine=0.4, coverage=0.6)).distance == pytest.approx(1 - 0.56 / 1.6)
    assert ranking.score(Signals(coverage=0.5)).distance == pytest.approx(1 - 0.25 / 1.1)  # there is no vector
    assert ranking.score(Signals(cosine=0.4), "project").distance == pytest.approx(0.6)
    assert ranking.score(ranking.with_dual_hit(ROW), "lifecycle").distance == 0


SESSIONS = st.lists(st.none() | st.sampled_from("xyz"), max_size=12)


def test_sessions_give_their_rows_in_turn() -> None:
    rows = ["x1", "x2", "x3", "y1", "-1", "x4", "y2", "-2", "-3"]

    def session_of(row: str) -> str | None:
        return None if row[0] == "-" else row[0]

    def chosen(per_session: int, limit: int) -> list[str]:
        return ranking.round_robin(rows, session_of, per_session, limit)

    assert chosen(1, 10) == ["x1", "y1", "-1", "-2", "-3"]
    assert chosen(2, 10) == ["x1", "x2", "y1", "-1", "y2", "-2", "-3"]
    assert chosen(4, 3) == ["x1", "y1", "-1"]
    assert chosen(4, 4) == ["x1", "x2", "y1", "-1"]
    assert chosen(9, 9) == rows
    assert chosen(2, 0) == []


@given(SESSIONS, st.integers(1, 4), st.integers(0, 12))
def test_no_session_takes_more_than_its_share(sessions: list[str | None], per_session: int, limit: int) -> None:
    rows = list(enumerate(sessions))
    chosen = ranking.round_robin(rows, lambda row: row[1], per_session, limit)
    counts = {name: sum(session == name for _, session in chosen) for name in "xyz"}
    assert all(count <= per_session for count in counts.values())
    allowed = sum(min(sessions.count(name), per_session) for name in "xyz") + sessions.count(None)
    assert len(chosen) == min(limit, allowed)
    assert chosen == sorted(chosen)
    if rows and limit:
        assert chosen[0] == rows[0]
    # No session is served twice while another waits for its first turn.
    waiting = {name for name in "xyz" if name in sessions and not counts[name]}
    if waiting and limit:
        assert all(count <= 1 for count in counts.values())


def test_what_is_good_enough_is_as_many_rows_as_were_asked_for() -> None:
    assert ranking.is_good_enough([0.9, 0.81], 2, 0.8)
    assert not ranking.is_good_enough([0.9, 0.8], 2, 0.8)
    assert not ranking.is_good_enough([0.9], 2, 0.8)
    assert not ranking.is_good_enough([0.9, 0.9], 2, None)
    assert not ranking.is_good_enough([0.9], 0, 0.8)


DAY = datetime(2025, 6, 1, tzinfo=UTC)


def memory(memory_id: str, days: float = 0, accesses: int = 0, accessed: float | None = None) -> Memory:
    last = None if accessed is None else DAY + timedelta(days=accessed)
    return Memory(
        memory_id=memory_id, scope=Scope(), fact="x", main_content=None, memory_type="semantic", category=None, tags=(),
        importance=0.5, confidence=0.5, trust="user", layer="working", status="active", status_reason=None,
        critical_slot=None, conflict_key=None, topic_key=None, subject=None, attribute=None, value=None,
        lineage_id=memory_id, revision=1, superseded_by=None, superseded_at=None, consolidated_into=None,
        valid_from=DAY, valid_from_stated=False, valid_to=None, recorded_at=DAY + timedelta(days=days), expires_at=None,
        surprise=None, source=None, session_id=None, task_run_id=None, metadata={}, private=False, deriver=None,
        deriver_version=None, policy="", rule=None, embedded=True, event_id="e", activity=Activity(accesses, last),
    )  # fmt: skip


def test_rows_are_listed_in_the_order_asked_for() -> None:
    rows = [memory("c", 1, 9, 5), memory("b", 0, 3, 6), memory("d", 2), memory("a", 2, 0), memory("e", 3, 0)]

    def ids(sort: Any) -> str:
        return "".join(one.memory_id for one in ranking.listed(rows, sort, lambda row: row))

    assert ids("score") == "cbdae"
    assert ids("recent") == "eadcb"
    assert ids("accessed") == "bcead"


def test_ties_of_a_score_end_with_the_newest_and_then_the_id() -> None:
    rows = [(0.5, memory("b")), (0.5, memory("a")), (0.5, memory("c", 1)), (0.6, memory("d", -9))]
    ordered = sorted(rows, key=lambda row: ranking.best_first(*row))
    assert [one.memory_id for _, one in ordered] == ["d", "c", "a", "b"]
