"""Light answers: what is asked most brings less, and every transaction begins with less."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

# What was ever pinned, so that a read of the past finds what was pinned then.
INDEX = """create index concurrently memory_changes_pinned on engram.memory_changes (tenant_id, scope_id, memory_id)
    where state ->> 'critical_slot' is not null"""


def upgrade() -> None:
    """Build the index, with which the revision before works too, and then replace the functions."""
    migrations.owned_indexes(op, {"memory_changes_pinned": INDEX})
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to the speed before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
