"""Change of the embedding model: new vectors are built beside the old ones, take their place at once, and the old go.

Reads and writes go on all the while. Whatever is killed in between, the same call goes on where it was: what is done is
in the database, and a memory that has its vector is not embedded again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from engram import embedding, inputs, jobs, migrations, scales
from engram.channels import semantic
from engram.database import Connection, execute, fetch_all
from engram.embedding import CachedEmbedder, Embedder
from engram.errors import Conflict, EngramError, InvalidInput, ModelRejected, RateLimited, SettingsError, Unavailable
from engram.ids import new_id
from engram.operations import steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.operations.tending import FIRST
from engram.values import EmbeddingModel, ReembedProgress

Progress = Callable[[ReembedProgress], None]

MOST_AT_ONCE: Final = 1_000
PAUSES: Final = (1.0, 4.0, 15.0, 60.0)  # seconds before a model that is out is asked again
SCOPES: Final = 200
DROPPED: Final = 5_000
SAMPLED: Final = 20  # memories whose neighbours are compared
TRIES: Final = 10  # lost races with writers, after which the switch waits for no vector of theirs
MOST_LEFT: Final = 1_000  # memories that may go without their vector from the switch until it is made
FAILED: Final = "embedding_failed"


@dataclass(slots=True)
class Count:
    """How far a run has come."""

    model: CachedEmbedder
    tell: Progress | None
    done: int = 0
    total: int = 0
    made: int = 0
    state: Literal["building", "active"] = "building"
    failing: dict[str, None] = field(default_factory=dict)
    overlap: float | None = None
    graph: bool | None = None
    dropped: int = 0
    began: float = field(default_factory=time.monotonic)

    def progress(self) -> ReembedProgress:
        """What there is to tell now."""
        rate = self.made / max(1e-6, time.monotonic() - self.began)
        left = max(0, self.total - self.done - len(self.failing))
        return ReembedProgress(
            model=self.model.name, dimensions=self.model.dimensions, state=self.state, done=self.done, total=self.total,
            rate=round(rate, 1), seconds_left=round(left / rate, 1) if rate else None,
            overlap=None if self.overlap is None else round(self.overlap, 3), failing=tuple(self.failing)[:100],
            graph=self.graph, dropped=self.dropped,
        )  # fmt: skip

    def told(self) -> ReembedProgress:
        """The progress, after whoever watches has heard of it."""
        progress = self.progress()
        if self.tell is not None:
            self.tell(progress)
        return progress


def list_models(setup: Setup) -> Operation[tuple[EmbeddingModel, ...]]:
    """The tenant's embedding models, the one in use first."""
    rows = yield from _rows(setup.scope.tenant_id, "list_models", counted=True)
    return tuple(
        EmbeddingModel(
            row.name,
            row.dimensions,
            row.state,
            row.vectors,
            row.failed,
            row.created_at,
            row.changed_at,
            scales.of_model(row.thresholds) is not None,
        )
        for row in rows
    )


def reembed(
    setup: Setup, model: object, *, batch_size: object, switch: object, drop: object, dry_run: object, progress: object
) -> Operation[ReembedProgress]:
    """Build the vectors of a model for every memory of the tenant, switch to it, and delete those of the old one."""
    tenant, size = setup.scope.tenant_id, inputs.whole(batch_size, "batch_size", 1, MOST_AT_ONCE)
    switches, drops, rehearsed = (
        inputs.flag(switch, "switch"), inputs.flag(drop, "drop"), inputs.flag(dry_run, "dry_run"),
    )  # fmt: skip
    tell = inputs.optional(inputs.function, progress, "progress")
    chosen = yield from _chosen(setup, model)
    count = Count(chosen, tell)

    def begin(conn: Connection) -> int | None:
        return _begin(conn, tenant, chosen)

    old_id = yield from steps.write(tenant, steps.undone(begin) if rehearsed else begin, key="begin")
    count.state = "building" if old_id != chosen.model_id else "active"
    counted = (yield from _rows(tenant, "count_vectors", model_id=chosen.model_id))[0]
    count.total, count.done = counted.total, counted.done
    told = count.told()
    if rehearsed:
        return replace(told, dry_run=True)
    yield from _build(tenant, count, size)
    yield from _catch_up(tenant, count, size)
    scope_ids = yield from _scopes(tenant)
    count.graph = yield from _graph(setup, tenant, count, scope_ids)
    if old_id not in (None, chosen.model_id):
        count.overlap = yield from _overlap(tenant, old_id, chosen.model_id, scope_ids)
    count.told()
    if not switches and count.state == "building":
        return count.told()
    left = yield from _switched(tenant, count, size)
    count.state = "active"
    if setup.embedders is not None:
        setup.embedders.forget(tenant)
    for start in range(0, len(left), size):
        yield from _embed(tenant, count, left[start : start + size])
    yield from steps.ring(tenant)
    count.told()
    if drops:
        yield from _drop(tenant, count, scope_ids)
    return count.told()


