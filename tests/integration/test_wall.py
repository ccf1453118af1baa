"""The tenant wall in the database itself: what it is made of, and that each of its two locks holds alone.

One lock is the tenant in every statement, the other forced row-level security. The tests take one away, and look.
"""

from __future__ import annotations

import re
import sys
import uuid
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Final

import psycopg
import pytest

from engram import Engram, Scope
from engram import database as databases
from engram.database import Database
from engram.embedded import EmbeddedServer

TABLES: Final = """
SELECT c.relname AS name, c.relkind AS kind, c.relispartition AS part,
       EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id') AS walled
  FROM pg_class c WHERE c.relnamespace = 'engram'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
"""
LEDGER: Final = ("agent_events", "agent_event_payloads", "event_streams")
ROLES: Final = ("engram_owner", "engram_app", "engram_scheduler", "engram_migrator")


class Letters:
    """An embedder that counts letters."""

    name, dimensions, max_tokens = "letters", 8, None

    def embed(self, texts: Any, kind: str) -> Any:
        assert kind in ("passage", "query")
        return [[1.0 + text.count(letter) for letter in "aeioustr"] for text in texts]


@pytest.fixture
def behind(server: EmbeddedServer, database_url: str) -> Iterator[psycopg.Connection[Any]]:
    """The superuser's view of the migrated database."""
    assert database_url
    with psycopg.connect(server.url(user="postgres").replace("+psycopg", ""), autocommit=True) as conn:
        yield conn


def rows(conn: psycopg.Connection[Any], query: str, *params: Any) -> list[Any]:
    return conn.execute(query.encode(), params or None).fetchall()


def fill(door: Engram) -> str:
    """At least one row in every table a door writes to; a word that stands in them."""
    door.remember("I live in Ottawa. My boat is blue.", session_id="harbour")
    door.record_event("The keel was painted", task_run_id=str(uuid.uuid4()))
    made = door.add("The harbour code is 4711", topic_key="code", critical_slot="fact:code")
    assert made.memory is not None
    door.revise(made.memory.memory_id, "The harbour code is 4712")
    door.add("The pier closes at nine", parent_id=made.memory.memory_id)
    return made.memory.memory_id


# What is seen without a tenant ----------------------------------------------------------------------------------------


def test_every_table_and_view_is_empty_without_a_tenant_and_for_another_one(
    database_url: str, tenant: str, behind: psycopg.Connection[Any]
) -> None:
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder=Letters()) as door:
        fill(door)
    names = [row[0] for row in rows(behind, TABLES) if row[3]]
    assert len(names) > 20
    filled = 0
    with psycopg.connect(database_url.replace("+psycopg", "")) as conn:
        for name in names:
            [(there,)] = rows(behind, f"SELECT count(*) FROM engram.{name} WHERE tenant_id = %s", tenant)
            filled += there > 0
            for setting in (None, "", tenant.upper(), f"{tenant}'", f"t-{uuid.uuid4().hex[:16]}"):
                if setting is not None:
                    conn.execute("SELECT set_config('engram.tenant_id', %s, true)", (setting,))
                assert rows(conn, f"SELECT count(*) FROM engram.{name}") == [(0,)], (name, setting)
                conn.rollback()
            conn.execute("SELECT set_config('engram.tenant_id', %s, true)", (tenant,))
            assert rows(conn, f"SELECT count(*) FROM engram.{name}") == [(there,)], f"{name}: a tenant sees its own"
            conn.rollback()
    assert filled > 15


def test_no_row_of_another_tenant_can_be_written_moved_or_referred_to(
    database_url: str, tenant: str, behind: psycopg.Connection[Any]
) -> None:
    other = f"t-{uuid.uuid4().hex[:16]}"
    with Engram(database_url, scope=Scope(tenant), embedder=Letters()) as door:
        fill(door)
    with psycopg.connect(database_url.replace("+psycopg", "")) as conn:
        for query in (
            "INSERT INTO engram.memory_scopes (tenant_id, namespace, agent_id) VALUES (%(tenant)s, 'x', 'x')",
            "UPDATE engram.memory_scopes SET tenant_id = %(other)s",
            "INSERT INTO engram.memory_actors (tenant_id, scope_id, actor) VALUES (%(tenant)s, 1, 'x')",
        ):
            mover = tenant if query.startswith("UPDATE") else other
            conn.execute("SELECT set_config('engram.tenant_id', %s, true)", (mover,))
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute(query.encode(), {"tenant": tenant, "other": other})
            conn.rollback()
        for query in ("UPDATE engram.agent_memory SET fact = 'x'", "DELETE FROM engram.memory_lexemes"):
            conn.execute("SELECT set_config('engram.tenant_id', %s, true)", (other,))
            assert conn.execute(query.encode()).rowcount == 0
            conn.rollback()
    [(there,)] = rows(behind, "SELECT count(*) FROM engram.agent_memory WHERE tenant_id = %s AND fact = 'x'", tenant)
    assert there == 0


