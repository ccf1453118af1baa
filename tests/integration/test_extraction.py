"""The LLM deriver against a real database: what a model says becomes memories once, quoted, dated, trusted no more."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import model_server
import pytest
from quiet import quiet

from engram import Conflict, Engram, Filter, MemoryPolicy, Scope, Unavailable, get_policy, jobs
from engram.database import Database
from engram.errors import LeaseLost, ModelRejected, Refused
from engram.jobs import Job
from engram.llm import Completion
from engram.operations import extracting, running, steps
from engram.settings import load
from engram.testing import Asked, Says, ScriptedModel

SAID = datetime(2026, 6, 10, 12, tzinfo=UTC)  # a Wednesday
Doors = Callable[..., Engram]


@pytest.fixture
def doors(database_url: str, tenant: str) -> Iterator[Doors]:
    """Doors of one tenant, each with its own model."""
    with ExitStack() as stack:

        def opened(script: Any = None, *, background: bool = True, **more: Any) -> Engram:
            model = script if script is None or isinstance(script, ScriptedModel) else ScriptedModel(script)
            scope = more.pop("scope", Scope(tenant_id=tenant, user_id="ada"))
            door = stack.enter_context(Engram(database_url, scope=scope, llm=model, **more))
            return door if background else quiet(door)

        yield opened


def fact(text: str, quote: str, turn: int = 1, **more: Any) -> dict[str, Any]:
    return {"turn": turn, "fact": text, "quote": quote, **more}


def says(*facts: Mapping[str, Any]) -> dict[str, Any]:
    return {"facts": list(facts)}


def script(
    extract: Says | Callable[[Asked], Says], adjudicate: Says | Callable[[], Says] = ""
) -> Callable[[Asked], Says]:
    """One answer for extraction, one for adjudication, by the form that is asked for."""

    def answer(asked: Asked) -> Says:
        if asked.schema is not None and asked.schema.__name__ == "Verdicts":
            return adjudicate() if callable(adjudicate) else adjudicate or {"decisions": []}
        return extract(asked) if callable(extract) else extract

    return answer


def model_of(door: Engram) -> ScriptedModel:
    return door._setup.llm.model_for("extract")  # type: ignore[return-value, union-attr]


def drained(door: Engram) -> None:
    while door.ops.run_jobs():
        pass


def facts(door: Engram, **read: Any) -> list[str]:
    return sorted(m.fact for m in door.list_memories(**read) if m.category != "verbatim")


def rows(door: Engram, status: str) -> list[str]:
    return sorted(m.fact for m in door.list_memories(filter=Filter(statuses=(status,))))


Jobs = Callable[..., list[Job]]


@pytest.fixture
def listed(database: Database, tenant: str) -> Jobs:
    """The tenant's jobs of some kinds, oldest first."""

    def look(*kinds: str) -> list[Job]:
        with database.transaction(tenant) as conn:
            return jobs.list_jobs(conn, kinds=kinds or None, limit=200)

    return look


# ------------------------------------------------ one fact, whole


def test_a_fact_of_the_model_is_quoted_dated_and_named(doors: Doors) -> None:
    door = doors(
        says(
            fact(
                "User adopted a grey cat called Miso", "adopted a grey cat called Miso last Friday", type="profile",
                when="last Friday", date="2026-06-05", importance=0.7,
            )
        )
    )  # fmt: skip
    receipt = door.remember(
        "Lovely weather, is it not? We adopted a grey cat called Miso last Friday.", occurred_at=SAID, wait=False
    )
    drained(door)
    [made] = [m for m in door.list_memories() if m.deriver == "llm"]
    assert (made.fact, made.memory_type, made.importance, made.trust) == (
        "User adopted a grey cat called Miso", "profile", 0.7, "user",
    )  # fmt: skip
    assert made.valid_from == datetime(2026, 6, 5, tzinfo=UTC)
    [citation] = made.citations
    assert citation.verified
    event = door.get_event(receipt.event_ids[0])
    assert event.content is not None
    assert event.content[citation.char_start : citation.char_end] == "adopted a grey cat called Miso last Friday"
    why = door.explain_memory(made.memory_id)
    assert why.derivation["deriver"] == "llm"
    assert why.derivation["model"] == "scripted"
    assert len(why.derivation["prompt_hash"]) == 64
    assert door.wait_for(receipt, deriver="llm", timeout=0)


def test_a_quote_is_found_as_it_is_compared(doors: Doors) -> None:
    door = doors(says(fact("User works at Café Zoë", 'i work at "cafe\u0301 zoë"')))
    door.remember("So, I  work\nat “Café Zoë” these days", wait=True)
    [made] = [m for m in door.list_memories() if m.deriver == "llm"]
    event = door.get_event(made.event_id)
    assert event.content is not None
    [cited] = made.citations
    assert (cited.verified, event.content[cited.char_start : cited.char_end]) == (True, "I  work\nat “Café Zoë”")


@pytest.mark.parametrize("unverified", ["quarantine", "keep", "reject"])
def test_a_made_up_quote_is_kept_apart_kept_or_refused(doors: Doors, unverified: Any) -> None:
    policy = MemoryPolicy("own", unverified=unverified)
    made_up = fact("User owes Mallory a thousand dollars", "I owe Mallory a thousand dollars")
    door = doors(says(made_up), policy=policy)
    receipt = door.remember("Good morning to everybody", wait=True)
    assert (facts(door) == ["User owes Mallory a thousand dollars"]) == (unverified == "keep")
    assert bool(rows(door, "quarantined")) == (unverified == "quarantine")
    [decision] = [d for d in receipt.decisions if "unverified_quote" in d.reasons] or [None]
    assert (decision.kind if decision else None) == {"quarantine": "add", "keep": None, "reject": "reject"}[unverified]
    if unverified == "keep":
        [kept] = [m for m in door.list_memories() if m.deriver == "llm"]
        assert not kept.citations[0].verified


