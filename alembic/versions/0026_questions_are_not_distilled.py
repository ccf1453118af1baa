"""What answers a question cites it, and does not stand for it."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let a memory that answers a question stand for the answer alone."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to what was before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
