"""Runs of the life cycle: what they do is told, kept apart from what changed meanwhile, replayed, and taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from quiet import quiet

from engram import Conflict, Engram, IdempotencyMismatch, InvalidInput, LifecycleRun, Memory, NotFound, Scope
from engram.lifecycle.deeds import NEW, Count, Deed, Effect, Tie, archived
from engram.operations import living
from engram.operations.setup import Setup
from engram.policies.classify import Classified
from engram.writing import Draft


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder="none") as door:
        yield quiet(door)


def added(door: Engram, fact: str, **more: Any) -> Memory:
    memory = door.add(fact, **more).memory
    assert memory is not None
    return memory


def state(door: Engram) -> dict[str, Any]:
    """All that can be seen of a scope's memories but how often they were read."""
    page = door.list_memories(
        limit=200,
        filter={"statuses": ["active", "superseded", "contested", "archived", "deleted"]},  # type: ignore[arg-type]
    )
    found = {}
    for one in page.results:
        kept = one.to_dict()
        for name in ("activity", "citations", "superseded_at"):
            kept.pop(name)
        found[one.memory_id] = kept
    return found


def relations(door: Engram) -> set[tuple[str, str, str]]:
    ids = [one.memory_id for one in door.list_memories(limit=200)]
    return {(r.source_id, r.target_id, r.relation_type) for one in ids for r in door.list_relations(one)}


def perform(door: Engram, step: str, *deeds: Deed) -> str:
    setup: Setup = door._setup
    call = setup.writing({})

    def work() -> Any:
        run = yield from living.opened(call, step)
        changes = yield from living.act(setup, run, deeds)
        return (yield from living.closed(run, changes))

    made = door._run(work())
    return str(made.run_id)


def summary(fact: str) -> Draft:
    classified = Classified(
        memory_type="semantic", category=None, importance=0.5, critical_slot=None, conflict_key=None, subject=None,
        rule=None, expires_in=None, negates=None,
    )  # fmt: skip
    return Draft(fact, classified)


def test_what_is_put_away_is_gone_from_search_and_comes_back(ada: Engram) -> None:
    kept, gone = added(ada, "User keeps bees"), added(ada, "User sails a ketch")
    before = state(ada)
    run = ada.ops.archive([gone.memory_id], reason="out of season", actor="bo")
    assert (run.step, run.changed, run.reason, run.actor, run.undone) == ("archive", 1, "out of season", "bo", False)
    assert {(one.field, one.after) for one in run.changes} >= {("status", "archived")}
    assert [one.memory_id for one in ada.list_memories()] == [kept.memory_id]
    assert not [one for one in ada.search("ketch") if one.memory.memory_id == gone.memory_id]
    report = ada.ops.undo(run.run_id)
    assert not report.left
    assert report.changed == 1
    assert state(ada) == before
    assert ada.ops.list_runs().results[1].undone
    assert [one.entry for one in ada.get_history(memory_id=gone.memory_id)] == ["restored", "archived", "added"]


def test_what_comes_back_behind_a_newer_value_says_since_when_it_is_superseded(ada: Engram) -> None:
    first = ada.add("The office is in Paris", topic_key="office").memory
    assert first is not None
    ada.ops.archive([first.memory_id])
    second = ada.add("The office is in Rome", topic_key="office").memory
    assert second is not None
    back = ada.restore(first.memory_id)
    assert (back.status, back.superseded_by) == ("superseded", second.memory_id)
    assert back.superseded_at is not None
    assert back.superseded_at >= second.recorded_at


def test_restore_brings_back_what_was_put_away(ada: Engram) -> None:
    gone = added(ada, "User sails a ketch")
    ada.ops.archive([gone.short_id])
    assert ada.restore(gone.memory_id).status == "active"


def test_a_dry_run_shows_the_same_changes_and_writes_nothing(ada: Engram) -> None:
    gone, kept = added(ada, "User sails a ketch"), added(ada, "The mast is red")
    ada.ops.consolidate()
    acts: tuple[Callable[..., LifecycleRun], ...] = (
        lambda **more: ada.ops.set_layer(kept.memory_id, "core", **more),
        lambda **more: ada.merge([kept.memory_id, gone.memory_id], "User sails a ketch with a red mast", **more),
        lambda **more: ada.ops.archive([ada.get_current(kept.memory_id).memory_id], **more),
    )
    for act in acts:
        before, runs = state(ada), ada.ops.list_runs().results
        shown = act(dry_run=True)
        assert shown.dry_run
        assert (state(ada), ada.ops.list_runs().results) == (before, runs)
        done = act()
        assert [(one.field, one.because) for one in shown.changes] == [(one.field, one.because) for one in done.changes]
        assert shown.changed == done.changed > 0