def test_what_is_quarantined_lies_in_nobodys_lineage_and_is_found_by_nobody(doors: Doors) -> None:
    door = doors(says(fact("User lives in Oslo", "I live in Oslo")))
    door.remember("Good morning to everybody", wait=True)
    assert (facts(door), rows(door, "quarantined")) == ([], ["User lives in Oslo"])
    [apart] = door.list_memories(filter=Filter(statuses=("quarantined",)))
    assert not door.search("where does the user live, Oslo?").results
    assert "Oslo" not in door.build_context("where does the user live?").text
    door.add("User lives in Rome")
    line = door.get_lineage(door.add("User lives in Paris").memory.memory_id)  # type: ignore[union-attr]
    assert [m.fact for m in line.revisions] == ["User lives in Paris", "User lives in Rome"]
    for touch in (door.forget, door.restore):
        with suppress(Conflict):
            touch(apart.memory_id)
        assert door.get(apart.memory_id).status == "quarantined"


# ------------------------------------------------ dates


@pytest.mark.parametrize(
    ("said", "when", "date", "expected"),
    [
        ("I began at Initech last Friday", "last Friday", "2026-06-05", datetime(2026, 6, 5, tzinfo=UTC)),
        ("I began at Initech last Friday", "last Friday", "1999-01-01", datetime(2026, 6, 5, tzinfo=UTC)),
        ("I began at Initech last Friday", None, None, datetime(2026, 6, 5, tzinfo=UTC)),
        ("Ich fing letzten Freitag bei Initech an", "letzten Freitag", "2026-06-05", datetime(2026, 6, 5, tzinfo=UTC)),
        ("Ich fing bei Initech an", "letzten Freitag", "2026-06-05", None),
        ("Ich fing letzten Freitag bei Initech an", "letzten Freitag", "soon", None),
        ("Im März 2019 fing ich bei Initech an", "Im März 2019", "2018-03-01", None),
        ("My birthday is on May 3 by the way", "on May 3", "2026-05-03", None),
    ],
)
def test_a_date_is_what_was_said_read_by_code(
    doors: Doors, said: str, when: str | None, date: str | None, expected: datetime | None
) -> None:
    door = doors(says(fact("A fact that has a date in it", said, when=when, date=date)))
    door.remember(said, occurred_at=SAID, wait=True)
    [made] = [m for m in door.list_memories() if m.deriver == "llm"]
    assert (made.valid_from if made.valid_from_stated else None) == expected


# ------------------------------------------------ answers that are none


MANY = says(*(fact(f"Fact number {n} of them", "favourite editor") for n in range(100_000)))


@pytest.mark.parametrize(
    ("answer", "state", "error"),
    [
        ("not json at all", "dead", "bad_output"),
        ('{"facts": [{"turn": 1, "fact": "User', "dead", "bad_output"),
        ("", "dead", "bad_output"),
        (MANY, "dead", "bad_output"),
        (says(*(fact(f"Fact number {n}", "My") for n in range(65))), "dead", "bad_output"),
        (says(fact("a", "My", trust="operator")), "dead", "bad_output"),
        (says(fact("a", "My", namespace="other")), "dead", "bad_output"),
        (says(fact("nul \x00 inside", "My")), "dead", "bad_output"),
        ({"facts": [], "status": "active"}, "dead", "bad_output"),
        (Refused(), "dead", "refused"),
        ({"facts": []}, "done", None),
        ('```json\n{"facts": []}\n```', "done", None),
    ],
)
def test_whatever_a_model_answers_the_rules_have_spoken_and_nothing_is_lost_in_silence(
    doors: Doors, listed: Jobs, answer: Says, state: str, error: str | None
) -> None:
    door = doors(answer, background=False)
    receipt = door.remember("My favourite editor is Helix.")
    drained(door)
    assert facts(door) == ["User's favourite editor is Helix"]
    [job] = listed("extract")
    assert (job.state, job.error_class) == (state, error)
    if error is None:
        assert door.wait_for(receipt, deriver="llm", timeout=0)
    else:
        with pytest.raises(Unavailable):
            door.wait_for(receipt, deriver="llm", timeout=0)


def test_a_stream_goes_on_without_what_a_model_failed_on_and_a_retry_reads_just_that(
    doors: Doors, listed: Jobs, database: Database, tenant: str
) -> None:
    answers: list[Says] = ["nonsense", "nonsense"]
    door = doors(
        lambda asked: answers.pop(0) if answers else says(
            fact("User fears spiders", "spiders scare me"), fact("User collects stamps", "stamps are what I collect")
        ) if "spiders" in asked.text and "stamps are" not in asked.text else says(
            fact("User collects stamps", "stamps are what I collect")
        )
    )  # fmt: skip
    bad = door.remember("Honestly, spiders scare me.", wait=True)
    good = door.remember("And stamps are what I collect.", wait=True)
    assert "User collects stamps" in facts(door)
    assert "User fears spiders" not in facts(door)
    assert door.wait_for(good, deriver="llm", timeout=0)
    [dead] = [job for job in listed("extract") if job.state == "dead"]
    with database.transaction(tenant) as conn:
        jobs.revive(conn, dead.job_id)
    drained(door)
    assert "User fears spiders" in facts(door)
    assert door.wait_for(bad, deriver="llm", timeout=0)
    assert {job.state for job in listed()} == {"done"}


def test_an_answer_cut_short_is_asked_for_again_in_halves(doors: Doors) -> None:
    said = " ".join(f"I have been to the village number {n} in the hills." for n in range(40))

    def answer(asked: Asked) -> Says:
        if "number 0 " in asked.text and "number 39 " in asked.text:
            return Completion('{"facts": [{"tu', "scripted", 10, 10, 0, None, "length")
        return says(
            *(
                fact(f"User was in village {n}", f"the village number {n} in")
                for n in (0, 39)
                if f"number {n} " in asked.text
            )
        )

    door = doors(answer)
    door.remember(said, wait=True)
    made = [m for m in door.list_memories() if m.deriver == "llm"]
    assert sorted(m.fact for m in made) == ["User was in village 0", "User was in village 39"]
    event = door.get_event(made[0].event_id)
    for memory in made:
        [cited] = memory.citations
        assert event.content is not None
        assert event.content[cited.char_start : cited.char_end].endswith(
            memory.fact.removeprefix("User was in village") + " in"
        )


