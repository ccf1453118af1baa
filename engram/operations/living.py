"""Living: deeds of the life cycle performed, told, and undone.

A run performs deeds in transactions of bounded size. Each locks the lineages it touches, drops the deeds whose memories
have changed since they were looked at, appends events of type `memory_lifecycle` that say what is done, and does it.
The history keeps the state every memory was left in, so a run can be shown, replayed, and taken back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from sqlalchemy.engine import Row

from engram import gates, history, ids, inputs, ledger, memories, paging, streams, tenancy, writing
from engram.database import Connection, Jsonb, execute, fetch_all, fetch_one, fetch_value, statement
from engram.errors import Conflict, IdempotencyMismatch, NotFound
from engram.lifecycle.deeds import NEW, STATE, Count, Deed, Effect, Tie, archived
from engram.operations import relating, spaces, steps
from engram.operations.setup import DIRECT, Setup, Writing
from engram.operations.steps import Operation
from engram.policies.classify import Classified
from engram.scope import Scope
from engram.values import LAYERS, TRUSTS, Change, Event, LifecycleRun, Memory, Page, UndoReport
from engram.writing import Desk, Draft, Origin

LIFECYCLE: Final = "memory_lifecycle"
BATCH: Final = 200  # memories that one transaction touches
SHOWN: Final = 1_000  # changes that a run shows
PLACED: Final = ("active", "superseded", "contested")  # what the order of a lineage says
ORDERED: Final = frozenset({"status", "superseded_by", "superseded_at", "valid_to", "moot"})
MOST_IDS: Final = 500
UNDO: Final = "undo"
RELATION: Final = "relation"  # what a change of one has for its field
NOT_TAKEN_BACK: Final = ("session_", "task_", "checkpoint_", "capacity_", "projection_")  # how their types begin
TAKEN_BACK: Final = "taken back"
CHANGED: Final = "it has changed since"
HEIRS: Final = ("consolidated_into", "superseded_by")  # the columns of what a memory was put away into
HEIR_ERASED: Final = "what it would go into is erased"


@dataclass(frozen=True, slots=True)
class Run:
    """A run under way: its id, what it does, whose call it is, the cycle it is a step of.

    `asked` is a hash of what a caller's key stands for here, which the run keeps when it comes to its end.
    """

    run_id: str
    step: str
    call: Writing
    parent_id: str | None = None
    asked: str | None = None


# ------------------------------------------------ a run


def opened(
    call: Writing, step: str, *, parent_id: str | None = None, run_id: str | None = None,
    asked: Mapping[str, Any] | None = None, later: bool = False,
) -> Operation[Run]:  # fmt: skip
    """Begin a run; with the same key, or the same `run_id`, it is the same run taken up again.

    `asked` is what the caller wants of it: once it has come to its end, its key stands for that and nothing else. With
    `later` it is begun where all of it is done, by `at_once` or `begin`: what is refused leaves no run behind.
    """
    key = call.idempotency_key
    call = call.keyed()
    stands_for = None if key is None or asked is None else _hash_of(asked)

    def work(conn: Connection) -> Run:
        scope_id = tenancy.ensure(conn, call.scope)
        name = run_id or (ids.new_id() if key is None else run_of(conn, call.scope, scope_id, step, key))
        run = Run(name, step, call, parent_id, stands_for)
        if not call.dry_run and not later:
            _add_run(conn, run, scope_id)
        return run

    tried = steps.undone(work) if call.dry_run else work
    return (yield from steps.write(call.tenant_id, tried, key=call.idempotency_key))


def _hash_of(asked: Mapping[str, Any]) -> str:
    """The hash of what is asked; what is left open is no part of it, so that a later release may know more words."""
    said = {name: value for name, value in asked.items() if value is not None}
    return hashlib.sha256(inputs.canonical_json(said)).hexdigest()


def run_of(conn: Connection, scope: Scope, scope_id: int, step: str, key: str) -> str:
    """The id of the run that a key stands for of a caller in a scope, wherever that is moved to.

    It comes of the names of that scope, which it keeps. Once it came of the number of the scope that the run is of: one
    with such an id keeps it.
    """
    tenant, namespace, agent, user = scope.owner
    numbered = ids.id_of(NEW, tenant, scope_id, step, key)
    if fetch_one(conn, "find_run", tenant_id=tenant, run_id=numbered, scope_ids=[scope_id]) is not None:
        return numbered
    return ids.id_of(NEW, json.dumps([namespace, agent, user]), step, key)


def begin(conn: Connection, run: Run) -> None:
    """Begin a run that was to be begun later, in the transaction that does what it is for."""
    _add_run(conn, run, tenancy.ensure(conn, run.call.scope))


def _add_run(conn: Connection, run: Run, scope_id: int) -> None:
    execute(
        conn, "add_run", tenant_id=run.call.tenant_id, run_id=run.run_id, scope_id=scope_id, parent_id=run.parent_id,
        step=run.step, reason=run.call.reason, actor=run.call.actor,
    )  # fmt: skip


def act(setup: Setup, run: Run, deeds: Sequence[Deed]) -> Operation[list[Change]]:
    """Perform deeds, a transaction for every `BATCH` memories; with `dry_run` nothing of it stays."""
    changes: list[Change] = []
    for batch in _batches(deeds):
        changes += yield from _written(run, partial(_performed, setup=setup, run=run, deeds=batch))
    return changes


def planned(setup: Setup, run: Run, plan: Callable[[Desk], Sequence[Deed]]) -> Operation[list[Change]]:
    """Perform what a plan says, a transaction each time it is asked, until it has nothing more to say.

    A plan gives deeds of at most `BATCH` memories that it has not given before: what is done is no longer there to be
    planned. A dry run asks it in one transaction, which is taken back.
    """
    changes: list[Change] = []

    def work(conn: Connection) -> list[Change]:
        desk = setup.desk(conn, run.call.scope, reason=run.call.reason)
        return perform(setup, desk, run, plan(desk))

    def rehearsed(conn: Connection) -> list[Change]:
        found: list[Change] = []
        while done := work(conn):
            found += done
        return found

    if run.call.dry_run:
        return (yield from _written(run, rehearsed))
    while done := (yield from _written(run, work)):
        changes += done
    return changes


def closed(run: Run, changes: Sequence[Change], *, failed: Sequence[str] = ()) -> Operation[LifecycleRun]:
    """End a run, and show it."""
    if run.call.dry_run:
        clock = yield from steps.read(run.call.tenant_id, _clock)
        return LifecycleRun(
            run.run_id, run.step, run.call.reason, run.call.actor, True, tuple(changes[:SHOWN]), tuple(failed), clock,
            changed=len({change.memory_id for change in changes}),
        )  # fmt: skip

    def work(conn: Connection) -> LifecycleRun:
        return _end(conn, tenancy.visible(conn, run.call.scope), run, failed)

    return (yield from steps.write(run.call.tenant_id, work, key=run.run_id))


def _end(conn: Connection, visible: tenancy.Visible, run: Run, failed: Sequence[str] = ()) -> LifecycleRun:
    execute(
        conn, "close_run", tenant_id=run.call.tenant_id, run_id=run.run_id, steps=[], failed_steps=list(failed),
        finished=True, asked=run.asked,
    )  # fmt: skip
    return read_run(conn, visible, run.run_id)


def done(
    setup: Setup, call: Writing, step: str, plan: Callable[[Desk], Sequence[Deed]], *, parent_id: str | None = None
) -> Operation[LifecycleRun]:
    """The whole of a run that no model has a part in."""
    setup = yield from spaces.ready(setup, call.tenant_id)
    run = yield from opened(call, step, parent_id=parent_id)
    before = yield from finished(run)
    if before is not None:
        return before
    changes = yield from planned(setup, run, plan)
    return (yield from closed(run, changes))


def finished(run: Run) -> Operation[LifecycleRun | None]:
    """What an earlier call with the same key did, if it came to its end."""
    if run.call.dry_run:
        return None

    def work(conn: Connection) -> LifecycleRun | None:
        return ended(conn, tenancy.visible(conn, run.call.scope), run)

    return (yield from steps.read(run.call.tenant_id, work))


def ended(conn: Connection, visible: tenancy.Visible, run: Run) -> LifecycleRun | None:
    """The run, if it came to its end; IdempotencyMismatch where its key was given for something else then."""
    row = _find_run(conn, visible, run.run_id)
    if row is None or not row.finished:
        return None
    if run.asked is not None and row.asked not in (None, run.asked):
        raise IdempotencyMismatch
    return _shown(conn, visible, row)


def at_once(setup: Setup, run: Run, work: Callable[[Desk], list[Change]]) -> Operation[LifecycleRun]:
    """Do all of a run in one transaction, which ends it; or show what an earlier call with the same key did.

    Of several such calls at a time one does it, and the others wait for it before they look at what there is. A dry run
    is shown as it would be read, and taken back.
    """

    def whole(conn: Connection) -> LifecycleRun:
        desk = setup.desk(conn, run.call.scope, reason=run.call.reason)
        hold(desk, run)
        before = ended(conn, desk.visible, run)
        if before is not None:
            return before
        begin(conn, run)
        work(desk)
        return _end(conn, desk.visible, run)

    if run.call.dry_run:
        found = yield from steps.write(run.call.tenant_id, steps.undone(whole), key=run.run_id)
        return replace(found, dry_run=True)
    return (yield from steps.write(run.call.tenant_id, whole, key=run.run_id))


def hold(desk: Desk, run: Run) -> None:
    """Let other calls with the key of a run wait until the end of this transaction."""
    writing.lock(desk, [], f"run/{run.run_id}")


def _written(run: Run, work: Callable[[Connection], list[Change]]) -> Operation[list[Change]]:
    tried = steps.undone(work) if run.call.dry_run else work
    return (yield from steps.write(run.call.tenant_id, tried, key=run.run_id))


def _performed(conn: Connection, setup: Setup, run: Run, deeds: Sequence[Deed]) -> list[Change]:
    return perform(setup, setup.desk(conn, run.call.scope, reason=run.call.reason), run, deeds)


def _batches(deeds: Iterable[Deed]) -> Iterator[list[Deed]]:
    batch: list[Deed] = []
    held: set[str] = set()
    for deed in deeds:
        if batch and len(held | deed.memory_ids) > BATCH:
            yield batch
            batch, held = [], set()
        batch.append(deed)
        held |= deed.memory_ids
    if batch:
        yield batch


def _clock(conn: Connection) -> datetime:
    return fetch_value(conn, "read_clock")  # type: ignore[no-any-return]


# ------------------------------------------------ performing


def perform(setup: Setup, desk: Desk, run: Run, deeds: Sequence[Deed]) -> list[Change]:
    """Do these deeds in the caller's transaction, those of them whose memories still are as they were looked at."""
    if not deeds:
        return []
    desk = replace(desk, run_id=run.run_id, reason=run.call.reason)
    deeds = _freeing(desk, deeds)
    states = _locked(desk, deeds)
    standing = _apart([deed for deed in deeds if _stands(deed, states)])
    plain = [deed for deed in standing if deed.is_plain]
    changes: list[Change] = []
    for group in (*([plain] if plain else ()), *([deed] for deed in standing if not deed.is_plain)):
        origin = _told(setup, desk, run, group, states)
        changes += _do(desk, group, origin, states)
        if any(deed.ties and not deed.effects and deed.draft is None for deed in group):
            execute(desk.conn, "note_tied", tenant_id=desk.tenant_id, run_id=run.run_id, event_id=origin.event_id)
    return changes


