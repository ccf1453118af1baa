"""Walks along a million relations with hubs: milliseconds by depth, direction and moment, and a path between two.

    python benchmarks/graph.py              an embedded PostgreSQL in a temporary folder
    python benchmarks/graph.py URL          a migrated database, as the application role

One scope of 100,000 memories; sources are drawn evenly, targets by the square of a uniform number, so that a few
memories have hundreds of relations and one has thousands. What is measured is the call of the door,
from ids to whole memories.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from machine import address

from engram import Engram, Scope
from engram.database import Connection, Database
from engram.ids import new_id
from engram.settings import load

MEMORIES = 100_000
RELATIONS = 1_000_000
PAST = 2_000  # memories of the scope whose past is walked
TIMES = 200
WAIT = 180  # seconds
FILLED = ("agent_memory", "memory_relations")


def fill(conn: Connection, memory_id: str, memories: int, relations: int, *, past: bool) -> None:
    """Copy one memory many times, and relate the copies; the history is only written where the past is walked."""
    conn.exec_driver_sql("SET LOCAL statement_timeout = 0")
    conn.exec_driver_sql("SELECT set_config('engram.seeding', %s, true)", ("off" if past else "on",))
    conn.exec_driver_sql(
        "CREATE TEMP TABLE node ON COMMIT DROP AS SELECT n,"
        " overlay(gen_random_uuid()::text placing '7' from 15 for 1)::uuid AS id FROM generate_series(1, %s) n",
        (memories,),
    )
    conn.exec_driver_sql(
        "INSERT INTO engram.agent_memory SELECT (jsonb_populate_record(m, jsonb_build_object('memory_id', node.id,"
        " 'lineage_id', node.id, 'fact', m.fact || node.n, 'importance', 0.2 + 0.6 * random()))).*"
        " FROM engram.agent_memory m, node WHERE m.memory_id = %s",
        (memory_id,),
    )
    if past:
        conn.exec_driver_sql(
            "INSERT INTO engram.memory_changes (tenant_id, memory_id, scope_id, recorded_at, entry, status, state)"
            " SELECT m.tenant_id, m.memory_id, m.scope_id, m.recorded_at, 'added', m.status, engram.memory_state(m)"
            "   FROM engram.agent_memory m JOIN node ON node.id = m.memory_id"
        )
        conn.exec_driver_sql(
            "INSERT INTO engram.memory_sources SELECT (jsonb_populate_record(q, jsonb_build_object("
            "  'memory_id', node.id))).* FROM engram.memory_sources q, node WHERE q.memory_id = %s",
            (memory_id,),
        )
    conn.exec_driver_sql("CREATE INDEX ON node (n)")
    conn.exec_driver_sql("ANALYZE node")
    conn.exec_driver_sql(
        "INSERT INTO engram.memory_relations (tenant_id, source_id, target_id, relation_type, weight)"
        " SELECT engram.current_tenant(), a.id, b.id, 'causes', e.weight"
        "   FROM (SELECT 1 + floor(random() * %(n)s)::int AS source,"
        "                1 + floor(%(n)s * power(random(), 2))::int AS target,"
        "                0.1 + 0.9 * random() AS weight FROM generate_series(1, %(m)s)) e"
        "   JOIN node a ON a.n = e.source JOIN node b ON b.n = e.target WHERE e.source <> e.target"
        " ON CONFLICT DO NOTHING",
        {"n": memories, "m": relations},
    )


def settle(url: str) -> None:
    """Wait until the server has looked at the tables by itself: a fill at once leaves it with no statistics."""
    with Database(url, load({})).transaction("bench") as conn:
        begun = conn.exec_driver_sql("SELECT clock_timestamp()").scalar()
    for _ in range(WAIT):
        with Database(url, load({})).transaction("bench") as conn:
            left = conn.exec_driver_sql(
                "SELECT count(*) FROM pg_stat_user_tables WHERE schemaname = 'engram' AND relname = ANY(%s)"
                " AND coalesce(last_autoanalyze, '-infinity') < %s", (list(FILLED), begun),
            ).scalar()  # fmt: skip
        if not left:
            return
        time.sleep(1)


def measure(name: str, work: Callable[[str, str], object], ids: list[str], times: int = TIMES) -> None:
    """Prints the median and the 95th percentile of a call between memories drawn by chance."""
    dice, took = random.Random(7), []
    for _ in range(times):
        one, other = dice.sample(ids, 2)
        start = time.perf_counter()
        work(one, other)
        took.append((time.perf_counter() - start) * 1000)
    took.sort()
    print(f"{name:<56}{statistics.median(took):>8.1f} ms, p95 {took[int(0.95 * len(took))]:.1f} ms")


def crowd(url: str, memories: int, relations: int, *, past: bool = False) -> tuple[Engram, list[str], str]:
    """A door to a filled scope, ids drawn from it, and the memory with the most relations."""
    tenant = f"bench-{new_id()}"
    door = Engram(url, scope=Scope(tenant, user_id="ada"), embedder="none")
    made = door.add("Memory number ").memory
    assert made is not None
    with Database(url, load({})).transaction(tenant) as conn:
        fill(conn, made.memory_id, memories, relations, past=past)
    settle(url)
    with Database(url, load({})).transaction(tenant) as conn:
        rows = conn.exec_driver_sql(
            "SELECT memory_id::text AS id FROM engram.agent_memory ORDER BY random() LIMIT 2000"
        )
        ids = [row.id for row in rows]
        hubs = conn.exec_driver_sql(
            "SELECT target_id::text AS id, count(*) AS n FROM engram.memory_relations"
            " GROUP BY 1 ORDER BY 2 DESC LIMIT 1000"
        ).fetchall()
        total = conn.exec_driver_sql("SELECT count(*) FROM engram.memory_relations").scalar()
    print(f"{memories:,} memories, {total:,} relations; hubs: {hubs[0].n:,}, the 1,000th {hubs[-1].n:,}")
    return door, ids, hubs[0].id


def main() -> None:
    """Run every measurement."""
    with address() as url:
        door, ids, hub = crowd(url, MEMORIES, RELATIONS)
        with door:
            for depth in (1, 2, 3, 5):
                measure(f"traverse, outbound, depth {depth}", lambda a, _, d=depth: door.traverse(a, max_depth=d), ids)
            measure(
                "traverse, any direction, depth 2", lambda a, _: door.traverse(a, max_depth=2, direction="any"), ids
            )
            measure("traverse, the largest hub, any, depth 2",
                    lambda *_: door.traverse(hub, max_depth=2, direction="any"), ids, 20)  # fmt: skip
            measure("traverse_many, 10 seeds, any, depth 2", lambda *_: door.traverse_many(ids[:10]), ids, 20)
            measure("find_path, depth 5", lambda a, b: door.find_path(a, b), ids, 50)
            measure("relate", lambda a, b: door.relate(a, b, "supports", weight=0.5), ids)
            pairs = [{"source_id": a, "target_id": b} for a, b in zip(ids[:500], ids[500:1000], strict=True)]
            measure("relate_batch of 500", lambda *_: door.relate_batch(pairs), ids, 5)
        door, ids, _ = crowd(url, PAST, 10 * PAST, past=True)
        now = datetime.now(UTC)
        with door:
            measure("traverse, known_at, depth 3", lambda a, _: door.traverse(a, max_depth=3, known_at=now), ids, 20)
            measure("traverse, as_of, depth 3", lambda a, _: door.traverse(a, max_depth=3, as_of=now), ids, 20)


if __name__ == "__main__":
    main()
