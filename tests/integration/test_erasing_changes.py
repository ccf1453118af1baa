"""Erasing what was changed by its id: no event repeats it, no revision keeps what it took over, and a replay agrees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import pytest
from alone import Alone
from angles import Angles, added, facts
from quiet import quiet
from test_replay import told
from traces import hits

from engram import Edit, Engram, Filter, Reject, Scope, get_policy
from engram.operations import erasing

DIGITS: Final = str.maketrans("0123456789", "ghijklmnop")


@pytest.fixture
def word(tenant: str) -> str:
    """A word that is said nowhere else."""
    return f"qan{tenant[-8:].translate(DIGITS)}"


@pytest.fixture
def ada(alone: Alone, tenant: str) -> Iterator[Engram]:
    with Engram(alone.url(), scope=Scope(tenant, user_id="ada"), embedder=Angles(), policy="default") as door:
        yield quiet(door)


@pytest.fixture
def worded(alone: Alone, tenant: str) -> Iterator[Engram]:
    """The same without vectors, for messages of several statements."""
    with Engram(alone.url(), scope=Scope(tenant, user_id="ada"), embedder="none") as door:
        yield quiet(door)


def said(door: Engram, place: str) -> tuple[str, str]:
    """The event of a statement about a place, and the memory that was derived of it."""
    event = door.remember(f"I live in {place.title()}.", session_id="chat").event_ids[0]
    return event, next(one.memory_id for one in door.list_memories() if one.fact.startswith("User"))


def replay_agrees(door: Engram) -> None:
    """Check that a replay comes to the same memories as are there."""
    diff = door.ops.replay()
    assert diff.live_hash == diff.shadow_hash, told(diff)


CHANGES: Final[dict[str, Callable[[Engram, str], Any]]] = {
    "forget": lambda d, one: d.forget(one),
    "retract": lambda d, one: d.forget(one, revision_only=True),
    "forget by a short id": lambda d, one: d.forget(f"mem-{one[-8:]}"),
    "restore": lambda d, one: (d.forget(one), d.restore(one)),
    "forget twice": lambda d, one: (d.forget(one), d.forget(one)),
    "restore what is there": lambda d, one: d.restore(f"mem-{one[-8:]}"),
    "annotate": lambda d, one: d.annotate(one, importance=0.9, metadata={"fact": d.get(one).fact}),
    "reinforce": lambda d, one: d.reinforce(one),
    "end_validity": lambda d, one: d.end_validity(one),
    "endorse": lambda d, one: d.endorse(one, "operator"),
    "edit": lambda d, one: d.revise(one, Edit.append(" now")),
    "two edits": lambda d, one: (d.revise(one, Edit.append(" now")), d.revise(one, Edit.prepend("Today "))),
    "edit that changes nothing": lambda d, one: d.revise(one, Edit.replace("lives", "lives")),
    "another main_content": lambda d, one: d.revise(one, main_content="It is a long story"),
}
TARGETS: Final = ("events", "session", "memories")


@pytest.mark.parametrize(
    ("call", "kind"),
    [(call, "events") for call in CHANGES]
    + [pytest.param(call, kind, marks=() if call == "forget" else pytest.mark.slow)
       for call in CHANGES for kind in TARGETS[1:]],
)  # fmt: skip
def test_no_change_by_id_repeats_what_was_erased(alone: Alone, ada: Engram, word: str, call: str, kind: str) -> None:
    event, one = said(ada, word)
    boat = added(ada, "User owns a red boat")
    CHANGES[call](ada, one)
    target = {"events": {"events": [event]}, "session": {"session": "chat"}, "memories": {"memories": [one]}}[kind]
    report = ada.ops.erase(**target)  # type: ignore[arg-type]
    assert (report.remaining, report.clean) == ({}, True)
    assert hits(alone, [word]) == {}
    assert facts(ada) == {"User owns a red boat"}
    assert ada.get(boat).is_current
    assert ada.ops.verify_ledger().ok
    replay_agrees(ada)


def test_a_revision_in_full_stays_and_so_does_its_forgetting(alone: Alone, ada: Engram, word: str) -> None:
    event, one = said(ada, word)
    rome = ada.revise(one, "User lives in Rome").memory
    assert rome is not None
    ada.forget(one)
    assert ada.ops.erase(events=[event]).clean
    assert hits(alone, [word]) == {}
    assert ada.get(rome.memory_id).status_reason == "forgotten"
    replay_agrees(ada)
    assert ada.restore(rome.memory_id).fact == "User lives in Rome"
    replay_agrees(ada)


@pytest.mark.parametrize("target", ["events", "memories", "session"])
@pytest.mark.parametrize("second", ["I moved to Rome.", "I live in Rome.", "I no longer live in {}."])
def test_a_message_that_revised_what_is_erased_stays(
    alone: Alone, worded: Engram, word: str, target: str, second: str
) -> None:
    """With it went whatever else was said in it: it has no request, and was taken for an edit of the erased text."""
    event, one = said(worded, word)
    message: Any = {"role": "user", "content": second.format(word.title()), "payload": {"request": "of hers"}}
    also: Any = {"role": "user", "content": "I like opera."}
    later = worded.remember([message, also], session_id="later", wait=True)
    assert worded.get(one).status == "superseded"
    head = worded.get_current(one).fact
    named: dict[str, Any] = {"events": [event], "memories": [one], "session": "chat"}
    report = worded.ops.erase(**{target: named[target]})
    assert report.clean
    assert report.erased["events"] == 1
    assert worded.get(one).status_reason == "erased"
    if "{" not in second:
        assert hits(alone, [word]) == {}
    assert [worded.get_event(event_id).erased for event_id in later.event_ids] == [False, False]
    assert facts(worded) >= {head, "User likes opera"}
    replay_agrees(worded)
    assert worded.ops.verify_ledger().ok


def test_a_fact_that_took_the_place_of_what_is_erased_by_its_key_stays_and_a_replay_agrees(worded: Engram) -> None:
    event, _ = said(worded, "oslo")
    rome = worded.add("I live in Rome.")
    assert rome.kind == "revise"
    worded.ops.erase(events=[event])
    assert "I live in Rome." in facts(worded)
    replay_agrees(worded)


def test_what_somebody_said_again_is_a_source_of_its_own(ada: Engram) -> None:
    event, one = said(ada, "oslo")
    again = ada.add("User lives in Oslo")
    assert again.kind == "reinforce"
    ada.ops.erase(events=[event])
    assert not ada.get_event(again.event_id).erased
    assert ada.get(one).status_reason == "erased"
    assert facts(ada) == {"User lives in Oslo"}


@pytest.mark.parametrize("since", [["Bern"], ["Lima", "Bern"]])
def test_what_is_derived_anew_once_the_rest_went_on_comes_back_in_its_place(ada: Engram, since: list[str]) -> None:
    """Its number among the revisions is of when it was written: a replay knows nothing of that, and compares places."""
    gone = ada.add("I live in Oslo.").memory
    assert gone is not None
    assert ada.add("I live in Oslo.").kind == "reinforce"
    for place in since:
        ada.add(f"I live in {place}.")
    ada.ops.erase(events=[gone.event_id])
    while ada.ops.run_jobs():
        continue
    places = {one.fact: one.revision for one in ada.list_memories(filter=Filter(statuses=["active", "superseded"]))}
    assert places["I live in Oslo."] == len(since) + 2
    replay_agrees(ada)


def superseded_by(door: Engram, memory_id: str) -> set[str]:
    """What a memory supersedes, as the graph tells it."""
    found = door.list_relations(memory_id, relation_types=["supersedes"])
    return {door.get(one.target_id).fact for one in found if one.source_id == memory_id}


def test_the_graph_tells_no_more_what_was_superseded_for_what_was_erased(ada: Engram) -> None:
    """A denial of what nobody has said stands beside what holds."""
    oslo = ada.add("I live in Oslo.").memory
    denied = ada.add("I don't live in Oslo.").memory
    rome = ada.add("I live in Rome.").memory
    assert oslo is not None
    assert denied is not None
    assert rome is not None
    assert superseded_by(ada, rome.memory_id) == {"I don't live in Oslo."}
    ada.ops.erase(events=[oslo.event_id])
    assert ada.get(denied.memory_id).status == "active"
    assert superseded_by(ada, rome.memory_id) == set()
    replay_agrees(ada)


def test_what_a_caller_related_stays_related_when_something_is_erased(ada: Engram) -> None:
    oslo = ada.add("I live in Oslo.").memory
    denied = ada.add("I don't live in Oslo.").memory
    rome, bern = (ada.add(f"I live in {place}.").memory for place in ("Rome", "Bern"))
    assert oslo is not None
    assert denied is not None
    assert rome is not None
    assert bern is not None
    ada.relate(bern.memory_id, denied.memory_id, "supersedes")
    ada.ops.erase(events=[oslo.event_id])
    assert superseded_by(ada, rome.memory_id) == set()
    assert superseded_by(ada, bern.memory_id) == {"I don't live in Oslo.", "I live in Rome."}
    replay_agrees(ada)


def test_an_edit_that_a_guard_refused_repeats_nothing(alone: Alone, tenant: str, word: str) -> None:
    def no_shouting(candidate: dict[str, Any]) -> dict[str, Any] | Reject:
        return Reject("no shouting") if candidate["fact"].endswith("!") else candidate

    policy = replace(get_policy("default"), guards=(no_shouting,))
    with Engram(alone.url(), scope=Scope(tenant, user_id="ada"), policy=policy) as ada:
        event, one = said(ada, word)
        refused = ada.revise(one, Edit.append("!"))
        assert refused.kind == "reject"
        assert ada.ops.erase(events=[event]).clean
        assert hits(alone, [word]) == {}


# What a revision took over -------------------------------------------------------------------------------------------

TAKEN: Final[dict[str, Callable[[str], Any]]] = {
    "tags": lambda word: [word],
    "metadata": lambda word: {"diagnosis": word},
    "source": str,
    "category": str,
    "main_content": str,
    "topic_key": str,
    "subject": str,
    "attribute": str,
    "value": str,
    "critical_slot": lambda word: f"profile:{word}",
}


@pytest.mark.parametrize("name", TAKEN)
def test_a_revision_keeps_nothing_that_it_took_over_from_what_was_erased(
    alone: Alone, ada: Engram, word: str, name: str
) -> None:
    made = ada.add("User eats rye bread", **{name: TAKEN[name](word)})
    assert made.memory is not None
    rome = ada.revise(made.memory.memory_id, "User eats white bread").memory
    last = ada.revise(made.memory.memory_id, "User eats black bread").memory
    assert rome is not None
    assert last is not None
    ada.annotate(last.memory_id, importance=0.7)
    assert hits(alone, [word])
    report = ada.ops.erase(events=[made.event_id])
    assert (report.remaining, report.clean) == ({}, True)
    assert hits(alone, [word]) == {}
    assert facts(ada) == {"User eats black bread"}
    replay_agrees(ada)


def test_what_a_revision_was_given_itself_or_a_remaining_one_says_stays(alone: Alone, ada: Engram, word: str) -> None:
    first = ada.add("User eats rye bread", tags=["food"], metadata={"by": "host"}).memory
    assert first is not None
    ada.revise(first.memory_id, "User eats white bread")
    middle = ada.get_current(first.memory_id)
    ada.annotate(middle.memory_id, tags=["food", f"{word}t"], source=f"{word}s")
    ada.revise(first.memory_id, "User eats black bread", main_content="All of it")
    last = ada.get_current(first.memory_id)
    ada.annotate(last.memory_id, category="kitchen")
    ada.ops.erase(memories=[middle.memory_id])
    assert hits(alone, [word]) == {}
    left = ada.get(last.memory_id)
    assert (left.tags, left.metadata, left.source) == (("food",), {"by": "host"}, None)
    assert (left.main_content, left.category, left.is_current) == ("All of it", "kitchen", True)
    assert ada.get(first.memory_id).status == "superseded"


def test_what_follows_from_a_revisions_own_text_stays(ada: Engram, word: str) -> None:
    event, one = said(ada, word)
    before = ada.get(one)
    assert before.conflict_key is not None
    ada.revise(one, "User lives in Rome")
    ada.ops.erase(events=[event])
    rome = ada.get_current(one)
    assert (rome.fact, rome.conflict_key, rome.critical_slot) == (
        "User lives in Rome", before.conflict_key, before.critical_slot,
    )  # fmt: skip
    ada.remember("I live in Oslo.")
    assert "User lives in Rome" not in facts(ada)


def test_erasing_an_annotation_takes_it_from_later_revisions_too(alone: Alone, ada: Engram, word: str) -> None:
    first = added(ada, "User eats rye bread", tags=["food"])
    ada.annotate(first, tags=["food", word], metadata={"by": word})
    [noted] = ada.list_events(types=["memory_annotated"])
    ada.revise(first, "User eats white bread")
    assert ada.ops.erase(events=[noted.event_id]).clean
    assert hits(alone, [word]) == {}
    assert (ada.get_current(first).tags, ada.get_current(first).metadata) == (("food",), {})
    replay_agrees(ada)


@pytest.mark.parametrize("change", ["User lives by the sea", Edit.append(" indeed")], ids=["in full", "edit"])
def test_a_revision_of_what_is_kept_word_for_word_goes_with_it(
    alone: Alone, ada: Engram, word: str, change: str | Edit
) -> None:
    event, _ = said(ada, word)
    kept = next(one for one in ada.list_memories() if one.category == "verbatim")
    ada.annotate(kept.memory_id, tags=[word])
    ada.revise(kept.memory_id, change)
    assert ada.ops.erase(events=[event]).clean
    assert hits(alone, [word]) == {}
    assert ada.list_memories().results == ()
    replay_agrees(ada)


def test_what_the_life_cycle_did_with_taken_over_words_goes(alone: Alone, ada: Engram, word: str) -> None:
    made = ada.add("User eats rye bread", source=f"{word}s", tags=[f"{word}t"])
    assert made.memory is not None
    heir = ada.revise(made.memory.memory_id, "User eats white bread").memory
    assert heir is not None
    ada.annotate(heir.memory_id, source="another")
    noted = ada.list_events(types=["memory_annotated"], limit=1)[0].event_id
    ada.ops.undo(noted)
    assert ada.get(heir.memory_id).source == f"{word}s"
    ada.merge([heir.memory_id, added(ada, "User eats jam")], "User eats white bread and jam")
    report = ada.ops.erase(events=[made.event_id])
    assert (report.remaining, report.clean) == ({}, True)
    assert hits(alone, [word]) == {}
    assert facts(ada) == {"User eats white bread", "User eats jam"}
    replay_agrees(ada)


def test_erasing_again_takes_what_an_older_release_left(
    alone: Alone, ada: Engram, word: str, monkeypatch: pytest.MonkeyPatch, tenant: str
) -> None:
    event, one = said(ada, word)
    ada.annotate(one, importance=0.9)
    ada.revise(one, Edit.append(" now"))
    ada.forget(one)
    ada.restore(one)
    monkeypatch.setattr(erasing, "_repeats", lambda event, ties: False)
    report = ada.ops.erase(events=[event])
    assert (report.clean, report.remaining) == (False, {"changes": 4}), "the second look counts them"
    monkeypatch.undo()
    assert hits(alone, [word])
    assert ada.ops.erase(events=[event]).clean
    assert hits(alone, [word]) == {}
