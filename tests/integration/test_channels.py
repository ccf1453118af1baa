"""The channels of a search: what each finds and what it never finds, what leads to what, and a channel that fails."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import psycopg
import pytest
import sqlalchemy as sa

from engram import Engram, Filter, Scope, SearchResults, recall, tenancy
from engram.channels import SEARCHED, Part, graph, keyword, semantic, temporal
from engram.database import Database
from engram.embedded import EmbeddedServer
from engram.errors import InvalidInput, Unavailable
from engram.recall import finding
from engram.settings import load
from tests.quiet import quiet

DIMENSIONS = 64
QUESTION = "Which colour did zebra Ottokar choose?"
MAY = datetime(2024, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)
MODULES = {module.NAME: module for module in (semantic, keyword, temporal, graph)}


class Near:
    """An embedder that is told how near a fact is to every question: "… @0.48"; what has no number is far from all."""

    name, dimensions, max_tokens = "near", DIMENSIONS, None

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        self.calls.append(tuple(texts))
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Any:
        said = re.search(r"@(-?[\d.]+)", text)
        vector = np.zeros(DIMENSIONS)
        vector[0] = float(said[1]) if said else 1.0 if "?" in text else 0.0
        vector[1 + sum(text.encode()) * 7919 % (DIMENSIONS - 1)] += (1 - vector[0] ** 2) ** 0.5
        return vector


@dataclass
class Zoo:
    """A door to a tenant of the test's own, and ways around it."""

    door: Engram
    database: Database
    superuser: str
    embedder: Near

    @property
    def tenant(self) -> str:
        return self.door.scope.tenant_id

    def add(self, fact: str, **more: Any) -> str:
        made = self.door.add(fact, **more).memory
        assert made is not None
        return made.memory_id

    def noise(self, many: int, cosine: float) -> list[str]:
        made = self.door.add_many([{"fact": f"Shelf{n} holds box{n * 31} @{cosine}"} for n in range(many)])
        return [one.memory.memory_id for one in made if one.memory is not None]

    def sql(self, text: str, *values: Any) -> None:
        with psycopg.connect(self.superuser) as conn:
            conn.execute("SET session_replication_role = replica")
            conn.execute(text, values)  # type: ignore[arg-type]

    def put(self, memory_id: str, status: str) -> None:
        self.sql("UPDATE engram.agent_memory SET status = %s WHERE tenant_id = %s AND memory_id = %s",
                 status, self.tenant, memory_id)  # fmt: skip

    def relate(self, source_id: str, target_id: str, weight: float = 1.0) -> None:
        self.sql("INSERT INTO engram.memory_relations (tenant_id, source_id, target_id, relation_type, weight)"
                 " VALUES (%s, %s, %s, 'part_of', %s)", self.tenant, source_id, target_id, weight)  # fmt: skip

    def ids(self, query: str = QUESTION, **options: Any) -> list[str]:
        found = self.door.search(query, track=False, expand=False, **options)
        return [one.memory.memory_id for one in found]

    def gathered(self, query: str, **options: Any) -> tuple[SearchResults, recall.Found]:
        """A search with what no door passes on, such as a window."""
        asked = recall.prepare(query, **options)
        vector = np.asarray(self.embedder.embed([query], "query")[0], dtype=np.float32)
        with self.database.transaction(self.tenant, read_only=True) as conn:
            looked = recall.look(conn, tenancy.visible(conn, self.door.scope), asked)
            found = recall.find(conn, asked, looked, recall.Meaning(vector, looked.model_id))
        return recall.rank(asked, looked, found), found


@pytest.fixture
def zoo(server: EmbeddedServer, database: Database, database_url: str, tenant: str) -> Iterator[Zoo]:
    embedder = Near()
    with quiet(Engram(database_url, scope=Scope(tenant, user_id="ada"), settings=load({}), embedder=embedder)) as door:
        yield Zoo(door, database, server.superuser_url.replace("+psycopg", ""), embedder)


