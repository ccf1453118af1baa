"""The command line: every command, its JSON, its exit codes, and its manners."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import typer
from commands import Cli

import engram
from engram.cli import app, code_of, main, show
from engram.errors import (
    AlreadySuperseded,
    EngramError,
    InvalidInput,
    NotFound,
    PolicyError,
    SchemaOutdated,
    SettingsError,
    StaleStream,
    Unavailable,
    UnknownOutcome,
)
from engram.settings import load
from engram.values import Check, DoctorReport

FRIENDS = Path(__file__).parent.parent / "fixtures" / "two_friends.json"
NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"
UNKNOWN = "0198f2aa-0000-7000-8000-000000000001"


def lena(cli: Cli) -> dict[str, str]:
    """A user with a city that changed and an allergy; the ids of what was made."""
    cli.json("remember", "I live in Leipzig. I'm allergic to peanuts.", "--user", "lena", "--session", "one")
    cli.json("remember", "I moved to Hamburg.", "--user", "lena", "--session", "two")
    home = cli.json("recall", "Where do I live?", "--user", "lena")["current"]
    return {"home": home["memory_id"], "lineage": home["lineage_id"]}


# Commands, as people and as programs use them


def test_what_was_remembered_is_recalled_with_what_was_true_before(cli: Cli) -> None:
    lena(cli)
    answer = cli.json("recall", "Where do I live?", "--user", "lena")
    assert "Hamburg" in answer["answer_text"]
    assert "Leipzig" in answer["previous"][0]["fact"]
    shown = cli("recall", "Where do I live?", "--user", "lena")
    assert shown.code == 0
    assert "Hamburg" in shown.out
    assert "Leipzig" in shown.out


def test_a_memory_is_added_shown_listed_revised_and_its_lineage_and_history_are_told(cli: Cli) -> None:
    added = cli.json("add", "The office closes at six", "--topic-key", "hours", "--tag", "office", "--importance", "0")
    assert (added["kind"], added["memory"]["importance"]) == ("add", 0.0)
    first = added["memory"]["memory_id"]
    again = cli("add", "The office closes at six", "--topic-key", "hours", "--importance", "0.9").out
    assert "It keeps its importance: annotate changes that." in " ".join(again.split())
    assert cli.json("get", first)["fact"] == "The office closes at six"
    assert cli.json("get", f"mem-{first[-8:]}")["memory_id"] == first
    revised = cli.json("revise", first, "The office closes at seven", "--reason", "summer", "--actor", "ada")
    assert (revised["kind"], revised["memory"]["revision"]) == ("revise", 2)
    lineage = cli.json("lineage", first)
    assert [one["fact"] for one in lineage["revisions"]] == ["The office closes at seven", "The office closes at six"]
    assert cli.json("lineage", "--topic-key", "hours") == lineage
    listed = cli.json("list", "--tag", "office")["results"]
    assert [one["fact"] for one in listed] == ["The office closes at seven"]
    history = cli.json("history", revised["memory"]["memory_id"])["results"]
    assert ("summer", "ada") in {(entry["reason"], entry["actor"]) for entry in history}
    assert cli.json("explain", first)["superseded_by"] == revised["memory"]["memory_id"]
    told = cli.json("timeline", first, "--group-by", "month", "--since", "yesterday")
    assert [len(month["memories"]) for month in told["periods"]] == [2]
    assert [one["kind"] for one in cli.json("decisions", "--kind", "revise")["results"]] == ["revise"]


def test_a_fact_is_edited_in_place_by_a_word(cli: Cli) -> None:
    first = cli.json("add", "The gate opens at five")["memory"]["memory_id"]
    assert cli.json("revise", first, "six", "--replace", "five")["memory"]["fact"] == "The gate opens at six"
    assert cli.json("revise", first, " sharp", "--append")["memory"]["fact"] == "The gate opens at six sharp"
    both = cli("revise", first, "x", "--append", "--prepend")
    assert both.code == 2


def test_a_fact_is_annotated_in_place_and_ended(cli: Cli) -> None:
    made = cli.json("add", "The gate opens at five", "--tag", "gate", "--importance", "0.4")["memory"]
    said = cli.json(
        "annotate", made["memory_id"], "--tag", "garden", "--tag", "door", "--importance", "0", "--category", "house",
        "--critical-slot", "gate", "--metadata", '{"by": "ada"}', "--expires-in", "7d", "--private",
    )  # fmt: skip
    assert (said["memory_id"], said["revision"], said["fact"]) == (made["memory_id"], 1, made["fact"])
    assert (sorted(said["tags"]), said["importance"], said["category"]) == (["door", "garden"], 0.0, "house")
    assert (said["critical_slot"], said["metadata"], said["private"]) == ("gate", {"by": "ada"}, True)
    assert said["expires_at"] is not None
    again = cli.json("annotate", made["memory_id"], "--critical-slot", "", "--expires-in", "", "--public")
    assert (again["critical_slot"], again["expires_at"], again["private"]) == (None, None, False)
    assert (sorted(again["tags"]), again["importance"]) == (["door", "garden"], 0.0)
    nothing = cli("annotate", made["memory_id"])
    assert nothing.code == 2
    assert "at least one of" in nothing.err
    assert cli("annotate", "mem-00000000", "--tag", "x").code == 3
    dry = cli.json("end", made["memory_id"], "--dry-run")
    assert dry["valid_to"] is not None
    assert made["memory_id"] in [one["memory_id"] for one in cli.json("list")["results"]]
    assert cli.json("end", made["memory_id"], "--at", "now")["valid_to"] is not None
    assert made["memory_id"] not in [one["memory_id"] for one in cli.json("list")["results"]]
    assert cli("end", made["memory_id"], "--at", "someday").code == 2


def test_the_ledger_is_listed_in_order(cli: Cli) -> None:
    for session, text in (("a", "I live in Oslo."), ("b", "I live in Bergen."), ("a", "I have a cat.")):
        cli.json("remember", text, "--session", session)
    asked = ("event", "list", "--type", "user_message")
    said = cli.json(*asked)["results"]
    assert [one["content"] for one in said] == ["I live in Oslo.", "I live in Bergen.", "I have a cat."]
    newest = cli.json(*asked, "--newest-first", "--limit", "1")["results"]
    assert [one["content"] for one in newest] == ["I have a cat."]
    behind = cli.json(*asked, "--session", "a", "--after", str(said[0]["position"]))["results"]
    assert [one["content"] for one in behind] == ["I have a cat."]
    assert cli.json("event", "list", "--trust", "web")["results"] == []
    assert "I live in Bergen." in cli("event", "list", "--session", "b").out
    assert cli("event", "list", "--since", "someday").code == 2


def test_a_forgotten_fact_is_gone_and_comes_back(cli: Cli) -> None:
    made = lena(cli)
    assert made["home"] in cli.json("forget", made["home"], "--user", "lena", "--dry-run")["forgotten"]
    assert "Hamburg" in cli.json("recall", "Where do I live?", "--user", "lena")["answer_text"]
    assert made["home"] in cli.json("forget", made["home"], "--user", "lena")["forgotten"]
    assert "Hamburg" not in cli.json("recall", "Where do I live?", "--user", "lena")["answer_text"]
    assert cli.json("restore", made["home"], "--user", "lena")["status"] == "active"
    assert cli.json("endorse", made["home"], "operator", "--user", "lena")["trust"] == "operator"
    assert cli("endorse", made["home"], "web", "--user", "lena").code == 2
    assert "Hamburg" in cli.json("recall", "Where do I live?", "--user", "lena")["answer_text"]


def test_search_says_why_each_result_scored_as_it_did(cli: Cli) -> None:
    lena(cli)
    best = cli.json("search", "peanut allergy", "--user", "lena", "--limit", "1")["results"][0]
    assert "peanuts" in best["memory"]["fact"]
    assert sum(term["contribution"] for term in best["terms"].values()) == pytest.approx(best["score"], abs=1e-9)
    shown = cli("search", "peanut allergy", "--user", "lena", "--limit", "1").out
    assert f"{best['score']:.3f}" in shown
    assert max(best["terms"], key=lambda name: best["terms"][name]["contribution"]) in shown


def test_a_context_stays_in_its_budget_and_cites_its_lines(cli: Cli) -> None:
    lena(cli)
    block = cli.json("context", "Suggest a restaurant", "--user", "lena", "--max-tokens", "200")
    assert block["tokens"] <= 200
    assert "peanuts" in block["text"]
    assert block["citations"]
    assert all(mark in block["text"] for mark in block["citations"])


def test_stats_verify_and_doctor_look_at_what_is_there(cli: Cli) -> None:
    lena(cli)
    counts = cli.json("stats", "--user", "lena")
    assert counts["events"] == 2
    assert counts["critical"] >= 2
    report = cli.json("verify")
    assert (report["ok"], report["events"]) == (True, 2)
    assert "whole" in cli("verify").out
    assert cli.json("verify", "--user", "nobody")["events"] == 0
    health = cli("health", "--json")
    assert (health.data["tier"], health.code) == ("full", 0 if health.data["ok"] else 1)
    assert "tier" in cli("health", "--no-probe").out
    down = cli("health", "--json", "--database-url", NOWHERE)
    assert (down.data["tier"], down.data["checks"][0]["ok"], down.code) == (None, False, 1)
    checks = cli("doctor", "--json")
    assert checks.data["checks"]
    assert checks.code == (0 if checks.data["ok"] else 1)
    assert [check["name"] for check in checks.data["checks"] if check["ok"] and check["repair"]] == []


def test_no_column_squeezes_another_out_of_a_table(cli: Cli) -> None:
    said = "because the review of the committee that met on Monday found that it was no longer so"
    who = "an-agent-of-the-night-shift-whose-name-is-as-long-as-this"
    made = cli.json("add", "Otters sleep in the estuary", "--user", "lena")["memory"]["memory_id"]
    cli("forget", made, "--user", "lena", "--reason", said, "--actor", who)
    cli("restore", made, "--user", "lena", "--reason", said, "--actor", who)
    told = cli("history", made, "--user", "lena").out
    for word in ("Otters", "estuary", "restored", "forgotten", *said.split(), "an-agent", "as-this"):
        assert word in told, word
    before, shown, checks = None, "", cli("doctor", "--json").data["checks"]
    while checks != before:  # the server may analyze a table meanwhile, which is an open transaction
        before, shown, checks = checks, cli("doctor").out, cli("doctor", "--json").data["checks"]
    for check in checks:
        for word in f"{check['detail']} {check['repair'] or ''}".split():
            assert word in shown, word


def test_the_doctor_names_repairs_of_what_is_not_well() -> None:
    fine, bad = Check("server", True, "PostgreSQL 18"), Check("schema", False, "revision none", "engram migrate")
    for checks, told in (((fine,), False), ((fine, bad), True)):
        screen = show.Screen(file=io.StringIO(), width=120)
        show.checks(screen, DoctorReport(not told, checks))
        assert ("engram migrate" in screen.file.getvalue()) is told  # type: ignore[attr-defined]
        assert ("repair" in screen.file.getvalue()) is told  # type: ignore[attr-defined]


def test_a_narrow_screen_has_every_word_of_every_column() -> None:
    for width in (40, 80, 200):
        screen = show.Screen(file=io.StringIO(), width=width)
        made = show.table("", "id", "fact", "since", "because", wide=("fact", "because"), named=("since",))
        made.add_row(
            "1", "mem-1a2b3c4d", show.plain("Otters sleep [in] the estuary"), "2026-11-27 21:30", "it was seen"
        )
        show.listed(screen, made, "nothing")
        show.facts(screen, {"id": "01a21ee0-2042-71e6-978e-ae157fb668ea and what follows"})
        told = screen.file.getvalue()  # type: ignore[attr-defined]
        for word in ("mem-1a2b3c4d", "Otters sleep", "[in]", "estuary", "2026-11-27", "it was seen", "follows"):
            assert word in told, (width, word)
        assert ("─" in told) is (width == 200)


def test_a_read_can_be_put_to_an_earlier_day(cli: Cli) -> None:
    add = ("--topic-key", "sprint", "--valid-from")
    cli.json("add", "Sprint 41 is running", *add, "2025-06-02")
    cli.json("add", "Sprint 42 is running", *add, "2025-06-16")
    assert cli.json("lineage", "--topic-key", "sprint")["head"]["fact"] == "Sprint 42 is running"
    assert (
        cli.json("lineage", "--topic-key", "sprint", "--as-of", "2025-06-05")["head"]["fact"] == "Sprint 41 is running"
    )
    then = cli.json("recall", "Which sprint is running?", "--as-of", "2025-06-05T12:00:00+02:00")
    assert "41" in then["answer_text"]
    assert cli.json("list", "--known-at", "2025-06-05")["results"] == []
    assert cli.json("list", "--known-at", "yesterday")["results"] == []
    assert len(cli.json("list", "--as-of", "now")["results"]) == 1


def test_a_time_that_names_no_moment_is_refused_with_what_is_expected(cli: Cli) -> None:
    expected = 'expected a date such as 2025-05-01, an ISO time, "yesterday" or "3 days ago"'
    for arguments in (["list", "--as-of", "tea"], ["add", "Tea is out", "--valid-to", ""], ["history", "--since", ""]):
        ran = cli(*arguments)
        assert ran.code == 2
        assert f"{arguments[-2]}: {expected}" in ran.err


# Whose memory


def test_scope_options_keep_users_agents_and_namespaces_apart(cli: Cli) -> None:
    for user in ("ada", "bob"):
        cli.json("add", f"{user} likes tea", "--user", user, "--namespace", "kitchen", "--agent", "host")
    where = ("--namespace", "kitchen", "--agent", "host")
    facts = [one["fact"] for one in cli.json("list", "--user", "ada", *where)["results"]]
    assert facts == ["ada likes tea"]
    assert cli.json("list", "--user", "ada")["results"] == []
    assert cli.json("list", *where)["results"] == []
    everybody = cli.json("list", "--all-users", *where)["results"]
    assert {one["fact"] for one in everybody} == {"ada likes tea", "bob likes tea"}
    both = cli.json("list", "--user", "bob", "--namespace", "kitchen", "--agent", "host", "--agent", "other")["results"]
    assert [one["fact"] for one in both] == ["bob likes tea"]


def test_shared_memories_are_left_out_on_request(cli: Cli) -> None:
    cli.json("add", "The house has a red door")
    assert len(cli.json("list", "--namespace", "work")["results"]) == 1
    assert cli.json("list", "--namespace", "work", "--no-shared")["results"] == []


def test_a_read_for_a_user_says_what_is_the_agents_and_that_nothing_is_his(cli: Cli) -> None:
    cli.json("add", "The house has a red door")
    cli.json("add", "ada likes tea", "--user", "ada")
    assert "None of this is of user nobody: it is the agent's own" in cli("list", "--user", "nobody").out
    assert cli("list", "--user", "ada").out.count("agent's") == 1
    assert "[agent's]" in cli("search", "door", "--user", "ada").out
    assert "agent's" not in cli("list").out


# A list that is empty, and what is said of it where nobody is named.
EMPTY = {
    "list": "No memories found. No user was named",
    "search tea": "Nothing found. No user was named",
    "recall tea?": "Nothing is known about that.\nNo user was named",
    "history": "Nothing happened. No user was named",
    "timeline": "No memories found. No user was named",
    "decisions": "Nothing was decided. No user was named",
    "session list": "No sessions found. No user was named",
    "task list": "No tasks found. No user was named",
    "triggers": "No memory is tagged with an action",
    "models": "No embedding model yet",
    "runs": "No runs: `engram consolidate`",
    "replay list": "No shadows: `engram replay run`",
    "topics": "No topics: `engram topics --rebuild`",
    "usage": "No language model was called.",
}


def test_an_empty_list_is_a_line_and_no_frame(cli: Cli) -> None:
    for command, line in EMPTY.items():
        said = cli(*command.split())
        assert said.out.startswith(line), command
        assert "─" not in said.out, command
    assert cli("list", "--user", "ada").out == "No memories found of user ada, nor of the agent itself.\n"
    assert cli("list", "--all-users").out == "No memories found.\n"


def test_the_environment_says_whose_memory_it_is_where_no_option_does(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.json("add", "ada likes tea", "--user", "ada")
    monkeypatch.setenv("ENGRAM_USER", "ada")
    assert [one["fact"] for one in cli.json("list")["results"]] == ["ada likes tea"]
    assert cli.json("list", "--user", "bob")["results"] == []


def test_another_tenant_sees_nothing(cli: Cli) -> None:
    made = cli.json("add", "The safe is behind the painting")["memory"]["memory_id"]
    assert cli.json("list", "--tenant", "elsewhere")["results"] == []
    assert cli("get", made, "--tenant", "elsewhere").code == 3


# Files


def test_a_transcript_read_twice_adds_nothing(cli: Cli) -> None:
    first = cli.json("ingest", str(FRIENDS), "--user", "rosa")
    assert (first["events"], first["added"], first["known"]) == (20, 20, 0)
    assert first["memories"] > 0
    second = cli.json("ingest", str(FRIENDS), "--user", "rosa")
    assert (second["events"], second["added"], second["known"], second["memories"]) == (20, 0, 20, 0)


def test_a_transcript_read_for_another_user_is_that_users_own(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(json.dumps(turn(n)) for n in range(3)))
    owners = (["--user", "ada"], ["--user", "ben"], ["--user", "ben", "--namespace", "work"], ["--agent", "coder"], [])
    for owner in owners:
        assert cli.json("ingest", str(path), *owner)["added"] == 3
    for owner in owners:
        assert cli.json("ingest", str(path), *owner)["added"] == 0


def test_a_transcript_that_grew_adds_what_is_new(cli: Cli, tmp_path: Path) -> None:
    lines = [json.dumps({"role": "user", "content": f"Note {n} of the day", "session_id": "s"}) for n in range(5)]
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(lines[:3]))
    assert cli.json("ingest", str(path))["added"] == 3
    path.write_text("\n".join(lines))
    assert cli.json("ingest", str(path))["added"] == 2


def test_a_dry_run_of_ingest_reads_the_file_and_writes_nothing(cli: Cli) -> None:
    said = cli.json("ingest", str(FRIENDS), "--dry-run")
    assert (said["events"], said["sessions"], said["dry_run"]) == (20, 3, True)
    assert cli.json("stats")["events"] == 0


def test_a_broken_file_is_named_with_its_line_and_the_rest_can_be_read_after_mending_it(
    cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "talk.jsonl"
    good = [json.dumps({"role": "user", "content": f"Note {n}", "session_id": "s"}) for n in range(150)]
    path.write_text("\n".join([*good, "{broken"]))
    ran = cli("ingest", str(path))
    assert ran.code == 2
    assert "talk.jsonl line 151" in ran.err
    path.write_text("\n".join([*good, json.dumps({"role": "user", "content": "mended", "session_id": "s"})]))
    cli.json("ingest", str(path))
    assert cli.json("stats")["events"] == 151


def test_a_tool_call_and_its_result_are_events_of_their_kind(cli: Cli, tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "calendar", "arguments": "{}"}}
    chat = [
        {"role": "user", "content": "What is on Tuesday?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Dentist at 14:00"},
    ]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(chat))
    assert cli.json("ingest", str(path))["added"] == 3


def test_a_run_that_was_killed_is_started_again_and_ends_as_if_nothing_had_happened(
    cli: Cli, database_url: str, tenant: str, tmp_path: Path
) -> None:
    many = 500
    path = tmp_path / "long.jsonl"
    path.write_text("\n".join(json.dumps(turn(n)) for n in range(many)))
    env = {**os.environ, "DATABASE_URL": database_url, "ENGRAM_TENANT": tenant}
    with subprocess.Popen([sys.executable, "-m", "engram", "ingest", str(path)], env=env) as running:
        deadline = time.monotonic() + 30
        while cli.json("stats")["events"] == 0 and time.monotonic() < deadline:
            time.sleep(0.02)
        running.kill()
    assert 0 < cli.json("stats")["events"] < many, "the run was to be killed in its middle"
    rest = cli.json("ingest", str(path))
    assert rest["added"] == many - rest["known"]
    assert cli.json("stats")["events"] == many
    report = cli.json("verify")
    assert (report["ok"], report["events"]) == (True, many)


def turn(number: int) -> dict[str, str]:
    """One of many turns that say different things."""
    role = ("user", "assistant")[number % 2]
    return {"role": role, "content": f"Item {number} of the list is on shelf {number % 37}.", "session_id": "list"}


# Writing without writing


def test_a_dry_run_says_what_would_happen_and_writes_nothing(cli: Cli) -> None:
    said = cli.json("add", "The office closes at six", "--dry-run")
    assert (said["kind"], said["dry_run"]) == ("add", True)
    assert cli.json("list")["results"] == []
    shown = cli("add", "The office closes at six", "--dry-run")
    assert "would add" in shown.out


def test_the_same_idempotency_key_has_its_effect_once(cli: Cli) -> None:
    for _ in range(2):
        cli.json("add", "The office closes at six", "--idempotency-key", "k1")
    assert len(cli.json("list")["results"]) == 1
    assert cli("add", "Another fact", "--idempotency-key", "k1").code == 4


@pytest.mark.parametrize("beside", [("--role", "tool"), ("--role", "nobody"), ("--derive", "skip")], ids=" ".join)
def test_what_is_kept_under_a_topic_takes_no_option_that_it_would_not_heed(cli: Cli, beside: tuple[str, ...]) -> None:
    said = cli("remember", "The office closes at six", "--topic-key", "hours", *beside)
    assert said.code == 2
    assert said.err.startswith("engram: --topic-key: expected no --role but user and no --derive beside it")
    assert cli.json("list")["results"] == []
    assert cli("remember", "The office closes at six", "--topic-key", "hours", "--role", "user").code == 0


def test_a_text_can_come_from_stdin(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("The office closes at six"))
    assert cli.json("add", "-")["memory"]["fact"] == "The office closes at six"


def test_a_text_from_stdin_ends_without_a_line_break_and_is_text(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("One line\nand another\r\n"))
    assert cli.json("add", "-")["memory"]["fact"] == "One line\nand another"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff"), encoding="utf-8"))
    assert cli("add", "-").err == "engram: stdin: expected text in utf-8, found other bytes\n"


def test_a_stream_that_is_closed_or_full_is_no_traceback(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["engram", "add", "-"])
    for name in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{name}", None)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    with contextlib.suppress(OSError), Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        told = cli("list", "--json")
        assert (told.code, told.err) == (1, "engram: No space left on device.\n")


def test_what_a_screen_cannot_show_is_shown_as_its_number(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def said(*arguments: str) -> str:
        raw = io.BytesIO()
        monkeypatch.setattr("sys.argv", ["engram", *arguments])
        monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="ascii"))
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code == 0
        return raw.getvalue().decode("ascii")

    cli.json("add", "Zoë likes 🦊")
    assert r"Zo\xeb likes \U0001f98a" in said("list")
    assert json.loads(said("list", "--json"))["results"][0]["fact"] == "Zoë likes 🦊"


# Exit codes and errors


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidInput("x", "y"), 2),
        (SettingsError(), 2),
        (PolicyError(), 2),
        (NotFound(), 3),
        (AlreadySuperseded(), 4),
        (StaleStream(1, 2), 4),
        (Unavailable(), 5),
        (UnknownOutcome("k"), 5),
        (SchemaOutdated(), 1),
        (EngramError(), 1),
    ],
)
def test_every_kind_of_error_has_its_exit_code(error: EngramError, code: int) -> None:
    assert code_of(error) == code


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["get", UNKNOWN], 3, "engram: "),
        (["get", "mem-00000000"], 3, "engram: "),
        (["get", "no id at all"], 2, "engram: "),
        (["recall"], 2, "question"),
        (["recall", "x", "--limit", "many"], 2, "--limit"),
        (["recall", "x", "--limit", "-1"], 2, "limit"),
        (["recall", "x", "--as-of", "some day"], 2, "--as-of"),
        (["recall"], 2, "'question'. Try: engram recall --help"),
        (["recall", "x", "--limit", "many"], 2, "integer. Try: engram recall --help"),
        (["session", "nonsense"], 2, "Try: engram session --help"),
        (["get", "mem-xyz"], 2, "such as mem-1a2b3c4d"),
        (["nonsense"], 2, "nonsense"),
        (["add", "x", "--importance", "7"], 2, "importance"),
        (["add", "x", "--metadata", "[1]"], 2, "--metadata"),
        (["add", "x", "--all-users"], 2, "--all-users"),
        (["add", "x", "--agent", "a", "--agent", "b"], 2, "agent"),
        (["list", "--all-users", "--user", "ada"], 2, "--all-users"),
        (["list", "--type", "nonsense"], 2, "type"),
        (["ingest", "/no/such/file.jsonl"], 2, "file.jsonl"),
        (["lineage"], 2, "engram: "),
    ],
)
def test_a_failure_is_one_sentence_on_stderr_and_an_exit_code(
    cli: Cli, arguments: list[str], code: int, says: str
) -> None:
    ran = cli(*arguments)
    assert ran.code == code, ran.err
    assert ran.out == ""
    assert says in ran.err
    assert ran.err.startswith("engram: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    machine = cli(*arguments, "--json")
    assert machine.code == code
    assert machine.data["error"]["message"]


def test_a_database_that_does_not_answer_is_said_to_be_unavailable(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engram.database.MAX_RETRY_SECONDS", 0.1)
    ran = cli("stats", "--database-url", NOWHERE)
    assert ran.code == 5
    assert ran.err.count("\n") == 1
    assert "nobody" not in ran.err, "an address may hold a password"


LOSING = """
import sys
from engram import cli, database

