"""Whom or what of the asker's a question is about. Pure.

"Where does my brother live?" is not answered by where the user lives, nor "What's my dog called?" by how the boss is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

from engram.english import names
from engram.english.claims import stem
from engram.regex import regex

_ALIKE: Final = (
    "mother mom mum mommy mama parent",
    "father dad daddy papa parent",
    "parent mother mom mum mommy mama father dad daddy papa folk",
    "brother bro sibling twin",
    "sister sis sibling twin",
    "sibling brother sister twin",
    "twin brother sister sibling",
    "son child children kid boy baby twin",
    "daughter child children kid girl baby twin",
    "child children kid son daughter boy girl baby twin",
    "children child kid son daughter boy girl baby twin",
    "kid child children son daughter boy girl baby twin",
    "baby child children kid son daughter boy girl twin",
    "wife partner spouse fiancée fiancee girlfriend married",
    "husband hubby partner spouse fiancé fiance boyfriend married",
    "partner wife husband spouse fiancé fiance fiancée fiancee girlfriend boyfriend married",
    "girlfriend partner fiancée fiancee wife dating",
    "boyfriend partner fiancé fiance husband dating",
    "grandmother grandma granny grandparent",
    "grandma grandmother granny grandparent",
    "granny grandmother grandma grandparent",
    "grandfather grandpa grandparent",
    "grandpa grandfather grandparent",
    "aunt", "uncle", "cousin", "niece", "nephew", "grandson grandchild", "granddaughter grandchild",
    "stepmother stepmom", "stepfather stepdad", "mother-in-law in-law in-laws", "father-in-law in-law in-laws",
    "sister-in-law in-law in-laws", "brother-in-law in-law in-laws",
    "in-law in-laws mother-in-law father-in-law sister-in-law brother-in-law",
    "friend bestie buddy mate pal",
    "neighbour neighbor", "neighbor neighbour",
    "colleague coworker co-worker", "coworker colleague co-worker",
    "boss manager supervisor", "manager boss supervisor", "supervisor boss manager",
    "mentor", "intern", "assistant", "employee", "teammate", "classmate", "client customer", "customer client",
    "teacher professor", "professor teacher", "tutor teacher", "coach trainer", "trainer coach",
    "doctor gp physician", "dentist", "therapist", "lawyer", "accountant", "landlord", "landlady", "nanny babysitter",
    "babysitter nanny", "hairdresser barber", "barber hairdresser", "vet", "ex", "dog puppy pup", "cat kitten kitty",
    "roommate flatmate housemate", "flatmate roommate housemate", "housemate roommate flatmate",
)  # fmt: skip
"""What people call somebody of theirs, each with what the same somebody may be called otherwise."""
_SAID: Final = frozenset(("married", "dating", "boy", "girl"))  # of somebody, who is not asked for by it
_GROUPS: Final = [line.split() for line in _ALIKE]
_CALLED: Final = {
    name: frozenset(map(stem, group)) for group in reversed(_GROUPS) for name in group[1:] if name not in _SAID
} | {group[0]: frozenset(map(stem, group)) for group in _GROUPS}
WHO: Final = "|".join(sorted(_CALLED, key=len, reverse=True))
"""The words for them, as an alternative of a pattern."""
_BY_THEIR_WORK: Final = {
    "therapist": "therapy counselling counseling", "dentist": "dental teeth tooth",
    "doctor": "checkup check-up physical",
    "hairdresser": "haircut hair", "barber": "haircut hair", "vet": "veterinary", "lawyer": "attorney solicitor legal",
    "accountant": "tax taxes", "psychologist": "psychologist therapy", "psychiatrist": "psychiatrist therapy",
    "coach": "coaching training", "trainer": "training",
}  # fmt: skip
_WORK: Final = {who: frozenset(map(stem, words.split())) for who, words in _BY_THEIR_WORK.items()}
_MY: Final = r"(?:my|our|(?:the )?user['’]s)"
_ASKED: Final = regex(
    rf"(?:\b(?:does|do|did|is|are|was|were|has|have|had|will|can)(?:n't)?|['’]s) {_MY} (?:[\w-]+ ){{0,2}}?"
    rf"(?P<who>{WHO})s?(?:['’]s?)?(?= |[?.!]|$)(?! (?:and|or) (?:i|me)\b)",
)
_MET: Final = regex(
    rf"\b(?:do|did|am|will|should|can|have) (?:i|we) (?:(?!and\b|or\b)[\w-]+ ){{1,4}}?(?:my|our|the) "
    rf"(?P<who>{'|'.join(_BY_THEIR_WORK)})(?:['’]s?)?(?= (?:next|again)|[?.! ]*$)"
)
"""Whom the asker sees by appointment: what is done with others is no answer."""
_AS_WHICH: Final = regex(rf"\b{_MY} (?P<which>[\w-]+ (?:{WHO}))(?![\w-])")
_WORD: Final = regex(r"[\w-]+")
_OF_ANOTHER: Final = regex(
    rf"(?<![\w'’-])(?!(?:who|what|where|when|how|that|it|he|she|there|here|let|user|{WHO})['’])(?P<name>[\w-]{{2,}})"
    rf"['’]s (?P<who>{WHO})s?(?:['’]s?)?(?= |[?.!]|$)"
)
_OF_SOMEBODY: Final = regex(
    rf"(?i)(?:\b(?P<aux>does|do|did|is|are|was|were|has|have|had)|['’]s) (?P<of>{_MY} (?:[\w-]+ ){{0,2}}?(?:{WHO})s?|"
    r"(?-i:(?!I\b|User\b)[A-ZÀ-ÖØ-Þ][\w-]+(?: [A-ZÀ-ÖØ-Þ][\w-]+)?))(?P<owns>['’]s?)?(?= |[?.!]|$)"
    r"(?! (?:and|or) (?:i|me)\b)"
)
_OF_ME: Final = {
    "does": "do", "do": "do", "did": "did", "is": "am", "are": "am", "was": "was", "were": "was", "has": "have",
    "have": "have", "had": "had",
}  # fmt: skip
_BY_NAME: Final = regex(rf"^who(?:['’]s| is| are| was| were)? {_MY} (?:[\w-]+ ){{0,2}}?(?:{WHO})s?(?![\w'’-])")


def asked(question: str) -> str | None:
    """The one of the asker's people of whom a question in compared text asks what is so; None where it asks of nobody.

    >>> asked("where does my little brother live?")
    'brother'
    """
    text = question.strip()
    found = None if _BY_NAME.match(text) else _ASKED.search(text) or _MET.search(text)
    return None if found is None else found["who"]


def asked_of(question: str) -> tuple[str, str] | None:
    """Whose people a question in compared text asks of that are not the asker's, and which of them.

    >>> asked_of("what is femi's wife called?")
    ('femi', 'wife')
    """
    text = question.strip()
    found = None if text.startswith("who") else _OF_ANOTHER.search(text)
    return None if found is None else (found["name"], found["who"])


def as_own(question: str) -> str | None:
    """A question about one of the asker's people, or what has a name, put as of the asker; None where it is of none.

    >>> as_own("Where does my little sister work?")
    'Where do i work?'
    >>> as_own("What's Tom's job?")
    "What's my job?"
    """
    found = _OF_SOMEBODY.search(question)
    if found is None:
        return None
    rest = question[found.end() :]
    if found["owns"]:
        return f"{question[: found.start('of')]}my{rest}"
    aux = _OF_ME[found["aux"].casefold()] if found["aux"] else " am"
    return f"{question[: found.start()]}{aux} i{rest}"


def names_somebody(question: str) -> bool:
    """Whether a question asks of somebody by their name alone.

    >>> names_somebody("When does Marta's contract end?"), names_somebody("When does my sister arrive?")
    (True, False)
    """
    found = _OF_SOMEBODY.search(question)
    return found is not None and re.match(rf"(?i){_MY} ", found["of"]) is None


def asked_as(question: str) -> str | None:
    """The words of a question in compared text for one of several: "best friend", "older brother"."""
    found = _AS_WHICH.search(question)
    return None if found is None else found["which"]


def names_of(who: str, facts: Iterable[str], whose: str | None = None) -> frozenset[str]:
    """The names, in compared text, under which some facts speak of one of the user's people, or of somebody else's."""
    pattern = _naming(who, whose)
    found = (match["after"] or match["before"] for fact in facts for match in pattern.finditer(fact))
    return frozenset(name.casefold() for name in found)


def named_in(question: Collection[str], facts: Iterable[str]) -> frozenset[str]:
    """The words for those of the user's people whom a question names, as some facts call them: "Anna" is the sister.

    >>> named_in({"where", "does", "anna", "live"}, ["User's sister is called Anna"])
    frozenset({'sister'})
    """
    found = (match for fact in facts for match in _CALLED_SO.finditer(fact))
    return frozenset(match["who"].casefold() for match in found if match["name"].casefold() in question)


_CALLED_SO: Final = regex(
    rf"(?i:\b(?:user['’]s|my|our) (?:[\w-]+ ){{0,2}}?(?P<who>{WHO}))(?:['’]s name)?,? (?:is )?(?:called |named )?"
    r"(?P<name>[A-ZÀ-ÖØ-Þ][\w-]+)"
)


@lru_cache(maxsize=256)  # the words for somebody, and which of several: that is the asker's word
def _naming(who: str, whose: str | None) -> re.Pattern[str]:
    owner = r"(?:user['’]s|my|our)" if whose is None else rf"{re.escape(whose)}['’]s"
    mine = rf"(?i:{owner} (?:[\w-]+ ){{0,2}}?{who})"
    name = r"[A-ZÀ-ÖØ-Þ][\w-]+"
    called = r"s?,? (?:(?:is|are) )?(?:(?:called|named) )?"
    return regex(rf"\b{mine}{called}(?P<after>{name})|(?P<before>{name}),? (?:is |are )?{mine}\b")


def may_tell(who: str, fact: str, called: frozenset[str]) -> bool:
    """Whether a fact speaks of one of the user's people: by what they are called, or by a name."""
    said = _WORD.findall(fact.casefold())
    if who in _BY_THEIR_WORK and not _TITLES.isdisjoint(said):
        return True
    return not called.isdisjoint(said) or is_called(who, said)


