"""What a deriver hands over: a proposed memory and the exact characters it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from engram.attributes import Echo
from engram.values import MemoryType, Value


@dataclass(frozen=True, slots=True)
class Proposed(Value):
    """A memory that a deriver proposes; the span counts code points of the event's content, half-open.

    `still` says that the sentence, whenever the thing began, also holds at the time of the event: "I moved to Toronto
    last month" begins last month, and yet it is news of the day it was said. `ahead` says the like of a day that is to
    come: "The launch is on May 3" is so until it is put off, which is said before that day. `echo` is what it says of a
    value that was said before, without naming what it is the value of.
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
