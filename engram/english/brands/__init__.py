"""Brands: what well-known products, services and companies are, so that a general word finds a particular one. Pure.

"Which payment provider do we use?" is answered by "We use Stripe": they share no word that says anything, and a small
embedder has never heard of Stripe. `sorts.txt` is the table: what a sort of thing is called, and names of such things;
`words.txt` says which of the names are words of their own, or names of people or places.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from engram.regex import regex
from engram.text import compared

__all__ = [
    "Ambiguous", "Sort", "ambiguous", "are_of_one_sort", "asked", "differ_in_sort", "looked_for", "named", "sorts",
]  # fmt: skip

MAX_READ: Final = 300  # characters of a question
LONGEST: Final = 4  # words of what a sort is called
SKIPPED: Final = 3  # words before it: "Which open source database ..."

_TOKEN: Final = regex(r"[^\s,;:!?()\"“”]+")
_DETERMINERS: Final = ("my", "our", "the", "your", "a", "an", "any")
_TAKES_NO_HEAD: Final = """
    do does did are is am was were have has had should can could must will i we you they to for in on at with now
    currently again before today these right instead besides as by from and
"""
_AFTER: Final = frozenset(_TAKES_NO_HEAD.split())
"""What may follow the word that says what is asked for: another noun would be what is."""
_BEFORE: Final = frozenset(("use", "uses", "used", "using", "in", "with", "via", "through", "called", "run", "runs"))
"""What stands before a name rather than before a word of the language."""
_BEFORE_PEOPLE: Final = frozenset(("with", "through", "called"))
_BEFORE_PLACES: Final = frozenset(
    ("in", "to", "from", "at", "near", "around", "outside", "of", "for", "via", "through", "visited", "visits", "visit")
)
"""What stands before a place, or may, where no brand is."""
_OF: Final = r"(?: (?:the )?(?:kinds?|sorts?|types?|brands?|makes?|models?|names?) of)?"
_ASKS: Final = (
    regex(rf"\b(?:which|what)(?:'s| is| are| was| were)?{_OF} (?P<what>.+)"),
    regex(
        r"\bwho(?:'s| is| are| was| were)? (?P<what>(?:my|our) "
        r"(?!(?:[\w-]+ )?(?:trainer|editor|host|printer|scheduler)s?\b).+)"
    ),
)
_FOR: Final = regex(
    r"\b(?:do|did|are|am|should|have) (?:i|we) (?:[\w']+ )?(?:use|used|using|have|need)\b.*? (?:for|as) (?P<what>.+)"
)
_DOES: Final = regex(
    r"\b(?:(?:which|what)\b(?! (?:times?|days?|weekdays?|months?|years?)\b)|"
    r"(?P<about>where|who|whom|how(?! (?:far|fast|long|often|much|many|well|early|late)\b)))\b"
    r".*? (?:do|did|does|am|are|is|have|should|can|must) (?:i|we) "
    r"(?:(?:\w+ly|still|now|also|all|both) )?(?P<does>(?(about)(?!drive\b)).+)"
)


class Ambiguous(NamedTuple):
    """The names that are no brands everywhere: words of their own, and what people and places are called."""

    words: frozenset[str]
    people: frozenset[str]
    places: frozenset[str]


class Sort(NamedTuple):
    """A sort of thing that a question asks for: the words that say so, and what well-known ones are called."""

    words: tuple[str, ...]
    names: frozenset[str]


@lru_cache(maxsize=256)  # a question is asked this for its words, for what answers it and for what may tell it
def asked(question: str) -> Sort | None:
    """The sort of thing that a question asks for by a general word, where the table knows it.

    >>> "stripe" in asked("Which payment provider do we use?").names
    True
    """
    if len(question) > MAX_READ:
        return None
    said = compared(question).replace("’", "'").strip(" ?!.")
    for way in _ASKS:
        asks = way.search(said)
        found = None if asks is None else _headed(asks["what"].split())
        if found is not None:
            return found
    purpose = _FOR.search(said)
    if purpose is not None:
        words = [word for word in purpose["what"].split() if word not in _DETERMINERS]
        return _longest(words, 0, "for ") or _headed(words)
    does = _DOES.search(said)
    return None if does is None else _doing([word for word in does["does"].split() if word not in _DETERMINERS])


def named(fact: str) -> frozenset[str]:
    """The names of the table that a fact holds.

    >>> sorted(named("We moved from Netlify to Fly.io, all in all it was free"))
    ['fly.io', 'netlify']
    """
    said = [_bare(found[0]) for found in _TOKEN.finditer(fact)]
    low = [compared(word) for word in said]
    found = set[str]()
    for at, word in enumerate(low):
        for name, words in _by_first_word().get(word, ()):
            if tuple(low[at : at + len(words)]) == words and _is_name(name, said, low, at):
                found.add(name)
                break
    return frozenset(found)


def differ_in_sort(one: str, other: str) -> bool:
    """Whether two facts hold names of which none of the one is of a sort with any of the other: Stripe and Sentry.

    Names that both hold say nothing of it.
    """
    first, second = named(one), named(other)
    mine, its = first - second, second - first
    if not mine or not its:
        return False
    return not any(mine & names and its & names for names in sorts().values())


def are_of_one_sort(one: str, other: str) -> bool:
    """Whether two values are names of one sort.

    >>> are_of_one_sort("jenkins", "buildkite"), are_of_one_sort("stripe", "sentry")
    (True, False)
    """
    return any(compared(one) in names and compared(other) in names for names in sorts().values())


def looked_for(names: frozenset[str]) -> list[str]:
    """The names that may be looked for by their words, in order: those that are brands wherever they stand."""
    return sorted(names.difference(*ambiguous()))


@cache
def sorts() -> dict[str, frozenset[str]]:
    """The names of every sort, by what it is called; a doing has "to" before it, a purpose "for"."""
    found: dict[str, frozenset[str]] = {}
    called: list[str] = []
    names: list[str] = []
    for line in (*_lines("sorts.txt"), ""):
        if line.startswith(" "):
            names += line.split(",")
        elif line:
            called += line.split(",")
        else:
            known = frozenset(name.strip() for name in names) - {""}
            for one in called if known else ():
                key = _key(one.split())
                found[key] = found.get(key, frozenset()) | known
            called, names = [], []
    found.pop("", None)
    return found


@cache
def _in_sorts() -> frozenset[str]:
    """The words that sorts are called by."""
    return frozenset(word for called in sorts() for word in called.split())


@cache
def _by_first_word() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """The names by their first word, the longest first."""
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for name in frozenset[str]().union(*sorts().values()):
        words = tuple(map(_bare, name.split()))
        found.setdefault(words[0], []).append((name, words))
    for names in found.values():
        names.sort(key=lambda one: (-len(one[1]), one))
    return found


@cache
def ambiguous() -> Ambiguous:
    """The names that are words of their own, and those of people and places."""
    kinds = "\n".join(_lines("words.txt")).strip().split("\n\n")
    return Ambiguous(*(frozenset(name.replace("_", " ") for name in names.split()) for names in kinds))


def _lines(name: str) -> list[str]:
    """The lines of a file of the table, without remarks."""
    text = files(__name__).joinpath(name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


def _headed(words: Sequence[str]) -> Sort | None:
    """The sort that a run of words names where it begins, as its head: of "car insurance do I" the insurance."""
    begin = next((at for at, word in enumerate(words) if word not in _DETERMINERS), 0)
    for first in range(begin, min(begin + SKIPPED, len(words))):
        if words[first] in _AFTER:
            return None
        found = _longest(words, first)
        after = None if found is None else words[first + len(found.words) : first + len(found.words) + 1]
        if found is not None and (not after or after[0] in _AFTER):
            return found
    return None


def _doing(words: Sequence[str]) -> Sort | None:
    """The sort that a doing asks for, where it begins a run of words: "host the database on"."""
    return _longest(words, 0, "to ")


def _longest(words: Sequence[str], first: int, before: str = "") -> Sort | None:
    if words[first : first + 1] and words[first] not in _DETERMINERS and _singular(words[first]) not in _in_sorts():
        return None
    for last in range(min(first + LONGEST, len(words)), first, -1):
        run = words[first:last]
        names = sorts().get(before + _key(run))
        if names is not None:
            return Sort(tuple(run), names)
    return None


def _bare(word: str) -> str:
    """A word as it stands in a text, without what is written about it and behind it: "Stripe's"."""
    return word.strip(".'’*_`").removesuffix("'s").removesuffix("’s")


def _is_name(name: str, said: Sequence[str], low: Sequence[str], at: int) -> bool:
    """Whether what may be a name is one where it stands."""
    known = ambiguous()
    before, after = low[at - 1] if at else "", low[at + len(name.split()) :]
    if name in known.places:
        return before not in _BEFORE_PLACES
    if name not in known.words and name not in known.people:
        return True
    if name in known.words and at > 0 and said[at][:1].isupper():
        return True
    stands_as_one = before in (_BEFORE if name in known.words else _BEFORE - _BEFORE_PEOPLE)
    return stands_as_one and (not after or after[0] in _AFTER)


def _key(words: Sequence[str]) -> str:
    return " ".join(_singular(word) for word in words if word not in _DETERMINERS)


def _singular(word: str) -> str:
    word = word.removesuffix("'s")
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word
