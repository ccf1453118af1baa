"""What a benchmark runs on: the database it is given, what it prints of it, and what is left when it is ended."""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scripts import script

ROOT = Path(__file__).parents[2]
SLEEPING = """
import sys, time
sys.path.insert(0, sys.argv[1])
import machine
with machine.address(None):
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.fixture(scope="module")
def machine() -> Iterator[Any]:
    """The helper, which is a script beside the benchmarks and no part of the package."""
    yield from script("machine")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose path is short enough for a socket, and open to the user that PostgreSQL runs as."""
    made = Path(tempfile.mkdtemp(prefix="eb-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def test_a_benchmark_that_is_ended_leaves_no_server_and_no_folder(folder: Path) -> None:
    env = os.environ | {"TMPDIR": str(folder)}
    command = [sys.executable, "-c", SLEEPING, str(ROOT / "benchmarks")]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert any(line == "ready\n" for line in running.stdout)
        assert [one.name[:13] for one in folder.glob("engram-bench-*")] == ["engram-bench-"]
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 143
    assert list(folder.glob("engram-bench-*")) == []


def test_what_a_sigterm_does_is_as_before_afterwards(machine: Any) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with machine.scratch("engram-bench-") as folder:
        assert folder.is_dir()
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
    assert not folder.exists()


def test_the_database_is_the_one_that_was_parsed(
    machine: Any, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["x.py", f"--url={database_url}"])
    with machine.address(database_url) as url:
        assert url == database_url
    assert "command   python x.py" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("postgresql://me:secret@host:5432/db", "postgresql://me:***@host:5432/db"),
        ("--url=postgresql+psycopg://me:se/cr@et@host/db", "--url=postgresql+psycopg://me:***@host/db"),
        ("postgresql://host:5432/db?user=me&password=secret&a=b", "postgresql://host:5432/db?user=me&password=***&a=b"),
        ("postgresql://me@host:5432/db", "postgresql://me@host:5432/db"),
        ("locomo=/x/y.json", "locomo=/x/y.json"),
    ],
)
def test_a_heading_shows_no_password(machine: Any, monkeypatch: pytest.MonkeyPatch, typed: str, shown: str) -> None:
    monkeypatch.setattr(machine, "versions", lambda _: {})
    monkeypatch.setattr(sys, "argv", ["x.py", typed])
    [command] = [line for line in machine.heading("").splitlines() if line.startswith("command")]
    assert command.replace("'", "") == f"command   python x.py {shown}"


@pytest.mark.parametrize(
    "script",
    [
        "answers", "asked", "behaviour", "derivation", "jobs", "ledger", "life", "quality", "recall_log", "remarks",
        "worth",
    ],
)  # fmt: skip
def test_what_is_no_database_is_refused(
    machine: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], script: str
) -> None:
    named = ["--url", "garbage"] if script in ("answers", "quality") else ["garbage"]
    needed = ["--reader", "a-model"] if script == "answers" else []
    monkeypatch.setattr(sys, "argv", [f"{script}.py", *needed, *named])
    with pytest.raises(SystemExit) as left:
        importlib.import_module(script).main()
    assert left.value.code == 2
    assert "expected the URL of a database, found 'garbage'" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--limit", "--tokens"])
@pytest.mark.parametrize("given", ["-3", "0", "few"])
def test_answers_are_of_a_number_of_questions_from_one_on(
    machine: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], option: str, given: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["answers.py", "--reader", "a-model", f"{option}={given}"])
    with pytest.raises(SystemExit) as left:
        importlib.import_module("answers").main()
    assert left.value.code == 2
    assert f"expected a whole number from 1, found '{given}'" in capsys.readouterr().err
