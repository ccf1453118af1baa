"""Nearness: products of matrices in pieces that are one thread's work each, and how wide a walk of a graph looks."""

import numpy as np
import pytest

from engram.channels import nearness, semantic


@pytest.mark.parametrize(("left", "right", "length"), [(1, 1, 4_000), (9, 10, 256), (100, 333, 64), (70, 5, 1_536)])
def test_a_product_in_pieces_is_the_product(left: int, right: int, length: int) -> None:
    rng = np.random.default_rng(7)
    one, two = (rng.standard_normal((rows, length)).astype(np.float32) for rows in (left, right))
    assert nearness.products(one, two) == pytest.approx(one.astype(np.float64) @ two.T.astype(np.float64), abs=1e-2)


def test_a_product_with_nothing_is_empty() -> None:
    assert nearness.products(np.empty((0, 3), np.float32), np.empty((5, 3), np.float32)).shape == (0, 5)


def test_no_piece_of_a_product_is_more_than_one_thread_is_given() -> None:
    sizes = []

    class Watched(np.ndarray):
        def __matmul__(self, other: np.ndarray) -> np.ndarray:
            sizes.append(self.shape[0] * self.shape[1] * other.shape[1])
            return np.asarray(self) @ np.asarray(other)

    rows = np.ones((100, 256), np.float32)
    nearness.products(rows.view(Watched), np.ones((1_000, 256), np.float32))
    assert sum(sizes) == 100 * 1_000 * 256
    assert max(sizes) <= nearness.PIECE


@pytest.mark.parametrize("sizes", [(1,), (64,), (65,), (200, 3), (300,), (1_000, 1_000, 7), (70, 1_000), (0,)])
@pytest.mark.parametrize("alike", [False, True], ids=["all differ", "many are equal"])
def test_the_greatest_of_blocks_are_those_of_all(sizes: tuple[int, ...], alike: bool) -> None:
    rng = np.random.default_rng(sum(sizes))
    whole = rng.uniform(-1, 1, (5, sum(sizes))).astype(np.float32)
    if alike:
        whole = np.round(whole, 1)
    best, first = nearness._Best(5), 0
    for size in sizes:
        best.take_in(whole[:, first : first + size], first)
        first += size
    expected = [
        sorted(range(len(row)), key=lambda place, row=row: (-np.round(row[place], nearness.DIGITS), place))
        for row in whole
    ]
    found = list(best.of_each())
    assert [places for places, _ in found] == [places[: nearness.NEAREST] for places in expected]
    assert [cosines for _, cosines in found] == [
        row[places[: nearness.NEAREST]].tolist() for row, places in zip(whole, expected, strict=True)
    ]


@pytest.mark.parametrize(
    ("size", "fetched", "breadth"),
    [(0, 30, 80), (9_999, 90, 120), (50_000, 30, 160), (500_000, 30, 400), (50_000, 900, 1_000)],
)
def test_a_walk_of_a_larger_scope_keeps_more_in_view(size: int, fetched: int, breadth: int) -> None:
    assert semantic.breadth(size, fetched) == breadth
