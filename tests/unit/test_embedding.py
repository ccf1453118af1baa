"""Embedders: the local one, the checks of every answer, the cache."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engram import embedding
from engram.embedding import CachedEmbedder, checked, local, unit_vectors
from engram.errors import SettingsError, Unavailable

DDL = Path(__file__).parents[2] / "alembic" / "ddl" / "0001" / "060_search.sql"


class Scripted:
    """An embedder that answers what it was told to, and counts what it was asked."""

    name, dimensions, max_tokens = "scripted", 3, None

    def __init__(self, answer: Any = None) -> None:
        self.answer, self.asked = answer, [0]

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        self.asked.append(len(texts))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer if self.answer is not None else [[len(text), 1.0, ord(text[0])] for text in texts]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param([[1.0, float("nan"), 0.0]], id="69 not a number"),
        pytest.param([[1.0, float("inf"), 0.0]], id="70 infinite"),
        pytest.param([[1e39, 0.0, float("-inf")]], id="70 too large for single precision"),
        pytest.param([[0.0, 0.0, 0.0]], id="71 all zeros"),
        pytest.param([[1e-50, 1e-50, 1e-50]], id="72 vanishing"),
        pytest.param([[1e38, 1e38, 1e38]], id="73 overflowing"),
        pytest.param([[1.0, 0.0]], id="74 too short"),
        pytest.param([[1.0, 0.0, 0.0, 0.0]], id="74 too long"),
        pytest.param([[]], id="75 empty vector"),
        pytest.param([], id="75 empty answer"),
        pytest.param(None, id="nothing"),
        pytest.param([[1.0, "0.5", 0.0]], id="78 text in a vector"),
        pytest.param([[1.0, True, 0.0]], id="78 truth value in a vector"),
        pytest.param([[1.0, None, 0.0]], id="78 None in a vector"),
        pytest.param("abc", id="78 text"),
        pytest.param(np.array([["1", "0", "0"]]), id="78 array of text"),
        pytest.param(np.ones((1, 1, 3)), id="79 three-dimensional"),
        pytest.param(np.ones(3), id="79 one-dimensional"),
        pytest.param([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], id="81 one too many"),
        pytest.param([[1.0, 0.0, 0.0], [0.0, 1.0]], id="81 of different lengths"),
        pytest.param([{"index": 1, "embedding": [1.0, 0.0, 0.0]}], id="81 index out of range"),
        pytest.param([{"embedding": [1.0, 0.0, 0.0]}], id="81 no index"),
    ],
)
def test_an_answer_that_cannot_be_trusted_is_refused(answer: Any) -> None:
    with pytest.raises(Unavailable) as refused:
        unit_vectors(answer, 1, 3)
    assert refused.value.reason == "embedding_failed"


def test_permuted_answers_are_put_in_order_and_doubled_ones_refused() -> None:
    permuted = [{"index": 1, "embedding": [0.0, 2.0, 0.0]}, {"index": 0, "embedding": [3.0, 0.0, 0.0]}]
    assert unit_vectors(permuted, 2, 3).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    with pytest.raises(Unavailable):
        unit_vectors([permuted[0], permuted[0]], 2, 3)


def test_vectors_leave_with_length_one() -> None:
    unit = unit_vectors([[3, 4, 0], [1e-3, 0, 0], [0, 9e5, 0]], 3, 3)
    assert unit.dtype == np.float32
    assert np.linalg.norm(unit, axis=1) == pytest.approx([1, 1, 1])


def test_one_vector_for_different_texts_is_an_alarm() -> None:
    same = Scripted([[1.0, 0.0, 0.0]] * 3)
    with pytest.raises(Unavailable) as drift:
        checked(same, ["a cat", "the dog", "some bird"], "passage")
    assert drift.value.reason == "space_drift"
    assert len(checked(same, ["a cat", "cat a", "A CAT"], "passage")) == 3


def test_an_embedder_that_raises_is_unavailable_and_its_error_stays_inside() -> None:
    with pytest.raises(Unavailable) as failed:
        checked(Scripted(RuntimeError("secret text")), ["secret text"], "passage")
    assert "secret" not in str(failed.value)


def test_a_short_batch_is_refused_and_not_shifted() -> None:
    with pytest.raises(Unavailable):
        checked(Scripted([[1.0, 0.0, 0.0]]), ["a", "b"], "passage")


def test_large_batches_are_asked_in_parts_of_a_hundred() -> None:
    model = Scripted()
    assert checked(model, [f"text {n}" for n in range(250)], "passage").shape == (250, 3)
    assert model.asked[1:] == [100, 100, 50]
    assert checked(model, [], "passage").shape == (0, 3)


def test_embedding_the_same_text_twice_asks_the_model_once() -> None:
    model = Scripted()
    cached = CachedEmbedder(model)
    first = cached.embed(["one", "two", "one"])
    assert cached.embed(["two", "one"]).tolist() == [first[1].tolist(), first[0].tolist()]
    assert sum(model.asked) == 2
    cached.embed(["one"], "query")
    assert sum(model.asked) == 3


def test_the_cache_forgets_the_oldest() -> None:
    model = Scripted()
    cached = CachedEmbedder(model, size=2)
    for text in ("one", "two", "three", "one"):
        cached.embed([text])
    assert sum(model.asked) == 4


def test_a_failed_answer_is_not_remembered() -> None:
    model = Scripted([[0.0, 0.0, 0.0]])
    cached = CachedEmbedder(model)
    with pytest.raises(Unavailable):
        cached.embed(["one"])
    model.answer = None
    assert cached.embed(["one"]).shape == (1, 3)


def test_names_and_objects_resolve_to_embedders() -> None:
    assert embedding.resolve(None) is None
    assert embedding.resolve("none") is None
    assert embedding.resolve("wordllama") is local.load()
    model = Scripted()
    assert embedding.resolve(model) is model


@pytest.mark.parametrize("dimensions", [0, -1, 4001, 16_001, True, 3.5, "3"])
def test_dimensions_that_cannot_be_indexed_are_refused(dimensions: Any) -> None:
    model = Scripted()
    model.dimensions = dimensions
    with pytest.raises(SettingsError):
        embedding.resolve(model)


@pytest.mark.parametrize("wrong", ["openai", "", object(), 3])
def test_what_is_no_embedder_is_refused(wrong: Any) -> None:
    with pytest.raises(SettingsError):
        embedding.resolve(wrong)


def test_an_embedder_that_is_awaited_is_refused_at_the_door() -> None:
    class Awaited(Scripted):
        async def embed(self, texts: Sequence[str], kind: str) -> Any:
            return super().embed(texts, kind)

    with pytest.raises(SettingsError, match="embed must give the vectors"):
        embedding.resolve(Awaited())


@pytest.mark.parametrize("error", [ValueError("no"), asyncio.CancelledError()])
def test_what_an_embedder_raises_is_unavailable(error: BaseException) -> None:
    """Told as cancelled, nobody could say whether a call or something within the model was."""

    class Broken(Scripted):
        def embed(self, texts: Sequence[str], kind: str) -> Any:
            raise error

    with pytest.raises(Unavailable, match="an error instead of vectors"):
        checked(Broken(), ["tea"], "passage")


def test_a_model_is_its_name_and_dimensions() -> None:
    other = Scripted()
    assert embedding.model_id(other) == embedding.model_id(Scripted())
    other.dimensions = 4
    assert embedding.model_id(other) != embedding.model_id(Scripted())
    assert 0 < embedding.model_id(other) < 2**63


def test_the_graph_of_the_schema_is_that_of_the_default_model() -> None:
    indexed = re.search(r"halfvec\((\d+)\)\) halfvec_cosine_ops\) where indexed and model_id = (\d+)", DDL.read_text())
    assert indexed is not None
    default = local.load()
    assert (int(indexed[1]), int(indexed[2])) == (default.dimensions, embedding.model_id(default))


def test_the_server_keeps_the_first_six_digits_of_each_number_in_half_precision() -> None:
    dice = np.random.default_rng(1)
    for places in range(-9, 5):  # up to what half precision holds
        vector = (dice.standard_normal(4_000) * 10.0**places).astype(np.float32)
        vector[:3] = 0.0, -0.0, 1.0
        told = np.array([f"{number:.6g}" for number in vector.tolist()], dtype=np.float32).astype(">f2")
        made = embedding.halves(vector)
        assert made.size == 4_000
        assert (np.frombuffer(made.numbers, dtype=">f2") == told).all()


def test_many_vectors_are_kept_as_each_of_them_is() -> None:
    rows = np.random.default_rng(1).standard_normal((7, 256)).astype(np.float32)
    made = embedding.all_halves(list(rows))
    assert (made.size, made.numbers) == (256, b"".join(embedding.halves(row).numbers for row in rows))
    assert embedding.all_halves([[1.0, 0.5]]).numbers == embedding.halves([1.0, 0.5]).numbers
    nothing = embedding.all_halves([])
    assert (nothing.size, nothing.numbers) == (0, b"")


def test_the_local_model_knows_related_words_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: Any, **_kwargs: Any) -> None:
        raise AssertionError("the local embedder opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    model = local.StaticEmbedder()
    texts = ["User lives in Ottawa", "The user's home is in Canada", "The invoice was paid on Monday"]
    home, canada, invoice = checked(model, texts, "passage")
    assert home.shape == (256,)
    assert home @ canada > home @ invoice + 0.1


def test_a_long_text_is_embedded_whole_in_windows() -> None:
    model = local.load()
    start, end = "cat " * 2_000, "database " * 2_000
    both, cats, bases = checked(model, [start + end, start, end], "passage")
    assert both @ cats > 0.6
    assert both @ bases > 0.6


@pytest.mark.parametrize("text", ["😀", "我喜欢喝咖啡", "\u200b", "a", "..." * 100, "x" * 8_192])
def test_any_stored_text_has_a_vector(text: str) -> None:
    assert np.linalg.norm(checked(local.load(), [text], "passage")[0]) == pytest.approx(1, abs=1e-4)


def test_words_of_a_question_can_be_weighed() -> None:
    cached = CachedEmbedder(local.load())
    assert cached.weighs_words
    assert not CachedEmbedder(Scripted()).weighs_words
    cat, plain = cached.embed(["cat"], "query")[0], cached.embed(["cat and Database"], "query")[0]
    weighed = cached.embed_query("cat and Database", {"cat": 5.0, "database": 0.2})
    assert weighed @ cat > plain @ cat + 0.1
    assert cached.embed_query("cat and Database", None) == pytest.approx(plain)
    assert Scripted().asked == [0]


def test_the_package_is_light_and_the_model_loads_without_its_code() -> None:
    program = (
        "import sys, time; from engram import embedding; from engram.embedding import local;"
        "assert 'numpy' not in sys.modules and 'tokenizers' not in sys.modules;"
        "import numpy; start = time.perf_counter(); local.load().embed(['hello']); took = time.perf_counter() - start;"
        "assert 'wordllama' not in sys.modules and 'requests' not in sys.modules; print(took)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
