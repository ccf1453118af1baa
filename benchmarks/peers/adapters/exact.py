"""numpy: every vector of a user is compared. What exact search costs in memory, and the measure of recall."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from contract import Item, Place, Vector


class Adapter:
    """Rows in lists, a matrix a user when it is first searched; nothing is durable."""

    modes = ("vector",)
    settings = "in memory, not durable: a floor, not a rival"

    def open(self, place: Place) -> None:
        self._rows: dict[str, list[int]] = {}
        self._vectors: dict[str, list[Vector]] = {}
        self._ready: dict[str, tuple[Vector, Vector]] = {}

    def add(self, item: Item) -> None:
        self._rows.setdefault(item.user, []).append(item.row)
        self._vectors.setdefault(item.user, []).append(item.vector)
        self._ready.pop(item.user, None)

    def add_many(self, items: Sequence[Item]) -> None:
        for item in items:
            self.add(item)

    def settle(self) -> None:
        for user, rows in self._rows.items():
            self._ready[user] = np.asarray(rows), np.stack(self._vectors[user])

    def search(self, user: str, text: str, vector: Vector, k: int, mode: str) -> list[int]:
        if user not in self._ready:
            return []
        rows, vectors = self._ready[user]
        found: list[int] = rows[np.argsort(-(vectors @ vector), kind="stable")[:k]].tolist()
        return found

    def close(self) -> None:
        self._rows.clear()

    def version(self) -> str:
        return f"numpy {np.__version__}"
