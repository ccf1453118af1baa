"""Walls: what one tenant, user, namespace or agent holds is to another exactly as if it did not exist.

The oracle: two twins hold the same and are asked the same, in the same random order. One is asked with ids of somebody
on the other side of a wall, the other with ids that nobody has. Every answer must be the same, errors with their texts.
"""

from __future__ import annotations

import base64
import inspect
import logging
import os
import random
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from calls import FACTS, OUT
from quiet import quiet

from engram import ALL_USERS, Engram, Filter, InvalidInput, NotFound, Ops, Reject, Scope, get_policy, writing
from engram.embedded import EmbeddedServer
from engram.errors import EngramError, IdempotencyMismatch
from engram.operations.arguments import EndorseWrite, NewMemory, Read, SessionWrite, TaskWrite, Write
from engram.scope import Ids
from engram.values import (
    Citation,
    ContextBlock,
    DoctorReport,
    ErasureReport,
    Health,
    Page,
    RecallAnswer,
    RecallDiff,
    RecallTrace,
    Receipt,
    ScopeStats,
    SearchResults,
    Timeline,
    Traversal,
    WhyNot,
)
from engram.writing import settling

CANARY: Final = "qzxcanary"  # stands in everything that the other side says, and in nothing that is asked
LONG_AGO: Final = datetime(2001, 2, 3, tzinfo=UTC)
FAR_AHEAD: Final = datetime(2100, 1, 1, tzinfo=UTC)
EVERY_STATUS: Final = {"statuses": ["active", "superseded", "contested", "archived", "deleted", "quarantined"]}

WRITES: Final = (Write, TaskWrite, SessionWrite, EndorseWrite)

# Words of arguments that may name what somebody else holds.
NAMES_THINGS: Final = re.compile(r"(^|_)(ids?|key|cursor|anchors|sources|supersedes|what|filter)$")


class Letters:
    """An embedder that counts letters: cheap, and the same for everyone."""

    name, dimensions, max_tokens = "letters", 8, None

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        assert kind in ("passage", "query")
        return [[1.0 + text.count(letter) for letter in "aeioustr"] for text in texts]


LETTERS: Final = Letters()


# What somebody holds --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Things:
    """Names of what somebody holds, by kind."""

    memories: tuple[str, ...]
    shorts: tuple[str, ...]
    events: tuple[str, ...]
    streams: tuple[str, ...]
    sessions: tuple[str, ...]
    tasks: tuple[str, ...]
    topics: tuple[str, ...]
    slots: tuple[str, ...]
    keys: tuple[str, ...]
    cursors: tuple[str, ...]
    anchors: tuple[str, ...]
    jobs: tuple[str, ...]
    recalls: tuple[str, ...]
    marks: tuple[str, ...]

    def of_nobody(self) -> Things:
        """As many names of each kind that nobody has."""
        made: dict[str, tuple[str, ...]] = {}
        for kind in fields(self):
            names: tuple[str, ...] = getattr(self, kind.name)
            made[kind.name] = tuple(_nobodys(kind.name, name) for name in names)
        return Things(**made)


def _nobodys(kind: str, name: str) -> str:
    if kind == "shorts":
        return f"mem-{uuid.uuid4().hex[:8]}"
    if kind == "marks":
        return f"{name.partition('.')[0]}.{uuid.uuid4()}.1"
    if kind in ("memories", "events", "streams", "tasks", "jobs", "recalls"):
        return str(uuid.uuid4())
    if kind == "anchors":
        return f"{name.split(':')[0]}:{uuid.uuid4().hex * 2}"  # of the same position: a walk ends where it is wrong
    if kind == "cursors":  # well made, under another key
        signed = base64.urlsafe_b64decode(name + "=" * (-len(name) % 4))
        return base64.urlsafe_b64encode(uuid.uuid4().bytes + signed[16:]).rstrip(b"=").decode()
    return f"{kind}-{uuid.uuid4().hex}"


def fill(door: Engram, mark: str) -> Things:
    """Make one of everything, each text with a mark, under names that nobody else uses."""
    own = uuid.uuid4().hex[:8]
    session, task, topic, slot, key = f"s-{own}", str(uuid.uuid4()), f"topic {own}", f"slot:{own}", f"key-{own}"
    metadata = {"note": mark}
    door.remember(
        [
            {"role": "user", "content": f"I live in Ottawa {mark}."},
            {"role": "user", "content": f"My {mark} boat is blue."},
        ],
        session_id=session, actor=mark,
    )  # fmt: skip
    door.record_event(f"The keel was painted {mark}", task_run_id=task, idempotency_key=key, metadata=metadata)
    door.record_turn(f"Where is the anchor {mark}?", f"On the shelf {mark}.", session_id=session)
    run = door.start_task(f"Paint the keel {mark}", metadata=metadata).task_run_id
    door.save_checkpoint(run, f"The keel is half painted {mark}", state=metadata)
    kept = door.add(
        f"The harbour code is 4711 {mark}", topic_key=topic, tags=[mark, "trigger:pier"], metadata=metadata, source=mark
    )
    assert kept.memory is not None
    door.revise(kept.memory.memory_id, f"The harbour code is 4712 {mark}", reason=mark)
    door.add(f"Never paint the {mark} keel red", memory_type="constraint", critical_slot=slot, main_content=mark * 3)
    gone = door.add(f"The pier {mark} closes at nine", private=True)
    assert gone.memory is not None
    door.forget(gone.memory.memory_id, reason=mark)
    lamp = door.add(f"The lamp {mark} is green", private=True, session_id=session)
    assert lamp.memory is not None
    for other in (kept.memory.memory_id, gone.memory.memory_id):
        door.relate(lamp.memory.memory_id, other, weight=0.9, metadata=metadata, reason=mark)
    door.end_session(session, summary=f"We spoke of the anchor {mark}")
    with door.session(later := f"s-{uuid.uuid4().hex[:8]}", metadata=metadata) as talk:
        talk.remember(f"The mast is high {mark}")
    door.search(f"The keel {mark}", filter={"tags_any": [mark]})
    door.recall(f"Where is the anchor {mark}?")
    door.build_context(f"The pier {mark}")
    memories = door.list_memories(EVERY_STATUS, limit=200)
    events = door.list_events(limit=200)
    report = door.ops.verify_ledger()
    return Things(
        memories=tuple(memory.memory_id for memory in memories),
        shorts=tuple(memory.short_id for memory in memories),
        events=tuple(event.event_id for event in events),
        streams=tuple(report.heads),
        sessions=(session, later), tasks=(task, run), topics=(topic,), slots=(slot,), keys=(key,),
        cursors=tuple(
            str(page.cursor)
            for page in (door.list_memories(limit=1), door.get_history(limit=1), door.list_sessions(limit=1))
        ),
        anchors=tuple(report.heads.values()),
        jobs=tuple(job.job_id for job in door.ops.list_jobs(limit=200)),
        recalls=tuple(recall.recall_id for recall in door.ops.list_recalls()),
        marks=tuple(item.mark for item in door.follow(poll=0))[-1:],
    )  # fmt: skip


# What may be asked ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asker:
    """One of the twins: a door, what it holds itself, the names it is given, and the dice both throw alike."""

    door: Engram
    own: Things
    given: Things
    dice: random.Random

    def pick(self, kind: str) -> Any:
        """Mostly a name it was given, at times one of its own."""
        things = self.given if self.dice.random() < 0.8 else self.own
        names: tuple[str, ...] = getattr(things, kind)
        return names[self.dice.randrange(1 << 30) % len(names)]

    def some(self, kind: str) -> list[Any]:
        return [self.pick(kind) for _ in range(self.dice.randint(1, 3))]

    def memory(self) -> Any:
        return self.pick(self.dice.choice(["memories", "shorts"]))

    def maybe(self, **each: Callable[[], Any]) -> dict[str, Any]:
        """Some of these arguments."""
        return {name: make() for name, make in each.items() if self.dice.random() < 0.35}

    def one_of(self, **each: Callable[[], Any]) -> dict[str, Any]:
        """Exactly one of these arguments."""
        name = self.dice.choice(sorted(each))
        return {name: each[name]()}

    def text(self) -> str:
        """A text much like the other side's."""
        place, number = self.dice.choice(["harbour", "pier", "keel", "lamp"]), self.dice.randrange(4)
        return f"The {place} code is 471{number}"

    def filter(self) -> dict[str, Any]:
        return self.one_of(
            memory_ids=lambda: self.some("memories"), session_ids=lambda: self.some("sessions"),
            task_run_ids=lambda: self.some("tasks"), topic_keys=lambda: self.some("topics"),
            statuses=lambda: EVERY_STATUS["statuses"],
        )  # fmt: skip

    def read(self) -> dict[str, Any]:
        return self.maybe(as_of=lambda: self.dice.choice([LONG_AGO, FAR_AHEAD])) | self.maybe(
            known_at=lambda: self.dice.choice([LONG_AGO, FAR_AHEAD])
        )

    def write(self) -> dict[str, Any]:
        return self.maybe(
            session_id=lambda: self.pick("sessions"), task_run_id=lambda: self.pick("tasks"),
            idempotency_key=lambda: self.pick("keys"), dry_run=lambda: True,
        )  # fmt: skip

    def new(self) -> dict[str, Any]:
        return self.maybe(
            parent_id=self.memory, supersedes=lambda: [self.memory()], topic_key=lambda: self.pick("topics"),
            sources=lambda: [(self.pick("events"), 0, 3)], critical_slot=lambda: self.pick("slots"),
            private=lambda: True, valid_from=lambda: LONG_AGO,
        )  # fmt: skip


def without_task(write: dict[str, Any]) -> dict[str, Any]:
    """The words of a write to a task run, which is named already."""
    return {name: value for name, value in write.items() if name != "task_run_id"}


