"""Task runs and checkpoints: start, change, resume and forget a run, and save the states it can be resumed from.

Each change is an event of the run's own stream and its effect, in one transaction, under the lock of the run. The order
of locks is: run, then the head of its stream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from engram import checkpoints, ids, inputs, ledger, paging, sessions, streams, tasks, tenancy, writing
from engram.checkpoints import Content, New
from engram.database import Connection, fetch_all, fetch_one
from engram.errors import Conflict, IdempotencyMismatch, InvalidInput, NotFound
from engram.operations import changing, running, steps
from engram.operations.checkpointing import BOOKKEEPING, TASK_TRUST, recorded, saved
from engram.operations.setup import Reading, Setup, Writing
from engram.operations.steps import Operation
from engram.sessions import Visit
from engram.tasks import Held
from engram.tenancy import Visible
from engram.values import TASK_STATUSES, Checkpoint, Event, Page, ResumedTask, TaskRun

T = TypeVar("T")
MOST_EVENTS: Final = 500  # given to whoever resumes
MOST_CHECKPOINTS: Final = 50
_SAID: Final = ("summary", *checkpoints.LISTS, "state")


def start_task(
    setup: Setup, goal: object, *, parent_task_id: object, metadata: object, given: Mapping[str, Any]
) -> Operation[TaskRun]:
    """Begin a task run: a stream of its own, whose first event says the goal."""
    call = setup.writing(given).keyed()
    said = call.censor.checking(inputs.fact)(goal, "goal")
    parent = inputs.optional(inputs.event_id, parent_task_id, "parent_task_id")
    more = call.censor.data(inputs.optional(inputs.metadata, metadata) or {}, "metadata")
    if call.task_run_id is not None:
        raise InvalidInput("task_run_id", "none: a new run has an id and a stream of its own", "the id of another")
    task_run_id = ids.new_id()
    request = {"status": "active", "metadata": more, "parent_task_id": parent}

    def work(conn: Connection) -> TaskRun:
        scope_id = tenancy.ensure(conn, call.scope)
        fetch_one(conn, "lock_call", key=f"{call.tenant_id}/{scope_id}/call/{call.idempotency_key}")
        before = _before(conn, scope_id, call, tasks.STARTED, request)
        if before is not None:
            if not before.erased and before.content != said:
                raise IdempotencyMismatch
            return tasks.get(conn, call.tenant_id, [scope_id], str(before.task_run_id)).task
        if parent is not None and _seen_by(conn, call, parent).scope_id != scope_id:
            raise InvalidInput("parent_task_id", "a run of the scope that is written to", "one of another scope")
        here = _in_session(setup, conn, call, scope_id)
        stream = streams.open(conn, scope_id, "task", task_run_id)
        place = (scope_id, stream.stream_id, task_run_id)
        done = recorded(setup, conn, here, place, tasks.STARTED, request, content=said)
        new = TaskRun(
            task_run_id, said, "active", None, parent, here.session_id, stream.stream_id, done.position,
            done.recorded_at, done.recorded_at, None, more, call.trust or TASK_TRUST,
        )  # fmt: skip
        tasks.add(conn, call.tenant_id, scope_id, new, event_id=done.event_id, metadata=more)
        return new

    return (yield from _written(call, work))


def update_task(
    setup: Setup, task_run_id: object, *, status: object, outcome: object, metadata: object, given: Mapping[str, Any]
) -> Operation[TaskRun]:
    """Change the state, outcome or metadata of a run; a final state stays."""
    call = setup.writing(given).keyed()
    wanted = inputs.event_id(task_run_id, "task_run_id")
    changes: dict[str, Any] = {
        "status": inputs.optional(inputs.choice, status, "status", TASK_STATUSES),
        "outcome": inputs.optional(call.censor.checking(inputs.fact), outcome, "outcome"),
        "metadata": call.censor.data(inputs.optional(inputs.metadata, metadata), "metadata"),
    }
    request = {name: value for name, value in changes.items() if value is not None}
    if not request:
        raise InvalidInput("status", "a status, an outcome or metadata", "none of them")
    queued: list[str] = []

    def work(conn: Connection) -> TaskRun:
        queued.clear()
        held = _locked(conn, call, wanted)
        if _before(conn, held.scope_id, call, tasks.UPDATED, request, wanted) is not None:
            return held.task
        moves = "status" in request and tasks.moved(held.task.status, request["status"])
        new = {n: value for n, value in request.items() if getattr(held.task, n) != value}
        if not new:
            return held.task
        here = _in_session(setup, conn, call, held.scope_id)
        done = recorded(setup, conn, here, held.place, tasks.UPDATED, request)
        tasks.change(conn, call.tenant_id, wanted, at=done.recorded_at, event_id=done.event_id, **new)
        held = _again(conn, call, held)
        if moves and held.task.status != "active":  # a run that rests or has ended is one to come back to
            job = checkpoints.queue(conn, held, held.task.status, once=done.event_id)
            queued.extend([job] if job else [])
        return held.task

    task = yield from _written(call, work)
    yield from running.run_unasked(setup, call.tenant_id, () if call.dry_run else queued)
    return task


def resume_task(
    setup: Setup, task_run_id: object, expected_position: object, given: Mapping[str, Any]
) -> Operation[ResumedTask]:
    """Take a run up again: active, with its latest checkpoint and what happened after it."""
    call = setup.writing(given).keyed()
    wanted = inputs.event_id(task_run_id, "task_run_id")
    expected = inputs.optional(inputs.position, expected_position)

    def work(conn: Connection) -> ResumedTask:
        held = _locked(conn, call, wanted)
        if _before(conn, held.scope_id, call, tasks.RESUMED, {"status": "active"}, wanted) is None:
            tasks.moved(held.task.status, "active")
            here = _in_session(setup, conn, call, held.scope_id)
            done = recorded(setup, conn, here, held.place, tasks.RESUMED, {"status": "active"}, expected=expected)
            tasks.change(conn, call.tenant_id, wanted, at=done.recorded_at, event_id=done.event_id, status="active")
            held = _again(conn, call, held)
        return _resumed(conn, tenancy.visible(conn, call.scope), held)

    return (yield from _written(call, work))


def forget_task(setup: Setup, task_run_id: object, given: Mapping[str, Any]) -> Operation[TaskRun]:
    """Hide a run with its events and checkpoints; restore_task brings them back."""
    return (yield from _hide(setup, task_run_id, tasks.FORGOTTEN, True, given))


def restore_task(setup: Setup, task_run_id: object, given: Mapping[str, Any]) -> Operation[TaskRun]:
    """Show a forgotten run again."""
    return (yield from _hide(setup, task_run_id, tasks.RESTORED, False, given))


def _hide(
    setup: Setup, task_run_id: object, event_type: str, forgotten: bool, given: Mapping[str, Any]
) -> Operation[TaskRun]:
    call = setup.writing(given).keyed()
    wanted = inputs.event_id(task_run_id, "task_run_id")

    def work(conn: Connection) -> TaskRun:
        held = _locked(conn, call, wanted, forgotten=True)
        if _before(conn, held.scope_id, call, event_type, {}, wanted) is not None:
            return held.task
        if held.task.forgotten == forgotten:
            if forgotten:  # to whoever may not see it, it is not there
                raise NotFound(tasks.NOT_THERE)
            return held.task
        here = _in_session(setup, conn, call, held.scope_id)
        done = recorded(setup, conn, here, held.place, event_type, {})
        tasks.change(conn, call.tenant_id, wanted, at=done.recorded_at, event_id=done.event_id, forgotten=forgotten)
        return _again(conn, call, held).task

    return (yield from _written(call, work))


def get_task(setup: Setup, task_run_id: object, given: Mapping[str, Any]) -> Operation[TaskRun]:
    """The run of that id, or NotFound."""
    reading = setup.reading(given)
    wanted = inputs.event_id(task_run_id, "task_run_id")

    def work(conn: Connection) -> TaskRun:
        return _seen(conn, reading, wanted).task

    return (yield from steps.read(reading.scope.tenant_id, work))


def list_tasks(
    setup: Setup, *, status: object, limit: object, cursor: object, given: Mapping[str, Any]
) -> Operation[Page[TaskRun]]:
    """A page of runs, newest first."""
    reading = setup.reading(given)
    most = inputs.limit(limit)
    wanted = None if status is None else [
        inputs.choice(one, "status", TASK_STATUSES)
        for one in inputs.items([status] if isinstance(status, str) else status, "status", len(TASK_STATUSES))
    ]  # fmt: skip
    binding = repr(("tasks", reading.scope, reading.moment, wanted))
    after = paging.decode_cursor(cursor, binding, setup.cursor_key) if cursor is not None else None
    known = reading.moment.earliest

    def work(conn: Connection) -> Page[TaskRun]:
        visible = tenancy.visible(conn, reading.scope)
        found = tasks.select(
            conn, reading.scope.tenant_id, visible.scope_ids, statuses=wanted if known is None else None,
            started_by=known, known_at=reading.moment.known_at, after=after, limit=most + 1,
        ) if most else []  # fmt: skip
        shown = [tasks.at(conn, held, reading.moment).task for held in found[:most]]
        last = found[most - 1].task if len(found) > most else None
        return Page(
            tuple(task for task in shown if wanted is None or task.status in wanted),
            None if last is None
            else paging.encode_cursor((last.started_at, last.task_run_id), binding, setup.cursor_key),
        )  # fmt: skip

    return (yield from steps.read(reading.scope.tenant_id, work))


def save_checkpoint(
    setup: Setup, task_run_id: object, summary: object, *, completed_steps: object, pending_steps: object,
    decisions: object, blockers: object, artifacts: object, state: object, source_event_ids: object, position: object,
    expected_version: object, given: Mapping[str, Any],
) -> Operation[Checkpoint]:  # fmt: skip
    """Save the next version of a run's state, pinned to a position of its stream."""
    call = setup.writing(given).keyed()
    wanted = inputs.event_id(task_run_id, "task_run_id")
    notes = call.censor.checking(inputs.notes)
    content = Content(
        call.censor.checking(inputs.fact)(summary, "summary"),
        notes(completed_steps, "completed_steps"), notes(pending_steps, "pending_steps"),
        notes(decisions, "decisions"), notes(blockers, "blockers"), notes(artifacts, "artifacts"),
        {} if state is None
        else call.censor.data(inputs.payload(state, "state", limit=checkpoints.STATE_BYTES), "state"),
    )  # fmt: skip
    sources = tuple(dict.fromkeys(
        inputs.event_id(one, "source_event_ids")
        for one in inputs.items(source_event_ids, "source_event_ids", inputs.BATCH_ITEMS)
    ))  # fmt: skip
    pinned = inputs.optional(inputs.whole, position, "position")
    expected = inputs.optional(inputs.whole, expected_version, "expected_version")
    checkpoint_id = ids.new_id()

    def work(conn: Connection) -> Checkpoint:
        _hold_off_erasures(conn, call.tenant_id, sources)
        held = _locked(conn, call, wanted)
        before = _before(conn, held.scope_id, call, checkpoints.SAVED, None, wanted)
        if before is not None:
            return _saved_before(conn, call, wanted, before, content, sources, pinned)
        latest = checkpoints.latest_version(conn, call.tenant_id, wanted)
        if expected is not None and expected != latest:
            raise Conflict(f"the latest checkpoint is version {latest}, expected {expected}", version=latest)
        at = held.task.position if pinned is None else pinned
        if at > held.task.position:
            raise InvalidInput("position", f"at most {held.task.position}, where the stream is", "a later one")
        _check_sources(ledger.get_many(conn, sources, scope_ids=[held.scope_id]), sources)
        body = checkpoints.sealed(content, wanted, latest + 1, at)
        new = New(checkpoint_id, latest + 1, at, body, sources, call.trust or TASK_TRUST)
        return saved(setup, conn, _in_session(setup, conn, call, held.scope_id), held, new)

    return (yield from _written(call, work))


