"""Comparing, cutting and counting text: features 0."""

import hashlib
import time
import tracemalloc
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram import intent, text
from engram.channels import semantic
from engram.english import opposites, subjects
from engram.recall import turns

ANY = st.text(st.characters(codec=None), max_size=300)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("User prefers  dark\tmode", " user PREFERS dark mode\n"),
        ("caf\u00e9", "cafe\u0301"),
        ("\uff26\uff55\uff4c\uff4c", "full"),
        ("Stra\u00dfe", "STRASSE"),
        ("\u212a", "k"),
        ("zero\u200bwidth\u200d", "zerowidth"),
        ("soft\u00adhyphen", "softhyphen"),
        ("a\u00a0b\u2003c\u2028d", "a b c d"),
        ("\u202eturned", "turned"),
        ("tag\U000e0041", "tag"),
        ("\ufb01le", "file"),
    ],
)
def test_width_case_spaces_and_invisible_characters_make_no_difference(one: str, two: str) -> None:
    assert text.compared(one) == text.compared(two)
    assert text.fact_hash(one) == text.fact_hash(two)
    assert text.normalise_key(one) == text.normalise_key(two)


@pytest.mark.parametrize(
    ("one", "two"), [("cafe", "caf\u00e9"), ("a b", "ab"), ("v1.2", "v12"), ("\u0131", "i"), ("5", "-5")]
)
def test_accents_gaps_and_signs_do_make_a_difference(one: str, two: str) -> None:
    assert text.compared(one) != text.compared(two)
    assert text.fact_hash(one) != text.fact_hash(two)


def test_the_hash_is_sha256_of_the_compared_text() -> None:
    assert text.fact_hash("  A  B ") == hashlib.sha256(b"a b").digest()


def test_stored_text_is_composed_and_otherwise_untouched() -> None:
    assert text.stored("Cafe\u0301  \uff21\u200b") == "Caf\u00e9  \uff21\u200b"


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("The service runs v1.2", ["the", "service", "runs", "v1.2"]),
        ("see src/a.py, please.", ["see", "src/a.py", "please"]),
        ("mail Ada@Example.org!", ["mail", "ada@example.org"]),
        ("https://example.org/a?b=c.", ["https://example.org/a?b=c"]),
        ("gpt-4 beats well-known models", ["gpt-4", "beats", "well", "known", "models"]),
        ("don't and/or can\u2019t", ["don't", "and", "or", "can't"]),
        ("pays 1,000 or $5.50", ["pays", "1,000", "or", "5.50"]),
        ("C++, C# and snake_case", ["c++", "c#", "and", "snake_case"]),
        ("on 2024-05-03 at 10:30", ["on", "2024-05-03", "at", "10:30"]),
        ("\u6211\u559c\u6b22\u732b", ["\u6211\u559c", "\u559c\u6b22", "\u6b22\u732b"]),
        ("\u732b", ["\u732b"]),
        ("\u7528v1.2\u7248\u672c", ["\u7528", "v1.2", "\u7248\u672c"]),
        ("\ud55c\uad6d\uc5b4", ["\ud55c\uad6d", "\uad6d\uc5b4"]),
        (
            "\u0939\u093f\u0928\u094d\u0926\u0940 \u092d\u093e\u0937\u093e",
            ["\u0939\u093f\u0928\u094d\u0926\u0940", "\u092d\u093e\u0937\u093e"],
        ),
        ("... -- !", []),
        ("", []),
    ],
)
def test_words_keep_identifiers_whole_and_pair_cjk(given_text: str, expected: list[str]) -> None:
    assert text.words(given_text) == expected


def test_stop_words_leave_out_what_carries_meaning() -> None:
    kept = text.tokens("the user is not, no, never without before after until since a cat of it")
    assert kept == {"user", "not", "no", "never", "without", "before", "after", "until", "since", "cat"}


def test_tokens_are_not_stemmed() -> None:
    assert text.tokens("likes liked liking") == {"likes", "liked", "liking"}


def test_jaccard_of_the_worked_example_is_two_fifths() -> None:
    one, two = text.tokens("User prefers TypeScript"), text.tokens("User prefers dark mode")
    assert text.jaccard(one, two) == pytest.approx(2 / 5, abs=1e-9)


