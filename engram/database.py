"""The database: one way to open a transaction, statements by name, and what to do when one fails."""

from __future__ import annotations

import itertools
import logging
import math
import random
import re
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar
from urllib.parse import quote

import psycopg
import sqlalchemy as sa
from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.types.json import Jsonb
from sqlalchemy.engine import Connection

from engram import inputs
from engram.arrays import Lists
from engram.errors import (
    Conflict,
    EngramError,
    InvalidInput,
    LeaseLost,
    SchemaOutdated,
    SettingsError,
    Unavailable,
    UnknownOutcome,
)
from engram.settings import Settings
from engram.wire import Fixed, Kept, Keyed, Said, Unplanned, Wire, is_failure

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

__all__ = [
    "Connection",
    "Database",
    "Jsonb",
    "address",
    "classify",
    "ending",
    "execute",
    "fetch_ahead",
    "fetch_all",
    "fetch_kept",
    "fetch_named",
    "fetch_one",
    "fetch_together",
    "fetch_value",
    "is_first_try",
    "seconds_refused",
    "send_after",
    "send_ahead",
    "send_now",
    "statement",
    "without_passwords",
]

LOGGED: Final = logging.getLogger("sqlalchemy.engine.Engine")
# In the facts of a connection:
WIRE: Final = "engram_wire"  # what its statements go over
COURSE: Final = "engram_course"  # how far its transaction has come
COMMIT: Final[Said] = ("COMMIT", None)
ROLLBACK: Final[Said] = ("ROLLBACK", None)
DRIVER_ERRORS: Final = (sa.exc.SQLAlchemyError, psycopg.Error, OSError)
APP_ROLE: Final = "engram_app"
IDLE_TIMEOUT_MS: Final = 15_000
IDLE_SECONDS: Final = 30.0  # that a pooled connection may rest before it is tried at its next use
ANALYZED_AT: Final = frozenset(2**n for n in range(2, 15))  # writes before which grown tables are analyzed: 4 to 16,384
NO_LIMIT: Final = timedelta(0)
MOST_ANALYZED: Final = 100  # tables at a time: more than there are
MAX_TRIES: Final = 8
POOL_IN_USE: Final = "pool_in_use"
SHIPPED: Final = "english"  # a text search configuration that every server has
MAX_RETRY_SECONDS: Final = 15.0
FIRST_DELAY: Final = 0.01
LAST_DELAY: Final = 1.0

Class = Literal["safe", "unknown", "failover", "permanent", "cancelled", "stop"]
T = TypeVar("T")

