"""What a chunk of a document says by rules alone: its sentences that demand, forbid, decide or tell how, as they stand.

A document speaks for nobody, so nothing is put into the third person and nobody's slot is filled. Its dates are those
of the document: what it calls "last week" begins no earlier than the document itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engram.derivation.proposals import Proposed
from engram.longinput.kinds import MEMORY_TYPE_OF, kind_of
from engram.subjects import sentence_spans
from engram.values import Event

MOST_FACTS: Final = 4  # of a chunk
LEAST_WORDS: Final = 4
MOST_CHARACTERS: Final = 1_000
TELLING: Final = ("legal_clause", "requirement", "constraint", "decision")


def most_facts(event: Event) -> int | None:
    """How many facts may be made of an event: of a chunk so many as were asked for, of others as many as there are."""
    asked = event.payload.get("most_facts") if is_chunk(event) else None
    return asked if isinstance(asked, int) else None


def is_chunk(event: Event) -> bool:
    """Whether an event is a chunk of a document."""
    return event.event_type == "artifact" and isinstance(event.payload.get("chunk"), int)


def sentences(event: Event, content: str) -> Iterator[Proposed]:
    """The telling sentences of a chunk, in order, each with its exact characters."""
    most = min(MOST_FACTS, MOST_FACTS if (asked := most_facts(event)) is None else asked)
    found = 0
    for start, end in sentence_spans(content):
        said = " ".join(content[start:end].split())
        kind = kind_of(said)
        if found == most:
            return
        if kind not in TELLING or len(said.split()) < LEAST_WORDS or end - start > MOST_CHARACTERS:
            continue
        found += 1
        yield Proposed(said, start, end, memory_type=MEMORY_TYPE_OF[kind])
