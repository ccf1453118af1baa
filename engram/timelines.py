"""Timelines: memories by the day, week or month since which they hold, and what became true about the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import groupby
from typing import Any, Final, NamedTuple

from engram import filters, memories
from engram.database import Connection, fetch_named, statement
from engram.filters import Filter
from engram.memories import VISIBLE, Moment, visible_params
from engram.tenancy import Visible
from engram.values import Calendar, Memory, Period, Status, Timeline

SHOWN: Final[tuple[Status, ...]] = ("active", "superseded", "contested", "archived")
END_OF_TIME: Final = {"valid_from": "infinity", "recorded_at": "infinity", "memory_id": "f" * 32}
OF_EACH: Final = "unnest(%(scope_ids)s::bigint[]) o (scope_id)", "m.scope_id = o.scope_id"
OF_ALL: Final = "(VALUES (1)) o (place)", "TRUE"
BEGUN: Final = (  # a statement that came later may say that a memory held before
    "%(as_of)s::timestamptz IS NULL OR m.valid_from <= %(as_of)s OR EXISTS (SELECT FROM engram.memory_sources q"
    " WHERE q.tenant_id = m.tenant_id AND q.memory_id = m.memory_id AND q.valid_from <= %(as_of)s)"
)
OF_NEAR: Final = OF_ALL[0], memories.BY_ID


class Sides(NamedTuple):
    """What stands before a place in time, the latest first, and what after it, the earliest first."""

    before: list[str]
    after: list[str]


def timeline(
    conn: Connection, visible: Visible, *, around: Memory | None, filter: Filter | None, since: datetime | None,
    until: datetime | None, group_by: Calendar, limit: int, moment: Moment, tz: tzinfo,
) -> Timeline:  # fmt: skip
    """The newest memories by when they became true, or those about one of them, with what is not current any more."""
    told = Timeline((), group_by, str(tz), None if around is None else around.memory_id)
    if limit == 0 or not visible.scope_ids:
        return told
    named = (around,) if around is not None and around.fact else ()
    room = limit - len(named)
    sides = _sides(conn, visible, filter, moment, {
        **_place(around), "since": since or "-infinity", "until": until or "infinity",
        "before": room + 1, "after": 0 if around is None else room + 1,
    })  # fmt: skip
    before, after = shares(len(sides.before), len(sides.after), room)
    found = memories.load(conn, visible, [*sides.before[:before], *sides.after[:after]], moment)
    return Timeline(
        grouped([*named, *found], group_by, tz), told.group_by, told.time_zone, told.around,
        earlier=len(sides.before) > before, later=len(sides.after) > after,
    )  # fmt: skip


def shares(before: int, after: int, room: int) -> tuple[int, int]:
    """How many of each side there is room for: half of it each, and what one side leaves is the other's. Pure."""
    later = min(after, max(room // 2, room - before))
    return min(before, room - later), later


def grouped(found: Sequence[Memory], group_by: Calendar, tz: tzinfo) -> tuple[Period, ...]:
    """Memories by the periods of a calendar in a zone, newest first. Pure."""

    def first_day(memory: Memory) -> date:
        return beginning(memories.day_of(memory, tz), group_by)

    def newness(memory: Memory) -> tuple[date, datetime, datetime, str]:
        return memories.day_of(memory, tz), memory.valid_from, memory.recorded_at, memory.memory_id

    inside = groupby(sorted(found, key=newness, reverse=True), key=first_day)
    return tuple(
        Period(name_of(day, group_by), _midnight(day, tz), _midnight(_following(day, group_by), tz), tuple(members))
        for day, members in inside
    )


def beginning(day: date, group_by: Calendar) -> date:
    """The first day of the day, week (from Monday) or month that a day is in. Pure."""
    if group_by == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if group_by == "month" else day


def name_of(first: date, group_by: Calendar) -> str:
    """What a period is called by its first day, as ISO 8601 writes it: 2026-05-01, 2026-W18 or 2026-05. Pure."""
    if group_by == "week":
        year, week, _ = first.isocalendar()
        return f"{year}-W{week:02}"
    return f"{first:%Y-%m}" if group_by == "month" else first.isoformat()


def _following(first: date, group_by: Calendar) -> date:
    """The first day of the period after the one that begins with a day."""
    return beginning(first + timedelta(days={"day": 1, "week": 7, "month": 31}[group_by]), group_by)


def _midnight(day: date, tz: tzinfo) -> datetime:
    return datetime.combine(day, time.min, tz).astimezone(UTC)


def _place(around: Memory | None) -> Mapping[str, Any]:
    """Where a memory stands in the order of a timeline; without one its end."""
    if around is None:
        return END_OF_TIME
    return {"valid_from": around.valid_from, "recorded_at": around.recorded_at, "memory_id": around.memory_id}


def _sides(
    conn: Connection, visible: Visible, filter: Filter | None, moment: Moment, asked: Mapping[str, Any]
) -> Sides:
    """The memories that a timeline shows on either side of a place, as they are at a moment."""
    where, wanted = filters.to_sql(filter) if filter is not None else ("TRUE", {})
    statuses = None if filter is not None and filter.names_statuses() else list(SHOWN)
    params = {**visible_params(visible, moment), **wanted, **asked, "statuses": statuses}
    if moment.is_now:
        return _read(conn, OF_EACH, "engram.agent_memory m", where, params)
    # Since when a memory holds never changes: the nearest of the rows there are, as they stood then, are what is shown.
    reach = {name: memories.REACH * params[name] for name in ("before", "after")}
    near = _read(conn, OF_EACH, "engram.agent_memory m", BEGUN, {**params, **reach, "statuses": None})
    found = _read(conn, OF_NEAR, memories.AMONG, where, {**params, "wanted": [*near.before, *near.after]})
    short = (
        len(some) < params[side] and len(all_) == reach[side] > 0
        for side, some, all_ in zip(("before", "after"), found, near, strict=True)
    )
    return _read(conn, OF_ALL, memories.source(moment), where, params) if any(short) else found


def _read(conn: Connection, of: tuple[str, str], rows: str, where: str, params: Mapping[str, Any]) -> Sides:
    among, key = of
    sql = statement("list_timeline").replace("/*of*/", among).replace("/*key*/", key).replace("/*source*/", rows)
    found = fetch_named(conn, sql.replace("/*visible*/", VISIBLE).replace("/*filter*/", where), params)
    return Sides([row.memory_id for row in found if not row.later], [row.memory_id for row in found if row.later])
