"""Whether a fact tells of another thing of a sort than the one a question names."""

from __future__ import annotations

import pytest
from growth import assert_linear

from engram.recall.sorts import is_of_another, lacks_the_head


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("When is pizza night?", "Poker night is at Hank's on the first Saturday of the month"),
        ("When is the design meeting?", "The budget meeting is on Monday at 3"),
        ("What's my account number?", "User's phone number is 555-1234"),
        ("What is my debit card PIN?", "User's credit card PIN is 9932"),
        ("What does the production server run?", "The staging server runs Debian"),
        ("How much is my library membership?", "User's gym membership costs 30 a month"),
    ],
)
def test_another_of_the_same_sort(question: str, fact: str) -> None:
    assert is_of_another(question, fact)


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("When is our anniversary?", "User's wedding anniversary is June 18"),  # it names no sort
        ("When is the Lumen kickoff call?", "The kickoff call with Lumen is on the 12th"),
        ("What is my debit card PIN?", "User's PIN is 9932"),
        ("When is the next meeting?", "The budget meeting is on Monday"),
        ("When is the budget meeting?", "The meeting about the budget is on Monday"),
        ("How do I set up the Python environment?", "User sets up the test environment with conda"),
        ("Which of my kids farms with me?", "User's daughter farms with User"),
        ("", ""),
    ],
)
def test_the_same_or_one_that_may_be(question: str, fact: str) -> None:
    assert not is_of_another(question, fact)


def test_what_a_thing_is_of_tells_nothing_of_it() -> None:
    assert lacks_the_head("What's the door pin?", "The door is green")
    assert lacks_the_head("What is my blood group?", "User's blood pressure is fine")
    assert not lacks_the_head("What is my work laptop?", "User has a ThinkPad for work")  # told by its name
    assert not lacks_the_head("What's the door pin?", "The pin is on the card")
    assert not lacks_the_head("What's my pin?", "The door is green")


@pytest.mark.parametrize("unit", ["is my poker ", "the poker night ", "when is the "])
def test_long_texts_take_no_longer_than_they_are_long(unit: str) -> None:
    assert_linear(lambda said: is_of_another(f"When {said}", said), unit, 300)
