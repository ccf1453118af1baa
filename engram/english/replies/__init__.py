"""Replies: what a short answer says, put whole by the question it answers. Pure.

"Ottawa, since 2019" says nothing alone; behind "Where do you live?" it says "I live in Ottawa, since 2019". It is put
whole only where the question asks for something lasting of whom it is put to, and the reply can be nothing else than
its answer: a doubt costs a fact, a wrong guess says what is not so.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from engram import secrets
from engram.english.replies import asking, others, saying, unmeant
from engram.english.subjects import sentence_spans
from engram.regex import regex

__all__ = ["as_asked", "is_bare", "is_in_time", "is_short", "may_answer", "question_of", "tells_whom", "whole"]

ANSWERED_WITHIN: Final = timedelta(hours=1)
"""What was said longer before a message is not read with it."""
MAX_ASKED: Final = 1_000  # characters of a message that asks
MAX_QUESTION: Final = 200
MAX_REPLY: Final = 200  # characters of a sentence that answers
MAX_MESSAGE: Final = 600  # characters of a message that answers first of all
MOST_WORDS: Final = 16  # of an answer
_MY: Final = regex(r"(?i)\b(?:my|our)\b")
_CLOSING: Final = "\"'”’»)] "
_BROKEN: Final = regex(
    r"(?i:\bI (?:are|is|has|does)\b|\b(?:am|is|are|was) (?:am|is|are|was)\b)|\bgoing to be (?:is|are)\b"
)
"""What nobody says: the question was read wrongly."""


def may_answer(content: str) -> bool:
    """Whether a message is short enough to begin with an answer, and begins with no question itself."""
    return len(content) <= MAX_MESSAGE and not content.split("\n", 1)[0].rstrip().endswith("?")


def is_in_time(asked_at: datetime, said_at: datetime) -> bool:
    """Whether something was said so soon after a question that it may answer it."""
    return timedelta() <= said_at - asked_at <= ANSWERED_WITHIN


def is_bare(sentence: str) -> bool:
    """Whether a sentence only says yes, no, both or neither, and may go on in the next one: "Yes!! Peanuts"."""
    said = saying.cleaned(sentence)
    return saying.is_yes(said) or saying.is_no(said) or said.casefold() in ("neither", "both", "none")


def is_short(sentence: str) -> bool:
    """Whether a sentence has no more words than an answer may have, and asks nothing itself."""
    if len(sentence) > MAX_REPLY or "?" in sentence:
        return False
    return len(sentence.split()) <= MOST_WORDS or len(saying.cleaned(sentence).split()) <= MOST_WORDS


def question_of(content: str) -> tuple[int, int] | None:
    """Where the question stands that a message ends with; None where it ends with none, or asks several."""
    spans = sentence_spans(content) if len(content) <= MAX_ASKED else []
    asking_spans = [span for span in spans if content[slice(*span)].rstrip(_CLOSING).endswith("?")]
    if len(asking_spans) != 1 or asking_spans[0] != spans[-1]:
        return None
    start, end = asking_spans[0]
    return (start, end) if end - start <= MAX_QUESTION else None


def as_asked(sentence: str) -> str:
    """What a user says of their people as an assistant would say it to them: "my brother" as "your brother"."""
    return _MY.sub("your", sentence)


def tells_whom(question: str, before: str) -> bool:
    """Whether a question, or what was said ahead of it, tells whom its "he" or "she" stands for."""
    return others.named(asking.without_choices(question), before) is not None


def whole(question: str, reply: str, before: str = "") -> tuple[str, ...]:
    """What a sentence says that answers a question, as statements that stand by themselves; none where it says nothing.

    `before` is what was said ahead of the question: whom "he" and "she" stand for.

    >>> whole("Where do you live?", "Ottawa, since 2019.")
    ('I live in Ottawa, since 2019',)
    >>> whole("Are you vegetarian?", "yep")
    ('I am vegetarian',)
    >>> whole("What does your sister do?", "She's a nurse.")
    ('My sister is a nurse',)
    >>> whole("Should I book it?", "yes please")
    ()
    """
    if len(question) > MAX_QUESTION or not is_short(reply):
        return ()
    if unmeant.is_made_up(question, before) or unmeant.is_secret(question) or unmeant.mocks(reply):
        return ()
    named = others.named(asking.without_choices(question), before)
    said = saying.cleaned(reply)
    if named is None or not said or saying.is_unsure(said):
        return ()
    clause = asking.clause_of(named)
    if asking.is_of_now(clause):
        return ()
    asks = asking.read(clause)
    found = others.told(named, said, asks) or (() if asks is None else asks(said))
    return tuple(one for one in found if one and not _BROKEN.search(one) and not secrets.find(one))
