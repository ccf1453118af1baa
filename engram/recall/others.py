"""Others: whether what is known is of somebody else than the one who asks. Pure.

"Where do I live?" is not answered by where a sister lives, nor by what may be. But only somebody may be somebody else:
of a thing ("Shipping is free", "Job ads go on two portals") it makes no difference whom the question names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import lru_cache
from typing import Final

from engram import text
from engram.english.subjects import MAX_SENTENCE, PEOPLE, is_self, mood_of, sentence_spans
from engram.recall import kin
from engram.regex import regex
from engram.values import Memory

__all__ = ["is_about_another", "is_about_the_asker", "may_be_somebody", "plain_words", "stated", "tells_of_the_asker"]

_SELF_WORDS: Final = frozenset({"user", "user's", "the", "a", "an", "of"})
_SUPPOSED: Final = ("hypothetical", "conditional", "question")
_OF_ANOTHER: Final = regex(
    r"(?P<who>(?:My|Our|An?|Some) [\w-]+(?: [A-ZÀ-ÖØ-Þ][\w-]+)?|Some(?:body|one)|"
    r"(?!(?:I|It|My|Our|We|You|Your|The|This|That|There|An?|Some|Every|Each|Any|All|No|\w+ed)\b)"
    r"[A-ZÀ-ÖØ-Þ][\w-]+(?: [A-ZÀ-ÖØ-Þ][\w-]+)?)"
    r"(?P<of>(?P<has>['’]s) (?:[\w-]+ ){1,3}| (?:(?:also|still|always|never|just|now) )?)(?!was )"
    r"(?P<does>[a-z]+(?<!s)s|[a-z]{3,}ed|has|had|left|got|gave|went|took|told|wrote|quit|"
    r"(?(has)(?:go|have|live|play|speak|study|work)|(?!))) (?!by\b|(?:.* )?(?:i|me|my|we|us|our|you|your|user|User)\b)"
)
"""Somebody who does something, in a sentence that names neither the asker nor the one who is asked."""
_GOES_ON: Final = regex(r"(?:are|were|have|do|don't|can|cannot|can't|must|should|shall|will|may|need|go|come|sit)\b")
"""Behind a word in -s it says that the word is a noun: "Travel costs are"."""
_THING: Final = regex(
    r"(?i)(?!(?:sterling|irving|fleming|browning|manning|channing|harding|golding|clement)\b)"
    r"(?:\w{3,}(?:ing|tion|sion|ment|ness|ware|ship)s?|insurance|maintenance|compliance|attendance|clearance|coverage|"
    r"storage|postage|mileage|luggage|delivery|inventory|security|capacity|availability|salary|laundry|payroll)\b"
)
_NAMES_IN_S: Final = (
    "agnes|alexis|boris|charles|chris|dennis|doris|frances|hans|iris|james|jess|jonas|lars|louis|lucas|marcus|nicholas|"
    "niklas|ross|tess|thomas"
)
_THE_CODE: Final = regex(r"[Tt]he [A-Z0-9]{2,}$")  # "The MOT is due": somebody's initials have no article
_MANY: Final = regex(
    rf"(?i)(?!(?:{_NAMES_IN_S})\b)[\w-]+[^\W\d_su]s (?:are|were|have|do|can|may|must|need|go|open|cost)\b"
)
_TITLE: Final = regex(r"(?i)(?:dr|mr|mrs|ms|prof|professor|sir|lady|miss)\b")
_LINKS: Final = frozenset(
    {"van", "von", "de", "der", "den", "da", "di", "bin", "al", "la", "le", "and", "und", "y", "e"}
)
_RULE: Final = regex(
    r"(?i)(?!(?:i|we|my|our|he|she|it|his|her|their|your)\b)"
    r"(?!.*\b(?:would|could|might|perhaps|maybe|if i|if we|soon|next|tomorrow|one day)\b)"
    r"(?:.*\b(?:unless|otherwise)\b|(?:(?:the|all|these|those|no|only) )?(?:[\w-]+ ){0,3}"
    r"(?:[\w-]+[^\Wsu]s|people|staff|children|nobody|everybody|everyone|anyone|anybody) "
    r"may (?!(?:be|have|rise|fall|go|move|sell|change|leave|come|lose|get|become|grow|end|close|need|want)\b))"
)
"""What holds in general, though a condition or a "may" stands in it: "Agents may refund 150 dollars"."""


def may_be_somebody(subject: str, told: str = "") -> bool:
    """Whether a subject may be a person or an animal, by its form and by what is told of it."""
    is_first = told.casefold().startswith(subject.casefold())
    name = told[: len(subject)] if is_first else subject  # a subject is kept in lower case
    words = [word for word in name.split() if word.casefold() not in _SELF_WORDS]
    is_own = re.match(r"(?i)(?:the )?(?:user's|my|our) ", name) is not None
    if not words or is_own or _TITLE.match(words[0]) or any(word.casefold() in PEOPLE for word in words):
        return True
    is_phrase = is_first and any(word[0].islower() and word not in _LINKS for word in name.split()[1:])
    if is_phrase or _THING.match(words[-1]) is not None or _THE_CODE.match(name) is not None:
        return False
    return not is_first or _MANY.match(told, len(name) - len(words[-1])) is None


def is_about_the_asker(memory: Memory) -> bool:
    """Whether a memory speaks of its user, whoever else it is about."""
    return re.search(r"\bUser\b", memory.fact) is not None


def is_about_another(memory: Memory, asked: Set[str]) -> bool:
    """Whether a memory tells of someone the question does not name: "User's sister" for "Where do I live?"."""
    owner = memory.scope.user_id if isinstance(memory.scope.user_id, str) else None
    if memory.subject is None or is_self(memory.subject, owner) or _DONE_TO_USER.match(memory.fact) is not None:
        return False
    named = [word for word in text.words(memory.subject) if word not in _SELF_WORDS]
    if (
        _are_us(memory.subject, asked)
        or not named
        or not asked.isdisjoint(named)
        or any(kin.is_called(word, named[-1:]) for word in asked)
    ):
        return False
    # "User's sister Clara" is named by her name as well.
    name = re.search(rf"\b{re.escape(named[-1])},? ([^\W\d_]+)", memory.fact, re.IGNORECASE)
    if name is not None and name[1][0].isupper() and asked & plain_words(name[1]):
        return False
    return may_be_somebody(memory.subject, memory.fact)


_DONE_TO_USER: Final = regex(
    r"(?i)(?:user['’]s|the) [\w-]+(?: [\w-]+)? (?:has |have )?(?:(?:just|now|recently) )?(?:put|moved|switched|changed|"
    r"assigned|promoted|transferred|prescribed|gave|given|started|has|have) user (?:on|onto|off|to|"
    r"from|as|an?|some|the|(?-i:[a-z]+))\b"
)
"""What somebody has done to the user is so of the user: "User's doctor put User on lisinopril"."""


def _are_us(subject: str, asked: Set[str]) -> bool:
    """Whether a subject is who "we" are, where a question asks of us: "How long are our sprints?"."""
    return not _US.isdisjoint(asked) and _OURS.fullmatch(subject.casefold()) is not None


_WHOSE: Final = frozenset(("my", "our", "a", "an", "some"))
_US: Final = frozenset(("we", "us", "our", "ours"))
_OURS: Final = regex(
    r"(?:user's|my|our) (?:(?!(?:old|former|previous|last|ex|other)\b)[\w-]+ )?"
    r"(?:team|squad|crew|group|department|company|firm|startup|start-up|agency|office|lab|family|household|band|club)"
)


def tells_of_the_asker(said: str, asked: Set[str]) -> bool:
    """Whether somebody's words may tell what is so of the asker: they suppose nothing, and are not of another."""
    return any(not _is_of_another(sentence, asked) for sentence in stated(said))


