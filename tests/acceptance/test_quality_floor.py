"""What a search must find in the project's own conversation, at the least; and that less is noticed.

A short form of `make bench-quality`: every third question, ten results. The floors are below what was measured when
they were set by about the worth of one question. A change that goes under one has made search worse, or says why not.
In the chats with long answers there is a floor for each group of abilities, over all of its questions.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from engram import Engram, Scope
from engram.settings import load

ROOT = Path(__file__).parents[2]
EVERY: Mapping[str, int] = {"recall": 6}  # of all others every third: `recall` takes several times as long
# In per cent. By turns: is the evidence found? By sessions: does the right conversation come first?
FLOORS: Mapping[str, Mapping[str, float]] = {
    "search": {"R@10": 73.0, "sessions nDCG@10": 80.0},
    "recall": {"R@10": 67.0, "sessions nDCG@10": 78.5},
    "deep_search": {"R@10": 73.5, "sessions nDCG@10": 80.5},
}

ADVICE: Mapping[str, frozenset[str]] = {
    "of the asker": frozenset({"instruction following", "preference following"}),
    "of times": frozenset({"temporal reasoning", "event ordering"}),
    "of facts": frozenset({"information extraction", "knowledge update", "contradiction resolution"}),
}
ADVICE_FLOORS: Mapping[str, Mapping[str, float]] = {  # R@10
    "search": {"of the asker": 68.0, "of times": 66.0, "of facts": 93.0},
    "recall": {"of the asker": 68.0, "of times": 66.0, "of facts": 93.0},
}

Measured = Callable[[str], Mapping[str, float]]


@pytest.fixture(scope="module")
def measured(database_url: str) -> Iterator[Measured]:
    """The measures of one way over the demo conversation, in per cent; the conversation is remembered once."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    quality, sets = importlib.import_module("quality"), importlib.import_module("sets")
    (case,) = sets.chosen("demo").cases()
    questions = case.questions
    known: dict[str, Mapping[str, float]] = {}
    with Engram(
        database_url, scope=Scope("quality-floor", user_id="lena"), settings=load({}), embedder="wordllama"
    ) as memory:
        keys = quality.add(memory, case.turns)

        def of(way: str) -> Mapping[str, float]:
            if way not in known:
                case.questions = questions[:: EVERY.get(way, 3)]
                rows = quality.ask(case, quality.seeker(memory, keys, way, case.ended_at), fifty=False)
                known[way] = {name: quality.mean(rows, name) for name in ("R@10", "sessions nDCG@10")}
            return known[way]

        yield of
    sys.path.remove(str(ROOT / "benchmarks"))


def missed(way: str, found: Mapping[str, float]) -> dict[str, float]:
    """The measures that are under the floor of a way."""
    return {name: found[name] for name, floor in FLOORS[way].items() if found[name] < floor}


@pytest.mark.parametrize("way", FLOORS)
def test_what_is_found_in_the_demo_conversation_is_above_the_floor(measured: Measured, way: str) -> None:
    assert missed(way, measured(way)) == {}


@pytest.mark.parametrize(
    ("broken", "under"),
    [("search:semantic", "R@10"), ("search:keyword", "sessions nDCG@10")],
    ids=["words", "vectors"],
)
def test_a_search_that_lost_a_channel_falls_under_the_floor(measured: Measured, broken: str, under: str) -> None:
    assert under in missed("search", measured(broken))


@pytest.fixture(scope="module")
def advised(database_url: str) -> Iterator[Callable[[str], Mapping[str, float]]]:
    """R@10 of each group of abilities by one way over the chats with long answers, in per cent."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    quality, sets = importlib.import_module("quality"), importlib.import_module("sets")
    wanted = frozenset().union(*ADVICE.values())
    with ExitStack() as doors:
        chats = []
        for case in sets.chosen("advice").cases():
            case.questions = [one for one in case.questions if one.category in wanted]
            scope = Scope("advice-floor", user_id=case.name)
            memory = doors.enter_context(Engram(database_url, scope=scope, settings=load({}), embedder="wordllama"))
            chats.append((case, memory, quality.add(memory, case.turns)))

        def of(way: str) -> Mapping[str, float]:
            rows = [
                row
                for case, memory, keys in chats
                for row in quality.ask(case, quality.seeker(memory, keys, way, case.ended_at), fifty=False)
            ]
            return {
                group: quality.mean([row for row in rows if row["category"] in kinds], "R@10")
                for group, kinds in ADVICE.items()
            }

        yield of
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.mark.parametrize("way", ADVICE_FLOORS)
def test_what_is_found_in_chats_with_long_answers_is_above_the_floor(
    advised: Callable[[str], Mapping[str, float]], way: str
) -> None:
    found = advised(way)
    assert {group: found[group] for group, floor in ADVICE_FLOORS[way].items() if found[group] < floor} == {}


def test_a_search_without_its_words_falls_under_the_floor_of_facts(
    advised: Callable[[str], Mapping[str, float]],
) -> None:
    assert advised("search:semantic")["of facts"] < ADVICE_FLOORS["search"]["of facts"]