# The graph: what leads to what ---------------------------------------------------------------------------------------


def test_what_only_a_relation_leads_to_is_found(zoo: Zoo) -> None:
    seed = zoo.add("Zebra Ottokar belongs to the parade @0.8")
    answer = zoo.add("The parade is green @0.0")
    zoo.noise(30, 0.05)
    assert answer not in zoo.ids()
    zoo.door.relate(answer, seed, "part_of")
    found = zoo.door.search(QUESTION, track=False)
    one = next(one for one in found if one.memory.memory_id == answer)
    assert set(one.channels) == {"graph"}
    assert one.channels["graph"].rank == 1
    assert answer not in zoo.ids(depth=0)


def test_a_loose_relation_counts_only_towards_what_is_meant_or_said_too(zoo: Zoo) -> None:
    seed = zoo.add("Zebra Ottokar walks in front @0.8")
    near, far = zoo.add("Something green, later on @0.46"), zoo.add("Bread rises in ovens @0.2")
    zoo.noise(60, 0.47)  # the channels bring fifty
    assert near not in zoo.ids(limit=10)
    zoo.door.relate(seed, near, "mentioned_with")
    zoo.door.relate(seed, far, "mentioned_with")
    assert near in zoo.ids(limit=10)
    assert far not in zoo.ids(limit=10)
    zoo.door.relate(seed, zoo.add("Paint of some colour on a stove @0.0"), "mentioned_with")
    said = next(
        one for one in zoo.door.search(QUESTION, limit=200, track=False, expand=False) if "stove" in one.memory.fact
    )
    assert set(said.channels) == {"keyword", "graph"}
    with Engram(zoo.door.settings.database_url or zoo.database.url, scope=zoo.door.scope, embedder="none") as blind:
        assert [one.memory.memory_id for one in blind.search("Zebra", track=False, expand=False)] == [seed]


def test_many_relations_of_a_hit_bring_nothing_unrelated_before_what_is_relevant(zoo: Zoo) -> None:
    seed = zoo.add("Zebra Ottokar walks in front @0.8")
    relevant = [zoo.add(f"Stripe{n} and hoof{n} are green @0.5") for n in range(9)]
    for place, other in enumerate(zoo.noise(60, 0.2)):
        zoo.door.relate(seed, other, ("mentioned_with", "part_of")[place % 2])
    assert set(zoo.ids(limit=10)) == {seed, *relevant}


@pytest.mark.parametrize("status", ["contested", "archived", "deleted", "quarantined", "superseded"])
def test_only_what_is_current_leads_anywhere_or_is_led_to(zoo: Zoo, status: str) -> None:
    seed = zoo.add("Zebra Ottokar belongs to the parade @0.8")
    answer = zoo.add("The parade is green @0.0")
    zoo.relate(seed, answer)
    assert zoo.ids() == [seed, answer]
    zoo.put(answer, status)
    assert zoo.ids() == [seed]
    zoo.put(answer, "active")
    zoo.put(seed, status)
    assert zoo.ids() == []
    assert answer not in zoo.ids(include_superseded=True)


def test_a_neighbour_that_was_superseded_leads_to_its_heir(zoo: Zoo) -> None:
    seed = zoo.add("Zebra Ottokar belongs to the parade @0.8")
    past = zoo.add("The parade is green @0.0")
    zoo.relate(seed, past)
    head = zoo.door.revise(past, "The parade is blue @0.05").memory
    assert head is not None
    zoo.sql("DELETE FROM engram.memory_relations WHERE tenant_id = %s AND %s::uuid IN (source_id, target_id)",
            zoo.tenant, head.memory_id)  # fmt: skip
    zoo.noise(60, 0.2)  # so that no channel brings it by itself
    found = zoo.door.search(QUESTION, limit=10, track=False, expand=False)
    assert past not in [one.memory.memory_id for one in found]
    _, gathered = zoo.gathered(QUESTION)
    one = next(one for one in gathered.candidates if one.memory.memory_id == head.memory_id)
    assert one.by == {"graph"}
    assert one.inherited
    assert one.stands


