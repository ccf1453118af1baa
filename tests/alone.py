"""A migrated database of the tests of one file: whoever looks through all of its tables meets the rows of no others.

It is a copy of one that was migrated once a run and that nobody has written to.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

from engram.embedded import EmbeddedServer


@dataclass(frozen=True)
class Alone:
    """A database beside that of the run, on its server."""

    server: EmbeddedServer
    name: str

    @property
    def superuser_url(self) -> str:
        """Where it is, as the superuser."""
        return self.server.url(user="postgres", database=self.name)

    def url(self) -> str:
        """Where it is, as the application role."""
        return self.server.url(database=self.name)


@contextmanager
def beside(server: EmbeddedServer, migrated: str) -> Iterator[Alone]:
    """A copy of the migrated database that lives as long as the block."""
    own = Alone(server, f"alone_{uuid.uuid4().hex[:12]}")
    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {own.name} TEMPLATE {migrated}")  # type: ignore[arg-type]
        yield own
        conn.execute(f"DROP DATABASE {own.name} WITH (FORCE)")  # type: ignore[arg-type]
