"""Standing: what an agent takes up again, found by its place in memory and by no question."""

from __future__ import annotations

from typing import Final

from engram import memories, ranking
from engram.database import Connection
from engram.memories import NOW, Moment
from engram.recall.finding import EVIDENCE
from engram.tenancy import Visible
from engram.values import Memory

MOST_CORE: Final = 200
MOST_RECENT: Final = 100
MOST_LOOKED_AT: Final = 1_000  # of the newest rows of each scope


def list_core(conn: Connection, visible: Visible, *, moment: Moment = NOW) -> list[Memory]:
    """The current memories of the core that are not pinned, those of most weight first."""
    if not visible.scope_ids:
        return []
    sql = memories.filled("list_core_memories", memories.source(moment), moment)
    params = memories.visible_params(visible, moment) | {"limit": MOST_CORE}
    rows = conn.exec_driver_sql(sql, params).fetchall()
    found = memories.load(conn, visible, [row.memory_id for row in rows], moment)
    return sorted(found, key=lambda one: ranking.best_first(ranking.weight_of(one), one))


def list_recent(conn: Connection, visible: Visible, epochs: int, *, moment: Moment = NOW) -> list[Memory]:
    """The current memories beside the core and what is pinned that are as new as the last `epochs` of their scope.

    An epoch in which nothing was remembered does not count. The latest counts by the hour, as if each hour of it in
    which anything was remembered were one: where no cycle runs, none ends. Newest first; evidence of which something
    was distilled is left to that, and what was said in a task run to the run.
    """
    if not visible.scope_ids or not epochs:
        return []
    sql = memories.filled("list_recent_memories", memories.newest(moment), moment)
    params = memories.visible_params(visible, moment) | {
        "epochs": epochs, "evidence": list(EVIDENCE), "most": MOST_LOOKED_AT, "limit": MOST_RECENT,
    }  # fmt: skip
    rows = conn.exec_driver_sql(sql, params).fetchall()
    return memories.load(conn, visible, [row.memory_id for row in rows], moment)
