"""The gate of the core, and triage of the buffer: rules first, a model for what they leave unclear. Pure."""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final, Literal

from engram.lifecycle.deeds import Effect, marked
from engram.lifecycle.layers import CANDIDATE, LESSON, TRIAGED, Row, to
from engram.regex import regex
from engram.settings import LlmLevel

Verdict = Literal["pass", "refuse", "unclear"]

REFUSED: Final = ("gate-rejected", "gate-rejected-2", "gate-rejected-final")
COOL_DOWN: Final[Mapping[str, int | None]] = {"gate-rejected": 48, "gate-rejected-2": 144, "gate-rejected-final": None}
"""Epochs after which a row that was refused may ask again; None is never."""

MANY_ACCESSES: Final = 30
MANY_REPETITIONS: Final = 2
YOUNG: Final = timedelta(minutes=10)
FOR_NOW: Final = "what it says is for the time being"
FOREIGN: Final = "it comes of a tool, a document or the web"
BATCH: Final = 20  # rows a cycle triages, and rows a model is asked about at the gate

_PASSING = regex(
    r"\bfor (?:now|the moment|the time being|today|this (?:week|month|sprint))\b|\btemporar(?:y|ily)\b|\buntil\b"
    r"|\bcurrently\b|\bat the moment\b",
    re.IGNORECASE,
)
_CONDITION = regex(r"\b(?:if|when|whenever|unless|while|during|in case|as long as|except|provided)\b", re.IGNORECASE)
_REASON = regex(
    r"\b(?:because|since|so that|due to|in order to|to avoid|the reason|given that|therefore|as it)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Judged:
    """What the gate or triage makes of a row, and why."""

    verdict: Verdict
    because: str


def of_core(row: Row) -> Judged:
    """Whether a row belongs in the core by rules: a lesson, who somebody is, what always holds, why it was decided."""
    if row.is_foreign:
        return Judged("refuse", FOREIGN)
    if _PASSING.search(row.fact):
        return Judged("refuse", FOR_NOW)
    if LESSON in row.words:
        return Judged("pass", "a lesson")
    if row.memory_type in ("profile", "preference"):
        return Judged("pass", "says who somebody is or what they prefer")
    if row.memory_type == "constraint":
        if _CONDITION.search(row.fact):
            return Judged("unclear", "a constraint that may hold under a condition only")
        return Judged("pass", "a constraint without a condition")
    if row.memory_type == "decision":
        if _REASON.search(row.fact):
            return Judged("pass", "a decision with its reason")
        return Judged("unclear", "a decision that may tell no reason")
    return Judged("refuse", "neither a lesson, an identity, a constraint nor a decision with its reason")


def asks_model(judged: Judged, level: LlmLevel) -> bool:
    """Whether a model is to be asked: at `auto` about what is unclear, at `full` about all but what never may enter."""
    if level == "full":
        return judged.because not in (FOR_NOW, FOREIGN)
    return level == "auto" and judged.verdict == "unclear"


def in_turn(rows: Sequence[Row], epoch: int) -> list[Row]:
    """At most `BATCH` of some rows, others in every epoch, so that none stands in the way of the rest for good."""
    return heapq.nsmallest(BATCH, rows, key=lambda row: sha256(f"{row.memory_id}/{epoch}".encode()).digest())


def without_model(judged: Judged) -> Judged:
    """The same where no model is to be asked: what is unclear stays out."""
    return Judged("refuse", judged.because) if judged.verdict == "unclear" else judged


def is_well_used(row: Row) -> bool:
    """Whether a model is told that a row is used a lot."""
    return row.accesses >= MANY_ACCESSES or row.repetitions >= MANY_REPETITIONS


def may_ask(marks: Mapping[str, Any], epoch: int) -> bool:
    """Whether a row may come before the gate: never refused, or refused so many epochs ago that it may try again."""
    refused = _refused(marks)
    if refused is None:
        return True
    wait = COOL_DOWN[refused]
    return wait is not None and epoch - int(marks[refused]) >= wait


def passed(row: Row, epoch: int, because: str) -> Effect:
    """The effect by which a row enters the core; that it was refused before is forgotten."""
    return to(row, "core", epoch, because, **dict.fromkeys((CANDIDATE, *REFUSED)))


def refused(row: Row, epoch: int, because: str) -> Effect:
    """The effect of a refusal: the row stays, and may ask again later than the last time, in the end never."""
    before = _refused(row.marks)
    mark = REFUSED[0] if before is None else REFUSED[min(REFUSED.index(before) + 1, len(REFUSED) - 1)]
    return marked(row.memory_id, row.marks, because, **{**dict.fromkeys((CANDIDATE, *REFUSED)), mark: epoch})


def _refused(marks: Mapping[str, Any]) -> str | None:
    return next((mark for mark in reversed(REFUSED) if mark in marks), None)


# Triage -------------------------------------------------------------------------------------------------------------


def is_due(row: Row, now: datetime) -> bool:
    """Whether a buffer row is old enough for triage and was not looked at before."""
    return row.layer == "buffer" and not row.critical and TRIAGED not in row.marks and row.age(now) > YOUNG


def of_buffer(row: Row) -> Judged:
    """Whether a buffer row is worth keeping by the rules; they never refuse, they only leave unclear."""
    if row.accesses > 3:
        return Judged("pass", f"it was returned {row.accesses} times")
    if row.repetitions > 1:
        return Judged("pass", f"it was said {row.repetitions} more times")
    if row.importance >= 0.7:
        return Judged("pass", f"its importance is {row.importance:.2f}")
    if LESSON in row.words or row.kind == "procedural" or row.memory_type in ("preference", "constraint"):
        return Judged("pass", "a lesson, procedure, preference or constraint")
    return Judged("unclear", "nothing speaks for it yet")


def triaged(row: Row, epoch: int, judged: Judged) -> Effect:
    """The effect of triage: a row that passes rises to working, another is marked and stays."""
    if judged.verdict == "pass":
        return to(row, "working", epoch, judged.because, **{TRIAGED: None})
    return marked(row.memory_id, row.marks, judged.because, **{TRIAGED: epoch})
