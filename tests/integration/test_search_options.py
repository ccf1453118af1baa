"""The options of a search: profiles of one's own, a reranker, the cut, sessions, early stop and order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from commands import Cli
from model_server import status
from quiet import quiet
from rerank_server import RerankServer, relevance

from engram import AsyncEngram, Engram, MemoryPolicy, Profile, ProfileWeights, Scope, SearchResults
from engram.errors import InvalidInput, SettingsError
from engram.settings import load

Door = Callable[..., Engram]
TRIPS = [f"Ada painted the harbour of {place}" for place in ("Lisbon", "Porto", "Faro", "Sines", "Lagos", "Aveiro")]
QUERY = "harbour painted"


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Door]:
    """Opens doors to a tenant of the test's own that search by keyword; all of them are closed after it."""
    opened: list[Engram] = []

    def open_(*, reranker: Any = None, policy: Any = None, embedder: Any = "none", **settings: Any) -> Engram:
        ids = {name: settings.pop(name) for name in ("namespace", "user_id") if name in settings}
        scope = Scope(**{"tenant_id": tenant, "user_id": "ada", **ids})
        opened.append(
            Engram(
                database_url, scope=scope, settings=load({}, **settings), embedder=embedder, policy=policy,
                reranker=reranker,
            )
        )  # fmt: skip
        return quiet(opened[-1])

    yield open_
    for one in opened:
        one.close()


def facts(results: SearchResults) -> list[str]:
    return [one.memory.fact for one in results]


def added(memory: Engram, *several: str) -> None:
    """Facts in a door's memory, each for itself, however like another it is."""
    memory.add_many([{"fact": fact, "force": True} for fact in several])


class Words:
    """A reranker that likes some words, and remembers what it was asked."""

    name = "words"

    def __init__(self, **likes: float) -> None:
        self.likes = likes
        self.asked: list[tuple[str, list[str]]] = []
        self.failure: Exception | None = None
        self.meanwhile: Callable[[], Any] = lambda: None

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked.append((query, list(texts)))
        self.meanwhile()
        if self.failure is not None:
            raise self.failure
        return [[0.5, *(score for word, score in self.likes.items() if word in text)][-1] for text in texts]


# Rerank --------------------------------------------------------------------------------------------------------------


def test_a_reranker_orders_what_was_found_and_both_scores_are_told(door: Door) -> None:
    reranker = Words(Faro=0.9, Sines=0.8)
    memory = door(reranker=reranker)
    added(memory, *TRIPS)
    plain = memory.search(QUERY)
    found = memory.search(QUERY, rerank=True)
    assert facts(found)[:2] == [TRIPS[2], TRIPS[3]]
    assert [one.rank for one in found] == [1, 2, 3, 4, 5, 6]
    assert [one.rerank_score for one in found] == [0.9, 0.8, 0.5, 0.5, 0.5, 0.5]
    assert facts(found)[2:] == [fact for fact in facts(plain) if fact not in facts(found)[:2]]
    assert {one.memory.memory_id: one.score for one in found} == pytest.approx(
        {one.memory.memory_id: one.score for one in plain}, abs=1e-6
    )
    for one in found:
        assert math.fsum(term.contribution for term in one.terms.values()) == pytest.approx(one.score, abs=1e-9)
    assert found.degraded == ()
    assert reranker.asked == [(QUERY, facts(plain))]
    assert {one.rerank_score for one in plain} == {None}


async def test_the_asynchronous_door_reranks_likewise(door: Door, database_url: str, tenant: str) -> None:
    added(door(), *TRIPS)
    scope = Scope(tenant, user_id="ada")
    async with AsyncEngram(
        database_url, scope=scope, settings=load({}), embedder="none", reranker=Words(Faro=0.9)
    ) as theirs:
        found = await theirs.search(QUERY, rerank=True, limit=2)
    assert found[0].memory.fact == TRIPS[2]
    assert found[0].rerank_score == 0.9


