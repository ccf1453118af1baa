"""Appointments: what is on a day is told when that day is asked for, moved and cancelled ones as they stand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from engram import Engram
from engram.ids import new_id

MONDAY = datetime(2031, 6, 9, 8, tzinfo=UTC)  # ahead of the clock: what is put off is put off before its day


@pytest.fixture(scope="module")
def engram(database_url: str) -> Iterator[Engram]:
    with Engram(database_url) as one:
        yield one


def asked(engram: Engram, said: str, question: str) -> str:
    door = engram.scoped(tenant_id=f"t-{new_id()}", user_id="ada")
    for place, one in enumerate(said.split(" | ")):
        door.remember(one, occurred_at=MONDAY + timedelta(hours=place), wait=30.0)
    return door.recall(question, now=MONDAY + timedelta(hours=9)).answer_text


@pytest.mark.parametrize(
    ("said", "question", "told"),
    [
        ("I have a dentist appointment on June 30.", "What's on June 30?", "dentist"),
        ("My flight to Lisbon is on June 30.", "What do I have on June 30?", "Lisbon"),
        ("I have a meeting with Priya on Tuesday at 10.", "What do I have on Tuesday?", "Priya"),
        ("Dentist on Tuesday at 3pm.", "What do I have on Tuesday?", "dentist appointment on Tuesday at 3pm"),
        ("Lunch with Sam on Wednesday.", "Anything on Wednesday?", "lunch with Sam"),
        ("Call with Acme on Friday at 2pm.", "Do I have anything on Friday?", "call with Acme"),
        ("vet for Luna on the 14th at 4pm", "anything on the 14th?", "vet appointment for Luna"),
        ("The board meeting is on the 14th.", "Anything on the 14th?", "board meeting"),
        ("I have a haircut on the 14th.", "What's on my calendar for the 14th?", "haircut"),
        ("I have a dentist appointment on Tuesday. | The dentist moved from Tuesday to Thursday.",
         "What do I have on Thursday?", "Thursday"),
        ("I have a dentist appointment on Tuesday. | The dentist moved from Tuesday to Thursday.",
         "When is my dentist appointment?", "Thursday"),
        ("I have a call with Acme on Friday at 2pm. | The Acme call got pushed to Monday.",
         "When is the call with Acme?", "Monday"),
        ("I have an interview on June 30 at 11. | The interview was rescheduled to July 3.",
         "When is my interview?", "July 3"),
        ("I have a dentist appointment on Tuesday. | My dentist appointment is cancelled.",
         "When is my dentist appointment?", "cancelled"),
    ],
)  # fmt: skip
def test_what_is_on_a_day_is_told(engram: Engram, said: str, question: str, told: str) -> None:
    assert told in asked(engram, said, question).splitlines()[0]


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("I have a dentist appointment on Tuesday. | The dentist moved from Tuesday to Thursday.",
         "What do I have on Tuesday?"),
        ("I have an interview on June 30 at 11. | The interview was rescheduled to July 3.", "What's on June 30?"),
        ("I have a dentist appointment on Tuesday. | My dentist appointment is cancelled.",
         "What do I have on Tuesday?"),
        ("Lunch with Sam on Wednesday. | Lunch with Sam is off.", "What do I have on Wednesday?"),
        ("I have a haircut on the 14th.", "Anything on the 15th?"),
    ],
)  # fmt: skip
def test_what_was_put_off_is_not_told_of_its_day(engram: Engram, said: str, question: str) -> None:
    assert asked(engram, said, question) == ""


@pytest.mark.parametrize(
    ("said", "stays"),
    [
        ("I have a meeting with Ann on Tuesday. | The meeting with Tom moved to Friday.", "Ann on Tuesday"),
        ("I have lunch with Sam on Wednesday. | Lunch with Kim is off.", "Sam on Wednesday"),
        ("I have a dentist appointment on Tuesday. | The optician moved to Friday.", "dentist appointment on Tuesday"),
    ],
)
def test_one_appointment_is_not_moved_with_another(engram: Engram, said: str, stays: str) -> None:
    assert stays in asked(engram, said, f"What do I have on {stays.rsplit(maxsplit=1)[-1]}?")
