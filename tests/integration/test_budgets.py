"""Budgets: what each call sends to the server, to the number, and what its plans may touch.

A change that sends more fails here, and so does one that sends less: lower the number then, so that it stays.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
import sqlalchemy as sa
from quiet import quiet

from engram import Engram, Filter, Scope, database, tenancy
from engram.channels import nearness, semantic
from engram.embedded import EmbeddedServer
from engram.operations import searching_events
from engram.recall import topics
from engram.settings import load
from engram.writing import judging, settling

START: Final = datetime.now(UTC)
ROOT: Final = Path(__file__).parents[2]
ROWS: Final = 1_500  # a user of 300, one of 12, others of 100
GRAPHED: Final = 200  # vectors from which a scope is in the graph here
MANY: Final = 10
# Statements, transactions and round trips of a call that has been made before, with default settings and
# jobs that another process runs.
BUDGETS: Final[Mapping[str, tuple[int, int, int]]] = {
    "search": (5, 3, 3),
    "search semantic": (5, 3, 3),
    "search keyword": (5, 3, 3),
    "search filtered": (5, 3, 3),
    "search past": (4, 3, 4),
    "search_events": (8, 2, 9),
    "recall": (7, 3, 5),
    "build_context": (8, 3, 7),
    "recall_critical": (1, 1, 1),
    "get": (1, 1, 1),
    "get_lineage": (1, 1, 1),
    "traverse": (1, 1, 1),
    "find_path": (1, 1, 1),
    "add": (6, 1, 3),
    f"add_many of {MANY}": (8, 1, 6),
    "remember": (1, 1, 1),
    "remember derived": (23, 6, 13),
    "record_event": (1, 1, 1),
    f"remember {MANY}": (1, 1, 1),
    "revise": (17, 3, 14),
    "forget": (8, 1, 7),
    "relate": (7, 1, 5),
}
READS: Final = ("search", "search semantic", "search keyword", "recall", "build_context", "traverse", "get_lineage")


class Never(int):
    """A number that divides no other."""

    def __rmod__(self, other: int) -> int:
        return 1


@dataclass(frozen=True)
class Measured:
    """A crowd, the benchmarks' modules, and the doors of its large and its small user through a wire."""

    crowd: Any
    wire: Any
    profiling: Any
    large: Engram
    small: Engram
    address: str


