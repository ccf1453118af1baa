"""Topics: what the memories of a scope are about, from its tree, else counted by the names they already have."""

from __future__ import annotations

from typing import Final

from engram import memories
from engram.database import Connection
from engram.lifecycle import trees
from engram.memories import NOW, Moment
from engram.recall.finding import EVIDENCE
from engram.tenancy import Visible
from engram.values import TRUSTS, Trust

MOST_TOPICS: Final = 40
MOST_COUNTED: Final = 2_000  # of the newest rows of each scope


def list_topics(conn: Connection, visible: Visible, *, moment: Moment = NOW) -> list[tuple[str, int, Trust]]:
    """Names, how many current memories each has, and how far each is to be trusted; the largest first.

    Now they are the widest topics of the trees there are, each with the id it is opened by; where there is none, and at
    any other moment, they are counted.
    """
    rows = [row for row in trees.seen(conn, visible) if row.parent_id is None] if moment.is_now else []
    if not rows:
        return count_topics(conn, visible, moment=moment)
    return [
        (trees.shown(row.scope_id, row.topic_id, row.name, visible), row.members, TRUSTS[row.trust])
        for row in rows[:MOST_TOPICS]
    ]


def count_topics(conn: Connection, visible: Visible, *, moment: Moment = NOW) -> list[tuple[str, int, Trust]]:
    """Names, how many current memories each has, and the best trust of one that says it; the largest first.

    A name is a subject, an attribute, a topic key, a category or a type, the narrowest of these that a memory has.
    Evidence counts for nothing. Of a scope the newest 2,000 rows are looked at.
    """
    if not visible.scope_ids:
        return []
    sql = memories.filled("count_topics", memories.newest(moment), moment)
    params = memories.visible_params(visible, moment) | {
        "evidence": list(EVIDENCE), "most": MOST_COUNTED, "limit": MOST_TOPICS,
    }  # fmt: skip
    rows = conn.exec_driver_sql(sql, params).fetchall()
    return [(row.name, row.memories, TRUSTS[row.trust]) for row in rows]
