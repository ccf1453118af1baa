"""Crowds: databases filled fast with many memories, as the product itself would have written them.

    python benchmarks/crowds.py large 100000              one scope of 100,000 memories
    python benchmarks/crowds.py small 1000000 --keep DIR  scopes of 100 each; kept in DIR, and copied from there later
    python benchmarks/crowds.py mixed 10000               a user with 20 % of the rows, one with 0.8 %, others of 100

One memory is written through the door, and every row it left, in whatever table, is the pattern of all the others: what
differs between two memories is put in its place, the rest is copied. So a crowd follows the product when that writes
other columns or tables. Events go through the ledger's own append, words through the product's own index statement;
vectors of scopes beyond the exact scan are in the graph as its job leaves them, and word counts are made by their job.

Texts are of English words: of each memory two thirds belong to its topic, the rest is common; both follow Zipf's law.
Vectors are the local embedder's own for these texts, and so stand in clusters.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, Self

sys.path.insert(0, str(Path(__file__).parent))

import machine
import numpy as np
import psycopg

from engram import Engram, Scope, ids, ledger, migrations, streams, tenancy, text
from engram.channels import keyword, semantic
from engram.database import Database
from engram.embedded import EmbeddedServer
from engram.embedding import local
from engram.ledger import NewEvent
from engram.settings import load

SMALL: Final = 100  # memories of a small scope
BIG_SHARE, LITTLE_SHARE = 0.2, 0.008  # of the rows, of the two users of a mixed crowd
BIG, LITTLE, ONLY = "big", "little", "only"
TOPICS: Final = 400
TOPIC_WORDS: Final = 60
COMMON: Final = ("the", "of", "and", "to", "in", "is", "with", "for", "on", "at", "from", "by")
NEAREST: Final = 8  # that the decision of a write keeps
FORM: Final = 3  # of the rows of a crowd: with another one, kept ones are filled anew
NOTE: Final = "crowd.json"
FRESH: Final = 125  # vectors of a large scope that wait for its graph, half of those that may
BLOCK: Final = 1_000  # facts that are drawn at once
KEPT: Final = 64  # blocks, since questions come back to them
CHUNK: Final = 5_000
BARE: Final = 50_000  # rows from which indexes are dropped and built again
SPAN: Final = timedelta(days=730)  # over which the memories began to hold
BEGUN: Final = datetime(2024, 1, 1, tzinfo=UTC)
WRITERS: Final = 2
DIMENSIONS: Final = 256
HEADER: Final = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
VECTOR: Final = np.dtype(
    [
        ("fields", ">i2"), ("n_size", ">i4"), ("n", ">i4"), ("vector_size", ">i4"), ("dimensions", ">i2"),
        ("unused", ">i2"), ("vector", ">f2", (DIMENSIONS,)),
    ]
)  # fmt: skip
STAGED: Final = """
    CREATE TEMP TABLE s (n integer, tenant_id text, scope_id bigint, memory_id uuid, lineage_id uuid, event_id uuid,
      recorded_at timestamptz, valid_from timestamptz, fact text, fact_hash bytea, quote_hash bytea, surprise float8,
      nearest jsonb, indexed boolean) ON COMMIT DROP;
    CREATE TEMP TABLE v (n integer, embedding halfvec) ON COMMIT DROP
