"""Plans are made for a large tenant, and the finished jobs of a scope are found by an index."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from engram import migrations

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

# What the jobs of a scope or a stream are looked for by once they have ended or failed: all of a tenant's were read.
INDEXES = {
    "memory_jobs_ended": """create index concurrently memory_jobs_ended on engram.memory_jobs (tenant_id, scope_id)
        where state in ('done', 'cancelled')""",
    "memory_jobs_failed": """create index concurrently memory_jobs_failed on engram.memory_jobs (tenant_id, stream_id)
        where error_text is not null""",
}
# An empty table has no statistics to be made anew, and is analyzed once it grows.
ANALYZED = """select c.oid::regclass::text from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
    where c.relnamespace = 'engram'::regnamespace and c.relkind = 'r' and c.reltuples > 0 order by c.oid"""


def upgrade() -> None:
    """Build the indexes, and tell the planner how many tenants to take there to be."""
    migrations.owned_indexes(op, INDEXES)
    migrations.run_ddl(op, Path(__file__).parent.parent / "ddl" / revision)
    migrations.run_sql(op, "reset role")
    with op.get_context().autocommit_block():  # each table on its own, so that none is held while others are read
        migrations.run_sql(op, "set role engram_owner")
        for table in op.get_bind().exec_driver_sql(ANALYZED).scalars().all():
            migrations.run_sql(op, f"analyze (skip_locked) {table}")
        migrations.run_sql(op, "reset role")


def downgrade() -> None:
    """Go back to what was before, unless that would lose the ledger: nothing is taken apart singly."""
    migrations.remake(op, down_revision, revision)