def test_a_dry_run_under_a_key_is_answered_as_the_call_would_be(ada: Engram) -> None:
    gone = added(ada, "User sails a ketch")
    done = ada.ops.archive([gone.memory_id], idempotency_key="k")
    assert replace(ada.ops.archive([gone.memory_id], idempotency_key="k", dry_run=True), dry_run=False) == done
    with pytest.raises(IdempotencyMismatch):
        ada.ops.archive([added(ada, "The mast is red").memory_id], idempotency_key="k", dry_run=True)


def test_a_dry_run_makes_no_scope(ada: Engram, tmp_path: Path) -> None:
    for run in (ada.ops.prune, ada.ops.rebuild_topics, ada.ops.merge_similar, ada.ops.consolidate):
        assert run(dry_run=True, idempotency_key="look").changes == ()
    assert ada.ops.export(tmp_path / "nothing.jsonl").counts == {}


def test_the_same_key_is_the_same_run(ada: Engram) -> None:
    gone = added(ada, "User sails a ketch")
    first = ada.ops.archive([gone.memory_id], idempotency_key="k")
    assert ada.ops.archive([gone.memory_id], idempotency_key="k") == first
    assert len(ada.ops.list_runs().results) == 1


def test_only_current_memories_are_put_away(ada: Engram) -> None:
    old = added(ada, "Sprint 41", topic_key="sprint")
    added(ada, "Sprint 42", topic_key="sprint")
    with pytest.raises(Conflict):
        ada.ops.archive([old.memory_id])
    with pytest.raises(NotFound):
        ada.ops.archive(["0198c5a4-0000-7000-8000-000000000000"])
    with pytest.raises(InvalidInput):
        ada.ops.archive(old.memory_id)
    assert not [one for one in ada.ops.list_runs() if one.changed]


def test_putting_the_head_away_never_revives_an_older_value(ada: Engram) -> None:
    added(ada, "Sprint 41", topic_key="sprint")
    head = added(ada, "Sprint 42", topic_key="sprint")
    run = ada.ops.archive([head.memory_id])
    assert not ada.list_memories().results
    ada.ops.undo(run.run_id)
    assert [one.fact for one in ada.list_memories()] == ["Sprint 42"]


def test_a_layer_is_set_by_an_operator_and_a_pin_keeps_its_own(ada: Engram) -> None:
    memory = added(ada, "User keeps bees")
    pinned = added(ada, "No nuts", critical_slot="profile:allergy:nuts")
    run = ada.ops.set_layer(memory.memory_id, "core")
    assert ada.get(memory.memory_id).layer == "core"
    assert [(one.field, one.before, one.after) for one in run.changes if one.field == "layer"] == [
        ("layer", "working", "core")
    ]
    with pytest.raises(Conflict):
        ada.ops.set_layer(pinned.memory_id, "buffer")
    ada.ops.undo(run.run_id)
    assert ada.get(memory.memory_id).layer == "working"


def test_a_memory_that_changed_since_is_left_and_listed(ada: Engram) -> None:
    one, two = added(ada, "User keeps bees"), added(ada, "User sails a ketch")
    run = perform(ada, "weigh", Deed((Effect(one.memory_id, {"importance": 0.9}, "w"),)),
                  Deed((Effect(two.memory_id, {"importance": 0.9}, "w"),)))  # fmt: skip
    ada.annotate(one.memory_id, importance=0.3)
    report = ada.ops.undo(run)
    assert [(left.memory_id, left.field) for left in report.left] == [(one.memory_id, "importance")]
    assert ada.get(one.memory_id).importance == 0.3
    assert ada.get(two.memory_id).importance == two.importance


def test_what_else_changed_does_not_stand_in_the_way(ada: Engram) -> None:
    one = added(ada, "User keeps bees")
    run = ada.ops.archive([one.memory_id])
    ada.annotate(one.memory_id, tags=["hive"])
    assert not ada.ops.undo(run.run_id).left
    assert (ada.get(one.memory_id).status, ada.get(one.memory_id).tags) == ("active", ("hive",))


