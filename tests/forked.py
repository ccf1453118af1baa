"""Programs that use the library, each in a process forked from one that has imported it (`tests/imported.py`)."""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from pathlib import Path

FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(["tests.imported", __name__])


def done(
    program: list[str] | str, environment: dict[str, str], place: Path, patience: float
) -> tuple[int | None, str, str]:
    """How a program ends, killed where it takes too long, and what it printed: `engram ...`, or lines of Python."""
    running = FORKING.Process(target=_run, args=(program, environment, place))
    running.start()
    running.join(patience)
    if running.is_alive():
        running.kill()
        running.join()
    return running.exitcode, (place / "out").read_text("utf-8"), (place / "err").read_text("utf-8")


def _run(program: list[str] | str, environment: dict[str, str], place: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(place)
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
    if isinstance(program, list):
        from engram import cli

        sys.argv = program
        cli.main()
    warnings.simplefilter("error")
    exec(compile(program, "<page>", "exec"), {"__name__": "__main__"})
