"""The verbatim deriver: one episodic piece of evidence an event, in the speaker's own words."""

from __future__ import annotations

from typing import Final

from engram.derivation.proposals import Proposed
from engram.values import Event

NAME: Final = "verbatim"
VERSION: Final = 1
CATEGORY: Final = "verbatim"
MAX_FACT: Final = 8192
NO_MEMORY: Final = "#nomem"


def derive(event: Event, *, user_name: str | None = None) -> tuple[Proposed, ...]:  # noqa: ARG001
    """The event's own words as one memory; nothing for an empty, erased or `#nomem` event."""
    content = event.content
    if not content or NO_MEMORY in content.casefold():
        return ()
    start = len(content) - len(content.lstrip())
    end = len(content.rstrip())
    if end - start > MAX_FACT:
        end = _word_end(content, start, start + MAX_FACT)
    if end <= start:
        return ()
    return (Proposed(content[start:end], start, end, memory_type="episodic", category=CATEGORY),)


def _word_end(content: str, start: int, limit: int) -> int:
    """The last place not after `limit` where no word is cut, or `limit` where there is none near."""
    for place in range(limit, max(start, limit - 200), -1):
        if content[place].isspace():
            return len(content[:place].rstrip())
    return limit