def test_a_run_is_taken_back_once_and_an_undoing_can_be_undone(ada: Engram) -> None:
    gone = added(ada, "User sails a ketch")
    run = ada.ops.archive([gone.memory_id])
    back = ada.ops.undo(run.run_id)
    with pytest.raises(Conflict):
        ada.ops.undo(run.run_id)
    ada.ops.undo(back.run_id)
    assert ada.get(gone.memory_id).status == "archived"
    ada.ops.undo(run.run_id)
    assert ada.get(gone.memory_id).status == "active"


def test_a_deed_is_done_whole_or_not_at_all(ada: Engram) -> None:
    one, two = added(ada, "User keeps bees"), added(ada, "User sails a ketch")
    ada.forget(two.memory_id)
    deed = Deed((Effect(one.memory_id, {"importance": 0.9}, "w"), archived(two.memory_id, "merged", "w")))
    perform(ada, "weigh", deed)
    assert ada.get(one.memory_id).importance == one.importance


def test_a_memory_made_by_a_deed_keeps_its_sources_and_is_put_aside_by_undo(ada: Engram) -> None:
    one, two = added(ada, "User keeps bees"), added(ada, "User keeps bees in Kent", trust="agent")
    before = state(ada)
    deed = Deed(
        effects=(
            Effect(one.memory_id, {"consolidated_into": NEW}, "summarised"),
            Effect(two.memory_id, {"consolidated_into": NEW}, "summarised"),
        ),
        counts=(Count(one.memory_id, accesses=5),),
        ties=(Tie(NEW, one.memory_id, "derived_from"), Tie(NEW, two.memory_id, "derived_from")),
        draft=summary("User keeps bees, in Kent"), of=(one.memory_id, two.memory_id),
    )  # fmt: skip
    run = perform(ada, "consolidate_summaries", deed)
    made = ada.list_memories().results
    assert [memory.fact for memory in made] == ["User keeps bees, in Kent"]
    assert made[0].trust == "agent"  # the worst of what it was made of
    assert {r.target_id for r in ada.list_relations(made[0].memory_id)} == {one.memory_id, two.memory_id}
    assert ada.get(one.memory_id).activity.access_count == 5
    quoted = ada.explain_memory(made[0].memory_id).citations
    assert [citation.quote for citation in quoted] == ["User keeps bees, in Kent"]
    ada.ops.undo(run)
    after = state(ada)
    assert after.pop(made[0].memory_id)["status_reason"] == "retracted"
    assert after == before
    assert not ada.list_relations(one.memory_id)
    assert ada.get(one.memory_id).activity.access_count == 0


def test_a_direct_change_is_taken_back_by_its_event(ada: Engram) -> None:
    added(ada, "Sprint 41", topic_key="sprint")
    before = state(ada)
    second = ada.add("Sprint 42", topic_key="sprint")
    assert second.event_id is not None
    assert second.memory is not None
    ada.ops.undo(second.event_id)
    after = state(ada)
    assert after.pop(second.memory.memory_id)["status"] == "deleted"
    assert after == before
    assert [one.fact for one in ada.list_memories()] == ["Sprint 41"]


def test_a_repetition_is_taken_back(ada: Engram) -> None:
    one = added(ada, "User keeps bees")
    again = ada.add("User keeps bees", tags=["hive"])
    assert again.kind == "reinforce"
    assert again.event_id is not None
    ada.ops.undo(again.event_id)
    now = ada.get(one.memory_id)
    assert (now.tags, now.activity.repetition_count) == ((), 0)


def test_what_was_erased_is_not_brought_back(ada: Engram) -> None:
    made = ada.add("User sails a ketch")
    assert made.event_id is not None
    assert made.memory is not None
    run = ada.ops.archive([made.memory.memory_id])
    ada.ops.redact_event(made.event_id)
    with pytest.raises(Conflict):
        ada.ops.undo(made.event_id)
    assert not ada.ops.undo(run.run_id).undone
    assert ada.get(made.memory.memory_id).fact == ""


def test_runs_are_seen_by_their_own_scope_only(ada: Engram, tenant: str) -> None:
    run = ada.ops.archive([added(ada, "User sails a ketch").memory_id])
    bo = ada.scoped(Scope(tenant, user_id="bo"))
    assert not bo.ops.list_runs().results
    with pytest.raises(NotFound):
        bo.ops.undo(run.run_id)
    stranger = ada.scoped(Scope(tenant + "x", user_id="ada"))
    with pytest.raises(NotFound):
        stranger.ops.undo(run.run_id)


