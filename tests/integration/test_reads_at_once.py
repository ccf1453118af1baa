"""Reads at once: a read of now by its key finds its scopes in the same statement, and the same in them as apart."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import pytest

from engram import ALL_USERS, Engram, NotFound, Scope, memories, tenancy
from engram.database import Connection, Database, fetch_named, statement
from engram.tenancy import Shelves
from tests.quiet import quiet

SHELVES: Final[tuple[Shelves, ...]] = ("with", "without", "only")


@pytest.fixture
def scopes(tenant: str) -> dict[str, Scope]:
    named: dict[str, dict[str, Any]] = {
        "user": {"user_id": "ada"}, "other": {"user_id": "bob"}, "agent": {}, "nobody": {"user_id": "nobody"},
        "room": {"namespace": "room", "user_id": "ada"}, "second": {"agent_id": "second", "user_id": "ada"},
        "room alone": {"namespace": "room", "user_id": "ada", "shared": False},
        "both": {"agent_id": ("default", "second"), "user_id": "ada"}, "everyone": {"user_id": ALL_USERS},
    }  # fmt: skip
    return {name: Scope(tenant_id=tenant, **ids) for name, ids in named.items()}


@pytest.fixture
def known(database_url: str, tenant: str, scopes: dict[str, Scope]) -> list[str]:
    """The ids of memories in several scopes: revised, pinned, private, and the chunks of a document."""
    with quiet(Engram(database_url, scope=Scope(tenant_id=tenant), embedder="none")) as door:
        for name in ("user", "other", "agent", "room", "second"):
            own = door.scoped(**{key: getattr(scopes[name], key) for key in ("namespace", "agent_id", "user_id")})
            for fact in ("Ada keeps a yawl", "Ada keeps a ketch"):
                own.add(fact, topic_key="boat", force=True)
            own.add(f"Never sail without a lamp, {name}", critical_slot="lamp", force=True)
            own.add("A secret of mine", private=True, force=True)
            own.record_long_input("The keeper polishes the beacon. " * 30, max_chunk_tokens=50, derive="skip")
            own.remember("I sail on Sundays.", session_id="s", wait=True)
        ids = "SELECT memory_id::text FROM engram.agent_memory"
        rows = door._core.database().run(tenant, lambda conn: conn.exec_driver_sql(ids).all())
    return [row[0] for row in rows]


@pytest.mark.parametrize("shelves", SHELVES)
def test_the_scopes_of_a_read_are_those_that_are_found_apart(
    database: Database, tenant: str, scopes: dict[str, Scope], known: list[str], shelves: Shelves
) -> None:
    owns = set()
    for name, scope in scopes.items():

        def both(conn: Connection, scope: Scope = scope) -> tuple[Any, tenancy.Visible]:
            (row,) = fetch_named(conn, statement("seen_scopes"), tenancy.asked_at_once(scope, shelves))
            return row, tenancy.visible(conn, scope, shelves=shelves)

        row, visible = database.run(tenant, both, read_only=True)
        assert (sorted(row.ids), row.own) == (sorted(visible.scope_ids), visible.own), name
        owns.add(row.own)
    assert len(owns - {None}) == 5


def test_a_read_by_an_id_finds_the_same_with_its_scopes_as_in_them(
    database: Database, tenant: str, scopes: dict[str, Scope], known: list[str]
) -> None:
    seen: dict[str, int] = {}
    for name, scope in scopes.items():

        def both(conn: Connection, scope: Scope = scope) -> list[tuple[Any, Any]]:
            visible, found = tenancy.visible(conn, scope, shelves="with"), []
            for one in known:
                found.append((memories.find_at_once(conn, scope, one), memories.find(conn, visible, one)))
                lines: list[Any] = [None, None]
                with suppress(NotFound):
                    lines[0] = memories.lineage_at_once(conn, scope, one)
                with suppress(NotFound):
                    lines[1] = memories.lineage_of(conn, visible, one)
                found.append((lines[0], lines[1]))
            return found

        pairs = database.run(tenant, both, read_only=True)
        assert [at_once for at_once, _ in pairs] == [apart for _, apart in pairs], name
        seen[name] = sum(apart is not None for _, apart in pairs) // 2
    assert 0 < seen["nobody"] < seen["agent"] < seen["user"] < seen["both"] < len(known)
    assert seen["everyone"] < len(known), "private memories show through one scope alone"


def test_what_is_pinned_is_the_same_with_its_scopes_as_in_them(
    database: Database, tenant: str, scopes: dict[str, Scope], known: list[str]
) -> None:
    assert known
    for name, scope in scopes.items():
        for types in (None, ["semantic"], ["constraint"]):
            given: dict[str, Any] = {"memory_types": types, "limit": 3, "max_tokens": 40, "strict": False}

            def both(conn: Connection, scope: Scope = scope, given: dict[str, Any] = given) -> tuple[Any, Any]:
                visible = tenancy.visible(conn, scope)
                apart = memories.recall_critical(conn, visible, **given)
                return memories.critical_at_once(conn, scope, **given), apart

            at_once, apart = database.run(tenant, both, read_only=True)
            assert at_once == apart, (name, types)


def test_a_foreign_tenant_reads_nothing_by_an_id(database: Database, known: list[str]) -> None:
    scope = Scope(tenant_id="a-foreign-one", user_id=ALL_USERS)
    found = database.run(
        scope.tenant_id, lambda conn: [memories.find_at_once(conn, scope, one) for one in known], read_only=True
    )
    assert found == [None] * len(known)
