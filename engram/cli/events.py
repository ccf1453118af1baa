"""Commands on the ledger's events: searching what was said and done."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from engram.cli import desk as desks
from engram.cli.desk import Desk
from engram.cli.memories import given
from engram.values import MODES, ROLES


def search(
    desk: Desk,
    query: Annotated[str, typer.Argument(help="Words to look for; empty lists the newest.")] = "",
    mode: Annotated[str, typer.Option("--mode", help=", ".join(MODES))] = "hybrid",
    event_type: Annotated[list[str] | None, typer.Option("--type", help="Only of this type; repeatable.")] = None,
    role: Annotated[list[str] | None, typer.Option("--role", help=f"{', '.join(ROLES)}; repeatable.")] = None,
    session: Annotated[str | None, typer.Option("--session", help="Only of this session.")] = None,
    task: Annotated[str | None, typer.Option("--task", help="Only of this task run.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Not before this time.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Before this time.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="At most so many.", min=0, max=200)] = 10,
) -> None:
    """Search all that was said and done, remembered or not."""
    from engram.cli import show

    times = {name: desks.moment(desk, at, name) for name, at in (("since", since), ("until", until)) if at is not None}
    chosen: dict[str, Any] = given(types=event_type, roles=role, session_id=session, task_run_id=task)
    with desk.door() as engram:
        found = engram.search_events(query, mode=mode, limit=limit, **chosen, **times, **desk.read)  # type: ignore[arg-type]
        desk.show(found, show.found_events)
