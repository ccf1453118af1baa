"""The past of a search: what its channels reach for among all memories there ever were, and whether that was enough.

A memory of the past is put together from its changes and those of its lineage, which is not done for a whole scope: the
channels are asked for more than they are to bring, the lineages of what they name are put together, and what did not
stand then is cut. Where too little is left they reach farther, and at last for everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from engram.channels import Part, graph, keyword, semantic
from engram.database import statement

FARTHER: Final = (4, 100)  # times as many as a channel is to bring are reached for, one after the other
EVERYTHING: Final = 2**31 - 1
NOTHING_SAID: Final = f"said AS ({keyword.NO_SCORES})"
NOTHING_DATED: Final = "dated_then AS (SELECT NULL::uuid AS memory_id, NULL::float8 AS nearness WHERE false)"
THERE: Final = "engram.agent_memory m WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = ANY(%(scope_ids)s)"
NEAREST: Final = (
    "SELECT n.memory_id, n.cosine FROM near_reached n WHERE (n.memory_id IN (SELECT c.memory_id FROM {} c)) IS TRUE{}"
    " ORDER BY n.cosine DESC, n.memory_id LIMIT %(fetch)s"
)
SEEN: Final = ",\nseen AS NOT MATERIALIZED (\n  SELECT m.* FROM sight_{} m)"
# Where a statement looks a memory up by its id, or a lineage: what is at hand there.
AT_HAND: Final[Mapping[str, str]] = {
    "/*row of b.memory_id*/": "JOIN world m ON m.memory_id = b.memory_id",
    "/*row of n.memory_id*/": "JOIN sight m ON m.memory_id = n.memory_id",
    "/*row of q.memory_id*/": "JOIN sight m ON m.memory_id = q.memory_id",
    "/*rows of p.lineage_id*/": "JOIN seen m ON m.lineage_id = p.lineage_id",
}
UNASKED: Final = ("names", "window_start", "considered")  # of channels that are not


class Reach(NamedTuple):
    """How many candidates a channel names for those it is to bring."""

    many: int

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return self.many >= EVERYTHING


def reaches(fetched: int) -> tuple[Reach, ...]:
    """How far a search of the past reaches, one after the other: the last is everything. Pure."""
    return (*(Reach(times * fetched) for times in FARTHER), Reach(EVERYTHING))


def parts(parts: Mapping[str, Part], asked_words: bool, depth: int) -> dict[str, Part]:
    """The channels' parts for a moment of the past: of what was reached for, what stood then. Pure."""
    near = parts[semantic.NAME]
    if near is not semantic.NOTHING:
        again = NEAREST.format("standing", " AND (SELECT o.of_near FROM short o)")
        near = Part(f"semantic AS MATERIALIZED (\n  {NEAREST.format('eligible', '')})", near.params, again)
    words = kept_words(parts[keyword.NAME].params) if asked_words else parts[keyword.NAME]
    walked = parts[graph.NAME]
    walked = Part(walked.sql.rstrip() + SEEN.format(depth), walked.params)
    return {**parts, semantic.NAME: near, keyword.NAME: words, graph.NAME: walked}


def nearest() -> str:
    """The nearest memories as far as a search reaches, before any is cut. Pure."""
    return statement("reach_nearest").rstrip()


def kept_words(params: Mapping[str, Any]) -> Part:
    """The keyword channel's part that takes from `said` what is eligible. Pure."""
    return Part(statement("keep_words").replace("/*scores*/", keyword.scores("worded")), params)


def world(asked_words: bool, dated: bool) -> str:
    """What is put together before anything is found. Pure."""
    said = NOTHING_SAID
    if asked_words:
        said = statement("reach_words").replace("/*matched*/", keyword.matched())
        said = said.replace("/*scores*/", keyword.scores("matched"))
    began = NOTHING_DATED
    if dated:
        began = statement("channel_temporal").replace("temporal AS", "dated_then AS", 1).replace("/*memories*/", THERE)
        began = began.replace("/*leading*/", "TRUE").replace("%(fetch)s", "%(reach)s")
    sql = (
        statement("reach_candidates")
        .replace("/*nearest*/", nearest())
        .replace("/*said*/", said.rstrip())
        .replace("/*dated*/", began.rstrip())
    )
    return sql.rstrip() + "\n"


def params(reach: Reach, graphed: Sequence[int], given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters beside those of the channels that are asked. Pure."""
    return {name: None for name in UNASKED if name not in given} | {
        "reach": reach.many, "whole": reach.whole, "graphed": [] if reach.whole else list(graphed),
    }  # fmt: skip


def at_hand(sql: str) -> str:
    """The statement with its places filled in by what is at hand. Pure."""
    for place, text in AT_HAND.items():
        sql = sql.replace(place, text)
    return sql


def split(rows: Sequence[Any]) -> tuple[bool, list[Any]]:
    """Whether what was reached for is enough, and the rows of it. Pure."""
    enough = all(row.enough for row in rows)
    return enough, [row for row in rows if row.memory_id is not None]
