"""What is said in one call or in many, in several scopes and by several people at once: the same memory comes of it."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from lives import EVERY, seeds
from orders import stand_in_order

from engram import Conflict, Engram, InvalidInput, MemoryPolicy, NotFound, Scope
from engram.database import Database

SAID = (
    "I like {}.", "I don't like {}.", "I love {}.", "I hate {}.", "I never drink {}.", "I drink {}.",
    "I don't drink {}.", "I no longer drink {}.", "I drink {} again.", "I have no {}.", "I have {}.",
    "I can't stand {}.", "User likes {}", "User does not like {}", "Mary Jones does not like {}",
    "Mary Jones likes {}", "I live in {}.", "I don't live in {}.", "I'm allergic to {}.", "I'm not allergic to {}.",
    "I stopped eating {}.", "My favourite drink is {}.",
)  # fmt: skip
NAMED = ("tea", "coffee", "green tea")
VERBS = ("like", "don't like", "hate", "love", "never drink", "drink", "don't drink", "no longer drink")
THINGS = ("tea", "coffee", "milk", "wine", "beer", "cocoa")
MODES: tuple[Any, ...] = ("return", "report", "gate", "merge", "absorb", "store")


def fact(dice: random.Random) -> str:
    return dice.choice(SAID).format(dice.choice(NAMED))


def day(dice: random.Random) -> datetime:
    return datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=dice.randrange(2000))


def candidate(dice: random.Random) -> dict[str, Any]:
    """A statement with whatever can be said of one."""
    said: dict[str, Any] = {"fact": fact(dice)}
    if dice.random() < 0.25:
        said["private"] = True
    if dice.random() < 0.15:
        said["force"] = True
    if dice.random() < 0.2:
        said["valid_from"] = day(dice)
    if dice.random() < 0.1:
        said["expires_at"] = datetime(2090, 1, 1, tzinfo=UTC)
    return said


def alike(door: Engram, **read: Any) -> list[tuple[Any, ...]]:
    """Every memory of a scope as it is in words, with its lineage and what took its place, whatever its ids."""
    rows = door.list_memories(EVERY, limit=200, **read)
    lineages: dict[str, list[tuple[Any, ...]]] = {}
    for one in rows:
        lineages.setdefault(one.lineage_id, []).append((one.revision, one.fact, one.private))
    facts = {one.memory_id: one.fact for one in rows}
    return sorted(
        (
            one.fact, one.status, tuple(one.labels), one.private, one.trust, facts.get(one.superseded_by or "", ""),
            sorted(lineages[one.lineage_id]),
        )
        for one in rows
    )  # fmt: skip


@pytest.mark.parametrize("seed", seeds(1, 180))
def test_many_statements_at_once_are_the_same_memory_as_one_after_the_other(
    database: Database, database_url: str, tenant: str, seed: int
) -> None:
    dice = random.Random(seed)
    policy = MemoryPolicy("lives", write_mode=MODES[seed % len(MODES)])
    with (
        Engram(database_url, scope=Scope(tenant, user_id="lena"), policy=policy) as door,
        Engram(database_url, scope=Scope(f"{tenant}-2", user_id="lena"), policy=policy) as other,
    ):
        for _ in range(4):
            said = [candidate(dice) for _ in range(dice.choice([3, 12, 24]))]
            call: dict[str, Any] = {"trust": dice.choice(["user", "user", "web"])}
            if dice.random() < 0.3:
                call["occurred_at"] = day(dice)
            together = [(one.kind, one.reasons) for one in door.add_many(said, **call)]
            each = []
            for one in said:
                foreseen, made = other.add(**one, **call, dry_run=True), other.add(**one, **call)
                assert (foreseen.kind, foreseen.reasons) == (made.kind, made.reasons)
                each.append((made.kind, made.reasons))
            assert together == each
        assert alike(door) == alike(other)
        for name, who in ((tenant, door), (f"{tenant}-2", other)):
            stand_in_order(database, name)
            before = alike(who)
            replayed = who.ops.replay()
            assert not replayed.problems
            assert replayed.is_same
            who.ops.switch_replay(replayed.shadow_id)
            assert alike(who) == before


@pytest.mark.parametrize("seed", seeds(1, 60))
def test_many_who_contradict_each_other_at_once_all_get_an_answer(
    database: Database, database_url: str, tenant: str, seed: int
) -> None:
    def say(number: int) -> None:
        dice = random.Random(seed * 10 + number)
        with Engram(database_url, scope=Scope(tenant, user_id="lena")) as door:
            for _ in range(4):
                said = [{"fact": f"I {dice.choice(VERBS)} {thing}."} for thing in dice.sample(THINGS, 5)]
                trust = dice.choice(["user", "user", "web"])
                if dice.random() < 0.6:
                    door.add_many(said, trust=trust)
                elif dice.random() < 0.5:
                    door.remember([{"role": "user", "content": one["fact"]} for one in said], wait=True)
                else:
                    door.add(said[0]["fact"], trust=trust)

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(say, range(5)))
    stand_in_order(database, tenant)
    with Engram(database_url, scope=Scope(tenant, user_id="lena")) as door:
        assert door.ops.verify_ledger().ok
        replayed = door.ops.replay()
        assert not replayed.problems
        door.ops.switch_replay(replayed.shadow_id)
    stand_in_order(database, tenant)


def sees(one: Scope, other: Scope) -> bool:
    """Whether who writes to a scope may see another, and so change by its id what is there."""
    return one.agents == other.agents and other.namespace in one.namespaces and other.user_id in (None, one.user_id)


class Owner:
    """One of those who share a tenant: what they do to what they may see."""

    def __init__(self, door: Engram, dice: random.Random) -> None:
        self.door, self.dice = door, dice

    def see(self, **read: Any) -> str:
        return self.dice.choice(list(self.door.list_memories(EVERY, limit=200, **read))).memory_id

    def step(self) -> None:
        """One thing that happens; what is refused does not."""
        act = self.dice.choice(["say"] * 5 + ["add"] * 5 + ["over", "merge", "forget", "restore", "revise"])
        with suppress(Conflict, NotFound, InvalidInput, IndexError):
            if act == "say":
                said = [{"role": "user", "content": fact(self.dice)} for _ in range(3)]
                self.door.remember(said, actor=self.dice.choice(["ann", "bob"]), wait=True)  # type: ignore[arg-type]
            elif act == "add":
                self.door.add_many([candidate(self.dice) for _ in range(4)], trust=self.dice.choice(["user", "web"]))
            elif act == "over":
                self.door.add(fact(self.dice), supersedes=[self.see(shared=False)])  # a replay is of one scope
            elif act == "merge":
                self.door.merge([self.see(), self.see()], f"User merged {self.dice.randint(1, 9)}")
            elif act == "forget":
                self.door.forget(self.see(), revision_only=self.dice.random() < 0.5)
            elif act == "restore":
                self.door.restore(self.see())
            else:
                self.door.revise(self.see(), f"User says {self.dice.randint(1, 9)}")


@pytest.mark.parametrize("seed", seeds(1, 60))
def test_what_one_owner_does_changes_nothing_that_he_may_not_see_and_all_is_rebuilt(
    database: Database, database_url: str, tenant: str, seed: int
) -> None:
    dice = random.Random(seed)
    scopes = [
        Scope(tenant, user_id="lena"), Scope(tenant, user_id="lena", namespace="work"), Scope(tenant, user_id="olaf"),
        Scope(tenant, agent_id="helper"), Scope(tenant, user_id="lena", agent_id="helper", namespace="work"),
    ]  # fmt: skip
    with ExitStack() as stack:
        doors = [stack.enter_context(Engram(database_url, scope=scope)) for scope in scopes]
        for _ in range(25):
            one = dice.randrange(len(doors))
            others = [other for other in range(len(doors)) if not sees(scopes[one], scopes[other])]
            before = [alike(doors[other], shared=False) for other in others]
            Owner(doors[one], dice).step()
            assert [alike(doors[other], shared=False) for other in others] == before
            stand_in_order(database, tenant)
        before = [alike(door, shared=False) for door in doors]
        for door in (door for door, held in zip(doors, before, strict=True) if held):
            replayed = door.ops.replay(shared=False)
            assert not replayed.problems
            assert replayed.is_same
            door.ops.switch_replay(replayed.shadow_id)
        assert [alike(door, shared=False) for door in doors] == before
        stand_in_order(database, tenant)
