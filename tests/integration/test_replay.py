"""Replay: memories derived again beside the live ones, compared with them, switched to, and back."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import groupby, product
from typing import Any, Final

import psycopg
import pytest
from quiet import quiet

from engram import (
    ALL_USERS,
    Conflict,
    Edit,
    Engram,
    InvalidInput,
    NotFound,
    Reject,
    ReplayDiff,
    Scope,
    get_policy,
    projection,
)
from engram.database import Database, fetch_all
from engram.derivation import rules
from engram.derivation.llm import Extraction
from engram.embedded import EmbeddedServer
from engram.operations import replaying
from engram.projection import Standing
from engram.settings import load
from engram.testing import Asked, ScriptedModel
from engram.values import Activity

EVERY: Final = {"statuses": ["active", "superseded", "contested", "archived", "deleted", "quarantined"]}
DEFAULT: Final = get_policy("default")
ALTERED: Final = replace(
    DEFAULT, version=DEFAULT.version + 1,
    slot_rules=tuple(rule for rule in DEFAULT.slot_rules if rule.name != "current_city"),
)  # fmt: skip


def conversation() -> list[dict[str, Any]]:
    """The demo's conversation; its messages have ids, so that two tenants can hear the very same events."""
    lines = [json.loads(line) for line in (files("engram") / "demo" / "conversation.jsonl").read_text().splitlines()]
    return [{**line, "occurred_at": datetime.fromisoformat(line["occurred_at"])} for line in lines]


def hear(door: Engram, said: list[dict[str, Any]]) -> None:
    """Tell a door a conversation, session by session."""
    for session, lines in groupby(said, key=lambda line: line["session_id"]):
        messages = [{name: value for name, value in line.items() if name != "session_id"} for line in lines]
        door.remember(messages, session_id=session)  # type: ignore[arg-type]


def held(database: Database, tenant: str) -> dict[str, Standing]:
    """What the live memories of a tenant's only scope hold, read past the doors."""
    with database.transaction(tenant) as conn:
        [scope] = conn.exec_driver_sql("SELECT scope_id FROM engram.memory_scopes").fetchall()
        rows = fetch_all(conn, "list_projection", tenant_id=tenant, scope_id=scope.scope_id, digit="7")
        return projection.standings(dict(row._mapping) for row in rows)


def told(diff: ReplayDiff) -> str:
    """A difference as a failing test should show it."""
    changes = [(one.before.fact, one.reasons) for one in diff.changed]
    added, dropped = [one.fact for one in diff.added], [one.fact for one in diff.dropped]
    return f"{diff.counts} changed {changes} added {added} dropped {dropped} problems {diff.problems}"


def everything(door: Engram, **read: Any) -> str:
    """All that a door shows, as it is, but for how often it was read."""
    memories = sorted(
        (replace(one, activity=Activity()) for one in door.list_memories(EVERY, limit=200, **read)),
        key=lambda one: one.memory_id,
    )
    found = [(one.memory.memory_id, round(one.score, 3)) for one in door.search("Where is it?", track=False, **read)]
    return repr((memories, found, [one.memory_id for one in door.recall_critical(**read).results]))


def parted(one: str, other: str) -> str:
    """Where two texts part, with what is around it; nothing when they are equal."""
    if one == other:
        return ""
    place = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return f"{one[max(0, place - 300) : place + 100]!r}\n  against\n{other[max(0, place - 300) : place + 100]!r}"


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="lena")) as opened:
        yield opened


@pytest.fixture
def open_door(database_url: str) -> Iterator[Callable[..., Engram]]:
    made: list[Engram] = []

    def open_(tenant: str, **given: Any) -> Engram:
        made.append(Engram(database_url, scope=Scope(tenant, user_id="lena"), **given))
        return made[-1]

    yield open_
    for one in made:
        one.close()


# The demo -------------------------------------------------------------------------------------------------------------


def test_the_demo_is_the_same_by_the_same_rules_and_differs_by_others_as_it_truly_does(
    door: Engram, open_door: Callable[..., Engram], database: Database, tenant: str
) -> None:
    hear(door, conversation())
    live = held(database, tenant)
    assert len(live) > 400
    steps: list[tuple[int, int]] = []
    diff = door.ops.replay(progress=lambda done, of: steps.append((done, of)))
    assert diff.is_same, told(diff)
    assert diff.counts == {"added": 0, "dropped": 0, "changed": 0, "same": len(live), "problems": 0}, told(diff)
    assert diff.live_hash == diff.shadow_hash == projection.digest(live)
    assert steps == sorted(steps)
    assert len(steps) > 2

    other = f"{tenant}-truth"
    hear(open_door(other, policy=ALTERED), conversation())
    truth = held(database, other)
    diff = door.ops.replay(policy=ALTERED)
    assert diff.shadow_hash == projection.digest(truth) != diff.live_hash, told(diff)
    # Two tenants have no id in common: a memory is told by what it says and what it rests on.
    mine = {(one.says["fact"], repr(one.says["citations"])): one for one in live.values()}
    other_way = {(one.says["fact"], repr(one.says["citations"])): one for one in truth.values()}
    assert len(mine) == len(live)
    assert mine.keys() == other_way.keys()
    true = {mine[one].memory_id: projection.differences(mine[one], other_way[one]) for one in mine}
    assert {one.before.memory_id: one.reasons for one in diff.changed} == {one: why for one, why in true.items() if why}
    assert (diff.added, diff.dropped) == ((), ())
    cities = [one for one in diff.changed if "profile:current_city" in (one.before.conflict_key or "")]
    assert cities
    assert all(one.after.conflict_key is None and "conflict_key" in one.reasons for one in cities)
    assert held(database, tenant) == live, "a replay leaves the live memories alone"


# Switching ------------------------------------------------------------------------------------------------------------

SAID: Final = (
    "I live in Ottawa. I am allergic to peanuts.", "My manager is Dana Reyes. I like rye bread.",
    "I moved to Toronto. We decided to use PostgreSQL for the billing service.", "I live in Bergen now.",
    "My name is Lena. I hate early meetings.",
)  # fmt: skip


