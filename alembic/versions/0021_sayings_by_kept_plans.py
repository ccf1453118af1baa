"""What was said since a fact was told is found by plans that are kept."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

# What people said and no rule read, by the day on which they said it.
INDEX = """create index concurrently agent_memory_said on engram.agent_memory (tenant_id, scope_id, stands_at)
    where status = 'active' and category = 'verbatim'"""


def upgrade() -> None:
    """Build the index, and make the functions an answer asks for what was said since its fact."""
    migrations.owned_indexes(op, {"agent_memory_said": INDEX})
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to what was before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
