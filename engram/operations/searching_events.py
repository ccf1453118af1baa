"""Searching the ledger: what was said and done, by its words and its meaning; and the job that keeps its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from engram import derivation, inputs, jobs, scales, streams, tenancy
from engram.channels import events, keyword
from engram.channels.events import Narrowed
from engram.database import Connection, fetch_one
from engram.errors import EngramError, Unavailable
from engram.operations import spaces, steps
from engram.operations.setup import Reading, Setup
from engram.operations.steps import Operation
from engram.values import MODES, ROLES, EventResults, Watermark

PRIORITY: Final = 200  # of the job, behind what derives
EVERY: Final = 32  # about one append in so many asks whether its scope's events should be indexed


def search_events(
    setup: Setup, query: object, *, mode: object, types: object, roles: object, session_id: object, task_run_id: object,
    since: object, until: object, limit: object, given: Mapping[str, Any],
) -> Operation[EventResults]:  # fmt: skip
    """The events that answer a query best."""
    reading = setup.reading(given)
    question, how, most = setup.query(query), inputs.choice(mode, "mode", MODES), inputs.limit(limit)
    optional = inputs.optional
    narrowed = Narrowed(
        window=_window(optional(inputs.moment, since, "since"), optional(inputs.moment, until, "until")),
        types=None if types is None else [inputs.label(one, "types") for one in inputs.items(types, "types", 64)],
        roles=None
        if roles is None
        else [inputs.choice(one, "roles", ROLES) for one in inputs.items(roles, "roles", 8)],
        session_id=optional(inputs.name, session_id, "session_id"),
        task_run_id=optional(inputs.event_id, task_run_id, "task_run_id"),
    )
    return (yield from _searched(setup, reading, question, narrowed, how, most))


def _searched(
    setup: Setup, reading: Reading, question: str, narrowed: Narrowed, mode: Any, limit: int
) -> Operation[EventResults]:
    tenant, default = reading.scope.tenant_id, setup.settings.text_search_config
    words = keyword.parse(question)
    vector, model_id, known, scale = None, None, None, scales.REFERENCE
    failed: tuple[str, ...] = ()
    if mode != "keyword" and events.is_told(words) and limit:
        told = yield from steps.read(tenant, lambda conn: fetch_one(conn, "find_model_and_config", tenant_id=tenant))
        if told is not None:
            model_id, known = told.model_id, told.config
            scale = scales.in_use(told.thresholds)
        setup = yield from spaces.ready_for(setup, tenant, model_id)
        embedder = setup.embedder
        if embedder is None and mode == "semantic":
            raise Unavailable("there is no embedding model: search by keyword")
        if embedder is not None and model_id is not None:
            try:
                vector = yield from steps.think(lambda: embedder.embed_query(question))
                model_id = embedder.model_id
            except Unavailable:
                if mode == "semantic":
                    raise
                failed = (events.SEMANTIC,)

    def find(conn: Connection) -> tuple[events.Found, Watermark, tuple[int, ...]]:
        visible = tenancy.visible(conn, reading.scope)
        config = known or keyword.config_of(conn, tenant, default)
        found = events.find(
            conn, visible, words, narrowed, limit=limit, mode=mode, moment=reading.moment,
            prefer=events.preferred(question), vector=vector, model_id=model_id, scale=scale, config=config,
        )  # fmt: skip
        return found, streams.slowest(conn, visible.scope_ids, derivation.versions()), visible.scope_ids

    found, watermark, scope_ids = yield from steps.read(tenant, find)
    if found.waiting > events.MOST_WAITING or events.UNREAD in found.degraded:
        yield from ask(tenant, scope_ids)
    degraded = tuple(dict.fromkeys((*failed, *found.degraded)))
    return EventResults(found.hits, watermark, degraded, found.waiting)


def ask(tenant_id: str, scope_ids: Sequence[int]) -> Operation[None]:
    """Ask for the words of these scopes' events to be indexed, best effort: a read never fails because of it."""

    def work(conn: Connection) -> None:
        for scope_id in scope_ids:
            _ask(conn, tenant_id, scope_id, least=1)

    try:
        yield from steps.write(tenant_id, work, key="index_events")
    except EngramError:
        return
    yield from steps.ring(tenant_id)


def ask_if_due(conn: Connection, tenant_id: str, scope_id: int, event_ids: Sequence[str]) -> None:
    """Ask for it after an append, now and then: where so many events wait that a search should not read them itself."""
    if is_drawn(event_ids) and events.may_be_due(conn, tenant_id, scope_id):
        _ask(conn, tenant_id, scope_id, least=events.MOST_WAITING)


def is_drawn(event_ids: Sequence[str]) -> bool:
    """Whether an append of these events asks for it: one event in `EVERY` does, by its id. Pure."""
    return any(int(event_id[-3:], 16) % EVERY == 0 for event_id in event_ids)


def _ask(conn: Connection, tenant_id: str, scope_id: int, least: int) -> None:
    read, waiting = events.read_and_waiting(conn, tenant_id, scope_id)
    if waiting >= least:
        # Once for what has been read so far: while a job of that name waits or runs, another would do the same.
        jobs.add(conn, kind=events.KIND, dedup_key=f"{scope_id}/{read}", scope_id=scope_id, priority=PRIORITY)


def _window(since: Any, until: Any) -> Any:
    return None if since is None and until is None else (since, until)
