"""Jobs: rows of work born with their event, claimed under a lease, and finished only by who still holds it.

A worker claims in one transaction, works in none, and writes its effect in another whose first statement is `hold`.
Whatever is killed in between, the work may run twice and its effect stands once.
"""

from __future__ import annotations

import hashlib
import random as chance
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy.engine import Row

from engram.database import (
    Connection,
    Jsonb,
    execute,
    fetch_ahead,
    fetch_all,
    fetch_one,
    fetch_value,
    send_after,
    send_ahead,
    send_now,
)
from engram.errors import Conflict, LeaseLost, NotFound
from engram.ids import new_id

DERIVE: Final = "derive"  # the kind born with every event that some deriver waits for
EXTRACT: Final = "extract"  # the kind that asks a language model what events say
LINK: Final = "link"  # the kind that puts new memories into topics and ties them to their nearest
EMBED: Final = "embed"  # the kind that gives vectors to memories written without
REDERIVE: Final = "rederive"  # the kind that derives some statements of events again
LEASE: Final = timedelta(seconds=120)
MOST_ATTEMPTS: Final = 5
MOST_CRASHES: Final = 3
LONGEST_PAUSE: Final = 600.0
KEPT: Final = timedelta(days=7)  # how long a finished job can still be looked at


@dataclass(frozen=True, slots=True)
class Job:
    """One row of work and, while it runs, the token of whoever holds it."""

    job_id: str
    tenant_id: str
    scope_id: int | None
    kind: str
    stream_id: str | None
    position: int | None
    payload: Mapping[str, Any]
    state: str
    priority: int
    run_at: datetime
    attempt: int
    max_attempts: int
    crashes: int
    lease_token: str | None
    lease_until: datetime | None
    error_class: str | None
    error_text: str | None
    created_at: datetime
    finished_at: datetime | None
    since: float = field(default_factory=time.monotonic, compare=False, repr=False)
    """When this process read the row, by its own clock."""


def backoff(attempt: int, random: Callable[[], float] = chance.random) -> float:
    """Seconds to wait after the n-th failure: 2, 4, 8 … up to ten minutes, of which 50 to 100 %."""
    return float(min(2.0 ** min(attempt, 20), LONGEST_PAUSE) * (0.5 + random() / 2))


def add(
    conn: Connection,
    *,
    kind: str,
    dedup_key: str,
    scope_id: int | None = None,
    stream_id: str | None = None,
    position: int | None = None,
    payload: Mapping[str, Any] | None = None,
    delay: float = 0.0,
    priority: int = 100,
    max_attempts: int = MOST_ATTEMPTS,
) -> str | None:
    """Put a job in the outbox, once for each kind and dedup key; its id, or None when it was there before."""
    digest = hashlib.sha256(f"{kind}\0{dedup_key}".encode()).digest()
    row = fetch_one(
        conn,
        "insert_job",
        job_id=new_id(),
        kind=kind,
        dedup_key=digest,
        scope_id=scope_id,
        stream_id=stream_id,
        position=position,
        payload=Jsonb(dict(payload or {})),
        delay=delay,
        priority=priority,
        max_attempts=max_attempts,
    )
    return None if row is None else str(row.job_id)


def claim(
    conn: Connection,
    kinds: Sequence[str],
    limit: int,
    *,
    tenant_id: str | None = None,
    lease: timedelta = LEASE,
    token: str | None = None,
) -> list[Job]:
    """Take due jobs of these kinds under a fresh lease, first from the tenant that was served longest ago.

    Of one kind only one job of a stream runs at a time: a second would do the same work in vain. Kinds that are not
    named are left alone: they may belong to another release. With the same `token` it may be repeated: a claim whose
    COMMIT was lost is found again. Commit before the work begins.
    """
    rows = fetch_all(
        conn, "claim_jobs", kinds=list(kinds), limit=limit, lease=lease, tenant_id=tenant_id, token=token or new_id()
    )
    return [_job(row) for row in rows]


def claim_these(
    conn: Connection, job_ids: Sequence[str], *, lease: timedelta = LEASE, token: str | None = None
) -> list[Job]:
    """Take these jobs of this tenant, those of them that are still queued and due.

    With the same `token` it may be repeated: a claim whose COMMIT was lost is found again.
    """
    if not job_ids:
        return []
    wanted = list(dict.fromkeys(job_ids))
    taken = fetch_all(conn, "claim_job_ids", job_ids=wanted, lease=lease, token=token or new_id())
    return [_job(row) for row in taken]


def are_open(conn: Connection, job_ids: Sequence[str]) -> bool:
    """Whether some of these jobs run, or are queued and due."""
    return bool(fetch_value(conn, "has_open_jobs", job_ids=list(job_ids)))


def hold(conn: Connection, *several: Job) -> None:
    """Lock jobs under their tokens: the first statement of every effect.

    It goes in one message with the next. Where another worker has one of them by now that fails, and the transaction
    ends with LeaseLost.
    """
    send_ahead(conn, "hold_jobs", **_named(several))


