"""The verbatim deriver: one episodic piece of evidence an event, in the speaker's own words."""

from __future__ import annotations

from typing import Final

from engram import sessions
from engram.derivation.proposals import MAX_FACT, Proposed, word_end
from engram.values import Event

NAME: Final = "verbatim"
VERSION: Final = 1
CATEGORY: Final = "verbatim"
NO_MEMORY: Final = "#nomem"


def derive(event: Event, **_: object) -> tuple[Proposed, ...]:
    """The event's own words as one memory; none of an empty, erased or `#nomem` one, or one that only switches."""
    content = event.content
    if not content or NO_MEMORY in content.casefold():
        return ()
    if event.role == "user" and not sessions.beside_switches(content):
        return ()
    start = len(content) - len(content.lstrip())
    end = len(content.rstrip())
    if end - start > MAX_FACT:
        end = word_end(content, start, start + MAX_FACT)
    if end <= start:
        return ()
    return (Proposed(content[start:end], start, end, memory_type="episodic", category=CATEGORY),)