CALLS: Final[Mapping[str, Callable[[Asker], dict[str, Any]]]] = {
    "remember": lambda a: {
        "messages": [{"role": "user", "content": a.text(), **a.maybe(event_id=lambda: a.pick("events"))}], **a.write(),
    },
    "record_event": lambda a: {
        "content": a.text(), **a.maybe(expected_position=lambda: a.dice.randrange(4)), **a.write(),
    },
    "record_turn": lambda a: {"user_message": a.text(), "assistant_message": a.text(), **a.write()},
    "record_long_input": lambda a: {"text": f"# {a.text()}\n\nThe pier must be {a.text()}.", "wait": True, **a.write()},
    "wait_for": lambda a: {
        "what": a.pick("events") if a.dice.random() < 0.5
        else Receipt((a.pick("events"), a.pick("events")), a.pick("streams"), 3),
        "timeout": 0.0, **a.read(),
    },
    "add": lambda a: {"fact": a.text(), **a.new(), **a.write()},
    "add_many": lambda a: {"items": [{"fact": a.text(), **a.new()} for _ in range(2)], **a.write()},
    "revise": lambda a: {"memory_id": a.memory(), "fact": a.text(), **a.write()},
    "annotate": lambda a: {"memory_id": a.memory(), "tags": ["seen"], **a.write()},
    "end_validity": lambda a: {"memory_id": a.memory(), "at": FAR_AHEAD, **a.write()},
    "reinforce": lambda a: {"memory_id": a.memory(), "amount": 0.01, **a.write()},
    "feedback": lambda a: {
        "memory_ids": [a.memory()], "value": 1, **a.maybe(recall_id=lambda: a.pick("recalls")), **a.write(),
    },
    "endorse": lambda a: {"memory_id": a.memory(), "trust": "user", **a.write()},
    "forget": lambda a: {"memory_id": a.memory(), "revision_only": a.dice.random() < 0.5, **a.write()},
    "restore": lambda a: {"memory_id": a.memory(), **a.write()},
    "relate": lambda a: {
        "source_id": a.memory(), "target_id": a.memory(), "weight": 0.5, **a.write(),
    },
    "relate_batch": lambda a: {
        "items": [{"source_id": a.memory(), "target_id": a.memory()} for _ in range(2)], **a.write(),
    },
    "unrelate": lambda a: {
        "source_id": a.memory(), "target_id": a.memory(), "relation_type": "related_to", **a.write(),
    },
    "list_relations": lambda a: {"memory_id": a.memory(), **a.read()},
    "traverse": lambda a: {
        "start_id": a.memory(), "direction": "any", "include_superseded": a.dice.random() < 0.5,
        **a.maybe(query=a.text), **a.read(),
    },
    "traverse_many": lambda a: {
        "start_ids": [a.memory() for _ in range(3)], "skip_missing": a.dice.random() < 0.7, **a.read(),
    },
    "find_path": lambda a: {"source_id": a.memory(), "target_id": a.memory(), **a.read()},
    "render_graph_context": lambda _: {"traversal": Traversal(())},
    "get": lambda a: {"memory_id": a.memory(), **a.read()},
    "find": lambda a: {"memory_id": a.memory(), **a.read()},
    "get_current": lambda a: a.one_of(memory_id=a.memory, topic_key=lambda: a.pick("topics")) | a.read(),
    "list_memories": lambda a: {
        **a.maybe(filter=a.filter, cursor=lambda: a.pick("cursors")), "limit": a.dice.randint(0, 5), **a.read(),
    },
    "get_lineage": lambda a: a.one_of(memory_id=a.memory, topic_key=lambda: a.pick("topics")) | a.read(),
    "get_history": lambda a: {
        **a.maybe(memory_id=a.memory, filter=a.filter, cursor=lambda: a.pick("cursors")), **a.read(),
    },
    "timeline": lambda a: {
        **a.maybe(filter=a.filter, around=a.memory), "limit": a.dice.randint(0, 5), **a.read(),
    },
    "list_decisions": lambda a: {
        **a.maybe(cursor=lambda: a.pick("cursors"), kind=lambda: a.dice.choice(["add", "revise", "conflict"])),
        **a.read(),
    },
    "explain_memory": lambda a: {"memory_id": a.memory(), **a.read()},
    "verify_citation": lambda a: {"citation": Citation(a.pick("events"), 0, 3, "0" * 64)},
    "cite": lambda a: {"cited_id": a.dice.choice([a.memory(), a.pick("events")]), **a.read()},
    "search": lambda a: {
        "query": a.text(), "limit": 200, **a.maybe(filter=a.filter),
        "mode": a.dice.choice(["hybrid", "semantic", "keyword"]),
        "include_superseded": a.dice.random() < 0.5, "sort": a.dice.choice(["score", "recent", "accessed"]),
        "cut": a.dice.choice(["none", "adaptive"]), **a.maybe(per_session=lambda: 2), **a.read(),
    },
    "deep_search": lambda a: {
        "query": a.text(), "limit": 200, "n_queries": 2,
        **a.maybe(queries=lambda: [a.text()], filter=a.filter), **a.read(),
    },
    "recall": lambda a: {
        "question": f"{a.dice.choice(['Where is it?', 'What did I say about', 'How has it changed?'])} {a.text()}",
        "limit": 200,
        **a.maybe(filter=a.filter, window=lambda: (LONG_AGO, FAR_AHEAD), session_id=lambda: a.pick("sessions")),
        **a.read(),
    },
    "recall_trigger": lambda a: {"action": "pier", **a.read()},
    "list_triggers": lambda a: a.read(),
    "list_topics": lambda _: {},
    "get_topics": lambda a: {"topic_ids": [a.dice.choice(["kb1", "kb2", f"kb1.{a.dice.randint(1, 40)}"])]},
    "ops.rebuild_topics": lambda a: a.write(),
    "recall_critical": lambda a: a.read(),
    "resume": lambda a: {**a.maybe(query=a.text), **a.read()},
    "build_context": lambda a: {
        "query": a.text(), **a.one_of(session_id=lambda: a.pick("sessions"), task_run_id=lambda: a.pick("tasks")),
        **a.read(),
    },
    "get_context_block": lambda a: {"query": a.text(), **a.read()},
    "build_long_input_context": lambda a: {
        "query": a.text(), "source_chunk_limit": a.dice.randint(0, 6), "expected_terms": ["pier"],
        **a.maybe(source_event_id=lambda: a.pick("events"), task_run_id=lambda: a.pick("tasks")), **a.read(),
    },
    "trace_recall": lambda a: {
        "query": a.text(), "limit": 200, "deep": a.dice.random() < 0.5, "expected_terms": ["pier"],
        **a.maybe(filter=a.filter), **a.read(),
    },
    "explain": lambda a: {"query": a.text(), "memory_id": a.memory(), **a.maybe(filter=a.filter), **a.read()},
    "session": lambda a: a.maybe(session_id=lambda: a.pick("sessions"), metadata=lambda: {"place": "pier"}),
    "get_session": lambda a: {"session_id": a.pick("sessions"), **a.read()},
    "list_sessions": lambda a: {
        **a.maybe(cursor=lambda: a.pick("cursors"), open_only=lambda: True), "limit": a.dice.randint(0, 5), **a.read(),
    },
    "end_session": lambda a: {
        "session_id": a.pick("sessions"),
        **a.maybe(summary=a.text, idempotency_key=lambda: a.pick("keys"), dry_run=lambda: True),
    },
    "start_task": lambda a: {
        "goal": a.text(), **a.maybe(parent_task_id=lambda: a.pick("tasks")), **a.write(),
    },
    "update_task": lambda a: {
        "task_run_id": a.pick("tasks"), "outcome": a.text(), **a.maybe(status=lambda: "paused"),
        **without_task(a.write()),
    },
    "resume_task": lambda a: {
        "task_run_id": a.pick("tasks"), **a.maybe(expected_position=lambda: a.dice.randrange(4)),
        **without_task(a.write()),
    },
    "forget_task": lambda a: {"task_run_id": a.pick("tasks"), **without_task(a.write())},
    "restore_task": lambda a: {"task_run_id": a.pick("tasks"), **without_task(a.write())},
    "get_task": lambda a: {"task_run_id": a.pick("tasks"), **a.read()},
    "list_tasks": lambda a: {**a.maybe(cursor=lambda: a.pick("cursors")), "limit": a.dice.randint(0, 5), **a.read()},
    "save_checkpoint": lambda a: {
        "task_run_id": a.pick("tasks"), "summary": a.text(),
        **a.maybe(source_event_ids=lambda: a.some("events")), **without_task(a.write()),
    },
    "list_checkpoints": lambda a: {"task_run_id": a.pick("tasks"), **a.read()},
    "get_event": lambda a: {"event_id": a.pick("events"), **a.read()},
    "list_events": lambda a: {
        **a.one_of(
            stream_id=lambda: a.pick("streams"), session_id=lambda: a.pick("sessions"),
            task_run_id=lambda: a.pick("tasks"), limit=lambda: 5,
        ),
        **a.read(),
    },
    "search_events": lambda a: {
        "query": a.dice.choice(["", a.text()]),
        "mode": a.dice.choice(["hybrid", "keyword", "semantic"]),
        **a.one_of(
            session_id=lambda: a.pick("sessions"), task_run_id=lambda: a.pick("tasks"),
            types=lambda: ["memory_added", "user_message"], limit=lambda: 5,
        ),
        **a.read(),
    },
    "follow": lambda a: {"poll": 0, **a.maybe(after=lambda: a.pick("marks"))},
    "health": lambda _: {},
    "stats": lambda _: {},
    "get_all": lambda a: {**a.maybe(filter=a.filter, cursor=lambda: a.pick("cursors")), **a.read()},
    "update": lambda a: {"memory_id": a.memory(), **a.one_of(fact=a.text, tags=lambda: ["seen"]), **a.write()},
    "delete": lambda a: {"memory_id": a.memory(), **a.write()},
    "delete_all": lambda a: {**a.write(), "user_id": a.door.scope.user_id, "dry_run": a.dice.random() < 0.9},
    "history": lambda a: {"memory_id": a.memory(), **a.read()},
    "ops.verify_ledger": lambda a: a.maybe(anchors=lambda: {a.pick("streams"): a.pick("anchors")}) | a.read(),
    "ops.redact_event": lambda a: {"event_id": a.pick("events"), **a.write()},
    "ops.erase": lambda a: {
        **a.one_of(
            events=lambda: [a.pick("events")], memories=lambda: [a.memory()], session=lambda: a.pick("sessions"),
            source=lambda: "letter",
        ),
        **a.write(),
    },
    "ops.apply_redactions": lambda a: {"path": os.devnull, **a.write()},
    "merge": lambda a: {"memory_ids": [a.memory(), a.memory()], **a.maybe(fact=a.text), **a.write()},
    "ops.merge_similar": lambda a: {**a.maybe(threshold=lambda: 0.99), **a.write()},
    "ops.find_clusters": lambda _: {},
    "ops.audit": lambda a: {**a.maybe(apply=lambda: True), **a.write()},
    "ops.consolidate_summaries": lambda a: {**a.maybe(limit=lambda: 1), **a.write()},
    "ops.consolidate": lambda a: {**a.maybe(merge=lambda: True), **a.write()},
    "ops.prune": lambda a: {**a.maybe(mode=lambda: a.dice.choice(["gentle", "normal", "aggressive"])), **a.write()},
    "ops.archive": lambda a: {"memory_ids": [a.memory()], **a.write()},
    "ops.set_layer": lambda a: {"memory_id": a.memory(), "layer": "core", **a.write()},
    "ops.decay": lambda a: a.maybe(memory_id=a.memory),
    "ops.simulate_policy": lambda a: {"policy": "default", **a.maybe(since=lambda: datetime(2020, 1, 1, tzinfo=UTC))},
    "ops.audit_log": lambda a: {
        **a.maybe(cursor=lambda: a.pick("cursors"), memory_id=a.memory), "limit": a.dice.randint(0, 5),
    },
    "ops.list_runs": lambda a: {**a.maybe(cursor=lambda: a.pick("cursors")), "limit": a.dice.randint(0, 5)},
    "ops.undo": lambda a: {"run_or_event_id": a.pick("events"), **a.write()},
    "ops.usage": lambda a: a.one_of(group_by=lambda: "model", since=lambda: datetime(2020, 1, 1, tzinfo=UTC)),
    "ops.run_jobs": lambda _: {"limit": 3},
    "ops.list_jobs": lambda a: a.maybe(cursor=lambda: a.pick("cursors"), state=lambda: "done"),
    "ops.retry_job": lambda a: {"job_id": a.pick("jobs"), **a.write()},
    "ops.cancel_job": lambda a: {"job_id": a.pick("jobs"), **a.write()},
    "ops.backlog": lambda _: {},
    "ops.replay": lambda a: {**a.write(), "dry_run": True},
    "ops.compare_replay": lambda a: {"shadow_id": a.pick("events")},
    "ops.switch_replay": lambda a: {"shadow_id": a.pick("events"), **a.write()},
    "ops.drop_replay": lambda a: {"shadow_id": a.pick("events"), **a.write()},
    "ops.list_replays": lambda _: {},
    "ops.list_recalls": lambda a: {**a.maybe(cursor=lambda: a.pick("cursors")), "limit": a.dice.randint(0, 5)},
    "ops.get_recall": lambda a: {"recall_id": a.pick("recalls")},
    "ops.replay_recall": lambda a: {"recall_id": a.pick("recalls")},
    "ops.export": lambda _: {"path": OUT},
    "ops.import_": lambda a: {"path": FACTS, **a.write()},
    "ops.doctor": lambda _: {},
    "ops.calibrate": lambda _: {"keep": False},
    "ops.list_models": lambda _: {},
    "ops.reembed": lambda _: {"model": "letters", "switch": False},
    "ops.reindex_words": lambda _: {},
}  # fmt: skip

