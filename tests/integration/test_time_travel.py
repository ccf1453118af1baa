"""Time travel: every read, at any moment of the two axes of time, gives what an Engram of that moment would have."""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg
import pytest
from quiet import quiet

from engram import AsyncEngram, Conflict, Engram, InvalidInput, NotFound, Scope
from engram.client import AsyncOps, Ops
from engram.embedded import EmbeddedServer
from engram.recall import finding

MOMENTS: Final = {"as_of", "known_at"}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No channel is given up, however busy the machine is."""
    monkeypatch.setattr(finding, "TIMEOUTS", dict.fromkeys(finding.TIMEOUTS, 30.0))


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder="none") as door:
        yield quiet(door)


@pytest.fixture
def superuser(server: EmbeddedServer, database_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection that no wall stops, to do what no door does yet."""
    plain = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(plain, autocommit=True) as conn:
        yield conn


# Every read ----------------------------------------------------------------------------------------------------------

# Calls that write, and reads that have no moment: why.
WRITES: Final = (
    "add", "add_many", "annotate", "delete", "delete_all", "end_session", "end_validity", "endorse", "forget",
    "forget_task",
    "record_event", "record_long_input", "record_turn", "reinforce", "feedback", "relate", "relate_batch", "remember",
    "restore", "restore_task",
    "resume_task", "revise", "save_checkpoint", "start_task", "unrelate", "update", "update_task",
    "ops.cancel_job", "ops.drop_replay", "ops.import_", "ops.redact_event", "ops.erase", "ops.apply_redactions",
    "ops.reembed", "ops.reindex_words", "ops.calibrate",
    "ops.replay", "ops.retry_job", "ops.run_jobs", "ops.switch_replay", "ops.archive",
    "ops.consolidate", "ops.prune", "ops.set_layer", "ops.undo",
    "ops.rebuild_topics", "merge", "ops.merge_similar", "ops.consolidate_summaries", "ops.audit",
)  # fmt: skip
WITHOUT_A_MOMENT: Final = {
    "list_topics": "shows an index of now",
    "get_topics": "shows an index of now",
    "ops.find_clusters": "says what a run would make of the present",
    "scoped": "opens another door",
    "session": "opens another door",
    "close": "closes the door",
    "render_graph_context": "prints what was read before",
    "follow": "goes on from a mark into the future",
    "verify_citation": "compares with what is stored",
    "health": "looks at the server and the models",
    "stats": "counts what is stored, for who runs it",
    "ops.usage": "counts calls of models",
    "ops.doctor": "looks at the server",
    "ops.export": "writes everything, with its history",
    "ops.list_models": "lists the models there are",
    "ops.list_jobs": "lists work to be done",
    "ops.list_runs": "lists what was done",
    "ops.audit_log": "lists what was done",
    "ops.decay": "what time has left is asked for now",
    "ops.simulate_policy": "derives past events in a projection of its own",
    "ops.backlog": "lists work to be done",
    "ops.compare_replay": "compares two projections of the present",
    "ops.list_replays": "lists the projections there are",
    "ops.list_recalls": "a log has its own moments",
    "ops.get_recall": "a log has its own moments",
    "ops.replay_recall": "reads at the moment of the recall",
}


def public(door: type[object], prefix: str = "") -> dict[str, inspect.Signature]:
    return {
        f"{prefix}{name}": inspect.signature(method)
        for name, method in inspect.getmembers(door, inspect.isfunction)
        if not name.startswith("_")
    }


def takes_a_moment(signature: inspect.Signature) -> bool:
    return any(
        set(getattr(parameter.annotation, "__args__", [object])[0].__annotations__) >= MOMENTS
        if parameter.kind is parameter.VAR_KEYWORD and not isinstance(parameter.annotation, str)
        else "Unpack[Read]" in str(parameter.annotation)
        for parameter in signature.parameters.values()
    )


@pytest.mark.parametrize(("door", "ops"), [(Engram, Ops), (AsyncEngram, AsyncOps)])
def test_every_read_takes_both_moments(door: type[object], ops: type[object]) -> None:
    """Another public call must be said to write, or to have no moment, and why; or it takes both."""
    without = {
        name for name, signature in (public(door) | public(ops, "ops.")).items() if not takes_a_moment(signature)
    }
    assert without == {*WRITES, *WITHOUT_A_MOMENT}


