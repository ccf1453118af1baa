"""Deep search: a question asked in several ways at once, by rules, by a model or by the caller, and made one result."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from commands import Cli
from quiet import quiet

from engram import AsyncEngram, Engram, Scope, SearchResults
from engram.errors import InvalidInput, LimitExceeded, Unavailable
from engram.operations import deepening, searching
from engram.recall import results
from engram.settings import load
from engram.testing import ScriptedModel

FACTS = (
    "The automobile insurance expires in July",
    "Ada rented a flat in Bergen last May",
    "Ben signed the lease for the apartment",
    "The garden needs water twice a week",
    "Ada plays the violin on Sundays",
    "The library closes at eight",
    "Cleo sold her boat to a fisherman",
)
BOTH = "Where does Ada live and when does the vehicle insurance expire?"


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Callable[..., Engram]]:
    """Opens doors to one user's memory; all of them are closed after the test."""
    opened: list[Engram] = []

    def open_(level: str = "off", model: Any = None, embedder: Any = "wordllama") -> Engram:
        scope, settings = Scope(tenant, user_id="ada"), load({}, llm_level=level)
        opened.append(Engram(database_url, scope=scope, settings=settings, llm=model, embedder=embedder))
        return quiet(opened[-1])

    yield open_
    for one in opened:
        one.close()


def filled(memory: Engram) -> Engram:
    memory.add_many([{"fact": fact, "force": True} for fact in FACTS])
    return memory


def facts(results: SearchResults) -> list[str]:
    return [one.memory.fact for one in results]


def test_both_halves_of_a_question_are_answered(door: Callable[..., Engram]) -> None:
    found = filled(door()).deep_search(BOTH, limit=3)
    assert {FACTS[0], FACTS[1]} <= set(facts(found))
    assert found.variants[0] == "ada live vehicle insurance expire"
    assert found.profile == "rrf"
    assert not found.degraded


def test_a_fused_search_leaves_out_what_is_under_the_score_asked_for(door: Callable[..., Engram]) -> None:
    memory = filled(door())
    every = memory.search(BOTH, profile="rrf", expand=True)
    least = every[1].score
    found = memory.search(BOTH, profile="rrf", expand=True, min_score=least)
    assert [one.score for one in found] == [one.score for one in every if one.score >= least]
    assert len(found) < len(every)
    assert not len(memory.search(BOTH, profile="rrf", expand=True, min_score=every[0].score + 1))


