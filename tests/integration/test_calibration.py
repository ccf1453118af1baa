"""A calibrated model: what its cosines mean is kept in its row, and every read and write goes by it."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from commands import Cli

from engram import Engram, Scope
from engram.embedded import EmbeddedServer
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
    "Which mountain did Omar climb?",
    "Which paint did the neighbour choose?",
]

Door = Callable[..., Engram]


class Narrow:
    """The local model in a cone, as the vectors of many a provider lie: any two of them have a cosine of .9."""

    max_tokens = None

    def __init__(self, name: str = "narrow", size: float = 9.0) -> None:
        self.name, self.size, self.model = name, size, local.load()
        self.dimensions = self.model.dimensions + 1
        self.before: Callable[[], object] | None = None  # what happens meanwhile, once

    def embed(self, texts: Sequence[str], kind: Any) -> Any:
        meanwhile, self.before = self.before, None
        if meanwhile is not None:
            meanwhile()
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
        opened.append(Engram(database_url, scope=scope, embedder=model, **{"settings": load({}), **given}))
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


def both(door: Door, tenant: str, **given: Any) -> tuple[Engram, Engram]:
    """A calibrated model in a cone, and the same without: all that follows is to be the same."""
    narrow, plain = door(**given), door(PlainLocal(), f"{tenant}-plain", **given)
    for memory in (narrow, plain):
        memory.ops.calibrate()
    return narrow, plain


def test_what_was_said_a_moment_ago_is_measured_on_the_same_scale(door: Door, tenant: str) -> None:
    found = []
    for memory in both(door, tenant, settings=load({}, dispatch="doorbell")):
        memory.add("The attic is full of old maps")
        memory.remember("Our roof leaks above the kitchen")
        results = memory.search("Where does water come in?")
        assert "tail" in results.channels
        found.append({one.memory.fact: one.terms["cosine"].value for one in results if "cosine" in one.terms})
    assert found[0] == pytest.approx(found[1], abs=0.02)
    assert found[0]["Our roof leaks above the kitchen"] > 0.1


LIFE = (
    "I bank with Fineco.", "Our drummer is Leo.", "I take 1000 IU of vitamin D a day.",
    "My sister Chiara lives in Padua.", "We track our tickets in Jira.", "Good morning!",
    "closed fineco, everything goes through bbva now",
)  # fmt: skip


def test_a_saying_that_has_to_do_with_a_fact_is_found_as_without_a_cone(door: Door, tenant: str) -> None:
    answers = []
    log = logging.getLogger("sqlalchemy.engine")
    for memory in both(door, tenant):
        said = [
            {"role": "user", "content": one, "occurred_at": datetime(2025, 1, 1 + day, tzinfo=UTC)}
            for day, one in enumerate(LIFE)
        ]
        memory.remember(said, wait=60.0)
        log.setLevel(logging.INFO)  # then rows are those of another library
        try:
            answers.append([memory.recall(one).answer_text for one in ("Which bank do I use?", "Who is our drummer?")])
        finally:
            log.setLevel(logging.NOTSET)
    assert answers[0] == answers[1]
    assert "bbva" in (answers[0][0] or "")
    assert "bbva" not in (answers[0][1] or "")


def test_a_loose_relation_counts_only_where_its_other_end_is_meant(door: Door, tenant: str) -> None:
    walked = []
    for memory in both(door, tenant):
        first, *others = [memory.add(fact, force=True).memory for fact in FACTS]
        assert first is not None
        for other in others:
            assert other is not None
            memory.relate(first.memory_id, other.memory_id, "related_to")
        walk = memory.traverse(first.memory_id, query="Which fees does my bank take?")
        results = memory.search("What do I pay Fineco with?")
        walked.append((
            [one.memory.fact for one in walk],
            {one.memory.fact for one in results if "graph" in one.channels},
        ))  # fmt: skip
    assert walked[0] == walked[1]
    assert walked[0][0] == []


def test_events_of_nothing_are_no_events(door: Door, tenant: str) -> None:
    found = []
    for memory in both(door, tenant):
        memory.remember([{"role": "user", "content": fact} for fact in FACTS], wait=60.0)
        asked = *OF_NOTHING, "Who looks after my teeth?"
        found.append([{hit.event.content: hit.score for hit in memory.search_events(one)} for one in asked])
    for ours, theirs in zip(*found, strict=True):
        common = ours.keys() & theirs.keys()
        assert len(common) >= len(theirs) - 2  # those that are hardly there
        assert {one: ours[one] for one in common} == pytest.approx({one: theirs[one] for one in common}, abs=0.02)


def test_a_context_holds_what_it_holds_without_a_cone(door: Door, tenant: str) -> None:
    blocks = []
    for memory in both(door, tenant):
        memory.add_many([{"fact": fact, "force": True} for fact in FACTS])
        block = memory.build_context("Who looks after my teeth?", max_tokens=400)
        blocks.append(re.sub(r"mem-\w+|\d\d:\d\d\S*", "", block.text))
    assert blocks[0] == blocks[1]


def test_variants_of_a_question_count_as_without_a_cone(door: Door, tenant: str) -> None:
    found = []
    for memory in both(door, tenant):
        memory.add_many([{"fact": fact, "force": True} for fact in FACTS])
        deep = memory.deep_search("Who is my dentist?", queries=["Which doctor has my teeth?", "The price of honey"])
        found.append({one.memory.fact: one.score for one in deep})
    assert found[0] == pytest.approx(found[1], abs=0.001)


def test_pairs_are_kept_as_without_a_cone(door: Door, tenant: str, server: EmbeddedServer) -> None:
    counts = []
    for memory in both(door, tenant):
        memory.add_many([{"fact": fact, "force": True} for about in THEMES.values() for fact in about])
        memory.ops.merge_similar()
        with psycopg.connect(server.superuser_url.replace("+psycopg", "")) as conn:
            query = "SELECT count(*) FROM engram.memory_pairs WHERE tenant_id = %s"
            counts += conn.execute(query, [memory.scope.tenant_id]).fetchone() or ()
    assert 0 < counts[1] < 10  # of 153
    assert abs(counts[0] - counts[1]) <= 1


def test_topics_are_as_many_as_without_a_cone(door: Door, tenant: str) -> None:
    grown = []
    for memory in both(door, tenant):
        memory.add_many([{"fact": fact, "force": True} for about in THEMES.values() for fact in about])
        memory.ops.rebuild_topics()
        grown.append(len(memory.list_topics()))
    assert grown[1] - 2 <= grown[0] <= grown[1] + 2
    assert grown[0] > 1


THEMES = {
    "bees": [
        "The bees live behind the barn", "We harvested honey from the bees in July", "The hive needs feeding in winter",
        "A new queen bee was put in the hive", "Bees swarmed in the apple tree", "The bee suit hangs in the shed",
    ],
    "bank": [
        "I bank with Fineco", "My credit card is from Fineco", "The savings account has low interest",
        "The bank raised its fees", "My bank card expires in May", "The loan was paid back early",
    ],
    "music": [
        "Lea plays the cello", "The cello lesson is on Tuesday", "The orchestra plays Brahms",
        "Lea practises scales on her cello", "A new bow for the cello was bought", "The choir sings on Sunday",
    ],
}  # fmt: skip


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
    one.ops._setup.embedder.embedder.before = lambda: other.ops.reembed("wordllama")
    with pytest.raises(Conflict, match="changed meanwhile"):
        one.ops.calibrate()
    assert not any(each.calibrated for each in one.ops.list_models())
    assert one.ops.calibrate().model == "wordllama"  # the one that it has now


def test_a_model_that_was_changed_before_is_not_asked(door: Door) -> None:
    one, other = door(), door()
    one.add(FACTS[0])
    other.ops.reembed("wordllama")
    assert one.ops.calibrate().model == "wordllama"


def test_the_local_model_needs_none_and_comes_out_as_it_is(door: Door) -> None:
    memory = door("wordllama")
    memory.add(FACTS[0])
    assert checks(memory) == []
    found = memory.ops.calibrate()
    assert (found.unrelated, found.spread, found.alike) == pytest.approx((0.0154, 0.0736, 0.7566), abs=1e-3)
    assert found.thresholds["near"] == pytest.approx(0.95, abs=1e-3)


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
    with pytest.raises(ModelRejected, match="hardly nearer"):
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
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes() + b"no json")
    broken = cli("models", "calibrate", "--pairs", str(file), *where)
    assert broken.code != 0
    assert "line 2" in broken.err
    ahead = cli("models", *where, "calibrate")
    assert ahead.code != 0
    assert "behind calibrate" in ahead.err
