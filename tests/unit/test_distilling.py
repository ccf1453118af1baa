"""What is distilled of notes and topics, and what is not (features Y-18)."""

from datetime import UTC, datetime

import more_pairs
import pairs
import pytest

from engram.lifecycle.distilling import Note, cut, enough, groups, is_told, may_stand, replaced, status_of
from engram.lifecycle.pairing import Row

CHANGED = (*pairs.CHANGED, *more_pairs.CHANGED, *more_pairs.LOOKALIKES)
BACKENDS = Row("a", "User prefers TypeScript for backend services")
MISTAKES = Row("b", "User prefers TypeScript because types catch mistakes")
BOTH = "User prefers TypeScript for backend services because types catch mistakes"


def notes(*facts: str) -> list[Note]:
    return [Note(f"n{place}", fact, 1) for place, fact in enumerate(facts)]


def test_three_notes_are_enough_and_two_are_not() -> None:
    assert enough(notes("a", "b", "c"))
    assert not enough(notes("a", "b"))


def test_by_rules_the_newest_whole_notes_that_fit_say_where_things_stand() -> None:
    assert status_of(notes("The newest.", "y" * 240, "The oldest.")) == "The newest. The oldest."
    assert status_of(notes("x" * 300, "short")) == "x" * 250
    assert len(status_of(notes(*(f"Note number {n} of many about the work." for n in range(20))))) <= 250


def test_a_text_is_cut_at_a_sentence_or_at_a_word() -> None:
    assert cut(f"One. Two. {'word ' * 60}") == "One. Two."
    assert cut("word " * 60) == ("word " * 50).strip()
    assert cut("  short  one ") == "short one"


def test_a_models_status_may_be_short_and_make_nothing_up() -> None:
    told = notes("The budget is $500", "Ann reviews on Monday", "Tests pass")
    assert may_stand("The budget is $500; Ann reviews on Monday", told)
    assert not may_stand("The budget is $700", told)
    assert not may_stand("Bob reviews", notes("Ann reviews"))
    assert not may_stand("", told)
    assert not may_stand("tests " * 60, told)


def test_a_group_needs_two_that_overlap_and_a_text_that_lost_nothing() -> None:
    rows = [BACKENDS, MISTAKES]
    assert groups(rows, [((1, 2), BOTH)]) == [(rows, BOTH)]
    for places, text in (((1,), BACKENDS.fact), ((1, 1), BOTH), ((1, 9), BOTH), ((1, 2), BACKENDS.fact)):
        assert groups(rows, [(places, text)]) == []
    assert groups(rows, []) == []


def test_a_memory_is_distilled_once() -> None:
    rows = [BACKENDS, MISTAKES, Row("c", MISTAKES.fact)]
    assert [text for _, text in groups(rows, [((1, 2), BOTH), ((1, 3), BOTH)])] == [BOTH]


def test_other_trust_a_key_or_an_end_keep_memories_from_being_distilled() -> None:
    for other in (
        Row("b", MISTAKES.fact, trust=5), Row("b", MISTAKES.fact, conflict_key="slot:x"),
        Row("b", MISTAKES.fact, expires_at=datetime(2030, 1, 1, tzinfo=UTC)),
        Row("b", MISTAKES.fact, valid_to=datetime(2030, 1, 1, tzinfo=UTC)), Row("b", MISTAKES.fact, kept=True),
    ):  # fmt: skip
        assert groups([BACKENDS, other], [((1, 2), BOTH)]) == []


@pytest.mark.parametrize(("one", "two"), CHANGED)
def test_two_that_claim_different_things_are_never_distilled_into_one(one: str, two: str) -> None:
    for text in (one, two, f"{one}. {two}."):
        assert groups([Row("a", one), Row("b", two)], [((1, 2), text)]) == []


@pytest.mark.parametrize(("one", "two"), CHANGED)
def test_where_things_stand_is_never_known_from_what_claims_another_thing(one: str, two: str) -> None:
    assert not is_told(one, [Row("a", two)])
    assert not is_told(two, [Row("a", one)])
    assert is_told(one, [Row("a", two), Row("b", one)])


def test_a_new_status_takes_the_place_of_none_with_a_better_source_a_key_or_a_veto() -> None:
    told = [Note("n", "x", 2), Note("m", "y", 1)]
    earlier = [Row("a", "x", trust=1), Row("b", "x", trust=2), Row("c", "x", trust=3)]
    earlier += [Row("d", "x", trust=3, kept=True), Row("e", "x", trust=3, conflict_key="slot:x")]
    assert [one.memory_id for one in replaced(told, earlier)] == ["b", "c"]
