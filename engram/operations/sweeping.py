"""Sweeping: going through the memories of a scope in pieces, and doing what is decided about each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Final

from engram import memories, tenancy
from engram.database import Connection, fetch_all
from engram.lifecycle.cycle import Cycle
from engram.lifecycle.deeds import Deed, Effect
from engram.lifecycle.layers import Row
from engram.operations import living, steps
from engram.operations.living import Run
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.policies import guards
from engram.values import Change, Layer, LifecycleRun

PIECE: Final = 1_000  # rows that one statement reads

Look = Callable[[Connection, str | None], list[Row]]
"""The rows of a piece after an id."""


def layer_of(
    tenant_id: str, scope_id: int, layer: Layer, now: datetime, *, gone: bool = False, used: bool = False
) -> Look:
    """The rows of a layer; with `gone` the expired ones too, with `used` only those returned or restated before."""

    def look(conn: Connection, after: str | None) -> list[Row]:
        return rows_of(
            fetch_all(
                conn, "list_life_rows", tenant_id=tenant_id, scope_id=scope_id, layer=layer, now=now, gone=gone,
                used=used, after=after, limit=PIECE,
            )
        )  # fmt: skip

    return look


def marked(tenant_id: str, scope_id: int, mark: str | None = None) -> Look:
    """The rows with a mark, or with any."""

    def look(conn: Connection, after: str | None) -> list[Row]:
        return rows_of(
            fetch_all(
                conn, "list_marked_rows", tenant_id=tenant_id, scope_id=scope_id, mark=mark, after=after, limit=PIECE
            )
        )

    return look


def rows_of(found: Sequence[Any]) -> list[Row]:
    """What was read, as the life cycle looks at it."""
    return [
        Row(
            memory_id=row.memory_id, recorded_at=row.recorded_at, fact=row.fact, event_id=row.event_id,
            memory_type=row.memory_type, category=row.category, tags=tuple(row.tags), importance=row.importance,
            layer=row.layer, critical=row.critical, accesses=row.accesses, repetitions=row.repetitions,
            born_epoch=row.born_epoch, layer_epoch=row.layer_epoch, accessed_epoch=row.accessed_epoch,
            expires_at=row.expires_at, trust=row.trust, marks=row.marks,
        )
        for row in found
    ]  # fmt: skip


def stream(conn: Connection, *looks: Look) -> Iterator[Row]:
    """All rows of some looks, piece by piece."""
    for look in looks:
        after: str | None = None
        while True:
            rows = look(conn, after)
            yield from rows
            if len(rows) < PIECE:
                break
            after = rows[-1].memory_id


def sweep(
    setup: Setup, run: Run, look: Look, decide: Callable[[Row], Effect | None], *, most: int | None = None
) -> Operation[list[Change]]:
    """Read piece by piece, and do what is decided about the rows of a piece before the next is read."""
    changes: list[Change] = []
    after: str | None = None
    left = most
    while True:
        piece = yield from steps.read(run.call.tenant_id, lambda conn, after=after: look(conn, after))  # type: ignore[misc]
        effects = [effect for row in piece if (effect := decide(row)) is not None][:left]
        changes += yield from do(setup, run, effects)
        del changes[living.SHOWN :]
        left = None if left is None else left - len(effects)
        if len(piece) < PIECE or left == 0:
            return changes
        after = piece[-1].memory_id


def do(setup: Setup, run: Run, effects: Sequence[Effect]) -> Operation[list[Change]]:
    """Perform effects, each on its own, but for those that the policy's veto keeps from being put away."""
    kept: frozenset[str] = frozenset()
    leaving = [effect.memory_id for effect in effects if effect.set.get("status") == "archived"]
    if leaving and setup.policy.keep is not None:
        kept = yield from steps.read(run.call.tenant_id, lambda conn: _kept(setup, conn, run.call, leaving))
    return (yield from living.act(setup, run, [Deed(effects=(one,)) for one in effects if one.memory_id not in kept]))


def loose(setup: Setup, conn: Connection, call: Writing, rows: Iterable[Row]) -> Iterator[Row]:
    """The rows that the policy's veto does not keep: whoever puts away the lowest chooses among these."""
    if setup.policy.keep is None:
        yield from rows
        return
    left = iter(rows)
    while several := list(islice(left, living.BATCH)):
        kept = _kept(setup, conn, call, [row.memory_id for row in several])
        yield from (row for row in several if row.memory_id not in kept)


def _kept(setup: Setup, conn: Connection, call: Writing, memory_ids: Sequence[str]) -> frozenset[str]:
    visible = tenancy.visible(conn, call.scope)
    kept: set[str] = set()
    for place in range(0, len(memory_ids), living.BATCH):
        found = memories.load(conn, visible, list(memory_ids[place : place + living.BATCH]))
        kept.update(memory.memory_id for memory in found if guards.keeps(setup.policy, memory))
    return frozenset(kept)


def step(
    call: Writing, name: str, cycle: Cycle, work: Callable[[Run], Operation[list[Change]]]
) -> Operation[LifecycleRun]:
    """One run of a cycle: what `work` changes, or what it had changed where the cycle is taken up again."""
    run = yield from living.opened(call, name, parent_id=cycle.run_id, run_id=cycle.step_id(name))
    before = yield from living.finished(run)
    if before is not None:
        return before
    changes = yield from work(run)
    return (yield from living.closed(run, changes))
