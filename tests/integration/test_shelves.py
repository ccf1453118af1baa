"""Shelves: the chunks of documents stand beside the facts of a scope, and no view or count takes them for facts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engram import Engram, Scope
from engram.database import Database
from tests.quiet import quiet

VIEWS = {
    "current_memories": "SELECT fact FROM engram.current_memories ORDER BY fact",
    "memories_as_of": "SELECT fact FROM engram.memories_as_of(now()) ORDER BY fact",
    "memory_lineage": "SELECT fact, status FROM engram.memory_lineage ORDER BY fact",
    "memory_timeline": "SELECT fact, entry FROM engram.memory_timeline ORDER BY at, entry, fact",
    "critical_memories": "SELECT fact FROM engram.critical_memories ORDER BY fact",
    "conflicts": "SELECT fact FROM engram.conflicts ORDER BY fact",
    "scope_stats": "SELECT status, layer, memories, critical, unembedded FROM engram.scope_stats ORDER BY 1, 2",
}


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with quiet(Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada"))) as door:
        yield door


def test_no_view_and_no_count_of_memories_takes_a_chunk_for_a_fact(
    ada: Engram, database: Database, tenant: str
) -> None:
    def told() -> dict[str, list[str]]:
        with database.transaction(tenant) as conn:
            return {name: [repr(tuple(row)) for row in conn.exec_driver_sql(said)] for name, said in VIEWS.items()}

    ada.add("User keeps a yawl in the estuary", critical_slot="boat")
    home = ada.add("User lives in Oslo").memory
    assert home is not None
    ada.revise(home.memory_id, "User lives in Bergen")
    before, counts = told(), ada.stats()
    assert len(before["memory_lineage"]) == 3
    report = ada.record_long_input("The keeper polishes the beacon. " * 40, max_chunk_tokens=50, derive="skip")
    assert len(report.chunks) > 3
    assert told() == before
    after = ada.stats()
    assert (after.memories, after.by_status, after.by_layer) == (counts.memories, counts.by_status, counts.by_layer)
    assert after.events - counts.events == 1 + len(report.source_event_ids) + len(report.chunks)
