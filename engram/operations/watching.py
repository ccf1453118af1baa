"""Watching over a memory: verify the ledger, count, and check that the house is in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from engram import (
    dispatch,
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
from engram.database import Connection, fetch_all, fetch_one
from engram.embedding import local
from engram.errors import EngramError, InvalidInput
from engram.operations import erasing, spaces, steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.scope import AllUsers
from engram.values import Check, DoctorReport, ScopeStats, Usage, VerifyReport

LEAST_SERVER: Final = {16: 160010, 17: 170006, 18: 180000}  # earlier ones leak rows through the optimizer's statistics
USAGE_GROUPS: Final = ("component", "model", "day")
ANCHOR: Final = re.compile(r"[0-9]{1,15}:[0-9a-f]{64}")
LEAST_VECTOR: Final = (0, 8, 4)
HELD_BACK: Final = 60.0  # seconds a transaction may keep followers waiting


def verify_ledger(setup: Setup, anchors: object, given: Mapping[str, Any]) -> Operation[VerifyReport]:
    """Recompute the hash chain of every stream of the scope from its payloads."""
    reading = setup.reading(given)
    known = inputs.optional(_checked_anchors, anchors)

    def work(conn: Connection) -> VerifyReport:
        visible = tenancy.visible(conn, reading.scope)
        return ledger.verify(conn, scope_ids=visible.scope_ids, key=setup.settings.secret_key, anchors=known)

    return (yield from steps.read(reading.scope.tenant_id, work))


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
    with suppress(EngramError):  # what is wrong is told by the checks
        setup = yield from spaces.ready(setup, tenant)
    for look in LOOKS:
        try:
            checks.extend((yield from steps.inspect(tenant, _bound(look, setup))))
        except EngramError as error:
            checks.append(
                Check(
                    look.__name__.strip("_"),
                    False,
                    str(error),
                    "engram migrate" if error.code == "schema_outdated" else None,
                )
            )
    checks.append((yield from steps.think(lambda: _doorbell(setup))))
    return DoctorReport(all(check.ok for check in checks), tuple(map(_as_found, checks)))


def _as_found(check: Check) -> Check:
    """A check that names a repair only where something is to be repaired."""
    return replace(check, repair=None) if check.ok else check


def _bound(look: Callable[[Connection, Setup], Iterator[Check]], setup: Setup) -> Callable[[Connection], list[Check]]:
    return lambda conn: list(look(conn, setup))


def _server(conn: Connection, _setup: Setup) -> Iterator[Check]:
    row = _one(conn, "inspect_server")
    major = row.version // 10000
    yield Check(
        "server",
        row.version >= LEAST_SERVER.get(major, 160010),
        f"PostgreSQL {row.version_text}",
        "use PostgreSQL 16.10, 17.6, 18 or later",
    )
    version = tuple(int(part) for part in row.vector.split(".")) if row.vector else ()
    yield Check(
        "pgvector", version >= LEAST_VECTOR, f"pgvector {row.vector or 'missing'}", "ALTER EXTENSION vector UPDATE"
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
    found, head = migrations.current_revision(conn), migrations.head()
    yield Check("schema", found == head, f"revision {found or 'none'}, library {head}", "engram migrate")


def _roles(conn: Connection, _setup: Setup) -> Iterator[Check]:
    row = _one(conn, "inspect_roles")
    yield Check(
        "role",
        row.role == "engram_app" and not row.super and not row.bypass,
        f"queries run as {row.role}",
        "engram migrate",
    )
    risky = row.session_super and not row.session_is_app
    yield Check(
        "login",
        not risky,
        f"logged in as {row.session_role}" + (", a superuser" if risky else ""),
        "log in as engram_app",
    )


def _wall(conn: Connection, _setup: Setup) -> Iterator[Check]:
    bare = [row.name for row in fetch_all(conn, "list_unprotected_tables")]
    yield Check(
        "row-level security",
        not bare,
        f"not forced on {', '.join(bare)}" if bare else "forced on every table",
        "engram migrate",
    )


def _indexes(conn: Connection, _setup: Setup) -> Iterator[Check]:
    bad = [row.name for row in fetch_all(conn, "list_invalid_indexes")]
    yield Check("indexes", not bad, f"invalid: {', '.join(bad)}" if bad else "all valid", "REINDEX INDEX CONCURRENTLY")


def _model(conn: Connection, setup: Setup) -> Iterator[Check]:
    given = None if setup.embedders is None else setup.embedders.given
    if setup.embedder is None or given is None:
        yield Check("embedder", True, "none: keyword search only")
        return
    rows = fetch_all(conn, "list_models", tenant_id=setup.scope.tenant_id, counted=False)
    used = next((row for row in rows if row.state == "active"), None)
    if used is None:
        size = f", {given.dimensions} dimensions" if given.is_measured else ""
        yield Check("embedder", True, f"{given.name}{size}")
        return
    other = "" if used.name == given.name else f"; the setting says {given.name}, which `engram reembed` changes to"
    silent = setup.embedder.silent
    yield Check(
        "embedder",
        silent is None,
        f"{used.name}, {used.dimensions} dimensions{other}" if silent is None else str(silent),
        "give this process the model, or change it with `engram reembed`",
    )
    if used.name != local.PACKAGE:
        is_calibrated = scales.of_model(used.thresholds) is not None
        told = "measured" if is_calibrated else "those of the local model: `engram models calibrate` measures its own"
        yield Check("thresholds", True, told, "engram models calibrate")
    for row in rows:
        if row.state == "building":
            yield Check(
                "model", False, f"{row.name} is being built, or was left so", f"engram reembed --model {row.name}"
            )


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


def _language_models(_conn: Connection, setup: Setup) -> Iterator[Check]:
    models = setup.llm.models() if setup.llm is not None else ()
    failing = [model.name for model in models if setup.llm is not None and setup.llm.breaker(model).is_open]
    names = ", ".join(model.name for model in models) or "none: rules only"
    yield Check(
        "language models", not failing, f"failing: {', '.join(failing)}" if failing else names, "see ops.usage()"
    )


def _work(conn: Connection, _setup: Setup) -> Iterator[Check]:
    row = _one(conn, "inspect_work")
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
    listed = redactions.read(path, setup.scope.tenant_id) if path.exists() else []
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
        "restore into a server that is not younger than the ledger: followers would wait for ever",
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
    _server, _schema, _roles, _wall, _indexes, _model, _graph, _language_models, _work, _redactions, _horizon,
)  # fmt: skip


def _one(conn: Connection, name: str) -> Any:
    row = fetch_one(conn, name)
    assert row is not None
    return row
