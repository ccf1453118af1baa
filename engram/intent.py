"""From a question to what it asks for: rules that read its cues. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from engram.values import Intent, Window

OPENERS: Final = frozenset(
    {"hi", "hello", "hey", "hiya", "yo", "thanks", "thank", "thx", "cheers", "bye", "goodbye", "ok", "okay", "cool"}
    | {"great", "nice", "welcome", "good"}
)
SMALL_TALK: Final = OPENERS | frozenset(
    {"please", "morning", "afternoon", "evening", "night", "day", "there", "you", "very", "much", "so", "a", "lot"}
    | {"all", "again", "everyone", "how", "are", "doing", "it", "s", "is", "going"}
)

_HOW_CHANGED = r"how (?:has|have|had|did) (?P<topic>.+?) (?:been )?(?:chang\w*|evolv\w*|develop\w*)(?: over time)?"
_HISTORY_OF = (
    r"(?:(?:what is|what's|show(?: me)?|give me|tell me) )?(?:the |my )?(?:full |whole )?"
    r"(?:history|evolution|timeline) of (?P<topic>.+)"
)
_OVER_TIME = r"(?P<topic>.+?) over time"
LINEAGE: Final = tuple(re.compile(pattern) for pattern in (_HOW_CHANGED, _HISTORY_OF, _OVER_TIME))

_BEFORE_CHANGE = (
    r"\bbefore (?:i|we|you|it|he|she|they|the user|that|this) (?:was |were |got )?"
    r"(?:chang\w*|switch\w*|mov\w*|updat\w*|edit\w*|replac\w*|resched\w*)\b.*"
)
HISTORICAL: Final = tuple(
    re.compile(pattern)
    for pattern in (
        _BEFORE_CHANGE,
        r"\bused to (?:be |have )?",
        r"\b(?:previous(?:ly)?|former(?:ly)?|prior|earlier|original(?:ly)?)\b",
        r"\bold(?!er| enough| am| are| is| was| were)\b",
        r"\b(?:was|were|did|had)\b.*(?P<tail>\bbefore\b[ ?.!]*$)",
    )
)
HOW_OLD: Final = re.compile(r"\bhow old\b|\b(?:years?|months?|weeks?|days?) old\b")
WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a question asks for, how sure the rules are, and the question without the words that told them.

    `window` is the time it names, half-open; `anchors` are the two things a `temporal_chain` puts in order; `recent`
    asks that the last days count more; `question` is what was read: a follow-up stands there completed.
    """

    intent: Intent
    confidence: float
    topic: str
    window: Window | None = None
    anchors: tuple[str, ...] = ()
    recent: bool = False
    notes: tuple[str, ...] = ()
    question: str = ""


def read(question: str) -> Reading:
    """The intent of a question by its cues; everything without a cue asks for what is current."""
    plain = " ".join(unicodedata.normalize("NFKC", question).casefold().replace("’", "'").split())
    words = WORD.findall(plain)
    if not words or _is_small_talk(words):
        return Reading("chat", 1.0 if not words else 0.9, "")
    for cue in LINEAGE:
        found = cue.search(plain)
        if found:
            return Reading("lineage", 0.9, found["topic"].strip(" ?.!"))
    if not HOW_OLD.search(plain):
        for cue in HISTORICAL:
            found = cue.search(plain)
            if found:
                return Reading("historical", 0.85, _without(plain, found))
    return Reading("current", 0.6, question.strip())


def _is_small_talk(words: list[str]) -> bool:
    return len(words) <= 8 and words[0] in OPENERS and all(word in SMALL_TALK for word in words)


def _without(plain: str, found: re.Match[str]) -> str:
    cut = found.span("tail") if "tail" in found.re.groupindex else found.span()
    rest = " ".join((plain[: cut[0]] + " " + plain[cut[1] :]).split()).strip(" ?.!,")
    return rest or plain
