"""The embedder of a provider: any embedding model LiteLLM reaches, by its name, with one key or several.

A call is one attempt for each key at most. Engram's own jobs try again: they know for how long, and what it costs.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from engram.embedding.gathering import BAD_ANSWER, LONGEST_WAIT, MOST_TEXTS, Gathering
from engram.errors import EngramError, ModelRejected, RateLimited, SettingsError, Unavailable

if TYPE_CHECKING:
    from engram.settings import Settings

PACKAGE: Final = "litellm"
LIST: Final = "model_prices_and_context_window_backup.json"
NAME: Final = re.compile(r"(?=.{1,200}\Z)[\w.:@-]+(?:/[\w.:@-]+)*(?:#\w+)?")
WINDOW: Final = 512  # tokens of a model LiteLLM's list does not know: fewer than any has that is in use
TIMEOUT: Final[Mapping[str, float]] = {"passage": 30.0, "query": 10.0}
REST: Final = 60.0  # seconds for which a key that was refused is not asked
PAUSE: Final = 30.0  # where a provider asks for a pause and does not say for how long
LONGEST_PAUSE: Final = 900.0
MOST_DIMENSIONS: Final = 4_000
# What a provider calls the two kinds of text; the others make no difference, or take it from the name of the model.
KINDS: Final[Mapping[str, tuple[str, str]]] = {
    "cohere": ("search_document", "search_query"),
    "voyage": ("document", "query"),
    "nvidia_nim": ("passage", "query"),
    "jina_ai": ("retrieval.passage", "retrieval.query"),
}


class Zero(int):
    """Nothing, said on purpose: LiteLLM takes a plain 0 for a number that was left out, and tries three times."""

    def __bool__(self) -> bool:
        return True


NO_RETRIES: Final = Zero(0)


def load(name: str, settings: Settings | None = None) -> RemoteEmbedder:
    """The embedder of a provider's model; SettingsError without LiteLLM. Nothing is asked yet."""
    if _folder() is None:
        raise SettingsError(f"embedding_model: {name} needs LiteLLM: pip install 'engram[llm]'")
    if not NAME.fullmatch(name):
        raise SettingsError("embedding_model: expected a name such as openai/text-embedding-3-small")
    if settings is None:
        return RemoteEmbedder(name)
    keys = [key.get_secret_value() for key in settings.embedding_api_keys]
    return RemoteEmbedder(name, keys, settings.embedding_key_strategy, api_base=settings.embedding_api_base)


def is_listed(name: str) -> bool:
    """Whether LiteLLM knows an embedding model of that name; the list is read without importing LiteLLM."""
    return name.partition("#")[0] in _listed()


class RemoteEmbedder:
    """A provider's model. Its dimensions are measured by a call where nobody has told them yet."""

    def __init__(
        self,
        name: str,
        keys: Sequence[str] = (),
        strategy: Literal["failover", "round_robin"] = "failover",
        *,
        api_base: str | None = None,
        timeout: Mapping[str, float] = TIMEOUT,
        wait: float = LONGEST_WAIT,
    ) -> None:
        self.name = name
        self._model = name.partition("#")[
            0
        ]  # what follows tells two of its versions apart, to us and not to the provider
        self.max_tokens: int | None = _window(self._model)
        self._keys = Keys(keys, strategy)
        self._api_base, self._timeout = api_base, timeout
        self._dimensions: int | None = None
        self._passages = Gathering(partial(self._ask, kind="passage"), MOST_TEXTS, wait)

    @property
    def is_measured(self) -> bool:
        """Whether the dimensions are known."""
        return self._dimensions is not None

    @property
    def dimensions(self) -> int:
        """The length of the model's vectors; the first to ask waits for a call."""
        if self._dimensions is None:
            answer = self.embed(["How long is a vector?"], "passage")
            vector = answer[0]["embedding"] if answer else None
            if not isinstance(vector, list) or not 1 <= len(vector) <= MOST_DIMENSIONS:
                found = f"{len(vector)} dimensions" if isinstance(vector, list) else "no vector"
                raise Unavailable(f"the embedding model answered with {found}", reason=BAD_ANSWER)
            self.expect(len(vector))
        assert self._dimensions is not None
        return self._dimensions

    def expect(self, dimensions: int) -> None:
        """Take the dimensions as known; an answer with others is refused from now on."""
        if self._dimensions is None:
            self._dimensions = dimensions

    def embed(self, texts: Sequence[str], kind: Literal["passage", "query"] = "passage") -> Any:
        """The provider's answer: a list of `index` and `embedding`; one of Engram's errors when there is none.

        What several threads store at once goes in one request; a question waits for nobody.
        """
        return self._passages.ask(texts) if kind == "passage" else self._ask(texts, kind)

    def _ask(self, texts: Sequence[str], kind: str) -> list[dict[str, Any]]:
        litellm, failure = _litellm(), None
        for key in self._keys.in_turn():
            try:
                answer = litellm.embedding(
                    model=self._model, input=list(texts), api_key=key, api_base=self._api_base, caching=False,
                    timeout=self._timeout[kind], num_retries=0, max_retries=NO_RETRIES, **self._extras(kind),
                )  # fmt: skip
                return [{"index": one["index"], "embedding": one["embedding"]} for one in answer.data]
            except Exception as error:  # noqa: BLE001 - whatever it is, it may quote what was sent: it must not pass
                failure, is_the_keys = translate(error)
            if not is_the_keys:
                break
            self._keys.rest(key)
        raise failure or Unavailable("there is no key to ask the embedding model with")

    def _extras(self, kind: str) -> dict[str, Any]:
        provider = self._model.partition("/")[0]
        if provider in KINDS:
            return {"input_type" if provider != "jina_ai" else "task": KINDS[provider][kind == "query"]}
        return {"encoding_format": "float"} if provider in ("openai", "azure") or "/" not in self._model else {}


