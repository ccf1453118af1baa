"""The command that carries memories out into a file: what it replaces, and who may read what it wrote."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from commands import Cli

from engram.portable import is_export


@pytest.mark.parametrize("format", ["jsonl", "markdown", "csv"])
@pytest.mark.parametrize("facts", [0, 2])
def test_an_export_replaces_an_older_one_and_is_its_owners_alone(
    cli: Cli, tmp_path: Path, format: str, facts: int
) -> None:
    for number in range(facts):
        cli.json("add", f"Lena has lived in {number} houses by the sea", "--user", f"lena {number}")
    file = tmp_path / "mine"
    for _ in range(2):
        cli.json("export", str(file), "--format", format, "--all-users")
        assert is_export(file)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("said", ["Dear Lena", "# Memories\n\nof my childhood", '{"kind": "engram"}', "fact,tags\r\n"])
def test_what_is_no_export_is_replaced_only_by_force(cli: Cli, tmp_path: Path, said: str) -> None:
    file = tmp_path / "mine.txt"
    file.write_text(said, encoding="utf-8", newline="")
    refused = cli("export", str(file))
    assert (refused.code, "--force" in refused.err) == (2, True)
    assert file.read_bytes() == said.encode()
    cli.json("export", str(file), "--force")
    assert is_export(file)


def test_an_empty_file_is_nothing_that_could_be_lost(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "new"
    file.touch()
    cli.json("export", str(file))
    assert is_export(file)


def test_an_export_to_stdout_is_refused_and_makes_no_file(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = cli("export", "-")
    assert (refused.code, "file: expected the name of a file" in refused.err) == (2, True)
    assert list(tmp_path.iterdir()) == []
