"""The heartbeat: while a model thinks for a job, a thread keeps the job's lease."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from engram import jobs
from engram.database import Database
from engram.errors import EngramError, LeaseLost
from engram.jobs import Job

EVERY: Final = 30.0  # seconds, a quarter of a lease


@contextmanager
def keeping(database: Database, *several: Job, every: float = EVERY) -> Iterator[None]:
    """Extend jobs' leases for as long as the block runs; LeaseLost at its end when another worker has taken one.

    The first beat is due so long after the claim, however many blocks there were before: thoughts that are each short
    may together be longer than a lease. A beat that fails for another reason is missed: the lease outlasts three of
    them, and the fence decides anyway.
    """
    first, done, lost = several[0], threading.Event(), threading.Event()

    def beat() -> None:
        pause = max(0.0, min(job.since for job in several) + every - time.monotonic())
        while not done.wait(pause):
            pause = every
            try:
                database.run(first.tenant_id, lambda conn: jobs.extend(conn, *several), key=first.job_id)
            except LeaseLost:
                lost.set()
                return
            except EngramError:
                continue

    thread = threading.Thread(target=beat, name="engram-heartbeat", daemon=True)
    with suppress(RuntimeError):  # a process that is ending can start no thread, and ends before the lease does
        thread.start()
    try:
        yield
    finally:
        done.set()
        if thread.ident is not None:
            thread.join()
    if lost.is_set():
        raise LeaseLost(job_id=first.job_id)
