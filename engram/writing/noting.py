"""Noting: what changed of a memory, in its history, and what follows for the summaries that tell of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from engram.database import Jsonb, fetch_all, fetch_one
from engram.writing.deciding import as_kept
from engram.writing.desk import Desk

STALE: Final = "something it stood for has changed"
FREED: Final = "what stood for it was put away"


def note_change(
    desk: Desk, memory_id: str, entry: str, event_id: str | None, actor: str | None,
    decision: Mapping[str, Any] | None = None, previous_id: str | None = None,
) -> bool:  # fmt: skip
    """Note a change of a memory; whether summaries have to do with it, which may have changed too."""
    noted = fetch_one(
        desk.conn, "note_change", tenant_id=desk.tenant_id, memory_id=memory_id, entry=entry, previous_id=previous_id,
        decision=None if decision is None else Jsonb(as_kept(decision)), reason=desk.reason, actor=actor,
        event_id=event_id, at=desk.at, run_id=desk.run_id,
    )  # fmt: skip
    if noted is None or not noted.summarised:
        return False
    follow_summaries(desk, [memory_id], event_id, actor)
    return True


def note_effects(
    desk: Desk, effects: Sequence[Mapping[str, Any]], event_id: str | None, actor: str | None
) -> list[str]:  # fmt: skip
    """Write down what became of memories: `memory_id`, `entry`, `because`. Those that summaries have to do with.

    `follow_summaries` must follow with these once the order of their lineages has been said.
    """
    rows = fetch_all(
        desk.conn, "note_effects", tenant_id=desk.tenant_id, rows=Jsonb(list(effects)), at=desk.at, reason=desk.reason,
        actor=actor, event_id=event_id, run_id=desk.run_id,
    )  # fmt: skip
    return [row.memory_id for row in rows if row.summarised]


def follow_summaries(desk: Desk, memory_ids: Sequence[str], event_id: str | None, actor: str | None) -> None:
    """Put away the summaries that tell what of these is not so any more, and give back what those that left stood for.

    A summary stands for what is current, for everybody and without an end, and only while it is current itself. One
    that is put away may stand in another, which goes too.
    """
    changed = list(memory_ids)
    while changed:
        told = fetch_all(desk.conn, "put_away_summaries", tenant_id=desk.tenant_id, memory_ids=changed)
        gone = [*changed, *(row.memory_id for row in told)]
        freed = fetch_all(desk.conn, "free_consolidated", tenant_id=desk.tenant_id, memory_ids=gone)
        left = [{"memory_id": row.memory_id, "entry": "archived", "because": STALE} for row in told]
        back = [
            {
                "memory_id": row.memory_id, "entry": "restored" if row.status == "active" else "annotated",
                "because": FREED,
            }
            for row in freed
        ]  # fmt: skip
        changed = note_effects(desk, left + back, event_id, actor) if left or back else []


def note(desk: Desk, memory_id: str, entry: str, event_id: str | None, actor: str | None) -> None:
    """Write down in the history that a memory changed, with the state it has now."""
    note_change(desk, memory_id, entry, event_id, actor)
