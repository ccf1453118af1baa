"""The command of a benchmark that reads banks: which are asked, what is shown of them, what is kept for the page."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

import report
from machine import address, database, versions

from engram import Engram

Item = TypeVar("Item")
FOLDER: Final = Path(__file__).parent / "histories"


class Tally(Protocol):
    """What was counted of one bank in one way."""

    notes: list[str]

    @property
    def row(self) -> tuple[int, ...]:
        """The numbers of the table, in the order of its columns."""


@dataclass(frozen=True, slots=True)
class Suite(Generic[Item]):
    """A benchmark over banks: how one is read and run, and what the page says of it.

    `own` is the way that is Engram's own: its failures are shown, but those of `sealed` banks. What a bank holds is
    counted in `unit`s.
    """

    name: str
    about: str
    title: str
    table: str
    columns: Sequence[str]
    note: str
    unit: str
    banks: Sequence[str]
    sealed: Sequence[str]
    own: str
    read: Callable[[Path], list[Item]]
    run: Callable[[Engram, Sequence[Item], Callable[..., None]], Mapping[str, Tally]]

    def bank(self, name: str) -> Path:
        """The file of a bank."""
        return FOLDER / f"{name}_{self.name}.json"

    def main(self, description: str | None) -> None:
        """Run all banks, or the one that is asked for."""
        given = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        given.add_argument("url", nargs="?", type=database, help="a migrated database; otherwise an embedded one")
        given.add_argument("--bank", choices=self.banks, action="append", help="only this bank; nothing is saved")
        given.add_argument("--show", action="store_true", help="every failure, but those of sealed banks")
        asked = given.parse_args()
        banks = {name: self.read(self.bank(name)) for name in asked.bank or self.banks}
        with address(asked.url) as url, Engram(url) as engram:
            found = dict(self._run(engram, banks))
            rows = [[name, way, *one.row] for name, ways in found.items() for way, one in ways.items()]
            print(report.markdown(self.columns, rows))
            if asked.show:
                shown = (ways[self.own].notes for name, ways in found.items() if name not in self.sealed)
                print("\n".join(note for notes in shown for note in notes))
            saved = None if asked.bank else self._save(url, rows)
        print(f"\n{report.PART}" if saved is None else f"\n{report.shown(saved)} is written, and docs/benchmarks.md")

    def _run(self, engram: Engram, banks: Mapping[str, Sequence[Item]]) -> Iterator[tuple[str, Mapping[str, Tally]]]:
        for name, items in banks.items():
            with report.progress(name, len(items)) as step:
                yield name, self.run(engram, items, step)

    def _save(self, url: str, rows: Sequence[Sequence[Any]]) -> Path:
        """Keep a run for the page of benchmarks."""
        return report.save(
            f"behaviour-{self.name}",
            title=self.title,
            about=self.about,
            versions=versions(url),
            data=[
                report.Data(
                    f"{self.name}, {name}", report.sha256(self.bank(name)), "of this project", f"{size} {self.unit}"
                )
                for name, way, size, *_ in rows
                if way == self.own
            ],
            tables=[report.Table(self.table, list(self.columns), [list(row) for row in rows], (self.note,))],
        )
