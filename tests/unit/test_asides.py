"""What is only said beside a statement, and what belongs to it."""

from __future__ import annotations

import pytest

from engram.english import asides


@pytest.mark.parametrize(
    ("statement", "head"),
    [
        ("user lives in bristol, so please keep suggestions local", "user lives in bristol"),
        ("user is keto now, being pescatarian got too complicated", "user is keto now"),
        ("user left acme because the pay was bad", "user left acme"),
        ("user is still learning spanish, slowly", "user is still learning spanish"),
        ("user drives a honda - a red one", "user drives a honda"),
    ],
)
def test_what_is_beside_a_statement_is_left_out(statement: str, head: str) -> None:
    assert head in asides.left_out(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "user is so tired today",
        "user's favourite colours are red, green and blue",
        "user does not play tennis, only doubles",
        "user lives in rome, not in oslo",
        "user works at acme, sometimes",
        "user lives in rome",
    ],
)
def test_what_belongs_to_a_statement_stays(statement: str) -> None:
    assert asides.left_out(statement) == ()


def test_the_longest_comes_first() -> None:
    said = "user does karate, not crossfit, that was a slip"
    assert asides.left_out(said) == ("user does karate, not crossfit",)
