"""Streams: their heads, and a follower that misses nothing behind an open transaction."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import psycopg
import pytest
from book import Book, said, together

from engram import Engram, jobs, ledger, streams
from engram.database import Database
from engram.embedded import EmbeddedServer
from engram.errors import InvalidInput
from engram.ids import new_id
from engram.operations import watching
from engram.settings import load
from engram.streams import Mark
from engram.values import Check

WRITERS = 16
ROUNDS = 12


@pytest.fixture(scope="module")
def wide(database_url: str) -> Iterator[Database]:
    """A database with connections for many threads."""
    opened = Database(database_url, load({}, pool_size=32))
    yield opened
    opened.close()


@pytest.fixture
def book(database: Database, tenant: str) -> Book:
    return Book(database, tenant)


def test_a_stream_is_opened_once_under_its_name(book: Book) -> None:
    first, again = book.stream("talk"), book.stream("talk")
    assert first == again
    assert len({first, book.stream("talk", "task"), book.stream("other")}) == 3
    assert Book(book.database, book.tenant, "elsewhere").stream("talk") != first


def test_finding_a_stream_makes_none(book: Book) -> None:
    with book.database.transaction(book.tenant) as conn:
        assert streams.find(conn, book.scope_id, "session", "talk") is None
        opened = streams.open(conn, book.scope_id, "session", "talk")
        assert streams.find(conn, book.scope_id, "session", "talk") == opened
        assert streams.find(conn, book.scope_id, "task", "talk") is None
        assert streams.head(conn, new_id()) is None


def test_many_open_one_stream_at_once(wide: Database, tenant: str) -> None:
    book = Book(wide, tenant)
    assert len(set(together([lambda: book.stream("talk")] * 12))) == 1


def test_a_head_says_how_far_its_stream_has_come(book: Book) -> None:
    stream = book.stream("talk")
    done = book.append(stream, [said("a"), said("b"), said("c", derive=())])
    head = book.run(lambda conn: streams.head(conn, stream))
    assert (head.position, head.derivable, head.kind, head.name) == (3, 2, "session", "talk")
    assert head.recorded_at == done.events[-1].recorded_at
    assert head.anchor == book.verify().heads[stream]
    assert book.verify(anchors={stream: head.anchor}).ok


def test_a_follower_goes_on_from_its_mark_and_may_choose_types(book: Book) -> None:
    stream = book.stream()
    for n in range(5):
        book.append(stream, [said(f"{n}"), ledger.NewEvent("assistant", "assistant_message", f"{n}!")])
    first = book.run(lambda conn: streams.follow(conn, limit=3))
    rest = book.run(lambda conn: streams.follow(conn, Mark.parse(str(first[-1].mark))))
    assert [item.event.content for item in first + rest] == [text for n in range(5) for text in (f"{n}", f"{n}!")]
    assert book.run(lambda conn: streams.follow(conn, rest[-1].mark)) == []
    chosen = book.run(lambda conn: streams.follow(conn, types=["assistant_message"]))
    assert [item.event.content for item in chosen] == [f"{n}!" for n in range(5)]
    assert {item.scope_id for item in chosen} == {book.scope_id}


@pytest.mark.parametrize("text", ["", "1.2", "x.y.z", "1.not-a-uuid.3", "1.2.3.4"])
def test_a_mark_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        Mark.parse(text)


def test_an_event_behind_an_open_transaction_is_held_back_and_not_lost(book: Book) -> None:
    early, late = book.stream("early"), book.stream("late")
    with book.database.transaction(book.tenant) as slow:
        ledger.append(slow, scope_id=book.scope_id, stream_id=early, events=[said("slow")])
        book.append(late, [said("quick")])
        assert book.run(streams.follow) == []
    assert [item.event.content for item in book.run(streams.follow)] == ["slow", "quick"]


def test_a_follower_sees_every_event_once_where_a_naive_one_misses_some(wide: Database, tenant: str) -> None:
    """16 writers with random rollbacks and pauses; the naive reader goes by recorded_at, as by any sequence."""
    book = Book(wide, tenant)
    names = [book.stream(f"s{n}") for n in range(WRITERS)]
    written, done = set(), threading.Event()

    def write(stream: str, seed: int) -> None:
        dice = random.Random(seed)
        for n in range(ROUNDS):
            events = [said(f"{seed} {n}") for _ in range(dice.randint(1, 3))]
            try:
                with wide.transaction(tenant) as conn:
                    ledger.append(conn, scope_id=book.scope_id, stream_id=stream, events=events)
                    time.sleep(dice.choice([0, 0, 0.005, 0.03]))
                    if dice.random() < 0.1:
                        raise RuntimeError
            except RuntimeError:
                continue
            written.update(event.event_id for event in events)

    def follow() -> list[str]:
        seen: list[str] = []
        mark = None
        while True:
            last = done.is_set()
            items = book.run(partial(streams.follow, after=mark, limit=50))
            seen += [item.event.event_id for item in items]
            mark = items[-1].mark if items else mark
            if last and not items:
                return seen

    def naive() -> list[str]:
        seen: list[str] = []
        start = None
        while True:
            last = done.is_set()
            items = book.run(partial(ledger.read, scope_ids=[book.scope_id], start=start))
            seen += [event.event_id for event in items]
            start = ledger.Place(items[-1].recorded_at, items[-1].stream_id, items[-1].position) if items else start
            if last and not items:
                return seen

    def write_all() -> None:
        try:
            together([lambda s=s, n=n: write(s, n) for n, s in enumerate(names)])
        finally:
            done.set()

    _, one, two, missing = together([write_all, follow, follow, naive])
    assert len(written) > WRITERS * ROUNDS
    assert one == two
    assert len(one) == len(set(one))
    assert set(one) == written
    assert set(missing) < written, "the naive reader missed nothing: this test shows no danger"


def test_a_watermark_counts_what_still_waits_for_a_deriver(book: Book) -> None:
    def mark(deriver: str = "rules") -> tuple[Any, ...]:
        found = book.run(lambda conn: streams.slowest(conn, [book.scope_id], [(deriver, 1)]))
        return found.stream_id, found.derived, found.head, found.behind

    assert mark() == (None, 0, 0, 0)
    talk = book.stream("talk")
    book.append(talk, [said("a"), said("b", derive=()), said("c"), said("d", derive=("llm",))])
    assert mark() == (talk, 2, 4, 2)
    assert mark("verbatim") == (talk, 2, 4, 2)
    assert book.run(lambda conn: jobs.advance(conn, {jobs.Cursor(talk, "rules", 1): 1}))
    assert mark() == (talk, 3, 4, 1)
    assert book.run(lambda conn: jobs.advance(conn, {jobs.Cursor(talk, "rules", 1, 1): 4}))
    assert mark() == (talk, 4, 4, 0)
    book.append(book.stream("other"), [said("e")])
    assert mark() == (None, 4, 5, 1)


# Who holds followers back

HOLDERS = {
    "a writer": ("insert into public.scratch values (1)",),
    "a row lock": ("select * from public.scratch for update",),
    "a temporary table": ("create temporary table mine (n integer)",),
    "a transaction id": ("select pg_current_xact_id()",),
}
OTHERS = {
    "a reader": ("select count(*) from public.scratch",),
    "a repeatable reader": ("set transaction isolation level repeatable read", "select count(*) from public.scratch"),
    "an advisory lock": ("select pg_advisory_xact_lock(1)",),
}


@pytest.fixture
def behind(server: EmbeddedServer, database_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A session of somebody else, with a table to play with."""
    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), application_name="somebody else") as conn:
        conn.execute("create table if not exists public.scratch (n integer)")
        conn.execute("insert into public.scratch select 0 where not exists (select from public.scratch)")
        conn.commit()
        yield conn
        conn.rollback()


