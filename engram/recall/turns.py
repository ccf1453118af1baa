"""Turns: where something was said in a conversation, and whether it asks for an answer. Pure."""

from __future__ import annotations

from typing import Final

from engram.text import QUESTION_MARKS, has_question_mark

Place = tuple[str, int]
"""A stream, and the position of an event in it."""

ENDING: Final = 200  # characters at the end of what was said, in which a question waits for its answer
ASKING: Final = f"[{QUESTION_MARKS}]"  # what stands there, as an expression


def place_of(written: str | None) -> Place | None:
    """The place that a row tells as `stream:position`; None where it was said in no session."""
    if written is None:
        return None
    stream, _, position = written.rpartition(":")
    return stream, int(position)


def after(place: Place) -> Place:
    """The place right after another."""
    return place[0], place[1] + 1


def asks(said: str) -> bool:
    """Whether somebody who says this waits for an answer."""
    return has_question_mark(said[-ENDING:])
