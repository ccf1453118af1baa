"""Understanding a question: what the caller says of it, then rules, then, where they are unsure, a language model.

A model only helps to read: what it says about time is words, which the rules make a window of, and where it cannot
answer, or not well, the rules' reading stands with a note of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Final, cast
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from engram import chain, history, inputs, intent, prompting, tenancy
from engram.database import Connection, fetch_all, fetch_value
from engram.english import windows
from engram.errors import BadOutput, BudgetSpent, EngramError, ModelRejected, Refused, Unavailable
from engram.operations import asking, steps
from engram.operations import setup as doors
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.values import Event, Intent, Window

COMPONENT: Final = "intent"
PROMPT: Final = "intent"
LOOKED_BACK: Final = 3  # messages of a user: the question itself may be the newest, and two are before it
MOST_ANCHORS: Final = 4
MOST_SHOWN: Final = 4_000  # characters of a question that a model is shown
ANSWER_TOKENS: Final = 512
UNANSWERED: Final = (BadOutput, BudgetSpent, ModelRejected, Refused, Unavailable)


def _plain(value: str) -> str:
    """One line that could be stored: no NUL, no half characters."""
    try:
        return " ".join(inputs.text(value, "text", limit=4_000, empty=True).split())
    except EngramError as error:
        raise ValueError(error.code) from None


Words = Annotated[str, AfterValidator(_plain)]


class Understood(BaseModel):
    """What a model answers: how it reads a question."""

    model_config = ConfigDict(extra="forbid")

    intent: Intent
    question: Annotated[Words, Field(max_length=2_000)]
    topic: Annotated[Words, Field(max_length=500)]
    anchors: Annotated[list[Annotated[Words, Field(max_length=300)]], Field(max_length=MOST_ANCHORS)] = []
    when: Annotated[Words, Field(max_length=200)] | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question, and what its caller says of it; checked."""

    question: str
    intent: Intent | None
    window: Window | None
    windowed: bool  # whether the caller named a window: one that is open on both sides stands for all times
    now: datetime | None
    zone: ZoneInfo
    session_id: str | None


def wanted(
    setup: Setup, question: object, *, intent_: object, window: object, now: object, tz: object, session_id: object
) -> Wanted:
    """The arguments of a question, checked; InvalidInput or LimitExceeded names the one that is none. Pure."""
    optional = inputs.optional
    session = optional(inputs.name, session_id, "session_id")
    if session is None and setup.session is not None:
        session = setup.session.session_id
    pair = optional(inputs.window_said, window)
    return Wanted(
        question=setup.query(question, "question"),
        intent=cast("Intent | None", optional(inputs.choice, intent_, "intent", intent.INTENTS)),
        window=None if pair == (None, None) else pair,
        windowed=pair is not None,
        now=optional(inputs.moment, now, "now"),
        zone=inputs.zone(setup.settings.time_zone if tz is None else tz),
        session_id=session,
    )


def understand(
    setup: Setup, reading: doors.Reading, question: object, *, intent: object = None, window: object = None,
    now: object = None, tz: object = None, session_id: object = None,
) -> Operation[intent.Reading]:  # fmt: skip
    """What a question asks for.

    The intent and the window that the caller names stand; the rest is read by rules, and by a language model where one
    is configured and the rules are unsure (level `auto`) or always (`full`). Its times are seen at `now` (default: the
    moment of the read, or the database's clock) from `tz`. With a session, a question that only points back is
    completed from what its user said last. Raises InvalidInput and LimitExceeded, and nothing because of a model.
    """
    asked = wanted(setup, question, intent_=intent, window=window, now=now, tz=tz, session_id=session_id)
    return (yield from read(setup, reading, asked))


