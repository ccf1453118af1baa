"""Which of somebody's words speak of a change, and which of some facts they are about."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engram.recall import since

CHANGES = (
    "closed fineco, everything goes through bbva now",
    "Dr Farquhar has retired, so I've been put on young Dr Nwosu's list.",
    "Traded in the Skoda last week for a wee electric Renault.",
    "Isla has chucked the law and is training to be a primary teacher.",
    "We downgraded the DStv to Compact.",
    "Bheki turned six on Sunday.",
    "Sorry, I told you wrong about the statin, it's 40 mg I take, not 20.",
    "We've moved Manyano to Saturday afternoons permanently.",
    "Nice weather. Had to put Pepper down yesterday. Sold her bed, too.",
)
NONE = (
    "I might leave the bank next year.",
    "If we moved, I'd miss the garden.",
    "Have you closed the window now?",
    "My neighbour sold her Fiat.",
    "I'm thinking of a new phone.",
    "I was at the choir with Ada.",
    "I borrowed a bass from Leo.",
    "",
)


@pytest.mark.parametrize("said", CHANGES)
def test_a_sentence_that_tells_of_a_change_is_one(said: str) -> None:
    assert since.speaks_of_change(said)


@pytest.mark.parametrize("said", NONE)
def test_what_is_supposed_asked_or_of_others_is_none(said: str) -> None:
    assert not since.speaks_of_change(said)


@pytest.mark.parametrize(
    ("said", "told", "speaks"),
    [
        ("My brother switched to Vim.", "User uses Neovim", False),
        ("My brother Tom moved to HSBC.", "User's brother Tom works at Barclays", True),
        ("Mom passed on Sunday.", "User's mother lives in Broken Bow", True),
        ("Our neighbour's dog passed away.", "User has a dog called Biscuit", False),
        ("My sister-in-law's levothyroxine was lowered.", "User takes levothyroxine", False),
        ("My neurologist took me off sumatriptan.", "User takes sumatriptan", True),
        ("My dose is 20 mg now.", "User takes 10 mg of lisinopril", True),
    ],
)
def test_of_somebody_of_theirs_it_speaks_where_the_fact_does(said: str, told: str, speaks: bool) -> None:
    assert since.speaks_of_change(said, told) is speaks


def fact(memory_id: str, text: str, cosine: float) -> Any:
    return SimpleNamespace(memory_id=memory_id, fact=text, cosine=cosine)


def test_a_saying_is_about_what_it_shares_rare_words_and_meaning_with() -> None:
    known = [
        fact("bank", "User banks with Fineco", 0.3), fact("card", "User pays the rent from the bank", 0.35),
        fact("cat", "User has a cat called Miso", 0.0),
    ]  # fmt: skip
    assert since.about("closed fineco, bbva now", known) == {"bank"}
    assert since.about("Miso is no more", known) == {"cat"}
    assert since.about("closed the window", known[2:]) == set()
    assert since.about("closed the window", []) == set()


def test_of_two_facts_about_one_thing_a_saying_may_be_about_either() -> None:
    known = [fact("age", "User's brother Teun is 14", 0.28), fact("sport", "User's brother Teun plays hockey", 0.3)]
    assert since.about("Teun swapped hockey for judo", known) == {"sport"}
    assert since.about("Teun turned 15", known) == {"age", "sport"}
