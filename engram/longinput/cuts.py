"""Where a text may be cut: no character torn, as late as it fits, and rather after a paragraph than within a word."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

LONGEST_CHARACTER: Final = 64
"""Code points that are kept together as one character; a longer heap of marks is cut like a text."""

_NEWLINE = r"(?:\r\n|\r|\n)"
PROSE: Final = tuple(
    map(re.compile, (rf"{_NEWLINE}[ \t]*{_NEWLINE}", _NEWLINE, r"[.!?…][\"'”’)\]]{0,3}\s|[。！？]", r"\s"))
)
"""Paragraph, line, sentence, word."""
LINES: Final = tuple(map(re.compile, (rf"{_NEWLINE}[ \t]*{_NEWLINE}", _NEWLINE, r"[;,]\s?", r"\s")))
"""Paragraph, line, list item, word: for what people do not read as sentences."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much a chunk may hold, in characters and in tokens."""

    characters: int
    tokens: int
    count: Callable[[str], int]

    def fits(self, text: str) -> bool:
        """Whether the text is small enough for one chunk."""
        return len(text) <= self.characters and self.count(text) <= self.tokens

    def weight(self, text: str) -> int:
        """The tokens of a text, or what its characters are worth where that is more."""
        return max(self.count(text), -(-len(text) * self.tokens // self.characters))


def ends_of(text: str, size: Size, breaks: Sequence[re.Pattern[str]]) -> list[int]:
    """The end of every chunk of a text."""
    ends, at = [], 0
    while at < len(text):
        at = end_of(text, at, size, breaks)
        ends.append(at)
    return ends


def end_of(text: str, start: int, size: Size, breaks: Sequence[re.Pattern[str]]) -> int:
    """Where the chunk that begins at `start` ends: at the last of the best breaks beyond half of what it may hold."""
    room = min(size.characters, len(text) - start)
    while room > 1 and (tokens := size.count(text[start : start + room])) > size.tokens:
        room = max(1, min(room - 1, room * size.tokens // tokens))
    most = start + room
    if most == len(text):
        return most
    for pattern in breaks:
        place = 0
        for match in pattern.finditer(text, start + room // 2, most):
            place = match.end()
        if place:
            return whole(text, place, start + 1)
    return whole(text, most, start + 1)


def whole(text: str, at: int, least: int) -> int:
    """The last place from `least` to `at` where no character is torn; `at` itself where none is near."""
    place = at
    while place >= least and at - place < LONGEST_CHARACTER:
        if not torn(text, place):
            return place
        place -= 1
    return at + 1 if text[at - 1 : at + 1] == "\r\n" else at


def torn(text: str, at: int) -> bool:
    """Whether a cut before the character at `at` would tear what is seen as one."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return before == "\r" and after == "\n"
    if before == "\u200d":
        return not after.isspace()
    if after in "\u200c\u200d\uff9e\uff9f" or unicodedata.category(after)[0] == "M":
        return not before.isspace()
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return not before.isspace()
    if "\u1160" <= after <= "\u11ff":
        return "\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    if _is_flag(before) and _is_flag(after):
        return _flags_before(text, at) % 2 == 1
    return False


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, at: int) -> int:
    """How many letters of flags stand before a place, as far as it matters: two make one flag."""
    least = max(0, at - LONGEST_CHARACTER)
    place = at
    while place > least and _is_flag(text[place - 1]):
        place -= 1
    return at - place
