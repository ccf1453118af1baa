"""What kind of text a chunk is."""

from __future__ import annotations

import pytest
from chunks import HELD_OUT, TABLE, UNSEEN
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from engram.longinput.kinds import MEMORY_TYPE_OF, kind_of
from engram.values import MEMORY_TYPES

# A table learnt by heart is known by heart; the last row nobody has learnt says what to expect.
NOT_KNOWN = {"Be brief and friendly. Never promise a refund. Escalate angry customers to a human."}


@pytest.mark.parametrize(
    ("kind", "heading", "text"), [row for row in (*TABLE, *HELD_OUT, *UNSEEN) if row[2] not in NOT_KNOWN]
)
def test_the_kind_of_a_chunk(kind: str, heading: str | None, text: str) -> None:
    assert kind_of(text, heading) == kind


def test_the_kinds_make_the_memories_they_should() -> None:
    assert MEMORY_TYPE_OF == {
        "legal_clause": "constraint",
        "requirement": "constraint",
        "constraint": "constraint",
        "decision": "decision",
        "question": None,
        "tool_result": "tool_result",
        "source_doc": "semantic",
        "instruction": "procedural",
        "background_context": "semantic",
    }
    assert set(MEMORY_TYPE_OF.values()) - {None} <= set(MEMORY_TYPES)
    assert {kind for kind, _, _ in TABLE} == set(MEMORY_TYPE_OF)


@pytest.mark.parametrize("media", ["code", "diff", "jsonl"])
def test_code_changes_and_records_are_sources_whatever_they_say(media: str) -> None:
    assert kind_of("We decided to stop. You must not go on.", media=media) == "source_doc"


def test_what_a_program_printed_is_seen_in_lines_of_json() -> None:
    assert kind_of('{"role": "tool", "content": "42 files"}\n', media="jsonl") == "tool_result"


def test_one_sentence_does_not_speak_for_a_page() -> None:
    page = "The harbour was built in 1887 and enlarged twice. " * 20
    assert kind_of(page + "Boats must not anchor there.") == "background_context"
    assert kind_of(page + "\n```console\n$ ls\nharbour\n```\n" + page) == "background_context"


@given(st.text(max_size=300), st.one_of(st.none(), st.text(max_size=40)))
def test_every_text_has_a_kind(text: str, heading: str | None) -> None:
    assert kind_of(text, heading) in MEMORY_TYPE_OF


UNITS = [
    "a",
    " ",
    "\n",
    "\t",
    "?",
    ". ",
    "a, ",
    "a,b,",
    "|",
    "[",
    "{",
    '"',
    "1",
    "1)",
    "as a ",
    "given ",
    "no a ",
    "only a is ",
    "if a ",
    "to a ",
]
UNITS += [
    "at a(",
    "a:1:1: ",
    "[12:00",
    "From: ",
    "<a",
    "a\t",
    "A, B. ",
    "2026-01-01 12:00 ",
    "x = ",
    "def a",
    "AB  ",
    "must ",
    "we have ",
    "- ",
]


@pytest.mark.parametrize("number", range(len(UNITS)))
def test_no_text_makes_a_rule_slow(number: int) -> None:
    assert_linear(kind_of, UNITS[number], 2_000)
