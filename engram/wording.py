"""The words of patterns: those one of which stands in every text in which a pattern is found. Pure.

Rules are many alternatives, each of which begins with or holds some word, and a text holds hardly any of them. An
expression tries them at each character; whether a text holds one of the words is one comparison of two sets. Which
words they are is read off the expression itself, so they follow it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from re import _constants as _sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final, Generic, TypeVar, cast

from engram.regex import regex

__all__ = ["OfWords", "Worded", "worded", "words_needed", "words_of"]

T = TypeVar("T")

MOST: Final = 300  # wordings of a pattern that are told apart
SOON: Final = 500  # texts in which a pattern was looked for, after which its words are read off it
LATE: Final = 2_000  # texts of which things were asked, after which the words of theirs are: these are tried faster
MANY: Final = 100  # of which each is shortened
FEW: Final = 8  # characters of a class that are
_WORD: Final = re.compile(r"\w+")
_SAID_OFTEN: Final = """
    i a the to and it s is you in my of for that on with me so m your have was we do user t what how can at really like
    been about up be from this are but did not just no one has ve all out he she they when now ll re us work time them
    there who some any new good get got had see which going go by as way let where here our two something always know
    may make made will would his her or if too more also then over think want need other never these those back before
    after were does don d even being group team
"""
_OFTEN: Final = {word: place for place, word in enumerate(_SAID_OFTEN.split())}
"""The words that are said most, and how many of them are said more."""
# What a wording holds beside the characters of words: anything or nothing, a word's edge, one character of no word.
_ANY, _EDGE, _BLANK = "\0", "\1", " "
_REPEATS: Final = (_sre.MAX_REPEAT, _sre.MIN_REPEAT, _sre.POSSESSIVE_REPEAT)
_ZERO: Final = (_sre.ASSERT, _sre.ASSERT_NOT)
_BLANKS: Final = (_sre.CATEGORY_SPACE, _sre.CATEGORY_NOT_WORD)


@lru_cache(maxsize=4_096)
def words_of(text: str) -> frozenset[str]:
    """The words of a text, as patterns see their edges."""
    return frozenset(_WORD.findall(text))


@lru_cache(maxsize=8_192)
def _folded(text: str) -> frozenset[str] | None:
    """The words of a text in small letters; None where a letter of it may stand for another one."""
    return None if _has_odd_letters(text) else words_of(text.lower())


class Worded:
    """A pattern that is looked for only in texts that hold one of its words, once it was in so many that this pays."""

    __slots__ = ("_asked", "_folds", "_known", "_words", "pattern")

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern
        self._asked, self._known, self._folds = 0, False, True
        self._words: frozenset[str] | None = None

    def may_be_in(self, text: str, held: frozenset[str] | None = None) -> bool:
        """Whether a text holds one of the pattern's words; `held` are its own, in small letters if case is ignored."""
        if not self._known:
            self._asked += 1
            if self._asked <= SOON:
                return True
            self._words, self._folds = words_needed(self.pattern), bool(self.pattern.flags & re.IGNORECASE)
            self._known = True  # last: another thread may ask meanwhile
        if self._words is None:
            return True
        if self._folds and (held is None or not text.isascii()):
            held = _folded(text)
            return held is None or not self._words.isdisjoint(held)
        return not self._words.isdisjoint(words_of(text) if held is None else held)

    def search(self, text: str, held: frozenset[str] | None = None) -> re.Match[str] | None:
        """Where the pattern is found in a text that may hold it."""
        return self.pattern.search(text) if self.may_be_in(text, held) else None

    def match(self, text: str, held: frozenset[str] | None = None) -> re.Match[str] | None:
        """How a text that may hold the pattern begins with it."""
        return self.pattern.match(text) if self.may_be_in(text, held) else None

    def sub(self, by: str, text: str, held: frozenset[str] | None = None) -> str:
        """A text with something else wherever the pattern is found."""
        return self.pattern.sub(by, text) if self.may_be_in(text, held) else text


def worded(pattern: str, flags: int = 0) -> Worded:
    """An expression that is looked for only in texts that hold one of its words."""
    return Worded(regex(pattern, flags))


