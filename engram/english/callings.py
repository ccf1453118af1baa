"""Callings: the name of somebody who was just spoken of, put whole: "Her name is Pixel" behind "We got a cat". Pure.

A sentence that only says how he, she or it is called tells nobody's name once it stands alone. Where the one before it
speaks of one person or animal of the user's, and of no other, it is the name of that one.
"""

from __future__ import annotations

from typing import Final

from engram.english import attributes, names
from engram.english.subjects import PERSONS
from engram.regex import regex

__all__ = ["whole"]

MAX_READ: Final = 200
_PETS: Final = """
    dog puppy pup cat kitten kitty rabbit bunny hamster gerbil guinea-pig parrot budgie cockatiel canary bird tortoise
    turtle snake lizard gecko horse pony foal ferret goldfish goat donkey hen rooster pet poodle labrador beagle
    retriever collie shepherd terrier spaniel bulldog pug dachshund husky corgi greyhound tabby boy girl
"""
_WHO: Final = "|".join(sorted({*PERSONS, *_PETS.split()}, key=len, reverse=True))
_SOMEBODY: Final = regex(
    rf"(?i)\b(?:(?P<own>my|our)|(?P<one>an?|another)) (?P<what>(?:[\w'’-]+ ){{0,2}}?"
    rf"(?:{_WHO})(?: (?:{_WHO}))?)(?![\w'’-])"
)
_HAS_ONE: Final = regex(
    r"(?i)(?:^|, |\b(?:and|so|but) )(?:(?:today|yesterday|last \w+|finally) )?(?:I|we)"
    r"(?:(?P<still>['’]ve| have)| both)?(?: (?:just|finally|recently|also|now))? "
    r"(?:got|get|have|(?P<had>had)|adopted|bought|rescued|took in|welcomed|found|brought home|own|keep|hired)"
    r"(?: got| had| adopted| bought)? $"
)
"""What stands before whom the user has, or had."""
_BORN: Final = regex(r"(?i)\b(?:baby|boy|girl|son|daughter)$")
_NAME: Final = r"(?P<name>(?-i:[A-ZÀ-ÖØ-Þ][\w'’-]*(?: [A-ZÀ-ÖØ-Þ][\w'’-]*)?))"
_IS_CALLED: Final = regex(
    r"(?i)(?:and )?(?:(?:his|her|its|their) name(?: is|['’]s| was)|(?:he|she|it)(?:['’]s| is| was) (?:called|named)|"
    rf"(?:I|we) (?:named|call|called|are calling|decided to call) (?:him|her|it)) {_NAME}[\s.!]*"
)
_NEW: Final = regex(
    r"(?i)(?<!\bis )(?<!\bwas )(?<!\bbe )(?<!\bbeen )(?<!\bbecame )(?<!['’]s )(?<!\bas )(?<!\bat )(?<!\bin )(?<!\bon )"
    r"(?<!\bfor )(?<!\bfrom )\b(?:an?|another|some) "
    r"(?!(?:bit|couple|day|few|little|long|lot|month|week|while|year)s?\b)"
)
"""Behind somebody, what may be somebody else: no thing that they are, and no place or time."""
_SMALL: Final = frozenset(("new", "lovely", "cute", "little", "beautiful", "young"))
_WORDS: Final = regex(rf"(?i)(?<![\w'’-])(?:{_WHO})(?:s|['’]s)?(?![\w'’-])")


def whole(before: str, said: str) -> str | None:
    """A sentence that names by a pronoun whom the one before it speaks of, with the word for them; None for any other.

    >>> whole("We got a new cat last week.", "Her name is Pixel.")
    'I have a cat named Pixel'
    >>> whole("My wife passed away.", "Her name was Ellen.")
    "My wife's name is Ellen"
    >>> whole("My sister met my wife.", "Her name is Ellen.")
    >>> whole("My boss hired a designer.", "His name is Tom.")
    """
    if len(before) > MAX_READ or len(said) > MAX_READ:
        return None
    named = _IS_CALLED.fullmatch(said.strip())
    if named is None or named["name"].casefold() in names.NOT_NAMES:
        return None
    somebody = _SOMEBODY.search(before)
    if somebody is not None and somebody["own"] and _NEW.search(before, somebody.end()):
        return None  # "My boss hired a designer": the name may be of either
    if somebody is None or len(_WORDS.findall(before)) != len(_WORDS.findall(somebody["what"])):
        return None  # nobody, or more than one
    what = " ".join(word for word in somebody["what"].split() if word.casefold() not in _SMALL)
    had = None if somebody["one"] is None else _HAS_ONE.search(before[: somebody.start()])
    if had is not None and had["had"] and had["still"] is None and _BORN.search(what) is None:
        return f"I had a {what} named {named['name']}"
    if somebody["own"] or (had is not None and attributes.noun(what.casefold()) is not None):
        return f"My {what}'s name is {named['name']}"
    return f"I have a {what} named {named['name']}" if had is not None else None
