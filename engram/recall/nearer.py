"""Nearer: of one thing that several scopes say, the nearest of an agent counts where it is trusted as much."""

from __future__ import annotations

from collections.abc import Iterable

from engram import memories
from engram.database import Connection, fetch_all
from engram.memories import Moment
from engram.ranking import Brief
from engram.tenancy import Visible
from engram.values import TRUSTS, Memory


def shadowed(conn: Connection, visible: Visible, found: Iterable[Memory | Brief], moment: Moment) -> frozenset[str]:
    """The memories whose conflict key a nearer scope of the same agent holds, with no less trust.

    What is of the nearest scope itself is not asked for.
    """
    near = {scope: visible.nearness[scope_id] for scope_id, scope in visible.scopes.items()}
    nearest = min(near.values(), default=0)
    keyed = [
        one for one in found if one.conflict_key is not None and one.status == "active" and near[one.scope] > nearest
    ]
    if not keyed:
        return frozenset()
    keys = sorted({str(memory.conflict_key) for memory in keyed})
    name = "list_key_holders" if moment.is_now else "list_key_holders_then"
    holders = fetch_all(conn, name, conflict_keys=keys, **memories.visible_params(visible, moment))

    def hidden(memory: Memory | Brief) -> bool:
        return any(
            row.conflict_key == memory.conflict_key
            and visible.nearness[int(row.scope_id)] < near[memory.scope]
            and visible.scopes[int(row.scope_id)].agent_id == memory.scope.agent_id
            and row.trust <= TRUSTS.index(memory.trust)
            for row in holders
        )

    return frozenset(memory.memory_id for memory in keyed if hidden(memory))
