"""LangGraph's PostgresStore: a namespace a user, indexed by the field that holds the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contract import Item, Place, Vector
from models import embeddings
from server import tidy, versions


class Adapter:
    """One store; `batch` for many."""

    modes = ("vector",)

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.settings = f"index kind {kind}, cosine, one connection"

    def open(self, place: Place) -> None:
        from langgraph.store.postgres import PostgresStore

        self._place = place
        index: Any = {
            "dims": place.model.dimensions, "embed": embeddings(place.model), "fields": ["text"],
            "ann_index_config": {"kind": self._kind}, "distance_type": "cosine",
        }  # fmt: skip
        self._context = PostgresStore.from_conn_string(place.url, index=index)
        self._store: Any = self._context.__enter__()
        self._store.setup()

    def add(self, item: Item) -> None:
        self._store.put(("memories", item.user), str(item.row), {"text": item.text})

    def add_many(self, items: Sequence[Item]) -> None:
        from langgraph.store.base import PutOp

        self._store.batch([PutOp(("memories", one.user), str(one.row), {"text": one.text}) for one in items])

    def settle(self) -> None:
        tidy(self._place.owner_url)

    def search(self, user: str, text: str, vector: Vector, k: int, mode: str) -> list[int]:
        return [int(one.key) for one in self._store.search(("memories", user), query=text, limit=k)]

    def close(self) -> None:
        self._context.__exit__(None, None, None)

    def version(self) -> str:
        return versions("langgraph-checkpoint-postgres", "langgraph")
