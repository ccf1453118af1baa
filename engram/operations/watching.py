"""Watching over a memory: verify the ledger, count, and check that the house is in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy.engine import Row

from engram import (
    dispatch,
    embedding,
    inputs,
    jobs,
    ledger,
    migrations,
    redactions,
    scales,
    spending,
    streams,
    tenancy,
)
from engram.channels import semantic
from engram.database import POOL_IN_USE, Connection, execute, fetch_all, fetch_one, fetch_value, seconds_refused
from engram.embedding import Model, local
from engram.errors import EngramError, InvalidInput
from engram.operations import erasing, spaces, steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.scope import AllUsers
from engram.values import Check, DoctorReport, Health, ScopeStats, Tier, Usage, VerifyReport

LEAST_SERVER: Final = {16: 160010, 17: 170006, 18: 180000}  # earlier ones leak rows through the optimizer's statistics
USAGE_GROUPS: Final = ("component", "model", "day")
ANCHOR: Final = re.compile(r"[0-9]{1,15}:[0-9a-f]{64}")
LEAST_VECTOR: Final = (0, 8, 4)
HELD_BACK: Final = 60.0  # seconds a transaction may keep followers waiting
PATIENCE: Final = 2.0  # seconds for which a look how it goes is tried again, and that a statement of it may take
MOST_CHECKED: Final = 10_000
HOLD_ROLE: Final = "ALTER ROLE engram_app NOSUPERUSER NOBYPASSRLS"
LEAVE_ROLE: Final = "REVOKE {} FROM engram_app"
HOLD_OWNER: Final = "ALTER TABLE engram.{} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
NO_RIGHTS: Final = "42501"  # the SQLSTATE of a login that may not do what is asked
START: Final = "start PostgreSQL, or correct DATABASE_URL"
EMBED: Final = "give this process the model, or change it with `engram reembed`"
_CHECKED: Final[dict[tuple[str, str], datetime]] = {}
"""When this process last found the chain of a tenant whole, by the address of the database and the tenant."""


def verify_ledger(setup: Setup, anchors: object, given: Mapping[str, Any]) -> Operation[VerifyReport]:
    """Recompute the hash chain of every stream of the scope from its payloads."""
    reading = setup.reading(given)
    known = inputs.optional(_checked_anchors, anchors)

    def work(conn: Connection) -> VerifyReport:
        visible = tenancy.visible(conn, reading.scope)
        report = ledger.verify(conn, scope_ids=visible.scope_ids, key=setup.settings.secret_key, anchors=known)
        if report.ok:
            _note_checked(conn, reading.scope.tenant_id)
        return report

    return (yield from steps.read(reading.scope.tenant_id, work))


def _chain_of(conn: Connection, tenant_id: str) -> tuple[str, str]:
    """What the chain of a tenant in a database is known by in this process: the doors of both kinds share it."""
    return conn.engine.url.render_as_string(hide_password=True), tenant_id


def _note_checked(conn: Connection, tenant_id: str) -> None:
    if len(_CHECKED) >= MOST_CHECKED:
        _CHECKED.clear()
    _CHECKED[_chain_of(conn, tenant_id)] = datetime.now(UTC)


def _checked_anchors(value: object) -> dict[str, str]:
    """Heads of streams as a report gives them."""
    if not isinstance(value, Mapping):
        raise InvalidInput("anchors", "a mapping of stream id to anchor", type(value).__name__)
    known = {}
    for stream_id, anchor in value.items():
        if not isinstance(anchor, str) or not ANCHOR.fullmatch(anchor):
            raise InvalidInput("anchors", "texts such as 12:9f86d0…", "another form")
        known[inputs.event_id(stream_id, "anchors")] = str.__str__(anchor)
    return known


def stats(setup: Setup, given: Mapping[str, Any]) -> Operation[ScopeStats]:
    """Counts of what the readable scopes hold."""
    scope = setup.reading(given).scope

    def work(conn: Connection) -> ScopeStats:
        visible = tenancy.visible(conn, scope)
        params = {"tenant_id": scope.tenant_id, "scope_ids": list(visible.scope_ids), "own": visible.own}
        row = fetch_one(conn, "count_scope", **params)
        assert row is not None
        return ScopeStats(
            events=row.events, memories=row.memories, by_status=row.by_status, by_type=row.by_type,
            by_layer=row.by_layer,
            critical=row.critical, unembedded=row.unembedded, duplicates_avoided=row.duplicates_avoided,
            oldest=row.oldest,
            last_write=row.last_write, jobs=jobs.count(conn, visible.scope_ids), size_bytes=row.size_bytes,
            decisions=row.decisions,
        )  # fmt: skip

    return (yield from steps.read(scope.tenant_id, work))


def usage(setup: Setup, since: object, group_by: object, given: Mapping[str, Any]) -> Operation[tuple[Usage, ...]]:
    """What language models took in the readable scopes."""
    scope = setup.reading(given).scope
    start = inputs.optional(inputs.moment, since, "since")
    by = inputs.choice(group_by, "group_by", USAGE_GROUPS)

    def work(conn: Connection) -> tuple[Usage, ...]:
        visible = tenancy.visible(conn, scope)
        everybody = isinstance(scope.user_id, AllUsers)
        return spending.usage(conn, scope_ids=visible.scope_ids, everybody=everybody, since=start, group_by=by)

    return (yield from steps.read(scope.tenant_id, work))


def doctor(setup: Setup) -> Operation[DoctorReport]:
    """Check server, roles, row-level security, schema, indexes, model, its graph, jobs, vectors, doorbell."""
    tenant = setup.scope.tenant_id
    checks: list[Check] = []
    looks = LOOKS
    try:
        checks.extend((yield from steps.inspect(tenant, _bound(_server, setup), patience=PATIENCE)))
    except EngramError as error:
        checks.append(Check("server", False, str(error), _repair_of(error) or START))
        if error.facts.get("retry_after") is not None:  # each of the others would wait as long, and tell the same
            looks = ()
    if looks:
        with suppress(EngramError):  # what is wrong is told by the checks
            setup = yield from spaces.ready(setup, tenant)
    for look in looks:
        try:
            checks.extend((yield from steps.inspect(tenant, _bound(look, setup))))
        except EngramError as error:
            checks.append(Check(look.__name__.strip("_"), False, str(error), _repair_of(error)))
    checks.append(_of_breakers(*_breakers(setup)))
    checks.append((yield from steps.think(lambda: _doorbell(setup))))
    return DoctorReport(all(check.ok for check in checks), tuple(map(_as_found, checks)))


def health(setup: Setup, probe_embedder: object) -> Operation[Health]:
    """Say how well this process serves its tenant, also where it does not: a database that is down is an answer."""
    probes = inputs.flag(probe_embedder, "probe_embedder")
    tenant = setup.scope.tenant_id
    try:
        seen = yield from steps.inspect(tenant, lambda conn: _seen(conn, tenant), patience=PATIENCE)
    except EngramError as error:
        seen = _Seen((Check("database", False, str(error), _repair_of(error) or START),))
    if probes and seen.serves:
        with suppress(EngramError):  # then the probe says so
            setup = yield from spaces.ready(setup, tenant)
    embedder = _of_embedder(setup, seen.model)
    if probes and setup.embedder is not None and embedder.ok:
        embedder = yield from steps.think(lambda: _probed(setup, embedder))
    known, failing = _breakers(setup)
    doorbell = yield from steps.think(lambda: _doorbell(setup))
    checks = (*seen.checks, embedder, _of_breakers(known, failing), doorbell)
    tier = _tier(writes=seen.writes, embeds=embedder.ok, asks=not known or len(failing) < len(known))
    return Health(
        ok=all(check.ok for check in checks), tier=tier if seen.serves else None,
        checks=tuple(map(_as_found, checks)), schema_revision=seen.revision, backlog_age=seen.backlog_age,
        dead_jobs=seen.dead, unembedded=seen.unembedded, chain_checked_at=seen.checked_at,
    )  # fmt: skip


def _repair_of(error: EngramError) -> str | None:
    """What repairs that the database could not be looked at, where the error tells."""
    if error.code == "schema_outdated":
        return "engram migrate"
    if error.facts.get("reason") == POOL_IN_USE:
        return "make ENGRAM_POOL_SIZE larger, or find what holds the connections for so long"
    return "grant engram_app to the user of the URL" if error.facts.get("sqlstate") == NO_RIGHTS else None


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one short transaction saw of a database, or why there was none; it serves where its schema is ours."""

    checks: tuple[Check, ...]
    serves: bool = False
    writes: bool = False
    revision: str | None = None
    model: Model | None = None
    backlog_age: float | None = None
    dead: int | None = None
    unembedded: int | None = None
    checked_at: datetime | None = None