"""
OWN: Final = (
    "tenant_id", "scope_id", "memory_id", "lineage_id", "event_id", "recorded_at", "valid_from", "fact", "fact_hash",
    "quote_hash", "surprise", "indexed",
)  # fmt: skip
# What differs between two memories, by the column's name; every other column is the pattern's.
MADE: Final[Mapping[str, str]] = {name: f"s.{name}" for name in OWN} | {
    "importance": "s.surprise * t.importance", "holds_at": "s.valid_from", "stands_at": "s.valid_from",
    "stands_recorded_at": "s.recorded_at", "stands_event_id": "s.event_id", "char_end": "char_length(s.fact)",
    "embedding": "v.embedding", "state": "engram.memory_state(m)",
    "decision": "t.decision || jsonb_build_object('memory_id', s.memory_id, 'event_id', s.event_id,"
                " 'nearest', s.nearest)",
}  # fmt: skip
WORDED: Final = "memory_lexemes"  # written by the product's own statement
RELATED: Final = """
    INSERT INTO engram.memory_relations (tenant_id, source_id, target_id, relation_type, weight, auto, event_id)
    WITH node AS MATERIALIZED (
      SELECT m.tenant_id, m.scope_id, m.memory_id, m.event_id, count(*) OVER w AS size,
             row_number() OVER (PARTITION BY m.scope_id ORDER BY m.memory_id) AS place
        FROM engram.agent_memory m WHERE m.scope_id = ANY(%(scope_ids)s) WINDOW w AS (PARTITION BY m.scope_id)),
    drawn AS MATERIALIZED (
      SELECT n.*, 1 + floor(n.size * power(random(), 2))::bigint AS other, 0.1 + 0.9 * random() AS weight
        FROM node n, generate_series(1, %(each)s) g WHERE n.size > 1)
    SELECT a.tenant_id, a.memory_id, b.memory_id, 'related_to', a.weight, true, a.event_id
      FROM drawn a JOIN node b ON b.scope_id = a.scope_id AND b.place = a.other
     WHERE a.memory_id <> b.memory_id
        ON CONFLICT DO NOTHING
"""
RELATION_HISTORY: Final = """
    INSERT INTO engram.relation_changes (tenant_id, source_id, target_id, relation_type, recorded_at, holds_at,
      weight, auto, metadata, ended, event_id)
    SELECT r.tenant_id, r.source_id, r.target_id, r.relation_type, coalesce(r.changed_at, r.recorded_at), r.holds_at,
           r.weight, r.auto, r.metadata, false, r.event_id
      FROM engram.memory_relations r
"""


@dataclass(frozen=True)
class Shape:
    """How many memories, and whose: `large` is one scope, `small` are scopes of `each`, `mixed` is some of both.

    The scopes are dealt out to `tenants`. Each memory has `relations`, whose ends are drawn so that there are hubs.
    """

    kind: str
    rows: int
    tenants: int = 1
    each: int = SMALL
    relations: int = 1
    seed: int = 1

    @property
    def key(self) -> str:
        """A name for it in a folder of crowds."""
        return f"{self.kind}-{self.rows}-{self.tenants}-{self.each}-{self.relations}-{self.seed}"

    @classmethod
    def usual(cls, kind: str, rows: int, tenants: int = 1) -> Self:
        """The shape that is measured: with ten relations a memory, fewer where that were above a million."""
        return cls(kind, rows, tenants, relations=max(1, min(10, 1_000_000 // rows)))

    def users(self) -> list[tuple[Scope, int]]:
        """The scopes, and how many memories each has."""
        named: list[tuple[str, int]] = []
        if self.kind == "large":
            named = [(ONLY, self.rows)]
        elif self.kind == "mixed":
            named = [(BIG, round(BIG_SHARE * self.rows)), (LITTLE, max(1, round(LITTLE_SHARE * self.rows)))]
        rest = self.rows - sum(many for _, many in named)
        named += [(f"user-{n}", min(self.each, rest - at)) for n, at in enumerate(range(0, rest, self.each))]
        return [(Scope(f"crowd-{n % self.tenants}", user_id=name), many) for n, (name, many) in enumerate(named)]


@dataclass(frozen=True)
class Filled:
    """A scope of a crowd: whose it is, its number, and how many memories it has."""

    scope: Scope
    scope_id: int
    rows: int
    first: int  # the number of its first memory in the crowd


@dataclass
class Crowd:
    """A filled database: its addresses, and its scopes in the order of the shape."""

    shape: Shape
    url: str
    superuser_url: str
    scopes: list[Filled]
    seconds: dict[str, float] = field(default_factory=dict)  # that filling it took

    @property
    def plain(self) -> str:
        """The superuser's address as psycopg takes it."""
        return plain(self.superuser_url)

    @cached_property
    def texts(self) -> Texts:
        """The texts of its memories, and questions about them."""
        return Texts(self.shape.seed)

    def of(self, user: str) -> Filled:
        """The scope of a user."""
        return next(one for one in self.scopes if one.scope.user_id == user)

    def door(self, filled: Filled, **options: Any) -> Engram:
        """A door to one of its scopes."""
        return Engram(self.url, scope=filled.scope, **options)


