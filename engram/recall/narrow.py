"""A search with a filter or a period: of what is nearest, what fits; and all that fits, where that is too little.

What fits is not known before it is looked up, which costs more for a whole scope than all the rest of a search. So the
channels are asked for more than they are to bring, and what does not fit is cut: the more, the smaller the share that
fits of a few that hold a word. Where too little is left, the statement itself looks up the whole scope, and compares
what fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from engram.channels import Part, keyword, semantic
from engram.database import statement
from engram.recall import past

NOTHING_MATCHED: Final = "matched AS (SELECT NULL::uuid AS memory_id WHERE false)"
TIMES: Final = 6  # as many as a channel is to bring are looked up for it at most
SAMPLE: Final = 3  # times fewer tell which share of a scope fits
MANY: Final = "(SELECT r.many FROM reached r)"
FIRST: Final = 10  # times as long as looking up a memory in its turn takes finding one first
BY_KEY: Final = 8  # times as long as comparing a vector in its turn takes finding it by its key


def parts(parts: Mapping[str, Part], asked_words: bool) -> dict[str, Part]:
    """The channels' parts: of what was found first, what fits. Pure."""
    near = parts[semantic.NAME]
    if near is not semantic.NOTHING:
        near = Part(statement("narrow_semantic").rstrip(), near.params, near.again)
    words = past.kept_words(parts[keyword.NAME].params) if asked_words else parts[keyword.NAME]
    return {**parts, semantic.NAME: near, keyword.NAME: words}


def world(asked_words: bool) -> str:
    """What is found first, and what of it fits. Pure."""
    sql = statement("narrow_candidates").replace("/*nearest*/", past.nearest().replace("%(reach)s", MANY))
    matched, said = NOTHING_MATCHED, past.NOTHING_SAID
    if asked_words:
        matched = keyword.matched()
        said = statement("narrow_said").replace("/*scores*/", keyword.scores("narrowed"))
    return sql.replace("/*matched*/", matched).replace("/*said*/", said.rstrip())


def params(fetched: int, size: int, graphed: Sequence[int]) -> dict[str, Any]:
    """The parameters beside those of the channels, for scopes that hold so many memories. Pure."""
    reach = TIMES * fetched
    if FIRST * reach >= size:
        reach = 0  # nothing is found first: all that fits is asked for at once
    return {"reach": reach, "sample": reach // SAMPLE, "few": size // BY_KEY, "graphed": list(graphed)}
