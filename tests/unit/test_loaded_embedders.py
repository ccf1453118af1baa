"""Embedding models that run in this process, by sentence-transformers or fastembed."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from engram import embedding
from engram.embedding import CachedEmbedder, Embedders, Model, loaded
from engram.embedding.loaded import LoadedEmbedder
from engram.errors import SettingsError, Unavailable
from engram.settings import load


def fake_module(monkeypatch: pytest.MonkeyPatch, name: str, **members: Any) -> None:
    module = types.ModuleType(name)
    module.__spec__ = types.SimpleNamespace(origin="fake")  # type: ignore[assignment]
    for member, value in members.items():
        setattr(module, member, value)
    monkeypatch.setitem(sys.modules, name, module)


def letters(texts: Sequence[str]) -> Any:
    return np.array([[text.count("a") + 1.0, text.count("e"), len(text)] for text in texts])


class Fastembed:
    """What fastembed has of a model, and what it was asked."""

    made: list[str]
    asked: list[tuple[str, list[str]]]

    def __init__(self, name: str) -> None:
        type(self).made.append(name)
        self.model = types.SimpleNamespace(tokenizer=types.SimpleNamespace(truncation={"max_length": 256}))

    def query_embed(self, texts: list[str]) -> Any:
        self.asked.append(("query", texts))
        yield from letters(texts)

    def passage_embed(self, texts: list[str]) -> Any:
        self.asked.append(("passage", texts))
        yield from letters(texts)


class Sentences:
    """The same of sentence-transformers."""

    made: list[str]
    asked: list[tuple[str, list[str]]]
    max_seq_length = 128

    def __init__(self, name: str) -> None:
        type(self).made.append(name)

    def encode_query(self, texts: list[str], *, show_progress_bar: bool, convert_to_numpy: bool) -> Any:
        assert not show_progress_bar
        assert convert_to_numpy
        self.asked.append(("query", texts))
        return letters(texts)

    def encode_document(self, texts: list[str], *, show_progress_bar: bool, convert_to_numpy: bool) -> Any:
        assert not show_progress_bar
        assert convert_to_numpy
        self.asked.append(("passage", texts))
        return letters(texts)


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in (Fastembed, Sentences):
        library.made, library.asked = [], []
    fake_module(monkeypatch, "fastembed", TextEmbedding=Fastembed)
    fake_module(monkeypatch, "sentence_transformers", SentenceTransformer=Sentences)


@pytest.mark.parametrize(
    ("name", "library", "window"), [("onnx:BAAI/gte", Fastembed, 256), ("local:/models/mine", Sentences, 128)]
)
def test_a_model_is_loaded_once_by_its_first_text(name: str, library: Any, window: int) -> None:
    found = embedding.resolve(name)
    assert isinstance(found, LoadedEmbedder)
    cached = CachedEmbedder(found)
    assert cached.is_named
    assert not cached.is_measured
    assert library.made == []
    assert cached.embed(["a tea"]).shape == (1, 3)
    assert cached.embed_query("an ale?").shape == (3,)
    assert cached.dimensions == 3
    assert cached.is_measured
    assert cached.max_tokens == window
    assert library.made == [name.partition(":")[2]]
    assert ("passage", ["a tea"]) in library.asked
    assert ("query", ["an ale?"]) in library.asked


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("intfloat/multilingual-e5-large", "query: x", "passage: x"),
        ("intfloat/e5-small-v2", "query: x", "passage: x"),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: x", "x"),
        ("snowflake/snowflake-arctic-embed-xs", "Represent this sentence for searching relevant passages: x", "x"),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: x", "search_document: x"),
        ("google/embeddinggemma-300m", "task: search result | query: x", "title: none | text: x"),
        ("BAAI/bge-small-zh-v1.5", "x", "x"), ("sentence-transformers/all-MiniLM-L6-v2", "x", "x"),
    ],
)  # fmt: skip
def test_a_model_in_onnx_form_reads_what_it_was_taught_to_read_before_a_text(
    model: str, query: str, passage: str
) -> None:
    found = embedding.resolve(f"onnx:{model}")
    assert found is not None
    found.embed(["x"], "query")
    found.embed(["x"], "passage")
    assert Fastembed.asked == [("query", [query]), ("passage", [passage])]


@pytest.mark.parametrize(
    ("prompts", "asked"), [({}, "query: x"), ({"query": "", "document": ""}, "query: x"), ({"query": "Q "}, "x")]
)
def test_sentence_transformers_puts_in_itself_what_a_model_says(
    prompts: dict[str, str], asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sentences, "prompts", prompts, raising=False)
    found = embedding.resolve("local:intfloat/e5-small-v2")
    assert found is not None
    found.embed(["x"], "query")
    assert Sentences.asked == [("query", [asked])]


def test_a_name_may_tell_two_versions_apart() -> None:
    found = embedding.resolve("onnx:BAAI/gte#2")
    assert found is not None
    assert found.name == "onnx:BAAI/gte#2"
    assert found.dimensions == 3
    assert Fastembed.made == ["BAAI/gte"]
    assert embedding.model_id(found) != embedding.model_id(LoadedEmbedder("onnx:BAAI/gte"))


def test_a_text_longer_than_the_window_is_read_in_parts() -> None:
    cached = CachedEmbedder(LoadedEmbedder("local:m"))
    assert cached.is_long("word " * 400)
    assert not cached.is_long("word")
    cached.embed(["word " * 400])
    assert len(Sentences.asked[0][1]) > 1


@pytest.mark.parametrize(("name", "how"), [("local:m", "sentence.transformers"), ("onnx:m", r"engram\[onnx\]")])
def test_a_model_without_its_library_says_what_to_install(name: str, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(SettingsError, match=f"embedding_model: .*{how}"):
        embedding.resolve(name)


@pytest.mark.parametrize("name", ["onnx:", "onnx:a b", "local:" + "x" * 200, "onnx:a\nb"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="embedding_model"):
        embedding.resolve(name)


def test_a_model_that_cannot_be_loaded_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: str) -> Any:
        raise OSError("no such model")

    fake_module(monkeypatch, "fastembed", TextEmbedding=broken)
    found = embedding.resolve("onnx:BAAI/gte")
    assert found is not None
    with pytest.raises(Unavailable, match="could not be loaded: OSError") as told:
        CachedEmbedder(found).embed(["x"])
    assert told.value.reason == "model_missing"
    with pytest.raises(Unavailable):
        assert found.dimensions


def test_a_model_that_could_not_be_loaded_rests_before_it_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def broken(name: str) -> Any:
        tried.append(name)
        raise OSError("no such model")

    fake_module(monkeypatch, "fastembed", TextEmbedding=broken)
    found = LoadedEmbedder("onnx:BAAI/gte")
    for _ in range(3):
        with pytest.raises(Unavailable, match="OSError"):
            found.embed(["x"])
    assert len(tried) == 1
    fake_module(monkeypatch, "fastembed", TextEmbedding=Fastembed)
    monkeypatch.setattr(loaded, "REST", 0.0)
    assert len(found.embed(["x"])) == 1


def test_a_process_loads_a_tenant_s_model_by_its_name() -> None:
    embedders = Embedders(load({}), None)
    row = Model(embedding.model_id(types.SimpleNamespace(name="onnx:BAAI/gte", dimensions=3)), "onnx:BAAI/gte", 3)  # type: ignore[arg-type]
    found = embedders.adopt("t", row)
    assert found is not None
    assert found.silent is None
    assert found.embed(["x"]).shape == (1, 3)
    other = embedders.adopt("u", Model(7, "onnx:BAAI/gte", 5))
    assert other is not None
    assert other.silent is not None


def test_importing_the_seam_imports_no_library() -> None:
    code = (
        "import sys; import engram.embedding.loaded;"
        "sys.exit(len({'torch', 'sentence_transformers', 'fastembed', 'onnxruntime'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
