"""Summarising: the jobs that keep the summary of a session up with it, and that end a session gone silent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from engram import jobs, prompting, served, sessions
from engram.database import Connection, fetch_all
from engram.derivation import summaries
from engram.errors import BadOutput, BudgetSpent, Conflict, ModelRejected, Refused
from engram.jobs import Job
from engram.operations import asking, steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.scope import Scope
from engram.sessions import Progress, Visit
from engram.values import Event

FIRST_TURNS: Final = 10  # an extractive summary is made anew each time: of how a session began
LAST_TURNS: Final = 100  # and of what was said last
NEXT_TURNS: Final = 60  # a model is given the summary so far, and this many events that came after it
SHOWN: Final = 1_500  # characters of one event
TRIES: Final = 2  # a lost race is rebased once
COMPONENT: Final = "summary"


class Concise(BaseModel):
    """What a model answers for a concise summary."""

    model_config = ConfigDict(extra="forbid")

    summary: str = Field(max_length=8_000)


class Structured(BaseModel):
    """What a model answers for a structured summary."""

    model_config = ConfigDict(extra="forbid")

    goal: str = Field(max_length=2_000)
    constraints_and_preferences: list[str] = Field(max_length=20)
    progress: list[str] = Field(max_length=20)
    key_decisions: list[str] = Field(max_length=20)
    next_steps: list[str] = Field(max_length=20)
    critical_context: list[str] = Field(max_length=20)


@dataclass(frozen=True, slots=True)
class Told:
    """What the next summary of a session is made of."""

    scope: Scope
    before: Progress
    turns: tuple[Event, ...]
    position: int  # how far a summary made of it has come


@dataclass(frozen=True, slots=True)
class Written:
    """A summary, and who wrote it; without text where nothing was said that it could tell."""

    text: str | None
    position: int
    by: str = summaries.BY
    prompt: str | None = None


def summarise(setup: Setup, job: Job) -> Operation[None]:
    """Bring the summary of a session up to its newest event, by compare-and-set; whoever comes second starts over once.

    A model goes on from the summary so far; without one, or where it cannot answer, it is made of the session's own
    sentences. Only raw events are read, and nothing is derived from what is written.
    """
    assert job.stream_id is not None
    assert job.position is not None
    stream_id, wanted, style = job.stream_id, job.position, setup.policy.summary_style
    lost = 0
    while lost < TRIES:
        told = yield from steps.read(job.tenant_id, lambda conn: _told(conn, job, anew=not setup.asks(COMPONENT)))
        written = None if told.before.summary_position >= wanted else (yield from _written(setup, job, told))

        def effect(conn: Connection, told: Told = told, written: Written | None = written) -> Written | None:
            jobs.hold(conn, job)
            if written is not None and not sessions.write_summary(
                conn, stream_id, told.before, summary=written.text, position=written.position, style=style,
                by=written.by, prompt=written.prompt,
            ):  # fmt: skip
                return None
            if written is not None and written.position < wanted:
                return written
            jobs.finish(conn, job)
            return Written(None, wanted)

        done = yield from steps.write(job.tenant_id, effect, key=job.job_id)
        if done is None:
            lost += 1
        elif done.position >= wanted:
            return
    raise Conflict("others are writing the summary of this session")


def close(setup: Setup, job: Job) -> Operation[None]:
    """End a session that Engram named and that was silent for long enough; else look again when it may have been."""
    assert job.scope_id is not None
    scope_id, gap = job.scope_id, setup.policy.session_gap

    def effect(conn: Connection) -> None:
        jobs.hold(conn, job)
        visit = Visit(str(job.payload["session_id"]))
        part = sessions.enter(conn, scope_id, visit, gap=sessions.NEVER, key=None)
        if part.stream_id == job.stream_id and not part.ended:
            if part.idle >= gap:
                sessions.end(conn, scope_id, part, outcome="idle", key=setup.settings.secret_key)
            else:
                sessions.ask_to_close(conn, scope_id, part, gap - part.idle, once=job.job_id)
        jobs.finish(conn, job)

    yield from steps.write(job.tenant_id, effect, key=job.job_id)
    yield from steps.ring(job.tenant_id)


def _told(conn: Connection, job: Job, *, anew: bool) -> Told:
    stream_id = str(job.stream_id)
    before = sessions.progress(conn, stream_id)
    row = fetch_all(conn, "find_scope_by_id", tenant_id=job.tenant_id, scope_id=before.scope_id)[0]
    scope = Scope(job.tenant_id, row.namespace, row.agent_id, row.user_id)
    if not anew:
        new = sessions.turns(conn, stream_id, after=before.summary_position, until=before.head, limit=NEXT_TURNS)
        return Told(scope, before, _own_words(new), new[-1].position if len(new) == NEXT_TURNS else before.head)
    last = sessions.turns(conn, stream_id, until=before.head, limit=LAST_TURNS, last=True)
    first = sessions.turns(conn, stream_id, until=last[0].position - 1, limit=FIRST_TURNS) if last else []
    return Told(scope, before, _own_words([*first, *last]), before.head)


def _own_words(turns: Sequence[Event]) -> tuple[Event, ...]:
    """Turns as a summary tells of them: without what Engram printed, and what switches memory off and on. Pure."""
    own = (replace(one, content=served.without(one.content or "")) for one in turns)
    said = (
        replace(one, content=sessions.beside_switches(one.content or "")) if one.role == "user" else one for one in own
    )
    return tuple(one for one in said if one.content)


def _written(setup: Setup, job: Job, told: Told) -> Operation[Written]:
    style = setup.policy.summary_style
    if setup.asks(COMPONENT):
        if not told.turns:
            return Written(None, told.position)
        try:
            return (yield from _asked(setup, job, told))
        except (BadOutput, Refused, BudgetSpent, ModelRejected):
            # No repetition of this job would help soon: better a summary of the session's own words than none.
            told = yield from steps.read(job.tenant_id, lambda conn: _told(conn, job, anew=True))
    return Written(summaries.extract(told.turns, style), told.position)


def _asked(setup: Setup, job: Job, told: Told) -> Operation[Written]:
    prompt = prompting.load(f"summary_{setup.policy.summary_style}")
    schema: type[Concise | Structured] = Concise if setup.policy.summary_style == "concise" else Structured
    summary, events = told.before.summary or "(none yet)", _shown(told.turns)
    said: asking.Said[Concise | Structured] = yield from asking.ask(
        setup, scope=told.scope, component=COMPONENT, prompt=prompt, schema=schema, job=job,
        values={"summary": summary, "events": events, "mark": prompting.mark(summary, events)},
        event_ids=[event.event_id for event in told.turns],
    )  # fmt: skip
    answer = said.value
    if isinstance(answer, Concise):
        text = summaries.cut(answer.summary) or None
    else:
        text = summaries.bounded({
            "Goal": [answer.goal], "Constraints & Preferences": answer.constraints_and_preferences,
            "Progress": answer.progress, "Key Decisions": answer.key_decisions, "Next Steps": answer.next_steps,
            "Critical Context": answer.critical_context,
        }, structured=True)  # fmt: skip
    return Written(text, told.position, said.model, prompt.hash)


def _shown(turns: Sequence[Event]) -> str:
    """Events as a model is shown them: one a paragraph, none able to look like the next."""
    return "\n".join(
        f"[{event.position}] {event.role}: {' '.join((event.content or '')[:SHOWN].split())}" for event in turns
    )
