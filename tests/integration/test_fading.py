"""The decay table of a scope: who fades first, by which curve, and what is exempt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from quiet import quiet

from engram import Engram, InvalidInput, Memory, MemoryPolicy, NotFound, PolicyError, Scope
from engram.decay import CURVES

CLOSE = 5e-4


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder="none") as door:
        yield quiet(door)


def added(door: Engram, fact: str, **more: Any) -> Memory:
    memory = door.add(fact, **more).memory
    assert memory is not None
    return memory


def age(
    server: Any, memory: Memory, *, days: float = 0, idle: float | None = None, accesses: int = 0,
    born_epoch: int = 0, accessed_epoch: int | None = None, epoch: int = 0,
) -> None:  # fmt: skip
    """Make a memory as old and as used as a test needs."""
    plain = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(plain, autocommit=True) as conn:
        conn.execute("SET session_replication_role = replica")
        conn.execute(
            "UPDATE engram.agent_memory SET recorded_at = recorded_at - %s * interval '1 day', born_epoch = %s"
            " WHERE memory_id = %s",
            [days, born_epoch, memory.memory_id],
        )
        conn.execute(
            "UPDATE engram.memory_activity SET access_count = %s, accessed_epoch = %s,"
            " last_accessed_at = clock_timestamp() - %s::float8 * interval '1 day' WHERE memory_id = %s",
            [accesses, accessed_epoch, idle, memory.memory_id],
        )
        conn.execute(
            "UPDATE engram.memory_scopes s SET epoch = %s FROM engram.agent_memory m"
            " WHERE m.scope_id = s.scope_id AND m.memory_id = %s",
            [epoch, memory.memory_id],
        )


def test_what_is_left_of_each_memory_by_each_curve(ada: Engram, server: Any) -> None:
    memory = added(ada, "User keeps bees", importance=0.8, memory_type="semantic")
    age(server, memory, days=30, idle=2, accesses=3, epoch=50, born_epoch=0, accessed_epoch=40)
    left = {curve: ada.ops.decay(profile=curve)[0] for curve in CURVES}
    assert left["access"].effective == pytest.approx(0.8 * 0.7862, abs=CLOSE)
    assert left["ebbinghaus"].effective == pytest.approx(0.48, abs=CLOSE)
    assert left["retention"].effective == pytest.approx(0.8 * 0.9549, abs=CLOSE)
    assert left["epochs"].effective == pytest.approx(0.8 * 0.5468 + 0.09 * 0.8863, abs=CLOSE)
    assert ada.get(memory.memory_id).importance == 0.8


@pytest.mark.parametrize("curve", CURVES)
def test_those_with_least_left_come_first_and_the_exempt_last(ada: Engram, server: Any, curve: str) -> None:
    kinds = ("semantic", "episodic", "procedural")
    made = [
        added(ada, f"Fact number {place} of the table", importance=0.2 + 0.1 * place, memory_type=kinds[place % 3])
        for place in range(6)
    ]
    pinned = added(ada, "User is allergic to nuts", importance=0.05, critical_slot="profile:allergy:nuts")
    for place, memory in enumerate(made):
        age(
            server, memory, days=9.0 * place, idle=(place * 5) % 7, accesses=(place * 3) % 5, epoch=40,
            born_epoch=(place * 11) % 40, accessed_epoch=40 - place,
        )  # fmt: skip
    rows = ada.ops.decay(profile=curve)
    assert {row.memory.memory_id for row in rows} == {one.memory_id for one in (*made, pinned)}
    assert (rows[-1].memory.memory_id, rows[-1].effective, rows[-1].next_threshold) == (pinned.memory_id, 0.05, None)
    left = [row.effective for row in rows[:-1]]
    assert left == sorted(left)
    assert len(set(left)) == len(left)
    assert [row.memory.memory_id for row in ada.ops.decay(profile=curve, limit=2)] == [
        row.memory.memory_id for row in rows[:2]
    ]


def test_by_epochs_the_access_that_is_longer_ago_is_worth_less(ada: Engram, server: Any) -> None:
    early, late = added(ada, "User keeps bees", importance=0.5), added(ada, "User sails a ketch", importance=0.5)
    for memory, accessed in ((late, 39), (early, 10)):
        age(server, memory, accesses=9, epoch=40, accessed_epoch=accessed)
    (first,) = ada.ops.decay(profile="epochs", limit=1)
    assert first.memory.memory_id == early.memory_id


def test_the_policy_says_which_curve(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant), embedder="none") as door:
        added(quiet(door), "User keeps bees")
        assert door.ops.decay()[0].curve == "access"
    policy = MemoryPolicy("slow", decay="retention")
    with Engram(database_url, scope=Scope(tenant), embedder="none", policy=policy) as door:
        assert quiet(door).ops.decay()[0].curve == "retention"
        assert door.ops.decay(profile="epochs")[0].curve == "epochs"
    with pytest.raises(PolicyError, match="decay"):
        MemoryPolicy("other", decay="linear")


def test_one_memory_comes_with_the_points_of_its_curve(ada: Engram) -> None:
    memory = added(ada, "User keeps bees", importance=0.8)
    added(ada, "User sails a ketch")
    (row,) = ada.ops.decay(memory_id=memory.short_id)
    assert row.memory.memory_id == memory.memory_id
    assert row.points[0].left == pytest.approx(0.8, abs=CLOSE)
    assert row.points[-1].left == pytest.approx(0.01, abs=CLOSE)
    assert all(not one.points for one in ada.ops.decay())
    assert type(row).from_dict(row.to_dict()) == row


def test_what_is_not_current_is_not_in_the_table(ada: Engram) -> None:
    gone, evidence = added(ada, "User sails a ketch"), added(ada, "I sail a ketch", category="verbatim")
    ada.ops.archive([gone.memory_id])
    old = added(ada, "Current sprint: 42", topic_key="sprint")
    new = added(ada, "Current sprint: 43", topic_key="sprint")
    assert [row.memory.memory_id for row in ada.ops.decay()] == [new.memory_id]
    assert [ada.ops.decay(memory_id=one.memory_id) for one in (gone, evidence, old)] == [(), (), ()]


def test_a_table_of_nothing_and_of_nobody(ada: Engram, database_url: str) -> None:
    assert ada.ops.decay() == ()
    assert ada.ops.decay(limit=0) == ()
    memory = added(ada, "User keeps bees", private=True)
    with pytest.raises(NotFound):
        ada.scoped(user_id="bo").ops.decay(memory_id=memory.memory_id)
    assert ada.scoped(user_id="bo").ops.decay() == ()
    with pytest.raises(InvalidInput, match="profile"):
        ada.ops.decay(profile="linear")
