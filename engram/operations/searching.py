"""One search, step by step, as every call that finds by meaning makes it."""

from __future__ import annotations

from engram import recall, tenancy
from engram.channels import semantic
from engram.database import Connection
from engram.operations import spaces, steps
from engram.operations.setup import Reading, Setup
from engram.operations.steps import Operation
from engram.recall import Asked, Found, Looked, Meaning
from engram.values import SearchResults

TRIES = 3


def found(setup: Setup, reading: Reading, asked: Asked) -> Operation[tuple[SearchResults, Looked]]:
    """Look at the scopes, embed the question, ask the channels, rank.

    The question is embedded by the model whose vectors it is compared with. Where that model went out of use meanwhile,
    its vectors may have been going: then the search is made again.
    """
    tenant, config = reading.scope.tenant_id, setup.settings.text_search_config

    def look(conn: Connection) -> Looked:
        visible = tenancy.visible(conn, reading.scope)
        return recall.look(conn, visible, asked, moment=reading.moment, config=config)

    def find(conn: Connection, looked: Looked, meaning: Meaning) -> tuple[Found, bool]:
        gathered = recall.find(conn, asked, looked, meaning)
        model_id = None if meaning.vector is None else meaning.model_id
        return gathered, model_id is None or looked.model_id is None or semantic.is_active(conn, tenant, model_id)

    for left in reversed(range(TRIES)):
        looked = yield from steps.read(tenant, look)
        if asked.mode != "keyword":
            setup = yield from spaces.ready_for(setup, tenant, looked.model_id)
        embedder = setup.embedder
        meaning = yield from steps.think(lambda: recall.embed(embedder, asked, looked))  # noqa: B023 - called at once
        gathered, whole = yield from steps.read(tenant, lambda conn: find(conn, looked, meaning))  # noqa: B023 - likewise
        if whole or not left:
            break
    cosines: list[float | None] = []
    if gathered.tail:
        cosines = yield from steps.think(lambda: recall.embed_tail(embedder, meaning, gathered))
    return recall.rank(asked, looked, gathered, cosines), looked
