"""What a context is made of is brought by kept plans: the same that the composed statements bring of any moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engram import Engram, Scope, ledger, memories, relations, tenancy
from engram.database import Connection, fetch_all, fetch_named, statement
from engram.memories import NOW
from engram.operations import assembling
from engram.operations.capture import EVENT_TYPES
from engram.recall import outline, topics, triggers
from engram.settings import load

LATER = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture
def life(database_url: str, tenant: str) -> list[Any]:
    """Memories of every kind in a user's scope and in everybody's, and events that were said, made and forgotten."""
    own, shared = Scope(tenant, user_id="ada"), Scope(tenant)
    with (
        Engram(database_url, scope=own, settings=load({})) as door,
        Engram(database_url, scope=shared, settings=load({})) as everyone,
    ):
        known = []
        for place in range(12):
            asked = everyone if place % 4 == 3 else door
            known.append(
                asked.add(
                    f"Line {place} of the ledger of the mill", subject=("mill", None, "user")[place % 3], force=True,
                    memory_type=("semantic", "decision", "constraint")[place % 3],
                    critical_slot=f"slot-{place % 5}" if place % 4 == 0 or place == 3 else None,
                    tags=["trigger:grind"] if place % 2 else ["trigger:", "mill"],
                    valid_from=datetime(2019, 1, 1, tzinfo=UTC) if place == 7 else None,
                    valid_to=datetime(2020, 1, 1, tzinfo=UTC) if place == 7 else None, category="flour",
                ).memory
            )  # fmt: skip
        assert all(known)
        door.forget(known[1].memory_id)
        door.revise(known[4].memory_id, "The fourth line was mended")
        door.relate(known[0].memory_id, known[2].memory_id, "part_of", weight=0.7)
        door.relate(known[3].memory_id, known[0].memory_id, "knows", weight=0.4)
        for place in range(5):
            door.remember(f"The mill ground sack {place}", session_id="s")
        run = door.start_task("Mend the wheel")
        door.record_event("A cog was cut", task_run_id=run.task_run_id, event_type="artifact")
        door.record_event("It turned", task_run_id=run.task_run_id, event_type="tool_result", role="tool")
    return [own, shared, known]


@pytest.mark.parametrize("reader", [0, 1])
def test_an_outline_is_that_of_the_statements_it_stands_for(database_url: str, life: list[Any], reader: int) -> None:
    with (
        Engram(database_url, scope=life[reader], settings=load({})) as door,
        door._core.database().transaction(life[0].tenant_id, read_only=True) as conn,
    ):
        visible = tenancy.visible(conn, life[reader])
        told = outline.read(
            conn, visible, decisions=3, with_topics=True, actions=40, moment=NOW, key=b"key"
        )  # fmt: skip
        decided = memories.list_memories(
            conn, visible, filter=outline.DECIDED, sort="recent", limit=3, cursor=None, moment=NOW, key=b"key"
        )
        assert told.critical == assembling.all_critical(conn, visible, NOW)
        assert list(told.decisions) == list(decided)
        assert list(told.topics) == topics.count_topics(conn, visible)
        assert list(told.actions) == [(name, trust) for name, _, trust in triggers.name_triggers(conn, visible)]
        assert told.critical.results
        assert told.decisions
        assert len(told.topics) > 1
        assert [name for name, _ in told.actions] == ["grind"]
        none = outline.read(conn, visible, decisions=0, with_topics=False, actions=0, moment=NOW, key=b"key")
        assert none == outline.Outline(told.critical)


@pytest.mark.parametrize("reader", [0, 1])
def test_memories_and_ties_are_those_of_the_statements_they_stand_for(
    database_url: str, life: list[Any], reader: int
) -> None:
    ids = [one.memory_id for one in life[2]][::-1]
    with (
        Engram(database_url, scope=life[reader], settings=load({})) as door,
        door._core.database().transaction(life[0].tenant_id, read_only=True) as conn,
    ):
        visible = tenancy.visible(conn, life[reader])
        rows = memories._rows(conn, visible, NOW, memories.BY_ID, ids)
        composed = {row.memory_id: memories.made(row, visible) for row in rows}
        assert memories.load(conn, visible, ids) == [composed[one] for one in ids if one in composed]
        assert len(composed) == (12, 3)[reader]
        walking = memories.visible_params(visible) | relations._walking(ids[-4:], assembling.TIES)
        walked = fetch_named(conn, statement("call_walk"), walking)
        tied, ends = relations.ties(conn, visible, ids[-4:], assembling.TIES)
        assert [(r.seed, r.node, r.types, r.ways) for r in tied] == [(r.seed, r.node, r.types, r.ways) for r in walked]
        assert ends == {one.memory_id: one for one in memories.load(conn, visible, [r.node for r in walked])}
        assert relations.ties(conn, life[reader], ids[-4:], assembling.TIES) == (tied, ends)  # scopes looked up there
        assert bool(tied) is (reader == 0)


@pytest.mark.parametrize("reader", [0, 1])
def test_events_are_those_of_the_statement_they_stand_for(database_url: str, life: list[Any], reader: int) -> None:
    with (
        Engram(database_url, scope=life[reader], settings=load({})) as door,
        door._core.database().transaction(life[0].tenant_id, read_only=True) as conn,
    ):
        scope_ids = tenancy.visible(conn, life[reader]).scope_ids
        wanted: dict[str, Any] = {"types": EVENT_TYPES, "own": assembling.OWN_TYPE, "said": 4, "made": 20}
        kept = ledger.told(conn, scope_ids, **wanted)
        assert kept == ledger.told(conn, scope_ids, until=LATER + timedelta(days=1), **wanted)
        assert [len(part) for part in kept] == ([4, 2] if reader == 0 else [0, 0])
        assert ledger.told(conn, scope_ids, **wanted | {"said": 0, "made": 0}) == ([], [])


@pytest.mark.parametrize("reader", [0, 1])
def test_a_line_and_what_contradicts_are_those_of_the_statements_they_stand_for(
    database_url: str, life: list[Any], reader: int
) -> None:
    known = [one.memory_id for one in life[2]]
    with Engram(database_url, scope=life[0], settings=load({})) as door:
        door.relate(known[2], known[5], "contradicts")
        door.relate(known[3], known[2], "contradicts")
    with (
        Engram(database_url, scope=life[reader], settings=load({})) as door,
        door._core.database().transaction(life[0].tenant_id, read_only=True) as conn,
    ):
        visible = tenancy.visible(conn, life[reader])
        for memory in life[2]:
            rows = memories._rows(conn, visible, NOW, memories.BY_LINEAGE, memory.lineage_id)
            line, rivals = memories.lineage_and_rivals(conn, visible, memory.lineage_id, memory.memory_id)
            assert (line.revisions if line else ()) == tuple(memories.made(row, visible) for row in rows)
            params = memories.visible_params(visible, NOW) | {"memory_id": memory.memory_id}
            told = [row.memory_id for row in fetch_all(conn, "list_contradictions", **params)]
            assert sorted(one.memory_id for one in rivals) == sorted(
                one.memory_id for one in memories.load(conn, visible, told)
            )
        line, rivals = memories.lineage_and_rivals(conn, visible, life[2][4].lineage_id, known[2])
        assert (len(line.revisions) if line else 0) == (2 if reader == 0 else 0)
        assert {one.memory_id for one in rivals} >= {known[3], *([known[5]] if reader == 0 else [])}


def test_what_has_too_little_time_in_the_transaction_of_its_search_has_another(
    database_url: str, life: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries, ties = 0, relations.ties

    def slow(conn: Connection, *given: Any) -> Any:
        nonlocal tries
        tries += 1
        if tries == 1:
            conn.exec_driver_sql("SET LOCAL statement_timeout = 1")
            conn.exec_driver_sql("SELECT pg_sleep(2)")
        return ties(conn, *given)

    monkeypatch.setattr(relations, "ties", slow)
    with Engram(database_url, scope=life[0], settings=load({})) as door:
        block = door.build_context("line of the ledger of the mill")
    assert tries == 2
    assert block.text
    assert not block.trace.degraded  # type: ignore[union-attr]
