"""Recall at full strength: relations with a history, the log of recalls, and what searches need of the database."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what recall needs."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to the background half, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.refuse_loss(op)
    migrations.run_sql(op, "set local role engram_owner; drop schema engram cascade; reset role")
    for earlier in ("0001", "0002"):
        migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / earlier)
        migrations.run_sql(op, "reset role")
