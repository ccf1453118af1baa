"""Topics: what the memories of a scope are about, counted by the names they already have."""

from __future__ import annotations

from typing import Final

from engram import memories
from engram.database import Connection, statement
from engram.memories import NOW, Moment
from engram.recall.finding import EVIDENCE
from engram.tenancy import Visible
from engram.values import TRUSTS, Trust

MOST_TOPICS: Final = 40
MOST_COUNTED: Final = 2_000  # of the newest rows of each scope
NEWEST: Final = (
    "unnest(%(scope_ids)s::bigint[]) s(scope_id) CROSS JOIN LATERAL ("
    "SELECT m.tenant_id, m.scope_id, m.private, m.status, m.consolidated_into, m.expires_at, m.ended_at, m.moot,"
    " m.subject, m.attribute, m.topic_key, m.category, m.memory_type, m.trust"
    " FROM engram.agent_memory m WHERE m.tenant_id = %(tenant_id)s AND m.scope_id = s.scope_id"
    " ORDER BY m.recorded_at DESC, m.memory_id LIMIT %(most)s) m"
)


def count_topics(conn: Connection, visible: Visible, *, moment: Moment = NOW) -> list[tuple[str, int, Trust]]:
    """Names, how many current memories each has, and the best trust of one that says it; the largest first.

    A name is a subject, an attribute, a topic key, a category or a type, the narrowest of these that a memory has.
    Evidence counts for nothing. Of a scope the newest 2,000 rows are looked at.
    """
    if not visible.scope_ids:
        return []
    sql = statement("count_topics").replace("/*rows*/", NEWEST if moment.is_now else memories.source(moment))
    sql = sql.replace("/*visible*/", memories.VISIBLE).replace("/*current*/", memories.current(moment))
    params = memories.visible_params(visible, moment) | {
        "evidence": list(EVIDENCE), "most": MOST_COUNTED, "limit": MOST_TOPICS,
    }  # fmt: skip
    rows = conn.exec_driver_sql(sql, params).fetchall()
    return [(row.name, row.memories, TRUSTS[row.trust]) for row in rows]
