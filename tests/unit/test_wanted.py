"""What a question asks for of something that has a name, and facts of that name that tell nothing of it."""

from __future__ import annotations

import pytest
from growth import assert_linear

from engram.recall.wanted import of_a_name

OTHERS = [
    "Castor is on the Gold plan with 30 seats", "Castor's budget is 9,000 euros", "User's contact at Castor is Ines",
    "Castor's contract ends in May", "Castor uses Zendesk", "Liv is allergic to bees",
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("Which plan is Pollux on?", "Pollux uses Zendesk"),
        ("How many seats does Pollux have?", "Pollux pays 300 a month"),
        ("When does Pollux's contract end?", "Pollux's trial began in March"),
        ("What's Pollux's budget?", "Castor's budget is 9,000 euros"),
        ("What's Pollux's budget?", "Pollux is in Turin"),
        ("Who is the contact at Pollux?", "Pollux cancelled"),
        ("What CRM does Pollux use?", "Pollux is in Turin"),
        ("What is Jonas allergic to?", "Jonas is in first grade"),
    ],
)
def test_a_name_alone_tells_nothing_of_what_is_told_of_others(question: str, fact: str) -> None:
    wanted = of_a_name(question)
    assert wanted is not None
    assert wanted.is_known_by_its_word([*OTHERS, fact])
    assert not wanted.may_be_told_by(fact)


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("Which plan is Pollux on?", "Pollux moved to the Gold plan"),
        ("What CRM does Pollux use?", "Pollux works with Salesforce"),
        ("What CRM does Pollux use?", "Pollux uses something of its own"),
        ("Who is the contact at Pollux?", "Ines is User's contact there"),
        ("What is Jonas allergic to?", "Jonas cannot eat nuts"),
        ("Which plan is my sister Ana on?", "User's sister is on the Gold plan"),
    ],
)
def test_what_has_a_word_of_it_may_tell(question: str, fact: str) -> None:
    wanted = of_a_name(question)
    assert wanted is None or wanted.may_be_told_by(fact)


def test_what_is_told_of_nobody_by_its_word_may_be_told_by_other_words() -> None:
    wanted = of_a_name("Which instrument does Mia play?")
    assert wanted is not None
    assert not wanted.is_known_by_its_word(["Mia has violin lessons", "Castor is on the Gold plan"])


@pytest.mark.parametrize(
    "question", ["Which plan am I on?", "Where is Pollux?", "Who is Pollux?", "What do I have on Friday?", ""]
)
def test_other_questions_want_nothing_of_a_name(question: str) -> None:
    assert of_a_name(question) is None


@pytest.mark.parametrize("unit", ["which plan ", "Pollux ", "the contact at ", "Pollux's plan "])
def test_long_texts_take_no_longer_than_they_are_long(unit: str) -> None:
    assert_linear(of_a_name, unit, 300)