def test_functions_that_run_as_their_owner_do_nothing_without_a_tenant(
    server: EmbeddedServer, database_url: str, tenant: str
) -> None:
    with Engram(database_url, scope=Scope(tenant), embedder=Letters()) as door:
        fill(door)
        event = door.list_events()[0]
        named = "ARRAY[" + ", ".join(f"'{one.memory_id}'" for one in door.list_memories()) + "]::uuid[]"
    with psycopg.connect(server.superuser_url.replace("+psycopg", "")) as conn:
        scopes = "SELECT min(scope_id), max(scope_id) FROM engram.memory_scopes WHERE tenant_id = %s"
        first, last = conn.execute(scopes, (tenant,)).fetchone() or (0, 0)
    below = max(1, first - 300)  # among the scopes of others
    numbers, many = f"generate_series({below}, {last + 100})", last + 101 - below
    everything = f"ARRAY(SELECT {numbers})::bigint[]"
    each = f"SELECT array_agg('''' || n || ':harbour''' ORDER BY n) FROM {numbers} n"
    flags, counts = f"array_fill(true, ARRAY[{many}])", f"array_fill(1, ARRAY[{many}])"
    scored = (
        f"SELECT w.memory_id FROM ({each}) t(terms), unnest(engram.score_words({everything}, {everything}, t.terms,"
        f" t.terms, t.terms, {flags}, {counts}, array_fill(false, ARRAY[{many}]), 1, 100, 100, {named})) w"
    )
    words = f"array_fill('harbour'::text, ARRAY[{many}])"
    counted = f"SELECT f.* FROM engram.lexeme_frequencies({everything}, {words}, 100) f"
    with psycopg.connect(database_url.replace("+psycopg", "")) as conn:
        for setting in ("", "t-somebody-else"):
            conn.execute("SELECT set_config('engram.tenant_id', %s, true)", (setting,))
            every = f"(SELECT string_agg('''' || n || ':harbour''', ' | ') FROM {numbers} n)::tsquery"
            assert rows(conn, f"SELECT memory_id FROM engram.lexeme_matches({everything}, {every}, 100)") == []
            assert rows(conn, f"SELECT engram.lexeme_frequency({everything}, {every}, 100)") == [(0,)]
            assert rows(conn, scored) == []
            assert rows(conn, counted) == [("harbour", 0)]
            assert rows(conn, f"SELECT memory_id FROM engram.memories_at({everything}, now(), now())") == []
            with pytest.raises(psycopg.Error) as caught:
                conn.execute(
                    "SELECT engram.redact_event(%s::uuid, gen_random_uuid(), 0::smallint, null, '', '', null, null)",
                    (event.event_id,),
                )
            assert caught.value.sqlstate in ("42501", "P0002")
            conn.rollback()
        conn.execute("SELECT set_config('engram.tenant_id', %s, true)", (tenant,))
        assert rows(conn, scored)
        assert rows(conn, counted) > [("harbour", 0)]


# What the wall is made of ---------------------------------------------------------------------------------------------


def test_every_table_with_a_tenant_has_forced_row_security_and_a_policy_with_both_clauses(
    behind: psycopg.Connection[Any],
) -> None:
    tables = rows(
        behind,
        "SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity,"
        " (SELECT array_agg(pg_get_expr(p.polqual, p.polrelid) || ' / ' || pg_get_expr(p.polwithcheck, p.polrelid))"
        "    FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'tenant' AND p.polcmd = '*'"
        "     AND p.polroles = '{0}' AND p.polpermissive)"
        " FROM pg_class c WHERE c.relnamespace = 'engram'::regnamespace AND c.relkind IN ('r', 'p')",
    )
    walled = {row[0] for row in rows(behind, TABLES) if row[3] and row[1] in ("r", "p")}
    assert {name for name, *_ in tables} - walled == {"alembic_version"} & {name for name, *_ in tables}
    clause = "(tenant_id = ( SELECT engram.current_tenant() AS current_tenant))"
    for name, enabled, forced, policies in tables:
        if name in walled:
            assert (enabled, forced, policies) == (True, True, [f"{clause} / {clause}"]), name


