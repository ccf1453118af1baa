"""Fewer steps: functions that do the same with less."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Replace functions; no table is touched."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to the functions before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
