"""A corrected fact is never lost to merging, reconciling, summaries, distilling or an audit, and no row goes away."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from angles import Angles, rows
from quiet import quiet

from engram import Engram, Scope
from engram.ids import new_id
from engram.lifecycle.cycle import Cycle
from engram.operations import distilling, merging
from engram.testing import Asked, ScriptedModel

VALUES: Final = ("$500", "$700", "$900")
SAID: Final = (
    "For the trip the budget is {}", "The budget of the trip is {}", "Trip budget: {}",
    "The budget is {} and Ann knows it",
)  # fmt: skip
CHANGED: Final = (
    ("The budget is $500", "The budget is $700"), ("The track is 5 km long", "The track is 5 mi long"),
    ("The standup is on Monday", "The standup is on Tuesday"), ("User likes cilantro", "User does not like cilantro"),
    ("Deploy before the freeze", "Deploy after the freeze"),
    ("The flight goes from Paris to Rome", "The flight goes from Rome to Paris"),
    ("The service runs v1.2", "The service runs v1.3"), ("The favourite colour is blue", "The favourite colour is red"),
    ("My sister lives in Toronto", "I live in Toronto"), ("User talked to Ann", "User talked about Ann"),
    ("Ann's manager is Bob", "Ann is Bob's manager"), ("User turned up the volume", "User turned down the volume"),
    ("The key is in the drawer", "The key is on the drawer"), ("User's dog is brown", "User is brown"),
    ("User prefers tea over coffee", "User prefers coffee over tea"),
)  # fmt: skip


def liar(asked: Asked) -> dict[str, Any]:
    """A model that joins everything it is shown, and keeps the first text of each."""
    if "older and a newer one" in asked.text:
        return {"pairs": [{"pair": n, "decision": "update", "text": "The budget is $500"} for n in range(1, 11)]}
    if "pairs of memories that look alike" in asked.text:
        return {"pairs": [{"pair": n, "same": True, "text": "The budget is $500"} for n in range(1, 11)]}
    if "truly overlap" in asked.text:
        return {"groups": [{"memories": list(range(1, 11)), "text": "The budget is $500"}]}
    if "for each group" in asked.text:
        return {"groups": [{"group": n, "text": "The budget is $500"} for n in range(1, 6)]}
    if "what is proposed" in asked.text:
        return {"keep": list(range(1, 41))}
    return {"text": "The budget is $900"}


@pytest.fixture
def opens(database_url: str, tenant: str) -> Iterator[Callable[..., tuple[Engram, Angles]]]:
    with ExitStack() as stack:

        def opened(script: Any = None) -> tuple[Engram, Angles]:
            angles = Angles()
            llm = None if script is None else ScriptedModel(script)
            door = Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder=angles, llm=llm)  # type: ignore[arg-type]
            return quiet(stack.enter_context(door)), angles

        yield opened


def step(door: Engram, work: Any) -> Callable[[], Any]:
    def ran() -> Any:
        cycle = Cycle(run_id=new_id(), epoch=0, began=datetime.now(UTC), scope_id=0)
        return door._run(work(door._setup, door._setup.writing({}), cycle))

    return ran


def told(door: Engram) -> str:
    """All that default reads tell."""
    return "\n".join(memory.fact for memory in door.list_memories(limit=200))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("script", [None, liar], ids=["off", "liar"])
def test_an_oscillating_history_keeps_its_values_through_every_step(
    opens: Callable[..., tuple[Engram, Angles]], seed: int, script: Any
) -> None:
    door, angles = opens(script)
    dice = random.Random(seed)
    steps = (
        lambda: door.ops.merge_similar(threshold=0.6), door.ops.consolidate_summaries,
        lambda: door.ops.audit(apply=True), step(door, merging.reconcile_step), step(door, merging.merge_step),
        step(door, distilling.buffer_dedup), step(door, distilling.session_distillation),
    )  # fmt: skip
    current, loose = "", set()
    for _ in range(8):
        current = dice.choice([value for value in VALUES if value != current])
        door.add(f"The budget is {current}", topic_key="budget")
        value = dice.choice(VALUES)
        fact = dice.choice(SAID).format(value)
        door.add(angles.say(fact, dice.choice((0.99, 0.9, 0.7)), dice.randrange(1, 9)), force=True)
        loose.add(value)
        count = rows(door)
        dice.choice(steps)()
        assert rows(door) >= count
        head = door.get_current(topic_key="budget")
        assert head is not None
        assert head.fact == f"The budget is {current}"
        assert head.consolidated_into is None
        others = told(door)
        assert all(one in others for one in loose), (loose, others)


def test_every_changed_pair_passes_every_step_untouched_at_98(opens: Callable[..., tuple[Engram, Angles]]) -> None:
    door, angles = opens(liar)
    made = []
    for axis, (one, two) in enumerate(CHANGED, 1):
        for fact, cosine in ((one, 0.0), (two, 0.2)):  # the two of a pair are near each other, and far from all others
            decision = door.add(angles.say(fact, cosine, axis), force=True, memory_type="semantic")
            assert decision.memory is not None
            made.append(decision.memory)
    count, before = rows(door), told(door)
    assert not [one for one in door.ops.audit(apply=True).proposals if one.kind == "merge"]
    ran = [door.ops.merge_similar(threshold=0.6)]
    ran += [step(door, one)() for one in (merging.reconcile_step, distilling.buffer_dedup, merging.merge_step)]
    assert rows(door) == count
    assert told(door) == before
    assert not any(run.changes for run in ran)


def first_of_each(asked: Asked) -> dict[str, Any]:
    """A model that tells each group in the words of the longest of its memories."""
    shown = [json.loads(line) for line in asked.text.splitlines() if line.startswith('{"group"')]
    return {"groups": [{"group": one["group"], "text": max(one["memories"], key=len)} for one in shown]}


def test_every_changed_pair_is_told_by_its_summary(opens: Callable[..., tuple[Engram, Angles]]) -> None:
    door, angles = opens(first_of_each)
    for axis, (one, two) in enumerate(CHANGED, 1):
        for fact, cosine in ((one, 0.0), (two, 0.2), (f"{two}, as was said", 0.1)):
            door.add(angles.say(fact, cosine, axis), force=True, memory_type="semantic")
        door.ops.consolidate_summaries()
        others = told(door)
        assert one in others
        assert two in others
    made = [memory for memory in door.list_memories(limit=200) if memory.category == "summary"]
    assert len(made) > len(CHANGED) // 2
