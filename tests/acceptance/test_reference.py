"""The reference pages say what the code and the catalogue say: generated pages word by word, others line by line."""

from __future__ import annotations

import importlib.util
import re
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest
from test_docs import PAGES, ROOT, blocks

from engram import AsyncEngram, AsyncOps, Engram, Ops, Scope, errors, migrations
from engram.embedded import EmbeddedServer
from engram.settings import PREFIX, Settings, load

REFERENCE = ROOT / "docs" / "reference"
SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
COLUMN = re.compile(r"^\| `(\w+)` \| ([\w \[\]]+) \|", re.MULTILINE)


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """The script that writes the generated pages."""
    spec = importlib.util.spec_from_file_location("generate", REFERENCE / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def conn(database_url: str, tenant: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection as the application, in a transaction of the test's tenant."""
    with psycopg.connect(plainly(database_url)) as opened:
        opened.execute("select set_config('engram.tenant_id', %s, true)", (tenant,))
        yield opened


def plainly(url: str) -> str:
    return url.replace("postgresql+psycopg://", "postgresql://")


def test_the_generated_pages_are_what_the_code_says_now(generator: ModuleType) -> None:
    for name, text in generator.pages().items():
        assert (REFERENCE / name).read_text("utf-8") == text, f"{name} is out of date: run `make docs`"


@pytest.mark.parametrize("door", [Engram, AsyncEngram, Ops, AsyncOps])
def test_every_public_method_stands_on_the_page_with_its_first_sentence(door: type) -> None:
    page = (REFERENCE / "api.md").read_text("utf-8")
    names = [name for name in dir(door) if not name.startswith("_")]
    assert len(names) >= 4
    for name in names:
        section = re.search(rf"^### {name}\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
        assert section is not None, name
        first = " ".join((getattr(door, name).__doc__ or "").split("\n\n")[0].split())
        assert first, name
        assert first in section[1], name


def test_every_setting_has_a_row_with_a_meaning() -> None:
    page = (REFERENCE / "settings.md").read_text("utf-8")
    for name, field in Settings.model_fields.items():
        assert field.description, name
        row = next(line for line in page.splitlines() if line.startswith(f"| `{PREFIX}{name.upper()}`"))
        assert field.description in row


def test_every_error_has_a_row_with_its_code() -> None:
    page = (REFERENCE / "errors.md").read_text("utf-8")
    kinds = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.EngramError)]
    assert len(kinds) >= 14
    for kind in kinds:
        assert f"| `{kind.__name__}` | `{kind.code}` |" in page


def test_the_views_have_the_columns_that_are_listed(conn: psycopg.Connection[Any]) -> None:
    sections = dict(SECTION.findall((REFERENCE / "sql-views.md").read_text("utf-8")))
    there = conn.execute("select viewname from pg_views where schemaname = 'engram'").fetchall()
    assert {*sections} == {name for (name,) in there} | {"memories_as_of"}
    for name, text in sections.items():
        source = "memories_as_of(now())" if name == "memories_as_of" else name
        found = conn.execute(f"select * from engram.{source} limit 0").description or []
        types = [conn.execute("select format_type(%s, null)", (one.type_code,)).fetchone() for one in found]
        columns = [(one.name, kind[0]) for one, kind in zip(found, types, strict=True) if kind is not None]
        assert COLUMN.findall(text) == columns, name


def test_the_examples_of_the_views_find_what_a_memory_holds(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant)) as memory:
        fill(memory)
    with Engram(database_url, scope=Scope(tenant), settings=load({}, dispatch="doorbell")) as memory:
        memory.remember("I prefer tea.")
        memory.search("tea")
    page = REFERENCE / "sql-views.md"
    begin, *examples = [block.text for block in blocks(page) if block.language == "sql"]
    assert len(examples) == len(SECTION.findall(page.read_text("utf-8")))
    with psycopg.connect(plainly(database_url), autocommit=True) as conn:
        for statement in begin.replace("'default'", f"'{tenant}'").split(";")[:-1]:
            conn.execute(statement)
        for example in examples:
            assert conn.execute(example).fetchall(), example
        conn.execute("rollback")


def fill(memory: Engram) -> None:
    """Something for every view: a revision, a contested statement, a pinned memory."""
    since = datetime(2025, 1, 1, tzinfo=UTC)
    memory.remember("I live in Ottawa. I'm allergic to peanuts.", occurred_at=since)
    memory.add("The office is in Paris", topic_key="office")
    memory.add("The office is in Rome", topic_key="office")
    assert memory.add("The office is in Oslo", topic_key="office", trust="web").memory is not None


def test_the_views_show_nothing_without_a_tenant(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant)) as memory:
        fill(memory)
    with psycopg.connect(plainly(database_url), autocommit=True) as conn:
        for name, _ in SECTION.findall((REFERENCE / "sql-views.md").read_text("utf-8")):
            source = "memories_as_of(now())" if name == "memories_as_of" else name
            assert conn.execute(f"select * from engram.{source}").fetchall() == [], name


