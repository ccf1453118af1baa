"""Every example in the README and in `docs/` runs, and prints what it says it prints.

Each page is one story: its Python blocks run one after the other in one process with a memory of their own, its console
blocks in the same memory. `print(...)  # words` must print those words; a line below a `$ command` must be in what
it prints. The README and the tutorials run as a newcomer runs them; processes of the other pages are forked from one
that has imported the library, which is most of what a short program takes.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests import forked

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^\s*print\(.*\)  # (.+)$", re.MULTILINE)
EXITS = re.compile(r"^# exits (\d+)$")
PATIENCE: Final = 120.0
SHELL: Final = frozenset("|&;<>$`*?(){}\\\n")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced example of a page."""

    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in BLOCK.findall(page.read_text("utf-8"))]


def pages_with(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(block.language in languages for block in blocks(page))]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def environment(database_url: str, tenant: str, tmp_path: Path) -> dict[str, str]:
    """A process that knows the test run's database and speaks for a tenant of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ENGRAM_")}
    return {
        **kept,
        "DATABASE_URL": database_url,
        "ENGRAM_TENANT": tenant,
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
    }


@pytest.mark.usefixtures("durable")
@pytest.mark.parametrize("page", pages_with("python", "console"), ids=name_of)
def test_every_example_on_the_page_runs_and_says_what_it_prints(
    page: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    is_first = page == ROOT / "README.md" or page.parent.name == "tutorial"
    python = "\n".join(block.text for block in blocks(page) if block.language == "python")
    if python:
        command = [sys.executable, "-W", "error", "-c", python]
        out = done(command if is_first else python, environment, tmp_path, 0)
        follows(out, PRINTED.findall(python), "print")
    for line, expected, code in commands(page):
        words = shlex.split(line)
        if is_first or words[0] != "engram" or SHELL & {*line}:
            words = ["bash", "-c", re.sub(r"^engram\b", f"{sys.executable} -m engram", line)]
        follows(done(words, environment, tmp_path, code), expected, line)


def done(program: list[str] | str, environment: dict[str, str], place: Path, code: int) -> str:
    """What a program prints that ends with this exit code: a command, `engram ...`, or lines of Python."""
    if isinstance(program, list) and program[0] != "engram":
        ran = subprocess.run(
            program, env=environment, cwd=place, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        ended, out, err = ran.returncode, ran.stdout, ran.stderr
    else:
        ended, out, err = forked.done(program, environment, place, PATIENCE)
    assert ended == code, f"exit code {ended}:\n{out}\n{err}"
    return out


def follows(out: str, expected: list[str], what: str) -> None:
    """Every expected text occurs in the output, in order."""
    at = 0
    for words in expected:
        found = out.find(words, at)
        assert found >= 0, f"{what}: {words!r} is not in what follows {out[:at][-80:]!r}:\n{out[at:]}"
        at = found + len(words)


def commands(page: Path) -> Iterator[tuple[str, list[str], int]]:
    """The commands of a page's console blocks, the lines each must print, and its exit code."""
    for block in blocks(page):
        if block.language != "console":
            continue
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, *lines = part.strip().splitlines()
            codes = [int(found[1]) for line in lines if (found := EXITS.match(line))]
            yield command, [line for line in lines if line.strip() and not EXITS.match(line)], codes[0] if codes else 0


def test_the_readme_has_twelve_lines_that_work() -> None:
    first = next(block for block in blocks(ROOT / "README.md") if block.language == "python")
    assert len([line for line in first.text.splitlines() if line.strip()]) == 12


def test_every_fence_of_the_pages_names_a_language_that_is_run_or_only_shown() -> None:
    for page in PAGES:
        opened = re.findall(r"^```(\w*)$", page.read_text("utf-8"), re.MULTILINE)[::2]
        assert {*opened} <= {"python", "console", "text", "json", "sql", "toml", "mermaid"}, page


def test_every_json_example_is_json() -> None:
    import json

    examples = [block.text for page in PAGES for block in blocks(page) if block.language == "json"]
    assert examples
    for text in examples:
        for value in [text] if text.lstrip().startswith("[") else text.splitlines():
            assert json.loads(value)


def test_every_link_to_a_file_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{name_of(page)}: {target}"


def test_every_proof_the_readme_names_exists() -> None:
    named = re.findall(r"\[`(test_\w+)`\]\((tests/[\w/]+\.py)\)", (ROOT / "README.md").read_text("utf-8"))
    assert len(named) >= 10
    for name, path in named:
        assert f"def {name}(" in (ROOT / path).read_text("utf-8"), name