SAFE: Final = frozenset({"40001", "40P01", "55P03", "57P03", "53300", "53200", "53400", "26000", "42P05"})
RELOOKED: Final = "RevalidateCachedQuery"  # where PostgreSQL refuses a kept statement whose columns are others now
SETTINGS: Final = {
    "engram.tenant_id": "%(tenant_id)s",
    "TimeZone": "'UTC'",
    "DateStyle": "'ISO'",  # the forms in which times are read, whatever the server's own are
    "IntervalStyle": "'postgres'",
    "extra_float_digits": "'1'",  # a number is read as it is kept
    "standard_conforming_strings": "'on'",  # as the functions of the schema were written
    "array_nulls": "'on'",
    "row_security": "'on'",  # off it would refuse every read of a walled table
    "lock_timeout": "%(lock_timeout)s",
    "statement_timeout": "%(statement_timeout)s",
    "idle_in_transaction_session_timeout": f"'{IDLE_TIMEOUT_MS}'",
    # Every statement is written for an index: on a table that has just been filled the planner has no statistics
    # yet and would scan it whole for a few keys.
    "enable_seqscan": "'off'",
    "jit": "'off'",
    # Workers take ten times as long to start as most scopes to be read, and a kept plan knows no scope's size.
    "max_parallel_workers_per_gather": "'0'",
    "search_path": "'engram, public'",
    "role": f"'{APP_ROLE}'",
}
OPENING: Final = Kept(
    "SELECT " + ", ".join(f"pg_catalog.set_config('{name}', {to}, true)" for name, to in SETTINGS.items())
)
SET_PLANS: Final = Kept("SELECT pg_catalog.set_config('plan_cache_mode', %(mode)s, true)")
UNPLANNED: Final[Said] = SET_PLANS, Fixed(mode="force_generic_plan")
PLANNED: Final[Said] = SET_PLANS, Fixed(mode="auto")
SEEN: Final = "/*seen*/"  # where a statement finds the scopes of its read itself
# Statements that only call functions, which keep their plans themselves, or ask no table: they need not be read and
# planned again.
KEPT: Final = frozenset({
    "add_recall", "analyze_grown_table", "append_at_once", "append_events", "call_candidates", "call_lineage",
    "call_memories", "call_pinned", "call_ties", "call_told_events", "call_walk", "claim_job_ids", "claim_jobs",
    "enter_session", "erase_relations", "erase_topics", "find_next_due", "finish_derived_jobs", "finish_jobs",
    "get_from_scope", "hold_jobs", "hold_models", "index_words", "lineage_from_scope", "list_facts_near",
    "list_gate_rows", "list_line", "list_nearest", "list_said_since", "list_visible_scopes", "lock_event_words",
    "lock_keys", "lock_projection", "look_at_draft", "look_at_question", "look_from_scope", "open_desk", "open_stream",
    "outline_context", "pinned_from_scope", "redact_event", "restate_memories", "score_texts", "set_search",
    "show_shadows", "write_memories",
})  # fmt: skip
# Statements that find what they read or change by its keys alone, mostly a few: a plan for no values is as good.
KEYED: Final = frozenset({
    "add_relation", "add_source", "advance_cursors", "count_repetition", "count_underived", "erase_event_words",
    "erase_marks", "erase_refusals", "find_erased_event", "find_scope_by_id", "find_told_fact", "get_event",
    "get_relations", "get_stream", "insert_job", "list_cursors", "list_decisions", "list_derivable_events",
    "list_indexable", "list_keyed_values", "list_lineage_fronts", "list_lineage_members", "list_lineages_of_event",
    "list_scopes_by_id", "list_surroundings", "list_told_facts", "list_waiting_events", "note_change", "place_memory",
    "put_away_memory", "put_relation", "restate_memory",
})  # fmt: skip
REFUSALS: Final = {
    "safe": "PostgreSQL was too busy", "cancelled": "the statement took too long",
    "failover": "PostgreSQL is read-only", "stop": "PostgreSQL cannot write",
}  # fmt: skip
UNKNOWN: Final = frozenset({"57P01", "57P02", "57P05", "40003", "25P03", "25P04"})  # the session is gone
STOP: Final = frozenset({"53100", "58030", "XX001", "XX002"})
OUTDATED: Final = frozenset({"3F000", "42P01", "42703", "42883"})
OF_ANOTHER_KIND: Final = frozenset({"42804", "42846", "42883", "54000"})  # what is given fits no place of a statement
LEASE_LOST: Final = "55P99"  # of the fence around what a job does
# A connection that is refused comes without a SQLSTATE: only its text tells why. A text in another language is none of
# these, and is taken for a server that did not answer.
REFUSED: Final = (
    ("session is read-only", "25006"), ("too many clients", "53300"), ("too many connections", "53300"),
    ("remaining connection slots", "53300"), ("is starting up", "57P03"), ("is shutting down", "57P03"),
    ("recovery mode", "57P03"), ("not yet accepting", "57P03"), ("authentication failed", "28P01"),
    ("no password supplied", "28P01"), ("no pg_hba.conf entry", "28000"), ("pg_hba.conf rejects", "28000"),
    # As a login that is refused, and not as a statement that is:
    ("is not permitted to log in", "28000"), ("permission denied for database", "28000"),
    ("not currently accepting connections", "28000"),
)  # fmt: skip
MADE: Final[Any] = tuple.__new__  # a row of a type, whose own way to make one takes three calls
HIDDEN: Final = "***"  # in the place of a password
# An address in which several hosts have ports of their own, and one of these hosts:
_SEVERAL_HOSTS: Final = re.compile(
    r"(?P<before>\w+(?:\+\w+)?://(?:[^@]*@)?)(?P<hosts>[^/?@,]+(?:,[^/?@,]+)+)(?P<after>(?:[/?].*)?)", re.DOTALL
)
_PLACE: Final = re.compile(r"(?P<host>\[[^\[\]]+\]|[^\[\]:]+)(?::(?P<port>\d*))?")
NOWHERE: Final = "/nonexistent/engram"  # a folder of sockets that no machine has
PLACES: Final = frozenset({"host", "hostaddr", "port"})
NUMBERS: Final = ("connect_timeout", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout")
"""Parameters of libpq that are numbers: it reads them where a server has answered."""
USUAL: Final[Mapping[str, Any]] = {
    "connect_timeout": 5, "application_name": "engram", "keepalives_idle": 5, "keepalives_interval": 3,
    "keepalives_count": 3, "tcp_user_timeout": 10_000,
}  # fmt: skip
"""Parameters of a connection where its address does not give them."""
REFUSED_FOR: Final = 60.0  # seconds for which a refused write is held against a server that takes none meanwhile
_REFUSED: Final[dict[str, float]] = {}
"""When the server behind an address could write nothing last, though it answers; none once it has written again."""
UNKNOWN_NAME: Final = {"role": "28000", "database": "3D000"}


def sqlstate(error: BaseException) -> str | None:
    """The SQLSTATE of a failure, read from its text where a connection was refused; None when there is none."""
    cause = _cause(error)
    state = getattr(cause, "sqlstate", None)
    if state is not None or not isinstance(cause, psycopg.OperationalError):
        return state
    text = str(cause)
    named = re.search(r'FATAL: +(role|database) ".*" does not exist', text)
    if named is not None:
        return UNKNOWN_NAME[named.group(1)]
    return next((code for said, code in REFUSED if said in text), None)


def classify(error: BaseException) -> Class:
    """What a failed statement means for the caller: may it be repeated, and is its outcome known?"""
    cause, state = _cause(error), sqlstate(error)
    if isinstance(cause, sa.exc.TimeoutError):
        return "safe"  # the pool gave no connection: nothing was sent
    if state is None:
        # What the driver makes of a line that is lost in the middle of an answer is of its general kinds.
        lost = isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError | psycopg.InternalError | OSError)
        return "unknown" if lost or type(cause) is psycopg.DatabaseError else "permanent"
    if state in SAFE or (state == "0A000" and cause.diag.source_function == RELOOKED):  # type: ignore[attr-defined]
        return "safe"
    if state in UNKNOWN or state.startswith("08"):
        return "unknown"
    if state == "25006":
        return "failover"
    if state == "57014":
        return "cancelled"
    return "stop" if state in STOP else "permanent"


def _cause(error: BaseException) -> BaseException:
    original = getattr(error, "orig", None)
    return original if isinstance(original, BaseException) else error


@cache
def statement(name: str) -> str:
    """The text of a statement of `engram/sql`, by its file name; `Kept` where it only calls functions."""
    try:
        text = (resources.files("engram") / "sql" / f"{name}.sql").read_text(encoding="utf-8")
        if SEEN in text:
            text = text.replace(SEEN, statement("seen_scopes"))
        return Kept(text) if name in KEPT else Keyed(text) if name in KEYED else text
    except FileNotFoundError:  # an OSError is taken for an outage of the server, and this is a mistake in the program
        raise LookupError(f"engram/sql has no {name}.sql") from None


def fetch_all(conn: Connection, name: str, /, **params: Any) -> list[Any]:
    """Every row of a named statement."""
    return fetch_named(conn, statement(name), params)


def fetch_named(conn: Connection, sql: str, params: Mapping[str, Any] | None, *, binary: bool = False) -> list[Any]:
    """Every row of a statement, as named tuples, straight from the driver; without `params` the text holds its values.

    SQLAlchemy would look at each column of each answer and wrap each row, which costs as much as reading them; it does
    where somebody wants its log. With `binary` the answer comes as the server keeps it, and not as text.
    """
    if LOGGED.isEnabledFor(logging.INFO):
        if not binary:
            return list(_logged(conn, sql, params).fetchall())
        LOGGED.info(sql)
    wire = _wire(conn)
    return wire.rows(_answered(conn, wire, sql, params, binary=binary))


def fetch_kept(conn: Connection, sql: str, params: Mapping[str, Any], *, binary: bool = False) -> list[Any]:
    """Every row of a statement whose plan the session keeps: one that is planned for no values, and is as good for all.

    Only for what asks functions and tables by their keys: a condition that a value may switch off takes no index.
    """
    return fetch_named(conn, Unplanned(sql), params, binary=binary)


