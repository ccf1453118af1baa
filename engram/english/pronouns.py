"""Pronouns: whom "he" and "she" stand for where the words before speak of one person or animal, and of no other. Pure.

"My brother lives in Oslo. He works as a chef" tells two things of the brother; alone, the second tells nothing of
anybody. It is put whole only where there can be no doubt: a doubt costs a fact, a wrong guess says what is not so.
"""

from __future__ import annotations

from typing import Final

from engram.english import names
from engram.english.subjects import PERSONS
from engram.regex import regex
from engram.wording import worded

MAX_READ: Final = 240
_MEN: Final = """
    father dad daddy papa brother son husband boyfriend fiancé fiance uncle nephew grandfather grandpa grandad grandson
    stepfather stepdad stepson father-in-law brother-in-law son-in-law landlord boy
"""
_WOMEN: Final = """
    mother mum mom mummy sister daughter wife girlfriend fiancée fiancee aunt auntie niece grandmother grandma granny
    nan granddaughter stepmother stepmum stepmom stepdaughter mother-in-law sister-in-law daughter-in-law landlady girl
"""
_PETS: Final = "dog puppy cat kitten rabbit hamster parrot horse pony tortoise"
_OF: Final = {"he": frozenset(_MEN.split()), "she": frozenset(_WOMEN.split())}
_EVERYBODY: Final = {*PERSONS, *_MEN.split(), *_WOMEN.split(), *_PETS.split()}
_WHO: Final = "|".join(sorted(_EVERYBODY, key=len, reverse=True))
_CAP: Final = r"(?-i:[A-ZÀ-ÖØ-Þ][\w’-]*)"
_SOMEBODY: Final = regex(
    r"(?i)^(?:(?:and|so|but|oh|well|also|yes|btw|by the way),? )?"
    rf"(?P<who>(?:my|our) (?:(?!and\b)[\w-]+ ){{0,2}}?(?P<word>{_WHO})(?:,? {_CAP})?|(?P<name>{_CAP})),? "
    r"(?P<rest>(?:is|was|has|had|does|can|will|just|also|now|recently|[a-z]+s|[a-z]+ed|got|went|took|left|became|began|"
    r"bought|came|grew|made|met|ran|said|saw|sold|told|wrote)\b.*)$"
)
"""A sentence about one person or animal: who, and what is said of them."""
_OTHERS: Final = regex(
    rf"(?i)(?<![\w'’-])(?:{_WHO})(?:s|['’]s)?(?![\w'’-])|\b(?:him|her|them|they|someone|somebody|people|and i)\b"
)
_NAMED: Final = regex(
    r"(?<=\w )(?<!\bin )(?<!\bat )(?<!\bfrom )(?<!\bnear )(?<!\bto )(?<!\bis )(?<!\bcalled )(?<!\bnamed )" + _CAP
)
"""What else may be somebody: a name that is no place, and not their own."""
_BROUGHT_IN: Final = regex(
    r"(?i)\b(?:(?:met|meets|hire[sd]?|adopt(?:s|ed)|rescued|dat(?:es|ed|ing)|sees|seeing|saw|interviewed|recruited|fired|"
    r"elected|introduced|found|about) (?:an?|another|the|this|that|some)|(?:plays?|played|playing|knows|knew|"
    r"(?:married|engaged)(?: to)?) an?(?! (?:bit|few|little|lot)\b)) |"
    r"\b(?:guy|man|woman|bloke|lad|lady|toddler|stranger|film|movie|book|novel|series|story|comic|documentary)\b"
)
"""What brings in somebody else, or tells of somebody who is made up: "My brother met a guy"."""
_PRONOUN: Final = regex(
    r"(?i)^(?:and |but |so )?(?P<one>he|she)(?P<is>['’]s)?"
    r"(?P<rest> (?!(?:and|or|who|said|says|told|thinks|asked|(?:is |was )?(?:called|named))\b).+)$"
)
"""What is said of one by a pronoun; what they are called is put whole by `callings`."""
_BEGINS_TOO: Final = """
    today tonight tomorrow yesterday everything nothing something anything anybody anyone things life work school class
    college uni university breakfast lunch dinner brunch rent traffic surgery weather football soccer tennis thanks
    maybe please mornings evenings nights weekends parenting therapy training practice rehab
"""
_GIVEN: Final = """
    adelaide alexandria austin brooklyn charlotte chad dallas florence georgia jackson jordan kingston milan orlando
    phoenix salvador santiago savannah sofia sydney victoria
"""
_PLACES: Final = (names.CITIES | names.REGIONS) - frozenset(_GIVEN.split())
_NO_PERSON: Final = names.NOT_NAMES | names.NOT_PLACES | _PLACES | frozenset(_BEGINS_TOO.split())
"""What begins a sentence with a capital, and is nobody's name."""
_IS_CALLED: Final = regex(rf"(?i)^is (?:called |named )?(?P<name>(?:(?:dr|mr|mrs|ms)\.? )?{_CAP})[.! ]*$")
_HAS: Final = regex(
    r"(?i)^ (?:just |recently |also |now |already )?(?:got|been|had|gone|moved|started|finished|changed|joined|stopped|"
    r"taken|given|left|begun|become)\b"
)
_POINTS: Final = regex(r"(?i)\b(?:it|this|that|these|those|there|so|too|either|does|did)\b(?! [a-z]+ing)")
"""What says nothing alone, whoever is put in: "she loves it"."""
_CUT: Final = worded(r"(?i)(?:,|;| -|,? (?:and|but))(?= (?:he|she)(?:['’]s)? [a-z])")


def whole(before: str, said: str) -> str | None:
    """A sentence with whom its first pronoun stands for, by the one before it; None where that is in doubt.

    >>> whole("My brother lives in Oslo.", "He works as a chef.")
    'My brother works as a chef.'
    >>> whole("My brother met Ann.", "He works as a chef.")
    """
    if len(before) > MAX_READ or len(said) > MAX_READ:
        return None
    pronoun, somebody = _PRONOUN.match(said.strip()), _SOMEBODY.match(before.strip())
    if pronoun is None or somebody is None or not _stands_for(pronoun["one"].casefold(), somebody["word"]):
        return None
    if somebody["name"] is not None and somebody["name"].casefold() in _NO_PERSON:
        return None
    if any(others.search(somebody["rest"]) for others in (_OTHERS, _NAMED, _BROUGHT_IN)):
        return None
    if _POINTS.search(pronoun["rest"]):
        return None
    called = None if somebody["word"] is None else _IS_CALLED.match(somebody["rest"])
    who = somebody["who"] if called is None else f"{somebody['who']} {called['name']}"
    verb = "" if pronoun["is"] is None else " has" if _HAS.match(pronoun["rest"]) else " is"
    return f"{who}{verb}{pronoun['rest']}"


def _stands_for(pronoun: str, word: str | None) -> bool:
    """Whether a pronoun may stand for somebody who is called by a word, or by a name alone."""
    return word is None or word.casefold() not in _OF["he" if pronoun == "she" else "she"]


def apart(sentence: str) -> tuple[str, ...]:
    """A sentence whose second clause speaks of the first one's subject by a pronoun, as two; empty for any other.

    >>> apart("My dog Rex is a beagle, he's scared of fireworks.")
    ('My dog Rex is a beagle', 'My dog Rex is scared of fireworks.')
    """
    cut = _CUT.search(sentence) if len(sentence) <= MAX_READ else None
    if cut is None:
        return ()
    before, said = sentence[: cut.start()], sentence[cut.end() :]
    second = whole(before, said)
    return () if second is None else (before, second)


__all__ = ["apart", "whole"]
