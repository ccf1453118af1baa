"""What denies a value nobody held stands beside its lineage: it takes nobody's place, and nobody brings it back."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from orders import stand_in_order

from engram import Conflict, Engram, Memory, MemoryPolicy, NotFound, Scope
from engram.arrays import Texts
from engram.database import Database, fetch_all, fetch_named
from engram.english import worth
from engram.text import fact_hash

SCOPE_OF = "SELECT scope_id FROM engram.agent_memory WHERE tenant_id = %(tenant_id)s AND memory_id = %(memory_id)s"


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        yield door


def told(door: Engram, fact: str, **said: Any) -> Memory:
    memory = door.add(fact, **said).memory
    assert memory is not None
    return memory


def facts(door: Engram, **read: Any) -> list[str]:
    return sorted(memory.fact for memory in door.list_memories(**read))


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


# What is said after all


def test_who_says_what_they_had_denied_takes_it_back(ada: Engram) -> None:
    denied = told(ada, "I don't live in Oslo.")
    assert facts(ada) == ["I don't live in Oslo."]
    lives = told(ada, "I live in Oslo.")
    assert facts(ada) == ["I live in Oslo."]
    assert ada.get(denied.memory_id).superseded_by == lives.memory_id
    told(ada, "I no longer live in Oslo.")
    assert facts(ada) == ["I no longer live in Oslo."]


def test_another_value_leaves_what_was_denied_as_it_is(ada: Engram) -> None:
    told(ada, "I don't live in Oslo.")
    told(ada, "I live in Ottawa.")
    assert facts(ada) == ["I don't live in Oslo.", "I live in Ottawa."]
    told(ada, "I live in Oslo.")
    assert facts(ada) == ["I live in Oslo."]


def test_who_is_trusted_less_takes_no_denial_back(ada: Engram) -> None:
    denied = told(ada, "I don't live in Oslo.")
    told(ada, "I live in Oslo.", trust="web")
    assert ada.get(denied.memory_id).status == "active"


@pytest.mark.parametrize(
    ("denied", "said", "left"),
    [
        ("I don't drink alcohol.", "I drink alcohol again.", ["User drinks alcohol again"]),
        ("I stopped playing the cello.", "I play the cello again.", ["User plays the cello again"]),
        ("I don't have a dog.", "I have a dog now.", ["User has a dog now"]),
        ("I don't eat meat.", "I eat fish now.", ["User does not eat meat", "User eats fish now"]),
        (
            "I don't drink coffee.",
            "I drink coffee with milk now.",
            ["User does not drink coffee", "User drinks coffee with milk now"],
        ),
        ("I don't teach Ann.", "Ann teaches me again.", ["Ann teaches User again", "User does not teach Ann"]),
        (
            "I don't drink coffee after tea.",
            "I drink tea after coffee again.",
            ["User does not drink coffee after tea", "User drinks tea after coffee again"],
        ),
        ("I don't like tea.", "I like tea.", ["User likes tea"]),  # no word of a change
        ("I don't like tea.", "I like green tea.", ["User does not like tea", "User likes green tea"]),
        ("I love tea.", "I hate tea.", ["User hates tea"]),
        ("I don't have a car.", "I have a car.", ["User has a car"]),
        ("I don't smoke.", "I smoke.", ["User smokes"]),
        ("I drive.", "I don't drive.", ["User does not drive"]),
        ("I drink.", "I don't drink beer.", ["User does not drink beer", "User drinks"]),
    ],
)
def test_what_is_so_again_takes_the_place_of_what_denied_it(
    ada: Engram, denied: str, said: str, left: list[str]
) -> None:
    ada.remember(denied)
    ada.remember(said)
    assert sorted(one.fact for one in ada.list_memories() if one.category != "verbatim") == left


def test_who_says_the_opposite_in_one_call_or_another_revises_what_they_said(ada: Engram) -> None:
    said = ["I have a car.", "I have no car.", "I hate tea.", "I love tea.", "I never smoke.", "I smoke."]
    decisions = ada.add_many([{"fact": fact} for fact in said])
    assert [one.kind for one in decisions] == ["add", "revise"] * 3
    assert facts(ada) == ["I have no car.", "I love tea.", "I smoke."]
    again = ada.add("I have a car.")
    assert again.kind == "revise"
    assert again.memory is not None
    assert [one.fact for one in ada.get_lineage(again.memory.memory_id).revisions] == said[:2] + said[:1]


def test_both_stay_where_both_are_wanted_or_one_is_trusted_less(ada: Engram) -> None:
    told(ada, "I don't like tea.")
    denied = told(ada, "I don't like coffee.")
    told(ada, "I like tea.", force=True)
    told(ada, "I like coffee.", trust="web")
    assert facts(ada) == ["I don't like coffee.", "I don't like tea.", "I like tea."]
    assert ada.get(denied.memory_id).status == "active"


def test_of_an_opposite_and_the_very_same_the_same_is_restated(ada: Engram) -> None:
    told(ada, "I don't like tea.")
    likes = told(ada, "I like tea.", force=True)
    assert ada.add("I like tea.").kind == "reinforce"
    assert facts(ada) == ["I don't like tea.", "I like tea."]
    assert len(ada.get(likes.memory_id).citations) == 2


def test_what_was_true_of_an_earlier_day_revises_nothing_that_came_later(ada: Engram) -> None:
    told(ada, "I don't like tea.", occurred_at=year(2024))
    told(ada, "I like tea.", occurred_at=year(2020))
    assert facts(ada) == ["I don't like tea."]
    assert facts(ada, as_of=year(2022)) == ["I like tea."]


@pytest.mark.parametrize("at_once", [False, True])
def test_who_says_it_again_settles_what_somebody_trusted_less_contests(
    ada: Engram, database: Database, tenant: str, at_once: bool
) -> None:
    told(ada, "I like tea.")
    contested = told(ada, "I don't like tea.", trust="web")
    assert contested.status == "contested"
    if at_once:
        ada.add_many([{"fact": "I like tea."}, {"fact": "I own a boat."}])
    else:
        ada.add("I like tea.")
    stand_in_order(database, tenant)
    assert ada.get(contested.memory_id).status == "superseded"


def test_of_many_who_take_a_denial_back_at_once_one_does(ada: Engram, database: Database, tenant: str) -> None:
    denied = told(ada, "I don't like tea.")
    said = [f"I {verb} tea." for verb in ("like", "love", "enjoy", "adore")]
    with ThreadPoolExecutor(len(said)) as together:
        decisions = list(together.map(ada.add, said))
    assert [one.kind for one in decisions].count("revise") == 1
    assert ada.get(denied.memory_id).status == "superseded"
    stand_in_order(database, tenant)


def test_what_is_private_revises_what_is_private_and_nothing_that_others_may_read(ada: Engram) -> None:
    told(ada, "I like tea.")
    told(ada, "I like tea.", private=True, force=True)
    told(ada, "I don't like tea.", private=True)
    found = sorted((one.fact, one.private) for one in ada.list_memories())
    assert ("I like tea.", False) in found
    assert ("I like tea.", True) not in found


def test_who_takes_back_what_was_taken_for_something_else_takes_that_back(database_url: str, tenant: str) -> None:
    """What is said together is not all written as it was said: the near one that stands for it is over."""
    scope, policy = Scope(tenant, user_id="ada"), MemoryPolicy("near", write_mode="merge")
    with Engram(database_url, scope=scope, policy=policy) as ada:
        told(ada, "User loves coffee")
        said = ("I like coffee.", "I don't like coffee.")
        ada.remember([{"role": "user", "content": one} for one in said], wait=True)
        assert [one.fact for one in ada.list_memories() if one.category is None] == ["User does not like coffee"]
        assert ada.ops.replay().is_same


@pytest.mark.parametrize("together", [True, False])
def test_what_is_taken_back_is_what_was_said_last(ada: Engram, together: bool) -> None:
    ada.remember("I like Ottawa.", wait=True)
    told(ada, "I like Ottawa now.")
    said = ["I like Ottawa.", "I don't like Ottawa."]
    for call in [said] if together else [[one] for one in said]:
        ada.remember([{"role": "user", "content": one} for one in call], wait=True)
    current = sorted(one.fact for one in ada.list_memories() if one.category is None)
    assert current == ["I like Ottawa now.", "User does not like Ottawa"]
    assert ada.ops.replay().is_same


def test_who_takes_something_back_waits_for_who_says_it_again(ada: Engram, database: Database, tenant: str) -> None:
    likes = told(ada, "I like tea.")
    with database.transaction(tenant, read_only=True) as conn:
        [row] = fetch_named(conn, SCOPE_OF, {"tenant_id": tenant, "memory_id": likes.memory_id})
    same = f"{tenant}/{row.scope_id}/fact/{fact_hash('I like tea.').hex()}"
    with ThreadPoolExecutor(1) as other:
        with database.transaction(tenant) as conn:
            fetch_all(conn, "lock_keys", keys=Texts([same]), shared=[], first=[])
            turned = other.submit(ada.add, "I don't like tea.")
            with pytest.raises(TimeoutError):
                turned.result(timeout=1)
        assert turned.result(timeout=30).kind == "revise"


# Of any day


def test_a_denial_stands_at_every_moment_from_which_it_was_said_to_that_at_which_it_ended(ada: Engram) -> None:
    steps = {
        2020: ("I don't live in Oslo.", ["I don't live in Oslo."]),
        2021: ("I live in Ottawa.", ["I don't live in Oslo.", "I live in Ottawa."]),
        2023: ("I live in Oslo.", ["I live in Oslo."]),
        2025: ("I no longer live in Oslo.", ["I no longer live in Oslo."]),
    }
    known = {}
    for told_in, (fact, left) in steps.items():
        told(ada, fact, occurred_at=year(told_in))
        known[told_in] = datetime.now(UTC)
        assert facts(ada) == left
    assert facts(ada, as_of=year(2019)) == []
    for told_in, (_, left) in steps.items():
        later = year(told_in) + timedelta(days=30)
        assert facts(ada, as_of=later) == left
        assert facts(ada, known_at=known[told_in]) == left
        assert facts(ada, known_at=known[told_in], as_of=year(2026)) == left
        for name in ("as_of", "known_at"):
            read: dict[str, Any] = {name: later if name == "as_of" else known[told_in]}
            assert sorted(one.memory.fact for one in ada.search("Where do I live, Oslo, Ottawa?", **read)) == left
    denied = next(one for one in ada.get_history(limit=200) if one.memory.fact == "I don't live in Oslo.").memory
    assert ada.get(denied.memory_id, as_of=year(2022)).labels == ("moot",)


def test_a_denial_stood_though_what_took_its_place_was_said_of_an_earlier_day_too(ada: Engram) -> None:
    for month, fact in ((2, "I live in Ottawa."), (3, "I don't live in Oslo."), (6, "I live in Oslo.")):
        told(ada, fact, occurred_at=datetime(2024, month, 1, tzinfo=UTC))
    then = datetime(2024, 4, 1, tzinfo=UTC)
    assert facts(ada, as_of=then) == ["I don't live in Oslo.", "I live in Ottawa."]
    told(ada, "I live in Oslo.", occurred_at=year(2024))
    assert facts(ada, as_of=then) == ["I don't live in Oslo.", "I live in Ottawa."]
    assert facts(ada) == facts(ada, as_of=datetime.now(UTC)) == ["I live in Oslo."]


# What is put away stays away


def test_forgetting_a_denial_forgets_it_alone_and_it_can_be_restored(ada: Engram) -> None:
    lives, denied = told(ada, "I live in Ottawa."), told(ada, "I don't live in Oslo.")
    assert ada.forget(denied.memory_id) == (denied.memory_id,)
    assert facts(ada) == ["I live in Ottawa."]
    ada.restore(denied.memory_id)
    assert facts(ada) == ["I don't live in Oslo.", "I live in Ottawa."]
    assert ada.forget(lives.memory_id) == (lives.memory_id,)
    assert facts(ada) == ["I don't live in Oslo."]
    ada.restore(lives.memory_id)
    assert facts(ada) == ["I don't live in Oslo.", "I live in Ottawa."]


def test_forgetting_what_was_said_after_all_brings_no_denial_back(ada: Engram) -> None:
    told(ada, "I don't live in Oslo.")
    lives = told(ada, "I live in Oslo.")
    ada.forget(lives.memory_id)
    told(ada, "I live in Ottawa.", occurred_at=year(2020))
    assert facts(ada) == ["I live in Ottawa."]


def test_an_archived_denial_is_not_revived_by_what_is_told_of_earlier(ada: Engram) -> None:
    told(ada, "I live in Ottawa.")
    ada.ops.archive([told(ada, "I don't live in Oslo.").memory_id])
    told(ada, "I live in Rome.", occurred_at=year(2020))
    assert facts(ada) == ["I live in Ottawa."]


def test_an_erased_denial_takes_nothing_with_it(ada: Engram) -> None:
    told(ada, "I live in Ottawa.")
    denied = told(ada, "I don't live in Oslo.")
    assert ada.ops.erase(events=[denied.event_id]).clean
    assert facts(ada) == ["I live in Ottawa."]
    told(ada, "I live in Rome.", occurred_at=year(2020))
    assert facts(ada) == ["I live in Ottawa."]


def test_what_is_told_of_a_time_before_an_erased_value_is_not_the_newest(ada: Engram) -> None:
    told(ada, "I live in Ottawa.", occurred_at=year(2020))
    erased = told(ada, "I live in Toronto.", occurred_at=year(2024))
    ada.ops.erase(events=[erased.event_id])
    told(ada, "I live in Rome.", occurred_at=year(2022))
    assert facts(ada) == []
    told(ada, "I live in Bergen.", occurred_at=year(2025))
    assert facts(ada) == ["I live in Bergen."]


# Whatever happens


SAID = ("I live in {}.", "I don't live in {}.", "I no longer live in {}.")
PLACES = ("Oslo", "Ottawa", "Rome", "Bonn")


@pytest.mark.parametrize("seed", range(6))
def test_every_statement_stands_where_the_order_of_all_of_them_puts_it(
    database: Database, ada: Engram, tenant: str, seed: int
) -> None:
    dice = random.Random(seed)
    known: list[Memory] = []
    for _ in range(30):
        act = dice.choice(["say"] * 6 + ["forget", "retract", "archive", "restore", "erase", "displace"])
        one = dice.choice(known) if known else None
        with suppress(Conflict, NotFound):  # what is gone cannot be put away again
            if act == "say" or one is None:
                fact = dice.choice(SAID).format(dice.choice(PLACES))
                day = year(2020) + timedelta(days=dice.randrange(2000))
                known.append(told(ada, fact, occurred_at=day, trust=dice.choice(["user", "user", "web"])))
            elif act == "archive":
                ada.ops.archive([one.memory_id])
            elif act == "erase":
                ada.ops.erase(events=[one.event_id])
            elif act == "displace":
                told(ada, f"Something else is so, {dice.random()}.", supersedes=[one.memory_id])
            elif act == "restore":
                ada.restore(one.memory_id)
            else:
                ada.forget(one.memory_id, revision_only=act == "retract")
        stand_in_order(database, tenant)
        assert facts(ada, as_of=datetime.now(UTC)) == facts(ada)


@pytest.mark.parametrize("category", ["sport", worth.STATEMENT])
def test_what_a_caller_added_is_taken_back_whatever_he_calls_it(ada: Engram, category: str) -> None:
    """The rules have a category of the last name too: what they found is nobody's news to put away."""
    ada.add("User swims on Mondays", category=category)
    made = ada.remember("I stopped swimming on Mondays.", wait=True).decisions
    assert [one.target.fact for one in made if one.target is not None] == ["User swims on Mondays"]
