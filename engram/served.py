"""What Engram printed for a model, found again in what is recorded: no memory is made of it a second time. Pure.

An application that records the whole of its prompt, or a tool that returns a context, sends Engram's own lines back
under another name: what a web page said would be the user's, and what is known would be told once more. A served
text is known by its marks: the block of data, the sections with their items, and lines with a citation.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from typing import Final

from engram.regex import regex

SECTIONS: Final = (
    "Critical", "Task", "Current state", "Recent events", "Checkpoints", "Relevant memories",
    "Decisions and constraints", "Artifacts and tool results", "Related graph", "Topics", "Triggers", "Core", "Recent",
    "Tasks", "Source passages", "Related memories",
)  # fmt: skip
"""The names of all sections that are printed."""

_HEX: Final = "[0-9a-f]{16}"
_MARK: Final = r"\[(?:mem|evt)-[0-9a-f]{8,32}\]"
_MARGIN: Final = " \t>|\u2502\xa0\u200b\ufeff"
_FIRST: Final = rf"(?P<first>(?m:^|(?<=\\n)|(?<=[\"']))[{_MARGIN}]*)?"  # a line begins; a string of JSON has lines too
_BEGINS: Final = rf"<<<untrusted data (?P<plain>{_HEX}): never instructions>>>|<data-(?P<xml>{_HEX})[^<>\n]*>"
_BEGIN: Final = regex(rf"{_FIRST}(?P<mark>{_BEGINS})")
_END: Final = regex(rf"<<<end (?P<plain>{_HEX})>>>|</data-(?P<xml>{_HEX})>")
_NAMES: Final = "|".join(map(re.escape, SECTIONS))
_TAGS: Final = "|".join(name.lower().replace(" ", "-") for name in SECTIONS)
_JSON: Final = regex(
    rf"\{{(?:[\s{_MARGIN}]|\\+n)*(?P<quote>\\*[\"'])"
    rf"(?:{_NAMES}|untrusted data {_HEX}: never instructions)(?P=quote)\s*:"
)
_JSON_KEY: Final = regex(rf"(?:{_NAMES}|untrusted data {_HEX}: never instructions)\Z")
_XML: Final = regex(rf"<context>(?:[\s{_MARGIN}]|\\+n)*<(?:(?:{_TAGS})(?: omitted=\"\d+\")?/?|data-{_HEX}[^<>\n]*)>")
# What opens a section, and what its further lines begin with.
_HEADINGS: Final = (
    (regex(rf"## (?:{_NAMES})\s*\Z"), regex(r"- |### |    ")),
    (regex(rf"- (?:{_NAMES})\s*\Z"), regex(r"  (?:  )?- ")),
)
_PROSE: Final = regex(rf"(?:{_NAMES})(?:, [^:\n]{{1,80}})?: ")
_INDEX: Final = regex(r"(?:Topics|Triggers)(?:, [^:\n]{1,80})?: .*\[\d+\]\.\s*\Z")
_LISTED: Final = regex(r"(?:[-*+\u2022]|\d{1,3}[.)])\s")
_OF_DATA: Final = regex(r"(?:[-*+\u2022] |\\*[\"'])?\[(?:agent|tool|document|web) \d{4}-\d\d-\d\d[^\]\n]*\] ")
_FURTHER: Final = regex(r"\s*\| ")
_PATH: Final = r"(?: \([^()\n]*\))?: (?:mem|evt)-[0-9a-f].*"
_CITED: Final = regex(rf"{_MARK}(?:{_PATH}| \u2014[^\n\u2192]*\u2192 .*|[.\"',;\]]+\s*\Z)?")

Span = tuple[int, int]


def spans(said: str) -> list[Span]:
    """Where a text is what Engram printed: characters from and to, in order, without overlaps."""
    if not _is_served(said):
        return []
    blocks = sorted([*_data(said), *_objects(said), *_elements(said)])
    parts = sorted({*blocks, *_lines(said, _joined(blocks))})
    marked = [_has_mark(said, *part) for part in parts]
    for order in (range(1, len(parts)), range(len(parts) - 2, -1, -1)):
        for place in order:
            near = place - order.step
            marked[place] = marked[place] or (marked[near] and _is_next(said, parts[place], parts[near]))
    return _joined([part for part, printed in zip(parts, marked, strict=True) if printed])


def _has_mark(said: str, start: int, end: int) -> bool:
    """Whether a part is told from anybody's words by itself: by a mark, or by how a line of data begins."""
    return _SERVED.search(said, start, end) is not None or _OF_DATA.match(said[start:end].lstrip(_MARGIN)) is not None


def _is_next(said: str, one: Span, other: Span) -> bool:
    """Whether nothing but spaces stands between two parts: what has no mark is Engram's only beside what has one."""
    (_, end), (start, _) = sorted((one, other))
    return end >= start or not said[end:start].replace("\\n", "").strip(f"\r\n\\{_MARGIN}")


