"""Checkpointing: the job that makes a checkpoint of a task run when it is time for one, once, under its fence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic import Field as Limit

from engram import checkpoints, ids, jobs, ledger, prompting, served, tasks
from engram.checkpoints import Content, New
from engram.database import Connection, fetch_all
from engram.errors import BadOutput, NotFound, Refused, Unavailable
from engram.jobs import Job
from engram.ledger import AppendedEvent
from engram.operations import asking, steps
from engram.operations.changing import ROLE_OF
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.scope import Scope
from engram.sessions import Visit
from engram.tasks import Held
from engram.values import TRUSTS, Checkpoint, Event, Trust, trust_rank

TASK_TRUST: Final[Trust] = "agent"  # an agent speaks of its own work, unless the host says who does
COMPONENT: Final = "checkpoint"
BOOKKEEPING: Final = (*tasks.TYPES, checkpoints.SAVED, "redaction")
MOST_EVENTS: Final = 500
MOST_OF_EVENT: Final = 1_000  # characters of an event that a model is shown
MOST_SHOWN: Final = 60_000
ANSWER_TOKENS: Final = 2_048

Line = Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True)]
Lines = Annotated[list[Line], Limit(max_length=checkpoints.MOST_STEPS)]


class Made(BaseModel):
    """What a model answers."""

    model_config = ConfigDict(extra="forbid", strict=True)

    summary: Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
    completed_steps: Lines
    pending_steps: Lines
    decisions: Lines
    blockers: Lines
    artifacts: Lines


@dataclass(frozen=True, slots=True)
class Basis:
    """What a checkpoint is made of: the run, the version it follows, what it carries on, and what happened since."""

    held: Held
    scope: Scope
    version: int
    before: Checkpoint | None
    events: tuple[Event, ...]

    @property
    def source_event_ids(self) -> tuple[str, ...]:
        """The events that the new checkpoint rests on."""
        return tuple(dict.fromkeys([*self.held.event_ids, *(event.event_id for event in self.events)]))

    @property
    def shown_ids(self) -> tuple[str, ...]:
        """What a model is shown: these events, and the checkpoint before, which goes when one of its own is erased."""
        return (*self.source_event_ids, *([] if self.before is None else [self.before.checkpoint_id]))

    @property
    def trust(self) -> str:
        """As little as the least trusted of what it is made of."""
        trusts = [self.held.task.trust, *(event.trust for event in self.events)]
        return TRUSTS[max(map(trust_rank, [*trusts, self.before.trust] if self.before else trusts))]


def checkpoint(setup: Setup, job: Job) -> Operation[None]:
    """Make the next checkpoint of a run, unless nothing happened since the last; exactly once, whoever is killed."""
    while True:
        basis = yield from steps.read(job.tenant_id, lambda conn: _basis(conn, job))
        made = None if basis is None else (yield from _made(setup, basis, job))

        def effect(
            conn: Connection, basis: Basis | None = basis, made: tuple[Content, str, str | None] | None = made
        ) -> bool:
            jobs.hold(conn, job)
            if basis is not None and made is not None:
                try:
                    held = tasks.get(conn, job.tenant_id, [basis.held.scope_id], basis.held.task.task_run_id, lock=True)
                except NotFound:  # it was forgotten meanwhile
                    jobs.finish(conn, job)
                    return True
                if checkpoints.latest_version(conn, job.tenant_id, held.task.task_run_id) != basis.version:
                    return False  # somebody saved one meanwhile: look again whether another is needed
                if not _stands(conn, basis, held):
                    return False  # something it was made of was erased meanwhile
                saved(setup, conn, _writing(basis), held, _new(basis, *made))
            jobs.finish(conn, job)
            return True

        if (yield from steps.write(job.tenant_id, effect, key=job.job_id)):
            return


def _basis(conn: Connection, job: Job) -> Basis | None:
    """What there is to make a checkpoint of; None when the run is gone or nothing happened since the last one."""
    row = fetch_all(conn, "find_scope_by_id", tenant_id=job.tenant_id, scope_id=job.scope_id)[0]
    task_run_id = str(job.payload["task_run_id"])
    try:
        held = tasks.get(conn, job.tenant_id, [int(row.scope_id)], task_run_id)
    except NotFound:
        return None
    version = checkpoints.latest_version(conn, job.tenant_id, task_run_id)
    found = checkpoints.select(conn, job.tenant_id, task_run_id, whole=True, limit=1)
    before = found[0] if found else None
    happened, _ = happened_after(conn, held, before, MOST_EVENTS)
    events = [replace(event, content=served.without(event.content or "")) for event in happened if not event.erased]
    if not events:
        return None
    return Basis(held, Scope(job.tenant_id, row.namespace, row.agent_id, row.user_id), version, before, tuple(events))


def _stands(conn: Connection, basis: Basis, held: Held) -> bool:
    """Whether all that a checkpoint was made of is there still; certain under the lock of the run."""
    task_run_id, task, before = held.task.task_run_id, basis.held.task, basis.before
    found = checkpoints.select(conn, basis.scope.tenant_id, task_run_id, whole=True, limit=1, read=False)
    whole = [one.version for one in found] == ([] if before is None else [before.version])
    same = (held.task.goal, held.task.outcome) == (task.goal, task.outcome)
    return whole and same and not ledger.has_erased(conn, [event.event_id for event in basis.events])


def _made(setup: Setup, basis: Basis, job: Job) -> Operation[tuple[Content, str, str | None]]:
    """The words of a checkpoint, who found them and by which prompt: a model where there is one, else the events."""
    task, before = basis.held.task, basis.before
    if setup.asks(COMPONENT):
        prompt = prompting.load(COMPONENT)
        kept = {name: value for name, value in asdict(before).items() if name in SAID} if before else {}
        carried, happened = json.dumps(kept, ensure_ascii=False), shown(basis.events)
        values = {
            "goal": " ".join(task.goal.split()), "status": task.status, "before": carried, "events": happened,
            "mark": prompting.mark(carried, happened),
        }  # fmt: skip
        try:
            answer = yield from asking.ask(
                setup, scope=basis.scope, component=COMPONENT, prompt=prompt, values=values, schema=Made, job=job,
                max_tokens=ANSWER_TOKENS, event_ids=basis.shown_ids,
            )  # fmt: skip
        except (Unavailable, BadOutput, Refused):
            pass  # work must be resumable whatever a model does: the events alone will do
        else:
            said = answer.value
            lists = {name: tuple(getattr(said, name)) for name in checkpoints.LISTS}
            content = Content(said.summary, **lists, state=before.state if before else {})
            return content, answer.model, prompt.hash
    return checkpoints.extract(task, before, basis.events), checkpoints.EXTRACTIVE, None


SAID: Final = ("summary", *checkpoints.LISTS)


def shown(events: Iterable[Event]) -> str:
    """Events as a model is shown them, one a line, the newest of them where all are too many. Pure."""
    lines: list[str] = []
    left = MOST_SHOWN
    for event in reversed(list(events)):
        said = " ".join((event.content or "")[:MOST_OF_EVENT].split())  # in one line: none can look like the next
        line = f"{event.position} {event.role} {event.event_type}: {said}"
        left -= len(line)
        if left < 0:
            break
        lines.append(line)
    return "\n".join(reversed(lines))


def _new(basis: Basis, content: Content, made_by: str, prompt_hash: str | None) -> New:
    task, version = basis.held.task, basis.version + 1
    position = basis.events[-1].position
    return New(
        ids.new_id(), version, position, checkpoints.sealed(content, task.task_run_id, version, position),
        basis.source_event_ids, basis.trust, made_by, None if basis.before is None else basis.before.version,
        prompt_hash,
    )  # fmt: skip


def _writing(basis: Basis) -> Writing:
    session_id = basis.held.task.session_id
    return Writing(basis.scope, actor="engram", visit=None if session_id is None else Visit(session_id))


def happened_after(conn: Connection, held: Held, checkpoint: Checkpoint | None, limit: int) -> tuple[list[Event], bool]:
    """What happened in a run after a checkpoint, in order and without its own book-keeping; False when cut."""
    after = 0 if checkpoint is None else checkpoint.position
    events = ledger.read(
        conn, stream_id=held.task.stream_id, scope_ids=[held.scope_id], after=after, newest_first=True, limit=limit + 1
    )
    happened = [one for one in reversed(events[:limit]) if one.event_type not in BOOKKEEPING]
    return happened, len(events) <= limit


def saved(setup: Setup, conn: Connection, call: Writing, held: Held, new: New) -> Checkpoint:
    """Append the event of a checkpoint and write it down, in the caller's transaction, under the lock of the run."""
    done = recorded(setup, conn, call, held.place, checkpoints.SAVED, new.event)
    checkpoints.add(conn, call.tenant_id, held, new, event_id=done.event_id, at=done.recorded_at)
    [found] = checkpoints.select(conn, call.tenant_id, held.task.task_run_id, event_id=done.event_id, limit=1)
    return found


def recorded(
    setup: Setup, conn: Connection, call: Writing, place: tuple[int, str, str], event_type: str,
    payload: Mapping[str, Any], *, content: str | None = None, expected: int | None = None,
) -> AppendedEvent:  # fmt: skip
    """Append an event of a run to its stream; `place` is its scope, stream and id."""
    scope_id, stream_id, task_run_id = place
    trust = call.trust or TASK_TRUST
    event = ledger.NewEvent(
        role=ROLE_OF[trust], event_type=event_type, content=content,
        payload={**payload, **({"reason": call.reason} if call.reason else {})}, trust=trust,
        occurred_at=call.occurred_at, session_id=call.session_id, task_run_id=task_run_id, actor=call.actor,
        idempotency_key=call.idempotency_key,
    )  # fmt: skip
    return ledger.append(
        conn, scope_id=scope_id, stream_id=stream_id, events=[event], expected_position=expected,
        key=setup.settings.secret_key,
    ).events[0]  # fmt: skip
