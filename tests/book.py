"""A tenant's ledger as the tests hold it: one scope, its streams, and ways to write to them and look behind them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from engram import ledger, streams, tenancy
from engram.database import Database
from engram.ledger import Appended, NewEvent
from engram.scope import Scope

LEDGER_TABLES = ("agent_events", "agent_event_payloads", "event_streams")


def said(text: str, **more: Any) -> NewEvent:
    """A user's message that two derivers wait for."""
    return NewEvent("user", "user_message", text, **{"derive": ("verbatim", "rules"), **more})


class Book:
    """One scope of a tenant."""

    def __init__(self, database: Database, tenant: str, namespace: str = "default") -> None:
        self.database, self.tenant = database, tenant
        with database.transaction(tenant) as conn:
            self.scope_id = tenancy.ensure(conn, Scope(tenant, namespace))

    def stream(self, name: str = "main", kind: streams.StreamKind = "session") -> str:
        """The id of a stream, opened."""
        with self.database.transaction(self.tenant) as conn:
            return streams.open(conn, self.scope_id, kind, name).stream_id

    def append(self, stream_id: str, events: Sequence[NewEvent], **more: Any) -> Appended:
        """Append as the library does it: again where that is safe."""
        return self.run(
            lambda conn: ledger.append(conn, scope_id=self.scope_id, stream_id=stream_id, events=events, **more)
        )

    def run(self, work: Callable[[Any], Any]) -> Any:
        """Run work that repeats well in a transaction of the tenant."""
        return self.database.run(self.tenant, work, key="test")

    def verify(self, **more: Any) -> Any:
        """What verifying the tenant's ledger finds."""
        return self.run(lambda conn: ledger.verify(conn, **more))

    def rows(self, query: str, *params: Any) -> list[Any]:
        """What a statement of the application role answers."""
        with self.database.transaction(self.tenant) as conn:
            return list(conn.exec_driver_sql(query, params).fetchall())


@contextmanager
def acting_as(url: str, tenant: str, role: str | None = None) -> Iterator[psycopg.Connection[Any]]:
    """A transaction on a bare connection, as the user of the address or as a role it may take; rolled back."""
    with psycopg.connect(url.replace("+psycopg", "")) as conn:
        conn.execute("SELECT set_config('engram.tenant_id', %s, true)", (tenant,))
        if role is not None:
            conn.execute(f"SET LOCAL ROLE {role}".encode())
        yield conn
        conn.rollback()


def together(workers: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run these at the same time; their answers in order, or the first error."""
    gate, answers, errors = threading.Barrier(len(workers)), [None] * len(workers), []

    def run(place: int, work: Callable[[], Any]) -> None:
        try:
            gate.wait()
            answers[place] = work()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=item) for item in enumerate(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return answers