# Of one tenant: its operator counts, runs and anchors what belongs to all of it.
OF_THE_TENANT: Final = (
    "ops.calibrate",
    "ops.list_models",
    "ops.reembed",
    "ops.reindex_words",
    "ops.run_jobs",
    "ops.doctor",
    "health",
)


def public_calls() -> dict[str, Any]:
    """Every public method of the door, found by looking."""
    found = {name: method for name, method in vars(Engram).items() if inspect.isfunction(method)}
    found |= {f"ops.{name}": method for name, method in vars(Ops).items() if inspect.isfunction(method)}
    return {name: method for name, method in found.items() if not name.rsplit(".", 1)[-1].startswith("_")}


def method(door: Engram, name: str) -> Any:
    return getattr(door.ops, name[4:]) if name.startswith("ops.") else getattr(door, name)


def test_every_public_call_is_asked_for_what_belongs_to_others() -> None:
    assert set(CALLS) == set(public_calls()) - {"close"}


def test_every_argument_that_can_name_a_thing_is_tried_with_what_belongs_to_others() -> None:
    tried: dict[str, set[str]] = {}
    things = Things(*[("x" * 8,)] * len(fields(Things)))
    door = Engram("postgresql://nobody@127.0.0.1:1/nowhere", embedder="none")
    asker = Asker(door, things, things, random.Random(5))
    for name, arguments in CALLS.items():
        for _ in range(200):
            given = arguments(asker)
            tried.setdefault(name, set()).update(given)
            for item in given.get("items", ()):
                tried[name].update(item)
    for name, function in public_calls().items():
        if name == "close":
            continue
        expected = {one for one in inspect.signature(function).parameters if NAMES_THINGS.search(one) and one != "ids"}
        shared = str(inspect.signature(function).parameters.get("write", ""))  # such as `**write: 'Unpack[Write]'`
        words = next((one.__annotations__ for one in WRITES if f"[{one.__name__}]" in shared), {})
        expected |= {one for one in words if NAMES_THINGS.search(one) and one not in Ids.__annotations__}
        assert expected <= tried[name], f"{name}: {sorted(expected - tried[name])}"
    expected = {one for one in NewMemory.__annotations__ if NAMES_THINGS.search(one) and one not in Ids.__annotations__}
    assert expected <= tried["add"] | {"expires_at"}
    assert set(Read.__annotations__) - set(Ids.__annotations__) <= tried["search"]
    by_name = {one.name for one in fields(Filter) if re.search(r"(ids|keys)$", one.name)}
    assert by_name == {one for one in by_name if any(one in asker.filter() for _ in range(100))}


A_PLACE: Final = 0.03  # of equals ids decide which has the better place, and a fusion of ranks counts places


# What is answered -----------------------------------------------------------------------------------------------------

PLAIN: Final = (
    (re.compile(r"t-[0-9a-f]{16}"), "<tenant>"),
    (re.compile(r"datetime\.datetime\([^()]*(?:\([^()]*\))?[^()]*\)"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(?:\+00:00|Z)?"), "<time>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"(?:mem|evt)-[0-9a-f]{8}"), "<short>"),
    (re.compile(r"[0-9a-f]{64}"), "<hash>"),
    (re.compile(r"<<<(?:untrusted data|end) [0-9a-f]{16}"), "<fence>"),
    (re.compile(r"(?:key|keys|sessions|topics|slots|topic|s)[-: ][0-9a-f]{8,32}"), "<name>"),
    (re.compile(r"slot:[0-9a-f]{8}"), "<name>"),
    (re.compile(r"\b(?:size_)?bytes=\d+"), "<size>"),
    (re.compile(r"'[A-Za-z0-9_-]{40,}'"), "<signed>"),
    # Whoever writes on this server just then, in these worlds or beside them.
    (
        re.compile(r"nothing holds followers back|session [^']* has been open for \d+ s; followers wait for it"),
        "<horizon>",
    ),
    (re.compile(r"ROLLBACK PREPARED|end it with pg_terminate_backend"), "<repair>"),
    (re.compile(r"\d+\.\d+(?:e-\d+)?|\b\d+e-\d+"), "<number>"),
)


def plain(value: object) -> str:
    """An answer without what differs between two worlds that are alike: ids, times, tenants, scores."""
    said = value if isinstance(value, str) else repr(value)
    for pattern, word in PLAIN:
        said = pattern.sub(word, said)
    return said


@dataclass(frozen=True)
class Answer:
    """What a call answered: in full, plain, and its scores."""

    whole: str
    plain: str
    scores: tuple[float, ...] = ()


def answer(door: Engram, name: str, given: Mapping[str, Any]) -> Answer:
    """What a call answers; an error with its class, its text and its facts."""
    try:
        result = method(door, name)(**given)
    except EngramError as error:
        said = f"{type(error).__name__}: {error} {sorted(error.facts.items(), key=str)}"
        whole, cause = said, error.__cause__
        while cause is not None:
            whole, cause = f"{whole} {cause!r} {cause}", cause.__cause__
        return Answer(whole, plain(said))
    if name == "follow":
        result = [item.event for item in result]
    if isinstance(result, SearchResults):
        # Equals may come in either order: ids decide, and they are drawn.
        found = sorted((plain(one.memory), one.score, plain(sorted(one.terms))) for one in result)
        return Answer(
            repr(list(result)), repr([(memory, terms) for memory, _, terms in found]), tuple(f[1] for f in found)
        )
    if isinstance(result, RecallAnswer):
        return Answer(
            repr(result), repr((result.found, result.intent, sorted(plain(e.memory) for e in result.evidence)))
        )
    if isinstance(result, RecallTrace):
        steps = (result.critical_ids, result.search_ids, result.superseded_ids, result.missing_expected_terms)
        return Answer(repr(result), repr([len(ids) for ids in steps]))
    if isinstance(result, WhyNot):
        return Answer(repr(result), repr((result.found, result.reason)))
    if isinstance(result, RecallDiff):
        return Answer(repr(result), repr((result.kind, len(result.added), len(result.dropped))))
    if isinstance(result, ScopeStats):  # whether the background has come to the last job yet is chance
        result = replace(result, jobs={"all": sum(result.jobs.values())})
    if isinstance(result, DoctorReport | Health):  # for the same reason
        result = replace(result, checks=tuple(check for check in result.checks if check.name != "jobs"))
    if isinstance(result, Health):
        result = replace(result, backlog_age=None)
    if name == "ops.run_jobs":  # for the same reason: how many of them are left to run
        result = type(result)
    if isinstance(result, ErasureReport):  # of equals, ids decide which the limit of a read leaves in its record
        result = replace(result, erased={**result.erased, "recalls": bool(result.erased.get("recalls"))})
    if isinstance(result, ContextBlock):
        return Answer(repr(result), repr([section.name for section in result.sections]))
    if isinstance(result, Timeline):  # of what became true at once, ids decide the order
        cut = result.earlier or result.later
        told = len(result.memories) if cut else sorted(plain(memory) for memory in result.memories)
        return Answer(repr(result), repr((told, cut)))
    if name in ("get_history", "list_decisions", "ops.audit_log"):
        return Answer(repr(list(result)), repr((in_order(result), bool(result.cursor))))
    if name == "ops.list_jobs":  # whether a call derives first, or the background has run the job by then, is chance
        ran = {"attempt": 0, "state": "done", "finished_at": None}
        result = replace(result, results=tuple(replace(job, **ran) for job in result))
    listed = (list(result), bool(result.cursor)) if isinstance(result, Page) else result
    return Answer(repr(listed), plain(listed))


def in_order(history: Page[Any]) -> list[str]:
    """Changes, plain. Those made together come in an order of chance, and so does what a page leaves out of them."""
    return sorted(plain(entry) for entry in history) if not history.cursor else ["cut"] * len(history)


@dataclass(frozen=True)
class Wall:
    """Between whom: the scope of the other side, and that of the twins; of one tenant, or of two."""

    theirs: Mapping[str, Any]
    mine: Mapping[str, Any]
    one_tenant: bool = True


WALLS: Final = {
    "tenant": Wall({"user_id": "ada"}, {"user_id": "ada"}, one_tenant=False),
    "user": Wall({"user_id": "ada"}, {"user_id": "bob"}),
    "user and agent": Wall({"user_id": "ada"}, {"user_id": None}),
    "namespace": Wall({"namespace": "alpha"}, {"namespace": "beta"}),
    "namespace and default": Wall({"namespace": "alpha"}, {"namespace": "default"}),
    "default that is not shared": Wall({"namespace": "default"}, {"namespace": "alpha", "shared": False}),
    "agent": Wall({"agent_id": "planner"}, {"agent_id": "coder"}),
}


