"""The statement that finds candidates: milliseconds by the size of the scope, before and after ANALYZE.

    python benchmarks/search.py              an embedded PostgreSQL in a temporary folder
    python benchmarks/search.py URL          a migrated database, as a superuser

One table of several scopes, one in three of whose memories is superseded or forgotten; facts of twelve words, vectors
in clusters. The largest scope is in the graph, all others are compared exactly. What is measured is `recall.find` in a
transaction of its own: the way to the database and back, but for the question's words, which are looked up before. The
last column is what the server's processor did for it, which says more on a machine that has other work.
"""

from __future__ import annotations

import statistics
import sys
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import psutil
import psycopg
from machine import address

from engram import Engram, Scope, recall, tenancy
from engram.channels import semantic
from engram.database import Connection, Database
from engram.settings import load

SIZES: Final = (100, 1_000, 10_000, 50_000)
TIMES: Final = 60
DIMENSIONS: Final = 256
SPREAD: Final = 0.7  # of a cluster about its centre, against a centre of length one in each dimension
HEADER: Final = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
ROW: Final = np.dtype(
    [
        ("fields", ">i2"), ("scope_size", ">i4"), ("scope", ">i8"), ("id_size", ">i4"), ("id", "V16"),
        ("vector_size", ">i4"), ("dimensions", ">i2"), ("unused", ">i2"), ("vector", ">f2", (DIMENSIONS,)),
    ]
)  # fmt: skip
COPIED: Final = "CREATE TEMP TABLE copied (scope_id bigint, memory_id uuid, embedding halfvec) ON COMMIT DROP"
CHANGED: Final = {
    "scope_id": "c.scope_id", "memory_id": "c.memory_id", "lineage_id": "c.memory_id", "conflict_key": "NULL",
    "topic_key": "NULL", "critical_slot": "NULL", "fact": "c.fact",
}  # fmt: skip
WORDS: Final = """(
    SELECT string_agg('term' || floor(4000 * power(random(), 3)), ' ')
      FROM generate_series(1, 12) WHERE c.scope_id > 0)"""
INSERTS: Final = (
    """
    INSERT INTO engram.memory_embeddings (tenant_id, scope_id, model_id, memory_id, embedding)
    SELECT %(tenant)s, c.scope_id, %(model_id)s, c.memory_id, c.embedding FROM copied c ORDER BY c.scope_id
    """,
    """
    INSERT INTO engram.memory_changes (tenant_id, memory_id, scope_id, recorded_at, entry, status, state)
    SELECT m.tenant_id, m.memory_id, m.scope_id, m.recorded_at, 'added', m.status, engram.memory_state(m)
      FROM copied c JOIN engram.agent_memory m ON m.tenant_id = %(tenant)s AND m.memory_id = c.memory_id WHERE %(past)s
    """,
    """
    INSERT INTO engram.memory_lexemes
    SELECT m.tenant_id, m.scope_id, m.memory_id, engram.memory_lexemes_of(m.scope_id, 'english', m.fact, '', '', ''), 12
      FROM copied c JOIN engram.agent_memory m ON m.tenant_id = %(tenant)s AND m.memory_id = c.memory_id WHERE %(words)s
    """,
)
# One in three has gone: half of them with an heir in its lineage, half without.
CHURN: Final = """
    UPDATE engram.agent_memory m SET status = CASE WHEN get_byte(uuid_send(m.memory_id), 15) %% 2 = 0 THEN 'superseded'
                                                   ELSE 'deleted' END
     WHERE m.tenant_id = %(tenant)s AND m.memory_id = ANY(%(memory_ids)s::uuid[])
"""


@dataclass(frozen=True)
class Rows:
    """Memories that were copied into scopes: their scopes, ids and vectors, in one order."""

    scopes: np.ndarray[Any, Any]
    memory_ids: list[str]
    vectors: np.ndarray[Any, Any]


