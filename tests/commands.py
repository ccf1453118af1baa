"""`engram ...` as a function, for tests of the command line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from engram.cli import run


@dataclass(frozen=True, slots=True)
class Ran:
    """What one command said and how it left."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The one JSON value that stdout holds."""
        assert self.out.count("\n") == 1, f"stdout holds more than one line of JSON: {self.out[:500]}"
        return json.loads(self.out)


class Cli:
    """`engram ...` without a process of its own."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Ran:
        self._capsys.readouterr()
        code = run(arguments)
        said = self._capsys.readouterr()
        return Ran(code, said.out, said.err)

    def json(self, *arguments: str, code: int = 0) -> Any:
        """The JSON a command prints, after checking its exit code and that nothing else was said."""
        ran = self(*arguments, "--json")
        assert ran.code == code, f"{arguments}: exit code {ran.code}, {ran.err or ran.out}"
        if code == 0:
            assert ran.err == ""
        return ran.data