class World:
    """Somebody behind a wall, and two twins of whom one stands before it."""

    def __init__(self, url: str, wall: Wall, steps: int, seed: int) -> None:
        self.wall, self.steps = wall, steps
        self.asked: list[dict[str, Any]] = []
        self.base = Engram(url, embedder=LETTERS)
        mine, elsewhere, lonely = (f"t-{uuid.uuid4().hex[:16]}" for _ in range(3))
        self.theirs = self.base.scoped(Scope(mine if wall.one_tenant else elsewhere, **wall.theirs))
        self.things = fill(self.theirs, CANARY)
        nobodys = self.things.of_nobody()
        self.twins = []
        for tenant, given in ((mine, self.things), (lonely, nobodys)):
            door = self.base.scoped(Scope(tenant, **wall.mine))
            self.twins.append(Asker(door, fill(door, "own"), given, random.Random(seed)))

    def calls(self) -> Iterator[tuple[str, Answer, Answer]]:
        """Random calls of both twins with their answers."""
        dice = random.Random(self.steps)
        names = [name for name in CALLS if not (self.wall.one_tenant and name in OF_THE_TENANT)]
        for step in range(self.steps):
            # Each at least once, the rest by chance; those that change much are rarer.
            name = names[step] if step < len(names) else dice.choice(names)
            if name == "delete_all" and dice.random() < 0.8:
                continue
            given = [self._arguments(name, twin) for twin in self.twins]
            self.asked = given
            one, other = (answer(twin.door, name, ask) for twin, ask in zip(self.twins, given, strict=True))
            yield name, one, other

    def _arguments(self, name: str, twin: Asker) -> dict[str, Any]:
        given = CALLS[name](twin)
        if self.wall.one_tenant:
            # Within a tenant an event id is taken for good, and an anchor may be of any of its streams.
            for message in given.get("messages", ()):
                message.pop("event_id", None)
            given.pop("anchors", None)
        return given

    def untouched(self) -> str:
        """All that stands behind the wall, as it is."""
        memories = [self.theirs.get(one) for one in self.things.memories]
        changes = [entry for one in self.things.memories for entry in self.theirs.get_history(one, limit=200)]
        return repr((memories, changes, [self.theirs.get_event(one) for one in self.things.events]))


@pytest.fixture
def open_world(
    server: EmbeddedServer, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., World]]:
    """Makes worlds, and closes them after the test."""
    made: list[World] = []
    with psycopg.connect(server.superuser_url.replace("+psycopg", "")) as conn:  # a scope asked for is not a twin's own
        conn.execute(
            "SELECT nextval(pg_get_serial_sequence('engram.memory_scopes', 'scope_id')) FROM generate_series(1, 40)"
        )
    monkeypatch.setattr(settling, "UPKEEP_EVERY", 1)  # else ids decide by chance which write asks for upkeep
    for module in (settling, writing):
        monkeypatch.setattr(module, "LINK_DELAY", 3_600.0)  # else the clock decides which call finds the job due

    def open_(wall: Wall, steps: int, seed: int) -> World:
        made.append(World(database_url, wall, steps, seed))
        return made[-1]

    yield open_
    for world in made:
        world.base.close()


def state(door: Engram) -> str:
    """All that a door can see, as it is."""
    memories = tuple(door.list_memories(EVERY_STATUS, sort="oldest", limit=200))
    history = in_order(door.get_history(limit=200))
    return repr((sorted(map(plain, memories)), door.list_events(limit=200), history))


def first_difference(one: str, other: str) -> str:
    """Where two answers part, with what is around it."""
    place = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return f"{one[max(0, place - 200) : place + 100]!r}\n  against\n{other[max(0, place - 200) : place + 100]!r}"


@pytest.mark.parametrize(
    ("name", "steps"),
    [*((name, 120 if wall.one_tenant else 180) for name, wall in WALLS.items()),
     pytest.param("tenant", 600, marks=pytest.mark.slow)],
)  # fmt: skip
def test_what_stands_behind_a_wall_is_as_if_it_were_not_there(
    open_world: Callable[..., World], name: str, steps: int
) -> None:
    world = open_world(WALLS[name], steps, seed=len(name))
    before = world.untouched()
    assert CANARY in before
    refused = found = 0
    for call, mine, twins in world.calls():
        assert CANARY not in mine.whole, f"{call} tells what stands behind the wall"
        if mine.plain != twins.plain:
            where = first_difference(mine.plain, twins.plain)
            pytest.fail(f"{call} answers otherwise than for what does not exist: {world.asked}\n{where}")
        near = pytest.approx(twins.scores, abs=A_PLACE if call == "deep_search" else 1e-3)
        assert mine.scores == near, f"{call} counts what stands behind the wall"
        refused += mine.plain.startswith("NotFound")
        found += "Memory(" in mine.plain
    assert refused > steps // 10
    assert found > steps // 20
    if world.untouched() != before:
        pytest.fail(f"something behind the wall was changed: {first_difference(world.untouched(), before)}")
    assert plain(state(world.twins[0].door)) == plain(state(world.twins[1].door))


def test_no_log_tells_what_another_tenant_holds(
    open_world: Callable[..., World], caplog: pytest.LogCaptureFixture
) -> None:
    for logger in ("engram", "sqlalchemy.engine", "sqlalchemy.pool", "psycopg"):
        caplog.set_level(logging.DEBUG, logger=logger)
    world = open_world(WALLS["tenant"], 80, seed=3)
    assert "harbour" in caplog.text, "the logs say what is asked and found"
    caplog.clear()
    answers = [call for call, *_ in world.calls()]
    assert len(answers) > 60
    assert len(caplog.records) > 500
    assert CANARY not in caplog.text


# What each rule of a scope says ---------------------------------------------------------------------------------------


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant), embedder=LETTERS) as opened:
        yield opened


def facts(door: Engram, **read: Any) -> set[str]:
    """What a door finds: in its list, and by searching."""
    listed = {memory.fact for memory in door.list_memories(limit=200, **read)}
    found = {one.memory.fact for one in door.search("The code is 4711", limit=200, **read)}
    assert found <= listed
    return listed


def test_a_namespace_sees_its_own_and_what_is_shared_unless_told_not_to(door: Engram) -> None:
    for namespace in ("alpha", "beta", "default"):
        door.add(f"The {namespace} code is 4711", namespace=namespace)
    assert facts(door, namespace="alpha") == {"The alpha code is 4711", "The default code is 4711"}
    assert facts(door, namespace="beta") == {"The beta code is 4711", "The default code is 4711"}
    assert facts(door, namespace="alpha", shared=False) == {"The alpha code is 4711"}
    assert facts(door) == {"The default code is 4711"}
    assert facts(door, namespace="unheard of", shared=False) == set()


def test_a_user_sees_its_own_and_the_agents_and_all_users_only_where_it_is_said(door: Engram) -> None:
    for user in ("ada", "bob", None):
        door.add(f"The {user} code is 4711", user_id=user)
    assert facts(door, user_id="ada") == {"The ada code is 4711", "The None code is 4711"}
    assert facts(door) == {"The None code is 4711"}
    assert facts(door, user_id=ALL_USERS) == {"The ada code is 4711", "The bob code is 4711", "The None code is 4711"}
    assert facts(door, user_id="ALL_USERS") == {"The None code is 4711"}
    assert len(door.list_events(user_id=ALL_USERS)) == 3
    assert door.stats(user_id=ALL_USERS).memories == 3


def test_agents_see_each_other_only_where_they_are_named(door: Engram) -> None:
    agents = ("planner", "coder", "tester", "writer", "critic")
    for agent in agents:
        door.add(f"The {agent} code is 4711", agent_id=agent)
    assert facts(door, agent_id=("planner", "coder")) == {"The planner code is 4711", "The coder code is 4711"}
    assert facts(door, agent_id="tester") == {"The tester code is 4711"}
    for wrong in (agents, ("",)):
        with pytest.raises(InvalidInput, match="agent_id"):
            door.list_memories(agent_id=wrong)


@pytest.mark.parametrize("wide", [{"user_id": ALL_USERS}, {"agent_id": ("planner", "coder")}])
def test_every_write_is_refused_where_it_names_no_single_owner(door: Engram, wide: dict[str, Any]) -> None:
    made = door.add("The code is 4711", agent_id="planner")
    assert made.memory is not None
    mine = Things(*[(str(uuid.uuid4()),)] * len(fields(Things)))
    asker = Asker(door, mine, mine, random.Random(2))
    takes_write = [
        name for name, function in public_calls().items() if "write" in inspect.signature(function).parameters
    ]
    # A job holds no memory: an operator finds it by its id among those of every user.
    takes_write = [name for name in takes_write if name not in ("ops.retry_job", "ops.cancel_job")]
    assert len(takes_write) >= 12
    for name in [*takes_write, "add", "annotate", "update"]:
        given = (
            CALLS[name](asker)
            | wide
            | ({"memory_id": made.memory.memory_id} if "memory_id" in CALLS[name](asker) else {})
        )
        with pytest.raises(InvalidInput, match=r"on a write"):
            method(door, name)(**given)


def test_an_empty_list_in_a_filter_matches_nothing_and_an_unknown_field_is_refused(door: Engram) -> None:
    door.add("The code is 4711")
    for field in ("memory_types", "statuses", "tags_any", "memory_ids", "session_ids", "topic_keys", "sources"):
        assert list(door.list_memories({field: []})) == [], field
        assert list(door.search("code", filter={field: []})) == [], field
    with pytest.raises(InvalidInput):
        door.list_memories({"tenant_id": "other"})
    assert door.list_events(types=[]) == door.list_events(roles=[]) == door.list_events(trust=[]) == ()
    assert door.recall_critical(memory_types=[]).results == ()


def test_a_read_of_no_agents_sees_nothing_and_a_write_of_none_is_refused(door: Engram) -> None:
    door.add("The code is 4711", topic_key="code", critical_slot="fact:code")
    nobody = door.scoped(agent_id=())
    assert list(nobody.list_memories()) == list(nobody.search("The code")) == list(nobody.get_history()) == []
    assert nobody.list_events() == nobody.recall_critical().results == ()
    assert not nobody.recall("What is the code?").found
    assert (nobody.stats().events, nobody.stats().memories) == (0, 0)
    assert door.scoped(user_id="ada").search("The code", agent_id=[]).results == ()  # type: ignore[typeddict-item]
    with pytest.raises(InvalidInput, match="agent_id"):
        nobody.add("The code is 4712")


def test_events_are_listed_by_their_trust(door: Engram) -> None:
    for trust in ("user", "tool", "web"):
        door.record_event(f"Said by {trust}", trust=trust, derive="skip")  # type: ignore[arg-type]
    assert [one.content for one in door.list_events(trust="tool")] == ["Said by tool"]
    assert [one.trust for one in door.list_events(trust=["web", "user"])] == ["user", "web"]
    for wrong in ("nobody", ["tool", "nobody"], 5):
        with pytest.raises(InvalidInput, match="trust"):
            door.list_events(trust=wrong)  # type: ignore[arg-type]


def test_a_sister_name_of_a_type_is_asked_for_as_it_is_given(door: Engram) -> None:
    for memory_type, fact in (("lesson", "Lock the door first"), ("skill", "Whistle"), ("todo", "Water the oak")):
        door.add(fact, memory_type=memory_type, critical_slot=f"slot:{memory_type}")
    told = {"lesson": {"Lock the door first"}, "skill": {"Lock the door first", "Whistle"}, "todo": {"Water the oak"}}
    for name, facts_of in told.items():
        assert {one.fact for one in door.list_memories({"memory_types": [name]})} == facts_of
        assert {one.fact for one in door.recall_critical(memory_types=[name]).results} == facts_of
        now = datetime.now(UTC)
        assert {one.fact for one in door.recall_critical(memory_types=[name], as_of=now).results} == facts_of
    with pytest.raises(InvalidInput, match="memory_types"):
        door.recall_critical(memory_types=["facts"])


