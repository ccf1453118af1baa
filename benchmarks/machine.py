"""What a measurement ran on: the line every benchmark begins with, and the database it uses."""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg

import engram
from engram import migrations
from engram.embedded import EmbeddedServer

CPU_INFO = Path("/proc/cpuinfo")


def asked_for(about: str | None) -> None:
    """Read a command line that may name a database and nothing else; says what a benchmark is where that is asked."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", nargs="?", help="a migrated database; otherwise an embedded one")
    given = parser.parse_args()
    if given.url is not None and "://" not in given.url:
        parser.error(f"expected the URL of a database, found {given.url!r}")


@contextmanager
def address(*, superuser: bool = False) -> Iterator[str]:
    """The database named on the command line, or an embedded one in a temporary folder; first says what it runs on.

    Of an embedded one it is the application role's, or the `superuser`'s.
    """
    named = next((argument for argument in sys.argv[1:] if "://" in argument), None)
    if named is not None:
        print(heading(named))
        yield named
        return
    folder = Path(tempfile.mkdtemp(prefix="engram-bench-"))
    folder.chmod(0o755)
    try:
        with EmbeddedServer.start(folder / "data") as server:
            migrations.upgrade(server.superuser_url)
            print(heading(server.url()))
            yield server.superuser_url if superuser else server.url()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def heading(url: str) -> str:
    """Machine, versions and command, in three lines."""
    made_of = ", ".join(f"{name} {version}" for name, version in versions(url).items())
    return f"machine   {machine()}\nversions  {made_of}\ncommand   python {shlex.join(sys.argv)}\n"


def machine() -> str:
    """Processor, cores, memory and system, in one line."""
    memory = psutil.virtual_memory().total / 2**30
    return f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.release()}"


def versions(url: str) -> dict[str, str]:
    """The versions of what a measurement on this database ran with, by name."""
    with psycopg.connect(url.replace("postgresql+psycopg://", "postgresql://")) as conn:
        server = conn.execute("show server_version").fetchone()
        vector = conn.execute("select extversion from pg_extension where extname = 'vector'").fetchone()
    return {
        "engram": engram.__version__,
        "Python": platform.python_version(),
        "PostgreSQL": str(server[0]) if server else "?",
        "pgvector": str(vector[0]) if vector else "?",
    }


def _processor() -> str:
    lines = CPU_INFO.read_text().splitlines() if CPU_INFO.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