def _is_of_another(sentence: str, asked: Set[str]) -> bool:
    other = _OF_ANOTHER.match(sentence)
    if other is None or _are_us(other["who"], asked):
        return False
    if not asked.isdisjoint(plain_words(other["who"]) - _WHOSE):
        return False
    may_be_noun = other["does"] not in ("has", "does") and other["does"].endswith("s") and other["of"] == " "
    if may_be_noun and _GOES_ON.match(sentence, other.end()) is not None:
        return False
    return may_be_somebody(other["who"])


def stated(said: str) -> Iterator[str]:
    """The sentences of somebody's words that suppose and ask nothing."""
    said = said[:MAX_SENTENCE]
    spans = (said[start:end] for start, end in sentence_spans(said))
    return (sentence for sentence in spans if _is_stated(sentence))


def _is_stated(sentence: str) -> bool:
    mood = mood_of(sentence)
    return mood not in _SUPPOSED or (mood != "question" and _RULE.match(sentence) is not None)


_OWNING: Final = ("'s", "’s")


@lru_cache(maxsize=4096)  # of one question several rules ask it, and of the same facts every recall does
def plain_words(said: str) -> frozenset[str]:
    """The words of a text, without the endings of possession."""
    return frozenset(word[:-2] if word.endswith(_OWNING) else word for word in text.words(said))
