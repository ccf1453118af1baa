"""Engram: the long-term memory of AI agents, in PostgreSQL.

>>> from engram import Engram
>>> memory = Engram()
>>> memory.remember("I'm allergic to peanuts and live in Ottawa")
>>> print(memory.recall("What am I allergic to?").answer_text)

Importing this package opens nothing; every name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engram.client import AsyncEngram as AsyncEngram
    from engram.client import AsyncOps as AsyncOps
    from engram.client import AsyncSessionContext as AsyncSessionContext
    from engram.client import Engram as Engram
    from engram.client import Ops as Ops
    from engram.client import SessionContext as SessionContext
    from engram.embedding import Embedder as Embedder
    from engram.errors import AlreadySuperseded as AlreadySuperseded
    from engram.errors import BadOutput as BadOutput
    from engram.errors import BudgetSpent as BudgetSpent
    from engram.errors import Conflict as Conflict
    from engram.errors import Damaged as Damaged
    from engram.errors import EngramError as EngramError
    from engram.errors import IdempotencyMismatch as IdempotencyMismatch
    from engram.errors import InvalidInput as InvalidInput
    from engram.errors import LimitExceeded as LimitExceeded
    from engram.errors import ModelRejected as ModelRejected
    from engram.errors import NotFound as NotFound
    from engram.errors import PolicyError as PolicyError
    from engram.errors import RateLimited as RateLimited
    from engram.errors import Refused as Refused
    from engram.errors import SchemaOutdated as SchemaOutdated
    from engram.errors import SettingsError as SettingsError
    from engram.errors import StaleStream as StaleStream
    from engram.errors import Unavailable as Unavailable
    from engram.errors import UnknownOutcome as UnknownOutcome
    from engram.filters import Filter as Filter
    from engram.llm import Completion as Completion
    from engram.llm import LanguageModel as LanguageModel
    from engram.llm import Price as Price
    from engram.operations.arguments import Edit as Edit
    from engram.policies import MemoryPolicy as MemoryPolicy
    from engram.policies import Reject as Reject
    from engram.policies import SlotRule as SlotRule
    from engram.policies import TypeRule as TypeRule
    from engram.policies import get_policy as get_policy
    from engram.ranking import Profile as Profile
    from engram.ranking import ProfileWeights as ProfileWeights
    from engram.rerank import Reranker as Reranker
    from engram.scope import ALL_USERS as ALL_USERS
    from engram.scope import Scope as Scope
    from engram.settings import Settings as Settings
    from engram.values import AuditEntry as AuditEntry
    from engram.values import AuditReport as AuditReport
    from engram.values import Change as Change
    from engram.values import Checkpoint as Checkpoint
    from engram.values import Chunk as Chunk
    from engram.values import Citation as Citation
    from engram.values import Cluster as Cluster
    from engram.values import ContextBlock as ContextBlock
    from engram.values import CriticalMemories as CriticalMemories
    from engram.values import DecayPoint as DecayPoint
    from engram.values import DecayRow as DecayRow
    from engram.values import DecayThreshold as DecayThreshold
    from engram.values import Event as Event
    from engram.values import EventHit as EventHit
    from engram.values import EventResults as EventResults
    from engram.values import HistoryEntry as HistoryEntry
    from engram.values import LifecycleRun as LifecycleRun
    from engram.values import Lineage as Lineage
    from engram.values import LoggedRecall as LoggedRecall
    from engram.values import LongInputProgress as LongInputProgress
    from engram.values import LongInputReport as LongInputReport
    from engram.values import Memory as Memory
    from engram.values import MemoryExplanation as MemoryExplanation
    from engram.values import Page as Page
    from engram.values import Period as Period
    from engram.values import PolicyReport as PolicyReport
    from engram.values import Proposal as Proposal
    from engram.values import RankMove as RankMove
    from engram.values import RecallAnswer as RecallAnswer
    from engram.values import RecallDiff as RecallDiff
    from engram.values import RecallTrace as RecallTrace
    from engram.values import Receipt as Receipt
    from engram.values import Relation as Relation
    from engram.values import Replay as Replay
    from engram.values import ReplayChange as ReplayChange
    from engram.values import ReplayDiff as ReplayDiff
    from engram.values import ReplayProblem as ReplayProblem
    from engram.values import ResumedTask as ResumedTask
    from engram.values import SearchResult as SearchResult
    from engram.values import SearchResults as SearchResults
    from engram.values import Session as Session
    from engram.values import TaskRun as TaskRun
    from engram.values import Timeline as Timeline
    from engram.values import Topic as Topic
    from engram.values import TopicMemories as TopicMemories
    from engram.values import Traversal as Traversal
    from engram.values import TraversalResult as TraversalResult
    from engram.values import Trigger as Trigger
    from engram.values import UndoReport as UndoReport
    from engram.values import Usage as Usage
    from engram.values import WhyNot as WhyNot
    from engram.values import WriteDecision as WriteDecision

__version__ = "0.1.0"

# Which room each public name lives in.
_ROOMS = {
    "engram.client": ("AsyncEngram", "AsyncOps", "AsyncSessionContext", "Engram", "Ops", "SessionContext"),
    "engram.embedding": ("Embedder",),
    "engram.errors": (
        "AlreadySuperseded", "BadOutput", "BudgetSpent", "Conflict", "Damaged", "EngramError", "IdempotencyMismatch",
        "InvalidInput", "LimitExceeded", "ModelRejected", "NotFound", "PolicyError", "RateLimited", "Refused",
        "SchemaOutdated", "SettingsError", "StaleStream", "Unavailable", "UnknownOutcome",
    ),
    "engram.filters": ("Filter",),
    "engram.llm": ("Completion", "LanguageModel", "Price"),
    "engram.operations.arguments": ("Edit",),
    "engram.policies": ("MemoryPolicy", "Reject", "SlotRule", "TypeRule", "get_policy"),
    "engram.ranking": ("Profile", "ProfileWeights"),
    "engram.rerank": ("Reranker",),
    "engram.scope": ("ALL_USERS", "Scope"),
    "engram.settings": ("Settings",),
    "engram.values": (
        "AuditEntry", "AuditReport", "Change", "Checkpoint", "Chunk", "Citation", "Cluster", "ContextBlock",
        "CriticalMemories",
        "DecayPoint", "DecayRow",
        "DecayThreshold", "Event", "EventHit", "EventResults", "PolicyReport",
        "HistoryEntry", "LifecycleRun", "Lineage", "LoggedRecall", "LongInputProgress",
        "LongInputReport", "Memory", "MemoryExplanation",
        "Page", "Period", "Proposal", "RankMove", "RecallAnswer", "RecallDiff", "RecallTrace", "Receipt",
        "Relation", "Replay", "ReplayChange", "ReplayDiff",
        "ReplayProblem", "ResumedTask", "SearchResult", "SearchResults", "Session", "TaskRun",
        "Timeline", "Topic", "TopicMemories", "Traversal", "TraversalResult", "Trigger", "UndoReport", "Usage",
        "WhyNot", "WriteDecision",
    ),
}  # fmt: skip
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [  # noqa: RUF022 - in the order a newcomer meets them
    # doors
    "Engram", "AsyncEngram", "Ops", "AsyncOps", "SessionContext", "AsyncSessionContext",
    # whose memory, and how the process is set up
    "Scope", "ALL_USERS", "Settings",
    # what is written
    "Edit", "Receipt", "WriteDecision", "Event", "Replay", "ReplayChange", "ReplayDiff", "ReplayProblem",
    # policies
    "MemoryPolicy", "TypeRule", "SlotRule", "Reject", "get_policy",
    # what is read
    "Memory", "Citation", "Lineage", "HistoryEntry", "Timeline", "Period", "MemoryExplanation", "Page", "Filter",
    "Profile", "ProfileWeights", "SearchResult",
    "SearchResults", "EventHit", "EventResults",
    "Relation", "Traversal", "TraversalResult",
    "RecallAnswer", "CriticalMemories", "Trigger", "Topic", "TopicMemories",
    "ContextBlock", "Session", "ResumedTask", "Checkpoint", "TaskRun",
    "Usage", "DecayRow", "DecayThreshold", "DecayPoint", "AuditEntry", "PolicyReport",
    "WhyNot", "RecallTrace", "LoggedRecall", "RecallDiff", "RankMove",
    "LongInputReport", "LongInputProgress", "Chunk",
    # the life of memories
    "LifecycleRun", "Change", "UndoReport", "Cluster", "AuditReport", "Proposal",
    # seams
    "Embedder", "LanguageModel", "Completion", "Price", "Reranker",
    # errors
    "EngramError", "SettingsError", "InvalidInput", "LimitExceeded", "NotFound", "Conflict", "StaleStream",
    "IdempotencyMismatch", "AlreadySuperseded", "PolicyError", "Unavailable", "RateLimited", "BudgetSpent",
    "ModelRejected", "BadOutput", "Refused", "UnknownOutcome", "SchemaOutdated", "Damaged",
    "__version__",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_ROOM_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
