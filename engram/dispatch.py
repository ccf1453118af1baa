"""The doorbell: word, over Redis and Dramatiq, that jobs wait. The jobs are rows; a ring that is lost costs seconds.

A message has no content: it says "look". So one that comes early, late, twice, not at all, or from another release can
do no harm.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from engram.errors import SettingsError

if TYPE_CHECKING:
    import dramatiq
    import redis
    from dramatiq.brokers.redis import RedisBroker

QUEUE: Final = "engram"
ACTOR: Final = "ring"
PATIENCE: Final = 0.1  # seconds that one answer of Redis may take
EVERY: Final = 0.02  # seconds from one ring of a process to its next: one ring stands for many jobs
QUIET: Final = 1.0  # seconds of silence after a ring that failed
LISTENING: Final = 5.0  # seconds that a listener waits for one answer of Redis
KEPT: Final = 60_000  # milliseconds that Redis keeps a message nobody could read
ASKED: Final = 2.0  # seconds in which a Redis that is asked how it is must have answered everything

logger = logging.getLogger(__name__)


class Doorbell(Protocol):
    """Whoever tells workers that a tenant has jobs."""

    def ring(self, tenant_id: str) -> None:
        """Say that a tenant has jobs; returns at once and never raises."""

    def close(self, drain: float) -> None:
        """Ring no more; what is under way may take so many seconds."""


class RedisDoorbell:
    """Rings workers over Redis from a thread of its own, so that no caller ever waits for Redis."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._begin_anew()
        self._closed = False
        self.rings = self.failures = 0
        """How many rings Redis took, and how many it did not."""

    def _begin_anew(self) -> None:
        self._pid = os.getpid()
        self._rung = threading.Condition()
        self._waiting = False
        self._thread: threading.Thread | None = None

    def ring(self, tenant_id: str) -> None:  # noqa: ARG002 - whoever hears it looks after every tenant
        """Say that there are jobs; rings that come while one is under way become one."""
        if self._pid != os.getpid():
            self._begin_anew()  # a child of a fork has its parent's thread no more
        with self._rung:
            self._waiting = True
            if self._thread is None and not self._closed:
                thread = threading.Thread(target=self._ring_on, name="engram-doorbell", daemon=True)
                with suppress(RuntimeError):  # a process that is ending, or has as many as it may, can start no thread
                    thread.start()
                    self._thread = thread
            self._rung.notify()

    def close(self, drain: float) -> None:
        """Send a last ring that waits, if Redis takes it in time, and end."""
        with self._rung:
            self._closed = True
            self._rung.notify()
        if self._thread is not None:
            self._thread.join(min(drain, 5 * PATIENCE))

    def _ring_on(self) -> None:
        sender: RedisBroker | None = None
        while True:
            with self._rung:
                self._rung.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    break
                self._waiting = False
            try:
                sender = sender or broker(self._url, PATIENCE)
                sender.enqueue(_message())
                self.rings += 1
                pause = EVERY
            except Exception as error:  # noqa: BLE001 - whatever Redis does, no caller hears of it: the workers poll
                self.failures += 1
                pause = QUIET
                if self.failures == 1:
                    logger.warning("Redis did not take a ring (%s); workers find jobs by polling", type(error).__name__)
            with self._rung:
                self._rung.wait_for(lambda: self._closed, pause)
        if sender is not None:
            sender.client.close()


class Listener:
    """Hears the doorbell in a process of workers."""

    def __init__(self, url: str, heard: Callable[[], None]) -> None:
        self._broker = broker(url, LISTENING)
        self._worker: Any = None
        add_actor(self._broker, heard)

    def start(self) -> None:
        """Listen from now on, through every absence of Redis."""
        import dramatiq

        for name in ("dramatiq", "dramatiq.worker"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # an absent Redis is told once, by us
        self._worker = dramatiq.Worker(self._broker, worker_timeout=100, worker_threads=1)
        self._worker.start()

    def stop(self) -> None:
        """Listen no more. Nothing is lost: the messages say nothing."""
        if self._worker is not None:
            threading.Thread(target=self._worker.stop, kwargs={"timeout": 1000}, daemon=True).start()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a Redis said when it was asked how it is, or the name of what went wrong; nothing of its address."""

    product: str = "Redis"
    version: str | None = None
    seconds: float = 0.0
    failure: str | None = None


def ask(url: str, patience: float = ASKED) -> Answer:
    """Ask a Redis for its version and time a ping; the whole of it, the name service too, ends within the patience."""
    told: queue.SimpleQueue[Answer] = queue.SimpleQueue()
    threading.Thread(target=lambda: told.put(_asked(url, patience)), name="engram-ask-redis", daemon=True).start()
    try:
        return told.get(timeout=patience)
    except queue.Empty:
        return Answer(failure="TimeoutError")


def _asked(url: str, patience: float) -> Answer:
    try:
        asking = client(url, patience)
        with asking:
            asking.ping()  # the first one opens the connection
            begun = time.perf_counter()
            asking.ping()
            seconds = time.perf_counter() - begun
            return Answer(*_version(asking), seconds)
    except Exception as error:  # noqa: BLE001 - a text of the driver may hold the address
        return Answer(failure=type(error).__name__)


def _version(asking: redis.Redis) -> tuple[str, str | None]:
    """Which product answers, and its version, where the login may ask for it."""
    import redis

    found: Any = {}
    with suppress(redis.ResponseError):
        found = asking.info("server")
    valkey = found.get("valkey_version")
    return ("Valkey", str(valkey)) if valkey else ("Redis", found.get("redis_version"))


def client(url: str, patience: float) -> redis.Redis:
    """A client that gives up on one answer of Redis after so many seconds, and asks only once."""
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    try:
        return redis.Redis.from_url(
            url, socket_timeout=patience, socket_connect_timeout=patience, retry=Retry(NoBackoff(), 0)
        )
    except ValueError:
        raise SettingsError("redis_url: expected a URL such as redis://host:6379/0", name="redis_url") from None


def broker(url: str, patience: float) -> RedisBroker:
    """A broker over such a client."""
    from dramatiq.brokers.redis import RedisBroker

    # No middleware: no retries, no results, no time limit that throws into a thread.
    made: Any = RedisBroker
    sender = client(url, patience)
    return made(client=sender, middleware=[], namespace=QUEUE, dead_message_ttl=KEPT)  # type: ignore[no-any-return]


def add_actor(broker: dramatiq.Broker, heard: Callable[[], None]) -> dramatiq.Actor[..., Any]:
    """The actor that hears rings, whatever stands in them."""
    import dramatiq

    @dramatiq.actor(actor_name=ACTOR, queue_name=QUEUE, broker=broker)
    def ring(*_: object, **__: object) -> None:
        heard()

    return ring


def _message() -> dramatiq.Message[Any]:
    import dramatiq

    now = int(time.time() * 1000)
    return dramatiq.Message(queue_name=QUEUE, actor_name=ACTOR, args=(), kwargs={}, options={}, message_timestamp=now)
