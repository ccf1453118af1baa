"""Wishes: what somebody wants done every time or likes, and the requests that it bears on. English; pure.

"Please put type hints on the functions" and "I don't eat pork" share no word with "Write me a function" and "What could
I order?", and yet they are what has to be known to answer them well.
"""

from __future__ import annotations

from typing import Final

from engram.regex import regex
from engram.values import MemoryType

TYPES: Final[tuple[MemoryType, ...]] = ("constraint", "preference")  # memories that a policy has read as wishes
MOST_READ: Final = 4_000  # characters of what was said
MOST_ASKED: Final = 400

_ONE: Final = r"(?:i|we|you|one)"
_OPENING: Final = (
    r"^\W*(?:(?:hi|hey|hello|please|so|and|ok|okay|now|also|then)\b\W*)*"
    r"(?:(?:can|could|would|will) you |(?:i'd like|i want|i need) you to |let's |help me )?(?:please )?"
)
_REQUEST: Final = regex(
    rf"{_OPENING}(?:advise|compare|create|design|draft|explain|give|help|make|outline|plan|propose|recommend|show|"
    r"suggest|teach|walk|write)\b"
    r"|\bany (?:\w+ )?(?:advice|ideas?|recommendations?|suggestions?|thoughts?|tips?)\b"
    r"|\bshould\b|\b(?:how|what|where|which|who|when)\b[^?.!]{0,40}? (?:can|could)\b"
    r"|\b(?:how(?: (?:long|many|much))?|what|where|who|when) (?:will|would)\b"
    rf"|\b(?:how|what|where|which|who|when)\b[^?.!]{{0,40}}? would {_ONE}\b"
    r"|\bwould (?:suit|be (?:a )?(?:good|best|nice))\b"
    rf"|\bhow (?:to|do {_ONE}|does one)\b|\bdo you (?:advise|recommend|suggest)\b|\bwhat (?:do|does) .* mean\b"
    r"|\b(?:best|good|right) (?:idea|place|thing|time|way)\b|\blooking for\b"
)
_OF_WHAT_WAS_SAID: Final = regex(
    r"\b(?:ago|did|had i|have i|history|mentioned|order|overview|previous(?:ly)?|remember|remind|said|summar\w*|sum up|"
    r"told|was|were)\b"
)
_WISH: Final = regex(
    r"\b(?:always|never|from now on|whenever|(?:every|each) time|prefer\w*|(?:'d|would) rather|rather than|make sure|"
    r"keep in mind|remember (?:that|to)|instead of|(?:if|when) i ask|favou?rite|for the record|"
    r"without (?:any )?\w+ing)\b"
    r"|\b(?:i|we|she|he|they) (?:really |also |only |just )?(?:do not|don't|does not|doesn't|can't|cannot|won't) "
    r"(?:do|drink|eat|have|like|need|stand|touch|use|want)\b"
    r"|\b(?:i|we) (?:really |also |only |just )?(?:avoid|dislike|enjoy|favou?r|hate|like|love|want)\b"
    r"|\bi(?:'d| would) (?:like|love|want)\b|\b(?:i'm|i am) (?:allergic|vegetarian|vegan|a fan|not a fan|into)\b"
    r"|\bplease (?!could|can|help|tell me how)\w+"
)


def is_request(query: str) -> bool:
    """Whether a question asks for something new, such as advice or a draft, and not for what was said."""
    asked = query[:MOST_ASKED].casefold().replace("’", "'")
    return _REQUEST.search(asked) is not None and _OF_WHAT_WAS_SAID.search(asked) is None


def is_wish(said: str) -> bool:
    """Whether somebody says what he likes, or what is to be done every time."""
    return _WISH.search(said[:MOST_READ].casefold().replace("’", "'")) is not None
