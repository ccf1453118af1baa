"""The newest changes first, page by page: of each scope by its index, or of many scopes together by their time.

A scope's changes are numbered in the order they were written. Numbers of two scopes say nothing of each other: a
switch to a replay, and an import, write a scope's past anew, after the present of the others. So a cursor from before a
switch says nothing of the changes there are after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Self

from sqlalchemy.engine import Row

from engram import paging
from engram.database import Connection, fetch_value, statement
from engram.errors import InvalidInput

MANY_SCOPES: Final = 8  # that are read together: of each alone more changes are looked up than are wanted
OF_SCOPES: Final = "unnest(%(places)s::bigint[], %(before)s::bigint[]) o (place, before)", "c.scope_id = o.place"
STATEMENTS_OF: Final = (
    "(SELECT m.memory_id, p.place, p.before FROM unnest(%(places)s::bigint[], %(before)s::bigint[]) p (place, before)"
    " CROSS JOIN engram.agent_memory m WHERE m.tenant_id = %(tenant_id)s AND m.lineage_id = %(lineage_id)s::uuid) o"
)
OF_LINEAGE: Final = STATEMENTS_OF, "c.memory_id = o.memory_id"
TOGETHER: Final = "(VALUES (0, %(before_at)s::timestamptz, %(before)s::bigint)) o (place, before_at, before)"


@dataclass(frozen=True, slots=True)
class ByPlace:
    """The newest changes of each of some places in the order they were written, and these by their time."""

    among: str
    key: str
    places: Sequence[int]
    reached: Mapping[int, int]  # the change before which each place is read on
    start: int | None = None  # the newest change of all when the first page was read

    def sql(self, name: str) -> str:
        """A statement that reads them. One with an earlier time than those before it stands right behind them."""
        return _filled(
            name, of=self.among, key=self.key, before="c.change_id < coalesce(o.before, 9223372036854775807)",
            order="c.change_id DESC", turn="min(h.recorded_at) OVER (PARTITION BY o.place ORDER BY h.change_id DESC)",
        )  # fmt: skip

    def params(self) -> dict[str, Any]:
        """What the statement asks for of where the last page ended."""
        untouched = None if self.start is None else self.start + 1
        return {"places": list(self.places), "before": [self.reached.get(place, untouched) for place in self.places]}

    def after(self, rows: Sequence[Row[Any]]) -> Self:
        """What comes after some of them."""
        if not rows:
            return self
        start = rows[0].newest if self.start is None else self.start
        return replace(self, reached={**self.reached, **{row.place: row.change_id for row in rows}}, start=start)

    def position(self) -> tuple[Any, ...]:
        """Where they were left, for a cursor."""
        return (self.start, *(part for pair in self.reached.items() for part in pair))

    def rests_on(self) -> dict[str, Any]:
        """The changes that a cursor of it names, and the places none of which was told yet."""
        untouched = [place for place in self.places if place not in self.reached]
        return {"named": [self.start, *self.reached.values()], "untouched": untouched, "start": self.start}


@dataclass(frozen=True, slots=True)
class ByTime:
    """The newest of all changes that a key names, by their time."""

    key: str
    reached: tuple[datetime, int] | None

    def sql(self, name: str) -> str:
        """A statement that reads them."""
        return _filled(
            name, of=TOGETHER, key=self.key, order="c.recorded_at DESC, c.change_id DESC", turn="h.recorded_at",
            before="(o.before IS NULL OR (c.recorded_at, c.change_id) < (o.before_at, o.before))",
        )  # fmt: skip

    def params(self) -> dict[str, Any]:
        """What the statement asks for of where the last page ended."""
        at, change_id = self.reached or (None, None)
        return {"before_at": at, "before": change_id}

    def after(self, rows: Sequence[Row[Any]]) -> Self:
        """What comes after some of them."""
        return replace(self, reached=(rows[-1].recorded_at, rows[-1].change_id)) if rows else self

    def position(self) -> tuple[Any, ...]:
        """Where they were left, for a cursor."""
        return self.reached or ()

    def rests_on(self) -> dict[str, Any]:
        """The change that a cursor of it names: what comes after it is found by its time."""
        return {"named": [] if self.reached is None else [self.reached[1]], "untouched": [], "start": None}


Walk = ByPlace | ByTime


def of_scopes(scope_ids: Sequence[int], position: Sequence[Any] = ()) -> Walk:
    """The changes of some scopes, from where a page ended: read as that was, though scopes may have come since."""
    together = isinstance(position[0], datetime) if position else len(scope_ids) > MANY_SCOPES
    if together:
        return ByTime("c.scope_id = ANY(%(scope_ids)s)", _time(position))
    return _by_place(OF_SCOPES, scope_ids, position)


def of_lineage(position: Sequence[Any] = ()) -> ByPlace:
    """The changes of the memories of one lineage, all of one scope, from where a page of them ended."""
    return _by_place(OF_LINEAGE, (0,), position)


def of_memories(position: Sequence[Any] = ()) -> ByTime:
    """The changes of some memories, from where a page of them ended."""
    return ByTime("c.memory_id = ANY(%(memory_ids)s::uuid[])", _time(position))


def check(conn: Connection, tenant_id: str, walk: Walk, position: Sequence[Any]) -> None:
    """Refuse to go on from where a page ended that was read before a switch to a replay wrote its changes anew."""
    if position and fetch_value(conn, "is_written_anew", tenant_id=tenant_id, **walk.rests_on()):
        raise InvalidInput("cursor", "a cursor from after the last switch to a replay", "one from before it")


def cursor(walk: Walk, rows: Sequence[Row[Any]], limit: int, binding: str, key: bytes) -> str | None:
    """The cursor of what comes after the first rows of a walk, if more were found."""
    return paging.encode_cursor(walk.after(rows[:limit]).position(), binding, key) if len(rows) > limit else None


def _by_place(of: tuple[str, str], places: Sequence[int], position: Sequence[Any]) -> ByPlace:
    start, *pairs = position or (None,)
    return ByPlace(*of, places, dict(zip(pairs[::2], pairs[1::2], strict=True)), start)


def _time(position: Sequence[Any]) -> tuple[datetime, int] | None:
    return (position[0], position[1]) if position else None


def _filled(name: str, **parts: str) -> str:
    sql = statement(name)
    for part, text in parts.items():
        sql = sql.replace(f"/*{part}*/", text)
    return sql
