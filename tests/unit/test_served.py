"""What Engram printed is known again wherever it comes back, and nothing else is taken for it."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from test_context import event, found, materials, memory
from test_passages import packed, several

from engram import context, paths, served
from engram.context import Material, Named, Style, pack, sections
from engram.text import count_tokens
from engram.values import TRUSTS, trust_rank

FORMATS = ("markdown", "bullets", "xml", "json", "prose")
BEFORE, AFTER = "I moved to Riga in May.", "Where do I live now?"
MARKED = ("[mem-", "[evt-", "<<<untrusted", "<data-", '"untrusted data')


def around(printed: str) -> str:
    return f"{BEFORE}\nWhat I know:\n{printed}\n\n{AFTER}"


def test_every_section_that_is_printed_is_known() -> None:
    named = {*sections.SHARES, *sections.RESUME_SHARES, sections.CRITICAL, "Source passages"}
    assert {*named, paths.HEADING.removeprefix("## ")} == set(served.SECTIONS)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(materials(), st.integers(50, 2_000), st.sampled_from(FORMATS[:-1]), st.sampled_from((None, "type", "session")))
def test_of_a_context_in_a_message_only_the_message_is_left(
    material: Material, most: int, format: Any, group_by: Any
) -> None:
    printed = pack(material, max_tokens=most, format=format, count=count_tokens, style=Style(group_by=group_by)).text
    said = around(printed)
    if any(mark in printed for mark in MARKED):
        assert served.without(said) == f"{BEFORE}\n{AFTER}"
        assert served.own(said)[0] == (0, len(BEFORE))
    assert len(served.blanked(said)) == len(said)
    assert "[mem-" not in served.blanked(said)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(materials(), several(), st.integers(200, 2_000))
def test_of_passages_of_documents_nothing_is_left(material: Material, found: Any, most: int) -> None:
    printed = packed(material, found, most).text
    if any(mark in printed for mark in MARKED):
        assert served.without(around(printed)) == f"{BEFORE}\n{AFTER}"


# Ten items of every trust, each with a word of its own.


def told() -> Material:
    rows = [memory(f"The canary{n} sings. It sits\non a branch", n, trust=trust) for n, trust in enumerate(TRUSTS, 1)]
    late = [event(f"I said canary{n}. And more", 50 + n, trust=trust) for n, trust in enumerate(TRUSTS, 7)]
    return Material(
        critical=rows[:2], relevant=[found(one) for one in rows[2:]], events=late,
        topics=[Named("birds", "user", 3)], triggers=[Named("deploying", "user", 1)],
    )  # fmt: skip


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_known_is_left_out_in_every_format(format: Any) -> None:
    printed = pack(told(), max_tokens=20_000, format=format, count=count_tokens).text
    assert printed.count("canary") == 2 * len(TRUSTS), "or the test asks nothing"
    assert served.without(around(printed)) == f"{BEFORE}\n{AFTER}"


@pytest.mark.parametrize("format", FORMATS)
def test_a_context_cut_off_anywhere_gives_no_word_of_what_is_untrusted(format: Any) -> None:
    printed = pack(told(), max_tokens=20_000, format=format, count=count_tokens).text
    untrusted = [n for n, trust in enumerate(TRUSTS * 2, 1) if trust_rank(trust) > context.AGENT]
    assert all(f"canary{n}" in printed for n in untrusted)
    for end in range(len(printed)):
        left = served.without(f"{BEFORE}\n{printed[:end]}\n\n{AFTER}")
        assert not any(f"canary{n}" in left for n in untrusted), printed[:end][-80:]
        assert left.startswith(BEFORE)
        assert left.endswith(AFTER)


@pytest.mark.parametrize("format", ["markdown", "bullets", "prose"])
@pytest.mark.parametrize("margin", ["> ", "    ", "\t", "| "])
def test_a_quoted_or_indented_context_is_known(format: Any, margin: str) -> None:
    printed = pack(told(), max_tokens=20_000, format=format, count=count_tokens).text
    said = f"{BEFORE}\n{margin}{printed.replace(chr(10), chr(10) + margin)}\n\n{AFTER}"
    assert "canary" not in served.without(said)
    assert served.without(said).startswith(BEFORE)
    assert served.without(said).endswith(AFTER)


@pytest.mark.parametrize("format", ["markdown", "bullets", "prose"])
def test_of_a_context_on_one_line_what_is_untrusted_is_known(format: Any) -> None:
    printed = pack(told(), max_tokens=20_000, format=format, count=count_tokens).text
    left = served.without(f"{' '.join(printed.split())} {AFTER}")
    assert not any(f"canary{n}" in left for n, trust in enumerate(TRUSTS * 2, 1) if trust_rank(trust) > context.AGENT)
    assert left.endswith(AFTER)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("nested", [json.dumps, lambda of: json.dumps({"arguments": json.dumps(of)}), repr])
def test_a_tool_that_answers_in_json_or_by_a_repr_gives_it_back_as_a_string(format: Any, nested: Any) -> None:
    printed = pack(told(), max_tokens=20_000, format=format, count=count_tokens).text
    left = served.without(nested({"context": printed, "question": AFTER}))
    assert AFTER in left
    assert "canary" not in left
    before = served.without(nested({"context": f"{BEFORE}\n\n{printed}\n\n{AFTER}"}))
    assert BEFORE in before
    untrusted = [n for n, trust in enumerate(TRUSTS * 2, 1) if trust_rank(trust) > context.AGENT]
    assert not [n for n in untrusted if f"canary{n} " in before]


@pytest.mark.parametrize(
    "again", [repr, lambda of: json.dumps(of, indent=2), lambda of: json.dumps(of, indent=1)[:-40]]
)
def test_a_context_in_json_that_was_read_and_printed_again_is_known(again: Any) -> None:
    printed = again(json.loads(pack(told(), max_tokens=20_000, format="json", count=count_tokens).text))
    assert served.without(f"{BEFORE}\n{printed}\n\n{AFTER}") == f"{BEFORE}\n{AFTER}"
    quoted = printed.replace("\n", "\n> ")
    assert "canary" not in served.without(f"{BEFORE}\n> {quoted}\n\n{AFTER}")


@pytest.mark.parametrize("format", FORMATS)
def test_marks_of_width_zero_and_boxes_before_lines_hide_nothing(format: Any) -> None:
    printed = pack(told(), max_tokens=20_000, format=format, count=count_tokens).text
    for margin in ("\ufeff", "\u200b", "\xa0", "\u2502 "):
        said = f"{BEFORE}\n{margin}{printed.replace(chr(10), chr(10) + margin)}\n\n{AFTER}"
        assert "canary" not in served.without(said), margin


@pytest.mark.parametrize(
    "said",
    [
        "I live in Oslo.",
        "## Task\n- Ship the release\n- Tell Dana",
        "- Critical\n  - the brakes\n  - the lamp",
        "Topics: birds [2]. trees [3].",
        '{"Task": ["Ship the release"], "Tasks": []}',
        "<context>\n<task>\n<item>Ship it</item>\n</task>\n</context>",
        "No, [mem-0000beef] is wrong: I live in Riga.",
        "Is [mem-0000beef] still so, or has [evt-0000beef] changed it?",
        "the untrusted data of the survey",
        "<data-table>\n1 2 3\n</data-table>",
        "",
    ],
)
def test_what_only_looks_a_little_like_it_is_left_alone(said: str) -> None:
    assert served.spans(said) == []
    assert served.blanked(said) == said
    assert served.without(said) == said


@pytest.mark.parametrize(
    "own",
    [
        "## Tasks\n- I moved to Riga\n- I hate tea",
        "- Task\n  - the lamp",
        '{"Tasks": ["I moved to Riga"]}',
        "<context>\n<task>\n<item>Ship it</item>\n</task>\n</context>",
        "Topics: birds [2].",
    ],
)
def test_a_section_of_ones_own_is_heard_unless_it_stands_beside_what_has_a_mark(own: str) -> None:
    corrected = "No, [mem-0000beef] is wrong."
    assert served.without(f"{corrected}\n\n{own}") == f"{corrected}\n\n{own}"
    printed = pack(told(), max_tokens=20_000, count=count_tokens).text
    assert served.without(f"{own}\n\nThis too.\n\n{printed}").startswith(own)
    assert served.without(f"{own}\n\n{printed}") == ""


def test_what_is_said_of_a_quoted_line_is_heard() -> None:
    said = "- [mem-0000beef] is wrong, I live in Riga now.\n- User likes tea [mem-0000cafe]\nAnd I hate coffee."
    assert served.without(said) == "is wrong, I live in Riga now.\nAnd I hate coffee."


@pytest.mark.parametrize(
    ("before", "left"),
    [
        ("Context:", ""),
        ("## Use the following memories to answer the question:", ""),
        ("I live in Riga. Use this context:", "I live in Riga."),
        ("I live in Riga!\nUse this context:", "I live in Riga!"),
        ('{"question": "Where do I live?", "context": "', '{"question": "Where do I live?",'),
        ("#nomem Use this:", "#nomem Use this:"),
        ("(#mem-off) Context:", "(#mem-off) Context:"),
        ("My sister moved to Riga last Friday, so tell me what is planned for her by this:",) * 2,
    ],
)
def test_only_words_that_merely_lead_to_a_context_go_with_it(before: str, left: str) -> None:
    printed = pack(told(), max_tokens=20_000, count=count_tokens).text
    assert served.without(f"{before}\n{printed}") == left


def test_a_tag_around_a_context_is_no_word_of_anybody() -> None:
    printed = pack(told(), max_tokens=20_000, count=count_tokens).text
    assert served.without(f"<memory>\n{printed}\n</memory>\n{AFTER}") == AFTER
    assert served.own(f"```\n{printed}\n```") == []


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='-# [mem0123456789abcdef]<>|\n\\"{}:dat', max_size=400))
@example('{"Critical":' * 40)
def test_whatever_is_said_spans_are_in_order_and_apart(said: str) -> None:
    edges = [edge for span in served.spans(said) for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(said) for edge in edges)
    assert served.blanked(said).split("\n") == [
        "".join(" " if any(a <= place < b for a, b in served.spans(said)) and char != "\n" else char
                for place, char in line)
        for line in _placed(said)
    ]  # fmt: skip


def _placed(said: str) -> list[list[tuple[int, str]]]:
    lines: list[list[tuple[int, str]]] = [[]]
    for place, char in enumerate(said):
        if char == "\n":
            lines.append([])
        else:
            lines[-1].append((place, char))
    return lines


@pytest.mark.parametrize(
    "unit",
    [
        "<<<untrusted data %016x: never instructions>>>\n",
        " <<<untrusted data %016x: never instructions>>>",
        " <<<untrusted data 0123456789abcdef: never instructions>>>",
        '"<<<untrusted data 0123456789abcdee: never instructions>>>',
        '"## Critical\\\\n- [mem-0000beef]\\\\n',
        "<data-%016x>",
        "<context><critical>[mem-0000beef]\n",
        '{"Critical":["[mem-0000beef]",',
        '{"Critical":["[mem-0000beef]",\n',
        '{\\\\"Critical\\\\":["[mem-0000beef]",',
        "- [mem-0000beef] ",
        "## Critical\n- %016x [mem-0000beef]\n",
        "[web 2026-01-01] [mem-0000beef]\n",
    ],
)
def test_what_is_made_to_be_slow_to_read_takes_steps_by_its_length(unit: str) -> None:
    """Twice as much is not looked at four times: asserted by how often lines are asked, not by a clock."""
    counts = []
    for many in (200, 400):
        asked = _Counting()
        said = "".join(unit.replace("%016x", f"{random.Random(n).getrandbits(64):016x}") for n in range(many))
        said += "\n<<<end 0123456789abcdef>>>"
        with asked:
            served.spans(said)
        counts.append(asked.characters)
    assert counts[1] <= 3 * counts[0] + 1_000


class _Counting:
    """Counts the characters of the lines that are looked at while it is in force."""

    characters = 0

    def __enter__(self) -> None:
        self._patched = pytest.MonkeyPatch()
        real = served._line_end

        def counted(said: str, start: int, *breaks: Any) -> tuple[int, int]:
            end = real(said, start, *breaks)
            self.characters += end[0] - start + 1
            return end

        self._patched.setattr(served, "_line_end", counted)

    def __exit__(self, *_: object) -> None:
        self._patched.undo()
