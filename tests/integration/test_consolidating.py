"""One summary for several memories, and how these come back (features Y-16)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from angles import Angles, added, facts, looks, rows
from quiet import quiet

from engram import Engram, InvalidInput, MemoryPolicy, Scope
from engram.errors import Conflict
from engram.operations import changing
from engram.testing import ScriptedModel

TEAS = ("Ann likes green tea from Kyoto", "Ann likes black tea from Assam", "Ann likes white tea from Fujian")

REASONS = (
    "User prefers TypeScript for backend services", "User prefers TypeScript because types catch mistakes",
    "User prefers TypeScript when colleagues review code",
)  # fmt: skip
MILL = (
    "User prefers tea over coffee at the mill", "User prefers coffee over tea at the mill",
    "User prefers tea over coffee at the mill on rainy mornings",
)  # fmt: skip


@pytest.fixture
def angles() -> Angles:
    return Angles()


@pytest.fixture
def ada(database_url: str, tenant: str, angles: Angles) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder=angles) as door:  # type: ignore[arg-type]
        yield quiet(door)


def teas(door: Engram, angles: Angles) -> list[str]:
    """Three memories with a similarity of more than 0.85 to each other."""
    return [added(door, angles.say(fact, 0.97, axis)) for axis, fact in enumerate(TEAS, 1)]


def test_clusters_are_shown_and_nothing_changes(ada: Engram, angles: Angles) -> None:
    ids = teas(ada, angles)
    added(ada, "The sea is wide")
    (found,) = ada.ops.find_clusters()
    assert set(found.memory_ids) == set(ids)
    assert found.mean_similarity == pytest.approx(0.9409, abs=1e-3)
    assert not found.redundant
    assert facts(ada) == {*TEAS, "The sea is wide"}


def test_a_caller_says_what_counts_as_a_cluster(ada: Engram, angles: Angles) -> None:
    ids = teas(ada, angles)
    for axis, fact in enumerate(("Bob sails on Monday", "Bob sails on Friday", "Bob swims on Friday"), 4):
        added(ada, angles.say(fact, 0.8, axis))
    assert [set(one.memory_ids) for one in ada.ops.find_clusters(max_distance=0.07)] == [set(ids)]
    assert ada.ops.find_clusters(max_distance=0.05) == ()
    assert ada.ops.find_clusters(min_size=4) == ()
    assert ada.ops.find_clusters(min_jaccard=0.95) == ()
    assert len(ada.ops.find_clusters(max_distance=0.4, min_jaccard=0.1)) == 2
    assert len(ada.ops.find_clusters(max_distance=0.4, min_jaccard=0.1, limit=1)) == 1


def test_without_vectors_the_words_a_caller_asks_for_are_all_that_counts(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant, user_id="bob"), embedder="none") as door:
        quiet(door)
        for fact in TEAS:
            added(door, fact)
        assert len(door.ops.find_clusters(min_jaccard=0.4)) == 1
        assert door.ops.find_clusters(min_jaccard=0.95) == ()


@pytest.mark.parametrize(
    "given",
    [{"max_distance": 1.1}, {"min_jaccard": "much"}, {"min_size": 1}, {"min_size": 41}, {"limit": 0}, {"limit": True}],
)
def test_clusters_of_impossible_kinds_are_refused(ada: Engram, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(given))):
        ada.ops.find_clusters(**given)


def test_a_summary_stands_for_its_sources_which_are_found_on_demand(ada: Engram, angles: Angles) -> None:
    ids = teas(ada, angles)
    before = rows(ada)
    run = ada.ops.consolidate_summaries()
    (summary,) = [memory for memory in ada.list_memories() if memory.category == "summary"]
    assert summary.importance == 0.5
    assert all(fact in summary.fact for fact in TEAS)
    assert facts(ada) == {summary.fact}
    assert all((ada.get(one).status, ada.get(one).consolidated_into) == ("active", summary.memory_id) for one in ids)
    assert [(ada.get(one).is_current, ada.get(one).stands) for one in ids] == [(False, True)] * len(ids)
    with pytest.raises(Conflict):
        ada.merge(ids[:2], "Ann likes teas")
    derived = ada.list_relations(summary.memory_id, direction="outbound", relation_types=["derived_from"])
    assert {one.target_id for one in derived} == set(ids)
    back = ada.list_relations(summary.memory_id, direction="inbound", relation_types=["summarized_by"])
    assert {one.source_id for one in back} == set(ids)
    found = {hit.memory.fact for hit in ada.search("Ann likes tea", include_consolidated=True)}
    assert found >= set(TEAS)
    assert not {hit.memory.fact for hit in ada.search("Ann likes tea")} & set(TEAS)
    assert rows(ada) == before + 1
    ada.ops.undo(run.run_id)
    assert facts(ada) == set(TEAS)


@pytest.mark.parametrize("how", ["forget", "archive"])
def test_dropping_a_summary_gives_back_what_it_stood_for(ada: Engram, angles: Angles, how: str) -> None:
    teas(ada, angles)
    ada.ops.consolidate_summaries()
    (summary,) = list(ada.list_memories())
    if how == "forget":
        ada.forget(summary.memory_id)
        assert facts(ada) == set(TEAS)
        return
    run = ada.ops.archive([summary.memory_id])
    assert facts(ada) == set(TEAS)
    ada.ops.undo(run.run_id)
    assert facts(ada) == {summary.fact}


def test_forgetting_a_source_puts_its_summary_away(ada: Engram, angles: Angles) -> None:
    ids = teas(ada, angles)
    ada.ops.consolidate_summaries()
    ada.forget(ids[0])
    assert facts(ada) == set(TEAS[1:])


def test_a_summary_of_what_was_revised_since_is_put_away_and_the_rest_comes_back(ada: Engram, angles: Angles) -> None:
    ids = teas(ada, angles)
    ada.ops.consolidate_summaries()
    ada.revise(ids[0], "Ann likes green tea from Uji")
    ada.ops.consolidate_summaries()
    assert facts(ada) == {"Ann likes green tea from Uji", *TEAS[1:]}


def test_a_dry_run_shows_the_summaries_and_writes_none(ada: Engram, angles: Angles) -> None:
    teas(ada, angles)
    shown = ada.ops.consolidate_summaries(dry_run=True)
    assert shown.changed == 4
    assert facts(ada) == set(TEAS)


def test_no_more_summaries_than_asked_for(ada: Engram, angles: Angles) -> None:
    teas(ada, angles)
    assert ada.ops.consolidate_summaries(limit=0).changed == 0


@pytest.mark.parametrize(
    ("said", "text", "kept"),
    [
        (REASONS, f"{REASONS[0]} because types catch mistakes when colleagues review code", True),
        (REASONS, f"{REASONS[0]} because types catch mistakes", False),
        (REASONS, f"{REASONS[0]} because types catch mistakes when 5 colleagues review code", False),
        (TEAS, "Ann likes green tea from Kyoto, black tea from Assam and white tea from Fujian", False),
        (MILL, MILL[2], False),
    ],
)
def test_a_models_words_stand_only_where_nothing_was_lost_and_nothing_claims_another_thing(
    database_url: str, tenant: str, angles: Angles, said: tuple[str, ...], text: str, kept: bool
) -> None:
    model = ScriptedModel({"groups": [{"group": 1, "text": text}]})
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder=angles, llm=model) as door:  # type: ignore[arg-type]
        quiet(door)
        for axis, fact in enumerate(said, 1):
            added(door, angles.say(fact, 0.97, axis))
        door.ops.consolidate_summaries()
        (summary,) = [memory for memory in door.list_memories() if memory.category == "summary"]
        assert (summary.fact == text) is kept
        assert kept or all(fact in summary.fact for fact in said)
        assert len(model.asked) == 1


@pytest.mark.parametrize("name", ["valid_to", "expires_at"])
def test_what_ends_is_told_by_no_summary(ada: Engram, angles: Angles, name: str) -> None:
    soon = datetime.now(UTC) + timedelta(days=1)
    for axis, fact in enumerate(TEAS, 1):
        added(ada, angles.say(fact, 0.97, axis), **{name: soon})
    assert ada.ops.consolidate_summaries().changed == 0
    assert facts(ada) == set(TEAS)


def test_a_dry_run_writes_nothing_and_asks_no_model(database_url: str, tenant: str, angles: Angles) -> None:
    model = ScriptedModel({"groups": []})
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder=angles, llm=model) as door:  # type: ignore[arg-type]
        quiet(door)
        teas(door, angles)
        assert door.ops.consolidate_summaries(dry_run=True).changed == 4
        assert model.asked == []
        assert looks(door) == 0


def test_what_the_policy_keeps_leaves_its_place_to_no_summary(database_url: str, tenant: str, angles: Angles) -> None:
    policy = MemoryPolicy("kept", keep=lambda memory: "Kyoto" in memory.fact)
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder=angles, policy=policy) as door:  # type: ignore[arg-type]
        quiet(door)
        teas(door, angles)
        door.ops.consolidate_summaries()
        assert facts(door) == set(TEAS)


def test_forgetting_everything_leaves_nothing_that_comes_back(ada: Engram, angles: Angles) -> None:
    put_away = [added(ada, fact) for fact in ("The sea is wide", "The keel is oak", "The mast is pine")]
    ids = teas(ada, angles)
    ada.ops.consolidate_summaries()
    assert len(facts(ada)) == 1 + len(put_away)
    ada.ops.archive(put_away[:1])
    ada.end_validity(put_away[1])
    ada.annotate(put_away[2], expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    assert len(facts(ada)) == 1
    would = ada.delete_all(user_id="ada", dry_run=True)
    assert len(facts(ada)) == 1
    gone = ada.delete_all(user_id="ada", idempotency_key="k")
    assert set(gone) == set(would) > {*ids, *put_away}
    every = ada.list_memories(filter={"statuses": ["active", "superseded", "contested", "archived", "deleted"]})
    assert {(one.status, one.status_reason) for one in every} == {("deleted", "forgotten")}
    assert facts(ada) == set()
    assert ada.delete_all(user_id="ada", idempotency_key="k") == ()


def test_what_is_erased_meanwhile_keeps_nothing_else_from_being_forgotten(
    ada: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = (added(ada, fact) for fact in ("The sea is wide", "The keel is oak", "The mast is pine"))
    forget = changing.forget

    def erasing(setup: Any, memory_id: str, *more: Any) -> Any:
        if memory_id == first:
            ada.ops.erase(memories=[second])
        return forget(setup, memory_id, *more)

    monkeypatch.setattr(changing, "forget", erasing)
    assert set(ada.delete_all(user_id="ada")) == {first, third}
    assert facts(ada) == set()
