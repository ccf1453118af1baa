"""The scripts of the benchmarks as modules: they stand beside each other and are no part of the package."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BENCHMARKS = str(Path(__file__).parents[1] / "benchmarks")


def script(name: str) -> Iterator[Any]:
    """A script, which finds the others while a fixture holds it."""
    sys.path.insert(0, BENCHMARKS)
    yield importlib.import_module(name)
    sys.path.remove(BENCHMARKS)
