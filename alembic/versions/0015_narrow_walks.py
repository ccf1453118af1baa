"""Narrow walks: a write keeps in view of a graph what it asks for; and appends that end with their statement."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the functions again that say how writes walk graphs, and that append."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to the functions before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