def test_a_long_message_is_read_in_several_questions_and_written_at_once(doors: Doors, listed: Jobs) -> None:
    said = " ".join(f"On day {n} the party walked to the village number {n} in the hills." for n in range(900))

    def answer(asked: Asked) -> Says:
        turns = asked.text.split("The turns to read")[1]
        return says(
            *(fact(f"Party was in {n}", f"village number {n} in") for n in (0, 450, 899) if f"day {n} " in turns)
        )

    door = doors(answer)
    door.remember(said, wait=60)
    assert 3 < len(model_of(door).asked) < 12
    made = sorted((m for m in door.list_memories() if m.deriver == "llm"), key=lambda m: m.citations[0].char_start)
    assert [m.fact for m in made] == ["Party was in 0", "Party was in 450", "Party was in 899"]
    for memory in made:
        [cited] = memory.citations
        assert said[cited.char_start : cited.char_end] == f"village number {memory.fact.split()[-1]} in"
    door.close()  # what was written may be seen a moment before its job says that it is done
    assert [job.state for job in listed("extract")] == ["done"]


# ------------------------------------------------ one statement, whoever finds it


@pytest.mark.parametrize(
    ("said", "of_the_model"),
    [
        ("My favourite editor is Helix.", "User's favourite editor is Helix"),
        ("I live in Ottawa.", "User resides in Ottawa"),
        ("I live in Ottawa.", "User lives in Ottawa"),
        ("I moved to Toronto last month.", "User lives in Toronto"),
        ("I love hiking in the mountains.", "User likes hiking in the mountains"),
    ],
)
def test_what_two_derivers_find_in_one_event_is_said_once(doors: Doors, said: str, of_the_model: str) -> None:
    door = doors(says(fact(of_the_model, said)))
    receipt = door.remember(said, occurred_at=SAID, wait=True)
    [made] = [m for m in door.list_memories() if m.category != "verbatim"]
    assert (made.deriver, made.activity.repetition_count, made.revision, made.confidence) == ("rules", 0, 1, 0.5)
    assert len(made.citations) == 2
    assert door.explain_memory(made.memory_id).derivation["model"] == "scripted"
    assert {m.status for m in door.list_memories(filter=Filter(statuses=("superseded",)))} == set()
    assert [d.reasons for d in receipt.decisions if d.kind == "reinforce"] == [("same_event",)]


def test_the_same_thing_said_again_still_counts(doors: Doors) -> None:
    door = doors(says(fact("User's favourite editor is Helix", "favourite editor is Helix")))
    for _ in range(3):
        door.remember("My favourite editor is Helix.", wait=True)
    [made] = [m for m in door.list_memories() if m.category != "verbatim"]
    assert (made.activity.repetition_count, len(made.citations)) == (2, 6)


def test_another_value_in_the_same_words_is_another_statement(doors: Doors) -> None:
    door = doors(says(fact("User lives in Bergen", "left Oslo for Bergen", subject="user")))
    door.remember("I live in Oslo. That is, in May I left Oslo for Bergen", occurred_at=SAID, wait=True)
    assert "User lives in Bergen" in facts(door)


def test_what_was_forgotten_of_an_event_does_not_come_back_with_the_model(doors: Doors) -> None:
    silent = doors(None, settings=load({}, dispatch="doorbell"))
    silent.remember("My favourite editor is Helix.", derive="llm", wait=False)
    drained(silent)
    [made] = [m for m in silent.list_memories() if m.deriver == "rules"]
    silent.forget(made.memory_id)
    door = doors(says(fact("User's favourite editor is Helix", "favourite editor is Helix")))
    drained(door)
    assert facts(door) == []
    door.remember("My favourite editor is Helix.", wait=True)  # said again, it holds again
    assert facts(door) == ["User's favourite editor is Helix"]


# ------------------------------------------------ whose word it is


def test_no_text_stands_beside_what_is_trusted_more(doors: Doors) -> None:
    door = doors(lambda asked: says())
    door.remember(
        [
            {"role": "user", "content": "USER-ONE speaks", "derive": "llm"},
            {"role": "tool", "content": "TOOL-TEXT returns", "derive": "llm"},
            {"role": "tool", "content": "WEB-TEXT says", "derive": "llm", "trust": "web"},
            {"role": "assistant", "content": "ASSISTANT-TEXT answers", "derive": "llm"},
            {"role": "user", "content": "USER-TWO speaks", "derive": "llm"},
        ],
        wait=True,
    )
    order = {"USER-ONE": 1, "USER-TWO": 1, "ASSISTANT-TEXT": 2, "TOOL-TEXT": 3, "WEB-TEXT": 5}
    asked = [asked.text for asked in model_of(door).asked]
    assert len(asked) == 5
    for text in asked:
        shown, turns = (part for part in text.split("The turns to read"))
        [ranks] = [{rank for name, rank in order.items() if name in turns}]
        assert len(ranks) == 1
        assert all(rank <= max(ranks) for name, rank in order.items() if name in shown)
    assert any("USER-ONE" in text.split("The turns to read")[0] for text in asked), "context is given"


@pytest.mark.parametrize(
    ("role", "trust"), [("user", "user"), ("assistant", "agent"), ("tool", "tool"), ("tool", "web")]
)
def test_a_fact_has_the_trust_of_its_event(doors: Doors, role: str, trust: Any) -> None:
    door = doors(says(fact("The river is called Loire", "the river is called Loire")))
    door.remember(
        [{"role": role, "content": "They say that the river is called Loire", "trust": trust, "derive": "llm"}],
        wait=True,
    )
    [made] = [m for m in door.list_memories() if m.deriver == "llm"]
    assert made.trust == trust


def test_an_assistants_words_are_read_only_where_that_is_asked_for(doors: Doors) -> None:
    door = doors(says(fact("The river is called Loire", "the river is called Loire")))
    door.remember([{"role": "assistant", "content": "Here bridges are many"}], wait=True)
    assert (facts(door), model_of(door).asked) == ([], [])
    door.remember([{"role": "assistant", "content": "Then the river is called Loire", "derive": "llm"}], wait=True)
    assert facts(door) == ["The river is called Loire"]


def test_a_memory_that_the_agent_repeats_gains_nothing(doors: Doors) -> None:
    door = doors(
        lambda asked: says(
            fact("User lives in Ottawa", "live in Ottawa"), fact("The train leaves at nine", "train leaves at nine")
        )
    )
    door.add("User lives in Ottawa")
    [before] = door.list_memories()
    echo = "As you live in Ottawa, take the bus. The train leaves at nine."
    door.remember([{"role": "assistant", "content": echo, "derive": "llm"}], wait=True)
    after = door.get(before.memory_id)
    assert after.activity.repetition_count == 0
    assert (after.confidence, len(after.citations), after.trust) == (before.confidence, 1, before.trust)
    assert facts(door) == ["The train leaves at nine", "User lives in Ottawa"]
    turns = model_of(door).asked[0].text.split("The turns to read")[1]
    assert "Ottawa" not in turns
    assert "train leaves at nine" in turns


