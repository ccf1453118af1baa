"""What is sent again under its key: the first answer, a mismatch, or that it was erased; never a second effect."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from engram import Conflict, Engram, IdempotencyMismatch, Memory, NotFound, Scope, WriteDecision, ledger
from engram.embedded import EmbeddedServer
from engram.ids import new_id
from engram.operations.arguments import Candidate, Message, NewRelation
from engram.policies import get_policy


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


def test_an_event_id_stands_for_the_session_the_run_and_the_trust_too(ada: Engram) -> None:
    """In another session it was told as a duplicate, and the event was in the first one alone."""
    message: Message = {"role": "user", "content": "I sail.", "event_id": new_id()}
    other: Message = {"role": "user", "content": "I ski.", "event_id": new_id()}
    first = ada.remember(message, session_id="a")
    ada.remember("Hello.", session_id="b")
    assert ada.remember(message, session_id="a").event_ids == first.event_ids
    assert ada.remember([message, message], session_id="a").duplicate
    run = ada.start_task("Sail").task_run_id
    for told in ({"session_id": "b"}, {"task_run_id": run}, {}, {"session_id": "a", "trust": "web"}):
        for several in (message, [message, other], [other, message]):
            with pytest.raises(IdempotencyMismatch):
                ada.remember(several, **told)  # type: ignore[arg-type]
    with pytest.raises(IdempotencyMismatch):
        ada.remember({**message, "trust": "tool"}, session_id="a")
    assert {event.content for event in ada.list_events(types=["user_message"])} == {"I sail.", "Hello."}
    both = ada.remember([message, other], session_id="a")
    assert (both.duplicate, both.event_ids) == (False, (message["event_id"], other["event_id"]))


def test_a_key_of_a_long_input_stands_for_its_title_too(ada: Engram) -> None:
    text = "The harbour opens at six. Boats wait.\n\n" * 40
    told: dict[str, Any] = {"title": "Port", "derive": "skip", "metadata": {"shelf": 3}, "max_chunk_tokens": 100}
    first = ada.record_long_input(text, **told, idempotency_key="k")
    assert ada.record_long_input(text, **told, idempotency_key="k").manifest_event_id == first.manifest_event_id
    others: tuple[dict[str, Any], ...] = (
        {"title": "Ports"}, {"media": "markdown"}, {"max_chunk_tokens": 200}, {"metadata": {}}, {"trust": "web"},
    )  # fmt: skip
    for other in others:
        with pytest.raises(IdempotencyMismatch):
            ada.record_long_input(text, **(told | other), idempotency_key="k")
        again = ada.record_long_input(text, **(told | other))
        assert (again.duplicate, again.manifest_event_id) == (True, first.manifest_event_id)
    ada.ops.erase(events=[first.manifest_event_id])
    assert ada.record_long_input(text, **told, idempotency_key="k").duplicate


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


# Another call under the same key


@pytest.fixture
def held(ada: Engram) -> list[str]:
    """The ids of some memories that have nothing to do with each other."""
    facts = ("The kettle is red.", "Lamps burn at night.", "Ships sail at dawn.", "Oaks grow slowly.")
    return [added(ada, fact).memory_id for fact in facts]


OTHERS: dict[str, tuple[Callable[[Engram, list[str]], Any], Callable[[Engram, list[str]], Any]]] = {
    "archive": (
        lambda door, ids: door.ops.archive(ids[:2], idempotency_key="k"),
        lambda door, ids: door.ops.archive(ids[2:], idempotency_key="k"),
    ),
    "a layer": (
        lambda door, ids: door.ops.set_layer(ids[0], "core", idempotency_key="k"),
        lambda door, ids: door.ops.set_layer(ids[0], "buffer", idempotency_key="k"),
    ),
    "a layer that it has": (
        lambda door, ids: door.ops.set_layer(ids[0], "working", idempotency_key="k"),
        lambda door, ids: door.ops.set_layer(ids[1], "working", idempotency_key="k"),
    ),
    "the text of a merge": (
        lambda door, ids: door.merge(ids[:2], "The red kettle stands by the lamp.", idempotency_key="k"),
        lambda door, ids: door.merge(ids[:2], "The lamp stands by the red kettle.", idempotency_key="k"),
    ),
    "the order of a merge": (
        lambda door, ids: door.merge(ids[:2], "The red kettle stands by the lamp.", idempotency_key="k"),
        lambda door, ids: door.merge(ids[1::-1], "The red kettle stands by the lamp.", idempotency_key="k"),
    ),
    "the mode of a pruning": (
        lambda door, _: door.ops.prune("gentle", idempotency_key="k"),
        lambda door, _: door.ops.prune("aggressive", idempotency_key="k"),
    ),
    "a threshold": (
        lambda door, _: door.ops.merge_similar(threshold=0.99, idempotency_key="k"),
        lambda door, _: door.ops.merge_similar(threshold=0.5, idempotency_key="k"),
    ),
    "how many summaries": (
        lambda door, _: door.ops.consolidate_summaries(limit=1, idempotency_key="k"),
        lambda door, _: door.ops.consolidate_summaries(limit=2, idempotency_key="k"),
    ),
    "whether a cycle merges": (
        lambda door, _: door.ops.consolidate(idempotency_key="k"),
        lambda door, _: door.ops.consolidate(merge=True, idempotency_key="k"),
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_key_of_a_run_is_refused_for_another_one_and_taken_for_the_same(
    ada: Engram, held: list[str], name: str
) -> None:
    first, other = OTHERS[name]
    answer = first(ada, held)
    stands = ada.list_memories(limit=50).results
    for _ in range(2):
        with pytest.raises(IdempotencyMismatch):
            other(ada, held)
        assert first(ada, held) == answer
    assert ada.list_memories(limit=50).results == stands


def test_the_key_of_an_undoing_is_refused_for_that_of_something_else(ada: Engram, held: list[str]) -> None:
    one, two = (ada.ops.archive([memory_id]).run_id for memory_id in held[:2])
    ada.ops.undo(one, idempotency_key="k")
    with pytest.raises(IdempotencyMismatch):
        ada.ops.undo(two, idempotency_key="k")
    assert ada.get(held[1]).status == "archived"


def test_the_key_of_an_undo_is_its_callers_wherever_what_it_takes_back_stands(ada: Engram) -> None:
    agent, bob = ada.scoped(user_id=None), ada.scoped(user_id="bob")
    mine, one, two = (
        decision.memory.event_id  # type: ignore[union-attr]
        for decision in (ada.add("Bees sting."), agent.add("The pier is long."), agent.add("The mole is short."))
    )
    ada.ops.undo(mine, idempotency_key="k")
    with pytest.raises(IdempotencyMismatch):
        ada.ops.undo(one, idempotency_key="k")  # of another scope
    done = ada.ops.undo(one, idempotency_key="l")
    assert ada.ops.undo(one, idempotency_key="l").run_id == done.run_id
    assert len(bob.ops.undo(two, idempotency_key="l").undone) > 0  # of another caller


def test_an_undoing_is_done_once_under_its_key_though_it_was_taken_back(ada: Engram, held: list[str]) -> None:
    run = ada.ops.archive(held[:1])
    first = ada.ops.undo(run.run_id, idempotency_key="k")
    assert (first.changed, first.left) == (1, ())
    ada.ops.undo(first.run_id)
    assert ada.get(held[0]).status == "archived"
    again = ada.ops.undo(run.run_id, idempotency_key="k")
    assert (again.run_id, again.changed, again.left) == (first.run_id, 1, ())
    assert {(one.field, one.after) for one in first.undone} <= {(one.field, one.after) for one in again.undone}
    assert ada.get(held[0]).status == "archived"


def test_undoings_with_one_key_at_a_time_all_tell_what_was_taken_back(ada: Engram, held: list[str]) -> None:
    run = ada.ops.archive(held)
    ada.restore(held[0])
    ada.ops.set_layer(held[0], "core")
    with ThreadPoolExecutor(3) as pool:
        first, *others = pool.map(lambda _: ada.ops.undo(run.run_id, idempotency_key="k"), range(3))
    assert others == [first, first]
    assert (first.changed, {one.memory_id for one in first.undone}) == (len(held) - 1, set(held[1:]))
    assert all(ada.get(one).status == "active" for one in held)


def test_what_was_made_and_is_taken_back_by_another_with_the_key_was_not_left(ada: Engram) -> None:
    made = ada.add("The pump is slow.")
    with ThreadPoolExecutor(3) as pool:
        told = list(pool.map(lambda _: ada.ops.undo(made.event_id, idempotency_key="k"), range(3)))
    assert [(one.changed, one.left) for one in told] == [(1, ())] * 3
    assert ada.get(place(made)).status == "deleted"


def test_the_key_of_a_switch_is_refused_for_another_shadow_and_for_another_call(ada: Engram, held: list[str]) -> None:
    first = ada.ops.replay().shadow_id
    ada.ops.switch_replay(first, idempotency_key="k")
    ada.ops.switch_replay(first, idempotency_key="k")
    other = ada.ops.replay(derivers=["rules"]).shadow_id
    ada.add("The roof is new.", idempotency_key="added")
    for key in ("k", "added"):
        with pytest.raises(IdempotencyMismatch):
            ada.ops.switch_replay(other, idempotency_key=key)


def test_a_run_that_was_refused_leaves_its_key_for_another_try(ada: Engram, held: list[str]) -> None:
    with pytest.raises(Conflict, match="give the text"):
        ada.merge(held[:2], idempotency_key="k")
    ada.merge(held[:2], "The red kettle stands by the lamp.", idempotency_key="k")
    with pytest.raises(IdempotencyMismatch):
        ada.merge(held[:2], idempotency_key="k")


def test_a_short_id_and_the_whole_one_ask_for_the_same(ada: Engram, held: list[str]) -> None:
    run = ada.ops.archive([held[0]], idempotency_key="k")
    assert ada.ops.archive([ada.get(held[0]).short_id], idempotency_key="k") == run


def test_layers_in_another_order_are_the_same_layers(ada: Engram, held: list[str]) -> None:
    run = ada.ops.prune(layers=["buffer", "working"], idempotency_key="k")
    assert ada.ops.prune(layers=["working", "buffer"], idempotency_key="k") == run
    with pytest.raises(IdempotencyMismatch):
        ada.ops.prune(layers=["working"], idempotency_key="k")


def test_a_run_is_known_by_a_release_that_knows_more_arguments(
    ada: Engram, held: list[str], server: EmbeddedServer, tenant: str
) -> None:
    """What a caller leaves open is no part of what his key stands for: this hash stays what it is."""
    ada.ops.merge_similar(threshold=0.9, idempotency_key="k")
    with psycopg.connect(server.superuser_url.replace("+psycopg", "")) as conn:
        told = "SELECT cycle ->> 'asked' FROM engram.lifecycle_runs WHERE tenant_id = %s AND cycle ? 'asked'"
        assert conn.execute(told, (tenant,)).fetchall() == [(hashlib.sha256(b'{"threshold":0.9}').hexdigest(),)]


def test_what_was_asked_of_a_run_is_forgotten_with_what_it_was_asked_of(
    ada: Engram, held: list[str], server: EmbeddedServer, tenant: str
) -> None:
    def kept() -> list[Any]:
        with psycopg.connect(server.superuser_url.replace("+psycopg", "")) as conn:
            asked = "SELECT cycle FROM engram.lifecycle_runs WHERE tenant_id = %s AND step = 'merge_by_hand'"
            return [row[0] for row in conn.execute(asked, (tenant,)).fetchall()]

    run = ada.merge(held[:2], "The red kettle stands by the lamp.", idempotency_key="k")
    assert [list(one) for one in kept()] == [["asked"]]
    assert ada.ops.erase(memories=[held[0]]).clean
    assert kept() == [None]
    again = ada.merge(held[:2], "The lamp stands by the red kettle.", idempotency_key="k")  # who could tell them apart?
    assert again.run_id == run.run_id


# Keys of batches


def said(*contents: str) -> list[Message]:
    return [{"role": "user", "content": content} for content in contents]


def test_a_key_with_a_slash_belongs_to_its_own_call(ada: Engram) -> None:
    """Also where the key before the slash is that of a batch, whichever of them came first."""
    facts: list[Candidate] = [{"fact": "Oaks fell."}, {"fact": "Bees fly."}]
    oak, bee = (added(ada, fact).memory_id for fact in ("Ships sail.", "Lamps burn."))
    ties: list[NewRelation] = [
        {"source_id": oak, "target_id": bee, "relation_type": kind} for kind in ("beside", "above")
    ]  # fmt: skip
    calls: list[Callable[[], Any]] = [
        lambda: ada.remember("The roof is new.", idempotency_key="said/1").event_ids,
        lambda: ada.remember(said("Moss is green.", "Sand is dry."), idempotency_key="said").event_ids,
        lambda: ada.add("The mast is tall.", idempotency_key="facts/1").event_id,
        lambda: [one.event_id for one in ada.add_many(facts, idempotency_key="facts")],
        lambda: ada.relate(bee, oak, "below", idempotency_key="ties/1").relation_type,
        lambda: [one.relation_type for one in ada.relate_batch(ties, idempotency_key="ties")],
        lambda: ada.add("The keel is long.", idempotency_key="one").event_id,
        lambda: ada.add("The hull is wide.", idempotency_key="one/1").event_id,
        lambda: ada.remember("The sail is torn.", idempotency_key="two").event_ids,
        lambda: ada.remember("The rope is wet.", idempotency_key="two/1").event_ids,
    ]
    first = [call() for call in calls]
    assert [call() for call in calls] == first


def test_a_batch_whose_keys_were_made_with_a_slash_is_still_known(ada: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    facts: list[Candidate] = [{"fact": "Oaks fell."}, {"fact": "Bees fly."}]
    other: list[Candidate] = [{"fact": "Oaks fell."}, {"fact": "Bees sting."}]
    messages = said("Moss is green.", "Sand is dry.", "Clay is wet.")
    with monkeypatch.context() as before:
        before.setattr(ledger, "key_at", ledger.old_key_at)
        receipt = ada.remember(messages, idempotency_key="said")
        decided = ada.add_many(facts, idempotency_key="facts")
    again = ada.remember(messages, idempotency_key="said")
    assert (again.event_ids, again.duplicate) == (receipt.event_ids, True)
    assert [one.event_id for one in ada.add_many(facts, idempotency_key="facts")] == [one.event_id for one in decided]
    others: list[Callable[[], Any]] = [
        lambda: ada.remember(messages[:1], idempotency_key="said"),
        lambda: ada.remember(messages[:2], idempotency_key="said"),
        lambda: ada.remember([*messages, *said("Silt is fine.")], idempotency_key="said"),
        lambda: ada.remember([*messages[:2], *said("Silt is fine.")], idempotency_key="said"),
        lambda: ada.add_many(facts[:1], idempotency_key="facts"),
        lambda: ada.add_many(other, idempotency_key="facts"),
    ]
    for call in others:
        with pytest.raises(IdempotencyMismatch):
            call()


def test_two_calls_under_keys_with_a_slash_are_no_batch(ada: Engram) -> None:
    """Though they said, one by one, what the batch says."""
    facts: list[Candidate] = [{"fact": "Oaks fell."}, {"fact": "Bees fly."}]
    oak, bee = (added(ada, fact).memory_id for fact in ("Ships sail.", "Lamps burn."))
    for index, place in enumerate(("", "/1")):
        ada.remember(said("Moss is green.", "Sand is dry.")[index : index + 1], idempotency_key=f"said{place}")
        ada.add_many(facts[index : index + 1], idempotency_key=f"facts{place}")
        ada.relate(oak, bee, ("beside", "above")[index], idempotency_key=f"ties{place}")
    ties: list[NewRelation] = [
        {"source_id": oak, "target_id": bee, "relation_type": kind} for kind in ("beside", "above")
    ]  # fmt: skip
    batches: list[Callable[[], Any]] = [
        lambda: ada.remember(said("Moss is green.", "Sand is dry."), idempotency_key="said"),
        lambda: ada.add_many(facts, idempotency_key="facts"),
        lambda: ada.relate_batch(ties, idempotency_key="ties"),
    ]
    for batch in batches:
        with pytest.raises(IdempotencyMismatch):
            batch()


def test_a_caller_may_call_what_he_says_of_an_event_after_it(ada: Engram) -> None:
    """The key of a call that had none is made of an id, too: no key that a caller would think of is taken for it."""
    (event_id,) = ada.remember("I like tea.").event_ids
    first = ada.remember("He was asked what he likes.", idempotency_key=f"event:{event_id}")
    again = ada.remember("He was asked what he likes.", idempotency_key=f"event:{event_id}")
    assert (again.event_ids, first.duplicate, again.duplicate) == (first.event_ids, False, True)
    assert first.event_ids != (event_id,)


# Who says it, and where


def test_a_key_is_refused_for_another_trust_session_or_run(ada: Engram) -> None:
    oak, bee = (added(ada, fact).memory_id for fact in ("Oaks grow slowly.", "Bees fly far."))
    run = ada.start_task("Paint the keel", session_id="s").task_run_id
    here = {"trust": "agent", "session_id": "s"}
    calls: list[Callable[..., Any]] = [
        lambda **told: ada.remember("The roof is new.", idempotency_key="1", **told),
        lambda **told: ada.add("The mast is tall.", idempotency_key="2", **told),
        lambda **told: ada.revise(oak, "Oaks grow very slowly.", idempotency_key="3", **told),
        lambda **told: ada.annotate(bee, tags=["wings"], idempotency_key="4", **told),
        lambda **told: ada.relate(oak, bee, "beside", idempotency_key="5", **told),
        lambda **told: ada.start_task("Paint the deck", idempotency_key="6", **told),
        lambda **told: ada.save_checkpoint(run, "Half", idempotency_key="7", **told),
    ]  # fmt: skip
    for call in calls:
        call(**here)
        call(**here)
        call(session_id="s")  # no trust is named
        others: list[dict[str, Any]] = [{**here, "trust": "web"}, {**here, "session_id": "t"}, {"trust": "agent"}]
        for other in others:
            with pytest.raises(IdempotencyMismatch):
                call(**other)
    for call in calls[:4]:
        with pytest.raises(IdempotencyMismatch):
            call(**here, task_run_id=run)


def test_what_was_said_in_an_earlier_part_of_a_session_is_known_in_the_next(database_url: str, tenant: str) -> None:
    policy = replace(get_policy("default"), session_gap=timedelta(milliseconds=1))
    with Engram(database_url, scope=Scope(tenant), policy=policy) as door:
        talk = door.session()
        first = talk.add("The mast is tall.", idempotency_key="k")
        talk.add("The keel is long.")
        assert door.list_sessions().results[0].continues == talk.session_id
        assert talk.add("The mast is tall.", idempotency_key="k").event_id == first.event_id
