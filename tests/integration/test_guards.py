"""Guards of a policy: they see every candidate before it is judged, whichever road it comes by."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import pytest
from quiet import quiet

from engram import Engram, Filter, MemoryPolicy, PolicyError, Reject, Scope, Unavailable
from engram.derivation import rules
from engram.operations import echoing
from engram.policies import guards
from engram.policies.default import DEFAULT
from engram.values import Event


def no_gossip(candidate: Mapping[str, Any]) -> Any:
    if "gossip" in candidate["fact"].casefold():
        return Reject("gossip is not kept")
    return candidate


def shout(candidate: Mapping[str, Any]) -> Mapping[str, Any]:
    fact = candidate["fact"].replace("bees", "BEES")
    return {**candidate, "fact": fact, "tags": [*(candidate.get("tags") or ()), "seen"]}


def door_with(database_url: str, tenant: str, *chosen: Any, **more: Any) -> Engram:
    policy = MemoryPolicy(
        "guarded", guards=chosen, type_rules=DEFAULT.type_rules, slot_rules=DEFAULT.slot_rules, **more
    )
    door = Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder="none", policy=policy)
    quiet(door)
    return door


def test_a_refused_fact_is_kept_in_its_event_and_not_as_a_memory(database_url: str, tenant: str) -> None:
    with door_with(database_url, tenant, no_gossip) as door:
        made = door.add("Gossip says that Bo left")
        assert (made.kind, made.memory, made.reasons) == ("reject", None, ("guard", "no_gossip: gossip is not kept"))
        assert made.explanation == "Not stored: the guard no_gossip refused it: gossip is not kept."
        assert door.add("User keeps bees").kind == "add"
        assert [one.fact for one in door.list_memories()] == ["User keeps bees"]
        assert door.list_events(types=["memory_rejected"])[0].content == "Gossip says that Bo left"
        assert [one.kind for one in door.add_many([{"fact": "Gossip!"}, {"fact": "User sails"}])] == ["reject", "add"]
        dry = door.add("Gossip says more", dry_run=True)
        assert (dry.kind, dry.dry_run) == ("reject", True)


def test_a_guard_may_change_a_candidate_and_the_next_one_sees_it(database_url: str, tenant: str) -> None:
    seen: list[str] = []

    def look(candidate: Mapping[str, Any]) -> Mapping[str, Any]:
        seen.append(candidate["fact"])
        return candidate

    with door_with(database_url, tenant, shout, look) as door:
        memory = door.add("User keeps bees", tags=["own"]).memory
        assert memory is not None
        assert (memory.fact, memory.tags) == ("User keeps BEES", ("own", "seen"))
        assert set(seen) == {"User keeps BEES"}
        assert door.add("User keeps BEES").kind == "reinforce"


def test_derived_candidates_are_guarded_too_and_their_evidence(database_url: str, tenant: str) -> None:
    with door_with(database_url, tenant, no_gossip, shout) as door:
        refused = door.remember("I live in Ottawa. That is gossip about me.", wait=True).decisions
        assert {one.kind for one in refused} >= {"reject"}
        assert not [one for one in door.list_memories() if "gossip" in one.fact]
        door.remember("My name is Ada and I keep bees.", wait=True)
        facts = [one.fact for one in door.list_memories(filter=Filter(tags_any=["seen"]))]
        assert [one for one in facts if "BEES" in one]
        assert not [one for one in facts if "bees" in one]


def test_a_guard_may_keep_what_is_derived_private(database_url: str, tenant: str) -> None:
    def discreet(candidate: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**candidate, "private": "doctor" in candidate["fact"]}

    with door_with(database_url, tenant, discreet) as door:
        elsewhere = door.scoped(namespace="work")
        door.remember("My doctor is Ms. Kealoha.", wait=True)
        door.remember("My manager is Dana Reyes.", wait=True)
        assert {(one.fact, one.private) for one in door.list_memories() if "doctor" in one.fact} >= {
            ("My doctor is Ms. Kealoha.", True), ("User's doctor is Ms. Kealoha", True),
        }  # fmt: skip
        assert {one.fact for one in elsewhere.list_memories()} == {
            "My manager is Dana Reyes.", "User's manager is Dana Reyes",
        }  # fmt: skip
        assert [one.content for one in elsewhere.list_events()] == ["My manager is Dana Reyes."]
        assert door.ops.replay().is_same


def test_what_a_guard_keeps_private_lends_no_words_to_what_was_said_around_it(database_url: str, tenant: str) -> None:
    def discreet(candidate: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**candidate, "private": "doctor" in candidate["fact"]}

    talk = ("Good morning, Bo.", "My doctor is Ms. Kealoha.", "My manager is Dana Reyes.")
    for together in (True, False):
        with door_with(database_url, f"{tenant}-{together}", discreet) as door:
            for said in [talk] if together else [[one] for one in talk]:
                door.remember([{"role": "user", "content": one} for one in said], session_id="s", wait=True)
            assert "Ms. Kealoha" in repr(door.search("Kealoha", mode="keyword"))
            elsewhere = door.scoped(namespace="work")
            assert len(elsewhere.search("manager", mode="keyword")) > 0
            assert len(elsewhere.search("Kealoha", mode="keyword")) == 0


def test_a_revision_is_guarded(database_url: str, tenant: str) -> None:
    with door_with(database_url, tenant, no_gossip, shout) as door:
        memory = door.add("User rides").memory
        assert memory is not None
        assert door.revise(memory.memory_id, "User listens to gossip").kind == "reject"
        assert door.get(memory.memory_id).status == "active"
        assert door.revise(memory.memory_id, "User keeps bees").memory.fact == "User keeps BEES"  # type: ignore[union-attr]


def test_a_replay_passes_the_guards_again(database_url: str, tenant: str) -> None:
    with door_with(database_url, tenant, no_gossip, shout) as door:
        door.add("User keeps bees")
        door.add("Gossip says that Bo left")
        door.remember("I live in Ottawa.", wait=True)
        diff = door.ops.replay()
        assert (diff.added, diff.dropped, diff.changed, diff.problems) == ((), (), (), ())
        assert diff.live_hash == diff.shadow_hash


@pytest.mark.parametrize(
    "answer", [None, "text", {"tags": ["no fact"]}, {"fact": 3}, {"fact": "x", "trust": "operator"}]
)
def test_a_guard_that_gives_no_candidate_is_named(database_url: str, tenant: str, answer: Any) -> None:
    def broken(candidate: Mapping[str, Any]) -> Any:
        return answer

    with door_with(database_url, tenant, broken) as door, pytest.raises(PolicyError):
        door.add("User keeps bees")


def test_a_guard_that_raises_is_named_and_quotes_nothing(database_url: str, tenant: str) -> None:
    def broken(candidate: Mapping[str, Any]) -> Any:
        raise RuntimeError(candidate["fact"])

    with door_with(database_url, tenant, broken) as door:
        with pytest.raises(PolicyError, match="broken") as told:
            door.add("User keeps a secret")
        assert "secret" not in str(told.value)
        assert not door.list_memories().results


def test_hooks_are_logged_by_name_and_without_words(caplog: pytest.LogCaptureFixture) -> None:
    policy = MemoryPolicy("p", guards=(no_gossip, shout), keep=lambda memory: True)
    with caplog.at_level(logging.INFO, logger="engram.policies.guards"):
        guards.passed(policy, {"fact": "gossip about bees"})
        guards.passed(policy, {"fact": "about bees"})
    assert [record.getMessage() for record in caplog.records] == [
        "guard no_gossip refused a candidate", "guard shout changed a candidate",
    ]  # fmt: skip


def poisoned(candidate: Mapping[str, Any]) -> Mapping[str, Any]:
    if "wasp" in candidate["fact"]:
        raise ZeroDivisionError(candidate["fact"])
    return candidate


def parked(door: Engram) -> list[tuple[str, str, str | None]]:
    return [(job.kind, job.state, job.error_class) for job in door.ops.list_jobs() if job.state != "done"]


def test_a_message_a_guard_fails_on_is_parked_and_stops_no_other(database_url: str, tenant: str) -> None:
    with door_with(database_url, tenant, poisoned) as door:
        said = door.remember("My cat is afraid of wasps. My sister lives in Ottawa.", session_id="s", wait=True)
        after = door.remember("My manager is Dana Reyes.", session_id="s", wait=True)
        assert {one.kind for one in after.decisions} == {"add"}
        refused = [one for one in said.decisions if one.kind == "reject"]
        assert {one.reasons for one in refused} == {
            ("failed", "the hook poisoned of the policy failed (ZeroDivisionError)")
        }
        assert "poisoned" in refused[0].explanation
        assert "wasp" not in refused[0].explanation
        assert {one.fact for one in door.list_memories()} == {
            "User's sister lives in Ottawa", "My manager is Dana Reyes.", "User's manager is Dana Reyes",
        }  # fmt: skip
        dry = door.remember("Wasps, my bees. A wasp!", dry_run=True)
        assert [one.reasons[0] for one in dry.decisions] == ["failed"]

        assert parked(door) == [("rederive", "queued", None)]
        job = next(job for job in door.ops.list_jobs() if job.kind == "rederive")
        door.ops.retry_job(job.job_id)
        door.ops.run_jobs()
        assert parked(door) == [("rederive", "dead", "policy_error")]
        assert [one.reason for one in door.ops.replay().problems][:1] == [refused[0].reasons[1]]
    with door_with(database_url, tenant) as mended:
        lost = {"My cat is afraid of wasps. My sister lives in Ottawa.", "User's cat is afraid of wasps"}
        assert {one.fact for one in mended.ops.replay().added} == lost
        mended.ops.retry_job(job.job_id)
        mended.ops.run_jobs()
        assert parked(mended) == []
        assert mended.ops.replay().is_same
        made = {one.fact for one in mended.list_memories()}
        assert made >= lost
        assert len(made) == 5


def test_a_text_a_deriver_fails_on_is_parked_and_read_again(
    database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    derive = rules.derive

    def broken(event: Event, **given: Any) -> Any:
        if "wasp" in (event.content or ""):
            raise RecursionError(event.content)
        return derive(event, **given)

    monkeypatch.setattr(rules, "derive", broken)
    with door_with(database_url, tenant) as door:
        talk = [{"role": "user", "content": one} for one in ("My cat is afraid of wasps.", "My manager is Dana Reyes.")]
        said = door.remember(talk, session_id="s", wait=True)
        assert [one.reasons for one in said.decisions if one.kind == "reject"] == [
            ("failed", "the deriver rules failed (RecursionError)")
        ]
        job = next(job for job in door.ops.list_jobs() if job.kind == "rederive")
        door.ops.retry_job(job.job_id)
        door.ops.run_jobs()
        assert parked(door) == [("rederive", "queued", "RecursionError")]
        assert "User's cat is afraid of wasps" not in {one.fact for one in door.list_memories()}
        monkeypatch.undo()
        door.ops.retry_job(job.job_id)
        door.ops.run_jobs()
        assert "User's cat is afraid of wasps" in {one.fact for one in door.list_memories()}
        assert parked(door) == []
        assert door.ops.replay().is_same


def test_a_fact_whose_place_among_others_fails_is_parked_alone(
    database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with door_with(database_url, tenant) as door:
        door.remember("I use Vim.", session_id="s", wait=True)
        with monkeypatch.context() as patch:
            course, under = echoing._course, echoing._under_its_key
            patch.setattr(echoing, "_course", lambda *given: course(*given) if "Vim" not in given[1].fact else 1 / 0)
            patch.setattr(
                echoing, "_under_its_key", lambda *given: under(*given) if "Vim" not in given[1].fact else 1 / 0
            )
            said = door.remember("I don't use Vim anymore. My manager is Dana Reyes.", session_id="s", wait=True)
            reasons = {one.reasons for one in said.decisions if one.kind == "reject"}
            assert reasons == {("failed", "its place among what is known failed (ZeroDivisionError)")}
            assert "User's manager is Dana Reyes" in {one.fact for one in door.list_memories()}
            job = next(job for job in door.ops.list_jobs() if job.kind == "rederive")
            door.ops.retry_job(job.job_id)
            door.ops.run_jobs()
            assert parked(door) == [("rederive", "queued", "ZeroDivisionError")]
        door.ops.retry_job(job.job_id)
        door.ops.run_jobs()
        assert parked(door) == []
        assert "User uses Vim" not in {one.fact for one in door.list_memories()}


def test_what_passes_stops_a_stream_and_parks_nothing(
    database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(event: Event, **given: Any) -> Any:
        raise Unavailable

    with door_with(database_url, tenant) as door:
        monkeypatch.setattr(rules, "derive", away)
        with pytest.raises(Unavailable):
            door.remember("My cat is afraid of wasps.", wait=0.1)
        assert {job.kind: job.error_class for job in door.ops.list_jobs() if job.state == "queued"} == {
            "derive": "unavailable"
        }
        assert door.list_decisions().results == ()


async def awaited(candidate: Any) -> Any:
    return candidate


@pytest.mark.parametrize("wrong", [{"guards": (no_gossip, awaited)}, {"keep": awaited}])
def test_a_function_that_is_awaited_is_no_hook(wrong: dict[str, Any]) -> None:
    """What it gives is true, whatever it would come to: nothing would ever be put away."""
    with pytest.raises(PolicyError, match="to be awaited"):
        MemoryPolicy("p", **wrong)


@pytest.mark.parametrize(
    "wrong", [{"guards": "no"}, {"guards": (1,)}, {"guards": no_gossip}, {"keep": "yes"}, {"feedback_floor": 2}]
)
def test_a_policy_takes_only_functions(wrong: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        MemoryPolicy("p", **wrong)
    with pytest.raises(PolicyError):
        Reject("")