_TITLES: Final = frozenset(("dr", "mr", "mrs", "ms"))


def is_called(who: str, said: Iterable[str]) -> bool:
    """Whether some words are among those for one of the user's people; False for a word that is for nobody's."""
    said = frozenset(map(stem, said))
    nobody: frozenset[str] = frozenset()
    return any(not words.get(who, nobody).isdisjoint(said) for words in (_CALLED, _WORK))


_NAME_OF: Final = regex(
    rf"^what(?:['’]s| is| was| are| were) (?:{_MY} (?P<thing>[\w -]{{1,40}}?)(?: (?:called|named)|['’]s? names?)|"
    rf"the names? of {_MY} (?P<of>[\w -]{{1,40}}?))[?.! ]*$"
)
_OWN: Final = regex(r"^User['’]s (?P<thing>[\w -]{1,40}?) (?:is|are|was|were) ")


_BY_WORD: Final = regex(r"\b(?:called|named|names?|goes by|Dr|Mrs?|Ms|Prof)\b|\b(?:is|are|was|were) [\w-]+[.!]?$")
_NAMED_SMALL: Final = regex(  # "my dog max loves the beach": what stands between somebody and a verb
    rf"(?i)\b(?:user['’]s|my|our) (?:{WHO}) "
    r"(?-i:(?!\w+s\b|(?:had|will|can|got|went|and|who|that|in|from|of|at)\b)[a-z]+) (?:\w+s|had|got|went|can|will)\b"
)
_BEHIND: Final = regex(rf"\b(?i:user['’]s|my|our) (?i:[\w-]+ ){{0,2}}?(?i:{WHO})s?,? [A-ZÀ-ÖØ-Þ][\w-]+")
_BEFORE: Final = regex(rf"^[\w-]+,? (?:(?:is|are) )?(?i:user['’]s|my|our) (?i:[\w-]+ ){{0,2}}?(?i:{WHO})\b")
_CAPITAL: Final = regex(
    r"(?<=[^.!?…\s] )(?!User\b)[A-ZÀ-ÖØ-Þ][\w-]+|^(?!User\b)[A-ZÀ-ÖØ-Þ][\w-]+(?=,? (?:is|are|was|were|and)\b)"
)


