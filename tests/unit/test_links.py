"""Which memories a new one is tied to: the three nearest within a band, and what two of them share."""

from __future__ import annotations

import pytest

from engram.lifecycle.deeds import Tie
from engram.lifecycle.links import Limits, Neighbour, shared_topic, ties


def near(*similarities: float) -> list[Neighbour]:
    return [Neighbour(f"m{place}", alike) for place, alike in enumerate(similarities)]


def test_up_to_three_nearest_are_related_and_marked() -> None:
    assert ties("new", near(0.6, 0.8, 0.7, 0.65)) == [
        Tie("new", "m1", "related_to", 0.8, auto=True),
        Tie("new", "m2", "related_to", 0.7, auto=True),
        Tie("new", "m3", "related_to", 0.65, auto=True),
    ]


@pytest.mark.parametrize(
    ("similarity", "tied"), [(0.88, False), (0.87, True), (0.55, True), (0.54, False), (1.0, False)]
)
def test_a_neighbour_lies_beyond_the_conflict_band_and_within_the_link_distance(similarity: float, tied: bool) -> None:
    assert bool(ties("new", near(similarity))) is tied


def test_the_distances_belong_to_the_model_and_the_policy_comes_first() -> None:
    limits = Limits.of({"link_distance": 0.2, "conflict_distance": 0.1}, {"link_distance": 0.3, "near": 0.9})
    assert limits == Limits(conflict_distance=0.1, link_distance=0.3)
    assert [tie.target_id for tie in ties("new", near(0.75, 0.69), limits)] == ["m0"]


def test_what_two_neighbours_are_part_of_the_new_one_is_too() -> None:
    given = [
        Neighbour("a", 0.8, hubs=("hub", "other")), Neighbour("b", 0.7, hubs=("hub",)), Neighbour("c", 0.6),
        Neighbour("d", 0.56, hubs=("other",)),
    ]  # fmt: skip
    assert [(tie.target_id, tie.relation_type) for tie in ties("new", given)] == [
        ("a", "related_to"), ("b", "related_to"), ("c", "related_to"), ("hub", "part_of"),
    ]  # fmt: skip


def test_nothing_is_tied_to_itself() -> None:
    given = [Neighbour("new", 0.7), Neighbour("a", 0.7, hubs=("new",)), Neighbour("b", 0.7, hubs=("new",))]
    assert [tie.target_id for tie in ties("new", given)] == ["a", "b"]


@pytest.mark.parametrize(
    ("found", "shared"), [((4, 4, 7), 4), ((4, 7, 9), None), ((None, None, 3), None), ((), None), ((2, 2, 1, 1), 1)]
)
def test_two_neighbours_of_one_topic_share_it(found: tuple[int | None, ...], shared: int | None) -> None:
    assert shared_topic([Neighbour(f"m{place}", 0.7, topic) for place, topic in enumerate(found)]) == shared
