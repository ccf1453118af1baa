"""Even paths: of relations that weigh alike a walk follows those that a plain one follows."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Replace a function; no table is touched."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to the functions before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
