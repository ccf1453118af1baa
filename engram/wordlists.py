"""Lists of words, written as running text. Pure."""

from __future__ import annotations

__all__ = ["word_set"]


def word_set(text: str) -> frozenset[str]:
    """The words of a list that blanks and ends of lines tell apart, each once."""
    return frozenset(text.split())
