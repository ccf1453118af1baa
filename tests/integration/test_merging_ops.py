"""Like memories become one, in a database: what stays, what is taken over, and what an undoing gives back (Y-14)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pytest
from quiet import quiet

from engram import Conflict, Engram, Filter, InvalidInput, NotFound, Scope
from engram.database import Connection
from engram.operations import steps

AXES: Final = 16


class Angles:
    """An embedder that a test tells how near texts are: `say` gives a text the cosine it has with the first axis."""

    name, dimensions, max_tokens = "angles", AXES, None

    def __init__(self) -> None:
        self.known: dict[str, list[float]] = {}

    def say(self, fact: str, cosine: float, axis: int = 1) -> str:
        vector = [0.0] * AXES
        vector[0], vector[axis] = cosine, (1 - cosine * cosine) ** 0.5
        self.known[fact] = vector
        return fact

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        far = [0.0] * (AXES - 1) + [1.0]
        return np.array([self.known.get(text, far) for text in texts], dtype=np.float32)


@pytest.fixture
def angles() -> Angles:
    return Angles()


@pytest.fixture
def ada(database_url: str, tenant: str, angles: Angles) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder=angles, policy="default") as door:  # type: ignore[arg-type]
        yield quiet(door)


def added(door: Engram, fact: str, **given: Any) -> str:
    decision = door.add(fact, force=True, **given)
    assert decision.kind == "add", decision
    assert decision.memory is not None
    return decision.memory.memory_id


def facts(door: Engram) -> set[str]:
    return {memory.fact for memory in door.list_memories(limit=100)}


def rows(door: Engram) -> int:
    every = ("active", "superseded", "contested", "archived", "deleted", "quarantined")
    return len(door.list_memories(filter=Filter(statuses=every), limit=200))


def read(door: Engram, memory_id: str, times: int) -> None:
    """Count accesses of a memory as a run of the life cycle would."""

    def work(conn: Connection) -> None:
        given = (times, door.scope.tenant_id, memory_id)
        conn.exec_driver_sql(
            "UPDATE engram.memory_activity SET access_count = %s WHERE tenant_id = %s AND memory_id = %s", given
        )

    door._run(steps.write(door.scope.tenant_id, work, key=None))


def typescript(door: Engram, angles: Angles) -> tuple[str, str]:
    a = added(door, angles.say("User prefers TypeScript", 1.0), importance=0.8, memory_type="preference", tags=["a"])
    b = added(door, angles.say("User likes TypeScript", 0.92), importance=0.7, memory_type="preference", tags=["b"])
    read(door, a, 5)
    read(door, b, 2)
    return a, b


def test_the_worked_example_keeps_a_with_seven_and_undo_gives_five_and_two_back(ada: Engram, angles: Angles) -> None:
    a, b = typescript(ada, angles)
    before = rows(ada)
    run = ada.ops.merge_similar()
    winner, loser = ada.get(a), ada.get(b)
    assert (winner.activity.access_count, winner.importance, set(winner.tags)) == (7, 0.8, {"a", "b"})
    assert (loser.status, loser.status_reason, loser.superseded_by) == ("archived", "merged", a)
    assert facts(ada) == {"User prefers TypeScript"}
    assert rows(ada) == before
    tie = ada.list_relations(a, relation_types=["derived_from"])
    assert [one.target_id for one in tie] == [b]
    ada.ops.undo(run.run_id)
    assert (ada.get(a).activity.access_count, ada.get(b).activity.access_count) == (5, 2)
    assert facts(ada) == {"User prefers TypeScript", "User likes TypeScript"}
    assert ada.get(a).tags == ("a",)
    assert ada.ops.merge_similar().changed == 0  # what was taken back is not done again by itself


def test_a_dry_run_shows_the_merge_and_changes_nothing(ada: Engram, angles: Angles) -> None:
    a, b = typescript(ada, angles)
    shown = ada.ops.merge_similar(dry_run=True)
    assert {change.memory_id for change in shown.changes} >= {b}
    assert facts(ada) == {"User prefers TypeScript", "User likes TypeScript"}
    assert ada.ops.merge_similar().changed == shown.changed
    assert ada.get(a).activity.access_count == 7


def test_500_and_700_at_98_do_not_merge(ada: Engram, angles: Angles) -> None:
    for fact, cosine in (("The budget is $500", 1.0), ("The budget is $700", 0.98)):
        added(ada, angles.say(fact, cosine))
    assert ada.ops.merge_similar().changed == 0
    assert facts(ada) == {"The budget is $500", "The budget is $700"}


def test_relations_of_the_loser_move_with_the_heavier_weight(ada: Engram, angles: Angles) -> None:
    a, b = typescript(ada, angles)
    other, third = added(ada, "Nothing else is like this"), added(ada, "The sea is wide")
    ada.relate(b, other, "supports", weight=0.9)
    ada.relate(third, b, "causes", weight=0.4)
    run = ada.ops.merge_similar()
    outbound = {(one.target_id, one.relation_type): one.weight for one in ada.list_relations(a, direction="outbound")}
    assert outbound[other, "supports"] == 0.9
    inbound = {(one.source_id, one.relation_type): one.weight for one in ada.list_relations(a, direction="inbound")}
    assert inbound[third, "causes"] == 0.4
    ada.ops.undo(run.run_id)
    assert [one.target_id for one in ada.list_relations(b, relation_types=["supports"])] == [other]
    assert ada.list_relations(a, relation_types=["supports"]) == ()


def test_pinned_private_and_other_scopes_take_no_part(ada: Engram, angles: Angles) -> None:
    added(ada, angles.say("User prefers TypeScript", 1.0), memory_type="preference")
    added(ada, angles.say("User likes TypeScript", 0.97), memory_type="preference", critical_slot="language")
    added(ada, angles.say("User is fond of TypeScript", 0.96), memory_type="preference", private=True)
    bob = ada.scoped(user_id="bob")
    added(bob, angles.say("User loves TypeScript", 0.99), memory_type="preference")
    assert ada.ops.merge_similar().changed == 0


def test_by_words_alone_only_the_same_words_merge(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder="none") as door:
        quiet(door)
        one = added(door, "User prefers black tea with milk in the morning", importance=0.9)
        added(door, "In the morning the user prefers black tea with milk")
        added(door, "User prefers black tea with milk in the evening")
        door.ops.merge_similar()
        assert facts(door) == {
            "User prefers black tea with milk in the morning", "User prefers black tea with milk in the evening",
        }  # fmt: skip
        assert door.get(one).status == "active"


# --- by hand ------------------------------------------------------------------------------------------------------
def test_by_hand_a_given_text_becomes_a_revision_of_the_first_and_undo_takes_it_back(
    ada: Engram, angles: Angles
) -> None:
    one, two = added(ada, "The budget is $500"), added(ada, "The budget is $700")
    read(ada, one, 3)
    read(ada, two, 4)
    run = ada.merge([one, two], "The budget rose from $500 to $700")
    assert facts(ada) == {"The budget rose from $500 to $700"}
    head = ada.get_lineage(one).head
    assert head is not None
    assert (head.revision, head.activity.access_count) == (2, 7)
    assert ada.get(two).superseded_by == head.memory_id
    ada.ops.undo(run.run_id)
    assert facts(ada) == {"The budget is $500", "The budget is $700"}
    assert ada.get(one).activity.access_count == 3


def test_by_hand_without_a_text_the_one_that_says_all_stands(ada: Engram) -> None:
    less, more = added(ada, "User prefers TypeScript"), added(ada, "User prefers TypeScript for backends")
    ada.merge([less, more])
    assert facts(ada) == {"User prefers TypeScript for backends"}
    assert ada.get_lineage(less).head.fact == "User prefers TypeScript for backends"  # type: ignore[union-attr]


def test_what_cannot_be_merged_by_hand_is_refused(ada: Engram) -> None:
    one, two = added(ada, "The budget is $500"), added(ada, "The budget is $700")
    pinned = added(ada, "User is called Ada", critical_slot="name")
    with pytest.raises(Conflict, match="none of these says all"):
        ada.merge([one, two])
    with pytest.raises(InvalidInput):
        ada.merge([one], "x")
    with pytest.raises(InvalidInput):
        ada.merge([one, one], "x")
    with pytest.raises(Conflict, match="pinned"):
        ada.merge([one, pinned], "The user Ada has a budget of $500")
    with pytest.raises(NotFound):
        ada.merge([one, "01890000-0000-7000-8000-00000000a001"], "x")
    with pytest.raises(Conflict, match="better source"):
        ada.merge([one, two], "The budget is $500 or $700", trust="web")
    ada.ops.archive([two])
    with pytest.raises(Conflict, match="current"):
        ada.merge([one, two], "x")
