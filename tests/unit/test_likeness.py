"""How alike two statements are in what they are about."""

from __future__ import annotations

import pytest

from engram import likeness as module
from engram.english import news
from engram.errors import Unavailable
from engram.likeness import likeness


def test_what_is_about_the_same_is_more_alike_than_what_is_not() -> None:
    told = ["user's pet is a rabbit", "user lives in oslo", "user takes the tram to work"]
    rabbit, home, tram = likeness("the rabbit is gone", told)
    assert rabbit > 0.5 > home
    assert rabbit - max(home, tram) > 0.3
    assert likeness("user does judo again", ["user does judo again"])[0] == pytest.approx(1.0, abs=1e-5)


def test_what_has_no_word_is_like_nothing() -> None:
    assert likeness("", ["user lives in oslo"]) == [0.0]
    assert likeness("user lives in oslo", []) == []


def test_without_the_vectors_nothing_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise Unavailable("gone", reason="embedding_failed")

    monkeypatch.setattr(module.local, "load", missing)
    with pytest.raises(Unavailable):
        likeness("a text that nobody has asked for", ["and another one"])


def test_few_texts_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_REMEMBERED", 3)
    said = [f"user likes number {number}" for number in range(9)]
    assert len(likeness(said[0], said[1:])) == 8
    assert len(module._vectors) == 3


@pytest.mark.parametrize(
    ("said", "sign"),
    [
        ("user no longer uses trello, user uses jira now", "over"),
        ("the rabbit is gone", "over"),
        ("user meant three-week sprints", "slip"),
        ("user mixed up the names, it is ian", "slip"),
        ("user does karate, not crossfit", None),
        ("karen was wrong", None),
        ("user does fencing again", "back"),
        ("user rolled back to mongodb", "back"),
        ("user still goes to salsa", "on"),
        ("user's deploys go to production now", "new"),
        ("user plays chess", None),
        ("maybe user plays chess now", None),
        ("user stopped running when it started to rain", None),
        ("no chess this tuesday", None),
        ("user also has an iphone now", None),
    ],
)
def test_a_statement_gives_a_sign_of_what_has_become_of_something(said: str, sign: str | None) -> None:
    assert news.sign(said) == sign
