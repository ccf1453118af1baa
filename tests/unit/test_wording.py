"""The words of patterns: a text without them is one in which the pattern is not found."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

import pytest

from engram.english import attributes, courses, frames, moves, news, orders, phrases, subjects, worth
from engram.policies import get_policy
from engram.wording import _OFTEN, LATE, SOON, OfWords, Worded, worded, words_needed, words_of

DEMO = resources.files("engram") / "demo" / "conversation.jsonl"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"\b(?:hopes?|plans to|about to)\b", {"hope", "hopes", "plans", "about"}),
        (r"\bi wonder\b", {"wonder"}),
        (r"^rumou?r has it", {"rumor", "rumour"}),
        (r"\b(?:in (?:my|a) (?:\w+ )?dream)\b", {"dream"}),
        (r"\bit['’]s gone\b", {"gone"}),
        (r"(?<!not )\bmay (?:be|go)\b", {"may"}),
        (r"\bfoo[a-z]+ bar\b", {"bar"}),
        (r"(?i)\b(?:Ann|bob)\b", {"ann", "bob"}),
        (r"^user (?:(?:now|just) ){0,3}(?:sold|swapped) \w", {"sold", "swapped"}),  # the others need not be there
        (r"\btea(?: with milk)*\b", {"tea"}),
        (r"\b(?:tea )+milk\b", {"tea"}),
        (r"(?: tea)+milk", None),
        (r"\b(?:hot )*tea\b", {"tea"}),
        (r", (?=he|she)", None),
        (r", (?=(?:he|she) )", {"he", "she"}),
        (r"\b(?=tea )\w+ pot\b", {"pot"}),  # what is ahead may be what follows
        (r"hope", None),  # it is in "hopeful" too
        (r"\bfoo\w*", None),
        (r"\b(?:tea|\d+)\b", None),
        (r"\b(?:tea )?\w+", None),
        (r"x{2,}", None),
        (r"(?a)\btea\b", None),
        ("", None),
    ],
)
def test_the_words_that_a_pattern_needs(pattern: str, words: set[str] | None) -> None:
    assert words_needed(re.compile(pattern)) == (None if words is None else frozenset(words))


def test_a_pattern_of_more_wordings_than_are_told_apart_is_told_by_what_comes_first() -> None:
    some, others = ("|".join(f"{letter}{n}" for n in range(100, 200)) for letter in "ab")
    assert words_needed(re.compile(rf"\bif (?:{some}) (?:{others})\b")) == set(some.split("|"))


def test_of_two_lists_the_one_is_told_whose_words_are_said_seldom() -> None:
    often, seldom = "|".join(sorted(_OFTEN)), "|".join(f"b{n}" for n in range(100, 200))
    assert words_needed(re.compile(rf"\b(?:{often}) (?:{seldom})\b")) == set(seldom.split("|"))
    assert words_needed(re.compile(rf"\b(?:{seldom}) (?:{often})\b")) == set(seldom.split("|"))


def test_a_worded_pattern_finds_the_same_before_its_words_are_known_and_after() -> None:
    tea = worded(r"\b(?:tea|coffee) pot", re.IGNORECASE)
    for _ in range(SOON):
        assert [tea.search(text) is not None for text in ("my Tea pot", "my pot", "my tea cup")] == [True, False, False]
        assert [tea.match(text) is not None for text in ("coffee pot", "my coffee pot", "pot")] == [True, False, False]
        assert (tea.sub("cup", "a tea pot"), tea.sub("cup", "a pot")) == ("a cup", "a pot")
    assert [tea.may_be_in(text) for text in ("tea", "pot")] == [True, False]


def read_off(pattern: re.Pattern[str]) -> Worded:
    """A pattern that has been looked for in enough texts for its words to be read off it."""
    told = Worded(pattern)
    assert all(told.may_be_in("water") for _ in range(SOON))
    return told


def known(things: Sequence[Any], pattern_of: Callable[[Any], re.Pattern[str]] | None = None) -> OfWords[Any]:
    """Things that have been asked of enough texts for the words of their patterns to be read off them."""
    told = OfWords(things, pattern_of)
    assert all(list(told.asked_of("water")) == list(things) for _ in range(LATE))
    return told


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("keep", "\u212aeep"),
        ("skip", "\u017fkip"),
        ("skip", "SK\u0130P"),
        ("skip", "sk\u0131p"),
        ("tea", "“Tea”, s’il vous plaît"),
    ],
)
def test_a_letter_that_stands_for_another_hides_no_word(word: str, text: str) -> None:
    pattern = re.compile(rf"\b{word}\b", re.IGNORECASE)
    assert pattern.search(text)
    assert read_off(pattern).search(text, words_of(text.lower()))
    assert read_off(pattern).search(text)
    assert read_off(pattern).search(word.upper(), words_of(word))
    assert list(known([pattern]).asked_of(text)) == [pattern]
    assert not known([pattern]).asked_of("coffee")


def test_a_letter_of_no_ascii_in_a_word_that_folds_is_not_told() -> None:
    assert words_needed(re.compile(r"(?i)\bcafé\b")) is None
    assert words_needed(re.compile(r"\bcafé\b")) == {"café"}


def test_things_come_in_their_order_and_those_of_no_word_always() -> None:
    things = [("a", re.compile(r"^tea\b")), ("b", re.compile(r"\d")), ("c", re.compile(r"\b(?:tea|Milk)\b"))]
    told = known(things, lambda thing: thing[1])
    assert [name for name, _ in told.asked_of("Milk in tea")] == ["a", "b", "c"]
    assert [name for name, _ in told.asked_of("Milk")] == ["b", "c"]
    assert [name for name, _ in told.asked_of("water")] == ["b"]
    assert list(told) == things


def texts_of_the_demo() -> list[str]:
    lines = [json.loads(line)["content"] for line in DEMO.read_text(encoding="utf-8").splitlines()]
    dice = random.Random(7)
    words = [word for line in lines for word in subjects.plain(line).split()]
    return [
        *lines,
        *(subjects.plain(line) for line in lines),
        *(" ".join(dice.choices(words, k=dice.randint(2, 12))) for _ in range(1_000)),
    ]


def test_no_thing_is_left_out_whose_pattern_is_found() -> None:
    rooms = (attributes, moves, orders, phrases, worth)
    several = [one for room in rooms for one in vars(room).values() if isinstance(one, OfWords)]
    assert len(several) > 10
    texts, tried, all_of_them = texts_of_the_demo(), 0, 0
    for told in several:
        for _ in range(LATE):
            told.asked_of("")
        for text in texts:
            asked = list(told.asked_of(text))
            found = [thing for thing in told if told.pattern_of(thing).search(text)]
            assert [thing for thing in asked if told.pattern_of(thing).search(text)] == found, text
            tried, all_of_them = tried + len(asked), all_of_them + len(list(told))
    assert tried < all_of_them / 5


def test_no_pattern_is_found_where_none_of_its_words_stands() -> None:
    texts = [subjects.plain(text) for text in texts_of_the_demo()]
    rules = [
        rule
        for name in ("default", "legal", "coding_agent")
        for rule in (*get_policy(name).type_rules, *get_policy(name).slot_rules)
    ]
    rooms = (subjects, courses, frames, news, worth)
    patterns = [
        one for room in rooms for one in vars(room).values() if hasattr(one, "pattern") and hasattr(one, "finditer")
    ]
    patterns += [one.pattern for room in rooms for one in vars(room).values() if isinstance(one, Worded)]
    assert len(patterns) > 100
    patterns += [pattern for rule in rules for pattern in rule.compiled]
    told = {pattern for pattern in patterns if words_needed(pattern) is not None}
    assert len(told) > len(set(patterns)) / 2
    for pattern in told:
        one = read_off(pattern)
        for text in texts:
            assert (pattern.search(text) is None) == (one.search(text, words_of(text)) is None), (pattern, text)
