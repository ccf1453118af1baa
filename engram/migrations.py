"""Bring a database's schema to the revision this library was written for."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.pool import NullPool

from engram.database import address, classify, translate
from engram.errors import Conflict, EngramError, SchemaOutdated, SettingsError, Unavailable

if TYPE_CHECKING:
    from alembic.config import Config
    from alembic.operations import Operations

# Outside schema `engram`, so that it is there before the first revision and after the last downgrade.
VERSION_SCHEMA: Final = "public"
VERSION_TABLE: Final = "engram_version"
EMPTIED: Final = (
    "agent_event_payloads", "agent_memory", "memory_changes", "memory_embeddings", "memory_lexemes", "memory_terms",
    "event_lexemes", "agent_checkpoints", "agent_sessions", "agent_task_runs", "llm_calls", "memory_jobs", "recall_log",
    "memory_relations", "relation_changes",
)  # fmt: skip
PARTITIONS: Final = 32  # of the vectors
ENCODING: Final = "UTF8"
ENCODE: Final = f"create the database with encoding {ENCODING}"
LOCK_KEY: Final = 0x656E6772616D  # the word "engram" as a number
LOCK_WAIT_SECONDS: Final = 600.0
LOCK_POLL_SECONDS: Final = 0.2
STATEMENT_LOCK_TIMEOUT: Final = "1s"
EXTENSIONS: Final = "public"  # where the functions of the schema look for pgvector
MOVE: Final = f"ALTER EXTENSION vector SET SCHEMA {EXTENSIONS}"
PLACE: Final = """select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'vector'"""
# Whatever a database or a login is used to: a statement that waits long for a lock makes everybody wait behind it, and
# the scripts were written for the rest.
SESSION: Final = {
    "lock_timeout": STATEMENT_LOCK_TIMEOUT, "statement_timeout": "0", "idle_in_transaction_session_timeout": "0",
    "client_min_messages": "warning", "search_path": EXTENSIONS, "standard_conforming_strings": "on",
    "row_security": "on", "default_transaction_isolation": "read committed",
}  # fmt: skip
TRIES: Final = 30
FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
VALIDITY: Final = """select i.indisvalid from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'engram' and c.relname = %s"""
# How a graph of vectors is built: denser than pgvector does by itself, so that a walk finds more with less in view.
GRAPH: Final = "m = 24, ef_construction = 128"
GRAPHS: Final = """select c.relname, pg_relation_size(c.oid) > 4 * current_setting('block_size')::integer
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'engram' and a.amname = 'hnsw' and c.relkind = 'i' and i.indisvalid order by 1"""
LEFT_OVER: Final = """select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'engram' and not i.indisvalid and c.relname ~ ('^' || %s || '_cc(new|old)[0-9]*$')"""
NEWER: Final = "The schema is at revision {found}, newer than this library ({expected}): update the package engram."


_one_at_a_time = threading.Lock()  # Alembic keeps the running migration in globals of the process


def upgrade(url: str, revision: str = "head", *, scripts: Path | None = None) -> None:
    """Migrate a database up to a revision; safe to call from several processes at once, and again."""
    from alembic import command

    _migrate(url, scripts, lambda config: command.upgrade(config, revision))


def downgrade(url: str, revision: str, *, force: bool = False, scripts: Path | None = None) -> None:
    """Migrate a database down to a revision; what would lose the ledger is refused unless forced."""
    from alembic import command

    _migrate(url, scripts, lambda config: command.downgrade(config, revision), force=force)


def current(url: str) -> str | None:
    """The revision a database is at, or None when Engram was never installed in it."""
    with connected(url) as connection:
        return current_revision(connection)


def current_revision(connection: Connection) -> str | None:
    """The revision of the database behind a connection, or None when Engram was never installed in it."""
    name = f"{VERSION_SCHEMA}.{VERSION_TABLE}"
    if connection.exec_driver_sql("select to_regclass(%s)", (name,)).scalar() is None:
        return None
    found = connection.exec_driver_sql(f"select version_num from {name}").scalar()  # noqa: S608 - constants
    return None if found is None else str(found)


def head(*, scripts: Path | None = None) -> str:
    """The revision this library was written for."""
    # Read from the file names: importing Alembic to learn four digits would cost every start a tenth of a second.
    names = sorted(path.stem for path in (scripts or scripts_folder()).glob("versions/[0-9]*_*.py"))
    return names[-1].partition("_")[0]


def check(url: str) -> None:
    """Raise SchemaOutdated unless the database is at the revision of this library."""
    refuse_other_revision(current(url))


def refuse_other_revision(found: str | None) -> None:
    """Raise SchemaOutdated when a database is not at this library's revision, saying which of the two is behind."""
    expected = head()
    if found == expected:
        return
    if found is None:
        message = "The database holds no Engram schema: run `engram migrate`."
    elif found > expected:
        message = NEWER.format(found=found, expected=expected)
    else:
        message = f"The schema is at revision {found}, this library needs {expected}: run `engram migrate`."
    raise SchemaOutdated(message, found=found, expected=expected)


