"""A server that may be killed, and a tenant on it whose jobs wait for worker processes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from table import Table

from engram import migrations
from engram.embedded import EmbeddedServer


@pytest.fixture(scope="module")
def mortal(major: int) -> Iterator[EmbeddedServer]:
    """A server of the module's own: workers look after every tenant, and some tests kill it."""
    folder = Path(tempfile.mkdtemp(prefix="engram-kill-"))
    folder.chmod(0o755)
    with EmbeddedServer.start(folder / "data", major=major) as server:
        migrations.upgrade(server.superuser_url)
        yield server
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def table(mortal: EmbeddedServer, tenant: str) -> Iterator[Table]:
    laid = Table(mortal, tenant)
    yield laid
    mortal.ensure_running()
    laid.rows("update engram.memory_jobs set state = 'cancelled', finished_at = now(), lease_token = null,"
              " lease_until = null where state in ('queued', 'running', 'paused') returning 1")  # fmt: skip
