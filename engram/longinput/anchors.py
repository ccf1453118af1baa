"""What a citation of a long text stands on: a span of code points and the hash of the characters in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engram.text import quote_hash

SHOWN_DIGITS: Final = 24


def spans(text: str, quote: str) -> Iterator[tuple[int, int]]:
    """Every place of a quote in a text, first to last, as half-open spans of code points that do not overlap."""
    at = text.find(quote) if quote else -1
    while at >= 0:
        yield at, at + len(quote)
        at = text.find(quote, at + len(quote))


def holds(text: str, start: int, end: int, digest: str) -> bool:
    """Whether the characters of a span are still those that were hashed, given whole or as the 24 digits shown."""
    if not 0 <= start < end <= len(text) or len(digest) < SHOWN_DIGITS:
        return False
    return quote_hash(text[start:end]).startswith(digest)