def scripts_folder() -> Path:
    """The folder of the migrations: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent
    for folder in (package / "alembic", package.parent / "alembic"):
        if (folder / "env.py").is_file():
            return folder
    raise SettingsError("The migrations are missing from this installation: install the package engram again.")


def run_ddl(op: Operations, folder: Path) -> None:
    """Execute every `.sql` file of a folder in the order of their names, in the transaction of the revision."""
    files = sorted(folder.glob("*.sql"))
    if not files:
        raise SettingsError("The migrations are missing from this installation: install the package engram again.")
    for path in files:
        try:
            run_sql(op, path.read_text(encoding="utf-8"))
        except Exception as error:
            error.add_note(f"in migration {folder.name}/{path.name}")
            raise


def run_sql(op: Operations, text: str) -> None:
    """Execute one or many statements exactly as written."""
    # Without parameters psycopg sends the text as it is: `%` and `:` mean nothing, and the server's own parser finds
    # where a statement ends, dollar quotes and all.
    raw: Any = op.get_bind().connection.driver_connection
    raw.execute(text)


def refuse_loss(op: Operations) -> None:
    """Stop a downgrade that would lose the ledger, unless it was forced."""
    from alembic import context

    forced = context.config.attributes.get("force") or "force" in context.get_x_argument()
    # Row-level security hides every row from whoever has no tenant: an empty answer would prove nothing, a size does.
    filled = op.get_bind().exec_driver_sql("select pg_relation_size(to_regclass('engram.agent_events')) > 0").scalar()
    if filled and not forced:
        raise Conflict("This downgrade would destroy the ledger; back it up, then force it.")


def remake(op: Operations, before: str, revision: str) -> None:
    """Take a revision that replaces functions down: all is taken apart, and the one before is made again.

    Refuses where that would lose the ledger.
    """
    refuse_loss(op)
    scripts = op.get_context().script
    assert scripts is not None
    module: Any = scripts.get_revision(before).module
    module.downgrade()
    # What builds indexes commits: killed there, the database must say what it holds.
    said = f"update {VERSION_SCHEMA}.{VERSION_TABLE} set version_num = "  # noqa: S608 - constants
    run_sql(op, f"{said} '{module.down_revision}'")
    module.upgrade()
    run_sql(op, f"{said} '{revision}'")  # which is to be taken down


def concurrent_index(op: Operations, name: str, ddl: str) -> None:
    """Build an index of schema `engram` without blocking writers, replacing what a killed build left."""
    if "concurrently" not in ddl.lower():
        raise SettingsError("concurrent_index: the statement must say CREATE INDEX CONCURRENTLY")
    with op.get_context().autocommit_block():
        # The build waits for older transactions while blocking nobody, so it may wait long.
        run_sql(op, "set lock_timeout = 0")
        if _index_validity(op, name) is False:
            run_sql(op, f'drop index concurrently engram."{name}"')
        if _index_validity(op, name) is None:
            run_sql(op, ddl)
        run_sql(op, f"set lock_timeout = '{STATEMENT_LOCK_TIMEOUT}'")
        if not _index_validity(op, name):
            raise Unavailable("An index could not be built; run the migration again.", index=name)


def owned_indexes(op: Operations, ddl_of: Mapping[str, str]) -> None:
    """Build indexes of schema `engram` by their names as the owner of its tables, as `concurrent_index` does each."""
    run_sql(op, "set role engram_owner")  # of the whole connection: each index is a transaction of its own
    for name, ddl in ddl_of.items():
        concurrent_index(op, name, ddl)
    run_sql(op, "reset role")


def replace_index(op: Operations, name: str, ddl: str, *, unique: bool = False) -> None:
    """Build an index of schema `engram` in the place of the one of its name, which serves until the new one is there.

    `ddl` says on what: "on engram.x (y)". Killed at any point it is run again from the start.
    """
    kind = "unique index" if unique else "index"
    concurrent_index(op, f"{name}_next", f'create {kind} concurrently "{name}_next" {ddl}')
    with op.get_context().autocommit_block():
        run_sql(op, "set lock_timeout = 0")  # as above
        run_sql(op, f'drop index concurrently if exists engram."{name}"')
        run_sql(op, f'alter index engram."{name}_next" rename to "{name}"')
        run_sql(op, f"set lock_timeout = '{STATEMENT_LOCK_TIMEOUT}'")


def rebuild_graphs(op: Operations, options: str) -> None:
    """Build every graph of vectors anew with these options; each serves until its new one is there.

    Killed at any point it is run again from the start. Of an empty one nothing is lost by waiting for it.
    """
    graphs = op.get_bind().exec_driver_sql(GRAPHS).all()
    for name, filled in graphs:
        run_sql(op, f'alter index engram."{name}" set ({options})')
        if not filled:
            run_sql(op, f'reindex index engram."{name}"')
    with op.get_context().autocommit_block():
        # Each waits for older transactions while blocking nobody, and a graph larger than the memory takes very long.
        run_sql(op, "set lock_timeout = 0; set maintenance_work_mem = '512MB'")
        for name in (name for name, filled in graphs if filled):
            for left in op.get_bind().exec_driver_sql(LEFT_OVER, (name,)).scalars().all():
                run_sql(op, f'drop index concurrently engram."{left}"')
            run_sql(op, f'reindex index concurrently engram."{name}"')
        run_sql(op, f"reset maintenance_work_mem; set lock_timeout = '{STATEMENT_LOCK_TIMEOUT}'")


def build_graph(url: str, model_id: int, dimensions: int) -> None:
    """Build the vector graph of a model in every partition without blocking anybody; again it does what is left."""
    with _one_at_a_time, only_migrator(url), connected(url, isolation_level="AUTOCOMMIT") as connection:
        places = f"search_path = {EXTENSIONS}"
        for setting in ("role = engram_owner", places, "lock_timeout = 0", "statement_timeout = 0"):
            connection.exec_driver_sql(f"set {setting}")  # constants
        for part in range(PARTITIONS):
            name = f"memory_embeddings_{part:02}_graph_{int(model_id)}"
            found = connection.exec_driver_sql(VALIDITY, (name,)).scalar()
            if found is False:  # what a killed build left
                connection.exec_driver_sql(f'drop index concurrently engram."{name}"')  # constants and a number
            if not found:
                connection.exec_driver_sql(
                    f'create index concurrently "{name}" on engram.memory_embeddings_{part:02}'
                    f" using hnsw ((embedding::halfvec({int(dimensions)})) halfvec_cosine_ops)"
                    f" with ({GRAPH}) where indexed and model_id = {int(model_id)}"
                )
                # ANALYZE would keep samples of the vectors, which an erasure does not reach.
                connection.exec_driver_sql(f'alter index engram."{name}" alter column 1 set statistics 0')  # constants


def vacuum(url: str) -> None:
    """Let go of the dead rows of the tables an erasure empties; a table that another process cleans is left to it."""
    with connected(url, isolation_level="AUTOCOMMIT") as connection:
        for setting in ("lock_timeout = '1s'", "statement_timeout = '10min'"):
            connection.exec_driver_sql(f"set {setting}")  # constants
        names = ", ".join(f"engram.{name}" for name in EMPTIED)
        connection.exec_driver_sql(f"vacuum (skip_locked) {names}")  # constants


def _index_validity(op: Operations, name: str) -> bool | None:
    found = op.get_bind().exec_driver_sql(VALIDITY, (name,)).scalar()
    return None if found is None else bool(found)


def _migrate(url: str, scripts: Path | None, act: Callable[[Config], None], **attributes: Any) -> None:
    with _one_at_a_time, only_migrator(url):
        for attempt in range(1, TRIES + 1):
            try:
                with connected(url) as connection:
                    _refuse_other_encoding(connection)
                    prepare(connection)
                    _refuse_newer(connection, scripts)
                    act(_config(scripts, connection=connection, **attributes))
                return
            except EngramError:
                raise
            except Exception as error:
                if attempt == TRIES or not _passing(error):
                    raise _translated(error) from error
            time.sleep(random.uniform(0.5, 1) * min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt))  # noqa: S311 - jitter


def _refuse_other_encoding(connection: Connection) -> None:
    """Raise SettingsError unless the database keeps text as UTF-8: in another encoding a migration ends half way."""
    found = connection.exec_driver_sql("show server_encoding").scalar()
    connection.commit()
    if found != ENCODING:
        raise SettingsError(f"server encoding {found}: {ENCODE}", encoding=found)


def _refuse_newer(connection: Connection, scripts: Path | None) -> None:
    found, expected = current_revision(connection), head(scripts=scripts)
    connection.commit()  # Alembic begins its own transactions
    if found is not None and found > expected:
        raise SchemaOutdated(NEWER.format(found=found, expected=expected), found=found, expected=expected)


def prepare(connection: Connection) -> None:
    """Give a migrating session its settings; raise SettingsError where its database has pgvector in another schema."""
    # Session settings, and on a connection of our own: a migration is never run through a transaction pooler.
    for name, value in SESSION.items():
        connection.exec_driver_sql("select set_config(%s, %s, false)", (name, value))
    found = connection.exec_driver_sql(PLACE).scalar()
    connection.commit()
    if found not in {None, EXTENSIONS}:
        raise SettingsError(f"pgvector is in the schema {found}, expected in {EXTENSIONS}: {MOVE}", schema=found)


def _config(scripts: Path | None, **attributes: Any) -> Config:
    from alembic.config import Config

    config = Config(attributes=attributes)
    config.set_main_option("script_location", str(scripts or scripts_folder()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


@contextmanager
def only_migrator(url: str) -> Iterator[None]:
    """Wait until nobody else migrates a database, and keep others waiting while the block runs."""
    # Polled on a connection of its own outside any transaction: a blocking lock would deadlock with CREATE INDEX
    # CONCURRENTLY, which waits for the transaction of whoever waits for the lock.
    with connected(url, isolation_level="AUTOCOMMIT") as connection:
        deadline = time.monotonic() + LOCK_WAIT_SECONDS
        while not connection.exec_driver_sql("select pg_try_advisory_lock(%s::bigint)", (LOCK_KEY,)).scalar():
            if time.monotonic() > deadline:
                raise Unavailable("Another process has been migrating this database for too long.", retry_after=60.0)
            time.sleep(random.uniform(0.5, 1) * LOCK_POLL_SECONDS)  # noqa: S311 - jitter
        try:
            yield
        finally:
            connection.exec_driver_sql("select pg_advisory_unlock(%s::bigint)", (LOCK_KEY,))


@contextmanager
def connected(url: str, **options: Any) -> Iterator[Connection]:
    """A connection of whoever migrates, for as long as this lasts; what goes wrong with it is one of our errors."""
    parsed = address(url, "the address of the database")
    settings = {
        "prepare_threshold": None, "connect_timeout": 10, "application_name": "engram migrate",
        "client_encoding": "utf8",  # or the driver hands out bytes where the server knows no encoding
    }  # fmt: skip
    engine = sa.create_engine(parsed, poolclass=NullPool, hide_parameters=True, connect_args=settings, **options)
    try:
        with engine.connect() as connection:
            yield connection
    except sa.exc.SQLAlchemyError as error:
        raise _translated(error) from error
    finally:
        engine.dispose()


def _passing(error: Exception) -> bool:
    # Roles belong to the cluster: two databases of one cluster migrated at once touch the same catalogue rows.
    return classify(error) == "safe" or "tuple concurrently" in str(error)


def _translated(error: Exception) -> EngramError:
    state = getattr(getattr(error, "orig", error), "sqlstate", None)
    if "extension" in str(error) and state in ("42501", "0A000", "58P01"):
        return SettingsError(
            "The extension vector (pgvector) is not there: let an administrator install it on the server and run "
            "`create extension vector` in this database.",
            sqlstate=state,
        )
    if state == "42501":
        return SettingsError(
            "The migrating user lacks a right: it must own the database and have CREATEROLE, or, where the roles were "
            "made by somebody else, be granted engram_migrator and engram_app.",
            sqlstate=state,
        )
    if classify(error) == "permanent" and state is not None:
        # Migrations carry no caller's values, so the server's own words may be shown.
        places = "; ".join(getattr(error, "__notes__", []))
        return Unavailable(f"A migration failed: {error} {places}".strip(), sqlstate=state)
    return translate(error)
