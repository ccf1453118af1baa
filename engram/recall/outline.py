"""Outline: what a context begins and ends with, whatever is asked: what is pinned, decided, named and to be heeded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from engram import memories
from engram.database import Connection, fetch_named, statement
from engram.filters import Filter
from engram.lifecycle import trees
from engram.memories import Moment
from engram.recall import topics, triggers
from engram.recall.finding import EVIDENCE
from engram.tenancy import Visible
from engram.values import TRUSTS, CriticalMemories, Memory, Trust

MOST_CRITICAL: Final = 200
DECIDED: Final = Filter(memory_types=("decision", "constraint"))


@dataclass(frozen=True, slots=True)
class Outline:
    """The pinned memories of a read, its newest decisions, its topics with their sizes, and the actions to look at."""

    critical: CriticalMemories = field(default_factory=lambda: CriticalMemories(()))
    decisions: Sequence[Memory] = ()
    topics: Sequence[tuple[str, int, Trust]] = ()
    actions: Sequence[tuple[str, Trust]] = ()


def read(
    conn: Connection, visible: Visible, *, decisions: int, with_topics: bool, actions: int, moment: Moment, key: bytes
) -> Outline:
    """The outline of a read: at most so many decisions and actions; topics where they are wanted.

    That of now is one statement whose plans the server keeps.
    """
    if not visible.scope_ids:
        return Outline()
    if moment.is_now:
        return _kept(conn, visible, decisions=decisions, with_topics=with_topics, actions=actions)
    decided = memories.list_memories(
        conn, visible, filter=DECIDED, sort="recent", limit=decisions, cursor=None, moment=moment, key=key
    )
    named = triggers.name_triggers(conn, visible, moment=moment)[:actions] if actions else []
    return Outline(
        memories.recall_critical(
            conn, visible, memory_types=None, limit=MOST_CRITICAL, max_tokens=None, strict=False, moment=moment
        ),
        tuple(decided),
        topics.list_topics(conn, visible, moment=moment) if with_topics else (),
        [(name, trust) for name, _, trust in named],
    )


def _kept(conn: Connection, visible: Visible, *, decisions: int, with_topics: bool, actions: int) -> Outline:
    params = memories.visible_params(visible) | {
        "order": list(memories.CRITICAL_ORDER), "decisions": decisions, "evidence": list(EVIDENCE), "actions": actions,
        "topics": topics.MOST_TOPICS if with_topics else 0, "counted": topics.MOST_COUNTED,
    }  # fmt: skip
    told, *rows = fetch_named(conn, statement("outline_context"), params)
    found = {row.memory_id: memories.made(row, visible) for row in rows}
    return Outline(
        memories.chosen_critical([found[i] for i in told.critical if i in found], visible, limit=MOST_CRITICAL),
        tuple(found[memory_id] for memory_id in told.decisions if memory_id in found),
        tuple((name, many, TRUSTS[rank]) for name, many, rank in _topics(told, visible)),
        tuple((tag[len(triggers.PREFIX) :], TRUSTS[rank]) for tag, rank in told.actions or ()),
    )


def _topics(told: Any, visible: Visible) -> list[tuple[str, int, Any]]:
    """The widest topics of the trees there are, else the names that were counted. Pure."""
    if told.trees is None:
        return list(told.topics or ())
    return [
        (trees.shown(scope_id, topic_id, name, visible), many, rank)
        for scope_id, topic_id, name, many, rank in told.trees
    ]
