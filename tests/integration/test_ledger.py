"""The ledger in a database: appended once and in order, never changed, and every change behind its back found."""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import psycopg
import pytest
from book import Book, acting_as, said, together
from sqlalchemy import create_engine

from engram import chain, ledger, streams
from engram.database import Database, fetch_all
from engram.embedded import EmbeddedServer
from engram.errors import IdempotencyMismatch, InvalidInput, LimitExceeded, NotFound, StaleStream
from engram.ids import new_id
from engram.jobs import Cursor, advance
from engram.ledger import NewEvent
from engram.settings import load

KEY = b"the ledger's own key"
GENESIS = "\\x" + "00" * 32
LONG = 200  # events of the chain that is tampered with


@pytest.fixture
def book(database: Database, tenant: str) -> Book:
    return Book(database, tenant)


@pytest.fixture(scope="module")
def wide(database_url: str) -> Iterator[Database]:
    """A database with connections for many threads."""
    opened = Database(database_url, load({}, pool_size=32))
    yield opened
    opened.close()


# Appending


def test_an_appended_event_reads_back_as_it_was_said(book: Book) -> None:
    when = datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=UTC)
    task = new_id()
    event = said(
        "Käse, 雪 and 👩‍👩‍👧", payload={"n": 1.5, "deep": [{"a": None}]}, metadata={"ü": "ö"}, trust="agent",
        occurred_at=when, session_id="s-1", task_run_id=task, actor="ada", idempotency_key="k",
    )  # fmt: skip
    stream = book.stream()
    [appended] = book.append(stream, [event]).events
    read = book.run(lambda conn: ledger.get(conn, event.event_id))
    assert (read.content, read.payload, read.metadata) == (event.content, event.payload, event.metadata)
    assert (read.role, read.event_type, read.trust, read.actor) == ("user", "user_message", "agent", "ada")
    assert (read.session_id, read.task_run_id, read.occurred_at) == ("s-1", task, when)
    assert (read.position, read.recorded_at, read.erased) == (1, appended.recorded_at, False)
    assert book.run(lambda conn: ledger.find_by_key(conn, book.scope_id, "k")) == read


def test_an_event_happened_when_it_was_recorded_unless_it_says_otherwise(book: Book) -> None:
    [first] = book.append(book.stream(), [said("now")]).events
    read = book.run(lambda conn: ledger.get(conn, first.event_id))
    assert read.occurred_at == read.recorded_at == first.recorded_at
    assert abs(datetime.now(UTC) - first.recorded_at) < timedelta(minutes=1)


def test_positions_start_at_one_and_a_batch_keeps_its_order(book: Book) -> None:
    stream = book.stream()
    batch = [said(str(n)) for n in range(50)]
    first, second = book.append(stream, batch[:20]), book.append(stream, batch[20:])
    assert [event.position for event in first.events + second.events] == list(range(1, 51))
    assert [event.event_id for event in first.events + second.events] == [event.event_id for event in batch]
    assert (second.position, len({event.recorded_at for event in second.events})) == (50, 1)
    assert first.events[0].recorded_at < second.events[0].recorded_at


def test_each_event_that_a_deriver_waits_for_has_one_job_and_the_others_none(book: Book) -> None:
    stream = book.stream()
    appended = book.append(stream, [said("a"), said("b", derive=()), said("c")])
    assert [event.job_id is not None for event in appended.events] == [True, False, True]
    found = book.rows("select job_id::text, position, kind, state from engram.memory_jobs order by position")
    assert [tuple(row) for row in found] == [
        (appended.job_ids[0], 1, "derive", "queued"),
        (appended.job_ids[1], 3, "derive", "queued"),
    ]


def test_a_batch_is_all_or_nothing(book: Book) -> None:
    stream = book.stream()
    with pytest.raises(LimitExceeded):
        book.append(stream, [said("fits"), said("x" * (1024 * 1024))])
    known = said("known")
    book.append(stream, [known])
    with pytest.raises(IdempotencyMismatch):
        book.append(stream, [said("new"), said("not the same", event_id=known.event_id)])
    assert book.rows("select count(*) from engram.agent_events") == [(1,)]
    assert book.verify().ok


