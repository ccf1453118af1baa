"""Running jobs: what a failure means for its job, and what an operator sees of it and can do."""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from book import Book, together

from engram import Engram, errors, jobs
from engram.database import Database
from engram.derivation import rules, verbatim
from engram.embedded import EmbeddedServer
from engram.errors import Conflict, EngramError, InvalidInput, NotFound, Unavailable
from engram.operations import deriving, running, steps
from engram.operations.running import Fate, fate_of
from engram.operations.steps import Operation
from engram.settings import load

SECRET = "the code of the safe is 4711"


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Engram]:
    """A door that leaves its jobs to workers."""
    with Engram(database_url, settings=load({}, dispatch="doorbell"), embedder="none") as opened:
        yield opened.scoped(tenant_id=tenant, user_id="ada")


@pytest.fixture
def book(door: Engram, database: Database) -> Book:
    """The same tenant from behind."""
    return Book(database, door.scope.tenant_id)


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Every derive job fails so."""

    def fail(_setup: object, _job: object) -> Operation[None]:
        raise error
        yield

    monkeypatch.setattr(running, "WORK", {**running.WORK, jobs.DERIVE: fail})


def only(door: Engram) -> Any:
    [job] = door.ops.list_jobs()
    return job


def make_due(book: Book) -> None:
    book.rows("update engram.memory_jobs set run_at = clock_timestamp() where state <> 'done' returning 1")


CASES: list[tuple[Exception, Fate]] = [
    (errors.RateLimited(retry_after=7), Fate(counts=False, retry_after=7)),
    (errors.RateLimited(retry_after=86_400), Fate(counts=False, retry_after=900)),
    (errors.RateLimited(), Fate(counts=False)),
    (errors.RateLimited(retry_after=0), Fate(counts=False)),
    (errors.RateLimited(retry_after=0.001), Fate(counts=False, retry_after=1)),
    (errors.RateLimited(retry_after=-5), Fate(counts=False)),
    (errors.RateLimited(retry_after=math.nan), Fate(counts=False)),
    (errors.RateLimited(retry_after="soon"), Fate(counts=False)),  # type: ignore[arg-type]
    (errors.RateLimited(retry_after=10**400), Fate(counts=False, retry_after=900)),
    (errors.BudgetSpent(retry_after=10**400), Fate(paused=True, retry_after=86_400)),
    (errors.BudgetSpent(retry_after=0), Fate(paused=True)),
    (errors.BudgetSpent(retry_after=86_400), Fate(paused=True, retry_after=86_400)),
    (errors.ModelRejected(retry_after=300), Fate(paused=True, retry_after=300)),
    (errors.ModelRejected(), Fate(paused=True)),
    (errors.BadOutput(), Fate(permanent=True)),
    (errors.Refused(), Fate(permanent=True)),
    (errors.InvalidInput("fact", "a text"), Fate(permanent=True)),
    (errors.LimitExceeded("fact", 1, 2), Fate(permanent=True)),
    (errors.NotFound(), Fate(permanent=True)),
    (errors.PolicyError(), Fate(permanent=True)),
    (errors.SettingsError(), Fate(permanent=True)),
    (errors.SchemaOutdated(), Fate(paused=True)),
    (errors.Conflict(), Fate()),
    (errors.UnknownOutcome("key"), Fate()),
    (errors.Unavailable("no answer", retry_after=5), Fate(retry_after=5)),
    (errors.Unavailable("too slow", retry_after=5, sqlstate="57014"), Fate(most=3, retry_after=5)),
    (errors.Unavailable("refused", sqlstate="42501"), Fate(permanent=True)),
    (errors.Unavailable("refused", sqlstate="54000"), Fate(permanent=True)),
    (errors.Unavailable("refused", sqlstate="0A000"), Fate(permanent=True)),
    (errors.Unavailable("the disk is full", retry_after=5, sqlstate="53100"), Fate(retry_after=5)),
    (ZeroDivisionError(SECRET), Fate()),
    (KeyError(SECRET), Fate()),
]


@pytest.mark.parametrize(("error", "fate"), CASES, ids=[f"{type(e).__name__}-{n}" for n, (e, _) in enumerate(CASES)])
def test_a_failure_has_its_fate(error: Exception, fate: Fate) -> None:
    assert fate_of(error) == fate
    assert SECRET not in errors.class_of(error)


def test_every_error_of_engram_has_a_fate() -> None:
    def below(kind: type[EngramError]) -> Iterator[type[EngramError]]:
        yield kind
        for one in kind.__subclasses__():
            yield from below(one)

    for kind in below(EngramError):
        assert any(issubclass(kind, known) for known, _ in running.FATES)


def test_a_bug_ends_a_job_in_the_end_but_never_the_worker(
    door: Engram, book: Book, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    door.remember("I live in Oslo.")
    failing(monkeypatch, ZeroDivisionError(SECRET))
    with caplog.at_level(logging.ERROR, "engram"):
        for attempt in range(1, jobs.MOST_ATTEMPTS + 1):
            make_due(book)
            assert door.ops.run_jobs() == 1
            assert (only(door).attempt, only(door).error_class) == (attempt, "ZeroDivisionError")
    assert only(door).state == "dead"
    assert len(caplog.records) == jobs.MOST_ATTEMPTS
    assert "ZeroDivisionError" in caplog.text
    assert "test_running.py" in caplog.text
    assert SECRET not in caplog.text
    assert book.rows("select error_text from engram.memory_jobs") == [(None,)]


def test_a_statement_that_takes_too_long_is_tried_again_twice(
    door: Engram, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    door.remember("I live in Oslo.")
    failing(monkeypatch, Unavailable("too slow", sqlstate="57014"))
    for state in ("queued", "queued", "dead"):
        make_due(book)
        door.ops.run_jobs()
        assert only(door).state == state


def test_a_spent_budget_pauses_a_job_which_comes_back_by_itself(
    door: Engram, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    door.remember("I live in Oslo.")
    failing(monkeypatch, errors.BudgetSpent(retry_after=3600))
    door.ops.run_jobs()
    resting = only(door)
    assert (resting.state, resting.attempt, resting.error_class) == ("paused", 0, "budget_spent")
    assert 3500 < (resting.run_at - datetime.now(resting.run_at.tzinfo)).total_seconds() <= 3600
    assert [one.state for one in door.ops.backlog()] == ["paused", "paused"]
    monkeypatch.undo()
    assert door.ops.run_jobs() == 0
    make_due(book)
    assert door.ops.run_jobs() == 1
    assert door.ops.backlog() == ()


def test_a_rate_limit_is_waited_for_and_costs_nothing(
    door: Engram, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    door.remember("I live in Oslo.")
    failing(monkeypatch, errors.RateLimited(retry_after=60))
    for _ in range(jobs.MOST_ATTEMPTS + 2):
        make_due(book)
        assert door.ops.run_jobs() == 1
    waiting = only(door)
    assert (waiting.state, waiting.attempt) == ("queued", 0)
    assert 50 < (waiting.run_at - datetime.now(waiting.run_at.tzinfo)).total_seconds() <= 60


@pytest.mark.parametrize("told", [0, 0.001, -5, math.nan, "soon"])
def test_a_limit_without_a_pause_is_not_asked_again_at_once(
    door: Engram, book: Book, monkeypatch: pytest.MonkeyPatch, told: Any
) -> None:
    door.remember("I live in Oslo.")
    failing(monkeypatch, errors.RateLimited(retry_after=told))
    assert door.ops.run_jobs() == 1
    waiting = only(door)
    assert (waiting.state, waiting.attempt, waiting.error_class) == ("queued", 0, "rate_limited")
    assert 0.5 < (waiting.run_at - datetime.now(waiting.run_at.tzinfo)).total_seconds() <= 2


# What an operator sees and does


def test_nothing_that_waits_is_invisible(door: Engram, book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    assert door.ops.backlog() == ()
    first = door.remember("I live in Oslo.")
    door.ops.run_jobs()
    door.remember("I like tea.")
    door.remember("I like rain.")

    def seen() -> list[tuple[Any, ...]]:
        return [
            (one.stream_id, one.deriver, one.version, one.position, one.head, one.behind, one.state, one.last_error)
            for one in door.ops.backlog()
        ]

    place = (first.stream_id,)
    waiting = [(*place, one.NAME, one.VERSION, 1, 3, 2, "queued", None) for one in (rules, verbatim)]
    assert seen() == waiting
    assert all(one.oldest_age >= 0 for one in door.ops.backlog())
    failing(monkeypatch, errors.BadOutput())
    while door.ops.run_jobs():
        pass
    assert seen() == [(*one[:6], "dead", "bad_output") for one in waiting]
    checks = {check.name: check for check in door.ops.doctor().checks}
    assert not checks["jobs"].ok
    assert "2 dead (bad_output)" in checks["jobs"].detail
    # Without any job the events are shown all the same.
    for job in door.ops.list_jobs(state="dead"):
        door.ops.cancel_job(job.job_id)
    assert seen() == [(*one[:6], "none", None) for one in waiting]
    monkeypatch.undo()
    for job in door.ops.list_jobs(state="cancelled"):
        assert door.ops.retry_job(job.job_id).state == "queued"
    assert door.ops.run_jobs() == 1
    assert seen() == []
    assert door.stats().jobs == {"done": 3}


def test_after_a_new_release_of_a_deriver_only_what_nobody_has_read_is_behind(
    door: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verbatim, "MAX_FACT", 0)  # so that no memory is made of the first
    door.remember("The harbour was grey and quiet.")
    door.ops.run_jobs()
    monkeypatch.undo()
    monkeypatch.setattr(rules, "VERSION", rules.VERSION + 1)
    found = door.search("harbour")
    assert (found.watermark.behind, len(found)) == (0, 0)
    door.remember("The harbour was green and loud.")
    found = door.search("harbour")
    assert (found.watermark.behind, [one.memory.fact for one in found]) == (1, ["The harbour was green and loud."])
    door.ops.run_jobs()
    assert door.search("harbour").watermark.behind == 0


def test_of_two_releases_side_by_side_neither_derives_what_the_other_has_read(
    door: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer = rules.VERSION, rules.VERSION + 1
    says = ("I live in Oslo.", "I moved to Rome.", "My sister is called Ann.", "I moved to Bergen.", "I like tea.")
    for version, said in zip((older, newer, newer, older, newer), says, strict=True):
        monkeypatch.setattr(rules, "VERSION", version)
        door.remember(said)
        door.ops.run_jobs()
    told = [one.kind for one in door.list_decisions()]
    assert (len(told), told.count("revise"), told.count("reinforce")) == (10, 2, 0)
    where = next(one for one in door.list_memories() if one.fact == "User moved to Bergen")
    assert where.revision == 3
    assert {one.activity.repetition_count for one in door.list_memories()} == {0}


def test_waiting_for_a_dead_job_ends_at_once_and_names_its_class(door: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    receipt = door.remember("I live in Oslo.")
    failing(monkeypatch, errors.BadOutput())
    with pytest.raises(Unavailable) as waited:
        door.wait_for(receipt, timeout=0)
    assert "error_class" not in waited.value.facts
    door.ops.run_jobs()
    with pytest.raises(Unavailable, match="bad_output") as told:
        door.wait_for(receipt, timeout=3_000)
    assert (told.value.behind, told.value.error_class) == (2, "bad_output")
    # One that is under way again is waited for.
    door.ops.retry_job(only(door).job_id)
    with pytest.raises(Unavailable, match="not derived yet"):
        door.wait_for(receipt, timeout=0)
    monkeypatch.undo()
    door.ops.run_jobs()
    assert [one.kind for one in door.wait_for(receipt)] == ["add", "add"]


def test_an_error_of_a_wait_names_the_events_that_are_kept(
    door: Engram, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, Unavailable("no answer"))
    calls: tuple[Callable[[], object], ...] = (
        lambda: door.remember([{"role": "user", "content": "I live in Oslo."}], wait=0),
        lambda: door.record_turn("I live in Oslo.", "So you said.", session_id="s", wait=0),
        lambda: door.record_long_input("# Ports\n\nWe use Helix.", media="markdown", title="Ports", wait=0),
    )
    kept: list[tuple[str, ...]] = []
    for call in calls:
        with pytest.raises(Unavailable, match="not derived yet") as told:
            call()
        kept.append(told.value.event_ids)
    types = [[door.get_event(one).event_type for one in event_ids] for event_ids in kept]
    assert types == [
        ["user_message"], ["user_message", "assistant_message"], ["document_part", "artifact"],
    ]  # fmt: skip
    monkeypatch.undo()
    make_due(book)
    door.ops.run_jobs()
    assert door.wait_for(kept[0][0], timeout=5)


def test_jobs_are_listed_by_page_and_state_in_their_own_scope(door: Engram) -> None:
    for n in range(5):
        door.remember(f"I like the number {n}.", session_id=f"s{n}")
    whole = [job for job in door.ops.list_jobs() if job.kind == "derive"]
    assert len(whole) == 5
    paged, cursor = [], None
    while True:
        page = door.ops.list_jobs(limit=2, cursor=cursor)
        paged += [job for job in page if job.kind == "derive"]
        if page.cursor is None:
            break
        cursor = page.cursor
    assert paged == whole
    assert {job.state for job in door.ops.list_jobs(state="queued")} == {"queued"}
    assert door.ops.list_jobs(state="dead").results == ()
    assert door.ops.list_jobs(limit=0).results == ()
    assert "payload" not in whole[0].to_dict()
    assert not any("token" in name for name in whole[0].to_dict())
    with pytest.raises(InvalidInput):
        door.ops.list_jobs(state="lost")  # type: ignore[arg-type]
    other = door.scoped(user_id="bob")
    assert other.ops.list_jobs().results == ()
    for change in (other.ops.retry_job, other.ops.cancel_job):
        with pytest.raises(NotFound):
            change(whole[0].job_id)


def test_a_rehearsed_change_of_a_job_changes_nothing(door: Engram) -> None:
    door.remember("I live in Oslo.")
    job = only(door)
    assert door.ops.cancel_job(job.job_id, dry_run=True).state == "cancelled"
    assert only(door) == job
    door.ops.run_jobs()
    for change in (door.ops.retry_job, door.ops.cancel_job):
        with pytest.raises(Conflict):
            change(job.job_id)


def test_a_long_queue_of_one_stream_is_derived_by_one_job_and_finished_in_parts(door: Engram, book: Book) -> None:
    for part in range(3):
        door.remember([{"role": "user", "content": f"I like the number {part * 100 + n}."} for n in range(100)])
    assert door.stats().jobs == {"queued": 300}
    assert door.ops.run_jobs() == 1
    assert door.stats().jobs == {"done": 300}
    assert door.stats().events == 300


def several_streams(door: Engram, many: int) -> None:
    for number in range(many):
        said = [f"My name is Ada{number}.", f"I live in town {number}."]
        door.remember([{"role": "user", "content": one} for one in said], user_id=f"u{number}", session_id="s")


def facts_of(door: Engram) -> dict[str, set[str]]:
    return {user: {memory.fact for memory in door.get_all(user_id=user)} for user in (f"u{n}" for n in range(5))}


def test_jobs_of_several_streams_are_derived_in_one_transaction_to_what_each_alone_would_give(
    door: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []
    hold = jobs.hold
    monkeypatch.setattr(jobs, "hold", lambda conn, *several: (held.append(len(several)), hold(conn, *several)))
    several_streams(door, 5)
    assert door.ops.run_jobs(limit=5) == 5
    assert held == [5]
    together = facts_of(door)
    assert all(together.values())
    beside = door.scoped(tenant_id=f"{door.scope.tenant_id}-x")
    monkeypatch.setattr(running, "TOGETHER", 1)
    held.clear()
    several_streams(beside, 5)
    assert beside.ops.run_jobs(limit=5) == 5
    assert held == [1] * 5
    assert facts_of(beside) == together


def test_a_job_that_fails_takes_none_of_those_with_it_that_are_run_together(
    door: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts = deriving._drafts

    def poisoned(setup: Any, reading: Any) -> Any:
        if reading.scope.user_id == "u3":
            raise ZeroDivisionError
        return drafts(setup, reading)

    monkeypatch.setattr(deriving, "_drafts", poisoned)
    several_streams(door, 5)
    door.ops.run_jobs(limit=5)
    listed = [job for n in range(5) for job in door.scoped(user_id=f"u{n}").ops.list_jobs() if job.kind == jobs.DERIVE]
    assert {job.error_class for job in listed} == {"ZeroDivisionError", None}
    assert [bool(facts) for facts in facts_of(door).values()] == [True, True, True, False, True]


def test_only_jobs_that_cannot_harm_each_other_are_taken_together(door: Engram, book: Book) -> None:
    several_streams(door, 5)
    first, *others = book.run(lambda conn: jobs.claim(conn, [jobs.DERIVE], 5, tenant_id=door.scope.tenant_id))
    lost = replace(others[0], crashes=1)
    same = replace(others[1], stream_id=first.stream_id)
    foreign = replace(others[2], tenant_id="another")
    kept = deque([first, lost, same, foreign, others[3]])
    assert running.take_together(kept, 8) == [first, others[3]]
    assert list(kept) == [lost, same, foreign]
    assert running.take_together(kept, 8) == [lost]
    assert running.take_together(deque([first, others[3]]), 1) == [first]


# Who derives what a caller has just written


@pytest.fixture
def inline(database_url: str, tenant: str) -> Iterator[Engram]:
    """A door that derives itself, and has a background that may come first."""
    with Engram(database_url, settings=load({}, dispatch="inline"), embedder="none") as opened:
        yield opened.scoped(tenant_id=tenant, user_id="ada")


def taken_by_another(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The jobs of the next receipt are taken by somebody else the moment it is written; filled with them."""
    claim, taken = jobs.claim_these, list[Any]()

    def come_late(conn: Any, job_ids: Any, **how: Any) -> list[Any]:
        if taken:
            return claim(conn, job_ids, **how)
        taken.extend(claim(conn, job_ids))
        return []

    monkeypatch.setattr(jobs, "claim_these", come_late)
    return taken


