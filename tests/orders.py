"""Whether the rows of every lineage of a tenant stand where the pure order of their statements puts them."""

from __future__ import annotations

from engram.arrays import Texts
from engram.database import Database, fetch_all, fetch_named
from engram.lineage import Member, moot, places

_LINES = (
    "SELECT DISTINCT lineage_id::text FROM engram.agent_memory WHERE tenant_id = %(tenant_id)s AND scope_id > 0"
    " AND status <> 'quarantined'"
)
_ASTRAY = """  -- what two derivers found in one event is one statement, of whichever ordinal
SELECT m.fact, m.status, m.stands_at, q.holds_at
  FROM engram.agent_memory m
 CROSS JOIN LATERAL (
       SELECT s.* FROM engram.memory_sources s
        WHERE s.tenant_id = m.tenant_id AND s.memory_id = m.memory_id
        ORDER BY s.trust, s.holds_at DESC, s.recorded_at DESC, s.event_id DESC, s.ordinal DESC LIMIT 1) q
 WHERE m.tenant_id = %(tenant_id)s AND m.trust = q.trust AND m.deriver IS DISTINCT FROM 'lifecycle'
   AND m.status_reason IS DISTINCT FROM 'erased'
   AND (m.stands_at, m.stands_recorded_at, m.stands_event_id) IS DISTINCT FROM (q.holds_at, q.recorded_at, q.event_id)
"""
_UNDATED = (
    "SELECT fact, status, superseded_at FROM engram.agent_memory WHERE tenant_id = %(tenant_id)s"
    " AND status IN ('active', 'superseded', 'contested') AND (status = 'superseded') <> (superseded_at IS NOT NULL)"
)


def stand_in_order(database: Database, tenant: str) -> None:
    """Compare what is stored of every row with what the order says of it."""
    with database.transaction(tenant, read_only=True) as conn:
        lines = {row.lineage_id for row in fetch_named(conn, _LINES, {"tenant_id": tenant})}
        found = fetch_all(conn, "list_lineage_members", tenant_id=tenant, lineage_ids=Texts(sorted(lines)))
        astray = fetch_named(conn, _ASTRAY, {"tenant_id": tenant})
        assert not astray, "a row stands where the latest of its best trusted statements puts it"
        undated = fetch_named(conn, _UNDATED, {"tenant_id": tenant})
        assert not undated, "what is superseded says since when, and nothing else does"
    for line in lines:
        rows = [row for row in found if row.lineage_id == line]
        members = [
            Member(
                row.memory_id, (row.stands_at, row.stands_recorded_at, row.stands_event_id, row.stands_ordinal),
                row.trust, row.fact, row.valid_from, row.put_away or row.status in ("archived", "deleted"), row.negates,
                row.status_reason == "erased",
            )
            for row in rows
        ]  # fmt: skip
        stored = {row.memory_id: (row.status, row.superseded_by, row.moot) for row in rows}
        wrong = {
            memory_id: (stored[memory_id], place)
            for memory_id, place in places(members).items()
            if stored[memory_id] != (place.status, place.superseded_by, place.moot)
        }
        away = {member.memory_id for member in members if member.put_away}
        assert {name for name in away if stored[name][2]} == away & moot(members)
        assert not wrong, [(row.fact, row.status, row.moot, str(row.stands_at)) for row in rows]
