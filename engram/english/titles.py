"""Titles: the names of songs, films and books in a text, which say no time though they are made of words of time. Pure.

A title stands in quotation marks, or with capitals behind what it is a title of: "the song Last Christmas". A day, a
month and a feast have a capital anyway, so "I finished the book Monday" has no title; and a text that writes all its
words large shows none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engram.english import feasts
from engram.regex import regex

_LONGEST: Final = 10  # words of a title
_NEAR: Final = 80  # characters before a quotation that may say what it is
_WORK: Final = (
    r"(?:song|track|album|single|film|movie|book|novel|series|poem|band|podcast|musical|opera|painting|story|comic|"
    r"documentary|soundtrack|magazine)s?"
)
_QUOTED_WORK: Final = rf"(?:{_WORK}|shows?|plays?|games?)"
_SMALL: Final = r"(?:of|the|and|an?|in|on|to|at|for|with|from)"
_LARGE: Final = r"[A-ZÀ-ÖØ-Þ][\w'’]*"
_OF_THE_CALENDAR: Final = (
    rf"(?:{feasts.WEEKDAY}s?|{feasts.MONTHS}|\d+(?:st|nd|rd|th)?|q[1-4]|eve|day|week|month|year|weekend|night|morning|"
    rf"evening|afternoon|noon|{feasts.UNNAMED})"
)
_BEFORE_A_TIME: Final = rf"(?:on|in|at|from|since|until|to) (?:the )?(?i:{_OF_THE_CALENDAR})"
_BEHIND: Final = regex(
    rf"\b{_WORK},? (?:(?:is|was|are|were|called|named|titled|entitled) )*"
    rf"(?P<title>{_LARGE}(?: (?:(?!{_BEFORE_A_TIME}\b){_SMALL} ){{0,2}}{_LARGE}){{0,{_LONGEST}}})"
)
_QUOTED: Final = regex(
    r"\"(?P<a>[^\"\n]{2,80})\"|“(?P<b>[^”\n]{2,80})”|«(?P<c>[^»\n]{2,80})»|„(?P<d>[^“”\n]{2,80})[“”]|"
    r"(?<!\w)'(?P<e>[^'\s][^'\n]{0,78})'(?!\w)|‘(?P<f>[^’\n]{2,80})’(?!\w)"
)
_OF_A_WORK: Final = regex(rf"\b{_QUOTED_WORK},? (?:(?:is|was|are|were|called|named|titled|entitled) )*$")
_SAYING: Final = regex(
    r"\b(?:said|says?|saying|told|tells?|asked|asks?|wrote|writes?|texted|replied|answered|shouted)"
    r"(?: (?:me|us|him|her|them|to \w+|[A-Z]\w+))?[,:]? $"
)
_ENDED: Final = regex(r"[.,;!]$")
_CALENDAR: Final = regex(rf"(?i){_OF_THE_CALENDAR}")
_WHEN: Final = regex(r"(?i)\b(?:on|since|until|till) $")
_RELATIVE: Final = frozenset({"last", "next", "this"})
_ARTICLES: Final = frozenset({"the", "a", "an"})
_WORD: Final = regex(r"[^\s,;:.!?]+")


def blanked(text: str) -> str:
    """The text with every letter and digit of a title made an x, each in its place.

    >>> blanked("I heard the song Last Christmas last week")
    'I heard the song xxxx xxxxxxxxx last week'
    """
    parts, at = [], 0
    for start, end in sorted(_spans(text)):
        if end > at:
            parts += [text[at:start], re.sub(r"\w", "x", text[max(at, start) : end])]
            at = end
    return "".join((*parts, text[at:]))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for match in _QUOTED.finditer(text):
        if _is_title(text, match):
            yield match.start(match.lastgroup or 0), match.end(match.lastgroup or 0)
    for match in _BEHIND.finditer(text):
        start, end = match.span("title")
        end = start + len(_without_day(text[start:end]))
        if start < end and text[start:end] != text[start:end].upper():
            yield start, end


def _without_day(title: str) -> str:
    """A title without the time behind it, which is when: "Dune Monday", "Dune Last Night", but not "Last Christmas"."""
    words = title.split(" ")
    if _is_calendar(words[0]) and (len(words) == 1 or _is_calendar(words[1]) or not re.match(_LARGE, words[1])):
        return ""  # "the band Friday at the Apollo", but not "the song November Rain"
    while words and (_is_calendar(words[-1]) or re.fullmatch(_SMALL, words[-1])):
        words.pop()
    if words and words[-1].casefold() in _RELATIVE:
        if all(word.casefold() in _ARTICLES for word in words[:-1]):
            return title
        words.pop()
    return " ".join(words)


def _is_calendar(word: str) -> bool:
    return _CALENDAR.fullmatch(word) is not None


def _is_title(text: str, match: re.Match[str]) -> bool:
    """Whether quotation marks hold a title: not all of the text, nor what somebody said, nor a mere day."""
    start, end = match.span()
    before, said = text[max(0, start - _NEAR) : start], match[match.lastgroup or 0]
    if (start <= _NEAR and not (before + text[end : end + _NEAR]).strip(" .!?")) or len(said.split()) > _LONGEST:
        return False
    if _OF_A_WORK.search(before):
        return True
    if _WHEN.search(before):
        return False
    words = _WORD.findall(said)
    large = all(re.match(_LARGE, word) or re.fullmatch(_SMALL, word) for word in words)
    if not words or not large or not re.match(_LARGE, words[0]):
        return False
    is_time = all(_is_calendar(word) or re.fullmatch(_SMALL, word.casefold()) for word in words)
    return not (is_time or _ENDED.search(said) or _SAYING.search(before))


__all__ = ["blanked"]
