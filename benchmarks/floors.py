"""Floors: the least that each call could cost, as bare SQL on the same tables, without the library.

Each is one statement of the best shape known, or the same rows inserted in one durable transaction and one round trip.
They run as the superuser, for whom no wall is built, with vectors sent as they are stored. What reads is planned for
its values, what writes is planned once: planning an insert of a hundred rows with its values takes three times as long
as the insert itself.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import closing
from typing import Any, Final, Self

import numpy as np
import psycopg
from crowds import Filled, columns, inserts
from psycopg.pq import Format
from psycopg.types import TypeInfo

from engram import Engram, Scope, ids, text
from engram.channels import semantic
from engram.embedding import local

TENANT: Final = "bare"
SETTINGS: Final = (
    "SET enable_seqscan = off; SET jit = off; SET plan_cache_mode = force_custom_plan; SET hnsw.ef_search = 100;"
    " SET hnsw.iterative_scan = relaxed_order; SET search_path = engram, public"
)
GIVEN: Final = """
    WITH s AS (
      SELECT g.*, %(tenant)s::text AS tenant_id, %(scope_id)s::bigint AS scope_id, g.memory_id AS lineage_id,
             clock_timestamp() AS recorded_at, clock_timestamp() AS valid_from, g.fact_hash AS quote_hash,
             0.8::float8 AS surprise, '[]'::jsonb AS nearest, false AS indexed
        FROM unnest(%(memory_ids)s::uuid[], %(event_ids)s::uuid[], %(facts)s::text[], %(hashes)s::bytea[])
             WITH ORDINALITY g(memory_id, event_id, fact, fact_hash, n))
"""
VECTORS: Final = ", v AS (SELECT * FROM unnest(%(vectors)b::halfvec[]) WITH ORDINALITY v(embedding, n))"
EVENT_MADE: Final = {
    "tenant_id": "s.tenant_id", "stream_id": "%(stream_id)s::uuid", "position": "%(position)s + s.n",
    "event_id": "s.event_id", "scope_id": "s.scope_id", "occurred_at": "s.recorded_at", "recorded_at": "s.recorded_at",
    "txid": "pg_current_xact_id()", "idempotency_key": "s.event_id::text", "session_id": "t.session_id",
}  # fmt: skip
MOVED: Final = """
    UPDATE engram.event_streams SET position = position + cardinality(%(event_ids)s::uuid[]),
           recorded_at = clock_timestamp(), head_hash = sha256(uuid_send((%(event_ids)s::uuid[])[1]))
     WHERE tenant_id = %(tenant)s AND stream_id = %(stream_id)s::uuid
"""
WORDED: Final = """
    INSERT INTO engram.memory_lexemes (tenant_id, scope_id, memory_id, lexemes, own_terms)
    SELECT s.tenant_id, s.scope_id, s.memory_id, engram.memory_lexemes_of(s.scope_id, 'english', s.fact, '', '', ''), 12
      FROM s
"""
QUEUED: Final = """
    INSERT INTO engram.memory_jobs (tenant_id, job_id, scope_id, kind, stream_id, position, dedup_key)
    SELECT s.tenant_id, s.event_id, s.scope_id, 'derive', %(stream_id)s::uuid, %(position)s + s.n,
           sha256(uuid_send(s.event_id))
      FROM s
"""
CLAIMED: Final = """
    UPDATE engram.memory_jobs j
       SET state = 'running', attempt = j.attempt + 1, lease_token = gen_random_uuid(),
           lease_until = clock_timestamp() + interval '1 minute'
      FROM (SELECT d.tenant_id, d.job_id FROM engram.memory_jobs d
             WHERE d.tenant_id = %(tenant)s AND d.state = 'queued' AND NOT d.asleep AND d.kind = 'derive'
             ORDER BY d.priority, d.run_at, d.job_id LIMIT 10 FOR UPDATE SKIP LOCKED) due
     WHERE j.tenant_id = due.tenant_id AND j.job_id = due.job_id
    RETURNING j.*
"""
DONE: Final = """
    UPDATE engram.memory_jobs j
       SET state = 'done', lease_token = NULL, lease_until = NULL, finished_at = clock_timestamp()
     WHERE j.tenant_id = %(tenant)s AND j.state = 'running' AND j.job_id = ANY(%(job_ids)s::uuid[])
"""
EXACT: Final = """
  SELECT e.memory_id, 1 - (e.embedding <=> %(vector)s) AS cosine FROM engram.memory_embeddings e
   WHERE e.tenant_id = %(tenant)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s
   ORDER BY e.embedding <=> %(vector)s LIMIT 60
"""
WALKED: Final = """
  SELECT e.memory_id, 1 - (e.embedding::halfvec(256) <=> %(vector)s::halfvec(256)) AS cosine
    FROM engram.memory_embeddings e
   WHERE e.tenant_id = %(tenant)s AND e.scope_id = %(scope_id)s AND e.model_id = 3885764830968211142 AND e.indexed
   ORDER BY e.embedding::halfvec(256) <=> %(vector)s::halfvec(256) LIMIT 60
