"""What a chunk of a document says by rules alone: its sentences that demand, forbid, decide or tell how, as they stand.

A document speaks for nobody, so nothing is put into the third person and nobody's slot is filled. Its dates are those
of the document: what it calls "last week" begins no earlier than the document itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engram.derivation.proposals import Proposed
from engram.english.subjects import sentence_spans
from engram.longinput import headings
from engram.longinput.kinds import MEMORY_TYPE_OF, kind_of
from engram.policies.classify import Place
from engram.regex import regex
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


def place_of(event: Event, start: int) -> Place | None:
    """Where in its document stands what begins at a character of a chunk; None for what is no chunk."""
    if not is_chunk(event):
        return None
    title, heading = event.payload.get("title"), event.payload.get("heading")
    named = event.payload.get("section")
    if "section" not in event.payload and isinstance(heading, str):  # recorded before it was kept
        named = headings.section_of(headings.under((), heading))
    document = title if isinstance(title, str) and title else event.stream_id
    return Place(document, _within(named if isinstance(named, str) else None, event.content or "", start))


def _within(section: str | None, content: str, start: int) -> str | None:
    """The section of a chunk and, in it, the last numbered line at or above a place: "5", "5(a)"."""
    line, named = None, False
    for found in _NUMBERED.finditer(content, 0, start + _LONGEST_NUMBER):
        if found.start() > start:
            break
        line, named = found["number"].lower(), found["word"] is not None
    if line is None or (section is not None and section.split()[-1] == line):
        return section
    if section is None:
        return line if named else None
    return f"{section}({line})"


_NUMBERED: Final = regex(
    r"^[ \t]{0,8}(?:[-*+][ \t])?(?:(?P<word>Section|SECTION|Article|ARTICLE|Clause|CLAUSE|§)[ \t]?|\(?)"
    r"(?P<number>\d{1,4}(?:\.\d{1,4}){0,5}|[ivxlc]{1,8}|[IVXLC]{1,8}|[a-z])(?:[.):](?=\s)|(?(word)(?=\s)|(?!)))",
    re.MULTILINE,
)
_LONGEST_NUMBER: Final = 60
"""A line that begins with a number: of a section that is no heading by its form, or of an item of a list."""


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
