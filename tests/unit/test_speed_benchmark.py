"""What the benchmark of speed makes of what it measured."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def speed() -> Iterator[Any]:
    """The benchmark, which is a script beside its helpers and no part of the package."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield importlib.import_module("speed")
    sys.path.remove(str(ROOT / "benchmarks"))


def test_calls_that_outlast_the_window_are_divided_by_the_time_they_took(speed: Any) -> None:
    rush = speed.rush([lambda: time.sleep(0.2)] * 4, 0.05)
    assert rush.done == len(rush.took) == 4
    assert rush.seconds >= 0.2
    assert rush.rate == pytest.approx(4 / rush.seconds)


def test_every_call_of_every_client_is_counted(speed: Any) -> None:
    called: list[int] = []
    rush = speed.rush([lambda: called.append(1)] * 3, 0.02)
    assert rush.done == len(called) - 3  # each client called once before the others were ready
    assert rush.seconds >= 0.02


def test_percentiles_are_times_that_were_measured(speed: Any) -> None:
    assert speed.percentiles([float(n) for n in range(1, 101)]) == (51.0, 96.0, 100.0)


def test_a_percentile_of_too_few_calls_is_none(speed: Any) -> None:
    assert speed.percentiles([7.0]) == (7.0, None, None)
    assert speed.percentiles([float(n) for n in range(20)]) == (10.0, 19.0, None)
    assert speed.milliseconds(None) == speed.multiple(None, 1.0) == "–"
