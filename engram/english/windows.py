"""Phrases of time in a question, as half-open windows in a time zone at a moment. Pure.

A phrase is made of atoms, each a period ("last week", "5 March", "Q2 2024", "3 days ago") or a piece of one ("the last
week of May"), and of words that bind them: "since", "before", "after", "until", "between … and …", "from … to …".
Absolute dates and calendar arithmetic are dateutil's; which period a phrase means is ours. What has several meanings,
or none, makes no window but a note.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, Final

from engram.english import feasts, numerals, titles, verbs
from engram.inputs import END_YEAR, FIRST_YEAR
from engram.regex import regex
from engram.values import Window

MOST_READ: Final = 2_000  # characters of a question that are looked at
SHOWN: Final = 60  # characters of a phrase that a note quotes
RECENT: Final = timedelta(days=14)  # what "recently" favours


@dataclass(frozen=True, slots=True)
class Found:
    """The window a text names, where its words stand (character positions), and what else it says about time."""

    window: Window | None = None
    spans: tuple[tuple[int, int], ...] = ()
    recent: bool = False
    notes: tuple[str, ...] = ()


def find(text: str, *, now: datetime, tz: tzinfo = UTC) -> Found:
    """The first window that a text names, seen at `now` from `tz`; never raises, whatever the text."""
    plain = fold(titles.blanked(text[:MOST_READ]))
    clock = _Clock.at(now, tz, plain)
    recent = _RECENT.search(plain)
    spans, notes, window = [] if recent is None else [recent.span()], [], None
    for phrase in _phrases(plain, clock):
        if phrase.note is not None:
            notes.append(f"{phrase.note}: {plain[phrase.start : phrase.end].strip()[:SHOWN]}")
        elif phrase.window is None:
            continue
        elif window is None:
            window = phrase.window
            spans.append((phrase.start, phrase.end))
        else:
            notes.append(f"only the first time named counts, not: {plain[phrase.start : phrase.end].strip()[:SHOWN]}")
    return Found(window, tuple(sorted(spans)), recent is not None, tuple(dict.fromkeys(notes)))


def cut(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    """A text without the phrases that `find` found in it."""
    for start, end in sorted(spans, reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return re.sub(r"\s+([?.!,;:])", r"\1", " ".join(text.split())).strip(" ,;:")


def fold(text: str) -> str:
    """The text in small letters, typographic and wide characters made plain, each in its place: no position moves."""
    return text.lower() if text.isascii() else "".join(map(_folded, text))


def _folded(char: str) -> str:
    if char in _PLAIN:
        return _PLAIN[char]
    if char.isspace():
        return " "
    wide = unicodedata.normalize("NFKC", char)
    low = (wide if len(wide) == 1 else char).casefold()
    return low if len(low) == 1 else char


_PLAIN: Final = {"’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-", "–": "-", "—": "-", "−": "-"}

# Words ---------------------------------------------------------------------------------------------------------------

_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NAMES: Final = frozenset(("april", "may", "june", "august", "jan"))  # people are called so too
_TO_THIRTY_FIRST = (
    "first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh, twelfth, thirteenth, "
    "fourteenth, fifteenth, sixteenth, seventeenth, eighteenth, nineteenth, twentieth, twenty-first, twenty-second, "
    "twenty-third, twenty-fourth, twenty-fifth, twenty-sixth, twenty-seventh, twenty-eighth, twenty-ninth, thirtieth, "
    "thirty-first"
)
_NTH: Final = tuple(_TO_THIRTY_FIRST.split(", "))
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_PARTS: Final = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 29)}
_UNITS: Final = {
    "second": "seconds", "sec": "seconds", "minute": "minutes", "min": "minutes", "hour": "hours", "hr": "hours",
    "day": "days", "week": "weeks", "wk": "weeks", "fortnight": "fortnights", "month": "months", "quarter": "quarters",
    "year": "years", "yr": "years", "decade": "decades",
}  # fmt: skip
_SHORT_UNITS: Final = {"h": "hours", "d": "days", "w": "weeks"}
_FEW: Final = {"few": (2, 5), "several": (3, 7)}

_MONTH = rf"(?P<month>{feasts.MONTHS}|{feasts.SHORT_MONTHS})\b\.?"
_WEEKDAY = (
    r"(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
    r"mon|tues|tue|wed|thurs|thur|thu|fri|sat|sun)\b"
)
_YEAR = r"(?P<year>[0-9]{4})(?![0-9a-z]|[.,:/-][0-9]|%)"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?(?![0-9]|[.:/][0-9]|,[0-9]{1,3}\b|%|\w)"
_PART = r"(?P<part>morning|afternoon|evening|night)"
_IN_PART = rf"(?:,? (?:at |in the )?{_PART}\b)?"
_ONE_COUNT = (
    rf"(?:{numerals.IN_FIGURES}|(?:a )?couple(?: of)?|(?:a |the )?(?:last )?few|several|half an?|"
    rf"{numerals.IN_WORDS}|an?)"
)
_COUNTS_APART = r" ?- ?| to | or "
_COUNT = rf"(?P<count>{_ONE_COUNT}(?:(?:{_COUNTS_APART}){_ONE_COUNT})?)"
_UNIT = r"(?P<unit>" + "|".join(sorted(_UNITS, key=len, reverse=True)) + r")(?P<many>s)?\b"
_ABOUT = r"(?:(?:about|around|roughly|almost|nearly|some) )?"
_HALVES = rf"{_ABOUT}(?:(?P<count>{_ONE_COUNT}) (?P<half>and a half )?)?{_UNIT}(?(half)| and a half\b)"
_WHICH = r"(?P<which>last|this past|this|next|past|previous|preceding|coming|current)"
_OF_YEAR = (
    rf"(?:(?:(?:,| of|, of)? |,)(?:(?:the year )?(?:{_YEAR}|'(?P<short_year>[0-9]{{2}})(?!\w))|"
    r"(?P<that>last|this|next) year\b))?"
)
_EDGE = r"(?:(?P<edge>early|late|mid)[ -])?"
_NOT_OF_A_THING = r"(?! of (?:the|my|our|your|his|her|their|its)\b)"  # "the last week of the project"
# What a number counts, and is no day or year then: "in 2000 words", "May 3 times".
_COUNTED = regex(
    r"\s*(?:[a-z]+ )?(?:people|users|items|points|steps|words|lines|tokens|rows|files|records|orders|requests|"
    r"customers|employees|kilometers|kilometres|km|miles|m|kg|g|lbs|pounds|usd|eur|dollars|euros|bucks|calories|kcal|mb|gb|ms|"
    r"px|percent|times|pages|copies|units|votes|seats|tickets|minutes?|hours?|seconds?|days?|weeks?|months?|years?|"
    r"am|pm|o'clock)\b"
)
_RECENT = regex(r"\b(?:(?:just |only |very |most )?recent(?:ly)?|lately|of late|the other day|not (?:so )?long ago)\b")
_PAST_CUE = regex(r"\b(?:was|were|wasn't|weren't|did|didn't|had|happen(?:e?d)|been|done|took|went|got|made|came)\b")
_AHEAD_CUE = regex(
    r"\b(?:will|won't|shall|going to|gonna|upcoming|coming up|(?:do|did) (?:i|we) have|(?:am i|are we|are you|is \w+) "
    r"(?!living|using|working)\w+ing|(?:planned|scheduled|arranged|booked) for|"
    r"what(?:'s| is| are) (?:my|our|the) (?:schedule|agenda|calendar|plans?)|what(?:'s| is) (?:on|happening)|"
    r"am i (?:free|busy|available|off)|(?:is|are) there (?:anything|something)|have (?:i|we) got|what(?:'s| is) "
    r"due)\b|'ll\b|"
    r"^\W*(?:(?:and|so|do i have|have i) )?any(?:thing)?(?: else)? (?:on|for|due|planned|happening|going on|"
    r"scheduled|at)\b"
)
_NO_WEEKDAY = regex(
    r"\b(?:every|each|any|which|what|a|an|the|of|good|black|ash|palm|easter|is|are|and|or|to|like|by) $"
)
# What a feast is only named in: "the Easter eggs", "a gift for Christmas", "what I said about last Christmas".
_OF_A_FEAST = regex(
    r" (?!(?:and|or|but|with|without|at|in|on|of|from|to|by|for|than|as|when|while|if|that|which|who|what|where|how|"
    r"did|do|does|was|were|is|are|am|had|has|have|will|would|can|could|i|you|he|she|it|we|they|there|my|our|the|a|an|"
    r"this|last|next|also|too|again|alone|together|before|after|until|since|because|so|then)\b)[a-z0-9]"
)
_NO_FEAST = regex(r"\b(?:for|about|like|likes|liked|my|your|our|his|her|their|of|to|by|around|the) $")

# Clocks and periods --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Clock:
    """The moment from which a text speaks, and which way it looks."""

    now: datetime  # UTC
    tz: tzinfo
    local: datetime
    past: bool
    ahead: bool

    @classmethod
    def at(cls, now: datetime, tz: tzinfo, plain: str) -> _Clock:
        past = _PAST_CUE.search(plain) is not None
        ahead = not past and _AHEAD_CUE.search(plain) is not None
        return cls(now.astimezone(UTC), tz, now.astimezone(tz), past, ahead)

    @property
    def today(self) -> date:
        return self.local.date()

    def midnight(self, day: date, hour: int = 0) -> datetime:
        """An hour of a local day, in UTC; hours from 24 on are of the next day."""
        day, hour = day + timedelta(days=hour // 24), hour % 24
        return datetime.combine(day, time(hour), self.tz).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class _Period:
    """A stretch of local days, or of moments; `floats` where the year, or the week, was not said."""

    start: date
    end: date
    unit: str = "days"
    floats: bool = False
    moments: tuple[datetime, datetime] | None = None
    part: str | None = None
    bound: str | None = None  # "start" or "end", if it is called so: a third, but "until the end of" goes to its end

    def bounds(self, clock: _Clock) -> tuple[datetime, datetime]:
        if self.moments is not None:
            return self.moments
        if self.part is not None:
            first, last = _PARTS[self.part]
            return clock.midnight(self.start, first), clock.midnight(self.start, last)
        return clock.midnight(self.start), clock.midnight(self.end)


@dataclass(frozen=True, slots=True)
class _Phrase:
    start: int
    end: int
    window: Window | None = None
    note: str | None = None


class _Nonsense(ValueError):
    """A phrase that is certainly about time and yet names no time."""


def _shift(day: date, unit: str, count: int) -> date:
    from dateutil.relativedelta import relativedelta

    if unit in ("fortnights", "quarters", "decades"):
        unit, count = {
            "fortnights": ("weeks", 2 * count), "quarters": ("months", 3 * count), "decades": ("years", 10 * count),
        }[unit]  # fmt: skip
    moved: Any = day + relativedelta(**{unit: count})
    return moved  # type: ignore[no-any-return]


def _around(day: date, unit: str) -> _Period:
    """The calendar period of a unit that a day lies in."""
    if unit in ("weeks", "fortnights"):
        start = day - timedelta(days=day.weekday())
        return _Period(start, start + timedelta(days=7), "weeks")
    if unit == "months":
        start = day.replace(day=1)
        return _Period(start, _shift(start, "months", 1), unit)
    if unit == "quarters":
        start = day.replace(month=day.month - (day.month - 1) % 3, day=1)
        return _Period(start, _shift(start, "months", 3), unit)
    if unit in ("years", "decades"):
        return _Period(day.replace(month=1, day=1), _shift(day.replace(month=1, day=1), "years", 1), "years")
    return _Period(day, day + timedelta(days=1), "days")


def _which(which: str | None) -> int:
    past = dict.fromkeys(("last", "past", "previous", "preceding", "this past"), -1)
    return (past | {"next": 1, "coming": 1}).get(which or "", 0)


def _named_month(name: str, year: int) -> date:
    return _absolute(f"1 {name} {year}")


def _absolute(words: str) -> date:
    """A date in words, day before month; ValueError where there is no such day."""
    from dateutil import parser

    found: datetime = parser.parse(words, dayfirst=True)
    return found.date()


def _number(words: str) -> tuple[int, int]:
    """A count as the least and the most it means."""
    ends = [_one_number(words)] if numerals.value(words) is not None else _ends_of(words)
    return min(least for least, _ in ends), max(most for _, most in ends)


def _ends_of(words: str) -> list[tuple[int, int]]:
    return [_one_number(end) for end in re.findall(rf"\b{_ONE_COUNT}\b", words)]


def _one_number(words: str) -> tuple[int, int]:
    words = words.removeprefix("the ").removeprefix("last ")
    few = _FEW.get(words.removeprefix("a ").removeprefix("last "))
    if few is not None:
        return few
    if "couple" in words:
        return 2, 2
    count = 1 if words in ("a", "an") else numerals.value(words)
    if count is None:
        raise _Nonsense("no such time")
    return count, count


# Atoms ---------------------------------------------------------------------------------------------------------------


def _said(match: re.Match[str], group: str) -> str | None:
    """What a form has in a place that not all forms of its kind have."""
    return match.groupdict().get(group)


_Maker = Callable[["re.Match[str]", _Clock, str], "_Period | None"]


def _iso(match: re.Match[str], _clock: _Clock, _prep: str) -> _Period | None:
    year, month = int(match["year"]), int(match["number"])
    if _said(match, "day") is None:
        return _around(date(year, month, 1), "months") if FIRST_YEAR <= year < END_YEAR else None
    return _around(date(year, month, int(match["day"])), "days")


def _slashed(match: re.Match[str], _clock: _Clock, _prep: str) -> _Period | None:
    first, second, year = int(match["a"]), int(match["b"]), int(match["year"])
    days = {date(year, m, d) for m, d in ((first, second), (second, first)) if _exists(year, m, d)}
    if len(days) > 1:
        raise _Nonsense("two days may be meant")
    if not days:
        raise _Nonsense("no such day")
    return _around(days.pop(), "days")


def _exists(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _year_of(match: re.Match[str], clock: _Clock) -> int | None:
    if _said(match, "year") is not None:
        return int(match["year"])
    if _said(match, "short_year") is not None:
        year = 2000 + int(match["short_year"])
        return year if year < clock.today.year + 10 else year - 100
    if match["that"] is not None:
        return clock.today.year + _which(match["that"])
    return None


def _dated(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    """A day of a month: without a year the last one that has been, or the next where the text looks ahead."""
    which, part = _said(match, "which"), _said(match, "part")
    day = int(match["day"]) if match["day"].isdigit() else _NTH.index(match["day"]) + 1
    month, year = match["month"], _year_of(match, clock)
    if _COUNTED.match(match.string, match.end()) and year is None:
        return None
    if not 1 <= day <= 31:
        raise _Nonsense("no such day")
    if year is not None:
        return replace(_around(_absolute(f"{day} {month} {year}"), "days"), part=part)
    years = range(clock.today.year - 8, clock.today.year + 9)  # a 29 February may be years away
    number = _named_month(month, 2000).month
    options = [date(year, number, day) for year in years if _exists(year, number, day)]
    if not options:
        raise _Nonsense("no such day")
    found = _nearest(options, clock) if which is None else _nearest_of(which, options, clock)
    return replace(_around(found, "days"), floats=which is None, part=part)


def _nearest_of(which: str, options: list[date], clock: _Clock) -> date:
    """The last such day before today, the next after it, or this year's."""
    step = _which(which)
    if step == 0:
        return min(option for option in options if option.year >= clock.today.year)
    if step > 0:
        return min(option for option in options if option > clock.today)
    return max(option for option in options if option < clock.today)


