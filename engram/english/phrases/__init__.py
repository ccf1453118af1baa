"""The things of daily life of which people have one, and the several ways in which each is spoken of. Pure.

"My landlord is Mr. Haines", "I rent from Mr. Haines" and "Mr. Haines owns my flat" set one attribute. What the noun
alone tells is read in `attributes`; here are the nouns that name one thing, the verbs that set it, and the
questions that ask for it (`phrases.table`). An attribute whose name begins with `~` is loose: of it there may be
several, so that another value takes the place of the one that is known only where the words say that something changed
(`frames`).

A statement is in the third person, compared, and plain ("user rents from mr. haines").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from engram.english.phrases import services
from engram.english.phrases.services import is_for_a_service
from engram.english.phrases.table import ENTRIES, SERVICES, STANDS_FOR
from engram.english.phrases.words import INSTRUMENTS, SPORTS, TONGUES, Kind, fits
from engram.regex import regex
from engram.wording import OfWords
from engram.wordlists import word_set


class Phrase(NamedTuple):
    """What a statement gives the value of, the text at whose start the value stands, and what it has to be."""

    name: str
    found: str
    kind: Kind


class _Said(NamedTuple):
    name: str
    kind: Kind
    pattern: re.Pattern[str]


def _pattern(said: str) -> str:
    for mark, stands_for in STANDS_FOR.items():
        said = said.replace(mark, stands_for)
    return said


def _by_verb() -> dict[str, list[_Said]]:
    """What each verb of the user may set."""
    found: dict[str, list[_Said]] = {}
    for entry in ENTRIES:
        for verbs, kind, rest in entry.said:
            said = _Said(entry.name, kind, regex(f"^{_pattern(rest)}$"))
            for verb in verbs.split("|"):
                found.setdefault(verb, []).append(said)
    return found


_BY_VERB: Final = _by_verb()
_OF_A_THING: Final = OfWords(
    (_Said(entry.name, kind, regex(f"^{_pattern(said)}$")) for entry in ENTRIES for kind, said in entry.owned),
    attrgetter("pattern"),
)
_BY_SOMEBODY: Final = OfWords(
    (
        _Said(entry.name, "name", regex(rf"^(?P<value>[^,;:]{{1,40}}?) {done}$"))
        for entry in ENTRIES
        for done in entry.done
    ),
    attrgetter("pattern"),
)
_ASKED: Final = OfWords(
    ((regex(f"^(?:{_pattern(asked)})$"), entry.name) for entry in ENTRIES for asked in entry.asked), itemgetter(0)
)
_BESIDE: Final = {
    entry.name: regex(rf"(?i)user (?:{entry.beside}) (?!.* as user['’]s )") for entry in ENTRIES if entry.beside
}
NOUNS: Final = {noun: entry.name for entry in ENTRIES for noun in entry.nouns.split("|") if noun}
"""Nouns that name an attribute, and its name."""
KINDS: Final[dict[str, Kind]] = {entry.name: entry.value for entry in ENTRIES if entry.value is not None}
"""What the value of an attribute has to be where a noun names it, if that is no name."""

# ------------------------------------------------ statements

_USER_DOES: Final = regex(
    r"^user (?:has (?:(?:just|now|recently|finally) )?(?=[a-z]+ed\b))?(?P<verb>[a-z]+) (?P<rest>.+)$"
)
_TAKEN_UP: Final = regex(
    r"^user (?:has )?(?:taken up|took up|got into|gotten into|is into) (?P<value>[^,;:]+?)(?: as user's (?P<np>\w+))?$"
)
_AS_MINE: Final = {"sport": "~sport", "hobby": "~hobby", "pastime": "~hobby", "instrument": "~instrument"}
MAX_READ: Final = 160


@lru_cache(maxsize=4096)
def read(plain: str) -> tuple[Phrase, ...]:
    """The attributes that a plain statement may set, the likeliest first; whether a value fits is for the caller."""
    return tuple(_read(plain)) if len(plain) <= MAX_READ else ()


def _read(plain: str) -> Iterator[Phrase]:
    for name, value in services.read(plain):
        yield Phrase(name, value, "name")
    taken = _TAKEN_UP.match(plain)
    if taken is not None:
        last = taken["value"].split()[-1]
        known = "~instrument" if last in INSTRUMENTS else "~sport" if last in SPORTS else "~hobby"
        kind: Kind = "instrument" if known == "~instrument" else "pastime"
        yield Phrase(_AS_MINE.get(taken["np"] or "", known), taken["value"], kind)
    does = _USER_DOES.match(plain)
    if does is not None:
        yield from _told(_BY_VERB.get(does["verb"], ()), does["rest"])
    else:
        yield from _told(_OF_A_THING.asked_of(plain), plain)
        yield from _told(_BY_SOMEBODY.asked_of(plain), plain)


def _told(some: Iterable[_Said], text: str) -> Iterator[Phrase]:
    for said in some:
        match = said.pattern.match(text)
        if match is not None:
            yield Phrase(said.name, match["value"], said.kind)


def is_of_user(compared: str) -> bool:
    """Whether a sentence whose subject is somebody else tells what the user's is: "Dr. Moreau supervises my thesis"."""
    plain = re.sub(r"\b(?:my|our)\b", "user's", re.sub(r"\b(?:me|us)\b", "user", compared[: MAX_READ + 1]))
    return len(plain) <= MAX_READ and any(_told(_BY_SOMEBODY.asked_of(plain), plain))


