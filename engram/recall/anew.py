"""Anew: what somebody says again of another value: "The key is changed every 60 days now". Pure.

What no deriver makes a fact of is answered in the words it was said in. Of words that say one thing twice, of another
value, the later ones are so.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from engram.english import brands
from engram.english.subjects import MAX_SENTENCE, plain
from engram.recall.sayings import is_supposed
from engram.regex import regex

OF_A_FRAME: Final = 3  # words at least before a value
OF_A_VALUE: Final = 3  # words of it at most
AFTER_A_VALUE: Final = 1
_BECAME: Final = regex(
    r" (?:(?:has|was|has been|got) )?(?:changed|moved|switched|renamed|pushed|postponed|updated|raised|lowered|"
    r"increased|reduced|cut|extended) to "
)
_TURNED: Final = r"(?:now|again|these days|nowadays|currently|from now on|instead|at the moment|right now)"
_NOW: Final = regex(rf",? {_TURNED}(?= |[.!]?$)|[.!]+$")
_TURN: Final = regex(rf"\b{_TURNED}\b")
_WORD: Final = regex(r"[\w'-]+")
_PLACED: Final = frozenset(
    ("at", "in", "on", "by", "before", "after", "as", "from", "for", "to", "with", "a", "an", "the")
)
"""What a value begins with tells its kind: at which gate a flight arrives, and at what time."""
_OF_WHAT: Final = regex(r"[a-z]+ (?:per|an?|each|every) [a-z]+")
"""What a number counts: "requests per minute"."""
_LINKS: Final = """
    is are was were has have had not no and or but who which that because if when with
"""
_NO_VALUE: Final = frozenset(_LINKS.split())
_ONCE: Final = regex(
    r"\b(?:was|were|did|had|will|would|today|tonight|yesterday|tomorrow|ago|went|came|met|saw|got|bought|made|took|"
    r"gave|told|ate|left|sold|lost|won|paid|spent|flew|drove|broke|fell|began|ran|sent|heard|said|found|"
    r"(?!called|named|based|located|supposed|needed|allowed)[a-z]{3,}ed|"
    r"last (?:night|week|month|year)|this (?:morning|week|time))\b"
)
"""What happened, of which the newer does not take the place of the older."""
_PASSES_SOON: Final = regex(
    r"\b(?:right now|just now|at the moment|for now|this minute|(?:until|till) (?!\d|noon|midnight|late\b))"
)


@lru_cache(maxsize=4096)
def is_said_anew(said: str, before: str) -> bool:
    """Whether a text says what another said before, of another value.

    Both say the same up to near the end, where the value stands, and tell how things are.

    >>> is_said_anew("We meet every Tuesday now", "We meet every Monday")
    True
    """
    texts = [_NOW.sub("", _BECAME.sub(" is ", plain(one[:MAX_SENTENCE]))) for one in (said, before)]
    if any(map(_ONCE.search, texts)) or is_supposed(said):
        return False
    new, old = (one.split() for one in texts)
    first = _shared(new, old)
    last = _shared(new[first:][::-1], old[first:][::-1])
    values = [words[first : len(words) - last] for words in (new, old)]
    if first < OF_A_FRAME or not all(0 < len(value) <= OF_A_VALUE for value in values):
        return False
    if last > AFTER_A_VALUE and _OF_WHAT.fullmatch(" ".join(new[len(new) - last :])) is None:
        return False
    kinds = {value[0] if value[0] in _PLACED else "" for value in values}
    return len(kinds) == 1 and all(_NO_VALUE.isdisjoint(value) for value in values)


@lru_cache(maxsize=4096)
def is_of_another_name(said: str, before: str) -> bool:
    """Whether a text says by now of a thing that it is another of a known sort: "CI is on Buildkite these days".

    >>> is_of_another_name("CI is on GitHub Actions these days", "CI runs on CircleCI")
    True
    """
    texts = [plain(one[:MAX_SENTENCE]) for one in (said, before)]
    if (_TURN.search(texts[0]) is None and _BECAME.search(texts[0]) is None) or any(map(_ONCE.search, texts)):
        return False
    new, old = brands.named(said) - brands.named(before), brands.named(before) - brands.named(said)
    if len(new) != 1 or len(old) != 1 or is_supposed(said):
        return False
    subjects = [_WORD.findall(text)[:1] for text in texts]
    return subjects[0] == subjects[1] and brands.are_of_one_sort(*new, *old)


@lru_cache(maxsize=4096)
def tells_what_is_so(said: str) -> bool:
    """Whether somebody's words tell how things are, rather than what happened, soon passes or is only thought of.

    >>> tells_what_is_so("Marek picks up the kids"), tells_what_is_so("Marek picked up the kids yesterday")
    (True, False)
    """
    text = plain(said[:MAX_SENTENCE])
    return _ONCE.search(text) is None and _PASSES_SOON.search(text) is None and not is_supposed(said)


def asks_for_the_former(question: str, said: str, before: str) -> bool:
    """Whether a question names what one text says and a later one, which speaks of no change, does not.

    >>> asks_for_the_former("What does rack 1 run?", "The server in rack 2 runs BSD", "The server in rack 1 runs Linux")
    True
    """
    later, former = plain(said), plain(before)
    if _BECAME.search(later) or _TURN.search(later):
        return False
    of_former = frozenset(_WORD.findall(former)) - frozenset(_WORD.findall(later))
    return not of_former.isdisjoint(_WORD.findall(plain(question)))


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words two texts have in common from their first on."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (word, of_other) in pairs if word != of_other), min(len(one), len(other)))
