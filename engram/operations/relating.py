"""The graph: relations said and ended, each an event and its effect in one transaction, and walks along them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, cast

from engram import counting, ids, inputs, ledger, memories, paths, relations, tenancy, writing
from engram.channels import semantic
from engram.database import Connection, ending
from engram.errors import Conflict, IdempotencyMismatch, InvalidInput, LimitExceeded, NotFound, Unavailable
from engram.operations import changing, spaces, steps
from engram.operations.arguments import NewRelation
from engram.operations.setup import Reading, Setup, Writing
from engram.operations.steps import Operation
from engram.relations import ADDED, ENDED, Edge, Walk
from engram.scope import Scope
from engram.tenancy import Visible
from engram.values import DIRECTIONS, Direction, Event, Memory, Relation, Traversal, TraversalResult
from engram.writing import Desk

CHANGES: Final = (ADDED, ENDED)
UNKNOWN: Final = "no memory with that id in this scope"
UNRELATED: Final = "no such relation between these memories"
ERASED: Final = "a memory that was erased can be related to nothing"
SEEDS: Final = 200
TRIES: Final = 3
_WHOLE: Final[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A relation as it was asked for, its ids full or short."""

    source_id: str
    target_id: str
    relation_type: str
    weight: float = 1.0
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A relation with both its ends, and the scope whose ledger keeps it."""

    asked: Asked
    source: Memory
    target: Memory
    scope_id: int

    @property
    def ends(self) -> tuple[str, str, str]:
        """What it is known by."""
        return self.source.memory_id, self.target.memory_id, self.asked.relation_type


# Writing -------------------------------------------------------------------------------------------------------------


def relate(
    setup: Setup, source_id: object, target_id: object, relation_type: object, *, weight: object, metadata: object,
    given: Mapping[str, Any],
) -> Operation[Relation]:  # fmt: skip
    """Say that one memory has to do with another."""
    call = setup.writing(given).keyed()
    asked = _asked(source_id, target_id, relation_type, weight, _clean(call, metadata))
    return (yield from _relate_all(setup, call, [asked]))[0]


def relate_batch(setup: Setup, items: object, given: Mapping[str, Any]) -> Operation[tuple[Relation, ...]]:
    """Relate up to 500 pairs in one transaction, all or nothing; an error names the item."""
    call = setup.writing(given).keyed()
    asked = []
    for index, item in enumerate(inputs.batch(items)):
        try:
            said = inputs.keys(item, "item", tuple(NewRelation.__annotations__))
            kind = said.get("relation_type")
            asked.append(
                _asked(
                    said.get("source_id"), said.get("target_id"), "related_to" if kind is None else kind,
                    1.0 if said.get("weight") is None else said["weight"],
                    _clean(call, said.get("metadata")),
                )
            )  # fmt: skip
        except LimitExceeded as error:
            raise LimitExceeded(f"items[{index}].{error.field}", error.allowed, error.found) from None
        except InvalidInput as error:
            raise InvalidInput(f"items[{index}].{error.field}", error.expected, error.found) from None
    inputs.batch_bytes(sum(len(inputs.canonical_json(dict(one.metadata or {}))) for one in asked))
    return tuple((yield from _relate_all(setup, call, asked, named=True)))


def unrelate(
    setup: Setup, source_id: object, target_id: object, relation_type: object, given: Mapping[str, Any]
) -> Operation[None]:
    """End a relation; a read of the past still shows it."""
    call = setup.writing(given).keyed()
    asked = _asked(source_id, target_id, relation_type, 1.0, None)

    def work(conn: Connection) -> None:
        desk = setup.desk(conn, call.scope, reason=call.reason)
        [held] = _locked(desk, call, [asked], named=False)
        request = changing.plain(dict(zip(("source_id", "target_id", "relation_type"), held.ends, strict=True)))
        if _is_repeated(desk, call, [held], [request]):
            return
        _refuse_erased([held], named=False)
        found = relations.find(conn, desk.tenant_id, [held.ends])[0]
        if found is None or found.ended_at is not None:
            raise NotFound(UNRELATED)
        done = _append(setup, desk, call, ENDED, [held], [request])[0]
        relations.end(
            conn, desk.tenant_id, held.ends, event_id=done.event_id, at=done.recorded_at,
            holds_at=_holds_at(call.occurred_at, done.recorded_at),
        )  # fmt: skip

    yield from changing.written(call, work)


def _clean(call: Writing, metadata: object) -> dict[str, Any] | None:
    """The metadata of a relation without its secrets; what is too large is refused before it is searched for any."""
    return inputs.optional(call.censor.checking(inputs.metadata), metadata, "metadata")


def _asked(source_id: object, target_id: object, relation_type: object, weight: object, metadata: object) -> Asked:
    asked = Asked(
        inputs.memory_id(source_id, "source_id"), inputs.memory_id(target_id, "target_id"),
        relations.relation_type(relation_type), inputs.unit(weight, "weight"),
        inputs.optional(inputs.metadata, metadata),
    )  # fmt: skip
    if asked.source_id == asked.target_id:
        raise InvalidInput("target_id", "another memory than the source", "the same one")
    return asked


def _relate_all(
    setup: Setup, call: Writing, asked: Sequence[Asked], *, named: bool = False
) -> Operation[list[Relation]]:
    def work(conn: Connection) -> list[Relation]:
        desk = setup.desk(conn, call.scope, reason=call.reason)
        held = _locked(desk, call, asked, named=named)
        requests = [_request(one) for one in held]
        if not _is_repeated(desk, call, held, requests):
            _refuse_erased(held, named=named)
            done = _append(setup, desk, call, ADDED, held, requests)
            edges = [
                Edge(*one.ends, one.asked.weight, one.asked.metadata, event.event_id, event.recorded_at,
                     _holds_at(call.occurred_at, event.recorded_at))
                for one, event in zip(held, done, strict=True)
            ]  # fmt: skip
            relations.relate(conn, desk.tenant_id, edges)
        found = relations.find(ending(conn), desk.tenant_id, [one.ends for one in held])
        if any(one is None for one in found):
            raise NotFound("the relation was erased since")
        return cast("list[Relation]", found)

    return (yield from changing.written(call, work))


def _request(held: Held) -> dict[str, Any]:
    """What an event keeps of a relation: by whole ids, which mean the same for ever."""
    source_id, target_id, kind = held.ends
    asked = {"source_id": source_id, "target_id": target_id, "relation_type": kind, "weight": held.asked.weight}
    kept = {} if held.asked.metadata is None else {"metadata": held.asked.metadata}
    request: dict[str, Any] = changing.plain(asked | kept)
    return request


def _holds_at(occurred_at: datetime | None, recorded_at: datetime) -> datetime:
    """Since when a statement about a relation holds: when it was said to be so, never after it was recorded."""
    return recorded_at if occurred_at is None else min(occurred_at, recorded_at)


def _locked(desk: Desk, call: Writing, asked: Sequence[Asked], *, named: bool) -> list[Held]:
    """The relations with their ends as these stand under the locks of their lineages, which an erasure takes too."""
    ids = _resolved(desk, asked, named)
    held = _held(desk, asked, ids, named)
    while True:
        lineages = {f"lineage/{end.lineage_id}" for one in held for end in (one.source, one.target)}
        scopes = {
            scope_id
            for scope_id, scope in desk.visible.scopes.items()
            if any(scope in (one.source.scope, one.target.scope) for one in held)
        }
        key = changing.key_lock(replace(desk, scope_id=held[0].scope_id), call)
        writing.lock(desk, [], *lineages, key, scopes=sorted(scopes))
        before, held = held, _held(desk, asked, ids, named)
        if all(
            (old.source.lineage_id, old.target.lineage_id) == (new.source.lineage_id, new.target.lineage_id)
            for old, new in zip(before, held, strict=True)
        ):
            return held


def _resolved(desk: Desk, asked: Sequence[Asked], named: bool) -> list[tuple[str, str]]:
    known: dict[str, str] = {}
    for index, one in enumerate(asked):
        for wanted in (one.source_id, one.target_id):
            if wanted not in known:
                try:
                    known[wanted] = memories.resolve_id(desk.conn, desk.visible, wanted)
                except NotFound:
                    raise NotFound(_at(index, named) + UNKNOWN) from None
        if known[one.source_id] == known[one.target_id]:
            where = f"items[{index}].target_id" if named else "target_id"
            raise InvalidInput(where, "another memory than the source", "the same one")
    return [(known[one.source_id], known[one.target_id]) for one in asked]


def _held(desk: Desk, asked: Sequence[Asked], ids: Sequence[tuple[str, str]], named: bool) -> list[Held]:
    wanted = sorted({one for pair in ids for one in pair})
    found = {memory.memory_id: memory for memory in memories.load(desk.conn, desk.visible, wanted)}
    scope_ids = {scope: scope_id for scope_id, scope in desk.visible.scopes.items()}
    held = []
    for index, (one, (source_id, target_id)) in enumerate(zip(asked, ids, strict=True)):
        source, target = found.get(source_id), found.get(target_id)
        if source is None or target is None:
            raise NotFound(_at(index, named) + UNKNOWN)
        if len({source.scope.user_id, target.scope.user_id} - {None}) > 1:  # no write sees two users
            raise NotFound(_at(index, named) + UNKNOWN)
        # A relation inside one scope is part of that scope's ledger; one between two, of the caller's.
        scope_id = scope_ids[source.scope] if source.scope == target.scope else desk.scope_id
        held.append(Held(one, source, target, scope_id))
    return held


def _refuse_erased(held: Sequence[Held], *, named: bool) -> None:
    for index, one in enumerate(held):
        if "erased" in (one.source.status_reason, one.target.status_reason):
            raise Conflict(_at(index, named) + ERASED)


def _at(index: int, named: bool) -> str:
    return f"items[{index}]: " if named else ""


def _is_repeated(desk: Desk, call: Writing, held: Sequence[Held], requests: Sequence[Mapping[str, Any]]) -> bool:
    """Whether an earlier call with this key asked for the very same; IdempotencyMismatch where it asked for another."""
    if call.is_new(desk.conn):
        return False
    key = str(call.idempotency_key)
    if ledger.find_by_key(desk.conn, held[0].scope_id, key) is None:
        return False
    kind = ENDED if "weight" not in requests[0] else ADDED
    scope_ids = {one.scope_id for one in held}
    recorded: list[datetime] = []
    for index, (one, request) in enumerate(zip(held, requests, strict=True)):
        # What went into several ledgers was not recorded at one time.
        event = ledger.find_at(desk.conn, one.scope_id, key, index, recorded if len(scope_ids) == 1 else None)
        # What an erased event asked for is gone; what kind of change it was can still be told.
        if event is None or event.event_type != kind or (not event.erased and event.payload.get("request") != request):
            raise IdempotencyMismatch
        if not changing.speaks_alike(desk.conn, desk.visible, call, event):
            raise IdempotencyMismatch
        recorded.append(event.recorded_at)
    if any(ledger.goes_on(desk.conn, scope_id, key, recorded) for scope_id in scope_ids):
        raise IdempotencyMismatch
    return True


def _append(
    setup: Setup, desk: Desk, call: Writing, event_type: str, held: Sequence[Held],
    requests: Sequence[Mapping[str, Any]],
) -> list[ledger.AppendedEvent]:  # fmt: skip
    """Append the events of some relations, each to the ledger of its scope, scope by scope in one order."""
    trust = call.trust or changing.DIRECT_TRUST
    done: dict[int, ledger.AppendedEvent] = {}
    for scope_id in sorted({one.scope_id for one in held}):
        here, stream_id = changing.place(setup, replace(desk, scope_id=scope_id), call)
        chosen = [index for index, one in enumerate(held) if one.scope_id == scope_id]
        events = [
            ledger.NewEvent(
                role=changing.ROLE_OF[trust], event_type=event_type,
                payload={"request": dict(requests[index]), **({"reason": call.reason} if call.reason else {})},
                trust=trust, occurred_at=call.occurred_at, session_id=here.session_id, task_run_id=here.task_run_id,
                actor=call.actor, idempotency_key=ledger.key_at(str(call.idempotency_key), index),
            )
            for index in chosen
        ]  # fmt: skip
        appended = ledger.append(
            desk.conn, scope_id=scope_id, stream_id=stream_id, events=events, key=setup.settings.secret_key
        )
        done |= dict(zip(chosen, appended.events, strict=True))
    return [done[index] for index in range(len(held))]


def again(desk: Desk, event: Event, stand_in: Callable[[str], str | None]) -> None:
    """Make the relation that an event asked for once more, or end it, in a projection of its own.

    `stand_in` gives the memory that stands for one there; None for what belongs to another scope, whose relations hold
    on to ids and are part of no projection.
    """
    request = event.payload["request"]
    source_id, target_id = stand_in(request["source_id"]), stand_in(request["target_id"])
    if source_id is None or target_id is None:
        return
    at, holds_at = desk.at or event.recorded_at, _holds_at(event.occurred_at, event.recorded_at)
    kind = request["relation_type"]
    if event.event_type == ENDED:
        relations.end(
            desk.conn, desk.tenant_id, (source_id, target_id, kind), event_id=event.event_id, at=at, holds_at=holds_at
        )
        return
    edge = Edge(source_id, target_id, kind, request["weight"], request.get("metadata"), event.event_id, at, holds_at)
    relations.relate(desk.conn, desk.tenant_id, [edge])


# Reading -------------------------------------------------------------------------------------------------------------


def list_relations(
    setup: Setup, memory_id: object, *, direction: object, relation_types: object, limit: object,
    given: Mapping[str, Any],
) -> Operation[tuple[Relation, ...]]:  # fmt: skip
    """The relations of a memory that stand, the heaviest first: all, or as many as are wanted."""
    reading = setup.reading(given)
    wanted, way = inputs.memory_id(memory_id), _direction(direction)
    kinds, most = relations.relation_types(relation_types), inputs.optional(inputs.limit, limit)

    def work(conn: Connection) -> tuple[Relation, ...]:
        visible = tenancy.visible(conn, reading.scope)
        memory = memories.get(conn, visible, wanted, reading.moment)
        return relations.list_relations(
            conn, visible, memory.memory_id, direction=way, relation_types=kinds, limit=most, moment=reading.moment
        )

    return (yield from steps.read(reading.scope.tenant_id, work))


def traverse(
    setup: Setup, start_id: object, *, max_depth: object, direction: object, relation_types: object,
    min_weight: object, limit: object, query: object, include_superseded: object, given: Mapping[str, Any],
) -> Operation[Traversal]:  # fmt: skip
    """What relations lead to from one memory."""
    reading, wanted = setup.reading(given), inputs.memory_id(start_id, "start_id")
    most = inputs.limit(limit)
    asked = Walk(
        inputs.whole(max_depth, "max_depth", 1, relations.MAX_DEPTH), _direction(direction),
        relations.relation_types(relation_types), inputs.unit(min_weight, "min_weight"), most, most,
        inputs.flag(include_superseded, "include_superseded"),
    )  # fmt: skip
    question = inputs.optional(inputs.query, query) or ""
    return (yield from _walked(setup, reading, [wanted], asked, question))


def traverse_many(
    setup: Setup, start_ids: object, *, max_depth: object, direction: object, relation_types: object,
    min_weight: object, limit_per_seed: object, limit: object, skip_missing: object, query: object,
    given: Mapping[str, Any],
) -> Operation[Traversal]:  # fmt: skip
    """What relations lead to from several memories; of each memory the best way there."""
    reading = setup.reading(given)
    wanted = [inputs.memory_id(one, "start_ids") for one in inputs.items(start_ids, "start_ids", SEEDS)]
    asked = Walk(
        inputs.whole(max_depth, "max_depth", 1, relations.MAX_DEPTH), _direction(direction),
        relations.relation_types(relation_types), inputs.unit(min_weight, "min_weight"),
        inputs.limit(limit_per_seed, "limit_per_seed"), inputs.limit(limit),
    )  # fmt: skip
    skips = inputs.flag(skip_missing, "skip_missing")
    question = inputs.optional(inputs.query, query) or ""
    if not wanted:
        return relations.empty()
    return (yield from _walked(setup, reading, wanted, asked, question, skip_missing=skips))


def find_path(
    setup: Setup, source_id: object, target_id: object, *, max_depth: object, given: Mapping[str, Any]
) -> Operation[TraversalResult | None]:
    """The heaviest path between two memories, or None."""
    reading = setup.reading(given)
    asked = _asked(source_id, target_id, "related_to", 1.0, None)
    most = inputs.whole(max_depth, "max_depth", 1, relations.MAX_DEPTH)

    def work(conn: Connection) -> TraversalResult | None:
        reader, sought = _sought(conn, reading, [asked.source_id, asked.target_id])
        source, target = sought[0], sought[-1]
        hops = 0 if source == target else most
        rows, found = relations.best_path(conn, reader, source, target, hops, reading.moment)
        if not found.keys() >= {source, target}:
            raise NotFound(UNKNOWN)
        if source == target:
            raise InvalidInput("target_id", "another memory than the source", "the same one")
        return relations.between(rows[0], rows[1], found[target]) if rows else None

    return (yield from steps.read(reading.scope.tenant_id, work))


def render_graph_context(setup: Setup, traversal: object, *, max_tokens: object, token_counter: object) -> str:
    """What a walk found as lines for a prompt. Pure, but for the key of its fence."""
    if not isinstance(traversal, Traversal):
        raise InvalidInput("traversal", "a Traversal", type(traversal).__name__)
    most, count = inputs.max_tokens(max_tokens), counting.chosen(token_counter)
    return paths.render(traversal, max_tokens=most, count=count, key=setup.fence_key)


def _direction(value: object) -> Direction:
    return cast("Direction", inputs.choice(value, "direction", DIRECTIONS))


def _walked(
    setup: Setup, reading: Reading, wanted: Sequence[str], asked: Walk, question: str, *, skip_missing: bool = False
) -> Operation[Traversal]:
    """One walk. The question is embedded by the model whose vectors it meets; if that changed meanwhile, once more."""
    tenant = reading.scope.tenant_id
    for _ in range(TRIES):
        walk, degraded = asked, _WHOLE
        if question:
            walk, degraded = yield from _with_question(setup, tenant, asked, question)

        def work(
            conn: Connection, walk: Walk = walk, degraded: tuple[str, ...] = degraded
        ) -> Traversal | None:  # fmt: skip
            if walk.model_id is not None:
                scale = semantic.scale_in_use(conn, tenant, walk.model_id)
                if scale is None:
                    return None
                walk = replace(walk, gate=scale.of_the_model(walk.gate))
            return _traversal(conn, reading, wanted, walk, degraded, skip_missing)

        found = yield from steps.read(tenant, work)
        if found is not None:
            return found
        if setup.embedders is not None:
            setup.embedders.forget(tenant)
    last: Traversal = yield from _walked(setup, reading, wanted, asked, "", skip_missing=skip_missing)
    return replace(last, degraded=(semantic.NAME,))


def _with_question(
    setup: Setup, tenant_id: str, asked: Walk, question: str
) -> Operation[tuple[Walk, tuple[str, ...]]]:  # fmt: skip
    setup = yield from spaces.ready(setup, tenant_id)
    embedder = setup.embedder
    if embedder is None:
        return asked, (semantic.NAME,)
    try:
        vector = yield from steps.think(lambda: embedder.embed_query(question))
    except Unavailable:
        return asked, (semantic.NAME,)
    return replace(asked, vector=vector, model_id=embedder.model_id), ()


def _traversal(
    conn: Connection, reading: Reading, wanted: Sequence[str], asked: Walk, degraded: tuple[str, ...],
    skip_missing: bool,
) -> Traversal:  # fmt: skip
    reader, seeds = _sought(conn, reading, wanted, skip_missing=skip_missing)
    rows, found = relations.ties(conn, reader, seeds, asked, reading.moment, with_seeds=True)
    if not skip_missing and any(seed not in found for seed in seeds):
        raise NotFound(UNKNOWN)
    began = tuple(found[seed] for seed in seeds if seed in found)
    return Traversal(relations.results(rows, found), relations.is_cut(rows), degraded, began)


def _sought(
    conn: Connection, reading: Reading, wanted: Sequence[str], *, skip_missing: bool = False
) -> tuple[Visible | Scope, list[str]]:
    """Whole ids, and who reads: what a reader may see is only looked up beforehand for short ids, and for the past."""
    if reading.moment.is_now and not any(map(ids.is_short, wanted)):
        return reading.scope, list(dict.fromkeys(ids.parse_id(one, "memory_id") for one in wanted))
    visible, seeds = tenancy.visible(conn, reading.scope), []
    for one in wanted:
        try:
            seeds.append(memories.resolve_id(conn, visible, one))
        except NotFound:
            if not skip_missing:
                raise
    return visible, list(dict.fromkeys(seeds))
