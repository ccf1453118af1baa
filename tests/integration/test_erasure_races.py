"""Erasing what is being derived: whatever read an event before it was erased writes nothing of it afterwards."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from waiting import until_a_lock_is_waited_for

from engram import Engram, MemoryPolicy, Scope, checkpoints, jobs, tenancy
from engram.channels import keyword
from engram.embedded import EmbeddedServer
from engram.jobs import Job
from engram.llm import Completion
from engram.operations import deriving
from engram.settings import load
from engram.testing import ScriptedModel

Doors = Callable[..., Engram]
NOON = datetime(2026, 6, 10, 12, tzinfo=UTC)


@pytest.fixture
def doors(database_url: str, tenant: str) -> Iterator[Doors]:
    """Doors of one tenant that leave their jobs lying."""
    with ExitStack() as stack:

        def opened(llm: Any = None, **more: Any) -> Engram:
            settings = load({}, dispatch="doorbell", pool_size=16)
            scope = Scope(tenant, user_id="ada")
            return stack.enter_context(
                Engram(database_url, scope=scope, settings=settings, embedder="none", llm=llm, **more)
            )

        yield opened


def places_of(server: EmbeddedServer, tenant: str, word: str) -> list[str]:
    """The tables with a row of a tenant that holds a word, in text or in bytes."""
    with psycopg.connect(server.superuser_url.replace("+psycopg", "")) as conn:
        tables = conn.execute(
            "select c.oid::regclass::text from pg_class c join pg_attribute a on a.attrelid = c.oid"
            " where c.relnamespace = 'engram'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition"
            " and a.attname = 'tenant_id'"
        ).fetchall()
        found = []
        for (table,) in tables:
            rows = f"select count(*) from {table} t where tenant_id = %s and (t::text ilike %s or t::text like %s)"
            in_bytes = f"%{word.encode().hex()}%"
            if conn.execute(rows, (tenant, f"%{word}%", in_bytes)).fetchone()[0]:  # type: ignore[index]
                found.append(table)
        return found


def erased_before_words_are_written(monkeypatch: pytest.MonkeyPatch, door: Engram, event_id: str) -> threading.Thread:
    """Erase an event from another thread, when somebody has read words and is about to write them."""
    erasing = threading.Thread(target=door.ops.redact_event, args=(event_id,))
    write = keyword.index_all

    def erased_meanwhile(conn: Any, tenant_id: str, several: Any) -> None:
        if threading.current_thread() is not erasing and not erasing.ident:
            erasing.start()
            erasing.join(0.5)
        write(conn, tenant_id, several)

    monkeypatch.setattr(keyword, "index_all", erased_meanwhile)
    return erasing


def drained(door: Engram) -> None:
    while door.ops.run_jobs(limit=100):
        pass


def test_rules_that_read_an_event_before_it_was_erased_write_nothing_of_it(
    doors: Doors, server: EmbeddedServer, tenant: str
) -> None:
    door = doors()
    first, second = door.remember("I live in Zanzibar."), door.remember("I like tea.")
    database, setup = door._core.database(), door._setup

    def claimed(conn: Any) -> Job:
        [job] = jobs.claim_these(conn, [one.job_id for one in jobs.list_jobs(conn, kinds=["derive"])][:1])
        return job

    job = database.run(tenant, claimed, key=None)
    slow = deriving.derive(setup, job)
    result = door._core._do(next(slow))
    door.ops.redact_event(first.event_ids[0])
    with suppress(StopIteration):
        while True:
            result = door._core._do(slow.send(result))
    drained(door)
    assert places_of(server, tenant, "anzibar") == []
    assert any("tea" in memory.fact for memory in door.list_memories()), second


def test_what_is_erased_while_words_are_read_anew_does_not_come_back(
    doors: Doors, server: EmbeddedServer, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    door, other = doors(), doors()
    said = [door.remember(f"The {name} sings {name}s.", session_id="s") for name in ("crow", "qanary", "thrush")]
    drained(door)
    assert "engram.memory_lexemes" in places_of(server, tenant, "qanar")
    erasing = erased_before_words_are_written(monkeypatch, other, said[1].event_ids[0])
    door.ops.reindex_words("simple")
    erasing.join()
    assert places_of(server, tenant, "qanar") == []


@pytest.mark.parametrize("private", [True, False])
def test_what_is_erased_beside_what_is_made_private_or_public_lends_no_words(
    doors: Doors, server: EmbeddedServer, tenant: str, monkeypatch: pytest.MonkeyPatch, private: bool
) -> None:
    door, other = doors(), doors()
    said = [door.remember(f"The {name} sings {name}s.", session_id="s") for name in ("crow", "qanary", "thrush")]
    drained(door)
    [crow] = [one.memory_id for one in door.list_memories() if "crow" in one.fact]
    door.annotate(crow, private=not private)
    erasing = erased_before_words_are_written(monkeypatch, other, said[1].event_ids[0])
    door.annotate(crow, private=private)
    assert erasing.ident
    erasing.join()
    assert places_of(server, tenant, "qanar") == []


def test_who_makes_a_memory_private_beside_an_erasure_keeps_nobody_waiting(
    doors: Doors, server: EmbeddedServer, tenant: str
) -> None:
    """It waits before it holds anything: an erasure has to write into the stream that the change is told in."""
    door = doors()
    made = door.add("The crow sings crows").memory
    assert made is not None
    scope_id = door._core.database().run(tenant, lambda conn: tenancy.find(conn, door.scope))
    plain = server.superuser_url.replace("+psycopg", "")
    with psycopg.connect(plain) as erasing, psycopg.connect(plain, autocommit=True) as superuser:
        erasing.execute("select pg_advisory_xact_lock(hashtextextended(%s, 7))", (f"{tenant}/{scope_id}/replay",))
        hiding = threading.Thread(target=door.annotate, args=(made.memory_id,), kwargs={"private": True})
        hiding.start()
        until_a_lock_is_waited_for(superuser)
        erasing.execute("set local lock_timeout = '500ms'")
        erasing.execute(
            "select from engram.event_streams where tenant_id = %s and scope_id = %s for update", (tenant, scope_id)
        )
    hiding.join()
    assert door.get(made.memory_id).private


def test_what_is_erased_while_words_are_counted_is_counted_no_more(
    doors: Doors, server: EmbeddedServer, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    door, other = doors(), doors()
    door.add_many([{"fact": f"Qanary {n} sings in cage {n * 31}", "force": True} for n in range(8)])
    database = door._core.database()

    def ask(conn: Any) -> None:
        scope_id = tenancy.find(conn, door.scope)
        jobs.add(conn, kind="upkeep", dedup_key="one", scope_id=scope_id)

    monkeypatch.setattr(keyword, "LARGE", 5)
    database.run(tenant, ask, key="ask")
    erasing = threading.Thread(target=other.ops.erase, kwargs={"user": "ada"})
    count = keyword.refresh_terms

    def erased_meanwhile(*given: Any) -> int:
        counted = count(*given)
        erasing.start()
        erasing.join(1)
        return counted

    monkeypatch.setattr(keyword, "refresh_terms", erased_meanwhile)
    assert door.ops.run_jobs() >= 1
    erasing.join()
    assert places_of(server, tenant, "qanar") == []


def test_a_model_that_read_an_event_before_it_was_erased_has_written_nothing_of_it(
    doors: Doors, server: EmbeddedServer, tenant: str
) -> None:
    said: list[str] = []

    def answer(_asked: Any) -> Any:
        if said:
            door.ops.redact_event(said.pop())
        return {"facts": [{"turn": 1, "fact": "User lives in Zanzibar", "quote": "I live in Zanzibar"}]}

    door = doors(ScriptedModel(answer))
    said += door.remember("I live in Zanzibar.", derive="llm").event_ids
    drained(door)
    assert places_of(server, tenant, "anzibar") == []


class Redactor:
    """A model that has an event erased while it thinks of a checkpoint, and says a word of it."""

    name = "redactor"

    def __init__(self, erase: Callable[[], object]) -> None:
        self.erase = erase

    def complete(self, messages: Any, *, schema: Any, max_tokens: int, deadline: float) -> Completion:
        heard = "Zanzibar" if any("Zanzibar" in message["content"] for message in messages) else "Nothing"
        if heard == "Zanzibar":
            self.erase()
        said = {"summary": f"{heard} was mentioned", **{name: [] for name in checkpoints.LISTS}}
        return Completion(json.dumps(said), self.name, 1, 1, 0, None, "stop")


@pytest.mark.parametrize("carried", [False, True])
def test_a_checkpoint_begun_before_an_erasure_is_not_written(
    doors: Doors, server: EmbeddedServer, tenant: str, carried: bool
) -> None:
    ada = doors()
    run = ada.start_task("Paint the keel").task_run_id
    said = ada.record_event("Zanzibar", event_type="agent_action", task_run_id=run).event_ids[0]
    if carried:
        ada.save_checkpoint(run, "Zanzibar", source_event_ids=[said])
    ada.record_event("Sanded", event_type="agent_action", task_run_id=run)
    ada.update_task(run, status="paused")
    door = doors(Redactor(lambda: ada.ops.redact_event(said)))
    drained(door)
    assert places_of(server, tenant, "anzibar") == []
    assert ada.list_checkpoints(run)[0].summary == "Nothing was mentioned"


def test_what_a_successor_took_over_goes_with_the_event_that_said_it(
    doors: Doors, server: EmbeddedServer, tenant: str
) -> None:
    door = doors()
    with door.session(metadata={"phone": "zanzibar"}) as bound:
        bound.remember("Hello.")
        name = bound.session_id
    with psycopg.connect(server.superuser_url.replace("+psycopg", "")) as conn:
        conn.execute("set local session_replication_role = replica")
        conn.execute(
            "update engram.event_streams set recorded_at = recorded_at - interval '1 hour' where tenant_id = %s",
            (tenant,),
        )
    door.remember("Hello again.", session_id=name)
    first = min(door.list_sessions(), key=lambda one: one.started_at)
    assert [one.metadata for one in door.list_sessions()] == [{"phone": "zanzibar"}] * 2
    door.ops.redact_event(door.list_events(session_id=first.session_id)[0].event_id)
    assert places_of(server, tenant, "anzibar") == []


# ------------------------------------------------ what a model understood by an event


def mover(asked: Any) -> Any:
    """A model that knows who moved when it is shown it, and finds nothing else."""
    if asked.schema.__name__ != "Extraction":
        return {"decisions": []}
    turns = [line for line in asked.text.splitlines() if line.startswith('{"turn"')]
    place = next((number for number, line in enumerate(turns, 1) if "moved to Oslo" in line), None)
    who = "Zanzibar Smith" if "Zanzibar" in asked.text else "User's brother"
    facts = [{"turn": place, "fact": f"{who} moved to Oslo", "quote": "He moved to Oslo"}] if place else []
    if any("kettle" in line for line in turns):
        facts.append({"turn": 1, "fact": "The kettle of the office is broken", "quote": "that kettle gave up"})
    return {"facts": facts}


def of_model(door: Engram) -> dict[str, str]:
    return {memory.fact: memory.memory_id for memory in door.list_memories() if memory.deriver == "llm"}


@pytest.mark.parametrize("together", [True, False])
def test_what_a_model_understood_by_an_erased_event_goes_with_it_and_is_read_again_without(
    doors: Doors, server: EmbeddedServer, tenant: str, together: bool
) -> None:
    model = ScriptedModel(mover)
    door = doors(model)
    door.remember("Well, that kettle gave up.", derive="llm")
    drained(door)
    before = of_model(door)
    first = door.remember("My brother is Zanzibar Smith.", derive="llm")
    if not together:
        drained(door)
    door.remember("He moved to Oslo.", derive="llm")
    drained(door)
    assert len(before) == 1
    assert set(of_model(door)) == {*before, "Zanzibar Smith moved to Oslo"}
    done = door.ops.redact_event(first.event_ids[0])
    assert places_of(server, tenant, "anzibar") == [], "at once, not when a job has run"
    assert len(done.rederived_jobs) == 1
    drained(door)
    assert of_model(door).keys() == {*before, "User's brother moved to Oslo"}
    assert {fact: of_model(door)[fact] for fact in before} == before, "what was said earlier is left alone"
    asked = len(model.asked)
    assert "events" not in door.ops.redact_event(first.event_ids[0]).erased
    drained(door)
    assert (len(model.asked), len(of_model(door))) == (asked, 2)
    assert door.ops.verify_ledger().ok


def test_an_answer_that_was_paid_for_by_the_same_words_of_another_is_erased_with_either(doors: Doors) -> None:
    model = ScriptedModel(mover)
    ada = doors(model)
    bob = ada.scoped(user_id="bob")
    said = {}
    for door in (ada, bob):
        said[door] = door.remember("My brother is Zanzibar Smith.", derive="llm", occurred_at=NOON).event_ids[0]
        door.remember("He moved to Oslo.", derive="llm", occurred_at=NOON)
        drained(ada)
    assert len(model.asked) == 1
    assert set(of_model(ada)) == set(of_model(bob)) == {"Zanzibar Smith moved to Oslo"}
    bob.ops.redact_event(said[bob])
    assert (set(of_model(ada)), set(of_model(bob))) == ({"Zanzibar Smith moved to Oslo"}, set())
    drained(ada)
    assert (set(of_model(ada)), set(of_model(bob))) == (
        {"Zanzibar Smith moved to Oslo"}, {"User's brother moved to Oslo"},
    )  # fmt: skip


def test_what_was_refused_of_an_event_forgets_what_it_knew_of_an_erased_one(
    doors: Doors, server: EmbeddedServer, tenant: str
) -> None:
    policy = MemoryPolicy("own", unverified="reject")
    answer = {"facts": [{"turn": 2, "fact": "Zanzibar Smith moved", "quote": "nobody said this"}]}
    door = doors(ScriptedModel(answer), policy=policy)
    first = door.remember("My brother is Zanzibar Smith.", derive="llm")
    door.remember("He moved to Oslo.", derive="llm")
    drained(door)
    assert "engram.memory_changes" in places_of(server, tenant, "anzibar")
    door.ops.redact_event(first.event_ids[0])
    assert places_of(server, tenant, "anzibar") == []


def test_what_a_model_heard_twice_is_read_again_from_the_event_that_is_left(doors: Doors) -> None:
    def hears(asked: Any) -> Any:
        quote = next(one for one in ("gliding is my life", "nothing beats gliding") if one in asked.text)
        return {"facts": [{"turn": 1, "fact": "User adores gliding", "quote": quote}]}

    model = ScriptedModel(hears)
    door = doors(model)
    first = door.remember("Honestly, gliding is my life.", derive="llm", session_id="s").event_ids[0]
    drained(door)
    second = door.remember("As they say, nothing beats gliding.", derive="llm", session_id="t").event_ids[0]
    drained(door)
    [made] = [memory for memory in door.list_memories() if memory.deriver == "llm"]
    assert {one.event_id for one in made.citations} == {first, second}
    done = door.ops.redact_event(first)
    assert len(done.rederived_jobs) == 1
    asked = len(model.asked)
    drained(door)
    assert len(model.asked) == asked, "what it answered was paid for"
    [left] = [memory for memory in door.list_memories() if memory.deriver == "llm"]
    assert (left.fact, [one.event_id for one in left.citations]) == ("User adores gliding", [second])
