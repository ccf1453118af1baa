"""Arguments: the shapes of what callers give, as the methods of a door name them. Loaded with the door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, Required, TypedDict

from engram import inputs
from engram.errors import Conflict
from engram.scope import Ids
from engram.values import Derive, Role, Trust


class Read(Ids, total=False):
    """What every read takes beside its own arguments."""

    as_of: datetime
    known_at: datetime


class Write(Ids, total=False):
    """What every write takes beside its own arguments."""

    actor: str
    trust: Trust
    reason: str
    idempotency_key: str
    dry_run: bool
    session_id: str
    task_run_id: str
    occurred_at: datetime


class TaskWrite(Ids, total=False):
    """What a write to a task run takes: its stream is the run's own, which the call names already."""

    actor: str
    trust: Trust
    reason: str
    idempotency_key: str
    dry_run: bool
    session_id: str
    occurred_at: datetime


class SessionWrite(Ids, total=False):
    """What a write to a session takes: its stream is the session's own, which the call names already."""

    actor: str
    trust: Trust
    reason: str
    idempotency_key: str
    dry_run: bool
    occurred_at: datetime


class EndorseWrite(Ids, total=False):
    """What an endorsement takes beside the trust, which the call names already: it speaks with no other."""

    actor: str
    reason: str
    idempotency_key: str
    dry_run: bool
    session_id: str
    task_run_id: str
    occurred_at: datetime


class Message(TypedDict, total=False):
    """One message of a conversation."""

    role: Required[Role]
    content: Required[str]
    name: str
    occurred_at: datetime
    trust: Trust
    call_id: str
    payload: Mapping[str, Any]
    metadata: Mapping[str, Any]
    event_id: str
    derive: Derive
    event_type: str


class ToolCall(TypedDict, total=False):
    """A call of a tool, and its result once there is one; an empty one is kept as "(no output)"."""

    name: Required[str]
    arguments: Mapping[str, Any]
    result: str | None
    call_id: str
    trust: Trust


class Artifact(TypedDict, total=False):
    """Something a turn made: a file, a plan, a patch; an empty one is kept as "(empty)"."""

    name: Required[str]
    content: Required[str]
    media: str
    trust: Trust


class Attributes(Write, total=False):
    """What `add` and `annotate` may set on a memory."""

    memory_type: str
    category: str
    tags: Sequence[str]
    source: str
    metadata: Mapping[str, Any]
    importance: float
    priority: int
    rating: int
    confidence: float
    critical_slot: str | None
    private: bool
    expires_at: datetime | None
    expires_in: timedelta | str
    expires_in_days: float


class NewMemory(Attributes, total=False):
    """What `add` takes beside the fact."""

    main_content: str
    topic_key: str
    subject: str
    attribute: str
    value: str
    parent_id: str
    valid_from: datetime
    valid_to: datetime
    supersedes: Sequence[str]
    sources: Sequence[tuple[str, int, int] | tuple[str, int, int, str]]
    force: bool


class Candidate(NewMemory, total=False):
    """One item of `add_many`: a fact and what `add` takes; what goes for all items, `Write`, is given to the call."""

    fact: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a fact's text that is made on its current head."""

    how: Literal["append", "prepend", "replace"]
    old: str
    new: str

    def __post_init__(self) -> None:
        inputs.choice(self.how, "how", ("append", "prepend", "replace"))
        for name in ("old", "new"):
            checked = inputs.text(getattr(self, name), name, limit=inputs.FACT_CHARACTERS, empty=True)
            object.__setattr__(self, name, checked)

    @classmethod
    def append(cls, text: str) -> Edit:
        """Put text after the fact."""
        return cls("append", "", text)

    @classmethod
    def prepend(cls, text: str) -> Edit:
        """Put text before the fact."""
        return cls("prepend", "", text)

    @classmethod
    def replace(cls, old: str, new: str) -> Edit:
        """Replace a text that occurs exactly once in the fact."""
        return cls("replace", old, new)

    def apply(self, fact: str) -> str:
        """The edited fact; Conflict when the text to replace does not occur exactly once."""
        if self.how == "append":
            return inputs.fact(fact + self.new)
        if self.how == "prepend":
            return inputs.fact(self.new + fact)
        if not self.old or fact.count(self.old) != 1:
            raise Conflict(
                "the text to replace must occur exactly once in the fact", found=fact.count(self.old) if self.old else 0
            )
        return inputs.fact(fact.replace(self.old, self.new))


class NewRelation(TypedDict, total=False):
    """One item of `relate_batch`: what `relate` takes beside the words of every write."""

    source_id: str
    target_id: str
    relation_type: str
    weight: float
    metadata: Mapping[str, Any]
