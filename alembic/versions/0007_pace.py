"""Pace: what measuring at scale showed to be slow."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Put better functions in the place of others."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to the revision before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.refuse_loss(op)
    migrations.run_sql(op, "set local role engram_owner; drop schema engram cascade; reset role")
    for earlier in ("0001", "0002", "0003", "0004", "0005", "0006"):
        migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / earlier)
        migrations.run_sql(op, "reset role")
