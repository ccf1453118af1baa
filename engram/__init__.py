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
    from engram.client import Engram as Engram
    from engram.client import Ops as Ops
    from engram.embedding import Embedder as Embedder
    from engram.errors import AlreadySuperseded as AlreadySuperseded
    from engram.errors import Conflict as Conflict
    from engram.errors import EngramError as EngramError
    from engram.errors import IdempotencyMismatch as IdempotencyMismatch
    from engram.errors import InvalidInput as InvalidInput
    from engram.errors import LimitExceeded as LimitExceeded
    from engram.errors import NotFound as NotFound
    from engram.errors import PolicyError as PolicyError
    from engram.errors import SchemaOutdated as SchemaOutdated
    from engram.errors import SettingsError as SettingsError
    from engram.errors import StaleStream as StaleStream
    from engram.errors import Unavailable as Unavailable
    from engram.errors import UnknownOutcome as UnknownOutcome
    from engram.filters import Filter as Filter
    from engram.operations.changing import Edit as Edit
    from engram.policies import MemoryPolicy as MemoryPolicy
    from engram.policies import SlotRule as SlotRule
    from engram.policies import TypeRule as TypeRule
    from engram.policies import get_policy as get_policy
    from engram.scope import ALL_USERS as ALL_USERS
    from engram.scope import Scope as Scope
    from engram.settings import Settings as Settings
    from engram.values import Citation as Citation
    from engram.values import ContextBlock as ContextBlock
    from engram.values import CriticalMemories as CriticalMemories
    from engram.values import Event as Event
    from engram.values import HistoryEntry as HistoryEntry
    from engram.values import Lineage as Lineage
    from engram.values import Memory as Memory
    from engram.values import MemoryExplanation as MemoryExplanation
    from engram.values import Page as Page
    from engram.values import RecallAnswer as RecallAnswer
    from engram.values import Receipt as Receipt
    from engram.values import SearchResult as SearchResult
    from engram.values import SearchResults as SearchResults
    from engram.values import WriteDecision as WriteDecision

__version__ = "0.1.0"

# Which room each public name lives in.
_ROOMS = {
    "engram.client": ("AsyncEngram", "AsyncOps", "Engram", "Ops"),
    "engram.embedding": ("Embedder",),
    "engram.errors": (
        "AlreadySuperseded", "Conflict", "EngramError", "IdempotencyMismatch", "InvalidInput", "LimitExceeded",
        "NotFound",
        "PolicyError", "SchemaOutdated", "SettingsError", "StaleStream", "Unavailable", "UnknownOutcome",
    ),
    "engram.filters": ("Filter",),
    "engram.operations.changing": ("Edit",),
    "engram.policies": ("MemoryPolicy", "SlotRule", "TypeRule", "get_policy"),
    "engram.scope": ("ALL_USERS", "Scope"),
    "engram.settings": ("Settings",),
    "engram.values": (
        "Citation", "ContextBlock", "CriticalMemories", "Event", "HistoryEntry", "Lineage", "Memory",
        "MemoryExplanation",
        "Page", "RecallAnswer", "Receipt", "SearchResult", "SearchResults", "WriteDecision",
    ),
}  # fmt: skip
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [  # noqa: RUF022 - in the order a newcomer meets them
    # doors
    "Engram", "AsyncEngram", "Ops", "AsyncOps",
    # whose memory, and how the process is set up
    "Scope", "ALL_USERS", "Settings",
    # what is written
    "Edit", "Receipt", "WriteDecision", "Event",
    # policies
    "MemoryPolicy", "TypeRule", "SlotRule", "get_policy",
    # what is read
    "Memory", "Citation", "Lineage", "HistoryEntry", "MemoryExplanation", "Page", "Filter", "SearchResult",
    "SearchResults",
    "RecallAnswer", "CriticalMemories", "ContextBlock",
    # seams
    "Embedder",
    # errors
    "EngramError", "SettingsError", "InvalidInput", "LimitExceeded", "NotFound", "Conflict", "StaleStream",
    "IdempotencyMismatch", "AlreadySuperseded", "PolicyError", "Unavailable", "UnknownOutcome", "SchemaOutdated",
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
