"""What the tests share: one embedded PostgreSQL a run, migrated once, and a tenant of its own for every test.

Tenants are walled off from each other by the database itself, so a fresh tenant is a fresh memory. A test that needs a
database of its own takes `migrated_database_url`, one about migrations `fresh_database_url`, and a file of tests that
look through whole tables takes `alone`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import psycopg
import pytest
from alone import Alone, beside
from waiting import PATIENCE

from engram import migrations
from engram.database import Database
from engram.embedded import DATABASE, EmbeddedServer
from engram.recall import finding
from engram.settings import Settings, load

# How long an example takes to make or to try is the machine's affair.
hypothesis.settings.register_profile(
    "engram",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large],
)
hypothesis.settings.load_profile("engram")

MAJOR = int(os.environ.get("TEST_POSTGRES_MAJOR", "18"))


def pytest_configure(config: pytest.Config) -> None:
    """What LiteLLM makes pydantic warn of, and the loops it leaves open, are no errors of ours; all else stays one."""
    for known in (
        "Accessing the 'model_:DeprecationWarning",
        "Item '.*' on TypedDict class:UserWarning",
        "unclosed event loop:ResourceWarning",
        "coroutine 'OpenAIChatCompletion.*' was never awaited:RuntimeWarning",  # where a call is cut before it begins
        "Exception ignored in. <coroutine object OpenAIChatCompletion:pytest.PytestUnraisableExceptionWarning",
        r"unclosed <socket.socket fd=\d+, family=1, type=1, proto=0>:ResourceWarning",  # by which a loop wakes itself
    ):
        config.addinivalue_line("filterwarnings", f"ignore:{known}")


@pytest.fixture(scope="session", autouse=True)
def patient_channels() -> Iterator[None]:
    """On a machine that is busy with more than a test no channel of a search is given up; tests of that say so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finding, "TIMEOUTS", dict.fromkeys(finding.TIMEOUTS, 60.0))
        yield


@pytest.fixture(scope="session")
def major() -> int:
    """The major version of PostgreSQL that the tests run against."""
    return MAJOR


@pytest.fixture(scope="session")
def server(major: int) -> Iterator[EmbeddedServer]:
    """An embedded PostgreSQL that lives as long as the run."""
    folder = Path(tempfile.mkdtemp(prefix="engram-test-"))
    folder.chmod(0o755)
    with EmbeddedServer.start(folder / "data", major=major) as running:
        _write_through(running, "off")
        yield running
    shutil.rmtree(folder, ignore_errors=True)


def _write_through(server: EmbeddedServer, whether: str) -> None:
    """Have the server wait for the disk at every commit, or not.

    Only a machine that goes down loses what was not written through, and no test takes the machine down: a server that
    is killed finds everything again.
    """
    url = server.superuser_url.replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(f"ALTER SYSTEM SET fsync = {whether}")  # type: ignore[arg-type]
        conn.execute("SELECT pg_reload_conf()")

    deadline = time.monotonic() + PATIENCE
    while True:
        with psycopg.connect(url) as conn:
            if conn.execute("SHOW fsync").fetchone() == (whether,):
                return
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture(scope="module")
def durable(server: EmbeddedServer) -> Iterator[None]:
    """For tests of what the library says of a server: it is set up as one that people use."""
    _write_through(server, "on")
    yield
    _write_through(server, "off")


@pytest.fixture(scope="session")
def migrated(server: EmbeddedServer) -> str:
    """The name of a migrated database nobody can write to: a copy of it is made sooner than another is migrated."""
    migrations.upgrade(server.superuser_url)
    outside = server.url(user="postgres", database="postgres").replace("+psycopg", "")
    with psycopg.connect(outside, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE migrated TEMPLATE {DATABASE}")  # type: ignore[arg-type]
        conn.execute("ALTER DATABASE migrated ALLOW_CONNECTIONS false")
    return "migrated"


@pytest.fixture(scope="session")
def database_url(server: EmbeddedServer, migrated: str) -> str:
    """The migrated database of the run, as the application role."""
    return server.url()


@pytest.fixture(scope="module")
def alone(server: EmbeddedServer, migrated: str) -> Iterator[Alone]:
    """A migrated database of the tests of one file."""
    with beside(server, migrated) as own:
        yield own


@pytest.fixture
def fresh_database_url(server: EmbeddedServer) -> Iterator[str]:
    """An empty, unmigrated database of its own, as the superuser."""
    name = f"fresh_{uuid.uuid4().hex[:12]}"
    plain = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(plain, autocommit=True) as conn:
        conn.execute(f'CREATE DATABASE "{name}"')  # type: ignore[arg-type]
    yield server.url(user="postgres", database=name)
    with psycopg.connect(plain, autocommit=True) as conn:
        conn.execute(f'DROP DATABASE "{name}" WITH (FORCE)')  # type: ignore[arg-type]


@pytest.fixture
def migrated_database_url(server: EmbeddedServer, migrated: str) -> Iterator[str]:
    """A migrated database of its own, as the superuser."""
    with beside(server, migrated) as own:
        yield own.superuser_url


@pytest.fixture(scope="session")
def guesses(server: EmbeddedServer) -> bool:
    """Whether the server guesses badly of a table that nobody has counted: until 17 a list of scopes takes no index."""
    with psycopg.connect(server.superuser_url.replace("postgresql+psycopg://", "postgresql://")) as conn:
        return conn.info.server_version < 170000


@pytest.fixture(scope="session")
def settings() -> Settings:
    """Settings that no environment touches."""
    return load({})


@pytest.fixture(scope="session")
def database(database_url: str, settings: Settings) -> Iterator[Database]:
    """The database of the run, through the library's own transactions."""
    opened = Database(database_url, settings)
    yield opened
    opened.close()


@pytest.fixture
def tenant() -> str:
    """A tenant that no other test has."""
    return f"t-{uuid.uuid4().hex[:16]}"
