"""The database: one way to open a transaction, statements by name, and what to do when one fails."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from importlib import resources
from typing import Any, Final, Literal, TypeVar

import psycopg
import sqlalchemy as sa
from psycopg.types.json import Jsonb
from sqlalchemy.engine import Connection, Row
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from engram import inputs
from engram.errors import (
    Conflict,
    EngramError,
    InvalidInput,
    SchemaOutdated,
    SettingsError,
    Unavailable,
    UnknownOutcome,
)
from engram.settings import Settings

__all__ = [
    "Connection",
    "Database",
    "Jsonb",
    "classify",
    "execute",
    "fetch_all",
    "fetch_one",
    "fetch_value",
    "statement",
]

APP_ROLE: Final = "engram_app"
SCHEMA: Final = "engram"
IDLE_TIMEOUT_MS: Final = 15_000
MAX_TRIES: Final = 8
MAX_RETRY_SECONDS: Final = 15.0
FIRST_DELAY: Final = 0.01
LAST_DELAY: Final = 1.0
WAIT_FOR_SERVER_SECONDS: Final = 15.0

Class = Literal["safe", "unknown", "failover", "permanent", "cancelled", "stop"]
T = TypeVar("T")

SAFE: Final = frozenset({"40001", "40P01", "55P03", "57P03", "53300", "53200", "53400"})
REFUSALS: Final = {
    "safe": "PostgreSQL was too busy", "cancelled": "the statement took too long",
    "failover": "PostgreSQL is read-only", "stop": "PostgreSQL cannot write",
}  # fmt: skip
UNKNOWN: Final = frozenset({"57P01", "57P02", "57P05", "40003"})
STOP: Final = frozenset({"53100", "58030", "XX001", "XX002"})
OUTDATED: Final = frozenset({"3F000", "42P01", "42703", "42883"})


def classify(error: BaseException) -> Class:
    """What a failed statement means for the caller: may it be repeated, and is its outcome known?"""
    original = getattr(error, "orig", None)
    cause = original if isinstance(original, BaseException) else error
    state = getattr(cause, "sqlstate", None)
    if state is None:
        lost = isinstance(
            cause, psycopg.OperationalError | psycopg.InterfaceError | OSError | TimeoutError | sa.exc.TimeoutError
        )
        return "unknown" if lost else "permanent"
    if state in SAFE:
        return "safe"
    if state in UNKNOWN or state.startswith("08"):
        return "unknown"
    if state == "25006":
        return "failover"
    if state == "57014":
        return "cancelled"
    return "stop" if state in STOP else "permanent"


@cache
def statement(name: str) -> str:
    """The text of a statement of `engram/sql`, by its file name."""
    return (resources.files("engram") / "sql" / f"{name}.sql").read_text(encoding="utf-8")


def fetch_all(conn: Connection, name: str, /, **params: Any) -> list[Row[Any]]:
    """Every row of a named statement."""
    return list(conn.exec_driver_sql(statement(name), params).fetchall())


def fetch_one(conn: Connection, name: str, /, **params: Any) -> Row[Any] | None:
    """The first row of a named statement, or None."""
    return conn.exec_driver_sql(statement(name), params).fetchone()


def fetch_value(conn: Connection, name: str, /, **params: Any) -> Any:
    """The first column of the first row of a named statement, or None."""
    row = fetch_one(conn, name, **params)
    return None if row is None else row[0]


def execute(conn: Connection, name: str, /, **params: Any) -> int:
    """Run a named statement; the number of rows it touched."""
    return int(conn.exec_driver_sql(statement(name), params).rowcount)


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
        self.url = _normalise(url)
        self.settings = settings
        self.recover: Callable[[], object] | None = None
        """What may bring a lost server back: the embedded one is started again."""
        self._engine: sa.Engine | None = None
        self._async_engine: AsyncEngine | None = None

    @property
    def engine(self) -> sa.Engine:
        """The engine of the synchronous door."""
        if self._engine is None:
            self._engine = sa.create_engine(self.url, **self._options())
        return self._engine

    @property
    def async_engine(self) -> AsyncEngine:
        """The engine of the asynchronous door."""
        if self._async_engine is None:
            self._async_engine = create_async_engine(self.url, **self._options())
        return self._async_engine

    def _options(self) -> dict[str, Any]:
        # Prepared statements are off: they are session state, which a transaction pooler mixes up, and a generic
        # plan of a search is several times slower than one made for its values.
        connect = {
            "prepare_threshold": None, "connect_timeout": 5, "application_name": "engram", "keepalives_idle": 5,
            "keepalives_interval": 3, "keepalives_count": 3, "tcp_user_timeout": 10_000,
            "target_session_attrs": "read-write", "client_encoding": "utf8",
        }  # fmt: skip
        return {
            "pool_size": self.settings.pool_size, "max_overflow": 0, "pool_timeout": 5, "pool_recycle": 1800,
            "pool_pre_ping": True, "hide_parameters": True, "json_deserializer": inputs.load_json,
            "connect_args": connect,
        }  # fmt: skip

    @contextmanager
    def transaction(self, tenant_id: str, *, read_only: bool = False) -> Iterator[Connection]:
        """One transaction of one tenant; commits on leaving, rolls back on any error."""
        with self.engine.connect() as conn, _closed_when_interrupted(conn), conn.begin():
            begin(conn, tenant_id, self.settings, read_only)
            yield conn

    @asynccontextmanager
    async def async_transaction(self, tenant_id: str, *, read_only: bool = False) -> AsyncIterator[AsyncConnection]:
        """The asynchronous form of `transaction`."""
        async with self.async_engine.connect() as conn:
            try:
                async with conn.begin():
                    await conn.run_sync(begin, tenant_id, self.settings, read_only)
                    yield conn
            except Exception:
                raise
            except BaseException:
                await conn.invalidate()  # cancelled in the middle: the state of its protocol is unknown
                raise

    def run(
        self, tenant_id: str, work: Callable[[Connection], T], *, key: str | None = None, read_only: bool = False
    ) -> T:
        """Run `work` in a transaction, again where that is safe.

        With `key` the work must be idempotent under that key (or read only): then a lost connection is answered by
        asking again; without it a lost COMMIT is UnknownOutcome.
        """
        attempt = _Attempt(key, read_only)
        while True:
            try:
                with self.transaction(tenant_id, read_only=read_only) as conn:
                    return work(conn)
            except EngramError:
                raise
            except Exception as error:  # noqa: BLE001 - `failed` raises Engram's own for it
                pause = attempt.failed(error)
                if attempt.drop_pool:
                    self.engine.dispose()
                    if self.recover is not None:
                        self.recover()
                time.sleep(pause)

    async def run_async(
        self, tenant_id: str, work: Callable[[Connection], T], *, key: str | None = None, read_only: bool = False
    ) -> T:
        """The asynchronous form of `run`."""
        import asyncio

        attempt = _Attempt(key, read_only)
        while True:
            try:
                async with self.async_transaction(tenant_id, read_only=read_only) as conn:
                    return await conn.run_sync(work)
            except EngramError:
                raise
            except Exception as error:  # noqa: BLE001 - `failed` raises Engram's own for it
                pause = attempt.failed(error)
                if attempt.drop_pool:
                    await self.async_engine.dispose()
                    if self.recover is not None:
                        await asyncio.to_thread(self.recover)
                await asyncio.sleep(pause)

    def close(self) -> None:
        """Close every connection of the synchronous door."""
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    async def close_async(self) -> None:
        """Close every connection of both doors."""
        self.close()
        if self._async_engine is not None:
            await self._async_engine.dispose()
            self._async_engine = None


def begin(conn: Connection, tenant_id: str, settings: Settings, read_only: bool = False) -> None:
    """Give a fresh transaction its role, tenant and limits: one round trip, and gone with the transaction."""
    conn.exec_driver_sql(
        statement("begin_transaction"),
        {
            "tenant_id": tenant_id, "role": APP_ROLE, "lock_timeout": _ms(settings.lock_timeout.total_seconds()),
            "statement_timeout": _ms(settings.statement_timeout.total_seconds()), "idle_timeout": str(IDLE_TIMEOUT_MS),
            "read_only": "on" if read_only else "off",
        },
    )  # fmt: skip


@contextmanager
def _closed_when_interrupted(conn: Connection) -> Iterator[None]:
    # An asynchronous exception between BEGIN and COMMIT leaves the protocol in an unknown state: never pool it again.
    try:
        yield
    except Exception:
        raise
    except BaseException:
        conn.invalidate()
        raise


class _Attempt:
    """Decides, failure by failure, whether and when a transaction is tried again."""

    def __init__(self, key: str | None, read_only: bool) -> None:
        self.key, self.read_only = key, read_only
        self.tries = 0
        self.started = time.monotonic()
        self.drop_pool = False

    def failed(self, error: Exception) -> float:
        """Seconds to wait before the next try; raises Engram's own error when there is none."""
        self.tries += 1
        kind = classify(error)
        repeatable = self.read_only or self.key is not None or _before_commit(error)
        # After a lost connection SQLAlchemy recycles the others by itself; disposing would leak those in use meanwhile.
        self.drop_pool = kind == "failover"
        late = time.monotonic() - self.started > MAX_RETRY_SECONDS
        if (
            kind in ("safe", "failover")
            and not late
            and (self.tries < MAX_TRIES or kind == "failover" or _starting_up(error))
        ):
            return self._pause()
        if kind == "unknown" and repeatable and not late:
            return self._pause()
        raise translate(error, self.key, committing=not repeatable) from error

    def _pause(self) -> float:
        return random.uniform(0, min(LAST_DELAY, FIRST_DELAY * 2**self.tries))  # noqa: S311 - jitter, not a secret


