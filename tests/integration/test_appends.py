"""The append in one statement does what the steps one by one do, and leaves to them what it cannot do."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import numpy as np
import psycopg
import pytest
import sqlalchemy as sa

from engram import Conflict, Engram, Scope, arrays, database, embedding, jobs, ledger, tenancy
from engram.database import Database
from engram.embedded import EmbeddedServer
from engram.operations import searching_events
from engram.settings import load
from engram.wire import Said, Wire

KEYS = pytest.mark.parametrize("key", [None, "11" * 32], ids=["plain", "keyed"])
AT_ONCE = "-- Append a batch of events to a stream that needs nothing before it"
ONE_BY_ONE = ("-- Where an event that names a session goes", "-- Append a batch of events to one stream")


@pytest.fixture
def statements() -> Iterator[list[str]]:
    """The statements that go to PostgreSQL, as they are sent."""
    sent: list[str] = []

    def note(_: Any, __: Any, text: str, *___: Any) -> None:
        sent.append(text.split("\n", 1)[0])

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    yield sent
    sa.event.remove(sa.Engine, "before_cursor_execute", note)


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The first lines of the statements of each message of this thread, as they are sent."""
    sent: list[list[str]] = []
    monkeypatch.setattr(database, "ANALYZED_AT", frozenset())
    real, own = Wire.say, threading.get_ident()

    def say(wire: Wire, statements: list[Said], **more: Any) -> Any:
        if threading.get_ident() == own:
            sent.append([text.split("\n", 1)[0] for text, _ in statements])
        return real(wire, statements, **more)

    monkeypatch.setattr(Wire, "say", say)
    return sent


def opened(database_url: str, tenant: str, key: str | None = None) -> Engram:
    """A door whose ledger is sealed with a key, or not."""
    settings = load({}, ledger_key=key)
    assert (settings.secret_key is None) == (key is None)
    return Engram(database_url, scope=Scope(tenant, user_id="ada"), settings=settings)


@KEYS
def test_an_append_to_a_stream_that_goes_on_is_one_statement(
    database_url: str, tenant: str, statements: list[str], key: str | None
) -> None:
    with opened(database_url, tenant, key) as door:
        for session in ("monday", None):
            first = door.record_event("The boiler hums.", derive="skip", session_id=session)
            statements.clear()
            second = door.record_event("The boiler hums again.", derive="skip", session_id=session)
            assert [one for one in statements if one.startswith(AT_ONCE)]
            assert not [one for one in statements if one.startswith(ONE_BY_ONE)]
            assert (second.stream_id, second.position) == (first.stream_id, first.position + 1)
        assert door.ops.verify_ledger().ok


