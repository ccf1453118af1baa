"""What a measurement ran on: the line every benchmark begins with, and the database it uses."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import re
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg

import engram
from engram import migrations
from engram.embedded import EmbeddedServer

CPU_INFO = Path("/proc/cpuinfo")
# What decides a figure beside the product: embedders, arrays, drivers, calls of models.
LIBRARIES = ("psycopg", "SQLAlchemy", "wordllama", "numpy")
TERMINATED = 143
PASSWORD = re.compile(r"(://[^:/?@]*:)[^?]*(?=@)|([?&]password=)[^&]*")


def sizes(given: str) -> tuple[int, ...]:
    """An option of numbers separated by commas, each 1 or more."""
    if not all(one.isdecimal() and int(one) > 0 for one in given.split(",")):
        raise argparse.ArgumentTypeError(f"expected whole numbers from 1, separated by commas, found {given!r}")
    return tuple(int(one) for one in given.split(","))


def number(given: str) -> int:
    """An option of a whole number, 1 or more."""
    if not (given.isdecimal() and int(given) > 0):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, found {given!r}")
    return int(given)


def database(given: str) -> str:
    """An option of the URL of a database."""
    if "://" not in given:
        raise argparse.ArgumentTypeError(f"expected the URL of a database, found {given!r}")
    return given


def some_of(known: Collection[str]) -> Callable[[str], tuple[str, ...]]:
    """An option of names separated by commas, each of them known."""

    def read(given: str) -> tuple[str, ...]:
        unknown = [one for one in given.split(",") if one not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"expected some of {', '.join(known)}, found {', '.join(unknown)!r}")
        return tuple(given.split(","))

    return read


def asked_for(about: str | None) -> str | None:
    """The database that a command line may name, and nothing else; says what a benchmark is where that is asked."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", nargs="?", type=database, help="a migrated database; otherwise an embedded one")
    url: str | None = parser.parse_args().url
    return url


@contextmanager
def scratch(prefix: str, within: Path | None = None) -> Iterator[Path]:
    """A folder that servers can read, until the end of this; meanwhile a SIGTERM ends the program as an exit does."""

    def leave(*_: object) -> None:
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=within))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        signal.signal(signal.SIGTERM, before)


@contextmanager
def address(named: str | None, *, superuser: bool = False) -> Iterator[str]:
    """The database that was named, or an embedded one in a temporary folder; first says what it runs on.

    Of an embedded one it is the application role's, or the `superuser`'s.
    """
    if named is not None:
        print(heading(named))
        yield named
        return
    with scratch("engram-bench-") as folder, EmbeddedServer.start(folder / "data") as server:
        migrations.upgrade(server.superuser_url)
        print(heading(server.url()))
        yield server.superuser_url if superuser else server.url()


def heading(url: str) -> str:
    """Machine, versions and command, in three lines, without a password."""
    made_of = ", ".join(f"{name} {version}" for name, version in versions(url).items())
    typed = shlex.join(PASSWORD.sub(r"\1\2***", argument) for argument in sys.argv)
    return f"machine   {machine()}\nversions  {made_of}\ncommand   python {typed}\n"


def machine() -> str:
    """Processor, cores, memory and system, in one line."""
    memory = psutil.virtual_memory().total / 2**30
    return f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.release()}"


def versions(url: str, *libraries: str) -> dict[str, str]:
    """The versions of what a measurement on this database ran with, by name, and of libraries that it used besides."""
    with psycopg.connect(url.replace("postgresql+psycopg://", "postgresql://")) as conn:
        server = conn.execute("show server_version").fetchone()
        vector = conn.execute("select extversion from pg_extension where extname = 'vector'").fetchone()
    return {
        "engram": engram.__version__,
        "Python": platform.python_version(),
        "PostgreSQL": str(server[0]) if server else "?",
        "pgvector": str(vector[0]) if vector else "?",
        **{name: importlib.metadata.version(name) for name in (*LIBRARIES, *libraries)},
    }


def _processor() -> str:
    lines = CPU_INFO.read_text().splitlines() if CPU_INFO.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
