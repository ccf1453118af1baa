"""Wanted: what a question asks for of something that has a name, and facts of that name that tell nothing of it. Pure.

"Which plan is Tamarind on?" is near to whatever is known of Tamarind, by its name alone. Where plans are told of others
by that word, what tells of Tamarind and of no plan is no answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from engram.english import brands, news
from engram.english.claims import stem
from engram.english.feasts import MONTHS, WEEKDAY
from engram.recall import kin, others
from engram.regex import regex
from engram.text import STOP_WORDS

__all__ = ["Wanted", "of_a_name"]

MAX_READ: Final = 300  # characters of a question

_NAME: Final = (
    rf"(?P<name>(?!(?:I|User|(?i:{WEEKDAY}s?|{MONTHS}))\b)[A-ZÀ-ÖØ-Þ][\w&.-]*(?: (?:(?:of|de|van) )?"
    r"[A-ZÀ-ÖØ-Þ][\w&.-]*){0,3})"
)
_WHAT: Final = r"(?P<what>[\w-]+(?: [\w-]+){0,2}?)"
_LEAD: Final = r"(?i:(?:and|so|also),? )*"
_DOES: Final = "(?:do|does|did|is|are|was|were|has|have|had|can|must|should|will)"
_IS: Final = "(?:['’]s| is| are| was| were)"
_ASKS: Final = tuple(
    regex(f"^{_LEAD}{form}")
    for form in (
        rf"(?i:which|what|how (?:many|much))(?: (?:kind|sort|type)s? of)? {_WHAT} {_DOES} (?:the )?{_NAME}(?!['’\w])",
        rf"(?i:what|when|where|who|which|how\b.*?)\b.*?{_NAME}['’]s (?P<what>[a-z][\w-]*(?: [a-z][\w-]*){{0,2}})",
        (
            rf"(?i:who|what|when|where|which){_IS} (?:the|our|my|your) {_WHAT} (?:at|of|for|in|with|from|on|to) "
            rf"(?:the )?{_NAME}(?: before\b.*| now)?[?.! ]*$"
        ),
        rf"(?i:what){_IS} {_NAME} (?P<what>allergic|intolerant) to\b",
    )
)
_WHO: Final = regex(rf"^{_LEAD}(?i:who|whom)\b")
_NOTHING: Final = "name names called number kind sort type thing things one ones"
_SAYS_NOTHING: Final = frozenset(_NOTHING.split())
_QUESTION_WORDS: Final = "who whose what which when where how many much often long"
_ASKING: Final = frozenset(_QUESTION_WORDS.split())
_NOT_HAD: Final = regex(
    r"(?i)\b(?:allerg|\w*intoleran|avoid|(?:cannot|can['’]t|must not|mustn['’]t|doesn['’]t|does not) (?:eat|have)\b)"
)
"""What somebody may not have tells of allergies in other words."""
_OF_ANOTHER: Final = regex(r"(?!(?:User|The|An?|My|Our|All|Every|Each|No|This|That|It|There|We|I)\b)[A-ZÀ-ÖØ-Þ]")


class Wanted(NamedTuple):
    """What a question asks for: the stems of a name, of what is wanted of it, and of all else that it says."""

    names: frozenset[str]
    what: frozenset[str]
    rest: frozenset[str]
    sort: frozenset[str] = frozenset()  # the names of well-known things that are of the sort
    is_of_somebody: bool = False  # whether it asks who: a name may tell it

    def is_known_by_its_word(self, facts: Iterable[str]) -> bool:
        """Whether some fact tells of others what is wanted, by that word; or well-known names tell it."""
        told = map(_stems, facts)
        return bool(self.sort) or any(self.what & one and not self.names & one for one in told)

    def names_it(self, fact: str) -> bool:
        """Whether a fact has the name that is asked of."""
        return not self.names.isdisjoint(_stems(fact))

    def gives_a_value(self, fact: str) -> bool:
        """Whether a fact gives a number, a day or a name beside the one that is asked of."""
        return any(self.names.isdisjoint(_stems(one)) for one in news.values(fact))

    def may_be_told_by(self, fact: str) -> bool:
        """Whether a fact has more to do with a question than the name, and does not tell what is wanted of another."""
        said = _stems(fact)
        if not self.names & said:
            return self.is_of_somebody or not self.what & said or _OF_ANOTHER.match(fact) is None
        if self.rest & said:
            return True
        if any(one.startswith(("allerg", "intoler")) for one in self.what):
            return _NOT_HAD.search(fact) is not None
        return not self.sort.isdisjoint(brands.named(fact)) if self.sort else False


def of_a_name(question: str) -> Wanted | None:
    """What a question asks for of something that it names; None where it asks in no such way.

    >>> sorted(of_a_name("How many seats does Tamarind have?").what)
    ['seat']
    """
    if len(question) > MAX_READ:
        return None
    found = next(filter(None, (form.search(question) for form in _ASKS)), None)
    if found is None or kin.asked_of(question.casefold()) is not None:
        return None
    names = _stems(found["name"])
    what = _stems(found["what"]) - _SAYS_NOTHING - names
    sort = brands.asked(question)
    rest = _stems(question) - names
    if not names or not what:
        return None
    return Wanted(names, what, rest, frozenset() if sort is None else sort.names, _WHO.match(question) is not None)


def _stems(said: str) -> frozenset[str]:
    """The stems of the words of a text that say something, without the endings of possession."""
    plain = others.plain_words(said) - STOP_WORDS - _ASKING
    return frozenset(map(stem, plain))
