"""Operations: what each public call does, step by step, with the waiting left to its door.

A door names them all and most processes call a few, so each is loaded when it is first named.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engram.operations import aliases as aliases
    from engram.operations import auditing as auditing
    from engram.operations import calibrating as calibrating
    from engram.operations import capture as capture
    from engram.operations import changing as changing
    from engram.operations import citing as citing
    from engram.operations import consolidating as consolidating
    from engram.operations import cycling as cycling
    from engram.operations import deriving as deriving
    from engram.operations import erasing as erasing
    from engram.operations import explaining as explaining
    from engram.operations import exporting as exporting
    from engram.operations import fading as fading
    from engram.operations import following as following
    from engram.operations import heartbeat as heartbeat
    from engram.operations import importing as importing
    from engram.operations import joining as joining
    from engram.operations import living as living
    from engram.operations import long_contexts as long_contexts
    from engram.operations import merging as merging
    from engram.operations import proposing as proposing
    from engram.operations import pruning as pruning
    from engram.operations import queueing as queueing
    from engram.operations import rating as rating
    from engram.operations import reading as reading
    from engram.operations import recalling as recalling
    from engram.operations import recording as recording
    from engram.operations import reembedding as reembedding
    from engram.operations import reindexing as reindexing
    from engram.operations import relating as relating
    from engram.operations import replaying as replaying
    from engram.operations import resuming as resuming
    from engram.operations import running as running
    from engram.operations import searching_events as searching_events
    from engram.operations import sessions as sessions
    from engram.operations import setup as setup
    from engram.operations import simulating as simulating
    from engram.operations import tasks as tasks
    from engram.operations import topics as topics
    from engram.operations import watching as watching


def __getattr__(name: str) -> Any:
    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
