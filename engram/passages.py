"""Passages: what a model is given to read of long inputs, beside memories and within one budget. Pure.

Chunks that stand next to each other are one passage. A passage is printed whole or not at all, with its marks, its
characters and its heading, and what Engram cannot vouch for in the data block, with the memories of which that is true.
Relative dates of a document are explained below it by its date; the text itself stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from engram import context
from engram.context import Layout, Material
from engram.counting import Counter
from engram.english import windows
from engram.values import (
    DATA_SECTION,
    ContextBlock,
    ContextItem,
    ContextSection,
    Memory,
    Trust,
    trust_rank,
)

SOURCES: Final = "Source passages"
MEMORIES: Final = Layout({context.RELEVANT: 1.0}, (context.RELEVANT,))
MEMORY_SHARE: Final = 0.45
SLACK: Final = 8  # tokens by which memories may cost more beside passages than alone
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
    material: Material, found: Sequence[Source], papers: Mapping[str, Paper], *, max_tokens: int, count: Counter,
    key: bytes, min_trust: Trust = "web",
) -> ContextBlock:  # fmt: skip
    """The block of memories and of as many passages as the rest of the budget holds, best first.

    Memories have their share, or what the critical ones need where all of these fit; what passages do not use flows
    back to them. A chunk that does not fit is left out, and the next is tried.
    """

    def remembered(material: Material, most: int) -> ContextBlock:
        return context.pack(
            material, max_tokens=most, layout=MEMORIES, critical_share=1.0, count=count, key=key, min_trust=min_trust,
            part_of=max_tokens,
        )  # fmt: skip

    def printer(block: ContextBlock) -> _Printer:
        free = {item_id: mark for item_id, mark in marks.items() if mark not in block.citations}
        return _Printer(block, papers, free, context.delimiter([block.text, *_said(sources, papers)], key))

    refused = _refused(found, min_trust)
    sources = [one for one in found if one.memory.memory_id not in refused]
    marks = context.marks_of([("evt", one.memory.event_id) for one in sources])
    share = max_tokens
    if sources:
        pinned = remembered(replace(material, relevant=()), max_tokens)
        share = max(int(MEMORY_SHARE * max_tokens), pinned.tokens if pinned.complete else 0)
    chosen = printer(remembered(material, share))
    kept: list[Source] = []
    for source in sources:
        trial = [*kept, source]
        if chosen.can_cite(trial) and count(chosen.whole(trial)) <= max_tokens:
            kept = trial
    rest = max_tokens - (count(chosen.whole(kept)) - chosen.block.tokens)
    for most in (rest, rest - SLACK) if chosen.block.trimmed else ():
        wider = printer(remembered(material, most)) if most > share else chosen
        if wider.can_cite(kept) and count(wider.whole(kept)) <= max_tokens:
            chosen = wider
            break
    left_out = {one.memory.memory_id: context.NO_ROOM for one in sources if one not in kept} | refused
    return _printed(chosen, found, kept, left_out, max_tokens, count)


def _refused(found: Iterable[Source], min_trust: Trust) -> dict[str, str]:
    """Why some chunks may not be printed, by the id of each."""
    refused = {}
    for one in found:
        if not context.is_printable(one.memory):
            refused[one.memory.memory_id] = context.NOT_CURRENT
        elif trust_rank(one.memory.trust) > trust_rank(min_trust):
            refused[one.memory.memory_id] = context.DISTRUSTED
    return refused


def _printed(
    printer: _Printer, found: Sequence[Source], kept: Sequence[Source], left_out: Mapping[str, str], max_tokens: int,
    count: Counter,
) -> ContextBlock:  # fmt: skip
    """The block with the chunks kept: its sections, items and marks, and why the others are left out."""
    block = replace(printer.block, max_tokens=max_tokens)
    if not found:
        return block
    shown, own, data = printer.whole(kept), printer.section(kept), printer.data(kept)
    items = sorted((*block.items, *map(printer.item, printer.in_order(kept))), key=lambda item: item.fenced)
    fresh = [item for item in items if item.section == SOURCES]
    sections = [one for one in block.sections if one.name != DATA_SECTION]
    sections.append(
        ContextSection(
            name=SOURCES, text=own, tokens=count(own), budget=max(0, max_tokens - block.tokens),
            item_ids=tuple(item.item_id for item in fresh if not item.fenced), omitted_ids=tuple(left_out),
        )
    )  # fmt: skip
    if data:
        fenced = tuple(item.item_id for item in items if item.fenced and item.item_id)
        sections.append(ContextSection(DATA_SECTION, data, count(data), count(data), fenced))
    return replace(
        block, text=shown, tokens=count(shown), sections=tuple(sections), items=tuple(items),
        citations={**block.citations, **{item.mark: item.item_id for item in fresh}},
        max_trust=max((block.max_trust, *(item.trust for item in fresh)), key=trust_rank),
        trimmed={**block.trimmed, **left_out},
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

    def can_cite(self, kept: Sequence[Source]) -> bool:
        """Whether each of these chunks has a mark that nothing else in the block has."""
        return all(one.memory.event_id in self.marks for one in kept)

    def whole(self, kept: Sequence[Source]) -> str:
        """The text of the block with these chunks, all that Engram cannot vouch for in one block of data at its end."""
        if not kept:
            return self.block.text
        own = self.block.text.removesuffix(self._fenced()).rstrip("\n")
        return "\n\n".join(part for part in (own, self.section(kept), self.data(kept)) if part)

    def section(self, kept: Sequence[Source]) -> str:
        """The passages of what Engram vouches for, best first."""
        vouched = [one for one in kept if not _is_fenced(one)]
        return "\n".join([f"## {SOURCES}", *map(context.indented, self._lines(vouched))]) if vouched else ""

    def data(self, kept: Sequence[Source]) -> str:
        """The memories and passages that Engram cannot vouch for, as one block of data."""
        others = [one for one in kept if _is_fenced(one)]
        if not others:
            return self._fenced()
        begin, end = context.fence(self.delimiter, ()).split("\n")
        return "\n".join([begin, *self._fenced().split("\n")[1:-1], context.inside(self._lines(others)), end])

    def in_order(self, kept: Sequence[Source]) -> list[Source]:
        """These chunks as they are printed."""
        ordered = (source for passage in joined(kept) for source in passage.sources)
        return sorted(ordered, key=_is_fenced)

    def item(self, source: Source) -> ContextItem:
        """A chunk and where it comes from: its document, and the characters of its event."""
        memory, paper = source.memory, self.papers.get(source.document)
        return ContextItem(
            mark=self.marks[memory.event_id], item_id=memory.event_id, section=SOURCES, trust=memory.trust,
            at=memory.valid_from if paper is None else paper.occurred_at, source=paper.title if paper else "",
            fenced=_is_fenced(source), citations=memory.citations,
        )  # fmt: skip

    def _fenced(self) -> str:
        """The block of data that the memories have."""
        parts = (one.text for one in self.block.sections if one.name == DATA_SECTION)
        return next(parts, "") if self.block.text else ""

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


def _is_fenced(source: Source) -> bool:
    return trust_rank(source.memory.trust) > context.AGENT


def in_one_line(said: str) -> str:
    """A name out of a document, with all that is invisible spelled out."""
    return " ".join(context.spelled(said).split())


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
