"""The whole road, on both PostgreSQL versions the embedded server brings."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engram import Engram, Scope, migrations
from engram.embedded import EmbeddedServer


@pytest.fixture(params=[16, 18])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    folder = Path(tempfile.mkdtemp(prefix="engram-test-"))
    folder.chmod(0o755)
    with EmbeddedServer.start(folder / "data", major=request.param) as server:
        migrations.upgrade(server.superuser_url)
        yield server.url()
    shutil.rmtree(folder, ignore_errors=True)


def test_a_conversation_becomes_memories_that_answer(url: str) -> None:
    spring = datetime(2025, 3, 1, tzinfo=UTC)
    summer = datetime(2025, 7, 1, tzinfo=UTC)
    with Engram(url, scope=Scope(tenant_id="road", user_id="ada")) as ada:
        ada.remember("I live in Ottawa. I'm allergic to peanuts.", session_id="s1", occurred_at=spring)
        ada.record_turn(
            "I moved to Toronto.", "Congratulations!", session_id="s2", occurred_at=summer,
            tool_calls=[{"name": "calendar", "arguments": {"day": "today"}, "result": "nothing planned"}],
        )  # fmt: skip
        answer = ada.recall("Where do I live?")
        assert answer.current is not None
        assert ("Toronto" in answer.answer_text, answer.current.revision) == (True, 2)
        assert (
            ada.recall("Where do I live?", as_of=datetime(2025, 5, 1, tzinfo=UTC)).answer_text == "User lives in Ottawa"
        )
        assert "User is allergic to peanuts" in [memory.fact for memory in ada.recall_critical()]
        block = ada.build_context("Where do I live?", max_tokens=300)
        assert block.tokens <= 300
        assert "Toronto" in block.text
        assert {ada.find(full) is not None or ada.get_event(full) is not None for full in block.citations.values()} == {
            True
        }
        assert ada.search("peanuts", mode="keyword").results
        assert ada.search("nuts that make me ill", mode="semantic").results
        report = ada.ops.verify_ledger()
        assert (report.ok, report.events) == (True, 5)
        assert all(check.ok for check in ada.ops.doctor().checks)
