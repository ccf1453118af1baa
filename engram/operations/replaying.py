"""Replaying: a scope's memories derived again from its ledger beside the live ones, compared with them, switched to.

A shadow is written by the very code that wrote the live memories, event by event in the order in which those learned of
them, in batches that survive a kill. Direct changes are events: each is made again on the memory that stands for its
own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from sqlalchemy.engine import Row

from engram import (
    batching,
    chain,
    derivation,
    ids,
    inputs,
    jobs,
    ledger,
    memories,
    policies,
    projection,
    streams,
    tenancy,
    writing,
)
from engram.channels import semantic, upkeep
from engram.database import Connection, execute, fetch_all, fetch_one, fetch_value
from engram.derivation import llm
from engram.errors import Conflict, IdempotencyMismatch, InvalidInput, LimitExceeded, NotFound, Unavailable
from engram.lifecycle import trees
from engram.operations import changing, deriving, echoing, extracting, living, relating, spaces, steps
from engram.operations.setup import DIRECT, Setup, Writing
from engram.operations.steps import Operation
from engram.policies import MemoryPolicy
from engram.scope import Scope
from engram.tenancy import Visible
from engram.values import Event, Memory, Replay, ReplayChange, ReplayDiff, ReplayProblem
from engram.writing import Desk, Draft, Origin, Settled

BATCH: Final = 100  # steps a transaction
MOST: Final = 4  # shadows of one scope
SHOWN: Final = 1_000
TRIES: Final = 20
ROUNDS: Final = 5
SWITCHED: Final = "projection_switched"
REDACTION: Final = "redaction"
NAMES: Final = (*(one.NAME for one in derivation.DERIVERS), llm.NAME)
LIVE: Final = "7"
Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Shadow:
    """A projection beside the live one: whose, what it is derived by, and how far it has come."""

    scope: Scope
    scope_id: int
    shadow_id: int
    name: str
    digit: str
    state: str
    policy: str
    derivers: tuple[str, ...] | None
    since: datetime | None
    place: int
    steps: int
    started_at: datetime
    changed_at: datetime

    @property
    def params(self) -> dict[str, Any]:
        """What its statements are asked with."""
        return {"tenant_id": self.scope.tenant_id, "shadow_id": self.shadow_id, "scope_id": self.scope_id}

    def value(self) -> Replay:
        """The shadow as a caller sees it."""
        return Replay(
            self.name, self.state, self.policy, self.derivers, self.since, self.place, self.steps,  # type: ignore[arg-type]
            self.started_at, self.changed_at,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One event as one deriver reads it, or a direct change; `at` is when the live memories learned of it."""

    place: int
    part: str
    at: datetime
    event: Event
    before: Sequence[Event] = ()  # the messages before the event, where it may need them


# ------------------------------------------------ what callers ask for


def replay(
    setup: Setup, *, since: object, derivers: object, policy: object, progress: object,
    given: Mapping[str, Any],
) -> Operation[ReplayDiff]:  # fmt: skip
    """Derive the scope's memories again beside the live ones, and show the difference."""
    call = setup.writing(given)
    start = inputs.optional(inputs.moment, since, "since")
    chosen = None if derivers is None else inputs.items(derivers, "derivers", len(NAMES))
    names = None if chosen is None else tuple(sorted({inputs.choice(one, "derivers", NAMES) for one in chosen}))
    setup = replace(setup, policy=policy_named(setup, policy))
    watch = _progress(progress)

    def opened(conn: Connection) -> Shadow:
        return begun(conn, call.scope, label(setup.policy), names, start)

    shadow = yield from steps.write(call.tenant_id, opened, key="replay")
    yield from catch_up(setup, shadow, watch)
    diff = yield from steps.read(call.tenant_id, lambda conn: compared(conn, shadow))
    if call.dry_run:
        yield from steps.write(call.tenant_id, lambda conn: drop_shadow(conn, call, shadow.name), key="replay")
    return diff


def begun(
    conn: Connection, scope: Scope, policy: str, derivers: Sequence[str] | None, since: datetime | None,
    *, named: str | None = None,
) -> Shadow:  # fmt: skip
    """A shadow to derive into: an unfinished one of the same kind, else a new one; a new one where it is `named`."""
    scope_id = scope_id_of(conn, scope)
    _lock(conn, scope, scope_id)
    names = None if derivers is None else tuple(derivers)
    name = named or ids.new_id()
    for shadow in () if named is not None else shadows(conn, scope, scope_id):
        if shadow.state == "building" and (shadow.policy, shadow.derivers, shadow.since) == (policy, names, since):
            return shadow
    shadow_id = fetch_value(
        conn, "add_shadow", tenant_id=scope.tenant_id, scope_id=scope_id, replay_id=name, policy=policy,
        derivers=None if names is None else list(names), since=since,
    )  # fmt: skip
    if shadow_id is None:
        raise Conflict("the scope has as many shadows as it may have: drop one")
    if since is not None:
        fetch_value(conn, "seed_projection", shadow_id=shadow_id)
        execute(conn, "seed_privacy", tenant_id=scope.tenant_id, shadow_id=shadow_id)
    return _shadow(conn, scope, scope_id, name)