"""
RAREST: Final = """
  SELECT l.memory_id, ts_rank('{0.1,0.15,0.3,1}', l.lexemes, a.every) AS rank
    FROM (SELECT string_agg(r.term, ' | ')::tsquery AS every,
                 (string_agg(r.term, ' | ') FILTER (WHERE r.sofar <= 2000 OR r.place <= 2))::tsquery AS rare
            FROM (SELECT '''' || %(scope_id)s || ':' || u.lexeme || '''' AS term,
                         sum(coalesce(t.df, 1)) OVER w AS sofar, row_number() OVER w AS place
                    FROM unnest(to_tsvector('english', %(question)s)) u
                    LEFT JOIN engram.memory_terms t
                      ON t.tenant_id = %(tenant)s AND t.scope_id = %(scope_id)s AND t.term = u.lexeme
                  WINDOW w AS (ORDER BY coalesce(t.df, 1), u.lexeme)) r) a
    JOIN engram.memory_lexemes l ON l.lexemes @@ a.rare
   ORDER BY rank DESC LIMIT 60
"""
FOUND: Final = """
  SELECT m.memory_id, m.fact, m.importance, m.recorded_at, m.valid_from, f.score
    FROM (SELECT memory_id, {score} AS score FROM {rows}) f
    JOIN engram.agent_memory m ON m.tenant_id = %(tenant)s AND m.memory_id = f.memory_id AND m.status = 'active'
   ORDER BY f.score DESC LIMIT 10
"""
CRITICAL: Final = """
  SELECT * FROM engram.agent_memory m
   WHERE m.tenant_id = %(tenant)s AND m.scope_id = %(scope_id)s AND m.critical_slot IS NOT NULL AND m.status = 'active'
   ORDER BY m.importance DESC, m.memory_id LIMIT 50
"""
LINEAGE: Final = """
  SELECT * FROM engram.agent_memory m
   WHERE m.tenant_id = %(tenant)s AND m.lineage_id =
     (SELECT o.lineage_id FROM engram.agent_memory o
       WHERE o.tenant_id = %(tenant)s AND o.memory_id = %(memory_id)s::uuid)
   ORDER BY m.revision DESC
"""
WALK: Final = """
  WITH RECURSIVE walk AS (
    SELECT %(memory_id)s::uuid AS node, 0 AS depth, 1::float8 AS weight
     UNION ALL
    SELECT n.target_id, w.depth + 1, w.weight * n.weight
      FROM walk w
     CROSS JOIN LATERAL (
           SELECT r.target_id, r.weight FROM engram.memory_relations r
            WHERE r.tenant_id = %(tenant)s AND r.source_id = w.node AND r.ended_at IS NULL
            ORDER BY r.weight DESC LIMIT 50) n
     WHERE w.depth < %(depth)s)
  SELECT m.*, f.weight
    FROM (SELECT node, max(weight) AS weight FROM walk WHERE depth > 0 GROUP BY node ORDER BY 2 DESC) f
   CROSS JOIN LATERAL (
         SELECT m.* FROM engram.agent_memory m
          WHERE m.tenant_id = %(tenant)s AND m.memory_id = f.node AND m.status = 'active' OFFSET 0) m
   ORDER BY f.weight DESC LIMIT 50
