"""What of a user's health is pinned: whoever cooks, advises or orders for them has to know it at all times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from engram import Engram
from engram.ids import new_id

# What the user says of themselves, and a word of what has to be pinned.
OWN: Final = (
    ("I can't eat shellfish.", "shellfish"),
    ("I cannot eat gluten.", "gluten"),
    ("Shellfish makes me sick.", "shellfish"),
    ("Dairy makes me ill.", "dairy"),
    ("I break out in hives from penicillin.", "penicillin"),
    ("Penicillin gives me hives.", "penicillin"),
    ("I'm intolerant to lactose.", "lactose"),
    ("I'm lactose intolerant.", "lactose"),
    ("I'm celiac.", "celiac"),
    ("I have coeliac disease.", "coeliac"),
    ("I have a peanut allergy.", "peanut"),
    ("I get anaphylaxis from bee stings.", "bee"),
    ("I carry an EpiPen for my nut allergy.", "nut"),
    ("I'm not supposed to eat grapefruit because of my medication.", "grapefruit"),
    ("Ibuprofen makes my throat swell up.", "ibuprofen"),
    ("I react badly to latex.", "latex"),
    ("My body can't handle lactose.", "lactose"),
    ("I have type 1 diabetes.", "diabetes"),
    ("I'm diabetic.", "diabetic"),
    ("Strawberries give me a rash.", "strawberries"),
    ("I can't have dairy.", "dairy"),
    ("I can't tolerate aspirin.", "aspirin"),
    ("I can't eat gluten anymore.", "gluten"),
    ("I can't have peanuts.", "peanuts"),
    ("I can't drink milk.", "milk"),
    ("I get a rash from nickel.", "nickel"),
    ("I have a gluten intolerance.", "gluten"),
    ("I was diagnosed with coeliac disease last year.", "coeliac"),
    ("I suffer from epilepsy.", "epilepsy"),
    ("I'm a type 2 diabetic.", "diabetic"),
    ("I have asthma.", "asthma"),
    ("btw i cant eat dairy", "dairy"),
    ("Just so you know, I'm gluten intolerant.", "gluten"),
)
# What says nothing of the user's health.
OTHER: Final = (
    ("My son can't eat shellfish.", "shellfish"),
    ("My boss can't eat gluten.", "gluten"),
    ("Cats can't eat chocolate.", "chocolate"),
    ("Rollercoasters make me sick.", "rollercoaster"),
    ("My job makes me sick.", "job"),
    ("I can't eat another bite.", "bite"),
    ("I can't eat before noon.", "noon"),
    ("My daughter is celiac.", "celiac"),
    ("My wife is lactose intolerant.", "lactose"),
    ("Peanuts make my son sick.", "peanut"),
    ("Anna can't eat nuts.", "nuts"),
    ("My dog can't have chocolate.", "chocolate"),
    ("I can't have meetings before 10.", "meetings"),
    ("I can't take the bus.", "bus"),
    ("I can't handle stress.", "stress"),
    ("Your jokes make me sick.", "jokes"),
    ("I can't eat out on weekdays.", "weekdays"),
    ("Mondays give me hives.", "mondays"),
    ("I can't eat today, I'm fasting.", "eat"),
    ("I'm afraid I can't have children.", "children"),
    ("I can't touch the legacy code.", "legacy"),
    ("Can I eat shellfish?", "shellfish"),
    ("If I can't eat shellfish, what should I order?", "shellfish"),
)


@pytest.fixture(scope="module")
def engram(database_url: str) -> Iterator[Engram]:
    with Engram(database_url) as one:
        yield one


def pinned(engram: Engram, *said: str) -> str:
    door = engram.scoped(tenant_id=f"t-{new_id()}", user_id="ada")
    for one in said:
        door.remember(one, wait=30.0)
    return " | ".join(one.fact.casefold() for one in door.recall_critical())


@pytest.mark.parametrize(("said", "word"), OWN)
def test_what_a_user_must_not_eat_or_take_and_lasting_illness_is_pinned(engram: Engram, said: str, word: str) -> None:
    assert word in pinned(engram, said)


@pytest.mark.parametrize(("said", "word"), OTHER)
def test_what_others_must_not_eat_and_figures_of_speech_are_not(engram: Engram, said: str, word: str) -> None:
    assert word not in pinned(engram, said)


def test_what_may_be_eaten_again_is_pinned_as_such(engram: Engram) -> None:
    held = pinned(engram, "I can't eat shellfish.", "I can eat shellfish again.")
    assert held == "user can eat shellfish again"
    held = pinned(engram, "I'm allergic to nuts.", "I can't eat shellfish.", "I'm not allergic to nuts after all.")
    assert "cannot eat shellfish" in held
