"""Whatever is said, denied, put away, merged and erased: what stands follows from what was said, and is rebuilt."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from lives import EVERY, seeds
from orders import stand_in_order

from engram import Conflict, Edit, Engram, InvalidInput, NotFound, Scope
from engram.database import Database, fetch_named
from engram.writing import SUCCEEDS

SAID = (
    "I don't live in {}.", "I live in {}.", "I no longer live in {}.", "I moved to {}.", "I don't like {}.",
    "My favourite colour is not {}.", "My favourite colour is {}.", "I'm allergic to {}.", "I'm not allergic to {}.",
    "I like {} again.", "I like {} now.", "I like {}.", "I stopped eating {}.", "I eat {} again.",
    "I live in {}. I am allergic to peanuts.", "My manager is Dana Reyes. I like {}.",
)  # fmt: skip
NAMED = ("Oslo", "Ottawa", "Rome")


class Life:
    """Somebody to whom things happen at random."""

    def __init__(self, door: Engram, seed: int, *, erases: bool) -> None:
        self.door, self.dice = door, random.Random(seed)
        self.acts = [name for name in dir(self) if name.startswith("do_") and (erases or name != "do_erase")]
        self.acts += ["do_say", "do_say", "do_add", "do_add"]

    def step(self) -> None:
        """One thing that happens; what is refused does not."""
        with suppress(Conflict, NotFound, InvalidInput):
            getattr(self, self.dice.choice(self.acts))()

    def fact(self) -> str:
        return self.dice.choice(SAID).format(self.dice.choice(NAMED))

    def pick(self) -> str:
        return self.dice.choice(list(self.door.list_memories(EVERY, limit=200))).memory_id

    def do_say(self) -> None:
        self.door.remember(self.fact())

    def do_add(self) -> None:
        day = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=self.dice.randrange(2000))
        self.door.add(self.fact(), occurred_at=day, trust=self.dice.choice(["user", "user", "web"]))

    def do_topic(self) -> None:
        keys: tuple[dict[str, Any], ...] = ({}, {"topic_key": "bicycles"}, {"critical_slot": "fact:bicycles"})
        self.door.add(f"User owns {self.dice.randint(1, 5)} bicycles", **self.dice.choice(keys))

    def do_supersede(self) -> None:
        self.door.add(f"User is called number {self.dice.randint(1, 99)}", supersedes=[self.pick()])

    def do_revise(self) -> None:
        self.door.revise(
            self.pick(), self.dice.choice([Edit.append(" indeed"), f"User says {self.dice.randint(1, 9)}"])
        )

    def do_annotate(self) -> None:
        self.door.annotate(self.pick(), importance=self.dice.random(), private=self.dice.random() < 0.3)

    def do_forget(self) -> None:
        self.door.forget(self.pick(), revision_only=self.dice.random() < 0.5)

    def do_restore(self) -> None:
        self.door.restore(self.pick())

    def do_end(self) -> None:
        self.door.end_validity(self.pick(), at=self.dice.choice([None, datetime.now(UTC) - timedelta(days=2)]))

    def do_endorse(self) -> None:
        self.door.endorse(self.pick(), self.dice.choice(["user", "operator"]))

    def do_archive(self) -> None:
        self.door.ops.archive([self.pick()])

    def do_merge(self) -> None:
        self.door.merge([self.pick(), self.pick()], f"User merged {self.dice.randint(1, 9)}")

    def do_undo(self) -> None:
        if runs := self.door.ops.list_runs().results:
            self.door.ops.undo(self.dice.choice(runs).run_id)

    def do_rate(self) -> None:
        self.door.feedback([self.pick()], self.dice.choice([1, -1]))

    def do_erase(self) -> None:
        self.door.ops.erase(events=[self.dice.choice(list(self.door.list_events(limit=200))).event_id])


@pytest.fixture
def lena(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="lena")) as door:
        yield door


@pytest.mark.parametrize("erases", [False, True])
@pytest.mark.parametrize("seed", seeds(2, 150))
def test_what_stands_follows_from_what_was_said_and_is_rebuilt(
    database: Database, lena: Engram, tenant: str, seed: int, erases: bool
) -> None:
    life = Life(lena, seed, erases=erases)
    for _ in range(3):
        life.do_say()
    for _ in range(40):
        life.step()
        stand_in_order(database, tenant)
        assert current(lena, as_of=datetime.now(UTC)) == current(lena), "as of today it is as it is"
    before, turned = shown(lena), turned_over(database, tenant)
    assert len(before) > 10
    replayed = lena.ops.replay()
    assert not replayed.problems
    assert replayed.is_same or erases  # how surprising a fact was beside what is erased nobody can tell any more
    lena.ops.switch_replay(replayed.shadow_id)
    rebuilt(lena, before, erases=erases, turned=turned)
    stand_in_order(database, tenant)


@pytest.mark.parametrize("erases", [False, True])
@pytest.mark.parametrize("seed", seeds(1, 60))
def test_a_life_that_is_exported_comes_back_as_it_was_and_is_rebuilt_there(
    database: Database, database_url: str, lena: Engram, tenant: str, tmp_path: Path, seed: int, erases: bool
) -> None:
    life = Life(lena, seed, erases=erases)
    for _ in range(3):
        life.do_say()
    for _ in range(40):
        life.step()
    before, now = shown(lena), current(lena)
    lena.ops.export(tmp_path / "life.jsonl")
    with Engram(database_url, scope=Scope(f"{tenant}-2", user_id="lena")) as other:
        other.ops.import_(tmp_path / "life.jsonl")
        assert (shown(other), current(other)) == (before, now)
        stand_in_order(database, f"{tenant}-2")
        assert other.ops.verify_ledger().ok
        turned = turned_over(database, f"{tenant}-2")
        replayed = other.ops.replay()
        assert not replayed.problems
        other.ops.switch_replay(replayed.shadow_id)
        rebuilt(other, before, erases=erases, turned=turned)


@pytest.mark.parametrize("seed", seeds(2, 60))
def test_lives_at_once_of_one_user_leave_every_row_in_its_place(
    database: Database, lena: Engram, tenant: str, seed: int
) -> None:
    lives = [Life(lena, seed * 10 + number, erases=True) for number in range(4)]
    lives[0].do_say()

    def live(life: Life) -> None:
        for _ in range(14):
            life.step()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(live, lives))
    stand_in_order(database, tenant)
    assert current(lena, as_of=datetime.now(UTC)) == current(lena)
    assert lena.ops.verify_ledger().ok
    replayed = lena.ops.replay()  # in the order of the ledger, which need not be that of who looked first
    lena.ops.switch_replay(replayed.shadow_id)
    stand_in_order(database, tenant)


def rebuilt(door: Engram, before: list[tuple[str, ...]], *, erases: bool, turned: set[str]) -> None:
    """What was shown is shown again; what others said beside what was erased may be a memory of its own, too.

    What said the opposite of something says it of what is left, then (`turned`).
    """
    again = shown(door)
    assert {row for row in before if not (erases and turned & {row[0], row[1]})} <= set(again)
    assert erases or again == before


def turned_over(database: Database, tenant: str) -> set[str]:
    """The memories of the lineages in which one without a key took the place of what it says is so no more.

    With their facts: who says the same stands beside such a one, or repeats it.
    """
    with database.transaction(tenant, read_only=True) as conn:
        found = fetch_named(conn, _TURNED, {"tenant_id": tenant, "reason": SUCCEEDS})
    return {said for row in found for said in row if said}


_TURNED = (
    "SELECT m.memory_id::text, m.fact FROM engram.agent_memory m WHERE m.tenant_id = %(tenant_id)s"
    " AND m.lineage_id IN ("
    "  SELECT o.lineage_id FROM engram.agent_memory o JOIN engram.memory_changes c USING (tenant_id, memory_id)"
    "   WHERE o.tenant_id = %(tenant_id)s AND o.conflict_key IS NULL AND c.decision -> 'reasons' ? %(reason)s)"
)


def current(door: Engram, **read: Any) -> list[str]:
    return sorted(memory.fact for memory in door.list_memories(limit=200, **read))


def shown(door: Engram) -> list[tuple[str, ...]]:
    """Every memory with its state; of one that was forgotten only that it was."""
    return sorted(
        (
            one.memory_id,
            one.fact,
            one.status,
            *one.labels,
            str(one.superseded_by),
            str(one.valid_from),
            str(one.valid_to),
        )
        if one.status != "deleted"
        else (one.memory_id, one.fact, one.status)
        for one in door.list_memories(EVERY, limit=200)
    )