@lru_cache(maxsize=1)
def vocabulary() -> tuple[str, ...]:
    """English words, the most frequent first: the whole words of the local embedder's tokenizer."""
    found = importlib.util.find_spec(local.PACKAGE)
    assert found is not None
    assert found.origin is not None
    tokens = json.loads((Path(found.origin).parent / local.TOKENIZER).read_text(encoding="utf-8"))["model"]["vocab"]
    words = [token[1:] for token, _ in sorted(tokens.items(), key=lambda item: item[1]) if token.startswith("▁")]
    return tuple(
        word for word in words if word.isascii() and word.isalpha() and word.islower() and 3 <= len(word) <= 12
    )


class Texts:
    """Facts by their number: the same number and seed always give the same fact."""

    def __init__(self, seed: int = 1) -> None:
        self.seed = seed
        self.words = [word for word in vocabulary() if word not in COMMON]
        self._said = np.array([*self.words, *COMMON], dtype=object)
        dice = np.random.default_rng(seed)
        order = dice.permutation(len(self.words))
        self._all = _zipf(len(order), 1.05)
        self._topical = _zipf(TOPIC_WORDS, 0.8)
        self._order = order
        self._blocks: dict[int, list[str]] = {}
        self._topics = np.stack([dice.choice(len(order), TOPIC_WORDS, replace=False) for _ in range(TOPICS)])

    def facts(self, first: int, many: int) -> list[str]:
        """So many facts, from a number on."""
        found: list[str] = []
        for block in range(first // BLOCK, (first + many - 1) // BLOCK + 1):
            found += self._blocks.get(block) or self._block(block)
        return found[first % BLOCK : first % BLOCK + many]

    def question(self, number: int) -> str:
        """A question about the fact of a number: five of its words."""
        words = [word for word in self.facts(number, 1)[0].lower().rstrip(".").split() if word not in COMMON]
        dice = np.random.default_rng((self.seed, number, 2))
        chosen = sorted(dice.choice(len(words), min(5, len(words)), replace=False))
        return "what is said of " + " ".join(words[place] for place in chosen) + "?"

    def _block(self, block: int) -> list[str]:
        dice = np.random.default_rng((self.seed, block))
        lengths = dice.integers(9, 25, BLOCK)
        kinds, drawn = dice.random((BLOCK, 24)), dice.random((BLOCK, 24))
        topics = self._topics[dice.integers(TOPICS, size=BLOCK)]
        topical = np.take_along_axis(topics, np.searchsorted(self._topical, drawn), axis=1)
        common = len(self.words) + (drawn * len(COMMON)).astype(int)
        chosen = np.where(kinds < 0.7, topical, self._order[np.searchsorted(self._all, drawn)])
        said = self._said[np.where(kinds < 0.2, common, chosen)].tolist()
        facts = [" ".join(row[:length]).capitalize() + "." for row, length in zip(said, lengths.tolist(), strict=True)]
        if len(self._blocks) < KEPT:
            self._blocks[block] = facts
        return facts


@lru_cache(maxsize=16)
def digest(shape: Shape) -> str:
    """The SHA-256 of a crowd: who has how many memories, and every fact, in order."""
    whole, texts = hashlib.sha256(), Texts(shape.seed)
    for scope, rows in shape.users():
        whole.update(f"{scope.tenant_id} {scope.user_id} {rows}\n".encode())
    for first in range(0, shape.rows, BLOCK):
        whole.update("\n".join(texts.facts(first, min(BLOCK, shape.rows - first))).encode())
    return whole.hexdigest()


def _zipf(many: int, exponent: float) -> Any:
    weights = 1 / np.arange(1, many + 1) ** exponent
    return np.cumsum(weights) / weights.sum()


def vectors_of(facts: Sequence[str]) -> Any:
    """The unit vectors of some facts, by the local embedder."""
    found = local.load().embed(facts)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)


