"""The log of recalls: what a row holds and what it never holds, whose it is, how long it stays, and asking it again."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg
import pytest
from commands import Cli
from quiet import quiet

from engram import ALL_USERS, AsyncEngram, Engram, Filter, MemoryPolicy, NotFound, Profile, Scope
from engram.database import Database
from engram.embedded import EmbeddedServer
from engram.operations import noting
from engram.recall import log
from engram.recall.question import Asked, prepare
from engram.settings import load

Door = Callable[..., Engram]
CANARY: Final = "qanaryzx"


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Door]:
    """Opens doors to a tenant of the test's own; all of them are closed after it."""
    opened: list[Engram] = []

    def open_(*, policy: Any = None, embedder: Any = "none", **given: Any) -> Engram:
        ids = {name: given.pop(name) for name in ("namespace", "user_id", "agent_id") if name in given}
        scope = Scope(**{"tenant_id": tenant, "user_id": "ada", **ids})
        settings = load({}, **given)
        opened.append(Engram(database_url, scope=scope, settings=settings, embedder=embedder, policy=policy))
        return quiet(opened[-1])

    yield open_
    for one in opened:
        one.close()


@pytest.fixture(scope="module")
def superuser(server: EmbeddedServer) -> Iterator[psycopg.Connection[Any]]:
    plain = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(plain, autocommit=True) as conn:
        yield conn


def rows(superuser: psycopg.Connection[Any], tenant: str, columns: str = "*") -> list[Any]:
    asked = f"SELECT {columns} FROM engram.recall_log WHERE tenant_id = %s ORDER BY recall_id"
    return superuser.execute(asked, (tenant,)).fetchall()  # type: ignore[arg-type]


def id_of(made: Any) -> str:
    assert made.memory is not None
    return str(made.memory.memory_id)


def ids(results: Any) -> tuple[str, ...]:
    return tuple(one.memory.memory_id for one in results)


# What a row holds ----------------------------------------------------------------------------------------------------


def test_every_way_to_recall_leaves_one_row_with_its_id(door: Door) -> None:
    memory = door()
    one = id_of(memory.add("The harbour is old"))
    found = memory.search("harbour", limit=3, filter={"tags_any": ["x"]}, profile="hybrid")
    deep = memory.deep_search("harbour", queries=["old harbour"])
    answer = memory.recall("What is the harbour?")
    block = memory.build_context("harbour", max_tokens=500)
    logged = memory.ops.list_recalls()
    assert [(row.kind, row.recall_id) for row in logged] == [
        ("build_context", block.recall_id), ("recall", answer.recall_id), ("deep_search", deep.recall_id),
        ("search", found.recall_id),
    ]  # fmt: skip
    context, recalled, several, searched = logged
    assert (searched.query, searched.found, searched.chosen) == ("harbour", (), ())
    assert searched.plan["limit"] == 3
    assert searched.plan["filter"] == {"tags_any": ["x"]}
    assert searched.versions["profile"].startswith("hybrid@")
    assert several.plan["variants"] == ["old harbour"]
    assert several.chosen == ids(deep) == (one,)
    assert [line["id"] for line in recalled.found] == list(ids(answer.evidence))
    assert (recalled.intent, recalled.chosen) == ("current", answer.trace.kept_ids)
    assert (context.tokens, context.plan["max_tokens"]) == (block.tokens, 500)
    assert context.chosen == tuple(dict.fromkeys(block.citations.values()))
    assert all(row.milliseconds > 0 and row.scope == memory.scope for row in logged)
    assert all(row.versions["policy"] == "default@1" and row.versions["embedding_model"] == "none" for row in logged)
    assert all(row.known_at <= row.at for row in logged)
    assert memory.ops.get_recall(found.recall_id) == searched


