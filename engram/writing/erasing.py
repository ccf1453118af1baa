"""Erasing: what rests on an event goes with it, and its place stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engram import relations, text
from engram.channels import keyword
from engram.database import Jsonb, execute, fetch_all
from engram.policies.classify import Proposal, classify
from engram.values import Event
from engram.writing.desk import Desk, deriving_lock, lineage_locks, lock
from engram.writing.noting import note_change
from engram.writing.placing import reorder

EMPTY_HASH: Final = text.fact_hash("")


@dataclass(frozen=True, slots=True)
class Rests:
    """What rests on an event: lineages, and the events of whose text a model spoke when it had read this one too.

    `changed` are the lineages of which it changed a memory, whether one was made of it or not.
    """

    lineages: tuple[str, ...]
    changed: tuple[str, ...]
    beside: tuple[str, ...]


def lock_what_rests_on(desk: Desk, event: Event) -> Rests:
    """What rests on an event, with every lock taken that guards it.

    Nothing more is derived from the event's stream until the commit.
    """
    held: set[str] | None = None
    asked = {"tenant_id": desk.tenant_id, "event_id": event.event_id}
    while True:  # until nothing was derived between the look and the locks
        read = fetch_all(desk.conn, "list_events_read_beside", stream_id=event.stream_id, **asked)
        beside = tuple(row.event_id for row in read)
        rows = fetch_all(desk.conn, "list_lineages_of_event", beside=list(beside), **asked)
        names = {name for row in rows for name in lineage_locks(row.lineage_id, row.scope_id, row.conflict_key)}
        if held is not None and names <= held:
            made = dict.fromkeys(row.lineage_id for row in rows if row.made)
            return Rests(tuple(made), tuple(dict.fromkeys(row.lineage_id for row in rows)), beside)
        scopes = [row.scope_id for row in rows if row.scope_id > 0]
        lock(desk, [], deriving_lock(event.stream_id), *names, scopes=scopes)
        held = names


def erase_what_rests_on(desk: Desk, event: Event, rests: Rests, redaction_id: str, actor: str | None) -> list[str]:
    """Empty every memory made of an event: text, words, vector and quoted copies go, the place in the lineage stays.

    So are those a model made of other events when it had read this one too. What the event left on other memories goes
    as well. The ids of those that were emptied.
    """
    rows = fetch_all(
        desk.conn, "erase_memories", tenant_id=desk.tenant_id, event_id=event.event_id, beside=list(rests.beside),
        empty=EMPTY_HASH,
    )  # fmt: skip
    execute(desk.conn, "erase_refusals", tenant_id=desk.tenant_id, event_ids=list(rests.beside))
    execute(desk.conn, "erase_marks", tenant_id=desk.tenant_id, event_id=event.event_id, empty=EMPTY_HASH)
    _erase_inherited(desk, rests.changed)
    for row in rows:
        note_change(desk, row.memory_id, "erased", redaction_id, actor)
    moved = [one for lineage_id in rests.lineages for one in reorder(desk, lineage_id, redaction_id, actor)]
    if moved:
        execute(
            desk.conn, "end_superseding", tenant_id=desk.tenant_id, memory_ids=moved, event_id=redaction_id,
            related=relations.ADDED,
        )  # fmt: skip
    keyword.reindex_neighbours(
        desk.conn, event.stream_id, event.position, tenant_id=desk.tenant_id, after=True, config=desk.config
    )
    return [row.memory_id for row in rows]


def _erase_inherited(desk: Desk, lineage_ids: Sequence[str]) -> None:
    """Take from later revisions what they took over from erased ones, but for what their own texts say."""
    found = fetch_all(desk.conn, "list_heirs", tenant_id=desk.tenant_id, lineage_ids=list(lineage_ids))
    if found:
        heirs = [{**row._mapping, **_own_words(desk, row.fact)} for row in found]
        rows = fetch_all(desk.conn, "erase_inherited", tenant_id=desk.tenant_id, heirs=Jsonb(heirs))
        keyword.reindex(desk.conn, [row.memory_id for row in rows], tenant_id=desk.tenant_id, config=desk.config)


def _own_words(desk: Desk, fact: str) -> dict[str, str | None]:
    """What the policy makes of a text alone."""
    user = desk.visible.scope.user_id
    rules = classify(desk.policy, Proposal(fact, user_name=user if isinstance(user, str) else None))
    return {
        "category": rules.category, "critical_slot": rules.critical_slot, "conflict_key": rules.conflict_key,
        "subject": rules.subject,
    }  # fmt: skip
