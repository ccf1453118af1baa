"""Telling: which of what was found may tell what a question asks. Pure.

What shares its words may be of somebody else, of another thing, or hold no number where one is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Final

from engram import text
from engram.channels import semantic
from engram.english import attributes, frames, names, phrases, worth
from engram.english.subjects import MAX_SENTENCE, clauses, plain
from engram.recall import fitting, kin, kinds, others, sorts, wanted
from engram.recall.finding import EVIDENCE, answers_as_words
from engram.recall.results import WEAK, relevance_of
from engram.regex import regex
from engram.values import Memory, SearchResult, SearchResults

STRONG: Final = 0.5  # share of the best relevance under which a memory is about something else
CLEAR: Final = 0.22  # relevance from which a hit with a vector answers whatever its cosine
ENOUGH: Final = 0.42  # relevance and cosine together from which any hit with a vector answers
ALIKE: Final = 0.5  # cosine from which other words may mean the same: a dental appointment is a dentist's
APART: Final = 0.4  # cosine under which a hit has to name what is asked for, and not only what that is of
NEARBY: Final = 0.25  # cosine from which what shares no more than a verb may be of the sort that is asked for
FAR: Final = 0.1  # cosine under which a hit answers nothing that shares no more with the question than a verb


def strong(results: SearchResults, question: str, least: float) -> list[SearchResult]:
    """The hits that may answer a question, best first. Pure.

    Of an attribute its own words tell; where none do, what is of the kind that is asked for.
    """
    name, kind = attributes.asked(plain(question)), kinds.asked(question)
    if name is not None:
        known = _strong(_only(results, [one for one in results if may_tell(one.memory, name)]), question, least)
        if known or kind is None:
            return known
        results = _only(results, [one for one in results if kinds.tells(kind, question, one.memory.fact)])
    return _strong(results, question, least, kind)


def _only(results: SearchResults, some: Sequence[SearchResult]) -> SearchResults:
    return replace(results, results=tuple(some))


def _strong(results: SearchResults, question: str, least: float, kind: kinds.Kind | None = None) -> list[SearchResult]:
    of_kind: set[str] = set()
    if kind is not None:
        of_kind = {one.memory.memory_id for one in results if kinds.tells(kind, question, one.memory.fact)}
        may = [one for one in results if _may_be_of(kind, question, one)]
        left = of_kind | {one.memory.memory_id for one in may}
        results = _only(results, [one for one in results if one.memory.memory_id in left])

    def is_what_is_asked_for(one: SearchResult) -> bool:
        return kind is not None and kinds.begins_with_one(kind, one.memory.fact)

    asked, same = others.plain_words(question), text.compared(question)
    asked |= kin.named_in(asked, (one.memory.fact for one in results))
    telling = [
        one for one in results
        if not _asks(one.memory, same)
        and fitting.fits(question, one.memory.fact, is_dated=one.memory.valid_from_stated)
        and (_is_of_whom_is_asked(one.memory, question, same, asked) or is_what_is_asked_for(one))
        and not kin.names_another(same, one.memory.fact)
        and not (is_rather_far(one) and sorts.is_of_another(question, one.memory.fact))
        and (one.memory.memory_id in of_kind or not _is_of_another_head(one, question))
    ]  # fmt: skip
    if asks_what_is_so(question) and _WHO_DOES.match(same) is None:
        telling = [
            one for one in telling
            if not is_verbatim(one) or others.tells_of_the_asker(one.memory.fact, asked) or is_what_is_asked_for(one)
        ]  # fmt: skip
    elif _SUPPOSING.search(same) is None:
        telling = [one for one in telling if not is_verbatim(one) or any(others.stated(one.memory.fact))]
        if kin.names_somebody(question):  # what is said of another is not so of them
            said = ((one, one.memory.fact) for one in telling)
            telling = [one for one, fact in said if not is_verbatim(one) or others.tells_of_the_asker(fact, asked)]
    people = of_kind | {one.memory.memory_id for one in _of_people(telling, results, same)}
    telling = [one for one in telling if one.memory.memory_id in people]  # a beagle is a dog
    telling = _of_what_of_somebody(telling, question, same)
    telling = _of_what_is_wanted(telling, results, question)
    if not _LIGHT.issuperset(asked - text.STOP_WORDS):
        named = words_by(NAMING, question) if WHETHER.match(question) else frozenset[str]()
        telling = [
            one for one in telling if one.memory.memory_id in of_kind or not _only_does_something_too(one, named)
        ]
    certain = [
        one for one in telling
        if kind is not None and one.memory.memory_id in of_kind and relevance_of(one) >= least
        and kinds.holds_the_rest(kind, question, one.memory.fact)
    ]  # fmt: skip
    needed = max(STRONG * max(map(relevance_of, telling[:1]), default=0.0), least)
    enough = [one for one in telling if is_enough(one) and relevance_of(one) >= needed]
    if kind is None or not certain:
        return enough
    best = kinds.of_the_best(kind, [one.memory.fact for one in certain])
    rest = {one.memory.fact for one in certain} - set(best)
    enough = [one for one in enough if one.memory.fact not in rest]
    certain = [one for one in certain if one.memory.fact not in rest]
    return certain if kind.other is None else [*enough, *(one for one in certain if one not in enough)]


def _may_be_of(kind: kinds.Kind, question: str, one: SearchResult) -> bool:
    """Whether a hit that tells of none of a kind may answer all the same.

    Where a sort of thing is asked for, what is merely used as well does not: "We use a lot of coffee" is no cache.
    """
    if kind.sort is None:
        return kinds.may_answer(kind, question, one.memory.fact)
    if kinds.names_in_passing(kind, one.memory.fact):
        return False
    if not one.matched or not _LIGHT.issuperset(one.matched):
        return bool(one.matched) or kinds.may_answer(kind, question, one.memory.fact)
    cosine = one.terms.get("cosine")
    return kinds.may_answer(kind, question, one.memory.fact) and cosine is not None and cosine.value >= NEARBY


def _of_people(telling: list[SearchResult], results: SearchResults, question: str) -> list[SearchResult]:
    """What speaks of those of the asker's people, or of another's, that a question (compared) asks about. Pure."""
    who, whose = kin.asked(question), kin.asked_of(question)
    facts = [one.memory.fact for one in results]
    if who is not None:
        called = kin.names_of(who, facts)
        telling = [one for one in telling if kin.may_tell(who, one.memory.fact, called)]
        which = kin.asked_as(question)
        telling = (which and _of_which(which, telling)) or telling
    telling = [one for one in telling if kin.holds_the_name(question, one.memory.fact)]
    if whose is not None:
        called = kin.names_of(whose[1], facts, whose[0])
        telling = [one for one in telling if kin.may_tell(whose[1], one.memory.fact, called)]
    return telling


def _of_what_of_somebody(telling: list[SearchResult], question: str, same: str) -> list[SearchResult]:
    """What may tell what is asked of somebody else: where they live is not told by where they work. Pure.

    What was said goes with the fact that was made of it.
    """
    said = text.words(same)
    if _FOR_NO_NAME.match(same) is not None:
        telling = [one for one in telling if (called := _name_alone(one.memory.fact)) is None or called in said]
    own = kin.as_own(question)
    if own is None:
        return telling
    asks_a_name = _FOR_A_NAME.search(same) is not None
    name = "occupation" if _WHAT_THEY_DO.match(own) else None if asks_a_name else attributes.asked(plain(own))
    any_name_may_tell = asks_a_name or (name is None and kin.asked(same) is None)

    def tells(one: SearchResult) -> bool:
        called = _name_alone(one.memory.fact)
        if called is not None:
            # One that is asked about says whose it is, and so what they do; no more of them.
            return any_name_may_tell or (called in said and name in (None, "occupation"))
        return name is None or _may_tell_of_another(one.memory, name)

    kept = [one for one in telling if tells(one)]
    facts = {one.memory.event_id for one in kept if not is_verbatim(one)}
    gone = {one.memory.event_id for one in telling if not is_verbatim(one)} - facts
    return [one for one in kept if not is_verbatim(one) or one.memory.event_id not in gone]


def _of_what_is_wanted(telling: list[SearchResult], results: SearchResults, question: str) -> list[SearchResult]:
    """What has more to do with a question about something that has a name than the name alone. Pure.

    What is wanted of it has to be known by its word, as told of others: else other words may tell it.
    """
    asks = wanted.of_a_name(question)
    if asks is None or not asks.is_known_by_its_word(one.memory.fact for one in results):
        return telling
    own = kin.as_own(question)
    name = None if own is None else attributes.asked(plain(own))

    def tells(fact: str) -> bool:
        return asks.may_be_told_by(fact) or (name is not None and attributes.may_tell(name, plain(fact)))

    left = [one for one in telling if tells(one.memory.fact)]
    if _ASKS_A_VALUE.search(question) is None or any(asks.names_it(one.memory.fact) for one in left):
        return left
    own_words = (one for one in telling if asks.names_it(one.memory.fact))  # "Apollo is due on 5 May" names no deadline
    return [one for one in own_words if asks.gives_a_value(one.memory.fact)] or left


_ASKS_A_VALUE: Final = regex(r"(?i)\b(?:when|deadline|birthday|due|date|budget|costs?|price)\b")


def _is_of_whom_is_asked(memory: Memory, question: str, same: str, asked: Set[str]) -> bool:
    """Whether a memory is of nobody else than a question speaks of, `same` being its compared text. Pure.

    Somebody else is whom "who" asks for.
    """
    if _WHO.match(same) is not None:
        does_something_for_me = _WHO_DOES.match(same) is not None and others.is_about_the_asker(memory)
        if does_something_for_me or not semantic.is_first_person(question) or _is_what_is_asked(memory.fact, same):
            return True
    return not others.is_about_another(memory, asked)


def _is_what_is_asked(fact: str, question: str) -> bool:
    """Whether a fact says that somebody is what a question asks for: "Priya is our designer". Pure."""
    asked = _WHO_IS_MINE.match(question)
    last = None if asked is None else re.escape(asked["whom"].split()[-1])
    return (
        last is not None
        and re.search(rf"\b(?:user's|my|our) (?:[\w-]+ ){{0,3}}?{last}\b", text.compared(fact)) is not None
    )


_WHO_IS_MINE: Final = regex(
    r"(?:and |so )?who(?:'s| is| are| was| were) (?:my|our) (?P<whom>[\w-]+(?: [\w-]+){0,2}?)"
    r"(?= (?:now|again|in|on|at|of|before|when|last|this|during|until|these)\b|[?.! ]*$)"
)
_LIGHT_VERBS: Final = """
    use uses used using go goes went going take takes took taking have has had having get gets got getting do does did
    make makes made need needs needed meet meets met prefer prefers preferred want wants wanted like likes liked love
    loves loved call calls called name names named day days date dates week weeks month months year years time times
    kind sort type