@pytest.mark.parametrize("kept", ["ids", "off"])
def test_an_answer_says_in_its_trace_what_ranked_it_and_where_the_time_went(door: Door, kept: Any) -> None:
    memory = door(recall_log=kept)
    memory.add("The harbour is old")
    for answer in (
        memory.recall("What is the harbour?"),
        memory.recall("Who?", as_of=datetime(2020, 1, 1, tzinfo=UTC)),
    ):
        assert set(answer.trace.timings_ms) == {"understanding", "search"}
        assert all(spent >= 0 for spent in answer.trace.timings_ms.values())
        assert answer.trace.versions == memory.trace_recall("harbour").versions
        assert answer.trace.recall_id == answer.recall_id
        assert (answer.recall_id is not None) is (kept == "ids")


def test_a_row_holds_ids_and_scores_and_no_memory(door: Door, superuser: psycopg.Connection[Any], tenant: str) -> None:
    memory = door(recall_log="full")
    memory.add(f"The harbour is {CANARY}", tags=[CANARY], metadata={"x": CANARY}, source=CANARY)
    memory.add("The old town lies behind the harbour wall")
    found = memory.search("the harbour", limit=1)
    memory.recall("What is the harbour?")
    memory.build_context("harbour")
    assert CANARY in found[0].memory.fact
    assert CANARY not in str(rows(superuser, tenant))
    first, second = memory.ops.get_recall(str(found.recall_id)).found
    assert first["score"] == pytest.approx(found[0].score)
    assert sum(first["terms"].values()) == pytest.approx(first["score"], abs=1e-4)
    assert first["channels"]["keyword"][0] == 1
    assert (second["score"], set(second["values"])) == (None, {"keyword"})
    brief = door().search("the harbour", limit=1)
    [line] = memory.ops.get_recall(str(brief.recall_id)).found
    assert set(line) == {"id", "score"}


def test_a_log_that_is_off_or_not_sampled_leaves_no_row_and_no_id(
    door: Door, superuser: psycopg.Connection[Any], tenant: str
) -> None:
    door().add("The harbour is old")
    for settings in ({"recall_log": "off"}, {"recall_log_sample": 0.0}):
        memory = door(**settings)
        assert memory.search("harbour").recall_id is None
        assert memory.recall("What is the harbour?").recall_id is None
        assert memory.build_context("harbour").recall_id is None
    assert rows(superuser, tenant) == []
    assert memory.list_memories().results[0].activity.access_count == 4


def test_the_share_that_is_sampled_is_that_of_the_setting() -> None:
    made = [str(uuid.uuid4()) for _ in range(4_000)]
    for share in (0.0, 0.25, 1.0):
        taken = sum(log.is_sampled(one, share) for one in made)
        assert taken == pytest.approx(share * len(made), abs=150)
    assert all(log.is_sampled(one, 1.0) for one in made)


def test_a_recall_that_cannot_be_logged_answers_all_the_same(
    door: Door, superuser: psycopg.Connection[Any], tenant: str
) -> None:
    memory = door()
    one = id_of(memory.add("The harbour is old"))
    superuser.execute("REVOKE INSERT ON engram.recall_log FROM engram_app")
    try:
        found = memory.search("harbour")
        block = memory.build_context("harbour")
    finally:
        superuser.execute("GRANT INSERT ON engram.recall_log TO engram_app")
    assert (ids(found), found.recall_id, block.recall_id) == ((one,), None, None)
    assert one in block.citations.values()
    assert rows(superuser, tenant) == []


def test_a_row_that_is_written_again_after_a_lost_answer_counts_nothing_twice(
    door: Door, database: Database, superuser: psycopg.Connection[Any], tenant: str
) -> None:
    memory = door()
    one = id_of(memory.add("The harbour is old"))
    row = log.Entry(str(uuid.uuid4()), "search", "harbour", memory.scope)
    for _ in range(2):
        database.run(tenant, lambda conn: log.add(conn, row, kept=timedelta(days=1), accessed=[one]))
    assert [str(told) for (told,) in rows(superuser, tenant, "recall_id")] == [row.recall_id]
    assert memory.get(one).activity.access_count == 1


