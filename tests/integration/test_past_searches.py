"""A search of the past puts together what its channels reach for, and finds what the whole past would give."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from quiet import quiet

from engram import Conflict, Engram, Filter, InvalidInput, NotFound, Scope, recall, tenancy
from engram.database import Database
from engram.memories import Moment
from engram.recall import finding, past
from engram.settings import load

DAY = timedelta(days=1)
DAYS = [datetime(2015, 1, 1, tzinfo=UTC) + 300 * DAY * n for n in range(8)]
PEOPLE = ("Ada", "Ottokar", "Milena")
THINGS = ("bicycle", "garden", "piano", "kitchen", "mortgage", "parrot", "violin")
COLOURS = ("red", "blue", "green", "white")
WAYS: tuple[dict[str, Any], ...] = (
    {}, {"limit": 1}, {"limit": 4}, {"include_superseded": True}, {"include_consolidated": True}, {"depth": 0},
    {"depth": 3}, {"mode": "semantic"}, {"mode": "keyword"}, {"window": (DAYS[2], DAYS[5])},
    {"window": (DAYS[6], None)}, {"filter": Filter(tags_any=("kept",))}, {"filter": Filter(statuses=("superseded",))},
    {"within": (DAYS[1], DAYS[4])},
)  # fmt: skip
CHANGES_READ = """
    SELECT idx_tup_fetch::integer FROM pg_stat_xact_user_tables WHERE relid = 'engram.memory_changes'::regclass
"""
QUESTIONS = ("What does Ada say of the bicycle?", 'Ottokar "sold the piano" again', "garden -red", "violin xyzzy")


@dataclass(frozen=True)
class Life:
    """A tenant to which everything happened, the moments between, and two scopes that read it."""

    database: Database
    tenant: str
    scopes: tuple[Scope, ...]
    moments: tuple[Moment, ...]
    some_id: str


@pytest.fixture(scope="module", params=[1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
def life(request: pytest.FixtureRequest, database_url: str) -> Iterator[Life]:
    dice = random.Random(request.param)
    tenant = f"past-{uuid.uuid4().hex[:8]}"
    own, shared = Scope(tenant, user_id="ada"), Scope(tenant)
    made: list[str] = []
    clock = [datetime.now(UTC)]
    with Engram(database_url, scope=own) as door, Engram(database_url, scope=shared) as everyone:
        quiet(door), quiet(everyone)
        for step in range(130):
            with suppress(Conflict, NotFound):
                act(dice, door if dice.random() < 0.8 else everyone, made, step)
            clock.append(datetime.now(UTC))
    database = Database(database_url, load({}))
    marks = [clock[place] for place in (0, 8, 30, 70, 110, -1)]
    told = [Moment(known_at=mark) for mark in marks]
    true = [Moment(as_of=day) for day in (DAYS[0] - DAY, DAYS[1] + DAY, DAYS[4] + DAY, datetime.now(UTC))]
    both = [Moment(as_of=DAYS[5], known_at=marks[3]), Moment(as_of=DAYS[2], known_at=marks[4])]
    yield Life(database, tenant, (own, shared), (*told, *true, *both), made[0])
    database.close()


def act(dice: random.Random, door: Engram, made: list[str], step: int) -> None:
    """One thing that happens to memory, or is meant to."""
    one = dice.choice(made) if made else None
    at = dice.choice(DAYS)
    way = dice.choice(("add",) * 8 + ("revise",) * 4 + (
        "forget", "retract", "restore", "expire", "end", "pin", "tag", "relate", "relate", "say", "replace", "earlier",
    )) if len(made) > 4 else "add"  # fmt: skip
    person, thing, colour = dice.choice(PEOPLE), dice.choice(THINGS), dice.choice(COLOURS)
    fact = f"{person} sold the {thing} and bought a {colour} {dice.choice(THINGS)}, number {step}"
    told = {"valid_from": at} if dice.random() < 0.7 else {}
    decision: Any = None
    match way:
        case "add":
            decision = door.add(
                fact, subject=person, topic_key=f"{person}/{thing}" if dice.random() < 0.5 else None,
                tags=["kept"] if dice.random() < 0.2 else [], trust=dice.choice(("operator", "user", "web")),
                critical_slot=f"slot {step}" if dice.random() < 0.1 else None, **told,
            )  # fmt: skip
        case "revise":
            decision = door.revise(one or "", fact, **told)
        case "earlier":
            decision = door.revise(one or "", fact, valid_from=DAYS[0] - 9 * DAY)
        case "replace":
            decision = door.add(fact, supersedes=[one or ""], trust="operator")
        case "forget":
            door.forget(one or "")
        case "retract":
            door.forget(one or "", revision_only=True)
        case "restore":
            door.restore(one or "")
        case "expire":
            door.annotate(one or "", expires_at=dice.choice((at, None)))
        case "end":
            with suppress(InvalidInput):  # where it begins later
                door.end_validity(one or "", at)
        case "pin":
            door.annotate(one or "", critical_slot=dice.choice(("house", None)))
        case "tag":
            door.annotate(one or "", tags=dice.choice((["kept"], [])))
        case "relate":
            other = dice.choice(made)
            if other != one:
                kind = dice.choice(("part_of", "knows", "contains"))
                door.relate(one or "", other, kind, weight=dice.uniform(0.1, 1))
        case "say":
            door.remember(f"{person}: the {thing} number {step} is {colour}")
    if decision is not None and decision.memory is not None:
        made.append(decision.memory.memory_id)


def found(life: Life, scope: Scope, query: str, moment: Moment, **options: Any) -> list[Mapping[str, Any]]:
    """The rows of a search of a moment, in no order."""
    asked = recall.prepare(query, **options)
    with life.database.transaction(life.tenant, read_only=True) as conn:
        looked = recall.look(conn, tenancy.visible(conn, scope), asked, moment=moment)
        vector = np.random.default_rng(len(query)).normal(size=256).astype(np.float32)
        meaning = recall.Meaning(vector / np.linalg.norm(vector), looked.model_id)
        search = finding._Search(asked, looked, meaning, finding.allowed(asked, meaning))
        rows = finding._rows(conn, [search])[0]
    return sorted((alike(row) for row in rows), key=lambda row: str(row["memory_id"]))


def alike(row: Any) -> dict[str, Any]:
    """A row whose sums may have been made in another order."""
    told = row._asdict() | {"enough": None}
    return {name: round(value, 9) if isinstance(value, float) else value for name, value in told.items()}


@pytest.mark.parametrize(("place", "way"), list(enumerate(WAYS)), ids=str)
def test_what_is_reached_for_is_what_the_whole_past_gives(
    life: Life, monkeypatch: pytest.MonkeyPatch, place: int, way: dict[str, Any]
) -> None:
    monkeypatch.setattr(finding, "LEAST_FETCHED", 1)
    seen = 0
    for number, moment in enumerate(life.moments, place):
        query, reader = QUESTIONS[number % 4], life.scopes[number // 4 % 2]
        options = {"limit": 2, "also": (life.some_id,), **way}
        rows = []
        for farther in ((1, 3), ()):
            monkeypatch.setattr(past, "FARTHER", farther)
            rows.append(found(life, reader, query, moment, **options))
        assert rows[0] == rows[1], (query, moment)
        seen += len(rows[1])
    assert seen > 0


def test_what_is_reached_for_is_mostly_enough(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a channel is to bring stands among ten times as many, unless nearly nothing stood yet."""
    monkeypatch.setattr(finding, "LEAST_FETCHED", 1)
    reached: list[int] = []
    real = past.params

    def counted(reach: past.Reach, *more: Any) -> dict[str, Any]:
        reached.append(reach.many)
        return real(reach, *more)

    monkeypatch.setattr(past, "params", counted)
    for number, moment in enumerate(life.moments):
        found(life, life.scopes[0], QUESTIONS[number % 4], moment, limit=2)
    assert len(reached) < 2 * len(life.moments)
    assert past.EVERYTHING not in reached


