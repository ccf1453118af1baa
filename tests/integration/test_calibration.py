"""A calibrated model: what its cosines mean is kept in its row, and every read and write goes by it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Cli

from engram import Engram, Scope
from engram.embedding import calibrating, local
from engram.errors import Conflict, InvalidInput, ModelRejected, Unavailable
from engram.policies import MemoryPolicy
from engram.settings import load

FACTS = [
    "I bank with Fineco and pay by card", "My dentist is Dr. Ito in Elm Street", "We keep the bees behind the barn",
    "The boiler was repaired in January", "Lea plays the cello on Tuesdays", "I take the ferry to work",
    "The attic is full of old maps", "Our roof leaks above the kitchen",
]  # fmt: skip
OF_NOTHING = [
    "Which vaccine did the parrot get?",
    "How high is the mountain that Omar climbed?",
    "Who won the chess cup?",
]

Door = Callable[..., Engram]


class Narrow:
    """The local model in a cone, as the vectors of many a provider lie: any two of them have a cosine of .9."""

    max_tokens = None

    def __init__(self, name: str = "narrow", size: float = 9.0) -> None:
        self.name, self.size, self.model = name, size, local.load()
        self.dimensions = self.model.dimensions + 1

    def embed(self, texts: Sequence[str], kind: Any) -> Any:
        own = np.asarray(self.model.embed(texts, kind), dtype=np.float64)
        own /= np.linalg.norm(own, axis=1, keepdims=True)
        return np.hstack([own, np.full((len(own), 1), self.size**0.5)]).astype(np.float32)


class Noise:
    """A model that understands nothing."""

    name, dimensions, max_tokens = "noise", 64, None

    def embed(self, texts: Sequence[str], kind: Any) -> Any:
        return [np.random.default_rng(abs(hash(text)) % 2**32).normal(size=64) for text in texts]


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Door]:
    """Opens doors to a tenant of the test's own, each as a process of its own would."""
    opened: list[Engram] = []

    def open_(model: Any = None, tenant_id: str = tenant, **given: Any) -> Engram:
        model = Narrow() if model is None else model
        scope = Scope(tenant_id=tenant_id, user_id="ada")
        opened.append(Engram(database_url, scope=scope, settings=load({}), embedder=model, **given))
        return opened[-1]

    yield open_
    for one in opened:
        one.close()


def told(memory: Engram) -> list[bool]:
    return [memory.recall(question).found for question in OF_NOTHING]


def test_a_question_that_nothing_answers_is_not_answered_by_whatever_is_there(door: Door) -> None:
    memory = door()
    memory.add_many([{"fact": fact, "force": True} for fact in FACTS])
    assert told(memory) == [True] * 3  # by the thresholds of another model everything is near
    memory.ops.calibrate()
    assert told(memory) == [False] * 3
    assert "Ito" in (memory.recall("Who is my dentist?").answer_text or "")
    assert "ferry" in (memory.recall("How do I get to work?").answer_text or "")


def test_a_search_tells_cosines_as_the_local_model_would_have_them(door: Door, tenant: str) -> None:
    narrow, plain = door(), door(PlainLocal(), f"{tenant}-plain")
    for memory in (narrow, plain):
        memory.add_many([{"fact": fact, "force": True} for fact in FACTS])
    narrow.ops.calibrate()
    for question in ("Who is my dentist?", "What leaks?", *OF_NOTHING):
        ours, theirs = (
            {one.memory.fact: one.terms["cosine"].value for one in memory.search(question)}
            for memory in (narrow, plain)
        )
        assert ours == pytest.approx(theirs, abs=0.02)
        assert ours or question in OF_NOTHING


class PlainLocal(Narrow):
    """The local model without the weights of a question's words."""

    def __init__(self) -> None:
        super().__init__("plain", 0.0)


def test_what_was_said_a_moment_ago_is_measured_on_the_same_scale(door: Door, tenant: str) -> None:
    narrow, plain = door(), door(PlainLocal(), f"{tenant}-plain")
    for memory in (narrow, plain):
        memory.add("The attic is full of old maps")
    narrow.ops.calibrate()
    found = []
    for memory in (narrow, plain):
        memory.remember("Our roof leaks above the kitchen", derive="skip")
        found.append({one.memory.fact: one.score for one in memory.search("What leaks above the kitchen?")})
    assert found[0] == pytest.approx(found[1], abs=0.02)


def test_two_facts_are_not_taken_for_one_because_all_vectors_are_near(door: Door, tenant: str) -> None:
    pair = "User prefers TypeScript", "User likes TypeScript"  # .80 by the local model, under the .85 of `absorb`
    memory = door(policy=MemoryPolicy("merging", write_mode="absorb"))
    first = memory.scoped(tenant_id=f"{tenant}-a")
    assert [first.add(fact).kind for fact in pair] == ["add", "reinforce"]
    second = memory.scoped(tenant_id=f"{tenant}-b")
    second.ops.calibrate()  # before the first memory: it notes the model
    assert [second.add(fact).kind for fact in pair] == ["add", "add"]


def test_the_policy_has_the_last_word_over_a_calibrated_model(door: Door) -> None:
    memory = door(policy=MemoryPolicy("eager", write_mode="absorb", thresholds={"absorb": 0.5}))
    memory.ops.calibrate()
    assert memory.add("User prefers TypeScript").kind == "add"
    assert memory.add("User likes TypeScript").kind == "reinforce"


