"""Long inputs: kept to the character, cut into chunks that can be cited, recorded once whatever breaks off."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from quiet import quiet
from traces import tables_with

from engram import (
    ALL_USERS,
    Conflict,
    Engram,
    Filter,
    IdempotencyMismatch,
    InvalidInput,
    LimitExceeded,
    NotFound,
    Scope,
)
from engram.embedded import EmbeddedServer
from engram.longinput import reading, store
from engram.operations import recording
from engram.testing import ScriptedModel
from engram.values import LongInputProgress, LongInputReport

CHUNKS = Filter(categories=("source_chunk",))
RECORD = Path(__file__).parent / "record_in_a_process.py"
WORDS = (
    "anchor", "beacon", "cargo", "dredger", "estuary", "ferry", "galley", "harbour", "islet", "jetty", "keel", "lagoon",
    "mooring", "nautical", "oar", "pilot", "quay", "rudder", "sextant", "tide", "upwind", "vessel", "wharf", "yawl",
)  # fmt: skip
SAMPLES = {
    "text": "INTRODUCTION\n\nThe harbour opens at six.\r\nBoats wait.\n\nSection 2\n\nNobody may anchor here. " * 20,
    "markdown": "# Ports\n\nSome text.\n\n## Rules\n\n- Boats wait.\n\n```python\nx = 1\n```\n\n" * 20,
    "code": "import os\n\n\nclass Port:\n    def open(self):\n        pass\n\n\ndef end(port):\n    pass\n" * 30,
    "diff": "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-old\n+new\n context\n" * 30,
    "jsonl": "".join(json.dumps({"id": n, "said": f"boat {n}"}) + "\n" for n in range(200)),
}  # fmt: skip


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with quiet(Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada"))) as door:
        yield door


def book(paragraphs: int, seed: int = 7, words: int = 40) -> str:
    """A text in which no two paragraphs are alike, each about a chunk of its own."""
    chosen = random.Random(seed)
    said = []
    for number in range(paragraphs):
        note = " ".join(chosen.choice(WORDS) for _ in range(words))
        said.append(f"## Chapter {number}\n\nNote {number}: {note}.\n\n")
    return "".join(said)


def parts_of(door: Engram, report: LongInputReport) -> str:
    return "".join(door.get_event(event_id).content or "" for event_id in report.source_event_ids)


# What is kept --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Ahoy\r\nthere\rand\nhere\u2028\x0b.\r\n", id="line ends"),
        pytest.param("e\u0301 n\u0303 \u1100\u1161 \u212b \ufb01 Cafe\u0301", id="not normalised"),
        pytest.param("\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001d54f \U00010348 \U0010fffd", id="astral"),
        pytest.param("\ufeffmark first \u202e back \x01\x1f", id="marks and controls"),
    ],
)
def test_the_parts_joined_are_the_text_to_the_character(ada: Engram, text: str) -> None:
    report = ada.record_long_input(text, derive="skip")
    assert parts_of(ada, report) == text
    assert (report.chars, report.sha256) == (len(text), hashlib.sha256(text.encode()).hexdigest())
    assert "".join(chunk.text or "" for chunk in report.chunks) == text


def test_a_part_may_end_inside_a_word_and_fits_into_an_event_whatever_its_script(ada: Engram) -> None:
    text = "unbroken" * 70_000 + "\u6d77" * 350_000 + "\x01" * 170_000
    report = ada.record_long_input(text, derive="skip", max_chunk_tokens=2_000)
    parts = [ada.get_event(event_id) for event_id in report.source_event_ids]
    assert "".join(part.content or "" for part in parts) == text
    assert len(parts) > 3
    assert all(len(part.content or "") <= 500_000 for part in parts)
    assert [part.payload["char_start"] for part in parts[1:]] == [part.payload["char_end"] for part in parts[:-1]]


@pytest.mark.parametrize("media", SAMPLES)
def test_every_chunk_is_its_span_of_the_text_with_its_hash(ada: Engram, media: Any) -> None:
    text = SAMPLES[media]
    report = ada.record_long_input(text, media=media, max_chunk_tokens=100, derive="skip")
    assert len(report.chunks) > 3
    ends = 0
    for chunk in report.chunks:
        assert chunk.char_start == ends
        ends = chunk.char_end
        said = text[chunk.char_start : chunk.char_end]
        event = ada.get_event(chunk.event_id)
        assert event.content == chunk.text == said
        assert chunk.quote_hash == hashlib.sha256(said.encode()).hexdigest() == event.payload["quote_hash"]
        assert (event.payload["char_start"], event.payload["char_end"]) == (chunk.char_start, chunk.char_end)
        assert (event.event_type, event.trust, event.payload["kind"]) == ("artifact", "document", chunk.kind)
        memory = ada.get(chunk.chunk_id)
        assert (memory.fact, memory.category, memory.layer) == (said, "source_chunk", "working")
        assert ada.verify_citation(memory.citations[0]) == "verified"
        assert ada.verify_citation(chunk) == ada.verify_citation(chunk.to_dict()) == "verified"
        assert ada.verify_citation(chunk.to_dict() | {"char_end": chunk.char_end - 1}) == "changed"
    assert ends == len(text)


def test_the_manifest_stands_with_the_task_and_says_what_was_recorded(ada: Engram) -> None:
    run = ada.start_task("Read the rules").task_run_id
    report = ada.record_long_input(
        SAMPLES["markdown"], title="Rules\nof the port", media="markdown", task_run_id=run, metadata={"shelf": 3}
    )
    manifest = ada.get_event(report.manifest_event_id)
    assert manifest.task_run_id == run
    assert manifest.payload["title"] == "Rules of the port"
    assert manifest.payload["chunks"] == len(report.chunks)
    assert (manifest.payload["chars"], manifest.payload["sha256"]) == (report.chars, report.sha256)
    assert manifest.payload["parts"] == len(report.source_event_ids)
    assert manifest.metadata == {"shelf": 3}
    assert manifest.event_id in {event.event_id for event in ada.list_events(task_run_id=run)}


def test_a_file_is_read_as_the_text_it_holds(ada: Engram, tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    text = book(40).replace("\n", "\r\n")
    path.write_bytes(text.encode())
    report = ada.record_long_input(path, derive="skip")
    assert parts_of(ada, report) == text
    assert ada.get_event(report.manifest_event_id).payload["title"] == "log.txt"
    assert ada.record_long_input(text, derive="skip").duplicate


def test_offsets_and_hash_are_those_of_a_file_that_begins_with_a_byte_order_mark(ada: Engram, tmp_path: Path) -> None:
    path = tmp_path / "ports.md"
    path.write_text(book(5), encoding="utf-8-sig")
    report = ada.record_long_input(path, media="markdown", derive="skip")
    assert report.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    text = path.read_text(encoding="utf-8")
    assert [text[chunk.char_start : chunk.char_end] for chunk in report.chunks] == [c.text for c in report.chunks]
    assert report.chunks[0].heading == "Chapter 0"


def test_progress_is_told_from_none_to_all(ada: Engram) -> None:
    told: list[Any] = []
    report = ada.record_long_input(book(250), derive="skip", progress=told.append)
    shares = [one.share for one in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert {one.step for one in told} == {"measuring", "storing", "cutting", "done"}
    assert told[-1].chunks == len(report.chunks)


def test_a_dry_run_says_what_would_be_and_keeps_nothing(ada: Engram) -> None:
    text = book(20)
    rehearsed = ada.record_long_input(text, dry_run=True)
    assert ada.stats().events == 0
    real = ada.record_long_input(text, derive="skip")
    assert [c.text for c in rehearsed.chunks] == [c.text for c in real.chunks]
    assert not real.duplicate
    assert not rehearsed.duplicate


def test_a_dry_run_of_a_text_that_is_there_or_refused_says_so(ada: Engram) -> None:
    text = book(2)
    ada.record_long_input(text, derive="skip", idempotency_key="k")
    run = ada.start_task("Read it").task_run_id
    ada.forget_task(run)
    before = ada.stats().events
    assert ada.record_long_input(text, dry_run=True).duplicate
    with pytest.raises(IdempotencyMismatch):
        ada.record_long_input("Another text.", idempotency_key="k", dry_run=True)
    with pytest.raises(NotFound):
        ada.record_long_input("Another text.", task_run_id=run, dry_run=True)
    assert ada.stats().events == before


# Once ----------------------------------------------------------------------------------------------------------------


def test_the_same_text_is_recorded_once_a_stream(ada: Engram) -> None:
    text = book(30)
    first = ada.record_long_input(text, title="One", derive="skip")
    before = ada.stats()
    again = ada.record_long_input(text, title="Two", max_chunk_tokens=50, derive="skip")
    assert again.duplicate
    assert (again.manifest_event_id, again.source_event_ids) == (first.manifest_event_id, first.source_event_ids)
    assert again.chunks == first.chunks
    assert ada.stats() == before
    elsewhere = ada.record_long_input(text, session_id="s", derive="skip")
    assert not elsewhere.duplicate
    assert {c.event_id for c in elsewhere.chunks}.isdisjoint(c.event_id for c in first.chunks)


def test_a_document_that_came_with_an_import_reports_the_chunks_that_are_there(
    ada: Engram, database_url: str, tenant: str, tmp_path: Path
) -> None:
    first = ada.record_long_input(book(10), max_chunk_tokens=100, derive="skip")
    ada.ops.export(tmp_path / "all.jsonl")
    with quiet(Engram(database_url, scope=Scope(tenant_id=f"{tenant}-b", user_id="ada"))) as other:
        other.ops.import_(tmp_path / "all.jsonl")
        again = other.record_long_input(book(10), derive="skip")
        assert again.duplicate
        assert again.chunks == first.chunks
        assert other.get(again.chunks[-1].chunk_id).fact == again.chunks[-1].text
        held = {one.memory_id for one in other.list_memories(filter=CHUNKS, limit=200)}
        assert held == {chunk.chunk_id for chunk in again.chunks}


def test_a_key_that_stands_for_another_event_is_refused(ada: Engram) -> None:
    ada.remember("Hello there", idempotency_key="k")
    with pytest.raises(IdempotencyMismatch):
        ada.record_long_input(book(3), idempotency_key="k", derive="skip")
    assert ada.list_memories(filter=CHUNKS).results == ()
    first = ada.record_long_input(book(3), idempotency_key="own", derive="skip")
    assert (
        ada.record_long_input(book(3), idempotency_key="own", derive="skip").manifest_event_id
        == first.manifest_event_id
    )
    with pytest.raises(IdempotencyMismatch):
        ada.record_long_input(book(4), idempotency_key="own", derive="skip")


def test_what_a_failure_left_behind_is_taken_up_with_the_settings_it_began_with(
    ada: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = book(300)
    made = recording._shelved
    calls: list[int] = []

    def breaks(*given: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("the machine is gone")
        return made(*given)

    with monkeypatch.context() as patch:
        patch.setattr(recording, "_shelved", breaks)
        with pytest.raises(RuntimeError):
            ada.record_long_input(text, title="One", max_chunk_tokens=120, derive="skip")
    kept = {event.event_id for event in _events(ada)}
    assert kept
    report = ada.record_long_input(text, title="Two", max_chunk_tokens=700, derive="skip")
    whole = [text[c.char_start : c.char_end] for c in report.chunks]
    assert "".join(whole) == text
    assert max(c.tokens for c in report.chunks) <= 120
    assert ada.get_event(report.manifest_event_id).payload["title"] == "One"
    assert not report.duplicate
    _assert_whole(ada, report)


@pytest.mark.parametrize("before", ["_stored", "_cut"])
@pytest.mark.parametrize("becomes", ["another of the same length", "longer", "shorter"])
def test_a_file_that_changes_while_it_is_recorded_is_refused_and_goes_on_once_it_is_as_it_was(
    ada: Engram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, becomes: str
) -> None:
    path = tmp_path / "log.txt"
    text = book(20)
    other = {"another of the same length": text.replace("oar", "rao"), "longer": text + ".", "shorter": text[:-1]}
    assert other[becomes] != text
    path.write_text(text, encoding="utf-8")

    step = getattr(recording, before)

    def changes(*given: Any) -> Any:
        path.write_text(other[becomes], encoding="utf-8")
        return step(*given)

    with monkeypatch.context() as patch:
        patch.setattr(recording, before, changes)
        with pytest.raises(Conflict, match="changed"):
            ada.record_long_input(path, derive="skip")
    path.write_text(text, encoding="utf-8")
    report = ada.record_long_input(path, derive="skip")
    assert parts_of(ada, report) == text
    assert [ada.get_event(chunk.event_id).content for chunk in report.chunks] == [c.text for c in report.chunks]


def _events(door: Engram) -> list[Any]:
    """All events of the only document there is."""
    found = door.list_memories(filter=CHUNKS, limit=1).results
    stream = found[0].metadata["document"]
    events: list[Any] = []
    while page := door.list_events(stream_id=stream, after=events[-1].position if events else 0, limit=200):
        events.extend(page)
    return events


def _assert_whole(door: Engram, report: LongInputReport) -> None:
    """Every part and chunk is there, once."""
    events = _events(door)
    ids = [event.event_id for event in events]
    assert len(set(ids)) == len(ids)
    assert set(ids) == {*report.source_event_ids, *(chunk.event_id for chunk in report.chunks)}
    memories: list[Any] = []
    page = door.list_memories(filter=CHUNKS, limit=200)
    memories.extend(page.results)
    while page.cursor is not None:
        page = door.list_memories(filter=CHUNKS, limit=200, cursor=page.cursor)
        memories.extend(page.results)
    assert sorted(memory.memory_id for memory in memories) == sorted(chunk.chunk_id for chunk in report.chunks)
    assert all(memory.embedded for memory in memories)


def killed_and_resumed(url: str, tenant: str, path: Path, kills: int, seed: int) -> dict[str, Any]:
    """What the last of several processes reports, each but it killed at some moment of its work; the most any held."""
    chosen = random.Random(seed)
    peaks = [_killed(url, tenant, path, "skip", chosen.uniform(0.06, 0.95))[1] for _ in range(kills)]
    told, peak = _killed(url, tenant, path, "skip", None)
    return {**told, "rss_mb": max(*peaks, peak)}


def _killed(
    url: str, tenant: str, path: Path, derive: str, stop: float | None, ready: Callable[[], bool] = lambda: True
) -> tuple[dict[str, Any], float]:
    """The last word of a process, killed once it has come to a share of its work and is ready; the MB it held."""
    command = [sys.executable, str(RECORD), url, tenant, str(path), derive]
    told: dict[str, Any] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:  # it tells its progress, so that the kill comes at a share of the work
            told = json.loads(line)
            if stop is not None and told.get("share", 0) >= stop:
                break
        if stop is not None:
            while not ready():
                assert process.poll() is None
            process.send_signal(signal.SIGKILL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == (0 if stop is None else -signal.SIGKILL)
    return told, usage.ru_maxrss / 1024


def test_a_recording_killed_at_random_moments_and_resumed_is_whole(
    database_url: str, tenant: str, ada: Engram, tmp_path: Path
) -> None:
    path = tmp_path / "book.md"
    text = book(200, words=360)
    path.write_bytes(text.encode())
    assert len(text) > 450_000
    told = killed_and_resumed(database_url, tenant, path, kills=3, seed=11)
    report = ada.record_long_input(path, derive="skip")
    assert report.duplicate
    assert told["sha256"] == report.sha256
    assert told["chunks"] == [chunk.event_id for chunk in report.chunks]
    assert parts_of(ada, report) == text
    _assert_whole(ada, report)


def test_a_recording_killed_while_it_cuts_and_while_it_derives_gives_every_fact_once(
    database_url: str, tenant: str, ada: Engram, server: EmbeddedServer, tmp_path: Path
) -> None:
    path = tmp_path / "rules.txt"
    chosen = random.Random(3)
    rules = (f"The supplier must deliver the {' '.join(chosen.sample(WORDS, 6))} on day {n}." for n in range(120))
    path.write_text("".join(f"Section {n}\n\n{rule}\n\n" for n, rule in enumerate(rules)), encoding="utf-8")
    for stop, ready in ((0.5, lambda: True), (1.0, lambda: bool(ada.list_memories(limit=1).results))):
        _killed(database_url, tenant, path, "rules", stop, ready)
        with psycopg.connect(server.superuser_url.replace("postgresql+psycopg://", "postgresql://")) as conn:
            conn.execute(
                "UPDATE engram.memory_jobs SET lease_until = now() WHERE tenant_id = %s AND state = 'running'",
                (tenant,),
            )
    _killed(database_url, tenant, path, "rules", None)
    with quiet(Engram(database_url, scope=Scope(tenant_id=tenant, user_id="bob"))) as bob:
        whole = bob.record_long_input(path, derive="rules", wait=60)
        assert len(whole.chunks) > recording.BATCH
        wanted = sorted(one.memory.fact for one in whole.decisions if one.memory is not None)
    assert len(wanted) == len(set(wanted)) == 120
    found = [ada.get(one.memory_id) for one in ada.list_memories(limit=200)]
    assert sorted(one.fact for one in found) == wanted
    assert all(len(one.citations) == 1 for one in found)


@pytest.mark.slow
def test_fifty_megabytes_survive_ten_kills_within_half_a_gigabyte(
    database_url: str, tenant: str, ada: Engram, tmp_path: Path
) -> None:
    path = tmp_path / "library.md"
    with path.open("w", encoding="utf-8") as file:
        number = 0
        while file.tell() < 51_000_000:
            file.write(book(400, seed=number, words=380))
            number += 1
    started = time.monotonic()
    told = killed_and_resumed(database_url, tenant, path, kills=10, seed=5)
    seconds = time.monotonic() - started
    sys.stdout.write(f"\n50 MB: {len(told['chunks'])} chunks, {told['rss_mb']:.0f} MB, {seconds:.0f} s in all\n")
    assert told["rss_mb"] < 500
    with path.open(encoding="utf-8", newline="") as file:
        text = file.read()
    assert told["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    report = ada.record_long_input(path, derive="skip")
    assert report.duplicate
    assert [chunk.event_id for chunk in report.chunks] == told["chunks"]
    _assert_whole(ada, report)


# Who finds it --------------------------------------------------------------------------------------------------------


def test_a_chunk_is_found_by_those_who_ask_for_chunks_and_by_no_other_read(ada: Engram) -> None:
    ada.add("User keeps a yawl in the estuary")
    before = ada.stats()
    report = ada.record_long_input("The lighthouse keeper polishes the beacon every Thursday. " * 40, derive="skip")
    asked = "who polishes the beacon of the lighthouse?"
    assert "beacon" not in "".join(one.memory.fact for one in ada.search(asked, limit=50))
    assert "beacon" not in "".join(one.memory.fact for one in ada.deep_search(asked, limit=50))
    assert "beacon" not in ada.recall(asked).answer_text
    assert not any(one.memory.category == "source_chunk" for one in ada.recall(asked).evidence)
    assert "polishes" not in ada.build_context(asked).text
    assert not [one for one in ada.list_memories(limit=200) if one.category == "source_chunk"]
    assert not [one for one in ada.get_history(limit=200) if one.memory.category == "source_chunk"]
    assert "polishes" not in repr([ada.timeline(limit=200), ada.list_decisions(limit=200)])
    assert ada.search_events(asked).results == ()
    assert (ada.stats().memories, ada.stats().by_status) == (before.memories, before.by_status)
    found = ada.search(asked, filter=CHUNKS)
    chunks = {chunk.chunk_id for chunk in report.chunks}
    assert {one.memory.memory_id for one in found} <= chunks
    assert {one.memory.memory_id for one in ada.get_history(filter=CHUNKS, limit=200)} == chunks
    assert {one.memory_id for one in ada.timeline(filter=CHUNKS, limit=200).memories} == chunks
    assert {one.memory_id for one in ada.timeline(around=min(chunks), limit=200).memories} > chunks
    why = ada.explain(asked, found[0].memory.memory_id, filter=CHUNKS)
    assert (why.found, why.detail["rank"]) == (True, 1)
    why = ada.explain(asked, found[0].memory.memory_id)
    assert (why.reason, why.detail["fields"]) == ("filtered", ["categories"])
    assert len(found) > 0
    assert {m.memory_id for m in ada.list_memories(filter=CHUNKS)} == {chunk.chunk_id for chunk in report.chunks}


def test_a_conversation_does_not_wait_behind_a_document(ada: Engram) -> None:
    ada.record_long_input(book(30), derive="rules")
    receipt = ada.remember("I live in Ottawa", wait=10)
    assert receipt.decisions
    assert "Ottawa" in ada.recall("Where do I live?").answer_text
    assert [e.event_type for e in ada.list_events(types=("artifact", "document_part"))] == ["artifact"]  # the manifest


def test_nobody_else_sees_a_document(ada: Engram, database_url: str, tenant: str) -> None:
    report = ada.record_long_input(book(5), derive="skip")
    others = (
        Scope(tenant_id=f"{tenant}-x", user_id="ada"),
        Scope(tenant_id=tenant, user_id="bob"),
        Scope(tenant_id=tenant),
    )
    for scope in others:
        with quiet(Engram(database_url, scope=scope)) as other:
            assert other.list_memories(filter=CHUNKS).results == ()
            assert other.search("anchor beacon cargo", filter=CHUNKS).results == ()
            assert "characters" not in other.build_long_input_context("anchor beacon cargo").text
            assert other.find(report.chunks[0].chunk_id) is None
            with pytest.raises(NotFound):
                other.get_event(report.chunks[0].event_id)
            with pytest.raises(NotFound):
                other.build_long_input_context("anchor", source_event_id=report.manifest_event_id)
            assert not other.record_long_input(book(5), derive="skip").duplicate
    with quiet(Engram(database_url, scope=Scope(tenant_id=tenant, user_id=ALL_USERS))) as everybody:
        assert len({m.memory_id for m in everybody.list_memories(filter=CHUNKS, limit=200)}) == 3 * len(report.chunks)


# What is made of it --------------------------------------------------------------------------------------------------

CONTRACT = (
    "Section 1 Deliveries\n\nThe supplier must deliver the pumps within ten days of the order. It rained yesterday. "
    "The supplier shall keep a log of every delivery.\n\n"
    "Section 2 Payment\n\nThe buyer must pay within thirty days. The parties decided to invoice in euros.\n"
)


def test_rules_make_facts_of_a_document_cited_to_the_character_and_trusted_as_one(ada: Engram) -> None:
    report = ada.record_long_input(CONTRACT, title="Contract", wait=20)
    facts = [one.memory for one in report.decisions if one.memory is not None]
    assert any("deliver the pumps" in fact.fact for fact in facts)
    assert not any("rained" in fact.fact for fact in facts)
    by_event: dict[str, int] = {}
    for fact in facts:
        [citation] = fact.citations
        chunk = next(chunk for chunk in report.chunks if chunk.event_id == citation.event_id)
        assert chunk.text is not None
        assert " ".join(chunk.text[citation.char_start : citation.char_end].split()) == fact.fact
        assert citation.verified
        assert ada.verify_citation(citation) == "verified"
        assert (fact.trust, fact.category) == ("document", None)
        by_event[chunk.event_id] = by_event.get(chunk.event_id, 0) + 1
    assert max(by_event.values()) <= 4
    assert ada.search("when must the pumps be delivered?").results[0].memory.memory_id in {f.memory_id for f in facts}


def test_no_more_than_four_facts_a_chunk_come_of_rules_and_none_where_none_are_asked_for(ada: Engram) -> None:
    text = " ".join(f"The supplier must deliver part {word} to the wharf on time." for word in WORDS)
    few = ada.record_long_input(text, max_chunk_tokens=2_000, wait=20)
    assert len(few.chunks) == 1
    assert len(few.decisions) == 4
    none = ada.record_long_input(text + " ", max_chunk_tokens=2_000, max_facts_per_chunk=0, wait=20)
    assert none.decisions == ()


@pytest.fixture
def counsel(database_url: str, tenant: str) -> Iterator[Engram]:
    with quiet(Engram(database_url, scope=Scope(tenant_id=tenant, user_id="counsel"), policy="legal")) as door:
        yield door


def agreement(first: str, second: str, days: int = 30) -> str:
    """An agreement with one duty in two sections, due after so many days and half as many more."""
    duty = "The supplier must pay the invoice within {} days.\n"
    return f"# Agreement\n\n{first}\n{duty.format(days)}\n{second}\n{duty.format(days * 3 // 2)}"


def keys_of(door: Engram, text: str, title: str = "") -> list[str | None]:
    report = door.record_long_input(text, title=title, media="markdown", wait=30)
    facts = sorted((one.memory for one in report.decisions if one.memory is not None), key=lambda one: one.fact)
    return [fact.conflict_key for fact in facts]


@pytest.mark.parametrize(
    ("first", "second", "sections"),
    [
        ("Section 5. Fees", "Section 9. Deposits", ("5", "9")),
        ("## 5. Fees", "## 9. Deposits", ("5", "9")),
        ("Article V", "Article IX", ("v", "ix")),
        ("## Article I\n\n### Section 5", "## Article II\n\n### Section 5", ("i 5", "ii 5")),
        ("## 5. Fees\n\n1. On delivery:", "2. On order:", ("5(1)", "5(2)")),
        ("We agree to that,\nSection 5. Fees", "and to this,\nSection 9. Deposits", ("5", "9")),
    ],
)
def test_a_clause_of_a_document_is_filed_under_its_section(
    counsel: Engram, first: str, second: str, sections: tuple[str, ...]
) -> None:
    keys = keys_of(counsel, agreement(first, second), "Lease")
    assert keys == [f"slot:legal:deadline:{section}:invoice pay supplier@lease" for section in sections]
    assert len(counsel.recall_critical()) == 2


def test_a_clause_without_a_section_has_no_key_that_another_could_take(counsel: Engram) -> None:
    assert keys_of(counsel, agreement("## Fees", "## Deposits")) == [None, None]
    assert len(list(counsel.list_memories())) == 2


def test_clauses_of_different_documents_stand_and_a_new_version_takes_the_place_of_the_old(counsel: Engram) -> None:
    sections = ("Section 5. Fees", "Section 9. Deposits")
    for title, days in (("Lease", 30), ("Loan", 40), ("", 50), ("", 60)):
        keys_of(counsel, agreement(*sections, days), title)
    assert len(list(counsel.list_memories())) == 8
    keys_of(counsel, agreement(*sections, 70), "Lease")
    held = [memory.fact for memory in counsel.list_memories()]
    assert len(held) == 8
    assert not any("30 days" in fact for fact in held)


# Erasing -------------------------------------------------------------------------------------------------------------

SECRET = "quetzalcoatlus"


def secretive() -> str:
    return book(10) + f"\n\n## Vault\n\nThe password must be {SECRET} at all times.\n\n" + book(10, seed=8)


@pytest.mark.parametrize("of", ["part", "chunk"])
def test_a_redacted_part_or_chunk_leaves_its_words_nowhere(ada: Engram, server: EmbeddedServer, of: str) -> None:
    mark = f"{SECRET}{of}"
    report = ada.record_long_input(secretive().replace(SECRET, mark), wait=20)
    assert tables_with(server, mark)
    chunk = next(chunk for chunk in report.chunks if mark in (chunk.text or ""))
    ada.ops.redact_event(report.source_event_ids[0] if of == "part" else chunk.event_id)
    assert tables_with(server, mark) == []
    assert ada.get(chunk.chunk_id).status_reason == "erased"
    left = ada.list_memories(filter=CHUNKS, limit=200).results
    assert len(left) == (0 if of == "part" else len(report.chunks) - 1)
    again = ada.record_long_input(secretive().replace(SECRET, mark), wait=20)
    assert again.duplicate
    assert again.notes
    assert tables_with(server, mark) == []
    assert ada.ops.verify_ledger().ok


def test_what_was_erased_before_its_chunks_were_cut_is_never_cut(
    ada: Engram, server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_given: Any) -> Any:
        raise RuntimeError("the machine is gone")

    mark = f"{SECRET}early"
    with monkeypatch.context() as patch:
        patch.setattr(recording, "_cut", breaks)
        with pytest.raises(RuntimeError):
            ada.record_long_input(secretive().replace(SECRET, mark), session_id="s", derive="skip")
    [first] = _parts(ada, server)
    ada.ops.redact_event(first)
    report = ada.record_long_input(secretive().replace(SECRET, mark), session_id="s", derive="skip")
    assert report.notes == (f"{len(report.chunks)} chunks were erased, and stay so",)
    assert tables_with(server, mark) == []


def test_what_is_erased_while_chunks_are_cut_is_not_cut_any_more(ada: Engram, server: EmbeddedServer) -> None:
    mark = f"{SECRET}meanwhile"
    erased: list[str] = []

    def erases(told: LongInputProgress) -> None:
        if told.step == "cutting" and not erased:
            [part] = _parts(ada, server)
            erased.append(part)
            ada.ops.redact_event(part)

    text = book(150) + f"The password must be {mark}."
    report = ada.record_long_input(text, max_chunk_tokens=100, derive="skip", progress=erases)
    assert erased
    assert len(report.chunks) > recording.BATCH
    assert report.notes == (f"{len(report.chunks) - recording.BATCH} chunks were erased, and stay so",)
    assert tables_with(server, mark) == []
    assert ada.list_memories(filter=CHUNKS).results == ()


def test_a_chunk_that_is_being_written_while_its_part_is_erased_is_erased_with_it(
    ada: Engram, database_url: str, tenant: str, server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_given: Any) -> Any:
        raise RuntimeError("the machine is gone")

    ada.add("User keeps a yawl in the estuary")
    mark = f"{SECRET}between"
    text = secretive().replace(SECRET, mark)
    with monkeypatch.context() as patch:
        patch.setattr(recording, "_cut", breaks)
        with pytest.raises(RuntimeError):
            ada.record_long_input(text, derive="skip")
    [part] = _parts(ada, server)
    found = store.same_words

    def looks(*given: Any) -> list[str]:
        words = found(*given)
        recorder.start()
        _until_ended_or_waiting(recorder, server)
        return words

    with quiet(Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada"))) as other:
        recorder = threading.Thread(target=lambda: other.record_long_input(text, derive="skip"))
        monkeypatch.setattr(store, "same_words", looks)
        ada.ops.redact_event(part)
        recorder.join()
    assert tables_with(server, mark) == []


def test_a_document_is_never_cut_in_two_ways_though_its_manifest_is_erased(ada: Engram) -> None:
    text = book(10, words=300)
    first = ada.record_long_input(text, max_chunk_tokens=300, derive="skip")
    ada.ops.redact_event(first.manifest_event_id)
    before = ada.stats()
    again = ada.record_long_input(text, max_chunk_tokens=100, derive="skip")
    assert again.duplicate
    assert again.chunks == first.chunks
    assert ada.stats() == before
    _assert_whole(ada, again)


def test_a_chunk_that_is_left_says_how_a_document_was_cut(ada: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "parts_of", partial(reading.parts_of, size=4_000))
    text = book(8, words=300)
    first = ada.record_long_input(text, max_chunk_tokens=300, derive="skip")
    assert len(first.source_event_ids) > 1
    ada.ops.redact_event(first.manifest_event_id)
    ada.ops.redact_event(first.source_event_ids[0])
    left = {one.memory_id for one in ada.list_memories(filter=CHUNKS, limit=200)}
    again = ada.record_long_input(text, max_chunk_tokens=100, derive="skip")
    assert again.chunks == first.chunks
    assert 0 < len(left) < len(first.chunks)
    assert {one.memory_id for one in ada.list_memories(filter=CHUNKS, limit=200)} == left
    for part in first.source_event_ids[1:]:
        ada.ops.redact_event(part)
    with pytest.raises(Conflict, match="erased"):
        ada.record_long_input(text, max_chunk_tokens=100, derive="skip")
    assert ada.list_memories(filter=CHUNKS).results == ()


def _until_ended_or_waiting(thread: threading.Thread, server: EmbeddedServer) -> None:
    """Until a thread has ended, or somebody waits for a lock."""
    with psycopg.connect(server.superuser_url.replace("postgresql+psycopg://", "postgresql://")) as conn:
        conn.autocommit = True
        waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        while thread.is_alive() and conn.execute(waits).fetchall() == [(0,)]:
            thread.join(0.01)


def _parts(door: Engram, server: EmbeddedServer) -> list[str]:
    with psycopg.connect(server.superuser_url.replace("postgresql+psycopg://", "postgresql://")) as conn:
        rows = conn.execute(
            "SELECT event_id::text FROM engram.agent_events WHERE tenant_id = %s AND event_type = %s",
            (door._setup.scope.tenant_id, store.PART),
        ).fetchall()
    return [row[0] for row in rows]


def test_an_event_that_only_says_it_is_a_chunk_takes_no_document_with_it(ada: Engram) -> None:
    report = ada.record_long_input(book(5), derive="skip")
    stream = ada.get_event(report.chunks[0].event_id).stream_id
    faked = ada.record_event(
        "I am a chunk", event_type="artifact", payload={"document": stream, "chunk": 0, "parts": [0]}
    ).event_ids[0]
    ada.ops.redact_event(faked)
    assert not ada.get_event(report.source_event_ids[0]).erased
    with pytest.raises(InvalidInput):
        ada.build_long_input_context("anchor", source_event_id=faked)


# Refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "given", "error"),
    [
        pytest.param("x" * 101, {"max_bytes": 100}, LimitExceeded, id="more bytes than allowed"),
        pytest.param("\u6d77" * 40, {"max_bytes": 100}, LimitExceeded, id="more bytes than characters"),
        pytest.param(" \n\t", {}, InvalidInput, id="blank"),
        pytest.param("a\x00b", {}, InvalidInput, id="NUL"),
        pytest.param("a\ud800b", {}, InvalidInput, id="half a character"),
        pytest.param(b"bytes", {}, InvalidInput, id="bytes"),
        pytest.param(Path("/nowhere/at/all"), {}, InvalidInput, id="no file"),
        pytest.param("x", {"media": "poem"}, InvalidInput, id="another media"),
        pytest.param("x", {"max_chunk_tokens": 49}, InvalidInput, id="too small chunks"),
        pytest.param("x", {"max_facts_per_chunk": 21}, InvalidInput, id="too many facts"),
        pytest.param("x", {"progress": 3}, InvalidInput, id="no function"),
    ],
)
def test_what_is_no_long_input_is_refused_and_leaves_nothing(ada: Engram, text: Any, given: Any, error: type) -> None:
    with pytest.raises(error):
        ada.record_long_input(text, **given)
    assert ada.stats().events == 0


def test_a_model_gives_facts_of_a_chunk_each_with_its_characters_and_no_more_than_asked(
    database_url: str, tenant: str
) -> None:
    said = [f"The {word} must be painted {colour}" for word, colour in zip(WORDS, ("red", "blue") * 5, strict=False)]
    text = "# Paint\n\nIntroduced here.\n\n" + "\n".join(f"{one}." for one in said) + "\n"
    facts = [
        {"turn": 1, "fact": one, "quote": one, "importance": 0.5} for one in said
    ] + [{"turn": 1, "fact": "The mast must be painted green", "quote": "painted green with envy"}]  # fmt: skip
    model = ScriptedModel(lambda asked: {"facts": facts} if "Introduced" in asked.text else {"decisions": []})
    assert len(facts) == 11
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada"), llm=model) as door:
        report = door.record_long_input(text, max_facts_per_chunk=6, derive="llm", wait=60)
        made = [one for one in door.list_memories(limit=100) if one.category != "source_chunk"]
        assert len(made) == 6
        assert {one.deriver for one in made} == {"rules", "llm"}
        for one in made:
            assert one.citations
            for citation in one.citations:  # of the rules, of the model, or of both where they say the same
                chunk = next(part for part in report.chunks if part.event_id == citation.event_id)
                assert chunk.text is not None
                assert chunk.text[citation.char_start : citation.char_end].rstrip(".") == one.fact.rstrip(".")
                assert door.verify_citation(citation) == "verified"
            assert one.trust == "document"
        assert "green" not in repr(made)
