"""Distilling: one short memory of what several sessions came to, or of what several memories of a topic say. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from engram.lifecycle.clusters import may_be_summarised, put_together
from engram.lifecycle.deeds import NEW, Deed, Effect, Tie, marked
from engram.lifecycle.keeping import invented, is_rewording, says_all
from engram.lifecycle.pairing import Row
from engram.lifecycle.thresholds import DISTILL_CHARACTERS, DISTILL_NOTES, DISTILLED_IMPORTANCE
from engram.policies.classify import Classified
from engram.writing import Draft

STATUS_TAGS: Final = ("project-status", "auto-distilled")
TOPIC_TAGS: Final = ("distilled",)
MARK: Final = "distilled"
CATEGORY: Final = "status"


@dataclass(frozen=True, slots=True)
class Note:
    """A note of a session, the newest first where there are several."""

    memory_id: str
    fact: str
    trust: int
    marks: Mapping[str, Any] = field(default_factory=dict)
    event_id: str = ""


def enough(notes: Sequence[Note]) -> bool:
    """Whether there are notes enough to say where things stand."""
    return len(notes) >= DISTILL_NOTES


def status_of(notes: Sequence[Note]) -> str:
    """Where things stand in the notes' own words: the newest whole ones that fit, and of the newest at least a part."""
    said: list[str] = []
    for note in notes:
        longer = " ".join((*said, " ".join(note.fact.split())))
        if len(longer) <= DISTILL_CHARACTERS:
            said.append(" ".join(note.fact.split()))
        elif not said:
            return cut(longer)
    return " ".join(said)


def cut(text: str) -> str:
    """A text of no more than 250 characters: whole sentences, or whole words where the first is longer. Pure."""
    text = " ".join(text.split())
    if len(text) <= DISTILL_CHARACTERS:
        return text
    part = text[: DISTILL_CHARACTERS + 1]
    ends = max(part.rfind(mark) for mark in (". ", "! ", "? "))
    if ends > 0:
        return part[: ends + 1]
    word = part.rfind(" ")
    return part[: word if word > 0 else DISTILL_CHARACTERS]


def may_stand(text: str, notes: Sequence[Note]) -> bool:
    """Whether what a model wrote of notes is short and holds no value that none of them has."""
    return 0 < len(text) <= DISTILL_CHARACTERS and not invented([note.fact for note in notes], text)


def is_told(text: str, earlier: Sequence[Row]) -> bool:
    """Whether an earlier memory of where things stand says all of it already."""
    return any(says_all(one.fact, text) for one in earlier)


def replaced(notes: Sequence[Note], earlier: Sequence[Row]) -> list[Row]:
    """The earlier memories that a new one takes the place of: none of a better source than the notes it is made of."""
    worst = max(note.trust for note in notes)
    return [one for one in earlier if one.trust >= worst and may_be_summarised(one)]


def status_deed(notes: Sequence[Note], draft: Draft | None, earlier: Sequence[Row] = ()) -> Deed:
    """What is done of notes: they count as distilled, and `draft` takes the place of what earlier ones came to."""
    because = f"distilled with {len(notes) - 1} others"
    first = () if draft is None else (Effect(NEW, {"layer": "working"}, "distilled of notes of sessions"),)
    return Deed(
        effects=(
            *first,
            *(
                Effect(
                    one.memory_id, {"status": "superseded", "status_reason": MARK, "superseded_by": NEW},
                    "newer notes of sessions say it otherwise",
                )
                for one in earlier
            ),
            *(marked(note.memory_id, note.marks, because, **{MARK: True}) for note in notes),
        ),
        ties=() if draft is None else (
            *(Tie(NEW, note.memory_id, "derived_from") for note in notes),
            *(Tie(NEW, one.memory_id, "supersedes") for one in earlier),
        ),
        draft=draft, of=() if draft is None else tuple(note.memory_id for note in notes),
    )  # fmt: skip


def status_draft(text: str) -> Draft:
    """The memory that says where things stand."""
    return Draft(
        fact=text, classified=Classified("project", category=CATEGORY, importance=0.5), tags=STATUS_TAGS,
        source="life_cycle",
    )  # fmt: skip


# ------------------------------------------------ topics


def groups(rows: Sequence[Row], said: Sequence[tuple[Sequence[int], str]]) -> list[tuple[list[Row], str]]:
    """The groups of a model's answer that may stand: of two or more that overlap, and nothing lost or added.

    Memories are named by their places from 1. One is in the first group that may have it.
    """
    found: list[tuple[list[Row], str]] = []
    used: set[str] = set()
    for places, words in said:
        text = " ".join(words.split())
        members = [rows[place - 1] for place in dict.fromkeys(places) if 0 < place <= len(rows)]
        if len(members) < 2 or used & {row.memory_id for row in members} or not _may_go(members):
            continue
        if is_rewording([row.fact for row in members], text):
            found.append((members, text))
            used |= {row.memory_id for row in members}
    return found


def _may_go(members: Sequence[Row]) -> bool:
    """Whether none is of a better source than the others, and each may leave its place."""
    return len({row.trust for row in members}) == 1 and all(may_be_summarised(row) for row in members)


def topic_deed(members: Sequence[Row], draft: Draft) -> Deed:
    """What is done of a group of a topic: one memory stands for them, and they leave default reads."""
    return put_together(members, draft, f"distilled with {len(members) - 1} others of its topic")


def topic_draft(text: str, members: Sequence[Row]) -> Draft:
    """The memory that a group of a topic becomes."""
    kinds = [row.memory_type for row in members]
    return Draft(
        fact=text, classified=Classified(max(kinds, key=kinds.count), importance=DISTILLED_IMPORTANCE),
        tags=TOPIC_TAGS, source="life_cycle",
    )  # fmt: skip
