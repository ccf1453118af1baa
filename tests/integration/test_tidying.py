"""An audit proposes, and does nothing by itself (features Y-20)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from angles import Angles, added, facts, rows
from quiet import quiet

from engram import Engram, Scope
from engram.testing import ScriptedModel


@pytest.fixture
def angles() -> Angles:
    return Angles()


@pytest.fixture
def ada(database_url: str, tenant: str, angles: Angles) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder=angles) as door:  # type: ignore[arg-type]
        yield quiet(door)


def untidy(door: Engram, angles: Angles, cosine: float = 0.7) -> tuple[str, str, str, str]:
    """Two that say the same, one in the core that does not last, and one whose type nobody named."""
    a = added(door, angles.say("User prefers TypeScript", 1.0), memory_type="preference", importance=0.8)
    b = added(door, angles.say("User likes TypeScript", cosine), memory_type="preference", importance=0.7)
    passing = added(door, "User works from Lisbon for now", memory_type="profile")
    door.ops.set_layer(passing, "core")
    untyped = added(door, "We decided to use Postgres", memory_type="semantic")
    return a, b, passing, untyped


def test_merges_demotions_and_types_are_proposed_with_reasons_and_not_done(ada: Engram, angles: Angles) -> None:
    a, b, passing, untyped = untidy(ada, angles)
    before = facts(ada)
    report = ada.ops.audit()
    assert [(one.kind, one.memory_ids, one.to) for one in report.proposals] == [
        ("merge", (a, b), a), ("demote", (passing,), "working"), ("reclassify", (untyped,), "decision"),
    ]  # fmt: skip
    assert all(one.reason for one in report.proposals)
    assert report.run is None
    assert facts(ada) == before
    assert (ada.get(passing).layer, ada.get(untyped).memory_type) == ("core", "semantic")


def test_with_apply_they_are_done_and_undone_as_one(ada: Engram, angles: Angles) -> None:
    _, b, passing, untyped = untidy(ada, angles)
    before, count = facts(ada), rows(ada)
    report = ada.ops.audit(apply=True)
    assert report.run is not None
    assert ada.get(b).status == "archived"
    assert (ada.get(passing).layer, ada.get(untyped).memory_type) == ("working", "decision")
    assert rows(ada) == count
    ada.ops.undo(report.run.run_id)
    assert facts(ada) == before
    assert (ada.get(passing).layer, ada.get(untyped).memory_type) == ("core", "semantic")


def test_a_dry_run_of_it_changes_nothing(ada: Engram, angles: Angles) -> None:
    untidy(ada, angles)
    before = facts(ada)
    report = ada.ops.audit(apply=True, dry_run=True)
    assert report.run is not None
    assert report.run.changed == 3
    assert facts(ada) == before


@pytest.mark.parametrize(("cosine", "merges"), [(0.64, 0), (0.66, 1), (0.77, 1), (0.79, 0)])
def test_merges_are_proposed_between_65_and_78(ada: Engram, angles: Angles, cosine: float, merges: int) -> None:
    untidy(ada, angles, cosine)
    assert sum(one.kind == "merge" for one in ada.ops.audit().proposals) == merges


def test_a_model_strikes_out_what_it_doubts(database_url: str, tenant: str, angles: Angles) -> None:
    model = ScriptedModel({"keep": [2]})
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder=angles, llm=model) as door:  # type: ignore[arg-type]
        quiet(door)
        untidy(door, angles)
        assert [one.kind for one in door.ops.audit().proposals] == ["demote"]


def test_an_empty_scope_has_nothing_to_propose(ada: Engram) -> None:
    assert ada.ops.audit().proposals == ()