def test_a_memory_that_the_agent_puts_otherwise_gains_nothing_either(doors: Doors) -> None:
    door = doors(says(fact("User lives in Ottawa", "Ottawa, where your flat is")))
    [before] = [door.add("User lives in Ottawa").memory]
    assert before is not None
    door.remember(
        [{"role": "assistant", "content": "Buses in Ottawa, where your flat is, are slow", "derive": "llm"}], wait=True
    )
    after = door.get(before.memory_id)
    assert (after.activity.repetition_count, len(after.citations)) == (0, 1)
    assert facts(door) == ["User lives in Ottawa"]


def test_no_summary_or_other_derived_text_is_shown(doors: Doors) -> None:
    door = doors(says())
    door.add("User likes MEMORY-TEXT")
    door.record_event("SUMMARY-TEXT of all", role="system", event_type="x.summary")
    door.remember("RAW-TEXT comes first", derive="skip", wait=True)
    door.remember("What now?", wait=True)
    [asked] = model_of(door).asked
    assert "RAW-TEXT" in asked.text
    assert "SUMMARY-TEXT" not in asked.text
    assert "MEMORY-TEXT" not in asked.text


# ------------------------------------------------ levels


def test_without_a_model_or_at_level_off_llm_means_rules(doors: Doors) -> None:
    for more in ({}, {"settings": load({}, llm_level="off"), "script": says()}):
        door = doors(more.pop("script", None), **more)
        receipt = door.remember("My favourite editor is Helix.", derive="llm", wait=True)
        assert door.wait_for(receipt, timeout=0)
    assert facts(door) == ["User's favourite editor is Helix"]


def test_a_door_of_a_worker_marks_what_it_cannot_ask_for_itself(doors: Doors, listed: Jobs) -> None:
    door = doors(None, settings=load({}, dispatch="doorbell"))
    door.remember("My favourite editor is Helix.", derive="llm", wait=False)
    door.remember("My favourite colour is teal.", wait=False)
    drained(door)
    assert [job.state for job in listed("extract")] == ["queued"]
    worker = doors(says(fact("User fears nobody", "editor is Helix")))
    drained(worker)
    assert [job.state for job in listed("extract")] == ["done"]
    assert "User fears nobody" in facts(worker)
    assert "colour is teal" not in model_of(worker).asked[0].text.split("The turns to read")[1]


def test_a_policy_may_leave_the_model_out(doors: Doors) -> None:
    rules = {("user", "user_message"): ("verbatim", "rules")}
    door = doors(says(), policy=MemoryPolicy("own", derive=rules))
    door.remember("My favourite editor is Helix.", wait=True)
    assert model_of(door).asked == []


def test_each_component_follows_the_policys_word(doors: Doors) -> None:
    answers = {
        "Extraction": says(fact("User fears nobody", "editor is Helix")),
        "Concise": {"summary": "Of editors."},
    }
    base = get_policy("default")

    def told(**own: str) -> tuple[Engram, list[str]]:
        policy = replace(base, llm=own, summary_every=1)
        alone = {"settings": load({}, dispatch="doorbell"), "scope": Scope(f"t-{uuid.uuid4()}")}
        door = doors(lambda asked: answers[asked.schema.__name__], policy=policy, **alone)
        door.remember("My favourite editor is Helix.", derive="llm", session_id="s")
        drained(door)
        model = door._core.llm.models()[0]  # type: ignore[union-attr]
        return door, sorted({asked.schema.__name__ for asked in model.asked})  # type: ignore[attr-defined]

    assert told()[1] == ["Concise", "Extraction"]
    assert told(extract="scripted", summary="full")[1] == ["Concise", "Extraction"]
    rules, asked = told(extract="off")
    assert asked == ["Concise"]
    assert facts(rules) == ["User's favourite editor is Helix"]
    assert [row.group for row in rules.ops.usage()] == ["summary"]
    extractive, asked = told(summary="off")
    assert asked == ["Extraction"]
    [session] = extractive.list_sessions()
    assert session.summary_by == "extractive"


def test_a_model_that_the_policy_switches_off_is_left_out_of_what_workers_do_too(doors: Doors, listed: Jobs) -> None:
    off = replace(get_policy("default"), llm={"extract": "off"})
    door = doors(None, settings=load({}, dispatch="doorbell"), policy=off)
    receipt = door.remember("My favourite editor is Helix.", derive="llm", wait=False)
    drained(door)
    assert not listed("extract")
    assert door.wait_for(receipt, timeout=0)
    marking = doors(None, settings=load({}, dispatch="doorbell"))
    marking.remember("My favourite colour is teal.", derive="llm", wait=False)
    worker = doors(says(fact("User fears nobody", "colour is teal")), policy=off)
    drained(worker)
    assert [job.state for job in listed("extract")] == ["queued"], "another process may have a model for it"
    assert "User fears nobody" not in facts(worker)
    drained(doors(says()))
    assert [job.state for job in listed("extract")] == ["done"]


def test_without_an_opinion_what_the_gates_leave_unsure_stays_as_it_is(doors: Doors) -> None:
    said: list[str] = []

    def answer(asked: Asked) -> Says:
        said.append(asked.schema.__name__ if asked.schema else "")
        return {"decisions": []} if said[-1] == "Verdicts" else says(fact("User is fond of the Helix editor", "Helix"))

    for own, asks in (({"adjudicate": "full"}, True), ({"adjudicate": "off"}, False)):
        said.clear()
        policy = replace(get_policy("default"), llm=own)
        door = doors(answer, policy=policy, scope=Scope(f"t-{uuid.uuid4()}", user_id="ada"))
        door.add("User is fond of the Emacs editor")
        door.remember("Helix.", derive="llm", wait=True)
        drained(door)
        assert ("Verdicts" in said) is asks, own
        assert "User is fond of the Helix editor" in facts(door)


