"""A slip named in one sentence and put right in another."""

from __future__ import annotations

import pytest

from engram import slips


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