"""
_LIGHT: Final = frozenset(_LIGHT_VERBS.split())
"""What may be done with anything, or asked of it: that a question and a memory share it says nothing of what they are
about."""


def _only_does_something_too(one: SearchResult, named: Set[str]) -> bool:
    """Whether a hit has no more in common with a question than a verb of anything: nor its vector, nor a name. Pure.

    Whether something named is so ("Do we use Redis?") is not told by what else is used.
    """
    if not one.matched or not _LIGHT.issuperset(one.matched):
        return False
    cosine = one.terms.get("cosine")
    is_far = cosine is not None and cosine.value < FAR
    return is_far or (bool(named) and named.isdisjoint(others.plain_words(one.memory.fact)))


def _is_of_another_head(one: SearchResult, question: str) -> bool:
    """Whether a hit shares with a question only what the thing it asks for is of, and is not near: the blood's type."""
    cosine = one.terms.get("cosine")
    return cosine is not None and cosine.value < APART and sorts.lacks_the_head(question, one.memory.fact)


def is_rather_far(one: SearchResult) -> bool:
    """Whether the vectors of a hit and a question may be near by what they share alone, and by no other word for it."""
    cosine = one.terms.get("cosine")
    return cosine is not None and cosine.value < ALIKE


def is_enough(one: SearchResult) -> bool:
    """Whether a hit has enough to do with a question to answer it: its vector tells that best. Pure."""
    cosine = one.terms.get("cosine")
    relevance = relevance_of(one)
    return relevance >= WEAK if cosine is None else relevance >= CLEAR or relevance + cosine.value >= ENOUGH


