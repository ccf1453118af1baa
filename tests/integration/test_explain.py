"""Why a search does not return a memory: one case for each reason, and never another answer than the search's own."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg
import pytest
from quiet import quiet

from engram import Engram, Filter, InvalidInput, NotFound, Scope, recall
from engram.channels.keyword import Sought
from engram.embedded import EmbeddedServer
from engram.memories import NOW
from engram.operations import deepening
from engram.recall import Candidate, Found, Looked
from engram.recall.why import REASONS, Measured, ranked
from engram.settings import load
from engram.tenancy import Visible
from engram.values import WhyNot

Door = Callable[..., Engram]
LONG_AGO: Final = datetime(2020, 1, 1, tzinfo=UTC)
TOPICS: Final = ("harbour", "violin", "garden", "glacier")


class Topics:
    """An embedder that knows what a text is about: one axis a topic, and one for everything else."""

    name, dimensions, max_tokens = "topics", 5, None

    def __init__(self) -> None:
        self.fails = False

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        assert kind in ("passage", "query")
        if self.fails:
            raise RuntimeError("down")
        return [self.vector(text.lower()) for text in texts]

    def vector(self, text: str) -> list[float]:
        near = [float(text.count(topic)) for topic in TOPICS]
        own = zlib.crc32(text.encode()) % 1000 / 1e6  # two texts never have the same vector
        return [*near, own + (0.01 if any(near) else 1.0)]


class Likes:
    """A reranker that likes what holds a word."""

    name = "likes"

    def __init__(self, word: str) -> None:
        self.word = word

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        assert query
        return [0.9 if self.word in text else 0.01 for text in texts]


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Door]:
    """Opens doors to a tenant of the test's own; all of them are closed after it."""
    opened: list[Engram] = []

    def open_(*, embedder: Any = None, reranker: Any = None, **given: Any) -> Engram:
        ids = {name: given.pop(name) for name in ("namespace", "user_id") if name in given}
        scope = Scope(**{"tenant_id": tenant, "user_id": "ada", **ids})
        opened.append(
            Engram(
                database_url, scope=scope, settings=load({}, **given), embedder=embedder or Topics(), reranker=reranker
            )
        )
        return quiet(opened[-1])

    yield open_
    for one in opened:
        one.close()


@pytest.fixture(scope="module")
def superuser(server: EmbeddedServer) -> Iterator[psycopg.Connection[Any]]:
    plain = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(plain, autocommit=True) as conn:
        yield conn


def added(memory: Engram, fact: str, **more: Any) -> str:
    made = memory.add(fact, **{"force": True, **more}).memory
    assert made is not None
    return made.memory_id


def told(why: WhyNot, reason: str) -> WhyNot:
    assert why.reason in REASONS
    assert (why.reason, why.found) == (reason, reason == "found"), why
    return why


# Found, and before it is looked for ----------------------------------------------------------------------------------


def test_what_is_found_is_told_with_its_rank_and_channels(door: Door) -> None:
    memory = door()
    one = added(memory, "The harbour is old")
    why = told(memory.explain("harbour", one), "found")
    assert (why.memory_id, why.detail["rank"], why.ranks) == (one, 1, {"semantic": 1, "keyword": 1})
    assert why.score == pytest.approx(memory.search("harbour")[0].score, abs=1e-4)
    assert told(memory.explain("harbour", memory.get(one).short_id), "found").memory_id == one


def test_nothing_is_counted_and_nothing_logged(door: Door, superuser: psycopg.Connection[Any], tenant: str) -> None:
    memory = door()
    one = added(memory, "The harbour is old")
    memory.explain("harbour", one)
    memory.trace_recall("harbour")
    memory.trace_recall("harbour", deep=False)
    assert memory.get(one).activity.access_count == 0
    assert superuser.execute("SELECT count(*) FROM engram.recall_log WHERE tenant_id = %s", (tenant,)).fetchone() == (
        0,
    )
    memory.search("harbour")
    assert memory.get(one).activity.access_count == 1


CHANGES: Final = {
    "archived": "status = 'archived'",
    "quarantined": "status = 'quarantined'",
    "contested": "status = 'contested'",
    "consolidated": "consolidated_into = gen_random_uuid()",
    "expired": "expires_at = now() - interval '1 hour'",
    "not_valid_then": "ended_at = now() - interval '1 hour', valid_to = now() - interval '1 hour'",
}