def switch(
    setup: Setup, shadow_id: object, *, policy: object, progress: object, given: Mapping[str, Any]
) -> Operation[Replay]:
    """Let a shadow and the live memories change places, once it has caught up with the ledger."""
    call = setup.writing(given).keyed()
    wanted, watch = inputs.event_id(shadow_id, "shadow_id"), _progress(progress)
    named = None if policy is None else policy_named(setup, policy)

    def look(conn: Connection) -> tuple[Shadow, bool]:
        shadow = shadow_named(conn, call.scope, wanted)
        return shadow, _is_repeated(conn, call, shadow)

    shadow, done_before = yield from steps.read(call.tenant_id, look)
    if done_before:
        return shadow.value()
    setup = yield from spaces.ready(replace(setup, policy=_policy_of(setup, shadow, named)), call.tenant_id)

    def work(conn: Connection) -> Replay | None:
        scope_id = scope_id_of(conn, call.scope)
        _, building = semantic.hold_models(conn)  # before other locks, as every write does
        _lock(conn, call.scope, scope_id, "replay", "projection")
        now = shadow_named(conn, call.scope, wanted)
        if _is_repeated(conn, call, now):
            return shadow_named(conn, call.scope, wanted).value()
        if not _follow(setup, conn, now):
            return None
        execute(conn, "keep_private", **now.params, policy=now.policy, digit=now.digit)
        _pass_over(conn, now)
        fetch_value(conn, "switch_projection", shadow_id=now.shadow_id)
        execute(conn, "return_relations", tenant_id=call.tenant_id, scope_id=now.scope_id, digit=now.digit)
        trees.forget_scope(conn, call.tenant_id, now.scope_id)
        execute(conn, "mark_unembedded", tenant_id=call.tenant_id, scope_id=now.scope_id)
        if building is not None:
            semantic.owe_scope(conn, call.tenant_id, building.model_id, now.scope_id)
        if fetch_all(conn, "count_pending", tenant_id=call.tenant_id, scope_id=now.scope_id)[0].pending:
            jobs.add(conn, kind=jobs.EMBED, dedup_key=f"switch/{call.idempotency_key}", scope_id=now.scope_id)
        if upkeep.is_wanted(conn, call.tenant_id, now.scope_id):
            key = f"switch/{call.idempotency_key}"
            jobs.add(conn, kind=upkeep.KIND, dedup_key=key, scope_id=now.scope_id, priority=writing.UPKEEP_PRIORITY)
        _append(setup, conn, call, now)
        return shadow_named(conn, call.scope, wanted).value()

    for _ in range(TRIES):
        yield from catch_up(setup, shadow, watch)
        done = yield from steps.write(
            call.tenant_id, steps.undone(work) if call.dry_run else work, key=call.idempotency_key
        )
        if done is not None:
            yield from steps.ring(call.tenant_id)
            return done
    raise Unavailable("the scope is written to faster than the shadow can follow", retry_after=1.0)


def _is_repeated(conn: Connection, call: Writing, shadow: Shadow) -> bool:
    """Whether an earlier call with this key switched to this shadow; IdempotencyMismatch for another call."""
    event = ledger.find_by_key(conn, shadow.scope_id, str(call.idempotency_key))
    if event is None:
        return False
    if event.event_type != SWITCHED or not (event.erased or event.payload.get("shadow_id") == shadow.name):
        raise IdempotencyMismatch
    return True


def drop(setup: Setup, shadow_id: object, given: Mapping[str, Any]) -> Operation[int]:
    """Drop a shadow; how many memories it held."""
    call, wanted = setup.writing(given), inputs.event_id(shadow_id, "shadow_id")

    def work(conn: Connection) -> int:
        return drop_shadow(conn, call, wanted)

    return (yield from steps.write(call.tenant_id, steps.undone(work) if call.dry_run else work, key=None))


def list_replays(setup: Setup, given: Mapping[str, Any]) -> Operation[tuple[Replay, ...]]:
    """The shadows of exactly one scope, oldest first."""
    scope = setup.reading(given).scope.for_write()

    def work(conn: Connection) -> tuple[Replay, ...]:
        scope_id = tenancy.find(conn, scope)
        return () if scope_id is None else tuple(one.value() for one in shadows(conn, scope, scope_id))

    return (yield from steps.read(scope.tenant_id, work))


def compare(setup: Setup, shadow_id: object, given: Mapping[str, Any]) -> Operation[ReplayDiff]:
    """How a shadow differs from the live memories as both stand now."""
    scope, wanted = setup.reading(given).scope.for_write(), inputs.event_id(shadow_id, "shadow_id")
    return (yield from steps.read(scope.tenant_id, lambda conn: compared(conn, shadow_named(conn, scope, wanted))))


# ------------------------------------------------ shadows


def policy_named(setup: Setup, policy: object) -> MemoryPolicy:
    if policy is None:
        return setup.policy
    if isinstance(policy, MemoryPolicy):
        return policy
    known = {one.name: one for one in (*policies.built_in(), setup.policy)}
    return known[inputs.choice(policy, "policy", known)]


