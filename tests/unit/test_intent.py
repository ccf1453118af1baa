"""What a question asks for, by its cues."""

from __future__ import annotations

import pytest

from engram import intent


@pytest.mark.parametrize(
    "question", ["", "   ", "?!", "hi", "Hello there!", "Thanks a lot", "ok great", "Good morning everyone"]
)
def test_small_talk_asks_for_nothing(question: str) -> None:
    assert intent.read(question).intent == "chat"


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("How has my project target changed over time?", "my project target"),
        ("What is the history of my address?", "my address"),
        ("Show me the full history of the budget", "the budget"),
        ("How did the deadline evolve?", "the deadline"),
        ("my weight over time", "my weight"),
    ],
)
def test_questions_for_a_chain_of_values(question: str, topic: str) -> None:
    found = intent.read(question)
    assert (found.intent, found.topic) == ("lineage", topic)


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What was my meeting before I changed it?", "what was my meeting"),
        ("Where did I live before I moved to Toronto?", "where did i live"),
        ("What did I used to drink?", "what did i drink"),
        ("What was my previous address?", "what was my address"),
        ("Who is my former manager?", "who is my manager"),
        ("What is my old phone number?", "what is my phone number"),
        ("Where was the office before?", "where was the office"),
    ],
)
def test_questions_for_what_was_true_before(question: str, topic: str) -> None:
    found = intent.read(question)
    assert (found.intent, found.topic) == ("historical", topic)


@pytest.mark.parametrize(
    "question",
    [
        "What is my allergy?",
        "Where do I live?",
        "How old am I?",
        "How old is my daughter?",
        "What should I do before the meeting?",
        "Hi, where do I live?",
        "我住在哪里",
        "What does my older brother do?",
        "Is the house 20 years old?",
    ],
)
def test_everything_else_asks_for_what_is_current(question: str) -> None:
    found = intent.read(question)
    assert found.intent == "current"
    assert found.topic == question


def test_a_question_is_never_left_without_words() -> None:
    assert intent.read("previously?").topic == "previously?"
