"""The write gates in their order, mode by mode (features W-2 to W-10)."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.gates import WRITE_MODES, Near, Row, Statement, Thresholds, WriteMode, decide, surprise
from engram.text import jaccard, tokens

MAY_3, MAY_5 = datetime(2024, 5, 3, tzinfo=UTC), datetime(2024, 5, 5, tzinfo=UTC)
BUDGET = Near("old", "The budget is $500", 0.98)
TYPESCRIPT = Near("ts", "User prefers TypeScript", 0.96)


# --- Surprise -----------------------------------------------------------------------------------------------------
def test_the_worked_surprise_is_483_and_its_importance_435() -> None:
    shared = jaccard(tokens("User prefers TypeScript"), tokens("User prefers dark mode"))
    terms = surprise([0.6], [shared], same_type=1)
    assert (terms.semantic, terms.keyword) == (pytest.approx(0.4), pytest.approx(0.6))
    assert terms.rarity == pytest.approx(0.6309, abs=5e-4)
    assert terms.score == pytest.approx(0.483, abs=5e-4)
    assert terms.score * 0.9 == pytest.approx(0.435, abs=5e-4)


def test_without_vectors_the_worked_surprise_is_606() -> None:
    terms = surprise(None, [0.4], same_type=1)
    assert terms.semantic is None
    assert terms.score == pytest.approx(0.606, abs=5e-4)


@pytest.mark.parametrize(("rows", "rarity"), [(0, 1.0), (1, 0.631), (10, 0.279), (100, 0.150)])
def test_rarity_falls_with_the_rows_of_the_type(rows: int, rarity: float) -> None:
    assert surprise([], [], rows).rarity == pytest.approx(rarity, abs=5e-4)


def test_rows_of_a_type_count_to_a_thousand() -> None:
    assert surprise([], [], 1_000).rarity == surprise([], [], 50_000).rarity


def test_with_no_rows_everything_is_new() -> None:
    terms = surprise([], [], 0)
    assert (terms.semantic, terms.keyword, terms.score) == (1.0, 1.0, pytest.approx(1.0))


def test_the_closest_row_counts_and_a_negative_cosine_is_zero() -> None:
    assert surprise([-0.5, 0.2], [0.1, 0.3], 0).semantic == pytest.approx(0.8)
    assert surprise([-0.5], [0.0], 0).semantic == 1.0


@given(st.lists(st.floats(-1, 1)), st.lists(st.floats(0, 1)), st.integers(0, 10**6))
def test_surprise_stays_between_zero_and_one(cosines: list[float], jaccards: list[float], rows: int) -> None:
    assert 0.0 <= surprise(cosines, jaccards, rows).score <= 1.0 + 1e-9
    assert 0.0 <= surprise(None, jaccards, rows).score <= 1.0 + 1e-9


# --- Exact duplicates ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", WRITE_MODES)
@pytest.mark.parametrize("force", [False, True])
def test_an_exact_duplicate_reinforces_in_every_mode_even_forced(mode: WriteMode, force: bool) -> None:
    judged = decide(Statement("user likes  TEA", force=force), exact=Row("a", "User likes tea"), mode=mode)
    assert (judged.kind, judged.target_id, judged.reasons) == ("reinforce", "a", ("exact_duplicate",))
    assert judged.surprise is not None
    assert judged.surprise.score == 0.0


def test_the_same_text_at_another_stated_time_is_another_memory() -> None:
    gym = Row("a", "User went to the gym", valid_from=MAY_3)
    assert decide(Statement("User went to the gym", stated_from=MAY_5), exact=gym).kind == "add"
    assert decide(Statement("User went to the gym", stated_from=MAY_3), exact=gym).kind == "reinforce"
    assert decide(Statement("User went to the gym"), exact=gym).kind == "reinforce"


def test_a_near_duplicate_at_another_stated_time_is_another_memory() -> None:
    near = Near("a", "The user went to the gym", 0.99, stated_from=MAY_3)
    judged = decide(Statement("User went to the gym", stated_from=MAY_5), neighbours=[near])
    assert (judged.kind, judged.contradicts_id) == ("add", "a")
    assert judged.nearest[0].changed == ("date",)


def test_the_same_text_under_another_key_is_not_a_duplicate() -> None:
    row = Row("a", "Sprint 42", conflict_key="topic:sprint")
    assert decide(Statement("Sprint 42", conflict_key="topic:other"), exact=row).kind == "add"
    assert decide(Statement("Sprint 42", conflict_key="topic:sprint"), exact=row).kind == "reinforce"
    assert decide(Statement("Sprint 42"), exact=row).kind == "reinforce"


def test_a_more_trusted_restatement_says_that_trust_rises() -> None:
    row = Row("a", "User likes tea", trust=5)
    assert decide(Statement("User likes tea", trust=1), exact=row).reasons == ("exact_duplicate", "trust_raised")
    assert decide(Statement("User likes tea", trust=5), exact=row).reasons == ("exact_duplicate",)


def test_a_verbatim_row_never_swallows_the_fact_derived_from_it() -> None:
    row = Row("a", "I now live in Rome", evidence=True)
    near = Near("a", "I now live in Rome", 1.0, evidence=True)
    for mode in WRITE_MODES:
        judged = decide(Statement("I now live in Rome"), exact=row, head=row, neighbours=[near], mode=mode)
        assert (judged.kind, judged.nearest) == ("add", ())
    assert decide(Statement("I now live in Rome", evidence=True), exact=row).kind == "reinforce"


def test_evidence_is_not_judged_by_distilled_facts() -> None:
    judged = decide(Statement("User prefers TypeScript!!", evidence=True), neighbours=[TYPESCRIPT])
    assert (judged.kind, judged.nearest) == ("add", ())


# --- Keys ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", WRITE_MODES)
@pytest.mark.parametrize("force", [False, True])
def test_another_text_under_a_key_revises_its_head_in_every_mode_even_forced(mode: WriteMode, force: bool) -> None:
    statement = Statement("Current sprint: 43", conflict_key="topic:current-sprint", force=force)
    head = Row("h", "Current sprint: 42", conflict_key="topic:current-sprint")
    near = Near("h", "Current sprint: 42", 0.999, conflict_key="topic:current-sprint")
    judged = decide(statement, head=head, neighbours=[near], mode=mode, same_type=1_000)
    assert (judged.kind, judged.target_id, judged.reasons) == ("revise", "h", ("same_key",))


def test_a_paraphrase_under_a_key_is_still_a_revision() -> None:
    head = Row("h", "User lives in Ottawa", conflict_key="slot:city")
    assert decide(Statement("User resides in Ottawa", conflict_key="slot:city"), head=head).kind == "revise"


def test_the_heads_own_text_reinforces_it_whatever_its_time() -> None:
    head = Row("h", "User lives in Ottawa", conflict_key="slot:city", valid_from=MAY_3)
    statement = Statement("user lives in ottawa", conflict_key="slot:city", stated_from=MAY_5)
    judged = decide(statement, head=head)
    assert (judged.kind, judged.target_id, judged.reasons) == ("reinforce", "h", ("same_key", "same_text"))


def test_the_text_of_a_superseded_row_is_a_new_revision() -> None:
    # A → B → A: the caller passes active rows only, so the first A is not among them.
    head = Row("b", "User lives in Toronto", conflict_key="slot:city")
    judged = decide(Statement("User lives in Ottawa", conflict_key="slot:city"), exact=None, head=head)
    assert (judged.kind, judged.target_id) == ("revise", "b")


def test_a_first_statement_under_a_key_is_added_however_near_its_neighbours() -> None:
    judged = decide(Statement("User likes TypeScript", conflict_key="slot:language"), neighbours=[TYPESCRIPT])
    assert (judged.kind, judged.reasons, judged.contradicts_id) == ("add", ("new_key",), None)


def test_a_key_comes_before_a_near_duplicate() -> None:
    head = Row("h", "User prefers Rust", conflict_key="slot:language")
    statement = Statement("User likes TypeScript", conflict_key="slot:language")
    assert decide(statement, head=head, neighbours=[TYPESCRIPT]).target_id == "h"


# --- Value change -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", WRITE_MODES)
def test_a_changed_value_is_added_in_every_mode(mode: WriteMode) -> None:
    judged = decide(Statement("The budget is $700"), neighbours=[BUDGET], mode=mode, same_type=1_000)
    assert judged.kind == "add"
    assert judged.nearest[0].changed == ("quantity",)


@pytest.mark.parametrize("force", [False, True])
def test_a_changed_value_without_a_key_contradicts_the_row_it_is_near(force: bool) -> None:
    judged = decide(Statement("The budget is $700", force=force), neighbours=[BUDGET])
    assert (judged.kind, judged.contradicts_id, judged.contradicts_weight) == ("add", "old", 0.98)
    assert judged.reasons[:2] == ("value_changed", "changed:quantity")


def test_a_changed_value_far_away_contradicts_nothing() -> None:
    judged = decide(Statement("The budget is $700"), neighbours=[replace(BUDGET, cosine=0.7)])
    assert (judged.kind, judged.reasons, judged.contradicts_id) == ("add", ("new",), None)


def test_saying_more_is_stored_without_a_contradiction() -> None:
    judged = decide(Statement("User prefers TypeScript for backends"), neighbours=[TYPESCRIPT])
    assert (judged.kind, judged.contradicts_id) == ("add", None)
    assert "says_more" in judged.reasons


def test_saying_less_is_absorbed() -> None:
    near = Near("ts", "User prefers TypeScript for backends", 0.96)
    assert decide(Statement("User prefers TypeScript"), neighbours=[near]).kind == "reinforce"


def test_another_slot_is_a_changed_value() -> None:
    near = replace(TYPESCRIPT, changed=("slot",))
    judged = decide(Statement("User likes TypeScript"), neighbours=[near])
    assert (judged.kind, judged.reasons) == ("add", ("value_changed", "changed:slot"))


def test_an_unchanged_neighbour_counts_where_a_nearer_one_has_changed() -> None:
    near = [replace(BUDGET, cosine=0.99), Near("same", "The budget is 700 dollars", 0.96)]
    judged = decide(Statement("The budget is $700"), neighbours=near)
    assert (judged.kind, judged.target_id) == ("reinforce", "same")


# --- Modes --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("mode", "cosine", "kind"),
    [
        ("return", 0.95, "reinforce"), ("return", 0.949, "add"),
        ("absorb", 0.85, "reinforce"), ("absorb", 0.849, "add"),
        ("merge", 0.65, "reinforce"), ("merge", 0.649, "add"),
        ("report", 0.89, "conflict"), ("report", 0.879, "add"),
        ("store", 1.0, "add"),
    ],
)  # fmt: skip
def test_each_mode_closes_at_its_own_threshold(mode: WriteMode, cosine: float, kind: str) -> None:
    near = replace(TYPESCRIPT, cosine=cosine)
    judged = decide(Statement("User likes TypeScript"), neighbours=[near], mode=mode)
    assert judged.kind == kind
    assert judged.target_id == (None if kind == "add" else "ts")


@pytest.mark.parametrize("mode", WRITE_MODES)
def test_force_stores_past_every_near_duplicate(mode: WriteMode) -> None:
    near = replace(TYPESCRIPT, cosine=0.999)
    judged = decide(Statement("User likes TypeScript", force=True), neighbours=[near], mode=mode, same_type=1_000)
    assert (judged.kind, judged.reasons) == ("add", ("new", "forced"))


@pytest.mark.parametrize("mode", ["return", "report", "merge", "absorb", "store"])
def test_without_vectors_nothing_is_a_near_duplicate(mode: WriteMode) -> None:
    near = replace(TYPESCRIPT, cosine=None)
    judged = decide(Statement("User likes TypeScript"), neighbours=[near], mode=mode)
    assert judged.kind == "add"
    assert judged.surprise is not None
    assert judged.surprise.semantic is None


def test_the_nearest_unchanged_row_is_the_target() -> None:
    near = [replace(TYPESCRIPT, memory_id="far", cosine=0.955), replace(TYPESCRIPT, memory_id="close", cosine=0.98)]
    assert decide(Statement("User likes TypeScript"), neighbours=near).target_id == "close"


def test_captured_traffic_merges_earlier() -> None:
    near = replace(TYPESCRIPT, cosine=0.61)
    assert (
        decide(Statement("User likes TypeScript", captured=True), neighbours=[near], mode="merge").kind == "reinforce"
    )
    assert decide(Statement("User likes TypeScript"), neighbours=[near], mode="merge").kind == "add"


def test_the_second_net_of_merge_catches_where_the_first_is_calibrated_higher() -> None:
    near = Near("a", "User prefers dark mode in the editor", 0.86)
    at = Thresholds.of({"insert_dedup": 0.9})
    assert (
        decide(Statement("User prefers dark mode"), neighbours=[near], mode="merge", thresholds=at).kind == "reinforce"
    )
    low = replace(near, cosine=0.85)
    assert decide(Statement("User prefers dark mode"), neighbours=[low], mode="merge", thresholds=at).kind == "add"


# --- Two gates ----------------------------------------------------------------------------------------------------
def test_a_report_needs_both_gates() -> None:
    # Close in meaning, in other words: stored.
    other_words = Near("a", "The user enjoys films", 0.97)
    judged = decide(Statement("User loves movies"), neighbours=[other_words], mode="report")
    assert judged.nearest[0].jaccard < 0.4
    assert judged.nearest[0].changed == ()
    assert judged.kind == "add"
    # The same words far apart in meaning: stored.
    far = replace(TYPESCRIPT, cosine=0.5)
    assert decide(Statement("User likes TypeScript"), neighbours=[far], mode="report").kind == "add"
    # Both: reported, with what can be done.
    judged = decide(Statement("User likes TypeScript"), neighbours=[TYPESCRIPT], mode="report")
    assert (judged.kind, judged.options) == ("conflict", ("revise", "force", "forget"))


def test_a_row_of_the_shared_namespace_must_be_much_closer_and_counts_in_mode_report_only() -> None:
    shared = replace(TYPESCRIPT, in_default=True)
    statement = Statement("User likes TypeScript")
    assert decide(statement, neighbours=[replace(shared, cosine=0.94)], mode="report").kind == "add"
    assert decide(statement, neighbours=[replace(shared, cosine=0.96)], mode="report").kind == "conflict"
    assert decide(statement, neighbours=[replace(shared, cosine=1.0)], mode="return").kind == "add"


# --- The surprise gate --------------------------------------------------------------------------------------------
def _gate(fact: str, near: Near, **statement: object) -> str:
    return decide(Statement(fact, **statement), neighbours=[near], same_type=100, mode="gate").kind  # type: ignore[arg-type]


def test_the_surprise_gate_rejects_what_is_known_and_explains() -> None:
    near = Near("a", "User prefers TypeScript", 0.99)
    judged = decide(Statement("The user prefers TypeScript"), neighbours=[near], same_type=100, mode="gate")
    assert judged.surprise is not None
    assert judged.surprise.score < 0.15
    assert (judged.kind, judged.target_id) == ("reject", "a")
    assert judged.reasons == ("surprise_below_threshold",)
    assert judged.options == ("force", "revise")


def test_the_surprise_gate_lets_pass_at_its_threshold() -> None:
    near = Near("a", "User prefers TypeScript", 0.97)
    statement = Statement("The user prefers TypeScript")
    score = decide(statement, neighbours=[near], same_type=100, mode="gate").surprise
    assert score is not None
    at = Thresholds.of({"surprise": score.score})
    assert decide(statement, neighbours=[near], same_type=100, mode="gate", thresholds=at).kind == "add"


@pytest.mark.parametrize(
    ("existing", "candidate"),
    [
        ("The budget for the trip is $500", "The budget for the trip is $700"),
        ("The daily standup is on Monday", "The daily standup is on Tuesday"),
        ("User likes the taste of cilantro", "User does not like the taste of cilantro"),
        ("Deploy the service before the freeze", "Deploy the service after the freeze"),
        ("The service runs v1.2", "The service runs v1.3"),
        ("User's favourite colour is blue", "User's favourite colour is red"),
    ],
)
def test_the_surprise_gate_is_barred_by_changed_values_and_minimal_pairs(existing: str, candidate: str) -> None:
    at = Thresholds.of({"surprise": 1.0})
    near = Near("a", existing, 0.999)
    judged = decide(Statement(candidate), neighbours=[near], same_type=1_000, mode="gate", thresholds=at)
    assert judged.kind == "add"


def test_the_surprise_gate_may_reject_a_looser_rewording_and_says_so() -> None:
    at = Thresholds.of({"surprise": 0.5})
    statement = Statement("User spends quiet hours at home with long books")
    near = Near("a", "User reads long novels at home", 0.97)
    judged = decide(statement, neighbours=[near], same_type=100, mode="gate", thresholds=at)
    assert judged.nearest[0].changed == ("word",)
    assert (judged.kind, judged.reasons) == ("reject", ("surprise_below_threshold", "reworded"))


def test_the_surprise_gate_is_never_for_keys_nor_for_the_forced() -> None:
    near = Near("a", "User prefers TypeScript", 0.999)
    assert _gate("The user prefers TypeScript", near) == "reject"
    assert _gate("The user prefers TypeScript", near, conflict_key="slot:language") == "add"
    assert _gate("The user prefers TypeScript", near, force=True) == "add"


def test_outside_its_mode_surprise_is_only_a_number() -> None:
    near = Near("a", "User prefers TypeScript", 0.94)
    judged = decide(Statement("The user prefers TypeScript"), neighbours=[near], same_type=1_000)
    assert judged.kind == "add"
    assert judged.surprise is not None
    assert judged.surprise.score < 0.15
    assert judged.surprise.closest_id == "a"
    assert decide(Statement("The user prefers TypeScript"), neighbours=[near], score_surprise=False).surprise is None


# --- Thresholds and shape -----------------------------------------------------------------------------------------
def test_thresholds_are_laid_over_the_fall_back_in_order() -> None:
    at = Thresholds.of({"near": 0.9, "cluster": 0.1}, None, {"near": 0.8})
    assert (at.near, at.absorb) == (0.8, 0.85)


def test_an_empty_scope_adds() -> None:
    judged = decide(Statement("User likes tea"))
    assert (judged.kind, judged.reasons, judged.nearest) == ("add", ("new",), ())
    assert judged.surprise is not None
    assert judged.surprise.score == pytest.approx(1.0)


@given(
    st.sampled_from(WRITE_MODES), st.booleans(), st.one_of(st.none(), st.just("k")),
    st.lists(st.tuples(st.sampled_from(["User likes tea", "User likes 2 teas", "x", ""]),
                       st.one_of(st.none(), st.floats(-1, 1))), max_size=4),
    st.integers(0, 2_000),
)  # fmt: skip
def test_whatever_is_passed_the_judgement_is_whole(
    mode: WriteMode, force: bool, key: str | None, near: list[tuple[str, float | None]], rows: int
) -> None:
    neighbours = [Near(str(place), fact, cosine) for place, (fact, cosine) in enumerate(near)]
    statement = Statement("User likes 3 teas", conflict_key=key, force=force)
    judged = decide(statement, neighbours=neighbours, same_type=rows, mode=mode)
    assert judged.reasons
    assert len(judged.nearest) == len(neighbours)
    assert judged.kind == "add"  # every neighbour has another number: neither duplicate, conflict nor unsurprising
    assert judged == decide(statement, neighbours=neighbours, same_type=rows, mode=mode)
