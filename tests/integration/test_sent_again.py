"""What is sent again under its key: the first answer, a mismatch, or that it was erased; never a second effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engram import Conflict, Engram, IdempotencyMismatch, Memory, NotFound, Scope, WriteDecision
from engram.operations.arguments import Candidate


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        yield door


def added(door: Engram, fact: str, **told: Any) -> Memory:
    memory = door.add(fact, force=True, **told).memory
    assert memory is not None
    return memory


def place(decision: WriteDecision) -> str:
    assert decision.memory is not None
    return decision.memory.memory_id


# What was erased since


def test_an_add_of_what_was_erased_since_is_answered_as_erased_and_adds_nothing(ada: Engram) -> None:
    first = ada.add("The kettle is red.", idempotency_key="k")
    ada.ops.erase(memories=[place(first)])
    again = ada.add("The kettle is red.", idempotency_key="k")
    assert (again.kind, again.event_id, place(again)) == ("add", first.event_id, place(first))
    assert again.erased
    assert not first.erased
    assert again.memory is not None
    assert (again.memory.fact, again.memory.status_reason) == ("", "erased")
    assert "erased" in again.explanation
    assert ada.list_memories().results == ()


def test_of_a_batch_what_was_erased_since_is_erased_and_the_rest_is_as_it_was(ada: Engram) -> None:
    items: list[Candidate] = [{"fact": "Oaks fell."}, {"fact": "Bees fly."}]
    first = ada.add_many(items, idempotency_key="k")
    ada.ops.erase(memories=[place(first[0])])
    again = ada.add_many(items, idempotency_key="k")
    assert [one.erased for one in again] == [True, False]
    assert [one.event_id for one in again] == [one.event_id for one in first]
    assert again[1].memory == first[1].memory
    with pytest.raises(IdempotencyMismatch):
        ada.add_many([items[0], {"fact": "Bees sting."}], idempotency_key="k")
    with pytest.raises(IdempotencyMismatch):
        ada.add_many(items[:1], idempotency_key="k")


def test_a_revision_that_was_erased_since_is_answered_as_erased(ada: Engram) -> None:
    roof = added(ada, "The roof is old.").memory_id
    first = ada.revise(roof, "The roof is new.", idempotency_key="k")
    ada.ops.erase(events=[str(first.event_id)])
    again = ada.revise(roof, "The roof is new.", idempotency_key="k")
    assert (again.kind, again.event_id, again.erased) == ("revise", first.event_id, True)


def test_a_repetition_whose_memory_was_erased_since_is_answered_as_erased(ada: Engram) -> None:
    first = ada.add("The sea is salty.")
    said = ada.add("The sea is salty.", idempotency_key="k")
    assert said.kind == "reinforce"
    ada.ops.erase(memories=[place(first)])
    again = ada.add("The sea is salty.", idempotency_key="k")
    assert (again.kind, again.event_id, again.memory, again.erased) == ("reinforce", said.event_id, None, True)


def test_the_key_of_another_kind_of_call_is_refused_also_where_that_was_erased(ada: Engram) -> None:
    said = ada.remember("I like red kettles.", idempotency_key="said")
    boat = added(ada, "The boat is slow.").memory_id
    ada.annotate(boat, tags=["harbour"], idempotency_key="tagged")
    ada.ops.erase(events=list(said.event_ids))
    ada.ops.erase(memories=[boat])
    for key in ("said", "tagged"):
        with pytest.raises(IdempotencyMismatch):
            ada.add("The boat is slow.", idempotency_key=key)
    with pytest.raises(IdempotencyMismatch):
        ada.reinforce(boat, idempotency_key="tagged")
    assert ada.annotate(boat, tags=["harbour"], idempotency_key="tagged").status_reason == "erased"


def test_a_rating_and_an_end_of_a_relation_that_were_made_before_an_erasure_are_not_refused(ada: Engram) -> None:
    oak, cellar = (added(ada, fact).memory_id for fact in ("Oaks grow slowly.", "The cellar is damp."))
    ada.relate(oak, cellar, "beside", idempotency_key="r")
    ada.unrelate(oak, cellar, "beside", idempotency_key="u")
    ada.feedback([cellar], 1, idempotency_key="f")
    ada.ops.erase(memories=[cellar])
    assert [one.status_reason for one in ada.feedback([cellar], 1, idempotency_key="f")] == ["erased"]
    ada.unrelate(oak, cellar, "beside", idempotency_key="u")
    with pytest.raises(NotFound, match="erased"):
        ada.relate(oak, cellar, "beside", idempotency_key="r")
    refused: list[Callable[..., Any]] = [
        lambda **key: ada.feedback([cellar], 1, **key),
        lambda **key: ada.unrelate(oak, cellar, "beside", **key),
        lambda **key: ada.relate(oak, cellar, "beside", **key),
    ]
    for call in refused:
        for key in ({}, {"idempotency_key": "new"}):
            with pytest.raises(Conflict, match="erased"):
                call(**key)
