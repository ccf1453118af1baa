"""Export and import of Engram's own: a story leaves a database and comes back somewhere else as it was."""

from __future__ import annotations

import asyncio
import hashlib
import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from quiet import quiet

from engram import (
    ALL_USERS,
    AsyncEngram,
    Conflict,
    Engram,
    Filter,
    IdempotencyMismatch,
    InvalidInput,
    Scope,
    ids,
    inputs,
)
from engram.channels import keyword
from engram.database import Database
from engram.embedded import EmbeddedServer
from engram.lifecycle.deeds import NEW
from engram.operations import living, restoring
from engram.portable import own
from engram.settings import load

HANDBOOK: Final = "\n\n".join(
    f"# Beacon {number}\n\n" + f"The keeper must polish beacon {number} before the tide turns. — {'🛰️' * 20}\r\n" * 4
    for number in range(5)
)
CHUNKS: Final = Filter(categories=("source_chunk",))
EVERY: Final = {"statuses": ["active", "superseded", "contested", "archived", "deleted", "quarantined"]}


def tell(door: Engram) -> dict[str, str]:
    """A story with everything an export has to carry; what its memories and events are called."""
    ada, bob = door.scoped(user_id="ada"), door.scoped(user_id="bob")
    names: dict[str, str] = {}
    # A conversation with a summary, derived by rules.
    with ada.session("talk") as talk:
        talk.remember("I live in Lyon.", occurred_at=datetime(2024, 3, 1, tzinfo=UTC))
        talk.remember("I moved to Ottawa.", occurred_at=datetime(2025, 5, 1, tzinfo=UTC))
    ada.end_session("talk", summary="Ada told where she lives.")
    # Direct changes: superseded, contested, ended, forgotten, restored, rated by saying again.
    tea = ada.add("Ada drinks tea", topic_key="drink", tags=["kitchen"], metadata={"cups": 3, "warm": 0.1})
    ada.add("Ada drinks coffee", topic_key="drink")
    ada.add("Ada drinks petrol", topic_key="drink", trust="web")
    gone = ada.add("Ada has a cat called Miez")
    ada.forget(gone.memory.memory_id)
    once = ada.add("Ada works at the harbour", valid_from=datetime(2023, 1, 1, tzinfo=UTC))
    ada.end_validity(once.memory.memory_id, datetime(2024, 1, 1, tzinfo=UTC))
    plan = ada.add("The plan is Ærø, 東京 and 🛰️\nin two lines", main_content="She said:\r\n“there”")
    ada.add("The plan is Ærø, 東京 and 🛰️\nin two lines", main_content="She said:\r\n“there”")
    # An event that was erased, and the memory made of it.
    lost = ada.remember("My locker code is 4711.", session_id="secrets")
    ada.ops.redact_event(lost.event_ids[0])
    # Private rows, and another user.
    names["private"] = ada.add("Ada is looking for another job", private=True).memory.memory_id
    names["private_event"] = ada.get(names["private"]).event_id
    bob.add("Bob is the cook")
    agent = door.add("The agent answers in French")
    # Relations, one of them taken back, and one that changed.
    ada.relate(plan.memory.memory_id, tea.memory.memory_id, "related_to", weight=0.25, metadata={"why": "both"})
    ada.relate(plan.memory.memory_id, tea.memory.memory_id, "related_to", weight=0.75)
    ada.relate(plan.memory.memory_id, agent.memory.memory_id, "depends_on")
    ada.unrelate(plan.memory.memory_id, agent.memory.memory_id, "depends_on")
    # A task with a part and checkpoints.
    task = ada.start_task("Paint the boat", metadata={"boat": "Miez II"})
    ada.start_task("Buy paint", parent_task_id=task.task_run_id)
    ada.record_event("Sanded the hull", role="agent", task_run_id=task.task_run_id)
    ada.save_checkpoint(
        task.task_run_id, "Hull is sanded", completed_steps=["sand"], pending_steps=["paint"], state={"n": [1, 2]}
    )
    ada.save_checkpoint(task.task_run_id, "Paint is there", pending_steps=["paint"])
    ada.update_task(task.task_run_id, status="paused")
    # A document, in parts and chunks, on a shelf.
    names["document"] = ada.record_long_input(
        HANDBOOK, title="Handbook", max_chunk_tokens=80, wait=True
    ).manifest_event_id
    # Read, so that something was counted.
    ada.search("What does Ada drink?")
    names["event"] = lost.event_ids[0]
    names["plan"] = plan.memory.memory_id
    return names


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]], *, vectors: bool = False) -> Path:
    """An export of some lines, with the counts and the hash that go with them."""
    with path.open("wb") as file:
        writer = own.Writer(file, tenant="t", vectors=vectors)
        for line in lines:
            writer.put(line["kind"], line)
        writer.end()
    return path


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def body_of(path: Path) -> str:
    """The hash of what an export holds beside the name of its tenant, which stands in its first line."""
    return hashlib.sha256(b"\n".join(path.read_bytes().split(b"\n")[1:-2])).hexdigest()


@pytest.fixture
def open_door(database_url: str) -> Iterator[Callable[..., Engram]]:
    made: list[Engram] = []

    def open_(tenant: str, url: str = database_url, **ids: Any) -> Engram:
        made.append(quiet(Engram(url, scope=Scope(tenant, **ids))))
        return made[-1]

    yield open_
    for one in made:
        one.close()


@pytest.fixture(scope="module")
def told(database_url: str) -> Iterator[tuple[Engram, dict[str, str]]]:
    """The door to a story that is told once for all tests; who changes what is told adds and takes nothing away."""
    with quiet(Engram(database_url, scope=Scope(f"t-{uuid.uuid4().hex[:16]}"))) as door:
        yield door, tell(door)


