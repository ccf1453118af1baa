"""Assembling a context: gather the material, then pack it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engram.errors import Unavailable
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.values import ContextBlock


def build_context(setup: Setup, query: object, *, given: Mapping[str, Any], **options: object) -> Operation[ContextBlock]:
    """Being written."""
    raise Unavailable("being written")
    yield