def _logged(conn: Connection, sql: str, params: Mapping[str, Any] | None) -> Any:
    options = {"no_parameters": True} if params is None else {}
    return conn.exec_driver_sql(sql, params, execution_options=options)


class _Context:
    """What listeners are given of a statement that SQLAlchemy does not run itself: some note on it what they began."""

    execution_options: Final[Mapping[str, Any]] = {}


def _wire(conn: Connection) -> Wire:
    """What the statements of a connection go over."""
    known = conn.info
    if WIRE not in known:
        driver: Any = conn.connection.driver_connection
        known[WIRE] = Wire(driver, _waits(driver) if conn.dialect.is_async else driver.wait)
    wire: Wire = known[WIRE]
    return wire


def _waits(driver: psycopg.AsyncConnection[Any]) -> Callable[[Any], None]:
    """How the asynchronous door waits for an exchange, in the greenlet that SQLAlchemy works in."""
    from sqlalchemy.util import await_only  # with it comes greenlet, which the other door does without

    return lambda exchange: await_only(driver.wait(exchange))


def _answered(conn: Connection, wire: Wire, sql: str, params: Mapping[str, Any] | None, *, binary: bool = False) -> Any:
    """The answer to a statement; who listens to SQLAlchemy's statements hears of this one too."""
    context = _Context()
    given: Any = sql, params
    course: _Course = conn.info.get(COURSE) or _Course()
    with _told(conn, sql):
        for told in conn.dispatch.before_cursor_execute:
            given = told(conn, wire, *given, context, False)
        answer = course.say(wire, given, binary=binary)
        for told in conn.dispatch.after_cursor_execute:
            told(conn, wire, *given, context, False)
    return answer


@contextmanager
def _told(conn: Connection, sql: str) -> Iterator[None]:
    """Say a failure of the driver in SQLAlchemy's terms, as of its own statements."""
    try:
        yield
    except psycopg.Error as error:
        raise sa.exc.DBAPIError.instance(
            sql, None, error, psycopg.Error, hide_parameters=True, dialect=conn.dialect
        ) from error


def send_ahead(conn: Connection, name: str, /, **params: Any) -> None:
    """Send a named statement in one message with the next, or with COMMIT where there is none.

    For what a transaction sets for itself and what it writes: nobody waits for the answer. Where it fails, the
    statement that is sent with it does.
    """
    course: _Course | None = conn.info.get(COURSE)
    if course is None:
        execute(conn, name, **params)
    else:
        course.ahead.append((statement(name), params))


def fetch_ahead(conn: Connection, name: str, /, **params: Any) -> Callable[[], list[Any]]:
    """Send a named statement in one message with the next, and give its rows once that is answered.

    Where it fails, the statement that is sent with it does. Asked for its rows too early it raises RuntimeError.
    """
    course: _Course | None = conn.info.get(COURSE)
    if course is None or LOGGED.isEnabledFor(logging.INFO):
        told = fetch_all(conn, name, **params)
        return lambda: told
    awaited = _Awaited((statement(name), params))
    course.ahead.append(awaited.said)
    course.awaited.append(awaited)
    wire = _wire(conn)

    def rows() -> list[Any]:
        if awaited.answer is None:
            raise RuntimeError("the rows of a statement that has gone ahead of none yet")
        return wire.rows(awaited.answer)

    return rows


def seconds_refused(conn: Connection) -> float | None:
    """How long ago the server behind a connection could write nothing, as far as this process tried lately."""
    refused = _REFUSED.get(conn.engine.url.render_as_string(hide_password=False))
    ago = math.inf if refused is None else time.monotonic() - refused
    return ago if ago < REFUSED_FOR else None


def is_first_try(conn: Connection) -> bool:
    """Whether the work of this transaction was never tried before: then a key made for it is known to nobody."""
    course: _Course | None = conn.info.get(COURSE)
    return course is not None and not course.again


def send_now(conn: Connection) -> None:
    """Send what goes ahead of a next statement: its rows are known then, and its locks are held."""
    course: _Course | None = conn.info.get(COURSE)
    if course is not None and (course.awaited or course.owes):
        with _told(conn, ""):
            course.say(_wire(conn))


def fetch_together(conn: Connection, name: str, several: Sequence[Mapping[str, Any]], /) -> list[list[Any]]:
    """Every row of a named statement for each of several sets of values, asked for in one message."""
    ahead = [fetch_ahead(conn, name, **params) for params in several[:-1]]
    last = [fetch_all(conn, name, **params) for params in several[-1:]]
    return [*(rows() for rows in ahead), *last]


@dataclass(slots=True)
class _Awaited:
    """A statement that goes ahead of the next, and its answer."""

    said: Said
    answer: Any = None


@dataclass(slots=True)
class Sent:
    """A statement that goes behind the end of a transaction, in one of its own, and what became of it."""

    said: tuple[Said, ...]
    done: bool = False
    error: psycopg.Error | None = None

    @property
    def is_tried(self) -> bool:
        """Whether it was sent at all: without the end of the transaction in the same message it was not."""
        return self.done or self.error is not None


def send_after(conn: Connection, name: str, /, **params: Any) -> Sent:
    """Send a named statement behind the end of this transaction, in the message that ends it.

    It writes in a transaction of its own, where all before it went well, and its failure is nobody else's: what is
    returned tells of it, once the transaction is left. The answers before it are worked on meanwhile.
    """
    course: _Course = conn.info[COURSE]
    sent = Sent((*course.next, (statement(name), params), COMMIT))
    if course.after is not None:
        raise RuntimeError("one statement follows the end of a transaction")
    if not conn.in_nested_transaction():  # a rehearsal leaves nothing
        course.after = sent
    return sent


def ending(conn: Connection) -> Connection:
    """The connection, with whose next statement its transaction ends: COMMIT is in the same message.

    A promise, which is held against a transaction that writes or that sees one moment: nothing can be said in it
    afterwards. One that reads is begun anew by what follows. In a rehearsal it is none.
    """
    course: _Course | None = conn.info.get(COURSE)
    if course is not None and not conn.in_nested_transaction():
        course.ending = True
    return conn


def fetch_one(conn: Connection, name: str, /, **params: Any) -> Any:
    """The first row of a named statement, or None."""
    rows = fetch_named(conn, statement(name), params)
    return rows[0] if rows else None