def _progress(progress: object) -> Progress | None:
    return inputs.optional(inputs.function, progress, "progress", "a function of the steps done and of all steps")


def _policy_of(setup: Setup, shadow: Shadow, policy: MemoryPolicy | None) -> MemoryPolicy:
    """The policy a shadow was derived by; Conflict when this process has another one of that name."""
    known = {one.name: one for one in (*policies.built_in(), setup.policy)}
    chosen = policy or known.get(shadow.policy.rpartition("@")[0], setup.policy)
    if label(chosen) != shadow.policy:
        raise Conflict("the shadow was derived by another policy: give that one", policy=shadow.policy)
    return chosen


def label(policy: MemoryPolicy) -> str:
    return f"{policy.name}@{policy.version}"


def scope_id_of(conn: Connection, scope: Scope) -> int:
    tenancy.show_shadows(conn)
    scope_id = tenancy.find(conn, scope)
    if scope_id is None:
        raise NotFound("nothing was ever written to this scope")
    return scope_id


def _shadow_of(row: Row[Any], scope: Scope) -> Shadow:
    return Shadow(
        scope, int(row.scope_id), int(row.shadow_id), row.replay_id, row.digit, row.state, row.policy,
        None if row.derivers is None or row.state == "former" else tuple(row.derivers), row.since, int(row.place),
        int(row.steps), row.started_at, row.changed_at,
    )  # fmt: skip


def shadows(conn: Connection, scope: Scope, scope_id: int) -> list[Shadow]:
    """The shadows of a scope, oldest first."""
    rows = fetch_all(conn, "list_replays", tenant_id=scope.tenant_id, scope_id=scope_id)
    return [_shadow_of(row, scope) for row in rows]


def _shadow(conn: Connection, scope: Scope, scope_id: int, name: str) -> Shadow:
    row = fetch_one(conn, "find_replay", tenant_id=scope.tenant_id, scope_id=scope_id, replay_id=name)
    if row is None:
        raise NotFound("no shadow with that id in this scope")
    return _shadow_of(row, scope)


def shadow_named(conn: Connection, scope: Scope, name: str) -> Shadow:
    return _shadow(conn, scope, scope_id_of(conn, scope), name)


def lock_out(conn: Connection, tenant_id: str, scope_id: int) -> None:
    """Keep the replays of a scope out until the end of the transaction, and show it their shadows."""
    tenancy.keep_replays_out(conn, tenant_id, scope_id)
    tenancy.show_shadows(conn)


def _lock(conn: Connection, scope: Scope, scope_id: int, *names: str) -> None:
    for name in names or ("replay",):
        fetch_all(conn, "lock_projection", key=f"{scope.tenant_id}/{scope_id}/{name}")


def drop_shadow(conn: Connection, call: Writing, name: str) -> int:
    semantic.hold_models(conn)  # before other locks, as every write does
    shadow = shadow_named(conn, call.scope, name)
    _lock(conn, call.scope, shadow.scope_id)
    shadow_named(conn, call.scope, name)
    return int(fetch_value(conn, "drop_projection", shadow_id=shadow.shadow_id))


def _append(setup: Setup, conn: Connection, call: Writing, shadow: Shadow) -> None:
    """The switch as an event of the ledger: which shadow, and by what policy it was derived."""
    event = ledger.NewEvent(
        role="system", event_type=SWITCHED, trust=call.trust or "operator", actor=call.actor,
        payload={"shadow_id": shadow.name, "policy": shadow.policy, **({"reason": call.reason} if call.reason else {})},
        idempotency_key=call.idempotency_key,
    )  # fmt: skip
    stream = streams.open(conn, shadow.scope_id, *DIRECT)
    key = setup.settings.secret_key
    ledger.append(conn, scope_id=shadow.scope_id, stream_id=stream.stream_id, events=[event], key=key)


# ------------------------------------------------ going through the ledger


def _plan(conn: Connection, shadow: Shadow, until: datetime | None = None) -> int:
    """Add what the live memories have taken in since, up to a moment; how many steps that is."""
    return execute(
        conn, "plan_replay", **shadow.params,
        changes=[*changing.CHANGES, *relating.CHANGES, living.LIFECYCLE, REDACTION],
        known=list(NAMES),
        derivers=None if shadow.derivers is None else list(shadow.derivers), since=shadow.since, until=until,
    )  # fmt: skip


def catch_up(
    setup: Setup, shadow: Shadow, progress: Progress | None, *, until: datetime | None = None
) -> Operation[None]:
    """Take every step that the live memories have taken, batch by batch; whoever is killed goes on where it was."""
    tenant_id = shadow.scope.tenant_id
    setup = yield from spaces.ready(setup, tenant_id)

    def planned(conn: Connection) -> int:
        tenancy.show_shadows(conn)
        _lock(conn, shadow.scope, shadow.scope_id)
        return _plan(conn, _shadow(conn, shadow.scope, shadow.scope_id, shadow.name), until)  # or it is gone meanwhile

    rounds = 0  # whoever writes faster than this follows is waited for by a switch alone
    while True:
        now, batch = yield from steps.read(tenant_id, lambda conn: _next(conn, shadow))
        if not batch:
            rounds += 1
            if rounds > ROUNDS or not (yield from steps.write(tenant_id, planned, key="plan")):
                return
            continue
        if progress is not None:
            progress(now.place, now.steps)
        if batch[0].part == llm.NAME:
            yield from _ask(setup, now, batch)
        else:
            yield from _take(setup, now, batch)


