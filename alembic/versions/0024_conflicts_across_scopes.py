"""What two scopes say of one thing is listed as a conflict."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """List among the conflicts what a nearer scope says with less trust than a farther one."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to what was before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
