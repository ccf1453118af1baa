"""The styles and counters of a context through the door: logged, made again, and refused where they make no sense."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engram import Engram, InvalidInput, Scope, counting
from engram.settings import load


@pytest.fixture
def engram(database_url: str, tenant: str) -> Iterator[Engram]:
    """A memory that knows a few things."""
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada"), settings=load({})) as door:
        door.remember("My bicycle is a green Pelago called Moss, and I ride it to the harbour.", session_id="one")
        door.add("We keep all notes in metric units", memory_type="constraint", importance=0.9)
        door.add("The harbour closes at nine", source="notice", trust="web")
        yield door


@pytest.mark.parametrize(
    "style",
    [{"group_by": "type", "metadata": True}, {"detail": "compact", "group_by": "session"}, {"token_counter": "gpt-4o"}],
    ids=["groups", "index", "counter"],
)
def test_a_logged_context_is_made_again_as_it_was(engram: Engram, style: dict[str, Any]) -> None:
    block = engram.build_context("bicycle harbour", max_tokens=400, **style)
    assert block.recall_id is not None
    assert block.citations
    again = engram.ops.replay_recall(block.recall_id)
    assert again.is_same
    assert again.same == len(set(block.citations.values()))
    assert again.notes == ()
    kept = engram.ops.get_recall(block.recall_id).plan
    assert {name: kept.get("counted" if name == "token_counter" else name) for name in style} == style


def test_a_counter_is_named_wherever_tokens_are_counted(engram: Engram) -> None:
    count = counting.named("o200k_base")
    block = engram.build_context("bicycle", max_tokens=300, token_counter="o200k_base")
    assert 0 < block.tokens == count(block.text) <= 300
    trace = engram.trace_recall("bicycle", max_tokens=200, token_counter="gpt-4o")
    assert 0 < trace.tokens == count(trace.context) <= 200
    one, other = (memory.memory_id for memory in list(engram.list_memories())[:2])
    engram.relate(one, other)
    walk = engram.traverse(one, direction="any")
    assert 0 < count(engram.render_graph_context(walk, max_tokens=150, token_counter="openai/gpt-4o")) <= 150


def test_ages_are_counted_to_the_moment_that_is_read(engram: Engram) -> None:
    rule = next(one for one in engram.list_memories() if "metric" in one.fact)
    now = engram.build_context(max_tokens=1_000, metadata=True)
    assert "(constraint, 0 days old, importance 0.90)" in now.text
    from datetime import timedelta

    later = engram.build_context(max_tokens=1_000, metadata=True, as_of=rule.recorded_at + timedelta(days=10, hours=1))
    assert "(constraint, 10 days old, importance 0.90)" in later.text


@pytest.mark.parametrize(
    "wrong",
    [{"group_by": "colour"}, {"group_by": ""}, {"group_by": 3}, {"detail": "tiny"}, {"detail": None}, {"metadata": 1},
     {"metadata": "type"}, {"token_counter": "nonsense"}, {"token_counter": ""}],
    ids=repr,
)  # fmt: skip
def test_a_style_that_makes_no_sense_is_refused_before_anything_is_opened(wrong: dict[str, Any]) -> None:
    nowhere = Engram("postgresql://nobody@127.0.0.1:1/nothing", settings=load({}))
    with pytest.raises(InvalidInput) as caught:
        nowhere.build_context(**wrong)
    assert caught.value.field == next(iter(wrong))
    nowhere.close()
