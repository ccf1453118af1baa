"""Commands on the life of memories: what was done to them, run by run, and taking it back."""

from __future__ import annotations

from typing import Annotated

import typer

from engram.cli.desk import Desk, event_id
from engram.cli.memories import Id

Ids = Annotated[list[str], typer.Argument(help="Ids of memories, full or as printed.")]


def runs(
    desk: Desk,
    limit: Annotated[int, typer.Option("--limit", help="At most so many runs.", min=0, max=200)] = 20,
    cursor: Annotated[str | None, typer.Option("--cursor", help="Where the last page ended.")] = None,
) -> None:
    """List what the life cycle did in the scope, newest first, with the id that takes each run back."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.ops.list_runs(limit=limit, cursor=cursor), show.runs)


def undo(desk: Desk, run_or_event_id: Annotated[str, typer.Argument(help="Id of a run, a cycle or an event.")]) -> None:
    """Take back what a run, a cycle or an event changed; what changed since stays and is listed."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.ops.undo(event_id(engram, run_or_event_id), **desk.write), show.undo_report)


def archive(desk: Desk, memory_ids: Ids) -> None:
    """Put memories away: gone from every search, never lost, and back with `engram undo`."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.ops.archive(memory_ids, **desk.write), show.run)


def layer(
    desk: Desk, memory_id: Id, name: Annotated[str, typer.Argument(metavar="buffer|working|core", help="Where to.")]
) -> None:
    """Move a memory to another layer."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.ops.set_layer(memory_id, name, **desk.write), show.run)  # type: ignore[arg-type]