def test_a_call_that_waits_for_nothing_still_ends_with_the_models_facts(doors: Doors) -> None:
    door = doors(says(fact("User fears nobody", "editor is Helix")))
    receipt = door.remember("My favourite editor is Helix.")
    door.wait_for(receipt, deriver="llm", timeout=30)
    assert facts(door) == ["User fears nobody", "User's favourite editor is Helix"]


def test_summaries_and_checkpoints_by_a_model_are_made_behind_the_callers_back(doors: Doors) -> None:
    caller, thinkers = threading.get_ident(), set()
    lists = ("completed_steps", "pending_steps", "decisions", "blockers", "artifacts")

    def answer(asked: Asked) -> Says:
        thinkers.add(threading.get_ident())
        return {"summary": "Sanded."} | ({name: [] for name in lists} if "Made" in str(asked.schema) else {})

    policy = replace(get_policy("default"), llm={"extract": "off"}, summary_every=2, checkpoint_every=2)
    door = doors(answer, policy=policy)
    run = door.start_task("Paint the keel").task_run_id
    for content in ("Sanded", "Primed"):
        door.record_event(content, event_type="agent_action", task_run_id=run)
        door.remember(content, session_id="boat")
    until = time.monotonic() + 30
    while not (door.list_checkpoints(run) and door.get_session("boat").summary):
        assert time.monotonic() < until, "it did not come to that"
        time.sleep(0.05)
    assert {one.made_by for one in door.list_checkpoints(run)} == {"scripted"}
    assert door.get_session("boat").summary_by == "scripted"
    assert thinkers
    assert caller not in thinkers


def test_fast_derivation_is_not_behind_because_of_the_model(doors: Doors, listed: Jobs) -> None:
    door = doors(None, settings=load({}, dispatch="doorbell"))
    receipt = door.remember("My favourite editor is Helix.", derive="llm", wait=False)
    drained(door)
    assert door.wait_for(receipt, deriver="rules", timeout=0)
    assert door.search("favourite editor").watermark.behind == 0
    for deriver in ("llm", None):
        with pytest.raises(Unavailable):
            door.wait_for(receipt, deriver=deriver, timeout=0)
    drained(doors(says()))
    assert door.wait_for(receipt, timeout=0)
    assert [job.state for job in listed()] == ["done", "done"]


# ------------------------------------------------ once, whatever is killed


def until_the_effect(door: Engram, job: Job) -> steps.Transact:
    """Run an extraction up to its effect, and drop it there: what a killed worker leaves behind, and did not do."""
    operation = extracting.extract(door._setup, job)
    answer: Any = None
    while True:
        step = operation.send(answer)
        if isinstance(step, steps.Transact) and step.key == job.job_id:
            operation.close()
            return step
        answer = door._core._do(step)


def test_a_worker_killed_after_the_answer_pays_once(
    doors: Doors, listed: Jobs, database: Database, tenant: str
) -> None:
    asking = ScriptedModel(says(fact("User fears nobody", "editor is Helix")))
    silent = doors(None, settings=load({}, dispatch="doorbell"))
    silent.remember("My favourite editor is Helix.", derive="llm", wait=False)
    drained(silent)
    door = doors(asking)
    with database.transaction(tenant) as conn:
        [job] = jobs.claim(conn, ["extract"], 1, tenant_id=tenant)
    until_the_effect(door, job)
    assert len(asking.asked) == 1
    assert "User fears nobody" not in facts(door)
    with database.transaction(tenant) as conn:
        jobs.release(conn, job)
    drained(door)
    assert len(asking.asked) == 1
    assert facts(door) == ["User fears nobody", "User's favourite editor is Helix"]
    assert [job.state for job in listed("extract")] == ["done"]


def test_a_worker_that_lost_its_lease_writes_nothing(doors: Doors, database: Database, tenant: str) -> None:
    silent = doors(None, settings=load({}, dispatch="doorbell"))
    silent.remember("My favourite editor is Helix.", derive="llm", wait=False)
    drained(silent)
    door = doors(says(fact("User fears nobody", "editor is Helix")))
    with database.transaction(tenant) as conn:
        [job] = jobs.claim(conn, ["extract"], 1, tenant_id=tenant)
    effect = until_the_effect(door, job)
    with database.transaction(tenant) as conn:
        jobs.release(conn, job)
        [_] = jobs.claim(conn, ["extract"], 1, tenant_id=tenant)
    with pytest.raises(LeaseLost):
        door._core._do(effect)
    assert "User fears nobody" not in facts(door)


def test_two_workers_with_one_stream_have_one_effect(
    doors: Doors, listed: Jobs, database: Database, tenant: str
) -> None:
    silent = doors(None, settings=load({}, dispatch="doorbell"))
    for n in range(3):
        silent.remember(f"My favourite number is {n}.", derive="llm", wait=False)
        drained(silent)
    door = doors(lambda asked: says(*(fact(f"User said {n}", f"number is {n}", n + 1) for n in range(3))))
    with database.transaction(tenant) as conn:
        claimed = jobs.claim_these(conn, [job.job_id for job in listed("extract")])
    assert len(claimed) == 3
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda job: door._run(running.run(door._setup, job)), claimed))
    drained(door)
    assert [one for one in facts(door) if one.startswith("User said")] == [f"User said {n}" for n in range(3)]
    [shape] = {(m.activity.repetition_count, len(m.citations)) for m in door.list_memories() if m.deriver == "llm"}
    assert shape == (0, 1)


def test_the_first_answer_that_is_written_counts_and_a_later_one_is_dropped_whole(
    doors: Doors, listed: Jobs, database: Database, tenant: str
) -> None:
    silent = doors(None, settings=load({}, dispatch="doorbell"))
    for number in (1, 2):
        silent.remember(f"My favourite number is {number}.", derive="llm", wait=False)
        drained(silent)
    with database.transaction(tenant) as conn:
        slow, fast = jobs.claim_these(conn, [job.job_id for job in listed("extract")])
    late = doors(ScriptedModel(says(fact("User counts", "number is 1")), name="late"))
    first = doors(ScriptedModel(says(), name="first"))
    with ThreadPoolExecutor(1) as pool:
        asked, answered = threading.Event(), threading.Event()
        model_of(late)._script = lambda _: (asked.set(), answered.wait(30), says(fact("User counts", "number is 1")))[2]
        running_late = pool.submit(lambda: late._run(running.run(late._setup, slow)))
        asked.wait(30)
        first._run(running.run(first._setup, fast))
        answered.set()
        running_late.result()
    assert "User counts" not in facts(late)
    assert {job.state for job in listed("extract")} == {"done"}


