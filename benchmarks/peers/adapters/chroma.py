"""Chroma, persistent: one collection filtered by user, or a collection each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contract import Item, Place, Vector
from server import versions


class Adapter:
    """A collection with cosine distance; the vectors are given."""

    modes = ("vector",)

    def __init__(self, apart: bool = False) -> None:
        self._apart = apart
        one = "a collection a user" if apart else "one collection, the user as metadata"
        self.settings = f"PersistentClient, cosine, {one}, telemetry off"

    def open(self, place: Place) -> None:
        import chromadb
        from chromadb.config import Settings

        self._client: Any = chromadb.PersistentClient(str(place.folder), Settings(anonymized_telemetry=False))
        self._known: dict[str, Any] = {}

    def _collection(self, user: str) -> Any:
        name = f"user-{user}" if self._apart else "memories"
        if name not in self._known:
            self._known[name] = self._client.get_or_create_collection(
                name, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
            )
        return self._known[name]

    def add(self, item: Item) -> None:
        self.add_many([item])

    def add_many(self, items: Sequence[Item]) -> None:
        self._collection(items[0].user).add(
            ids=[str(item.row) for item in items],
            embeddings=[item.vector for item in items],
            documents=[item.text for item in items],
            metadatas=[{"user": item.user} for item in items],
        )

    def settle(self) -> None:
        """Nothing is advised."""

    def search(self, user: str, text: str, vector: Vector, k: int, mode: str) -> list[int]:
        where = None if self._apart else {"user": user}
        found = self._collection(user).query(query_embeddings=[vector], n_results=k, where=where)
        return [int(one) for one in found["ids"][0]]

    def close(self) -> None:
        self._known.clear()

    def version(self) -> str:
        return versions("chromadb")
