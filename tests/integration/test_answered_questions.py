"""Replies: what answers a question is a fact of its own that rests on both, and goes with either of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from alone import Alone
from quiet import quiet
from traces import hits

from engram import Engram, Filter, Memory, Reject, Scope, get_policy
from engram.settings import load

BEGIN = datetime(2026, 3, 3, 9, tzinfo=UTC)
CANARY = "Qanaria"


def said(role: str, content: str, minute: float) -> dict[str, Any]:
    return {"role": role, "content": content, "occurred_at": BEGIN + minute * timedelta(minutes=1)}


def exchange(question: str, reply: str, *, minutes: float = 1) -> list[dict[str, Any]]:
    return [said("assistant", question, 0), said("user", reply, minutes)]


def facts(door: Engram) -> list[Memory]:
    return [one for one in door.list_memories() if one.category != "verbatim"]


def told(door: Engram) -> list[str]:
    return sorted(one.fact for one in facts(door))


def drain(door: Engram) -> None:
    while door.ops.run_jobs():
        pass


@pytest.fixture
def ada(database_url: str, tenant: str) -> Any:
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        yield door


@pytest.mark.parametrize("apart", [False, True], ids=["in one call", "the question long derived"])
def test_a_reply_is_a_fact_that_cites_the_question_and_itself(ada: Engram, apart: bool) -> None:
    messages = exchange("Welcome! Where do you live?", "Ottawa, since 2019.")
    for batch in [messages[:1], messages[1:]] if apart else [messages]:
        ada.remember(batch, wait=True)
    (fact,) = facts(ada)
    assert fact.fact == "User lives in Ottawa, since 2019"
    assert fact.trust == "user"
    quotes = [one.quote for one in ada.explain_memory(fact.memory_id).citations]
    assert quotes == ["Where do you live?", "Ottawa, since 2019."]
    answer = ada.recall("Where do I live?")
    assert answer.answer_text is not None
    assert "Ottawa" in answer.answer_text
    assert {ada.verify_citation(one) for one in fact.citations} == {"verified"}
    assert ada.ops.replay().counts["same"] == len(ada.list_memories())


def test_what_may_answer_nothing_is_read_alone(ada: Engram) -> None:
    """Too late, with something in between, in another session, or behind two questions."""
    ada.remember(exchange("Where do you live?", "Ottawa", minutes=61), wait=True)
    ada.remember(
        [said("assistant", "Where do you work?", 100), said("user", "hm", 101), said("user", "Acme", 102)], wait=True
    )
    ada.remember([said("assistant", "Who is your doctor?", 200)], session_id="a", wait=True)
    ada.remember([said("user", "Dana", 201)], session_id="b", wait=True)
    ada.remember(exchange("Do you smoke? Do you drink?", "yes"), session_id="c", wait=True)
    assert told(ada) == []


def test_a_rehearsal_tells_what_the_reply_will_say(ada: Engram) -> None:
    ada.remember(exchange("Are you vegetarian?", "")[:1], wait=True)
    reply = [said("user", "yep", 1)]
    rehearsed = ada.remember(reply, dry_run=True)
    assert [one.memory.fact for one in rehearsed.decisions if one.memory and one.memory.category != "verbatim"] == [
        "User is vegetarian"
    ]
    assert told(ada) == []
    ada.remember(reply, wait=True)
    assert told(ada) == ["User is vegetarian"]


def test_a_question_that_was_answered_is_still_found_as_it_was_said(ada: Engram) -> None:
    """A fact stands for the reply it was made of, not for the question, which may say more."""
    messages = exchange("I booked the lighthouse tour for you. Where do you live?", "Ottawa")
    ada.remember(messages[:1], derive="verbatim", wait=True)
    ada.remember(messages[1:], wait=True)
    ada.remember("I moved to Toronto.", wait=True)
    found = [one.memory.fact for one in ada.search("lighthouse tour")]
    assert found[0].startswith("I booked the lighthouse tour")


def test_a_reply_of_no_session_is_found_by_the_words_of_its_question(ada: Engram) -> None:
    question = "A replacement keyboard is in stock. Which layout do you type on?"
    ada.remember(exchange(question, "swiss german"), wait=True)
    assert ada.recall("Which keyboard layout do I need?").answer_text == "User types on swiss german"
    found = {one.memory.fact: one.matched for one in ada.search("keyboard", mode="keyword")}
    assert found == dict.fromkeys([question, "User types on swiss german"], ("keyboard",))
    ada.ops.erase(events=[one.event_id for one in ada.list_events() if one.role == "assistant"])
    assert [one.memory.fact for one in ada.search("keyboard", mode="keyword")] == []
    # The fact went with the question, what the user said did not.
    assert [one.memory.fact for one in ada.search("swiss", mode="keyword")] == ["swiss german"]
    everything = Filter(memory_types=("episodic", "semantic"))
    assert [one.memory.fact for one in ada.search("swiss", mode="keyword", filter=everything)] == ["swiss german"]


def test_a_question_of_any_script_is_one(ada: Engram) -> None:
    ada.remember(exchange("Which calendar do you use\uff1f", "Fantastical"), session_id="s", wait=True)
    for narrowed in (None, Filter(memory_types=("episodic",))):
        found = {one.memory.fact: one.terms for one in ada.search("Which calendar do I use?", filter=narrowed)}
        assert "answer" in found["Fantastical"], narrowed


@pytest.mark.parametrize(
    "messages",
    [
        [said("assistant", "Which calendar app do you use?", 0), said("user", "fantastical", 61)],
        [said("assistant", "Your calendar app is open now.", 0), said("user", "fantastical", 1)],
        [said("user", "Which calendar app do you use?", 0), said("user", "fantastical", 1)],
        [said("assistant", "Which calendar app?", 0), said("user", "hm", 1), said("user", "fantastical", 2)],
        [said("user", "fantastical", 0), said("assistant", "Which calendar app do you use?", 1)],
    ],
    ids=["too late", "no question", "the user's own", "something in between", "the other way round"],
)
def test_what_answers_no_question_has_no_words_of_others_in_no_session(
    ada: Engram, messages: list[dict[str, Any]]
) -> None:
    ada.remember(messages, wait=True)
    found = {one.memory.fact for one in ada.search("calendar", mode="keyword")}
    assert found
    assert "fantastical" not in found


def test_what_was_told_with_a_denial_answers_for_a_value(ada: Engram) -> None:
    ada.remember(exchange("Does your son still play handball?", "no he switched to fencing last year"), wait=True)
    assert ada.recall("Which sport does my son do?").answer_text == "User's son switched to fencing last year"
    assert ada.recall("Does my son play handball?").answer_text == "User's son does not play handball"


def test_what_was_asked_is_nothing_that_happened(ada: Engram) -> None:
    ada.remember(
        exchange("We'll meet derivatives soon. Have you studied calculus before?", "once, in 2009"),
        session_id="s", wait=True,
    )  # fmt: skip
    assert "2009" in ada.recall("When did I last study calculus?").answer_text
    assert "Have you studied" in ada.recall("When did you ask me about calculus?").answer_text


def test_erasing_the_question_takes_what_only_it_made_sense_of(alone: Alone, tenant: str) -> None:
    with Engram(alone.url(), scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        receipt = door.remember(exchange(f"Is {CANARY} still your manager?", "yes"), wait=True)
        door.remember(exchange("Do you eat fish?", "yes"), wait=True)
        assert told(door) == [f"{CANARY} is User's manager", "User eats fish"]
        report = door.ops.erase(events=[receipt.event_ids[0]])
        assert report.clean
        drain(door)
        assert told(door) == ["User eats fish"]
        assert door.get_event(receipt.event_ids[1]).content == "yes", "the reply was not asked to go"
        assert hits(alone, [CANARY]) == {}
        changed = door.ops.replay().changed
        assert {reason for one in changed for reason in one.reasons} <= {"importance"}, (
            "what is new beside less is newer"
        )


def test_erasing_the_reply_takes_the_fact(ada: Engram) -> None:
    receipt = ada.remember(exchange("Do you have a dog?", "yes, Momo"), wait=True)
    assert told(ada) != []
    ada.ops.erase(events=[receipt.event_ids[1]])
    drain(ada)
    assert told(ada) == []
    assert ada.get_event(receipt.event_ids[0]).content == "Do you have a dog?"


def test_what_was_said_in_full_as_well_outlives_the_question(database_url: str, tenant: str) -> None:
    scope = Scope(tenant_id=tenant, user_id="ada")
    with Engram(database_url, scope=scope) as ada:
        first = ada.remember(exchange("Are you vegetarian?", "yes"), wait=True)
        ada.remember([said("user", "I am vegetarian.", 30)], wait=True)
        (fact,) = facts(ada)
        assert len(fact.citations) == 3
        ada.ops.erase(events=[first.event_ids[0]])
        drain(ada)
        (left,) = facts(ada)
        assert left.fact == fact.fact
        assert [one.quote for one in ada.explain_memory(left.memory_id).citations] == ["I am vegetarian"]


def test_a_fact_said_in_full_first_keeps_its_place_without_the_question(ada: Engram) -> None:
    ada.remember([said("user", "I am vegetarian.", 0)], wait=True)
    again = ada.remember([said("assistant", "Are you vegetarian?", 9), said("user", "yes", 10)], wait=True)
    (fact,) = facts(ada)
    ada.ops.erase(events=[again.event_ids[0]])
    drain(ada)
    assert [one.memory_id for one in facts(ada)] == [fact.memory_id]


@pytest.mark.parametrize("kept", ["private", "refused", "failing"])
def test_words_that_a_guard_keeps_back_are_lent_to_no_reply(database_url: str, tenant: str, kept: str) -> None:
    def guard(candidate: Mapping[str, Any]) -> Mapping[str, Any] | Reject:
        if candidate["role"] != "assistant":
            return candidate
        if kept == "failing":
            raise RuntimeError("not today")
        return Reject("not that") if kept == "refused" else {**candidate, "private": True}

    policy = replace(get_policy("default"), guards=(guard,))
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada"), policy=policy) as ada:
        ada.remember(exchange(f"Is {CANARY} still your manager?", "yes"), wait=True)
        assert told(ada) == []


def test_an_exchange_survives_export_and_import(ada: Engram, database_url: str, tmp_path: Path) -> None:
    ada.remember(exchange("Where do you live?", "Ottawa"), wait=True)
    ada.ops.export(tmp_path / "file.jsonl")
    with Engram(database_url, scope=Scope(tenant_id=f"{ada.scope.tenant_id}-b", user_id="ada")) as other:
        other.ops.import_(tmp_path / "file.jsonl")
        (fact,) = facts(other)
        assert [one.quote for one in other.explain_memory(fact.memory_id).citations] == ["Where do you live?", "Ottawa"]


def test_a_question_in_the_very_batch_and_one_before_it_are_read_alike(database_url: str, tenant: str) -> None:
    """Whatever a worker takes at once, the facts are the same."""
    lines = [
        said("assistant", "Where do you live?", 0), said("user", "Ottawa", 1),
        said("assistant", "Do you have kids?", 2), said("user", "two", 3),
        said("assistant", "Do you smoke?", 4), said("user", "never", 5),
    ]  # fmt: skip
    made = []
    for size in (1, 2, 3, 6):
        with quiet(
            Engram(database_url, scope=Scope(f"{tenant}-{size}", user_id="ada"), settings=load({}, dispatch="doorbell"))
        ) as door:
            for at in range(0, len(lines), size):
                door.remember(lines[at : at + size])
                drain(door)
            made.append(told(door))
    assert made == [made[0]] * 4
    assert len(made[0]) == 3


@pytest.mark.parametrize(
    ("messages", "fact", "quotes"),
    [
        (["My sister lives in Oslo.", "She works as a nurse."], "User's sister works as a nurse",
         ["My sister lives in Oslo.", "She works as a nurse."]),
        (["My sister lives in Oslo.", "> Nice city!", "She works as a nurse."], "User's sister works as a nurse",
         ["My sister lives in Oslo.", "She works as a nurse."]),
        (["We got a cat last week.", "> How lovely!", "Her name is Pixel."], "User has a cat named Pixel",
         ["We got a cat last week.", "Her name is Pixel."]),
        (["My brother moved to Oslo.", "> Exciting! What does he do?", "chef"], "User's brother is a chef",
         ["My brother moved to Oslo.", "What does he do?", "chef"]),
    ],
    ids=["at once", "with a reply between", "a name", "asked about"],
)  # fmt: skip
def test_he_and_she_are_those_of_the_message_before(
    ada: Engram, messages: list[str], fact: str, quotes: list[str]
) -> None:
    spoken = [("assistant", one[2:]) if one.startswith("> ") else ("user", one) for one in messages]
    receipts = [ada.remember([said(*one, minute)], wait=True) for minute, one in enumerate(spoken)]
    (made,) = [one for one in facts(ada) if one.fact == fact]
    assert [one.quote for one in ada.explain_memory(made.memory_id).citations] == quotes
    assert ada.ops.replay().counts["changed"] == 0
    ada.ops.erase(events=[receipts[0].event_ids[0]])
    drain(ada)
    assert fact not in told(ada)
    assert ada.ops.replay().counts["added"] == 0


@pytest.mark.parametrize(
    "messages",
    [
        ["My sister met Ann.", "She works as a nurse."],
        ["My sister lives in Oslo.", "> Does Ann live there, too?", "No. Hm.", "She works as a nurse."],
        ["I like Oslo.", "She works as a nurse."],
    ],
    ids=["of two", "too far back", "of nobody"],
)
def test_whom_a_pronoun_stands_for_is_not_guessed(ada: Engram, messages: list[str]) -> None:
    spoken = [("assistant", one[2:]) if one.startswith("> ") else ("user", one) for one in messages]
    for minute, one in enumerate(spoken):
        ada.remember([said(*one, minute)], wait=True)
    assert not any("nurse" in one and "sister" in one for one in told(ada))


def test_what_stands_behind_something_else_is_not_the_answer(ada: Engram) -> None:
    ada.remember(exchange("Where do you live?", "")[:1], wait=True)
    ada.remember([{**said("tool", "opened the map", 0.5), "event_type": "tool_result"}], wait=True)
    ada.remember([said("user", "Ottawa", 1)], wait=True)
    assert told(ada) == []
