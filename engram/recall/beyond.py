"""Beyond a window: what was said at another time than the one a question names may still tell of that time. Pure.

"What did we see on the trip last year?" is answered by what is said of the trip today. So a window comes first as far
as it has to do with the question, and the evidence goes on with what a search without the window found: it answers
nothing, and no time was stated of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from engram.english import attributes
from engram.english.subjects import plain
from engram.intent import Reading
from engram.memories import Moment
from engram.recall.results import WEAK, relevance_of
from engram.recall.telling import STRONG, may_tell
from engram.values import Intent, SearchResult, SearchResults, kind_of

ANOTHER_TIME: Final = "said at another time"
INTENTS: Final[tuple[Intent, ...]] = ("current", "event", "historical")  # the others are told of exactly what is named
LOOKED_AT: Final = 50  # results of the search without the window


def goes_on(reading: Reading, moment: Moment) -> bool:
    """Whether the window of a question is but a preference of its evidence. Pure.

    It is a bound where all there was in it is asked for, or how things came one after the other.
    """
    return reading.window is not None and moment.as_of is None and reading.intent in INTENTS and bool(reading.topic)


def gone_on(
    evidence: Sequence[SearchResult], anytime: SearchResults, worded: SearchResults, reading: Reading, limit: int
) -> tuple[SearchResult, ...]:
    """The evidence of a window, then what was said at another time, labelled so; up to the limit. Pure.

    `anytime` is what is current of a search without the window, `worded` of one for the words of its time as well, by
    whose scores all is ordered. What has less than half as much to do with the question as what has most is no
    better for its time: it stands among the others.
    """
    scores: dict[str, float] = {one.memory.memory_id: one.score for one in (*anytime, *worded)}
    known, name = {one.memory.memory_id for one in evidence}, attributes.asked(plain(reading.question))
    least = max(WEAK, STRONG * max(map(relevance_of, worded), default=0.0))
    other = {one.memory.memory_id: one for one in (*worded, *anytime) if _may_tell(one, name)}
    first = [one for one in evidence if relevance_of(one) >= least]
    rest = [
        *(one for one in evidence if relevance_of(one) < least),
        *(replace(one, labels=(*one.labels, ANOTHER_TIME)) for key, one in other.items() if key not in known),
    ]

    def score(one: SearchResult) -> float:
        return scores.get(one.memory.memory_id, one.score)

    listed = [*sorted(first, key=score, reverse=True), *sorted(rest, key=score, reverse=True)]
    return tuple(replace(one, rank=place) for place, one in enumerate(listed[:limit], 1))


def _may_tell(one: SearchResult, name: str | None) -> bool:
    """Whether a result may tell of another time than its own: it is kept, has to do with it, no time was stated. Pure.

    What is so may not: it was not known to be so then. Nor may what tells nothing of the attribute that is asked for.
    """
    memory = one.memory
    if not one.derived or memory.valid_from_stated or kind_of(memory.memory_type) != "episodic":
        return False
    return relevance_of(one) >= WEAK and (name is None or may_tell(memory, name))
