"""Redis is destroyed in every way while jobs run: it is a doorbell, and the jobs are rows, so all are done."""

from __future__ import annotations

import logging
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator

import dramatiq
import pytest
import redis_server
from redis_server import RedisServer
from table import Table
from worker_process import crew

from engram import dispatch
from engram.settings import load


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with redis_server.running() as server:
        yield server


WAYS: dict[str, Callable[[RedisServer, float], object]] = {
    "killed": lambda server, _: server.restart(),
    "wiped": lambda server, _: server.wipe(),
    "flushed": lambda server, _: server.flush(),
    "frozen": lambda server, seconds: server.freeze(seconds),
    "full": lambda server, seconds: server.fill(seconds),
    "locked": lambda server, seconds: server.lock_out(seconds),
}


def destroy_and_check(
    table: Table, redis: RedisServer, many: int, rounds: int, seconds: float, *, harmed: bool = True
) -> float:
    """Jobs laid while Redis is destroyed again and again; the 99th of a hundred waited so many seconds."""
    environment = {**table.environment, "REDIS_URL": redis.url}
    pace = rounds * len(WAYS) * seconds / many  # the jobs are laid for as long as the harm lasts

    def destroy() -> None:
        for _ in range(rounds):
            for way in random.sample(sorted(WAYS), len(WAYS)):
                WAYS[way](redis, seconds)
                time.sleep(seconds / 2)

    with crew(environment, 2, "--threads", "2", nursery=True) as workers:
        workers.until(lambda: len(workers.started()) == 2, 30)
        harm = threading.Thread(target=destroy)
        if harmed:
            harm.start()
        with table.door(table.tenant, "doorbell", redis_url=redis.url) as door:
            for number in range(many):
                door.remember("I live in Ottawa. My dog is called Rex.", user_id=f"user{number}")
                time.sleep(pace)
        workers.until(lambda: not harm.is_alive(), 600)
        workers.until(table.done, 60)
        assert workers.lost == 0
    table.check(many, says=("I live in Ottawa. My dog is called Rex.",))
    assert table.states() == {"done": many}
    waited = [float(str(late)) for (late,) in table.rows(
        "select extract(epoch from finished_at - created_at)::float from engram.memory_jobs where tenant_id = %s"
        " order by 1", table.tenant,
    )]  # fmt: skip
    return waited[int(0.99 * len(waited))]


def test_redis_destroyed_in_six_ways_loses_no_job(table: Table, redis: RedisServer) -> None:
    destroy_and_check(table, redis, 100, 1, 0.5)


@pytest.mark.slow
def test_redis_destroyed_sixty_times_delays_a_thousand_jobs_by_seconds(
    table: Table, redis: RedisServer, record_property: Callable[[str, object], None]
) -> None:
    """The goal of 5 s is for a quiet machine: the log says what it is here. The limit is below the end of any lease."""
    calm = destroy_and_check(Table(table.server, f"{table.tenant}-calm"), redis, 1_000, 10, 1.0, harmed=False)
    harmed = destroy_and_check(table, redis, 1_000, 10, 1.0)
    record_property("added p99", harmed - calm)
    logging.getLogger(__name__).info("p99 of the wait: %.2f s, and %.2f s with Redis destroyed", calm, harmed)
    assert harmed <= calm + 15.0


def test_no_write_waits_for_a_redis_that_does_not_answer(
    table: Table, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "PATIENCE", 60.0)
    assert redis.process is not None
    redis.process.send_signal(signal.SIGSTOP)
    with table.door(table.tenant, "doorbell", redis_url=redis.url) as door:
        for number in range(5):
            door.remember("I live in Ottawa.", user_id=f"user{number}")
        bell = door._core._bell
        assert isinstance(bell, dispatch.RedisDoorbell)
        assert (bell.rings, bell.failures) == (0, 0), "written while the first ring is still unanswered"
        redis.process.send_signal(signal.SIGCONT)
    assert table.states() == {"queued": 5}


def messages(redis: RedisServer, several: list[tuple[str, tuple[object, ...], dict[str, object]]]) -> None:
    """Put messages as Dramatiq carries them, whatever they say."""
    broker = dispatch.broker(redis.url, 5.0)
    for actor, args, kwargs in several:
        broker.enqueue(
            dramatiq.Message(queue_name=dispatch.QUEUE, actor_name=actor, args=args, kwargs=kwargs, options={})
        )
    broker.client.close()


ODD: list[tuple[str, tuple[object, ...], dict[str, object]]] = [
    ("ring", (), {}), ("ring", (), {}), ("ring", (), {}), ("ring", (), {}), ("ring", (), {}),
    ("ring", ("a tenant", "0198c0de-0000-7000-8000-000000000000"), {}),
    ("ring", (), {"job_id": "of a newer release", "shape": {"deep": [1, 2]}}),
    ("an-actor-of-a-newer-release", (1,), {}),
]  # fmt: skip


@pytest.mark.parametrize("command", ["engram", "dramatiq"])
def test_a_message_that_is_early_repeated_strange_or_of_another_release_has_one_effect_or_none(
    table: Table,
    redis: RedisServer,
    command: str,
) -> None:
    messages(redis, ODD)  # before any job is there
    environment = {**table.environment, "REDIS_URL": redis.url}
    with crew(
        environment, 1, *(("--threads", "2") if command == "engram" else ()), dramatiq=command == "dramatiq"
    ) as w:
        w.until(lambda: " started: " in w.log.read_text(), 60)
        table.lay(10)
        messages(redis, ODD)
        w.until(table.done, 60)
        messages(redis, ODD)
        w.until(lambda: drained(redis), 30)
        assert w.lost == 0
    table.check(10)
    assert table.states() == {"done": 10}


def drained(redis: RedisServer) -> bool:
    with redis.client() as client:
        return client.llen(f"{dispatch.QUEUE}:{dispatch.QUEUE}") == 0


def test_a_ring_wakes_a_worker_before_its_poll(table: Table, redis: RedisServer) -> None:
    environment = {**table.environment, "REDIS_URL": redis.url}
    with crew(environment, 1, "--threads", "1", nursery=True, poll=600) as workers:
        workers.until(lambda: bool(workers.started()), 30)
        time.sleep(1)
        with table.door(table.tenant, "doorbell", redis_url=redis.url) as door:
            for _ in range(3):
                door.wait_for(door.remember("I live in Ottawa.", user_id="user0"), timeout=20, user_id="user0")


def test_one_ring_stands_for_many_and_a_dead_redis_is_asked_seldom(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "QUIET", 3600.0)
    bell = dispatch.RedisDoorbell(redis.url)
    for _ in range(1_000):
        bell.ring("a tenant")
    bell.close(1.0)
    assert 0 < bell.rings < 100
    redis.kill()
    bell = dispatch.RedisDoorbell(redis.url)
    for _ in range(1_000):
        bell.ring("a tenant")
    give_up = time.monotonic() + 20
    while not bell.failures:
        assert time.monotonic() < give_up
        time.sleep(0.01)
    for _ in range(1_000):
        bell.ring("a tenant")
    assert (bell.rings, bell.failures) == (0, 1)
    bell.close(1.0)
    bell.ring("a tenant")  # after the end nothing happens, and nothing is raised


def test_the_address_of_redis_is_a_secret() -> None:
    assert "hush" not in repr(load({}, redis_url="redis://:hush@localhost"))
