"""The seam to rerankers: a model that reads a question and a text together, and says how well the text answers it.

It is slower and surer than comparing vectors, so it is asked about the best of what was found only. A reranker is a
provider's by its LiteLLM name, one that runs in this process, or an object with `score`. What it answers is checked and
made shares from 0 to 1; when it fails, the order that was found stands.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import math
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from engram import inputs, llm
from engram.embedding.remote import NO_RETRIES
from engram.errors import EngramError, ModelRejected, RateLimited, SettingsError, Unavailable
from engram.llm import Breaker
from engram.settings import Settings

NAME: Final = "rerank"
PER_RESULT: Final = 5  # candidates looked at for each result asked for
MOST: Final = 100
LEAST: Final = 5  # candidates under which the order stands as it is
CUT_OFF: Final = 0.15
KEPT: Final = 3  # the best, however low they are scored
TEXT_CHARACTERS: Final = 4_000  # of one text: several times what such models read
TIMEOUT: Final = 10.0  # seconds
LOCAL: Final = "local:"  # a cross-encoder of sentence-transformers
ONNX: Final = "onnx:"  # one that fastembed runs
FORMAT: Final = "Xenova/ms-marco-MiniLM-L-6-v2"  # which files of a folder make a model: those of this one
BAD_ANSWER: Final = "bad_answer"
SEARCH_UNIT: Final = 100  # texts that a provider counts as one search


@runtime_checkable
class Reranker(Protocol):
    """What Engram asks of a reranker: a name, and a score for each text.

    Scores from 0 to 1 are taken as they are. Where one of them is beyond, all are taken for logits, and each goes
    through a sigmoid; an attribute `logits` (True or False) says which they are.
    """

    @property
    def name(self) -> str:
        """The reranker's name, as it stands in logs."""
        ...

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers the query, in the order of the texts; higher is better. It may block and raise."""
        ...


@dataclass(frozen=True, slots=True)
class Judged:
    """What a reranker made of texts: a score from 0 to 1 for each, their places best first, and the cost if known."""

    scores: tuple[float, ...]
    order: tuple[int, ...]
    cost: Decimal | None = None

    @property
    def kept(self) -> tuple[int, ...]:
        """The places of the texts that stay, best first: those of 0.15 or more, and the best three in any case."""
        return tuple(place for n, place in enumerate(self.order) if n < KEPT or self.scores[place] >= CUT_OFF)


def considered(limit: int) -> int:
    """How many candidates are looked at for so many results."""
    return min(PER_RESULT * limit, MOST)


class Judge:
    """A reranker whose answers are checked, and from which calls are kept away when it fails too often."""

    def __init__(self, reranker: Reranker) -> None:
        self.reranker = reranker
        self.breaker = Breaker(reranker.name)
        self._logits: bool | None = None  # once it gave some, all its scores are

    @property
    def name(self) -> str:
        """The reranker's name."""
        return self.reranker.name

    def most(self, query: str, texts: Sequence[str]) -> Decimal | None:
        """The most a call can cost, in dollars; None where no price is listed: one's own model, or one's own server."""
        return self.reranker.most(query, texts) if isinstance(self.reranker, LiteReranker) else None

    def judge(self, query: str, texts: Sequence[str]) -> Judged:
        """Score texts; Unavailable when the reranker fails, answers nonsense, or failed too often before."""
        shown = [text[:TEXT_CHARACTERS] for text in texts]
        self.breaker.enter()
        try:
            judged = self._judged(query, shown)
        except EngramError as error:
            failure = error if isinstance(error, Unavailable) else Unavailable("the reranker failed", reason=error.code)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - an object of the caller's may raise anything
            failure = Unavailable("the reranker failed", retry_after=5.0, reason="failed", kind=type(error).__name__)
        else:
            self.breaker.note(None)
            return judged
        self.breaker.note(failure)
        raise failure

    def _judged(self, query: str, texts: Sequence[str]) -> Judged:
        answer: Sequence[float]
        cost = None
        if isinstance(self.reranker, LiteReranker):
            answer, cost = self.reranker.ask(query, texts)
        else:
            answer = self.reranker.score(query, texts)
        raw = checked(answer, len(texts))
        order = sorted(range(len(raw)), key=lambda place: (-raw[place], place))
        said = getattr(self.reranker, "logits", None)
        if said is None and any(not 0 <= value <= 1 for value in raw):
            self._logits = True
        scores = [squashed(value) if said or (said is None and self._logits) else value for value in raw]
        if not all(0 <= value <= 1 for value in scores):
            raise _failed("scores beyond 0 and 1")
        return Judged(tuple(scores), tuple(order), cost)