def holds_the_name(question: str, fact: str) -> bool:
    """Whether a fact may hold the name of one of the asker's people, where a question in compared text asks for it.

    >>> holds_the_name("what's my brother's name?", "User's brother uses User's account")
    False
    """
    wanted = _NAME_OF.match(question.strip())
    if wanted is None or (wanted["thing"] or wanted["of"]).split()[-1] not in _CALLED:
        return True
    if any(form.search(fact) is not None for form in (_BY_WORD, _NAMED_SMALL, _BEHIND, _BEFORE)):
        return True
    return any(word.casefold() not in names.NOT_NAMES for word in _CAPITAL.findall(fact))


def names_another(question: str, fact: str) -> bool:
    """Whether a question in compared text asks for the name of a thing, and a fact says what another one is.

    >>> names_another("what's my dog called?", "User's boss is called Sabine")
    True
    """
    wanted, told = _NAME_OF.match(question.strip()), _OWN.match(fact)
    if wanted is None or told is None:
        return False
    thing = told["thing"].split()
    while len(thing) > 1 and thing[-1][0].isupper():
        thing.pop()  # of "User's brother Pavel is a pilot" the name itself
    asked_for, called = (wanted["thing"] or wanted["of"]).split()[-1].removesuffix("'"), thing[-1].casefold()
    return stem(asked_for) != stem(called) and not is_called(_one(asked_for), [called])


def _one(word: str) -> str:
    """The word for one of those for whom another is the word for many: "kid" of "kids"."""
    return word if word in _CALLED else word.removesuffix("s")
