"""The tail channel: what was said and is not derived yet, so that a reader finds what was written a moment ago."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engram import chain
from engram.channels import keyword
from engram.database import Connection, fetch_all
from engram.values import Event

NAME: Final = "tail"
MOST_EVENTS: Final = 200
MOST_EMBEDDED: Final = 99  # events compared by meaning: with the question they are one batch
MOST_CHARACTERS: Final = 8_192  # of an event's content that is compared
NO_WORDS: Final[tuple[float, tuple[str, ...]]] = (0.0, ())


@dataclass(frozen=True, slots=True)
class Hit:
    """An event behind the cursor, its scope, its words as a memory would have them, and how they cover the question."""

    event: Event
    scope_id: int
    fact: str
    coverage: float = 0.0
    matched: tuple[str, ...] = ()


def find(
    conn: Connection,
    tenant_id: str,
    scope_ids: Sequence[int],
    sought: keyword.Sought,
    derivers: Sequence[tuple[str, int]],
    *,
    config: str = "english",
) -> list[Hit]:
    """The newest events no deriver has come to, with the coverage of the question's words; newest first."""
    if not scope_ids:
        return []
    rows = fetch_all(
        conn,
        "list_tail_events",
        tenant_id=tenant_id,
        scope_ids=list(scope_ids),
        derivers=[name for name, _ in derivers],
        versions=[version for _, version in derivers],
        limit=MOST_EVENTS,
    )
    events = [(chain.event(row), int(row.scope_id)) for row in rows]
    waiting = [
        (event, scope_id, event.content[:MOST_CHARACTERS].strip()) for event, scope_id in events if event.content
    ]
    waiting = [(event, scope_id, fact) for event, scope_id, fact in waiting if fact]
    spoken = [f"{event.actor}: {fact}" if event.actor else fact for event, _, fact in waiting]
    scores = keyword.score_texts(conn, spoken, sought, config=config)
    hits = [(one, scores.get(place, NO_WORDS)) for place, one in enumerate(waiting)]
    return [Hit(*one, *score) for one, score in hits if score is not None]
