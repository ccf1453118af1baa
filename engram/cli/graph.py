"""Commands on the graph: relate memories, part them, and see where relations lead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from engram.cli.desk import Desk
from engram.cli.memories import given, json_object
from engram.values import DIRECTIONS

if TYPE_CHECKING:
    from engram.values import Direction

Source = Annotated[str, typer.Argument(help="Id of the memory the relation comes from.")]
Target = Annotated[str, typer.Argument(help="Id of the memory it goes to.")]
Way = Annotated[str, typer.Option("--direction", help=", ".join(DIRECTIONS))]
Types = Annotated[list[str] | None, typer.Option("--type", help="Only relations of this type; repeatable.")]
Limit = Annotated[int, typer.Option("--limit", "-n", help="At most so many.", min=0, max=200)]
Depth = Annotated[int, typer.Option("--depth", help="At most so many hops.", min=1, max=10)]


def relate(
    desk: Desk,
    source_id: Source,
    target_id: Target,
    relation_type: Annotated[str, typer.Option("--type", help="What the first has to do with the second.")] = (
        "related_to"
    ),
    weight: Annotated[float, typer.Option("--weight", help="How much, from 0 to 1.")] = 1.0,
    metadata: Annotated[str | None, typer.Option("--metadata", help="A JSON object.")] = None,
) -> None:
    """Say that one memory has to do with another."""
    from engram.cli import show

    more = given(metadata=json_object(metadata, "metadata"))
    with desk.door() as engram:
        made = engram.relate(source_id, target_id, relation_type, weight=weight, **more, **desk.write)
        desk.show({"results": [made.to_dict()]}, show.relations)


def unrelate(
    desk: Desk,
    source_id: Source,
    target_id: Target,
    relation_type: Annotated[str, typer.Option("--type", help="Which relation to end.")] = "related_to",
) -> None:
    """End a relation; the past still shows it."""
    from engram.cli import show

    with desk.door() as engram:
        engram.unrelate(source_id, target_id, relation_type, **desk.write)
        desk.show({"ended": relation_type, "source_id": source_id, "target_id": target_id}, show.parted)


def list_(
    desk: Desk,
    memory_id: Annotated[str, typer.Argument(help="Id of a memory.")],
    direction: Way = "any",
    types: Types = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", help="Only so many.", min=0, max=200)] = None,
) -> None:
    """List the relations of a memory, the heaviest first."""
    from engram.cli import show

    with desk.door() as engram:
        found = engram.list_relations(
            memory_id, direction=cast("Direction", direction), relation_types=types or None, limit=limit, **desk.read
        )
        desk.show({"results": [one.to_dict() for one in found]}, show.relations)


def traverse(
    desk: Desk,
    start_id: Annotated[str, typer.Argument(help="Id of the memory to begin with.")],
    query: Annotated[str | None, typer.Option("--query", help="Follow what is near this question.")] = None,
    depth: Depth = 3,
    direction: Way = "outbound",
    types: Types = None,
    min_weight: Annotated[float, typer.Option("--min-weight", help="Only relations of at least this weight.")] = 0.0,
    limit: Limit = 50,
    superseded: Annotated[bool, typer.Option("--superseded", help="Show what is not current too, labelled.")] = False,
) -> None:
    """See which memories relations lead to, the best score first."""
    from engram.cli import show

    with desk.door() as engram:
        walk = engram.traverse(
            start_id, max_depth=depth, direction=cast("Direction", direction), relation_types=types or None,
            min_weight=min_weight, limit=limit, query=query, include_superseded=superseded, **desk.read,
        )  # fmt: skip
        desk.show(walk, show.traversal)


def path(desk: Desk, source_id: Source, target_id: Target, depth: Depth = 5) -> None:
    """Find the heaviest path between two memories; exits 3 when there is none."""
    from engram.cli import show
    from engram.errors import NotFound

    with desk.door() as engram:
        found = engram.find_path(source_id, target_id, max_depth=depth, **desk.read)
        if found is None:
            raise NotFound("no path between these memories")
        desk.show(found, show.path)
