"""What models cost is held to a budget before it is spent, and an answer that was paid for is never paid for again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from asker import GOOD, ask, asked, calls, door_to, rows

from engram import (
    ALL_USERS,
    AsyncEngram,
    BudgetSpent,
    Completion,
    Engram,
    MemoryPolicy,
    Price,
    Scope,
    Unavailable,
    spending,
)
from engram.embedded import EmbeddedServer
from engram.errors import BadOutput, EngramError, LeaseLost, ModelRejected, Refused
from engram.operations.steps import Think, Transact
from engram.settings import load
from engram.testing import Asked, ScriptedModel

BUDGET = "select day, reserved, spent from engram.llm_budgets"


class Dear(ScriptedModel):
    """A model that costs something, and whose counts nobody can believe: every call costs what was reserved."""

    def __init__(self, script: Any = None) -> None:
        super().__init__(script or (lambda _: Completion(GOOD, "dear")), name="dear")
        self.price = Price(Decimal("0.001"), Decimal("0.002"))


def most_of_one(database_url: str, tenant: str) -> Decimal:
    """What one call of the tests below sets aside."""
    with door_to(database_url, tenant, Dear()) as door:
        ask(door, "question 00")
    return Decimal(calls(database_url, tenant)[0]["reserved"])


def test_sixty_four_threads_that_race_for_ten_calls_make_ten(database_url: str, tenant: str) -> None:
    most = most_of_one(database_url, f"{tenant}-one")
    model, gate = Dear(), threading.Barrier(64)
    with door_to(database_url, tenant, model, llm_daily_budget=most * 10, pool_size=8) as door:

        def one(number: int) -> str:
            gate.wait()
            try:
                return ask(door, f"question {number:02}").facts[0].name
            except BudgetSpent as error:
                return "until midnight" if 0 < error.retry_after <= 86_400 else "for ever"

        with ThreadPoolExecutor(64) as threads:
            answers = list(threads.map(one, range(64)))
    assert answers.count("tea") == len(model.asked) == len(calls(database_url, tenant)) == 10
    assert answers.count("until midnight") == 54
    [budget] = rows(database_url, tenant, BUDGET)
    assert (budget["reserved"], budget["spent"]) == (0, most * 10)


@pytest.mark.slow
def test_no_race_of_a_thousand_overshoots(database_url: str, tenant: str) -> None:
    most = most_of_one(database_url, f"{tenant}-one")
    few = {"llm_daily_budget": most * 3, "pool_size": 8}
    with door_to(database_url, tenant, Dear(), **few) as door, ThreadPoolExecutor(8) as threads:
        for race in range(1000):
            there = door.scoped(tenant_id=f"{tenant}-{race}")

            def one(number: int, there: Engram = there) -> bool:
                try:
                    return bool(ask(there, f"question {number:02}"))
                except BudgetSpent:
                    return False

            assert sum(threads.map(one, range(8))) == 3


def test_a_call_that_died_counts_as_spent_and_no_more(database_url: str, tenant: str, server: EmbeddedServer) -> None:
    most = most_of_one(database_url, f"{tenant}-one")
    script = textwrap.dedent("""
        import os, signal, sys
        sys.path.insert(0, sys.argv[1])
        from asker import ask, door_to
        from test_spending import Dear
        die = Dear(lambda _: os.kill(os.getpid(), signal.SIGKILL))
        with door_to(sys.argv[2], sys.argv[3], die, llm_daily_budget=sys.argv[4]) as door:
            ask(door, "question " + sys.argv[5])
    """)
    here = Path(__file__).parent
    path = {**os.environ, "PYTHONPATH": str(here)}
    given = [sys.executable, "-c", script, str(here.parent), database_url, tenant, str(most * 5)]
    dying = [subprocess.Popen([*given, f"9{number}"], env=path) for number in range(3)]
    assert [one.wait(60) for one in dying] == [-signal.SIGKILL] * 3
    [budget] = rows(database_url, tenant, BUDGET)
    assert (budget["reserved"], budget["spent"]) == (most * 3, 0)
    with door_to(database_url, tenant, Dear(), llm_daily_budget=most * 5) as door:
        assert [ask(door, f"question {number:02}").facts[0].name for number in range(2)] == ["tea", "tea"]
        with pytest.raises(BudgetSpent):
            ask(door, "question 03")
        assert sum(row.cost for row in door.ops.usage()) == most * 2
        with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
            conn.execute(
                "update engram.llm_calls set started_at = started_at - interval '11 minutes' where tenant_id = %s",
                (tenant,),
            )
        [row] = door.ops.usage()
        assert (row.cost, row.calls, row.answered, row.estimated) == (most * 5, 5, 2, 5)


def test_a_budget_of_nothing_and_one_that_is_too_small_ask_nobody(database_url: str, tenant: str) -> None:
    most = most_of_one(database_url, f"{tenant}-one")
    for cap in (Decimal(0), most - Decimal("0.000001")):
        model = Dear()
        with door_to(database_url, tenant, model, llm_daily_budget=cap) as door, pytest.raises(BudgetSpent):
            ask(door, "question 00")
        assert model.asked == []
    assert rows(database_url, tenant, BUDGET) == []


@pytest.mark.parametrize(("setting", "policy"), [(1, 5), (5, 1), (None, 1)])
def test_the_lower_of_the_settings_cap_and_the_policys_holds(
    setting: int | None, policy: int, database_url: str, tenant: str
) -> None:
    most = most_of_one(database_url, f"{tenant}-one")
    own = MemoryPolicy("own", daily_budget=most * policy)
    cap = None if setting is None else most * setting
    with door_to(database_url, tenant, Dear(), llm_daily_budget=cap, policy=own) as door:
        assert ask(door, "question 00")
        with pytest.raises(BudgetSpent):
            ask(door, "question 01")
    [budget] = rows(database_url, tenant, BUDGET)
    assert (budget["reserved"], budget["spent"]) == (0, most)


def test_two_policies_share_what_the_tenant_has_spent(database_url: str, tenant: str) -> None:
    most = most_of_one(database_url, f"{tenant}-one")
    low, high = (MemoryPolicy(f"of-{times}", daily_budget=most * times) for times in (1, 2))
    with (
        door_to(database_url, tenant, Dear(), policy=high) as one,
        door_to(database_url, tenant, Dear(), policy=low) as other,
    ):
        assert ask(one, "question 00")
        with pytest.raises(BudgetSpent):
            ask(other, "question 01")
        assert ask(one, "question 01")


def test_each_tenant_has_a_budget_of_its_own(database_url: str, tenant: str) -> None:
    most = most_of_one(database_url, f"{tenant}-one")
    with door_to(database_url, tenant, Dear(), llm_daily_budget=most) as door:
        other = door.scoped(tenant_id=f"{tenant}-other")
        assert ask(door, "question 00")
        assert ask(other, "question 00")
        with pytest.raises(BudgetSpent):
            ask(other, "question 01")


def test_yesterday_is_not_counted_today(database_url: str, tenant: str, server: EmbeddedServer) -> None:
    most = most_of_one(database_url, f"{tenant}-one")
    with door_to(database_url, tenant, Dear(), llm_daily_budget=most) as door:
        assert ask(door, "question 00")
        with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
            conn.execute("update engram.llm_budgets set day = day - 1 where tenant_id = %s", (tenant,))
        assert ask(door, "question 01")


def test_the_real_cost_takes_the_place_of_what_was_reserved(database_url: str, tenant: str) -> None:
    said = Completion(GOOD, "dear", input_tokens=100, output_tokens=20, cached_tokens=40)
    with door_to(database_url, tenant, Dear(said)) as door:
        ask(door)
    [call] = calls(database_url, tenant)
    assert (call["cost"], call["estimated"], call["cached_tokens"]) == (Decimal("0.14"), False, 40)
    [budget] = rows(database_url, tenant, BUDGET)
    assert (budget["reserved"], budget["spent"]) == (0, Decimal("0.14"))


@pytest.mark.parametrize("cost", ["-1", "NaN", "Infinity", "1e9"])
def test_a_cost_that_cannot_be_is_reckoned_from_the_tokens(cost: str, database_url: str, tenant: str) -> None:
    said = Completion(GOOD, "dear", input_tokens=100, output_tokens=20, cost=Decimal(cost))
    with door_to(database_url, tenant, Dear(said)) as door:
        ask(door)
    assert calls(database_url, tenant)[0]["cost"] == Decimal("0.14")


@pytest.mark.parametrize(
    ("cost", "counted"),
    [(0.07, "0.07"), (0, "0"), ("0.07", "0.14"), (True, "0.14"), (float("nan"), "0.14")],
    ids=["float", "int", "text", "bool", "nan"],
)
def test_a_cost_that_is_no_decimal_counts_where_it_is_a_number(
    cost: Any, counted: str, database_url: str, tenant: str
) -> None:
    said = Completion(GOOD, "dear", input_tokens=100, output_tokens=20, cost=cost)
    with door_to(database_url, tenant, Dear(said)) as door:
        ask(door)
    assert calls(database_url, tenant)[0]["cost"] == Decimal(counted)


def test_an_answer_is_paid_once_and_a_different_question_is_another(database_url: str, tenant: str) -> None:
    model = ScriptedModel(GOOD)
    with door_to(database_url, tenant, model) as door:
        for _ in range(3):
            assert ask(door).facts[0].name == "tea"
        assert len(model.asked) == 1
        ask(door, "Another?")
        ask(door, component="gate")
        assert len(model.asked) == 3
    with door_to(database_url, tenant, ScriptedModel(GOOD, name="other")) as door:
        ask(door)
        assert len(door._core.llm.models()[0].asked) == 1  # type: ignore[union-attr,attr-defined]
    with door_to(database_url, f"{tenant}-other", model) as door:
        ask(door)
        assert len(model.asked) == 4, "one tenant's answer is nothing to another"


def test_an_answer_that_was_of_no_use_is_not_kept(database_url: str, tenant: str) -> None:
    model = ScriptedModel(["no", "no", GOOD])
    with door_to(database_url, tenant, model) as door:
        with pytest.raises(Exception, match="twice"):
            ask(door)
        assert ask(door).facts
    assert [call["outcome"] for call in calls(database_url, tenant)] == ["bad_output", "bad_output", "ok"]


def test_two_who_ask_the_same_at_once_keep_one_answer(database_url: str, tenant: str) -> None:
    gate = threading.Barrier(8)

    class Waiting(ScriptedModel):
        """Answers when all eight have asked."""

        def complete(self, *args: Any, **given: Any) -> Completion:
            gate.wait(20)
            return super().complete(*args, **given)

    with door_to(database_url, tenant, Waiting(GOOD)) as door, ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(lambda _: ask(door).model_dump_json(), range(8)))) == 1
    made = calls(database_url, tenant)
    assert [call["outcome"] for call in made] == ["ok"] * 8
    assert sum(call["answer"] is not None for call in made) == 1


def test_the_next_worker_finds_what_the_last_paid_for(database_url: str, tenant: str) -> None:
    model = ScriptedModel(GOOD)
    with door_to(database_url, tenant, model) as door:
        with pytest.raises(LeaseLost):
            lose_the_lease(door, asked(door, "What is it?"), model)
        assert ask(door).facts
        assert len(model.asked) == 1


def lose_the_lease(door: Engram, operation: Any, model: ScriptedModel) -> None:
    """Run an operation whose job is taken by another worker while the model thinks."""
    step = next(operation)
    while True:
        if isinstance(step, Transact):
            done = door._core.database().run(step.tenant_id, step.work, key=step.key, read_only=step.read_only)
        else:
            done = step.work()
        step = operation.throw(LeaseLost()) if isinstance(step, Think) and model.asked else operation.send(done)


def test_settling_twice_counts_once(database_url: str, tenant: str) -> None:
    said = Completion(GOOD, "dear", input_tokens=100, output_tokens=20)
    with door_to(database_url, tenant, Dear(said)) as door:
        repeat(door, asked(door, "What is it?"))
    [budget] = rows(database_url, tenant, BUDGET)
    assert (budget["reserved"], budget["spent"]) == (0, Decimal("0.14"))
    assert len(calls(database_url, tenant)) == 1


def repeat(door: Engram, operation: Any) -> None:
    """Run an operation with every transaction done twice, as after a COMMIT whose answer was lost."""
    database = door._core.database()
    result: Any = None
    try:
        while True:
            step = operation.send(result)
            if isinstance(step, Transact):
                for _ in range(2):
                    result = database.run(step.tenant_id, step.work, key=step.key, read_only=step.read_only)
            else:
                result = step.work()
    except StopIteration:
        return


# What rests on an event


def event_of(door: Engram) -> str:
    return door.remember("My canary is yellow.", derive="skip").event_ids[0]


def test_erasing_an_event_erases_what_was_answered_from_it(database_url: str, tenant: str) -> None:
    model = ScriptedModel('{"facts": [{"name": "canary"}]}')
    with door_to(database_url, tenant, model) as door:
        event, other = event_of(door), event_of(door)
        ask(door, "about the canary", event_ids=[event])
        ask(door, "about something else", event_ids=[other])
        door.ops.redact_event(event)
        first, second = calls(database_url, tenant)
        assert (first["answer"], first["call_key"], first["outcome"]) == (None, None, "ok")
        assert second["answer"] is not None
        ask(door, "about the canary", event_ids=[event])
        assert len(model.asked) == 3
        assert calls(database_url, tenant)[2]["answer"] is None, "an answer about an erased event was kept"


def test_an_event_erased_while_the_model_thinks_leaves_nothing(database_url: str, tenant: str) -> None:
    erase: list[Callable[[], Any]] = []

    def script(_: Asked) -> str:
        erase.pop()()
        return '{"facts": [{"name": "canary"}]}'

    with door_to(database_url, tenant, ScriptedModel(script)) as door:
        event = event_of(door)
        erase.append(lambda: door.ops.redact_event(event))
        assert ask(door, event_ids=[event]).facts[0].name == "canary"
    [call] = calls(database_url, tenant)
    assert (call["answer"], call["call_key"], call["outcome"]) == (None, None, "ok")


def test_an_erasure_under_way_waits_for_no_answer_to_slip_by(database_url: str, tenant: str) -> None:
    erased = threading.Event()

    def erase(door: Engram, event: str) -> None:
        with door._core.database().transaction(tenant) as conn:
            spending.erase_event(conn, tenant, event)
            erased.set()
            for _ in range(500):  # until the call waits to be settled
                [waiting] = rows(
                    database_url, tenant, "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                )
                if waiting["count"]:
                    return
                time.sleep(0.01)

    def script(_: Asked) -> str:
        threading.Thread(target=erase, args=(door, event)).start()
        assert erased.wait(10)
        return '{"facts": [{"name": "canary"}]}'

    with door_to(database_url, tenant, ScriptedModel(script)) as door:
        event = event_of(door)
        ask(door, event_ids=[event])
    [call] = calls(database_url, tenant)
    assert (call["answer"], call["call_key"], call["outcome"]) == (None, None, "ok")


# What is seen of it


def test_usage_adds_up_by_component_model_and_day(database_url: str, tenant: str) -> None:
    said = Completion(GOOD, "dear", input_tokens=100, output_tokens=20, cached_tokens=40)
    with door_to(database_url, tenant, Dear(said)) as door:
        before = datetime.now(UTC) - timedelta(minutes=1)
        for component, questions in (("extract", 3), ("gate", 1)):
            for number in range(questions):
                ask(door, f"question {number}", component=component)
        by_component = door.ops.usage()
        assert [(row.group, row.calls, row.answered) for row in by_component] == [("extract", 3, 3), ("gate", 1, 1)]
        extract = by_component[0]
        assert (extract.input_tokens, extract.output_tokens, extract.cached_tokens) == (300, 60, 120)
        assert (extract.cost, extract.estimated) == (Decimal("0.42"), 0)
        assert [row.group for row in door.ops.usage(group_by="model")] == ["dear"]
        assert [row.calls for row in door.ops.usage(group_by="day", since=before)] == [4]
        assert door.ops.usage(since=datetime.now(UTC) + timedelta(minutes=1)) == ()
        assert type(extract).from_dict(extract.to_dict()) == extract
    seen = rows(database_url, tenant, "select component, calls, tokens, cost, cached from engram.llm_costs order by 1")
    assert [tuple(row.values()) for row in seen] == [
        ("extract", 3, 360, Decimal("0.42"), 120), ("gate", 1, 120, Decimal("0.14"), 40)
    ]  # fmt: skip


def test_usage_is_that_of_the_scope(database_url: str, tenant: str) -> None:
    with door_to(database_url, tenant, ScriptedModel(GOOD)) as door:
        ask(door.scoped(user_id="ada"))
        ask(door.scoped(user_id="bob"), "Another?")
        assert [row.calls for row in door.ops.usage(user_id="ada")] == [1]
        assert [row.calls for row in door.ops.usage(user_id=ALL_USERS)] == [2]
        assert door.ops.usage(tenant_id=f"{tenant}-other") == ()


async def test_the_asynchronous_door_asks_the_same(database_url: str, tenant: str) -> None:
    model = ScriptedModel(GOOD)
    settings = load({}, embedding_model="none")
    async with AsyncEngram(database_url, settings=settings, scope=Scope(tenant), llm=model) as door:
        for _ in range(2):
            assert (await door._run(asked(door, "What is it?"))).facts[0].name == "tea"
        assert [row.calls for row in await door.ops.usage()] == [1]
    assert len(model.asked) == 1


def test_without_a_model_the_question_says_what_to_set(database_url: str, tenant: str) -> None:
    with door_to(database_url, tenant) as door, pytest.raises(Unavailable, match="ENGRAM_LLM_MODEL"):
        ask(door)


def test_what_a_model_object_raises_stays_inside(database_url: str, tenant: str) -> None:
    model = ScriptedModel([RuntimeError("canary")])
    with door_to(database_url, tenant, model) as door, pytest.raises(Unavailable) as caught:
        ask(door)
    assert "canary" not in f"{caught.value!r} {caught.value.facts} {caught.value.__context__!r}"


@pytest.mark.parametrize("kind", [BadOutput, ModelRejected, Refused])
def test_an_error_of_ours_that_a_model_object_raises_needs_no_facts(
    database_url: str, tenant: str, kind: type[EngramError]
) -> None:
    with door_to(database_url, tenant, ScriptedModel(kind("no idea"))) as door:
        with pytest.raises(kind):
            ask(door)
        door.add("Ada lives in Ottawa")
        answer = door.recall("Where does Ada live?", compose=True)
        assert (answer.answer_text, answer.degraded) == ("Ada lives in Ottawa", ("compose",))


def test_a_tenant_without_budget_does_not_use_up_the_probe_of_a_model_that_is_back(
    database_url: str, tenant: str
) -> None:
    with door_to(database_url, tenant, Dear(), llm_daily_budget=Decimal("0.001")) as door:
        assert door._setup.llm is not None
        breaker = door._setup.llm.breaker(door._setup.llm.model_for("extract"))
        for _ in range(5):
            breaker.note(Unavailable())
        breaker._clock = lambda: time.monotonic() + 31
        with pytest.raises(BudgetSpent):
            ask(door)
        assert breaker.enter(), "the next caller probes"
