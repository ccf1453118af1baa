"""The graph channel: what the best hits are related to, and what is known of those whom the question names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engram.channels import Part
from engram.database import statement
from engram.memories import Moment
from engram.subjects import SELF_NAMES

NAME: Final = "graph"
TIMEOUT: Final = 3.0  # seconds
NOTHING: Final = Part(
    "graph AS (SELECT NULL::uuid AS memory_id, NULL::float8 AS closeness, NULL::uuid AS seed_id, true AS bound"
    " WHERE false)"
)
SEEDS: Final = 10  # best hits whose relations are followed
SEED_FLOOR: Final = 0.15  # relevance under which a hit leads nowhere
BREADTH: Final = 20  # relations of a hit, the heaviest first
NAMED: Final = 0.5  # closeness of what is about somebody the question names
LOOSE_COSINE: Final = 0.45  # of a neighbour to the question, for a loose relation to count
STRUCTURAL: Final = ("part_of", "contains", "derived_from", "summarized_by")
# A lineage is followed by its heads, and these say that two memories are no company for each other.
UNFOLLOWED: Final = ("supersedes", "revision_of", "kept_apart", "contradicts")
HELD: Final = (
    "o.recorded_at <= %(known_at)s::timestamptz AND (o.ended_at IS NULL OR o.ended_at > %(known_at)s::timestamptz)"
)


def part(names: Sequence[str], *, moment: Moment) -> Part:
    """The neighbours of the best hits by one relation, and the memories about those who are named. Pure."""
    held = "o.ended_at IS NULL" if moment.known_at is None else HELD
    return Part(
        statement("channel_graph").replace("/*held*/", held),
        {
            "seeds": SEEDS, "seed_floor": SEED_FLOOR, "breadth": BREADTH, "named": NAMED,
            "names": [name for name in names if name.casefold() not in SELF_NAMES], "structural": list(STRUCTURAL),
            "unfollowed": list(UNFOLLOWED),
        },
    )  # fmt: skip
