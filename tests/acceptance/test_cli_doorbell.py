"""`engram doctor` and the Redis that rings for the workers: there, away, locked, silent, or not wanted at all."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import redis_server
from commands import Cli
from redis_server import RedisServer

from engram import AsyncEngram, Engram, Settings, dispatch
from engram.values import Check, DoctorReport

REPAIR = "start Redis, or correct REDIS_URL, or unset it"


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with redis_server.running() as server:
        yield server


@pytest.fixture(autouse=True)
def no_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REDIS_URL", "ENGRAM_REDIS_URL", "ENGRAM_DISPATCH"):
        monkeypatch.delenv(name, raising=False)


def doorbell(cli: Cli, code: int) -> dict[str, object]:
    """What the doctor says of the doorbell as JSON, once as a table too."""
    ran = cli("doctor", "--json")
    [found] = [check for check in ran.data["checks"] if check["name"] == "doorbell"]
    others = [check["name"] for check in ran.data["checks"] if not check["ok"] and check is not found]
    assert ran.code == (1 if others else code)
    shown = cli("doctor")
    assert shown.code == ran.code
    assert "doorbell" in shown.out
    return dict(found)


def test_the_doctor_says_which_redis_rings_and_how_fast_it_answers(
    cli: Cli, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", redis.url)
    with redis.client() as client:
        version = client.info("server")["redis_version"]
    found = doorbell(cli, 0)
    assert (found["ok"], found["repair"]) == (True, None)
    assert str(found["detail"]).startswith(f"Redis {version}, a ping takes ")
    assert str(found["detail"]).endswith(" ms")


def test_without_a_redis_the_doctor_says_how_jobs_are_found(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    found = doorbell(cli, 0)
    assert (found["ok"], found["detail"]) == (
        True,
        "no Redis: jobs run in this process, and workers find them by polling",
    )
    monkeypatch.setenv("ENGRAM_DISPATCH", "doorbell")
    assert doorbell(cli, 0)["detail"] == "no Redis: workers find jobs by polling"


def test_a_redis_that_is_away_is_a_failed_check_with_a_repair(
    cli: Cli, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", redis.url)
    redis.kill()
    found = doorbell(cli, 1)
    assert (found["ok"], found["repair"]) == (False, REPAIR)
    assert found["detail"] == "Redis does not answer (ConnectionError); workers find jobs by polling"
    redis.start()
    assert doorbell(cli, 0)["ok"]


def test_a_redis_with_another_password_is_told_and_no_password_is(
    cli: Cli, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", redis.url.replace("unix://", "unix://:hunter2@"))
    with redis.client() as client:
        client.config_set("requirepass", "another")
    assert "AuthenticationError" in str(doorbell(cli, 1)["detail"])
    for asked in (cli("doctor"), cli("doctor", "--json")):
        assert "hunter2" not in asked.out + asked.err
    monkeypatch.setenv("REDIS_URL", redis.url.replace("unix://", "unix://:another@"))
    assert doorbell(cli, 0)["ok"]


@pytest.mark.parametrize(
    "address",
    [
        "redis://:hunter2@127.0.0.1:1/0?password=hunter2&nonsense=1", "redis://:hunter2@127.0.0.1:1/hunter2",
        "redis://127.0.0.1:hunter2/0",
    ],
)  # fmt: skip
def test_an_address_that_makes_no_sense_is_refused_before_anything_is_asked(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("REDIS_URL", address)
    for asked in (cli("doctor"), cli("doctor", "--json")):
        assert asked.code == 2
        assert "redis_url: expected" in asked.out + asked.err
        assert "hunter2" not in asked.out + asked.err


def test_a_redis_that_says_nothing_is_not_waited_for(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch.ask, "__defaults__", (0.3,))
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{deaf.getsockname()[1]}/0")
        found = doorbell(cli, 1)
    assert found["detail"] == "Redis does not answer (TimeoutError); workers find jobs by polling"


def test_what_has_no_time_limit_of_its_own_ends_with_the_patience(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name service, say, or a server that says a little each time."""
    over = threading.Event()
    monkeypatch.setattr("redis.Redis.ping", lambda *_: over.wait(60))
    begun = time.monotonic()
    answer = dispatch.ask(redis.url, 0.2)
    assert time.monotonic() - begun < 30
    assert answer.failure == "TimeoutError"
    over.set()


def test_a_valkey_is_called_so_and_a_login_that_may_not_ask_is_no_failure(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with redis.client() as client:
        client.execute_command("ACL", "SETUSER", "ringer", "on", ">pass", "~*", "+@all", "-info")
        answer = dispatch.ask(redis.url.replace("unix://", "unix://ringer:pass@"))
    assert (answer.failure, answer.version) == (None, None)
    monkeypatch.setattr("redis.Redis.info", lambda *_: {"redis_version": "7.2.4", "valkey_version": "8.1.1"})
    answer = dispatch.ask(redis.url)
    assert (answer.product, answer.version) == ("Valkey", "8.1.1")


def test_both_doors_ask_alike(redis: RedisServer, database_url: str, tenant: str) -> None:
    settings = Settings(database_url=database_url, redis_url=redis.url, tenant=tenant)  # type: ignore[arg-type]

    def told(report: DoctorReport) -> Check:
        return next(check for check in report.checks if check.name == "doorbell")

    async def asked() -> DoctorReport:
        async with AsyncEngram(settings=settings) as door:
            return await door.ops.doctor()

    with Engram(settings=settings) as door:
        ours, theirs = told(door.ops.doctor()), told(asyncio.run(asked()))
    assert (ours.ok, theirs.ok) == (True, True)
    assert ours.detail.split(",")[0] == theirs.detail.split(",")[0]
