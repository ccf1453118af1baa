"""Change of the embedding model: reads and writes go on, nothing is lost, and no ranking mixes two models."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from embedding_server import EmbeddingServer, answers, data, vector
from model_server import status
from quiet import quiet
from walks import walk

from engram import Engram, Scope, tenancy
from engram.channels import keyword, semantic
from engram.database import Database, fetch_all
from engram.derivation import rules
from engram.embedded import EmbeddedServer
from engram.embedding import halves
from engram.errors import InvalidInput, Unavailable
from engram.operations import reembedding
from engram.settings import load

Door = Callable[..., Engram]

SUBJECTS = ["tea", "a kite", "chess", "the sea", "wool", "a lamp", "jazz", "rice", "the moon", "clay", "ink", "salt"]
VERBS = ["likes", "paints", "studies", "sells", "draws", "mends", "collects", "remembers", "dreams of", "fears"]
PLACES = ["Oslo", "Lima", "Kyoto", "Accra", "Bern", "Quito", "Perth", "Riga", "Tunis", "Hanoi"]


@pytest.fixture(scope="module")
def provider() -> Iterator[EmbeddingServer]:
    """A provider with three models."""
    with EmbeddingServer() as server:
        yield server


@pytest.fixture
def door(database_url: str, server: EmbeddedServer, tenant: str, provider: EmbeddingServer) -> Iterator[Door]:
    """Opens doors to a tenant of the test's own, each with a process's memory of its own."""
    provider.fault = None
    opened: list[Engram] = []

    def open_(model: Any = "openai/a", *, scope: Scope | None = None, **given: Any) -> Engram:
        about = {"embedding_api_base": provider.url, "embedding_api_keys": "key", "migration_url": server.superuser_url}
        name = model if isinstance(model, str) else "none"
        settings = load({}, embedding_model=name, **about, **given)
        scope = scope or Scope(tenant_id=tenant, user_id="ada")
        opened.append(
            Engram(database_url, scope=scope, settings=settings, embedder=None if isinstance(model, str) else model)
        )
        return opened[-1]

    yield open_
    for one in opened:
        one.close()


def sentence(number: int) -> str:
    """A fact like no other."""
    dice = random.Random(number)
    return f"Person {number} {dice.choice(VERBS)} {dice.choice(SUBJECTS)} in {dice.choice(PLACES)} since {number}"


def fill(door: Engram, count: int, first: int = 0) -> list[str]:
    """So many facts; their ids."""
    made: list[str] = []
    for start in range(first, first + count, 500):
        items: list[Any] = [{"fact": sentence(n), "force": True} for n in range(start, min(start + 500, first + count))]
        made += [one.memory.memory_id for one in door.add_many(items) if one.memory is not None]
    return made


def say(door: Engram, count: int) -> None:
    """So many things said, each kept word for word: the quickest way to many vectors."""
    for start in range(0, count, 500):
        said: list[Any] = [
            {"role": "user", "content": sentence(n), "derive": "verbatim"}
            for n in range(start, min(start + 500, count))
        ]
        door.wait_for(door.remember(said, session_id=f"s{start}"), timeout=120)


def by_hand(door: Engram, model: str, query: str, facts: Sequence[str]) -> dict[str, float]:
    """The cosines that one model gives the facts for a query, computed here."""
    asked = vector(model, query)
    return {fact: sum(a * b for a, b in zip(asked, vector(model, fact), strict=True)) for fact in facts}


def models(door: Engram) -> dict[str, str]:
    return {one.name: one.state for one in door.ops.list_models()}


# One after the other -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("new", ["openai/b", "openai/c"])
def test_a_change_of_model_leaves_every_memory_with_a_vector_of_the_new_one(door: Door, new: str) -> None:
    memory = door()
    fill(memory, 30)
    heard: list[Any] = []
    told = memory.ops.reembed(new, batch_size=7, progress=heard.append)
    assert (told.state, told.done, told.total, told.failing, told.dropped) == ("active", 30, 30, (), 30)
    assert [one.done for one in heard[:6]] == [0, 7, 14, 21, 28, 30]
    assert told.overlap is not None
    assert 0 <= told.overlap <= 1
    assert models(memory) == {new: "active", "openai/a": "retired"}
    assert {one.name: one.vectors for one in memory.ops.list_models()} == {new: 30, "openai/a": 0}
    facts = [sentence(n) for n in range(30)]
    wanted = by_hand(memory, new[-1], "who paints in Oslo", facts)
    for one in memory.search("who paints in Oslo", mode="semantic", expand=False, limit=30):
        assert one.semantic_score == pytest.approx(max(0.0, wanted[one.memory.fact]), abs=2e-3)


def test_a_process_that_runs_on_follows_the_change(door: Door) -> None:
    changing, running = door(), door()
    fill(running, 5)
    assert running.search("Person 3", mode="semantic")
    changing.ops.reembed("openai/c")
    found = running.search("Person 3", mode="semantic", limit=5)
    assert not found.degraded
    wanted = by_hand(running, "c", "Person 3", [sentence(n) for n in range(5)])
    assert all(one.semantic_score == pytest.approx(max(0, wanted[one.memory.fact]), abs=2e-3) for one in found)
    written = running.add("Person 77 dreams of glass in Turin")
    assert written.memory is not None
    assert written.memory.embedded


def test_the_first_write_after_a_change_by_another_process_waits_for_a_vector_of_the_right_model(door: Door) -> None:
    changing, running = door(), door()
    fill(running, 5)
    running.search("Person 3")
    changing.ops.reembed("openai/c")
    # This process has not looked since: its vector is of the old model, and may not be kept.
    written = running.add("Person 77 dreams of glass in Turin")
    assert written.memory is not None
    assert not written.memory.embedded
    assert running.search("glass in Turin")[0].memory.fact == "Person 77 dreams of glass in Turin"
    for _ in range(50):
        running.ops.run_jobs()
        if running.stats().unembedded == 0:
            break
        time.sleep(0.05)
    assert running.get(written.memory.memory_id).embedded
    best = running.search("Person 77 dreams of glass in Turin", mode="semantic")[0]
    assert best.semantic_score == pytest.approx(1.0, abs=2e-3)


def test_a_process_that_lacks_the_tenants_model_goes_by_words_and_says_so(door: Door) -> None:
    door("wordllama").add("Person 1 paints a kite in Oslo")
    own = door(Toy())
    told = own.ops.reembed(Toy())
    assert told.state == "active"
    other = door("wordllama", on_embedding_failure="defer")
    found = other.search("kite in Oslo")
    assert found[0].memory.fact == "Person 1 paints a kite in Oslo"
    assert found.degraded == ("semantic",)
    with pytest.raises(Unavailable, match="toy"):
        other.search("kite", mode="semantic")
    with pytest.raises(Unavailable, match="toy"):
        door("wordllama").add("Person 2 paints clay")
    written = other.add("Person 2 paints clay").memory
    assert written is not None
    assert not written.embedded
    doctor = {check.name: check for check in other.ops.doctor().checks}
    assert not doctor["embedder"].ok
    assert own.search("paints clay")[0].memory.fact == "Person 2 paints clay"


class Toy:
    """A model of one's own, which only those have who were given it."""

    name, dimensions, max_tokens = "toy", 8, None

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        return [[1.0 + text.count(letter) for letter in "aeioustr"] for text in texts]


