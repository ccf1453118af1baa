"""LlamaIndex's PGVectorStore: the user is an indexed key of the metadata, HNSW and hybrid as in its guide."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

from contract import Item, Place, Vector
from server import tidy, versions

RRF_K = 60  # of its fusion retriever, whose ranks begin at nought
HNSW = {"hnsw_m": 16, "hnsw_ef_construction": 64, "hnsw_ef_search": 40, "hnsw_dist_method": "vector_cosine_ops"}


class Adapter:
    """One table; a node a memory."""

    modes = ("vector", "hybrid")
    settings = (
        "HNSW m 16, ef_construction 64, ef_search 40; hybrid: english, reciprocal rank fusion as in its guide;"
        " metadata as jsonb, the user indexed"
    )

    def open(self, place: Place) -> None:
        from llama_index.vector_stores.postgres import PGVectorStore

        self._place = place
        self._store: Any = PGVectorStore.from_params(
            connection_string=place.url.replace("postgresql://", "postgresql+psycopg2://"),
            async_connection_string=place.url.replace("postgresql://", "postgresql+asyncpg://"),
            table_name="memories", embed_dim=place.model.dimensions, hybrid_search=True, text_search_config="english",
            use_jsonb=True, hnsw_kwargs=dict(HNSW), indexed_metadata_keys={("user", "text")},
        )  # fmt: skip

    def add(self, item: Item) -> None:
        self.add_many([item])

    def add_many(self, items: Sequence[Item]) -> None:
        from llama_index.core.schema import TextNode

        self._store.add(
            [
                TextNode(
                    id_=str(item.row),
                    text=item.text,
                    metadata={"user": item.user},
                    embedding=self._place.model.passage(item.text).tolist(),
                )
                for item in items
            ]
        )

    def settle(self) -> None:
        tidy(self._place.owner_url)

    def search(self, user: str, text: str, vector: Vector, k: int, mode: str) -> list[int]:
        from llama_index.core.vector_stores import MetadataFilter, MetadataFilters, VectorStoreQuery

        def asked(how: str) -> list[int]:
            query = VectorStoreQuery(
                query_embedding=self._place.model.question(text).tolist(), query_str=text, similarity_top_k=k,
                sparse_top_k=k, mode=how, filters=MetadataFilters(filters=[MetadataFilter(key="user", value=user)]),
            )  # fmt: skip
            return [int(one) for one in self._store.query(query).ids]

        if mode == "vector":
            return asked("default")[:k]
        worth: Counter[int] = Counter()  # the store itself puts one list behind the other
        for found in (asked("default"), asked("sparse")):
            worth.update({row: 1 / (RRF_K + rank) for rank, row in enumerate(found)})
        return [row for row, _ in worth.most_common(k)]

    def close(self) -> None:
        asyncio.run(self._store.close())

    def version(self) -> str:
        return versions("llama-index-vector-stores-postgres", "llama-index-core")