def _starting_up(error: Exception) -> bool:
    return getattr(getattr(error, "orig", error), "sqlstate", None) == "57P03"


def _before_commit(error: Exception) -> bool:
    # A connection that could never be made has committed nothing.
    return isinstance(error, sa.exc.DBAPIError) and error.statement is None and not error.connection_invalidated


def translate(error: Exception, key: str | None = None, *, committing: bool = False) -> EngramError:
    """Engram's own error for a driver's; its text never holds a value."""
    kind = classify(error)
    state = getattr(getattr(error, "orig", error), "sqlstate", None)
    if kind == "unknown":
        return (
            UnknownOutcome(key or "none given")
            if committing
            else Unavailable("PostgreSQL did not answer", retry_after=5.0, sqlstate=state)
        )
    if kind in ("safe", "cancelled", "failover", "stop"):
        why = REFUSALS[kind]
        return Unavailable(why, retry_after=5.0, sqlstate=state)
    if state in OUTDATED or (state is not None and state == "22023" and "role" in str(error)):
        return SchemaOutdated(sqlstate=state)
    if state is not None and state.startswith("23"):
        return Conflict("the database refused the change: a constraint does not hold", sqlstate=state)
    if state is not None and state.startswith("22"):
        return InvalidInput("value", "one PostgreSQL can store", f"a value refused with SQLSTATE {state}")
    return Unavailable(
        f"PostgreSQL refused the statement (SQLSTATE {state})" if state else "the database driver failed",
        sqlstate=state,
    )


def _normalise(url: str) -> str:
    try:
        parsed = sa.engine.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        raise SettingsError("database_url: expected a URL such as postgresql://user@host/name") from None
    if parsed.get_backend_name() not in ("postgresql", "postgres"):
        raise SettingsError("database_url: expected a PostgreSQL URL")
    return parsed.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


def _ms(seconds: float) -> str:
    return str(max(1, int(seconds * 1000)))