@pytest.mark.parametrize("profile", ["default", "recall", "hybrid", "simple"])
def test_every_score_is_the_sum_of_its_terms_and_ranks_are_in_order(door: Callable[..., Engram], profile: str) -> None:
    memory = filled(door())
    found = memory.deep_search(BOTH, limit=5, profile=profile)
    assert profile != "recall" or any("share" in one.terms for one in found)
    for one in (*found, *memory.search(BOTH, expand=True, profile=profile)):
        assert sum(term.contribution for term in one.terms.values()) == pytest.approx(one.score, abs=1e-9)
    assert [one.rank for one in found] == list(range(1, len(found) + 1))
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_what_the_question_itself_found_is_ranked_once_where_one_order_serves(
    door: Callable[..., Engram], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = filled(door())
    ranked = Mock(wraps=results.relevant)
    monkeypatch.setattr(results, "relevant", ranked)
    found = memory.deep_search(BOTH, profile="recall")
    assert found.variants
    assert ranked.call_count == 1 + len(found.variants)
    ranked.reset_mock()
    found = memory.deep_search(BOTH)  # words are taken from what ranks are first, and scored by another profile
    assert ranked.call_count == 2 + len(found.variants)


def test_a_smaller_constant_sets_the_first_ranks_farther_apart(door: Callable[..., Engram]) -> None:
    memory = filled(door())
    near, far = memory.deep_search("the garden", n_queries=0, k=1), memory.deep_search("the garden", n_queries=0, k=60)
    assert near[0].score / near[1].score > far[0].score / far[1].score
    assert near[0].memory.fact == far[0].memory.fact == FACTS[3]
    assert near[0].terms["semantic"].value == pytest.approx(1 / 2)
    assert far[0].terms["semantic"].value == pytest.approx(1 / 61)


def test_the_callers_own_variants_are_asked_and_no_others(door: Callable[..., Engram]) -> None:
    found = filled(door()).deep_search("Who?", queries=["boat", "Who?", "BOAT"], limit=1)
    assert found.variants == ("boat",)
    assert facts(found) == [FACTS[6]]


def test_words_of_the_corpus_stand_for_those_of_the_question(door: Callable[..., Engram]) -> None:
    memory = door()
    memory.add_many([{"fact": f"The {colour} car stands in garage {n}"} for n, colour in enumerate(("red", "blue"))])
    memory.add("An automobile needs an insurance")
    found = memory.deep_search("vehicle")
    assert any("car" in one.split() and "automobile" in one.split() for one in found.variants)


def test_without_an_embedder_variants_are_searched_by_words(door: Callable[..., Engram]) -> None:
    found = filled(door(embedder="none")).deep_search(BOTH, limit=3)
    assert FACTS[0] in facts(found)
    assert found.variants


def test_a_model_writes_the_variants_and_its_answer_is_paid_for_once(door: Callable[..., Engram]) -> None:
    model = ScriptedModel({"variants": ["flat in Bergen", "rented apartment"]})
    memory = filled(door("full", model))
    first, second = memory.deep_search("Where is home?"), memory.deep_search("Where is home?")
    assert first.variants == second.variants == ("flat in Bergen", "rented apartment")
    assert facts(first)[0] == FACTS[1]
    assert len(model.asked) == 1


def test_at_level_auto_a_sure_search_asks_no_model_and_an_unsure_one_does(door: Callable[..., Engram]) -> None:
    model = ScriptedModel({"variants": ["flat in Bergen"]})
    memory = filled(door("auto", model))
    memory.deep_search("The library closes at eight")
    assert not model.asked
    memory.deep_search("residence")
    assert len(model.asked) == 1


def test_at_level_off_no_model_is_asked(door: Callable[..., Engram]) -> None:
    model = ScriptedModel({"variants": ["flat in Bergen"]})
    memory = filled(door("off", model))
    memory.deep_search("residence")
    memory.search("residence", expand=True)
    assert not model.asked


@pytest.mark.parametrize(
    "says", ["no JSON", {"variants": ["x"] * 40}, {"other": 1}, Unavailable("the provider is out", retry_after=None)]
)
def test_where_the_model_does_not_answer_the_rules_do(door: Callable[..., Engram], says: Any) -> None:
    found = filled(door("full", ScriptedModel(says))).deep_search(BOTH, limit=3)
    assert FACTS[0] in facts(found)
    assert "expand" in found.degraded
    assert found.variants[0] == "ada live vehicle insurance expire"


def failing(monkeypatch: pytest.MonkeyPatch, fails: Callable[[str], bool]) -> list[str]:
    """Searches of some queries fail; what was searched for."""
    honest, seen, guard = searching.all_found, [], threading.Lock()

    def all_found(setup: Any, reading: Any, wanted: Any, known: Any = None, **more: Any) -> Any:
        with guard:
            seen.extend(asked.query for asked, _ in wanted)
        if any(fails(asked.query) for asked, _ in wanted):
            raise Unavailable("the statement took too long", sqlstate="57014")
        return (yield from honest(setup, reading, wanted, known, **more))

    monkeypatch.setattr(searching, "all_found", all_found)
    return seen


def test_a_variant_that_fails_is_named_and_the_others_answer(
    door: Callable[..., Engram], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = filled(door())
    seen = failing(monkeypatch, lambda query: query == "boat")
    found = memory.deep_search("Ada", queries=["boat", "garden water"])
    assert seen[:3] == ["Ada", "boat", "garden water"]
    assert sorted(seen[3:]) == ["boat", "garden water"], "each is made by itself where they fail together"
    assert found.degraded == ("variant 1",)
    assert found.variants == ("garden water",)
    assert FACTS[3] in facts(found)
    boat = next((one for one in found if one.memory.fact == FACTS[6]), None)
    assert boat is None or "keyword 2" not in boat.terms


def test_where_the_question_itself_fails_it_is_an_outage(
    door: Callable[..., Engram], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = filled(door())
    failing(monkeypatch, lambda query: query == "Ada")
    with pytest.raises(Unavailable):
        memory.deep_search("Ada", queries=["boat"])


def test_variants_are_searched_for_at_the_same_time(
    door: Callable[..., Engram], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = filled(door())
    seen, honest = [], searching.all_found

    def all_found(setup: Any, reading: Any, wanted: Any, known: Any = None, **more: Any) -> Any:
        seen.append([asked.query for asked, _ in wanted])
        return (yield from honest(setup, reading, wanted, known, **more))

    monkeypatch.setattr(searching, "all_found", all_found)
    assert len(memory.deep_search("Ada", queries=["boat", "garden", "library"])) > 3
    assert seen == [["Ada"], ["boat", "garden", "library"]]


async def test_both_doors_find_the_same(database_url: str, door: Callable[..., Engram], tenant: str) -> None:
    memory = filled(door())
    ours = memory.deep_search(BOTH, track=False)
    async with AsyncEngram(database_url, scope=Scope(tenant, user_id="ada")) as other:
        theirs = await quiet(other).deep_search(BOTH, track=False)
    assert [(one.memory.memory_id, one.score) for one in ours] == [
        (one.memory.memory_id, pytest.approx(one.score)) for one in theirs
    ]
    assert ours.variants == theirs.variants


def test_a_weak_search_goes_deep_by_itself_and_keeps_what_is_better(
    door: Callable[..., Engram], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = door()
    memory.add_many([{"fact": f"The {colour} car stands in garage {n}"} for n, colour in enumerate(("red", "blue"))])
    memory.add("An automobile needs an insurance")
    weak = memory.search("a vehicle of mine", expand=False)
    assert weak.variants == ()
    best = max(one.terms["relevance"].value for one in weak)
    monkeypatch.setattr(deepening, "WEAK", best + 0.01)
    deep = memory.search("a vehicle of mine")
    assert deep.variants
    assert max(one.terms["relevance"].value for one in deep) > best
    monkeypatch.setattr(deepening, "WEAK", best)
    assert memory.search("a vehicle of mine").variants == ()


@pytest.mark.parametrize(("mode", "share"), [("semantic", 0.6 / 1.6), ("keyword", 1.1 / 1.6), ("hybrid", 1.0)])
def test_what_is_weak_is_a_share_of_what_a_mode_reaches(
    door: Callable[..., Engram], monkeypatch: pytest.MonkeyPatch, mode: Any, share: float
) -> None:
    memory = filled(door())
    sure = memory.search("The library opens on Sundays", mode=mode, expand=False)
    best = max(one.terms["relevance"].value for one in sure)
    monkeypatch.setattr(deepening, "WEAK", best / share - 0.001)
    assert memory.search("The library opens on Sundays", mode=mode).variants == ()
    monkeypatch.setattr(deepening, "WEAK", best / share + 0.001)
    went: list[str] = []

    def deepened(*_: Any) -> Generator[Any, Any, SearchResults]:
        went.append(mode)
        yield from ()
        return sure

    monkeypatch.setattr(deepening, "deepened", deepened)
    memory.search("The library opens on Sundays", mode=mode)
    assert went == [mode]


def test_a_sure_search_does_not_go_deep_unless_it_is_told_to(door: Callable[..., Engram]) -> None:
    memory = filled(door())
    assert memory.search("The library closes at eight").variants == ()
    assert memory.search("The library closes at eight on Sundays", expand=True).variants != ()


def test_a_search_that_goes_deep_stays_within_its_bounds(door: Callable[..., Engram]) -> None:
    memory = filled(door())
    assert all(one.score >= 0.6 for one in memory.search(BOTH, min_score=0.6, expand=True))
    ids = [one.memory_id for one in memory.list_memories()]
    memory.relate(ids[0], ids[3], "part_of")
    assert not any("graph" in one.channels for one in memory.search(BOTH, depth=0, expand=True, limit=20))


def test_a_search_that_finds_nothing_better_stays_as_it_was(door: Callable[..., Engram]) -> None:
    memory = filled(door(embedder="none"))
    assert memory.search("xylophone quartz").variants == ()


def test_superseded_and_foreign_memories_stay_out(door: Callable[..., Engram], tenant: str) -> None:
    memory = door()
    memory.add("User lives in Oslo", topic_key="home")
    memory.add("User lives in Bergen", topic_key="home")
    memory.scoped(user_id="ben").add("User lives in Rome")
    found = memory.deep_search("Where do I live, and where did I live?", queries=["User lives in Oslo", "Rome"])
    assert facts(found) == ["User lives in Bergen"]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"n_queries": 11}, InvalidInput), ({"n_queries": -1}, InvalidInput), ({"k": -0.5}, InvalidInput),
        ({"k": float("nan")}, InvalidInput), ({"queries": ["x"] * 11}, LimitExceeded),
        ({"queries": "boat"}, InvalidInput),
        ({"profile": "best"}, InvalidInput),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(door: Callable[..., Engram], given: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        door().deep_search("Ada", **given)


def test_the_command_line_searches_deep(
    door: Callable[..., Engram], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, database_url: str,
    tenant: str,
) -> None:  # fmt: skip
    filled(door())
    for name, value in {"DATABASE_URL": database_url, "ENGRAM_TENANT": tenant, "ENGRAM_USER": "ada"}.items():
        monkeypatch.setenv(name, value)
    found = Cli(capsys).json("deep-search", "Who?", "--also", "a boat for a fisherman", "--limit", "1")
    assert [one["memory"]["fact"] for one in found["results"]] == [FACTS[6]]
    assert found["variants"] == ["a boat for a fisherman"]
