"""The graph channel: what the best hits are related to, and what is known of those whom the question names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from engram import relations
from engram.channels import Part
from engram.database import statement
from engram.english.subjects import SELF_NAMES
from engram.memories import Moment
from engram.scales import Scale

NAME: Final = "graph"
TIMEOUT: Final = 3.0  # seconds
NOTHING: Final = Part(
    "graph AS (SELECT NULL::uuid AS memory_id, NULL::uuid AS lineage_id, NULL AS status, NULL::float8 AS closeness,"
    " NULL::uuid AS seed_id WHERE false)"
)
SEEDS: Final = 10  # best hits whose relations are followed
SEED_FLOOR: Final = 0.15  # relevance under which a hit leads nowhere
OF_VECTORS: Final = 0.5  # what a cosine counts in it
MOST_DEPTH: Final = 3
BREADTH: Final = 20  # relations of a memory that count, the heaviest first
CONSIDERED: Final = 200  # that are looked at for them, and memories that are gone on from
FARTHER: Final = 0.5  # of the closeness that each hop after the first leaves
NAMED: Final = 0.5  # closeness of what is about somebody the question names
LOOSE_COSINE: Final = 0.45  # of a neighbour to the question, for a loose relation to count
# A lineage is followed by its heads, and these say that two memories are no company for each other.
UNFOLLOWED: Final = ("supersedes", "revision_of", "kept_apart", "contradicts")
STRUCTURAL: Final = tuple(name for name in relations.STRUCTURAL if name not in UNFOLLOWED)
NEAR: Final = """SELECT v.memory_id
    FROM engram.vector_cosines(%(tenant_id)s, %(scope_ids)s::bigint[], %(model_id)s, %(vector)s::halfvec, ARRAY(
           SELECT l.node FROM links_/*to*/ l WHERE NOT l.meant)) v
   WHERE v.cosine >= %(loose_cosine)s"""
FAR: Final = "SELECT NULL::uuid AS memory_id WHERE false"


def part(
    names: Sequence[str], *, moment: Moment, depth: int = 1, vector: bool = True, scale: Scale | None = None
) -> Part:
    """The neighbours of the best hits within some hops, and the memories about those who are named. Pure.

    Without a vector nobody can tell whether the other end of a loose relation is meant: then its words must.
    """
    loose, floor = LOOSE_COSINE, SEED_FLOOR
    if scale is not None:  # the server compares the model's own cosines; those of a hit alone are to reach the floor
        loose, floor = scale.of_the_model(loose), OF_VECTORS * scale.of_the_model(floor / OF_VECTORS)
    return Part(
        _text(moment, hops(depth), vector),
        {
            "seeds": SEEDS, "seed_floor": floor, "breadth": BREADTH, "considered": CONSIDERED, "named": NAMED,
            "names": [name for name in names if name.casefold() not in SELF_NAMES], "structural": list(STRUCTURAL),
            "unfollowed": list(UNFOLLOWED), "loose_cosine": loose,
        },
    )  # fmt: skip


@lru_cache(maxsize=64)
def _text(moment: Moment, hops: int, vector: bool) -> str:
    places = range(1, hops + 1)
    reached = "SELECT n.memory_id, n.lineage_id, n.status, n.closeness, n.seed_id FROM hop_{} n\nUNION ALL\n"
    walked = "".join(f"{_hop(place, moment, vector)},\n" for place in places)
    sql = statement("channel_graph").replace("/*hops*/", walked)
    return sql.replace("/*reached*/", "".join(reached.format(place) for place in places))


def hops(depth: int) -> int:
    """How far a search goes that is to go so far. Pure."""
    return min(depth, MOST_DEPTH)


def _hop(place: int, moment: Moment, vector: bool) -> str:
    filled = {
        "near": NEAR if vector else FAR, "from": str(place - 1), "to": str(place),
        "share": "1" if place == 1 else str(FARTHER), "relations": relations.held("any", moment, "h.memory_id"),
        "end": "/*row of l.node*/" if moment.is_now else f"JOIN sight_{place} m ON m.memory_id = l.node",
    }  # fmt: skip
    around = "" if moment.is_now else statement("reach_around")
    sql = statement("channel_hop").rstrip().replace("/*around*/", around)
    for name, text in filled.items():
        sql = sql.replace(f"/*{name}*/", text)
    return sql
