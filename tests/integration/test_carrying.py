"""Export and import of Engram's own: a story leaves a database and comes back somewhere else as it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from engram import Engram, Scope, migrations
from engram.portable import own
from tests.quiet import quiet

EVERY: Final = {"statuses": ["active", "superseded", "contested", "archived", "deleted", "quarantined"]}


def tell(door: Engram) -> dict[str, str]:
    """A story with everything an export has to carry; what its memories and events are called."""
    ada, bob = door.scoped(user_id="ada"), door.scoped(user_id="bob")
    names: dict[str, str] = {}
    # A conversation with a summary, derived by rules.
    with ada.session("talk") as talk:
        talk.remember("I live in Lyon.", occurred_at=datetime(2024, 3, 1, tzinfo=UTC))
        talk.remember("I moved to Ottawa.", occurred_at=datetime(2025, 5, 1, tzinfo=UTC))
    ada.end_session("talk", summary="Ada told where she lives.")
    # Direct changes: superseded, contested, ended, forgotten, restored, rated by saying again.
    tea = ada.add("Ada drinks tea", topic_key="drink", tags=["kitchen"], metadata={"cups": 3, "warm": 0.1})
    ada.add("Ada drinks coffee", topic_key="drink")
    ada.add("Ada drinks petrol", topic_key="drink", trust="web")
    gone = ada.add("Ada has a cat called Miez")
    ada.forget(gone.memory.memory_id)
    once = ada.add("Ada works at the harbour", valid_from=datetime(2023, 1, 1, tzinfo=UTC))
    ada.end_validity(once.memory.memory_id, datetime(2024, 1, 1, tzinfo=UTC))
    plan = ada.add("The plan is Ærø, 東京 and 🛰️\nin two lines", main_content="She said:\r\n“there”")
    ada.add("The plan is Ærø, 東京 and 🛰️\nin two lines", main_content="She said:\r\n“there”")
    # An event that was erased, and the memory made of it.
    lost = ada.remember("My locker code is 4711.", session_id="secrets")
    ada.ops.redact_event(lost.event_ids[0])
    # Private rows, and another user.
    names["private"] = ada.add("Ada is looking for another job", private=True).memory.memory_id
    names["private_event"] = ada.get(names["private"]).event_id
    bob.add("Bob is the cook")
    agent = door.add("The agent answers in French")
    # Relations, one of them taken back, and one that changed.
    ada.relate(plan.memory.memory_id, tea.memory.memory_id, "related_to", weight=0.25, metadata={"why": "both"})
    ada.relate(plan.memory.memory_id, tea.memory.memory_id, "related_to", weight=0.75)
    ada.relate(plan.memory.memory_id, agent.memory.memory_id, "depends_on")
    ada.unrelate(plan.memory.memory_id, agent.memory.memory_id, "depends_on")
    # A task with a part and checkpoints.
    task = ada.start_task("Paint the boat", metadata={"boat": "Miez II"})
    ada.start_task("Buy paint", parent_task_id=task.task_run_id)
    ada.record_event("Sanded the hull", role="agent", task_run_id=task.task_run_id)
    ada.save_checkpoint(
        task.task_run_id, "Hull is sanded", completed_steps=["sand"], pending_steps=["paint"], state={"n": [1, 2]}
    )
    ada.save_checkpoint(task.task_run_id, "Paint is there", pending_steps=["paint"])
    ada.update_task(task.task_run_id, status="paused")
    # Read, so that something was counted.
    ada.search("What does Ada drink?")
    names["event"] = lost.event_ids[0]
    names["plan"] = plan.memory.memory_id
    return names


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def body_of(path: Path) -> str:
    """The hash of what an export holds beside the name of its tenant, which stands in its first line."""
    return hashlib.sha256(b"\n".join(path.read_bytes().split(b"\n")[1:-2])).hexdigest()


@pytest.fixture
def open_door(database_url: str) -> Iterator[Callable[..., Engram]]:
    made: list[Engram] = []

    def open_(tenant: str, url: str = database_url, **ids: Any) -> Engram:
        made.append(quiet(Engram(url, scope=Scope(tenant, **ids))))
        return made[-1]

    yield open_
    for one in made:
        one.close()


@pytest.fixture
def told(open_door: Callable[..., Engram], tenant: str) -> tuple[Engram, dict[str, str]]:
    door = open_door(tenant)
    return door, tell(door)


def everything(door: Engram, **read: Any) -> list[Any]:
    """Every memory a door shows, whole."""
    found = door.list_memories(EVERY, limit=200, user_id="ada", **read)
    return sorted(
        (one.to_dict() | {"scope": None, "embedded": None} for one in found), key=lambda one: one["memory_id"]
    )


def test_what_is_exported_comes_back_as_it_was_in_an_empty_database_byte_for_byte(
    told: tuple[Engram, dict[str, str]],
    open_door: Callable[..., Engram],
    fresh_database_url: str,
    tenant: str,
    tmp_path: Path,
) -> None:
    door, _ = told
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    out = door.scoped(user_id="ada").ops.export(first)
    migrations.upgrade(fresh_database_url)
    other = open_door(tenant, fresh_database_url, user_id="ada")
    back = other.ops.import_(first)
    again = other.ops.export(second)
    assert first.read_bytes() == second.read_bytes()
    assert out.sha256 == again.sha256
    assert {kind: back.counts[kind] for kind in out.counts} == out.counts
    assert set(out.counts) == set(own.KINDS) - {"vector"}
    assert back.problems == ()
    report = other.ops.verify_ledger()
    assert report.ok
    assert report.erased == 1
