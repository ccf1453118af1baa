"""The write modes through the door: what each makes of a near fact, the policy's own numbers, and a dry run of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from quiet import quiet

from engram import Engram, MemoryPolicy, Scope, Unavailable
from engram.gates import WRITE_MODES
from engram.settings import load

HELD = "User prefers TypeScript"


class Planned:
    """An embedder by which the held fact is as near to every other text as a test says."""

    name, dimensions, max_tokens = "planned", 4, None

    def __init__(self, cosine: float) -> None:
        self.cosine = cosine

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        near = [self.cosine, math.sqrt(1 - self.cosine**2), 0, 0]
        return np.array([[1, 0, 0, 0] if text == HELD else near for text in texts], dtype=np.float32)


@contextmanager
def opened(database_url: str, tenant: str, cosine: float | None, **policy: Any) -> Any:
    embedder: Any = "none" if cosine is None else Planned(cosine)
    made = MemoryPolicy("modes", **policy)
    with Engram(database_url, scope=Scope(tenant), embedder=embedder, policy=made) as door:
        quiet(door)
        yield door


OUTCOMES = {
    "return": "reinforce", "report": "conflict", "merge": "reinforce", "absorb": "reinforce", "gate": "reject",
    "store": "add",
}  # fmt: skip


@pytest.mark.parametrize("mode", WRITE_MODES)
def test_each_mode_makes_its_own_of_a_restatement_and_stores_a_correction(
    database_url: str, tenant: str, mode: str
) -> None:
    with opened(database_url, tenant, 0.96, write_mode=mode, surprise_threshold=0.4) as door:
        held = door.add(HELD, memory_type="preference").memory
        rehearsed = door.add("User likes TypeScript", memory_type="preference", dry_run=True)
        assert [one.fact for one in door.list_memories()] == [HELD]
        made = door.add("User likes TypeScript", memory_type="preference")
        assert (rehearsed.kind, rehearsed.dry_run, made.kind) == (OUTCOMES[mode], True, OUTCOMES[mode])
        assert rehearsed.explanation == made.explanation
        if mode == "report":
            assert made.options == ("revise", "force", "forget")
        if mode == "gate":
            assert made.surprise.threshold == 0.4
            assert f"under the threshold of 0.400; the closest memory is {held.short_id}" in made.explanation
            assert door.list_events(types=["memory_rejected"])[0].content == "User likes TypeScript"
        assert door.add("User likes TypeScript", memory_type="preference", force=True).kind in ("add", "reinforce")
        corrected = door.add("User does not prefer TypeScript", memory_type="preference")
        assert (corrected.kind, corrected.memory.status) == ("revise", "active")
        assert corrected.memory.fact in [one.fact for one in door.list_memories()]


class Absent:
    """An embedder that answers nobody."""

    name, dimensions, max_tokens = "absent", 4, None

    def embed(self, texts: Any, kind: Any) -> Any:
        raise Unavailable("nobody answers")


def test_what_is_derived_together_is_reported_where_only_words_say_what_is_near(database_url: str, tenant: str) -> None:
    policy, settings = MemoryPolicy("modes", write_mode="report"), load({}, dispatch="doorbell")
    door = Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder=Absent(), policy=policy, settings=settings)
    with quiet(door), door.scoped(namespace="project") as project:
        for one in (door, project):
            one.record_event("Hello.", derive="skip")
        door.remember("I like sailing a lot.", wait=False)
        receipt = project.remember("I like sailing very much.", wait=False)
        assert door.ops.run_jobs() >= 2
        told = [near.fact for decision in project.wait_for(receipt) for near in decision.nearest]
    assert "User likes sailing a lot" in told


def test_the_worked_example_is_born_with_its_importance(database_url: str, tenant: str) -> None:
    with opened(database_url, tenant, 0.6) as door:
        door.add(HELD, memory_type="preference")
        made = door.add("User prefers dark mode", memory_type="preference")
        assert made.surprise.score == pytest.approx(0.483, abs=5e-4)
        assert made.memory.importance == pytest.approx(0.435, abs=5e-4)
        assert made.memory.surprise == pytest.approx(0.483, abs=5e-4)
        given = door.add("User prefers loud music", memory_type="preference", importance=0.2)
        assert given.memory.importance == 0.2


def test_the_worked_example_without_vectors(database_url: str, tenant: str) -> None:
    with opened(database_url, tenant, None) as door:
        door.add(HELD, memory_type="preference")
        made = door.add("User prefers dark mode", memory_type="preference")
        assert made.surprise.semantic is None
        assert made.surprise.score == pytest.approx(0.606, abs=5e-4)
        assert made.memory.importance == pytest.approx(0.606 * 0.9, abs=5e-4)


def test_an_unsurprising_correction_does_not_sink(database_url: str, tenant: str) -> None:
    with opened(database_url, tenant, 0.99) as door:
        door.add(HELD, topic_key="language", importance=0.9)
        made = door.add("User prefers Rust", topic_key="language")
        assert (made.kind, made.memory.importance) == ("revise", 0.9)


@pytest.mark.parametrize(("threshold", "kind"), [(0.0, "add"), (0.27, "add"), (0.28, "reject")])
def test_the_gate_closes_where_the_policy_says(database_url: str, tenant: str, threshold: float, kind: str) -> None:
    with opened(database_url, tenant, 0.9, write_mode="gate", surprise_threshold=threshold) as door:
        door.add(HELD, memory_type="preference")
        assert door.add("User likes TypeScript", memory_type="preference").kind == kind


def test_surprise_may_be_left_out_but_not_by_the_gate(database_url: str, tenant: str) -> None:
    with opened(database_url, tenant, None, surprise="off") as door:
        made = door.add(HELD)
        assert (made.surprise, made.memory.importance) == (None, 0.5)
    with opened(database_url, tenant, None, surprise="off", write_mode="gate") as door:
        assert door.add("User sails a ketch").surprise is not None
