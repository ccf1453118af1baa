"""Events a second of the ledger: one by one, in batches, with many writers, sealed, and verified.

    python benchmarks/ledger.py            an embedded PostgreSQL in a temporary folder
    python benchmarks/ledger.py URL        a migrated database, as the application role

Every event brings its payload and its job, and every append commits to disk. Writers are processes, so that one Python
does not limit them.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent))

import report
from machine import address, asked_for, versions

from engram import ledger, streams, tenancy
from engram.database import Database
from engram.ids import new_id
from engram.ledger import NewEvent
from engram.scope import Scope
from engram.settings import load

TEXT = "I moved to Oslo last spring and I like to ski on Sundays. " * 3
SECONDS = 3.0
READY = 3.0  # seconds the writers have to start and connect
KEY = b"a key"
DERIVE = ("verbatim", "rules")


@dataclass(frozen=True, slots=True)
class Ran:
    """What writers did: for which tenant, and their row in the table."""

    tenant: str
    row: list[report.Cell]


def write(url: str, tenant: str, stream: str, size: int, key: bytes | None, begin: float) -> int:
    """Append batches from a moment on until the time is over; how many events."""
    database, many = Database(url, load({})), 0
    with database.transaction(tenant) as conn:
        scope_id = tenancy.ensure(conn, Scope(tenant))
    with database.transaction(tenant) as conn:
        stream_id = streams.open(conn, scope_id, "session", stream).stream_id
    time.sleep(max(0.0, begin - time.time()))
    while time.time() < begin + SECONDS:
        events = [
            NewEvent("user", "user_message", TEXT, derive=("verbatim", "rules"), session_id=stream) for _ in range(size)
        ]

        def append(conn: ledger.Connection, events: list[NewEvent] = events) -> None:
            ledger.append(conn, scope_id=scope_id, stream_id=stream_id, events=events, key=key)

        database.run(tenant, append, key=events[0].event_id)
        many += size
    database.close()
    return many


def measure(url: str, name: str, *, writers: int = 1, size: int = 1, own: bool = True, key: bytes | None = None) -> Ran:
    """Run the writers for some seconds; their tenant and rate, which is printed too."""
    tenant = f"bench-{new_id()}"
    with Database(url, load({})).transaction(tenant) as conn:
        tenancy.ensure(conn, Scope(tenant))
    with ProcessPoolExecutor(writers) as pool:
        begin = time.time() + READY
        tasks = [pool.submit(write, url, tenant, f"s{n if own else 0}", size, key, begin) for n in range(writers)]
        total = sum(task.result() for task in tasks)
    print(f"{name:<52}{total / SECONDS:>10,.0f} events/s", flush=True)
    return Ran(tenant, [name, round(total / SECONDS)])


def verify(url: str, tenant: str) -> list[report.Cell]:
    """Verify what one run has written; its row."""
    started = time.perf_counter()
    with Database(url, load({})).transaction(tenant) as conn:
        verified = ledger.verify(conn)
    assert verified.ok
    rate = verified.events / (time.perf_counter() - started)
    print(f"{'verify':<52}{rate:>10,.0f} events/s", flush=True)
    return ["verification", round(rate)]


ABOUT: Final = (
    "Events with their payloads and their jobs, each append durable, by processes that write for some seconds: each a"
    " stream of its own, or all to one."
)


def main() -> None:
    """Run every measurement, and save."""
    with address(asked_for(__doc__)) as url:
        many = measure(url, "one writer, 500 events a commit", size=500)
        rows = [
            measure(url, "one writer, one event a commit").row,
            measure(url, "one writer, one event a commit, sealed with a key", key=KEY).row,
            measure(url, "one writer, 20 events a commit", size=20).row,
            many.row,
            measure(url, "8 writers, 8 streams, one event a commit", writers=8).row,
            measure(url, "8 writers, one stream, one event a commit", writers=8, own=False).row,
            measure(url, "8 writers, one stream, 20 events a commit", writers=8, size=20, own=False).row,
            verify(url, many.tenant),
        ]
        tables = [report.Table("Writers of the ledger", ["who", "events a second"], rows)]
        made = report.generated(__file__, f"events of one line, as many as are written in {SECONDS:g} s")
        report.save("ledger", title="Ledger", about=ABOUT, versions=versions(url), tables=tables, data=[made])


if __name__ == "__main__":
    main()
