"""What must never happen, through the whole write path: a wrong head, a swallowed change, an order that matters."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from quiet import quiet

from engram import Conflict, Engram, NotFound, Scope
from engram.embedded import EmbeddedServer
from engram.lineage import Member, places
from engram.recall import finding

sys.path.insert(0, str(Path(__file__).parent.parent / "unit"))

import pairs
import sentences

START = datetime(2020, 1, 1, tzinfo=UTC)


class OneVector:
    """An embedder for which all texts mean the same: the hardest case for whoever must tell them apart."""

    name, dimensions, max_tokens = "one-vector", 4, None

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        return np.full((len(texts), 4), 0.5, dtype=np.float32)


@pytest.fixture(scope="module")
def alike(database_url: str) -> Iterator[Engram]:
    with Engram(database_url, embedder=OneVector()) as door:  # type: ignore[arg-type]
        yield door


@pytest.mark.parametrize(("existing", "candidate"), pairs.CHANGED)
def test_a_changed_value_is_never_swallowed(alike: Engram, tenant: str, existing: str, candidate: str) -> None:
    for first, second in ((existing, candidate), (candidate, existing)):
        door = alike.scoped(tenant_id=tenant, user_id=f"u{first == existing}")
        door.add(first)
        decision = door.add(second)
        assert decision.kind in ("add", "revise")
        assert decision.memory is not None
        assert (decision.memory.fact, decision.memory.status) == (second, "active")


@pytest.mark.parametrize(("existing", "candidate"), pairs.SAME)
def test_a_paraphrase_is_a_duplicate(alike: Engram, tenant: str, existing: str, candidate: str) -> None:
    door = alike.scoped(tenant_id=tenant, user_id="ada")
    first = door.add(existing).memory
    second = door.add(candidate)
    assert first is not None
    if first.conflict_key is not None and second.kind != "reinforce":
        # It has the key of the first: then it is the next revision of it, and nothing is lost.
        assert second.memory is not None
        assert second.memory.lineage_id == first.lineage_id
    else:
        assert (second.kind, second.target and second.target.memory_id) == ("reinforce", first.memory_id)


def test_no_sentence_about_others_or_about_the_past_moves_the_user(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        home = next(
            d.memory for d in door.remember("I live in Ottawa.").decisions if d.memory and d.memory.conflict_key
        )
        for place in range(0, len(sentences.NO_KEY), 10):
            said = sentences.NO_KEY[place : place + 10]
            door.remember([{"role": "user", "content": one} for one in said])
            head = door.get_current(home.memory_id)
            assert head.fact == "User lives in Ottawa", said
        assert door.recall("Where do I live?").answer_text == "User lives in Ottawa"


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 12))])
def test_who_is_head_does_not_depend_on_the_order_of_arrival(database_url: str, tenant: str, seed: int) -> None:
    chance = random.Random(seed)
    trusts = ("operator", "user", "agent", "tool", "document", "web")
    told = [(f"User lives in City {n}", START + timedelta(days=n * 7), chance.choice(trusts)) for n in range(8)]
    ranks = {trust: rank for rank, trust in enumerate(trusts)}
    expected = {
        name: place.status
        for name, place in places(Member(f, (at, at, f, 0), ranks[trust], f, at) for f, at, trust in told).items()
    }
    with Engram(database_url, scope=Scope(tenant_id=tenant)) as door:
        for turn, threads in enumerate((1, 1, 6)):
            order = told * 2 if turn else list(told)
            chance.shuffle(order)
            scoped = door.scoped(user_id=f"u{turn}")

            def tell(one: tuple[str, datetime, str], scoped: Engram = scoped) -> None:
                scoped.add(one[0], topic_key="home", valid_from=one[1], trust=one[2], idempotency_key=one[0])  # type: ignore[arg-type]

            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(tell, order))
            line = scoped.get_lineage(topic_key="home")
            assert {memory.fact: memory.status for memory in line.revisions if memory.status != "deleted"} == expected
            assert len({memory.fact for memory in line.revisions}) == len(line.revisions) == 8


# What never comes back -----------------------------------------------------------------------------------------------

NAMES = ("Miso", "Nori", "Umeboshi", "Wasabi", "Yuzu")
TRUSTS = ("operator", "user", "agent", "tool", "document", "web")
QUESTIONS = (
    "What does the boat say of Miso?", "Where is the boat now?", "boat", "When did the boat change?",
    "What did the boat look like before?", "What happened to the boat last week?",
    "How has the boat changed over time?", "What was the boat like between 2019 and 2024?",
    "Which came first, Miso or Nori?", "the boat since 2018",
)  # fmt: skip
HIDDEN = ("deleted", "quarantined")


class AllNear:
    """An embedder for which all texts are near each other, and no two the same: whatever is there is found."""

    name, dimensions, max_tokens = "all-near", 8, None

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        made = np.full((len(texts), 8), 1.0, dtype=np.float32)
        for row, text in enumerate(texts):
            made[row, sum(map(ord, text)) % 8] += 0.2
            made[row, len(text) % 8] += 0.1
        return made


class Crowd:
    """Random writes of several people and agents to walled scopes, and what the tables alone say each may see."""

    def __init__(self, doors: dict[str, Engram], superuser: psycopg.Connection[Any], dice: random.Random) -> None:
        self.doors, self.superuser, self.dice = doors, superuser, dice
        self.owner: dict[str, str] = {}  # by memory id
        self.told = 0

    def step(self) -> None:
        acts = [self.add] * 6 + [self.forget, self.retract, self.restore, self.change, self.revise]
        (self.dice.choice([*acts, *[self.relate] * 4]) if len(self.owner) > 4 else self.add)()

    def any(self) -> tuple[str, Engram]:
        memory_id = self.dice.choice(sorted(self.owner))
        return memory_id, self.doors[self.owner[memory_id]]

    def keep(self, owner: str, decision: Any) -> None:
        for memory in (decision.memory, decision.head):
            if memory is not None:
                self.owner.setdefault(memory.memory_id, owner)

    def add(self) -> None:
        dice = self.dice
        owner = dice.choice([*self.doors, "ada", "ada", "ada", "agent"])
        self.told += 1
        given: dict[str, Any] = {
            "trust": dice.choice(TRUSTS), "private": dice.random() < 0.3, "force": dice.random() < 0.5,
            "topic_key": dice.choice([None, None, "hull", "sails"]), "subject": dice.choice([None, *NAMES]),
            "critical_slot": dice.choice([None, None, f"slot {self.told % 3}"]),
            "tags": dice.choice([[], ["trigger:launch"]]), "memory_type": dice.choice([None, "episodic"]),
            "valid_from": dice.choice([None, START, START - timedelta(days=600), START + timedelta(days=900)]),
            "expires_at": dice.choice([None] * 6 + [START, datetime(2100, 1, 1, tzinfo=UTC)]),
        }  # fmt: skip
        if given["valid_from"] is not None:  # what begins as it is said ends later
            given["valid_to"] = dice.choice([None] * 6 + [START + timedelta(days=1_000)])
        fact = f"The boat of {dice.choice(NAMES)} has note {self.told}"
        self.keep(owner, self.doors[owner].add(fact, **{k: v for k, v in given.items() if v is not None}))

    def revise(self) -> None:
        memory_id, door = self.any()
        self.told += 1
        with suppress(Conflict):
            self.keep(self.owner[memory_id], door.revise(memory_id, f"The boat is told of in note {self.told}"))

    def forget(self) -> None:
        memory_id, door = self.any()
        door.forget(memory_id)

    def retract(self) -> None:
        memory_id, door = self.any()
        door.forget(memory_id, revision_only=True)

    def restore(self) -> None:
        memory_id, door = self.any()
        door.restore(memory_id)

    def change(self) -> None:
        """As pruning, consolidation and a judge of quotes leave a memory."""
        change = self.dice.choice(
            ["status = 'archived'", "status = 'quarantined'", "consolidated_into = gen_random_uuid()",
             "status = 'contested'", "expires_at = now() - interval '1 s'", "ended_at = now() - interval '1 s'"]
        )  # fmt: skip
        self.superuser.execute(
            f"UPDATE engram.agent_memory SET {change} WHERE memory_id = %s",  # type: ignore[arg-type]
            (self.any()[0],),
        )

    def relate(self) -> None:
        """Relations that no door would make too: between tenants, users and whatever else there is."""
        source, target = self.dice.sample(sorted(self.owner), 2)
        kind = self.dice.choice(["part_of", "causes", "contradicts"])
        self.superuser.execute(
            "INSERT INTO engram.memory_relations (tenant_id, source_id, target_id, relation_type)"
            " SELECT tenant_id, %s, %s, %s FROM engram.agent_memory WHERE memory_id = %s ON CONFLICT DO NOTHING",
            (source, target, kind, self.dice.choice([source, target])),
        )

    def seen(self, reader: str) -> dict[str, tuple[str, bool]]:
        """Every row a reader may see, with its status and whether it is current, by the tables."""
        owners = {reader, "agent"} if reader in ("ada", "bob") else {reader}
        rows = self.superuser.execute(
            "SELECT memory_id::text, status, status = 'active' AND consolidated_into IS NULL"
            " AND (expires_at IS NULL OR expires_at > clock_timestamp())"
            " AND (ended_at IS NULL OR ended_at > clock_timestamp()), private FROM engram.agent_memory"
            " WHERE memory_id = ANY(%s::uuid[])", (list(self.owner),),
        ).fetchall()  # fmt: skip
        return {
            row[0]: (row[1], row[2])
            for row in rows
            if self.owner[row[0]] in owners and (not row[3] or self.owner[row[0]] == reader)
        }


SHOWING = {"hybrid", "semantic", "keyword", "deep", "list", "critical", "context", "recall", "walk"}
"""Reads that must have shown something, or it says nothing that they showed nothing wrong."""
MOST_ROUNDS = 60


def memory_ids(found: Any) -> set[str]:
    return {getattr(one, "memory", one).memory_id for one in found}


def reads(crowd: Crowd, reader: str, start: str, other: str) -> Iterator[tuple[str, Any, set[str]]]:
    """Default reads, and the ids each shows; those that show nothing else than what is current."""
    door, question = crowd.doors[reader], crowd.dice.choice(QUESTIONS)
    for mode in ("hybrid", "semantic", "keyword"):
        for depth in (1, 3):
            yield mode, None, memory_ids(door.search(question, mode=mode, depth=depth, limit=100, track=False))
    yield "filtered", None, memory_ids(door.search(question, filter={"min_trust": "web"}, limit=100, track=False))
    yield "deep", None, memory_ids(door.deep_search(question, queries=["boat", "Miso"], limit=100, track=False))
    yield "list", None, memory_ids(door.list_memories(limit=200))
    yield "critical", None, memory_ids(door.recall_critical())
    yield "trigger", None, memory_ids(door.recall_trigger("launch"))
    citations = door.build_context(question, max_tokens=6_000).citations
    yield "context", None, {one for mark, one in citations.items() if mark.startswith("mem-")}
    answer = door.recall(crowd.dice.choice(QUESTIONS[:3]), intent="current", track=False)
    # Where nothing is current the road goes on to what was: that is labelled.
    yield "recall", None, {one.memory.memory_id for one in answer.evidence if not one.labels}
    yield "answer", None, {answer.current.memory_id} if answer.current is not None else set()
    for mine in (start, other):
        with suppress(NotFound):
            yield "walk", mine, memory_ids(door.traverse(mine, direction="any", max_depth=5, query=question))
            yield "walk", mine, memory_ids(door.traverse(mine, direction="any", max_depth=5))
    yield "walks", None, memory_ids(door.traverse_many([start, other], max_depth=4))
    with suppress(NotFound):
        path = door.find_path(start, other)
        yield "path", start, set(path.path) - {start} if path is not None else set()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No channel is given up, however busy the machine is."""
    monkeypatch.setattr(finding, "TIMEOUTS", dict.fromkeys(finding.TIMEOUTS, 30.0))


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 24))])
def test_no_read_at_any_door_channel_or_hop_shows_what_is_not_current_or_not_the_readers(
    database_url: str, tenant: str, server: EmbeddedServer, seed: int
) -> None:
    dice = random.Random(seed)
    plain = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    with (
        psycopg.connect(plain, autocommit=True) as superuser,
        Engram(database_url, scope=Scope(tenant), embedder=AllNear()) as agent,  # type: ignore[arg-type]
        Engram(database_url, scope=Scope(f"{tenant}x", user_id="ada"), embedder=AllNear()) as foreign,  # type: ignore[arg-type]
    ):
        quiet(agent)
        quiet(foreign)
        superuser.execute("SET session_replication_role = replica")
        doors = {"agent": agent, "ada": agent.scoped(user_id="ada"), "bob": agent.scoped(user_id="bob"),
                 "elsewhere": agent.scoped(user_id="ada", namespace="other"),
                 "coder": agent.scoped(agent_id="coder", user_id="ada"), "foreign": foreign}  # fmt: skip
        crowd = Crowd(doors, superuser, dice)
        found: set[str] = set()
        rounds = 0
        while rounds < 6 or (rounds < MOST_ROUNDS and not found >= SHOWING):
            rounds += 1
            for _ in range(12):
                crowd.step()
            reader = dice.choice(["ada", "ada", "bob", "agent", "foreign"])
            seen = crowd.seen(reader)
            current = {one for one, (_, is_current) in seen.items() if is_current}
            start, other = dice.sample(sorted(crowd.owner), 2)
            for name, beside, shown in reads(crowd, reader, start, other):
                assert shown - {beside} <= current, (name, reader, [seen.get(one) for one in shown - current])
                found.update({name} if shown else ())
            door = crowd.doors[reader]
            for question in dice.sample(
                QUESTIONS, 3
            ):  # the roads to the past show what was, and never what is hidden or foreign
                answer = door.recall(question, track=False)
                told = memory_ids([*answer.evidence, *answer.previous]) | set(answer.trace.kept_ids)
                assert told <= set(seen), (question, reader)
                assert not [one for one in told if seen[one][0] in HIDDEN], (question, reader)
            every = door.search("boat", include_superseded=True, limit=100, track=False)
            for one in every:
                status, is_current = seen[one.memory.memory_id]
                assert status in ("active", "superseded")
                assert is_current or one.labels
            with suppress(NotFound):
                for step in door.traverse(start, direction="any", max_depth=4, include_superseded=True):
                    status, is_current = seen[step.memory.memory_id]
                    assert status not in HIDDEN
                    assert is_current or step.labels
                ends = {end for link in door.list_relations(start) for end in (link.source_id, link.target_id)}
                assert not [one for one in ends - {start} if seen[one][0] in HIDDEN]
        assert found >= SHOWING
