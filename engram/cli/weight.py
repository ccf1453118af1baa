"""Commands on what memories weigh: how they fade, how they are rated, what a policy would do, and who changed what."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engram.cli.desk import Desk, moment
from engram.cli.memories import given
from engram.errors import InvalidInput

if TYPE_CHECKING:
    from engram.policies import MemoryPolicy

Since = Annotated[str | None, typer.Option("--since", help="From then on: a date, an ISO time, yesterday, 2h ago.")]
Until = Annotated[str | None, typer.Option("--until", help="Before then, in the same words.")]


def decay(
    desk: Desk,
    profile: Annotated[
        str | None, typer.Option("--profile", help="Curve: access, ebbinghaus, retention, epochs; else the policy's.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", help="How many at most.", min=0, max=200)] = 20,
    plot: Annotated[str | None, typer.Option("--plot", help="Draw the curve of this memory.")] = None,
) -> None:
    """Show which memories fade first: what time has left of each, and what it falls under next."""
    from engram.cli import show

    with desk.door() as engram:
        rows = engram.ops.decay(limit=limit, **given(profile=profile, memory_id=plot))
        told = {"results": [row.to_dict() for row in rows]}
        desk.show(told, lambda console, _: (show.decay if plot is None else show.curves)(console, rows))


def feedback(
    desk: Desk,
    memory_ids: Annotated[list[str], typer.Argument(help="Ids of memories, long or short (mem-1a2b3c4d).")],
    value: Annotated[str, typer.Argument(metavar="+1|-1", help="Whether they helped or misled.")],
    recall_id: Annotated[str | None, typer.Option("--recall", help="Id of the recall that gave them.")] = None,
) -> None:
    """Say that memories helped (+1) or misled (-1); what misleads often is put away, undoably."""
    from engram.cli import show

    if value not in ("+1", "-1", "1"):
        raise InvalidInput("value", "+1 or -1 behind the ids", "something else")
    with desk.door() as engram:
        rated = engram.feedback(memory_ids, -1 if value == "-1" else 1, **given(recall_id=recall_id), **desk.write)
        desk.show({"results": [one.to_dict() for one in rated]}, lambda console, _: show.ratings(console, rated))


def simulate(
    desk: Desk,
    policy: Annotated[str, typer.Argument(help="Name of a policy, or a JSON file with one.")],
    since: Since = None,
    until: Until = None,
) -> None:
    """Run a policy over past events: what it would have decided, and what would differ. Changes nothing."""
    from engram.cli import show

    asked = given(since=_moment(desk, since, "since"), until=_moment(desk, until, "until"))
    with desk.door() as engram:
        with desk.waiting("Deriving past events by the policy"):
            report = engram.ops.simulate_policy(_policy(policy), **asked)
        desk.show(report, show.policy_report)


def audit(
    desk: Desk,
    memory: Annotated[str | None, typer.Option("--memory", help="Only changes of this memory.")] = None,
    actor: Annotated[str | None, typer.Option("--actor", help="Only changes of this author.")] = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option("--limit", help="How many at most.", min=0, max=200)] = 50,
    cursor: Annotated[str | None, typer.Option("--cursor", help="Where the last page ended.")] = None,
) -> None:
    """Show who changed what and why, and what undoing it would take back; newest first."""
    from engram.cli import show

    asked = given(
        memory_id=memory, actor=actor, since=_moment(desk, since, "since"), until=_moment(desk, until, "until"),
        cursor=cursor,
    )  # fmt: skip
    with desk.door() as engram:
        page = engram.ops.audit_log(limit=limit, **asked)
        desk.show(page, show.audit)


def _moment(desk: Desk, text: str | None, name: str) -> datetime | None:
    return None if text is None else moment(desk, text, name)


def _policy(named: str) -> str | MemoryPolicy:
    """A policy by name, or read from a file where the argument names one."""
    from engram.inputs import strict_json
    from engram.policies import built_in
    from engram.policies.files import from_json

    path = Path(named)
    if path.suffix != ".json" and not path.is_file():
        return named
    try:
        written = path.read_bytes()
    except OSError:
        raise InvalidInput("policy", "the name of a policy or a readable JSON file", "neither") from None
    return from_json(strict_json(written, "policy"), {one.name: one for one in built_in()})