def test_a_reranker_is_shown_five_candidates_a_result(door: Door) -> None:
    reranker = Words()
    memory = door(reranker=reranker)
    added(memory, *(f"Boat number {n} lies in the harbour" for n in range(120)))
    for limit, shown in ((1, 5), (3, 15), (20, 100), (30, 100)):
        reranker.asked.clear()
        assert len(memory.search("boats in the harbour", limit=limit, rerank=True)) == limit
        assert [len(texts) for _, texts in reranker.asked] == [shown]


def test_what_no_reranker_was_shown_follows_where_all_that_was_shown_answers(door: Door) -> None:
    reranker = Words()
    memory = door(reranker=reranker)
    added(memory, *(f"Boat number {n} lies in the harbour" for n in range(110)))
    found = memory.search("boats in the harbour", limit=110, rerank=True)
    assert [one.rerank_score is None for one in found] == [False] * 100 + [True] * 10
    reranker.likes = {"number 1 ": 0.01}
    cut = memory.search("boats in the harbour", limit=110, rerank=True)
    assert len(cut) == 99
    assert None not in {one.rerank_score for one in cut}


@pytest.mark.parametrize("count", [0, 1, 4])
def test_too_few_candidates_are_not_worth_the_call(door: Door, count: int) -> None:
    reranker = Words(Faro=0.9)
    memory = door(reranker=reranker)
    for fact in TRIPS[:count]:
        memory.add(fact)
    found = memory.search(QUERY, rerank=True)
    assert len(found) == count
    assert reranker.asked == []
    assert found.degraded == ()


def test_what_answers_badly_is_left_out_but_for_the_three_best(door: Door) -> None:
    reranker = Words(harbour=0.0, Faro=0.15, Sines=0.14)
    memory = door(reranker=reranker)
    added(memory, *TRIPS)
    assert facts(memory.search(QUERY, rerank=True))[:2] == [TRIPS[2], TRIPS[3]]
    assert len(memory.search(QUERY, rerank=True)) == 3
    reranker.likes = {"harbour": 0.2, "Faro": 0.14}
    assert facts(memory.search(QUERY, rerank=True, limit=6)) == [
        fact for fact in facts(memory.search(QUERY)) if "Faro" not in fact
    ]


def test_a_reranker_that_is_down_leaves_the_order_and_is_named(door: Door) -> None:
    reranker = Words(Faro=0.9)
    memory = door(reranker=reranker)
    added(memory, *TRIPS)
    plain = memory.search(QUERY, track=False)
    reranker.failure = ConnectionError("down")
    for _ in range(8):
        found = memory.search(QUERY, rerank=True, track=False)
        assert found.degraded == ("rerank",)
        assert facts(found) == facts(plain)
        assert {one.rerank_score for one in found} == {None}
    assert len(reranker.asked) == 5  # then it is given a rest


def test_no_transaction_is_open_while_a_reranker_thinks(door: Door) -> None:
    reranker = Words(Faro=0.9)
    memory = door(reranker=reranker, pool_size=1)
    added(memory, *TRIPS)
    seen: list[int] = []
    reranker.meanwhile = lambda: seen.append(memory.stats().memories)  # on the door's only connection
    assert memory.search(QUERY, rerank=True, track=False)[0].rerank_score == 0.9
    assert seen == [6]


def test_a_reranker_is_shown_nobody_elses_words(door: Door) -> None:
    reranker = Words()
    memory = door(reranker=reranker)
    added(memory, *TRIPS)
    memory.scoped(user_id="bob").add("Bob painted the harbour of Rome in secret")
    memory.scoped(tenant_id=f"{memory.scope.tenant_id}-2").add("Eve painted the harbour of Oslo in secret")
    memory.scoped(user_id=None).add("The agent painted the harbour of Bergen in private", private=True)
    forgotten = memory.add("Ada painted the harbour of Genoa in secret").memory
    assert forgotten is not None
    memory.forget(forgotten.memory_id)
    memory.search(QUERY, rerank=True)
    ((_, texts),) = reranker.asked
    assert sorted(texts) == sorted(TRIPS)