def test_the_model_never_reads_what_the_rules_have_not_read(doors: Doors) -> None:
    door = doors(says(), settings=load({}, dispatch="doorbell"))
    only = running.work(door._setup, limit=9, of=["extract"], tenant_id=door.scope.tenant_id)
    door.remember("EVENT-ONE is said", wait=False)
    drained(doors(None))
    door.remember("EVENT-TWO is said", wait=False)
    assert door._run(only) == 1
    assert ["EVENT-TWO" in asked.text for asked in model_of(door).asked] == [False]
    drained(door)
    assert ["EVENT-TWO" in asked.text for asked in model_of(door).asked] == [False, True]


def test_the_same_answer_in_any_order_gives_the_same_rows(database_url: str, database: Database) -> None:
    said = "In spring I plant beans, in summer I sail, in autumn I brew cider and in winter I knit socks."
    found = [
        fact("User plants beans in spring", "plant beans", relations=[{"to": 1, "type": "precedes", "weight": 0.4}]),
        fact("User sails in summer", "in summer I sail"),
        fact("User brews cider", "brew cider"),
        fact("User knits socks", "knit socks"),
        fact("User paints", "I paint"),
    ]
    seen = []
    for order in ([0, 1, 2, 3, 4], [4, 2, 1, 0, 3], [1, 0, 3, 4, 2]):
        tenant = f"t-{uuid.uuid4().hex[:16]}"
        place = {old: new for new, old in enumerate(order)}
        answer = [
            {**found[old], "relations": [{**link, "to": place[link["to"]]} for link in found[old].get("relations", ())]}
            for old in order
        ]
        with Engram(database_url, scope=Scope(tenant_id=tenant), llm=ScriptedModel(says(*answer))) as door:
            door.remember(said, wait=True)
        with database.transaction(tenant) as conn:
            seen.append(
                [
                    tuple(row)
                    for row in conn.exec_driver_sql(
                        "SELECT m.ordinal, m.fact, m.status, q.char_start, q.char_end, q.verified, "
                        " r.relation_type, t.fact, r.weight"
                        "  FROM engram.agent_memory m JOIN engram.memory_sources q USING (tenant_id, memory_id)"
                        "  LEFT JOIN engram.memory_relations r"
                        "    ON r.tenant_id = m.tenant_id AND r.source_id = m.memory_id"
                        "  LEFT JOIN engram.agent_memory t ON t.tenant_id = m.tenant_id AND t.memory_id = r.target_id"
                        " WHERE m.deriver = 'llm' ORDER BY m.ordinal, r.relation_type"
                    )
                ]
            )
    assert seen[0] == seen[1] == seen[2]
    assert [row[0] for row in seen[0]] == [100, 101, 102, 103, 104]
    assert seen[0][0][6:] == ("precedes", "User sails in summer", 0.4)


# ------------------------------------------------ relations, and what goes with an event


def test_relations_of_an_answer_are_kept_marked_and_erased_with_their_event(
    doors: Doors, database: Database, tenant: str
) -> None:
    door = doors(
        says(
            fact("Ann leads Apollo", "Ann leads Apollo", subject="Ann", attribute="leads", value="Apollo"),
            fact("Apollo ships in May", "Apollo ships in May", subject="Apollo", attribute="ships", value="May",
                 relations=[{"to": 2, "type": "caused_by", "weight": 0.9}, {"to": 1, "type": "part_of"},
                            {"to": 63, "type": "follows"}]),
            fact("Money is short", "money is short"),
        )
    )  # fmt: skip
    receipt = door.remember("At work Ann leads Apollo. Apollo ships in May because money is short.", wait=True)
    query = (
        "SELECT s.fact, r.relation_type, t.fact, r.weight, r.auto, r.metadata->>'deriver', r.event_id::text"
        "  FROM engram.memory_relations r"
        "  JOIN engram.agent_memory s ON s.tenant_id = r.tenant_id AND s.memory_id = r.source_id"
        "  JOIN engram.agent_memory t ON t.tenant_id = r.tenant_id AND t.memory_id = r.target_id ORDER BY 1"
    )
    [event_id] = receipt.event_ids
    with database.transaction(tenant) as conn:
        assert [tuple(row) for row in conn.exec_driver_sql(query)] == [
            ("Ann leads Apollo", "references", "Apollo ships in May", 0.5, True, "relations", event_id),
            ("Apollo ships in May", "caused_by", "Money is short", 0.9, True, "relations", event_id),
        ]
    door.ops.redact_event(event_id)
    with database.transaction(tenant) as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM engram.memory_relations").scalar() == 0
    assert facts(door) == []


@pytest.mark.parametrize("unverified", ["quarantine", "keep", "reject"])
def test_nothing_a_model_made_of_an_event_outlives_it(
    doors: Doors, database: Database, tenant: str, unverified: Any
) -> None:
    made = (
        fact("Canary one sings", "canary sings", subject="Canary", value="sings"), fact("Canary two sings", "made up"),
        fact("Canary three sings", "canary sings", relations=[{"to": 0, "type": "supports"}]),
    )  # fmt: skip
    door = doors(script(says(*made), verdict("keep_both")), policy=MemoryPolicy("own", unverified=unverified))
    receipt = door.remember("At home a canary sings", wait=True)
    door.ops.redact_event(receipt.event_ids[0])
    with database.transaction(tenant) as conn:
        tables = conn.exec_driver_sql(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = 'engram' AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
            "   AND has_table_privilege(c.oid, 'SELECT')"
        ).scalars()
        left = [
            table
            for table in tables
            if conn.exec_driver_sql(f"SELECT count(*) FROM engram.{table} t WHERE t::text ~* 'canar'").scalar()
        ]
    assert left == []


# ------------------------------------------------ the batched decision


def verdict(decision: str, target: int | None = 1, candidate: int = 1) -> dict[str, Any]:
    return {"decisions": [{"candidate": candidate, "decision": decision} | ({"target": target} if target else {})]}


REFUSED = "advice_refused:value_changed"
HELD = "User plays the violin in a quartet on Monday evenings"