def _chosen(setup: Setup, model: object) -> Operation[CachedEmbedder]:
    if isinstance(model, str):
        inputs.name(model, "model")
    elif not isinstance(model, Embedder):
        raise InvalidInput("model", "the name of an embedding model, or an embedder", type(model).__name__)
    assert setup.embedders is not None
    try:
        chosen = setup.embedders.load(model)
    except SettingsError as error:
        raise InvalidInput("model", "an embedding model that this process can load", "another name") from error

    def measure() -> None:
        if chosen.is_named:
            chosen.probe()
        assert chosen.dimensions

    yield from steps.think(measure)
    return chosen


def _begin(conn: Connection, tenant_id: str, chosen: CachedEmbedder) -> int | None:
    """Note the model as being built; the number of the one in use. From now on writers note what they owe it."""
    fetch_all(conn, "lock_models", tenant_id=tenant_id)
    active, _ = semantic.hold_models(conn)
    about = {"tenant_id": tenant_id, "model_id": chosen.model_id}
    fetch_all(conn, "give_up_models", **about)
    rows = fetch_all(conn, "list_models", tenant_id=tenant_id, counted=False)
    kept = next((row.probes for row in rows if row.model_id == chosen.model_id), None)
    if kept and chosen.probes is not None and not embedding.is_same_model(kept, chosen.probes):
        raise Unavailable(
            f"the embedding model {chosen.name} is not the one that made vectors of this name: name it anew, such as"
            f" {chosen.name}#2",
            reason="space_drift",
        )
    if active is None or active.model_id != chosen.model_id:
        execute(
            conn, "build_model", model_name=chosen.name, dimensions=chosen.dimensions,
            probes=semantic.probes_of(chosen), **about,
        )  # fmt: skip
    return None if active is None else active.model_id


def _build(tenant: str, count: Count, size: int) -> Operation[None]:
    """Embed every memory that has no vector of the model, in the order of their ids."""
    after, model_id = FIRST, count.model.model_id
    while True:
        rows = yield from _rows(tenant, "list_without_vector", model_id=model_id, after=after, limit=size)
        yield from _embed(tenant, count, rows)
        if len(rows) < size:
            return
        after = rows[-1].memory_id


def _catch_up(tenant: str, count: Count, size: int) -> Operation[None]:
    """Embed what was written meanwhile, down to less than a batch: while others write something is always left."""
    model_id = count.model.model_id
    while True:
        rows = yield from _rows(tenant, "list_backlog", model_id=model_id, limit=size)
        yield from _embed(tenant, count, rows)
        if len(rows) < size:
            return


def _embed(tenant: str, count: Count, rows: Sequence[Any]) -> Operation[None]:
    embedder, model_id = count.model, count.model.model_id
    spoken = [row for row in rows if row.fact]
    vectors = yield from _patiently(lambda: embedder.embed_each([row.fact for row in spoken]))
    made = [
        (row.memory_id, row.fact, vector) for row, vector in zip(spoken, vectors, strict=True) if vector is not None
    ]
    failing = [row.memory_id for row, vector in zip(spoken, vectors, strict=True) if vector is None]
    long = [row.memory_id for row in spoken if embedder.is_long(row.fact)]
    about: dict[str, Any] = {"tenant_id": tenant, "model_id": model_id}

    def effect(conn: Connection) -> int:
        active, building = semantic.hold_models(conn)
        if model_id not in [model.model_id for model in (active, building) if model is not None]:
            raise Conflict("another change of the embedding model has taken the place of this one")
        done = semantic.store_built(conn, tenant, model_id, made, long=long)
        if done:
            is_active = active is not None and active.model_id == model_id
            execute(conn, "mark_embedded" if is_active else "mark_adopted", tenant_id=tenant, memory_ids=done)
        if failing:
            execute(conn, "note_unembeddable", memory_ids=failing, error_class=FAILED, **about)
        erased = [row.memory_id for row in rows if not row.fact]
        execute(conn, "clear_backlog", memory_ids=[*done, *erased], **about)
        return len(done)

    if rows:
        stored = yield from steps.write(tenant, effect, key="batch")
        count.made += stored
        count.done += stored
        count.total = max(count.total, count.done + len(count.failing))
        count.failing.update(dict.fromkeys(failing))
        count.told()


def _patiently(work: Callable[[], list[Any]]) -> Operation[list[Any]]:
    """A call of a model, again after a pause where it is limited or out; a refused key is told at once."""
    pauses = iter(PAUSES)
    while True:
        try:
            return (yield from steps.think(work))
        except ModelRejected:
            raise
        except Unavailable as error:
            pause = next(pauses, None)
            if pause is None or error.facts.get("reason") == "space_drift":
                raise
            if isinstance(error, RateLimited):
                pause = max(pause, error.retry_after or 0.0)
        yield from steps.pause(pause)


