"""Secrets at the door: whatever call they come by, no row holds them, and no model is shown one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from typing import Any

import calls
import pytest
from traces import hits

from engram import Engram, EngramError, InvalidInput, LimitExceeded, PolicyError, Scope, secrets
from engram.embedded import EmbeddedServer
from engram.policies import get_policy
from engram.secrets import MARK
from engram.testing import ScriptedModel

SECRET = "ghp_" + "qX3dE6gH9" * 4
SAID = f"Use {SECRET} for it"


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        yield door


def task(door: Engram) -> str:
    return door.start_task("Paint the boat").task_run_id


def memory(door: Engram, fact: str = "The keel is painted") -> str:
    made = door.add(fact).memory
    assert made is not None
    return made.memory_id


def visited(door: Engram) -> None:
    with door.session("s", metadata={"note": SAID}) as visit:
        visit.remember("I like the sea.")


DOORS: dict[str, Callable[[Engram], Any]] = {
    "remember": lambda d: d.remember(SAID),
    "remember, inside": lambda d: d.remember(
        [{"role": "user", "content": "x", "name": SECRET, "payload": {"a": [SAID]}, "metadata": {SECRET: SAID}}]
    ),
    "record_event": lambda d: d.record_event(SAID, payload={"a": SAID}, metadata={"a": SAID}),
    "record_turn": lambda d: d.record_turn(
        SAID, SAID, tool_calls=[{"name": "t", "arguments": {"a": SAID}, "result": SAID}],
        artifacts=[{"name": "a", "content": SAID}], metadata={"a": SAID},
    ),
    "record_long_input": lambda d: d.record_long_input(f"{SAID}.\n\n" * 30, title=f"On {SECRET}", metadata={"a": SAID}),
    "add": lambda d: d.add(
        SAID, main_content=SAID, metadata={"a": SAID}, topic_key=SAID, value=SAID, source=f"{SECRET}", reason=SAID,
        actor=SECRET,
    ),
    "add_many": lambda d: d.add_many([{"fact": SAID, "main_content": SAID}]),
    "revise": lambda d: d.revise(memory(d), SAID, main_content=SAID),
    "annotate": lambda d: d.annotate(memory(d), metadata={"a": SAID}, source=SECRET, reason=SAID),
    "relate": lambda d: d.relate(memory(d), memory(d, "The mast is pine"), metadata={"a": SAID}),
    "relate_batch": lambda d: d.relate_batch(
        [{"source_id": memory(d), "target_id": memory(d, "The mast is pine"), "metadata": {"a": SAID}}]
    ),
    "session": visited,
    "end_session": lambda d: (d.remember("x", session_id="s"), d.end_session("s", summary=SAID)),
    "start_task": lambda d: d.start_task(SAID, metadata={"a": SAID}),
    "update_task": lambda d: d.update_task(task(d), status="paused", outcome=SAID, metadata={"a": SAID}),
    "save_checkpoint": lambda d: d.save_checkpoint(
        task(d), SAID, completed_steps=[SAID], pending_steps=[SAID], decisions=[SAID], blockers=[SAID],
        artifacts=[SAID], state={"a": {SECRET: SAID}},
    ),
    "search": lambda d: d.search(SAID),
    "recall": lambda d: d.recall(SAID),
    "deep_search": lambda d: d.deep_search(SAID, queries=[SAID]),
    "build_context": lambda d: d.build_context(SAID),
    "feedback": lambda d: d.feedback([memory(d)], 1, note=SAID),
    "archive, with a reason": lambda d: d.ops.archive([memory(d)], reason=SAID),
    "forget, with a reason": lambda d: d.forget(memory(d), reason=SAID),
}  # fmt: skip


# Words that are kept, by the kind of the argument; calls that read have theirs replaced, and a name is a header.
WORDS: dict[str, Any] = {
    **dict.fromkeys(("fact", "content", "title", "long text", "note", "label", "key"), SAID),
    "metadata": {"a": [SAID]}, "payload": {"a": [SAID]}, "arguments": {"a": [SAID]}, "tags": [SECRET], "messages": SAID,
}  # fmt: skip
# Names of what must be there already, or of kinds that are headers: nobody keeps them as words.
NAMES = frozenset({
    "recall_trigger(action)", "relate(relation_type)", "relate_batch(items[].relation_type)", "unrelate(relation_type)",
    "get_current(topic_key)", "get_lineage(topic_key)", "ops.erase(source)", "ops.reindex_words(config)",
    "follow(consumer)", "record_turn(artifacts[].media)",
})  # fmt: skip


def test_every_text_of_every_call_that_keeps_one_is_looked_at(database_url: str, tenant: str) -> None:
    policy, passed = replace(get_policy("default"), secrets="refuse"), []
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada"), policy=policy) as door:
        for place in calls.places():
            if place.kind not in WORDS or str(place) in NAMES or "(filter" in str(place):
                continue
            try:
                attrgetter(place.call)(door)(**place.given(WORDS[place.kind]))
            except InvalidInput as refused:
                if "without secrets" in str(refused):
                    continue
            except EngramError:
                pass
            passed.append(str(place))
    assert passed == []


@pytest.mark.parametrize("call", sorted(DOORS))
def test_no_row_holds_a_secret_whatever_call_it_came_by(server: EmbeddedServer, ada: Engram, call: str) -> None:
    DOORS[call](ada)
    ada.ops.run_jobs(limit=50)
    assert hits(server, [SECRET]) == {}


def test_no_row_holds_what_is_marked_as_private_in_any_part_of_a_message(server: EmbeddedServer, ada: Engram) -> None:
    said = "It is <private>zqx4711</private> here, <PRIVATE>zqx4712"
    ada.remember([{"role": "user", "content": said, "payload": {"a": [{"b": said}]}, "metadata": {"a": said}}])
    tools: Any = [{"name": "t", "arguments": {"a": said}, "result": said}]
    ada.record_turn(said, said, tool_calls=tools, artifacts=[{"name": "a", "content": said}], metadata={"a": said})
    ada.ops.run_jobs(limit=50)
    assert hits(server, ["zqx471"]) == {}
    kept = [event for event in ada.list_events() if event.event_type == "tool_call"]
    assert kept[0].payload["arguments"] == {"a": "It is [private] here, [private]"}


def test_no_row_holds_what_is_marked_as_private_in_a_name(server: EmbeddedServer, ada: Engram) -> None:
    one, other = "<private>zqx4711</private>", "<private>zqx4712</private>"
    held = {one: 1, other: 2, "sea": 3}
    said = ada.remember([{"role": "user", "content": "x", "name": one, "payload": {"a": held}, "metadata": held}])
    ada.record_turn("x", "y", tool_calls=[{"name": "t", "arguments": held}])
    assert hits(server, ["zqx471"]) == {}
    event = ada.get_event(said.event_ids[0])
    assert event.actor == "[private]"
    assert event.metadata == event.payload["a"] == {"[private]": 1, "[private] 2": 2, "sea": 3}


@pytest.mark.parametrize(
    ("said", "kept"),
    [("a <private>b <private>c</private> d</private> e", "a [private] e"), ("a</private> b", "a</private> b"),
     ("<private>a</private><private>b</private>c", "[private][private]c"),
     ("a <private>b <private>c</private> d", "a [private]")],
    ids=["one within another", "none begun", "one after another", "one of two ended"],
)  # fmt: skip
def test_what_is_marked_as_private_goes_to_the_end_of_its_own_mark(ada: Engram, said: str, kept: str) -> None:
    assert ada.get_event(ada.remember(said, derive="skip").event_ids[0]).content == kept


@pytest.mark.parametrize("call", sorted(set(DOORS) - {"search", "recall", "deep_search", "build_context"}))
def test_a_policy_may_refuse_secrets_before_anything_is_written(database_url: str, tenant: str, call: str) -> None:
    policy = replace(get_policy("default"), secrets="refuse")
    with Engram(database_url, scope=Scope(tenant_id=tenant), policy=policy) as door:
        with pytest.raises(InvalidInput) as caught:
            DOORS[call](door)
        assert SECRET not in str(caught.value)


def test_a_policy_may_allow_secrets_and_name_kinds_of_its_own(database_url: str, tenant: str) -> None:
    base = get_policy("default")
    scope = Scope(tenant_id=tenant)
    with Engram(database_url, scope=scope, policy=replace(base, secrets="allow")) as door:
        assert door.get_event(door.remember(SAID).event_ids[0]).content == SAID
    with Engram(database_url, scope=scope, policy=replace(base, secret_patterns={"ticket": "BOAT-[0-9]{6}"})) as door:
        kept = door.get_event(door.remember("See BOAT-123456").event_ids[0]).content
        assert kept == "See [secret:ticket:00000000]"
    for wrong in ({"secrets": "hide"}, {"secret_patterns": {"Big": "a"}}, {"secret_patterns": {"a": "(a+)+"}},
                  {"secret_patterns": {"a": "a*"}}, {"secret_patterns": "a"}):  # fmt: skip
        with pytest.raises(PolicyError):
            replace(base, **wrong)


def test_whoever_writes_is_told_that_something_was_replaced(ada: Engram) -> None:
    said = ada.remember(SAID)
    assert said.notes == ("secret replaced: github_token (1)",)
    assert ada.remember("I like the sea.").notes == ()
    assert "secret" in ada.add(f"The token is {SECRET}").hints
    report = ada.record_long_input(f"{SAID}.\n\n" * 3)
    assert report.notes[0] == "secret replaced: github_token (3)"
    event = ada.get_event(report.chunks[0].event_id)
    assert event.content is not None
    assert event.content[: report.chunks[0].char_end] == report.chunks[0].text, "spans count what is kept"
    assert MARK.search(event.content)


HUGE = "harbour " * 100_000
OVER: dict[str, Callable[[Engram], Any]] = {
    "a fact": lambda d: d.add(HUGE),
    "a tag": lambda d: d.add("x", tags=[HUGE]),
    "metadata": lambda d: d.add("x", metadata={"a": [HUGE] * 1_000}),
    "names": lambda d: d.add("x", metadata={f"name {n}": "x" for n in range(600)}),
    "add_many": lambda d: d.add_many([{"fact": "x", "main_content": HUGE[:190_000]}] * 100),
    "revise": lambda d: d.revise("mem-1a2b3c4d", HUGE),
    "main content": lambda d: d.revise("mem-1a2b3c4d", "x", main_content=HUGE * 2),
    "annotate": lambda d: d.annotate("mem-1a2b3c4d", metadata={"a": HUGE}),
    "relate": lambda d: d.relate("mem-1a2b3c4d", "mem-1a2b3c4e", metadata={"a": HUGE}),
    "relate_batch": lambda d: d.relate_batch(
        [{"source_id": "mem-1a2b3c4d", "target_id": "mem-1a2b3c4e", "metadata": {"a": HUGE}}]
    ),
    "remember": lambda d: d.remember([{"role": "user", "content": HUGE[:400_000]}] * 30),
    "record_turn": lambda d: d.record_turn(
        "x", tool_calls=[{"name": "t", "arguments": {}, "result": HUGE[:400_000]}] * 30
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", OVER)
def test_what_is_too_large_is_refused_before_it_is_searched(monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """A search of what is refused anyway took seconds, and of several texts that are one in memory, hours."""
    real = secrets.find

    def find(text: str, *rest: Any) -> list[secrets.Found]:
        assert len(text) < 1_000
        return real(text, *rest)

    monkeypatch.setattr(secrets, "find", find)
    with Engram("postgresql://nobody@127.0.0.1:1/none", embedder="none") as door, pytest.raises(LimitExceeded):
        OVER[call](door)


def test_a_retry_with_a_secret_is_known_as_the_same(ada: Engram) -> None:
    first = ada.remember(SAID, idempotency_key="once")
    again = ada.remember(SAID, idempotency_key="once")
    assert (again.duplicate, again.event_ids) == (True, first.event_ids)


@pytest.mark.parametrize("mode", ["redact", "refuse"])
def test_no_row_holds_a_secret_that_a_model_puts_together(
    server: EmbeddedServer, database_url: str, tenant: str, mode: Any
) -> None:
    secret = "ghp_" + "rY4eF7hK1" * 4  # of no other test: rows of those that allow secrets hold theirs
    halves = f"The token begins with {secret[:12]} and goes on with {secret[12:]}, says Ada."
    fact = {"turn": 1, "fact": f"The token is {secret}", "quote": "says Ada", "value": secret}
    model = ScriptedModel({"facts": [fact]})
    policy = replace(get_policy("default"), secrets=mode)
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada"), llm=model, policy=policy) as door:
        door.remember(halves, derive="llm", wait=True)
        assert "The token is [secret:github_token:00000000]" in {one.fact for one in door.list_memories()}
    assert hits(server, [secret]) == {}


def test_no_model_is_shown_a_secret(database_url: str, tenant: str) -> None:
    model = ScriptedModel("{}")
    with Engram(database_url, scope=Scope(tenant_id=tenant), llm=model) as door:
        door.remember(SAID, derive="llm")
        door.ops.run_jobs(limit=50)
        with suppress(EngramError):
            door.recall(f"What is {SECRET} used for?", compose=True)
        with suppress(EngramError):
            door.deep_search(SAID)
    assert model.asked
    assert not any(SECRET in one.text for one in model.asked)
