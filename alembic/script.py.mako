"""${message}."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}


def upgrade() -> None:
    """Expand: release N-1 must still run on the schema this leaves."""
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)


def downgrade() -> None:
    """Undo it with every row kept, or refuse."""
    raise NotImplementedError