@pytest.fixture(scope="module")
def measured(server: EmbeddedServer, migrated: str) -> Iterator[Measured]:
    address = server.superuser_url.replace("+psycopg", "")
    with psycopg.connect(address, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE budgets TEMPLATE {migrated}")  # type: ignore[arg-type]
        # Sorting few rows is cheap; what matters is that the graph serves the statement when they are many.
        conn.execute("ALTER DATABASE budgets SET enable_sort = off")
    url = server.url(user="postgres", database="budgets")
    sys.path.insert(0, str(ROOT / "benchmarks"))
    crowds, watching = importlib.import_module("crowds"), importlib.import_module("watching")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(semantic, "LARGE", GRAPHED)
        patch.setattr(crowds, "FRESH", 20)
        for module, name in ((settling, "UPKEEP_EVERY"), (searching_events, "EVERY")):
            patch.setattr(module, name, Never())  # the last digits of an id ask for some jobs: here of none
        patch.setattr(database, "ANALYZED_AT", frozenset())
        crowd = crowds.fill(server.url(database="budgets"), url, crowds.Shape("mixed", ROWS, relations=3))
        folder = Path(psycopg.conninfo.conninfo_to_dict(address)["host"])
        with (
            watching.Wire(folder) as wire,
            _door(crowd, wire, crowds.BIG) as large,
            _door(crowd, wire, crowds.LITTLE) as small,
        ):
            profiling = importlib.import_module("profile_calls")
            yield Measured(crowd, wire, profiling, large, small, crowds.plain(url))
    sys.path.remove(str(ROOT / "benchmarks"))
    with psycopg.connect(address, autocommit=True) as conn:
        conn.execute("DROP DATABASE budgets WITH (FORCE)")


def _door(crowd: Any, wire: Any, user: str) -> Engram:
    return quiet(Engram(wire.url(crowd.url), scope=crowd.of(user).scope, settings=load({}, dispatch="doorbell")))


def calls(crowd: Any, door: Engram, user: str) -> dict[str, Callable[[], object]]:
    """The calls of the table, on a door to one of the crowd's users."""
    first = crowd.of(user).first
    numbers = iter(range(10**7 + first, 10**8))

    def fact() -> str:
        return str(crowd.texts.facts(next(numbers), 1)[0])

    def question() -> str:
        return str(crowd.texts.question(first + 3))

    def said() -> list[Any]:
        return [{"role": "user", "content": fact()} for _ in range(MANY)]

    known = [one.memory.memory_id for one in door.search(question())]
    head = door.add("The harbour opens at six.", topic_key="harbour").memory
    gone = [door.add(fact(), force=True).memory for _ in range(4)]
    door.add("Never sail without a lamp.", critical_slot="lamp")
    assert head is not None
    return {
        "search": lambda: door.search(question()),
        "search semantic": lambda: door.search(question(), mode="semantic"),
        "search keyword": lambda: door.search(question(), mode="keyword"),
        "search filtered": lambda: door.search(question(), filter=Filter(memory_types=("semantic",))),
        "search past": lambda: door.search(question(), as_of=START),
        "search_events": lambda: door.search_events(question()),
        "recall": lambda: door.recall(question()),
        "build_context": lambda: door.build_context(question()),
        "recall_critical": door.recall_critical,
        "get": lambda: door.get(known[0]),
        "get_lineage": lambda: door.get_lineage(known[0]),
        "traverse": lambda: door.traverse(known[0]),
        "find_path": lambda: door.find_path(known[0], known[1]),
        "add": lambda: door.add(fact(), force=True),
        f"add_many of {MANY}": lambda: door.add_many([{"fact": fact(), "force": True} for _ in range(MANY)]),
        "remember": lambda: door.remember(fact(), session_id="s"),
        "remember derived": lambda: door.remember(fact(), session_id="derived", wait=60.0),
        "record_event": lambda: door.record_event(fact(), session_id="s", derive="skip"),
        f"remember {MANY}": lambda: door.remember(said(), session_id="s"),
        "revise": lambda: door.revise(door.get_current(topic_key="harbour").memory_id, fact()),
        "forget": lambda: door.forget(gone.pop().memory_id),  # type: ignore[union-attr]
        "relate": lambda: door.relate(known[0], known[1], f"like_{next(numbers)}"),
    }


def test_each_call_sends_what_its_budget_says(measured: Measured) -> None:
    found = {}
    for name, call in calls(measured.crowd, measured.small, "little").items():
        for _ in range(2):
            call()
        sent = measured.wire.count(call)
        found[name] = (sent.statements, sent.transactions, sent.round_trips)
    assert found == BUDGETS


def test_a_search_of_a_large_scope_sends_one_statement_more_than_one_of_a_small(measured: Measured) -> None:
    question = measured.crowd.texts.question(7)

    def sent(door: Engram) -> Any:
        asked = partial(door.search, question, expand=False, tail=False)
        asked()
        return measured.wire.count(asked)

    small, large = sent(measured.small), sent(measured.large)
    assert large.transactions == small.transactions
    assert large.round_trips - small.round_trips <= 1  # how far the graph is walked


def test_what_was_said_a_moment_ago_is_found_without_a_message_more(measured: Measured) -> None:
    with _door(measured.crowd, measured.wire, "little") as opened:
        door = opened.scoped(user_id="who waits")
        door.add("The harbour opens at six.")
        door.remember("The harbour closes at nine.", session_id="s")
        for _ in range(2):
            [last, *_] = [one for one in door.search("When does the harbour close?") if not one.derived]
        assert last.memory.fact == "The harbour closes at nine."
        sent = measured.wire.count(lambda: door.search("When does the harbour close?"))
    statements, *rest = BUDGETS["search"]
    assert (sent.statements, sent.transactions, sent.round_trips) == (statements + 1, *rest)


def test_a_transaction_that_says_nothing_sends_nothing(measured: Measured) -> None:
    database = measured.small._core.database()
    database.run("a-tenant", lambda conn: None)
    sent = measured.wire.count(lambda: database.run("a-tenant", lambda conn: None))
    assert (sent.statements, sent.transactions, sent.round_trips) == (0, 0, 0)


def test_what_somebody_says_is_in_no_text_of_a_statement(measured: Measured) -> None:
    said: list[str] = []

    def note(_: Any, __: Any, text: str, *___: Any) -> None:
        said.append(text)

    engine = measured.small._core.database().engine
    sa.event.listen(engine, "before_cursor_execute", note)
    try:
        measured.small.add("The zeppelin lands at noon.", tags=["zeppelin"], force=True)
        measured.small.remember("My zeppelin leaves.", session_id="s")
        measured.small.search("When does the zeppelin land?")
        measured.small.recall("What of my zeppelin?")
    finally:
        sa.event.remove(engine, "before_cursor_execute", note)
    assert any("visible_scopes" in text for text in said)
    assert not [text for text in said if "zeppelin" in text]


def plans_of(measured: Measured, call: Callable[[], object]) -> dict[str, str]:
    """The plan of each statement of a call, with its own values and settings, by the statement's name."""
    call()  # a connection that is opened asks what nobody plans
    watch = measured.profiling.Watch(explain=True, plans=True)
    with measured.profiling.watched(watch):
        call()
    return {name: one.plan for name, one in watch.ran.items() if one.plan}


def pages_of(measured: Measured, call: Callable[[], object]) -> int:
    """The pages that the statements of a call read, those of functions with them."""
    call()  # a connection that is opened asks what nobody plans, and plans what is kept
    watch = measured.profiling.Watch(explain=True)
    with measured.profiling.watched(watch):
        call()
    return sum(one.buffers for one in watch.ran.values())


def flush(door: Engram) -> None:
    """See that what a door's connection has read is counted."""
    door._core.database().run(
        door.scope.tenant_id, lambda conn: conn.exec_driver_sql("SELECT pg_stat_force_next_flush()")
    )


def entries(measured: Measured, door: Engram, call: Callable[[], object], of: str = "idx_tup_read") -> dict[str, int]:
    """How many entries of each index a call really read, or what else is counted `of` them."""

    def seen() -> dict[str, int]:
        flush(door)
        with psycopg.connect(measured.address) as conn:
            asked = psycopg.sql.SQL("SELECT indexrelname, {} FROM pg_stat_user_indexes").format(
                psycopg.sql.Identifier(of)
            )
            return dict(conn.execute(asked).fetchall())

    before = seen()
    call()
    return {name: many - before[name] for name, many in seen().items() if many > before[name]}


def scanned(measured: Measured, door: Engram, call: Callable[[], object]) -> set[str]:
    """The indexes that a call really read: what a function of the server does is in no plan."""
    return set(entries(measured, door, call, "idx_scan"))


def parts(plan: str) -> set[str]:
    """The partitions of vectors that a plan names."""
    return set(re.findall(r"on memory_embeddings_(\d\d)\b", plan))


@pytest.fixture(scope="module")
def graphs(measured: Measured) -> set[str]:
    """The names of the indexes that are graphs."""
    with psycopg.connect(measured.address) as conn:
        rows = conn.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_am a ON a.oid = c.relam"
            " WHERE a.amname = 'hnsw' AND c.relkind = 'i'"
        ).fetchall()
    return {row[0] for row in rows}