def test_every_table_is_listed_once(conn: psycopg.Connection[Any]) -> None:
    page = (REFERENCE / "schema.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert len(listed) == len({*listed})
    assert {*listed} == {*columns_by_table(conn)}


def test_the_diagram_of_the_tables_names_what_is_there(conn: psycopg.Connection[Any]) -> None:
    tables = columns_by_table(conn)
    diagram = next(one.text for one in blocks(REFERENCE / "schema.md") if one.text.startswith("erDiagram"))
    for left, right in re.findall(r"^ +(\w+) [|}o{]+--[|}o{]+ (\w+) :", diagram, re.MULTILINE):
        assert {left, right} <= {*tables}
    boxes = re.findall(r"^ +(\w+) \{\n(.*?)^ +\}", diagram, re.MULTILINE | re.DOTALL)
    assert len(boxes) == 3
    for name, body in boxes:
        assert {line.split()[1] for line in body.splitlines()} <= tables[name], name


def test_the_diagrams_of_the_states_name_the_states_of_the_database(conn: psycopg.Connection[Any]) -> None:
    memory, job = [one.text for one in blocks(REFERENCE / "schema.md") if one.text.startswith("stateDiagram")]
    assert states(memory) | {"quarantined"} == allowed(conn, "agent_memory", "status") | {"candidate"}
    assert states(job) == allowed(conn, "memory_jobs", "state")


def states(diagram: str) -> set[str]:
    arrows = re.findall(r"^ +(\S+) --> ([^\s:]+)", diagram, re.MULTILINE)
    return {state for arrow in arrows for state in arrow} - {"[*]"}


def allowed(conn: psycopg.Connection[Any], table: str, column: str) -> set[str]:
    """The words a column may hold, from its check constraint."""
    rows = conn.execute(
        "select pg_get_constraintdef(oid) from pg_constraint where contype = 'c' and conrelid = %s::regclass",
        (f"engram.{table}",),
    ).fetchall()
    chosen = [text for (text,) in rows if re.match(rf"CHECK \(\({column} = ANY", text)]
    assert len(chosen) == 1
    return {*re.findall(r"'(\w+)'", chosen[0])}


def columns_by_table(conn: psycopg.Connection[Any]) -> dict[str, set[str]]:
    rows = conn.execute(
        "select c.relname, array_agg(a.attname::text) from pg_class c join pg_attribute a on a.attrelid = c.oid"
        " where c.relnamespace = 'engram'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition"
        " and a.attnum > 0 and not a.attisdropped group by c.relname"
    ).fetchall()
    return {name: {*columns} for name, columns in rows}


@pytest.fixture
def server_of_ones_own(server: EmbeddedServer) -> Iterator[EmbeddedServer]:
    """A server on which nothing of Engram has ever been made: roles belong to the whole cluster."""
    folder = Path(tempfile.mkdtemp(prefix="engram-own-"))
    folder.chmod(0o755)
    with EmbeddedServer.start(folder / "data", major=server.major) as running:
        yield running
    shutil.rmtree(folder, ignore_errors=True)


def test_a_server_prepared_as_the_guide_says_works_without_a_superuser(
    server_of_ones_own: EmbeddedServer, tenant: str
) -> None:
    server = server_of_ones_own
    page = ROOT / "docs" / "how-to" / "use-your-own-postgresql.md"
    prepare, extension, later, login, empty, renumber = [one.text for one in blocks(page) if one.language == "sql"]
    run(server.url("postgres", "postgres"), prepare)
    run(server.url("postgres", "memories"), extension)
    migrations.upgrade(server.url("engram_admin", "memories"))
    run(server.url("postgres", "memories"), later)
    run(server.url("postgres", "memories"), login)
    migrations.upgrade(server.url("engram_admin", "memories"))
    for user in ("engram_app", "billing"):
        with Engram(server.url(user, "memories"), scope=Scope(tenant)) as memory:
            assert memory.add(f"{user} was here").kind == "add"
            report = memory.ops.doctor()
            assert report.ok, report
    # Its data moved to a server that is younger: numbered anew, the ledger is whole and is followed.
    run(server.url("postgres", "memories"), renumber)
    with Engram(server.url("engram_app", "memories"), scope=Scope(tenant)) as memory:
        assert memory.ops.doctor().ok
        assert memory.ops.verify_ledger().ok
        assert len(list(memory.follow(poll=0))) == 2
    run(server.url("postgres", "memories"), empty)
    migrations.upgrade(server.url("engram_admin", "memories"))
    with Engram(server.url("engram_app", "memories"), scope=Scope(tenant)) as memory:
        assert memory.stats().events == 0


def run(url: str, script: str) -> None:
    with psycopg.connect(plainly(url), autocommit=True) as conn:
        for statement in script.split(";")[:-1]:
            conn.execute(statement)


def test_the_map_of_the_documents_leads_to_every_page() -> None:
    start = ROOT / "docs" / "README.md"
    linked = {(start.parent / one).resolve() for one in re.findall(r"\]\(([^)#]+\.md)", start.read_text("utf-8"))}
    decisions = ROOT / "docs" / "decisions"
    for page in PAGES:
        if page not in (start, ROOT / "README.md") and (page.parent != decisions or page.name == "README.md"):
            assert page in linked, page


def test_every_link_to_a_heading_leads_to_one() -> None:
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^):#]*)#([\w-]+)\)", page.read_text("utf-8")):
            text = (page.parent / target if target else page).read_text("utf-8")
            headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in headings}, (page, anchor)


def test_every_diagram_is_of_a_kind_that_is_drawn() -> None:
    drawn = [one.text for page in PAGES for one in blocks(page) if one.language == "mermaid"]
    assert len(drawn) >= 4
    for text in drawn:
        assert re.match(r"(erDiagram|stateDiagram-v2|flowchart (TD|LR))\n", text), text[:40]
