"""Which scopes a read sees, and the number of each."""

from __future__ import annotations

import pytest

from engram import Scope
from engram.tenancy import Row, seen

OF_JO = Scope("acme", user_id="jo")
ROWS = (Row(9, "default", "default", "jo", 4), Row(4, "default", "default", "jo", None))


@pytest.mark.parametrize("rows", [ROWS, ROWS[::-1]])
def test_a_scope_is_its_own_number_and_not_that_of_its_shelf(rows: tuple[Row, ...]) -> None:
    visible = seen(OF_JO, rows, shelves="with")

    assert visible.id_of(OF_JO) == visible.own == 4
    assert visible.scope_ids == (4, 9)


def test_a_read_of_shelves_alone_sees_nothing_of_a_scope() -> None:
    visible = seen(OF_JO, ROWS[:1], shelves="only")

    assert visible.scope_ids == (9,)
