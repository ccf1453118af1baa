"""Tenancy: which scopes of the database a call writes to and may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from engram.database import Connection, fetch_all, fetch_value
from engram.scope import AllUsers, Scope

Shelves = Literal["without", "with", "only"]
"""Whether a read sees the chunks of documents, which stand on shelves beside the scopes they belong to."""


class Row(NamedTuple):
    """A scope, as `visible_scopes` tells of it."""

    scope_id: int
    namespace: str
    agent_id: str
    user_id: str | None
    shelf_of: int | None


@dataclass(frozen=True, slots=True)
class Visible:
    """The scopes a read may see: their ids, how near each is (0 nearest), and the one that is exactly the caller's own.

    `own` is None where no row exists yet, or where the read is wider than one scope; private rows show only through it.
    """

    scope: Scope
    scope_ids: tuple[int, ...]
    own: int | None
    nearness: Mapping[int, int]
    scopes: Mapping[int, Scope]

    def id_of(self, scope: Scope) -> int:
        """The number of one of the scopes that are read: its own where its shelf is read, too."""
        return next(scope_id for scope_id, one in self.scopes.items() if one == scope)

    @property
    def own_ids(self) -> tuple[int, ...] | None:
        """The scopes whose private rows show; None where the read is of its own scope alone, and no others are met."""
        if self.scope_ids == (self.own,):
            return None
        return () if self.own is None else (self.own,)


def ensure(conn: Connection, scope: Scope) -> int:
    """The id of the scope a write goes to, made on first use."""
    params = {
        "tenant_id": scope.tenant_id,
        "namespace": scope.namespace,
        "agent_id": scope.agent_id,
        "user_id": scope.user_id,
    }
    found = fetch_value(conn, "find_scope", **params)
    if found is None:
        found = fetch_value(conn, "add_scope", **params)
        if found is None:  # another writer made it between the two statements
            found = fetch_value(conn, "find_scope", **params)
    return int(found)


def find(conn: Connection, scope: Scope) -> int | None:
    """The id of exactly this scope, or None when nothing was ever written to it."""
    found = fetch_value(
        conn,
        "find_scope",
        tenant_id=scope.tenant_id,
        namespace=scope.namespace,
        agent_id=scope.agent_id,
        user_id=scope.user_id,
    )
    return None if found is None else int(found)


def ensure_shelf(conn: Connection, tenant_id: str, scope_id: int) -> int:
    """The id of a scope's shelf, made on first use."""
    found = fetch_value(conn, "find_shelf", tenant_id=tenant_id, scope_id=scope_id)
    if found is None:
        found = fetch_value(conn, "add_shelf", tenant_id=tenant_id, scope_id=scope_id)
        if found is None:  # another writer made it between the two statements
            found = fetch_value(conn, "find_shelf", tenant_id=tenant_id, scope_id=scope_id)
    return int(found)


def visible(conn: Connection, scope: Scope, *, shelves: Shelves = "without") -> Visible:
    """The scopes this read may see: its own and the shared namespace, the user's rows and the agent's own.

    A shelf goes by the scope it belongs to: whoever may see the one may see the other.
    """
    return seen(scope, fetch_all(conn, "list_visible_scopes", **asked_for(scope, shelves)), shelves=shelves)


def asked_for(scope: Scope, shelves: Shelves) -> dict[str, Any]:
    """What `visible_scopes` is asked with. Pure."""
    everyone = isinstance(scope.user_id, AllUsers)
    return {
        "tenant_id": scope.tenant_id, "namespaces": list(scope.namespaces), "agents": list(scope.agents),
        "user_id": None if everyone else scope.user_id, "all_users": everyone, "shelves": shelves,
    }  # fmt: skip


def asked_at_once(scope: Scope, shelves: Shelves) -> dict[str, Any]:
    """What a statement is asked with that finds the scopes of its read itself. Pure."""
    return asked_for(scope, shelves) | {"namespace": scope.namespace, "single": _is_single(scope)}


def _is_single(scope: Scope) -> bool:
    """Whether a read is of one scope, which is its own. Pure."""
    return not isinstance(scope.user_id, AllUsers) and len(scope.agents) == 1


def seen(scope: Scope, rows: Sequence[Any], *, shelves: Shelves = "without") -> Visible:
    """What a read may see, from the rows of its scopes; of rows that name theirs, what it saw. Pure."""
    shelved = {int(row.scope_id) for row in rows if shelves == "with" and row.shelf_of is not None}
    ordered = sorted(rows, key=lambda row: int(row.scope_id) in shelved)
    found = {int(row.scope_id): _of(scope.tenant_id, row.namespace, row.agent_id, row.user_id) for row in ordered}
    nearness = {scope_id: _nearness(scope, member) for scope_id, member in found.items()}
    single = _is_single(scope)
    mine = (i for i, m in found.items() if m.namespace == scope.namespace and m.user_id == scope.user_id)
    own = next((i for i in mine if single and i not in shelved), None)
    return Visible(scope, tuple(sorted(found, key=lambda i: (nearness[i], i))), own, nearness, found)


def reader_params(reader: Visible | Scope) -> dict[str, Any]:
    """What a statement of now is asked with that finds the scopes of its read itself where they are not known. Pure."""
    if isinstance(reader, Visible):
        return asked_at_once(reader.scope, "without") | {"scope_ids": list(reader.scope_ids), "own": reader.own}
    return asked_at_once(reader, "without") | {"scope_ids": None, "own": None}


@lru_cache(maxsize=4096)
def _of(tenant_id: str, namespace: str, agent_id: str, user_id: str | None) -> Scope:
    """A scope by the names of its row, which are looked at once: every read meets the same few."""
    return Scope(tenant_id, namespace, agent_id, user_id)


def show_shadows(conn: Connection) -> None:
    """Let this transaction see and write shadows, the projections beside the live memories."""
    fetch_value(conn, "show_shadows")


def keep_replays_out(conn: Connection, tenant_id: str, scope_id: int) -> None:
    """Keep the replays of a scope, and what erases there, out until the end of the transaction."""
    fetch_all(conn, "lock_projection", key=f"{tenant_id}/{scope_id}/replay")


def _nearness(asked: Scope, member: Scope) -> int:
    """S-5: user and namespace, user and `default`, agent and namespace, agent and `default`."""
    return (2 if member.user_id is None and asked.user_id is not None else 0) + (
        0 if member.namespace == asked.namespace else 1
    )
