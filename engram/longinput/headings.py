"""Which line of a prose text is a heading, by its own form and its neighbours'."""

from __future__ import annotations

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
