"""Every statement is a file of its own: it says what it is for, is used, and is one statement."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engram import database
from engram.writing.desk import BESIDE_ORDINAL

PACKAGE = Path(__file__).parents[2] / "engram"
FILES = sorted((PACKAGE / "sql").glob("*.sql"))
CODE = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))


def test_there_are_statements_to_look_at() -> None:
    assert len(FILES) > 50


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_statement_says_what_it_is_for_and_is_one(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    first, *rest = text.splitlines()
    assert re.match(r"-- [A-Z]", first), "begins with its purpose"
    body = "\n".join(line for line in rest if not line.lstrip().startswith("--"))
    assert ";" not in re.sub(r"'[^']*'", "", body).strip().rstrip(";"), "is one statement"
    # A row made by jsonb_populate_record has the columns of its table, whatever they are.
    copied = "jsonb_populate_record(" in body
    tables = set(re.findall(r"engram\.\w+ (\w+)", body))
    stars = set(re.findall(r"(?i)(\w+)\.\*\s*(?:,|from)", body))  # of a subquery that names its own they are known
    assert copied or not (re.search(r"(?i)select\s+\*", body) or tables & stars), "names its columns"
    assert re.fullmatch(r"[a-z]+(_[a-z]+)+", path.stem), "is named by what it does"


def test_statements_and_code_number_what_is_only_read_beside_alike() -> None:
    """From one number on a source is a message that was read with a statement: each place has to say the same one."""
    functions = (PACKAGE.parent / "alembic" / "ddl" / "0027").glob("*.sql")
    said = "\n".join(path.read_text(encoding="utf-8") for path in (*FILES, *functions))
    bounds = re.findall(r"\.ordinal (?:<|>=) (\d+)", said)
    assert len(bounds) > 8
    assert set(bounds) == {str(BESIDE_ORDINAL)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_statement_is_used(path: Path) -> None:
    assert f'"{path.stem}"' in CODE


def test_no_statement_is_made_from_what_a_caller_gave() -> None:
    """Text of SQL is constants and other constants; a value is always a parameter."""
    for path in PACKAGE.rglob("*.py"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if "exec_driver_sql(f" in line or re.search(r"exec_driver_sql\([^)]*(%|\.format)\s*\(", line):
                assert "constants" in line, f"{path.name}:{number}"


def test_a_statement_that_is_not_there_is_a_mistake_in_the_program_and_no_outage() -> None:
    with pytest.raises(LookupError, match=r"no find_nothing_at_all\.sql"):
        database.statement("find_nothing_at_all")
    assert not issubclass(LookupError, database.DRIVER_ERRORS)
