"""The background half: jobs at scale, language models, sessions, task runs, checkpoints, replay and re-embedding."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what the workers need."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to the foundation, unless that would lose the ledger: what is added here is not taken apart singly."""
    migrations.refuse_loss(op)
    migrations.run_sql(op, "set local role engram_owner; drop schema engram cascade; reset role")
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / "0001")
    migrations.run_sql(op, "reset role")