def list_checkpoints(
    setup: Setup, task_run_id: object, limit: object, given: Mapping[str, Any]
) -> Operation[tuple[Checkpoint, ...]]:
    """The checkpoints of a run, newest first."""
    reading = setup.reading(given)
    wanted = inputs.event_id(task_run_id, "task_run_id")
    most = inputs.limit(limit, "limit", MOST_CHECKPOINTS)

    def work(conn: Connection) -> tuple[Checkpoint, ...]:
        visible, moment = tenancy.visible(conn, reading.scope), reading.moment
        tasks.seen(conn, visible, wanted, moment)
        tenant_id, known = reading.scope.tenant_id, moment.earliest
        return tuple(checkpoints.select(conn, tenant_id, wanted, limit=most, recorded_by=known, reader=visible))

    return (yield from steps.read(reading.scope.tenant_id, work))


# Shared --------------------------------------------------------------------------------------------------------------


def _in_session(setup: Setup, conn: Connection, call: Writing, scope_id: int) -> Writing:
    """The call with the part of its session that it becomes a part of, begun or reopened if need be.

    A run of another scope than the caller's has no part in his sessions.
    """
    if call.visit is None or tenancy.find(conn, call.scope) != scope_id:
        return call
    part = setup.entered(conn, scope_id, call)
    assert part is not None
    sessions.reopen(conn, scope_id, part, setup.policy, told=False, key=setup.settings.secret_key)
    return replace(call, visit=Visit(part.session_id))


