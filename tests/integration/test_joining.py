"""Mode `merge` with a language model: a fact that says more becomes one text with the held one, and nothing is lost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from quiet import quiet

from engram import Engram, Filter, MemoryPolicy, Scope, Unavailable
from engram.testing import Asked, ScriptedModel

HELD = "User prefers TypeScript"
MORE = "User prefers TypeScript for backends"
BOTH = "User prefers TypeScript, and for backends too"


class Planned:
    """An embedder by which the held fact is as near to every other text as a test says."""

    name, dimensions, max_tokens = "planned", 4, None

    def __init__(self, cosine: float) -> None:
        self.cosine = cosine

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        rest = math.sqrt(1 - self.cosine**2)
        turned = [len(text) / 100 for text in texts]  # different texts have different vectors
        near = [[self.cosine, rest * math.cos(one), rest * math.sin(one), 0] for one in turned]
        found = [[1, 0, 0, 0] if text == HELD else one for text, one in zip(texts, near, strict=True)]
        return np.array(found, dtype=np.float32)


class Doors:
    """Doors in one tenant, each with a mode, a nearness and a model of its own."""

    def __init__(self, database_url: str, tenant: str) -> None:
        self.database_url, self.tenant, self.open = database_url, tenant, list[Engram]()

    def __call__(self, says: Any, *, cosine: float = 0.9, mode: Any = "merge", **more: Any) -> tuple[Engram, Any]:
        model = ScriptedModel(says)
        door = Engram(
            self.database_url, scope=Scope(self.tenant), embedder=Planned(cosine), llm=model,  # type: ignore[arg-type]
            policy=MemoryPolicy("joining", write_mode=mode, **more),
        )  # fmt: skip
        self.open.append(door)
        quiet(door)
        return door, model


@pytest.fixture
def doors(database_url: str, tenant: str) -> Iterator[Doors]:
    made = Doors(database_url, tenant)
    yield made
    for door in made.open:
        door.close()


def facts(door: Engram) -> set[str]:
    return {one.fact for one in door.list_memories(limit=200)}


def test_a_fact_that_says_more_becomes_one_text_with_the_held_one(doors: Doors) -> None:
    door, model = doors({"text": BOTH})
    held = door.add(HELD, importance=0.9, tags=["code"]).memory
    made = door.add(MORE, tags=["work"])
    assert (made.kind, made.memory and made.memory.fact) == ("revise", BOTH)
    assert made.reasons[-1] == "merged_text"
    assert made.target is not None
    assert held is not None
    assert (made.target.memory_id, made.target.status) == (held.memory_id, "superseded")
    assert facts(door) == {BOTH}
    assert made.memory is not None
    assert (set(made.memory.tags), made.memory.importance) == ({"code", "work"}, 0.9)
    assert len(model.asked) == 1
    assert HELD in model.asked[0].text
    assert MORE in model.asked[0].text


def test_the_joining_is_a_run_that_can_be_taken_back(doors: Doors) -> None:
    door, _ = doors({"text": BOTH})
    door.add(HELD)
    door.add(MORE)
    run = door.ops.list_runs().results[0]
    assert run.step == "insert_merge"
    door.ops.undo(run.run_id)
    assert facts(door) == {HELD, MORE}


@pytest.mark.parametrize(
    "text",
    [
        "", "User prefers TypeScript for frontends", "User prefers TypeScript for 3 backends",
        "User does not prefer TypeScript for backends", "User prefers TypeScript for backends. " + "x" * 1_000,
    ],
)  # fmt: skip
def test_a_text_that_loses_or_adds_a_value_is_refused(doors: Doors, text: str) -> None:
    door, model = doors({"text": text})
    door.add(HELD)
    made = door.add(MORE)
    assert (made.kind, len(model.asked)) == ("add", 1)
    assert facts(door) == {HELD, MORE}


@pytest.mark.parametrize(
    ("cosine", "asked"), [(0.81, True), (0.79, False)]
)  # fmt: skip
def test_a_model_is_asked_from_the_stated_nearness_on(doors: Doors, cosine: float, asked: bool) -> None:
    door, model = doors({"text": BOTH}, cosine=cosine)
    door.add(HELD)
    assert door.add(MORE).kind == ("revise" if asked else "add")
    assert bool(model.asked) is asked


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        ("User prefers TypeScript 5", "add"), ("User does not prefer TypeScript", "revise"),
        ("User prefers JavaScript", "add"),
    ],
)  # fmt: skip
def test_a_changed_value_is_never_joined_nor_asked_about(doors: Doors, other: str, kind: str) -> None:
    door, model = doors({"text": BOTH})
    door.add(HELD)
    made = door.add(other)
    assert (made.kind, "says_more" in made.reasons) == (kind, False)
    assert model.asked == []
    assert facts(door) == ({HELD, other} if kind == "add" else {other})


@pytest.mark.parametrize(
    "more",
    [{"topic_key": "language"}, {"memory_type": "procedural"}, {"trust": "web"}, {"trust": "operator"},
     {"dry_run": True}, {"expires_in": "7d"}],
    ids=lambda more: next(iter(more)) + str(next(iter(more.values()))),
)  # fmt: skip
def test_what_differs_in_more_than_words_stays_apart(doors: Doors, more: dict[str, Any]) -> None:
    door, model = doors({"text": BOTH})
    door.add(HELD, memory_type="semantic")
    made = door.add(MORE, **{"memory_type": "semantic", **more})
    assert made.kind == "add"
    assert model.asked == []
    assert HELD in facts(door)


@pytest.mark.parametrize("mode", ["return", "absorb"])
def test_only_the_mode_merge_joins(doors: Doors, mode: str) -> None:
    door, model = doors({"text": BOTH}, mode=mode)
    door.add(HELD)
    assert door.add(MORE).kind == "add"
    assert model.asked == []


def test_the_policy_may_switch_it_off(doors: Doors) -> None:
    door, model = doors({"text": BOTH}, llm={"insert_merge": "off"})
    door.add(HELD)
    assert door.add(MORE).kind == "add"
    assert model.asked == []


@pytest.mark.parametrize("says", [Unavailable("down"), "no JSON", {"other": "x"}])
def test_whatever_the_model_does_the_fact_is_stored(doors: Doors, says: Any) -> None:
    door, _ = doors(says)
    door.add(HELD)
    assert door.add(MORE).kind == "add"
    assert facts(door) == {HELD, MORE}


def test_the_same_key_joins_once_and_tells_the_same(doors: Doors) -> None:
    door, model = doors({"text": BOTH})
    door.add(HELD)
    first, again = (door.add(MORE, idempotency_key="k") for _ in range(2))
    assert (again.kind, again.memory and again.memory.memory_id) == (
        first.kind,
        first.memory and first.memory.memory_id,
    )
    assert len(model.asked) == 1
    assert facts(door) == {BOTH}


def test_what_changed_while_the_model_thought_is_left_as_it_is(doors: Doors) -> None:
    def says(asked: Asked) -> dict[str, str]:
        door.forget(held.memory_id)
        return {"text": BOTH}

    door, _ = doors(says)
    held = door.add(HELD).memory
    assert held is not None
    assert door.add(MORE).kind == "add"
    assert facts(door) == {MORE}


def test_many_facts_are_joined_in_order_and_no_more_than_twelve(doors: Doors) -> None:
    door, model = doors({"text": ""})
    door.add(HELD)
    made = door.add_many([{"fact": f"User prefers TypeScript for {name}"} for name in NAMES])
    assert {one.kind for one in made} == {"add"}
    assert 0 < len(model.asked) <= 12


NAMES = "backends games tools scripts parsers servers clients tests bots pages forms maps charts mail".split()  # noqa: SIM905


@pytest.mark.parametrize("which", ["held", "new"])
def test_after_an_erasure_no_word_is_left_of_the_joined_text(doors: Doors, which: str) -> None:
    door, _ = doors({"text": BOTH})
    held, made = door.add(HELD), door.add(MORE)
    door.ops.redact_event(str(held.event_id if which == "held" else made.event_id))
    every = Filter(statuses=["active", "superseded", "archived", "deleted", "contested"])
    left = {one.fact for one in door.list_memories(filter=every, limit=200)} - {""}
    assert left == {MORE if which == "held" else HELD}


def test_a_replay_joins_as_it_was_joined(doors: Doors) -> None:
    door, model = doors({"text": BOTH})
    door.add(HELD)
    door.add(MORE)
    diff = door.ops.replay()
    assert (diff.counts["added"], diff.counts["dropped"], diff.counts["changed"]) == (0, 0, 0)
    assert len(model.asked) == 1
