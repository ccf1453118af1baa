"""The temporal channel: memories by when they began to hold, or held, for a question about a stretch of time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from engram.channels import Part
from engram.database import statement
from engram.values import Window

NAME: Final = "temporal"
TIMEOUT: Final = 3.0  # seconds
NOTHING: Final = Part("temporal AS (SELECT NULL::uuid AS memory_id, NULL::float8 AS nearness WHERE false)")
OPEN: Final = timedelta(days=90)  # of a window without an end or a beginning that is looked at first


def part(window: Window, *, now: datetime) -> Part:
    """The memories of a half-open window, those nearest its centre first. Pure."""
    start, end = window
    if end is None:
        end = max(now, now if start is None else start + OPEN)
    if start is None:
        start = end - OPEN
    half = (end - start) / 2
    return Part(
        statement("channel_temporal"),
        {
            "window_start": start if window[0] is not None else "-infinity",
            "window_end": end if window[1] is not None else "infinity",
            "window_centre": start + half,
            "window_half": half.total_seconds(),
        },
    )
