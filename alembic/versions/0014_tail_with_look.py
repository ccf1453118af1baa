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
    """Take the functions away, unless what is below would lose the ledger: then nothing is taken apart."""
    migrations.refuse_loss(op)
    migrations.run_sql(op, "set local role engram_owner")
    migrations.run_sql(op, "drop function engram.look_with_tail")
    migrations.run_sql(op, "drop function engram.tail_events")
    migrations.run_sql(op, "reset role")