def _follow(setup: Setup, conn: Connection, shadow: Shadow) -> bool:
    """Take what is left while every writer waits; False when the language model would have to be asked.

    The vectors are those that the live memories have; one that is missing is made by a job.
    """
    _plan(conn, shadow)
    while True:
        now, batch = _next(conn, shadow)
        if not batch:
            return True
        if batch[0].part == llm.NAME:
            return False
        found: dict[str, Any] = {}
        if setup.embedder is not None:
            events = sorted({step.event.event_id for step in batch})
            asked = {"tenant_id": now.scope.tenant_id, "scope_id": now.scope_id, "model_id": setup.embedder.model_id}
            rows = fetch_all(conn, "list_vectors_of_events", event_ids=events, **asked)
            found = {row.fact: json.loads(row.vector) for row in rows}
        _write(setup, conn, now, batch, found.get)


def _pass_over(conn: Connection, shadow: Shadow) -> None:
    """Note what derivers left out of a shadow gave the live memories: those are the shadow next, and have it."""
    if shadow.derivers is None:
        return
    _plan(conn, replace(shadow, derivers=None))
    now = _shadow(conn, shadow.scope, shadow.scope_id, shadow.name)
    execute(
        conn, "advance_replay", tenant_id=shadow.scope.tenant_id, shadow_id=shadow.shadow_id, old=now.place,
        new=now.steps, ready=True,
    )  # fmt: skip


def _next(conn: Connection, shadow: Shadow) -> tuple[Shadow, list[Step]]:
    """The steps of the next transaction: those before the language model's next, or those of its own that follow."""
    tenancy.show_shadows(conn)
    now = _shadow(conn, shadow.scope, shadow.scope_id, shadow.name)
    found = _steps(conn, now)
    asks = bool(found) and found[0].part == llm.NAME
    size = next((n for n, step in enumerate(found) if (step.part == llm.NAME) != asks), len(found))
    return now, found[:size]


def _steps(conn: Connection, shadow: Shadow) -> list[Step]:
    rows = fetch_all(
        conn, "list_replay_steps", tenant_id=shadow.scope.tenant_id, shadow_id=shadow.shadow_id, place=shadow.place,
        limit=BATCH,
    )  # fmt: skip
    events = [chain.event(row) for row in rows]
    before = deriving.preceding(conn, list({event.event_id: event for event in events}.values()))
    return [
        Step(int(row.place), row.part, row.at, event, before.get(event.event_id, ()))
        for row, event in zip(rows, events, strict=True)
    ]


class _Wanted(Exception):
    """A fact whose vector nobody foresaw."""


def _take(setup: Setup, shadow: Shadow, batch: Sequence[Step]) -> Operation[None]:
    """Take the steps of one transaction; the model is asked for vectors before it, and again for one it did not see."""
    found: dict[str, Any] = {}

    def vector(fact: str) -> Any:
        if setup.embedder is None:
            return None
        if fact not in found:
            raise _Wanted(fact)
        return found[fact]

    def work(conn: Connection) -> str | None:
        with conn.begin_nested() as savepoint:
            try:
                _write(setup, conn, shadow, batch, vector)
            except _Wanted as fact:
                savepoint.rollback()
                return str(fact)
        return None

    yield from echoing.ready()
    wanted = _facts(setup, shadow, batch)
    while True:
        if setup.embedder is not None and wanted:
            found |= zip(wanted, (yield from _vectors(setup, wanted)), strict=True)
        missing = yield from steps.write(shadow.scope.tenant_id, work, key=f"replay/{shadow.name}/{shadow.place}")
        if missing is None:
            return
        wanted = [missing]


def _vectors(setup: Setup, facts: Sequence[str]) -> Operation[list[Any]]:
    embedder = setup.embedder
    assert embedder is not None
    return list((yield from steps.think(lambda: embedder.embed(list(facts)))))


def _facts(setup: Setup, shadow: Shadow, batch: Sequence[Step]) -> list[str]:
    facts: list[str] = []
    for step in batch:
        if step.part != "direct":
            facts.extend(draft.fact for draft, _ in _drafts(setup, shadow, step))
        elif step.event.content and step.event.event_type in (*changing.EVENT_OF.values(), living.LIFECYCLE):
            facts.append(step.event.content)
    return list(dict.fromkeys(facts))


def _drafts(setup: Setup, shadow: Shadow, step: Step) -> list[tuple[Draft, Origin]]:
    return deriving.drafts_of(setup, shadow.scope, step.event, step.part, step.before)


