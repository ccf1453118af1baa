"""`engram ingest -`: conversations from a pipe, read as files are."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from commands import Cli, Ran

FRIENDS = Path(__file__).parent.parent / "fixtures" / "two_friends.json"
NOTES = "".join(json.dumps({"role": "user", "content": f"Note {n} of the day"}) + "\n" for n in range(5))
CHAT = [{"role": "user", "content": "I live in Leipzig."}, {"role": "assistant", "content": "Noted."}]

Piped = Callable[..., Ran]


@pytest.fixture
def piped(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Piped:
    """`... | engram ingest -`."""

    def ran(text: str | bytes, *options: str) -> Ran:
        data = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="ascii"))
        return cli("ingest", "-", "--json", *options)

    return ran


def test_what_is_piped_twice_is_there_once_and_what_grew_adds_what_is_new(piped: Piped) -> None:
    first = piped(NOTES.encode()).data
    assert (first["files"], first["events"], first["added"]) == (1, 5, 5)
    assert (piped(NOTES).data["added"], piped(NOTES).data["known"]) == (0, 5)
    more = NOTES + json.dumps({"role": "user", "content": "Zoë likes tea"}) + "\n"
    assert piped(more).data["added"] == 1


def test_messages_that_name_no_session_are_of_the_one_named_or_of_stdin(piped: Piped, cli: Cli, tmp_path: Path) -> None:
    piped(NOTES)
    assert [one["session_id"] for one in cli.json("session", "list")["results"]] == ["stdin"]
    path = tmp_path / "talk.jsonl"
    path.write_text(NOTES)
    assert cli.json("ingest", str(path))["added"] == 5
    assert piped(NOTES, "--session", "talk").data["added"] == 0, "a pipe and a file of one session are one"


def test_a_pipe_with_a_name_is_read_as_stdin_is(piped: Piped, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "63"
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(path.write_text, NOTES)
        assert cli.json("ingest", str(path))["added"] == 5
    assert piped(NOTES).data["added"] == 0


@pytest.mark.parametrize(
    ("text", "format", "events"),
    [
        (NOTES, "events", 5),
        (NOTES, "openai", 5),
        (json.dumps(CHAT), "openai", 2),
        (json.dumps({"messages": CHAT}, indent=2), "openai", 2),
        (FRIENDS.read_text("utf-8"), "locomo", 20),
    ],
)
def test_the_format_is_told_by_what_is_read_and_may_be_named(piped: Piped, text: str, format: str, events: int) -> None:
    assert piped(text, "--dry-run").data["events"] == events
    assert piped(text, "--dry-run", "--format", format).data["events"] == events


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        (b"", (), "stdin: expected at least one message, found nothing"),
        (b"\n \n", ("--format", "events"), "stdin: expected at least one message, found nothing"),
        (b"I live in Leipzig.", (), "stdin: expected JSON, found something else at line 1, column 1"),
        (b'{"a": 1}', (), "stdin: expected lines of events, a list of messages or LoCoMo's layout, found none of them"),
        (b"\xff\n", (), "stdin: expected UTF-8 text, found other bytes"),
        (NOTES.encode()[:-5], (), "stdin line 5: expected JSON, found something else at column 29"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(
    piped: Piped, text: bytes, options: tuple[str, ...], told: str
) -> None:
    ran = piped(text, *options)
    assert (ran.code, ran.err) == (2, f"engram: {told}\n")


def test_stdin_is_read_beside_files_and_once(piped: Piped, tmp_path: Path) -> None:
    assert piped(NOTES, str(FRIENDS)).data["events"] == 25
    assert piped(NOTES, "-").code == 2
    assert piped(NOTES, str(tmp_path / "none.jsonl")).code == 2
    assert piped(NOTES, str(tmp_path)).code == 2


def test_a_file_that_has_a_dash_for_a_name_is_a_file(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "-").write_text(NOTES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", None)
    assert cli.json("ingest", "./-", "--dry-run")["events"] == 5


def test_a_pipe_that_ends_early_leaves_what_was_whole_and_is_taken_up_again(
    cli: Cli, database_url: str, tenant: str
) -> None:
    env = {**os.environ, "DATABASE_URL": database_url, "ENGRAM_TENANT": tenant}
    lines = "".join(json.dumps({"role": "user", "content": f"Note {n}"}) + "\n" for n in range(150))
    cut = process(env, stdin=lines[:-4])
    assert (cut.returncode, cut.stdout) == (2, "")
    assert cut.stderr.startswith("engram: stdin line 150: expected JSON")
    assert cli.json("stats")["events"] == 100
    whole = process(env, "--json", stdin=lines)
    assert json.loads(whole.stdout)["added"] == 50
    closed = process(env, closed=True)
    assert (closed.returncode, closed.stderr) == (2, "engram: stdin: expected at least one message, found nothing\n")


def process(env: Mapping[str, str], *options: str, stdin: str = "", closed: bool = False) -> Any:
    """`engram ingest -` in a process of its own, with a pipe or with no stdin at all."""
    line = [sys.executable, "-m", "engram", "ingest", "-", *options]
    if closed:
        line = ["sh", "-c", 'exec "$@" <&-', "sh", *line]
    return subprocess.run(line, env=env, input=stdin, capture_output=True, text=True, check=False)
