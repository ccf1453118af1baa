"""Pronouns: whom "he" and "she" stand for, where there can be no doubt."""

from __future__ import annotations

import pytest

from engram.english.pronouns import MAX_READ, apart, whole


@pytest.mark.parametrize(
    ("before", "said", "told"),
    [
        ("My brother lives in Oslo.", "He works as a chef.", "My brother works as a chef."),
        ("My sister Ana lives in Rome.", "She's a nurse.", "My sister Ana is a nurse."),
        ("Tom does the frontend.", "He lives in Kyiv.", "Tom lives in Kyiv."),
        ("Victoria plays the piano.", "She lives in Kyiv.", "Victoria lives in Kyiv."),
        ("My brother got a new job.", "He works from Rome.", "My brother works from Rome."),
        ("My manager is Petra.", "She works from Hamburg.", "My manager Petra works from Hamburg."),
        ("Our dog Rex is old.", "He's moved to the farm.", "Our dog Rex has moved to the farm."),
    ],
)
def test_who_was_just_spoken_of_is_put_in_the_place_of_the_pronoun(before: str, said: str, told: str) -> None:
    assert whole(before, said) == told


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("My brother lives in Oslo.", "She works as a chef."), ("My sister met Anna.", "She is a chef."),
        ("My friend Jo works with Sam.", "He's nice."), ("My boss told my wife off.", "She cried."),
        ("My neighbour has a dog.", "He barks a lot."), ("My wife and I live in Rome.", "She works at Fiat."),
        ("Anna and Tom live in Rome.", "He works at Fiat."), ("My kids love football.", "He scored."),
        ("Monday is busy.", "He lives in Kyiv."), ("I live in Rome.", "He works as a chef."),
        ("My brother met a guy.", "He lives in Rome."), ("My boss hired a designer.", "He works from Rome."),
        ("My brother adopted a beagle.", "He is called Rex."), ("My son saw a film.", "He dies at the end."),
        ("My teacher told me about the king.", "He was born in Ulm."), ("Surgery went well.", "He is at home."),
        ("Yesterday was great.", "He is in hospital."), ("Everything is fine.", "He is in hospital."),
        ("London was fun.", "He lives in Rome."), ("Netflix has a new show.", "He plays a doctor."),
        ("My brother lives in Oslo.", "They like it."), ("My brother lives in Oslo.", "It rains a lot."),
        ("My brother lives in Oslo." + " " * MAX_READ, "He works as a chef."),
    ],
)  # fmt: skip
def test_a_pronoun_that_may_be_of_another_stays_what_it_is(before: str, said: str) -> None:
    assert whole(before, said) is None


def test_two_clauses_about_one_are_two_sentences_about_them() -> None:
    said = "My dog Rex is a beagle, and he's scared of fireworks."
    assert apart(said) == ("My dog Rex is a beagle", "My dog Rex is scared of fireworks.")
    assert apart("I told my boss and he agreed.") == ()
    assert apart("My wife says she's tired.") == ()
    assert apart("My sister lives in Toronto and she loves it.") == ()
