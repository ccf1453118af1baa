"""Memory behaviour: lives of the benchmark above a floor, and what points at what was said before."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engram import Engram
from engram.ids import new_id

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import behaviour
from histories import BANKS, lives

LIVES = 1  # of each bank; the same for everybody
LEAST = {
    "open": {
        "current_state": 0.9,
        "update_capture": 0.9,
        "no_op": 0.9,
        "retraction": 0.9,
        "time": 0.9,
        "abstention": 0.9,
    },
    "held_out": {"current_state": 0.6, "update_capture": 0.8, "no_op": 0.9, "retraction": 0.9, "time": 0.9},
    "fresh": {"current_state": 0.6, "update_capture": 0.4, "no_op": 0.5, "retraction": 0.9, "time": 0.7},
    "unseen": {"current_state": 0.6, "update_capture": 0.4, "no_op": 0.3, "abstention": 0.9},
}


@pytest.fixture
def engram(database_url: str) -> Iterator[Engram]:
    with Engram(database_url) as one:
        yield one


@pytest.mark.parametrize("bank", BANKS)
def test_a_few_lives_are_remembered_above_the_floor(engram: Engram, bank: str) -> None:
    found = behaviour.run(engram, lives(BANKS[bank], LIVES))
    shares = {score: found.share(score) for score in behaviour.SCORES}
    assert all(shares[score] >= least for score, least in LEAST[bank].items()), (shares, found.notes)
    assert shares["remembered"] == 1, found.notes
    assert found.hits["false_supersession"] == 0, found.notes


def test_lives_are_the_same_every_time() -> None:
    assert list(lives(BANKS["open"], 3)) == list(lives(BANKS["open"], 3))
    assert list(lives(BANKS["open"], 1)) != list(lives(BANKS["open"], 1, seed=7))


def told(engram: Engram, *said: str) -> Engram:
    door = engram.scoped(tenant_id=f"t-{new_id()}", user_id="ada")
    for one in said:
        door.remember(one, wait=30.0)
    return door


def test_a_correction_changes_the_value_it_names_and_nothing_else(engram: Engram) -> None:
    door = told(
        engram,
        "My favourite colour is indigo.",
        "My favourite film is Heat.",
        "No, it's violet, not indigo.",
        "No, it's raining, not snowing.",
    )
    assert door.recall("What is my favourite colour?").answer_text == "User's favourite colour is violet"
    assert door.recall("What is my favourite film?").answer_text == "User's favourite film is Heat"
    assert not [one for one in door.list_memories() if "raining" in one.fact and one.category != "verbatim"]


def test_going_back_to_a_value_makes_it_current_again(engram: Engram) -> None:
    door = told(engram, "My editor is Vim.", "I switched from Vim to Emacs.", "I switched back to Vim.")
    answer = door.recall("Which editor do I use?")
    assert answer.answer_text == "User's editor is Vim"
    assert [one.fact for one in answer.previous][:1] == ["User's editor is Emacs"]


def test_what_is_no_longer_used_or_to_be_forgotten_is_not_told_as_current(engram: Engram) -> None:
    door = told(
        engram,
        "My browser is Opera.",
        "My phone number is 555-0101.",
        "My sister uses Opera.",
        "I don't use Opera anymore.",
        "Forget my phone number.",
    )
    assert door.recall("Which browser do I use?").answer_text == "User does not use Opera anymore"
    assert "555-0101" not in door.recall("What is my phone number?").answer_text
    assert [one.fact for one in door.list_memories() if "sister" in one.fact and one.category != "verbatim"]
