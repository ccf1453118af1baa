"""Tail with look: what was said a moment ago comes in the message that looks at a question."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the functions that tell what a search must know together with what waits for derivers."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to the functions before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