def test_the_asynchronous_door_logs_too(door: Door, database_url: str, tenant: str) -> None:
    async def asked() -> tuple[str | None, Any]:
        async with AsyncEngram(database_url, scope=Scope(tenant_id=tenant, user_id="ada"), embedder="none") as memory:
            quiet(memory)
            await memory.add("The harbour is old")
            found = await memory.search("harbour")
            assert (await memory.explain("harbour", ids(found)[0])).found
            assert (await memory.trace_recall("harbour")).kept_ids == ids(found)
            assert (await memory.ops.replay_recall(str(found.recall_id))).is_same
            assert (await memory.ops.get_recall(str(found.recall_id))).query == "harbour"
            return found.recall_id, await memory.ops.list_recalls()

    recall_id, logged = asyncio.run(asked())
    assert [row.recall_id for row in logged] == [recall_id]


# Whose it is ---------------------------------------------------------------------------------------------------------


def test_a_users_recalls_are_that_users(door: Door) -> None:
    ada, bob, nobody, other = door(), door(user_id="bob"), door(user_id=None), door(agent_id="other")
    mine = str(ada.search("my harbour").recall_id)
    agents = str(nobody.search("the harbour").recall_id)
    wide = str(ada.search("every harbour", user_id=ALL_USERS).recall_id)
    assert [row.recall_id for row in ada.ops.list_recalls()] == [agents, mine]
    assert [row.recall_id for row in nobody.ops.list_recalls()] == [agents]
    for foreign in (bob, nobody, other):
        assert mine not in [row.recall_id for row in foreign.ops.list_recalls()]
        for call in (foreign.ops.get_recall, foreign.ops.replay_recall):
            with pytest.raises(NotFound):
                call(mine)
    assert [row.recall_id for row in ada.ops.list_recalls(user_id=ALL_USERS)] == [wide, agents, mine]
    with pytest.raises(NotFound):
        ada.ops.get_recall(wide)


def test_the_list_goes_page_by_page(door: Door) -> None:
    memory = door()
    made = [str(memory.search(f"harbour {n}").recall_id) for n in range(5)]
    first = memory.ops.list_recalls(limit=2)
    second = memory.ops.list_recalls(limit=2, cursor=first.cursor)
    third = memory.ops.list_recalls(limit=2, cursor=second.cursor)
    assert [row.recall_id for page in (first, second, third) for row in page] == made[::-1]
    assert third.cursor is None
    assert memory.ops.list_recalls(limit=0).cursor is None


# How long it stays ---------------------------------------------------------------------------------------------------


def test_old_rows_go_with_the_purge_and_young_ones_stay(
    door: Door, database: Database, superuser: psycopg.Connection[Any], tenant: str
) -> None:
    memory = door()
    old, young = (str(memory.search("harbour").recall_id) for _ in range(2))
    superuser.execute(
        "UPDATE engram.recall_log SET recorded_at = now() - interval '9 days' WHERE recall_id = %s", (old,)
    )
    with database.transaction(f"not-{tenant}") as conn:  # one job for every tenant
        assert log.purge(conn, 1_000, kept=timedelta(days=10)) == 0
        assert log.purge(conn, 1_000, kept=timedelta(days=8)) == 1
        assert log.purge(conn, 1_000, kept=timedelta(0)) == 0, "a day is kept, whoever asks"
    assert [str(row[0]) for row in rows(superuser, tenant, "recall_id")] == [young]


def test_a_tenants_own_writes_sweep_what_is_old(
    door: Door, database: Database, superuser: psycopg.Connection[Any], tenant: str
) -> None:
    memory = door()
    old, young = (str(memory.search("harbour").recall_id) for _ in range(2))
    superuser.execute(
        "UPDATE engram.recall_log SET recorded_at = now() - interval '9 days' WHERE recall_id = %s", (old,)
    )
    with database.transaction(f"not-{tenant}") as conn:
        assert log.sweep(conn, tenant, timedelta(days=8)) == 0
    with database.transaction(tenant) as conn:
        assert log.sweep(conn, tenant, timedelta(days=8)) == 1
    assert [str(row[0]) for row in rows(superuser, tenant, "recall_id")] == [young]


