"""Commands on the work that waits: the jobs, and what is not derived yet."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from engram.cli.desk import Desk
from engram.scope import ALL_USERS
from engram.values import JOB_STATES, JobState

JobId = Annotated[str, typer.Argument(help="Id of the job.")]
Limit = Annotated[int, typer.Option("--limit", "-n", help="At most so many.", min=0, max=200)]
Cursor = Annotated[str | None, typer.Option("--cursor", help="Where the last page ended.")]


def list_(
    desk: Desk,
    state: Annotated[str | None, typer.Option("--state", help=f"One of {', '.join(JOB_STATES)}.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List the jobs, oldest first; of every user where none is named."""
    from engram.cli import show

    with desk.door() as engram:
        page = engram.ops.list_jobs(state=cast("JobState | None", state), limit=limit, cursor=cursor, **everybody(desk))
        desk.show(page, show.jobs)


def dead(desk: Desk, limit: Limit = 50, cursor: Cursor = None) -> None:
    """List the jobs that were given up, with the class they failed under."""
    list_(desk, "dead", limit, cursor)


def retry(desk: Desk, job_id: JobId) -> None:
    """Queue a dead, paused, cancelled or waiting job again, at once."""
    from engram.cli import show

    with desk.door(hints=False) as engram:
        desk.show(engram.ops.retry_job(job_id, **everybody(desk), **desk.write), show.job)


def cancel(desk: Desk, job_id: JobId) -> None:
    """Cancel a job; one that runs loses its lease, and its effect is refused."""
    from engram.cli import show

    with desk.door(hints=False) as engram:
        desk.show(engram.ops.cancel_job(job_id, **everybody(desk), **desk.write), show.job)


def backlog(desk: Desk) -> None:
    """List what is not derived yet, by stream and deriver, oldest first; of every user where none is named."""
    from engram.cli import show

    with desk.door() as engram:
        behind = engram.ops.backlog(**everybody(desk))
        desk.show({"results": [one.to_dict() for one in behind]}, show.backlog)


def everybody(desk: Desk) -> dict[str, Any]:
    """All users, unless the command line names one."""
    return {} if "user_id" in desk.ids else {"user_id": ALL_USERS}
