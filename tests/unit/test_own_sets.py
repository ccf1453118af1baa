"""The project's own sets: large enough, in order, and asking for what is in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from statistics import fmean
from typing import Any

import pytest

from engram import text
from tests.scripts import script

ABILITIES = {
    "abstention", "contradiction resolution", "event ordering", "information extraction", "instruction following",
    "knowledge update", "multi-session reasoning", "preference following", "summarisation", "temporal reasoning",
}  # fmt: skip
KINDS = {"causal", "state", "goal", "value"}
# Words that say nothing of what is talked about, beside those that the index leaves out.
LIGHT = {
    "one", "would", "could", "really", "like", "get", "got", "since", "much", "out", "up", "put", "who", "when",
    "d", "ll", "m", "re", "s", "t", "ve",
}  # fmt: skip


@pytest.fixture(scope="module")
def sets() -> Iterator[Any]:
    """The loaders, which are a script beside the benchmarks and no part of the package."""
    yield from script("sets")


@pytest.fixture(scope="module")
def chats(sets: Any) -> list[Any]:
    """The chats of `advice`."""
    return list(sets.chosen("advice").cases())


@pytest.fixture(scope="module")
def history(sets: Any) -> Any:
    """The history of `cues`."""
    (case,) = sets.chosen("cues").cases()
    return case


def words(turn: Any) -> int:
    return len(turn.message["content"].split())


def test_each_chat_has_sixty_messages_in_several_sessions_and_is_answered_at_length(chats: list[Any]) -> None:
    assert [case.name for case in chats] == ["workshop", "flat", "bakery"]
    for case in chats:
        assert len(case.turns) >= 60
        assert len({turn.session for turn in case.turns}) >= 5
        assert [turn.message["role"] for turn in case.turns] == ["user", "assistant"] * (len(case.turns) // 2)
        answers = [words(turn) for turn in case.turns if turn.message["role"] == "assistant"]
        assert min(answers) >= 120
        assert max(answers) <= 320
        assert fmean(answers) >= 180
        assert max(words(turn) for turn in case.turns if turn.message["role"] == "user") < 80
        times = [turn.message["occurred_at"] for turn in case.turns]
        assert times == sorted(set(times))


def test_each_chat_is_asked_about_by_every_ability_and_only_abstention_has_no_evidence(chats: list[Any]) -> None:
    for case in chats:
        assert {one.category for one in case.questions} == ABILITIES
        assert len(case.questions) >= 30
        assert case.dropped == 0
        assert all(one.labelled == (one.category != "abstention") for one in case.questions)


def test_half_of_the_questions_are_held_out_of_every_kind(chats: list[Any], history: Any) -> None:
    for questions in ([one for case in chats for one in case.questions], history.questions):
        by_half = [Counter(one.category for one in questions if one.held_out is half) for half in (True, False)]
        assert by_half[0].keys() == by_half[1].keys()
        assert all(abs(by_half[0][kind] - by_half[1][kind]) <= 2 for kind in by_half[0])


def test_every_remark_has_a_cue_that_was_said_before_in_other_words(history: Any) -> None:
    said = {turn.key: turn for turn in history.turns}
    assert len(history.questions) >= 40
    assert {one.category for one in history.questions} == KINDS
    assert len(history.turns) >= 400
    for one in history.questions:
        (key,) = one.evidence
        assert said[key].message["role"] == "user"
        assert told(one.text) & told(said[key].message["content"]) == set(), one.text


def told(said: str) -> set[str]:
    """The words that tell something, without the endings that most often differ."""
    found = {word for word in re.findall(r"[a-zäöüß]+", said.casefold()) if word not in text.STOP_WORDS | LIGHT}
    return {re.sub(r"(?:ing|ed|es|s)$", "", word) if len(word) > 4 else word for word in found}


def test_the_history_is_in_order_and_its_sessions_are_not_mixed(history: Any) -> None:
    times = [turn.message["occurred_at"] for turn in history.turns]
    assert times == sorted(times)
    sessions = [turn.session for turn in history.turns]
    assert len([1 for before, after in pairwise(sessions) if before != after]) == len(set(sessions)) - 1