def read(setup: Setup, reading: doors.Reading, asked: Wanted) -> Operation[intent.Reading]:
    """The reading of a question whose arguments are checked."""
    at = asked.now or reading.moment.clock
    found = intent.read(asked.question, now=at or datetime.now(UTC), tz=asked.zone)
    points_back = asked.session_id is not None and intent.is_follow_up(asked.question)
    said: list[Event] = []
    if points_back or (at is None and (found.window is not None or found.notes)):
        clock, said = yield from steps.read(
            reading.scope.tenant_id, lambda conn: _look(conn, reading, asked.session_id if points_back else None)
        )
        at = at or clock
        found = intent.read(asked.question, now=at, tz=asked.zone)
    if points_back:
        before = [intent.Said(event.content or "", event.occurred_at) for event in said]
        found = intent.complete(found, before, tz=asked.zone)
    if _asks(setup, asked, found, points_back, heard=bool(said)):
        found = yield from _asked(setup, reading, asked, found, said, at or datetime.now(UTC))
    if asked.intent is not None:
        found = replace(found, intent=asked.intent, confidence=1.0, topic=found.topic or asked.question)
    return replace(found, window=asked.window) if asked.windowed else found


def _look(conn: Connection, reading: doors.Reading, session_id: str | None) -> tuple[datetime, list[Event]]:
    clock = fetch_value(conn, "read_clock")
    if session_id is None:
        return clock, []
    visible = tenancy.visible(conn, reading.scope)
    rows = fetch_all(
        conn, "list_last_said", tenant_id=reading.scope.tenant_id, scope_ids=list(visible.scope_ids),
        session_id=session_id, until=reading.moment.earliest, limit=LOOKED_BACK,
    )  # fmt: skip
    hidden = history.private_events(conn, visible, [row.event_id for row in rows])
    return clock, [event for event in map(chain.event, rows) if event.content and event.event_id not in hidden]


def _asks(setup: Setup, asked: Wanted, found: intent.Reading, points_back: bool, *, heard: bool) -> bool:
    """Whether a model is asked: never for what the caller has said, or where there is nothing to read."""
    level = setup.level_of(COMPONENT)
    if level == "off" or not asked.question:
        return False
    if points_back:
        return heard
    if asked.intent is not None:
        return False
    return level == "full" or found.confidence < intent.SURE


def _asked(
    setup: Setup, reading: doors.Reading, asked: Wanted, found: intent.Reading, said: Sequence[Event], at: datetime
) -> Operation[intent.Reading]:
    shown = asked.question[:MOST_SHOWN]
    before = "\n".join(" ".join((event.content or "").split())[: intent.MOST_SAID * 4] for event in reversed(said))
    try:
        answer: asking.Said[Understood] = yield from asking.ask(
            setup, scope=reading.scope, component=COMPONENT, prompt=prompting.load(PROMPT), schema=Understood,
            values={"question": shown, "said": before or "(nothing)", "mark": prompting.mark(shown, before)},
            max_tokens=ANSWER_TOKENS, event_ids=[event.event_id for event in said],
            context_ids=[event.event_id for event in said],
        )  # fmt: skip
    except UNANSWERED as error:
        return replace(found, notes=(*found.notes, f"read by rules: no answer of a language model ({error.code})"))
    return merged(found, answer.value, at=at, zone=asked.zone, completed=bool(said), model=answer.model)


def merged(
    found: intent.Reading, answer: Understood, *, at: datetime, zone: ZoneInfo, completed: bool, model: str
) -> intent.Reading:
    """The rules' reading with what a model says of it. Pure.

    Times that the rules found stand, and so does what has content: a model may not wave it away as small talk.
    """
    if answer.intent == "chat" and found.intent != "chat":
        return replace(found, notes=(*found.notes, f"read by rules: {model} saw small talk"))
    anchors = tuple(dict.fromkeys(one for one in answer.anchors if one))
    wanted = answer.intent
    if wanted == "temporal_chain" and len(anchors) < 2:
        anchors = found.anchors
        wanted = "temporal_chain" if len(anchors) > 1 else "current"
    topic = answer.topic if not inputs.is_blank(answer.topic) else found.topic
    window, notes = found.window, (*found.notes, f"read by {model}")
    if window is None and answer.when:
        named = windows.find(answer.when, now=at, tz=zone)
        window, notes = named.window, (*notes, f"it read a time: {answer.when}", *named.notes)
    return replace(
        found, intent=wanted, confidence=0.9, topic=topic, window=window, notes=notes,
        anchors=anchors if wanted == "temporal_chain" else (),
        question=answer.question if completed and answer.question else found.question,
    )  # fmt: skip
