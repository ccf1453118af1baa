"""Changing how a tenant's words are read: its text search configuration, and the word index made again by it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from sqlalchemy.engine import Row

from engram import inputs, tenancy
from engram.channels import keyword
from engram.database import Connection, execute, fetch_all, fetch_value
from engram.errors import Conflict, InvalidInput
from engram.operations import steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.values import ReindexProgress

BATCH: Final = 200
STREAMS: Final = 20
SHAPE: Final = "the name of a text search configuration of the server, such as simple, english or german"


def reindex_words(
    setup: Setup, config: object = None, *, dry_run: object = False, progress: object = None
) -> Operation[ReindexProgress]:
    """Give the tenant a configuration, and read the words of all its memories and events anew, batch by batch."""
    tell, rehearsed = inputs.optional(inputs.function, progress, "progress"), inputs.flag(dry_run, "dry_run")
    tenant, default = setup.scope.tenant_id, setup.settings.text_search_config
    wanted = inputs.optional(inputs.label, config, "config")
    if wanted is None:
        wanted = yield from steps.read(tenant, lambda conn: keyword.config_of(conn, tenant, default))
    chosen: str = wanted

    def switch(conn: Connection) -> bool:
        return _switch(conn, tenant, chosen)

    known = yield from steps.write(tenant, steps.undone(switch) if rehearsed else switch, key="reindex")
    if not known:
        raise InvalidInput("config", SHAPE, "another name")
    told = ReindexProgress(chosen, 0, dry_run=rehearsed)
    last: str | None = None
    while not told.done:
        batch = partial(_batch, tenant_id=tenant, config=None if rehearsed else chosen, after=last)
        rows: list[Row[Any]] = yield from steps.write(tenant, batch, key="reindex")
        last = rows[-1].memory_id if rows else last
        told = replace(told, memories=told.memories + sum(row.is_live for row in rows), done=len(rows) < BATCH)
        if tell is not None:
            tell(told)
    while not rehearsed and (yield from steps.write(tenant, lambda conn: _clear_events(conn, tenant), key="reindex")):
        pass
    return told


def _switch(conn: Connection, tenant_id: str, config: str) -> bool:
    if not execute(conn, "set_text_config", tenant_id=tenant_id, config=config):
        return False
    execute(conn, "forget_counts", tenant_id=tenant_id)
    return True


def _batch(conn: Connection, *, tenant_id: str, config: str | None, after: str | None) -> list[Row[Any]]:
    if config is not None:
        # A writer may have read the configuration before, and what is read here may be erased before it is written.
        fetch_all(conn, "lock_models", tenant_id=tenant_id)
        if keyword.config_of(conn, tenant_id, config) != config:
            raise Conflict("another change of the text search configuration has taken the place of this one")
        tenancy.show_shadows(conn)  # which would bring the words of before when they take the place of the live ones
    rows = fetch_all(conn, "list_worded", tenant_id=tenant_id, after=after, limit=BATCH)
    if rows and config is not None:
        keyword.reindex(conn, [row.memory_id for row in rows], tenant_id=tenant_id, config=config)
    return rows


def _clear_events(conn: Connection, tenant_id: str) -> bool:
    fetch_all(conn, "lock_models", tenant_id=tenant_id)  # as above: a job may write words of events
    execute(conn, "clear_event_words", tenant_id=tenant_id, limit=STREAMS)
    return bool(fetch_value(conn, "has_event_words", tenant_id=tenant_id))
