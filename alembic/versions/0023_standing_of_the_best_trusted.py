"""A memory stands where its best trusted statements put it."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let who is less trusted move nothing by saying it again, now and at every moment of the past."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to what was before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
