"""Commands on sessions: which there are, what was said in one, and its end."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from engram.cli.desk import Desk
from engram.cli.memories import given

if TYPE_CHECKING:
    from engram.values import Event

Name = Annotated[str, typer.Argument(help="Id of the session.")]
PAGE = 200


def list_(
    desk: Desk,
    open_only: Annotated[bool, typer.Option("--open", help="Only those that have not ended.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", help="At most so many.", min=0, max=200)] = 50,
    cursor: Annotated[str | None, typer.Option("--cursor", help="Where the last page ended.")] = None,
) -> None:
    """List the sessions, the youngest first."""
    from engram.cli import show

    with desk.door() as engram:
        page = engram.list_sessions(open_only=open_only, limit=limit, cursor=cursor, **desk.read)
        desk.show(page, partial(show.sessions, scope=engram.scope))


def show_(desk: Desk, session_id: Name) -> None:
    """Show a session with its summary."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.get_session(session_id, **desk.read), show.session)


def end(
    desk: Desk,
    session_id: Name,
    summary: Annotated[str | None, typer.Option("--summary", help="Your own summary, in place of Engram's.")] = None,
) -> None:
    """End a session; it goes on when something is written into it again."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.end_session(session_id, **given(summary=summary), **desk.write), show.session)


def replay(
    desk: Desk,
    session_id: Name,
    limit: Annotated[int | None, typer.Option("--limit", "-n", help="At most so many, from the first.", min=0)] = None,
) -> None:
    """Print what was said and done in a session, in order."""
    from engram.cli import show

    with desk.door() as engram:
        session = engram.get_session(session_id, **desk.read)
        events: list[Event] = []
        after, most = 0, session.position if limit is None else limit
        while len(events) < most:
            page = engram.list_events(
                stream_id=session.stream_id, after=after, limit=min(PAGE, most - len(events)), **desk.read
            )
            if not page:
                break
            events.extend(page)
            after = page[-1].position
        desk.show({"results": [event.to_dict() for event in events]}, show.events)
