"""Statistics of young tables: the library has them analyzed while autovacuum has not come yet."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the function that analyzes what has grown, and keep what was said out of what it samples."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to what was before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
