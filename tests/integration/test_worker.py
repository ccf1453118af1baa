"""The threads behind a door and in a worker: what they finish, what they give back, and what they never hold."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import event

from engram import AsyncEngram, Completion, Engram, Scope, jobs, scheduler, service
from engram import worker as worker_module
from engram.database import Connection, Database
from engram.errors import InvalidInput, SettingsError, Unavailable
from engram.operations import running, steps
from engram.scheduler import Scheduler
from engram.settings import Settings, load
from engram.worker import Background, Worker


def eventually(holds: Callable[[], object], seconds: float = 20.0) -> None:
    give_up = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.02)


class Fickle:
    """An embedder that fails until told otherwise, or waits until it is let go."""

    name, dimensions, max_tokens = "fickle", 8, None

    def __init__(self) -> None:
        self.broken, self.calls = False, 0
        self.free, self.entered = threading.Event(), threading.Event()
        self.free.set()

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        self.calls += 1
        self.entered.set()
        if not self.free.wait(60) or self.broken:
            raise Unavailable("the model does not answer")
        return [[1.0 + text.count(letter) for letter in "aeioustr"] for text in texts]


@pytest.fixture
def fickle() -> Fickle:
    return Fickle()


@pytest.fixture
def open_door(database_url: str, tenant: str) -> Iterator[Callable[..., Engram]]:
    """Doors to the test's tenant, closed at its end."""
    doors: list[Engram] = []

    def door(**settings: Any) -> Engram:
        embedder = settings.pop("embedder", None)
        doors.append(Engram(database_url, scope=Scope(tenant), settings=load({}, **settings), embedder=embedder))
        return doors[-1]

    yield door
    for one in doors:
        one.close(drain=0)


def states(door: Engram) -> dict[str, int]:
    return door._run(steps.read(door.scope.tenant_id, jobs.count))


def worker_of(door: Engram, tenant: str, threads: int = 2) -> Worker:
    """A worker for one tenant: the other tests' jobs are none of its business."""

    class Mine(Worker):
        def _claim(self, limit: int) -> Any:
            return running.claim(self._setup, limit=limit, tenant_id=tenant)

    return Mine(door._core.run, door._core.setup(door.scope), threads)


# Behind a door


def test_what_inline_derivation_leaves_over_is_done_in_the_background(
    open_door: Callable[..., Engram], fickle: Fickle
) -> None:
    fickle.broken = True
    door = open_door(embedder=fickle)
    door.remember("I live in Ottawa.")
    assert door.stats().unembedded > 0
    fickle.broken = False
    eventually(lambda: door.stats().unembedded == 0)
    assert set(states(door)) == {"done"}


class Leaves:
    """A model that ends the thread that asks it first, and finds nothing afterwards."""

    name, asked = "leaves", 0

    def __init__(self, leaving: type[BaseException] = SystemExit) -> None:
        self.leaving = leaving

    def complete(self, *_: Any, **__: Any) -> Completion:
        self.asked += 1
        if self.asked == 1:
            raise self.leaving
        return Completion('{"facts": []}', self.name, input_tokens=1, output_tokens=1)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_background_thread_that_a_model_ended_is_followed_by_another(database_url: str, tenant: str) -> None:
    model = Leaves()
    with Engram(database_url, scope=Scope(tenant), embedder="none", llm=model) as door:
        door.remember("Hard to believe, but we adopted a cat!", session_id="one")
        bell = door._core._bell
        assert isinstance(bell, Background)
        eventually(lambda: model.asked == 1 and not any(thread.is_alive() for thread in bell._crew))
        receipt = door.remember("Well, the cello is what I play these days!", session_id="two")
        door.wait_for(receipt, deriver="llm", timeout=20)
        assert states(door)["running"] == 1  # until its lease ends


@pytest.mark.parametrize("leaving", [SystemExit, KeyboardInterrupt])
def test_a_worker_keeps_the_threads_that_a_model_would_end(
    database_url: str, tenant: str, caplog: pytest.LogCaptureFixture, leaving: type[BaseException]
) -> None:
    model = Leaves(leaving)
    own = load({}, dispatch="doorbell")
    with Engram(database_url, scope=Scope(tenant), settings=own, embedder="none", llm=model) as door:
        worker = worker_of(door, tenant, threads=1)
        worker.start()
        door.remember("Hard to believe, but we adopted a cat!", session_id="one")
        eventually(lambda: model.asked == 1)
        receipt = door.remember("Well, the cello is what I play these days!", session_id="two")
        door.wait_for(receipt, deriver="llm", timeout=20)
        assert all(thread.is_alive() for thread in worker._crew)
        worker.stop()
        assert states(door)["running"] == 1  # until its lease ends
    assert f"something unexpected went wrong ({leaving.__name__})" in caplog.text


