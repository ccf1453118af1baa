"""Runs the migrations on the connection it is handed, or on the database named by the environment."""

from __future__ import annotations

import os

import sqlalchemy as sa
from alembic import context
from sqlalchemy.engine import Connection
from sqlalchemy.pool import NullPool

from engram.errors import SettingsError
from engram.migrations import VERSION_SCHEMA, VERSION_TABLE, only_migrator, prepare


def run(connection: Connection) -> None:
    """Run the wanted revisions, each in a transaction of its own."""
    context.configure(
        connection=connection,
        version_table=VERSION_TABLE,
        version_table_schema=VERSION_SCHEMA,
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()


def address() -> sa.URL:
    """The database to migrate when Alembic's own command line is used."""
    for name in ("ENGRAM_MIGRATION_URL", "ENGRAM_DATABASE_URL", "DATABASE_URL"):
        if url := os.environ.get(name):
            return sa.make_url(url).set(drivername="postgresql+psycopg")
    raise SettingsError("Set ENGRAM_MIGRATION_URL or DATABASE_URL; `engram migrate` needs neither.")


if context.is_offline_mode():
    raise SettingsError("Migrations read the database they change: there is no offline mode.")

given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    url = address()
    engine = sa.create_engine(url, poolclass=NullPool, hide_parameters=True)
    with only_migrator(url.render_as_string(hide_password=False)), engine.connect() as own:
        prepare(own)
        run(own)
