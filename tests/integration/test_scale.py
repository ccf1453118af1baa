"""A table of many scopes after churn: the nearest are found in scopes of every size, and never fewer than there are.

The short form says that scopes are large when they are not; the long form has the sizes that they are large from.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psycopg
import pytest
from walks import walk

from engram import Engram, Filter, Scope, embedding, recall, tenancy
from engram.channels import semantic
from engram.database import Connection, Database
from engram.embedded import EmbeddedServer
from engram.recall import finding
from engram.settings import load
from tests.scripts import script

QUESTIONS = 20
NAMED = {"short": (1, 10, 90, 1_200, 2_400), "long": (1, 10, 900, 20_000, 50_000)}
# The rest of the table: two large scopes of another tenant, and small ones.
OTHERS = {"short": (1_200, 1_200, *(60,) * 100), "long": (20_000, 20_000, *(950,) * 199)}
LARGE = {"short": (1_000, 100), "long": (semantic.LARGE, semantic.FRESH)}  # and how many may wait
CHURNED = 0.3


@dataclass
class Vault:
    """The filled table: of each named scope its current memories and their vectors, which are searched exactly."""

    database: Database
    superuser: str
    tenant: str
    large: int
    scopes: dict[int, Scope]
    ids: dict[int, int]
    memories: dict[int, list[str]] = field(default_factory=dict)
    vectors: dict[int, Any] = field(default_factory=dict)

    def exact(self, size: int, target: Any, limit: int, among: Sequence[int] | None = None) -> list[str]:
        places = np.arange(len(self.memories[size])) if among is None else np.asarray(among)
        order = np.argsort(-(self.vectors[size][places] @ target), kind="stable")[:limit]
        return [self.memories[size][place] for place in places[order]]

    def found(self, size: int, target: Any, *, limit: int = 10, **options: Any) -> list[str]:
        """The current memories that the semantic channel brings, nearest first, as a search ranks them."""
        asked = recall.prepare("anything", mode="semantic", limit=limit, **options)
        with self.database.transaction(self.tenant, read_only=True) as conn:
            looked = recall.look(conn, tenancy.visible(conn, self.scopes[size]), asked)
            found = recall.find(conn, asked, looked, recall.Meaning(target, semantic.default_model()))
        ranked = recall.rank(asked, looked, found)
        assert all(set(one.channels) == {"semantic"} for one in ranked)
        return [one.memory.memory_id for one in ranked]

    def questions(self, size: int, many: int) -> list[Any]:
        """Questions near something that is there, and near something that was put away."""
        dice = np.random.default_rng(size)
        drawn = self.vectors[size][dice.integers(0, len(self.vectors[size]), many)]
        noisy = drawn + 0.4 * dice.normal(size=drawn.shape) / drawn.shape[1] ** 0.5
        return list((noisy / np.linalg.norm(noisy, axis=1, keepdims=True)).astype(np.float32))


@pytest.fixture(scope="module")
def filler() -> Iterator[Any]:
    """What fills tables for benchmarks; it is no part of the package."""
    yield from script("copies")


@pytest.fixture(scope="module", params=["short", pytest.param("long", marks=pytest.mark.slow)])
def vault(request: pytest.FixtureRequest, server: EmbeddedServer, migrated: str, filler: Any) -> Iterator[Vault]:
    """A database of its own, filled, a third of it put away, and filled up again."""
    form = str(request.param)
    name = f"vault_{form}_{time.time_ns()}"
    superuser = server.superuser_url.replace("+psycopg", "")
    with psycopg.connect(superuser, autocommit=True) as conn:
        conn.execute(f'CREATE DATABASE "{name}" TEMPLATE {migrated}')  # type: ignore[arg-type]
    url = server.url(user="postgres", database=name)
    database = Database(url, load({}))
    try:
        yield fill(form, database, url, filler)
    finally:
        database.close()
        with psycopg.connect(superuser, autocommit=True) as conn:
            conn.execute(f'DROP DATABASE "{name}" WITH (FORCE)')  # type: ignore[arg-type]


def fill(form: str, database: Database, url: str, filler: Any) -> Vault:
    plain, (large, fresh) = url.replace("+psycopg", ""), LARGE[form]
    dice = np.random.default_rng(11)
    scopes = {size: Scope("vault", user_id=f"u{size}") for size in NAMED[form]}
    with Engram(url, scope=Scope("vault", user_id="first"), settings=load({})) as door:
        first = door.add("The first of many").memory
    assert first is not None
    with database.transaction("vault") as app:
        ids = {size: tenancy.ensure(app, scope) for size, scope in scopes.items()}
        others = [tenancy.ensure(app, Scope("vault", user_id=f"other{n}")) for n in range(len(OTHERS[form]))]
    sizes = {ids[size]: size for size in scopes} | dict(zip(others, OTHERS[form], strict=True))
    vault = Vault(database, plain, "vault", large, scopes, ids)
    with psycopg.connect(plain, autocommit=True) as conn:
        conn.execute("ALTER TABLE engram.agent_memory SET (autovacuum_enabled = off)")
        conn.execute("SET maintenance_work_mem = '1GB'")
        # The graph of the first rows is built at once, as after a restore; what comes later enters it by its job.
        definition = conn.execute("SELECT pg_get_indexdef('engram.memory_embeddings_graph'::regclass)").fetchone()
        assert definition is not None
        conn.execute("DROP INDEX engram.memory_embeddings_graph")
        everything = filler.clustered(dice, sum(sizes.values()))
        rows = filler.copy(conn, "vault", first.memory_id, sizes, everything, dice)
        graphed = [scope_id for scope_id, size in sizes.items() if size > large]
        conn.execute("UPDATE engram.memory_embeddings SET indexed = true WHERE scope_id = ANY(%s)", (graphed,))
        conn.execute("INSERT INTO engram.memory_graphs SELECT 'vault', g, %s FROM unnest(%s::bigint[]) g",
                     (semantic.default_model(), graphed))  # fmt: skip
        conn.execute(definition[0].replace("ON ONLY", "ON"))
        gone = np.flatnonzero(dice.random(len(rows.memory_ids)) < CHURNED)
        gone = gone[~np.isin(rows.scopes[gone], [ids[1]])]  # the one of the smallest scope stays
        filler.churn(conn, "vault", [rows.memory_ids[place] for place in gone])
        lost = {scope_id: int((rows.scopes[gone] == scope_id).sum()) for scope_id in sizes}
        more = filler.clustered(dice, sum(lost.values()))
        new = filler.copy(conn, "vault", first.memory_id, lost, more, dice)
        kept = np.setdiff1d(np.arange(len(rows.memory_ids)), gone)
        for size, scope_id in ids.items():
            old, young = kept[rows.scopes[kept] == scope_id], np.flatnonzero(new.scopes == scope_id)
            vault.memories[size] = [rows.memory_ids[n] for n in old] + [new.memory_ids[n] for n in young]
            vault.vectors[size] = np.concatenate([rows.vectors[old], new.vectors[young]])
        for scope_id in graphed:
            done = 1
            while done:
                with database.transaction("vault") as app:
                    done = semantic.index_fresh(
                        app, "vault", scope_id, semantic.default_model(), batch=large // 12,
                        large=large, fresh=fresh,
                    )  # fmt: skip
        conn.execute("ANALYZE")
        table = conn.execute("SELECT count(*), count(*) FILTER (WHERE status = 'active') FROM engram.agent_memory")
        print("\nmemories, current:", table.fetchone())  # noqa: T201 - shown with -s
    return vault


def indexes(vault: Vault, size: int, target: Any) -> set[str]:
    """The indexes that the walks for a scope are planned with: none where it is compared exactly."""
    asked, found = recall.prepare("anything", mode="semantic"), set[str]()
    with vault.database.transaction(vault.tenant, read_only=True) as conn:
        looked = recall.look(conn, tenancy.visible(conn, vault.scopes[size]), asked)
        for scope_id in looked.graphed:
            sql = walk(conn, dimensions=256, scope_id=scope_id, model_id=semantic.default_model(), most=30)
            given = {"vector": embedding.halves(target), "tenant_id": vault.tenant}
            plan = conn.exec_driver_sql("EXPLAIN (FORMAT JSON) " + sql, given).scalar()
            found |= set(named(json.loads(plan) if isinstance(plan, str) else plan))
    return found


def named(plan: Any) -> Iterator[str]:
    if isinstance(plan, Mapping):
        if "Index Name" in plan:
            yield plan["Index Name"]
        for value in plan.values():
            yield from named(value)
    elif isinstance(plan, list):
        for value in plan:
            yield from named(value)


def test_the_nearest_are_found_in_scopes_of_every_size(vault: Vault) -> None:
    for size in vault.scopes:
        shares = []
        for target in vault.questions(size, QUESTIONS):
            exact, found = vault.exact(size, target, 10), vault.found(size, target)
            assert len(found) == len(exact) == min(10, size)
            shares.append(len({*exact} & {*found}) / len(exact))
        print(f"recall@10 of {size:,} memories: {sum(shares) / len(shares):.3f}, worst {min(shares):.1f}")  # noqa: T201
        assert sum(shares) / len(shares) >= 0.95


def test_the_graph_serves_large_scopes_and_no_others(vault: Vault) -> None:
    for size in vault.scopes:
        used = indexes(vault, size, vault.questions(size, 1)[0])
        assert any("embedding_idx" in name or "graph" in name for name in used) == (size > vault.large), (size, used)


def test_what_waits_outside_the_graph_is_found_beside_it(vault: Vault) -> None:
    size = max(vault.scopes)
    with psycopg.connect(vault.superuser) as conn:
        waiting = conn.execute(
            "SELECT m.memory_id::text FROM engram.memory_embeddings e"
            " JOIN engram.agent_memory m ON m.tenant_id = e.tenant_id AND m.memory_id = e.memory_id"
            " WHERE e.scope_id = %s AND NOT e.indexed AND m.status = 'active' ORDER BY 1 LIMIT 20",
            (vault.ids[size],),
        ).fetchall()
    assert waiting
    for (memory_id,) in waiting:
        target = vault.vectors[size][vault.memories[size].index(memory_id)]
        assert vault.found(size, target)[0] == memory_id


def test_a_graph_that_brings_too_little_is_not_believed(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    real, size = finding.send_ahead, max(vault.scopes)

    def narrow(conn: Connection, name: str, /, **params: Any) -> None:
        real(conn, name, **params | ({"breadth": "3"} if name == "set_search" else {}))
        conn.exec_driver_sql("SET LOCAL hnsw.iterative_scan = off")  # what a walk keeps in view is all it brings

    monkeypatch.setattr(finding, "send_ahead", narrow)
    for target in vault.questions(size, 3):
        exact, found = vault.exact(size, target, 10), vault.found(size, target)
        assert len(found) == 10
        assert len({*exact} & {*found}) >= 9


@pytest.mark.parametrize("limit", [1, 50, 200])
def test_there_are_as_many_as_are_asked_for_or_as_there_are(vault: Vault, limit: int) -> None:
    for size in vault.scopes:
        for target in vault.questions(size, 2):
            assert len(vault.found(size, target, limit=limit)) == min(limit, size)
    size = max(vault.scopes)
    strange = np.zeros(256, dtype=np.float32)
    strange[0] = 1.0  # in no cluster
    assert len(vault.found(size, strange, limit=limit)) == limit


def test_a_filter_that_few_match_finds_all_of_them_in_a_large_scope(vault: Vault) -> None:
    size = max(vault.scopes)
    target = vault.questions(size, 1)[0]
    ordered = vault.exact(size, target, size)
    few = [*ordered[-3:], ordered[size // 2]]
    with psycopg.connect(vault.superuser) as conn:
        conn.execute("SET session_replication_role = replica")
        conn.execute("UPDATE engram.agent_memory SET tags = '{rare}' WHERE memory_id = ANY(%s::uuid[])", (few,))
    assert set(vault.found(size, target, filter=Filter(tags_any=("rare",)))) == set(few)


def test_what_is_near_and_gone_hides_nothing_that_is_current(vault: Vault) -> None:
    """All of the nearest thousand were put away: then the current ones behind them are found, exactly."""
    size = max(vault.scopes)
    target = vault.questions(size, 3)[-1]
    near = vault.exact(size, target, min(1_000, size // 2))
    with psycopg.connect(vault.superuser) as conn:
        conn.execute("SET session_replication_role = replica")
        conn.execute("UPDATE engram.agent_memory SET status = 'archived' WHERE memory_id = ANY(%s::uuid[])", (near,))
    try:
        left = [place for place, one in enumerate(vault.memories[size]) if one not in {*near}]
        exact, found = vault.exact(size, target, 10, left), vault.found(size, target)
        assert len(found) == 10
        assert len({*exact} & {*found}) >= 9  # half precision may swap the last one
    finally:
        with psycopg.connect(vault.superuser) as conn:
            conn.execute("SET session_replication_role = replica")
            conn.execute("UPDATE engram.agent_memory SET status = 'active' WHERE memory_id = ANY(%s::uuid[])", (near,))
