"""The demo: what it promises is what it shows, and a second run adds nothing."""

from __future__ import annotations

import contextlib
import io
import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import pytest

from engram.cli import run

SCRIPT: dict[str, Any] = json.loads((files("engram") / "demo" / "questions.json").read_text("utf-8"))
EVENTS = len((files("engram") / "demo" / "conversation.jsonl").read_text("utf-8").splitlines())


@dataclass(frozen=True, slots=True)
class Shown:
    """The first run as people see it, and a second one as programs do."""

    page: str
    data: dict[str, Any]

    @property
    def words(self) -> str:
        """The page without its layout."""
        return " ".join(self.page.split())

    def number(self, name: str) -> int:
        """A number the page shows behind a name."""
        found = re.search(rf"^{name}\s+(\d+)\s*$", self.page, re.MULTILINE)
        assert found is not None, name
        return int(found[1])


@pytest.fixture(scope="module")
def place(database_url: str) -> Iterator[None]:
    """The test run's database, and a tenant for the demo that starts empty."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", database_url)
        patch.delenv("FORCE_COLOR", raising=False)
        patch.setattr("engram.cli.demo.TENANT", f"demo-{uuid.uuid4().hex[:12]}")
        yield


def said(*arguments: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = run(arguments)
    assert code == 0, out.getvalue()
    return out.getvalue()


@pytest.fixture(scope="module")
def shown(place: None) -> Shown:
    page = said("demo")
    return Shown(page, json.loads(said("demo", "--json")))


def test_the_whole_conversation_becomes_events_and_memories_and_the_chain_is_whole(shown: Shown) -> None:
    assert shown.number("events in the file") == shown.number("events appended now") == EVENTS >= 250
    assert shown.number("memories derived now") > EVENTS, "every message leaves its words, and many leave facts too"
    assert shown.data["ledger"]["chain"]["ok"] is True
    assert shown.data["ledger"]["chain"]["events"] == EVENTS
    assert f"The ledger is whole: {EVENTS} events" in shown.page


def test_a_second_run_adds_nothing_and_tells_the_same(shown: Shown) -> None:
    ledger = shown.data["ledger"]
    assert (ledger["read"], ledger["appended"], ledger["events"], ledger["derived"]) == (EVENTS, 0, EVENTS, 0)
    assert ledger["memories"] == shown.number("memories")
    for one in shown.data["questions"]:
        assert one["answer"]["answer_text"] in shown.words


def test_all_six_answers_are_right(shown: Shown) -> None:
    assert len(shown.data["questions"]) == 6
    for one, asked in zip(shown.data["questions"], SCRIPT["questions"], strict=True):
        assert one["ask"] == asked["ask"]
        assert asked["answer"] in one["answer"]["answer_text"]
        assert one["right"] is True
    assert shown.data["ok"] is True


def test_each_answer_rests_on_evidence_whose_terms_add_up(shown: Shown) -> None:
    for one in shown.data["questions"]:
        answer = one["answer"]
        assert answer["sources"], one["ask"]
        assert answer["evidence"], one["ask"]
        for evidence in answer["evidence"]:
            parts = [term["contribution"] for term in evidence["terms"].values()]
            assert sum(parts) == pytest.approx(evidence["score"], abs=1e-9)


def test_a_superseded_fact_is_shown_with_its_lineage_and_the_words_it_rests_on(shown: Shown) -> None:
    line = shown.data["lineage"]
    assert SCRIPT["superseded"]["to"] in line["head"]["fact"]
    before = [one for one in line["revisions"] if one["status"] == "superseded"]
    assert [SCRIPT["superseded"]["from"] in one["fact"] for one in before] == [True]
    assert [one["revision"] for one in line["revisions"]] == list(range(len(line["revisions"]), 0, -1))
    quotes = {why["memory"]["memory_id"]: why["citations"][0]["quote"] for why in shown.data["said"]}
    assert SCRIPT["superseded"]["to"] in quotes[line["head"]["memory_id"]]
    assert SCRIPT["superseded"]["from"] in quotes[before[0]["memory_id"]]


def test_the_hard_constraint_is_pinned(shown: Shown) -> None:
    pinned = {one["critical_slot"]: one["fact"] for one in shown.data["critical"]["results"]}
    assert SCRIPT["critical"]["says"] in pinned[SCRIPT["critical"]["slot"]]


def test_the_same_question_has_another_answer_on_an_earlier_day(shown: Shown) -> None:
    then = shown.data["as_of"]
    assert then["ask"] in {one["ask"] for one in shown.data["questions"]}
    assert SCRIPT["as_of"]["answer"] in then["answer"]["answer_text"]
    assert SCRIPT["as_of"]["not"] not in then["answer"]["answer_text"]


@pytest.mark.parametrize("budget", [120, 600, 2000])
def test_the_context_block_keeps_its_budget_cites_its_lines_and_names_the_allergy(shown: Shown, budget: int) -> None:
    block = json.loads(said("demo", "--json", "--max-tokens", str(budget)))["context"]
    assert block["tokens"] <= budget
    assert SCRIPT["context"]["says"] in block["text"]
    assert block["citations"]
    assert all(mark in block["text"] for mark in block["citations"])


def test_the_page_is_complete(shown: Shown) -> None:
    for one in [*SCRIPT["questions"], SCRIPT["as_of"]]:
        assert one["ask"] in shown.words
        assert one["answer"] in shown.words
    for part in ("superseded", SCRIPT["critical"]["slot"], "score", "as of 2025-05-01", "citations", "of 600 tokens"):
        assert part in shown.words
    for part in ("events/s", "memories/s", "for 7 questions", "total"):
        assert part in shown.words
    assert shown.words.count("✓") == 7
    assert "✗" not in shown.words
    assert "\x1b" not in shown.page


def test_the_demo_stays_out_of_everyones_memory(shown: Shown) -> None:
    assert json.loads(said("stats", "--json", "--user", SCRIPT["user"]))["events"] == 0


def test_a_demo_that_breaks_a_promise_says_so_and_fails(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engram.cli.demo.held", lambda told, script: iter([True, False]))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run(["demo"]) == 1
    assert "not what the demo promises" in out.getvalue()
