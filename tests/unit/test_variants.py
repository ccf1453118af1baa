"""Variants: what the rules make of a question, and what several searches make together; without a database."""

from __future__ import annotations

import numpy as np
import pytest
from growth import assert_linear
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.recall import variants


def test_a_question_of_two_clauses_is_asked_in_each_of_them_and_without_its_form() -> None:
    made = variants.by_rules("Where does Ada live and when does the vehicle insurance expire?")
    assert made[0] == "ada live vehicle insurance expire"
    assert "Where does Ada live" in made
    assert "when does the vehicle insurance expire?" in made


def test_what_a_question_names_is_asked_for_alone() -> None:
    assert variants.names('Did Ada Lovelace read "The Left Hand" on v1.2 in src/a.py?') == [
        "The Left Hand", "v1.2", "src/a.py", "Ada Lovelace",
    ]  # fmt: skip
    assert variants.names("Where is it?") == []


def test_the_phrase_without_its_time_comes_first() -> None:
    assert variants.by_rules("What did Ada buy last week?", "what did ada buy")[0] == "what did ada buy"


@pytest.mark.parametrize("same", ["tea?", "  TEA ", "tea!", "Ｔｅａ"])
def test_no_variant_repeats_the_question(same: str) -> None:
    assert variants.different("Tea?", [same, "coffee", "Coffee?"]) == ["coffee"]


def test_words_of_the_corpus_are_no_forms_of_the_questions_own() -> None:
    facts = ["The vehicles are in garage 4", "An automobile is a machine", "4 cars"]
    assert variants.vocabulary("Which vehicle is mine?", facts) == ["garage", "automobile", "machine", "cars"]


def test_only_words_near_enough_stand_for_another_the_nearest_first() -> None:
    vectors = np.asarray([[1, 0], [0.9, 0.436], [0.2, 0.98], [0.6, 0.8]], dtype=np.float32)
    assert variants.alike(["car"], ["automobile", "lake", "bicycle"], vectors) == ["automobile", "bicycle"]
    assert variants.alike([], ["automobile"], vectors) == []


@pytest.mark.parametrize("unit", [" ", "a ", ". ", " and ", "A", "a.", "'", '"', "A-", "Ab ", "_", "中"])
def test_the_time_of_making_variants_grows_with_the_question_and_no_faster(unit: str) -> None:
    assert_linear(lambda query: variants.by_rules(f"zebra{query}quagga", query), unit, 32_000)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300), st.text(max_size=60), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_has_few_variants_all_different_and_none_blank(query: str, topic: str, alike: list[str]) -> None:
    made = variants.by_rules(query, topic, alike)
    assert len(made) <= variants.MOST
    assert all(one.strip() for one in made)
    assert len(variants.different(query, made)) == len(made)