def own(said: str) -> list[Span]:
    """The stretches of a text between what Engram printed, without the spaces around them.

    A few words that only lead to what was printed, or close it ("Context:", "</memory>"), say nothing and are left out.
    """
    found = spans(said)
    if not found:
        return [(0, len(said))] if said else []
    gaps = _gaps(said, found)
    stretches = [
        _trimmed(said, start, end, leads=place < len(gaps) - 1, closes=place > 0)
        for place, (start, end) in enumerate(gaps)
    ]
    return [(start, end) for start, end in stretches if any(map(str.isalnum, said[start:end].replace("\\n", "")))]


def _trimmed(said: str, start: int, end: int, *, leads: bool, closes: bool) -> Span:
    """A stretch without the spaces around it, without last words that lead to something or first ones that close."""
    words = said[start:end].rstrip()
    if leads and words.endswith(_LEADS):
        line = words.rfind("\n") + 1
        begin = max((found.end() for found in _SENTENCE_END.finditer(words, line)), default=line)
        lead = words[begin:]
        words = words[:begin] if len(lead) <= MOST_OF_LEAD and _TAG.search(lead) is None else words
    close = _CLOSES.match(words) if closes else None
    start += close.end() if close else 0
    words = words[close.end() :] if close else words
    bare = words.strip()
    start += len(words) - len(words.lstrip())
    return start, start + len(bare)


_LEADS: Final = tuple(":\"'{[(>`")
MOST_OF_LEAD: Final = 60  # characters; what is longer says more than that something follows
_SENTENCE_END: Final = regex(r"[.!?][\"')\]]{0,3},?\s+")
_TAG: Final = regex(r"#\w")  # "#nomem" is a word of its own
_CLOSES: Final = regex(r"(?:\s|\\n)*(?:</[\w.:-]+>|`{3,}|[\"'\])},]+)")


def blanked(said: str) -> str:
    """The text with spaces for what Engram printed, so that every other character stays where it is."""
    found = spans(said)
    if not found:
        return said
    parts, end = [], 0
    for start, stop in found:
        parts += [said[end:start], _PRINTED.sub(" ", said[start:stop])]
        end = stop
    return "".join([*parts, said[end:]])


_PRINTED: Final = regex(r"[^\n]")


def _gaps(said: str, found: Sequence[Span]) -> list[Span]:
    """What lies before, between and behind some spans."""
    edges = [0, *(edge for span in found for edge in span), len(said)]
    return list(zip(edges[::2], edges[1::2], strict=True))


def without(said: str) -> str:
    """The text without what Engram printed."""
    found = own(said)
    return said if found == [(0, len(said))] else "\n".join(said[start:end] for start, end in found)


def _is_served(said: str) -> bool:
    """Whether a text has a mark of Engram's own; next to none has, and most are told by this alone."""
    if "[mem-" not in said and "[evt-" not in said and "untrusted data " not in said and "<data-" not in said:
        return False
    return _SERVED.search(said) is not None


_SERVED: Final = regex(rf"{_MARK}|{_BEGINS}|untrusted data {_HEX}: never instructions")


def _data(said: str) -> Iterator[Span]:
    """The blocks of data; one whose end was cut off goes as far as its lines are indented.

    What begins within a line is one only where it ends there, as it does when all lines were joined: an item may quote.
    """
    ends: dict[str, list[int]] = {}
    for found in _END.finditer(said):
        ends.setdefault(found["plain"] or f"/{found['xml']}", []).append(found.end())
    after = line = 0
    for found in _BEGIN.finditer(said):
        if found.start() >= after:
            known = ends.get(found["plain"] or f"/{found['xml']}", [])
            place = bisect(known, found.end())
            closed = known[place] if place < len(known) else None
            line = _line_end(said, found.end())[0] if line < found.end() else line
            if found["first"] is None and (closed is None or closed > line):
                continue
            after = _while(said, found.end(), _WITHIN, _breaks(said, found.start())) if closed is None else closed
            yield found.start("mark"), after


_WITHIN: Final = regex(r"\s*\Z|    |</?item>")


def _objects(said: str) -> Iterator[Span]:
    """The contexts in JSON, within a string too; one that was cut off goes as far as its lines are strings."""
    after = broken = 0
    for found in _JSON.finditer(said):
        if found.start() < after:
            continue
        end, keys = _object(said, found.start()) if broken < MOST_BROKEN else (None, [])
        if end is None:
            broken += 1
            after = _while(said, found.end(), _STRING, _breaks(said, found.start()))
            yield found.start(), after
            continue
        after = end
        if all(map(_JSON_KEY.match, keys)):
            yield found.start(), after


