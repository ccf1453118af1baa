"""Changing how a tenant's words are read: its text search configuration, and the word index made again by it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from engram import inputs
from engram.channels import keyword
from engram.database import Connection, execute, fetch_all, fetch_value
from engram.errors import InvalidInput
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
        indexed: list[str] = yield from steps.write(tenant, batch, key="reindex")
        last = indexed[-1] if indexed else last
        told = replace(told, memories=told.memories + len(indexed), done=len(indexed) < BATCH)
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


def _batch(conn: Connection, *, tenant_id: str, config: str | None, after: str | None) -> list[str]:
    rows = fetch_all(conn, "list_worded", tenant_id=tenant_id, after=after, limit=BATCH)
    found = [str(row.memory_id) for row in rows]
    if found and config is not None:
        keyword.reindex(conn, found, tenant_id=tenant_id, config=config)
    return found


def _clear_events(conn: Connection, tenant_id: str) -> bool:
    execute(conn, "clear_event_words", tenant_id=tenant_id, limit=STREAMS)
    return bool(fetch_value(conn, "has_event_words", tenant_id=tenant_id))
