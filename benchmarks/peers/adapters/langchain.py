"""LangChain's PGVectorStore: the user is a column, HNSW by its own helper, hybrid by its config."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contract import Item, Place, Vector
from models import embeddings
from server import tidy, versions

TABLE = "memories"
FEW = 10  # its defaults fetch and fuse four


class Adapter:
    """One table; `add_texts` for one and many."""

    modes = ("vector", "hybrid")
    settings = (
        "HNSW with its defaults, an index on the user's column; hybrid: english, reciprocal rank fusion, GIN index"
    )

    def open(self, place: Place) -> None:
        import psycopg
        from langchain_postgres import Column, PGEngine, PGVectorStore
        from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig, reciprocal_rank_fusion
        from langchain_postgres.v2.indexes import HNSWIndex

        self._place = place
        url = place.url.replace("postgresql://", "postgresql+psycopg://")
        self._engine: Any = PGEngine.from_connection_string(url)
        mixed = HybridSearchConfig(
            tsv_column="words", tsv_lang="pg_catalog.english", fusion_function=reciprocal_rank_fusion,
            fusion_function_parameters={"fetch_top_k": FEW}, primary_top_k=FEW, secondary_top_k=FEW,
        )  # fmt: skip
        columns = [Column("user_id", "TEXT"), Column("row", "INTEGER")]
        self._engine.init_vectorstore_table(
            TABLE, place.model.dimensions, metadata_columns=columns, hybrid_search_config=mixed
        )
        given: dict[str, Any] = {
            "engine": self._engine, "embedding_service": embeddings(place.model), "table_name": TABLE,
            "metadata_columns": ["user_id", "row"],
        }  # fmt: skip
        plain: Any = PGVectorStore.create_sync(**given)
        hybrid: Any = PGVectorStore.create_sync(**given, hybrid_search_config=mixed)
        self._mixed = mixed
        self._stores = {"vector": plain, "hybrid": hybrid}
        plain.apply_vector_index(HNSWIndex())
        hybrid.apply_hybrid_search_index()
        with psycopg.connect(place.url) as conn:
            conn.execute(f"CREATE INDEX ON {TABLE} (user_id)")

    def add(self, item: Item) -> None:
        self.add_many([item])

    def add_many(self, items: Sequence[Item]) -> None:
        told = [{"user_id": item.user, "row": item.row} for item in items]
        self._stores["hybrid"].add_texts([item.text for item in items], metadatas=told)

    def settle(self) -> None:
        tidy(self._place.owner_url)

    def search(self, user: str, text: str, vector: Vector, k: int, mode: str) -> list[int]:
        self._mixed.fts_query = text  # otherwise the words of the first question are sought for ever
        found = self._stores[mode].similarity_search(text, k=k, filter={"user_id": user})
        return [one.metadata["row"] for one in found[:k]]

    def close(self) -> None:
        self._engine._run_as_sync(self._engine.close())

    def version(self) -> str:
        return versions("langchain-postgres")
