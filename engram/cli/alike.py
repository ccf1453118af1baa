"""Commands on memories that are alike: making one of them, and groups that are about one thing."""

from __future__ import annotations

from typing import Annotated

import typer

from engram.cli.desk import Desk


def merge(
    desk: Desk,
    memory_ids: Annotated[list[str] | None, typer.Argument(help="Ids of memories, the one that stays first.")] = None,
    fact: Annotated[str | None, typer.Option("--fact", help="The text that stands for all of them.")] = None,
    similar: Annotated[bool, typer.Option("--similar", help="Find those that say the same by themselves.")] = False,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="With --similar: how alike they must be. (0.85)")
    ] = None,
) -> None:
    """Make one of several memories: those named, or with --similar all that say the same."""
    from engram.cli import show

    if bool(memory_ids) == similar:
        raise typer.BadParameter("name memories, or give --similar")
    with desk.door() as engram:
        if similar:
            desk.show(engram.ops.merge_similar(threshold=threshold, **desk.write), show.run)
        else:
            desk.show(engram.merge(memory_ids or [], fact, **desk.write), show.run)


def clusters(
    desk: Desk,
    distance: Annotated[float | None, typer.Option("--distance", help="How far apart they may be, 0 to 1.")] = None,
    shared: Annotated[float | None, typer.Option("--shared", help="How many words they share, 0 to 1.")] = None,
    size: Annotated[int, typer.Option("--size", help="At least so many memories a group.")] = 3,
    limit: Annotated[int, typer.Option("--limit", help="At most so many groups.")] = 10,
) -> None:
    """Show groups of memories that are about one thing; changes nothing."""
    from engram.cli import show

    with desk.door() as engram:
        found = engram.ops.find_clusters(max_distance=distance, min_jaccard=shared, min_size=size, limit=limit)
        desk.show({"results": [one.to_dict() for one in found]}, lambda console, _: show.clusters(console, found))


def summarise(
    desk: Desk, limit: Annotated[int, typer.Option("--limit", help="At most so many summaries.")] = 50
) -> None:
    """Write one summary for each group of memories about one thing, which then leave default reads."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.ops.consolidate_summaries(limit=limit, **desk.write), show.run)


def tidy(
    desk: Desk, apply: Annotated[bool, typer.Option("--apply", help="Do what is proposed; else it is shown.")] = False
) -> None:
    """Propose merges, moves out of the core and other types for memories, each with its reason."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.ops.audit(apply=apply, **desk.write), show.tidied)