def sorted_chunks(chunks: Iterable[Any]) -> list[Any]:
    """Chunks in the order of their text."""
    return sorted(chunks, key=lambda one: one["metadata"]["char_start"])


def everything(door: Engram, **read: Any) -> list[Any]:
    """Every memory a door shows, whole."""
    read = {"filter": EVERY, **read}
    found = door.list_memories(limit=200, user_id="ada", **read)
    return sorted(
        (one.to_dict() | {"scope": None, "embedded": None} for one in found), key=lambda one: one["memory_id"]
    )


def test_what_is_exported_comes_back_as_it_was_in_an_empty_database_byte_for_byte(
    told: tuple[Engram, dict[str, str]],
    open_door: Callable[..., Engram],
    migrated_database_url: str,
    tmp_path: Path,
) -> None:
    door, _ = told
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    ada = door.scoped(user_id="ada")
    assert ada.ops.consolidate().steps
    ada.ops.archive([ada.add("The heron is grey").memory.memory_id])  # type: ignore[union-attr]
    out = ada.ops.export(first)
    other = open_door(door.scope.tenant_id, migrated_database_url, user_id="ada")
    back = other.ops.import_(first)
    again = other.ops.export(second)
    assert first.read_bytes() == second.read_bytes()
    assert out.sha256 == again.sha256
    assert {kind: back.counts[kind] for kind in out.counts} == out.counts
    assert set(out.counts) == set(own.KINDS) - {"vector"}
    assert back.problems == ()
    report = other.ops.verify_ledger()
    assert report.ok
    assert report.erased == 1


def test_a_document_comes_back_with_its_chunks_its_shelf_and_its_citations(
    told: tuple[Engram, dict[str, str]], open_door: Callable[..., Engram], tenant: str, tmp_path: Path
) -> None:
    door, names = told
    ada = door.scoped(user_id="ada")
    ada.ops.export(tmp_path / "a.jsonl")
    assert [line["shelf_of"] is None for line in lines_of(tmp_path / "a.jsonl") if line["kind"] == "scope"] == [
        True,
        True,
        False,
    ]
    other = open_door(tenant, user_id="ada")
    other.ops.import_(tmp_path / "a.jsonl")
    before, after = everything(ada, filter=CHUNKS), everything(other, filter=CHUNKS)
    assert len(before) > 4
    assert after == before
    assert "".join(other.get_event(part["event_id"]).content or "" for part in sorted_chunks(after)) == HANDBOOK
    assert not [one for one in other.list_memories(limit=200) if one.category == "source_chunk"]
    found = other.build_long_input_context("Who must polish beacon 3?", source_event_id=names["document"])
    assert "beacon 3" in found.text
    again = other.record_long_input(HANDBOOK, title="Handbook", max_chunk_tokens=80, wait=True)
    assert again.duplicate
    assert everything(other, filter=CHUNKS) == before


def test_what_comes_back_has_its_lineages_its_times_its_ids_and_its_history(
    told: tuple[Engram, dict[str, str]], open_door: Callable[..., Engram], tenant: str, tmp_path: Path
) -> None:
    door, names = told
    ada = door.scoped(user_id="ada")
    ada.ops.export(tmp_path / "a.jsonl")
    other = open_door(tenant, user_id="ada")
    other.ops.import_(tmp_path / "a.jsonl")
    assert everything(other) == everything(ada)
    before = datetime(2024, 6, 1, tzinfo=UTC)
    assert "Lyon" in other.recall("Where do I live?", as_of=before).answer_text
    assert "Ottawa" in other.recall("Where do I live?").answer_text
    for read in (ada, other):
        assert [one.entry for one in read.get_history(names["plan"])] == ["reinforced", "added"]
    assert [one.content for one in other.list_events(session_id="talk")] == [
        one.content for one in ada.list_events(session_id="talk")
    ]
    assert other.get_session("talk").summary == "Ada told where she lives."
    erased = other.get_event(names["event"])
    assert (erased.erased, erased.content) == (True, None)
    [run] = [one for one in other.list_tasks() if one.goal == "Paint the boat"]
    assert [(one.version, one.summary) for one in other.list_checkpoints(run.task_run_id)] == [
        (2, "Paint is there"),
        (1, "Hull is sanded"),
    ]
    [related] = other.list_relations(names["plan"])
    assert related.weight == 0.75
    moment = ada.list_relations(names["plan"])[0].recorded_at
    assert [one.weight for one in other.list_relations(names["plan"], known_at=moment)] == [0.25]
    assert other.explain_memory(names["plan"]).citations[0].quote is not None


def test_what_was_imported_is_found_by_its_words_and_once_it_is_embedded_by_its_meaning(
    told: tuple[Engram, dict[str, str]], open_door: Callable[..., Engram], tenant: str, tmp_path: Path
) -> None:
    door, _ = told
    door.scoped(user_id="ada").ops.export(tmp_path / "a.jsonl")
    other = open_door(tenant, user_id="ada")
    other.ops.import_(tmp_path / "a.jsonl")
    assert other.search("coffee", mode="keyword")[0].memory.fact == "Ada drinks coffee"
    assert not other.search("coffee", mode="semantic").results
    while other.ops.run_jobs():
        pass
    assert other.search("What does Ada drink?", mode="semantic")[0].memory.fact == "Ada drinks coffee"


