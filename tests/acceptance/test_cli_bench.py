"""The bench: what it measures and on what, and that nothing of it is left."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from commands import Cli

from engram.cli import bench, machine
from engram.embedded import EmbeddedServer

QUICK = ("--rows", "100", "--times", "2")


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that the user PostgreSQL runs as may enter."""
    made = tmp_path_factory.mktemp("bench")
    for one in (made, *made.parents):
        if one.owner() == made.owner() and one != Path("/"):
            one.chmod(one.stat().st_mode | 0o055)
    yield made
    assert [one.name for one in made.iterdir()] == [], "what was measured on is gone, the data folder was not made"


@pytest.fixture
def owned(server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server whose login may make databases; the measured one is gone afterwards."""
    monkeypatch.setenv("ENGRAM_MIGRATION_URL", server.superuser_url)
    yield
    with psycopg.connect(server.superuser_url.replace("+psycopg", "")) as conn:
        left = conn.execute("SELECT datname FROM pg_database WHERE datname LIKE 'engram_bench%'").fetchall()
    assert left == []


def test_a_bench_says_what_it_ran_on_and_what_each_call_cost(cli: Cli, folder: Path) -> None:
    told = cli.json("bench", *QUICK, "--data-dir", str(folder / "data"))
    assert set(told["versions"]) >= {"engram", "Python", "PostgreSQL", "pgvector"}
    assert told["machine"]
    assert told["command"] == f"engram bench --rows 100 --times 2 --data-dir {folder / 'data'}"
    assert told["data"]["rows"] == 100
    assert len(told["data"]["sha256"]) == 64
    assert [one["name"] for one in told["calls"]] == [
        "add", "add_many (100)", "remember", "search", "recall", "recall_critical", "build_context", "get_history",
        "traverse", "merge",
    ]  # fmt: skip
    for one in told["calls"]:
        assert min(one["p50_ms"], one["select_1_ms"]) > 0
        assert (one["times"], one["p95_ms"], one["p99_ms"]) == (2, None, None), "two calls say nothing of the slowest"
    assert told["found"] == 1.0
    assert told["export"]["rows"] > 100
    assert told["rows_a_second"] > 0


def test_on_a_terminal_it_shows_how_far_it_is(folder: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "engram", "bench", *QUICK, "--data-dir", str(folder / "data")]
    env = os.environ | {"TERM": "xterm-256color"}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=theirs, text=True) as running:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # what Linux says where nobody writes any more
            while part := os.read(ours, 4096):
                shown += part
        out, _ = running.communicate(timeout=120)
    os.close(ours)
    assert running.returncode == 0, shown
    assert "recall_critical" in out
    assert b"Making a database" in shown
    assert b"Adding memories" in shown


@pytest.mark.usefixtures("owned")
def test_on_a_server_of_ones_own_it_measures_in_a_database_beside(cli: Cli) -> None:
    shown = cli("bench", *QUICK)
    assert shown.code == 0, shown.err
    assert "recall_critical" in shown.out
    assert "100 made-up facts, seed 7" in shown.out
    assert cli.json("stats")["memories"] == 0, "nothing went into the database that was named"


@pytest.mark.usefixtures("owned")
def test_a_bench_that_is_stopped_leaves_no_database(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bench, "filled", stopped)
    assert cli("bench", *QUICK).code == 130


def test_a_login_that_may_make_no_database_is_told_what_may(cli: Cli) -> None:
    ran = cli("bench", *QUICK)
    assert ran.code == 2
    assert "ENGRAM_MIGRATION_URL" in ran.err


@pytest.mark.parametrize("given", [("--rows", "99"), ("--times", "0")])
def test_too_little_to_measure_is_refused(cli: Cli, given: tuple[str, str]) -> None:
    assert cli("bench", *given).code == 2


def test_a_percentile_is_told_of_as_many_calls_as_it_needs() -> None:
    assert machine.percentiles([float(n) for n in range(100, 0, -1)]) == (51.0, 96.0, 100.0)
    assert machine.percentiles([3.0, 1.0]) == (3.0, None, None)


def test_no_two_facts_are_alike() -> None:
    assert len({bench.fact(n) for n in range(5_000)}) == 5_000