def test_a_setting_chooses_for_new_tenants_only(door: Door) -> None:
    door("openai/a").add("Person 1 paints a kite in Oslo")
    other = door("openai/b")
    other.add("Person 2 paints clay in Lima")
    assert models(other) == {"openai/a": "active"}
    assert other.search("clay", mode="semantic", expand=False)[0].semantic_score == pytest.approx(
        by_hand(other, "a", "clay", ["Person 2 paints clay in Lima"])["Person 2 paints clay in Lima"], abs=2e-3
    )
    check = next(check for check in other.ops.doctor().checks if check.name == "embedder")
    assert check.ok
    assert "openai/a" in check.detail
    assert "openai/b" in check.detail


def test_going_back_embeds_only_what_was_written_since(door: Door, provider: EmbeddingServer) -> None:
    memory = door()
    fill(memory, 12)
    memory.ops.reembed("openai/b", drop=False)
    assert {one.vectors for one in memory.ops.list_models()} == {12}
    memory.add("Person 50 mends wool in Riga")
    fresh = door("openai/b")
    provider.requests.clear()
    told = fresh.ops.reembed("openai/a")
    asked = [text for texts in provider.texts() for text in texts if text.startswith("Person")]
    assert asked == ["Person 50 mends wool in Riga"]
    assert (told.done, told.total) == (13, 13)
    assert models(fresh) == {"openai/a": "active", "openai/b": "retired"}


