"""Redaction: what an event said is gone from everywhere it was copied to, and the chain still holds."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from engram import Engram, NotFound, Scope
from engram.embedded import EmbeddedServer

CANARY = "zanzibar-canary-4711"


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        yield door


def rows_that_hold(server: EmbeddedServer, text: str) -> list[str]:
    """The tables in which a text can still be read, by looking at every row as the superuser."""
    plain = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    held = []
    with psycopg.connect(plain) as conn:
        tables = conn.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'engram'").fetchall()
        for (table,) in tables:
            found = conn.execute(
                f'SELECT count(*) FROM engram."{table}" t WHERE t::text ILIKE %s OR t::text LIKE %s',  # type: ignore[arg-type]
                (f"%{text}%", f"%{text.encode().hex()}%"),
            ).fetchone()
            if found and found[0]:
                held.append(table)
    return held


def test_a_redacted_message_is_nowhere_and_the_chain_still_holds(server: EmbeddedServer, ada: Engram) -> None:
    ada.remember("I like the sea.", session_id="s")
    said = ada.remember(f"My favourite boat is called {CANARY}.", session_id="s")
    ada.remember("It is blue.", session_id="s")
    ada.add(f"User's favourite boat is called {CANARY} too")
    assert rows_that_hold(server, CANARY) != []
    made = [decision.memory for decision in said.decisions if decision.memory is not None]
    assert len(made) == 2
    others = [
        event
        for event in ada.list_events()
        if CANARY in f"{event.content}{event.payload}" and event.event_id not in said.event_ids
    ]
    ada.ops.redact_event(said.event_ids[0], reason="asked to")
    for event in others:
        ada.ops.redact_event(event.event_id)
    assert rows_that_hold(server, CANARY) == []
    assert ada.get_event(said.event_ids[0]).erased
    for memory in made:
        stored = ada.get(memory.memory_id)
        assert (stored.fact, stored.status, stored.status_reason) == ("", "deleted", "erased")
    assert not [one for one in ada.search("favourite boat") if "boat" in one.memory.fact]
    assert len(ada.search("the sea")) > 0
    report = ada.ops.verify_ledger()
    assert (report.ok, report.erased) == (True, 1 + len(others))


def test_erasing_the_newest_value_does_not_bring_the_older_one_back(ada: Engram) -> None:
    ada.remember("I live in Ottawa.")
    said = ada.remember("I live in Toronto.")
    head = next(d.memory for d in said.decisions if d.memory is not None and d.memory.conflict_key)
    ada.ops.redact_event(said.event_ids[0])
    with pytest.raises(NotFound):
        ada.get_current(head.memory_id)
    answer = ada.recall("Where do I live?")
    assert (answer.current, answer.answer_text) == (None, "Formerly: User lives in Ottawa")


def test_redacting_again_gives_the_first_redaction_back(ada: Engram) -> None:
    said = ada.remember("I like the sea.")
    first = ada.ops.redact_event(said.event_ids[0])
    second = ada.ops.redact_event(said.event_ids[0])
    assert (second.duplicate, second.event_ids) == (True, first.event_ids)