"""


class Half:
    """A vector of half precision, sent as it is stored."""

    def __init__(self, vector: Any) -> None:
        self.vector = np.asarray(vector, dtype=">f2")


class HalfDumper(psycopg.adapt.Dumper):
    """Writes a vector in the binary form of pgvector."""

    format = Format.BINARY

    def dump(self, obj: Half) -> bytes:
        return struct.pack(">HH", len(obj.vector), 0) + obj.vector.tobytes()


def connect(address: str, *, writes: bool = False) -> psycopg.Connection[Any]:
    """A connection that knows vectors; it plans for values, or once for all where it writes."""
    conn = psycopg.connect(address, autocommit=True)
    conn.execute(SETTINGS)
    if writes:
        conn.execute("SET plan_cache_mode = force_generic_plan")
        conn.prepare_threshold = 0
    info = TypeInfo.fetch(conn, "halfvec")
    assert info is not None
    info.register(conn)
    conn.adapters.register_dumper(Half, type("Known", (HalfDumper,), {"oid": info.oid}))
    return conn


class Floors:
    """The floors of one client: its connection, the scope it reads, and a stream and a scope of its own it writes."""

    def __init__(self, url: str, superuser: str, filled: Filled, client: str) -> None:
        self.filled = filled
        self.conn, self.writing = connect(superuser), connect(superuser, writes=True)
        self.embedder = local.load()
        with closing(Engram(url, scope=Scope(TENANT, user_id=client))) as door:
            made = door.add(f"The first memory of the bare rows of {ids.new_id()}.", force=True).memory
            assert made is not None
            event_id = made.event_id
        row = self._row(
            "SELECT e.scope_id, e.stream_id::text, s.position, e.position FROM engram.agent_events e"
            " JOIN engram.event_streams s USING (tenant_id, stream_id)"
            " WHERE e.tenant_id = %(tenant)s AND e.event_id = %(event_id)s", tenant=TENANT, event_id=event_id,
        )  # fmt: skip
        self.mine = {"tenant": TENANT, "scope_id": row[0], "stream_id": row[1], "pattern": made.memory_id}
        self.place = row[2]
        self.event = self._event_inserts(event_id, row[3])
        counted = self._row("SELECT count(*) FROM engram.memory_graphs WHERE scope_id = %(s)s", s=filled.scope_id)
        self.near = WALKED if counted[0] else EXACT
        self.read = {
            "tenant": filled.scope.tenant_id, "scope_id": filled.scope_id, "model_id": semantic.default_model(),
        }  # fmt: skip
        self.memory = [
            f"{GIVEN}{VECTORS if 'embedding' in one else ''} {one}"
            for one in inserts(self.writing, TENANT, made.memory_id, apart=True)
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close both connections."""
        self.conn.close()
        self.writing.close()

    def one(self) -> None:
        """The smallest question there is."""
        self.conn.execute("SELECT 1").fetchall()

    def add(self, facts: Sequence[str]) -> None:
        """The rows of so many memories and their events, durably, in one round trip."""
        vectors = self.embedder.embed(facts)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        self._write([*self.event, *self.memory, GIVEN + WORDED], facts, [Half(vector) for vector in vectors])

    def append(self, facts: Sequence[str], *, jobs: bool = False) -> None:
        """So many events in a stream with a counter, durably, in one round trip; each with a job where asked."""
        self._write([*self.event, GIVEN + QUEUED] if jobs else self.event, facts, [])

    def queue(self, facts: Sequence[str]) -> None:
        """A job each, durably."""
        self._write([GIVEN + QUEUED], facts, [])

    def claim(self) -> None:
        """Ten jobs taken, and the same done, each durably."""
        taken = self.writing.execute(CLAIMED, self.mine).fetchall()
        self.writing.execute(DONE, self.mine | {"job_ids": [row[1] for row in taken]})

    def search(self, question: str, mode: str = "hybrid") -> list[Any]:
        """The best ten by meaning and words in one statement, and the vector of the question before."""
        vector = None
        if mode != "keyword":
            vector = self.embedder.embed([question], "query")[0]
            vector = Half(vector / np.linalg.norm(vector))
        ctes, score, rows = {
            "hybrid": (
                f"near AS MATERIALIZED ({self.near}), worded AS MATERIALIZED ({RAREST})",
                "0.6 * coalesce(cosine, 0) + 0.4 * coalesce(rank, 0)", "near FULL JOIN worded USING (memory_id)",
            ),
            "semantic": (f"near AS MATERIALIZED ({self.near})", "cosine", "near"),
            "keyword": (f"worded AS MATERIALIZED ({RAREST})", "rank", "worded"),
        }[mode]  # fmt: skip
        sql = f"WITH {ctes} {FOUND.format(score=score, rows=rows)}"
        return self.conn.execute(sql, self.read | {"vector": vector, "question": question}).fetchall()

    def critical(self) -> None:
        """The pinned memories of the scope."""
        self.conn.execute(CRITICAL, self.read).fetchall()

    def lineage(self, memory_id: str) -> None:
        """The revisions of a memory."""
        self.conn.execute(LINEAGE, self.read | {"memory_id": memory_id}).fetchall()

    def traverse(self, memory_id: str, depth: int = 3) -> None:
        """So many hops along the heaviest relations."""
        self.conn.execute(WALK, self.read | {"memory_id": memory_id, "depth": depth}).fetchall()

    def _write(self, statements: Sequence[str], facts: Sequence[str], vectors: Sequence[Half]) -> None:
        given = self.mine | {
            "memory_ids": [ids.new_id() for _ in facts], "event_ids": [ids.new_id() for _ in facts],
            "facts": list(facts), "hashes": [text.fact_hash(fact) for fact in facts], "vectors": vectors,
            "position": self.place,
        }  # fmt: skip
        self.place += len(facts)
        with self.writing.pipeline(), self.writing.transaction():
            for statement in statements:
                self.writing.execute(statement, given)

    def _event_inserts(self, event_id: str, position: int) -> list[str]:
        made = []
        for table, which in (
            ("agent_events", f"t.event_id = '{event_id}'"),
            ("agent_event_payloads", f"t.stream_id = '{self.mine['stream_id']}' AND t.position = {position}"),
        ):
            names = columns(self.conn, table)
            chosen = ", ".join(EVENT_MADE.get(name, f"t.{name}") for name in names)
            made.append(
                f"{GIVEN} INSERT INTO engram.{table} ({', '.join(names)}) SELECT {chosen} FROM s, engram.{table} t"
                f" WHERE t.tenant_id = '{TENANT}' AND {which}"
            )
        return [MOVED, *made]

    def _row(self, sql: str, **params: Any) -> Any:
        row = self.conn.execute(sql, params).fetchone()
        assert row is not None
        return row