def test_a_look_before_the_switch_leaves_everything_as_it_was(door: Door) -> None:
    memory = door()
    fill(memory, 12)
    told = memory.ops.reembed("openai/b", dry_run=True)
    assert (told.dry_run, told.state, told.done, told.total) == (True, "building", 0, 12)
    assert models(memory) == {"openai/a": "active"}
    told = memory.ops.reembed("openai/b", switch=False)
    assert (told.state, told.done, told.dropped) == ("building", 12, 0)
    assert models(memory) == {"openai/a": "active", "openai/b": "building"}
    memory.add("Person 50 mends wool in Riga")  # a writer notes what it owes the model that is being built
    assert memory.ops.reembed("openai/b").done == 13
    assert models(memory) == {"openai/b": "active", "openai/a": "retired"}


def test_two_sets_of_vectors_are_never_compared_with_one_question(door: Door) -> None:
    memory = door()
    fill(memory, 12)
    memory.ops.reembed("openai/c", switch=False)  # as long as those of the model in use, and in another space
    found = memory.search("who paints in Oslo", mode="semantic", expand=False, limit=12)
    wanted = by_hand(memory, "a", "who paints in Oslo", [sentence(n) for n in range(12)])
    assert {one.memory.fact: one.semantic_score for one in found} == {
        fact: pytest.approx(max(0.0, cosine), abs=2e-3) for fact, cosine in wanted.items()
    }


def test_what_is_written_at_the_last_moment_has_its_vector_before_the_switch(
    door: Door, database: Database, tenant: str
) -> None:
    memory, other = door(), door()
    fill(memory, 5)
    late: list[str] = []

    def heard(told: Any) -> None:
        if told.overlap is not None and not late:  # all is built and compared, and the switch is next
            made = other.add("Person 70 fears the sea in Lima").memory
            assert made is not None
            late.append(made.memory_id)

    assert memory.ops.reembed("openai/b", progress=heard).done == 6
    assert late
    with database.transaction(tenant) as conn:
        sizes = conn.exec_driver_sql("SELECT vector_dims(embedding) FROM engram.memory_embeddings").scalars().all()
    assert sizes == [40] * 6


def test_writers_who_never_rest_do_not_keep_a_change_of_model_from_its_end(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = quiet(door()), quiet(door())
    fill(memory, 5)
    late: list[str] = []
    switch = reembedding._switch

    def raced(*given: Any) -> Any:
        assert len(late) < 50, "the change of model goes round for ever"
        late.extend(fill(other, 1, first=100 + len(late)))  # whenever all is embedded and the switch is next
        return switch(*given)

    monkeypatch.setattr(reembedding, "_switch", raced)
    told = memory.ops.reembed("openai/b")
    assert (told.state, told.done, told.total, told.failing) == ("active", 5 + len(late), 5 + len(late), ())
    assert memory.stats().unembedded == 0
    assert all(memory.get(memory_id).embedded for memory_id in late)
    memory.ops.run_jobs()  # the jobs that would have made the last vectors, had the change been killed
    vectors = {one.name: one.vectors for one in memory.ops.list_models()}
    assert vectors == {"openai/b": 5 + len(late), "openai/a": 0}
    assert not [job for job in memory.ops.list_jobs() if job.state != "done"]


class Shapes:
    """An embedder of the caller's own, of a length that is not in its name."""

    name, max_tokens = "shapes", None

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str], kind: str) -> list[list[float]]:
        """A vector of the letters of each text."""
        places = range(self.dimensions)
        return [[1.0 + text.lower().count(chr(97 + place)) for place in places] for text in texts]