def test_a_large_scope_is_searched_through_its_graph_and_a_small_one_exactly(
    measured: Measured, graphs: set[str]
) -> None:
    question = measured.crowd.texts.question(7)
    large = scanned(measured, measured.large, lambda: measured.large.search(question))
    small = scanned(measured, measured.small, lambda: measured.small.search(question))
    assert len(large & graphs) == 1
    assert not small & graphs
    for found in (large, small):
        assert len({name.split("_")[2] for name in found if name.startswith("memory_embeddings_")}) == 1


@pytest.mark.parametrize("user", ["big", "little"])
def test_no_plan_names_another_scopes_partition(measured: Measured, user: str) -> None:
    door = measured.large if user == "big" else measured.small
    made = calls(measured.crowd, door, user)
    seen: set[str] = set()
    for name in (*READS, "add"):
        for statement, plan in plans_of(measured, made[name]).items():
            assert len(parts(plan)) <= 1, (name, statement, parts(plan))
    for name in ("search", "add"):
        indexes = scanned(measured, door, made[name])
        seen |= {index.split("_")[2] for index in indexes if index.startswith("memory_embeddings_")}
    assert len(seen) == 1


def test_a_context_lists_events_by_their_indexes(measured: Measured) -> None:
    """What was made has an index of its own, and of the rest the newest are looked at, however many there are."""
    for plan in plans_of_events(measured):
        assert set(re.findall(r"using (agent_events_\w+)", plan)) == {"agent_events_scope", "agent_events_made"}