def seen(book: Book) -> list[str | None]:
    return [item.event.content for item in book.run(streams.follow)]


@pytest.mark.parametrize("statements", HOLDERS.values(), ids=HOLDERS)
def test_whoever_may_yet_write_holds_followers_back_and_is_named(
    book: Book, behind: psycopg.Connection[Any], statements: tuple[str, ...]
) -> None:
    for one in statements:
        behind.execute(one)
    book.append(book.stream(), [said("later")])
    assert seen(book) == []
    found = book.run(streams.horizon)
    assert found.kind == "session"
    assert f"process {behind.info.backend_pid}" in found.holder
    assert "somebody else" in found.holder
    assert 0 <= found.seconds < 60
    behind.rollback()
    assert seen(book) == ["later"]
    assert book.run(streams.horizon) is None


@pytest.mark.parametrize("statements", OTHERS.values(), ids=OTHERS)
def test_whoever_only_reads_holds_nobody_back(
    book: Book, behind: psycopg.Connection[Any], statements: tuple[str, ...]
) -> None:
    for one in statements:
        behind.execute(one)
    book.append(book.stream(), [said("now")])
    assert seen(book) == ["now"]
    assert book.run(streams.horizon) is None


def test_the_doctor_names_who_holds_followers_back_for_long(
    book: Book, behind: psycopg.Connection[Any], database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engram(database_url, embedder="none") as door:
        mine = door.scoped(tenant_id=book.tenant)

        def check() -> Check:
            return next(check for check in mine.ops.doctor().checks if check.name == "horizon")

        assert check().ok
        behind.execute("select pg_current_xact_id()")
        assert check().ok
        assert "somebody else" in check().detail
        monkeypatch.setattr(watching, "HELD_BACK", 0.0)
        book.append(book.stream(), [said("later")])
        assert not check().ok


def test_the_doctor_refuses_a_ledger_that_is_older_than_its_server(
    book: Book, server: EmbeddedServer, database_url: str
) -> None:
    """As after a restore into a fresh server: its transactions have lower numbers than those of the events."""
    [event] = book.append(book.stream(), [said("from the other life")]).events
    with Engram(database_url, embedder="none") as door:

        def check() -> Check:
            found = door.scoped(tenant_id=book.tenant).ops.doctor()
            return next(check for check in found.checks if check.name == "epoch")

        assert check().ok
        with psycopg.connect(server.superuser_url.replace("+psycopg", "")) as conn:
            conn.execute("set session_replication_role = replica")
            move = "update engram.agent_events set txid = (pg_current_xact_id()::text::bigint + 1000000)::text::xid8"
            conn.execute(f"{move} where event_id = %s", (event.event_id,))  # type: ignore[arg-type]
        assert not check().ok
        assert seen(book) == []
