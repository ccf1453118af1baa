"""One memory copied many times into a scope, each time with a vector and words of its own: quickly filled."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import psycopg

from engram.channels import semantic
from engram.database import Database

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
    INSERT INTO engram.memory_lexemes
    SELECT m.tenant_id, m.scope_id, m.memory_id, engram.memory_lexemes_of(m.scope_id, 'english', m.fact, '', '', ''), 12
      FROM copied c JOIN engram.agent_memory m ON m.tenant_id = %(tenant)s AND m.memory_id = c.memory_id
    """,
)


# Half of what goes has an heir in its lineage, half has none.
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
) -> Rows:
    """Copy a memory so many times into scopes, each time with a vector and words of its own."""
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