def test_vectors_travel_where_the_model_is_the_same(
    told: tuple[Engram, dict[str, str]], open_door: Callable[..., Engram], tenant: str, tmp_path: Path
) -> None:
    door, _ = told
    out = door.scoped(user_id="ada").ops.export(tmp_path / "a.jsonl", vectors=True)
    other = open_door(tenant, user_id="ada")
    back = other.ops.import_(tmp_path / "a.jsonl")
    assert back.counts["vector"] == out.counts["vector"] > 0
    assert other.search("What does Ada drink?", mode="semantic")[0].memory.fact == "Ada drinks coffee"
    other.ops.export(tmp_path / "b.jsonl", vectors=True)
    assert body_of(tmp_path / "a.jsonl") == body_of(tmp_path / "b.jsonl")


def test_an_export_that_is_imported_again_adds_nothing(
    told: tuple[Engram, dict[str, str]], open_door: Callable[..., Engram], tenant: str, tmp_path: Path
) -> None:
    door, _ = told
    door.scoped(user_id="ada").ops.export(tmp_path / "a.jsonl")
    other = open_door(tenant, user_id="ada")
    other.ops.import_(tmp_path / "a.jsonl")
    other.add("Ada has moved on")
    stats = other.stats()
    again = other.ops.import_(tmp_path / "a.jsonl")
    assert again.counts == {"known": 3}
    assert other.stats() == stats


def test_a_scope_in_which_runs_alone_were_comes_back_twice(
    open_door: Callable[..., Engram], database_url: str, tenant: str, tmp_path: Path
) -> None:
    with Engram(database_url, scope=Scope(f"t-{uuid.uuid4()}")) as door:
        door.add("The agent answers in French")
        door.ops.prune(user_id="bob")  # nothing was ever written there
        door.ops.export(tmp_path / "one.jsonl", user_id=ALL_USERS)
    other = open_door(tenant)
    assert other.ops.import_(tmp_path / "one.jsonl").counts["run"] == 1
    again = other.ops.import_(tmp_path / "one.jsonl").counts
    assert (again["known"], again["run"]) == (1, 0)
    assert len(other.ops.list_runs(user_id="bob").results) == 1


def test_an_export_does_not_come_back_into_a_scope_that_holds_something_else(
    told: tuple[Engram, dict[str, str]], open_door: Callable[..., Engram], tenant: str, tmp_path: Path
) -> None:
    door, _ = told
    door.scoped(user_id="ada").ops.export(tmp_path / "a.jsonl")
    other = open_door(tenant, user_id="ada")
    other.add("Ada was here before")
    before = other.stats()
    with pytest.raises(Conflict):
        other.ops.import_(tmp_path / "a.jsonl")
    assert replace(other.stats(), size_bytes=0) == replace(before, size_bytes=0)  # the size is of the whole database
    assert open_door(tenant).stats().events == 0


def test_an_export_is_known_only_where_its_memories_say_the_same(
    told: tuple[Engram, dict[str, str]], open_door: Callable[..., Engram], tenant: str, tmp_path: Path
) -> None:
    door, names = told
    door.scoped(user_id="ada").ops.export(tmp_path / "a.jsonl")
    lines = lines_of(tmp_path / "a.jsonl")[1:-1]
    other = open_door(tenant, user_id="ada")
    other.ops.import_(tmp_path / "a.jsonl")
    for changes in ({"fact": "The plan is void"}, {"main_content": None}, {"recorded_at": "2020-01-01T00:00:00+00:00"}):
        changed = [line | changes if _is_memory(line, names["plan"]) else line for line in lines]
        with pytest.raises(Conflict):
            other.ops.import_(write_lines(tmp_path / "b.jsonl", changed))
    # What happens to a memory here makes the file no other.
    other.ops.redact_event(other.get(names["plan"]).event_id)
    other.add("Ada drinks water", topic_key="drink")
    other.forget(names["private"])
    assert other.ops.import_(tmp_path / "a.jsonl").counts == {"known": 3}
    assert other.get(names["plan"]).fact == ""


def _is_memory(line: Mapping[str, Any], memory_id: str) -> bool:
    return bool(line["kind"] == "memory" and line["memory_id"] == memory_id)


def test_what_is_here_already_is_not_related_to_by_a_file(
    told: tuple[Engram, dict[str, str]], open_door: Callable[..., Engram], tenant: str, tmp_path: Path
) -> None:
    door, names = told
    door.ops.export(tmp_path / "agent.jsonl")
    other = open_door(tenant)
    other.ops.import_(tmp_path / "agent.jsonl")
    out = door.scoped(user_id="ada").ops.export(tmp_path / "a.jsonl")
    back = other.ops.import_(tmp_path / "a.jsonl")
    assert back.counts["known"] == 1
    assert (back.counts["relation"], back.counts["relation_left_out"]) == (out.counts["relation"] - 1, 1)
    ada = other.scoped(user_id="ada")
    assert [one.relation_type for one in ada.list_relations(names["plan"])] == ["related_to"]


def test_an_import_that_is_rehearsed_leaves_nothing(
    told: tuple[Engram, dict[str, str]], open_door: Callable[..., Engram], tenant: str, tmp_path: Path
) -> None:
    door, _ = told
    out = door.scoped(user_id="ada").ops.export(tmp_path / "a.jsonl")
    other = open_door(tenant, user_id="ada")
    rehearsed = other.ops.import_(tmp_path / "a.jsonl", dry_run=True)
    assert rehearsed.dry_run
    assert rehearsed.counts["memory"] == out.counts["memory"]
    assert other.stats().events == 0
    assert other.ops.import_(tmp_path / "a.jsonl").counts["memory"] == out.counts["memory"]


