"""The tail channel: what was said and is not derived yet, so that a reader finds what was written a moment ago."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from engram import chain, served
from engram.channels import keyword
from engram.database import Connection
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
    said = [(event, scope_id, served.without(event.content or "")) for event, scope_id in waiting]
    facts = [(event, scope_id, own[:MOST_CHARACTERS].strip()) for event, scope_id, own in said]
    return tuple([Hit(event, scope_id, fact) for event, scope_id, fact in facts if fact])


def spoken(hit: Hit) -> str:
    """What an event says, with who says it, as the words of a memory are read. Pure."""
    return f"{hit.event.actor}: {hit.fact}" if hit.event.actor else hit.fact


def allowed(
    conn: Connection, hits: Sequence[Hit], sought: keyword.Sought, *, config: str = "english"
) -> tuple[Hit, ...]:
    """The hits without those that hold a word the question does without."""
    refused = keyword.refused_texts(conn, [spoken(hit) for hit in hits], sought, config=config)
    return tuple([hit for place, hit in enumerate(hits) if place not in refused])


def score(
    conn: Connection, hits: Sequence[Hit], sought: keyword.Sought, *, config: str = "english"
) -> Callable[[], list[Hit]]:
    """The hits with how their words cover a question, once the next statement is answered."""
    scores = keyword.score_texts(conn, [spoken(hit) for hit in hits], sought, config=config)

    def scored() -> list[Hit]:
        made = list(hits)
        for place, (coverage, matched) in scores().items():
            made[place] = replace(hits[place], coverage=coverage, matched=matched)
        return made

    return scored
