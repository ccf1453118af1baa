"""Requests for something new, and the wishes that bear on them."""

from __future__ import annotations

import pytest

from engram.english import wishes

REQUESTS = (
    "Can you suggest a film for tonight?",
    "Please write me a function that adds two numbers",
    "How do I clean the stone floor of an oven?",
    "What should I wear to the wedding?",
    "Any tips for the first week?",
    "Which lens could I use for birds?",
    "I'm looking for something to read on the train.",
    "What would a weekend in Lisbon cost me?",
    "What does a fixed rate mean?",
)
OF_THE_PAST = (
    "What did you say I should eat?",
    "How many days ago did I plant the garlic?",
    "Can you summarise how the trip was planned?",
    "Give me the history of my addresses",
    "Which camera do I own?",
    "Where do I live?",
    "When is my appointment?",
    "",
)
WISHES = (
    "Whenever you show me Python, please put type hints on it.",
    "I don\u2019t eat pork.",
    "She prefers small guesthouses.",
    "I want gardens and small bars, no queues.",
    "Never send me to a casino!",
    "Remember that dates go into the first column.",
)
OTHERS = (
    "We are back from the lake, for two weeks already.",
    "The tax office wrote again.",
    "Can you please help me with this?",
    "It rained on Tuesday and the roof held.",
    "",
)


@pytest.mark.parametrize("query", REQUESTS)
def test_what_asks_for_something_new_is_a_request(query: str) -> None:
    assert wishes.is_request(query)
    assert wishes.is_request(query.replace("'", "\u2019"))


@pytest.mark.parametrize("query", OF_THE_PAST)
def test_what_asks_for_what_was_said_or_is_so_is_none(query: str) -> None:
    assert not wishes.is_request(query)


@pytest.mark.parametrize("said", WISHES)
def test_what_somebody_likes_or_wants_every_time_is_a_wish(said: str) -> None:
    assert wishes.is_wish(said)


@pytest.mark.parametrize("said", OTHERS)
def test_what_happened_is_no_wish(said: str) -> None:
    assert not wishes.is_wish(said)


def test_only_so_much_of_a_text_is_read() -> None:
    long = "The roof held. " * 1_000
    assert not wishes.is_wish(f"{long} I never eat pork.")
    assert wishes.is_wish(f"I never eat pork. {long}")
