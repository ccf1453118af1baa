"""A context of 8,000 tokens beside the recall it contains: milliseconds of both, and their ratio, in one run.

    python benchmarks/context.py                 100,000 memories in an embedded PostgreSQL in a temporary folder
    python benchmarks/context.py --memories N    so many memories
    python benchmarks/context.py URL             a migrated database, as a superuser

One scope of memories of twelve words with vectors in clusters, in the graph of vectors; relations, triggers, topics,
decisions and a conversation of 400 events, so that every section has something. Each question is asked both ways, the
recall and the context in turn, so that what else the machine does falls on both. The recall is what the context
contains: the same search through the same door, of as many results, with its row in the log; neither goes deep by
itself. The goal is a ratio of at most 1.5.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import psycopg
from machine import address
from search import clustered, copy, graph

from engram import Engram, Scope, counting, tenancy
from engram.database import Database
from engram.errors import EngramError
from engram.operations.assembling import MOST_FOUND
from engram.settings import load

GOAL: Final = 1.5
TOKENS: Final = 8_000
TIMES: Final = 40
WARM: Final = 5
RELATED: Final = """
    INSERT INTO engram.memory_relations (tenant_id, source_id, target_id, relation_type, weight)
    SELECT m.tenant_id, m.memory_id, lag(m.memory_id) OVER (ORDER BY m.memory_id), 'related_to', 0.5
      FROM engram.agent_memory m WHERE m.tenant_id = %(tenant)s AND m.scope_id = %(scope)s OFFSET 1
"""
DECIDED: Final = """
    UPDATE engram.agent_memory m SET memory_type = 'decision'
     WHERE m.tenant_id = %(tenant)s AND m.scope_id = %(scope)s AND get_byte(uuid_send(m.memory_id), 15) = 1
"""
TAGGED: Final = """
    UPDATE engram.agent_memory m SET tags = ARRAY['trigger:act-' || get_byte(uuid_send(m.memory_id), 14) %% 20]
     WHERE m.tenant_id = %(tenant)s AND m.scope_id = %(scope)s AND get_byte(uuid_send(m.memory_id), 15) = 0
"""


def fill(url: str, tenant: str, memories: int) -> Engram:
    """A door to a scope with so many memories, and a conversation."""
    scope, dice = Scope(tenant, user_id="ada"), np.random.default_rng(1)
    door = Engram(url, scope=scope)
    made = door.add("The first of many").memory
    assert made is not None
    said = "we spoke at some length of term{} and of what comes of it for all who are here. " * 5
    talk = [{"role": "user", "content": f"Turn {n}: {said.format(*range(n, n + 5))}"} for n in range(400)]
    door.remember(talk, session_id="talk", derive="skip")  # type: ignore[arg-type]
    for n in range(20):
        door.record_event(f"Plan {n}: {said.format(*range(n, n + 5))}", event_type="artifact", derive="skip")
    database = Database(url, load({}))
    with database.transaction(tenant) as conn:
        scope_id = tenancy.ensure(conn, scope)
    values = {"tenant": tenant, "scope": scope_id}
    with psycopg.connect(url.replace("postgresql+psycopg://", "postgresql://"), autocommit=True) as conn:
        copy(conn, tenant, made.memory_id, {scope_id: memories}, clustered(dice, memories), dice, words=True)
        with conn.transaction():
            conn.execute("SET LOCAL session_replication_role = replica")
            conn.execute(RELATED, values)
            conn.execute(DECIDED, values)
            conn.execute(TAGGED, values)
        graph(database, tenant, scope_id)
        conn.execute("VACUUM ANALYZE")
    database.close()
    return door


def took(work: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds of a call, and what it returns."""
    start = time.perf_counter()
    result = work()
    return 1000 * (time.perf_counter() - start), result


def compare(door: Engram, name: str, count: Any) -> float:
    """Print both medians and their ratio."""
    dice = np.random.default_rng(7)
    recalls, contexts, tokens = [], [], []
    for place in range(TIMES + WARM):
        words = " ".join(f"term{int(4000 * dice.random() ** 3)}" for _ in range(5))
        recall, _ = took(lambda: door.search(words, limit=MOST_FOUND, expand=False, track=False))  # noqa: B023 - called at once
        context, block = took(
            lambda: door.build_context(words, max_tokens=TOKENS, token_counter=count)  # noqa: B023 - called at once
        )
        if place >= WARM:
            recalls.append(recall)
            contexts.append(context)
            tokens.append(block.tokens)
        assert block.tokens <= TOKENS
    ratio = statistics.median(contexts) / statistics.median(recalls)
    print(
        f"{name:<28}recall {statistics.median(recalls):>7.1f} ms, context {statistics.median(contexts):>7.1f} ms of"
        f" {statistics.median(tokens):,.0f} tokens, ratio {ratio:.2f} (goal {GOAL})"
    )
    return ratio


def main() -> None:
    """Fill a scope, and compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url", nargs="?")
    parser.add_argument("--memories", type=int, default=100_000)
    given = parser.parse_args()
    with address(superuser=True) as url:
        door = fill(url, f"bench-{uuid.uuid4().hex[:8]}", given.memories)
        with door:
            block = door.build_context("term1 term2 term3", max_tokens=TOKENS)
            print(f"{given.memories:,} memories; sections: {', '.join(one.name for one in block.sections if one.text)}")
            compare(door, "Engram's own count", None)
            try:
                counting.chosen("o200k_base")
            except EngramError as error:
                print(f"tiktoken is not here: {type(error).__name__}")
            else:
                compare(door, "tiktoken, o200k_base", "o200k_base")


if __name__ == "__main__":
    main()