def test_a_switch_answers_by_the_new_rules_keeps_every_id_and_goes_back(
    door: Engram, database: Database, tenant: str
) -> None:
    for said in SAID[:3]:
        door.remember(said)
    tea = door.add("User drinks tea", tags=["drink"])
    assert tea.memory is not None
    then = datetime.now(UTC)
    known = everything(door, known_at=then)
    door.remember(SAID[3])
    before, live = everything(door), held(database, tenant)
    every = [one.memory_id for one in door.list_memories(EVERY, limit=200)]
    assert door.get_current(every[0]) or True

    same = door.ops.replay()
    assert same.is_same, told(same)
    door.ops.switch_replay(same.shadow_id)
    assert not parted(plainly(everything(door)), plainly(before))
    assert not parted(plainly(everything(door, known_at=then)), plainly(known))
    assert held(database, tenant) == live

    diff = door.ops.replay(policy=ALTERED)
    assert not diff.is_same
    cities = {one.fact for one in door.list_memories() if one.memory_type == "profile" and "lives" in one.fact}
    assert cities == {"User lives in Bergen now"}
    assert door.ops.switch_replay(diff.shadow_id, policy=ALTERED, reason="cities are no slot").state == "former"
    current = {one.fact for one in door.list_memories()}
    assert {"User lives in Ottawa", "User lives in Bergen now", "User drinks tea"} <= current
    assert [door.get(one).memory_id for one in every if door.find(one) is not None] == every
    assert door.get(f"mem-{tea.memory.memory_id[-8:]}").tags == ("drink",)
    assert door.search("Where does Lena live?")
    door.revise(tea.memory.memory_id, "User drinks green tea")

    with pytest.raises(Conflict, match="another policy"):
        door.ops.switch_replay(diff.shadow_id, policy=ALTERED)
    assert door.ops.switch_replay(diff.shadow_id).state == "ready"
    assert {one.fact for one in door.list_memories()} & {"User lives in Ottawa", "User drinks tea"} == set()
    assert door.get_current(tea.memory.memory_id).fact == "User drinks green tea"
    door.forget(tea.memory.memory_id)
    again = door.ops.replay(policy=ALTERED)
    assert again.shadow_id != diff.shadow_id
    [back] = [one for one in door.ops.list_replays() if one.shadow_id == same.shadow_id]
    assert back.state == "former"
    switches = [event for event in door.list_events(limit=200) if event.event_type == "projection_switched"]
    assert [event.payload["policy"] for event in switches] == ["default@1", "default@2", "default@1"]
    assert door.ops.verify_ledger().ok


def plainly(said: str) -> str:
    """What was shown without the clocks of the rows: derived again, a memory is known since its event was."""
    return re.sub(r"(recorded_at|superseded_at)=datetime.datetime\([^)]*\)|tzinfo=[^)]*\)", "", said)


def test_going_back_restores_every_memory_as_it_was(door: Engram, database: Database, tenant: str) -> None:
    for said in SAID:
        door.remember(said)
    live, shown = held(database, tenant), everything(door)
    diff = door.ops.replay(policy=ALTERED)
    for times in range(2):
        door.ops.switch_replay(diff.shadow_id, policy=ALTERED)
        assert projection.digest(held(database, tenant)) == diff.shadow_hash, times
        door.ops.switch_replay(diff.shadow_id)
        assert held(database, tenant) == live, times
        assert not parted(everything(door), shown), times
    assert door.ops.drop_replay(diff.shadow_id) == diff.same + diff.counts["changed"] + diff.counts["added"]
    assert door.ops.list_replays() == ()
    with pytest.raises(NotFound):
        door.ops.compare_replay(diff.shadow_id)


# What people did ------------------------------------------------------------------------------------------------------


class Hand:
    """Somebody who changes memories at random."""

    def __init__(self, door: Engram, seed: int) -> None:
        self.door, self.random = door, random.Random(seed)

    def pick(self) -> str:
        return self.random.choice(list(self.door.list_memories(EVERY, limit=200))).memory_id

    def change(self) -> None:
        """One change; one that is refused is none."""
        what = self.random.choice([name for name in dir(self) if name.startswith("do_")])
        with suppress(Conflict, NotFound, InvalidInput):
            getattr(self, what)()

    def do_say(self) -> None:
        self.door.remember(self.random.choice(SAID))

    def do_add(self) -> None:
        fact = f"User owns {self.random.randint(1, 5)} bicycles"
        key: Any = self.random.choice([{}, {"topic_key": "bicycles"}, {"critical_slot": "fact:bicycles"}])
        days: Any = self.random.choice([{}, {"expires_in_days": 400, "metadata": {"n": 400}}])
        self.door.add(fact, tags=[self.random.choice("abc")], **key, **days)

    def do_add_cited(self) -> None:
        event = self.random.choice([one for one in self.door.list_events(limit=200) if one.content])
        self.door.add("User was quoted", sources=[(event.event_id, 0, 4)], importance=0.75)

    def do_supersede(self) -> None:
        self.door.add(f"User is called number {self.random.randint(1, 99)}", supersedes=[self.pick()])

    def do_revise(self) -> None:
        self.door.revise(self.pick(), f"User says {self.random.randint(1, 9)}")

    def do_edit(self) -> None:
        self.door.revise(self.pick(), Edit.append(" indeed"))

    def do_annotate(self) -> None:
        self.door.annotate(
            self.pick(), importance=self.random.random(), metadata={"seen": self.random.randint(1, 9)},
            private=self.random.random() < 0.3, expires_in="30d",
        )  # fmt: skip

    def do_reinforce(self) -> None:
        picked = self.door.reinforce(self.pick(), amount=0.2)
        self.door.endorse(picked.memory_id, "operator")

    def do_forget(self) -> None:
        self.door.forget(self.pick(), revision_only=self.random.random() < 0.5)

    def do_restore(self) -> None:
        self.door.restore(self.pick())

    def do_end(self) -> None:
        self.door.end_validity(self.pick(), at=self.random.choice([None, datetime.now(UTC) - timedelta(days=2)]))


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 40))])
def test_whatever_people_did_a_replay_keeps_it(door: Engram, database: Database, tenant: str, seed: int) -> None:
    hand = Hand(door, seed)
    for said in SAID[:2]:
        door.remember(said)
    for _ in range(30):
        hand.change()
    live = held(database, tenant)
    diff = door.ops.replay()
    assert diff.is_same, told(diff)
    assert not diff.changed
    assert not diff.problems
    shown = plainly(everything(door))
    door.ops.switch_replay(diff.shadow_id)
    assert held(database, tenant) == live
    assert not parted(plainly(everything(door)), shown)
    for _ in range(6):
        hand.change()
    door.ops.switch_replay(diff.shadow_id)
    assert door.ops.compare_replay(diff.shadow_id).is_same, "both caught up"


