"""Passages: what a model is given to read of long inputs, beside memories and within one budget. Pure.

Chunks that stand next to each other are one passage. A passage is printed whole or not at all, with its marks, its
characters and its heading, and what Engram cannot vouch for between the two marks of a data block. Relative dates of a
document are explained below it by its date; the text itself stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from engram import context, windows
from engram.counting import Counter
from engram.values import ContextBlock, ContextSection, Memory, Trust, trust_rank

SOURCES: Final = "Source passages"
MEMORY_SHARE: Final = 0.45
MOST_NOTES: Final = 4  # dates explained below a passage
MOST_OF_TITLE: Final = 120
_RELATIVE: Final = re.compile(
    r"\b(?:yesterday|tomorrow|(?:last|next|this|past) "
    r"(?:night|week(?:end)?|month|quarter|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"|\w+ (?:days?|weeks?|months?|years?) ago|in \w+ (?:days?|weeks?|months?|years?))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Source:
    """A chunk that was found, as its memory keeps it."""

    memory: Memory
    document: str
    index: int
    start: int
    end: int
    heading: str | None

    @classmethod
    def of(cls, memory: Memory) -> Source:
        """The chunk of a memory of category `source_chunk`."""
        kept = memory.metadata
        return cls(memory, kept["document"], kept["chunk"], kept["char_start"], kept["char_end"], kept["heading"])

    @property
    def quoted(self) -> str:
        """Its text, which stands without a gap before that of the next."""
        return self.memory.fact


@dataclass(frozen=True, slots=True)
class Paper:
    """A document that passages come of: its title, length and number of chunks, and its date."""

    document: str
    title: str
    chars: int
    chunks: int
    occurred_at: datetime
    trust: Trust


@dataclass(frozen=True, slots=True)
class Passage:
    """Chunks of one document that stand next to each other, in order; `rank` is that of the best of them."""

    sources: tuple[Source, ...]
    rank: int

    @property
    def trust(self) -> Trust:
        """The trust of its document."""
        return max((one.memory.trust for one in self.sources), key=trust_rank)


def joined(found: Iterable[Source]) -> list[Passage]:
    """The chunks found, best first, as passages: neighbours of a document are one."""
    passages: list[Passage] = []
    for rank, source in enumerate(found):
        near = [one for one in passages if _touches(one, source)]
        passages = [one for one in passages if one not in near]
        several = (source, *(other for one in near for other in one.sources))
        ordered = tuple(sorted(several, key=lambda one: one.index))
        passages.append(Passage(ordered, min([rank, *(one.rank for one in near)])))
    return sorted(passages, key=lambda one: one.rank)


def _touches(passage: Passage, source: Source) -> bool:
    first, last = passage.sources[0], passage.sources[-1]
    return first.document == source.document and source.index in (first.index - 1, last.index + 1)


def pack(
    block: ContextBlock, found: Sequence[Source], papers: Mapping[str, Paper], *, max_tokens: int, count: Counter,
    key: bytes, min_trust: Trust = "web",
) -> tuple[ContextBlock, tuple[str, ...]]:  # fmt: skip
    """The block with as many passages as the rest of the budget holds, best first, and the chunks left out.

    A chunk that does not fit is left out, and the next is tried.
    """
    worst = trust_rank(min_trust)
    sources = [one for one in found if trust_rank(one.memory.trust) <= worst and context.is_printable(one.memory)]
    marks = context.marks_of([("evt", one.memory.event_id) for one in sources])
    marks = {item_id: mark for item_id, mark in marks.items() if mark not in block.citations}
    printer = _Printer(block, papers, marks, context.delimiter(_said(sources, papers), key))
    kept: list[Source] = []
    for source in sources:
        trial = [*kept, source]
        if source.memory.event_id in marks and count(printer.whole(trial)) <= max_tokens:
            kept = trial
    there = {one.memory.memory_id for one in kept}
    left_out = tuple(one.memory.memory_id for one in found if one.memory.memory_id not in there)
    if not kept:
        return block, left_out
    shown = printer.whole(kept)
    own = printer.section(kept)
    section = ContextSection(
        name=SOURCES, text=own, tokens=count(own), budget=max(0, max_tokens - block.tokens),
        item_ids=tuple(one.memory.event_id for one in kept), omitted_ids=left_out,
    )  # fmt: skip
    return (
        replace(
            block, text=shown, tokens=count(shown), sections=(*block.sections, section),
            citations={**block.citations, **{marks[one.memory.event_id]: one.memory.event_id for one in kept}},
            max_trust=max((block.max_trust, *(one.memory.trust for one in kept)), key=trust_rank),
        ),
        left_out,
    )  # fmt: skip


def _said(sources: Sequence[Source], papers: Mapping[str, Paper]) -> Iterator[str]:
    yield from (f"{paper.document}\x00{paper.title}" for paper in papers.values())
    yield from (f"{one.memory.memory_id}\x00{one.heading}\x00{one.quoted}" for one in sources)


@dataclass(frozen=True, slots=True)
class _Printer:
    block: ContextBlock
    papers: Mapping[str, Paper]
    marks: Mapping[str, str]
    delimiter: str

    def whole(self, kept: Sequence[Source]) -> str:
        """The text of the block with these chunks."""
        return "\n\n".join(part for part in (self.block.text, self.section(kept)) if part)

    def section(self, kept: Sequence[Source]) -> str:
        """The passages of these chunks, best first; those of what Engram cannot vouch for as data."""
        vouched = [one for one in kept if trust_rank(one.memory.trust) <= context.AGENT]
        others = [one for one in kept if one not in vouched]
        parts = [f"## {SOURCES}", *map(_indented, self._lines(vouched))]
        if others:
            parts.append(context.fence(self.delimiter, self._lines(others)))
        return "\n".join(parts)

    def _lines(self, kept: Sequence[Source]) -> list[str]:
        passages = joined(kept)
        documents = dict.fromkeys(source.document for one in passages for source in one.sources)
        manifests = [self._manifest(self.papers[one]) for one in documents if one in self.papers]
        return [*manifests, *map(self._passage, passages)]

    def _manifest(self, paper: Paper) -> str:
        title = in_one_line(paper.title)[:MOST_OF_TITLE] or "untitled"
        return f"document {title} ({paper.occurred_at:%Y-%m-%d}): {paper.chars} characters, {paper.chunks} chunks"

    def _passage(self, passage: Passage) -> str:
        first, last = passage.sources[0], passage.sources[-1]
        heading = f", under {in_one_line(first.heading)}" if first.heading else ""
        marks = " ".join(f"[{self.marks[one.memory.event_id]}]" for one in passage.sources)
        quoted = "".join(one.quoted for one in passage.sources)
        said = [f"{marks} characters {first.start}-{last.end}{heading}", context.spelled(quoted)]
        paper = self.papers.get(first.document)
        if paper is not None:
            said += (f"(note: {note})" for note in dates_in(quoted, paper.occurred_at))
        return "\n".join(said)


def in_one_line(said: str) -> str:
    """A name out of a document, with all that is invisible spelled out."""
    return " ".join(context.spelled(said).split())


def _indented(line: str) -> str:
    return "    " + line.replace("\n", "\n    | ")


def dates_in(said: str, at: datetime) -> list[str]:
    """What the relative dates of a text mean on the day it was written."""
    notes: dict[str, str] = {}
    for found in _RELATIVE.finditer(said):
        words = " ".join(found.group().split())
        start, end = windows.find(words, now=at.astimezone(UTC)).window or (None, None)
        if start is None or end is None:
            continue
        first, last = f"{start:%Y-%m-%d}", f"{end - timedelta(microseconds=1):%Y-%m-%d}"
        days = first if first == last else f"{first} to {last}"
        notes.setdefault(words.casefold(), f"\u201c{words}\u201d as said on {at:%Y-%m-%d} is {days}")
        if len(notes) == MOST_NOTES:
            break
    return list(notes.values())
