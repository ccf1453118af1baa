"""Upkeep: what large scopes need beside their writes, done by a job and never by a writer."""

from __future__ import annotations

from typing import Final

from engram import tenancy
from engram.channels import keyword, semantic
from engram.database import Connection, fetch_one

KIND: Final = "upkeep"  # of the job
GROWTH: Final = 1.2  # how much larger a scope must be than when its words were counted


def is_wanted(conn: Connection, tenant_id: str, scope_id: int) -> bool:
    """Whether a scope is large enough for upkeep to have anything to do."""
    row = fetch_one(conn, "look_at_terms", tenant_id=tenant_id, scope_id=scope_id)
    return row is not None and row.size >= keyword.LARGE


def tend(conn: Connection, tenant_id: str, scope_id: int, model_id: int | None) -> bool:
    """Count the words of a scope that has grown, and put one batch of its fresh vectors into the graph.

    True when there is more to do: call it again, in another transaction. A small scope needs nothing.
    """
    row = fetch_one(conn, "look_at_terms", tenant_id=tenant_id, scope_id=scope_id)
    if row is not None and row.size >= keyword.LARGE and row.size > GROWTH * (row.counted or 0):
        # An erasure holds this lock, too: what it did not see counted yet would stay counted.
        tenancy.keep_replays_out(conn, tenant_id, scope_id)
        keyword.refresh_terms(conn, tenant_id, scope_id)
    if model_id is None:
        return False
    return semantic.index_fresh(conn, tenant_id, scope_id, model_id) > 0
