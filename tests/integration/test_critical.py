"""Critical recall: everything that is pinned, in one order, whatever else is down; what does not fit is named."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from quiet import quiet

from engram import AsyncEngram, Engram, LimitExceeded, Scope
from engram.memories import CRITICAL_ORDER
from engram.settings import load
from engram.testing import ScriptedModel
from engram.text import count_tokens

TYPES = (
    "semantic", "tool_result", "decision", "task", "project", "preference", "constraint", "profile", "episodic",
    "procedural",
)  # fmt: skip


class Down:
    """An embedder that is out."""

    name, dimensions, max_tokens = "down", 8, None

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        raise ConnectionError(kind)


def refused(_: Any) -> Any:
    raise AssertionError("a language model was asked")


@pytest.fixture
def pinned(database_url: str, tenant: str) -> Iterator[Engram]:
    """A door that cannot think, to a memory with three pinned memories of every type and one that is not."""
    scope = Scope(tenant_id=tenant, user_id="ada")
    with Engram(database_url, scope=scope, embedder="none") as door:
        for turn in ("First", "Second", "Third"):
            for kind in TYPES:
                door.add(
                    f"{turn} thing of type {kind}", memory_type=kind, critical_slot=f"{turn} {kind}", importance=0.1
                )  # type: ignore[arg-type]
        door.add("The kettle is blue", importance=1.0)
    with Engram(
        database_url, scope=scope, settings=load({}, llm_level="full"), embedder=Down(), llm=ScriptedModel(refused)
    ) as door:
        yield quiet(door)


def test_all_that_is_pinned_comes_by_type_and_then_the_newest_first(pinned: Engram) -> None:
    found = pinned.recall_critical()
    assert (len(found), found.complete, found.omitted) == (30, True, ())
    named = ("profile", "constraint", "preference", "project", "task", "decision", "tool_result")
    assert CRITICAL_ORDER[: len(named)] == named
    facts = [one.fact for one in found]
    expected = [f"{turn} thing of type {kind}" for kind in named for turn in ("Third", "Second", "First")]
    assert facts[: len(expected)] == expected
    others = [one.recorded_at for one in found.results[len(expected) :]]
    assert others == sorted(others, reverse=True)
    assert {one.memory_type for one in found.results[len(expected) :]} == {"semantic", "episodic", "procedural"}


def test_it_is_the_same_bytes_again_and_from_the_other_door(pinned: Engram, database_url: str) -> None:
    first = json.dumps(pinned.recall_critical().to_dict())
    assert json.dumps(pinned.recall_critical().to_dict()) == first
    pinned.search("kettle", mode="keyword")
    assert json.dumps(pinned.recall_critical().to_dict()) == first


async def test_the_asynchronous_door_gives_the_same(pinned: Engram, database_url: str) -> None:
    async with AsyncEngram(database_url, scope=pinned.scope, embedder="none") as door:
        assert await quiet(door).recall_critical() == pinned.recall_critical()


@pytest.mark.parametrize("limit", [0, 1, 29, 30, 200])
def test_what_is_over_the_limit_is_named_in_its_order(pinned: Engram, limit: int) -> None:
    every = [one.memory_id for one in pinned.recall_critical()]
    found = pinned.recall_critical(limit=limit)
    assert [one.memory_id for one in found] == every[:limit]
    assert list(found.omitted) == every[limit:]
    assert found.complete == (limit >= 30)


def test_the_limit_is_fifty_unless_another_is_given(pinned: Engram, database_url: str) -> None:
    with Engram(database_url, scope=pinned.scope, embedder="none") as door:
        for number in range(25):
            door.add(f"Rule number {number}", critical_slot=f"rule {number}")
    found = pinned.recall_critical()
    assert (len(found), len(found.omitted), found.complete) == (50, 5, False)


def test_what_is_over_the_budget_is_skipped_and_a_shorter_one_still_fits(pinned: Engram, database_url: str) -> None:
    with Engram(database_url, scope=pinned.scope, embedder="none") as door:
        long = door.add("The long rule " + "and on " * 200, memory_type="profile", critical_slot="long")
    found = pinned.recall_critical(max_tokens=60)
    assert long.memory is not None
    assert found.omitted[0] == long.memory.memory_id  # it would be the first
    assert found.tokens == sum(count_tokens(one.fact) for one in found) <= 60
    assert len(found) + len(found.omitted) == 31
    assert len(found) > 1
    every = [one.memory_id for one in pinned.recall_critical()]
    assert [one.memory_id for one in found] == [one for one in every if one not in found.omitted]


@pytest.mark.parametrize("over", [{"limit": 29}, {"max_tokens": 20}])
def test_strict_refuses_to_leave_anything_out(pinned: Engram, over: dict[str, int]) -> None:
    with pytest.raises(LimitExceeded) as caught:
        pinned.recall_critical(strict=True, **over)
    assert caught.value.field == "recall_critical"
    assert len(pinned.recall_critical(strict=True)) == 30


def test_types_narrow_it_and_leave_nothing_else_out(pinned: Engram) -> None:
    found = pinned.recall_critical(memory_types=["constraint", "task"])
    assert [one.memory_type for one in found] == ["constraint"] * 3 + ["task"] * 3
    assert found.complete


def test_the_past_shows_what_was_pinned_then(pinned: Engram) -> None:
    before = pinned.recall_critical()
    newest = max(one.recorded_at for one in before)
    gone, changed = before.results[0], before.results[1]
    pinned.forget(gone.memory_id)
    assert gone.memory_id not in [one.memory_id for one in pinned.recall_critical()]
    then = pinned.recall_critical(known_at=newest)
    assert [one.memory_id for one in then] == [one.memory_id for one in before]
    assert changed.memory_id in [one.memory_id for one in pinned.recall_critical()]
    assert pinned.recall_critical(as_of=datetime(2001, 1, 1, tzinfo=UTC)).results == ()
