"""Following: each event of the readable scopes once, through both doors, whatever is killed in between."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import psycopg
import pytest
from book import Book, said, together

from engram import AsyncEngram, Engram, InvalidInput, Unavailable, streams
from engram.database import Connection, Database
from engram.embedded import EmbeddedServer
from engram.operations import following
from engram.settings import load
from engram.streams import Mark

FOLLOWER = """
import sys
import psycopg
from engram import Engram
from engram.settings import load

url, tenant, name = sys.argv[1:]
with psycopg.connect(url.replace("+psycopg", "")) as effects, Engram(url, settings=load({}), embedder="none") as engram:
    row = effects.execute("select mark from public.marks where name = %s for update", (name,)).fetchone()
    effects.commit()
    print("ready", flush=True)
    for item in engram.scoped(tenant_id=tenant).follow(after=row[0], poll=0.02):
        with effects.transaction():
            effects.execute("insert into public.effects values (%s, %s)", (name, item.event.event_id))
            effects.execute("update public.marks set mark = %s where name = %s", (item.mark, name))
"""


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, settings=load({}, dispatch="doorbell"), embedder="none") as opened:
        yield opened.scoped(tenant_id=tenant, user_id="ada")


def texts(items: object) -> list[str | None]:
    return [item.event.content for item in items]  # type: ignore[attr-defined]


def test_a_follower_sees_what_is_there_and_goes_on_from_a_mark(door: Engram) -> None:
    for n in range(5):
        door.remember(f"I like the number {n}.", session_id=f"s{n % 2}")
    first = list(islice(door.follow(poll=0), 2))
    rest = list(door.follow(after=first[-1].mark, poll=0))
    assert texts(first + rest) == [f"I like the number {n}." for n in range(5)]
    assert list(door.follow(after=rest[-1].mark, poll=0)) == []
    assert texts(door.follow(types=["observation"], poll=0)) == []
    door.record_event("The sky is red.")
    assert texts(door.follow(types=["observation"], poll=0)) == ["The sky is red."]


def test_a_follower_that_waits_is_told_what_comes(door: Engram) -> None:
    feed = door.follow(poll=0.01)

    def write() -> None:
        for n in range(10):
            time.sleep(0.01)
            door.remember(f"I like the number {n}.", session_id=f"s{n}")

    _, seen = together([write, lambda: texts(islice(feed, 10))])
    assert seen == [f"I like the number {n}." for n in range(10)]


def test_the_first_event_of_a_scope_is_not_passed_over_by_who_looked_a_moment_before(
    door: Engram, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    edge, looked = streams.edge, []

    def edge_after_a_write(conn: Connection) -> Mark:
        if not looked:
            looked.append(door.remember("I like the sea."))
        return edge(conn)

    monkeypatch.setattr(streams, "edge", edge_after_a_write)
    with Engram(database_url, settings=load({}), embedder="none") as other:
        feed = other.scoped(door.scope)
        assert texts(feed.follow(poll=0)) == ["I like the sea."]
    assert looked


async def test_both_doors_follow_alike(door: Engram, database_url: str) -> None:
    for n in range(3):
        door.remember(f"I like the number {n}.")
    async with AsyncEngram(database_url, settings=load({}), embedder="none") as other:
        there = other.scoped(door.scope)
        assert [item async for item in there.follow(poll=0)] == list(door.follow(poll=0))
        feed = there.follow(poll=0.01)
        assert [(await anext(feed)).event.content for _ in range(3)] == texts(door.follow(poll=0))


@pytest.mark.parametrize(
    "bad",
    [
        {"after": "somewhere"}, {"after": 3}, {"after": f"{2**70}.00000000-0000-0000-0000-000000000000.0"},
        {"types": "all"}, {"poll": -1}, {"poll": "1"}, {"user": "ada"},
    ],
)  # fmt: skip
def test_a_bad_argument_is_told_at_once(bad: dict[str, object]) -> None:
    door = Engram("postgresql://nobody@127.0.0.1:1/nowhere", embedder="none")
    with pytest.raises(InvalidInput):
        door.follow(**bad)  # type: ignore[arg-type]


def test_a_follower_sees_its_own_scopes_and_no_private_words_of_others(door: Engram) -> None:
    door.remember("I live in Oslo.")
    bob, elsewhere = door.scoped(user_id="bob"), door.scoped(tenant_id=f"{door.scope.tenant_id}-x")
    bob.remember("I live in Rome.")
    elsewhere.remember("I live in Lima.")
    agent = door.scoped(user_id=None)
    agent.add("The door code is 1", private=True)
    assert texts(door.follow(poll=0)) == ["I live in Oslo."]
    assert texts(bob.follow(poll=0)) == ["I live in Rome."]
    assert texts(elsewhere.follow(poll=0)) == ["I live in Lima."]
    assert len(list(agent.follow(poll=0))) == 1


def test_what_does_not_concern_a_follower_is_looked_at_once(door: Engram, database: Database) -> None:
    book = Book(database, door.scope.tenant_id)
    book.append(book.stream(), [said(f"{n}") for n in range(300)])
    setup = door.scoped(user_id="bob", shared=False, namespace="empty")._setup
    follower = following.start(setup, None, None, 0, {})
    part = door._run(following.read_on(follower))
    assert part.items == ()
    assert not part.more
    assert part.next.mark > follower.mark
    late = door.scoped(user_id="bob", shared=False, namespace="empty")
    late.remember("I live in Rome.")
    assert texts(door._run(following.read_on(part.next)).items) == ["I live in Rome."]


def test_a_follower_that_is_killed_again_and_again_has_each_effect_once(
    server: EmbeddedServer, database_url: str, tenant: str, database: Database
) -> None:
    killed_followers(server, database_url, tenant, database, kills=4, events=120)


@pytest.mark.slow
def test_three_followers_killed_a_hundred_times_have_each_effect_once(
    server: EmbeddedServer, database_url: str, tenant: str, database: Database
) -> None:
    killed_followers(server, database_url, tenant, database, kills=34, events=1_500, followers=3)


def killed_followers(
    server: EmbeddedServer, url: str, tenant: str, database: Database, *, kills: int, events: int, followers: int = 1
) -> None:
    """The mark is kept in the transaction of the effect; the followers are killed at any moment."""
    behind = server.superuser_url.replace("+psycopg", "")
    names = [f"{tenant} {n}" for n in range(followers)]
    with psycopg.connect(behind) as conn:
        conn.execute("create table if not exists public.effects (name text, event_id uuid)")
        conn.execute("create table if not exists public.marks (name text primary key, mark text)")
        conn.execute("grant all on public.effects, public.marks to engram_app")
        for name in names:
            conn.execute("insert into public.marks values (%s, null)", (name,))
    book = Book(database, tenant)
    streams = [book.stream(f"s{n}") for n in range(4)]
    written: list[str] = []

    def write(nth: int) -> None:
        dice = random.Random(nth)
        for n in range(events // len(streams)):
            written.extend(e.event_id for e in book.append(streams[nth], [said(f"{nth} {n}")]).events)
            time.sleep(dice.choice([0, 0.01, 0.02]))

    def effects(name: str) -> list[str]:
        with psycopg.connect(behind) as conn:
            return [str(row[0]) for row in conn.execute("select event_id from public.effects where name = %s", (name,))]

    def follow(name: str) -> None:
        dice = random.Random(name)
        for life in range(kills + 1):
            process = subprocess.Popen(
                [sys.executable, "-c", FOLLOWER, url, tenant, name],
                stdout=subprocess.PIPE,
                cwd=Path(__file__).parents[2],
            )
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            if life < kills:
                time.sleep(dice.uniform(0.0, 0.2))
            else:
                until = time.monotonic() + 60
                while len(effects(name)) < len(written) or len(written) < events:
                    assert time.monotonic() < until, "the follower did not come to the end"
                    time.sleep(0.1)
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()

    together(
        [*(lambda n=n: write(n) for n in range(len(streams))), *(lambda name=name: follow(name) for name in names)]
    )
    for name in names:
        assert sorted(effects(name)) == sorted(written)
    with psycopg.connect(behind) as conn:
        conn.execute("delete from public.effects where name = any (%s)", (names,))


def test_a_follower_says_that_the_ledger_is_older_than_its_server(door: Engram, server: EmbeddedServer) -> None:
    """As after a restore into a fresh server: an empty list would say that nothing was ever said."""
    event_id = door.remember("I like the number 1.").event_ids[0]
    [item] = door.follow(poll=0)
    move = "update engram.agent_events set txid = (pg_current_xact_id()::text::bigint + 1000000)::text::xid8"
    with psycopg.connect(server.superuser_url.replace("+psycopg", "")) as conn:
        conn.execute("set session_replication_role = replica")
        conn.execute(f"{move} where event_id = %s", (event_id,))  # type: ignore[arg-type]
    with pytest.raises(Unavailable, match="younger"):
        list(door.follow(poll=0))
    with psycopg.connect(server.superuser_url.replace("+psycopg", "")) as conn:
        conn.execute("set session_replication_role = replica")
        conn.execute("update engram.agent_events set txid = '3' where event_id = %s", (event_id,))
    [again] = door.follow(poll=0)
    assert again.event.event_id == item.event.event_id
    later = f"{int(item.mark.split('.')[0]) + 1_000_000}.{item.event.stream_id}.1"
    with pytest.raises(Unavailable, match="younger"):
        list(door.follow(after=later, poll=0))
