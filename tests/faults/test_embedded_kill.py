"""The embedded PostgreSQL when its owners or its server are killed, and when what they left lies about."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from engram import embedded
from engram.errors import Unavailable

REPOSITORY = Path(__file__).parents[2]
OWNER = """
import sys
from pathlib import Path
from engram import embedded
server = embedded.start(Path(sys.argv[1]))
print(server.pid, flush=True)
sys.stdin.read()
server.close()
"""


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """A data folder with a cluster in it, to be copied."""
    path = Path(tempfile.mkdtemp(prefix="engram-test-", dir="/tmp"))
    path.chmod(0o755)
    embedded.start(path / "data").close()
    yield path / "data"
    shutil.rmtree(path)


@pytest.fixture
def data(made: Path) -> Iterator[Path]:
    """A data folder of the test's own."""
    place = Path(tempfile.mkdtemp(prefix="engram-test-", dir="/tmp"))
    place.chmod(0o755)
    subprocess.run(["cp", "-a", str(made), str(place / "data")], check=True)
    yield place / "data"
    embedded.stop(place / "data")
    shutil.rmtree(place)


def connect(server: embedded.EmbeddedServer) -> psycopg.Connection[Any]:
    return psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True)


@contextmanager
def owner(data: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that uses the server until its standard input closes."""
    command = [sys.executable, "-c", OWNER, str(data)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as process:
        try:
            yield process
        finally:
            process.kill()


def first_line(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


def leave(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(30) == 0


def kill(pid: int) -> None:
    """Kill a process and wait until it is dead, though perhaps not reaped: the signal takes a moment to arrive."""
    process = psutil.Process(pid)
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    with suppress(psutil.NoSuchProcess):
        while process.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline
            time.sleep(0.005)


def test_processes_that_start_at_once_share_one_server_until_the_last_leaves(data: Path) -> None:
    with owner(data) as a, owner(data) as b, owner(data) as c, owner(data) as d:
        owners = [a, b, c, d]
        assert len({first_line(process) for process in owners}) == 1
        assert sorted(embedded.status(data).users) == sorted(process.pid for process in owners)
        for process in owners[:3]:
            leave(process)
            assert embedded.status(data).running
        leave(d)
        assert not embedded.status(data).running


def test_a_killed_owner_is_no_user_and_the_next_to_leave_stops_the_server(data: Path) -> None:
    with owner(data) as process:
        pid = first_line(process)
        kill(process.pid)
        process.wait()
    assert embedded.status(data).running
    with embedded.start(data) as server:
        assert server.pid == pid
        assert embedded.status(data).users == (os.getpid(),)
    assert not embedded.status(data).running
    assert list((data / "users").iterdir()) == []


def test_a_killed_server_is_started_again_with_every_row_at_the_same_address(data: Path) -> None:
    with embedded.start(data) as server:
        url, first = server.url(), server.pid
        with connect(server) as connection:
            connection.execute("create table kept (number int)")
            for number in range(50):
                connection.execute("insert into kept values (%s)", [number])
            kill(server.pid)
            assert server.ensure_running() is True
        assert server.ensure_running() is False
        assert server.url() == url
        assert server.pid != first
        assert not psutil.pid_exists(first)  # a zombie of ours would still be there
        with connect(server) as connection:
            row = connection.execute("select count(*), sum(number) from kept").fetchone()
    assert row == (50, 49 * 25)


def test_processes_that_outlive_a_killed_server_are_ended_before_the_next_one_starts(data: Path) -> None:
    with embedded.start(data) as server:
        first = server.pid

        def compute() -> None:
            with suppress(psycopg.Error), connect(server) as connection:
                connection.execute("select count(*) from generate_series(1, 1e12::bigint)")

        busy = threading.Thread(target=compute)
        busy.start()
        while not (backends := backends_in_a_query(first)):
            time.sleep(0.01)
        kill(first)
        began = time.monotonic()
        assert server.ensure_running() is True
        assert time.monotonic() - began < 120  # not as long as the statement that was left behind would run
        assert not any(process.is_running() and process.status() != "zombie" for process in backends)
        busy.join()


def backends_in_a_query(pid: int) -> list[psutil.Process]:
    return [child for child in psutil.Process(pid).children() if "[local] SELECT" in " ".join(child.cmdline())]


def test_a_zombie_that_another_process_does_not_reap_does_not_block_the_start(data: Path) -> None:
    with owner(data) as process:
        first = first_line(process)
        kill(first)
        assert psutil.Process(first).status() == psutil.STATUS_ZOMBIE
        with embedded.start(data) as server:
            assert server.pid != first
            assert sorted(embedded.status(data).users) == sorted([os.getpid(), process.pid])
        leave(process)
        assert not embedded.status(data).running


def test_a_pid_file_that_names_a_stranger_does_not_block_the_start_nor_hurt_the_stranger(data: Path) -> None:
    server = embedded.start(data)
    pid_file = data / "postgres" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    kill(server.pid)
    with subprocess.Popen(["sleep", "60"]) as stranger:
        pid_file.write_text("\n".join([str(stranger.pid), *lines[1:]]) + "\n")
        (server.socket_dir / ".s.PGSQL.5432.lock").write_text(f"{stranger.pid}\n")
        assert not embedded.status(data).running
        assert embedded.stop(data) is False
        assert server.ensure_running() is True
        server.close()
        assert stranger.poll() is None
        stranger.kill()


@pytest.mark.parametrize("content", ["", "no number\n", "12345\n"])
def test_a_pid_file_cut_short_does_not_block_the_start(data: Path, content: str) -> None:
    (data / "postgres" / "postmaster.pid").write_text(content)
    shutil.copystat(data / "postgres" / "PG_VERSION", data / "postgres" / "postmaster.pid")
    with embedded.start(data) as server, connect(server) as connection:
        assert connection.execute("select 1").fetchone() == (1,)


def test_a_killed_backend_is_replaced_without_a_new_server(data: Path) -> None:
    with embedded.start(data) as server:
        with connect(server) as connection:
            kill(connection.info.backend_pid)
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            with suppress(psycopg.OperationalError), connect(server) as connection:
                assert connection.execute("select 1").fetchone() == (1,)
                break
            time.sleep(0.05)
        else:
            pytest.fail("no connection within 15 s")
        assert server.ensure_running() is False


def test_a_first_start_killed_at_any_moment_leaves_a_folder_that_starts(data: Path) -> None:
    fresh = data.with_name("data-fresh")
    for moment in (0.15, 0.3, 0.5, 0.8):
        with owner(fresh) as process:
            time.sleep(moment)
            kill(process.pid)
            process.wait()
    with embedded.start(fresh) as server, connect(server) as connection:
        assert connection.execute("select current_database()").fetchone() == ("engram",)
    embedded.start(fresh).close()  # an initdb that outlived its owner has ended by now
    assert sorted(path.name for path in fresh.glob("postgres*")) == ["postgres"]


def test_a_folder_in_use_by_processes_out_of_sight_is_left_alone(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As seen from a second container on the same volume: the lock is held, and no process is visible.
    with embedded.start(data):
        monkeypatch.setattr(embedded, "is_alive", lambda folder, pid: False)
        monkeypatch.setattr(psutil, "process_iter", lambda: iter(()))
        monkeypatch.setattr(embedded, "ORPHAN_PATIENCE", 0.1)
        monkeypatch.setattr(embedded, "DESERTION_TIMEOUT", 0.1)
        with pytest.raises(Unavailable, match="Another machine or container"):
            embedded.start(data)
        monkeypatch.undo()
        assert embedded.status(data).running
