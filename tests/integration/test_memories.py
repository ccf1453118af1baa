"""Memories written and read back: decisions, lineage, history, time, forgetting, pins, and many writers at once."""

from __future__ import annotations

import pickle
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, permutations
from operator import itemgetter

import numpy as np
import pytest

from engram import (
    ALL_USERS,
    AlreadySuperseded,
    Conflict,
    Edit,
    Engram,
    Filter,
    IdempotencyMismatch,
    InvalidInput,
    NotFound,
    Scope,
)
from engram.embedding import local
from engram.operations import setup
from engram.operations.arguments import Candidate
from engram.settings import load
from engram.values import Memory, Timeline

LONG_AGO = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        yield door


def day(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


@pytest.mark.parametrize("word", ["trust", "occurred_at", "actor", "idempotency_key", "user_id", "dry_run"])
def test_what_goes_for_a_whole_batch_is_said_to_be_no_word_of_an_item(ada: Engram, word: str) -> None:
    with pytest.raises(InvalidInput, match=rf"items\[1\]\.{word}: expected given to the call, for all its items"):
        ada.add_many([{"fact": "User sails"}, {"fact": "User rows", word: None}])  # type: ignore[misc]


def test_a_long_fact_under_two_headings_is_stored_and_said_to_be_several(ada: Engram) -> None:
    parts = [f"# {name}\n\n" + f"{name} was painted green and varnished twice. " * 20 for name in ("Hull", "Mast")]
    assert ada.add("\n\n".join(parts)).hints == ("split",)
    assert ada.add(parts[0] + parts[0].replace("#", "")).hints == ()
    assert ada.add("# Keel\n\n# Rudder").hints == ()


def facts(door: Engram, **read: object) -> list[str]:
    return sorted(memory.fact for memory in door.list_memories(**read))  # type: ignore[arg-type]


# Decisions


def test_a_fact_comes_back_whole_with_its_source(ada: Engram) -> None:
    made = ada.add(
        "User's favourite editor is Helix", main_content="she said so twice", memory_type="preference",
        category="tools",
        tags=["Editor", " editor "], source="chat", metadata={"n": 1, "deep": {"x": [1.5, None]}}, priority=8,
        confidence=0.7,
    )  # fmt: skip
    memory = ada.get(made.memory.memory_id)  # type: ignore[union-attr]
    assert (made.kind, memory.fact, memory.memory_type, memory.category) == (
        "add",
        "User's favourite editor is Helix",
        "preference",
        "tools",
    )
    assert (memory.tags, memory.importance, memory.confidence, memory.source) == (("editor",), 0.8, 0.7, "chat")
    assert memory.metadata == {"n": 1, "deep": {"x": [1.5, None]}}
    assert (memory.status, memory.revision, memory.trust, memory.embedded) == ("active", 1, "user", True)
    [citation] = memory.citations
    event = ada.get_event(citation.event_id)
    assert event.content is not None
    assert event.content[citation.char_start : citation.char_end] == memory.fact
    assert ada.get(memory.short_id) == memory


def test_a_memory_that_was_read_is_frozen_and_as_good_as_one_made_by_its_columns(ada: Engram) -> None:
    made = ada.add("User's boat is called Heron").memory
    assert made is not None
    memory = ada.get(made.memory_id)
    assert type(memory) is Memory
    assert memory == replace(memory) == pickle.loads(pickle.dumps(memory))
    assert (repr(memory), memory.to_dict()) == (repr(replace(memory)), replace(memory).to_dict())
    with pytest.raises(FrozenInstanceError):
        memory.fact = "User's boat is called Crane"  # type: ignore[misc]


def test_the_same_fact_again_reinforces(ada: Engram) -> None:
    first = ada.add("User likes  green TEA", tags=["a"])
    second = ada.add("user likes green tea", tags=["b"])
    assert second.kind == "reinforce"
    assert second.memory is not None
    assert second.memory.memory_id == first.memory.memory_id  # type: ignore[union-attr]
    assert (second.memory.activity.repetition_count, second.memory.activity.access_count) == (1, 0)
    assert second.memory.tags == ("a", "b")
    assert len(second.memory.citations) == 2


def test_a_topic_key_is_an_upsert_that_keeps_history(ada: Engram) -> None:
    ada.add("Current sprint: 42", topic_key="Current-Sprint")
    ada.add("Current sprint: 43", topic_key="current-sprint")
    line = ada.get_lineage(topic_key="CURRENT-SPRINT")
    assert [(m.fact, m.revision, m.status) for m in line.revisions] == [
        ("Current sprint: 43", 2, "active"), ("Current sprint: 42", 1, "superseded"),
    ]  # fmt: skip
    assert line.revisions[1].superseded_by == line.revisions[0].memory_id
    assert line.revisions[1].valid_to == line.revisions[0].valid_from
    assert ada.get_current(topic_key="current-sprint").fact == "Current sprint: 43"


def test_a_to_b_to_a_makes_three_revisions(ada: Engram) -> None:
    for city in ("Ottawa", "Toronto", "Ottawa"):
        last = ada.add(f"User lives in {city}")
    line = ada.get_lineage(last.memory.memory_id)  # type: ignore[union-attr]
    assert [(m.fact[-7:].strip(), m.revision, m.status) for m in line.revisions] == [
        ("Ottawa", 3, "active"), ("Toronto", 2, "superseded"), ("Ottawa", 1, "superseded"),
    ]  # fmt: skip


def test_a_changed_value_without_a_key_is_stored_and_noted_as_a_contradiction(ada: Engram) -> None:
    first = ada.add("The team's monthly cloud budget is $500")
    second = ada.add("The team's monthly cloud budget is $700")
    assert (second.kind, "value_changed" in second.reasons) == ("add", True)
    assert facts(ada) == ["The team's monthly cloud budget is $500", "The team's monthly cloud budget is $700"]
    assert second.nearest[0].memory_id == first.memory.memory_id  # type: ignore[union-attr]
    assert "quantity" in second.nearest[0].changed


@pytest.mark.parametrize(("turns", "compared"), [(0, 8), (12, 8), (20, 8), (40, 8), (60, 4), (64, 0)])
def test_a_fact_is_compared_with_the_facts_among_its_64_nearest_rows(ada: Engram, turns: int, compared: int) -> None:
    said = "The greenhouse in Bergen is heated with wood"
    heard = [f"{said}, he said {n} times" for n in range(turns)]
    known = [f"Plant {n} of the nursery wants water on Fridays" for n in range(10)]
    vectors = local.load().embed([said, *known, *heard])
    cosines = vectors[1:] @ vectors[0] / np.linalg.norm(vectors[1:], axis=1)
    assert cosines[:10].max() < cosines[10:].min(initial=1.0)
    if heard:
        ada.add_many([{"fact": fact, "category": "verbatim"} for fact in heard])
    kept = ada.add_many([{"fact": fact, "force": True} for fact in known])
    near = sorted(zip(cosines[:10].tolist(), kept, strict=True), key=lambda pair: -pair[0])
    decision = ada.add(said, dry_run=True)
    assert [one.memory_id for one in decision.nearest] == [
        one.memory.memory_id for _, one in near[:compared] if one.memory
    ]


def test_a_desk_that_is_another_by_now_is_not_believed(
    ada: Engram, database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, other = "The greenhouse in Bergen is heated with wood", "The greenhouse in Bergen has a red door"
    mine = [ada.add(fact).memory for fact in ("The harbour of Bergen is deep", known)][-1]
    assert mine is not None
    with Engram(database_url, scope=Scope(tenant, user_id="grace")) as grace:
        for fact in ("The harbour of Bergen is wide", other):
            hers = grace.add(fact).memory
        assert hers is not None
        kept = [found for found in setup._LATELY.values() if any(scope.tenant_id == tenant for scope in found)]
        hints = {scope.user_id: (found, scope) for found in kept for scope in found if scope.tenant_id == tenant}
        (own, scope), (hints_of_hers, scope_of_hers) = hints["ada"], hints["grace"]
        right, wrong = own[scope], hints_of_hers[scope_of_hers]
    own[scope] = wrong
    decision = ada.add(other)
    assert (decision.kind, decision.nearest[0].memory_id) == ("add", mine.memory_id)
    assert own[scope] == right
    own[scope] = wrong
    assert ada.add(known).kind == "reinforce"
    monkeypatch.setattr(setup.Setup, "model_of", lambda *_: None)  # the tenant uses another model by now
    assert [one.cosine for one in ada.add(f"{known} and peat").nearest] == [None] * 3


@pytest.mark.parametrize("more", [{}, {"session_id": "bridges"}], ids=["alone", "in a session"])
def test_of_many_who_say_the_same_at_once_one_adds_it(ada: Engram, more: dict[str, str]) -> None:
    with ThreadPoolExecutor(4) as threads:
        for n in range(10):
            made = list(threads.map(lambda _, n=n: ada.add(f"Bridge {n} of Bergen opens at noon", **more), range(4)))
            assert sorted(one.kind for one in made) == ["add", "reinforce", "reinforce", "reinforce"]


def test_an_idempotency_key_gives_the_first_decision_again(ada: Engram) -> None:
    first = ada.add("User has two cats", idempotency_key="k1")
    again = ada.add("User has two cats", idempotency_key="k1")
    assert (again.kind, again.event_id) == ("add", first.event_id)
    assert ada.stats().events == 1
    with pytest.raises(IdempotencyMismatch):
        ada.add("User has three cats", idempotency_key="k1")


def test_a_rehearsal_writes_nothing(ada: Engram) -> None:
    decision = ada.add("User likes jazz", dry_run=True)
    assert (decision.kind, decision.dry_run) == ("add", True)
    assert (ada.stats().events, ada.stats().memories) == (0, 0)
    kept = ada.add("User likes jazz")
    assert ada.forget(kept.memory.memory_id, dry_run=True) != ()  # type: ignore[union-attr]
    assert ada.get(kept.memory.memory_id).status == "active"  # type: ignore[union-attr]


def test_a_batch_is_all_or_nothing_and_names_the_bad_item(ada: Engram) -> None:
    with pytest.raises(InvalidInput, match=r"items\[1\]\.fact"):
        ada.add_many([Candidate(fact="User likes jazz"), Candidate(fact=" ")])
    assert ada.stats().memories == 0
    made = ada.add_many(
        [Candidate(fact="User likes jazz"), Candidate(fact="user likes JAZZ"), Candidate(fact="User plays the cello")]
    )
    assert [decision.kind for decision in made] == ["add", "reinforce", "add"]


def test_an_explicit_supersede_puts_the_named_rows_away_for_good(ada: Engram) -> None:
    old = ada.add("The office is on Main Street").memory
    assert old is not None
    new = ada.add("The company moved to King Street", supersedes=[old.memory_id]).memory
    assert new is not None
    stored = ada.get(old.memory_id)
    assert (stored.status, stored.superseded_by) == ("superseded", new.memory_id)
    assert ada.explain_memory(new.memory_id).supersedes == (old.memory_id,)


def test_less_trust_cannot_supersede_by_naming_a_row(ada: Engram) -> None:
    old = ada.add("The office is on Main Street").memory
    assert old is not None
    decision = ada.add("The office is on Elm Street", supersedes=[old.memory_id], trust="web")
    assert decision.kind == "conflict"
    assert ada.get(old.memory_id).status == "active"


def test_a_less_trusted_source_is_contested_and_never_wins(ada: Engram) -> None:
    ada.add("User lives in Ottawa")
    first = ada.add("User lives in Oslo", trust="web")
    second = ada.add("User lives in Bergen", trust="web")
    line = ada.get_lineage(second.memory.memory_id)  # type: ignore[union-attr]
    assert line.head is not None
    assert line.head.fact == "User lives in Ottawa"
    assert [memory.fact for memory in line.contested] == ["User lives in Bergen"]
    assert ada.get(first.memory.memory_id).status == "superseded"  # type: ignore[union-attr]
    assert ada.recall("Where do I live?").answer_text == "User lives in Ottawa"


@pytest.mark.parametrize("together", [False, True])
def test_who_is_less_trusted_moves_nothing_by_saying_it_again_in_whatever_order(ada: Engram, together: bool) -> None:
    said = (("user", "Ottawa", 2022), ("user", "Rome", 2023), ("web", "Ottawa", 2024), ("user", "Oslo", 2026))
    for number, order in enumerate(permutations(said)):
        key = f"home {number}"
        told = [
            (
                trust,
                {"fact": f"The home is in {city}", "valid_from": datetime(year, 1, 1, tzinfo=UTC), "topic_key": key},
            )
            for trust, city, year in order
        ]
        for trust, one in told if not together else ():
            ada.add(**one, trust=trust)
        for trust, several in groupby(told if together else (), key=itemgetter(0)):
            ada.add_many([one for _, one in several], trust=trust)
        for year, city in ((2022, "Ottawa"), (2023, "Rome"), (2024, "Rome"), (2025, "Rome"), (2026, "Oslo")):
            head = ada.get_lineage(topic_key=key, as_of=day(year, 1, 1)).head
            assert (head and head.fact) == f"The home is in {city}", (order, year)


def test_who_is_better_trusted_counts_from_when_he_said_it(ada: Engram) -> None:
    for trust, city, year in (("web", "Oslo", 2022), ("user", "Ottawa", 2021), ("user", "Oslo", 2024)):
        ada.add(f"The home is in {city}", topic_key="home", valid_from=day(year, 1, 1), trust=trust)
    heads = [ada.get_lineage(topic_key="home", as_of=day(year, 1, 1)).head for year in (2022, 2025)]
    assert [head and head.fact for head in heads] == ["The home is in Ottawa", "The home is in Oslo"]


def test_a_restatement_takes_no_tag_from_a_memory_that_has_its_fill(ada: Engram) -> None:
    held = tuple(f"t{n:02}" for n in range(20))
    ada.add("User likes green tea", tags=held)
    again = ada.add("User likes green tea", tags=["ab", "aa"])
    assert (again.kind, again.memory.tags, again.hints) == ("reinforce", held, ("tags_full",))
    ada.add("User likes rye bread", tags=held[:19])
    again = ada.add("User likes rye bread", tags=["ab", "t03", "aa"])
    assert again.memory.tags == ("ab", *held[:19]), "what was named first is what there is room for"
    assert again.hints == ("tags_full",)


def test_a_batch_takes_no_tag_from_a_memory_that_has_its_fill(ada: Engram) -> None:
    held = tuple(f"t{n:02}" for n in range(17))
    items = [("tea", held), ("rye", ["r"]), ("tea", ["ac", "t00"]), ("tea", ["ab", "aa", "a0"]), ("tea", ["a1"])]
    made = ada.add_many([{"fact": f"User likes {what}", "tags": tags} for what, tags in items])
    assert [one.kind for one in made] == ["add", "add", "reinforce", "reinforce", "reinforce"]
    assert made[0].memory.tags == ("aa", "ab", "ac", *held)
    assert [one.hints for one in made] == [(), (), (), ("tags_full",), ("tags_full",)]
    again = ada.add_many([{"fact": "User likes tea", "tags": ["00"]}, {"fact": "User likes rye", "tags": ["00"]}])
    assert [one.memory.tags for one in again] == [("aa", "ab", "ac", *held), ("00", "r")]


STATED = {
    "memory_type": "decision", "category": "doors", "source": "mail", "metadata": {"floor": 2}, "rating": 5,
    "confidence": 0.9, "critical_slot": "door", "expires_in_days": 0, "main_content": "It is 4711, she said.",
}  # fmt: skip


@pytest.mark.parametrize("batch", [False, True])
def test_what_is_stated_beside_a_repetition_and_not_taken_over_is_said(ada: Engram, batch: bool) -> None:
    held = ada.add("The door code is 4711", memory_type="profile", topic_key="door", expires_in="1h", rating=2).memory
    said: list[Candidate] = [
        {"fact": "the door code is  4711", "topic_key": "door", "tags": ["new"], **STATED},  # type: ignore[typeddict-item]
        {"fact": "The door code is 4711", "memory_type": "profile", "rating": 2, "expires_at": held.expires_at},
        {"fact": "The ladder is red", "category": "tools"},
        {"fact": "The ladder is red", "category": "toys"},
    ]
    made = ada.add_many(said) if batch else [ada.add(**item) for item in said]
    assert [one.kind for one in made] == ["reinforce", "reinforce", "add", "reinforce"]
    named = sorted(f"{'revise' if name == 'main_content' else 'annotate'}:{name}" for name in STATED)
    assert [sorted(one.hints) for one in made] == [named, [], [], ["annotate:category"]]
    assert made[3].explanation.endswith(" It keeps its category: annotate changes that.")
    kept = ada.get(held.memory_id)
    assert (kept.expires_at, kept.tags, kept.importance) == (held.expires_at, ("new",), held.importance)
    assert ada.explain_memory(held.memory_id).decisions[1].hints == made[0].hints


@pytest.mark.parametrize("batch", [False, True])
def test_a_repetition_says_that_it_joins_no_hub(ada: Engram, batch: bool) -> None:
    hub = ada.add("The house has three floors").memory
    said: list[Candidate] = [{"fact": "The attic is cold", "parent_id": hub.memory_id}] * 2
    first, again = ada.add_many(said) if batch else [ada.add(**item) for item in said]
    assert (first.kind, first.hints) == ("add", ())
    assert (again.kind, again.hints) == ("reinforce", ("relate:parent_id",))
    assert again.explanation.endswith(" It keeps its parent_id: relate changes that.")
    assert [one.target_id for one in ada.list_relations(first.memory.memory_id)] == [hub.memory_id]


def test_citations_given_by_the_caller_are_checked(ada: Engram) -> None:
    said = ada.remember("The launch moved to May, I think.", derive="skip")
    start = len("The launch ")
    made = ada.add("The launch is in May", sources=[(said.event_ids[0], start, start + len("moved to May"))]).memory
    assert made is not None
    assert "moved to May" in [citation.quote for citation in ada.explain_memory(made.memory_id).citations]
    with pytest.raises(InvalidInput):
        ada.add("The launch is in June", sources=[(said.event_ids[0], 0, 10_000)])
    with pytest.raises(NotFound):
        ada.add("The launch is in June", sources=[("01890000-0000-7000-8000-000000000001", 0, 3)])
    assert ada.stats().memories == 1


# Changing


def test_revise_starts_from_the_head_and_inherits(ada: Engram) -> None:
    first = ada.add("User works at Acme", memory_type="profile", tags=["job"], importance=0.9, category="work").memory
    assert first is not None
    second = ada.revise(first.memory_id, "User works at Globex").memory
    third = ada.revise(first.memory_id, "User works at Initech")
    assert second is not None
    assert third.memory is not None
    assert (third.memory.revision, third.memory.tags, third.memory.category, third.memory.importance) == (
        3,
        ("job",),
        "work",
        0.9,
    )
    assert ada.get(second.memory_id).superseded_by == third.memory.memory_id
    assert ada.revise(first.memory_id, "user works at INITECH").kind == "reinforce"
    with pytest.raises(AlreadySuperseded):
        ada.revise(first.memory_id, "User works at Hooli", expected_revision=1)


def test_an_edit_is_made_on_the_head(ada: Engram) -> None:
    first = ada.add("Groceries: milk, eggs").memory
    assert first is not None
    assert ada.revise(first.memory_id, Edit.append(", bread")).memory.fact == "Groceries: milk, eggs, bread"  # type: ignore[union-attr]
    assert ada.revise(first.memory_id, Edit.replace("eggs", "tofu")).memory.fact == "Groceries: milk, tofu, bread"  # type: ignore[union-attr]
    with pytest.raises(Conflict):
        ada.revise(first.memory_id, Edit.replace("cheese", "ham"))


def test_forgetting_a_fact_does_not_bring_an_older_value_back(ada: Engram) -> None:
    ada.add("User lives in Ottawa")
    head = ada.add("User lives in Toronto").memory
    assert head is not None
    assert len(ada.forget(head.memory_id)) == 2
    with pytest.raises(NotFound):
        ada.get_current(head.memory_id)
    assert not ada.recall("Where do I live?").found
    assert ada.restore(head.memory_id).status == "active"
    assert ada.get_current(head.memory_id).fact == "User lives in Toronto"


def test_retracting_one_revision_lets_its_predecessor_be_head(ada: Engram) -> None:
    ada.add("User lives in Ottawa")
    head = ada.add("User lives in Toronto").memory
    assert head is not None
    assert ada.forget(head.memory_id, revision_only=True) == (head.memory_id,)
    assert ada.get_current(head.memory_id).fact == "User lives in Ottawa"
    ada.restore(head.memory_id)
    assert ada.get_current(head.memory_id).fact == "User lives in Toronto"


def test_what_would_be_hidden_from_its_caller_is_not_changed(database_url: str, tenant: str) -> None:
    with (
        Engram(database_url, scope=Scope(tenant), settings=load({})) as agent,
        Engram(database_url, scope=Scope(tenant, user_id="ada"), settings=load({})) as ada,
    ):
        shared = agent.add("The harbour opens at six.").memory
        assert shared is not None
        with pytest.raises(NotFound):
            ada.annotate(shared.memory_id, private=True)
        assert not agent.get(shared.memory_id).private
        assert len(agent.list_events()) == 1


def test_annotations_change_attributes_and_nothing_else(ada: Engram) -> None:
    made = ada.add("User likes jazz").memory
    assert made is not None
    noted = ada.annotate(made.memory_id, tags=["music"], rating=5, category="taste", critical_slot="taste:music")
    assert (noted.tags, noted.importance, noted.category, noted.critical_slot) == (
        ("music",),
        1.0,
        "taste",
        "taste:music",
    )
    assert (noted.revision, noted.fact, noted.memory_id) == (1, made.fact, made.memory_id)
    assert ada.annotate(made.memory_id, critical_slot=None).critical_slot is None
    assert ada.reinforce(made.memory_id, 0.5).importance == 1.0
    with pytest.raises(InvalidInput):
        ada.annotate(made.memory_id)


def test_a_pin_is_written_like_the_slot_of_an_add_and_its_layer_goes_with_it(ada: Engram) -> None:
    made = ada.add("Answers are formal").memory
    assert made is not None
    pinned = ada.annotate(made.memory_id, critical_slot="Tone\u200b")
    same = ada.add("The office is warm", critical_slot="Tone", dry_run=True).memory
    assert same is not None
    assert (pinned.critical_slot, pinned.layer) == (same.critical_slot, same.layer) == ("tone", "core")
    assert ada.annotate(made.memory_id, tags=["style"]).layer == "core"
    unpinned = ada.annotate(made.memory_id, critical_slot=None)
    assert (unpinned.critical_slot, unpinned.layer) == (None, "working")


def test_an_expired_memory_leaves_recall_and_stays_readable(ada: Engram) -> None:
    made = ada.add("The demo password for guests is tulip", expires_at=datetime.now(UTC) + timedelta(seconds=2)).memory
    assert made is not None
    assert "expired" not in ada.get(made.memory_id).labels
    threading.Event().wait(2.05)
    assert facts(ada) == []
    assert len(ada.search("demo password guests")) == 0
    assert "expired" in ada.get(made.memory_id).labels


def test_a_memory_that_ended_is_no_longer_current(ada: Engram) -> None:
    made = ada.add("User is on parental leave").memory
    assert made is not None
    ada.end_validity(made.memory_id)
    assert facts(ada) == []
    assert "ended" in ada.get(made.memory_id).labels


# Time


def test_a_fact_told_late_takes_its_place_in_time(ada: Engram) -> None:
    for city, year in (("Paris", 2024), ("Rome", 2026), ("Lyon", 2025)):
        last = ada.add(f"User lives in {city}", valid_from=day(year, 1, 1), occurred_at=day(2026, 6, 1))
    memory_id = last.memory.memory_id  # type: ignore[union-attr]
    assert ada.get_current(memory_id).fact == "User lives in Rome"
    assert ada.get_current(memory_id, as_of=day(2025, 6, 1)).fact == "User lives in Lyon"
    assert ada.get_current(memory_id, as_of=day(2024, 6, 1)).fact == "User lives in Paris"
    with pytest.raises(NotFound):
        ada.get_current(memory_id, as_of=day(2023, 6, 1))


def test_a_restatement_moves_a_row_and_keeps_its_beginning(ada: Engram) -> None:
    ada.add("User lives in Ottawa", occurred_at=day(2024, 3, 1))
    ada.add("User lives in Ottawa", occurred_at=day(2026, 5, 1))
    late = ada.add("User lives in Lyon", valid_from=day(2025, 1, 1), occurred_at=day(2026, 6, 1)).memory
    assert late is not None
    assert ada.get_current(late.memory_id).fact == "User lives in Ottawa"
    assert ada.get_current(late.memory_id).valid_from == day(2024, 3, 1)
    assert ada.get_current(late.memory_id, as_of=day(2025, 6, 1)).fact == "User lives in Lyon"
    assert [m.fact for m in ada.list_memories(as_of=day(2024, 6, 1))] == ["User lives in Ottawa"]


def test_a_read_as_known_at_a_moment_gives_what_it_gave_then(ada: Engram) -> None:
    home = ada.add("User lives in Ottawa").memory
    tea = ada.add("User likes tea").memory
    assert home is not None
    assert tea is not None
    then = datetime.now(UTC)
    before = (facts(ada), ada.get_current(home.memory_id).fact, ada.recall("Where do I live?").answer_text)
    ada.add("User lives in Toronto")
    ada.forget(tea.memory_id)
    ada.annotate(home.memory_id, tags=["old"])
    ada.add("User likes coffee")
    assert (
        facts(ada, known_at=then),
        ada.get_current(home.memory_id, known_at=then).fact,
        ada.recall("Where do I live?", known_at=then).answer_text,
    ) == before
    assert ada.get(home.memory_id, known_at=then).tags == ()
    assert ada.find(tea.memory_id, known_at=then).status == "active"  # type: ignore[union-attr]
    assert ada.find(home.memory_id, known_at=then - timedelta(days=1)) is None


def test_history_calls_a_change_what_it_was(ada: Engram) -> None:
    home = ada.add("User lives in Ottawa").memory
    told = ada.add("User lives in Bergen", trust="web").memory
    ada.reinforce(home.memory_id, 0.2)
    ada.annotate(home.memory_id, tags=["home"])
    assert (told.revision, told.status) == (2, "contested")
    assert [one.entry for one in ada.get_history(home.memory_id)] == ["annotated", "reinforced", "contested", "added"]
    assert [one.entry for one in ada.ops.audit_log()] == ["annotated", "reinforced", "contested", "added"]
    moved = ada.add("User lives in Oslo").memory
    newest = ada.get_history(moved.memory_id).results[:3]
    assert [one.entry for one in newest] == ["superseded", "superseded", "revised"]


def test_what_was_retracted_is_superseded_by_nothing(ada: Engram) -> None:
    day = [datetime(year, 1, 1, tzinfo=UTC) for year in (2024, 2025, 2026)]
    paris, rome, lyon = (
        ada.add(f"The office is in {city}", topic_key="office", valid_from=day[at]).memory
        for city, at in (("Paris", 0), ("Rome", 2), ("Lyon", 1))
    )
    before = datetime.now(UTC)
    assert ada.explain_memory(rome.memory_id).supersedes == (lyon.memory_id,)
    ada.forget(lyon.memory_id, revision_only=True)
    assert ada.explain_memory(rome.memory_id).supersedes == (paris.memory_id,)
    assert ada.explain_memory(rome.memory_id, known_at=before).supersedes == (lyon.memory_id,)


def test_a_timeline_tells_what_became_true_when_and_marks_what_is_over(ada: Engram) -> None:
    for city, since in (("Paris", day(2024, 1, 31)), ("Rome", day(2025, 6, 2))):
        ada.add(f"The office is in {city}", topic_key="office", valid_from=since)
    code = ada.add("The guest code is 4711", valid_from=day(2025, 6, 8), expires_at=day(2025, 7, 1)).memory
    fair = ada.add("The fair opens", valid_from=day(2025, 6, 9)).memory
    lost, gone = (ada.add(f"The {what} is shut", valid_from=day(2025, 6, 3)).memory for what in ("pier", "dock"))
    assert code is not None
    assert fair is not None
    assert lost is not None
    assert gone is not None
    ada.ops.archive([code.memory_id])
    ada.forget(lost.memory_id)
    ada.ops.erase(memories=[gone.memory_id])
    weeks = ada.timeline(group_by="week")
    assert [(week.name, [(one.fact.split()[-1], one.status, one.labels) for one in week]) for week in weeks] == [
        ("2025-W24", [("opens", "active", ())]),
        ("2025-W23", [("4711", "archived", ("expired",)), ("Rome", "active", ())]),
        ("2024-W05", [("Paris", "superseded", ())]),
    ]
    assert [month.name for month in ada.timeline(group_by="month")] == ["2025-06", "2024-01"]
    assert [one.fact for one in ada.timeline(filter={"statuses": ["deleted"]}).memories] == ["The pier is shut"]
    assert [one.name for one in ada.timeline(since="2025-06-03", until=day(2025, 6, 9))] == ["2025-06-08"]
    assert [one.fact for one in ada.timeline(as_of=day(2024, 2, 1)).memories] == ["The office is in Paris"]


def test_a_timeline_about_a_memory_is_what_became_true_next_to_it(ada: Engram, database_url: str) -> None:
    made = [ada.add(f"Pile {n} was driven", valid_from=day(2025, 6, n), force=True).memory for n in range(1, 8)]
    ids = [one.memory_id for one in made if one is not None]

    def about(number: int, limit: int) -> tuple[list[int], bool, bool]:
        told = ada.timeline(around=ids[number - 1], limit=limit)
        assert told == Timeline.from_dict(told.to_dict())
        return [ids.index(one.memory_id) + 1 for one in told.memories], told.earlier, told.later

    assert about(4, 4) == ([5, 4, 3, 2], True, True)
    assert about(7, 3) == ([7, 6, 5], True, False)
    assert about(2, 5) == ([5, 4, 3, 2, 1], False, True)
    assert about(2, 50) == ([7, 6, 5, 4, 3, 2, 1], False, False)
    assert about(1, 1) == ([1], False, True)
    assert ada.timeline(limit=5).earlier
    with pytest.raises(NotFound):
        ada.scoped(user_id="bob").timeline(around=ids[0])
    with Engram(database_url, scope=ada.scope, settings=load({}, time_zone="America/New_York")) as door:
        late = door.add("The last pile was driven", occurred_at=datetime(2025, 6, 9, 2, tzinfo=UTC)).memory
        assert late is not None
        days = door.timeline(around=late.memory_id, limit=2)  # what was stated as a date stays on it
        assert [(one.name, one.start.hour) for one in days] == [("2025-06-08", 4), ("2025-06-07", 4)]


def test_what_was_decided_is_listed_newest_first_also_of_what_was_not_stored(ada: Engram) -> None:
    home = ada.add("User lives in Ottawa").memory
    ada.add("User lives in Ottawa")
    before = datetime.now(UTC)
    away = ada.add("User lives in Toronto").memory
    assert home is not None
    assert away is not None
    refused = ada.add("User lives in Oslo", supersedes=[away.memory_id], trust="web")
    assert (refused.kind, refused.memory) == ("conflict", None)
    made = ada.list_decisions()
    assert [one.kind for one in made] == ["conflict", "revise", "reinforce", "add"]
    assert made[0] == refused
    assert [(one.kind, one.memory, one.head) for one in ada.list_decisions(kind="add")] == [
        ("add", ada.get(home.memory_id), ada.get(away.memory_id))
    ]
    assert [one.head and one.head.fact for one in ada.list_decisions(known_at=before)] == ["User lives in Ottawa"] * 2
    assert [one.kind for one in ada.list_decisions(since=before)] == ["conflict", "revise"]
    page = ada.list_decisions(limit=3)
    assert [*page, *ada.list_decisions(limit=3, cursor=page.cursor)] == list(made)
    assert Counter(one.kind for one in made) == ada.stats().decisions
    ada.ops.erase(memories=[home.memory_id])
    assert "Ottawa" not in repr(ada.list_decisions())


def test_history_tells_every_change_newest_first(ada: Engram) -> None:
    first = ada.add("User lives in Ottawa", reason="asked", actor="bot").memory
    assert first is not None
    ada.add("User lives in Toronto")
    ada.forget(first.memory_id)
    ada.restore(first.memory_id)
    entries = [entry.entry for entry in ada.history(first.memory_id)]
    assert entries[-3:] == ["superseded", "revised", "added"][-3:] or entries[-1] == "added"
    assert entries[-1] == "added"
    assert {"added", "revised", "superseded", "forgotten", "restored"} <= set(entries)
    oldest = list(ada.history(first.memory_id))[-1]
    assert (oldest.reason, oldest.actor, oldest.memory.memory_id) == ("asked", "bot", first.memory_id)
    page = ada.get_history(limit=2)
    rest = ada.get_history(limit=200, cursor=page.cursor)
    assert [*page, *rest] == list(ada.get_history(limit=200))


def test_pages_continue_where_they_ended_and_belong_to_their_list(ada: Engram) -> None:
    ada.add_many([Candidate(fact=f"Note number {n} about subject {n * 37}", importance=n % 3 / 2) for n in range(25)])
    for sort in ("recent", "oldest", "importance", "accessed"):
        seen: list[str] = []
        cursor = None
        while True:
            page = ada.list_memories(sort=sort, limit=7, cursor=cursor)  # type: ignore[arg-type]
            seen.extend(memory.memory_id for memory in page)
            cursor = page.cursor
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == 25
    cursor = ada.list_memories(limit=7).cursor
    with pytest.raises(InvalidInput):
        ada.list_memories(limit=7, cursor=cursor, sort="oldest")
    with pytest.raises(InvalidInput):
        ada.scoped(user_id="bob").list_memories(limit=7, cursor=cursor)


# Pins


def test_critical_memories_come_whole_in_a_fixed_order_without_a_model(database_url: str, tenant: str) -> None:
    class Broken:
        name, dimensions, max_tokens = "broken", 8, None

        def embed(self, texts: object, kind: object) -> object:
            raise RuntimeError("down")

    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as ada:
        ada.remember("I'm allergic to peanuts.")
        ada.remember("I live in Ottawa.")
        ada.add("Never deploy on Fridays", memory_type="constraint", critical_slot="rule:friday")
        ada.add("User likes tea")
        ids = [memory.memory_id for memory in ada.recall_critical()]
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada"), embedder=Broken()) as ada:  # type: ignore[arg-type]
        critical = ada.recall_critical()
        assert [memory.memory_id for memory in critical] == ids
        assert [memory.memory_type for memory in critical] == ["profile", "profile", "constraint"]
        assert (critical.complete, critical.omitted) == (True, ())
        small = ada.recall_critical(max_tokens=critical.results[0].fact.__len__() // 4 + 1)
        assert (len(small), small.complete, len(small.omitted)) == (1, False, 2)
        with pytest.raises(InvalidInput):
            ada.recall_critical(limit=2, strict=True)


def test_the_nearest_slot_hides_the_farther_one_only_if_it_is_trusted_as_much(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant_id=tenant)) as agent:
        ada = agent.scoped(user_id="ada")
        agent.add("Replies are kept short", critical_slot="style", trust="operator")
        ada.add("Replies are long and warm", critical_slot="style")
        assert len(ada.recall_critical()) == 2
        ada.add("Replies rhyme", critical_slot="tone", trust="operator")
        agent.add("Replies are dry", critical_slot="tone", trust="operator")
        assert [m.fact for m in ada.recall_critical() if m.critical_slot == "tone"] == ["Replies rhyme"]


def test_one_slot_of_two_people_holds_what_is_said_of_each(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant_id=tenant)) as door:
        door.add("Bob lives in Rome", critical_slot="profile:city", subject="Bob")
        ann = door.add("Ann lives in Oslo", critical_slot="profile:city", subject="Ann")
        assert ann.kind == "add"
        moved = door.add("Bob lives in Bern", critical_slot="profile:city", subject="bob")
        assert (moved.kind, moved.target.fact if moved.target else "") == ("revise", "Bob lives in Rome")
        door.add("User lives in Graz", critical_slot="profile:city")
        assert {one.fact for one in door.recall_critical()} == {
            "Ann lives in Oslo", "Bob lives in Bern", "User lives in Graz",
        }  # fmt: skip


# Many writers


def test_thirty_two_writers_on_one_key_leave_one_head_and_a_whole_chain(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        door.add("User lives in City 0")

        def write(number: int) -> None:
            for turn in range(3):
                door.add(f"User lives in City {number * 100 + turn}", topic_key="home")

        with ThreadPoolExecutor(32) as pool:
            list(pool.map(write, range(1, 33)))
        line = door.get_lineage(topic_key="home")
        assert [memory.revision for memory in line.revisions] == list(range(96, 0, -1))
        assert [memory.status for memory in line.revisions].count("active") == 1
        heirs = {memory.memory_id: memory.superseded_by for memory in line.revisions}
        assert line.head is not None
        at, steps = next(m.memory_id for m in line.revisions if m.memory_id not in heirs.values()), 0
        while heirs[at] is not None:
            at, steps = str(heirs[at]), steps + 1
        assert (at, steps) == (line.head.memory_id, 95)
        assert door.ops.verify_ledger().ok


def test_thirty_two_revisions_at_once_are_numbered_without_a_gap(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        made = door.add("Counter is at zero").memory
        assert made is not None
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda n: door.revise(made.memory_id, f"Counter was set by writer {n}"), range(32)))
        line = door.get_lineage(made.memory_id)
        assert [memory.revision for memory in line.revisions] == list(range(33, 0, -1))
        assert [memory.status for memory in line.revisions].count("active") == 1


def test_two_writers_of_one_fact_make_one_memory(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        with ThreadPoolExecutor(8) as pool:
            kinds = [decision.kind for decision in pool.map(lambda _: door.add("User likes tea"), range(16))]
        assert (kinds.count("add"), kinds.count("reinforce")) == (1, 15)
        [memory] = door.list_memories()
        assert memory.activity.repetition_count == 15


def test_filters_choose_what_a_list_shows(ada: Engram) -> None:
    ada.add("User likes tea", tags=["drink"], importance=0.2)
    ada.add("User likes wine", tags=["drink", "evening"], importance=0.9)
    assert facts(ada, filter=Filter(tags_all=("drink", "evening"))) == ["User likes wine"]
    assert facts(ada, filter={"min_importance": 0.5}) == ["User likes wine"]
    assert facts(ada, filter=Filter(tags_any=())) == []


# What ended, and what was said twice


def test_a_fact_told_again_after_it_ended_is_current_again(ada: Engram) -> None:
    first = ada.add("User collects stamps").memory
    home = ada.add("User lives in Rome").memory
    assert first is not None
    assert home is not None
    ada.end_validity(first.memory_id)
    ada.end_validity(home.memory_id)
    assert facts(ada) == []
    assert ada.add("User collects stamps").kind == "add"
    again = ada.add("User lives in Rome")
    assert (again.kind, again.memory.revision if again.memory else 0) == ("revise", 2)
    assert facts(ada) == ["User collects stamps", "User lives in Rome"]


def test_a_fact_that_begins_later_is_not_current_today(ada: Engram) -> None:
    home = ada.add("User lives in Ottawa").memory
    assert home is not None
    ada.add("User lives in Oslo", valid_from=datetime.now(UTC) + timedelta(days=30))
    assert ada.get_current(home.memory_id).fact == "User lives in Ottawa"
    assert [memory.fact for memory in ada.recall_critical()] == ["User lives in Ottawa"]


def test_a_key_stands_for_the_whole_call(ada: Engram) -> None:
    ada.add_many([Candidate(fact="Alpha is ready"), Candidate(fact="Beta is late")], idempotency_key="k")
    again = ada.add_many([Candidate(fact="Alpha is ready"), Candidate(fact="Beta is late")], idempotency_key="k")
    assert [decision.kind for decision in again] == ["add", "add"]
    for items in (["Alpha is ready", "Gamma is new"], ["Alpha is ready"], ["Alpha is ready", "Beta is late", "More"]):
        with pytest.raises(IdempotencyMismatch):
            ada.add_many([Candidate(fact=fact) for fact in items], idempotency_key="k")
    said = [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}]
    ada.remember(said, idempotency_key="r", session_id="s")  # type: ignore[arg-type]
    assert ada.remember(said, idempotency_key="r", session_id="s").duplicate  # type: ignore[arg-type]
    before = ada.stats().events
    for messages, session in ((said[:1], "s"), ([*said, said[0]], "s"), (said, "other")):
        with pytest.raises(IdempotencyMismatch):
            ada.remember(messages, idempotency_key="r", session_id=session)  # type: ignore[arg-type]
    assert ada.stats().events == before


def test_forgetting_again_with_the_same_key_gives_the_first_answer(ada: Engram) -> None:
    made = ada.add("User likes jazz").memory
    assert made is not None
    first = ada.forget(made.memory_id, idempotency_key="f")
    assert first == (made.memory_id,) == ada.forget(made.memory_id, idempotency_key="f")


def test_what_forgets_and_restores_nothing_writes_nothing_down(ada: Engram) -> None:
    made = ada.add("User likes jazz").memory
    assert made is not None
    before = ada.stats().events
    assert ada.restore(made.memory_id, idempotency_key="k") == made
    assert ada.stats().events == before
    assert ada.forget(made.memory_id, idempotency_key="k") == (made.memory_id,), "the key was left free"
    assert ada.forget(made.memory_id) == ada.forget(made.memory_id, revision_only=True) == ()
    assert ada.stats().events == before + 1
    assert ada.restore(made.memory_id).status == "active"
    assert ada.stats().events == before + 2


def test_no_act_on_a_private_memory_repeats_it_to_others(ada: Engram) -> None:
    one = ada.add("User hides a violet kite", private=True).memory
    assert one is not None
    two = ada.revise(one.memory_id, "User flies a kite").memory
    assert two is not None
    ada.annotate(two.memory_id, private=False)
    ada.restore(one.memory_id)
    ada.forget(one.memory_id, revision_only=True)
    ada.forget(one.memory_id)  # of which the other one is left
    ada.restore(two.memory_id)
    seen = ada.list_events(user_id=ALL_USERS, limit=200)
    assert not [event for event in seen if "violet" in f"{event.content} {event.payload}"]
    assert "User flies a kite" in {event.content for event in seen}


def test_a_rehearsed_message_says_what_it_would_make_of_it(ada: Engram) -> None:
    ada.remember("I live in Ottawa.")
    before = ada.stats()
    rehearsed = ada.remember("I moved to Toronto. My manager is Priya.", dry_run=True)
    assert rehearsed.dry_run
    assert {(one.kind, one.dry_run) for one in rehearsed.decisions} == {("add", True), ("revise", True)}
    assert {"User moved to Toronto", "User's manager is Priya"} <= {
        one.memory.fact for one in rehearsed.decisions if one.memory is not None
    }
    after = ada.stats()
    assert (after.events, after.memories, after.jobs) == (before.events, before.memories, before.jobs)
    assert ada.recall("Where do I live?").answer_text == "User lives in Ottawa"


def test_only_a_current_memory_can_be_superseded_by_name(ada: Engram) -> None:
    old = ada.add("User lives in Ottawa").memory
    ada.add("User lives in Toronto")
    assert old is not None
    with pytest.raises(Conflict):
        ada.add("User lives in Lyon", supersedes=[old.memory_id])


def test_private_and_public_statements_do_not_swallow_each_other(ada: Engram) -> None:
    ada.add("User likes jazz", private=True)
    assert ada.add("User likes jazz").kind == "add"
    assert ada.add("User likes jazz", private=True).kind == "reinforce"