def test_the_only_policies_that_look_over_the_wall_are_for_roles_that_cannot_log_in(
    behind: psycopg.Connection[Any],
) -> None:
    wide = rows(
        behind,
        "SELECT tablename, policyname, roles::text, cmd FROM pg_policies"
        " WHERE schemaname = 'engram' AND policyname <> 'tenant' AND permissive = 'PERMISSIVE' ORDER BY 1",
    )
    assert wide == [
        ("agent_memory", "scheduler", "{engram_scheduler}", "SELECT"),
        ("cycle_looks", "scheduler", "{engram_scheduler}", "ALL"),
        ("event_lexemes", "owner_reads", "{engram_owner}", "SELECT"),
        ("job_turns", "scheduler", "{engram_scheduler}", "ALL"),
        ("memory_changes", "scheduler", "{engram_scheduler}", "SELECT"),
        ("memory_jobs", "scheduler", "{engram_scheduler}", "ALL"),
        ("memory_lexemes", "owner_reads", "{engram_owner}", "SELECT"),
        ("memory_scopes", "scheduler", "{engram_scheduler}", "SELECT"),
        ("recall_log", "scheduler", "{engram_scheduler}", "ALL"),
    ]
    assert rows(behind, "SELECT rolname FROM pg_roles WHERE rolname = ANY(%s) AND rolcanlogin", list(ROLES)) == [
        ("engram_app",)
    ]


def test_every_key_begins_with_the_tenant(behind: psycopg.Connection[Any]) -> None:
    keys = rows(
        behind,
        "SELECT c.conrelid::regclass::text, c.conname, c.contype, a.attname, f.attname FROM pg_constraint c"
        " JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]"
        " LEFT JOIN pg_attribute f ON f.attrelid = c.confrelid AND f.attnum = c.confkey[1]"
        " WHERE c.connamespace = 'engram'::regnamespace AND c.contype IN ('p', 'u', 'f')"
        "   AND c.conrelid <> coalesce(to_regclass('engram.alembic_version'), 0)",
    )
    assert len(keys) > 30
    assert [key for key in keys if key[3] != "tenant_id" or key[4] not in (None, "tenant_id")] == []
    unique = rows(
        behind,
        "SELECT i.indexrelid::regclass::text, a.attname FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid"
        " LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]"
        " WHERE i.indisunique AND c.relnamespace = 'engram'::regnamespace AND c.relname <> 'alembic_version'",
    )
    assert len(unique) > 20
    assert [index for index in unique if index[1] != "tenant_id"] == []


def test_every_view_asks_as_whoever_asks_it(behind: psycopg.Connection[Any]) -> None:
    views = rows(
        behind,
        "SELECT relname, reloptions FROM pg_class"
        " WHERE relnamespace = 'engram'::regnamespace AND relkind IN ('v', 'm')",
    )
    assert len(views) > 5
    assert [name for name, options in views if "security_invoker=true" not in (options or [])] == []


def test_the_application_owns_nothing_and_no_role_passes_the_wall_by(behind: psycopg.Connection[Any]) -> None:
    assert (
        rows(behind, "SELECT rolname FROM pg_roles WHERE rolname = ANY(%s) AND (rolbypassrls OR rolsuper)", list(ROLES))
        == []
    )
    owned = rows(
        behind,
        "SELECT relname FROM pg_class WHERE relowner = 'engram_app'::regrole"
        " UNION ALL SELECT proname FROM pg_proc WHERE proowner = 'engram_app'::regrole"
        " UNION ALL SELECT nspname FROM pg_namespace WHERE nspowner = 'engram_app'::regrole",
    )
    assert owned == []
    owners = rows(
        behind,
        "SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class WHERE relnamespace = 'engram'::regnamespace"
        " AND relname <> 'alembic_version' AND relname <> 'alembic_version_pkc'",
    )
    assert owners == [("engram_owner",)]
    memberships = rows(
        behind,
        "SELECT pg_get_userbyid(roleid) FROM pg_auth_members WHERE member = 'engram_app'::regrole",
    )
    assert memberships == []


