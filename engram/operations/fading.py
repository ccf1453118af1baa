"""Fading: the decay table, and the curve of one memory. A pure read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from engram import decay, inputs, memories, tenancy
from engram.database import Connection, fetch_all, fetch_value
from engram.lifecycle import weighing
from engram.operations import steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.values import KINDS, DecayRow

HALF_LIVES: Final = {kind: decay.PROFILES[f"epochs_{kind}"].half_life for kind in KINDS}


def decay_table(
    setup: Setup, *, limit: object, profile: object, memory_id: object, given: Mapping[str, Any]
) -> Operation[tuple[DecayRow, ...]]:
    """The memories of which time has left least, or the one that is named, with its curve."""
    scope, most = setup.reading(given).scope, inputs.limit(limit)
    curve = setup.policy.decay if profile is None else inputs.choice(profile, "profile", decay.CURVES)
    wanted = inputs.optional(inputs.memory_id, memory_id)
    shape = decay.profile_of(curve, "semantic")

    def work(conn: Connection) -> tuple[DecayRow, ...]:
        visible = tenancy.visible(conn, scope)
        named = None if wanted is None else memories.get(conn, visible, wanted).memory_id
        if not most or not visible.scope_ids:
            return ()
        now = fetch_value(conn, "read_clock")
        rows = fetch_all(
            conn, "list_fading", tenant_id=scope.tenant_id, scope_ids=list(visible.scope_ids), own=visible.own, now=now,
            memory_id=named, curve=curve, half_life=shape.half_life, slowing=shape.slowing, bonus=decay.ACCESS_BONUS,
            limit=most, **HALF_LIVES,
        )  # fmt: skip
        epochs = {row.memory_id: weighing.Epochs(row.epoch, row.born_epoch, row.accessed_epoch) for row in rows}
        found = [
            weighing.row(memory, curve=curve, now=now, epochs=epochs[memory.memory_id])
            for memory in memories.load(conn, visible, list(epochs))
        ]
        return tuple(found if named is None else (replace(one, points=weighing.curve_of(one)) for one in found))

    return (yield from steps.read(scope.tenant_id, work))
