"""The benchmark of answers, with a scripted model: it reads, it is judged, and a run that was stopped goes on."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, Request, says, status

from engram.settings import load
from tests.scripts import script

ROOT = Path(__file__).parents[2]
ABOUT = {"reader": "openai/test", "judge": "openai/test", "tokens": 500, "data": "x", "sha256": "0"}


@pytest.fixture(scope="module")
def answers() -> Iterator[Any]:
    """The benchmark, which is a script beside its helpers and no part of the package."""
    yield from script("answers")


@pytest.fixture
def case(answers: Any) -> Any:
    """Two turns, three questions with an answer and one without."""
    cases = importlib.import_module("cases")
    said = ("My cat is called Momo.", "I moved to Oslo in May.")
    made = cases.Case("kim", [cases.Turn(str(n), "s", {"role": "user", "content": one}) for n, one in enumerate(said)])
    made.ask("What is my cat called?", "pets", ["0"], "Momo")
    made.ask("Where do I live?", "home", ["1"], "Oslo")
    made.ask("When did I move?", "home", ["1"], "in May")
    made.ask("Is there an answer?", "none", ["1"])
    return made


@pytest.fixture
def provider() -> Iterator[ModelServer]:
    """A provider that answers every question by Momo, and judges that honestly."""

    def script(request: Request) -> Any:
        if "Expected:" in request.prompt:
            return says('Well: {"correct": true}' if "Expected: Momo" in request.prompt else {"correct": False})
        return says("Momo")

    with ModelServer() as running:
        running.script(script)
        yield running


def test_questions_are_answered_from_the_context_and_judged(
    answers: Any, case: Any, provider: ModelServer, database_url: str, tmp_path: Path
) -> None:
    model = answers.model("openai/test", load({}, llm_api_base=provider.url, llm_api_keys="key"))
    book = answers.Book(tmp_path / "book.jsonl", ABOUT)
    answers.answer(database_url, [case], book, model, model, tokens=500, total=3)
    assert [one["correct"] for one in book.lines.values()] == [True, False, False]
    read = [one.prompt for one in provider.requests if "Expected:" not in one.prompt]
    assert len(read) == 3
    assert "My cat is called Momo." in read[0]
    assert "Asked on" not in read[0]
    first = book.lines["kim#0"]
    assert (first["answer"], first["expected"], first["input_tokens"], first["output_tokens"]) == (
        "Momo",
        "Momo",
        200,
        40,
    )
    table = answers.table(list(book.lines.values()))
    assert [row[:3] for row in table.rows] == [["home", 2, 0.0], ["pets", 1, 100.0], ["all", 3, 33.3]]


def test_the_reader_is_told_when_a_question_is_asked(
    answers: Any, case: Any, provider: ModelServer, database_url: str, tmp_path: Path
) -> None:
    case.asked_at = datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    model = answers.model("openai/test", load({}, llm_api_base=provider.url, llm_api_keys="key"))
    book = answers.Book(tmp_path / "book.jsonl", ABOUT)
    answers.answer(database_url, [case], book, model, model, tokens=500, total=3)
    asked = [one.prompt for one in provider.requests if "Expected:" not in one.prompt]
    assert "Asked on Tuesday, 2023-05-30: What is my cat called?" in asked[0]


def test_a_run_that_was_stopped_goes_on_and_pays_for_nothing_twice(
    answers: Any, case: Any, provider: ModelServer, database_url: str, tmp_path: Path
) -> None:
    model, path = (
        answers.model("openai/test", load({}, llm_api_base=provider.url, llm_api_keys="key")),
        tmp_path / "b.jsonl",
    )
    case.chosen = {"kim#0"}
    answers.answer(database_url, [case], answers.Book(path, ABOUT), model, model, tokens=500, total=1)
    case.chosen = None
    with path.open("a", encoding="utf-8") as stream:
        stream.write('{"question": "kim#1", "answ')  # killed while it wrote
    asked = len(provider.requests)
    book = answers.Book(path, ABOUT)
    assert list(book.lines) == ["kim#0"]
    answers.answer(database_url, [case], book, model, model, tokens=500, total=3)
    assert len(provider.requests) - asked == 4
    assert [json.loads(line).get("question") for line in path.read_text().splitlines()] == [
        None, "kim#0", "kim#1", "kim#2"
    ]  # fmt: skip
    with pytest.raises(SystemExit, match="another run"):
        answers.Book(path, {**ABOUT, "tokens": 600})


def test_a_provider_that_asks_for_a_pause_is_asked_again(
    answers: Any, monkeypatch: pytest.MonkeyPatch, provider: ModelServer
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(answers.time, "sleep", pauses.append)
    provider.script([status(429, {"retry-after": "7"}), says("Momo")])
    model = answers.model("openai/test", load({}, llm_api_base=provider.url, llm_api_keys="key"))
    asked = importlib.import_module("cases").Question("?", "k", frozenset(), answer="Momo")
    assert answers.read(model, "context", asked).text == "Momo"
    assert pauses == [7.0]


def test_a_verdict_that_cannot_be_read_is_asked_for_once_more_and_then_counted(
    answers: Any, provider: ModelServer
) -> None:
    provider.script([says("Perhaps."), says("No idea.")])
    model = answers.model("openai/test", load({}, llm_api_base=provider.url, llm_api_keys="key"))
    asked = importlib.import_module("cases").Question("?", "k", frozenset(), answer="Momo")
    assert answers.is_correct(model, asked, "Momo", answers.Spent()) is None
    assert len(provider.requests) == 2


@pytest.mark.parametrize(
    ("said", "correct"),
    [
        ("(b)", True),
        ("B", True),
        ("b) jazz", True),
        ("**B**", True),
        ("B. Jazz", True),
        ("A good fit is (b)", True),
        ("The answer is b, since jazz is a joy", True),
        ("I would choose B.", True),
        ("(a)", False),
        ("A", False),
        ("A better choice is rock", False),
        ("", False),
    ],
)
def test_a_choice_is_judged_by_its_letter_and_without_a_model(answers: Any, said: str, correct: bool) -> None:
    asked = importlib.import_module("cases").Question(
        "?", "k", frozenset(), answer="(b)", choices=("(a) rock", "(b) jazz")
    )
    assert answers.is_correct(None, asked, said, answers.Spent()) is correct


def test_the_command_asks_what_it_drew_and_pays_for_nothing_twice(
    answers: Any, provider: ModelServer, database_url: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    friends = json.loads((ROOT / "tests" / "fixtures" / "two_friends.json").read_text(encoding="utf-8"))
    asked = [{"question": f"Who is number {n}?", "category": 4, "evidence": ["D1:1"], "answer": "Momo"} for n in "1234"]
    path = tmp_path / "friends.json"
    path.write_text(json.dumps([friends[0] | {"qa": asked}]), encoding="utf-8")
    monkeypatch.setenv("ENGRAM_LLM_API_BASE", provider.url)
    monkeypatch.setenv("ENGRAM_LLM_API_KEYS", "key")

    def run(limit: int) -> tuple[str, int]:
        before = len(provider.requests)
        command = ["--url", database_url, "--reader", "openai/test", "--data", f"locomo={path}",
                   "--out", str(tmp_path / "book.jsonl"), "--limit", str(limit)]  # fmt: skip
        monkeypatch.setattr(sys, "argv", ["answers.py", *command])
        answers.main()
        return capsys.readouterr().out, len(provider.requests) - before

    told, calls = run(2)
    assert "1 conversations, 20 turns, 4 questions (4 single-hop)" in told
    assert ("| all | 2 | 100.0 |" in told, calls) == (True, 4)  # each is read and judged
    told, calls = run(3)
    assert ("| all | 3 | 100.0 |" in told, calls) == (True, 2)