def _seen(conn: Connection, tenant_id: str) -> _Seen:
    execute(conn, "limit_statements", milliseconds=int(1000 * PATIENCE))
    server, revision = _one(conn, "inspect_server"), migrations.current_revision(conn)
    writes, schema = _of_writes(read_only=server.read_only, refused=seconds_refused(conn)), _of_schema(revision)
    checks = (writes, *_of_server(server), schema)
    seen = _Seen(checks, writes=writes.ok, revision=revision, checked_at=_CHECKED.get(_chain_of(conn, tenant_id)))
    if not schema.ok:
        return seen
    work = _one(conn, "inspect_work")
    return replace(
        seen, checks=(*checks, *_of_work(work)), serves=True, model=semantic.active_model(conn, tenant_id),
        backlog_age=work.backlog_age, dead=work.dead, unembedded=work.unembedded,
    )  # fmt: skip


def _of_writes(*, read_only: bool, refused: float | None) -> Check:
    """Whether a server takes writes, as it says and as it was found. Pure."""
    if read_only:
        told = "takes no writes: it is a standby, or set to be read only"
        return Check("database", False, told, "give the door the primary")
    if refused is not None:
        told = f"could write nothing {refused:.0f} s ago: its disk is full, or fails"
        return Check("database", False, told, "make room on its disk, and look into its log")
    return Check("database", True, "reads and writes")


