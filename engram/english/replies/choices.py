"""Questions that give a choice: "tea or coffee?", and what answers them. Pure."""

from __future__ import annotations

from typing import Final

from engram.english import predicates, verbs
from engram.english.replies import saying
from engram.english.replies.saying import Asks
from engram.english.replies.whose import AUX, WH, turned
from engram.english.subjects import plain
from engram.regex import regex
from engram.wordlists import word_set

_CHOICE: Final = regex(
    r"(?i)(?P<one>[\w'’./+#&-]+(?: [\w'’./+#&-]+)?),? or (?:only |rather |more )?(?P<two>(?:an? |the |with |in |on )?"
    r"[\w'’./+#&-]+(?: (?!(?:for|in|on|at|as|with|by|when|while|these|this|to|from|of|most|usually|and|your|my|more)\b)"
    r"[\w'’./+#&-]+)?)"
)
_HOW: Final = r"(?:on|in|at|by|with|before|after|during|from|to|for|via|over)"
_HOWS: Final = regex(rf"(?i)\b{_HOW} (?:[\w'’-]+ ){{0,3}}?[\w'’-]+,? or {_HOW} .+$")
_SAYS_HOW: Final = regex(rf"(?i)^{_HOW} ")
_TWO: Final = regex(
    rf"(?i)^(?!(?:{WH}|{AUX}|should|shall|can|may|could|will|would|any|your|you|i|if)\b)"
    r"(?P<what>[\w'’-]+(?: [\w'’-]+)?,? or [\w'’-]+(?: [\w'’-]+)?)(?P<behind> (?:for|in|on|with|at) .+)?$"
)
_BOTH: Final = regex(r"(?i)^(?:both|all of them)\b(?: of them)?[\s,.]*(?P<rest>.*)$")
_NEITHER: Final = regex(r"(?i)^(?:neither|none)\b(?: of them)?[\s,.;:–—-]*(?P<rest>.*)$")
_BY_PLACE: Final = regex(r"(?i)^(?:the )?(?:(?P<first>first|former)|second|latter|last)(?: one| option)?$")
_LEAD_IN: Final = regex(r"(?i)^(?:the|an?|with|in|on|by|definitely|always|only) ")
_LEADS: Final = word_set("a an the with in on")
_GOVERNS: Final = _LEADS | word_set(
    "i am is are was prefer use assume for to at from by of my your usually mostly always call"
)
_NO_CHOICE: Final = word_set("ok okay ready now later yes no")
_BY_ORDER: Final = regex(
    r"(?i)\b(?:the )?(?:first|second|third|former|latter|this|that|option|version|draft)\b.* or |\b(?:[a-d]|"
    r"\d) or (?:[a-d]|\d)\b|\bone or .*\bone\b| or .* for (?:the|this) (?:call|meeting|trip|party|flight|event|"
    r"appointment|dinner|lunch)\b"
)
"""What is shown beside the question: "the first or the second"."""


def gives_choice(text: str) -> bool:
    """Whether a text names two things to choose from."""
    return _CHOICE.search(text) is not None


def of_two(text: str) -> Asks | None:
    """What a choice alone makes of its answer, said with the voice raised: "Tabs or spaces for indentation?".

    Without what it is for it is of the moment: "Heads or tails?".
    """
    match = _TWO.match(text)
    if match is None or match["behind"] is None or not _NO_CHOICE.isdisjoint(text.casefold().split()):
        return None
    what = match["what"]
    statement = f"I prefer {what[0].lower()}{what[1:]} {turned(match['behind'])}"
    return lambda said: (chosen(said, statement),)


def chosen(said: str, statement: str) -> str | None:
    """A statement that names two things, with the one that a reply chooses; None where it chooses none of them.

    >>> chosen("left", "I am left or right handed")
    'I am left handed'
    """
    hows = _HOWS.search(statement)
    if hows is not None:
        value = saying.value(said) if _SAYS_HOW.match(said) else None
        return None if value is None else f"{statement[: hows.start()]}{value}"
    match = _CHOICE.search(statement)
    if match is None or _BY_ORDER.search(statement):
        return None
    head, tail = statement[: match.start()], statement[match.end() :]
    one, two = match["one"].split(), match["two"].split()
    if two[0].casefold() in _LEADS and len(two) > 1:
        two.pop(0)
    if len(one) == 2 and (_governs(one[0]) or (len(two) == 1 and not one[0][0].isupper())):
        head = f"{head}{one.pop(0)} "
    shared = f" {two.pop()}" if len(two) == 2 and len(one) == 1 else ""  # "left or right handed"
    both = _BOTH.match(said)
    if both is not None:
        everything = f"{head}{' '.join(one)}{shared} and {' '.join(two)}{shared}{tail}"
        return None if both["rest"] else everything
    value = _named(said, " ".join(one), " ".join(two))
    if value is None:
        return None
    shared = "" if shared.strip().casefold() in plain(value).split() else shared
    return f"{head}{value}{shared}{tail}"


def _named(said: str, one: str, two: str) -> str | None:
    """The one of two things that a reply names, or what it names instead of both."""
    by_place = _BY_PLACE.match(said)
    if by_place is not None:
        return one if by_place["first"] else two
    neither = _NEITHER.match(said)
    value = saying.value(said if neither is None else neither["rest"])
    if not value:
        return None
    value = _LEAD_IN.sub("", value)
    given = [word.strip(",.;:") for word in plain(value).split()]
    meant = [side for side in (one, two) if _begins(given, plain(side).split())]
    if neither is None and len(meant) != 1:
        return None
    return meant[0] if meant and len(given) < len(meant[0].split()) else value


def _begins(given: list[str], side: list[str]) -> bool:
    """Whether a reply begins with one of two things, or with the first words of it."""
    return bool(given) and given[0] == side[0] and given[: len(side)] == side[: len(given)]


def _governs(word: str) -> bool:
    """Whether a word before one of two things is no part of it: "prefer tea", "a morning"."""
    word = word.casefold()
    return word in _GOVERNS or word in verbs.COMMON or predicates.is_verb(word) or predicates.is_third(word)
