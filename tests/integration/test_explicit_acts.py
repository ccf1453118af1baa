"""What a caller says by name or by a date counts: rows to supersede, ends, texts beside a fact; said twice, too."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest

from engram import Conflict, Edit, Engram, IdempotencyMismatch, InvalidInput, Memory, NotFound, Scope

EVERYTHING = {"statuses": ["active", "superseded", "archived"]}


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        yield door


def added(door: Engram, fact: str, **told: Any) -> Memory:
    memory = door.add(fact, **told).memory
    assert memory is not None
    return memory


def facts(door: Engram, **read: Any) -> list[str]:
    return sorted(memory.fact for memory in door.list_memories(**read))


# Said twice


def test_a_call_that_is_sent_again_gets_its_first_answer_though_what_it_named_has_changed(ada: Engram) -> None:
    kettle, oak, seat, lamp = (
        added(ada, fact).memory_id
        for fact in (
            "The kettle is red.",
            "Trees are green.",
            "Window seats are cold.",
            "Lamps burn at night.",
        )
    )
    calls: list[Callable[[], Any]] = [
        lambda: ada.add("Ships sail at dawn.", supersedes=[kettle], idempotency_key="1"),
        lambda: ada.add_many([{"fact": "Oaks fell."}, {"fact": "Bees fly.", "supersedes": [oak]}], idempotency_key="2"),
        lambda: ada.revise(seat, Edit.replace("cold", "warm"), idempotency_key="3"),
        lambda: ada.revise(lamp, "Lamps burn at noon.", idempotency_key="4"),
    ]  # fmt: skip
    first = [call() for call in calls]
    ada.forget(lamp)
    again = [call() for call in calls]
    assert ids(again) == ids(first)
    assert facts(ada) == ["Bees fly.", "Oaks fell.", "Ships sail at dawn.", "Window seats are warm."]


def ids(told: Any) -> Any:
    return [ids(one) for one in told] if isinstance(told, list | tuple) else (told.kind, told.memory.memory_id)


@pytest.mark.parametrize(
    "act",
    [
        lambda door, one, two: door.feedback([one, two], 1, idempotency_key="k"),
        lambda door, one, two: door.merge([one, two], "The kettle and the lamp are red.", idempotency_key="k"),
        lambda door, one, two: door.ops.archive([one, two], idempotency_key="k"),
        lambda door, one, two: door.ops.set_layer(one, "core", idempotency_key="k"),
    ],
)
def test_calls_under_one_key_that_are_made_at_once_get_the_same_answer(
    ada: Engram, act: Callable[[Engram, str, str], Any]
) -> None:
    one, two = (added(ada, fact).memory_id for fact in ("The kettle is red.", "The lamp is red."))
    at_once = Barrier(3)

    def call(_: int) -> Any:
        at_once.wait()
        return act(ada, one, two)

    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(call, range(3)))
    assert answers == [answers[0]] * 3
    assert len(ada.ops.list_runs().results) == 1
    assert act(ada, one, two) == answers[0]


def test_a_revision_of_what_is_forgotten_is_refused_under_any_other_key(ada: Engram) -> None:
    lamp = added(ada, "Lamps burn at night.").memory_id
    ada.forget(lamp)
    for key in ({}, {"idempotency_key": "new"}):
        with pytest.raises(Conflict, match="nothing of this lineage is current"):
            ada.revise(lamp, "Lamps burn at noon.", **key)  # type: ignore[arg-type]


# Ends that were stated


@pytest.mark.parametrize("key", [None, "lease"])
@pytest.mark.parametrize("first", [None, year(2040)])
def test_another_end_is_another_memory(ada: Engram, key: str | None, first: datetime | None) -> None:
    added(ada, "The lease runs.", valid_to=first, topic_key=key)
    told = ada.add("The lease runs.", valid_to=year(2044), topic_key=key)
    assert told.kind == ("add" if key is None else "revise")
    assert told.memory is not None
    assert told.memory.valid_to == year(2044)
    assert facts(ada, as_of=year(2043)) == ["The lease runs."] * (1 + (key is None and first is None))
    assert ada.add("The lease runs.", valid_to=year(2044), topic_key=key).kind == "reinforce"
    assert ada.add("The lease runs.", topic_key=key).kind == "reinforce"


def test_another_end_of_nearly_the_same_text_is_no_repetition(ada: Engram) -> None:
    added(ada, "The lease runs.", valid_to=year(2040))
    told = ada.add("The lease runs!", valid_to=year(2044))
    assert (told.kind, "changed:date" in told.reasons) == ("add", True)
    many = ada.add_many([{"fact": "The lease runs...", "valid_to": year(2045)}, {"fact": "Tea is green."}])
    assert [one.kind for one in many] == ["add", "add"]


def test_a_revision_keeps_the_end_unless_it_begins_behind_it(ada: Engram) -> None:
    lease = added(ada, "The lease runns.", valid_to=year(2040))
    told = ada.revise(lease.memory_id, "The lease runs.")
    assert told.memory is not None
    assert told.memory.valid_to == year(2040)
    later = ada.revise(lease.memory_id, "The lease runs on.", valid_from=year(2041))
    assert later.memory is not None
    assert later.memory.valid_to is None


def test_an_end_is_moved_both_ways(ada: Engram) -> None:
    card = added(ada, "The gym card is valid.", valid_from=year(2020)).memory_id
    for at in (year(2025), year(2024), year(2041)):
        assert ada.end_validity(card, at).valid_to == at
    assert ada.get(card).is_current
    assert facts(ada, as_of=year(2026)) == ["The gym card is valid."]


@pytest.mark.parametrize("told", [{}, {"occurred_at": year(2025)}, {"valid_from": year(2025)}])
def test_what_ends_before_it_begins_is_refused(ada: Engram, told: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="valid_to: expected a time after") as caught:
        ada.add("The offer is on.", valid_to=year(2024), **told)
    assert "valid_from" in str(caught.value)
    assert facts(ada, filter=EVERYTHING) == []
    assert added(ada, "The offer is on.", valid_from=year(2023), valid_to=year(2024)).valid_to == year(2024)


def test_of_several_facts_the_one_that_ends_before_it_begins_is_named(ada: Engram) -> None:
    with pytest.raises(InvalidInput, match=r"^items\[1\]\.valid_to: "):
        ada.add_many([{"fact": "The offer is on."}, {"fact": "The shop is open.", "valid_to": year(2024)}])
    assert facts(ada, filter=EVERYTHING) == []


def test_a_call_that_was_made_before_its_end_is_answered_as_it_was(ada: Engram) -> None:
    added(ada, "Tea is green.")
    end = datetime.now(UTC) + timedelta(seconds=5)
    first = ada.add("The offer is on.", valid_to=end, idempotency_key="offer")
    time.sleep((end - datetime.now(UTC)).total_seconds())
    with pytest.raises(InvalidInput, match="valid_to"):
        ada.add("The shop is open.", valid_to=end)
    again = ada.add("The offer is on.", valid_to=end, idempotency_key="offer")
    assert (again.event_id, again.kind) == (first.event_id, first.kind)


def test_an_end_is_not_before_a_beginning_that_was_stated(ada: Engram) -> None:
    card = added(ada, "The gym card is valid.", valid_from=year(2020)).memory_id
    for at in (year(2020), year(2019)):
        with pytest.raises(InvalidInput, match="at: expected a time after the memory's valid_from"):
            ada.end_validity(card, at)
    assert ada.get(card).valid_to is None
    told = added(ada, "The pool is open.").memory_id  # since when is not known
    assert ada.end_validity(told, year(2019)).valid_to == year(2019)


def test_the_end_of_what_was_superseded_is_not_behind_its_heirs_begin(ada: Engram) -> None:
    old = added(ada, "Office is in Bern.", topic_key="office", valid_from=year(2020)).memory_id
    added(ada, "Office is in Rome.", topic_key="office", valid_from=year(2023))
    assert ada.end_validity(old, year(2025)).valid_to == year(2023)
    assert ada.end_validity(old, year(2022)).valid_to == year(2022)


@pytest.mark.parametrize("told", [{"expires_in": "200 years"}, {"expires_in_days": 70_000}])
def test_an_expiry_beyond_all_days_is_refused_by_name(ada: Engram, told: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"expires_in(_days)?: expected (at most|a number from)"):
        ada.add("The tree grows.", **told)


# Rows that are named


def test_what_supersedes_by_name_stands_in_its_place_whatever_it_says_of_times(ada: Engram) -> None:
    old = added(ada, "I live in Ottawa.")
    new = added(ada, "I live in Toronto.", supersedes=[old.memory_id], valid_from=year(2024))
    assert facts(ada) == ["I live in Toronto."]
    assert [memory.fact for memory in ada.recall_critical()] == ["I live in Toronto."]
    assert ada.get(old.memory_id).superseded_by == new.memory_id
    assert ada.get(new.memory_id).superseded_by is None
    assert facts(ada, as_of=year(2025)) == ["I live in Toronto."]
    for _ in range(2):  # and stays there when its lineage is put into order anew
        ada.add("I live in Toronto.")
        assert facts(ada) == ["I live in Toronto."]
    history = [one for one in ada.get_history(memory_id=old.memory_id) if one.memory.memory_id == old.memory_id]
    assert [entry.entry for entry in history] == ["superseded", "added"]
    ada.add("I live in Montreal.")
    assert facts(ada) == ["I live in Montreal."]


def test_of_many_who_supersede_a_row_at_once_one_does(ada: Engram) -> None:
    texts = ("Ships sail at dawn.", "Bees fly in May.", "Ink is blue as the sea.")
    for turn in range(4):
        old = added(ada, f"The kettle of kitchen {turn} is red.").memory_id

        def supersede(fact: str, old: str = old, turn: int = turn) -> bool:
            try:
                ada.add(f"{fact} {turn}", supersedes=[old])
            except Conflict:
                return False
            return True

        with ThreadPoolExecutor(len(texts)) as pool:
            assert sum(pool.map(supersede, texts)) == 1
        assert len(ada.list_relations(memory_id=old, relation_types=["supersedes"])) == 1


def test_what_is_forgotten_meanwhile_stays_forgotten(ada: Engram) -> None:
    for turn in range(6):
        old = added(ada, f"The kettle of kitchen {turn} is red.").memory_id

        def supersede(old: str = old, turn: int = turn) -> None:
            with suppress(Conflict):
                ada.add(f"Ships sail at dawn, {turn}.", supersedes=[old])

        with ThreadPoolExecutor(2) as pool:
            waiting = pool.submit(supersede)
            forgotten = pool.submit(ada.forget, old).result()
            waiting.result()
        assert old not in forgotten or ada.get(old).status == "deleted"


def test_a_batch_supersedes_a_row_once_as_single_calls_do(ada: Engram) -> None:
    old = added(ada, "The kettle is red.").memory_id
    twice = [{"fact": "Ships sail at dawn.", "supersedes": [old]}, {"fact": "Bees fly in May.", "supersedes": [old]}]
    with pytest.raises(Conflict, match="only a current memory can be superseded"):
        ada.add_many(twice)
    sprint = added(ada, "Sprint: 42", topic_key="sprint").memory_id
    with pytest.raises(Conflict, match="only a current memory can be superseded"):
        ada.add_many([{"fact": "Sprint: 43", "topic_key": "sprint"}, {"fact": "No sprints.", "supersedes": [sprint]}])
    assert facts(ada) == ["Sprint: 42", "The kettle is red."]


def test_a_row_that_nobody_knows_is_named_with_the_place_of_its_item(ada: Engram) -> None:
    unknown = "01890000-0000-7000-8000-000000000000"
    with pytest.raises(NotFound, match=r"^items\[1\]: no memory with that id"):
        ada.add_many([{"fact": "Tea is green."}, {"fact": "Ink is blue.", "supersedes": [unknown]}])
    with pytest.raises(NotFound, match=r"^no memory with that id"):
        ada.add("Ink is blue.", supersedes=[unknown])
    assert facts(ada) == []


# Beside the fact


def test_a_revision_of_what_stands_beside_the_fact_is_one(ada: Engram) -> None:
    sky = added(ada, "The sky is blue over Rome.", main_content="old quote").memory_id
    told = ada.revise(sky, main_content="new quote")
    assert (told.kind, told.memory and told.memory.main_content) == ("revise", "new quote")
    assert ada.revise(sky, "The sky is blue over Rome.", main_content="new quote").kind == "reinforce"
    assert ada.revise(sky, "The sky is blue over Rome.").kind == "reinforce"


def test_a_begin_that_is_stated_with_the_same_text_is_kept(ada: Engram) -> None:
    gate = added(ada, "The gate opens at noon.", valid_from=year(2026)).memory_id
    told = ada.revise(gate, "The gate opens at noon.", valid_from=year(2024))
    assert told.kind == "revise"
    assert facts(ada, as_of=year(2025)) == ["The gate opens at noon."]


def test_the_same_text_of_several_days_is_a_memory_of_each_day(ada: Engram) -> None:
    days = [datetime(2026, 5, n, tzinfo=UTC) for n in (3, 5, 5, 5, 3)]
    told = [ada.add("The user went to the gym.", valid_from=day, force=True) for day in days]
    assert [one.kind for one in told] == ["add", "add", "reinforce", "reinforce", "reinforce"]


# Endorsements


def disputed(door: Engram) -> tuple[Memory, Memory]:
    """What the user said, and what a page said of the same later."""
    return (
        added(door, "The office is in Paris", topic_key="office"),
        added(door, "The office is in Rome", topic_key="office", trust="web"),
    )


def test_an_endorsed_memory_takes_the_place_of_the_head_as_of_then(ada: Engram) -> None:
    paris, rome = disputed(ada)
    before = datetime.now(UTC)
    assert ada.endorse(f"mem-{rome.memory_id[-8:]}", "user", dry_run=True).status == "active"
    assert ada.get(rome.memory_id).status == "contested"
    told = ada.endorse(rome.memory_id, "user", reason="seen", actor="mia", idempotency_key="k")
    assert (told.status, told.trust, told.fact, told.valid_from) == ("active", "user", rome.fact, rome.valid_from)
    assert ada.endorse(rome.memory_id, "user", idempotency_key="k") == told
    old = ada.get(paris.memory_id)
    assert (old.status, old.superseded_by, old.valid_to) == ("superseded", rome.memory_id, rome.valid_from)
    assert ada.recall("Where is the office?").answer_text == "The office is in Rome"
    assert facts(ada, known_at=before) == ["The office is in Paris"]
    assert ada.get(rome.memory_id, known_at=before).trust == "web"
    assert [(one.source_id, one.relation_type) for one in ada.list_relations(paris.memory_id)] == [
        (rome.memory_id, "supersedes")
    ]
    entries = [(one.entry, one.reason, one.actor) for one in ada.get_history(rome.memory_id, limit=3)]
    assert [one[0] for one in entries] == ["reordered", "superseded", "endorsed"]
    assert {one[1:] for one in entries} == {("seen", "mia")}
    event = ada.list_events(types=["memory_endorsed"])[0]
    assert (event.trust, event.role, event.content) == ("user", "user", rome.fact)
    assert ada.ops.replay().is_same


def test_who_endorses_less_than_a_memory_is_trusted_changes_nothing(ada: Engram) -> None:
    rule = added(ada, "The gate shuts at six", trust="operator")
    told = ada.endorse(rule.memory_id, "user")
    assert (told.trust, told.status) == ("operator", "active")
    assert ada.get_history(rule.memory_id).results[0].entry == "endorsed"


def test_an_endorsement_that_is_not_enough_leaves_a_memory_contested(ada: Engram) -> None:
    added(ada, "The office is in Paris", topic_key="office", trust="operator")
    rome = added(ada, "The office is in Rome", topic_key="office", trust="web")
    assert ada.endorse(rome.memory_id, "user").status == "contested"
    assert ada.endorse(rome.memory_id, "operator").status == "active"


def test_only_the_user_and_operators_endorse_and_only_what_stands_in_an_order(ada: Engram) -> None:
    _, rome = disputed(ada)
    for trust in ("agent", "web", "nobody", None, 1):
        with pytest.raises(InvalidInput, match="trust"):
            ada.endorse(rome.memory_id, trust)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        ada.endorse("01890000-0000-7000-8000-00000000a001", "user")
    ada.endorse(rome.memory_id, "user", idempotency_key="k")
    with pytest.raises(IdempotencyMismatch):
        ada.endorse(rome.memory_id, "operator", idempotency_key="k")
    ada.forget(rome.memory_id, revision_only=True)
    with pytest.raises(Conflict, match="retracted"):
        ada.endorse(rome.memory_id, "user")
    assert len(ada.list_events(types=["memory_endorsed"])) == 1
    ada.ops.erase(memories=[rome.memory_id])
    with pytest.raises(Conflict, match="erased"):
        ada.endorse(rome.memory_id, "user")


@pytest.mark.parametrize("gone", ["memory_endorsed", "memory_revised"])
def test_what_an_endorsement_superseded_stays_so_when_it_or_its_memory_is_erased(ada: Engram, gone: str) -> None:
    paris, rome = disputed(ada)
    ada.endorse(rome.memory_id, "user", reason="seen in Rome")
    assert ada.ops.erase(events=[ada.list_events(types=[gone])[0].event_id]).clean
    assert ada.get(paris.memory_id).status == "superseded"
    assert facts(ada) == (["The office is in Rome"] if gone == "memory_endorsed" else [])
    assert (ada.get(rome.memory_id).trust, ada.list_events(types=["memory_endorsed"])[0].erased) == ("user", True)
    done = ada.ops.replay()
    assert done.is_same
    ada.ops.switch_replay(done.shadow_id)
    assert (ada.get(rome.memory_id).trust, ada.get(paris.memory_id).status) == ("user", "superseded")