def extend(conn: Connection, *several: Job, lease: timedelta = LEASE) -> None:
    """Keep jobs for another lease; LeaseLost when one is no longer ours."""
    _touched(execute(conn, "extend_leases", **_named(several), lease=lease), *several)


def finish(conn: Connection, *several: Job) -> None:
    """Mark jobs done, in the transaction of their effect; LeaseLost when one is no longer ours."""
    _touched(int(fetch_value(conn, "finish_jobs", **_named(several))), *several)


def finish_held(conn: Connection, *several: Job) -> None:
    """Mark jobs done that this transaction holds: nobody else can have them, so their number needs no look."""
    send_ahead(conn, "finish_jobs", **_named(several))


def finish_derived(conn: Connection, read: Mapping[str, int | None]) -> None:
    """Mark done queued jobs of streams whose event its derivers have read by now, up to a position.

    At most 1,000 at once, so that no transaction grows with the queue.
    """
    send_ahead(conn, "finish_derived_jobs", stream_ids=list(read), uptos=list(read.values()))


def fail(
    conn: Connection,
    job: Job,
    error_class: str,
    *,
    error_text: str | None = None,
    permanent: bool = False,
    counts: bool = True,
    retry_after: float | None = None,
    random: Callable[[], float] = chance.random,
) -> str:
    """Give a failed job back with a pause, or bury it; the state it is in now, `queued` or `dead`.

    `permanent` buries at once. `counts=False` with `retry_after` is for a rate limit: it costs no attempt, and is
    waited for exactly; at the cost of an attempt the pause is never shorter than the backoff.
    """
    pause = backoff(job.attempt, random)
    delay = pause if retry_after is None else retry_after if not counts else max(pause, retry_after)
    row = fetch_one(
        conn,
        "fail_job",
        job_id=job.job_id,
        lease_token=job.lease_token,
        permanent=permanent,
        counts=counts,
        delay=delay,
        error_class=error_class[:64],
        error_text=error_text and error_text[:1000],
    )
    if row is None:
        raise LeaseLost(job_id=job.job_id)
    return str(row.state)


def pause(conn: Connection, job: Job, error_class: str, until_seconds: float) -> None:
    """Let a job rest that is not to blame; it comes back by itself after so many seconds, its attempts untouched."""
    rows = execute(
        conn,
        "pause_job",
        job_id=job.job_id,
        lease_token=job.lease_token,
        delay=until_seconds,
        error_class=error_class[:64],
    )
    _touched(rows, job)


def release(conn: Connection, job: Job) -> None:
    """Give a job back untouched, when a worker shuts down; LeaseLost when it is no longer ours."""
    _touched(execute(conn, "release_job", job_id=job.job_id, lease_token=job.lease_token), job)


def rescue(conn: Connection, limit: int = 100) -> int:
    """Queue again the jobs whose worker was lost, of every tenant; how many. A loop calls this, never a job."""
    row = fetch_one(conn, "rescue_jobs", limit=limit, max_crashes=MOST_CRASHES)
    return 0 if row is None else int(row[0])


def due_in(conn: Connection, kinds: Sequence[str]) -> float | None:
    """Seconds until the next job of this tenant of these kinds falls due or loses its lease; None when none is open."""
    row = fetch_one(conn, "find_next_due", kinds=list(kinds), tenant_ids=None)
    return None if row is None else float(row.seconds)


def all_due_in(conn: Connection, kinds: Sequence[str], tenant_ids: Sequence[str]) -> dict[str, float]:
    """The same of each of some tenants that has a job open."""
    rows = fetch_all(conn, "find_next_due", kinds=list(kinds), tenant_ids=list(tenant_ids))
    return {row.tenant_id: float(row.seconds) for row in rows}


def purge(conn: Connection, limit: int = 1_000, *, age: timedelta = KEPT) -> int:
    """Remove jobs that were done or cancelled longer ago than `age`, of every tenant; how many. The dead stay.

    A loop calls this until it answers with less than `limit`. Rows another transaction holds are left for next time.
    """
    row = fetch_one(conn, "purge_jobs", limit=limit, age=age)
    return 0 if row is None else int(row[0])


def revive(conn: Connection, job_id: str, *, scope_ids: Sequence[int] | None = None) -> Job:
    """Queue a dead, paused or cancelled job again, or one that waits, at once; Conflict when it runs or is done."""
    touched = execute(conn, "revive_job", job_id=job_id, scope_ids=None if scope_ids is None else list(scope_ids))
    job = get(conn, job_id, scope_ids=scope_ids)
    if not touched:
        raise Conflict(f"the job is {job.state}", state=job.state)
    return job


def cancel(conn: Connection, job_id: str, *, scope_ids: Sequence[int] | None = None) -> Job:
    """Cancel a job; one that runs loses its lease, so that its effect is refused. Conflict when it is done."""
    touched = execute(conn, "cancel_job", job_id=job_id, scope_ids=None if scope_ids is None else list(scope_ids))
    job = get(conn, job_id, scope_ids=scope_ids)
    if not touched and job.state != "cancelled":
        raise Conflict(f"the job is {job.state}", state=job.state)
    return job


