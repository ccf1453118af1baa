"""Composing: the words of an answer, by a language model, from its evidence alone.

The model decides nothing: what answers, and from where, was decided before it is asked. What it says that is not in the
evidence is not believed: then the answer stays as it was found, and `degraded` says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from engram import prompting, recall
from engram.channels import events
from engram.errors import BadOutput, BudgetSpent, ModelRejected, Refused, Unavailable
from engram.operations import asking
from engram.operations.setup import Reading, Setup
from engram.operations.steps import Operation
from engram.operations.understanding import Words
from engram.values import Citation, Memory, RecallAnswer

COMPONENT: Final = "compose"
PROMPT: Final = "compose"
MOST_LINES: Final = 12
MOST_OF_LINE: Final = 600  # characters
ANSWER_TOKENS: Final = 512
FAILED: Final = (BadOutput, BudgetSpent, ModelRejected, Refused, Unavailable)
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")


class Composed(BaseModel):
    """What a model answers: the answer in its words, and the lines of evidence it rests on."""

    model_config = ConfigDict(extra="forbid")

    answer: Annotated[Words, Field(max_length=2_000)]
    used: Annotated[list[int], Field(max_length=MOST_LINES)]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of evidence, the events its text comes from, and its citations."""

    text: str
    event_ids: tuple[str, ...]
    sources: tuple[Citation, ...] = ()


def composed(setup: Setup, reading: Reading, answer: RecallAnswer) -> Operation[RecallAnswer]:
    """The answer in the words of a language model; as it was found, where there is none or it is not to be believed."""
    if not setup.asks(COMPONENT):
        return _as_found(answer, "no language model words answers")
    lines = evidence_of(answer)
    question = answer.trace.query
    shown = "\n".join(f"[{number}] {line.text}" for number, line in enumerate(lines, 1))
    try:
        said: asking.Said[Composed] = yield from asking.ask(
            setup, scope=reading.scope, component=COMPONENT, prompt=prompting.load(PROMPT), schema=Composed,
            values={"question": question, "evidence": shown, "mark": prompting.mark(question, shown)},
            max_tokens=ANSWER_TOKENS, event_ids=sorted({one for line in lines for one in line.event_ids}),
        )  # fmt: skip
    except FAILED as error:
        return _as_found(answer, f"no answer of a language model ({error.code})")
    problem = unfaithful(said.value, lines, question)
    if problem is not None:
        return _as_found(answer, f"{said.model} {problem}")
    used = [lines[number - 1] for number in dict.fromkeys(said.value.used)]
    sources = tuple(dict.fromkeys(one for line in used for one in line.sources)) or answer.sources
    trace = replace(answer.trace, notes=(*answer.trace.notes, f"worded by {said.model}"))
    return replace(answer, answer_text=said.value.answer, sources=sources, trace=trace)


def _as_found(answer: RecallAnswer, why: str) -> RecallAnswer:
    degraded = (*answer.degraded, COMPONENT)
    trace = replace(answer.trace, notes=(*answer.trace.notes, f"not worded: {why}"), degraded=degraded)
    return replace(answer, degraded=degraded, trace=trace)


def evidence_of(answer: RecallAnswer) -> list[Line]:
    """The lines an answer may be worded from: what it rests on first, then what else was found. Pure."""
    kept = set(answer.trace.kept_ids)
    shown = [one.memory for one in answer.evidence if recall.ANOTHER_TIME not in one.labels]
    known = {memory.memory_id: memory for memory in (*answer.previous, *shown, *answer.since)}
    if answer.current is not None:
        known[answer.current.memory_id] = answer.current
    told = [memory for memory in known.values() if memory.memory_id in kept]
    told.sort(key=lambda memory: (memory.valid_from, memory.memory_id))
    rest = [] if told or answer.events else [memory for memory in known.values() if memory.memory_id not in kept]
    said = [
        Line(_cut(events.line(event)), (event.event_id,), _cited(answer, event.event_id)) for event in answer.events
    ]
    return [*said, *map(_line, (*told, *rest))][:MOST_LINES]


def _cited(answer: RecallAnswer, event_id: str) -> tuple[Citation, ...]:
    return tuple(one for one in answer.sources if one.event_id == event_id)


def _line(memory: Memory) -> Line:
    until = "" if memory.valid_to is None else f" to {memory.valid_to:%Y-%m-%d}"
    state = "" if memory.status == "active" else f", {memory.status}"
    ids = {memory.event_id, *(citation.event_id for citation in memory.citations)}
    text = f"{memory.valid_from:%Y-%m-%d}{until}{state}: {' '.join(memory.fact.split())}"
    return Line(_cut(text), tuple(sorted(one for one in ids if one)), memory.citations)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_OF_LINE else f"{text[: MOST_OF_LINE - 1].rstrip()}…"


def unfaithful(said: Composed, lines: Sequence[Line], question: str) -> str | None:
    """Why an answer is not believed: it rests on nothing, or says a number that nobody gave it. Pure."""
    if not said.answer:
        return "said nothing"
    if not said.used or not all(1 <= number <= len(lines) for number in said.used):
        return "named no evidence"
    given = {number for text in (question, *(line.text for line in lines)) for number in _numbers(text)}
    return None if _numbers(said.answer) <= given else "said a number that is not in the evidence"


def _numbers(text: str) -> set[str]:
    """The numbers of a text, "1,200" as one and a date as its parts, without zeros that a way of writing adds. Pure."""
    found: set[str] = set()
    for number in _NUMBER.findall(text):
        parts = re.split(r"[.,:]", number)
        whole = len(parts) == 1 or all(len(part) == 3 for part in parts[1:])
        found |= {(part.lstrip("0") or "0") for part in (["".join(parts)] if whole else parts)}
    return found