def test_no_relation_leads_to_another_user_or_tenant_or_what_is_private(zoo: Zoo, database_url: str) -> None:
    seed = zoo.add("Zebra Ottokar belongs to the parade @0.8")
    made = []
    for scope in (Scope(zoo.tenant, user_id="bob"), Scope(f"{zoo.tenant}-other", user_id="ada"), Scope(zoo.tenant)):
        with Engram(database_url, scope=scope, embedder=Near()) as other:
            memory = other.add(f"The parade of {scope.user_id} is green @0.0").memory
        assert memory is not None
        made.append(memory.memory_id)
        zoo.relate(seed, memory.memory_id)
    zoo.relate(made[0], zoo.add("Behind bob there is green @0.0"))
    zoo.relate(made[1], zoo.add("Behind the other there is blue @0.0"))
    assert zoo.ids(depth=3) == [seed, made[-1]]  # the agent's own is everybody's
    zoo.sql("UPDATE engram.agent_memory SET private = true WHERE memory_id = %s", made[-1])
    assert zoo.ids() == [seed]


def test_what_may_not_be_seen_takes_no_places_among_the_relations_of_a_hit(zoo: Zoo) -> None:
    seed = zoo.add("Zebra Ottokar belongs to the parade @0.8")
    answer = zoo.add("The parade is green @0.0")
    zoo.relate(seed, answer, 0.1)
    for other in zoo.noise(3 * graph.BREADTH, 0.0):
        zoo.relate(seed, other, 0.9)
        zoo.put(other, "archived")
    assert zoo.ids() == [seed, answer]


def test_a_chain_is_followed_as_far_as_is_asked_for(zoo: Zoo) -> None:
    chain = [zoo.add("Zebra Ottokar belongs to the parade @0.8")]
    for place in range(4):
        chain.append(zoo.add(f"Link{place} of that chain{place * 17} @0.0"))
        zoo.relate(chain[-2], chain[-1])
    for depth in range(4):
        assert zoo.ids(depth=depth) == chain[: depth + 1]
    found = zoo.door.search(QUESTION, depth=3, track=False, expand=False)
    closeness = [one.channels["graph"].value for one in list(found)[1:]]
    assert closeness == sorted(closeness, reverse=True)
    assert len(set(closeness)) == 3
    for status in ("archived", "superseded"):  # the one is not there, the other leads to its heir and no farther
        zoo.put(chain[1], status)
        assert zoo.ids(depth=3) == chain[:1]


def test_what_is_about_somebody_the_question_names_is_found(zoo: Zoo) -> None:
    about = zoo.add("She never drinks coffee @0.0", subject="Ottokar", attribute="drink", value="no coffee")
    zoo.add("He paints at night @0.0", subject="Anselm", attribute="hobby", value="painting")
    assert zoo.ids() == [about]
    found, _ = zoo.gathered(QUESTION)
    assert found.channels["graph"] == 1
    assert found[0].channels["graph"].value == graph.NAMED
    for number in range(graph.BREADTH + 5):  # newer, and none that may be returned
        zoo.put(zoo.add(f"Rumour{number} of lake{number * 7} @0.0", subject="Ottokar"), "contested")
    assert zoo.ids() == [about]
    zoo.put(about, "contested")
    assert zoo.ids() == []


def test_relations_of_the_past_lead_where_they_led_then(zoo: Zoo) -> None:
    seed = zoo.add("Zebra Ottokar belongs to the parade @0.8")
    answer = zoo.add("The parade is green @0.0")
    before = datetime.now(UTC)
    zoo.door.relate(seed, answer, "part_of")
    between = datetime.now(UTC)
    zoo.door.unrelate(seed, answer, "part_of")
    assert zoo.ids() == [seed]
    assert zoo.ids(known_at=before) == [seed]
    assert zoo.ids(known_at=between) == [seed, answer]
    assert zoo.ids(known_at=between, as_of=between) == [seed, answer]