def test_known_at_sees_what_was_before_a_run(ada: Engram) -> None:
    gone = added(ada, "User sails a ketch")
    then = gone.recorded_at
    ada.ops.archive([gone.memory_id])
    assert [one.memory_id for one in ada.list_memories(known_at=then)] == [gone.memory_id]
    assert not ada.list_memories().results


def test_a_replay_does_what_the_runs_did(ada: Engram) -> None:
    one, two = added(ada, "User keeps bees"), added(ada, "User keeps bees in Kent")
    three = added(ada, "User sails a ketch")
    deed = Deed(
        effects=(
            Effect(one.memory_id, {"consolidated_into": NEW}, "summarised"),
            Effect(two.memory_id, {"consolidated_into": NEW, "tags": ["hive"]}, "summarised"),
        ),
        ties=(Tie(NEW, one.memory_id, "derived_from"),), draft=summary("User keeps bees, in Kent"),
        of=(one.memory_id, two.memory_id),
    )  # fmt: skip
    perform(ada, "consolidate_summaries", deed)
    first = ada.ops.archive([three.memory_id])
    ada.ops.undo(first.run_id)
    ada.ops.set_layer(three.memory_id, "core")
    diff = ada.ops.replay()
    assert not diff.problems
    assert (diff.added, diff.dropped, diff.changed) == ((), (), ())
    assert diff.live_hash == diff.shadow_hash
    ada.ops.switch_replay(diff.shadow_id)
    assert ada.get(three.memory_id).layer == "core"


def test_a_run_of_many_memories_is_taken_back_in_batches(ada: Engram) -> None:
    many = ada.add_many([{"fact": f"User has counted {n} herons"} for n in range(450)])
    ids = [one.memory.memory_id for one in many if one.memory is not None]
    run = perform(ada, "weigh", *(Deed((archived(one, "pruned", "w"),)) for one in ids))
    assert ada.stats().by_status == {"archived": 450}
    report = ada.ops.undo(run)
    assert report.changed == 450
    assert not report.left
    assert ada.stats().by_status == {"active": 450}
    assert ada.ops.verify_ledger().ok


def test_a_run_lists_its_pages_and_refuses_a_foreign_cursor(ada: Engram) -> None:
    ids = [added(ada, f"User owns kayak {n}").memory_id for n in range(5)]
    runs = [ada.ops.archive([one]).run_id for one in ids]
    seen: list[str] = []
    cursor = None
    while True:
        page = ada.ops.list_runs(limit=2, cursor=cursor)
        seen += [one.run_id for one in page]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == runs[::-1]
    with pytest.raises(InvalidInput):
        ada.ops.list_runs(cursor=ada.list_memories(limit=1).cursor or "x")


def test_of_two_deeds_about_one_memory_the_first_is_done(ada: Engram) -> None:
    one, two = added(ada, "User keeps bees"), added(ada, "User sails a ketch")
    perform(
        ada, "weigh", Deed((Effect(one.memory_id, {"importance": 0.9}, "w"),)),
        Deed((Effect(one.memory_id, {"layer": "core"}, "w"), Effect(two.memory_id, {"importance": 0.9}, "w"))),
    )  # fmt: skip
    assert (ada.get(one.memory_id).importance, ada.get(one.memory_id).layer) == (0.9, "working")
    assert ada.get(two.memory_id).importance == two.importance


def test_two_effects_of_a_deed_on_one_memory_are_both_done(ada: Engram) -> None:
    one = added(ada, "User keeps bees")
    effects = (Effect(one.memory_id, {"importance": 0.9}, "w"), Effect(one.memory_id, {"layer": "core"}, "w"))
    perform(ada, "weigh", Deed(effects))
    assert (ada.get(one.memory_id).importance, ada.get(one.memory_id).layer) == (0.9, "core")


def test_undoing_is_rehearsed_whole(ada: Engram) -> None:
    many = ada.add_many([{"fact": f"User has counted {n} herons"} for n in range(250)])
    ids = [one.memory.memory_id for one in many if one.memory is not None]
    run = perform(ada, "weigh", *(Deed((Effect(one, {"importance": 0.9}, "w"),)) for one in ids))
    shown = ada.ops.undo(run, dry_run=True)
    assert (shown.changed, shown.left) == (250, ())
    assert {one.importance for one in ada.list_memories(limit=200)} == {0.9}
    assert ada.ops.undo(run).changed == 250
