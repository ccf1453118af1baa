"""What well-known products are: the sort a question asks for, and the names a fact holds."""

from __future__ import annotations

import pytest
from growth import assert_linear

from engram.english import brands


@pytest.mark.parametrize(
    ("question", "words", "name"),
    [
        ("Which payment provider do we use?", ("payment", "provider"), "stripe"),
        ("What's our CI?", ("ci",), "jenkins"),
        ("So what open source database are we on?", ("database",), "postgres"),
        ("What do we use for error tracking?", ("error", "tracking"), "sentry"),
        ("What do we use as a queue?", ("queue",), "kafka"),
        ("What is the name of our CRM?", ("crm",), "hubspot"),
        ("Which car insurance do I have?", ("insurance",), "allianz"),
        ("Who do I bank with?", ("bank", "with"), "revolut"),
        ("Where do we track our tickets?", ("track", "tickets"), "jira"),
        ("Who is my phone contract with?", ("phone", "contract"), "vodafone"),
        ("What kind of phone do I have?", ("phone",), "iphone"),
        ("Which airlines did I fly with?", ("airlines",), "lufthansa"),
    ],
)
def test_a_question_asks_for_a_sort(question: str, words: tuple[str, ...], name: str) -> None:
    sort = brands.asked(question)
    assert sort is not None
    assert sort.words == words
    assert name in sort.names


@pytest.mark.parametrize(
    "question",
    [
        "What database password do we use?",  # a password
        "Which bank holiday is next?",
        "What is the capital of France?",
        "When did the database go down?",
        "What did I drink on the train?",
        "Who is my manager?",
        "Who is my editor?",
        "How far do I drive?",
        "Where do I drive the kids?",
        "How often do I do the shopping?",
        "What time do I do the shopping?",
        "",
        "Which database do we use" + " and why" * 60,
    ],
)
def test_others_ask_for_none(question: str) -> None:
    assert brands.asked(question) is None


@pytest.mark.parametrize(
    ("fact", "names"),
    [
        ("User's team uses pnpm, not npm", {"pnpm", "npm"}),
        ("Next.js runs on Vercel.", {"next.js", "vercel"}),
        ("We build with GitHub Actions", {"github actions"}),
        ("User drives a Skoda", {"skoda"}),
        ("We track tickets in linear now", {"linear"}),
        ("User's paper is the Guardian", {"guardian"}),
        ("Alerts go to Opsgenie's inbox", {"opsgenie"}),
        ("User is on keto", set()),  # no shoes
        ("All in all the target was free", set()),
        ("Julia works with Max", set()),  # people
        ("The model is written in Julia", {"julia"}),
        ("User plays golf", set()),
        ("User drives a Golf", {"golf"}),
        ("User takes metoprolol 50 mg", set()),
        ("User drives an MG", {"mg"}),
        ("User lives in Zurich", set()),  # places
        ("User is insured with Zurich", {"zurich"}),
        ("User studied at MIT", set()),
        ("User lives with Ana", set()),
        ("User has a red hat", set()),
        ("User is a night owl", set()),
        ("The servers run Red Hat", {"red hat"}),
        ("User shops at Trader Joe's", {"trader joe's"}),
        ("", set()),
    ],
)
def test_a_fact_holds_names(fact: str, names: set[str]) -> None:
    assert brands.named(fact) == names


def test_names_that_are_words_are_not_looked_for() -> None:
    assert brands.looked_for(frozenset(("stripe", "three", "julia", "github actions"))) == ["github actions", "stripe"]


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("We use Stripe", "We use Sentry", True),
        ("We use Stripe", "We use Adyen", False),
        ("We use React with Redux", "We use React with Zustand", False),
        ("We use Stripe", "We use something else", False),
        ("We use Stripe", "We use Stripe", False),
    ],
)
def test_names_of_no_sort_in_common_are_of_other_sorts(one: str, other: str, differ: bool) -> None:
    assert brands.differ_in_sort(one, other) is differ


def test_the_table_is_whole() -> None:
    sorts = brands.sorts()
    assert len(sorts) > 500
    names = frozenset[str]().union(*sorts.values())
    assert all(name == name.strip().casefold() for name in (*names, *sorts))
    assert all(len(found) >= 3 for found in sorts.values())
    words, people, places = brands.ambiguous()
    assert words | people | places <= names
    assert len(words | people | places) == len(words) + len(people) + len(places)


@pytest.mark.parametrize("unit", ["which ", "do we use for ", "stripe ", "github actions "])
def test_long_texts_take_no_longer_than_they_are_long(unit: str) -> None:
    def read(said: str) -> None:
        brands.asked(said)
        brands.named(said)

    assert_linear(read, unit, 8_192)
