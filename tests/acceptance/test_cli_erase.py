"""The commands that erase, as people and as programs use them."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from commands import Cli


def test_a_user_is_erased_by_a_command_that_says_what_it_did(cli: Cli) -> None:
    cli.json("remember", "I live in Leipzig.", "--user", "lena", "--session", "one")
    cli.json("remember", "I live in Oslo.", "--user", "mia")
    tried = cli.json("erase", "--everything-of", "lena", "--dry-run")
    assert (tried["dry_run"], tried["erased"]["events"] > 0) == (True, True)
    shown = cli("erase", "--everything-of", "lena", "--yes")
    assert shown.code == 0
    assert "nothing is left" in shown.out
    assert "Out of reach" in shown.out
    assert cli.json("list", "--user", "lena")["results"] == []
    assert cli.json("list", "--user", "mia")["results"]
    again = cli.json("erase", "--whole-scope", "--user", "lena", "--yes")
    assert (again["erased"], again["clean"]) == ({}, True)


def test_it_asks_a_person_and_does_nothing_where_nobody_answers(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.json("remember", "I live in Leipzig.", "--user", "lena", "--session", "one")
    for answer, code in (("n\n", 1), ("", 2)):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        asked = cli("erase", "--everything-of", "lena")
        assert asked.code == code
        assert asked.err.count("\nengram: the answer: expected y or n, or --yes") == code - 1
    assert cli.json("list", "--user", "lena")["results"]
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert cli("erase", "--session", "one", "--user", "lena").code == 0
    assert cli.json("list", "--user", "lena")["results"] == []


@pytest.mark.parametrize(
    ("target", "named"),
    [
        (["--whole-scope"], "the whole scope: tenant {tenant}, namespace default, agent default, user lena"),
        (["--session", "one"], "session one of tenant {tenant}, namespace default, agent default, user lena"),
        (["--everything-of", "lena"], "everything of user lena in tenant {tenant}"),
        (["--event", "{event}"], "events {event} of tenant {tenant}"),
    ],
)
def test_it_says_before_it_asks_whose_memory_would_go_and_how_much(
    cli: Cli, tenant: str, monkeypatch: pytest.MonkeyPatch, target: list[str], named: str
) -> None:
    event = cli.json("remember", "I live in Leipzig.", "--user", "lena", "--session", "one")["event_ids"][0]
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    asked = cli("erase", *(one.format(event=event) for one in target), "--user", "lena")
    assert named.format(tenant=tenant, event=event) in asked.err
    assert re.search(r"; events: 1, memories: up to [1-9]\? \[y/N\]", asked.err)
    assert cli.json("list", "--user", "lena")["results"], "counting has erased nothing"


def test_who_interrupts_the_question_is_not_told_to_say_yes(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    class Keyboard(io.StringIO):
        """Somebody who presses Ctrl-C."""

        def readline(self, *_: object) -> str:
            raise KeyboardInterrupt

    cli.json("remember", "I live in Leipzig.", "--user", "lena")
    monkeypatch.setattr("sys.stdin", Keyboard())
    asked = cli("erase", "--everything-of", "lena")
    assert asked.code == 130
    assert "--yes" not in asked.err
    assert cli.json("list", "--user", "lena")["results"]


def test_it_asks_nobody_whether_nothing_is_to_be_erased(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typer.confirm", lambda *_, **__: pytest.fail("it asked"))
    for arguments, found in ([], "none"), (["--whole-scope", "--session", "one"], "2"):
        refused = cli("erase", *arguments)
        assert refused.code == 2
        assert "expected one of --event, --memory, --session" in refused.err
        assert f"found {found} of them" in refused.err


def test_a_redaction_list_is_written_and_applied(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "redactions.jsonl"
    said = cli.json("remember", "I live in Leipzig.", "--user", "lena")["event_ids"][0]
    monkeypatch.setenv("ENGRAM_REDACTION_LIST", str(path))
    cli.json("erase", "--event", said, "--user", "lena", "--yes")
    assert [json.loads(line)["event_id"] for line in path.read_text().splitlines() if line] == [said]
    applied = cli.json("apply-redactions", str(path))
    assert (applied["clean"], applied["erased"]) == (True, {})
    assert cli("apply-redactions", str(tmp_path / "missing")).code == 2
