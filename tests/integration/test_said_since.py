"""What a user said after a fact was told is told with it, where it speaks of a change and is about that fact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from engram import Engram, Filter, Scope
from engram.recall import sayings
from engram.settings import load

BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
FACTS = (
    "I bank with Fineco.", "Our drummer is Leo.", "I take 1000 IU of vitamin D a day.",
    "My sister Chiara lives in Padua.", "We track our tickets in Jira.",
)  # fmt: skip
CLOSED = "closed fineco, everything goes through bbva now"
BANK = "Which bank do I use?"

Doors = Callable[..., Engram]


@pytest.fixture
def doors(database_url: str, tenant: str) -> Iterator[Doors]:
    opened: list[Engram] = []

    def open_(user_id: str = "dario", **more: object) -> Engram:
        opened.append(Engram(database_url, scope=Scope(tenant, user_id=user_id), **more))
        return opened[-1]

    yield open_
    for one in opened:
        one.close()


def tell(door: Engram, *said: str, role: str = "user", after: int = 0) -> Sequence[str]:
    messages = [
        {"role": role, "content": one, "occurred_at": BEGIN + timedelta(days=after + place)}
        for place, one in enumerate(said)
    ]
    return door.remember(messages, wait=30.0).event_ids


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (BANK, CLOSED),
        ("Who is our drummer?", "leo is out of the band, sara sits behind the kit now"),
        ("Where do we track our tickets?", "the company dumped jira, all tickets are in linear"),
        ("How much vitamin D do I take?", "blood test was bad, doc says 2000 IU of the vitamin d from now on"),
    ],
)
def test_a_later_saying_that_speaks_of_a_change_is_told_with_the_fact(doors: Doors, question: str, said: str) -> None:
    door = doors()
    tell(door, *FACTS, "Good morning!", said)
    answer = door.recall(question)
    first, last = answer.answer_text.splitlines()
    assert answer.current is not None
    assert first == answer.current.fact
    assert last == f"Said since, 2025-01-07: {said}"
    assert [one.fact for one in answer.since] == [said]
    assert answer.trace.kept_ids == (answer.current.memory_id, answer.since[0].memory_id)
    assert {citation.event_id for citation in answer.since[0].citations} <= {one.event_id for one in answer.sources}


def test_of_many_sayings_those_among_the_neighbours_of_a_fact_are_looked_at(
    doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sayings, "FEW", 3)
    door = doors()
    noise = ("What a long day it was!", "Is there any coffee left?", "Good morning!", "It rained in the hills.")
    tell(door, *FACTS, *noise, CLOSED)
    assert [one.fact for one in door.recall(BANK).since] == [CLOSED]
    monkeypatch.setattr(sayings, "NEIGHBOURS", 1)  # but the fact itself
    assert door.recall(BANK).since == ()


def test_a_few_sayings_are_found_however_many_facts_are_nearer(doors: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    door = doors()
    tell(door, *FACTS, CLOSED)
    monkeypatch.setattr(sayings, "NEIGHBOURS", 4)
    assert [one.fact for one in door.recall(BANK).since] == [CLOSED]


def test_newer_sayings_come_first_and_two_at_most(doors: Doors) -> None:
    door = doors()
    later = ("fineco raised its fees, as of july", "no more free transfers at fineco", CLOSED)
    tell(door, *FACTS, *later)
    assert [one.fact for one in door.recall(BANK).since] == [CLOSED, later[1]]


@pytest.mark.parametrize(
    "said",
    [
        "I might close fineco now, who knows?",
        "if fineco closed now, I'd go to bbva",
        "Is fineco closed now?",
        "My neighbour closed his account at fineco.",
        "I was at fineco with Ada.",  # nothing changed
        "everything smells of paint now",  # about nothing that is known
    ],
)
def test_what_speaks_of_no_change_or_of_something_else_is_not_told(doors: Doors, said: str) -> None:
    door = doors()
    tell(door, *FACTS, said)
    answer = door.recall(BANK)
    assert (answer.answer_text, answer.since) == ("User banks with Fineco", ())


def test_what_was_said_before_the_fact_or_by_somebody_else_is_not_told(doors: Doors) -> None:
    door = doors()
    tell(door, CLOSED)
    tell(door, *FACTS, after=10)
    tell(door, CLOSED, role="assistant", after=20)
    tell(doors("eve"), CLOSED, after=20)
    assert door.recall(BANK).since == ()


def test_a_fact_that_is_told_again_has_nothing_said_since(doors: Doors) -> None:
    door = doors()
    tell(door, *FACTS, CLOSED)
    assert door.recall(BANK).since
    tell(door, FACTS[0], after=30)
    assert door.recall(BANK).since == ()


def test_a_saying_that_changed_another_memory_has_said_what_it_is_about(doors: Doors) -> None:
    door = doors()
    said = "I live in Oslo now, no longer in Rome."
    tell(door, "My sister lives in Rome.", said)
    assert [one.fact for one in door.recall("Where does my sister live?").since] == [said]
    other = doors("eve")
    tell(other, "My sister lives in Rome.", "I live in Rome.", said)
    home, sister = other.recall("Where do I live?"), other.recall("Where does my sister live?")
    assert "Oslo" in home.answer_text
    assert "Rome" in sister.answer_text
    assert (home.since, sister.since) == ((), ())


def test_of_the_past_and_of_a_time_nothing_is_said_since(doors: Doors) -> None:
    door = doors()
    tell(door, *FACTS, CLOSED)
    assert door.recall(BANK).since
    for answer in (
        door.recall(BANK, as_of=BEGIN + timedelta(days=30)),
        door.recall("Which bank did I use in January 2025?"),
    ):
        assert "Fineco" in answer.answer_text
        assert answer.since == ()


def test_what_is_erased_or_kept_out_by_a_filter_is_not_told(doors: Doors) -> None:
    door = doors()
    *_, last = tell(door, *FACTS, CLOSED)
    assert door.recall(BANK).since
    assert door.recall(BANK).since
    answer = door.recall(BANK, filter=Filter(none_of=[Filter(categories=["verbatim"])]))
    assert (answer.answer_text, answer.since) == ("User banks with Fineco", ())
    door.ops.erase(events=[last])
    answer = door.recall(BANK)
    assert (answer.answer_text, answer.since) == ("User banks with Fineco", ())


def test_without_vectors_nothing_is_looked_for(doors: Doors) -> None:
    door = doors(settings=load({}), embedder="none")
    tell(door, *FACTS, CLOSED)
    answer = door.recall("Do I bank with Fineco?")
    assert (answer.found, answer.since) == (True, ())


def test_only_what_its_own_speaker_said_is_told(doors: Doors) -> None:
    door = doors()
    for place, (name, said) in enumerate((("Ada", FACTS[0]), ("Bob", CLOSED))):
        message = {"role": "user", "name": name, "content": said, "occurred_at": BEGIN + timedelta(days=place)}
        door.remember([message], wait=30.0)
    answer = door.recall("Who banks with Fineco?")
    assert "Fineco" in answer.answer_text
    assert answer.since == ()


def test_of_three_a_filter_keeps_the_one_it_wants(doors: Doors) -> None:
    door, fees = doors(), "fineco raised its fees, as of july"
    for session, said in (("a", FACTS[0]), ("a", fees), ("b", CLOSED), ("b", "no more free transfers at fineco")):
        door.remember([{"role": "user", "content": said}], session_id=session, wait=30.0)
    kept = door.recall(BANK, filter=Filter(session_ids=["a"]))
    assert [one.fact for one in kept.since] == [fees]


def test_what_was_read_of_a_saying_and_forgotten_is_not_told_by_it(doors: Doors) -> None:
    door, said = doors(), "I've upgraded to the Fiber 500 plan."
    tell(door, "I am on the Fiber 250 plan.", "I bank with Fineco.", said)
    newer = next(one for one in door.list_memories() if one.fact == "User has upgraded to the Fiber 500 plan")
    door.forget(newer.memory_id)
    answer = door.recall("Which plan am I on?")
    assert (answer.answer_text, answer.since) == ("User is on the Fiber 250 plan", ())
    door.restore(newer.memory_id)
    assert "500" in door.recall("Which plan am I on?").answer_text


def test_of_many_what_is_nearest_is_told_and_of_those_the_newest(doors: Doors) -> None:
    door, over = doors(), "nina gave up the cello, it is drums from now on"
    tell(door, "Nina plays the cello.", "Nina is nine.", over, "Nina finally lost a tooth!", "Nina is off to camp now!")
    answer = door.recall("Which instrument does Nina play?")
    assert over in [one.fact for one in answer.since]
    other = doors("eve")
    doses = [f"blood test was bad, doc says {dose} IU of the vitamin d from now on" for dose in (2000, 3000, 4000)]
    tell(other, *FACTS, *doses)
    answer = other.recall("How much vitamin D do I take?")
    assert [one.fact for one in answer.since] == doses[:0:-1]
