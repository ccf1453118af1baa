"""Like memories become one, in a database: what stays, what is taken over, and what an undoing gives back (Y-14)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg
import pytest
from angles import Angles, added, facts, looks, read, rows
from plans import nodes
from quiet import quiet

from engram import Conflict, Engram, InvalidInput, MemoryPolicy, ModelRejected, NotFound, Scope
from engram.database import Connection, statement
from engram.ids import new_id
from engram.lifecycle import pairing
from engram.lifecycle.cycle import Cycle
from engram.operations import living, merging, steps
from engram.testing import Asked, ScriptedModel

BACKENDS: Final = "User prefers TypeScript for backend services"
MISTAKES: Final = "User prefers TypeScript because types catch mistakes"
BOTH: Final = "User prefers TypeScript for backend services because types catch mistakes"


@pytest.fixture
def angles() -> Angles:
    return Angles()


@pytest.fixture
def ada(database_url: str, tenant: str, angles: Angles) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder=angles, policy="default") as door:  # type: ignore[arg-type]
        yield quiet(door)


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


def test_what_ends_soon_does_not_take_in_what_does_not_end(ada: Engram, angles: Angles) -> None:
    soon = datetime.now(UTC) + timedelta(days=1)
    added(ada, angles.say("User prefers TypeScript for backends", 1.0), valid_to=soon)
    added(ada, angles.say("User prefers TypeScript", 0.95))
    assert ada.ops.merge_similar().changed == 0
    assert len(facts(ada)) == 2


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("User moved in with Ann", "User moved out with Ann"),
        ("The branch Main is used", "The branch main is used often"),
        ("Ann lives there", "Ann lives here"),
    ],
)  # fmt: skip
def test_a_small_word_or_a_capital_keeps_two_apart(ada: Engram, angles: Angles, one: str, two: str) -> None:
    added(ada, angles.say(one, 1.0))
    added(ada, angles.say(two, 0.98))
    assert ada.ops.merge_similar().changed == 0
    assert facts(ada) == {one, two}


def test_a_dry_run_writes_nothing_and_asks_no_model(asking: Callable[[Any], Engram], angles: Angles) -> None:
    door = asking({"pairs": [{"pair": 1, "same": True, "text": BOTH}]})
    like(door, angles, BACKENDS, MISTAKES, cosine=0.8)
    before = looks(door)
    assert door.ops.merge_similar(dry_run=True, use_llm=True).changed == 0
    assert asked(door) == []
    assert looks(door) == before
    assert door.ops.merge_similar().changed > 0


def joining(asked: Asked) -> dict[str, Any]:
    """A model that joins whatever it is shown."""
    if "what is proposed" in asked.text:
        return {"keep": list(range(1, 41))}
    said = {"decision": "absorb"} if "older and a newer one" in asked.text else {"same": True}
    return {"pairs": [{"pair": 1, "text": BOTH, **said}]}


@pytest.mark.parametrize("said", [(BACKENDS, MISTAKES), ("User prefers TypeScript", "User likes TypeScript")])
def test_what_the_policy_keeps_is_put_away_by_no_merge(
    database_url: str, tenant: str, angles: Angles, said: tuple[str, str]
) -> None:
    model = ScriptedModel(joining)
    policy = MemoryPolicy("kept", keep=lambda memory: True)
    with Engram(
        database_url, scope=Scope(tenant, user_id="ada"), embedder=angles, llm=model, policy=policy  # type: ignore[arg-type]
    ) as door:  # fmt: skip
        quiet(door)
        older, _ = like(door, angles, *said, cosine=0.7)
        aged(door, older, 2)
        assert door.ops.merge_similar(threshold=0.5).changed == 0
        door.ops.audit(apply=True)
        reconciled(door)
        assert facts(door) == set(said)


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
    with pytest.raises(Conflict):
        ada.ops.set_layer(pinned, "buffer")
    assert not ada.ops.list_runs().results, "what was refused did nothing that could be taken back"
    ada.ops.archive([two])
    with pytest.raises(Conflict, match="current"):
        ada.merge([one, two], "x")


def test_by_hand_the_head_of_another_key_and_evidence_are_not_put_away(ada: Engram) -> None:
    one = added(ada, "The sprint ends on Friday")
    head = added(ada, "The sprint is about parsing", topic_key="current-sprint")
    said = added(ada, "Word for word: the sprint is about parsing", category="verbatim")
    with pytest.raises(Conflict, match="key"):
        ada.merge([one, head], "The sprint about parsing ends on Friday")
    with pytest.raises(Conflict, match="evidence"):
        ada.merge([one, said], "The sprint about parsing ends on Friday")
    ada.merge([head, one], "The sprint about parsing ends on Friday")
    kept = ada.get_current(topic_key="current-sprint")
    assert kept is not None
    assert kept.fact == "The sprint about parsing ends on Friday"


def test_by_hand_no_secret_is_kept(ada: Engram) -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    one, two = added(ada, "The key is in the vault"), added(ada, "The vault holds the key")
    ada.merge([one, two], f"The vault holds the key {key}")
    (fact,) = facts(ada)
    assert key not in fact
    assert "[secret:" in fact
    assert all(key not in str((event.content, event.payload)) for event in ada.list_events())


# --- with a language model ----------------------------------------------------------------------------------------
@pytest.fixture
def asking(database_url: str, tenant: str, angles: Angles) -> Iterator[Callable[[Any], Engram]]:
    """A door whose model says what a test tells it to."""
    with ExitStack() as stack:

        def opened(script: Any) -> Engram:
            door = Engram(
                database_url, scope=Scope(tenant, user_id="ada"), embedder=angles, llm=ScriptedModel(script)  # type: ignore[arg-type]
            )  # fmt: skip
            return quiet(stack.enter_context(door))

        yield opened


def like(door: Engram, angles: Angles, *said: str, cosine: float) -> list[str]:
    first, second = said
    return [
        added(door, angles.say(first, 1.0), memory_type="preference"),
        added(door, angles.say(second, cosine), memory_type="preference"),
    ]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (BOTH, True),
        ("User prefers TypeScript for backend services", False),  # a word less
        (f"{BOTH} since 2020", False),  # a value that nobody said
        ("", False),
    ],
)
def test_a_models_text_becomes_a_revision_only_where_nothing_is_lost_or_added(
    asking: Callable[[Any], Engram], angles: Angles, text: str, kept: bool
) -> None:
    door = asking({"pairs": [{"pair": 1, "same": True, "text": text}]})
    one, two = like(door, angles, BACKENDS, MISTAKES, cosine=0.8)
    before = rows(door)
    run = door.ops.merge_similar()
    assert facts(door) == ({BOTH} if kept else {BACKENDS, MISTAKES})
    assert rows(door) == before + kept
    if kept:
        assert {door.get(one).status, door.get(two).status} == {"archived", "superseded"}
        door.ops.undo(run.run_id)
        assert facts(door) == {BACKENDS, MISTAKES}


def test_what_a_model_keeps_apart_is_never_asked_about_again(asking: Callable[[Any], Engram], angles: Angles) -> None:
    door = asking({"pairs": [{"pair": 1, "same": False, "text": ""}]})
    one, two = like(door, angles, BACKENDS, MISTAKES, cosine=0.8)
    run = door.ops.merge_similar()
    assert facts(door) == {BACKENDS, MISTAKES}
    (tie,) = door.list_relations(one, relation_types=["kept_apart"])
    assert {tie.source_id, tie.target_id} == {one, two}
    assert run.run_id
    door.ops.merge_similar()
    assert len(asked(door)) == 1


def asked(door: Engram) -> list[Any]:
    models = door._setup.llm
    assert models is not None
    return models.model_for("merge", {}).asked  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize(
    ("said", "cosine"), [(("The budget is $500", "The budget is $700"), 0.98), ((BACKENDS, MISTAKES), 0.77)]
)
def test_a_model_is_not_asked_about_changed_values_nor_about_what_is_far(
    asking: Callable[[Any], Engram], angles: Angles, said: tuple[str, str], cosine: float
) -> None:
    door = asking({"pairs": [{"pair": 1, "same": True, "text": said[1]}]})
    like(door, angles, *said, cosine=cosine)
    door.ops.merge_similar()
    assert facts(door) == set(said)
    assert asked(door) == []


@pytest.mark.parametrize("step", ["merge", "reconcile"])
def test_a_run_that_dies_before_a_deed_leaves_its_pair_open(
    asking: Callable[[Any], Engram], angles: Angles, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    door = asking(
        {"pairs": [{"pair": 1, "text": BOTH, **({"same": True} if step == "merge" else {"decision": "absorb"})}]}
    )
    older, _ = like(door, angles, BACKENDS, MISTAKES, cosine=0.8 if step == "merge" else 0.6)
    aged(door, older, 2)
    ran = door.ops.merge_similar if step == "merge" else lambda: reconciled(door)

    def dies(_setup: Any, _desk: Any, _run: Any, deeds: Any) -> list[Any]:
        if deeds:
            raise RuntimeError("killed")
        return []

    with monkeypatch.context() as patched:
        patched.setattr(living, "perform", dies)
        with pytest.raises(RuntimeError):
            ran()
    assert facts(door) == {BACKENDS, MISTAKES}
    ran()
    assert facts(door) == {BOTH}
    assert len(asked(door)) == 1  # what was paid for is not asked again


def test_without_a_model_merging_with_one_is_refused(ada: Engram) -> None:
    with pytest.raises(ModelRejected):
        ada.ops.merge_similar(use_llm=True)
    assert ada.ops.merge_similar(use_llm=False).changed == 0


# --- reconciling --------------------------------------------------------------------------------------------------
def reconciled(door: Engram) -> Any:
    cycle = Cycle(run_id=new_id(), epoch=0, began=datetime.now(UTC), scope_id=0)
    return door._run(merging.reconcile_step(door._setup, door._setup.writing({}), cycle))


def aged(door: Engram, memory_id: str, hours: float) -> None:
    def work(conn: Connection) -> None:
        conn.exec_driver_sql(
            "UPDATE engram.agent_memory SET recorded_at = recorded_at - %s * interval '1 hour'"
            " WHERE tenant_id = %s AND memory_id = %s", (hours, door.scope.tenant_id, memory_id),
        )  # fmt: skip

    door._run(steps.write(door.scope.tenant_id, work, key=None))


@pytest.mark.parametrize("decision", ["update", "absorb"])
def test_the_newer_takes_the_older_in_and_the_older_is_superseded(
    asking: Callable[[Any], Engram], angles: Angles, decision: str
) -> None:
    door = asking({"pairs": [{"pair": 1, "decision": decision, "text": BOTH}]})
    older, newer = like(door, angles, BACKENDS, MISTAKES, cosine=0.6)
    aged(door, older, 2)
    before = rows(door)
    run = reconciled(door)
    assert facts(door) == {BOTH}
    left, head = door.get(older), door.get_lineage(newer).head
    assert head is not None
    assert (left.status, left.status_reason, left.superseded_by) == ("superseded", "reconciled", head.memory_id)
    assert rows(door) == before + 1
    door.ops.undo(run.run_id)
    assert facts(door) == {BACKENDS, MISTAKES}


@pytest.mark.parametrize(
    ("text", "cosine", "hours", "asks"),
    [
        ("User prefers TypeScript", 0.6, 2, 1),  # loses words
        (BOTH, 0.6, 0.9, 0),  # not an hour older
        (BOTH, 0.785, 2, 0),
        (BOTH, 0.54, 2, 0),
    ],
)
def test_nothing_is_reconciled_that_is_too_near_too_far_too_new_or_would_lose(
    asking: Callable[[Any], Engram], angles: Angles, text: str, cosine: float, hours: float, asks: int
) -> None:
    door = asking({"pairs": [{"pair": 1, "decision": "absorb", "text": text}]})
    older, _ = like(door, angles, BACKENDS, MISTAKES, cosine=cosine)
    aged(door, older, hours)
    reconciled(door)
    assert facts(door) == {BACKENDS, MISTAKES}
    assert len(asked(door)) == asks


def test_a_source_that_is_trusted_less_never_takes_a_better_one_in(
    asking: Callable[[Any], Engram], angles: Angles
) -> None:
    door = asking({"pairs": [{"pair": 1, "decision": "absorb", "text": BOTH}]})
    older = added(door, angles.say(BACKENDS, 1.0))
    added(door, angles.say(MISTAKES, 0.6), trust="web")
    aged(door, older, 2)
    reconciled(door)
    assert facts(door) == {BACKENDS, MISTAKES}
    assert asked(door) == []


def test_without_a_model_nothing_is_reconciled(ada: Engram) -> None:
    assert reconciled(ada) is None


def test_a_page_of_pairs_reads_no_more_pairs_than_it_passes(
    migrated_database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All pairs of a scope were read for each page: of thousands of like memories that took hours."""
    read: list[float] = []
    listed = pairing._listed

    def explained(conn: Connection, name: str, given: dict[str, Any]) -> list[Any]:
        if name == "list_pairs" and given["before"] == 2.0:
            with psycopg.connect(migrated_database_url.replace("+psycopg", ""), autocommit=True) as owner:
                owner.execute("ANALYZE")
            given = given | {"limit": 20}
            sql = statement(name).replace("/*taking part*/", pairing.TAKING_PART)
            plan = conn.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", given).scalar_one()[0]["Plan"]
            passed = [node for node in nodes(plan) if node.get("Index Name") == "memory_pairs_alike"]
            read.append(sum(node["Actual Rows"] * node["Actual Loops"] for node in passed))
            assert not [node for node in nodes(plan) if node["Node Type"] == "Sort"]
        return listed(conn, name, given)

    monkeypatch.setattr(pairing, "_listed", explained)
    with quiet(Engram(migrated_database_url, scope=Scope(tenant), policy="default")) as door:
        door.add_many([{"fact": f"Crate {number} on the quay holds {7 * number} oranges"} for number in range(300)])
        door.ops.find_clusters()  # looks for pairs, and keeps them
        assert door.ops.merge_similar(dry_run=True).step == "merge"
    assert read
    assert max(read) == 20