def test_the_background_thread_ends_when_nothing_is_left(open_door: Callable[..., Engram]) -> None:
    door = open_door(embedding_model="none")
    assert not [one for one in threading.enumerate() if one.name == "engram-background"]
    door.remember("I live in Ottawa.")
    bell = door._core._bell
    assert isinstance(bell, Background)
    eventually(lambda: not bell._crew)
    door.remember("I live in Toronto.")
    eventually(lambda: not bell._crew)


@pytest.mark.parametrize("redis_url", [None, "redis://127.0.0.1:1/0"])
def test_what_was_written_is_told_where_no_thread_can_be_started(
    open_door: Callable[..., Engram], monkeypatch: pytest.MonkeyPatch, redis_url: str | None
) -> None:
    """As in a handler of `atexit` since Python 3.12, and in a container with as many threads as it may have."""
    start, full, begun = threading.Thread.start, [True], list[str]()

    def start_or_refuse(thread: threading.Thread) -> None:
        if full[0]:
            raise RuntimeError("can't start new thread")
        begun.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_or_refuse)
    door, other = (open_door(embedding_model="none", redis_url=redis_url) for _ in range(2))
    for one in (door, other):
        assert one.remember("I live in Ottawa.").event_ids
    other.close()
    with pytest.raises(Unavailable, match="closed"):
        other.stats()
    full[0] = False
    door.remember("I moved to Toronto.")
    assert begun == ["engram-background" if redis_url is None else "engram-doorbell"]


ENDING = """
import sys, threading, time
from engram import Engram, Scope
from engram.settings import load

class Stuck:
    name, dimensions, max_tokens, calls, entered = "stuck", 8, None, 0, threading.Event()
    def embed(self, texts, kind):
        self.calls += 1
        if self.calls == 1:
            raise RuntimeError("not now")
        self.entered.set()
        threading.main_thread().join()
        time.sleep(1)
        raise RuntimeError("cannot schedule new futures after shutdown")

model = Stuck()
door = Engram(sys.argv[1], scope=Scope(sys.argv[2]), settings=load({}), embedder=model)
door.remember("I live in Ottawa.")
assert model.entered.wait(30)
"""


def test_a_process_that_ends_with_its_door_open_ends_at_once_and_gives_back_what_runs(
    open_door: Callable[..., Engram], database_url: str, tenant: str
) -> None:
    subprocess.run([sys.executable, "-c", ENDING, database_url, tenant], check=True, timeout=60)
    [job] = [one for one in open_door(embedding_model="none").ops.list_jobs() if one.state != "done"]
    assert (job.kind, job.state, job.attempt, job.error_class) == ("embed", "queued", 0, None)


LEAVING = """
import atexit, sys
from engram import Engram, Scope
from engram.settings import load

@atexit.register
def leave():
    door.remember("I live in Toronto.")
    print(len(door.list_memories()))

door = Engram(sys.argv[1], scope=Scope(sys.argv[2]), settings=load({}, embedding_model="none"))
door.remember("I live in Ottawa.")
"""


def test_what_a_program_does_as_its_last_may_still_use_a_door_that_it_left_open(database_url: str, tenant: str) -> None:
    command = [sys.executable, "-W", "error", "-c", LEAVING, database_url, tenant]
    ended = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True)
    assert (ended.stdout.strip(), ended.stderr) == ("3", "")