def test_it_is_kept_in_the_row_of_the_model_and_told(door: Door) -> None:
    memory = door()
    memory.add(FACTS[0])
    assert [one.calibrated for one in memory.ops.list_models()] == [False]
    looked = memory.ops.calibrate(keep=False)
    assert not looked.kept
    assert [one.calibrated for one in memory.ops.list_models()] == [False]
    assert checks(memory) == ["those of the local model: `engram models calibrate` measures its own"]
    kept = memory.ops.calibrate()
    assert kept.kept
    assert kept.thresholds == looked.thresholds
    assert (kept.model, kept.dimensions, kept.pairs) == ("narrow", 257, 48)
    assert kept.unrelated == pytest.approx(0.9, abs=0.01)
    assert kept.thresholds["near"] == pytest.approx(0.995, abs=0.001)
    assert [one.calibrated for one in memory.ops.list_models()] == [True]
    assert checks(memory) == ["measured"]


def checks(memory: Engram) -> list[str]:
    return [one.detail for one in memory.ops.doctor().checks if one.name == "thresholds"]


def test_another_process_goes_by_it_from_its_next_search_on(door: Door) -> None:
    one, other = door(), door()
    one.add_many([{"fact": fact, "force": True} for fact in FACTS])
    assert told(other) == [True] * 3
    one.ops.calibrate()
    assert told(other) == [False] * 3


def test_a_tenant_is_calibrated_alone(door: Door, tenant: str) -> None:
    memory = door()
    other = memory.scoped(tenant_id=f"{tenant}-other")
    for each in (memory, other):
        each.add_many([{"fact": fact, "force": True} for fact in FACTS])
    memory.ops.calibrate()
    assert told(memory) == [False] * 3
    assert told(other) == [True] * 3
    assert [one.calibrated for one in other.ops.list_models()] == [False]


def test_a_model_that_takes_its_place_is_not_calibrated(door: Door) -> None:
    memory = door()
    memory.add(FACTS[0])
    memory.ops.calibrate()
    memory.ops.reembed(Narrow("narrower", 19.0))
    assert {one.name: one.calibrated for one in memory.ops.list_models()} == {"narrower": False, "narrow": True}


def test_nothing_is_kept_for_a_model_that_was_changed_meanwhile(door: Door) -> None:
    one, other = door(), door()
    one.add(FACTS[0])
    assert one.recall("Where do I bank?").found
    other.ops.reembed(Narrow("narrower", 19.0))
    with pytest.raises(Conflict, match="changed meanwhile"):
        one.ops.calibrate()
    assert not any(each.calibrated for each in one.ops.list_models())


def test_the_local_model_needs_none_and_comes_out_as_it_is(door: Door) -> None:
    memory = door("wordllama")
    memory.add(FACTS[0])
    assert checks(memory) == []
    found = memory.ops.calibrate()
    assert (found.unrelated, found.spread, found.alike) == (0.0154, 0.0736, 0.7566)
    assert found.thresholds["near"] == 0.95


def test_pairs_in_another_language_are_a_caller_s_own(door: Door) -> None:
    some = [asdict(one) for one in calibrating.built_in()[:20]]
    assert door().ops.calibrate(some, keep=False).pairs == 20


def test_other_pairs_are_refused_before_a_connection_is_taken() -> None:
    with Engram("postgresql+psycopg://nobody@127.0.0.1:1/none", embedder=Narrow()) as nowhere:
        with pytest.raises(InvalidInput, match="at least 20"):
            nowhere.ops.calibrate([{"fact": "a", "paraphrase": "b", "changed": "c", "question": "d"}])
        with pytest.raises(InvalidInput, match="keep"):
            nowhere.ops.calibrate(keep="yes")  # type: ignore[arg-type]


def test_a_model_that_tells_nothing_apart_is_refused(door: Door) -> None:
    memory = door(Noise())
    memory.add(FACTS[0])
    with pytest.raises(ModelRejected, match="no nearer"):
        memory.ops.calibrate()
    assert [one.calibrated for one in memory.ops.list_models()] == [False]


def test_without_a_model_there_is_nothing_to_calibrate(door: Door) -> None:
    with pytest.raises(Unavailable, match="no embedding model"):
        door("none").ops.calibrate()


async def test_the_door_for_event_loops_calibrates_too(database_url: str, tenant: str) -> None:
    from engram import AsyncEngram

    async with AsyncEngram(database_url, scope=Scope(tenant_id=tenant), embedder=Narrow()) as memory:
        assert (await memory.ops.calibrate()).kept


def test_the_command_line(database_url: str, tenant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli = Cli(capsys)
    where = "--database-url", database_url, "--tenant", tenant
    assert cli("add", FACTS[0], *where).code == 0
    looked = cli("models", "calibrate", "--dry-run", "--json", *where)
    assert looked.code == 0, looked.err
    assert (looked.data["model"], looked.data["kept"], looked.data["first"]) == ("wordllama", False, 0.438)
    shown = cli("models", "calibrate", *where)
    assert "own fact first" in shown.out
    assert "kept: they hold from now on" in shown.out
    listed = cli("models", "--json", *where)
    assert [(one["name"], one["calibrated"]) for one in listed.data["models"]] == [("wordllama", True)]
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(json.dumps(asdict(one)) for one in calibrating.built_in()[:21]) + "\n\n")
    assert cli("models", "calibrate", "--pairs", str(file), "--dry-run", "--json", *where).data["pairs"] == 21
    file.write_text('{"fact": "alone"}\n')
    refused = cli("models", "calibrate", "--pairs", str(file), *where)
    assert refused.code != 0
    assert "pairs" in refused.err
