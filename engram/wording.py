"""The words of patterns: those one of which stands in every text in which a pattern is found. Pure.

Rules are many alternatives, each of which begins with or holds some word, and a text holds hardly any of them. An
expression tries them at each character; whether a text holds one of the words is one comparison of two sets. Which
words they are is read off the expression itself, so they follow it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from re import _constants as _sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final, Generic, TypeVar, cast

__all__ = ["OfWords", "Worded", "words_needed", "words_of"]

T = TypeVar("T")

MOST: Final = 300  # wordings of a pattern that are told apart
SOON: Final = 2_000  # texts after which the words of patterns are read off them
MANY: Final = 100  # of which each is shortened
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

    def search(self, text: str, held: frozenset[str] | None = None) -> re.Match[str] | None:
        """Where the pattern is found in a text; `held` are its words, in small letters if it ignores case."""
        if not self._known:
            self._words, self._known = words_needed(self.pattern), True
        if self._words is not None:
            held = words_of(text.lower() if self._folds else text) if held is None else held
            if self._words.isdisjoint(held) and not (self._folds and _has_odd_letters(text)):
                return None
        return self.pattern.search(text)


class OfWords(Generic[T]):
    """Things that have a pattern each, of which a text is asked those alone whose words it holds, in their order.

    Reading the words off the patterns takes as long as is gained by it with some thousand texts: a process that reads
    fewer asks every thing.
    """

    __slots__ = ("_always", "_asked", "_by_word", "_things", "_words", "pattern_of")

    def __init__(self, things: Iterable[T], pattern_of: Callable[[T], re.Pattern[str]] | None = None) -> None:
        self._things = tuple(things)
        self.pattern_of = pattern_of or (lambda thing: cast("re.Pattern[str]", thing))  # they are patterns
        self._by_word: dict[str, list[int]] = {}
        self._always: list[int] = []
        self._words: frozenset[str] | None = None
        self._asked = 0

    def __iter__(self) -> Iterator[T]:
        """All of the things, in their order."""
        return iter(self._things)

    def asked_of(self, text: str) -> Sequence[T]:
        """The things whose pattern may be found in a text; all of them where a letter may stand for another."""
        if _has_odd_letters(text):
            return self._things
        words = self._words
        if words is None:
            self._asked += 1
            if self._asked <= SOON:
                return self._things
            words = self._told_apart()
        held = words_of(text.lower())
        if words.isdisjoint(held):
            return [self._things[place] for place in self._always] if self._always else ()
        places = {place for word in words & held for place in self._by_word[word]}
        return [self._things[place] for place in sorted(places.union(self._always))]

    def _told_apart(self) -> frozenset[str]:
        by_word: dict[str, list[int]] = {}
        always: list[int] = []
        for place, thing in enumerate(self._things):
            words = words_needed(self.pattern_of(thing))
            for word in words or ():  # who holds a word with capitals holds it in small letters
                by_word.setdefault(word.lower(), []).append(place)
            if words is None:
                always.append(place)
        self._by_word, self._always = by_word, always
        self._words = frozenset(by_word)  # last: another thread may ask meanwhile
        return self._words


def words_needed(pattern: re.Pattern[str]) -> frozenset[str] | None:
    """Words one of which stands whole in every text in which a pattern is found; None where it cannot be told.

    Of a pattern that ignores case they are in small letters, and say so of texts without the four letters that stand
    for one of ASCII of which they are neither the small one nor the capital.
    """
    if pattern.flags & (re.ASCII | re.LOCALE):
        return None
    found: set[str] = set()
    for wording in _wordings(list(_parser.parse(pattern.pattern, pattern.flags).data)):
        whole = _whole_words(wording)
        if not whole:
            return None
        found.add(max(whole, key=_rarity))
    if not pattern.flags & re.IGNORECASE:
        return frozenset(found)
    return frozenset(map(str.lower, found)) if all(map(str.isascii, found)) else None


_ODD_LETTERS: Final = frozenset("\u0130\u0131\u017f\u212a")  # I and i of Turkish, long s, the sign of Kelvin


def _has_odd_letters(text: str) -> bool:
    return not (text.isascii() or _ODD_LETTERS.isdisjoint(text))


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
    """How what a sequence matches may be worded, as far as it tells which whole words are in it."""
    known = [""]
    for op, argument in items:
        more = list(dict.fromkeys(_worded(op, argument)))
        if len(known) * len(more) > MOST:
            if all(map(_whole_words, known)):
                return [one + _ANY for one in known]
            more = [_ANY]
        known = [one + other for one in known for other in more]
        if len(known) > MANY:
            known = list(dict.fromkeys(map(_shortened, known)))
    return known


def _shortened(wording: str) -> str:
    """A wording with the one whole word that tells most between its first and last piece, to which others may join."""
    parts = _BETWEEN.split(wording)
    if len(parts) < _SEVERAL:
        return wording
    first, last = len(parts[0]), len(wording) - len(parts[-1]) - 1  # where its edges and gaps begin and end
    whole = max(_whole_words(wording), key=_rarity, default=None)
    told = "" if whole is None else f"{_EDGE}{whole}{_EDGE}{_ANY}"
    return f"{wording[: first + 1]}{_ANY}{told}{wording[last:]}"


_BETWEEN: Final = re.compile(r"\W")
_SEVERAL: Final = 3


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
