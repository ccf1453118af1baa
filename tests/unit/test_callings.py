"""The name of somebody who was just spoken of, by a pronoun."""

from __future__ import annotations

import pytest

from engram.english import callings


@pytest.mark.parametrize(
    ("before", "said", "whole"),
    [
        ("We got a new cat last week.", "Her name is Pixel.", "I have a cat named Pixel"),
        ("I got a puppy yesterday!", "She's called Luna.", "I have a puppy named Luna"),
        ("We had a cat when I was little.", "Her name was Pixel.", "I had a cat named Pixel"),
        ("I've had a cat for years.", "Her name is Pixel.", "I have a cat named Pixel"),
        ("We had a baby boy in March.", "We named him Theo.", "I have a baby boy named Theo"),
        ("My wife passed away three years ago.", "Her name was Ellen.", "My wife's name is Ellen"),
        ("My cat is very old.", "His name is Milo.", "My cat's name is Milo"),
        ("My wife is a nurse at a clinic.", "Her name is Ellen.", "My wife's name is Ellen"),
        ("I have a new boss.", "His name is Omar Haddad.", "My boss's name is Omar Haddad"),
    ],
)
def test_it_is_the_name_of_the_one_who_was_spoken_of(before: str, said: str, whole: str) -> None:
    assert callings.whole(before, said) == whole


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("My sister met my wife.", "Her name is Ellen."),  # one of two
        ("My brother got a dog.", "His name is Rex."),
        ("My boss hired a new designer.", "He is called Tom."),  # one who came in by the way
        ("My neighbour has a toddler.", "She is called Mia."),
        ("My brother plays a wizard.", "His name is Gandalf."),
        ("I met a girl at the party.", "Her name is Ana."),  # nobody of the user's
        ("I got a haircut from a girl.", "Her name is Ana."),
        ("I got a call from a friend.", "His name is Tom."),
        ("We got a new sofa.", "Her name is Pixel."),
        ("We got a new cat.", "Her name is funny."),
        ("We got a new cat.", "Her name is Pixel and she bites."),
        ("We got a new cat.", "I like her."),
        ("", "Her name is Pixel."),
    ],
)
def test_of_two_or_of_nobody_it_is_no_name(before: str, said: str) -> None:
    assert callings.whole(before, said) is None