@pytest.mark.parametrize(
    ("candidate", "advice", "kind", "reason"),
    [
        ("User plays the cello in a quartet on Monday evenings", verdict("revise"), "revise", "adjudicated"),
        ("User plays the cello in a quartet on Monday evenings", verdict("keep_both"), "add", "kept_both"),
        ("User plays the cello in a quartet on Monday evenings", verdict("add", None), "add", "adjudicated"),
        ("User plays the cello in a quartet on Monday evenings", verdict("reinforce"), "add", REFUSED),
        ("User plays the violin in a quartet on Tuesday evenings", verdict("reinforce"), "add", REFUSED),
        ("User does not play the violin in a quartet on Monday evenings", verdict("reinforce"), "revise",
         "said_to_have_changed"),
        ("User plays the violin in a trio of 3 on Monday evenings", verdict("reinforce"), "add", REFUSED),
        ("User plays the violin on Monday evenings", verdict("reinforce"), "reinforce", "adjudicated"),
        ("User plays the violin on Monday evenings", verdict("revise"), "reinforce", "adjudicated"),
        ("User plays the cello in a quartet on Monday evenings", verdict("revise", 8), "add", "new"),
        ("User plays the cello in a quartet on Monday evenings", verdict("revise", 1, 12), "add", "new"),
        ("User plays the cello in a quartet on Monday evenings", "no json", "add", "new"),
    ],
)  # fmt: skip
def test_a_verdict_counts_as_far_as_the_gates_allow(
    doors: Doors, candidate: str, advice: Says, kind: str, reason: str
) -> None:
    said = "About music: it is the one thing I do"
    door = doors(script(says(fact(candidate, "it is the one thing I do")), advice))
    held = door.add(HELD).memory
    assert held is not None
    receipt = door.remember(said, wait=True)
    [decision] = [d for d in receipt.decisions if d.kind != "add" or "evidence" not in d.reasons]
    assert (decision.kind, reason in decision.reasons) == (kind, True), decision.reasons
    assert door.get(held.memory_id).status == ("superseded" if kind == "revise" else "active")
    if kind == "revise":
        assert [m.fact for m in door.get_lineage(held.memory_id).revisions] == [candidate, HELD]


def test_a_verdict_never_displaces_what_is_trusted_more(doors: Doors) -> None:
    door = doors(script(says(fact("User plays the cello in a quartet on Monday evenings", "cello")), verdict("revise")))
    held = door.add(HELD).memory
    assert held is not None
    receipt = door.remember(
        [{"role": "tool", "content": "It is the cello", "derive": "llm", "trust": "web"}], wait=True
    )
    [decision] = [d for d in receipt.decisions if "evidence" not in d.reasons]
    assert (decision.kind, "advice_refused:more_trusted" in decision.reasons) == ("add", True)
    assert door.get(held.memory_id).status == "active"


def test_a_less_trusted_text_has_no_say_over_a_more_trusted_candidate(doors: Doors) -> None:
    door = doors(script(says(fact("User plays the cello in a quartet on Monday evenings", "cello")), verdict("revise")))
    door.add("User plays the violin in a quartet on Monday evenings", trust="web")
    door.remember("It is the cello", wait=True)
    assert [a for a in model_of(door).asked if a.schema is not None and a.schema.__name__ == "Verdicts"] == []


def test_a_keyed_or_exact_candidate_is_never_put_to_the_vote(doors: Doors) -> None:
    door = doors(
        script(says(fact("User lives in Rome", "in Rome"), fact(HELD, "violin")), verdict("add", None)),
        settings=load({}, llm_level="full"),
    )
    door.add("User lives in Oslo")
    door.add(HELD)
    receipt = door.remember("So: in Rome, and the violin", wait=True)
    assert [(d.kind, d.reasons) for d in receipt.decisions if "evidence" not in d.reasons] == [
        ("revise", ("same_key",)), ("reinforce", ("exact_duplicate",)),
    ]  # fmt: skip
    assert len(model_of(door).asked) == 1


def test_one_call_judges_all_and_only_the_unsure_at_auto(doors: Doors) -> None:
    found = [fact(f"User plays the {what} in a quartet on Monday evenings", f"{what}") for what in ("cello", "flute")]
    new = fact("User breeds tropical fish", "fish")
    door = doors(script(says(*found, new), {"decisions": []}))
    door.add(HELD)
    door.remember("cello, flute, fish", wait=True)
    asked = [a for a in model_of(door).asked if a.schema is not None and a.schema.__name__ == "Verdicts"]
    assert len(asked) == 1
    assert "cello" in asked[0].text
    assert "flute" in asked[0].text
    assert "fish" not in asked[0].text


def test_a_target_that_changed_meanwhile_leaves_it_to_the_gates(doors: Doors, database: Database, tenant: str) -> None:
    candidate = "User plays the cello in a quartet on Monday evenings"
    silent = doors(None, settings=load({}, dispatch="doorbell"))
    held = silent.add(HELD).memory
    assert held is not None
    silent.remember("It is the cello", derive="llm", wait=False)
    drained(silent)

    def meddling(asked: Asked) -> Says:
        silent.revise(held.memory_id, "User plays the harp in a quartet on Monday evenings")
        return verdict("revise")

    door = doors(
        lambda asked: meddling(asked) if asked.schema.__name__ == "Verdicts" else says(fact(candidate, "cello"))
    )
    drained(door)
    current = facts(door)
    assert current == [candidate, "User plays the harp in a quartet on Monday evenings"]


def test_a_target_that_gained_trust_meanwhile_is_not_displaced(doors: Doors) -> None:
    candidate = "User plays the cello in a quartet on Monday evenings"
    silent = doors(None, settings=load({}, dispatch="doorbell"))
    held = silent.add(HELD).memory
    assert held is not None
    silent.remember("It is the cello", derive="llm", wait=False)
    drained(silent)

    def meddling() -> Says:
        silent.add(HELD, trust="operator")
        return verdict("revise")

    door = doors(script(says(fact(candidate, "cello")), meddling))
    drained(door)
    assert facts(door) == [candidate, HELD]
    assert door.get(held.memory_id).trust == "operator"


# ------------------------------------------------ through the real LiteLLM


