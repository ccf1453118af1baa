"""Triggers: memories to be read before something is done, found by their tag and no ranking."""

from __future__ import annotations

from typing import Final

from engram import memories, ranking
from engram.database import Connection
from engram.memories import NOW, Moment
from engram.tenancy import Visible
from engram.values import TRUSTS, Memory, Trigger, Trust

PREFIX: Final = "trigger:"
TAGGED: Final = "m.tags <> '{}' AND engram.is_triggered(m.tags)"  # as the index of those few says it
MOST_TRIGGERS: Final = 1_000  # actions listed
MOST_WEIGHED: Final = 1_000  # memories of an action that are weighed, those of most importance and use


def recall_trigger(
    conn: Connection, visible: Visible, action: str, *, limit: int, moment: Moment = NOW
) -> list[Memory]:
    """The current memories tagged with an action, those of most weight first, then the newest.

    Weight is importance, as the epochs since have left it, and what restatements, accesses, type and layer add to it.
    Of more memories than are weighed epochs, type and layer do not say which are.
    """
    if not visible.scope_ids or limit == 0:
        return []
    sql = (
        f"SELECT m.memory_id::text, {memories.EPOCHS} AS epochs"  # noqa: S608 - constants
        f" FROM {memories.source(moment)}{memories.SCOPES}{memories.ACTIVITY}"
        f" WHERE {memories.VISIBLE} AND {memories.current(moment)} AND NOT m.moot AND {TAGGED}"
        " AND m.tags @> %(tags)s::text[]"
        " ORDER BY m.importance + least(0.7, 0.17 * ln(1 + coalesce(a.repetition_count, 0)))"
        " + least(0.55, 0.12 * ln(1 + coalesce(a.access_count, 0))) DESC,"
        " m.recorded_at DESC, m.memory_id LIMIT %(most)s"
    )
    params = memories.visible_params(visible, moment) | {
        "tags": [PREFIX + action], "most": max(limit, MOST_WEIGHED),
    }  # fmt: skip
    rows = conn.exec_driver_sql(sql, params).fetchall()
    epochs = {row.memory_id: row.epochs for row in rows}
    found = memories.load(conn, visible, list(epochs), moment)
    return sorted(found, key=lambda one: ranking.best_first(ranking.weight_of(one, epochs[one.memory_id]), one))[:limit]


def list_triggers(conn: Connection, visible: Visible, *, moment: Moment = NOW) -> list[Trigger]:
    """The actions that current memories are tagged with, those whose memories were read most first, then by name."""
    return [Trigger(action, many, accesses) for action, many, accesses, _ in _actions(conn, visible, moment)]


def name_triggers(conn: Connection, visible: Visible, *, moment: Moment = NOW) -> list[tuple[str, int, Trust]]:
    """The same actions, how many memories each has, and the best trust of one that is tagged with it."""
    return [(action, many, trust) for action, many, _, trust in _actions(conn, visible, moment)]


def _actions(conn: Connection, visible: Visible, moment: Moment) -> list[tuple[str, int, int, Trust]]:
    if not visible.scope_ids:
        return []
    sql = (
        "SELECT substr(t.tag, %(cut)s) AS action, count(*) AS memories,"  # noqa: S608 - constants
        " coalesce(sum(a.access_count), 0)::bigint AS accesses, min(m.trust) AS trust"
        f" FROM {memories.source(moment)} CROSS JOIN LATERAL unnest(m.tags) t(tag){memories.ACTIVITY}"
        f" WHERE {memories.VISIBLE} AND {memories.current(moment)} AND NOT m.moot AND {TAGGED}"
        " AND starts_with(t.tag, %(prefix)s) AND length(t.tag) >= %(cut)s"
        ' GROUP BY t.tag ORDER BY accesses DESC, t.tag COLLATE "C" LIMIT %(most)s'
    )
    params = memories.visible_params(visible, moment) | {
        "prefix": PREFIX, "cut": len(PREFIX) + 1, "most": MOST_TRIGGERS,
    }  # fmt: skip
    rows = conn.exec_driver_sql(sql, params).fetchall()
    return [(row.action, row.memories, row.accesses, TRUSTS[row.trust]) for row in rows]