def clustered(dice: np.random.Generator, many: int, clusters: int = 300) -> np.ndarray[Any, Any]:
    """Unit vectors in clusters, as precise as the table keeps them."""
    centres = dice.normal(size=(clusters, DIMENSIONS)).astype(np.float32)
    found = centres[dice.integers(0, clusters, many)]
    found += SPREAD * dice.normal(size=(many, DIMENSIONS)).astype(np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found.astype(np.float16).astype(np.float32)


def copy(
    conn: psycopg.Connection[Any],
    tenant: str,
    template: str,
    sizes: Mapping[int, int],
    vectors: np.ndarray[Any, Any],
    dice: np.random.Generator,
    *,
    words: bool = False,
    past: bool = False,
) -> Rows:
    """Copy a memory so many times into scopes, each with a vector of its own, and with words and a history if asked."""
    many = sum(sizes.values())
    rows = np.zeros(many, dtype=ROW)
    rows["fields"], rows["scope_size"], rows["id_size"], rows["vector_size"] = 3, 8, 16, 4 + 2 * DIMENSIONS
    rows["dimensions"], rows["vector"] = DIMENSIONS, vectors[:many]
    rows["scope"] = np.repeat(list(sizes), list(sizes.values()))
    drawn = dice.integers(0, 256, (many, 16), dtype=np.uint8)
    drawn[:, 6] = drawn[:, 6] % 16 + 0x70  # the digit by which a memory is told from its shadows
    rows["id"] = drawn.view("V16").reshape(many)
    values = {
        "tenant": tenant,
        "template": template,
        "words": words,
        "past": past,
        "model_id": semantic.default_model(),
    }
    with conn.transaction(), conn.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(COPIED)
        with cursor.copy("COPY copied FROM STDIN (FORMAT BINARY)") as stream:
            stream.write(HEADER)
            for start in range(0, many, 10_000):
                stream.write(rows[start : start + 10_000].tobytes())
            stream.write(b"\xff\xff")
        cursor.execute("ANALYZE copied")
        cursor.execute("ALTER TABLE copied ADD COLUMN fact text DEFAULT 'Fact'")
        if words:
            cursor.execute(f"UPDATE copied c SET fact = {WORDS}")
        cursor.execute("SELECT attname FROM pg_attribute WHERE attrelid = 'engram.agent_memory'::regclass"
                       " AND attnum > 0 AND NOT attisdropped ORDER BY attnum")  # fmt: skip
        columns = [row[0] for row in cursor.fetchall()]
        chosen = ", ".join(CHANGED.get(name, f"m.{name}") for name in columns)
        cursor.execute(
            f"INSERT INTO engram.agent_memory SELECT {chosen} FROM engram.agent_memory m, copied c"
            " WHERE m.tenant_id = %(tenant)s AND m.memory_id = %(template)s",
            values,
        )
        for insert in INSERTS:
            cursor.execute(insert, values)
    memory_ids = [str(uuid.UUID(bytes=one.tobytes())) for one in drawn]
    return Rows(np.asarray(rows["scope"], dtype=np.int64), memory_ids, np.asarray(rows["vector"], dtype=np.float32))


def churn(conn: psycopg.Connection[Any], tenant: str, memory_ids: list[str]) -> None:
    """Supersede half of these memories and forget the other half."""
    with conn.transaction():
        conn.execute("SET LOCAL session_replication_role = replica")
        conn.execute(CHURN, {"tenant": tenant, "memory_ids": memory_ids})


def graph(database: Database, tenant: str, scope_id: int) -> None:
    """Put a scope's vectors into the graph, as its job does, until no batch is left."""
    done = 1
    while done:
        with database.transaction(tenant) as conn:
            done = semantic.index_fresh(conn, tenant, scope_id, semantic.default_model())


def measure(database: Database, scope: Scope, name: str, vectors: np.ndarray[Any, Any], **options: Any) -> None:
    """Prints the median and the 95th percentile of the statement for questions drawn by chance."""
    dice, took, used = np.random.default_rng(7), [], 0.0
    for place in range(TIMES + 5):
        words = " ".join(f"term{int(4000 * dice.random() ** 3)}" for _ in range(5))
        asked = recall.prepare(words, **options)
        near = vectors[dice.integers(0, len(vectors))] + 0.3 * dice.normal(size=DIMENSIONS) / DIMENSIONS**0.5
        meaning = recall.Meaning((near / np.linalg.norm(near)).astype(np.float32), semantic.default_model())
        with database.transaction(scope.tenant_id, read_only=True) as conn:
            looked = recall.look(conn, tenancy.visible(conn, scope), asked)
        start = time.perf_counter()
        with database.transaction(scope.tenant_id, read_only=True) as conn:
            before = _processor(conn)
            found = recall.find(conn, asked, looked, meaning)
            spent = _processor(conn) - before
        if place >= 5:  # the first ones warm the caches
            took.append((time.perf_counter() - start) * 1000)
            used += spent
        assert found.candidates
    took.sort()
    late = took[int(0.95 * len(took))]
    print(
        f"{name:<32}{statistics.median(took):>8.1f} ms, p95 {late:>6.1f} ms, processor {1000 * used / TIMES:>5.1f} ms"
    )


def _processor(conn: Connection) -> float:
    """Seconds of the processor that the server's end of a connection has used; 0 where it is on another machine."""
    pid = conn.connection.driver_connection.info.backend_pid  # type: ignore[union-attr]
    return sum(psutil.Process(pid).cpu_times()[:2]) if psutil.pid_exists(pid) else 0.0


def main() -> None:
    """Fill a table, and run every measurement before and after its statistics are taken."""
    with address(superuser=True) as url:
        plain = url.replace("postgresql+psycopg://", "postgresql://")
        dice, tenant = np.random.default_rng(1), f"bench-{uuid.uuid4().hex[:8]}"
        scopes = {size: Scope(tenant, user_id=f"u{size}") for size in SIZES}
        database, ids = Database(url, load({})), {}
        with Engram(url, scope=Scope(tenant, user_id="first")) as door:
            made = door.add("The first of many").memory
        assert made is not None
        for size, scope in scopes.items():
            with database.transaction(tenant) as app:
                ids[size] = tenancy.ensure(app, scope)
        vectors = clustered(dice, sum(SIZES))
        with psycopg.connect(plain, autocommit=True) as conn:
            conn.execute("ALTER SYSTEM SET autovacuum = off")
            conn.execute("SELECT pg_reload_conf()")
            rows = copy(conn, tenant, made.memory_id, {ids[size]: size for size in SIZES}, vectors, dice, words=True)
            churn(conn, tenant, rows.memory_ids[::3])
            graph(database, tenant, ids[SIZES[-1]])
            window = (datetime.now(UTC) - timedelta(days=7), datetime.now(UTC))
            for title in ("without statistics", "with statistics"):
                print(title)
                for size, scope in scopes.items():
                    measure(database, scope, f"  {size:,} memories", vectors)
                measure(database, scopes[10_000], "  10,000, with a window", vectors, window=window)
                measure(database, scopes[10_000], "  10,000, superseded too", vectors, include_superseded=True)
                conn.execute("VACUUM ANALYZE")
            conn.execute("ALTER SYSTEM RESET autovacuum")
        database.close()


if __name__ == "__main__":
    main()
