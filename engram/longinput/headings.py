"""Which line of a prose text is a heading, by its own form and its neighbours'."""

from __future__ import annotations

import re
from typing import Final

from engram.regex import regex

SHOWN_CHARACTERS: Final = 120
"""A heading is shown up to here; a clause that begins in its heading's line would be shown whole otherwise."""
_LOOKED_AT: Final = 400
_CAPITALS: Final = 7
_FIRST: Final = frozenset("# \t§\"“'(")
_CODE: Final = frozenset("=;{}<>|_")

_ATX = regex(r" {0,3}(#{1,6})(?=[ \t\r\n]|\Z)")
_UNDERLINE = regex(r" {0,3}(?:={3,}|-{3,})[ \t]*\Z")
_NO_TITLE = regex(r"[ \t]*(?:[|>#*+~`=-]|\d{1,4}[.)]|[ \t]{4})")
_NUMBER = r"(?:\d{1,4}(?:\.\d{1,4}){0,5}[a-z]?(?:\([A-Za-z0-9]{1,4}\)){0,3}|[IVXLC]{1,8}|[A-Z])"
_ENDS = r"(?=[ \t]*\Z|[ \t]{0,3}[.:)–—-]|[ \t]{1,8}[A-Z\"“(\[])"
_NAMED = regex(
    r"(?:Section|SECTION|Sec\.|SEC\.|Article|ARTICLE|Clause|CLAUSE|Chapter|CHAPTER|Part|PART|Title|TITLE"
    r"|Schedule|SCHEDULE|Annex|ANNEX|Appendix|APPENDIX|Exhibit|EXHIBIT|Book|BOOK)"
    rf"[ \t]{{1,4}}(?:{_NUMBER}|One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten"
    r"|ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE|TEN)"
    rf"{_ENDS}|§{{1,2}}[ \t]?{_NUMBER}"
)
_DEEP = regex(r"\d{1,3}(?:\.\d{1,3}){1,5}\.?[ \t]{1,8}[A-Z“\"(]")
_TOP = regex(r"(?:\d{1,3}|[IVXLC]{1,7})[.)][ \t]{1,8}(?=[A-Z])")
_TITLE_WORDS = regex(r"[A-Z][\w'’/-]*(?:,?[ \t](?:[A-Z][\w'’/-]*|of|and|or|the|to|for|in|on|by|a|an|with|&)){0,9}\.?")
_RANKS: Final = {
    "book": 0, "title": 0, "part": 1, "schedule": 1, "annex": 1, "appendix": 1, "exhibit": 1, "chapter": 2,
    "article": 3, "section": 4, "sec.": 4, "clause": 4, "§": 4, "": 5,
}  # fmt: skip
_ARTICLE: Final = 3
"""From this rank on a number needs no word before it: section 5 is "5", part 5 stays "part 5"."""
_UNNUMBERED: Final = 6
_LABEL = regex(
    r"(?:(?P<kind>book|title|part|schedule|annex|appendix|exhibit|chapter|article|section|sec\.|clause) "
    r"|(?P<sign>§)§? ?)?"
    r"(?P<number>\d{1,4}(?:\.\d{1,4}){0,5}[a-z]?(?:\([a-z0-9]{1,4}\)){0,3}|[ivxlc]{1,8}(?=[.):]|\Z)|"
    r"(?<= )(?:[ivxlc]{1,8}|[a-z]|one|two|three|four|five|six|seven|eight|nine|ten))(?![\w'’])",
    re.IGNORECASE,
)
_SENTENCE_ENDS: Final = frozenset('.;:!?)”"’…')


def heading_of(line: str, before: str | None, after: str | None, *, below: bool, numbered: bool) -> str | None:
    """The heading that a line is, as it is shown, or None; `before` and `after` are the lines beside it, if any.

    `below` says that the line before is a heading, under which anything may begin.
    `numbered` also takes "1. Definitions" for a heading, which in Markdown is an item of a list.
    """
    first = line[0]
    if not (first in _FIRST or first.isupper() or first.isdigit()) and (after is None or after[0] not in " =-"):
        return None
    if first in " \t" and line[:4].isspace():
        return None
    if match := _ATX.match(line):
        return _shown(line[match.end() : _LOOKED_AT].strip().rstrip("#")) or match[1]
    seen = line[:_LOOKED_AT].strip()
    if not seen or not (seen[0].isupper() or seen[0].isdigit() or seen[0] in _FIRST):
        return _underlined(line, seen, before, after)
    if not (below or _apart(before)):
        return None
    if (
        _is_named(seen)
        or (len(seen) < _LOOKED_AT and _is_capitals(seen))
        or _is_numbered(seen, before, after, numbered)
    ):
        return _shown(seen)
    return _underlined(line, seen, before, after)


Path = tuple[tuple[int, str], ...]
"""The numbers of the headings a text stands under, the outermost first, each with its rank; "" has no number."""


def under(path: Path, heading: str, *, below: bool = False) -> Path:
    """Where a text stands that follows a heading; `below` says that it is the title of the heading right above it."""
    found = _LABEL.match(heading)
    if found is None:
        return path if below else (*(one for one in path if one[0] < _UNNUMBERED), (_UNNUMBERED, ""))
    kind = (found["kind"] or found["sign"] or "").lower()
    rank, number = _RANKS[kind], found["number"].lower()
    label = number if rank >= _ARTICLE else f"{kind} {number}"
    return (*(one for one in path if one[0] < rank), (rank, label))


def section_of(path: Path) -> str | None:
    """The section of a path by its numbers, as in "5" or "ix 5"; None below a heading without a number."""
    return " ".join(label for _, label in path) if path and path[-1][1] else None


def is_underline(line: str, before: str | None, two_before: str | None) -> bool:
    """Whether a line is the underline that makes a heading of the line before it."""
    return before is not None and _underlined(before, before[:_LOOKED_AT].strip(), two_before, line) is not None


def _underlined(line: str, seen: str, before: str | None, after: str | None) -> str | None:
    if not seen or after is None or len(line) > _LOOKED_AT or len(after) > _LOOKED_AT or (before and before.strip()):
        return None
    if _NO_TITLE.match(line) or not _UNDERLINE.match(after.rstrip("\r\n")):
        return None
    return _shown(seen)


def _apart(before: str | None) -> bool:
    """Whether a line may begin something new: nothing stands before it, or what stands there is complete."""
    end = (before or "")[-_LOOKED_AT:].rstrip()
    return not end or end[-1] in _SENTENCE_ENDS


def _is_capitals(seen: str) -> bool:
    if len(seen) > SHOWN_CHARACTERS or not seen.isupper() or seen[-1] in ",":
        return False
    return sum(map(str.isalpha, seen)) >= _CAPITALS and _CODE.isdisjoint(seen)


def _is_named(seen: str) -> bool:
    return _NAMED.match(seen) is not None


def _is_numbered(seen: str, before: str | None, after: str | None, numbered: bool) -> bool:
    if _DEEP.match(seen):
        return True
    match = _TOP.match(seen) if numbered else None
    if match is None:
        return False
    title = _TITLE_WORDS.match(seen, match.end(), match.end() + SHOWN_CHARACTERS)
    if title is None or not (title.end() == len(seen) or title[0][-1] == "."):
        return False
    if title.end() < len(seen):  # a clause that goes on in the line of its title
        return seen[title.end()] in " \t"
    alone = not (before or "").strip() and (after is None or not _TOP.match(after.strip()[:_LOOKED_AT]))
    return alone and (seen[-1] != "." or not title[0].islower())


def _shown(seen: str) -> str:
    text = " ".join(seen.split())
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1].rstrip() + "…"
