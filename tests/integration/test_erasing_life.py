"""Erasing what the life cycle has worked with: what it put away comes back, a replay agrees, no reason is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from alone import Alone
from angles import Angles, added, facts
from quiet import quiet
from test_erasing import owner
from test_erasing_changes import DIGITS
from traces import hits

from engram import Engram, Scope, WriteDecision
from engram.operations import erasing

WORD = "qanlife"


@pytest.fixture
def angles() -> Angles:
    return Angles()


@pytest.fixture
def ada(alone: Alone, tenant: str, angles: Angles) -> Iterator[Engram]:
    with Engram(alone.url(), scope=Scope(tenant, user_id="ada"), embedder=angles, policy="default") as door:
        yield quiet(door)


def agrees(door: Engram) -> bool:
    """Whether a replay comes to the same memories as are there."""
    found = door.ops.replay()
    return found.live_hash == found.shadow_hash


def two_boats(door: Engram) -> tuple[str, str]:
    return added(door, "User owns a red boat"), added(door, "User owns a blue car")


def alike(door: Engram, angles: Angles, axis: int = 1, **given: Any) -> tuple[str, str]:
    """A winner and a loser of the next run of merges; only words of their own make the event one of its own."""
    what = f"tool{axis}"
    return (
        added(door, angles.say(f"User prefers {what}", 1.0 if axis == 1 else 0.2, axis), importance=0.8,
              memory_type="preference", tags=given.get("winner", [])),
        added(door, angles.say(f"User likes {what}", 0.92 if axis == 1 else 0.21, axis), importance=0.7,
              memory_type="preference", tags=given.get("loser", [])),
    )  # fmt: skip


@pytest.mark.parametrize("erased", [0, 1])
def test_erasing_one_of_a_merge_by_hand_leaves_the_other_as_it_was(ada: Engram, erased: int) -> None:
    boats = two_boats(ada)
    said = [ada.get(one).fact for one in boats]
    ada.merge(boats, "User owns a red boat and a blue car")
    assert ada.ops.erase(memories=[boats[erased]]).clean
    assert facts(ada) == {said[1 - erased]}
    assert agrees(ada)


def test_erasing_one_of_three_that_were_merged_by_hand_leaves_two(ada: Engram) -> None:
    ids = [*two_boats(ada), added(ada, "User owns a green van")]
    ada.merge(ids, "User owns a red boat, a blue car and a green van")
    assert ada.ops.erase(memories=[ids[1]]).clean
    assert facts(ada) == {"User owns a red boat", "User owns a green van"}
    assert agrees(ada)


def test_a_merged_text_that_was_said_again_by_somebody_keeps_its_place(ada: Engram) -> None:
    first, other = two_boats(ada)
    ada.merge([first, other], "User owns a red boat and a blue car")
    head = ada.get_current(first)
    ada.revise(head.memory_id, "User owns a red boat and two blue cars")
    ada.ops.erase(memories=[other])
    assert facts(ada) == {"User owns a red boat and two blue cars"}


@pytest.mark.parametrize("tags", [{}, {"winner": ["a"], "loser": ["b"]}], ids=["shared event", "own event"])
@pytest.mark.parametrize("erased", ["winner", "loser"])
def test_erasing_one_of_a_merge_leaves_the_other_and_a_replay_agrees(
    ada: Engram, angles: Angles, tags: dict[str, Any], erased: str
) -> None:
    winner, loser = alike(ada, angles, **tags)
    ada.ops.merge_similar(reason="cleaning")
    assert facts(ada) == {"User prefers tool1"}
    report = ada.ops.erase(memories=[winner if erased == "winner" else loser])
    assert (report.remaining, report.clean) == ({}, True)
    left = ada.get(loser if erased == "winner" else winner)
    assert (left.is_current, left.superseded_by) == (True, None)
    assert left.tags == tuple(tags.get("loser" if erased == "winner" else "winner", ()))
    assert agrees(ada)


def test_an_erasure_takes_back_no_other_merge_of_the_same_event(ada: Engram, angles: Angles) -> None:
    winner, loser = alike(ada, angles)
    other, apart = alike(ada, angles, 2)
    ada.ops.merge_similar()
    assert {ada.get(one).status_reason for one in (loser, apart)} == {"merged"}
    ada.ops.erase(memories=[winner])
    assert (ada.get(loser).is_current, ada.get(apart).status_reason, ada.get(other).is_current) == (
        True,
        "merged",
        True,
    )
    assert agrees(ada)


def test_erasing_a_source_of_a_summary_leaves_the_others_and_a_replay_agrees(ada: Engram, angles: Angles) -> None:
    where = ["with boats", "on Monday with boats", "near the weir with boats"]
    sources = [added(ada, angles.say(f"Ann works at the mill {one}", 1 - at * 0.02, 3)) for at, one in enumerate(where)]
    ada.ops.consolidate_summaries()
    assert len(facts(ada)) == 1
    assert ada.ops.erase(memories=[sources[0]]).clean
    assert facts(ada) == {f"Ann works at the mill {one}" for one in where[1:]}
    assert agrees(ada)


def test_nothing_goes_again_into_what_was_erased_when_an_undone_run_is_done_again(ada: Engram, angles: Angles) -> None:
    where = ["with boats", "on Monday with boats", "near the weir with boats"]
    sources = [added(ada, angles.say(f"Ann works at the mill {one}", 1 - at * 0.02, 3)) for at, one in enumerate(where)]
    before = facts(ada)
    run = ada.ops.consolidate_summaries()
    (summary,) = ada.list_memories()
    undone = ada.ops.undo(run.run_id)
    assert facts(ada) == before
    assert ada.ops.erase(memories=[summary.memory_id]).clean
    again = ada.ops.undo(undone.run_id)
    assert facts(ada) == before
    told = {(one.memory_id, one.field, one.before, one.after, one.because) for one in again.left}
    why = "what it would go into is erased"
    assert told == {(one, "consolidated_into", summary.memory_id, None, why) for one in sources}
    assert agrees(ada)


def test_a_merge_that_is_done_again_leaves_the_loser_of_an_erased_winner(ada: Engram, angles: Angles) -> None:
    winner, loser = alike(ada, angles, winner=["a"], loser=["b"])
    undone = ada.ops.undo(ada.ops.merge_similar().run_id)
    assert ada.ops.erase(memories=[winner]).clean
    again = ada.ops.undo(undone.run_id)
    assert ada.get(loser).is_current
    assert {(one.memory_id, one.because) for one in again.left} == {(loser, "what it would go into is erased")}
    assert agrees(ada)


def test_erasing_a_note_of_a_distillation_takes_its_status_and_a_replay_agrees(ada: Engram) -> None:
    said = "The parser is done.", "Bob reviews it on Tuesday.", "The budget is $500."
    notes = [added(ada, note, tags=["session-note"]) for note in said]
    ada.ops.consolidate()
    assert any("project-status" in one.tags for one in ada.list_memories())
    assert ada.ops.erase(memories=[notes[2]]).clean
    assert facts(ada) == set(said[:2])
    assert agrees(ada)


# Reasons and notes ---------------------------------------------------------------------------------------------------

REASONED: dict[str, Callable[[Engram, str, str], Any]] = {
    "feedback": lambda d, one, _: d.feedback([one], 1, note=f"{WORD} is true"),
    "set_layer": lambda d, one, _: d.ops.set_layer(one, "core", reason=f"for {WORD}"),
    "archive": lambda d, one, _: d.ops.archive([one], reason=f"for {WORD}"),
    "archive of two": lambda d, one, two: d.ops.archive([one, two], reason=f"for {WORD}"),
    "undo": lambda d, one, _: d.ops.undo(d.ops.archive([one]).run_id, reason=f"for {WORD}"),
    "merge": lambda d, one, two: d.merge([two, one], "The keel and the mast are new", reason=f"for {WORD}"),
    "forget": lambda d, one, _: d.forget(one, reason=f"for {WORD}"),
    "restore": lambda d, one, _: (d.forget(one), d.restore(one, reason=f"for {WORD}")),
    "end_validity": lambda d, one, _: d.end_validity(one, reason=f"for {WORD}"),
    "relate": lambda d, one, two: d.relate(one, two, reason=f"for {WORD}", metadata={"a": WORD}),
    "unrelate": lambda d, one, two: (d.relate(one, two), d.unrelate(one, two, "related_to", reason=f"for {WORD}")),
}


OFTEN = ("feedback", "forget", "merge", "unrelate")  # one of each kind of event; the others in the long form


@pytest.mark.parametrize(
    "call", [pytest.param(one, marks=() if one in OFTEN else pytest.mark.slow) for one in sorted(REASONED)]
)
def test_no_reason_of_what_was_done_to_an_erased_memory_is_left(alone: Alone, ada: Engram, call: str) -> None:
    one, two = added(ada, "The keel is new"), added(ada, "The mast is new")
    REASONED[call](ada, one, two)
    assert hits(alone, [WORD]), "it is somewhere before"
    report = ada.ops.erase(memories=[one], reason="asked to")
    assert (report.remaining, report.clean) == ({}, True)
    assert hits(alone, [WORD]) == {}
    assert any("reason and the actor of the erasure" in line for line in report.out_of_reach)
    assert agrees(ada)


OWN_FACTS: dict[str, Callable[[Engram, str, str], WriteDecision]] = {
    "revise": lambda d, one, why: d.revise(one, "The keel is old", reason=why),
    "topic key": lambda d, _, why: d.add("The keel is old", topic_key="keel", reason=why),
    "supersedes": lambda d, one, why: d.add("The mast is old", supersedes=[one], reason=why),
    "refused": lambda d, one, why: d.add("The mast is old", supersedes=[one], trust="web", reason=why),
    "said again": lambda d, _, why: d.add("The keel is new", reason=why),
}


@pytest.mark.parametrize("call", OWN_FACTS)
def test_a_reason_of_what_says_a_fact_of_its_own_makes_the_report_unclean(
    alone: Alone, ada: Engram, tenant: str, call: str
) -> None:
    word = f"qan{tenant[-8:].translate(DIGITS)}"
    made = ada.add("The keel is new", topic_key="keel")
    assert made.memory is not None
    other = OWN_FACTS[call](ada, made.memory.memory_id, f"for {word}")
    report = ada.ops.erase(events=[made.event_id])
    assert (report.clean, report.remaining) == (False, {"reasons": 1})
    assert any(line.startswith(erasing.REASONS) and other.event_id in line for line in report.out_of_reach)
    assert hits(alone, [word]) == {word: {"agent_event_payloads.body"}}, "of the history it is gone"
    assert not ada.get_event(other.event_id).erased
    ada.ops.erase(events=[other.event_id])
    again = ada.ops.erase(events=[made.event_id])
    assert (again.clean, again.remaining) == (True, {})


def test_the_second_look_finds_a_reason_that_was_put_back(alone: Alone, ada: Engram, tenant: str) -> None:
    one = added(ada, "The keel is new")
    ada.ops.set_layer(one, "core", reason="for the keel")
    event = ada.get(one).citations[0].event_id
    ada.ops.erase(memories=[one])
    owner(alone, f"update engram.lifecycle_runs set reason = 'again' where tenant_id = '{tenant}'")
    assert ada.ops.erase(events=[event]).remaining == {"lifecycle_runs": 1}
