"""Memories with the similarity that a test gives them, and looks at a scope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from engram import Engram, Filter
from engram.database import Connection
from engram.operations import steps

AXES: Final = 16


class Angles:
    """An embedder that a test tells how near texts are: `say` gives a text the cosine it has with the first axis."""

    name, dimensions, max_tokens = "angles", AXES, None

    def __init__(self) -> None:
        self.known: dict[str, list[float]] = {}

    def say(self, fact: str, cosine: float, axis: int = 1) -> str:
        vector = [0.0] * AXES
        vector[0], vector[axis] = cosine, (1 - cosine * cosine) ** 0.5
        self.known[fact] = vector
        return fact

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        far = [0.0] * (AXES - 1) + [1.0]
        return np.array([self.known.get(text, far) for text in texts], dtype=np.float32)


def added(door: Engram, fact: str, **given: Any) -> str:
    decision = door.add(fact, force=True, **given)
    assert decision.kind == "add", decision
    assert decision.memory is not None
    return decision.memory.memory_id


def facts(door: Engram) -> set[str]:
    return {memory.fact for memory in door.list_memories(limit=100)}


def rows(door: Engram) -> int:
    every = ("active", "superseded", "contested", "archived", "deleted", "quarantined")
    return len(door.list_memories(filter=Filter(statuses=every), limit=200))


def read(door: Engram, memory_id: str, times: int) -> None:
    """Count accesses of a memory as a run of the life cycle would."""

    def work(conn: Connection) -> None:
        given = (times, door.scope.tenant_id, memory_id)
        conn.exec_driver_sql(
            "UPDATE engram.memory_activity SET access_count = %s WHERE tenant_id = %s AND memory_id = %s", given
        )

    door._run(steps.write(door.scope.tenant_id, work, key=None))


def looks(door: Engram) -> int:
    """How many looks at memories, and pairs of them, are noted."""

    def work(conn: Connection) -> int:
        sql = "SELECT count(*) FROM engram.{} WHERE tenant_id = %s"
        given = (door.scope.tenant_id,)
        noted = (conn.exec_driver_sql(sql.format(name), given).scalar() for name in ("memory_looks", "memory_pairs"))
        return sum(int(one or 0) for one in noted)

    return int(door._run(steps.write(door.scope.tenant_id, work, key=None)))