@pytest.mark.parametrize("error", [KeyError, TypeError, ValueError, AttributeError, RuntimeError])
def test_what_the_function_that_is_told_of_progress_raises_is_no_fault_of_the_file(
    told: tuple[Engram, dict[str, str]], open_door: Callable[..., Engram], tmp_path: Path, error: type[Exception]
) -> None:
    source, _ = told
    source.ops.export(tmp_path / "out.jsonl", user_id="ada")
    there = open_door(f"t-{uuid.uuid4().hex[:16]}")

    def broken(_: Any) -> None:
        raise error("the screen is on fire")

    with pytest.raises(error, match="the screen is on fire"):
        there.ops.import_(tmp_path / "out.jsonl", progress=broken)
    assert there.list_events(user_id=ALL_USERS) == ()
    assert there.ops.import_(tmp_path / "out.jsonl").counts["memory"]


def test_a_function_of_progress_that_is_awaited_is_refused_before_anything_is_done(
    told: tuple[Engram, dict[str, str]], tmp_path: Path
) -> None:
    """It would be called and never run."""
    ada, path = told[0].scoped(user_id="ada"), tmp_path / "out.jsonl"
    path.touch()

    async def tell(*_: Any) -> None: ...

    calls: tuple[Callable[[Any], Any], ...] = (
        lambda tell: ada.ops.export(path, progress=tell),
        lambda tell: ada.ops.import_(path, progress=tell),
        lambda tell: ada.ops.replay(progress=tell),
        lambda tell: ada.ops.reindex_words("simple", progress=tell),
        lambda tell: ada.record_long_input(HANDBOOK, progress=tell),
    )
    for call in calls:
        with pytest.raises(InvalidInput, match="to be awaited"):
            call(tell)
    assert path.read_bytes() == b""