def _resumed(conn: Connection, visible: Visible, held: Held) -> ResumedTask:
    found = checkpoints.select(
        conn, visible.scope.tenant_id, held.task.task_run_id, whole=True, limit=1, reader=visible
    )
    checkpoint = found[0] if found else None
    after = 0 if checkpoint is None else checkpoint.position
    newest = tasks.happened(conn, held, visible, after=after, limit=MOST_EVENTS + 1)
    events = [one for one in reversed(newest[:MOST_EVENTS]) if one.event_type not in BOOKKEEPING]
    return ResumedTask(held.task, checkpoint, tuple(events), len(newest) <= MOST_EVENTS)


def _hold_off_erasures(conn: Connection, tenant_id: str, event_ids: Sequence[str]) -> None:
    """Let nobody erase these events before the commit, and wait for whoever does; before a run is locked."""
    streams_of = {event.stream_id for event in ledger.get_many(conn, event_ids).values()} if event_ids else set()
    names = sorted(f"{tenant_id}/{writing.deriving_lock(stream_id)}" for stream_id in streams_of)
    if names:
        fetch_all(conn, "lock_keys", keys=names, shared=names, first=[])


def _check_sources(events: Mapping[str, Event], wanted: Sequence[str]) -> None:
    if len(events) != len(wanted):
        raise NotFound("no event with that id in the scope of the task run")
    if any(event.erased for event in events.values()):
        raise Conflict("an event that the checkpoint is to rest on was erased: nothing of it is left")


