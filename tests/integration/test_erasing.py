"""Erasing: by event, memory, session, user, scope or source, what was said is gone, and the report says so truly."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest
from alone import Alone
from calls import UNKNOWN_ID
from traces import hits

from engram import ALL_USERS, Conflict, Engram, EngramError, InvalidInput, NotFound, Scope, Unavailable
from engram.lifecycle.deeds import NEW, Deed, Effect, Tie
from engram.operations import erasing, living
from engram.policies.classify import Classified
from engram.settings import load
from engram.values import WriteDecision
from engram.writing import Draft

WORD = "qanary"


@pytest.fixture
def ada(alone: Alone, tenant: str) -> Iterator[Engram]:
    with Engram(alone.url(), scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        yield door


def owner(alone: Alone, statement: str) -> list[Any]:
    """The rows of a statement of the superuser."""
    plain = alone.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(plain, autocommit=True) as conn:
        done = conn.execute(statement)  # type: ignore[arg-type]
        return done.fetchall() if done.description else []


# What is asked for ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [{}, {"events": ["01890000-0000-7000-8000-00000000a001"], "user": "ada"}, {"user": "*"}, {"scope": "ada"},
     {"events": []}, {"scope": Scope(tenant_id="another")}, {"scope": Scope(tenant_id="t", user_id=ALL_USERS)}],
    ids=["nothing", "two", "every user", "a scope as text", "no event", "another tenant", "all users"],
)  # fmt: skip
def test_an_erasure_names_exactly_one_thing(ada: Engram, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ada.ops.erase(**given)


def test_what_a_scope_does_not_show_cannot_be_erased_by_its_id(ada: Engram) -> None:
    bob = ada.scoped(user_id="bob")
    said = bob.add("The keel is painted")
    assert said.memory is not None
    mine = ada.remember("I like the sea.").event_ids[0]
    with pytest.raises(NotFound):
        ada.ops.erase(memories=[said.memory.memory_id])
    with pytest.raises(NotFound):
        ada.ops.erase(events=[mine, said.event_id])
    assert bob.get(said.memory.memory_id).fact == "The keel is painted"
    assert not ada.get_event(mine).erased, "all or nothing is known before the first goes"


def test_a_redaction_among_the_events_is_refused_before_the_first_of_them_goes(ada: Engram) -> None:
    first, second = (ada.remember(f"The {what} is painted", session_id="s").event_ids[0] for what in ("keel", "mast"))
    ada.ops.erase(events=[first])
    every = [event.event_id for event in ada.list_events(session_id="s") if not event.erased]
    assert [ada.get_event(one).event_type for one in every] == ["user_message", "redaction"]
    with pytest.raises(InvalidInput, match="a redaction"):
        ada.ops.erase(events=[second, *every])
    assert not ada.get_event(second).erased
    with pytest.raises(InvalidInput, match="a redaction"):
        ada.ops.redact_event(every[-1])


def test_a_dry_run_counts_and_erases_nothing(ada: Engram, tmp_path: Path) -> None:
    said = ada.remember(f"My boat is called {WORD}01.", session_id="s").event_ids[0]
    shown = ada.ops.erase(user="ada", dry_run=True)
    assert (shown.dry_run, shown.remaining, shown.clean) == (True, {}, True)
    assert shown.erased["events"] >= 1
    assert shown.erased["memories"] >= 1
    assert not ada.get_event(said).erased
    assert len(ada.search(f"{WORD}01")) > 0


def lived_in(door: Engram) -> None:
    """Something of each kind that an erasure counts, some of it resting on several events."""
    with door.session("s", metadata={"note": "green"}) as visit:
        visit.remember("I am allergic to peanuts.", wait=60)
        visit.remember("My boat is called Rosa.", wait=60)
    door.add("User is allergic to peanuts", session_id="s")
    door.record_long_input("The manual is long.\n\n" * 60, title="manual", session_id="s", wait=60)
    boats = [
        door.add(fact, session_id="s").memory for fact in ("The keel is oak", "The mast is pine", "The sail is red")
    ]
    ids = [one.memory_id for one in boats if one is not None]
    door.relate(ids[0], ids[1], reason="both are new")
    door.annotate(ids[0], tags=["boat"])
    merged(door, "The keel is oak and the mast is pine", *ids[:2])
    run = door.start_task("Paint the boat", metadata={"note": "green"}, session_id="s").task_run_id
    door.save_checkpoint(run, "Half of it is painted", session_id="s")
    door.search("boat")
    door.end_session("s", summary="We spoke of boats")


@pytest.mark.parametrize(
    "target", [{"user": "ada"}, {"session": "s"}, {"source": "manual"}], ids=lambda one: next(iter(one))
)
def test_a_dry_run_says_what_the_erasure_says_and_names_nothing_that_is_not_there(
    ada: Engram, target: dict[str, Any]
) -> None:
    lived_in(ada)
    before = repr([ada.list_memories(limit=200), ada.list_events(limit=200), ada.list_tasks()])
    shown = ada.ops.erase(**target, dry_run=True)
    assert (shown.redaction_event_ids, shown.rederived_jobs) == ((), ())
    assert repr([ada.list_memories(limit=200), ada.list_events(limit=200), ada.list_tasks()]) == before
    done = ada.ops.erase(**target)
    assert shown.erased == done.erased
    assert len(done.redaction_event_ids) == done.erased["events"]


def test_a_dry_run_of_very_many_events_counts_each_event_and_memory_once(
    ada: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        ada.add(f"The plank {number} is oak")
    ada.add("The plank 0 is oak")
    monkeypatch.setattr(erasing, "REHEARSED", 2)
    shown, done = ada.ops.erase(user="ada", dry_run=True), ada.ops.erase(user="ada")
    assert [(one.erased["events"], one.erased["memories"]) for one in (shown, done)] == [(6, 5), (6, 5)]


@pytest.mark.parametrize("kind", ["user", "session", "scope"])
def test_what_was_never_there_is_not_found_and_what_was_erased_is_erased_again(
    ada: Engram, tenant: str, kind: str
) -> None:
    def named(value: str) -> dict[str, Any]:
        return {kind: Scope(tenant, user_id=value) if kind == "scope" else value}

    ada.remember("I like the sea.", session_id="ada")
    with pytest.raises(NotFound):
        ada.ops.erase(**named("adda"))
    with pytest.raises(NotFound):
        ada.ops.erase(**named("adda"), dry_run=True)
    assert ada.ops.erase(**named("ada")).erased["events"] >= 1
    again = ada.ops.erase(**named("ada"))
    assert (again.erased, again.clean) == ({}, True)


def test_a_source_of_which_nothing_is_there_is_said_so(ada: Engram) -> None:
    ada.add("The keel is oak", source="letter")
    for source, told in (("lettre", True), ("letter", False), ("letter", True)):
        report = ada.ops.erase(source=source)
        assert (erasing.UNSOURCED in report.out_of_reach, report.erased == {}) == (told, told)


# Kinds of targets ----------------------------------------------------------------------------------------------------


def test_a_user_is_erased_in_every_namespace_and_of_every_agent_and_nobody_else(alone: Alone, ada: Engram) -> None:
    work = ada.scoped(namespace="work", agent_id="coder")
    bob = ada.scoped(user_id="bob")
    for door, number in ((ada, 1), (work, 2), (bob, 3)):
        door.remember(f"My boat is called {WORD}{number}u.", session_id=f"s{number}")
        with door.session(f"s{number}", metadata={"note": f"{WORD}{number}m"}) as visit:
            visit.remember("I like the sea.")
        run = door.start_task(f"Paint {WORD}{number}g", metadata={"note": f"{WORD}{number}t"}).task_run_id
        door.save_checkpoint(run, f"Half {WORD}{number}c")
        door.record_long_input(f"The {WORD}{number}l is long.\n\n" * 60, title=f"{WORD}{number}d")
        door.search(f"{WORD}{number}q")
        door.ops.run_jobs(limit=200)
    words = [f"{WORD}{number}{kind}" for number in (1, 2, 3) for kind in "umgtcldq"]
    assert sorted(hits(alone, words)) == sorted(words)
    untouched = repr([bob.list_memories(limit=200), bob.list_events(limit=200), bob.list_tasks(), bob.list_sessions()])
    report = ada.ops.erase(user="ada", reason="asked for", actor="support")
    assert (report.clean, report.remaining, report.rederived_jobs) == (True, {}, ())
    ada.ops.run_jobs(limit=200)
    work.ops.run_jobs(limit=200)
    assert sorted(hits(alone, words)) == sorted(word for word in words if word.startswith(f"{WORD}3"))
    assert repr([bob.list_memories(limit=200), bob.list_events(limit=200), bob.list_tasks(), bob.list_sessions()]) == (
        untouched
    )
    assert ada.ops.verify_ledger().ok
    again = ada.ops.erase(user="ada")
    assert (again.erased, again.redaction_event_ids, again.clean) == ({}, (), True), "nothing is left to erase"
    assert ada.list_memories().results == ()
    assert ada.recall("What is my boat called?").current is None


def test_one_scope_is_erased_and_the_other_of_the_same_user_stays(ada: Engram, tenant: str) -> None:
    work = ada.scoped(namespace="work")
    ada.add("The keel is painted")
    work.add("The mast is painted")
    report = ada.ops.erase(scope=Scope(tenant_id=tenant, user_id="ada"))
    assert report.remaining == {}
    assert [one.fact for one in work.list_memories()] == ["The mast is painted"]
    assert ada.list_memories().results == ()


def test_a_session_goes_with_its_summary_its_metadata_and_its_documents(alone: Alone, ada: Engram) -> None:
    with ada.session("s", metadata={"note": f"{WORD}m"}) as visit:
        visit.remember(f"My boat is called {WORD}u.")
        visit.record_long_input(f"The {WORD}l is long.\n\n" * 40, title=f"{WORD}d")
    ada.end_session("s", summary=f"We spoke of {WORD}s")
    ada.remember("I like the sea.", session_id="other")
    words = [f"{WORD}{kind}" for kind in "muldss"]
    assert set(hits(alone, words)) == set(words)
    report = ada.ops.erase(session="s")
    ada.ops.run_jobs(limit=200)
    assert report.remaining == {}
    assert hits(alone, words) == {}
    assert len(ada.search("the sea")) > 0
    assert ada.ops.verify_ledger().ok


def test_a_source_goes_with_its_documents(alone: Alone, ada: Engram) -> None:
    ada.add(f"The keel is {WORD}k", source="survey.pdf")
    ada.record_long_input(f"The {WORD}l is long.\n\n" * 40, title="survey.pdf")
    ada.add("The mast is pine", source="letter")
    report = ada.ops.erase(source="survey.pdf")
    assert report.remaining == {}
    assert hits(alone, [f"{WORD}k", f"{WORD}l", "survey.pdf"]) == {}
    assert [one.fact for one in ada.list_memories()] == ["The mast is pine"]


def test_a_memory_goes_with_the_events_it_rests_on_and_what_else_they_gave(alone: Alone, ada: Engram) -> None:
    kept = ada.add("The mast is pine").memory
    made = ada.add(f"The keel is {WORD}k", metadata={"note": "oak"}).memory
    assert made is not None
    assert kept is not None
    ada.annotate(made.memory_id, tags=[f"{WORD}t"])
    ada.add(f"The keel is {WORD}k")
    report = ada.ops.erase(memories=[f"mem-{made.memory_id[-8:]}"])
    assert report.remaining == {}
    assert report.erased["memories"] == 1
    assert report.erased["events"] == 3
    assert hits(alone, [f"{WORD}k", f"{WORD}t"]) == {}
    assert [one.memory_id for one in ada.list_memories()] == [kept.memory_id]


@pytest.mark.parametrize("target", ["memories", "session", "scope", "user"])
def test_a_payload_that_names_a_document_of_the_callers_own_stands_in_no_ones_way(
    alone: Alone, ada: Engram, target: str
) -> None:
    message: Any = {"role": "user", "content": f"I live in {WORD}k.", "payload": {"document": "contract.pdf"}}
    said = ada.remember([message], session_id="s1", wait=True)
    [one, *_] = [decision.memory.memory_id for decision in said.decisions if decision.memory is not None]
    with pytest.raises(InvalidInput, match="source_event_id"):
        ada.build_long_input_context("Where?", source_event_id=said.event_ids[0])
    named: dict[str, Any] = {"memories": [one], "session": "s1", "scope": ada.scope, "user": ada.scope.user_id}
    assert ada.ops.erase(**{target: named[target]}).clean
    assert ada.get_event(said.event_ids[0]).erased
    assert hits(alone, [f"{WORD}k"]) == {}


def test_what_was_compared_with_an_erased_memory_names_it_no_more(ada: Engram) -> None:
    facts = [f"The boiler in the cellar holds {litres} litres of hot water" for litres in (90, 95, 99)]
    first, second, third = (ada.add(fact) for fact in facts)
    assert second.memory is not None
    assert {one.memory_id for one in third.nearest} >= {second.memory.memory_id}

    def compared_with(decision: WriteDecision) -> list[str]:
        assert decision.memory is not None
        [told] = [one for one in ada.list_decisions() if one.event_id == decision.event_id]
        return [one.memory_id for one in told.nearest]

    kept = compared_with(first)
    assert second.memory.memory_id in compared_with(third)
    ada.ops.erase(memories=[second.memory.memory_id])
    assert compared_with(third) == []
    assert compared_with(first) == kept


def test_what_else_an_erased_memory_rested_on_is_derived_again(ada: Engram) -> None:
    first = ada.remember("I am allergic to peanuts.").event_ids[0]
    ada.add("User is allergic to peanuts")
    report = ada.ops.erase(events=[first])
    assert len(report.rederived_jobs) == 1
    assert report.remaining == {}
    assert [one.fact for one in ada.list_memories(filter={"memory_types": ["constraint", "profile"]})], "it came back"


# What the life cycle made --------------------------------------------------------------------------------------------


def merged(ada: Engram, fact: str, *memory_ids: str) -> str:
    """A memory that the life cycle made of others, for which it stands."""

    def plan(desk: Any) -> list[Deed]:
        standing = ada.list_memories(filter={"memory_ids": list(memory_ids)})
        if len(standing) < len(memory_ids):
            return []
        ties = [Tie(NEW, one, "derived_from") for one in memory_ids]
        away = [Effect(one, {"consolidated_into": NEW}, "said by another") for one in memory_ids]
        draft = Draft(fact, Classified("semantic", None, 0.5), tags=("merged",))
        return [Deed(effects=tuple(away), ties=tuple(ties), draft=draft, of=memory_ids)]

    call = ada._setup.writing({})
    run = ada._run(living.done(ada._setup, call, "merge", plan))
    return next(change.memory_id for change in run.changes if change.field == "memory")


def test_a_summary_goes_with_what_it_was_made_of_and_the_rest_comes_back(alone: Alone, ada: Engram) -> None:
    said = [ada.add(fact).memory for fact in (f"The keel is {WORD}k", "The mast is pine", "The sail is red")]
    first, second, third = [one.memory_id for one in said if one is not None]
    made = merged(ada, f"The keel is {WORD}k and the mast is pine", first, second)
    again = merged(ada, f"Keel {WORD}k, mast pine, sail red", made, third)
    assert [one.memory_id for one in ada.list_memories()] == [again]
    report = ada.ops.erase(memories=[first])
    assert report.remaining == {}
    assert report.erased["memories"] == 3
    assert hits(alone, [f"{WORD}k"]) == {}
    assert sorted(one.memory_id for one in ada.list_memories()) == sorted([second, third])
    assert ada.ops.verify_ledger().ok


def test_an_event_that_changed_many_memories_without_words_is_not_erased_with_one(ada: Engram) -> None:
    said = [ada.add(fact).memory for fact in (f"The keel is {WORD}k", "The mast is pine")]
    ids = [one.memory_id for one in said if one is not None]
    ada.ops.archive(ids)
    before = ada.list_events(types=["memory_lifecycle"])
    ada.ops.erase(memories=ids[:1])
    assert [event.erased for event in ada.list_events(types=["memory_lifecycle"])] == [False] * len(before)
    assert before


def test_an_erasure_that_broke_off_goes_on_when_it_is_asked_for_again(
    ada: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engram import ledger

    for number in range(6):
        ada.add(f"The plank {number} is oak")
    redact, calls = ledger.redact, []

    def broken(*args: Any, **given: Any) -> Any:
        calls.append(given["event_id"])
        if len(calls) > 3:
            raise KeyboardInterrupt
        return redact(*args, **given)

    monkeypatch.setattr(ledger, "redact", broken)
    with pytest.raises(KeyboardInterrupt):
        ada.ops.erase(user="ada")
    monkeypatch.undo()
    assert len(ada.list_memories()) == 3
    report = ada.ops.erase(user="ada")
    assert (report.erased["events"], report.clean) == (3, True)
    assert ada.list_memories().results == ()
    assert ada.ops.verify_ledger().erased == 6


@pytest.mark.parametrize("target", [{"session": "s1"}, {"user": "ada"}], ids=["session", "user"])
@pytest.mark.parametrize("faster", [False, True], ids=["slower", "faster"])
def test_an_erasure_ends_though_somebody_writes_and_says_whether_it_caught_up(
    ada: Engram, monkeypatch: pytest.MonkeyPatch, target: dict[str, str], faster: bool
) -> None:
    def write(many: int) -> None:
        wrote.append(many)
        for _ in range(many):
            ada.remember("Another plank came", session_id="s1", derive="skip")

    erase_all, taken, wrote = erasing._erase_all, list[int](), list[int]()

    def beset(setup: Any, call: Any, target: Any, event_ids: list[str], tally: Any) -> Any:
        yield from erase_all(setup, call, target, event_ids, tally)
        taken.append(len(event_ids))
        assert len(taken) < 60, "it does not end"
        write(len(event_ids) if faster else len(event_ids) // 3)

    write(12)
    monkeypatch.setattr(erasing, "LISTED", 4)
    monkeypatch.setattr(erasing, "_erase_all", beset)
    report = ada.ops.erase(**target)
    assert report.erased["events"] == sum(taken) >= 12
    assert (erasing.LATER in report.out_of_reach) == faster
    assert report.clean or "user" in target, "of whole scopes all that is left is counted"
    monkeypatch.undo()
    again = ada.ops.erase(**target)
    assert erasing.LATER not in again.out_of_reach
    assert again.clean
    assert again.erased.get("events", 0) == sum(wrote) - sum(taken) >= 12 * faster


# The second look -----------------------------------------------------------------------------------------------------


def test_the_report_is_not_clean_where_something_is_left(alone: Alone, ada: Engram, tenant: str) -> None:
    made = ada.add(f"The keel is {WORD}k").memory
    assert made is not None
    ada.ops.erase(user="ada")
    owner(alone, f"update engram.agent_memory set fact = '{WORD}k' where tenant_id = '{tenant}'")
    again = ada.ops.erase(events=[made.citations[0].event_id])
    assert (again.clean, again.remaining) == (False, {"agent_memory": 1})
    whole = ada.ops.erase(user="ada")
    assert (whole.clean, whole.remaining) == (False, {"agent_memory": 1})


def test_a_table_nobody_thought_of_is_counted_as_a_remainder(alone: Alone, ada: Engram, tenant: str) -> None:
    made = ada.add("The keel is painted").memory
    assert made is not None
    owner(alone, "create table engram.unthought (tenant_id text, scope_id bigint, memory_ids uuid[], said text);"
                  "grant select on engram.unthought to engram_app")  # fmt: skip
    try:
        owner(alone, "insert into engram.unthought select tenant_id, scope_id, array[memory_id], fact"
                      f" from engram.agent_memory where tenant_id = '{tenant}'")  # fmt: skip
        report = ada.ops.erase(memories=[made.memory_id])
        assert (report.clean, report.remaining) == (False, {"unthought.memory_ids": 1})
        assert ada.ops.erase(user="ada").remaining == {"unthought": 1}
    finally:
        owner(alone, "drop table engram.unthought")


# Sent again, and the chain ------------------------------------------------------------------------------------------


def test_what_was_erased_is_changed_no_more(ada: Engram) -> None:
    held = ada.add(f"The keel is {WORD}").memory
    assert held is not None
    ada.reinforce(held.memory_id, idempotency_key="raised")
    ada.ops.erase(events=[held.event_id])
    events = len(ada.list_events(limit=100))
    for change in (
        lambda: ada.forget(held.memory_id), lambda: ada.restore(held.memory_id), lambda: ada.reinforce(held.memory_id),
        lambda: ada.annotate(held.memory_id, importance=0.3), lambda: ada.end_validity(held.memory_id),
        lambda: ada.revise(held.memory_id, "The keel is red"), lambda: ada.feedback([held.memory_id], 1),
        lambda: ada.ops.archive([held.memory_id]),
    ):  # fmt: skip
        with pytest.raises(Conflict):
            change()
    ada.reinforce(held.memory_id, idempotency_key="raised")  # what came before is answered again
    assert len(ada.list_events(limit=100)) == events
    assert ada.ops.erase(events=[held.event_id]).remaining == {}


def test_what_was_erased_and_is_sent_again_is_answered_as_erased(alone: Alone, ada: Engram) -> None:
    message = {"role": "user", "content": f"My boat is called {WORD}z.", "event_id": UNKNOWN_ID}
    first = ada.remember([message], session_id="s")
    keyed = ada.add(f"The keel is {WORD}z", idempotency_key="keel")
    report = ada.ops.erase(user="ada")
    assert report.remaining == {}
    sent = ada.remember([message], session_id="s")
    assert (sent.erased, sent.duplicate, sent.event_ids) == (True, True, first.event_ids)
    again = ada.add(f"The keel is {WORD}z", idempotency_key="keel")
    assert (again.erased, again.event_id) == (True, keyed.event_id)
    for job_id in first.job_ids:
        with suppress(EngramError):
            ada.ops.retry_job(job_id)
    ada.ops.run_jobs(limit=200)
    shadow = ada.ops.replay()
    ada.ops.run_jobs(limit=200)
    assert hits(alone, [f"{WORD}z"]) == {}
    ada.ops.switch_replay(shadow.shadow_id)
    assert hits(alone, [f"{WORD}z"]) == {}
    assert ada.list_memories().results == ()
    assert keyed.memory is not None


@pytest.mark.parametrize("many", [60, pytest.param(1_000, marks=pytest.mark.slow)])
def test_chain_and_anchors_verify_after_random_erasures(ada: Engram, many: int) -> None:
    random = Random(many)
    for start in range(0, many, 100):
        ada.remember(
            [{"role": "user", "content": f"Plank {start + n} is {random.choice(['oak', 'pine'])}."}
             for n in range(min(100, many - start) + 5)], session_id=f"s{start}", derive="verbatim",
        )  # fmt: skip
    known = ada.ops.verify_ledger()
    events = [ada.list_events(session_id=f"s{start}", limit=200) for start in range(0, many, 100)]
    said = [event.event_id for some in events for event in some if event.role == "user"]
    chosen = random.sample(said, many)
    for at in range(0, many, 100):
        assert ada.ops.erase(events=chosen[at : at + 100]).remaining == {}
    after = ada.ops.verify_ledger(anchors=known.heads)
    assert (after.ok, after.erased) == (True, many)
    assert len(ada.list_memories(limit=200)) == len(said) - many


# The redaction list --------------------------------------------------------------------------------------------------


def listed(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def test_the_redaction_list_is_written_before_and_applied_after_a_restore(
    alone: Alone, tenant: str, tmp_path: Path
) -> None:
    path, scope = tmp_path / "redactions.jsonl", Scope(tenant_id=tenant, user_id="ada")
    with Engram(alone.url(), scope=scope, settings=load({}, redaction_list=path)) as door:
        said = door.remember(f"My boat is called {WORD}r.").event_ids[0]
        kept = door.remember("I like the sea.").event_ids[0]
        assert door.ops.erase(events=[said], dry_run=True).clean
        assert not path.exists()
        door.ops.redact_event(said)
        assert [(one["tenant_id"], one["event_id"]) for one in listed(path)] == [(tenant, said)]
        assert WORD not in path.read_text()
    with Engram(alone.url(), scope=Scope(tenant_id=f"{tenant}-restored", user_id="ada")) as restored:
        # A backup of before: the same event, whole again, in a tenant that stands for the restored database.
        event = {"role": "user", "content": f"My boat is called {WORD}r.", "event_id": said}
        restored.remember([event])
        other = tmp_path / "restored.jsonl"
        other.write_text(path.read_text().replace(tenant, f"{tenant}-restored") + "\n")
        checked = {check.name: check for check in restored.ops.doctor().checks}
        assert "redactions" not in checked, "no list is configured"
        report = restored.ops.apply_redactions(other)
        assert (report.erased["events"], report.clean) == (1, True)
        assert restored.get_event(said).erased
        assert restored.remember([event]).erased, "what is sent again is known as erased"
        unknown = tmp_path / "unknown.jsonl"
        unknown.write_text(json.dumps({"tenant_id": f"{tenant}-restored", "event_id": kept}))
        told = restored.ops.apply_redactions(unknown)
        assert (told.erased, told.clean) == ({}, True)
        assert any(line.startswith("1 events of the list") for line in told.out_of_reach)


def test_the_doctor_finds_events_of_the_list_that_still_speak(alone: Alone, tenant: str, tmp_path: Path) -> None:
    path, scope = tmp_path / "redactions.jsonl", Scope(tenant_id=tenant, user_id="ada")
    with Engram(alone.url(), scope=scope, settings=load({}, redaction_list=path)) as door:
        said = door.remember("I like the sea.").event_ids[0]
        path.write_text(json.dumps({"tenant_id": tenant, "event_id": said}) + "\n")
        found = next(check for check in door.ops.doctor().checks if check.name == "redactions")
        assert (found.ok, found.repair) == (False, f"engram apply-redactions {path}")
        assert door.ops.apply_redactions(path).clean
        assert next(check for check in door.ops.doctor().checks if check.name == "redactions").ok


def test_an_erasure_ends_where_the_list_has_no_room_for_it(alone: Alone, tenant: str, tmp_path: Path) -> None:
    """A disk that fills takes the first part of a line without an error."""
    path, scope = tmp_path / "redactions.jsonl", Scope(tenant_id=tenant, user_id="ada")
    with Engram(alone.url(), scope=scope, settings=load({}, redaction_list=path)) as door:
        said = door.remember("I like the sea.").event_ids[0]
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40, before[1]))
        try:
            with pytest.raises(Unavailable, match="the redaction list cannot be written"):
                door.ops.redact_event(said)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert not door.get_event(said).erased
        assert len(path.read_bytes()) == 40
        door.ops.redact_event(said)
        assert next(check for check in door.ops.doctor().checks if check.name == "redactions").ok
        assert door.ops.apply_redactions(path).clean, "a list that was cut once can be applied"


@pytest.mark.parametrize("said", [b"no json", b"[" * 100_000, b"\xff"])
def test_the_doctor_tells_of_a_list_that_cannot_be_read(alone: Alone, tenant: str, tmp_path: Path, said: bytes) -> None:
    (tmp_path / "list").write_bytes(said)
    for path in (tmp_path / "list", tmp_path, tmp_path / ("x" * 300)):
        with Engram(alone.url(), scope=Scope(tenant), settings=load({}, redaction_list=path)) as door:
            found = next(check for check in door.ops.doctor().checks if check.name == "redactions")
        assert not found.ok
        assert "a redaction list" in found.detail


@pytest.mark.parametrize(
    "said", ["no json", "[]", '{"event_id": "x", "tenant_id": "t"}', '{"tenant_id": "t"}', '{"event_id": "0']
)
def test_a_file_that_is_no_redaction_list_is_refused(ada: Engram, tmp_path: Path, said: str) -> None:
    path = tmp_path / "list"
    path.write_text(said)
    with pytest.raises(InvalidInput):
        ada.ops.apply_redactions(path)
    with pytest.raises(InvalidInput):
        ada.ops.apply_redactions(tmp_path / "missing")
