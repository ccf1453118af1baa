"""What the environment brings along: nothing installed may run code merely because Python starts."""

from __future__ import annotations

from importlib.metadata import distributions
from pathlib import Path

KNOWN = {"distutils-precedence.pth"}  # of setuptools, which an environment may hold


def executing(lines: list[str]) -> list[str]:
    """The lines of a path file that Python's start would execute."""
    return [line for line in lines if line.startswith(("import ", "import\t"))]


def test_no_installed_package_runs_code_when_python_starts() -> None:
    paths = [
        Path(str(found.locate_file(file)))
        for found in distributions()
        for file in found.files or ()
        if file.suffix == ".pth" and file.name not in KNOWN
    ]
    assert {path.name: lines for path in paths if (lines := executing(path.read_text().splitlines()))} == {}
    assert executing(["/a/path", "import os; os.system('true')"]) == ["import os; os.system('true')"]
