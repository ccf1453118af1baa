"""Beyond a window: what was said at another time than the one a question names may still tell of that time. Pure.

"What did we see on the trip last year?" is answered by what is said of the trip today. So the evidence goes on, where
it has places left, with what a search without the window found: it answers nothing, and no time was stated of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from engram import attributes, text
from engram.intent import Reading
from engram.memories import Moment
from engram.recall.answers import may_tell
from engram.recall.results import WEAK, relevance_of
from engram.subjects import plain
from engram.values import Intent, Memory, SearchResult, SearchResults, kind_of

ANOTHER_TIME: Final = "said at another time"
INTENTS: Final[tuple[Intent, ...]] = ("current", "event", "historical")  # the others are told of exactly what is named
NAMED: Final = 0.2  # what the words of the time add to the relevance of what holds all of them
LOOKED_AT: Final = 50  # results of the search without the window


def goes_on(reading: Reading, moment: Moment, evidence: Sequence[SearchResult], limit: int) -> bool:
    """Whether the evidence has places left, and the window of the question is but a preference. Pure.

    It is a bound where all there was in it is asked for, or how things came one after the other.
    """
    if reading.window is None or moment.as_of is not None or reading.intent not in INTENTS or not reading.topic:
        return False
    return len(evidence) < limit or not all(map(_has_to_do, evidence))


def gone_on(
    evidence: Sequence[SearchResult], anytime: SearchResults, reading: Reading, limit: int
) -> tuple[SearchResult, ...]:
    """The evidence of a window, then what was said at another time, labelled so; up to the limit. Pure.

    `anytime` is what is current of a search without the window. What is evidence for its time alone comes last.
    """
    known, named = {one.memory.memory_id for one in evidence}, _words_of_time(reading)
    name = attributes.asked(plain(reading.question))
    other = [one for one in anytime if one.memory.memory_id not in known and _may_tell(one, name)]
    other.sort(key=lambda one: relevance_of(one) + NAMED * _share(named, one.memory), reverse=True)
    listed = (
        *(one for one in evidence if _has_to_do(one)),
        *(replace(one, labels=(*one.labels, ANOTHER_TIME)) for one in other),
        *(one for one in evidence if not _has_to_do(one)),
    )
    return tuple(replace(one, rank=place) for place, one in enumerate(listed[:limit], 1))


def _has_to_do(one: SearchResult) -> bool:
    return relevance_of(one) >= WEAK


def _words_of_time(reading: Reading) -> frozenset[str]:
    """The words of a question that its topic has not: among them are those of its time. Pure."""
    return frozenset(text.words(reading.question)) - frozenset(text.words(reading.topic)) - text.STOP_WORDS


def _share(named: frozenset[str], memory: Memory) -> float:
    return len(named.intersection(text.words(memory.fact))) / len(named) if named else 0.0


def _may_tell(one: SearchResult, name: str | None) -> bool:
    """Whether a result may tell of another time than its own: it is kept, has to do with it, no time was stated. Pure.

    What is so may not: it was not known to be so then. Nor may what tells nothing of the attribute that is asked for.
    """
    memory = one.memory
    if not one.derived or memory.valid_from_stated or kind_of(memory.memory_type) != "episodic":
        return False
    return _has_to_do(one) and (name is None or may_tell(memory, name))
