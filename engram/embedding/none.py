"""No embedder: memories are found by their words alone."""

from __future__ import annotations


def load() -> None:
    """Nothing: a door with this embedder stores no vectors and searches by words."""
