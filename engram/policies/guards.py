"""Hooks of a policy: guards that look at every candidate first, and a veto against putting memories away."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from engram import inputs
from engram.errors import EngramError, PolicyError
from engram.values import Memory

if TYPE_CHECKING:
    from engram.policies.rules import MemoryPolicy

SLOW: Final = 0.05  # seconds; a hook is meant to be pure, and cheap beside a statement
MOST_REASON: Final = 200
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reject:
    """What a guard returns in place of a candidate that is not to be stored, with the reason."""

    reason: str

    def __post_init__(self) -> None:
        try:
            inputs.text(self.reason, "reason", limit=MOST_REASON)
        except EngramError:
            raise PolicyError(f"the reason of a Reject is text of 1 to {MOST_REASON} characters") from None


Guard = Callable[[Mapping[str, Any]], "Mapping[str, Any] | Reject"]
Keep = Callable[[Memory], bool]


@dataclass(frozen=True, slots=True)
class Passed:
    """A candidate as the guards left it; `refused` names the one that refused it, and its reason."""

    candidate: Mapping[str, Any]
    refused: str | None = None


def passed(policy: MemoryPolicy, candidate: Mapping[str, Any]) -> Passed:
    """A candidate after the guards of a policy, each of which sees what the one before it left.

    PolicyError names a guard that raises, or returns neither a candidate nor a Reject.
    """
    left = dict(candidate)
    for guard in policy.guards:
        name = name_of(guard)
        made = _timed(name, lambda guard=guard, left=left: guard(dict(left)))  # type: ignore[misc]
        if isinstance(made, Reject):
            logger.info("guard %s refused a candidate", name)
            return Passed(left, f"{name}: {made.reason}")
        if not isinstance(made, Mapping) or not isinstance(made.get("fact"), str):
            raise PolicyError(f"the guard {name} returned neither a candidate with a fact nor a Reject")
        if dict(made) != left:
            logger.info("guard %s changed a candidate", name)
        left = dict(made)
    return Passed(left)


def keeps(policy: MemoryPolicy, memory: Memory) -> bool:
    """Whether the policy's veto keeps a memory from being put away; a veto that raises keeps it."""
    if policy.keep is None:
        return False
    name = name_of(policy.keep)
    try:
        kept = bool(_timed(name, lambda: policy.keep(memory)))  # type: ignore[misc]
    except PolicyError:
        logger.warning("keep %s failed: the memory stays", name)
        return True
    if kept:
        logger.info("keep %s vetoed that a memory is put away", name)
    return kept


def name_of(hook: Callable[..., Any]) -> str:
    """What a hook is called in logs and reasons."""
    return str(getattr(hook, "__name__", type(hook).__name__))[:64]


def _timed(name: str, work: Callable[[], Any]) -> Any:
    started = time.perf_counter()
    try:
        return work()
    except Exception as error:
        raise PolicyError(f"the hook {name} of the policy failed ({type(error).__name__})") from error
    finally:
        seconds = time.perf_counter() - started
        if seconds > SLOW:
            logger.warning("hook %s took %.0f ms", name, 1000 * seconds)
