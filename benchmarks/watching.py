"""Watching: what a call sends to the server, message by message, and how much memory a process takes meanwhile.

`Wire` stands between a client and PostgreSQL on a Unix socket and reads the protocol, so that nothing of the client's
own bookkeeping is believed: pipelines, pings of a pool and statements of a driver all count.
"""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil

PORT_FILE: Final = ".s.PGSQL.5432"
IDLE: Final = b"I"
# What begins a transaction, with its role and its tenant, and what ends it; and how the rest of it is planned.
FRAMES: Final = (
    b"BEGIN", b"SELECT pg_catalog.set_config('engram.tenant_id'", b"COMMIT", b"ROLLBACK",
    b"SELECT pg_catalog.set_config('plan_cache_mode'", b"DEALLOCATE",
)  # fmt: skip
ENDS: Final = (b"COMMIT", b"ROLLBACK")
SIZE: Final = 1 << 16
EVERY: Final = 0.02  # seconds between two looks at the memory


@dataclass(frozen=True, slots=True)
class Sent:
    """What went over the wire: statements that ran, transactions, and times the client waited for an answer."""

    statements: int = 0
    transactions: int = 0
    round_trips: int = 0

    def __sub__(self, before: Sent) -> Sent:
        return Sent(
            self.statements - before.statements,
            self.transactions - before.transactions,
            self.round_trips - before.round_trips,
        )


class Wire:
    """A socket beside the server's; what is sent through it is counted, of all connections together.

    A statement is a simple query or an execution, but of what begins and ends a transaction, or says how it is
    planned; a transaction is one that was begun by name, or a statement outside of one; a round trip is a query, a
    synchronisation or a flush, for each of which a client waits. It waits for no flush behind which it says more at
    once.
    """

    def __init__(self, server: Path) -> None:
        self.server = str(server / PORT_FILE)
        self.folder = Path(tempfile.mkdtemp(prefix="wire-"))
        self.folder.chmod(0o755)
        self._lock = threading.Lock()
        self._statements = self._transactions = self._round_trips = 0
        self._sockets: list[socket.socket] = []
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self.folder / PORT_FILE))
        self._listening.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        for one in [self._listening, *self._sockets]:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, address: str) -> str:
        """The address of the server, through this wire."""
        return address.replace(str(Path(self.server).parent), str(self.folder))

    @property
    def sent(self) -> Sent:
        """What was sent until now."""
        with self._lock:
            return Sent(self._statements, self._transactions, self._round_trips)

    def count(self, work: Callable[[], object]) -> Sent:
        """What a call sends."""
        before = self.sent
        work()
        return self.sent - before

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.server)
            self._sockets += [client, server]
            state = _State()
            for source, target, read in ((client, server, self._asked), (server, client, self._answered)):
                threading.Thread(target=self._pass, args=(source, target, read, state), daemon=True).start()

    def _pass(
        self, source: socket.socket, target: socket.socket, read: Callable[[_State, bytes, bytes], None], state: _State
    ) -> None:
        cut = _Cutter(begins_bare=read == self._asked)
        with suppress(OSError):
            while block := source.recv(SIZE):
                told = list(cut.messages(block))
                for place, (kind, body) in enumerate(told, 1):
                    if kind != b"H" or place == len(told):
                        read(state, kind, body)
                target.sendall(block)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _asked(self, state: _State, kind: bytes, body: bytes) -> None:
        with self._lock:
            if kind == b"P":
                name, _, rest = body.partition(b"\0")
                state.frames[name] = _frame_of(rest.partition(b"\0")[0])
            elif kind == b"B":
                state.bound = body.split(b"\0", 2)[1]
            elif kind in b"QE":
                frame = state.frames.get(state.bound) if kind == b"E" else _frame_of(body)
                self._statements += not frame
                self._transactions += not state.inside
                state.inside = frame not in ENDS  # or until the server says that it is over
            self._round_trips += kind in b"QSH"

    def _answered(self, state: _State, kind: bytes, body: bytes) -> None:
        if kind == b"Z":
            with self._lock:
                state.inside = body != IDLE


@dataclass(slots=True)
class _State:
    """Whether a connection is inside a transaction, which of its statements begin or end one, and which runs next."""

    inside: bool = False
    frames: dict[bytes, bytes | None] = field(default_factory=dict)
    bound: bytes = b""


def _frame_of(body: bytes) -> bytes | None:
    said = body.rstrip(b"\0").strip()
    return next((one for one in FRAMES if said.startswith(one)), None)


class _Cutter:
    """Cuts a stream of bytes into the messages of the protocol; the first of a client has no letter."""

    def __init__(self, *, begins_bare: bool) -> None:
        self._bare, self._rest = begins_bare, b""

    def messages(self, block: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The whole messages up to now: their letter and their body."""
        self._rest += block
        while True:
            head = 0 if self._bare else 1
            if len(self._rest) < head + 4:
                return
            size = head + int.from_bytes(self._rest[head : head + 4])
            if len(self._rest) < size:
                return
            kind, body, self._rest = self._rest[:head], self._rest[head + 4 : size], self._rest[size:]
            self._bare = False
            if kind:
                yield kind, body


@dataclass(slots=True)
class Memory:
    """Bytes of memory a process had before and at most meanwhile, and its threads at most."""

    before: int
    peak: int
    threads: int = 0


@contextmanager
def memory() -> Iterator[Memory]:
    """Watch the memory and the threads of this process while something runs."""
    process, over = psutil.Process(), threading.Event()
    now = process.memory_info().rss
    seen = Memory(now, now, process.num_threads())

    def watch() -> None:
        while not over.wait(EVERY):
            seen.peak = max(seen.peak, process.memory_info().rss)
            seen.threads = max(seen.threads, process.num_threads())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def took(work: Callable[[], object]) -> float:
    """Milliseconds of a call."""
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)