def _tier(*, writes: bool, embeds: bool, asks: bool) -> Tier:
    """The name of what is served: of what is out the worst. Pure."""
    if not writes:
        return "read_only"
    if not embeds:
        return "no_embedding"
    return "full" if asks else "no_llm"


def _probed(setup: Setup, check: Check) -> Check:
    """A check of an embedder with what its model answers now; no vector that is kept in mind counts."""
    assert setup.embedder is not None
    try:
        embedding.checked(setup.embedder.embedder, embedding.PROBES[:1], "query")
    except EngramError as error:
        return replace(check, ok=False, detail=str(error))
    return check


def _as_found(check: Check) -> Check:
    """A check that names a repair only where something is to be repaired."""
    return replace(check, repair=None) if check.ok else check


def _bound(look: Callable[[Connection, Setup], Iterator[Check]], setup: Setup) -> Callable[[Connection], list[Check]]:
    return lambda conn: list(look(conn, setup))


def _server(conn: Connection, _setup: Setup) -> Iterator[Check]:
    server = _one(conn, "inspect_server")
    yield _of_writes(read_only=server.read_only, refused=seconds_refused(conn))
    yield from _of_server(server)


def _of_server(row: Row[Any]) -> Iterator[Check]:
    """What there is to say of versions and settings of the server. Pure."""
    major = row.version // 10000
    yield Check(
        "server",
        row.version >= LEAST_SERVER.get(major, 160010),
        f"PostgreSQL {row.version_text}",
        "use PostgreSQL 16.10, 17.6, 18 or later",
    )
    version = tuple(int(part) for part in row.vector.split(".")) if row.vector else ()
    is_astray = row.place not in {None, migrations.EXTENSIONS}
    yield Check(
        "pgvector",
        version >= LEAST_VECTOR and not is_astray,
        f"pgvector {row.vector or 'missing'}" + (f" in the schema {row.place}" if is_astray else ""),
        migrations.MOVE if is_astray else "ALTER EXTENSION vector UPDATE",
    )
    durable = row.fsync == "on" and row.full_page_writes == "on"
    yield Check(
        "durability",
        durable,
        f"fsync {row.fsync}, full_page_writes {row.full_page_writes}",
        "switch both on in postgresql.conf",
    )
    yield Check("encoding", row.encoding == migrations.ENCODING, f"server encoding {row.encoding}", migrations.ENCODE)


