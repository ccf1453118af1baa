"""Numbers in words and figures, each whole."""

from __future__ import annotations

import re

import pytest

from engram.english import numerals


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("zero", 0),
        ("nineteen", 19),
        ("twenty-five", 25),
        ("ninety nine", 99),
        ("hundred", 100),
        ("a hundred", 100),
        ("two hundred and ten", 210),
        ("one hundred one", 101),
        ("hundred and twenty-two", 122),
        ("1,000", 1000),
        ("42", 42),
        ("two-three", None),
        ("twenty ten", None),
        ("1.5", None),
        ("an", None),
        ("hundreds", None),
        ("", None),
    ],
)
def test_a_number_is_read_whole_or_not_at_all(words: str, number: int | None) -> None:
    assert numerals.value(words) == number


@pytest.mark.parametrize("text", ["1.5", "1,5", "1,000", "twenty-five", "two hundred and five"])
def test_the_end_of_a_number_is_none_of_its_own(text: str) -> None:
    found = re.findall(rf"\b(?:{numerals.IN_WORDS}|{numerals.IN_FIGURES})\b", text)
    assert found in ([text], [text[0]])