@pytest.mark.parametrize("reason", CHANGES)
def test_a_memory_that_is_not_current_is_told_by_its_state(
    door: Door, superuser: psycopg.Connection[Any], reason: str
) -> None:
    memory = door()
    one = added(memory, "The harbour is old")
    superuser.execute(f"UPDATE engram.agent_memory SET {CHANGES[reason]} WHERE memory_id = %s", (one,))  # type: ignore[arg-type]
    told(memory.explain("harbour", one), reason)
    told(memory.explain("violin", one), reason)


def test_a_superseded_value_names_the_one_that_replaced_it(door: Door) -> None:
    memory = door()
    old, new = (added(memory, f"The harbour is in {city}", topic_key="harbour") for city in ("Porto", "Faro"))
    assert told(memory.explain("harbour Porto", old), "superseded").detail["superseded_by"] == new
    told(memory.explain("harbour Porto", new), "found")
    told(memory.explain("harbour", old, filter=Filter(statuses=("superseded",))), "found")


def test_a_forgotten_memory_is_deleted_and_restored_it_is_found(door: Door) -> None:
    memory = door()
    one = added(memory, "The harbour is old")
    memory.forget(one)
    assert told(memory.explain("harbour", one), "deleted").detail["status_reason"] == "forgotten"
    memory.restore(one)
    told(memory.explain("harbour", one), "found")


def test_a_read_of_the_past_says_what_was_not_known_or_not_so_then(door: Door) -> None:
    memory = door()
    begins = datetime(2025, 3, 1, tzinfo=UTC)
    one = added(memory, "The harbour is closed", valid_from=begins)
    recorded = memory.get(one).recorded_at
    told(memory.explain("harbour", one, known_at=recorded - timedelta(seconds=1)), "not_known_then")
    why = told(memory.explain("harbour", one, as_of=begins - timedelta(days=1)), "not_valid_then")
    assert why.detail == {"valid_from": begins.isoformat(), "valid_to": None}
    told(memory.explain("harbour", one, as_of=begins + timedelta(days=1)), "found")
    short = added(memory, "The harbour smells of tar", expires_in="2d")
    told(memory.explain("harbour", short, as_of=recorded + timedelta(days=3)), "expired")


def test_a_filter_is_told_field_by_field(door: Door) -> None:
    memory = door()
    one = added(memory, "The harbour is old", tags=["sea"], importance=0.4)
    why = told(memory.explain("harbour", one, filter={"tags_any": ["land"], "min_importance": 0.1}), "filtered")
    assert why.detail == {"fields": ["tags_any"]}
    both = {"tags_any": ["land"], "min_importance": 0.9, "any_of": [{"tags_any": ["sea"]}]}
    assert told(memory.explain("harbour", one, filter=both), "filtered").detail["fields"] == [
        "tags_any",
        "min_importance",
    ]


def test_a_word_that_must_not_be_there_is_told(door: Door) -> None:
    memory = door()
    one = added(memory, "The harbour is old and green")
    assert told(memory.explain("harbour -green", one), "excluded_word").detail["words"] == ["green"]
    assert len(memory.search("harbour -green", expand=True)) == 0


def test_unknown_and_foreign_ids_are_not_found(door: Door) -> None:
    ada, bob = door(), door(user_id="bob")
    one = added(ada, "The harbour is old")
    said = ada.remember("The violin is new.", session_id="s").event_ids[0]
    for memory_id in (one, said, ada.get(one).short_id, "01890000-0000-7000-8000-00000000a001", "mem-00000000"):
        with pytest.raises(NotFound):
            bob.explain("harbour", memory_id)
    with pytest.raises(InvalidInput):
        ada.explain("harbour", "no id")
    hidden = added(door(user_id=None), "The harbour is private", private=True)
    with pytest.raises(NotFound):
        ada.explain("harbour", hidden)


def test_an_event_that_is_not_derived_yet_is_told_by_its_id(door: Door) -> None:
    memory = door(dispatch="doorbell")
    [said] = memory.remember("The violin is new.", session_id="s").event_ids
    told(memory.explain("violin", said), "found")
    told(memory.explain("glacier", said), "not_derived_yet")
    told(memory.explain("violin", said, limit=0), "not_derived_yet")
    memory.ops.run_jobs()
    why = told(memory.explain("violin", said), "derived")
    assert [memory.get(one).event_id for one in why.detail["memories"]] == [said] * len(why.detail["memories"])


