"""Policies: what a memory is, whether it is pinned, and under which key a newer one supersedes it.

A policy is a frozen value made of rules. To add one, write its module and name it in `_MODULES`. What judges by a
policy is `engram.policies.classify`; it holds far more patterns than the rules do, and is not loaded with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from engram.errors import PolicyError
from engram.policies.guards import Guard, Keep, Reject
from engram.policies.rules import DEFAULT_DERIVE, MemoryPolicy, SlotRule, TypeRule, WriteMode
from engram.values import TYPE_ALIASES, MemoryType

if TYPE_CHECKING:
    from engram.policies.classify import Classified

TYPE_WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "semantic": 0.8,
        "preference": 0.9,
        "procedural": 0.7,
        "episodic": 0.6,
        "context": 0.5,
        "decision": 0.8,
        "task": 0.7,
        "error": 0.5,
        "lesson": 0.7,
        "meeting": 0.6,
        "profile": 0.9,
        "constraint": 0.9,
        "project": 0.7,
        "tool_result": 0.5,
    }
)
"""What a memory of a type weighs; importance is surprise times this. A category listed here comes before its type."""


def not_before(classified: Classified, valid_from: datetime | None, said_at: datetime) -> Classified:
    """The classification without slot and key where a statement holds only from a later day: it is no news of today."""
    if valid_from is None or valid_from <= said_at:
        return classified
    return replace(classified, critical_slot=None, conflict_key=None, negates=None)


_MODULES: Final = {"default": "DEFAULT", "legal": "LEGAL", "coding_agent": "CODING_AGENT"}
"""The policies of the library: the module of each, and what it is called there."""


def built_in() -> tuple[MemoryPolicy, ...]:
    """The policies of the library; their patterns are compiled when one is first asked for."""
    return tuple(map(get_policy, _MODULES))


def get_policy(name: str) -> MemoryPolicy:
    """The built-in policy of this name; PolicyError where none has it."""
    if not isinstance(name, str) or name not in _MODULES:
        raise PolicyError(f"no policy has this name; built in are {', '.join(_MODULES)}")
    policy: MemoryPolicy = getattr(import_module(f"engram.policies.{name}"), _MODULES[name])
    return policy


__all__ = [
    "DEFAULT_DERIVE",
    "TYPE_ALIASES",
    "TYPE_WEIGHTS",
    "Guard",
    "Keep",
    "MemoryPolicy",
    "MemoryType",
    "Reject",
    "SlotRule",
    "TypeRule",
    "WriteMode",
    "built_in",
    "get_policy",
    "not_before",
]