def test_the_application_may_not_change_the_ledger_nor_truncate_anything(behind: psycopg.Connection[Any]) -> None:
    held = {
        (row[0], row[1])
        for row in rows(
            behind,
            "SELECT c.relname, g.privilege_type FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) g"
            " WHERE c.relnamespace = 'engram'::regnamespace AND c.relkind IN ('r', 'p', 'v')"
            "   AND g.grantee IN (0, 'engram_app'::regrole)",
        )
    }
    assert {right for _, right in held} <= {"SELECT", "INSERT", "UPDATE", "DELETE"}
    for name in LEDGER:
        assert {right for table, right in held if table == name} == {"SELECT"}, name
    columns = rows(
        behind,
        "SELECT attrelid::regclass::text, attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
        " WHERE c.relnamespace = 'engram'::regnamespace AND a.attacl IS NOT NULL",
    )
    # What an erasure blanks in the history and in checkpoints, what the purge sees of the log, and nothing else.
    assert set(columns) == {
        *(("engram.memory_changes", column) for column in ("state", "decision", "reason", "because")),
        ("engram.agent_checkpoints", "body"),
        *(("engram.recall_log", column) for column in ("tenant_id", "recall_id", "recorded_at")),
        # What finds the scopes that are due sees numbers and times, and no words.
        *(("engram.memory_changes", column) for column in ("tenant_id", "change_id", "scope_id", "run_id", "entry")),
        *(("engram.memory_scopes", column) for column in ("tenant_id", "scope_id", "cycled_change_id", "shelf_of")),
        *(
            ("engram.agent_memory", column)
            for column in ("tenant_id", "scope_id", "status", "expires_at", "critical_slot", "category")
        ),
    }
    assert rows(behind, "SELECT has_schema_privilege('engram_app', 'engram', 'CREATE')") == [(False,)]


def test_functions_that_run_as_their_owner_have_a_fixed_path_and_are_not_for_everyone(
    behind: psycopg.Connection[Any],
) -> None:
    functions = rows(
        behind,
        "SELECT p.proname, p.proconfig, EXISTS (SELECT"
        " FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g WHERE g.grantee = 0),"
        " pg_get_userbyid(p.proowner)"
        " FROM pg_proc p WHERE p.pronamespace = 'engram'::regnamespace AND p.prosecdef",
    )
    assert len(functions) >= 7
    for name, config, public, owner in functions:
        paths = [one for one in config or [] if one.startswith("search_path=")]
        assert paths, name
        assert re.fullmatch(r"search_path=(engram|pg_catalog), pg_temp", paths[0]), name
        assert not public, f"{name} may be run by anyone"
        assert owner in ("engram_owner", "engram_scheduler"), name


# Who runs the queries -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("login", ["engram_app", "postgres"])
def test_every_transaction_runs_as_the_application_whoever_logs_in(
    server: EmbeddedServer, database_url: str, tenant: str, settings: Any, login: str
) -> None:
    assert database_url
    database = Database(server.url(user=login), settings)
    look = "SELECT current_user, session_user, current_setting('is_superuser'), current_setting('engram.tenant_id')"
    for read_only in (False, True):
        found = database.run(tenant, lambda conn: tuple(conn.exec_driver_sql(look).one()), read_only=read_only)
        assert found == ("engram_app", login, "off", tenant)
    with database.transaction(tenant) as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM engram.memory_scopes").scalar_one() == 0
    with database.engine.connect() as conn:
        assert conn.exec_driver_sql("SELECT current_user").scalar_one() == login, "and only for its length"
    database.close()


async def test_every_asynchronous_transaction_runs_as_the_application(
    server: EmbeddedServer, database_url: str, tenant: str, settings: Any
) -> None:
    assert database_url
    database = Database(server.url(user="postgres"), settings)
    found = await database.run_async(tenant, lambda conn: conn.exec_driver_sql("SELECT current_user").scalar_one())
    assert found == "engram_app"
    await database.close_async()


# One lock taken away --------------------------------------------------------------------------------------------------

PREDICATE: Final = re.compile(
    r"(?:\b\w+\.)?tenant_id = (?:%\(tenant_id\)s|engram\.current_tenant\(\)|\w+\.tenant_id)(?=\s|\)|$)"
)


def without_predicate(name: str, text: str) -> str:
    """A statement that has forgotten its tenant; what writes keeps it, for the sake of its columns."""
    del name
    return PREDICATE.sub("TRUE", text)