def test_what_was_erased_stays_erased_in_every_projection(door: Engram, database: Database, tenant: str) -> None:
    door.remember("I live in Ottawa.")
    [event] = door.remember("I live in Kyoto.").event_ids
    tea = door.add("User drinks tea").memory
    assert tea is not None
    old = door.ops.replay(policy=ALTERED)
    door.ops.switch_replay(old.shadow_id, policy=ALTERED)
    door.ops.switch_replay(old.shadow_id)
    door.ops.redact_event(event)
    forgotten = [one.event_id for one in door.list_events(limit=200) if one.event_type == "memory_added"]
    door.ops.redact_event(forgotten[0])
    with database.transaction(tenant) as conn:
        fetch_all(conn, "show_shadows")
        for table, column in (("agent_memory", "fact"), ("memory_lexemes", "lexemes"), ("memory_changes", "decision")):
            rows = conn.exec_driver_sql(f"SELECT {column}::text FROM engram.{table}").fetchall()
            assert not [row for row in rows if "kyoto" in str(row).lower() or "drinks tea" in str(row)], table
    live = held(database, tenant)
    same = door.ops.replay()
    assert same.is_same, told(same)
    assert list(door.list_memories({"statuses": ["active"], "critical": True})) == [], "nothing older comes back"
    door.ops.switch_replay(same.shadow_id)
    assert held(database, tenant) == live
    door.ops.switch_replay(old.shadow_id, policy=ALTERED)
    assert "Kyoto" not in everything(door)
    assert "drinks tea" not in everything(door)


def test_what_was_revised_before_it_became_private_stays_public_in_a_replay_of_what_came_later(door: Engram) -> None:
    one = door.add("The boat has a mast").memory
    assert one is not None
    two = door.revise(one.memory_id, "The boat has two masts").memory
    assert two is not None
    time.sleep(0.01)
    since = datetime.now(UTC)
    door.revise(one.memory_id, "The boat has three masts")
    door.annotate(two.memory_id, private=True)
    diff = door.ops.replay(since=since)
    assert diff.is_same, told(diff)
    door.ops.switch_replay(diff.shadow_id)
    assert [made.private for made in door.get_lineage(one.memory_id).revisions] == [False, True, False]


def _revised(door: Engram) -> str:
    paris = door.add("User lives in Paris", tags=["home"], main_content="A flat")
    assert paris.memory is not None
    door.revise(paris.memory.memory_id, "User lives in Rome")
    door.revise(paris.memory.memory_id, Edit.append(" now"))
    return paris.event_id


def _revised_twice(door: Engram) -> str:
    paris = door.add("User lives in Paris", tags=["home"]).memory
    assert paris is not None
    rome = door.revise(paris.memory_id, "User lives in Rome")
    door.revise(paris.memory_id, "User lives in Oslo")
    return rome.event_id


def _revised_before(door: Engram) -> str:
    paris = door.add("User lives in Paris", valid_from=datetime(2021, 1, 1, tzinfo=UTC)).memory
    assert paris is not None
    rome = door.revise(paris.memory_id, "User lives in Rome", valid_from=datetime(2025, 1, 1, tzinfo=UTC))
    told_late = door.revise(paris.memory_id, "User lives in Oslo", valid_from=datetime(2023, 1, 1, tzinfo=UTC)).memory
    assert told_late is not None
    assert told_late.valid_to == datetime(2025, 1, 1, tzinfo=UTC)
    return rome.event_id


def _followed(door: Engram) -> str:
    paris = door.add("User lives in Paris", topic_key="home")
    door.add("User lives in Rome", topic_key="home")
    return paris.event_id


def _parted(door: Engram) -> str:
    paris = door.add("User lives in Paris", topic_key="home").memory
    rome = door.add("User lives in Rome", topic_key="home")
    assert paris is not None
    assert rome.memory is not None
    door.unrelate(rome.memory.memory_id, paris.memory_id, "supersedes")
    return rome.event_id


def _superseding(door: Engram) -> str:
    boat = door.add("User owns a boat")
    assert boat.memory is not None
    door.add("User sold the boat", supersedes=[boat.memory.memory_id])
    return boat.event_id


def _superseded(door: Engram) -> str:
    boat = door.add("User owns a boat").memory
    assert boat is not None
    return door.add("User sold the boat", supersedes=[boat.memory_id]).event_id


def _ended(door: Engram) -> str:
    boat = door.add("User owns a boat").memory
    assert boat is not None
    door.end_validity(boat.memory_id)
    return door.list_events(types=["memory_ended"])[0].event_id


@pytest.mark.parametrize(
    "history",
    [_revised, _revised_twice, _revised_before, _followed, _parted, _superseding, _superseded, _ended],
)
def test_what_rests_on_the_place_of_what_was_erased_is_there_after_a_switch(
    door: Engram, database: Database, tenant: str, history: Callable[[Engram], str]
) -> None:
    event = history(door)
    door.add("User drinks tea")
    door.ops.erase(events=[event])
    for _ in range(2):  # a shadow that became live is replayed as well
        live = projection.digest(held(database, tenant))
        diff = door.ops.replay()
        assert diff.live_hash == diff.shadow_hash == live, told(diff)
        door.ops.switch_replay(diff.shadow_id)
        assert projection.digest(held(database, tenant)) == live


def test_two_revisions_that_one_erased_event_gave_keep_their_places(
    door: Engram, database: Database, tenant: str
) -> None:
    event = door.remember("I like tea. I don't like tea.").event_ids[0]
    door.add("User owns a boat")
    door.ops.erase(events=[event])
    live = projection.digest(held(database, tenant))
    diff = door.ops.replay()
    assert diff.live_hash == diff.shadow_hash == live, told(diff)
    door.ops.switch_replay(diff.shadow_id)
    assert projection.digest(held(database, tenant)) == live


def test_what_superseded_a_memory_that_has_expired_since_is_made_again(door: Engram) -> None:
    """Whether a memory was current is a matter of when it was superseded, not of when that is replayed."""
    soon = datetime.now(UTC) + timedelta(seconds=1)
    kettle = door.add("The kettle is red.", expires_at=soon).memory
    assert kettle is not None
    assert door.add("Ships sail at dawn.", supersedes=[kettle.memory_id]).kind == "add"
    time.sleep(max(0.0, (soon - datetime.now(UTC)).total_seconds()) + 0.05)
    diff = door.ops.replay()
    assert diff.is_same, told(diff)
    assert diff.problems == ()


