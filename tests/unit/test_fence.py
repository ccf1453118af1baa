"""The fence over every format, style and grouping: 200 texts that try to leave it, parsed back from what is printed."""

from __future__ import annotations

import functools
import json
import re
import xml.etree.ElementTree as ElementTree
from datetime import timedelta
from typing import Any

import breakouts
import pytest
from test_context import DAY, event, fenced, found, hidden, marks, memory, section, shape, task_run, uid

from engram import context, served
from engram.context import Material, Style, in_fence, in_line, pack
from engram.text import count_tokens
from engram.values import DETAILS, FORMATS, GROUPS, TRUSTS, ContextBlock

TEXTS = sorted(text for text in set(breakouts.ALL) if served.own(text))  # others are printed by no event
STYLES = [(group, detail, bool(n % 2)) for n, group in enumerate((None, *GROUPS)) for detail in DETAILS]
NOW = DAY + timedelta(days=3)


def material(texts: list[str]) -> Material:
    """Trusted memories of several types, days and sessions, and one untrusted item of a source of its own per text."""
    return Material(
        critical=[memory("User lives in Oslo", 1, critical_slot="home"),
                  memory("Never call at night", 2, critical_slot="calls", memory_type="constraint")],
        task=task_run("Cook dinner"),
        relevant=[found(memory("User cycles", 3, session_id="a")),
                  found(memory("User cooks", 4, memory_type="preference", valid_from=DAY - timedelta(days=1)))],
        artifacts=[
            event(text, 100 + n, trust=TRUSTS[3 + n % 3], actor=f"tool {n}", event_type="tool_result", role="tool")
            for n, text in enumerate(texts)
        ],
    )  # fmt: skip


def style(group: Any, detail: Any, metadata: bool) -> Style:
    return Style(group, detail, metadata, NOW)


def printed(texts: list[str], format: Any, chosen: Style) -> ContextBlock:
    return pack(material(texts), max_tokens=300_000, format=format, style=chosen)


def expected(text: str, number: int, chosen: Style, format: str) -> str:
    body, trust = in_fence(text), TRUSTS[3 + number % 3]
    about = "; 3 days old" if chosen.metadata else ""
    if chosen.detail == "compact":
        body = " ".join(body.split())
        body = body if len(body) <= 80 else body[:79].rstrip() + "…"
        lead = f"[{trust} 2025-03-04 tool_result{about}] "
    else:
        lead = f"[{trust} 2025-03-04{'; tool_result, 3 days old' if chosen.metadata else ''}] "
    said = f"{lead}{body} [evt-{100 + number:08x}]"
    return said if format == "json" else said.replace("\n", "\n    | ")


def test_the_corpus_is_large_enough() -> None:
    assert len(TEXTS) >= 200


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("group", "detail", "metadata"), STYLES)
def test_nothing_leaves_the_fence_in_any_style(format: Any, group: Any, detail: Any, metadata: bool) -> None:
    chosen = style(group, detail, metadata)
    block = printed(TEXTS, format, chosen)
    items, outside, delimiter = fenced(block)
    assert items == [expected(text, n, chosen, format) for n, text in enumerate(TEXTS)]
    harmless = fenced(printed(["It rains."] * len(TEXTS), format, chosen))
    assert outside == harmless[1], "what an item says changes nothing outside the fence"
    assert len(harmless[0]) == len(TEXTS)
    assert not hidden(block.text)
    assert delimiter not in "".join(TEXTS)
    assert marks(block) == list(block.citations), "an item cites itself only"
    answer = "\n".join(items)
    assert block.parse_citations(answer) == tuple(uid(100 + n) for n in range(len(TEXTS))), "nor does who repeats it"
    tokens = (
        "<|",
        "<｜",
        "[INST]",
        "[/INST]",
        "<s>",
        "</s>",
        "<bos>",
        "<start_of_turn>",
        "<</SYS>>",
        "[TOOL_RESULTS]",
        "<system",
        "</system",
        "<tool_call>",
        "</tool_call>",
        "<think",
        "<turn|>",
        "<BOS_TOKEN>",
    )
    assert [one for one in tokens if one in answer] == []


@functools.cache
def _harmless(format: Any, group: Any, detail: Any) -> str:
    return _named("It rains", format, group, detail).text


def _named(name: str, format: Any, group: Any, detail: Any) -> ContextBlock:
    """A block in which everything that may become a heading is a text of somebody's."""
    rows = [memory("User cycles", 3, session_id=name), memory("User cooks", 4, session_id="b")]
    said = [event("Good morning", 7, session_id=name, event_type=f"x.{name}", actor=name)]
    return pack(Material(relevant=list(map(found, rows)), events=said), max_tokens=50_000, format=format,
                style=style(group, detail, True))  # fmt: skip


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("detail", DETAILS)
@pytest.mark.parametrize("group", GROUPS)
def test_a_name_that_is_a_heading_fakes_none(format: Any, detail: Any, group: Any) -> None:
    harmless = _harmless(format, group, detail)
    for text in TEXTS[::2]:
        if not in_line(text):
            continue
        block = _named(text, format, group, detail)
        assert marks(block) == list(block.citations)
        assert not hidden(re.sub("[\u200c\u200d\ufe0e\ufe0f]", "", block.text))
        if format == "json":
            data = json.loads(block.text)
            assert list(data) == list(json.loads(harmless))
        elif format == "xml":
            assert shape(ElementTree.fromstring(block.text)) == shape(ElementTree.fromstring(harmless))
        else:
            assert block.text.count("\n") == harmless.count("\n")
            heads = [line.partition(" ")[0] for line in block.text.split("\n")]
            assert heads == [line.partition(" ")[0] for line in harmless.split("\n")] or format == "prose"


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("said", ['&"\\<' * 150, "a\n" * 300, "word " * 100])
def test_one_source_takes_at_most_a_fifth_as_it_is_printed(format: Any, said: str) -> None:
    rows = [found(memory(f"{n} {said}", 100 + n, trust="web", source="page")) for n in range(30)]
    for most in (400, 6_000):
        block = pack(Material(relevant=rows), max_tokens=most, format=format)
        data = section(block, context.DATA)
        empty = count_tokens(context.FORMS[format].data("0" * 16, [])) + 2
        assert data is None or data.tokens <= 0.2 * most + empty
    assert data is not None, "and it does print something"


def test_a_least_trust_of_the_user_is_untainted_in_every_style() -> None:
    for format in FORMATS:
        for group, detail, metadata in STYLES:
            block = pack(material(TEXTS[:20]), max_tokens=9_000, format=format, min_trust="user",  # type: ignore[arg-type]
                         style=style(group, detail, metadata))  # fmt: skip
            assert block.max_trust in ("operator", "user")
            assert section(block, context.DATA) is None
            assert breakouts.ORDER not in block.text
            assert not any(item.fenced for item in block.items)
