"""Stand-ins between a client and PostgreSQL: one that loses messages, and one that pools transactions.

Both listen on a Unix socket in a folder of their own, so that an address differs from the server's only in its host.
"""

from __future__ import annotations

import random
import re
import select
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Literal

Fate = Literal["pass", "lose the request", "lose the answer", "tell of a loss", "tell of no server", "hold the end"]
PORT_FILE = ".s.PGSQL.5432"
IDLE = b"Z\x00\x00\x00\x05I"  # the end of an answer, outside any transaction
SYNC = b"S\x00\x00\x00\x04"  # the end of a message of several statements
# As PgBouncer says that it has lost the server, and that it has none:
LOST = b"SFATAL\0VFATAL\0C08P01\0Mserver connection closed\0\0"
NONE = b"SFATAL\0VFATAL\0C08P01\0Mserver login has been failing, try again later (server_login_retry)\0\0"
PROCESS = re.compile(rb"(K\x00\x00\x00\x0c)....", re.DOTALL)  # which process of the server a connection is told to be
OWN_PROCESS = b"\x7f\xff\xff\xfe"
DISCARD = b"Q\x00\x00\x00\x10DISCARD ALL\x00"


class Proxy:
    """Listens on a socket and gives every client a thread."""

    def __init__(self, server: Path) -> None:
        self.server = str(server / PORT_FILE)
        self.folder = Path(tempfile.mkdtemp(prefix="px-"))
        self.folder.chmod(0o755)
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self.folder / PORT_FILE))
        self._listening.listen(64)
        self._clients: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, address: str) -> str:
        """The address of the server, through this proxy."""
        return address.replace(str(Path(self.server).parent), str(self.folder))

    def close(self) -> None:
        """Stop listening and hang up on everyone."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for client in self._clients:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            self._clients.append(client)
            threading.Thread(target=self._serve_quietly, args=(client,), daemon=True).start()

    def _serve_quietly(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            self.serve(client)

    def serve(self, client: socket.socket) -> None:
        """Carry one client's conversation."""
        raise NotImplementedError

    def connect(self) -> socket.socket:
        """A new connection to the server."""
        backend = socket.socket(socket.AF_UNIX)
        backend.connect(self.server)
        return backend


def _failure(fields: bytes) -> bytes:
    return b"E" + (len(fields) + 4).to_bytes(4, "big") + fields


class LosingProxy(Proxy):
    """Passes everything on, except what `fate` says of a request is lost: with it, the connection."""

    def __init__(self, server: Path) -> None:
        super().__init__(server)
        self.fate: Callable[[bytes], Fate] = lambda _: "pass"
        self.lost = 0
        self.meanwhile: Callable[[], None] = lambda: None
        """What happens while the end of a request is held back."""

    def serve(self, client: socket.socket) -> None:
        with self.connect() as backend:
            while True:
                for ready in select.select([client, backend], [], [])[0]:
                    data = ready.recv(1 << 16)
                    if not data:
                        return
                    if ready is backend:
                        client.sendall(data)
                        continue
                    fate = self.fate(data)
                    self.lost += fate != "pass"
                    if fate == "lose the request":
                        return
                    if fate == "tell of no server":
                        client.sendall(_failure(NONE))
                        return
                    if fate == "hold the end":
                        backend.sendall(data.removesuffix(SYNC))
                        self.meanwhile()
                        with suppress(OSError):  # what a server that died said before is still to be told
                            backend.sendall(SYNC)
                        continue
                    backend.sendall(data)
                    if fate in ("lose the answer", "tell of a loss"):
                        backend.recv(1 << 16)  # the server has done it, and nobody will hear
                        if fate == "tell of a loss":
                            client.sendall(2 * _failure(LOST))  # it may say so more than once
                        return


class PoolingProxy(Proxy):
    """A transaction pooler: each transaction lands on another server connection, washed with DISCARD ALL before.

    As poolers do it names a process of its own to its clients, or, with `lies`, that of one of the connections.
    """

    def __init__(self, server: Path, backends: int = 3, *, lies: bool = False) -> None:
        super().__init__(server)
        self.transactions = 0
        self._many = backends
        self._lies = lies

    def serve(self, client: socket.socket) -> None:
        startup = client.recv(1 << 16)
        backends = [self.connect() for _ in range(self._many)]
        with ExitStack() as open_ones:
            for backend in backends:
                open_ones.enter_context(backend)
                backend.sendall(startup)
                answer = self._until_ready(backend)
            told = answer if self._lies else PROCESS.sub(lambda found: found[1] + OWN_PROCESS, answer)
            client.sendall(told)
            self._carry(client, backends)

    def _carry(self, client: socket.socket, backends: list[socket.socket]) -> None:
        dice, current, idle = random.Random(7), backends[0], True
        while True:
            for ready in select.select([client, current], [], [])[0]:
                data = ready.recv(1 << 16)
                if not data:
                    return
                if ready is current:
                    client.sendall(data)
                    idle = data[-6:] == IDLE
                    continue
                if idle:
                    current, idle = dice.choice([one for one in backends if one is not current]), False
                    current.sendall(DISCARD)
                    self._until_ready(current)
                    self.transactions += 1
                current.sendall(data)

    def _until_ready(self, backend: socket.socket) -> bytes:
        heard = b""
        while heard[-6:] != IDLE:
            data = backend.recv(1 << 16)
            if not data:
                break
            heard += data
        return heard


@contextmanager
def between(proxy: Proxy) -> Iterator[Proxy]:
    """A proxy for the length of a block."""
    try:
        yield proxy
    finally:
        proxy.close()