def _switched(tenant: str, count: Count, size: int) -> Operation[list[Any]]:
    """Switch once no memory lacks its vector; those that lack it where others write faster than they are waited for."""
    run, lost = new_id(), 0
    while True:
        most = MOST_LEFT if lost >= TRIES else 0

        def work(conn: Connection, most: int = most) -> list[Any] | None:
            return _switch(conn, tenant, count.model, run, most)

        left = yield from steps.write(tenant, work, key=run)
        if left is not None:
            return left
        lost += 1
        yield from _catch_up(tenant, count, size)


def _switch(conn: Connection, tenant: str, chosen: CachedEmbedder, run: str, most: int) -> list[Any] | None:
    """The new model in the place of the old, unless more than so many memories lack their vector; those that do.

    While it runs nobody writes.
    """
    about: dict[str, Any] = {"tenant_id": tenant, "model_id": chosen.model_id}
    fetch_all(conn, "lock_models", tenant_id=tenant)
    active, building = semantic.hold_models(conn)
    if chosen.model_id not in [model.model_id for model in (active, building) if model is not None]:
        raise Conflict("another change of the embedding model has taken the place of this one")
    left = list(fetch_all(conn, "list_backlog", limit=most + 1, **about))
    if len(left) > most:
        return None
    if building is not None and building.model_id == chosen.model_id:
        execute(conn, "retire_model", tenant_id=tenant)
        execute(conn, "activate_model", **about)
    settled = fetch_all(conn, "settle_embedded", **about)
    for scope_id in sorted({row.scope_id for row in settled if row.embed_state == "pending"}):
        jobs.add(conn, kind=jobs.EMBED, dedup_key=f"{run}/{scope_id}", scope_id=scope_id)
    execute(conn, "empty_backlog", **about)
    return left


def _scopes(tenant: str) -> Operation[list[int]]:
    found: list[int] = []
    while True:
        rows = yield from _rows(tenant, "list_scope_ids", after=found[-1] if found else 0, limit=SCOPES)
        found += [row.scope_id for row in rows]
        if len(rows) < SCOPES:
            return found


def _graph(setup: Setup, tenant: str, count: Count, scope_ids: Sequence[int]) -> Operation[bool | None]:
    """Put the vectors of large scopes into a graph; None when there are none, False where it may not be built."""
    model_id, dimensions = count.model.model_id, count.model.dimensions
    large: list[int] = []
    for some in _parts(scope_ids):
        rows = yield from _rows(tenant, "list_large_scopes", scope_ids=some, model_id=model_id, large=semantic.LARGE)
        large += [row.scope_id for row in rows]
    if not large:
        return None
    there = yield from steps.read(tenant, lambda conn: semantic.has_graph(conn, model_id))
    url = None if there or setup.owner_url is None else setup.owner_url()
    if not there and url is None:
        return False
    for scope_id in large:
        batch = {"tenant_id": tenant, "scope_id": scope_id, "model_id": model_id}

        def effect(conn: Connection, batch: Any = batch) -> int:
            execute(conn, "add_graph", **batch)
            return execute(conn, "graph_vectors", batch=semantic.BATCH, **batch)

        while (yield from steps.write(tenant, effect, key="graph")):
            pass
    if url is not None:
        try:
            yield from steps.think(lambda: migrations.build_graph(url, model_id, dimensions))
        except EngramError:
            return False
    return True


def _overlap(tenant: str, old_id: int, model_id: int, scope_ids: Sequence[int]) -> Operation[float | None]:
    """The share of the ten nearest neighbours that both models agree on, over a sample; None where there is none."""
    some = list(scope_ids[:SCOPES])
    rows = yield from _rows(tenant, "measure_overlap", old_id=old_id, model_id=model_id, scope_ids=some, limit=SAMPLED)
    return None if rows[0].overlap is None else float(rows[0].overlap)


def _drop(tenant: str, count: Count, scope_ids: Sequence[int]) -> Operation[None]:
    rows = yield from _rows(tenant, "list_models", counted=False)
    for retired in [row.model_id for row in rows if row.state == "retired"]:
        for some in _parts(scope_ids):

            def effect(conn: Connection, retired: int = retired, some: list[int] = some) -> int:
                semantic.hold_models(conn)
                return execute(conn, "drop_vectors", tenant_id=tenant, model_id=retired, scope_ids=some, limit=DROPPED)

            dropped = DROPPED
            while dropped == DROPPED:
                dropped = yield from steps.write(tenant, effect, key="drop")
                count.dropped += dropped
                count.told()
    yield from steps.write(tenant, lambda conn: execute(conn, "drop_graphs", tenant_id=tenant), key="drop")


def _rows(tenant: str, name: str, **params: Any) -> Operation[list[Any]]:
    return (yield from steps.read(tenant, lambda conn: list(fetch_all(conn, name, tenant_id=tenant, **params))))


def _parts(scope_ids: Sequence[int]) -> Iterator[list[int]]:
    return (list(scope_ids[at : at + SCOPES]) for at in range(0, len(scope_ids), SCOPES))
