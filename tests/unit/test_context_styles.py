"""How a context is printed: groups, an index, what is known of each item, messages, and citations read back."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from datetime import timedelta
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_context import COUNTERS, DAY, event, found, materials, memory, section, task_run, uid

from engram import context
from engram.context import Material, Style, pack
from engram.errors import InvalidInput
from engram.values import (
    DETAILS,
    FORMATS,
    GROUPS,
    MEMORY_TYPES,
    Citation,
    ContextBlock,
    ContextItem,
    Format,
    Provider,
)

NOW = DAY + timedelta(days=3, hours=1)
EVERY_TYPE = Material(
    relevant=[
        found(memory(f"Fact {n}", n, memory_type=kind, session_id=f"s{n % 3}", valid_from=DAY - timedelta(days=n % 4)))
        for n, kind in enumerate(MEMORY_TYPES, 1)
    ]
)


def styled(material: Material, format: Format = "markdown", **style: Any) -> ContextBlock:
    return pack(material, max_tokens=20_000, format=format, style=Style(**style))


def groups_of(block: ContextBlock) -> dict[str, list[str]]:
    """The marks under each heading of the relevant memories, as somebody who reads the format finds them."""
    shown = section(block, context.RELEVANT).text
    marks: dict[str, list[str]] = {}
    if block.format == "json":
        data = json.loads(f"{{{shown}}}")[context.RELEVANT]
        return {name: [re.findall(r"\[(mem-\w+)\]", line)[0] for line in lines] for name, lines in data.items()}
    if block.format == "xml":
        root = ElementTree.fromstring(shown)
        return {one.attrib["name"]: re.findall(r"\[(mem-\w+)\]", "".join(one.itertext())) for one in root}
    heading = {
        "markdown": r"^### (.*)$",
        "bullets": r"^  - (\S+|no session)$",
        "prose": r"^Relevant memories, ([^:]*): ",
    }
    name = ""
    for line in shown.split("\n"):
        head = re.match(heading[block.format], line)
        name = head.group(1) if head else name
        marks.setdefault(name, []).extend(re.findall(r"\[(mem-\w+)\]", line))
    marks.pop("", None)
    return marks


@pytest.mark.parametrize("format", FORMATS)
def test_every_type_is_printed_under_its_own_name(format: Any) -> None:
    block = styled(EVERY_TYPE, format, group_by="type")
    assert groups_of(block) == {kind: [f"mem-{n:08x}"] for n, kind in enumerate(MEMORY_TYPES, 1)}
    assert list(block.citations) == [f"mem-{n:08x}" for n in range(1, 11)]


@pytest.mark.parametrize("format", FORMATS)
def test_days_come_in_their_order_and_sessions_by_their_best(format: Any) -> None:
    days = groups_of(styled(EVERY_TYPE, format, group_by="date"))
    assert list(days) == ["2025-03-01", "2025-03-02", "2025-03-03", "2025-03-04"]
    assert days["2025-03-04"] == ["mem-00000004", "mem-00000008"]
    sessions = groups_of(styled(EVERY_TYPE, format, group_by="session"))
    assert list(sessions) == ["s1", "s2", "s0"]
    assert sessions["s1"] == ["mem-00000001", "mem-00000004", "mem-00000007", "mem-0000000a"]


def test_what_has_no_session_says_so_and_the_marks_keep_the_printed_order() -> None:
    rows = [found(memory("a", 1)), found(memory("b", 2, session_id="s")), found(memory("c", 3))]
    block = styled(Material(relevant=rows), group_by="session")
    assert groups_of(block) == {"no session": ["mem-00000001", "mem-00000003"], "s": ["mem-00000002"]}
    assert list(block.citations) == ["mem-00000001", "mem-00000003", "mem-00000002"]
    assert [item.mark for item in block.items] == list(block.citations)


@pytest.mark.parametrize("format", FORMATS)
def test_the_notice_of_what_did_not_fit_stands_in_no_group(format: Any) -> None:
    rows = [memory(f"Substance number {n} is dangerous", n, critical_slot=f"s{n}") for n in range(1, 60)]
    block = pack(Material(critical=rows), max_tokens=300, format=format, style=Style(group_by="type"))
    left = len(block.critical_omitted)
    assert left
    assert f'omitted="{left}"' in block.text if format == "xml" else f"({left} more did not fit)" in block.text
    assert block.text.index("more did not fit" if format != "xml" else "omitted") < block.text.index("semantic")


def test_an_index_has_a_date_a_type_and_80_characters() -> None:
    long = "User keeps a long list of things to do before the winter comes, of which this is the first and longest one"
    rows = [found(memory(long, 1, memory_type="task")), found(memory("Short", 2, trust="web"))]
    pinned = [memory(long, 3, critical_slot="s", memory_type="constraint")]
    block = styled(Material(critical=pinned, relevant=rows, events=[event("Good\nmorning", 4)]), detail="compact")
    lines = block.text.split("\n")
    assert f"- 2025-03-04 task: {long[:79].rstrip()}… [mem-00000001]" in lines
    assert f"- 2025-03-04 constraint: {long} [mem-00000003]" in lines, "what is pinned is not cut"
    assert "- 2025-03-04 user_message: Good morning [evt-00000004]" in lines
    assert "    [web 2025-03-04 semantic] Short [mem-00000002]" in lines


def test_an_index_is_smaller_and_its_items_can_be_read_whole() -> None:
    rows = [found(memory(f"Fact {n} " + "and more of it " * 20, n)) for n in range(1, 20)]
    whole, index = (styled(Material(relevant=rows), detail=detail) for detail in DETAILS)
    assert index.tokens < whole.tokens / 2
    assert index.citations == whole.citations


def test_type_age_and_importance_are_shown_where_they_are_wanted() -> None:
    rows = [found(memory("User cycles", 1, importance=0.8, memory_type="preference")),
            found(memory("Buy now", 2, trust="web", importance=1.0))]  # fmt: skip
    material = Material(relevant=rows, events=[event("Hello", 3, occurred_at=NOW - timedelta(days=1))])
    block = styled(material, metadata=True, now=NOW)
    assert "2025-03-04: User cycles (preference, 3 days old, importance 0.80) [mem-00000001]" in block.text
    assert "    [web 2025-03-04; semantic, 3 days old, importance 1.00] Buy now [mem-00000002]" in block.text
    assert "Hello (user_message, 1 day old) [evt-00000003]" in block.text
    assert "importance" not in styled(material, now=NOW).text
    compact = styled(material, metadata=True, now=NOW, detail="compact").text
    assert "2025-03-04 preference: User cycles (3 days old, importance 0.80) [mem-00000001]" in compact
    early = styled(material, metadata=True, now=DAY - timedelta(days=9)).text
    assert "0 days old" in early
    assert "-" not in early.split("importance")[0].split("(")[-1]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    materials(), st.integers(50, 1_500), st.sampled_from(FORMATS), st.sampled_from(sorted(COUNTERS)),
    st.sampled_from([None, *GROUPS]), st.sampled_from(DETAILS), st.booleans(),
)  # fmt: skip
def test_a_block_keeps_its_promises_in_every_style(
    material: Material, most: int, format: Any, counter: str, group: Any, detail: Any, metadata: bool
) -> None:
    count = COUNTERS[counter]
    block = pack(material, max_tokens=most, format=format, count=count, style=Style(group, detail, metadata, NOW))
    assert block.tokens == count(block.text) <= most
    assert [item.mark for item in block.items if item.mark] == list(block.citations)
    assert all(block.citations[item.mark] == item.item_id for item in block.items if item.mark)
    assert "".join(part["text"] for one in block.to_messages("anthropic") for part in one["content"]) == block.text
    for one in block.sections:
        assert one.text in block.text


# Where an item comes from --------------------------------------------------------------------------------------------


def test_an_item_says_which_characters_it_rests_on() -> None:
    cited = Citation(uid(50), 3, 9, "0" * 64, None, True)
    said = Citation(uid(7), 0, 14, "1" * 64, None, True)
    late = memory("I live in Oslo", 7, memory_id=uid(7), category="verbatim", event_id=uid(7), citations=(said,))
    block = styled(
        Material(
            critical=[memory("User cycles", 1, critical_slot="s", citations=(cited,), source="app")],
            task=task_run("Cook dinner"),
            relevant=[found(late, derived=False)],
            artifacts=[event("Rain", 9, trust="tool", actor="weather")],
        )
    )
    items = {item.mark: item for item in block.items}
    assert items["mem-00000001"] == ContextItem(
        "mem-00000001", uid(1), context.CRITICAL, "user", DAY, "app", False, (cited,)
    )
    (whole,) = items["evt-00000009"].citations
    assert (whole.event_id, whole.char_start, whole.char_end, whole.verified) == (uid(9), 0, 4, True)
    assert (items["evt-00000009"].fenced, items["evt-00000009"].source) == (True, "weather")
    assert items["evt-00000007"].citations == (said,)
    assert [(item.section, item.trust) for item in block.items if not item.mark] == [(context.TASK, "operator")] * 2


# What a model writes -------------------------------------------------------------------------------------------------

SOME = pack(
    Material(relevant=[found(memory(f"fact {n}", n)) for n in (1, 2, 3)], events=[event("said", 4)]), max_tokens=500
)


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("[mem-00000001]", (1,)),
        ("Oslo [mem-00000001, evt-00000004].", (1, 4)),
        ("[mem-00000001; mem-00000003]", (1, 3)),
        ("[mem-00000001][mem-00000002]", (1, 2)),
        ("[mem-00000001]mem-00000002", (1, 2)),
        ("(mem-00000003)", (3,)),
        ("**[mem-00000001]** and **mem-00000002**", (1, 2)),
        ("_mem-00000001_ *mem-00000002*", (1, 2)),
        ("\\[mem-00000001\\]", (1,)),
        ("`mem-00000001`, ```\nx = 1  # mem-00000002\n```", (1, 2)),
        ("[MEM-00000001] [Evt-00000004]", (1, 4)),
        ("[mem\u201100000001] [mem\u201300000002] [mem\u221200000003]", (1, 2, 3)),
        ("[mem-\u200b00000001] \u2060[mem-00000002]", (1, 2)),
        ("【mem-00000001】 是这样mem-00000002。", (1, 2)),
        ("[^mem-00000001] <mem-00000002> {mem-00000003}", (1, 2, 3)),
        ("(see mem-00000001): https://x.example/mem-00000002", (1, 2)),
        ("[1](mem-00000001)", (1,)),
        ("mem-00000001's, mem-00000002-ish—mem-00000003", (1, 2, 3)),
        ("\"mem-00000003\" '[mem-00000001]'", (3, 1)),
        ("[mem-00000002] again [mem-00000002] and [mem-00000001]", (2, 1)),
        ("| [mem-00000001] |\n- [mem-00000002]\n> [mem-00000003]", (1, 2, 3)),
        ("[mem-99999999], [evt-00000001], [mem-0000000], [mem-000000011]", ()),
        ("xmem-00000001 mem-00000001x 0mem-00000001", ()),
        ("mem_00000001 mem 00000001 00000001", ()),
        ("", ()),
    ],
)
def test_marks_are_found_however_a_model_writes_them(answer: str, cited: tuple[int, ...]) -> None:
    assert SOME.parse_citations(answer) == tuple(map(uid, cited))
    assert tuple(item.item_id for item in SOME.cited(answer)) == tuple(map(uid, cited))


@pytest.mark.parametrize("answer", [None, 3, b"[mem-00000001]", ["mem-00000001"]])
def test_an_answer_is_text(answer: Any) -> None:
    for read in (SOME.parse_citations, SOME.cited):
        with pytest.raises(InvalidInput):
            read(answer)


# Messages ------------------------------------------------------------------------------------------------------------


def mixed(format: Format, said: str = "Good morning") -> ContextBlock:
    return pack(
        Material(
            critical=[memory("User is allergic to peanuts", 1, critical_slot="s")],
            task=task_run("Cook dinner"),
            events=[event(said, 2)],
            artifacts=[event("Rain", 9, trust="web")],
        ),
        max_tokens=2_000,
        format=format,
    )


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_stable_what_is_not_and_what_is_untrusted_are_parts_of_their_own(format: Any) -> None:
    block = mixed(format)
    (message,) = block.to_messages("anthropic", cache=True)
    stable, rest, data = message["content"]
    assert message["role"] == "user"
    assert "".join(part["text"] for part in message["content"]) == block.text
    assert "peanuts" in stable["text"]
    assert "Cook dinner" in stable["text"]
    assert "Good morning" in rest["text"]
    assert "Rain" in data["text"]
    assert data["text"].lstrip(",\n").startswith(section(block, context.DATA).text)
    assert [part.get("cache_control") for part in (stable, rest, data)] == [{"type": "ephemeral"}, None, None]
    assert all("cache_control" not in part for part in block.to_messages("anthropic")[0]["content"])
    other = mixed(format, "Good night").to_messages("anthropic", cache=True)[0]["content"]
    assert other[0] == stable, "another question, the same beginning"
    assert block.to_messages("openai", cache=True) == [{"role": "user", "content": block.text}]


@pytest.mark.parametrize("provider", get_args(Provider))
def test_nothing_is_never_a_message_and_no_part_is_empty(provider: Any) -> None:
    assert pack(Material(), max_tokens=50).to_messages(provider) == []
    for format in FORMATS:
        empty = pack(Material(), max_tokens=50, format=format)  # type: ignore[arg-type]
        assert len(empty.to_messages(provider)) == bool(empty.text)
    alone = pack(Material(events=[event("Rain", 9, trust="web")]), max_tokens=500)
    (message,) = alone.to_messages(provider, cache=True)
    if provider == "anthropic":
        assert message["content"] == [{"type": "text", "text": alone.text}]
    with pytest.raises(InvalidInput):
        alone.to_messages(provider, cache=1)  # type: ignore[arg-type]


def test_the_role_is_never_the_systems() -> None:
    for provider in get_args(Provider):
        assert {one["role"] for one in mixed("markdown").to_messages(provider)} == {"user"}


def test_what_comes_after_something_that_changes_is_not_at_the_beginning() -> None:
    layout = context.Layout({context.EVENTS: 0.5, context.TASK: 0.5}, ())
    material = Material(
        critical=[memory("User cycles", 1, critical_slot="s")], events=[event("Hello", 2)], task=task_run("Cook dinner")
    )
    block = pack(material, max_tokens=900, layout=layout)
    stable, rest = block.to_messages("anthropic", cache=True)[0]["content"]
    assert "User cycles" in stable["text"]
    assert "Hello" in rest["text"]
    assert "Cook dinner" in rest["text"]
