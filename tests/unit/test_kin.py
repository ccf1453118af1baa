"""Whom or what of the asker's a question is about."""

from __future__ import annotations

import pytest

from engram.recall import kin


@pytest.mark.parametrize(
    ("question", "who"),
    [
        ("where does my brother live?", "brother"),
        ("how old is my little daughter?", "daughter"),
        ("what's my sister's name?", "sister"),
        ("where's my mum working?", "mum"),
        ("who is my sister's husband?", "sister"),
        ("doesn't my boss live in bonn?", "boss"),
        ("what do our kids like", "kid"),
        ("where does the user's brother live?", "brother"),
        ("who is the user's brother?", None),
        ("who is my brother?", None),
        ("who was my supervisor in march 2024?", None),
        ("who are my friends?", None),
        ("did my brother and i go to rome?", None),
        ("where did i meet my wife?", None),
        ("where do i live?", None),
        ("is my brotherhood gone?", None),
    ],
)
def test_of_whom_a_question_asks(question: str, who: str | None) -> None:
    assert kin.asked(question) == who


@pytest.mark.parametrize(
    ("question", "which"),
    [
        ("where does my best friend live?", "best friend"),
        ("what does my older brother do?", "older brother"),
        ("where does my brother live?", None),
        ("where do i live?", None),
    ],
)
def test_which_of_several_a_question_asks_of(question: str, which: str | None) -> None:
    assert kin.asked_as(question) == which


@pytest.mark.parametrize(
    ("who", "fact", "tells"),
    [
        ("brother", "User's brother Tom lives in Leeds", True),
        ("brother", "User's brothers live in Leeds", True),
        ("brother", "User has two siblings", True),
        ("mother", "User's mum was born in Cork", True),
        ("brother-in-law", "User's brother-in-law is a pilot", True),
        ("in-law", "User's in-laws live in Aarhus", True),
        ("brother", "User lives in Leeds", False),
        ("father-in-law", "User's brother-in-law is a pilot", False),
        ("brother", "Tom lives in Leeds", False),
    ],
)
def test_who_is_spoken_of(who: str, fact: str, tells: bool) -> None:
    assert kin.may_tell(who, fact, frozenset()) is tells


def test_somebody_is_spoken_of_by_a_name_that_another_fact_gives() -> None:
    facts = [
        "User's sister Julia plays chess", "User's younger sister is called Ann", "Eva is User's sister", "Ida runs",
    ]  # fmt: skip
    names = kin.names_of("sister", facts)
    assert names == {"julia", "ann", "eva"}
    assert kin.may_tell("sister", "Julia moved to Graz", names)
    assert not kin.may_tell("sister", "Ida moved to Graz", names)


@pytest.mark.parametrize(
    ("question", "fact", "another"),
    [
        ("what's my dog called?", "User's boss is called Sabine", True),
        ("what is the name of my dog?", "User's cat is Luna", True),
        ("what is the user's dog called?", "User's boss is called Sabine", True),
        ("what are my children's names?", "User's kids are Ben and Mia", False),
        ("what's my dog called?", "User's old dog is called Rex", False),
        ("what is my brother's name?", "User's brother Pavel is a pilot", False),
        ("what is my brother's name?", "User's brother Pavel Novak was late", False),
        ("what's my dog called?", "User's boss Sabine is nice", True),
        ("what's my dog called?", "User's dog sitter is Ann", True),
        ("what's my dog called?", "User adopted a beagle named Max", False),
        ("what is my dog's age?", "User's boss is called Sabine", False),
    ],
)
def test_the_name_of_one_thing_is_not_that_of_another(question: str, fact: str, another: bool) -> None:
    assert kin.names_another(question, fact) is another


@pytest.mark.parametrize(
    ("question", "fact", "holds"),
    [
        ("what's my brother's name?", "User's brother uses User's account sometimes", False),
        ("what's my dog's name?", "We're thinking about getting a dog. Maybe a whippet.", False),
        ("what is my cat's name?", "User's cat died last year", False),
        ("what's my brother's name?", "My brother uses my account, his name is Pavel.", True),
        ("what's my dog called?", "User's dog is rex", True),
        ("what's my dog called?", "Rex is User's dog", True),
        ("what is my husband called?", "User lives in Bristol with User's husband Marco", True),
        ("what's my car called?", "User drives a car", True),
        ("where is my dog?", "User's dog is out", True),
    ],
)
def test_who_asks_for_the_name_of_somebody_is_told_one(question: str, fact: str, holds: bool) -> None:
    assert kin.holds_the_name(question, fact) is holds


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("what is femi's wife called?", ("femi", "wife")),
        ("where does tom's sister live?", ("tom", "sister")),
        ("who is tom's boss?", None),
        ("what is my sister's husband called?", None),
        ("where does the user's brother live?", None),
        ("what's my dog's name?", None),
        ("what does bob's company do?", None),
    ],
)
def test_of_whose_people_a_question_asks(question: str, asked: tuple[str, str] | None) -> None:
    assert kin.asked_of(question) == asked


def test_somebody_elses_people_have_names_too() -> None:
    facts = ["Tom's sister Ida runs", "User's sister Julia plays chess", "Eva is Tom's sister"]
    assert kin.names_of("sister", facts, "tom") == {"ida", "eva"}


def test_whom_the_asker_meets_by_appointment_is_asked_about() -> None:
    assert kin.asked("when do i meet my therapist?") == "therapist"
    assert kin.asked("when am i going to the dentist?") == "dentist"
    assert kin.asked("where do i walk my dog?") is None
    nobody: frozenset[str] = frozenset()
    assert kin.may_tell("therapist", "Therapy is on Wednesdays at 5", nobody)
    assert not kin.may_tell("therapist", "Team meeting is on Monday at 10", nobody)


def test_one_of_the_kids_is_no_other_than_the_kids() -> None:
    assert not kin.names_another("what are my kids' names?", "User's son Jack is 6")
    assert kin.names_another("what are my kids' names?", "User's boss is called Jack")


def test_who_is_asked_about_by_a_name_is_known_by_the_word_for_them_too() -> None:
    facts = ("User's sister is called Anna", "User's boss Tom likes tea", "User's dog's name is Rex", "User met Eva")
    assert kin.named_in({"where", "anna", "rex", "tom", "eva"}, facts) == {"sister", "boss", "dog"}
    assert kin.named_in({"where", "does", "eva", "live"}, facts) == frozenset()
    assert kin.names_somebody("When does Marta's contract end?")
    assert not kin.names_somebody("When does my sister's contract end?")