def fetch_value(conn: Connection, name: str, /, **params: Any) -> Any:
    """The first column of the first row of a named statement, or None."""
    row = fetch_one(conn, name, **params)
    return None if row is None else row[0]


def execute(conn: Connection, name: str, /, **params: Any) -> int:
    """Run a named statement; the number of rows it touched."""
    if LOGGED.isEnabledFor(logging.INFO):
        return int(_logged(conn, statement(name), params).rowcount)
    return int(_answered(conn, _wire(conn), statement(name), params).command_tuples or 0)


def execute_many(conn: Connection, name: str, rows: list[dict[str, Any]]) -> None:
    """Run a named statement once a row, in one round trip as far as the driver can."""
    if rows:
        conn.exec_driver_sql(statement(name), rows)


class Database:
    """A PostgreSQL the library may use: engines made on first use, every transaction begun in one way.

    The same settings hold for every transaction and only for it: role `engram_app`, the tenant, timeouts, the search
    path. Nothing depends on the session, so a transaction pooler may stand between.
    """

    def __init__(self, url: str, settings: Settings) -> None:
        self.url = address(url).render_as_string(hide_password=False)
        self.settings = settings
        self.recover: Callable[[], object] | None = None
        """What may bring a lost server back: the embedded one is started again."""
        self.refuse: Callable[[str], object] | None = None
        """What raises SchemaOutdated for the revision of a schema that is not to be used."""
        self._engine: sa.Engine | None = None
        self._async_engines: dict[AbstractEventLoop, AsyncEngine] = {}  # who waits for a connection waits in one loop
        self._awaited: set[AsyncEngine] = set()  # those in which somebody did
        self._left: list[AsyncEngine] = []  # those whose loops were closed, to be disposed of
        self._lock = threading.Lock()
        self._writes = itertools.count(1)
        self._closed = False  # then the connections of calls under way are kept for no others
        self._fits = False  # until the revision of the schema was looked at, before the first transaction

    @property
    def engine(self) -> sa.Engine:
        """The engine of the synchronous door."""
        with self._lock:
            if self._engine is None:
                self._engine = _attended(sa.create_engine(self.url, **self._options()), lambda: self._closed)
            return self._engine

    @property
    def async_engine(self) -> AsyncEngine:
        """The engine of the asynchronous door in the event loop that runs: each has one, with a pool of its own."""
        import asyncio

        from sqlalchemy.ext.asyncio import create_async_engine  # with it comes all of the ORM

        loop = asyncio.get_running_loop()
        with self._lock:
            engine = self._async_engines.get(loop)
            if engine is None:
                engine = self._inherited()
            if engine is None:
                engine = create_async_engine(self.url, **self._options())
                _attended(engine.sync_engine, lambda: self._closed)
            self._async_engines[loop] = engine
            return engine

    def _inherited(self) -> AsyncEngine | None:
        """An engine of an event loop that was closed, with its connections; None where there is none.

        One in which somebody waited for a connection is bound to its loop, and is to be disposed of.
        """
        for loop in [loop for loop in self._async_engines if loop.is_closed()]:
            engine = self._async_engines.pop(loop)
            pool: Any = engine.pool
            if engine not in self._awaited and pool.checkedin() and not pool.checkedout():
                return engine
            self._left.append(engine)
        return None

    async def _engine_here(self) -> AsyncEngine:
        """The engine of the event loop that runs; those of loops that have ended are left behind."""
        engine = self.async_engine
        with self._lock:
            left, self._left = self._left, []
        for other in left:
            self._awaited.discard(other)
            await other.dispose()
        pool: Any = engine.pool
        if pool.checkedout() >= pool.size():
            self._awaited.add(engine)
        return engine

    def _options(self) -> dict[str, Any]:
        # Prepared statements of the driver are off: they are session state, which a transaction pooler mixes up, and a
        # generic plan of a search is several times slower than one made for its values. The wire knows better.
        chosen = sa.make_url(self.url).query  # what the address says of these goes before
        connect = {
            **{name: value for name, value in USUAL.items() if name not in chosen},
            "prepare_threshold": None, "target_session_attrs": "read-write", "client_encoding": "utf8",
        }  # fmt: skip
        return {
            "pool_size": self.settings.pool_size, "max_overflow": 0, "pool_timeout": 5, "pool_recycle": 1800,
            "pool_reset_on_return": None,  # `_attended` does it
            "isolation_level": "AUTOCOMMIT", "use_native_hstore": False, "hide_parameters": True,
            "json_deserializer": inputs.load_json, "connect_args": connect,
        }  # fmt: skip

    @contextmanager
    def transaction(
        self, tenant_id: str, *, read_only: bool = False, snapshot: bool = False, any_schema: bool = False
    ) -> Iterator[Connection]:
        """One transaction of one tenant; commits on leaving, rolls back on any error.

        With `snapshot` all its statements see the database as it was at the first of them. Raises SchemaOutdated where
        the schema is of another revision, unless it may be of any.
        """
        with self._kept_whole(), self.engine.connect() as conn:
            if not (self._fits or any_schema):
                self._refuse_misfit(conn)
            if not read_only and next(self._writes) in ANALYZED_AT:
                _analyze(conn, self._unhurried(tenant_id))
            conn.begin()  # SQLAlchemy neither rolls back by itself nor goes on with another connection
            known = conn.info
            course = known[COURSE] = self._course(tenant_id, read_only, snapshot)
            try:
                try:
                    yield conn
                    _commit(conn, course, known)
                except Exception:
                    _take_back(conn, known)
                    raise
            except Exception:
                raise
            except BaseException:
                # Thrown into a statement, COMMIT or ROLLBACK it leaves the protocol in an unknown state: never pool it.
                conn.invalidate()
                raise
            finally:
                known.pop(COURSE, None)

    @contextmanager
    def _kept_whole(self) -> Iterator[None]:
        """Make the pool anew where an interrupt may have hit the taking or the giving back of a connection.

        It may count that connection as in use for ever.
        """
        try:
            yield
        except Exception:
            raise
        except BaseException:
            self.engine.dispose()
            raise

    @asynccontextmanager
    async def async_transaction(
        self, tenant_id: str, *, read_only: bool = False, snapshot: bool = False, any_schema: bool = False
    ) -> AsyncIterator[AsyncConnection]:
        """The asynchronous form of `transaction`."""
        async with _taken(await self._engine_here()) as conn:
            if not (self._fits or any_schema):
                await conn.run_sync(self._refuse_misfit)
            if not read_only and next(self._writes) in ANALYZED_AT:
                await conn.run_sync(_analyze, self._unhurried(tenant_id))
            _inside(conn).begin()
            known = _inside(conn).info
            course = known[COURSE] = self._course(tenant_id, read_only, snapshot)
            try:
                try:
                    yield conn
                    await conn.run_sync(_commit, course, known)
                except Exception:
                    await conn.run_sync(_take_back, known)
                    raise
            except Exception:
                raise
            except BaseException:
                await conn.invalidate()
                raise
            finally:
                known.pop(COURSE, None)

    def _refuse_misfit(self, conn: Connection) -> None:
        """Raise SchemaOutdated where the schema is of another revision, SettingsError where a setting fits no server.

        Where no revision is told the statements will tell.
        """
        if self.refuse is not None:
            found = _revision(conn)
            if found is not None:
                self.refuse(found)
        if self.settings.text_search_config != SHIPPED:
            _refuse_unknown_config(conn, self.settings.text_search_config)
        self._fits = True

    def _course(self, tenant_id: str, read_only: bool, snapshot: bool) -> _Course:
        begin = self._opening(tenant_id, read_only, snapshot)
        writing = self._opening(tenant_id) if read_only else begin
        return _Course(begin, writing, repeatable=read_only and not snapshot, ahead=[*begin])

    def _opening(self, tenant_id: str, read_only: bool = False, snapshot: bool = False) -> tuple[Said, ...]:
        return opening(tenant_id, self.settings.lock_timeout, self.settings.statement_timeout, read_only, snapshot)

    def _unhurried(self, tenant_id: str) -> tuple[Said, ...]:
        """What begins a transaction whose statements take their time: an analysis that is cut short may seem done."""
        return opening(tenant_id, self.settings.lock_timeout, NO_LIMIT)

    def run(
        self,
        tenant_id: str,
        work: Callable[[Connection], T],
        *,
        key: str | None = None,
        read_only: bool = False,
        snapshot: bool = False,
        any_schema: bool = False,
        patience: float | None = None,
    ) -> T:
        """Run `work` in a transaction, again where that is safe.

        With `key` the work must be idempotent under that key (or read only): then a lost COMMIT is answered by asking
        again. UnknownOutcome says that it could not be. No try begins `patience` seconds after the first failed.
        """
        attempt = _Attempt(self.url, key, read_only, patience)
        while True:
            try:
                with self.transaction(tenant_id, read_only=read_only, snapshot=snapshot, any_schema=any_schema) as conn:
                    attempt.course = attempt.entered(conn)
                    result = work(conn)
                    attempt.course.committing = True
                attempt.succeeded()
                return result
            except EngramError:
                raise
            except Exception as error:  # noqa: BLE001 - `failed` raises Engram's own for it
                pause = attempt.failed(error)
                if attempt.drop_pool:
                    self.engine.dispose()
                if attempt.lost:
                    attempt.recover(self.recover)
                time.sleep(pause)

    async def run_async(
        self,
        tenant_id: str,
        work: Callable[[Connection], T],
        *,
        key: str | None = None,
        read_only: bool = False,
        snapshot: bool = False,
        any_schema: bool = False,
        patience: float | None = None,
    ) -> T:
        """The asynchronous form of `run`."""
        import asyncio

        attempt = _Attempt(self.url, key, read_only, patience)
        while True:
            try:
                async with self.async_transaction(
                    tenant_id, read_only=read_only, snapshot=snapshot, any_schema=any_schema
                ) as conn:
                    attempt.course = attempt.entered(conn)
                    result = await conn.run_sync(work)
                    attempt.course.committing = True
                attempt.succeeded()
                return result
            except EngramError:
                raise
            except Exception as error:  # noqa: BLE001 - `failed` raises Engram's own for it
                pause = attempt.failed(error)
                if attempt.drop_pool:
                    await self.async_engine.dispose()
                if attempt.lost and self.recover is not None:
                    await asyncio.to_thread(attempt.recover, self.recover)
                await asyncio.sleep(pause)

    def close(self) -> None:
        """Close every connection of the synchronous door; those that calls under way are using, when they are left."""
        self._closed = True
        if self._engine is not None:
            self._engine.dispose()

    async def close_async(self) -> None:
        """Close every connection of both doors; those that calls under way are using, when they are left."""
        self.close()
        with self._lock:
            left = (*self._async_engines.values(), *self._left)
        for engine in left:
            await engine.dispose()


