"""The one entry to a transaction: what is tried again, what is never said to be known, and what is left behind.

Failures are real ones: deadlocks, killed sessions, a server that is stopped, and a proxy that loses the answer to a
COMMIT.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import random
import re
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from proxy import LosingProxy, PoolingProxy, between
from quiet import Mute

from engram import (
    AsyncEngram,
    Engram,
    Filter,
    IdempotencyMismatch,
    Scope,
    SettingsError,
    Unavailable,
    UnknownOutcome,
    jobs,
    tenancy,
    wire,
)
from engram import database as databases
from engram.database import (
    KEPT,
    Connection,
    Database,
    address,
    classify,
    ending,
    fetch_ahead,
    fetch_all,
    fetch_named,
    fetch_value,
    send_ahead,
    sqlstate,
    statement,
    translate,
)
from engram.embedded import EmbeddedServer
from engram.errors import Conflict, EngramError, InvalidInput, LeaseLost, SchemaOutdated
from engram.operations import steps
from engram.operations.arguments import Message
from engram.settings import Settings, load
from engram.wire import Kept


def failed(state: str | None, text: str = "it failed", kind: type[Exception] = psycopg.OperationalError) -> Exception:
    """What SQLAlchemy raises for a failure of the driver with this SQLSTATE."""
    cause = kind(text)
    if state is not None:
        cause.sqlstate = state  # type: ignore[attr-defined]
    return sa.exc.OperationalError("SELECT", {}, cause)


def count(database: Database, tenant: str) -> int:
    asked = "SELECT count(*) FROM engram.memory_scopes WHERE tenant_id = %s"
    return database.run(tenant, lambda conn: int(conn.exec_driver_sql(asked, (tenant,)).scalar_one()))


def add_scope(name: str, tenant: str) -> Callable[[Any], None]:
    """Work that is not idempotent: done twice it leaves two rows."""

    def work(conn: Any) -> None:
        conn.exec_driver_sql(
            "INSERT INTO engram.memory_scopes (tenant_id, namespace, agent_id)"
            " VALUES (%s, %s, gen_random_uuid()::text)",
            (tenant, name),
        )

    return work


@pytest.fixture
def behind(server: EmbeddedServer, database_url: str) -> Iterator[psycopg.Connection[Any]]:
    """The superuser's view of the server."""
    address = server.url(user="postgres").replace("+psycopg", "")
    assert database_url
    with psycopg.connect(address, autocommit=True) as conn:
        yield conn


@contextmanager
def of_its_own(url: str, **settings: Any) -> Iterator[Database]:
    database = Database(url, load({}, **settings))
    try:
        yield database
    finally:
        database.close()


# What a failure means ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("states", "kind"),
    [
        ("40001 40P01 55P03 57P03 53300 53200 53400", "safe"),
        ("08000 08003 08006 08P01 57P01 57P02 57P05 40003 25P03 25P04", "unknown"),
        ("25006", "failover"),
        (
            "22001 22P02 22021 2201E 23502 23503 23505 23514 42601 42501 42P01 54000 0A000 55P99 23P98 23P99",
            "permanent",
        ),
        ("57014", "cancelled"),
        ("53100 58030 XX001 XX002", "stop"),
    ],
)
def test_a_failure_is_classed_by_its_sqlstate(states: str, kind: str) -> None:
    assert {state: classify(failed(state)) for state in states.split()} == dict.fromkeys(states.split(), kind)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (psycopg.OperationalError("server closed the connection unexpectedly"), "unknown"),
        (psycopg.InterfaceError("the connection is closed"), "unknown"),
        (psycopg.InternalError("received 2 results from command 'COMMIT'"), "unknown"),
        (psycopg.DatabaseError("server closed the connection unexpectedly"), "unknown"),
        (ConnectionResetError(), "unknown"),
        (TimeoutError(), "unknown"),
        (sa.exc.TimeoutError(), "safe"),
        (psycopg.ProgrammingError("no result"), "permanent"),
        (psycopg.DataError("a NUL"), "permanent"),
        (KeyError("a mistake"), "permanent"),
    ],
)
def test_a_failure_without_a_sqlstate_is_a_lost_connection_or_a_mistake(error: Exception, kind: str) -> None:
    assert classify(error) == kind


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ('connection failed: FATAL:  too many connections for role "engram_app"', "53300"),
        ("connection failed: FATAL:  sorry, too many clients already", "53300"),
        ("FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute", "53300"),
        ("connection failed: FATAL:  the database system is starting up", "57P03"),
        ("connection failed: FATAL:  the database system is in recovery mode", "57P03"),
        ("connection to server failed: session is read-only", "25006"),
        ('connection failed: FATAL:  password authentication failed for user "x"', "28P01"),
        ('connection failed: FATAL:  role "too many clients" does not exist', "28000"),
        ('FATAL:  pg_hba.conf rejects connection for host "10.0.0.1", user "x", database "y", no encryption', "28000"),
        ('connection failed: FATAL:  database "x" does not exist', "3D000"),
        ("connection is bad: Connection refused", None),
    ],
)
def test_a_refused_connection_is_known_by_its_text(text: str, state: str | None) -> None:
    assert sqlstate(failed(None, text)) == state


def test_what_the_driver_raises_becomes_an_error_of_engram_that_quotes_nothing() -> None:
    expected: list[tuple[str | None, type[EngramError]]] = [
        ("40001", Unavailable), ("57014", Unavailable), ("25006", Unavailable), ("53100", Unavailable),
        (None, Unavailable), ("42P01", SchemaOutdated), ("23505", Conflict), ("22P02", InvalidInput),
        ("42601", Unavailable), ("28P01", Unavailable),
    ]  # fmt: skip
    for state, kind in expected:
        made = translate(failed(state, "Key (fact)=(a secret) already exists"))
        assert type(made) is kind, state
        assert "secret" not in str(made)
        assert "secret" not in repr(made.facts)


# What is tried again -------------------------------------------------------------------------------------------------


