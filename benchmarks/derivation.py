"""Events a second from the ledger to memories, by the derivers that need no model, with one and with two workers.

    python benchmarks/derivation.py                  an embedded PostgreSQL in a temporary folder
    python benchmarks/derivation.py URL              a migrated database, as the application role; without the floor
    python benchmarks/derivation.py --events 2000    fewer events of each kind; nothing saved

It is a benchmark of the page where it has a database of its own.

The messages are those of the demonstration. Long streams are sessions of a hundred messages, two of each user; short
ones are turns, a question and its answer, each in a session of its own. Workers are processes that share one queue. The
clock runs over all of a job: claim, read, derive, judge, embed, write, index, cursor, done, and the summaries of the
sessions. Appending is not counted. The floor is the same number of memories inserted by bare SQL on one connection, a
hundred in each durable transaction: rows, vectors and words, without looking at what is there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Final, Self

sys.path.insert(0, str(Path(__file__).parent))

import report
from crowds import Filled
from floors import Floors
from machine import address, database, number, versions

from engram import Engram, Scope
from engram.ids import new_id
from engram.settings import load
from engram.values import Derive

READY: Final = 5.0  # seconds the workers have to start and load the embedder
BATCH: Final = 16  # jobs a worker claims at once
USERS: Final = 100
EVENTS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Kind:
    """What is derived: by which derivers, in streams of how many messages."""

    name: str
    derive: Derive
    length: int


KINDS: Final = (
    Kind("verbatim, sessions of 100", "verbatim", 100),
    Kind("verbatim and rules, sessions of 100", "rules", 100),
    Kind("verbatim and rules, turns of 2", "rules", 2),
)


def messages() -> list[dict[str, str]]:
    """The messages of the demonstration, in their order."""
    lines = (resources.files("engram") / "demo" / "conversation.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        {"role": said["role"], "content": said["content"]}
        for said in map(json.loads, lines)
        if said.get("role") in ("user", "assistant") and said.get("content")
    ]


def append(url: str, kind: Kind, tenant: str, events: int) -> int:
    """Fill the ledger of a tenant: every user says what the demonstration says, each from another place on."""
    said, users, added = messages(), min(USERS, max(1, events // (2 * kind.length))), 0
    with Engram(url, settings=load({}, dispatch="doorbell")) as engram:
        for stream in range(events // kind.length):
            user, nth = stream % users, stream // users
            first = 7 * user + nth * kind.length
            part = [said[(first + n) % len(said)] for n in range(kind.length)]
            engram.remember(
                part, derive=kind.derive, tenant_id=tenant, user_id=f"user-{user}", session_id=f"session-{stream}"
            )
            added += len(part)
    return added


def work(tenant: str, url: str, begin: float) -> float:
    """Run the jobs of a tenant from a moment on until none is left; when the last was done."""
    with Engram(url, settings=load({}, dispatch="doorbell")) as engram:
        engram.search("warm", tenant_id=f"warm-{new_id()}")
        time.sleep(max(0.0, begin - time.time()))
        while engram.scoped(tenant_id=tenant).ops.run_jobs(limit=BATCH):
            pass
    return time.time()


@dataclass(frozen=True, slots=True)
class Rate:
    """What so many workers made of events, in how long."""

    name: str
    workers: int
    events: int
    memories: int
    seconds: float

    @property
    def row(self) -> list[report.Cell]:
        """Its row in a table: events and memories, and both a second."""
        counts = (self.events, self.memories, self.events / self.seconds, self.memories / self.seconds)
        return [self.name, self.workers, *(f"{count:,.0f}" for count in counts)]

    def told(self) -> Self:
        """Print it."""
        name, workers, *counts = self.row
        print(f"{name:<40}{workers:>8}" + "".join(f"{count:>12}" for count in counts), flush=True)
        return self


def measure(url: str, kind: Kind, workers: int, events: int) -> Rate:
    """Append the events, then let the workers derive them."""
    tenant = f"bench-{new_id()}"
    added = append(url, kind, tenant, events)
    with ProcessPoolExecutor(workers) as pool:
        begin = time.time() + READY
        seconds = max(pool.map(partial(work, url=url, begin=begin), [tenant] * workers)) - begin
    with Engram(url, settings=load({}, dispatch="doorbell")) as engram:
        users = {f"user-{user}" for user in range(min(USERS, max(1, events // (2 * kind.length))))}
        memories = sum(engram.stats(tenant_id=tenant, user_id=user).memories for user in users)
    return Rate(kind.name, workers, added, memories, seconds).told()


def floor(url: str, superuser: str, rows: int) -> Rate:
    """Insert so many memories by bare SQL, a hundred in each transaction."""
    said = (one["content"] for _ in range(rows) for one in messages())
    facts = [f"{fact} ({n})" for n, fact in enumerate(islice(said, rows))]
    with Floors(url, superuser, Filled(Scope("bare", user_id="none"), 0, 0, 0), new_id()) as floors:
        begin = time.time()
        for first in range(0, rows, 100):
            floors.add(facts[first : first + 100])
        seconds = time.time() - begin
    return Rate("floor: bare inserts, 100 a transaction", 1, rows, rows, seconds).told()


COLUMNS: Final = ("derivers", "workers", "events", "memories", "events/s", "memories/s")
ABOUT: Final = (
    "Messages of the demonstration, from the ledger to memories by the derivers that need no model: claim, read,"
    " derive, judge, embed, write, index. Workers are processes that share one queue; appending is not counted. The"
    " floor is as many memories inserted by bare SQL, a hundred a transaction, without looking at what is there."
)


def main() -> None:
    """Run every measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", nargs="?", type=database)
    parser.add_argument("--events", type=number, default=EVENTS)
    given = parser.parse_args()
    with address(given.url, superuser=given.url is None) as admin:
        url = admin.replace("//postgres@", "//engram_app@") if given.url is None else given.url
        print(f"{COLUMNS[0]:<40}{COLUMNS[1]:>8}" + "".join(f"{name:>12}" for name in COLUMNS[2:]))
        rates = [
            measure(url, kind, workers, given.events if kind.length > 2 else given.events // 5)
            for kind in KINDS
            for workers in (1, 2)
        ]
        if given.url is None:
            rates.append(floor(url, admin.replace("+psycopg", ""), max(one.memories for one in rates)))
            if given.events < EVENTS:
                print(report.PART)
                return
            table = report.Table("From events to memories", COLUMNS, [one.row for one in rates])
            said = Path(str(resources.files("engram") / "demo" / "conversation.jsonl"))
            made = report.Data(
                "the demonstration", report.sha256(said), "of this project", f"{len(messages()):,} messages"
            )
            report.save(
                "derivation", title="Derivation", about=ABOUT, versions=versions(url), tables=[table], data=[made]
            )


if __name__ == "__main__":
    main()
