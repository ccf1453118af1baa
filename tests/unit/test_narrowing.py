"""How far a search with a filter or a period looks before it looks up a whole scope."""

from __future__ import annotations

import pytest

from engram.recall import narrow


@pytest.mark.parametrize(
    ("fetched", "size", "reach"),
    [(30, 20_000, 180), (30, 1_801, 180), (30, 1_800, 0), (30, 0, 0), (3_000, 20_000, 0), (3_000, 1_000_000, 18_000)],
)
def test_more_is_found_first_only_where_that_is_a_small_part_of_the_scope(fetched: int, size: int, reach: int) -> None:
    assert narrow.params(fetched, size, [7])["reach"] == reach
