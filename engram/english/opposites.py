"""Opposites: of two statements one says what the other denies, of the same somebody and in the same words. Pure.

"User does not like tea" and "User likes tea" are opposites, as are "User hates tea" and "User loves tea"; "User likes
green tea" is nothing's. Only what is so now is read, in a small closed grammar of denials, so that rather an opposite
is missed than something true set aside: "User did not go to Rome" tells of what happened, and "User knows who does not
smoke" denies nothing of the user.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from engram.english.verbs import is_past, third_person
from engram.regex import regex
from engram.text import has_question_mark
from engram.wordlists import word_set

MOST_READ: Final = 200  # characters


class _Said(NamedTuple):
    """The words of a statement without its denial, and whether it says that it is so."""

    is_so: bool
    words: tuple[str, ...]


def are_opposites(one: str, other: str) -> bool:
    """Whether of two statements in plain form one says that something is so and the other that it is not.

    >>> are_opposites("user does not like tea", "user loves tea")
    True
    """
    first = _read(one)
    if first is None or (first.is_so and not _MAY_DENY.search(other)):
        return False
    second = _read(other)
    return second is not None and first.is_so != second.is_so and first.words == second.words


@lru_cache(maxsize=4096)
def _read(plain: str) -> _Said | None:
    """What a statement says and whether that is so; None where that cannot be told."""
    reason = _BY_NOW.match(plain)
    if reason is not None:
        plain = reason["said"]
    if len(plain) > MOST_READ or has_question_mark(plain) or any(form.search(plain) for form in _ANYTHING_ELSE):
        return None
    text = _whole(" ".join(word for word in _ASIDE.sub(" ", plain.strip(" .!")).split() if word not in _LIGHT))
    denied = _DENIED.match(text)
    if denied is not None:
        if denied["lasting"] is not None and is_past(denied["lasting"]):
            return None
        verb = denied["verb"] or denied["lasting"] or third_person(denied["base"])
        text = f"{denied['who']} {verb}{denied['rest']}"
    if _NEGATION.search(text):
        return None
    return _by_taste(denied is None, text.split())


def _whole(text: str) -> str:
    """A statement in the third person, with its denial in full: "I don't" is "user does not"."""
    for short, whole in (("can't", "can not"), ("cannot", "can not"), ("won't", "will not")):
        text = text.replace(short, whole)
    own = _OWN.match(text)
    if own is not None:
        verb = _CONTRACTED.get(own["verb"], own["verb"].strip())
        text = f"user{own['never'] or ''} {third_person(verb)}{own['denied'] or ''}{text[own.end() :]}"
    return _LEARNED.sub(r"\1 can ", _NOT.sub(r"\1 not", text))


def _by_taste(is_so: bool, words: list[str]) -> _Said | None:
    """Likes and dislikes as one verb, so or not so."""
    if not is_so and words[1:3] == ["can", "stand"]:
        words[1:3] = ["likes"]
    place = next((n for n, word in enumerate(words[:4]) if word in _LIKES or word in _DISLIKES), None)
    if place is None:
        return _Said(is_so, tuple(words))
    if words[place] in _DISLIKES:
        if not is_so:
            return None  # who does not hate something need not like it
        is_so = False
    words[place] = "likes"
    return _Said(is_so, tuple(words))


_OWN: Final = regex(r"i(?P<never> never| no longer)?(?P<verb>'m|'ve|'ll| [a-z]+?)(?P<denied>n't)?(?![\w'])")
_CONTRACTED: Final = {"'m": "am", "'ve": "have", "'ll": "will"}
_LEARNED: Final = regex(
    r"^(user(?:'s [\w-]+)?|[\w-]+)(?: has)?(?: (?:finally|just|recently))? learn(?:ed|t) (?:how )?to (?=\w)"
)
_NOT: Final = regex(r"\b(does|do|is|are|has|have)n't\b")
# Of whom it is said must be told by the words: there are many of "he", "it" and "the shop".
_WHO: Final = (
    r"user|user's [\w-]+(?: [\w-]+)?|"
    r"(?!(?:user|i|he|she|it|we|you|they|there|the|this|that|these|those|his|her|its|their|our|your|who|what)\b)"
    r"[\w-]+(?: (?!(?:who|that|which)\b)[\w-]+)?"
)
_DENIED: Final = regex(
    rf"(?P<who>{_WHO}) (?:does not (?P<base>[a-z]+)|(?P<verb>is|has|can|will) (?:not|no longer|no|never)|"
    r"(?:no longer|never) (?P<lasting>[a-z]+))"
    r"(?P<rest>(?: .+)?)$"
)
_NEGATION: Final = regex(r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|hardly|barely)\b|n't\b")
_PARTLY: Final = regex(
    r"(?:\bnot|n't|\bcannot|\bnever|\bno longer) (?:(?:really|actually) )?(?:(?:.* )?just (?!now\b)|"
    r"(?:also|too|definitely|absolutely|truly) |"
    r"(?:.* )?again\b(?! (?:and|or)\b))|(?:\bcan not|\bcannot|\bcan't|\bcan never) (?:wait|get enough)\b|"
    r"\btoo (?!$|now\b|these days\b)|\ba (?:few|little|bit)\b"
)
"""What a light word means something in: who is not just a teacher is one, and "never again" is not "never"."""
_MOST: Final = regex(
    r"(?:\bnever|\bcan not|\bcannot|\bcan't) (?:.* )?(?:better|worse|more|less|harder|so|such|this)\b|"
    r"(?:\bnever|\bcan not|\bcannot|\bcan't) (?:been|be|felt|feel|looked|look) \w+er\b|"
    r"(?:\bcan not|\bcannot|\bcan't) (?:complain|help \w+ing|.* enough)\b"
)
"""What says how much, not that it is not so: who has never been happier has been happy, who can't agree more agrees."""
_IDIOMS: Final = regex(r"\bno (?:idea|clue|one|less|fewer)\b|(?:\bis|\bare|\bam|'m|'re) never\b")
"""Who has no idea has ideas, and who is never late may be late today."""
_ELSEWHERE: Final = regex(
    r"\b(?:because|unless|but|until|till|today|tonight|yesterday|tomorrow|last night|"
    r"this (?:morning|afternoon|evening))\b"
)
"""What a denial may be of instead ("not because of the pay"), and days: there are many of each."""
_ANYTHING_ELSE: Final = (_PARTLY, _MOST, _IDIOMS, _ELSEWHERE)
_TASTE: Final = r"(?=[^,;]*\b(?:likes?|loves?|enjoys?|hates?|dislikes?|detests?|loathes?)\b)"
_WHY: Final = r"(?:because|due to|thanks to|since|as(?= (?:i|it|he|she|they|we|there|user)\b))"
_FOR_NOW: Final = r"(?:(?:user is|i'm|i am) (?:trying|\w+ing)|until|today|tonight|this (?:week|morning|evening))"
_BY_NOW: Final = regex(
    rf"(?P<said>{_TASTE}[^,;]{{1,160}} (?:now|any ?more|any longer|these days|again)),? {_WHY}\b(?!.*\b{_FOR_NOW}\b).*$"
)
"""A taste of now, and why: the reason says nothing of what it is. Who can't swim now may be able to by tomorrow."""
_ASIDE: Final = regex(r"\b(?:any ?more|any longer|at all|after all|these days|as well|at the moment|(?<!has )yet)\b")
_LIGHT: Final = word_set(
    "a an any really actually also too either now still just currently truly absolutely definitely again"
)
_LIKES: Final = word_set("likes loves enjoys adores")
_DISLIKES: Final = word_set("dislikes hates detests loathes despises")
_MAY_DENY: Final = regex(r"n't|cannot|\bno|\bnever\b|dislike|hate|detest|loathe|despise")
"""What stands in every denial: most statements have none of it, and need not be read to know."""
