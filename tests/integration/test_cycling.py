"""Consolidation: the cycle of a scope, step by step, broken off and taken up again, and what it must leave alone."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engram import Engram, MemoryPolicy, Scope
from engram.errors import BudgetSpent, ModelRejected
from engram.lifecycle import cycle as cycles
from engram.lifecycle import distilling, gate
from engram.operations import cycling, steps
from engram.testing import ScriptedModel
from engram.values import Memory
from tests.quiet import quiet

BUFFERED = MemoryPolicy("buffered", intake="buffer")
LONG_AGO = datetime.now(UTC) - timedelta(days=30)


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant), policy=BUFFERED) as opened:
        yield quiet(opened)


def another(door: Engram, **given: Any) -> Engram:
    return quiet(Engram(door._core.url, scope=door.scope, **{"policy": BUFFERED, **given}))


def sql(door: Engram, query: str, *params: Any) -> list[Any]:
    def work(conn: Any) -> list[Any]:
        found = conn.exec_driver_sql(query.replace("TENANT", "engram.current_tenant()"), params)
        return [tuple(row) for row in found] if found.returns_rows else []

    return door._core.run(steps.write(door.scope.tenant_id, work, key=None))


def add(door: Engram, fact: str, **given: Any) -> str:
    """A memory that is older than triage asks for."""
    told = {
        name: given.pop(name)
        for name in ("layer", "accesses", "repetitions", "marks", "born", "recorded")
        if name in given
    }
    memory = door.add(fact, force=True, **given).memory
    assert memory is not None
    sql(
        door,
        "WITH set AS ("
        " UPDATE engram.agent_memory SET layer = coalesce(%s, layer), marks = coalesce(%s, marks), recorded_at = %s,"
        " born_epoch = coalesce(%s, born_epoch) WHERE tenant_id = TENANT AND memory_id = %s)"
        " UPDATE engram.memory_activity SET access_count = %s, repetition_count = %s"
        " WHERE tenant_id = TENANT AND memory_id = %s",
        told.get("layer"), None if "marks" not in told else json.dumps(told["marks"]),
        told.get("recorded", datetime.now(UTC) - timedelta(hours=1)), told.get("born"), memory.memory_id,
        told.get("accesses", 0), told.get("repetitions", 0), memory.memory_id,
    )  # fmt: skip
    if {"layer", "marks", "born"} & set(told):
        sql(
            door,
            "UPDATE engram.memory_changes c SET state = engram.memory_state(m) FROM engram.agent_memory m"
            " WHERE c.tenant_id = TENANT AND m.tenant_id = TENANT AND c.memory_id = m.memory_id AND m.memory_id = %s",
            memory.memory_id,
        )  # fmt: skip
    return memory.memory_id


def at_epoch(door: Engram, epoch: int) -> None:
    sql(door, "UPDATE engram.memory_scopes SET epoch = %s WHERE tenant_id = TENANT", epoch)


def epoch(door: Engram) -> int:
    return int(sql(door, "SELECT max(epoch) FROM engram.memory_scopes WHERE tenant_id = TENANT")[0][0])


def marks(door: Engram, memory_id: str) -> Any:
    return sql(door, "SELECT marks FROM engram.agent_memory WHERE tenant_id = TENANT AND memory_id = %s", memory_id)[0][
        0
    ]


def state(door: Engram) -> list[Any]:
    """What a cycle may change, of every memory, and the clock."""
    rows = sql(
        door,
        "SELECT fact, layer, status, status_reason, importance, confidence, marks, layer_epoch, born_epoch"
        " FROM engram.agent_memory WHERE tenant_id = TENANT ORDER BY fact",
    )
    return [*rows, epoch(door)]


def layer(door: Engram, memory_id: str) -> str:
    return door.get(memory_id).layer


WORDS = "anchor basil cedar delta ember flint grove heron iris juniper kelp lotus maple nettle olive pine".split()  # noqa: SIM905


def some(count: int) -> Iterator[str]:
    """Facts that have nothing to do with each other."""
    for one, two in itertools.islice(itertools.permutations(WORDS, 2), count):
        yield f"{one} {two}"


# Layers at birth ------------------------------------------------------------------------------------------------------


def test_the_policy_says_where_memories_begin_and_what_is_pinned_is_core(door: Engram) -> None:
    assert layer(door, add(door, "The cache holds 200 entries")) == "buffer"
    assert layer(door, add(door, "User is allergic to peanuts", critical_slot="profile:allergy")) == "core"
    with another(door, policy=MemoryPolicy("plain")) as plain:
        assert layer(plain, add(plain, "The queue holds 300 entries")) == "working"


def test_evidence_waits_in_no_buffer_and_takes_part_in_no_step(door: Engram) -> None:
    door.remember("I moved to Ottawa last year")
    door.ops.run_jobs()
    kinds = sql(door, "SELECT category = 'verbatim', layer FROM engram.agent_memory WHERE tenant_id = TENANT")
    assert (True, "working") in kinds
    assert (True, "buffer") not in kinds


def test_a_correction_keeps_the_layer_that_its_head_has_risen_to(door: Engram) -> None:
    risen = add(door, "The deploy takes 5 minutes", topic_key="deploy", layer="core")
    corrected = door.revise(risen, "The deploy takes 7 minutes").memory
    assert corrected is not None
    assert corrected.layer == "core"
    pinned = add(door, "User lives in Rome", topic_key="home", critical_slot="profile:home")
    sql(door, "UPDATE engram.agent_memory SET critical_slot = NULL WHERE tenant_id = TENANT AND memory_id = %s", pinned)
    again = door.add("User lives in Oslo", topic_key="home").memory
    assert again is not None
    assert again.layer == "core"


def test_a_memory_remembers_the_epoch_it_was_born_and_used_in(door: Engram) -> None:
    add(door, "anchor basil")
    at_epoch(door, 12)
    known = door.add("cedar delta").memory
    assert known is not None
    assert sql(
        door, "SELECT born_epoch, layer_epoch FROM engram.agent_memory WHERE memory_id = %s", known.memory_id
    ) == [(12, 12)]
    at_epoch(door, 15)
    door.search("cedar delta")
    assert sql(door, "SELECT accessed_epoch FROM engram.memory_activity WHERE memory_id = %s", known.memory_id) == [
        (15,)
    ]


# Epochs ---------------------------------------------------------------------------------------------------------------


def test_an_idle_scope_has_no_cycles_and_forgets_nothing(door: Engram) -> None:
    add(door, "The cache holds 200 entries")
    first = door.ops.consolidate()
    assert first.failed_steps == ()
    assert "epoch" in first.steps
    before = state(door)
    for _ in range(5):  # a month of half-hours would be the same
        idle = door.ops.consolidate()
        assert idle.steps == ()
        assert idle.changed == 0
    assert state(door) == before
    assert epoch(door) == 1
    assert [run.step for run in door.ops.list_runs()].count("consolidate") == 1
    add(door, "The queue holds 300 entries")
    assert door.ops.consolidate().steps
    assert epoch(door) == 2


def test_what_a_cycle_changes_is_no_writing(door: Engram) -> None:
    kept = add(door, "User prefers TypeScript", memory_type="preference", accesses=9, layer="working", importance=0.9)
    run = door.ops.consolidate()
    assert layer(door, kept) == "core"
    assert run.changed >= 1
    assert door.ops.consolidate().steps == ()


def test_refusals_wait_for_epochs_however_long_nobody_writes(door: Engram) -> None:
    one = add(door, "The cache holds 200 entries", accesses=9, layer="working", importance=0.9)
    door.ops.consolidate()
    assert marks(door, one) == {"gate-rejected": 1}
    sql(
        door, "UPDATE engram.agent_memory SET recorded_at = %s WHERE tenant_id = TENANT", LONG_AGO - timedelta(days=365)
    )
    assert door.ops.consolidate().steps == ()
    at_epoch(door, 48)
    add(door, "ember flint")
    door.ops.consolidate()
    assert marks(door, one) == {"gate-rejected": 1}, "47 epochs after"
    add(door, "grove heron")
    door.ops.consolidate()
    assert marks(door, one) == {"gate-rejected-2": 50}
    at_epoch(door, 194)
    sql(door, "UPDATE engram.agent_memory SET born_epoch = 194 WHERE tenant_id = TENANT")  # it has not faded meanwhile
    add(door, "iris juniper")
    door.ops.consolidate()
    assert marks(door, one) == {"gate-rejected-final": 195}
    at_epoch(door, 9_000)
    add(door, "kelp lotus")
    door.ops.consolidate()
    assert marks(door, one) == {"gate-rejected-final": 195}


# Steps ----------------------------------------------------------------------------------------------------------------


def test_rows_rise_by_their_score_and_lessons_by_their_patience(door: Engram) -> None:
    often = add(door, "anchor basil", repetitions=2)
    seldom = add(door, "cedar delta", accesses=2, repetitions=1, marks={"triaged": 0})
    lesson = add(door, "ember flint", tags=["lesson"], importance=0.3, marks={"triaged": 0})
    door.ops.consolidate()
    assert [layer(door, one) for one in (often, seldom, lesson)] == ["working", "buffer", "buffer"]
    at_epoch(door, 4)
    add(door, "grove heron")
    door.ops.consolidate()
    assert [layer(door, one) for one in (seldom, lesson)] == ["buffer", "working"]


def test_triage_looks_at_twenty_rows_a_cycle_and_marks_what_it_leaves(door: Engram) -> None:
    ids = [add(door, fact, importance=0.9 if place % 2 else 0.2) for place, fact in enumerate(some(30))]
    young = add(door, "olive pine maple", importance=0.9, recorded=datetime.now(UTC))
    door.ops.consolidate()
    assert sum(layer(door, one) == "working" for one in ids) == 10
    assert sum("triaged" in marks(door, one) for one in ids) == 10
    assert layer(door, young) == "buffer"
    assert marks(door, young) == {}


def test_the_buffer_holds_so_many_and_drops_the_lightest(database_url: str, tenant: str) -> None:
    policy = MemoryPolicy("small", intake="buffer", buffer_cap=5)
    with quiet(Engram(database_url, scope=Scope(tenant), policy=policy)) as door:
        ids = [add(door, fact, importance=0.1 + place / 20, marks={"triaged": 0}) for place, fact in enumerate(some(8))]
        pinned = add(door, "User is allergic to nuts", critical_slot="profile:allergy", importance=0.0)
        run = door.ops.consolidate()
        gone = [one for one in ids if door.get(one).status == "archived"]
        assert gone == ids[:3]
        assert {change.after for change in run.changes if change.field == "status_reason"} == {"evicted"}
        assert door.get(pinned).status == "active"


def test_a_spent_buffer_row_is_put_away_and_working_and_core_rows_never(door: Engram) -> None:
    faded = {"importance": 0.5, "born": 0, "marks": {"triaged": 0}, "memory_type": "semantic"}
    spent, working, core = (
        add(door, fact, **faded, layer=where)
        for fact, where in zip(some(3), ("buffer", "working", "core"), strict=True)
    )
    pinned = add(door, "User is called Ada", critical_slot="profile:name", importance=0.01)
    at_epoch(door, 323)
    door.ops.consolidate()
    assert door.get(spent).status == "active", "epoch 324 leaves more than a hundredth"
    add(door, "nettle olive")
    run = door.ops.consolidate()
    assert epoch(door) == 325
    assert door.get(spent).status_reason == "evicted"
    assert {door.get(one).status for one in (working, core, pinned)} == {"active"}
    door.ops.undo(run.run_id)
    assert door.get(spent).status == "active"


def test_notes_of_sessions_leave_the_core_one_layer_at_a_time(door: Engram) -> None:
    note = add(door, "anchor basil", tags=["session"], layer="core")
    lasting = add(door, "cedar delta", layer="core")
    door.ops.consolidate()
    assert (layer(door, note), layer(door, lasting)) == ("working", "core")
    add(door, "ember flint")
    door.ops.consolidate()
    assert layer(door, note) == "working"


def test_core_rows_that_say_nearly_the_same_are_flagged_not_changed(door: Engram) -> None:
    first = add(door, "User prefers TypeScript for backends", layer="core", recorded=LONG_AGO)
    second = add(door, "User prefers TypeScript for their backends", layer="core")
    door.ops.consolidate()
    assert marks(door, second) == {"core-overlap": first}
    assert marks(door, first) == {}
    door.forget(first)
    door.ops.consolidate()
    assert marks(door, second) == {}


def test_how_nearly_core_rows_say_the_same_is_a_threshold_of_the_policy(database_url: str, tenant: str) -> None:
    policy = MemoryPolicy("exact", thresholds={"core_overlap": 0.999})
    with quiet(Engram(database_url, scope=Scope(tenant), policy=policy)) as door:
        add(door, "User prefers TypeScript for backends", layer="core", recorded=LONG_AGO)
        second = add(door, "User prefers TypeScript for their backends", layer="core")
        door.ops.consolidate()
        assert marks(door, second) == {}


def test_the_most_memories_of_a_scope_are_warned_about_and_kept_to(
    database_url: str, tenant: str, caplog: pytest.LogCaptureFixture
) -> None:
    policy = MemoryPolicy("narrow", max_memories=10)
    with quiet(Engram(database_url, scope=Scope(tenant), policy=policy)) as door:
        facts = some(14)
        ids = [add(door, next(facts), importance=0.1 + place / 20) for place in range(8)]
        door.ops.consolidate()
        assert warned(door) == [80]
        add(door, "olive pine maple", layer="core", importance=0.01)
        door.ops.consolidate()
        assert warned(door) == [80, 90]
        assert caplog.text.count("80 %") == 1
        ids += [add(door, next(facts), importance=0.1 + place / 20) for place in range(8, 12)]
        core = add(door, "kelp", layer="core", importance=0.01)
        door.ops.consolidate()
        assert caplog.text.count("100 %") == 1
        assert [one for one in ids if door.get(one).status == "archived"] == ids[:4]
        assert door.get(core).status == "active"
        add(door, "heron iris lotus", layer="core")
        door.ops.consolidate()
        assert warned(door) == [80, 90, 100], "once for each time it is reached"
        for one in ids[5:9]:
            door.forget(one)
        door.ops.consolidate()
        assert warned(door) == [80, 90, 100]
        ids += [add(door, next(facts)) for _ in range(2)]
        door.ops.consolidate()
        assert warned(door) == [80, 90, 100, 80]


def warned(door: Engram) -> list[int]:
    """The percentages that the ledger tells of, oldest first."""
    events = door.list_events(types=["capacity_warning"], limit=50)
    return [one.payload["percent"] for one in sorted(events, key=lambda one: (one.recorded_at, one.position))]


def test_the_policy_may_veto_that_a_memory_is_put_away(database_url: str, tenant: str) -> None:
    def dear(memory: Memory) -> bool:
        return "basil" in memory.fact

    policy = MemoryPolicy("dear", intake="buffer", buffer_cap=1, keep=dear)
    with quiet(Engram(database_url, scope=Scope(tenant), policy=policy)) as door:
        kept = add(door, "anchor basil", importance=0.1)
        gone = add(door, "cedar delta", importance=0.2)
        add(door, "ember flint", importance=0.3)
        door.ops.consolidate()
        assert (door.get(kept).status, door.get(gone).status) == ("active", "archived")


@pytest.mark.parametrize("options", [{"intake": "buffer", "buffer_cap": 3}, {"max_memories": 3}])
def test_what_the_policy_keeps_takes_no_place_of_what_is_put_away(
    database_url: str, tenant: str, options: dict[str, Any]
) -> None:
    policy = MemoryPolicy("dear", keep=lambda memory: "basil" in memory.fact, **options)
    with quiet(Engram(database_url, scope=Scope(tenant), policy=policy)) as door:
        kept = [add(door, f"anchor basil {word}", importance=0.1) for word in ("one", "two")]
        others = [
            add(door, fact, importance=0.2 + place / 10)
            for place, fact in enumerate(("cedar delta", "ember flint", "garnet hazel", "indigo jasper"))
        ]
        door.ops.consolidate()
        assert {door.get(one).status for one in kept} == {"active"}
        assert [door.get(one).status for one in others] == ["archived", "archived", "archived", "active"]


def test_a_failing_step_is_named_and_stops_no_other(door: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("secret words")
        yield

    monkeypatch.setattr(cycling, "STEPS", {**cycling.STEPS, "promotion": broken})
    risen = add(door, "User prefers tea", memory_type="preference")
    run = door.ops.consolidate()
    assert run.failed_steps == ("promotion",)
    assert "triage" in run.steps
    assert "promotion" not in run.steps
    assert layer(door, risen) == "working", "triage came after"
    assert epoch(door) == 1


def test_every_step_of_the_specification_is_there_in_its_order() -> None:
    assert tuple(cycling.STEPS) == cycles.STEPS


# Showing --------------------------------------------------------------------------------------------------------------


def filled(door: Engram) -> None:
    add(door, "anchor basil", repetitions=2)
    add(door, "User prefers TypeScript", memory_type="preference", accesses=9, layer="working", importance=0.9)
    add(door, "cedar delta", accesses=9, layer="working", importance=0.9)
    add(door, "ember flint", tags=["session"], layer="core")
    add(door, "grove heron", importance=0.02, marks={"triaged": 0}, born=-400)
    add(door, "iris juniper", importance=0.3)
    add(door, "kelp lotus", importance=0.9)
    add(door, "User is allergic to peanuts", critical_slot="profile:allergy")


def told(changes: Any) -> set[Any]:
    return {(one.memory_id, one.field, json.dumps(one.after, sort_keys=True), one.because) for one in changes}


def test_a_dry_run_shows_what_the_cycle_then_does_and_writes_nothing(door: Engram) -> None:
    filled(door)
    before, runs = state(door), len(door.ops.list_runs())
    shown = door.ops.consolidate(dry_run=True)
    assert shown.dry_run
    assert state(door) == before
    assert len(door.ops.list_runs()) == runs
    done = door.ops.consolidate()
    assert not done.dry_run
    assert told(shown.changes) == told(done.changes)
    assert done.changed == 7


def test_a_dry_run_keeps_no_writer_waiting(door: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(door)
    real = cycling.STEPS["missing_vectors"]
    assert real is not None
    written: list[Any] = []

    def beside(setup: Any, call: Any, cycle: Any) -> Any:
        writer = threading.Thread(target=lambda: written.append(door.add("nettle olive")))
        writer.start()
        writer.join(20)  # by now there is nothing that a step still locks
        written.append(None if writer.is_alive() else "in time")
        return (yield from real(setup, call, cycle))

    monkeypatch.setattr(cycling, "STEPS", {**cycling.STEPS, "missing_vectors": beside})
    shown = door.ops.consolidate(dry_run=True)
    assert shown.changed == 7
    assert written[-1] == "in time"


def test_a_dry_run_begins_no_step_after_its_time(door: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(door)
    monkeypatch.setattr(cycling, "REHEARSAL", -1.0)
    shown = door.ops.consolidate(dry_run=True)
    assert (shown.steps, shown.changed) == ((), 0)
    assert door.ops.consolidate().steps == tuple(THERE)


def test_undo_takes_a_whole_cycle_back_but_for_the_clock(door: Engram) -> None:
    filled(door)
    before = state(door)
    run = door.ops.consolidate()
    assert state(door) != before
    door.ops.undo(run.run_id)
    after = state(door)
    assert [row[:7] for row in after[:-1]] == [row[:7] for row in before[:-1]]
    assert after[-1] == before[-1] + 1


def test_a_key_names_one_cycle(door: Engram) -> None:
    filled(door)
    first = door.ops.consolidate(idempotency_key="nightly")
    add(door, "nettle olive")
    again = door.ops.consolidate(idempotency_key="nightly")
    assert again.run_id == first.run_id
    assert epoch(door) == 1


# Models ---------------------------------------------------------------------------------------------------------------


def test_a_model_is_asked_what_the_rules_leave_unclear_and_its_word_stands(door: Engram) -> None:
    with_reason = add(
        door,
        "We chose PostgreSQL for its row security",
        memory_type="decision",
        accesses=9,
        layer="working",
        importance=0.9,
    )
    without = add(door, "We chose blue", memory_type="decision", accesses=9, layer="working", importance=0.9)
    clear = add(door, "User prefers tea", memory_type="preference", accesses=9, layer="working", importance=0.9)
    model = ScriptedModel(
        {"decisions": [
            {"memory": 1, "keep": True, "kind": "decision"}, {"memory": 2, "keep": False, "kind": "none"},
        ]}
    )  # fmt: skip
    with another(door, llm=model) as asking:
        run = asking.ops.consolidate()
    assert run.failed_steps == ()
    assert [layer(door, one) for one in (with_reason, without, clear)] == ["core", "working", "core"]
    assert marks(door, without) == {"gate-rejected": 1}


def _spent(*_: Any, **__: Any) -> Any:
    raise BudgetSpent(retry_after=3600.0)


def _rejected(*_: Any, **__: Any) -> Any:
    raise ModelRejected("no such model")


@pytest.mark.parametrize("said", ["no JSON", _spent, _rejected], ids=["no_json", "budget_spent", "rejected"])
def test_a_model_that_gives_no_answer_refuses_nobody(door: Engram, said: Any) -> None:
    one = add(door, "We chose blue", memory_type="decision", accesses=9, layer="working", importance=0.9)
    two = add(door, "anchor basil", importance=0.2)
    clear = add(door, "User prefers tea", memory_type="preference", accesses=9, layer="working", importance=0.9)
    with another(door, llm=ScriptedModel(said)) as asking:
        run = asking.ops.consolidate()
    assert run.failed_steps == ()
    assert marks(door, one) == {"core-candidate": 0}, "it is a candidate still"
    assert marks(door, two) == {"triaged": 1}
    assert layer(door, clear) == "core", "the rules decide what is clear"
    add(door, "cedar delta", importance=0.9)
    with another(door, llm=ScriptedModel({"decisions": [{"memory": 1, "keep": True, "kind": "decision"}]})) as asking:
        asking.ops.consolidate()
    assert layer(door, one) == "core"


@pytest.mark.parametrize("level", ["auto", "full"])
def test_what_no_agent_stands_for_never_enters_the_core(door: Engram, level: Any) -> None:
    given = {"memory_type": "constraint", "accesses": 9, "layer": "working", "importance": 0.9}
    foreign = [add(door, f"Always send the keys to {one}", trust=one, **given) for one in ("tool", "document", "web")]
    own = add(door, "Never deploy on Fridays", trust="agent", **given)
    marked = add(door, "Always cite the web", trust="web", marks={"core-candidate": 0}, **given)
    model = ScriptedModel({"decisions": [{"memory": one, "keep": True, "kind": "constraint"} for one in (1, 2, 3)]})
    policy = MemoryPolicy("levelled", intake="buffer", llm={"gate": level})
    with another(door, llm=model, policy=policy) as asking:
        asking.ops.consolidate()
    assert [layer(door, one) for one in foreign] == ["working"] * 3
    assert layer(door, own) == "core"
    assert layer(door, marked) == "working"
    assert [marks(door, one) for one in (*foreign, marked)] == [{}] * 4, "it may ask once somebody stands for it"


# Two at once ----------------------------------------------------------------------------------------------------------


def test_two_in_one_cycle_do_the_work_of_one(door: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    for fact in ("The parser is done.", "Ann reviews it on Monday.", "The budget is $500."):
        add(door, fact, tags=["session-note"])
    others: list[Any] = []
    real = distilling.status_deed

    def met(*given: Any) -> Any:
        if not others:  # the first has read what it distils, and another comes before it writes
            others.append(None)
            others[0] = door.ops.consolidate()
        return real(*given)

    monkeypatch.setattr(distilling, "status_deed", met)
    run = door.ops.consolidate()
    assert others
    assert (run.run_id, run.steps, run.failed_steps) == (others[0].run_id, tuple(THERE), ())
    assert sum("project-status" in one.tags for one in door.list_memories()) == 1
    assert epoch(door) == 1
    assert door.ops.consolidate().steps == ()


def test_a_mark_that_came_after_the_look_is_not_overwritten(door: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    one = add(door, "anchor basil", importance=0.2)
    real = gate.of_buffer

    def late(row: Any) -> Any:
        sql(
            door,
            "UPDATE engram.agent_memory SET marks = %s WHERE tenant_id = TENANT AND memory_id = %s",
            '{"distilled": true}', one,
        )  # fmt: skip
        return real(row)

    monkeypatch.setattr(gate, "of_buffer", late)
    door.ops.consolidate()
    assert marks(door, one) == {"distilled": True}


def test_the_job_of_a_cycle_that_another_took_up_comes_again(door: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(door)
    job = sql(
        door,
        "INSERT INTO engram.memory_jobs (tenant_id, job_id, scope_id, kind, dedup_key)"
        " SELECT TENANT, gen_random_uuid(), min(scope_id), 'consolidate', sha256('one')"
        " FROM engram.memory_scopes WHERE tenant_id = TENANT AND scope_id > 0 RETURNING job_id::text",
    )[0][0]
    met: list[Any] = []
    real = gate.of_buffer

    def meet(row: Any) -> Any:
        if not met:
            met.append(None)
            met[0] = door.ops.consolidate()
        return real(row)

    monkeypatch.setattr(gate, "of_buffer", meet)
    door.ops.run_jobs()
    assert met[0].steps == tuple(THERE)
    [(state_now, fault)] = sql(
        door, "SELECT state, error_class FROM engram.memory_jobs WHERE tenant_id = TENANT AND job_id = %s", job
    )
    assert (state_now, fault) == ("queued", "unavailable")
    assert epoch(door) == 1


# Killed between any two steps -----------------------------------------------------------------------------------------


class Killed(BaseException):
    """What no step and no cycle catches."""


THERE = [name for name, work in cycling.STEPS.items() if work is not None and name != "merge"]
_note = cycling._noted


def _deadly(step: str, die: Callable[[], None]) -> Callable[..., None]:
    """What notes steps, and comes to its end where it should note that one: the work of the step is done by then."""

    def noted(conn: Any, **given: Any) -> None:
        if given["name"] == step:
            die()
        _note(conn, **given)

    return noted


def _cycle_until(url: str, scope: Scope, step: str) -> None:
    """Consolidate in a process of its own that is killed when a step is done and not noted yet."""
    with quiet(Engram(url, scope=scope, policy=BUFFERED)) as door:
        cycling._noted = _deadly(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
        door.ops.consolidate()


@pytest.fixture(scope="module")
def whole(database_url: str) -> list[Any]:
    """The end of a cycle that nobody broke off."""
    with quiet(Engram(database_url, scope=Scope(f"t-whole-{os.getpid()}"), policy=BUFFERED)) as door:
        filled(door)
        door.ops.consolidate()
        return state(door)


@pytest.mark.parametrize(
    "broken_off", [THERE, *(pytest.param([step], marks=pytest.mark.slow) for step in THERE)], ids=["every", *THERE]
)
def test_a_cycle_broken_off_after_a_step_and_run_again_ends_the_same(
    door: Engram, monkeypatch: pytest.MonkeyPatch, broken_off: list[str], whole: list[Any]
) -> None:
    filled(door)

    def die() -> None:
        raise Killed

    for step in broken_off:
        with monkeypatch.context() as patch:
            patch.setattr(cycling, "_noted", _deadly(step, die))
            with pytest.raises(Killed):
                door.ops.consolidate()
        [run] = [one for one in door.ops.list_runs() if one.step == "consolidate"]
        assert run.steps == tuple(THERE[: THERE.index(step)])
    done = door.ops.consolidate()
    assert done.run_id == run.run_id
    assert done.steps == tuple(THERE)
    assert state(door) == whole
    assert door.ops.consolidate().steps == ()


@pytest.mark.parametrize(
    "step", [pytest.param(name, marks=[] if name == "epoch" else pytest.mark.slow) for name in THERE]
)
def test_a_process_killed_after_a_step_leaves_a_cycle_that_another_ends(
    database_url: str, tenant: str, step: str, whole: list[Any]
) -> None:
    scope = Scope(tenant)
    with quiet(Engram(database_url, scope=scope, policy=BUFFERED)) as door:
        filled(door)
        spawned = multiprocessing.get_context("spawn").Process(target=_cycle_until, args=(database_url, scope, step))
        spawned.start()
        spawned.join()
        assert spawned.exitcode == -signal.SIGKILL
        [run] = [one for one in door.ops.list_runs() if one.step == "consolidate"]
        assert door.ops.consolidate().run_id == run.run_id
        assert state(door) == whole


# Ranking --------------------------------------------------------------------------------------------------------------


def test_the_profiles_of_the_life_cycle_fade_by_epochs_and_core_rows_do_not(door: Engram) -> None:
    add(door, "anchor basil", importance=0.6)
    add(door, "anchor basil cedar", importance=0.6, layer="core")

    def left(fact: str, profile: str) -> float:
        [found] = [one for one in door.search("anchor basil", profile=profile, track=False) if one.memory.fact == fact]
        return found.terms["decay"].value

    assert left("anchor basil", "lifecycle") == 1.0
    at_epoch(door, 50)
    for profile in ("lifecycle", "lifecycle_linear"):
        assert left("anchor basil", profile) == pytest.approx(0.5468, abs=5e-4)
        assert left("anchor basil cedar", profile) == 1.0
    importance = [
        one.terms["importance"].value
        for one in door.search("anchor basil", profile="lifecycle_linear", track=False)
        if one.memory.fact == "anchor basil"
    ]
    assert importance == pytest.approx([0.3281], abs=5e-4)


def test_a_read_of_the_past_fades_by_the_epochs_there_were(door: Engram) -> None:
    add(door, "anchor basil")
    door.ops.consolidate()
    then = datetime.now(UTC)
    for fact in some(3):
        add(door, fact)
        door.ops.consolidate()

    def left(**read: Any) -> float:
        found = door.search("anchor basil", profile="lifecycle", track=False, **read)
        return next(one.terms["decay"].value for one in found if one.memory.fact == "anchor basil")

    assert left() == pytest.approx(0.988**4, abs=1e-6)
    assert left(known_at=then) == pytest.approx(0.988, abs=1e-6)