def reads(door: Engram, memory_id: str) -> list[Any]:
    """What a door finds by every road, given the id of a memory."""

    def attempt(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as error:
            return type(error).__name__

    return [
        attempt(call)
        for call in (
            lambda: list(door.list_memories()), lambda: door.find(memory_id), lambda: door.get(memory_id),
            lambda: door.get_lineage(memory_id), lambda: door.get_lineage(topic_key="code"),
            lambda: list(door.get_history()), lambda: list(door.search("The harbour code")),
            lambda: list(door.search("The harbour code", mode="semantic")), lambda: door.recall_critical().results,
            lambda: door.recall("What is the harbour code?").evidence, lambda: door.list_events(),
            lambda: door.list_events(session_id="harbour"), lambda: door.build_context("harbour code").citations,
            lambda: door.explain_memory(memory_id), lambda: door.stats().memories,
        )
    ]  # fmt: skip


EMPTY: Final[list[Any]] = [
    [], None, "NotFound", "NotFound", "NotFound", [], [], [], (), (), (), (), {}, "NotFound", 0,
]  # fmt: skip


def test_statements_that_forget_the_tenant_still_find_nothing_of_another(
    database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engram(database_url, embedder=Letters()) as base:
        theirs, mine = base.scoped(tenant_id=tenant), base.scoped(tenant_id=f"t-{uuid.uuid4().hex[:16]}")
        memory_id = fill(theirs)
        whole = databases.statement
        forgotten: set[str] = set()

        def forgetful(name: str) -> str:
            text = whole(name)
            changed = without_predicate(name, text)
            forgotten.update({name} if changed != text else ())
            return changed

        rooms = [room for name, room in sys.modules.items() if name.startswith("engram.")]
        for room in rooms:
            if getattr(room, "statement", None) is whole:
                monkeypatch.setattr(room, "statement", forgetful)
            if hasattr(room, "VISIBLE"):
                monkeypatch.setattr(room, "VISIBLE", "TRUE")
        assert reads(mine, memory_id) == EMPTY
        assert {"find_scope", "load_memories"} & forgotten
        found = reads(theirs, memory_id)
        assert "harbour" in repr(found), "the forgetful statements do find what may be found"


def test_the_scopes_of_another_tenant_are_visible_to_nobody(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), embedder="none") as door:
        door.add("The harbour is closed")
        asked = "SELECT count(*) FROM engram.visible_scopes(%s, '{default}', '{default}', 'ada', %s, %s)"
        for everyone, shelves in product((False, True), ("without", "with", "only")):
            for reader, rows in ((tenant, shelves != "only"), (f"{tenant}x", False)):
                with door._core.database().transaction(reader) as conn:
                    found = conn.exec_driver_sql(asked, (tenant, everyone, shelves)).scalar_one()
                assert bool(found) == rows


def test_without_row_security_the_statements_alone_find_nothing_of_another(
    migrated_database_url: str, tenant: str, settings: Any
) -> None:
    with psycopg.connect(migrated_database_url.replace("+psycopg", ""), autocommit=True) as conn:
        for name, kind, _, walled in rows(conn, TABLES):
            if walled and kind in ("r", "p"):
                conn.execute(f"ALTER TABLE engram.{name} NO FORCE ROW LEVEL SECURITY".encode())
                conn.execute(f"ALTER TABLE engram.{name} DISABLE ROW LEVEL SECURITY".encode())
    with Engram(migrated_database_url, embedder=Letters(), settings=settings) as base:
        theirs, mine = base.scoped(tenant_id=tenant), base.scoped(tenant_id="another")
        memory_id = fill(theirs)
        with base._core.database().transaction("another") as other:
            seen = other.exec_driver_sql("SELECT count(*) FROM engram.agent_memory").scalar_one()
        assert seen > 0, "the wall is down"
        assert reads(mine, memory_id) == EMPTY
        for change in (
            lambda: mine.revise(memory_id, "x"), lambda: mine.forget(memory_id),
            lambda: mine.annotate(memory_id, tags=[]), lambda: mine.add("x", parent_id=memory_id),
            lambda: mine.ops.redact_event(theirs.list_events()[0].event_id),
        ):  # fmt: skip
            with pytest.raises(LookupError):
                change()
        assert mine.ops.run_jobs() == 0
        assert mine.ops.verify_ledger().events == 0
        before = [theirs.get_lineage(memory_id).revisions, tuple(theirs.get_history()), theirs.list_events()]
        fill(mine)
        after = [theirs.get_lineage(memory_id).revisions, tuple(theirs.get_history()), theirs.list_events()]
        assert after == before, "the same, written by another, touches nothing"
        assert reads(mine, memory_id)[1] is None
