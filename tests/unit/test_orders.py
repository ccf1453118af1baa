"""Orders for good: which sentences give one, and what is said of which."""

from __future__ import annotations

import pytest

from engram.english import orders


@pytest.mark.parametrize(
    "said",
    [
        "Use tabs in Makefiles.", "Always use pnpm.", "Wrap lines at 80 columns.", "No emojis in commit messages.",
        "Don't use emojis.", "Write tests first.", "Send me a daily summary at 6pm.",
        "Run the linter before every commit.", "Ask me before installing new packages.",
        "Keep my mornings free of meetings.", "Prefer composition over inheritance.",
    ],
)  # fmt: skip
def test_an_order_for_good_is_told_from_a_thing_to_do_now(said: str) -> None:
    assert orders.is_standing(said)


@pytest.mark.parametrize(
    "said",
    [
        "Use the new table for this report.", "Write a poem about tabs.", "Add tests for the parser.",
        "Translate this into Spanish.", "Use pandas to load the file.", "Use tabs for now.", "Run the tests.",
        "I use tabs in Makefiles.", "We run the linter before every commit.", "Make tables for these.", "Use it.",
        "Keep naming files in snake_case.", "Put eggs in the cart.", "Translate strings to German.",
        "Sort rows by date.", "Save results in a file.",
    ],
)  # fmt: skip
def test_what_is_to_be_done_now_is_no_order_for_good(said: str) -> None:
    assert not orders.is_standing(said)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Drop the kebab-case rule.", "drop"), ("Never mind the 80 column limit", "drop"),
        ("No more kebab-case.", "stop"), ("Don't squash anymore.", "stop"), ("Stop writing tests first.", "stop"),
        ("You can use emojis again.", "allow"), ("Semicolons are fine now.", "allow"),
        ("Use PascalCase, not kebab-case.", "instead"), ("Go back to npm.", "instead"),
        ("Stop using Jest in this file.", None), ("I can use emojis again.", None), ("Don't use Jest for now.", None),
        ("Should I stop using Jest?", None), ("Never mind.", None),
    ],
)  # fmt: skip
def test_what_becomes_of_an_order_is_read(said: str, kind: str | None) -> None:
    change = orders.change(said)
    assert (None if change is None else change.kind) == kind


@pytest.mark.parametrize("said", ["", "a" * 500, "use", "no more", "not", "don't", "use " * 60, "keep at 3", "\n.!"])
def test_any_text_may_be_read(said: str) -> None:
    orders.is_standing(said)
    orders.read(said)
    orders.change(said)
    orders.follows(said, said)
