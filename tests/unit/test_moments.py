"""Times as people type them on the command line."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from engram.cli import moments

NOW = datetime(2026, 11, 27, 21, 30, tzinfo=UTC)  # a Friday
PARIS = ZoneInfo("Europe/Paris")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2025-05-01", at("2025-05-01")),
        ("2025-05-01T12:00:00+02:00", at("2025-05-01T10:00")),
        ("now", NOW),
        ("today", at("2026-11-27")),
        (" Yesterday ", at("2026-11-26")),
        ("last monday", at("2026-11-23")),
        ("June 2025", at("2025-06-01")),
        ("3 days ago", at("2026-11-24T21:30")),
        ("2 hours  ago", at("2026-11-27T19:30")),
        ("2h ago", at("2026-11-27T19:30")),
    ],
)
def test_a_moment_is_read_as_it_is_typed(typed: str, meant: datetime) -> None:
    assert moments.read(typed, now=NOW, tz=UTC) == meant


def test_a_length_of_time_is_so_long_ago_only_where_one_looks_back() -> None:
    assert moments.read("2h", now=NOW, tz=UTC, back=True) == at("2026-11-27T19:30")
    assert moments.read("2h", now=NOW, tz=UTC) is None


def test_a_day_begins_in_the_time_zone() -> None:
    assert moments.read("2025-05-01", now=NOW, tz=PARIS) == at("2025-04-30T22:00")
    assert moments.read("yesterday", now=NOW, tz=PARIS) == at("2026-11-25T23:00")


@pytest.mark.parametrize(
    "typed", ["", "tea", "a week ago", "before May", "ago", "yesterday or monday", "tea since yesterday", "2h " * 40]
)
def test_what_names_no_single_moment_is_none(typed: str) -> None:
    assert moments.read(typed, now=NOW, tz=UTC, back=True) is None
