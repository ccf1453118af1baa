"""The consolidation cycle: its steps in their order, and what each is told of the cycle it runs in. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from engram import ids

STEPS: Final = (
    "stale_marks", "buffer_cap", "core_hygiene", "core_overlap", "core_candidates", "promotion", "epoch", "eviction",
    "gate", "reconcile", "session_distillation", "buffer_dedup", "triage", "merge", "topic_distillation",
    "missing_vectors", "core_summary",
)  # fmt: skip
"""Every step of a cycle, in the order in which it runs them."""

RUN: Final = "consolidate"
"""The step of the run that the runs of all these belong to."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """One cycle of a scope, as its steps see it.

    `run_id` is the run that the run of each step belongs to; `epoch` is the one its scope was in when it began, and
    `began` the time of the database then; a cycle taken up again goes by the same. `merge` asks for the step `merge`.
    `most` bounds the memories that a step changes, where the cycle is only shown. `holder` is who runs it: whoever
    takes it up becomes its holder, and nobody else writes for it any more.
    """

    run_id: str
    epoch: int
    began: datetime
    merge: bool = False
    scope_id: int = 0
    most: int | None = None
    holder: str = ""

    def step_id(self, step: str) -> str:
        """The id of the run of a step: the same however often the cycle is taken up."""
        return ids.id_of(self.run_id, step)

    def left(self, done: tuple[str, ...]) -> tuple[str, ...]:
        """The steps that are still to be run, of which those `done` are no part."""
        return tuple(step for step in STEPS if step not in done and (step != "merge" or self.merge))
