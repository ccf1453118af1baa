"""Qdrant's client in local mode: what its package does without its server. Not what its server would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contract import Item, Place, Vector
from server import versions


class Adapter:
    """One collection on disk; the user is a filter on the payload."""

    modes = ("vector",)
    settings = "QdrantClient(path=...), cosine, exact by design of the local mode; says nothing of its server"

    def open(self, place: Place) -> None:
        from qdrant_client import QdrantClient, models

        self._models: Any = models
        self._client: Any = QdrantClient(path=str(place.folder))
        shape = models.VectorParams(size=place.model.dimensions, distance=models.Distance.COSINE)
        self._client.create_collection("memories", vectors_config=shape)

    def add(self, item: Item) -> None:
        self.add_many([item])

    def add_many(self, items: Sequence[Item]) -> None:
        points = [
            self._models.PointStruct(
                id=one.row, vector=one.vector.tolist(), payload={"user": one.user, "text": one.text}
            )
            for one in items
        ]
        self._client.upsert("memories", points)

    def settle(self) -> None:
        """Nothing is advised."""

    def search(self, user: str, text: str, vector: Vector, k: int, mode: str) -> list[int]:
        mine = self._models.FieldCondition(key="user", match=self._models.MatchValue(value=user))
        found = self._client.query_points(
            "memories", query=vector, query_filter=self._models.Filter(must=[mine]), limit=k, with_payload=False
        )
        return [one.id for one in found.points]

    def close(self) -> None:
        self._client.close()

    def version(self) -> str:
        return versions("qdrant-client")