def test_a_search_of_the_past_is_reranked_too(door: Door) -> None:
    memory = door(reranker=Words(Faro=0.9))
    added(memory, *TRIPS)
    now = datetime.now(UTC)
    assert memory.search(QUERY, rerank=True, known_at=now)[0].memory.fact == TRIPS[2]


def test_without_a_reranker_the_setting_is_named_before_anything_is_opened() -> None:
    with (
        Engram("postgresql://nobody@127.0.0.1:9/none", settings=load({}), embedder="none") as memory,
        pytest.raises(InvalidInput, match="ENGRAM_RERANK_MODEL"),
    ):
        memory.search("harbour", rerank=True)


def test_what_is_good_enough_is_not_reranked(door: Door) -> None:
    reranker = Words(Faro=0.9)
    memory = door(reranker=reranker)
    added(memory, *TRIPS)
    plain = memory.search(QUERY)
    low = min(one.score for one in plain)
    assert facts(memory.search(QUERY, rerank=True, good_enough=low - 0.01, limit=6)) == facts(plain)
    assert reranker.asked == []
    assert facts(memory.search(QUERY, rerank=True, good_enough=low - 0.01, limit=7))[0] == TRIPS[2]  # there are six
    assert facts(memory.search(QUERY, rerank=True, good_enough=plain[0].score + 0.01, limit=2))[0] == TRIPS[2]
    assert len(reranker.asked) == 2
    assert facts(memory.search(QUERY, good_enough=0.0)) == facts(plain)  # alone it changes nothing


def test_what_is_good_enough_is_not_searched_for_again(door: Door) -> None:
    memory = door()
    added(memory, *TRIPS)
    query = "Who painted the harbour of Lisbon, and when did Ada go to Porto?"
    assert memory.search(query, expand=True, limit=6).variants
    assert not memory.search(query, expand=True, limit=6, good_enough=0.01).variants
    assert memory.search(query, expand=True, limit=7, good_enough=0.01).variants  # there are six


def test_a_reranker_is_given_by_the_settings_and_paid_from_the_budget(door: Door) -> None:
    with RerankServer() as provider:
        named = {
            "rerank_model": "cohere/rerank-v3.5", "rerank_api_base": provider.url, "rerank_api_key": "key",
            "llm_daily_budget": Decimal("0.005"),
        }  # fmt: skip
        memory = door(**named)
        added(memory, *TRIPS)
        query = "Who painted the harbour of Lagos?"
        found = memory.search(query, rerank=True, track=False)
        assert found[0].memory.fact == TRIPS[4]
        assert found[0].rerank_score == pytest.approx(relevance(query, TRIPS[4]))
        (used,) = memory.ops.usage(group_by="component")
        assert (used.group, used.calls, used.answered, used.cost) == ("rerank", 1, 1, Decimal("0.002"))
        provider.fails(lambda _: status(429))
        assert memory.search(query, rerank=True, track=False).degraded == ("rerank",)
        (used,) = memory.ops.usage(group_by="model")
        assert (used.group, used.calls, used.answered, used.cost) == ("cohere/rerank-v3.5", 2, 1, Decimal("0.002"))
        provider.fails(None)
        assert memory.search(query, rerank=True, track=False).degraded == ()
        asked = len(provider.requests)
        refused = memory.search(query, rerank=True, track=False)  # 0.004 of 0.005 are spent
        assert refused.degraded == ("rerank",)
        assert len(refused) == 6
        assert len(provider.requests) == asked


def test_an_answer_that_makes_no_sense_is_paid_for(door: Door) -> None:
    with RerankServer() as provider:
        memory = door(rerank_model="cohere/rerank-v3.5", rerank_api_base=provider.url, rerank_api_key="key")
        added(memory, *TRIPS)
        provider.fails(lambda _: status(200, body={"id": "r", "results": []}))
        assert memory.search(QUERY, rerank=True).degraded == ("rerank",)
        (used,) = memory.ops.usage(group_by="component")
        assert (used.calls, used.answered, used.estimated, used.cost) == (1, 0, 1, Decimal("0.002"))


