"""What a memory must be able to do to stand beside the others, and what it is given. Imports numpy alone.

Each adapter of `adapters/` is a class `Adapter` that keeps this contract with one library, in a process of its own.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

Vector = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Item:
    """One memory to be kept: its number in the data, whose it is, its text and its vector.

    `message` is the turn of a conversation it comes from, for those who take conversations; None where there is none.
    """

    row: int
    user: str
    text: str
    vector: Vector
    message: Mapping[str, Any] | None = None


@dataclass
class Model:
    """The embedder everybody is given: it looks a text's vector up, which costs next to nothing.

    Some embed questions as they embed what they keep: they get the question's vector all the same. A text nobody
    foresaw gets a vector drawn from its hash, and is counted in `unknown`.
    """

    dimensions: int
    passages: Mapping[str, Vector]
    questions: Mapping[str, Vector]
    unknown: dict[str, int] = field(default_factory=dict)

    def passage(self, text: str) -> Vector:
        """The vector of a text to be kept."""
        found = self.passages.get(text)
        return self.question(text) if found is None else found

    def question(self, text: str) -> Vector:
        """The vector of a question."""
        found = self.questions.get(text)
        return self._drawn(text) if found is None else found

    def _drawn(self, text: str) -> Vector:
        self.unknown[text] = self.unknown.get(text, 0) + 1
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        drawn = np.random.default_rng(seed).normal(size=self.dimensions).astype(np.float32)
        unit: Vector = drawn / np.linalg.norm(drawn)
        return unit


@dataclass(frozen=True, slots=True)
class Place:
    """Where a peer may keep its rows: an empty folder, and an empty database with pgvector.

    `url` is the database's address for psycopg as the role that owns it, `owner_url` as the superuser.
    """

    folder: Path
    url: str
    owner_url: str
    model: Model


class Peer(Protocol):
    """A memory of many users: it is opened empty, filled, asked, and closed.

    `modes` are the ways it can search, the first of which is by vector where it has one. `settings` says in a few words
    how it was set up. `stored` is how many memories it holds after what it was given.
    """

    modes: Sequence[str]
    settings: str

    def open(self, place: Place) -> None:
        """Make the tables or the files."""

    def add(self, item: Item) -> None:
        """Keep one memory, durably."""

    def add_many(self, items: Sequence[Item]) -> None:
        """Keep up to 500 memories of one user, in the fastest documented way."""

    def settle(self) -> None:
        """Finish what the library does after writing or advises to do: indexes, compaction, statistics."""

    def search(self, user: str, text: str, vector: Vector, k: int, mode: str) -> list[int]:
        """The rows of the best k memories of one user, best first."""

    def close(self) -> None:
        """Let go of everything."""

    def version(self) -> str:
        """The library's name and version."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the comparison: which adapter, with which options, and where it keeps its rows."""

    adapter: str
    keeps: Literal["server", "folder", "memory"]
    options: Mapping[str, Any] = field(default_factory=dict)
    own: bool = False  # runs in Engram's environment
    quality_only: bool = False  # takes conversations, of which the made-up data has none


PEERS: Mapping[str, Entry] = {
    "engram": Entry("engram", "server", own=True),
    "engram, remember": Entry("engram", "server", {"conversation": True}, own=True, quality_only=True),
    "numpy, exact": Entry("exact", "memory", own=True),
    "mem0, HNSW": Entry("mem0", "server", {"hnsw": True}),
    "mem0, no HNSW": Entry("mem0", "server", {"hnsw": False}),
    "mem0, HNSW, nlp": Entry("mem0", "server", {"hnsw": True, "nlp": True}),
    "LangGraph, HNSW": Entry("langgraph", "server", {"kind": "hnsw"}),
    "LangGraph, flat": Entry("langgraph", "server", {"kind": "flat"}),
    "LangChain PGVectorStore": Entry("langchain", "server"),
    "LlamaIndex PGVectorStore": Entry("llama_index", "server"),
    "Chroma": Entry("chroma", "folder"),
    "Chroma, a collection each": Entry("chroma", "folder", {"apart": True}),
    "LanceDB": Entry("lance", "folder"),
    "sqlite-vec": Entry("sqlite_vec", "folder"),
    "Qdrant, local": Entry("qdrant", "folder"),
}

LEFT_OUT: Mapping[str, str] = {
    "Letta": "is a program with agents of its own, and keeps nothing without a language model",
    "Zep": "is a cloud service; its package is a client of it",
    "Graphiti": "derives every write with a language model, and needs a graph database",
    "Hindsight": "can do without a language model, but its tables need pg_trgm, which the embedded server lacks",
    "Cognee": "derives what it searches with a language model",
    "LangMem": "keeps its memories in LangGraph's store, which is here; what it adds needs a language model",
}


def make(entry: Entry) -> Peer:
    """The adapter of an entry; ImportError where its library is not installed."""
    peer: Peer = importlib.import_module(f"adapters.{entry.adapter}").Adapter(**entry.options)
    return peer
