"""What must never happen, through the whole write path: a wrong head, a swallowed change, an order that matters."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engram import Engram, Scope
from engram.lineage import Member, places

sys.path.insert(0, str(Path(__file__).parent.parent / "unit"))

import pairs
import sentences

START = datetime(2020, 1, 1, tzinfo=UTC)


class OneVector:
    """An embedder for which all texts mean the same: the hardest case for whoever must tell them apart."""

    name, dimensions, max_tokens = "one-vector", 4, None

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        return np.full((len(texts), 4), 0.5, dtype=np.float32)


@pytest.fixture(scope="module")
def alike(database_url: str) -> Iterator[Engram]:
    with Engram(database_url, embedder=OneVector()) as door:  # type: ignore[arg-type]
        yield door


@pytest.mark.parametrize(("existing", "candidate"), pairs.CHANGED)
def test_a_changed_value_is_never_swallowed(alike: Engram, tenant: str, existing: str, candidate: str) -> None:
    for first, second in ((existing, candidate), (candidate, existing)):
        door = alike.scoped(tenant_id=tenant, user_id=f"u{first == existing}")
        door.add(first)
        decision = door.add(second)
        assert decision.kind in ("add", "revise")
        assert decision.memory is not None
        assert (decision.memory.fact, decision.memory.status) == (second, "active")


@pytest.mark.parametrize(("existing", "candidate"), pairs.SAME)
def test_a_paraphrase_is_a_duplicate(alike: Engram, tenant: str, existing: str, candidate: str) -> None:
    door = alike.scoped(tenant_id=tenant, user_id="ada")
    first = door.add(existing).memory
    second = door.add(candidate)
    assert first is not None
    if first.conflict_key is not None and second.kind != "reinforce":
        # It has the key of the first: then it is the next revision of it, and nothing is lost.
        assert second.memory is not None
        assert second.memory.lineage_id == first.lineage_id
    else:
        assert (second.kind, second.target and second.target.memory_id) == ("reinforce", first.memory_id)


def test_no_sentence_about_others_or_about_the_past_moves_the_user(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        home = next(
            d.memory for d in door.remember("I live in Ottawa.").decisions if d.memory and d.memory.conflict_key
        )
        for sentence in sentences.NO_KEY:
            door.remember(sentence)
            head = door.get_current(home.memory_id)
            assert head.fact == "User lives in Ottawa", sentence
        assert door.recall("Where do I live?").answer_text == "User lives in Ottawa"


@pytest.mark.parametrize("seed", range(12))
def test_who_is_head_does_not_depend_on_the_order_of_arrival(database_url: str, tenant: str, seed: int) -> None:
    chance = random.Random(seed)
    trusts = ("operator", "user", "agent", "tool", "document", "web")
    told = [(f"User lives in City {n}", START + timedelta(days=n * 7), chance.choice(trusts)) for n in range(8)]
    ranks = {trust: rank for rank, trust in enumerate(trusts)}
    expected = {
        name: place.status
        for name, place in places(Member(f, (at, at, f, 0), ranks[trust], f, at) for f, at, trust in told).items()
    }
    with Engram(database_url, scope=Scope(tenant_id=tenant)) as door:
        for turn, threads in enumerate((1, 1, 6)):
            order = told * 2 if turn else list(told)
            chance.shuffle(order)
            scoped = door.scoped(user_id=f"u{turn}")

            def tell(one: tuple[str, datetime, str], scoped: Engram = scoped) -> None:
                scoped.add(one[0], topic_key="home", valid_from=one[1], trust=one[2], idempotency_key=one[0])  # type: ignore[arg-type]

            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(tell, order))
            line = scoped.get_lineage(topic_key="home")
            assert {memory.fact: memory.status for memory in line.revisions if memory.status != "deleted"} == expected
            assert len({memory.fact for memory in line.revisions}) == len(line.revisions) == 8
