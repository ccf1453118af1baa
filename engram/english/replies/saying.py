"""What is said in reply: yes, no or never, or a value, without what leads in to it. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engram.regex import regex
from engram.wordlists import word_set

Told = tuple[str | None, ...]
"""The statements that come of a reply; None where one says nothing."""
Asks = Callable[[str], Told]
"""What a question makes of a reply."""
EDGES: Final = " ,;:.!–—-"

_SIGNS: Final = regex(r"[\u2190-\u2bff\ufe0f\u200d\U0001f000-\U0001faff]+|[:;]-?[)(DP](?!\w)|\s+$")
_FILLER: Final = regex(r"(?i)[\s,]*\b(?:tbh|imo|imho|afaik|lol|ugh|haha+)\b(?=[\s,.;!]|$)")
_LEAD: Final = regex(
    r"(?i)^\W*(?:(?:u+h+m*|u+m+|h+m+|well|oh+|ah+|so|let me (?:think|see)|good question|great question|honestly|"
    r"actually|i['’]d say|i would say|like|just|thanks|great|hey|hi|and|but|also)\b[\s,.…!:-]*)+(?=\w)"
)
_TAIL: Final = regex(
    r"(?i)(?:[\s,.!-]*\b(?:please|pls|plz|thanks|thank you|thx|hehe|honestly|actually|i guess so|of course|obviously|"
    r"to be honest|as always|for me|mate|dude|sorry|btw|by the way|fwiw|if that helps)\b)+[\s.!]*$"
)
_UNSURE: Final = regex(
    r"(?i)\b(?:not (?:sure|certain|important|now|today)|no (?:idea|clue|comment|preference|worries|problem|thanks)|"
    r"don['’]?t (?:know|remember|care|mind|worry)|dunno|idk|maybe|perhaps|probably|i (?:think|guess|suppose|believe)|"
    r"depends|rather not|prefer not|who knows|you (?:decide|choose|tell|pick)|up to you|remind me|ask me|none of your|"
    r"see above|no matter|kinda|sorta|hopefully|might|could be|hold on)\b"
)
_NO_ANSWER: Final = regex(
    r"(?i)^(?:(?:h+m+|u+h+m*|o+h+|a+h+|eh|um+|ok(?:ay)?|cool|nice|great|awesome|perfect|good|fine|thanks|thank you|thx|"
    r"sorry\b.*|not yet\b.*|hello|hi|hey|bye|good (?:morning|night|evening)|wow|yikes|exactly|true|interesting)$|"
    r"(?:good question|great question|depend|whatever|anything|anyone|later|skip|pass|why|guess|same|either|kind of|"
    r"sort of|let me|wait|if|what|when|who|how|which|can|could|would|will|shall|should|may|do|does|did|is|are|have you|"
    r"let['’]s)\b)"
)
_STOP: Final = r"(?=\s*(?:[,.;:!–—-]|$))"
_YES: Final = regex(
    r"(?i)^(?:yes+|yeah+|yep+|yup+|yea|ya|ye|yh|sure|mhm+|aye|absolutely|definitely|indeed|correct|exactly|totally|"
    r"true|ok(?:ay)?|that['’]?s (?:right|correct|true)|(?:i (?:do|am|did|have|can|was)|we (?:do|are|did|have)|(?:she|"
    r"he|they|"
    rf"it) (?:does|is|did|has|was|are|do|have)){_STOP})(?![\w'’])[\s,;:.!–—-]*"
)
_NO: Final = regex(
    r"(?i)^(?:(?:god |oh |hell )?no+(?: way)?|nope+|nah+|na|negative|not (?:really|at all|me)|none|nothing|"
    r"(?:i (?:don['’]?t|do not|am not|didn['’]?t|haven['’]?t|can['’]?t)|i['’]m not|(?:she|he|it) (?:doesn['’]?t|"
    r"isn['’]?t|didn['’]?t|hasn['’]?t)|(?:he|she|it)['’]s not|they (?:don['’]?t|aren['’]?t))"
    rf"{_STOP})(?![\w'’])[\s,;:.!–—-]*"
)
_NO_MORE: Final = regex(
    r"(?i)^(?:(?:no|nope|nah)[\s,.!]+)?(?:not any ?more|no longer|not since (?P<since>.+)|(?:i )?used to)\b[\s,.!]*"
)
_NEVER: Final = regex(r"(?i)^(?:(?:no|nope|nah)[\s,.!]+)?never\b[\s,.!]*(?P<rest>.*)$")
_NOTHING_ELSE: Final = regex(r"(?i)^(?:that i know of|as far as i know|at all|really|luckily|fortunately|ever|so far)$")
_CLAUSE: Final = regex(
    r"(?i)^(?:and |but |so |because |cause |since |as |though )*(?:i|i['’]\w+|im|ive|we|we['’]\w+|he|she|it|they|you|"
    r"there|this|that|(?:my|our|his|her|their|the) (?:\w+ ){1,2}(?:is|are|was|were|has|have|had|does|did|will|can))\b"
)
_COMMAND: Final = regex(
    r"(?i)^(?:please|do not|don['’]?t|let['’]s|go ahead|show|tell|give|help|send|make|check|try|stop|"
    r"define|explain|imagine)\b"
)
_POINTED: Final = regex(
    r"(?i)^(?:the )?(?:one|ones|first|second|third|former|latter|last|other|same|this|that|these|"
    r"those)\b(?! \w+ (?:of|in)\b)"
)
_IT_IS: Final = regex(
    r"(?i)^(?:(?:it|that|this|they|those|the name|name|my name)(?:['’]s| is|['’]re| are|s)|that would be|it would be|"
    r"it['’]d be|they call me|call me|i['’]m called|i go by)\s+(?=\w)"
)
BREAK: Final = regex(
    r"(?i)\s*(?:[,;(]| [–—-] |\s(?=(?:because|cause|but|though|although|which|who|and i|and we)\b))\s*"
)
"""Where what is said goes on with something else."""
_SMALL: Final = word_set(
    "a an the my our his her their in on at about around since for from to by with near every each no not only mostly "
    "usually just both two three four five six seven eight nine ten once twice never always"
)
"""Words that have a capital only where they begin a sentence."""
_LINK: Final = regex(r"(?i)^(?:because|cause|but|though|although|which|who)\b")


def cleaned(sentence: str) -> str:
    """A reply without signs, fillers, and what people begin and end one with."""
    said = _FILLER.sub("", _SIGNS.sub("", sentence))
    return _TAIL.sub("", _LEAD.sub("", said)).strip(" ,;:!.…-–—")


def is_unsure(said: str) -> bool:
    """Whether a reply gives no answer, or leaves it open."""
    return _UNSURE.search(said) is not None or _NO_ANSWER.match(said) is not None


def is_clause(said: str) -> bool:
    """Whether something has a subject of its own, and is read by itself."""
    return _CLAUSE.match(said) is not None


def adds_nothing(rest: str) -> bool:
    """Whether what stands behind "yes" or "no" only underlines it."""
    return not rest or _NOTHING_ELSE.match(rest) is not None


def after_yes(said: str) -> str | None:
    """What stands behind the "yes" of a reply; None where it says no yes."""
    match = _YES.match(said)
    return None if match is None else said[match.end() :].strip(EDGES)


def after_no(said: str) -> str | None:
    """What stands behind the "no" of a reply; None where it says no no."""
    match = _NO.match(said)
    return None if match is None else said[match.end() :].strip(EDGES)


def after_never(said: str) -> str | None:
    """What stands behind the "never" of a reply; None where it says no never."""
    match = _NEVER.match(said)
    return None if match is None else str(match["rest"])


def since_no_more(said: str) -> str | None:
    """Since when something is no more, as " since May" or empty; None where a reply does not say so."""
    match = _NO_MORE.match(said)
    if match is None:
        return None
    return f" since {match['since']}" if match["since"] else ""


def is_yes(said: str) -> bool:
    """Whether a reply says yes, and nothing else."""
    return after_yes(said) == ""


def is_no(said: str) -> bool:
    """Whether a reply says no, and nothing else."""
    return after_no(said) == ""


def names_it(said: str) -> bool:
    """Whether a reply leads in to its value: "it's Dana"."""
    return _IT_IS.match(said) is not None


def value(said: str) -> str | None:
    """The value that a reply gives: without what leads in to it, and without what follows in a clause of its own."""
    said = _IT_IS.sub("", said)
    read_otherwise = (_POINTED, _YES, _NO, _NEVER, _CLAUSE, _COMMAND)
    if any(pattern.match(said) for pattern in read_otherwise):
        return None
    end, place = len(said), 0
    for part in BREAK.split(said)[1:]:
        place = max(place, said.find(part, place + 1) if part else -1)
        if place > 0 and (_CLAUSE.match(part.removeprefix("and ")) or _LINK.match(part)):
            end = place
            break
    given = said[:end].rstrip(" ,;(–—-")
    first = given.split(" ", 1)[0]
    return (given[0].lower() + given[1:] if first.casefold() in _SMALL and first != "I" else given) or None


def with_value(put: Callable[[str], str | None]) -> Asks:
    """What a question makes of a reply that gives a value: the statement with it."""

    def asks(said: str) -> Told:
        given = value(said)
        return () if given is None else (put(given),)

    return asks
