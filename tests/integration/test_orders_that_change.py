"""What becomes of orders for good: what takes one back or changes it, and what leaves it as it is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from engram import Engram
from engram.ids import new_id

BEGIN: Final = datetime(2024, 1, 9, tzinfo=UTC)
STEP: Final = timedelta(days=3)

# First an order, then what ends it or sets another in its place.
ENDED: Final = (
    "Use kebab-case for file names. | Use PascalCase, not kebab-case.",
    "Use kebab-case for file names. | Go back to PascalCase for file names.",
    "Use kebab-case for file names. | Drop the kebab-case rule.",
    "Use kebab-case for file names. | No more kebab-case.",
    "Use kebab-case for file names. | No more kebab-case please, PascalCase from now on.",
    "Use tabs for indentation. | Use spaces from now on.",
    "Always write tests first. | Stop writing tests first.",
    "No emojis in commit messages. | You can use emojis again.",
    "Don't use emojis. | You can use emojis again.",
    "Wrap lines at 80 columns. | Never mind the 80 column limit.",
    "Keep lines under 80 columns. | Never mind the 80 column limit.",
    "Send me a daily summary at 6pm. | Scrap the daily summary.",
    "Always send me a daily summary at 6pm. | Scrap the daily summary.",
    "Always squash before merging. | Don't squash anymore.",
    "Always ask before deleting files. | You don't need to ask before deleting files anymore.",
    "Always reply in bullet points. | Stop using bullet points.",
    "Never push to main. | You can push to main now.",
    "Never use semicolons in JavaScript. | Semicolons are fine now.",
    "Always use pnpm. | Go back to npm.",
    "Always use single quotes. | Switch to double quotes.",
    "Always add type hints. | Forget the type hints rule.",
    "Always use British spelling. | Actually, American spelling from now on.",
    "Use kebab-case for file names. | No more kebab-case for file names.",
    "Always use Jest. | Stop using Jest.",
    "Always use Jest. | Use Vitest instead of Jest.",
    "Always use Jest. | From now on use Vitest.",
    "Never use var. | You can use var again.",
    "Always run the linter before committing. | You don't have to run the linter anymore.",
    "Always run the linter before committing. | Forget the linter rule.",
    "Never deploy on Fridays. | You may deploy on Fridays again.",
    "Never deploy on Fridays. | Lift the Friday deploy ban.",
    "Always sign off with my full name. | Stop signing off with my full name.",
    "Keep lines under 80 characters. | Keep lines under 100 characters.",
    "Always reply in English. | Stop replying in English.",
    "Use light mode for screenshots. | Use dark mode for screenshots.",
    "Don't add comments. | Comments are okay again.",
    "Remind me to stretch every hour. | Stop reminding me to stretch.",
)
# First an order, then what leaves it as it is.
BESIDE: Final = (
    "Use tabs in Makefiles. | Use spaces in Python.",
    "Use tabs in Makefiles. | Use spaces in Python from now on.",
    "Always use pnpm. | Use dark mode in mockups from now on.",
    "Always use single quotes. | Go back to the main branch.",
    "Always use single quotes. | Switch to the German translation.",
    "Always run the tests after changes. | Don't run the linter anymore.",
    "Always run the tests after changes. | Stop the server.",
    "Never push to main without a review. | You can push to main now.",
    "Never push to main. | You can push to develop now.",
    "Never commit secrets. | You can commit now.",
    "Always squash before merging. | Stop merging on Fridays.",
    "Don't use emojis in commit messages. | You can use emojis in chat again.",
    "Send me a summary every Monday. | Stop sending me emails.",
    "Keep functions under 30 lines. | Keep files under 300 lines.",
    "Keep functions under 30 lines. | No more functions.",
    "Prefer composition over inheritance. | Prefer tabs over spaces from now on.",
    "Always answer in French. | Use British spelling from now on.",
    "Use kebab-case for file names. | Use PascalCase for components.",
    "Use kebab-case for file names. | Use PascalCase for components from now on.",
    "Use kebab-case for file names. | Use PascalCase for components, not kebab-case.",
    "Always add type hints. | Remove the type hints.",
    "Always add type hints. | Drop the users table.",
    "Always write unit tests. | Always write integration tests.",
    "Use unit tests for parsers. | Use integration tests for parsers.",
    "Always use pnpm. | Go back to the previous version.",
    "Never use semicolons in JavaScript. | Semicolons are fine in TypeScript now.",
    "Don't book anything on Fridays. | Fridays are fun again.",
    "Don't book anything on Fridays. | Mondays are fine again.",
    "Keep my mornings free. | You can book evenings again.",
    "Wrap lines at 80 columns. | Never mind the typo.",
    "Always use Jest. | Don't use Jest for now.",
    "Always use Jest. | Stop using Jest in this file.",
    "Always use Jest. | Should I stop using Jest?",
    "Always use Jest. | If you stop using Jest, tell me.",
    "Always use Jest. | Tom said stop using Jest.",
    "Use Jest for unit tests. | Use Playwright for e2e tests.",
    "Use Jest for unit tests. | Use Playwright for e2e tests from now on.",
    "Send me a summary at 6pm every day. | Send me a summary at 9am every Monday.",
    "Always squash commits. | Never force push.",
    "Remind me to water the plants on Sundays. | Stop reminding me to call mum.",
    "Use metric units. | Use short sentences from now on.",
    "Use English for comments. | Use German for emails from now on.",
    "Always use single quotes. | Use double quotes in JSX.",
    "Always use tabs. | No more tabs open in my browser.",
    "Ask me before deleting files. | Stop deleting files.",
    "Always deploy to staging first. | You can deploy now.",
)


@pytest.fixture(scope="module")
def engram(database_url: str) -> Iterator[Engram]:
    with Engram(database_url) as one:
        yield one


def told(engram: Engram, *said: str) -> Engram:
    door = engram.scoped(tenant_id=f"t-{new_id()}", user_id="ada")
    days = [{"role": "user", "content": one, "occurred_at": BEGIN + place * STEP} for place, one in enumerate(said)]
    door.remember(days, wait=30.0)
    return door


def facts(door: Engram) -> list[str]:
    return [one.fact for one in door.list_memories(limit=50) if one.category != "verbatim"]


def shown(door: Engram) -> str:
    """The context of some other work, without the events that led to it."""
    lines = door.build_context("Let us go on with the work.").text.splitlines()
    return "\n".join(one for one in lines if "[evt-" not in one)


@pytest.mark.parametrize("row", ENDED)
def test_an_order_that_was_taken_back_is_told_no_more(engram: Engram, row: str) -> None:
    first, end = row.split(" | ")
    (fact,) = facts(told(engram, first))
    door = told(engram, first, end)
    assert fact not in facts(door)
    assert fact not in shown(door)
    assert fact not in [one.fact for one in door.recall_critical()]
    answer = door.recall(f"What about this: {first.strip('.')}?")
    assert answer.current is None or answer.current.fact != fact


@pytest.mark.parametrize("row", BESIDE)
def test_an_order_on_something_else_ends_none(engram: Engram, row: str) -> None:
    first, second = row.split(" | ")
    before = facts(told(engram, first))
    assert before
    assert set(before) <= set(facts(told(engram, first, second)))


@pytest.mark.parametrize(
    ("said", "held"),
    [
        (("Use kebab-case for file names.", "Use PascalCase, not kebab-case."), ["Use PascalCase for file names"]),
        (("Use kebab-case for file names.", "Go back to PascalCase."), ["Use PascalCase for file names"]),
        (("Always use pnpm.", "Go back to npm."), ["Always use npm"]),
        (("Always use single quotes.", "Switch to double quotes."), ["Always use double quotes"]),
        (
            ("Use kebab-case for file names.", "No more kebab-case.", "Use kebab-case for file names."),
            ["Use kebab-case for file names"],
        ),
        (
            ("No emojis in commit messages.", "You can use emojis again.", "No emojis in commit messages."),
            ["No emojis in commit messages"],
        ),
        (("Always use tabs.", "Never use tabs."), ["Never use tabs"]),
        (("Stop using emojis in replies.",), ["Stop using emojis in replies"]),
    ],
)
def test_what_takes_the_place_of_an_order_is_told_whole(engram: Engram, said: tuple[str, ...], held: list[str]) -> None:
    assert facts(told(engram, *said)) == held


@pytest.mark.parametrize(
    "said",
    [
        "Drop the kebab-case rule.", "You can use emojis again.", "Go back to npm.", "Write a poem about tabs.",
        "Add tests for the parser.", "Use the new table for this report.", "Summarize each chapter.",
        "Send emails to Bob and Ann.", "Use more colours.", "Write tests for every function.", "Never mind.",
    ],
)  # fmt: skip
def test_what_is_said_of_no_order_and_what_is_to_be_done_now_is_none(engram: Engram, said: str) -> None:
    assert facts(told(engram, said)) == []
