"""Which of what was found answers: the numbers and letters that a question names."""

from __future__ import annotations

import pytest
from growth import assert_linear

from engram.recall import answers, telling
from engram.values import SearchResults


@pytest.mark.parametrize(
    ("question", "codes"),
    [
        ("Who lives in flat C?", {"c"}),
        ("What runs on web-10?", {"web-10"}),
        ("Who sits in room A-12b?", {"a", "12b"}),
        ("Is it v1.2.3, or 7?", {"v1.2.3", "7"}),
        ("Where do I live?", set()),
    ],
)
def test_what_a_question_names_by_numbers_and_letters(question: str, codes: set[str]) -> None:
    assert telling.words_by(telling.CODE, question) == codes


@pytest.mark.parametrize("unit", ["y", "日", "y-", "y1", "-", "A-", "x A-"])
def test_the_time_of_choosing_an_answer_grows_with_the_question_and_no_faster(unit: str) -> None:
    assert_linear(lambda question: answers.best_hit(SearchResults(()), "current", question), unit, 32_000)
    assert_linear(lambda question: telling.words_by(telling.NAMING, question), unit, 32_000)
