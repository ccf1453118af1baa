"""Vectors in writes: they come as the server keeps them, and of what is near only as much is read as is told."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the functions anew that take vectors of many memories, and the one that reads what is near a candidate."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to what was before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
