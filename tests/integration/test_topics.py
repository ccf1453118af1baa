"""Topics in the database: made, changed, named, read, linked, and forgotten with what is erased."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engram import Engram, Scope
from engram.errors import InvalidInput, NotFound
from tests.quiet import quiet

DATABASE = [
    "The database of the shop is PostgreSQL 16", "Backups of the database run every night",
    "The database is restored from backups in an hour", "PostgreSQL backups are kept for a month",
    "The shop database lives on the server atlas",
]  # fmt: skip
DOG = [
    "The dog of the user is a golden retriever", "Rex is the name of the dog", "The dog eats twice a day",
    "The dog sleeps in the kitchen", "The golden retriever likes the lake",
]  # fmt: skip


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="mia")) as made:
        yield quiet(made)


def told(door: Engram, facts: list[str], **words: Any) -> list[str]:
    return [str(door.add(fact, force=True, **words).memory.memory_id) for fact in facts]


def leaf_of(door: Engram, memory_id: str) -> str:
    names = [topic.topic_id for topic in door.list_topics()]
    opened = door.get_topics(names)
    return next(name for name in names if memory_id in [one.memory_id for one in opened[name].memories])


def test_there_are_no_topics_until_they_are_made(door: Engram) -> None:
    assert door.list_topics() == ()
    told(door, DATABASE)
    assert door.list_topics() == ()


def test_memories_that_belong_together_are_one_named_topic(door: Engram) -> None:
    shop, dog = told(door, DATABASE), told(door, DOG)
    run = door.ops.rebuild_topics()
    assert (run.step, run.changes) == ("topics", ())
    topics = door.list_topics()
    assert sum(topic.members for topic in topics) == 10
    assert [topic.members for topic in topics] == sorted((topic.members for topic in topics), reverse=True)
    assert all(topic.name and topic.named_by == "words" and topic.topic_id.startswith("kb") for topic in topics)
    assert leaf_of(door, shop[1]) == leaf_of(door, shop[3]) != leaf_of(door, dog[1])
    opened = door.get_topics([leaf_of(door, dog[1])])
    [only] = opened.values()
    assert dog[1] in [one.memory_id for one in only.memories]
    assert only.topic in topics
