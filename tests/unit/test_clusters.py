"""Groups of memories about one thing, and the text that stands for one (features Y-16)."""

from datetime import UTC, datetime

import more_pairs
import pairs
import pytest

from engram.lifecycle.clusters import Group, find, may_be_summarised, may_tell, text_of
from engram.lifecycle.pairing import Pair, Row
from engram.lifecycle.thresholds import Thresholds

AT = Thresholds()


def rows(*facts: str) -> dict[str, Row]:
    return {f"m{place}": Row(f"m{place}", fact) for place, fact in enumerate(facts)}


def every_pair(held: dict[str, Row], similarity: float) -> list[Pair]:
    ids = sorted(held)
    return [Pair(one, two, similarity) for place, one in enumerate(ids) for two in ids[place + 1 :]]


def test_three_near_that_share_words_are_a_group_and_two_are_none() -> None:
    held = rows("Ann likes green tea", "Ann likes black tea", "Ann likes white tea")
    (group,) = find(held, every_pair(held, 0.86), AT)
    assert {row.memory_id for row in group.members} == set(held)
    assert (group.mean, group.deviation, group.redundant) == (pytest.approx(0.86), pytest.approx(0), False)
    assert find({one: held[one] for one in ("m0", "m1")}, [Pair("m0", "m1", 0.99)], AT) == []


def test_the_distance_and_the_shared_words_both_count() -> None:
    held = rows("Ann likes green tea", "Ann likes black tea", "Ann likes white tea")
    assert find(held, every_pair(held, 0.849), AT) == []
    apart = rows("Ann likes green tea", "The sea is wide", "Cars rust")
    assert find(apart, every_pair(apart, 0.99), AT) == []


def test_without_vectors_three_tenths_of_the_words_are_enough() -> None:
    held = rows("ann green tea", "ann green", "ann black green cup")  # 2/3, 2/5 and 2/4 are shared
    assert len(find(held, every_pair(held, 0.0), AT, by_words=True)) == 1
    apart = rows("one two three", "one four five", "one six seven")  # 1/5
    assert find(apart, every_pair(apart, 0.0), AT, by_words=True) == []


@pytest.mark.parametrize(
    ("alike", "redundant"), [((0.95, 0.95, 0.95), True), ((0.9, 0.99, 0.95), False), ((0.94,) * 3, False)]
)
def test_a_group_is_redundant_where_its_pairs_hardly_differ(alike: tuple[float, ...], redundant: bool) -> None:
    held = rows("Ann likes green tea", "Ann likes black tea", "Ann likes white tea")
    pairs = [Pair(*ids, near) for ids, near in zip((("m0", "m1"), ("m0", "m2"), ("m1", "m2")), alike, strict=True)]
    assert find(held, pairs, AT)[0].redundant is redundant


def test_the_densest_is_the_seed_and_a_memory_is_in_one_group() -> None:
    held = rows(*(f"Ann likes tea number {n}" for n in range(6)))
    star = [Pair("m0", f"m{n}", 0.9) for n in range(1, 4)] + [Pair("m3", "m4", 0.9), Pair("m3", "m5", 0.9)]
    (group,) = find(held, star, AT)
    assert group.medoid.memory_id == "m0"
    assert {row.memory_id for row in group.members} == {"m0", "m1", "m2", "m3"}


def test_there_are_at_most_ten_groups() -> None:
    held = {f"g{g:02}{n}": Row(f"g{g:02}{n}", f"group {g} likes tea {n}") for g in range(12) for n in range(3)}
    pairs = [Pair(f"g{g:02}{a}", f"g{g:02}{b}", 0.9) for g in range(12) for a in range(3) for b in range(a + 1, 3)]
    assert len(find(held, pairs, AT)) == 10


def test_a_summary_tells_every_value_once() -> None:
    held = rows("The budget is $500", "The budget is $700", "The budget of the trip is $500", "The budget is $500")
    (group,) = find(held, every_pair(held, 0.97), AT)
    text, members = text_of(group)
    assert len(members) == 4
    assert text.count("$700") == 1
    assert text.count("The budget is $500") == 1


def test_words_of_different_sentences_do_not_add_up_to_what_was_said() -> None:
    held = rows("User likes tea", "User hates coffee", "User likes coffee")
    (group,) = find(held, every_pair(held, 0.97), AT)
    assert "User likes coffee" in text_of(group)[0]


def test_what_does_not_fit_in_stays_by_itself() -> None:
    held = rows("Ann likes tea", *(f"Ann likes tea {n} {'x' * 1_500}{n}" for n in range(3)))
    (group,) = find(held, every_pair(held, 0.97), AT)
    text, members = text_of(group)
    assert len(text) <= 4_000
    assert len(members) == 3


def test_a_memory_with_a_key_or_an_end_takes_no_part() -> None:
    assert may_be_summarised(Row("a", "x"))
    assert not may_be_summarised(Row("a", "x", conflict_key="slot:city"))
    for name in ("expires_at", "valid_to"):
        assert not may_be_summarised(Row("a", "x", **{name: datetime(2030, 1, 1, tzinfo=UTC)}))  # type: ignore[arg-type]


def test_what_the_policy_keeps_is_not_summarised() -> None:
    assert not may_be_summarised(Row("a", "x", kept=True))


@pytest.mark.parametrize(("one", "two"), [*pairs.CHANGED, *more_pairs.CHANGED, *more_pairs.LOOKALIKES])
def test_no_words_of_a_model_tell_a_changed_pair(one: str, two: str) -> None:
    members = [Row("a", one), Row("b", two), Row("c", one)]
    assert not any(may_tell(members, text) for text in (one, two, f"{one}. {two}."))


@pytest.mark.parametrize(("one", "two"), [*pairs.CHANGED, *more_pairs.CHANGED, *more_pairs.LOOKALIKES])
def test_a_summary_tells_both_of_a_changed_pair(one: str, two: str) -> None:
    text, members = text_of(Group((Row("a", one), Row("b", two), Row("c", one)), 0.99, 0.0, True))
    assert len(members) == 3
    assert one in text
    assert two in text
