"""Queueing: what an operator sees of the jobs and does about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from engram import inputs, jobs, paging, tenancy
from engram.database import Connection, fetch_all
from engram.operations import steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.scope import Ids
from engram.values import JOB_STATES, Backlog, Job, Page

Change = Callable[..., jobs.Job]

MOST_BEHIND: Final = 1_000


def list_jobs(
    setup: Setup, *, state: object, limit: object, cursor: object, given: Mapping[str, Any]
) -> Operation[Page[Job]]:
    """The jobs of the readable scopes, oldest first."""
    scope = setup.reading(given).scope
    states = None if state is None else [inputs.choice(state, "state", JOB_STATES)]
    most = inputs.limit(limit)
    place = inputs.optional(paging.check_cursor, cursor)

    def work(conn: Connection) -> Page[Job]:
        visible = tenancy.visible(conn, scope)
        binding = f"jobs\0{scope.tenant_id}\0{sorted(visible.scope_ids)}\0{states}"
        after: tuple[datetime, str] | None = None
        if place is not None:
            created_at, job_id = paging.decode_cursor(place, binding, setup.cursor_key)
            after = created_at, job_id
        rows = jobs.list_jobs(conn, scope_ids=visible.scope_ids, states=states, after=after, limit=most + 1)
        page, last = rows[:most], rows[most - 1 : most]
        more = len(rows) > most and bool(last)
        end = (last[0].created_at, last[0].job_id) if more else None
        return Page(
            tuple(map(shown, page)), None if end is None else paging.encode_cursor(end, binding, setup.cursor_key)
        )

    return (yield from steps.read(scope.tenant_id, work))


def retry_job(setup: Setup, job_id: object, given: Mapping[str, Any]) -> Operation[Job]:
    """Queue a dead, paused, cancelled or waiting job again, at once, and ring for it."""
    return (yield from _change(setup, job_id, jobs.revive, given))


def cancel_job(setup: Setup, job_id: object, given: Mapping[str, Any]) -> Operation[Job]:
    """Cancel a job that is not done."""
    return (yield from _change(setup, job_id, jobs.cancel, given))


def _change(setup: Setup, job_id: object, change: Change, given: Mapping[str, Any]) -> Operation[Job]:
    # An operator finds a job by its id among those of every user, so the scope may be a reader's.
    scope = setup.reading({name: value for name, value in given.items() if name in Ids.__annotations__}).scope
    call = setup.writing({name: value for name, value in given.items() if name not in Ids.__annotations__})
    wanted = inputs.event_id(job_id, "job_id")

    def work(conn: Connection) -> Job:
        return shown(change(conn, wanted, scope_ids=tenancy.visible(conn, scope).scope_ids))

    taken = steps.undone(work) if call.dry_run else work
    job = yield from steps.write(scope.tenant_id, taken, key=wanted)
    if job.state == "queued" and not call.dry_run:
        yield from steps.ring(scope.tenant_id)
    return job


def backlog(setup: Setup, given: Mapping[str, Any]) -> Operation[tuple[Backlog, ...]]:
    """What the derivers of the readable scopes have yet to read, stream by stream, the oldest first."""
    scope = setup.reading(given).scope

    def work(conn: Connection) -> tuple[Backlog, ...]:
        rows = fetch_all(conn, "list_behind", scope_ids=list(tenancy.visible(conn, scope).scope_ids), limit=MOST_BEHIND)
        return tuple(Backlog(**{**row._mapping, "stream_id": str(row.stream_id)}) for row in rows)

    return (yield from steps.read(scope.tenant_id, work))


def shown(job: jobs.Job) -> Job:
    """A job as it may be shown: no lease token, no payload."""
    return Job(**{name: getattr(job, name) for name in Job.__dataclass_fields__})
