"""What the log of recalls costs a search: milliseconds with and without it, asked in turn, and bytes a row.

    python benchmarks/recall_log.py            an embedded PostgreSQL in a temporary folder

A scope of 2,000 memories; questions whose best hits count as returned, and questions of which nothing is counted. Each
is asked through doors that log `off`, `ids` and `full`, one after the other, so that all share what else the machine
does.
"""

from __future__ import annotations

import random
import statistics
import sys
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent))

import psycopg
import report
from machine import address, asked_for, versions
from watching import took

from engram import Engram, Scope
from engram.settings import load

SIZE: Final = 2_000
TIMES: Final = 300
DETAILS: Final = ("off", "ids", "full")
WORDS: Final = tuple(f"word{number}" for number in range(400))


ABOUT: Final = (
    f"The same search through doors that log nothing, ids, or ids with the reasons, asked in turn in a scope of"
    f" {SIZE:,} memories; once counting what is returned, once not."
)


def main() -> None:
    """Measure, print and save."""
    with address(asked_for(__doc__), superuser=True) as url:
        own = url.replace("//postgres@", "//engram_app@")
        scope = Scope(user_id="ada")
        doors = {
            detail: Engram(own, scope=scope, settings=load({}, recall_log=detail, dispatch="doorbell"))
            for detail in DETAILS
        }
        with Engram(own, scope=scope, settings=load({}, dispatch="doorbell")) as first:
            fill(first)
        plain = url.replace("postgresql+psycopg://", "postgresql://")
        with psycopg.connect(plain, autocommit=True) as conn:
            conn.execute("VACUUM ANALYZE")  # plans that are kept from before would burden the door that made them
        rows = [row for name, track in (("counted", True), ("not", False)) for row in measure(name, doors, track=track)]
        with psycopg.connect(plain) as conn:
            told = conn.execute(
                "SELECT CASE WHEN octet_length(found::text) > 2500 THEN 'full' ELSE 'ids' END, count(*),"
                " avg(pg_column_size(l.*))::int FROM engram.recall_log l GROUP BY 1 ORDER BY 1"
            ).fetchall()
        for door in doors.values():
            door.close()
        columns = ("what was returned", "log", "p50 ms", "more, ms", "more, %")
        tables = [
            report.Table("Milliseconds of a search", columns, rows),
            report.Table("Bytes", ("log", "rows", "bytes a row"), [list(row) for row in told]),
        ]
        for table in tables:
            print(f"\n{table.title}\n{report.markdown(table.columns, table.rows)}")
        made = report.generated(__file__, f"{SIZE:,} memories of ten words, seed 1")
        report.save("log", title="The log of recalls", about=ABOUT, versions=versions(url), tables=tables, data=[made])


def fill(door: Engram) -> None:
    """Memories of ten words each."""
    dice = random.Random(1)
    facts = [" ".join(dice.choices(WORDS, k=10)) for _ in range(SIZE)]
    for start in range(0, SIZE, 100):
        door.add_many([{"fact": fact, "force": True} for fact in facts[start : start + 100]])


def measure(name: str, doors: dict[str, Engram], *, track: bool) -> list[list[report.Cell]]:
    """Ask in turn; a row for each door, with the median of its differences to the one that logs nothing."""
    dice = random.Random(2)
    found: dict[str, list[float]] = {detail: [] for detail in doors}
    for number in range(TIMES + 20):
        question = " ".join(dice.choices(WORDS, k=4))
        for detail in dice.sample(DETAILS, len(DETAILS)):
            milliseconds = took(lambda: doors[detail].search(question, track=track))  # noqa: B023 - called at once
            if number >= 20:
                found[detail].append(milliseconds)
    base = statistics.median(found["off"])
    rows: list[list[report.Cell]] = []
    for detail, values in found.items():
        more = statistics.median(a - b for a, b in zip(values, found["off"], strict=True))
        rows.append([name, detail, f"{statistics.median(values):.2f}", f"{more:+.2f}", f"{100 * more / base:+.1f}"])
    return rows


if __name__ == "__main__":
    main()