def test_an_embedder_of_a_known_name_and_another_length_is_another_model(door: Door) -> None:
    memory = door(Shapes(8))
    fill(memory, 3)
    told = memory.ops.reembed(Shapes(12))
    assert (told.dimensions, told.state, told.done) == (12, "active", 3)
    held = [(one.dimensions, one.state, one.vectors) for one in memory.ops.list_models()]
    assert held == [(12, "active", 3), (8, "retired", 0)]
    assert not memory.search("Person 1", mode="semantic").degraded
    written = memory.add("Person 77 dreams of glass in Turin").memory
    assert written is not None
    assert written.embedded


def test_a_replay_beside_a_change_of_model_holds_it_up_for_no_vector_of_its_own(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = door()
    fill(memory, 3)
    before = memory.ops.replay()
    memory.ops.reembed("openai/b", switch=False)
    memory.add("Person 50 mends wool in Riga")
    memory.ops.switch_replay(before.shadow_id)
    again = memory.ops.replay()  # of it and of what was dropped nobody waits for a vector
    memory.ops.drop_replay(before.shadow_id)
    tried, switch = iter(range(3)), reembedding._switch

    def counted(*given: Any) -> bool:
        assert next(tried, None) is not None, "the change of model goes round for ever"
        return switch(*given)

    monkeypatch.setattr(reembedding, "_switch", counted)
    told = memory.ops.reembed("openai/b")
    assert (told.state, told.done, told.failing) == ("active", 4, ())
    memory.ops.switch_replay(again.shadow_id)
    memory.ops.run_jobs()
    assert {one.name: one.vectors for one in memory.ops.list_models()}["openai/b"] == 4


def test_memories_that_a_replay_puts_in_place_at_the_last_moment_have_their_vectors_before_the_switch(
    door: Door,
) -> None:
    memory, other = door(), door()
    fill(memory, 3)
    shadow = memory.ops.replay().shadow_id
    done: list[str] = []

    def heard(told: Any) -> None:
        if told.overlap is not None and not done:  # all is built and compared, and the switch is next
            done.append(other.ops.switch_replay(shadow).state)

    memory.ops.reembed("openai/b", progress=heard)
    assert done == ["former"]
    assert {one.name: one.vectors for one in memory.ops.list_models()}["openai/b"] == 3
    assert len(memory.search("who paints in Oslo", mode="semantic", expand=False, limit=10).results) == 3


def test_what_a_process_without_a_model_puts_in_place_by_a_replay_waits_for_vectors(door: Door) -> None:
    memory, plain = door(), door("none")
    fill(memory, 3)
    plain.ops.switch_replay(plain.ops.replay().shadow_id)
    assert [one.embedded for one in memory.list_memories()] == [False] * 3
    memory.ops.run_jobs()
    assert [one.embedded for one in memory.list_memories()] == [True] * 3
    assert len(memory.search("who paints in Oslo", mode="semantic", expand=False, limit=10).results) == 3


def test_what_a_process_without_a_model_writes_waits_for_one_that_has_the_tenants(door: Door) -> None:
    memory, plain = door(), door("none")
    memory.add("Person 1 paints a kite in Oslo")
    plain.add("Person 2 carves wood in Lima")
    plain.add_many([{"fact": "Person 3 knits in Bergen"}, {"fact": "Person 4 sails near Split"}])
    plain.remember("I bake bread on Sundays.")
    plain.ops.run_jobs()  # those that it can do
    assert [one.embedded for one in memory.list_memories()].count(False) == 5
    doctor = {check.name: check.detail for check in plain.ops.doctor().checks}
    assert "waits for openai/a" in doctor["embedder"]
    assert "5 memories" in doctor["vectors"]
    memory.ops.run_jobs()
    assert all(one.embedded for one in memory.list_memories())
    fact = "Person 2 carves wood in Lima"
    assert memory.search(fact, mode="semantic", expand=False)[0].memory.fact == fact


def test_what_a_process_without_a_model_imports_waits_for_one_that_has_the_tenants(door: Door, tmp_path: Path) -> None:
    memory, mover = door(), Scope(tenant_id=f"{door().scope.tenant_id}-before", user_id="mover")
    memory.add("Person 1 paints a kite in Oslo")
    before = door("none", scope=mover)
    before.add("Person 2 carves wood in Lima")
    before.ops.export(tmp_path / "mover.jsonl")
    door("none").ops.import_(tmp_path / "mover.jsonl")
    memory.ops.run_jobs()
    assert [one.embedded for one in memory.scoped(user_id="mover").list_memories()] == [True]


def test_a_large_scope_is_searched_through_a_graph_of_the_new_model(
    door: Door, database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(semantic, "LARGE", 10)
    memory = door()
    fill(memory, 25)
    told = memory.ops.reembed("openai/b")
    assert told.graph is True
    with database.transaction(tenant) as conn:
        scope_id = tenancy.find(conn, Scope(tenant_id=tenant, user_id="ada"))
        model = semantic.active_model(conn, tenant)
        assert model is not None
        assert semantic.has_graph(conn, model.model_id)
        fetch_all(conn, "set_search", breadth="100", milliseconds=60_000)
        # Of 25 vectors the planner may well prefer to look at each: what counts is that the graph can answer.
        for other in ("enable_seqscan", "enable_bitmapscan", "enable_sort"):
            conn.exec_driver_sql(f"SET LOCAL {other} = off")
        assert scope_id is not None
        sql = walk(conn, dimensions=40, scope_id=scope_id, model_id=model.model_id, most=5)
        asked = {"tenant_id": tenant, "vector": halves(vector("b", "who paints in Oslo"))}
        plan = "\n".join(conn.exec_driver_sql(f"EXPLAIN {sql}", asked).scalars())  # constants
    assert f"_graph_{model.model_id}" in plan
    wanted = by_hand(memory, "b", "who paints in Oslo", [sentence(n) for n in range(25)])
    found = memory.search("who paints in Oslo", mode="semantic", expand=False, limit=5)
    assert found[0].memory.fact == max(wanted, key=lambda fact: wanted[fact])


def test_without_the_owners_login_a_large_scope_is_searched_exactly_and_says_so(
    door: Door, database_url: str, provider: EmbeddingServer, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(semantic, "LARGE", 10)
    settings = load({}, embedding_model="openai/a", embedding_api_base=provider.url, embedding_api_keys="key")
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada"), settings=settings) as memory:
        fill(memory, 12)
        assert memory.ops.reembed("openai/c").graph is False
        assert len(memory.search("who paints in Oslo", mode="semantic")) == 10


def test_the_doctor_says_that_a_large_scope_has_no_graph_and_what_builds_one(
    door: Door, database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(semantic, "LARGE", 10)
    memory = door()
    fill(memory, 12)

    def found() -> list[tuple[bool, str, str | None]]:
        return [(one.ok, one.detail, one.repair) for one in memory.ops.doctor().checks if one.name == "graph"]

    assert found() == [], "nobody has counted"
    with database.transaction(tenant) as conn:
        scope_id = tenancy.find(conn, memory.scope)
        assert scope_id is not None
        keyword.refresh_terms(conn, tenant, scope_id)
    [(ok, detail, repair)] = found()
    assert not ok
    assert detail == "openai/a has none: 1 scopes of up to 12 memories are compared one by one"
    assert repair == "engram reembed --model openai/a, with ENGRAM_MIGRATION_URL"
    assert memory.ops.reembed("openai/a").graph is True
    assert found() == []


def test_another_choice_gives_up_the_model_that_was_being_built(door: Door) -> None:
    memory = door()
    fill(memory, 5)
    memory.ops.reembed("openai/b", switch=False)
    memory.ops.reembed("openai/c")
    assert models(memory) == {"openai/c": "active", "openai/a": "retired", "openai/b": "retired"}
    assert {one.name: one.vectors for one in memory.ops.list_models()} == {"openai/c": 5, "openai/a": 0, "openai/b": 0}


def test_memories_written_without_any_model_get_vectors(door: Door) -> None:
    plain = door("none")
    plain.add("Person 1 paints a kite in Oslo")
    assert not next(iter(plain.list_memories())).embedded
    memory = door("openai/a")
    told = memory.ops.reembed("openai/a")
    assert (told.state, told.done, told.overlap) == ("active", 1, None)
    assert next(iter(memory.list_memories())).embedded
    assert memory.search("kite", mode="semantic")


def test_what_is_erased_while_it_is_embedded_gets_no_vector(
    door: Door, database: Database, tenant: str, provider: EmbeddingServer
) -> None:
    memory = door()
    made = memory.remember("The code of the safe is 4711")
    memory.wait_for(made)

    def meanwhile(request: Any) -> None:
        if request.body["model"].endswith("b") and any("4711" in text for text in request.body["input"]):
            memory.ops.redact_event(made.event_ids[0])

    provider.fault = meanwhile
    told = memory.ops.reembed("openai/b")
    assert told.state == "active"
    with database.transaction(tenant) as conn:
        left = conn.exec_driver_sql("SELECT count(*) FROM engram.memory_embeddings").scalar()
        waiting = conn.exec_driver_sql("SELECT count(*) FROM engram.embedding_backlog").scalar()
    assert (left, waiting) == (0, 0)


def test_an_id_that_a_replay_gives_another_fact_meanwhile_gets_no_vector_of_the_old_one(
    door: Door, database: Database, tenant: str, provider: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = door()
    memory.remember("I live in Ottawa.", derive="rules")
    first = rules.derive
    with monkeypatch.context() as patched:
        patched.setattr(
            rules, "derive",
            lambda event, **given: tuple(replace(one, fact="User collects stamps") for one in first(event, **given)),
        )  # fmt: skip
        patched.setattr(rules, "VERSION", rules.VERSION + 1)
        shadow = memory.ops.replay().shadow_id
    before = next(one for one in memory.list_memories() if one.deriver == "rules")

    def meanwhile(request: Any) -> None:
        if request.body["model"].endswith("b") and "User lives in Ottawa" in request.body["input"]:
            memory.ops.switch_replay(shadow)

    provider.fault = meanwhile
    assert memory.ops.reembed("openai/b").state == "active"
    memory.ops.run_jobs()
    provider.fault = None
    after = next(one for one in memory.list_memories() if one.deriver == "rules")
    assert (after.memory_id, after.fact) == (before.memory_id, "User collects stamps")
    assert after.embedded
    with database.transaction(tenant) as conn:
        rows = conn.exec_driver_sql(
            "SELECT e.embedding::real[]::float8[] FROM engram.memory_embeddings e"
            " JOIN engram.embedding_models m USING (model_id) WHERE e.memory_id = %s AND m.name = 'openai/b'",
            (after.memory_id,),
        ).all()  # fmt: skip
    [stored], wanted = rows[0], vector("b", after.fact)
    assert sum(one * other for one, other in zip(stored, wanted, strict=True)) > 0.99


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"model": 7}, InvalidInput),
        ({"model": "none"}, InvalidInput),
        ({"model": "nobody-has-this"}, InvalidInput),
        ({"model": "openai/what is this?"}, InvalidInput),
        ({"model": "openai/b", "batch_size": 0}, InvalidInput),
        ({"model": "openai/b", "switch": 1}, InvalidInput),
        ({"model": "openai/b", "progress": "often"}, InvalidInput),
    ],
)
def test_a_change_that_makes_no_sense_is_refused_before_anything_is_touched(
    door: Door, given: dict[str, Any], error: type[Exception]
) -> None:
    memory = door()
    with pytest.raises(error):
        memory.ops.reembed(**given)
    assert models(memory) == {}


# Failures ------------------------------------------------------------------------------------------------------------


def test_a_memory_that_the_model_cannot_embed_is_told_and_holds_up_nothing(
    door: Door, provider: EmbeddingServer
) -> None:
    memory = door()
    ids = fill(memory, 25)

    def fault(request: Any) -> Any:
        if not request.body["model"].endswith("b"):
            return None
        rows = data(request)
        for row, text in zip(rows, request.body["input"], strict=True):
            if text == sentence(13):
                row["embedding"] = [0.0] * 40
        return answers(rows)

    provider.fault = fault
    told = memory.ops.reembed("openai/b")
    assert (told.state, told.done, told.failing) == ("active", 24, (ids[13],))
    assert memory.search("Person 13")[0].memory.memory_id == ids[13]
    assert not memory.get(ids[13]).embedded
    assert memory.stats().unembedded == 1
    provider.fault = None  # the model was mended, and the job that waited finds out
    for _ in range(100):
        memory.ops.run_jobs()
        if memory.stats().unembedded == 0:
            break
        time.sleep(0.1)
    assert memory.get(ids[13]).embedded


def test_a_model_that_is_out_stops_the_change_and_it_goes_on_later(
    door: Door, provider: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembedding, "PAUSES", (0.0, 0.0))
    memory = door()
    fill(memory, 20)
    calls = 0

    def fault(request: Any) -> Any:
        nonlocal calls
        new = request.body["model"].endswith("b")
        calls += new
        return status(500) if new and calls > 3 else None

    provider.fault = fault
    with pytest.raises(Unavailable):
        memory.ops.reembed("openai/b", batch_size=5)
    assert models(memory) == {"openai/a": "active", "openai/b": "building"}
    assert memory.search("Person 3", mode="semantic")
    provider.fault = None
    assert memory.ops.reembed("openai/b", batch_size=5).done == 20


def test_a_model_that_changed_under_its_name_is_refused(door: Door, provider: EmbeddingServer) -> None:
    memory = door()
    memory.add("Person 1 paints a kite in Oslo")

    def other_space(request: Any) -> Any:
        rows = [
            {"index": n, "embedding": vector("c", text), "object": "embedding"}
            for n, text in enumerate(request.body["input"])
        ]
        return answers(rows) if request.body["model"].endswith("a") else None

    provider.fault = other_space
    assert memory.search("kite", mode="semantic")  # a process that runs had recognised it before
    later = door()
    with pytest.raises(Unavailable) as refused:
        later.search("kite", mode="semantic")
    assert refused.value.reason == "space_drift"
    assert later.search("kite").degraded == ("semantic",)
    with pytest.raises(Unavailable):
        later.add("Person 2 paints clay in Lima")
    with pytest.raises(Unavailable) as refused:
        door().ops.reembed("openai/a")
    assert refused.value.reason == "space_drift"
    assert later.ops.reembed("openai/a#2").state == "active"  # the same model of the provider, named anew
    assert later.search("kite", mode="semantic")[0].memory.fact == "Person 1 paints a kite in Oslo"


def test_a_slightly_other_rounding_is_the_same_model(door: Door, provider: EmbeddingServer) -> None:
    door().add("Person 1 paints a kite in Oslo")
    dice = random.Random(3)

    def rounding(request: Any) -> Any:
        rows = data(request)
        for row in rows:
            row["embedding"] = [value + dice.uniform(-0.002, 0.002) for value in row["embedding"]]
        return answers(rows)

    provider.fault = rounding
    assert not door().search("kite").degraded


# While everything goes on --------------------------------------------------------------------------------------------

RUN = """
import sys
from engram import Engram, Scope, tenancy
from engram.channels import semantic
from engram.settings import load
url, tenant, base, model, batch = sys.argv[1:]
settings = load({}, embedding_model="openai/a", embedding_api_base=base, embedding_api_keys="key")
with Engram(url, scope=Scope(tenant_id=tenant), settings=settings) as engram:
    engram.ops.reembed(model, batch_size=int(batch), progress=lambda told: print(told.done, told.state, flush=True))
"""


def change(url: str, tenant: str, base: str, model: str, batch: int) -> subprocess.Popen[str]:
    """A process that changes the model."""
    command = [sys.executable, "-c", RUN, url, tenant, base, model, str(batch)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])