def test_no_change_moves_a_memory_to_another_scope(door: Engram) -> None:
    ada = door.scoped(user_id="ada")
    made = door.add("The code is 4711")
    assert made.memory is not None
    memory_id = made.memory.memory_id
    for change in (
        lambda: ada.annotate(memory_id, tags=["seen"]), lambda: ada.revise(memory_id, "The code is 4712"),
        lambda: ada.end_validity(memory_id), lambda: ada.forget(memory_id), lambda: ada.restore(memory_id),
        lambda: ada.annotate(memory_id, metadata={"scope_id": 1, "user_id": "ada", "tenant_id": "other"}),
    ):  # fmt: skip
        change()
    assert {memory.scope.user_id for memory in ada.get_lineage(memory_id).revisions} == {None}
    assert {memory.fact for memory in ada.list_memories()} == {memory.fact for memory in door.list_memories()}


def test_an_event_id_that_another_scope_has_taken_tells_nothing_but_that_it_is_taken(door: Engram) -> None:
    ada, bob = door.scoped(user_id="ada"), door.scoped(user_id="bob")
    taken = str(uuid.uuid4())
    ada.remember([{"role": "user", "content": "The code is 4711", "event_id": taken}])
    for said in ("The code is 4711", "The code is 4712"):
        with pytest.raises(IdempotencyMismatch) as caught:
            bob.remember([{"role": "user", "content": said, "event_id": taken}])
        assert str(caught.value) == "This idempotency key or event id was used before for something else."
        assert caught.value.facts == {}
    assert bob.list_events() == ()


# Private --------------------------------------------------------------------------------------------------------------


def private_row(door: Engram) -> tuple[Engram, str, list[str]]:
    """A private memory of ada in `default`, with a history, and the events that speak of it."""
    ada = door.scoped(user_id="ada")
    made = ada.add(f"The code is {CANARY} 4711", private=True, topic_key="code", critical_slot="fact:code")
    assert made.memory is not None
    ada.annotate(made.memory.memory_id, tags=[CANARY])
    ada.add(f"The code is {CANARY} 4711", private=True)
    ada.revise(made.memory.memory_id, f"The code is {CANARY} 4712")
    events = [event.event_id for event in ada.list_events()]
    assert len(events) == 4
    return ada, made.memory.memory_id, events


WIDER: Final = (
    {"user_id": "ada", "namespace": "alpha"},
    {"user_id": ALL_USERS},
    {"user_id": "ada", "agent_id": ("default", "coder")},
    {"user_id": "bob"},
    {"user_id": None},
)


@pytest.mark.parametrize("wider", WIDER)
def test_a_private_row_is_seen_by_exactly_its_own_scope(door: Engram, wider: dict[str, Any]) -> None:
    ada, memory_id, events = private_row(door)
    assert CANARY in repr(ada.list_memories())
    assert CANARY in repr(ada.search("The code"))
    reader = door.scoped(**wider)
    for memory in (memory_id, f"mem-{memory_id[-8:]}"):
        assert reader.find(memory) is None
        for call in (reader.get, reader.get_lineage, reader.get_history, reader.explain_memory, reader.get_current):
            with pytest.raises(NotFound):
                call(memory)
        with pytest.raises(NotFound):
            reader.timeline(around=memory)
    with pytest.raises(NotFound):
        reader.get_lineage(topic_key="code")
    for event in events:
        with pytest.raises(NotFound):
            reader.get_event(event)
        with pytest.raises(NotFound):
            reader.wait_for(event, timeout=0)
    seen = [
        reader.list_memories(EVERY_STATUS), reader.get_history(), reader.list_events(), reader.recall_critical(),
        reader.search("The code is 4711"), reader.recall("What is the code?"), reader.build_context("The code is 4711"),
        reader.search("The code is 4711", include_superseded=True, as_of=FAR_AHEAD),
        reader.list_memories(EVERY_STATUS, known_at=FAR_AHEAD), reader.timeline(), reader.list_decisions(),
    ]  # fmt: skip
    assert CANARY not in repr(seen)


def private_message(door: Engram, said: str) -> tuple[Engram, list[str]]:
    """A message of ada's in the session `s`, between two others, of which every memory is private, and their ids."""
    ada = door.scoped(user_id="ada")
    ada.remember("Good morning.", session_id="s", derive="verbatim", wait=True)
    told = ada.remember(said, session_id="s", derive="verbatim", wait=True).decisions
    ada.remember("Yes, at six.", session_id="s", derive="verbatim", wait=True)
    made = [one.memory.memory_id for one in told if one.memory is not None]
    for memory_id in made:
        ada.annotate(memory_id, private=True)
    return ada, made


@pytest.mark.parametrize("wider", WIDER)
def test_a_private_message_completes_no_question_of_another_scope(door: Engram, wider: dict[str, Any]) -> None:
    ada = door.scoped(user_id="ada")
    for one in ada.remember(f"I met {CANARY} about the launch.", session_id="s", wait=True).decisions:
        ada.annotate(str(one.memory and one.memory.memory_id), private=True)
    assert CANARY in ada.recall("And when was it?", session_id="s").trace.query
    assert CANARY not in repr(door.scoped(**wider).recall("And when was it?", session_id="s"))


@pytest.mark.parametrize("wider", WIDER)
def test_a_private_message_is_in_no_context_of_another_scope(door: Engram, wider: dict[str, Any]) -> None:
    ada, _ = private_message(door, f"The code is {CANARY}.")
    reader = door.scoped(**wider)
    for asked in ({}, {"session_id": "s"}):
        assert CANARY in ada.build_context(**asked).text
        for read in ({}, {"known_at": datetime.now(UTC)}, {"as_of": FAR_AHEAD}):
            assert CANARY not in repr(reader.build_context(**asked, **read))
    assert CANARY not in repr(reader.resume())


@pytest.mark.parametrize("wider", [{"user_id": "ada", "namespace": "alpha"}, {"user_id": ALL_USERS}])
def test_what_a_job_kept_of_a_run_with_private_memories_is_its_own_scopes(
    door: Engram, database_url: str, wider: dict[str, Any], tmp_path: Path
) -> None:
    ada, reader = door.scoped(user_id="ada"), door.scoped(**wider)
    run = ada.start_task("Sail the boat").task_run_id
    ada.save_checkpoint(run, "The boat is afloat")
    told = ada.remember(f"The code is {CANARY}.", task_run_id=run, wait=True).decisions
    ada.update_task(run, status="paused")
    ada.ops.run_jobs()
    own = ada.list_checkpoints(run)
    assert [one.made_by == "caller" for one in own] == [False, True]
    assert CANARY in own[0].summary
    assert reader.list_checkpoints(run) == own
    for one in told:
        ada.annotate(str(one.memory and one.memory.memory_id), private=True)
    assert ada.list_checkpoints(run) == own
    assert reader.list_checkpoints(run) == own[1:]
    seen = [
        reader.list_checkpoints(run, known_at=datetime.now(UTC)),
        reader.resume(),
        reader.build_context(task_run_id=run),
    ]
    assert "The boat is afloat" in repr(seen[1:])
    assert CANARY not in repr(seen)
    assert CANARY in repr([ada.resume(), ada.build_context(task_run_id=run), ada.resume_task(run).checkpoint])
    out = reader.ops.export(tmp_path / "wide.jsonl")
    assert CANARY.encode() not in (tmp_path / "wide.jsonl").read_bytes()
    assert out.left_out["checkpoints"] == 1
    assert "checkpoints" not in ada.ops.export(tmp_path / "own.jsonl").left_out
    assert CANARY.encode() in (tmp_path / "own.jsonl").read_bytes()
    with Engram(database_url, scope=Scope(f"{door.scope.tenant_id}-b"), embedder=LETTERS) as other:
        other.ops.import_(tmp_path / "wide.jsonl")
        assert other.ops.verify_ledger(user_id=ALL_USERS).ok
        assert [one.erased for one in other.list_checkpoints(run, user_id="ada")] == [True, False]


@pytest.mark.parametrize("wider", [{"user_id": "ada", "namespace": "alpha"}, {"user_id": ALL_USERS}])
def test_a_memory_that_rests_on_a_private_message_does_not_quote_it_to_others(
    door: Engram, wider: dict[str, Any]
) -> None:
    ada = door.scoped(user_id="ada")
    told = ada.add(f"The code is {CANARY}", private=True)
    public = ada.add("There is a code", sources=[(str(told.event_id), 0, 15)]).memory
    assert public is not None
    assert CANARY[:3] in repr(ada.explain_memory(public.memory_id).citations)
    reader = door.scoped(**wider)
    quoted = {one.quote for one in reader.explain_memory(public.memory_id).citations}
    assert quoted == {None, "There is a code"}


@pytest.mark.parametrize("wider", [{"user_id": "ada", "namespace": "alpha"}, {"user_id": ALL_USERS}])
def test_the_log_of_recalls_tells_others_neither_private_ids_nor_what_a_question_was_completed_with(
    door: Engram, wider: dict[str, Any]
) -> None:
    ada = door.scoped(user_id="ada")
    ada.remember("I like the launch site.", session_id="s", wait=True)
    told = ada.remember(f"I met {CANARY} about the launch.", session_id="s", wait=True).decisions
    made = [one.memory.memory_id for one in told if one.memory is not None]
    asked = ada.recall("And when was it?", session_id="s")
    ada.build_context("the launch", session_id="s")
    found = ada.search("launch")
    for memory_id in made:
        ada.annotate(memory_id, private=True)
    own = ada.ops.list_recalls()
    assert CANARY in repr(own)
    assert any(one in repr(own) for one in made)
    reader = door.scoped(**wider)
    shown = reader.ops.list_recalls()
    assert [one.recall_id for one in shown] == [one.recall_id for one in own]
    seen = [shown, *(reader.ops.get_recall(one.recall_id) for one in own)]
    hidden = [*made, *(event.event_id for event in ada.list_events() if event.content and CANARY in event.content)]
    assert CANARY not in repr(seen)
    assert not [one for one in hidden if one in repr(seen)]
    assert {one.query for one in shown} >= {None, "launch"}
    with pytest.raises(NotFound):
        reader.ops.replay_recall(str(asked.recall_id))
    assert not [one for one in hidden if one in repr(reader.ops.replay_recall(str(found.recall_id)))]
    assert ada.ops.replay_recall(str(asked.recall_id)).is_same


@pytest.mark.parametrize("wider", WIDER)
def test_a_private_message_lends_its_words_to_no_other(door: Engram, wider: dict[str, Any]) -> None:
    """What stands around a message is found by its words too, which would tell another scope what they were."""
    ada, made = private_message(door, f"The code is {CANARY}.")
    ada.remember("Right, bring the oars.", session_id="s", derive="verbatim", wait=True)
    assert [one.memory.memory_id for one in ada.search(CANARY, mode="keyword")] == made
    reader = door.scoped(**wider)
    assert len(reader.search(CANARY, mode="keyword")) == 0
    for memory_id in made:
        ada.annotate(memory_id, private=False)
    assert {one.memory.fact for one in ada.search(CANARY, mode="keyword")} > {"Good morning.", "Yes, at six."}


