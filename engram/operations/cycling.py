"""Consolidation: the steps of a cycle of a scope, each in transactions and a run of its own.

A step is a function `step(setup, call, cycle)`, where `call` says whose memory it is and who asks, and whether only to
show, and `cycle` which run its own run belongs to. It gives the run it made, or None where it changes no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engram.lifecycle.cycle import Cycle
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.values import LifecycleRun

Step = Callable[[Setup, Writing, Cycle], Operation[LifecycleRun | None]]

STEPS: Final[tuple[tuple[str, Step | None], ...]] = ()
"""The steps in their order; None is a step that is not there yet."""
