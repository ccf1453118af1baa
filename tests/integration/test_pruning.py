"""Pruning and expiry: what each mode puts away, what it never touches, and what is found to be over."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engram import Engram, MemoryPolicy, Scope
from engram.errors import InvalidInput, Unavailable
from engram.operations import cycling, living, pruning, running, steps
from engram.values import Memory
from tests.quiet import quiet

NOW = datetime.now(UTC)


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant)) as opened:
        yield quiet(opened)


def sql(door: Engram, query: str, *params: Any, tenant: str | None = None) -> list[Any]:
    def work(conn: Any) -> list[Any]:
        found = conn.exec_driver_sql(query.replace("TENANT", "engram.current_tenant()"), params)
        return [tuple(row) for row in found] if found.returns_rows else []

    return door._core.run(steps.write(tenant or door.scope.tenant_id, work, key=None))


def hundred(door: Engram) -> list[str]:
    """A hundred memories, four of them expired, six others faded; the others of rising importance."""
    ids: list[str] = []
    for start in range(0, 100, 50):
        made = door.add_many([{"fact": f"fact number {n}", "force": True} for n in range(start, start + 50)])
        ids += [one.memory.memory_id for one in made if one.memory is not None]
    sql(
        door,
        "UPDATE engram.agent_memory m SET expires_at = CASE WHEN p < 4 THEN %s - p * interval '1 minute' END,"
        " recorded_at = %s - CASE WHEN p BETWEEN 4 AND 9 THEN (190 + p) ELSE 1 END * interval '1 day',"
        " importance = CASE WHEN p < 10 THEN 0.8 ELSE 0.2 + p / 1000.0 END"
        " FROM (SELECT i, n - 1 AS p FROM unnest(%s::uuid[]) WITH ORDINALITY u (i, n)) u"
        " WHERE m.tenant_id = TENANT AND m.memory_id = u.i",
        NOW, NOW, ids,
    )  # fmt: skip
    sql(
        door,
        "UPDATE engram.memory_changes c SET state = engram.memory_state(m) FROM engram.agent_memory m"
        " WHERE c.tenant_id = TENANT AND m.tenant_id = TENANT AND c.memory_id = m.memory_id",
    )
    return ids


def away(door: Engram) -> dict[str, str]:
    """The memories put away, and the word for it."""
    return dict(
        sql(
            door,
            "SELECT memory_id::text, status_reason FROM engram.agent_memory"
            " WHERE tenant_id = TENANT AND status = 'archived'",
        )
    )


def told(changes: Any) -> set[Any]:
    return {(one.memory_id, one.field, str(one.after), one.because) for one in changes}


def test_each_mode_takes_what_the_one_before_took_and_more(door: Engram) -> None:
    ids = hundred(door)
    before = sql(door, "SELECT count(*) FROM engram.agent_memory WHERE tenant_id = TENANT")
    for mode, taken in (("gentle", 4), ("normal", 10), ("aggressive", 19)):
        shown = door.ops.prune(mode, dry_run=True)
        assert away(door) == {}, "a dry run changes nothing"
        run = door.ops.prune(mode)
        assert run.changed == taken
        assert told(run.changes) == told(shown.changes)
        assert set(away(door)) == set(ids[:taken])
        assert {away(door)[one] for one in ids[:4]} == {"expired"}
        assert {away(door)[one] for one in ids[4:taken]} <= {"pruned"}
        assert sql(door, "SELECT count(*) FROM engram.agent_memory WHERE tenant_id = TENANT") == before
        door.ops.undo(run.run_id)
        assert away(door) == {}


def test_core_and_pinned_memories_are_exempt_and_layers_narrow_it(door: Engram) -> None:
    ids = hundred(door)
    for layer, memory_id in zip(("core", "buffer", "working"), ids[:3], strict=True):
        sql(door, "UPDATE engram.agent_memory SET layer = %s WHERE memory_id = %s", layer, memory_id)
    pinned = door.add("User is allergic to peanuts", critical_slot="profile:allergy", expires_in="1h").memory
    assert pinned is not None
    sql(door, "UPDATE engram.agent_memory SET expires_at = %s WHERE memory_id = %s", NOW, pinned.memory_id)
    assert door.ops.prune("gentle", layers=["core"], dry_run=True).changed == 0
    assert door.ops.prune("gentle", layers=["buffer"], dry_run=True).changed == 1
    assert door.ops.prune("aggressive", layers=[], dry_run=True).changed == 0
    door.ops.prune("normal")
    assert set(away(door)) == set(ids[1:10])


def test_where_new_memories_wait_in_the_buffer_working_ones_are_not_pruned(door: Engram) -> None:
    ids = hundred(door)
    sql(door, "UPDATE engram.agent_memory SET layer = 'buffer' WHERE memory_id = ANY(%s::uuid[])", ids[:2])
    policy = MemoryPolicy("buffered", intake="buffer")
    with quiet(Engram(door._core.url, scope=door.scope, policy=policy)) as buffered:
        buffered.ops.prune("aggressive")
    assert set(away(door)) == set(ids[:2])


def test_the_policy_may_veto_that_a_memory_is_pruned(door: Engram) -> None:
    ids = hundred(door)

    def keep(memory: Memory) -> bool:
        return memory.memory_id == ids[0]

    with quiet(Engram(door._core.url, scope=door.scope, policy=MemoryPolicy("dear", keep=keep))) as careful:
        assert careful.ops.prune("gentle").changed == 3
    assert set(away(door)) == set(ids[1:4])


def test_what_the_policy_keeps_takes_no_place_of_the_lowest_tenth(door: Engram) -> None:
    ids = hundred(door)
    dear = frozenset(ids[10:20])  # the lowest of what remains

    def keep(memory: Memory) -> bool:
        return memory.memory_id in dear

    with quiet(Engram(door._core.url, scope=door.scope, policy=MemoryPolicy("dear", keep=keep))) as careful:
        assert careful.ops.prune("aggressive").changed == 19
    assert dear.isdisjoint(away(door))


def test_a_key_prunes_once(door: Engram) -> None:
    hundred(door)
    first = door.ops.prune("aggressive", idempotency_key="spring")
    assert door.ops.prune("aggressive", idempotency_key="spring").run_id == first.run_id
    assert len(away(door)) == 19


@pytest.mark.parametrize("writes", [4, 6])
def test_a_run_that_was_broken_off_takes_one_tenth_when_it_is_taken_up(
    door: Engram, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    """Broken off in the middle of the tenth, or behind all of it."""
    hundred(door)
    monkeypatch.setattr(living, "BATCH", 5)
    real, done = living.perform, list[int]()

    def perform(*given: Any) -> Any:
        done.append(1)
        if len(done) == writes:
            raise Unavailable("broken off")
        return real(*given)

    def closed(*_: Any, **__: Any) -> Any:
        raise Unavailable("broken off")

    with monkeypatch.context() as broken:
        broken.setattr(living, "perform", perform)
        broken.setattr(living, "closed", closed)
        with pytest.raises(Unavailable):
            door.ops.prune("aggressive", idempotency_key="spring")
    assert 10 < len(away(door)) <= 19
    assert door.ops.prune("aggressive", idempotency_key="spring").changed == 19
    assert len(away(door)) == 19


def test_an_empty_scope_has_nothing_to_prune(door: Engram) -> None:
    assert door.ops.prune("aggressive").changed == 0


@pytest.mark.parametrize(("mode", "layers"), [("brutal", None), (3, None), ("gentle", ["attic"]), ("gentle", "core")])
def test_what_is_no_mode_or_layer_is_refused(door: Engram, mode: Any, layers: Any) -> None:
    with pytest.raises(InvalidInput):
        door.ops.prune(mode, layers=layers)


# Expiry and the looks of the whole database ---------------------------------------------------------------------------


def look(door: Engram, kind: str) -> None:
    """Do what the job of the whole database does."""
    key = f"{kind}/{datetime.now(UTC).isoformat()}"
    sql(
        door,
        "INSERT INTO engram.memory_jobs (tenant_id, job_id, kind, dedup_key, run_at)"
        " VALUES ('engram', gen_random_uuid(), %s, sha256(%s::bytea), clock_timestamp())",
        kind, key.encode(), tenant=running.HOUSE,
    )  # fmt: skip
    door._core.run(running.work(door._core.setup(Scope(running.HOUSE)), limit=50, of=[kind], tenant_id=running.HOUSE))


def queued(door: Engram, kind: str) -> int:
    return int(
        sql(
            door,
            "SELECT count(*) FROM engram.memory_jobs WHERE tenant_id = TENANT AND kind = %s AND state = 'queued'",
            kind,
        )[0][0]
    )


def test_what_has_been_over_for_a_week_is_put_away_by_the_daily_job(door: Engram) -> None:
    week, day, core, pinned = (
        one.memory.memory_id
        for one in door.add_many(
            [
                {"fact": "The offer holds"}, {"fact": "The sale is on"}, {"fact": "The fair is open"},
                {"fact": "User is allergic to peanuts", "critical_slot": "profile:allergy"},
            ]
        )
        if one.memory is not None
    )  # fmt: skip
    for memory_id, days in ((week, 7.1), (day, 6.9), (core, 8), (pinned, 8)):
        sql(
            door,
            "UPDATE engram.agent_memory SET expires_at = %s WHERE memory_id = %s",
            NOW - timedelta(days=days),
            memory_id,
        )
    sql(door, "UPDATE engram.agent_memory SET layer = 'core' WHERE memory_id = %s", core)
    look(door, pruning.LOOK)
    look(door, pruning.LOOK)
    assert queued(door, pruning.EXPIRE) == 1
    door.ops.run_jobs()
    assert away(door) == {week: "expired", core: "expired"}
    [entry] = [one for one in door.get_history(memory_id=week) if one.entry == "expired"]
    assert entry.actor == "engram"
    assert door.get(week).status == "archived", "it can still be read"
    look(door, pruning.LOOK)
    assert queued(door, pruning.EXPIRE) == 0


def test_scopes_are_queued_for_a_cycle_once_what_was_written_is_a_look_old(door: Engram) -> None:
    look(door, cycling.LOOK)
    door.add("The cache holds 200 entries")
    look(door, cycling.LOOK)
    assert queued(door, cycling.KIND) == 0, "a writer may still be under way"
    look(door, cycling.LOOK)
    assert queued(door, cycling.KIND) == 1
    look(door, cycling.LOOK)
    assert queued(door, cycling.KIND) == 1
    door.ops.run_jobs()
    assert [run.step for run in door.ops.list_runs()].count("consolidate") == 1
    for _ in range(3):
        look(door, cycling.LOOK)
    assert queued(door, cycling.KIND) == 0, "what a cycle changes is no writing"


def test_what_is_written_while_the_job_of_its_scope_runs_has_a_job_of_its_own(door: Engram) -> None:
    door.add("The cache holds 200 entries")
    for _ in range(2):
        look(door, cycling.LOOK)
    sql(
        door,
        "UPDATE engram.memory_jobs SET state = 'running', lease_token = gen_random_uuid(),"
        " lease_until = clock_timestamp() + interval '1 hour' WHERE tenant_id = TENANT AND kind = %s",
        cycling.KIND,
    )  # fmt: skip
    door.ops.consolidate()  # what the job does
    door.add("The queue holds 300 entries")
    for _ in range(3):
        look(door, cycling.LOOK)
    assert queued(door, cycling.KIND) == 1
    door.ops.run_jobs()
    assert door.ops.consolidate().steps == ()
    assert [run.step for run in door.ops.list_runs()].count("consolidate") == 2


def test_a_job_that_ends_a_cycle_of_another_takes_account_of_what_was_written_since(
    door: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die(*_: Any, **__: Any) -> Any:
        raise Killed

    door.add("The cache holds 200 entries")
    with monkeypatch.context() as patch:
        patch.setattr(cycling, "_noted", die)
        with pytest.raises(Killed):
            door.ops.consolidate()
    door.add("The queue holds 300 entries")
    for _ in range(2):
        look(door, cycling.LOOK)
    assert queued(door, cycling.KIND) == 1
    door.ops.run_jobs()
    assert door.ops.consolidate().steps == ()
    assert [run.step for run in door.ops.list_runs()].count("consolidate") == 2


def test_an_embedded_door_looks_after_its_database_by_itself(door: Engram) -> None:
    door._core.run(running.queue_periods(door._core.setup(door.scope)))
    door._core.run(running.queue_periods(door._core.setup(door.scope)))
    kinds = sql(door, "SELECT kind FROM engram.memory_jobs WHERE state = 'queued'", tenant=running.HOUSE)
    assert sorted(kind for (kind,) in kinds if kind in running.PERIODIC) == sorted(running.PERIODIC)
