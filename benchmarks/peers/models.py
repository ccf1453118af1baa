"""The common model in the form that LangChain's libraries take."""

from __future__ import annotations

from typing import Any

from contract import Model


def embeddings(model: Model) -> Any:
    """An `Embeddings` that looks vectors up."""
    from langchain_core.embeddings import Embeddings

    class Looked(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [model.passage(text).tolist() for text in texts]

        def embed_query(self, text: str) -> list[float]:
            found: list[float] = model.question(text).tolist()
            return found

    return Looked()
