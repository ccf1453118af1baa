"""Patterns a policy may use: compiled once, and only when they run in a time that grows gently with the text.

Python's regular expressions backtrack, so a careless pattern can take years on a short text. A pattern is refused when
it repeats a repeat, refers back to what it matched or looks around, or when several open repeats could share the same
characters. What is left costs at most a few million steps on the longest text a rule reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from re import _constants as _sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

from engram.errors import PolicyError
from engram.wording import words_needed, words_of

WINDOW: Final = 1024
"""Rules read at most this many characters of a sentence."""
MAX_PATTERN: Final = 4000
_BUDGET: Final = 3_000_000
_NEVER: Final = r"[^\s\S]"
_SMALL: Final = 8
# Enough characters to see whether two repeats can fight for the same text.
_SAMPLE: Final = (*map(chr, range(32, 127)), "é", "ß", "漢", "я", "\n")

Pattern = re.Pattern[str]


@lru_cache(maxsize=4096)
def compile_safe(pattern: str) -> Pattern:
    """The compiled pattern, or PolicyError when it is not a pattern or could be slow."""
    if not isinstance(pattern, str) or not 0 < len(pattern) <= MAX_PATTERN:
        raise PolicyError(f"a pattern must be text of 1 to {MAX_PATTERN} characters")
    try:
        compiled = re.compile(pattern)
        tree = _parser.parse(pattern)
        cost = _cost(list(tree.data), [], inside=False)
    except (re.error, RecursionError, OverflowError, ValueError):
        raise PolicyError("a pattern is not a regular expression") from None
    if cost * (1 if _is_anchored(tree) else WINDOW) > _BUDGET:
        raise PolicyError("a pattern could take too long: open repeats may share the same characters")
    return compiled


def _is_anchored(tree: Any) -> bool:
    """Whether a parsed pattern matches at the start of a text only."""
    at_start = (_sre.AT_BEGINNING, _sre.AT_BEGINNING_STRING)
    return bool(tree.data) and tree.data[0][0] is _sre.AT and tree.data[0][1] in at_start


@dataclass(frozen=True, slots=True)
class Joined:
    """Many patterns as two: those that match at the start of a text, and those that match anywhere."""

    at_start: Pattern
    anywhere: Pattern
    by_word: Mapping[str, tuple[Pattern, Pattern]] | None  # the same of those that are found only where a word stands

    def is_in(self, text: str) -> bool:
        """Whether any of the patterns is found in a text: those of its words are looked for, which are few or none."""
        if self.by_word is None:
            return self.at_start.match(text) is not None or self.anywhere.search(text) is not None
        asked = (self.by_word[word] for word in self.by_word.keys() & words_of(text))
        return any(start.match(text) is not None or anywhere.search(text) is not None for start, anywhere in asked)


@lru_cache(maxsize=256)
def joined(patterns: tuple[str, ...]) -> Joined | None:
    """Safe patterns as two; None where they cannot stand beside each other, as two with a group of one name."""
    try:
        at_start, anywhere = _in_two(patterns)
        words: dict[str, list[str]] = {}
        for pattern in patterns:
            needed = None if (at_start.flags | anywhere.flags) & re.IGNORECASE else words_needed(re.compile(pattern))
            if needed is None:
                return Joined(at_start, anywhere, None)
            for word in needed:
                words.setdefault(word, []).append(pattern)
        return Joined(at_start, anywhere, {word: _in_two(tuple(those)) for word, those in words.items()})
    except (re.error, RecursionError, OverflowError):
        return None


@lru_cache(maxsize=1_024)
def _in_two(patterns: tuple[str, ...]) -> tuple[Pattern, Pattern]:
    """One pattern for those that match at the start of a text, and one for those that match anywhere."""
    parts: dict[bool, list[str]] = {True: [_NEVER], False: [_NEVER]}
    for pattern in patterns:
        parts[_is_anchored(_parser.parse(pattern))].append(f"(?:{pattern})")
    return re.compile("|".join(parts[True])), re.compile("|".join(parts[False]))


def _cost(items: list[Any], after: list[Any], *, inside: bool) -> int:
    """How many ways a sequence can be tried on the longest text, counted generously; `after` is what follows it."""
    cost = 1
    for place, (op, argument) in enumerate(items):
        rest = items[place + 1 :] + after
        if op in (_sre.GROUPREF, _sre.GROUPREF_EXISTS, _sre.ASSERT, _sre.ASSERT_NOT):
            raise PolicyError("a pattern may not look around or refer back")
        if op is _sre.SUBPATTERN:
            cost *= _cost(list(argument[3].data), rest, inside=inside)
        elif op is _sre.ATOMIC_GROUP:
            cost *= _cost(list(argument.data), rest, inside=inside)
        elif op is _sre.BRANCH:
            cost *= max((_cost(list(branch.data), rest, inside=inside) for branch in argument[1]), default=1)
        elif op in _REPEATS:
            cost *= _repeat_cost(argument, rest, inside=inside)
        if cost > _BUDGET:
            raise PolicyError("a pattern could take too long: open repeats may share the same characters")
    return cost


_REPEATS: Final = (_sre.MAX_REPEAT, _sre.MIN_REPEAT, _sre.POSSESSIVE_REPEAT)


def _repeat_cost(argument: Any, rest: list[Any], *, inside: bool) -> int:
    """How many ways a repeat can be tried: one where what it repeats cannot be what follows."""
    most, body = min(int(argument[1]), WINDOW), list(argument[2].data)
    long = most > _SMALL
    if long and (inside or not _is_one_character(body)):
        raise PolicyError("a pattern may repeat single characters only, or groups a few times")
    again = body + rest if most > 1 else rest
    inner = _cost(body, again, inside=inside or long)
    if most <= 1:
        return inner
    shared = bool(rest) and bool(_first(body) & _first(rest))
    ways = most if shared else 1
    return ways if inner == 1 else min(inner**most, _BUDGET + 1) * ways


def _is_one_character(items: list[Any]) -> bool:
    """Whether a sequence matches exactly one character in one way."""
    if len(items) != 1:
        return False
    op, argument = items[0]
    if op is _sre.SUBPATTERN:
        return _is_one_character(list(argument[3].data))
    return op in (_sre.LITERAL, _sre.NOT_LITERAL, _sre.ANY, _sre.IN)


def _first(items: Iterable[Any]) -> frozenset[str]:
    """The sample characters a sequence can begin with; everything where that is unsure."""
    found: frozenset[str] = frozenset()
    for op, argument in items:
        if op is _sre.AT:
            continue
        if op is _sre.SUBPATTERN:
            found |= _first(argument[3].data)
        elif op is _sre.BRANCH:
            found = found.union(*(_first(branch.data) for branch in argument[1]))
        elif op in _REPEATS:
            found |= _first(argument[2].data)
            if argument[0] == 0:
                continue
        else:
            found |= frozenset(char for char in _SAMPLE if _takes(op, argument, char))
        return found
    return found


def _takes(op: Any, argument: Any, char: str) -> bool:
    """Whether one node of a parsed pattern matches one character."""
    code = ord(char)
    if op is _sre.LITERAL:
        return bool(argument == code)
    if op is _sre.NOT_LITERAL:
        return bool(argument != code)
    if op is _sre.ANY:
        return char != "\n"
    if op is _sre.RANGE:
        return bool(argument[0] <= code <= argument[1])
    if op is _sre.CATEGORY:
        return char in _CATEGORIES.get(argument, _ON_A_LINE)
    if op is _sre.IN:
        negated = bool(argument) and argument[0][0] is _sre.NEGATE
        hit = any(_takes(item[0], item[1], char) for item in argument if item[0] is not _sre.NEGATE)
        return hit is not negated
    return True


_ON_A_LINE: Final = frozenset(_SAMPLE) - {"\n"}
_CATEGORIES: Final = {
    category: frozenset(char for char in _SAMPLE if re.match(pattern, char))
    for category, pattern in (
        (_sre.CATEGORY_DIGIT, r"\d"),
        (_sre.CATEGORY_NOT_DIGIT, r"\D"),
        (_sre.CATEGORY_SPACE, r"\s"),
        (_sre.CATEGORY_NOT_SPACE, r"\S"),
        (_sre.CATEGORY_WORD, r"\w"),
        (_sre.CATEGORY_NOT_WORD, r"\W"),
    )
}
