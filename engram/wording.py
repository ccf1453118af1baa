"""The words of patterns: those one of which stands in every text in which a pattern is found. Pure.

Rules are many alternatives, each of which begins with or holds some word, and a text holds hardly any of them. An
expression tries them at each character; whether a text holds one of the words is one comparison of two sets. Which
words they are is read off the expression itself, so they follow it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from re import _constants as _sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

__all__ = ["Worded", "words_needed", "words_of"]

MOST: Final = 4_000  # wordings of a pattern that are told apart
FEW: Final = 8  # characters of a class that are
_WORD: Final = re.compile(r"\w+")
_SAID_OFTEN: Final = """
    a about an and are as at be by can do does for from had has have i in is it me my no not of on or our so that the
    this to user was we will with you
"""
_COMMON: Final = frozenset(_SAID_OFTEN.split())
# What a wording holds beside the characters of words: anything or nothing, a word's edge, one character of no word.
_ANY, _EDGE, _BLANK = "\0", "\1", " "
_REPEATS: Final = (_sre.MAX_REPEAT, _sre.MIN_REPEAT, _sre.POSSESSIVE_REPEAT)
_ZERO: Final = (_sre.ASSERT, _sre.ASSERT_NOT)
_BLANKS: Final = (_sre.CATEGORY_SPACE, _sre.CATEGORY_NOT_WORD)


@lru_cache(maxsize=4_096)
def words_of(text: str) -> frozenset[str]:
    """The words of a text, as patterns see their edges."""
    return frozenset(_WORD.findall(text))


class Worded:
    """A pattern that is looked for in texts that hold one of its words, which are read off it when first asked for."""

    __slots__ = ("_folds", "_known", "_words", "pattern")

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern, self._known = pattern, False
        self._folds = bool(pattern.flags & re.IGNORECASE)
        self._words: frozenset[str] | None = None

    def search(self, text: str, held: frozenset[str]) -> re.Match[str] | None:
        """Where the pattern is found in a text; `held` are its words in small letters, perhaps with others."""
        if not self._known:
            self._words, self._known = words_needed(self.pattern), True
        if self._words is not None and self._words.isdisjoint(held) and (text.isascii() or not self._folds):
            return None
        return self.pattern.search(text)


def words_needed(pattern: re.Pattern[str]) -> frozenset[str] | None:
    """Words one of which stands whole in every text in which a pattern is found; None where it cannot be told.

    Of a pattern that ignores case they are in small letters, and say so of texts of ASCII only: of others a letter may
    stand for one that is not its capital.
    """
    if pattern.flags & (re.ASCII | re.LOCALE):
        return None
    found: set[str] = set()
    for wording in _wordings(list(_parser.parse(pattern.pattern, pattern.flags).data)):
        whole = _whole_words(wording)
        if not whole:
            return None
        found.add(max(whole, key=_rarity))
    return frozenset(map(str.lower, found)) if pattern.flags & re.IGNORECASE else frozenset(found)


def _rarity(word: str) -> tuple[bool, int]:
    """How seldom a text will hold a word, roughly."""
    return word not in _COMMON, len(word)


def _whole_words(wording: str) -> list[str]:
    """The words of a wording whose both edges are in it."""
    edges = _EDGE + _BLANK
    return [
        run.group()
        for run in _WORD.finditer(wording)
        if run.start() > 0 and wording[run.start() - 1] in edges
        and run.end() < len(wording) and wording[run.end()] in edges
    ]  # fmt: skip


def _wordings(items: list[Any]) -> Iterable[str]:
    """How what a sequence matches may be worded."""
    known = [""]
    for op, argument in items:
        more = list(dict.fromkeys(_worded(op, argument)))
        if len(known) * len(more) > MOST:
            if all(map(_whole_words, known)):
                return [one + _ANY for one in known]
            more = [_ANY]
        known = [one + other for one in known for other in more]
    return known


def _worded(op: Any, argument: Any) -> Iterable[str]:
    """How one part of a parsed pattern may be worded."""
    if op is _sre.LITERAL:
        return [_character(chr(argument))]
    if op is _sre.IN:
        return _class(argument)
    if op is _sre.BRANCH:
        return [one for branch in argument[1] for one in _wordings(list(branch.data))]
    if op is _sre.SUBPATTERN:
        return [_ANY] if argument[1] or argument[2] else _wordings(list(argument[3].data))
    if op is _sre.ATOMIC_GROUP:
        return _wordings(list(argument.data))
    if op in _REPEATS:
        return _repeated(int(argument[0]), argument[1], _wordings(list(argument[2].data)))
    if op is _sre.AT:
        return [_ANY] if argument is _sre.AT_NON_BOUNDARY else [_EDGE]
    return [""] if op in _ZERO else [_ANY]


def _repeated(least: int, most: Any, body: Iterable[str]) -> Iterable[str]:
    once = list(body)
    if most == 1:
        return once if least else ["", *once]
    if set(once) == {_BLANK}:
        return [_BLANK] if least else ["", _BLANK]
    return [one + _ANY for one in once] if least else [_ANY]


def _class(argument: list[Any]) -> Iterable[str]:
    """What one character of a class may be."""
    if any(op not in (_sre.LITERAL, _sre.CATEGORY) for op, _ in argument):
        return [_ANY]
    if any(op is _sre.CATEGORY and value not in _BLANKS for op, value in argument):
        return [_ANY]
    told = {_BLANK if op is _sre.CATEGORY else _character(chr(value)) for op, value in argument}
    return sorted(told) if len(told) <= FEW else [_ANY]


def _character(character: str) -> str:
    return character if _WORD.match(character) else _BLANK
