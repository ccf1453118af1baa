"""No value is lost when one text takes the place of others (features W-5, Y-14 to Y-18)."""

import more_pairs
import pairs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.lifecycle.keeping import contains_words, invented, is_rewording, keeps, lost, may_be_reworded, says_all

CHANGED = (*pairs.CHANGED, *more_pairs.CHANGED, *more_pairs.LOOKALIKES)
LESS = (*pairs.LESS, *more_pairs.LESS)
PARTICLES = (
    ("User moved in with Ann", "User moved out with Ann"), ("User moved in with Ann", "User moved out with Ann in May"),
    ("User logged in at the mill", "User logged out at the mill"), ("User is up for it", "User is down for it"),
    ("Ann lives there", "Ann lives here"), ("User wants this one", "User wants that one"),
    ("Path is /etc/Foo", "Path is /etc/foo"), ("Branch is Main", "Branch is main"),
    ("/etc/Foo is the path", "/etc/foo is the path"), ("The branch Main is used", "The branch main is used every day"),
    ("User id is A1", "User id is a1"),
)  # fmt: skip
SWAPPED = (
    (("The cat chased the dog", "The cat chased the dog quietly"), "The dog chased the cat quietly"),
    (("Ann owns a red car in the city", "Ann owns a blue boat on the lake"),
     "Ann owns a red blue car boat in the city on the lake"),
    (("User prefers tea over coffee at the mill", "User prefers tea over coffee at the mill on rainy mornings"),
     "User prefers coffee over tea at the mill on rainy mornings"),
    (("Ann owns a red car in the city", "Ann owns a blue boat on the lake"),
     "Ann owns a blue car in the city and a red boat on the lake"),
    (("Server alpha listens on port 80 quietly", "Server beta listens on port 81 loudly"),
     "Server alpha listens on port 81 loudly and server beta listens on port 80 quietly"),
    (("Ann moved in quietly before the winter", "Ann moved in because rents were low"),
     "Ann moved out quietly before the winter because rents were low"),
)  # fmt: skip
EVERY = tuple(dict.fromkeys(fact for pair in (*CHANGED, *LESS, *pairs.EXTRA, *pairs.SAME) for fact in pair))


@pytest.mark.parametrize(("one", "two"), CHANGED)
def test_of_two_that_claim_different_things_none_stands_for_the_other(one: str, two: str) -> None:
    assert not says_all(one, two)
    assert not says_all(two, one)
    assert not may_be_reworded(one, two)


@pytest.mark.parametrize(("one", "two"), PARTICLES)
def test_of_two_that_differ_in_a_small_word_or_in_capitals_none_stands_for_the_other(one: str, two: str) -> None:
    assert not says_all(one, two)
    assert not says_all(two, one)
    assert not may_be_reworded(one, two)


@pytest.mark.parametrize(("one", "two"), [*CHANGED, *PARTICLES])
def test_no_wording_stands_for_two_that_claim_different_things(one: str, two: str) -> None:
    for text in (one, two, f"{one}. {two}."):
        assert not is_rewording((one, two), text)
        assert not is_rewording((one, two, one), text)


@pytest.mark.parametrize(("texts", "merged"), SWAPPED)
def test_a_wording_in_which_words_changed_places_stands_for_none(texts: tuple[str, ...], merged: str) -> None:
    assert not is_rewording(texts, merged)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("user prefers TypeScript", "User likes TypeScript"),
        ("In the morning the user drinks tea", "User drinks tea in the morning"),
        ("User has 3 kids", "User has three children"),
    ],
)
def test_what_is_only_put_otherwise_is_the_same(one: str, two: str) -> None:
    assert says_all(one, two) or says_all(two, one)


@pytest.mark.parametrize(("more", "less"), LESS)
def test_a_text_that_says_more_stands_for_one_that_says_less(more: str, less: str) -> None:
    assert says_all(more, less)
    assert may_be_reworded(less, more)


def test_a_preference_worded_otherwise_is_the_same() -> None:
    assert says_all("User prefers TypeScript", "User likes TypeScript")
    assert says_all("User likes TypeScript", "User prefers TypeScript")


def test_two_that_each_say_more_may_be_worded_as_one() -> None:
    one, two = "User prefers TypeScript for backend services", "User prefers TypeScript because types catch mistakes"
    assert not says_all(one, two)
    assert may_be_reworded(one, two)
    both = "User prefers TypeScript for backend services because types catch mistakes"
    assert is_rewording((one, two), both)
    assert not is_rewording((one, two), one)


@pytest.mark.parametrize(
    ("texts", "merged", "kinds"),
    [
        (("The budget is $500", "The budget is $700"), "The budget is $500 and $700", ()),
        (("The budget is $500", "The budget is $700"), "The budget is $700", ("quantity",)),
        (("The standup is on Monday",), "There is a standup", ("date",)),
        (("User flew from Paris to Rome",), "User flew from Rome to Paris", ("name",)),
        (("User runs v1.2 with Ann",), "User runs it with Ann", ("name",)),
        (("Ottawa is where the user lives",), "The user lives there", ("name",)),
        (("User does not like cilantro",), "User likes cilantro", ("polarity",)),
        (("Deploy before the freeze",), "Deploy and freeze", ("order",)),
        (("The track is 1000 m long",), "A track of 1 km", ()),
    ],
)
def test_what_a_merged_text_lost_is_named(texts: tuple[str, ...], merged: str, kinds: tuple[str, ...]) -> None:
    assert lost(texts, merged) == kinds


@pytest.mark.parametrize(
    ("merged", "kinds"),
    [
        ("User lives in Ottawa with Ann", ("name",)),
        ("User has lived in Ottawa for 3 years", ("quantity",)),
        ("User has lived in Ottawa since 2020", ("date",)),
        ("User does not live in Ottawa", ("polarity",)),
        ("User lives in Ottawa", ()),
    ],
)
def test_what_a_merged_text_made_up_is_named(merged: str, kinds: tuple[str, ...]) -> None:
    assert invented(("User lives in Ottawa",), merged) == kinds
    assert keeps(("User lives in Ottawa",), merged) == (not kinds)


def test_an_empty_text_keeps_nothing() -> None:
    assert not keeps(("User likes tea",), "  ")


def test_words_are_compared_as_stems_in_any_order() -> None:
    assert contains_words("The user enjoys walking her two dogs", "dog walks")
    assert not contains_words("dog walks", "The user enjoys walking her two dogs")


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(EVERY), st.sampled_from(EVERY))
def test_two_texts_side_by_side_keep_each_other(one: str, two: str) -> None:
    whole = f"{one}. {two}." if not one.endswith((".", "?", "!")) else f"{one} {two}"
    assert set(lost((one,), whole)) <= {"name", "order"}  # what a name begins may be read otherwise inside a text


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(EVERY))
def test_every_text_keeps_itself(one: str) -> None:
    assert lost((one,), one) == ()
    assert invented((one,), one) == ()
    assert says_all(one, one)


def test_in_doubt_neither_of_two_stands_for_the_other() -> None:
    one, two = "The flight goes from Paris to Rome", "The flight goes to Rome from Paris"
    assert not says_all(one, two)
    assert not says_all(two, one)