def _saved_before(
    conn: Connection, call: Writing, task_run_id: str, event: Event, content: Content, sources: Sequence[str],
    position: int | None,
) -> Checkpoint:  # fmt: skip
    """The checkpoint an earlier call with this key saved; the words are compared, since the event holds only a hash."""
    found = checkpoints.select(conn, call.tenant_id, task_run_id, event_id=event.event_id, limit=1)
    if not found or found[0].source_event_ids != tuple(sources) or position not in (None, found[0].position):
        raise IdempotencyMismatch
    if not found[0].erased and any(getattr(found[0], name) != getattr(content, name) for name in _SAID):
        raise IdempotencyMismatch
    return found[0]


def _seen(conn: Connection, reading: Reading, task_run_id: str) -> Held:
    return tasks.seen(conn, tenancy.visible(conn, reading.scope), task_run_id, reading.moment)


def _seen_by(conn: Connection, call: Writing, task_run_id: str) -> Held:
    return tasks.get(conn, call.tenant_id, tenancy.visible(conn, call.scope).scope_ids, task_run_id)


def _locked(conn: Connection, call: Writing, task_run_id: str, *, forgotten: bool = False) -> Held:
    visible = tenancy.visible(conn, call.scope)
    return tasks.get(conn, call.tenant_id, visible.scope_ids, task_run_id, lock=True, forgotten=forgotten)


def _again(conn: Connection, call: Writing, held: Held) -> Held:
    return tasks.get(conn, call.tenant_id, [held.scope_id], held.task.task_run_id, forgotten=True)


def _before(
    conn: Connection, scope_id: int, call: Writing, event_type: str, request: Mapping[str, Any] | None,
    task_run_id: str | None = None,
) -> Event | None:  # fmt: skip
    """The event of an earlier call with this key, which must have asked for the same; None when there was none.

    A call that changes a run names the run it asks it of.
    """
    event = ledger.find_by_key(conn, scope_id, str(call.idempotency_key))
    if event is None:
        return None
    asked = {name: value for name, value in event.payload.items() if name != "reason"}
    same = event.event_type == event_type and task_run_id in (None, event.task_run_id)
    if not same or not (event.erased or request is None or asked == request):
        raise IdempotencyMismatch
    if not changing.speaks_alike(conn, tenancy.visible(conn, call.scope), call, event):
        raise IdempotencyMismatch
    return event


def _written(call: Writing, work: Callable[[Connection], T]) -> Operation[T]:
    return (
        yield from steps.write(call.tenant_id, steps.undone(work) if call.dry_run else work, key=call.idempotency_key)
    )