def _write(setup: Setup, conn: Connection, shadow: Shadow, batch: Sequence[Step], vector: Callable[[str], Any]) -> None:
    """The effect of some steps, once: whoever comes second, or read what was erased since, changes nothing."""
    desk = _held(setup, conn, shadow, batch)
    if desk is None:
        return
    live = _live(conn, shadow, batch)
    settled: list[Settled] = []
    for step in batch:
        own = replace(desk, at=step.at)
        if step.event.erased or (step.part == "direct" and ledger.is_withheld(step.event)):
            _carry(own, shadow, step)
        elif step.part == "direct":
            settled.extend(_again(setup, own, shadow, step, live, vector))
        else:
            drafts = echoing.resolve(setup, conn, shadow.scope.tenant_id, own.scope_id, _drafts(setup, shadow, step))
            failed = dict.fromkeys(draft.refused for draft, _ in drafts if draft.failed and draft.refused)
            if failed:
                _problem(own, shadow, step, "; ".join(failed))
            pairs = [(replace(draft, vector=vector(draft.fact)), origin) for draft, origin in drafts]
            there = live.get(step.event.event_id, [])
            _carry_beside_erased(own, shadow, step, [row for row in there if row.deriver == step.part])
            lived = _Counterparts.of(conn, shadow, there, pairs)
            own = replace(own, names=lived.names, left=lived.left)
            settled.extend(batching.settle_all(own, pairs))
        if setup.embedder is None:  # then the words say what is near
            writing.index(own, settled)
            settled.clear()
    writing.index(desk, settled)
    _advance(conn, shadow, batch)


def _held(setup: Setup, conn: Connection, shadow: Shadow, batch: Sequence[Step]) -> Desk | None:
    """The desk of a shadow under its lock, if the shadow and these events are still as they were read."""
    tenancy.show_shadows(conn)
    _lock(conn, shadow.scope, shadow.scope_id)
    now = _shadow(conn, shadow.scope, shadow.scope_id, shadow.name)
    if (now.place, now.digit) != (shadow.place, shadow.digit):
        return None
    if [_said(step) for step in _steps(conn, now)[: len(batch)]] != [_said(step) for step in batch]:
        return None
    return _desk(setup, conn, shadow)


def _said(step: Step) -> tuple[bool, list[str]]:
    """What of a step an erasure changes: whether its event says anything, and what it is read with."""
    return step.event.erased, [event.event_id for event in step.before]


def _desk(setup: Setup, conn: Connection, shadow: Shadow) -> Desk:
    """Where a shadow is written: it sees itself, and of the live memories none of its own scope."""
    tenancy.show_shadows(conn)
    desk = setup.desk(conn, shadow.scope)
    others = {i: scope for i, scope in desk.visible.scopes.items() if i != shadow.scope_id}
    seen = Visible(
        shadow.scope, (shadow.shadow_id,), shadow.shadow_id, {shadow.shadow_id: 0},
        {shadow.shadow_id: shadow.scope, **others},
    )  # fmt: skip
    return replace(desk, visible=seen, scope_id=shadow.shadow_id)


def _advance(conn: Connection, shadow: Shadow, batch: Sequence[Step]) -> None:
    """What remains once some steps are taken: what ties their memories to places, how old they are, the next place."""
    events = sorted({step.event.event_id for step in batch})
    execute(conn, "carry_relations", **shadow.params, digit=shadow.digit, event_ids=events, all=False)
    execute(conn, "keep_recorded", **shadow.params, digit=shadow.digit, event_ids=events)
    new = batch[-1].place
    execute(
        conn, "advance_replay", tenant_id=shadow.scope.tenant_id, shadow_id=shadow.shadow_id, old=shadow.place, new=new,
        ready=new >= shadow.steps,
    )  # fmt: skip


# ------------------------------------------------ one step


def _live(conn: Connection, shadow: Shadow, batch: Sequence[Step]) -> dict[str, list[Row[Any]]]:
    """The live memories of some events: a memory derived again has the id of the one it stands for."""
    events = sorted({step.event.event_id for step in batch})
    rows = fetch_all(
        conn, "list_memories_of_events", tenant_id=shadow.scope.tenant_id, scope_id=shadow.scope_id, event_ids=events
    )
    found: dict[str, list[Row[Any]]] = {}
    for row in rows:
        found.setdefault(row.event_id, []).append(row)
    return found


