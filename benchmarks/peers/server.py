"""What the peers that keep their rows in PostgreSQL share."""

from __future__ import annotations

import importlib.metadata


def tidy(owner_url: str) -> None:
    """Vacuum the database and take its statistics, as autovacuum would have done some minutes later."""
    import psycopg

    with psycopg.connect(owner_url, autocommit=True) as conn:
        conn.execute("VACUUM (ANALYZE)")


def versions(*packages: str) -> str:
    """Names and versions of installed packages."""
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)
