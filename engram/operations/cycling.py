"""Consolidation: the steps of a cycle of a scope, each in transactions and a run of its own.

A step is a function `step(setup, call, cycle)`, where `call` says whose memory it is and who asks, and `cycle` which
run its own run belongs to. It gives the run it made, or None where it changes no memory. A cycle that was killed is
taken up where it was: what it goes by and which steps are done stand in its run.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

from engram import errors, ids, inputs, jobs, ledger, streams, tenancy, writing
from engram.channels import semantic
from engram.database import Connection, Jsonb, execute, fetch_all, fetch_one, fetch_value
from engram.jobs import Job
from engram.lifecycle import cycle as cycles
from engram.lifecycle import gate, layers, pruning
from engram.lifecycle.cycle import Cycle
from engram.lifecycle.deeds import Effect, archived, marked
from engram.lifecycle.layers import Row
from engram.operations import distilling, living, merging, sifting, spaces, steps, sweeping, topics
from engram.operations.living import Run
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.scope import Scope
from engram.values import LAYERS, Change, LifecycleRun

KIND: Final = "consolidate"  # of the job of a scope
LOOK: Final = "cycles"  # of the job that finds the scopes to consolidate
CORE_LOOKED_AT: Final = 300  # of the newest core memories, for overlaps
SHOWN: Final = 500  # memories that a step changes at most where a cycle is only shown
REHEARSAL: Final = 10.0  # seconds after which a cycle that is only shown begins no further step
AGAIN: Final = 60.0  # seconds after which the job of a cycle that another took up looks whether it came to its end
CAPACITY: Final = "capacity_warning"

Step = Callable[[Setup, Writing, Cycle], Operation[LifecycleRun | None]]
Changed = Operation[list[Change]]
T = TypeVar("T")

logger = logging.getLogger("engram")


class TakenUp(Exception):
    """Another process has taken up the cycle: what this one does for it is not to be done any more."""


# ------------------------------------------------ the steps


def stale_marks(setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """1: take away marks that say nothing any more."""

    def work(run: Run) -> Changed:
        core: frozenset[str] = frozenset()

        def look(conn: Connection, after: str | None) -> list[Row]:
            nonlocal core
            rows = sweeping.marked(call.tenant_id, cycle.scope_id)(conn, after)
            named = [row.marks[layers.OVERLAP] for row in rows if layers.OVERLAP in row.marks]
            core = frozenset(_core_of(conn, call.tenant_id, named))
            return rows

        def decide(row: Row) -> Effect | None:
            return layers.stale(row, core)

        return (yield from sweeping.sweep(setup, run, look, decide, most=cycle.most))

    return (yield from sweeping.step(call, "stale_marks", cycle, work))


def _core_of(conn: Connection, tenant_id: str, memory_ids: Sequence[str]) -> list[str]:
    if not memory_ids:
        return []
    rows = fetch_all(conn, "list_states", tenant_id=tenant_id, memory_ids=sorted(set(memory_ids)))
    return [row.memory_id for row in rows if row.state["layer"] == "core" and row.state["status"] == "active"]


def buffer_cap(setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """2: put away what the buffer has no room for, and what is over the most memories that a scope may hold."""
    cap = setup.policy.buffer_cap or layers.BUFFER_CAP

    def crowded(conn: Connection) -> list[Row]:
        over = _count(conn, call, cycle, ("buffer",)) - cap
        rows = sweeping.stream(conn, _layer(call, cycle, "buffer", gone=True))
        return layers.over_cap(sweeping.loose(setup, conn, call, rows), over, cycle.epoch) if over > 0 else []

    most = setup.policy.max_memories

    def surplus(conn: Connection) -> list[Row]:
        count = 0 if most is None else _count(conn, call, cycle, LAYERS)
        if most is None or count <= most:
            return []
        looks = [
            _layer(call, cycle, layer, gone=True) for layer in pruning.layers_of(setup.policy.intake, None)
        ]  # fmt: skip
        rows = (row for row in sweeping.stream(conn, *looks) if not row.critical)
        return pruning.lowest(sweeping.loose(setup, conn, call, rows), count - most, cycle.began)

    def work(run: Run) -> Changed:
        if most is not None:
            warn = partial(_warned, setup=setup, call=call, cycle=cycle, most=most)
            yield from steps.write(call.tenant_id, warn, key=run.run_id)
        changes: list[Change] = []
        for look, reason, because in (
            (crowded, "evicted", f"the buffer holds {cap} memories, and this weighs less than those"),
            (surplus, "pruned", "the scope holds more memories than it may, and of this one least is left"),
        ):
            rows = (yield from steps.read(call.tenant_id, look))[: cycle.most]
            changes += yield from sweeping.do(
                setup, run, [archived(row.memory_id, reason, because) for row in rows]
            )  # fmt: skip
        return changes

    return (yield from sweeping.step(call, "buffer_cap", cycle, work))


def _warned(conn: Connection, setup: Setup, call: Writing, cycle: Cycle, most: int) -> None:
    """Say once in the ledger and in the log that a scope has reached 80, 90 or 100 percent, each time it does."""
    count = _count(conn, call, cycle, LAYERS)
    percent = layers.warning_at(count, most)
    before = fetch_value(conn, "lock_warned", tenant_id=call.tenant_id, scope_id=cycle.scope_id)
    if before == (percent or 0):
        return
    execute(conn, "set_warned", tenant_id=call.tenant_id, scope_id=cycle.scope_id, warned=percent or 0)
    reached = layers.crossed(before, percent)
    if not reached:
        return
    logger.warning("a scope holds %d memories, %d %% of the most it may hold", count, percent)
    events = [
        ledger.NewEvent(
            role="system", event_type=CAPACITY, trust="operator", actor=call.actor,
            payload={"percent": one, "memories": count, "max_memories": most, "run_id": cycle.run_id},
        )
        for one in reached
    ]  # fmt: skip
    stream = streams.open(conn, cycle.scope_id, *setup.deeds)
    key = setup.settings.secret_key
    ledger.append(conn, scope_id=cycle.scope_id, stream_id=stream.stream_id, events=events, key=key)


def core_hygiene(setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """3: notes of sessions and ephemeral memories leave the core, for working."""

    def decide(row: Row) -> Effect | None:
        because = layers.falls(row)
        return None if because is None else layers.to(row, "working", cycle.epoch, because)

    return (yield from _swept(setup, call, cycle, "core_hygiene", _layer(call, cycle, "core"), decide))


def core_overlap(setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """4: flag core memories that say nearly what an older one says."""

    def look(conn: Connection) -> list[Effect]:
        model_id = _model_of(setup, conn, call.tenant_id)
        if model_id is None:
            return []
        least = merging.thresholds(setup, conn).core_overlap
        found = fetch_all(
            conn, "list_core_overlaps", tenant_id=call.tenant_id, scope_id=cycle.scope_id, model_id=model_id,
            least=least, limit=CORE_LOOKED_AT,
        )  # fmt: skip
        others = {row.memory_id: row.other_id for row in found}
        states = fetch_all(conn, "list_states", tenant_id=call.tenant_id, memory_ids=sorted(others))
        return [
            marked(
                row.memory_id, row.state["marks"], f"nearer than {least:.2g} to an older core memory",
                **{layers.OVERLAP: others[row.memory_id]},
            )
            for row in states if row.state["marks"].get(layers.OVERLAP) != others[row.memory_id]
        ]  # fmt: skip

    def work(run: Run) -> Changed:
        effects = yield from steps.read(call.tenant_id, look)
        return (yield from sweeping.do(setup, run, effects[: cycle.most]))

    return (yield from sweeping.step(call, "core_overlap", cycle, work))


def core_candidates(setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """5: mark the working memories that are reinforced enough for the gate."""
    policy = setup.policy

    def decide(row: Row) -> Effect | None:
        if layers.CANDIDATE in row.marks or not gate.may_ask(row.marks, cycle.epoch):
            return None
        if not layers.is_candidate(row, cycle.epoch, cycle.began, policy.promote_score, policy.promote_importance):
            return None
        because = f"a reinforcement score of {layers.score(row):g} and an importance that lasts"
        return marked(row.memory_id, row.marks, because, **{layers.CANDIDATE: cycle.epoch})

    look = _layer(call, cycle, "working", used=True)
    return (yield from _swept(setup, call, cycle, "core_candidates", look, decide))


def promotion(setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """6: what is reinforced enough, and lessons and procedures that stayed, rise from the buffer to working."""

    def decide(row: Row) -> Effect | None:
        because = layers.rises(row, cycle.epoch, setup.policy.promote_score)
        return None if because is None else layers.to(row, "working", cycle.epoch, because, **{layers.TRIAGED: None})

    return (yield from _swept(setup, call, cycle, "promotion", _layer(call, cycle, "buffer"), decide))


def epoch(_setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """7: the clock of the scope advances by one, in the transaction that notes the step as done."""
    note = partial(_noted, tenant_id=call.tenant_id, cycle=cycle, name="epoch", failed=False)
    yield from steps.write(call.tenant_id, note, key=cycle.run_id)
    return None


def eviction(setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """8: put away the memories of the buffer of which nothing is left."""

    def decide(row: Row) -> Effect | None:
        if not layers.is_spent(row, cycle.epoch + 1):
            return None
        because = f"activity has left less than {layers.SPENT} of its importance"
        return archived(row.memory_id, "evicted", because)

    return (yield from _swept(setup, call, cycle, "eviction", _layer(call, cycle, "buffer", gone=True), decide))


def gating(setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """9: the marked candidates that belong in the core enter it; the others are refused for some time."""

    def work(run: Run) -> Changed:
        look = sweeping.marked(call.tenant_id, cycle.scope_id, layers.CANDIDATE)
        level = setup.level_of(sifting.GATE)
        unsure: list[Row] = []

        def decide(row: Row) -> Effect | None:
            if row.layer != "working":
                return None
            judged = gate.of_core(row)
            if gate.asks_model(judged, level):
                unsure.append(row)
                unsure[:] = gate.in_turn(unsure, cycle.epoch)
                return None  # those that a model has no time for keep their mark until another cycle
            return _gated(row, cycle, gate.without_model(judged))

        changes = yield from sweeping.sweep(setup, run, look, decide, most=cycle.most)
        unsure.sort(key=lambda row: row.memory_id)
        said = yield from sifting.ask_gate(setup, call.scope, unsure)
        # Where no answer came, nothing was refused: the candidate stays one.
        effects = [_gated(row, cycle, said[row.memory_id]) for row in unsure if row.memory_id in said]
        return [*changes, *(yield from sweeping.do(setup, run, effects))]

    return (yield from sweeping.step(call, "gate", cycle, work))


def _gated(row: Row, cycle: Cycle, judged: gate.Judged) -> Effect:
    made = gate.passed if judged.verdict == "pass" else gate.refused
    return made(row, cycle.epoch + 1, judged.because)


def triage(setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """13: of the memories that came into the buffer, those worth keeping rise; the others are marked as looked at."""

    def due(conn: Connection) -> list[Row]:
        found: list[Row] = []
        for row in sweeping.stream(conn, _layer(call, cycle, "buffer")):
            if gate.is_due(row, cycle.began):
                found.append(row)
                if len(found) == gate.BATCH:
                    break
        return found

    def work(run: Run) -> Changed:
        rows = yield from steps.read(call.tenant_id, due)
        judged = {row.memory_id: gate.of_buffer(row) for row in rows}
        level = setup.level_of(sifting.TRIAGE)
        unsure = [row for row in rows if gate.asks_model(judged[row.memory_id], level)]
        judged |= yield from sifting.ask_triage(setup, call.scope, unsure)
        effects = [gate.triaged(row, cycle.epoch + 1, judged[row.memory_id]) for row in rows]
        return (yield from sweeping.do(setup, run, effects))

    return (yield from sweeping.step(call, "triage", cycle, work))


def missing_vectors(setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """16: have a job give the memories without a vector theirs."""
    if setup.embedder is None or call.dry_run:
        return None

    def work(conn: Connection) -> None:
        if fetch_value(conn, "has_unembedded", tenant_id=call.tenant_id, scope_id=cycle.scope_id):
            jobs.add(conn, kind=jobs.EMBED, dedup_key=cycle.step_id("missing_vectors"), scope_id=cycle.scope_id)

    yield from steps.write(call.tenant_id, work, key=cycle.run_id)
    return None


STEPS: Final[Mapping[str, Step | None]] = {
    "stale_marks": stale_marks,
    "buffer_cap": buffer_cap,
    "core_hygiene": core_hygiene,
    "core_overlap": core_overlap,
    "core_candidates": core_candidates,
    "promotion": promotion,
    "epoch": epoch,
    "eviction": eviction,
    "gate": gating,
    "reconcile": merging.reconcile_step,
    "session_distillation": distilling.session_distillation,
    "buffer_dedup": distilling.buffer_dedup,
    "triage": triage,
    "merge": merging.merge_step,
    "topic_distillation": distilling.topic_distillation,
    "missing_vectors": missing_vectors,
    "core_summary": None,
}
"""What runs each step of `lifecycle.cycle.STEPS`; None is a step that is not there yet."""

ASKS: Final[Mapping[str, str]] = {"reconcile": "reconcile", "topic_distillation": "distill"}
"""The steps that are left out where their component may ask no model."""


def _swept(
    setup: Setup, call: Writing, cycle: Cycle, name: str, look: sweeping.Look, decide: Callable[[Row], Effect | None]
) -> Operation[LifecycleRun | None]:
    def work(run: Run) -> Changed:
        return (yield from sweeping.sweep(setup, run, look, decide, most=cycle.most))

    return (yield from sweeping.step(call, name, cycle, work))


def _layer(call: Writing, cycle: Cycle, layer: Any, *, gone: bool = False, used: bool = False) -> sweeping.Look:
    return sweeping.layer_of(call.tenant_id, cycle.scope_id, layer, cycle.began, gone=gone, used=used)


def _count(conn: Connection, call: Writing, cycle: Cycle, of: Sequence[str]) -> int:
    asked = {"tenant_id": call.tenant_id, "scope_id": cycle.scope_id, "layers": list(of)}
    return int(fetch_value(conn, "count_lively", **asked))


def _model_of(setup: Setup, conn: Connection, tenant_id: str) -> int | None:
    return setup.model_of(tenant_id, semantic.ensure_model(conn, tenant_id, setup.embedder)[0])


# ------------------------------------------------ the cycle


def consolidate(setup: Setup, merge: object, given: Mapping[str, Any]) -> Operation[LifecycleRun]:
    """Run a cycle of one scope, if it was written to since the last one or is in the middle of one."""
    call = setup.writing(given)
    merges = inputs.flag(merge, "merge")
    setup = yield from spaces.ready(setup, call.tenant_id)
    if call.dry_run:
        return (yield from _rehearsed(setup, call, merges))
    return (yield from _run(setup, call, merges))


def work(setup: Setup, job: Job) -> Operation[None]:
    """Run the cycle that a job asks for."""
    scope = yield from steps.read(job.tenant_id, lambda conn: scope_of(conn, job))
    if scope is not None:
        call = Writing(scope, actor="engram")
        # A cycle that another left undone takes no account of what was written since: one more does.
        for _ in range(2):
            begun = yield from steps.write(job.tenant_id, partial(_begun, call=call, merge=False), key=KIND)
            if isinstance(begun, LifecycleRun):
                break
            try:
                yield from _gone_through(setup, call, begun, job)
            except TakenUp:
                raise errors.Unavailable("another process has taken up the cycle", retry_after=AGAIN) from None
            if begun.is_new:
                break
    yield from steps.write(job.tenant_id, lambda conn: _finish(conn, job), key=job.job_id)


def look(_setup: Setup, job: Job) -> Operation[None]:
    """Queue a cycle for every scope, of every tenant, that was written to."""

    def effect(conn: Connection) -> None:
        jobs.hold(conn, job)
        fetch_value(conn, "queue_cycles")
        jobs.finish(conn, job)

    yield from steps.write(job.tenant_id, effect, key=job.job_id)


def scope_of(conn: Connection, job: Job) -> Scope | None:
    """The scope of a job; None where it is gone."""
    rows = fetch_all(conn, "find_scope_by_id", tenant_id=job.tenant_id, scope_id=job.scope_id)
    return Scope(job.tenant_id, rows[0].namespace, rows[0].agent_id, rows[0].user_id) if rows else None


def _finish(conn: Connection, job: Job) -> None:
    jobs.hold(conn, job)
    jobs.finish(conn, job)


@dataclass(frozen=True, slots=True)
class Begun:
    """A cycle under way, the steps that are done, and whether it began just now."""

    cycle: Cycle
    done: tuple[str, ...]
    is_new: bool


def _run(setup: Setup, call: Writing, merge: bool) -> Operation[LifecycleRun]:
    begun = yield from steps.write(call.tenant_id, partial(_begun, call=call, merge=merge), key=KIND)
    if isinstance(begun, LifecycleRun):
        return begun
    try:
        return (yield from _gone_through(setup, call, begun, None))
    except TakenUp:
        return (yield from steps.read(call.tenant_id, partial(_shown, call=call, run_id=begun.cycle.run_id)))


def _shown(conn: Connection, call: Writing, run_id: str) -> LifecycleRun:
    return living.read_run(conn, tenancy.visible(conn, call.scope), run_id)


def _gone_through(setup: Setup, call: Writing, begun: Begun, job: Job | None) -> Operation[LifecycleRun]:
    """Run the steps that are left of a cycle; TakenUp as soon as another has taken it up."""
    cycle, started = begun.cycle, time.monotonic()
    if call.dry_run:
        cycle = replace(cycle, most=SHOWN)
    plain = replace(call, idempotency_key=None, dry_run=False)
    for name in cycle.left(begun.done):
        if STEPS[name] is None:
            continue
        if call.dry_run and time.monotonic() - started > REHEARSAL:
            break
        failed = not (yield from _tried(setup, plain, cycle, name))
        note = partial(_noted, tenant_id=call.tenant_id, cycle=cycle, name=name, failed=failed, job=job)
        yield from steps.write(call.tenant_id, note, key=cycle.run_id)
    return (yield from steps.write(call.tenant_id, partial(_ended, call=call, cycle=cycle), key=cycle.run_id))


def _tried(setup: Setup, call: Writing, cycle: Cycle, name: str) -> Operation[bool]:
    """Run a step; whether it could be done."""
    step = STEPS[name]
    assert step is not None
    if name in ASKS and not setup.asks(ASKS[name]):
        return True
    try:
        yield from _held(step(setup, call, cycle), partial(_hold, tenant_id=call.tenant_id, cycle=cycle))
    except TakenUp:
        raise
    except Exception as error:  # noqa: BLE001 - a step that fails is named, and the others are run
        # The class, never the text: that of an error may quote what somebody said.
        said = error.code if isinstance(error, errors.EngramError) else type(error).__name__
        logger.warning("the step %s of a cycle failed (%s)", name, said)
        return False
    return True


def _held(operation: Operation[T], hold: Callable[[Connection], None]) -> Operation[T]:
    """The operation, each of whose writing transactions begins with `hold`."""
    said: Any = None
    failed: Exception | None = None
    try:
        while True:
            step = operation.send(said) if failed is None else operation.throw(failed)
            if isinstance(step, steps.Transact) and not step.read_only:
                step = replace(step, work=partial(_after, hold=hold, work=step.work))
            elif isinstance(step, steps.Together):
                step = replace(step, operations=[_held(one, hold) for one in step.operations])
            try:
                said, failed = (yield step), None
            except Exception as error:  # noqa: BLE001 - it is the operation's to handle
                said, failed = None, error
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        operation.close()


def _after(conn: Connection, hold: Callable[[Connection], None], work: Callable[[Connection], T]) -> T:
    hold(conn)
    return work(conn)


def _hold(conn: Connection, tenant_id: str, cycle: Cycle) -> None:
    """Keep others from taking up the cycle until the end of the transaction; TakenUp where one has."""
    holder = fetch_value(conn, "hold_cycle", tenant_id=tenant_id, run_id=cycle.run_id)
    if holder != cycle.holder:
        raise TakenUp


def _begun(conn: Connection, call: Writing, merge: bool) -> Begun | LifecycleRun:
    """A cycle of the scope and the steps that are done: the one it is in the middle of, else a new one.

    Whoever asks becomes its holder: who ran it before, if that is not dead, writes nothing more for it.

    Where nothing was written since the last one, that is said in place of a cycle.
    """
    scope_id = tenancy.ensure(conn, call.scope)
    visible = tenancy.visible(conn, call.scope)
    if call.idempotency_key is not None:
        named = living.run_of(conn, call.scope, scope_id, cycles.RUN, call.idempotency_key)
        before = fetch_one(conn, "find_run", tenant_id=call.tenant_id, run_id=named, scope_ids=[scope_id])
        if before is not None and before.cycle is not None and before.cycle["merge"] != merge:
            raise errors.IdempotencyMismatch
        if before is not None and before.finished:
            return living.read_run(conn, visible, named)
    else:
        named = ids.new_id()
    fetch_all(conn, "lock_keys", keys=[f"{call.tenant_id}/{scope_id}/cycle"], shared=[], first=[])
    while True:
        clock = fetch_one(conn, "find_clock", tenant_id=call.tenant_id, scope_id=scope_id)
        assert clock is not None
        if clock.run_id is None:
            break
        row = _taken_up(conn, call, clock.run_id)
        if not row.finished:  # or it came to its end while this waited
            return Begun(_cycle(row), (*row.steps, *row.failed_steps), is_new=False)
    if not call.dry_run:
        _wait_for_writers(conn, call.tenant_id, scope_id)
    last = fetch_value(conn, "last_written", tenant_id=call.tenant_id, scope_id=scope_id, after=clock.cycled_change_id)
    if last is None:
        return LifecycleRun(named, cycles.RUN, call.reason, call.actor, call.dry_run, (), (), clock.now)
    execute(
        conn, "add_run", tenant_id=call.tenant_id, run_id=named, scope_id=scope_id, parent_id=None, step=cycles.RUN,
        reason=call.reason, actor=call.actor,
    )  # fmt: skip
    told = {"epoch": clock.epoch, "upto": last, "merge": merge}
    execute(conn, "begin_cycle", tenant_id=call.tenant_id, run_id=named, cycle=Jsonb(told))
    return Begun(_cycle(_taken_up(conn, call, named)), (), is_new=True)


def _taken_up(conn: Connection, call: Writing, run_id: str) -> Any:
    execute(conn, "take_cycle", tenant_id=call.tenant_id, run_id=run_id, holder=ids.new_id())
    row = fetch_one(conn, "find_cycle", tenant_id=call.tenant_id, run_id=run_id)
    assert row is not None
    return row


def _cycle(row: Any) -> Cycle:
    told = row.cycle
    return Cycle(row.run_id, told["epoch"], row.started_at, told["merge"], row.scope_id, holder=told["holder"])


def _wait_for_writers(conn: Connection, tenant_id: str, scope_id: int) -> None:
    """Let the writers of the scope come to their end, so that no change appears later with a lower number."""
    fetch_all(conn, "lock_keys", keys=[writing.projection_lock(tenant_id, scope_id)], shared=[], first=[])


def _noted(conn: Connection, tenant_id: str, cycle: Cycle, name: str, failed: bool, job: Job | None = None) -> None:
    """Note a step as done, once; the clock advances with its own step."""
    if job is not None:
        jobs.hold(conn, job)
        jobs.extend(conn, job)
    row = fetch_one(conn, "find_cycle", tenant_id=tenant_id, run_id=cycle.run_id)
    if row is None or row.cycle.get("holder") != cycle.holder:
        raise TakenUp
    if name in row.steps or name in row.failed_steps:
        return
    if name == "epoch":
        execute(conn, "advance_epoch", tenant_id=tenant_id, scope_id=cycle.scope_id)
    execute(
        conn, "close_run", tenant_id=tenant_id, run_id=cycle.run_id, finished=row.finished,
        steps=[*row.steps, *([] if failed else [name])], failed_steps=[*row.failed_steps, *([name] if failed else [])],
        asked=None,
    )  # fmt: skip


def _ended(conn: Connection, call: Writing, cycle: Cycle) -> LifecycleRun:
    row = fetch_one(conn, "find_cycle", tenant_id=call.tenant_id, run_id=cycle.run_id)
    if row is None or row.cycle.get("holder") != cycle.holder:
        raise TakenUp
    execute(
        conn, "end_cycle", tenant_id=call.tenant_id, scope_id=cycle.scope_id, change_id=row.cycle.get("upto", 0)
    )  # fmt: skip
    execute(
        conn, "close_run", tenant_id=call.tenant_id, run_id=cycle.run_id, steps=list(row.steps),
        failed_steps=list(row.failed_steps), finished=True, asked=None,
    )  # fmt: skip
    topics.queue(conn, cycle.scope_id, cycle.run_id)
    return living.read_run(conn, tenancy.visible(conn, call.scope), cycle.run_id)


def _rehearsed(setup: Setup, call: Writing, merge: bool) -> Operation[LifecycleRun]:
    """The cycle as it would be by rules, in a transaction that is taken back: each step sees what those before did."""
    # Its events have a stream of their own: appending to the scope's would keep every writer waiting.
    quiet = replace(setup, llm=None, deeds=("scope", f"rehearsal/{ids.new_id()}"))
    tried = replace(call, idempotency_key=None)

    def whole(conn: Connection) -> LifecycleRun:
        return replace(steps.carried_out(conn, _run(quiet, tried, merge)), dry_run=True)

    return (yield from steps.write(call.tenant_id, steps.undone(whole), key="rehearsal"))
