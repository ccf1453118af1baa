"""Times as people type them: a date, an ISO time, or words such as "yesterday" and "3 days ago". Pure."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from typing import Final

from engram import inputs
from engram.english import windows
from engram.errors import InvalidInput

EXPECTED: Final = 'a date such as 2025-05-01, an ISO time, "yesterday" or "3 days ago"'


def read(text: str, *, now: datetime, tz: tzinfo, back: bool = False) -> datetime | None:
    """The moment a text names, of a day or a longer period its beginning; None where it names none.

    A length of time without "ago" is so long ago where one looks back, and no moment elsewhere.
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return in_words(" ".join(text.lower().split()), now, tz, back)
    return at if at.tzinfo else at.replace(tzinfo=tz)


def in_words(said: str, now: datetime, tz: tzinfo, back: bool) -> datetime | None:
    """The moment that small letters name: now, so long ago, or the beginning of a period."""
    if said == "now":
        return now
    length, ago = length_of(said.removesuffix(" ago")), said.endswith(" ago")
    if length is not None:
        return now - length if ago or back else None
    # "A week ago" is the whole week to the reader of questions: its Monday is not what was meant.
    return None if ago else beginning(said, now, tz)


def length_of(said: str) -> timedelta | None:
    """A length of time such as "2h" or "3 days", if it is one."""
    try:
        return inputs.duration(said)
    except InvalidInput:
        return None


def beginning(said: str, now: datetime, tz: tzinfo) -> datetime | None:
    """Where the one period begins that the words name and nothing beside."""
    found = windows.find(said, now=now, tz=tz)
    if found.window is None or found.notes or windows.cut(said, found.spans):
        return None
    return found.window[0]