def no_codes(candidate: Mapping[str, Any]) -> Mapping[str, Any] | Reject:
    return Reject("no codes") if "code" in candidate["fact"] else candidate


@pytest.mark.parametrize("wider", WIDER)
def test_what_was_refused_and_would_have_been_private_is_seen_by_exactly_its_own_scope(
    database_url: str, tenant: str, tmp_path: Path, wider: dict[str, Any]
) -> None:
    policy = replace(get_policy("default"), guards=(no_codes,))
    with Engram(database_url, scope=Scope(tenant), embedder=LETTERS, policy=policy) as door:
        ada = door.scoped(user_id="ada")
        kept = ada.add("The pier is closed", private=True).memory
        assert kept is not None
        refused = [
            ada.add(f"The code is {CANARY} 4711", private=True),
            *ada.add_many([{"fact": CANARY + " code", "private": True}]),
            ada.revise(kept.memory_id, f"The code of the pier is {CANARY}"),
        ]
        assert [one.kind for one in refused] == ["reject"] * 3
        own = repr([ada.list_decisions(), ada.list_events(), ada.search_events(CANARY)])
        assert CANARY in own
        assert all(own.count(one.event_id) >= 2 for one in refused)
        assert len(ada.list_events()) == ada.stats().events == 4
        reader = door.scoped(**wider)
        for one in refused:
            with pytest.raises(NotFound):
                reader.get_event(one.event_id)
        reader.ops.export(tmp_path / "file.jsonl", **wider)
        seen = [
            reader.list_events(), reader.list_decisions(), reader.search_events(CANARY), reader.search(CANARY),
            reader.timeline(), (tmp_path / "file.jsonl").read_text(),
        ]  # fmt: skip
        assert CANARY not in repr(seen)
        assert not any(one.event_id in repr(seen[:-1]) for one in refused)
        told = reader.stats()
        assert (told.events, dict(told.decisions)) == (0, {})


@pytest.mark.parametrize("wider", [{"user_id": "ada", "namespace": "alpha"}, {"user_id": ALL_USERS}])
def test_what_a_job_tells_of_a_session_or_a_run_with_what_was_refused_is_its_own_scopes(
    database_url: str, tenant: str, tmp_path: Path, wider: dict[str, Any]
) -> None:
    def keep_close(candidate: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**candidate, "private": "code" in candidate["fact"]}

    policy = replace(get_policy("default"), guards=(keep_close, no_codes))
    with Engram(database_url, scope=Scope(tenant), embedder=LETTERS, policy=policy) as door:
        ada, reader = door.scoped(user_id="ada"), door.scoped(**wider)
        run = ada.start_task("Sail the boat").task_run_id
        for place in ({"session_id": "s"}, {"task_run_id": run}):
            ada.remember("The boat is afloat.", derive="verbatim", wait=True, **place)
            decisions = ada.remember(f"The code is {CANARY}.", derive="verbatim", wait=True, **place).decisions
            assert [one.kind for one in decisions] == ["reject"]
        ada.end_session("s")
        ada.update_task(run, status="paused")
        while ada.ops.run_jobs():
            pass
        own = [ada.get_session("s").summary, ada.list_checkpoints(run), ada.resume()]
        assert all(CANARY in repr(one) for one in own)
        left_out = reader.ops.export(tmp_path / "file.jsonl", **wider).left_out
        assert (left_out["summaries"], left_out["checkpoints"]) == (1, 1)
        seen = [
            reader.list_sessions(), reader.get_session("s"), reader.list_checkpoints(run), reader.resume(),
            reader.build_context(task_run_id=run), reader.build_context(session_id="s"),
            (tmp_path / "file.jsonl").read_text(),
        ]  # fmt: skip
        assert CANARY not in repr(seen)


@pytest.mark.parametrize("wider", [{"user_id": "ada", "namespace": "alpha"}, {"user_id": ALL_USERS}])
def test_a_checkpoint_that_a_job_made_of_a_run_with_private_memories_is_in_no_export_of_others(
    door: Engram, tmp_path: Path, wider: dict[str, Any]
) -> None:
    ada, path = door.scoped(user_id="ada"), tmp_path / "file.jsonl"
    run = ada.start_task("Sail the boat").task_run_id
    told = ada.remember(f"The code is {CANARY}.", task_run_id=run, wait=True).decisions
    ada.update_task(run, status="paused")
    while ada.ops.run_jobs():
        pass
    for one in told:
        ada.annotate(str(one.memory and one.memory.memory_id), private=True)
    assert CANARY in repr(ada.list_checkpoints(run))
    ada.ops.export(path)
    assert CANARY in path.read_text()
    assert door.ops.export(path, **wider).left_out["checkpoints"] == 1
    assert CANARY not in path.read_text()
    there = door.scoped(tenant_id=f"{door.scope.tenant_id}x")
    there.ops.import_(path)
    assert [one.erased for one in there.list_checkpoints(run, user_id="ada")] == [True]


@pytest.mark.parametrize("wider", [{"user_id": "ada", "namespace": "alpha"}, {"user_id": ALL_USERS}])
def test_why_a_private_memory_took_the_place_of_another_is_told_to_its_own_scope_alone(
    database_url: str, tenant: str, tmp_path: Path, wider: dict[str, Any]
) -> None:
    def keep_close(candidate: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**candidate, "private": True} if CANARY.capitalize() in candidate["fact"] else candidate

    policy, path = replace(get_policy("default"), guards=(keep_close,)), tmp_path / "file.jsonl"
    with Engram(database_url, scope=Scope(tenant), embedder=LETTERS, policy=policy) as door:
        ada, reader = door.scoped(user_id="ada"), door.scoped(**wider)
        told = ada.add("The lock code is 4711", topic_key="lock", reason="he said so").memory
        assert told is not None
        ada.add("The lock code is 4712", topic_key="lock", private=True, reason=CANARY)
        ada.remember("I live in Paris.", wait=True)
        ada.remember(f"I live in {CANARY.capitalize()} now.", reason=CANARY, wait=True)
        assert CANARY in repr([entry.reason for entry in ada.get_history()])
        assert repr([entry.reason for entry in ada.ops.audit_log()]).count(CANARY) > 2
        reader.ops.export(path, **wider)
        seen = [reader.get_history(), reader.get_history(told.memory_id), reader.ops.audit_log(), path.read_text()]
        assert CANARY not in repr(seen).casefold()
        assert "he said so" in repr(seen[0])
        assert "he said so" in repr(seen[2])
        assert '"reason":"he said so","actor"' in path.read_text()


@pytest.mark.parametrize("wider", WIDER)
@pytest.mark.parametrize("together", [False, True])
def test_what_is_said_again_in_private_tells_others_nothing(
    door: Engram, tmp_path: Path, wider: dict[str, Any], together: bool
) -> None:
    ada, path = door.scoped(user_id="ada"), tmp_path / "file.jsonl"
    told = ada.add("The gate code is 4711", topic_key="gate", tags=["gate"]).memory
    assert told is not None
    again = {"fact": "The gate code is 4711", "topic_key": "gate", "private": True, "tags": [CANARY]}
    again["metadata"] = {"why": CANARY}
    if together:
        decisions = ada.add_many([again, {"fact": "The shed is green"}])
    else:
        decisions = (ada.add(again.pop("fact"), reason=CANARY, **again),)
    assert decisions[0].kind == "reinforce"
    reader = door.scoped(**wider)
    reader.ops.export(path, **wider)
    seen = [
        reader.list_events(), reader.find(told.memory_id), reader.get_history(), reader.list_decisions(),
        reader.search_events(CANARY), reader.ops.audit_log(), path.read_text(),
    ]  # fmt: skip
    assert CANARY not in repr(seen)
    assert CANARY in repr(ada.list_events())
    assert ada.get(told.memory_id).tags == ("gate",)


@pytest.mark.parametrize("wider", WIDER)
def test_the_summary_that_a_caller_gave_a_session_with_private_memories_is_its_own_scopes(
    door: Engram, tmp_path: Path, wider: dict[str, Any]
) -> None:
    ada, path = door.scoped(user_id="ada"), tmp_path / "file.jsonl"
    ada.remember("The boat is afloat.", session_id="s", wait=True)
    secret = ada.add("The code is 4711", session_id="s").memory
    assert secret is not None
    ada.end_session("s", summary=f"We spoke of {CANARY}", reason=CANARY)
    [ended] = ada.list_events(types=["session_ended"])
    reader = door.scoped(**wider)
    seen = wider["user_id"] in ("ada", ALL_USERS)
    assert [one.event_id for one in reader.list_events(types=["session_ended"])] == [ended.event_id] * seen
    before = reader.stats().events
    ada.annotate(secret.memory_id, private=True)
    with pytest.raises(NotFound):
        reader.get_event(ended.event_id)
    door.ops.export(path, **wider)
    shown = [
        reader.list_events(), list(reader.follow(poll=0)), reader.search_events("spoke", types=["session_ended"]),
        reader.search_events("", types=["session_ended"]), reader.list_sessions(), path.read_text(),
    ]  # fmt: skip
    assert CANARY not in repr(shown)
    assert reader.stats().events == len(reader.list_events()) == max(0, before - 2)
    assert CANARY in repr([ada.list_events(), ada.get_event(ended.event_id)])
    assert ada.stats().events == len(ada.list_events())


TIES = ("relation_added", "relation_ended")


@pytest.mark.parametrize("wider", WIDER)
def test_what_ties_a_private_memory_and_why_it_was_moved_is_seen_by_exactly_its_own_scope(
    door: Engram, tmp_path: Path, wider: dict[str, Any]
) -> None:
    ada = door.scoped(user_id="ada")
    told = ada.add("The pier is closed").memory
    kept = ada.add("The boat is leaking", private=True).memory
    assert told is not None
    assert kept is not None
    ada.relate(kept.memory_id, told.memory_id, "related_to", metadata={"why": CANARY}, reason=CANARY)
    ada.relate(told.memory_id, kept.memory_id, "depends_on", metadata={"why": CANARY})
    ada.unrelate(kept.memory_id, told.memory_id, "related_to", reason=CANARY)
    ada.feedback([kept.memory_id], 1, note=CANARY)
    ada.ops.set_layer(kept.memory_id, "working", reason=CANARY)  # where it is already
    ada.ops.undo(ada.ops.archive([kept.memory_id], reason=CANARY).run_id, reason=CANARY)
    own = repr([ada.list_events(), ada.ops.list_runs()])
    assert own.count(CANARY) >= 9
    reader = door.scoped(**wider)
    reader.ops.export(tmp_path / "file.jsonl", **wider)
    seen = [
        reader.list_events(), list(reader.follow(poll=0)), reader.ops.list_runs(),
        (tmp_path / "file.jsonl").read_text(), reader.search_events("why", types=TIES).results,
        reader.search_events("", types=TIES).results,
    ]  # fmt: skip
    assert CANARY not in repr(seen)
    assert len(ada.search_events("", types=TIES)) == 3
    ties = ada.list_events(types=TIES)
    assert len(ties) == 3
    for event in ties:
        with pytest.raises(NotFound):
            reader.get_event(event.event_id)
    shown = [event.event_id for event in reader.list_events()]
    assert shown == ([told.event_id] if wider["user_id"] in ("ada", ALL_USERS) else [])
    assert reader.stats().events == len(shown)