@asynccontextmanager
async def _taken(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A connection of the pool, which it comes back to.

    SQLAlchemy gives it back in a task of its own, and a loop that ends cancels that before it has begun: where there is
    nothing to wait for, none is made.
    """
    conn = await engine.connect()
    try:
        yield conn
    finally:
        await (conn.close() if _is_at_rest(_inside(conn)) else conn.__aexit__(None, None, None))


def _is_at_rest(conn: Connection) -> bool:
    """Whether a connection is in no transaction of the server's, or is lost."""
    if conn.invalidated:
        return True
    driver: Any = conn.connection.driver_connection
    return bool(driver.pgconn.transaction_status == TransactionStatus.IDLE)


def _revision(conn: Connection) -> str | None:
    """The revision of the schema behind a connection outside any transaction; None where it cannot be read."""
    cursor = conn.connection.cursor()
    try:
        cursor.execute(statement("get_revision"))
        row = cursor.fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege):
        return None
    finally:
        cursor.close()
    return None if row is None else str(row[0])


def _refuse_unknown_config(conn: Connection, name: str) -> None:
    """Raise SettingsError where the server has no text search configuration of the name."""
    cursor = conn.connection.cursor()
    try:
        cursor.execute(statement("list_text_configs"))
        there = [str(row[0]) for row in cursor.fetchall()]
    finally:
        cursor.close()
    if name.lower() not in there:  # as PostgreSQL reads a name without quotes
        expected = f"expected a text search configuration of the server, one of {', '.join(there)}"
        raise SettingsError(f"text_search_config: {expected}, found {name}", name="text_search_config")