def plans_of_events(measured: Measured) -> Iterator[str]:
    """How the events of a context are listed: those of now by a kept plan, those of the past by a composed one."""
    with psycopg.connect(measured.address, cursor_factory=psycopg.ClientCursor) as conn:
        filled = measured.crowd.of("big")
        conn.execute("SET ROLE engram_app")
        conn.execute("SELECT set_config('engram.tenant_id', %s, false)", (filled.scope.tenant_id,))
        conn.execute("SET plan_cache_mode = force_generic_plan")
        row = conn.execute("SELECT prosrc, proargnames FROM pg_proc WHERE proname = 'told_events'").fetchone()
        assert row is not None
        body = row[0].partition("return query")[2].partition(";")[0]
        for number, name in enumerate(row[1][:7], 1):
            body = re.sub(rf"\b{name}\b", f"${number}", body)
        conn.execute(f"PREPARE told (text, bigint[], text[], text, integer, integer, integer) AS {body}")  # type: ignore[arg-type]
        given = (filled.scope.tenant_id, [filled.scope_id], ["user_message"], "x.", 40, 20, 400)
        told = conn.execute("EXPLAIN (ANALYZE) EXECUTE told (%s, %s, %s, %s, %s, %s, %s)", given).fetchall()
        yield "\n".join(line for (line,) in told)
    then = datetime.now(UTC)
    plans = plans_of(measured, lambda: measured.large.build_context(measured.crowd.texts.question(7), known_at=then))
    yield next(plan for plan in plans.values() if " on agent_events " in plan and "agent_events_made" in plan)


def test_the_events_of_one_stream_are_not_guessed_to_be_few(measured: Measured) -> None:
    """What is guessed to be few is sorted whole, and the time of a context grew with its scope."""
    with psycopg.connect(measured.address, autocommit=True) as conn:
        try:
            conn.execute("ALTER TABLE engram.agent_events ALTER stream_id SET (n_distinct = 1)")
            conn.execute(
                "ALTER TABLE engram.agent_events ALTER tenant_id SET (n_distinct = 1)"
            )  # all of so few are its
            conn.execute("ANALYZE engram.agent_events")
            plans = list(plans_of_events(measured))
        finally:
            conn.execute("ALTER TABLE engram.agent_events ALTER stream_id RESET (n_distinct)")
            conn.execute("ALTER TABLE engram.agent_events ALTER tenant_id SET (n_distinct = 20)")
            conn.execute("ANALYZE engram.agent_events")
    for plan in plans:
        guessed = re.search(r"using agent_events_scope on agent_events e +\(cost=\S+ rows=(\d+)", plan)
        assert guessed is not None
        assert int(guessed[1]) >= 20


def test_the_past_of_a_memory_and_of_a_walk_is_put_together_without_that_of_their_scope(measured: Measured) -> None:
    known = measured.large.search(measured.crowd.texts.question(7))[0].memory.memory_id
    assert pages_of(measured, lambda: measured.large.get(known, known_at=datetime.now(UTC))) < 60
    assert pages_of(measured, lambda: measured.large.get_lineage(known, known_at=datetime.now(UTC))) < 60
    assert pages_of(measured, lambda: measured.large.traverse(known, max_depth=1, known_at=datetime.now(UTC))) < 300


def test_a_page_and_an_action_are_listed_by_their_indexes(measured: Measured) -> None:
    """No list sorts its whole scope for its first rows."""

    def indexes(call: Callable[[], object]) -> set[str]:
        return set(
            re.findall(r"using (agent_memory_\w+) on agent_memory m\b", "\n".join(plans_of(measured, call).values()))
        )

    assert indexes(lambda: measured.large.list_memories(limit=5)) == {"agent_memory_recent"}
    assert indexes(lambda: measured.large.list_memories(limit=5, sort="oldest")) == {"agent_memory_recent"}
    assert indexes(lambda: measured.large.recall_trigger("git-push")) == {"agent_memory_triggers"}


def test_topics_are_counted_from_an_index_alone(measured: Measured) -> None:
    with psycopg.connect(measured.address, autocommit=True) as conn:
        conn.execute("VACUUM engram.agent_memory")

    def count() -> object:
        return measured.large._core.database().run(
            measured.large.scope.tenant_id,
            lambda conn: topics.count_topics(conn, tenancy.visible(conn, measured.large.scope)),
            read_only=True,
        )

    assert count()
    plan = plans_of(measured, count)["count_topics"]
    assert "Index Only Scan using agent_memory_recent" in plan
    assert "Heap Fetches: 0" in plan


