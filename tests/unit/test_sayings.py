"""Which of somebody's words speak of a change, and which of some facts they are about."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engram.recall import sayings
from engram.scales import Scale

CHANGES = (
    "closed fineco, everything goes through bbva now",
    "Dr Farquhar has retired, so I've been put on young Dr Nwosu's list.",
    "Traded in the Skoda last week for a wee electric Renault.",
    "Isla has chucked the law and is training to be a primary teacher.",
    "We downgraded the DStv to Compact.",
    "Bheki turned six on Sunday.",
    "Sorry, I told you wrong about the statin, it's 40 mg I take, not 20.",
    "We've moved Manyano to Saturday afternoons permanently.",
    "The doctor said I'm not allergic to peanuts after all.",
    "Karen got fired.",
    "We just had our third child.",
    "My leg has healed.",
    "I paid Sam back.",
    "I got an extension until June 15.",
    "Nice weather. Had to put Pepper down yesterday. Sold her bed, too.",
)
NONE = (
    "I might leave the bank next year.",
    "I'm in Rome until Friday.",
    "If we moved, I'd miss the garden.",
    "Have you closed the window now?",
    "My neighbour sold her Fiat.",
    "I'm thinking of a new phone.",
    "I was at the choir with Ada.",
    "I borrowed a bass from Leo.",
    "I'll close Fineco, it's time to move now.",
    "I'm about to close Fineco now.",
    "I should have left Fineco.",
    "I haven't left Fineco.",
    "I never left Fineco.",
    "Nothing has changed at Fineco.",
    "Yesterday my cousin closed his Fineco account.",
    "Anna closed her Fineco account last week.",
    "She closed her account at Fineco.",
    "Both my brothers left Fineco.",
    "",
)


@pytest.mark.parametrize("said", CHANGES)
def test_a_sentence_that_tells_of_a_change_is_one(said: str) -> None:
    assert sayings.turns(said)


@pytest.mark.parametrize("said", NONE)
def test_what_is_supposed_asked_or_of_others_is_none(said: str) -> None:
    assert not sayings.turns(said)


@pytest.mark.parametrize(
    ("said", "told", "speaks"),
    [
        ("My brother switched to Vim.", "User uses Neovim", False),
        ("Our baby Leo was born yesterday.", "User is expecting a baby", True),
        ("My son started 4th grade.", "User's son is in 3rd grade", True),
        ("My son started 4th grade.", "User is in 3rd grade", False),
        ("The doctor said I'm not allergic to peanuts after all.", "User is allergic to peanuts", True),
        ("My brother Tom moved to HSBC.", "User's brother Tom works at Barclays", True),
        ("Mom passed on Sunday.", "User's mother lives in Broken Bow", True),
        ("Our neighbour's dog passed away.", "User has a dog called Biscuit", False),
        ("My sister-in-law's levothyroxine was lowered.", "User takes levothyroxine", False),
        ("My neurologist took me off sumatriptan.", "User takes sumatriptan", True),
        ("My dose is 20 mg now.", "User takes 10 mg of lisinopril", True),
        ("The meeting was moved.", "User moved to Munich", False),
        ("Our stand-up has been moved to Friday.", "User moved to Munich", False),
        ("Standup was moved to Friday.", "User moved to Munich", False),
        ("The company moved me to Berlin.", "User moved to Munich", True),
        ("I was moved to Berlin.", "User moved to Munich", True),
        ("Just moved to Berlin.", "User moved to Munich", True),
        ("The team moved to Linear.", "User's team moved to Jira", True),
        ("The Skoda was sold.", "User drives a Skoda", True),
    ],
)
def test_of_somebody_of_theirs_it_speaks_where_the_fact_does(said: str, told: str, speaks: bool) -> None:
    assert bool(sayings.turns(said, told)) is speaks


def test_only_the_sentences_that_tell_of_a_change_say_what_it_is_about() -> None:
    assert sayings.turns("I paid the rent from Fineco. We have a new kettle now.") == "We have a new kettle now."


def test_long_words_are_read_in_a_moment() -> None:
    assert sayings.turns("-'" * 50_000) == ""
    assert set(sayings.about("-'" * 50_000, [fact("one", "-" * 8_000, 0.0)])) == set()


def fact(memory_id: str, text: str, cosine: float) -> Any:
    return SimpleNamespace(memory_id=memory_id, fact=text, cosine=cosine)


def test_a_saying_is_about_what_it_shares_rare_words_and_meaning_with() -> None:
    known = [
        fact("bank", "User banks with Fineco", 0.3), fact("card", "User pays the rent from the bank", 0.35),
        fact("cat", "User has a cat called Miso", 0.0),
    ]  # fmt: skip
    assert set(sayings.about("closed fineco, bbva now", known)) == {"bank"}
    assert set(sayings.about("Miso is no more", known)) == {"cat"}
    assert set(sayings.about("closed the window", known[2:])) == set()
    assert set(sayings.about("closed the window", [])) == set()


def test_by_a_calibrated_model_cosines_are_judged_on_the_scale_of_all() -> None:
    narrow = Scale((0.0154 + 9) / 10, 0.00736, (0.7566 + 9) / 10)  # the same vectors in a cone
    near = [fact("cat", "User has a cat called Miso", 0.9), fact("bank", "User banks with Fineco", 0.94)]
    assert set(sayings.about("closed the window", near)) == {"cat", "bank"}
    assert set(sayings.about("closed the window", near[:1], narrow.told)) == set()
    assert set(sayings.about("closed the window", near, narrow.told)) == {"bank"}


def test_of_two_facts_about_one_thing_a_saying_may_be_about_either() -> None:
    known = [fact("age", "User's brother Teun is 14", 0.28), fact("sport", "User's brother Teun plays hockey", 0.3)]
    assert set(sayings.about("Teun swapped hockey for judo", known)) == {"sport"}
    assert set(sayings.about("Teun turned 15", known)) == {"age", "sport"}
