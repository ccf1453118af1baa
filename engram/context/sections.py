"""The sections of a context, their shares, and the material that is packed into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from engram import inputs
from engram.errors import InvalidInput
from engram.values import (
    DATA_SECTION,
    Checkpoint,
    Detail,
    Event,
    Grouping,
    Memory,
    SearchResult,
    TaskRun,
    Trust,
    Watermark,
    trust_rank,
)

CRITICAL: Final = "Critical"
TASK: Final = "Task"
STATE: Final = "Current state"
EVENTS: Final = "Recent events"
CHECKPOINTS: Final = "Checkpoints"
RELEVANT: Final = "Relevant memories"
DECISIONS: Final = "Decisions and constraints"
ARTIFACTS: Final = "Artifacts and tool results"
GRAPH: Final = "Related graph"
TOPICS: Final = "Topics"
TRIGGERS: Final = "Triggers"
CORE: Final = "Core"
RECENT: Final = "Recent"
TASKS: Final = "Tasks"
DATA: Final = DATA_SECTION
CRITICAL_SHARE: Final = 0.5
# What each section may take of what Critical left, in printed order. The indexes at the end take from no other: they
# live on what the rest leaves, and cost nothing where their share is 0.
SHARES: Final[Mapping[str, float]] = {
    TASK: 0.10,
    STATE: 0.15,
    EVENTS: 0.20,
    CHECKPOINTS: 0.10,
    RELEVANT: 0.20,
    DECISIONS: 0.10,
    ARTIFACTS: 0.10,
    GRAPH: 0.05,
    TOPICS: 0.03,
    TRIGGERS: 0.02,
}
INDEXES: Final = (TOPICS, TRIGGERS)
FLOW: Final = (EVENTS, RELEVANT, DECISIONS, ARTIFACTS, CHECKPOINTS, STATE, GRAPH, TASK, TOPICS, TRIGGERS)
RESUME_SHARES: Final[Mapping[str, float]] = {CORE: 0.50, RECENT: 0.25, TASKS: 0.075, TOPICS: 0.125, TRIGGERS: 0.05}
MOST_EVENTS: Final = 40
MOST_RELEVANT: Final = 25
MOST_CHECKPOINTS: Final = 4  # the latest, which is the current state, and three before it
MOST_CHARACTERS: Final = 700  # of an untrusted item
MOST_OF_FACT: Final = 120  # characters of each end of a relation
CUT: Final = "… (cut)"
AGENT: Final = trust_rank("agent")
PRIVILEGED: Final = ("constraint", "preference")  # believed from operators and users only
# Why an item is not in the block.
NO_ROOM: Final = "no room in the budget"
NO_SHARE: Final = "no room in the share of its section"
SOURCE_FULL: Final = "its source has its fifth of the budget"
REPEATED: Final = "what it says is there already"
DISTRUSTED: Final = "trusted too little"
NOT_CURRENT: Final = "not current"
SHADOWED: Final = "a nearer scope says otherwise"


@dataclass(frozen=True, slots=True)
class Named:
    """A name in an index: how many memories stand behind it, and the best trust of those that say it."""

    name: str
    trust: Trust
    memories: int | None = None


@dataclass(frozen=True, slots=True)
class Related:
    """A relation of a memory that was found, and the memory at its other end."""

    seed: Memory
    other: Memory
    relation_type: str
    outbound: bool


@dataclass(frozen=True, slots=True)
class Open:
    """A task run that goes on: its latest checkpoint, and what happened after it, newest first."""

    task: TaskRun
    checkpoint: Checkpoint | None = None
    events: Sequence[Event] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """The sections after Critical in printed order with their shares, and the order in which unused budget flows on.

    `downward` hands what a section does not use to the next below, before it flows on.
    """

    shares: Mapping[str, float]
    flow: Sequence[str]
    downward: bool = False


@dataclass(frozen=True, slots=True)
class Material:
    """What a context is made of, each part in its own order of importance."""

    critical: Sequence[Memory] = ()
    critical_omitted: Sequence[str] = ()
    task: TaskRun | None = None
    checkpoints: Sequence[Checkpoint] = ()  # newest first
    events: Sequence[Event] = ()  # newest first
    relevant: Sequence[SearchResult] = ()
    decisions: Sequence[Memory] = ()
    artifacts: Sequence[Event] = ()  # newest first
    related: Sequence[Related] = ()
    topics: Sequence[Named] = ()  # largest first
    triggers: Sequence[Named] = ()  # most read first
    core: Sequence[Memory] = ()  # of most weight first
    recent: Sequence[Memory] = ()  # newest first
    open: Sequence[Open] = ()  # task runs, newest first
    shadowed: frozenset[str] = frozenset()  # memories that a nearer scope says otherwise
    watermark: Watermark = field(default_factory=Watermark)
    notes: Sequence[str] = ()


def chosen_shares(given: object) -> Mapping[str, float]:
    """The shares of the sections: the caller's for those named, the others scaled to what is left.

    A share of 0 leaves a section out; Topics and Triggers count for nothing in the sum, since they take from none.
    Raises InvalidInput for an unknown name, a share outside 0..1, or a sum over 1.
    """
    named = {
        name: inputs.unit(value, f"sections[{name}]") for name, value in inputs.keys(given, "sections", SHARES).items()
    }
    total = sum(share for name, share in named.items() if name not in INDEXES)
    if total > 1 + 1e-9:
        raise InvalidInput("sections", "shares that add up to at most 1", f"{total:.2f}")
    others = sum(share for name, share in SHARES.items() if name not in named and name not in INDEXES)
    scale = max(0.0, 1 - total) / others if others else 0.0
    return {name: named[name] if name in named else share * scale for name, share in SHARES.items()}


@dataclass(frozen=True, slots=True)
class Style:
    """How items are printed: whole or short, with or without their type, age and importance, and how grouped."""

    group_by: Grouping | None = None
    detail: Detail = "full"
    metadata: bool = False
    now: datetime | None = None  # what an age is counted to
