"""Asking a language model: look the answer up, set the money aside, think, believe nothing, keep what was paid for.

No connection is held while a model thinks. An answer is hostile input: bounded, strictly read, and refused whole when
any of it is not what was asked for.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import time
from asyncio import CancelledError
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache, partial
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from engram import inputs, prompting, spending, tenancy
from engram.database import Connection
from engram.errors import (
    BadOutput,
    BudgetSpent,
    EngramError,
    InvalidInput,
    LeaseLost,
    ModelRejected,
    RateLimited,
    Refused,
    Unavailable,
)
from engram.ids import new_id
from engram.jobs import Job
from engram.llm import ANSWER_BYTES, UNFIT, Completion, LanguageModel, Models, Price
from engram.operations import steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.prompting import ChatMessage, Prompt
from engram.scope import AllUsers, Scope
from engram.secrets import Censor
from engram.spending import Call, Outcome

M = TypeVar("M", bound=BaseModel)

ATTEMPTS: Final = 3
FIRST_PAUSE: Final = 0.25
PROBLEMS_TOLD: Final = 10
OVERHEAD: Final = 1_000  # tokens a provider may add of its own, for the form of the answer
_MARKS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Said(Generic[M]):
    """What a model answered, and which model it was."""

    value: M
    model: str


def ask(
    setup: Setup,
    *,
    scope: Scope,
    component: str,
    prompt: Prompt,
    values: Mapping[str, str],
    schema: type[M],
    job: Job | None = None,
    max_tokens: int = 2048,
    event_ids: Sequence[str] = (),
    context_ids: Sequence[str] = (),
) -> Operation[Said[M]]:
    """What the component's model answers to a prompt, as a `schema`; an answer that was paid for before is free.

    `schema` must forbid extra fields. `event_ids` are the events whose text is in `values`: erasing one of them erases
    the answer; `context_ids` are those among them that nothing is asked about.

    At most 3 calls, each paid from the tenant's budget of the day before it is made; one of them repairs an
    answer that cannot be read. Raises RateLimited, BudgetSpent, ModelRejected, Unavailable, Refused, and BadOutput,
    whose `too_long` says that a shorter input may help. A question that the provider keeps refusing is Refused.
    """
    _check_schema(schema)
    model, messages = setup.model_for(component), prompt.fill(**values)
    models = setup.llm
    assert models is not None
    key = call_key(component, prompt, model.name, schema, messages)
    censor = setup.censor()
    censor = censor if censor.mode == "allow" else replace(censor, mode="redact")  # nobody is there to be refused

    kept = yield from steps.read(scope.tenant_id, lambda conn: spending.find_answer(conn, key))
    if kept is not None:
        with suppress(ValidationError):  # a stricter form than that of the day it was kept
            value = schema.model_validate_json(kept[0], strict=True)
            if event_ids:  # perhaps not those it was first asked about: the same words may stand in several
                note = partial(spending.note_events, call_id=kept[1], event_ids=event_ids, context_ids=context_ids)
                yield from steps.write(scope.tenant_id, note, key=f"note:{kept[1]}")
            return Said(value, model.name)
    price: Price = yield from steps.think(lambda: models.price(model), job)
    repair: list[ChatMessage] = []
    latest = time.monotonic() + models.timeout
    for attempt in range(1, ATTEMPTS + 1):
        question = Question(models, model, [*messages, *repair], schema, max_tokens, latest, censor)
        call = Call(
            call_id=new_id(), component=component, model=model.name, prompt=prompt.name, prompt_version=prompt.version,
            prompt_hash=prompt.hash, call_key=key, most=most_of(price, question),
            job_id=None if job is None else job.job_id, event_ids=tuple(event_ids),
            context_ids=tuple(context_ids),
        )  # fmt: skip
        probes = models.breaker(model).enter()
        if not (yield from _reserved(scope, call, setup.daily_budget)):
            if probes:
                models.breaker(model).give_up()
            raise BudgetSpent(retry_after=until_midnight())
        answer = yield from _answered(scope, call, question, price, job)
        if answer.value is not None:
            return Said(answer.value, model.name)
        error = answer.error
        assert error is not None
        if attempt == ATTEMPTS or not _may_help(error, bool(repair)):
            if spending.UNFIT in answer.outcome.problems and (
                yield from steps.read(scope.tenant_id, partial(spending.is_unfit, call=call))
            ):
                raise Refused(status=error.facts.get("status"))
            raise error
        if isinstance(error, BadOutput):
            repair = prompting.load("repair").fill(problems=answer.told)
            latest = time.monotonic() + models.timeout
        else:
            pause = FIRST_PAUSE * 2**attempt * (0.5 + random.random() / 2)  # noqa: S311 - jitter, not a secret
            if time.monotonic() + pause >= latest:
                raise error
            yield from steps.pause(pause)
    raise AssertionError("the last attempt answers or raises")


def _may_help(error: EngramError, repaired: bool) -> bool:
    if isinstance(error, BadOutput):
        return not repaired and error.facts.get("reason") == "unreadable"  # a caller's own model may give no reason
    return isinstance(error, Unavailable) and not isinstance(error, RateLimited | ModelRejected)


def _reserved(scope: Scope, call: Call, cap: Decimal | None) -> Operation[bool]:
    single = not isinstance(scope.user_id, AllUsers) and len(scope.agents) == 1

    def work(conn: Connection) -> bool:
        return spending.reserve(conn, replace(call, scope_id=tenancy.ensure(conn, scope) if single else None), cap)

    return (yield from steps.write(scope.tenant_id, work, key=call.call_id))


def _answered(scope: Scope, call: Call, question: Question[M], price: Price, job: Job | None) -> Operation[Answer[M]]:
    # What the model said outlives the loss of the job's lease: it is paid for, and the next worker finds it.
    heard: list[Answer[M]] = []
    try:
        yield from steps.think(lambda: heard.append(question.put(call, price)), job)
    except LeaseLost:
        if heard:
            yield from _settled(scope, call, heard[0])
        raise
    yield from _settled(scope, call, heard[0])
    return heard[0]


def _settled(scope: Scope, call: Call, answer: Answer[Any]) -> Operation[None]:
    yield from steps.write(
        scope.tenant_id, lambda conn: spending.settle(conn, call, answer.outcome), key=f"settle:{call.call_id}"
    )


@dataclass(frozen=True, slots=True)
class Answer(Generic[M]):
    """What came of one call: a value, or an error and what to tell the model of it; and what goes into the books."""

    outcome: Outcome
    value: M | None = None
    error: EngramError | None = None
    told: str = ""


@dataclass(frozen=True, slots=True)
class Question(Generic[M]):
    """One call: who is asked what, in which form the answer must be, and until when (by `time.monotonic`)."""

    models: Models
    model: LanguageModel
    messages: Sequence[ChatMessage]
    schema: type[M]
    max_tokens: int
    latest: float
    censor: Censor  # of what is answered: a model may put together what nobody said in one piece

    @property
    def most_input(self) -> int:
        """More tokens than the input can be: no token is less than a byte."""
        written = sum(len(message["content"].encode()) + 16 for message in self.messages)
        return written + len(_form(self.schema)) + OVERHEAD

    def put(self, call: Call, price: Price) -> Answer[M]:
        """Make the call and read its answer. Never raises: what failed is in the answer, with what it cost."""
        started = time.monotonic()
        heard = self._heard(max(0.001, self.latest - started))
        seconds = time.monotonic() - started
        self.models.breaker(self.model).note(heard if isinstance(heard, EngramError) else None)
        if isinstance(heard, EngramError):
            # Nobody knows what a call that broke off has cost: the reservation stands. A refusal costs nothing.
            sent = bool(heard.facts.get("sent"))
            cost = call.most if sent else Decimal(0)
            unfit = isinstance(heard, ModelRejected) and heard.facts.get("status") in UNFIT
            problems = (spending.UNFIT,) if unfit else ()
            return Answer(Outcome(heard.code, cost, seconds, estimated=sent, problems=problems), error=heard)
        outcome = self._counted(heard, call, price, seconds)
        try:
            value, kept = read(heard.text, self.schema, self.censor)
        except Unreadable as problem:
            error = self._why(heard, problem)
            return Answer(replace(outcome, outcome=error.code, problems=problem.kinds), error=error, told=problem.told)
        return Answer(replace(outcome, answer=kept), value)

    def _heard(self, seconds: float) -> Completion | EngramError:
        try:
            said: object = self.model.complete(
                self.messages, schema=self.schema, max_tokens=self.max_tokens, deadline=seconds
            )
        except EngramError as error:
            return error
        except (Exception, CancelledError) as error:  # noqa: BLE001 - an object of the caller's may raise anything
            return Unavailable("the language model failed", retry_after=5.0, kind=type(error).__name__, sent=True)
        if not isinstance(said, Completion) or not isinstance(said.text, str):
            return Unavailable("the language model gave no Completion", retry_after=5.0, sent=True)
        return said

    def _counted(self, said: Completion, call: Call, price: Price, seconds: float) -> Outcome:
        # A count that is missing, negative or more than the call can have taken is a mistake or a lie.
        into, out = said.input_tokens, said.output_tokens
        believed = _within(into, self.most_input) and _within(out, self.max_tokens) and bool(out or not said.text)
        if not believed:
            return Outcome("ok", call.most, seconds, estimated=True)
        assert into is not None
        assert out is not None
        cost = _dollars(said.cost)
        if cost is None or not cost.is_finite() or not 0 <= cost <= call.most:
            cost = price.of(into, out)
        cached = said.cached_tokens if _within(said.cached_tokens, into) else None
        return Outcome("ok", cost, seconds, None, False, into, out, cached)

    def _why(self, said: Completion, problem: Unreadable) -> EngramError:
        if said.finish == "content_filter":
            return Refused()
        if problem.reason == "unreadable" and said.finish == "length":
            return BadOutput("the answer did not fit into max_tokens", too_long=True, reason="cut")
        return BadOutput(too_long=False, reason=problem.reason, problems=problem.kinds)


class Unreadable(Exception):
    """An answer that is not what was asked for: the kinds of what is wrong, and a list of it for the model."""

    def __init__(self, kinds: Sequence[str], told: str, reason: str = "unreadable") -> None:
        super().__init__(reason)
        self.kinds, self.told, self.reason = tuple(sorted(set(kinds))), told, reason


def read(text: str, schema: type[M], censor: Censor | None = None) -> tuple[M, str]:
    """The value an answer holds, and its one object as JSON; Unreadable when any of it is not what was asked for."""
    try:
        said = read_object(text) if censor is None else censor.data(read_object(text), "answer")
        kept = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
        return schema.model_validate_json(kept, strict=True), kept
    except InvalidInput as error:
        raise Unreadable([error.code], f"- expected {error.expected}, found {error.found}") from None
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        told = "\n".join(f"- {_place(one['type'], one['loc'])}: {one['type']}" for one in found[:PROBLEMS_TOLD])
        raise Unreadable([one["type"] for one in found], told) from None


def read_object(text: str) -> dict[str, Any]:
    """The one JSON object in an answer, bare, in a Markdown fence or in prose; InvalidInput for none, or for two."""
    if len(text.encode(errors="replace")) > ANSWER_BYTES:
        raise Unreadable(["too_large"], "", "too_large")
    start, depth = text.find("{"), 0
    if start < 0 or text.lstrip().startswith("["):
        raise InvalidInput("answer", "one JSON object", "none")
    for mark in _MARKS.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(mark.group(), 0)
        if depth == 0:
            if "{" in text[mark.end() :]:
                raise InvalidInput("answer", "one JSON object", "more than one")
            found: dict[str, Any] = inputs.strict_json(text[start : mark.end()], "answer")
            return found
    raise InvalidInput("answer", "one JSON object", "one without an end")


def call_key(
    component: str, prompt: Prompt, model: str, schema: type[BaseModel], messages: Sequence[ChatMessage]
) -> bytes:
    """What a paid answer is kept under: the same question of the same component to the same model."""
    asked = [component, prompt.hash, model, _form(schema), [[one["role"], one["content"]] for one in messages]]
    return hashlib.sha256(json.dumps(asked, ensure_ascii=True).encode()).digest()


def most_of(price: Price, question: Question[Any]) -> Decimal:
    """The most a call can cost."""
    return price.of(question.most_input, question.max_tokens)


def until_midnight(now: datetime | None = None) -> float:
    """Seconds until the day turns in UTC, and the budget with it."""
    at = now or datetime.now(UTC)
    turn = (at + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return (turn - at).total_seconds()


@cache
def _form(schema: type[BaseModel]) -> str:
    return json.dumps(schema.model_json_schema(), sort_keys=True)


@cache
def _check_schema(schema: type[BaseModel]) -> None:
    whole = schema.model_json_schema()
    for one in (whole, *whole.get("$defs", {}).values()):
        if "properties" in one and one.get("additionalProperties") is not False:
            raise ValueError(f"{schema.__name__}: every model of an answer needs extra='forbid'")


def _place(kind: str, loc: tuple[int | str, ...]) -> str:
    known = loc[:-1] if kind == "extra_forbidden" else loc  # the name of an extra field is the model's own word
    return ".".join(str(part)[:40] for part in known) or "the object"


def _dollars(cost: object) -> Decimal | None:
    """The dollars a call cost, as a model of the caller's tells them: in whatever kind of number, or not at all."""
    if isinstance(cost, Decimal):
        return cost
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        return None
    return Decimal(cost) if isinstance(cost, int) else Decimal(repr(float(cost)))


def _within(count: object, most: int) -> bool:
    return type(count) is int and 0 <= count <= most