def test_a_row_is_what_its_last_change_left(life: Life) -> None:
    """So nothing is put together of what has not changed since the moment that is asked for."""
    with life.database.transaction(life.tenant, read_only=True) as conn:
        rows, changed = conn.exec_driver_sql(
            """SELECT count(*), count(*) FILTER (WHERE jsonb_populate_record(m, c.state) IS DISTINCT FROM m)
                 FROM engram.agent_memory m
                 LEFT JOIN LATERAL (
                      SELECT c.state FROM engram.memory_changes c
                       WHERE c.tenant_id = m.tenant_id AND c.memory_id = m.memory_id AND c.state IS NOT NULL
                       ORDER BY c.change_id DESC LIMIT 1) c ON true"""
        ).one()
    assert rows > 50
    assert changed == 0


def test_of_the_past_no_change_is_read_that_was_known(life: Life) -> None:
    """What was true then is said by rows as they are; what was known, by one change of each that has none since."""
    with life.database.transaction(life.tenant, read_only=True) as conn:
        scope_ids = list(tenancy.visible(conn, life.scopes[0]).scope_ids)
        made, noted = conn.exec_driver_sql(
            "SELECT (SELECT count(*) FROM engram.agent_memory WHERE scope_id = ANY (%(scopes)s)),"
            " (SELECT count(*) FROM engram.memory_changes WHERE memory_id IS NOT NULL)", {"scopes": scope_ids},
        ).one()  # fmt: skip
    assert noted > made
    now = datetime.now(UTC)
    assert changes_read(life, scope_ids, as_of=now) == 0
    assert 0 < changes_read(life, scope_ids, known_at=now) <= made


def changes_read(life: Life, scope_ids: list[int], **moment: datetime) -> int:
    """How many changes are read to say how the memories of some scopes stood at a moment."""
    with life.database.transaction(life.tenant, read_only=True) as conn:
        before = conn.exec_driver_sql(CHANGES_READ).scalar() or 0
        told = conn.exec_driver_sql(
            "SELECT count(*) FROM engram.memories_at(%(scopes)s, %(as_of)s, %(known_at)s)",
            {"scopes": scope_ids, "as_of": None, "known_at": None, **moment},
        ).scalar_one()  # fmt: skip
        assert told > 0
        return int(conn.exec_driver_sql(CHANGES_READ).scalar() or 0) - before
