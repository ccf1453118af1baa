"""What is said anew: the same words, of another value, as things are now."""

from __future__ import annotations

import pytest

from engram.recall.anew import asks_for_the_former, is_said_anew, tells_what_is_so


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("We meet every Monday.", "We meet every Tuesday now."),
        ("The API key rotates every 30 days.", "The API key rotates every 60 days now."),
        ("The release is due March 31", "The release is due February 1"),
        ("The meeting room is B12.", "The meeting room has changed to C3."),
        ("The team works in two-week sprints", "The team works in one-week sprints again."),
        ("The plan for the big trip is Portugal.", "The plan for the big trip is Japan."),
        ("Our wifi is called Fritz", "Our wifi is called Box"),
        ("Anna works at Siemens.", "Anna now works at Bosch."),
        ("We have to ship by November 30.", "We have to ship by January 10 now."),
        ("The rate limit is 100 requests per minute.", "The rate limit was raised to 200 requests per minute."),
    ],
)
def test_the_same_words_of_another_value_are_said_anew(before: str, said: str) -> None:
    assert is_said_anew(said, before)


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("We meet every Monday.", "We meet every Monday."),
        ("The plan for the kitchen is blue", "The plan for the bath is green"),
        ("The flat A costs 900", "The flat B costs 900"),
        ("I met Anna on Monday", "I met Anna on Tuesday"),
        ("Our train left at nine", "Our train left at ten"),
        ("Marek picks up the kids from school.", "Rosa picks up the kids from school."),
        ("The shop on Main Street opens at 9", "The shop on Oak Street opens at 10"),
        ("Our office on floor 3 has desks", "Our office on floor 4 has desks"),
        ("Flights arrive daily at gate 4", "Flights arrive daily by nine"),
        ("The plumber is called Joe", "The plumber is called before noon"),
        ("The server is up", "The server is not up"),
        ("We meet every Monday.", "Should we meet every Tuesday?"),
        ("We meet every Monday.", "If we meet every Tuesday"),
        ("We fly to Rome tomorrow", "We fly to Oslo tomorrow"),
        ("", "We meet every Tuesday"),
    ],
)
def test_what_happened_what_is_of_something_else_and_what_is_supposed_is_not(before: str, said: str) -> None:
    assert not is_said_anew(said, before)


@pytest.mark.parametrize(
    ("question", "said", "before", "former"),
    [
        ("What does rack 1 run?", "The server in rack 2 runs BSD", "The server in rack 1 runs Linux", True),
        ("When does the gym open on weekdays?", "It opens at 8 on weekends", "It opens at 6 on weekdays", True),
        ("Does it support dark mode?", "The app supports offline mode", "The app supports dark mode", True),
        ("How often do keys rotate?", "Keys rotate every 60 days", "Keys rotate every 30 days", False),
        ("Do we still meet on Mondays, on Monday?", "We meet every Tuesday now", "We meet every Monday", False),
    ],
)
def test_a_question_that_names_the_former_is_answered_by_it(
    question: str, said: str, before: str, former: bool
) -> None:
    assert asks_for_the_former(question, said, before) is former


@pytest.mark.parametrize(
    ("said", "is_so"),
    [
        ("Marek picks up the kids from school.", True), ("We need to renew the passports by June.", True),
        ("Marek picked up the kids from school.", False), ("I want to learn Welsh.", False),
        ("We have to decide whether we want to move.", False), ("Do we have to ship by June?", False),
        ("Use snake_case for file names.", False), ("It is snowing in Oslo right now.", False),
        ("Tom sleeps on our sofa until Friday.", False), ("The shop is open until 8.", True),
    ],
)  # fmt: skip
def test_words_tell_what_is_so_where_nothing_happened_and_nothing_is_only_thought_of(said: str, is_so: bool) -> None:
    assert tells_what_is_so(said) is is_so
