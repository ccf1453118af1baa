"""What the log of recalls costs a search: milliseconds with and without it, asked in turn, and bytes a row.

    python benchmarks/recall_log.py            an embedded PostgreSQL in a temporary folder

A scope of 2,000 memories; questions whose best hits count as returned, and questions of which nothing is counted. Each
is asked through doors that log `off`, `ids` and `full`, one after the other, so that all share what else the machine
does.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Final

import psycopg

from engram import Engram, Scope, migrations
from engram.embedded import EmbeddedServer
from engram.settings import load

SIZE: Final = 2_000
TIMES: Final = 300
DETAILS: Final = ("off", "ids", "full")
WORDS: Final = tuple(f"word{number}" for number in range(400))


def main() -> None:
    """Measure, and print."""
    folder = Path(tempfile.mkdtemp(prefix="engram-log-"))
    folder.chmod(0o755)
    with EmbeddedServer.start(folder / "data") as server:
        migrations.upgrade(server.superuser_url)
        scope = Scope(user_id="ada")
        doors = {
            detail: Engram(server.url(), scope=scope, settings=load({}, recall_log=detail, dispatch="doorbell"))
            for detail in DETAILS
        }
        fill(doors["off"])
        for name, counted in (("counted", True), ("not counted", False)):
            measure(name, doors, counted=counted)
        plain = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
        with psycopg.connect(plain) as conn:
            told = conn.execute(
                "SELECT octet_length(found::text) > 2500, count(*), avg(pg_column_size(l.*))::int"
                " FROM engram.recall_log l GROUP BY 1 ORDER BY 1"
            ).fetchall()
            for full, rows, size in told:
                print(f"{'full' if full else 'ids'}: {rows} rows of {size} bytes on average")
        for door in doors.values():
            door.close()


def fill(door: Engram) -> None:
    """Memories of ten words each."""
    dice = random.Random(1)
    facts = [" ".join(dice.choices(WORDS, k=10)) for _ in range(SIZE)]
    for start in range(0, SIZE, 100):
        door.add_many([{"fact": fact, "force": True} for fact in facts[start : start + 100]])


def measure(name: str, doors: dict[str, Engram], *, counted: bool) -> None:
    """Ask in turn, and print medians and differences."""
    dice = random.Random(2)
    took: dict[str, list[float]] = {detail: [] for detail in doors}
    for number in range(TIMES + 20):
        question = " ".join(dice.choices(WORDS, k=4))
        for detail in dice.sample(DETAILS, len(DETAILS)):
            started = time.perf_counter()
            doors[detail].search(question, track=counted)
            if number >= 20:
                took[detail].append(1000 * (time.perf_counter() - started))
    base = statistics.median(took["off"])
    for detail, values in took.items():
        middle = statistics.median(values)
        more = statistics.median(a - b for a, b in zip(values, took["off"], strict=True))
        print(f"{name}: {detail:<4} median {middle:6.2f} ms, {more:+.2f} ms beside off ({100 * more / base:+.1f} %)")


if __name__ == "__main__":
    main()
