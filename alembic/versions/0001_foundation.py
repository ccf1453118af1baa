"""The foundation: roles, scopes, the ledger, jobs, memories, search, views and what protects them."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create everything."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    # The files act as the owner; the version table belongs to whoever migrates.
    migrations.run_sql(op, "reset role")
    migrations.run_sql(op, f"grant select on {migrations.VERSION_SCHEMA}.{migrations.VERSION_TABLE} to engram_app")


def downgrade() -> None:
    """Drop the schema, unless that would lose the ledger; roles and the extension may serve others, and stay."""
    migrations.refuse_loss(op)
    migrations.run_sql(op, "set local role engram_owner; drop schema engram cascade; reset role")
