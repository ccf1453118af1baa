"""Waiting streams: what is left for a deriver is found without looking into every stream of a scope."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Note at each stream how far it has been read, which rewrites the table of streams, and replace functions."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to the streams before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
