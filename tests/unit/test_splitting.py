"""How long texts are cut: nothing lost, nothing torn, the same however they arrive, in a bounded window."""

from __future__ import annotations

import difflib
import itertools
import json
import os
import random
import subprocess
import sys
import tracemalloc
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest
from growth import assert_linear
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram import chunking
from engram.errors import InvalidInput
from engram.longinput import cuts
from engram.longinput.anchors import holds, spans
from engram.longinput.kinds import MEMORY_TYPE_OF
from engram.longinput.media import MEDIA, Media, media_of
from engram.longinput.splitting import MOST_CHUNK_TOKENS, Piece, split
from engram.text import count_tokens, quote_hash

ROOT = Path(__file__).parents[2]
DOCS = "\n\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md")))
MODULE = (ROOT / "engram" / "text.py").read_text(encoding="utf-8")
CODE = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "engram").rglob("*.py")))

# What tears easily: line ends, marks, joined and varied emoji, flags, keycaps, jamo, marks of structure.
TEARS = ["é", "́", "👩\u200d👩\u200d👧", "\u200d", "❤️", "👍🏽", "🇳🇴", "🇳", "1️⃣", "한", "漢字", "𝒳", "क्षि", "a", "é", "{"]
ENDS = ["\r\n", "\r", "\n", "\n\n", " ", "\t", ". ", "x" * 500, "word " * 90]
MARKS = ["# ", "## Title\n", "```\n", "~~~", "===\n", "---\n", "@@ -1 +1 @@\n", "diff --git a/x b/x\n", "1. Term\n"]
MARKS += ["Section 3. Fees\n", "GENERAL TERMS\n", "def f():\n", "class A:\n"]
BITS = st.sampled_from([*TEARS, *ENDS, *MARKS])
TEXTS = st.lists(st.one_of(BITS, st.text(max_size=8)), max_size=60).map("".join)


def pieces(text: str, media: Media = "text", **keywords: int) -> list[Piece]:
    return list(split([text], media=media, **keywords))


def parts(text: str, places: list[int]) -> Iterator[str]:
    bounds = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return (text[start:end] for start, end in itertools.pairwise(bounds))


def assert_covered(text: str, found: list[Piece], most: int = 2800) -> None:
    """The pieces are the text, in order, without gaps; none is empty, too large or torn at its end."""
    at = 0
    for number, piece in enumerate(found):
        assert (piece.index, piece.start) == (number, at)
        assert piece.text == text[piece.start : piece.end]
        assert 0 < len(piece.text) <= most
        assert piece.tokens == count_tokens(piece.text) <= most // 4
        assert holds(text, piece.start, piece.end, quote_hash(piece.text))
        assert text[piece.end - 1 : piece.end + 1] != "\r\n"
        assert piece.kind in MEMORY_TYPE_OF
        at = piece.end
    assert at == len(text)


