"""Searching the ledger: all that was said and done is found, indexed or not, and nothing of anybody else."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from traces import hits

from engram import ALL_USERS, AsyncEngram, Engram, InvalidInput, Scope, tenancy
from engram.channels import events, keyword
from engram.channels.events import Narrowed
from engram.database import Database
from engram.embedded import EmbeddedServer
from engram.errors import LimitExceeded, Unavailable
from engram.operations import capture, searching_events
from engram.settings import load
from tests.quiet import quiet

Door = Callable[..., Engram]
DAY = datetime(2025, 3, 4, 14, 2, tzinfo=UTC)


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Door]:
    """Opens doors to a tenant of the test's own, whose jobs run when the test says so; all are closed after it."""
    opened: list[Engram] = []

    def open_(*, embedder: Any = None, **ids: Any) -> Engram:
        scope = Scope(**{"tenant_id": tenant, "user_id": "ada", **ids})
        opened.append(quiet(Engram(database_url, scope=scope, settings=load({}), embedder=embedder)))
        return opened[-1]

    yield open_
    for one in opened:
        one.close()


def said(results: Any) -> list[str]:
    return [hit.event.content for hit in results]


def index_all(database: Database, tenant: str, batch: int = events.BATCH) -> None:
    """What the job does, for every scope of a tenant."""

    def work(conn: Any) -> None:
        for row in conn.exec_driver_sql("SELECT scope_id FROM engram.memory_scopes ORDER BY scope_id").fetchall():
            while events.index(conn, tenant, row.scope_id, batch=batch):
                pass

    database.run(tenant, work, key="test")


def indexed(database: Database, tenant: str) -> int:
    return int(
        database.run(tenant, lambda conn: conn.exec_driver_sql("SELECT count(*) FROM engram.event_lexemes").scalar())
    )


def asked_for(door: Engram) -> int:
    """How many jobs there are that index events."""
    return sum(job.kind == events.KIND for job in door.ops.list_jobs(limit=200))


# What is found -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
@pytest.mark.parametrize("is_indexed", [False, True])
def test_all_that_was_said_and_done_is_found_whether_remembered_or_not(
    door: Door, database: Database, tenant: str, mode: Any, is_indexed: bool
) -> None:
    ada = door()
    ada.record_turn(
        "Please run the linter", "It is clean.",
        tool_calls=[{"name": "bash", "arguments": {"command": "ruff check"}, "result": "All checks passed!"}],
    )  # fmt: skip
    ada.record_event("Deployed the billing service", role="agent", event_type="agent_action", derive="skip")
    ada.record_event("The cellar is damp", role="user", event_type="observation", derive="skip")
    ada.record_event(
        "Built", role="system", event_type="x.build", payload={"branch": {"name": "harbour-lights"}}, derive="skip"
    )
    if is_indexed:
        index_all(database, tenant)
        assert ada.search_events("linter").waiting == 0
    for query, kind in (
        ("linter", "user_message"), ("ruff", "tool_call"), ("which checks passed?", "tool_result"),
        ("When did you deploy billing?", "agent_action"), ("damp cellars", "observation"),
        ("harbour-lights", "x.build"),
    ):  # fmt: skip
        best = ada.search_events(query, mode=mode)[0]
        assert (best.rank, best.event.event_type) == (1, kind), query
        assert best.matched
        assert best.channels["keyword"].rank == 1
        assert best.score >= best.channels["keyword"].value ** 2


def test_what_was_written_a_moment_ago_is_found_with_no_worker(door: Door) -> None:
    ada = door()
    done = ada.record_event("The password of the lighthouse is teal", derive="skip")
    assert [hit.event.event_id for hit in ada.search_events("lighthouse")] == list(done.event_ids)


def test_the_index_and_the_reading_give_the_same_scores(door: Door, database: Database, tenant: str) -> None:
    ada = door()
    words = ["harbour", "lantern", "copper", "violet", "meadow", "anchor", "basalt"]
    chance = random.Random(7)
    for number in range(40):
        ada.record_event(" ".join(chance.choices(words, k=1 + number)), session_id=f"s{number % 3}", derive="skip")
    query = 'copper "violet meadow" -basalt anchor'
    before = [(hit.event.event_id, hit.score, hit.matched) for hit in ada.search_events(query)]
    assert before
    index_all(database, tenant)
    after = [(hit.event.event_id, hit.score, hit.matched) for hit in ada.search_events(query)]
    assert after == before