def _of_which(which: str, telling: Sequence[SearchResult]) -> list[SearchResult]:
    """What speaks of the very one of several: of the best friend and not of any. Pure."""
    called = kin.names_of(which, (one.memory.fact for one in telling))
    said = ((one, text.compared(one.memory.fact)) for one in telling)
    return [one for one, fact in said if which in fact or not called.isdisjoint(text.words(fact))]


def _asks(memory: Memory, question: str) -> bool:
    """Whether a memory is a question someone asked, this one (compared) or another: it is no answer. Pure."""
    if memory.category not in EVIDENCE:
        return False
    return text.ends_in_question(memory.fact) or text.compared(memory.fact) == question


def is_verbatim(one: SearchResult) -> bool:
    """Whether a hit is somebody's words as they were said, or a statement of nobody knows whom. Pure."""
    return is_as_said(one.memory)


def is_as_said(memory: Memory) -> bool:
    """Whether a memory is somebody's words as they were said, or a statement of nobody knows whom. Pure."""
    return memory.category == "verbatim" or worth.is_statement(memory.category, memory.deriver)


# What a question asks ------------------------------------------------------------------------------------------------


_WHO: Final = regex(r"(?:and |so )?who(?:se)?\b")
_WHO_DOES: Final = regex(r"(?:and |so )?who (?!is\b|are\b|was\b|were\b|am\b)")
_SUPPOSING: Final = regex(
    r"\b(?:would|could|should|might|may|wish|want|plan|plans|hope|dream|think|thinking|consider|considering|like to|"
    r"going to|if|say|said|tell|told|mention|mentioned|ask|asked)\b"
)
_ASKED_IN_ENGLISH: Final = regex(r"\b(?:i|my|mine|we|our)\b", re.IGNORECASE)  # "me" is a word of many languages
WHETHER: Final = regex(
    r"(?:and |so )?(?:am|are|can|could|did|do|does|had|has|have|is|was|were|will|would)\b", re.IGNORECASE
)
# Looked for where a word begins: in the middle of a long one each place would be read to its end in vain.
_NUMBER: Final = r"(?:(?<![\w-])|(?<= [A-HJ-Z]))[\w-]*\d[\w.-]*(?<!\.)"
CODE: Final = regex(rf"(?<=\w )[A-HJ-Z]\b(?!['’])|{_NUMBER}")
NAMING: Final = regex(rf"(?<=\w )[A-Z][\w'’-]*|{_NUMBER}")


