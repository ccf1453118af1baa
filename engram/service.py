"""The service: a process of workers as a whole, with its doorbell, its scheduler, its probe, and its children."""

from __future__ import annotations

import http.client
import json
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection as Pipe
from types import FrameType
from typing import Any, Final

from engram import dispatch
from engram.client import Engram
from engram.operations import running
from engram.scheduler import Scheduler
from engram.settings import Settings, load
from engram.worker import FRESH, PATIENCE, Worker

FIRST_PAUSE: Final = 1.0  # seconds before a lost child is replaced, doubled each time it is lost again soon
LONGEST_PAUSE: Final = 30.0
SETTLED: Final = 60.0  # seconds after which a child counts as well
LEAVING: Final = 30.0  # seconds in which all children together must leave
SIGN: Final = 1.0  # seconds from one sign of life of a child to the next

logger = logging.getLogger(__name__)


class Service:
    """What one process of workers is made of, started and stopped together."""

    def __init__(self, settings: Settings | None = None, threads: int = 4, *, listens: bool = True) -> None:
        settings = settings or load()
        # A connection for each thread, and two for the rest: nobody waits for one.
        settings = settings.model_copy(update={"pool_size": max(settings.pool_size, threads + 2)})
        self.door = Engram(settings=settings)
        core = self.door._core
        self.worker = Worker(core.run, core.setup(self.door.scope), threads)
        self.scheduler = Scheduler(core.run, running.periodic(settings))
        address = self.door.settings.redis_url
        self.listener = (
            dispatch.Listener(address.get_secret_value(), self.worker.wake) if listens and address is not None else None
        )

    def start(self) -> None:
        """Begin to work; returns at once."""
        self.worker.start()
        self.scheduler.start()
        if self.listener is not None:
            self.listener.start()
        heard = "polling, and woken over Redis" if self.door.settings.redis_url is not None else "polling"
        logger.info("worker %d started: %d threads, %s", os.getpid(), self.worker.threads, heard)

    def stop(self, patience: float = PATIENCE) -> None:
        """Stop claiming, finish what runs within `patience` seconds, and give back the rest."""
        logger.info("worker %d stops: finishing what it has begun", os.getpid())
        if self.listener is not None:
            self.listener.stop()
        self.scheduler.stop()
        given = self.worker.stop(patience)
        self.door.close(drain=0.0)
        logger.info("worker %d stopped; %d jobs given back", os.getpid(), given)


def serve(settings: Settings, threads: int, port: int | None = None) -> None:
    """Work in this process until a signal says to stop."""
    service = Service(settings, threads)
    told = _until_told()
    with _probe(port, lambda: service.worker.ready):
        service.start()
        told.wait()
        service.stop()


def supervise(settings: Settings, processes: int, threads: int, port: int | None = None) -> None:
    """Keep so many processes at work until a signal says to stop; one that is lost is replaced."""
    children = [Child(settings, threads) for _ in range(processes)]
    told = _until_told(children)
    with _probe(port, lambda: all(child.ready for child in children)):
        while not told.is_set():
            for child in children:
                child.look_after()
            told.wait(0.2)
        _dismiss(children)


def _dismiss(children: Sequence[Child]) -> None:
    for child in children:
        child.end()
    deadline = time.monotonic() + LEAVING
    for child in children:
        child.wait(max(0.0, deadline - time.monotonic()))


class Child:
    """One process of workers, started again when it is lost."""

    def __init__(self, settings: Settings, threads: int) -> None:
        self._settings, self._threads = settings, threads
        self._process: Any = None
        self._pipe: Pipe | None = None
        self._began = self._signed = self._due = 0.0
        self._pause = FIRST_PAUSE

    @property
    def ready(self) -> bool:
        """Whether the process said lately that it takes jobs."""
        return self._signed > 0 and time.monotonic() - self._signed < FRESH

    def look_after(self) -> None:
        """Start the process if it does not run, and hear its signs of life."""
        now = time.monotonic()
        if self._process is not None and self._process.is_alive():
            with suppress(OSError, EOFError):
                while self._pipe is not None and self._pipe.poll():
                    self._signed = now if self._pipe.recv() else 0.0
        elif self._process is not None:
            self._signed = 0.0
            if now - self._began > SETTLED:
                self._pause = FIRST_PAUSE
            self._due, self._pause = now + self._pause, min(2 * self._pause, LONGEST_PAUSE)
            logger.warning("a worker was lost (exit code %s) and is replaced", self._process.exitcode)
            self._process = None
        elif now >= self._due:
            self._begin(now)

    def _begin(self, now: float) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        root = logging.getLogger("engram")
        as_json = any(isinstance(handler.formatter, _Lines) for handler in root.handlers)
        given = (self._settings, self._threads, theirs, root.level or logging.INFO, as_json)
        self._process = context.Process(target=_work_as_child, args=given, name="engram-worker")
        self._process.start()
        self._began = now
        theirs.close()

    def end(self) -> None:
        """Tell the process to stop, as the loss of its parent would."""
        if self._pipe is not None:
            self._pipe.close()

    def wait(self, patience: float) -> None:
        """Wait for the process to leave, and kill it when it does not."""
        if self._process is not None:
            self._process.join(patience)
            self.kill()

    def kill(self) -> None:
        """End the process at once."""
        if self._process is not None and self._process.is_alive():
            self._process.kill()


def _work_as_child(settings: Settings, threads: int, parent: Pipe, level: int, as_json: bool) -> None:
    told = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to parent and child: the parent passes it on
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    log_to_stderr(level, as_json=as_json)
    service = Service(settings, threads)
    service.start()
    while not told.is_set() and not parent.poll(SIGN):  # its end can be read: the parent says stop, or is lost
        with suppress(OSError):
            parent.send(service.worker.ready)
    service.stop()


def _until_told(children: Sequence[Child] = ()) -> threading.Event:
    """An event that SIGTERM or SIGINT sets; the second of them ends the process and its children at once."""
    told = threading.Event()

    def hear(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if told.is_set():
            for child in children:
                child.kill()
            os._exit(128 + number)
        told.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, hear)
    return told


def log_to_stderr(level: int = logging.INFO, *, as_json: bool = False) -> None:
    """Write what workers do to stderr, a line each, for people or as JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines() if as_json else logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root = logging.getLogger("engram")
    root.handlers, root.propagate = [handler], False
    root.setLevel(level)
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)  # a database that is away is told once, by us


def is_ready(port: int) -> bool:
    """Whether the worker on this machine that answers at the port takes jobs."""
    asked = http.client.HTTPConnection("127.0.0.1", port, timeout=3)
    try:
        asked.request("GET", "/ready")
        return asked.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        asked.close()


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """One JSON object."""
        told = {"at": self.formatTime(record), "level": record.levelname.lower(), "message": record.getMessage()}
        return json.dumps(told, ensure_ascii=False)


@contextmanager
def _probe(port: int | None, ready: Callable[[], bool]) -> Iterator[int | None]:
    """Answer GET /live and GET /ready on a port of every address, while the block runs; the port."""
    if port is None:
        yield None
        return

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            good = path == "/live" or (path == "/ready" and ready())
            self.send_response(200 if good else 404 if path != "/ready" else 503)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing: a probe asks every few seconds."""

    server = ThreadingHTTPServer(("", port), Answer)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="engram-probe", daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
