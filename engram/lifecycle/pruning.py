"""Pruning: what is put away when somebody asks for less, and why. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

from engram import decay
from engram.lifecycle.layers import Intake, Row
from engram.values import Layer

Mode = Literal["gentle", "normal", "aggressive"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)

LEAST: Final = 0.01  # decayed importance under which a memory has faded
LOWEST: Final = "among the lowest tenth of what remains"


@dataclass(frozen=True, slots=True)
class Pruned:
    """A memory to put away, and why."""

    row: Row
    reason: Literal["expired", "pruned"]
    because: str


def is_exempt(row: Row, intake: Intake) -> bool:
    """Whether no pruning touches a row: critical and core ones, and working ones where new rows wait in the buffer."""
    return row.critical or row.layer == "core" or (intake == "buffer" and row.layer == "working")


def layers_of(intake: Intake, asked: Sequence[Layer] | None) -> tuple[Layer, ...]:
    """The layers that pruning may look at, of those asked for."""
    open_to_it: tuple[Layer, ...] = ("buffer",) if intake == "buffer" else ("buffer", "working")
    return tuple(layer for layer in open_to_it if asked is None or layer in asked)


def faded(row: Row, now: datetime) -> float:
    """What time has left of its importance."""
    return decay.ebbinghaus(row.importance, row.age(now).total_seconds() / 86_400, row.accesses)


def falls_to(row: Row, mode: Mode, now: datetime) -> Pruned | None:
    """Whether and why a row alone, whatever the others are, is put away in a mode."""
    if row.expires_at is not None and row.expires_at <= now:
        return Pruned(row, "expired", f"expired on {row.expires_at:%Y-%m-%d}")
    if mode == "gentle":
        return None
    left = faded(row, now)
    return Pruned(row, "pruned", f"{left:.4f} is left of its importance, under {LEAST}") if left < LEAST else None


def plan(rows: Iterable[Row], mode: Mode, now: datetime, intake: Intake = "working") -> list[Pruned]:
    """What a mode puts away of these rows: expired ones, faded ones, and of the rest the lowest tenth."""
    pruned: list[Pruned] = []
    rest: list[Row] = []
    for row in rows:
        if is_exempt(row, intake):
            continue
        found = falls_to(row, mode, now)
        if found is None:
            rest.append(row)
        else:
            pruned.append(found)
    if mode == "aggressive":
        pruned += [Pruned(row, "pruned", LOWEST) for row in lowest(rest, len(rest) // 10, now)]
    return pruned


def lowest(rows: Iterable[Row], many: int, now: datetime) -> list[Row]:
    """So many rows of which time has left least, among equals the oldest; keeps no more than those of a stream."""
    return heapq.nsmallest(many, rows, key=lambda row: (faded(row, now), row.recorded_at, row.memory_id))
