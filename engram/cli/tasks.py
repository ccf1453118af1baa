"""Commands on task runs and their checkpoints: begin work, say how it stands, and take it up again."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from engram.cli.desk import Desk, event_id
from engram.cli.memories import given, json_object, text_of
from engram.values import TASK_STATUSES

if TYPE_CHECKING:
    from engram.values import TaskStatus

Run = Annotated[str, typer.Argument(help="Id of the task run.")]
Metadata = Annotated[str | None, typer.Option("--metadata", help="A JSON object.")]


def start(
    desk: Desk,
    goal: Annotated[str, typer.Argument(help="What is to be done; - reads stdin.")],
    parent: Annotated[str | None, typer.Option("--parent", help="Task run this one is a part of.")] = None,
    metadata: Metadata = None,
) -> None:
    """Begin a task run."""
    from engram.cli import show

    more = given(parent_task_id=parent, metadata=json_object(metadata, "metadata"))
    with desk.door() as engram:
        desk.show(engram.start_task(text_of(goal), **more, **desk.write), show.task)


def list_(
    desk: Desk,
    status: Annotated[
        list[str] | None, typer.Option("--status", help=f"{', '.join(TASK_STATUSES)}; repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="At most so many.", min=0, max=200)] = 50,
    cursor: Annotated[str | None, typer.Option("--cursor", help="Where the last page ended.")] = None,
) -> None:
    """List the task runs, those started last first."""
    from engram.cli import show

    with desk.door() as engram:
        wanted = cast("list[TaskStatus] | None", status or None)
        page = engram.list_tasks(status=wanted, limit=limit, cursor=cursor, **desk.read)
        desk.show(page, partial(show.tasks, scope=engram.scope))


def show_(desk: Desk, task_run_id: Run) -> None:
    """Show a task run."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.get_task(task_run_id, **desk.read), show.task)


def update(
    desk: Desk,
    task_run_id: Run,
    status: Annotated[str | None, typer.Option("--status", help=", ".join(TASK_STATUSES))] = None,
    outcome: Annotated[str | None, typer.Option("--outcome", help="What came of it.")] = None,
    metadata: Metadata = None,
) -> None:
    """Change the state, the outcome or the metadata of a task run."""
    from engram.cli import show

    changes = given(status=status, outcome=outcome, metadata=json_object(metadata, "metadata"))
    with desk.door() as engram:
        desk.show(engram.update_task(task_run_id, **changes, **desk.write), show.task)


def resume(
    desk: Desk,
    task_run_id: Run,
    expected_position: Annotated[
        int | None, typer.Option("--expected-position", help="Fail if its stream is elsewhere by now.")
    ] = None,
) -> None:
    """Take a task run up again: its latest checkpoint and what happened after it."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.resume_task(task_run_id, expected_position=expected_position, **desk.write), show.resumed)


def forget(desk: Desk, task_run_id: Run) -> None:
    """Hide a task run with its events and checkpoints."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.forget_task(task_run_id, **desk.write), show.task)


def restore(desk: Desk, task_run_id: Run) -> None:
    """Show a forgotten task run again."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.restore_task(task_run_id, **desk.write), show.task)


def save(
    desk: Desk,
    task_run_id: Run,
    summary: Annotated[str, typer.Argument(help="Where the work stands; - reads stdin.")],
    done: Annotated[list[str] | None, typer.Option("--done", help="A step that is done; repeatable.")] = None,
    pending: Annotated[list[str] | None, typer.Option("--pending", help="A step that is left; repeatable.")] = None,
    decision: Annotated[list[str] | None, typer.Option("--decision", help="A decision; repeatable.")] = None,
    blocker: Annotated[list[str] | None, typer.Option("--blocker", help="What is in the way; repeatable.")] = None,
    artifact: Annotated[
        list[str] | None, typer.Option("--artifact", help="Something that was made; repeatable.")
    ] = None,
    state: Annotated[str | None, typer.Option("--state", help="A JSON object.")] = None,
    source: Annotated[list[str] | None, typer.Option("--source", help="Event it rests on; repeatable.")] = None,
    expected_version: Annotated[
        int | None, typer.Option("--expected-version", help="Fail if the latest is another one.")
    ] = None,
) -> None:
    """Save a checkpoint of a task run."""
    from engram.cli import show

    more: dict[str, Any] = given(
        completed_steps=done, pending_steps=pending, decisions=decision, blockers=blocker, artifacts=artifact,
        state=json_object(state, "state"),
    )  # fmt: skip
    with desk.door() as engram:
        more |= given(source_event_ids=source and [event_id(engram, one) for one in source])
        saved = engram.save_checkpoint(
            task_run_id, text_of(summary), expected_version=expected_version, **more, **desk.write
        )
        desk.show(saved, show.checkpoint)


def checkpoints(
    desk: Desk,
    task_run_id: Run,
    limit: Annotated[int, typer.Option("--limit", "-n", help="At most so many.", min=0, max=50)] = 10,
) -> None:
    """List the checkpoints of a task run, newest first."""
    from engram.cli import show

    with desk.door() as engram:
        found = engram.list_checkpoints(task_run_id, limit=limit, **desk.read)
        desk.show({"results": [one.to_dict() for one in found]}, show.checkpoints)
