"""The audit log: who changed what, why, and what undoing it would take back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from quiet import quiet

from engram import AuditEntry, Engram, InvalidInput, Memory, NotFound, Page, Scope


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder="none") as door:
        yield quiet(door)


def added(door: Engram, fact: str, **more: Any) -> Memory:
    memory = door.add(fact, **more).memory
    assert memory is not None
    return memory


def told(entry: AuditEntry) -> dict[str, tuple[Any, Any]]:
    return {one.field: (one.before, one.after) for one in entry.changes}


def test_each_change_says_who_why_and_what_it_did(ada: Engram) -> None:
    memory = added(ada, "User keeps bees", actor="ada", importance=0.5)
    ada.annotate(memory.memory_id, importance=0.9, tags=["hives"], actor="bo", reason="it matters")
    ada.feedback(memory.memory_id, -1, actor="cy", note="wrong")
    ada.ops.archive([memory.memory_id], actor="op", reason="season is over")
    page = ada.ops.audit_log()
    assert Page.from_dict(page.to_dict(), AuditEntry) == page
    archived, rated, annotated, made = page.results
    assert [one.entry for one in (archived, rated, annotated, made)] == ["archived", "rated", "annotated", "added"]
    assert [one.actor for one in (archived, rated, annotated, made)] == ["op", "cy", "bo", "ada"]
    assert told(made) == {"memory": (None, memory.memory_id)}
    assert told(annotated) == {"importance": (0.5, 0.9), "tags": ([], ["hives"])}
    assert told(rated) == {"confidence": (0.5, 0.3)}
    assert told(archived) == {"status": ("active", "archived"), "status_reason": (None, "archived")}
    assert (rated.step, rated.reason, rated.because) == ("feedback", "wrong", "rated down")
    assert (annotated.reason, annotated.run_id, annotated.undo_id) == ("it matters", None, annotated.event_id)
    assert AuditEntry.from_dict(rated.to_dict()) == rated


def test_what_the_log_names_is_what_undo_takes_back(ada: Engram) -> None:
    memory = added(ada, "User keeps bees")
    ada.feedback(memory.memory_id, 1)
    entry = ada.ops.audit_log().results[0]
    report = ada.ops.undo(str(entry.undo_id))
    assert {(one.field, one.before, one.after) for one in report.undone} == {
        (name, after, before) for name, (before, after) in told(entry).items()
    }
    back, rated, _ = ada.ops.audit_log().results
    assert (rated.undone, back.step, told(back)) == (True, "undo", {"confidence": (0.65, 0.5)})


def test_what_was_erased_is_not_offered_to_be_undone(ada: Engram) -> None:
    memory = added(ada, "User keeps bees")
    ada.ops.erase(memories=[memory.memory_id])
    erased, made = ada.ops.audit_log().results
    assert (erased.entry, erased.undo_id, made.entry, made.undo_id) == ("erased", None, "added", made.event_id)


def test_why_something_was_recorded_stands_in_its_events_and_with_what_was_derived(ada: Engram) -> None:
    receipts = [
        ada.remember("I live in Lyon.", reason="onboarding"),
        ada.record_event("I play chess.", payload={"form": 7}, reason="a survey"),
        ada.record_turn(
            "My cat is called Miso.", "Noted.", tool_calls=[{"name": "look", "result": "a cat"}], reason="a chat"
        ),
    ]
    ada.ops.run_jobs()
    events = [[ada.get_event(one).payload for one in receipt.event_ids] for receipt in receipts]
    assert [{one["reason"] for one in of} for of in events] == [{"onboarding"}, {"a survey"}, {"a chat"}]
    assert events[1] == [{"form": 7, "reason": "a survey"}]
    told = {one.fact: one.reason for one in ada.ops.audit_log()}
    assert {why for fact, why in told.items() if "Lyon" in fact} == {"onboarding"}
    assert {why for fact, why in told.items() if "Miso" in fact} == {"a chat"}
    assert ada.remember("I live in Lyon.", reason="onboarding", idempotency_key="k").duplicate is False
    assert ada.remember("I live in Lyon.", reason="onboarding", idempotency_key="k").duplicate
    with pytest.raises(InvalidInput, match="payload"):
        ada.record_event("I play chess.", payload={"reason": "mine"}, reason="a survey")
    ada.ops.redact_event(receipts[0].event_ids[0])
    assert "onboarding" not in repr(ada.list_events(limit=3))


def test_a_revision_names_what_it_replaced(ada: Engram) -> None:
    old = added(ada, "Current sprint: 42", topic_key="sprint")
    new = added(ada, "Current sprint: 43", topic_key="sprint")
    entries = {one.memory_id: one for one in ada.ops.audit_log(limit=2)}
    assert told(entries[new.memory_id]) == {"memory": (old.memory_id, new.memory_id)}
    assert told(entries[old.memory_id])["status"] == ("active", "superseded")


def test_the_log_is_asked_by_memory_author_and_time(ada: Engram) -> None:
    bees, ketch = added(ada, "User keeps bees", actor="ada"), added(ada, "User sails a ketch", actor="bo")
    assert [one.memory_id for one in ada.ops.audit_log(memory_id=bees.short_id)] == [bees.memory_id]
    assert [one.memory_id for one in ada.ops.audit_log(actor="bo")] == [ketch.memory_id]
    assert not ada.ops.audit_log(actor="cy").results
    at = ada.ops.audit_log().results[0].at
    assert [one.memory_id for one in ada.ops.audit_log(since=at)] == [ketch.memory_id]
    assert [one.memory_id for one in ada.ops.audit_log(until=at)] == [bees.memory_id]
    with pytest.raises(InvalidInput, match="until"):
        ada.ops.audit_log(since=at, until=at)


def test_the_log_comes_in_pages(ada: Engram) -> None:
    made = [added(ada, f"Fact number {place} of the log").memory_id for place in range(5)]
    found, cursor = [], None
    while True:
        page = ada.ops.audit_log(limit=2, cursor=cursor)
        found += [one.memory_id for one in page]
        cursor = page.cursor
        if cursor is None:
            break
    assert found == made[::-1]
    first = ada.ops.audit_log(limit=2).cursor
    with pytest.raises(InvalidInput, match="cursor"):
        ada.ops.audit_log(limit=2, cursor=first, actor="bo")
    assert not ada.ops.audit_log(limit=0).results


def test_the_log_shows_nobody_anothers_private_memory(ada: Engram, tenant: str) -> None:
    shared, own = ada.scoped(user_id=None), added(ada, "User keeps bees", private=True)
    private = added(shared, "The agent broods", private=True)
    assert [one.memory_id for one in ada.ops.audit_log()] == [own.memory_id]
    with pytest.raises(NotFound):
        ada.ops.audit_log(memory_id=private.memory_id)
    assert not ada.scoped(user_id="bo").ops.audit_log(since=datetime.now(UTC) - timedelta(days=1)).results