def _apart(deeds: Sequence[Deed]) -> list[Deed]:
    """Of deeds that change one memory the first: the others were decided before it, and are for another look."""
    held: set[str] = set()
    found = []
    for deed in deeds:
        changed = {one.memory_id for one in deed.effects} - {NEW}
        if not (changed | set(deed.of)) & held:
            held |= changed
            found.append(deed)
    return found


def _freeing(desk: Desk, deeds: Sequence[Deed]) -> list[Deed]:
    """The deeds, those that put a summary away giving back what it stood for."""
    leaving = {
        one.memory_id for deed in deeds for one in deed.effects if one.set.get("status", "active") != "active"
    } - {NEW}  # fmt: skip
    if not leaving:
        return list(deeds)
    rows = fetch_all(desk.conn, "list_consolidated", tenant_id=desk.tenant_id, memory_ids=sorted(leaving))
    found = []
    for deed in deeds:
        named = {one.memory_id for one in deed.effects}
        freed = [
            Effect(
                row.memory_id, {"consolidated_into": None}, "what stood for it was put away",
                was={"consolidated_into": row.summary_id},
            )
            for row in rows if row.summary_id in named & leaving and row.memory_id not in named
        ]  # fmt: skip
        found.append(replace(deed, effects=(*deed.effects, *freed)))
    return found


