"""Dates in a sentence, read against the moment it was said: "yesterday", "since June 1", "two weeks ago", "in 2019"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from engram.english import feasts, numerals, titles, verbs
from engram.english.subjects import plain
from engram.regex import regex


def _words(text: str) -> list[str]:
    return text.split()


_MONTHS: Final = _words("january february march april may june july august september october november december")
_SHORT: Final = _words("jan feb mar apr may jun jul aug sep oct nov dec")
_DAYS: Final = _words("monday tuesday wednesday thursday friday saturday sunday")
_FEW: Final = {"a": 1, "an": 1, "a couple of": 2, "a few": 3, "several": 3}
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}

_MONTH = "(?P<month{0}>" + "|".join(_MONTHS + [m for m in _SHORT if m != "may"] + ["sept"]) + r")\.?"
_COUNT = (
    rf"(?<!half )(?P<count>{'|'.join(sorted(_FEW, key=len, reverse=True))}|{numerals.IN_WORDS}|{numerals.IN_FIGURES})"
)
_UNIT = r"(?P<unit>day|week|weekend|month|year|decade)s?"
_YEAR = r"(?:19|20|21)\d\d"

_FORMS: Final = tuple(
    (kind, regex(pattern))
    for kind, pattern in (
        ("iso", r"\b(?P<year>(?:19|20|21)\d\d)-(?P<number>\d\d)-(?P<day>\d\d)\b"),
        (
            "day_month",
            rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH.format('')}\b(?:,? (?P<year>{_YEAR})\b)?",
        ),
        ("month_day", rf"\b{_MONTH.format('')} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (?P<year>{_YEAR})\b)?"),
        (
            "month",
            (
                rf"\b(?:(?P<which>last|next|this|in|since|until|till|from|starting|by|early|late|"
                rf"mid|of|back in|during|between)[ -])(?:(?:early|late|mid)[ -])?{_MONTH.format('')}\b(?:,? "
                rf"(?P<year>{_YEAR})\b)?"
            ),
        ),
        ("month", rf"\b(?P<which>){_MONTH.format('')},? (?P<year>{_YEAR})\b"),
        (
            "year",
            (
                rf"\b(?:in|since|until|till|from|back in|during|early|late|mid|between|by|summer "
                rf"of|winter of|spring of|fall of|autumn of) (?P<year>{_YEAR})\b(?! (?:km|m|kg|"
                rf"usd|dollars|euros|people|users|rows|items|points|steps|words|lines|calories|"
                rf"miles|tokens)\b)"
            ),
        ),
        (
            "feast",
            (
                rf"(?<!since )\b(?:(?P<which>last|next|this|until|till) )?{feasts.FORM}"
                rf"(?:,? (?:of |in )?(?P<year>{_YEAR})\b)?"
            ),
        ),
        (
            "day_of_month",
            (
                r"\bon the (?P<day>\d{1,2})(?:st|nd|rd|th)\b"
                r"(?=\W*$|[.,;!?)]| (?:at|with|for|in the (?:morning|afternoon|evening)|and|but|so|too|as well|"
                r"now|instead|from|because)\b)"
            ),
        ),
        ("ago", rf"\b{_COUNT} {_UNIT} (?:ago|back)\b"),
        ("ahead", rf"\b(?:in {_COUNT} {_UNIT}(?: time|' time)?)\b"),
        ("day", r"\b(?P<word>the day before yesterday|the day after tomorrow|yesterday|tomorrow|last night)\b"),
        (
            "weekday",
            r"\b(?P<which>last|next|this|on|since|until|till|from|by|starting|past) (?P<name>"
            + "|".join(_DAYS)
            + r")\b",
        ),
        (
            "period",
            (
                r"\b(?P<which>last|next|this past|the past) (?P<name>week|weekend|month|year|spring|summer|"
                r"autumn|fall|winter)\b"
            ),
        ),
    )
)
_NOT_VALIDITY = regex(
    r"\b(?:birthday|anniversary|deadline|due|every|each|annual|annually|yearly|by|born|version|flight number)\b"
)
# What ends, and not since when it is: "My contract ends in December".
_TELLS_AN_END: Final = regex(
    r"^(?:(?!\b(?:that|which|who|because|since|until|till|and|but|so|when|if)\b)[^,;:]){1,80}?"
    r"\b(?:expires?|runs? out|lapses|ends?(?= (?:on|in|at)\b))\b"
)
# What is so on a timetable, said in the present of a day that is to come: "I start at Acme on July 1".
_ON_A_TIMETABLE: Final = _words(
    "start begin finish open close leave depart arrive land return fly move retire meet take get see graduate travel"
)
_SCHEDULED: Final = frozenset((*_ON_A_TIMETABLE, *map(verbs.third_person, _ON_A_TIMETABLE)))
_LIKELY_AHEAD = regex(
    r"\b(?:will|going to|next|tomorrow|upcoming|plan|plans|planning|scheduled|is|are|"
    rf"(?:{'|'.join(map(verbs.third_person, _ON_A_TIMETABLE))})|"
    r"(?:i'm|we're|they're|he's|she's|am) (?:leaving|starting|moving|flying|arriving|returning|getting|meeting|seeing|"
    r"coming|finishing|joining|graduating|retiring|visiting|travell?ing|marrying|hosting|launching|taking|having)|"
    rf"(?:i|we|they|and) (?:(?:\w+ly|also|then|now|only|first) )?(?:{'|'.join(_ON_A_TIMETABLE)})|"
    r"(?:i|we|they)(?: (?:also|still))?(?: have(?: got)?|'ve got) (?:an?|another|my|our|the|two|three|some|"
    r"(?:[a-z]+ )?(?:dinner|lunch|breakfast|brunch|drinks|coffee|practice|training|class|choir|therapy))|has an?)\b"
)
# Arranged in the past for a day that may lie ahead: "signed up for a run on October 5".
_ARRANGED = regex(
    r"\b(?:(?:signed|sign) (?:\w+ )?up|registered|enrol?led|booked|reserved|scheduled|rescheduled|planned|arranged|"
    r"invited|ordered|bought (?:\w+ )?tickets?|got (?:\w+ )?tickets?|applied|entered|postponed|agreed|promised|"
    r"committed|pencil?led|set up|(?:made|got|have|has) (?:an? )?(?:\w+ )?(?:appointment|reservation|booking))\b"
)
_UNTIL = regex(r"\b(?:until|till|through)\s*$")
_RANGE = regex(r"^\s*(?:to|until|till|and|through|-|–)\s+(?:\w+ )?$")
_YEAR_RANGE = regex(rf"\b(?:from|between) (?P<first>{_YEAR}) (?:to|until|till|and|through) (?P<last>{_YEAR})\b")
_DAY: Final = timedelta(days=1)
_MAX_TEXT: Final = 1_000


@dataclass(frozen=True, slots=True)
class Stated:
    """When a sentence says it is true: its start, its end, either of which may be unsaid."""

    valid_from: datetime | None = None
    valid_to: datetime | None = None


def resolve(sentence: str, said_at: datetime) -> Stated:
    """The times a sentence states, read from the day it was said (UTC); dates without a year are the nearest fit.

    "today" and "now" state nothing: what is said now is valid from now anyway.
    """
    text = plain(titles.blanked(sentence[:_MAX_TEXT]))
    today = said_at.astimezone(UTC).date()
    years = _YEAR_RANGE.search(text)
    if years:
        return _stated(_first_of(int(years["first"]), 1), _first_of(int(years["last"]), 1))
    if is_no_validity(text):
        return Stated()
    found = _find(text, today)
    if not found:
        return Stated()
    (start, end, moment), *more = found
    before = text[:start]
    if _UNTIL.search(before) or re.match(r"(?:until|till) ", text[start:end]):
        return _stated(None, moment)
    if (
        more
        and (_RANGE.match(text[end : more[0][0]]) or re.match(r"(?:until|till) ", text[more[0][0] :]))
        and more[0][2]
        and moment
        and more[0][2] > moment
    ):
        return _stated(moment, more[0][2])
    return _stated(moment, None)


def is_no_validity(sentence: str) -> bool:
    """Whether the dates of a sentence are what it tells, a birthday or a deadline, and not when it is true."""
    said = plain(sentence[:_MAX_TEXT])
    return _NOT_VALIDITY.search(said) is not None or _TELLS_AN_END.match(said) is not None


def _find(text: str, today: date) -> list[tuple[int, int, date | None]]:
    """Every date of a text in order, none inside another."""
    found: list[tuple[int, int, date | None]] = []
    for kind, pattern in _FORMS:
        for match in pattern.finditer(text):
            if all(match.end() <= start or match.start() >= end for start, end, _ in found):
                found.append((match.start(), match.end(), _moment(kind, match, today, text)))
    return sorted((item for item in found if item[2] is not None), key=lambda item: item[0])


def _moment(kind: str, match: re.Match[str], today: date, text: str) -> date | None:
    """The first day that a found form means."""
    parts = {name: value for name, value in match.groupdict().items() if value is not None}
    try:
        if kind == "iso":
            return date(int(parts["year"]), int(parts["number"]), int(parts["day"]))
        if kind in ("day_month", "month_day"):
            return _dated(parts, int(parts["day"]), today, text, match.start())
        if kind == "month":
            return _dated(parts, 1, today, text, match.start())
        if kind == "day_of_month":
            return _day_of_month(int(parts["day"]), today, text, match.start())
        if kind == "year":
            return _first_of(int(parts["year"]), 1)
        if kind == "feast":
            return _feast(parts, today)
        if kind in ("ago", "ahead"):
            count = _FEW.get(parts["count"]) or numerals.value(parts["count"]) or 0
            return _shifted(today, parts["unit"], count if kind == "ahead" else -count)
        if kind == "day":
            return (
                today
                + _DAY
                * {
                    "the day before yesterday": -2,
                    "yesterday": -1,
                    "last night": -1,
                    "tomorrow": 1,
                    "the day after tomorrow": 2,
                }[parts["word"]]
            )
        if kind == "weekday":
            return _weekday(parts["which"], _DAYS.index(parts["name"]), today, text, match.start())
        return _period(parts["which"], parts["name"], today)
    except (ValueError, OverflowError):
        return None


def _feast(parts: dict[str, str], today: date) -> date | None:
    """The day of a feast: of the year that is named, or the last or next one; None for one that is kept every year."""
    which, name = parts.get("which"), parts["feast"]
    if "year" in parts:
        return feasts.day(name, int(parts["year"]))
    if which is None:
        return None
    days = [feasts.day(name, today.year + shift) for shift in (-1, 0, 1)]
    if which == "this":
        return days[1]
    if which == "last":
        return max(day for day in days if day < today)
    return min(day for day in days if day > today)


def _dated(parts: dict[str, str], day: int, today: date, text: str, place: int) -> date | None:
    """A month, perhaps with a day and a year; without a year the last one that has been, or the next where that is
    meant, or none where the sentence leaves it open."""
    month = next(i + 1 for i, short in enumerate(_SHORT) if parts["month"].startswith(short))
    if "year" in parts:
        return date(int(parts["year"]), month, day)
    options = [date(today.year + shift, month, day) for shift in (-1, 0, 1) if _exists(today.year + shift, month, day)]
    if not options:
        return None  # "User lives at 78 May Street"
    which = parts.get("which") or (re.findall(r"(\w+) (?:the )?$", text[:place]) or [""])[0]
    past = [option for option in options if option <= today]
    ahead = [option for option in options if option > today]
    if which in ("from", "starting", "of"):
        return min(options, key=lambda option: abs(option - today))
    if which in ("next", "until", "till") or (which not in ("since", "last") and _lies_ahead(text, place)):
        return (ahead or options)[0]
    if _ARRANGED.search(text[:place]) and which not in ("since", "last") and not _just_past(options, today, which):
        return None  # what was arranged in the past may lie ahead, and nothing says which year is meant
    if which not in ("since", "last") and not _just_past(past, today, which) and _is_in_the_present(text):
        return None  # "I have my driving test on April 20" speaks of no day of a year ago
    return (past or options)[-1]


def _day_of_month(day: int, today: date, text: str, place: int) -> date | None:
    """The next such day of a month where a sentence speaks of what is to come, or the last; none where it is open."""
    first = today.replace(day=1)
    months = [_shifted(first, "month", shift) for shift in (-2, -1, 0, 1, 2)]
    options = [one.replace(day=day) for one in months if _exists(one.year, one.month, day)]
    if _lies_ahead(text, place):
        return next((option for option in options if option >= today), None)
    is_past = any(_tense(match.group()) == "past" for match in _VERB.finditer(text))
    return max((option for option in options if option <= today), default=None) if is_past else None


def _is_in_the_present(text: str) -> bool:
    """Whether a sentence says what somebody does or has, by no verb that may be one of the past."""
    if _DOES.match(text) is None or _PERFECT.search(text) is not None:
        return False
    return not any(_tense(verb) == "past" or verb in verbs.SAME_IN_PAST for verb in _VERB.findall(text))


def _just_past(options: list[date], today: date, which: str) -> bool:
    """Whether a date was so lately that it is meant rather than the one a year on."""
    return which != "for" and any(_DAY * 0 <= today - option <= _DAY * 92 for option in options)


def _lies_ahead(text: str, place: int) -> bool:
    """Whether a sentence speaks of what is to come: not where the verb next to the date is in the past tense."""
    if _LIKELY_AHEAD.search(text) is None:
        return False
    before = [match.group() for match in _VERB.finditer(text[:place]) if _tense(match.group())]
    after = [match.group() for match in _VERB.finditer(text[place:]) if _tense(match.group())]
    nearest = before[-1] if before else (after[0] if after else "is")
    if nearest in _SCHEDULED and any(_tense(verb) == "past" for verb in before):
        return False  # "I filed my tax returns in April"
    return _tense(nearest) == "ahead"


# A verb, or a participle with its "is": "was", "wrote", "is scheduled", "will be".
_VERB = regex(
    r"\b(?:(?:is|are|be|been|will|am|has|have|i'm|we're|it's)(?: \w+ly| not| now)?(?: \w+(?:ed|ing))?|going to|"
    r"[a-z]+)\b"
)
_PRESENT: Final = frozenset(
    [
        *_words("is are be will am i'm we're it's going plan plans planning"),
        *_SCHEDULED,
    ]
)  # fmt: skip
_DOES = regex(r"\W*(?:(?:and|but|so) )?(?:i|we|they|he|she|(?:my|our) [\w-]+) \w+ ")
_PERFECT = regex(r"\b(?:have|has) (?:\w+ )?(?:been|gone|done|made|got|had|become|come|won|met|\w+(?:ed|en|wn))\b")
_NO_TENSE: Final = frozenset(_words("can could would should must may might shall need red bed"))


def _tense(words: str) -> str:
    """What a verb says of its time: "past", "ahead", or "" for a word that is no verb."""
    first = words.split()[0]
    if first in _PRESENT:
        return "ahead"
    past = first in verbs.PAST or first in ("was", "did", "had") or (first.endswith("ed") and len(first) > 3)
    return "past" if past and first not in _NO_TENSE and first not in verbs.BASE_IN_ED else ""


def _exists(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _first_of(year: int, month: int) -> date:
    return date(year, month, 1)


def _shifted(today: date, unit: str, count: int) -> date:
    if unit in ("month", "year", "decade"):
        months = today.year * 12 + today.month - 1 + count * {"month": 1, "year": 12, "decade": 120}[unit]
        year, month = divmod(months, 12)
        for day in range(today.day, 27, -1):
            if _exists(year, month + 1, day):
                return date(year, month + 1, day)
        return date(year, month + 1, min(today.day, 28))
    return today + _DAY * count * (1 if unit == "day" else 7)


def _weekday(which: str, index: int, today: date, text: str, place: int) -> date:
    ahead = (index - today.weekday()) % 7
    if which in ("next", "until", "till", "this", "starting", "by") or (which == "on" and _lies_ahead(text, place)):
        return today + _DAY * (ahead or 7)
    return today - _DAY * ((today.weekday() - index) % 7 or 7)


def _period(which: str, name: str, today: date) -> date:
    step = 1 if which == "next" else -1
    monday = today - _DAY * today.weekday()
    if name == "week":
        return monday + _DAY * 7 * step
    if name == "weekend":
        saturday = monday + _DAY * 5
        return saturday if step == 1 and today < saturday else saturday + _DAY * 7 * step
    if name == "month":
        return _shifted(today.replace(day=1), "month", step)
    if name == "year":
        return _first_of(today.year + step, 1)
    starts = [_first_of(today.year + shift, _SEASONS[name]) for shift in (-2, -1, 0, 1, 2)]
    done = [start for start in starts if _shifted(start, "month", 2) < today]
    return next(start for start in starts if start > today) if step == 1 else done[-1]


def _stated(start: date | None, end: date | None) -> Stated:
    """Days as moments, when they lie in the years Engram keeps."""
    return Stated(_midnight(start), _midnight(end))


def _midnight(day: date | None) -> datetime | None:
    if day is None or not 1900 <= day.year < 2200:
        return None
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