def test_the_reason_of_a_run_is_told_to_whoever_sees_what_it_changed(door: Engram, tmp_path: Path) -> None:
    ada, everybody = door.scoped(user_id="ada"), door.scoped(user_id=ALL_USERS)
    told = ada.add("The pier is closed").memory
    assert told is not None
    ada.ops.archive([told.memory_id], reason="it is open again")
    assert [run.reason for run in everybody.ops.list_runs()] == ["it is open again"]
    everybody.ops.export(tmp_path / "file.jsonl")
    assert '"reason":"it is open again","actor"' in (tmp_path / "file.jsonl").read_text()


def test_what_was_refused_and_is_not_private_is_seen_by_who_sees_its_scope(database_url: str, tenant: str) -> None:
    policy = replace(get_policy("default"), guards=(no_codes,))
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder=LETTERS, policy=policy) as ada:
        refused = ada.add("The code is 4712")
        everybody = ada.scoped(user_id=ALL_USERS)
        assert everybody.get_event(refused.event_id).content == "The code is 4712"
        assert [one.kind for one in everybody.list_decisions()] == ["reject"]
        assert (everybody.stats().events, dict(everybody.stats().decisions)) == (1, {"reject": 1})


def test_what_is_private_is_counted_for_nobody_else(door: Engram) -> None:
    ada = door.scoped(user_id="ada")
    ada.add("The pier is closed")
    before = ada.stats()
    door.add("The code is 4711", private=True)
    door.add("The code is 4711", private=True)
    run = ada.start_task("Paint the boat").task_run_id
    ada.record_event("The primer arrived", task_run_id=run, derive="skip")
    assert ada.stats().events == len(ada.list_events()) == before.events + 2
    ada.forget_task(run)
    assert ada.stats().events == len(ada.list_events())
    after, own = ada.stats(), door.stats()
    assert (after.memories, after.decisions, after.duplicates_avoided) == (1, before.decisions, 0)
    assert (own.events, own.memories, own.duplicates_avoided) == (2, 1, 1)


def test_what_is_hidden_takes_no_place_on_a_page_of_events(door: Engram) -> None:
    """Nor is an empty page the end while there is more to see: who reads page by page stops there."""
    for number in range(3):
        door.add(f"The pier has number {number}")
    for number in range(8):
        door.add(f"The code has number {number}", private=True)
    ada = door.scoped(user_id="ada")
    shown = [event.content for event in ada.list_events(newest_first=True, limit=3)]
    assert shown == [f"The pier has number {number}" for number in (2, 1, 0)]
    [stream_id] = {event.stream_id for event in door.list_events()}
    assert len(ada.list_events(stream_id=stream_id, after=2, limit=2)) == 1
    assert len(door.list_events(limit=50)) == 11


def test_what_is_private_now_is_private_at_every_moment(door: Engram) -> None:
    """What was shared once and is not any more is told to nobody else by a read of an earlier moment."""
    shared = door.add("The harbour is open", topic_key="harbour").memory
    secret = door.add(
        f"The harbour code is {CANARY}", topic_key="code", critical_slot="fact:code", tags=["trigger:go"]
    ).memory
    assert shared is not None
    assert secret is not None
    door.relate(shared.memory_id, secret.memory_id, "causes")
    then = datetime.now(UTC)
    door.annotate(secret.memory_id, private=True)
    for read in ({"known_at": then}, {"as_of": then}, {"as_of": then, "known_at": then}):
        for reader in (door.scoped(user_id="bob"), door.scoped(user_id=ALL_USERS)):
            assert reader.find(secret.memory_id, **read) is None
            for call in (reader.get, reader.get_lineage, reader.get_history, reader.explain_memory):
                with pytest.raises(NotFound):
                    call(secret.memory_id, **read)
            seen = [
                reader.list_memories(EVERY_STATUS, **read),
                reader.list_memories({"memory_ids": [secret.memory_id]}, **read),
                reader.search("The harbour code", depth=2, **read), reader.search("code", mode="keyword", **read),
                reader.deep_search("The harbour code", **read), reader.recall("What is the harbour code?", **read),
                reader.build_context("The harbour code", **read).text, reader.recall_critical(**read),
                reader.recall_trigger("go", **read), reader.get_history(**read),
                reader.timeline(**read), reader.list_decisions(**read),
                reader.traverse(shared.memory_id, **read), reader.list_relations(shared.memory_id, **read),
                reader.resume(**read),
            ]  # fmt: skip
            assert CANARY not in repr(seen)
            assert secret.memory_id not in repr(seen)
        assert [memory.memory_id for memory in door.recall_critical(**read)] == [secret.memory_id]
        assert [found.memory.memory_id for found in door.traverse(shared.memory_id, **read)] == [secret.memory_id]


@pytest.mark.parametrize("wider", [{"user_id": "ada", "namespace": "alpha"}, {"user_id": "bob"}])
def test_no_write_from_elsewhere_touches_or_tells_of_a_private_row(door: Engram, wider: dict[str, Any]) -> None:
    ada, memory_id, events = private_row(door)
    before = repr([ada.get(memory_id), ada.get_history(memory_id)])
    writer = door.scoped(**wider)
    for change in (
        lambda: writer.revise(memory_id, "The code is 4713"), lambda: writer.annotate(memory_id, tags=["seen"]),
        lambda: writer.forget(memory_id), lambda: writer.restore(memory_id), lambda: writer.reinforce(memory_id),
        lambda: writer.end_validity(memory_id), lambda: writer.add("The sky is blue", parent_id=memory_id),
        lambda: writer.endorse(memory_id, "operator"),
        lambda: writer.add("The sky is grey", supersedes=[memory_id]),
        lambda: writer.add("The sky is red", sources=[(events[0], 0, 3)]), lambda: writer.ops.redact_event(events[0]),
    ):  # fmt: skip
        with pytest.raises(NotFound):
            change()
    made = writer.add(f"The code is {CANARY[:4]} 4711")  # much like it: what is near is told
    assert CANARY not in repr(made)
    assert repr([ada.get(memory_id), ada.get_history(memory_id)]) == before


@pytest.mark.parametrize("elsewhere", [{"user_id": "ada", "namespace": "alpha"}, {"user_id": "bob"}])
def test_to_forget_or_restore_a_lineage_leaves_what_is_private_in_it_to_its_own_scope(
    door: Engram, elsewhere: dict[str, Any]
) -> None:
    mine = door.scoped(user_id="ada") if "namespace" in elsewhere else door
    first = mine.add("The lock code is 4711", topic_key="lock").memory
    second = mine.add(f"The lock code is {CANARY}", topic_key="lock", private=True).memory
    assert first is not None
    assert second is not None
    before = mine.get(second.memory_id)
    writer = door.scoped(**elsewhere)
    for key in ("once", "once"):
        assert writer.forget(first.memory_id, idempotency_key=key) == (first.memory_id,)
    assert mine.get(second.memory_id) == before
    assert mine.get_current(topic_key="lock") == before
    again = mine.ops.replay()
    assert again.is_same
    mine.ops.drop_replay(again.shadow_id)
    writer.restore(first.memory_id)
    assert set(mine.forget(first.memory_id)) == {first.memory_id, second.memory_id}
    writer.restore(first.memory_id)
    assert (mine.get(first.memory_id).status, mine.get(second.memory_id).status) == ("active", "deleted")
    assert mine.ops.replay().is_same


def test_a_decision_does_not_tell_another_scope_what_private_row_it_was_compared_with(door: Engram) -> None:
    ada = door.scoped(user_id="ada")
    first = ada.add(f"The harbour code of the {CANARY} pier is 4711")
    made = ada.add("The harbour code of the western pier is 4712")
    assert first.memory is not None
    assert made.memory is not None
    ada.annotate(first.memory.memory_id, private=True)
    assert CANARY in repr(made.nearest), "its own scope is told"
    elsewhere = ada.scoped(namespace="alpha")
    assert CANARY in repr(ada.explain_memory(made.memory.memory_id))
    assert CANARY not in repr(elsewhere.explain_memory(made.memory.memory_id))
    assert CANARY not in repr(elsewhere.add("The harbour code of the eastern pier is 4713"))


def test_a_rehearsed_redaction_erases_nothing(door: Engram) -> None:
    receipt = door.remember("The code is 4711")
    [event] = receipt.event_ids
    door.ops.redact_event(event, dry_run=True)
    assert door.get_event(event).content == "The code is 4711"
    assert len(door.list_events()) == 1
    assert [memory.fact for memory in door.list_memories()] == ["The code is 4711"]


# Everything that is private, asked for by every public call -----------------------------------------------------------


def keep_close(candidate: Mapping[str, Any]) -> Mapping[str, Any]:
    """A guard: whatever has the canary in it is private."""
    return {**candidate, "private": True} if CANARY in repr(candidate) else candidate


