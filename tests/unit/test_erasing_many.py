"""Erasing many events: what is kept of those that are gone is one list of them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Container, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from engram import ids
from engram.operations import erasing
from engram.operations.erasing import Gone, Tally, Target

EVENTS = 5_000
NO_LIST = SimpleNamespace(settings=SimpleNamespace(redaction_list=None))


def test_no_event_copies_the_list_of_those_that_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [ids.new_id() for _ in range(EVENTS)]
    peak = 0

    def erase_one(*given: Any, **_: Any) -> Iterator[None]:
        nonlocal peak
        event_id, known = cast("str", given[3]), cast("Container[str]", given[4])
        assert event_id in known
        assert wanted[0] in known
        assert wanted[-1] not in known or event_id == wanted[-1]
        if event_id == wanted[-1]:
            peak = tracemalloc.get_traced_memory()[0]
        return Gone(events=(event_id,))
        yield

    monkeypatch.setattr(erasing, "_erase_one", erase_one)
    tally = Tally()
    tally.events.update(dict.fromkeys(wanted[:-1]))
    tracemalloc.start()
    try:
        list(erasing._erase_all(cast("Any", NO_LIST), cast("Any", None), Target("user", "u"), wanted, tally))
    finally:
        tracemalloc.stop()
    assert list(tally.events) == wanted
    assert peak < 50_000
