"""Fewer messages: what a call asks of the server is asked at once, and costs the server less."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

MEMORIES = "on engram.agent_memory"
# Of indexes that cost the same the planner takes the newest, and in a young database all that begin with the tenant
# cost the same: a memory was looked for by its id through an index of times, which reads the whole tenant. So each says
# by its first column, or by a condition that holds for every row, what it is for, and cannot answer what does not ask
# for that, whatever is known of the rows: for an id only the primary key is left. Of those of a scope the special come
# last. What the newest memories of a scope are about is counted from the first alone: it has their names and what
# makes them current. It has no condition: an index with one is guessed to be smaller, and would be taken before those.
INDEXES = {
    "agent_memory_recent": f"""{MEMORIES} (scope_id, tenant_id, recorded_at desc, memory_id)
        include (subject, attribute, topic_key, category, memory_type, trust, status, consolidated_into, moot,
        expires_at, ended_at, private)""",
    "agent_memory_revision": f"{MEMORIES} (tenant_id, lineage_id, revision) where lineage_id is not null",
    "agent_memory_short": f"""{MEMORIES} (tenant_id, (right(memory_id::text, 8)))
        where right(memory_id::text, 8) is not null""",
    "agent_memory_event": f"{MEMORIES} (tenant_id, event_id) where event_id is not null",
    "agent_memory_key": f"{MEMORIES} (tenant_id, scope_id, conflict_key) where conflict_key is not null",
    "agent_memory_exact": f"""{MEMORIES} (tenant_id, scope_id, fact_hash)
        where status = 'active' and fact_hash is not null""",
    "agent_memory_valid": f"""{MEMORIES} (tenant_id, scope_id, valid_from)
        where scope_id is not null and valid_from is not null""",
    "agent_memory_until": f"{MEMORIES} (tenant_id, scope_id, valid_to) where valid_to is not null",
}
UNIQUE = ("agent_memory_revision",)


def upgrade() -> None:
    """Build the indexes, with which the revision before works too, and then replace the functions."""
    migrations.run_sql(op, "set role engram_owner")  # of the whole connection: each index is a transaction of its own
    for name, ddl in INDEXES.items():
        migrations.replace_index(op, name, ddl, unique=name in UNIQUE)
    migrations.run_sql(op, "reset role")
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to the speed before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
