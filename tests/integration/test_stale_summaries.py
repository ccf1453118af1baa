"""A summary stands for what is current, open to all and without an end; else it leaves and the rest comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from angles import Angles, added, facts
from quiet import quiet

from engram import Engram, Filter, Scope
from engram.lifecycle.deeds import NEW, Deed, Effect
from engram.operations import living
from engram.policies.classify import Classified
from engram.writing import Draft, noting

MONDAY: Final = "Ann works at the mill on Monday with boats"
OTHERS: Final = ("Ann works at the mill with boats", "Ann works at the mill near the weir with boats")
LATER: Final = datetime(2190, 1, 1, tzinfo=UTC)
EVERY: Final = ("active", "superseded", "contested", "archived", "deleted", "quarantined")


@pytest.fixture
def angles() -> Angles:
    return Angles()


@pytest.fixture
def ada(database_url: str, tenant: str, angles: Angles) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder=angles) as door:  # type: ignore[arg-type]
        yield quiet(door)


def summarised(door: Engram, angles: Angles) -> tuple[str, str]:
    """Three memories and what stands for them: the id of the one about Monday, and of the summary."""
    source, *_ = [added(door, angles.say(fact, 1 - place * 0.02)) for place, fact in enumerate((MONDAY, *OTHERS))]
    door.ops.consolidate_summaries()
    (summary,) = list(door.list_memories())
    assert "Monday" in summary.fact
    return source, summary.memory_id


def state(door: Engram) -> dict[str, dict[str, Any]]:
    found = {}
    for one in door.list_memories(filter=Filter(statuses=EVERY), limit=200):
        kept = one.to_dict()
        for name in ("activity", "citations", "superseded_at"):
            kept.pop(name)
        found[one.memory_id] = kept
    return {name: row for name, row in found.items() if row["status_reason"] != "retracted"}


def facts_of(door: Engram) -> dict[str, str]:
    return {one.fact: one.memory_id for one in door.list_memories(limit=100)}


def newest(door: Engram) -> str:
    return str(door.list_events(newest_first=True, limit=1)[0].event_id)


def perform(door: Engram, *deeds: Deed) -> str:
    call = door._setup.writing({})

    def work() -> Any:
        run = yield from living.opened(call, "tidying")
        changes = yield from living.act(door._setup, run, deeds)
        return (yield from living.closed(run, changes))

    return str(door._run(work()).run_id)


def put_away(door: Engram, memory_id: str) -> str:
    columns = {"status": "archived", "status_reason": "pruned"}
    effect = Effect(memory_id, columns, "it is in the way", was={"status": "active"})
    return perform(door, Deed(effects=(effect,)))


ROADS: Final[dict[str, tuple[Callable[[Engram, str], Any], set[str]]]] = {
    "revise": (
        lambda door, one: door.revise(one, "Ann works at the mill on Friday with boats"),
        {"Ann works at the mill on Friday with boats"},
    ),
    "supersedes": (
        lambda door, one: door.add("Ann left on a Friday", supersedes=[one], force=True), {"Ann left on a Friday"},
    ),
    "forget": (lambda door, one: door.forget(one), set()),
    "retract": (lambda door, one: door.forget(one, revision_only=True), set()),
    "end": (lambda door, one: door.end_validity(one), set()),
    "end_later": (lambda door, one: door.end_validity(one, LATER), {MONDAY}),
    "expire_later": (lambda door, one: door.annotate(one, expires_at=LATER), {MONDAY}),
    "private": (lambda door, one: door.annotate(one, private=True), {MONDAY}),
    "put_away": (put_away, set()),
}  # fmt: skip


@pytest.mark.parametrize("road", list(ROADS))
def test_a_summary_goes_with_what_it_tells_and_comes_back_with_it(ada: Engram, angles: Angles, road: str) -> None:
    source, summary = summarised(ada, angles)
    before = state(ada)
    act, told = ROADS[road]
    act(ada, source)
    assert facts(ada) == {*OTHERS, *told}
    gone = ada.get(summary)
    assert (gone.status, gone.status_reason) == ("archived", "stale")
    assert all(one["consolidated_into"] is None for one in state(ada).values())
    assert {one.event_id for one in ada.get_history(memory_id=summary, limit=1)} == {newest(ada)}
    done = ada.ops.replay()
    assert not done.problems
    assert done.live_hash == done.shadow_hash
    report = ada.ops.undo(newest(ada))
    assert not report.left
    assert state(ada) == before
    again = ada.ops.replay()
    assert again.live_hash == again.shadow_hash


def test_what_was_made_private_is_told_to_nobody_else(database_url: str, tenant: str, angles: Angles) -> None:
    with Engram(database_url, scope=Scope(tenant), embedder=angles) as common:  # type: ignore[arg-type]
        quiet(common)
        source, _ = summarised(common, angles)
        ada = common.scoped(user_id="ada")
        common.annotate(source, private=True)
        assert facts(ada) == set(OTHERS)
        assert not any("Monday" in hit.memory.fact for hit in ada.search("Monday", include_consolidated=True))


def test_a_note_on_a_source_leaves_its_summary(ada: Engram, angles: Angles) -> None:
    source, summary = summarised(ada, angles)
    ada.annotate(source, tags=["work"], importance=0.9)
    ada.reinforce(source, 0.1)
    assert ada.get(summary).status == "active"
    assert ada.get(source).consolidated_into == summary


def test_a_write_that_no_summary_has_to_do_with_asks_nothing_of_any(
    ada: Engram, angles: Angles, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, _ = summarised(ada, angles)
    other = added(ada, "Ann sails a ketch")
    asked: list[object] = []
    monkeypatch.setattr(noting, "follow_summaries", lambda *given: asked.append(given))
    ada.revise(other, "Ann sails a yawl")
    ada.add("Ann sails a sloop", supersedes=[facts_of(ada)["Ann sails a yawl"]], force=True)
    assert not asked
    ada.revise(source, "Ann works at the mill on Friday with boats")
    assert asked


@pytest.mark.parametrize("how", ["revise", "supersedes", "end", "expire_later"])
def test_what_a_summary_stood_for_comes_back_when_it_is_replaced_or_may_end(
    ada: Engram, angles: Angles, how: str
) -> None:
    _, summary = summarised(ada, angles)
    before = state(ada)
    ROADS[how][0](ada, summary)
    assert facts(ada) >= {MONDAY, *OTHERS}
    done = ada.ops.replay()
    assert done.live_hash == done.shadow_hash
    assert not ada.ops.undo(newest(ada)).left
    assert state(ada) == before


def test_a_summary_made_private_does_not_give_away_what_it_stood_for(ada: Engram, angles: Angles) -> None:
    source, summary = summarised(ada, angles)
    ada.annotate(summary, private=True)
    assert ada.get(source).consolidated_into == summary


def test_a_summary_in_a_summary_goes_too(ada: Engram, angles: Angles) -> None:
    source, summary = summarised(ada, angles)
    other = added(ada, "Ann sails a ketch")
    both = Draft("Ann works at the mill on Monday, near the weir, and sails a ketch", Classified("semantic"))
    perform(
        ada,
        Deed(
            effects=tuple(Effect(one, {"consolidated_into": NEW}, "told") for one in (summary, other)), draft=both,
            of=(summary, other),
        ),
    )  # fmt: skip
    before = state(ada)
    assert facts(ada) == {both.fact}
    ada.forget(source)
    assert facts(ada) == {*OTHERS, "Ann sails a ketch"}
    assert not ada.ops.undo(newest(ada)).left
    assert state(ada) == before


def test_an_older_state_put_back_takes_no_stale_summary_along(ada: Engram, angles: Angles) -> None:
    source, summary = summarised(ada, angles)
    run = ada.ops.archive([summary])
    ada.revise(source, "Ann works at the mill on Friday with boats")
    ada.ops.undo(run.run_id)
    assert facts(ada) == {"Ann works at the mill on Friday with boats", *OTHERS}
    done = ada.ops.replay()
    assert done.live_hash == done.shadow_hash
