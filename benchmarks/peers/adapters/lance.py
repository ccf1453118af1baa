"""LanceDB: one table, a bitmap index on the user, full text for hybrid search, and no vector index at these sizes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from contract import Item, Place, Vector
from server import versions


class Adapter:
    """Vectors are compared exactly within a user's rows, as its guide advises for tables of this size."""

    modes = ("vector", "hybrid")
    settings = (
        "flat with a prefilter, BITMAP index on the user, FTS index, optimize() after writing; hybrid: RRFReranker"
    )

    def open(self, place: Place) -> None:
        import lancedb
        import pyarrow as pa
        from lancedb.rerankers import RRFReranker

        shape = pa.schema(
            [
                pa.field("row", pa.int64()),
                pa.field("user", pa.string()),
                pa.field("text", pa.string()),
                pa.field("vector", pa.list_(pa.float32(), place.model.dimensions)),
            ]
        )
        self._table: Any = lancedb.connect(str(place.folder)).create_table("memories", schema=shape)
        self._fusion = RRFReranker()
        self._indexed = False

    def add(self, item: Item) -> None:
        self.add_many([item])

    def add_many(self, items: Sequence[Item]) -> None:
        self._table.add([{"row": one.row, "user": one.user, "text": one.text, "vector": one.vector} for one in items])

    def settle(self) -> None:
        if not self._indexed:
            self._table.create_scalar_index("user", index_type="BITMAP")
            self._table.create_fts_index("text")
            self._indexed = True
        self._table.optimize(cleanup_older_than=timedelta(0))

    def search(self, user: str, text: str, vector: Vector, k: int, mode: str) -> list[int]:
        if mode == "vector":
            asked = self._table.search(vector).distance_type("cosine")
        else:
            asked = self._table.search(query_type="hybrid").vector(vector).text(text).distance_type("cosine")
            asked = asked.rerank(self._fusion)
        found = asked.where(f"user = '{user}'", prefilter=True).limit(k).select(["row"]).to_list()
        return [one["row"] for one in found[:k]]

    def close(self) -> None:
        del self._table

    def version(self) -> str:
        return versions("lancedb")
