"""Commands on topics: what the memories are about, and one topic opened."""

from __future__ import annotations

from typing import Annotated

import typer

from engram.cli.desk import Desk


def list_(
    desk: Desk,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Make the tree anew first.")] = False,
) -> None:
    """List what the memories are about, the largest topics first."""
    from engram.cli import show

    with desk.door() as engram:
        if rebuild:
            engram.ops.rebuild_topics()
        found = engram.list_topics()
        desk.show({"results": [one.to_dict() for one in found]}, show.topics)


def open_(
    desk: Desk, topic_ids: Annotated[list[str], typer.Argument(metavar="TOPIC_ID...", help="Ids such as kb1.")]
) -> None:
    """Open topics: what is under them, their newest memories, and which of these say nearly the same."""
    from engram.cli import show

    with desk.door() as engram:
        opened = engram.get_topics(topic_ids)
        desk.show({name: one.to_dict() for name, one in opened.items()}, show.opened_topics)