def test_nothing_is_set_aside_for_a_reranker_that_is_given_a_rest(door: Door) -> None:
    with RerankServer() as provider:
        memory = door(rerank_model="cohere/rerank-v3.5", rerank_api_base=provider.url, rerank_api_key="key")
        added(memory, *TRIPS)
        provider.fails(lambda _: status(500))
        for _ in range(8):
            assert memory.search(QUERY, rerank=True, track=False).degraded == ("rerank",)
        (used,) = memory.ops.usage(group_by="component")
        assert used.calls == len(provider.requests) == 5


# Profiles ------------------------------------------------------------------------------------------------------------


def test_a_profile_of_ones_own_orders_a_search_and_its_terms_add_up(door: Door) -> None:
    memory = door()
    memory.add("The deploy script lives in the tools folder", importance=0.1)
    memory.add("Deploy only after the tests passed", importance=0.9)
    memory.add("The deploy of May failed", importance=0.5)
    for profile in (
        Profile("weighty", {"relevance": 0.1, "importance": 2.0}),
        {"name": "weighty", "weights": {"relevance": 0.1, "importance": 2.0}},
    ):
        found = memory.search("deploy script", profile=profile)
        assert found.profile == "weighty"
        assert [one.memory.importance for one in found] == [0.9, 0.5, 0.1]
        for one in found:
            assert math.fsum(term.contribution for term in one.terms.values()) == pytest.approx(one.score, abs=1e-9)
    light = memory.search("deploy script", profile={"name": "light", "weights": {"coverage": 0.1, "importance": -2}})
    assert [one.memory.importance for one in light] == [0.1, 0.5, 0.9]
    assert light[0].score < 0
    floor = Profile("strict", {"importance": 1.0}, floor=0.9)
    assert facts(memory.search("deploy script", profile=floor)) == ["The deploy script lives in the tools folder"]


def test_a_built_in_profile_takes_other_weights(door: Door) -> None:
    memory = door()
    memory.add("The deploy script lives in the tools folder", importance=0.4)
    memory.add("Deploy only after the tests passed", importance=0.7)
    assert [one.memory.importance for one in memory.search("deploy script", profile="simple")] == [0.4, 0.7]
    for heavier in (
        ProfileWeights("simple", {"relevance": 0.1, "importance": 0.7}),
        {"base": "simple", "weights": {"relevance": 0.1, "importance": 0.7}},
    ):
        found = memory.search("deploy script", profile=heavier)
        assert found.profile == "simple"
        assert [one.memory.importance for one in found] == [0.7, 0.4]


def test_without_a_vector_simple_asks_for_the_share_of_the_words_of_both(door: Door) -> None:
    memory = door(embedder="none")
    memory.add("Deploy script")
    memory.add("Deploy only after the tests have passed on main")
    found = memory.search("deploy script now", profile="simple")
    # "deploy script" of "deploy script now", and "deploy" of "deploy script now only after tests passed main".
    assert [round(one.terms["relevance"].value, 4) for one in found] == [round(2 / 3, 4), 0.125]


def test_a_policy_names_the_profile_of_its_searches(door: Door) -> None:
    mine = Profile("mine", {"importance": 1.0})
    memory = door(policy=MemoryPolicy("own", profiles=(mine,), profile="mine"), profile="hybrid")
    memory.add("The deploy script")
    assert memory.search("deploy").profile == "mine"
    assert memory.search("deploy", profile="recall").profile == "recall"
    by_setting = door(policy=MemoryPolicy("own", profiles=(mine,)), profile="mine")
    assert by_setting.search("deploy").profile == "mine"
    assert by_setting.recall("What about the deploy?").found
    assert by_setting.build_context("deploy").text
    with pytest.raises(InvalidInput, match="profile"):
        door().search("deploy", profile="mine")


def test_a_setting_that_names_no_profile_is_refused_when_a_door_is_opened(door: Door) -> None:
    with pytest.raises(SettingsError, match="profile"):
        door(profile="nonsense")


