"""Nearer to the floors: more of what is asked most is planned once a connection, and has an index of its own."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# What was made, and what tools gave: of a scope these are few among many, and a context lists the newest.
INDEX = """create index concurrently agent_events_made
    on engram.agent_events (tenant_id, scope_id, recorded_at, stream_id, position)
    where event_type in ('artifact', 'tool_result')"""


def upgrade() -> None:
    """Build the index, with which the revision before works too, and then add the functions."""
    migrations.owned_indexes(op, {"agent_events_made": INDEX})
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to the speed before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.refuse_loss(op)
    migrations.run_sql(op, "set local role engram_owner; drop schema engram cascade; reset role")
    for earlier in ("0001", "0002", "0003", "0004", "0005", "0006"):
        migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / earlier)
        migrations.run_sql(op, "reset role")