def test_memories_that_were_lost_come_back_from_the_ledger_with_their_ids(
    door: Engram, database: Database, tenant: str, server: EmbeddedServer
) -> None:
    hand = Hand(door, 7)
    for said in SAID:
        door.remember(said)
    for _ in range(20):
        hand.change()
    live = held(database, tenant)
    url = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(url) as conn:
        conn.execute("SET session_replication_role = replica")
        for table in ("memory_sources", "memory_activity", "memory_changes", "memory_relations", "memory_embeddings",
                      "memory_lexemes", "agent_memory"):  # fmt: skip
            conn.execute(f"DELETE FROM engram.{table} WHERE tenant_id = %s", [tenant])
    assert held(database, tenant) == {}
    diff = door.ops.replay()
    assert diff.counts["added"] == len(live), told(diff)
    assert diff.shadow_hash == projection.digest(live), told(diff)
    door.ops.switch_replay(diff.shadow_id)
    assert held(database, tenant).keys() == live.keys()
    assert door.search("Where does the user live?")


def test_a_direct_change_without_its_memory_is_told_with_the_reason(door: Engram) -> None:
    [event] = door.remember("I live in Ottawa.").event_ids
    [memory] = [one for one in door.list_memories() if one.critical_slot]
    door.annotate(memory.memory_id, tags=["home"])
    diff = door.ops.replay(derivers=["verbatim"])
    assert [one.fact for one in diff.dropped] == [memory.fact]
    assert [(one.event_type, one.reason) for one in diff.problems] == [
        ("memory_annotated", "the memory it names does not come of these rules")
    ]
    assert diff.same == 1
    assert event == memory.event_id


def test_a_fact_is_kept_where_what_it_superseded_does_not_come_of_the_rules(door: Engram) -> None:
    door.remember("I live in Ottawa.")
    [memory] = [one for one in door.list_memories() if one.critical_slot]
    added = door.add("User sails round the world", supersedes=[memory.memory_id]).memory
    assert added is not None
    diff = door.ops.replay(derivers=["verbatim"])
    assert [one.fact for one in diff.dropped] == [memory.fact]
    assert [(one.event_type, one.reason) for one in diff.problems] == [
        ("memory_added", "the memory it names does not come of these rules")
    ]
    door.ops.switch_replay(diff.shadow_id)
    assert door.get(added.memory_id).status == "active"


def test_a_part_of_what_another_scope_holds_is_kept(door: Engram, tenant: str) -> None:
    agent = door.scoped(Scope(tenant))
    boat, rum = agent.add("The club has a boat").memory, agent.add("The club serves rum").memory
    assert boat is not None
    assert rum is not None
    mast = door.add("The boat has a mast", parent_id=boat.short_id).memory
    tea = door.add("The club serves tea", supersedes=[rum.memory_id]).memory
    assert mast is not None
    assert tea is not None
    diff = door.ops.replay()
    assert (diff.problems, diff.is_same, diff.same) == ((), True, 2)
    door.ops.switch_replay(diff.shadow_id)
    assert [one.target_id for one in door.list_relations(mast.memory_id)] == [boat.memory_id]
    assert (door.get(tea.memory_id).status, agent.get(rum.memory_id).superseded_by) == ("active", tea.memory_id)


@pytest.mark.parametrize("gone", ["elsewhere", "erased"])
def test_what_was_trusted_less_than_what_it_was_to_supersede_stays_refused(
    door: Engram, tenant: str, gone: str
) -> None:
    owner = door.scoped(Scope(tenant)) if gone == "elsewhere" else door
    rum = owner.add("The club serves rum", trust="operator").memory
    assert rum is not None
    for named in (rum.memory_id, rum.short_id):
        assert door.add(f"The club serves tea, says {named}", supersedes=[named]).kind == "conflict"
    if gone == "erased":
        door.ops.erase(memories=[rum.memory_id])
    diff = door.ops.replay()
    assert diff.is_same, told(diff)
    door.ops.switch_replay(diff.shadow_id)
    assert not [one.fact for one in door.list_memories() if "tea" in one.fact]
    assert [one.target and one.target.memory_id for one in door.list_decisions(kind="conflict")] == [rum.memory_id] * 2


def test_a_fact_is_kept_where_what_it_is_a_part_of_does_not_come_of_the_rules(door: Engram) -> None:
    door.remember("I live in Ottawa.")
    [memory] = [one for one in door.list_memories() if one.critical_slot]
    added = door.add("User's house has a porch", parent_id=memory.memory_id).memory
    assert added is not None
    diff = door.ops.replay(derivers=["verbatim"])
    assert [one.fact for one in diff.dropped] == [memory.fact]
    assert [one.reason for one in diff.problems] == ["the memory it names does not come of these rules"]
    door.ops.switch_replay(diff.shadow_id)
    assert (door.get(added.memory_id).status, door.list_relations(added.memory_id)) == ("active", ())


def test_going_back_from_fewer_derivers_derives_nothing_a_second_time(
    door: Engram, database: Database, tenant: str
) -> None:
    door.remember("I live in Ottawa. I like jazz.")
    live, history = held(database, tenant), [one.entry for one in door.get_history()]
    diff = door.ops.replay(derivers=["verbatim"])
    for _ in range(2):
        door.ops.switch_replay(diff.shadow_id)
        assert [one.deriver for one in door.list_memories()] == ["verbatim"]
        door.ops.switch_replay(diff.shadow_id)
        assert held(database, tenant) == live
        assert [one.entry for one in door.get_history()] == history
    door.ops.switch_replay(diff.shadow_id)
    door.remember("I moved to Toronto.")
    door.ops.switch_replay(diff.shadow_id)
    assert door.recall("Where do I live?").answer_text == "User moved to Toronto"
    assert {one.activity.repetition_count for one in door.list_memories(EVERY)} == {0}


def test_what_new_rules_drop_comes_back_with_its_relations_to_other_scopes(door: Engram, tenant: str) -> None:
    boat = door.scoped(Scope(tenant)).add("The club has a boat").memory
    assert boat is not None
    door.remember("I live in Ottawa. I like jazz.")
    city, jazz = sorted(door.list_memories({"memory_types": ["profile", "preference"]}), key=lambda one: one.fact)[::-1]
    door.relate(city.memory_id, boat.memory_id, "causes")
    door.relate(boat.memory_id, jazz.memory_id, "causes")
    door.relate(city.memory_id, jazz.memory_id, "causes")
    made = [door.list_relations(one.memory_id) for one in (city, boat, jazz)]
    diff = door.ops.replay(derivers=["verbatim"])
    door.ops.switch_replay(diff.shadow_id)
    assert door.list_relations(boat.memory_id) == ()
    door.ops.switch_replay(diff.shadow_id)
    assert [door.list_relations(one.memory_id) for one in (city, boat, jazz)] == made


def test_a_memory_that_is_named_by_many_of_its_digits_is_found_by_a_replay(door: Engram) -> None:
    memory = door.add("User sails a ketch").memory
    assert memory is not None
    door.annotate(f"mem-{memory.memory_id[-12:]}", tags=["sea"])
    assert door.ops.replay().is_same


