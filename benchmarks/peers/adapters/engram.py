"""Engram: a scope a user, `add`, `add_many` and `search` as they are documented, and its jobs run by itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

import numpy as np
from contract import Item, Model, Place, Vector
from server import tidy

import engram
from engram import Engram, Scope, migrations
from engram.embedding import model_id
from engram.ids import new_id
from engram.ranking import Profile
from engram.settings import load

NEAREST = Profile("nearest", {"cosine": 1.0})  # the other modes weigh more than the vector


class Looked:
    """The common model as an embedder of Engram."""

    name = "common"
    max_tokens = None

    def __init__(self, model: Model) -> None:
        self.dimensions = model.dimensions
        self._model = model

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        look = self._model.question if kind == "query" else self._model.passage
        return np.stack([look(text) for text in texts])


class Adapter:
    """One tenant, a scope a user. Conversations are remembered turn by turn, facts are added."""

    modes = ("vector", "semantic", "hybrid")
    settings = (
        "defaults; its jobs run in the background; the graph of its model is made first; `vector` is mode semantic with"
        " a profile of the cosine alone"
    )

    def __init__(self, conversation: bool = False) -> None:
        self._conversation = conversation
        self._rows: dict[str, int] = {}
        self.degraded = 0  # searches that gave a channel up
        if conversation:
            self.modes = ("hybrid",)
            self.settings = "defaults; remember(derive='verbatim'): each turn with its session and speaker"

    def open(self, place: Place) -> None:
        self._place = place
        # A model of one's own gets its graph from the schema's owner, as the others' indexes are made by theirs.
        owner = place.owner_url.replace("postgresql://", "postgresql+psycopg://")
        migrations.build_graph(owner, model_id(Looked(place.model)), place.model.dimensions)
        url = place.url.replace("postgresql://", "postgresql+psycopg://")
        scope = Scope(f"peers-{new_id()}", user_id="nobody")
        self._memory = Engram(url, scope=scope, settings=load({}), embedder=Looked(place.model))
        self._doors: dict[str, Engram] = {}

    def _door(self, user: str) -> Engram:
        if user not in self._doors:
            self._doors[user] = self._memory.scoped(user_id=user)
        return self._doors[user]

    def add(self, item: Item) -> None:
        self._keep(self._door(item.user).add(item.text), item)

    def add_many(self, items: Sequence[Item]) -> None:
        door = self._door(items[0].user)
        if self._conversation:
            return self._remember(door, items)
        made = door.add_many([{"fact": item.text} for item in items])
        for decision, item in zip(made, items, strict=True):
            self._keep(decision, item)
        return None

    def _keep(self, decision: Any, item: Item) -> None:
        kept = decision.memory or decision.target
        if kept is not None:
            self._rows.setdefault(kept.memory_id, item.row)

    def _remember(self, door: Engram, items: Sequence[Item]) -> None:
        for session, said in groupby(items, key=lambda item: str((item.message or {})["session_id"])):
            together = list(said)
            messages: Any = [_said(item) for item in together]
            receipt = door.remember(messages, session_id=session, derive="verbatim", wait=True)
            for event_id, item in zip(receipt.event_ids, together, strict=True):
                self._rows[event_id] = item.row

    def settle(self) -> None:
        while self._memory.ops.run_jobs(limit=100):
            pass
        tidy(self._place.owner_url)

    def search(self, user: str, text: str, vector: Vector, k: int, mode: str) -> list[int]:
        how: Any = {"mode": "semantic", "profile": NEAREST} if mode == "vector" else {"mode": mode}
        found = self._door(user).search(text, limit=k, **how)
        self.degraded += bool(found.degraded)
        if self._conversation:
            return [self._rows[one.memory.event_id] for one in found]
        return [self._rows[one.memory.memory_id] for one in found]

    def close(self) -> None:
        self._memory.close()

    def version(self) -> str:
        return f"engram {engram.__version__}"


def _said(item: Item) -> dict[str, Any]:
    """A turn as `remember` takes it."""
    said = {name: value for name, value in (item.message or {}).items() if name != "session_id"}
    if "occurred_at" in said:
        said["occurred_at"] = datetime.fromisoformat(said["occurred_at"])
    return said