@dataclass(frozen=True, slots=True)
class _Counterparts:
    """The live memories of an event, and which of them stands for what comes of it in a shadow."""

    conn: Connection
    shadow: Shadow
    live: Sequence[Row[Any]]
    chosen: Mapping[tuple[str | None, int], Row[Any]]

    @classmethod
    def of(
        cls, conn: Connection, shadow: Shadow, live: Sequence[Row[Any]], pairs: Sequence[tuple[Draft, Origin]]
    ) -> _Counterparts:
        """For each draft the live memory with the same fact, else the one in the same place; none that was erased."""
        left = [row for row in live if row.status_reason != "erased"]
        chosen: dict[tuple[str | None, int], Row[Any]] = {}
        for alike in (
            lambda row, draft, _: row.fact == draft.fact,
            lambda row, _, origin: row.ordinal == origin.ordinal,
        ):
            for draft, origin in pairs:
                place = (origin.deriver, origin.ordinal)
                row = next((one for one in left if one.deriver == origin.deriver and alike(one, draft, origin)), None)
                if place not in chosen and row is not None:
                    chosen[place] = row
                    left.remove(row)
        return cls(conn, shadow, live, chosen)

    def names(self, draft: Draft, origin: Origin) -> tuple[str, str]:
        """The ids of the live counterpart, where there is one, and of a lineage that nothing is in."""
        row = self._row(draft, origin)
        memory_id, lineage_id = (
            writing.names_of(self.shadow.scope.tenant_id, origin) if row is None else (row.memory_id, row.lineage_id)
        )
        if row is None and memory_id in {one.memory_id for one in self.live}:
            memory_id = ids.new_id()  # of a live memory that another stands for
        digit = self.shadow.digit
        lineage_id = ids.redigit(lineage_id, digit)
        taken = not draft.is_evidence and _held_by(self.conn, self.shadow, lineage_id) is not None
        return ids.redigit(memory_id, digit), ids.redigit(ids.new_id(), digit) if taken else lineage_id

    def left(self, draft: Draft, origin: Origin) -> str | None:
        """The lineage of the live counterpart, where nothing is in it but what was erased."""
        row = self._row(draft, origin)
        lineage_id = None if row is None else ids.redigit(row.lineage_id, self.shadow.digit)
        return lineage_id if lineage_id and _held_by(self.conn, self.shadow, lineage_id) == "erased" else None

    def _row(self, draft: Draft, origin: Origin) -> Row[Any] | None:
        """The live counterpart; of a draft whose number was taken by then, the one that has its number now."""
        own = (row for row in self.chosen.values() if (row.ordinal, row.fact) == (origin.ordinal, draft.fact))
        return next(own, self.chosen.get((origin.deriver, origin.ordinal)))


def _held_by(conn: Connection, shadow: Shadow, lineage_id: str) -> str | None:
    """What a lineage holds: `memories`, only what was `erased` of it, or nothing (None)."""
    found: str | None = fetch_value(
        conn, "find_lineage_holder", tenant_id=shadow.scope.tenant_id, lineage_id=lineage_id
    )
    return found


def _again(
    setup: Setup, desk: Desk, shadow: Shadow, step: Step, live: Mapping[str, Sequence[Row[Any]]],
    vector: Callable[[str], Any],
) -> Iterator[Settled]:  # fmt: skip
    """Make a direct change again; what has nothing to change under the new rules is noted with its reason."""
    if step.event.event_type == REDACTION:
        return
    rows = live.get(step.event.event_id, ())

    def lived(draft: Draft, origin: Origin) -> _Counterparts:
        own = [row for row in rows if row.deriver is None]
        return _Counterparts.of(desk.conn, shadow, own, [(draft, origin)])

    def named_by(memory_id: str) -> dict[str, str | None]:
        full = not ids.is_short(memory_id)
        return {"memory_id": memory_id if full else None, "ending": None if full else memory_id[-ids.SHORT_DIGITS :]}

    def find(memory_id: str) -> str:
        named = named_by(memory_id)
        found = fetch_value(desk.conn, "find_stand_in", **shadow.params, digit=shadow.digit, **named)
        if found is None and _carry_erased(desk, shadow, step, named):
            found = fetch_value(desk.conn, "find_stand_in", **shadow.params, digit=shadow.digit, **named)
        if found is None:
            raise NotFound("the memory it names does not come of these rules")
        return str(found)

    def standing(memory_id: str) -> str:
        found = desk.load(find(memory_id))
        if found is None or found.status_reason == "erased":
            raise NotFound("the memory it names was erased")
        return found.memory_id

    def stand_in(memory_id: str) -> str | None:
        try:
            found = desk.load(find(memory_id))
        except NotFound:
            if elsewhere(memory_id) is not None:
                return None
            raise
        return None if found is None or found.status_reason == "erased" else found.memory_id

    def elsewhere(memory_id: str) -> str | None:
        found: str | None = fetch_value(desk.conn, "find_elsewhere", **shadow.params, **named_by(memory_id))
        return found

    def out_of_reach(memory_id: str) -> str | None:
        return next(iter(_found(find, [memory_id])), None) or elsewhere(memory_id)

    desk = replace(
        desk, names=lambda draft, origin: lived(draft, origin).names(draft, origin),
        left=lambda draft, origin: lived(draft, origin).left(draft, origin),
    )  # fmt: skip
    try:
        with desk.conn.begin_nested():
            if step.event.event_type in relating.CHANGES:
                relating.again(desk, step.event, stand_in)
            elif step.event.event_type == living.LIFECYCLE:
                living.again(desk, step.event, standing, find, vector)
            else:
                told: list[str] = []
                made = changing.again(
                    setup, desk, step.event, find, stand_in, vector, told.append, out_of_reach=out_of_reach
                )
                yield from made
                revised = [one.judged.draft.revises for one in made]
                _carry_beside(desk, shadow, step, revised, _found(find, changing.superseded(step.event)))
                if told:
                    _problem(desk, shadow, step, "; ".join(dict.fromkeys(told)))
    except (NotFound, Conflict, InvalidInput, LimitExceeded) as error:
        _problem(desk, shadow, step, str(error))


