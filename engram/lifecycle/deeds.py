"""Deeds: what the life cycle does to memories, said as values before it is done. Pure.

A deed is done whole or not at all, recorded in an event with the state it leaves, done again by a replay, and undone as
one. Whoever decides makes deeds; `operations/living.py` performs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engram.writing import Draft

NEW: Final = "00000000-0000-0000-0000-000000000000"
"""Stands for the memory that a deed's own draft becomes, in its effects, counts and ties."""

PLAIN: Final = frozenset(
    {
        "status", "status_reason", "layer", "layer_epoch", "marks", "importance", "confidence", "consolidated_into",
        "superseded_by", "ended_at", "expires_at",
    }
)  # fmt: skip
"""The columns that a decision may set and that hold nobody's words: effects on these alone share an event."""

FIELDS: Final = PLAIN | {"tags", "category", "memory_type"}
"""The columns that a decision may set; what else a memory says is never changed in place."""

STATE: Final = FIELDS | {
    "trust", "critical_slot", "moot", "superseded_at", "put_away", "valid_to", "source", "metadata", "private",
    "stands_at", "stands_recorded_at", "stands_event_id", "stands_ordinal",
}  # fmt: skip
"""The columns that an undoing puts back: all that ever change."""


@dataclass(frozen=True, slots=True)
class Effect:
    """New values of some columns of one memory, and why.

    `was` are values that must still stand when it is done; None of them stands for the status `active`, not
    consolidated away. `because` is a sentence without words of the memory.
    """

    memory_id: str
    set: Mapping[str, Any]
    because: str
    was: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        unknown = set(self.set) - STATE
        if unknown or not self.set:
            raise ValueError(f"an effect sets columns out of {sorted(STATE)}, found {sorted(unknown) or 'none'}")


@dataclass(frozen=True, slots=True)
class Count:
    """What is added to the counters of a memory."""

    memory_id: str
    accesses: int = 0
    repetitions: int = 0
    positive: int = 0
    negative: int = 0


@dataclass(frozen=True, slots=True)
class Tie:
    """A relation that begins, or with `ended` ends."""

    source_id: str
    target_id: str
    relation_type: str
    weight: float = 1.0
    auto: bool = True
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Deed:
    """What is done whole or not at all.

    `draft` becomes a memory of its own, a revision where it names what it `revises`; it rests on an event of its own
    with the same text and has the worst trust of the memories `of` which it was made.
    """

    effects: tuple[Effect, ...] = ()
    counts: tuple[Count, ...] = ()
    ties: tuple[Tie, ...] = ()
    draft: Draft | None = None
    of: tuple[str, ...] = ()

    @property
    def memory_ids(self) -> frozenset[str]:
        """The memories it changes or is made of."""
        named = {
            *(one.memory_id for one in self.effects), *(one.memory_id for one in self.counts), *self.of,
            *(end for tie in self.ties for end in (tie.source_id, tie.target_id)),
        }  # fmt: skip
        if self.draft is not None and self.draft.revises is not None:
            named.add(self.draft.revises)
        return frozenset(named - {NEW})

    @property
    def is_plain(self) -> bool:
        """Whether its event holds nobody's words, so that it may share one."""
        return self.draft is None and all(set(effect.set) <= PLAIN for effect in self.effects)


def archived(memory_id: str, reason: str, because: str, **more: Any) -> Effect:
    """Put a memory away, undoably; `reason` is a word such as `pruned`, `merged`, `expired`, `feedback`."""
    return Effect(memory_id, {"status": "archived", "status_reason": reason, **more}, because)


def marked(memory_id: str, marks: Mapping[str, Any], because: str, **changes: Any) -> Effect:
    """Change marks of the life cycle on a memory; None takes a mark away. `marks` are those it must still have."""
    left = {name: value for name, value in {**marks, **changes}.items() if value is not None}
    return Effect(
        memory_id, {"marks": left}, because, was={"status": "active", "consolidated_into": None, "marks": dict(marks)}
    )
