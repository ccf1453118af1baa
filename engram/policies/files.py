"""Policies from files: a JSON object with the fields of a policy, on the base of a built-in one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from engram.errors import EngramError, PolicyError
from engram.policies.rules import MemoryPolicy, SlotRule, TypeRule

HOOKS: Final = frozenset({"guards", "keep"})  # functions, which no file can hold
NAMES: Final = frozenset(one.name for one in fields(MemoryPolicy) if one.init) - HOOKS
RULES: Final[Mapping[str, type]] = {"type_rules": TypeRule, "slot_rules": SlotRule}


def from_json(data: Any, bases: Mapping[str, MemoryPolicy]) -> MemoryPolicy:
    """The policy of a JSON object; `base` names the policy whose fields hold where the object says nothing.

    Rules are objects of their fields, lengths of time are seconds, and `derive` maps "role/event type" to derivers.
    PolicyError for what is none.
    """
    if not isinstance(data, Mapping):
        raise PolicyError("a policy is a JSON object")
    given = dict(data)
    base = given.pop("base", None)
    if base is not None and not (isinstance(base, str) and base in bases):
        raise PolicyError(f"base names no policy; there are {', '.join(bases)}")
    unknown = sorted(set(given) - NAMES)
    if unknown:
        raise PolicyError(f"a policy has no field {unknown[0][:64]!r} that a file can give")
    read = {name: _field(name, value) for name, value in given.items()}
    if "name" not in read:
        raise PolicyError("a policy needs a name")
    try:
        return MemoryPolicy(**read) if base is None else replace(bases[base], **read)
    except EngramError:
        raise
    except (TypeError, ValueError) as error:
        raise PolicyError("a field of the policy holds something it cannot hold") from error


def _field(name: str, value: Any) -> Any:
    if name in RULES and isinstance(value, list):
        return tuple(_rule(RULES[name], one) for one in value)
    if name == "session_gap" or name.endswith("_in"):
        return _seconds(value)
    if name == "daily_budget" and value is not None:
        try:
            return Decimal(str(value))
        except InvalidOperation:
            raise PolicyError("daily_budget must be a number of dollars") from None
    if name == "derive" and isinstance(value, Mapping):
        return {tuple(str(key).split("/", 1)): derivers for key, derivers in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _rule(kind: type, value: Any) -> Any:
    names = {one.name for one in fields(kind) if one.init}
    if not isinstance(value, Mapping) or not set(value) <= names:
        raise PolicyError(f"a {kind.__name__} of a file is an object with fields out of {', '.join(sorted(names))}")
    try:
        return kind(**{name: _field(name, one) for name, one in value.items()})
    except TypeError as error:
        raise PolicyError(f"a {kind.__name__} lacks a field") from error


def _seconds(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        return timedelta(seconds=value)
    except (OverflowError, ValueError):
        raise PolicyError("a length of time is a number of seconds that a calendar holds") from None