# Where it is looked for ----------------------------------------------------------------------------------------------


def test_a_memory_without_its_vector_is_told(door: Door) -> None:
    embedder = Topics()
    memory = door(embedder=embedder, on_embedding_failure="defer")
    added(memory, "The violin is new")
    embedder.fails = True
    one = added(memory, "The harbour is old")
    embedder.fails = False
    told(memory.explain("the violin of a glacier", one), "not_embedded")
    told(memory.explain("harbour", one, mode="semantic"), "not_embedded")
    told(memory.explain("harbour", one), "found")


def test_what_every_channel_misses_is_told_with_its_true_place(door: Door) -> None:
    memory = door()
    memory.add_many([{"fact": f"The harbour has berth {n}", "force": True} for n in range(70)])
    one = added(memory, "A harbour and a garden and a violin")
    why = told(memory.explain("harbour", one, mode="semantic", limit=5), "missed")
    assert why.ranks["semantic"] == 71
    assert why.detail["fetched"] == 30
    assert why.detail["cosine"] == pytest.approx(3**-0.5, abs=0.01)
    none = told(memory.explain("zebra", one, mode="keyword"), "missed")
    assert (none.ranks["keyword"], none.detail["coverage"]) == (None, 0.0)
    told(memory.explain("harbour", one, mode="semantic", limit=100), "found")


def test_a_place_beyond_what_was_looked_at_is_no_place(door: Door) -> None:
    memory = door()
    one = memory.get(added(memory, "The harbour is old"))
    seen = Measured(Candidate(one, 0.5, semantic_rank=1001, keyword_rank=1000), 50, 1000)
    assert (seen.ranks["semantic"], seen.ranks["keyword"]) == (None, 1000)


# Where it is ranked --------------------------------------------------------------------------------------------------


def test_what_shares_too_little_is_below_the_gate(door: Door) -> None:
    memory = door()
    one = added(memory, "The harbour is old")
    why = told(memory.explain("violin", one), "below_gate")
    assert why.detail["cosine"] == pytest.approx(0.0, abs=0.01)
    assert why.detail["coverage"] == 0.0
    assert why.ranks["semantic"] == 1


def test_a_score_that_is_too_low_is_told_beside_the_one_needed(door: Door) -> None:
    memory = door()
    one = added(memory, "The harbour is old")
    why = told(memory.explain("harbour", one, min_score=5.0), "below_min_score")
    assert why.score_needed == 5.0
    told(memory.explain("the old harbour and its stones", one, min_score=5.0), "below_min_score")
    assert why.score == pytest.approx(memory.search("harbour", track=False)[0].score, abs=1e-4)


def test_what_others_outrank_is_told_with_rank_and_score_needed(door: Door) -> None:
    memory = door()
    added(memory, "The harbour is old")
    low = added(memory, "The harbour has a violin, a garden and a glacier", importance=0.1)
    why = told(memory.explain("harbour", low, limit=1), "outranked")
    assert (why.detail["rank"], why.detail["limit"]) == (2, 1)
    best = memory.search("harbour", limit=1, track=False)[0].score
    assert why.score_needed == pytest.approx(best, abs=1e-4)
    assert best > (why.score or 0)
    told(memory.explain("harbour", low, limit=2), "found")
    told(memory.explain("harbour", low, limit=0), "outranked")


def test_what_is_far_behind_the_best_is_cut(door: Door) -> None:
    memory = door()
    for number in range(5):
        added(memory, f"harbour {number}")
    far = added(memory, "The garden of the violin is near the harbour and a glacier, with moss and reeds and stones")
    told(memory.explain("harbour", far), "found")
    told(memory.explain("harbour", far, cut="adaptive"), "cut")


def test_what_a_reranker_leaves_out_is_told(door: Door) -> None:
    memory = door(reranker=Likes("blue"))
    for number in range(5):
        added(memory, f"The harbour has blue berth {number}")
    red = added(memory, "The harbour has red berths")
    told(memory.explain("harbour", red), "found")
    told(memory.explain("harbour", red, rerank=True), "reranked_out")


