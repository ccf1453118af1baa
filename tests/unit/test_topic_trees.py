"""The tree of topics: its numbers, that it is always the same, and that it holds no scope as a whole."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from typing import Any

import numpy as np
import pytest

from engram.lifecycle import topics
from engram.lifecycle.topics import LIMITS, Limits


def unit(vectors: Any) -> Any:
    vectors = np.asarray(vectors, np.float64)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def blocks(vectors: Any, size: int = topics.BLOCK) -> topics.Blocks:
    return lambda: (vectors[at : at + size] for at in range(0, len(vectors), size))


def grown(vectors: Any, limits: Limits = LIMITS, size: int = topics.BLOCK) -> topics.Grown:
    return topics.grow(blocks(vectors, size), len(vectors), limits)


def around(centres: Any, each: int, noise: float, seed: int = 1) -> Any:
    """Rows around some centres, one centre after the other."""
    chance = np.random.default_rng(seed)
    centres = np.repeat(np.asarray(centres, np.float64), each, axis=0)
    wander = chance.normal(size=centres.shape)
    return unit(centres + noise * wander / np.linalg.norm(wander, axis=1, keepdims=True))


def alike(cosine: float, dimensions: int = 8) -> Any:
    """Two unit vectors of a given cosine."""
    found = np.zeros((2, dimensions))
    found[0, 0] = 1
    found[1, 0], found[1, 1] = cosine, np.sqrt(1 - cosine**2)
    return found.astype(np.float32)


def axes(many: int, dimensions: int = 64) -> Any:
    return np.eye(dimensions)[:many]


def test_the_numbers_of_the_tree_are_those_that_were_said() -> None:
    assert (LIMITS.topic_assign, LIMITS.topic_merge, LIMITS.topic_inner, LIMITS.topic_absorb) == (
        0.30,
        0.55,
        0.35,
        0.40,
    )
    assert (topics.MOST_MEMBERS, topics.MOST_LEAVES, topics.FEW, topics.PASSES) == (8, 256, 2, 10)
    assert (topics.FEW_CHANGES, topics.NAME_WORDS) == (10, 3)


@pytest.mark.parametrize(("cosine", "joins"), [(0.31, True), (0.29, False)])
def test_a_row_joins_the_nearest_leaf_from_030(cosine: float, joins: bool) -> None:
    centre, row = alike(cosine)
    assert topics.put(row[None], centre[None]) == [0 if joins else 1]


def test_a_row_too_far_from_all_joins_the_nearest_where_there_is_no_room_for_a_leaf() -> None:
    centres = unit(axes(256, 300))
    row = np.zeros(300, np.float32)
    row[299], row[7] = 0.99, 0.1
    assert topics.put(unit(row[None]), centres) == [7]
    assert topics.put(unit(row[None]), centres[:255]) == [255]


@pytest.mark.parametrize(("cosine", "merged"), [(0.56, True), (0.54, False)])
def test_leaves_merge_from_055(cosine: float, merged: bool) -> None:
    sums = alike(cosine).astype(np.float64) * 3
    place = topics._merged(sums, np.array([3, 3]), LIMITS.topic_merge, LIMITS.topic_inner)
    assert (place[0] == place[1]) is np.bool_(merged)


def test_leaves_do_not_merge_into_one_that_does_not_hold_together() -> None:
    sums = alike(0.9).astype(np.float64) * 1.5  # each of ten rows whose mean similarity to the centre is .15
    counts = np.array([10, 10])
    assert len(set(topics._merged(sums, counts, LIMITS.topic_merge, LIMITS.topic_inner))) == 2
    assert len(set(topics._merged(sums, np.array([4, 4]), LIMITS.topic_merge, LIMITS.topic_inner))) == 1


@pytest.mark.parametrize(("cosine", "few", "absorbed"), [(0.41, 2, True), (0.39, 2, False), (0.41, 3, False)])
def test_a_leaf_of_two_or_fewer_is_absorbed_from_040(cosine: float, few: int, absorbed: bool) -> None:
    pair = alike(cosine)
    vectors = np.concatenate([np.repeat(pair[:1], 5, axis=0), np.repeat(pair[1:], few, axis=0)])
    labels = np.array([0] * 5 + [1] * few, np.int32)
    sums, counts = topics._summed(blocks(vectors), labels)
    assert len(set(topics._joined(labels, sums, counts, LIMITS).tolist())) == (1 if absorbed else 2)


@pytest.mark.parametrize(("each", "split"), [(5, True), (4, False)])
def test_a_leaf_splits_above_eight_members(each: int, split: bool) -> None:
    vectors = around([*axes(1), -axes(1)[0]], each, 0.3)  # two bundles that point away from each other: loose
    labels = np.zeros(2 * each, np.int32)
    sums, counts = topics._summed(blocks(vectors), labels)
    found = topics._split(blocks(vectors), labels, sums, counts, LIMITS, set())
    assert len(set(found.tolist())) == (2 if split else 1)
    if split:
        assert len(set(found[:each].tolist())) == len(set(found[each:].tolist())) == 1


def test_a_leaf_that_holds_together_is_not_split_however_large() -> None:
    vectors = around(axes(1), 400, 1.5)
    labels = np.zeros(400, np.int32)
    sums, counts = topics._summed(blocks(vectors), labels)
    assert topics._hold(sums, counts)[0] >= LIMITS.topic_inner
    assert set(topics._split(blocks(vectors), labels, sums, counts, LIMITS, set()).tolist()) == {0}


def test_what_belongs_together_becomes_one_topic_each() -> None:
    vectors = around(axes(6), 40, 0.8)
    labels = grown(vectors).labels.reshape(6, 40)
    assert all(len(set(row.tolist())) == 1 for row in labels)
    assert len({int(row[0]) for row in labels}) == 6


def test_many_leaves_that_are_somewhat_alike_stand_under_one_inner_topic() -> None:
    shared = axes(20)
    centres = [shared[i] + 0.75 * shared[18 if i < 6 else 19] for i in range(12)]  # within a half .36 alike, else 0
    found = grown(around(centres, 12, 0.2))
    assert found.leaves == 12
    assert found.groups == 2
    assert Counter(found.inner.tolist()) == {0: 6, 1: 6}
    few = grown(around(centres[:8], 12, 0.2))
    assert (few.leaves, few.groups) == (8, 0)


def test_a_leaf_that_falls_apart_in_halves_that_hold_is_split_though_it_holds_itself() -> None:
    vectors = around(alike(0.5), 6, 0.1)
    labels = np.zeros(12, np.int32)
    sums, counts = topics._summed(blocks(vectors), labels)
    assert topics._hold(sums, counts)[0] > LIMITS.topic_inner
    assert len(set(topics._split(blocks(vectors), labels, sums, counts, LIMITS, set()).tolist())) == 2
    vectors = around(alike(0.6), 6, 0.1)
    sums, counts = topics._summed(blocks(vectors), labels)
    assert len(set(topics._split(blocks(vectors), labels, sums, counts, LIMITS, set()).tolist())) == 1


def test_a_tree_has_at_most_256_leaves() -> None:
    chance = np.random.default_rng(5)
    found = grown(unit(chance.normal(size=(3_000, 128))))
    assert found.leaves <= 256
    assert len(found.labels) == 3_000
    assert found.passes <= 10


def test_the_same_rows_make_the_same_tree() -> None:
    vectors = around(axes(30), 100, 1.1)
    one, other = grown(vectors), grown(vectors)
    assert np.array_equal(one.labels, other.labels)
    assert np.array_equal(one.inner, other.inner)


def test_a_scope_without_rows_has_a_tree_without_leaves() -> None:
    found = topics.grow(lambda: iter(()), 0)
    assert (found.leaves, found.groups, len(found.labels)) == (0, 0, 0)


def test_rows_that_are_all_equal_are_one_leaf() -> None:
    vectors = np.repeat(unit(axes(1)), 50, axis=0)
    assert grown(vectors).leaves == 1


@pytest.mark.parametrize("rows", [6_000, pytest.param(50_000, marks=pytest.mark.slow)])
def test_a_tree_is_grown_without_holding_its_rows(rows: int) -> None:
    chance = np.random.default_rng(2)
    centres = unit(chance.normal(size=(100, 64)))

    def streamed() -> Any:
        chance = np.random.default_rng(3)  # made anew at each pass: nobody holds them
        for at in range(0, rows, topics.BLOCK):
            many = min(topics.BLOCK, rows - at)
            yield unit(centres[np.arange(at, at + many) % 100] + 0.06 * chance.normal(size=(many, 64)))

    grown(around(axes(3), 5, 0.2))  # what is imported is no part of it
    tracemalloc.start()
    try:
        found = topics.grow(streamed, rows)
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.leaves == 100
    block = topics.BLOCK * 64 * 8
    assert held < 8 * block + 4 * topics.BLOCK * topics.MOST_LEAVES + 40 * rows


# What replaces what --------------------------------------------------------------------------------------------------


def test_a_tree_scores_by_how_much_nearer_its_rows_are_to_their_own_leaf() -> None:
    vectors = around(axes(2), 10, 0.1)
    right, wrong = np.repeat([0, 1], 10).astype(np.int32), np.tile([0, 1], 10).astype(np.int32)
    assert topics.score(blocks(vectors), right) > 0.9
    assert topics.score(blocks(vectors), wrong) < 0.1
    assert topics.score(blocks(vectors), np.full(20, -1, np.int32)) == 0.0
    assert topics.score(blocks(vectors), np.arange(20, dtype=np.int32)) == 0.0  # each alone tells nothing apart


def test_a_worse_tree_never_replaces_a_good_one() -> None:
    assert topics.is_worse(0.5, 0.6, names=["a"], sees=1.0)
    assert topics.is_worse(0.9, 0.6, names=["a", " "], sees=1.0)  # an unnamed topic
    assert topics.is_worse(0.9, 0.6, names=["a"], sees=0.89)  # most rows had no vector
    assert not topics.is_worse(0.6, 0.6, names=["a"], sees=0.9)
    assert not topics.is_worse(0.1, None, names=[""], sees=0.1)


def test_a_leaf_goes_on_with_the_one_it_shares_half_of_both_with() -> None:
    before = np.array([0] * 6 + [1] * 4 + [-1] * 2, np.int32)
    now = np.array([5] * 5 + [7] + [7] * 4 + [5] * 2, np.int32)
    assert topics.inherited(before, now) == {5: 0, 7: 1}
    scattered = np.array([0, 0, 1, 1, 2, 2, 0, 1, 2, 3, 3, 3], np.int32)
    assert topics.inherited(before, scattered) == {}


def test_one_name_is_inherited_once() -> None:
    before = np.zeros(8, np.int32)
    now = np.array([0] * 4 + [1] * 4, np.int32)
    assert topics.inherited(before, now) == {0: 0}


def test_what_is_trusted_less_is_shown_after_everything_else_of_its_leaf() -> None:
    vectors = around(axes(2), 6, 0.5)
    found = grown(vectors)
    liked = np.array([1, 0, 0, 1, 1, 1] * 2, np.int8)
    best = topics.nearest(blocks(vectors, 5), found, liked, 3)
    for rows in best:
        assert [int(liked[row]) for row in rows] == [0, 0, 1]
        assert len({int(found.labels[row]) for row in rows}) == 1


def test_near_identical_members_are_told() -> None:
    pair, apart = alike(0.96), alike(0.94)
    assert [(a, b) for a, b, _ in topics.near_identical(pair)] == [(0, 1)]
    assert topics.near_identical(apart) == []


# Names ---------------------------------------------------------------------------------------------------------------


def test_a_topic_is_named_by_the_three_words_that_tell_it_apart() -> None:
    names = topics.telling_words([
        ["The database is PostgreSQL", "Backups of the database run nightly", "PostgreSQL backups go to the vault"],
        ["The user's dog is Rex", "Rex is a dog that likes the vault"],
    ])  # fmt: skip
    assert names[0] == "Backups, database, PostgreSQL"
    assert names[1].split(", ")[:2] == ["dog", "Rex"]


def test_a_text_without_words_names_nothing() -> None:
    assert topics.telling_words([["!!!", "???"], []]) == ["", ""]


def test_a_name_is_one_short_line() -> None:
    assert topics.cut_name("  a\nb\tc\x00d\u202ee ") == "a b c d e"
    assert len(topics.cut_name("x" * 500)) == 60


# Communities ---------------------------------------------------------------------------------------------------------


def test_communities_are_what_is_tied_together() -> None:
    edges = [("a", "b", 1.0), ("b", "c", 1.0), ("a", "c", 1.0), ("x", "y", 1.0), ("c", "x", 0.1)]
    assert topics.communities(edges) == [["a", "b", "c"], ["x", "y"]]
    assert topics.communities(reversed(edges)) == [["a", "b", "c"], ["x", "y"]]


def test_communities_end_on_a_ring_that_could_swing_for_ever() -> None:
    ring = [(f"n{i}", f"n{(i + 1) % 8}", 1.0) for i in range(8)]
    found = topics.communities(ring)
    assert sorted(node for nodes in found for node in nodes) == sorted({one for one, _, _ in ring})


def test_a_row_of_a_small_leaf_goes_where_most_of_its_community_is() -> None:
    labels = np.array([0] * 5 + [1] + [2] * 4, np.int32)
    vectors = around(axes(3), 4, 0.1)[[0, 1, 2, 3, 3, 4, 8, 9, 10, 11]]
    tree = topics.regrown(blocks(vectors), labels)
    assert topics.adopted(tree, [[5, 0, 1]]).tolist() == [0] * 6 + [2] * 4
    assert topics.adopted(tree, [[5, 0, 6, 7]]).tolist() == labels.tolist()  # half is not most
    assert topics.adopted(tree, [[6, 0, 1, 2]]).tolist() == labels.tolist()  # it is in a leaf of four


def test_rows_in_no_leaf_are_put_into_the_tree_as_it_is() -> None:
    vectors = around(axes(3), 4, 0.1)
    before = np.array([0, 0, 0, -1, 1, 1, -1, 1, -1, -1, -1, -1], np.int32)
    assert topics.completed(blocks(vectors, 5), before).tolist() == [0] * 4 + [1] * 4 + [2] * 4


def test_the_heavier_relation_decides_a_community() -> None:
    edges = [("a", "b", 0.9), ("b", "c", 0.2), ("c", "d", 0.9)]
    assert topics.communities(edges) == [["a", "b"], ["c", "d"]]
