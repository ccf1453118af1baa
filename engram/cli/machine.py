"""What a measurement runs on, a folder for a while, and how its times are told."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psutil
import psycopg

from engram import __version__
from engram.cli.server import plain_url

CPU_INFO: Final = Path("/proc/cpuinfo")
TERMINATED: Final = 143
LEAST: Final = 20  # calls, as many as a 95th percentile is of
MANY: Final = 100  # calls that a 99th percentile is of
# What decides a figure beside the product: embedders, arrays, drivers, calls of models.
LIBRARIES: Final = ("psycopg", "SQLAlchemy", "wordllama", "numpy")


def machine() -> str:
    """Processor, cores, memory and system, in one line."""
    memory = psutil.virtual_memory().total / 2**30
    return f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.release()}"


def versions(url: str, *libraries: str) -> dict[str, str]:
    """The versions of what a measurement on this database ran with, by name, and of libraries that it used besides."""
    with psycopg.connect(plain_url(url)) as conn:
        server = conn.execute("show server_version").fetchone()
        vector = conn.execute("select extversion from pg_extension where extname = 'vector'").fetchone()
    return {
        "engram": __version__,
        "Python": platform.python_version(),
        "PostgreSQL": str(server[0]) if server else "?",
        "pgvector": str(vector[0]) if vector else "?",
        **{name: importlib.metadata.version(name) for name in (*LIBRARIES, *libraries)},
    }


@contextmanager
def ending() -> Iterator[None]:
    """Meanwhile a SIGTERM ends the program as an exit does: what it made for a while is taken away."""

    def leave(*_: object) -> None:
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def scratch(prefix: str, within: Path | None = None) -> Iterator[Path]:
    """A folder that servers can read, until the end of this or of the program."""
    with ending():
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=within))
        try:
            folder.chmod(0o755)  # PostgreSQL may run as another user
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def percentiles(found: Sequence[float]) -> tuple[float, float | None, float | None]:
    """The median, the 95th and the 99th percentile; None of fewer calls than 20 and 100, of which these say nothing."""
    ordered = sorted(found)
    middle, late, last = (ordered[int(share * len(ordered))] for share in (0.5, 0.95, 0.99))
    return middle, late if len(found) >= LEAST else None, last if len(found) >= MANY else None


def milliseconds(value: float | None) -> str:
    """A time as a table shows it: three digits that say something, and a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def _processor() -> str:
    lines = CPU_INFO.read_text().splitlines() if CPU_INFO.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