def test_a_burst_of_writes_is_one_look_and_what_cannot_be_had_is_not_asked_for_again_and_again(
    open_door: Callable[..., Engram], tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = open_door(embedding_model="none")._core
    looks: list[float] = []

    def look(due: float | None) -> Background:
        bell = Background(core.run, core.setup(Scope(tenant)), core.close)
        looks.clear()
        monkeypatch.setattr(bell, "_due_in", lambda: looks.append(time.monotonic()) or due)
        monkeypatch.setattr(bell, "_turn", lambda: 0)
        return bell

    bell = look(None)
    monkeypatch.setattr(worker_module, "LINGER", 1.0)
    for _ in range(20):
        bell.ring(tenant)
        time.sleep(0.01)
    eventually(lambda: not bell._crew)
    assert len(looks) == 1
    monkeypatch.undo()
    bell = look(0.0)  # due, and its stream is at work elsewhere
    bell.ring(tenant)
    eventually(lambda: len(looks) == 2)
    assert looks[1] - looks[0] >= worker_module.LATER
    bell.close(5)
    assert not bell._crew


def test_closing_waits_for_what_runs_and_leaves_what_does_not_end_as_a_job(
    open_door: Callable[..., Engram], fickle: Fickle
) -> None:
    fickle.broken = True
    door = open_door(embedder=fickle)
    door.remember("I live in Ottawa.")
    fickle.broken = False
    fickle.free.clear()
    fickle.entered.clear()
    assert fickle.entered.wait(20)
    threading.Timer(0.3, fickle.free.set).start()
    door.close(drain=20)
    again = open_door(embedder=fickle)
    assert again.stats().unembedded == 0
    fickle.broken = True
    again.remember("I moved to Toronto.")
    fickle.broken = False
    fickle.free.clear()
    fickle.entered.clear()
    assert fickle.entered.wait(20)
    again.close(drain=0.1)
    third = open_door(embedding_model="none")
    assert states(third).get("queued") == 1, "given back at once, its attempt uncounted"
    fickle.free.set()


def test_a_door_closes_at_once_when_nothing_runs_and_refuses_a_senseless_drain(database_url: str, tenant: str) -> None:
    door = Engram(database_url, scope=Scope(tenant), settings=load({}))
    with pytest.raises(InvalidInput, match="drain"):
        door.close(drain=-1)
    door.close()
    door.close()


async def test_the_asynchronous_door_has_a_background_too(database_url: str, tenant: str, fickle: Fickle) -> None:
    fickle.broken = True
    door = AsyncEngram(database_url, scope=Scope(tenant), settings=load({}), embedder=fickle)
    await door.remember("I live in Ottawa.")
    fickle.broken = False
    give_up = time.monotonic() + 20
    while (await door.stats()).unembedded:
        assert time.monotonic() < give_up
    await door.close(drain=5)
    with pytest.raises(Unavailable):
        await door.stats()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_of_a_fork_has_a_background_of_its_own(open_door: Callable[..., Engram], fickle: Fickle) -> None:
    fickle.broken = True
    door = open_door(embedder=fickle)
    door.remember("I live in Ottawa.")
    pid = os.fork()
    if pid == 0:
        try:
            door.remember("I moved to Toronto.")
            bell = door._core._bell
            assert isinstance(bell, Background)
            assert any(thread.is_alive() for thread in bell._crew)  # a thread of the parent's is none here
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    fickle.broken = False
    eventually(lambda: set(states(door)) == {"done"})


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_of_a_fork_that_closes_the_door_cuts_no_connection_of_its_parent(
    open_door: Callable[..., Engram], tenant: str
) -> None:
    door = open_door(embedding_model="none")

    def session() -> object:
        return door._run(steps.read(tenant, lambda conn: conn.exec_driver_sql("select pg_backend_pid()").scalar_one()))

    before = session()
    pid = os.fork()
    if pid == 0:
        try:
            door.close()
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert session() == before


def test_with_a_doorbell_nothing_is_derived_by_the_caller(open_door: Callable[..., Engram]) -> None:
    door = open_door(dispatch="doorbell", embedding_model="none")
    assert door.remember("I live in Ottawa.").decisions == ()
    assert states(door) == {"queued": 1}
    assert door._core._bell is None


@pytest.mark.parametrize(
    ("given", "inline"),
    [({}, True), ({"redis_url": "redis://x"}, False), ({"dispatch": "doorbell"}, False),
     ({"redis_url": "redis://x", "dispatch": "inline"}, True)],
)  # fmt: skip
def test_a_redis_means_workers_unless_dispatch_says_otherwise(given: dict[str, Any], inline: bool) -> None:
    assert load({}, **given).derives_inline is inline


def test_redis_is_read_from_either_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REDIS_URL", "ENGRAM_REDIS_URL"):
        monkeypatch.setenv(name, "redis://elsewhere")
        assert Settings().redis_url is not None
        monkeypatch.delenv(name)


@pytest.mark.parametrize("url", [
    "http://secret", "redis://[::1", "redis://one:secret/0", "redis://one:70000", "redis://one:0/0",
    "redis://one/secret", "redis://one/-1", "redis://one/0/1", "redis://one,secret/0", "redis://a secret/0",
    "redis://one/0?secret=1", "redis://one/0?socket_timeout=secret", "redis://one?db=-4",
    "rediss://one?ssl_cert_reqs=secret", "unix://", "unix:///run/redis.sock?db=secret",
])  # fmt: skip
def test_an_address_no_redis_can_have_is_refused_when_it_is_read(url: str) -> None:
    """It was told as a Redis that does not answer, once and in the log; a database that is no number was number 0."""
    with pytest.raises(SettingsError, match="redis_url: expected") as caught:
        load({}, redis_url=url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", [
    "redis://", "redis://one", "redis://ada:p%40ss@one:6380/2", "redis://[::1]:6379/0", "redis:///0/",
    "rediss://one?ssl_cert_reqs=none&socket_timeout=2.5", "unix:///run/redis.sock?db=1",
])  # fmt: skip
def test_an_address_a_redis_may_have_is_taken(url: str) -> None:
    assert load({}, redis_url=url).redis_url is not None


