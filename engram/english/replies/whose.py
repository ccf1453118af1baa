"""Whom a question is about, and how the answer says it: "do your parents" as "my parents do". Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from engram.english import predicates, verbs
from engram.english.subjects import PERSONS
from engram.regex import regex
from engram.wordlists import word_set

AUX: Final = r"(?:do|does|did|are|is|am|was|were|have|has)"
WH: Final = r"(?:what|which|where|when|who|whom|how)"
BE: Final = word_set("are is am was were")
CAP: Final = r"(?-i:[A-ZÀ-ÖØ-Þ][\w’-]+)"
DOES: Final = verbs.COMMON | word_set(
    "expire turn end start begin close open finish weigh wear cost sell belong sit teach study hate help own leave "
    "arrive get come move stay sing"
)
"""Verbs that people ask and tell of each other with."""

_TURNED: Final = {
    "you": "I", "your": "my", "yours": "mine", "yourself": "myself", "i": "you", "me": "you", "my": "your",
    "mine": "yours",
}  # fmt: skip
_MARKS: Final = ",.;:"
_TAKES_OBJECT: Final = word_set(
    "to for with of at on by from about call calls address reach contact help helps give gives make makes keep keeps "
    "wake wakes let lets bother bothers suit suits fit fits"
)
_ADVERB: Final = regex(
    r"(?i)^(?:usually|normally|typically|generally|mostly|currently|now|still|also|often|always|ever|already|actually|"
    r"regularly|mainly|really|either|both|personally)$"
)
_MAY_STAND_BEFORE_VERB: Final = word_set("usually normally still also often ever always already")
_NO_NAME: Final = word_set("i the your this that")


def turned(text: str) -> str:
    """What is said to somebody as they say it of themselves: "your bike" as "my bike"."""
    out: list[str] = []
    for word in text.split():
        bare = word.strip(_MARKS)
        put = _TURNED.get(bare.casefold())
        if put == "I" and out and (out[-1].casefold() in _TAKES_OBJECT or verbs.is_past(out[-1])):
            put = "me"
        out.append(word if put is None else word.replace(bare, put))
    return " ".join(out)


def ordered(text: str) -> str:
    """What somebody asks to be told to do, as they are told it: "correct you" as "correct me"."""
    return " ".join("me" if word == "I" else word for word in turned(text).split())


def capital(text: str) -> str:
    """A text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a clause is about: as the answer says it, in how many words the question does, and whether it is "you"."""

    text: str
    size: int
    first: bool

    @property
    def who(self) -> str:
        """The subject at the beginning of a sentence."""
        return capital(self.text)

    def be(self, aux: str) -> str:
        """The form of "be" that goes with it."""
        if not self.first:
            return aux
        return "was" if aux in ("was", "were") else "am"

    def have(self, aux: str) -> str:
        """The form of "have" that goes with it."""
        return "have" if self.first or aux == "have" else "has"

    def does(self, aux: str, verb: str) -> str:
        """A verb as the answer to a question with "do" has it: "did you study" as "studied"."""
        if aux == "did":
            return past(verb)
        return verb if self.first or aux == "do" else verbs.third_person(verb)

    def does_not(self, aux: str) -> str:
        """What denies a verb of it."""
        if aux == "did":
            return "did not"
        return "do not" if self.first or aux == "do" else "does not"


def past(verb: str) -> str:
    """A verb in the past."""
    irregular = verbs.past_of(verb)
    if irregular:
        return irregular[0]
    if verbs.is_past(verb):
        return verb
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{verb}ed"


def gerund(verb: str) -> str:
    """A verb as what somebody does: "smoke" as "smoking".

    >>> gerund("smoke"), gerund("run"), gerund("drink")
    ('smoking', 'running', 'drinking')
    """
    if verb.endswith("e") and not verb.endswith(("ee", "ye")):
        return f"{verb[:-1]}ing"
    return f"{verb}{verb[-1]}ing" if _SHORT_VERB.fullmatch(verb) else f"{verb}ing"


_SHORT_VERB: Final = regex(r"[^aeiou]{0,3}[aeiou][^aeiouwxy]")


_MANY: Final = {"child": "children", "person": "people", "kid": "kids", "wife": "wives"}
_MADE_MANY: Final = ((regex(r"(?<![aeiou])y$"), "ies"), (regex(r"(x|ch|sh)$"), r"\1es"), (regex(r"([^s])$"), r"\1s"))


def many(thing: str) -> str:
    """A thing as it is called where there are several.

    >>> many("cat"), many("big family"), many("dogs"), many("child")
    ('cats', 'big families', 'dogs', 'children')
    """
    *before, noun = thing.split()
    several = _MANY.get(noun.casefold())
    if several is None:
        several = next((pattern.sub(put, noun) for pattern, put in _MADE_MANY if pattern.search(noun)), noun)
    return " ".join([*before, several])


def is_named(tokens: Sequence[str]) -> bool:
    """Whether a clause is about somebody, or something, by name."""
    return bool(tokens) and tokens[0][:1].isupper() and tokens[0].casefold() not in _NO_NAME


def subject_of(tokens: Sequence[str], ends_before: Callable[[str], bool]) -> Subject | None:
    """Whom a clause begins with: "you", what is theirs, a thing or a name; None for anything else."""
    first = tokens[0].casefold() if tokens else ""
    if first == "you":
        return None if len(tokens) > 2 and tokens[1].casefold() == "and" else Subject("I", 1, first=True)
    if is_named(tokens) and len(tokens) > 1:
        size = 1
        while size < min(3, len(tokens) - 1) and tokens[size][:1].isupper():
            size += 1
        owns = tokens[size - 1].endswith((",", "'s", "’s"))
        return None if owns else Subject(" ".join(tokens[:size]), size, first=False)
    if first not in ("your", "the"):
        return None
    for size in range(2, min(6, len(tokens) + 1)):
        following = tokens[size] if size < len(tokens) else ""
        person = tokens[size - 1].casefold() in PERSONS and not following.endswith(("'s", "’s"))
        if not following or person or ends_before(following.casefold()):
            own = tokens[:size]
            listed = any(one.endswith((",", ":")) for one in own)
            return None if listed else Subject(turned(" ".join(own)), size, first=False)
    return None


def without_adverbs(tokens: Sequence[str]) -> tuple[list[str], list[str]]:
    """The adverbs a clause begins with, in small letters, and what follows them."""
    size = next((at for at, word in enumerate(tokens) if not _ADVERB.match(word)), len(tokens))
    return [word.casefold() for word in tokens[:size]], list(tokens[size:])


def may_be_verb(word: str) -> bool:
    """Whether a subject may end before a word: a verb, or an adverb in front of one."""
    return word in DOES or predicates.is_verb(word) or word in _MAY_STAND_BEFORE_VERB


def is_third_person(word: str) -> bool:
    """Whether a word is a verb as it stands behind "she"."""
    word = word.casefold()
    return predicates.is_third(word) or word in ("is", "are", "has", "have", "does", "do")