def private_life(door: Engram, path: Path) -> Things:
    """A life in which whatever holds the canary is private, with all that can come of it; names of what there is."""

    def add(fact: str, **told: Any) -> str:
        memory = door.add(fact, force=True, **told).memory
        assert memory is not None
        return memory.memory_id

    note = {"note": CANARY}
    door.remember("Good morning.", session_id="s", derive="verbatim", wait=True)
    said = door.remember(f"The harbour code is {CANARY} 4711.", session_id="s", wait=True).event_ids[0]
    door.recall("And what is it?", session_id="s")
    door.remember(f"My {CANARY} boat is blue.", session_id="talk", derive="verbatim", wait=True)
    door.remember("Yes, at six.", session_id="talk", derive="verbatim", wait=True)
    public = add("The harbour is open to boats", topic_key="harbour", sources=[(said, 0, 30)], tags=["trigger:pier"])
    add("The gate code is 1", topic_key="gate")
    add(f"The gate code is 2 {CANARY}", topic_key="gate", reason=CANARY)
    door_code = add(f"The door code is 2 {CANARY}", topic_key="door")
    door.revise(door_code, f"The door code is 3 {CANARY}", reason=CANARY)
    add("The door code is 4", topic_key="door", parent_id=door_code)
    add(
        f"The bell {CANARY} rings twice", tags=[f"trigger:{CANARY}", "trigger:pier"], metadata=note, source=CANARY,
        critical_slot=f"slot:{CANARY}", category=CANARY, subject=CANARY, main_content=CANARY,
    )  # fmt: skip
    lamp = add(f"The lamp {CANARY} of the pier is red", supersedes=[add("The lamp of the pier is green")])
    add("The buoy in the bay is orange", supersedes=[add(f"The buoy {CANARY} is yellow")])
    add("The mast is ten metres high", topic_key="mast")
    add(f"The mast {CANARY} is twelve metres high", topic_key="mast", trust="agent")
    anchor, sail, flag = (add(f"The {thing} {CANARY} is there") for thing in ("anchor", "sail", "flag"))
    door.forget(anchor, reason=CANARY)
    door.forget(sail)
    door.restore(sail, reason=CANARY)
    door.endorse(sail, "operator", reason=CANARY)
    door.reinforce(sail, reason=CANARY)
    door.end_validity(flag, reason=CANARY)
    for source, target in ((public, lamp), (lamp, sail), (sail, public)):
        door.relate(source, target, "causes", metadata=note, reason=CANARY)
    door.unrelate(sail, public, "causes", reason=CANARY)
    found = door.search("harbour code")
    door.feedback([sail], 1, note=CANARY, recall_id=found.recall_id)
    door.feedback([sail, public], -1)
    door.merge(
        [add(f"The cabin {CANARY} has {n} two beds") for n in ("but", "just")], fact=f"The cabin {CANARY} is small"
    )
    door.ops.set_layer(lamp, "core", reason=CANARY)
    archived = door.ops.archive([add(f"The tank {CANARY} is full")], reason=CANARY).run_id
    undone = door.ops.undo(archived, reason=CANARY).run_id
    text = "# Harbour\n\nThe lamp must be lit at nine.\n\n# Pier\n\nThe pier must be closed at ten."
    document = door.record_long_input(text, title="Rules", wait=True)
    run = door.start_task("Paint the keel").task_run_id
    painted = door.remember(f"The paint {CANARY} is 4711.", task_run_id=run, wait=True).event_ids
    door.save_checkpoint(run, "The keel is half painted", source_event_ids=painted)
    door.remember(f"The paint can {CANARY} is 4712.", task_run_id=run, wait=True)
    door.update_task(run, status="paused")
    door.end_session("talk", summary=f"We spoke of {CANARY}")
    door.ops.run_jobs(limit=100)
    for keep in (door.ops.consolidate, door.ops.merge_similar, door.ops.rebuild_topics, door.ops.consolidate_summaries):
        keep(reason=CANARY)
    door.ops.run_jobs(limit=100)
    later = door.remember("The winch code is 99.", session_id="s", wait=True).decisions
    door.recall("And what is it now?", session_id="s")
    door.deep_search("harbour code", queries=["gate code"])
    door.build_context("The harbour code", session_id="s")
    for one in later:
        door.annotate(str(one.memory and one.memory.memory_id), private=True)
    door.ops.replay()
    door.ops.export(path)
    memories = door.list_memories(EVERY_STATUS, limit=200)
    events = [event.event_id for event in door.list_events(limit=200) if CANARY in repr(event)]
    report = door.ops.verify_ledger()
    return Things(
        memories=tuple(memory.memory_id for memory in memories), shorts=tuple(memory.short_id for memory in memories),
        events=(*events, archived, undone, document.manifest_event_id, *document.source_event_ids),
        streams=tuple(report.heads), sessions=("s", "talk"), tasks=(run,),
        topics=("gate", "door", "mast", "harbour"), slots=("slot:pier",), keys=("key",),
        cursors=(str(door.list_memories(limit=1).cursor),), anchors=tuple(report.heads.values()),
        jobs=tuple(job.job_id for job in door.ops.list_jobs(limit=200)),
        recalls=tuple(recall.recall_id for recall in door.ops.list_recalls(limit=200)),
        marks=tuple(item.mark for item in door.follow(poll=0))[-1:],
    )  # fmt: skip


@dataclass(frozen=True)
class Prying(Asker):
    """One who asks for what belongs to others, in words much like theirs."""

    def text(self) -> str:
        return self.dice.choice([
            "The harbour code is 4711", "The gate code is 2", "The lamp of the pier is red", "The cabin is small",
            "The mast is twelve metres high", "The sail is there", "The paint can", "The winch code",
        ])  # fmt: skip


# What a call is asked beside, so that it shows as much as it can.
ALL: Final = {"limit": 200}
EVERYTHING: Final[Mapping[str, Sequence[dict[str, Any]]]] = {
    **{
        name: [ALL]
        for name in (
            "get_history", "list_decisions", "timeline", "list_sessions", "list_tasks", "ops.list_recalls",
            "ops.list_runs", "ops.list_jobs", "ops.audit_log", "ops.decay",
        )
    },
    "list_memories": [{"filter": EVERY_STATUS, **ALL}], "get_all": [{"filter": EVERY_STATUS, **ALL}],
    "list_events": [ALL, {"session_id": "s", **ALL}, {"session_id": "talk", **ALL}],
    "search": [
        {"query": "harbour code gate lamp mast sail boat", "include_superseded": True, "mode": mode, **ALL}
        for mode in ("hybrid", "keyword", "semantic")
    ],
    "search_events": [{"query": query, **ALL} for query in ("", "harbour code lamp paint")],
    "recall": [{"question": "And what of it?", "session_id": "s"}, {"question": "What is the gate code?"}],
    "build_context": [
        {"query": "harbour code", "session_id": session, "max_tokens": 8_000, "metadata": True}
        for session in ("s", "talk")
    ],
    "resume": [{"max_tokens": 8_000}], "get_context_block": [{"query": "harbour code"}],
    "recall_trigger": [{"action": "pier"}], "follow": [{"poll": 0}],
    **{name: [{}] for name in ("list_triggers", "list_topics", "recall_critical", "stats")},
    "get_session": [{"session_id": session} for session in ("s", "talk")],
    "ops.export": [{"path": OUT, "format": form} for form in ("jsonl", "csv", "markdown")],
}  # fmt: skip
# Of one thing each: they are asked for all there are.
OF_ONE: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(
        ("get", "find", "explain_memory", "get_lineage", "get_history", "list_relations", "ops.audit_log"),
        ("memory_id", "memories"),
    ),
    **dict.fromkeys(("get_task", "list_checkpoints", "resume_task", "build_context"), ("task_run_id", "tasks")),
    "cite": ("cited_id", "memories"), "traverse": ("start_id", "memories"), "get_event": ("event_id", "events"),
    "ops.get_recall": ("recall_id", "recalls"),
}  # fmt: skip
NOT_PRIED: Final = ("delete_all", "ops.reembed", "ops.reindex_words", "ops.calibrate", "ops.run_jobs")
# What tells its own scope of it: where nothing did, nothing would be tried.
TELLING: Final = frozenset({
    "build_context", "cite", "explain_memory", "find", "follow", "get", "get_all", "get_event", "get_history",
    "get_lineage", "get_session", "list_checkpoints", "list_decisions", "list_events", "list_memories",
    "list_relations", "list_sessions", "list_triggers", "ops.audit_log", "ops.decay", "ops.export", "ops.get_recall",
    "ops.list_recalls", "ops.list_runs", "recall", "recall_critical", "recall_trigger", "resume", "resume_task",
    "search", "search_events", "timeline", "traverse",
})  # fmt: skip
# The id of what came before or after a memory is told though what it names is private.
BEFORE_AND_AFTER: Final = re.compile(
    r"(superseded_by|previous_id|target_id)(=|\": ?)('[^']*'|\"[^\"]*\")"
    r"|field='(memory|superseded_by)', before=\S+ after=\S+"
)
WHO_PRIES: Final = {
    "of a user": ({"user_id": "ada"}, [{"user_id": "ada", "namespace": "alpha"}, {"user_id": ALL_USERS}]),
    "of an agent": ({}, [{"user_id": "ada"}, {"agent_id": ("default", "coder")}]),
}


def pried(asker: Prying, name: str) -> Iterator[tuple[dict[str, Any], str]]:
    """What a call is asked, and all that it says: its answer, the file it wrote, or its error with its causes."""
    asks = [CALLS[name](asker), *EVERYTHING.get(name, ())]
    if name in OF_ONE:
        argument, kind = OF_ONE[name]
        asks += [{argument: one} for one in getattr(asker.given, kind)]
    for given in asks:
        for message in given.get("messages", ()):
            message.pop("event_id", None)  # within a tenant an id is taken for good
        try:
            result = method(asker.door, name)(**given)
            said = repr(list(result) if name == "follow" else result)
        except EngramError as error:
            said = f"{error!r} {error} {error.facts} {error.__cause__!r}"
        if name == "ops.export":
            said += "\n".join(line for line in Path(OUT).read_text().split("\n") if '"withheld"' not in line)
        yield given, BEFORE_AND_AFTER.sub("", said)


@pytest.mark.parametrize("whose", WHO_PRIES)
def test_no_public_call_tells_another_scope_anything_that_is_private(
    database_url: str, tenant: str, tmp_path: Path, whose: str
) -> None:
    policy = replace(get_policy("default"), guards=(keep_close,))
    owner, others = WHO_PRIES[whose]
    with Engram(database_url, scope=Scope(tenant), embedder=LETTERS, policy=policy) as base:
        quiet(base)
        door = base.scoped(**owner)
        things = private_life(door, tmp_path / "own.jsonl")
        held = door.list_memories(EVERY_STATUS, limit=200)
        private = {memory.memory_id for memory in held if memory.private}
        assert not [memory.fact for memory in held if CANARY in repr(memory) and not memory.private]
        assert len(private) > 15
        for number, other in enumerate(others):
            asker = Prying(base.scoped(**other), things, things, random.Random(number))
            with suppress(EngramError):  # a wide scope writes nothing
                asker.door.add("The pier has a gull")
            for name in CALLS:
                if name in NOT_PRIED:
                    continue
                for given, said in pried(asker, name):
                    assert CANARY not in said, f"{name} tells {other} what is private: {given}\n{around(said, CANARY)}"
                    named = [one for one in private if one in said and one not in repr(given)]
                    if name != "ops.list_recalls":  # a log of what it asked itself names what it asked for
                        assert not named, f"{name} names to {other} what is private: {given}\n{around(said, named[0])}"
        mine = Prying(door, things, things, random.Random(0))
        telling = {name for name in sorted(TELLING) for _, said in pried(mine, name) if CANARY in said}
        assert telling == TELLING
        left = {memory.memory_id for memory in door.list_memories(EVERY_STATUS, limit=200) if memory.private}
        assert private <= left


def around(said: str, found: str) -> str:
    place = said.index(found)
    return said[max(0, place - 200) : place + 100]


# Near and far ---------------------------------------------------------------------------------------------------------


def test_of_one_slot_in_several_scopes_the_nearest_that_is_trusted_as_much_is_current(door: Engram) -> None:
    slot: dict[str, Any] = {"critical_slot": "policy:tone", "topic_key": "tone"}
    door.add("The tone of the agent is formal", **slot, trust="operator")
    ada = door.scoped(user_id="ada")
    ada.add("The tone of ada is cheerful", **slot)
    shown = {one.fact for one in ada.recall_critical().results}
    assert shown == {"The tone of the agent is formal", "The tone of ada is cheerful"}, "the operator is never hidden"
    bob = door.scoped(user_id="bob", namespace="alpha")
    bob.add("The tone of bob is terse", **slot, namespace="default")
    bob.add("The tone of bob is warm", **slot)
    hits = {one.memory.fact: "shadowed" in one.labels for one in bob.search("tone of bob and the agent", limit=50)}
    assert hits["The tone of bob is warm"] is False
    assert hits["The tone of bob is terse"] is True
    assert hits["The tone of the agent is formal"] is False
    assert "The tone of bob is terse" not in {one.fact for one in bob.recall_critical().results}
