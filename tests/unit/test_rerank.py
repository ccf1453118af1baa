"""The seam to rerankers without one: what is believed of an answer, who is loaded by which name, and the breaker."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import types
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram import rerank
from engram.errors import RateLimited, SettingsError, Unavailable
from engram.rerank import Judge, Judged, LiteReranker, LocalReranker, OnnxReranker
from engram.settings import load


class Scripted:
    """A reranker that answers what it is told to."""

    name = "scripted"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[tuple[str, list[str]]] = []

    def score(self, query: str, texts: Sequence[str]) -> Any:
        self.asked.append((query, list(texts)))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


TEXTS = ["one", "two", "three"]


def judged(answer: Any, **attributes: Any) -> Judged:
    reranker = Scripted(answer)
    for name, value in attributes.items():
        setattr(reranker, name, value)
    return Judge(reranker).judge("which?", TEXTS)


def test_shares_are_taken_as_they_are() -> None:
    assert judged([0.1, 1.0, 0.0]) == Judged((0.1, 1.0, 0.0), (1, 0, 2))
    assert judged((0, 1, 0.5)).scores == (0.0, 1.0, 0.5)
    assert judged(np.array([0.25, 0.5, 0.75], dtype=np.float32)).order == (2, 1, 0)
    assert judged(score for score in (0.1, 0.2, 0.3)).scores == (0.1, 0.2, 0.3)


def test_logits_become_shares() -> None:
    found = judged([-2.0, 0.0, 3.0])
    assert found.scores == pytest.approx([1 / (1 + math.exp(2)), 0.5, 1 / (1 + math.exp(-3))])
    assert found.order == (2, 1, 0)


def test_a_reranker_that_gave_logits_once_gives_them_always() -> None:
    reranker = Scripted([0.0, 0.5, 0.9])
    judge = Judge(reranker)
    assert judge.judge("which?", TEXTS).scores == (0.0, 0.5, 0.9)
    reranker.answer = [-1.0, 2.0, 0.5]
    judge.judge("which?", TEXTS)
    reranker.answer = [0.0, 0.5, 0.9]
    assert judge.judge("which?", TEXTS).scores == pytest.approx([0.5, 0.6225, 0.7109], abs=1e-4)


def test_a_reranker_may_say_what_its_scores_are() -> None:
    assert judged([0.0, 0.5, 0.9], logits=True).scores[0] == 0.5
    with pytest.raises(Unavailable, match="beyond 0 and 1"):
        judged([0.0, 0.5, 1.5], logits=False)


def test_far_logits_keep_their_order() -> None:
    found = judged([90.0, 95.0, -1e308])
    assert found.scores == (1.0, 1.0, 0.0)
    assert found.order == (1, 0, 2)


def test_equal_scores_keep_the_order_they_came_in() -> None:
    assert judged([0.5, 0.5, 0.6]).order == (2, 0, 1)


@pytest.mark.parametrize(
    "answer",
    [
        [0.1, 0.2], [0.1, 0.2, 0.3, 0.4], [], None, 0.5, [0.1, math.nan, 0.3], [0.1, math.inf, 0.3], [0.1, None, 0.3],
        ["0.1", "0.2", "0.3"], [True, False, True], [[0.1], [0.2], [0.3]], np.array([[0.1, 0.2]] * 3),
        np.array(["a", "b", "c"]), "abc", [0.1, object(), 0.3],
    ],
    ids=lambda answer: re.sub(r" at 0x\w+", "", repr(answer)),
)  # fmt: skip
def test_an_answer_that_makes_no_sense_is_no_answer(answer: Any) -> None:
    with pytest.raises(Unavailable, match="the reranker answered with") as failed:
        judged(answer)
    assert failed.value.reason == "bad_answer"


@pytest.mark.parametrize(
    "error", [ConnectionError("secret"), ValueError("secret"), SettingsError("secret"), RateLimited("a pause")]
)
def test_whatever_fails_is_unavailable_and_quotes_nothing(error: Exception) -> None:
    with pytest.raises(Unavailable) as failed:
        judged(error)
    assert "secret" not in str(failed.value)
    assert isinstance(failed.value, RateLimited) == isinstance(error, RateLimited)


def test_calls_are_kept_away_from_a_reranker_that_keeps_failing() -> None:
    reranker = Scripted([0.1])
    judge = Judge(reranker)
    for _ in range(20):
        with pytest.raises(Unavailable):
            judge.judge("which?", TEXTS)
    assert len(reranker.asked) == 5
    assert judge.breaker.is_open


def test_a_reranker_is_shown_the_beginning_of_a_long_text() -> None:
    reranker = Scripted([0.5])
    Judge(reranker).judge("which?", ["x" * 100_000])
    assert reranker.asked == [("which?", ["x" * 4_000])]


@given(st.lists(st.floats(0, 1), max_size=30))
def test_the_three_best_are_kept_and_beyond_them_only_what_answers(scores: list[float]) -> None:
    order = tuple(sorted(range(len(scores)), key=lambda place: (-scores[place], place)))
    kept = Judged(tuple(scores), order).kept
    assert kept == order[: len(kept)]
    assert len(kept) >= min(3, len(scores))
    good = sum(score >= 0.15 for score in scores)
    assert len(kept) == max(good, min(3, len(scores)))


@pytest.mark.parametrize(("limit", "count"), [(1, 5), (10, 50), (20, 100), (200, 100), (0, 0)])
def test_how_many_candidates_are_looked_at(limit: int, count: int) -> None:
    assert rerank.considered(limit) == count


# Loading -------------------------------------------------------------------------------------------------------------


def test_without_a_name_there_is_no_reranker() -> None:
    assert rerank.resolve(None, load({})) is None


def test_an_object_or_a_setting_is_a_reranker() -> None:
    given = Scripted([])
    judge = rerank.resolve(given, load({}, rerank_model="cohere/rerank-v3.5"))
    assert judge is not None
    assert judge.reranker is given
    assert judge.name == "scripted"
    assert judge.most("q", TEXTS) is None
    named = rerank.resolve(None, load({}, rerank_model="cohere/rerank-v3.5", rerank_api_key="key-1"))
    assert named is not None
    assert isinstance(named.reranker, LiteReranker)
    assert "key-1" not in repr(named.reranker)


def test_a_reranker_that_is_awaited_is_refused_at_the_door() -> None:
    class Awaited(Scripted):
        async def score(self, query: str, texts: Sequence[str]) -> Any:
            return super().score(query, texts)

    with pytest.raises(SettingsError, match="score must give the scores"):
        rerank.resolve(Awaited([]), load({}))


@pytest.mark.parametrize("wrong", [7, object(), types.SimpleNamespace(name="x"), "", "x" * 201, "a\nb"])
def test_what_is_no_reranker_is_refused(wrong: Any) -> None:
    with pytest.raises(SettingsError, match="reranker"):
        rerank.resolve(wrong, load({}))


@pytest.mark.parametrize(
    ("name", "package"),
    [("local:m", "sentence.transformers"), ("onnx:m", r"engram\[rerank\]"), ("a/b", r"engram\[llm\]")],
)
def test_a_reranker_without_its_package_says_what_to_install(
    name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(SettingsError, match=f"rerank_model: .*{package}"):
        rerank.resolve(name, load({}))


def test_the_prices_that_are_listed_bound_what_a_call_can_cost() -> None:
    cohere = Judge(LiteReranker("cohere/rerank-v3.5"))
    assert cohere.most("q", ["text"] * 100) == Decimal("0.002")
    assert cohere.most("q", ["text"] * 101) == Decimal("0.004")
    jina = Judge(LiteReranker("jina_ai/jina-reranker-v2-base-multilingual"))
    assert jina.most("q", ["four"] * 10) == Decimal("5e-08") * 50
    assert Judge(LiteReranker("infinity/mine")).most("q", TEXTS) is None


class Identity:
    """The last step of a model that leaves logits."""


class Sigmoid:
    """The last step of a model that gives shares."""


def fake_module(monkeypatch: pytest.MonkeyPatch, name: str, **members: Any) -> None:
    module = types.ModuleType(name)
    module.__spec__ = types.SimpleNamespace(origin="fake")  # type: ignore[assignment]
    for member, value in members.items():
        setattr(module, member, value)
    monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize(("last", "scores"), [(Identity, [0.5, 0.6225]), (Sigmoid, [0.0, 0.5]), (int, [0.0, 0.5])])
def test_a_local_cross_encoder_is_loaded_once_by_its_first_question(
    last: type, scores: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    class CrossEncoder:
        def __init__(self, name: str) -> None:
            self.activation_fn = last()
            made.append(name)

        def predict(self, pairs: list[tuple[str, str]], show_progress_bar: bool = True) -> Any:
            assert pairs == [("which?", "one"), ("which?", "two")]
            assert not show_progress_bar
            return np.array([0.0, 0.5], dtype=np.float32)

    fake_module(monkeypatch, "sentence_transformers", CrossEncoder=CrossEncoder)
    judge = rerank.resolve("local:/models/mine", load({}))
    assert judge is not None
    assert isinstance(judge.reranker, LocalReranker)
    assert judge.name == "local:/models/mine"
    assert made == []
    assert judge.judge("which?", TEXTS[:2]).scores == pytest.approx(scores, abs=1e-4)
    judge.judge("which?", TEXTS[:2])
    assert made == ["/models/mine"]


def test_an_onnx_cross_encoder_gives_logits(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    made: list[Any] = []

    class TextCrossEncoder:
        def __init__(self, name: str, **more: Any) -> None:
            made.append((name, more))

        def rerank(self, query: str, documents: list[str]) -> Any:
            yield from [0.0, 0.5, 0.25]

    for name in ("fastembed", "fastembed.rerank"):
        fake_module(monkeypatch, name)
    fake_module(monkeypatch, "fastembed.rerank.cross_encoder", TextCrossEncoder=TextCrossEncoder)
    for model in ("jinaai/jina-reranker-v1-tiny-en", str(tmp_path)):
        judge = rerank.resolve(f"onnx:{model}", load({}))
        assert judge is not None
        assert isinstance(judge.reranker, OnnxReranker)
        found = judge.judge("which?", TEXTS)
        assert found.scores[0] == 0.5
        assert found.order == (1, 2, 0)
    assert made == [
        ("jinaai/jina-reranker-v1-tiny-en", {}),
        ("Xenova/ms-marco-MiniLM-L-6-v2", {"specific_model_path": str(tmp_path)}),
    ]


def test_a_model_that_cannot_be_loaded_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: str) -> Any:
        raise OSError("no such model")

    fake_module(monkeypatch, "sentence_transformers", CrossEncoder=broken)
    judge = rerank.resolve("local:mine", load({}))
    assert judge is not None
    with pytest.raises(Unavailable):
        judge.judge("which?", TEXTS)


def test_importing_the_seam_imports_no_model() -> None:
    code = (
        "import sys; import engram.rerank;"
        "sys.exit(len({'litellm', 'torch', 'sentence_transformers', 'fastembed', 'onnxruntime'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
