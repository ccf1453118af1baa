"""Contrasts: what the words beside a clause say against what was told before it. Pure.

"We deploy to preview" says of no change. "Sandbox was too slow, so we deploy to preview" does, and so does "As of today
we deploy to preview": the words beside the clause say since when it is so, or that something else is over, was bad or
was a slip. What that is has to be named by them; which memory tells it is for who holds the memories.
"""

from __future__ import annotations

from typing import Final

from engram.english import news, verbs
from engram.english.feasts import MONTHS, WEEKDAY
from engram.regex import regex

MAX_READ: Final = 160

_FROM_NOW: Final = (
    r"(?:as of|from|starting|beginning|effective)(?: from)? (?:now|here|today|tonight|tomorrow|this|"
    r"next|monday|tuesday|"
    rf"wednesday|thursday|friday|saturday|sunday|immediately)(?: (?:on|onwards?|week|month|year|sprint|quarter|term|"
    rf"morning|{WEEKDAY}|{MONTHS}|(?:week|month|year|sprint|quarter|term) on(?:wards?)?)){{0,2}}"
)
_SINCE: Final = (
    rf"since (?:(?:last|this) (?:\w+)|yesterday|today|the (?:new year|weekend|move|reorg|merger)|{WEEKDAY}|{MONTHS})"
)
_BEGINS: Final = regex(rf"(?:{_FROM_NOW}|{_SINCE}|now|nowadays|these days|at last|finally)\W*")
_BEFORE: Final = regex(
    r"(?:[,;:–—]|\s-)(?: (?:so|but|and now|and so|now|then|that's why|which is why))?$|\s(?:so|but|"
    r"and now|and so|which is why)$"
)
_AND: Final = regex(r"\sand$")
_BEHIND: Final = regex(r"\s*(?:[,;:–—]|\s-\s|\b(?:because|since|as|after|now that)\b)")
_NOT_SO: Final = regex(
    r"\b(?:not|never|no|nobody|too|enough|wrong|mistake|slip|typo|bored|tired|fed up|sick|misread|"
    r"terrible|awful)\b|n't\b"
)
_BESIDE: Final = regex(r"\b(?:also|too$|as well|both|sometimes|usually|mostly|for (?:now|a while)|today|tonight)\b")


def begins(words: str) -> bool:
    """Whether the words before a clause, compared, say only since when it is so, and that this is not long ago.

    >>> begins("as of today"), begins("in the evening")
    (True, False)
    """
    return _BEGINS.fullmatch(words) is not None


def is_slip(words: str) -> bool:
    """Whether the words before a clause, compared, say no more than that what was told was a slip."""
    return _IS_SLIP.match(words) is not None


_IS_SLIP: Final = regex(
    r"(?:(?:oops|sorry|no|wait|actually)[,.!]? )?(?:user|i) (?:(?:just|actually) )?(?:got|had|said|"
    r"wrote|typed|told you) "
    r"(?:that|this|it) (?:all )?wrong(?:ly)?\W*(?:so|but)?$|(?:that|it) (?:was|is) (?:wrong|a mistake|"
    r"my mistake|a slip|a typo)"
    r"\W*(?:so|but)?$|(?:user's|my) (?:mistake|bad|error)\W*$"
)


def says_since(said: str) -> bool:
    """Whether a statement begins with since when it is so, where that is not long ago."""
    return _SINCE_FIRST.match(said) is not None


_SINCE_FIRST: Final = regex(rf"(?:{_SINCE}|{_FROM_NOW}),? ")


def set_against(before: str, behind: str) -> str:
    """What the words before and behind a clause, compared, say is over, was bad or was a slip; "" for others.

    >>> set_against("sandbox was too slow, so", "")
    'sandbox was too slow, so'
    """
    found: list[str] = []
    if before and len(before) <= MAX_READ and not _is_doubtful(before):
        is_over = news.sign(before) == "over"
        if (_BEFORE.search(before) and (is_over or _is_against(before))) or (is_over and _AND.search(before)):
            found.append(before.strip())
    is_beside = behind and len(behind) <= MAX_READ and _BEHIND.match(behind) and not _is_doubtful(behind)
    if is_beside and (news.sign(behind) in ("over", "slip") or _is_against(behind)):
        found.append(behind.strip())
    return " ".join(found)


def _is_doubtful(said: str) -> bool:
    return news.is_doubtful(said) or _BESIDE.search(said) is not None


def _is_against(said: str) -> bool:
    """Whether words tell what was, or that something is not so or not good."""
    return _NOT_SO.search(said) is not None or any(map(verbs.is_past, said.replace(",", " ").split()))


__all__ = ["begins", "is_slip", "says_since", "set_against"]
