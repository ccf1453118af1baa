"""Life-like histories of what somebody says over a year, made by rules from a seed, with the truth at every moment.

`lives(bank, count, seed)` gives the same lives for the same arguments on every machine. Each has six themes that take
six courses (an update, an oscillation, a correction ...), people who are not the user, idle talk, suppositions, and
lasting facts; and the questions to ask at its end with what is true.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final, Literal

from histories.blind_bank import BLIND
from histories.casual_bank import CASUAL
from histories.fresh_bank import FRESH, UNSEEN
from histories.held_out_bank import HELD_OUT
from histories.newcomer_bank import NEWCOMER
from histories.open_bank import OPEN
from histories.practice_bank import PRACTICE
from histories.regular_bank import REGULAR
from histories.stranger_bank import STRANGER
from histories.visitor_bank import VISITOR
from histories.voices_bank import SEALED, VOICES
from histories.words import Bank, Theme

_WRITTEN: Final = (
    OPEN, HELD_OUT, FRESH, UNSEEN, PRACTICE, CASUAL, BLIND, VOICES, SEALED, STRANGER, NEWCOMER, REGULAR,
    VISITOR,
)  # fmt: skip
BANKS: Final = {bank.name: bank for bank in _WRITTEN}
SEED: Final = 20260
BEGIN: Final = datetime(2024, 1, 5, 9, tzinfo=UTC)
STEP: Final = (75, 120)  # days between two changes of one thing: a whole month always lies between them
COURSES: Final = ("stable", "update", "contradiction", "oscillation", "correction", "retraction", "renewal", "others")
THEMES: Final = 6  # of a life

Kind = Literal["say", "change", "back", "correct", "again", "stop", "other", "maybe", "lasting", "chat"]
Asks = Literal["current", "retracted", "time", "unsaid"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: what it says of which theme; `about` is somebody else it tells of."""

    at: datetime
    text: str
    kind: Kind
    theme: str = ""
    value: str = ""
    old: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question at the end of a life: what the answer must name, and what would be wrong in it."""

    text: str
    asks: Asks
    course: str
    theme: str = ""
    value: str = ""
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Life:
    """A history with its questions; `truth` holds the value each theme has at its end ("" for none)."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    truth: dict[str, str]


def lives(bank: Bank, count: int, seed: int = SEED) -> Iterator[Life]:
    """Lives of a bank, in order; the first of many are the same as the first of few."""
    for number in range(count):
        chance = random.Random(f"{bank.name}/{seed}/{number}")
        yield _life(bank, f"{bank.name}-{number:03}", number, chance)


def _life(bank: Bank, name: str, number: int, chance: random.Random) -> Life:
    themes = chance.sample(bank.themes, THEMES)
    courses = [COURSES[(number * THEMES + place) % len(COURSES)] for place in range(THEMES)]
    told: list[list[Turn]] = []
    questions: list[Question] = []
    truth: dict[str, str] = {}
    for theme, course in zip(themes, courses, strict=True):
        values = tuple(chance.sample(theme.values, min(4, len(theme.values))))
        turns = _course(theme, course, values, chance)
        told += _kept_together([*turns, *_beside(bank, theme, values[-1], chance)])
        questions += _questions(theme, course, turns, values, chance)
        truth[theme.name] = "" if turns[-1].kind in ("stop", "other") else turns[-1].value
    told += [[turn] for turn in _rest(bank, chance)]
    questions += [Question(text, "unsaid", "unsaid") for text in chance.sample(bank.unsaid, 3)]
    ordered = sorted(told, key=lambda group: (group[0].at, group[0].text))
    return Life(name, tuple(turn for group in ordered for turn in group), tuple(questions), truth)


def _kept_together(turns: Sequence[Turn]) -> list[list[Turn]]:
    """Turns in groups that nothing may come between: a correction directly follows what it corrects."""
    groups: list[list[Turn]] = []
    for turn in turns:
        if turn.kind == "correct":
            groups[-1].append(turn)
        else:
            groups.append([turn])
    return groups