@pytest.mark.parametrize(
    "profile", [{}, {"name": "x", "weights": {"speed": 1}}, {"base": "simple", "weights": {"relevance": 9}}]
)
def test_a_profile_that_makes_no_sense_is_refused_before_anything_is_opened(profile: Any) -> None:
    with (
        Engram("postgresql://nobody@127.0.0.1:9/none", settings=load({}), embedder="none") as memory,
        pytest.raises(InvalidInput, match="profile"),
    ):
        memory.search("harbour", profile=profile)


def test_the_command_line_takes_every_option(
    database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("DATABASE_URL", database_url), ("ENGRAM_EMBEDDING_MODEL", "none"), ("ENGRAM_TENANT", tenant)):
        monkeypatch.setenv(name, value)
    engram = Cli(capsys)
    for fact, importance in (("The deploy script", "0.1"), ("A deploy failed", "0.9")):
        engram.json("add", fact, "--importance", importance)
    found = engram.json("search", "deploy script", "--profile", '{"name": "old", "weights": {"importance": 1}}')
    assert found["profile"] == "old"
    assert [one["memory"]["importance"] for one in found["results"]] == [0.9, 0.1]
    assert engram.json("search", "deploy script", "--profile", "simple")["profile"] == "simple"
    recent = engram.json("search", "deploy script", "--sort", "recent", "--per-session", "1", "--good-enough", "0.5")
    assert [one["memory"]["importance"] for one in recent["results"]] == [0.9, 0.1]
    assert len(engram.json("search", "The deploy script", "--cut", "adaptive")["results"]) == 1
    assert engram("search", "deploy", "--sort", "fast").code == 2
    assert "ENGRAM_RERANK_MODEL" in engram("search", "deploy", "--rerank").err


# Cut, sessions, order ------------------------------------------------------------------------------------------------


def test_the_adaptive_cut_keeps_what_is_near_the_nearest(door: Door) -> None:
    memory = door()
    memory.add("The deploy script lives in the tools folder")
    memory.add("The deploy of May failed")
    memory.add("The folder on the shelf is blue")
    query = "Where does the deploy script live in the tools folder?"
    plain, cut = memory.search(query), memory.search(query, cut="adaptive")
    assert len(plain) == 3
    assert facts(cut) == ["The deploy script lives in the tools folder"]
    assert facts(memory.search("deploy", cut="adaptive")) == facts(memory.search("deploy"))  # both are as near
    assert len(memory.search("nothing of the sort", cut="adaptive")) == 0


def test_asking_for_more_never_shows_less_of_a_cut_search(door: Door) -> None:
    memory = door()
    added(memory, *(f"Boat {n} of the harbour {'has a red sail ' * (n % 3)}" for n in range(20)))
    lists = [
        facts(memory.search("red sail harbour", cut="adaptive", limit=limit, track=False)) for limit in (1, 3, 9, 20)
    ]
    for shorter, longer in itertools.pairwise(lists):
        assert longer[: len(shorter)] == shorter


def test_no_session_takes_more_places_than_it_may(door: Door) -> None:
    memory = door()
    for n in range(4):
        memory.add(f"Ada painted the old harbour {'of Porto ' * n}", session_id="long", force=True)
    memory.add("Ada was at the harbour", session_id="short")
    for n in range(3):
        memory.add(f"Harbour number {n}")
    query = "Ada painted the old harbour"
    assert [one.session_id for one in memory.search(query, limit=4)] == ["long"] * 4
    found = memory.search(query, limit=4, per_session=2)
    assert sorted(one.session_id or "" for one in found) == ["", "long", "long", "short"]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert found[0].memory.memory_id == memory.search(query)[0].memory.memory_id
    assert len(memory.search(query, per_session=2)) == 6
    assert len(memory.search(query, per_session=9)) == 8
    assert len(memory.search(query, per_session=1, filter={"session_ids": ["long"]})) == 1