def plain(url: str) -> str:
    """An address as psycopg takes it."""
    return url.replace("postgresql+psycopg://", "postgresql://")


@contextmanager
def opened(shape: Shape, keep: Path | None = None, *, say: Any = None) -> Iterator[Crowd]:
    """A crowd in an embedded PostgreSQL of its own, which is gone afterwards.

    With a folder it is a copy of the one kept there, which is filled the first time; the copy is migrated when the
    schema has gone on. So every run begins with the same rows, whatever the runs before it wrote.
    """
    say = say or (lambda _: None)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    with machine.scratch("engram-crowd-", keep) as folder:
        if keep is None:
            with EmbeddedServer.start(folder / "data") as server:
                yield _filled(server, shape, say)
            return
        kept = keep / f"{shape.key}-{FORM}"
        _keep(kept, shape, say)
        with _timed(f"copy of {kept.name}", say):
            subprocess.run(["cp", "-a", "--reflink=auto", kept / "data", folder], check=True)
        with EmbeddedServer.start(folder / "data") as server:
            with _timed("migration", say):
                migrations.upgrade(server.superuser_url)
            yield _read(kept / NOTE, shape, server)


def _filled(server: EmbeddedServer, shape: Shape, say: Any) -> Crowd:
    migrations.upgrade(server.superuser_url)
    return fill(server.url(), server.superuser_url, shape, say=say)


def _keep(kept: Path, shape: Shape, say: Any) -> None:
    """See that a crowd is there, and whole."""
    if (kept / NOTE).exists():
        return
    kept.mkdir(parents=True, exist_ok=True)
    kept.chmod(0o755)
    shutil.rmtree(kept / "data", ignore_errors=True)
    with EmbeddedServer.start(kept / "data") as server:
        crowd = _filled(server, shape, say)
    told = {"scopes": [one.scope_id for one in crowd.scopes], "seconds": crowd.seconds}
    (kept / NOTE).write_text(json.dumps(told))


@contextmanager
def _timed(name: str, say: Any) -> Iterator[None]:
    started = time.perf_counter()
    yield
    say(f"{name}: {time.perf_counter() - started:.1f} s")


def _read(note: Path, shape: Shape, server: EmbeddedServer) -> Crowd:
    told = json.loads(note.read_text())
    return Crowd(shape, server.url(), server.superuser_url, _numbered(shape, told["scopes"]), told["seconds"])


def _numbered(shape: Shape, scope_ids: Sequence[int]) -> list[Filled]:
    found, first = [], 0
    for (scope, rows), scope_id in zip(shape.users(), scope_ids, strict=True):
        found.append(Filled(scope, scope_id, rows, first))
        first += rows
    return found


def fill(url: str, superuser_url: str, shape: Shape, *, say: Any = None) -> Crowd:
    """Fill a migrated database with a crowd; `say` is told what goes on."""
    return _Filling(url, superuser_url, shape, say or (lambda _: None)).run()