@pytest.mark.parametrize("media", MEDIA)
@given(text=TEXTS, places=st.lists(st.integers(0, 20_000), max_size=6), times=st.sampled_from([1, 1, 1, 40]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_chunks_are_the_text_however_it_arrives(media: Media, text: str, places: list[int], times: int) -> None:
    text *= times
    found = pieces(text, media, max_chunk_tokens=100)
    assert_covered(text, found, most=400)
    assert list(split(parts(text, places), media=media, max_chunk_tokens=100)) == found


@pytest.mark.parametrize("media", MEDIA)
def test_a_text_that_arrives_character_by_character_is_cut_the_same(media: Media) -> None:
    text = (DOCS[:90_000] + CODE[:90_000]).replace("\n", "\r\n")
    assert list(split(iter(text), media=media)) == pieces(text, media)


@pytest.mark.parametrize("media", MEDIA)
@pytest.mark.parametrize("end", ["\r\n", pytest.param("\r", marks=pytest.mark.slow)], ids=["crlf", "cr"])
@pytest.mark.parametrize("text", [DOCS, CODE], ids=["docs", "code"])
def test_book_sized_texts_are_covered(media: Media, end: str, text: str) -> None:
    text = text[:400_000].replace("\n", end)
    found = pieces(text, media)
    assert_covered(text, found)
    seed = random.Random(5)
    assert list(split(parts(text, [seed.randrange(len(text)) for _ in range(30)]), media=media)) == found


@pytest.mark.parametrize("media", MEDIA)
def test_a_part_longer_than_a_window_is_cut_as_if_there_were_none(media: Media) -> None:
    seed = random.Random(11)
    text = "".join("word " * seed.randrange(5, 40) + "end.\r\n" for _ in range(1_800))
    found = pieces(text, media)
    assert len(text) > 3 * 65_536
    assert {piece.text[-6:] for piece in found} == {"end.\r\n"}
    assert min(len(piece.text) for piece in found[:-1]) > 1_400
    assert list(split(parts(text, list(range(0, len(text), 997))), media=media)) == found


@given(st.lists(st.one_of(BITS, st.text(max_size=8)), max_size=40).map("".join))
@settings(max_examples=200, deadline=None)
def test_no_mark_is_torn_from_its_character(text: str) -> None:
    text = "ab" * 190 + text + "cd" * 300
    found = pieces(text, max_chunk_tokens=100)
    for piece in found[1:]:
        place = piece.start
        run = text[max(0, place - cuts.LONGEST_CHARACTER) : place]
        if any(not cuts.torn(text, place - back) for back in range(len(run))):
            assert not unicodedata.combining(text[place]) or text[place - 1].isspace()
            assert text[place] not in "\u200d\ufe0f" or text[place - 1].isspace()
            assert text[place - 1] != "\u200d" or text[place].isspace()


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("👩‍👩‍👧", True),
        ("🇳🇴", True),
        ("❤\ufe0f", True),
        ("👍🏽", True),
        ("1\ufe0f\u20e3", True),
        ("e\u0301\u0323", True),
        ("\u1112\u1161\u11ab", True),
        ("क्षि", False),
        ("\r\n", True),
        ("ab", False),
        ("\n\u0301", False),
    ],
)
def test_what_is_seen_as_one_character_is_not_cut(text: str, whole: bool) -> None:
    assert all(cuts.torn(text, at) for at in range(1, len(text))) is whole


def test_flags_are_cut_between_two_flags() -> None:
    text = "🇳🇴🇸🇪🇩🇰"
    assert [at for at in range(1, len(text)) if not cuts.torn(text, at)] == [2, 4]


def test_a_line_end_is_whole_even_where_one_character_would_be_too_much() -> None:
    found = list(split(["\r\n" * 300], count=lambda text: 1_000 * len(text)))
    assert [piece.text for piece in found] == ["\r\n"] * 300
    joined = "x" * 1_334 + ("\u200d" * 65 + "\r\n") * 40
    assert_covered(joined, pieces(joined))


def test_a_heap_of_marks_is_cut_all_the_same() -> None:
    text = "e" + "\u0301" * 5_000
    found = pieces(text)
    assert_covered(text, found)
    assert len(found) == 2


@pytest.mark.parametrize("media", MEDIA)
@pytest.mark.parametrize(
    "text", ["", " ", "\n", "\r\n" * 3, " \t\n" * 2_000], ids=["none", "space", "line", "lines", "many"]
)
def test_a_text_without_words_is_covered(media: Media, text: str) -> None:
    assert_covered(text, pieces(text, media))


# Prose


def headings(text: str, media: Media = "text") -> list[tuple[str | None, str]]:
    return [(piece.heading, piece.text) for piece in pieces(text, media)]


BODY = "The tenant pays for the water that is used in the house.\n\n"


