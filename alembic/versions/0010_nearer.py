"""Nearer to the floors: searches, walks and writes cost the server less."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

INDEXES: dict[str, str] = {}


def upgrade() -> None:
    """Build the indexes, with which the revision before works too, and then replace the functions."""
    migrations.run_sql(op, "set role engram_owner")  # of the whole connection: each index is a transaction of its own
    for name, ddl in INDEXES.items():
        migrations.replace_index(op, name, ddl)
    migrations.run_sql(op, "reset role")
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to the speed before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.refuse_loss(op)
    migrations.run_sql(op, "set local role engram_owner; drop schema engram cascade; reset role")
    for earlier in ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009"):
        migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / earlier)
        migrations.run_sql(op, "reset role")
