"""A search with a filter or a period: found first and cut, or cut first and found, it brings the same."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from plans import nodes

from engram import Engram, Filter, Scope, recall, tenancy
from engram.database import Connection, Database
from engram.recall import finding, narrow
from engram.settings import load

NOW = datetime(2025, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)
MANY, FETCHED = 180, 8
PEOPLE = ("Ada", "Ottokar", "Milena", "Jaromir")
THINGS = ("bicycle", "garden", "piano", "kitchen", "mortgage", "parrot", "violin")
DEEDS = ("sold", "painted", "lost", "praised", "insured")
QUESTIONS = ("What of the bicycle?", "Ottokar painted the piano", "parrot violin garden Milena", "Jaromir insured it")
FILTERS: dict[str, dict[str, Any]] = {
    "most": {"filter": Filter(categories=("common",))},
    "half": {"filter": Filter(tags_any=("odd",))},
    "tenth": {"filter": Filter(categories=("tenth",))},
    "rare": {"filter": Filter(categories=("rare",))},
    "none": {"filter": Filter(categories=("nowhere",))},
    "period": {"within": (NOW - 90 * DAY, NOW - 30 * DAY)},
    "window": {"within": (NOW - 90 * DAY, None), "window": (NOW - 40 * DAY, NOW - 20 * DAY)},
    "both": {"filter": Filter(tags_any=("odd",)), "within": (NOW - 150 * DAY, NOW - 60 * DAY)},
    "statuses": {"filter": Filter(statuses=("superseded",))},
    "any value": {"filter": Filter(tags_any=("odd",)), "include_superseded": True},
    "far": {"filter": Filter(tags_any=("odd",)), "depth": 2},
}  # fmt: skip


@dataclass(frozen=True)
class House:
    """A scope in which filters keep most, some, few or none of what is near a question."""

    database: Database
    scope: Scope


@pytest.fixture(scope="module")
def house(database: Database, database_url: str) -> House:
    scope = Scope(f"narrow-{uuid.uuid4().hex[:8]}", user_id="ada")
    made: list[Any] = []
    with Engram(database_url, scope=scope, settings=load({})) as door:
        for place in range(MANY):
            person, thing = PEOPLE[place % 4], THINGS[place % 7]
            kind = "rare" if place % 30 == 4 else "tenth" if place % 10 == 3 else "common"
            made.append(door.add(
                f"{person} {DEEDS[place % 5]} the {thing} of house number {place}", force=True, subject=person,
                category=kind, tags=["odd"] if place % 2 else [], valid_from=NOW - place * DAY,
            ).memory)  # fmt: skip
        for place in range(0, MANY, 9):
            door.revise(made[place].memory_id, f"{PEOPLE[place % 4]} kept the {THINGS[place % 7]} number {place}")
    return House(database, scope)


@contextmanager
def asking(house: House, query: str, **options: Any) -> Iterator[tuple[Connection, str, dict[str, Any]]]:
    """The statement of a search, and a transaction for it."""
    asked = replace(recall.prepare(query, **options), fetched=FETCHED)
    with house.database.transaction(house.scope.tenant_id, read_only=True) as conn:
        looked = recall.look(conn, tenancy.visible(conn, house.scope), asked)
        assert not finding.is_ordinary(asked, looked)
        vector = np.random.default_rng(len(query)).normal(size=256).astype(np.float32)
        meaning = recall.Meaning(vector / np.linalg.norm(vector), looked.model_id)
        yield conn, *finding.composed(asked, looked, meaning, finding.allowed(asked, meaning))


def brought(house: House, query: str, **options: Any) -> list[dict[str, Any]]:
    """What the statement brings, by id."""
    with asking(house, query, **options) as (conn, sql, params):
        rows = [dict(row) for row in conn.exec_driver_sql(sql, params).mappings()]
    for row in rows:
        if not row["found"]:  # an heir alone: what it says itself counts for nothing
            row["coverage"] = row["matched"] = None
    return sorted(rows, key=lambda row: str(row["memory_id"]))


def looked_up_whole(house: House, query: str, **options: Any) -> bool:
    """Whether the whole scope was asked for what fits."""
    with asking(house, query, **options) as (conn, sql, params):
        conn.exec_driver_sql("SET LOCAL plan_cache_mode = force_generic_plan")
        [plan] = conn.exec_driver_sql("EXPLAIN (ANALYZE, FORMAT JSON) " + sql, params).scalar_one()
    [of] = [node for node in nodes(plan["Plan"]) if node.get("Subplan Name") == "CTE all_fitting"]
    return any(node["Actual Loops"] > 0 for node in nodes(of) if node.get("Relation Name") == "agent_memory")


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
@pytest.mark.parametrize("bounds", FILTERS)
def test_what_is_found_first_and_cut_is_what_is_cut_first_and_found(
    house: House, monkeypatch: pytest.MonkeyPatch, bounds: str, mode: str
) -> None:
    options = {"mode": mode, "limit": 4, **FILTERS[bounds]}
    if mode != "hybrid":
        options.pop("window", None)
    found = 0
    for query in QUESTIONS:
        monkeypatch.setattr(narrow, "FIRST", 10**9)
        first = brought(house, query, **options)
        monkeypatch.setattr(narrow, "FIRST", 0)
        for times in (1, 2, 6, 60):
            monkeypatch.setattr(narrow, "TIMES", times)
            assert brought(house, query, **options) == first
        found += len(first)
    assert (found > 0) is (bounds != "none")


@pytest.mark.parametrize(("bounds", "whole"), [("most", False), ("half", False), ("rare", True), ("none", True)])
@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_a_scope_is_looked_up_whole_only_where_few_fit(
    house: House, monkeypatch: pytest.MonkeyPatch, bounds: str, mode: str, whole: bool
) -> None:
    monkeypatch.setattr(narrow, "FIRST", 0)
    options = {"mode": mode, "limit": 4, **FILTERS[bounds]}
    assert looked_up_whole(house, "the house of the bicycle", **options) is whole


def test_of_a_small_scope_all_is_looked_up_at_once(house: House) -> None:
    assert looked_up_whole(house, "the house of the bicycle", limit=4, **FILTERS["most"])


def test_words_that_most_hold_that_do_not_fit_are_followed_to_those_that_do(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best by words are all of a kind that was cut: what fits comes behind them."""
    monkeypatch.setattr(narrow, "FIRST", 0)
    monkeypatch.setattr(narrow, "TIMES", 1)
    with Engram(house.database.url, scope=house.scope, settings=load({})) as door:
        for place in range(3 * FETCHED):
            door.add(f"xylophone xylophone xylophone {place}", category="loud", force=True)
        quiet = [door.add(f"A xylophone stands in room {n} of the long quiet house", category="quiet", force=True)
                 for n in range(2)]  # fmt: skip
    wanted = {one.memory.memory_id for one in quiet if one.memory is not None}
    found = brought(house, "xylophone", mode="keyword", limit=4, filter=Filter(categories=("quiet",)))
    assert {str(row["memory_id"]) for row in found} == wanted
