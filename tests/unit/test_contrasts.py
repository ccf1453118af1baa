"""What the words beside a clause say of since when it is so, or against what was told before it."""

from __future__ import annotations

import pytest

from engram.english import contrasts


@pytest.mark.parametrize(
    "words", ["as of today", "from now on,", "since last week", "since monday", "starting next month"]
)
def test_words_may_say_only_since_when_something_is_so(words: str) -> None:
    assert contrasts.begins(words)


@pytest.mark.parametrize("words", ["in the evening", "since 2019", "from home", "as of my flat", "at work"])
def test_other_words_before_a_clause_say_no_more_than_when_or_where(words: str) -> None:
    assert not contrasts.begins(words)


@pytest.mark.parametrize("words", ["user got that wrong,", "that was a mistake, so", "user's mistake,"])
def test_a_slip_may_be_named_without_what_it_was(words: str) -> None:
    assert contrasts.is_slip(words)


@pytest.mark.parametrize(
    ("before", "behind", "against"),
    [
        ("nightly kept failing, so", "", "nightly kept failing, so"),
        ("user said nightly but", "", "user said nightly but"),
        ("user is done with nightly and", "", "user is done with nightly and"),
        ("", ", it was never nightly", ", it was never nightly"),
        ("", "because nightly was slow", "because nightly was slow"),
        ("user likes nightly and", "", ""),
        ("user walked past nightly and", "", ""),
        ("nightly might be too slow, so", "", ""),
        ("nightly is down for now, so", "", ""),
        ("", "on mondays", ""),
        ("", "", ""),
    ],
)
def test_what_is_over_or_was_bad_or_a_slip_speaks_against_it(before: str, behind: str, against: str) -> None:
    assert contrasts.set_against(before, behind) == against
