"""One function says whether a session or a run holds what is private."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Say in one place what makes a summary, a checkpoint and the end of a session private."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to what was before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
