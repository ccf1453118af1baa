"""Feasts with a name, as days of a year: Christmas, Halloween, Easter; and what days and months are called. Pure.

Christmas is 25 December and New Year 1 January. Easter is that of the western churches, Thanksgiving that of the
United States: what is kept on different days in different countries under one name, as Mother's Day is, is not here.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

FORM: Final = (
    r"(?P<feast>(?:christmas|xmas)(?: eve| day)?|boxing day|new year(?:'?s(?: eve| day)?)?|halloween|"
    r"valentine'?s(?: day)?|april fools'?(?: day)?|(?:ash wednesday|palm sunday|good friday|pentecost)|"
    r"easter(?: sunday| monday)?|thanksgiving(?: day)?)(?![\w'])"
)
"""What a feast is called, in small letters."""
UNNAMED: Final = FORM.replace("?P<feast>", "?:")
"""The same without the name of its group, for a pattern that has the feast only pass."""
WEEKDAY: Final = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
MONTHS: Final = (
    "january|february|march|april|may|june|july|august|september|october|november|december"  # to stand among others
)
SHORT_MONTHS: Final = "jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
MEALS: Final = r"(?:lunch|dinner|breakfast|brunch|coffee|drinks|tea)"
EVENTS: Final = (
    r"(?:appointment|meeting|call|interview|check-?up|haircut|flight|train|exam|test|session|lesson|class|rehearsal|"
    r"viewing|date|party|concert|match|game|workshop|webinar|demo|review|presentation|massage|mri|scan|surgery|evening|ceremony|recital|graduation|wedding|funeral|barbecue|bbq|picnic|gig|"
    r"screening|vaccination|x-ray|inspection|audit)"
)
"""What has its day and hour: it may be put off, or be off."""

_FIXED: Final = {
    "christmas eve": (12, 24), "christmas": (12, 25), "boxing": (12, 26), "new years eve": (12, 31),
    "new years": (1, 1), "new year": (1, 1), "valentines": (2, 14), "april fools": (4, 1), "halloween": (10, 31),
}  # fmt: skip
_AFTER_EASTER: Final = {
    "ash wednesday": -46, "palm sunday": -7, "good friday": -2, "easter": 0, "easter sunday": 0, "easter monday": 1,
    "pentecost": 49,
}  # fmt: skip
_AROUND: Final = {"christmas": (1, 1), "easter": (2, 1), "new years": (1, 0), "new year": (1, 0)}


def day(name: str, year: int) -> date:
    """The day of a feast in a year; ValueError where the calendar has none.

    >>> day("easter", 2025)
    datetime.date(2025, 4, 20)
    """
    key = _key(name)
    if key in _FIXED:
        return date(year, *_FIXED[key])
    if key == "thanksgiving":
        first = date(year, 11, 1)
        return first + timedelta(days=(3 - first.weekday()) % 7 + 21)
    from dateutil.easter import easter

    sunday: date = easter(year)
    return sunday + timedelta(days=_AFTER_EASTER[key])


def moves(name: str) -> bool:
    """Whether a feast falls on another date every year."""
    return _key(name) not in _FIXED


def around(name: str) -> tuple[int, int]:
    """How many days before and after its own a feast is kept: Christmas is 24 to 26 December, Easter four days."""
    return (0, 0) if name.endswith(" day") else _AROUND.get(_key(name), (0, 0))


def _key(name: str) -> str:
    return name.replace("'", "").replace("xmas", "christmas").removesuffix(" day")