def _nearest(options: list[date], clock: _Clock) -> date:
    if clock.ahead:
        return min(option for option in options if option >= clock.today)
    return max(option for option in options if option <= clock.today)


def _month(match: re.Match[str], clock: _Clock, prep: str) -> _Period | None:
    name, which, year = match["month"], _said(match, "which"), _year_of(match, clock)
    bare = which is None and match["edge"] is None and _said(match, "said") is None
    if year is None and bare and not _month_may_stand(match, prep):
        return None
    if year is not None:
        if not FIRST_YEAR <= year < END_YEAR:
            raise _Nonsense("no such time")
        return _edge(_around(_named_month(name, year), "months"), match["edge"])
    this = _named_month(name, clock.today.year)
    step = _which(which)
    if step > 0:
        start = this if this > clock.today else _shift(this, "years", 1)
    elif step < 0:
        start = this if _shift(this, "months", 1) <= clock.today else _shift(this, "years", -1)
    elif which is not None:
        start = this
    elif clock.ahead:
        start = this if _shift(this, "months", 1) > clock.today else _shift(this, "years", 1)
    else:
        start = this if this <= clock.today else _shift(this, "years", -1)
    return replace(_edge(_around(start, "months"), match["edge"]), floats=which is None)


def _month_may_stand(match: re.Match[str], prep: str) -> bool:
    """Whether a month without a year is one: some are names of people, and one is a verb."""
    after = match.string[match.end() :]
    if prep in ("", "on") and _TO_MONTH.match(after):
        return True
    if prep in ("", "from", "to", "by", "at", "on"):
        return prep == "from" and _ONWARDS.match(after) is not None
    if match["month"] not in _NAMES:
        return not after.startswith("'s") or prep in ("in", "of", "during", "since", "for")
    if after.startswith("'s"):
        return False
    follower = re.match(r" ([a-z]+)", after)
    if follower and prep in ("before", "after", "since", "until") and verbs.is_past(follower[1]):
        return False
    if prep in ("of", "for", "around", "about"):
        return False
    return not (follower and follower[1] in ("and", "or") and prep in ("before", "after"))