async def test_an_export_that_is_cancelled_anywhere_leaves_no_file_and_no_word(
    told: tuple[Engram, dict[str, str]], database_url: str, tmp_path: Path,
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """A cursor of the driver's own was closed again by the pool, which told of it in a traceback."""
    left, answer = 0, psycopg.AsyncConnection.wait

    async def wait(*args: Any, **kwargs: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            task.cancel()
        return await answer(*args, **kwargs)

    async with AsyncEngram(database_url) as opened:
        ada = opened.scoped(told[0].scope, user_id="ada")
        await ada.ops.export(tmp_path / "whole.jsonl")
        monkeypatch.setattr(psycopg.AsyncConnection, "wait", wait)
        for place in range(1, 200):
            left, task = place, asyncio.create_task(ada.ops.export(tmp_path / "cut.jsonl"))
            with suppress(asyncio.CancelledError):
                await task
            if (tmp_path / "cut.jsonl").exists():  # the commit alone was left
                break
            assert [path.name for path in tmp_path.iterdir()] == ["whole.jsonl"]
        assert place > 20
        assert caplog.records == []
    assert (tmp_path / "cut.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_an_export_is_refused_before_anything_is_written_when_it_is_damaged_or_crafted(
    told: tuple[Engram, dict[str, str]], open_door: Callable[..., Engram], tenant: str, tmp_path: Path
) -> None:
    door, _ = told
    path = tmp_path / "a.jsonl"
    door.scoped(user_id="ada").ops.export(path)
    whole = path.read_bytes()
    other = open_door(tenant, user_id="ada")

    def crafted(kind: str, **changes: Any) -> bytes:
        """The file with other values in the lines of a kind, and the hash and counts that go with them."""
        lines = lines_of(path)
        with (tmp_path / "crafted.jsonl").open("wb") as file:
            writer = own.Writer(file, tenant="t", vectors=False)
            for line in lines[1:-1]:
                writer.put(line["kind"], line | changes if line["kind"] == kind else line)
            writer.end()
        return (tmp_path / "crafted.jsonl").read_bytes()

    damaged = {
        "flipped": whole[: len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 1]) + whole[len(whole) // 2 + 1 :],
        "cut off": whole[: len(whole) // 2],
        "another version": whole.replace(b'"version":1', b'"version":9', 1),
        "another payload": crafted("event", body={"content": "I never said that", "payload": {}, "metadata": {}}),
        "a payload erased without a redaction": crafted("event", body=None, salt=None),
        "from the future": crafted("event", recorded_at=(datetime.now(UTC) + timedelta(days=1)).isoformat()),
        "an unknown scope": crafted("memory", scope=99),
        "no list": crafted("memory", sources=7),
        "another checkpoint": crafted("checkpoint", body={"summary": "never"}),
        "a time that is none": crafted("memory", valid_from="no time"),
        "a time before all times": crafted("task", started_at="-infinity"),
        "no object": crafted("change", state=[7]),
        "a decision about nothing": crafted("change", decision={"kind": "add"}),
        "a decision about no id": crafted("change", decision={"kind": "add", "nearest": [], "memory_id": "it"}),
        "a text PostgreSQL cannot hold": crafted("stream", name="a\x00b"),
        "no name": crafted("stream", name=7),
        "a list in the place of a text": crafted("event", actor=["ada"]),
        "lists in lists": crafted("memory", tags=[[[[[[["a"]]]]]]]),
    }
    for what, data in damaged.items():
        path.write_bytes(data)
        with pytest.raises(InvalidInput):
            other.ops.import_(path, format="engram")
        assert other.stats().events == other.stats().memories == 0, what


def test_a_file_that_names_another_tenant_comes_to_the_callers_and_never_to_that_one(
    told: tuple[Engram, dict[str, str]], open_door: Callable[..., Engram], tenant: str, tmp_path: Path
) -> None:
    door, _ = told
    before = door.ops.export(tmp_path / "before.jsonl", user_id=ALL_USERS)
    door.scoped(user_id="ada").ops.export(tmp_path / "a.jsonl")
    assert lines_of(tmp_path / "a.jsonl")[0]["tenant"] == door.scope.tenant_id
    other = open_door(tenant, user_id="ada")
    other.ops.import_(tmp_path / "a.jsonl")
    assert other.stats().memories > 0
    assert door.ops.export(tmp_path / "after.jsonl", user_id=ALL_USERS).sha256 == before.sha256
    with pytest.raises(InvalidInput):
        other.ops.import_(tmp_path / "a.jsonl", user_id="eve")


def test_no_tenant_reaches_the_ledger_of_another_by_the_functions_of_an_import(
    told: tuple[Engram, dict[str, str]], database: Database, tenant: str
) -> None:
    door, _ = told
    [stream_id] = {event.stream_id for event in door.list_events(user_id="bob", roles=["user"])} - {
        event.stream_id for event in door.list_events()
    }
    scope_id = "(SELECT scope_id FROM engram.memory_scopes LIMIT 1)"
    nothing = ", ".join(["'{}'"] * 14)
    call = f"SELECT engram.import_events({scope_id}, %s::uuid, 2, {nothing}, NULL, NULL)"
    with pytest.raises(Exception, match="no such stream"), database.transaction(tenant) as conn:
        conn.exec_driver_sql(call, (stream_id,))
    with (
        pytest.raises(Exception, match=r"permission denied|append-only"),
        database.transaction(door.scope.tenant_id) as conn,
    ):
        conn.exec_driver_sql("UPDATE engram.agent_events SET trust = 0")


def test_an_event_is_imported_only_into_a_stream_that_came_with_it(
    told: tuple[Engram, dict[str, str]], database: Database
) -> None:
    door, _ = told
    stream_id = door.list_events(user_id="bob")[0].stream_id
    row = "(SELECT {} FROM engram.event_streams WHERE stream_id = %(stream)s::uuid)"
    nothing = ", ".join(["'{}'"] * 14)
    call = (
        f"SELECT engram.import_events({row.format('scope_id')}, %(stream)s::uuid, {row.format('position + 1')}, "
        f"{nothing}, NULL, NULL)"
    )
    with (
        pytest.raises(Exception, match="no such stream"),
        database.transaction(door.scope.tenant_id) as conn,
    ):
        conn.exec_driver_sql(call, {"stream": stream_id})


def test_an_event_is_imported_only_behind_the_head_of_its_stream_and_before_now(
    told: tuple[Engram, dict[str, str]], open_door: Callable[..., Engram], tenant: str, tmp_path: Path
) -> None:
    door, _ = told
    door.scoped(user_id="ada").ops.export(tmp_path / "a.jsonl")
    lines = lines_of(tmp_path / "a.jsonl")
    events = [line for line in lines if line["kind"] == "event"]
    long = next(one["stream_id"] for one in events if one["position"] == 3)
    backwards = {
        one["event_id"]: "2020-01-01T00:00:00+00:00"
        for one in events
        if one["stream_id"] == long and one["position"] == 3
    }
    with (tmp_path / "b.jsonl").open("wb") as file:
        writer = own.Writer(file, tenant="t", vectors=False)
        for line in lines[1:-1]:
            at = backwards.get(line.get("event_id")) if line["kind"] == "event" else None
            writer.put(line["kind"], line | ({"recorded_at": at} if at else {}))
        writer.end()
    other = open_door(tenant, user_id="ada")
    with pytest.raises(InvalidInput):
        other.ops.import_(tmp_path / "b.jsonl")
    assert other.stats().events == 0


def test_an_export_of_every_user_shows_no_private_row_of_any(
    told: tuple[Engram, dict[str, str]], open_door: Callable[..., Engram], tenant: str, tmp_path: Path
) -> None:
    door, names = told
    path = tmp_path / "all.jsonl"
    out = door.ops.export(path, user_id=ALL_USERS)
    assert b"another job" not in path.read_bytes()
    assert names["private"] not in {line.get("memory_id") for line in lines_of(path)}
    assert out.left_out["events"] == 1
    [held] = [
        line for line in lines_of(path) if line.get("event_id") == names["private_event"] and line["kind"] == "event"
    ]
    assert held["body"] == {"content": None, "metadata": {}, "payload": {"withheld": "private"}}
    other = open_door(tenant)
    other.ops.import_(path)
    assert other.ops.verify_ledger(user_id=ALL_USERS).ok
    assert {one.fact for one in other.list_memories(user_id="bob")} >= {"Bob is the cook"}
    other.ops.export(tmp_path / "again.jsonl", user_id=ALL_USERS)
    assert body_of(path) == body_of(tmp_path / "again.jsonl")


def test_what_is_withheld_is_no_problem_of_a_replay_where_it_was_imported(
    open_door: Callable[..., Engram], database_url: str, tenant: str, tmp_path: Path
) -> None:
    with Engram(database_url, scope=Scope(f"t-{uuid.uuid4()}")) as door:
        job, cake = door.add("User looks for a job", private=True).memory, door.add("User likes cake").memory
        door.relate(job.memory_id, cake.memory_id, "causes")
        door.unrelate(job.memory_id, cake.memory_id, "causes")
        door.revise(job.memory_id, "User looks for two jobs")
        door.endorse(job.memory_id, "operator")
        door.feedback([job.memory_id, cake.memory_id], -1)
        door.ops.undo(door.ops.archive([job.memory_id, cake.memory_id]).run_id)
        door.ops.export(tmp_path / "all.jsonl", user_id=ALL_USERS)
    other = open_door(tenant)
    other.ops.import_(tmp_path / "all.jsonl")
    replayed = other.ops.replay()
    assert (replayed.problems, replayed.is_same, replayed.same) == ((), True, 1)
    before = other.get(cake.memory_id)
    other.ops.switch_replay(replayed.shadow_id)
    assert replace(other.get(cake.memory_id), embedded=before.embedded) == before


def test_an_export_of_a_user_is_everything_of_that_user_and_of_nobody_else(
    told: tuple[Engram, dict[str, str]], tmp_path: Path
) -> None:
    door, names = told
    door.scoped(user_id="ada", namespace="work").add("Ada welds")
    door.ops.export(tmp_path / "ada.jsonl", user="ada")
    lines = lines_of(tmp_path / "ada.jsonl")
    assert {(line["namespace"], line["user_id"]) for line in lines if line["kind"] == "scope"} == {
        ("default", "ada"),
        ("work", "ada"),
    }
    facts = {line["fact"] for line in lines if line["kind"] == "memory"}
    assert "Ada welds" in facts
    assert "Ada is looking for another job" in facts
    assert not facts & {"Bob is the cook", "The agent answers in French"}
    assert names["private"] in {line.get("memory_id") for line in lines}


def test_erased_words_are_nowhere_in_an_export(told: tuple[Engram, dict[str, str]], tmp_path: Path) -> None:
    door, _ = told
    for format in ("jsonl", "markdown", "csv"):
        door.scoped(user_id="ada").ops.export(tmp_path / "out", format=format)  # type: ignore[arg-type]
        assert "locker code" not in (tmp_path / "out").read_text(encoding="utf-8")


def test_an_export_sees_one_moment_and_a_failed_one_leaves_no_file(
    told: tuple[Engram, dict[str, str]], tmp_path: Path
) -> None:
    door, _ = told
    ada = door.scoped(user_id="ada")
    ada.ops.export(tmp_path / "before.jsonl")
    ada.ops.export(tmp_path / "meanwhile.jsonl", progress=lambda told: told.kind == "stream" and ada.add("Ada came in"))
    assert (tmp_path / "meanwhile.jsonl").read_bytes() == (tmp_path / "before.jsonl").read_bytes()
    ada.ops.export(tmp_path / "after.jsonl")
    assert b"Ada came in" in (tmp_path / "after.jsonl").read_bytes()

    def broken(_: Any) -> None:
        raise RuntimeError("the disk is on fire")

    with pytest.raises(RuntimeError):
        ada.ops.export(tmp_path / "after.jsonl", progress=broken)
    assert b"Ada came in" in (tmp_path / "after.jsonl").read_bytes()
    assert {one.name for one in tmp_path.iterdir()} == {"before.jsonl", "meanwhile.jsonl", "after.jsonl"}


def test_what_still_waits_to_be_derived_waits_where_it_came_to(
    database_url: str, open_door: Callable[..., Engram], tenant: str, tmp_path: Path
) -> None:
    with quiet(Engram(database_url, scope=Scope(tenant), settings=load({}, dispatch="doorbell"))) as later:
        later.remember("I live in Lyon.", wait=False)
        later.ops.export(tmp_path / "a.jsonl")
    other = open_door(f"{tenant}-b")
    other.ops.import_(tmp_path / "a.jsonl")
    assert other.ops.backlog()
    while other.ops.run_jobs():
        pass
    assert "Lyon" in other.recall("Where do I live?").answer_text


async def test_both_doors_carry_the_same(
    told: tuple[Engram, dict[str, str]], database_url: str, tenant: str, tmp_path: Path
) -> None:
    door, _ = told
    door.scoped(user_id="ada").ops.export(tmp_path / "a.jsonl")
    async with quiet(AsyncEngram(database_url, scope=Scope(door.scope.tenant_id, user_id="ada"))) as awaited:
        await awaited.ops.export(tmp_path / "b.jsonl")
        assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
        back = await awaited.scoped(tenant_id=tenant).ops.import_(tmp_path / "a.jsonl")
        assert back.counts["memory"] > 0


def test_an_event_that_was_changed_behind_the_ledgers_back_is_not_exported(
    open_door: Callable[..., Engram], server: EmbeddedServer, tenant: str, tmp_path: Path
) -> None:
    door = open_door(tenant)
    door.add("Ada drinks tea")
    plain = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(plain) as conn:
        conn.execute("SET session_replication_role = replica")
        conn.execute(
            "UPDATE engram.agent_event_payloads SET body = %s WHERE tenant_id = %s", (b'{"content":"lie"}', tenant)
        )
    with pytest.raises(Conflict):
        door.ops.export(tmp_path / "a.jsonl")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- files that name what is not theirs


@pytest.fixture(scope="module")
def crowd(
    told: tuple[Engram, dict[str, str]], database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Engram, dict[str, Any], list[dict[str, Any]]]]:
    """A tenant in which Vic lives, the ids of what is Vic's, and the lines of an export from another tenant."""
    folder = tmp_path_factory.mktemp("crowd")
    ada = told[0].scoped(user_id="ada")
    ada.ops.archive([ada.add("The tern is white").memory.memory_id])
    ada.ops.export(folder / "a.jsonl", vectors=True)
    with quiet(Engram(database_url, scope=Scope(f"t-{uuid.uuid4().hex[:16]}", user_id="vic"))) as vic:
        task = vic.start_task("Sail home")
        vic.save_checkpoint(task.task_run_id, "Anchor is up")
        held, heir = vic.add("Vic sails").memory, vic.add("Vic is seasick").memory
        event = vic.get_event(held.event_id)
        ids = {
            "run": task.task_run_id,
            "stream": event.stream_id,
            "position": vic.get_event(heir.event_id).position,
            "event": event.event_id,
            "memory": held.memory_id,
            "other memory": heir.memory_id,
            "lineage": held.lineage_id,
        }
        yield vic, ids, lines_of(folder / "a.jsonl")[1:-1]


def sealed(line: dict[str, Any]) -> dict[str, Any]:
    """A checkpoint whose body says where it stands and whose hash is that of its body."""
    body = line["body"] | {"task_run_id": line["task_run_id"], "version": line["version"]}
    said = inputs.canonical_json(body)
    return line | {"body": body, "sha256": hashlib.sha256(bytes.fromhex(line["salt"]) + said).hexdigest()}


NAMED: Final[Mapping[str, tuple[str, Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]]]] = {
    "the run of an event": ("event", lambda line, vic: {"task_run_id": vic["run"]}),
    "the stream of a session": ("session", lambda line, vic: {"stream_id": vic["stream"]}),
    "the stream of a run": ("task", lambda line, vic: {"stream_id": vic["stream"]}),
    "the event of a run": ("task", lambda line, vic: {"event_id": vic["event"]}),
    "the event of an outcome": ("task", lambda line, vic: {"outcome_event_id": vic["event"]}),
    "the event of metadata": ("task", lambda line, vic: {"metadata_event_id": vic["event"]}),
    "the run of a checkpoint": (
        "checkpoint",
        lambda line, vic: sealed(line | {"task_run_id": vic["run"], "version": 2, "trust": 0}),
    ),
    "the run in what a checkpoint says": (
        "checkpoint",
        lambda line, vic: sealed(line | {"task_run_id": vic["run"]}) | {"task_run_id": line["task_run_id"]},
    ),
    "the stream of a checkpoint": ("checkpoint", lambda line, vic: {"stream_id": vic["stream"]}),
    "the event of a checkpoint": ("checkpoint", lambda line, vic: {"event_id": vic["event"]}),
    "what a checkpoint rests on": ("checkpoint", lambda line, vic: {"source_event_ids": [vic["event"]]}),
    "the event of a memory": ("memory", lambda line, vic: {"event_id": vic["event"]}),
    "the latest statement of a memory": ("memory", lambda line, vic: {"stands_event_id": vic["event"]}),
    "the citation of a memory": (
        "memory",
        lambda line, vic: {"sources": [line["sources"][0] | {"event_id": vic["event"], "ordinal": 9}]},
    ),
    "the heir of a memory": ("memory", lambda line, vic: {"superseded_by": vic["memory"]}),
    "what a memory went into": ("memory", lambda line, vic: {"consolidated_into": vic["memory"]}),
    "the lineage of a memory": (
        "memory",
        lambda line, vic: {"lineage_id": vic["lineage"], "revision": 9, "status": "archived"},
    ),
    "the run of a memory": ("memory", lambda line, vic: {"task_run_id": vic["run"]}),
    "the event of a run of the life cycle": ("run", lambda line, vic: {"tied": [vic["event"]]}),
    "the memory of a change": ("change", lambda line, vic: {"memory_id": vic["memory"], "reason": "FORGED"}),
    "the memory before a change": ("change", lambda line, vic: {"previous_id": vic["memory"]}),
    "the event of a change": ("change", lambda line, vic: {"event_id": vic["event"]}),
    "both ends of a relation": (
        "relation",
        lambda line, vic: {
            "source_id": vic["memory"],
            "target_id": vic["other memory"],
            "relation_type": "contradicts",
        },
    ),
    "the source of a relation": ("relation", lambda line, vic: {"source_id": vic["memory"]}),
    "the target of a relation": ("relation", lambda line, vic: {"target_id": vic["memory"]}),
    "the event of a relation": ("relation", lambda line, vic: {"event_id": vic["event"]}),
    "the event of a state of a relation": (
        "relation",
        lambda line, vic: {"history": [line["history"][0] | {"event_id": vic["event"]}]},
    ),
    "the memory of a vector": ("vector", lambda line, vic: {"memory_id": vic["memory"]}),
}


@pytest.mark.parametrize("what", NAMED)
def test_a_file_has_no_say_over_what_it_did_not_bring(
    what: str, crowd: tuple[Engram, dict[str, Any], list[dict[str, Any]]], tmp_path: Path
) -> None:
    vic, ids, lines = crowd
    kind, changes = NAMED[what]
    place = next(place for place, line in enumerate(lines) if line["kind"] == kind)
    crafted = [*lines[:place], lines[place] | changes(lines[place], ids), *lines[place + 1 :]]
    before = vic.ops.export(tmp_path / "before.jsonl", user_id=ALL_USERS, vectors=True)
    with pytest.raises(InvalidInput):
        vic.scoped(user_id="eve").ops.import_(write_lines(tmp_path / "a.jsonl", crafted, vectors=True))
    assert vic.ops.export(tmp_path / "after.jsonl", user_id=ALL_USERS, vectors=True).sha256 == before.sha256


def test_a_file_adds_no_event_to_a_stream_it_did_not_bring(
    crowd: tuple[Engram, dict[str, Any], list[dict[str, Any]]], tmp_path: Path
) -> None:
    vic, ids, lines = crowd
    last = max(place for place, line in enumerate(lines) if line["kind"] == "event")
    forged = lines[last] | {
        "event_id": str(uuid.uuid4()),
        "stream_id": ids["stream"],
        "position": ids["position"] + 1,
        "idempotency_key": None,
        "recorded_at": datetime.now(UTC).isoformat(),
    }
    before = vic.ops.export(tmp_path / "before.jsonl", user_id=ALL_USERS)
    with pytest.raises(InvalidInput):
        vic.scoped(user_id="eve").ops.import_(
            write_lines(tmp_path / "a.jsonl", [*lines[: last + 1], forged, *lines[last + 1 :]])
        )
    assert vic.ops.export(tmp_path / "after.jsonl", user_id=ALL_USERS).sha256 == before.sha256


def test_a_key_of_the_life_cycle_stands_for_the_same_run_wherever_its_scope_has_moved(
    open_door: Callable[..., Engram], tmp_path: Path
) -> None:
    ada = open_door(f"t-{uuid.uuid4().hex[:16]}", user_id="ada")
    facts = ["The kettle is red.", "The boat is fast.", "Bees sting.", "The oak is old.", "Ada sails on Sundays."]
    kettle, boat, bees, oak, sails = (decision.memory.memory_id for decision in map(ada.add, facts))  # type: ignore[union-attr]
    away = ada.ops.archive([kettle], idempotency_key="k").run_id

    def told(door: Engram) -> list[Any]:
        key: Any = {"idempotency_key": "k"}
        return [
            door.ops.set_layer(boat, "core", **key).run_id,
            door.merge([oak, sails], "The oak is old, and Ada sails on Sundays.", **key).run_id,
            door.ops.prune("normal", **key).run_id,
            door.ops.merge_similar(**key).run_id,
            door.ops.consolidate_summaries(**key).run_id,
            door.ops.audit(apply=True, **key).run.run_id,  # type: ignore[union-attr]
            door.ops.consolidate(**key).run_id,
            door.ops.rebuild_topics(**key).run_id,
            door.ops.undo(away, **key).run_id,
            [one.confidence for one in door.feedback([bees], 1, **key)],
        ]

    runs = told(ada)
    ada.ops.export(tmp_path / "out.jsonl")
    bob = open_door(f"t-{uuid.uuid4().hex[:16]}")
    bob.scoped(user_id="bob").add("Bob is the cook")  # so that the scope has another number here
    moved = bob.scoped(user_id="ada")
    moved.ops.import_(tmp_path / "out.jsonl")
    before = everything(moved)
    assert told(moved) == runs
    assert moved.ops.archive([kettle], idempotency_key="k").run_id == away
    assert everything(moved) == before
    with pytest.raises(IdempotencyMismatch):
        moved.feedback([bees], -1, idempotency_key="k")
    with pytest.raises(IdempotencyMismatch):
        moved.ops.archive([bees], idempotency_key="k")
    other = moved.scoped(user_id="bob")  # whose key it is not
    eggs = other.add("Bob boils eggs", force=True).memory.memory_id  # type: ignore[union-attr]
    assert other.ops.archive([eggs], idempotency_key="k").run_id != away


def test_what_a_run_did_to_relations_alone_is_shown_and_taken_back_wherever_its_scope_has_moved(
    open_door: Callable[..., Engram], tmp_path: Path
) -> None:
    ada = open_door(f"t-{uuid.uuid4().hex[:16]}", user_id="ada")
    lark, boat = (ada.add(fact).memory.memory_id for fact in ("The Lark is a boat.", "Ada has a boat."))  # type: ignore[union-attr]
    ada.relate(lark, boat, "is_a")
    [event] = [one for one in ada.list_events() if one.event_type == "relation_added"]
    run = ada.ops.undo(event.event_id).run_id
    ada.ops.export(tmp_path / "out.jsonl")
    moved = open_door(f"t-{uuid.uuid4().hex[:16]}", user_id="ada")
    moved.ops.import_(tmp_path / "out.jsonl")
    assert moved.ops.list_runs().results == ada.ops.list_runs().results
    assert moved.ops.undo(run).undone == ada.ops.undo(run).undone != ()
    assert moved.list_relations(lark) == ada.list_relations(lark) != ()


def test_a_run_whose_id_came_of_the_number_of_its_scope_is_still_known_by_its_key(
    open_door: Callable[..., Engram], monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = open_door(f"t-{uuid.uuid4().hex[:16]}", user_id="ada")
    kettle = ada.add("The kettle is red.").memory.memory_id  # type: ignore[union-attr]

    def numbered(_: Any, scope: Scope, scope_id: int, step: str, key: str) -> str:
        return ids.id_of(NEW, scope.tenant_id, scope_id, step, key)

    with monkeypatch.context() as once:
        once.setattr(living, "run_of", numbered)
        run = ada.ops.archive([kettle], idempotency_key="k")
    assert ada.ops.archive([kettle], idempotency_key="k").run_id == run.run_id
    assert len(ada.ops.list_runs()) == 1


def test_the_words_of_an_import_are_written_once_each_and_read_from_no_list_in_the_database(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked for batch by batch, what has no words yet read all that had some by then: of a large import for hours."""
    tenant = f"t-{uuid.uuid4().hex[:12]}"
    with Engram(database_url, scope=Scope(tenant), settings=load({}), embedder="none") as door:
        door.add_many([{"fact": f"Shelf {number} holds {7 * number} jars"} for number in range(220)])
        gone = door.add("Shelf 999 is on fire")
        door.ops.redact_event(gone.event_id)
        door.ops.export(tmp_path / "shelves.jsonl")
    written: list[str] = []
    asked: list[str] = []
    fetched, reindexed = restoring.fetch_all, keyword.reindex

    def fetching(conn: Any, name: str, /, **params: Any) -> Any:
        asked.append(name)
        return fetched(conn, name, **params)

    def indexing(conn: Any, memory_ids: Sequence[str], **params: Any) -> int:
        written.extend(memory_ids)
        return reindexed(conn, memory_ids, **params)

    monkeypatch.setattr(restoring, "fetch_all", fetching)
    monkeypatch.setattr(keyword, "reindex", indexing)
    monkeypatch.setattr(restoring, "BATCH", 50)
    with Engram(database_url, scope=Scope(f"{tenant}-new"), settings=load({}), embedder="none") as other:
        other.ops.import_(tmp_path / "shelves.jsonl")
        [found] = other.search("219", mode="keyword")
        assert found.memory.fact == "Shelf 219 holds 1533 jars"
    assert len(written) == len(set(written)) == 220
    assert [name for name in set(asked) if asked.count(name) > 1] == []