def test_what_came_before_a_moment_is_left_as_it_was_known(door: Engram, database: Database, tenant: str) -> None:
    door.remember(SAID[0])
    door.remember(SAID[1])
    then = datetime.now(UTC)
    door.remember(SAID[2])
    door.remember(SAID[3])
    live = held(database, tenant)
    same = door.ops.replay(since=then)
    assert same.is_same, told(same)
    diff = door.ops.replay(since=then, policy=ALTERED)
    ottawa = next(name for name, one in live.items() if one.says["fact"] == "User lives in Ottawa")
    assert {one.before.memory_id: one.reasons for one in diff.changed}[ottawa] == (
        "status",
        "superseded_by",
        "valid_to",
    )
    door.ops.switch_replay(same.shadow_id)
    assert held(database, tenant) == live


def test_a_new_version_of_a_deriver_reads_on_live_and_anew_in_a_replay(
    door: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    door.remember("I live in Ottawa.")
    before = {one.memory_id for one in door.list_memories(EVERY)}
    first = rules.derive

    def shouting(event: Any, **given: Any) -> Any:
        return tuple(replace(one, tags=("loud",)) for one in first(event, **given))

    monkeypatch.setattr(rules, "VERSION", rules.VERSION + 1)
    monkeypatch.setattr(rules, "derive", shouting)
    door.remember("I like rye bread.")
    assert before <= {one.memory_id for one in door.list_memories(EVERY)}
    assert len([one for one in door.list_memories(EVERY) if "Ottawa" in one.fact]) == 2, "nothing is derived twice"
    diff = door.ops.replay()
    assert [(one.before.fact, one.reasons) for one in diff.changed] == [("User lives in Ottawa", ("tags",))]
    door.ops.switch_replay(diff.shadow_id)
    assert {one.tags for one in door.list_memories() if one.deriver == "rules"} == {("loud",)}
    assert before <= {one.memory_id for one in door.list_memories(EVERY)}


# The language model ---------------------------------------------------------------------------------------------------


def heard(asked: Asked) -> dict[str, Any]:
    """A model that finds one fact in every turn it is shown, and has no opinion on anything else."""
    if asked.schema is not Extraction:
        return {"decisions": []}
    turns = [json.loads(line) for line in asked.text.splitlines() if line.startswith('{"turn"')]
    return {
        "facts": [
            {"turn": one["turn"], "fact": f"User told of {one['text'].split()[-1].strip('.')}", "quote": one["text"]}
            for one in turns
        ]
    }  # fmt: skip


def test_with_the_answers_that_were_paid_for_a_replay_asks_the_model_nothing(
    open_door: Callable[..., Engram], database: Database, tenant: str
) -> None:
    model = ScriptedModel(heard)
    door = open_door(tenant, llm=model)
    door.remember([{"role": "user", "content": f"We went to see {place}."} for place in ("Oslo", "Rome", "Lyon")],
                  derive="llm", session_id="a")  # fmt: skip
    door.ops.run_jobs(limit=50)
    door.remember("We flew to Bergen.", derive="llm", session_id="a")
    door.ops.run_jobs(limit=50)
    [oslo] = [one for one in door.list_memories() if one.fact == "User told of Oslo"]
    door.annotate(oslo.memory_id, tags=["north"])
    live, asked = held(database, tenant), len(model.asked)
    assert asked >= 2
    diff = door.ops.replay()
    assert len(model.asked) == asked, "every answer was kept"
    assert diff.is_same, told(diff)
    assert not diff.changed
    assert diff.cost == 0
    assert any(one.says["deriver"] == "llm" for one in live.values())
    door.ops.switch_replay(diff.shadow_id)
    assert held(database, tenant) == live


def drained(door: Engram) -> None:
    while door.ops.run_jobs():
        pass


def linked(asked: Asked) -> dict[str, Any]:
    """A fact of each turn that speaks of a journey, and how the first of them relates to the last."""
    if asked.schema is not Extraction:
        return {"decisions": []}
    lines = asked.text.split("The turns to read")[-1].splitlines()
    turns = [json.loads(line) for line in lines if line.startswith("{") and "went" in line]
    facts = [
        {"turn": one["turn"], "fact": f"User told of {one['text'].split()[-1].strip('.')}", "quote": one["text"]}
        for one in turns
    ]
    if len(facts) > 1:
        facts[0]["relations"] = [{"to": len(facts) - 1, "type": "precedes"}]
    return {"facts": facts}


@pytest.mark.parametrize(
    "heard",
    [
        (("a", "We went to Oslo."), ("a", "Fine weather."), None, ("a", "We went to Bergen.")),
        (("a", "We went to Oslo."), ("b", "Fine weather."), ("a", "We went to Rome.")),
    ],
)
def test_what_one_question_was_about_is_read_at_once_again(
    open_door: Callable[..., Engram], database: Database, tenant: str, heard: tuple[tuple[str, str] | None, ...]
) -> None:
    """Of fine weather there is nothing to tell, so that it leaves no trace."""
    model = ScriptedModel(linked)
    door = quiet(open_door(tenant, llm=model))
    for one in heard:
        if one is None:
            drained(door)
            door.add("User owns a boat")
        else:
            door.remember(one[1], derive="llm", session_id=one[0])
    drained(door)
    live, asked = held(database, tenant), len(model.asked)
    diff = door.ops.replay()
    assert diff.is_same, told(diff)
    assert len(model.asked) == asked, "every answer was kept"
    door.ops.switch_replay(diff.shadow_id)
    assert held(database, tenant) == live


def test_what_the_model_had_nothing_to_tell_of_is_read_where_it_was_asked_about(
    open_door: Callable[..., Engram], tenant: str
) -> None:
    """What an agent said before is shown without what repeats a memory, which there was none of then."""
    model = ScriptedModel(linked)
    door = quiet(open_door(tenant, llm=model))
    said = [
        {"role": "assistant", "content": "You own a boat."},
        {"role": "tool", "content": "Fine weather.", "derive": "llm"},
    ]
    door.remember(said, session_id="a")  # type: ignore[arg-type]
    drained(door)
    for fact in ("User owns a boat", "User drinks tea"):
        door.add(fact)
    asked = len(model.asked)
    assert door.ops.replay().is_same
    assert len(model.asked) == asked, "every answer was kept"


def test_a_change_that_changed_nothing_is_made_again_when_it_was_made(
    open_door: Callable[..., Engram], tenant: str
) -> None:
    """What the model reads later was recorded before it; the forgotten is not restored by what came before that."""
    door = quiet(open_door(tenant, llm=ScriptedModel(linked)))
    for said in ("Fine weather.", "We went to Oslo."):  # of the first there is nothing to tell
        door.remember(said, derive="llm", session_id="a")
    tea = door.add("User drinks tea").memory
    assert tea is not None
    door.restore(tea.memory_id)
    door.forget(tea.memory_id)
    drained(door)
    diff = door.ops.replay()
    assert diff.is_same, told(diff)


def test_the_same_words_in_another_stream_have_the_same_answer_and_a_place_of_their_own(
    open_door: Callable[..., Engram], tenant: str
) -> None:
    """The answer is paid for once; what was done between the two readings named what came of the first."""
    model = ScriptedModel(linked)
    door = quiet(open_door(tenant, llm=model))
    door.remember("We went to Oslo.", derive="llm", session_id="a")
    drained(door)
    [oslo] = [one for one in door.list_memories() if one.fact == "User told of Oslo"]
    door.annotate(oslo.memory_id, tags=["north"])
    asked = len(model.asked)
    door.remember("We went to Oslo.", derive="llm", session_id="b")
    drained(door)
    assert len(model.asked) == asked
    diff = door.ops.replay()
    assert diff.is_same, told(diff)


SAID_AT_ONCE: Final = ("I don't like Oslo.", "I eat Oslo again.", "I stopped eating Oslo.")


@pytest.mark.parametrize("before", ["User likes Oslo", "I eat Oslo again."])
@pytest.mark.parametrize("said", list(product(SAID_AT_ONCE, repeat=2)))
@pytest.mark.parametrize("trusts", [("user", "web"), ("web", "user")])
def test_statements_read_at_once_are_read_as_one_by_one(
    open_door: Callable[..., Engram], tenant: str, before: str, said: tuple[str, str], trusts: tuple[str, str]
) -> None:
    """Which of them stands follows from when each was said and by whom, not from which was read last."""
    door = quiet(open_door(tenant, settings=load({}, dispatch="doorbell")))
    for place, (text, trust) in enumerate(zip(said, trusts, strict=True)):
        message = {"role": "user", "content": text, "trust": trust}
        door.remember([message], session_id=str(place), wait=False)  # type: ignore[list-item]
    told_later = door.add(before).memory
    assert told_later is not None
    door.revise(told_later.memory_id, Edit.append(" indeed"))
    drained(door)
    diff = door.ops.replay()
    assert diff.is_same, told(diff)


def at_home(asked: Asked) -> dict[str, Any]:
    """Where somebody has their home; of what is said of Bergen alone nothing."""
    if asked.schema is not Extraction:
        return {"decisions": []}
    lines = asked.text.split("The turns to read")[-1].splitlines()
    turns = [json.loads(line) for line in lines if line.startswith("{")]
    homes = [one for one in turns if "home" in one["text"] and (len(turns) > 1 or "Bergen" not in one["text"])]
    return {
        "facts": [
            {"turn": one["turn"], "fact": f"User lives in {one['text'].split()[-1].strip('.')}", "quote": one["text"]}
            for one in homes
        ]
    }


@pytest.mark.parametrize("place", ["Bergen", "Rome"])  # of which nothing is told any more, or the same again
def test_what_went_with_another_event_of_its_question_keeps_its_place(
    open_door: Callable[..., Engram], database: Database, tenant: str, place: str
) -> None:
    model = ScriptedModel(at_home)
    door = quiet(open_door(tenant, llm=model))
    door.remember("These days home is Oslo.", derive="llm", session_id="a")
    drained(door)
    said = [{"role": "user", "content": text} for text in ("We talked.", f"These days home is {place}.")]
    heard = door.remember(said, derive="llm", session_id="a")  # type: ignore[arg-type]
    drained(door)
    door.ops.erase(events=heard.event_ids[:1])
    drained(door)
    live, asked = held(database, tenant), len(model.asked)
    for _ in range(2):
        diff = door.ops.replay()
        assert diff.is_same, told(diff)
        assert len(model.asked) == asked, "every answer was kept"
        door.ops.switch_replay(diff.shadow_id)
        assert held(database, tenant) == live
        assert "User lives in Oslo" not in [one.fact for one in door.list_memories()]


def doubtful(asked: Asked) -> dict[str, Any]:
    """What somebody is said to like, quoted from nowhere, and where they have their home."""
    if asked.schema is not Extraction:
        return {"decisions": []}
    lines = asked.text.split("The turns to read")[-1].splitlines()
    turns = [json.loads(line) for line in lines if line.startswith("{")]
    facts = at_home(asked)["facts"]
    return {"facts": [*facts, *({"turn": one["turn"], "fact": "User likes tea", "quote": "as ever"} for one in turns)]}


def test_what_is_kept_apart_is_kept_apart_once_however_often_it_is_read(
    open_door: Callable[..., Engram], tenant: str
) -> None:
    """What said the same as what is erased is read again, and says again what nobody has said."""
    door = quiet(open_door(tenant, llm=ScriptedModel(doubtful)))
    first = door.remember("These days home is Oslo.", derive="llm", session_id="a")
    drained(door)
    door.remember("Yes, home is Oslo.", derive="llm", session_id="b")
    drained(door)
    door.ops.erase(events=first.event_ids)
    drained(door)
    apart = [one.fact for one in door.list_memories({"statuses": ["quarantined"]})]
    assert apart == ["User likes tea"]
    assert "User lives in Oslo" in [one.fact for one in door.list_memories()]
    diff = door.ops.replay()
    assert diff.is_same, told(diff)


@pytest.mark.parametrize("act", ["revise", "supersede"])
def test_a_change_of_what_went_with_another_event_of_its_question_is_no_problem(
    open_door: Callable[..., Engram], tenant: str, act: str
) -> None:
    """The question without what is erased came later than the change, which named what the first one gave."""
    door = quiet(open_door(tenant, llm=ScriptedModel(at_home)))
    said = [{"role": "user", "content": text} for text in ("We talked.", "These days home is Rome.")]
    heard = door.remember(said, derive="llm", session_id="a")  # type: ignore[arg-type]
    drained(door)
    [home] = [one for one in door.list_memories() if one.fact == "User lives in Rome"]
    if act == "revise":
        door.revise(home.memory_id, "User lives in Rome now")
    else:
        door.add("User is called Bo", supersedes=[home.memory_id])
    door.ops.erase(events=heard.event_ids[:1])
    drained(door)
    diff = door.ops.replay()
    assert not diff.problems
    assert diff.is_same, told(diff)


# Beside everything else -----------------------------------------------------------------------------------------------


def test_no_read_shows_a_row_of_a_shadow(door: Engram, database: Database, tenant: str) -> None:
    for said in SAID:
        door.remember(said)
    views = ("current_memories", "memory_lineage", "memory_timeline", "conflicts", "critical_memories", "scope_stats",
             "derivation_backlog", "agent_memory", "memory_changes", "memory_scopes", "memory_lexemes", "memory_actors",
             "memory_embeddings", "memory_activity")  # fmt: skip

    def seen() -> str:
        with database.transaction(tenant) as conn:
            tables: list[Any] = [conn.exec_driver_sql(f"SELECT * FROM engram.{view}").fetchall() for view in views]
            tables.append(conn.exec_driver_sql("SELECT * FROM engram.memories_as_of(now())").fetchall())
        tables = [sorted(map(repr, rows)) for rows in tables]
        asked = [
            everything(door), door.stats(), door.recall("Where do I live?", track=False).answer_text,
            [entry.to_dict() for entry in door.get_history(limit=200)],
            door.build_context("Where do I live?").text, door.list_events(limit=200),
            door.list_memories(EVERY, user_id=ALL_USERS), [one.short_id for one in door.list_memories()],
            [(check.name, check.detail) for check in door.ops.doctor().checks if check.name in ("vectors", "jobs")],
            list(door.list_memories(EVERY, as_of=datetime.now(UTC) + timedelta(days=1))),
        ]  # fmt: skip
        return repr((tables, re.sub(r"size_bytes=\d+", "", repr(asked))))

    before = seen()
    diff = door.ops.replay(policy=ALTERED)
    assert not parted(seen(), before)
    with database.transaction(tenant) as conn:
        fetch_all(conn, "show_shadows")
        shadows = conn.exec_driver_sql("SELECT memory_id::text FROM engram.agent_memory WHERE scope_id < 0").fetchall()
    assert len(shadows) >= 10
    for row in shadows:
        assert door.find(row.memory_id) is None
        with pytest.raises(NotFound):
            door.forget(row.memory_id)
    other = door.scoped(user_id="bob")
    other.add("User likes hiking")
    for call in (other.ops.compare_replay, other.ops.switch_replay, other.ops.drop_replay):
        with pytest.raises(NotFound):
            call(diff.shadow_id)
    assert other.ops.list_replays() == ()
    with pytest.raises(NotFound):
        door.scoped(tenant_id=f"{tenant}-other").ops.replay()


@pytest.mark.parametrize(
    "bad",
    [{"policy": 7}, {"derivers": ["magic"]}, {"since": "yesterday"}, {"derivers": "rules"}, {"user_id": ALL_USERS}],
)
def test_bad_input_is_refused_before_anything_is_made(door: Engram, bad: dict[str, Any]) -> None:
    door.add("User likes tea")
    with pytest.raises(InvalidInput):
        door.ops.replay(**bad)
    for name in ("12", "shadow-0", 12, None):
        with pytest.raises(InvalidInput, match="shadow"):
            door.ops.switch_replay(name)  # type: ignore[arg-type]
    assert door.ops.list_replays() == ()


def test_a_rehearsal_leaves_no_shadow_and_a_fifth_one_is_refused(door: Engram) -> None:
    door.remember(SAID[0])
    assert door.ops.replay(dry_run=True, policy=ALTERED).counts["changed"] > 0
    assert door.ops.list_replays() == ()
    made = [door.ops.replay().shadow_id for _ in range(4)]
    assert len(set(made)) == 4
    with pytest.raises(Conflict, match="drop one"):
        door.ops.replay()
    state = everything(door)
    assert door.ops.switch_replay(made[0], dry_run=True).state == "former"
    assert door.ops.drop_replay(made[0], dry_run=True) > 0
    assert [one.state for one in door.ops.list_replays()] == ["ready"] * 4
    assert everything(door) == state


def test_a_switch_under_one_key_switches_once(door: Engram) -> None:
    door.remember(SAID[0])
    diff = door.ops.replay(policy=ALTERED)
    for _ in range(3):
        assert door.ops.switch_replay(diff.shadow_id, policy=ALTERED, idempotency_key="once").state == "former"


CHILD: Final = """
import os, signal, sys
from engram import Engram, Scope
from engram.operations import replaying
url, tenant, where, times = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
plain, seen = getattr(replaying, where), []
def killed(*given):
    plain(*given)
    seen.append(1)
    if len(seen) == times:
        os.kill(os.getpid(), signal.SIGKILL)
setattr(replaying, where, killed)
replaying.BATCH = 4
with Engram(url, scope=Scope(tenant, user_id="lena")) as door:
    shadow = door.ops.replay().shadow_id
    door.ops.switch_replay(shadow)
"""


@pytest.mark.parametrize(("where", "times"), [("_advance", 1), ("_advance", 3), ("_append", 1), ("_plan", 1)])
def test_killed_inside_a_transaction_nothing_is_half(
    door: Engram, database_url: str, database: Database, tenant: str, where: str, times: int
) -> None:
    for said in SAID:
        door.remember(said)
    live, shown = held(database, tenant), everything(door)
    child = subprocess.run(
        [sys.executable, "-c", CHILD, database_url, tenant, where, str(times)], check=False, timeout=120
    )
    assert child.returncode == -signal.SIGKILL
    assert held(database, tenant) == live
    assert everything(door) == shown
    [left] = door.ops.list_replays()
    assert left.state == ("ready" if where == "_append" else "building")
    assert left.done == (left.steps if where == "_append" else (times - 1) * 4 if where == "_advance" else 0)
    diff = door.ops.replay() if where != "_append" else door.ops.compare_replay(left.shadow_id)
    assert diff.shadow_id == left.shadow_id, "it goes on where it was"
    assert diff.is_same, told(diff)
    door.ops.switch_replay(diff.shadow_id)
    assert held(database, tenant) == live


def test_what_is_written_during_replays_and_switches_is_neither_lost_nor_doubled(
    door: Engram, open_door: Callable[..., Engram], database: Database, tenant: str
) -> None:
    for said in SAID:
        door.remember(said)
    stop, errors, added = threading.Event(), list[BaseException](), list[str]()

    def write(number: int) -> None:
        own = open_door(tenant)
        turn = 0
        try:
            while turn < 4 or (not stop.is_set() and turn < 30):  # where a machine is busy a replay may be the faster
                turn += 1
                own.remember(f"I own {turn} boats of kind {number}.", session_id=f"s{number}")
                made = own.add(f"User owns {turn} kites of kind {number}")
                assert made.memory is not None
                own.annotate(made.memory.memory_id, tags=[f"t{turn}"])
                added.append(made.memory.memory_id)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    try:
        shadow = door.ops.replay().shadow_id
        for _ in range(3):
            door.ops.switch_replay(shadow)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not errors
    door.ops.run_jobs(limit=50)
    assert len(added) > 6
    assert all(door.get(one).tags for one in added)
    with database.transaction(tenant) as conn:
        rows = conn.exec_driver_sql(
            "SELECT event_id, deriver, ordinal, count(*) FROM engram.agent_memory GROUP BY 1, 2, 3 HAVING count(*) > 1"
        ).fetchall()
        spoken = conn.exec_driver_sql("SELECT count(*) FROM engram.agent_events WHERE event_type = 'user_message'")
        kept = conn.exec_driver_sql("SELECT count(*) FROM engram.agent_memory WHERE deriver = 'verbatim'")
        assert spoken.scalar() == kept.scalar()
    assert rows == []
    door.ops.switch_replay(shadow)
    # Transactions that ran side by side did not see what each other wrote: what stood near is theirs alone to know.
    for diff in (door.ops.compare_replay(shadow), door.ops.replay()):
        assert {name for one in diff.changed for name in one.reasons} <= {"relations", "importance"}, told(diff)
        assert not diff.added, told(diff)
        assert not diff.dropped, told(diff)


def test_two_replays_at_once_are_one(
    door: Engram, open_door: Callable[..., Engram], tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replaying, "BATCH", 2)
    for said in SAID:
        door.remember(said)
    found, both = list[ReplayDiff](), threading.Barrier(2)

    def derive(own: Engram) -> None:
        both.wait()
        found.append(own.ops.replay())

    threads = [threading.Thread(target=derive, args=(open_door(tenant),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2
    for one in found:
        diff = door.ops.compare_replay(one.shadow_id)
        assert diff.is_same, told(diff)


@pytest.mark.parametrize("of", ["_next", "_lock"])
def test_a_shadow_that_another_drops_meanwhile_is_not_found(
    door: Engram, open_door: Callable[..., Engram], tenant: str, monkeypatch: pytest.MonkeyPatch, of: str
) -> None:
    """Where it is looked for steps, or where a switch waits for who has it."""
    door.remember(SAID[0])
    shadow, other = door.ops.replay().shadow_id, open_door(tenant)
    real: Callable[..., Any] = getattr(replaying, of)
    first = threading.Event()

    def dropped(*given: Any) -> Any:
        found = real(*given) if of == "_next" else None
        if (
            threading.current_thread() is threading.main_thread()
            and not first.is_set()
            and (of, len(given)) != ("_lock", 3)
        ):
            first.set()
            dropper = threading.Thread(target=other.ops.drop_replay, args=(shadow,))
            dropper.start()
            dropper.join()
        return real(*given) if found is None else found

    monkeypatch.setattr(replaying, of, dropped)
    with pytest.raises(NotFound):
        door.ops.switch_replay(shadow)


def no_boats(candidate: Mapping[str, Any]) -> Any:
    return Reject("no boats") if "boat" in candidate["fact"] else candidate


def test_what_was_made_private_stays_so_where_new_rules_refuse_it(database_url: str, tenant: str) -> None:
    """Its words stand in its events, which nothing hid any more: no row and no refusal said that they are private."""
    strict = replace(DEFAULT, version=DEFAULT.version + 1, guards=(no_boats,))
    scope = Scope(tenant_id=tenant, user_id="ada")
    old, new = Engram(database_url, scope=scope), Engram(database_url, scope=scope, policy=strict)
    with quiet(old) as ada, quiet(new):
        hidden = ada.add("My boat is called Skua.").memory
        said = ada.remember("I own a boat named Tern.", session_id="s", wait=True)
        ada.add("I like the sea.")
        assert hidden is not None
        ada.relate(hidden.memory_id, ada.add("Skua needs paint.").memory.memory_id, metadata={"of": "boat"})  # type: ignore[union-attr]
        for memory_id in (hidden.memory_id, *(one.memory.memory_id for one in said.decisions if one.memory)):
            ada.annotate(memory_id, private=True)
        ada.revise(hidden.memory_id, "My boat is called Skua II.", reason="the boat was sold")

        def seen() -> str:
            every: Any = {"agent_id": ("default", "other"), "user_id": ALL_USERS}
            told = [*ada.list_events(limit=200, **every), *ada.list_decisions(limit=200, **every)]
            return "\n".join(str(one) for one in [*told, everything(ada, **every)])

        assert "boat" not in seen()
        assert "Skua needs paint." in seen()
        own = len(ada.list_events(limit=200))
        shadow = new.ops.replay(policy=strict).shadow_id
        new.ops.switch_replay(shadow, policy=strict)
        assert [one.fact for one in ada.list_memories() if "boat" in one.fact] == []
        assert "boat" not in seen()
        assert "Skua needs paint." in seen()
        assert len(ada.list_events(limit=200)) == own + 1
        assert "no_longer_derived" in {reason for one in ada.list_decisions() for reason in one.reasons}
        # With the old rules it is as it was, and so it is back and forth.
        again = ada.ops.replay().shadow_id
        ada.ops.switch_replay(again)
        assert {one.fact for one in ada.list_memories() if one.private} >= {"My boat is called Skua II."}
        assert "boat" not in seen()
        new.ops.switch_replay(again, policy=strict)
        assert "boat" not in seen()


def test_no_refusal_is_told_of_a_relation_of_a_private_memory_that_stands(database_url: str, tenant: str) -> None:
    """One in the scope is made again and one to another scope stays: of neither did the rules leave nothing."""
    with quiet(Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada"), embedder="none")) as ada:
        hidden = ada.add("Ada looks for a boat", private=True).memory
        near, far = ada.add("Ada likes the sea").memory, ada.add("The yard opens at nine", user_id=None).memory
        assert hidden is not None
        assert near is not None
        assert far is not None
        for other in (near, far):
            ada.relate(hidden.memory_id, other.memory_id, "causes", metadata={"of": "boat"})
            ada.relate(hidden.memory_id, other.memory_id, "supports")
            ada.unrelate(hidden.memory_id, other.memory_id, "supports")

        def seen() -> tuple[Any, ...]:
            told = [(one.kind, one.reasons) for one in ada.list_decisions()]
            ties = sorted((one.target_id, one.relation_type) for one in ada.list_relations(hidden.memory_id))
            others = [one.event_type for one in ada.list_events(user_id=ALL_USERS)]
            return told, ties, [one for one in others if one != "projection_switched"]

        before = seen()
        assert len(before[1]) == 2
        assert "relation_added" not in before[2]
        shadow = ada.ops.replay().shadow_id
        for _ in range(3):
            ada.ops.switch_replay(shadow)
            assert seen() == before
