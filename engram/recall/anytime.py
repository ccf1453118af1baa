"""Any time: what is known of another time, where no search of the one that is asked for found anything.

What holds, holds until something follows it, and nobody says it again: "What was my role in March?" is answered by what
was told in January. The question may well share more words with what followed; from there the lineage leads back.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, tzinfo
from typing import Final

from engram.database import Connection
from engram.filters import Filter
from engram.intent import Reading
from engram.memories import Moment
from engram.recall import anew, telling
from engram.recall.answers import (
    NEAR_TOP,
    VALUES,
    dated_line,
    filled,
    held_in,
    lineage_of,
    may_be_told,
    of_a_time,
)
from engram.recall.finding import answers_as_words
from engram.recall.question import Looked
from engram.recall.results import relevance_of
from engram.values import Intent, Lineage, Memory, RecallAnswer, SearchResults, Window

INTENTS: Final[tuple[Intent, ...]] = ("current", "event", "historical")  # the others ask how things followed each other
LINEAGES: Final = 3  # of the nearest memories, in which a value of that time is looked for


def nearest(anytime: SearchResults, question: str) -> list[Memory]:
    """What of any time is as near to a question as what answers it best. Pure."""
    strong = telling.strong(anytime, question, 0.0)
    return [one.memory for one in strong if relevance_of(one) >= NEAR_TOP * relevance_of(strong[0])]


def held(
    conn: Connection,
    looked: Looked,
    reading: Reading,
    anytime: SearchResults,
    near: Sequence[Memory],
    moment: Moment,
    empty: RecallAnswer,
    *,
    words: bool = False,
    only: Filter | None = None,
    tz: tzinfo = UTC,
) -> RecallAnswer:
    """What held at the time that is asked for, by what is `nearest` of any; where nothing is known to have, `empty`.

    With `words` somebody's words that tell how things are hold on as well, but for those of which a fact has ended.
    """
    if reading.intent not in INTENTS:
        return empty
    window = _window(reading, moment)
    for memory in near[:LINEAGES]:
        if not answers_as_words(memory):
            line = lineage_of(conn, looked, memory, only)
            values = held_in(line, window)
            told = of_a_time(values, memory)
            if told:
                lines = [dated_line(one, tz) for one in told[::-1]] if len(told) > 1 else [told[0].fact]
                return filled(empty, line, values, told, "\n".join(lines), ())
    may_be_words = words and reading.intent != "event"  # what happened at a time is not told by what was said before it
    said = _said_before(near, anytime, window, only) if may_be_words else None
    if said is None:
        return empty
    line = Lineage(said.lineage_id, None, said, (said,))
    return filled(empty, line, (said,), (said,), dated_line(said, tz), ("told is what was said before that time",))


def unknown(
    conn: Connection,
    looked: Looked,
    reading: Reading,
    near: Sequence[Memory],
    moment: Moment,
    *,
    only: Filter | None = None,
) -> list[str]:
    """What to say where nothing is known of the time that was asked for: the nearest time something is known of."""
    asked = _window(reading, moment)
    said = f"nothing is known {_as_words(reading.window, moment)}"
    if not near:
        return [f"{said}, nor of any other time"]
    values = [*near, *(one for one in lineage_of(conn, looked, near[0], only).revisions if one.status in VALUES)]
    closest = min(values, key=lambda one: (_away(one, asked), one.valid_from, one.memory_id))
    until = "on" if closest.valid_to is None else f"to {closest.valid_to:%Y-%m-%d}"
    return [f"{said}: the nearest that is known is from {closest.valid_from:%Y-%m-%d} {until} ({closest.short_id})"]


def _window(reading: Reading, moment: Moment) -> Window:
    return reading.window or (moment.as_of, moment.as_of)


def _said_before(
    near: Sequence[Memory], anytime: SearchResults, window: Window, only: Filter | None
) -> Memory | None:  # fmt: skip
    """The last words before the end of a window that tell how things are, and of which no fact has ended. Pure."""
    told = {one.memory.event_id for one in anytime if one.memory.valid_to is not None}
    said = [
        one for one in near
        if telling.is_as_said(one) and one.event_id not in told and may_be_told(one, only)
        and (window[1] is None or one.valid_from < window[1]) and anew.tells_what_is_so(one.fact)
    ]  # fmt: skip
    return max(said, key=lambda one: (one.valid_from, one.memory_id), default=None)


def _as_words(window: Window | None, moment: Moment) -> str:
    if window is None:
        return f"as of {moment.as_of:%Y-%m-%d}"
    start, end = window
    since = "" if start is None else f"from {start:%Y-%m-%d %H:%M} on" if end is None else f"of {start:%Y-%m-%d %H:%M}"
    return f"{since} {'to' if start else 'before'} {end:%Y-%m-%d %H:%M}".strip() if end is not None else since


def _away(memory: Memory, asked: Window) -> float:
    """The seconds between a memory's validity and a window. Pure."""
    start, end = asked
    later = 0.0 if end is None else (memory.valid_from - end).total_seconds()
    earlier = 0.0 if start is None or memory.valid_to is None else (start - memory.valid_to).total_seconds()
    return max(later, earlier, 0.0)


__all__ = ["INTENTS", "held", "nearest", "unknown"]
