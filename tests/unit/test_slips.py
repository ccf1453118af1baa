"""A slip named in one sentence and put right in another."""

from __future__ import annotations

import time

import pytest

from engram.english import slips


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ("Wait, did I say Bristol?", "I meant Glasgow, that's where I live.", ("Bristol", "Glasgow")),
        ("Sorry, I should have said vegetarian.", "I'm not vegan.", ("vegan", "vegetarian")),
        ("No, not Rome.", "It's Oslo.", ("Rome", "Oslo")),
        ("Did I say Rome?", "It rained all day.", None),
        ("Did I say that?", "I meant Oslo.", None),
        ("I meant well.", "It's late.", None),
        ("I said Rome.", "I meant Rome.", None),
    ],
)
def test_two_sentences_correct_together(first: str, second: str, both: tuple[str, str] | None) -> None:
    assert slips.meant(first, second) == both


@pytest.mark.parametrize(
    ("sentence", "slip"),
    [
        ("Haha no, not karate.", "karate"),
        ("Did I say Wednesday?", "Wednesday"),
        ("I said Sublime Text, but I've never used it.", "Sublime Text"),
        ("Not yet.", None),
        ("Did I say something?", None),
        ("I live in Rome.", None),
    ],
)
def test_a_slip_is_named_alone(sentence: str, slip: str | None) -> None:
    assert slips.named(sentence) == slip


@pytest.mark.parametrize(
    ("sentence", "meant"),
    [
        ("I live in Rome, sorry, I mean Milan.", "I live in Milan"),
        ("I moved to New York City last year, sorry, I mean San Francisco.", "I moved to San Francisco last year"),
        ("My dentist is Dr. Bell, sorry, I mean Dr. Hall.", "My dentist is Dr. Hall"),
        ("I work at Acme - oops, I meant Globex", "I work at Globex"),
        ("I'm 34, no wait, I mean 35.", "I'm 35"),
        ("My rent is 640 euros, sorry, I mean 650 euros.", "My rent is 650 euros"),
        ("My rent is 640 euros, oops, make that 650", "My rent is 650 euros"),
        ("I was born in March, sorry, I mean in May.", "I was born in May"),
        ("My favourite colour is blue, sorry, I mean green.", "My favourite colour is green"),
        ("My sister lives in Rome, sorry, I mean my brother lives in Rome.", "My brother lives in Rome"),
        ("Nina lost a tooth, sorry, I mean Otto lost a tooth.", "Otto lost a tooth"),
        ("My sister lives in Rome, sorry, I mean my brother", ""),
        ("I'm late, sorry, I mean it.", None),
        ("I love jazz, sorry, I mean I really like it", None),
        ("I drink my tea black, I mean with nothing in it.", None),
        ("I hate Mondays, sorry.", None),
        ("I'm sorry, I mean no harm.", None),
        ("We lost, sorry, I meant to tell you.", None),
        ("I quit, sorry, I mean no offence", None),
        ("I'm vegan, sorry, I mean what I said", None),
        ("I live in Rome, and I mean central Rome", None),
        ("Sorry, I mean Tuesday", None),
    ],
)
def test_a_slip_is_corrected_at_once(sentence: str, meant: str | None) -> None:
    assert slips.amended(sentence) == meant


@pytest.mark.parametrize("unit", [", ", "sorry, ", "a,", "Dr. ", "- no "])
def test_the_time_of_looking_for_a_slip_is_bounded(unit: str) -> None:
    begun = time.perf_counter()
    slips.amended((unit * 1_000)[:1_000])
    assert time.perf_counter() - begun < 0.5
