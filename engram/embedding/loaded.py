"""Embedders that run in this process by a library of models: `local:` sentence-transformers, `onnx:` fastembed.

Nothing is imported or loaded before the first text comes; then the library looks for the weights where it keeps them,
and fetches them where it may. Calls take turns.
"""

from __future__ import annotations

import importlib.util
import re
import threading
import time
from collections.abc import Sequence
from typing import Any, Final, Literal, Protocol

from engram.errors import SettingsError, Unavailable

Kind = Literal["passage", "query"]
KINDS: Final[tuple[Kind, ...]] = ("passage", "query")

LOCAL: Final = "local:"
ONNX: Final = "onnx:"
NAME: Final = re.compile(r"(?=.{1,200}\Z)(?:local|onnx):[\w./:@~-]+(?:#\w+)?")
WINDOW: Final = 512  # tokens of a model that does not say how many it reads
MEASURED: Final = "How long is a vector?"
REST: Final = 60.0  # seconds before a model that could not be loaded is tried again: to look for it may take long
# What a model was taught to read before a question and before a passage, where it does not say so itself.
_RETRIEVAL: Final = "Represent this sentence for searching relevant passages: "
PREFIXES: Final[Sequence[tuple[re.Pattern[str], str, str]]] = (
    (re.compile(r"/(?:multilingual-)?e5-"), "query: ", "passage: "),
    (re.compile(r"/bge-.*-en"), _RETRIEVAL, ""),
    (re.compile(r"/snowflake-arctic-embed-"), _RETRIEVAL, ""),
    (re.compile(r"/mxbai-embed-"), _RETRIEVAL, ""),
    (re.compile(r"/nomic-embed-text-"), "search_query: ", "search_document: "),
    (re.compile(r"/embeddinggemma-"), "task: search result | query: ", "title: none | text: "),
)


class Runner(Protocol):
    """A model that is loaded: how many tokens it reads, and its vectors."""

    @property
    def window(self) -> int | None:
        """The most tokens of a text that it reads."""
        ...

    def run(self, texts: Sequence[str], kind: Kind) -> Any:
        """One vector a text."""
        ...


def is_one(name: str) -> bool:
    """Whether a name is of a model that runs in this process. Pure."""
    return name.startswith((LOCAL, ONNX))


def prefixes(model: str) -> dict[Kind, str]:
    """What a model of that name was taught to read before a text of each kind. Pure."""
    query, passage = next(((query, passage) for of, query, passage in PREFIXES if of.search(model)), ("", ""))
    return {"query": query, "passage": passage}


def load(name: str) -> LoadedEmbedder:
    """The embedder of a name; SettingsError where its library is not installed. Nothing is loaded yet."""
    package, how = (
        ("sentence_transformers", "install sentence-transformers")
        if name.startswith(LOCAL)
        else ("fastembed", "pip install 'engram[onnx]'")
    )
    if not NAME.fullmatch(name):
        raise SettingsError("embedding_model: expected a name such as onnx:BAAI/bge-small-en-v1.5")
    if importlib.util.find_spec(package) is None:
        raise SettingsError(f"embedding_model: {name} needs {package}: {how}")
    return LoadedEmbedder(name)


class LoadedEmbedder:
    """A model that runs in this process. Its dimensions are measured when it is loaded."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._runner: Runner | None = None
        self._dimensions: int | None = None
        self._failed: tuple[str, float] | None = None  # how loading failed, and when

    def __repr__(self) -> str:
        return f"LoadedEmbedder({self.name!r})"

    @property
    def is_measured(self) -> bool:
        """Whether the model is loaded, and its dimensions known."""
        return self._dimensions is not None

    @property
    def dimensions(self) -> int:
        """The length of the model's vectors; the first to ask waits until it is loaded."""
        if self._dimensions is None:
            self._dimensions = len(next(iter(self.embed([MEASURED], "passage"))))
        return self._dimensions

    @property
    def max_tokens(self) -> int | None:
        """The model's window; the first to ask waits until it is loaded."""
        with self._lock:
            return self._loaded().window or WINDOW

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Any:
        """One vector a text; Unavailable where the model cannot be loaded."""
        with self._lock:
            return self._loaded().run(list(texts), kind)

    def _loaded(self) -> Runner:
        if self._runner is None:
            if self._failed is not None and time.monotonic() - self._failed[1] < REST:
                raise self._missing()
            model = self.name.partition(":")[2].partition("#")[0]  # what follows tells two of its versions apart
            try:
                self._runner = _Sentences(model) if self.name.startswith(LOCAL) else _Onnx(model)
            except Exception as error:
                self._failed = type(error).__name__, time.monotonic()
                raise self._missing() from error
        return self._runner

    def _missing(self) -> Unavailable:
        how = "" if self._failed is None else f": {self._failed[0]}"
        why = f"the embedding model {self.name} could not be loaded{how}"
        return Unavailable(why, retry_after=REST, reason="model_missing")


class _Sentences:
    """A model of sentence-transformers: a name of the Hugging Face Hub, or a folder."""

    def __init__(self, model: str) -> None:
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(model)
        says = any((getattr(self._model, "prompts", None) or {}).values())
        self._prefix = dict.fromkeys(KINDS, "") if says else prefixes(model)

    @property
    def window(self) -> int | None:
        most: int | None = self._model.max_seq_length
        return most

    def run(self, texts: Sequence[str], kind: Kind) -> Any:
        encode = self._model.encode_query if kind == "query" else self._model.encode_document
        told = [self._prefix[kind] + text for text in texts]
        return encode(told, show_progress_bar=False, convert_to_numpy=True)


class _Onnx:
    """A model in ONNX form that fastembed runs, by one of its names."""

    def __init__(self, model: str) -> None:
        from fastembed import TextEmbedding

        self._model = TextEmbedding(model)
        self._prefix = prefixes(model)

    @property
    def window(self) -> int | None:
        truncation = getattr(getattr(self._model.model, "tokenizer", None), "truncation", None) or {}
        most: int | None = truncation.get("max_length")
        return most

    def run(self, texts: Sequence[str], kind: Kind) -> Any:
        asked = self._model.query_embed if kind == "query" else self._model.passage_embed
        return list(asked([self._prefix[kind] + text for text in texts]))