def erase_event(conn: Connection, stream_id: str) -> None:
    """Forget the texts of the failures of a stream's jobs, which may quote an event that is being redacted."""
    execute(conn, "erase_job_texts", stream_id=stream_id)


def get(conn: Connection, job_id: str, *, scope_ids: Sequence[int] | None = None) -> Job:
    """The job of that id in one of the scopes, or NotFound."""
    row = fetch_one(conn, "get_job", job_id=job_id, scope_ids=None if scope_ids is None else list(scope_ids))
    if row is None:
        raise NotFound
    return _job(row)


def list_jobs(
    conn: Connection,
    *,
    scope_ids: Sequence[int] | None = None,
    states: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    after: tuple[datetime, str] | None = None,
    limit: int = 50,
) -> list[Job]:
    """The jobs of this tenant or of some of its scopes, oldest first; `after` is (created_at, job_id) of the last."""
    at, job_id = after or (None, None)
    rows = fetch_all(
        conn,
        "list_jobs",
        scope_ids=None if scope_ids is None else list(scope_ids),
        after_at=at,
        after_id=job_id,
        states=None if states is None else list(states),
        kinds=None if kinds is None else list(kinds),
        limit=limit,
    )
    return [_job(row) for row in rows]


def count(conn: Connection, scope_ids: Sequence[int] | None = None) -> dict[str, int]:
    """How many jobs are in each state."""
    rows = fetch_all(conn, "count_jobs", scope_ids=None if scope_ids is None else list(scope_ids))
    return {row.state: row.jobs for row in rows}


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a deriver has come in a stream: the position of the last event it has seen, 0 before the first."""

    stream_id: str
    deriver: str
    version: int
    position: int = 0


def cursors(conn: Connection, stream_ids: Sequence[str], derivers: Sequence[tuple[str, int]]) -> list[Cursor]:
    """How far each deriver, named with its version, has come in each stream."""
    found = cursors_ahead(conn, stream_ids, derivers)
    send_now(conn)
    return found()


def cursors_ahead(
    conn: Connection, stream_ids: Sequence[str], derivers: Sequence[tuple[str, int]]
) -> Callable[[], list[Cursor]]:
    """The same in one message with the next statement, once that is answered."""
    rows = fetch_ahead(
        conn, "list_cursors", stream_ids=list(stream_ids), derivers=[name for name, _ in derivers],
        versions=[version for _, version in derivers],
    )  # fmt: skip
    return lambda: [Cursor(row.stream_id, row.deriver, row.version, row.position) for row in rows()]


def cursor(conn: Connection, stream_id: str, deriver: str, version: int) -> int:
    """The position up to which a deriver has seen a stream; 0 before its first event."""
    return cursors(conn, [stream_id], [(deriver, version)])[0].position


def advance(conn: Connection, moves: Mapping[Cursor, int]) -> bool:
    """Move cursors from where they were seen to a new position; False when one has moved: then drop the whole effect.

    Those that have not are moved nevertheless.
    """
    return not moves or execute(conn, "advance_cursors", **_moved(moves)) == len(moves)


def advance_held(conn: Connection, moves: Mapping[Cursor, int]) -> None:
    """Move cursors that were seen under a lock of this transaction: none can have moved since."""
    if moves:
        send_ahead(conn, "advance_cursors", **_moved(moves))


def _moved(moves: Mapping[Cursor, int]) -> dict[str, list[Any]]:
    return {
        "stream_ids": [one.stream_id for one in moves], "derivers": [one.deriver for one in moves],
        "versions": [one.version for one in moves], "olds": [one.position for one in moves],
        "news": list(moves.values()),
    }  # fmt: skip


def mark_derived(conn: Connection, stream_ids: Sequence[str]) -> None:
    """Note at streams how far every deriver but the language model has read them, by their cursors as they stand."""
    fetch_value(conn, "mark_derived", stream_ids=list(stream_ids), durable=True)


def mark_derived_after(conn: Connection, stream_ids: Sequence[str]) -> None:
    """The same behind the transaction that moved the cursors, best effort: appends to the streams do not wait for it.

    Where it fails reads look into streams that nothing is left in, until something is derived in them, or somewhere in
    their scope: each mark looks at some others that wait.
    """
    send_after(conn, "mark_derived", stream_ids=list(stream_ids), durable=False)


def _named(several: Sequence[Job]) -> dict[str, list[str | None]]:
    return {"job_ids": [job.job_id for job in several], "lease_tokens": [job.lease_token for job in several]}


def _touched(rows: int, *several: Job) -> None:
    if rows != len(several):
        raise LeaseLost(job_id=several[0].job_id)


def _job(row: Row[Any]) -> Job:
    values: dict[str, Any] = {
        name: str(value) if isinstance(value, UUID) else value for name, value in row._mapping.items()
    }
    return Job(**values)