def _course(theme: Theme, course: str, values: tuple[str, ...], chance: random.Random) -> list[Turn]:
    """What the user says of a theme, in order of time."""
    a, b = values[0], values[1]
    steps: dict[str, list[tuple[Kind, str, str]]] = {
        "stable": [("say", a, ""), ("again", a, ""), ("again", a, "")],
        "update": [("say", a, ""), ("change", b, a), ("again", b, "")],
        "contradiction": [("say", a, ""), ("say", b, a)],
        "oscillation": [("say", a, ""), ("change", b, a), ("back", a, b)],
        "correction": [("say", a, ""), ("correct", b, a)],
        "retraction": [("say", a, ""), ("stop", a, a)],
        "renewal": [("say", a, ""), ("stop", a, a), ("say", b, a)],
        "others": [("other", a, "")],
    }
    turns: list[Turn] = []
    at = BEGIN + timedelta(days=chance.randint(0, 20), minutes=chance.randint(0, 500))
    for kind, value, old in steps[course]:
        if kind == "correct":
            at = turns[-1].at + timedelta(minutes=2)
        text = chance.choice(getattr(theme, kind)) if kind != "other" else theme.other[0]
        about = "my aunt" if kind == "other" else ""
        turns.append(Turn(at, _said(text, value, old, about), kind, theme.name, value, old, about))
        at += timedelta(days=chance.randint(*STEP), minutes=chance.randint(0, 300))
    return turns


def _beside(bank: Bank, theme: Theme, value: str, chance: random.Random) -> list[Turn]:
    """What is said of a theme that is not so of the user: of somebody else, or only supposed."""
    person = chance.choice(bank.people)
    said: list[tuple[Kind, str, str]] = [("other", chance.choice(theme.other), person)]
    said.append(("maybe", chance.choice(theme.maybe), ""))
    return [
        Turn(_some_day(chance), _said(text, value, "", who), kind, theme.name, value, about=who)
        for kind, text, who in said
    ]


def _rest(bank: Bank, chance: random.Random) -> list[Turn]:
    lasting = [(text, chance.choice(values)) for text, values in chance.sample(bank.lasting, 4)]
    turns = [Turn(_some_day(chance), _said(text, value, "", ""), "lasting", "", value) for text, value in lasting]
    return turns + [Turn(_some_day(chance), text, "chat") for text in chance.sample(bank.chat, 3)]


def _some_day(chance: random.Random) -> datetime:
    return BEGIN + timedelta(days=chance.randint(30, 330), minutes=chance.randint(0, 600))


def _said(text: str, value: str, old: str, who: str) -> str:
    capital = value[:1].upper() + value[1:]
    return text.format(v=value, V=capital, old=old, Who=who[:1].upper() + who[1:])


def _questions(
    theme: Theme, course: str, turns: Sequence[Turn], values: Sequence[str], chance: random.Random
) -> list[Question]:
    last, asked = turns[-1], chance.choice(theme.ask)
    others = tuple({turn.value for turn in turns} - {last.value})
    if course == "others":
        return [Question(asked, "unsaid", course, theme.name, wrong=tuple(values))]
    if last.kind == "stop":
        return [Question(asked, "retracted", course, theme.name, wrong=(last.value,))]
    found = [Question(asked, "current", course, theme.name, last.value, others)]
    if course in ("update", "oscillation", "contradiction"):
        found += _time_questions(theme, course, [turn for turn in turns if turn.kind != "again"], values, chance)
    return found


def _time_questions(
    theme: Theme, course: str, turns: Sequence[Turn], values: Sequence[str], chance: random.Random
) -> Iterator[Question]:
    for turn, after in pairwise(turns):
        month = (turn.at.replace(day=1) + timedelta(days=40)).replace(day=1)
        if month.replace(day=28) + timedelta(days=4) < after.at:
            text = chance.choice(theme.then).format(when=month.strftime("%B %Y"))
            wrong = tuple(one for one in values if one != turn.value)
            yield Question(text, "time", course, theme.name, turn.value, wrong)


__all__ = ["BANKS", "COURSES", "SEED", "Bank", "Life", "Question", "Theme", "Turn", "lives"]
