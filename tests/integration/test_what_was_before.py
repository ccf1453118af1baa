"""Questions for what was before are answered by what was before, and never by what is so now."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from engram import Engram
from engram.ids import new_id

BEGIN: Final = datetime(2024, 1, 9, tzinfo=UTC)
STEP: Final = timedelta(days=40)

# What was said, the question, and what its answer begins with, in its first line.
ROWS: Final = (
    ("We use RabbitMQ for messaging. | We switched from RabbitMQ to NATS.", "What did we use before NATS?", "rabbitmq"),
    ("We use RabbitMQ. | We use NATS now instead of RabbitMQ.", "What did we use before NATS?", "rabbitmq"),
    ("My editor is Vim. | My editor is Helix now.", "Which editor did I have before?", "vim"),
    ("I use Vim as my editor. | I switched to Helix.", "Which editor did I have before?", "vim"),
    ("I live in Rome. | I moved to Oslo.", "Where did I live before that?", "rome"),
    ("I live in Rome. | I moved to Oslo.", "Where did I live before Oslo?", "rome"),
    ("The deadline is May 3. | The deadline moved to May 20.", "What was the deadline originally?", "may 3"),
    (
        "The deadline is May 3. | The deadline is May 20 now. | The deadline slipped to June 1.",
        "What was the deadline originally?",
        "may 3",
    ),
    ("My manager is Carl. | My manager is Dana now.", "Who was my manager before Dana?", "carl"),
    ("My manager is Carl. | I report to Dana now.", "Who was my manager before Dana?", "carl"),
    ("We use RabbitMQ for messaging. | We switched from RabbitMQ to NATS.", "What did we switch from?", "rabbitmq"),
    (
        "We use RabbitMQ for messaging. | We switched from RabbitMQ to NATS in March.",
        "Since when do we use NATS?",
        "nats",
    ),
    (
        "We use RabbitMQ for messaging. | We switched from RabbitMQ to NATS because it is faster.",
        "Why did we switch to NATS?",
        "faster",
    ),
    ("I use Vim. | I switched from Vim to Helix.", "Did I ever use Vim?", "vim"),
    ("I use Vim. | I stopped using Vim.", "Did I ever use Vim?", "vim"),
    ("My dentist is Dr. Bell. | My dentist is Dr. Khan now.", "Who was my previous dentist?", "bell"),
    ("We host on Heroku. | We moved from Heroku to Fly.", "Where were we hosted before Fly?", "heroku"),
    ("I drive a Skoda. | I drive a Tesla now.", "What did I drive before the Tesla?", "skoda"),
    ("The standup is at 9. | The standup is at 10 now.", "When was the standup before?", "9"),
    ("I moved from Rome to Oslo.", "Where did I live before Oslo?", "rome"),
    ("We switched from RabbitMQ to NATS.", "What did we use before NATS?", "rabbitmq"),
    ("We switched from RabbitMQ to NATS.", "What did we switch from?", "rabbitmq"),
    ("The budget is 40k. | The budget went up to 55k.", "What was the budget originally?", "40k"),
    (
        "We use RabbitMQ for messaging. | We switched from RabbitMQ to NATS.",
        "What was our message broker before NATS?",
        "rabbitmq",
    ),
    ("I use Vim. | I use Helix now.", "Which editor did I use before Helix?", "vim"),
    ("Our API is written in Python. | We rewrote the API in Go.", "What was our API written in before?", "python"),
    ("I live in Rome. | I live in Oslo now. | I moved to Paris.", "Where did I live before Paris?", "oslo"),
    ("I live in Rome. | I live in Oslo now. | I moved to Paris.", "Where did I live before Oslo?", "rome"),
    ("I live in Rome. | I live in Oslo now. | I moved to Paris.", "Where did I live originally?", "rome"),
    ("My manager is Carl. | My manager is Dana now.", "Who was my previous manager?", "carl"),
    ("My manager is Carl. | My manager is Dana now.", "Who used to be my manager?", "carl"),
    ("I work at Acme. | I joined Globex.", "Where did I work before?", "acme"),
    ("I work at Acme. | I joined Globex.", "Where did I work before Globex?", "acme"),
    (
        "My favourite colour is blue. | My favourite colour is green now.",
        "What was my favourite colour before?",
        "blue",
    ),
    (
        "The launch is on May 3. | The launch was moved to May 20.",
        "When was the launch supposed to be originally?",
        "may 3",
    ),
    ("I pay 12 euros for Spotify. | I pay 15 euros for Spotify now.", "How much did I pay for Spotify before?", "12"),
    ("I take the bus to work. | I cycle to work now.", "How did I get to work before?", "bus"),
    ("I'm vegetarian. | I eat meat again.", "Was I ever vegetarian?", "vegetarian"),
    ("I used to live in Rome.", "Did I ever live in Rome?", "rome"),
    ("I used to work at Acme. I work at Globex now.", "Where did I work before Globex?", "acme"),
    ("Before NATS we used RabbitMQ.", "What did we use before NATS?", "rabbitmq"),
    ("We used RabbitMQ before we moved to NATS.", "What did we use before NATS?", "rabbitmq"),
    ("We replaced Jenkins with Buildkite.", "What did Buildkite replace?", "jenkins"),
    ("We replaced Jenkins with Buildkite.", "What did we use before Buildkite?", "jenkins"),
    ("I switched from Chrome to Firefox.", "Which browser did I use before Firefox?", "chrome"),
    ("I switched from Chrome to Firefox.", "What did I switch from?", "chrome"),
    ("We use Postgres. | We migrated from Postgres to CockroachDB last week.", "What did we migrate from?", "postgres"),
    ("We use Heroku for hosting. | We moved from Heroku to Fly because of costs.", "Why did we move to Fly?", "costs"),
    ("I left Acme because the commute was too long.", "Why did I leave Acme?", "commute"),
    ("I stopped drinking coffee because of my stomach.", "Why did I stop drinking coffee?", "stomach"),
    ("We've been using NATS since March.", "Since when do we use NATS?", "march"),
    ("We've used Linear since 2023.", "How long have we used Linear?", "2023"),
    ("I've lived in Oslo since 2020.", "Since when do I live in Oslo?", "2020"),
    ("I use Vim. | I moved to Helix.", "What did I use before Helix?", "vim"),
    ("My dentist is Dr. Bell. | I've changed dentists, it's Dr. Khan now.", "Who was my dentist before?", "bell"),
    ("Our standup is at 9. | Our standup was moved to 10.", "When did our standup use to be?", "9"),
    ("My phone number is 555 1234. | My phone number is 555 9876 now.", "What was my old phone number?", "555 1234"),
    (
        "My password manager is LastPass. | I switched to Bitwarden.",
        "Which password manager did I have before Bitwarden?",
        "lastpass",
    ),
    ("I run on Tuesdays. | I've moved my runs to Thursdays.", "On which day did I run before?", "tuesday"),
    ("I have two cats. | I have three cats now.", "How many cats did I have before?", "two"),
    ("We use tabs. | We use spaces now.", "Did we ever use tabs?", "tabs"),
)


@pytest.fixture(scope="module")
def engram(database_url: str) -> Iterator[Engram]:
    with Engram(database_url) as one:
        yield one


def told(engram: Engram, said: str) -> Engram:
    door = engram.scoped(tenant_id=f"t-{new_id()}", user_id="ada")
    for place, one in enumerate(said.split(" | ")):
        door.remember(one, occurred_at=BEGIN + place * STEP, wait=30.0)
    return door


@pytest.mark.parametrize(("said", "question", "before"), ROWS)
def test_what_was_before_is_told_first(engram: Engram, said: str, question: str, before: str) -> None:
    first = told(engram, said).recall(question).answer_text.casefold().partition("\n")[0]
    assert before in first
    assert not first.startswith("now: ")


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("We switched from RabbitMQ to NATS.", "What did we use before Postgres?"),
        ("I moved from Rome to Oslo.", "Where did I live before Rome?"),
    ],
)
def test_a_change_to_something_else_says_nothing_of_what_was_before(engram: Engram, said: str, question: str) -> None:
    assert "Formerly" not in told(engram, said).recall(question).answer_text


@pytest.mark.parametrize(
    ("said", "stays"),
    [
        ("I use Chrome. | I switched to Bitwarden.", "User uses Chrome"),
        ("We use Sentry. | We switched to Stripe.", "User's team uses Sentry"),
        ("My brother uses LastPass. | I switched to Bitwarden.", "User's brother uses LastPass"),
        (
            "My password manager is LastPass. | I switched to Bitwarden for a test.",
            "User's password manager is LastPass",
        ),
        ("I live in Rome. | I moved to Helix.", "User lives in Rome"),
    ],
)
def test_who_went_over_to_something_of_another_sort_has_what_they_had(engram: Engram, said: str, stays: str) -> None:
    assert stays in [one.fact for one in told(engram, said).list_memories()]


def test_a_town_is_moved_to_and_a_known_product_is_none(engram: Engram) -> None:
    assert (
        told(engram, "I live in Rome. | I moved to Lugano.").recall("Where do I live?").answer_text.endswith("Lugano")
    )
    assert (
        told(engram, "My editor is Vim. | I moved to Helix.")
        .recall("Which editor do I use?")
        .answer_text.endswith("Helix")
    )
