"""Upkeep of large scopes runs as a job, beside the writes."""

from __future__ import annotations

import pytest

from engram import Engram, Scope, jobs, tenancy
from engram.channels import keyword
from engram.database import Connection, Database


def test_a_large_scope_is_tended_by_a_job(
    database: Database, database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engram(database_url, scope=Scope(tenant_id=tenant)) as door:
        door.add_many([{"fact": f"Note {n} is about subject {n * 31}"} for n in range(12)])

        def ask(conn: Connection) -> None:
            scope_id = tenancy.find(conn, Scope(tenant_id=tenant))
            jobs.add(conn, kind="upkeep", dedup_key="one", scope_id=scope_id)

        monkeypatch.setattr(keyword, "LARGE", 10)
        database.run(tenant, ask, key="ask")
        assert door.ops.run_jobs() == 1
        assert door.stats().jobs == {"done": 1}
        with database.transaction(tenant) as conn:
            kept = conn.exec_driver_sql("SELECT df FROM engram.memory_terms WHERE term = ''").scalar()
        assert kept == 12
