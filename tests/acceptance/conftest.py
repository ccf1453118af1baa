"""What the whole-road tests share: the command line as a function, in a tenant of its own."""

from __future__ import annotations

import pytest
from commands import Cli


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, database_url: str, tenant: str) -> Cli:
    """The command line on the test run's database, in a tenant that no other test has."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("ENGRAM_TENANT", tenant)
    for name in (
        "ENGRAM_DATABASE_URL",
        "ENGRAM_DATA_DIR",
        "ENGRAM_USER",
        "ENGRAM_NAMESPACE",
        "ENGRAM_AGENT",
        "FORCE_COLOR",
    ):
        monkeypatch.delenv(name, raising=False)
    return Cli(capsys)