def test_callers_that_derive_the_same_stream_at_once_write_it_once(open_door: Callable[..., Engram]) -> None:
    several = [f"My locker number {number} is green." for number in range(6)]
    slow = Fickle()
    embed = slow.embed

    def dawdle(texts: Sequence[str], kind: str) -> Any:
        time.sleep(0.3)  # everybody has read the cursor before anybody moves it
        return embed(texts, kind)

    slow.embed = dawdle  # type: ignore[method-assign]
    door = open_door(embedder=slow)
    door.search("whether the model is there")
    with ThreadPoolExecutor(len(several)) as pool:
        list(pool.map(lambda said: door.remember(said, session_id="talk"), several))
    eventually(lambda: states(door).get("queued", 0) + states(door).get("running", 0) <= 1, 60)
    made = sorted(one.fact for one in door.list_memories(limit=200) if one.memory_type == "episodic")
    assert made == sorted(several)


# In a worker


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Workers that look for jobs when they begin and when they are told, and give nothing back by themselves."""
    for name in ("POLL", "SLOW", "RESCUE"):
        monkeypatch.setattr(worker_module, name, 3600.0)
    return monkeypatch


def thinking(door: Engram, fickle: Fickle, worker: Worker, many: int, jobs_laid: int) -> None:
    """So many jobs are laid, and so many threads of a worker wait for the model at once."""
    door.search("whether the model is there")
    fickle.calls = 0
    fickle.free.clear()
    for number in range(jobs_laid):
        door.remember(f"I live at number {number}.", user_id=f"user{number}")
    worker.wake()
    if not worker._crew:
        worker.start()
    eventually(lambda: fickle.calls == many)


def test_a_slow_model_holds_no_connection(
    open_door: Callable[..., Engram], fickle: Fickle, tenant: str, quiet: pytest.MonkeyPatch, database: Database
) -> None:
    quiet.setattr(running, "TOGETHER", 1)  # each job by itself, as those of other kinds are
    door = open_door(dispatch="doorbell", embedder=fickle)
    pool, sessions = door._core.database().engine.pool, set[int]()
    event.listen(pool, "checkout", lambda taken, *_: sessions.add(taken.info.backend_pid))
    worker = worker_of(door, tenant, threads=2)
    thinking(door, fickle, worker, many=2, jobs_laid=2)
    eventually(lambda: pool.checkedout() == 0)  # type: ignore[attr-defined]
    with database.transaction(tenant) as conn:
        open_transactions = conn.exec_driver_sql(
            "select count(*) from pg_stat_activity where pid = any (%s) and xact_start is not null", (list(sessions),)
        ).scalar_one()
    assert (len(sessions) > 0, open_transactions) == (True, 0)
    fickle.free.set()
    eventually(lambda: set(states(door)) == {"done"})
    assert worker.stop() == 0


def test_what_one_thread_has_claimed_is_begun_by_all_that_are_free(
    open_door: Callable[..., Engram], fickle: Fickle, tenant: str, quiet: pytest.MonkeyPatch
) -> None:
    quiet.setattr(running, "TOGETHER", 1)  # each job by itself, as those of other kinds are
    door = open_door(dispatch="doorbell", embedder=fickle)
    claims: list[int] = []

    class Counting(Worker):
        def _claim(self, limit: int) -> Any:
            claims.append(limit)
            return running.claim(self._setup, limit=8 if len(claims) == 1 else 0, tenant_id=tenant)

    worker = Counting(door._core.run, door._core.setup(door.scope), threads=4)
    thinking(door, fickle, worker, many=4, jobs_laid=4)  # one claim took them all, and nobody gives anything back
    fickle.free.set()
    eventually(lambda: states(door) == {"done": 4})
    assert worker.stop() == 0


def test_where_threads_are_free_no_more_is_claimed_than_they_can_run(
    open_door: Callable[..., Engram], fickle: Fickle, tenant: str, quiet: pytest.MonkeyPatch
) -> None:
    door = open_door(dispatch="doorbell", embedder=fickle)
    worker = worker_of(door, tenant, threads=2)
    worker.start()
    eventually(lambda: worker._idle == 2)
    thinking(door, fickle, worker, many=2, jobs_laid=6)
    assert states(door) == {"running": 2, "queued": 4}, "the rest is left to other processes"
    fickle.free.set()
    eventually(lambda: set(states(door)) == {"done"})
    assert worker.stop() == 0


def test_what_waits_behind_a_slow_job_goes_back(
    open_door: Callable[..., Engram], fickle: Fickle, tenant: str, quiet: pytest.MonkeyPatch
) -> None:
    quiet.setattr(running, "TOGETHER", 1)  # each job by itself, as those of other kinds are
    door = open_door(dispatch="doorbell", embedder=fickle)
    worker = worker_of(door, tenant, threads=1)
    quiet.setattr(worker, "_tidy", lambda: None)
    thinking(door, fickle, worker, many=1, jobs_laid=6)
    assert states(door) == {"running": 6}
    quiet.undo()
    quiet.setattr(worker_module, "SLOW", 0.0)
    quiet.setattr(worker_module, "POLL", 0.1)
    worker._tidy()
    assert states(door) == {"running": 1, "queued": 5}
    fickle.free.set()
    eventually(lambda: set(states(door)) == {"done"})
    assert worker.stop() == 0


def test_stopping_gives_back_a_job_that_does_not_end_and_its_late_effect_is_refused(
    open_door: Callable[..., Engram], fickle: Fickle, tenant: str
) -> None:
    door = open_door(dispatch="doorbell", embedder=fickle)
    door.search("whether the model is there")
    door.remember("I live in Ottawa.")
    fickle.free.clear()
    fickle.entered.clear()
    worker = worker_of(door, tenant, threads=1)
    worker.start()
    assert fickle.entered.wait(20)
    assert worker.stop(patience=0.2) == 1
    assert not worker.ready
    assert states(door) == {"queued": 1}
    fickle.free.set()
    time.sleep(0.5)
    assert states(door) == {"queued": 1}, "the zombie's effect was refused"
    assert list(door.list_memories()) == []
    assert door.ops.run_jobs() == 1
    assert len(list(door.list_memories())) == 2


def test_a_zombie_whose_job_another_has_done_meanwhile_doubles_nothing(
    open_door: Callable[..., Engram], fickle: Fickle, tenant: str
) -> None:
    door = open_door(dispatch="doorbell", embedder=fickle)
    door.search("whether the model is there")
    door.remember("I live in Ottawa.")
    fickle.free.clear()
    fickle.entered.clear()
    worker = worker_of(door, tenant, threads=1)
    worker.start()
    assert fickle.entered.wait(20)
    assert worker.stop(patience=0.2) == 1
    other = open_door(embedding_model="none")
    assert other.ops.run_jobs() == 1
    fickle.free.set()
    eventually(lambda: not any(one.is_alive() for one in worker._crew))
    assert sorted(one.fact for one in door.list_memories()) == ["I live in Ottawa.", "User lives in Ottawa"]


def test_a_mistake_in_the_program_costs_attempts_and_no_thread(
    open_door: Callable[..., Engram], tenant: str, monkeypatch: pytest.MonkeyPatch, database: Database
) -> None:
    door = open_door(dispatch="doorbell", embedding_model="none")

    def mistaken(*_: Any) -> Any:
        raise TypeError("a mistake")
        yield

    monkeypatch.setattr(running, "WORK", {jobs.DERIVE: mistaken})
    door.remember("I live in Ottawa.")
    worker = worker_of(door, tenant, threads=1)
    worker.start()
    eventually(lambda: database.run(tenant, jobs.list_jobs, key="look")[0].error_class is not None)
    assert worker.ready
    assert worker.stop() == 0
    [job] = database.run(tenant, jobs.list_jobs, key="look")
    assert (job.state, job.attempt, "TypeError" in (job.error_class or "")) == ("queued", 1, True)


def test_what_its_first_jobs_have_loaded_is_not_walked_by_the_collector_again(
    open_door: Callable[..., Engram], tenant: str
) -> None:
    door = open_door(dispatch="doorbell", embedding_model="none")
    worker = worker_of(door, tenant)
    gc.unfreeze()
    worker.start()
    try:
        eventually(lambda: worker.ready)
        time.sleep(2 * worker_module.TICK)
        assert gc.get_freeze_count() == 0  # nothing is loaded yet
        door.remember("I live in Ottawa.")
        worker.wake()
        eventually(lambda: gc.get_freeze_count() > 10_000)
        assert worker.stop() == 0
        assert len(door.search("Ottawa")) > 0
    finally:
        worker.stop()
        gc.unfreeze()


def test_the_probe_says_whether_a_worker_lives_and_is_ready(database_url: str) -> None:
    ready = False
    with service._probe(0, lambda: ready) as port:
        assert asked(port, "/live") == 200
        assert asked(port, "/ready") == 503
        assert not service.is_ready(port)
        ready = True
        assert asked(port, "/ready?from=balancer") == asked(port, "/ready") == 200
        assert service.is_ready(port)
        assert asked(port, "/else") == 404
    assert not service.is_ready(port)


def asked(port: int, path: str) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_all_children_together_have_one_span_of_time_to_leave() -> None:
    waited: list[float] = []

    class Stubborn(service.Child):
        def wait(self, patience: float) -> None:
            waited.append(patience)
            time.sleep(0.05)

    service._dismiss([Stubborn(load({}), 1) for _ in range(3)])
    assert waited[0] <= service.LEAVING
    assert waited[2] <= waited[1] - 0.05 <= waited[0] - 0.1


def test_lines_for_programs_are_json() -> None:
    import logging

    line = service._Lines().format(logging.LogRecord("engram", 20, "", 1, "worker %d", (7,), None))
    assert json.loads(line)["message"] == "worker 7"


# The scheduler


@pytest.fixture
def house(tenant: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A house of the test's own."""
    monkeypatch.setattr(scheduler, "HOUSE", tenant)
    return tenant