# Time ----------------------------------------------------------------------------------------------------------------


def test_a_window_finds_what_began_in_it_nearest_its_centre_first(zoo: Zoo) -> None:
    days = {n: zoo.add(f"Visit{n} of the aunt{n} @0.0", valid_from=MAY + n * DAY) for n in (-1, 0, 2, 4, 5, 9, 10)}
    found, gathered = zoo.gathered("asdf", window=(MAY, MAY + 10 * DAY))
    values = {one.memory.memory_id: one.temporal for one in gathered.candidates if one.temporal is not None}
    assert set(values) == {days[n] for n in (0, 2, 4, 5, 9)}  # half-open
    assert values[days[5]] == 1.0
    assert values[days[0]] == 0.5
    ranks = {one.memory.memory_id: one.channels["temporal"].rank for one in found}
    assert [ranks[days[n]] for n in (5, 4, 2, 9, 0)] == [1, 2, 3, 4, 5]
    assert found.channels["temporal"] == 5


def test_windows_may_be_open_and_what_ended_in_one_is_found_after_what_began(zoo: Zoo) -> None:
    ended = zoo.add("The lease of the attic @0.0", valid_from=MAY - 100 * DAY, valid_to=MAY + DAY)
    gone = zoo.add("The lease of the cellar @0.0", valid_from=MAY - 100 * DAY, valid_to=MAY)
    began = zoo.add("Visit of the uncle @0.0", valid_from=MAY + 3 * DAY)

    def held(window: Any) -> dict[str, float]:
        _, found = zoo.gathered("asdf", window=window, include_superseded=True)
        return {one.memory.memory_id: one.temporal for one in found.candidates if one.temporal is not None}

    closed = held((MAY, MAY + 10 * DAY))
    assert set(closed) == {ended, began}
    assert closed[ended] < closed[began]
    assert set(held((None, MAY - 50 * DAY))) == {ended, gone}
    assert set(held((MAY + 2 * DAY, None))) == {began}


def test_a_value_that_held_in_the_window_leads_to_the_one_that_holds_now(zoo: Zoo) -> None:
    past = zoo.add("The parade is green @0.0", valid_from=MAY)
    head = zoo.door.revise(past, "The parade is blue @0.0", valid_from=MAY + 100 * DAY).memory
    assert head is not None
    _, found = zoo.gathered("asdf", window=(MAY - DAY, MAY + DAY))
    shown = [one for one in found.candidates if one.stands]
    assert [one.memory.memory_id for one in shown] == [head.memory_id]
    assert shown[0].by == {"temporal"}
    assert found.channels["temporal"] == 1


def test_what_was_put_away_hides_nothing_in_a_window(zoo: Zoo) -> None:
    kept = zoo.add("Visit of the uncle @0.0", valid_from=MAY + 4 * DAY)
    facts = [{"fact": f"Guest{n} came by coach{n * 3} @0.0", "valid_from": MAY + 5 * DAY} for n in range(80)]
    for one in zoo.door.add_many(facts):  # type: ignore[arg-type]
        assert one.memory is not None
        zoo.put(one.memory.memory_id, "archived")
    _, found = zoo.gathered("asdf", window=(MAY, MAY + 10 * DAY), limit=10)
    assert [one.memory.memory_id for one in found.candidates] == [kept]


# What is said of the channels ----------------------------------------------------------------------------------------