def _found(find: Callable[[str], str], memory_ids: Iterable[str]) -> list[str]:
    """The memories that stand for some, where there is one."""
    found: list[str] = []
    for memory_id in memory_ids:
        with suppress(NotFound):
            found.append(find(memory_id))
    return found


def _problem(desk: Desk, shadow: Shadow, step: Step, reason: str) -> None:
    execute(
        desk.conn, "note_step_problem", tenant_id=desk.tenant_id, shadow_id=shadow.shadow_id, place=step.place,
        problem=reason[:1_000],
    )  # fmt: skip


def _carry(desk: Desk, shadow: Shadow, step: Step) -> None:
    """What is left of an event that nobody can read: its place in the lineages, and what it changed, stay."""
    event = step.event
    asked = _asked(shadow, event.event_id)
    moved = _carry_tombstones(desk, shadow, event.event_id)
    for row in fetch_all(desk.conn, "carry_statements", **asked):
        held = desk.load(row.memory_id)
        assert held is not None
        execute(
            desk.conn, "restate_memory", tenant_id=desk.tenant_id, memory_id=row.memory_id, holds_at=row.holds_at,
            stated_recorded_at=row.recorded_at, event_id=event.event_id, ordinal=row.ordinal, tags=list(held.tags),
            trust=row.trust, importance=None,
        )  # fmt: skip
        moved.add(held.lineage_id)
    if step.part == "direct":
        changed = [*fetch_all(desk.conn, "carry_changes", **asked), *fetch_all(desk.conn, "carry_put_away", **asked)]
        for row in changed:
            writing.note(desk, row.memory_id, row.entry, event.event_id, event.actor)
            moved.add(row.lineage_id)
    _carry_relations(desk, shadow, step.event.event_id)
    _reorder(desk, moved, step)


def _asked(shadow: Shadow, event_id: str) -> dict[str, Any]:
    """What every statement asks by that carries what is left of an event into a shadow."""
    return {**shadow.params, "digit": shadow.digit, "event_id": event_id}


def _carry_relations(desk: Desk, shadow: Shadow, event_id: str) -> None:
    """Relate, or part, what an erased event did."""
    execute(desk.conn, "carry_relations", **shadow.params, digit=shadow.digit, event_ids=[event_id], all=True)


def _carry_tombstones(desk: Desk, shadow: Shadow, event_id: str) -> set[str]:
    """Put what was erased of the memories of an event into the shadow; the lineages it is in there."""
    return {row.lineage_id for row in fetch_all(desk.conn, "carry_tombstones", **_asked(shadow, event_id))}


def _carry_beside_erased(desk: Desk, shadow: Shadow, step: Step, live: Sequence[Row[Any]]) -> bool:
    """What went of an event with another of its question: it keeps its places. Whether there was anything."""
    if not any(row.status_reason == "erased" for row in live):
        return False
    moved = _carry_tombstones(desk, shadow, step.event.event_id)  # unless a change named it before
    _carry_relations(desk, shadow, step.event.event_id)
    _reorder(desk, moved, step)
    return True


def _carry_erased(desk: Desk, shadow: Shadow, step: Step, named: Mapping[str, str | None]) -> bool:
    """Put what was erased since into the shadow where a change names it; False where it names nothing of that kind.

    What a language model read beside what is erased it read again, later than the change.
    """
    event_id = fetch_value(desk.conn, "find_erased_origin", tenant_id=desk.tenant_id, scope_id=shadow.scope_id, **named)
    if event_id is None:
        return False
    _reorder(desk, _carry_tombstones(desk, shadow, event_id), step)
    return True


def _reorder(desk: Desk, lineage_ids: Iterable[str], step: Step) -> None:
    for lineage_id in sorted(lineage_ids):
        writing.reorder(desk, lineage_id, step.event.event_id, step.event.actor)


def _carry_beside(
    desk: Desk, shadow: Shadow, step: Step, revised: Sequence[str | None], superseded: Sequence[str]
) -> None:
    """What a change has of memories that are erased by now: what a revision took over from them, and their places."""
    asked = _asked(shadow, step.event.event_id)
    inherits = any(_is_erased(desk, one) for one in revised)
    if inherits:
        execute(desk.conn, "carry_inherited", **asked)
    if inherits or any(_is_erased(desk, one) for one in superseded):
        _carry_relations(desk, shadow, step.event.event_id)


def _is_erased(desk: Desk, memory_id: str | None) -> bool:
    found = desk.load(memory_id)
    return found is not None and found.status_reason == "erased"


# ------------------------------------------------ the language model's steps


