"""The verbatim deriver: what an event says as episodic evidence, in the speaker's own words."""

from __future__ import annotations

from typing import Final

from engram import served, sessions
from engram.derivation import documents
from engram.derivation.proposals import MAX_FACT, Proposed, word_end
from engram.values import Event

NAME: Final = "verbatim"
VERSION: Final = 2
CATEGORY: Final = "verbatim"
NO_MEMORY: Final = "#nomem"
MOST_STRETCHES: Final = 12


def derive(event: Event, **_: object) -> tuple[Proposed, ...]:
    """The event's own words as one memory; none of an empty, erased or `#nomem` one, or one that only switches.

    What Engram itself printed is nobody's words: those around it are as many memories as there are stretches of them.
    """
    content = event.content or ""
    stretches = [(0, len(content))] if documents.is_chunk(event) else served.own(content)
    said = "\n".join(content[start:end] for start, end in stretches)
    if NO_MEMORY in said.casefold() or (event.role == "user" and not sessions.beside_switches(said)):
        return ()
    found = (_stretch(content, *one, ordinal) for ordinal, one in enumerate(stretches[:MOST_STRETCHES]))
    return tuple(one for one in found if one is not None)


def _stretch(content: str, start: int, end: int, ordinal: int) -> Proposed | None:
    """The words between two places without the spaces around them, as many as a fact holds."""
    words = content[start:end]
    start, end = start + len(words) - len(words.lstrip()), end - len(words) + len(words.rstrip())
    if end - start > MAX_FACT:
        end = word_end(content, start, start + MAX_FACT)
    if end <= start:
        return None
    return Proposed(content[start:end], start, end, ordinal=ordinal, memory_type="episodic", category=CATEGORY)