def test_old_events_in_the_index_and_new_ones_beside_it_are_ranked_together(
    door: Door, database: Database, tenant: str
) -> None:
    ada = door()
    ada.record_event("the violet kite", session_id="a", derive="skip")
    ada.record_event("a kite", session_id="a", derive="skip")
    index_all(database, tenant, batch=1)
    ada.record_event("another violet kite", session_id="a", derive="skip")
    ada.record_event("one kite more", session_id="b", derive="skip")
    found = ada.search_events("violet kite")
    assert (found.waiting, set(said(found)[:2])) == (2, {"the violet kite", "another violet kite"})
    assert set(said(found)[2:]) == {"a kite", "one kite more"}


def test_an_event_that_is_indexed_while_it_is_read_counts_once(door: Door, database: Database, tenant: str) -> None:
    ada = door()
    ada.record_event("the violet kite", derive="skip")
    ada.record_event("a red kite", derive="skip")
    before = [(hit.event.event_id, hit.score) for hit in ada.search_events("violet kite")]

    def work(conn: Any) -> list[tuple[str, float]]:
        visible = tenancy.visible(conn, ada.scope)
        params = events._params(visible, Narrowed(), events.NOW)
        unread = events._read(conn, params, Narrowed())
        events.index(conn, tenant, visible.scope_ids[0])
        words = keyword.parse("violet kite")
        rows = events._score(conn, params, Narrowed(), words, unread, [], None, None, 50, "english")
        return sorted(((row.event_id, row.coverage**2) for row in rows), key=lambda one: -one[1])

    now = database.run(tenant, work, key="test")
    assert [event_id for event_id, _ in now] == [event_id for event_id, _ in before]
    assert max(score for _, score in now) <= 1


def test_direct_changes_are_left_out_unless_their_types_are_named(door: Door, database: Database, tenant: str) -> None:
    ada = door()
    ada.add("User sails a ketch")
    ada.remember("A ketch has two masts.")
    for _ in range(2):
        assert said(ada.search_events("ketch")) == ["A ketch has two masts."]
        assert said(ada.search_events("ketch", types=["memory_added"])) == ["User sails a ketch"]
        assert said(ada.search_events("", types=["memory_added"])) == ["User sails a ketch"]
        assert said(ada.search_events("ketch", types=[])) == []
        index_all(database, tenant)