def _ask(setup: Setup, shadow: Shadow, batch: Sequence[Step]) -> Operation[None]:
    """Take the steps of one question to the language model: as it was asked before, where the answer is kept."""
    stream = batch[0].event.stream_id
    same = [step for step in batch if step.event.stream_id == stream]
    size = next((n for n, step in enumerate(same) if step != batch[n]), len(same))
    again = yield from extracting.again(
        setup, shadow.scope, [step.event for step in same[:size]], lambda conn: _desk(setup, conn, shadow)
    )
    taken = same[: again.events]

    def work(conn: Connection) -> None:
        desk = _held(setup, conn, shadow, taken)
        if desk is None:
            return
        live, pairs = _live(conn, shadow, taken), again.pairs
        anew = True
        for step in taken:
            then = replace(desk, at=step.at)
            if step.event.erased:
                _carry(then, shadow, step)
            elif _carry_beside_erased(then, shadow, step, live.get(step.event.event_id, ())):
                anew = False
        own = {
            step.event.event_id: _Counterparts.of(
                conn, shadow, live.get(step.event.event_id, []),
                [pair for pair in pairs if pair[1].event_id == step.event.event_id],
            )
            for step in taken
        }  # fmt: skip
        desk = replace(
            desk, at=taken[-1].at, names=lambda draft, origin: own[origin.event_id].names(draft, origin),
            left=lambda draft, origin: own[origin.event_id].left(draft, origin),
        )  # fmt: skip
        extracting.settle(setup, desk, again, anew=anew)
        _advance(conn, shadow, taken)

    yield from steps.write(shadow.scope.tenant_id, work, key=f"replay/{shadow.name}/{shadow.place}")


# ------------------------------------------------ comparing


def compared(conn: Connection, shadow: Shadow, apart: Set[str] = frozenset()) -> ReplayDiff:
    """The live memories against the shadow's, each by the id it has when live; those `apart` are left out."""
    tenancy.show_shadows(conn)
    shadow = _shadow(conn, shadow.scope, shadow.scope_id, shadow.name)
    before = projection.standings(_rows(conn, shadow.scope, shadow.scope_id, LIVE))
    after = projection.standings(_rows(conn, shadow.scope, shadow.shadow_id, shadow.digit))
    before, after = ({name: one for name, one in found.items() if name not in apart} for found in (before, after))
    added = sorted(set(after) - set(before))
    dropped = sorted(set(before) - set(after))
    both = sorted(set(before) & set(after))
    changed = {one: found for one in both if (found := projection.differences(before[one], after[one]))}
    old = _memories(conn, shadow.scope, shadow.scope_id, LIVE, [*dropped[:SHOWN], *list(changed)[:SHOWN]])
    new = _memories(conn, shadow.scope, shadow.shadow_id, shadow.digit, [*added[:SHOWN], *list(changed)[:SHOWN]])
    problems = fetch_all(conn, "list_step_problems", tenant_id=shadow.scope.tenant_id, shadow_id=shadow.shadow_id)
    return ReplayDiff(
        shadow_id=shadow.name, state=shadow.state, policy=shadow.policy,  # type: ignore[arg-type]
        added=tuple(sorted((new[one] for one in added[:SHOWN]), key=_as_told)),
        dropped=tuple(sorted((old[one] for one in dropped[:SHOWN]), key=_as_told)),
        changed=tuple(
            ReplayChange(old[one], new[one], changed[one])
            for one in sorted(list(changed)[:SHOWN], key=lambda one: _as_told(old[one]))
        ),
        same=len(both) - len(changed),
        counts={
            "added": len(added), "dropped": len(dropped), "changed": len(changed), "same": len(both) - len(changed),
            "problems": len(problems),
        },
        problems=tuple(ReplayProblem(row.event_id, row.event_type, row.problem) for row in problems),
        cost=Decimal(fetch_value(conn, "sum_replay_cost", **shadow.params, since=shadow.started_at)),
        live_hash=projection.digest(before), shadow_hash=projection.digest(after),
    )  # fmt: skip


def _as_told(memory: Memory) -> tuple[Any, ...]:
    """The order in which memories came: ids of one moment follow chance."""
    return memory.recorded_at, memory.category or "", memory.fact, memory.memory_id


def _rows(conn: Connection, scope: Scope, scope_id: int, digit: str) -> Iterator[Mapping[str, Any]]:
    rows = fetch_all(conn, "list_projection", tenant_id=scope.tenant_id, scope_id=scope_id, digit=digit)
    return (dict(row._mapping) for row in rows)


def _memories(conn: Connection, scope: Scope, scope_id: int, digit: str, wanted: Sequence[str]) -> dict[str, Memory]:
    """Whole memories of a projection by the ids they have when live."""
    seen = Visible(scope, (scope_id,), scope_id, {scope_id: 0}, {scope_id: scope})
    found = memories.load(conn, seen, [ids.redigit(one, digit) for one in wanted])
    return {one.memory_id: one for one in (_renamed(memory, digit) for memory in found)}


def _renamed(memory: Memory, digit: str) -> Memory:
    def live(one: str | None) -> str | None:
        return ids.redigit(one, LIVE) if one is not None and one[14] == digit else one

    return replace(
        memory, memory_id=ids.redigit(memory.memory_id, LIVE), lineage_id=ids.redigit(memory.lineage_id, LIVE),
        superseded_by=live(memory.superseded_by), consolidated_into=live(memory.consolidated_into),
    )  # fmt: skip
