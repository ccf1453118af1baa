"""A consolidation cycle of one large scope: memory, the longest statement, and what it costs recalls of other scopes.

    python benchmarks/life.py                 50,000 memories in an embedded PostgreSQL in a temporary folder
    python benchmarks/life.py --memories N    so many memories; of fewer nothing is saved
    python benchmarks/life.py URL             a migrated database, as a superuser

Half of the memories are working and used, half wait in the buffer, half of those spent: so every step has work. The
recalls are those of another scope of 1,000 memories, through a door of their own, before and while the cycle runs. The
cycle runs without a language model. Goals: no statement of 5 s, recalls not slowed by more than half.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import psycopg
import report
from copies import clustered, copy, graph
from machine import address, database, number, versions
from sqlalchemy import event
from watching import memory

from engram import Engram, MemoryPolicy, Scope, tenancy
from engram.database import Database
from engram.settings import load

MEMORIES: Final = 50_000
OTHER: Final = 1_000
TIMES: Final = 60
LAYERS: Final = """
    UPDATE engram.agent_memory m
       SET layer = CASE WHEN get_byte(uuid_send(m.memory_id), 15) < 128 THEN 'working' ELSE 'buffer' END,
           importance = CASE WHEN get_byte(uuid_send(m.memory_id), 15) >= 192 THEN 0.02 ELSE 0.9 END,
           memory_type = CASE WHEN get_byte(uuid_send(m.memory_id), 14) < 64 THEN 'preference' ELSE 'semantic' END,
           recorded_at = clock_timestamp() - interval '1 day'
     WHERE m.tenant_id = %(tenant)s AND m.scope_id = %(scope)s
"""
USED: Final = """
    UPDATE engram.memory_activity a SET access_count = 6, last_accessed_at = clock_timestamp()
     WHERE a.tenant_id = %(tenant)s AND a.scope_id = %(scope)s AND get_byte(uuid_send(a.memory_id), 13) < 32
"""


def fill(url: str, tenant: str, memories: int) -> tuple[Engram, Engram]:
    """A door to a scope of so many memories, and one to another scope."""
    dice, database = np.random.default_rng(1), Database(url, load({}))
    doors = []
    for user, many in (("ada", memories), ("bob", OTHER)):
        scope = Scope(tenant, user_id=user)
        door = Engram(url, scope=scope, policy=MemoryPolicy("aging", intake="buffer"))
        made = door.add("The first of many").memory
        assert made is not None
        with database.transaction(tenant) as conn:
            scope_id = tenancy.ensure(conn, scope)
        values = {"tenant": tenant, "scope": scope_id}
        with psycopg.connect(url.replace("postgresql+psycopg://", "postgresql://"), autocommit=True) as conn:
            copy(conn, tenant, made.memory_id, {scope_id: many}, clustered(dice, many), dice)
            with conn.transaction():
                conn.execute("SET LOCAL session_replication_role = replica")
                conn.execute(LAYERS, values)
                conn.execute(USED, values)
                conn.execute("UPDATE engram.memory_scopes SET epoch = 100 WHERE scope_id = %(scope)s", values)
        graph(database, tenant, scope_id)
        doors.append(door)
    with psycopg.connect(url.replace("postgresql+psycopg://", "postgresql://"), autocommit=True) as conn:
        conn.execute("VACUUM ANALYZE")
    database.close()
    return doors[0], doors[1]


def recalls(door: Engram, dice: np.random.Generator, until: threading.Event | None = None) -> list[float]:
    """Milliseconds of recalls, so many or until something is over."""
    found: list[float] = []
    while not until.is_set() if until is not None else len(found) < TIMES:
        words = " ".join(f"term{int(4000 * dice.random() ** 3)}" for _ in range(5))
        start = time.perf_counter()
        door.search(words, limit=10, expand=False, track=False)
        found.append(1000 * (time.perf_counter() - start))
        time.sleep(0.02)
    return found


def statements(door: Engram) -> list[tuple[float, str]]:
    """What the door's statements take from now on, and how they begin."""
    took: list[tuple[float, str]] = []
    engine: Any = door._core.database()._engine

    def before(conn: Any, _cursor: Any, _text: str, _params: Any, _context: Any, _many: bool) -> None:
        conn.info["since"] = time.perf_counter()

    def after(conn: Any, _cursor: Any, text: str, _params: Any, _context: Any, _many: bool) -> None:
        took.append((time.perf_counter() - conn.info["since"], " ".join(text.split())[:90]))

    event.listen(engine, "before_cursor_execute", before)
    event.listen(engine, "after_cursor_execute", after)
    return took


ABOUT: Final = (
    "A consolidation cycle of one large scope without a language model: half of its memories are working and used, half"
    " wait in the buffer, so every step has work. Another scope, of 1,000 memories, is searched before and meanwhile."
)


def main() -> None:
    """Fill two scopes, and consolidate one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", nargs="?", type=database)
    parser.add_argument("--memories", type=number, default=MEMORIES)
    given = parser.parse_args()
    with address(given.url, superuser=True) as url:
        large, small = fill(url, f"bench-{uuid.uuid4().hex[:8]}", given.memories)
        with large, small:
            dice = np.random.default_rng(7)
            recalls(small, dice)
            idle = statistics.median(recalls(small, dice))
            large.search("term1 term2")
            took, over = statements(large), threading.Event()
            busy: list[float] = []
            asking = threading.Thread(target=lambda: busy.extend(recalls(small, dice, over)))
            with memory() as held:
                asking.start()
                start = time.perf_counter()
                run = large.ops.consolidate()
                seconds = time.perf_counter() - start
                over.set()
                asking.join()
            seconds_at_most, said = max(took)
            rows: list[list[report.Cell]] = [
                ["memories of the scope", given.memories],
                ["changed by the cycle", run.changed],
                ["failed steps", ", ".join(run.failed_steps) or "none"],
                ["whole cycle, s", f"{seconds:.1f}"],
                ["statements", len(took)],
                ["longest statement, s (goal 5)", f"{seconds_at_most:.2f}"],
                ["which begins", said],
                ["memory of the process, MiB more", f"{(held.peak - held.before) / 2**20:.0f}"],
                ["search of another scope before, p50 ms", f"{idle:.1f}"],
                ["meanwhile, p50 ms", f"{statistics.median(busy):.1f}"],
                ["ratio (goal 1.5)", f"{statistics.median(busy) / idle:.2f}"],
            ]
            table = report.Table("A cycle of one large scope", ("what", "value"), rows)
            print(report.markdown(table.columns, table.rows))
            if given.memories < MEMORIES:
                print(report.PART)
            elif given.url is None:
                made = report.generated(__file__, f"{given.memories:,} memories and {OTHER:,} of another scope, seed 1")
                report.save(
                    "life", title="Life cycle", about=ABOUT, versions=versions(url), tables=[table], data=[made]
                )


if __name__ == "__main__":
    main()