@pytest.mark.parametrize(
    ("behaviours", "state", "made"),
    [
        ([model_server.says(says(fact("User keeps bees", "keep bees")))], "done", ["User keeps bees"]),
        ([model_server.says("```json\n" + json.dumps(says(fact("User keeps bees", "keep bees"))) + "\n```")], "done",
         ["User keeps bees"]),
        ([model_server.says("oh"), model_server.says(says(fact("User keeps bees", "keep bees")))], "done",
         ["User keeps bees"]),
        ([model_server.says('{"facts": [{"turn": 1', finish="length"), model_server.says(says())], "done", []),
        ([model_server.says("oh")], "dead", []),
        ([model_server.status(500), model_server.says(says(fact("User keeps bees", "keep bees")))], "done",
         ["User keeps bees"]),
        ([model_server.status(429, {"retry-after": "600"})], "queued", []),
        ([model_server.status(401)], "paused", []),
    ],
)  # fmt: skip
def test_extraction_through_litellm_ends_in_the_right_state(
    database_url: str, tenant: str, listed: Jobs, behaviours: Any, state: str, made: list[str]
) -> None:
    with model_server.ModelServer() as server:
        server.script(behaviours)
        chosen = load(
            {}, dispatch="doorbell", llm_model="openai/test", llm_api_base=server.url, llm_api_keys="k", llm_price="1/1"
        )
        with Engram(database_url, scope=Scope(tenant_id=tenant), settings=chosen) as door:
            door.remember("On the roof we keep bees, and they are many.", wait=False)
            drained(door)
            assert [m.fact for m in door.list_memories() if m.deriver == "llm"] == made
            assert [job.state for job in listed("extract")] == [state]
            assert any("keep bees" in m.fact for m in door.list_memories()), "what was said is there in any case"


# ------------------------------------------------ a question that a provider refuses


def choosy(asked: Asked) -> Says:
    """A provider that answers 400 to whatever holds a certain word."""
    if "poison" in asked.text:
        return ModelRejected(status=400, retry_after=900.0)
    return says(fact("User plays chess", "chess is what I play")) if "chess" in asked.text else says()


def tried_again(door: Engram, job: Job) -> None:
    """Try a job again as if the failures before lay long ago."""
    door._setup.llm.breaker(model_of(door)).note(None)  # type: ignore[union-attr]
    door.ops.retry_job(job.job_id)
    drained(door)


def test_a_question_that_is_refused_while_others_are_answered_does_not_stop_its_stream(
    doors: Doors, listed: Jobs
) -> None:
    door = doors(choosy, settings=load({}, dispatch="doorbell"))
    door.remember("A poison of a sentence.", derive="llm", session_id="s")
    drained(door)
    [stuck] = listed("extract")
    assert (stuck.state, stuck.error_class) == ("paused", "model_rejected"), "it may be the account: somebody looks"
    tried_again(door, stuck)
    assert listed("extract")[0].state == "paused"
    door.remember("Nothing else.", derive="llm", session_id="t")
    drained(door)
    tried_again(door, stuck)
    [dead] = [job for job in listed("extract") if job.state != "done"]
    assert (dead.job_id, dead.state, dead.error_class) == (stuck.job_id, "dead", "refused")
    door.remember("You know, chess is what I play.", derive="llm", session_id="s")
    drained(door)
    assert "User plays chess" in facts(door)


def test_a_question_that_is_refused_five_times_does_not_stop_its_stream(doors: Doors, listed: Jobs) -> None:
    door = doors(choosy, settings=load({}, dispatch="doorbell"))
    door.remember("A poison of a sentence.", derive="llm", session_id="s")
    drained(door)
    [stuck] = listed("extract")
    for _ in range(3):
        tried_again(door, stuck)
    assert listed("extract")[0].state == "paused"
    tried_again(door, stuck)
    assert [(job.state, job.error_class) for job in listed("extract")] == [("dead", "refused")]
    door._setup.llm.breaker(model_of(door)).note(None)  # type: ignore[union-attr]
    door.remember("You know, chess is what I play.", derive="llm", session_id="s")
    drained(door)
    assert "User plays chess" in facts(door)


def test_a_key_that_is_refused_never_buries_a_question(doors: Doors, listed: Jobs) -> None:
    door = doors(lambda _asked: ModelRejected(status=401), settings=load({}, dispatch="doorbell"))
    door.remember("Good morning.", derive="llm")
    drained(door)
    [stuck] = listed("extract")
    for _ in range(6):
        tried_again(door, stuck)
    assert [(job.state, job.error_class) for job in listed("extract")] == [("paused", "model_rejected")]


def test_a_fact_a_guard_fails_on_is_refused_alone(doors: Doors) -> None:
    def poisoned(candidate: Mapping[str, Any]) -> Mapping[str, Any]:
        if "wasp" in candidate["fact"]:
            raise ZeroDivisionError(candidate["fact"])
        return candidate

    found = says(fact("Bo fears wasps", "Bo fears them"), fact("Bo hums", "Bo hums"))
    door = doors(script(found), background=False, policy=MemoryPolicy("guarded", guards=(poisoned,)))
    door.remember("Bo fears them. Bo hums.", derive="llm", session_id="s")
    drained(door)
    assert "Bo hums" in facts(door)
    assert [one.reasons for one in door.list_decisions(kind="reject")] == [
        ("failed", "the hook poisoned of the policy failed (ZeroDivisionError)")
    ]
    assert not [job for job in door.ops.list_jobs() if job.state == "dead"]


def test_who_waits_for_a_model_out_of_reach_is_told_that_the_rules_have_read(doors: Doors) -> None:
    def away(asked: Asked) -> Says:
        raise Unavailable

    door = doors(away, background=False)
    with pytest.raises(Unavailable, match="the language model is waited for, which has yet to read them") as told:
        door.remember("I live in Ottawa.", derive="llm", session_id="s", wait=0.1)
    assert (told.value.waiting, told.value.behind) == (("llm",), 1)
    [event_id] = told.value.event_ids
    assert "User lives in Ottawa" in facts(door)
    drained(door)
    with pytest.raises(Unavailable, match=r"which failed \(unavailable\) and is tried again by itself") as told:
        door.wait_for(event_id, timeout=0.1)
    assert told.value.error_class == "unavailable"
    with pytest.raises(Unavailable, match="only the language model"):
        door.wait_for(event_id, deriver="llm", timeout=0)
