"""Sorts: whether a fact tells of another thing of a sort than the one a question names. Pure.

"When is pizza night?" is not answered by when poker night is: both are nights, and the word before that says which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from engram.english.claims import stem
from engram.regex import regex
from engram.text import STOP_WORDS, compared

__all__ = ["is_of_another", "lacks_the_head"]

_BE: Final = r"(?:is|are|was|were)"
_DET: Final = r"(?:my|our|the)"
_OWN: Final = r"(?:user's|my|our|the|an?|this|that|every|each)"
_RUN: Final = r"(?:[a-z-]+ ){1,3}?"
_THING: Final = rf"{_RUN}[a-z-]+"
_ASKED: Final = regex(
    r"^(?:(?:and|so|by|on|at|until) )*(?:when|where|who|which|what(?: time| day)?|how (?:much|long|often|big|far))\b.*?"
    rf"(?:(?:\b{_BE}|'s) (?:{_DET} (?!{_DET}\b))?(?P<is>{_THING})"
    r"(?= (?:in|on|at|with|for|from|due|happen\w*|scheduled|planned|going|today|tomorrow|tonight|next|this)\b|[?.! ]*$)"
    rf"|\b(?:do|does|did|for|to|of|in) {_DET} (?P<does>{_THING})"
    r"(?= (?:runs?|start|take|cost|end|expire|close|open|happen)\b|[?.! ]*$))"
)
_TOLD: Final = rf"(?:^(?!{_OWN} )|\b(?:{_OWN}|[a-z]+'s) )(?P<thing>{_RUN}"
_NO_SORT: Final = """
    next last new old first second third weekly daily monthly yearly annual quarterly big small main current regular
    official usual own whole upcoming little great good best favourite favorite other another same exact actual full
    total
"""
_SAYS_NO_SORT: Final = frozenset(_NO_SORT.split())
_WORD: Final = regex(r"[\w-]+")
MAX_READ: Final = 300


def is_of_another(question: str, fact: str) -> bool:
    """Whether a question names a thing by two words or more, and a fact only another of the same sort.

    >>> is_of_another("When is pizza night?", "Poker night is at Hank's")
    True
    >>> is_of_another("When is our anniversary?", "User's wedding anniversary is June 18")
    False
    """
    if max(len(question), len(fact)) > MAX_READ:
        return False
    asked = _asked(question)
    if asked is None:
        return False
    said = compared(fact).replace("’", "'")
    held = frozenset(map(stem, _WORD.findall(said)))
    wanted, sort = frozenset(map(stem, asked)), asked[-1]
    if wanted <= held:
        return False
    told = list(_things(_told_of(sort), said))
    return bool(told) and all(not frozenset(map(stem, one)) <= wanted for one in told)


def lacks_the_head(question: str, fact: str) -> bool:
    """Whether a question asks for a thing by several words, of which a fact has but the last, which says what it is.

    >>> lacks_the_head("What's my blood type?", "User's blood pressure is fine")
    True
    """
    if max(len(question), len(fact)) > MAX_READ:
        return False
    asked = _asked(question)
    if asked is None or asked[-1] not in _OF_RECORD:
        return False
    held = frozenset(map(stem, _WORD.findall(compared(fact).replace("’", "'").replace("'s", " "))))
    return stem(asked[-1]) not in held and not held.isdisjoint(map(stem, asked[:-1]))


_ON_RECORD: Final = """
    password passcode passphrase pin username type group size limit score balance fee deposit excess premium iban
"""
_OF_RECORD: Final = frozenset(_ON_RECORD.split())
"""What is told by its own word: another thing that is asked for by two words may be told by a name of one."""


@lru_cache(maxsize=256)  # each of the facts that were found is held against the same question
def _asked(question: str) -> tuple[str, ...] | None:
    """The thing of several words that a question asks for."""
    thing = next(_things(_ASKED, compared(question).replace("’", "'")), None)
    return None if thing is None else tuple(thing)


@lru_cache(maxsize=256)
def _told_of(sort: str) -> re.Pattern[str]:
    """What finds the things of a sort in a fact."""
    return re.compile(rf"{_TOLD}{re.escape(sort)})(?![\w'-])")


def _things(pattern: re.Pattern[str], said: str) -> Iterator[list[str]]:
    """The things of several words that a pattern finds, without the words that say no sort."""
    for found in pattern.finditer(said):
        thing = next(filter(None, found.groupdict().values()), "")
        words = [word for word in thing.split() if word not in _SAYS_NO_SORT]
        if len(words) > 1 and STOP_WORDS.isdisjoint(words):
            yield words