class Reader(threading.Thread):
    """Asks all the time, and looks at every ranking: all of its cosines are of one model."""

    def __init__(self, door: Engram, spaces: Sequence[str], facts: int) -> None:
        super().__init__(daemon=True)
        self.door, self.spaces, self.facts = door, spaces, facts
        self.stop, self.asked, self.wrong, self.seen = threading.Event(), 0, [], set[str]()

    def run(self) -> None:
        dice = random.Random(7)
        while not self.stop.is_set():
            query = sentence(dice.randrange(self.facts))
            try:
                found = self.door.search(query, mode=dice.choice(["hybrid", "semantic"]), limit=20, track=False)
            except Exception as error:
                self.wrong.append(repr(error))
                continue
            self.asked += 1
            time.sleep(0.05)  # the provider is a thread of this process too
            if not len(found) or found.degraded:
                self.wrong.append(f"{len(found)} found, without {found.degraded}")
            self.look(query, found)

    def look(self, query: str, found: Any) -> None:
        got = {one.memory.fact: one.semantic_score for one in found if "cosine" in one.terms and one.semantic_score}
        close = []
        for space in self.spaces:
            wanted = by_hand(self.door, space, query, list(got))
            if all(abs(score - max(0.0, wanted[fact])) < 4e-3 for fact, score in got.items()):
                close.append(space)
        if not close:
            self.wrong.append(f"a ranking of no one model for {query}")
        if len(close) == 1:
            self.seen.update(close)


