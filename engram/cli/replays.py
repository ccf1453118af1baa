"""Commands on replays: derive memories again beside the live ones, compare, switch, drop."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Annotated, Any

import typer

from engram.cli.desk import Desk, moment
from engram.cli.memories import given

Shadow = Annotated[str, typer.Argument(help="Id of the shadow.")]
Policy = Annotated[str | None, typer.Option("--policy", help="The policy to derive by; else the one in use.")]


def run(
    desk: Desk,
    policy: Policy = None,
    since: Annotated[str | None, typer.Option("--since", help="Leave what was known then as it is.")] = None,
    derivers: Annotated[list[str] | None, typer.Option("--deriver", help="Only this deriver; may be repeated.")] = None,
) -> None:
    """Derive the scope's memories again beside the live ones, and show how they differ; killed, it goes on."""
    from engram.cli import show

    start: datetime | None = None if since is None else moment(desk, since, "since")
    with desk.door() as engram:
        asked = given(policy=policy, since=start, derivers=derivers or None)
        diff = engram.ops.replay(progress=_watch(desk), **asked, **desk.write)
        desk.show(diff, show.replay_diff)


def list_(desk: Desk) -> None:
    """List the scope's shadows, and how far each has come."""
    from engram.cli import show

    with desk.door() as engram:
        found = engram.ops.list_replays()
        desk.show({"replays": [one.to_dict() for one in found]}, lambda console, _: show.replays(console, found))


def diff(desk: Desk, shadow_id: Shadow) -> None:
    """Show how a shadow differs from the live memories now."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.ops.compare_replay(shadow_id), show.replay_diff)


def switch(desk: Desk, shadow_id: Shadow, policy: Policy = None) -> None:
    """Make a shadow the live memories; what was live is the shadow then, so that the same command goes back."""
    from engram.cli import show

    with desk.door() as engram:
        made = engram.ops.switch_replay(shadow_id, progress=_watch(desk), **given(policy=policy), **desk.write)
        desk.show(made, lambda console, one: show.replays(console, [one]))


def drop(desk: Desk, shadow_id: Shadow) -> None:
    """Drop a shadow; the live memories and the ledger are not touched."""
    with desk.door() as engram:
        dropped = engram.ops.drop_replay(shadow_id, **desk.write)
        desk.show({"dropped": dropped}, lambda console, told: console.print(f"{told['dropped']} memories dropped"))


def _watch(desk: Desk) -> Any:
    if desk.json or not sys.stderr.isatty():
        return None
    return lambda done, steps: print(f"\r\x1b[K{done} of {steps} steps", end="", file=sys.stderr, flush=True)  # noqa: T201
