"""The demo: what it promises is what it shows, and a second run adds nothing."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from commands import Cli

SCRIPT: dict[str, Any] = json.loads((files("engram") / "demo" / "questions.json").read_text("utf-8"))
EVENTS = len((files("engram") / "demo" / "conversation.jsonl").read_text("utf-8").splitlines())


@pytest.fixture
def cli(cli: Cli, monkeypatch: pytest.MonkeyPatch, tenant: str) -> Cli:
    """The command line with a demo tenant of its own, so that every test starts with an empty demo."""
    monkeypatch.setattr("engram.cli.demo.TENANT", tenant)
    return cli


def test_the_demo_shows_everything_it_promises(cli: Cli) -> None:
    told = cli.json("demo")
    assert told["ok"] is True
    assert told["ledger"]["appended"] == told["ledger"]["events"] == EVENTS >= 250
    assert told["ledger"]["chain"]["ok"] is True
    assert told["ledger"]["derived"] > EVENTS, "every user message leaves its words, and many leave facts too"
    assert [one["ask"] for one in told["questions"] if not one["right"]] == []
    assert len(told["questions"]) == 6


def test_each_answer_rests_on_evidence_whose_terms_add_up(cli: Cli) -> None:
    for one in cli.json("demo")["questions"]:
        answer = one["answer"]
        assert one["expected"] in answer["answer_text"]
        assert answer["sources"], one["ask"]
        assert answer["evidence"], one["ask"]
        for evidence in answer["evidence"]:
            parts = [term["contribution"] for term in evidence["terms"].values()]
            assert sum(parts) == pytest.approx(evidence["score"], abs=1e-9)


def test_a_superseded_fact_is_shown_with_its_lineage(cli: Cli) -> None:
    line = cli.json("demo")["lineage"]
    assert SCRIPT["superseded"]["to"] in line["head"]["fact"]
    states = {one["status"] for one in line["revisions"] if SCRIPT["superseded"]["from"] in one["fact"]}
    assert states == {"superseded"}
    assert [one["revision"] for one in line["revisions"]] == list(range(len(line["revisions"]), 0, -1))


def test_the_same_question_has_another_answer_on_an_earlier_day(cli: Cli) -> None:
    told = cli.json("demo")
    then = told["as_of"]["answer"]["answer_text"]
    assert SCRIPT["as_of"]["answer"] in then
    assert SCRIPT["as_of"]["not"] not in then


@pytest.mark.parametrize("budget", ["120", "600", "2000"])
def test_the_context_block_keeps_its_budget_and_names_the_allergy(cli: Cli, budget: str) -> None:
    block = cli.json("demo", "--max-tokens", budget)["context"]
    assert block["tokens"] <= int(budget)
    assert "peanut" in block["text"]
    assert block["citations"]
    assert all(mark in block["text"] for mark in block["citations"])


def test_a_second_run_adds_nothing_and_tells_the_same(cli: Cli) -> None:
    first, second = cli.json("demo"), cli.json("demo")
    assert second["ledger"]["appended"] == 0
    assert second["ledger"]["derived"] == 0
    assert second["ledger"]["memories"] == first["ledger"]["memories"]
    assert [one["answer"]["answer_text"] for one in second["questions"]] == [
        one["answer"]["answer_text"] for one in first["questions"]
    ]
    assert second["timings_ms"]["ingest"] < first["timings_ms"]["ingest"]


def test_what_people_see_is_complete(cli: Cli) -> None:
    ran = cli("demo")
    assert ran.code == 0, ran.out
    words = " ".join(ran.out.split())
    for one in [*SCRIPT["questions"], SCRIPT["as_of"]]:
        assert one["ask"] in words
        assert one["answer"] in words
    for part in ("events appended now", "memories derived now", "superseded", "profile:allergy", "score", "citations"):
        assert part in words
    for part in ("as of 2025-05-01", "tokens", "events/s", "memories/s", "total"):
        assert part in words
    assert words.count("✓") == 7
    assert "✗" not in words


def test_the_demo_stays_out_of_everyones_memory(cli: Cli) -> None:
    cli.json("demo")
    assert cli.json("stats", "--tenant", "default", "--user", "lena")["events"] == 0