# What is erased ------------------------------------------------------------------------------------------------------


def test_a_question_that_may_quote_what_was_redacted_goes_with_it(
    door: Door, superuser: psycopg.Connection[Any], tenant: str
) -> None:
    ada, bob = door(recall_log="full"), door(user_id="bob")
    said = ada.remember(f"My boat is called {CANARY.upper()}.", session_id="s").event_ids[0]
    about = ada.search(f"Is it called {CANARY}?")
    ada.search("harbour", filter={"tags_any": [CANARY]})
    ada.deep_search("harbour", queries=[f"the {CANARY}s", f"({CANARY})"])
    ada.recall(f"When did I say {CANARY}?")
    ada.build_context(CANARY)
    other = ada.search("the weather in Porto")
    theirs = bob.search(f"what is {CANARY}")
    assert CANARY in str(rows(superuser, tenant))
    ada.ops.redact_event(said)
    left = rows(superuser, tenant, "recall_id, query, words, plan::text")
    kept = [row for row in left if str(row[0]) == theirs.recall_id]
    assert CANARY not in str([row for row in left if row not in kept]).lower()
    assert kept[0][1] == f"what is {CANARY}", "whoever could not see it did not quote it"
    assert len(left) == 7
    erased = ada.ops.get_recall(str(about.recall_id))
    assert (erased.query, erased.chosen) == (None, ids(about))
    with pytest.raises(NotFound):
        ada.ops.replay_recall(str(about.recall_id))
    assert ada.ops.get_recall(str(other.recall_id)).query == "the weather in Porto"


# Asking it again -----------------------------------------------------------------------------------------------------


def settled(memory: Engram) -> dict[str, str]:
    """Some memories, by a letter."""
    return {
        name: id_of(memory.add(fact, force=True, **more))
        for name, fact, more in (
            ("a", "The harbour is old", {"topic_key": "age"}),
            ("b", "The harbour has a blue crane", {}),
            ("c", "A crane stands in the garden of Ada", {}),
            ("d", "The harbour master is called Rui", {"topic_key": "master"}),
            ("e", "Boats sleep in winter", {}),
        )
    }


def test_a_replay_finds_what_was_found_then_whatever_came_later(door: Door) -> None:
    memory = door()
    made = settled(memory)
    gone = id_of(memory.add("The harbour had a white crane", force=True))
    memory.forget(gone)
    found = memory.search("harbour crane", limit=10)
    deep = memory.deep_search("harbour crane", queries=["boats in winter"])
    assert made["e"] in ids(deep)
    answer = memory.recall("Who is the harbour master?")
    block = memory.build_context("harbour crane", max_tokens=700)
    assert answer.answer_text == "The harbour master is called Rui"
    before = {str(one.recall_id) for one in (found, deep, answer, block)}
    memory.revise(made["a"], "The harbour is new")
    memory.forget(made["b"])
    memory.restore(gone)
    memory.add("A harbour crane is a crane of a harbour", force=True)
    memory.add("The harbour master is called Ines", topic_key="master")
    now = memory.search("harbour crane", limit=10)
    assert set(ids(now)) != set(ids(found))
    for recall_id in before:
        diff = memory.ops.replay_recall(recall_id)
        assert (diff.added, diff.dropped, diff.moved) == ((), (), ()), diff
        assert (diff.is_same, diff.versions, diff.notes) == (True, {}, ())
        assert diff.same == len(memory.ops.get_recall(recall_id).chosen) or diff.kind == "recall"
    assert {row.recall_id for row in memory.ops.list_recalls()} == {*before, now.recall_id}, "replays leave no row"


