"""The words of patterns: a text without them is one in which the pattern is not found."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from engram import courses, frames, subjects
from engram.policies import get_policy
from engram.wording import Worded, words_needed, words_of

DEMO = Path(subjects.__file__).parent / "demo" / "conversation.jsonl"


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


def test_a_letter_that_stands_for_another_hides_no_word() -> None:
    pattern = re.compile(r"\bkeep\b", re.IGNORECASE)
    text = "\u212aeep"  # the sign of Kelvin
    assert pattern.search(text)
    assert Worded(pattern).search(text, words_of(text.lower()))
    assert Worded(pattern).search("KEEP", words_of("keep"))


def test_no_pattern_is_found_where_none_of_its_words_stands() -> None:
    lines = [json.loads(line)["content"] for line in DEMO.read_text(encoding="utf-8").splitlines()]
    dice = random.Random(7)
    words = [word for line in lines for word in subjects.plain(line).split()]
    texts = [subjects.plain(line) for line in lines]
    texts += [" ".join(dice.choices(words, k=dice.randint(2, 12))) for _ in range(1_000)]
    rules = [
        rule
        for name in ("default", "legal", "coding_agent")
        for rule in (*get_policy(name).type_rules, *get_policy(name).slot_rules)
    ]
    patterns = [
        one for room in (subjects, courses, frames) for one in vars(room).values() if isinstance(one, re.Pattern)
    ]
    patterns += [pattern for rule in rules for pattern in rule.compiled]
    told = {pattern for pattern in patterns if words_needed(pattern) is not None}
    assert len(told) > len(set(patterns)) / 2
    for pattern in told:
        worded = Worded(pattern)
        for text in texts:
            assert (pattern.search(text) is None) == (worded.search(text, words_of(text)) is None), (pattern, text)