def _schema(conn: Connection, _setup: Setup) -> Iterator[Check]:
    yield _of_schema(migrations.current_revision(conn))


def _of_schema(found: str | None) -> Check:
    head = migrations.head()
    return Check("schema", found == head, f"revision {found or 'none'}, library {head}", "engram migrate")


def _roles(conn: Connection, _setup: Setup) -> Iterator[Check]:
    row = _one(conn, "inspect_roles")
    passing = _passing(row.super, row.bypass, row.becomes)
    leave = row.becomes and not (row.super or row.bypass)
    repair = LEAVE_ROLE.format(row.through) if leave else HOLD_ROLE
    yield Check("role", row.role == "engram_app" and not passing, f"queries run as {row.role}{passing}", repair)
    passing = _passing(row.session_super, row.session_bypass, row.session_becomes)
    yield Check(
        "login", row.session_is_app or not passing, f"logged in as {row.session_role}{passing}", "log in as engram_app"
    )


def _passing(is_super: bool, bypasses: bool, becomes: str | None) -> str:
    """How a role passes row-level security or may switch it off, where it does. Pure."""
    if is_super or bypasses:
        return ", a superuser" if is_super else ", which passes row-level security"
    return f", which may become {becomes}" if becomes else ""


def _wall(conn: Connection, _setup: Setup) -> Iterator[Check]:
    bare = [row.name for row in fetch_all(conn, "list_unprotected_tables")]
    yield Check(
        "row-level security",
        not bare,
        f"not forced on {', '.join(bare)}" if bare else "forced on every table",
        "; ".join(map(HOLD_OWNER.format, bare)),
    )
    gaps = fetch_all(conn, "list_wall_gaps")
    yield Check(
        "wall",
        not gaps,
        "; ".join(row.gap for row in gaps) or "nothing opens it",
        "; ".join(row.repair for row in gaps),
    )


def _indexes(conn: Connection, _setup: Setup) -> Iterator[Check]:
    bad = [row.name for row in fetch_all(conn, "list_invalid_indexes")]
    yield Check("indexes", not bad, f"invalid: {', '.join(bad)}" if bad else "all valid", "REINDEX INDEX CONCURRENTLY")


def _model(conn: Connection, setup: Setup) -> Iterator[Check]:
    rows = fetch_all(conn, "list_models", tenant_id=setup.scope.tenant_id, counted=False)
    used = next((row for row in rows if row.state == "active"), None)
    yield _of_embedder(setup, used)
    if used is None or setup.embedder is None:
        return
    if used.name != local.PACKAGE:
        is_calibrated = scales.of_model(used.thresholds) is not None
        told = "measured" if is_calibrated else "those of the local model: `engram models calibrate` measures its own"
        yield Check("thresholds", True, told, "engram models calibrate")
    for row in rows:
        if row.state == "building":
            yield Check(
                "model", False, f"{row.name} is being built, or was left so", f"engram reembed --model {row.name}"
            )
    older = fetch_value(conn, "count_keyword_only", tenant_id=setup.scope.tenant_id, before=used.created_at)
    if older:
        told = f"{older} memories from before the tenant had a model, found by their words alone"
        yield Check("older memories", False, told, f"engram reembed --model {used.name}")


def _of_embedder(setup: Setup, used: Row[Any] | Model | None) -> Check:
    """What this process embeds with: the model its tenant uses, if it uses one, else the given one."""
    given = None if setup.embedders is None else setup.embedders.given
    if setup.embedder is None or given is None:
        waits = "" if used is None else f", and what is written here waits for {used.name}, the tenant's model"
        return Check("embedder", True, f"none: keyword search only{waits}")
    if used is None:
        size = f", {given.dimensions} dimensions" if given.is_measured else ""
        return Check("embedder", True, f"{given.name}{size}", EMBED)
    other = "" if used.name == given.name else f"; the setting says {given.name}, which `engram reembed` changes to"
    silent = setup.embedder.silent
    told = f"{used.name}, {used.dimensions} dimensions{other}" if silent is None else str(silent)
    return Check("embedder", silent is None, told, EMBED)