def test_a_deadlock_is_tried_again_until_both_writers_are_through(database: Database, tenant: str) -> None:
    for name in ("a", "b"):
        database.run(tenant, add_scope(name, tenant))
    tries, barrier = [0, 0], threading.Barrier(2, timeout=10)

    def swap(me: int, first: str, second: str) -> None:
        def work(conn: Any) -> None:
            tries[me] += 1
            for step, name in enumerate((first, second)):
                conn.exec_driver_sql(
                    "UPDATE engram.memory_scopes SET epoch = epoch + 1 WHERE tenant_id = %s AND namespace = %s",
                    (tenant, name),
                )
                if step == 0 and tries[me] == 1:
                    barrier.wait()

        database.run(tenant, work)

    threads = [threading.Thread(target=swap, args=args) for args in ((0, "a", "b"), (1, "b", "a"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(tries) == 3, "the server broke the deadlock by sending one of them back"
    with database.transaction(tenant) as conn:
        rows = conn.exec_driver_sql("SELECT epoch FROM engram.memory_scopes WHERE tenant_id = %s", (tenant,))
        assert [row.epoch for row in rows] == [2, 2]


def test_a_serialization_failure_is_tried_again(database: Database, tenant: str) -> None:
    database.run(tenant, add_scope("a", tenant))
    tries = 0

    def work(conn: Any) -> None:
        nonlocal tries
        tries += 1
        conn.exec_driver_sql("SELECT epoch FROM engram.memory_scopes WHERE tenant_id = %s", (tenant,))
        if tries == 1:
            conn.exec_driver_sql("DO $$ BEGIN RAISE EXCEPTION 'could not serialize' USING errcode = '40001'; END $$")

    database.run(tenant, work)
    assert tries == 2


def test_a_lock_that_comes_free_is_waited_for(database_url: str, tenant: str, behind: psycopg.Connection[Any]) -> None:
    tries = 0

    def work(conn: Any) -> None:
        nonlocal tries
        tries += 1
        if tries == 3:
            behind.execute("SELECT pg_advisory_unlock(4711)")
        conn.exec_driver_sql("SELECT pg_advisory_xact_lock(4711)")

    behind.execute("SELECT pg_advisory_lock(4711)")
    with of_its_own(database_url, lock_timeout=0.05) as database:
        database.run(tenant, work)
    assert tries == 3


def test_a_lock_that_stays_taken_makes_the_call_unavailable_with_a_time_to_come_back(
    database_url: str, tenant: str, behind: psycopg.Connection[Any]
) -> None:
    tries = 0

    def work(conn: Any) -> None:
        nonlocal tries
        tries += 1
        conn.exec_driver_sql("SELECT pg_advisory_xact_lock(4712)")

    behind.execute("SELECT pg_advisory_lock(4712)")
    try:
        with of_its_own(database_url, lock_timeout=0.01) as database, pytest.raises(Unavailable) as caught:
            database.run(tenant, work)
    finally:
        behind.execute("SELECT pg_advisory_unlock(4712)")
    assert (tries, caught.value.sqlstate) == (8, "55P03")
    assert caught.value.retry_after > 0


def test_a_statement_that_takes_too_long_is_not_tried_again(database_url: str, tenant: str) -> None:
    tries = 0

    def work(conn: Any) -> None:
        nonlocal tries
        tries += 1
        conn.exec_driver_sql("SELECT pg_sleep(5)")

    with (
        of_its_own(database_url, statement_timeout=0.05) as database,
        pytest.raises(Unavailable, match="took too long") as caught,
    ):
        database.run(tenant, work)
    assert (tries, caught.value.sqlstate) == (1, "57014")


def test_an_error_of_engram_leaves_as_it_is_and_undoes_the_work(database: Database, tenant: str) -> None:
    tries = 0

    def work(conn: Any) -> None:
        nonlocal tries
        tries += 1
        add_scope("a", tenant)(conn)
        raise Conflict("no")

    with pytest.raises(Conflict, match="no"):
        database.run(tenant, work)
    assert (tries, count(database, tenant)) == (1, 0)


def test_a_session_killed_before_commit_is_no_loss_even_without_a_key(
    database: Database, tenant: str, behind: psycopg.Connection[Any]
) -> None:
    tries = 0

    def work(conn: Any) -> None:
        nonlocal tries
        tries += 1
        add_scope("a", tenant)(conn)
        if tries == 1:
            pid = conn.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
            behind.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
        conn.exec_driver_sql("SELECT 1")

    database.run(tenant, work)
    assert (tries, count(database, tenant)) == (2, 1)


def test_every_dead_connection_of_the_pool_is_replaced_without_a_call_failing(
    database: Database, tenant: str, behind: psycopg.Connection[Any]
) -> None:
    def use_four() -> None:
        barrier = threading.Barrier(4, timeout=10)
        with suppress(threading.BrokenBarrierError):
            together([lambda: database.run(tenant, lambda _: barrier.wait(), read_only=True)] * 4)

    use_four()
    killed = behind.execute(
        "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE usename = 'engram_app'"
    ).fetchone()
    assert killed is not None
    assert killed[0] >= 4
    assert together([lambda: count(database, tenant)] * 20) == [0] * 20


def together(works: Sequence[Callable[[], Any]]) -> list[Any]:
    answers: list[Any] = [None] * len(works)

    def run(place: int) -> None:
        try:
            answers[place] = works[place]()
        except BaseException as error:
            answers[place] = error

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


# A COMMIT whose answer is lost ---------------------------------------------------------------------------------------


def is_commit(data: bytes) -> bool:
    return b"COMMIT\0" in data


@pytest.fixture
def losing(server: EmbeddedServer, database_url: str) -> Iterator[LosingProxy]:
    proxy = LosingProxy(Path(server.socket_dir))
    assert proxy.url(database_url) != database_url
    with between(proxy):
        yield proxy


@pytest.mark.parametrize("fate", ["lose the request", "lose the answer", "tell of a loss"])
def test_a_lost_commit_without_a_key_is_an_unknown_outcome(
    losing: LosingProxy, database_url: str, database: Database, tenant: str, fate: Any
) -> None:
    with of_its_own(losing.url(database_url)) as far:
        losing.fate = lambda data: fate if is_commit(data) else "pass"
        with pytest.raises(UnknownOutcome):
            far.run(tenant, add_scope("a", tenant))
        losing.fate = lambda _: "pass"
        assert losing.lost == 1, "it was not tried again"
        assert count(database, tenant) == (0 if fate == "lose the request" else 1)


def test_a_lost_commit_of_a_read_is_no_loss(losing: LosingProxy, database_url: str, tenant: str) -> None:
    with of_its_own(losing.url(database_url)) as far:
        losing.fate = lambda data: "lose the answer" if is_commit(data) and losing.lost < 2 else "pass"
        assert far.run(tenant, lambda conn: conn.exec_driver_sql("SELECT 1").scalar_one(), read_only=True) == 1
        assert losing.lost == 2


def test_a_commit_that_stays_lost_is_never_called_a_failure(
    losing: LosingProxy, database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server is gone for good right after the COMMIT: what it did with it nobody knows.
    monkeypatch.setattr(databases, "MAX_RETRY_SECONDS", 0.3)
    with of_its_own(losing.url(database_url)) as far:
        losing.fate = lambda data: "lose the answer" if is_commit(data) or losing.lost else "pass"
        with pytest.raises(UnknownOutcome) as caught:
            far.run(tenant, add_scope("a", tenant), key="the key")
    assert caught.value.key == "the key"
    assert losing.lost > 1


@pytest.mark.parametrize("fate", ["lose the request", "lose the answer", "tell of a loss"])
def test_dozens_of_lost_commits_duplicate_nothing_and_lose_nothing(
    losing: LosingProxy, database_url: str, tenant: str, fate: Any
) -> None:
    with Engram(losing.url(database_url), scope=Scope(tenant), embedder="none") as door:
        every: list[int] = []

        def lose_each_second(data: bytes) -> Any:
            if not is_commit(data):
                return "pass"
            every.append(1)
            return fate if len(every) % 2 else "pass"

        losing.fate = lose_each_second
        decisions = [door.add(f"Shelf {n} holds {n * 7} jars") for n in range(12)]
        receipts = [door.record_event(f"Shelf {n} was counted") for n in range(12)]
        made = [decision.memory.memory_id for decision in decisions if decision.memory]
        revised = [door.revise(made[n], f"Shelf {n} holds {n * 9} jars") for n in (1, 2)]
        related = [door.relate(made[n], made[n + 1], "beside") for n in (3, 4)]
        gone = [door.forget(made[n]) for n in (10, 11)]
        losing.fate = lambda _: "pass"
        assert losing.lost >= 30
        # A second try finds what the first one did under the key that was made for the call.
        assert [decision.kind for decision in revised] == ["revise"] * 2
        assert [len(door.get_lineage(made[n]).revisions) for n in (1, 2)] == [2, 2]
        assert [relation.relation_type for relation in related] == ["beside"] * 2
        assert gone == [(made[10],), (made[11],)]
        assert [decision.kind for decision in decisions] == ["add"] * 12
        listed = [memory.memory_id for memory in door.list_memories() if memory.category != "verbatim"]
        newer = [one.memory.memory_id for one in revised if one.memory]
        assert sorted(listed) == sorted([made[0], *made[3:10], *newer])
        events = door.list_events(limit=200)
        assert len(events) == 30
        assert {receipt.event_ids[0] for receipt in receipts} <= {event.event_id for event in events}
        entries = Counter(one.entry for one in door.get_history(limit=200))
        added = len(door.list_memories(limit=200)) - len(newer) + 4  # of which two were revised, and two forgotten
        assert entries == {"added": added, "revised": 2, "superseded": 2, "forgotten": 2}
        assert door.ops.verify_ledger().ok
        # A job may still be with the background thread, or, where its claim was lost, under a lease that must run out.
        deadline = time.monotonic() + 150
        while not set(door.stats().jobs) <= {"done"} and time.monotonic() < deadline:
            time.sleep(0.1)
        assert set(door.stats().jobs) <= {"done"}


def test_a_lost_commit_of_what_gave_no_memory_is_told_as_it_was_decided(
    losing: LosingProxy, database_url: str, tenant: str
) -> None:
    with Engram(losing.url(database_url), scope=Scope(tenant), embedder="none") as door:
        old = door.add("The office is on Main Street").memory
        assert old is not None
        losing.fate = lambda data: "lose the answer" if is_commit(data) and not losing.lost else "pass"
        decision = door.add("The office is on Elm Street", supersedes=[old.memory_id], trust="web")
        losing.fate = lambda _: "pass"
        assert losing.lost == 1
        assert decision.kind == "conflict"
        said = [one.content for one in door.list_events()]
        assert said == ["The office is on Main Street", "The office is on Elm Street"]


def test_a_lost_commit_of_a_job_is_a_lost_lease(
    losing: LosingProxy, database_url: str, database: Database, tenant: str
) -> None:
    scope_id = database.run(tenant, lambda conn: tenancy.ensure(conn, Scope(tenant)))
    database.run(tenant, lambda conn: jobs.add(conn, kind="link", dedup_key="x", scope_id=scope_id))
    [job] = database.run(tenant, lambda conn: jobs.claim(conn, ["link"], 1, tenant_id=tenant))

    def effect(conn: Connection) -> None:
        jobs.hold(conn, job)
        jobs.finish(conn, job)

    with of_its_own(losing.url(database_url)) as far:
        losing.fate = lambda data: "lose the answer" if is_commit(data) and not losing.lost else "pass"
        with pytest.raises(LeaseLost):
            far.run(tenant, effect, key="effect")
    assert losing.lost == 1
    assert database.run(tenant, lambda conn: jobs.get(conn, job.job_id)).state == "done"


def test_an_unknown_outcome_names_the_key_to_ask_again_with(
    losing: LosingProxy, database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "MAX_RETRY_SECONDS", 0.2)
    with Engram(losing.url(database_url), scope=Scope(tenant), embedder="none") as door:
        calls: list[Callable[..., object]] = [door.add, door.record_event]
        for number, call in enumerate(calls, 1):
            losing.lost = 0
            losing.fate = lambda data: "lose the answer" if is_commit(data) or losing.lost else "pass"
            with pytest.raises(UnknownOutcome) as caught:
                call("Tea is in the cupboard", idempotency_key=f"mine {number}")
            assert caught.value.key == f"mine {number}"
            losing.fate = lambda _: "pass"
            call("Tea is in the cupboard", idempotency_key=f"mine {number}")
            assert len(door.list_events()) == number


@pytest.mark.parametrize("lost", ["after", "before"])
def test_an_unknown_outcome_without_a_key_names_one_that_finds_what_was_done(
    losing: LosingProxy, database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    """Whether the commit was lost after it was done, or before."""
    monkeypatch.setattr(databases, "MAX_RETRY_SECONDS", 0.2)
    two: list[Message] = [{"role": "user", "content": content} for content in ("Sand is dry.", "Clay is wet.")]
    fate: Any = "lose the answer" if lost == "after" else "lose the request"
    with Engram(losing.url(database_url), scope=Scope(tenant), embedder="none") as door:
        calls: list[Callable[..., object]] = [
            lambda **key: door.add("Tea is in the cupboard.", **key),
            lambda **key: door.record_event("Tea is in the pot.", **key),
            lambda **key: door.remember(two, **key),
        ]
        for call, count in zip(calls, (1, 2, 4), strict=True):
            losing.lost = 0
            losing.fate = lambda data: fate if is_commit(data) or losing.lost else "pass"
            with pytest.raises(UnknownOutcome) as caught:
                call()
            losing.fate = lambda _: "pass"
            for _ in range(2):
                call(idempotency_key=caught.value.key)
                assert len(door.list_events()) == count
        with pytest.raises(IdempotencyMismatch):
            door.remember(two[:1], idempotency_key=caught.value.key)


async def test_the_asynchronous_door_resolves_a_lost_commit_too(
    losing: LosingProxy, database_url: str, tenant: str
) -> None:
    async with AsyncEngram(losing.url(database_url), scope=Scope(tenant), embedder="none") as door:
        losing.fate = lambda data: "lose the answer" if is_commit(data) and losing.lost < 3 else "pass"
        await door.add("Tea is in the cupboard")
        assert losing.lost == 3
        assert len(await door.list_events()) == 1


# What is left behind -------------------------------------------------------------------------------------------------

LEFT = """
SELECT current_setting('engram.tenant_id', true) AS tenant, current_user AS role,
       current_setting('lock_timeout') AS wait,
       current_setting('enable_seqscan') AS seqscan, current_setting('transaction_read_only') AS read_only,
       current_setting('search_path') AS path
"""


def left_behind(database: Database) -> list[tuple[Any, ...]]:
    """What the next borrowers of every pooled connection find, outside the library's own entry."""
    found = []
    with_all = [database.engine.connect() for _ in range(database.engine.pool.checkedin())]  # type: ignore[attr-defined]
    for conn in with_all:
        found.append(tuple(conn.exec_driver_sql(LEFT).one()))
        conn.close()
    return found


def idle_in_transaction(behind: psycopg.Connection[Any], name: str = "engram_app") -> int:
    row = behind.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE usename = %s AND state LIKE 'idle in transaction%%'", (name,)
    ).fetchone()
    assert row is not None
    return int(row[0])


def test_nothing_of_a_transaction_is_left_for_the_next_borrower(
    database_url: str, tenant: str, behind: psycopg.Connection[Any]
) -> None:
    with of_its_own(database_url, pool_size=2) as database:
        database.run(tenant, add_scope("a", tenant))
        with pytest.raises(Unavailable):
            database.run(tenant, lambda conn: conn.exec_driver_sql("SELECT nothing_of_that_name(1, 2, 3) +"))
        database.run(tenant, lambda conn: conn.exec_driver_sql("SELECT 1"), read_only=True)
        found = left_behind(database)
        assert found
        assert set(found) == {("", "engram_app", "0", "on", "off", '"$user", public')}
        assert idle_in_transaction(behind) == 0


class Stop(BaseException):
    """What nobody catches by the name of Exception."""


def test_an_interrupt_between_begin_and_commit_closes_the_connection_and_undoes_the_work(
    database_url: str, tenant: str, behind: psycopg.Connection[Any]
) -> None:
    with of_its_own(database_url, pool_size=1) as database:
        for kind in (KeyboardInterrupt, SystemExit, Stop, GeneratorExit):
            pids: list[int] = []

            def work(conn: Any, kind: Any = kind, pids: list[int] = pids) -> None:
                pids.append(conn.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())
                add_scope("a", tenant)(conn)
                raise kind

            with pytest.raises(kind):
                database.run(tenant, work)
            now = database.run(tenant, lambda conn: conn.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())
            assert now != pids[0], "an interrupted connection is never used again"
        assert count(database, tenant) == 0
        assert [row[:2] for row in left_behind(database)] == [("", "engram_app")]
        wait_for(lambda: idle_in_transaction(behind) == 0)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # what the pool has lost nobody closes
def test_an_interrupt_while_a_connection_is_taken_or_given_back_costs_the_pool_no_place(
    database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with of_its_own(database_url, pool_size=1) as database:
        database.run(tenant, add_scope("a", tenant))
        for name in ("get", "put"):
            queue: Any = database.engine.pool._pool  # type: ignore[attr-defined]
            whole = getattr(queue, name)

            def interrupted(*given: Any, name: str = name, whole: Any = whole) -> None:
                if name == "get":
                    whole(*given)
                raise KeyboardInterrupt

            with monkeypatch.context() as patch:
                patch.setattr(queue, name, interrupted)
                with pytest.raises(KeyboardInterrupt):
                    database.run(tenant, lambda conn: None)
            database.run(tenant, lambda conn: conn.exec_driver_sql("SELECT 1"))
            assert database.engine.pool.checkedout() == 0  # type: ignore[attr-defined]


def test_an_interrupt_that_the_driver_hid_behind_its_own_error_is_raised(database: Database, tenant: str) -> None:
    def hidden(_: Any) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise psycopg.ProgrammingError("in transaction status ACTIVE")

    with pytest.raises(KeyboardInterrupt):
        database.run(tenant, hidden)
    # One that the caller is handling already is the caller's.
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        with pytest.raises(Unavailable):
            database.run(tenant, lambda conn: conn.exec_driver_sql("SELECT +"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # some hit a finalizer
def test_exceptions_thrown_into_a_thread_leave_the_pool_usable(
    database_url: str, tenant: str, behind: psycopg.Connection[Any]
) -> None:
    dice = random.Random(11)
    with of_its_own(database_url, pool_size=2) as database:
        acknowledged: list[int] = []

        def write(end: threading.Event) -> None:
            with suppress(Stop):
                while not end.is_set():
                    database.run(tenant, add_scope("a", tenant))
                    acknowledged.append(1)

        for _ in range(80):
            end = threading.Event()
            thread = threading.Thread(target=write, args=(end,))
            thread.start()
            time.sleep(dice.uniform(0.002, 0.03))
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Stop))
            end.set()
            thread.join()
        assert database.engine.pool.checkedout() == 0  # type: ignore[attr-defined]
        there = count(database, tenant)
        assert len(acknowledged) <= there <= len(acknowledged) + 80
        assert set(left_behind(database)) == {("", "engram_app", "0", "on", "off", '"$user", public')}
        wait_for(lambda: idle_in_transaction(behind) == 0)
    gc.collect()  # a connection that was cut while it was made is told of here, and not in the next test


def wait_for(holds: Callable[[], bool], seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it does not come to hold"
        time.sleep(0.02)


async def test_cancelled_tasks_leave_the_pool_usable(
    database_url: str, tenant: str, behind: psycopg.Connection[Any]
) -> None:
    database = Database(database_url, load({}, pool_size=4))
    done: list[int] = []

    async def write(number: int) -> None:
        def work(conn: Any) -> None:
            add_scope("a", tenant)(conn)
            conn.exec_driver_sql("SELECT pg_sleep(0.003)")
            if number % 7 == 0:
                raise Conflict("no")

        await database.run_async(tenant, work)
        done.append(number)

    async def cancelled_soon(number: int) -> None:
        task = asyncio.create_task(write(number))
        await asyncio.sleep(0.002 * (number % 23))
        task.cancel()
        with suppress(asyncio.CancelledError, Conflict):
            await task

    await asyncio.gather(*(cancelled_soon(number) for number in range(100)))
    await asyncio.gather(*(write(number) for number in range(1, 5)))
    assert {1, 2, 3, 4} <= set(done)

    def look(conn: Any) -> tuple[int, str]:
        row = conn.exec_driver_sql(
            "SELECT count(*), current_setting('engram.tenant_id') FROM engram.memory_scopes WHERE tenant_id = %s",
            (tenant,),
        ).one()
        return int(row[0]), str(row[1])

    there, seen = await database.run_async(tenant, look, read_only=True)
    assert seen == tenant
    assert len(done) <= there <= len(done) + 100
    assert database.async_engine.pool.checkedout() == 0  # type: ignore[attr-defined]
    async with database.async_engine.connect() as conn:
        assert tuple((await conn.exec_driver_sql(LEFT)).one())[:2] == ("", "engram_app")
    wait_for(lambda: idle_in_transaction(behind) == 0)
    await database.close_async()


async def test_a_loop_that_ends_while_a_connection_is_given_back_keeps_none(database_url: str, tenant: str) -> None:
    """It cancels every task there is, as `asyncio.run` does, also those that have not begun."""
    database, loop = Database(database_url, load({}, pool_size=1)), asyncio.get_running_loop()
    this = asyncio.current_task()

    def end() -> None:
        for task in asyncio.all_tasks():
            if task is not this:
                task.cancel()

    async def read() -> None:
        async with database.async_transaction(tenant, read_only=True):
            loop.call_soon(end)

    with suppress(asyncio.CancelledError):
        await asyncio.create_task(read())
    assert database.async_engine.pool.checkedout() == 0  # type: ignore[attr-defined]
    await database.close_async()


async def test_a_call_that_is_cancelled_cancels_once_what_it_does_together(
    database_url: str, tenant: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A second time would break off the cancelling of a statement, which the driver tells of."""

    def slow() -> steps.Operation[Any]:
        return (yield from steps.read(tenant, lambda conn: conn.exec_driver_sql("SELECT pg_sleep(10)").fetchall()))

    def several() -> steps.Operation[Any]:
        return (yield from steps.together([slow() for _ in range(4)]))

    async with AsyncEngram(database_url, scope=Scope(tenant), settings=load({}, pool_size=4)) as door:
        task = asyncio.create_task(door._run(several()))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert door._core.database().async_engine.pool.checkedout() == 0  # type: ignore[attr-defined]
    assert caplog.records == []


# Poolers, forks, full and read-only servers --------------------------------------------------------------------------


@pytest.mark.parametrize("lies", [False, True])
def test_everything_works_when_each_transaction_lands_on_another_server_connection(
    server: EmbeddedServer, database_url: str, tenant: str, lies: bool
) -> None:
    proxy = PoolingProxy(Path(server.socket_dir), lies=lies)
    with between(proxy), Engram(proxy.url(database_url), scope=Scope(tenant, user_id="ada")) as door:
        door.remember("I live in Ottawa. I like green tea.")
        door.remember("I moved to Toronto.")
        made = door.add("The spare key is under the blue pot", idempotency_key="k")
        assert door.add("The spare key is under the blue pot", idempotency_key="k").memory == made.memory
        assert made.memory is not None
        door.revise(made.memory.memory_id, "The spare key is under the red pot")
        assert "Toronto" in door.recall("Where do I live?").answer_text
        assert door.search("spare key")[0].memory.fact == "The spare key is under the red pot"
        assert door.build_context("spare key").text
        assert door.ops.verify_ledger().ok
        assert proxy.transactions > 20
        prepared = door._core.database().run(tenant, lambda conn: kept_by_the_session(conn))
    assert prepared == []


def kept_by_the_session(conn: Connection) -> list[str]:
    rows = conn.exec_driver_sql("SELECT statement FROM pg_prepared_statements ORDER BY prepare_time")
    return [str(row[0]) for row in rows]


def test_only_what_calls_functions_is_kept_by_a_session(database_url: str, tenant: str) -> None:
    database = Database(database_url, load({}, pool_size=1))

    def read(conn: Connection) -> None:
        fetch_all(conn, "list_models", tenant_id=tenant, counted=False)  # reads tables: planned for its values

    for _ in range(12):  # the driver would prepare at the fifth
        database.run(tenant, read, read_only=True)
        database.run(tenant, lambda conn: fetch_all(conn, "hold_models"), read_only=True)
    (opening, held) = database.run(tenant, kept_by_the_session)
    assert opening.startswith("SELECT pg_catalog.set_config('engram.tenant_id', $1, true)")
    assert "engram.hold_models()" in held
    assert tenant not in opening
    database.close()


@pytest.mark.parametrize("bounds", ["a filter", "a moment", "events"])
def test_a_search_with_bounds_is_planned_once_a_session_and_for_no_values(
    database_url: str, tenant: str, bounds: str
) -> None:
    settings = load({}, pool_size=1, dispatch="doorbell")
    plans = "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement ~ '^-- E(very|vents by)'"
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), settings=settings) as door:
        search = {
            "a filter": partial(door.search, "lamp", filter=Filter(memory_types=("semantic", "episodic"))),
            "a moment": partial(door.search, "lamp", as_of=datetime(2100, 1, 1, tzinfo=UTC)),
            "events": partial(door.search_events, "lamp"),
        }[bounds]
        door.add("The lamp is in the hall.")
        for _ in range(7):
            assert len(search()) > 0 or bounds == "events"
        with door._core.database().transaction(tenant, read_only=True) as conn:
            assert [tuple(row) for row in conn.exec_driver_sql(plans)] == [(7, 0)]


@pytest.mark.parametrize("name", sorted(KEPT))
def test_what_a_session_keeps_reads_no_table_itself(name: str, database_url: str) -> None:
    # A plan that is made once must not depend on how many rows a value has.
    said = re.sub(r"--.*", "", statement(name))
    places = [found[1] for found in re.finditer(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(?:LATERAL\s+)?(\(|[\w.]+\(?)", said)]
    assert isinstance(statement(name), Kept)
    made = re.findall(r"\b(\w+) AS MATERIALIZED", said)  # by the statement itself
    assert [place for place in places if not place.endswith("(") and place not in ("(", *made)] == []


def test_long_statements_leave_room_for_short_ones(database_url: str, tenant: str) -> None:
    """What is composed for its bounds differs with each of them, and its plan is large."""
    with of_its_own(database_url) as database:
        for place in range(wire.MOST_KEPT + 1):
            said = Kept(f"SELECT %(place)s::integer AS place /*{place:{wire.LONG}}*/")
            [row] = database.run(tenant, lambda conn, said=said, place=place: fetch_named(conn, said, {"place": place}))  # type: ignore[misc]
            assert row.place == place
        database.run(tenant, lambda conn: fetch_all(conn, "hold_models"))
        kept = database.run(tenant, kept_by_the_session)
    assert sum(len(one) >= wire.LONG for one in kept) == wire.MOST_LONG
    assert statement("hold_models") in kept


@pytest.fixture(autouse=True)
def unanalyzed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is said here but what a test says: grown tables are left as they are."""
    monkeypatch.setattr(databases, "ANALYZED_AT", frozenset())


def test_a_statement_that_a_message_says_twice_is_kept_once(database_url: str, tenant: str) -> None:
    database = Database(database_url, load({}, pool_size=1))

    def twice(conn: Connection) -> Any:
        send_ahead(conn, "lock_keys", keys=["a"], shared=[], first=[])
        send_ahead(conn, "lock_keys", keys=["b"], shared=[], first=[])
        return fetch_all(conn, "hold_models")

    for _ in range(3):
        assert database.run(tenant, twice) == []
    kept = database.run(tenant, kept_by_the_session)
    assert len(kept) == len(set(kept)) == 3
    database.close()


def test_a_statement_that_is_said_again_behind_a_message_is_kept_once(database_url: str, tenant: str) -> None:
    database = Database(database_url, load({}, pool_size=1))

    def noted(conn: Connection) -> Any:
        sent = databases.send_after(conn, "lock_keys", keys=["b"], shared=[], first=[])
        send_ahead(conn, "lock_keys", keys=["a"], shared=[], first=[])
        fetch_all(ending(conn), "hold_models")
        return sent

    database.run(tenant, lambda conn: fetch_named(conn, WHO, {}))
    sent = [database.run(tenant, noted, read_only=True) for _ in range(3)]
    assert [(one.done, one.error) for one in sent] == [(True, None)] * 3
    kept = database.run(tenant, kept_by_the_session)
    assert len(kept) == len(set(kept)) == 3
    database.close()


def test_a_kept_statement_that_is_gone_is_said_anew(database_url: str, tenant: str) -> None:
    database = Database(database_url, load({}, pool_size=1))

    def read(conn: Connection) -> list[Any]:
        return fetch_all(conn, "hold_models")

    for _ in range(2):
        assert database.run(tenant, read) == []
    assert len(database.run(tenant, kept_by_the_session)) == 2
    database.run(tenant, lambda conn: conn.exec_driver_sql("DEALLOCATE ALL"))
    for _ in range(2):
        assert database.run(tenant, read) == []
    assert database.run(tenant, kept_by_the_session) == []
    database.close()


def test_a_kept_statement_whose_function_has_other_columns_is_said_anew(
    server: EmbeddedServer, database: Database, tenant: str
) -> None:
    named = Kept("SELECT t.* FROM public.told() t")

    def read(conn: Connection) -> list[Any]:
        return fetch_named(conn, named, {})

    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
        try:
            for columns, answer in (("a int", "1"), ("a int, b int", "1, 2")):
                conn.execute(
                    f"DROP FUNCTION IF EXISTS public.told; CREATE FUNCTION public.told() RETURNS TABLE ({columns})"
                    f" LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT {answer}; END $$"
                )
                assert [tuple(row) for row in database.run(tenant, read)] == [tuple(map(int, answer.split(", ")))]
        finally:
            conn.execute("DROP FUNCTION IF EXISTS public.told")


def test_a_forked_child_opens_its_own_connections_and_leaves_its_parents_alone(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant), embedder="none") as door:
        door.add("Tea is in the cupboard")
        pid_of = "SELECT pg_backend_pid()"
        mine = door._core.database().run(tenant, lambda conn: conn.exec_driver_sql(pid_of).scalar_one())
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:  # pragma: no cover - the child of a fork
            status = 1
            with suppress(BaseException):
                theirs = door._core.database().run(tenant, lambda conn: conn.exec_driver_sql(pid_of).scalar_one())
                facts = [memory.fact for memory in door.list_memories()]
                door.add("Coffee is on the shelf")
                door.close()
                os.write(writer, f"{theirs}|{facts}".encode())
                status = 0
            os._exit(status)
        os.close(writer)
        _, status = os.waitpid(child, 0)
        said = os.read(reader, 4096).decode()
        os.close(reader)
        assert status == 0
        theirs, listed = said.split("|")
        assert listed == "['Tea is in the cupboard']"
        again = door._core.database().run(tenant, lambda conn: conn.exec_driver_sql(pid_of).scalar_one())
        assert again == mine != int(theirs)
        assert len(door.list_memories()) == 2


def process(conn: Connection) -> int:
    return int(conn.exec_driver_sql("SELECT pg_backend_pid() FROM pg_sleep(.01)").scalar_one())


async def crowd(database: Database, tenant: str) -> list[int]:
    """More callers than the pool has connections: the processes of the server that answered them."""
    return await asyncio.gather(*(database.run_async(tenant, process) for _ in range(12)))


def test_one_event_loop_after_the_other_uses_a_door_at_full_stretch(
    database_url: str, tenant: str, behind: psycopg.Connection[Any]
) -> None:
    """Who waits for a connection is bound to the event loop: a second one was a RuntimeError to its callers."""
    database = Database(database_url, load({}, pool_size=2))
    crowds = [set(asyncio.run(crowd(database, tenant))) for _ in range(3)]
    assert [len(pids) for pids in crowds] == [2, 2, 2]
    asyncio.run(database.close_async())
    used = list(set().union(*crowds))
    wait_for(lambda: not behind.execute("SELECT FROM pg_stat_activity WHERE pid = ANY(%s)", [used]).fetchall())


def test_an_event_loop_takes_over_the_connections_of_one_that_has_ended(database_url: str, tenant: str) -> None:
    database = Database(database_url, load({}))
    assert len({asyncio.run(database.run_async(tenant, process)) for _ in range(3)}) == 1
    asyncio.run(database.close_async())


def test_event_loops_of_several_threads_use_one_door_at_once(database_url: str, tenant: str) -> None:
    database = Database(database_url, load({}, pool_size=2))
    told: list[int | BaseException] = []

    def loop() -> None:
        try:
            for _ in range(3):
                told.extend(asyncio.run(crowd(database, tenant)))
        except BaseException as error:
            told.append(error)

    threads = [threading.Thread(target=loop, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [one for one in told if not isinstance(one, int)] == []
    assert len(told) == 3 * 3 * 12
    asyncio.run(database.close_async())


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_call_that_outlives_its_door_keeps_no_connection(
    database_url: str, tenant: str, behind: psycopg.Connection[Any], is_async: bool
) -> None:
    """It had the database before, and takes a connection when all others are closed."""
    database = Database(database_url, load({}))

    def session(conn: Connection) -> int:
        return int(conn.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())

    async def call() -> int:
        return await database.run_async(tenant, session) if is_async else database.run(tenant, session)

    pids = [await call()]
    await database.close_async()
    pids.append(await call())
    stays = True
    for _ in range(100):
        rows = behind.execute("SELECT FROM pg_stat_activity WHERE pid = ANY(%s)", [pids]).fetchall()
        stays = bool(rows)
        if not stays:
            break
        await asyncio.sleep(0.05)
    assert not stays


def test_a_server_without_a_free_connection_is_unavailable_for_a_while(
    server: EmbeddedServer, tenant: str, database_url: str, behind: psycopg.Connection[Any]
) -> None:
    assert database_url
    behind.execute("CREATE ROLE crowded LOGIN CONNECTION LIMIT 0 IN ROLE engram_app")
    try:
        with of_its_own(server.url(user="crowded")) as database, pytest.raises(Unavailable) as caught:
            database.run(tenant, lambda conn: conn.exec_driver_sql("SELECT 1"))
        assert (caught.value.sqlstate, str(caught.value)) == ("53300", "PostgreSQL was too busy")
        assert caught.value.retry_after > 0
        behind.execute("ALTER ROLE crowded CONNECTION LIMIT -1")
        with of_its_own(server.url(user="crowded")) as database:
            assert count(database, tenant) == 0
    finally:
        behind.execute("DROP ROLE crowded")


def test_a_pool_that_is_used_up_is_unavailable_and_nothing_is_tried_twice(database_url: str, tenant: str) -> None:
    with of_its_own(database_url, pool_size=1) as database:
        database.engine.pool._timeout = 0.2  # type: ignore[attr-defined]
        tries: list[int] = []
        with database.transaction(tenant), pytest.raises(Unavailable, match="every connection") as caught:
            database.run(tenant, lambda _: tries.append(1))
        assert (tries, caught.value.retry_after) == ([], 1.0)
        database.run(tenant, lambda _: tries.append(1))
        assert tries == [1]


def test_a_connection_in_use_when_its_pool_is_disposed_of_is_closed_when_it_comes_back(
    database_url: str, tenant: str
) -> None:
    with of_its_own(database_url) as database:
        engine = database.engine
        for away in (engine.dispose, database.close):
            with engine.connect() as conn:
                driver: Any = conn.connection.driver_connection
                away()
                assert not driver.closed
            assert driver.closed
            assert engine.pool.checkedin() == 0  # type: ignore[attr-defined]


async def test_the_asynchronous_door_closes_it_too(database_url: str, tenant: str) -> None:
    database = Database(database_url, load({}))
    async with database.async_transaction(tenant) as conn:
        driver: Any = (await conn.get_raw_connection()).driver_connection
        await conn.run_sync(lambda conn: fetch_named(conn, WHO, {}))
        await database.async_engine.dispose()
        assert not driver.closed
    assert driver.closed
    await database.close_async()


def test_a_read_only_server_is_unavailable_and_says_so(
    server: EmbeddedServer, tenant: str, database_url: str, behind: psycopg.Connection[Any], monkeypatch: Any
) -> None:
    assert database_url
    monkeypatch.setattr(databases, "MAX_RETRY_SECONDS", 0.3)
    behind.execute("CREATE ROLE frozen LOGIN IN ROLE engram_app")
    try:
        with of_its_own(server.url(user="frozen")) as database:
            assert count(database, tenant) == 0
            # A pooled connection learns of it when it writes, a new one when it is made.
            with database.engine.connect() as conn:
                conn.exec_driver_sql("SET default_transaction_read_only = on")
                conn.commit()
            behind.execute("ALTER ROLE frozen SET default_transaction_read_only = on")
            with pytest.raises(Unavailable, match="PostgreSQL is read-only") as caught:
                database.run(tenant, add_scope("a", tenant))
            assert caught.value.sqlstate == "25006"
            behind.execute("ALTER ROLE frozen RESET default_transaction_read_only")
            database.run(tenant, add_scope("a", tenant))
            assert count(database, tenant) == 1
    finally:
        behind.execute("DROP ROLE frozen")


def test_an_address_names_several_hosts_with_their_ports_as_psql_has_them(database_url: str, tenant: str) -> None:
    folder = sa.make_url(database_url).query["host"]
    for hosts, asked in (
        ("one:5432,two:5433", {"host": "one,two", "port": "5432,5433"}),
        ("one:5432,two", {"host": "one,two", "port": "5432,"}),
        ("[::1]:1,[::2]:2", {"host": "::1,::2", "port": "1,2"}),
    ):
        found = address(f"postgresql://ada:s/e,c:1@{hosts}/memories?sslmode=require")
        assert (found.username, found.password, found.database) == ("ada", "s/e,c:1", "memories")
        assert found.query == {"sslmode": "require", **asked}
    with of_its_own(f"postgresql://engram_app@/engram?host=/nowhere:5432&host={folder}:5432") as database:
        assert count(database, tenant) == 0


@pytest.mark.parametrize("url", [
    "secret", "postgresql://secret:x/memories", "postgresql://one:secret,two:1/memories",
    "postgresql://one:1,two:2/memories?host=secret", "postgresql://one:1,,secret:2/memories",
    "postgresql://ada:hunt@secret@one/memories", "postgresql://ada@one/secret?schema=public",
    "postgresql://ada@one/memories?pgbouncer=secret",
])  # fmt: skip
def test_an_address_that_no_client_of_postgresql_takes_is_refused_when_a_door_is_made(url: str) -> None:
    """What follows the ? for another library's sake was told as "the database driver failed" by the first call."""
    with pytest.raises(SettingsError, match="database_url: ") as caught:
        Engram(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("asked", "name"), [
    ("sslmode=secret", "sslmode"), ("sslmode=require&sslrootcert=system", "sslmode"),
    ("keepalives=secret", "keepalives"), ("target_session_attrs=secret&sslmode=prefer", "target_session_attrs"),
    ("service=secret", "service"), ("port=secret", "port"), ("port=70000", "port"),
    ("sslmode=prefer&sslmode=require", "sslmode"),
    ("keepalives_idle=secret", "keepalives_idle"), ("keepalives_interval=3s", "keepalives_interval"),
    ("keepalives_count=%20", "keepalives_count"), ("tcp_user_timeout=1.5", "tcp_user_timeout"),
    ("connect_timeout=secret", "connect_timeout"), ("connect_timeout=1&connect_timeout=2", "connect_timeout"),
    ("hostaddr=secret", "hostaddr"), ("hostaddr=127.0.0.1,::1", "hostaddr"), ("port=1,2", "port"),
])  # fmt: skip
def test_a_value_that_no_client_of_postgresql_takes_is_refused_before_a_connection(asked: str, name: str) -> None:
    """It was told as a server that does not answer, by the first call and after a quarter of a minute."""
    with pytest.raises(SettingsError, match=rf"database_url: .* {name}\Z") as caught:
        Engram(f"postgresql://ada@127.0.0.1:1/memories?{asked}")
    assert "secret" not in str(caught.value)
    taken = "sslmode=verify-full&application_name=caf%C3%A9&options=-cjit%3Doff"
    Engram(f"postgresql://ada@127.0.0.1:1/memories?{taken}").close()
    Engram("postgresql://ada@one,two:2/memories?hostaddr=127.0.0.1,::1&connect_timeout=-1&keepalives_idle=0").close()


def test_a_value_of_the_environment_that_no_client_takes_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGSSLMODE", "secret")
    with pytest.raises(SettingsError, match="the environment"):
        Engram("postgresql://ada@127.0.0.1:1/memories?application_name=one")


async def test_what_an_address_says_of_its_connections_goes_before_what_is_usual(
    database_url: str, tenant: str
) -> None:
    def name(conn: Any) -> Any:
        return conn.exec_driver_sql("SHOW application_name").scalar()

    with of_its_own(database_url) as database:
        assert database.run(tenant, name) == "engram"
    chosen = f"{database_url}{'&' if '?' in database_url else '?'}application_name=agents&keepalives_idle=77"
    with of_its_own(chosen) as database:
        assert database.run(tenant, name) == "agents"
        (idle,) = {one.info.get_parameters()["keepalives_idle"] for one in drivers(database)}
        assert idle == "77"
    database = Database(chosen, load({}))
    assert await database.run_async(tenant, name) == "agents"
    await database.close_async()


def drivers(database: Database) -> list[Any]:
    with database.engine.connect() as conn:
        return [conn.connection.driver_connection]


@pytest.fixture
def closed(server: EmbeddedServer) -> Iterator[str]:
    """A database that only its owner may connect to."""
    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
        conn.execute("CREATE DATABASE closed")
        conn.execute("REVOKE CONNECT ON DATABASE closed FROM PUBLIC")
        yield "closed"
        conn.execute("DROP DATABASE closed WITH (FORCE)")


def test_a_login_that_does_not_exist_or_may_not_connect_is_refused_and_says_so(
    server: EmbeddedServer, closed: str, migrated: str, tenant: str
) -> None:
    urls = (
        server.url(user="nobody-of-that-name"), server.url(database="nothing"), server.url(user="engram_owner"),
        server.url(database=closed), server.url(database=migrated),
    )  # fmt: skip
    for url in urls:
        with of_its_own(url) as database, pytest.raises(Unavailable, match="refused the login"):
            database.run(tenant, lambda conn: conn.exec_driver_sql("SELECT 1"))


# Models --------------------------------------------------------------------------------------------------------------


class Watchful:
    """An embedder that looks, each time it thinks, whether a transaction of its door is open."""

    name, dimensions, max_tokens = "watchful", 8, None

    def __init__(self, behind: psycopg.Connection[Any], mark: str) -> None:
        self.behind, self.mark, self.door = behind, mark, None
        self.thoughts, self.open = 0, 0

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        self.thoughts += 1
        row = self.behind.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s AND xact_start IS NOT NULL", (self.mark,)
        ).fetchone()
        assert row is not None
        self.open += row[0]
        assert kind in ("passage", "query")
        return [[1.0 + text.count(letter) for letter in "aeioustr"] for text in texts]


def marked(url: str, mark: str) -> Database:
    """A database whose sessions carry a name of their own."""
    database = Database(url, load({}))
    options = database._options()
    options["connect_args"]["application_name"] = mark
    database._options = lambda: options  # type: ignore[method-assign]
    return database


def test_no_model_is_called_while_a_transaction_is_open(
    database_url: str, tenant: str, behind: psycopg.Connection[Any]
) -> None:
    embedder = Watchful(behind, tenant)
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder=embedder) as door:
        door._core._database, door._core._bell = marked(database_url, tenant), Mute()
        door.remember([{"role": "user", "content": "I live in Ottawa."}, {"role": "user", "content": "I like tea."}])
        made = door.add("The spare key is under the blue pot")
        assert made.memory is not None
        door.add_many([{"fact": "Tea is in the cupboard"}, {"fact": "Coffee is on the shelf"}])
        door.revise(made.memory.memory_id, "The spare key is under the red pot")
        door.search("spare key")
        door.recall("Where do I live?")
        door.build_context("where is the key")
        waiting = door.scoped(user_id="bob")
        waiting._core.settings.__dict__["dispatch"] = "doorbell"
        waiting.remember("I moved to Toronto.")
        waiting.search("Toronto")  # what is not derived yet is embedded with the question
        waiting.ops.run_jobs()
        row = behind.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", (tenant,)).fetchone()
        assert row is not None
        assert row[0] > 0, "the mark marks nothing"
    assert embedder.thoughts >= 8
    assert embedder.open == 0


async def test_no_model_is_called_while_a_transaction_of_the_asynchronous_door_is_open(
    database_url: str, tenant: str, behind: psycopg.Connection[Any]
) -> None:
    embedder = Watchful(behind, tenant)
    async with AsyncEngram(database_url, scope=Scope(tenant, user_id="ada"), embedder=embedder) as door:
        door._core._database, door._core._bell = marked(database_url, tenant), Mute()
        await door.remember("I live in Ottawa.")
        await door.add("The spare key is under the blue pot")
        await door.recall("Where do I live?")
    assert embedder.thoughts >= 3
    assert embedder.open == 0


# A server that died --------------------------------------------------------------------------------------------------


def test_an_embedded_server_that_was_killed_is_started_again_by_the_next_call(tenant: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="engram-lost-"))
    folder.chmod(0o755)
    settings = load({}, data_dir=folder / "data", embedding_model="none")
    try:
        with Engram(settings=settings, scope=Scope(tenant)) as door:
            door.add("Tea is in the cupboard")
            for call in (door.list_memories, lambda: door.add("Coffee is on the shelf")):
                os.kill(door._core._server.pid, 9)
                call()
            assert sorted(memory.fact for memory in door.list_memories()) == [
                "Coffee is on the shelf", "Tea is in the cupboard",
            ]  # fmt: skip
            assert door.ops.verify_ledger().ok
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# What a transaction sends --------------------------------------------------------------------------------------------


def test_a_transaction_costs_two_messages_beside_its_statements(
    losing: LosingProxy, database_url: str, tenant: str
) -> None:
    sent: list[bytes] = []

    def note(data: bytes) -> Any:
        sent.append(data)
        return "pass"

    with of_its_own(losing.url(database_url)) as far:
        count(far, tenant)
        losing.fate = note
        count(far, tenant)
        assert [b"BEGIN" in sent[0], b"memory_scopes" in sent[1], is_commit(sent[2])] == [True] * 3
        assert len(sent) == 3
        del sent[:]
        far.run(tenant, lambda conn: conn.exec_driver_sql("SELECT 1"), read_only=True, snapshot=True)
        assert b"REPEATABLE READ" in sent[0]


def test_a_pooled_connection_is_tried_before_its_use_once_it_has_rested(
    losing: LosingProxy, database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[bytes] = []

    def note(data: bytes) -> Any:
        sent.append(data)
        return "pass"

    with of_its_own(losing.url(database_url)) as far:
        count(far, tenant)
        monkeypatch.setattr(databases, "IDLE_SECONDS", 0.0)
        losing.fate = note
        count(far, tenant)
    assert b"BEGIN" not in sent[0]
    assert b"BEGIN" in sent[1]


def test_who_watches_statements_sees_each_begin_and_end(database_url: str, settings: Settings, tenant: str) -> None:
    """As those that trace do: they keep what they began on the context of a statement."""
    begun: list[str] = []
    ended: list[str] = []

    def before(_: Any, __: Any, text: str, ___: Any, context: Any, ____: bool) -> None:
        context.begun = text
        begun.append(text)

    def after(_: Any, __: Any, ___: str, ____: Any, context: Any, _____: bool) -> None:
        ended.append(context.begun)

    watched = Database(database_url, settings)
    try:
        sa.event.listen(watched.engine, "before_cursor_execute", before)
        sa.event.listen(watched.engine, "after_cursor_execute", after)
        with watched.transaction(tenant) as conn:
            fetch_value(conn, "find_active_model", tenant_id=tenant)
            conn.exec_driver_sql("SELECT 1")
    finally:
        watched.close()
    assert begun == ended
    assert [text for text in begun if "embedding_models" in text]
    assert [text for text in begun if text.endswith("SELECT 1")]


def test_an_answer_as_the_server_keeps_it_may_be_the_first_of_a_transaction(database: Database, tenant: str) -> None:
    with database.transaction(tenant) as conn:
        rows = fetch_named(conn, "SELECT %(said)s::bytea", {"said": b"\x00\xff"}, binary=True)
    assert [tuple(row) for row in rows] == [(b"\x00\xff",)]
    assert rows[0]._mapping == {"bytea": b"\x00\xff"}


# The last statement of a transaction ----------------------------------------------------------------------------------

WHO = "SELECT current_user::text AS role, current_setting('engram.tenant_id', true) AS tenant, now() AS at"
ADDED = (
    "INSERT INTO engram.memory_scopes (tenant_id, namespace, agent_id)"
    " VALUES (%(tenant)s, 'a', gen_random_uuid()::text) RETURNING scope_id"
)


def add_at_last(tenant: str) -> Callable[[Any], Any]:
    """`add_scope`, with COMMIT in the same message."""
    return lambda conn: fetch_named(ending(conn), ADDED, {"tenant": tenant})


def test_a_transaction_of_one_statement_is_one_message(losing: LosingProxy, database_url: str, tenant: str) -> None:
    messages: list[bytes] = []

    def note(data: bytes) -> Any:
        messages.append(data)
        return "pass"

    with of_its_own(losing.url(database_url)) as far:
        count(far, tenant)
        losing.fate = note
        far.run(tenant, add_at_last(tenant))
        assert len(messages) == 1
        assert [part in messages[0] for part in (b"BEGIN", b"INSERT", b"COMMIT\0")] == [True] * 3
        losing.fate = lambda _: "pass"
        assert count(far, tenant) == 1


def config_of(database: Database, tenant: str) -> Any:
    return database.run(tenant, lambda conn: fetch_value(conn, "get_text_config", tenant_id=tenant))


def test_what_is_sent_ahead_of_nothing_goes_with_commit_in_one_message(
    losing: LosingProxy, database_url: str, tenant: str
) -> None:
    messages: list[bytes] = []

    def note(data: bytes) -> Any:
        messages.append(data)
        return "pass"

    def work(conn: Any) -> None:
        send_ahead(conn, "add_text_config", tenant_id=tenant, config="simple")

    with of_its_own(losing.url(database_url)) as far:
        count(far, tenant)
        losing.fate = note
        far.run(tenant, work)
        assert len(messages) == 1
        assert [part in messages[0] for part in (b"BEGIN", b"INSERT", b"COMMIT\0")] == [True] * 3
        losing.fate = lambda _: "pass"
        assert config_of(far, tenant) == "simple"


async def test_the_asynchronous_door_sends_it_too(database_url: str, tenant: str) -> None:
    far = Database(database_url, load({}))
    try:
        await far.run_async(tenant, lambda conn: send_ahead(conn, "add_text_config", tenant_id=tenant, config="simple"))
        assert config_of(far, tenant) == "simple"
    finally:
        await far.close_async()


def test_rows_that_go_ahead_are_there_once_the_next_statement_is_answered(
    losing: LosingProxy, database_url: str, tenant: str
) -> None:
    messages: list[bytes] = []

    def note(data: bytes) -> Any:
        messages.append(data)
        return "pass"

    def work(conn: Connection) -> list[Any]:
        scopes = [fetch_ahead(conn, "get_text_config", tenant_id=tenant) for _ in range(2)]
        send_ahead(conn, "set_search", breadth="40", milliseconds=100)
        models = fetch_named(conn, "SELECT 7::integer AS seven", {}, binary=True)
        return [*models, *(one()[0] for one in scopes)]

    with of_its_own(losing.url(database_url)) as far:
        far.run(tenant, lambda conn: send_ahead(conn, "add_text_config", tenant_id=tenant, config="simple"))
        losing.fate = note
        for read_only in (True, False):
            (seven,), first, second = far.run(tenant, work, read_only=read_only)
            assert (seven, first.config, second.config) == (7, "simple", "simple")
        losing.fate = lambda _: "pass"
    begun = [one for one in messages if b"BEGIN" in one]
    assert len(begun) == 2
    assert all(b"seven" in one and b"text_search_configs" in one for one in begun)


def test_rows_that_have_gone_ahead_of_nothing_are_not_there(database: Database, tenant: str) -> None:
    with (
        pytest.raises(RuntimeError, match="ahead of none"),
        database.transaction(tenant) as conn,
    ):
        fetch_ahead(conn, "get_text_config", tenant_id=tenant)()


def test_what_fails_ahead_fails_the_statement_it_goes_with(database: Database, tenant: str) -> None:
    def work(conn: Connection) -> Any:
        rows = fetch_ahead(conn, "score_texts", texts=["boat"], labels=["boat"], terms=["'"], idfs=[1.0],
                           phrases=[False], without="", held="'boat'", total=1.0, config="english")  # fmt: skip
        fetch_all(conn, "hold_models")
        return rows()

    with pytest.raises(Unavailable, match="42601"):
        database.run(tenant, work)
    # In a part of a transaction that is taken back, nothing of it is said again.

    def parted(conn: Connection) -> Any:
        with suppress(sa.exc.DBAPIError), conn.begin_nested():
            work(conn)
        return fetch_all(conn, "hold_models")

    assert database.run(tenant, parted) == []


def test_what_was_sent_ahead_is_undone_with_the_work(database: Database, tenant: str) -> None:
    def work(conn: Any) -> None:
        send_ahead(conn, "add_text_config", tenant_id=tenant, config="simple")
        raise Conflict

    with pytest.raises(Conflict):
        database.run(tenant, work)
    assert config_of(database, tenant) is None


def test_what_fails_that_was_sent_ahead_undoes_what_came_before_it(database: Database, tenant: str) -> None:
    def work(conn: Any) -> None:
        add_scope("a", tenant)(conn)
        send_ahead(conn, "add_text_config", tenant_id=f"{tenant}-other", config="simple")  # the wall

    with pytest.raises(EngramError):
        database.run(tenant, work)
    assert count(database, tenant) == 0


@pytest.mark.parametrize("fate", ["lose the request", "lose the answer", "tell of a loss"])
def test_a_commit_that_is_lost_with_its_statement_is_an_unknown_outcome(
    losing: LosingProxy, database_url: str, database: Database, tenant: str, fate: Any
) -> None:
    with of_its_own(losing.url(database_url)) as far:
        losing.fate = lambda data: fate if is_commit(data) else "pass"
        with pytest.raises(UnknownOutcome):
            far.run(tenant, add_at_last(tenant))
        assert losing.lost == 1, "it was not tried again"
        losing.fate = lambda _: "pass"
        assert count(database, tenant) == (0 if fate == "lose the request" else 1)


def test_a_commit_that_a_pooler_had_no_server_for_is_tried_again(
    losing: LosingProxy, database_url: str, database: Database, tenant: str
) -> None:
    with of_its_own(losing.url(database_url)) as far:
        losing.fate = lambda data: "tell of no server" if is_commit(data) and losing.lost < 2 else "pass"
        far.run(tenant, add_at_last(tenant))
    assert losing.lost == 2
    assert count(database, tenant) == 1


def test_a_session_that_dies_before_the_commit_in_its_message_is_no_loss(database: Database, tenant: str) -> None:
    tries = 0
    suicide = f"WITH a AS ({ADDED}) SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5) FROM a"

    def work(conn: Any) -> None:
        nonlocal tries
        tries += 1
        fetch_named(ending(conn), suicide if tries == 1 else ADDED, {"tenant": tenant})

    database.run(tenant, work)
    assert (tries, count(database, tenant)) == (2, 1)


def test_a_session_that_dies_after_the_commit_in_its_message_is_closed_and_its_outcome_unknown(
    losing: LosingProxy, database_url: str, tenant: str, behind: psycopg.Connection[Any], caplog: Any
) -> None:
    def die() -> None:
        asked = "SELECT count(*) FROM engram.memory_scopes WHERE tenant_id = %s"
        wait_for(lambda: behind.execute(asked, (tenant,)).fetchone() != (0,))
        wait = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'COMMIT' AND state = 'active'"
        wait_for(lambda: behind.execute(wait).fetchone() is not None)

    with of_its_own(losing.url(database_url)) as far:
        losing.fate = lambda data: "hold the end" if is_commit(data) and not losing.lost else "pass"
        losing.meanwhile = die
        with pytest.raises(UnknownOutcome) as caught:
            far.run(tenant, add_at_last(tenant))
        assert "pipeline" not in str(caught.value.__cause__)
        assert count(far, tenant) == 1
    assert caplog.records == []


async def test_the_asynchronous_door_ends_its_transactions_in_the_same_way(
    losing: LosingProxy, database_url: str, database: Database, tenant: str
) -> None:
    far = Database(losing.url(database_url), load({}))
    try:
        await far.run_async(tenant, add_at_last(tenant))
        with pytest.raises(InvalidInput):
            await far.run_async(tenant, lambda conn: fetch_named(ending(conn), f"{ADDED}, 1 / 0", {"tenant": tenant}))
        losing.fate = lambda data: "lose the answer" if is_commit(data) else "pass"
        with pytest.raises(UnknownOutcome):
            await far.run_async(tenant, add_at_last(tenant))
        losing.fate = lambda _: "pass"
    finally:
        await far.close_async()
    assert count(database, tenant) == 2


@pytest.fixture
def late(behind: psycopg.Connection[Any]) -> Iterator[str]:
    """A statement that fails at COMMIT."""
    behind.execute(
        "CREATE TABLE engram.late (id integer PRIMARY KEY, next integer REFERENCES engram.late DEFERRABLE INITIALLY"
        " DEFERRED)"
    )
    behind.execute("GRANT ALL ON engram.late TO engram_app")
    yield "INSERT INTO engram.late VALUES (1, 2) RETURNING id"
    behind.execute("DROP TABLE engram.late")


def test_what_fails_at_the_commit_in_its_message_is_known_to_have_failed(
    database: Database, tenant: str, behind: psycopg.Connection[Any], late: str
) -> None:
    with pytest.raises(Conflict):
        database.run(tenant, lambda conn: fetch_named(ending(conn), late, {}))
    assert database.run(tenant, lambda conn: fetch_value(ending(conn), "read_clock")) is not None
    assert behind.execute("SELECT count(*) FROM engram.late").fetchone() == (0,)


def test_nothing_follows_a_commit_that_failed_in_its_message(database: Database, tenant: str, late: str) -> None:
    """Whoever catches the error has neither role nor tenant any more, where BEGIN went in a message before."""

    def work(conn: Any) -> None:
        fetch_named(conn, WHO, {})
        with pytest.raises(sa.exc.IntegrityError):
            fetch_named(ending(conn), late, {})
        fetch_named(conn, WHO, {})

    with pytest.raises(RuntimeError, match="after the one that ended"):
        database.run(tenant, work)


def test_a_message_and_its_answers_may_be_larger_than_what_the_line_holds(database: Database, tenant: str) -> None:
    said, twice = "x" * 20_000_000, "SELECT %(said)s::text AS one, %(said)s AS two"
    row = database.run(tenant, lambda conn: fetch_named(ending(conn), twice, {"said": said})[0])
    assert row.one == row.two == said


async def test_who_is_cancelled_while_a_message_is_sent_leaves_no_word_of_the_driver(
    database_url: str, tenant: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The server reads no further while it works on the first statement."""
    database = Database(database_url, load({}))

    def work(conn: Connection) -> None:
        conn.info[databases.COURSE].ahead.append(("SELECT pg_sleep(1)", None))
        fetch_named(conn, "SELECT length(%(said)s::text)", {"said": "x" * 20_000_000})

    task = asyncio.create_task(database.run_async(tenant, work, read_only=True))
    await asyncio.sleep(0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert caplog.records == []
    assert database.async_engine.pool.checkedout() == 0  # type: ignore[attr-defined]
    await database.close_async()


def test_nothing_follows_the_end_of_a_transaction_that_writes_or_sees_one_moment(
    database: Database, tenant: str
) -> None:
    """A statement after COMMIT would have neither role nor tenant."""
    for how in ({}, {"read_only": True, "snapshot": True}):
        for again in (
            lambda conn: fetch_named(conn, WHO, {}),
            lambda conn: conn.exec_driver_sql(WHO),
            lambda conn: conn.begin_nested(),
        ):

            def work(conn: Any, again: Any = again) -> None:
                fetch_named(ending(conn), WHO, {})
                again(conn)

            with pytest.raises(RuntimeError, match="after the one that ended"):
                database.run(tenant, work, **how)


def test_a_read_that_goes_on_after_its_end_is_begun_anew(database: Database, tenant: str) -> None:
    def work(conn: Any) -> list[Any]:
        return [
            fetch_named(ending(conn), WHO, {})[0],
            fetch_named(conn, WHO, {})[0],
            conn.exec_driver_sql(WHO).fetchone(),
            fetch_named(ending(conn), WHO, {})[0],
            conn.exec_driver_sql(WHO).fetchone(),
        ]

    rows = database.run(tenant, work, read_only=True)
    assert [(row.role, row.tenant) for row in rows] == [("engram_app", tenant)] * 5
    assert [row.at == rows[0].at for row in rows] == [True, False, False, False, False]
    assert rows[1].at == rows[2].at == rows[3].at != rows[4].at


@pytest.mark.parametrize("fails", ["nothing", "what follows", "what ends"])
def test_what_follows_the_end_in_its_message_is_a_transaction_of_its_own(
    database: Database, tenant: str, fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    follows = f"SELECT 1 / 0 FROM ({ADDED}) a" if fails == "what follows" else ADDED
    monkeypatch.setattr(databases, "statement", lambda _: follows)
    sent: list[databases.Sent] = []

    def work(conn: Any) -> Any:
        sent.append(databases.send_after(conn, "any", tenant=tenant))
        return fetch_named(ending(conn), "SELECT 1 / 0" if fails == "what ends" else WHO, {})[0]

    if fails == "what ends":
        with pytest.raises(InvalidInput):
            database.run(tenant, work, read_only=True)
    else:
        assert database.run(tenant, work, read_only=True).tenant == tenant
    assert [sent[-1].done, sent[-1].error is not None] == [fails == "nothing", fails == "what follows"]
    monkeypatch.undo()
    assert count(database, tenant) == (1 if fails == "nothing" else 0)


def test_what_follows_cannot_fail_what_was_read_even_where_it_ends_the_session(
    database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "statement", lambda _: "SELECT pg_terminate_backend(pg_backend_pid())")

    def work(conn: Any) -> Any:
        sent = databases.send_after(conn, "any")
        return fetch_named(ending(conn), WHO, {})[0], sent

    row, sent = database.run(tenant, work, read_only=True)
    assert (row.tenant, sent.done, sent.error is not None) == (tenant, False, True)
    monkeypatch.undo()
    assert count(database, tenant) == 0


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_connection_that_is_lost_in_an_analysis_is_followed_by_another(
    database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    real = databases.statement
    suicide = "SELECT pg_terminate_backend(pg_backend_pid())"
    monkeypatch.setattr(databases, "statement", lambda name: suicide if name.startswith("analyze") else real(name))
    monkeypatch.setattr(databases, "ANALYZED_AT", {1})
    with of_its_own(database_url) as far:
        work = add_at_last(tenant)
        await far.run_async(tenant, work) if is_async else far.run(tenant, work)
        assert count(far, tenant) == 1
        await far.close_async()


def test_a_connection_that_is_lost_within_its_transaction_is_followed_by_no_other(
    database: Database, tenant: str, behind: psycopg.Connection[Any]
) -> None:
    seen: list[Any] = []

    def work(conn: Any) -> None:
        (pid,) = fetch_named(conn, "SELECT pg_backend_pid()", {})[0]
        behind.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
        with suppress(sa.exc.DBAPIError, psycopg.Error):
            fetch_named(conn, WHO, {})
        for _ in range(2):
            with suppress(sa.exc.SQLAlchemyError, psycopg.Error):
                seen.append(conn.exec_driver_sql(WHO).fetchone())

    with suppress(EngramError):
        database.run(tenant, work, read_only=True)
    assert seen == []


def test_what_follows_waits_for_the_end_and_is_sent_with_it(
    database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "statement", lambda _: ADDED)

    def work(conn: Any) -> Any:
        sent = databases.send_after(conn, "any", tenant=tenant)
        fetch_named(conn, WHO, {})
        return sent

    assert database.run(tenant, work, read_only=True).done
    monkeypatch.undo()
    assert count(database, tenant) == 1


def test_what_would_follow_is_not_sent_behind_an_end_that_was(database: Database, tenant: str) -> None:
    def work(conn: Any) -> Any:
        fetch_named(ending(conn), WHO, {})
        return databases.send_after(conn, "read_clock")

    assert not database.run(tenant, work, read_only=True).is_tried


def test_what_would_follow_a_rehearsal_is_not_sent(
    database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "statement", lambda _: ADDED)

    def work(conn: Any) -> Any:
        with conn.begin_nested() as savepoint:
            sent = databases.send_after(conn, "any", tenant=tenant)
            fetch_named(ending(conn), WHO, {})
            savepoint.rollback()
        return sent

    assert not database.run(tenant, work).is_tried
    monkeypatch.undo()
    assert count(database, tenant) == 0


@pytest.mark.parametrize("fails", [False, True])
def test_what_follows_is_waited_for_where_the_work_or_the_next_statement_comes_first(
    database: Database, tenant: str, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "statement", lambda _: ADDED)
    sent: list[databases.Sent] = []

    def work(conn: Any) -> Any:
        sent.append(databases.send_after(conn, "any", tenant=tenant))
        fetch_named(ending(conn), WHO, {})
        assert not sent[-1].is_tried  # not waited for yet
        if fails:
            raise InvalidInput("value", "another", "this one")
        return fetch_named(conn, WHO, {})[0]

    if fails:
        with pytest.raises(InvalidInput):
            database.run(tenant, work, read_only=True)
    else:
        assert database.run(tenant, work, read_only=True).tenant == tenant
    assert [one.done for one in sent] == [True]
    monkeypatch.undo()
    assert count(database, tenant) == 1


def test_a_rehearsal_takes_back_what_would_have_ended_its_transaction(database: Database, tenant: str) -> None:
    def work(conn: Any) -> None:
        with conn.begin_nested() as savepoint:
            add_at_last(tenant)(conn)
            savepoint.rollback()

    database.run(tenant, work)
    assert count(database, tenant) == 0


# Role and tenant -----------------------------------------------------------------------------------------------------


def test_a_setting_that_fails_stops_every_statement_behind_it(
    database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "OPENING", databases.OPENING.replace(databases.APP_ROLE, "nobody_of_that_name"))
    tried: list[str] = []

    def work(conn: Any) -> None:
        for last in (False, False, True):  # whoever catches the error gets no further
            with suppress(sa.exc.DBAPIError):
                fetch_named(ending(conn) if last else conn, ADDED, {"tenant": tenant})
                tried.append("fetched")
            with suppress(sa.exc.DBAPIError, psycopg.Error):
                conn.exec_driver_sql(ADDED, {"tenant": tenant})
                tried.append("executed")

    databases.opening.cache_clear()
    try:
        for how in ({}, {"read_only": True}):
            with suppress(EngramError):
                database.run(tenant, work, **how)
            with pytest.raises(SchemaOutdated):
                database.run(tenant, add_at_last(tenant), **how)
    finally:
        databases.opening.cache_clear()
    monkeypatch.undo()
    assert tried == []
    assert count(database, tenant) == 0


def test_a_value_that_cannot_be_sent_takes_no_tenant_away_from_what_follows(database: Database, tenant: str) -> None:
    def work(conn: Any) -> Any:
        with pytest.raises(sa.exc.DBAPIError):
            fetch_named(conn, "SELECT %(said)s::text", {"said": "a\0b"})
        return fetch_named(conn, WHO, {})[0]

    row = database.run(tenant, work)
    assert (row.role, row.tenant) == ("engram_app", tenant)


@pytest.mark.parametrize(
    ("allowed", "asked", "left"), [(0.4, 2**31 - 1, "400ms"), (1.5, 1_600, "1500ms"), (9, 700, "700ms")]
)
def test_a_search_takes_no_more_time_than_any_statement_may(
    database_url: str, tenant: str, allowed: float, asked: int, left: str
) -> None:
    def work(conn: Any) -> Any:
        send_ahead(conn, "set_search", breadth="40", milliseconds=asked)
        return fetch_named(conn, "SELECT current_setting('statement_timeout') AS longest", {})[0].longest

    with of_its_own(database_url, statement_timeout=allowed) as database:
        assert database.run(tenant, work, read_only=True) == left


def test_times_are_told_in_utc_and_in_one_form_whatever_the_login_is_used_to(
    server: EmbeddedServer, tenant: str, database_url: str, behind: psycopg.Connection[Any]
) -> None:
    assert database_url
    behind.execute("CREATE ROLE far_away LOGIN IN ROLE engram_app")
    for name, value in (("TimeZone", "Asia/Tokyo"), ("DateStyle", "German"), ("IntervalStyle", "iso_8601")):
        behind.execute(f"ALTER ROLE far_away SET {name} = '{value}'")
    try:
        with of_its_own(server.url(user="far_away")) as database:
            for end in (ending, lambda conn: conn):
                row = database.run(tenant, lambda conn, end=end: fetch_named(end(conn), WHO, {})[0])  # type: ignore[misc]
                assert row.at.tzname() == "UTC"
                told = database.run(
                    tenant,
                    lambda conn, end=end: fetch_named(end(conn), "SELECT interval '26 hours' AS span", {})[0],  # type: ignore[misc]
                )
                assert told.span == timedelta(hours=26)
    finally:
        behind.execute("DROP ROLE far_away")


def test_what_a_database_is_used_to_changes_nothing_of_what_is_written_and_read(
    server: EmbeddedServer, migrated_database_url: str, tenant: str
) -> None:
    name = sa.make_url(migrated_database_url).database
    assert name is not None
    used_to = {
        "standard_conforming_strings": "off", "array_nulls": "off", "row_security": "off", "extra_float_digits": "-5",
        "default_transaction_isolation": "serializable", "gin_fuzzy_search_limit": "3",
    }  # fmt: skip
    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
        for setting, value in used_to.items():
            conn.execute(f"ALTER DATABASE {name} SET {setting} = '{value}'")  # type: ignore[arg-type]
    odd = "The path is C:\\temp\\new \\0 'quoted' NULL"
    with Engram(server.url(database=name), scope=Scope(tenant), settings=load({}), embedder="none") as door:
        told = door.remember(odd, wait=30.0)
        assert door.get_event(told.event_ids[0]).content == odd
        written = door.add("NULL", importance=0.123456789012345, metadata={"NULL": ["NULL", None, "\\x"]}).memory
        assert written is not None
        assert door.get(written.memory_id) == written
        assert (written.importance, written.metadata) == (0.123456789012345, {"NULL": ["NULL", None, "\\x"]})
        assert {one.memory.fact for one in door.search("null path")} >= {"NULL"}
        assert door.ops.verify_ledger().ok
    with of_its_own(server.url(database=name)) as database:
        [third] = database.run(tenant, lambda conn: fetch_named(conn, "SELECT 1 / 3::float8", {})[0])
        assert third == 1 / 3


@pytest.mark.parametrize("default", ["repeatable read", "serializable"])
def test_who_waits_for_a_lock_reads_what_was_written_meanwhile_whatever_is_the_default(
    server: EmbeddedServer, migrated_database_url: str, tenant: str, default: str
) -> None:
    name = sa.make_url(migrated_database_url).database
    assert name is not None
    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
        conn.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = '{default}'")  # type: ignore[arg-type]
    levels = "SELECT current_setting('transaction_isolation') AS level"
    with of_its_own(server.url(database=name)) as database:
        for read_only, snapshot, wanted in (
            (False, False, "read committed"), (True, False, "read committed"), (True, True, "repeatable read"),
        ):  # fmt: skip
            found = database.run(
                tenant, lambda conn: fetch_named(conn, levels, {})[0].level, read_only=read_only, snapshot=snapshot
            )
            assert found == wanted
