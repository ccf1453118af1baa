"""One search, step by step, as every call that finds by meaning makes it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from engram import recall, tenancy
from engram.channels import semantic
from engram.database import Connection
from engram.errors import Unavailable
from engram.operations import spaces, steps
from engram.operations.setup import Reading, Setup
from engram.operations.steps import Operation
from engram.recall import Asked, Found, Looked, Meaning, finding
from engram.rerank import Judged
from engram.values import SearchResults

TRIES = 3


@dataclass(frozen=True, slots=True)
class Searched:
    """One search before it is ranked: it may be ranked in several ways."""

    asked: Asked
    looked: Looked
    meaning: Meaning
    found: Found

    def ranked(
        self, asked: Asked | None = None, *, judged: Judged | None = None, failed: tuple[str, ...] = ()
    ) -> SearchResults:
        """What was found, by the search as it was asked for or by another over the same candidates.

        `judged` is what a reranker made of the texts it was shown, `failed` names what else did not answer.
        """
        results = recall.rank(asked or self.asked, self.looked, self.found, judged=judged)
        return replace(results, degraded=(*results.degraded, *failed)) if failed else results


def found(setup: Setup, reading: Reading, asked: Asked) -> Operation[Searched]:
    """Look at the scopes, embed the question, ask the channels; ranking is left to the caller.

    The question is embedded by the model whose vectors it is compared with. Where that model went out of use meanwhile,
    its vectors may have been going: then the search is made again.
    """
    tenant, config = reading.scope.tenant_id, setup.settings.text_search_config

    def look(conn: Connection) -> Looked:
        visible = tenancy.visible(conn, reading.scope)
        return recall.look(conn, visible, asked, moment=reading.moment, config=config)

    for left in reversed(range(TRIES)):
        looked = yield from steps.read(tenant, look)
        if asked.mode != "keyword":
            setup = yield from spaces.ready_for(setup, tenant, looked.model_id)
        embedder = setup.embedder
        meaning = yield from steps.think(lambda: recall.embed(embedder, asked, looked))  # noqa: B023 - called at once
        gathered, whole = yield from _gathered(asked, looked, meaning)
        if whole or not left:
            break
    return Searched(asked, looked, meaning, gathered)


def _gathered(asked: Asked, looked: Looked, meaning: Meaning) -> Operation[tuple[Found, bool]]:
    """What the channels found, and whether the model is still in use.

    Where they fail together each is asked apart, with its own time, and those that fail are named: the others answer.
    """

    def find(conn: Connection, channels: Collection[str] | None = None) -> tuple[Found, bool]:
        gathered = recall.find(conn, asked, looked, meaning, channels)
        model_id = None if meaning.vector is None else meaning.model_id
        in_use = model_id is None or looked.model_id is None or semantic.is_active(conn, looked.tenant_id, model_id)
        return gathered, in_use

    try:
        return (yield from steps.read(looked.tenant_id, find))
    except Unavailable as error:
        wanted = finding.allowed(asked, meaning)
        if not recall.is_of_a_channel(error) or len(wanted) < 2:
            raise
        trouble = error
    working: list[str] = []
    answer: tuple[Found, bool] | None = None
    for name in wanted:
        several = [*working, name]
        try:
            answer = yield from steps.read(looked.tenant_id, lambda conn: find(conn, several))  # noqa: B023 - called at once
        except Unavailable as error:
            if not recall.is_of_a_channel(error):
                raise
            trouble = error
        else:
            working.append(name)
    if answer is None or not {"semantic", "keyword"} & set(working):
        raise trouble
    failed = tuple(name for name in wanted if name not in working)
    return replace(answer[0], degraded=(*answer[0].degraded, *failed)), answer[1]