def _locked(desk: Desk, deeds: Sequence[Deed]) -> dict[str, Row[Any]]:
    """The states of all memories that deeds touch, under the locks of their lineages."""
    wanted = sorted({one for deed in deeds for one in deed.memory_ids})
    drafts = [deed.draft for deed in deeds if deed.draft is not None]
    names: set[str] = set()
    while True:
        rows = _states(desk, wanted)
        found = {
            name for row in rows for name in writing.lineage_locks(row.lineage_id, row.scope_id, row.conflict_key)
        }  # fmt: skip
        if found <= names or not (found or drafts):
            return {row.memory_id: row for row in rows}
        names |= found
        writing.lock(desk, drafts, *sorted(names))


def _states(desk: Desk, memory_ids: Sequence[str]) -> list[Row[Any]]:
    return list(fetch_all(desk.conn, "list_states", tenant_id=desk.tenant_id, memory_ids=list(memory_ids)))


def _stands(deed: Deed, states: Mapping[str, Row[Any]]) -> bool:
    """Whether every memory of a deed is there and still is what the deed takes it for."""
    if not deed.memory_ids <= set(states):
        return False
    return all(_holds(states[one.memory_id].state, one.was) for one in deed.effects if one.memory_id != NEW) and all(
        _holds(states[one].state, None) for one in deed.of if one not in {effect.memory_id for effect in deed.effects}
    )


def _holds(state: Mapping[str, Any], was: Mapping[str, Any] | None) -> bool:
    if was is None:
        return state["status"] == "active" and state["consolidated_into"] is None
    return all(state.get(name) == value for name, value in was.items())


def _told(setup: Setup, desk: Desk, run: Run, deeds: Sequence[Deed], states: Mapping[str, Row[Any]]) -> Origin:
    """Append the event that says what some deeds do, and make it the origin of what follows."""
    draft = deeds[0].draft
    payload: dict[str, Any] = {
        "run_id": run.run_id, "step": run.step,
        "effects": [
            {"memory_id": one.memory_id, "set": dict(one.set), "because": one.because}
            for deed in deeds for one in deed.effects
        ],
        "counts": [values_of(one) for deed in deeds for one in deed.counts],
        "ties": [values_of(one) for deed in deeds for one in deed.ties],
        **({} if draft is None else {"write": _write(draft)}),
        **({} if run.call.reason is None else {"reason": run.call.reason}),
    }  # fmt: skip
    ranks = [states[one].trust for deed in deeds for one in deed.of]
    trust = TRUSTS[max(ranks)] if draft is not None and ranks else run.call.trust or "operator"
    event = ledger.NewEvent(
        role="system", event_type=LIFECYCLE, content=None if draft is None else draft.fact,
        payload=json.loads(inputs.canonical_json(payload)), trust=trust, actor=run.call.actor,
    )  # fmt: skip
    stream = streams.open(desk.conn, desk.scope_id, *setup.deeds)
    placed = ledger.append(
        desk.conn, scope_id=desk.scope_id, stream_id=stream.stream_id, events=[event], key=setup.settings.secret_key
    ).events[0]
    return _origin(placed.event_id, placed.recorded_at, trust, event.content, run.call.actor)


def _origin(event_id: str, at: datetime, trust: str, content: str | None, actor: str | None) -> Origin:
    return Origin(
        event_id=event_id, recorded_at=at, occurred_at=at, trust=trust, content=content, actor=actor,
        char_end=len(content or ""),
    )  # fmt: skip


def values_of(one: Count | Tie) -> dict[str, Any]:
    """A count or a tie as an event keeps it."""
    return {each.name: getattr(one, each.name) for each in fields(one)}


def _do(desk: Desk, deeds: Sequence[Deed], origin: Origin, states: Mapping[str, Row[Any]]) -> list[Change]:
    """Do what an event says; the changes of each memory."""
    made = [_wrote(desk, deed.draft, origin) for deed in deeds if deed.draft is not None]
    new = next(iter(made), None)
    renamed = [_named(deed, new) for deed in deeds]
    effects = _folded([one for deed in renamed for one in deed.effects])
    changes = (
        [] if new is None else [Change(new, "memory", None, new, renamed[0].effects[0].because if effects else "")]
    )
    changes += [
        Change(one.memory_id, name, states[one.memory_id].state.get(name), value, one.because)
        for one in effects if one.memory_id in states
        for name, value in one.set.items() if states[one.memory_id].state.get(name) != value
    ]  # fmt: skip
    _apply(desk, effects, origin, states)
    count(desk, [one for deed in renamed for one in deed.counts])
    _tie(desk, [tie for deed in renamed for tie in deed.ties], origin)
    return changes


def _folded(effects: Sequence[Effect]) -> list[Effect]:
    """One effect a memory: a column that several set has the value of the last."""
    found: dict[str, Effect] = {}
    for one in effects:
        had = found.get(one.memory_id)
        found[one.memory_id] = one if had is None else replace(had, set={**had.set, **one.set})
    return list(found.values())


def _named(deed: Deed, new: str | None) -> Deed:
    """A deed with the id of the memory it made in the place that was kept for it."""
    if new is None:
        return deed

    def real(one: Any) -> Any:
        return new if one == NEW else one

    return replace(
        deed,
        effects=tuple(
            replace(one, memory_id=real(one.memory_id), set={k: real(v) for k, v in one.set.items()})
            for one in deed.effects
        ),
        counts=tuple(replace(one, memory_id=real(one.memory_id)) for one in deed.counts),
        ties=tuple(
            replace(tie, source_id=real(tie.source_id), target_id=real(tie.target_id)) for tie in deed.ties
        ),
    )  # fmt: skip


def _wrote(desk: Desk, draft: Draft, origin: Origin) -> str:
    """Write the memory of a deed: as the next revision of what it revises, else as one of its own."""
    if draft.revises is not None:
        judged = writing.judge(desk, draft, origin.trust, origin.recorded_at)
    else:
        judged = writing.Judged(draft, gates.Judgement("add", reasons=("life_cycle",)))
    settled = writing.settle(desk, judged, origin)
    writing.index(desk, [settled])
    assert settled.memory_id is not None
    return settled.memory_id