class Writer(threading.Thread):
    """Writes all the time."""

    def __init__(self, door: Engram, first: int) -> None:
        super().__init__(daemon=True)
        self.door, self.next = door, first
        self.stop, self.written, self.wrong = threading.Event(), dict[str, str](), []

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                made = self.door.add(sentence(self.next), force=True)
                assert made.memory is not None
                self.written[made.memory.memory_id] = made.memory.fact
            except Exception as error:
                self.wrong.append(repr(error))
            self.next += 1
            time.sleep(0.1)


def migrate_under_load(
    door: Door, database: Database, database_url: str, tenant: str, base: str, *,
    count: int, spaces: Sequence[str], kills: int, batch: int,
) -> tuple[Reader, Writer]:  # fmt: skip
    """Fill, read and write while the model changes twice and its process is killed again and again."""
    memory = door()
    say(memory, count)
    reader, writer = Reader(door(), spaces, count), Writer(door(), 10 * count)
    reader.start()
    writer.start()
    for new in spaces[1:]:
        for _ in range(kills):
            process = change(database_url, tenant, base, f"openai/{new}", batch)
            assert process.stdout is not None
            for _ in range(4):  # some batches further than before
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
        process = change(database_url, tenant, base, f"openai/{new}", batch)
        process.communicate(timeout=600)
        assert process.returncode == 0
    time.sleep(0.3)
    for one in (reader, writer):
        one.stop.set()
        one.join(60)
    for _ in range(200):
        memory.ops.run_jobs(limit=50)
        if memory.stats().unembedded == 0:
            break
        time.sleep(0.05)
    with database.transaction(tenant) as conn:
        rows = conn.exec_driver_sql(
            "SELECT m.memory_id::text, m.fact, array_agg(x.name ORDER BY x.name), min(e.embedding::text)"
            " FROM engram.agent_memory m"
            " LEFT JOIN engram.memory_embeddings e ON e.tenant_id = m.tenant_id AND e.scope_id = m.scope_id"
            " AND e.memory_id = m.memory_id"
            " LEFT JOIN engram.embedding_models x ON x.tenant_id = m.tenant_id AND x.model_id = e.model_id"
            " GROUP BY m.tenant_id, m.memory_id"
        ).fetchall()
    assert len(rows) == count + len(writer.written)
    assert writer.written.keys() <= {row[0] for row in rows}
    for _, fact, names, stored in rows:
        assert names == [f"openai/{spaces[-1]}"]
        assert json.loads(stored) == pytest.approx(vector(spaces[-1], fact), abs=2e-3)
    return reader, writer


@pytest.mark.parametrize("spaces", ["ac", pytest.param("acb", marks=pytest.mark.slow)])
def test_the_model_changes_under_readers_writers_and_kills(
    door: Door, database: Database, database_url: str, tenant: str, provider: EmbeddingServer, spaces: str
) -> None:
    reader, writer = migrate_under_load(
        door, database, database_url, tenant, provider.url, count=160, spaces=spaces, kills=1, batch=20
    )
    assert reader.wrong == []
    assert writer.wrong == []
    assert reader.asked > 10
    assert reader.seen == set(spaces)
    assert writer.written
    for memory_id, fact in list(writer.written.items())[::7]:
        best = reader.door.search(fact, mode="semantic", limit=3)
        assert memory_id in [one.memory.memory_id for one in best]


@pytest.mark.slow
def test_fifty_thousand_vectors_move_under_readers_writers_and_kills(
    door: Door, database: Database, database_url: str, tenant: str, provider: EmbeddingServer
) -> None:
    reader, writer = migrate_under_load(
        door, database, database_url, tenant, provider.url, count=50_000, spaces="ac", kills=10, batch=500
    )
    assert reader.wrong == []
    assert writer.wrong == []
