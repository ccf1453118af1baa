"""Pruning and expiry: what is put away when somebody asks for less, and what has been over for a week."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, cast

from engram import ids, inputs, jobs, tenancy
from engram.database import Connection, fetch_value
from engram.jobs import Job
from engram.lifecycle import pruning
from engram.lifecycle.deeds import Effect, archived
from engram.lifecycle.layers import Row
from engram.lifecycle.pruning import Mode
from engram.operations import cycling, living, spaces, steps, sweeping
from engram.operations.living import Run
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.operations.sweeping import Look
from engram.values import LAYERS, Change, Layer, LifecycleRun

EXPIRE: Final = "expire"  # of the job of a scope
LOOK: Final = "expiries"  # of the job that finds the scopes with something that is over
GRACE: Final = timedelta(days=7)
LOOKED_AT: Final = 100_000  # expired memories, of all tenants, that one look takes account of


def prune(setup: Setup, mode: object, layers: object, given: Mapping[str, Any]) -> Operation[LifecycleRun]:
    """Put away the expired memories of a scope, the faded ones, and the lowest tenth of the rest, as the mode says."""
    call = setup.writing(given)
    chosen = cast("Mode", inputs.choice(mode, "mode", pruning.MODES))
    asked = inputs.optional(_layers, layers)
    setup = yield from spaces.ready(setup, call.tenant_id)
    run = yield from living.opened(call, "prune", asked={"mode": chosen, "layers": asked and sorted(set(asked))})
    before = yield from living.finished(run)
    if before is not None:
        return before
    scope_id, now = yield from steps.read(call.tenant_id, partial(_place, call=call))
    if scope_id is None:
        return (yield from living.closed(run, []))
    looks = [
        sweeping.layer_of(call.tenant_id, scope_id, layer, now, gone=True)
        for layer in pruning.layers_of(setup.policy.intake, asked)
    ]  # fmt: skip

    def decide(row: Row) -> Effect | None:
        found = None if row.critical else pruning.falls_to(row, chosen, now)
        return None if found is None else archived(row.memory_id, found.reason, found.because)

    changes: list[Change] = []
    for look in looks:
        changes += yield from sweeping.sweep(setup, run, look, decide)
    if chosen == "aggressive":
        lowest = partial(_lowest, setup=setup, run=run, looks=looks, now=now)
        rows = yield from steps.read(call.tenant_id, lowest)
        effects = [archived(row.memory_id, "pruned", pruning.LOWEST) for row in rows]
        changes += yield from sweeping.do(setup, run, effects)
    return (yield from living.closed(run, changes))


def _layers(given: object) -> tuple[Layer, ...]:
    said = inputs.items(given, "layers", len(LAYERS))
    return tuple(cast("Layer", inputs.choice(one, "layers", LAYERS)) for one in said)


def _place(conn: Connection, call: Writing) -> tuple[int | None, datetime]:
    return tenancy.find(conn, call.scope), fetch_value(conn, "read_clock")


def _lowest(conn: Connection, setup: Setup, run: Run, looks: Sequence[Look], now: datetime) -> list[Row]:
    """What is left of the lowest tenth of what remained; two walks, so that no more than those rows are held.

    A run that is taken up again, or that another call with its key goes through, has put away some of it already.
    """
    gone = int(
        fetch_value(conn, "count_put_away", tenant_id=run.call.tenant_id, run_id=run.run_id, because=pruning.LOWEST)
    )
    many = (sum(1 for _ in _remaining(conn, looks, now)) + gone) // 10 - gone
    return pruning.lowest(sweeping.loose(setup, conn, run.call, _remaining(conn, looks, now)), max(0, many), now)


def _remaining(conn: Connection, looks: Sequence[Look], now: datetime) -> Iterator[Row]:
    for row in sweeping.stream(conn, *looks):
        if not row.critical and pruning.falls_to(row, "normal", now) is None:
            yield replace(row, fact="")


def expire(setup: Setup, job: Job) -> Operation[None]:
    """Put away what expired in a scope longer ago than the grace."""
    scope = yield from steps.read(job.tenant_id, lambda conn: cycling.scope_of(conn, job))
    if scope is not None:
        call = Writing(scope, actor="engram", reason="expiry")
        run = yield from living.opened(call, EXPIRE, run_id=ids.id_of(job.job_id, EXPIRE))
        changes = yield from _expired(setup, run, int(job.scope_id or 0))
        yield from living.closed(run, changes)

    def finish(conn: Connection) -> None:
        jobs.hold(conn, job)
        jobs.finish(conn, job)

    yield from steps.write(job.tenant_id, finish, key=job.job_id)


def _expired(setup: Setup, run: Run, scope_id: int) -> Operation[list[Change]]:
    _, now = yield from steps.read(run.call.tenant_id, partial(_place, call=run.call))

    def decide(row: Row) -> Effect | None:
        if row.critical or row.expires_at is None or row.expires_at > now - GRACE:
            return None
        return archived(row.memory_id, "expired", f"expired on {row.expires_at:%Y-%m-%d}")

    changes: list[Change] = []
    for layer in cast("tuple[Layer, ...]", LAYERS):
        look = sweeping.layer_of(run.call.tenant_id, scope_id, layer, now, gone=True)
        changes += yield from sweeping.sweep(setup, run, look, decide)
    return changes


def look(_setup: Setup, job: Job) -> Operation[None]:
    """Queue a job for every scope, of every tenant, that holds what has been over for longer than the grace."""

    def effect(conn: Connection) -> None:
        jobs.hold(conn, job)
        fetch_value(conn, "queue_expiries", grace=GRACE, limit=LOOKED_AT)
        jobs.finish(conn, job)

    yield from steps.write(job.tenant_id, effect, key=job.job_id)