# ------------------------------------------------ questions

_WHICH: Final = regex(
    rf"^(?:what|which) (?P<np>[\w' -]+?) {services.AUX} i (?:(?:still|now|usually|currently) )?(?:do|doing|play|"
    r"playing|order|drink|read|reading|learn|learning|rent|subscribe to|work on|working on|on|wear|wearing|take|"
    r"taking|eat|"
    r"follow|use|using|with)$"
)


@lru_cache(maxsize=1024)
def asked(question: str) -> str | None:
    """The attribute that a question in compared text, without its time, asks for; None where that is none of these."""
    for pattern, name in _ASKED.asked_of(question):
        if pattern.match(question):
            return name
    which = _WHICH.match(question)
    return services.asked(question) or (None if which is None else NOUNS.get(which["np"]))


# ------------------------------------------------ what is known of an attribute

_RELATIVES: Final = {
    "name": ("form of address",),
    "~hobby": ("~sport", "~instrument"),
    "~sport": ("~hobby",),
    "~club": ("~choir",),
    "supermarket": ("~grocer",),
    "~grocer": ("supermarket",),
}
_SEVERAL: Final = frozenset(
    ("~sport", "~hobby", "~instrument", "~language being learned", "~club", "~choir", "~volunteer work")
)


def is_known(name: str) -> bool:
    """Whether an attribute is one of those that are spoken of in several ways."""
    return name in _WORDS_OF


def relatives(name: str) -> tuple[str, ...]:
    """The attributes under which what is asked for may be told, too: a sport may be somebody's hobby."""
    return _RELATIVES.get(name, ())


def goes_beside(name: str) -> bool:
    """Whether who begins another of a thing may go on with the one they have: a sport, an instrument."""
    return name in _SEVERAL


_PHONE: Final = regex(STANDS_FOR["<phones>"])


def is_phone(value: str) -> bool:
    """Whether a value is the name of a phone, and not of who provides it with a line."""
    return _PHONE.fullmatch(value) is not None


def tells_of_one_more(name: str, fact: str) -> bool:
    """Whether a fact tells of one more of a thing, and not of a change: "has a Chromebook", but not "as his laptop"."""
    one_more = _BESIDE.get(name)
    return one_more is not None and one_more.match(fact) is not None


def told_by(name: str) -> frozenset[str]:
    """The words by which a text may tell of an attribute: those of its name and of the phrases that set it."""
    return frame_words(name) - _SAYS_NOTHING


def frame_words(name: str) -> frozenset[str]:
    """The words in which an attribute is given a value: beside the value they say nothing."""
    return _WORDS_OF.get(name, frozenset())


_LITERAL: Final = regex(r"(?<![\\?<a-z])[a-z]{3,}")
_SAYS_NOTHING: Final = word_set(
    "user value the from and has for with main being been get gets got had out about all any did does usual regular go "
    "goes go-to takes take choice current first right now most time number switched moved changed went migrated "
    "returned upgraded upgrades back over uses new was raised bred brought"
)


def _words_of() -> dict[str, frozenset[str]]:
    """The words that stand in the nouns and phrases of each attribute."""
    found: dict[str, set[str]] = {}
    for entry in ENTRIES:
        said = (f"{verbs} {rest}" for verbs, _, rest in entry.said)
        owned = (pattern for _, pattern in entry.owned)
        literal = _LITERAL.findall(" ".join((entry.nouns, *said, *owned, *entry.done)))
        found.setdefault(entry.name, set()).update(literal)
    for name, called in SERVICES:
        found.setdefault(name, set()).update(_LITERAL.findall(called))
    return {name: frozenset(some) for name, some in found.items()}


_WORDS_OF: Final = _words_of()

__all__ = [
    "KINDS", "NOUNS", "TONGUES", "Kind", "Phrase", "asked", "fits", "frame_words", "goes_beside", "is_for_a_service",
    "is_known", "is_of_user", "is_phone", "read", "relatives", "tells_of_one_more", "told_by",
]  # fmt: skip