def _attended(engine: sa.Engine, is_closed: Callable[[], bool]) -> sa.Engine:
    """The engine, whose transactions are begun by their first statements.

    Its connections are tried before their use after a rest; others that are lost are replaced.
    """

    def made(_: Any, record: Any) -> None:
        record.driver_connection.adapters.register_dumper(list, Lists)
        record.info["pool"] = engine.pool

    def left(_: Any, record: Any) -> None:
        record.info["left"] = time.monotonic()
        if is_closed() or record.info.get("pool") is not engine.pool:
            record.invalidate()  # it was in use when its pool was disposed of, and nobody else would close it

    def reset(connection: Any, record: Any, state: Any) -> None:
        if state.asyncio_safe and record.driver_connection.pgconn.transaction_status != TransactionStatus.IDLE:
            connection.rollback()

    def taken(connection: Any, record: Any, _: Any) -> None:
        if time.monotonic() - record.info.get("left", math.inf) < IDLE_SECONDS:
            return
        try:
            engine.dialect.do_ping(connection)
        except DRIVER_ERRORS as error:
            raise sa.exc.DisconnectionError from error

    sa.event.listen(engine, "connect", made)
    sa.event.listen(engine, "reset", reset)
    sa.event.listen(engine, "checkin", left)
    sa.event.listen(engine, "checkout", taken)
    sa.event.listen(engine, "before_cursor_execute", _opened, retval=True)
    return engine


@lru_cache(maxsize=4096)
def opening(
    tenant_id: str, lock_timeout: timedelta, statement_timeout: timedelta, read_only: bool = False,
    snapshot: bool = False,
) -> tuple[Said, ...]:  # fmt: skip
    """What begins a transaction with its role, tenant and limits, all gone with it: sent with its first statement.

    The connection is in autocommit as far as its driver knows, which would spend a message on BEGIN alone.
    """
    given = Fixed(tenant_id=tenant_id, lock_timeout=_ms(lock_timeout), statement_timeout=_ms(statement_timeout))
    # Never the server's own default: who waits for a lock reads what was written meanwhile.
    isolation = "REPEATABLE READ" if snapshot else "READ COMMITTED"
    # Read-only by the server's own wish stays read-only: whoever set it so knew why.
    access = " READ ONLY" if read_only else ""
    return (f"BEGIN ISOLATION LEVEL {isolation}{access}", None), (OPENING, given)


@dataclass(slots=True)
class _Course:
    """How far a transaction has come: what goes ahead of its next statement, and whether it ends with that."""

    opening: Sequence[Said] = ()
    next: Sequence[Said] = ()  # what begins a transaction of the same tenant that writes
    repeatable: bool = False  # it may be begun anew: it reads, and each of its statements at its own moment
    ahead: list[Said] = field(default_factory=list)
    awaited: list[_Awaited] = field(default_factory=list)  # those ahead whose answers somebody wants
    ending: bool = False
    ended: bool = False
    committing: bool = False  # the work is done, and only COMMIT is left, which may be on its way
    after: Sent | None = None  # what is to follow its end
    following: Sent | None = None  # what follows it, and has no answer yet
    unplanned: bool = False  # whether what is said now would be planned for no values
    again: bool = False  # whether its work was tried before

    @property
    def owes(self) -> bool:
        """Whether something that was to go ahead of a next statement has not been sent, beside what begins it all."""
        return any(one not in self.opening for one in self.ahead)

    def say(self, wire: Wire, *said: Said, binary: bool = False) -> Any:
        """The answer to the next statement; without one only what goes ahead of it is said."""
        if self.ended:
            self._begin_anew()
        self.follow(wire)
        message, unplanned = self.planned([*self.ahead, *said])
        place = len(message) - 1
        if self.ending:
            message.append(COMMIT)
        if not message:
            return None
        self.committing, after = self.ending, self.after if self.ending else None
        answers = wire.say(message, binary=binary, behind=after.said if after else ())
        self.ended = self.ending and len(answers) >= len(message)  # by a COMMIT that failed too
        self.ending = False
        if is_failure(answers[-1]):
            self.committing = self.ended  # or nothing was committed
            with suppress(psycopg.Error):
                wire.rest()
            raise psycopg.errors.error_from_result(answers[-1])
        for one in self.awaited:
            one.answer = answers[next(at for at, told in enumerate(message) if told is one.said)]
        self.unplanned = unplanned and not self.ended
        self.ahead.clear()  # only now: what could not even be sent has begun nothing
        self.awaited.clear()
        if after:
            self.after, self.following = None, after
        return answers[place]

    def planned(self, said: Sequence[Said]) -> tuple[list[Said], bool]:
        """Statements in which what finds rows by their keys is planned for no values, and the rest as the server does.

        And whether what comes after them would be planned for no values.
        """
        message: list[Said] = []
        unplanned = self.unplanned
        for one in said:
            wanted = isinstance(one[0], Unplanned)
            if wanted != unplanned and one is not PLANNED:
                message.append(UNPLANNED if wanted else PLANNED)
            unplanned = wanted
            message.append(one)
        return message, unplanned

    def follow(self, wire: Wire) -> None:
        """Wait for what follows the end of the transaction, and note what became of it; a failure is taken back."""
        after, self.following = self.following, None
        if after is None:
            return
        try:
            last = wire.rest()[-1]
        except psycopg.Error as error:  # the session is gone; what went before has its answer
            after.error = error
            return
        if is_failure(last):
            after.error = psycopg.errors.error_from_result(last)
            with suppress(psycopg.Error):
                wire.say([ROLLBACK])
        else:
            after.done = True

    def _begin_anew(self) -> None:
        """After its end no statement has a role and a tenant."""
        if not self.repeatable:
            raise RuntimeError("a statement after the one that ended its transaction")
        self.ended, self.committing, self.ahead = False, False, [*self.opening, *self.ahead]


def _opened(conn: Connection, cursor: Any, text: str, params: Any, _: Any, __: bool) -> tuple[str, Any]:
    """Begin the transaction of a statement of SQLAlchemy's own, in a message before."""
    course: _Course | None = conn.info.get(COURSE)
    if course is not None and not isinstance(cursor, Wire):
        wire, course.ending = _wire(conn), False
        if text.startswith("ROLLBACK TO") and wire.connection.pgconn.transaction_status == TransactionStatus.INERROR:
            course.ahead.clear()  # it was sent with what failed: said again it would stop this
            course.awaited.clear()
            course.unplanned = False  # as it was where the savepoint was set
        if course.planned(course.ahead)[1]:
            course.ahead.append(PLANNED)
        course.say(wire)
    return text, params


def _inside(conn: AsyncConnection) -> Connection:
    assert conn.sync_connection is not None
    return conn.sync_connection


