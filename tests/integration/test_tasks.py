"""Task runs and checkpoints: states, versions, resuming, forgetting, and what is made by a job."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from waiting import until_a_lock_is_waited_for

from engram import (
    AsyncEngram,
    Completion,
    Conflict,
    Damaged,
    Engram,
    IdempotencyMismatch,
    InvalidInput,
    LimitExceeded,
    MemoryPolicy,
    NotFound,
    Scope,
    StaleStream,
    checkpoints,
)
from engram.embedded import EmbeddedServer
from engram.operations import running
from engram.operations import tasks as operations
from engram.settings import load
from engram.values import TASK_STATUSES, TaskRun

FINAL = ("completed", "failed", "cancelled")
UNKNOWN = "01890000-0000-7000-8000-00000000b001"


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    """A door that derives nothing by itself: what is queued stays queued."""
    settings = load({}, dispatch="doorbell", pool_size=40)
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), settings=settings, embedder="none") as door:
        yield door


@pytest.fixture
def inline(database_url: str, tenant: str) -> Iterator[Engram]:
    policy = MemoryPolicy(name="often", checkpoint_every=5, checkpoint_tokens=1_000)
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), policy=policy, embedder="none") as door:
        yield door


@pytest.fixture
def superuser(server: EmbeddedServer) -> Iterator[psycopg.Connection[Any]]:
    plain = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(plain, autocommit=True) as conn:
        yield conn


def jobs_of(conn: psycopg.Connection[Any], tenant: str) -> list[tuple[str, str]]:
    return conn.execute(
        "select state, payload->>'because' from engram.memory_jobs where tenant_id = %s and kind = 'checkpoint'"
        " order by created_at",
        (tenant,),
    ).fetchall()


def types_of(door: Engram, task: TaskRun) -> list[str]:
    return [event.event_type for event in door.list_events(task_run_id=task.task_run_id, limit=200)]


# States ---------------------------------------------------------------------------------------------------------------


def test_a_run_begins_active_with_a_stream_of_its_own(ada: Engram) -> None:
    parent = ada.start_task("Ship the boat")
    task = ada.start_task("Paint the keel", parent_task_id=parent.task_run_id, metadata={"coats": 2}, session_id="s")
    assert (task.status, task.position, task.parent_task_id) == ("active", 1, parent.task_run_id)
    assert (task.session_id, task.metadata, task.ended_at, task.outcome) == ("s", {"coats": 2}, None, None)
    assert task.stream_id != parent.stream_id
    assert ada.get_task(task.task_run_id) == task
    [event] = ada.list_events(task_run_id=task.task_run_id)
    assert (event.event_type, event.content, event.stream_id) == ("task_started", "Paint the keel", task.stream_id)
    ada.record_event("Sanded it", task_run_id=task.task_run_id)
    assert ada.get_task(task.task_run_id).position == 2
    with pytest.raises(NotFound):
        ada.start_task("Orphan", parent_task_id=UNKNOWN)
    with pytest.raises(InvalidInput, match="task_run_id"):
        ada.start_task("Twice", task_run_id=task.task_run_id)  # type: ignore[call-arg]


def test_a_parent_that_is_seen_in_another_scope_is_refused_for_what_it_is(ada: Engram) -> None:
    agent = ada.scoped(Scope(ada.scope.tenant_id))
    parent = agent.start_task("Ship the boat").task_run_id
    assert ada.get_task(parent).goal == "Ship the boat"
    with pytest.raises(InvalidInput, match="a run of the scope that is written to"):
        ada.start_task("Paint the keel", parent_task_id=parent)
    assert [event.task_run_id for event in ada.list_events()] == [parent], "it began nothing"
    agent.forget_task(parent)
    with pytest.raises(NotFound):
        ada.start_task("Paint the keel", parent_task_id=parent)


@pytest.mark.parametrize("wanted", TASK_STATUSES)
@pytest.mark.parametrize("current", TASK_STATUSES)
def test_the_table_of_states(ada: Engram, current: Any, wanted: Any) -> None:
    task = ada.start_task("Paint the keel")
    if current != "active":
        task = ada.update_task(task.task_run_id, status=current)
    before = types_of(ada, task)
    if current in FINAL and wanted != current:
        with pytest.raises(Conflict, match=current) as caught:
            ada.update_task(task.task_run_id, status=wanted)
        assert caught.value.status == current
        assert ada.get_task(task.task_run_id).status == current
        assert types_of(ada, task) == before
        return
    done = ada.update_task(task.task_run_id, status=wanted)
    assert done.status == wanted
    assert (done.ended_at is not None) == (wanted in FINAL)
    assert types_of(ada, task) == before + (["task_updated"] if wanted != current else [])


def test_an_update_writes_what_changes_and_nothing_else(ada: Engram) -> None:
    task = ada.start_task("Paint the keel")
    with pytest.raises(InvalidInput):
        ada.update_task(task.task_run_id)
    done = ada.update_task(task.task_run_id, status="completed", outcome="Blue now", metadata={"coats": 3})
    assert (done.outcome, done.metadata) == ("Blue now", {"coats": 3})
    assert ada.update_task(task.task_run_id, status="completed", outcome="Blue now") == done, "the same again"
    later = ada.update_task(task.task_run_id, outcome="Blue, and dry")
    assert (later.status, later.ended_at, later.outcome) == ("completed", done.ended_at, "Blue, and dry")
    assert types_of(ada, task) == ["task_started", "task_updated", "task_updated"]


def test_a_rehearsal_changes_nothing(ada: Engram) -> None:
    assert ada.start_task("Paint the keel", dry_run=True).goal == "Paint the keel"
    assert ada.list_tasks().results == ()
    task = ada.start_task("Paint the keel")
    assert ada.update_task(task.task_run_id, status="failed", dry_run=True).status == "failed"
    assert ada.save_checkpoint(task.task_run_id, "Half", dry_run=True).version == 1
    assert ada.get_task(task.task_run_id) == task
    assert ada.list_checkpoints(task.task_run_id) == ()


def test_a_call_with_the_same_key_has_its_effect_once(ada: Engram) -> None:
    task = ada.start_task("Paint the keel", idempotency_key="start")
    assert ada.start_task("Paint the keel", idempotency_key="start").task_run_id == task.task_run_id
    with pytest.raises(IdempotencyMismatch):
        ada.start_task("Paint the deck", idempotency_key="start")
    for _ in range(2):
        ada.update_task(task.task_run_id, status="paused", idempotency_key="pause")
        ada.resume_task(task.task_run_id, idempotency_key="resume", expected_position=2)
        ada.save_checkpoint(task.task_run_id, "Half", state={"n": 1}, idempotency_key="save")
    with pytest.raises(IdempotencyMismatch):
        ada.update_task(task.task_run_id, status="failed", idempotency_key="pause")
    with pytest.raises(IdempotencyMismatch):
        ada.save_checkpoint(task.task_run_id, "Whole", state={"n": 1}, idempotency_key="save")
    assert types_of(ada, task) == ["task_started", "task_updated", "task_resumed", "checkpoint_saved"]
    with ThreadPoolExecutor(8) as pool:
        twins = [pool.submit(ada.start_task, "Twins", idempotency_key="twins") for _ in range(8)]
        assert len({one.result().task_run_id for one in twins}) == 1


def test_runs_are_listed_by_state_page_by_page_the_newest_first(ada: Engram) -> None:
    made = [ada.start_task(f"Task {n}") for n in range(5)]
    ada.update_task(made[0].task_run_id, status="completed")
    ada.update_task(made[1].task_run_id, status="paused")
    first = ada.list_tasks(limit=2)
    second = ada.list_tasks(limit=2, cursor=first.cursor)
    third = ada.list_tasks(limit=2, cursor=second.cursor)
    shown = [task.goal for page in (first, second, third) for task in page]
    assert shown == [f"Task {n}" for n in (4, 3, 2, 1, 0)]
    assert third.cursor is None
    assert [task.goal for task in ada.list_tasks(status=["completed", "paused"])] == ["Task 1", "Task 0"]
    with pytest.raises(InvalidInput):
        ada.list_tasks(status=["done"])  # type: ignore[list-item]


def test_a_run_is_told_as_it_stood_at_a_moment(ada: Engram) -> None:
    before = datetime.now(UTC)
    task = ada.start_task("Paint the keel", metadata={"coats": 1})
    paused = ada.update_task(task.task_run_id, status="paused")
    ada.update_task(task.task_run_id, status="failed", outcome="No paint", metadata={"coats": 0})
    then = ada.get_task(task.task_run_id, known_at=paused.updated_at)
    assert (then.status, then.outcome, then.metadata, then.ended_at) == ("paused", None, {"coats": 1}, None)
    assert ada.get_task(task.task_run_id, as_of=task.started_at).status == "active"
    assert [one.status for one in ada.list_tasks(status=["paused"], known_at=paused.updated_at)] == ["paused"]
    assert ada.list_tasks(known_at=before).results == ()
    with pytest.raises(NotFound):
        ada.get_task(task.task_run_id, known_at=before)


def test_the_end_of_a_run_stays_when_the_same_state_is_told_again(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    ada.update_task(run, status="completed")
    task = ada.update_task(run, status="completed", outcome="It is red")
    assert task.ended_at != task.updated_at
    assert ada.get_task(run, known_at=datetime.now(UTC)) == task


def test_a_run_of_which_nothing_changed_since_is_as_it_stands_also_where_events_were_erased(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    told = ada.update_task(run, status="failed", outcome="Ada was ill")
    [event] = [one for one in ada.list_events(task_run_id=run) if one.event_type == "task_updated"]
    ada.ops.erase(events=[event.event_id])
    task = ada.get_task(run)
    assert (task.status, task.outcome) == ("failed", None)
    assert ada.get_task(run, known_at=datetime.now(UTC)) == task
    assert ada.get_task(run, known_at=told.updated_at).status == "failed"
    assert ada.list_tasks(status=["active"], known_at=datetime.now(UTC)).results == ()
    ada.update_task(run, outcome="It was the rain")
    then = ada.get_task(run, known_at=told.updated_at)
    assert (then.status, then.ended_at, then.outcome) == ("failed", told.ended_at, None), "a final state stays"
    assert ada.list_tasks(status=["active"], known_at=told.updated_at).results == ()


def test_a_checkpoint_rests_on_no_event_whose_words_are_gone(ada: Engram) -> None:
    run = ada.start_task("Paint the keel", metadata={"coats": 2}).task_run_id
    started = ada.list_events(task_run_id=run)[0].event_id
    ada.record_event("The brushes are clean", task_run_id=run, event_type="decision")
    ada.save_checkpoint(run, "Half")
    ada.ops.erase(events=[started])
    ada.ops.run_jobs(limit=20)  # what was lost is made again from what is left
    made = ada.list_checkpoints(run)[0]
    assert made.source_event_ids
    assert started not in made.source_event_ids
    again = ada.ops.erase(events=[started])
    assert again.clean
    assert not {"tasks", "events"} & set(again.erased)
    assert not ada.list_checkpoints(run)[0].erased


def test_the_key_of_a_change_is_refused_for_another_run(ada: Engram) -> None:
    one, other = (ada.start_task(goal).task_run_id for goal in ("Paint the keel", "Paint the deck"))
    ada.update_task(one, status="paused", idempotency_key="pause")
    ada.resume_task(one, idempotency_key="resume")
    ada.save_checkpoint(one, "Half", idempotency_key="save")
    ada.forget_task(one, idempotency_key="forget")
    ada.restore_task(one, idempotency_key="restore")
    for again in (
        lambda: ada.update_task(other, status="paused", idempotency_key="pause"),
        lambda: ada.resume_task(other, idempotency_key="resume"),
        lambda: ada.save_checkpoint(other, "Half", idempotency_key="save"),
        lambda: ada.forget_task(other, idempotency_key="forget"),
        lambda: ada.restore_task(other, idempotency_key="restore"),
    ):
        with pytest.raises(IdempotencyMismatch):
            again()
    assert ada.get_task(other).position == 1


def test_a_forgotten_run_is_hidden_with_its_events_and_checkpoints_until_it_is_restored(ada: Engram) -> None:
    task = ada.start_task("Paint the keel", session_id="s")
    run = task.task_run_id
    [event_id] = ada.record_event("The paint is blue", task_run_id=run, session_id="s").event_ids
    ada.record_event("The sea is green", session_id="s")
    ada.save_checkpoint(run, "Half painted")
    assert ada.forget_task(run).forgotten
    for call in (ada.get_task, ada.list_checkpoints, ada.resume_task, ada.forget_task):
        with pytest.raises(NotFound):
            call(run)
    for refused in (lambda: ada.update_task(run, status="failed"), lambda: ada.save_checkpoint(run, "x"),
                    lambda: ada.get_event(event_id), lambda: ada.build_context(task_run_id=run)):  # fmt: skip
        with pytest.raises(NotFound):
            refused()
    assert ada.list_tasks().results == ()
    assert [event.content for event in ada.list_events(session_id="s")] == ["The sea is green"]
    assert ada.list_events(task_run_id=run) == ada.list_events(stream_id=task.stream_id) == ()
    shown = repr([ada.list_events(), ada.build_context("paint"), ada.search("What is blue paint")])
    assert "paint is blue" not in shown
    assert ada.restore_task(run).forgotten is False
    assert ada.restore_task(run).forgotten is False
    assert ada.get_event(event_id).content == "The paint is blue"
    assert ada.list_checkpoints(run)[0].summary == "Half painted"
    assert ada.ops.verify_ledger().ok


def test_a_forgotten_run_takes_in_nothing_more(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    memory = ada.add("The keel is oak", task_run_id=run).memory
    receipt = ada.record_event("Sanded", task_run_id=run, idempotency_key="k")
    ada.forget_task(run)
    writes = (
        lambda **at: ada.record_event("zed", **at), lambda **at: ada.remember("zed", **at),
        lambda **at: ada.record_turn("zed", "yes", **at), lambda **at: ada.add("The mast is pine", **at),
        lambda **at: ada.add_many([{"fact": "The mast is pine"}], **at),
        lambda **at: ada.revise(memory.memory_id, "The keel is teak", **at),
        lambda **at: ada.reinforce(memory.memory_id, 0.1, **at),
        lambda **at: ada.record_long_input("The mast is pine. " * 50, **at),
    )  # fmt: skip
    for write in writes:
        for session in ({}, {"session_id": "s"}):
            with pytest.raises(NotFound, match="no task run"):
                write(task_run_id=run, **session)
    assert ada.stats().memories == 1
    again = ada.record_event("Sanded", task_run_id=run, idempotency_key="k")
    assert (again.event_ids, again.duplicate) == (receipt.event_ids, True), "what was taken in before is told again"
    ada.restore_task(run)
    assert [one.content for one in ada.list_events(task_run_id=run)] == [
        "Paint the keel", "The keel is oak", "Sanded", None, None,
    ]  # fmt: skip
    assert not ada.record_event("Primed", task_run_id=run).duplicate
    assert not ada.record_event("Of a run of one's own", task_run_id=UNKNOWN).duplicate


def test_a_forgotten_run_is_shown_as_it_was_known_before(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    [event_id] = ada.record_event("The paint is blue", task_run_id=run).event_ids
    saved = ada.save_checkpoint(run, "Half painted")
    then = datetime.now(UTC)

    def told(**past: Any) -> list[Any]:
        known = [ada.get_task(run, **past), ada.list_tasks(**past).results, ada.list_checkpoints(run, **past)]
        events = [ada.list_events(**past), ada.list_events(task_run_id=run, **past), ada.get_event(event_id, **past)]
        found = [one.event.event_id for one in ada.search_events("blue paint", **past)]
        cited = [one.citation.quote for one in ada.cite(event_id, **past)]
        context = ada.build_context(task_run_id=run, **past)
        resumed = ada.resume(**past)
        return [*known, *events, found, cited, "The paint is blue" in context.text, "Paint the keel" in resumed.text]

    before = told(known_at=then)
    assert before[0].task_run_id == run
    assert event_id in before[-4]
    assert before[2][0].checkpoint_id == saved.checkpoint_id
    assert before[-3:] == [["The paint is blue"], True, True]
    ada.forget_task(run)
    assert told(known_at=then) == before
    for past in ({}, {"as_of": then}, {"known_at": datetime.now(UTC)}):
        for read in (ada.get_task, ada.list_checkpoints):
            with pytest.raises(NotFound):
                read(run, **past)
        with pytest.raises(NotFound):
            ada.get_event(event_id, **past)
        with pytest.raises(NotFound):
            ada.build_context(task_run_id=run, **past)
        assert ada.list_tasks(**past).results == ada.list_events(task_run_id=run, **past) == ()


def test_what_a_run_holds_is_unknown_to_others(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    for other in (
        ada.scoped(user_id="bob"),
        ada.scoped(tenant_id=f"{ada.scope.tenant_id}-2"),
        ada.scoped(user_id=None),
    ):
        assert other.list_tasks().results == ()
        for call in (other.get_task, other.list_checkpoints, other.resume_task, other.forget_task, other.restore_task):
            with pytest.raises(NotFound):
                call(run)
        with pytest.raises(NotFound):
            other.start_task("Child", parent_task_id=run)


# Checkpoints ----------------------------------------------------------------------------------------------------------


def test_a_checkpoint_comes_back_as_it_was_saved(ada: Engram) -> None:
    task = ada.start_task("Paint the keel")
    run = task.task_run_id
    [event_id] = ada.record_event("Sanded it", task_run_id=run).event_ids
    state = {"coats": [1, 2.5, None, True], "näme": {"deep": ["ü", "\U0001f6f6"]}}
    saved = ada.save_checkpoint(
        run, "Half painted", completed_steps=["sand"], pending_steps=["paint", "dry"], decisions=["blue"],
        blockers=["rain"], artifacts=["plan.md"], state=state, source_event_ids=[event_id],
    )  # fmt: skip
    assert (saved.version, saved.position, saved.made_by, saved.erased) == (1, 2, "caller", False)
    assert (saved.state, saved.pending_steps, saved.source_event_ids) == (state, ("paint", "dry"), (event_id,))
    assert ada.list_checkpoints(run) == (saved,)
    [event] = ada.list_events(task_run_id=run, types=["checkpoint_saved"])
    assert event.payload == {
        "checkpoint_id": saved.checkpoint_id, "version": 1, "position": 2, "sha256": saved.sha256,
    }  # fmt: skip
    assert event.content is None
    assert ada.save_checkpoint(run, "Earlier", position=1).position == 1
    with pytest.raises(InvalidInput, match="position"):
        ada.save_checkpoint(run, "Later", position=99)
    with pytest.raises(NotFound):
        ada.save_checkpoint(run, "From nowhere", source_event_ids=[UNKNOWN])
    elsewhere = ada.scoped(user_id="bob").record_event("Mine").event_ids[0]
    with pytest.raises(NotFound):
        ada.save_checkpoint(run, "From elsewhere", source_event_ids=[elsewhere])
    assert [one.version for one in ada.list_checkpoints(run, known_at=saved.recorded_at)] == [1]


def test_a_checkpoint_is_refused_that_is_to_rest_on_what_was_erased(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    kept, gone = (ada.record_event(said, task_run_id=run).event_ids[0] for said in ("Sanded it", "Called Zanzibar"))
    saved = ada.save_checkpoint(run, "Half", source_event_ids=[gone], idempotency_key="k")
    ada.ops.erase(events=[gone])
    for key in ({}, {"idempotency_key": "new"}):
        with pytest.raises(Conflict, match="erased"):
            ada.save_checkpoint(run, "Half", source_event_ids=[kept, gone], **key)  # type: ignore[arg-type]
    again = ada.save_checkpoint(run, "Half", source_event_ids=[gone], idempotency_key="k")
    assert (again.checkpoint_id, again.erased) == (saved.checkpoint_id, True)
    assert ada.save_checkpoint(run, "Half", source_event_ids=[kept]).version == 2


def test_a_checkpoint_waits_for_an_erasure_of_what_it_is_to_rest_on(
    ada: Engram, superuser: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where that was said outside of the run, whose lock an erasure of it does not take."""
    run = ada.start_task("Paint the keel").task_run_id
    said = ada.record_event("Called Zanzibar").event_ids[0]
    erased, go = threading.Event(), threading.Event()
    original: Callable[..., Any] = checkpoints.erase_event

    def slowly(*given: Any) -> Any:
        done = original(*given)
        erased.set()
        assert go.wait(30)
        return done

    monkeypatch.setattr(checkpoints, "erase_event", slowly)
    with ThreadPoolExecutor(2) as pool:
        erasing = pool.submit(ada.ops.redact_event, said)
        assert erased.wait(30)
        saving = pool.submit(ada.save_checkpoint, run, "Half", source_event_ids=[said])
        until_a_lock_is_waited_for(superuser)
        go.set()
        assert erasing.result().clean
        with pytest.raises(Conflict, match="erased"):
            saving.result()


