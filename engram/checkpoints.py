"""Checkpoints: compact states of a task run, each version once, sealed by a hash; and how one is made without a model.

What a checkpoint says is stored as bytes under their SHA-256, with a random salt in front: a changed byte is refused on
reading, and once the bytes are erased the hash that stays in the ledger tells nothing. It is JSON, and never anything
that runs when it is read.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy.engine import Row

from engram import inputs, jobs
from engram.database import Connection, execute, fetch_all, fetch_one
from engram.errors import Damaged
from engram.tasks import Held
from engram.tenancy import Visible
from engram.values import TRUSTS, Checkpoint, Event, TaskRun, trust_rank

KIND: Final = "checkpoint"  # of the job that makes one
SAVED: Final = "checkpoint_saved"
CALLER: Final = "caller"
EXTRACTIVE: Final = "extractive"
STATE_BYTES: Final = 8 << 20
SALT: Final = 32
BYTES_A_TOKEN: Final = 4
MOST_STEPS: Final = 50  # kept of each list when a checkpoint is made from events
MOST_OF_STEP: Final = 300
MOST_OF_SUMMARY: Final = 1_500
LAST_SAID: Final = 3
LISTS: Final = ("completed_steps", "pending_steps", "decisions", "blockers", "artifacts")


@dataclass(frozen=True, slots=True)
class Content:
    """What a checkpoint says."""

    summary: str
    completed_steps: tuple[str, ...] = ()
    pending_steps: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class New:
    """A checkpoint about to be written: its version and place, its sealed bytes, and what it rests on."""

    checkpoint_id: str
    version: int
    position: int
    body: bytes
    source_event_ids: tuple[str, ...]
    trust: str
    made_by: str = CALLER
    based_on: int | None = None
    prompt_hash: str | None = None

    @property
    def sha256(self) -> bytes:
        """The hash of the bytes."""
        return hashlib.sha256(self.body).digest()

    @property
    def event(self) -> dict[str, Any]:
        """What the ledger is told of it: nothing of what it says, but the hash of it."""
        return {
            "checkpoint_id": self.checkpoint_id, "version": self.version, "position": self.position,
            "sha256": self.sha256.hex(),
        }  # fmt: skip


def sealed(content: Content, task_run_id: str, version: int, position: int) -> bytes:
    """The bytes of a checkpoint: a salt and canonical JSON that also names its run, version and position."""
    said = {**asdict(content), "task_run_id": task_run_id, "version": version, "position": position}
    return secrets.token_bytes(SALT) + inputs.canonical_json(said, "checkpoint", limit=2 * STATE_BYTES - SALT)


def opened(body: bytes, sha256: bytes, task_run_id: str, version: int, position: int) -> dict[str, Any]:
    """What the bytes of a checkpoint say; Damaged when a bit of them, or their place, is not what was saved. Pure."""
    if hashlib.sha256(body).digest() != sha256:
        raise Damaged("a checkpoint is not what was saved", task_run_id=task_run_id, version=version)
    said = inputs.load_json(body[SALT:])
    if not isinstance(said, dict):  # who changed the bytes may have changed their hash, too
        raise Damaged("a checkpoint is not what was saved", task_run_id=task_run_id, version=version)
    if (said.get("task_run_id"), said.get("version"), said.get("position")) != (task_run_id, version, position):
        raise Damaged("a checkpoint stands where it was not saved", task_run_id=task_run_id, version=version)
    return said


def latest_version(conn: Connection, tenant_id: str, task_run_id: str) -> int:
    """The newest version of a run, 0 without one; certain only under the lock of the run."""
    rows = select(conn, tenant_id, task_run_id, limit=1, read=False)
    return rows[0].version if rows else 0


def add(conn: Connection, tenant_id: str, held: Held, new: New, *, event_id: str, at: datetime) -> None:
    """Write a checkpoint down, in the transaction of its event."""
    execute(
        conn, "add_checkpoint", tenant_id=tenant_id, task_run_id=held.task.task_run_id, version=new.version,
        checkpoint_id=new.checkpoint_id, scope_id=held.scope_id, stream_id=held.task.stream_id, position=new.position,
        body=new.body, sha256=new.sha256, source_event_ids=list(new.source_event_ids), based_on=new.based_on,
        trust=trust_rank(new.trust), made_by=new.made_by, prompt_hash=new.prompt_hash, event_id=event_id, at=at,
    )  # fmt: skip


def select(
    conn: Connection, tenant_id: str, task_run_id: str, *, limit: int, whole: bool = False, event_id: str | None = None,
    recorded_by: datetime | None = None, read: bool = True, reader: Visible | None = None,
) -> list[Checkpoint]:  # fmt: skip
    """The checkpoints of a run, newest first; `whole` leaves out those that were erased, `read=False` what they say.

    A `reader` of another scope sees none that a job made of a run with private memories.
    """
    rows = fetch_all(
        conn, "list_checkpoints", tenant_id=tenant_id, task_run_id=task_run_id, limit=limit, whole=whole,
        event_id=event_id, recorded_by=recorded_by, read=read, everyone=reader is None,
        own=None if reader is None else reader.own,
    )  # fmt: skip
    return [_checkpoint(row) for row in rows]


def latest(
    conn: Connection, reader: Visible, task_run_ids: Sequence[str], *, recorded_by: datetime | None = None
) -> dict[str, Checkpoint]:
    """The latest checkpoint of each of some runs that was not erased, and that the reader sees, by the run."""
    rows = fetch_all(
        conn, "list_latest_checkpoints", tenant_id=reader.scope.tenant_id, scope_ids=list(reader.scope_ids),
        own=reader.own, task_run_ids=list(task_run_ids), recorded_by=recorded_by,
    ) if task_run_ids else []  # fmt: skip
    return {row.task_run_id: _checkpoint(row) for row in rows}


def queue(conn: Connection, held: Held, because: str, *, once: str) -> str | None:
    """Queue the making of a checkpoint, once for each `once`; the id of the job, None when it was queued before."""
    task = held.task
    return jobs.add(
        conn, kind=KIND, dedup_key=f"{task.task_run_id}/{once}", scope_id=held.scope_id, stream_id=task.stream_id,
        position=task.position or None, payload={"task_run_id": task.task_run_id, "because": because},
    )  # fmt: skip


def queue_if_due(conn: Connection, tenant_id: str, task_run_id: str, *, every: int, tokens: int) -> str | None:
    """Queue the making of a checkpoint when that many events or tokens have passed since the last; the id of the job.

    Asked in the transaction of an append. One job a version, and one more each time as many events pass again.
    """
    row = fetch_one(
        conn, "find_due_checkpoint", tenant_id=tenant_id, task_run_id=task_run_id, every=every,
        bytes=tokens * BYTES_A_TOKEN,
    )  # fmt: skip
    if row is None:
        return None
    return jobs.add(
        conn, kind=KIND, dedup_key=f"{task_run_id}/{row.version}/{row.behind // every}", scope_id=row.scope_id,
        stream_id=row.stream_id, position=row.position, payload={"task_run_id": task_run_id, "because": "due"},
    )  # fmt: skip


def erase_event(conn: Connection, tenant_id: str, scope_id: int, event: Event) -> dict[str, set[str]]:
    """Empty the checkpoints that rest on an event, and those made from these.

    Each run that lost one, with these checkpoints and the events they were made of: what a model answered, or is about
    to answer, to one of them may hold the words of the redacted event too, carried on from the checkpoint before.
    """
    rows = fetch_all(
        conn, "erase_checkpoints", tenant_id=tenant_id, scope_id=scope_id, stream_id=event.stream_id,
        position=event.position, event_id=event.event_id,
    )  # fmt: skip
    lost: dict[str, set[str]] = {}
    for row in rows:
        lost.setdefault(row.task_run_id, set()).update([row.checkpoint_id, *map(str, row.source_event_ids)])
    return lost


# Made from events ----------------------------------------------------------------------------------------------------


def extract(task: TaskRun, before: Checkpoint | None, events: Sequence[Event]) -> Content:
    """A checkpoint from what happened since the last one, without a model. Pure.

    Done is a tool call with its result, or an action; open is a call without a result; decisions, errors and artifacts
    are the events of these types. What the last checkpoint said is carried on, its state unchanged.
    """
    done, open_calls, found = _calls(events)
    said = [event for event in events if event.role in ("user", "assistant", "agent") and event.content]
    lines = [f"Goal: {_short(task.goal)}" if task.goal else "", f"State: {task.status}"]
    lines += [f"Outcome: {_short(task.outcome)}"] if task.outcome else []
    lines += [f"{event.role}: {_short(event.content or '')}" for event in said[-LAST_SAID:]]
    completed = _kept(before.completed_steps if before else (), done)
    waiting = [step for step in (before.pending_steps if before else ()) if not _is_done(step, done)]
    return Content(
        summary="\n".join(line for line in lines if line)[:MOST_OF_SUMMARY],
        completed_steps=completed, pending_steps=_kept(waiting, open_calls),
        decisions=_kept(before.decisions if before else (), found["decision"]),
        blockers=_kept((), found["error"]), artifacts=_kept(before.artifacts if before else (), found["artifact"]),
        state=before.state if before else {},
    )  # fmt: skip


def _calls(events: Iterable[Event]) -> tuple[list[str], list[str], dict[str, list[str]]]:
    """Steps done and calls without a result, in order, and what stands under decision, error and artifact."""
    done: list[str] = []
    waiting: dict[str, str] = {}
    found: dict[str, list[str]] = {"decision": [], "error": [], "artifact": []}
    for event in events:
        content = _short(event.content or "")
        if event.event_type == "tool_call":
            waiting[str(event.payload.get("call_id") or event.event_id)] = content
        elif event.event_type == "tool_result":
            call = waiting.pop(str(event.payload.get("call_id")), str(event.payload.get("name") or "tool"))
            done.append(_short(f"{call} → {content}"))
        elif event.event_type == "agent_action" and content:
            done.append(content)
        elif event.event_type in found and content:
            named = event.payload.get("name") if event.event_type == "artifact" else None
            found[event.event_type].append(_short(str(named)) if named else content)
    return done, list(waiting.values()), found


def _is_done(step: str, done: Iterable[str]) -> bool:
    return any(one == step or one.startswith(f"{step} → ") for one in done)


def _kept(before: Iterable[str], new: Iterable[str]) -> tuple[str, ...]:
    """The newest of both, each once, in order."""
    return tuple([one for one in dict.fromkeys([*before, *new]) if one][-MOST_STEPS:])


def _short(said: str) -> str:
    folded = " ".join(said.split())
    return folded if len(folded) <= MOST_OF_STEP else f"{folded[: MOST_OF_STEP - 1].rstrip()}…"


def _checkpoint(row: Row[Any]) -> Checkpoint:
    said: Mapping[str, Any] = {}
    if row.body is not None:
        said = opened(bytes(row.body), bytes(row.sha256), row.task_run_id, row.version, row.position)
    return Checkpoint(
        checkpoint_id=row.checkpoint_id, task_run_id=row.task_run_id, version=row.version, position=row.position,
        summary=said.get("summary", ""), **{name: tuple(said.get(name, ())) for name in LISTS},
        state=said.get("state", {}), source_event_ids=tuple(str(one) for one in row.source_event_ids),
        sha256=bytes(row.sha256).hex(), recorded_at=row.recorded_at, made_by=row.made_by, trust=TRUSTS[row.trust],
        erased=row.erased,
    )  # fmt: skip
