"""Commands on the ledger's events: searching and reading what was said and done."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from engram.cli.desk import Desk
from engram.cli.memories import given, times_of
from engram.values import MODES, ROLES, TRUSTS


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

    chosen: dict[str, Any] = given(types=event_type, roles=role, session_id=session, task_run_id=task)
    chosen |= times_of(desk, since=since, until=until)
    with desk.door() as engram:
        found = engram.search_events(query, mode=mode, limit=limit, **chosen, **desk.read)  # type: ignore[arg-type]
        desk.show(found, show.found_events)


def list_(
    desk: Desk,
    session: Annotated[str | None, typer.Option("--session", help="Those of this session.")] = None,
    task: Annotated[str | None, typer.Option("--task", help="Those of this task run.")] = None,
    event_type: Annotated[list[str] | None, typer.Option("--type", help="Only of this type; repeatable.")] = None,
    role: Annotated[list[str] | None, typer.Option("--role", help=f"{', '.join(ROLES)}; repeatable.")] = None,
    trust: Annotated[list[str] | None, typer.Option("--trust", help=f"{', '.join(TRUSTS)}; repeatable.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Not before this time.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Before this time.")] = None,
    after: Annotated[int, typer.Option("--after", help="Behind this position of the session or the run.", min=0)] = 0,
    newest_first: Annotated[bool, typer.Option("--newest-first", help="The newest at the top.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", help="At most so many.", min=0, max=200)] = 50,
) -> None:
    """List what was said and done, in order, as it stands in the ledger."""
    from engram.cli import show

    chosen: dict[str, Any] = given(
        session_id=session, task_run_id=task, types=event_type, roles=role, trust=trust, newest_first=newest_first
    )
    chosen |= times_of(desk, since=since, until=until)
    with desk.door() as engram:
        found = engram.list_events(**chosen, after=after, limit=limit, **desk.read)
        desk.show({"results": [event.to_dict() for event in found]}, show.events)