@pytest.mark.parametrize(
    ("question", "settings"), [("Where is the harbour?", {}), ("What happened to the harbour?", {}),
                               ("Where is the zeppelin?", {}), ("Where is the harbour?", {"recall_log": "full"})],
)  # fmt: skip
def test_an_answer_is_noted_with_its_reads_as_it_is_apart(
    door: Door, superuser: psycopg.Connection[Any], tenant: str, monkeypatch: pytest.MonkeyPatch, question: str,
    settings: dict[str, Any],
) -> None:  # fmt: skip
    memory = door(**settings)
    one = id_of(memory.add("The harbour is old"))
    memory.recall(question)
    add_after, sent = log.add_after, []

    def noted(*given: Any, **more: Any) -> Any:
        sent.append(add_after(*given, **more))
        return sent[-1]

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(noting.log, "add_after", noted)
        beside = memory.recall(question)
        meanwhile.setattr(noting.log, "add_after", lambda *_given, **_more: None)
        apart = memory.recall(question)
    assert [one.done for one in sent] == [True]
    columns = "kind, query, words, plan, found, chosen::text[], intent, degraded, versions, scope_id, scope_ids"
    logged = {row[0]: row[1:] for row in rows(superuser, tenant, f"recall_id::text, {columns}")}
    assert beside.recall_id is not None
    assert logged[str(beside.recall_id)] == logged[str(apart.recall_id)]
    counted = superuser.execute(
        "SELECT access_count FROM engram.memory_activity WHERE memory_id = %s", (one,)
    ).fetchone()
    assert counted == ((3,) if beside.found else (0,))


