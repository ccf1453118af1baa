"""The budget of deriving: how often patterns are asked while the rules read the demonstration's conversation.

A clock does not notice when reading becomes slower by a hundredth a week, and a count does. A change that asks much
less fails here as well: lower the budget then, so that it stays.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

import engram
from engram import wording
from engram.derivation import rules
from engram.values import Event

ROOT: Final = f"{Path(engram.__file__).parent}/"
CONVERSATION: Final = (files("engram") / "demo" / "conversation.jsonl").read_text("utf-8")
BUDGET: Final = 300  # times that a pattern is asked, for each message of the user
ROOM: Final = 0.05  # of it, above and below
SHOWN: Final = 10
READING: Final = ("engram.derivation", "engram.english", "engram.text", "engram.wording")
ADVICE: Final = (
    "Make it cheaper: tell by a word (engram.wording), by a mark or by what is known of the sentence already that no "
    "pattern can match. Where that cannot be, raise BUDGET in the same commit, and say in it why."
)


def event(place: int, said: dict[str, Any]) -> Event:
    at = datetime.fromisoformat(said["occurred_at"]).astimezone(UTC)
    of = (said["event_id"], "s1", place, said["role"], said["event_type"], "user", said["content"])
    return Event(*of, {}, {}, at, at, None, None, None, False, "00")


EVENTS: Final = [event(place, json.loads(line)) for place, line in enumerate(CONVERSATION.splitlines())]


def derive(events: list[Event]) -> int:
    """Derive messages, each with the two before it; how many are the user's."""
    for place, one in enumerate(events):
        rules.derive(one, user_name="Lena", preceding=tuple(reversed(events[max(0, place - 2) : place])))
    return sum(one.role == "user" for one in events)


def forget() -> None:
    """Empty the caches of what reads texts, which may have been asked the same in this process."""
    for name, module in list(sys.modules.items()):
        if name.startswith(READING):
            for one in list(vars(module).values()):
                getattr(one, "cache_clear", int)()


def patterns_asked(work: Callable[[], object]) -> Counter[str]:
    """How often each function asked a pattern for some work."""
    asked: Counter[str] = Counter()

    def note(frame: FrameType, what: str, called: Any) -> None:
        if what == "c_call" and isinstance(getattr(called, "__self__", None), re.Pattern):
            asked[f"{frame.f_code.co_filename.removeprefix(ROOT)}: {frame.f_code.co_name}"] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return asked


def test_the_rules_ask_no_more_patterns_for_a_message_than_their_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wording, "SOON", 0)  # as in a process that has read much: the words of patterns are known
    monkeypatch.setattr(wording, "LATE", 0)
    forget()
    said = derive(EVENTS)  # patterns are compiled and words read off them
    forget()
    asked = patterns_asked(lambda: derive(EVENTS))
    each = asked.total() / said
    most = "\n".join(f"{calls / said:8.1f} {where}" for where, calls in asked.most_common(SHOWN))
    told = f"{each:.1f} patterns are asked for each message, of a budget of {BUDGET}; most of them by\n{most}\n"
    assert each <= BUDGET * (1 + ROOM), f"{told}{ADVICE}"
    assert each >= BUDGET * (1 - ROOM), f"{told}Lower BUDGET, so that it stays."


def test_what_asks_a_pattern_is_counted() -> None:
    asked = patterns_asked(lambda: [re.compile("a").search("b") for _ in range(3)])
    assert asked.total() == 3
    assert "test_deriving_budget.py" in next(iter(asked))
