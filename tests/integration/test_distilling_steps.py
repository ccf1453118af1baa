"""The steps of a cycle that make less of more: notes, the buffer, topics (features Y-18)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from angles import Angles, added, facts, rows
from quiet import quiet

from engram import Engram, MemoryPolicy, Scope
from engram.ids import new_id
from engram.lifecycle.cycle import Cycle
from engram.operations import distilling
from engram.testing import ScriptedModel

BACKENDS: Final = "User prefers TypeScript for backend services"
MISTAKES: Final = "User prefers TypeScript because types catch mistakes"
BOTH: Final = "User prefers TypeScript for backend services because types catch mistakes"
NOTES: Final = ("The parser is done.", "Ann reviews it on Monday.", "The budget is $500.")
Opens = Callable[..., Engram]


@pytest.fixture
def angles() -> Angles:
    return Angles()


@pytest.fixture
def opens(database_url: str, tenant: str, angles: Angles) -> Iterator[Opens]:
    with ExitStack() as stack:

        def opened(script: Any = None, **given: Any) -> Engram:
            llm = None if script is None else ScriptedModel(script)
            door = Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder=angles, llm=llm, **given)  # type: ignore[arg-type]
            return quiet(stack.enter_context(door))

        yield opened


def ran(door: Engram, step: Any) -> Any:
    cycle = Cycle(run_id=new_id(), epoch=0, began=datetime.now(UTC), scope_id=0)
    return door._run(step(door._setup, door._setup.writing({}), cycle))


def noted(door: Engram, *said: str) -> list[str]:
    return [added(door, fact, tags=["session-note"]) for fact in said]


def statuses(door: Engram) -> list[Any]:
    return [memory for memory in door.list_memories() if "project-status" in memory.tags]


def test_three_notes_become_one_short_memory_and_stay(opens: Opens) -> None:
    door = opens()
    noted(door, *NOTES)
    run = ran(door, distilling.session_distillation)
    (status,) = statuses(door)
    assert set(status.tags) == {"project-status", "auto-distilled"}
    assert (status.layer, status.fact) == ("working", " ".join(reversed(NOTES)))
    assert facts(door) >= set(NOTES)
    assert ran(door, distilling.session_distillation).changed == 0  # each note once
    door.ops.undo(run.run_id)
    assert statuses(door) == []


def test_two_notes_are_not_distilled(opens: Opens) -> None:
    door = opens()
    noted(door, *NOTES[:2])
    assert ran(door, distilling.session_distillation).changed == 0


def test_no_second_status_is_written_where_a_like_one_stands(opens: Opens, angles: Angles) -> None:
    door = opens()
    for round_ in range(2):
        said = [f"{note} Said again, time {round_}." for note in NOTES]
        angles.say(" ".join(reversed(said)), 1.0 if round_ == 0 else 0.76)
        noted(door, *said)
        ran(door, distilling.session_distillation)
    assert len(statuses(door)) == 1
    said = [f"{note} Quite another thing." for note in NOTES]
    angles.say(" ".join(reversed(said)), 0.74, 2)
    noted(door, *said)
    ran(door, distilling.session_distillation)
    assert len(statuses(door)) == 2


NEWER: Final = ("The parser is done now.", "Ann reviews it on Tuesday.", "The budget is $700.")


def test_a_status_that_says_another_value_takes_the_place_of_the_like_one(opens: Opens, angles: Angles) -> None:
    door = opens()
    for said, cosine in ((NOTES, 1.0), (NEWER, 0.99)):
        angles.say(" ".join(reversed(said)), cosine)
        noted(door, *said)
        run = ran(door, distilling.session_distillation)
    (status,) = statuses(door)
    assert status.fact == " ".join(reversed(NEWER))
    (old,) = [one.target_id for one in door.list_relations(status.memory_id, relation_types=["supersedes"])]
    assert (door.get(old).status, door.get(old).superseded_by) == ("superseded", status.memory_id)
    door.ops.undo(run.run_id)
    assert [one.memory_id for one in statuses(door)] == [old]


def test_what_the_like_one_says_already_is_not_written_again(opens: Opens) -> None:
    door = opens({"text": "The budget of $500 is kept"})
    noted(door, *NOTES)
    ran(door, distilling.session_distillation)
    (before,) = statuses(door)
    noted(door, "The parser is fast.", "Ann is content.", "The budget of the parser is $500.")
    assert ran(door, distilling.session_distillation).changed == 3
    assert [one.memory_id for one in statuses(door)] == [before.memory_id]


def test_a_memory_a_person_tagged_like_a_status_keeps_its_place(opens: Opens, angles: Angles) -> None:
    door = opens()
    own = added(door, angles.say("The budget of the parser is $500", 1.0), tags=["project-status", "auto-distilled"])
    angles.say(" ".join(reversed(NEWER)), 0.99)
    noted(door, *NEWER)
    ran(door, distilling.session_distillation)
    assert door.get(own).status == "active"
    assert len(statuses(door)) == 2


@pytest.mark.parametrize(
    ("text", "kept"), [("The budget of $500 is kept", True), ("The budget of $900 is kept", False), ("y" * 251, False)]
)
def test_a_models_status_stands_where_it_made_nothing_up(opens: Opens, text: str, kept: bool) -> None:
    door = opens({"text": text})
    noted(door, *NOTES)
    ran(door, distilling.session_distillation)
    (status,) = statuses(door)
    assert (status.fact == text) is kept
    assert len(status.fact) <= 250


def test_where_a_model_has_nothing_to_say_the_notes_count_as_read(opens: Opens) -> None:
    door = opens({"text": ""})
    noted(door, *NOTES)
    assert ran(door, distilling.session_distillation).changed == 3
    assert statuses(door) == []


def test_like_memories_of_the_buffer_become_one_and_working_ones_are_left(opens: Opens, angles: Angles) -> None:
    door = opens(policy=MemoryPolicy("buffered", intake="buffer"))
    added(door, angles.say("User prefers TypeScript", 1.0), memory_type="preference")
    two = added(door, angles.say("User likes TypeScript", 0.76), memory_type="preference")
    door.ops.set_layer(two, "working")
    assert ran(door, distilling.buffer_dedup).changed == 0
    door.ops.set_layer(two, "buffer")
    before = rows(door)
    ran(door, distilling.buffer_dedup)
    assert len(facts(door)) == 1
    assert rows(door) == before


def test_a_topic_of_ten_is_distilled_and_nothing_is_lost(opens: Opens, angles: Angles) -> None:
    door = opens(
        lambda asked: (
            {"groups": [{"memories": sorted(places(asked.text, BACKENDS, MISTAKES)), "text": BOTH}]}
            if "overlap" in asked.text else {"names": []}
        ),
    )  # fmt: skip
    for fact in (BACKENDS, MISTAKES, *(f"User prefers TypeScript version {n} for task {n}" for n in range(8))):
        added(door, angles.say(fact, 0.99, 1), memory_type="preference")
    door.ops.rebuild_topics()
    before = rows(door)
    run = ran(door, distilling.topic_distillation)
    (made,) = [memory for memory in door.list_memories() if "distilled" in memory.tags]
    assert (made.fact, made.importance, made.layer) == (BOTH, 0.7, "working")
    assert not facts(door) & {BACKENDS, MISTAKES}
    assert rows(door) == before + 1
    door.ops.undo(run.run_id)
    assert facts(door) >= {BACKENDS, MISTAKES}


def places(text: str, *wanted: str) -> Iterator[int]:
    for line in text.splitlines():
        if any(fact in line for fact in wanted):
            yield int(line.split(":")[1].split(",")[0])


def test_without_a_model_no_topic_is_distilled(opens: Opens) -> None:
    assert ran(opens(), distilling.topic_distillation) is None