def _apply(desk: Desk, effects: Sequence[Effect], origin: Origin, states: Mapping[str, Row[Any]]) -> None:
    """Set columns, note each change, and let the order say who is head where a memory comes back or goes.

    Summaries of what is not so any more leave with it.
    """
    if not effects:
        return
    # Heads step down before another rises: the unique index allows one at every moment.
    for rising in (False, True):
        rows = [
            {"memory_id": one.memory_id, "columns": dict(one.set)}
            for one in effects if (one.set.get("status") == "active") == rising
        ]  # fmt: skip
        if rows:
            execute(desk.conn, "apply_effects", tenant_id=desk.tenant_id, rows=Jsonb(rows))
    noted = [{"memory_id": one.memory_id, "entry": entry_of(one.set), "because": one.because} for one in effects]
    summarised = writing.note_effects(desk, noted, origin.event_id, origin.actor)
    moved = {
        states[one.memory_id].lineage_id
        for one in effects
        if one.memory_id in states and states[one.memory_id].shared
        and "status" in one.set and (one.set["status"] in PLACED or one.set.get("status_reason") == "retracted")
    }  # fmt: skip
    for lineage_id in sorted(moved):
        writing.reorder(desk, lineage_id, origin.event_id, origin.actor)
    writing.follow_summaries(desk, summarised, origin.event_id, origin.actor)


def entry_of(columns: Mapping[str, Any]) -> str:
    """The word the history has for an effect. Pure."""
    status = columns.get("status")
    if status == "archived":
        return "expired" if columns.get("status_reason") == "expired" else "archived"
    if status is not None:
        return {"deleted": "forgotten", "superseded": "superseded"}.get(status, "restored")
    if columns.get("consolidated_into") is not None:
        return "consolidated"
    return "rated" if "confidence" in columns else "annotated"


def count(desk: Desk, counts: Sequence[Count]) -> None:
    """Add to the counters of memories."""
    if counts:
        summed: dict[str, Count] = {}
        for one in counts:
            had = summed.get(one.memory_id, Count(one.memory_id))
            summed[one.memory_id] = Count(
                one.memory_id, had.accesses + one.accesses, had.repetitions + one.repetitions,
                had.positive + one.positive, had.negative + one.negative,
            )  # fmt: skip
        rows = [values_of(one) for one in summed.values()]
        execute(desk.conn, "add_counts", tenant_id=desk.tenant_id, rows=Jsonb(rows))


def _tie(desk: Desk, ties: Sequence[Tie], origin: Origin) -> None:
    begun = {(tie.source_id, tie.target_id, tie.relation_type): tie for tie in ties if not tie.ended}
    if begun:
        rows = [values_of(tie) for tie in begun.values()]
        execute(
            desk.conn, "tie_memories", tenant_id=desk.tenant_id, rows=Jsonb(rows), event_id=origin.event_id,
            at=desk.at or origin.recorded_at,
        )  # fmt: skip
    for tie in ties:
        if tie.ended:
            execute(
                desk.conn, "end_relation", tenant_id=desk.tenant_id, source_id=tie.source_id, target_id=tie.target_id,
                relation_type=tie.relation_type, event_id=origin.event_id, at=desk.at or origin.recorded_at,
                holds_at=desk.at or origin.recorded_at,
            )  # fmt: skip


# ------------------------------------------------ a draft in an event, and back

DRAFT: Final = (
    "fact", "main_content", "tags", "source", "metadata", "confidence", "attribute", "value", "topic_key",
    "valid_from", "still", "valid_to", "expires_at", "private", "revises",
)  # fmt: skip
RULED: Final = ("memory_type", "category", "importance", "critical_slot", "conflict_key", "subject", "rule", "negates")