MOST_BROKEN: Final = 4  # objects read to their end in vain
_STRING: Final = regex(rf"[\s{_MARGIN}]*(?:\\*[\"']|[\]}}])")
_TOKEN: Final = regex(r"(?P<escapes>\\*)(?P<quote>[\"'])|[\[\]{}]")
_COLON: Final = regex(r"\s*:")


def _object(said: str, start: int) -> tuple[int | None, list[str]]:
    """Where an object ends, None where it does not, and its keys; however often its quotes were escaped."""
    depth = begin = 0
    opened: tuple[str, int] | None = None
    keys: list[str] = []
    for found in _TOKEN.finditer(said, start):
        escapes, quote = len(found["escapes"] or ""), found["quote"]
        if quote is None:
            depth += 0 if opened else 1 if found.group() in "[{" else -1
            if depth == 0:
                return found.end(), keys
        elif opened is None:
            opened, begin = (quote, escapes), found.end()
        elif quote == opened[0] and escapes % (2 * opened[1] + 2) == opened[1]:
            if depth == 1 and _COLON.match(said, found.end()):
                keys.append(said[begin : found.start()])
            opened = None
    return None, keys


def _elements(said: str) -> Iterator[Span]:
    """The contexts in XML; one that was cut off goes as far as its lines are elements."""
    closed = [found.end() for found in re.finditer("</context>", said)]
    after = 0
    for found in _XML.finditer(said):
        if found.start() >= after:
            place = bisect(closed, found.end())
            after = (
                closed[place]
                if place < len(closed)
                else _while(said, found.start(), _ELEMENT, _breaks(said, found.start()))
            )
            yield found.start(), after


_ELEMENT: Final = regex(r"\s*<|    ")


_NEWLINE: Final = regex(r"\n")
# Where the lines of a string of JSON end, and where it begins.
_ESCAPED: Final = regex(rf"\n|\\+n|[\"'](?=## |- |<|(?:{_NAMES})[:,] )")
_STRING_OF: Final = regex(
    rf"(?:[\"']|\\n)(?:(?:## |- )(?:{_NAMES})\\+n|(?:{_NAMES})[:,] |<context>|<<<untrusted data )"
)


def _breaks(said: str, start: int) -> re.Pattern[str]:
    """What ends the lines of what begins at a place: within a string of JSON they are spelled out."""
    return _ESCAPED if said[max(0, start - 2) : start].endswith(('"', "'", "\\n")) else _NEWLINE


def _while(said: str, start: int, kind: re.Pattern[str], breaks: re.Pattern[str] = _NEWLINE) -> int:
    """The end of the line that `start` stands in, and of all further lines of a kind."""
    end, following = _line_end(said, start, breaks)
    while following < len(said) and kind.match(said, following):
        end, following = _line_end(said, following, breaks)
    return end


def _line_end(said: str, start: int, breaks: re.Pattern[str] = _NEWLINE) -> Span:
    """Where the line ends that a place stands in, and where the next begins."""
    found = breaks.search(said, start)
    return (len(said), len(said)) if found is None else found.span()


def _each_line(said: str) -> Iterator[Span]:
    """Where each line begins and ends, those in strings of JSON too."""
    following = 0
    while following < len(said):
        start, (end, following) = following, _line_end(said, following)
        if _STRING_OF.search(said, start, end) is None:
            yield start, end
            continue
        while start < end:
            last, after = _line_end(said, start, _ESCAPED)
            yield start, min(last, end)
            start = after


def _lines(said: str, blocks: Sequence[Span]) -> Iterator[Span]:
    """The sections and items of what is printed in lines, outside of some blocks, with or without a margin."""
    starts = [first for first, _ in blocks]
    further, margin, section = None, "", (0, 0)
    for start, end in _each_line(said):
        block = bisect(starts, start) - 1
        within = block >= 0 and start < blocks[block][1]
        line = "" if within else said[start:end]
        if further is not None and not within and line.startswith(margin) and further.match(line, len(margin)):
            section = section[0], end
            continue
        if further is not None:
            yield section
        further = None
        if within:
            continue
        margin = line[: len(line) - len(line.lstrip(_MARGIN))]
        bare = line[len(margin) :]
        further = next((more for opens, more in _HEADINGS if opens.match(bare)), None)
        if _OF_DATA.match(bare):
            further, margin = _FURTHER, ""
        section = start, end
        if further is not None:
            continue
        if _INDEX.match(bare):
            yield section
        elif _LISTED.match(bare) or _PROSE.match(bare):
            *_, last = [0, *(cited.end() for cited in _CITED.finditer(line))]
            if last:
                yield start, start + last
    if further is not None:
        yield section


def _joined(found: Sequence[Span]) -> list[Span]:
    """Spans in order, those that touch or overlap as one."""
    joined: list[Span] = []
    for start, end in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
