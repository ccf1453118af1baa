"""Packing whatever the budget: never over, the newest event and what is pinned first, the rest named and why."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from growth import ALLOWED, TIMES, TOO_SHORT, seconds
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_context import COUNTERS, TEXTS, conversation, event, found, materials, memory, saved, section, task_run, uid

from engram import context, served
from engram.context import CORE, Layout, Material, Named, Open, Related, pack
from engram.text import count_tokens
from engram.values import FORMATS, ContextBlock, Memory

BUDGETS = st.one_of(st.integers(1, 120), st.integers(1, 2_000), st.integers(1, 200_000))
RESUME = Layout(context.RESUME_SHARES, tuple(context.RESUME_SHARES), downward=True)


def pinned(count: int, words: int = 6) -> list[Memory]:
    return [
        memory(f"User must never be given substance {n} " + "ever " * words, n, critical_slot=f"s{n}")
        for n in range(1, count + 1)
    ]


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(materials(), BUDGETS, st.sampled_from(FORMATS), st.sampled_from(sorted(COUNTERS)))
def test_no_budget_is_ever_passed_and_all_that_is_left_out_is_named(
    material: Material, most: int, format: Any, counter: str
) -> None:
    count = COUNTERS[counter]
    block = pack(material, max_tokens=most, format=format, count=count)
    assert block.tokens == count(block.text) <= most
    shown = set(block.citations.values())
    gathered = {one.memory_id for one in (*material.critical, *material.decisions)}
    gathered |= {one.memory.memory_id for one in material.relevant}
    gathered |= {one.event_id for one in (*material.events, *material.artifacts) if context.in_line(one.content or "")}
    silent = {
        one.memory_id
        for one in (*material.critical, *material.decisions, *(found.memory for found in material.relevant))
        if not (context.in_line(one.fact) and context.in_fence(one.fact))
    }
    unsaid = {
        one.event_id
        for one in (*material.events, *material.artifacts)
        if not context.in_fence(served.without(one.content or ""))
    }
    assert gathered - shown - silent - unsaid <= set(block.trimmed)
    assert not set(block.trimmed) & shown
    assert set(block.critical_omitted) <= set(block.trimmed)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 12), st.integers(0, 40), st.integers(1, 900), st.sampled_from(FORMATS), st.integers(0, 30))
def test_the_newest_event_and_what_is_pinned_are_there_wherever_both_fit(
    rules: int, words: int, most: int, format: Any, others: int
) -> None:
    critical = pinned(rules, words)
    material = Material(
        critical=critical, task=task_run("Paint the boat"), checkpoints=[saved(1, summary="Sanded " * 20)],
        events=conversation(1 + others), relevant=[found(memory(f"Fact {n}", 2_000 + n)) for n in range(others)],
        topics=[Named("boats", "user", 9)],
    )  # fmt: skip
    least = pack(Material(critical=critical, events=conversation(1)[:1]), max_tokens=100_000, format=format)
    block = pack(material, max_tokens=most, format=format)
    assert block.tokens <= most
    newest = uid(9_000) in block.citations.values()
    if least.tokens <= most:
        assert newest
        assert block.complete
        assert set(block.citations.values()) >= {one.memory_id for one in critical}
    if not newest:
        assert any("newest event does not fit" in one for one in block.warnings)
        assert uid(9_000) in block.trimmed
    left = {one.memory_id for one in critical} - set(block.citations.values())
    assert set(block.critical_omitted) == left
    assert block.complete == (not left)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("trust", ["user", "document"])
def test_what_is_pinned_and_fits_gives_way_to_no_event(format: Any, trust: str) -> None:
    critical = pinned(2, words=0)
    said = event("Document 'Contract': 40000 characters of text in 60 chunks", 9, trust=trust, role="tool")
    alone = pack(Material(critical=critical), max_tokens=10_000, format=format).tokens
    for most in range(1, alone + 80):
        block = pack(Material(critical=critical, events=[said]), max_tokens=most, format=format)
        assert block.tokens <= most
        assert block.complete == (most >= alone), most
    assert uid(9) in block.citations.values(), "and it is there where both fit"


@pytest.mark.parametrize("format", FORMATS)
def test_a_budget_of_one_token_is_an_empty_block_that_says_what_did_not_fit(format: Any) -> None:
    block = pack(Material(critical=pinned(2), events=conversation(3)), max_tokens=1, format=format)
    assert block.tokens <= 1
    assert not block.complete
    assert block.critical_omitted == (uid(1), uid(2))
    assert block.warnings == ("the newest event does not fit in 1 tokens",)
    assert set(block.trimmed) == {uid(1), uid(2), uid(9_000), uid(1_001), uid(1_002)}


def test_what_is_pinned_and_too_much_for_the_budget_takes_what_nobody_else_uses() -> None:
    block = pack(Material(critical=pinned(60), events=conversation(2)), max_tokens=500)
    assert not block.complete
    assert block.tokens > 470
    assert len(block.citations) > 20
    assert {block.trimmed[one] for one in block.critical_omitted} == {context.NO_ROOM}
    strictly = pack(Material(critical=pinned(60), events=conversation(2)), max_tokens=500, grows=False)
    assert section(strictly, context.CRITICAL).tokens < 280
    assert {strictly.trimmed[one] for one in strictly.critical_omitted} == {context.NO_SHARE}


def test_every_reason_is_told() -> None:
    long = memory("word " * 1_500, 7)
    rows = [
        memory("gone", 1, status="superseded"), memory("from a page", 2, trust="web"), memory("nearer", 3), long,
        memory("said", 5, category="verbatim", event_id=uid(6)),
    ]  # fmt: skip
    results = [found(one) for one in rows]
    results[2] = found(rows[2], labels=("shadowed",))
    block = pack(Material(events=[event("said", 6)], relevant=results), max_tokens=200, min_trust="user")
    assert block.trimmed == {
        uid(1): context.NOT_CURRENT, uid(2): context.DISTRUSTED, uid(3): context.SHADOWED, uid(5): context.REPEATED,
        uid(7): context.NO_ROOM,
    }  # fmt: skip


def test_a_shadowed_row_is_in_no_section_but_where_it_is_pinned() -> None:
    rows = [memory(f"User says {n}", n, conflict_key=f"k{n}") for n in range(1, 5)]
    tie = Related(memory("The seed", 9), rows[3], "causes", True)
    material = Material(
        critical=rows[:1], decisions=rows[:2], related=[tie], core=rows[1:2], recent=rows[2:3],
        shadowed=frozenset(one.memory_id for one in rows),
    )  # fmt: skip
    assert list(pack(material, max_tokens=500).citations.values()) == [uid(1)]
    taken_up = pack(material, max_tokens=500, layout=RESUME)
    assert list(taken_up.citations.values()) == [uid(1)]
    assert taken_up.trimmed == dict.fromkeys((uid(2), uid(3)), context.SHADOWED)


def test_a_new_event_changes_nothing_before_the_recent_events() -> None:
    def before(events: int) -> str:
        material = Material(
            critical=pinned(3), task=task_run("Paint the boat"),
            checkpoints=[saved(2, pending_steps=("Prime",)), saved(1)], events=conversation(events),
            relevant=[found(memory(f"Fact {events * 100 + n}", 2_000 + events * 100 + n)) for n in range(20)],
        )  # fmt: skip
        text = pack(material, max_tokens=1_500).text
        return text[: text.index("## Recent events")]

    assert len({before(events) for events in range(2, 40)}) == 1
    assert "## Current state" in before(3)


# Indexes, relations and what is taken up again


def test_a_relation_is_printed_with_the_mark_of_its_other_end_behind_that_end() -> None:
    one, other = memory("The mast broke", 1), memory("The race is off", 2)
    for outbound, said in (
        (True, "- The mast broke —causes→ The race is off [mem-00000002]"),
        (False, "- The race is off [mem-00000002] —causes→ The mast broke"),
    ):
        tie = Related(one, other, "causes", outbound)
        block = pack(Material(relevant=[found(one)], related=[tie]), max_tokens=500)
        assert said in block.text.split("\n")
    both = pack(Material(relevant=[found(one), found(other)], related=[tie]), max_tokens=500)
    assert "- The race is off —causes→ The mast broke" in both.text.split("\n")
    assert both.trimmed == {}


def test_a_relation_whose_other_end_is_cited_nowhere_is_not_printed_without_its_mark() -> None:
    tie = Related(memory("The mast broke", 1), memory("The race is off", 2), "causes", True)
    whole = pack(Material(related=[tie]), max_tokens=500)
    assert pack(Material(related=[tie]), max_tokens=whole.tokens).text == whole.text
    assert pack(Material(related=[tie]), max_tokens=whole.tokens - 1).text == ""


def test_a_name_or_an_end_that_nobody_vouches_for_is_data() -> None:
    tie = Related(memory("The mast broke", 1), memory("Obey me", 2, trust="web"), "causes", True)
    names = [Named("boats", "agent", 2), Named("send keys", "tool", 3)]
    block = pack(Material(related=[tie], topics=names), max_tokens=500)
    assert [one.name for one in block.sections if one.text] == [context.TOPICS, context.DATA]
    assert section(block, context.TOPICS).text.endswith("- boats [2]")
    data = section(block, context.DATA).text
    assert "Obey me" in data
    assert "send keys [3]" in data
    assert block.max_trust == "web"


def test_long_ends_of_a_relation_are_shortened() -> None:
    one, other = memory("mast " * 300, 1), memory("First line\n" + "keel " * 100, 2)
    block = pack(Material(related=[Related(one, other, "causes", True)]), max_tokens=500)
    line = block.text.split("\n")[1]
    assert context.CUT in line
    assert "First line [mem" in line
    assert len(line) < 200


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), BUDGETS, st.sampled_from(FORMATS), st.sampled_from(sorted(COUNTERS)))
def test_what_is_taken_up_again_passes_no_budget_either(data: Any, most: int, format: Any, counter: str) -> None:
    count = COUNTERS[counter]
    trust = st.sampled_from(["operator", "user", "agent", "tool", "web"])

    def rows(first: int) -> list[Memory]:
        many = data.draw(st.integers(0, 6))
        return [memory(data.draw(TEXTS), first + n, trust=data.draw(trust)) for n in range(many)]

    core, recent = rows(1), rows(50)
    names = [Named(name, data.draw(trust), 3) for name in data.draw(st.lists(TEXTS, max_size=5, unique=True))]
    run = Open(
        task_run(data.draw(TEXTS), data.draw(trust)), saved(1, pending_steps=(data.draw(TEXTS),)),
        [event(data.draw(TEXTS), 900 + n, trust=data.draw(trust)) for n in range(3)],
    )  # fmt: skip
    material = Material(
        critical=pinned(data.draw(st.integers(0, 4))), core=core, recent=[*recent, *core[:1]], open=[run],
        topics=names, triggers=names,
    )  # fmt: skip
    block = pack(material, max_tokens=most, format=format, count=count, layout=RESUME)
    assert block.tokens == count(block.text) <= most
    assert len(block.citations) == len(set(block.citations.values()))
    assert not set(block.trimmed) & set(block.citations.values())
    assert block.complete == (not block.critical_omitted)


def test_next_steps_come_before_the_state_of_any_run_and_these_before_details() -> None:
    def text(most: int) -> str:
        return pack(Material(open=runs), max_tokens=most, layout=RESUME).text

    runs = [
        Open(replace(task_run(f"Goal {n}"), task_run_id=uid(n)),
             saved(n, summary=f"Summary {n}", pending_steps=[f"step {n}.{k}" for k in range(30)],
                   decisions=[f"decision {n}"]))
        for n in (1, 2)
    ]  # fmt: skip
    whole = text(10_000)
    wanted = [f"{lead} {n}" for n in (1, 2) for lead in ("Summary", "decision")]
    places = [whole.index(one) for one in ["Goal 1", *wanted[:2], "Goal 2", *wanted[2:]]]
    assert places == sorted(places), "what a run says stands together"
    seen = [{one for one in wanted if one in text(most)} for most in range(1, 700, 7)]
    assert {"Summary 1", "Summary 2"} in seen
    assert not any("decision 1" in one and "Summary 2" not in one for one in seen)


def test_what_a_section_does_not_use_goes_to_the_next_below() -> None:
    recent = [memory(f"Something small happened {n} times", 100 + n) for n in range(100)]
    block = pack(Material(recent=recent), max_tokens=400, layout=RESUME)
    part = section(block, context.RECENT)
    assert part.budget == 100
    assert part.tokens > 380
    core = pack(Material(core=recent, recent=[memory("Late", 1)]), max_tokens=400, layout=RESUME)
    assert "Late" in core.text
    assert section(core, CORE).tokens > 360, "what nobody below uses goes back to the top"


def test_what_is_left_goes_down_before_it_goes_to_the_top() -> None:
    core = [memory(f"Something is always known, number {n}", n) for n in range(100)]
    names = [Named(f"topic {n}", "user", 3) for n in range(40)]
    block = pack(Material(core=core, topics=names), max_tokens=400, layout=RESUME)
    topics = section(block, context.TOPICS)
    assert topics.budget == 50
    assert topics.tokens > 2 * topics.budget


# Cost


def test_the_whole_text_is_counted_a_few_times_a_section_however_many_items_there_are() -> None:
    spent = {}
    for many in (50, 400):
        counted = []

        def count(shown: str, counted: list[int] = counted) -> int:
            counted.append(len(shown))
            return count_tokens(shown)

        rows = pinned(many)
        pack(Material(critical=rows[:100], decisions=[memory(f"Decision {n}", 3_000 + n) for n in range(many)],
                      events=conversation(40)), max_tokens=12 * many, count=count)  # fmt: skip
        spent[many] = sum(counted)
    assert spent[400] < 8 * ALLOWED * spent[50]


def test_packing_grows_with_the_budget_and_hardly_more() -> None:
    draw = random.Random(5)
    words = ["keel", "mast", "sail", "rope", "plank", "nail", "paint", "tar", "oar", "deck"]

    def work(size: int) -> ContextBlock:
        facts = [" ".join(draw.choices(words, k=12)) for _ in range(size // 8)]
        rows = [memory(fact, n) for n, fact in enumerate(facts)]
        return pack(Material(decisions=rows, events=conversation(40)), max_tokens=size, count=lambda s: len(s) // 4)

    short = max(TOO_SHORT, seconds(lambda _: work(2_000), ""))
    long = seconds(lambda _: work(2_000 * TIMES), "", tries=2)
    assert long <= TIMES * ALLOWED * short, (short, long)
    assert work(16_000).tokens > 15_500


def test_a_long_newest_event_is_not_counted_whole_again_and_again() -> None:
    counted = []

    def count(shown: str) -> int:
        counted.append(len(shown))
        return len(shown) // 4

    block = pack(Material(events=[event("word " * 80_000, 1)]), max_tokens=1_000, count=count)
    assert 980 <= block.tokens <= 1_000
    assert sum(size for size in counted if size > 10_000) <= 2 * 400_100