def test_jaccard_of_two_empty_sets_is_zero() -> None:
    assert text.jaccard(frozenset(), frozenset()) == 0.0
    assert text.jaccard(frozenset("a"), frozenset()) == 0.0


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("\u6211\u559c\u6b22\u732b", 4),
        ("\u6211 abcd", 3),
        ("\u00e9" * 8, 2),
        ("\ud55c\uad6d", 2),
    ],
)
def test_tokens_are_a_quarter_of_the_characters_and_each_cjk_character_one(given_text: str, expected: int) -> None:
    assert text.count_tokens(given_text) == expected


@pytest.mark.parametrize(
    ("given_text", "pairs"),
    [
        ("ผมอยู่ที่เชียงใหม่", "ผม มอ อยู่ ยู่ที่ ที่เ เชี ชีย ยง งใ ให หม่"),
        ("ຂ້ອຍ", "ຂ້ອ ອຍ"),
        ("ខ្ញុំរស់នៅ", "ខ្ញុំ ញុំរ រស់ ស់នៅ"),
        ("မြန်မာ Ada", "မြန် န်မာ  Ada"),
        ("ก", "ก"),
    ],
)
def test_scripts_without_spaces_become_pairs_of_letters_with_their_marks(given_text: str, pairs: str) -> None:
    assert text.with_bigrams(given_text) == pairs


def test_bigrams_replace_cjk_runs_and_leave_the_rest() -> None:
    assert text.with_bigrams("Ada likes \u65e5\u672c\u8a9e!") == "Ada likes  \u65e5\u672c \u672c\u8a9e !"
    assert text.with_bigrams("No CJK  here") == "No CJK  here"
    assert text.has_cjk("a\u732b") is True
    assert text.has_cjk("caf\u00e9") is False


@given(ANY)
def test_comparing_is_idempotent(value: str) -> None:
    assert text.compared(text.compared(value)) == text.compared(value)


@given(ANY)
def test_compared_text_is_clean(value: str) -> None:
    found = text.compared(value)
    assert found == " ".join(found.split())
    assert not any(unicodedata.category(c) == "Cf" for c in found)


@given(ANY)
def test_any_text_can_be_cut_and_counted(value: str) -> None:
    assert len(text.fact_hash(value)) == 32
    assert all(word and word == word.strip() for word in text.words(value))
    assert 0 <= text.count_tokens(value) <= len(value)
    assert len(text.with_bigrams(value)) >= 0
    assert text.tokens(value).isdisjoint(text.STOP_WORDS)


@given(ANY, ANY)
def test_jaccard_is_symmetric_and_between_zero_and_one(one: str, two: str) -> None:
    a, b = text.tokens(one), text.tokens(two)
    assert 0.0 <= text.jaccard(a, b) == text.jaccard(b, a) <= 1.0
    assert text.jaccard(a, a) == (1.0 if a else 0.0)


@settings(deadline=None)
@given(st.sampled_from(["a+", "a.", "1,", "-", "'", "@a", "a/", "\u00e9", "\u732b", "://", "a://", "\u0301"]))
def test_time_grows_with_length_only(part: str) -> None:
    value = (part * 8192)[:8192]
    assert _fastest(value) < 0.1


def _fastest(value: str) -> float:
    spent = []
    for _ in range(3):
        start = time.process_time()
        text.tokens(value)
        text.count_tokens(value)
        spent.append(time.process_time() - start)
    return min(spent)


@pytest.mark.parametrize("mark", text.QUESTION_MARKS)
def test_a_question_mark_of_any_script_asks(mark: str) -> None:
    assert turns.asks(f"Where was it{mark} Tell me.")
    assert text.ends_in_question(f"Where was it{mark} ")
    assert subjects.mood_of(f"You like tea{mark}") == "question"
    assert [subject for subject, _ in subjects.sentence_spans(f"Tea{mark} I like it.")] == [0, 5]
    assert not opposites.are_opposites("user does not like tea", f"user likes tea{mark}")
    assert semantic.tells("I went to Rome")
    assert not semantic.tells(f"I went to Rome{mark}")
    assert intent._ASKS.search(f"you like tea{mark}")


def test_a_statement_asks_nothing() -> None:
    assert not text.has_question_mark("¡Señor, es así!")
    assert not text.ends_in_question("I asked why? Nobody knew.")
    assert not turns.asks("Is it? " + "x" * turns.ENDING)


def test_the_words_of_few_long_texts_are_kept() -> None:
    """Those of one that is as long as a fact may be take 100 KB; of short texts thousands are kept."""
    tracemalloc.start()
    try:
        for number in range(1_000):
            text.tokens(" ".join(f"{number}w{place}" for place in range(text.SHORT // 4)))
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept < 12_000_000
