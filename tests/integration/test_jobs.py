"""Jobs: claimed once, held under a lease, and finished only by who holds them."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import pairwise

import psycopg
import pytest
from book import Book, acting_as, said, together

from engram import jobs
from engram.database import Database, send_now
from engram.embedded import EmbeddedServer
from engram.errors import Conflict, LeaseLost, NotFound
from engram.ids import new_id
from engram.jobs import Job
from engram.operations.heartbeat import keeping
from engram.settings import load


@pytest.fixture
def book(database: Database, tenant: str) -> Book:
    return Book(database, tenant)


@pytest.fixture(scope="module")
def wide(database_url: str) -> Iterator[Database]:
    """A database with connections for many threads."""
    opened = Database(database_url, load({}, pool_size=16))
    yield opened
    opened.close()


def with_jobs(book: Book, many: int, stream: str = "main") -> list[str]:
    """The ids of the jobs of some new events, each in a stream of its own."""
    return [
        job_id
        for n in range(many)
        for job_id in book.append(book.stream(f"{stream} {n} {new_id()}"), [said(f"event {n}")]).job_ids
    ]


def claim(book: Book, limit: int = 10, kinds: tuple[str, ...] = ("derive",)) -> list[Job]:
    return book.run(lambda conn: jobs.claim(conn, kinds, limit, tenant_id=book.tenant))


def let_the_lease_end(book: Book, job: Job) -> None:
    late = "update engram.memory_jobs set lease_until = now() - interval '1 second' where job_id = %s returning 1"
    assert book.rows(late, job.job_id)


def make_due(book: Book) -> None:
    book.rows(
        "update engram.memory_jobs set run_at = clock_timestamp() where state in ('queued', 'paused') returning 1"
    )


def state(book: Book, job: Job) -> Job:
    return book.run(lambda conn: jobs.get(conn, job.job_id))


def rescue_all(book: Book) -> None:
    while book.run(jobs.rescue):
        pass


# Claiming


def test_a_claimed_job_runs_under_a_fresh_lease(book: Book) -> None:
    with_jobs(book, 2)
    one, two = claim(book)
    assert (one.state, one.attempt, one.tenant_id, one.scope_id) == ("running", 1, book.tenant, book.scope_id)
    assert one.stream_id != two.stream_id
    [(seconds,)] = book.rows(
        "select extract(epoch from lease_until - clock_timestamp())::float from engram.memory_jobs where job_id = %s",
        one.job_id,
    )
    assert 100 < seconds <= 120
    assert claim(book) == []


def test_a_claim_takes_no_more_than_its_limit_and_the_oldest_first(book: Book) -> None:
    ids = with_jobs(book, 3) + with_jobs(book, 3)
    taken = [claim(book, 2) for _ in range(4)]
    assert [len(part) for part in taken] == [2, 2, 2, 0]
    assert {job.job_id for part in taken[:1] for job in part} <= set(ids[:3])
    assert {job.job_id for part in taken for job in part} == set(ids)


def test_a_kind_that_is_not_named_is_left_alone(book: Book) -> None:
    with_jobs(book, 1)
    strange = book.run(lambda conn: jobs.add(conn, kind="of-a-newer-release", dedup_key="1"))
    assert [job.kind for job in claim(book)] == ["derive"]
    assert book.run(lambda conn: jobs.claim_these(conn, [strange]))[0].kind == "of-a-newer-release"
    assert claim(book, kinds=()) == []


def test_many_claimers_share_the_jobs_without_overlap(wide: Database, tenant: str) -> None:
    book = Book(wide, tenant)
    ids = with_jobs(book, 60)

    def work() -> list[str]:
        mine: list[str] = []
        while taken := claim(book, 4):
            mine += [job.job_id for job in taken]
        return mine

    taken = [job_id for mine in together([work] * 8) for job_id in mine]
    assert sorted(taken) == sorted(ids)


def test_named_jobs_are_claimed_once_and_only_in_their_own_tenant(book: Book, database: Database) -> None:
    ids = with_jobs(book, 2)
    with database.transaction(f"{book.tenant}-x") as conn:
        assert jobs.claim_these(conn, ids) == []
    assert {job.job_id for job in book.run(lambda conn: jobs.claim_these(conn, ids))} == set(ids)
    assert book.run(lambda conn: jobs.claim_these(conn, ids)) == []
    assert book.run(lambda conn: jobs.claim_these(conn, [])) == []


def test_a_claim_over_all_tenants_gives_each_a_share(migrated_database_url: str) -> None:
    opened = Database(migrated_database_url, load({}))
    try:
        busy, quiet = Book(opened, "busy"), Book(opened, "quiet")
        with_jobs(busy, 50)
        with_jobs(quiet, 2)
        with opened.transaction("neither") as conn:
            first, second = jobs.claim(conn, ["derive"], 10), jobs.claim(conn, ["derive"], 10)
        assert sorted({job.tenant_id for job in first}) == ["busy", "quiet"]
        assert [job.tenant_id for job in first].count("quiet") == 2
        assert (len(first), len(second)) == (10, 10)
        with opened.transaction("neither") as conn:
            assert jobs.count(conn) == {}, "only the two functions look over the wall"
    finally:
        opened.close()


def test_the_role_that_sees_all_tenants_logs_in_nowhere_and_bypasses_nothing(
    server: EmbeddedServer, database_url: str
) -> None:
    with acting_as(server.superuser_url, "") as conn:
        roles = conn.execute(
            "select rolname, rolsuper, rolbypassrls, rolcanlogin from pg_roles where rolname like 'engram_%' order by 1"
        ).fetchall()
        owned = conn.execute(
            "select proname from pg_proc where proowner = 'engram_scheduler'::regrole union all"
            " select relname from pg_class where relowner = 'engram_scheduler'::regrole order by 1"
        ).fetchall()
        creates = conn.execute("select has_schema_privilege('engram_scheduler', 'engram', 'create')").fetchone()
    assert ("engram_scheduler", False, False, False) in roles
    assert not any(superuser or bypass for _, superuser, bypass, _ in roles)
    functions = ("claim_jobs", "jobs_by_stream", "jobs_due_in", "oldest_jobs", "purge_jobs", "purge_recalls",
                 "queue_cycles", "queue_expiries", "rescue_jobs", "wake_jobs")  # fmt: skip
    assert owned == [(name,) for name in functions]
    assert creates == (False,)


def test_a_claim_asked_again_under_its_token_finds_what_it_took(book: Book) -> None:
    with_jobs(book, 5)
    token = new_id()

    def ask() -> list[str]:
        taken = book.run(lambda conn: jobs.claim(conn, ["derive"], 3, tenant_id=book.tenant, token=token))
        return sorted(job.job_id for job in taken)

    first = ask()
    assert len(first) == 3
    assert ask() == first, "as after a COMMIT whose answer was lost"
    assert state(book, claim(book)[0]).attempt == 1
    assert book.run(jobs.count) == {"running": 5}


def test_of_one_stream_one_job_runs_at_a_time(book: Book) -> None:
    main = book.stream()
    book.append(main, [said(f"event {n}") for n in range(40)])
    other = with_jobs(book, 1)
    first = claim(book)
    assert sorted(str(job.stream_id) == main for job in first) == [False, True]
    assert [job.job_id for job in first if job.stream_id != main] == other
    assert claim(book) == []
    book.run(lambda conn: jobs.finish(conn, next(job for job in first if job.stream_id == main)))
    assert [job.stream_id for job in claim(book)] == [main]


def test_streams_behind_a_long_one_that_is_at_work_are_found(book: Book) -> None:
    book.append(book.stream(), [said(f"event {n}") for n in range(200)])
    [long] = claim(book)
    others = with_jobs(book, 3)
    assert {job.job_id for job in claim(book, 2)} | {job.job_id for job in claim(book, 2)} == set(others)
    assert long.position == 1


def test_whoever_has_more_running_waits_until_the_others_are_level(migrated_database_url: str) -> None:
    opened = Database(migrated_database_url, load({}))
    try:
        busy, quiet = Book(opened, "busy"), Book(opened, "quiet")
        with_jobs(busy, 40)
        take = lambda limit: [job.tenant_id for job in busy.run(lambda conn: jobs.claim(conn, ["derive"], limit))]  # noqa: E731
        assert take(8) == ["busy"] * 8
        with_jobs(quiet, 20)
        assert sorted(take(10)) == ["busy"] + ["quiet"] * 9
        # Level now: they take turns, whoever was served longest ago first.
        turns = [one for _ in range(6) for one in take(1)]
        assert turns.count("busy") == turns.count("quiet") == 3
        assert all(one != two for one, two in pairwise(turns))
    finally:
        opened.close()


def test_tenants_take_turns_also_where_every_job_is_done_at_once(migrated_database_url: str) -> None:
    opened = Database(migrated_database_url, load({}))
    try:
        tenants = [Book(opened, name) for name in ("a", "b", "c")]
        for one in tenants:
            with_jobs(one, 4)
        turns = []
        for _ in range(9):
            [job] = tenants[0].run(lambda conn: jobs.claim(conn, ["derive"], 1))
            opened.run(job.tenant_id, lambda conn, job=job: jobs.finish(conn, job))
            turns.append(job.tenant_id)
        assert [sorted(turns[n : n + 3]) for n in (0, 3, 6)] == [["a", "b", "c"]] * 3
    finally:
        opened.close()


def test_200_000_jobs_of_one_tenant_do_not_keep_anothers_waiting(migrated_database_url: str) -> None:
    """T-24. The rows of the crowd are inserted as they are: half in one stream, half each in its own."""
    crowd(migrated_database_url, 20_000)


@pytest.mark.slow
def test_200_000_jobs_of_one_tenant_do_not_keep_anothers_waiting_in_full(migrated_database_url: str) -> None:
    crowd(migrated_database_url, 200_000)


def crowd(url: str, many: int) -> None:
    fill = (
        "insert into engram.memory_jobs (tenant_id, job_id, scope_id, kind, stream_id, position, dedup_key, run_at)"
        " select 'crowd', gen_random_uuid(), 1, 'derive', case when n %% 2 = 0 then gen_random_uuid()"
        " else '00000000-0000-0000-0000-000000000001' end, n, sha256(int4send(n)), now() - interval '1 hour'"
        " from generate_series(1, %s) n"
    )
    with psycopg.connect(url.replace("+psycopg", "")) as behind:
        behind.execute(fill, (many,))
    opened = Database(url, load({}))
    try:
        few = Book(opened, "few")
        before = few.run(lambda conn: jobs.claim(conn, ["derive"], 10))
        assert {job.tenant_id for job in before} == {"crowd"}
        assert len(before) == 10
        ids = with_jobs(few, 1)
        assert [job.job_id for job in few.run(lambda conn: jobs.claim(conn, ["derive"], 1))] == ids
        # What a claim reads grows neither with the queue nor with what waits in it.
        touched = (
            "select coalesce(sum(idx_tup_read), 0)::bigint from pg_stat_user_indexes where relname = 'memory_jobs'"
        )
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as behind:
            behind.execute("set role engram_app; select set_config('engram.tenant_id', 'few', false)")
            behind.execute("select pg_stat_force_next_flush()")
            behind.execute("reset role")
            [[start]] = behind.execute(touched).fetchall()
            for _ in range(20):
                behind.execute("select * from engram.claim_jobs('{derive}', 1, '2 min')")
            behind.execute("select pg_stat_force_next_flush()")
            behind.execute("select pg_stat_clear_snapshot()")
            [[end]] = behind.execute(touched).fetchall()
        assert end - start < 20 * 1_000
    finally:
        opened.close()


# Holding and finishing


def test_the_holder_finishes_its_job(book: Book) -> None:
    with_jobs(book, 1)
    [job] = claim(book)

    def effect(conn: object) -> None:
        jobs.hold(conn, job)
        jobs.finish(conn, job)

    book.run(effect)
    done = state(book, job)
    assert (done.state, done.lease_token, done.finished_at is not None) == ("done", None, True)
    with pytest.raises(LeaseLost):
        book.run(lambda conn: jobs.hold(conn, job))


def test_a_zombie_is_refused_whatever_it_tries(book: Book) -> None:
    with_jobs(book, 1)
    [zombie] = claim(book)
    let_the_lease_end(book, zombie)
    rescue_all(book)
    make_due(book)
    [holder] = claim(book)
    assert (holder.job_id, holder.attempt, holder.crashes) == (zombie.job_id, 2, 1)
    for attempt in (jobs.hold, jobs.finish, jobs.release, jobs.extend, lambda conn, job: jobs.fail(conn, job, "any")):
        with pytest.raises(LeaseLost):
            book.run(lambda conn, attempt=attempt: attempt(conn, zombie))
    assert state(book, holder) == holder
    book.run(lambda conn: jobs.finish(conn, holder))


def test_a_held_job_is_not_rescued_under_its_holder(book: Book) -> None:
    with_jobs(book, 1)
    [job] = claim(book)
    let_the_lease_end(book, job)
    with book.database.transaction(book.tenant) as conn:
        jobs.hold(conn, job)
        send_now(conn)
        rescue_all(book)
        jobs.finish(conn, job)
    assert state(book, job).state == "done"


def test_another_tenant_can_neither_hold_nor_see_a_job(book: Book, database: Database) -> None:
    with_jobs(book, 1)
    [job] = claim(book)
    with database.transaction(f"{book.tenant}-x") as conn, pytest.raises(NotFound):
        jobs.get(conn, job.job_id)
    with pytest.raises(LeaseLost):
        database.run(f"{book.tenant}-x", lambda conn: jobs.hold(conn, job))
    with pytest.raises(NotFound):
        book.run(lambda conn: jobs.get(conn, job.job_id, scope_ids=[book.scope_id + 10_000]))


def test_an_extended_lease_outlives_the_rescue(book: Book) -> None:
    with_jobs(book, 1)
    [job] = claim(book)
    let_the_lease_end(book, job)
    book.run(lambda conn: jobs.extend(conn, job))
    rescue_all(book)
    assert state(book, job).lease_token == job.lease_token


def test_thoughts_that_are_each_short_keep_a_lease_together(book: Book, database: Database) -> None:
    with_jobs(book, 1)
    [job] = claim(book)

    def lease() -> object:
        return state(book, job).lease_until

    first = lease()
    with keeping(database, job, every=30):
        time.sleep(0.2)
    assert lease() == first
    with keeping(database, replace(job, since=job.since - 31), every=30):  # as if others had come before
        give_up = time.monotonic() + 20
        while lease() == first:
            assert time.monotonic() < give_up
            time.sleep(0.02)


def test_a_process_that_can_start_no_thread_any_more_thinks_without_a_heartbeat(
    book: Book, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    with_jobs(book, 1)
    [job] = claim(book)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with keeping(database, job):
        thought = True
    assert thought


def test_a_released_job_is_queued_again_and_the_attempt_does_not_count(book: Book) -> None:
    with_jobs(book, 1)
    [job] = claim(book)
    book.run(lambda conn: jobs.release(conn, job))
    [again] = claim(book)
    assert (again.job_id, again.attempt) == (job.job_id, 1)


# Failing


def test_the_pause_doubles_up_to_ten_minutes_and_is_shaken(book: Book) -> None:
    assert [jobs.backoff(n, lambda: 1.0) for n in (1, 2, 3, 9, 10, 1000)] == [2, 4, 8, 512, 600, 600]
    assert [jobs.backoff(n, lambda: 0.0) for n in (1, 2, 10)] == [1, 2, 300]
    assert len({jobs.backoff(5) for _ in range(20)}) > 1


def test_a_failed_job_waits_and_after_five_failures_is_dead(book: Book) -> None:
    with_jobs(book, 1)
    for attempt in range(1, 6):
        make_due(book)
        [job] = claim(book)
        assert job.attempt == attempt
        now = book.run(
            lambda conn, job=job: jobs.fail(conn, job, "model_down", error_text="no answer", random=lambda: 1.0)
        )
        assert now == ("queued" if attempt < 5 else "dead")
        assert claim(book) == [], "it is not due yet"
    dead = state(book, job)
    assert (dead.state, dead.error_class, dead.error_text, dead.lease_token) == (
        "dead",
        "model_down",
        "no answer",
        None,
    )
    [(pause,)] = book.rows("select extract(epoch from run_at - finished_at)::float from engram.memory_jobs")
    assert pause == pytest.approx(32, abs=1)


def test_what_nothing_can_help_is_dead_at_once(book: Book) -> None:
    with_jobs(book, 1)
    [job] = claim(book)
    assert book.run(lambda conn: jobs.fail(conn, job, "bad_input", permanent=True)) == "dead"


def test_a_rate_limit_costs_no_attempt(book: Book) -> None:
    with_jobs(book, 1)
    for _ in range(8):
        [job] = claim(book)
        assert job.attempt == 1
        assert (
            book.run(lambda conn, job=job: jobs.fail(conn, job, "rate_limited", counts=False, retry_after=0))
            == "queued"
        )
    [job] = claim(book)
    book.run(lambda conn: jobs.fail(conn, job, "rate_limited", counts=False, retry_after=30))
    assert claim(book) == []


def test_a_job_that_loses_three_workers_is_dead(book: Book) -> None:
    with_jobs(book, 1)
    for crash in range(1, 4):
        make_due(book)
        [job] = claim(book)
        let_the_lease_end(book, job)
        rescue_all(book)
        after = state(book, job)
        assert (after.crashes, after.error_class) == (crash, "worker_lost")
        assert after.state == ("queued" if crash < 3 else "dead")
    assert after.finished_at is not None


def test_a_dead_job_can_be_revived_and_a_living_one_cannot(book: Book) -> None:
    with_jobs(book, 1)
    [job] = claim(book)
    with pytest.raises(Conflict):
        book.run(lambda conn: jobs.revive(conn, job.job_id))
    book.run(lambda conn: jobs.fail(conn, job, "bad_input", permanent=True))
    revived = book.run(lambda conn: jobs.revive(conn, job.job_id))
    assert (revived.state, revived.attempt, revived.crashes) == ("queued", 0, 0)
    assert claim(book)[0].job_id == job.job_id
    with pytest.raises(NotFound):
        book.run(lambda conn: jobs.revive(conn, new_id()))


def test_a_job_that_waits_can_be_told_to_go_on_at_once(book: Book) -> None:
    with_jobs(book, 1)
    [job] = claim(book)
    book.run(lambda conn: jobs.fail(conn, job, "model_down", retry_after=600))
    assert claim(book) == []
    book.run(lambda conn: jobs.revive(conn, job.job_id))
    assert [one.job_id for one in claim(book)] == [job.job_id]


def test_a_paused_job_comes_back_by_itself_and_the_attempt_does_not_count(book: Book) -> None:
    with_jobs(book, 1)
    [job] = claim(book)
    book.run(lambda conn: jobs.pause(conn, job, "budget_spent", 3600))
    resting = state(book, job)
    assert (resting.state, resting.attempt, resting.error_class, resting.lease_token) == (
        "paused", 0, "budget_spent", None,
    )  # fmt: skip
    assert claim(book) == []
    make_due(book)
    rescue_all(book)
    assert state(book, job).state == "queued"
    assert [(one.job_id, one.attempt) for one in claim(book)] == [(job.job_id, 1)]
    with pytest.raises(LeaseLost):
        book.run(lambda conn: jobs.pause(conn, job, "budget_spent", 1) or jobs.pause(conn, job, "budget_spent", 1))


def test_a_cancelled_job_stays_so_and_whoever_ran_it_is_refused(book: Book) -> None:
    with_jobs(book, 2)
    running, waiting = claim(book, 1)[0], book.run(lambda conn: jobs.list_jobs(conn, states=["queued"]))[0]
    for job in (running, waiting):
        for _ in range(2):
            assert book.run(lambda conn, job=job: jobs.cancel(conn, job.job_id)).state == "cancelled"
    with pytest.raises(LeaseLost):
        book.run(lambda conn: jobs.hold(conn, running))
    assert claim(book) == []
    book.run(lambda conn: jobs.revive(conn, running.job_id))
    [again] = claim(book)
    book.run(lambda conn: jobs.finish(conn, again))
    for change in (jobs.cancel, jobs.revive):
        with pytest.raises(Conflict):
            book.run(lambda conn, change=change: change(conn, again.job_id))


# Listing, adding, cursors


def test_jobs_are_listed_by_state_and_page(book: Book) -> None:
    ids = with_jobs(book, 5)
    [job] = claim(book, 1)
    everything = book.run(jobs.list_jobs)
    assert {found.job_id for found in everything} == set(ids)
    assert [found.job_id for found in book.run(lambda conn: jobs.list_jobs(conn, states=["running"]))] == [job.job_id]
    assert book.run(lambda conn: jobs.list_jobs(conn, scope_ids=[])) == []
    first = book.run(lambda conn: jobs.list_jobs(conn, limit=2))
    rest = book.run(lambda conn: jobs.list_jobs(conn, after=(first[-1].created_at, first[-1].job_id)))
    assert first + rest == everything
    assert book.run(jobs.count) == {"queued": 4, "running": 1}


def test_a_job_is_added_once_for_its_key(book: Book) -> None:
    first = book.run(
        lambda conn: jobs.add(conn, kind="embed", dedup_key="m-1", payload={"ids": ["ü"]}, scope_id=book.scope_id)
    )
    assert book.run(lambda conn: jobs.add(conn, kind="embed", dedup_key="m-1")) is None
    assert book.run(lambda conn: jobs.add(conn, kind="other", dedup_key="m-1")) is not None
    assert book.run(lambda conn: jobs.add(conn, kind="embed", dedup_key="m-2", delay=60)) is not None
    [job] = claim(book, kinds=("embed",))
    assert (job.job_id, job.payload) == (first, {"ids": ["ü"]})


def test_a_cursor_moves_only_from_where_it_was_seen(book: Book) -> None:
    stream = book.stream()

    def move(old: int, new: int, version: int = 1) -> bool:
        return book.run(lambda conn: jobs.advance(conn, {jobs.Cursor(stream, "rules", version, old): new}))

    assert book.run(lambda conn: jobs.cursor(conn, stream, "rules", 1)) == 0
    assert [move(3, 5), move(0, 4), move(0, 5), move(4, 9), move(4, 6)] == [False, True, False, True, False]
    assert book.run(lambda conn: jobs.cursor(conn, stream, "rules", 1)) == 9
    assert [move(0, 2, version=2), move(9, 11, version=2)] == [False, True], "a newer version goes on from there"
    assert [move(9, 12), move(11, 12)] == [False, True], "and so does an older one that runs beside it"
    assert book.run(lambda conn: jobs.cursor(conn, stream, "rules", 2)) == 12


def test_of_many_who_move_a_cursor_one_does(wide: Database, tenant: str) -> None:
    book = Book(wide, tenant)
    stream = book.stream()
    for old in (0, 1, 2):
        move = {jobs.Cursor(stream, "rules", 1, old): old + 1}
        moves = together([lambda move=move: book.run(lambda conn: jobs.advance(conn, move))] * 8)
        assert moves.count(True) == 1


def test_finished_jobs_are_swept_out_after_a_week_and_the_dead_stay(book: Book) -> None:
    with_jobs(book, 6)
    for index, job in enumerate(claim(book)):
        if index < 2:
            book.run(lambda conn, job=job: jobs.finish(conn, job))
        elif index == 2:
            book.run(lambda conn, job=job: jobs.cancel(conn, job.job_id))
        elif index == 3:
            book.run(lambda conn, job=job: jobs.fail(conn, job, "bad_input", permanent=True))
    sweep = partial(jobs.purge, limit=1, age=timedelta(days=7))
    assert book.run(sweep) == 0
    ago = "finished_at = finished_at - interval '8 days' where finished_at is not null"
    age = f"update engram.memory_jobs set {ago} returning 1"
    assert len(book.rows(age)) == 4
    swept = 0
    while book.run(sweep):
        swept += 1
    assert swept >= 3
    assert book.run(jobs.count) == {"dead": 1, "running": 2}


def test_sweepers_do_not_wait_for_each_other(book: Book, database: Database) -> None:
    with_jobs(book, 4)
    for job in claim(book):
        book.run(lambda conn, job=job: jobs.finish(conn, job))
    book.rows("update engram.memory_jobs set finished_at = finished_at - interval '8 days' returning 1")
    with database.transaction(book.tenant) as one, database.transaction(book.tenant) as two:
        assert jobs.purge(one, 2) == jobs.purge(two, 2) == 2


def test_when_a_job_falls_due_is_found_whatever_it_waits_for(book: Book) -> None:
    def due(*kinds: str) -> float | None:
        return book.run(lambda conn: jobs.due_in(conn, kinds or ("derive",)))

    assert due() is None
    with_jobs(book, 1)
    assert (due() or 1) <= 0
    assert due("another") is None
    [job] = claim(book)
    assert 100 < (due() or 0) <= 120, "its lease"
    book.run(lambda conn: jobs.pause(conn, job, "budget_spent", 3_000))
    assert 2_900 < (due() or 0) <= 3_000, "its pause"
    with_jobs(book, 1, stream="other")
    assert (due() or 1) <= 0, "what is ready comes first"


def test_to_find_when_a_job_falls_due_a_long_queue_is_not_read(book: Book, server: EmbeddedServer) -> None:
    fill = (
        "insert into engram.memory_jobs (tenant_id, job_id, kind, stream_id, position, dedup_key, run_at, asleep)"
        " select engram.current_tenant(), gen_random_uuid(), 'derive', gen_random_uuid(), n, sha256((%s || n)::bytea),"
        " clock_timestamp() + %s * interval '1 hour', %s from generate_series(1, 5000) n"
    )

    def read() -> int:
        """How many rows the function looked at with its own plan, on a table whose size is known."""
        with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as behind:
            behind.execute("analyze engram.memory_jobs")
            [[body, settings]] = behind.execute(
                "select prosrc, proconfig from pg_proc where oid = 'engram.jobs_due_in'::regproc"
            ).fetchall()
            for name, value in (one.split("=", 1) for one in settings):
                behind.execute("select set_config(%s, %s, false)", (name, value))
            behind.execute("set role engram_scheduler")
            told = re.search(r"return query\s+(.*?);", body, re.DOTALL)
            assert told is not None
            asked = told[1].replace("p_tenants", "$1").replace("p_kinds", "$2")
            behind.execute(f"prepare asked(text[], text[]) as {asked}")  # type: ignore[arg-type]
            given = f"'{{{book.tenant}}}', '{{derive,extract}}'"
            [[plan]] = behind.execute(f"explain (analyze, format json) execute asked({given})").fetchall()  # type: ignore[arg-type]
        rows, left = 0, [plan[0]["Plan"]]
        while left:
            node = left.pop()
            left += node.get("Plans", [])
            if node.get("Relation Name") == "memory_jobs":
                rows += node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
        return int(rows)

    book.run(lambda conn: conn.exec_driver_sql(fill, ("asleep", 1, True)))
    assert read() < 200
    book.run(lambda conn: conn.exec_driver_sql(fill, ("ready", 0, False)))
    assert read() < 200


def test_a_claim_does_not_read_the_queue_of_a_tenant_that_was_never_analysed(
    book: Book, server: EmbeddedServer
) -> None:
    fill = (
        "insert into engram.memory_jobs (tenant_id, job_id, kind, stream_id, position, dedup_key)"
        " select %s, gen_random_uuid(), 'derive', gen_random_uuid(), n, sha256((%s || n)::bytea)"
        " from generate_series(1, 3000) n"
    )
    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as behind:
        behind.execute(fill, (f"known-{new_id()}", new_id()))
        behind.execute("analyze engram.memory_jobs")
        behind.execute(fill, (book.tenant, new_id()))
        behind.execute("select set_config('engram.tenant_id', %s, false)", (book.tenant,))
        claimed = f"select * from engram.claim_jobs(array['derive'], 2, interval '1 minute', '{book.tenant}')"
        for _ in range(2):  # the first reads the catalogue, too
            [[plan]] = behind.execute(f"explain (analyze, buffers, format json) {claimed}").fetchall()  # type: ignore[arg-type]
    assert plan[0]["Plan"]["Actual Rows"] == 2
    assert plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"] < 500


def test_the_application_deletes_no_job(book: Book, database_url: str) -> None:
    with_jobs(book, 1)
    with acting_as(database_url, book.tenant) as conn, pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute("delete from engram.memory_jobs")


def test_of_many_tenants_one_statement_tells_when_the_next_job_of_each_falls_due(book: Book) -> None:
    with_jobs(book, 2)
    told = book.run(lambda conn: jobs.all_due_in(conn, ["derive"], [book.tenant, "nobody"]))
    assert told.keys() == {book.tenant}
    assert told[book.tenant] <= 0
    assert book.run(lambda conn: jobs.all_due_in(conn, ["embed"], [book.tenant])) == {}
