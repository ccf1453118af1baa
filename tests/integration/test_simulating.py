"""Simulating a policy: what it would have made of past events, and that nothing stays of having asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from quiet import quiet

from engram import Engram, InvalidInput, MemoryPolicy, NotFound, Reject, Scope, TypeRule
from engram.operations import replaying, steps
from engram.policies.default import DEFAULT


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder="none") as door:
        yield quiet(door)


def state(door: Engram) -> list[Any]:
    return [one.to_dict() for one in door.list_memories(limit=200)]


def test_the_policy_in_use_differs_in_nothing(ada: Engram) -> None:
    ada.remember("I live in Ottawa. I prefer TypeScript.", wait=True)
    ada.add("User keeps bees")
    ada.add("User keeps bees")
    report = ada.ops.simulate_policy("default")
    assert (report.policy, report.counts["added"], report.counts["dropped"]) == ("default@1", 0, 0)
    assert report.counts["changed"] == 0
    assert report.counts["same"] == len(state(ada))
    assert dict(report.decisions) == dict(report.stored)
    assert (report.decisions["add"], report.decisions["reinforce"]) == (3, 1)
    assert (report.calls, report.cost) == (0, 0)
    assert type(report).from_dict(report.to_dict()) == report


def test_another_policy_shows_how_it_would_have_decided(ada: Engram) -> None:
    def no_bees(candidate: Mapping[str, Any]) -> Any:
        return Reject("no bees") if "bees" in candidate["fact"] else candidate

    ada.add("User keeps bees")
    ada.add("The boat has a ketch rig")
    rules = (TypeRule("boats", "project", patterns=("boat",)),)
    report = ada.ops.simulate_policy(MemoryPolicy("strict", version=3, type_rules=rules, guards=(no_bees,)))
    assert report.policy == "strict@3"
    assert dict(report.decisions) == {"add": 1, "reject": 1}
    assert dict(report.stored) == {"add": 2}
    assert dict(report.rules) == {"boats": 1}
    assert dict(report.types) == {"project": 1}
    assert [one.fact for one in report.dropped] == ["User keeps bees"]
    assert [(one.before.memory_type, one.after.memory_type) for one in report.changed] == [("semantic", "project")]
    assert report.added == ()


def test_the_gate_may_be_tried_before_it_is_closed(ada: Engram) -> None:
    ada.add("User prefers TypeScript")
    ada.add("User likes the TypeScript language")
    closed = MemoryPolicy("gate", write_mode="gate", surprise_threshold=1.0)
    report = ada.ops.simulate_policy(closed)
    assert dict(report.decisions) == {"add": 1, "reject": 1}
    barred = ada.ops.simulate_policy(MemoryPolicy("gate", write_mode="gate", surprise_threshold=0.0))
    assert dict(barred.decisions) == {"add": 2}


def test_nothing_stays_of_a_simulation(ada: Engram) -> None:
    ada.add("User keeps bees")
    before, events = state(ada), [one.event_id for one in ada.list_events(limit=200)]
    ada.ops.simulate_policy("legal")
    assert state(ada) == before
    assert [one.event_id for one in ada.list_events(limit=200)] == events
    assert ada.ops.list_replays() == ()


def test_nothing_stays_of_one_that_failed(ada: Engram) -> None:
    def broken(candidate: Mapping[str, Any]) -> Any:
        raise RuntimeError

    ada.add("User keeps bees")
    with pytest.raises(Exception, match="broken"):
        ada.ops.simulate_policy(MemoryPolicy("broken", guards=(broken,)))
    assert ada.ops.list_replays() == ()


def test_a_killed_simulation_is_in_nobodys_way(ada: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    def die(*_: Any, **__: Any) -> Any:
        raise Killed

    def age(conn: Any) -> None:
        conn.exec_driver_sql(
            "UPDATE engram.memory_replays SET changed_at = changed_at - interval '11 minutes'"
            " WHERE tenant_id = engram.current_tenant()"
        )

    ada.add("User keeps bees")
    mine = ada.ops.replay(policy="default", derivers=["verbatim", "rules"]).shadow_id
    with monkeypatch.context() as patch:
        patch.setattr(replaying, "catch_up", die)
        for _ in range(6):
            with pytest.raises(Killed):
                ada.ops.simulate_policy("default")
            left = [one.shadow_id for one in ada.ops.list_replays()]
            assert len(left) == 2
            ada._core.run(steps.write(ada.scope.tenant_id, age, key=None))
        with pytest.raises(Killed):
            ada.ops.simulate_policy("default")
    young = [one.shadow_id for one in ada.ops.list_replays()]
    ada.ops.simulate_policy("default")
    assert [one.shadow_id for one in ada.ops.list_replays()] == young, "it may be at work"
    ada._core.run(steps.write(ada.scope.tenant_id, age, key=None))
    ada.ops.simulate_policy("default")
    assert [one.shadow_id for one in ada.ops.list_replays()] == [mine]


def test_a_shadow_of_somebody_else_is_left_alone(ada: Engram) -> None:
    ada.add("User keeps bees")
    mine = ada.ops.replay(policy="default", derivers=["verbatim", "rules"]).shadow_id
    ada.ops.simulate_policy("default")
    assert [one.shadow_id for one in ada.ops.list_replays()] == [mine]


def test_a_simulation_speaks_of_its_time_only(ada: Engram) -> None:
    def no_bees(candidate: Mapping[str, Any]) -> Any:
        return Reject("no bees") if "bees" in candidate["fact"] else candidate

    strict = MemoryPolicy("strict", guards=(no_bees,))
    first = recorded(ada, "User keeps bees")
    second = recorded(ada, "User keeps bees and hens")
    third = recorded(ada, "User keeps bees, hens and geese")
    just = timedelta(microseconds=1)
    assert dropped(ada, strict, None, None) == {1, 2, 3}
    assert dropped(ada, strict, first, None) == {2, 3}
    assert dropped(ada, strict, None, third) == {1, 2}
    assert dropped(ada, strict, first, second + just) == {2}
    assert [ada.ops.simulate_policy(strict, until=at).steps for at in (first, second, third, None)] == [0, 1, 2, 3]
    with pytest.raises(InvalidInput, match="until"):
        ada.ops.simulate_policy("default", since=second, until=first)


def recorded(door: Engram, fact: str) -> datetime:
    memory = door.add(fact).memory
    assert memory is not None
    return memory.recorded_at


def dropped(door: Engram, policy: MemoryPolicy, since: datetime | None, until: datetime | None) -> set[int]:
    """Which of three facts would be missing, told by how many animals they name."""
    report = door.ops.simulate_policy(policy, since=since, until=until)
    assert report.counts["dropped"] == len(report.dropped) == report.decisions.get("reject", 0)
    return {sum(name in one.fact for name in ("bees", "hens", "geese")) for one in report.dropped}


def test_an_empty_scope_has_nothing_to_simulate(ada: Engram) -> None:
    with pytest.raises(NotFound):
        ada.ops.simulate_policy("default")
    with pytest.raises(InvalidInput, match="policy"):
        ada.ops.simulate_policy("unknown")
    assert DEFAULT.guards == ()