@KEYS
def test_an_append_that_makes_nothing_due_is_one_message(
    database_url: str, tenant: str, messages: list[list[str]], monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    monkeypatch.setattr(searching_events, "is_drawn", lambda _: False)  # else ids decide which append looks behind it
    with opened(database_url, tenant, key) as door:
        for session in ("monday", None):
            door.record_event("The boiler hums.", derive="skip", session_id=session)
            messages.clear()
            receipt = door.record_event("The boiler hums again.", derive="skip", session_id=session)
            [message] = messages
            assert message[0].startswith("BEGIN")
            assert message[-2].startswith(AT_ONCE)
            assert message[-1] == "COMMIT"
            assert door.get_event(receipt.event_ids[0]).content == "The boiler hums again."


@KEYS
@pytest.mark.parametrize("many", [1, 3, 7, 15])
def test_a_summary_is_due_at_every_twentieth_event_however_they_come(
    database_url: str, tenant: str, database: Database, key: str | None, many: int
) -> None:
    with opened(database_url, tenant, key) as door:
        for n in range(0, 63, many):
            said = [{"role": "user", "content": f"It hums {m} times."} for m in range(n, n + many)]
            door.remember(said, derive="skip", session_id="monday")
        assert door.ops.verify_ledger().ok
        due = "SELECT position FROM engram.memory_jobs WHERE kind = 'summary' ORDER BY position"
        asked = database.run(tenant, lambda conn: list(conn.exec_driver_sql(due).scalars()))
        ends = [n + many for n in range(0, 63, many)]
        assert asked == [end for end in ends if end // 20 > (end - many) // 20]


def test_an_append_that_asks_for_more_is_not_ended_with_its_statement(
    database_url: str, tenant: str, messages: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(database_url, tenant) as door:
        door.record_event("It hums.", derive="skip", session_id="monday")
        for drawn, given in ((True, {}), (False, {"idempotency_key": "once"})):
            monkeypatch.setattr(searching_events, "is_drawn", lambda _, drawn=drawn: drawn)
            messages.clear()
            door.record_event("It hums still.", derive="skip", session_id="monday", **given)
            assert messages[0][-1].startswith(AT_ONCE)


def test_an_append_that_makes_nothing_due_begins_what_waits_in_the_background(
    database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching_events, "is_drawn", lambda _: False)
    with opened(database_url, tenant) as door:
        door.record_event("It hums.", derive="skip")
        [scope_id] = door._core.database().run(tenant, lambda conn: list(conn.exec_driver_sql(
            "SELECT scope_id FROM engram.memory_scopes WHERE scope_id > 0").scalars()))  # fmt: skip
    with opened(database_url, tenant) as door:
        database = door._core.database()
        database.run(tenant, lambda conn: jobs.add(conn, kind=jobs.EMBED, dedup_key="left", scope_id=scope_id))
        door.record_event("It hums again.", derive="skip")
        until = time.monotonic() + 30
        while door.ops.list_jobs(state="queued") and time.monotonic() < until:
            time.sleep(0.05)
        assert not door.ops.list_jobs(state="queued")


def test_the_same_event_again_is_known_in_one_statement_too(database_url: str, tenant: str) -> None:
    with opened(database_url, tenant) as door:
        door.record_event("It hums.", derive="skip", session_id="monday")
        first = door.record_event("It hums still.", derive="skip", session_id="monday", idempotency_key="again")
        second = door.record_event("It hums still.", derive="skip", session_id="monday", idempotency_key="again")
        assert (second.event_ids, second.position, second.duplicate) == (first.event_ids, first.position, True)
        with pytest.raises(Conflict):
            door.record_event("It whistles.", derive="skip", session_id="monday", idempotency_key="again")
        with pytest.raises(Conflict):
            door.record_event("It whistles.", derive="skip", session_id="monday", expected_position=1)
        assert door.record_event("It whistles.", derive="skip", session_id="monday", expected_position=2).position == 3


def test_what_a_session_needs_before_an_event_is_still_done(database_url: str, tenant: str) -> None:
    with opened(database_url, tenant) as door:
        door.record_event("It hums.", derive="skip", session_id="monday")
        door.end_session("monday", summary="A boiler that hums.")
        door.record_event("It hums again.", derive="skip", session_id="monday")
        [session] = door.list_sessions()
        assert session.ended_at is None  # it goes on with what is written into it
        door.remember("#mem-off my code is 1234", session_id="monday", derive="rules")
        silent = door.remember("I live in Paris.", session_id="monday", derive="rules")
        assert silent.job_ids == ()  # nothing is derived of what is not heard


def test_a_stream_a_key_is_not_for_is_not_written_to(database_url: str, tenant: str, database: Database) -> None:
    with opened(database_url, tenant) as door:
        receipt = door.record_event("It hums.", derive="skip")
        sql = """SELECT count(*) FROM engram.append_at_once('default', 'default', 'ada', NULL, 'scope', 'direct',
                 {stream}, '1 day',
                 NULL, ARRAY[gen_random_uuid()], ARRAY[gen_random_uuid()], '{{user}}', '{{user_message}}',
                 '{{1}}', '{{NULL}}', '{{NULL}}', '{{NULL}}', '{{NULL}}', '{{NULL}}', '{{""}}',
                 ARRAY[decode(repeat('00', 32), 'hex')], ARRAY['{{}}'::bytea], {pads})"""  # fmt: skip

        def count(stream: str, pads: str) -> int:
            given = sql.format(stream=stream, pads=pads)
            return int(database.run(tenant, lambda conn: conn.exec_driver_sql(given).scalar_one()))

        own = f"'{receipt.stream_id}'::uuid"
        assert count("gen_random_uuid()", "NULL, NULL") == 0
        assert count("NULL", "decode(repeat('36', 64), 'hex'), decode(repeat('5c', 64), 'hex')") == 0
        assert count(own, "NULL, NULL") == 1
        assert count("NULL", "NULL, NULL") == 1
        assert database.run(f"{tenant}-other", lambda conn: conn.exec_driver_sql(
            sql.format(stream=own, pads="NULL, NULL")).scalar_one()) == 0  # fmt: skip
        assert door.ops.verify_ledger().ok


READ = """
    SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::integer FROM pg_stat_xact_user_tables
     WHERE relid = 'engram.memory_scopes'::regclass
"""
USERS = """
    INSERT INTO engram.memory_scopes (tenant_id, namespace, agent_id, user_id)
    SELECT tenant_id, namespace, agent_id, 'user ' || n FROM engram.memory_scopes, generate_series(1, 300) n
     WHERE tenant_id = %s
"""


@pytest.mark.parametrize("user", ["ada", None])
def test_an_append_reads_one_scope_however_many_users_a_tenant_has(
    server: EmbeddedServer, database_url: str, database: Database, tenant: str, user: str | None
) -> None:
    scope = Scope(tenant, user_id=user)
    with Engram(database_url, scope=scope, settings=load({})) as door:
        door.record_event("The boiler hums.", derive="skip")
    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
        conn.execute(USERS, (tenant,))
        conn.execute("ANALYZE engram.memory_scopes")

    def read(conn: Any) -> tuple[int, int]:
        found = tenancy.find(conn, scope)
        looked = conn.exec_driver_sql(READ).scalar_one()
        said = ledger.NewEvent("user", "user_message", "The boiler hums again.")
        gap = timedelta(hours=1)
        went = ledger.append_at_once(
            conn, scope=scope, session_id=None, stream=("scope", "direct"), gap=gap, events=[said]
        )  # fmt: skip
        assert went is not None
        assert went.scope_id == found
        return looked, conn.exec_driver_sql(READ).scalar_one() - looked

    looked, appended = database.run(tenant, read)
    assert 1 <= looked < 20, "the planner looks at some, too"
    assert 1 <= appended < 20, "foreign keys are looked up, too"


def test_lists_arrive_as_they_were_sent(database: Database, tenant: str) -> None:
    texts = ['a "quoted" word', "back\\slash", "", "NULL", "{a,b}", "two\nlines", "Zürich ✓", None, "plain"]
    blobs = [b"", b"\0\1", bytes(range(256))]

    def work(conn: Any) -> tuple[Any, ...]:
        asked = "SELECT %s::text[], %s::text[], %s::bytea[], %s::bytea[]"
        given = (arrays.Texts(texts), arrays.Texts([]), arrays.Blobs(blobs), arrays.Blobs([]))
        return tuple(conn.exec_driver_sql(asked, given).one())

    found = database.run(tenant, work)
    assert found == (texts, [], blobs, [])


def test_vectors_arrive_as_they_were_sent(database: Database, tenant: str) -> None:
    rows = [[0.25, -1.0, 3e-5], [1.0, 0.0, 65_504.0]]

    def work(conn: Any) -> tuple[Any, ...]:
        asked = "SELECT %s::halfvec::text, %s::halfvec[]::text[], %s::halfvec[]::text[]"
        given = (embedding.halves(rows[0]), embedding.all_halves(rows), embedding.all_halves([]))
        return tuple(conn.exec_driver_sql(asked, given).one())

    one, several, none = database.run(tenant, work)
    kept = [np.array(row, dtype=np.float16).tolist() for row in rows]
    assert json.loads(one) == pytest.approx(kept[0], rel=1e-5)
    assert [json.loads(each) for each in several] == [pytest.approx(row, rel=1e-5) for row in kept]
    assert none == []


def test_no_list_has_a_null_byte() -> None:
    with pytest.raises(psycopg.DataError):
        arrays.literal(["\0"])
