"""Health: how well a process serves a tenant, by tiers, also where the database or a model is out."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest
from angles import Angles
from sqlalchemy import make_url

from engram import AsyncEngram, Engram, InvalidInput, Scope, Unavailable, database
from engram.embedded import EmbeddedServer
from engram.errors import ModelRejected
from engram.ids import new_id
from engram.settings import load
from engram.testing import ScriptedModel

pytestmark = pytest.mark.usefixtures("durable")
NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"


class Moody(Angles):
    """An embedder that counts how often it is asked, and may be out."""

    out, asked = False, 0

    def embed(self, texts: Sequence[str], kind: Any) -> Any:
        self.asked += 1
        if self.out:
            raise Unavailable("the embedding model is out")
        return super().embed(texts, kind)


def bad(health: Any) -> list[str]:
    return [check.name for check in health.checks if not check.ok]


def test_what_is_well_is_served_in_full_and_what_waits_is_told(database_url: str, tenant: str) -> None:
    with Engram(database_url, settings=load({}, dispatch="doorbell"), scope=Scope(tenant, user_id="ada")) as door:
        door.add("User likes tea")
        health = door.health()
        assert (health.ok, health.tier, bad(health)) == (True, "full", [])
        assert (health.backlog_age, health.dead_jobs, health.unembedded, health.chain_checked_at) == (0.0, 0, 0, None)
        assert health.schema_revision is not None
        assert {"database", "pgvector", "schema", "embedder", "language models", "doorbell"} <= {
            check.name for check in health.checks
        }
        door.remember("I like milk")
        assert door.ops.verify_ledger().ok
        later = door.health()
        assert later.backlog_age is not None
        assert later.backlog_age > 0
        assert later.chain_checked_at is not None
        assert json.loads(json.dumps(later.to_dict()))["tier"] == "full"
        with pytest.raises(InvalidInput):
            door.health(probe_embedder="yes")  # type: ignore[arg-type]


def test_memories_from_before_the_tenant_had_a_model_are_told_of_until_they_have_vectors(
    database_url: str, tenant: str
) -> None:
    with Engram(database_url, settings=load({}), scope=Scope(tenant), embedder="none") as door:
        door.add("Feline pets sleep all day")
        forgotten = door.add("The sea is blue").memory
        assert forgotten is not None
        door.forget(forgotten.memory_id)
        assert "older memories" not in {one.name for one in door.ops.doctor().checks}
    with Engram(database_url, settings=load({}), scope=Scope(tenant)) as door:
        assert "older memories" not in {one.name for one in door.ops.doctor().checks}, "it has no model yet"
        door.add("Grass is green")
        [older] = [one for one in door.ops.doctor().checks if one.name == "older memories"]
        model = door.ops.list_models()[0].name
        assert (older.ok, older.repair) == (False, f"engram reembed --model {model}")
        assert older.detail.startswith("1 memories from before")
        door.ops.reembed(model)
        assert "older memories" not in {one.name for one in door.ops.doctor().checks}
        found = [one.memory.fact for one in door.search("cats at rest", mode="semantic")]
        assert "Feline pets sleep all day" in found


@pytest.mark.parametrize("door", ["threads", "event loops"])
def test_a_server_that_could_write_nothing_lately_serves_no_writes(
    server: EmbeddedServer, migrated_database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    function = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS"
    with psycopg.connect(migrated_database_url.replace("+psycopg", ""), autocommit=True) as conn:
        conn.execute(f"{function} $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$")
        conn.execute("CREATE TRIGGER full_disk BEFORE INSERT ON engram.agent_events EXECUTE FUNCTION full_disk()")
    url = server.url(database=make_url(migrated_database_url).database)

    async def refused() -> None:
        async with AsyncEngram(url, settings=load({}), scope=Scope(tenant), embedder="none") as memory:
            with pytest.raises(Unavailable, match="PostgreSQL cannot write"):
                await memory.add("User likes tea")

    with Engram(url, settings=load({}), scope=Scope(tenant), embedder="none") as memory:
        assert memory.health().tier == "full"
        if door == "threads":
            with pytest.raises(Unavailable, match="PostgreSQL cannot write"):
                memory.add("User likes tea")
        else:
            asyncio.run(refused())
        health = memory.health()
        assert (health.tier, bad(health), health.ok) == ("read_only", ["database"], False)
        assert health.checks[0].repair == "make room on its disk, and look into its log"
        assert not memory.ops.doctor().ok
        with monkeypatch.context() as later:
            later.setattr(database, "REFUSED_FOR", 0.0)
            assert memory.health().tier == "full", "nobody has tried for a minute"
        assert memory.health().tier == "read_only"
        with psycopg.connect(migrated_database_url.replace("+psycopg", ""), autocommit=True) as conn:
            conn.execute("DROP TRIGGER full_disk ON engram.agent_events")
        memory.add("User likes tea")
        assert memory.health().tier == "full"


def test_each_tier_is_named_for_the_worst_that_is_out(database_url: str, tenant: str) -> None:
    embedder, model = Moody(), ScriptedModel(lambda _: "")
    with Engram(database_url, scope=Scope(tenant), embedder=embedder, llm=model) as door:
        door.add("User likes tea")
        assert door.health().tier == "full"
        models = door._setup.llm
        assert models is not None
        breaker = models.breaker(models.models()[0])
        breaker.note(ModelRejected("no such key", status=401))
        health = door.health()
        assert (health.tier, bad(health), health.ok) == ("no_llm", ["language models"], False)
        embedder.out = True
        asked = embedder.asked
        assert door.health(probe_embedder=False).tier == "no_llm"
        assert embedder.asked == asked
        assert (door.health().tier, bad(door.health())) == ("no_embedding", ["embedder", "language models"])
        breaker.note(None)
        embedder.out = False
        assert door.health().tier == "full"
    with Engram(
        database_url, settings=load({}, pool_size=1), scope=Scope(tenant), embedder=embedder
    ) as door:  # fmt: skip
        assert door.health().tier == "full"
        with door._core.database().engine.connect() as conn:  # as whoever sets the server so does to all of them
            conn.exec_driver_sql("SET default_transaction_read_only = on")
        health = door.health()
        assert (health.tier, bad(health)) == ("read_only", ["database"]), health


def test_a_database_that_is_down_is_an_answer_and_not_a_failure() -> None:
    async def asked() -> Any:
        async with AsyncEngram(NOWHERE) as door:
            return await door.health()

    with Engram(NOWHERE) as door:
        began = time.monotonic()
        health = door.health()
        assert time.monotonic() - began < 10
        assert (health.ok, health.tier, bad(health)) == (False, None, ["database"])
        assert "PostgreSQL did not answer" in health.checks[0].detail
        assert (health.backlog_age, health.dead_jobs, health.unembedded) == (None, None, None)
        assert asyncio.run(asked()) == health


def test_a_doctor_does_not_wait_for_a_database_that_is_down_once_a_check() -> None:
    """Eleven checks tried again for a quarter of a minute each, before the first word of any."""

    async def asked() -> Any:
        async with AsyncEngram(NOWHERE) as door:
            return await door.ops.doctor()

    with Engram(NOWHERE) as door:
        began = time.monotonic()
        report = door.ops.doctor()
        assert time.monotonic() - began < 10
        assert (report.ok, bad(report)) == (False, ["server"])
        assert [check.name for check in report.checks] == ["server", "language models", "doorbell"]
        assert "PostgreSQL did not answer" in report.checks[0].detail
        assert "DATABASE_URL" in str(report.checks[0].repair)
        assert asyncio.run(asked()) == report


def test_a_pool_that_is_used_up_is_no_database_that_is_down(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant), settings=load({}, pool_size=1)) as door:
        with door._core.database().transaction(tenant):  # somebody holds the only connection
            (check,) = [check for check in door.health().checks if not check.ok and check.name == "database"]
        assert "every connection of the pool" in check.detail
        assert "ENGRAM_POOL_SIZE" in str(check.repair)
        assert door.health().tier == "full"


def test_a_user_without_rights_is_told_of_the_grant_that_gives_them(server: EmbeddedServer, database_url: str) -> None:
    name = f"stranger_{new_id()[-12:]}"
    database = str(make_url(database_url).database)
    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
        conn.execute(f"create role {name} login")
        with Engram(server.url(name, database)) as door:
            health, report = door.health(), door.ops.doctor()
            assert (health.ok, bad(health)) == (False, ["database"])
            assert "grant engram_app" in str(health.checks[0].repair)
            assert any("grant engram_app" in str(check.repair) for check in report.checks)
            conn.execute(f"grant engram_app to {name}")
            assert door.health().tier == "full"


@pytest.mark.parametrize(
    ("broken", "name", "detail"),
    [
        ("ALTER ROLE engram_app BYPASSRLS", "role", "queries run as engram_app, which passes row-level security"),
        ("ALTER ROLE engram_app SUPERUSER", "role", "queries run as engram_app, a superuser"),
        ("ALTER TABLE engram.agent_memory NO FORCE ROW LEVEL SECURITY", "row-level security", "not forced on agent_m"),
        ("ALTER TABLE engram.agent_memory DISABLE ROW LEVEL SECURITY", "row-level security", "not forced on agent_m"),
        ("CREATE POLICY more ON engram.agent_memory USING (true)", "wall", "the policy more opens agent_memory"),
        (
            "CREATE POLICY more ON engram.agent_memory FOR INSERT TO engram_app WITH CHECK (true)",
            "wall",
            "the policy more opens agent_memory",
        ),
        ("GRANT UPDATE ON engram.agent_events TO engram_app", "wall", "engram_app may UPDATE agent_events"),
        ("GRANT DELETE ON engram.agent_event_payloads TO PUBLIC", "wall", "engram_app may DELETE agent_event_payloads"),
        (
            "ALTER TABLE engram.agent_events DISABLE TRIGGER refuse_rows",
            "wall",
            "the trigger refuse_rows of agent_events is switched off",
        ),
        ("GRANT engram_owner TO engram_app", "role", "queries run as engram_app, which may become engram_owner"),
        (
            "GRANT engram_owner, engram_migrator TO engram_app WITH INHERIT TRUE",
            "role",
            "queries run as engram_app, which may become engram_owner and engram_scheduler",
        ),
        ("ALTER TABLE engram.agent_memory OWNER TO postgres", "wall", "agent_memory is owned by postgres"),
    ],
)
def test_the_doctor_says_how_the_wall_is_broken_and_what_mends_it(
    migrated_database_url: str, tenant: str, broken: str, name: str, detail: str
) -> None:
    with (
        psycopg.connect(migrated_database_url.replace("+psycopg", ""), autocommit=True) as conn,
        Engram(str(make_url(migrated_database_url).set(username="engram_app")), scope=Scope(tenant)) as door,
    ):
        conn.execute(broken)  # type: ignore[arg-type]
        try:
            (check,) = [check for check in door.ops.doctor().checks if not check.ok]
            assert check.name == name
            assert check.detail.startswith(detail)
            assert check.repair is not None
            conn.execute(check.repair)  # type: ignore[arg-type]
            assert door.ops.doctor().ok
        finally:  # roles are of all databases
            conn.execute("ALTER ROLE engram_app NOSUPERUSER NOBYPASSRLS")
            conn.execute("REVOKE engram_owner, engram_migrator FROM engram_app")


@pytest.mark.parametrize(
    ("given", "passes"),
    [
        ("BYPASSRLS IN ROLE engram_app", "which passes row-level security"),
        ("IN ROLE engram_app, engram_owner", "which may become engram_owner"),
        ("IN ROLE engram_app, engram_migrator", "which may become engram_owner and engram_scheduler"),
    ],
)
def test_the_doctor_says_how_a_login_passes_the_wall(
    server: EmbeddedServer, database_url: str, given: str, passes: str
) -> None:
    name = f"auditor_{new_id()[-12:]}"
    with psycopg.connect(server.superuser_url.replace("+psycopg", ""), autocommit=True) as conn:
        conn.execute(f"CREATE ROLE {name} LOGIN {given}")  # type: ignore[arg-type]
    with Engram(server.url(name, str(make_url(database_url).database))) as door:
        (check,) = [check for check in door.ops.doctor().checks if not check.ok]
    assert (check.name, check.repair) == ("login", "log in as engram_app")
    assert check.detail == f"logged in as {name}, {passes}"
