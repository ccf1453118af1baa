"""A long random life, taken back step by step: what could be seen at the start can be seen again."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from quiet import quiet

from engram import Conflict, Engram, Filter, InvalidInput, NotFound, Scope

STATUSES: Final = ("active", "superseded", "contested", "archived", "deleted", "quarantined")
LOOKS: Final = 10  # steps between two looks at the whole state, which costs a read a memory
FEW: Final = 30  # looks at most
BEASTS: Final = ("heron", "otter", "newt", "lynx", "kite", "vole", "mole", "hare")
PLACES: Final = ("the mill", "the weir", "the quay", "the moor", "the copse", "the ford")


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="ada")) as door:
        yield quiet(door)


def rows_of(door: Engram) -> dict[str, dict[str, Any]]:
    """Every memory there is, by id, without counters of reads and without the clock of a supersession."""
    found: dict[str, dict[str, Any]] = {}
    cursor = None
    while True:
        page = door.list_memories(filter=Filter(statuses=STATUSES), limit=200, cursor=cursor)
        for one in page:
            kept = one.to_dict()
            for name in ("activity", "citations", "superseded_at"):
                kept.pop(name)
            found[one.memory_id] = kept
        cursor = page.cursor
        if cursor is None:
            return found


def seen_of(door: Engram) -> dict[str, Any]:
    """What reads show: rows that were not put aside by an undoing, and the relations between them."""
    rows = {name: one for name, one in rows_of(door).items() if one["status_reason"] != "retracted"}
    ties = {
        (one.source_id, one.target_id, one.relation_type, round(one.weight, 9))
        for name, row in rows.items() if row["status"] == "active"
        for one in door.list_relations(name, limit=200)
    }  # fmt: skip
    return {"rows": rows, "ties": ties}


class Life:
    """A scope whose memories go through a random life; every step names what takes it back."""

    def __init__(self, door: Engram, seed: int) -> None:
        self.door, self.dice = door, random.Random(seed)
        self.steps: dict[str, Callable[[], Any]] = {
            "add": self.add, "revise": self.revise, "annotate": self.annotate, "reinforce": self.reinforce,
            "repeat": self.repeat, "forget": self.forget, "retract": self.retract, "restore": self.restore,
            "end": self.end, "archive": self.archive, "layer": self.layer, "feedback": self.feedback,
            "merge": self.merge, "merge_similar": self.merge_similar, "prune": self.prune,
            "consolidate": self.consolidate, "summaries": self.summaries,
        }  # fmt: skip
        self.weights = {"merge_similar": 0.1, "prune": 0.1, "consolidate": 0.05, "summaries": 0.05}

    def step(self) -> str | None:
        """One change at random; the id of the run or event that takes it back, or None when nothing came of it."""
        name = self.dice.choices(list(self.steps), [self.weights.get(one, 1.0) for one in self.steps])[0]
        before = self._newest()
        try:
            made = self.steps[name]()
        except (Conflict, NotFound, InvalidInput):  # nothing of the kind is there
            return None
        after = self._newest()
        if after == before:
            return None
        return made if isinstance(made, str) else after

    def _newest(self) -> str:
        return str(self.door.list_events(newest_first=True, limit=1)[0].event_id)

    def _fact(self) -> str:
        beast, place = self.dice.choice(BEASTS), self.dice.choice(PLACES)
        return f"User saw {self.dice.randrange(2, 40)} {beast}s by {place}"

    def _any(self, *statuses: str) -> str:
        page = self.door.list_memories(filter=Filter(statuses=statuses or ("active",)), limit=200)  # type: ignore[arg-type]
        return str(self.dice.choice(page.results).memory_id) if page.results else "mem-00000000"

    def add(self) -> str | None:
        key = self.dice.choice((None, None, "tide", "sprint"))
        return self.door.add(self._fact(), **({"topic_key": key} if key else {})).event_id

    def revise(self) -> str | None:
        return self.door.revise(self._any("active", "superseded"), self._fact()).event_id

    def annotate(self) -> None:
        self.door.annotate(self._any(), tags=[self.dice.choice(BEASTS)], importance=self.dice.random())

    def reinforce(self) -> None:
        self.door.reinforce(self._any(), 0.2)

    def repeat(self) -> str | None:
        return self.door.add(self.door.get(self._any()).fact, tags=["again"]).event_id

    def forget(self) -> None:
        self.door.forget(self._any())

    def retract(self) -> None:
        self.door.forget(self._any("active", "superseded"), revision_only=True)

    def restore(self) -> None:
        self.door.restore(self._any("archived", "deleted"))

    def end(self) -> None:
        self.door.end_validity(self._any())

    def archive(self) -> str:
        return self.door.ops.archive(list({self._any(), self._any()})).run_id

    def layer(self) -> str:
        return self.door.ops.set_layer(self._any(), self.dice.choice(("buffer", "working", "core"))).run_id

    def feedback(self) -> None:
        self.door.feedback([self._any()], self.dice.choice((1, -1, -1)))

    def merge(self) -> str:
        return self.door.merge([self._any(), self._any()], self._fact()).run_id

    def merge_similar(self) -> str:
        return self.door.ops.merge_similar().run_id

    def prune(self) -> str:
        return self.door.ops.prune(self.dice.choice(("gentle", "normal", "aggressive"))).run_id

    def consolidate(self) -> str:
        return self.door.ops.consolidate(merge=True).run_id

    def summaries(self) -> str:
        return self.door.ops.consolidate_summaries(limit=5).run_id


def lived_and_taken_back(door: Engram, seed: int, steps: int) -> None:
    life = Life(door, seed)
    for _ in range(30):
        life.add()
    done: list[tuple[str, dict[str, Any] | None]] = []
    rows = len(rows_of(door))
    every = max(LOOKS, steps // FEW)
    for number in range(steps):
        looked = seen_of(door) if number % every == 0 else None
        made = life.step()
        if made is not None:
            done.append((made, looked))
        elif looked is not None:
            done.append(("", looked))
    now = len(rows_of(door))
    assert now >= rows
    for target, looked in reversed(done):
        if target:
            report = door.ops.undo(target)
            assert not report.left, (seed, target, report.left)
        if looked is not None:
            assert seen_of(door) == looked, (seed, target)
    assert len(rows_of(door)) == now
    assert door.ops.verify_ledger().ok


@pytest.mark.parametrize("seed", [1, 2])
def test_a_random_life_is_taken_back_step_by_step(ada: Engram, seed: int) -> None:
    lived_and_taken_back(ada, seed, 60)


@pytest.mark.slow
def test_two_thousand_operations_are_taken_back(ada: Engram) -> None:
    seed = int(os.environ.get("ENGRAM_TEST_SEED", "2000"))
    print(f"seed {seed}")  # noqa: T201
    lived_and_taken_back(ada, seed, 2_000)