def _write(draft: Draft) -> dict[str, Any]:
    said = {name: getattr(draft, name) for name in DRAFT}
    ruled = {name: getattr(draft.classified, name) for name in RULED}
    return {name: _plain(value) for name, value in (said | {"classified": ruled}).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value


def _draft(written: Mapping[str, Any]) -> Draft:
    said = {name: written[name] for name in DRAFT if name in written}
    for name in ("valid_from", "valid_to", "expires_at"):
        if said.get(name) is not None:
            said[name] = datetime.fromisoformat(said[name])
    said["tags"] = tuple(said.get("tags") or ())
    return Draft(classified=Classified(expires_in=None, **written["classified"]), **said)


def again(
    desk: Desk, event: Event, find: Callable[[str], str], point: Callable[[str], str], vector: Callable[[str], Any]
) -> list[writing.Settled]:
    """Do once more, in a projection of its own, what an event of the life cycle says.

    `find` gives what stands there for a memory that it acts on, `point` for one that another is said to have gone into,
    which may be erased by now. What it says of memories that do not come of these rules is left out.
    """
    told = event.payload
    stand_in, pointed = _looked_up(find), _looked_up(point)
    written = told.get("write")
    draft = None
    if written is not None:
        draft = _draft(written)
        if draft.revises is not None:
            revised = find(draft.revises)
            head = memories.lineage(desk.conn, desk.visible, memories.get(desk.conn, desk.visible, revised).lineage_id)
            draft = replace(draft, revises=revised if head.head is None else head.head.memory_id)
        draft = replace(draft, vector=vector(draft.fact))
    deed = Deed(
        effects=tuple(
            Effect(here, {name: _stood_in(name, value, pointed) for name, value in one["set"].items()}, one["because"])
            for one in told.get("effects", ()) if (here := stand_in(one["memory_id"])) is not None
        ),
        counts=tuple(
            Count(**{**one, "memory_id": here})
            for one in told.get("counts", ()) if (here := stand_in(one["memory_id"])) is not None
        ),
        ties=tuple(
            Tie(**{**one, "source_id": source, "target_id": target})
            for one in told.get("ties", ())
            if (source := stand_in(one["source_id"])) is not None
            and (target := stand_in(one["target_id"])) is not None
        ),
        draft=draft,
    )  # fmt: skip
    desk = replace(desk, run_id=told.get("run_id"))
    origin = _origin(event.event_id, event.recorded_at, event.trust, event.content, event.actor)
    states = {row.memory_id: row for row in _states(desk, sorted(deed.memory_ids))}
    _do(desk, [deed], origin, states)
    if told.get("step") == UNDO and told.get("untied"):
        _untie(desk, told["untied"], origin)
    return []


def _looked_up(find: Callable[[str], str]) -> Callable[[str], str | None]:
    """What finds the same once for each memory; None of one that is not there. The new one of a deed is itself."""
    known: dict[str, str | None] = {NEW: NEW}

    def look(memory_id: str) -> str | None:
        if memory_id not in known:
            known[memory_id] = None
            with suppress(NotFound):
                known[memory_id] = find(memory_id)
        return known[memory_id]

    return look


def _stood_in(name: str, value: Any, stand_in: Callable[[str], str | None]) -> Any:
    return stand_in(value) if name in ("superseded_by", "consolidated_into") and value is not None else value


# ------------------------------------------------ showing


def list_runs(setup: Setup, limit: object, cursor: object, given: Mapping[str, Any]) -> Operation[Page[LifecycleRun]]:
    """Runs of the readable scopes, newest first."""
    reading = setup.reading(given)
    most, place = inputs.limit(limit), inputs.optional(paging.check_cursor, cursor)
    key = setup.cursor_key

    def work(conn: Connection) -> Page[LifecycleRun]:
        visible = tenancy.visible(conn, reading.scope)
        binding = repr(("runs", visible.scope))
        at, before = paging.decode_cursor(place, binding, key) if place is not None else (None, None)
        if not most or not visible.scope_ids:
            return Page(())
        rows = fetch_all(
            conn, "list_runs", tenant_id=visible.scope.tenant_id, scope_ids=list(visible.scope_ids), at=at,
            before=before, limit=most + 1,
        )  # fmt: skip
        last = rows[most - 1] if len(rows) > most else None
        return Page(
            tuple(_shown(conn, visible, row) for row in rows[:most]),
            None if last is None else paging.encode_cursor((last.started_at, last.run_id), binding, key),
        )

    return (yield from steps.read(reading.scope.tenant_id, work))


def read_run(conn: Connection, visible: tenancy.Visible, run_id: str) -> LifecycleRun:
    """A run with its first changes; NotFound when no readable scope has it."""
    row = _find_run(conn, visible, run_id)
    if row is None:
        raise NotFound("no run with that id in this scope")
    return _shown(conn, visible, row)


def _find_run(conn: Connection, visible: tenancy.Visible, run_id: str) -> Any:
    return fetch_one(
        conn, "find_run", tenant_id=visible.scope.tenant_id, run_id=run_id, scope_ids=list(visible.scope_ids)
    )


def _shown(conn: Connection, visible: tenancy.Visible, row: Row[Any]) -> LifecycleRun:
    runs = _runs_of(conn, visible, row.run_id)
    rows = _done(conn, visible, RUNS, runs, limit=SHOWN + 1)
    changes = [change for one in rows for change in _changes(one)]
    total = int(fetch_value(conn, "count_done", run_ids=runs, **_seen(visible)))
    if row.step == UNDO and row.tied:
        back = [_change_of(tied, tied.before, tied.after) for tied in _tied(conn, visible, row.tied)]
        changes += back
        total += len({one.memory_id for one in back} - {one.memory_id for one in rows})
    told = total or row.scope_id == visible.own  # a reason may quote private memories, which a wider read does not see
    return LifecycleRun(
        run_id=row.run_id, step=row.step, reason=row.reason if told else None, actor=row.actor, dry_run=False,
        changes=tuple(changes[:SHOWN]), failed_steps=tuple(row.failed_steps), started_at=row.started_at,
        undone=row.undone_by is not None, changed=total, steps=tuple(row.steps),
    )  # fmt: skip


def _runs_of(conn: Connection, visible: tenancy.Visible, run_id: str) -> list[str]:
    """A run and its steps."""
    rows = fetch_all(conn, "list_runs_of", tenant_id=visible.scope.tenant_id, run_id=run_id)
    return [row.run_id for row in rows]


def _seen(visible: tenancy.Visible) -> dict[str, Any]:
    return {"tenant_id": visible.scope.tenant_id, "scope_ids": list(visible.scope_ids), "own": visible.own}


RUNS: Final = "c.run_id = ANY(%(runs)s::uuid[])"
RUN: Final = "c.run_id = %(runs)s::uuid"
EVENT: Final = "c.event_id = %(runs)s::uuid"


def _done(
    conn: Connection, visible: tenancy.Visible, which: str, what: str | Sequence[str], *, limit: int,
    before: int | None = None,
) -> list[Row[Any]]:  # fmt: skip
    """What the newest changes of runs, or of an event, did to the memories that may be seen."""
    params = {"runs": what, "limit": limit, "before": before, **_seen(visible)}
    return list(conn.exec_driver_sql(statement("list_done").replace("/*which*/", which), params).fetchall())


def _changes(row: Row[Any]) -> Iterator[Change]:
    """What became of one memory, column by column."""
    because = row.because or ""
    if row.before is None:
        yield Change(row.memory_id, "memory", None, row.memory_id, because)
        return
    for name in sorted(row.after):
        if name in row.before and row.before[name] != row.after[name]:
            yield Change(row.memory_id, name, row.before[name], row.after[name], because)


def _tied(conn: Connection, visible: tenancy.Visible, events: Sequence[str]) -> list[Row[Any]]:
    """What events did to relations between memories that may be seen."""
    return list(fetch_all(conn, "list_tied_relations", event_ids=list(events), **_seen(visible)))


def _change_of(
    row: Row[Any], before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, because: str = TAKEN_BACK
) -> Change:
    """What became of a relation, told of the memory it begins at; None where it did not stand."""
    ends = {"target_id": row.target_id, "relation_type": row.relation_type}
    was, now = (None if state is None else {**ends, **state} for state in (before, after))
    return Change(row.source_id, RELATION, was, now, because)


# ------------------------------------------------ undoing


@dataclass(slots=True)
class _Undoing:
    """What an undoing has found: in one transaction, or in all of them."""

    undone: list[Change] = field(default_factory=list)
    left: list[Change] = field(default_factory=list)
    memories: set[str] = field(default_factory=set)
    before: int | None = None  # the place in the history that comes next; None where there is nothing more

    def add(self, found: _Undoing) -> bool:
        """Take in what one transaction found; whether there is more."""
        self.undone += found.undone
        self.left += found.left
        self.memories |= found.memories
        self.before = found.before
        return found.before is not None


@dataclass(frozen=True, slots=True)
class _ToUndo:
    """What an undoing is to take back: the changes of an event, or those of runs, by a run of its own."""

    run: Run
    runs: list[str]
    event: Event | None
    scope_id: int
    shared: bool  # other calls with the same key may do some of it

    @property
    def event_id(self) -> str | None:
        """The event to be taken back, where it is one."""
        return None if self.event is None else self.event.event_id

    @property
    def whole(self) -> list[tuple[str, str]]:
        """In order: the last step of a cycle first, so that what an earlier one left then stands again."""
        return [(EVENT, self.event_id)] if self.event_id is not None else [(RUN, one) for one in reversed(self.runs)]


def undo(setup: Setup, target: object, given: Mapping[str, Any]) -> Operation[UndoReport]:
    """Take back what a run, or an event, changed; what has changed since is left as it is, and listed.

    Under a key that was used before nothing is taken back again: the report tells what was, and not what was left.
    Several calls with one key at a time share the work, and each tells of all of it.
    """
    asked = setup.writing(given)
    call = asked.keyed()
    wanted = inputs.event_id(target, "run_or_event_id")
    setup = yield from spaces.ready(setup, call.tenant_id)
    looked = yield from steps.write(
        call.tenant_id, lambda conn: _to_undo(conn, asked, call, wanted), key=call.idempotency_key
    )
    if isinstance(looked, UndoReport):
        return looked
    run = looked.run
    found = yield from _take_back(setup, looked)

    def untie(conn: Connection) -> _Undoing:
        desk = setup.desk(conn, call.scope, reason=call.reason)
        if looked.shared:
            hold(desk, run)
        return _untie_runs(setup, desk, looked)

    found.add(
        (yield from steps.write(call.tenant_id, steps.undone(untie) if call.dry_run else untie, key=run.run_id))
    )  # fmt: skip
    told = None
    if not call.dry_run:
        told = yield from steps.write(
            call.tenant_id, lambda conn: _end_undoing(setup, conn, looked, wanted, found.left), key=run.run_id
        )
    return told or UndoReport(
        run.run_id, tuple(found.undone[:SHOWN]), tuple(found.left[:SHOWN]), len(found.memories), dry_run=call.dry_run
    )


def _to_undo(conn: Connection, asked: Writing, call: Writing, wanted: str) -> _ToUndo | UndoReport:
    """Begin an undoing; its report where its key says that it has come to its end."""
    visible = tenancy.visible(conn, call.scope)
    row = _find_run(conn, visible, wanted)
    scope_id, event = (row.scope_id, None) if row is not None else _event_to_undo(conn, visible, wanted)
    key = asked.idempotency_key
    name = ids.new_id() if key is None else run_of(conn, call.scope, scope_id, UNDO, key)
    run = Run(name, UNDO, call, wanted)
    before = _find_run(conn, visible, name)
    if before is not None and before.parent_id != wanted:
        raise IdempotencyMismatch
    if before is not None and before.finished and not call.dry_run:
        return _reported(conn, visible, before, ())
    if before is None and row is not None and row.undone_by is not None:
        raise Conflict("this run was taken back already: undo the undoing to do it again", run_id=row.undone_by)
    runs = _runs_of(conn, visible, wanted)
    if not call.dry_run:
        _add_run(conn, run, scope_id)
    return _ToUndo(run, runs, event, scope_id, shared=key is not None and not call.dry_run)


def _take_back(setup: Setup, asked: _ToUndo) -> Operation[_Undoing]:
    """Take back the changes in batches, each a transaction of its own; all in one that is rolled back of a dry run."""
    run, call = asked.run, asked.run.call

    def batch(conn: Connection, which: str, what: str, before: int | None) -> _Undoing:
        return _undo_batch(setup, conn, run, which, what, before)

    def rehearsed(conn: Connection) -> _Undoing:
        total = _Undoing()
        for which, what in asked.whole:
            total.before = None
            while total.add(batch(conn, which, what, total.before)):
                pass
        return total

    if call.dry_run:
        return (yield from steps.write(call.tenant_id, steps.undone(rehearsed), key=run.run_id))
    found = _Undoing()
    for which, what in asked.whole:
        found.before = None
        while found.add(
            (yield from steps.write(call.tenant_id, partial(batch, which=which, what=what, before=found.before),
                                    key=run.run_id))
        ):  # fmt: skip
            pass
    return found


def _end_undoing(
    setup: Setup, conn: Connection, asked: _ToUndo, wanted: str, left: Sequence[Change]
) -> UndoReport | None:
    """Mark what was taken back; the report, where others with the same key may have had a part in it."""
    run, call = asked.run, asked.run.call
    desk = setup.desk(conn, call.scope, reason=call.reason)
    if asked.shared:
        hold(desk, run)
        before = _find_run(conn, desk.visible, run.run_id)
        if before is not None and before.finished:
            return _reported(conn, desk.visible, before, left)
    row = _find_run(conn, desk.visible, wanted)
    for one in asked.runs:
        execute(conn, "mark_undone", tenant_id=call.tenant_id, run_id=one, undone_by=run.run_id)
    if row is not None and row.step == UNDO and row.parent_id is not None:  # done again
        execute(conn, "mark_undone", tenant_id=call.tenant_id, run_id=row.parent_id, undone_by=None)
    execute(
        conn, "close_run", tenant_id=call.tenant_id, run_id=run.run_id, steps=[], failed_steps=[], finished=True,
        asked=None,
    )  # fmt: skip
    done = _find_run(conn, desk.visible, run.run_id) if asked.shared else None
    return None if done is None else _reported(conn, desk.visible, done, left)


_ALL: Final = 1_000_000  # changes of one run: more than one has


def _reported(conn: Connection, visible: tenancy.Visible, row: Row[Any], left: Sequence[Change]) -> UndoReport:
    """What an undoing did, whoever of those who share its key did it; what another took back was not left."""
    shown = _shown(conn, visible, row)
    done = _done(conn, visible, RUN, row.run_id, limit=_ALL) if left else ()
    gone = {(change.memory_id, change.field) for each in done for change in _changes(each)}
    kept = [one for one in left if (one.memory_id, one.field) not in gone]
    return UndoReport(row.run_id, shown.changes, tuple(kept[:SHOWN]), shown.changed)


def _event_to_undo(conn: Connection, visible: tenancy.Visible, event_id: str) -> tuple[int, Event]:
    """An event that may be taken back, and the scope whose ledger has it; Conflict for one that cannot be."""
    event = ledger.get(conn, event_id, scope_ids=visible.scope_ids)
    if event is None or history.private_events(conn, visible, [event_id]):
        raise NotFound("no run and no event with that id in this scope")
    if event.event_type == "redaction" or event.erased:
        raise Conflict("what was erased cannot be brought back")
    if event.event_type.startswith(NOT_TAKEN_BACK) and not _done(conn, visible, EVENT, event_id, limit=1):
        raise Conflict(f"an event of type {event.event_type} is not taken back: it changed no memory and no relation")
    if event.event_type in relating.CHANGES and not _tied(conn, visible, [event_id]):
        raise Conflict("nothing is left of what this event said of a relation, or it is out of sight")
    head = streams.head(conn, event.stream_id)
    assert head is not None
    return int(head.scope_id), event


def _undo_batch(setup: Setup, conn: Connection, run: Run, which: str, what: str, before: int | None) -> _Undoing:
    """Take back the changes of some memories, those changed last first."""
    desk = setup.desk(conn, run.call.scope, reason=run.call.reason)
    rows = _done(conn, desk.visible, which, what, limit=BATCH, before=before)
    found = _Undoing(before=min((row.first for row in rows), default=None))
    if not rows:
        return found
    desk = replace(desk, scope_id=rows[0].scope_id, run_id=run.run_id)
    now = _locked(desk, [Deed(effects=(Effect(row.memory_id, {"marks": {}}, ""),)) for row in rows])
    gone = _erased_heirs(desk, rows)
    deeds, undone = [], []
    for row in rows:
        effect = _reversed(row, now[row.memory_id].state, gone)
        if isinstance(effect, Effect):
            deeds.append(Deed(effects=(effect,)))
            undone.append(row)
        else:
            found.left += effect or ()
    events = sorted({row.event_id for row in undone if row.event_id is not None})
    counts = _counts_back(conn, undone, events)
    for scope_id in sorted({row.scope_id for row in undone}):
        here = {row.memory_id for row in undone if row.scope_id == scope_id}
        own = [deed for deed in deeds if deed.memory_ids <= here]
        found.undone += _taken_back(setup, replace(desk, scope_id=scope_id), run, own, counts, events, now)
    found.memories = {row.memory_id for row in undone}
    return found


def _reversed(row: Row[Any], current: Mapping[str, Any], gone: Set[str]) -> Effect | list[Change] | None:
    """What takes back a memory's changes, what stands in the way, or None where there is nothing to take back.

    Into one of those that are `gone` nothing is put away again.
    """
    if current["status_reason"] == "erased":
        return None
    if row.before is None:
        if any(current[name] != row.after[name] for name in ("status", "consolidated_into")):
            return [Change(row.memory_id, "status", row.after["status"], current["status"], CHANGED)]
        return Effect(
            row.memory_id, {"status": "deleted", "status_reason": "retracted"}, "what made it was taken back",
            was={"status": current["status"]},
        )  # fmt: skip
    differing = {
        name for name in STATE if name in row.before and name in row.after and row.before[name] != row.after[name]
    }
    if not differing or all(current.get(name) == row.before[name] for name in differing):
        return None
    # Who is head was said by the order, and the order will say it again.
    said = {"status"} if differing & ORDERED and row.after["status"] not in PLACED else set()
    since = sorted(name for name in (differing - ORDERED) | said if current.get(name) != row.after[name])
    if since:
        return [Change(row.memory_id, name, row.after[name], current.get(name), CHANGED) for name in since]
    if differing <= ORDERED and any(current.get(name) != row.after[name] for name in differing):
        return None
    put_back = {name: row.before[name] for name in sorted(differing)}
    # Whom another revision takes the place of is said by the order, which will say it again.
    heirs = HEIRS if put_back.get("status", "active") not in PLACED else ("consolidated_into",)
    lost = [name for name in heirs if put_back.get(name) in gone]
    if lost:
        return [Change(row.memory_id, name, put_back[name], None, HEIR_ERASED) for name in lost]
    if "layer" in put_back:  # or it would count as new in its layer
        put_back["layer_epoch"] = row.before.get("layer_epoch", 0)
    if "status" in put_back and put_back["status"] not in PLACED:
        put_back["status_reason"] = row.before["status_reason"]
    return Effect(row.memory_id, put_back, TAKEN_BACK, was={name: current.get(name) for name in put_back})


def _erased_heirs(desk: Desk, rows: Sequence[Row[Any]]) -> set[str]:
    """Those of the memories that others would be put away into of which nothing is left: they would be lost with it."""
    heirs = sorted({row.before[name] for row in rows if row.before for name in HEIRS if row.before.get(name)})
    return {row.memory_id for row in _states(desk, heirs) if row.state["status_reason"] == "erased"} if heirs else set()


def _counts_back(conn: Connection, undone: Sequence[Row[Any]], events: Sequence[str]) -> list[Count]:
    """The counters as they were: what the events added is taken away, of the memories that are taken back."""
    mine = {row.memory_id for row in undone}
    found = [
        Count(**{**one, **{name: -one[name] for name in ("accesses", "repetitions", "positive", "negative")}})
        for event in ledger.get_many(conn, events).values() if event.event_type == LIFECYCLE and not event.erased
        for one in event.payload.get("counts", ()) if one["memory_id"] in mine
    ]  # fmt: skip
    return found + [Count(row.memory_id, repetitions=-row.repeated) for row in undone if row.repeated]


def _taken_back(
    setup: Setup, desk: Desk, run: Run, deeds: Sequence[Deed], counts: Sequence[Count], events: Sequence[str],
    states: Mapping[str, Row[Any]],
) -> list[Change]:  # fmt: skip
    """Append what is taken back in one scope, and do it."""
    mine = {one for deed in deeds for one in deed.memory_ids}
    deed = Deed(
        effects=tuple(one for each in deeds for one in each.effects),
        counts=tuple(one for one in counts if one.memory_id in mine),
    )
    payload = {
        "run_id": run.run_id, "step": UNDO, "of": run.parent_id, "untied": list(events),
        "effects": [
            {"memory_id": one.memory_id, "set": dict(one.set), "because": one.because} for one in deed.effects
        ],
        "counts": [values_of(one) for one in deed.counts],
        **({} if run.call.reason is None else {"reason": run.call.reason}),
    }  # fmt: skip
    event = ledger.NewEvent(
        role="system", event_type=LIFECYCLE, payload=json.loads(inputs.canonical_json(payload)),
        trust=run.call.trust or "operator", actor=run.call.actor,
    )  # fmt: skip
    stream = streams.open(desk.conn, desk.scope_id, *DIRECT)
    placed = ledger.append(
        desk.conn, scope_id=desk.scope_id, stream_id=stream.stream_id, events=[event], key=setup.settings.secret_key
    ).events[0]
    origin = _origin(placed.event_id, placed.recorded_at, event.trust, None, run.call.actor)
    changes = _do(desk, [deed], origin, states)
    _untie(desk, events, origin)
    if not deeds:
        execute(desk.conn, "note_tied", tenant_id=desk.tenant_id, run_id=run.run_id, event_id=origin.event_id)
    return changes


def _untie_runs(setup: Setup, desk: Desk, asked: _ToUndo) -> _Undoing:
    """Take back the relations of events that did nothing else: of those of some runs, or of one that is named."""
    found = _Undoing()
    for scope_id, events in _tying(desk, asked).items():
        rows = _tied(desk.conn, desk.visible, events)
        if asked.event is not None:
            _locked(desk, [Deed(ties=tuple(Tie(row.source_id, row.target_id, row.relation_type) for row in rows))])
            rows = _tied(desk.conn, desk.visible, events)
        undone = [row for row in rows if row.now == row.after != row.before]
        if undone:
            _taken_back(setup, replace(desk, scope_id=scope_id, run_id=asked.run.run_id), asked.run, [], [], events, {})
        found.undone += [_change_of(row, row.after, row.before) for row in undone]
        found.left += [
            _change_of(row, row.after, row.now, CHANGED) for row in rows if row.now not in (row.before, row.after)
        ]
        found.memories |= {row.source_id for row in undone}
    return found


def _tying(desk: Desk, asked: _ToUndo) -> dict[int, list[str]]:
    """The events whose relations are taken back by themselves, by their scopes."""
    if asked.event is not None and asked.event.event_type in relating.CHANGES:
        return {asked.scope_id: [asked.event.event_id]}
    found: dict[int, list[str]] = {}
    for row in fetch_all(
        desk.conn, "list_tied", tenant_id=desk.tenant_id, scope_ids=list(desk.visible.scope_ids), run_ids=asked.runs,
        event_id=asked.event_id,
    ):  # fmt: skip
        found.setdefault(row.scope_id, []).append(row.event_id)
    return found


def _untie(desk: Desk, events: Sequence[str], origin: Origin) -> None:
    """Put relations back as they were before some events, as of every moment: a piece of time a statement."""
    place = 1
    while execute(
        desk.conn, "untie_memories", tenant_id=desk.tenant_id, event_ids=list(events), event_id=origin.event_id,
        at=desk.at or origin.recorded_at, place=place, shadow_id=desk.scope_id if desk.scope_id < 0 else None,
    ):  # fmt: skip
        place += 1


# ------------------------------------------------ by hand


def archive(setup: Setup, memory_ids: object, given: Mapping[str, Any]) -> Operation[LifecycleRun]:
    """Put memories away by hand; `undo` and `restore` bring them back."""
    call = setup.writing(given)
    wanted = [inputs.memory_id(one, "memory_ids") for one in inputs.items(memory_ids, "memory_ids", MOST_IDS)]

    def effect(memory: Memory) -> Effect:
        return archived(memory.memory_id, "archived", "put away by hand")

    return (yield from by_hand(setup, call, "archive", wanted, effect, {}))


def set_layer(setup: Setup, memory_id: object, layer: object, given: Mapping[str, Any]) -> Operation[LifecycleRun]:
    """Move a memory to a layer; agents cannot, an operator can."""
    call = setup.writing(given)
    wanted, chosen = inputs.memory_id(memory_id), inputs.choice(layer, "layer", LAYERS)

    def effect(memory: Memory) -> Effect | None:
        if memory.is_critical and chosen != "core":
            raise Conflict("a pinned memory stays in the core: unpin it first")
        return None if memory.layer == chosen else Effect(memory.memory_id, {"layer": chosen}, "moved by hand")

    return (yield from by_hand(setup, call, "set_layer", [wanted], effect, {"layer": chosen}))


def by_hand(
    setup: Setup, call: Writing, step: str, wanted: Sequence[str], effect: Callable[[Memory], Effect | Deed | None],
    told: Mapping[str, Any],
) -> Operation[LifecycleRun]:  # fmt: skip
    """One run that does something to each of some memories that a caller names; they may be of several scopes.

    `told` is what the caller says beside the memories.
    """
    setup = yield from spaces.ready(setup, call.tenant_id)

    def known(conn: Connection) -> list[str]:
        visible = tenancy.visible(conn, call.scope)
        return list(dict.fromkeys(memories.get(conn, visible, one).memory_id for one in wanted))

    named = yield from steps.read(call.tenant_id, known)  # before anything is made for what is not there
    run = yield from opened(call, step, asked={"memory_ids": sorted(named), **told}, later=True)

    def work(desk: Desk) -> list[Change]:
        found = memories.load(desk.conn, desk.visible, named)
        if len(found) < len(named):
            raise NotFound("no memory with that id in this scope")
        chosen: dict[int, list[Deed]] = {}
        for memory in found:
            made = effect(memory)
            if made is not None:
                scope_id = desk.visible.id_of(memory.scope)
                deed = made if isinstance(made, Deed) else Deed(effects=(made,))
                chosen.setdefault(scope_id, []).append(deed)
        states = _locked(desk, [deed for deeds in chosen.values() for deed in deeds])
        if not all(_stands(deed, states) for deeds in chosen.values() for deed in deeds):
            raise Conflict("only a current memory can be changed so: name the head of its lineage")
        changes: list[Change] = []
        for scope_id, deeds in chosen.items():
            here = replace(desk, scope_id=scope_id)
            writing.lock(here, [])
            changes += perform(setup, here, run, deeds)
        return changes

    return (yield from at_once(setup, run, work))
