"""The calls that are measured, each beside its floor, as one client makes them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Self

import psycopg
from crowds import Crowd, Filled
from floors import Floors

from engram import Engram, Filter, jobs
from engram.database import Connection, ending
from engram.ids import new_id
from engram.settings import load

NEW: Final = 10**8  # numbers of facts from here on are in no crowd
QUESTIONS: Final = 400
BATCH: Final = 100
PINNED: Final = 10
REVISIONS: Final = 5
KIND: Final = "bench"
PRIORITY: Final = 1
FACTS: Final = Filter(memory_types=("semantic",))
LONG: Final = 8_000  # tokens of a long context
FOUND: Final = 40  # memories that a context looks for
READS: Final = (
    "search", "search semantic", "search keyword", "search filtered", "search past", "recall", "build_context",
    "long context", "recall_critical", "get_lineage", "traverse", "traverse 1", "traverse past", "find_path",
)  # fmt: skip
WRITES: Final = (
    "add", "add_many", "remember", "remember derived", "append", "append_many", "relate", "enqueue", "claim",
)  # fmt: skip
CALLS: Final = (*READS, *WRITES)


@dataclass(frozen=True, slots=True)
class Case:
    """A call of the door, its floor, and how many rows one call writes or takes (1 of a read)."""

    name: str
    call: Callable[[], object]
    floor: Callable[[], object]
    rows: int = 1
    against: str = ""  # what the floor is, where the name does not say it


class Client:
    """One client of a scope: a door, floors beside it, and an endless supply of questions, ids and new facts."""

    def __init__(self, crowd: Crowd, filled: Filled, number: int = 0, url: str | None = None) -> None:
        self.crowd, self.filled, self.number = crowd, filled, number
        settings = load({}, dispatch="doorbell")
        self.door = Engram(url or crowd.url, scope=filled.scope, settings=settings)
        self.floors = Floors(crowd.url, crowd.plain, filled, f"bare-{number}-{new_id()}")
        self.dice = random.Random(number)
        seen = [self.dice.randrange(filled.rows) for _ in range(20)]
        numbers = [
            filled.first + min(filled.rows - 1, self.dice.choice(seen) // 1000 * 1000 + self.dice.randrange(1000))
            for _ in range(QUESTIONS)
        ]
        self._questions = [crowd.texts.question(at) for at in numbers]
        self._asked = 0
        self.now = datetime.now(UTC)  # the past, from here on
        self._facts = self._new_facts()
        with psycopg.connect(crowd.plain) as conn:
            self.memory_ids = [
                str(row[0]) for row in conn.execute(
                    "SELECT memory_id FROM engram.agent_memory WHERE scope_id = %s AND status = 'active'"
                    " ORDER BY md5(memory_id::text) LIMIT 1000", (filled.scope_id,),
                )
            ]  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.floors.close()
        self.door.close()

    def question(self) -> str:
        """The next question: none is asked twice, so that no vector is remembered."""
        self._asked += 1
        return f"{self._questions[self._asked % QUESTIONS]} {self._asked}"

    def facts(self, many: int) -> list[str]:
        """So many facts that nobody has."""
        return [next(self._facts) for _ in range(many)]

    def memory_id(self) -> str:
        """A memory of the scope."""
        return self.dice.choice(self.memory_ids)

    def derive(self) -> None:
        """Run what the calls have queued for workers, until nothing is left: reads pay for what is not derived yet."""
        while self.door.ops.run_jobs():
            pass

    def pin(self) -> str:
        """Pin some memories and revise one, so that there is something to read; a revision's id."""
        for place in range(PINNED):
            self.door.add(self.facts(1)[0], critical_slot=f"slot-{place}", force=True)
        made = None
        for _ in range(REVISIONS):
            made = self.door.add(self.facts(1)[0], topic_key="bench-lineage", force=True)
        assert made is not None
        assert made.memory is not None
        return made.memory.memory_id

    def cases(self, names: tuple[str, ...] = CALLS) -> list[Case]:
        """The named calls, in the order of the names."""
        made = {case.name: case for case in (*self._reads(names), *self._writes())}
        return [made[name] for name in names]

    def _reads(self, names: tuple[str, ...]) -> list[Case]:
        door, floors = self.door, self.floors
        revised = self.pin() if {"recall_critical", "get_lineage"} & set(names) else ""
        bare = "bare hybrid statement + embedding"
        return [
            Case("search", lambda: door.search(self.question()), lambda: floors.search(self.question()), against=bare),
            Case("search semantic", lambda: door.search(self.question(), mode="semantic"),
                 lambda: floors.search(self.question(), "semantic"), against="bare vector statement + embedding"),
            Case("search keyword", lambda: door.search(self.question(), mode="keyword"),
                 lambda: floors.search(self.question(), "keyword"), against="bare word statement"),
            Case("search filtered", lambda: door.search(self.question(), filter=FACTS),
                 lambda: floors.search(self.question()), against=bare),
            Case("search past", lambda: door.search(self.question(), as_of=self.now),
                 lambda: floors.search(self.question()), against=bare),
            Case("recall", lambda: door.recall(self.question()), lambda: floors.search(self.question()), against=bare),
            Case("build_context", lambda: door.build_context(self.question()), lambda: floors.search(self.question()),
                 against=bare),
            Case("long context", lambda: door.build_context(self.question(), max_tokens=LONG),
                 lambda: door.search(self.question(), limit=FOUND, expand=False, track=False),
                 against="the search of 40 that it contains; 8,000 tokens"),
            Case("recall_critical", door.recall_critical, floors.critical, against="bare statement"),
            Case("get_lineage", lambda: door.get_lineage(revised), lambda: floors.lineage(revised),
                 against="bare statement"),
            self._walk("traverse", 3),
            self._walk("traverse 1", 1),
            self._walk("traverse past", 3, known_at=self.now),
            Case("find_path", lambda: door.find_path(*self.dice.sample(self.memory_ids, 2)),
                 lambda: floors.traverse(self.memory_id()), against="bare recursive statement, depth 3"),
        ]  # fmt: skip

    def _walk(self, name: str, depth: int, **read: Any) -> Case:
        def walk() -> object:
            return self.door.traverse(self.memory_id(), max_depth=depth, **read)

        def bare() -> None:
            self.floors.traverse(self.memory_id(), depth)

        return Case(name, walk, bare, against=f"bare recursive statement, depth {depth}")

    def _writes(self) -> list[Case]:
        door, floors = self.door, self.floors
        rows, counter = "the same rows, bare and durable", "counter row and event, bare and durable"
        session = f"s-{self.number}"
        return [
            Case("add", lambda: door.add(self.facts(1)[0]), lambda: floors.add(self.facts(1)), against=rows),
            Case("add_many", lambda: door.add_many([{"fact": fact} for fact in self.facts(BATCH)]),
                 lambda: floors.add(self.facts(BATCH)), BATCH, rows),
            Case("remember", lambda: door.remember(self.facts(1)[0], session_id=session),
                 lambda: floors.append(self.facts(1), jobs=True), against=f"{counter}, with a job"),
            Case("remember derived",
                 lambda: door.remember(self.facts(1)[0], session_id=f"{session}-derived", wait=60.0),
                 lambda: floors.add(self.facts(1)), against=rows),
            Case("append", lambda: door.record_event(self.facts(1)[0], derive="skip", session_id=session),
                 lambda: floors.append(self.facts(1)), against=counter),
            Case("append_many", lambda: door.remember([{"role": "user", "content": one} for one in
                 self.facts(BATCH)], derive="skip", session_id=session),
                 lambda: floors.append(self.facts(BATCH)), BATCH, counter),
            Case("relate", lambda: door.relate(*self.dice.sample(self.memory_ids, 2), "supports", weight=0.5),
                 lambda: floors.append(self.facts(1)), against=f"{counter}, without the relation"),
            Case("enqueue", self._enqueue, lambda: floors.queue(self.facts(1)), against="bare durable insert"),
            Case("claim", self._claim, floors.claim, 10, "bare SKIP LOCKED and update, both durable"),
        ]  # fmt: skip

    def _enqueue(self) -> None:
        def work(conn: Connection) -> None:
            jobs.add(ending(conn), kind=KIND, dedup_key=new_id(), scope_id=self.filled.scope_id, priority=PRIORITY)

        self._database.run(self.filled.scope.tenant_id, work)

    def _claim(self) -> None:
        """Ten jobs taken and done, as a worker does."""
        tenant = self.filled.scope.tenant_id
        taken = self._database.run(tenant, lambda conn: jobs.claim(ending(conn), [KIND], 10, tenant_id=tenant))

        def effect(conn: Connection) -> None:
            jobs.hold(conn, *taken)
            jobs.finish(conn, *taken)

        self._database.run(tenant, effect)

    def fill_queue(self, many: int) -> None:
        """Queue jobs for both kinds of claim."""
        tenant = self.filled.scope.tenant_id
        with psycopg.connect(self.crowd.plain) as conn:
            for owner, kind in ((tenant, KIND), (self.floors.mine["tenant"], "derive")):
                conn.execute(
                    "INSERT INTO engram.memory_jobs (tenant_id, job_id, kind, stream_id, position, dedup_key, priority)"
                    " SELECT %s, gen_random_uuid(), %s, gen_random_uuid(), n, sha256((%s || n)::bytea), 1"
                    "   FROM generate_series(1, %s) n", (owner, kind, new_id(), many),
                )  # fmt: skip

    @property
    def _database(self) -> Any:
        return self.door._core.database()

    def _new_facts(self) -> Iterator[str]:
        first = NEW + self.dice.randrange(10**6) * 10**4 + int(new_id()[:8], 16) % 10**4 * 1000
        while True:
            yield from self.crowd.texts.facts(first, 1000)
            first += 1000