def _commit(conn: Connection, course: _Course, known: Mapping[str, Any]) -> None:
    """Commit what is open; what waits for a next statement that does not come is sent with COMMIT."""
    if (course.owes or course.after is not None) and not (course.ended and course.repeatable):
        course.ending = True
        with _told(conn, COMMIT[0]):
            course.say(_wire(conn))
    if course.following is not None:
        course.follow(known[WIRE])
    if course.ended and WIRE in known and known[WIRE].connection.closed:
        conn.invalidate()  # by what followed the end
    else:
        conn.commit()


def _analyze(conn: Connection, opening: Sequence[Said]) -> None:
    """Have what has grown analyzed, before a transaction that writes; what hinders it is no failure of that."""
    wire = _wire(conn)
    asked: list[Said] = [*opening, (statement("analyze_grown_table"), {}), COMMIT]
    try:
        with suppress(psycopg.Error):
            for _ in range(MOST_ANALYZED):
                answers = wire.say(asked)
                if is_failure(answers[-1]):
                    wire.say([ROLLBACK])
                    break
                if answers[-2].get_value(0, 0) is None:
                    break
    finally:
        if wire.connection.closed:
            conn.invalidate()
    if conn.invalidated:
        _wire(conn)  # made anew here, where the door for event loops can wait for it


def _take_back(conn: Connection, known: Mapping[str, Any]) -> None:
    """Give a connection that is lost to nobody else; what is open is rolled back, at the latest by the pool."""
    course: _Course | None = known.get(COURSE)  # nothing is known of a connection that was replaced
    if course is not None and course.following is not None:
        course.follow(known[WIRE])
    if WIRE in known and known[WIRE].connection.closed:
        conn.invalidate()
    if conn.in_transaction():
        conn.rollback()


class _Attempt:
    """Decides, failure by failure, whether and when a transaction is tried again."""

    def __init__(self, url: str, key: str | None, read_only: bool, patience: float | None = None) -> None:
        self.url, self.key, self.read_only = url, key, read_only
        self.patience = MAX_RETRY_SECONDS if patience is None else patience
        self.tries = 0
        self.started = time.monotonic()
        self.course = _Course()  # of this try
        self.unresolved = False  # a COMMIT was lost, and no later try has said what became of it
        self.drop_pool = self.lost = False
        self.trouble: EngramError | None = None
        self._outside = sys.exception()  # what the caller is handling already is none of ours

    def entered(self, conn: Connection | AsyncConnection) -> _Course:
        """The course of a try, which knows whether it is the first."""
        course: _Course = (conn if isinstance(conn, Connection) else _inside(conn)).info[COURSE]
        course.again = self.tries > 0
        return course

    def succeeded(self) -> None:
        """Forget that the server could write nothing, where it has written again."""
        if _REFUSED and not self.read_only:
            _REFUSED.pop(self.url, None)

    def failed(self, error: Exception) -> float:
        """Seconds to wait before the next try; raises Engram's own error when there is none."""
        self._raise_interruption(error)
        if not isinstance(error, DRIVER_ERRORS):
            raise error  # a mistake in the program is no outage: hiding it behind one would hide it for good
        self.tries += 1
        kind, state = classify(error), sqlstate(error)
        if kind == "stop" and not self.read_only:
            _REFUSED[self.url] = time.monotonic()
        committing = self.course.committing and not self.read_only
        self.course = _Course()
        # A connection that is lost before COMMIT is sent has changed nothing; afterwards only the key can tell.
        self.unresolved = self.unresolved or (kind == "unknown" and committing)
        # After a lost connection SQLAlchemy recycles the others by itself; disposing would leak those in use meanwhile.
        self.drop_pool, self.lost = kind == "failover", kind in ("unknown", "failover")
        if self._may_repeat(error, kind, state):
            return random.uniform(0, min(LAST_DELAY, FIRST_DELAY * 2**self.tries))  # noqa: S311 - jitter, not a secret
        if state == LEASE_LOST:  # behind a COMMIT that was lost, too: whoever has the job now, it is not this one's
            raise LeaseLost from error
        if self.unresolved:
            raise UnknownOutcome(self.key or "none given") from error
        raise self.trouble or translate(error) from error

    def recover(self, restart: Callable[[], object] | None) -> None:
        """Bring a lost server back, where it is ours; why it did not come back is told when no try is left."""
        try:
            if restart is not None:
                restart()
        except EngramError as error:
            self.trouble = error

    def _raise_interruption(self, error: BaseException) -> None:
        # An interrupt that hit the driver while it cleaned up is hidden behind the error of the cleaning.
        hidden = error.__context__
        while hidden is not None and hidden is not self._outside:
            if not isinstance(hidden, Exception):
                raise hidden
            hidden = hidden.__context__

    def _may_repeat(self, error: Exception, kind: Class, state: str | None) -> bool:
        if time.monotonic() - self.started > self.patience or isinstance(error, sa.exc.TimeoutError):
            return False  # who waited for the pool in vain has waited long enough
        if kind == "safe":
            return self.tries < MAX_TRIES or state == "57P03"
        return kind == "failover" or (kind == "unknown" and (not self.unresolved or self.key is not None))


def translate(error: Exception) -> EngramError:
    """Engram's own error for a driver's; its text never holds a value."""
    kind, state = classify(error), sqlstate(error)
    if isinstance(error, sa.exc.TimeoutError):
        return Unavailable("every connection of the pool is in use", retry_after=1.0, reason=POOL_IN_USE)
    if kind == "unknown":
        return Unavailable(
            "PostgreSQL did not answer: does it run, where the URL says?", retry_after=5.0, sqlstate=state
        )
    if kind in ("safe", "cancelled", "failover", "stop"):
        return Unavailable(REFUSALS[kind], retry_after=5.0, sqlstate=state)
    if state in OUTDATED or (state is not None and state == "22023" and "role" in str(error)):
        return SchemaOutdated(sqlstate=state)
    if state is not None and state.startswith(("28", "3D")):
        return Unavailable("PostgreSQL refused the login: check the user and the database of the URL", sqlstate=state)
    if state is not None and state.startswith("23"):
        return Conflict("the database refused the change: a constraint does not hold", sqlstate=state)
    if state is not None and state.startswith("22"):
        refused = InvalidInput("value", "one PostgreSQL can store", f"a value refused with SQLSTATE {state}")
        refused.facts["sqlstate"] = state
        return refused
    return Unavailable(
        f"PostgreSQL refused the statement (SQLSTATE {state})" if state else "the database driver failed",
        sqlstate=state,
    )


