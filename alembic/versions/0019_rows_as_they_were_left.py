"""Rows as they were left: of the past only what has changed since is put together."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the functions anew that say how memories stood at a moment, and what an erasure left."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to what was before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