def test_every_graph_leaves_out_what_was_just_written(measured: Measured) -> None:
    """A row enters a graph when the upkeep job marks it; no write waits for that."""
    with psycopg.connect(measured.address, autocommit=True) as conn:
        whole = conn.execute(
            "SELECT count(*) FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid JOIN pg_am a ON a.oid = c.relam"
            " WHERE a.amname = 'hnsw' AND coalesce(pg_get_expr(x.indpred, x.indrelid), '') !~ '\\mindexed\\M'"
        ).fetchone()
        before = _sizes(conn)
        facts = measured.crowd.texts.facts(5 * 10**8, 40)
        made = measured.large.add_many([{"fact": fact, "force": True} for fact in facts])
        ids = [one.memory.memory_id for one in made if one.memory is not None]
        marked = conn.execute(
            "SELECT count(*), count(*) FILTER (WHERE indexed) FROM engram.memory_embeddings"
            " WHERE memory_id = ANY(%s::uuid[])", (ids,),
        ).fetchone()  # fmt: skip
        assert whole == (0,)
        assert marked == (40, 0)
        assert _sizes(conn) == before


def _sizes(conn: psycopg.Connection[Any]) -> list[Any]:
    return conn.execute(
        "SELECT c.relname, pg_relation_size(c.oid) FROM pg_class c JOIN pg_am a ON a.oid = c.relam"
        " WHERE a.amname = 'hnsw' AND c.relkind = 'i' ORDER BY 1"
    ).fetchall()


def test_tenants_bring_no_index_and_no_table(measured: Measured) -> None:
    def relations() -> Any:
        with psycopg.connect(measured.address) as conn:
            return conn.execute("SELECT relkind, count(*) FROM pg_class GROUP BY 1 ORDER BY 1").fetchall()

    before = relations()
    for number in range(5):
        door = measured.large.scoped(Scope(f"another-{number}", user_id="ada"))
        door.add("Ships leave at seven.")
        door.remember("The lamp is out.", session_id="s")
        assert door.search("ships")
    assert relations() == before


def test_a_candidate_of_a_rare_type_reads_a_part_of_a_large_scope(
    measured: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How rare a type is is counted among the newest memories: the scope is not searched for the rest of its kind."""
    monkeypatch.setattr(judging, "TYPE_COUNTED", 4)

    def read() -> int:
        with psycopg.connect(measured.address) as conn:
            found = conn.execute(
                "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'agent_memory'"
            ).fetchone()
        assert found is not None
        return int(found[0])

    flush(measured.large)
    before = read()
    measured.large.add("Ring the bell before the lock opens.", memory_type="procedural", force=True)
    flush(measured.large)
    assert 0 < read() - before < 200


def test_a_batch_walks_the_graph_of_a_large_scope_and_reads_a_small_one(
    measured: Measured, graphs: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearness, "WALK", GRAPHED // MANY)
    name = f"add_many of {MANY}"
    large = scanned(measured, measured.large, calls(measured.crowd, measured.large, "big")[name])
    small = scanned(measured, measured.small, calls(measured.crowd, measured.small, "little")[name])
    assert len(large & graphs) == 1
    assert not small & graphs


LISTED: Final[dict[str, Callable[[Engram], object]]] = {
    "get_history": lambda door: door.get_history(limit=5),
    "audit_log": lambda door: door.ops.audit_log(limit=5),
    "timeline": lambda door: door.timeline(limit=5),
    "list_decisions": lambda door: door.list_decisions(limit=5),
    "list_events": lambda door: door.list_events(limit=5),
    "list_memories": lambda door: door.list_memories(limit=5),
    "stats": lambda door: door.stats(),
}


@pytest.mark.parametrize("name", LISTED)
def test_what_a_small_user_is_shown_is_not_looked_for_among_all_the_others(measured: Measured, name: str) -> None:
    with psycopg.connect(measured.address, autocommit=True) as conn:
        conn.execute("ANALYZE")
    found = entries(measured, measured.small, lambda: LISTED[name](measured.small))
    assert 0 < max(found.values()) < ROWS / 5, found
