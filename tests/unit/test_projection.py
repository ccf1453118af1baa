"""Projections: what is held of a scope to compare it, and what two forms of a memory differ in."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from engram import projection

MEMORIES = 2_000
SAID = datetime(2026, 3, 1, tzinfo=UTC)


def row(number: int, **told: Any) -> dict[str, Any]:
    return {
        "memory_id": f"m{number}", "lineage_id": f"l{number // 2}", "revision": 1 + number % 2,
        "place": 1 + number % 2,
        "superseded_by": None if number % 2 else f"m{number + 1}", "fact": f"Crate {number} weighs {number} grams",
        "main_content": None, "memory_type": "semantic", "category": None, "tags": ["crate"], "importance": "0.50",
        "confidence": 0.8, "trust": 1, "layer": "working", "status": "active", "status_reason": None,
        "critical_slot": None, "conflict_key": f"crate {number}|weight", "topic_key": "crate", "subject": "crate",
        "attribute": "weight", "value": f"{number}", "negates": None, "moot": False, "put_away": False,
        "valid_from": SAID, "valid_from_stated": False, "valid_to": None, "ended_at": None, "expires_at": None,
        "source": None, "metadata": {}, "private": False, "deriver": None, "rule": None, "consolidated_into": None,
        "marks": {}, "citations": [[f"e{number}", 0, 0, 20]], "relations": [["related_to", f"m{(number + 7) % 40}"]],
    } | told  # fmt: skip


def rows(count: int = MEMORIES) -> Iterator[dict[str, Any]]:
    return (row(number) for number in range(count))


def test_a_projection_holds_little_more_than_the_text_of_its_memories() -> None:
    projection.standings(rows(10))
    tracemalloc.start()
    try:
        found = projection.standings(rows())
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(found) == MEMORIES
    assert kept < 1_500 * MEMORIES


def test_what_differs_is_told_by_name_and_what_is_compared_apart_is_in_no_hash() -> None:
    before = projection.standings(rows(4))
    after = projection.standings([row(0, importance="0.70"), row(1, valid_to=SAID), *list(rows(4))[2:]])
    assert {name: projection.differences(before[name], after[name]) for name in before} == {
        "m0": ("importance",), "m1": ("valid_to",), "m2": (), "m3": (),
    }  # fmt: skip
    assert before["m0"].says["superseded_by"] == ["Crate 1 weighs 1 grams", 2, "active"]
    assert before["m0"].says["relations"] == [["related_to", ["elsewhere"]]]
    assert after["m1"].says["valid_to"] == "2026-03-01T00:00:00+00:00"
    assert projection.digest(before) != projection.digest(after)
    weighed = projection.standings([row(0, importance="0.70"), *list(rows(4))[1:]])
    assert projection.digest(before) == projection.digest(weighed)
    numbered = projection.standings([row(0, revision=2), row(1, revision=1), *list(rows(4))[2:]])
    assert projection.differences(before["m0"], numbered["m0"]) == ("revision",)
    assert projection.digest(before) == projection.digest(numbered)
    assert projection.digest(before) != projection.digest(
        projection.standings([row(0, place=2), row(1, place=1), *list(rows(4))[2:]])
    )
    assert projection.digest(before) == projection.digest(projection.standings(reversed(list(rows(4)))))