def lose_the_turn(conn: Connection) -> None:
    """As if the leader had not been heard of for long."""
    conn.exec_driver_sql("update engram.turns set until = clock_timestamp() - interval '1 second'")


def test_only_one_scheduler_leads_and_a_lost_one_is_followed(open_door: Callable[..., Engram], house: str) -> None:
    run = open_door()._core.run
    first, second = Scheduler(run), Scheduler(run)
    assert (first.keep_turn(), second.keep_turn(), first.keep_turn()) == (True, False, True)
    run(steps.write(house, lose_the_turn, key="lose"))
    assert (second.keep_turn(), first.keep_turn()) == (True, False)


def test_two_schedulers_never_run_a_period_twice(
    open_door: Callable[..., Engram], house: str, database: Database
) -> None:
    run = open_door(pool_size=10)._core.run
    several = [Scheduler(run, {"sweep": 3600.0}) for _ in range(8)]

    def fire(one: Scheduler) -> None:
        for _ in range(5):
            one.add("sweep", 3600.0)
            run(steps.write(house, lose_the_turn, key="lose"))

    threads = [threading.Thread(target=fire, args=(one,)) for one in several]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = database.run(house, jobs.list_jobs, key="look")
    assert len(found) in (1, 2), "two only where the hour turned meanwhile"
    assert {job.kind for job in found} == {"sweep"}


def test_a_scheduler_runs_by_itself_and_ends(
    open_door: Callable[..., Engram], house: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "KEEP", 0.1)
    one = Scheduler(open_door()._core.run, {"sweep": 1.0})
    one.start()
    eventually(lambda: one.leading and database.run(house, jobs.list_jobs, key="look"))
    one.stop()
