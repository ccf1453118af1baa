"""Opening a file to import: JSON lines, one JSON document, or text; line by line where it has lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TextIO

from engram import ingest
from engram.errors import EngramError, InvalidInput
from engram.portable.items import Problem, problem
from engram.regex import regex

MOST_DOCUMENT: Final = 512 * 1024 * 1024
UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
MISREAD: Final = regex("[\udc80-\udcff]")


@dataclass(frozen=True)
class File:
    """A file and what its beginning tells of it."""

    path: Path

    @cached_property
    def size(self) -> int:
        """Its length in bytes, at least 1."""
        return max(self.path.stat().st_size, 1)

    @cached_property
    def is_json(self) -> bool:
        """Whether it begins as JSON does."""
        with self.path.open("rb") as file:
            start = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
        return start.startswith((b"{", b"["))

    @cached_property
    def by_lines(self) -> bool:
        """Whether it is JSON lines, one value a line; a single line is a document."""
        if not self.is_json:
            return False
        with self.path.open("rb") as file:
            too_long: list[str] = []
            lines = ingest.numbered_lines(file, self.path.name, lambda place, _: too_long.append(place))
            _, first = next(lines, (0, b""))
            if too_long:  # a document printed on one line, or a line nobody can read
                return not ingest.whole_document(file)
            if not first.startswith(b"{"):
                return False
            try:
                ingest.loads(first)
            except ValueError:
                # The first line of a document printed over several lines, or a broken line.
                return not ingest.whole_document(file)
            return next(lines, None) is not None or bool(too_long)

    @cached_property
    def document(self) -> Any:
        """The one JSON document it holds."""
        if self.size > MOST_DOCUMENT:
            raise InvalidInput(self.path.name, "JSON lines, for a file this large", "one document")
        return ingest.parse(self.path.read_bytes(), self.path.name)

    @cached_property
    def first(self) -> Any:
        """The first value of JSON lines, or the document; None for what is no JSON."""
        if not self.is_json:
            return None
        if not self.by_lines:
            return self.document
        return next((value for _, value in self.lines() if not isinstance(value, Problem)), None)

    @cached_property
    def sample(self) -> dict[str, Any]:
        """The first entry: of the lines, of the list, or the document itself; empty where there is none."""
        first = self.first[0] if isinstance(self.first, list) and self.first else self.first
        return first if isinstance(first, dict) else {}

    def first_entry(self, *names: str) -> dict[str, Any]:
        """The first entry as `values` finds them; empty where it is no object."""
        first: Any = self.first
        lists: list[Any] = [first.get(name) for name in names] if isinstance(first, dict) else []
        held: Any = next((value for value in lists if isinstance(value, list)), None)
        return held[0] if held and isinstance(held[0], dict) else self.sample

    def is_empty(self, *names: str) -> bool:
        """Whether it is a document that lists nothing: some of these fields, and nothing in any list or object."""
        first: Any = self.first
        if not isinstance(first, dict) or self.by_lines:
            return False
        return any(first.get(name) == [] for name in names) and not any(
            value for value in first.values() if isinstance(value, list | dict)
        )

    def lines(self) -> Iterator[tuple[str, Any]]:
        """The values of JSON lines with their places; a line that is no JSON is a problem and not the end."""
        refused: list[Problem] = []

        def refuse(place: str, error: EngramError) -> None:
            told = problem(place, error)
            refused.append(replace(told, place=place.removeprefix(f"{self.path.name} ")))

        with self.path.open("rb") as file:
            for number, line in ingest.numbered_lines(file, self.path.name, refuse):
                yield from ((one.place, one) for one in refused)
                refused.clear()
                place = f"line {number}"
                try:
                    yield place, ingest.parse(line, place)
                except EngramError as error:
                    yield place, problem(place, error)
        yield from ((one.place, one) for one in refused)

    def values(self, *names: str) -> Iterator[tuple[str, Any]]:
        """The entries: of the lines, of the list, or of the first of these fields of the document that holds a list."""
        if self.by_lines:
            yield from self.lines()
            return
        yield from entries(self.document, names)

    def text_lines(self) -> Iterator[tuple[int, str]]:
        """The lines of a text with their numbers from 1; in one that is not UTF-8 `misread` finds the bytes."""
        with self.opened() as file:
            yield from enumerate((line.rstrip("\n") for line in file), start=1)

    def opened(self, newline: str | None = None) -> TextIO:
        """The file as text, to read; bytes that are not UTF-8 stand in it as surrogates, which nothing else is."""
        with self.path.open("rb") as file:
            if file.read(2) in UTF_16:
                raise InvalidInput(self.path.name, "UTF-8 text", "UTF-16")
        return self.path.open(encoding="utf-8-sig", errors="surrogateescape", newline=newline)


def misread(text: str) -> bool:
    """Whether a text of `File.opened` holds bytes that were not UTF-8."""
    return MISREAD.search(text) is not None


def entries(document: Any, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The entries of a document: its own, or those of the first of these fields that holds a list."""
    if isinstance(document, dict):
        held = next((name for name in names if isinstance(document.get(name), list)), None)
        if held is None:
            yield "entry 1", document
            return
        document = document[held]
    if isinstance(document, list):
        yield from ((f"entry {number}", value) for number, value in enumerate(document, start=1))
