"""Placing: the order of a lineage, and the rows that a newcomer moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy.engine import Row

from engram import lineage
from engram.arrays import Texts
from engram.database import fetch_all, send_ahead
from engram.lineage import Member, Place
from engram.values import trust_rank
from engram.writing.desk import Desk, Draft, Origin, iso
from engram.writing.noting import note_change

HEAD: Final = Place("active")


def newcomer(draft: Draft, origin: Origin, memory_id: str) -> Member:
    """A draft as the order of its lineage sees it. Pure."""
    order = (draft.stands(origin), origin.recorded_at, origin.event_id, origin.ordinal)
    return Member(
        memory_id, order, trust_rank(origin.trust), draft.fact, draft.begins(origin),
        negates=draft.classified.negates,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Quiet:
    """A memory that may be restated along with others: its tags, and its trust where it leads a lineage of several."""

    tags: frozenset[str]
    leads_by: int | None = None


def quiet(desk: Desk, memory_ids: Sequence[str]) -> dict[str, Quiet]:
    """Those of some memories that may be restated together, since nothing else changes with them.

    No summary has to do with them, and in a lineage of several they are the head and the last to be said: who is said
    again then stays it. By somebody better trusted it would stand where that one put it, which may be earlier.
    """
    asked = fetch_all(desk.conn, "list_restated", tenant_id=desk.tenant_id, memory_ids=Texts(memory_ids))
    lines: dict[str, list[Row[Any]]] = {row.lineage_id: [] for row in asked if row.lineage_id is not None}
    if lines:
        found = fetch_all(desk.conn, "list_lineage_members", tenant_id=desk.tenant_id, lineage_ids=Texts(list(lines)))
        for row in found:
            lines[row.lineage_id].append(row)
    return {
        row.memory_id: Quiet(frozenset(row.tags), None if row.lineage_id is None else row.trust)
        for row in asked
        if row.lineage_id is None or _is_last(lines[row.lineage_id], row.memory_id)
    }


def _is_last(rows: Sequence[Row[Any]], memory_id: str) -> bool:
    """Whether a row leads a lineage that stands in its order, as its last statement, and nothing in it is negated."""
    members = [_member(row) for row in rows]
    last = max(members, key=lambda member: member.rank, default=None)
    if last is None or last.memory_id != memory_id or any(member.negates is not None for member in members):
        return False
    places = lineage.places(members)
    return places.get(memory_id) == HEAD and not _moved(rows, places)


def reorder(desk: Desk, lineage_id: str, event_id: str | None, actor: str | None) -> dict[str, Place]:
    """Recompute who is head of a lineage; the rows whose place changed, each noted in the history."""
    rows = fetch_all(desk.conn, "list_lineage_members", tenant_id=desk.tenant_id, lineage_ids=[lineage_id])
    moved = _move(desk, rows, _places(rows))
    for memory_id, place in moved.items():
        note_change(desk, memory_id, entry_of(place), event_id, actor)
    return moved


def entry_of(place: Place) -> str:
    """What the history calls it when a row comes to a place."""
    return place.status if place.status in ("superseded", "contested") and not place.put_away else "reordered"


@dataclass(frozen=True, slots=True)
class Front:
    """The rows of a lineage that a newcomer must dominate to be head at once, and the number of its next revision.

    They were read at the moment `now` of the database's clock.
    """

    revision: int
    rows: tuple[Row[Any], ...]
    now: datetime

    def moved_by(self, new: Member) -> dict[str, Place] | None:
        """The places of the rows that a newcomer supersedes, which is head at once; None where it may not be. Pure."""
        members = [_member(row) for row in self.rows]
        if new.negates is not None or not lineage.dominates_front(new, members):
            return None
        beside = {row.memory_id for row in self.rows if row.moot}
        places = {
            m.memory_id: Place("superseded", new.memory_id, new.begins, moot=m.memory_id in beside)
            for m in members
            if not m.put_away and (m.memory_id not in beside or lineage.affirms(new, m))
        }
        return _moved(self.rows, places)


def fronts(desk: Desk, lineage_ids: Sequence[str]) -> dict[str, Front]:
    """The fronts of some lineages."""
    found: dict[str, list[Row[Any]]] = {}
    for row in fetch_all(desk.conn, "list_lineage_fronts", tenant_id=desk.tenant_id, lineage_ids=Texts(lineage_ids)):
        found.setdefault(row.lineage_id, []).append(row)
    return {
        lineage_id: Front(
            int(rows[0].next_revision), tuple(row for row in rows if row.memory_id is not None), rows[0].now
        )
        for lineage_id, rows in found.items()
    }


def take_place(desk: Desk, lineage_id: str, new: Member) -> tuple[Place, dict[str, Place], int]:
    """The place of a new statement, the rows it moves (already updated), and the number of its revision."""
    front = fronts(desk, [lineage_id])[lineage_id]
    moved = front.moved_by(new)
    if moved is not None:
        # The common case costs a few rows however long the chain: the newcomer supersedes whatever stood.
        _put(desk, moved)
        return HEAD, moved, front.revision
    rows = fetch_all(desk.conn, "list_lineage_members", tenant_id=desk.tenant_id, lineage_ids=[lineage_id])
    places = _places(rows, new)
    own = places.pop(new.memory_id)
    return own, _move(desk, rows, places), front.revision


def _places(rows: Sequence[Row[Any]], *new: Member) -> dict[str, Place]:
    """The places of the rows of a lineage and of a newcomer; of denials put away only whether they are moot. Pure."""
    members = [*map(_member, rows), *new]
    places = lineage.places(members)
    away = [row for row, member in zip(rows, members, strict=False) if member.put_away and member.negates is not None]
    moot = lineage.moot(members) if away else set()
    return places | {
        row.memory_id: Place(row.status, row.superseded_by, _heir_from(row), row.memory_id in moot, put_away=True)
        for row in away
    }


def _move(desk: Desk, rows: Sequence[Row[Any]], places: Mapping[str, Place]) -> dict[str, Place]:
    moved = _moved(rows, places)
    _put(desk, moved)
    return moved


def _put(desk: Desk, moved: Mapping[str, Place]) -> None:
    # Heads step down before another rises: the unique index allows one at every moment.
    for memory_id, place in sorted(moved.items(), key=lambda item: item[1].status == "active" and not item[1].moot):
        if place.put_away:
            send_ahead(desk.conn, "mark_moot", tenant_id=desk.tenant_id, memory_id=memory_id, moot=place.moot)
            continue
        send_ahead(
            desk.conn, "place_memory", tenant_id=desk.tenant_id, memory_id=memory_id, status=place.status,
            superseded_by=place.superseded_by, heir_from=place.valid_to, moot=place.moot, at=desk.at,
        )  # fmt: skip


def supersede(desk: Desk, moved: Mapping[str, Place]) -> None:
    """Give rows of several lineages the places of what newcomers supersede."""
    if moved:
        heirs = [place.superseded_by for place in moved.values()]
        send_ahead(
            desk.conn, "supersede_memories", tenant_id=desk.tenant_id, memory_ids=Texts(list(moved)),
            heirs=Texts(heirs), heirs_from=Texts([iso(place.valid_to) for place in moved.values()]), at=desk.at,
        )  # fmt: skip


def _moved(rows: Sequence[Row[Any]], places: Mapping[str, Place]) -> dict[str, Place]:
    before = {row.memory_id: Place(row.status, row.superseded_by, _heir_from(row), row.moot) for row in rows}
    return {i: p for i, p in places.items() if i in before and not _same(before[i], p)}


def _same(before: Place, after: Place) -> bool:
    return (before.status, before.superseded_by, before.moot) == (after.status, after.superseded_by, after.moot)


def _heir_from(row: Row[Any]) -> datetime | None:
    return None if row.valid_to is None or row.valid_to == row.ended_at else row.valid_to


def _member(row: Row[Any]) -> Member:
    return Member(
        row.memory_id, (row.stands_at, row.stands_recorded_at, row.stands_event_id, row.stands_ordinal), row.trust,
        row.fact, row.valid_from, row.put_away or row.status in ("archived", "deleted"), row.negates,
        row.status_reason == "erased",
    )  # fmt: skip
