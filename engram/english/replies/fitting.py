"""How a value fits behind a verb: the preposition of a place or a time, the words of an age. Pure."""

from __future__ import annotations

from typing import Final

from engram.english import names
from engram.english.feasts import MONTHS, SHORT_MONTHS
from engram.english.replies.saying import BREAK
from engram.english.subjects import plain
from engram.regex import regex
from engram.wordlists import word_set

_WHERE: Final = regex(
    r"(?i)^(?:in|at|on|near|from|to|by|outside|inside|under|above|behind|around|with|between|next|close|just|not far|"
    r"abroad|upstairs|downstairs|home|here|there|north|south|east|west|over|across|off|all over|everywhere|nowhere|"
    r"somewhere|mostly|remote(?:ly)?|out|half|into|via|through)\b"
)
_WHEN: Final = regex(
    r"(?i)^(?:in|at|on|by|around|about|before|after|since|from|until|till|between|during|within|every|each|next|last|"
    r"this|tomorrow|yesterday|today|tonight|early|late|mid|always|never|usually|as|when|whenever|once|twice|not|"
    r"(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|\d+|few|couple)\b.*\bago|weekdays?|weekends?|mornings?|"
    r"evenings?|nights?|daily|weekly|monthly)\b"
)
_SINCE: Final = regex(r"(?i)^(?:since|for|from|all|my whole|ever since|about|over|almost|always)\b")
_STILL: Final = regex(r"(?i)^(?:still|just|currently|now|always) (?=\w)")
_AT: Final = regex(r"(?i)\b(?:works?|working|worked|stud(?:y|ies|ying|ied)|volunteer|bank|train|intern|teach)\b")
_TO: Final = regex(
    r"(?i)\b(?:go|goes|going|went|travel|travels|move|moving|moved|fly|flying|head|drive|commute|relocate)\b"
)
_IN_MONTH: Final = regex(
    rf"(?i)^(?:(?:early|late|mid|the middle of)[ -])?(?:(?:{MONTHS}|"
    rf"{SHORT_MONTHS})\b(?!\.? \d{{1,2}}(?:st|nd|rd|th)?"
    r"\b)|(?:19|20)\d\d\b|spring|summer|autumn|fall|winter|the (?:morning|afternoon|evening|summer|winter|"
    r"spring|autumn))"
)
_PART_OF: Final = regex(r"(?i)^(?:the )?(?:beginning|start|end) of\b")
_THE: Final = regex(r"(?i)^the ")
_AT_HOUR: Final = regex(
    r"(?i)^(?:(?:\d{1,2}(?:[:.h]\d\d)?|half|quarter|six|seven|eight|nine|ten|eleven|twelve|one|two|three|four|five)"
    r"(?:-ish|ish)?(?: ?(?:am|pm|a\.m\.?|p\.m\.?|o['’]clock|sharp|ish)|\s*$| (?:past|to|thirty|in the|on|every)\b|"
    r" ?[-–] ?\d)|noon|midnight|lunch|night\b|dawn|\d{1,2}[:.]\d\d)"
)
_DETERMINED: Final = regex(
    r"(?i)^(?:an?|the|my|our|his|her|one|two|three|four|five|six|seven|eight|nine|ten|\d+|some|several|both|no|just|"
    r"only|mostly|lots|many|few|plenty)\b"
)
_DAYS: Final = word_set("day days date")
_YEARS: Final = (
    r"(?:\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|"
    r"eight|nine))?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|"
    r"nine)teen)"
)
_AGE: Final = regex(
    rf"(?i)^(?:just )?(?:turned |turning )?(?P<age>(?:only |almost |nearly |about )?{_YEARS}(?:(?:, | and |"
    rf", and ){_YEARS})*)\b"
    r"(?: years?(?: old)?| yo| y/?o)?(?P<rest>.*)$"
)
_YOUNGER: Final = regex(r"(?i)^ (?P<unit>months?|weeks?)(?: old)?")


def says_when(text: str) -> bool:
    """Whether a text begins with a preposition of time, or with a word for one."""
    return _WHEN.match(text) is not None


def says_where(text: str) -> bool:
    """Whether a text begins with a preposition of place, or with a word for one."""
    return _WHERE.match(text) is not None


def is_determined(text: str) -> bool:
    """Whether a text begins with an article, a number or the like."""
    return _DETERMINED.match(text) is not None


_MOSTLY: Final = regex(r"(?i)^(?:mostly|half) (?=(?-i:[A-ZÀ-ÖØ-Þ]))")
_TO_A_PLACE: Final = regex(r"(?i)\bto (?:the )?[\w-]+$")


def placed(head: str, value: str) -> str:
    """A place with the preposition that goes before it behind a verb, where the reply gives none.

    >>> placed("I work", "Acme"), placed("I live", "Ottawa")
    ('at Acme', 'in Ottawa')
    """
    value = _STILL.sub("", value)
    mostly = _MOSTLY.match(value)
    if mostly is not None and not says_where(value[mostly.end() :]):
        return f"{mostly.group()}{placed(head, value[mostly.end() :])}"
    if says_where(value):
        return value
    there = _TO_A_PLACE.search(head)  # "goes to school"
    if _TO.search(head) and there is None:
        return f"to {value}"
    place = plain(BREAK.split(value, maxsplit=1)[0])
    known = place in names.CITIES or place in names.REGIONS
    return f"at {value}" if (there or _AT.search(head)) and not known else f"in {value}"


def timed(asked: str, value: str) -> str:
    """A time with the preposition that goes before it, by what was `asked`: "day", "time"; where the reply gives none.

    >>> timed("", "June 3"), timed("time", "7"), timed("", "June")
    ('on June 3', 'at 7', 'in June')
    """
    if says_when(value):
        return value
    if _PART_OF.match(value):
        return f"at the {_THE.sub('', value)}"
    if _IN_MONTH.match(value):
        return f"in {value}"
    if _AT_HOUR.match(value) and asked.casefold() not in _DAYS:
        return f"at {value}"
    return f"on {value}"


def lasted(value: str) -> str:
    """How long something goes on."""
    return value if _SINCE.match(value) else f"for {value}"


def aged(value: str) -> str | None:
    """An age in words; None for what is none.

    >>> aged("34"), aged("4 and 7"), aged("six months"), aged("a lady never tells")
    ('34 years old', '4 and 7 years old', 'six months old', None)
    """
    match = _AGE.match(value)
    if match is None:
        return None
    younger = _YOUNGER.match(match["rest"])
    return f"{match['age']} {'years' if younger is None else younger['unit']} old"