@pytest.mark.parametrize("size", [0, 501])
def test_a_batch_has_one_to_five_hundred_events(book: Book, size: int) -> None:
    with pytest.raises(InvalidInput):
        book.append(book.stream(), [said(str(n)) for n in range(size)])


def test_an_unknown_stream_and_a_stream_of_another_scope_are_not_found(book: Book) -> None:
    stranger = Book(book.database, book.tenant, "elsewhere")
    for stream in (new_id(), stranger.stream()):
        with pytest.raises(NotFound):
            book.append(stream, [said("hello")])


# Once


def test_appending_again_gives_the_first_receipt(book: Book) -> None:
    stream = book.stream()
    batch = [said("one"), said("two", derive=())]
    first, again = book.append(stream, batch), book.append(stream, batch)
    assert again.duplicate
    assert not first.duplicate
    assert [event.status for event in again.events] == ["duplicate", "duplicate"]
    assert again.job_ids == first.job_ids
    assert [(e.event_id, e.position, e.recorded_at) for e in again.events] == [
        (e.event_id, e.position, e.recorded_at) for e in first.events
    ]


def test_a_batch_may_bring_known_events_among_new_ones(book: Book) -> None:
    stream = book.stream()
    known = [said("one"), said("two")]
    book.append(stream, known)
    mixed = book.append(stream, [said("zero"), known[1], said("three"), known[0]])
    assert [(event.status, event.position) for event in mixed.events] == [
        ("appended", 3), ("duplicate", 2), ("appended", 4), ("duplicate", 1),
    ]  # fmt: skip
    assert book.verify().ok


def test_an_idempotency_key_holds_for_the_scope_across_streams(book: Book) -> None:
    here, there = book.stream("here"), book.stream("there")
    first = book.append(here, [said("same", idempotency_key="k")])
    again = book.append(there, [said("same", idempotency_key="k")])
    assert again.events[0].status == "duplicate"
    assert (again.events[0].event_id, again.events[0].stream_id) == (first.events[0].event_id, here)
    other = Book(book.database, book.tenant, "other")
    assert other.append(other.stream(), [said("same", idempotency_key="k")]).events[0].status == "appended"


@pytest.mark.parametrize(
    "second",
    [
        lambda first: said("other words", event_id=first.event_id),
        lambda first: said("words", idempotency_key="k", payload={"more": 1}),
        lambda first: NewEvent("assistant", "user_message", "words", idempotency_key="k"),
        lambda first: NewEvent("user", "observation", "words", idempotency_key="k"),
    ],
)  # fmt: skip
def test_a_key_or_id_with_another_body_is_a_mismatch(book: Book, second: Callable[[NewEvent], NewEvent]) -> None:
    stream, first = book.stream(), said("words", idempotency_key="k")
    book.append(stream, [first])
    with pytest.raises(IdempotencyMismatch):
        book.append(stream, [second(first)])
    assert book.rows("select count(*) from engram.agent_events") == [(1,)]


def test_an_id_and_a_key_of_two_different_events_are_a_mismatch(book: Book) -> None:
    stream, one, two = book.stream(), said("words", idempotency_key="k"), said("words")
    book.append(stream, [one, two])
    with pytest.raises(IdempotencyMismatch):
        book.append(stream, [said("words", event_id=two.event_id, idempotency_key="k")])


def test_the_same_event_twice_in_one_batch_is_a_duplicate(book: Book) -> None:
    event, stream = said("once"), book.stream()
    twice = book.append(stream, [event, event, said("more")])
    assert [(e.status, e.position) for e in twice.events] == [("appended", 1), ("duplicate", 1), ("appended", 2)]
    with pytest.raises(IdempotencyMismatch):
        book.append(stream, [said("a", idempotency_key="k"), said("b", idempotency_key="k")])


