"""Channels: ways of finding memories, one a file. All are asked in one statement, inside a transaction.

To add one, write its module with `NAME`, `TIMEOUT`, `NOTHING` and `part`, and its statement; name it here, and say in
`recall.finding` when it is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

SEARCHED: Final = ("semantic", "keyword", "temporal", "graph")  # in the database, in this order
CHANNELS: Final = (*SEARCHED, "tail")


@dataclass(frozen=True, slots=True)
class Part:
    """A channel's part of the statement that finds candidates: common table expressions, and what they name.

    `again` is what asks the channel once more, for rows that stand, where too few of the first do.

    Where it reads memories it says `/*memories*/`, the rows `m` in sight with a condition begun, or `/*row of x*/`, the
    one whose id is x; and of such a row `/*standing*/` (it may be returned), `/*leading*/` (or its heir may be) or
    `/*seed*/` (it is current, so that it may lead to others).
    """

    sql: str
    params: Mapping[str, Any] = field(default_factory=dict)
    again: str = ""
