"""Task runs: long-running work with a goal, a state and a stream of its own; a projection of that stream's events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile
from typing import Any, Final

from sqlalchemy.engine import Row

from engram import ledger
from engram.database import Connection, Jsonb, execute, fetch_ahead, fetch_all, fetch_one, send_now
from engram.errors import Conflict, NotFound
from engram.ledger import Place
from engram.memories import Moment
from engram.tenancy import Visible
from engram.values import TASK_STATUSES, TRUSTS, Event, TaskRun, trust_rank

STARTED: Final = "task_started"
UPDATED: Final = "task_updated"
RESUMED: Final = "task_resumed"
FORGOTTEN: Final = "task_forgotten"
RESTORED: Final = "task_restored"
TYPES: Final = (STARTED, UPDATED, RESUMED, FORGOTTEN, RESTORED)
FINAL: Final = TASK_STATUSES[2:]
MOST_CHANGES: Final = 10_000  # of one run, read to tell its state at an earlier moment
NOT_THERE: Final = "no task run with that id in this scope"


@dataclass(frozen=True, slots=True)
class Held:
    """A task run, the scope it belongs to, and the events that said its goal and outcome, where they still do."""

    task: TaskRun
    scope_id: int
    event_ids: tuple[str, ...]

    @property
    def place(self) -> tuple[int, str, str]:
        """Where its events go: its scope, its stream, and the run itself."""
        return self.scope_id, self.task.stream_id, self.task.task_run_id


def moved(current: str, wanted: str) -> bool:
    """Whether a run in one state goes to another: False when it is there already, Conflict from a final one. Pure."""
    if current == wanted:
        return False
    if current in FINAL:
        raise Conflict(f"the task is {current}, which is final", status=current)
    return True


def as_known(task: TaskRun, events: Iterable[Event], moment: datetime) -> TaskRun:
    """A task run as it stood at a moment when it was not forgotten, told from the events of its stream in order. Pure.

    Where nothing changed since, it is as it stands: events that were erased tell of it no more.
    """
    by_then = list(takewhile(lambda event: event.recorded_at <= moment, events))
    position = by_then[-1].position if by_then else 0
    if task.updated_at <= moment:
        return replace(task, position=position)
    known = replace(
        task, status="active", outcome=None, ended_at=None, metadata={}, updated_at=task.started_at, position=position,
        forgotten=False,
    )  # fmt: skip
    for event in by_then:
        if event.event_type not in TYPES:
            continue
        if event.erased and event.event_type == UPDATED:  # whatever it gave is gone, and what it replaced stood no more
            known = replace(
                known, outcome=known.outcome if known.outcome == task.outcome else None,
                metadata=known.metadata if known.metadata == task.metadata else {},
            )  # fmt: skip
        said = event.payload
        known = replace(
            known, updated_at=event.recorded_at, status=said.get("status", known.status),
            outcome=said.get("outcome", known.outcome), metadata=said.get("metadata", known.metadata),
            ended_at=event.recorded_at if known.ended_at is None and said.get("status") in FINAL else known.ended_at,
        )  # fmt: skip
    if task.ended_at is not None and task.ended_at <= moment:  # a final state stays, whoever erased what said so
        return replace(known, status=task.status, ended_at=task.ended_at)
    return known


def add(
    conn: Connection, tenant_id: str, scope_id: int, task: TaskRun, *, event_id: str, metadata: Mapping[str, Any]
) -> None:
    """Write down a new run, in the transaction of the event that starts it."""
    execute(
        conn, "add_task", tenant_id=tenant_id, task_run_id=task.task_run_id, scope_id=scope_id,
        stream_id=task.stream_id, goal=task.goal, parent_task_id=task.parent_task_id, session_id=task.session_id,
        metadata=Jsonb(dict(metadata)), trust=trust_rank(task.trust), at=task.started_at, event_id=event_id,
    )  # fmt: skip


def get(
    conn: Connection, tenant_id: str, scope_ids: Sequence[int], task_run_id: str, *, lock: bool = False,
    forgotten: bool = False, known_at: datetime | None = None,
) -> Held:  # fmt: skip
    """The run of that id in one of the scopes, or NotFound; one forgotten by then only where it is asked for."""
    if lock:
        fetch_one(conn, "lock_task", tenant_id=tenant_id, task_run_id=task_run_id, scope_ids=list(scope_ids))
    found = select(conn, tenant_id, scope_ids, task_run_id=task_run_id, forgotten=forgotten, known_at=known_at, limit=1)
    if not found:
        raise NotFound(NOT_THERE)
    return found[0]


def select(
    conn: Connection, tenant_id: str, scope_ids: Sequence[int], *, task_run_id: str | None = None,
    statuses: Collection[str] | None = None, started_by: datetime | None = None,
    after: tuple[datetime, str] | None = None, forgotten: bool = False, known_at: datetime | None = None, limit: int,
) -> list[Held]:  # fmt: skip
    """Runs of some scopes, newest first; `after` is (started_at, task_run_id) of the last one of an earlier page.

    A run that was forgotten after `known_at` is among them, as it was then.
    """
    at, last = after or (None, None)
    rows = fetch_all(
        conn, "list_tasks", tenant_id=tenant_id, scope_ids=list(scope_ids), task_run_id=task_run_id,
        statuses=None if statuses is None else list(statuses), started_by=started_by, after_at=at, after_id=last,
        forgotten=forgotten, known_at=known_at, limit=limit,
    )  # fmt: skip
    return [_held(row) for row in rows]


def seen(conn: Connection, visible: Visible, task_run_id: str, moment: Moment) -> Held:
    """The run a read may see, as of its moment; NotFound before it was started."""
    held = get(conn, visible.scope.tenant_id, visible.scope_ids, task_run_id, known_at=moment.known_at)
    if moment.earliest is not None and held.task.started_at > moment.earliest:
        raise NotFound(NOT_THERE)
    return at(conn, held, moment)


def at(conn: Connection, held: Held, moment: Moment) -> Held:
    """A run that was not forgotten as it stood at a moment."""
    if moment.earliest is None:
        return held
    events = ledger.read(
        conn, stream_id=held.task.stream_id, scope_ids=[held.scope_id], known_at=moment.known_at, limit=MOST_CHANGES
    )
    return replace(held, task=as_known(held.task, events, moment.earliest))


def happened(
    conn: Connection, held: Held, visible: Visible, *, after: int, limit: int, known_at: datetime | None = None,
    start: Place | None = None,
) -> list[Event]:  # fmt: skip
    """The newest events of a run that a reader may see, behind a position of its stream, newest first.

    Of a run is what names it, also in another ledger: what a user says of a run of the agent's own stays the user's.
    """
    events = ledger.read(
        conn, task_run_id=held.task.task_run_id, scope_ids=visible.scope_ids, own_ids=visible.own_ids,
        known_at=known_at, start=start, newest_first=True, limit=limit,
    )  # fmt: skip
    return list(takewhile(lambda one: one.stream_id != held.task.stream_id or one.position > after, events))


def change(
    conn: Connection, tenant_id: str, task_run_id: str, *, at: datetime, event_id: str, status: str | None = None,
    outcome: str | None = None, metadata: Mapping[str, Any] | None = None, forgotten: bool | None = None,
) -> None:  # fmt: skip
    """Change what is given, in the transaction of the event that says so."""
    execute(
        conn, "change_task", tenant_id=tenant_id, task_run_id=task_run_id, at=at, event_id=event_id, status=status,
        outcome=outcome, metadata=None if metadata is None else Jsonb(dict(metadata)), forgotten=forgotten,
    )  # fmt: skip


def hides(conn: Connection, tenant_id: str, event: Event, known_at: datetime | None = None) -> bool:
    """Whether an event belongs to a run that is forgotten, or was by a moment."""
    return event.task_run_id is not None and fetch_one(
        conn, "find_hidden_task", tenant_id=tenant_id, task_run_id=event.task_run_id, known_at=known_at
    ) is not None  # fmt: skip


def refuse_forgotten(conn: Connection, tenant_id: str, task_run_id: str | None) -> Callable[[], None]:
    """Ask in one message with the next statement whether a run is forgotten; NotFound where its answer is called for.

    A run that nobody started is not: an agent may keep its own.
    """
    if task_run_id is None:
        return lambda: None
    rows = fetch_ahead(conn, "find_hidden_task", tenant_id=tenant_id, task_run_id=task_run_id, known_at=None)

    def refuse() -> None:
        send_now(conn)
        if rows():
            raise NotFound(NOT_THERE)

    return refuse


def lock_of_event(conn: Connection, tenant_id: str, scope_id: int, event: Event) -> None:
    """Lock the runs that keep something of an event, before its stream is: the order every change takes them in."""
    fetch_all(
        conn, "lock_tasks_of_event", tenant_id=tenant_id, scope_id=scope_id, stream_id=event.stream_id,
        event_id=event.event_id,
    )  # fmt: skip


def erase_event(conn: Connection, tenant_id: str, scope_id: int, event: Event) -> int:
    """Empty the goal, outcome or metadata that an event gave; of how many runs."""
    return execute(conn, "erase_tasks", tenant_id=tenant_id, scope_id=scope_id, event_id=event.event_id)


def _held(row: Row[Any]) -> Held:
    task = TaskRun(
        task_run_id=row.task_run_id, goal=row.goal, status=row.status, outcome=row.outcome,
        parent_task_id=row.parent_task_id, session_id=row.session_id, stream_id=row.stream_id, position=row.position,
        started_at=row.started_at, updated_at=row.updated_at, ended_at=row.ended_at, metadata=row.metadata,
        trust=TRUSTS[row.trust], forgotten=row.forgotten_at is not None,
    )  # fmt: skip
    said = ((row.event_id, row.goal), (row.outcome_event_id, row.outcome))
    return Held(task, int(row.scope_id), tuple(event_id for event_id, words in said if event_id is not None and words))