# A model of the two axes ---------------------------------------------------------------------------------------------

DAY: Final = timedelta(days=1)
LONG_AGO: Final = datetime(2015, 1, 1, tzinfo=UTC)
DAYS: Final = [LONG_AGO + 300 * DAY * n for n in range(8)]
TRUSTS: Final = ("operator", "user", "agent", "tool", "document", "web")
COLOURS: Final = ("red", "blue", "green", "white", "black", "grey")
PARTS: Final = ("mast", "keel", "sail")

Order = tuple[int, datetime, datetime, str]  # how far trusted, the most is biggest; valid_from, recorded_at, event
Edge = tuple[str, str]


@dataclass
class Row:
    """What the model knows of a memory: its statements, and what was done to it, all in the order of recording."""

    memory_id: str
    lineage_id: str
    said: list[Order] = field(default_factory=list)
    vouched: int | None = None  # how far somebody trusts it who vouched for it
    gone: str | None = None
    archived: bool = False
    put_away_at: datetime | None = None
    expires_at: datetime | None = None
    ended_at: datetime | None = None
    pinned: bool = False

    def stands(self, as_of: datetime | None) -> Order | None:
        """The latest of its best trusted statements of times until then; None where there was none.

        A row that is trusted more than all of them was vouched for.
        """
        stands = max((one for one in self.said if as_of is None or one[1] <= as_of), default=None)
        if stands is None or self.vouched is None or self.vouched <= max(self.said)[0]:
            return stands
        return (self.vouched, *stands[1:])


