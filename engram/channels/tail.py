"""The tail channel: what was said and is not derived yet, so that a reader finds what was written a moment ago."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from engram import chain
from engram.channels import keyword
from engram.values import Event

NAME: Final = "tail"
MOST_EVENTS: Final = 200
MOST_EMBEDDED: Final = 99  # events compared by meaning: with the question they are one batch
MOST_CHARACTERS: Final = 8_192  # of an event's content that is compared


@dataclass(frozen=True, slots=True)
class Hit:
    """An event behind the cursor, its scope, its words as a memory would have them, and how they cover the question."""

    event: Event
    scope_id: int
    fact: str
    coverage: float = 0.0
    matched: tuple[str, ...] = ()


def read(rows: Sequence[Any]) -> tuple[Hit, ...]:
    """The events of rows that say something, in their order: the newest first. Pure."""
    waiting = [(chain.event(row), int(row.scope_id)) for row in rows]
    said = [(event, scope_id, (event.content or "")[:MOST_CHARACTERS].strip()) for event, scope_id in waiting]
    return tuple([Hit(event, scope_id, fact) for event, scope_id, fact in said if fact])


def spoken(hit: Hit) -> str:
    """What an event says, with who says it, as the words of a memory are read. Pure."""
    return f"{hit.event.actor}: {hit.fact}" if hit.event.actor else hit.fact


def scored(hits: Sequence[Hit], scores: Mapping[int, keyword.Score | None]) -> list[Hit | None]:
    """The hits with how they cover a question, by their places; None for one that holds a word to do without. Pure."""
    made: list[Hit | None] = list(hits)
    for place, score in scores.items():
        made[place] = None if score is None else replace(hits[place], coverage=score[0], matched=score[1])
    return made