def test_a_channel_that_found_nothing_says_so(zoo: Zoo) -> None:
    empty = zoo.door.search(QUESTION, track=False)
    assert not empty
    assert empty.channels == {"keyword": 0, "graph": 0}  # there is nothing yet that a question could mean
    assert empty.degraded == ()
    zoo.add("Bread rises in ovens @0.3")
    found = zoo.door.search(QUESTION, track=False, expand=False)
    assert [found.channels[name] for name in ("semantic", "keyword", "graph")] == [1, 0, 0]
    other = zoo.door.search("Bread?", mode="keyword", track=False, expand=False)
    assert (other.channels["keyword"], zoo.door.search("Qwertz?", mode="keyword").channels["keyword"]) == (1, 0)
    assert "temporal" not in found.channels  # it was not asked


def test_a_result_names_the_channels_that_found_it_and_not_those_that_measured_it(zoo: Zoo) -> None:
    zoo.noise(60, 0.4)
    worded = zoo.add("Zebra Ottokar chose the colour green @0.2")
    found = zoo.door.search(QUESTION, limit=10, track=False, expand=False)
    assert found[0].memory.memory_id == worded
    assert set(found[0].channels) == {"keyword"}
    assert found[0].terms["cosine"].value == pytest.approx(0.2, abs=0.01)  # counted all the same
    assert set(found[1].channels) == {"semantic"}
    assert (found.channels["semantic"], found.channels["keyword"]) == (30, 1)


def test_excluded_words_keep_heirs_and_neighbours_out_too(zoo: Zoo) -> None:
    seed = zoo.add("Zebra Ottokar belongs to the parade @0.8")
    neighbour = zoo.add("The lorry is green @0.0")
    zoo.relate(seed, neighbour)
    past = zoo.add("Zebra Ottokar has a cart @0.7")
    head = zoo.door.revise(past, "Zebra Ottokar has a lorry @0.7").memory
    assert head is not None
    assert set(zoo.ids("Zebra Ottokar?")) == {seed, neighbour, head.memory_id}
    assert zoo.ids("Zebra Ottokar? -lorry") == [seed]
    # What is left out takes no places: the rest is asked for again.
    for one in range(70):
        zoo.add(f"Zebra lorry number{one} of depot{one * 7} @0.6")
    few = zoo.noise(5, 0.3)
    assert set(zoo.ids("Zebra Ottokar? -lorry", limit=6)) == {seed, *few}


def test_excluded_words_keep_what_is_not_derived_yet_out_too(zoo: Zoo) -> None:
    zoo.door._core.settings.__dict__["dispatch"] = "doorbell"
    zoo.door.remember("Ottokar rides in a lorry @0.9")
    zoo.door.remember("Ottokar rides in a cart @0.9")
    for query in ("Ottokar? -lorry", "What? -lorry"):
        found = zoo.door.search(query, track=False, expand=False)
        assert [one.memory.fact for one in found] == ["Ottokar rides in a cart @0.9"]


@pytest.mark.parametrize("limit", [0, 1, 200])
def test_there_are_as_many_results_as_were_asked_for_or_as_there_are(zoo: Zoo, limit: int) -> None:
    made = zoo.noise(150, 0.5)
    for one in made[:60]:
        zoo.put(one, "archived")
    assert len(zoo.ids(limit=limit)) == min(limit, 90)
    few = Filter(tags_any=("rare",))
    zoo.door.annotate(made[-1], tags=["rare"])
    assert zoo.ids(limit=limit, filter=few) == made[-1:][:limit]
    archived = zoo.ids(limit=limit, filter=Filter(statuses=("archived",)))
    assert len(archived) == min(limit, 60)
    assert set(archived) <= set(made[:60])


# A channel that fails ------------------------------------------------------------------------------------------------


def failing(name: str, expression: str, real: Part) -> Part:
    """A channel whose part of the statement fails by an expression."""
    if name == keyword.NAME:  # others read what this one makes on its way
        return replace(real, sql=real.sql.replace("FROM scored s ORDER", f"FROM scored s WHERE {expression} ORDER"))
    nothing: str = MODULES[name].NOTHING.sql  # type: ignore[attr-defined]
    sql = nothing.replace(f"{name} AS (", f"{name} AS MATERIALIZED (").replace("WHERE false", f"WHERE {expression}")
    return replace(real, sql=sql)


