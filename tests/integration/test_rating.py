"""Feedback: ratings move the confidence of memories, are told, undone, and in the end put a memory away."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from quiet import quiet

from engram import (
    Conflict,
    Engram,
    IdempotencyMismatch,
    InvalidInput,
    LimitExceeded,
    Memory,
    MemoryPolicy,
    NotFound,
    Scope,
)
from engram.lifecycle import feedback as rules
from engram.policies import get_policy


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder="none") as door:
        yield quiet(door)


def added(door: Engram, fact: str, **more: Any) -> Memory:
    memory = door.add(fact, **more).memory
    assert memory is not None
    return memory


# (where it starts, the ratings, the confidence after each, whether it is archived in the end)
SEQUENCES = [
    (0.5, "---", (0.3, 0.1, 0.0), True),
    (0.5, "++++", (0.65, 0.8, 0.95, 1.0), False),
    (0.5, "--+-", (0.3, 0.1, 0.25, 0.05), True),
    (1.0, "---", (0.8, 0.6, 0.4), False),
]


@pytest.mark.parametrize(
    ("start", "ratings", "after", "gone"), SEQUENCES, ids=[one[1] + str(one[0]) for one in SEQUENCES]
)
def test_each_rating_moves_the_confidence_by_its_step(
    ada: Engram, start: float, ratings: str, after: tuple[float, ...], gone: bool
) -> None:
    memory = added(ada, "User keeps bees", confidence=start)
    found = []
    for mark in ratings:
        (rated,) = ada.feedback(memory.memory_id, 1 if mark == "+" else -1)
        found.append(rated.confidence)
        assert (rated.status == "archived") is (gone and len(found) == len(ratings))
    assert found == pytest.approx(after, abs=1e-9)
    now = ada.get(memory.memory_id)
    assert (now.activity.positive, now.activity.negative) == (ratings.count("+"), ratings.count("-"))
    assert (now.status, now.status_reason) == (("archived", "feedback") if gone else ("active", None))
    assert bool(ada.list_memories().results) is not gone


def test_ratings_are_clamped_at_each_step_and_not_at_the_end(ada: Engram) -> None:
    memory = added(ada, "User keeps bees", confidence=0.9)
    ratings: tuple[rules.Rating, ...] = (1, 1, -1)
    for value in ratings:
        ada.feedback(memory.memory_id, value)
    assert ada.get(memory.memory_id).confidence == pytest.approx(0.8)


def test_two_ratings_down_are_not_enough(ada: Engram) -> None:
    memory = added(ada, "User keeps bees", confidence=0.2)
    for _ in range(2):
        ada.feedback(memory.memory_id, -1)
    now = ada.get(memory.memory_id)
    assert (now.confidence, now.status) == (0.0, "active")
    assert ada.feedback(memory.memory_id, -1)[0].status == "archived"


def test_undo_brings_back_the_row_and_its_confidence(ada: Engram) -> None:
    memory = added(ada, "User keeps bees")
    for _ in range(3):
        ada.feedback(memory.memory_id, -1)
    run = ada.ops.list_runs().results[0]
    assert run.step == "feedback"
    ada.ops.undo(run.run_id)
    now = ada.get(memory.memory_id)
    assert (now.status, now.status_reason) == ("active", None)
    assert now.confidence == pytest.approx(0.1)
    assert now.activity.negative == 2
    assert [one.memory_id for one in ada.list_memories()] == [memory.memory_id]


def test_a_pinned_memory_is_never_put_away(ada: Engram) -> None:
    memory = added(ada, "User is allergic to nuts", critical_slot="profile:allergy:nuts")
    for _ in range(5):
        ada.feedback(memory.memory_id, -1)
    now = ada.get(memory.memory_id)
    assert (now.status, now.confidence, now.activity.negative) == ("active", 0.0, 5)


def test_the_policy_says_how_low_and_may_veto(database_url: str, tenant: str) -> None:
    asked: list[str] = []

    def keep(memory: Memory) -> bool:
        asked.append(memory.fact)
        return "bees" in memory.fact

    policy = MemoryPolicy("picky", feedback_floor=0.5, keep=keep)
    with Engram(database_url, scope=Scope(tenant), embedder="none", policy=policy) as door:
        bees, ketch = added(quiet(door), "User keeps bees", confidence=0.9), added(door, "User sails", confidence=0.9)
        for _ in range(3):
            door.feedback([bees.memory_id, ketch.memory_id], -1)
        assert door.get(bees.memory_id).status == "active"
        assert door.get(ketch.memory_id).status == "archived"
        assert asked == ["User keeps bees", "User sails"]


def test_several_memories_are_rated_in_one_event(ada: Engram) -> None:
    both = [added(ada, "User keeps bees").memory_id, added(ada, "User sails a ketch").memory_id]
    before = len(ada.list_events(limit=200))
    rated = ada.feedback([*both, both[0]], 1, note="both were right", actor="bo")
    assert [one.memory_id for one in rated] == both
    assert [one.confidence for one in rated] == [0.65, 0.65]
    assert len(ada.list_events(limit=200)) == before + 1
    told = ada.explain_memory(both[1]).feedback
    assert [one.event_type for one in told] == ["memory_lifecycle"]
    assert (told[0].actor, told[0].payload["reason"]) == ("bo", "both were right")
    entry = ada.get_history(memory_id=both[0]).results[0]
    assert (entry.entry, entry.actor, entry.reason) == ("rated", "bo", "both were right")


def test_all_are_rated_or_none(ada: Engram) -> None:
    memory = added(ada, "User keeps bees")
    with pytest.raises(NotFound):
        ada.feedback([memory.memory_id, "01890000-0000-7000-8000-00000000a001"], 1)
    assert ada.get(memory.memory_id).confidence == 0.5
    assert not ada.ops.list_runs().results


def test_a_rating_that_is_refused_leaves_no_run(ada: Engram) -> None:
    memory = added(ada, "User keeps bees")
    ada.ops.erase(memories=[memory.memory_id])
    with pytest.raises(Conflict, match="erased"):
        ada.feedback(memory.memory_id, 1, idempotency_key="k")
    assert not ada.ops.list_runs().results


def test_a_key_rates_once_and_belongs_to_one_rating(ada: Engram) -> None:
    memory = added(ada, "User keeps bees")
    for _ in range(2):
        assert ada.feedback(memory.short_id, 1, idempotency_key="k")[0].confidence == 0.65
    assert ada.get(memory.memory_id).activity.positive == 1
    with pytest.raises(IdempotencyMismatch):
        ada.feedback(memory.memory_id, -1, idempotency_key="k")


def test_a_dry_run_shows_what_would_be_left(ada: Engram) -> None:
    memory = added(ada, "User keeps bees", confidence=0.1)
    assert ada.feedback(memory.memory_id, -1, dry_run=True)[0].confidence == 0.0
    now = ada.get(memory.memory_id)
    assert (now.confidence, now.activity.negative) == (0.1, 0)
    assert not ada.ops.list_runs().results
    assert not ada.explain_memory(memory.memory_id).feedback


def test_racing_ratings_are_all_counted(ada: Engram) -> None:
    memory = added(ada, "User keeps bees", confidence=0.0)
    threads = [threading.Thread(target=ada.feedback, args=(memory.memory_id, 1)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    now = ada.get(memory.memory_id)
    assert now.confidence == pytest.approx(0.6)
    assert now.activity.positive == 4


def test_a_rating_follows_the_recall_it_is_about(ada: Engram, tenant: str, server: Any) -> None:
    memory = added(ada, "User keeps bees")
    recall_id = ada.recall("what does the user keep?").recall_id
    assert recall_id is not None
    ada.feedback(memory.memory_id, 1, recall_id=recall_id)
    ada.feedback(memory.memory_id, -1, recall_id=recall_id)
    ada.feedback(memory.memory_id, -1)
    assert quality(server, tenant) == (1, 1)
    ada.ops.undo(ada.ops.list_runs().results[1].run_id)
    assert quality(server, tenant) == (1, 0)
    with pytest.raises(NotFound):
        ada.feedback(memory.memory_id, 1, recall_id="01890000-0000-7000-8000-00000000a001")


def quality(server: Any, tenant: str) -> tuple[int, int]:
    plain = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(plain) as conn:
        row = conn.execute(
            "SELECT sum(positive)::int, sum(negative)::int FROM engram.recall_quality WHERE tenant_id = %s", [tenant]
        ).fetchone()
    assert row is not None
    return row


def test_an_older_revision_may_be_rated_but_is_not_put_away(ada: Engram) -> None:
    old = added(ada, "Current sprint: 42", topic_key="sprint", confidence=0.1)
    ada.add("Current sprint: 43", topic_key="sprint")
    for _ in range(3):
        ada.feedback(old.memory_id, -1)
    now = ada.get(old.memory_id)
    assert (now.status, now.confidence, now.activity.negative) == ("superseded", 0.0, 3)


def test_a_read_moves_nothing(ada: Engram) -> None:
    memory = added(ada, "User keeps bees")
    for _ in range(3):
        ada.search("bees")
        ada.recall("what does the user keep?")
    now = ada.get(memory.memory_id)
    assert (now.confidence, now.importance) == (memory.confidence, memory.importance)


@pytest.mark.parametrize("value", [0, 2, True, 1.0, "1", None])
def test_only_one_up_and_one_down_are_ratings(ada: Engram, value: Any) -> None:
    with pytest.raises(InvalidInput, match="value"):
        ada.feedback("01890000-0000-7000-8000-00000000a001", value)


def test_a_note_and_a_reason_are_the_same_thing(ada: Engram) -> None:
    with pytest.raises(InvalidInput, match="note"):
        ada.feedback("01890000-0000-7000-8000-00000000a001", 1, note="so", reason="so")
    with pytest.raises(LimitExceeded):
        ada.feedback(["01890000-0000-7000-8000-00000000a001"] * 501, 1)
    assert ada.feedback([], 1) == ()


def test_the_default_floor_is_the_stated_one() -> None:
    assert get_policy("default").feedback_floor == 0.15
    assert (rules.UP, rules.DOWN, rules.NEGATIVES) == (0.15, 0.2, 3)