def test_320_events_sent_twice_by_two_threads_are_there_once(wide: Database, tenant: str) -> None:
    book = Book(wide, tenant)
    names = [book.stream(f"s{n}") for n in range(4)]
    events = [(names[n % 4], said(f"event {n}", idempotency_key=f"k{n}")) for n in range(320)]

    def send(order: list[tuple[str, NewEvent]]) -> list[tuple[str, int]]:
        return [(event.event_id, book.append(stream, [event]).position) for stream, event in order]

    one, two = together([lambda: send(events), lambda: send(events[::-1])])
    assert dict(one) == dict(two)
    assert book.rows("select count(*), count(distinct event_id) from engram.agent_events") == [(320, 320)]
    assert (
        book.rows("select count(*), count(distinct position) from engram.memory_jobs group by stream_id")
        == [(80, 80)] * 4
    )
    assert book.verify().ok


def test_one_key_taken_by_two_streams_at_once_is_one_event(wide: Database, tenant: str) -> None:
    book = Book(wide, tenant)
    names = [book.stream(f"s{n}") for n in range(8)]
    for turn in range(10):
        answers = together([lambda s=s, t=turn: book.append(s, [said("same", idempotency_key=f"k{t}")]) for s in names])
        assert sorted(answer.events[0].status for answer in answers) == ["appended"] + ["duplicate"] * 7
        assert len({answer.events[0].event_id for answer in answers}) == 1
    assert book.verify().ok


