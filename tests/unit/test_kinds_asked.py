"""What a question asks for by a general word, and facts by a particular one."""

from __future__ import annotations

import pytest
from growth import assert_linear

from engram.recall import kinds

MEDS = "What medication do I take?"


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        (MEDS, "User takes metoprolol every morning for User's blood pressure"),
        ("Which meds am I on?", "User is on 20 mg of something for the heart"),
        ("What medicine do I take?", "User's doctor put User on Eliquis"),
        ("What breed is my dog?", "User's golden retriever Biscuit turned 6 in March"),
        ("What kind of dog do I have?", "User's beagle's name is Copper"),
        ("Where did I study?", "User got User's degree from the University of Leeds"),
        ("Where did I do my bachelor's?", "User got User's bachelor's degree from MIT"),
        ("What am I studying?", "User is doing a masters in robotics at ETH Zurich"),
        ("What are my hobbies?", "User is really into bouldering"),
        ("Do I have any dietary restrictions?", "User keeps kosher"),
        ("What am I allergic to?", "User gets hives from strawberries"),
        ("How many kids do I have?", "We have twins."),
        ("What's my salary?", "User makes 85k a year"),
        ("What's my salary?", "User earns 20 an hour"),
        ("What breed is my dog?", "User loves User's beagle"),
        ("Do I have any dietary restrictions?", "User no longer eats meat"),
        ("What's my star sign?", "User is a Scorpio"),
        ("How do I get to work?", "User takes the number 14 bus to the hospital"),
    ],
)
def test_a_fact_that_names_one_tells_of_the_kind(question: str, fact: str) -> None:
    kind = kinds.asked(question)
    assert kind is not None
    assert kinds.tells(kind, question, fact)
    assert kinds.holds_the_rest(kind, question, fact)


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        (MEDS, "User takes the number 14 bus to the hospital"),
        (MEDS, "User is allergic to penicillin"),
        ("What breed is my dog?", "User's dog Rex loves the beach"),
        ("Where did I do my bachelor's?", "User has a master's degree from MIT"),
        ("Is there any food I should avoid?", "User is allergic to penicillin"),
        ("How many kids do I have?", "User's sister has three kids"),
        ("What's my salary?", "User makes pottery"),
        ("What's my salary?", "User makes 3 cakes a week"),
        (MEDS, "User works on lithium batteries"),
        (MEDS, "User needs insulin for User's cat"),
        ("What supplements do I take?", "User is allergic to zinc"),
        ("What breed is my dog?", "User sells golden retrievers"),
        ("What breed is my dog?", "User loves German shepherds"),
        ("Do I have any dietary restrictions?", "User is no longer vegan"),
        ("Do I have any dietary restrictions?", "User cooks vegan food for a living"),
    ],
)
def test_one_that_names_none_does_not(question: str, fact: str) -> None:
    kind = kinds.asked(question)
    assert kind is not None
    assert not kinds.tells(kind, question, fact)


@pytest.mark.parametrize("question", ["Which drugs am I allergic to?", "What bus do I take?", "Where did I live?", ""])
def test_other_questions_ask_for_no_kind(question: str) -> None:
    assert kinds.asked(question) is None


def test_a_medicine_is_told_before_what_is_taken_beside_it() -> None:
    kind = kinds.asked(MEDS)
    assert kind is not None
    facts = ["User takes zinc in winter", "User takes 5 mg of ramipril"]
    assert kinds.of_the_best(kind, facts) == facts[1:]
    assert kinds.of_the_best(kind, facts[:1]) == facts[:1]


def test_a_licence_is_told_by_its_name() -> None:
    question = "Which license is the library under?"
    kind = kinds.asked(question)
    assert kind is not None
    assert kinds.tells(kind, question, "The library is MIT")
    assert not kinds.may_answer(kind, question, "User's team tests the library with pytest")


def test_a_breed_is_a_pet_where_somebody_has_one() -> None:
    question = "What pets do I have?"
    kind = kinds.asked(question)
    assert kind is not None
    assert kinds.tells(kind, question, "User adopted a whippet")
    assert not kinds.tells(kind, question, "User has a Persian rug")


def test_a_kind_of_a_certain_sort_is_more_than_the_kind() -> None:
    question = "What medication do I take for my knee?"
    kind = kinds.asked(question)
    assert kind is not None
    assert not kinds.holds_the_rest(kind, question, "User takes metoprolol")
    assert kinds.holds_the_rest(kind, question, "User takes ibuprofen for User's knee")


def test_an_address_of_the_web_is_told_by_its_form() -> None:
    question = "What's the staging URL?"
    kind = kinds.asked(question)
    assert kind is not None
    assert kinds.tells(kind, question, "Staging is at staging.acorn.dev")
    assert not kinds.tells(kind, question, "Mail ann@acorn.dev, not me")
    assert not kinds.holds_the_rest(kind, question, "Production is at app.acorn.dev")


def test_what_a_brand_is_tells_of_the_sort_that_is_asked_for() -> None:
    question = "Which payment provider do we use?"
    kind = kinds.asked(question)
    assert kind is not None
    assert kinds.tells(kind, question, "User's team uses Stripe")
    assert kinds.begins_with_one(kind, "Stripe takes the cards")
    assert not kinds.begins_with_one(kind, "Ann chose Stripe")
    assert not kinds.tells(kind, question, "User's team uses pnpm")
    assert kinds.tells(kind, question, "Ann set up Stripe for everybody")
    assert kinds.tells(kind, question, "User's payment provider, which nobody likes: Stripe")
    for in_passing in (
        "User read a review of Stripe",
        "There was a nice piece on Stripe",
        "User tried Stripe for a day",
        "User saw Stripe on television",
    ):
        assert not kinds.tells(kind, question, in_passing)
        assert kinds.names_in_passing(kind, in_passing)
    assert not kinds.names_in_passing(kind, "Ann recommended the payment provider Stripe")
    assert not kinds.names_in_passing(kind, "Everything goes over Stripe")
    assert not kinds.may_answer(kind, question, "User's team uses pnpm")


def test_what_somebody_is_or_has_for_a_pet_is_no_brand() -> None:
    for question, fact in (
        ("Which LLM do we use?", "User is a Gemini"),
        ("Which programming language do I use?", "User has a pet python"),
    ):
        kind = kinds.asked(question)
        assert kind is not None
        assert not kinds.tells(kind, question, fact)


def test_what_is_called_so_may_answer_whatever_its_name_is() -> None:
    question = "Which payment provider do we use?"
    kind = kinds.asked(question)
    assert kind is not None
    assert kinds.may_answer(kind, question, "The payment provider is FooPay, on AWS")


@pytest.mark.parametrize("unit", ["now, ", "degree ", "alarm ", "user takes "])
def test_long_texts_take_no_longer_than_they_are_long(unit: str) -> None:
    def read(said: str) -> None:
        kinds.asked(f"what do i take {said}x")
        for kind in kinds.KINDS:
            kinds.tells(kind, "Where did I study?", said)
            kinds.may_answer(kind, "Where did I study?", said)

    assert_linear(read, unit, 8_192)
