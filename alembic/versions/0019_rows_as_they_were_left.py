"""Rows as they were left: of the past only what has changed since is put together."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

# What may name a memory in its request and leave no other trace of it: an erasure looks through these, of a scope. And
# revisions of what is kept word for word, each in a lineage of its own.
INDEXES = {
    "agent_events_by_id": """create index concurrently agent_events_by_id on engram.agent_events (tenant_id, scope_id)
        where event_type in ('memory_annotated', 'memory_ended', 'memory_forgotten', 'memory_restored',
        'memory_rejected')""",
    "agent_memory_evidence_said": """create index concurrently agent_memory_evidence_said
        on engram.agent_memory (tenant_id, scope_id)
        where deriver is null and category in ('verbatim', 'source_chunk')""",
}


def upgrade() -> None:
    """Build the indexes, and make the functions anew that say how memories stood, and what an erasure left."""
    migrations.owned_indexes(op, INDEXES)
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to what was before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