def test_an_answer_lost_after_the_commit_costs_nothing(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    stream, real, lost = book.stream(), psycopg.Connection.commit, 0

    def commit(conn: psycopg.Connection[Any]) -> None:
        nonlocal lost
        real(conn)
        if lost * 3 < len(told) + 1:
            lost += 1
            conn.close()
            raise psycopg.OperationalError("the connection is lost")

    told: list[tuple[str, int]] = []
    monkeypatch.setattr(psycopg.Connection, "commit", commit)
    for n in range(60):
        told += [(event.event_id, event.position) for event in book.append(stream, [said(f"{n}")]).events]
    monkeypatch.undo()
    assert lost >= 20
    assert [position for _, position in told] == list(range(1, 61))
    there = book.rows("select event_id::text, position from engram.agent_events order by position")
    assert [tuple(row) for row in there] == told
    assert book.rows("select count(*) from engram.memory_jobs") == [(60,)]


# Positions


def test_a_stale_expectation_is_refused_and_nothing_is_written(book: Book) -> None:
    stream = book.stream()
    batch = [said("one"), said("two")]
    book.append(stream, batch, expected_position=0)
    with pytest.raises(StaleStream) as caught:
        book.append(stream, [said("three")], expected_position=1)
    assert (caught.value.expected, caught.value.actual) == (1, 2)
    assert book.rows("select count(*) from engram.agent_events") == [(2,)]
    assert book.append(stream, [said("three")], expected_position=2).position == 3
    assert book.append(stream, batch, expected_position=0).duplicate, "a repeated append is answered, not refused"


def test_of_many_writers_with_one_expectation_one_wins(wide: Database, tenant: str) -> None:
    book = Book(wide, tenant)
    stream = book.stream()

    def write() -> str:
        try:
            book.append(stream, [said("mine")], expected_position=0)
        except StaleStream as error:
            return f"stale at {error.actual}"
        return "won"

    assert sorted(together([write] * 12)) == ["stale at 1"] * 11 + ["won"]


def test_sixteen_threads_leave_no_gap_and_one_chain(wide: Database, tenant: str) -> None:
    book = Book(wide, tenant)
    stream = book.stream()

    def write() -> list[int]:
        return [
            event.position
            for n in range(15)
            for event in book.append(stream, [said(f"{n}")] * 1 + [said(f"{n}b")]).events
        ]

    positions = together([write] * 16)
    assert sorted(position for mine in positions for position in mine) == list(range(1, 481))
    assert all(mine == sorted(mine) for mine in positions)
    assert (report := book.verify()).ok
    assert report.events == 480


def test_a_commit_is_on_disk_whatever_the_session_prefers(book: Book) -> None:
    stream = book.stream()
    for preferred, kept in (("off", "on"), ("local", "on"), ("remote_write", "on"), ("remote_apply", "remote_apply")):
        with book.database.transaction(book.tenant) as conn:
            conn.exec_driver_sql(f"set synchronous_commit = {preferred}")
            ledger.append(conn, scope_id=book.scope_id, stream_id=stream, events=[said("kept")])
            assert conn.exec_driver_sql("show synchronous_commit").scalar() == kept


# Reading


def test_reading_goes_by_stream_session_task_and_scope(book: Book) -> None:
    chat, work = book.stream("chat"), book.stream("work", "task")
    task = new_id()
    book.append(chat, [said(f"c{n}", session_id="chat") for n in range(3)])
    book.append(work, [said(f"w{n}", session_id="chat", task_run_id=task) for n in range(2)])
    book.append(chat, [NewEvent("assistant", "assistant_message", "c3", session_id="chat", trust="agent")])

    def texts(**how: Any) -> list[str | None]:
        return [event.content for event in book.run(lambda conn: ledger.read(conn, **how))]

    assert texts(stream_id=chat) == ["c0", "c1", "c2", "c3"]
    assert texts(stream_id=chat, after=1, before=4) == ["c1", "c2"]
    assert texts(stream_id=chat, newest_first=True, limit=2) == ["c3", "c2"]
    assert texts(session_id="chat") == ["c0", "c1", "c2", "w0", "w1", "c3"]
    assert texts(session_id="chat", newest_first=True, limit=2) == ["c3", "w1"]
    assert texts(task_run_id=task) == ["w0", "w1"]
    assert texts(scope_ids=[book.scope_id], types=["assistant_message"]) == ["c3"]
    assert texts(scope_ids=[book.scope_id], roles=["user"], limit=1) == ["c0"]
    assert texts(scope_ids=[book.scope_id], trusts=["agent"]) == ["c3"]
    assert texts(scope_ids=[]) == texts(scope_ids=[book.scope_id], types=[]) == []
    assert texts(stream_id=chat, scope_ids=[book.scope_id + 1]) == []


def test_a_list_over_streams_goes_on_where_it_stopped(book: Book) -> None:
    for n in range(7):
        book.append(book.stream(f"s{n % 3}"), [said(f"{n}a"), said(f"{n}b")])
    for newest_first in (False, True):
        seen: list[str] = []
        start = None
        while found := book.run(
            lambda conn, at=start, back=newest_first: ledger.read(
                conn, scope_ids=[book.scope_id], start=at, newest_first=back, limit=3
            )
        ):
            seen += [event.content for event in found]
            start = ledger.Place(found[-1].recorded_at, found[-1].stream_id, found[-1].position)
        assert seen == sorted((f"{n}{x}" for n in range(7) for x in "ab"), reverse=newest_first)


def test_times_bound_a_reading_by_when_things_happened(book: Book) -> None:
    days = [datetime(2024, 1, day, tzinfo=UTC) for day in (1, 2, 3)]
    stream = book.stream()
    book.append(stream, [said(str(day.day), occurred_at=day) for day in days])
    found = book.run(lambda conn: ledger.read(conn, stream_id=stream, since=days[0], until=days[2]))
    assert [event.content for event in found] == ["1", "2"]


def test_a_deriver_reads_only_what_waits_for_it(book: Book) -> None:
    stream = book.stream()
    book.append(stream, [said("a"), said("b", derive=()), said("c", derive=("llm",)), said("d", derive=("rules",))])
    book.run(lambda conn: advance(conn, {Cursor(stream, "rules", 1): 1}))
    found, before = book.run(lambda conn: ledger.derivable(conn, [stream], [("rules", 1)]))
    assert [(event.content, derivers) for event, derivers in found] == [("d", ["rules"])]
    assert [event.content for event in before] == ["b", "c"], "what is read with it"


def test_derivers_read_several_streams_at_once_each_from_where_it_stands(book: Book) -> None:
    one, two = sorted([book.stream("one"), book.stream("two")])
    both = ("verbatim", "rules")
    book.append(one, [said("a", derive=both), said("b", derive=both), said("c", derive=("rules",))])
    book.append(two, [said("d", derive=both), said("e", derive=both), said("f", derive=both)])
    book.run(lambda conn: advance(conn, {Cursor(one, "rules", 1): 2, Cursor(one, "verbatim", 1): 1}))
    derivers = [("rules", 1), ("verbatim", 1), ("x", 1)]
    found, before = book.run(lambda conn: ledger.derivable(conn, [one, two], derivers, limit=2))
    assert [event.content for event, _ in found] == ["b", "c", "d", "e"]
    assert [event.content for event in before] == ["a"]  # "b" and "d" wait themselves
    # A new version goes on where the one before it stood.
    newer, _ = book.run(lambda conn: ledger.derivable(conn, [one], [("rules", 2)]))
    assert [event.content for event, _ in newer] == ["c"]


def test_another_tenant_and_another_scope_see_nothing(book: Book, database: Database) -> None:
    stream, event = book.stream(), said("secret", idempotency_key="k", session_id="s")
    book.append(stream, [event])
    for tenant, scopes in ((f"{book.tenant}-x", None), (book.tenant, [book.scope_id + 10_000])):
        with database.transaction(tenant) as conn:
            assert ledger.get(conn, event.event_id, scope_ids=scopes) is None
            assert ledger.get_many(conn, [event.event_id], scope_ids=scopes) == {}
            assert ledger.read(conn, session_id="s", scope_ids=scopes) == []
            assert ledger.read(conn, stream_id=stream, scope_ids=scopes) == []
            assert streams.head(conn, stream, scope_ids=scopes) is None
    with database.transaction(f"{book.tenant}-x") as conn:
        assert ledger.find_by_key(conn, book.scope_id, "k") is None
        assert ledger.verify(conn).streams == 0
        assert streams.follow(conn) == []
        with pytest.raises(NotFound):
            ledger.append(conn, scope_id=book.scope_id, stream_id=stream, events=[said("intruder")])
    with database.transaction(f"{book.tenant}-x") as conn, pytest.raises(NotFound):
        ledger.redact(conn, event_id=event.event_id, stream_id=stream)
    assert book.run(lambda conn: ledger.get(conn, event.event_id)).content == "secret"


# Never changed

ATTEMPTS = {
    "edit an event": "update engram.agent_events set role = 'agent'",
    "delete an event": "delete from engram.agent_events",
    "empty the events": "truncate engram.agent_events cascade",
    "edit a payload": "update engram.agent_event_payloads set body = 'x'",
    "delete a payload": "delete from engram.agent_event_payloads",
    "empty the payloads": "truncate engram.agent_event_payloads",
    "move a head back": "update engram.event_streams set position = 0",
    "delete a head": "delete from engram.event_streams",
    "empty the heads": "truncate engram.event_streams cascade",
}


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_the_owner_is_refused_by_triggers(book: Book, server: EmbeddedServer, attempt: str) -> None:
    book.append(book.stream(), [said("for ever")])
    with acting_as(server.superuser_url, book.tenant, "engram_owner") as conn, pytest.raises(psycopg.Error) as caught:
        conn.execute(ATTEMPTS[attempt].encode())
    assert caught.value.sqlstate == "55000"


INSERTS = {
    "insert an event": "insert into engram.agent_events select * from engram.agent_events",
    "insert a payload": "insert into engram.agent_event_payloads select * from engram.agent_event_payloads",
    "insert a head": "insert into engram.event_streams (tenant_id, stream_id, scope_id, kind, name)"
    " select tenant_id, gen_random_uuid(), scope_id, kind, name || '2' from engram.event_streams",
    "say that a stream is read": "update engram.event_streams set derived = derivable",
    "call the work behind": f"select engram.write_events({', '.join(['null'] * 18)})",
}


@pytest.mark.parametrize("attempt", ATTEMPTS | INSERTS)
def test_the_application_is_refused_by_its_rights(book: Book, database_url: str, attempt: str) -> None:
    book.append(book.stream(), [said("for ever")])
    with acting_as(database_url, book.tenant) as conn, pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute((ATTEMPTS | INSERTS)[attempt].encode())


def test_without_a_tenant_the_ledger_is_empty_and_takes_nothing(
    book: Book, server: EmbeddedServer, database_url: str
) -> None:
    stream = book.stream()
    book.append(stream, [said("walled")])
    for url, role in ((database_url, None), (server.superuser_url, "engram_owner")):
        with acting_as(url, "", role) as conn:
            for table in ("agent_events", "agent_event_payloads", "event_streams", "memory_jobs"):
                assert conn.execute(f"select count(*) from engram.{table}".encode()).fetchone() == (0,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute("select * from engram.open_stream(%s, %s, 'session', 'x')", (book.scope_id, new_id()))


# Redaction


def test_a_redacted_event_keeps_its_place_and_loses_its_words(book: Book) -> None:
    stream, batch = book.stream(), [said(f"number {n}") for n in range(5)]
    before = book.append(stream, batch)
    target = batch[2].event_id
    redaction = book.run(lambda conn: ledger.redact(conn, event_id=target, stream_id=stream, actor="ada"))
    event = book.run(lambda conn: ledger.get(conn, target))
    assert (event.content, event.payload, event.metadata, event.erased) == (None, {}, {}, True)
    assert event.position == 3
    told = book.run(lambda conn: ledger.get(conn, redaction.event_id))
    assert (told.position, told.event_type, told.actor, told.content) == (6, "redaction", "ada", None)
    assert told.payload == {"event_id": target}
    report = book.verify()
    assert (report.ok, report.events, report.erased) == (True, 6, 1)
    assert [event.status for event in book.append(stream, batch).events] == ["duplicate"] * 2 + ["erased"] + [
        "duplicate"
    ] * 2
    assert book.append(stream, [said("other words", event_id=target)]).events[0].status == "erased"
    assert book.append(stream, batch).job_ids == before.job_ids


def test_redacting_twice_gives_the_first_redaction(book: Book) -> None:
    stream, event = book.stream(), said("gone")
    book.append(stream, [event])
    first = book.run(lambda conn: ledger.redact(conn, event_id=event.event_id, stream_id=stream))
    again = book.run(lambda conn: ledger.redact(conn, event_id=event.event_id, stream_id=stream, reason="again"))
    assert (first.status, again.status) == ("appended", "duplicate")
    assert (first.event_id, first.position) == (again.event_id, again.position)


def test_no_caller_makes_a_redaction_or_redacts_one(book: Book) -> None:
    stream, event = book.stream(), said("gone")
    book.append(stream, [event])
    done = book.run(lambda conn: ledger.redact(conn, event_id=event.event_id, stream_id=stream))
    with pytest.raises(InvalidInput):
        book.run(lambda conn: ledger.redact(conn, event_id=done.event_id, stream_id=stream))
    with pytest.raises(InvalidInput):
        book.append(stream, [NewEvent("system", "redaction", None)])
    with pytest.raises(InvalidInput):
        book.append(stream, [said("x", idempotency_key=f"redaction:{event.event_id}")])
    with pytest.raises(NotFound):
        book.run(lambda conn: ledger.redact(conn, event_id=new_id(), stream_id=stream))


# Verifying


def test_the_chain_holds_with_every_optional_field_there_and_missing(book: Book) -> None:
    stream = book.stream()
    book.append(
        stream,
        [
            NewEvent("system", "system_note"),
            said("", session_id="s", task_run_id=new_id(), actor="ä", idempotency_key="k", derive=("a", "ü-b", "c")),
            said("x", occurred_at=datetime(1900, 1, 1, tzinfo=UTC)),
            said("y", occurred_at=datetime(2199, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
        ],
    )
    assert book.verify().ok


def test_a_key_seals_the_chain(book: Book) -> None:
    stream = book.stream()
    book.append(stream, [said("before there was a key")])
    book.append(stream, [said("sealed"), said("too")], key=KEY)
    book.run(
        lambda conn: ledger.redact(
            conn, event_id=book.append(stream, [said("z")], key=KEY).events[0].event_id, stream_id=stream, key=KEY
        )
    )
    assert book.verify(key=KEY, unkeyed=True).ok
    assert book.verify(key=KEY).first_bad.position == 1
    assert book.verify().first_bad.position == 2
    assert book.verify(key=b"another", unkeyed=True).first_bad.position == 2


def test_the_seal_is_hmac_sha256(book: Book) -> None:
    stream = book.stream()
    book.append(stream, [said("sealed")], key=KEY)
    [row] = book.run(lambda conn: fetch_all(conn, "list_links", stream_id=stream, after=0, until=1, limit=1))
    own = hmac.digest(KEY, b"engram-stream" + UUID(stream).bytes, "sha256")
    assert bytes(row.hash) == hmac.digest(own, chain.encode(row), "sha256")


def test_a_report_counts_and_its_heads_are_anchors(book: Book) -> None:
    names = [book.stream(f"s{n}") for n in range(3)]
    for name in names:
        book.append(name, [said("a"), said("b")])
    report = book.verify()
    assert (report.streams, report.events, report.erased, report.ok, report.bad) == (3, 6, 0, True, ())
    assert set(report.heads) == set(names)
    book.append(names[0], [said("later")])
    assert book.verify(anchors=report.heads).ok
    assert book.verify(stream_ids=[names[0]]).events == 3
    assert book.verify(scope_ids=[]).streams == 0
    assert (
        book.verify(anchors=report.heads | {new_id(): (4, "00" * 32)}).first_bad.problem == "the whole stream is gone"
    )


def edit_payload(at: int) -> str:
    return f"update agent_event_payloads set body = overlay(body placing 'X'::bytea from 20) where position = {at}"


def delete_payload(at: int) -> str:
    return f"delete from agent_event_payloads where position = {at}"


def remove_row(at: int) -> str:
    return f"delete from agent_event_payloads where position = {at}; delete from agent_events where position = {at}"


def swap_rows(at: int) -> str:
    other = at % LONG + 1
    one, two = sorted((at, other))
    swap = f"case position when {one} then {two} when {two} then {one} else position end + 1000000"
    moves = [
        f"update {table} set position = {swap} where position in ({one}, {two});"
        f" update {table} set position = position - 1000000 where position > 1000000"
        for table in ("agent_events", "agent_event_payloads")
    ]
    return "; ".join(moves)


def cut_tail(at: int) -> str:
    cut = "; ".join(f"delete from {table} where position >= {at}" for table in ("agent_event_payloads", "agent_events"))
    return f"{cut}; {move_head(at)}"


def move_head(at: int) -> str:
    before = f"select hash from agent_events where position = {at - 1}"
    values = f"position = {at - 1}, derivable = 0, derived = 0, head_hash = coalesce(({before}), '{GENESIS}')"
    return f"update event_streams set {values}"


HEADERS = (
    "role = 'agent'", "event_type = 'decision'", "trust = 5", "session_id = 'other'", "session_id = null",
    "actor = 'eve'", "task_run_id = gen_random_uuid()", "idempotency_key = 'other'", "derive = '{}'",
    "derive = '{verbatim}'",
    "occurred_at = occurred_at + interval '1 microsecond'", "recorded_at = recorded_at - interval '1 microsecond'",
    "event_id = gen_random_uuid()", "scope_id = scope_id + 1", "commitment = sha256(commitment)", "hash = sha256(hash)",
    "prev_hash = sha256(prev_hash)", "hash_version = 2",
)  # fmt: skip


def edit_header(at: int) -> str:
    return f"update agent_events set {HEADERS[at % len(HEADERS)]} where position = {at}"


SABOTAGES = {
    "edit payload": edit_payload, "delete payload": delete_payload, "edit header": edit_header,
    "remove row": remove_row, "swap rows": swap_rows, "cut tail": cut_tail, "move head": move_head,
}  # fmt: skip


@pytest.fixture(scope="module")
def long_chain(database: Database) -> Book:
    book = Book(database, f"t-{new_id()}")
    stream = book.stream()
    for start in range(0, LONG, 50):
        book.append(stream, [said(f"this is event {n}", session_id="s", actor="ada") for n in range(start, start + 50)])
    return book


@contextmanager
def behind_the_ledger(server: EmbeddedServer, tenant: str) -> Iterator[Any]:
    """A connection of the tables' owner with its triggers switched off, which takes a superuser; rolled back."""
    engine = create_engine(server.superuser_url)
    with engine.connect() as conn:
        conn.exec_driver_sql("set session_replication_role = replica")
        conn.exec_driver_sql("set role engram_owner")
        conn.exec_driver_sql("set search_path = engram")
        conn.exec_driver_sql("select set_config('engram.tenant_id', %s, false)", (tenant,))
        conn.commit()
        yield conn
        conn.rollback()
    engine.dispose()


@pytest.mark.parametrize("sabotage", SABOTAGES)
def test_a_sabotage_is_found_at_every_position(long_chain: Book, server: EmbeddedServer, sabotage: str) -> None:
    anchors, missed = long_chain.verify().heads, []
    with behind_the_ledger(server, long_chain.tenant) as conn:
        for at in range(1, LONG + 1):
            conn.exec_driver_sql(SABOTAGES[sabotage](at))
            found = ledger.verify(conn, anchors=anchors if sabotage == "cut tail" else None)
            conn.rollback()
            first = min(at, at % LONG + 1) if sabotage == "swap rows" else at
            if found.ok or found.first_bad.position != first:
                missed.append((at, found.first_bad))
    assert missed == []
    assert long_chain.verify(anchors=anchors).ok


def test_a_cut_tail_is_invisible_without_an_anchor(long_chain: Book, server: EmbeddedServer) -> None:
    with behind_the_ledger(server, long_chain.tenant) as conn:
        conn.exec_driver_sql(cut_tail(150))
        assert ledger.verify(conn).ok, "should this ever fail, the documentation promises too little"


def test_a_chain_computed_anew_without_the_key_is_found(book: Book, server: EmbeddedServer) -> None:
    stream = book.stream()
    book.append(stream, [said("I owe Eve nothing")], key=KEY)
    with behind_the_ledger(server, book.tenant) as conn:
        [row] = fetch_all(conn, "list_links", stream_id=stream, after=0, until=1, limit=1)
        body, salt = chain.body("I owe Eve 100", {}, {}), os.urandom(32)
        forged = SimpleNamespace(
            **{**row._mapping, "commitment": chain.commitment(salt, body), "hash_version": chain.PLAIN}
        )
        digest = chain.event_hash(forged, None)
        conn.exec_driver_sql("update agent_event_payloads set body = %s, salt = %s", (body, salt))
        conn.exec_driver_sql(
            "update agent_events set commitment = %s, hash = %s, hash_version = 1", (forged.commitment, digest)
        )
        conn.exec_driver_sql("update event_streams set head_hash = %s", (digest,))
        assert ledger.verify(conn).ok, "without a key the forgery is perfect"
        assert ledger.verify(conn, key=KEY).first_bad.position == 1