class _Filling:
    """The filling of one crowd: pattern, scopes, chunks of rows by several writers, relations, indexes, jobs."""

    def __init__(self, url: str, superuser_url: str, shape: Shape, say: Any) -> None:
        self.shape, self.say, self.plain = shape, say, plain(superuser_url)
        self.database = Database(url, load({}))
        self.texts = Texts(shape.seed)
        self.crowd = Crowd(shape, url, superuser_url, [])
        self.streams: dict[int, str] = {}
        self.done, self.lock = 0, threading.Lock()

    def run(self) -> Crowd:
        with self._timed("pattern and scopes"):
            self.tenant, self.memory_id, self.request = self._pattern()
            self._open_scopes()
        dropped = self._drop_indexes() if self.shape.rows >= BARE else []
        with self._timed("rows"), ThreadPoolExecutor(WRITERS) as pool:
            for done in [pool.submit(self._write, chunk) for chunk in self._chunks()]:
                done.result()
        with self._timed("relations"):
            self._relate()
        with self._timed("indexes"):
            self._build(dropped)
        with self._timed("jobs"):
            self._tend()
        with psycopg.connect(self.plain, autocommit=True) as conn, self._timed("vacuum"):
            conn.execute("VACUUM ANALYZE")
            if dropped:
                conn.execute("CHECKPOINT")
            conn.execute("ALTER SYSTEM RESET ALL")
            conn.execute("SELECT pg_reload_conf()")
        self.database.close()
        return self.crowd

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        with _timed(f"{self.shape.kind} {self.shape.rows:,}: {name}", self.say):
            yield
        self.crowd.seconds[name] = round(time.perf_counter() - started, 1)

    def _pattern(self) -> tuple[str, str, dict[str, Any]]:
        scope = Scope(self.shape.users()[0][0].tenant_id, user_id="pattern")
        with Engram(self.crowd.url, scope=scope, settings=load({})) as door:
            made = door.add(self.texts.facts(10**9, 1)[0], valid_from=BEGUN).memory
            assert made is not None
            said = door.get_event(made.event_id)
        self.event = NewEvent(said.role, said.event_type, said.content, said.payload, said.metadata, said.trust)
        return scope.tenant_id, made.memory_id, dict(said.payload["request"])

    def _open_scopes(self) -> None:
        users, numbers = self.shape.users(), {}
        by_tenant: dict[str, list[Scope]] = {}
        for scope, _ in users:
            by_tenant.setdefault(scope.tenant_id, []).append(scope)
        for tenant, scopes in by_tenant.items():
            with self.database.transaction(tenant) as conn:
                for scope in scopes:
                    number = numbers[scope] = tenancy.ensure(conn, scope)
                    self.streams[number] = streams.open(conn, number, "scope", "direct").stream_id
        self.crowd.scopes = _numbered(self.shape, [numbers[scope] for scope, _ in users])
        others = [tenant for tenant in by_tenant if tenant != self.tenant]
        with psycopg.connect(self.plain) as conn:
            for table in ("embedding_models", "text_search_configs"):
                chosen = ", ".join("o.tenant" if n == "tenant_id" else f"t.{n}" for n in columns(conn, table))
                conn.execute(
                    f"INSERT INTO engram.{table} SELECT {chosen} FROM engram.{table} t, unnest(%s::text[]) o(tenant)"
                    " WHERE t.tenant_id = %s", (others, self.tenant),
                )  # fmt: skip

    def _chunks(self) -> Iterator[list[tuple[Filled, int, int]]]:
        chunk: list[tuple[Filled, int, int]] = []
        size = 0
        for one in self.crowd.scopes:
            for at in range(0, one.rows, CHUNK):
                many = min(CHUNK, one.rows - at)
                chunk.append((one, at, many))
                size += many
                if size >= CHUNK:
                    yield chunk
                    chunk, size = [], 0
        if chunk:
            yield chunk

    def _write(self, chunk: Sequence[tuple[Filled, int, int]]) -> None:
        rows = [row for one, at, many in chunk for row in self._append(one, at, many)]
        vectors = vectors_of([row["fact"] for row in rows])
        with psycopg.connect(self.plain) as conn:
            conn.execute("SET LOCAL session_replication_role = replica")
            conn.execute("SET LOCAL synchronous_commit = off")
            conn.execute(STAGED)
            self._stage(conn, rows, vectors)
            for insert in inserts(conn, self.tenant, self.memory_id):
                conn.execute(insert, {"pattern": self.memory_id})
        self._index(rows)
        with self.lock:
            self.done += len(rows)
            if self.done // 50_000 != (self.done - len(rows)) // 50_000:
                self.say(f"{self.shape.kind} {self.shape.rows:,}: {self.done:,} rows")

    def _append(self, one: Filled, at: int, many: int) -> list[dict[str, Any]]:
        facts = self.texts.facts(one.first + at, many)
        call, request = ids.new_id(), self.request
        starts = [since(one.first + at + n) for n in range(many)]
        events = [
            replace(
                self.event, content=fact, event_id=ids.new_id(), idempotency_key=f"call:{call}/{n}",
                payload={**self.event.payload, "request": request | {"fact": fact, "valid_from": start.isoformat()}},
            )
            for n, (fact, start) in enumerate(zip(facts, starts, strict=True))
        ]  # fmt: skip
        receipts: list[ledger.AppendedEvent] = []
        for begin in range(0, many, ledger.MOST_EVENTS):
            with self.database.transaction(one.scope.tenant_id) as conn:
                batch = events[begin : begin + ledger.MOST_EVENTS]
                done = ledger.append(conn, scope_id=one.scope_id, stream_id=self.streams[one.scope_id], events=batch)
            receipts += done.events
        rows = [self._row(one, fact, start, told) for fact, start, told in zip(facts, starts, receipts, strict=True)]
        for n, row in enumerate(rows):
            row["nearest"] = _nearest(rows[max(0, n - NEAREST) : n])
            row["indexed"] = one.rows > semantic.LARGE and at + n < one.rows - FRESH
        return rows

    def _row(self, one: Filled, fact: str, start: datetime, told: ledger.AppendedEvent) -> dict[str, Any]:
        what = (told.event_id, one.scope.tenant_id, None, None, 0)
        return {
            "tenant_id": one.scope.tenant_id, "scope_id": one.scope_id, "memory_id": ids.id_of(*what),
            "lineage_id": ids.id_of(*what, "lineage"), "event_id": told.event_id, "recorded_at": told.recorded_at,
            "valid_from": start, "fact": fact, "fact_hash": text.fact_hash(fact).hex(),
            "quote_hash": text.quote_hash(fact), "surprise": 0.5 + int(told.event_id[-2:], 16) / 512,
        }  # fmt: skip

    def _stage(self, conn: psycopg.Connection[Any], rows: Sequence[Mapping[str, Any]], vectors: Any) -> None:
        with conn.cursor().copy("COPY s FROM STDIN") as stream:
            stream.write("".join(_line(n, row) for n, row in enumerate(rows)))
        binary = np.zeros(len(rows), dtype=VECTOR)
        binary["fields"], binary["n_size"], binary["n"], binary["vector_size"] = 2, 4, np.arange(len(rows)), 4 + 512
        binary["dimensions"], binary["vector"] = DIMENSIONS, vectors
        with conn.cursor().copy("COPY v FROM STDIN (FORMAT BINARY)") as stream:
            stream.write(HEADER + binary.tobytes() + b"\xff\xff")
        conn.execute("ANALYZE s")
        conn.execute("ANALYZE v")

    def _index(self, rows: Sequence[Mapping[str, Any]]) -> None:
        by_scope: dict[tuple[str, int], list[keyword.Entry]] = {}
        for row in rows:
            entry = keyword.Entry(row["memory_id"], row["fact"], occurred_at=row["recorded_at"])
            by_scope.setdefault((row["tenant_id"], row["scope_id"]), []).append(entry)
        for (tenant, scope_id), entries in by_scope.items():
            with self.database.transaction(tenant) as conn:
                conn.exec_driver_sql("SET LOCAL synchronous_commit = off")
                conn.exec_driver_sql("SET LOCAL statement_timeout = 0")
                keyword.index(conn, entries, tenant_id=tenant, scope_id=scope_id)

    def _relate(self) -> None:
        numbers = [one.scope_id for one in self.crowd.scopes]
        with psycopg.connect(self.plain) as conn:
            conn.execute("SET LOCAL session_replication_role = replica")
            conn.execute("SET LOCAL synchronous_commit = off")
            conn.execute("SET LOCAL work_mem = '512MB'")
            conn.execute("SELECT setseed(0.5)")
            conn.execute(RELATED, {"scope_ids": numbers, "each": self.shape.relations})
            conn.execute(RELATION_HISTORY)

    def _drop_indexes(self) -> list[str]:
        """Drop every index that no constraint needs, of the tables that are filled; how each was made."""
        with psycopg.connect(self.plain, autocommit=True) as conn:
            conn.execute("ALTER SYSTEM SET max_wal_size = '8GB'")
            conn.execute("ALTER SYSTEM SET wal_recycle = off")  # so that a kept crowd has no large log
            conn.execute("SELECT pg_reload_conf()")
            tables = [*patterned(conn, self.memory_id), WORDED, "memory_relations", "relation_changes"]
            found = conn.execute(
                # What an index is built with stands at its parts, and would be lost with them.
                "SELECT x.indexrelid::regclass::text, pg_get_indexdef(x.indexrelid),"
                " (SELECT min(array_to_string(k.reloptions, ', ')) FROM pg_inherits h"
                " JOIN pg_class k ON k.oid = h.inhrelid WHERE h.inhparent = x.indexrelid) FROM pg_index x"
                " JOIN pg_class c ON c.oid = x.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace"
                " WHERE n.nspname = 'engram' AND c.relname = ANY(%s)"
                " AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = x.indexrelid)", (tables,),
            ).fetchall()  # fmt: skip
            for name, *_ in found:
                conn.execute(f"DROP INDEX {name}")
        return [_made_of(*one) for _, *one in found]

    def _build(self, dropped: Sequence[str]) -> None:
        def make(definition: str) -> None:
            with psycopg.connect(self.plain, autocommit=True) as conn:
                conn.execute("SET ROLE engram_owner")
                conn.execute("SET maintenance_work_mem = '2GB'")
                conn.execute("SET max_parallel_maintenance_workers = 2")
                conn.execute(definition)

        with ThreadPoolExecutor(WRITERS) as pool:
            for done in [pool.submit(make, definition) for definition in sorted(dropped, key=_costliest)]:
                done.result()

    def _tend(self) -> None:
        model = semantic.default_model()
        for one in self.crowd.scopes:
            tenant = one.scope.tenant_id
            with self.database.transaction(tenant) as conn:
                conn.exec_driver_sql("SET LOCAL statement_timeout = 0")
                if one.rows >= keyword.LARGE:
                    keyword.refresh_terms(conn, tenant, one.scope_id)
                if one.rows > semantic.LARGE:
                    conn.exec_driver_sql(
                        "INSERT INTO engram.memory_graphs (tenant_id, scope_id, model_id) VALUES (%s, %s, %s)",
                        (tenant, one.scope_id, model),
                    )
            if one.rows < keyword.LARGE:
                break  # the largest come first


