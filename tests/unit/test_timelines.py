"""Timelines: which period a day is in, and how many memories of either side stand about one."""

from __future__ import annotations

from datetime import date

import pytest

from engram.timelines import beginning, name_of, shares
from engram.values import Calendar


@pytest.mark.parametrize(
    ("day", "group_by", "first", "name"),
    [
        (date(2026, 5, 3), "day", date(2026, 5, 3), "2026-05-03"),
        (date(2026, 5, 3), "week", date(2026, 4, 27), "2026-W18"),
        (date(2026, 5, 4), "week", date(2026, 5, 4), "2026-W19"),
        (date(2027, 1, 2), "week", date(2026, 12, 28), "2026-W53"),
        (date(2026, 5, 31), "month", date(2026, 5, 1), "2026-05"),
    ],
)
def test_a_day_is_in_the_period_that_its_first_day_names(day: date, group_by: Calendar, first: date, name: str) -> None:
    assert (beginning(day, group_by), name_of(first, group_by)) == (first, name)


@pytest.mark.parametrize(
    ("before", "after", "room", "share"),
    [
        (9, 9, 4, (2, 2)),
        (9, 9, 5, (3, 2)),
        (1, 9, 4, (1, 3)),
        (9, 0, 4, (4, 0)),
        (1, 1, 4, (1, 1)),
        (9, 9, 0, (0, 0)),
    ],
)
def test_each_side_has_half_of_the_room_and_what_the_other_leaves(
    before: int, after: int, room: int, share: tuple[int, int]
) -> None:
    assert shares(before, after, room) == share
