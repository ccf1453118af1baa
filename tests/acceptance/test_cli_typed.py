"""What an error on the console is about: the option or the argument that was typed, and for programs the field."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest
from commands import Cli

from engram.cli import app, typed
from engram.errors import InvalidInput, LimitExceeded, SettingsError

UNKNOWN = "0198f2aa-0000-7000-8000-000000000001"
LONG = "x" * 600


@pytest.mark.parametrize(
    ("typed_", "why"),
    [
        ('{"a": 1, "a": 2}', "expected an object whose keys differ, found a key given twice"),
        ('{"a": NaN}', "expected finite numbers, found NaN or an infinity"),
        ("{a: 1}", "expected JSON, found something else at line 1, column 2"),
        ("[1]", "expected a JSON object, found something else"),
    ],
)
def test_what_is_wrong_with_metadata_is_said(cli: Cli, typed_: str, why: str) -> None:
    ran = cli("add", "x", "--metadata", typed_)
    assert (ran.code, ran.err) == (2, f"engram: --metadata: {why}\n")


@pytest.mark.parametrize(
    ("arguments", "named", "field"),
    [
        (["add", "x", "--importance", "7"], "--importance", "importance"),
        (["add", "x", "--topic-key", ""], "--topic-key", "topic_key"),
        (["add", "x", "--type", "nonsense"], "--type", "memory_type"),
        (["add", "x", "--tag", LONG], "--tag", "tags[0]"),
        (["add", "x", "--session", LONG], "--session", "session_id"),
        (["add", "x", "--user", LONG], "--user", "user_id"),
        (["add", "x", "--tenant", LONG], "--tenant", "tenant_id"),
        (["add", "x", "--agent", LONG], "--agent", "agent_id"),
        (["add", "x", "--actor", LONG], "--actor", "actor"),
        (["add", "x", "--valid-from", "tea"], "--valid-from", "valid_from"),
        (["add", "x", "--metadata", "[1]"], "--metadata", "metadata"),
        (["add", ""], "fact", "fact"),
        (["remember", ""], "text", "messages[0].content"),
        (["remember", "x", "--role", "nonsense"], "--role", "messages[0].role"),
        (["get", "mem-xyz"], "memory_id", "memory_id"),
        (["search", "x", "--type", "nonsense"], "--type", "filter.memory_types[0]"),
        (["search", "x", "--per-session", "0"], "--per-session", "per_session"),
        (["list", "--status", "nonsense"], "--status", "filter.statuses[0]"),
        (["list", "--as-of", "tea"], "--as-of", "as_of"),
        (["list", "--all-users", "--user", "ada"], "--all-users", "all_users"),
        (["recall", "x", "--since", "2025-02-02", "--until", "2025-01-01"], "--since", "window"),
        (["context", "x", "--task", "zz"], "--task", "task_run_id"),
        (["context", "x", "--section", "Topics"], "--section", "sections"),
        (["deep-search", "x", "--queries", "900"], "--queries", "n_queries"),
        (["event", "search", "x", "--role", "nonsense"], "--role", "roles"),
        (["checkpoint", "save", UNKNOWN, "x", "--done", ""], "--done", "completed_steps[0]"),
        (["graph", "list", UNKNOWN, "--type", ""], "--type", "relation_types"),
        (["usage", "--by", "nonsense"], "--by", "group_by"),
        (["erase", "--memory", "zz", "--yes"], "--memory", "memories"),
        (["decay", "--plot", "zz"], "--plot", "memory_id"),
        (["export", "-"], "file", "path"),
    ],
)
def test_an_error_names_what_was_typed_and_for_programs_the_field(
    cli: Cli, arguments: list[str], named: str, field: str
) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"engram: {named}: expected ")
    machine = cli(*arguments, "--json")
    error = machine.data["error"]
    assert (error["field"], error["code"]) in ((field, "invalid_input"), (field, "limit_exceeded"))
    assert machine.err == ran.err == f"engram: {error['message']}\n"


def test_what_is_expected_names_the_other_option_too(cli: Cli) -> None:
    ran = cli("add", "x", "--valid-from", "2025-02-02", "--valid-to", "2025-01-01")
    assert ran.err == "engram: --valid-to: expected a time after --valid-from, found one that is not\n"
    assert cli("lineage").err == "engram: memory_id: expected either a memory_id or a --topic-key, found neither\n"
    both = cli("context", "x", "--session", "s", "--task", UNKNOWN)
    assert both.err == "engram: --session: expected one of --task and --session, found both\n"


def test_what_nobody_typed_keeps_its_name(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"role": "user", "content": "x", "session_id": "s", "derive": "nonsense"}))
    for options in ((), ("--derive", "rules"), ("--session", "one")):
        assert cli("ingest", str(path), *options).err.startswith("engram: messages[0].derive: expected one of skip")
    monkeypatch.setenv("ENGRAM_USER", LONG)
    assert cli("stats").err == "engram: user_id: expected at most 200 bytes, found 600\n"
    assert cli("stats", "--user", LONG).err == "engram: --user: expected at most 200 bytes, found 600\n"


def test_errors_that_are_about_no_field_have_none(cli: Cli) -> None:
    assert set(cli("get", UNKNOWN, "--json").data["error"]) == {"code", "message"}
    assert set(cli("get", "--json").data["error"]) == {"code", "message"}


def test_the_facts_of_an_error_stay_the_librarys() -> None:
    _, work, shared, _ = next(one for one in app.COMMANDS if one[0] == "add")
    parameters = [*list(inspect.signature(work, eval_str=True).parameters.values())[1:], *shared]
    given = {"valid_from": "", "tag": ["a"], "data_dir": "", "metadata": "{}"}
    for error, text in (
        (InvalidInput("valid_from", "a time"), "--valid-from: expected a time"),
        (LimitExceeded("tags[3]", 2, 3), "--tag: expected at most 2, found 3"),
        (InvalidInput("metadata.valid_to", "text"), "--metadata.valid_to: expected text"),
        (InvalidInput("talk.jsonl line 3", "JSON"), "talk.jsonl line 3: expected JSON"),
        (InvalidInput("tags.jsonl line 3", "JSON"), "tags.jsonl line 3: expected JSON"),
        (SettingsError("data_dir: expected a path", name="data_dir"), "--data-dir: expected a path"),
        (SettingsError("ENGRAM_X: no such setting", name="ENGRAM_X"), "ENGRAM_X: no such setting"),
        (SettingsError(), "A setting is missing, unknown or makes no sense."),
    ):
        before = dict(error.facts)
        typed.name_what_was_typed(error, parameters, given)
        assert (str(error), error.facts) == (text, before)


def test_every_name_that_stands_for_a_field_is_one_of_a_command() -> None:
    known = {name for _, work, _, _ in app.COMMANDS for name in inspect.signature(work).parameters}
    assert {name for names in typed.OTHERWISE.values() for name in names} <= known
