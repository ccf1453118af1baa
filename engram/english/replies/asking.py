"""What is asked: a question without what leads in to it, and what it makes of its answer. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

from engram.english.replies import choices, orders, polar, wanted
from engram.english.replies.saying import Asks
from engram.english.replies.whose import AUX, WH, turned
from engram.regex import regex

_OPENS: Final = rf"(?:{WH}|{AUX}|should|shall|may|can|could|would|any|your)"
_LEAD: Final = regex(
    r"(?i)^(?:(?:and|so|but|also|ok(?:ay)?|great|got it|thanks|by the way|btw|just (?:curious|wondering|checking|to "
    r"check|to confirm|so i know)|out of curiosity|quick question|one (?:more|last) (?:thing|question)|finally|"
    r"first(?:ly)?|next|lastly|now|then|hey|hi|oh|well|hmm|sorry|sure|perfect|nice|lovely|wonderful|noted|right|"
    r"alright)\b[\s,:;.!–—-]+)+"
)
_MAY_I_ASK: Final = regex(
    r"(?i)^(?:(?:can|could|may|might) i (?:just )?(?:ask|know|have|get|take|note)|(?:can|could|would|will) you "
    r"(?:please |just |maybe )?(?:tell|remind|give) (?:me|us)|(?:would|do) you mind (?:telling|sharing with) (?:me|us)|"
    r"(?:do you )?mind (?:if i ask|telling me)|may i ask|i was wondering|i wonder|tell me|remind me|what about|how "
    r"about)[\s,:]+(?=\w)"
)
_WHETHER: Final = regex(r"(?i)^(?:if|whether)\s+")
_PUT_IN_FULL: Final = (
    (regex(r"(?i)\b(what|which|where|when|who|how)['’]s\b"), r"\1 is"),
    (regex(r"(?i)\b(what|where|when|who|how)['’]re\b"), r"\1 are"),
    (regex(r"(?i)\b(what|where|when|who|how)s (?=your|the)\b"), r"\1 is "),
    (regex(r"(?i)\byou['’]re\b"), "you are"),
    (regex(r"(?i)\byou['’]ve\b"), "you have"),
    (regex(r"(?i)\bu\b"), "you"),
    (regex(r"(?i)\bwould you (?:rather|prefer)(?: to)? have\b"), "do you prefer"),
    (regex(r"(?i)\bwould you prefer\b"), "do you prefer"),
    (regex(r"(?i)\bwould you like (?=an? )"), "do you want "),
    (regex(r"(?i)\bhave you got\b"), "do you have"),
)
_CALLED: Final = regex(
    r"(?i),? (?:by the way|btw|if (?:i may ask|you do(?:n['’]t| not) mind(?: me| my)?(?: asking)?)|roughly|"
    r"approximately|please|then|though)$|, (?-i:[A-ZÀ-ÖØ-Þ][\w’-]+)$"
)
"""What a question ends with beside what it asks: "..., Anna?"."""
_BEGINS: Final = regex(rf"(?i)^(?:{_OPENS}|you)\b")
_LAST_CLAUSE: Final = regex(rf"(?i)^.{{1,120}}?(?:[,:;–—-]| and| so| but)\s+(?P<rest>{_OPENS}\b.*)$")
_UNDER: Final = regex(
    r"(?i)^(?P<under>(?:when|whenever|if|for|in|on|at|after|before|during) [^,?]{2,60}), "
    rf"(?P<rest>(?:and )?{_OPENS}\b.*)$"
)
"""What a question is put under: "When you travel, ..."."""
_OF_THE_OCCASION: Final = regex(
    r"(?i)^before\b|\b(?:we|i|forms?|booking|profile|records?|files?|order|registration|ticket|payroll|system|"
    r"paperwork|account|application|list|reservation|report|now|that|this|it|later|moment)\b"
)
"""Why something is asked, which the answer has nothing to do with: "For the payroll form, ..."."""
_CHOICES_BEHIND: Final = regex(
    rf"(?i)(?<=\w), (?!(?:and |so |but )?(?:{AUX}|should|shall|{WH}|can|could|may|would|will)\b)(?:(?:by|in|on|with|at|"
    r"for) )?[\w’'-]+(?:,? [\w’'-]+){0,3}? or [\w’' -]{1,40}\?$"
)
_ASKS: Final = regex(rf"(?i)\b(?:{AUX}|should|shall|would)\b")
_OF_NOW: Final = regex(
    r"(?i)\b(?:did you (?:have|eat|sleep|get up|do)|today|tonight|right now|just now|this (?:one|time|morning|"
    r"afternoon|evening|file|error|function|email|message|draft|version|change|pr|branch|task|bug|order)|so far|"
    r"instead|(?<!who )else|again|next(?! (?:year|month|week))|for me|exactly|mean|thinking of|looking for|in mind|"
    r"make sense|sound (?:good|right|ok)|look (?:good|right|ok)|(?:these|those)(?! days)|of them|(?-i:our|ours|us)|"
    r"this (?:trip|game|round|level|chapter|project|question|exercise|session|call|meeting|chat|topic|item|product|"
    r"purchase|step)|help (?:you )?with|should i start|above|below)\b|^how (?:is|are|was|were) your?\b|\byour (?:code|"
    r"build|tests?|branch|script|screen|file|query|server|app)\b.*\b(?:still|failing|running|broken)\b|^(?:is|are|was|"
    r"were|did|does|has) (?:your|the) (?:screen|connection|order|package|parcel|flight|delivery|shipment|build|"
    r"payment)\b"
)
_READERS: Final = (
    orders.read, polar.about_a_name, polar.read, polar.any_of, wanted.reason, wanted.read, choices.of_two,
    wanted.named_alone,
)  # fmt: skip


def without_choices(question: str) -> str:
    """A question without the answers that it proposes at its end: "..., by email or phone?"."""
    left = _CHOICES_BEHIND.sub("", question)
    return left if _ASKS.search(left) else question


class Clause(NamedTuple):
    """The clause of a question that asks, and what it is put under: "When you travel"."""

    text: str
    under: str


def is_of_now(clause: Clause) -> bool:
    """Whether a question is about the moment: its answer is of no use tomorrow."""
    return _OF_NOW.search(clause.text) is not None


def read(clause: Clause) -> Asks | None:
    """What a question makes of its answer; None where it asks for nothing lasting of whom it is put to."""
    for reader in _READERS:
        asks = reader(clause.text)
        if asks is not None:
            return _put_under(asks, clause.under)
    return None


def clause_of(question: str) -> Clause:
    """A question without what leads in to it."""
    text, under = _CALLED.sub("", question.strip().rstrip("?!.…\"'”’») ")).strip(), ""
    for pattern, put in _PUT_IN_FULL:
        text = pattern.sub(put, text)
    while True:
        rest = _WHETHER.sub("", _MAY_I_ASK.sub("", _LEAD.sub("", text)))
        condition = _UNDER.match(rest)
        if condition is not None:
            rest, under = condition["rest"], condition["under"]
            if _OF_THE_OCCASION.search(under):
                under = ""
            elif orders.is_lasting(under):
                rest, under = f"{rest} {under[0].lower()}{under[1:]}", ""
        elif not _BEGINS.match(rest) and (clause := _LAST_CLAUSE.match(rest)) is not None:
            rest = clause["rest"]
        if rest == text:
            return Clause(text, under)
        text = rest


def _put_under(asks: Asks, under: str) -> Asks:
    if not under:
        return asks
    behind = turned(under[0].lower() + under[1:])
    return lambda said: tuple(one and f"{one} {behind}" for one in asks(said))