def is_of_values(error: Exception) -> bool:
    """Whether a statement that is right failed by the kinds of the values it was given, here or in the server."""
    state = sqlstate(error)
    unsent = state is None and isinstance(_cause(error), psycopg.DataError | psycopg.ProgrammingError)
    return unsent or state in OF_ANOTHER_KIND


def address(url: str, name: str = "database_url") -> sa.URL:
    """The address of a PostgreSQL, read as psql and SQLAlchemy read it; SettingsError where it is none.

    Several hosts with ports of their own stand in it as psql has them: `postgresql://user@one:5432,two:5433/memories`.
    """
    several = _SEVERAL_HOSTS.fullmatch(url) if isinstance(url, str) else None
    places = [_PLACE.fullmatch(place) for place in several["hosts"].split(",")] if several else []
    try:
        parsed = sa.engine.make_url(several["before"] + several["after"] if several else url)
    except (sa.exc.ArgumentError, ValueError):
        parsed = None
    if parsed is None or None in places or (places and "host" in parsed.query):
        raise SettingsError(f"{name}: expected a URL such as postgresql://user@host/name")
    if parsed.get_backend_name() not in ("postgresql", "postgres"):
        raise SettingsError(f"{name}: expected a PostgreSQL URL")
    if "@" in (parsed.host or ""):  # what follows the first of two would be printed as the host
        raise SettingsError(f"{name}: expected an @ in a name or password as %40")
    if not parsed.query.keys() <= _parameters():
        raise SettingsError(f"{name}: expected only parameters of PostgreSQL's clients after the ?, such as sslmode")
    if places:
        hosts = ",".join(place["host"].strip("[]") for place in places if place)
        ports = ",".join(place["port"] or "" for place in places if place)
        parsed = parsed.update_query_dict({"host": hosts, "port": ports})
    if (wrong := _refused(parsed)) is not None:
        raise SettingsError(f"{name}: expected parameters with values that PostgreSQL's clients take, also of {wrong}")
    return parsed.set(drivername="postgresql+psycopg")


def without_passwords(url: str) -> str:
    """The address as psql takes it, with three stars in the place of each password: it may be printed into a log."""
    parsed = address(url)
    told = parsed.update_query_dict({name: HIDDEN for name in parsed.query if "password" in name})
    shown = told.set(drivername="postgresql").render_as_string(hide_password=True).replace(quote(HIDDEN), HIDDEN)
    before, mark, after = shown.partition("?")
    return before + mark + after.replace("+", "%20")  # libpq takes a + for itself


def _refused(parsed: sa.URL) -> str | None:
    """The name of a parameter whose value every connection would fail by; None where there is none."""
    said = parsed.query.get("port", str(parsed.port or ""))
    ports = said.split(",") if isinstance(said, str) else said
    if parsed.port == 0 or not all(not one or _is_whole(one, 1, 65_535) for one in ports):
        return "port"
    if not _is_whole(parsed.query.get("keepalives", "1"), 0, 2**31 - 1):  # looked at when a connection is made
        return "keepalives"
    for name in NUMBERS:
        if not _is_number(parsed.query.get(name, "0")):
            return name
    if not all(not one or _is_numeric_host(one) for one in _listed(parsed.query.get("hostaddr", ""))):
        return "hostaddr"
    if (wrong := _uneven(parsed)) is not None:
        return wrong
    asked: dict[str, Any] = {name: value for name, value in parsed.query.items() if name in _libpq() - PLACES}
    if _is_taken(asked):
        return None
    alone = (one for one in asked if _is_taken({name: value for name, value in asked.items() if name != one}))
    return next(alone, "those that the environment sets")


def _is_whole(text: object, least: int, most: int) -> bool:
    return isinstance(text, str) and re.fullmatch("[0-9]{1,10}", text) is not None and least <= int(text) <= most


def _is_number(text: object) -> bool:
    """Whether libpq reads this as a number of seconds or tries; less than none has a meaning to it."""
    return isinstance(text, str) and re.fullmatch(r"\s*[+-]?[0-9]{1,9}\s*", text) is not None


def _is_numeric_host(text: str) -> bool:
    """Whether this is an address in numbers, which no name server is asked about."""
    try:
        return bool(socket.getaddrinfo(text, None, flags=socket.AI_NUMERICHOST))
    except (OSError, UnicodeError):
        return False


def _listed(said: object) -> list[str]:
    """What a parameter of several hosts says of each of them. Pure."""
    return ",".join([said] if isinstance(said, str) else list(said) if isinstance(said, tuple) else []).split(",")


def _uneven(parsed: sa.URL) -> str | None:
    """The parameter that says something of more or fewer hosts than there are; one port may be that of all of them."""
    if not {"port", "hostaddr"} & parsed.query.keys():
        return None
    driven = parsed.set(drivername="postgresql+psycopg")
    try:
        _, told = driven.get_dialect()().create_connect_args(driven)
    except sa.exc.ArgumentError:
        return "port"
    hosts, addresses, ports = (_listed(str(told.get(name, ""))) for name in ("host", "hostaddr", "port"))
    if told.get("hostaddr") and told.get("host") and len(addresses) != len(hosts):
        return "hostaddr"
    return "port" if len(ports) not in (1, len(addresses if told.get("hostaddr") else hosts)) else None


def _is_taken(parameters: Mapping[str, Any]) -> bool:
    """Whether libpq looks for a server with these: shown a place where none is, it says so, or what it refuses."""
    try:
        info = make_conninfo(
            **{**parameters, "host": NOWHERE, "hostaddr": "", "port": "", "dbname": "none", "user": "nobody"}
        )
        tried = psycopg.pq.PGconn.connect_start(info.encode())
    except (psycopg.Error, UnicodeError, ValueError):
        return False
    try:
        return NOWHERE.encode() in tried.error_message
    finally:
        tried.finish()


@cache
def _libpq() -> frozenset[str]:
    return frozenset(option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults())


@cache
def _parameters() -> frozenset[str]:
    """What may be said of a connection in its address: all that libpq knows, and two of the driver's own."""
    return _libpq() | {"autocommit", "prepare_threshold"}


def _ms(time_limit: timedelta) -> str:
    return "0" if time_limit == NO_LIMIT else str(max(1, int(time_limit.total_seconds() * 1000)))
