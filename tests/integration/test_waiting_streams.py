"""Waiting streams: what is left for derivers is found at once, however much was read before and however much waits."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from book import Book, acting_as, said, together
from plans import nodes

from engram import Engram, derivation, jobs, recall, streams
from engram.channels import tail as tail_channel
from engram.database import Connection, Database, statement
from engram.embedded import EmbeddedServer
from engram.memories import NOW, Moment
from engram.settings import load

DDL: Final = Path(__file__).parents[2] / "alembic" / "ddl" / "0013" / "030_derived.sql"
DERIVERS: Final = derivation.versions()
NAMED: Final[dict[str, Any]] = {
    "derivers": [name for name, _ in DERIVERS],
    "versions": [version for _, version in DERIVERS],
}
DERIVED: Final = tuple(NAMED["derivers"])
# Streams of one event each, as a job leaves them that has read it.
READ: Final = """
    WITH made AS (
      INSERT INTO engram.event_streams
             (tenant_id, stream_id, scope_id, kind, name, position, derivable, derived, recorded_at)
      SELECT %(tenant)s, gen_random_uuid(), %(scope)s, %(kind)s, 'read ' || gen_random_uuid(), 1, 1, %(derived)s, now()
        FROM generate_series(1, %(streams)s)
      RETURNING stream_id)
    INSERT INTO engram.derivations (tenant_id, stream_id, deriver, version, position)
    SELECT %(tenant)s, m.stream_id, d.name, 1, 1 FROM made m CROSS JOIN unnest(%(derivers)s::text[]) d (name)"""


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Engram]:
    """A door that leaves its jobs to workers."""
    with Engram(database_url, settings=load({}, dispatch="doorbell"), embedder="none") as opened:
        yield opened.scoped(tenant_id=tenant)


@pytest.fixture
def book(door: Engram, database: Database) -> Book:
    """The same scope from behind."""
    return Book(database, door.scope.tenant_id)


@pytest.fixture
def owner(server: EmbeddedServer, database_url: str) -> Iterator[psycopg.Connection[Any]]:
    """The superuser, who may write what nobody else may."""
    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
        yield conn


def derived(book: Book) -> list[tuple[int, int, bool]]:
    """How far each stream is appended to, and how far it is known to be derived."""
    query = "SELECT derivable, derived, waiting FROM engram.event_streams WHERE tenant_id = %s ORDER BY created_at"
    return [(row.derivable, row.derived, row.waiting) for row in book.rows(query, book.tenant)]


def mark(book: Book) -> tuple[int, int, int]:
    """Derived, appended and behind."""
    found = book.run(lambda conn: streams.slowest(conn, [book.scope_id], DERIVERS))
    return found.derived, found.head, found.behind


# What is noted at a stream


def test_a_stream_waits_from_an_append_to_its_derivation(door: Engram, book: Book) -> None:
    door.remember("The harbour was grey.", session_id="a")
    assert derived(book) == [(1, 0, True)]
    door.ops.run_jobs()
    assert derived(book) == [(1, 1, False)]
    door.remember("It rained.", session_id="a", derive="skip")
    assert derived(book) == [(1, 1, False)]
    door.remember("The boats stayed in.", session_id="a")
    assert derived(book) == [(3, 1, True)]
    door.ops.run_jobs()
    assert derived(book) == [(3, 3, False)]


def test_a_stream_is_derived_as_far_as_each_deriver_has_read_what_names_it(book: Book) -> None:
    talk = book.stream()

    def moved(deriver: str, old: int, new: int, version: int = 1) -> list[tuple[int, int, bool]]:
        assert book.run(lambda conn: jobs.advance(conn, {jobs.Cursor(talk, deriver, version, old): new}))
        book.run(lambda conn: jobs.mark_derived(conn, [talk]))
        return derived(book)

    nobody, model, rules = {"derive": ()}, {"derive": ("llm",)}, {"derive": ("rules", "llm")}
    book.append(talk, [said("1"), said("2", **nobody), said("3", **model), said("4", **rules), said("5"), said("6")])
    book.run(lambda conn: jobs.mark_derived(conn, [talk]))
    assert derived(book) == [(6, 0, True)]
    assert moved("rules", 0, 1) == [(6, 0, True)], "the other has not read it"
    assert moved("verbatim", 0, 1) == [(6, 3, True)], "two and three are for nobody and for the language model"
    assert moved("verbatim", 1, 5) == [(6, 3, True)]
    assert moved("rules", 1, 4) == [(6, 4, True)]
    assert moved("rules", 4, 6) == [(6, 5, True)]
    assert moved("verbatim", 5, 6, version=2) == [(6, 6, False)], "of a newer version too"
    assert mark(book)[2] == 0


def test_the_mark_never_goes_back_and_never_past_what_was_appended(book: Book, owner: psycopg.Connection[Any]) -> None:
    talk = book.stream()
    book.append(talk, [said("1"), said("2", derive=())])
    book.run(lambda conn: jobs.advance(conn, {jobs.Cursor(talk, name, 1): 2 for name, _ in DERIVERS}))
    book.run(lambda conn: jobs.mark_derived(conn, [talk]))
    assert derived(book) == [(1, 1, False)]
    owner.execute("DELETE FROM engram.derivations WHERE stream_id = %s", (talk,))
    book.append(talk, [said("3")])
    book.run(lambda conn: jobs.mark_derived(conn, [talk]))
    assert derived(book) == [(3, 2, True)]
    with pytest.raises(psycopg.errors.CheckViolation):
        owner.execute("UPDATE engram.event_streams SET derived = 4 WHERE stream_id = %s", (talk,))
    with pytest.raises(psycopg.errors.GeneratedAlways):
        owner.execute("UPDATE engram.event_streams SET waiting = false WHERE stream_id = %s", (talk,))


def test_nobody_marks_the_streams_of_another_tenant(door: Engram, book: Book, database_url: str) -> None:
    door.remember("The harbour was grey.", session_id="a", derive="rules")
    [row] = book.rows("SELECT stream_id FROM engram.event_streams WHERE tenant_id = %s", book.tenant)
    book.run(lambda conn: jobs.advance(conn, {jobs.Cursor(str(row.stream_id), name, 1): 1 for name, _ in DERIVERS}))
    for tenant in ("another", ""):
        with acting_as(database_url, tenant, "engram_app") as conn:
            if tenant:
                conn.execute("SELECT engram.mark_derived(%s)", ([row.stream_id],))
            else:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    conn.execute("SELECT engram.mark_derived(%s)", ([row.stream_id],))
    assert derived(book) == [(1, 0, True)]


def test_what_is_lost_of_a_mark_changes_no_answer_and_is_made_up_for(
    door: Engram, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "mark_derived_after", lambda *_: None)
    door.remember("The harbour was grey.", session_id="a")
    door.remember("It rained.", session_id="b")
    door.ops.run_jobs()
    assert derived(book) == [(1, 0, True), (1, 0, True)]
    found = door.search("harbour")
    assert (found.watermark.behind, [one.derived for one in found]) == (0, [True])
    monkeypatch.undo()
    door.remember("The boats stayed in.", session_id="a")
    door.ops.run_jobs()
    assert derived(book) == [(2, 2, False), (1, 1, False)], "and that of another stream with it"


def test_a_mark_waits_for_nobody(door: Engram, book: Book, owner: psycopg.Connection[Any]) -> None:
    door.remember("The harbour was grey.", session_id="a")
    door.remember("It rained.", session_id="b")
    held = "SELECT FROM engram.event_streams WHERE tenant_id = %s AND name = 'a' FOR NO KEY UPDATE"
    with owner.transaction():
        owner.execute(held, (book.tenant,))
        door.ops.run_jobs()
        assert derived(book) == [(1, 0, True), (1, 1, False)]
        assert mark(book) == (2, 2, 0)
    door.remember("It rained on.", session_id="b")
    door.ops.run_jobs()
    assert derived(book) == [(1, 1, False), (2, 2, False)]


def test_appends_and_derivation_at_once_leave_nothing_unmarked_and_nothing_marked_too_early(
    door: Engram, book: Book
) -> None:
    over = threading.Event()

    def append() -> None:
        try:
            for turn in range(60):
                door.remember(f"Boat {turn} came in.", session_id=f"s{turn % 3}")
        finally:
            over.set()

    def derive() -> None:
        while not over.is_set():
            door.ops.run_jobs()

    def watch() -> int:
        seen = 0
        while not over.is_set():
            # A mark is not ahead of the cursors that one statement sees with it.
            rows = book.rows(
                "SELECT s.derived, min(d.position) AS slowest FROM engram.event_streams s"
                " LEFT JOIN engram.derivations d USING (tenant_id, stream_id)"
                " WHERE s.tenant_id = %s AND s.derived > 0 GROUP BY s.stream_id, s.derived",
                book.tenant,
            )
            assert all(row.derived <= row.slowest for row in rows), rows
            seen += len(rows)
        return seen

    *_, seen = together([append, derive, derive, watch])
    assert seen > 0
    door.ops.run_jobs()
    assert derived(book) == [(20, 20, False)] * 3
    assert door.search("boat").watermark.behind == 0


def test_what_was_there_before_is_marked_by_the_migration(
    door: Engram, book: Book, owner: psycopg.Connection[Any]
) -> None:
    door.remember("The harbour was grey.", session_id="all")
    door.remember("It rained.", session_id="some")
    door.ops.run_jobs()
    door.remember("It rained on.", session_id="some", derive="skip")
    door.remember("The boats stayed in.", session_id="some")
    door.remember("The boats went out.", session_id="none")
    door.remember("Nobody derives from this.", session_id="skipped", derive="skip")
    before = derived(book)
    assert before == [(1, 1, False), (3, 1, True), (1, 0, True), (0, 0, False)]
    owner.execute("UPDATE engram.event_streams SET derived = 0 WHERE tenant_id = %s", (book.tenant,))
    [found] = [one for one in DDL.read_text().split(";\n") if one.strip().startswith("update engram.event_streams s\n")]
    owner.execute(f"{found} AND s.tenant_id = %s", (book.tenant,))  # type: ignore[arg-type]
    assert derived(book) == [(1, 1, False), (3, 2, True), (1, 0, True), (0, 0, False)]
    # Of a stream in which a deriver has no cursor it has read nothing.
    owner.execute("DELETE FROM engram.derivations WHERE tenant_id = %s AND deriver = 'verbatim'", (book.tenant,))
    owner.execute("UPDATE engram.event_streams SET derived = 0 WHERE tenant_id = %s", (book.tenant,))
    again = book.stream("again")
    book.append(again, [said("1"), said("2")])
    book.run(lambda conn: jobs.advance(conn, {jobs.Cursor(again, "verbatim", 1): 2}))
    owner.execute(f"{found} AND s.tenant_id = %s", (book.tenant,))  # type: ignore[arg-type]
    assert [row[1] for row in derived(book)] == [0, 0, 0, 0, 0]


def test_imported_streams_wait_as_they_did_where_they_were(
    door: Engram, book: Book, database: Database, tmp_path: Path
) -> None:
    door.remember("The harbour was grey.", session_id="all")
    door.ops.run_jobs()
    door.remember("The boats stayed in.", session_id="none")
    assert derived(book) == [(1, 1, False), (1, 0, True)]
    door.ops.export(tmp_path / "all.jsonl")
    other = door.scoped(tenant_id=f"{book.tenant}-2")
    other.ops.import_(tmp_path / "all.jsonl")
    there = Book(database, f"{book.tenant}-2")
    assert sorted(derived(there)) == [(1, 0, True), (1, 1, False)]
    assert mark(there) == (1, 2, 1)


# What is read of it


def test_a_watermark_sums_up_all_of_a_hundred_streams_and_of_more_those_that_wait(
    door: Engram, book: Book, owner: psycopg.Connection[Any]
) -> None:
    door.remember("The harbour was grey.", session_id="a")
    fill(owner, book, streams=99)
    assert mark(book) == (99, 100, 1)
    fill(owner, book, streams=1)
    assert mark(book) == (0, 1, 1)
    door.ops.run_jobs()
    assert mark(book) == (0, 0, 0)


def test_a_watermark_counts_up_to_a_thousand_events(door: Engram, book: Book) -> None:
    talk = book.stream()
    book.append(talk, [said(f"{n}", derive=DERIVED if n % 2 else ()) for n in range(500)])
    assert mark(book) == (250, 500, 250)
    for _ in range(2):
        book.append(talk, [said(f"{n}", derive=DERIVED if n % 2 else ()) for n in range(252)])
    assert mark(book)[1:] == (1_004, 1_004), "whatever was appended behind the cursor"


def test_the_newest_of_what_waits_is_found_among_many_streams(
    door: Engram, book: Book, owner: psycopg.Connection[Any]
) -> None:
    fill(owner, book, streams=300)
    for place in range(30):
        door.remember(
            [{"role": "user", "content": f"Boat {place} saw whale {n}."} for n in range(100)], session_id=f"{place}"
        )
    door.remember("The lighthouse keeper is Ines.", session_id="3")
    found = door.search("Who is the lighthouse keeper?", limit=3)
    assert found[0].memory.fact == "The lighthouse keeper is Ines."
    assert not found[0].derived
    assert found.watermark.behind == 3_001
    newest = book.run(lambda conn: tail(conn, book))
    assert len(newest) == 200
    assert [row.recorded_at for row in newest] == sorted((row.recorded_at for row in newest), reverse=True)


@pytest.mark.parametrize("kind", ["session", "document"])
def test_what_was_said_a_moment_ago_in_an_old_stream_is_found_behind_a_thousand_others_that_wait(
    door: Engram, book: Book, owner: psycopg.Connection[Any], kind: str
) -> None:
    door.remember("The lighthouse keeper is Ada.")
    door.ops.run_jobs()
    fill(owner, book, streams=1_100, kind=kind, derived=0)
    door.remember("The lighthouse keeper is Ines.")
    found = door.search("Who is the lighthouse keeper?", limit=5)
    assert "The lighthouse keeper is Ines." in [one.memory.fact for one in found]
    assert found.watermark.behind == 1
    listed = book.run(lambda conn: tail(conn, book))
    assert len(listed) == 1


def test_redacted_events_that_wait_take_no_place_of_others(
    door: Engram, book: Book, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    door.remember([{"role": "user", "content": f"Boat {n} came in."} for n in range(12)], session_id="a")
    for event in door.list_events(limit=20)[-4:]:
        door.ops.redact_event(event.event_id)
    listed = book.run(lambda conn: tail(conn, book, limit=3))
    assert len(listed) == 3


def test_what_waits_comes_with_a_look_and_only_where_it_is_asked_for(door: Engram, book: Book) -> None:
    door.remember([{"role": "user", "content": f"Boat {n} came in."} for n in range(3)], session_id="a")
    asked = recall.prepare("Which boat?")

    def looked(conn: Connection, **how: Any) -> Any:
        moment = how.pop("moment", NOW)
        return recall.look_from(conn, door.scope, [asked, replace(asked, **how)], moment=moment)

    for look, other in (book.run(looked), book.run(lambda conn: looked(conn, tail=False))):
        assert [hit.fact for hit in look.tail] == [f"Boat {n} came in." for n in (2, 1, 0)]
        assert look.sought.terms == other.sought.terms
    assert [len(one.tail) for one in book.run(lambda conn: looked(conn, tail=False))] == [3, 0]
    assert [len(one.tail) for one in book.run(lambda conn: looked(conn, limit=0))] == [3, 0]
    then = Moment(known_at=datetime.now(UTC))
    assert [len(one.tail) for one in book.run(lambda conn: looked(conn, moment=then))] == [0, 0]
    door.ops.run_jobs()
    assert [len(one.tail) for one in book.run(looked)] == [0, 0]


def test_what_waits_is_scored_as_what_is_derived_and_does_without_a_word(door: Engram) -> None:
    for one in ("The red boat came in at noon.", "Die Fähre läuft aus.", "The blue boat sank.", "Nothing else."):
        door.remember(one, session_id="a")
    found = door.search("boat -blue", min_score=0.01)
    assert [one.memory.fact for one in found] == ["The red boat came in at noon."]
    assert found[0].channels["tail"].value > 0
    assert [one.memory.fact for one in door.search("fähre")] == ["Die Fähre läuft aus."]
    assert [one.memory.fact for one in door.search('"came in"')] == ["The red boat came in at noon."]
    deep = door.deep_search("Which boat came in at noon, and which boat sank?", queries=["red boat", "blue boat"])
    assert {one.memory.fact for one in deep} == {"The red boat came in at noon.", "The blue boat sank."}


def test_what_holds_a_refused_word_takes_no_place_of_what_waits(database_url: str, tenant: str) -> None:
    with Engram(database_url, settings=load({}, dispatch="doorbell"), embedder="wordllama") as opened:
        door = opened.scoped(tenant_id=tenant)
        door.remember("The canine slept on the porch.", session_id="a")
        blue = [{"role": "user", "content": f"Blue paint tin number {n}."} for n in range(tail_channel.MOST_EMBEDDED)]
        door.remember(blue, session_id="b")
        assert not [one for one in door.search("sleeping dog", mode="semantic") if "canine" in one.memory.fact]
        for mode in ("semantic", "hybrid"):
            found = door.search("sleeping dog -blue", mode=mode)
            assert [one.memory.fact for one in found] == ["The canine slept on the porch."]
            assert found.channels["tail"] == 1


def test_what_waits_is_found_where_statements_are_logged(door: Engram, caplog: pytest.LogCaptureFixture) -> None:
    door.remember("The red boat came in at noon.", session_id="a")
    caplog.set_level(logging.INFO, logger="sqlalchemy.engine.Engine")
    [found] = door.search("Which boat came in?")
    assert (found.memory.fact, found.channels["tail"].value > 0) == ("The red boat came in at noon.", True)
    assert "The coverage of a question by texts" in caplog.text


def test_what_is_read_grows_neither_with_what_was_read_nor_with_what_waits(
    door: Engram, book: Book, owner: psycopg.Connection[Any]
) -> None:
    door.remember([{"role": "user", "content": f"Boat {n} came in."} for n in range(300)], session_id="waiting")
    fill(owner, book, streams=150)
    owner.execute("ANALYZE engram.event_streams, engram.agent_events, engram.agent_event_payloads, engram.derivations")
    few = pages(book)
    fill(owner, book, streams=3_000)
    for _ in range(9):
        door.remember([{"role": "user", "content": f"Boat {n} came in."} for n in range(300)], session_id="waiting")
    owner.execute("ANALYZE engram.event_streams, engram.agent_events, engram.agent_event_payloads, engram.derivations")
    many = pages(book)
    assert set(few) == {"get_watermark", "tail_events"}
    # A hundred streams are summed up, which stand together where there are few and apart where there are many.
    assert all(many[name] < 1.2 * few[name] + 100 for name in few), (few, many)


def fill(owner: psycopg.Connection[Any], book: Book, *, streams: int, kind: str = "session", derived: int = 1) -> None:
    """Add streams that every deriver has read, and of which that is noted or not."""
    given = {"streams": streams, "kind": kind, "derived": derived}
    values = {"tenant": book.tenant, "scope": book.scope_id, **given, **NAMED}
    with owner.transaction():
        owner.execute("SET LOCAL session_replication_role = replica")
        owner.execute(READ, values)


TAIL: Final = """
    SELECT * FROM engram.tail_events(
      %(tenant_id)s, %(scope_ids)s::bigint[], %(derivers)s::text[], %(versions)s::integer[], %(limit)s)"""


def tail(conn: Any, book: Book, limit: int = 200) -> list[Any]:
    params = {"tenant_id": book.tenant, "scope_ids": [book.scope_id], "limit": limit, **NAMED}
    return list(conn.exec_driver_sql(TAIL, params).all())


def pages(book: Book) -> dict[str, int]:
    """How many pages each statement touches that a search asks for what is not derived."""
    params = {"tenant_id": book.tenant, "scope_ids": [book.scope_id], "limit": 200, **NAMED}
    touched = {}
    with book.database.transaction(book.tenant) as conn:
        for name, text in (("get_watermark", statement("get_watermark")), ("tail_events", TAIL)):
            sql = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + text
            for _ in range(2):
                [[plan]] = conn.exec_driver_sql(sql, params).all()
            top = next(nodes(plan[0]["Plan"]))
            touched[name] = top["Shared Hit Blocks"] + top["Shared Read Blocks"]
    return touched