def since(number: int) -> datetime:
    """When the fact of a number began to hold."""
    return BEGUN + SPAN * ((number * 7919 % 10_007) / 10_007)


def _made_of(definition: str, options: str | None) -> str:
    """How an index is made with all its parts, and what these are built with. Pure."""
    made = definition.replace("ON ONLY", "ON")
    if options is None or " WITH (" in made:
        return made
    before, where, after = made.partition(" WHERE ")
    return f"{before} WITH ({options}){where}{after}"


def _costliest(definition: str) -> tuple[bool, bool]:
    return ("USING hnsw" not in definition, "USING gin" not in definition)


def _nearest(rows: Sequence[Mapping[str, Any]]) -> str:
    near = [
        f'{{"memory_id": "{row["memory_id"]}", "cosine": 0.31234567, "jaccard": 0.05, "changed": ["word"]}}'
        for row in rows
    ]
    return "[" + ", ".join(near) + "]"


def _line(n: int, row: Mapping[str, Any]) -> str:
    return (
        f"{n}\t{row['tenant_id']}\t{row['scope_id']}\t{row['memory_id']}\t{row['lineage_id']}\t{row['event_id']}\t"
        f"{row['recorded_at'].isoformat()}\t{row['valid_from'].isoformat()}\t{row['fact']}\t\\\\x{row['fact_hash']}\t"
        f"\\\\x{row['quote_hash']}\t{row['surprise']}\t{row['nearest']}\t{'t' if row['indexed'] else 'f'}\n"
    )