asked, revision = [], database._revision
def lost_at_first(conn):
    asked.append(1)
    if len(asked) == 1:
        conn.connection.cursor().execute("select pg_terminate_backend(pg_backend_pid())")
    return revision(conn)

database._revision = lost_at_first
cli.main()
"""


def test_a_connection_that_is_lost_is_no_traceback(database_url: str, tenant: str) -> None:
    command = [sys.executable, "-c", LOSING, "stats", "--json", "--database-url", database_url, "--tenant", tenant]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["events"] == 0


def test_an_unexpected_error_is_a_sentence_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a secret value")

    monkeypatch.setattr("engram.cli.desk.Desk.settings", broken)
    ran = cli("stats")
    assert ran.code == 1
    assert "RuntimeError" in ran.err
    assert "secret" not in ran.err + ran.out
    traced = cli("--traceback", "stats")
    assert "Traceback" in traced.err


def test_a_wrong_setting_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAM_COLOUR", "red")
    ran = cli("stats")
    assert ran.code == 2
    assert "ENGRAM_COLOUR" in ran.err


@pytest.mark.parametrize("given", ["-1", "soon"])
def test_a_time_that_is_none_is_named_with_what_is_expected(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("ENGRAM_LOCK_TIMEOUT", given)
    ran = cli("stats")
    assert (ran.code, ran.err) == (2, "engram: lock_timeout: expected seconds, or a duration such as PT30S\n")


def test_what_is_not_found_says_that_no_user_was_named(cli: Cli) -> None:
    made = cli.json("add", "ada likes tea", "--user", "ada")["memory"]["memory_id"]
    assert cli("get", made).err == "engram: no memory with that id in this scope. No user was named with --user.\n"
    assert cli("get", made, "--user", "bob").err == "engram: no memory with that id in this scope\n"
    assert "mem-1a2b3c4d or evt-1a2b3c4d" in cli("cite", "x").err
    assert "behind the ids" in cli("feedback", "+1", made).err
    nobodys = "01a22c95-2c1e-71ec-a21a-35c7075b2999"
    assert cli("undo", nobodys).err.endswith(" in this scope. No user was named with --user.\n")
    assert cli("erase", "--everything-of", "zoe").err == "engram: nothing of that user was ever written\n"
    for act in ("retry", "cancel"):  # jobs are looked for among those of every user
        assert cli("jobs", act, nobodys).err == "engram: Nothing with that id exists in this scope.\n"


WRONG_SETTINGS = [
    ({"ENGRAM_TIME_ZONE": "Mars"}, (), "time_zone: expected an IANA time zone such as Europe/Paris"),
    ({"REDIS_URL": "elsewhere"}, (), "redis_url: expected a URL such as redis://host:6379/0"),
    ({"ENGRAM_LLM_MODELS": "{"}, (), 'llm_models: expected JSON such as {"extract": "openai/gpt-4o-mini"}'),
    ({"ENGRAM_LLM_LEVEL": "some"}, (), "llm_level: expected 'off', 'auto' or 'full'"),
    ({"ENGRAM_POOL_SIZE": "many"}, (), "pool_size: expected a whole number"),
    ({"ENGRAM_POOL_SIZE": "0"}, (), "pool_size: expected greater than or equal to 1"),
    ({}, ("--data-dir", ""), "--data-dir: expected a path, found no text"),
]


@pytest.mark.parametrize(("environment", "options", "told"), WRONG_SETTINGS)
def test_a_wrong_setting_is_told_in_our_words_before_anything_is_opened(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], options: tuple[str, ...], told: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    ran = cli("stats", *options)
    assert (ran.code, ran.err) == (2, f"engram: {told}\n")


@pytest.mark.parametrize("name", ["LOCK", "STATEMENT"])
@pytest.mark.parametrize("given", ["0", "0.0004", "-PT1S", "P2D"])
def test_a_wait_without_a_limit_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, given: str) -> None:
    """PostgreSQL takes nothing, and what it rounds to nothing, for no limit at all."""
    monkeypatch.setenv(f"ENGRAM_{name}_TIMEOUT", given)
    with pytest.raises(SettingsError, match="expected from one millisecond to one day"):
        load()


@pytest.mark.parametrize(("given", "seconds"), [("5", 5), ("0.5", 0.5), ("PT30S", 30), ("00:00:07", 7)])
def test_a_time_is_given_in_seconds_or_as_a_duration(
    monkeypatch: pytest.MonkeyPatch, given: str, seconds: float
) -> None:
    monkeypatch.setenv("ENGRAM_LOCK_TIMEOUT", given)
    assert load().lock_timeout.total_seconds() == seconds


@pytest.mark.parametrize(("name", "own", "plain"), [
    ("database_url", "postgresql://own.example/a", "postgresql://plain.example/a"),
    ("redis_url", "redis://own.example:6379/0", "redis://plain.example:6379/0"),
])  # fmt: skip
def test_of_two_names_of_a_setting_the_one_of_our_own_counts(
    monkeypatch: pytest.MonkeyPatch, name: str, own: str, plain: str
) -> None:
    def read(**given: str) -> str:
        return str(getattr(load(**given), name).get_secret_value())

    monkeypatch.setenv(name.upper(), plain)
    monkeypatch.setenv(f"ENGRAM_{name.upper()}", own)
    assert read() == own
    assert read(**{name: "rediss://given.example"}) == "rediss://given.example"
    monkeypatch.setenv(f"ENGRAM_{name.upper()}", "")
    assert read() == plain


@pytest.mark.parametrize("name", ["REDIS_URL", "ENGRAM_REDIS_URL"])
def test_a_setting_of_two_names_is_told_by_that_of_its_field(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "nonsense")
    with pytest.raises(SettingsError, match=r"^redis_url: ") as caught:
        load()
    assert caught.value.facts["name"] == "redis_url"


def test_every_time_of_the_settings_may_be_given_in_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = load({})
    times = {name: one for name, one in usual if isinstance(one, timedelta)}
    assert len(times) == 5
    for name, one in times.items():
        monkeypatch.setenv(f"ENGRAM_{name.upper()}", f"{one.total_seconds():.15g}")
    assert load() == usual


def test_an_interrupt_is_no_traceback(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("engram.cli.desk.Desk.settings", stopped)
    ran = cli("stats")
    assert (ran.code, ran.err) == (130, "engram: Interrupted.\n")


def test_an_interrupt_while_the_commands_are_imported_is_no_traceback(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopped:
        """A person who presses Ctrl-C at once."""

        def find_spec(self, name: str, *_: object) -> None:
            if name == "engram.cli.app":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "engram.cli.app")
    monkeypatch.setattr(sys, "meta_path", [Stopped(), *sys.meta_path])
    ran = cli("stats")
    assert (ran.code, ran.err) == (130, "engram: Interrupted.\n")


# Manners


def test_what_was_replaced_is_told_to_people_too(cli: Cli) -> None:
    said = cli("remember", f"Use {'ghp_' + 'aB3dE6gH9' * 4} for the staging server.")
    assert "secret replaced: github_token (1)" in said.out


def test_stored_text_cannot_command_a_terminal(cli: Cli) -> None:
    evil = "tea \x1b[2J\x1b]0;owned\x07 and \u202ecoffee [bold red]shout[/]"
    made = cli.json("add", evil)["memory"]["memory_id"]
    told = (["history"], ["timeline"], ["decisions"], ["lineage", made], ["explain", made])
    for arguments in (["get", made], ["list"], ["search", "tea"], *told):
        shown = cli(*arguments)
        assert shown.code == 0
        assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", shown.out), arguments
    assert "[bold red]shout[/]" in "".join(cli("get", made).out.split("\n"))


def test_text_is_shown_with_the_numbers_of_what_a_terminal_would_obey() -> None:
    assert show.plain("a\x1bb\u202ec\td\n").plain == "a<U+001B>b<U+202E>c d\n"


def test_nothing_is_coloured_off_a_terminal(cli: Cli) -> None:
    lena(cli)
    for arguments in (["recall", "Where do I live?"], ["search", "city"], ["list"], ["stats"], ["verify"]):
        assert "\x1b" not in cli(*arguments).out + cli(*arguments).err


def test_the_program_says_its_version_and_what_it_can_do(cli: Cli) -> None:
    assert cli("--version").out == f"engram {engram.__version__}\n"
    asked = cli("--help")
    assert asked.code == 0
    assert all(name.split()[0] in asked.out for name, *_ in app.COMMANDS)
    assert cli("search", "--help").code == 0


def test_every_command_offers_json_and_help() -> None:
    for name, work, shared, _ in app.COMMANDS:
        assert "as_json" in {option.name for option in shared}, name
        assert (work.__doc__ or "").strip().endswith("."), name


def test_a_command_made_alone_is_what_it_is_among_all() -> None:
    """Only what the arguments name is made, and whoever asks for no command in particular sees them all."""

    def made(word: str | None) -> dict[str, Any]:
        return told(typer.main.get_command(app.built(word)))["commands"]

    def told(one: Any) -> dict[str, Any]:
        """All that was declared of a command, its options and its own commands."""
        plain = {name: value for name, value in vars(one).items() if isinstance(value, str | int | dict)}
        params = [re.sub(r" at 0x\w+", "", str(vars(param))) for param in one.params]
        own = {name: told(below) for name, below in getattr(one, "commands", {}).items()}
        return {**plain, "params": params, "commands": own}

    every = made(None)
    assert len(every) > 50
    for name, *_ in app.COMMANDS:
        word = name.split()[0]
        assert app.named([word, "--help"]) == app.named(["--traceback", *name.split()]) == word
        assert made(word) == {word: every[word]}
    assert [app.named(words) for words in ([], ["--help"], ["-h", "add"], ["ad", "add"], ["--version"])] == [None] * 5


def test_every_command_and_option_is_in_the_reference() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text()
    for name, work, shared, _ in app.COMMANDS:
        assert f"`engram {name}" in page
        for flag in flags(work, shared):
            assert f"`{flag}`" in page, f"{name} {flag}"


def flags(work: Callable[..., Any], shared: tuple[inspect.Parameter, ...]) -> set[str]:
    """The option flags of a command, as its help would print them."""
    parameters = [*list(inspect.signature(work, eval_str=True).parameters.values())[1:], *shared]
    infos = [parameter.annotation.__metadata__[0] for parameter in parameters]
    declared = {word for info in infos for word in [info.default, *(info.param_decls or ())] if isinstance(word, str)}
    return {word for word in declared if word.startswith("--")}


def test_the_command_line_alone_imports_no_database_and_no_numbers() -> None:
    code = "import sys, engram.cli; print([name for name in ('sqlalchemy', 'numpy', 'rich') if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_a_reader_that_stops_early_is_no_error(cli: Cli, database_url: str, tenant: str) -> None:
    cli.json("ingest", str(FRIENDS))
    env = {**os.environ, "DATABASE_URL": database_url, "ENGRAM_TENANT": tenant}
    for command in ("list --limit 40 | head -1", "list --limit 40 | true", "--help | true", "search --help | true"):
        line = f"{sys.executable} -m engram {command}"
        bash = ["bash", "-o", "pipefail", "-c", line]
        said = subprocess.run(bash, env=env, capture_output=True, text=True, check=False)
        assert said.returncode == 0, said.stderr
        assert said.stderr == ""


@pytest.mark.parametrize(("arguments", "coloured"), [(["stats"], True), (["stats", "--json"], False)])
def test_a_terminal_gets_colour_and_a_program_gets_none(
    database_url: str, tenant: str, arguments: list[str], coloured: bool
) -> None:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    env = {**kept, "DATABASE_URL": database_url, "ENGRAM_TENANT": tenant, "TERM": "xterm-256color"}
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "engram", *arguments], env=env, stdout=theirs, stderr=theirs
    ) as running:
        os.close(theirs)
        said = b""
        # A terminal whose other side has closed ends in an error, not in an end of file.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 65536):
                said += part
    os.close(ours)
    assert running.returncode == 0, said.decode()
    assert (b"\x1b[" in said) is coloured
    if not coloured:
        assert json.loads(said)["events"] == 0


# The embedded database


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the server's own account may enter, which pytest's is not when root runs the tests."""
    made = Path(tempfile.mkdtemp(prefix="engram-cli-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


def test_the_embedded_database_is_started_found_migrated_and_stopped(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DATABASE_URL", "ENGRAM_MIGRATION_URL"):  # of another server, which is not meant
        monkeypatch.setenv(name, "postgresql://nobody@127.0.0.1:1/elsewhere")
    place = ("--data-dir", str(folder / "a folder with spaces"))
    down = cli("url", *place)
    assert down.code == 5
    assert "engram up" in down.err
    try:
        about = cli.json("up", *place)
        assert about["url"].startswith("postgresql://engram_app@")
        assert cli.json("url", *place)["url"] == about["url"]
        dry = cli.json("migrate", "--dry-run", *place)
        assert (dry["needed"], dry["before"]) == (False, dry["head"])
        assert cli.json("migrate", *place)["after"] == about["schema"]
        cli.json("add", "The office closes at six", *place)
        assert len(cli.json("list", *place)["results"]) == 1
    finally:
        stopped = cli.json("down", *place)
    assert stopped["stopped"] is True
    assert cli.json("down", *place)["stopped"] is False


@pytest.mark.parametrize(("address", "told"), [
    ("postgresql://ada:hunter2@db.example:5432/engram", "postgresql://ada:***@db.example:5432/engram"),
    ("postgresql://ada:hunt/er2@db.example/engram", "postgresql://ada:***@db.example/engram"),
    ("postgresql://ada:hunt#er2?@db.example/engram", "postgresql://ada:***@db.example/engram"),
    ("postgresql://ada:[hunter2@db.example/engram", "postgresql://ada:***@db.example/engram"),
    ("postgresql://ada@db.example/engram?password=hunter2", "postgresql://ada@db.example/engram?password=***"),
    ("postgresql://db.example/engram?options=-c%20jit%3Doff", "postgresql://db.example/engram?options=-c%20jit%3Doff"),
])  # fmt: skip
def test_a_password_is_never_printed(cli: Cli, address: str, told: str) -> None:
    assert cli.json("url", "--database-url", address)["url"] == told


def test_a_task_is_begun_saved_paused_and_taken_up_again(cli: Cli) -> None:
    task = cli.json("task", "start", "Paint the keel", "--user", "lena", "--metadata", '{"coats": 2}')
    run = task["task_run_id"]
    saved = cli.json(
        "checkpoint", "save", run, "Half painted", "--user", "lena", "--done", "sand", "--pending", "paint",
        "--pending", "dry", "--state", '{"n": 1}', "--expected-version", "0",
    )  # fmt: skip
    assert (saved["version"], saved["pending_steps"], saved["state"]) == (1, ["paint", "dry"], {"n": 1})
    assert cli("checkpoint", "save", run, "x", "--user", "lena", "--expected-version", "0").code == 4
    paused = cli.json("task", "update", run, "--user", "lena", "--status", "paused")
    position = str(paused["position"])
    back = cli.json("task", "resume", run, "--user", "lena", "--expected-position", position)
    assert (back["task"]["status"], back["checkpoint"]["state"]) == ("active", {"n": 1})
    assert cli("task", "resume", run, "--user", "lena", "--expected-position", position).code == 4
    for command in ("task resume", "task show", "checkpoint list"):
        shown = cli(*command.split(), run, "--user", "lena")
        assert shown.code == 0
        assert "Half painted" in shown.out or "Paint the keel" in shown.out
    cli.json("task", "update", run, "--user", "lena", "--status", "completed", "--outcome", "Painted")
    assert cli("task", "update", run, "--user", "lena", "--status", "failed").code == 4
    assert [one["outcome"] for one in cli.json("task", "list", "--user", "lena")["results"]] == ["Painted"]
    cli.json("task", "forget", run, "--user", "lena")
    assert cli("task", "show", run, "--user", "lena").code == 3
    assert cli.json("task", "restore", run, "--user", "lena")["status"] == "completed"
    assert cli("task", "show", run, "--user", "someone").code == 3
