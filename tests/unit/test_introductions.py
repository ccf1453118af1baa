"""Introductions: what somebody says of themselves in one breath, taken apart."""

from __future__ import annotations

import pytest

from engram.english.introductions import MAX_READ, apart


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "I'm Anna, 34, a nurse from Leeds.",
            ("My name is Anna", "I'm 34 years old", "I'm a nurse", "I'm from Leeds"),
        ),
        ("Hey, Chris here.", ("My name is Chris",)),
        ("I'm 30, single and live in Kyiv.", ("I'm 30 years old", "I'm single", "I live in Kyiv.")),
        ("I'm German, 45, and live in Bonn.", ("I'm German", "I'm 45 years old", "I live in Bonn.")),
        (
            "I'm Leo, a 29 year old engineer from Turin, and I work at Fiat.",
            ("My name is Leo", "I'm 29 years old", "I'm an engineer", "I'm from Turin", "I work at Fiat."),
        ),
        ("I'm 5'11\", 82 kg, and I run.", ("I'm 5'11\"", "I weigh 82 kg", "I run.")),
        ("I'm Eva, a teacher based in New York", ("My name is Eva", "I'm a teacher", "I'm based in New York")),
        (
            "I live with Tom and our two kids, Mia (6) and Ben (3).",
            (
                "I live with Tom and our two kids", "My kids are called Mia and Ben", "Mia is 6 years old",
                "Ben is 3 years old",
            ),
        ),
        ("I have three dogs: Rex, Bo and Lu.", ("I have three dogs", "My dogs are called Rex, Bo and Lu")),
    ],
)  # fmt: skip
def test_an_introduction_says_each_of_its_things_alone(said: str, told: tuple[str, ...]) -> None:
    assert apart(said) == told


@pytest.mark.parametrize(
    "said",
    [
        "I'm Anna, not Anne.", "I'm in Rome, Italy.", "Nobody here.", "Hey, Same here!",
        "I'm a bit tired, a bit hungry.", "I'm Gemini, a typical air sign.",
        "I'm a nurse, and I love it.", "My name is Raj Patel and I work at Monzo.", "I'm 20, 30 minutes late",
        "I'm Monday, Tuesday and Friday at the office.", "This is Bob, a friend of mine.", "I'm allergic to nuts.",
        "We have two girls, Ana and Eva, who love football.", "My kids Mia and Ben love football.",
        "I'm Anna, 34, " + "a nurse, " * MAX_READ, "Nurse here!", "Lunch here.", "Hi, Newbie here.", "I'm 5, 6 and 7",
        "I'm Deaf, a mother.", "I'm Gemini, a vegetarian.", "If we have twins, Tom and Anna.",
        "I wish I have two kids, Tom and Anna.", "The neighbours said we have two dogs, Rex and Max.",
        "I don't think we have dogs: Rex and Max.", "Do we have twins, Tom and Anna?",
        "I dream that I have dogs, Al and Bo.",
    ],
)  # fmt: skip
def test_what_introduces_nobody_or_is_not_understood_stays_whole(said: str) -> None:
    assert apart(said) == ()
