"""The demo's conversation: large and varied enough, in order, and holding what its questions ask for."""

from __future__ import annotations

import calendar
import json
import re
from collections import Counter
from datetime import UTC, datetime
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from engram import ingest

DEMO = files("engram") / "demo"
EVENTS: list[dict[str, Any]] = [
    json.loads(line) for line in (DEMO / "conversation.jsonl").read_text("utf-8").splitlines()
]
QUESTIONS: dict[str, Any] = json.loads((DEMO / "questions.json").read_text("utf-8"))
SAID = [event["content"] for event in EVENTS if event["role"] == "user"]
EVERYTHING = "\n".join(event["content"] for event in EVENTS)


def times() -> list[datetime]:
    return [datetime.fromisoformat(event["occurred_at"]) for event in EVENTS]


def test_it_has_at_least_eight_sessions_and_250_turns_over_several_months() -> None:
    assert len({event["session_id"] for event in EVENTS}) >= 8
    assert len(EVENTS) >= 250
    assert (max(times()) - min(times())).days > 180
    assert min(times()) >= datetime(2025, 3, 1, tzinfo=UTC)
    assert max(times()) < datetime(2025, 11, 1, tzinfo=UTC)


def test_time_only_moves_forward_and_a_session_is_one_sitting() -> None:
    assert times() == sorted(set(times()))
    sessions = [event["session_id"] for event in EVENTS]
    assert len([a for a, b in pairwise(sessions) if a != b]) == len(set(sessions)) - 1
    for session in set(sessions):
        of_session = [at for at, name in zip(times(), sessions, strict=True) if name == session]
        assert len({at.date() for at in of_session}) == 1
        assert session.startswith(of_session[0].date().isoformat())


def test_no_turn_repeats_another_and_both_sides_speak() -> None:
    assert [text for text, count in Counter(event["content"] for event in EVENTS).items() if count > 1] == []
    roles = Counter(event["role"] for event in EVENTS)
    assert roles["user"] >= 120
    assert roles["assistant"] >= 120
    assert roles["tool"] >= 10


def test_event_ids_are_in_the_file_and_unique_so_that_a_second_ingest_adds_nothing() -> None:
    assert len({event["event_id"] for event in EVENTS}) == len(EVENTS)
    with_files = [message["event_id"] for batch in read() for message in batch.messages]
    assert with_files == [event["event_id"] for event in EVENTS]


def read() -> list[ingest.Batch]:
    return list(ingest.read(Path(str(DEMO / "conversation.jsonl"))))


def test_every_tool_result_answers_a_call_made_just_before_and_one_of_them_failed() -> None:
    types = Counter(event["event_type"] for event in EVENTS)
    assert types["tool_call"] == types["tool_result"] + types["error"] >= 10
    assert types["error"] >= 1
    assert types["artifact"] >= 1
    for before, after in pairwise(EVENTS):
        if before["event_type"] == "tool_call":
            assert (after["role"], after["call_id"]) == ("tool", before["call_id"])
            assert after["payload"]["name"] == before["payload"]["name"]


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("city", "I live in Leipzig", "I moved to Hamburg on July 1"),
        ("manager", "My manager is Tomasz Zielinski", "My manager is Farah Nasser now"),
        ("deadline", "The Heron deadline is June 30", "the Heron deadline is September 15 now"),
        ("budget", "The Heron budget is 80,000 euros", "The Heron budget is 95,000 euros"),
        ("preference", "I prefer meetings in the morning", "I prefer meetings in the afternoon now"),
        ("style", "keep your answers concise", "I prefer detailed answers now"),
        ("diet", "I'm vegetarian now", "I'm not vegetarian any more"),
        ("phone", "a Fairphone 4", "I no longer use the Fairphone"),
        ("plan", "prepaid plan with 5 GB", "I switched to a contract with 40 GB"),
        ("coffee", "coffee the rest of the day", "I don't drink coffee any more"),
        ("correction", "Emil's birthday is on June 12", "Actually, Emil's birthday is on June 14"),
    ],
)
def test_a_fact_changes_in_the_users_own_words(kind: str, before: str, after: str) -> None:
    places = [next(n for n, text in enumerate(SAID) if words in text) for words in (before, after)]
    assert places[0] < places[1], kind


@pytest.mark.parametrize(
    "words",
    [
        "My name is Lena Hartmann",
        "I'm allergic to peanuts",
        "Never deploy on Fridays",
        "We decided to use PostgreSQL",
        "My sister lives in Lisbon",
        "Priya is allergic to shellfish",
        "The manager of the hotel was rude",
        "I used to live in Prague",
        "If I lived in Lisbon",
        "I don't live in Leipzig any more",
        "Petr, who was my manager back in Prague",
        "My mother lives alone",
        "he'd live in a tent",
    ],
)
def test_the_user_says(words: str) -> None:
    assert [text for text in SAID if words in text]


def test_weekdays_named_with_a_date_are_right() -> None:
    day, month = f"({'|'.join(calendar.day_name)})", f"(?:{'|'.join(calendar.month_name[1:])})"
    date = rf"({month} \d{{1,2}})"
    dated = re.compile(rf"{day},? {date}\b|{date}(?:,| is| would be) a {day}")
    found = dated.findall(EVERYTHING)
    assert len(found) >= 8
    for weekday_first, date_first, date_second, weekday_second in found:
        named, weekday = date_first or date_second, weekday_first or weekday_second
        assert datetime.strptime(f"{named} 2025", "%B %d %Y").replace(tzinfo=UTC).strftime("%A") == weekday, named


def test_every_answer_the_demo_expects_is_said_by_the_user() -> None:
    expected = [one["answer"] for one in QUESTIONS["questions"]]
    assert len(expected) == 6
    for answer in [
        *expected,
        QUESTIONS["as_of"]["answer"],
        QUESTIONS["superseded"]["from"],
        QUESTIONS["critical"]["says"],
    ]:
        assert [text for text in SAID if answer in text], answer
    asked = datetime.fromisoformat(QUESTIONS["as_of"]["at"])
    assert min(times()) < asked < max(times())