def test_the_key_of_a_checkpoint_is_refused_for_other_sources_and_another_position(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    one = ada.record_event("Sanded it", task_run_id=run).event_ids[0]
    saved = ada.save_checkpoint(run, "Half", source_event_ids=[one], idempotency_key="k")
    ada.record_event("Primed it", task_run_id=run)
    assert ada.save_checkpoint(run, "Half", source_event_ids=[one], idempotency_key="k") == saved
    assert ada.save_checkpoint(run, "Half", source_event_ids=[one], position=2, idempotency_key="k") == saved
    others: list[dict[str, Any]] = [{}, {"source_event_ids": [one], "position": 1}]
    for other in others:
        with pytest.raises(IdempotencyMismatch):
            ada.save_checkpoint(run, "Half", idempotency_key="k", **other)


def test_a_state_of_eight_mebibytes_is_kept_and_one_byte_more_is_refused(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    most = 8 << 20
    whole = {"x": "y" * (most - len('{"x":""}'))}
    assert ada.save_checkpoint(run, "Large", state=whole).state == whole
    with pytest.raises(LimitExceeded, match="state"):
        ada.save_checkpoint(run, "Too large", state={"x": whole["x"] + "y"})
    for bad in ({"x": object()}, {"x": float("nan")}, {1: 2}, [1]):
        with pytest.raises(InvalidInput, match="state"):
            ada.save_checkpoint(run, "Bad", state=bad)  # type: ignore[arg-type]


def test_thirty_two_savers_get_the_versions_from_one_to_thirty_two_each_once(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    start = threading.Barrier(32)

    def save(number: int) -> int:
        start.wait()
        return ada.save_checkpoint(run, f"Saver {number}").version

    with ThreadPoolExecutor(32) as pool:
        versions = list(pool.map(save, range(32)))
    assert sorted(versions) == list(range(1, 33))
    kept = ada.list_checkpoints(run, limit=50)
    assert [one.version for one in kept] == list(range(32, 0, -1))
    assert len({one.summary for one in kept}) == 32


def test_of_savers_that_expect_a_version_one_succeeds(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    start = threading.Barrier(8)

    def save(number: int) -> str:
        start.wait()
        try:
            return f"saved {ada.save_checkpoint(run, f'Saver {number}', expected_version=0).version}"
        except Conflict as error:
            return f"refused at {error.version}"

    with ThreadPoolExecutor(8) as pool:
        outcomes = sorted(pool.map(save, range(8)))
    assert outcomes == ["refused at 1"] * 7 + ["saved 1"]


def test_a_flipped_bit_in_any_byte_of_a_stored_checkpoint_is_refused(
    ada: Engram, superuser: psycopg.Connection[Any], tmp_path: Path
) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    ada.save_checkpoint(run, "Half", pending_steps=["dry"], state={"n": 1})
    where = "from engram.agent_checkpoints where task_run_id = %s"
    row = superuser.execute(f"select body, sha256 {where}", (run,)).fetchone()  # type: ignore[arg-type]
    assert row is not None
    body, sha256 = bytes(row[0]), bytes(row[1])
    assert hashlib.sha256(body).digest() == sha256

    def store(name: str, value: object) -> None:
        superuser.execute(
            f"update engram.agent_checkpoints set {name} = %s where task_run_id = %s",  # type: ignore[arg-type]
            (value, run),
        )

    refused = 0
    for place in range(len(body)):
        store("body", body[:place] + bytes([body[place] ^ (1 << place % 8)]) + body[place + 1 :])
        with pytest.raises(Damaged):
            ada.list_checkpoints(run)
        refused += 1
    assert refused == len(body) > 100
    with pytest.raises(Damaged):
        ada.resume_task(run)
    store("body", body[:-1])
    with pytest.raises(Damaged):
        ada.list_checkpoints(run)
    store("body", body)
    store("sha256", bytes([sha256[0] ^ 1]) + sha256[1:])
    with pytest.raises(Damaged):
        ada.list_checkpoints(run)
    store("sha256", sha256)
    store("version", 2)
    with pytest.raises(Damaged, match="where"):
        ada.list_checkpoints(run)
    store("version", 1)
    for other in (b"no json", body[:32] + b"[]", body[:-1]):
        store("body", other)
        with pytest.raises(Damaged):
            ada.ops.export(tmp_path / "ada.jsonl")
        store("sha256", hashlib.sha256(other).digest())
        with pytest.raises(Damaged):
            ada.list_checkpoints(run)
        with pytest.raises(Damaged):
            ada.ops.export(tmp_path / "ada.jsonl")
        store("sha256", sha256)
    store("body", body)
    assert ada.list_checkpoints(run)[0].state == {"n": 1}
    assert ada.ops.export(tmp_path / "ada.jsonl").counts["checkpoint"] == 1


# Resuming -------------------------------------------------------------------------------------------------------------


def test_resuming_gives_the_latest_checkpoint_and_what_happened_after_it(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    ada.record_event("Sanded", task_run_id=run)
    ada.save_checkpoint(run, "Sanded", state={"n": 1})
    ada.record_turn("And now?", "Painting.", task_run_id=run, tool_calls=[{"name": "brush", "result": "ok"}])
    ada.update_task(run, status="paused")
    back = ada.resume_task(run)
    assert (back.task.status, back.complete) == ("active", True)
    assert back.checkpoint is not None
    assert (back.checkpoint.summary, back.checkpoint.state) == ("Sanded", {"n": 1})
    assert [event.content for event in back.events] == ["And now?", "brush({})", "ok", "Painting."]
    assert ada.get_task(run) == back.task
    ada.update_task(run, status="cancelled")
    with pytest.raises(Conflict, match="cancelled"):
        ada.resume_task(run)


def test_what_a_user_says_of_a_run_of_the_agent_is_there_where_that_user_resumes_it(ada: Engram) -> None:
    """It stays in the ledger of the user, unknown to the agent and to others."""
    agent, bob = ada.scoped(Scope(ada.scope.tenant_id)), ada.scoped(user_id="bob")
    run = agent.start_task("Paint the boat").task_run_id
    ada.record_event("Before it", task_run_id=run)
    agent.record_event("Sanded", task_run_id=run)
    agent.save_checkpoint(run, "It is sanded")
    ada.record_event("Paint it blue", task_run_id=run)
    agent.record_event("Primed", task_run_id=run)
    bob.record_event("Paint it red", task_run_id=run)
    said = {
        "agent": ["Primed"],
        "ada": ["Paint it blue", "Primed"],
        "bob": ["Primed", "Paint it red"],
    }
    for name, door in (("agent", agent), ("ada", ada), ("bob", bob)):
        resumed = door.resume_task(run)
        assert ([event.content for event in resumed.events], resumed.complete) == (said[name], True)
        block = door.resume().text
        told = [one for one in ("Before it", "Paint it blue", "Primed", "Paint it red") if one in block]
        assert told == said[name]


def test_more_than_is_given_to_whoever_resumes_is_cut_to_the_newest(
    ada: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "MOST_EVENTS", 4)
    agent = ada.scoped(Scope(ada.scope.tenant_id))
    run = agent.start_task("Paint the boat").task_run_id
    for number in range(3):
        agent.record_event(f"Coat {number}", task_run_id=run)
        ada.record_event(f"Look {number}", task_run_id=run)
    resumed = ada.resume_task(run)
    assert [event.content for event in resumed.events] == ["Look 1", "Coat 2", "Look 2"]
    assert not resumed.complete


def test_of_two_workers_that_resume_from_one_position_the_second_is_stale(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    seen = ada.update_task(run, status="paused").position
    start = threading.Barrier(8)

    def resume(_: int) -> str:
        start.wait()
        try:
            return ada.resume_task(run, expected_position=seen).task.status
        except StaleStream as error:
            return f"stale at {error.actual}"

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(resume, range(8))) == ["active", *[f"stale at {seen + 1}"] * 7]


async def test_both_doors_do_the_same(database_url: str, tenant: str) -> None:
    async with AsyncEngram(database_url, scope=Scope(tenant), embedder="none") as door:
        task = await door.start_task("Paint the keel")
        await door.save_checkpoint(task.task_run_id, "Half", state={"n": 1})
        await door.update_task(task.task_run_id, status="paused")
        back = await door.resume_task(task.task_run_id, expected_position=3)
        assert back.checkpoint is not None
        assert (back.checkpoint.state, back.task.status) == ({"n": 1}, "active")
        assert [one.task_run_id for one in await door.list_tasks()] == [task.task_run_id]
        assert (await door.get_task(task.task_run_id)).position == 4
        await door.forget_task(task.task_run_id)
        assert (await door.restore_task(task.task_run_id)).goal == "Paint the keel"
        assert len(await door.list_checkpoints(task.task_run_id)) == 1


# Made by a job --------------------------------------------------------------------------------------------------------


def test_a_checkpoint_is_made_when_so_many_events_have_passed_and_not_each_turn(
    inline: Engram, superuser: psycopg.Connection[Any], tenant: str
) -> None:
    run = inline.start_task("Paint the keel").task_run_id
    made = []
    for number in range(1, 21):
        inline.record_event(f"Coat {number}", event_type="agent_action", task_run_id=run)
        made.append(len(inline.list_checkpoints(run, limit=50)))
    assert made[2] == 0
    assert made[-1] == 5, "one checkpoint every five events, its own among them"
    assert [state for state, _ in jobs_of(superuser, tenant)] == ["done"] * 5
    newest, *_ = inline.list_checkpoints(run)
    assert newest.made_by == "extractive"
    assert newest.completed_steps[-1] == f"Coat {len(newest.completed_steps)}"
    assert newest.completed_steps[0] == "Coat 1", "the steps of the earlier ones are carried on"
    assert newest.summary.startswith("Goal: Paint the keel\nState: active")


def test_a_checkpoint_is_made_when_much_was_said(inline: Engram) -> None:
    run = inline.start_task("Paint the keel").task_run_id
    inline.record_event("short", task_run_id=run)
    assert inline.list_checkpoints(run) == ()
    inline.record_event("long " * 1_000, task_run_id=run)
    assert len(inline.list_checkpoints(run)) == 1


def test_a_checkpoint_is_made_on_a_pause_and_at_the_end_where_something_happened(
    ada: Engram, superuser: psycopg.Connection[Any], tenant: str
) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    ada.save_checkpoint(run, "Nothing yet", state={"carried": True})
    ada.update_task(run, status="paused")
    ada.ops.run_jobs()
    assert len(ada.list_checkpoints(run)) == 1, "nothing happened since the last"
    ada.resume_task(run)
    ada.record_event("Blue it is", event_type="decision", task_run_id=run)
    ada.record_turn(
        "Go on", "Done", task_run_id=run, tool_calls=[{"name": "brush", "result": "ok"}, {"name": "dry"}],
        artifacts=[{"name": "plan.md", "content": "1. Paint"}],
    )  # fmt: skip
    ada.record_event("Out of paint", event_type="error", task_run_id=run)
    ada.update_task(run, status="failed", outcome="No paint left")
    assert jobs_of(superuser, tenant) == [("done", "paused"), ("queued", "failed")]
    ada.ops.run_jobs()
    made = ada.list_checkpoints(run)[0]
    assert (made.version, made.made_by, made.state) == (2, "extractive", {"carried": True})
    assert (made.completed_steps, made.pending_steps) == (("brush({}) → ok",), ("dry({})",))
    assert (made.decisions, made.blockers, made.artifacts) == (("Blue it is",), ("Out of paint",), ("plan.md",))
    assert made.trust == "tool", "as little as the least trusted of what it is made of"
    assert "Outcome: No paint left" in made.summary
    happened = {event.event_id for event in ada.list_events(task_run_id=run) if event.content}
    assert set(made.source_event_ids) <= happened | {event.event_id for event in ada.list_events(task_run_id=run)}
    assert ada.ops.run_jobs() == 0
    assert not [one for one in ada.list_memories() if "Goal:" in one.fact], "a checkpoint is no source of memories"


def test_a_job_whose_checkpoint_somebody_saved_meanwhile_makes_none(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    ada.record_event("Sanded", task_run_id=run)
    ada.update_task(run, status="paused")
    ada.save_checkpoint(run, "By hand")
    ada.ops.run_jobs()
    assert [one.summary for one in ada.list_checkpoints(run)] == ["By hand"]


def test_the_job_of_a_forgotten_run_makes_nothing_and_ends(
    ada: Engram, superuser: psycopg.Connection[Any], tenant: str
) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    ada.record_event("Sanded", task_run_id=run)
    ada.update_task(run, status="paused")
    ada.forget_task(run)
    ada.ops.run_jobs()
    assert jobs_of(superuser, tenant) == [("done", "paused")]
    ada.restore_task(run)
    assert ada.list_checkpoints(run) == ()


# Turns ----------------------------------------------------------------------------------------------------------------


def test_a_turn_is_one_transaction_whose_results_are_tied_to_their_calls(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    receipt = ada.record_turn(
        "Paint it", "Painted", task_run_id=run, artifacts=[{"name": "log", "content": "ok"}],
        tool_calls=[{"name": "a", "call_id": "call-1", "result": "1"}, {"name": "b", "result": "2"}, {"name": "c"}],
    )  # fmt: skip
    events = [ada.get_event(one) for one in receipt.event_ids]
    assert [event.position for event in events] == list(range(2, 10))
    assert [event.event_type for event in events] == [
        "user_message", "tool_call", "tool_result", "tool_call", "tool_result", "tool_call", "artifact",
        "assistant_message",
    ]  # fmt: skip
    assert [event.payload["call_id"] for event in events[1:6]] == ["call-1", "call-1", "call-2", "call-2", "call-3"]
    with pytest.raises(InvalidInput, match="call_id"):
        ada.record_turn("x", tool_calls=[{"name": "a", "call_id": "t"}, {"name": "b", "call_id": "t"}])
    with pytest.raises(InvalidInput):
        ada.record_turn("Nothing of this", "is kept", task_run_id=run, artifacts=[{"name": "log", "content": 1}])  # type: ignore[typeddict-item]
    assert ada.get_task(run).position == 9


def test_a_turn_keeps_what_came_back_empty_and_no_answer_that_says_nothing(ada: Engram) -> None:
    receipt = ada.record_turn(
        "List the files", "", tool_calls=[{"name": "ls", "arguments": {}, "result": ""}, {"name": "rm", "result": " "}],
        artifacts=[{"name": "__init__.py", "content": ""}],
    )  # fmt: skip
    events = [ada.get_event(one) for one in receipt.event_ids]
    assert [(event.event_type, event.content) for event in events] == [
        ("user_message", "List the files"), ("tool_call", "ls({})"), ("tool_result", "(no output)"),
        ("tool_call", "rm({})"), ("tool_result", "(no output)"), ("artifact", "(empty)"),
    ]  # fmt: skip


def test_what_is_wrong_with_a_result_is_said_of_the_result(ada: Engram) -> None:
    with pytest.raises(InvalidInput, match=r"tool_calls\[0\]\.result"):
        ada.record_turn("List the files", tool_calls=[{"name": "ls", "result": 1}])  # type: ignore[typeddict-item]
    with pytest.raises(InvalidInput, match="user_message"):
        ada.record_turn("", "Here they are")


def test_the_context_of_a_run_begins_with_its_goal_and_its_latest_checkpoint(ada: Engram) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    ada.record_event("Sanded it well", task_run_id=run)
    ada.record_event("Somewhere else", session_id="s")
    ada.save_checkpoint(run, "The keel is sanded", pending_steps=["paint"])
    for most in range(60, 400, 20):
        block = ada.build_context(task_run_id=run, max_tokens=most)
        assert block.tokens <= most
        assert "Sanded it" in block.text, "the newest event is always there"
    block = ada.build_context(task_run_id=run)
    assert "- Paint the keel\n- Status: active" in block.text
    assert "- The keel is sanded\n- Pending: paint" in block.text
    assert "Somewhere else" not in block.text
    assert block.trace is not None
    assert block.trace.query == "Paint the keel"
    with pytest.raises(NotFound):
        ada.build_context(task_run_id=UNKNOWN)
    with pytest.raises(InvalidInput):
        ada.build_context(task_run_id=run, session_id="s")


# Killed ---------------------------------------------------------------------------------------------------------------

WORKER = """
import sys
from datetime import timedelta
from engram import Engram, Scope
from engram.settings import load

patient = load({}, lock_timeout=timedelta(seconds=60))
with Engram(sys.argv[1], scope=Scope(sys.argv[2]), settings=patient, embedder="none") as door:
    print("ready", flush=True)
    door.ops.run_jobs()
"""


def test_a_worker_killed_inside_the_transaction_of_a_checkpoint_leaves_none_and_the_next_makes_one(
    ada: Engram, database_url: str, superuser: psycopg.Connection[Any], tenant: str
) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    ada.record_event("Sanded", event_type="agent_action", task_run_id=run)
    ada.update_task(run, status="paused")
    for _ in range(3):
        with superuser.transaction():  # whoever writes a checkpoint waits here, having taken the job and its fence
            superuser.execute("select from engram.agent_task_runs where task_run_id = %s for update", (run,))
            worker = subprocess.Popen(
                [sys.executable, "-c", WORKER, database_url, tenant], stdout=subprocess.PIPE, text=True
            )
            try:
                wait_until(lambda: waiting_for_a_lock(superuser) == 1)
            finally:
                worker.kill()
                worker.wait()
                assert worker.stdout is not None
                worker.stdout.close()
            wait_until(lambda: waiting_for_a_lock(superuser) in (0, 1))
        assert ada.list_checkpoints(run) == ()
        superuser.execute(
            "update engram.memory_jobs set lease_until = now() - interval '1 s', crashes = 0"
            " where tenant_id = %s and state = 'running'",
            (tenant,),
        )
        assert ada._run(running.rescue(ada._setup)) == 1
        superuser.execute(
            "update engram.memory_jobs set run_at = now(), attempt = 0 where tenant_id = %s and state = 'queued'",
            (tenant,),
        )
    assert ada.ops.run_jobs() == 1
    [made] = ada.list_checkpoints(run)
    assert made.completed_steps == ("Sanded",)
    assert types_of(ada, ada.get_task(run)).count("checkpoint_saved") == 1
    assert jobs_of(superuser, tenant) == [("done", "paused")]
    assert ada.ops.verify_ledger().ok


def waiting_for_a_lock(conn: psycopg.Connection[Any]) -> int:
    conn.execute("select pg_stat_clear_snapshot()")
    row = conn.execute(
        "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%agent_task_runs%'"
        " and pid <> pg_backend_pid()"
    ).fetchone()
    return int(row[0]) if row else 0


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    pytest.fail("it did not come to that")


class Clumsy:
    """A model that saves a checkpoint by hand while it thinks of another, and then answers."""

    name = "clumsy"

    def __init__(self, save: Callable[[], object]) -> None:
        self.save = save
        self.calls = 0

    def complete(self, messages: Any, *, schema: Any, max_tokens: int, deadline: float) -> Completion:
        self.calls += 1
        if self.calls == 1:
            self.save()
        said = {"summary": "Sanded, says the model", **{name: [] for name in checkpoints.LISTS}, "decisions": ["Blue"]}
        return Completion(json.dumps(said), self.name, 1, 1, 0, None, "stop")


def test_a_model_writes_the_checkpoint_where_there_is_one_and_gives_way_to_whoever_saved_meanwhile(
    ada: Engram, database_url: str, tenant: str
) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    ada.record_event("Sanded", event_type="agent_action", task_run_id=run)
    ada.update_task(run, status="paused")

    def save() -> None:
        ada.save_checkpoint(run, "By hand", position=1, state={"n": 1})

    model = Clumsy(save)
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), llm=model, embedder="none") as door:
        assert door.ops.run_jobs() == 1
    made, by_hand = ada.list_checkpoints(run)
    assert by_hand.summary == "By hand"
    assert (made.version, made.summary, made.decisions) == (2, "Sanded, says the model", ("Blue",))
    assert (made.made_by, made.state) == ("clumsy", {"n": 1}), "the state of the one before is carried on"
    assert len(made.source_event_ids) == 2


def test_a_model_that_answers_nonsense_or_nothing_keeps_nobody_from_resuming(
    ada: Engram, database_url: str, tenant: str
) -> None:
    run = ada.start_task("Paint the keel").task_run_id
    ada.record_event("Sanded", event_type="agent_action", task_run_id=run)
    ada.update_task(run, status="paused")

    class Mute(Clumsy):
        def complete(self, messages: Any, *, schema: Any, max_tokens: int, deadline: float) -> Completion:
            return Completion("I'd rather not", self.name, 1, 1, 0, None, "stop")

    with Engram(database_url, scope=Scope(tenant, user_id="ada"), llm=Mute(lambda: None), embedder="none") as door:
        assert door.ops.run_jobs() == 1
    [made] = ada.list_checkpoints(run)
    assert (made.made_by, made.completed_steps) == ("extractive", ("Sanded",))
