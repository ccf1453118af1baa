"""One search, step by step, as every call that finds by meaning makes it."""

from __future__ import annotations

from engram import recall, tenancy
from engram.database import Connection
from engram.operations import steps
from engram.operations.setup import Reading, Setup
from engram.operations.steps import Operation
from engram.recall import Asked, Found, Looked
from engram.values import SearchResults


def found(setup: Setup, reading: Reading, asked: Asked) -> Operation[tuple[SearchResults, Looked]]:
    """Look at the scopes, embed the question, ask the channels, rank."""
    tenant, embedder, config = reading.scope.tenant_id, setup.embedder, setup.settings.text_search_config

    def look(conn: Connection) -> Looked:
        visible = tenancy.visible(conn, reading.scope)
        return recall.look(conn, visible, asked, model_id=setup.model_id, moment=reading.moment, config=config)

    looked = yield from steps.read(tenant, look)
    meaning = yield from steps.think(lambda: recall.embed(embedder, asked, looked))
    gathered: Found = yield from steps.read(tenant, lambda conn: recall.find(conn, asked, looked, meaning))
    cosines: list[float | None] = []
    if gathered.tail:
        cosines = yield from steps.think(lambda: recall.embed_tail(embedder, meaning, gathered))
    return recall.rank(asked, looked, gathered, cosines), looked
