"""Redaction: what an event said is gone from everywhere it was copied to, and the chain still holds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from quiet import quiet
from traces import hits, tables_with

from engram import Engram, NotFound, Scope
from engram.embedded import EmbeddedServer

CANARY = "zanzibar-canary-4711"


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        yield quiet(door)


def test_a_redacted_message_is_nowhere_and_the_chain_still_holds(server: EmbeddedServer, ada: Engram) -> None:
    ada.remember("I like the sea.", session_id="s")
    said = ada.remember(f"My favourite boat is called {CANARY}.", session_id="s")
    ada.remember("It is blue.", session_id="s")
    ada.add(f"User's favourite boat is called {CANARY} too")
    assert tables_with(server, CANARY) != []
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
    assert tables_with(server, CANARY) == []
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
    assert second.redaction_event_ids == first.redaction_event_ids
    assert (first.erased["events"], second.erased.get("events"), second.clean) == (1, None, True)


# Forty canaries, through every door ----------------------------------------------------------------------------------


def canary(number: int) -> str:
    """A word that occurs nowhere else, as one token, so that an index of words holds it too."""
    return f"qanary{number:02}zx"


def spread(door: Engram) -> dict[int, list[str]]:
    """A canary through every door: the number of each, and the events to redact."""
    said: dict[int, list[str]] = {}
    before = {event.event_id for event in door.list_events(limit=200)}

    def newly(*numbers: int) -> None:
        events = [event.event_id for event in door.list_events(limit=200) if event.event_id not in before]
        before.update(events)
        assert events
        for number in numbers:
            said[number] = events

    c = canary
    door.remember(f"My favourite boat is called {c(1)}.", session_id="s")
    newly(1)
    door.remember([{"role": "user", "content": f"I live near {c(2)}.", "metadata": {"note": c(3)},
                    "payload": {"where": c(4)}}], session_id="s")  # fmt: skip
    newly(2, 3, 4)
    run = door.start_task(f"Paint the {c(5)}", metadata={"colour": c(6)}, reason=f"for {c(7)}").task_run_id
    newly(5, 6, 7)
    door.record_turn(
        f"Use the {c(8)} brush", f"I used the {c(9)} brush", task_run_id=run, metadata={"note": c(10)},
        tool_calls=[
            {"name": "brush", "arguments": {"size": c(11)}, "result": f"wet {c(12)}"},
            {"name": "dry", "arguments": {"how": c(13)}},
        ],
        artifacts=[{"name": f"{c(14)}.md", "content": f"1. {c(15)}"}],
    )  # fmt: skip
    newly(*range(8, 16))
    door.record_event(f"Blue {c(16)}", event_type="decision", task_run_id=run, payload={"why": c(17)})
    door.record_event(f"No more {c(18)}", event_type="error", task_run_id=run)
    newly(16, 17, 18)
    door.save_checkpoint(
        run, f"Half {c(19)}", completed_steps=[c(20)], pending_steps=[c(21)], decisions=[c(22)], blockers=[c(23)],
        artifacts=[c(24)], state={"deep": {c(25): c(26)}}, reason=f"because {c(27)}",
    )  # fmt: skip
    newly(*range(19, 28))
    door.update_task(run, status="paused", outcome=f"Dried {c(28)}", metadata={"coats": c(29)})
    newly(28, 29)
    door.add(
        f"The varnish is {c(30)}", tags=[c(31)], metadata={"maker": c(32)}, main_content=f"On the tin: {c(33)}",
        source=c(34), critical_slot=f"fact:{c(35)}", subject=c(36), attribute="kind", value=c(37),
    )  # fmt: skip
    newly(*range(30, 38))
    door.add(f"The anchor is {c(38)}", topic_key=f"anchor {c(39)}")
    newly(38, 39)
    door.end_session("s", summary=f"We spoke of {c(40)}")
    newly(40)
    return said


@pytest.mark.slow  # test_canaries looks for two hundred
def test_forty_canaries_through_every_door_are_nowhere_after_they_were_redacted(
    server: EmbeddedServer, ada: Engram
) -> None:
    bystander = ada.scoped(user_id="bob")
    bystander.remember("I like the sea.", session_id="s")
    untouched = repr([bystander.list_memories(), bystander.list_events()])
    said = spread(ada)
    ada.ops.run_jobs(limit=200)
    words = [canary(number) for number in range(1, 41)]
    assert sorted(said) == list(range(1, 41))
    assert sorted(hits(server, words)) == words, "each is somewhere before"
    where = hits(server, words)
    assert {place.split(".")[0] for places in where.values() for place in places} >= {
        "agent_event_payloads", "agent_memory", "agent_task_runs", "agent_checkpoints", "agent_sessions",
        "memory_lexemes", "memory_changes",
    }  # fmt: skip
    for event_id in dict.fromkeys(event_id for events in said.values() for event_id in events):
        ada.ops.redact_event(event_id)
    ada.ops.run_jobs(limit=200)
    assert hits(server, words) == {}
    assert repr([bystander.list_memories(), bystander.list_events()]) == untouched
    assert ada.ops.verify_ledger().ok
    [run] = ada.list_tasks()
    assert (run.goal, run.outcome, run.metadata, run.status) == ("", None, {}, "paused")
    kept = ada.list_checkpoints(run.task_run_id)
    assert kept
    assert all(one.erased and one.summary == "" for one in kept), "the versions keep their places"


def test_redacting_one_event_of_a_run_leaves_what_rests_on_others(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    [first] = ada.record_event(f"The {CANARY} is wet", event_type="agent_action", task_run_id=run).event_ids
    [second] = ada.record_event("The deck is dry", event_type="agent_action", task_run_id=run).event_ids
    named = ada.save_checkpoint(run, "Deck", source_event_ids=[second])
    unnamed = ada.save_checkpoint(run, "Everything so far")
    early = ada.save_checkpoint(run, "Before it", position=1)
    done = ada.ops.redact_event(first)
    erased = {one.version: one.erased for one in ada.list_checkpoints(run)}
    assert (erased[named.version], erased[unnamed.version], erased[early.version]) == (False, True, False)
    assert len(done.rederived_jobs) == 1, "another checkpoint is made of what remains"
    resumed = ada.resume_task(run)
    assert resumed.checkpoint is not None
    assert CANARY not in repr(resumed)


def test_a_checkpoint_made_from_one_that_rested_on_a_redacted_event_is_erased_with_it(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    [first] = ada.record_event(f"Use {CANARY}", event_type="decision", task_run_id=run).event_ids
    ada.update_task(run, status="paused")
    ada.resume_task(run)
    ada.record_event("Use blue", event_type="decision", task_run_id=run)
    ada.update_task(run, status="paused")
    newest, oldest = ada.list_checkpoints(run)
    assert newest.decisions == (f"Use {CANARY}", "Use blue")
    assert first not in newest.source_event_ids
    ada.ops.redact_event(first)
    again, *rest = ada.list_checkpoints(run)
    assert [one.version for one in rest if one.erased] == [newest.version, oldest.version]
    assert (again.erased, again.decisions, again.version) == (False, ("Use blue",), 3)


def test_what_else_a_memory_rested_on_is_derived_again_once(ada: Engram) -> None:
    [first] = ada.remember("I am allergic to peanuts.").event_ids
    again = ada.remember("I am allergic to peanuts.")
    direct = ada.add("User is allergic to peanuts")
    assert [decision.kind for decision in again.decisions if decision.kind == "reinforce"]
    assert direct.kind == "reinforce"
    before = ada.recall("What am I allergic to?").current
    assert before is not None
    assert len(before.citations) == 3
    done = ada.ops.redact_event(first)
    assert done.rederived_jobs
    now = ada.recall("What am I allergic to?").current
    assert now is not None
    assert (now.fact, now.memory_id != before.memory_id) == (before.fact, True)
    assert {one.event_id for one in now.citations} == {one.event_id for one in before.citations} - {first}
    assert ada.ops.run_jobs() == 0
    assert len([one for one in ada.list_memories(limit=200) if one.fact == before.fact]) == 1
    assert "events" not in ada.ops.redact_event(first).erased
    assert len([one for one in ada.list_memories(limit=200) if one.fact == before.fact]) == 1


def test_what_an_event_left_on_a_memory_of_another_is_taken_away(server: EmbeddedServer, ada: Engram) -> None:
    made = ada.add("The keel is painted", tags=["boat"], metadata={"coats": 1}).memory
    assert made is not None
    before = {event.event_id for event in ada.list_events()}
    ada.annotate(made.memory_id, tags=["boat", "qanary77"], metadata={"note": "qanary77"}, reason="qanary77")
    ada.add("The keel is painted", tags=["qanary78"])
    for event in ada.list_events():
        if event.event_id not in before:
            ada.ops.redact_event(event.event_id)
    assert hits(server, ["qanary77", "qanary78"]) == {}
    stands = ada.get(made.memory_id)
    assert (stands.fact, stands.tags, stands.metadata) == ("The keel is painted", ("boat",), {"coats": 1})
