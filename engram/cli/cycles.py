"""Commands that let memories age: a consolidation cycle, and pruning."""

from __future__ import annotations

from typing import Annotated

import typer

from engram.cli.desk import Desk


def consolidate(
    desk: Desk, merge: Annotated[bool, typer.Option("--merge", help="Make one of near duplicates too.")] = False
) -> None:
    """Run a cycle of the scope: what is reinforced rises, what is spent is put away. Nothing new written: no cycle."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.ops.consolidate(merge=merge, **desk.write), show.run)


def prune(
    desk: Desk,
    mode: Annotated[str, typer.Argument(metavar="gentle|normal|aggressive", help="How much.")] = "gentle",
    layer: Annotated[
        list[str] | None, typer.Option("--layer", help="Only of this layer, buffer or working; repeatable.")
    ] = None,
) -> None:
    """Put memories away that are over, have faded, or are among the lowest tenth; `engram undo` brings them back."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.ops.prune(mode, layers=layer, **desk.write), show.run)  # type: ignore[arg-type]
