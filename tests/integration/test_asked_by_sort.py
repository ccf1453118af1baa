"""A general word finds what well-known names stand for: "Which payment provider do we use?" - "We use Stripe"."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from quiet import quiet

from engram import Engram, Filter
from engram.settings import load

SAID = (
    "We use pnpm, not npm, in this repo.", "We use Stripe.", "Sentry is where crashes end up.", "We went with Hetzner.",
    "Auth runs on Keycloak.", "Our unit tests run on Vitest.", "I drive a Skoda.", "We build with GitHub Actions.",
    "Staging is at staging.acorn.dev, production at app.acorn.dev.", "I bank with Revolut.", "The office dog is Max.",
    "We use a lot of coffee.", "We use the small room on Mondays.", "The queue at the canteen is long.",
)  # fmt: skip


@pytest.fixture(scope="module")
def told(database_url: str) -> Iterator[Engram]:
    with Engram(database_url, settings=load({}, user="dev", tenant="asked-by-sort")) as door:
        when = datetime(2026, 3, 2, 9, tzinfo=UTC)
        door.remember(
            [{"role": "user", "content": one, "occurred_at": when + timedelta(days=at)} for at, one in enumerate(SAID)],
            wait=30.0,
        )
        yield door


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which payment provider do we use?", "Stripe"), ("What do we use for error tracking?", "Sentry"),
        ("Where do we host?", "Hetzner"), ("Which auth provider do we use?", "Keycloak"),
        ("What test runner do we use?", "Vitest"), ("What car do I drive?", "Skoda"), ("What CI do we use?", "GitHub"),
        ("Which package manager do we use?", "pnpm"), ("What's the staging URL?", "staging.acorn.dev"),
        ("Which bank am I with?", "Revolut"),
    ],
)  # fmt: skip
def test_a_name_answers_for_what_it_is(told: Engram, question: str, answer: str) -> None:
    assert answer in told.recall(question).answer_text


@pytest.mark.parametrize(
    "question",
    [
        "Which cache do we use?",
        "Which CRM do we use?",
        "Which linter do we use?",
        "What coding assistant do we use?",
    ],
)
def test_what_is_of_another_sort_does_not_answer(told: Engram, question: str) -> None:
    assert told.recall(question).answer_text == ""


def test_what_has_the_name_of_a_brand_and_is_none_answers_nothing(database_url: str, tenant: str) -> None:
    with Engram(database_url, settings=load({}, user="dev", tenant=tenant)) as door:
        for said in (
            "I take metoprolol 50 mg.", "I live in Zurich.", "I live with Ana.", "I am a Gemini.", "I have a red hat.",
            "I wear a tuxedo at work.", "I studied at MIT.", "My workday starts at nine.",
        ):  # fmt: skip
            door.remember(said, wait=30.0)
        for question in (
            "What car do I drive?", "Which insurance do I have?", "Which airline do I fly with?",
            "Which LLM do we use?", "What operating system do I use?", "What laptop do I have?",
            "What license do we use?",
        ):  # fmt: skip
            assert door.recall(question).answer_text == "", question


def test_a_search_finds_it_among_all_that_is_used(told: Engram) -> None:
    for found in (
        told.search("Which payment provider do we use?"),
        told.search("Which payment provider do we use?", mode="keyword"),
        told.search("Which payment provider do we use?", filter=Filter(statuses=("active",))),
        told.deep_search("Which payment provider do we use?"),
    ):
        assert "Stripe" in found.results[0].memory.fact
        assert {"payment", "provid"} <= set(found.results[0].matched)


def test_what_a_question_names_itself_stands_for_nothing_else(told: Engram) -> None:
    found = told.search("Which payment provider did we have before Stripe?").results[0]
    assert ("Stripe" in found.memory.fact, "provid" in found.matched) == (True, False)


def test_it_is_found_in_what_was_known_before(told: Engram) -> None:
    known = told.search("Which payment provider do we use?", known_at=datetime.now(UTC)).results[0]
    assert "Stripe" in known.memory.fact


def test_it_is_found_in_what_is_not_derived_yet(database_url: str, tenant: str) -> None:
    with quiet(Engram(database_url, settings=load({}, user="dev", tenant=tenant, dispatch="doorbell"))) as door:
        door.remember("We moved to Braintree.", wait=False)
        found = door.search("Which payment provider do we use?").results
        assert [one.memory.fact for one in found] == ["We moved to Braintree."]
        assert not found[0].derived


def test_words_that_are_no_names_stand_for_nothing(told: Engram) -> None:
    found = told.search("Which running shoes do I have?", mode="keyword").results
    assert not any("shoe" in one.matched for one in found)  # "on", which is a make of shoes
