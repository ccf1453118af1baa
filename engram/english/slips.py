"""A slip that is corrected: in a sentence of its own ("Did I say Rome? I meant Oslo.") or at once. Pure.

What one sentence corrects of what was said before it ("It's Oslo, not Rome") is read in `attributes`. Here the
slip is named in one sentence, and what is right stands in the other, in a word or two or as a statement that says it in
full; or both stand in one: "I live in Rome, sorry, I mean Milan".
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from engram.english.feasts import MONTHS, WEEKDAY
from engram.regex import regex
from engram.wording import OfWords, worded

_WELL: Final = (
    r"(?:(?:wait|sorry|oops|no|nope|actually|haha|lol|ah|oh|hm+|hang on|hold on|correction|my mistake|my bad|"
    r"scratch that)"
    r"[,.!:–—-]*\s+){0,3}"
)
_V: Final = r"(?:(?:an?|the|my|in|at|on|with|for|to) )?(?P<{name}>[^,;:.!?]{{1,40}}?)"
_OLD: Final = _V.format(name="old")
_NEW: Final = _V.format(name="new")
_NAMED: Final = OfWords(
    regex(rf"(?i)^{_WELL}{pattern}\W*$")
    for pattern in (
        rf"(?:did|have) i (?:just |really )?(?:say|said|write|written|type|typed) {_OLD}\?",
        rf"(?:no,? )?(?:it's |that's )?not {_OLD}",
        rf"i (?:said|wrote|typed) {_OLD},? but [^.!?]{{1,60}}",
        rf"{_OLD} was (?:a typo|a slip|a slip of the tongue)",
    )
)
_MEANT: Final = regex(
    rf"(?i)^{_WELL}(?:i (?:meant(?: to say)?|should have said|mean)|it's|it is|make that|(?:it|that) should be|"
    rf"should be) "
    rf"{_NEW}(?:,[^.!?]{{1,60}})?[\s.!]*$"
)
_IS_NOT: Final = worded(rf"(?i)^{_WELL}(?:(?:i'm|i am|it's|it is|that's|definitely) )?not {_OLD}[\s.!]*$")
_NO_NAME: Final = regex(
    r"(?i)^(?:it|that|this|them|so|yes|no|not|sure|really|yet|now|sorry|bad|good|great|kidding|joking|ready|done|here|there|"
    r"i|you|he|she|they|we|what|how|why|going|happy|true|right|fair|well|no harm|to|about|goodbye|bye|hello|hi|"
    r"thanks|anything|everything|something|nothing|me|at all)\b"
)


_AT_ONCE: Final = regex(
    r"(?i)^(?P<said>(?:[^.!?]|(?<=\b[dm]r)\.|(?<=\bms)\.|(?<=\bmrs)\.|\.(?=\d))+?)\s*(?<![,;–—-])[,;–—-]+\s*"
    r"(?:(?:oh|no|oops|whoops|wait|sorry|hang on|hold on|scratch that|correction|my mistake|my bad)\b[\s,!:–—-]*)+"
    r"(?:i (?:meant to say|meant|mean)|make that)[\s,:]+(?!to\b)(?P<new>[^!?]+?)[\s.!]*$"
)
_MEANS: Final = worded(r"(?i)\b(?:i meant?|make that)\b")  # in every sentence that corrects itself at once
_PROPER: Final = regex(
    r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?(?!I\b)[A-ZÀ-ÖØ-Þ][\w'’&-]*(?:\.(?=\s))?(?: (?:of |de |van )?[A-ZÀ-ÖØ-Þ][\w'’&-]*)*"
)
_FIGURE: Final = regex(r"\d[\d.,:-]*")
_OF_A_NAME: Final = regex(rf"(?:{_PROPER.pattern}) {_FIGURE.pattern}")  # "July 5"
_CLASSES: Final = tuple(regex(f"(?i:{kind})") for kind in (WEEKDAY, MONTHS))
_WORD_AT_THE_END: Final = regex(r"(?<= (?:is|in|on|at|to|by)) [a-z-]+$|(?<= (?:are|was)) [a-z-]+$|(?<='m) [a-z-]+$")
SHARED: Final = 0.4  # words of a corrected statement that the slip has as well


def amended(sentence: str) -> str | None:
    """A sentence as it was meant, without the slip it corrects; "" where what is right cannot be put in its place.

    >>> amended("I live in Rome, sorry, I mean Milan.")
    'I live in Milan'
    """
    straight = _straight(sentence)
    found = _AT_ONCE.match(straight) if _MEANS.search(straight) else None
    if found is None:
        return None
    said, new = found["said"], found["new"].rstrip(" .,")
    if new.endswith("ly") and " " not in new:
        return None  # "I quit, oh, I mean seriously" takes nothing back
    words, before = new.casefold().split(), set(said.casefold().split())
    if len(words) > 3 and sum(word in before for word in words) >= SHARED * len(words):
        return new[:1].upper() + new[1:]
    if _NO_NAME.match(new) or len(words) > 4:
        return None
    return _put(said, new)


def _put(said: str, new: str) -> str:
    """What was said with another value in the place of the last one of its kind; "" where there is none."""
    kind = next((one for one in (_OF_A_NAME, _PROPER, _FIGURE) if one.fullmatch(new)), None)
    if kind is not None:
        held = [match for match in kind.finditer(said) if match.start() > 0]
        held = held if len(held) < 2 else [match for match in held if _are_of_a_class(match.group(), new)]
        if len(held) != 1:
            return ""  # which of them was the slip, nobody knows
        return f"{said[: held[0].start()]}{new}{said[held[0].end() :]}"
    figure = _FIGURE.match(new)
    if figure is not None:  # "7 pm", in the place of a figure and all behind it
        held = [match for match in _FIGURE.finditer(said) if match.start() > 0]
        return f"{said[: held[0].start()]}{new}" if len(held) == 1 else ""
    lead = new.split(" ")[0].casefold()
    at = said.casefold().rfind(f" {lead} ")
    if at > 0 and " " in new:
        return f"{said[:at]} {new}"
    end = _WORD_AT_THE_END.search(said)
    return "" if end is None else f"{said[: end.start()]} {new}"


def _are_of_a_class(one: str, other: str) -> bool:
    """Whether two values are days of the week or months, both."""
    return any(kind.match(one) and kind.match(other) for kind in _CLASSES)


_IS_OVER: Final = regex(r"(?i)\bany ?(?:more|longer)\b")
"""What was so once, and no slip: "Not vegan anymore"."""


@lru_cache(maxsize=1024)
def named(sentence: str) -> str | None:
    """What a sentence says was a slip, and gives nothing for: "Did I say Rome?", "Haha no, not karate."."""
    said = _straight(sentence)
    for pattern in _NAMED.asked_of(said):
        match = pattern.match(said)
        if match is not None:
            return None if _NO_NAME.match(match["old"]) or _IS_OVER.search(match["old"]) else match["old"].strip(" '\"")
    return None


def meant(first: str, second: str) -> tuple[str, str] | None:
    """What was a slip and what is right, where two sentences say it together; None for two others."""
    old, says = named(first), second
    if old is None:
        wrong, says = _IS_NOT.match(_straight(second)), first
        old = None if wrong is None else wrong["old"].strip(" '\"")
    right = None if old is None else _MEANT.match(_straight(says))
    if old is None or right is None or _NO_NAME.match(right["new"]) or _NO_NAME.match(old):
        return None
    new = right["new"].strip(" '\"")
    return None if new.casefold() == old.casefold() else (old, new)


def _straight(sentence: str) -> str:
    return " ".join(sentence.replace("’", "'").split())


__all__ = ["amended", "meant", "named"]