def test_a_search_is_listed_in_the_order_asked_for(door: Door) -> None:
    memory = door()
    made = [memory.add(fact).memory for fact in TRIPS]
    ids = [one.memory_id for one in made if one is not None]
    for _ in range(2):
        memory.search("Sines Sines", limit=1, profile={"name": "w", "weights": {"relevance": 1.0}})
    memory.search("Porto Porto", limit=1, profile={"name": "w", "weights": {"relevance": 1.0}})
    query = "the harbour of Lisbon that Ada painted"
    by_score = [one.memory.memory_id for one in memory.search(query, limit=5, track=False)]
    by_time = memory.search(query, limit=5, sort="recent", track=False)
    assert [one.memory.memory_id for one in by_time] == sorted(by_score, key=ids.index, reverse=True)
    assert [one.rank for one in by_time] == [1, 2, 3, 4, 5]
    by_access = memory.search(query, limit=6, sort="accessed", track=False)
    assert [one.memory.memory_id for one in by_access][:2] == [ids[1], ids[3]]
    assert [one.memory.memory_id for one in by_access][2:] == [ids[5], ids[4], ids[2], ids[0]]


def test_a_reranked_search_is_listed_in_the_order_asked_for(door: Door) -> None:
    memory = door(reranker=Words(harbour=0.0, Faro=0.9, Lagos=0.8, Porto=0.7))
    added(memory, *TRIPS)
    found = memory.search(QUERY, rerank=True, sort="recent")
    assert facts(found) == [TRIPS[4], TRIPS[2], TRIPS[1]]


# What else speaks for a row ------------------------------------------------------------------------------------------


def test_of_two_that_are_as_near_the_own_namespaces_comes_first(door: Door) -> None:
    own, shared = door(namespace="alpha"), door(namespace="default")
    for n in range(3):
        own.add(f"Deploys are frozen on Fridays, rule {n}")
        shared.add(f"Deploys are frozen on Mondays, rule {n}")  # newer: it would come first
    found = own.search("When are deploys frozen?")
    assert [one.memory.scope.namespace for one in found] == ["alpha"] * 3 + ["default"] * 3
    assert found[0].terms["namespace"].contribution > 0
    assert "namespace" not in found[3].terms
    near = own.search("Are deploys frozen on Mondays?")
    assert [one.memory.scope.namespace for one in near][:3] == ["default"] * 3
    assert "namespace" not in shared.search("When are deploys frozen?")[0].terms
    assert "namespace" not in own.search("When are deploys frozen?", shared=False)[0].terms


def test_what_is_linked_to_a_hit_counts_a_little_and_says_so(door: Door) -> None:
    memory = door()
    hit = memory.add("Ada painted the harbour of Lisbon").memory
    linked, other = (memory.add(f"The {what} of the harbour is old").memory for what in ("wall", "gate"))
    assert hit is not None
    assert linked is not None
    assert other is not None
    memory.relate(hit.memory_id, linked.memory_id, "related_to")
    found = {one.memory.memory_id: one for one in memory.search("Ada painted the harbour")}
    assert found[linked.memory_id].terms["graph"].contribution > 0
    assert found[linked.memory_id].score > found[other.memory_id].score
    assert "graph" not in found[other.memory_id].terms
    assert found[hit.memory_id].rank == 1
    for one in found.values():
        assert math.fsum(term.contribution for term in one.terms.values()) == pytest.approx(one.score, abs=1e-9)


class Leaning:
    """An embedder to which every question is a fifth like every fact."""

    name, dimensions, max_tokens = "leaning", 2, None

    def embed(self, texts: Sequence[str], kind: str) -> list[list[float]]:
        return [[1.0, 0.0] if kind == "passage" else [0.2, math.sqrt(0.96)] for _ in texts]


def test_the_profile_lifecycle_leaves_out_what_is_far_unless_a_score_is_asked_for(door: Door) -> None:
    memory = door(embedder=Leaning())
    memory.add("The cat sleeps on the sofa")
    query = "Which of them is dozing somewhere?"
    (found,) = memory.search(query)
    assert found.semantic_score == pytest.approx(0.2, abs=1e-3)
    assert facts(memory.search(query, profile="lifecycle")) == []
    assert facts(memory.search(query, profile="lifecycle", min_score=0.01)) == ["The cat sleeps on the sofa"]
