"""What a language model reads out of what several people say: quoted, trusted no more than they are, and rebuilt."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from orders import stand_in_order
from quiet import quiet
from test_many_lives import seeds
from test_replay import drained, told
from test_whatever_happens import EVERY, Life, current, shown

from engram import Conflict, Engram, MemoryPolicy, Scope, Unavailable
from engram.database import Database
from engram.settings import load
from engram.testing import Asked, Says, ScriptedModel
from engram.values import trust_rank

TOPICS = ("tea", "coffee", "Oslo", "Ottawa", "skiing")
TOLD = (
    "I like {}.", "I don't like {}.", "I hate {}.", "I live in {}.", "I no longer live in {}.",
    "I moved to {} last week.", "Dana likes {}.", "Dana does not like {}.", "We talked about {}. It was fine.",
    "My favourite thing is {}.", "Since 2021 I go for {}.", "I'm allergic to {}.", "I never eat {}. I like tea.",
    "I eat {} again.",
)  # fmt: skip
FOUND = (
    "User likes {}", "User does not like {}", "User hates {}", "User loves {}", "User lives in {}",
    "User does not live in {}", "Dana likes {}", "Dana does not like {}", "User's favourite thing is {}",
    "User is fond of {}", "User never eats {}",
)  # fmt: skip
SPEAKERS: tuple[dict[str, Any], ...] = (
    {"role": "user"}, {"role": "user"}, {"role": "user", "name": "Dana"}, {"role": "assistant"}, {"role": "tool"},
    {"role": "tool", "trust": "web"}, {"role": "user", "trust": "web"},
)  # fmt: skip
LLM = ("quarantine", "keep", "reject")


class Reader:
    """A language model that finds whatever it likes, in the same turns always the same; now and then it fails."""

    def __init__(self, seed: int) -> None:
        self.seed, self.dice, self.fails = seed, random.Random(seed), 0.0
        self.asked: list[Asked] = []

    def __call__(self, asked: Asked) -> Says:
        self.asked.append(asked)
        judges = asked.schema is not None and asked.schema.__name__ == "Verdicts"
        if self.dice.random() < self.fails:  # a verdict that is none is no opinion, which a replay would ask for again
            return self.dice.choice(["nonsense", "nonsense", Unavailable("busy", retry_after=0.01)][2 * judges :])
        if judges:
            return self.judge(lines(asked.text.split("one JSON object a line:")[-1]))
        return self.read(lines(asked.text.split("The turns to read")[-1]))

    def read(self, turns: Sequence[dict[str, Any]]) -> Says:
        """Up to three facts a turn, with quotes of which some were never said."""
        facts: list[dict[str, Any]] = []
        for turn in turns:
            dice = random.Random(f"{self.seed}/{turn['text']}")
            words = turn["text"].split()
            for _ in range(dice.randrange(4)):
                start = dice.randrange(len(words))
                one: dict[str, Any] = {
                    "turn": turn["turn"], "fact": dice.choice(FOUND).format(dice.choice(TOPICS)),
                    "quote": " ".join(words[start : start + 4]) if dice.random() < 0.8 else "what nobody ever said",
                }  # fmt: skip
                if dice.random() < 0.2:
                    one["when"] = "last week"
                if dice.random() < 0.2:
                    one |= {"subject": "user", "attribute": "favourite_thing", "value": dice.choice(TOPICS)}
                if dice.random() < 0.2:
                    one["type"] = dice.choice(["preference", "profile", "episodic"])
                if dice.random() < 0.3:
                    one["relations"] = [{"to": dice.randrange(4), "type": dice.choice(["causes", "related_to"])}]
                facts.append(one)
        return {"facts": facts[:64]}

    def judge(self, cases: Sequence[dict[str, Any]]) -> Says:
        """A verdict on most cases."""
        made = []
        for case in cases:
            dice = random.Random(f"{self.seed}/{case['fact']}/{[near['fact'] for near in case['near']]}")
            verdict = dice.choice(["add", "revise", "reinforce", "keep_both", None])
            if verdict is not None:
                target = dice.randint(1, len(case["near"]))
                made.append({"candidate": case["candidate"], "decision": verdict, "target": target})
        return {"decisions": made}


def lines(said: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


class Told(Life):
    """Somebody to whom things happen while several people speak, and a model reads some of it."""

    def __init__(self, door: Engram, reader: Reader, seed: int, *, erases: bool) -> None:
        super().__init__(door, seed, erases=erases)
        self.reader = reader
        self.acts = [act for act in self.acts if act != "do_say"] + ["do_talk"] * 6 + ["do_work"] * 3
        self.acts.remove("do_topic")

    def do_talk(self) -> None:
        said = []
        for _ in range(self.dice.randint(1, 4)):
            words = self.dice.choice(TOLD).format(self.dice.choice(TOPICS))
            who, derive = self.dice.choice(SPEAKERS), self.dice.choice(["llm", "llm", None])
            # Whether an agent's words repeated what was known then, so that nothing was asked, is kept nowhere.
            said.append({**who, "content": words, "derive": None if who["role"] == "assistant" else derive})
        self.door.remember(said, wait=False, session_id=self.dice.choice(["one", "two", None]))  # type: ignore[arg-type]

    def do_work(self) -> None:
        self.reader.fails = self.dice.choice([0.0, 0.0, 0.2])
        drained(self.door)
        self.reader.fails = 0.0

    def do_retry(self) -> None:
        retried(self.door)


def retried(door: Engram) -> None:
    for _ in range(20):
        drained(door)
        left = [job for job in door.ops.list_jobs(limit=200) if job.state not in ("done", "cancelled")]
        if not left:
            return
        for job in left:
            with suppress(Conflict):
                door.ops.retry_job(job.job_id)
    raise AssertionError([(job.kind, job.state, job.error_class) for job in left])


def is_sound(door: Engram) -> None:
    """Every memory of the model is trusted as who said it or vouched for it, and says truly whether it was said."""
    for one in door.list_memories(EVERY, limit=200):
        if one.status_reason == "erased":
            continue
        events = {cited.event_id: door.get_event(cited.event_id) for cited in one.citations}
        if one.deriver is not None and events:
            acts = door.get_history(memory_id=one.memory_id, limit=200)
            vouched = [door.get_event(act.event_id) for act in acts if act.entry == "endorsed" and act.event_id]
            best = min(trust_rank(event.trust) for event in (*events.values(), *vouched))
            assert trust_rank(one.trust) >= best, (one, events)
        for cited in one.citations:
            content = events[cited.event_id].content
            assert not cited.verified or content is None or content[cited.char_start : cited.char_end].strip()
        if one.status == "quarantined":
            assert not any(cited.verified for cited in one.citations)
            assert [same.memory_id for same in door.get_lineage(one.memory_id).revisions] in ([], [one.memory_id])
            assert not door.list_relations(one.memory_id)


@pytest.fixture
def lived(database_url: str, tenant: str) -> Iterator[Any]:
    with ExitStack() as stack:

        def opened(seed: int, name: str = tenant) -> tuple[Engram, Reader]:
            policy = MemoryPolicy(
                "read", unverified=LLM[seed % 3], llm={"adjudicate": "full"} if seed % 2 else {},  # type: ignore[arg-type]
                write_mode="merge" if seed % 5 == 4 else "return",
            )  # fmt: skip
            reader = Reader(seed)
            door = Engram(
                database_url, scope=Scope(name, user_id="lena"), llm=ScriptedModel(reader), policy=policy,
                settings=load({}, dispatch="doorbell"),
            )  # fmt: skip
            return quiet(stack.enter_context(door)), reader

        yield opened


@pytest.mark.parametrize("erases", [False, True])
@pytest.mark.parametrize("seed", seeds(1, 100))
def test_what_a_model_reads_stands_in_order_and_is_rebuilt(
    database: Database, lived: Any, tenant: str, tmp_path: Path, seed: int, erases: bool
) -> None:
    door, reader = lived(seed)
    life = Told(door, reader, seed, erases=erases)
    for _ in range(3):
        life.do_talk()
    life.do_add()
    for _ in range(30):
        life.step()
        stand_in_order(database, tenant)
        assert current(door, as_of=datetime.now(UTC)) == current(door), "as of today it is as it is"
    retried(door)
    is_sound(door)
    stand_in_order(database, tenant)
    before, asked = shown(door), len(reader.asked)
    door.ops.export(tmp_path / "life.jsonl")
    replayed = door.ops.replay()
    assert not replayed.problems
    assert not [one for one in replayed.changed if one.before.status == "deleted" and one.after.status == "active"]
    if not erases:  # of what was read beside what is erased the model was asked again, and said it later
        assert replayed.is_same, told(replayed)
        assert len(reader.asked) == asked, "every answer was kept"
    door.ops.switch_replay(replayed.shadow_id)
    assert erases or shown(door) == before
    stand_in_order(database, tenant)
    other, _ = lived(seed, f"{tenant}-2")
    other.ops.import_(tmp_path / "life.jsonl")
    assert shown(other) == before
    stand_in_order(database, f"{tenant}-2")
