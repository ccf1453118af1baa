"""One function says whether a session or a run holds what is private."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

# What was refused and was to be private is told by no memory: the few decisions of it, by where they were made.
INDEX = """create index concurrently memory_changes_private on engram.memory_changes (tenant_id, scope_id, event_id)
    where decision -> 'private' = 'true'"""


def upgrade() -> None:
    """Build the index, and say in one place what makes a summary, a checkpoint and a session's end private."""
    migrations.owned_indexes(op, {"memory_changes_private": INDEX})
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to what was before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