def columns(conn: psycopg.Connection[Any], table: str) -> list[str]:
    """The columns of a table that are written, in their order."""
    rows = conn.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
        " AND attidentity = '' AND attgenerated = '' ORDER BY attnum", (f"engram.{table}",),
    ).fetchall()  # fmt: skip
    return [row[0] for row in rows]


def patterned(conn: psycopg.Connection[Any], memory_id: str) -> list[str]:
    """The tables a memory has rows in, its own first, without that of its words."""
    named = conn.execute(
        "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'memory_id'"
        " WHERE c.relnamespace = 'engram'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
        " AND c.relname <> ALL(%s) ORDER BY c.relname <> 'agent_memory', c.relname", ([WORDED],),
    ).fetchall()  # fmt: skip
    holds = "SELECT EXISTS (SELECT FROM engram.{} WHERE memory_id = %s)"
    found = [(table, conn.execute(holds.format(table), (memory_id,)).fetchone()) for (table,) in named]
    return [table for table, row in found if row is not None and row[0]]


def inserts(conn: psycopg.Connection[Any], tenant: str, memory_id: str, *, apart: bool = False) -> list[str]:
    """The statements that write the rows `s`, with their vectors `v`, into every table the pattern is in.

    With `apart` the rows of the pattern are copied into tables of the connection first. Otherwise a tenant that no
    ANALYZE has seen may be read whole for each of them.
    """
    made = []
    for table in patterned(conn, memory_id):
        names = columns(conn, table)
        chosen = ", ".join(MADE.get(name, f"t.{name}") for name in names)
        also = " JOIN v ON v.n = s.n" if "embedding" in names else ""
        if "state" in names:
            also = " JOIN engram.agent_memory m ON m.tenant_id = s.tenant_id AND m.memory_id = s.memory_id"
        source = f"engram.{table} t WHERE t.tenant_id = '{tenant}' AND t.memory_id = %(pattern)s"
        if apart:
            conn.execute(f"CREATE TEMP TABLE pattern_{table} AS SELECT t.* FROM {source}", {"pattern": memory_id})
            source = f"pattern_{table} t"
        made.append(
            f"INSERT INTO engram.{table} ({', '.join(names)}) SELECT {chosen} FROM s{also}, {source} ORDER BY s.n"
        )
    return made


def main() -> None:
    """Fill a crowd, and say how long it took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("large", "small", "mixed"))
    parser.add_argument("rows", type=int)
    parser.add_argument("--tenants", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    started = time.perf_counter()
    with opened(Shape.usual(given.kind, given.rows, given.tenants), given.keep, say=print) as crowd:
        seconds = time.perf_counter() - started
        print(f"{given.rows:,} memories in {len(crowd.scopes):,} scopes, {seconds:.0f} s: {crowd.seconds}")


if __name__ == "__main__":
    main()
