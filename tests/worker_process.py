"""Real worker processes for the tests, and the harm that is done to them.

`python worker_process.py '{"lease": 2}' worker --threads 2` is `engram worker --threads 2` with shorter leases. Product
code knows nothing of it: what a test wants otherwise is patched here, in the process that will be killed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil

REPOSITORY = Path(__file__).parents[1]
NURSERY = "nursery"
BEGUN = "a job has begun"  # and not only been claimed
WANTED = "WORKER_PROCESS_WANTED"  # tells the processes that a worker starts itself how to be changed
DRAMATIQ = [sys.executable, "-m", "dramatiq", "workers", "--processes", "1", "--threads", "2"]


def patch(wanted: Mapping[str, Any]) -> None:
    """Change this process as the test wants it."""
    from engram import jobs, scheduler, worker
    from engram.operations import deriving, heartbeat, running, steps

    if "lease" in wanted:
        lease = timedelta(seconds=wanted["lease"])
        jobs.claim.__kwdefaults__["lease"] = jobs.extend.__kwdefaults__["lease"] = lease
        heartbeat.keeping.__wrapped__.__defaults__ = (wanted["lease"] / 4,)  # type: ignore[attr-defined]
        worker.RESCUE = 0.5  # type: ignore[misc]
        scheduler.KEEP = 0.5  # type: ignore[misc]
    if "crashes" in wanted:
        jobs.MOST_CRASHES = wanted["crashes"]  # type: ignore[misc]
    if "poll" in wanted:
        worker.POLL = wanted["poll"]  # type: ignore[misc]
    if "dies_in_effect" in wanted:
        finish = jobs.finish

        def die_or_finish(conn: Any, *several: Any) -> None:
            if random.random() < wanted["dies_in_effect"]:
                os.kill(os.getpid(), signal.SIGKILL)
            finish(conn, *several)

        jobs.finish = die_or_finish  # type: ignore[assignment]
    if "eats_memory_at" in wanted:  # as an OOM killer would have it: the process ends without a word
        drafts = deriving._drafts

        def eat(setup: Any, reading: Any) -> Any:
            if any(
                wanted["eats_memory_at"] in (event.content or "") for span in reading.spans for event in span.events
            ):
                os.kill(os.getpid(), signal.SIGKILL)
            return drafts(setup, reading)

        deriving._drafts = eat
    if "hangs" in wanted:
        derive = running.WORK[jobs.DERIVE]

        def nap() -> None:
            sys.stderr.write(f"{BEGUN}\n")
            sys.stderr.flush()
            time.sleep(wanted["hangs"])

        def hang(setup: Any, job: Any) -> Any:
            yield from steps.think(nap, job)
            yield from derive(setup, job)

        running.WORK = {**running.WORK, jobs.DERIVE: hang}  # type: ignore[misc]
        running.TOGETHER = 1  # type: ignore[misc]
    if "clock" in wanted:
        now, wall = wanted["clock"], time.time
        time.time = lambda: wall() + now  # type: ignore[assignment]


class Member:
    """One worker process."""

    def __init__(self, pid: int, process: subprocess.Popen[bytes] | None = None) -> None:
        self.pid, self.process = pid, process

    @property
    def lives(self) -> bool:
        if self.process is not None:
            return self.process.poll() is None
        with suppress(ProcessLookupError):
            os.kill(self.pid, 0)
            return True
        return False

    def send(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait(self, seconds: float) -> int:
        assert self.process is not None
        return self.process.wait(seconds)


class Crew:
    """Worker processes, started again when they are lost.

    With a nursery they are forked from a process that has imported everything, which is quicker than any kill.
    """

    def __init__(
        self, environment: Mapping[str, str], size: int, *options: str, nursery: bool = False, **wanted: Any
    ) -> None:
        program = [sys.executable, str(Path(__file__)), json.dumps(wanted)]
        self.command = [*program, "worker", *options] if not wanted.get("dramatiq") else DRAMATIQ
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("ENGRAM_", "REDIS_"))}
        self.environment = {**clean, **environment, WANTED: json.dumps(wanted)}
        self.size, self.lost = size, 0
        self.log = Path(tempfile.mkstemp(prefix="engram-workers-")[1])
        self.members: list[Member] = []
        self.nursery = self._run([*program, NURSERY, "worker", *options]) if nursery else None

    def _run(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE if NURSERY in command else None
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command, env=self.environment, stdin=pipe, stdout=pipe or log, stderr=log, cwd=REPOSITORY
            )

    def _born(self) -> Member:
        if self.nursery is None:
            process = self._run(self.command)
            return Member(process.pid, process)
        assert self.nursery.stdin is not None
        assert self.nursery.stdout is not None
        self.nursery.stdin.write(b"one more\n")
        self.nursery.stdin.flush()
        return Member(int(self.nursery.stdout.readline()))

    def keep(self) -> None:
        """Start what is missing."""
        self.lost += sum(not member.lives for member in self.members)
        self.members = [member for member in self.members if member.lives]
        while len(self.members) < self.size:
            self.members.append(self._born())

    def started(self) -> list[Member]:
        """Those that have begun to work."""
        said = self.log.read_text()
        return [member for member in self.members if member.lives and f"worker {member.pid} started" in said]

    def kill_one(self, dice: random.Random) -> bool:
        """kill -9 one of those that work, if any does."""
        working = self.started()
        if working:
            dice.choice(working).send(signal.SIGKILL)
        return bool(working)

    def until(self, done: Callable[[], bool], seconds: float) -> None:
        """Keep the crew complete until something holds."""
        give_up = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < give_up, f"not in {seconds} s\n{self.log.read_text()[-3000:]}"
            self.keep()
            time.sleep(0.05)

    def close(self) -> None:
        for member in self.members:
            with suppress(psutil.NoSuchProcess):
                for child in psutil.Process(member.pid).children(recursive=True):
                    child.kill()
            member.send(signal.SIGKILL)
            if member.process is not None:
                member.process.wait()
        if self.nursery is not None:
            self.nursery.kill()
            self.nursery.communicate()
        self.log.unlink(missing_ok=True)


def nurse(arguments: Sequence[str]) -> None:
    """Be a new worker for every line of standard input: here in the child, where the parent goes on."""
    import dramatiq.brokers.redis  # noqa: F401
    from apscheduler.schedulers import background  # noqa: F401

    from engram import cli, dispatch, service  # noqa: F401
    from engram.cli import app, worker  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in sys.stdin.buffer:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            random.seed()
            os._exit(cli.run(list(arguments)))
        os.write(1, f"{pid}\n".encode())


@contextmanager
def crew(
    environment: Mapping[str, str], size: int, *options: str, nursery: bool = False, **wanted: Any
) -> Iterator[Crew]:
    """Worker processes that live as long as the block."""
    made = Crew(environment, size, *options, nursery=nursery, **wanted)
    try:
        made.keep()
        yield made
    finally:
        made.close()


@contextmanager
def every(seconds: float, harm: Callable[[], object], most: int = 1_000_000) -> Iterator[list[int]]:
    """Do harm again and again while the block runs, so many times at most; how many times it was done."""
    over, done = threading.Event(), [0]
    failed: list[Exception] = []

    def go_on() -> None:
        while done[0] < most and not over.wait(seconds):
            try:
                done[0] += harm() is not False
            except Exception as error:
                failed.append(error)
                return

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join()
    assert failed == []


def main(arguments: Sequence[str]) -> None:
    """Patch, then be `engram`."""
    patch(json.loads(arguments[0]))
    if arguments[1] == NURSERY:
        return nurse(arguments[2:])
    from engram.cli import run

    sys.exit(run(arguments[1:]))


if __name__ == "__main__":
    main(sys.argv[1:])
elif __name__ == "__mp_main__":
    patch(json.loads(os.environ[WANTED]))