def asks_what_is_so(question: str) -> bool:
    """Whether somebody asks in English what is so of themselves, and not what may be or was said. Pure."""
    is_own = _ASKED_IN_ENGLISH.search(question) is not None and semantic.is_first_person(question)
    return is_own and _SUPPOSING.search(text.compared(question)) is None


def words_by(pattern: re.Pattern[str], question: str) -> frozenset[str]:
    """The words of a question that a pattern finds, as they are compared."""
    return others.plain_words(" ".join(pattern.findall(question)))


# What may tell of an attribute ---------------------------------------------------------------------------------------


AS_WHAT: Final = regex(r"\bworks\b.* as an? ")  # under the key of who employs somebody it says what they do there
_AGED: Final = regex(r"^User is an? \d{1,3}[ -]years?[ -]old\b")
_PARTNER: Final = regex(
    r"\bUser['’]s (?:wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?),? (?!User\b)[A-ZÀ-ÖØ-Þ][\w-]"
)
_TOLD_OTHERWISE: Final = {"occupation": AS_WHAT, "age": _AGED, "partner": _PARTNER}
"""What tells of an attribute under another's key, or under none."""
_STATED: Final = ("statement", "reported")
_SPOKEN_OF: Final = regex(r"\b(?:i|i'm|i've|me|my|mine|we|we're|our|you|you're|your|user|user's)\b")


