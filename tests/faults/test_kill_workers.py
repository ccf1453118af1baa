"""Workers are killed again and again: every event has its memories, once and whole, as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest
from table import Table
from worker_process import BEGUN, Crew, Member, crew, every

from engram import jobs
from engram.database import Database
from engram.errors import Unavailable
from engram.settings import load


def kill_and_check(
    table: Table, many: int, seconds: float, *, size: int = 4, pause: float = 0.3, most: int = 1_000_000
) -> tuple[int, int]:
    """Jobs under kills until all are done, so many kills at most; how many, and how many workers were lost in all."""
    table.lay(many)
    table.patient()
    dice = random.Random(18)
    with crew(
        table.environment, size, "--threads", "2", nursery=True, lease=2, crashes=1000, dies_in_effect=0.05
    ) as workers:
        with every(pause, lambda: workers.kill_one(dice), most) as kills:
            workers.until(table.done, seconds)
        lost = workers.lost
    table.check(many)
    assert table.states() == {"done": many}
    return kills[0], lost


def test_workers_killed_again_and_again_lose_double_and_halve_nothing(table: Table) -> None:
    kills, lost = kill_and_check(table, 100, 90, pause=0.5, most=20)  # a slow machine gets to work after that
    assert (kills > 5, lost > 3) == (True, True), (kills, lost)


@pytest.mark.slow
def test_a_thousand_jobs_survive_a_kill_every_third_of_a_second(table: Table) -> None:
    kills, lost = kill_and_check(table, 1_000, 900, size=6)
    assert lost > 100, f"{kills} kills, {lost} workers lost"


def kill_postgres_and_check(table: Table, many: int, most: int, seconds: float) -> int:
    table.lay(many)
    table.patient()

    def kill() -> None:
        killed, deadline = table.server.pid, time.monotonic() + 60
        with suppress(psutil.NoSuchProcess):
            psutil.Process(killed).kill()
        while time.monotonic() < deadline:  # the signal takes a moment to arrive
            with suppress(Unavailable):
                table.server.ensure_running()
                if table.server.pid != killed:
                    return
            time.sleep(0.01)
        pytest.fail("PostgreSQL did not come back")

    with crew(table.environment, 2, "--threads", "2", nursery=True, lease=4, crashes=1000) as workers:
        workers.until(lambda: len(workers.started()) == 2, 30)
        with every(1.0, kill, most) as kills:
            workers.until(lambda: table.done() and kills[0] > 1, seconds)
        assert workers.lost == 0, "a worker outlives its database"
    table.check(many)
    return kills[0]


def test_postgresql_killed_under_workers_loses_doubles_and_halves_nothing(table: Table) -> None:
    assert kill_postgres_and_check(table, 120, 3, 90) > 1


@pytest.mark.slow
def test_a_thousand_jobs_survive_postgresql_killed_again_and_again(table: Table) -> None:
    assert kill_postgres_and_check(table, 1_000, 25, 600) > 5


def test_a_job_that_ends_its_worker_three_times_is_dead_and_takes_no_other_with_it(table: Table) -> None:
    table.lay(40)
    with table.door(table.tenant, "doorbell") as door:
        door.remember("This is the poison.", user_id="poisoner")
    with crew(table.environment, 1, "--threads", "4", nursery=True, lease=3, eats_memory_at="poison") as workers:
        workers.until(lambda: table.states() == {"done": 40, "dead": 1}, 90)
        assert workers.lost == 3
    table.check(40) if table.memories(table.tenant).pop("poisoner", None) is None else pytest.fail("it has memories")
    [dead] = table.rows("select error_class, crashes from engram.memory_jobs where tenant_id = %s and state = 'dead'",
                        table.tenant)  # fmt: skip
    assert dead == ("worker_lost", 3)


@pytest.mark.parametrize("days", [-1, 1])
def test_a_worker_whose_clock_is_a_day_off_takes_and_keeps_jobs_like_any_other(table: Table, days: int) -> None:
    table.lay(20)
    with crew(table.environment, 1, "--threads", "2", nursery=True, clock=days * 86_400, hangs=0.5) as workers:
        workers.until(lambda: "running" in table.states(), 30)
        leases = table.rows("select extract(epoch from lease_until - clock_timestamp())::float from engram.memory_jobs"
                            " where tenant_id = %s and state = 'running'", table.tenant)  # fmt: skip
        assert all(100 < float(str(left)) <= 120 for (left,) in leases)
        workers.until(table.done, 60)
        assert workers.lost == 0
    table.check(20)
    assert table.rows("select count(*) from engram.memory_jobs where tenant_id = %s and crashes > 0", table.tenant) == [
        (0,)
    ]


def test_a_job_of_a_newer_release_is_left_to_it(table: Table) -> None:
    database = Database(table.server.url(), load({}))
    database.run(table.tenant, lambda conn: jobs.add(conn, kind="dream", dedup_key="1"), key="1")
    database.close()
    table.lay(10)
    with crew(table.environment, 1) as workers:
        workers.until(lambda: table.states() == {"queued": 1, "done": 10}, 60)
    assert table.rows("select kind, attempt from engram.memory_jobs where tenant_id = %s and state = 'queued'",
                      table.tenant) == [("dream", 0)]  # fmt: skip


def stopped(member: Member, signals: list[signal.Signals], seconds: float) -> int:
    for number in signals:
        member.send(number)
        time.sleep(0.3)
    return member.wait(seconds)


def hanging(table: Table, hangs: float, *options: str) -> Iterator[Crew]:
    """A crew of one that hangs in the middle of a job."""
    table.lay(8)
    with crew(table.environment, 1, *options, hangs=hangs) as workers:
        workers.until(lambda: BEGUN in workers.log.read_text(), 30)
        yield workers


@pytest.mark.parametrize("options", [(), ("--processes", "2")])
def test_a_worker_told_to_stop_finishes_what_it_has_begun_and_gives_back_the_rest_uncounted(
    table: Table, options: tuple[str, ...]
) -> None:
    for workers in hanging(table, 1.0, "--threads", "1", *options):
        assert stopped(workers.members[0], [signal.SIGTERM], 30) == 0
        assert set(table.states()) <= {"queued", "done"}
        assert table.states().get("done", 0) >= 1
        assert table.rows("select distinct attempt, crashes from engram.memory_jobs where tenant_id = %s"
                          " and state = 'queued'", table.tenant) == [(0, 0)]  # fmt: skip


def test_a_job_that_does_not_end_is_given_back_and_the_second_signal_ends_at_once(table: Table) -> None:
    for workers in hanging(table, 600.0, "--threads", "1"):
        assert stopped(workers.members[0], [signal.SIGTERM, signal.SIGINT], 5) == 128 + signal.SIGINT
        assert "running" in table.states()  # at once: its lease will end by itself


def test_a_lost_process_of_several_is_replaced_and_a_lost_parent_leaves_no_orphan(table: Table) -> None:
    with crew(table.environment, 1, "--processes", "2", "--threads", "1") as workers:
        workers.until(lambda: workers.log.read_text().count("started") == 2, 30)
        parent = psutil.Process(workers.members[0].pid)
        children = [child for child in parent.children() if "spawn_main" in " ".join(child.cmdline())]
        children[0].kill()
        workers.until(lambda: workers.log.read_text().count("started") == 3, 30)
        table.lay(10)
        workers.until(table.done, 30)
        children = parent.children()
        os.kill(parent.pid, signal.SIGKILL)
        gone, alive = psutil.wait_procs(children, 30)
        assert (len(gone) >= 2, alive) == (True, [])


def test_workers_that_touch_the_same_keys_in_any_order_never_deadlock(table: Table) -> None:
    things = [
        f"I am allergic to {thing}." for thing in ("nuts", "milk", "soy", "eggs", "wheat", "fish", "bees", "cats")
    ]
    dice = random.Random(2)
    with table.door(table.tenant, "doorbell") as door:
        for number in range(60):
            door.remember(" ".join(dice.sample(things, 8)), user_id="ada", session_id=f"talk {number}")
    deadlocks = "select deadlocks from pg_stat_database where datname = current_database()"
    before = table.rows(deadlocks)
    with crew(table.environment, 2, "--threads", "4", nursery=True) as workers:
        workers.until(lambda: table.done() or table.rows(deadlocks) != before, 120)
    assert table.rows(deadlocks) == before