def checked(answer: Any, count: int) -> list[float]:
    """A reranker's answer as `count` finite numbers; Unavailable saying what is wrong with it."""
    try:
        values = list(answer)
    except TypeError:
        raise _failed("no list of scores") from None
    if len(values) != count:
        raise _failed(f"{len(values)} scores for {count} texts")
    scores = []
    for value in values:
        given = value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value
        if isinstance(given, bool) or not isinstance(given, int | float):
            raise _failed("scores that are not numbers")
        if not math.isfinite(given):
            raise _failed("scores that are not finite")
        scores.append(float(given))
    return scores


def squashed(value: float) -> float:
    """A logit as a share from 0 to 1: the sigmoid, for any size of number."""
    return 0.5 * (1 + math.tanh(value / 2))


def _failed(found: str) -> Unavailable:
    return Unavailable(f"the reranker answered with {found}", retry_after=1.0, reason=BAD_ANSWER)


def resolve(given: str | Reranker | None, settings: Settings) -> Judge | None:
    """The reranker of an argument or the settings; None without one, SettingsError for one that cannot be."""
    chosen = given if given is not None else settings.rerank_model
    if chosen is None:
        return None
    if not isinstance(chosen, str | Reranker):
        raise SettingsError("reranker: expected the name of a model, or an object with name and score()")
    if inspect.iscoroutinefunction(getattr(chosen, "score", None)):
        raise SettingsError("reranker: score must give the scores, and is one to be awaited (async def)")
    name = chosen if isinstance(chosen, str) else chosen.name
    if not inputs.is_model_name(name):
        raise SettingsError("reranker: the name of a model must be a text of 1 to 200 bytes")
    return Judge(chosen if not isinstance(chosen, str) else load(chosen, settings))


def load(name: str, settings: Settings) -> Reranker:
    """The reranker of a name: `local:`, `onnx:`, or a provider's. Nothing is loaded or asked yet."""
    if name.startswith(LOCAL):
        _needs("sentence_transformers", f"rerank_model: {LOCAL} needs sentence-transformers: install it")
        return LocalReranker(name.removeprefix(LOCAL))
    if name.startswith(ONNX):
        _needs("fastembed", f"rerank_model: {ONNX} needs fastembed: pip install 'engram[rerank]'")
        return OnnxReranker(name.removeprefix(ONNX))
    _needs("litellm", "rerank_model: a provider's model needs LiteLLM: pip install 'engram[llm]'")
    key = settings.rerank_api_key
    return LiteReranker(name, None if key is None else key.get_secret_value(), settings.rerank_api_base)


