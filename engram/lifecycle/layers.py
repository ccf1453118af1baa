"""Layers: buffer, working and core; what rises, what falls, what is put away when there is no room. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final, Literal

from engram import decay
from engram.lifecycle.deeds import Effect, marked
from engram.ranking import Signals, lifecycle_weight
from engram.values import Kind, Layer, MemoryType, kind_of, trust_rank

Intake = Literal["working", "buffer"]

REPETITION: Final = 2.5  # accesses that a repetition counts for
PROMOTE_SCORE: Final = 3.0
PROMOTE_IMPORTANCE: Final = 0.6
LEAST_TO_WORKING: Final = 5.0  # under which no score lifts a row out of the buffer
PATIENCE: Final = 4  # epochs in the buffer after which a lesson or a procedure rises by itself
SEASONED: Final = timedelta(days=7)
SPENT: Final = 0.01  # decayed importance, without its floor, under which a buffer row is put away
BUFFER_CAP: Final = 200
WARNINGS: Final = (100, 90, 80)  # percent of `max_memories`
TRUSTED: Final = trust_rank("agent")  # the worst trust that the core takes

LESSON: Final = "lesson"
DISTILLED: Final = frozenset({"distilled", "auto-distilled"})
PASSING: Final = frozenset({"session", "session-note", "ephemeral"})  # tags and categories of what is not to last
NEVER_CORE: Final = PASSING | DISTILLED | {"project-status"}

CANDIDATE: Final = "core-candidate"
OVERLAP: Final = "core-overlap"
TRIAGED: Final = "triaged"


@dataclass(frozen=True, slots=True)
class Row:
    """What the life cycle looks at of one memory. Counters and times are as they stood when it was read."""

    memory_id: str
    recorded_at: datetime
    fact: str = ""
    event_id: str | None = None
    memory_type: MemoryType = "semantic"
    category: str | None = None
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    layer: Layer = "working"
    critical: bool = False
    accesses: int = 0
    repetitions: int = 0
    born_epoch: int = 0
    layer_epoch: int = 0
    accessed_epoch: int | None = None
    expires_at: datetime | None = None
    trust: int = TRUSTED
    marks: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def kind(self) -> Kind:
        """The kind of its type, which chooses how fast it fades."""
        return kind_of(self.memory_type)

    @property
    def words(self) -> frozenset[str]:
        """Its tags and its category: what others say it is."""
        return frozenset((*self.tags, *(() if self.category is None else (self.category,))))

    @property
    def is_foreign(self) -> bool:
        """Whether it comes of a tool, a document or the web: what nobody in the conversation stands for."""
        return self.trust > TRUSTED

    @property
    def lasts(self) -> bool:
        """Whether time takes nothing from it."""
        return self.critical or self.layer == "core"

    def age(self, now: datetime) -> timedelta:
        """Time since it was recorded."""
        return max(now - self.recorded_at, timedelta(0))


def score(row: Row) -> float:
    """How often a memory was confirmed: accesses, and repetitions at two and a half accesses each."""
    return row.accesses + REPETITION * row.repetitions


def left_of(row: Row, epoch: int) -> float:
    """What activity has left of its importance, never under the floor; core and critical rows keep all."""
    if row.lasts:
        return row.importance
    return decay.by_epochs(row.importance, row.kind, *_ages(row, epoch))


def unfloored(row: Row, epoch: int) -> float:
    """The same without the floor: what says that a buffer row is spent."""
    epochs, accesses, since = _ages(row, epoch)
    factor = decay.EPOCH_FACTORS[row.kind]
    return row.importance * factor**epochs + decay.ACCESS_BONUS * accesses * factor**since


def _ages(row: Row, epoch: int) -> tuple[int, int, int]:
    epochs = max(epoch - row.born_epoch, 0)
    return epochs, row.accesses, epochs if row.accessed_epoch is None else max(epoch - row.accessed_epoch, 0)


def weight(row: Row, epoch: int) -> float:
    """How much a memory weighs among others of its layer."""
    return lifecycle_weight(
        Signals(
            memory_type=row.memory_type, layer=row.layer, critical=row.critical, importance=row.importance,
            accesses=row.accesses, repetitions=row.repetitions, epochs=float(max(epoch - row.born_epoch, 0)),
        )
    )  # fmt: skip


# Rising -------------------------------------------------------------------------------------------------------------


def rises(row: Row, epoch: int, least: float = PROMOTE_SCORE) -> str | None:
    """Why a buffer row rises to working by itself, or None."""
    if row.layer != "buffer":
        return None
    wanted = max(least, LEAST_TO_WORKING)
    if score(row) >= wanted:
        return f"its reinforcement score of {score(row):g} has reached {wanted:g}"
    if row.words & DISTILLED:
        return None
    if epoch - row.layer_epoch >= PATIENCE and (LESSON in row.words or row.kind == "procedural"):
        return f"a lesson or procedure that stayed in the buffer for {PATIENCE} epochs"
    return None


def is_candidate(
    row: Row, epoch: int, now: datetime, least: float = PROMOTE_SCORE, importance: float = PROMOTE_IMPORTANCE
) -> bool:
    """Whether a working row is reinforced enough, and trusted enough, for the gate of the core to look at it."""
    if row.layer != "working" or row.is_foreign or row.words & NEVER_CORE or left_of(row, epoch) < importance:
        return False
    confirmed = score(row)
    return confirmed >= least or (confirmed > 0 and row.age(now) > SEASONED)


def to(row: Row, layer: Layer, epoch: int, because: str, **marks: Any) -> Effect:
    """The effect that moves a row to a layer; `marks` change its marks, None takes one away."""
    changed: dict[str, Any] = {"layer": layer, "layer_epoch": epoch}
    was: dict[str, Any] = {"status": "active", "consolidated_into": None, "layer": row.layer}
    if marks:
        changed["marks"] = {name: said for name, said in {**row.marks, **marks}.items() if said is not None}
        was["marks"] = dict(row.marks)
    return Effect(row.memory_id, changed, because, was=was)


# Falling ------------------------------------------------------------------------------------------------------------


def falls(row: Row) -> str | None:
    """Why a core row is not to stay in the core, or None. It falls to working; working never falls to the buffer."""
    if row.layer == "core" and not row.critical and row.words & PASSING:
        return "a note of a session or an ephemeral memory does not belong in the core"
    return None


def is_spent(row: Row, epoch: int) -> bool:
    """Whether nothing is left of a buffer row."""
    return row.layer == "buffer" and not row.critical and unfloored(row, epoch) < SPENT


def over_cap(rows: Iterable[Row], over: int, epoch: int) -> list[Row]:
    """So many buffer rows that a cap has no room for: lowest weight first, among equals the oldest.

    Reads a stream of rows and keeps no more than those.
    """
    loose = (row for row in rows if row.layer == "buffer" and not row.critical)
    return heapq.nsmallest(over, loose, key=lambda row: (weight(row, epoch), row.recorded_at, row.memory_id))


def warning_at(count: int, most: int) -> int | None:
    """The highest of 80, 90 and 100 percent of the most memories a scope may hold that `count` has reached."""
    return next((percent for percent in WARNINGS if 100 * count >= percent * most), None)


def crossed(before: int, now: int | None) -> list[int]:
    """The percentages that a scope has reached since it was warned of `before`, lowest first."""
    return [percent for percent in reversed(WARNINGS) if before < percent <= (now or 0)]


# Marks --------------------------------------------------------------------------------------------------------------


def stale(row: Row, core: Set[str] = frozenset()) -> Effect | None:
    """The effect that takes away marks that say nothing any more, or None.

    `core` are the ids of core rows that overlaps may name. A candidate is a working row that somebody stands for, a
    triaged one is in the buffer, and an overlap names a row that is in the core.
    """
    gone: dict[str, None] = {}
    if CANDIDATE in row.marks and (row.layer != "working" or row.is_foreign):
        gone[CANDIDATE] = None
    if TRIAGED in row.marks and row.layer != "buffer":
        gone[TRIAGED] = None
    if OVERLAP in row.marks and (row.layer != "core" or row.marks[OVERLAP] not in core):
        gone[OVERLAP] = None
    return marked(row.memory_id, row.marks, "marks of a layer it has left", **gone) if gone else None
