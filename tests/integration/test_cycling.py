"""Consolidation: the cycle of a scope, step by step, killed and taken up again, and what it must leave alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engram import Engram, MemoryPolicy, Scope
from engram.database import execute
from engram.operations import cycling, steps
from tests.quiet import quiet


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant), policy=MemoryPolicy("buffered", intake="buffer")) as opened:
        yield quiet(opened)


def test_smoke(door: Engram) -> None:
    one = door.add("User prefers TypeScript", memory_type="preference", importance=0.9)
    two = door.add("The deploy takes five minutes on Mondays", memory_type="semantic")
    print(one, door.get(one.memory.memory_id).layer)
    run = door.ops.consolidate( dry_run=True)
    print(run)
    run = door.ops.consolidate()
    print(run)
    print(door.ops.consolidate())
