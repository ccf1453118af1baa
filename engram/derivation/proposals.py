"""What a deriver hands over: a proposed memory and the exact characters it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from engram.english.attributes import Echo
from engram.inputs import FACT_CHARACTERS, MAIN_CONTENT_CHARACTERS
from engram.values import MemoryType, Value

MAX_FACT: Final = FACT_CHARACTERS


@dataclass(frozen=True, slots=True)
class Proposed(Value):
    """A memory that a deriver proposes; the span counts code points of the event's content, half-open.

    `still` says that the sentence, whenever the thing began, also holds at the time of the event: "I moved to Toronto
    last month" begins last month, and yet it is news of the day it was said. `ahead` says the like of a day that is to
    come: "The launch is on May 3" is so until it is put off, which is said before that day. `echo` is what it says of a
    value that was said before, without naming what it is the value of. `main_content` is the whole of what is too long
    for a fact. `beside` are the characters of earlier messages that the words were read with: event, start and end.
    """

    fact: str
    char_start: int
    char_end: int
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    memory_type: MemoryType | None = None
    category: str | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    importance: float | None = None
    tags: tuple[str, ...] = ()
    ordinal: int = 0
    still: bool = False
    ahead: bool = False
    echo: Echo | None = None
    main_content: str | None = None
    beside: tuple[tuple[str, int, int], ...] = ()


def fitted(text: str) -> tuple[str, str | None]:
    """A text as a fact, and the whole of it where it is longer than a fact may be."""
    if len(text) <= MAX_FACT:
        return text, None
    return text[: word_end(text, 0, MAX_FACT)], text[:MAIN_CONTENT_CHARACTERS]


def word_end(content: str, start: int, limit: int) -> int:
    """The last place not after `limit` where no word is cut, or `limit` where there is none near."""
    for place in range(limit, max(start, limit - 200), -1):
        if content[place].isspace():
            return len(content[:place].rstrip())
    return limit
