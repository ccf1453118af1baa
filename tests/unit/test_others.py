"""Whether what is known is of somebody else than the one who asks."""

from __future__ import annotations

import pytest

from engram.recall.others import may_be_somebody, plain_words, stated, tells_of_the_asker


@pytest.mark.parametrize(
    ("subject", "told"),
    [
        ("Dana", "Dana moved to Oslo"), ("ben", "Ben works as a photographer"),
        ("User's sister", "User's sister lives in Padua"),
        ("James", "James is 40"), ("Dr. Salim", "Dr. Salim has a cabin"), ("User's two sons", "User's two sons ski"),
        ("Sterling", "Sterling is 9"), ("", "has a cabin"),
        ("Henry", "Henry lives in Leeds"), ("Ying", "Ying has a cat"),
        ("Dr. King", "Dr. King moved"), ("Thomas", "Thomas got a cat"), ("Agnes", "Agnes lived in Rome"),
        ("James", "James can swim"), ("Anna van Dyk", "Anna van Dyk sings"), ("Dana and Tom", "Dana and Tom ski"),
        ("User's flight instructor", "User's flight instructor lives in Rome"),
    ],
)  # fmt: skip
def test_a_name_and_a_relation_may_be_somebody(subject: str, told: str) -> None:
    assert may_be_somebody(subject, told)


@pytest.mark.parametrize(
    ("subject", "told"),
    [
        ("Parking", "Parking is free after six"), ("Insurance", "Insurance costs 90 a month"),
        ("Visitors", "Visitors can leave their coats downstairs"), ("Badges", "Badges open the side door"),
        ("the mot", "The MOT is due in March"),
        ("Office rent", "Office rent is 3,000"), ("The town council", "The town council meets in May"),
    ],
)  # fmt: skip
def test_a_thing_and_many_are_nobody(subject: str, told: str) -> None:
    assert not may_be_somebody(subject, told)


@pytest.mark.parametrize(
    "said",
    [
        "Parking costs are paid by the branch in Bern.", "Every supplier has to send a certificate.",
        "Meeting rooms need a badge.", "Guests may park in the yard.", "Doors close at ten unless there is a party.",
        "Members have a locker.",
    ],
)  # fmt: skip
def test_what_is_said_of_things_and_what_holds_in_general_may_answer(said: str) -> None:
    assert tells_of_the_asker(said, set())


@pytest.mark.parametrize(
    "said",
    [
        "Dana moved to Oslo.",
        "Marek looks after the garden.",
        "My aunt sells flowers.",
        "Harry moved to Oslo.",
        "Dana has never been to Oslo.",
        "Dana eats only fish.",
        "Dana loves live music.",
        "Dana's kids go to Hill School.",
    ],
)
def test_what_somebody_else_does_does_not(said: str) -> None:
    assert not tells_of_the_asker(said, set())
    assert tells_of_the_asker(said, {"dana", "marek", "aunt", "my", "harry"})


@pytest.mark.parametrize(
    "said",
    [
        "It may rain.", "I may move to Spain.", "My parents may move to Spain.", "Guests might park in the yard.",
        "I go to the gym unless it rains.", "Where do guests park?", "Where do guests park otherwise?",
        "Is the office open unless it snows?", "Prices may rise next year.", "Her parents may move to Spain.",
    ],
)  # fmt: skip
def test_what_may_be_is_not_stated(said: str) -> None:
    assert not list(stated(said))


@pytest.mark.parametrize(
    ("said", "question", "tells"),
    [
        ("Our team works in two-week sprints.", "How long are our sprints?", True),
        ("Our team works in two-week sprints.", "Where do we work?", True),
        ("Our team works in two-week sprints.", "Where do I work?", False),
        ("My sister's team works in two-week sprints.", "How long are our sprints?", False),
        ("Our neighbour works in two-week sprints.", "How long are our sprints?", False),
        ("My aunt sells flowers.", "Where do I sell my flowers?", False),
    ],
)
def test_a_group_of_mine_is_who_we_are(said: str, question: str, tells: bool) -> None:
    assert tells_of_the_asker(said, plain_words(question)) is tells