def _edge(period: _Period, edge: str | None) -> _Period:
    """The early, middle or late third of a month, or of what is longer; days and weeks stay whole."""
    if edge is None or period.unit in ("days", "weekday", "weeks"):
        return period
    third = "early" if re.search("early|start|beginning", edge) else "mid" if "mid" in edge else "late"
    months = _months(period)
    if months == 1:
        cuts = [period.start, period.start.replace(day=11), period.start.replace(day=21), period.end]
    else:
        cuts = [_shift(period.start, "months", months * count // 3) for count in range(4)]
    place = ("early", "mid", "late").index(third)
    return replace(period, start=cuts[place], end=cuts[place + 1])


def _months(period: _Period) -> int:
    return 12 * (period.end.year - period.start.year) + period.end.month - period.start.month


def _quarter(match: re.Match[str], clock: _Clock, prep: str) -> _Period | None:
    words = match["quarter"]
    number = _NTH.index(words.split()[0]) + 1 if words.split()[0] in _NTH else int(words.strip("q")[0])
    year = _year_of(match, clock) if match["before"] is None else int(match["before"])
    if year is not None:
        return _around(date(year, number * 3 - 2, 1), "quarters")
    if prep in ("", "at", "on", "to") and words[0] != "q":
        return None
    this = date(clock.today.year, number * 3 - 2, 1)
    if clock.ahead:
        start = this if _shift(this, "months", 3) > clock.today else _shift(this, "years", 1)
    else:
        start = this if this <= clock.today else _shift(this, "years", -1)
    return replace(_around(start, "quarters"), floats=True)


def _half(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    year = _year_of(match, clock)
    if year is None:
        return None
    start = date(year, 1 if match["half"] in ("h1", "first half") else 7, 1)
    return _Period(start, _shift(start, "months", 6), "months")


def _season(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    which, year, today = match["which"], _year_of(match, clock), clock.today
    if which is None and year is None:
        return None
    month = _SEASONS[match["season"]]
    if year is not None:
        start = date(year, month, 1)
    else:
        starts = [date(today.year + shift, month, 1) for shift in (-2, -1, 0, 1)]
        step = _which(which)
        if step > 0:
            start = min(one for one in starts if one > today)
        elif step < 0:
            start = max(one for one in starts if _shift(one, "months", 3) <= today)
        else:
            start = date(today.year - (1 if month == 12 and today.month < 3 else 0), month, 1)
    return _edge(_Period(start, _shift(start, "months", 3), "months"), match["edge"])


def _feast(match: re.Match[str], clock: _Clock, prep: str) -> _Period | None:
    """ "on Halloween", "last Christmas", "Easter 2024": the last one there was, unless it is said or looked ahead."""
    name, which, year = match["feast"], _said(match, "which"), _year_of(match, clock)
    if not _feast_may_stand(match, clock, prep, which is not None or year is not None):
        return None
    if year is not None:
        found = feasts.day(name, year)
    else:
        options = [feasts.day(name, clock.today.year + shift) for shift in (-2, -1, 0, 1, 2)]
        on = replace(clock, ahead=True) if prep in ("before", "until") and not clock.past else clock
        as_none = which is None or (which == "this" and clock.past)
        found = _nearest(options, on) if as_none else _nearest_of(which or "", options, clock)
    before, after = feasts.around(name) if prep in ("", "at", "over", "during") else (0, 0)
    start, end = found - timedelta(days=before), found + timedelta(days=after + 1)
    floats = year is None and which is None and not feasts.moves(name)
    return _Period(start, end, "days", floats, part=_said(match, "part"))


def _feast_may_stand(match: re.Match[str], clock: _Clock, prep: str, said: bool) -> bool:
    """Whether a feast is a time: not of "Easter eggs", nor of what is eaten at Easter every year."""
    if _OF_A_FEAST.match(match.string, match.end()):
        return False
    if said:
        about = _NO_FEAST.search(match.string, 0, match.start()) is not None
        return prep in _BEFORE_FEAST or (prep == "" and not about)
    if prep in ("since", "before", "after", "until"):
        return True
    return prep in _BEFORE_FEAST and (clock.past or clock.ahead)


_BEFORE_FEAST: Final = ("on", "at", "over", "during", "since", "before", "after", "until", "between", "from", "whole")


def _turn(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    """The turn of the year: a week to either side of New Year."""
    if match["year"] is not None:
        year = int(match["year"]) + 1
        if year % 100 != int(match["next"][-2:]):
            raise _Nonsense("no such time")
    else:
        days = [date(near, 1, 1) for near in (clock.today.year, clock.today.year + 1)]
        year = _nearest(days, clock).year
    return _Period(date(year, 1, 1) - timedelta(days=7), date(year, 1, 8))


def _numbered_week(match: re.Match[str], clock: _Clock, prep: str) -> _Period | None:
    """ "calendar week 23", "week 23 of 2024": by ISO 8601; a week with no more than a number may be one of a course."""
    number, year = int(match["number"]), _year_of(match, clock)
    if year is None and _said(match, "calendar") is None:
        if prep in ("in", "during", "since"):
            raise _Nonsense("several weeks may be meant")
        return None
    if year is None:
        mondays = [date.fromisocalendar(near, number, 1) for near in _years_with_week(number, clock.today.year)]
        return _around(_nearest(mondays, clock), "weeks")
    return _around(date.fromisocalendar(year, number, 1), "weeks")


def _years_with_week(number: int, year: int) -> list[int]:
    """The years about one that have a week of a number: not all have a 53rd."""
    return [near for near in range(year - 8, year + 9) if 1 <= number <= date(near, 12, 28).isocalendar().week]


def _unit(match: re.Match[str], clock: _Clock, prep: str) -> _Period | None:
    """The last, this or the next week, month, quarter or year; "in the last week" is the seven days up to now."""
    which, unit = match["which"], _UNITS[match["unit"]]
    rolls = which in ("past", "this past") or (which == "last" and match["the"] is not None and prep in _SPANNING)
    rolls = rolls and match["edge"] is None
    if unit in ("seconds", "minutes", "hours") or (unit == "days" and _which(which) < 0):
        rolls = rolls or which == "last"
        if not rolls or (unit == "days" and prep not in _SPANNING and which == "last"):
            return None
    if rolls:
        return _rolling(unit, _FEW["few"][1] if match["many"] else 1, clock)
    if unit == "days":
        return None
    day = _shift(clock.today, unit, _which(which))
    return _edge(_decade_of(day.year) if unit == "decades" else _around(day, unit), match["edge"])


def _whole_unit(match: re.Match[str], clock: _Clock, prep: str) -> _Period | None:
    """ "the year", of which something is the end or the first week: this one."""
    return _around(clock.today, _UNITS[match["unit"]]) if prep == "whole" else None


_SPANNING: Final = ("in", "over", "during", "within", "for")


def _before_last(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    unit = match["unit"]
    if unit == "night":
        return _Period(clock.today - timedelta(days=2), clock.today, part="night")
    return _around(_shift(clock.today, f"{unit}s", -2), f"{unit}s")


def _day_named(named: str) -> tuple[int, int]:
    """How many days a weekend or a weekday has, and the day of the week it begins on."""
    return (2, 5) if named == "weekend" else (1, _WEEKDAYS.index(named))


def _days_ago(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    """ "two Fridays ago", "the weekend before last": so many of such days, or weekends, have begun since."""
    least, most = (2, 2) if _said(match, "count") is None else _number(match["count"])
    if least == 0:
        raise _Nonsense("no such time")
    length, index = _day_named(match["named"])
    last = clock.today - timedelta(days=(clock.today.weekday() - index - length) % 7 + length)
    start, end = (last - timedelta(days=7 * (count - 1)) for count in (most, least))
    return _Period(start, end + timedelta(days=length), "days")


def _weekend(match: re.Match[str], clock: _Clock, prep: str) -> _Period | None:
    which = _said(match, "which")
    if which is None and prep not in (
        "over",
        "at",
        "on",
        "during",
        "for",
        "since",
        "before",
        "after",
        "until",
    ):
        return None
    saturday = clock.today - timedelta(days=clock.today.weekday()) + timedelta(days=5)
    step = -1 if which is None and (clock.past or prep == "since") else _which(which)
    if step < 0 and clock.today > saturday + timedelta(days=1):
        step = 0
    if step > 0 and clock.today < saturday:
        step = 0
    saturday += timedelta(days=7 * step)
    return _Period(saturday, saturday + timedelta(days=2), "days")


def _several(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    """The last or the next so many units, up to or from this moment."""
    sign = -1 if match["which"] in ("last", "past", "previous", "preceding") else 1
    if match["count"].startswith("half"):
        return _halved(match, clock, sign)
    return _rolling(_UNITS[match["unit"]], _number(match["count"])[1], clock, sign)


def _halved(match: re.Match[str], clock: _Clock, sign: int) -> _Period | None:
    unit, count = {"hour": ("minutes", 30), "day": ("hours", 12), "year": ("months", 6)}.get(match["unit"], ("", 0))
    return _rolling(unit, count, clock, sign) if unit else None


_SMALLER: Final = {
    "hour": ("minutes", 60), "day": ("hours", 24), "week": ("days", 7), "month": ("days", 30), "year": ("months", 12),
}  # fmt: skip


def _half_more(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    """ "A year and a half ago", "the last two and a half hours": so many of a smaller unit, a sixth of it about it."""
    unit, size = _SMALLER.get(match["unit"], ("", 0))
    if not unit:
        return None
    least, most = (1, 1) if match["count"] is None else _number(match["count"])
    which, half = _said(match, "which"), size // 2
    if which is None:
        return _away(clock, unit, (size * least + half - size // 6, size * most + half + size // 6), -1)
    return _rolling(unit, size * most + half, clock, 1 if which in ("next", "coming") else -1)


def _shorthand(match: re.Match[str], clock: _Clock, prep: str) -> _Period | None:
    """The last seven days for "7d"; "3d" and "24h" are other things, unless that is all that was said."""
    after = match.string[match.end() :].strip(" ?.!,")
    alone = match.start() == 0 and not after
    other = after or match[0] in ("2d", "3d", "12h", "24h") or prep in ("at", "on")
    if match["which"] is None and not alone and other:
        return None
    return _rolling(_SHORT_UNITS[match["short"]], int(match["count"]), clock)


def _rolling(unit: str, count: int, clock: _Clock, sign: int = -1) -> _Period:
    """So many units up to this moment, or from it: hours pass, days go by the local calendar."""
    if count == 0:
        raise _Nonsense("no such time")
    if unit in ("seconds", "minutes", "hours"):
        other = clock.now + sign * timedelta(**{unit: count})
    else:
        day = _shift(clock.today, unit, sign * count)
        other = clock.local.replace(year=day.year, month=day.month, day=day.day, fold=0).astimezone(UTC)
    return _Period(clock.today, clock.today, unit, moments=(min(other, clock.now), max(other, clock.now)))


def _ago(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    if match["count"].startswith("half"):
        if match["unit"] == "hour":
            return _away(clock, "minutes", (30, 30), -1)
        return _away(clock, "months", (6, 6), -1) if match["unit"] == "year" else None
    return _away(clock, _UNITS[match["unit"]], _number(match["count"]), -1)


def _ahead(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    if clock.past and _said(match, "from") is None:
        return None  # "what did I get done in two hours": how long it took
    if match["count"].startswith("half"):
        return _away(clock, "minutes", (30, 30), 1) if match["unit"] == "hour" else None
    return _away(clock, _UNITS[match["unit"]], _number(match["count"]), 1)


def _away(clock: _Clock, unit: str, count: tuple[int, int], sign: int) -> _Period:
    """The unit that lies so many units away: the day, the week, the hour; of minutes, five to either side as well."""
    least, most = count
    if unit in ("seconds", "minutes"):
        first, last = sorted(clock.now + sign * timedelta(**{unit: n}) for n in (least, most))
        first, last = first - timedelta(minutes=5), last + timedelta(minutes=5)
        moments = (first, min(last, clock.now)) if sign < 0 else (max(first, clock.now), last)
        return _Period(clock.today, clock.today, unit, moments=moments)
    if unit == "hours":
        hours = sorted((clock.now + sign * timedelta(hours=n)).astimezone(clock.tz) for n in (least, most))
        starts = [
            hour - timedelta(minutes=hour.minute, seconds=hour.second, microseconds=hour.microsecond) for hour in hours
        ]
        first, last = (start.replace(fold=hour.fold).astimezone(UTC) for start, hour in zip(starts, hours, strict=True))
        return _Period(clock.today, clock.today, unit, moments=(first, last + timedelta(hours=1)))
    near, far = (_around(_shift(clock.today, unit, sign * n), unit) for n in (least, most))
    return _Period(min(near.start, far.start), max(near.end, far.end), near.unit)


def _ago_from(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    """ "a year ago today", "a week ago yesterday": the very day."""
    unit = _UNITS[match["unit"]]
    if unit in ("seconds", "minutes", "hours"):
        return None
    day = clock.today - timedelta(days=1 if match["word"] == "yesterday" else 0)
    return _around(_shift(day, unit, -_number(match["count"])[1]), "days")


def _one_or_two_ago(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    return _away(clock, _UNITS[match["unit"]], (1, 2 if match["more"] == "two" else 1), -1)


def _day_word(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    word, part = match["word"], match["part"]
    offset = {
        "the day before yesterday": -2, "day before yesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1,
        "the day after tomorrow": 2, "day after tomorrow": 2,
    }[word]  # fmt: skip
    day = clock.today + timedelta(days=offset)
    return _Period(day, day + timedelta(days=1), part=part)


def _part_of_day(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    word = match["word"]
    if word in ("last night", "yesterday night"):
        return _Period(clock.today - timedelta(days=1), clock.today, part="night")
    part = "night" if word == "tonight" else match["part"]
    return _Period(clock.today, clock.today + timedelta(days=1), part=part)


def _so_far(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    """What has gone by of this day, week, month or year, or is left of it."""
    unit = _UNITS["year" if match["unit"] == "y" else match["unit"] or "day"]
    whole = _around(clock.today, unit).bounds(clock)
    left = _said(match, "when") == "later"
    return _Period(clock.today, clock.today, moments=(clock.now, whole[1]) if left else (whole[0], clock.now))


def _just_now(_match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    return _Period(clock.today, clock.today, moments=(clock.now - timedelta(minutes=10), clock.now))


def _weekday(match: re.Match[str], clock: _Clock, prep: str) -> _Period | None:
    """The last such day before today, or the next after it where that is said or the text looks ahead."""
    name, which = match["weekday"], _said(match, "which")
    index = next(i for i, day in enumerate(_WEEKDAYS) if day.startswith(name[:3]))
    if which is None and not _weekday_may_stand(match, clock, prep):
        return None
    today = clock.today
    if match["week"] is not None:
        monday = today - timedelta(days=today.weekday()) + timedelta(days=7 * _which(match["week"]))
        day = monday + timedelta(days=index)
    elif which == "this":
        day = today - timedelta(days=today.weekday()) + timedelta(days=index)
    elif _which(which) > 0 or (which is None and (clock.ahead or (prep in ("before", "until") and not clock.past))):
        day = today + timedelta(days=(index - today.weekday() - 1) % 7 + 1)
    else:
        day = today - timedelta(days=(today.weekday() - index - 1) % 7 + 1)
    floats = which is None and match["week"] is None
    return _Period(day, day + timedelta(days=1), "weekday", floats, part=match["part"])


def _weekday_ago(match: re.Match[str], clock: _Clock, _prep: str) -> _Period | None:
    """ "Friday two weeks ago": the day of that week."""
    week = _away(clock, "weeks", _number(match["count"]), -1)
    day = week.start + timedelta(days=_WEEKDAYS.index(match["named"]))
    return replace(_around(day, "days"), part=_said(match, "part"))


def _weekday_may_stand(match: re.Match[str], clock: _Clock, prep: str) -> bool:
    if prep == "by" or _EACH_TIME.match(match.string, match.end()) is not None:
        return False
    if (
        _WHOSE.search(match.string, 0, match.start()) is not None
        and _CALLED_BY_A_DAY.match(match.string, match.end()) is not None
    ):
        return False
    if prep in ("on", "since", "before", "after", "until", "between", "from"):
        return match["weekday"] in _WEEKDAYS or prep == "on"
    if match["weekday"] not in _WEEKDAYS or _NO_WEEKDAY.search(match.string, 0, match.start()):
        return False
    after = match.string[match.end() :]
    return match["part"] is not None or not after.strip(" ?.!") or after[0] in "?.,!" or clock.past


_EACH_TIME: Final = regex(r" (?:mornings|afternoons|evenings|nights)\b")
_WHOSE: Final = regex(r"\b(?:my|our|your|his|her|their) $")
_CALLED_BY_A_DAY: Final = regex(
    r" (?!(?:in|on|at|with|for|from|to|of|by|and|or|was|were|is|are|be|been|did|do|does|like|look|looks|go|went|going|"
    r"off|so|before|after|then|because|when|if|we|i)\b)[a-z]"
)
"""What a day of somebody's names: "my Sunday morning routine"."""


def _year(match: re.Match[str], _clock: _Clock, prep: str) -> _Period | None:
    if prep not in _BEFORE_YEAR and match["edge"] is None and match["said"] is None:
        return None
    if _COUNTED.match(match.string, match.end()):
        return None
    year = int(match["year"])
    if not FIRST_YEAR <= year < END_YEAR:
        raise _Nonsense("no such time")
    return _edge(_around(date(year, 1, 1), "years"), match["edge"])


_BEFORE_YEAR: Final = (
    "in", "since", "before", "until", "during", "of", "after", "between", "from", "to", "and", "whole",
)  # fmt: skip


def _years(match: re.Match[str], _clock: _Clock, prep: str) -> _Period | None:
    """ "in 2019-2021"."""
    first, last = int(match["year"]), int(match["last"])
    if prep not in _BEFORE_YEAR or not FIRST_YEAR <= first < last < END_YEAR:
        return None
    return _Period(date(first, 1, 1), date(last + 1, 1, 1), "years")


def _decade(match: re.Match[str], _clock: _Clock, prep: str) -> _Period | None:
    words, bare = match["decade"], match["the"] is None
    if words.startswith(("19", "20")):
        return None if bare and match["edge"] is None else _edge(_decade_of(int(words)), match["edge"])
    if bare or prep not in _BEFORE_YEAR:
        return None  # "in her late fifties", "the 50s diner"
    start = _DECADES.get(words) or 1900 + int(words.strip("'"))
    return _edge(_decade_of(start), match["edge"])


_DECADES: Final = {"fifties": 1950, "sixties": 1960, "seventies": 1970, "eighties": 1980, "nineties": 1990}


def _decade_of(year: int) -> _Period:
    start = date(year - year % 10, 1, 1)
    return _Period(start, _shift(start, "years", 10), "years")


def _ordinal(match: re.Match[str], clock: _Clock, prep: str) -> _Period | None:
    """ "on the 5th": the last one there was; "the 5th of last month"."""
    day, today = int(match["day"]), clock.today
    if match["which"] is not None:
        first = _shift(today.replace(day=1), "months", _which(match["which"]))
        return _around(first.replace(day=day), "days")
    after = match.string[match.end() :]
    preps = ("on", "since", "before", "after", "until", "whole", *(("for",) if clock.ahead else ()))
    if prep not in preps or (after and after[0] not in "?.,!;"):
        return None
    months = [_shift(today.replace(day=1), "months", shift) for shift in range(-3, 4)]
    options = [date(one.year, one.month, day) for one in months if _exists(one.year, one.month, day)]
    if not options:
        raise _Nonsense("no such day")
    return _around(_nearest(options, clock), "days")


_ATOMS: Final[tuple[tuple[re.Pattern[str], _Maker], ...]] = tuple(
    (regex(pattern), maker)
    for pattern, maker in (
        (
            (
                r"(?P<year>[0-9]{4})([-/])(?P<number>[0-9]{1,2})(?:\2(?P<day>[0-9]{1,2}))"
                r"(?:[t ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:z|[+-][0-9]{2}:?[0-9]{2})?)?(?![\w-])"
            ),
            _iso,
        ),
        (r"(?P<year>[0-9]{4})-(?P<number>0[1-9]|1[0-2])(?![\w-])", _iso),
        (r"(?P<a>[0-9]{1,2})([/.])(?P<b>[0-9]{1,2})\2(?P<year>[0-9]{4})(?![\w/-])", _slashed),
        (
            rf"(?:{_WHICH} )?(?:{_WEEKDAY}(?:,? the|,)? )?(?:the )?{_DAY}(?: of)? {_MONTH}{_OF_YEAR}{_IN_PART}",
            _dated,
        ),
        (rf"(?:{_WHICH} )?(?:{_WEEKDAY},? )?{_MONTH} (?:the )?{_DAY}{_OF_YEAR}{_IN_PART}", _dated),
        (rf"(?:the )?(?P<day>{'|'.join(_NTH)}) of {_MONTH}{_OF_YEAR}{_IN_PART}", _dated),
        (rf"(?P<that>last|this|next) year,? (?:on )?{_MONTH} (?:the )?{_DAY}", _dated),
        (rf"(?P<that>last|this|next) year(?:'s|,)? (?:in )?{_EDGE}{_MONTH}", _month),
        (rf"(?:{_WHICH} )?{_EDGE}(?P<said>the month of )?{_MONTH}{_OF_YEAR}", _month),
        (
            (
                rf"(?:the )?(?:(?P<before>[0-9]{{4}})[ -]?)?(?P<quarter>q[1-4]\b|"
                r"(?:first|second|third|fourth|1st|2nd|3rd|4th) quarter\b)"
                rf"{_OF_YEAR}"
            ),
            _quarter,
        ),
        (rf"(?:the )?(?P<half>h1|h2|first half|second half){_OF_YEAR}", _half),
        (rf"(?:the )?{_EDGE}(?:{_WHICH} )?(?P<season>spring|summer|autumn|fall|winter)\b{_OF_YEAR}", _season),
        (rf"(?:the )?(?:{_WHICH} )?{feasts.FORM}{_OF_YEAR}{_IN_PART}", _feast),
        (rf"(?P<that>last|this|next) year,? (?:(?:at|on|over) )?{feasts.FORM}", _feast),
        (r"the turn of the year\b(?:,? (?P<year>[0-9]{4})[/-](?P<next>[0-9]{2}(?:[0-9]{2})?)\b)?", _turn),
        (
            (
                r"(?:the )?(?:(?P<calendar>calendar) )?week (?P<number>[0-9]{1,2})(?![\w.:/-])"
                rf"(?! of (?![12]|last |this |next )){_OF_YEAR}"
            ),
            _numbered_week,
        ),
        (rf"(?P<calendar>cw) ?(?P<number>[0-9]{{1,2}})(?![\w.:/-]){_OF_YEAR}", _numbered_week),
        (r"(?P<year>[0-9]{4})-?w(?P<number>[0-9]{2})(?![\w-])", _numbered_week),
        (rf"(?:the )?(?P<which>last|past|previous|preceding|next|coming) {_COUNT} {_UNIT}{_NOT_OF_A_THING}", _several),
        (rf"(?:the )?(?P<which>last|past|next) (?P<count>half) (?:an? )?{_UNIT}", _several),
        (r"(?:(?:the )?(?P<which>last|past) )?(?P<count>[0-9]{1,15})(?P<short>[hdw])\b", _shorthand),
        (rf"{_HALVES} (?:ago|back)\b", _half_more),
        (rf"(?:the )?(?P<which>last|past|previous|preceding|next|coming) {_HALVES}", _half_more),
        (rf"{_ABOUT}{_COUNT} {_UNIT} (?:ago|back)\b", _ago),
        (rf"between (?P<count>{_ONE_COUNT} and {_ONE_COUNT}) {_UNIT} (?:ago|back)\b", _ago),
        (rf"{_COUNT} {_UNIT} ago (?P<word>today|yesterday)\b", _ago_from),
        (rf"an? {_UNIT} or (?P<more>two|so) (?:ago|back)\b", _one_or_two_ago),
        (rf"{_COUNT} (?P<named>weekend|{'|'.join(_WEEKDAYS)})s? ago\b", _days_ago),
        (rf"(?P<named>{'|'.join(_WEEKDAYS)}){_IN_PART},? {_COUNT} weeks? ago\b", _weekday_ago),
        (rf"{_COUNT} weeks? ago,? on (?P<named>{'|'.join(_WEEKDAYS)})\b{_IN_PART}", _weekday_ago),
        (rf"(?:the )?(?P<named>weekend|{'|'.join(_WEEKDAYS)}) before last\b", _days_ago),
        (rf"in (?:(?:about|around) )?{_COUNT} {_UNIT}(?:'s? time| time)?", _ahead),
        (rf"{_COUNT} {_UNIT} (?P<from>from (?:now|today))\b", _ahead),
        (
            (
                r"(?:the )?(?P<unit>night|day|week|month|year) before last\b(?: (?P=unit)\b)?"
                rf"(?! (?:{'|'.join(_WEEKDAYS)}|{feasts.FORM}))"
            ),
            _before_last,
        ),
        (r"(?P<when>earlier|later) (?:today\b|this (?P<unit>week|month|year)\b)", _so_far),
        (r"so far (?:today\b|this (?P<unit>week|month|quarter|year)\b)", _so_far),
        (r"(?:today|this (?P<unit>week|month|quarter|year)) so far\b", _so_far),
        (r"(?:the )?(?P<unit>week|month|quarter|year)(?: to |-to-)date\b", _so_far),
        (r"(?P<unit>y)td\b", _so_far),
        (
            (
                rf"(?P<word>(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday|today|tomorrow)\b"
                r"(?:'s)?"
                rf"(?: (?:at |in the )?{_PART}\b)?"
            ),
            _day_word,
        ),
        (r"(?P<word>last night|tonight|this (?P<part>morning|afternoon|evening))\b(?:'s)?", _part_of_day),
        (r"(?:just now|a (?:moment|second|minute) ago|a sec ago)\b", _just_now),
        (rf"(?:the )?{_WHICH} weekend\b(?:'s)?", _weekend),
        (r"the weekend\b", _weekend),
        (rf"{_EDGE}(?P<the>the )?{_WHICH} {_UNIT}{_NOT_OF_A_THING}(?:'s)?", _unit),
        (r"the (?P<unit>week|month|quarter|year)\b(?!-| (?:of|before|after|i|we|he|she|they|you)\b)", _whole_unit),
        (
            (
                rf"(?:{_WHICH} )?{_WEEKDAY}(?:'s)?{_IN_PART}"
                r"(?:,?(?: of)? (?P<week>last|this|next) week\b)?"
            ),
            _weekday,
        ),
        (
            rf"(?P<week>last|this|next) week(?:'s)?,? (?:on )?{_WEEKDAY}(?:'s)?(?:,? {_PART}\b)?",
            _weekday,
        ),
        (rf"{_EDGE}(?P<said>the year )?{_YEAR}", _year),
        (r"(?P<year>[0-9]{4})-(?P<last>[0-9]{4})(?![\w/-])", _years),
        (
            rf"(?P<the>the )?{_EDGE}(?P<decade>(?:(?:19|20)[0-9]0|'?[5-9]0)(?='?s\b)|{'|'.join(_DECADES)})(?:'?s)?\b",
            _decade,
        ),
        (r"the (?P<day>[0-9]{1,2})(?:st|nd|rd|th)\b(?: of (?P<which>last|this|next) month\b)?", _ordinal),
    )
)

_DATES: Final = tuple(atom for atom in _ATOMS if atom[1] in (_dated, _ordinal))  # what may follow "the 3rd to"

# Phrases -------------------------------------------------------------------------------------------------------------

_PREP: Final = {
    "till": "until", "til": "until", "up to": "until", "up until": "until", "prior to": "before", "back in": "in",
    "following": "after", "as of": "on", "throughout": "during", "starting": "since", "ever since": "since",
    "over": "over", "back on": "on", "in the course of": "during", "toward": "in", "towards": "in",
    "later than": "after", "earlier than": "before", "no later than": "by",
}  # fmt: skip
_STARTS = regex(
    r"(?<![\w/.:-])(?:(?P<prep>between|from|ever since|since|starting|up until|up to|until|til|till|before|prior to|"
    r"after|following|in the course of|back in|back on|in|on|during|throughout|within|over|at|of|for|by|as of|"
    r"around|about|towards?|(?:no )?later than|earlier than)\s+)?"
    r"(?=[0-9]|(?:the|a|an|early|late|mid|last|this|next|past|previous|preceding|coming|current|earlier|later|so|just|"
    r"today|tonight|yesterday|tomorrow|day|night|week|month|year|q[1-4]|h[12]|first|second|third|fourth|spring|summer|"
    r"autumn|fall|winter|couple|few|several|half|start|beginning|middle|end|about|around|roughly|almost|nearly|some|in|"
    r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|calendar|cw|ytd|"
    r"christmas|xmas|boxing|new|halloween|valentine|easter|good|ash|palm|pentecost|thanksgiving|"
    + "|".join(numerals.WORDS)
    + r")[a-z]*\b)"
)
_JOIN = {
    "between": regex(r"\s*(?:,\s*)?(?:and|to|-)\s*"),
    "from": regex(r"\s*(?:,\s*)?(?:up )?(?:to|until|till|til|through|thru|-|\.{2,3}|(?<=-[0-9]{2})/)\s*"),
}
_AND = regex(r"\s*(?:,\s*)?(?:and|or|&|/)\s*")
_TO_MONTH = regex(rf"\s*(?:to|until|till|til|through|thru|-)\s*{_MONTH}(?:,| of)? [0-9]{{4}}\b")
_DAY_NUMBER = regex(rf"(?:the )?{_DAY}")
_YEAR_AFTER = regex(_OF_YEAR)
_COUNT_BEFORE = regex(rf"\b(?:(?:(?:in|on|during) )?(?P<the>the ))?(?:{_COUNT} )?(?P<unit>day|week|month|year)s? $")
_WEEKEND_BEFORE = regex(r"\b(?:(?:on|over|during) )?the weekend $")
_PIECE = regex(
    rf"(?:the )?(?:(?P<edge>start|beginning|middle|end) of|{_PART} of|(?P<week>week) of|(?P<weekend>weekend) of|"
    rf"(?P<nth>first|second|third|fourth|last) (?:(?:{_COUNT} )?(?P<unit>day|week|month|quarter|half)(?P<many>s)?|"
    rf"(?P<named>weekend|{'|'.join(_WEEKDAYS)})) (?:of|in)) "
)
_ONWARDS = regex(r"\s*(?:onwards?|on)\b(?! \w)|\s*onwards?\b")


def _phrases(plain: str, clock: _Clock) -> Iterator[_Phrase]:
    """Every phrase of time in a text, from its beginning, none inside another."""
    place = 0
    while True:
        match = _STARTS.search(plain, place)
        if match is None:
            return
        phrase = _phrase(plain, match, clock)
        if phrase is not None:
            yield phrase
        # A word that binds nothing may still stand before one that does.
        place = phrase.end if phrase is not None else _next_word(plain, match)


def _next_word(plain: str, match: re.Match[str]) -> int:
    if match["prep"] is not None:
        return match.start() + len(match["prep"])
    word = re.compile(r"[\w']*").match(plain, match.end())
    return max(match.end() + 1, word.end() if word else 0)


def _phrase(plain: str, match: re.Match[str], clock: _Clock) -> _Phrase | None:
    prep, start, place = _PREP.get(match["prep"] or "", match["prep"] or ""), match.start(), match.end()
    if match["prep"] in ("in", "between"):
        found = _atom(plain, match.start(), clock, "")  # "in 3 days", "between 3 and 5 days ago" are atoms
        if found is not None and plain[match.end() : match.end() + 4] != "the ":
            return _made(plain, start, found, "", clock)
    if prep in ("between", "from"):
        pair = _pair(plain, start, place, prep, clock)
        if pair is not None:
            return pair
        if prep == "between":
            return None
    elif prep in ("", "on", "since", "during"):
        numbered = _numbered(plain, start, place, "", clock)
        if numbered is not None:
            return numbered
    found = _atom(plain, place, clock, prep)
    return None if found is None else _made(plain, start, found, prep, clock)


def _made(plain: str, start: int, found: tuple[int, _Period | str], prep: str, clock: _Clock) -> _Phrase | None:
    end, period = found
    if isinstance(period, str):
        return _Phrase(start, end, note=period)
    if prep == "by":
        return _Phrase(start, end)  # a time to be ready by: what is asked about does not lie there
    if prep in ("before", "after"):
        weekend = _WEEKEND_BEFORE.search(plain, 0, start)
        if weekend is not None and period.moments is None:
            return _weekend_beside(weekend, end, period, prep, clock)
        counted = _COUNT_BEFORE.search(plain, 0, start)
        if counted is not None and period.moments is None and counted["the"]:
            return _beside(counted, end, period, prep, clock)
        if counted is not None and period.moments is None and counted["count"]:
            return _at_a_distance(counted, end, period, prep, clock)
    joined = (
        _joined(plain, start, end, period, clock) if prep in ("", "in", "on", "during", "since", "for", "of") else None
    )
    if joined is not None:
        return joined
    onwards = _ONWARDS.match(plain, end) if prep == "from" else None
    try:
        first, last = period.bounds(clock)
    except (ValueError, OverflowError):
        return _Phrase(start, end, note="no such time")
    if onwards is not None:
        return _checked(start, onwards.end(), (first, None))
    before, after = last if period.bound == "end" else first, first if period.bound == "start" else last
    window: Window = {
        "since": (first, clock.now), "before": (None, before), "until": (None, before), "after": (after, None),
    }.get(prep, (first, last))  # fmt: skip
    return _checked(start, end, window)


def _at_a_distance(counted: re.Match[str], end: int, period: _Period, prep: str, clock: _Clock) -> _Phrase:
    """The unit that lies so far from a day: "two weeks before August 11"."""
    sign = -1 if prep == "before" else 1
    try:
        unit, (least, most) = _UNITS[counted["unit"]], _number(counted["count"])
        day = period.start if sign < 0 else period.end - timedelta(days=1)
        near, far = (_around(_shift(day, unit, sign * count), unit) for count in (least, most))
        first = _Period(min(near.start, far.start), max(near.end, far.end)).bounds(clock)
    except (ValueError, OverflowError):
        return _Phrase(counted.start(), end, note="no such time")
    return _checked(counted.start(), end, first)


def _beside(counted: re.Match[str], end: int, period: _Period, prep: str, clock: _Clock) -> _Phrase:
    """The units right before or after a period: "the week before March 3", "the two days after it"."""
    try:
        unit, count = _UNITS[counted["unit"]], _number(counted["count"] or "one")[1]
        if prep == "before":
            window = _Period(_shift(period.start, unit, -count), period.start).bounds(clock)
        else:
            window = _Period(period.end, _shift(period.end, unit, count)).bounds(clock)
    except (ValueError, OverflowError):
        return _Phrase(counted.start(), end, note="no such time")
    return _checked(counted.start(), end, window)


def _weekend_beside(weekend: re.Match[str], end: int, period: _Period, prep: str, clock: _Clock) -> _Phrase:
    """The last weekend before a period, or the first after it."""
    try:
        if prep == "before":
            saturday = period.start - timedelta(days=(period.start.weekday() - 5 - 2) % 7 + 2)
        else:
            saturday = period.end + timedelta(days=(5 - period.end.weekday()) % 7)
        window = _Period(saturday, saturday + timedelta(days=2)).bounds(clock)
    except (ValueError, OverflowError):
        return _Phrase(weekend.start(), end, note="no such time")
    return _checked(weekend.start(), end, window)


def _checked(start: int, end: int, window: Window) -> _Phrase:
    """The phrase of a window, if there is such a window in the years Engram keeps."""
    first, last = window
    kept = all(at is None or FIRST_YEAR <= at.year < END_YEAR for at in window)
    if not kept or (first is not None and last is not None and first >= last):
        return _Phrase(start, end, note="no such time")
    return _Phrase(start, end, window)


def _joined(plain: str, start: int, end: int, period: _Period, clock: _Clock) -> _Phrase | None:
    """ "March 5 to March 9", "May 1-3": a period that another ends, or that the next follows."""
    if period.moments is not None or period.part is not None:
        return None
    join = _JOIN["from"].match(plain, end)
    if join is not None:
        return _ended(plain, start, period, join.end(), clock)
    join = _AND.match(plain, end)
    both = None if join is None else _ended(plain, start, period, join.end(), clock)
    return both if both is not None and _is_pair(both, period, clock) else None


def _is_pair(both: _Phrase, period: _Period, clock: _Clock) -> bool:
    """Whether what two periods span is the two and nothing between: "May and June 2024", "on March 3 and 4"."""
    first, last = both.window or (None, None)
    if first is None or last is None:
        return False
    unit = "days" if period.unit == "weekday" else period.unit
    return last == clock.midnight(_shift(first.astimezone(clock.tz).date(), unit, 2))


def _pair(plain: str, start: int, place: int, prep: str, clock: _Clock) -> _Phrase | None:
    """ "between … and …", "from … to …", both ends within."""
    first = _atom(plain, place, clock, "between")
    if first is not None and not isinstance(first[1], str):
        join = _JOIN[prep].match(plain, first[0])
        if join is not None:
            return _ended(plain, start, first[1], join.end(), clock)
    return _numbered(plain, start, place, prep, clock)


def _numbered(plain: str, start: int, place: int, prep: str, clock: _Clock) -> _Phrase | None:
    """ "3 and 5 May", "3-5 May": a day whose month only the other end says."""
    number = _DAY_NUMBER.match(plain, place)
    join = None if number is None else _JOIN[prep or "from"].match(plain, number.end())
    if number is None or join is None:
        return None
    last = _named(plain, join.end(), clock, "whole" if prep else "", _DATES)
    if last is None:
        return None
    end, period = last
    if isinstance(period, str) or not 1 <= int(number["day"]) <= period.start.day:
        return None
    first = replace(period, start=period.start.replace(day=int(number["day"])), part=None)
    return _bounded(start, end, first, period, clock)


def _ended(plain: str, start: int, first: _Period, place: int, clock: _Clock) -> _Phrase | None:
    last = _atom(plain, place, clock, "between")
    if last is None:
        now = re.compile(r"(?:now|date|the present|present)\b").match(plain, place)
        if now is not None:
            return _checked(start, now.end(), (first.bounds(clock)[0], clock.now))
        number = _DAY_NUMBER.match(plain, place)
        if number is None or first.unit != "days" or first.moments is not None:
            return None
        return _ended_by_number(plain, start, first, number, clock)
    end, period = last
    if isinstance(period, str):
        return _Phrase(start, end, note=period)
    if period.unit == first.unit == "weekday" and first.floats and period.floats and not clock.past:
        return _Phrase(start, end)  # what is done from Monday to Friday is done every week
    return _bounded(start, end, first, period, clock)


def _ended_by_number(plain: str, start: int, first: _Period, number: re.Match[str], clock: _Clock) -> _Phrase | None:
    """ "March 3 to 5", "March 3-5, 2024": to a day of the same month, and both of the year that is said after it."""
    after = _YEAR_AFTER.match(plain, number.end())
    end, said = (number.end(), None) if after is None else (after.end(), _year_of(after, clock))
    if said is None and _COUNTED.match(plain, end):
        return None
    year, month, day = said or first.start.year, first.start.month, int(number["day"])
    if not (_exists(year, month, first.start.day) and _exists(year, month, day)):
        return _Phrase(start, end, note="no such day")
    first = _around(first.start.replace(year=year), "days") if first.floats else first
    return _bounded(start, end, first, _around(date(year, month, day), "days"), clock)


def _bounded(start: int, end: int, first: _Period, last: _Period, clock: _Clock) -> _Phrase:
    """From the start of one period to the end of another; one whose year, or week, was not said goes by the other."""
    try:
        if last.floats:
            while last.start < first.start:
                last = _moved(last, 1)
            near = last.unit != "weekday" or first.unit == "weekday"
            while near and _moved(last, -1).start >= first.start:
                last = _moved(last, -1)
        elif first.floats:
            while first.start > last.start:
                first = _moved(first, -1)
            while _moved(first, 1).start <= last.start:
                first = _moved(first, 1)
        return _checked(start, end, (first.bounds(clock)[0], last.bounds(clock)[1]))
    except (ValueError, OverflowError):
        return _Phrase(start, end, note="no such time")


def _moved(period: _Period, count: int) -> _Period:
    """The same period so many years on, or weeks where it is a day of the week."""
    unit = "weeks" if period.unit == "weekday" else "years"
    return replace(period, start=_shift(period.start, unit, count), end=_shift(period.end, unit, count))


def _atom(plain: str, place: int, clock: _Clock, prep: str) -> tuple[int, _Period | str] | None:
    """The longest period that begins at a place, with where it ends; or why there is none."""
    match = _PIECE.match(plain, place)
    whole = None if match is None else _named(plain, match.end(), clock, "whole")  # what a piece is of
    if match is not None and whole is not None and not isinstance(whole[1], str):
        try:
            piece = _piece(match, whole[1])
        except _Nonsense as error:
            return whole[0], str(error)
        except (ValueError, OverflowError):
            return whole[0], "no such time"
        if piece is not None:
            return whole[0], _gone_by(piece, whole[1], clock)
    return _named(plain, place, clock, prep)


def _gone_by(piece: _Period, whole: _Period, clock: _Clock) -> _Period:
    """A piece of a period, or the whole where a text that looks back names what is ahead: "the end of the year"."""
    ahead = clock.past and whole.start <= clock.today < piece.start
    return replace(whole, bound=piece.bound) if ahead else piece


def _piece(match: re.Match[str], whole: _Period) -> _Period | None:
    """What lies in a period by its place: its end, its first two weeks, its second Tuesday, its last half."""
    if whole.moments is not None or whole.part is not None:
        return None
    if match["edge"] is not None:
        bound = {"start": "start", "beginning": "start", "end": "end"}.get(match["edge"])
        return replace(_edge(whole, match["edge"]), bound=bound)
    day = whole.unit in ("days", "weekday")
    if match["part"] is not None:
        return replace(whole, part=match["part"]) if day else None
    if match["week"] is not None:
        return _around(whole.start, "weeks") if day else None
    if match["weekend"] is not None:
        return _weekend_of(whole.start) if day else None
    if match["named"] is not None:
        return _nth_day(match["nth"], match["named"], whole)
    start, end = _nth_half(match, whole) if match["unit"] == "half" else _nth_units(match, whole)
    start, end = max(start, whole.start), min(end, whole.end)
    shorter = start < end and (start, end) != (whole.start, whole.end)
    return replace(whole, start=start, end=end, unit="days") if shorter else None


def _weekend_of(day: date) -> _Period:
    """The weekend a day lies in, or that it begins with its Friday."""
    if day.weekday() < _FRIDAY:
        raise _Nonsense("two weekends may be meant")
    saturday = day + timedelta(days=5 - day.weekday())
    return _Period(saturday, saturday + timedelta(days=2))


_FRIDAY: Final = 4


def _nth_day(nth: str, named: str, whole: _Period) -> _Period | None:
    """The second Tuesday, or the last weekend, that begins in a period."""
    length, index = _day_named(named)
    start = whole.start + timedelta(days=(index - whole.start.weekday()) % 7)
    days = [start + timedelta(days=past) for past in range(0, (whole.end - start).days, 7)]
    place = -1 if nth == "last" else _NTH.index(nth)
    if not days or place >= len(days):
        return None
    return _Period(days[place], days[place] + timedelta(days=length))


def _nth_half(match: re.Match[str], whole: _Period) -> tuple[date, date]:
    """The first half of a period up to its middle, any other from there."""
    months, odd = divmod(_months(whole), 2)
    middle = _shift(whole.start, "months", months) + timedelta(days=15 * odd)
    return (whole.start, middle) if match["nth"] == "first" else (middle, whole.end)


def _nth_units(match: re.Match[str], whole: _Period) -> tuple[date, date]:
    """The first, second or last so many units of a period: "the last days" are a few."""
    unit, count = _UNITS[match["unit"]], _number(match["count"] or ("few" if match["many"] else "one"))[1]
    if match["nth"] == "last":
        return _shift(whole.end, unit, -count), whole.end
    start = _shift(whole.start, unit, _NTH.index(match["nth"]) * count)
    return start, _shift(start, unit, count)


def _named(
    plain: str, place: int, clock: _Clock, prep: str, atoms: tuple[tuple[re.Pattern[str], _Maker], ...] = _ATOMS
) -> tuple[int, _Period | str] | None:
    """The longest period with a name or a date of its own that begins at a place."""
    best: tuple[int, _Period | str] | None = None
    for pattern, maker in atoms:
        match = pattern.match(plain, place)
        if match is None or (best is not None and match.end() <= best[0]):
            continue
        try:
            period: _Period | str | None = maker(match, clock, prep)
        except _Nonsense as error:
            period = str(error)
        except (ValueError, OverflowError):
            period = "no such time"
        if period is not None:
            best = (match.end(), period)
    return best
