"""Migrations: the same schema by every road, nothing lost on the way back, several migrators at once."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from engram import AsyncEngram, Engram, Scope, database, embedded, migrations
from engram.embedded import EmbeddedServer
from engram.errors import Conflict, SchemaOutdated, SettingsError, Unavailable
from engram.settings import load

REPOSITORY = Path(__file__).parents[2]

# Everything of the schema that a migration can leave different, as text without object ids.
CATALOGUE = {
    "columns": """select c.relname, c.relkind, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
        a.attidentity, a.attnum, pg_get_expr(d.adbin, d.adrelid), pg_get_userbyid(c.relowner), c.reloptions::text
        from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
        left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
        where n.nspname = 'engram' and a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'p', 'v')""",
    "security": """select c.relname, c.relrowsecurity, c.relforcerowsecurity from pg_class c
        join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'engram' and c.relkind in ('r', 'p')""",
    "policies": """select tablename, policyname, permissive, roles::text, cmd, qual, with_check from pg_policies
        where schemaname = 'engram'""",
    "constraints": """select conrelid::regclass::text, conname, pg_get_constraintdef(c.oid), convalidated
        from pg_constraint c join pg_namespace n on n.oid = c.connamespace where n.nspname = 'engram'""",
    "indexes": """select c.relname, pg_get_indexdef(i.indexrelid), i.indisvalid from pg_index i
        join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'engram'""",
    "triggers": """select pg_get_triggerdef(t.oid), t.tgenabled from pg_trigger t join pg_class c on c.oid = t.tgrelid
        join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'engram' and not t.tgisinternal""",
    "functions": """select pg_get_functiondef(p.oid), pg_get_userbyid(p.proowner), p.proacl::text from pg_proc p
        join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'engram'""",
    "views": """select c.relname, pg_get_viewdef(c.oid), c.reloptions::text from pg_class c
        join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'engram' and c.relkind = 'v'""",
    "grants": """select c.relname, c.relacl::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'engram' and c.relkind <> 'i' union all select nspname, nspacl::text from pg_namespace
        where nspname = 'engram'""",
    "comments": """select c.relname, d.objsubid, d.description from pg_description d join pg_class c on c.oid = d.objoid
        join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'engram'""",
}


def plain(url: str) -> str:
    return url.replace("postgresql+psycopg://", "postgresql://")


def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(plain(url)) as connection:
        return connection.execute(query).fetchall()  # type: ignore[arg-type]


def run(url: str, *statements: str) -> None:
    with psycopg.connect(plain(url), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[arg-type]


def catalogue(url: str) -> dict[str, list[tuple[Any, ...]]]:
    return {name: sorted(rows(url, query), key=str) for name, query in CATALOGUE.items()}


def fill(url: str) -> None:
    """Put a scope and an event into the database, as only a superuser can without the library."""
    run(
        url,
        "insert into engram.memory_scopes (tenant_id, namespace, agent_id) values ('t', 'n', 'a')",
        """insert into engram.agent_events (tenant_id, stream_id, position, event_id, scope_id, role, event_type, trust,
           occurred_at, recorded_at, hash_version, commitment, prev_hash, hash)
           select 't', gen_random_uuid(), 1, gen_random_uuid(), scope_id, 'user', 'message', 1, now(), now(), 1,
           sha256('a'), sha256('b'), sha256('c') from engram.memory_scopes""",
    )


@pytest.fixture
def scripts() -> Iterator[Path]:
    """A copy of the migrations, to which a test may add a revision."""
    folder = Path(tempfile.mkdtemp())
    shutil.copytree(migrations.scripts_folder(), folder / "alembic", ignore=shutil.ignore_patterns("__pycache__"))
    yield folder / "alembic"
    shutil.rmtree(folder)


def add_revision(scripts: Path, up: str, down: str = "pass") -> None:
    head = migrations.head(scripts=scripts)
    name = f"{int(head) + 1:04}"
    (scripts / "versions" / f"{name}_added.py").write_text(
        f"from alembic import op\nfrom engram import migrations\nrevision = {name!r}\ndown_revision = {head!r}\n"
        f"def upgrade():\n    {up}\ndef downgrade():\n    {down}\n"
    )


def test_an_empty_schema_may_be_taken_down_and_made_again_is_the_same(fresh_database_url: str) -> None:
    assert migrations.current(fresh_database_url) is None
    migrations.upgrade(fresh_database_url)
    first = catalogue(fresh_database_url)
    assert [name for name, found in first.items() if not found] == []
    migrations.downgrade(fresh_database_url, "base")
    assert migrations.current(fresh_database_url) is None
    assert rows(fresh_database_url, "select count(*) from pg_namespace where nspname = 'engram'") == [(0,)]
    assert [name for name, found in catalogue(fresh_database_url).items() if found] == []
    migrations.upgrade(fresh_database_url)
    second = catalogue(fresh_database_url)
    for name in CATALOGUE:
        assert second[name] == first[name], name
    migrations.check(fresh_database_url)


def test_every_table_is_walled_and_every_index_valid(database_url: str) -> None:
    found = catalogue(database_url)
    with_tenant = {row[0] for row in found["columns"] if row[2] == "tenant_id" and row[1] in ("r", "p")}
    walled = {row[0] for row in found["security"] if row[1] and row[2]}
    assert with_tenant - walled == set()
    assert with_tenant - {row[0] for row in found["policies"]} == set()
    assert [row[0] for row in found["indexes"] if not row[2]] == []


def test_an_upgrade_leaves_the_application_able_to_read_the_revision(database_url: str) -> None:
    assert rows(database_url, "select current_user")[0] == ("engram_app",)
    assert migrations.current(database_url) == migrations.head()
    migrations.check(database_url)


def test_the_newest_file_is_the_head_of_one_unbroken_line() -> None:
    config = Config()
    config.set_main_option("script_location", str(migrations.scripts_folder()))
    config.set_main_option("path_separator", "os")
    directory = ScriptDirectory.from_config(config)
    assert directory.get_heads() == [migrations.head()]
    line = [script.revision for script in directory.walk_revisions()][::-1]
    assert line == [f"{number:04}" for number in range(1, len(line) + 1)]
    assert all(Path(directory.get_revision(name).path).name.startswith(f"{name}_") for name in line)


@pytest.mark.parametrize("revision", ["9999", "0005"])
def test_a_door_refuses_a_schema_of_another_revision_until_it_is_its_own(
    fresh_database_url: str, revision: str
) -> None:
    migrations.upgrade(fresh_database_url)
    run(fresh_database_url, f"update public.engram_version set version_num = '{revision}'")

    def refused(work: Callable[[], object]) -> None:
        for _ in range(2):
            with pytest.raises(SchemaOutdated, match=f"at revision {revision}") as caught:
                work()
            assert caught.value.facts == {"found": revision, "expected": migrations.head()}

    async def awaited() -> None:
        async with AsyncEngram(fresh_database_url, settings=load({}), embedder="none") as door:
            await door.add("Tea is green.")

    with Engram(fresh_database_url, settings=load({}), embedder="none") as door:
        refused(lambda: door.add("Tea is green."))
        refused(lambda: door.search("tea"))
        refused(lambda: asyncio.run(awaited()))
        [schema] = [check for check in door.ops.doctor().checks if check.name == "schema"]
        assert (schema.ok, schema.repair) == (False, "engram migrate")
        assert revision in schema.detail
        run(fresh_database_url, f"update public.engram_version set version_num = '{migrations.head()}'")
        assert door.add("Tea is green.").kind == "add"
        asyncio.run(awaited())


def test_the_revision_is_read_once_a_pool(database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    known = database._revision
    monkeypatch.setattr(database, "_revision", lambda conn: read.append(conn) or known(conn))
    with Engram(database_url, scope=Scope(tenant), settings=load({}), embedder="none") as door:
        assert read == []
        for number in range(3):
            door.add(f"Tea number {number} is green.")
    assert len(read) == 1


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_in_another_encoding_is_refused_before_anything_is_made(
    server: EmbeddedServer, encoding: str
) -> None:
    name = f"encoded_{encoding.lower()}"
    run(server.superuser_url, f"create database {name} encoding '{encoding}' template template0 locale 'C'")
    url = server.url(user="postgres", database=name)
    try:
        with pytest.raises(SettingsError, match=f"server encoding {encoding}: create the database with encoding UTF8"):
            migrations.upgrade(url)
        assert migrations.current(url) is None
    finally:
        run(server.superuser_url, f"drop database {name} with (force)")


def test_what_a_database_is_used_to_changes_nothing_of_the_schema(
    server: EmbeddedServer, fresh_database_url: str
) -> None:
    migrations.upgrade(fresh_database_url)  # in one that others use there may be more: indexes of their models
    name = "used_to_others"
    run(server.superuser_url, f"create database {name}")
    url = server.url(user="postgres", database=name)
    try:
        run(url, "create schema app")
        for setting in ("search_path = app, public", "standard_conforming_strings = off", "row_security = off"):
            run(server.superuser_url, f"alter database {name} set {setting}")
        migrations.upgrade(url)
        run(server.superuser_url, f"alter database {name} reset all")
        assert catalogue(url) == catalogue(fresh_database_url)
        assert rows(url, "select extnamespace::regnamespace::text from pg_extension where extname = 'vector'") == [
            ("public",)
        ]
    finally:
        run(server.superuser_url, f"drop database {name} with (force)")


def test_pgvector_in_a_schema_of_its_own_is_refused_with_what_moves_it(fresh_database_url: str) -> None:
    run(fresh_database_url, "create schema extensions")
    run(fresh_database_url, "create extension vector schema extensions")
    moved = "pgvector is in the schema extensions, expected in public: ALTER EXTENSION vector SET SCHEMA public"
    with pytest.raises(SettingsError, match=moved):
        migrations.upgrade(fresh_database_url)
    assert migrations.current(fresh_database_url) is None
    run(fresh_database_url, migrations.MOVE)
    migrations.upgrade(fresh_database_url)
    with Engram(fresh_database_url, settings=load({}), embedder="none") as door:
        assert [one.ok for one in door.ops.doctor().checks if one.name == "pgvector"] == [True]
        run(fresh_database_url, "alter extension vector set schema extensions")
        [astray] = [one for one in door.ops.doctor().checks if one.name == "pgvector"]
        assert (astray.ok, astray.repair) == (False, migrations.MOVE)
        assert astray.detail.endswith("in the schema extensions")


def test_a_schema_that_is_missing_behind_or_ahead_says_what_to_do(fresh_database_url: str) -> None:
    with pytest.raises(SchemaOutdated, match="no Engram schema: run `engram migrate`"):
        migrations.check(fresh_database_url)
    migrations.upgrade(fresh_database_url)
    run(fresh_database_url, "update public.engram_version set version_num = '0000'")
    with pytest.raises(SchemaOutdated, match=r"at revision 0000, this .* needs .*: run `engram migrate`") as caught:
        migrations.check(fresh_database_url)
    assert caught.value.facts == {"found": "0000", "expected": migrations.head()}
    run(fresh_database_url, "update public.engram_version set version_num = '9999'")
    with pytest.raises(SchemaOutdated, match=r"newer than this library .*: update the package"):
        migrations.check(fresh_database_url)
    for migrate in (migrations.upgrade, lambda url: migrations.downgrade(url, "base", force=True)):
        with pytest.raises(SchemaOutdated, match=r"newer than this library .*: update the package"):
            migrate(fresh_database_url)


def test_a_downgrade_that_would_lose_the_ledger_is_refused_unless_forced(fresh_database_url: str) -> None:
    migrations.upgrade(fresh_database_url)
    fill(fresh_database_url)
    with pytest.raises(Conflict, match="would destroy the ledger"):
        migrations.downgrade(fresh_database_url, "base")
    assert rows(fresh_database_url, "select count(*) from engram.agent_events") == [(1,)]
    assert migrations.current(fresh_database_url) == migrations.head()
    migrations.downgrade(fresh_database_url, "-1", force=True)
    assert rows(fresh_database_url, "select count(*) from engram.agent_events") == [(0,)]
    migrations.upgrade(fresh_database_url)
    migrations.check(fresh_database_url)


def test_a_later_revision_goes_up_and_down_on_filled_tables_with_every_row_kept(
    fresh_database_url: str, scripts: Path
) -> None:
    migrations.upgrade(fresh_database_url, scripts=scripts)
    fill(fresh_database_url)
    before, events = catalogue(fresh_database_url), rows(fresh_database_url, "select * from engram.agent_events")
    # A build that died leaves an invalid index: made here by one that cannot be unique.
    with pytest.raises(psycopg.errors.UniqueViolation):
        run(
            fresh_database_url,
            "insert into engram.memory_scopes (tenant_id, namespace, agent_id) values ('t', 'n', 'b')",
            "create unique index concurrently added_later on engram.memory_scopes (namespace)",
        )
    add_revision(
        scripts,
        """migrations.run_sql(op, "alter table engram.memory_scopes add note text default '%s 100% :x'; "
            "comment on column engram.memory_scopes.note is 'a;b'")
    migrations.concurrent_index(op, "added_later",
        "create index concurrently added_later on engram.memory_scopes (namespace)")""",
        """migrations.run_sql(op, "drop index engram.added_later; alter table engram.memory_scopes drop note")""",
    )
    for _ in range(2):
        migrations.upgrade(fresh_database_url, scripts=scripts)
        index = [row for row in catalogue(fresh_database_url)["indexes"] if row[0] == "added_later"]
        assert [(row[2], "UNIQUE" in row[1]) for row in index] == [(True, False)]
        assert rows(fresh_database_url, "select distinct note from engram.memory_scopes") == [("%s 100% :x",)]
        migrations.downgrade(fresh_database_url, "-1", scripts=scripts)
        assert catalogue(fresh_database_url) == before
        assert rows(fresh_database_url, "select * from engram.agent_events") == events


def test_a_revision_that_fails_leaves_nothing_and_says_where(fresh_database_url: str, scripts: Path) -> None:
    migrations.upgrade(fresh_database_url, scripts=scripts)
    before = catalogue(fresh_database_url)
    (scripts / "ddl" / "9000").mkdir()
    (scripts / "ddl" / "9000" / "010_first.sql").write_text("create table engram.first (a int);")
    (scripts / "ddl" / "9000" / "020_second.sql").write_text("create table engram.second (a no_such_type);")
    add_revision(scripts, "import pathlib; migrations.run_ddl(op, pathlib.Path(__file__).parents[1] / 'ddl' / '9000')")
    with pytest.raises(Unavailable, match=r'(?s)type "no_such_type" does not exist.*in migration 9000/020_second.sql'):
        migrations.upgrade(fresh_database_url, scripts=scripts)
    assert catalogue(fresh_database_url) == before
    assert migrations.current(fresh_database_url) == migrations.head()


def test_a_migration_waits_for_a_lock_in_short_tries_until_it_gets_it(fresh_database_url: str, scripts: Path) -> None:
    migrations.upgrade(fresh_database_url, scripts=scripts)
    add_revision(scripts, """migrations.run_sql(op, "alter table engram.memory_scopes add note text")""")
    held = psycopg.connect(plain(fresh_database_url))
    held.execute("select from engram.memory_scopes")  # a forgotten transaction: its lock bars every ALTER
    release = threading.Timer(1.4, held.close)
    release.start()
    migrations.upgrade(fresh_database_url, scripts=scripts)
    release.join()
    assert migrations.current(fresh_database_url) == migrations.head(scripts=scripts)


@pytest.mark.parametrize("revision", ["0007", "0008", "0009", "0019", "0021", "0025"])
def test_indexes_of_large_tables_are_built_without_anybody_waiting(fresh_database_url: str, revision: str) -> None:
    """A statement that waits for a lock of the whole table makes every writer wait behind it."""
    migrations.upgrade(fresh_database_url, f"{int(revision) - 1:04}")
    wrote = [
        f"update engram.{table} set tenant_id = tenant_id where false"
        for table in ("agent_memory", "agent_events", "memory_changes")
    ]
    held = psycopg.connect(plain(fresh_database_url))
    held.execute("; ".join(wrote))  # type: ignore[arg-type]  # a long transaction, for which the migration waits
    migrator = threading.Thread(target=migrations.upgrade, args=(fresh_database_url, revision))
    migrator.start()
    try:
        waiting = "select from pg_stat_activity where application_name = 'engram migrate' and wait_event_type = 'Lock'"
        while not rows(fresh_database_url, waiting):
            assert migrator.is_alive()
        run(fresh_database_url, "set lock_timeout = '100ms'", *wrote * 20)
    finally:
        held.close()
        migrator.join()
    assert migrations.current(fresh_database_url) == revision


def test_a_migration_killed_between_an_index_and_its_name_is_finished_by_the_next(fresh_database_url: str) -> None:
    migrations.upgrade(fresh_database_url)
    done = catalogue(fresh_database_url)
    run(
        fresh_database_url,
        "drop schema engram cascade",
        f"delete from {migrations.VERSION_SCHEMA}.{migrations.VERSION_TABLE}",
    )
    migrations.upgrade(fresh_database_url, "0008")
    run(
        fresh_database_url,
        "alter index engram.agent_memory_until rename to agent_memory_until_next",
        "drop index engram.agent_memory_valid",
    )
    migrations.upgrade(fresh_database_url)
    assert catalogue(fresh_database_url) == done


def test_four_migrators_at_once_make_one_schema(fresh_database_url: str) -> None:
    script = "import sys; from engram import migrations; migrations.upgrade(sys.argv[1])"
    command = [sys.executable, "-W", "error", "-c", script, fresh_database_url]
    running = [subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    failures = [process.communicate(timeout=60)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0, 0], failures
    migrations.check(fresh_database_url)


def test_a_killed_migrator_leaves_a_database_the_next_one_finishes(fresh_database_url: str, scripts: Path) -> None:
    migrations.upgrade(fresh_database_url, scripts=scripts)
    add_revision(scripts, """migrations.run_sql(op, "create table engram.half (); select pg_sleep(0.5)")""")
    script = (
        "import sys, pathlib; from engram import migrations;"
        "migrations.upgrade(sys.argv[1], scripts=pathlib.Path(sys.argv[2]))"
    )
    command = [sys.executable, "-c", script, fresh_database_url, str(scripts)]
    with subprocess.Popen(command, cwd=REPOSITORY) as process:
        at_work = "select from pg_stat_activity where query like 'create table engram.half%'"
        while not rows(fresh_database_url, at_work):
            assert process.poll() is None
        process.kill()
    assert migrations.current(fresh_database_url) == migrations.head()
    migrations.upgrade(fresh_database_url, scripts=scripts)
    assert migrations.current(fresh_database_url) == migrations.head(scripts=scripts)


def test_a_migration_leaves_the_logging_of_the_program_alone(fresh_database_url: str) -> None:
    def state() -> list[tuple[int, int]]:
        loggers = [logging.getLogger(name) for name in (None, "alembic", "sqlalchemy", "engram")]
        return [(logger.level, len(logger.handlers)) for logger in loggers]

    before = state()
    migrations.upgrade(fresh_database_url)
    after = state()
    assert after == before


def test_alembics_own_command_line_finds_the_database_in_the_environment(fresh_database_url: str) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.endswith(("DATABASE_URL", "MIGRATION_URL"))}
    command = [sys.executable, "-m", "alembic", "upgrade", "head"]
    lost = subprocess.run(command, cwd=REPOSITORY, env=clean, capture_output=True, text=True, check=False)
    assert "Set ENGRAM_MIGRATION_URL or DATABASE_URL" in lost.stderr
    found = clean | {"DATABASE_URL": plain(fresh_database_url)}
    done = subprocess.run(command, cwd=REPOSITORY, env=found, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    migrations.check(fresh_database_url)


def test_alembics_own_command_line_waits_for_another_migrator(fresh_database_url: str) -> None:
    command = [sys.executable, "-m", "alembic", "upgrade", "head"]
    found = os.environ | {"ENGRAM_MIGRATION_URL": plain(fresh_database_url)}
    polling = "select from pg_stat_activity where datname = current_database() and query like '%pg_try_advisory_lock(%'"
    with migrations.only_migrator(fresh_database_url):
        other = subprocess.Popen(command, cwd=REPOSITORY, env=found, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while len(rows(fresh_database_url, f"{polling} and pid <> pg_backend_pid()")) < 2:  # ours, and the other's
            assert other.poll() is None, "it migrated beside the other"
            time.sleep(0.05)
        assert migrations.current(fresh_database_url) is None
    assert other.communicate() == (b"", b"")
    assert other.returncode == 0
    migrations.check(fresh_database_url)


def test_an_address_that_is_none_is_a_settings_error_without_the_address() -> None:
    with pytest.raises(SettingsError, match="expected a URL such as") as caught:
        migrations.current("secret without a scheme")
    assert "secret" not in str(caught.value)


@pytest.fixture(scope="module")
def untouched(major: int) -> Iterator[EmbeddedServer]:
    """A server whose cluster has none of Engram's roles yet, and one user who may make databases and roles."""
    folder = Path(tempfile.mkdtemp(prefix="engram-test-", dir="/tmp"))
    folder.chmod(0o755)
    with embedded.start(folder / "data", major=major) as server:
        run(
            server.superuser_url,
            "create role manager login createrole nosuperuser",
            "create role assistant login",
            "create database managed owner manager",
            "create database assisted owner assistant",
        )
        yield server
    shutil.rmtree(folder)


def test_a_manager_who_is_no_superuser_makes_the_same_schema(untouched: EmbeddedServer) -> None:
    url = untouched.url("manager", "managed")
    with pytest.raises(SettingsError, match="let an administrator install it"):
        migrations.upgrade(url)
    run(untouched.url("postgres", "managed"), "create extension vector")
    migrations.upgrade(url)
    assert migrations.current(untouched.url("engram_app", "managed")) == migrations.head()
    migrations.upgrade(untouched.superuser_url)
    theirs, ours = catalogue(url), catalogue(untouched.superuser_url)
    for name in CATALOGUE:
        assert theirs[name] == ours[name], name
    migrations.downgrade(url, "-1")
    migrations.upgrade(url)
    assert catalogue(url) == theirs

    # The roles are there now, made by somebody else: a database owner without CREATEROLE needs to be let in.
    assisted = untouched.url("assistant", "assisted")
    run(untouched.url("postgres", "assisted"), "create extension vector")
    with pytest.raises(SettingsError, match="be granted engram_migrator and engram_app"):
        migrations.upgrade(assisted)
    run(untouched.superuser_url, "grant engram_migrator, engram_app to assistant")
    migrations.upgrade(assisted)
    assert catalogue(assisted) == ours