def test_an_answer_whose_row_cannot_be_written_is_given_without_its_id(
    door: Door, superuser: psycopg.Connection[Any], tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = door()
    memory.add("The harbour is old")
    given = log._given
    monkeypatch.setattr(log, "_given", lambda *found: given(*found) | {"kind": "nothing that is a kind"})
    answer = memory.recall("Where is the harbour?")
    assert (answer.found, answer.recall_id) == (True, None)
    assert rows(superuser, tenant) == []


def test_a_replay_reads_by_the_clock_of_the_search_and_not_by_that_of_its_row(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = door(), door()
    one = id_of(memory.add("The harbour is old"))
    write = log.add_after

    def write_late(*given: Any, **more: Any) -> Any:
        other.add("The harbour is new", force=True)
        return write(*given, **more)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(noting.log, "add_after", write_late)
        found = memory.search("harbour")
    assert ids(found) == (one,)
    assert len(memory.search("harbour")) == 2
    assert memory.ops.replay_recall(str(found.recall_id)).is_same


def test_a_search_that_went_deep_without_other_words_goes_deep_again(door: Door) -> None:
    memory = door()
    memory.add_many([{"fact": f"The {what} boat is blue", "force": True} for what in ("old", "new", "small")])
    found = memory.search("boat", profile="rrf", expand=True)
    assert found.variants == ()
    diff = memory.ops.replay_recall(str(found.recall_id))
    assert (diff.is_same, diff.same) == (True, 3)
    least = found[1].score
    some = memory.search("boat", profile="rrf", expand=True, min_score=least)
    assert 0 < len(some) < 3
    assert memory.ops.replay_recall(str(some.recall_id)).is_same
    assert memory.ops.get_recall(str(found.recall_id)).plan["deepened"] is True


def test_a_replay_of_a_read_of_the_past_reads_the_past(door: Door) -> None:
    memory = door()
    then = datetime(2024, 5, 1, tzinfo=UTC)
    old = id_of(memory.add("The harbour is closed", topic_key="harbour", valid_from=then))
    memory.add("The harbour is open", topic_key="harbour", valid_from=then + timedelta(days=90))
    found = memory.search("harbour", as_of=then + timedelta(days=1))
    assert ids(found) == (old,)
    memory.forget(old)
    diff = memory.ops.replay_recall(str(found.recall_id))
    assert (diff.is_same, diff.same) == (True, 1)
    assert memory.ops.get_recall(str(found.recall_id)).plan["as_of"] == (then + timedelta(days=1)).isoformat()


def test_a_replay_names_the_profile_that_changed_and_what_it_moved(door: Door) -> None:
    def policy(importance: float) -> MemoryPolicy:
        weights = {"coverage": 2.0, "importance": importance}
        return MemoryPolicy(name="mine", profiles=(Profile("mine", weights),), profile="mine")

    memory = door(policy=policy(1.0))
    first = id_of(memory.add("The harbour is old", importance=0.9, force=True))
    second = id_of(memory.add("The harbour is new", importance=0.1, force=True))
    found = memory.search("harbour")
    assert ids(found) == (first, second)
    same = memory.ops.replay_recall(str(found.recall_id))
    assert (same.is_same, same.versions) == (True, {})
    diff = door(policy=policy(-1.0)).ops.replay_recall(str(found.recall_id))
    assert set(diff.versions) == {"profile"}
    then, now = diff.versions["profile"]
    assert (then.split("@")[0], now.split("@")[0]) == ("mine", "mine")
    assert then != now
    assert [(one.memory_id, one.rank_then, one.rank_now) for one in diff.moved] == [(first, 1, 2), (second, 2, 1)]
    assert diff.moved[0].score_then == pytest.approx(found[0].score, abs=1e-5)
    assert diff.moved[0].score_now == pytest.approx(found[0].score - 2 * 0.9, abs=1e-5)
    assert (diff.is_same, diff.same) == (False, 0)


def test_a_replay_says_what_was_not_derived_then(door: Door) -> None:
    memory = door(dispatch="doorbell")
    one = id_of(memory.add("The harbour is old"))
    [said] = memory.remember("My harbour is blue.", session_id="s").event_ids
    found = memory.search("harbour")
    assert set(ids(found)) == {one, said}
    memory.ops.run_jobs()
    diff = memory.ops.replay_recall(str(found.recall_id))
    assert (diff.waiting, diff.dropped) == ((said,), ())


def test_a_plan_makes_the_search_again() -> None:
    start = datetime(2025, 1, 1, tzinfo=UTC)
    given: dict[str, Any] = {
        "mode": "keyword", "limit": 7, "filter": Filter(tags_any=("a",)), "profile": Profile("own", {"coverage": 1.0}),
        "min_score": 0.2, "window": (start, None), "within": (None, start), "per_session": 2, "cut": "adaptive",
    }  # fmt: skip
    asked = prepare("harbour", **given)
    again = prepare("harbour", **log.asked_of(log.plan_of(asked)))
    assert again == asked
    assert isinstance(again, Asked)


# What is told of it --------------------------------------------------------------------------------------------------


def test_the_view_counts_recalls_by_day_kind_and_intent(door: Door, database: Database, tenant: str) -> None:
    memory = door()
    memory.add("The harbour is old")
    for query in ("harbour", "harbour", "zebra"):
        memory.search(query)
    memory.recall("What is the harbour?")
    with database.transaction(tenant) as conn:
        told = conn.exec_driver_sql("SELECT * FROM engram.recall_quality ORDER BY kind").fetchall()
    assert [(row.kind, row.intent, row.recalls, row.empty, row.degraded) for row in told] == [
        ("recall", "current", 1, 0, 0), ("search", None, 3, 1, 0),
    ]  # fmt: skip
    assert all(0 < row.p50_ms <= row.p95_ms for row in told)
    with database.transaction(f"not-{tenant}") as conn:
        assert conn.exec_driver_sql("SELECT * FROM engram.recall_quality").fetchall() == []


# A recall from inside ------------------------------------------------------------------------------------------------


def test_a_trace_shows_every_step_of_a_recall(door: Door) -> None:
    memory = door()
    pinned = id_of(memory.add("Never paint the harbour red", critical_slot="paint"))
    old = id_of(memory.add("The harbour master is called Rui", topic_key="master"))
    new = id_of(memory.add("The harbour master is called Ines", topic_key="master"))
    long = id_of(memory.add("The harbour " + "has a long quay and " * 60, force=True))
    seen = memory.trace_recall(
        "harbour master", max_tokens=120, expected_terms=["Ines", "INES", "harbour red", "Rui", "red paint", "harb"]
    )
    assert (seen.query, seen.critical_ids) == ("harbour master", (pinned,))
    assert set(seen.search_ids) == {pinned, new, long}
    assert set(seen.ranked_ids) == {new, long}
    assert set(seen.kept_ids) == {pinned, new}
    assert seen.trimmed_ids == (long,)
    assert seen.superseded_ids == (old,)
    assert seen.missing_expected_terms == ("Rui", "red paint", "harb")
    assert "called Ines" in seen.context
    assert "quay" not in seen.context
    assert seen.tokens <= 120
    assert set(seen.timings_ms) == {"critical", "search", "superseded", "packing"}
    assert set(seen.versions) == {"engram", "embedding_model", "profile", "policy"}
    assert seen.recall_id is None
    told = {one: memory.explain("harbour master", one).found for one in (*seen.search_ids, old)}
    assert told == {pinned: True, new: True, long: True, old: False}


def test_pinned_memories_take_half_of_a_trace_unless_they_alone_are_asked_for(door: Door) -> None:
    memory = door()
    for number in range(12):
        memory.add(
            f"Never paint harbour number {number} in the colour red", critical_slot=f"paint:{number}", force=True
        )
    half = memory.trace_recall("zebra", max_tokens=200, deep=False)
    whole = memory.trace_recall("zebra", max_tokens=200, deep=False, filter={"critical": True})
    assert 0 < len(half.kept_ids) < len(whole.kept_ids) <= 12
    assert half.tokens <= 110 < whole.tokens <= 200
    assert any("pinned" in note for note in half.notes)
    assert memory.trace_recall("harbour", filter={"critical": False}).critical_ids == ()


def test_a_trace_counts_tokens_as_its_caller_does_and_reads_the_past(door: Door) -> None:
    memory = door()
    one = id_of(memory.add("The harbour is old"))
    known = memory.get(one).recorded_at
    memory.add("The harbour was painted", force=True)
    seen = memory.trace_recall("harbour", token_counter=len, max_tokens=400)
    assert seen.tokens == len(seen.context) <= 400
    past = memory.trace_recall("harbour", known_at=known, deep=False)
    assert past.kept_ids == (one,)
    assert memory.trace_recall("").search_ids == ()


# On the command line --------------------------------------------------------------------------------------------------


def test_the_command_line_explains_traces_lists_and_replays(
    database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("DATABASE_URL", database_url), ("ENGRAM_EMBEDDING_MODEL", "none"), ("ENGRAM_TENANT", tenant)):
        monkeypatch.setenv(name, value)
    engram = Cli(capsys)
    one = engram.json("add", "The harbour is old", "--tag", "sea")["memory"]["memory_id"]
    assert engram.json("why", "harbour", one)["reason"] == "found"
    assert engram.json("why", "harbour", one, "--tag", "land")["detail"] == {"fields": ["tags_all"]}
    assert engram.json("why", "harbour", one, "--min-score", "9", "--mode", "keyword")["score_needed"] == 9
    assert "below min score" in engram("why", "harbour", one, "--min-score", "9").out
    assert engram("why", "harbour", "mem-00000000").code == 3
    seen = engram.json("trace", "harbour", "--expect", "new", "--no-deep", "--max-tokens", "200")
    assert (seen["kept_ids"], seen["missing_expected_terms"]) == ([one], ["new"])
    assert "The harbour is old" in engram("trace", "harbour").out
    recall_id = engram.json("search", "harbour")["recall_id"]
    assert [row["recall_id"] for row in engram.json("recall-log", "list", "-n", "5")["results"]] == [recall_id]
    assert engram.json("recall-log", "show", recall_id)["chosen"] == [one]
    assert engram.json("recall-log", "replay", recall_id)["same"] == 1
    for command in ("list", "show", "replay"):
        told = engram("recall-log", command, *([recall_id] if command != "list" else []))
        assert (told.code, recall_id in told.out) == (0, True), told
