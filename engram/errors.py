"""Every error Engram raises, in one tree.

EngramError
├── SettingsError
├── InvalidInput
│   └── LimitExceeded
├── NotFound
├── Conflict
│   ├── StaleStream
│   ├── IdempotencyMismatch
│   ├── AlreadySuperseded
│   └── LeaseLost
├── PolicyError
├── BadOutput
├── Refused
├── Unavailable
│   ├── RateLimited
│   ├── BudgetSpent
│   └── ModelRejected
├── UnknownOutcome
├── Damaged
└── SchemaOutdated

The docstring of a class is its default message; facts of the case are attributes.
No text ever quotes a caller's value: values may be secrets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Final


class EngramError(Exception):
    """Engram could not do what was asked."""

    code: ClassVar[str] = "engram_error"

    def __init__(self, message: str | None = None, **facts: Any) -> None:
        self.facts = facts
        super().__init__(message or _meaning(type(self)))

    def __getattr__(self, name: str) -> Any:
        # Only reached when normal look-up fails: the facts of the case read as attributes.
        try:
            return self.__dict__["facts"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        # Exceptions are copied by calling their class with their text; ours take the facts, and make the text of them.
        return _again, (type(self), self.args), self.__dict__


def _meaning(kind: type[EngramError]) -> str:
    """What an error says by itself: the first line of its docstring, or its code where `python -OO` left that out."""
    told = (kind.__doc__ or "").strip()
    return told.splitlines()[0] if told else kind.code.replace("_", " ")


def _again(kind: type[EngramError], args: tuple[Any, ...]) -> EngramError:
    """An error with its text and no facts, whatever its class is made from."""
    return kind.__new__(kind, *args)


def class_of(error: Exception) -> str:
    """The name under which a failure is kept: Engram's code, else the type. Never its text."""
    return error.code if isinstance(error, EngramError) else type(error).__name__[:64]


class SettingsError(EngramError):
    """A setting is missing, unknown or makes no sense."""

    code = "settings_error"


class InvalidInput(EngramError, ValueError):
    """An argument is not what the call expects."""

    code = "invalid_input"

    def __init__(self, field: str, expected: str, found: str = "") -> None:
        text = f"{field}: expected {expected}" + (f", found {found}" if found else "")
        super().__init__(text, field=field, expected=expected, found=found)


class LimitExceeded(InvalidInput):
    """An argument is larger than Engram accepts."""

    code = "limit_exceeded"

    def __init__(self, field: str, allowed: int | float, found: int | float | str, unit: str = "") -> None:
        super().__init__(field, f"at most {allowed}{' ' + unit if unit else ''}", str(found))
        self.facts["allowed"] = allowed


class NotFound(EngramError, LookupError):
    """Nothing with that id exists in this scope."""

    code = "not_found"


class Conflict(EngramError):
    """The change does not fit the state it found."""

    code = "conflict"


class StaleStream(Conflict):
    """The stream has moved past the expected position."""

    code = "stale_stream"

    def __init__(self, expected: int, actual: int) -> None:
        super().__init__(f"the stream is at position {actual}, expected {expected}", expected=expected, actual=actual)


class IdempotencyMismatch(Conflict):
    """This idempotency key or event id was used before for something else."""

    code = "idempotency_mismatch"


class AlreadySuperseded(Conflict):
    """The memory has a newer head than the caller expected."""

    code = "already_superseded"


class LeaseLost(Conflict):
    """Another worker holds this job now; drop the result."""

    code = "lease_lost"


class PolicyError(EngramError):
    """A memory policy cannot be read, or forbids the write."""

    code = "policy_error"


class Unavailable(EngramError):
    """A part Engram depends on did not answer; the call may be repeated."""

    code = "unavailable"

    def __init__(self, message: str | None = None, *, retry_after: float | None = None, **facts: Any) -> None:
        super().__init__(message, retry_after=retry_after if _is_pause(retry_after) else None, **facts)


def _is_pause(seconds: object) -> bool:
    """Whether this is a number of seconds to wait: a model of one's own may say anything."""
    return isinstance(seconds, int | float) and 0 <= seconds < math.inf


class RateLimited(Unavailable):
    """A model's provider asks for a pause."""

    code = "rate_limited"


class BudgetSpent(Unavailable):
    """The tenant's budget for language models is spent for today."""

    code = "budget_spent"


class ModelRejected(Unavailable):
    """A model's provider refuses the key, the account or the name of the model: somebody must put that right."""

    code = "model_rejected"


class BadOutput(EngramError):
    """A language model answered with something other than what was asked for, twice."""

    code = "bad_output"


class Refused(EngramError):
    """A language model declined to answer."""

    code = "refused"


class UnknownOutcome(EngramError):
    """The connection was lost while committing; ask again with the same idempotency key."""

    code = "unknown_outcome"

    def __init__(self, key: str) -> None:
        super().__init__(f"{_meaning(type(self))} (key {key})", key=key)


class Damaged(EngramError):
    """What is stored is not what was written: its hash does not fit, so it is not handed out."""

    code = "damaged"


class SchemaOutdated(EngramError):
    """The database schema and the library are out of step: run `engram migrate`."""

    code = "schema_outdated"


PASSING: Final = (Unavailable, UnknownOutcome, Conflict)
"""Errors that say nothing of what was being read: it is tried again as it is."""