def test_what_gives_its_place_to_another_session_is_told(door: Door) -> None:
    memory = door()
    for number in range(3):
        added(memory, f"The harbour {number} is old", session_id="long")
    last = memory.search("harbour", track=False)[2].memory.memory_id
    told(memory.explain("harbour", last), "found")
    assert told(memory.explain("harbour", last, per_session=2), "diversified").detail["per_session"] == 2


def test_of_one_lineage_one_memory_is_returned_and_the_other_told(door: Door) -> None:
    memory = door()
    best, other = (memory.get(added(memory, fact)) for fact in ("The harbour is old", "The harbour is new"))
    mate = replace(other, lineage_id=best.lineage_id)  # there is no second head: the past may show one
    asked, now = recall.prepare("harbour"), datetime.now(UTC)
    looked = Looked(Visible(memory.scope, (1,), 1, {1: 0}, {1: memory.scope}), NOW, now, Sought())
    found = Found((Candidate(best, 0.9), Candidate(mate, 0.8)))
    made = recall.rank(asked, looked, found)
    assert [one.memory for one in made] == [best]
    why = told(ranked(asked, looked, found, mate, made), "same_lineage")
    assert why.detail["returned"] == best.memory_id
    alone = replace(found, candidates=(Candidate(mate, 0.8),))
    assert [one.memory for one in recall.rank(asked, looked, alone)] == [mate]


def test_somebodys_words_join_the_fact_that_was_made_of_them(door: Door) -> None:
    memory = door()
    said = memory.remember("My favourite harbour is Porto.", session_id="s")
    made = [decision.memory for decision in said.decisions if decision.memory is not None]
    words = next(one.memory_id for one in made if one.category == "verbatim")
    fact = next(one.memory_id for one in made if one.category != "verbatim")
    assert told(memory.explain("harbour", words), "evidence_joined").detail == {"facts": [fact]}
    told(memory.explain("harbour", fact), "found")


def test_words_of_which_nothing_holds_any_more_are_told(door: Door) -> None:
    memory = door()
    said = memory.remember("I live in Ottawa.", session_id="s")
    words = next(d.memory.memory_id for d in said.decisions if d.memory is not None and d.memory.category == "verbatim")
    memory.remember("I live in Toronto.", session_id="s")
    told(memory.explain("Ottawa", words), "evidence_superseded")


# Where it is printed -------------------------------------------------------------------------------------------------


def test_what_does_not_fit_a_budget_is_told(door: Door) -> None:
    memory = door()
    added(memory, "The harbour is old")
    long = added(memory, "The harbour " + "has a very long quay and " * 40)
    told(memory.explain("harbour", long), "found")
    assert told(memory.explain("harbour", long, max_tokens=60), "over_budget").detail["max_tokens"] == 60
    told(memory.explain("harbour", long, max_tokens=2000), "found")


def test_what_a_nearer_scope_says_otherwise_is_found_but_not_printed(door: Door) -> None:
    far, near = door(namespace="default"), door(namespace="boats")
    one = added(far, "The harbour is in Porto", topic_key="harbour")
    added(near, "The harbour is in Faro", topic_key="harbour")
    assert "shadowed" in told(near.explain("harbour", one), "found").detail["labels"]
    told(near.explain("harbour", one, max_tokens=2000), "shadowed")


def test_what_a_search_returns_by_itself_by_other_words_is_what_counts(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    def expanded(_setup: Any, _reading: Any, _searched: Any, made: Any, *_: Any) -> Any:
        yield from ()
        return replace(made, results=made.results[1:], variants=("by other words",))

    memory = door()
    first, second = added(memory, "The harbour"), added(memory, "The harbour and a violin")
    monkeypatch.setattr(deepening, "expanded", expanded)
    monkeypatch.setattr(deepening, "is_enough", lambda *_: False)
    assert [one.memory.memory_id for one in memory.search("harbour")] == [second]
    assert memory.explain("harbour", second).detail["variants"] == ["by other words"]
    why = memory.explain("harbour", first)
    assert (why.found, why.detail["variants"]) == (False, ["by other words"])


def test_what_other_words_found_more_of_is_told_its_place_among_that(database_url: str, tenant: str) -> None:
    facts = ("The automobile insurance expires in July", "The car is blue", "Ben signed the lease for the apartment")
    query = "agreement strings vehicle relocated"
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder="wordllama") as memory:
        lease = [one.memory for one in memory.add_many([{"fact": fact, "force": True} for fact in facts])][-1]
        assert lease is not None
        assert [one.memory.fact for one in memory.search(query, limit=1, expand=False)] == [lease.fact]
        assert [one.memory.fact for one in memory.search(query, limit=1)] == [facts[0]]
        why = told(memory.explain(query, lease.memory_id, limit=1), "outranked")
        assert why.detail["rank"] == 3
        assert why.score_needed is not None
        assert why.score is not None
        assert why.score < why.score_needed
        first, *others = memory.search(query, profile="rrf")
        asked = {"profile": "rrf", "min_score": first.score}
        assert [one.memory.fact for one in memory.search(query, **asked)] == [first.memory.fact]
        for one in others:
            assert told(memory.explain(query, one.memory.memory_id, **asked), "below_min_score").score == one.score


