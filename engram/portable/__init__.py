"""Files that memories come from and go to: one module a format. Pure but for the reading itself."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Final

from engram.errors import InvalidInput
from engram.portable import langmem, letta, markdown, mem0, own, plain, table, transcripts, zep
from engram.portable.files import File

# In the order in which `auto` asks them: whose shape is the more particular comes first.
READERS: Final[tuple[ModuleType, ...]] = (own, zep, letta, langmem, mem0, transcripts, plain, table, markdown)
FORMATS: Final = ("auto", *(reader.NAME for reader in READERS))
# In the order in which they are asked whose export without an entry it is: the shape of none tells it.
LISTING: Final[tuple[ModuleType, ...]] = (mem0, langmem, plain, zep)
EXPORTS: Final = tuple(re.compile(begins) for begins in (own.BEGINS, markdown.BEGINS, table.BEGINS))
BEGINNING: Final = 4_096  # bytes


def reader_of(file: File, format: str) -> ModuleType:
    """The module that reads a file: the one named, or the first that knows its shape."""
    if format != "auto":
        return next(reader for reader in READERS if format == reader.NAME)
    found = next((reader for reader in READERS if reader.recognises(file)), None) or _of_nothing(file)
    if found is None:
        raise InvalidInput(file.path.name, f"a file of one of the formats {', '.join(FORMATS[1:])}", "another one")
    return found


def _of_nothing(file: File) -> ModuleType | None:
    """The module that reads an export without an entry, such as an empty list."""
    if file.first == []:
        return plain
    return next((reader for reader in LISTING if file.is_empty(*reader.LISTS)), None)


def is_export(path: Path) -> bool:
    """Whether a file begins as an export of Engram does, in any of its formats."""
    with path.open("rb") as file:
        start = file.read(BEGINNING)
    return any(begins.match(start) for begins in EXPORTS)
