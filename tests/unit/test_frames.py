"""Frames: the plain form of a statement, what it gives a value to, and when another value displaces that."""

from __future__ import annotations

import pytest

from engram.english import frames
from engram.english.attributes import Attribute
from engram.english.subjects import plain
from engram.policies import get_policy
from engram.policies.classify import Proposal, classify

DEFAULT = get_policy("default")


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("user has started going to work by tram", "user goes to work by tram"),
        ("user is back to going to work by bus", "user goes to work by bus"),
        ("user has been living in graz", "user lives in graz"),
        ("user's favourite band these days is blur", "user's favourite band is blur"),
        ("user is back with norbank as user's bank", "user's bank is norbank"),
        ("home for user is leeds", "user lives in leeds"),
        ("user works over at osprey", "user works at osprey"),
        ("user likes tea", "user likes tea"),
    ],
)
def test_a_statement_has_a_plain_form(said: str, means: str) -> None:
    assert frames.plainer(said) == means


@pytest.mark.parametrize(
    ("said", "sets"),
    [
        ("User uses Spotify for music", Attribute("~music service", "spotify")),
        ("User rents from Mr. Haines", Attribute("landlord", "mr. haines")),
        ("User's project is Atlas", Attribute("~project", "atlas")),
        ("User's usual coffee order is a cortado", Attribute("coffee order", "cortado")),
        ("User's friend is Bob", None),
        ("User's goal is to run a marathon", None),
        ("User's train is late", None),
        ("User likes sushi", None),
        ("User also uses Tidal for music", None),
        ("User meets Ann at Starbucks", None),
    ],
)
def test_a_frame_is_read_only_where_its_value_is_clear(said: str, sets: Attribute | None) -> None:
    assert frames.read(plain(said), said) == sets


def test_a_denial_takes_back_what_a_frame_said() -> None:
    made = classify(DEFAULT, Proposal("User stopped going to work by tram"))
    assert (made.conflict_key, made.negates) == ("slot:profile:commute", "tram")


@pytest.mark.parametrize(
    ("fact", "changed"),
    [
        ("User uses Tidal for music now", True),
        ("User uses Tidal for music instead", True),
        ("User rents from Mr. Abbas again", True),
        ("User uses Tidal for music", False),
        ("User still uses Tidal for music", False),
    ],
)
def test_a_change_is_said_by_words(fact: str, changed: bool) -> None:
    assert frames.says_of_a_change(fact) is changed