def test_direct_changes_take_no_room_in_the_index_from_what_was_said(
    door: Door, database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST_MATCHES", 2)
    ada = door()
    ada.record_event("A ketch has two masts", occurred_at=DAY, derive="skip")
    for number in range(3):
        ada.add(f"User sails ketch {number}")
    index_all(database, tenant)
    found = ada.search_events("ketch", mode="keyword")
    assert (said(found), found.degraded) == (["A ketch has two masts"], ())
    assert len(ada.search_events("ketch", mode="keyword", types=["memory_added"])) == 2


def test_a_task_is_something_done(door: Door) -> None:
    ada = door()
    run = ada.start_task("Repaint the keel").task_run_id
    assert ada.search_events("When did you start to repaint the keel?")[0].event.task_run_id == run


def test_rare_words_count_more_and_a_short_event_more_than_a_long_one(door: Door) -> None:
    ada = door()
    for number in range(6):
        ada.record_event(f"The harbour at hour {number}", derive="skip")
    ada.record_event("The harbour and the obelisk", derive="skip")
    ada.record_event("An obelisk. " + "Nothing else to report from the northern road today. " * 30, derive="skip")
    found = ada.search_events("harbour obelisk", mode="keyword")
    assert said(found)[0] == "The harbour and the obelisk"
    assert found[0].matched == ("obelisk", "harbour")
    assert (found[1].event.content or "").startswith("An obelisk."), "one rare word beats a common one"
    assert found[1].channels["keyword"].value < 0.6


@pytest.mark.parametrize("is_indexed", [False, True])
def test_chinese_japanese_and_korean_are_found_by_parts_of_their_runs(
    door: Door, database: Database, tenant: str, is_indexed: bool
) -> None:
    ada = door()
    ada.record_event("我昨天在上海部署了计费服务", derive="skip")
    ada.record_event("大阪の灯台を塗り直した", derive="skip")
    ada.record_event("나는 부산에서 등대를 보았다", derive="skip")
    if is_indexed:
        index_all(database, tenant)
    for query, kept in (("计费服务", "上海"), ("灯台", "大阪"), ("등대", "부산")):
        found = ada.search_events(query, mode="keyword")
        assert len(found) == 1, query
        assert kept in (found[0].event.content or "")


def test_garbage_finds_nothing_or_something_and_never_fails(door: Door, database: Database, tenant: str) -> None:
    ada = door()
    ada.record_event("The harbour", session_id="a", derive="skip")
    index_all(database, tenant)
    ada.record_event("The lantern's glass \\ it's \"odd\" :A & | ! <-> ''", session_id="a", derive="skip")
    chance = random.Random(11)
    alphabet = "a'\"\\&|!():*<->%_ \t\n-éß東京ا😀\u0301\u200d0:A"
    for _ in range(30):
        query = "".join(chance.choices(alphabet, k=chance.randrange(1, 40)))
        assert len(ada.search_events(query, mode="keyword")) <= 2, query
    assert len(ada.search_events("it's")) >= 0
    assert said(ada.search_events("lantern's \\ -harbour", mode="keyword"))[0].startswith("The lantern")
    for nothing in ("", "   ", "-", "!!!", "'"):
        assert len(ada.search_events(nothing)) == 0


def test_a_word_to_do_without_holds_for_what_a_vector_finds(door: Door, database: Database, tenant: str) -> None:
    ada = door()
    ada.remember("I sail a small boat on the lake.")
    ada.remember("I sail a large boat on the sea.")
    for _ in range(2):
        for mode in ("hybrid", "keyword", "semantic"):
            found = said(ada.search_events("sailing boat -lake", mode=mode))  # type: ignore[arg-type]
            assert found == ["I sail a large boat on the sea."], mode
        index_all(database, tenant)


# By meaning ----------------------------------------------------------------------------------------------------------


def test_an_event_is_found_by_the_meaning_of_the_memory_made_of_it(door: Door) -> None:
    ada = door()
    ada.remember("My dog is called Rex.")
    ada.remember("The invoice was paid in full.")
    ada.record_event("My hound barks", derive="skip")
    found = ada.search_events("what is my puppy's name?", mode="semantic")
    assert said(found)[0] == "My dog is called Rex."
    assert "My hound barks" not in said(found), "no memory was made of it, so that it has no vector"
    assert found[0].channels["semantic"].rank == 1
    assert found[0].score == pytest.approx(0.5 * found[0].channels["semantic"].value)
    assert found.degraded == ()


def test_a_search_by_meaning_without_vectors_says_so(door: Door) -> None:
    ada = door()
    ada.record_event("My hound barks", derive="skip")
    found = ada.search_events("hound", mode="semantic")
    assert (said(found), found.degraded) == ([], ("semantic",))
    with pytest.raises(Unavailable):
        door(embedder="none").search_events("hound", mode="semantic")
    assert said(door(embedder="none").search_events("hound")) == ["My hound barks"]


def test_direct_changes_do_not_crowd_out_what_was_said(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "LEAST_FETCHED", 5)
    ada = door()
    ada.remember("My dog is called Rex.")
    for number in range(8):
        ada.add(f"The dog of neighbour {number} is called Rex {number}")
    found = ada.search_events("the dog of a neighbour", mode="semantic", limit=1)
    assert said(found) == ["My dog is called Rex."]


def test_a_model_that_fails_leaves_the_words(door: Door) -> None:
    class Failing:
        name, dimensions, max_tokens = "failing", 8, None
        fails = False

        def embed(self, texts: Any, kind: str) -> Any:
            if self.fails:
                raise RuntimeError("down")
            return [[1.0 + text.count(letter) for letter in "aeioustr"] for text in texts]

    embedder = Failing()
    ada = door(embedder=embedder)
    ada.remember("I like the sea.")
    embedder.fails = True
    found = ada.search_events("the quiet sea")
    assert (said(found), found.degraded) == (["I like the sea."], ("semantic",))
    with pytest.raises(Unavailable):
        ada.search_events("a stormy sea", mode="semantic")


# Windows, roles, places ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_indexed", [False, True])
def test_windows_are_half_open(door: Door, database: Database, tenant: str, is_indexed: bool) -> None:
    ada = door()
    for hours in range(5):
        ada.record_event(f"Test run {hours}", occurred_at=DAY + timedelta(hours=hours), derive="skip")
    if is_indexed:
        index_all(database, tenant)
    since, until = DAY + timedelta(hours=1), DAY + timedelta(hours=3)
    for query in ("test run", "", "what did you do?"):
        assert sorted(said(ada.search_events(query, since=since, until=until))) == ["Test run 1", "Test run 2"], query
    assert sorted(said(ada.search_events("test", since=until))) == ["Test run 3", "Test run 4"]
    assert said(ada.search_events("test", until=DAY)) == []
    assert said(ada.search_events("test", since=until, until=since)) == []


def test_a_window_holds_for_what_a_vector_finds(door: Door) -> None:
    ada = door()
    ada.remember("My dog is called Rex.", occurred_at=DAY)
    ada.remember("My cat is called Tom.", occurred_at=DAY + timedelta(days=1))
    found = ada.search_events("the name of my dog", mode="semantic", since=DAY + timedelta(days=1))
    assert said(found) == ["My cat is called Tom."]


def test_an_empty_query_lists_the_newest_of_what_it_is_narrowed_to(door: Door) -> None:
    ada = door()
    for number in range(4):
        ada.record_event(f"Step {number}", role="agent", session_id="s", derive="skip")
    ada.record_event("Fine", role="user", session_id="s", derive="skip")
    assert said(ada.search_events("")) == []
    assert said(ada.search_events("", roles=["agent"], limit=2)) == ["Step 3", "Step 2"]
    listed = ada.search_events("", session_id="s")
    assert said(listed) == ["Fine", "Step 3", "Step 2", "Step 1", "Step 0"]
    assert [(hit.rank, hit.score) for hit in listed] == [(n, 0.0) for n in range(1, 6)]
    assert len(ada.search_events("step", limit=0)) == 0


@pytest.mark.parametrize("is_indexed", [False, True])
def test_roles_types_sessions_and_runs_narrow(door: Door, database: Database, tenant: str, is_indexed: bool) -> None:
    ada = door()
    run = ada.start_task("Watch the kite").task_run_id
    ada.record_event("kite one", role="user", session_id="s", derive="skip")
    ada.record_event("kite two", role="agent", session_id="t", derive="skip")
    ada.record_event("kite three", role="agent", event_type="decision", task_run_id=run, derive="skip")
    if is_indexed:
        index_all(database, tenant)
    assert said(ada.search_events("kite", roles=["user"])) == ["kite one"]
    assert said(ada.search_events("kite", session_id="t")) == ["kite two"]
    assert said(ada.search_events("kite", types=["decision"])) == ["kite three"]
    assert set(said(ada.search_events("kite", task_run_id=run))) == {"Watch the kite", "kite three"}
    assert said(ada.search_events("kite", roles=[])) == []


def test_when_did_you_prefers_the_agents_events_and_when_did_i_the_users(door: Door) -> None:
    ada = door()
    ada.record_event("run the tests", role="user", derive="skip")
    ada.record_event("run the tests", role="agent", event_type="agent_action", derive="skip")
    ada.record_event("run the tests", role="user", derive="skip")
    for question, role in (("When did you run the tests?", "agent"), ("When did I run the tests?", "user")):
        found = ada.search_events(question, mode="keyword")
        assert found[0].event.role == role, question
        assert len(found) == 3, "a preference is no filter"


@pytest.mark.parametrize(
    ("question", "roles"),
    [
        ("When did you run the tests?", events.AGENTS), ("What have you said about it", events.AGENTS),
        ("WHEN DID I pay?", events.USERS), ("why didn't my order ship", events.USERS), ("when did we meet", ()),
        ("tests", ()), ("", ()),
    ],
)  # fmt: skip
def test_whose_doing_a_question_asks_for(question: str, roles: tuple[str, ...]) -> None:
    assert events.preferred(question) == roles


def test_equal_scores_come_newest_first(door: Door) -> None:
    ada = door()
    for hours in (3, 1, 2):
        ada.record_event("kite", occurred_at=DAY + timedelta(hours=hours), derive="skip")
    found = ada.search_events("kite")
    assert [hit.event.occurred_at - DAY for hit in found] == [timedelta(hours=hours) for hours in (3, 2, 1)]


def test_a_session_is_searched_whole_however_many_events_elsewhere_hold_the_words(
    door: Door, database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST_MATCHES", 4)
    ada = door()
    run = ada.start_task("Watch").task_run_id
    ada.record_event("kite of old", session_id="s", occurred_at=DAY, derive="skip")
    ada.record_event("kite of the run", task_run_id=run, occurred_at=DAY, derive="skip")
    for number in range(6):
        ada.record_event(f"kite {number}", session_id="t", derive="skip")
    index_all(database, tenant)
    assert said(ada.search_events("kite", session_id="s")) == ["kite of old"]
    assert said(ada.search_events("kite", task_run_id=run)) == ["kite of the run"]
    assert "kite of old" not in said(ada.search_events("kite"))


# The past ------------------------------------------------------------------------------------------------------------


def test_a_read_of_the_past_leaves_out_what_came_later(door: Door) -> None:
    ada = door()
    ada.record_event("kite one", occurred_at=DAY, derive="skip")
    first = ada.list_events()[-1].recorded_at
    ada.record_event("kite two", occurred_at=DAY - timedelta(days=9), derive="skip")
    assert said(ada.search_events("kite", known_at=first)) == ["kite one"]
    assert said(ada.search_events("", known_at=first, roles=["agent"])) == ["kite one"]
    assert said(ada.search_events("kite", as_of=DAY - timedelta(days=1))) == ["kite two"]
    assert said(ada.search_events("kite", as_of=DAY, known_at=first)) == ["kite one"]
    assert said(ada.search_events("kite", known_at=first - timedelta(seconds=1))) == []


# The walls -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_indexed", [False, True])
def test_nothing_of_another_user_namespace_or_tenant_is_found(
    door: Door, database: Database, tenant: str, is_indexed: bool
) -> None:
    ada, bob, own = door(), door(user_id="bob"), door(user_id=None)
    ada.remember("The violet kite is mine.", session_id="s")
    bob.remember("The violet kite is not.", session_id="s")
    own.remember("Kites are violet.", session_id="s")
    door(namespace="alpha").remember("A violet kite in alpha.", session_id="s")
    door(tenant_id=f"{tenant}-x").remember("A violet kite elsewhere.", session_id="s")
    if is_indexed:
        index_all(database, tenant)
        index_all(database, f"{tenant}-x")
    for mode in ("hybrid", "keyword", "semantic"):
        for words in ({}, {"session_id": "s"}, {"types": ["user_message"]}):
            ask: dict[str, Any] = {"mode": mode, **words}
            assert set(said(ada.search_events("violet kites", **ask))) == {
                "The violet kite is mine.",
                "Kites are violet.",
            }
            assert set(said(own.search_events("violet kites", **ask))) == {"Kites are violet."}
            assert len(ada.search_events("violet kites", user_id=ALL_USERS, **ask)) == 3
            assert set(said(door(namespace="alpha", shared=False).search_events("violet kites", **ask))) == {
                "A violet kite in alpha."
            }
    for words in ({"session_id": "s"}, {"types": ["user_message"]}):
        listed = ada.search_events("", **words)  # type: ignore[arg-type]
        assert set(said(listed)) == {"The violet kite is mine.", "Kites are violet."}
    assert said(door(tenant_id=f"{tenant}-none").search_events("violet kites")) == []


def test_what_speaks_of_a_private_memory_shows_to_its_own_scope_only(
    door: Door, database: Database, tenant: str
) -> None:
    own = door(user_id=None)
    own.add("The safe holds a violet kite", private=True)
    own.add("The attic holds a violet kite")
    for _ in range(2):
        ask: dict[str, Any] = {"types": ["memory_added"]}
        assert len(own.search_events("violet kite", **ask)) == 2
        for reader, more in ((own, {"user_id": ALL_USERS}), (door(), {})):
            for query in ("violet kite", ""):
                assert said(reader.search_events(query, **ask, **more)) == ["The attic holds a violet kite"]
        index_all(database, tenant)


def test_no_tenant_learns_of_the_words_of_another(door: Door, database: Database, tenant: str) -> None:
    ada = door()
    ada.record_event("obelisk", derive="skip")
    index_all(database, tenant)
    [scope_id] = database.run(tenant, lambda conn: tenancy.visible(conn, ada.scope).scope_ids)

    def ask(conn: Any) -> tuple[int, int, int]:
        params = {"scopes": [scope_id], "query": f"'{scope_id}:obelisk'"}
        frequency = "SELECT engram.event_frequency(%(scopes)s, %(query)s::tsquery, 10)"
        matches = "SELECT count(*) FROM engram.event_matches(%(scopes)s, %(query)s::tsquery, NULL, NULL, 10)"
        rows = "SELECT count(*) FROM engram.event_lexemes"
        return tuple(conn.exec_driver_sql(sql, params).scalar() for sql in (frequency, matches, rows))  # type: ignore[return-value]

    assert database.run(tenant, ask) == (1, 1, 1)
    assert database.run(f"{tenant}-x", ask) == (0, 0, 0)


def test_the_wall_stands_where_no_tenant_is_set(
    server: EmbeddedServer, door: Door, database: Database, tenant: str
) -> None:
    door().record_event("obelisk", derive="skip")
    index_all(database, tenant)
    with psycopg.connect(server.url().replace("postgresql+psycopg://", "postgresql://")) as conn:
        for sql in (
            "SELECT count(*) FROM engram.event_lexemes", "SELECT count(*) FROM engram.event_readings",
            "SELECT count(*) FROM engram.event_matches(ARRAY(SELECT generate_series(1, 9999)), 'x', NULL, NULL, 9)",
        ):  # fmt: skip
            row = conn.execute(sql).fetchone()  # type: ignore[call-overload]
            assert row == (0,), sql


def test_a_forgotten_run_is_hidden_and_comes_back(door: Door, database: Database, tenant: str) -> None:
    ada = door()
    run = ada.start_task("Fly the kite").task_run_id
    ada.record_event("The kite is up", role="agent", task_run_id=run)
    index_all(database, tenant)
    ada.record_event("The kite is down", role="agent", task_run_id=run)
    assert len(ada.search_events("kite")) == 3
    ada.forget_task(run)
    for mode in ("hybrid", "keyword", "semantic"):
        assert said(ada.search_events("kite", mode=mode)) == []  # type: ignore[arg-type]
    assert said(ada.search_events("", task_run_id=run)) == []
    ada.restore_task(run)
    assert len(ada.search_events("kite")) == 3


# Erasure -------------------------------------------------------------------------------------------------------------


def test_the_words_of_a_redacted_event_are_gone_from_the_index(
    server: EmbeddedServer, door: Door, database: Database, tenant: str
) -> None:
    ada = door()
    first, second = (ada.record_event(f"The qanary{n}ev sings", derive="skip").event_ids[0] for n in (81, 82))
    index_all(database, tenant)
    assert "event_lexemes.lexemes" in hits(server, ["qanary81ev"])["qanary81ev"]
    third = ada.record_event("The qanary83ev sings", derive="skip").event_ids[0]
    for event_id in (first, third):
        ada.ops.redact_event(event_id)
    index_all(database, tenant)
    assert set(hits(server, ["qanary81ev", "qanary82ev", "qanary83ev"])) == {"qanary82ev"}
    assert [hit.event.event_id for hit in ada.search_events("sings")] == [second]
    assert said(ada.search_events("", roles=["agent"])) == ["The qanary82ev sings"]
    assert ada.ops.verify_ledger().ok


def test_a_job_that_read_before_a_redaction_leaves_nothing_behind(
    server: EmbeddedServer, door: Door, database: Database, tenant: str
) -> None:
    ada = door()
    [event_id] = ada.record_event("The qanary84ev sings", derive="skip").event_ids
    scope_id = database.run(tenant, lambda conn: tenancy.find(conn, ada.scope))
    assert scope_id is not None
    waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    with database.transaction(tenant) as conn:
        events.index(conn, tenant, scope_id)
        redaction = threading.Thread(target=ada.ops.redact_event, args=(event_id,))
        redaction.start()
        with psycopg.connect(
            server.superuser_url.replace("postgresql+psycopg://", "postgresql://"), autocommit=True
        ) as own:
            while redaction.is_alive() and own.execute(waits).fetchone() == (0,):
                pass
        assert redaction.is_alive(), "it waits for the job"
    redaction.join()
    assert hits(server, ["qanary84ev"]) == {}


# Bounds and the job --------------------------------------------------------------------------------------------------


def test_more_than_a_search_may_read_is_said_and_then_indexed(
    door: Door, database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST_UNREAD", 5)
    ada = door()
    ada.record_event("The obelisk fell", session_id="s", derive="skip")
    for number in range(8):
        ada.record_event(f"Nothing {number}", session_id="s", derive="skip")
    found = ada.search_events("obelisk")
    assert (said(found), found.degraded, found.waiting) == ([], ("unread",), 9)
    assert said(ada.search_events("nothing", limit=2, mode="keyword")) == ["Nothing 7", "Nothing 6"], (
        "the newest are read"
    )
    assert asked_for(ada) == 1, "once"
    ada.ops.run_jobs(limit=10)
    found = ada.search_events("obelisk")
    assert (said(found), found.degraded, found.waiting) == (["The obelisk fell"], (), 0)


def test_a_filter_comes_before_the_bound(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_UNREAD", 5)
    ada = door()
    ada.record_event("The obelisk fell", session_id="s", derive="skip", occurred_at=DAY)
    for number in range(8):
        ada.record_event(f"Nothing {number}", session_id="t", derive="skip")
    for words in ({"session_id": "s"}, {"until": DAY + timedelta(days=1)}):
        found = ada.search_events("obelisk", **words)  # type: ignore[arg-type]
        assert (said(found), found.degraded) == (["The obelisk fell"], ())


def test_long_bodies_are_read_up_to_a_bound(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_BYTES", 3_000)
    ada = door()
    ada.record_event("obelisk old", derive="skip")
    for number in range(3):
        ada.record_event(f"obelisk {number} " + "x" * 2_000, derive="skip")
    found = ada.search_events("obelisk", mode="keyword")
    assert [text[:9] for text in said(found)] == ["obelisk 2", "obelisk 1"]
    assert found.degraded == ("unread",)
    ada.ops.run_jobs(limit=10)
    found = ada.search_events("obelisk", mode="keyword")
    assert (len(found), found.degraded) == (4, ())


def test_headers_are_looked_at_up_to_a_bound(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_LOOKED", 3)
    ada = door()
    for number in range(6):
        ada.record_event(f"kite {number}", session_id=f"s{number}", derive="skip")
    found = ada.search_events("kite")
    assert found.degraded == ("unread",)
    assert "kite 5" in said(found)


def test_words_that_too_many_events_hold_are_said_to_be_cut(
    door: Door, database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST_MATCHES", 3)
    ada = door()
    for number in range(5):
        ada.record_event("kite", occurred_at=DAY + timedelta(days=number), derive="skip")
    index_all(database, tenant)
    found = ada.search_events("kite")
    assert found.degraded == ("keyword",)
    assert [hit.event.occurred_at for hit in found] == [DAY + timedelta(days=number) for number in (4, 3, 2)]
    assert ada.search_events("kite", session_id="none").degraded == ()
    assert len(ada.search_events("kite", until=DAY + timedelta(days=2))) == 2, "a window comes before the bound"
    outside = ada.search_events("kite", until=DAY + timedelta(days=3), roles=["user"])
    assert (said(outside), outside.degraded) == ([], ("keyword",)), "said even where nothing is left"


def test_a_large_scope_asks_for_its_index_by_itself_and_a_small_one_does_not(
    door: Door, database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST_WAITING", 30)
    ada = door()
    for number in range(20):
        ada.record_event(f"kite {number}", session_id="s", derive="skip")
    assert asked_for(ada) == 0
    items: list[Any] = [{"role": "user", "content": f"lantern {number}", "derive": "skip"} for number in range(200)]
    ada.remember(items, session_id="s")
    assert asked_for(ada) == 1
    ada.ops.run_jobs(limit=10)
    assert indexed(database, tenant) == 220
    ada.record_event("kite 20", session_id="s", derive="skip")
    assert ada.search_events("kite").waiting == 1
    assert len(ada.search_events("kite", limit=200)) == 21


def test_an_append_looks_at_the_newest_events_only_to_ask_for_the_index(
    door: Door, database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST_WAITING", 10)
    monkeypatch.setattr(searching_events, "EVERY", 1)
    ada = door()

    def due() -> bool:
        with database.transaction(tenant) as conn:
            [scope_id] = tenancy.visible(conn, ada.scope).scope_ids
            return events.may_be_due(conn, tenant, scope_id)

    for number in range(9):
        ada.record_event(f"kite {number}", session_id=f"s{number % 4}", derive="skip")
    assert (due(), asked_for(ada)) == (False, 0), "nine wait"
    ada.record_event("kite 9", session_id="s9", derive="skip")
    assert (due(), asked_for(ada)) == (False, 1), "ten, and somebody is asked already"
    ada.record_event("kite 10", session_id="s10", derive="skip")
    assert asked_for(ada) == 1
    ada.ops.run_jobs(limit=10)
    for number in range(9):
        ada.record_event(f"lantern {number}", session_id=f"t{number}", derive="skip")
        assert (due(), asked_for(ada)) == (False, 1), "the other is done"
    ada.record_event("lantern 9", session_id="t9", derive="skip")
    assert asked_for(ada) == 2


def test_the_job_goes_on_batch_by_batch_and_never_twice(
    door: Door, database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = door()
    for number in range(23):
        ada.record_event(f"kite {number}", session_id=f"s{number % 4}", derive="skip")
    one = ada.list_events(limit=200)[5]
    ada.ops.redact_event(one.event_id)
    with database.transaction(tenant) as conn:
        [scope_id] = tenancy.visible(conn, ada.scope).scope_ids
        assert events.index(conn, tenant, scope_id, batch=3)
        assert events.read_and_waiting(conn, tenant, scope_id) == (3, 21)
    index_all(database, tenant, batch=3)
    index_all(database, tenant, batch=3)
    assert len(ada.search_events("kite", mode="keyword", limit=200)) == 22
    assert ada.search_events("kite").waiting == 0


def test_an_append_writes_nothing_to_the_index(door: Door, database: Database, tenant: str) -> None:
    door().remember("The violet kite")
    assert indexed(database, tenant) == 0


# The doors -----------------------------------------------------------------------------------------------------------


async def test_both_doors_find_the_same(database_url: str, tenant: str, door: Door) -> None:
    ada = door()
    ada.remember("My dog is called Rex.")
    ada.record_event("The dog ran off", role="agent", derive="skip")
    async with AsyncEngram(database_url, scope=Scope(tenant_id=tenant, user_id="ada"), settings=load({})) as other:
        for mode in ("hybrid", "semantic", "keyword"):
            assert await other.search_events("dog", mode=mode) == ada.search_events("dog", mode=mode)  # type: ignore[arg-type]


def test_results_are_a_value(door: Door) -> None:
    ada = door()
    ada.remember("My dog is called Rex.")
    found = ada.search_events("dog")
    assert type(found).from_dict(found.to_dict()) == found
    assert (len(found), found[0], list(found)) == (1, found.results[0], list(found.results))
    assert found.watermark.behind == 0


@pytest.mark.parametrize(
    "bad",
    [
        {"query": 7}, {"mode": "other"}, {"types": "user_message"}, {"roles": ["nobody"]}, {"session_id": ""},
        {"task_run_id": "x"}, {"since": datetime(2025, 1, 1)}, {"until": "2025"}, {"limit": -1}, {"limit": True},  # noqa: DTZ001
        {"nonsense": 1},
    ],
)  # fmt: skip
def test_bad_input_is_named(door: Door, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        door().search_events(**{"query": "kite", **bad})


def test_a_query_too_long_is_refused(door: Door) -> None:
    with pytest.raises(LimitExceeded):
        door().search_events("x" * 40_000)


def test_the_types_of_what_is_said_are_those_that_callers_record() -> None:
    assert set(capture.EVENT_TYPES) <= set(events.SAID)
    assert events.said("x.build")
    assert not any(events.said(one) for one in ("memory_added", "session_started", "redaction", "checkpoint_saved"))


def test_a_line_says_when_who_and_what(door: Door) -> None:
    ada = door()
    ada.remember({"role": "user", "content": "I moved\n  to Lyon", "name": "Ada", "occurred_at": DAY})
    [event] = ada.list_events(types=["user_message"])
    assert events.line(event) == "2025-03-04 14:02 user Ada: I moved to Lyon"
    assert events.line(replace(event, actor=None, content="x" * 400)).endswith("x…")
    assert len(events.line(replace(event, content="x" * 400))) < 340
    assert events.line(replace(event, content=None, payload={"cmd": ["ls", 2]})).endswith("user Ada: ls 2")
    assert events.line(replace(event, content=None, payload={}, erased=True)).endswith("(erased)")


def test_one_transaction_answers_with_words_read_before(door: Door, database: Database, tenant: str) -> None:
    ada = door()
    ada.record_event("run the tests", role="agent", occurred_at=DAY, derive="skip")
    ada.record_event("run the tests", role="user", occurred_at=DAY, derive="skip")

    def work(conn: Any) -> events.Found:
        visible = tenancy.visible(conn, ada.scope)
        narrowed = Narrowed(window=(DAY, DAY + timedelta(days=1)))
        return events.find(conn, visible, keyword.parse("ran tests"), narrowed, limit=1, prefer=events.AGENTS)

    [hit] = database.run(tenant, work).hits
    assert events.line(hit.event) == "2025-03-04 14:02 agent: run the tests"