def _graph(conn: Connection, setup: Setup) -> Iterator[Check]:
    tenant = setup.scope.tenant_id
    used = semantic.active_model(conn, tenant)
    large = fetch_one(conn, "count_large_scopes", tenant_id=tenant, large=semantic.LARGE)
    if used is None or large is None or not large.scopes or semantic.has_graph(conn, used.model_id):
        return
    yield Check(
        "graph",
        False,
        f"{used.name} has none: {large.scopes} scopes of up to {large.most:,} memories are compared one by one",
        f"engram reembed --model {used.name}, with ENGRAM_MIGRATION_URL",
    )


def _breakers(setup: Setup) -> tuple[list[str], list[str]]:
    """The names of the language models, and of those that nobody asks for now, since they failed too often."""
    if setup.llm is None:
        return [], []
    models = setup.llm.models()
    return [one.name for one in models], [one.name for one in models if setup.llm.breaker(one).is_open]


def _of_breakers(known: Sequence[str], failing: Sequence[str]) -> Check:
    told = f"failing: {', '.join(failing)}" if failing else ", ".join(known) or "none: rules only"
    return Check("language models", not failing, told, "see ops.usage()")


def _work(conn: Connection, _setup: Setup) -> Iterator[Check]:
    return _of_work(_one(conn, "inspect_work"))


def _of_work(row: Row[Any]) -> Iterator[Check]:
    """What there is to say of jobs, and of what waits for them. Pure."""
    yield Check(
        "jobs",
        row.dead == 0 and row.stuck == 0,
        f"{row.waiting} waiting, {row.paused} paused, {row.stuck} stuck, {row.dead} dead"
        + (f" ({row.classes})" if row.classes else ""),
        "engram jobs dead" if row.dead else "engram worker, or ops.run_jobs()",
    )
    yield Check(
        "vectors",
        row.unembedded == 0,
        f"{row.unembedded} memories wait for a vector",
        "engram worker, or ops.run_jobs()",
    )


def _redactions(conn: Connection, setup: Setup) -> Iterator[Check]:
    path = setup.settings.redaction_list
    if path is None:
        return
    listed = redactions.read(path, setup.scope.tenant_id, missing_ok=True)
    left = erasing.unapplied(conn, listed)
    told = f"{left} events of the redaction list still say something" if left else f"all {len(listed)} are erased"
    yield Check("redactions", not left, told, f"engram apply-redactions {path}")


def _horizon(conn: Connection, _setup: Setup) -> Iterator[Check]:
    found = streams.horizon(conn)
    late = found is not None and found.seconds > HELD_BACK
    what = "nothing holds followers back"
    if found is not None:
        what = f"{found.kind} {found.holder} has been open for {found.seconds:.0f} s; followers wait for it"
    repair = (
        "ROLLBACK PREPARED" if found is not None and found.kind != "session" else "end it with pg_terminate_backend"
    )
    yield Check("horizon", not late, what, repair)
    known = _one(conn, "check_epoch").ok
    yield Check(
        "epoch",
        known,
        "this server has seen the transactions of all events" if known else "there are events from a later life",
        "number its transactions anew, as the guide to your own PostgreSQL tells: followers wait for them",
    )


def _doorbell(setup: Setup) -> Check:
    """Whether Redis answers where one is set; it is asked outside any transaction."""
    url = setup.settings.redis_url
    if url is None:
        inline = "jobs run in this process, and workers find them by polling"
        how = inline if setup.settings.derives_inline else "workers find jobs by polling"
        return Check("doorbell", True, f"no Redis: {how}")
    answer = dispatch.ask(url.get_secret_value())
    if answer.failure is None:
        name = f"{answer.product} {answer.version}" if answer.version else answer.product
        return Check("doorbell", True, f"{name}, a ping takes {answer.seconds * 1000:.1f} ms")
    return Check(
        "doorbell",
        False,
        f"Redis does not answer ({answer.failure}); workers find jobs by polling",
        "start Redis, or correct REDIS_URL, or unset it",
    )


LOOKS: Final[tuple[Callable[[Connection, Setup], Iterator[Check]], ...]] = (
    _schema, _roles, _wall, _indexes, _model, _graph, _work, _redactions, _horizon,
)  # fmt: skip


def _one(conn: Connection, name: str) -> Any:
    row = fetch_one(conn, name)
    assert row is not None
    return row
