"""Random lives: how many of them the suite lives, and what there is to look at after each step."""

from __future__ import annotations

from typing import Any

import pytest

EVERY = {"statuses": ["active", "superseded", "contested", "archived", "deleted", "quarantined"]}


def seeds(short: int, long: int) -> list[Any]:
    """The seeds of the short form, and those of the long one, which is slow."""
    return [*range(short), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(short, long))]
