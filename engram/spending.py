"""Spending: what calls of language models cost, held to a budget before they are made, and the answers paid for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from engram.database import Connection, execute, fetch_all, fetch_one
from engram.values import Usage

UNFIT: Final = "unfit"  # the problem of a question that the provider refuses to put to its model
MOST_REFUSALS: Final = 5


@dataclass(frozen=True, slots=True)
class Call:
    """One call about to be made: who asks which model what, and the most it can cost."""

    call_id: str
    component: str
    model: str
    prompt: str
    prompt_version: int
    prompt_hash: str
    call_key: bytes
    most: Decimal
    scope_id: int | None = None
    job_id: str | None = None
    event_ids: tuple[str, ...] = ()
    context_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call; `estimated` when the cost is what was reserved, for want of a count to believe."""

    outcome: str
    cost: Decimal
    seconds: float
    answer: str | None = None
    estimated: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    problems: tuple[str, ...] = ()


def find_answer(conn: Connection, call_key: bytes) -> tuple[str, str] | None:
    """The answer kept under a key, and the id of its call; or None."""
    found = fetch_one(conn, "find_answer", call_key=call_key)
    return None if found is None else (found.answer, found.call_id)


def note_events(conn: Connection, call_id: str, event_ids: Sequence[str], context_ids: Sequence[str]) -> None:
    """Note the events whose text a call was given, `context_ids` being those it was asked nothing about."""
    execute(conn, "note_call_events", call_id=call_id, event_ids=list(event_ids), context_ids=list(context_ids))


def is_unfit(conn: Connection, call: Call) -> bool:
    """Whether a model refuses a question for good: again after it answered others, or as often as it was put."""
    refused = fetch_one(
        conn, "count_refusals", call_key=call.call_key, job_id=call.job_id, component=call.component, model=call.model
    )
    assert refused is not None
    return bool(refused.times >= MOST_REFUSALS or (refused.times > 1 and refused.others))


def reserve(conn: Connection, call: Call, cap: Decimal | None) -> bool:
    """Note a call and set aside the most it can cost; False when the tenant's budget of the day does not hold it."""
    noted = fetch_one(
        conn, "reserve_call", call_id=call.call_id, scope_id=call.scope_id, job_id=call.job_id,
        component=call.component, model=call.model, prompt=call.prompt, prompt_version=call.prompt_version,
        prompt_hash=call.prompt_hash, call_key=call.call_key, most=call.most, cap=cap,
    )  # fmt: skip
    if noted is not None and call.event_ids:
        note_events(conn, call.call_id, call.event_ids, call.context_ids)
    return noted is not None


def settle(conn: Connection, call: Call, done: Outcome) -> None:
    """Write down what became of a call, and what it cost in place of what was set aside. Once; then nothing."""
    if done.answer is not None:
        fetch_one(conn, "lock_answer", call_key=call.call_key)
    execute(
        conn, "settle_call", call_id=call.call_id, outcome=done.outcome, problems=list(done.problems), cost=done.cost,
        estimated=done.estimated, input_tokens=done.input_tokens, output_tokens=done.output_tokens,
        cached_tokens=done.cached_tokens, seconds=done.seconds, answer=done.answer, event_ids=list(call.event_ids),
    )  # fmt: skip


def erase_event(conn: Connection, tenant_id: str, event_id: str) -> int:  # noqa: ARG001 - the wall's tenant is the same
    """Forget every answer of a call that was given the event; how many."""
    return execute(conn, "erase_answers", event_id=event_id)


def usage(
    conn: Connection, *, scope_ids: Sequence[int], everybody: bool, since: datetime | None, group_by: str
) -> tuple[Usage, ...]:
    """What calls took since a moment, by component, model or day; for everybody, those of no one scope too."""
    rows = fetch_all(conn, "sum_calls", scope_ids=list(scope_ids), everybody=everybody, since=since, group_by=group_by)
    return tuple(Usage(**row._mapping) for row in rows)
