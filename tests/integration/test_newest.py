"""What was changed last comes first, over several scopes too: whatever was written anew since, and page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import psycopg
import pytest

from engram import ALL_USERS, Engram, Filter, InvalidInput, Scope
from engram.embedded import EmbeddedServer
from engram.newest import MANY_SCOPES
from engram.values import Page

FACTS = [f"{who} keeps {what}" for who, what in zip(
    ("Agent", "User") * 4, ("bees", "goats", "hens", "ducks", "geese", "sheep", "mules", "cats"), strict=True
)]  # fmt: skip

LISTS: dict[str, Callable[..., Page[Any]]] = {
    "history": lambda door, **more: door.get_history(**more),
    "history of then": lambda door, **more: door.get_history(known_at=datetime(2199, 1, 1, tzinfo=UTC), **more),
    "decisions": lambda door, **more: door.list_decisions(**more),
    "audit": lambda door, **more: door.ops.audit_log(**more),
}


@pytest.fixture
def agent(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant)) as opened:
        yield opened


def told(found: Page[Any]) -> list[str]:
    """What the entries of a page are about."""
    return [one.fact if hasattr(one, "fact") else one.memory.fact for one in found]


def by_turns(doors: Sequence[Engram]) -> None:
    for place, fact in enumerate(FACTS):
        doors[place % len(doors)].add(fact)


def switched(door: Engram) -> None:
    door.ops.switch_replay(door.ops.replay().shadow_id)


@pytest.fixture(params=LISTS)
def listed(request: pytest.FixtureRequest) -> Callable[..., Page[Any]]:
    return LISTS[request.param]


def test_after_a_switch_the_changes_of_several_scopes_still_come_by_their_time(
    agent: Engram, listed: Callable[..., Page[Any]]
) -> None:
    ada = agent.scoped(user_id="ada")
    by_turns((agent, ada))
    switched(agent)
    assert told(listed(ada)) == FACTS[::-1]
    assert told(listed(ada, limit=2)) == FACTS[:-3:-1]


def pages(read: Callable[..., Page[Any]], size: int) -> Iterator[list[str]]:
    """What is told page by page."""
    cursor = None
    while True:
        page = read(limit=size, cursor=cursor)
        yield told(page)
        cursor = page.cursor
        if cursor is None:
            return


@pytest.mark.parametrize("size", [1, 3, len(FACTS)])
@pytest.mark.parametrize("users", [1, MANY_SCOPES])
def test_page_by_page_each_change_comes_once(
    agent: Engram, listed: Callable[..., Page[Any]], users: int, size: int
) -> None:
    by_turns([agent, *(agent.scoped(user_id=f"u{place}") for place in range(users))])
    if users == MANY_SCOPES:
        agent.scoped(user_id="late").add(FACTS[0])
    switched(agent)
    everyone = agent.scoped(user_id=ALL_USERS)
    found = [fact for page in pages(partial(listed, everyone), size) for fact in page]
    assert found == [*FACTS[: users // MANY_SCOPES], *FACTS[::-1]]


@pytest.mark.parametrize("users", [1, MANY_SCOPES])
def test_a_cursor_still_fits_when_scopes_have_come_since(
    agent: Engram, listed: Callable[..., Page[Any]], users: int
) -> None:
    by_turns([agent, *(agent.scoped(user_id=f"u{place}") for place in range(users))])
    everyone = agent.scoped(user_id=ALL_USERS)
    page = listed(everyone, limit=2)
    for place in range(MANY_SCOPES):
        agent.scoped(user_id=f"late{place}").add("User was late")
    agent.add("Agent was late")
    assert told(listed(everyone, cursor=page.cursor)) == FACTS[-3::-1], "a page goes on from there"
    with pytest.raises(InvalidInput, match="cursor"):
        listed(agent, cursor=page.cursor)


@pytest.mark.parametrize("users", [0, 1, MANY_SCOPES])
def test_a_cursor_from_before_a_switch_is_refused_and_fits_again_when_that_is_taken_back(
    agent: Engram, listed: Callable[..., Page[Any]], users: int
) -> None:
    doors = [agent, *(agent.scoped(user_id=f"u{place}") for place in range(users))]
    by_turns(doors)
    doors[-1].add(FACTS[0])
    everyone = agent.scoped(user_id=ALL_USERS) if users else agent
    last = doors[(len(FACTS) - 1) % len(doors)]  # whose change is the last of the first page
    for door in {doors[0], last}:
        cursor = listed(everyone, limit=2).cursor
        made = door.ops.replay()
        assert told(listed(everyone, cursor=cursor)) == FACTS[-2::-1], "nothing has changed places yet"
        door.ops.switch_replay(made.shadow_id)
        if users < MANY_SCOPES or door is last:
            with pytest.raises(InvalidInput, match=r"^cursor: expected a cursor from after the last"):
                listed(everyone, cursor=cursor)
        else:
            assert told(listed(everyone, cursor=cursor)) == FACTS[-2::-1], "many scopes come by their time alone"
        door.ops.switch_replay(made.shadow_id)
        assert told(listed(everyone, cursor=cursor)) == FACTS[-2::-1], "the former ones are back"


def test_named_memories_of_several_scopes_come_by_their_time(agent: Engram) -> None:
    ada = agent.scoped(user_id="ada")
    by_turns((agent, ada))
    switched(agent)
    named = Filter(memory_ids=[entry.memory.memory_id for entry in ada.get_history()])
    first = ada.get_history(filter=named, limit=3)
    assert told(first) == FACTS[:-4:-1]
    assert told(ada.get_history(filter=named, cursor=first.cursor)) == FACTS[-4::-1]


def test_what_was_written_out_of_order_is_read_once(agent: Engram, server: EmbeddedServer) -> None:
    """A change that was written later may bear an earlier time: two clocks were read before two locks were had."""
    ada = agent.scoped(user_id="ada")
    by_turns((agent, ada))
    with psycopg.connect(server.url(user="postgres").replace("+psycopg", ""), autocommit=True) as conn:
        conn.execute(
            "UPDATE engram.memory_changes SET recorded_at = recorded_at - interval '1 day' WHERE change_id IN (SELECT"
            " change_id FROM engram.memory_changes WHERE tenant_id = %s ORDER BY change_id DESC OFFSET 1 LIMIT 1)",
            (agent.scope.tenant_id,),
        )
    assert sorted(fact for page in pages(ada.get_history, 1) for fact in page) == sorted(FACTS)
    assert told(ada.get_history(limit=1)) == FACTS[:-2:-1]