class World:
    """Rows by id; what the order of statements, written anew, says is current of them at a moment."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.edges: list[tuple[datetime, Edge, float | None]] = []  # since when, in the order of recording

    def copy(self) -> World:
        made = World()
        made.rows = {name: replace(row, said=list(row.said)) for name, row in self.rows.items()}
        made.edges = list(self.edges)
        return made

    def lineage(self, lineage_id: str) -> list[Row]:
        return [row for row in self.rows.values() if row.lineage_id == lineage_id]

    def head(self, lineage_id: str, as_of: datetime | None) -> Row | None:
        """Of the most trusted the latest; nothing where that one was put away."""
        members = [
            (stands, row)
            for row in self.lineage(lineage_id)
            if row.gone is None and (stands := row.stands(as_of)) is not None
        ]
        _, head = max(members, key=lambda one: one[0], default=(None, None))
        if head is None or head.archived:
            return None
        return head if head.put_away_at is None or (as_of is not None and head.put_away_at > as_of) else None

    def relations(self, as_of: datetime | None) -> dict[Edge, float]:
        state = {edge: weight for since, edge, weight in self.edges if as_of is None or since <= as_of}
        return {edge: weight for edge, weight in state.items() if weight is not None}

    def neighbours(self, memory_id: str, as_of: datetime | None, now: datetime) -> set[str]:
        """The other ends of its relations that are current."""
        ends = {one for edge in self.relations(as_of) if memory_id in edge for one in edge} - {memory_id}
        return ends & self.current(as_of, now)

    def current(self, as_of: datetime | None, now: datetime) -> set[str]:
        at = as_of or now
        heads = (self.head(name, as_of) for name in {row.lineage_id for row in self.rows.values()})
        return {
            row.memory_id
            for row in heads
            if row is not None
            and (row.expires_at is None or row.expires_at > at)
            and (row.ended_at is None or row.ended_at > at)
        }


class History:
    """A random history, told to a door and to the model; the model keeps a copy of itself for every moment between."""

    def __init__(self, door: Engram, superuser: psycopg.Connection[Any], dice: random.Random) -> None:
        self.door, self.superuser, self.dice = door, superuser, dice
        self.world = World()
        self.past: list[tuple[datetime, World]] = [(datetime.now(UTC), World())]

    def step(self) -> None:
        others = (
            self.revise,
            self.replace,
            self.forget,
            self.retract,
            self.restore,
            self.expire,
            self.end,
            self.endorse,
            self.archive,
        )
        act = self.dice.choice([self.add] * 6 + [*others]) if self.world.rows else self.add
        act()
        self.past.append((datetime.now(UTC), self.world.copy()))

    def any(self) -> str:
        return self.dice.choice(list(self.world.rows))

    def add(self) -> None:
        dice = self.dice
        part, colour, trust = dice.choice(PARTS), dice.choice(COLOURS), dice.choice(TRUSTS)
        when = dice.choice([*DAYS, None])
        told: dict[str, Any] = {} if when is None else {"valid_from": when}
        self.told(
            self.door.add(f"The {part} of the boat is {colour}", topic_key=part, trust=trust, **told), when, trust
        )

    def revise(self) -> None:
        when = self.dice.choice([*DAYS, None])
        told: dict[str, Any] = {} if when is None else {"valid_from": when}
        trust = self.dice.choice(TRUSTS)
        fact = f"The boat is {self.dice.choice(COLOURS)} and {self.dice.choice(COLOURS)}"
        try:
            decision = self.door.revise(self.any(), fact, trust=trust, **told)
        except Conflict:
            return
        self.told(decision, when, trust)

    def told(self, decision: Any, when: datetime | None, trust: str) -> None:
        assert decision.kind in ("add", "revise", "reinforce", "conflict"), decision
        memory = decision.memory or decision.target
        event = self.door.get_event(decision.event_id)
        rank = TRUSTS.index(trust)
        row = self.world.rows.get(memory.memory_id)
        if row is None:
            row = self.world.rows[memory.memory_id] = Row(memory.memory_id, memory.lineage_id)
        row.said.append((-rank, when or event.occurred_at, event.recorded_at, event.event_id))

    def forget(self) -> None:
        named = self.world.rows[self.any()]
        self.door.forget(named.memory_id)
        for row in self.world.lineage(named.lineage_id):
            row.gone = row.gone or "forgotten"

    def retract(self) -> None:
        row = self.world.rows[self.any()]
        self.door.forget(row.memory_id, revision_only=True)
        row.gone = row.gone or "retracted"

    def restore(self) -> None:
        named = self.world.rows[self.any()]
        self.door.restore(named.memory_id)
        if named.gone == "forgotten":
            for row in self.world.lineage(named.lineage_id):
                row.gone = None if row.gone == "forgotten" else row.gone
        elif named.gone == "retracted":
            named.gone = None
        else:
            named.archived = False

    def expire(self) -> None:
        row = self.world.rows[self.any()]
        at = self.dice.choice([*DAYS, datetime.now(UTC) + DAY, None])
        self.door.annotate(row.memory_id, expires_at=at)
        row.expires_at = at

    def end(self) -> None:
        row = self.world.rows[self.any()]
        at = self.dice.choice(DAYS)
        try:
            self.door.end_validity(row.memory_id, at)
        except InvalidInput:
            return  # it begins later
        row.ended_at = at

    def endorse(self) -> None:
        row = self.world.rows[self.any()]
        trust = self.dice.choice(("operator", "user"))
        try:
            self.door.endorse(row.memory_id, trust)
        except Conflict:
            return  # it is put away
        rank = -TRUSTS.index(trust)
        row.vouched = rank if row.vouched is None else max(row.vouched, rank)

    def archive(self) -> None:
        """As pruning will: no door does it yet."""
        row = self.world.rows[self.any()]
        if row.gone is None and not row.archived:
            self.set(row, "status = 'archived'", "archived")
            row.archived = True

    def replace(self) -> None:
        """Another memory takes the place of a current one by name."""
        current = sorted(self.world.current(None, datetime.now(UTC)))
        if not current:
            return
        old = self.world.rows[self.dice.choice(current)]
        decision = self.door.add(f"Boat number {len(self.world.rows)}", supersedes=[old.memory_id], trust="operator")
        self.told(decision, None, "operator")
        old.put_away_at = self.door.get(old.memory_id).superseded_at

    def pin(self) -> None:
        row = self.world.rows[self.any()]
        row.pinned = not row.pinned
        self.door.annotate(
            row.memory_id,
            critical_slot=row.memory_id if row.pinned else None,
            tags=["trigger:launch"] if row.pinned else [],
        )

    def relate(self) -> None:
        ends = [row.memory_id for row in self.world.rows.values() if row.gone is None]
        if len(ends) > 1:
            source, target = self.dice.sample(ends, 2)
            told, weight = self.at(), round(self.dice.uniform(0.1, 1), 2)
            made = self.door.relate(source, target, "causes", weight=weight, **told)
            self.related((made.source_id, made.target_id), told, weight)

    def unrelate(self) -> None:
        standing = [
            edge for edge in self.world.relations(None) if all(self.world.rows[one].gone is None for one in edge)
        ]
        if standing:
            edge, told = self.dice.choice(sorted(standing)), self.at()
            self.door.unrelate(*edge, "causes", **told)
            self.related(edge, told, None)

    def at(self) -> dict[str, Any]:
        when = self.dice.choice([*DAYS, None, None, None])
        return {} if when is None else {"occurred_at": when}

    def related(self, edge: Edge, told: dict[str, Any], weight: float | None) -> None:
        event = self.door.list_events(newest_first=True, limit=1)[0]
        self.world.edges.append((told.get("occurred_at", event.recorded_at), edge, weight))

    def set(self, row: Row, change: str, entry: str) -> None:
        with self.superuser.transaction():
            self.superuser.execute(
                f"UPDATE engram.agent_memory m SET {change} WHERE memory_id = %s",  # type: ignore[arg-type]
                (row.memory_id,),
            )
            self.superuser.execute(
                "INSERT INTO engram.memory_changes (tenant_id, memory_id, scope_id, entry, status, state)"
                " SELECT m.tenant_id, m.memory_id, m.scope_id, %s, m.status, engram.memory_state(m)"
                " FROM engram.agent_memory m WHERE m.memory_id = %s", (entry, row.memory_id),
            )  # fmt: skip


def ids(found: Any) -> list[str]:
    return [getattr(one, "memory", one).memory_id for one in found]


def compare(door: Engram, world: World, as_of: datetime | None, known_at: datetime | None, dice: random.Random) -> None:
    """Every read at a moment finds what the model holds current there."""
    read: dict[str, Any] = {name: at for name, at in (("as_of", as_of), ("known_at", known_at)) if at is not None}
    now = known_at or datetime.now(UTC)
    current = world.current(as_of, now)
    assert set(ids(door.list_memories(limit=200, **read))) == current
    told = door.timeline(limit=200, **read).memories
    assert {one.memory_id for one in told if one.is_current} == current
    pinned = {name for name in current if world.rows[name].pinned}
    assert set(ids(door.recall_critical(**read))) == pinned
    assert set(ids(door.recall_trigger("launch", **read))) == pinned
    assert [one.memories for one in door.list_triggers(**read)] == ([len(pinned)] if pinned else [])
    for mode in ("keyword", "hybrid"):
        results = door.search("boat", mode=mode, limit=100, tail=False, track=False, depth=dice.randint(0, 2), **read)
        assert {one.memory.memory_id for one in results if "since_forgotten" not in one.labels} == current
    narrowed = door.search("boat", filter={"critical": True}, limit=100, tail=False, track=False, **read)
    assert {one.memory.memory_id for one in narrowed if "since_forgotten" not in one.labels} == pinned
    with_all = door.search("boat", include_superseded=True, limit=100, tail=False, track=False, **read)
    assert {one.memory.memory_id for one in with_all if not one.labels} <= current
    printed = door.build_context("boat", max_tokens=8_000, **read)
    assert {one for mark, one in printed.citations.items() if mark.startswith("mem-")} <= current
    name = dice.choice(list(world.rows)) if world.rows else None
    if name is None:
        return
    row = world.rows[name]
    head = {one.memory_id for one in world.lineage(row.lineage_id)} & current
    told = as_of is None or any(one.stands(as_of) for one in world.lineage(row.lineage_id) if one.gone != "retracted")
    if told:
        line = door.get_lineage(name, **read)
        assert ({line.head.memory_id} if line.head else set()) == head
        assert all((one.memory_id in head) == one.is_current for one in line.revisions)
    else:
        with pytest.raises(NotFound):
            door.get_lineage(name, **read)
    if row.gone is None and row.stands(as_of):
        around = world.neighbours(name, as_of, now)
        walk: dict[str, Any] = {"relation_types": ["causes"], **read}
        assert set(ids(door.traverse(name, max_depth=1, direction="any", **walk))) == around
        assert set(ids(door.traverse_many([name], max_depth=1, **walk))) == around
        for other in around:
            path = door.find_path(name, other, max_depth=1, **read)
            assert path is not None
            assert path.path == (name, other)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 40))])
def test_what_is_current_at_any_moment_is_what_the_model_says(ada: Engram, superuser: Any, seed: int) -> None:
    dice = random.Random(seed)
    history = History(ada, superuser, dice)
    for _ in range(40):
        history.step()
    compare(ada, history.world, None, None, dice)
    compare(ada, history.world, datetime.now(UTC), None, dice)
    for _ in range(8):
        mark, world = dice.choice(history.past)
        as_of = dice.choice([None, *DAYS, DAYS[3] + DAY, datetime.now(UTC)])
        compare(ada, world, as_of, mark, dice)
        compare(ada, history.world, dice.choice(DAYS), None, dice)


def test_what_was_forgotten_since_hides_nothing_that_stands(ada: Engram) -> None:
    """A value told late, after a later one was forgotten, is current as of today as it is today."""
    late = ada.add("The mast of the boat is red", topic_key="mast", valid_from=DAYS[5]).memory
    ada.forget(late.memory_id)
    early = ada.add("The mast of the boat is blue", topic_key="mast", valid_from=DAYS[3]).memory
    for as_of in (None, DAYS[4], DAYS[6], datetime.now(UTC)):
        read: dict[str, Any] = {} if as_of is None else {"as_of": as_of}
        assert ada.get_current(topic_key="mast", **read).memory_id == early.memory_id
    assert ada.get(late.memory_id, as_of=DAYS[6]).labels == ("since_forgotten",)


def test_a_claim_that_a_later_one_displaced_is_superseded_as_of_any_moment_too(ada: Engram) -> None:
    said = [("red", "user"), ("blue", "web"), ("green", "web")]
    made = [ada.add(f"The mast of the boat is {colour}", topic_key="mast", trust=trust, valid_from=day).memory
            for (colour, trust), day in zip(said, DAYS, strict=False)]  # fmt: skip
    for read in ({}, {"as_of": datetime.now(UTC)}):
        statuses = [ada.get(one.memory_id, **read).status for one in made]
        assert statuses == ["active", "superseded", "contested"]
    assert [ada.get(one.memory_id, as_of=DAYS[1]).status for one in made[:2]] == ["active", "contested"]


# What was known then -------------------------------------------------------------------------------------------------


def shown(door: Engram, at: datetime | None, names: list[str]) -> dict[str, Any]:
    """The ids that some fifty reads give, of now or as known at a moment."""
    read: dict[str, Any] = {} if at is None else {"known_at": at}
    found: dict[str, Any] = {}
    for sort in ("recent", "oldest", "importance"):
        found[f"list {sort}"] = ids(door.list_memories(sort=sort, limit=200, **read))  # type: ignore[arg-type]
    found["list all"] = ids(door.list_memories({"statuses": ["superseded", "contested"]}, limit=200, **read))
    found["critical"] = ids(door.recall_critical(**read))
    found["trigger"] = ids(door.recall_trigger("launch", **read))
    found["history"] = [(one.entry, one.memory.memory_id) for one in door.get_history(limit=200, **read)]
    found["timeline"] = [(one.memory_id, one.status) for one in door.timeline(limit=200, **read).memories]
    found["decisions"] = [(one.kind, one.event_id) for one in door.list_decisions(limit=200, **read)]
    asked: tuple[dict[str, Any], ...] = ({"include_superseded": False}, {"filter": {"tags_all": ["trigger:launch"]}})
    for place, more in enumerate(asked):
        entries = door.get_history(limit=200, **more, **read)
        found[f"history {place}"] = [(one.entry, one.memory.memory_id) for one in entries]
    found["events"] = [one.event_id for one in door.list_events(newest_first=True, limit=200, **read)]
    for query in ("boat", "mast", "keel", "sail"):
        for mode in ("keyword", "hybrid"):
            found[f"{mode} {query}"] = set(
                ids(door.search(query, mode=mode, limit=100, tail=False, track=False, **read))  # type: ignore[arg-type]
            )
        found[f"deep {query}"] = set(ids(door.deep_search(query, limit=100, tail=False, track=False, **read)))
        found[f"said {query}"] = {one.event.event_id for one in door.search_events(query, limit=100, **read)}
        found[f"recall {query}"] = door.recall(
            f"What is the {query} like?", track=False, tail=False, **read
        ).answer_text
    for name in names[:8]:
        memory = door.get(name, **read)
        line = door.get_lineage(name, **read)
        found[f"get {name}"] = (memory.status, memory.labels, memory.critical_slot, memory.tags, memory.trust)
        why = door.explain_memory(name, **read)
        found[f"why {name}"] = (why.supersedes, why.superseded_by, [one.event_id for one in why.decisions])
        found[f"about {name}"] = ids(door.timeline(around=name, limit=3, **read).memories)
        found[f"line {name}"] = (ids(line.revisions), line.head and line.head.memory_id, ids(line.contested))
        if memory.status != "deleted":
            found[f"links {name}"] = [(one.source_id, one.target_id) for one in door.list_relations(name, **read)]
            found[f"walk {name}"] = ids(door.traverse(name, direction="any", **read))
    for part in PARTS:
        with suppress(NotFound):
            found[f"topic {part}"] = ids(door.get_lineage(topic_key=part, **read).revisions)
    return found


@pytest.mark.parametrize("seed", [100, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(101, 110))])
def test_what_was_read_then_is_read_again_as_known_then(ada: Engram, superuser: Any, seed: int) -> None:
    history = History(ada, superuser, random.Random(seed))
    for _ in range(30):
        history.step()
    names = sorted(history.world.rows)
    before = shown(ada, None, names)
    mark = datetime.now(UTC)
    for _ in range(30):
        history.step()
    assert shown(ada, None, names) != before
    again = shown(ada, mark, names)
    assert len(before) >= 45
    assert {name: value for name, value in again.items() if before.get(name) != value} == {}
    assert again == before


def test_a_page_of_events_is_filled_with_those_that_were_known_then(ada: Engram) -> None:
    said = [ada.record_event(f"early {number}", derive="skip").event_ids[0] for number in range(5)]
    mark = datetime.now(UTC)
    for number in range(5):
        ada.record_event(f"late {number}", derive="skip")
    found = [event.event_id for event in ada.list_events(newest_first=True, limit=3, known_at=mark)]
    assert found == said[:1:-1]


def test_events_as_of_a_moment_are_those_that_had_happened(ada: Engram) -> None:
    before, after = (
        ada.record_event("The boat sailed", occurred_at=at, derive="skip").event_ids[0] for at in (DAYS[1], DAYS[3])
    )
    assert [event.event_id for event in ada.list_events(as_of=DAYS[2])] == [before]
    assert ada.get_event(before, as_of=DAYS[2]).event_id == before
    with pytest.raises(NotFound):
        ada.get_event(after, as_of=DAYS[2])


def test_an_event_is_waited_for_and_cited_where_it_is_read(ada: Engram) -> None:
    """At a moment when it had not happened, or was not recorded, and in a run that is forgotten, it is not there."""
    mark = datetime.now(UTC)
    run = ada.start_task("Sail the boat").task_run_id
    receipt = ada.record_event("The boat sailed", occurred_at=DAYS[3], task_run_id=run)
    event_id = receipt.event_ids[0]
    calls = (ada.get_event, ada.wait_for, ada.cite)
    reads: tuple[dict[str, Any], ...] = ({}, {"as_of": DAYS[4]}, {"known_at": datetime.now(UTC)})
    for call in calls:
        for read in reads:
            call(event_id, **read)
        for earlier in ({"as_of": DAYS[2]}, {"known_at": mark}):
            for name in (event_id, f"evt-{event_id[-8:]}"):
                with pytest.raises(NotFound):
                    call(name, **earlier)
    with pytest.raises(NotFound):
        ada.wait_for(receipt, as_of=DAYS[2])
    ada.forget_task(run)
    for call in calls:
        with pytest.raises(NotFound):
            call(event_id)


def test_a_history_known_then_is_narrowed_by_what_stood_then(ada: Engram) -> None:
    paris = ada.add("The office is in Paris", topic_key="office", tags=["x"]).memory
    assert paris is not None
    mark = datetime.now(UTC)
    ada.add("The office is in Rome", topic_key="office")
    ada.annotate(paris.memory_id, tags=["y"])

    def told(**asked: Any) -> list[tuple[str, str]]:
        return [(one.entry, one.memory.memory_id) for one in ada.get_history(known_at=mark, **asked)]

    for asked in ({}, {"memory_id": paris.memory_id}, {"filter": {"memory_ids": [paris.memory_id]}}):
        assert told(include_superseded=False, **asked) == [("added", paris.memory_id)]
    assert told(filter={"tags_all": ["x"]}) == [("added", paris.memory_id)]
    assert told(filter={"tags_all": ["y"]}) == []
    assert "Paris" not in repr(ada.get_history(include_superseded=False))


def test_a_history_known_then_reads_on_to_the_end_of_a_page(ada: Engram) -> None:
    """However far apart the changes stand that a filter leaves, and over pages."""
    kept = [ada.add(f"The mast is {colour}", tags=["mast"]).memory for colour in COLOURS[:3]]
    for number in range(40):
        ada.add(f"The keel has rib {number}")
    mark = datetime.now(UTC)
    for memory in kept:
        assert memory is not None
        ada.annotate(memory.memory_id, tags=[])
    asked: dict[str, Any] = {"filter": {"tags_all": ["mast"]}, "known_at": mark}
    first = ada.get_history(limit=2, **asked)
    rest = ada.get_history(limit=2, cursor=first.cursor, **asked)
    assert [one.memory.fact for one in (*first, *rest)] == [f"The mast is {colour}" for colour in COLOURS[2::-1]]
    assert rest.cursor is None


def test_an_explanation_known_then_tells_nothing_that_came_later(ada: Engram) -> None:
    mast, keel, sail = (ada.add(f"The {part} is new").memory for part in PARTS)
    assert mast is not None
    assert keel is not None
    assert sail is not None
    whole = ada.add("The boat is new", supersedes=[mast.memory_id]).memory
    assert whole is not None
    marks = [datetime.now(UTC)]
    ada.add("The boat is new")
    run = ada.merge([whole.memory_id, keel.memory_id], "The boat and the keel are new")
    joined = ada.get_current(whole.memory_id).memory_id
    marks.append(datetime.now(UTC))
    ada.ops.undo(run.run_id)
    told = [ada.explain_memory(whole.memory_id, known_at=at) for at in marks]
    assert [one.supersedes for one in told] == [(mast.memory_id,)] * 2
    assert [[decision.kind for decision in one.decisions] for one in told] == [["add"], ["add", "reinforce"]]
    assert [one.superseded_by for one in told] == [None, joined]
    assert set(ada.explain_memory(joined, known_at=marks[1]).supersedes) == {whole.memory_id, keel.memory_id}
    assert ada.explain_memory(whole.memory_id).supersedes == (mast.memory_id,)


def test_a_context_of_the_past_prints_nothing_that_was_forgotten_since(ada: Engram) -> None:
    gone = ada.add("The mast of the boat is red", topic_key="mast", valid_from=DAYS[2]).memory
    kept = ada.add("The keel of the boat is blue", topic_key="keel", valid_from=DAYS[2]).memory
    assert gone is not None
    assert kept is not None
    ada.forget(gone.memory_id)
    found = {one.memory.memory_id: one.labels for one in ada.search("boat", as_of=DAYS[3], track=False)}
    assert "since_forgotten" in found[gone.memory_id]
    assert found[kept.memory_id] == ()
    block = ada.build_context("boat", as_of=DAYS[3])
    assert kept.fact in block.text
    assert gone.fact not in block.text


def test_a_topic_told_nearer_since_does_not_hide_the_farther_one_of_then(ada: Engram) -> None:
    agent = ada.scoped(user_id=None)
    shared = agent.add("The mast of the boat is red", topic_key="mast").memory
    assert shared is not None
    mark = datetime.now(UTC)
    assert ada.get_current(topic_key="mast").memory_id == shared.memory_id
    own = ada.add("The mast of the boat is blue", topic_key="mast").memory
    assert own is not None
    assert ada.get_current(topic_key="mast").memory_id == own.memory_id
    assert ada.get_current(topic_key="mast", known_at=mark).memory_id == shared.memory_id
