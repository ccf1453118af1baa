"""The command that runs workers, and the one that asks whether they are ready."""

from __future__ import annotations

from typing import Annotated

import typer

from engram.cli.desk import Desk
from engram.errors import Unavailable


def worker(
    desk: Desk,
    processes: Annotated[int, typer.Option("--processes", "-p", help="Processes.", min=1, max=64)] = 1,
    threads: Annotated[int, typer.Option("--threads", "-t", help="Threads a process.", min=1, max=64)] = 4,
    probe: Annotated[
        int | None, typer.Option("--probe", help="Answer /live and /ready over HTTP on this port.", min=1, max=65_535)
    ] = None,
    ready: Annotated[bool, typer.Option("--ready", help="Ask the worker with this --probe; exit 0 or 5.")] = False,
) -> None:
    """Run the jobs of every tenant until told to stop, woken over Redis where there is one, otherwise by polling.

    SIGTERM and SIGINT let what has begun finish, within 25 seconds; a second one ends at once.
    """
    from engram import service

    if ready:
        if probe is None:
            raise typer.BadParameter("--ready needs the --probe port of the worker.")
        if not service.is_ready(probe):
            raise Unavailable(f"The worker with probe port {probe} is not ready.")
        return
    service.log_to_stderr(as_json=desk.json)
    settings = desk.settings()
    if processes == 1:
        service.serve(settings, threads, probe)
    else:
        service.supervise(settings, processes, threads, probe)