class Keys:
    """The API keys of a provider: one after the other where one fails, or in turn; a refused key rests a while."""

    def __init__(self, keys: Sequence[str], strategy: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._keys: tuple[str | None, ...] = tuple(keys) or (None,)  # None: what the provider's own variable says
        self._rotates, self._clock = strategy == "round_robin", clock
        self._turn = 0
        self._rests_until: dict[str | None, float] = {}
        self._lock = threading.Lock()

    def in_turn(self) -> list[str | None]:
        """The keys to try for one call, in order; when all of them rest, the one that rests the shortest."""
        with self._lock:
            start = self._turn % len(self._keys)
            self._turn += self._rotates
            order = self._keys[start:] + self._keys[:start]
            awake = [key for key in order if self._rests_until.get(key, 0.0) <= self._clock()]
            return awake or [min(order, key=lambda key: self._rests_until[key])]

    def rest(self, key: str | None) -> None:
        """Do not ask with this key for a minute."""
        with self._lock:
            self._rests_until[key] = self._clock() + REST


def translate(error: Exception) -> tuple[EngramError, bool]:
    """Engram's own error for one of LiteLLM's, without its words, and whether another key may do better."""
    if isinstance(error, EngramError):
        return error, False
    found = getattr(error, "status_code", None)
    status = found if isinstance(found, int) else None
    headers = getattr(error, "litellm_response_headers", None)
    if not headers:
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
    kind = type(error).__name__
    if kind == "Timeout" or status == 408:
        return Unavailable("the embedding model did not answer in time", retry_after=PAUSE, reason="timeout"), False
    if status == 429 and getattr(error, "code", None) != "insufficient_quota":
        pause = _pause(headers.get("retry-after"))
        return RateLimited("the embedding model asks for a pause", retry_after=pause, reason="rate_limited"), True
    if status in (401, 402, 403, 404, 429):
        why = f"the embedding model was refused (HTTP {status}): check the key and the name"
        return ModelRejected(why, retry_after=LONGEST_PAUSE, reason="rejected", status=status), status != 404
    if status in (400, 413, 422):
        why = f"the embedding model did not take the text (HTTP {status})"
        return Unavailable(why, retry_after=PAUSE, reason=BAD_ANSWER, status=status), False
    if kind == "APIConnectionError" or status is None:
        return Unavailable("the embedding model cannot be reached", retry_after=PAUSE, reason="unreachable"), False
    return Unavailable("the embedding model failed", retry_after=PAUSE, reason="failed", status=status), status >= 500


def _pause(value: str | None) -> float:
    try:
        seconds = float(value or "")
    except ValueError:
        return PAUSE
    return min(max(seconds, 0.0), LONGEST_PAUSE) if seconds == seconds else PAUSE  # NaN is not itself


def _window(name: str) -> int:
    listed = _listed()
    about = listed.get(name) or listed.get(name.partition("/")[2]) or {}
    window = about.get("max_input_tokens") or about.get("max_tokens")
    return window if isinstance(window, int) and window > 0 and about.get("mode") == "embedding" else WINDOW


@lru_cache(maxsize=1)
def _listed() -> Mapping[str, Any]:
    folder = _folder()
    try:
        found: Mapping[str, Any] = json.loads((folder / LIST).read_text(encoding="utf-8")) if folder else {}
    except (OSError, ValueError):
        return {}
    return {
        name: about for name, about in found.items() if isinstance(about, dict) and about.get("mode") == "embedding"
    }


def _folder() -> Path | None:
    found = importlib.util.find_spec(PACKAGE)
    return None if found is None or found.origin is None else Path(found.origin).parent


def _litellm() -> Any:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # or importing it asks the network for prices
    try:
        import litellm
    except ImportError:
        raise SettingsError("embedding_model: a provider's model needs LiteLLM: pip install 'engram[llm]'") from None
    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)  # its messages quote requests and answers
    return litellm
