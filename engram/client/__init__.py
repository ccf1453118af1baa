"""The two doors: Engram for threads, AsyncEngram for event loops. Same names, same arguments, same errors, one body.

A method hands its arguments to an operation, which is a generator of steps; the door carries the steps out, blocking or
awaiting. Nothing is opened before the first call has passed its checks.

A process uses one of the doors, so each is loaded when it is first named.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engram.client.async_door import AsyncEngram as AsyncEngram
    from engram.client.async_door import AsyncSessionContext as AsyncSessionContext
    from engram.client.async_ops import AsyncOps as AsyncOps
    from engram.client.door import Engram as Engram
    from engram.client.door import SessionContext as SessionContext
    from engram.client.ops import Ops as Ops

# Which module each door is in.
_MODULES = {
    "async_door": ("AsyncEngram", "AsyncSessionContext"),
    "async_ops": ("AsyncOps",),
    "door": ("Engram", "SessionContext"),
    "ops": ("Ops",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = ["AsyncEngram", "AsyncOps", "AsyncSessionContext", "Engram", "Ops", "SessionContext"]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