@pytest.fixture
def broken(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Breaks a channel by an expression."""
    zoo.add("Zebra Ottokar chose green @0.8", valid_from=MAY)
    monkeypatch.setattr(finding, "is_ordinary", lambda *_: False)  # what the server keeps cannot be broken from here

    def break_(name: str, expression: str) -> None:
        part = MODULES[name].part  # type: ignore[attr-defined]
        monkeypatch.setattr(
            MODULES[name], "part", lambda *given, **more: failing(name, expression, part(*given, **more))
        )

    return break_


@pytest.mark.parametrize("name", SEARCHED)
@pytest.mark.parametrize("expression", ["1 / (random() * 0)::integer > 0", "public.gives_up()"])
def test_the_others_answer_where_one_channel_fails(zoo: Zoo, broken: Any, name: str, expression: str) -> None:
    zoo.sql("CREATE OR REPLACE FUNCTION public.gives_up() RETURNS boolean LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'too long' USING errcode = '57014'; END $$")  # fmt: skip
    broken(name, expression)
    asked = recall.prepare(QUESTION, window=(MAY - DAY, MAY + DAY))
    found = zoo.door._run(searched(zoo, asked))
    results = found.ranked()
    assert [one.memory.fact for one in results] == ["Zebra Ottokar chose green @0.8"]
    assert results.degraded == (name,)
    assert set(results.channels) == {*SEARCHED, "tail"} - {name}
    assert name not in results[0].channels


def test_what_waits_is_found_where_a_channel_fails(zoo: Zoo, broken: Any, database_url: str) -> None:
    with Engram(database_url, scope=zoo.door.scope, settings=load({}, dispatch="doorbell"), embedder="none") as door:
        door.remember("Zebra Ottokar came home at last.", session_id="a")
    broken("graph", "1 / (random() * 0)::integer > 0")
    results = zoo.door._run(searched(zoo, recall.prepare(QUESTION))).ranked()
    assert results.degraded == ("graph",)
    [waiting] = [one for one in results if not one.derived]
    assert waiting.memory.fact == "Zebra Ottokar came home at last."
    assert waiting.channels["tail"].value > 0


def searched(zoo: Zoo, asked: recall.Asked) -> Any:
    from engram.operations import searching

    return searching.found(zoo.door._setup, zoo.door._setup.reading({}), asked)


def test_a_search_whose_every_channel_fails_is_an_outage_and_never_an_empty_list(zoo: Zoo, broken: Any) -> None:
    broken("semantic", "1 / (random() * 0)::integer > 0")
    broken("keyword", "1 / (random() * 0)::integer > 0")
    for mode in ("hybrid", "semantic", "keyword"):
        with pytest.raises((Unavailable, InvalidInput)):
            zoo.door.search(QUESTION, mode=mode, track=False)  # type: ignore[arg-type]


def test_a_channel_that_takes_too_long_is_ended_by_its_own_time(
    zoo: Zoo, broken: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken("semantic", "pg_sleep(60) IS NULL")
    monkeypatch.setattr(finding, "TIMEOUTS", dict.fromkeys(SEARCHED, 0.2))
    with pytest.raises(Unavailable) as caught:
        zoo.door.search(QUESTION, mode="semantic", track=False)
    assert caught.value.facts["sqlstate"] == "57014"


@pytest.mark.parametrize(("mode", "own", "longest"), [("hybrid", 30, "6s"), ("keyword", 30, "4s"), ("hybrid", 2, "2s")])
def test_a_search_may_take_as_long_as_its_slowest_channel_and_no_longer_than_any_statement(
    zoo: Zoo, monkeypatch: pytest.MonkeyPatch, mode: Any, own: int, longest: str
) -> None:
    monkeypatch.setattr(finding, "TIMEOUTS", {"semantic": 6.0, "keyword": 4.0, "temporal": 9.0, "graph": 3.0})
    zoo.add("Zebra Ottokar chose green @0.8")
    asked = recall.prepare(QUESTION, mode=mode)
    with zoo.database.transaction(zoo.tenant, read_only=True) as conn:
        looked = recall.look(conn, tenancy.visible(conn, zoo.door.scope), asked)
        conn.exec_driver_sql(f"SET LOCAL statement_timeout = '{own}s'")
        vector = np.eye(DIMENSIONS, dtype=np.float32)[0]
        recall.find(conn, asked, looked, recall.Meaning(vector, looked.model_id))
        assert conn.exec_driver_sql("SHOW statement_timeout").scalar() == longest


def test_a_vector_of_another_length_is_the_failure_of_its_channel(zoo: Zoo) -> None:
    memory_id = zoo.add("Zebra Ottokar chose green @0.8")
    zoo.sql("UPDATE engram.memory_embeddings SET embedding = '[1,2,3]' WHERE tenant_id = %s AND memory_id = %s",
            zoo.tenant, memory_id)  # fmt: skip
    found = zoo.door.search(QUESTION, track=False)
    assert [one.memory.memory_id for one in found] == [memory_id]
    assert "semantic" in found.degraded
    answer = zoo.door.recall("Which green did Zebra Ottokar choose?")
    assert (answer.current.memory_id if answer.current else None, answer.since) == (memory_id, ())
    assert "semantic" in answer.degraded


@pytest.mark.parametrize(
    ("state", "is_so"),
    [
        ("57014", True), ("22012", True), ("XX002", True), ("54000", True), ("53200", True),
        ("57P01", False), ("08006", False), ("53300", False), ("40001", False), ("28P01", False), (None, False),
    ],
)  # fmt: skip
def test_a_lost_connection_is_no_failure_of_a_channel(state: str | None, is_so: bool) -> None:
    assert recall.is_of_a_channel(Unavailable("no", sqlstate=state)) is is_so
    assert not recall.is_of_a_channel(Unavailable("no"))


# What it costs -------------------------------------------------------------------------------------------------------


def candidates_of(zoo: Zoo, ask: Any) -> list[str]:
    """The statements after the last call of the model that read what candidates are chosen from."""
    sent: list[str] = []
    engine = zoo.door._core.database().engine

    def note(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    sa.event.listen(engine, "before_cursor_execute", note)
    zoo.embedder.calls.clear()
    embed = zoo.embedder.embed

    def told(texts: Sequence[str], kind: str) -> Any:
        sent.clear()
        return embed(texts, kind)

    zoo.embedder.embed = told  # type: ignore[method-assign]
    try:
        ask()
    finally:
        zoo.embedder.embed = embed  # type: ignore[method-assign]
        sa.event.remove(engine, "before_cursor_execute", note)
    return [one for one in sent if re.search(r"find_candidates|memory_embeddings|memory_lexemes|lexeme_matches", one)]


def test_a_search_and_a_recall_take_one_statement_for_candidates_and_one_call_of_the_model(zoo: Zoo) -> None:
    zoo.add("Zebra Ottokar chose green @0.8")
    zoo.door._core.settings.__dict__["dispatch"] = "doorbell"
    for number in range(3):  # nobody derives them
        zoo.door.remember(f"Ottokar has {number} friends")
    fresh = (f"{QUESTION} number {uuid.uuid4().hex}" for _ in range(9))
    for ask, waiting in ((zoo.door.search, 3), (zoo.door.recall, 0)):  # the second time they are known
        query = next(fresh) + "?"
        calls = candidates_of(zoo, lambda: ask(query, track=False))  # noqa: B023 - called at once
        assert len(calls) == 1, [one[:300] for one in calls]
        assert len(zoo.embedder.calls) == 1
        assert query in zoo.embedder.calls[0]
        assert sum("friends" in text for text in zoo.embedder.calls[0]) == waiting  # the tail goes in the same call
