"""PostgreSQL is killed again and again under writers: what was acknowledged is there, at its place, with its job.

The writers keep a log of what they were told; the log, not the database, says what must be there. Their sessions prefer
`synchronous_commit = off`, which would lose the last instants before a kill if the append did not overrule it.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from book import Book, said

from engram import database, migrations
from engram.database import Database
from engram.embedded import EmbeddedServer
from engram.errors import Unavailable, UnknownOutcome
from engram.ledger import NewEvent
from engram.settings import load

WRITERS = 8
STREAMS = 5  # fewer than writers: some writers share one
UNDISTURBED = 0.4  # seconds of writing between two kills
PATIENCE = 60.0  # seconds until a server must answer again
PROCESSES = ("the server", "the server and all it started", "a backend", "the checkpointer", "the WAL writer")


@dataclass
class Writer:
    """Writes until told to stop, and remembers what it was told."""

    book: Book
    stream: str
    dice: random.Random
    told: dict[str, int] = field(default_factory=dict)  # event id -> position, in the order of the acknowledgements
    error: BaseException | None = None

    def run(self, stop: threading.Event) -> None:
        try:
            while not stop.is_set():
                self.write([said(f"{n}", session_id=self.stream) for n in range(self.dice.choice([1, 1, 1, 5]))])
        except BaseException as error:
            self.error = error

    def write(self, events: list[NewEvent]) -> None:
        """Append, and ask again with the same ids while the server is away, or where a COMMIT may have been lost."""
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                appended = self.book.append(self.stream, events)
            except (Unavailable, UnknownOutcome):
                if time.monotonic() > give_up:
                    raise
                time.sleep(0.05)
                continue
            self.told.update((event.event_id, event.position) for event in appended.events)
            return


@pytest.fixture
def victim(major: int) -> Iterator[EmbeddedServer]:
    """A migrated server of the test's own, to be killed."""
    folder = Path(tempfile.mkdtemp(prefix="engram-kill-"))
    folder.chmod(0o755)
    with EmbeddedServer.start(folder / "data", major=major) as server:
        migrations.upgrade(server.superuser_url)
        yield server
    shutil.rmtree(folder, ignore_errors=True)


def kill(server: EmbeddedServer, which: str, dice: random.Random) -> None:
    """kill -9 one of the server's processes, or several."""
    postmaster = psutil.Process(server.pid)
    children = postmaster.children(recursive=True)
    titles = {"a backend": "engram_app", "the checkpointer": "checkpointer", "the WAL writer": "walwriter"}
    if which in titles:
        chosen = [child for child in children if titles[which] in title(child)]
        victims = [dice.choice(chosen)] if chosen else [postmaster]
    else:
        victims = [postmaster, *(children if which.endswith("started") else [])]
    for process in victims:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def wait_until_it_answers(server: EmbeddedServer, book: Book) -> None:
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            server.ensure_running()
            book.rows("select 1")
            return
        except Exception:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.05)


def write_through(server: EmbeddedServer, kills: int) -> tuple[Book, list[Writer]]:
    """Let the writers write while the server is killed so many times."""
    opened = Database(server.url() + "&options=-csynchronous_commit%3Doff", load({}, pool_size=WRITERS + 2))
    book, dice, stop = Book(opened, "writers"), random.Random(7), threading.Event()
    names = [book.stream(f"s{n}") for n in range(STREAMS)]
    writers = [Writer(book, names[n % STREAMS], random.Random(n)) for n in range(WRITERS)]
    threads = [threading.Thread(target=writer.run, args=(stop,)) for writer in writers]
    for thread in threads:
        thread.start()
    try:
        for number in range(kills):
            time.sleep(UNDISTURBED * dice.uniform(0.5, 1.5))
            kill(server, PROCESSES[number % len(PROCESSES)], dice)
            wait_until_it_answers(server, book)
        time.sleep(UNDISTURBED)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    return book, writers


def check(book: Book, writers: list[Writer]) -> None:
    """The log of the writers against the ledger."""
    assert [writer.error for writer in writers] == [None] * WRITERS
    there = {
        str(row.event_id): row for row in book.rows("select event_id, stream_id, position from engram.agent_events")
    }
    for writer in writers:
        lost = [event_id for event_id in writer.told if event_id not in there]
        assert lost == [], f"{len(lost)} of {len(writer.told)} acknowledged events are lost"
        assert {event_id: there[event_id].position for event_id in writer.told} == writer.told
        assert list(writer.told.values()) == sorted(writer.told.values()), (
            "a later acknowledgement has an earlier place"
        )
    told = {event_id for writer in writers for event_id in writer.told}
    assert set(there) == told, "every writer ended on an acknowledgement, so nothing else may be there"
    [(streams, gaps)] = book.rows(
        "select count(*), sum(top - many) from (select max(position) as top, count(*) as many from engram.agent_events"
        " group by stream_id) s"
    )
    assert (streams, gaps) == (STREAMS, 0)
    report = book.verify()
    assert (report.ok, report.events, report.first_bad) == (True, len(told), None)
    [(jobs, distinct)] = book.rows("select count(*), count(distinct (stream_id, position)) from engram.memory_jobs")
    assert (jobs, distinct) == (len(told), len(told))


def test_four_kills_lose_nothing_that_was_acknowledged(victim: EmbeddedServer) -> None:
    book, writers = write_through(victim, 4)
    check(book, writers)
    assert sum(len(writer.told) for writer in writers) > 100
    book.database.close()


def test_who_gives_up_on_a_lost_commit_asks_again_and_nothing_is_doubled(
    victim: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine a server may take longer to come back than one call goes on trying."""
    monkeypatch.setattr(database, "MAX_RETRY_SECONDS", 0.2)
    book, writers = write_through(victim, 2)
    check(book, writers)
    book.database.close()


@pytest.mark.slow
def test_twenty_five_kills_lose_nothing_that_was_acknowledged(victim: EmbeddedServer) -> None:
    book, writers = write_through(victim, 25)
    check(book, writers)
    assert sum(len(writer.told) for writer in writers) > 1_000
    book.database.close()