@pytest.mark.parametrize(
    ("lines", "sections"),
    [
        (["Section 5. Fees", "Section 9(b) Deposits"], ["5", "9(b)"]),
        (["## 5. Fees", "### 5.1 Late fees", "## Notes", "## 6. End"], ["5", "5.1", None, "6"]),
        (["ARTICLE I\n\nFEES", "Section 1. Sums", "ARTICLE II", "§ 1"], ["i", "i 1", "ii", "ii 1"]),
        (["Article Nine", "SCHEDULE A", "§ 2", "Article X"], ["nine", "schedule a", "schedule a 2", "schedule a x"]),
        (["# Civility", "# Part of it", "# 2024"], [None, None, "2024"]),
    ],
)
def test_a_chunk_knows_the_numbers_of_the_headings_it_stands_under(lines: list[str], sections: list[str]) -> None:
    text = "".join(f"{line}\n\n{BODY}" for line in lines)
    assert [piece.section for piece in pieces(text, "markdown")] == sections


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("# The *house*\n", "The *house*"),
        ("### Rent ###\n", "Rent"),
        ("  ## Two spaces\n", "Two spaces"),
        ("Rent and fees\n=============\n", "Rent and fees"),
        ("Rent and fees\n---\n", "Rent and fees"),
        ("GENERAL TERMS\n", "GENERAL TERMS"),
        ("ОБЩИЕ УСЛОВИЯ\n", "ОБЩИЕ УСЛОВИЯ"),
        ("Section 4\n", "Section 4"),
        ("SECTION 4.2: FEES\n", "SECTION 4.2: FEES"),
        ("Section 4. Fees. The fees are due.\n", "Section 4. Fees. The fees are due."),
        ("Article IV\n", "Article IV"),
        ("Clause 9.1(b) Notice\n", "Clause 9.1(b) Notice"),
        ("Chapter One\n", "Chapter One"),
        ("§ 5 Deposits\n", "§ 5 Deposits"),
        ("Schedule A\n", "Schedule A"),
        ("1. Definitions\n", "1. Definitions"),
        ("1. Governing Law. The law of Norway applies.\n", "1. Governing Law. The law of Norway applies."),
        ("2.3 Payment of fees\n", "2.3 Payment of fees"),
        ("IV. Term\n", "IV. Term"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_a_heading_begins_a_chunk_and_stays_in_it(line: str, heading: str, end: str) -> None:
    first, second = BODY.replace("\n", end), (line + "\n" + BODY).replace("\n", end)
    assert headings(first + second) == [(None, first), (heading, second)]


@pytest.mark.parametrize(
    "line",
    [
        "#hashtag is no heading\n",
        "####### seven\n",
        "    # code\n",
        "USA\n",
        "MAX_TOKENS = 700\n",
        "Section 5 of the act says so\n",
        "Section by section it grew\n",
        "1. buy milk\n",
        "1. Buy milk and bread. Then go home.\n",
        "12 Monkeys\n",
        "In 2024 the rent rose\n",
        "| a | b |\n---\n",
        "- item\n---\n",
        "漢字漢字漢字漢字\n",
    ],
)
def test_what_only_looks_like_a_heading_begins_no_chunk(line: str) -> None:
    assert headings(BODY + line + BODY) == [(None, BODY + line + BODY)]


def test_a_line_in_the_middle_of_a_sentence_is_no_heading() -> None:
    text = "The fees are set out in\nSection 5. They rise every year by two per cent, as\n3.2 Fees says.\n"
    assert headings(text) == [(None, text)]


def test_a_heading_without_a_body_joins_the_next() -> None:
    text = "# Book\n\n## Part\n\n### Chapter\n\n" + BODY + "## Next\n\n" + BODY
    assert headings(text, "markdown") == [
        ("Chapter", text[: text.index("## Next")]),
        ("Next", text[text.index("## Next") :]),
    ]


def test_an_item_of_a_list_is_no_heading_in_markdown() -> None:
    text = BODY + "1. Definitions\n\n" + BODY
    assert len(headings(text, "markdown")) == 1
    assert len(headings(text, "text")) == 2


def test_a_list_of_titles_is_no_row_of_headings() -> None:
    text = BODY + "1. Definitions\n2. Term\n3. Fees\n" + BODY
    assert len(headings(text)) == 1


def test_a_long_section_keeps_its_heading_and_its_heading_keeps_a_text() -> None:
    paragraph = "The roof is mended by the owner of the house. " * 59  # just fits a chunk, but not with the heading
    found = pieces("# A\n\n" + BODY + "# Roof\n\n" + (paragraph.strip() + "\n\n") * 4)
    assert [piece.heading for piece in found[1:]] == ["Roof"] * (len(found) - 1)
    assert len(found[1].text) > 1_000
    assert found[1].text.startswith("# Roof\n\nThe roof")


def test_a_fenced_block_that_fits_is_whole_and_nothing_in_it_is_a_heading() -> None:
    block = "```sh\n" + "# install everything\n\nmake all\n\n" * 40 + "```\n"
    text = "# Setup\n\n" + "Read this first. " * 120 + "\n\n" + block + "\n" + "Then go on with this. " * 120 + "\n"
    found = pieces(text, "markdown")
    assert_covered(text, found)
    assert {piece.heading for piece in found} == {"Setup"}
    assert sum(block in piece.text for piece in found) == 1


def test_a_fenced_block_longer_than_a_window_hides_its_headings_to_its_end() -> None:
    block = "```\n" + "# nothing but a comment\nrun something here\n" * 1_000 + "```\n"
    text = "x" * 60 + "\n" + block + "# Heading\n\n" + BODY
    found = pieces(text, "markdown")
    assert_covered(text, found)
    assert {piece.heading for piece in found[:-1]} == {None}
    assert found[-1].heading == "Heading"


def test_a_fence_closed_behind_the_window_is_seen_the_same_however_the_text_arrives() -> None:
    text = "```\n" + ("# Heading\n\n" + BODY) * 1_000 + "```\n"
    assert list(split(parts(text, list(range(0, len(text), 97))), media="markdown")) == pieces(text, "markdown")


def test_a_fence_that_nobody_closes_hides_nothing() -> None:
    text = "```\n" + BODY + "# Heading\n\n" + BODY
    assert headings(text, "markdown")[-1] == ("Heading", "# Heading\n\n" + BODY)


def test_a_heading_at_the_end_of_a_window_is_seen() -> None:
    for length in range(65_510, 65_545):
        text = ("word " * 14_000)[: length - 1] + "\n# Late\n\n" + BODY
        assert headings(text)[-1] == ("Late", "# Late\n\n" + BODY)


# Sizes


@pytest.mark.parametrize(("tokens", "characters"), [(1, 400), (100, 400), (101, 404), (700, 2_800), (2_048, 8_192)])
def test_a_chunk_holds_four_characters_a_token_and_four_hundred_at_least(tokens: int, characters: int) -> None:
    sizes = [len(piece.text) for piece in pieces("x" * 20_000, max_chunk_tokens=tokens)]
    assert set(sizes[:-1]) == {characters}


@pytest.mark.parametrize("tokens", [0, -1, MOST_CHUNK_TOKENS + 1, True, 1.5, None])
def test_a_size_out_of_range_is_refused_before_anything_is_read(tokens: int) -> None:
    with pytest.raises(InvalidInput):
        split(iter(()), max_chunk_tokens=tokens)
    with pytest.raises(InvalidInput):
        split(iter(()), media="pdf")  # type: ignore[arg-type]


def test_tokens_are_counted_as_the_caller_counts_them() -> None:
    found = list(split([DOCS[:60_000]], count=lambda text: len(text.split()), max_chunk_tokens=100))
    assert max(piece.tokens for piece in found) <= 100
    assert all(piece.tokens == len(piece.text.split()) for piece in found)
    dense = list(split([DOCS[:60_000]], count=lambda text: 2 * len(text), max_chunk_tokens=700))
    assert max(len(piece.text) for piece in dense) <= 350


def test_text_of_scripts_that_count_more_makes_smaller_chunks() -> None:
    found = pieces("漢字を読む。" * 2_000)
    assert max(piece.tokens for piece in found) <= 700
    assert all(piece.text.endswith("。") for piece in found)


@pytest.mark.parametrize("broken", ["raises", "loses", "empty", "missing"])
def test_without_chonkie_a_text_is_cut_at_paragraphs_lines_and_sentences(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Chunk:
        def __init__(self, text: str) -> None:
            self.text = text

    def chunker(newline: str) -> Callable[..., object]:
        if broken == "missing":
            raise ImportError
        return lambda tokens, count: Broken()

    class Broken:
        def chunk(self, text: str) -> list[Chunk]:
            if broken == "raises":
                raise RuntimeError
            return [Chunk(text[1:])] if broken == "loses" else [Chunk("")]

    monkeypatch.setattr(chunking, "_chunker", chunker)
    for text in (
        "One sentence of prose. " * 500,
        "One line\n" * 1_000,
        "A paragraph\nof two lines\n\n" * 400,
        "x" * 9_000,
    ):
        found = pieces(text)
        assert_covered(text, found)
        ends = {piece.text[-2:] for piece in found[:-1]}
        assert ends == {". "} or ends == {"e\n"} or ends == {"\n\n"} or ends == {"xx"}
        assert min(len(piece.text) for piece in found[:-1]) >= 1_400


def test_chonkie_cuts_where_it_is_there() -> None:
    text = "One sentence of prose. " * 500
    ends = chunking.ends_of(text, 700, count_tokens)
    assert ends is not None
    assert ends[-1] == len(text)
    assert all(text[:end].endswith(". ") for end in ends)


def test_chonkie_is_not_loaded_before_it_is_needed() -> None:
    code = "import sys; from engram.longinput.splitting import split; [*split('a')]; sys.exit('chonkie' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


# Code


SOURCES = {
    "python": [
        "import os\n\n\n@cached\ndef load(path):\n{body}\n",
        "# How to store.\nasync def store(path):\n{body}\n",
        "class Shop:\n{body}",
    ],
    "typescript": [
        "import x from 'y';\n\n/** Loads. */\nexport async function load() {\n{body}}\n\n",
        "export const store = async (a: string) => {\n{body}};\n\n",
        "/**\n * A shop.\n */\n@Component({})\nexport default class Shop {\n{body}}\n\n",
        "interface Row {\n{body}}\n",
    ],
    "go": [
        "package shop\n\n// Load loads.\nfunc Load(p string) error {\n{body}}\n\n",
        "// Store stores.\nfunc (s *Shop) Store() {\n{body}}\n\n",
        "type Shop struct {\n{body}}\n",
    ],
    "rust": [
        "use std::fs;\n\n#[derive(Debug)]\npub struct Shop {\n{body}}\n\n",
        "impl<T> Shop<T> {\n{body}}\n\n",
        "/// Loads.\npub(crate) fn load() {\n{body}}\n",
    ],
    "java": [
        "package shop;\n\n/**\n * A shop.\n */\n@Entity\npublic final class Shop {\n{body}}\n\n",
        "record Row(int a) {\n{body}}\n",
    ],
    "c": [
        "#include <stdio.h>\n\nstatic int load(const char *path)\n{\n{body}}\n\n",
        "void *store(void) {\n{body}}\n\n",
        "struct shop {\n{body}};\n",
    ],
    "sql": [
        "-- Shops.\nCREATE TABLE shops (\n{body});\n\n",
        "CREATE INDEX i ON shops (\n{body});\n\n",
        "INSERT INTO shops\n{body};\n",
    ],
}


@pytest.mark.parametrize("language", sorted(SOURCES))
def test_code_is_cut_where_its_definitions_begin(language: str) -> None:
    definitions = [part.replace("{body}", "    value = value + 1;\n" * 60) for part in SOURCES[language]]
    found = pieces("".join(definitions), "code")
    assert [piece.text for piece in found] == definitions


def test_small_definitions_share_a_chunk_and_a_large_one_is_cut_at_lines() -> None:
    small = "".join(f"def name_{n}():\n    return {n}\n\n\n" for n in range(40))
    found = pieces(small, "code")
    assert_covered(small, found)
    assert all(len(piece.text) >= 350 for piece in found[:-1])
    assert found[0].heading == "def name_0()"
    large = "class Big:\n" + "    def method(self):\n        return 1\n\n" * 300
    cut = pieces(large, "code")
    assert {piece.heading for piece in cut} == {"class Big"}
    assert all(piece.text.endswith("\n\n") for piece in cut)


def test_every_definition_of_our_own_code_begins_where_it_may() -> None:
    found = pieces(CODE, "code")
    starts = {piece.start for piece in found}
    begun = [place for place in starts if CODE[place : place + 4] in ("def ", "clas", "@dat")]
    assert len(begun) > 300
    # Nothing indented begins a chunk unless its definition was too large for one.
    for piece, following in itertools.pairwise(found):
        if following.text[:1] in " \t":
            assert len(piece.text) >= 1_400


# Diffs


def diff_of(names: list[str], changes: int) -> str:
    """A diff of files of our own, as a version control program prints it."""
    seed = random.Random(7)
    files = []
    for name in names:
        before = (ROOT / "engram" / name).read_text(encoding="utf-8").splitlines(keepends=True)
        after = list(before)
        for _ in range(changes):
            after[seed.randrange(len(after))] = f"changed {seed.random()}\n"
        lines = difflib.unified_diff(before, after, f"a/engram/{name}", f"b/engram/{name}")
        files.append(f"diff --git a/engram/{name} b/engram/{name}\nindex 1..2 100644\n" + "".join(lines))
    return "commit " + "0f" * 20 + "\nAuthor: Anna\n\n    Change things\n\n" + "".join(files)


def test_a_diff_is_cut_by_file_and_hunk() -> None:
    names = ["ledger.py", "memories.py", "text.py"]
    text = diff_of(names, 25)
    found = pieces(text, "diff")
    assert_covered(text, found)
    assert [name for name, _ in itertools.groupby(piece.heading for piece in found)] == [f"engram/{n}" for n in names]
    for piece, following in itertools.pairwise(found):
        assert following.text.startswith(("diff --git ", "@@ -")) or len(piece.text) >= 1_400
        assert piece.text.count("diff --git ") <= 1


def test_a_diff_without_the_lines_of_a_program_is_cut_by_file() -> None:
    file = "--- a/{0}\n+++ b/{0}\n@@ -1,3 +1,3 @@\n context\n--- removed\n+++ added\n context\n"
    found = pieces(file.format("one.txt") + file.format("two.txt"), "diff")
    assert [piece.heading for piece in found] == ["one.txt", "two.txt"]


# Lines of JSON


def test_lines_of_json_share_chunks_and_are_not_torn_unless_too_long() -> None:
    seed = random.Random(3)
    lines = [json.dumps({"id": n, "text": "word " * seed.randrange(60)}) + "\n" for n in range(400)]
    lines[200] = json.dumps({"id": 200, "items": list(range(4_000))}) + "\n"
    text = "".join(lines)
    found = pieces(text, "jsonl")
    assert_covered(text, found)
    torn = [piece for piece in found if not piece.text.endswith("\n")]
    assert all('"id": 200' in piece.text or piece.text[0].isdigit() or piece.text[0] == " " for piece in torn)
    assert len(torn) == len(lines[200]) // 2_800
    whole = [piece for piece in found if piece.text.endswith("}\n") and piece.text.startswith('{"id"')]
    assert sum(len(piece.text) for piece in whole) / len(whole) > 2_000


# Anchors


@given(TEXTS, st.integers(0, 300), st.integers(0, 300))
def test_a_hash_holds_for_its_span_only(text: str, one: int, other: int) -> None:
    start, end = sorted((one % (len(text) + 1), other % (len(text) + 1)))
    digest = quote_hash(text[start:end])
    assert holds(text, start, end, digest) is (start < end)
    assert holds(text, start, end, digest[:24]) is (start < end)
    assert not holds(text, start, end, digest[:23])
    assert not holds(text, start, end + 1, digest)
    assert not holds(text + "!", start, end + 1, digest)
    assert not holds(text, -1, end, digest)


def test_every_place_of_a_quote_is_found() -> None:
    assert list(spans("abcabcab", "abc")) == [(0, 3), (3, 6)]
    assert list(spans("𝒳é𝒳é", "é")) == [(1, 2), (3, 4)]
    assert list(spans("abc", "")) == []
    assert list(spans("aaaa", "aa")) == [(0, 2), (2, 4)]


# Bounds

UNITS = [
    "#",
    "# a\n",
    "\r",
    "\n",
    "\u0301",
    "{",
    "x",
    "(",
    "a \n",
    "```x\n",
    "🇳",
    "A",
    "1. A\n",
    "Section 1\n",
    "1.1 ",
    " \n",
]
UNITS += [
    "@@ -1\n",
    "--- a\n",
    "def f(\n",
    "int a(",
    "const a: b",
    "漢",
    "'\"",
    "> ",
    "AB CD ",
    "A a, ",
    "-\n",
    "x\n---\n",
    "Title ",
]


@pytest.mark.parametrize(
    ("media", "number"),
    [
        pytest.param(media, number, marks=[] if number % len(MEDIA) == place else pytest.mark.slow)
        for place, media in enumerate(MEDIA)
        for number in range(len(UNITS))
    ],
)
def test_work_grows_with_the_text(media: Media, number: int) -> None:
    assert_linear(lambda text: sum(1 for _ in split([text], media=media)), UNITS[number], 120_000)


@pytest.mark.parametrize("media", MEDIA)
def test_no_more_than_a_window_is_held(media: Media) -> None:
    part = (DOCS + CODE)[:250_000]
    list(split([part[:200_000]], media=media))  # loads what is loaded once
    tracemalloc.start()
    try:
        count = sum(1 for _ in split((part for _ in range(4)), media=media))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count > 200
    assert most < 8_000_000


MEASURE = """
import resource, sys
from engram.longinput.splitting import split
part = ("The owner mends the roof. " * 20 + "\\n") * 1000 if sys.argv[2] == "lines" else "x" * 500_000
left = 50_000_000
def parts():
    global left
    while left > 0:
        yield part[:left]
        left -= len(part)
total = sum(len(piece.text) for piece in split(parts(), media=sys.argv[1]))
assert total == 50_000_000, total
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize("media", get_args(Media))
@pytest.mark.parametrize("what", ["lines", "one line"])
def test_fifty_megabytes_are_cut_within_three_hundred(media: Media, what: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, media, what],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert int(done.stdout) < 300


# What a text is


@pytest.mark.parametrize(
    ("name", "media"),
    [
        ("notes.md", "markdown"),
        ("README.markdown", "markdown"),
        ("app/main.PY", "code"),
        ("index.tsx", "code"),
        ("schema.sql", "code"),
        ("fix.patch", "diff"),
        ("log.jsonl", "jsonl"),
        ("events.ndjson", "jsonl"),
        ("novel.txt", "text"),
    ],
)
def test_a_name_tells_what_a_file_is(name: str, media: str) -> None:
    assert media_of(Path(name)) == media


@pytest.mark.parametrize(
    ("text", "media"),
    [
        ("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "diff"),
        ("commit " + "0f" * 20 + "\nAuthor: Anna\n\n    Words\n\ndiff --git a/x b/x\n", "diff"),
        ('{"a": 1}\n{"a": 2}\n', "jsonl"),
        ('{"a": 1}\n{"a": \n', "text"),
        (MODULE, "code"),
        ("# Title\n\n## Part\n\nSome *words* and a [link](there).\n", "markdown"),
        (DOCS[:5_000], "markdown"),
        ("It was a cold morning.\n\nNobody was there.\n", "text"),
        ("", "text"),
    ],
)
def test_the_text_tells_what_it_is(text: str, media: str) -> None:
    assert media_of(text) == media
