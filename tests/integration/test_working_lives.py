"""Whatever is said, done, saved, hidden and erased in sessions and runs: what stands follows from what was recorded."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from lives import seeds

from engram import Conflict, Engram, IdempotencyMismatch, InvalidInput, NotFound, Scope
from engram.database import Database, fetch_named
from engram.values import Event, Page

STATUSES = ("active", "paused", "active", "paused", "completed", "failed")
NAMED = ("mon", "tue", "wed")
SAID = ("I live in {}.", "I like {}.", "We decided on {}.", "What is {}?", "#mem-off {}", "#mem-on {}")
STATES: tuple[Any, ...] = (
    {},
    {"step": 1, "left": [1.0, -0.0, 1e-7, 1e21, 2**60]},
    {"é\u2028": "\U0001f600", "b": None, "a": {"z": 1, "y": []}},
)
POSITIONS = (
    "SELECT s.stream_id::text, s.position, array_agg(e.position ORDER BY e.position) AS held"
    " FROM engram.event_streams s LEFT JOIN engram.agent_events e"
    " ON e.tenant_id = s.tenant_id AND e.stream_id = s.stream_id WHERE s.tenant_id = %(tenant_id)s"
    " GROUP BY s.stream_id, s.position"
)
EVENTS = "SELECT event_id::text FROM engram.agent_events WHERE tenant_id = %(tenant_id)s AND scope_id > 0"
TABLES = (
    "SELECT DISTINCT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'"
    " WHERE n.nspname = 'engram' AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
)


@dataclass
class Run:
    """What is known of a task run from what was asked for and answered."""

    goal: str
    status: str = "active"
    outcome: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    forgotten: bool = False


@dataclass
class Call:
    """A call that was made with a key: it again, and others under the same key."""

    again: Callable[[], Any]
    others: list[Callable[[], Any]]


class Life:
    """An agent that works at random."""

    def __init__(self, door: Engram, seed: int, *, erases: bool, name: str = "a") -> None:
        self.door, self.dice, self.name = door, random.Random(seed), name
        self.acts = [name for name in dir(self) if name.startswith("do_") and (erases or name != "do_erase")]
        self.acts += ["do_turn", "do_event", "do_update", "do_save"]
        self.words = 0
        self.runs: dict[str, Run] = {}
        self.saved: dict[str, tuple[str, tuple[str, ...], Any]] = {}
        self.calls: list[Call] = []
        self.erased: dict[str, str] = {}
        self.is_among_others = False

    def step(self) -> str:
        """One thing that happens; what is refused does not."""
        act = self.dice.choice(self.acts)
        with suppress(Conflict, NotFound, InvalidInput, IndexError):
            getattr(self, act)()
        return act

    def word(self) -> str:
        self.words += 1
        return f"Canary{self.name}{self.words:03d}"

    def key(self) -> str:
        return f"{self.name}-{self.words}-{len(self.calls)}-{self.dice.random()}"

    def run(self) -> str:
        return self.dice.choice(sorted(self.runs))

    def place(self) -> dict[str, Any]:
        place: dict[str, Any] = {}
        if self.dice.random() < 0.6:
            place["session_id"] = self.dice.choice(NAMED)
        if self.runs and self.dice.random() < 0.4:
            place["task_run_id"] = self.run()
        return place

    def keyed(self, again: Callable[[], Any], *others: Callable[[], Any]) -> None:
        self.calls.append(Call(again, list(others)))

    def do_turn(self) -> None:
        said, place, key = self.dice.choice(SAID).format(self.word()), self.place(), self.key()
        artifact = [{"name": "draft", "content": self.word()}] if self.dice.random() < 0.2 else []
        given = {"artifacts": artifact, "idempotency_key": key, **place}
        first = self.door.record_turn(said, "Noted.", **given)
        self.keyed(
            lambda: self.same(first, self.door.record_turn(said, "Noted.", **given)),
            lambda: self.door.record_turn(f"{said} Indeed.", "Noted.", **given),
        )

    def do_event(self) -> None:
        kind = self.dice.choice(["observation", "decision", "error", "agent_action", "tool_call"])
        self.door.record_event(f"It was {self.word()}", event_type=kind, **self.place())

    def do_add(self) -> None:
        fact, place, key = f"User likes {self.word()}", self.place(), self.key()
        self.door.add(fact, idempotency_key=key, **place)
        self.keyed(
            lambda: self.door.add(fact, idempotency_key=key, **place),
            lambda: self.door.add(f"{fact} much", idempotency_key=key, **place),
        )

    def do_forget(self) -> None:
        memory = self.dice.choice(list(self.door.list_memories(limit=200)))
        self.door.forget(memory.memory_id, **self.place())

    def same(self, first: Any, second: Any) -> None:
        assert (first.event_ids, first.position) == (second.event_ids, second.position)
        assert second.duplicate

    def do_session(self) -> None:
        metadata = {"word": self.word()} if self.dice.random() < 0.5 else None
        named = self.dice.choice([*NAMED, None])
        with self.door.session(named, metadata=metadata) as session:
            for _ in range(self.dice.randrange(3)):
                session.record_turn(f"I saw {self.word()}.", "Well.")

    def do_end(self) -> None:
        summary = f"All of {self.word()}" if self.dice.random() < 0.5 else None
        named, key = self.dice.choice(NAMED), self.key()
        before = self.door.get_session(named).position
        ended = self.door.end_session(named, summary=summary, idempotency_key=key)
        if ended.position > before:
            others = [one for one in NAMED if one != named]
            self.keyed(
                lambda: self.door.end_session(named, summary=summary, idempotency_key=key),
                lambda: self.door.end_session(named, summary="Another", idempotency_key=key),
                lambda: self.door.end_session(self.dice.choice(others), summary=summary, idempotency_key=key),
            )

    def do_start(self) -> None:
        goal, key = f"Find {self.word()}", self.key()
        metadata = {"word": self.word()} if self.dice.random() < 0.5 else {}
        parent = self.run() if self.runs and self.dice.random() < 0.4 else None
        given = {"metadata": metadata, "parent_task_id": parent, "idempotency_key": key}
        task = self.door.start_task(goal, **given, **({"session_id": "mon"} if self.dice.random() < 0.3 else {}))
        self.runs[task.task_run_id] = Run(goal, metadata=metadata)

    def do_update(self) -> None:
        run, key, made = self.run(), self.key(), {}
        if self.dice.random() < 0.7:
            made["status"] = self.dice.choice(STATUSES)
        if self.dice.random() < 0.4:
            made["outcome"] = f"Found {self.word()}"
        if self.dice.random() < 0.4:
            made["metadata"] = {"word": self.word()}
        before = self.door.get_task(run).position
        after = self.door.update_task(run, **made, idempotency_key=key)
        self.runs[run] = replace(self.runs[run], **made)
        if after.position > before:
            other = self.other(run)
            self.keyed(
                lambda: self.door.update_task(run, **made, idempotency_key=key),
                lambda: self.door.update_task(run, outcome="another", idempotency_key=key),
                *([lambda: self.door.update_task(other, **made, idempotency_key=key)] if other else []),
            )

    def other(self, run: str) -> str | None:
        seen = [name for name, one in sorted(self.runs.items()) if name != run and not one.forgotten]
        return self.dice.choice(seen) if seen else None

    def do_resume(self) -> None:
        run, key = self.run(), self.key()
        resumed = self.door.resume_task(run, idempotency_key=key)
        self.runs[run].status = "active"
        assert resumed.task.status == "active"
        saved = [one for one in self.door.list_checkpoints(run, limit=50) if not one.erased]
        assert resumed.checkpoint is None or saved
        after = 0 if resumed.checkpoint is None else resumed.checkpoint.position
        assert all(event.position > after for event in resumed.events)
        other = self.other(run)
        self.keyed(
            lambda: self.door.resume_task(run, idempotency_key=key),
            *([lambda: self.door.resume_task(other, idempotency_key=key)] if other else []),
        )

    def do_forget_task(self) -> None:
        run = self.run()
        self.door.forget_task(run)
        self.runs[run].forgotten = True

    def do_restore_task(self) -> None:
        run, key = self.run(), self.key()
        self.door.restore_task(run, idempotency_key=key)
        self.runs[run].forgotten = False

    def do_save(self) -> None:
        run, summary, key = self.run(), f"Came to {self.word()}", self.key()
        state, events = self.dice.choice(STATES), self.door.list_events(task_run_id=run, limit=200)
        position = self.dice.randint(0, self.door.get_task(run).position) if self.dice.random() < 0.2 else None
        sources = tuple({self.dice.choice(events).event_id}) if self.dice.random() < 0.4 else ()
        given = {"state": state, "position": position, "source_event_ids": sources, "idempotency_key": key}
        made = self.door.save_checkpoint(run, summary, pending_steps=[self.word()], **given)
        self.saved[made.checkpoint_id] = (summary, sources, state)

    def do_repeat(self) -> None:
        """A call with its key again does nothing; another under that key is refused."""
        call = self.dice.choice(self.calls)
        if self.dice.random() < 0.5 or not call.others:
            before = asked(everything(self.door))
            try:
                call.again()
            except NotFound:  # its run is hidden now
                return
            except Conflict:
                assert self.erased, "a call that was repeated was refused"
            assert asked(everything(self.door)) == before, "a call that was repeated wrote something"
            return
        if not self.erased:  # what was said by an erased event nobody can compare any more
            with pytest.raises((IdempotencyMismatch, NotFound)):
                self.dice.choice(call.others)()

    def do_work(self) -> None:
        self.door.ops.run_jobs(limit=20)

    def do_erase(self) -> None:
        event = self.dice.choice(self.door.list_events(limit=200))
        if event.erased or event.event_type == "redaction":
            return
        resting = [one.checkpoint_id for one in self.points() if rests(one, event)]
        own = event.event_type != "memory_forgotten"  # that repeats what another event has said, and goes on saying
        self.erased[event.event_id] = f"{event.content} {event.payload} {event.metadata}" if own else ""
        report = self.door.ops.erase(events=[event.event_id])
        assert set(report.remaining) <= ({"agent_checkpoints"} if self.is_among_others else set())
        assert not [one for one in self.points() if one.checkpoint_id in resting and not one.erased]

    def points(self) -> list[Any]:
        seen = self.door.list_tasks(limit=200)
        return [one for task in seen for one in self.door.list_checkpoints(task.task_run_id, limit=50)]


def asked(events: list[Event]) -> list[str]:
    """The events of what somebody asked for, and not those of jobs."""
    return [event.event_id for event in events if event.actor != "engram"]


def told(events: list[Event]) -> list[Event]:
    """Events by their ids, without the hashes, which seal the tenant too."""
    return sorted((replace(one, hash="") for one in events), key=lambda one: one.event_id)


def rests(point: Any, event: Event) -> bool:
    """Whether a checkpoint says that it is made of an event."""
    if point.source_event_ids:
        return event.event_id in point.source_event_ids
    return point.task_run_id == event.task_run_id and event.position <= point.position


def everything(door: Engram) -> list[Event]:
    return [item.event for item in door.follow(poll=0)]


def pages(read: Callable[..., Page[Any]]) -> list[Any]:
    found: list[Any] = []
    cursor = None
    while True:
        page = read(limit=2, cursor=cursor)
        found += page
        cursor = page.cursor
        if cursor is None:
            return found


def holds(database: Database, tenant: str, door: Engram, life: Life | None, dice: random.Random) -> None:
    """All that must be so, whatever happened."""
    with database.transaction(tenant, read_only=True) as conn:
        for row in fetch_named(conn, POSITIONS, {"tenant_id": tenant}):
            assert [one for one in row.held if one] == list(range(1, row.position + 1)), row
        there = {row.event_id for row in fetch_named(conn, EVENTS, {"tenant_id": tenant})}
    items = list(door.follow(poll=0))
    ids = [item.event.event_id for item in items]
    assert len(ids) == len(set(ids))
    assert set(ids) == there
    at = dice.randrange(len(items))
    assert [one.event.event_id for one in door.follow(after=items[at].mark, poll=0)] == ids[at + 1 :]
    tasks, found = is_as_known(door.list_tasks), is_as_known(door.list_sessions)
    for one in found:
        whole = door.list_events(stream_id=one.stream_id, limit=200)
        part: list[Event] = []
        while more := door.list_events(stream_id=one.stream_id, after=part[-1].position if part else 0, limit=3):
            part += more
        assert tuple(part) == whole
        assert one.summary_position <= one.position
    if life is not None:
        known(door, life, there)
    if dice.random() < 0.2:
        budget = dice.randint(50, 600)
        run = tasks[0].task_run_id if tasks and dice.random() < 0.5 else None
        block = door.build_context("What now?", task_run_id=run, max_tokens=budget)
        assert block.tokens <= budget
        memories = {memory.memory_id for memory in door.list_memories(limit=200)}
        points = {one.checkpoint_id for task in tasks for one in door.list_checkpoints(task.task_run_id, limit=50)}
        runs = {task.task_run_id for task in tasks}
        assert set(block.citations.values()) <= there | memories | points | runs, block.citations
        assert not [word for word in words([life] if life else []) if word in block.text]
        assert door.resume(max_tokens=budget).tokens <= budget


def is_as_known(read: Callable[..., Page[Any]]) -> list[Any]:
    """What a list shows: page by page, and as known at this moment, the same as at once; a job may write meanwhile."""
    while True:
        before, now = list(read(limit=200)), datetime.now(UTC)
        paged, known = pages(read), list(read(limit=200, known_at=now))
        if list(read(limit=200)) == before:
            assert paged == known == before
            return before


def known(door: Engram, life: Life, there: set[str]) -> None:
    """Every run and checkpoint shows what was last said of it, but for what was erased."""
    for name, run in life.runs.items():
        if run.forgotten:
            with pytest.raises(NotFound):
                door.get_task(name)
            assert door.list_events(task_run_id=name) == ()
            continue
        task = door.get_task(name)
        assert task.status == run.status, (task, run)
        assert task.goal in (run.goal, "")
        assert task.outcome in (run.outcome, None)
        assert dict(task.metadata) in (run.metadata, {})
        if not life.erased:
            assert (task.goal, task.outcome, dict(task.metadata)) == (run.goal, run.outcome, run.metadata)
        saved = door.list_checkpoints(name, limit=50)
        assert [one.version for one in saved] == list(range(len(saved), 0, -1))
        for one in saved:
            assert one.position <= task.position
            assert set(one.source_event_ids) <= there
            if one.checkpoint_id in life.saved and not one.erased:
                assert (one.summary, one.source_event_ids, dict(one.state)) == life.saved[one.checkpoint_id]
            assert life.erased or not one.erased, "erased, though nothing was"


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="ada")) as door:
        yield door


def words(lives: list[Life]) -> list[str]:
    """The words that were erased."""
    return [word for life in lives for said in life.erased.values() for word in re.findall("Canary[a-d][0-9]+", said)]


def nowhere(database: Database, tenant: str, lives: list[Life]) -> None:
    """No word of what was erased is in any row of the tenant."""
    with database.transaction(tenant, read_only=True) as conn:
        for table in fetch_named(conn, TABLES, {}):
            rows = fetch_named(conn, f'SELECT t::text AS said FROM engram."{table.name}" t', {})
            for row in rows:
                for word in words(lives):
                    for form in (word, word.lower(), word.encode().hex(), word.lower().encode().hex()):
                        assert form not in row.said, (table.name, word, row.said[:2000])


@pytest.mark.parametrize("erases", [False, True])
@pytest.mark.parametrize("seed", seeds(1, 100))
def test_what_stands_follows_from_what_was_recorded(
    database: Database, database_url: str, ada: Engram, tenant: str, tmp_path: Path, seed: int, erases: bool
) -> None:
    life = Life(ada, seed, erases=erases)
    life.do_turn()
    life.do_start()
    for step in range(30):
        life.step()
        if step % 5 == 4:
            holds(database, tenant, ada, life, life.dice)
    assert ada.ops.verify_ledger().ok
    ada.ops.run_jobs(limit=100)
    holds(database, tenant, ada, life, life.dice)
    nowhere(database, tenant, [life])
    comes_back(database, database_url, ada, tenant, tmp_path)
    replayed = ada.ops.replay()
    assert not replayed.problems
    assert replayed.is_same or erases


def comes_back(database: Database, database_url: str, door: Engram, tenant: str, folder: Path) -> None:
    """What is exported is the same where it is imported."""
    door.ops.export(folder / "life.jsonl")
    there = f"{tenant}-2"
    with Engram(database_url, scope=Scope(there, user_id="ada")) as other:
        other.ops.import_(folder / "life.jsonl")
        assert other.ops.verify_ledger().ok
        assert list(other.list_sessions(limit=200)) == list(door.list_sessions(limit=200))
        tasks = list(door.list_tasks(limit=200))
        assert list(other.list_tasks(limit=200)) == tasks
        for task in tasks:
            name = task.task_run_id
            assert other.list_checkpoints(name, limit=50) == door.list_checkpoints(name, limit=50)
        assert told(everything(other)) == told(everything(door))
        holds(database, there, other, None, random.Random(1))


@pytest.mark.parametrize("seed", seeds(1, 60))
def test_lives_at_once_of_one_agent_leave_everything_in_its_place(
    database: Database, database_url: str, ada: Engram, tenant: str, tmp_path: Path, seed: int
) -> None:
    lives = [Life(ada, seed * 10 + number, erases=True, name="abcd"[number]) for number in range(4)]
    lives[0].do_turn()
    lives[0].do_start()
    for life in lives:
        life.runs, life.is_among_others = lives[0].runs, True
        life.acts = [act for act in life.acts if act != "do_repeat"]

    def live(life: Life) -> None:
        for _ in range(14):
            life.step()

    seen: list[str] = []
    feed = ada.follow(poll=0.01)

    def look() -> None:
        for item in feed:
            seen.append(item.event.event_id)
            if item.event.content == "the end":
                return

    with ThreadPoolExecutor(5) as pool:
        follower = pool.submit(look)
        try:
            list(pool.map(live, lives))
        finally:
            ada.record_event("the end")
        follower.result(timeout=60)
    assert seen == [event.event_id for event in everything(ada)]
    for event in sorted(name for life in lives for name in life.erased):  # who had read it may have saved it since
        assert ada.ops.erase(events=[event]).remaining == {}
    nowhere(database, tenant, lives)
    holds(database, tenant, ada, None, random.Random(seed))
    assert ada.ops.verify_ledger().ok
    comes_back(database, database_url, ada, tenant, tmp_path)