def may_tell(memory: Memory, name: str) -> bool:
    """Whether a memory may tell of an attribute of the user: it has no other's key, its words, and states something."""
    key, otherwise = memory.conflict_key or "", _TOLD_OTHERWISE.get(name)
    tells = otherwise is not None and otherwise.search(memory.fact) is not None
    held, _, whose = key.removeprefix(frames.PROFILE).partition("@")
    if held in (name, *phrases.relatives(name)) and (not whose or whose.endswith(f" {held}")):
        return True
    if key.startswith(frames.PROFILE) and not frames.is_loose(key):
        return tells
    if tells and not answers_as_words(memory):
        return True
    if not attributes.may_tell(name, plain(memory.fact)):
        return False
    if not answers_as_words(memory):
        return True
    said = clauses(memory.fact[:MAX_SENTENCE])
    return any(one.mood in _STATED and _SPOKEN_OF.search(one.compared) for one in said)


_IS_CALLED: Final = regex(
    rf"(?i)^(?:user['’]s|my|our) (?:[\w-]+ ){{0,2}}?(?:{kin.WHO})s?"
    r"(?:['’]s? name is|['’]s called| (?:is|are) (?:called|named)| (?:is|are)(?-i:(?= [A-ZÀ-ÖØ-Þ]))) "
    r"(?P<name>[\w-]+)[.! ]*$"
)
_FOR_NO_NAME: Final = regex(r"(?:and |so )?(?:when|where|how (?:old|long|often|far|tall|big|many|much))\b(?!.*\bcall)")
_OF_THE_USER: Final = regex(r"(?i)^(?:user|i|we)(?!['’])\b")
_FOR_A_NAME: Final = regex(r"\b(?:names?|named|call|called|who|whose)\b")
_WHAT_THEY_DO: Final = regex(r"(?i)\W*(?:and |so )?what (?:do|did) i do(?: now| these days| currently)?[?.! ]*$")
_IS_AGED: Final = regex(
    r"\bturn(?:ed|s) \d{1,3}\b|-(?:year|month)s?-old\b|"
    r"\b(?:is|are) (?:an? )?\d{1,3}(?:[ -](?:years?|months?)(?:[ -]old)?)?[.! ]*$"
)
_IS_FROM: Final = regex(r"\b(?:is|are) (?:originally )?from [\w -]{1,60}[.! ]*$")
_IS_A: Final = regex(  # what somebody does: no age, no diet, and nothing they belong to or are fond of
    r"\b(?:is|was) an? (?:(?!in\b|at\b|from\b|of\b|with\b|who\b|on\b)[a-z-]+ ){0,2}"
    r"(?![a-z-]*(?:fan|user|owner|member|customer|speaker|supporter|graduate|student|vegan|vegetarian|pescatarian|teen|"
    r"teenager|toddler|baby|adult|pensioner|believer|native|citizen|local)\b)[a-z-]+[.! ]*$"
)
_ALIKE: Final = frozenset(
    map(
        frozenset,
        (
            ("occupation", "employer"),
            ("age", "birthday"),
            ("age", "height"),
            ("age", "weight"),
            (attributes.ORIGIN, "nationality"),
        ),
    )
)
"""Attributes that tell of each other, where no more is known."""


def _name_alone(fact: str) -> str | None:
    """What a fact says somebody is called, in compared text, where it says no more. Pure."""
    found = _IS_CALLED.match(fact)
    called = None if found is None else found["name"].casefold()
    return None if called in names.DESCENTS else called


def _may_tell_of_another(memory: Memory, name: str) -> bool:
    """Whether a memory may tell of an attribute of somebody else.

    False where it gives another attribute and has no word of this one; what is said of the user may name somebody.
    """
    if _OF_THE_USER.match(memory.fact) is not None:
        return True
    gives = _given_by(memory)
    if gives is None or gives in (name, *phrases.relatives(name)) or frozenset((gives, name)) in _ALIKE:
        return True
    if gives == "occupation" and phrases.goes_beside(name):
        return True  # a drummer plays the drums
    return attributes.may_tell(name, plain(memory.fact))


def _given_by(memory: Memory) -> str | None:
    """The attribute that a memory gives somebody a value of, where its key or its form says so. Pure."""
    key = memory.conflict_key or ""
    held = key.removeprefix(frames.PROFILE).partition("@")[0]
    if key.startswith(frames.PROFILE) and attributes.is_known(held):
        return held
    if _IS_FROM.search(memory.fact) is not None:
        return attributes.ORIGIN
    return "age" if _IS_AGED.search(memory.fact) else "occupation" if _IS_A.search(memory.fact) else None
