"""Commands that erase for ever what was said, and erase it again after an older backup was restored."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from engram.cli.desk import Desk, event_id
from engram.errors import InvalidInput

if TYPE_CHECKING:
    from engram.scope import Scope

TARGETS: Final = "--event, --memory, --session, --source, --everything-of, --whole-scope"
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def erase(
    desk: Desk,
    event: Annotated[list[str] | None, typer.Option("--event", help="Id of an event; may be given again.")] = None,
    memory: Annotated[list[str] | None, typer.Option("--memory", help="Id of a memory; may be given again.")] = None,
    session: Annotated[str | None, typer.Option("--session", help="A session, with its parts and documents.")] = None,
    source: Annotated[str | None, typer.Option("--source", help="Memories of that source, with documents.")] = None,
    everything_of: Annotated[
        str | None,
        typer.Option("--everything-of", help="A user, in every namespace and of every agent of the tenant."),
    ] = None,
    whole_scope: Annotated[bool, typer.Option("--whole-scope", help="All of the scope this command is in.")] = False,
    yes: Yes = False,
) -> None:
    """Erase for ever what was said, and look again whether it is gone; exit code 1 where something is left."""
    from engram.cli import show

    named = sum(map(bool, (event, memory, session, source, everything_of, whole_scope)))
    if named != 1:
        raise InvalidInput("what to erase", f"one of {TARGETS}", f"{named or 'none'} of them")
    with desk.door(hints=everything_of is None) as engram:
        chosen: dict[str, Any] = {
            "events": event and [event_id(engram, one) for one in event], "memories": memory, "session": session,
            "source": source, "user": everything_of, "scope": engram.scope if whole_scope else None,
        }  # fmt: skip
        given = {name: value for name, value in chosen.items() if value is not None}
        if given and not yes and not desk.write.get("dry_run"):
            with desk.waiting("Counting what would go"):
                would = engram.ops.erase(**given, dry_run=True).erased
            counted = f"events: {would.get('events', 0):,}, memories: up to {would.get('memories', 0):,}"
            _asked(f"Erase for ever {_named(engram.scope, given)}; {counted}?")
        report = engram.ops.erase(**given, **desk.write)
        desk.show(report, show.erasure)
    if not report.clean:
        raise typer.Exit(1)


def apply_redactions(
    desk: Desk, path: Annotated[Path, typer.Argument(help="The file that ENGRAM_REDACTION_LIST named.")]
) -> None:
    """Erase again what a redaction list names, of the tenant: after an older backup was restored, before serving."""
    from engram.cli import show

    with desk.door() as engram:
        report = engram.ops.apply_redactions(path, **desk.write)
        desk.show(report, show.erasure)
    if not report.clean:
        raise typer.Exit(1)


def _named(scope: Scope, given: Mapping[str, Any]) -> str:
    """What is to be erased, and where, in the words of whoever is asked."""
    [(kind, value), *_] = given.items()
    ids = {"namespace": scope.namespace, "agent": scope.agent_id, "user": scope.user_id}
    whose = ", ".join([f"tenant {scope.tenant_id}", *(f"{name} {one or 'none'}" for name, one in ids.items())])
    told = {
        "session": f"session {value} of {whose}", "source": f"source {value} of {whose}",
        "user": f"everything of user {value} in tenant {scope.tenant_id}", "scope": f"the whole scope: {whose}",
    }  # fmt: skip
    return told.get(kind) or f"{kind} {', '.join(value)} of {whose}"


def _asked(question: str) -> None:
    """Ask a person; whoever is no person says --yes."""
    try:
        sure = typer.confirm(question, err=True)
    except typer.Abort as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        typer.echo(err=True)
        raise InvalidInput("the answer", "y or n, or --yes where nobody can be asked", "none") from None
    if not sure:
        raise typer.Exit(1)
