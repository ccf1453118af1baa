"""What the benchmark of speed makes of what it measured."""

from __future__ import annotations

import importlib
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import pytest

from tests.scripts import script


@pytest.fixture(scope="module")
def speed() -> Iterator[Any]:
    """The benchmark, which is a script beside its helpers and no part of the package."""
    yield from script("speed")


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


def test_rushes_of_calls_and_floors_alternate_and_last_as_long_as_one_of_each(
    speed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[list[str], float]] = []

    def rushed(works: list[str], seconds: float) -> str:
        asked.append((works, seconds))
        return works[0]

    monkeypatch.setattr(speed, "rush", rushed)
    calls, floors = speed.alternated(["call"], ["floor"], 1.5)
    assert [works for works, _ in asked] == [["call"], ["floor"]] * 3
    assert sum(seconds for _, seconds in asked) == pytest.approx(3.0)
    assert (calls, floors) == (["call"] * 3, ["floor"] * 3)


def test_sizes_that_are_too_small_to_search_are_refused(
    speed: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["speed.py", "--rows", "10,10000"])
    with pytest.raises(SystemExit) as left:
        speed.main()
    assert left.value.code == 2
    assert "--rows: expected sizes from 100 on, found 10" in capsys.readouterr().err


WHOLE: dict[str, dict[str, Any]] = {
    "speed": {"rows": (10_000, 100_000), "times": 150, "seconds": 2.0, "no_rush": False},
    "scale": {
        "sizes": (1_000, 10_000, 100_000, 1_000_000), "kinds": ("large", "small"), "times": 100, "seconds": 1.5,
        "graph_rows": 100_000, "waiting_rows": 10_000, "tenant_rows": 100_000,
    },
    "quality": dict.fromkeys(("ways", "cases", "limit", "half", "embedders"))
    | dict.fromkeys(("quick", "ten", "whole"), False),
}  # fmt: skip


@pytest.mark.parametrize(
    ("script", "less"),
    [
        ("speed", {"rows": (1_000, 10_000)}),
        ("speed", {"times": 5}),
        ("speed", {"seconds": 0.5}),
        ("speed", {"no_rush": True}),
        ("speed", {"only": ("search",)}),
        ("scale", {"sizes": (1_000, 10_000)}),
        ("scale", {"times": 5}),
        ("scale", {"seconds": 0.5}),
        ("scale", {"graph_rows": 1_000}),
        ("scale", {"tenant_rows": 0}),
        ("scale", {"only": ("search",)}),
        ("quality", {"whole": True}),
        ("quality", {"ten": True}),
        ("quality", {"embedders": ("wordllama",)}),
        ("quality", {"limit": 3}),
    ],
)
def test_only_the_whole_of_a_measurement_takes_the_place_of_the_record(
    speed: Any, script: str, less: dict[str, Any]
) -> None:
    module = importlib.import_module(script)
    given = WHOLE[script] | ({} if script == "quality" else {"only": module.CALLS})
    assert module.is_whole(Namespace(**given))
    assert not module.is_whole(Namespace(**given | less))