class OfWords(Generic[T]):
    """Things that have a pattern each, of which a text is asked those alone whose words it holds, in their order.

    Reading the words off the patterns takes as long as is gained by it with some thousand texts: a process that reads
    fewer asks every thing.
    """

    __slots__ = ("_always", "_asked", "_by_word", "_of_none", "_things", "_words", "pattern_of")

    def __init__(self, things: Iterable[T], pattern_of: Callable[[T], re.Pattern[str]] | None = None) -> None:
        self._things = tuple(things)
        self.pattern_of = pattern_of or (lambda thing: cast("re.Pattern[str]", thing))  # they are patterns
        self._by_word: dict[str, list[int]] = {}
        self._always: list[int] = []
        self._of_none: tuple[T, ...] = ()
        self._words: frozenset[str] | None = None
        self._asked = 0

    def __iter__(self) -> Iterator[T]:
        """All of the things, in their order."""
        return iter(self._things)

    def asked_of(self, text: str) -> Sequence[T]:
        """The things whose pattern may be found in a text; all of them where a letter may stand for another."""
        words = self._words
        if words is None:
            self._asked += 1
            if self._asked <= LATE:
                return self._things
            words = self._told_apart()
        held = _folded(text)
        if held is None:
            return self._things
        if words.isdisjoint(held):
            return self._of_none
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
        self._of_none = tuple(self._things[place] for place in always)
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
    held = [_whole_words(wording) for wording in _wordings(list(_parser.parse(pattern.pattern, pattern.flags).data))]
    shared = Counter(word for whole in held for word in set(whole))
    for whole in held:
        if not whole:
            return None
        found.add(max(whole, key=lambda word: (_rarity(word), shared[word])))
    if not pattern.flags & re.IGNORECASE:
        return frozenset(found)
    return frozenset(map(str.lower, found)) if all(map(str.isascii, found)) else None


_ODD_LETTERS: Final = frozenset("\u0130\u0131\u017f\u212a")  # I and i of Turkish, long s, the sign of Kelvin


def _has_odd_letters(text: str) -> bool:
    return not (text.isascii() or _ODD_LETTERS.isdisjoint(text))


def _rarity(word: str) -> int:
    """How seldom a text will hold a word, roughly."""
    return _OFTEN.get(word.lower(), len(_OFTEN))


def _whole_words(wording: str) -> list[str]:
    """The words of a wording whose both edges are in it."""
    edges = _EDGE + _BLANK
    return [
        run.group()
        for run in _WORD.finditer(wording)
        if run.start() > 0 and wording[run.start() - 1] in edges
        and run.end() < len(wording) and wording[run.end()] in edges
    ]  # fmt: skip


def _tells(wording: str) -> bool:
    """Whether a wording has a whole word that is not said often."""
    return any(_rarity(word) == len(_OFTEN) for word in _whole_words(wording))


def _wordings(items: list[Any]) -> Iterable[str]:
    """How what a sequence matches may be worded, as far as it tells which whole words are in it."""
    known, run = [""], ""  # a run is what every wording goes on with
    for place, (op, argument) in enumerate(items):
        ends_ahead = op is _sre.ASSERT and argument[0] > 0 and place == len(items) - 1
        told = [one + _ANY for one in _wordings(list(argument[1].data))] if ends_ahead else _worded(op, argument)
        more = list(dict.fromkeys(told))
        if len(more) == 1:
            run += more[0]
            continue
        begun = _BEGUN.sub("", run)  # a word that goes on with more
        known, more = [one + run.removesuffix(begun) for one in known], [begun + one for one in more]
        run = ""
        if len(known) > 1 and len(known) * len(more) > MOST:
            apart = [_EDGE + one + _EDGE for one in more]
            is_told = all(map(_whole_words, known))
            if all(map(_tells, known)) or (is_told and not all(map(_tells, apart))):
                return [one + _ANY for one in known]
            if len(more) <= MOST and all(map(_whole_words, apart)):
                known = [_any_of(known)]
            else:
                more = [_any_of(more)]
        known = [one + other for one in known for other in more]
        if len(known) > MANY:
            if all(map(_tells, known)):
                return [one + _ANY for one in known]
            known = list(dict.fromkeys(map(_shortened, known)))
    return [one + run for one in known]


def _any_of(wordings: Iterable[str]) -> str:
    """One wording for all of some: the edges they begin and end with, and whatever between."""
    edges, several = (_EDGE, _BLANK), list(wordings)
    first, last = all(one.startswith(edges) for one in several), all(one.endswith(edges) for one in several)
    return f"{_EDGE if first else ''}{_ANY}{_EDGE if last else ''}"


def _shortened(wording: str) -> str:
    """A wording with the one whole word that tells most between its first and last piece, to which others may join."""
    parts = _BETWEEN.split(wording)
    if len(parts) < _SEVERAL:
        return wording
    first, last = len(parts[0]), len(wording) - len(parts[-1]) - 1  # where its edges and gaps begin and end
    whole = max(reversed(_whole_words(wording)), key=_rarity, default=None)
    told = "" if whole is None else f"{_EDGE}{whole}{_EDGE}{_ANY}"
    return f"{wording[: first + 1]}{_ANY}{told}{wording[last:]}"


_BEGUN: Final = re.compile(r".*\W", re.DOTALL)
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
    if set(once) == {_BLANK}:
        return [_BLANK] if least else ["", _BLANK]
    if least:
        return once if most == 1 else [one + _any_of(once).removeprefix(_EDGE) for one in once]
    if most == 1 and all(map(str.isalnum, once)):
        return ["", *once]  # "rumou?r"
    some = _any_of(once)  # the words of what need not be there are no words of the whole
    return [_ANY] if some == _ANY else ["", some]


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
