"""Sifting: what a model says of memories that the rules leave unclear, at the gate of the core or in triage."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from engram import prompting
from engram.errors import BadOutput, BudgetSpent, ModelRejected, RateLimited, Refused, Unavailable
from engram.lifecycle import gate
from engram.lifecycle.gate import Judged
from engram.lifecycle.layers import Row
from engram.operations import asking
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.scope import Scope

GATE: Final = "gate"
TRIAGE: Final = "triage"
SHOWN: Final = 1_000  # characters of one memory
ANSWER_TOKENS: Final = 1_024
A = TypeVar("A", bound=BaseModel)
UNANSWERED: Final = (BadOutput, BudgetSpent, ModelRejected, RateLimited, Refused, Unavailable)


class Kept(BaseModel):
    """What a model says of one memory at the gate."""

    model_config = ConfigDict(extra="forbid")

    memory: Annotated[int, Field(ge=1, le=gate.BATCH)]
    keep: bool
    kind: Literal["lesson", "identity", "constraint", "decision", "none"]


class Gated(BaseModel):
    """What a model answers at the gate."""

    model_config = ConfigDict(extra="forbid")

    decisions: Annotated[list[Kept], Field(max_length=gate.BATCH)]


class Sorted(BaseModel):
    """What a model says of one memory in triage."""

    model_config = ConfigDict(extra="forbid")

    memory: Annotated[int, Field(ge=1, le=gate.BATCH)]
    keep: bool


class Triaged(BaseModel):
    """What a model answers in triage."""

    model_config = ConfigDict(extra="forbid")

    decisions: Annotated[list[Sorted], Field(max_length=gate.BATCH)]


def ask_gate(setup: Setup, scope: Scope, rows: Sequence[Row]) -> Operation[Mapping[str, Judged]]:
    """What a model makes of up to `gate.BATCH` rows at the gate; empty where it gave no answer."""

    def judged(one: Kept) -> Judged:
        passes = one.keep and one.kind != "none"
        return Judged("pass", f"a model found a {one.kind}") if passes else Judged("refuse", "a model left it out")

    def read(answer: Gated) -> dict[int, Judged]:
        return {one.memory: judged(one) for one in answer.decisions}

    return (yield from _asked(setup, scope, GATE, Gated, rows, read))


def ask_triage(setup: Setup, scope: Scope, rows: Sequence[Row]) -> Operation[Mapping[str, Judged]]:
    """What a model makes of up to `gate.BATCH` rows of the buffer; empty where it gave no answer."""

    def read(answer: Triaged) -> dict[int, Judged]:
        return {
            one.memory: Judged("pass", "a model would keep it") if one.keep else Judged("refuse", "a model would not")
            for one in answer.decisions
        }

    return (yield from _asked(setup, scope, TRIAGE, Triaged, rows, read))


def _asked(
    setup: Setup, scope: Scope, component: str, schema: type[A], rows: Sequence[Row],
    read: Callable[[A], Mapping[int, Judged]],
) -> Operation[Mapping[str, Judged]]:  # fmt: skip
    if not rows or not setup.asks(component):
        return {}
    shown = "\n".join(json.dumps(_shown(number, row), ensure_ascii=False) for number, row in enumerate(rows, 1))
    try:
        said: asking.Said[A] = yield from asking.ask(
            setup, scope=scope, component=component, prompt=prompting.load(component), schema=schema,
            values={"memories": shown}, max_tokens=ANSWER_TOKENS,
            event_ids=[row.event_id for row in rows if row.event_id is not None],
        )  # fmt: skip
    except UNANSWERED:
        return {}
    found = read(said.value)
    return {row.memory_id: found[number] for number, row in enumerate(rows, 1) if number in found}


def _shown(number: int, row: Row) -> dict[str, object]:
    return {
        "memory": number, "text": row.fact[:SHOWN], "type": row.memory_type, "tags": list(row.tags),
        "used": gate.is_well_used(row),
    }  # fmt: skip
