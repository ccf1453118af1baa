"""Two sessions of one user at once: what speaks of what the scope holds means what it would one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any

import numpy as np
import psycopg
import pytest
from angles import AXES
from waiting import until_a_lock_is_waited_for

from engram import Engram, Scope, batching
from engram.embedded import EmbeddedServer
from engram.settings import load

HELD = "My editor is Vim."
SLIP = "No, it's Emacs, not Vim."
RIGHT = "User's editor is Emacs"


class Interrupted:
    """An embedder that lets something happen before it answers for one text: a model takes its time."""

    name, dimensions, max_tokens = "interrupted", AXES, None

    def __init__(self) -> None:
        self.before: dict[str, Callable[[], Any]] = {}

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        for text in texts:
            for word in [word for word in self.before if word in text]:
                self.before.pop(word)()
        return np.eye(AXES, dtype=np.float32)[[hash(text) % AXES for text in texts]]


@pytest.fixture
def embedder() -> Interrupted:
    return Interrupted()


@pytest.fixture
def ada(database_url: str, tenant: str, embedder: Interrupted) -> Iterator[Engram]:
    """A door that leaves its jobs lying."""
    settings = load({}, dispatch="doorbell")
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), settings=settings, embedder=embedder) as door:  # type: ignore[arg-type]
        yield door


@pytest.fixture
def superuser(server: EmbeddedServer, database_url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
        yield conn


def held(door: Engram) -> set[str]:
    """What the scope holds, without the words as they were said."""
    return {memory.fact for memory in door.list_memories(limit=100) if memory.category is None}


def said(door: Engram, content: str, session_id: str, **given: Any) -> None:
    door.remember([{"role": "user", "content": content, **given}], session_id=session_id)


def test_a_slip_is_put_right_though_it_was_told_while_the_correction_was_read(
    ada: Engram, embedder: Interrupted
) -> None:
    """The statement is read while nothing is held of Vim, and written when something is."""

    def told_meanwhile() -> None:
        said(ada, HELD, "a", occurred_at=datetime.now(UTC) - timedelta(hours=1))
        ada.ops.run_jobs(limit=1)

    said(ada, SLIP, "b")
    embedder.before["Vim"] = told_meanwhile
    ada.ops.run_jobs()
    assert embedder.before == {}
    assert held(ada) == {RIGHT}
    assert ada.ops.replay().is_same


def test_a_correction_waits_for_what_is_being_written(
    ada: Engram, superuser: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is held of Vim that anybody else sees: it is written, and not committed yet."""
    written, go = Event(), Event()
    original: Callable[..., None] = batching.write_desks

    def slowly(*given: Any) -> None:
        original(*given)
        if not written.is_set():
            written.set()
            assert go.wait(30)

    said(ada, "My manager is Priya.", "a")
    ada.ops.run_jobs()
    monkeypatch.setattr(batching, "write_desks", slowly)
    said(ada, HELD, "a")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(ada.ops.run_jobs)
        assert written.wait(30)
        said(ada, SLIP, "b")
        second = pool.submit(ada.ops.run_jobs)
        until_a_lock_is_waited_for(superuser)
        go.set()
        assert (first.result(timeout=30), second.result(timeout=30)) == (1, 1)
    assert held(ada) == {RIGHT, "User's manager is Priya"}
    assert ada.ops.replay().is_same


@pytest.mark.parametrize("said_again", [SLIP, "I don't use Vim anymore."])
def test_a_dry_run_puts_what_is_said_of_what_is_held_where_it_would_be(ada: Engram, said_again: str) -> None:
    said(ada, HELD, "a")
    ada.ops.run_jobs()
    asked = [{"role": "user", "content": said_again}]
    rehearsed = ada.remember(asked, session_id="b", dry_run=True).decisions
    receipt = ada.remember(asked, session_id="b")
    ada.ops.run_jobs()
    made = ada.wait_for(receipt)

    def told(decisions: Any) -> list[tuple[object, ...]]:
        return [(one.kind, one.memory and one.memory.fact, one.target and one.target.fact) for one in decisions]

    assert ("revise", "User's editor is Vim") in [(one.kind, one.target and one.target.fact) for one in rehearsed]
    assert told(rehearsed) == told(made)
