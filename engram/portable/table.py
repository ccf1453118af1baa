"""CSV: one fact a row, named by its header; the same cells are written for the current memories of an export."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, TextIO

from engram import ingest
from engram.errors import EngramError, InvalidInput
from engram.portable import plain
from engram.portable.files import File, misread
from engram.portable.items import Found, Problem, problem

NAME: Final = "csv"
COLUMNS: Final = (
    "memory_id",
    "namespace",
    "agent_id",
    "user_id",
    "memory_type",
    "category",
    "fact",
    "main_content",
    "tags",
    "importance",
    "confidence",
    "trust",
    "critical_slot",
    "topic_key",
    "subject",
    "attribute",
    "value",
    "valid_from",
    "valid_to",
    "recorded_at",
    "expires_at",
    "source",
    "session_id",
    "private",
    "metadata",
)
BEGINS: Final = rb"memory_id,namespace,agent_id,user_id,[a-z_,]+,metadata\r\n"  # of any version
# A spreadsheet takes a cell that begins so for a formula; a quote before it makes it text.
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
GUARD: Final = "'"
NUMBERS: Final = ("importance", "confidence")
FLAGS: Final[Mapping[str, bool]] = {"true": True, "false": False}
MOST_CELL: Final = 1_000_000


def recognises(file: File) -> bool:
    """Whether the first line is a header that names a fact."""
    if file.is_json:
        return False
    header = next((line for _, line in file.text_lines() if line.strip()), "")
    names = {name.strip().strip('"').casefold() for name in header.split(_delimiter(header))}
    return (len(names) > 1 and bool(names & set(plain.FACTS))) or (file.path.suffix.casefold() in (".csv", ".tsv"))


def read(file: File) -> Iterator[Found]:
    """The facts of the rows; a row with too many or too few cells is a problem."""
    before = csv.field_size_limit(MOST_CELL)
    try:
        yield from _rows(file)
    finally:
        csv.field_size_limit(before)


def _rows(file: File) -> Iterator[Found]:
    with file.opened(newline="") as opened:
        before, header = next(((above, line) for above, line in enumerate(opened, start=1) if line.strip()), (1, ""))
        try:
            names = [name.strip() for name in next(csv.reader([header], delimiter=_delimiter(header)), [])]
        except csv.Error:
            names = []
        if misread(header):
            raise InvalidInput(file.path.name, "UTF-8 text", "other bytes")
        if not set(names) & set(plain.FACTS):
            raise InvalidInput(file.path.name, f"a header with one of {', '.join(plain.FACTS)}", "another header")
        shown = [name for name in names if name]
        if len(set(shown)) < len(shown):  # of two cells under one name one would be lost
            raise InvalidInput(file.path.name, "a header whose names differ", "one of them twice")
        rows = csv.reader(opened, delimiter=_delimiter(header))
        while True:
            try:
                cells = next(rows)
            except StopIteration:
                return
            except csv.Error:
                told = f"expected cells of at most {MOST_CELL:,} characters; what stands behind it was not read"
                yield Problem(f"line {rows.line_num + before}", told)
                return
            place = f"line {rows.line_num + before}"
            if not any(cells):
                continue
            if misread("".join(cells)):
                yield Problem(place, "expected a row of CSV in UTF-8")
                continue
            if len(cells) != len(names):
                yield Problem(place, f"expected {len(names)} cells, found {len(cells)}")
                continue
            yield _item(place, {name: bare(cell) for name, cell in zip(names, cells, strict=True)})


def _item(place: str, row: dict[str, Any]) -> Found:
    try:
        if row.get("tags"):
            row["tags"] = [tag.strip() for tag in row["tags"].split(";") if tag.strip()]
        for name in NUMBERS:
            if row.get(name):
                row[name] = float(row[name])
        if row.get("metadata"):
            row["metadata"] = ingest.loads(row["metadata"])
        if row.get("private"):
            row["private"] = FLAGS[row["private"].strip().casefold()]
    except (ValueError, KeyError):
        return Problem(place, "expected a number, true or false, or JSON, in a cell that holds something else")
    try:
        # Whose memory it is say the export and the call; the rest is the memory's own.
        return plain.item(place, {n: v for n, v in row.items() if v != "" and n not in ("namespace", "agent_id")}, NAME)
    except EngramError as error:
        return problem(place, error)


def _delimiter(header: str) -> str:
    return max((",", ";", "\t"), key=header.count)


def guarded(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return GUARD + cell if cell.startswith((*FORMULA, GUARD)) else cell


def bare(cell: str) -> str:
    """The cell before it was guarded."""
    return cell[1:] if cell.startswith(GUARD) and cell[1:].startswith((*FORMULA, GUARD)) else cell


def write(rows: Iterable[Mapping[str, Any]], file: TextIO) -> int:
    """Write memories as rows under a header; how many."""
    out = csv.writer(file, lineterminator="\r\n")
    out.writerow(COLUMNS)
    count = 0
    for row in rows:
        out.writerow([guarded(_cell(row[name])) for name in COLUMNS])
        count += 1
    return count


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return ";".join(str(one) for one in value)
    return str(value)