# Always the search's own answer --------------------------------------------------------------------------------------

WORDS: Final = (*TOPICS, "boat", "blue", "old", "quay", "music", "Ada", "stone")


def grown(memory: Engram, chance: random.Random, steps: int) -> list[str]:
    """A random history; the ids of everything there is or was."""

    def fact() -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(1, 6)))

    known: list[str] = []
    for number in range(steps):
        choice = chance.random()
        if choice < 0.6 or not known:
            more: dict[str, Any] = {"tags": chance.sample(["a", "b", "c"], chance.randint(0, 2))}
            if chance.random() < 0.4:
                more["topic_key"] = f"topic {chance.randint(0, 4)}"
            if chance.random() < 0.2:
                more["session_id"] = f"s{chance.randint(0, 2)}"
            if chance.random() < 0.1:
                more["valid_from"] = LONG_AGO
            made = memory.add(fact(), force=True, **more).memory
            known += [made.memory_id] if made is not None else []
        elif choice < 0.75:
            said = memory.remember(f"I like the {fact()} number {number}.", session_id="s")
            known += [one.memory.memory_id for one in said.decisions if one.memory is not None]
            known += said.event_ids
        else:
            one = memory.find(chance.choice(known))
            if one is not None and one.status == "active":
                memory.forget(one.memory_id) if choice < 0.88 else memory.end_validity(one.memory_id)
    return list(dict.fromkeys(known))


def compare(memory: Engram, chance: random.Random, *, steps: int, questions: int) -> set[str]:
    """Ask for every memory of a random history why it is found or not; the reasons given."""
    known = grown(memory, chance, steps)
    reasons: set[str] = set()
    for _ in range(questions):
        asked: dict[str, Any] = {
            "query": " ".join(chance.choices((*WORDS, "zebra", "-blue"), k=chance.randint(1, 4))),
            "mode": chance.choice(["hybrid", "hybrid", "semantic", "keyword"]),
            "limit": chance.choice([1, 3, 10, 50]),
            "min_score": chance.choice([0.0, 0.0, 0.4]),
            "profile": chance.choice(["default", "hybrid", "simple", "lifecycle", "rrf"]),
            "cut": chance.choice(["none", "adaptive"]),
            "per_session": chance.choice([None, None, 1]),
            "filter": chance.choice([None, None, {"tags_any": ["a"]}, {"statuses": ["active", "superseded"]}]),
        }
        if chance.random() < 0.3:
            asked["as_of"] = chance.choice([LONG_AGO + timedelta(days=1), datetime.now(UTC)])
        there = {one.memory.memory_id for one in memory.search(track=False, **asked)}
        for memory_id in known:
            why = memory.explain(memory_id=memory_id, **asked)
            assert why.found == (memory_id in there), (asked, why)
            assert (why.reason == "found") == why.found
            reasons.add(why.reason)
    return reasons


@pytest.mark.parametrize("seed", range(2))
def test_explain_says_found_if_and_only_if_the_search_returns_it(door: Door, seed: int) -> None:
    memory = door(dispatch="doorbell") if seed % 2 else door()
    assert len(compare(memory, random.Random(seed), steps=14, questions=3)) > 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 14))
def test_explain_agrees_with_the_search_over_long_histories(door: Door, seed: int) -> None:
    memory = door(dispatch="doorbell") if seed % 2 else door()
    assert len(compare(memory, random.Random(seed), steps=40, questions=8)) > 5