def _needs(package: str, told: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise SettingsError(told)


class LiteReranker:
    """A provider's reranker by its LiteLLM name, such as `cohere/rerank-v3.5`, or one's own server's with an address.

    A call is one attempt (LiteLLM connects once more where the connection breaks), and is cut at its deadline.
    """

    def __init__(self, name: str, key: str | None = None, base: str | None = None, *, timeout: float = TIMEOUT) -> None:
        self.name = name
        self._key, self._base, self._timeout = key, base, timeout

    def __repr__(self) -> str:
        return f"LiteReranker({self.name!r})"

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """The provider's scores, in the order of the texts; one of Engram's errors when there are none."""
        return self.ask(query, texts)[0]

    def ask(self, query: str, texts: Sequence[str]) -> tuple[list[float], Decimal | None]:
        """The provider's scores, and what they cost where LiteLLM can tell."""
        litellm = llm.load_litellm()
        params: dict[str, Any] = {
            "model": self.name, "query": query, "documents": list(texts), "top_n": len(texts),
            "return_documents": False, "timeout": self._timeout, "num_retries": 0, "max_retries": NO_RETRIES,
        }  # fmt: skip
        if self._key is not None:
            params["api_key"] = self._key
        if self._base is not None:
            params["api_base"] = self._base

        async def call() -> Any:
            async with asyncio.timeout(self._timeout):
                return await litellm.arerank(**params)

        try:
            answer = llm.LOOP.run(call(), self._timeout)
            return _by_index(answer.results, len(texts)), _cost(answer)
        except EngramError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not pass: it may quote what was sent
            failure = _translated(error)
        raise failure  # outside of `except`: the foreign error is not chained to it

    def most(self, query: str, texts: Sequence[str]) -> Decimal | None:
        """The most a call can cost by LiteLLM's list of prices, every byte a token; None when it is not on it."""
        try:
            info = llm.load_litellm().get_model_info(self.name)
        except SettingsError:
            raise
        except Exception:  # noqa: BLE001 - LiteLLM says "not on the list" in several ways
            return None
        searches = max(1, -(-len(texts) // SEARCH_UNIT))
        read = sum(len(text.encode()) + len(query.encode()) for text in texts)
        prices = (info.get("input_cost_per_query"), searches), (info.get("input_cost_per_token"), read)
        costs = [Decimal(str(price)) * count for price, count in prices if price]
        return sum(costs, Decimal(0)) if costs else None


def _translated(error: Exception) -> Unavailable:
    """Engram's own error for one of LiteLLM's, without a word of what it says."""
    found = llm.translate(error)
    facts = {**found.facts, "retry_after": found.facts.get("retry_after") or llm.RETRY_SECONDS}
    if isinstance(found, RateLimited):
        return RateLimited("the reranker asks for a pause", **facts)
    if isinstance(found, ModelRejected):
        return ModelRejected("the reranker was refused: check the key and the name", **facts)
    return Unavailable("the reranker failed", **facts)


def _by_index(results: Any, count: int) -> list[float]:
    found: dict[int, Any] = {}
    for one in results or ():
        place = one.get("index")
        if type(place) is not int or not 0 <= place < count or place in found:
            raise _failed("places that are not those of the texts")
        found[place] = one.get("relevance_score")
    if len(found) != count:
        raise _failed(f"{len(found)} scores for {count} texts")
    return [found[place] for place in range(count)]


def _cost(answer: Any) -> Decimal | None:
    cost = (getattr(answer, "_hidden_params", None) or {}).get("response_cost")
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not math.isfinite(cost) or cost < 0:
        return None
    return Decimal(repr(cost))


class _Loaded:
    """A model in this process, loaded by the first call; calls take turns."""

    def __init__(self, name: str, make: Callable[[], Any]) -> None:
        self.name = name
        self._make = make
        self._model: Any = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def _ready(self) -> Any:
        if self._model is None:
            self._model = self._make()
        return self._model


class LocalReranker(_Loaded):
    """A cross-encoder that sentence-transformers runs: a name of the Hugging Face Hub, or a folder."""

    def __init__(self, model: str) -> None:
        super().__init__(LOCAL + model, lambda: _cross_encoder(model))

    @property
    def logits(self) -> bool | None:
        """Whether the model's last step leaves logits; None before it is loaded, or where it does something else."""
        kind = type(getattr(self._model, "activation_fn", None)).__name__
        return {"Identity": True, "Sigmoid": False}.get(kind)

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """The model's score of each text."""
        with self._lock:
            scores: Sequence[float] = self._ready().predict([(query, text) for text in texts], show_progress_bar=False)
        return scores


class OnnxReranker(_Loaded):
    """A cross-encoder in ONNX form that fastembed runs: one of its names, or a folder with `onnx/model.onnx`."""

    logits = True

    def __init__(self, model: str) -> None:
        super().__init__(ONNX + model, lambda: _onnx_encoder(model))

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """The model's logit of each text."""
        with self._lock:
            return list(self._ready().rerank(query, list(texts)))


def _cross_encoder(model: str) -> Any:
    from sentence_transformers import CrossEncoder

    return CrossEncoder(model)


def _onnx_encoder(model: str) -> Any:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    folder = {}
    with suppress(OSError):
        folder = {"specific_model_path": model} if Path(model).is_dir() else {}
    return TextCrossEncoder(FORMAT if folder else model, **folder)