def test_who_derives_inline_reads_what_he_wrote_though_another_took_the_job(
    inline: Engram, door: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = taken_by_another(monkeypatch)
    found = []

    def derive_late() -> None:
        while not taken:
            time.sleep(0.01)
        time.sleep(0.3)
        door._core.run(running.run(door._setup, taken[0]))

    def write() -> None:
        found.append(inline.remember("I live in Oslo.", session_id="a"))
        found.append(inline.recall("Where do I live?"))

    together([derive_late, write])
    receipt, answer = found
    assert [one.kind for one in receipt.decisions] == ["add", "add"]
    assert answer.answer_text == "User lives in Oslo"


@pytest.mark.parametrize("call", [
    lambda door: door.remember("I live in Oslo"),
    lambda door: door.record_turn("I live in Oslo", "Noted."),
    lambda door: door.record_event("I live in Oslo", role="user"),
])  # fmt: skip
def test_what_was_appended_is_told_as_appended_though_nothing_can_be_derived_of_it_now(
    server: EmbeddedServer, database_url: str, tenant: str, call: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """It was told as a call that may be repeated, which said everything twice."""
    settings = load({}, lock_timeout=timedelta(milliseconds=20), dispatch="inline")
    with (
        Engram(database_url, settings=settings, embedder="none") as opened,
        psycopg.connect(server.superuser_url.replace("+psycopg", "")) as behind,
    ):
        door = opened.scoped(tenant_id=tenant, user_id="ada")
        door.remember("I like tea")
        with behind.transaction():
            behind.execute("lock table engram.agent_memory in access exclusive mode")
            receipt = call(door)
            assert (receipt.duplicate, receipt.decisions) == (False, ())
            assert "what follows from it waits: PostgreSQL was too busy" in caplog.text
        assert [event.content for event in door.list_events(roles=["user"])] == ["I like tea", "I live in Oslo"]
        door.wait_for(receipt, timeout=30)
        assert "I live in Oslo" in [memory.fact for memory in door.list_memories()]


def test_who_derives_inline_waits_some_seconds_for_another_and_then_no_longer(
    inline: Engram, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "PATIENCE", 0.2)
    [taken] = [taken_by_another(monkeypatch)]
    receipt = inline.remember("I live in Oslo.", session_id="a")
    assert (receipt.decisions, [job.state for job in taken]) == ((), ["running"])
    book.rows("update engram.memory_jobs set state = 'queued', lease_token = null, lease_until = null returning 1")
    again = inline.remember("I work in Bergen.", session_id="a")
    assert again.decisions


def test_who_derives_inline_does_not_wait_for_what_is_not_due(inline: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    def waits(_seconds: float) -> Operation[None]:
        pytest.fail("it is not waited for until it is due")
        yield

    failing(monkeypatch, errors.RateLimited(retry_after=60))
    receipt = inline.remember("I live in Oslo.", idempotency_key="one")
    monkeypatch.setattr(steps, "pause", waits)
    assert inline.remember("I live in Oslo.", idempotency_key="one").event_ids == receipt.event_ids


def test_nobody_waits_for_events_that_nothing_is_derived_from(inline: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "are_open", lambda *_: pytest.fail("there is no job to ask for"))
    assert inline.remember("I live in Oslo.", derive="skip").decisions == ()
