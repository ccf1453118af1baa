"""A text of any length cut into chunks that cover it: streaming, in a bounded window, the same however it arrives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from engram import chunking
from engram.errors import InvalidInput
from engram.longinput import cuts, outlines
from engram.longinput.cuts import Size
from engram.longinput.headings import section_of
from engram.longinput.kinds import ChunkKind, kind_of
from engram.longinput.media import MEDIA, Media
from engram.longinput.outlines import Before, Section
from engram.text import count_tokens, quote_hash

__all__ = ["MEDIA", "MOST_CHUNK_TOKENS", "Media", "Piece", "split"]

MOST_CHUNK_TOKENS: Final = 2_048
"""A chunk is a fact, and a fact has no more characters than four times this."""
_LEAST_CHARACTERS: Final = 400
_CHARACTERS_A_TOKEN: Final = 4
_LEAST_WINDOW: Final = 65_536
_CHUNKS_A_WINDOW: Final = 16
_REMEMBERED: Final = 400

_OUTLINES: Final[dict[str, outlines.Outline]] = {
    "text": outlines.of_prose,
    "markdown": outlines.of_markdown,
    "code": outlines.of_code,
    "diff": outlines.of_diff,
    "jsonl": outlines.of_lines,
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk of a long text: where it stands, in code points of the whole text, and what it says."""

    index: int
    start: int
    end: int
    text: str
    heading: str | None
    kind: ChunkKind
    tokens: int
    section: str | None = None
    """The numbers of the headings it stands under."""

    @property
    def quote_hash(self) -> str:
        """The hash of what it says, by which it is cited."""
        return quote_hash(self.text)


def split(
    parts: Iterable[str],
    *,
    media: Media = "text",
    max_chunk_tokens: int = 700,
    count: Callable[[str], int] = count_tokens,
) -> Iterator[Piece]:
    """Cut a long text into chunks that cover it without gaps: `source[start:end] == text` for each.

    A chunk holds at most `max(400, 4 * max_chunk_tokens)` characters and a quarter as many tokens, as `count` counts
    them. The chunks do not depend on how the text is cut into `parts`, and no more of it is held than a window of some
    hundred thousand characters. InvalidInput for another media, or tokens that are not from 1 to 2,048.
    """
    if media not in MEDIA:
        raise InvalidInput("media", " or ".join(MEDIA), "another")
    if isinstance(max_chunk_tokens, bool) or not isinstance(max_chunk_tokens, int):
        raise InvalidInput("max_chunk_tokens", "a whole number", type(max_chunk_tokens).__name__)
    if not 1 <= max_chunk_tokens <= MOST_CHUNK_TOKENS:
        raise InvalidInput("max_chunk_tokens", f"1 to {MOST_CHUNK_TOKENS}", "a number out of range")
    characters = max(_LEAST_CHARACTERS, _CHARACTERS_A_TOKEN * max_chunk_tokens)
    return _pieces(parts, media, Size(characters, characters // _CHARACTERS_A_TOKEN, count))


class _Window:
    """The next characters of a text that arrives in parts, at most `size` of them at a time."""

    def __init__(self, parts: Iterable[str], size: int) -> None:
        self._slices = (part[at : at + size] for part in parts for at in range(0, len(part), size))
        self._size = size
        self._held = ""

    def read(self) -> tuple[str, bool]:
        """The text from here on, and whether it goes on after that: the same however the parts are cut."""
        if len(self._held) <= self._size:
            held, length = [self._held], len(self._held)
            for piece in self._slices:
                held.append(piece)
                length += len(piece)
                if length > self._size:
                    break
            self._held = "".join(held)
        return self._held[: self._size], len(self._held) > self._size

    def skip(self, characters: int) -> None:
        """Go on behind so many characters."""
        self._held = self._held[characters:]


def _pieces(parts: Iterable[str], media: Media, size: Size) -> Iterator[Piece]:
    window = _Window(parts, max(_LEAST_WINDOW, _CHUNKS_A_WINDOW * size.characters))
    before, start, index, goes_on = Before(), 0, 0, True
    while goes_on:
        text, goes_on = window.read()
        # A byte order mark hides no heading.
        seen = f"\n{text[1:]}" if start == 0 and text.startswith("\ufeff") else text
        sections = _OUTLINES[media](seen, before, size.characters)
        if goes_on and len(sections) > 1:
            sections.pop()  # it may be longer than what is seen of it: the next window begins with it
            goes_on_within = False
        else:
            goes_on_within = goes_on
        taken = 0
        for section in sections:
            ends = _ends(text, section, media, size)
            if goes_on_within:
                ends.pop()
            for end in ends:
                said = text[taken:end]
                kind = kind_of(said, section.heading, media)
                number = section_of(section.path)
                yield Piece(index, start + taken, start + end, said, section.heading, kind, size.count(said), number)
                index, taken = index + 1, end
        if taken:
            before = _known(text, taken, before, sections)
            window.skip(taken)
            start += taken


def _known(text: str, taken: int, before: Before, sections: list[Section]) -> Before:
    """What the next window is told of the text before it."""
    said = (before.said + text[max(0, taken - _REMEMBERED) : taken])[-_REMEMBERED:]
    fences = sections[-1].fences or []
    fence = next((mark for start, end, mark in fences if start < taken < end), None)
    return Before(said, sections[-1].heading, fence, sections[-1].path)


def _ends(text: str, section: Section, media: Media, size: Size) -> list[int]:
    """Where the chunks of a section end."""
    start, whole = section.start, text[section.start : section.end]
    if size.fits(whole):
        return [section.end] if whole else []
    if media not in ("text", "markdown"):
        return [start + end for end in cuts.ends_of(whole, size, cuts.LINES)]
    ends: list[int] = []
    at = start
    for fence_start, fence_end, _ in section.fences or []:
        _extend(ends, text, at, max(at, fence_start), size, prose=True)
        _extend(ends, text, max(at, fence_start), fence_end, size, prose=False)
        at = fence_end
    _extend(ends, text, at, section.end, size, prose=True)
    ends = _packed(text, start, ends, size)
    lead = section.start + section.lead
    if ends[0] <= lead < start + size.characters // 2 and len(ends) > 1:
        first = start + cuts.end_of(whole, 0, size, cuts.PROSE)
        later: list[int] = []
        _extend(later, text, first, section.end, size, prose=True)
        ends = _packed(text, start, [first, *later], size)
    return ends


def _extend(ends: list[int], text: str, start: int, end: int, size: Size, *, prose: bool) -> None:
    """Add the ends of the chunks between two places: Chonkie's for prose, where they hold."""
    if start == end:
        return
    said = text[start:end]
    if size.fits(said):
        ends.append(end)
        return
    found = chunking.ends_of(said, size.tokens, size.weight) if prose else None
    if found is None:
        ends.extend(start + place for place in cuts.ends_of(said, size, cuts.PROSE if prose else cuts.LINES))
        return
    at = 0
    for place in found:
        place = cuts.whole(said, place, at + 1)
        if place <= at:
            continue
        if size.fits(said[at:place]):
            ends.append(start + place)
        else:
            within = cuts.ends_of(said[at:place], size, cuts.PROSE)
            ends.extend(start + at + part for part in within)
        at = place


def _packed(text: str, start: int, ends: list[int], size: Size) -> list[int]:
    """The chunks with small neighbours put together."""
    packed: list[int] = []
    for end in ends:
        if packed and size.fits(text[packed[-2] if len(packed) > 1 else start : end]):
            packed[-1] = end
        else:
            packed.append(end)
    return packed
