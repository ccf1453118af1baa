"""The plans of PostgreSQL, as EXPLAIN tells them in JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every node of a plan, from the top."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)
