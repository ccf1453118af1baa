"""The seam to language models: any model LiteLLM knows, or an object with `complete`; deadlines, prices, a breaker.

One call is one attempt: it ends within its deadline whatever the other side does, its answer is bounded, and its
failure is one of Engram's errors, without a word of what was sent or received. Trying again, paying, and believing the
answer are the affair of `operations.asking`.
"""

from __future__ import annotations

import asyncio
import email.utils
import importlib.util
import inspect
import itertools
import logging
import math
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, runtime_checkable

from engram import inputs
from engram.errors import (
    BadOutput,
    EngramError,
    InvalidInput,
    ModelRejected,
    RateLimited,
    Refused,
    SettingsError,
    Unavailable,
)
from engram.prompting import ChatMessage
from engram.settings import COMPONENTS, LLM_LEVELS, LlmLevel, Settings

if TYPE_CHECKING:
    from pydantic import BaseModel

T = TypeVar("T")

ANSWER_BYTES: Final = 256 << 10
CONNECT_SECONDS: Final = 5.0
READ_SECONDS: Final = 60.0
SILENCE_SECONDS: Final = 20.0  # between two pieces of one answer
LISTEN_SECONDS: Final = 0.5
RETRY_SECONDS: Final = 30.0  # where a provider asks for a pause and does not say, or not clearly, for how long
LONGEST_RETRY: Final = 900.0
FAILURES: Final = 5
FAILURE_WINDOW: Final = 30.0
OPEN_SECONDS: Final = 30.0
MOST_TOKENS: Final = 2**40  # no call has as many: a count beyond is a mistake or a lie
UNCONNECTED: Final = ("ClientConnector", "ConnectTimeout", "ConnectionTimeout", "ConnectionRefused", "gaierror")
UNFIT: Final = (400, 422)
REJECTED: Final = frozenset({400, 401, 402, 403, 404, 405, 410, 422})

NO_WORD: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered, and what it took. Counts and cost are None where they are not known.

    `finish` is `stop`, `length` (cut at `max_tokens`) or `content_filter`.
    """

    text: str
    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost: Decimal | None = None
    finish: str = "stop"


@dataclass(frozen=True, slots=True)
class Price:
    """What a token costs, in dollars: the most it can be. InvalidInput where that is no number, or below nothing."""

    input: Decimal
    output: Decimal

    def __post_init__(self) -> None:
        for name, price in (("input", self.input), ("output", self.output)):
            if not isinstance(price, Decimal) or not price.is_finite() or price < 0:
                raise InvalidInput(f"price.{name}", "a Decimal of 0 dollars or more", str(price)[:40])

    @classmethod
    def per_million(cls, text: str) -> Price:
        """The price that a text such as `0.15/0.60` gives: dollars a million tokens, in and out."""
        into, out = (Decimal(part.strip()) / 1_000_000 for part in text.split("/"))
        return cls(into, out)

    def of(self, input_tokens: int, output_tokens: int) -> Decimal:
        """The cost of so many tokens."""
        return self.input * input_tokens + self.output * output_tokens


UNKNOWN_PRICE: Final = Price.per_million("30/150")  # where nobody knows: more than what most models cost


@runtime_checkable
class LanguageModel(Protocol):
    """What Engram asks of a language model: a name, and an answer to messages.

    A model may also have a `price` (a `Price`), by which a budget is reserved before it is asked.
    """

    @property
    def name(self) -> str:
        """The model's name, as it stands beside everything that came of it."""
        ...

    def complete(
        self, messages: Sequence[ChatMessage], *, schema: type[BaseModel] | None, max_tokens: int, deadline: float
    ) -> Completion:
        """The answer, within `deadline` seconds and `max_tokens`; one of Engram's errors when there is none."""
        ...


class Models:
    """The language models of a door: which one a component asks, what they cost, and whether they answer at all.

    `own` is what a policy says of components, each a level or the name of a model; it comes before the settings.
    """

    def __init__(self, settings: Settings, given: str | LanguageModel | None = None) -> None:
        self.level = settings.llm_level
        self.timeout = settings.llm_timeout.total_seconds()
        self.unknown_price = Price.per_million(settings.llm_price) if settings.llm_price else None
        names = {} if given is not None else dict(settings.llm_models)
        self._default = _model(given if given is not None else settings.llm_model, settings)
        self._by_tier = {tier: _model(name, settings) for tier, name in names.items()}
        self._by_name: dict[str, LanguageModel] = {}  # those that only policies name
        self._settings = settings
        self._breakers: dict[str, Breaker] = {}
        self._lock = threading.Lock()

    def level_of(self, component: str, own: Mapping[str, str] = NO_WORD) -> LlmLevel:
        """How much a model does of a component's work; `off` where it has none."""
        level = next((level for level in LLM_LEVELS if level == own.get(component)), self.level)
        return level if self._chain(component, own) else "off"

    def model_for(self, component: str, own: Mapping[str, str] = NO_WORD) -> LanguageModel:
        """The policy's model, else its tier's, else the default one; a model whose breaker is open is passed over."""
        chain = self._chain(component, own)
        if not chain:
            raise ModelRejected("no language model is configured for this: set ENGRAM_LLM_MODEL", component=component)
        return next((model for model in chain if not self.breaker(model).is_open), chain[0])

    def _chain(self, component: str, own: Mapping[str, str]) -> list[LanguageModel]:
        if component not in COMPONENTS:
            raise ValueError(f"no such component: {component}")
        said = own.get(component)
        first = None if said is None or said in LLM_LEVELS else self._named(said)
        tiers = [self._by_tier.get(tier) for tier in COMPONENTS[component]]
        return [model for model in (first, *tiers, self._default) if model is not None]

    def _named(self, name: str) -> LanguageModel | None:
        known = next((model for model in self.models() if model.name == name), None)
        if known is not None:
            return known
        made = _model(name, self._settings)
        with self._lock:
            return made if made is None else self._by_name.setdefault(name, made)

    def breaker(self, model: LanguageModel) -> Breaker:
        """The breaker of a model."""
        with self._lock:
            return self._breakers.setdefault(model.name, Breaker(model.name))

    def models(self) -> tuple[LanguageModel, ...]:
        """Every model that is configured, by name, once."""
        with self._lock:
            several = [*self._by_name.values(), *self._by_tier.values(), self._default]
        return tuple({model.name: model for model in several if model is not None}.values())

    def price(self, model: LanguageModel) -> Price:
        """The most a token of this model costs: its own word, the setting `llm_price`, else more than most cost."""
        price = getattr(model, "price", None)
        return price if isinstance(price, Price) else self.unknown_price or UNKNOWN_PRICE


class Breaker:
    """Keeps calls away from a model that fails: 5 failures in 30 s open it for 30 s, and then one call may probe."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.name = name
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: deque[float] = deque(maxlen=FAILURES)
        self._open_until: float | None = None
        self._why: type[Unavailable] = Unavailable

    @property
    def is_open(self) -> bool:
        """Whether calls are kept away now."""
        with self._lock:
            return self._open_until is not None and self._clock() < self._open_until

    def enter(self) -> bool:
        """Before a call: Unavailable (or ModelRejected) while open; after its time one caller may probe: True."""
        with self._lock:
            if self._open_until is None:
                return False
            now = self._clock()
            if now < self._open_until:
                left = self._open_until - now
                raise self._why(f"the language model {self.name} failed too often", retry_after=left, breaker="open")
            self._open_until = now + OPEN_SECONDS  # the others wait for what the probe finds
            return True

    def give_up(self) -> None:
        """Instead of a probe: the call will not be made, and the next caller may probe at once."""
        with self._lock:
            self._open_until = self._clock()

    def note(self, error: EngramError | None) -> None:
        """After a call: what became of it. A model that is rejected, and not one question, opens it at once."""
        with self._lock:
            if not isinstance(error, Unavailable) or isinstance(error, RateLimited):
                self._failures.clear()  # it answered, whatever it said
                self._open_until = None
                return
            now = self._clock()
            self._failures.append(now)
            many = len(self._failures) == FAILURES and now - self._failures[0] <= FAILURE_WINDOW
            barred = isinstance(error, ModelRejected) and error.facts.get("status") not in UNFIT
            if many or barred or self._open_until is not None:
                self._open_until = now + OPEN_SECONDS
                self._why = ModelRejected if isinstance(error, ModelRejected) else Unavailable


def resolve(
    settings: Settings, given: str | LanguageModel | None = None, own: Mapping[str, str] = NO_WORD
) -> Models | None:
    """The models of an argument, the settings and a policy's own words; None where every component is at `off`."""
    if given is not None and not isinstance(given, str | LanguageModel):
        raise SettingsError("llm: expected the name of a model, or an object with name and complete()")
    if inspect.iscoroutinefunction(getattr(given, "complete", None)):
        raise SettingsError("llm: complete must give the answer, and is one to be awaited (async def)")
    if settings.llm_level == "off" and not {"auto", "full"} & set(own.values()):
        return None  # nothing that a model needs has to be installed
    models = Models(settings, given)
    levels = {models.level_of(component, own) for component in COMPONENTS}
    return None if levels == {"off"} else models


def _model(given: str | LanguageModel | None, settings: Settings) -> LanguageModel | None:
    if given is None:
        return None
    name = given if isinstance(given, str) else given.name
    if not inputs.is_model_name(name):
        raise SettingsError("llm: the name of a model must be a text of 1 to 200 bytes")
    if not isinstance(given, str):
        return given
    if importlib.util.find_spec("litellm") is None:
        raise SettingsError("llm_model: a model by name needs LiteLLM: pip install 'engram[llm]'")
    keys = tuple(key.get_secret_value() for key in settings.llm_api_keys)
    return LiteModel(given, keys=keys, rotate=settings.llm_key_strategy == "round_robin", base=settings.llm_api_base)


class LiteModel:
    """A model by its LiteLLM name, such as `anthropic/claude-haiku-4-5` or, with an address, `openai/my-model`.

    With several keys LiteLLM's router goes on to the next when one is limited or refused.
    """

    def __init__(self, name: str, *, keys: Sequence[str] = (), rotate: bool = False, base: str | None = None) -> None:
        self.name = name
        self.keys = tuple(keys)
        self._params: dict[str, Any] = {"api_base": base} if base else {}
        # A router's order is fixed: to begin with another key each time takes one router a key.
        self._turns = itertools.cycle(range(len(self.keys) if rotate else 1))
        self._routers: list[Any] | None = None
        self._unfit: set[type[BaseModel]] = set()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"LiteModel({self.name!r})"

    @property
    def price(self) -> Price | None:
        """The most a token can cost by LiteLLM's list; None for a model that is not on it."""
        return listed_price(self.name)

    def complete(
        self, messages: Sequence[ChatMessage], *, schema: type[BaseModel] | None, max_tokens: int, deadline: float
    ) -> Completion:
        """One streamed call, cut at its deadline, at 20 s of silence and at 256 KiB; raises Engram's errors only."""
        litellm = load_litellm()
        params: dict[str, Any] = {
            "messages": list(messages), "max_tokens": max_tokens, "temperature": 0, "drop_params": True,
            "stream": True, "stream_options": {"include_usage": True},
        }  # fmt: skip
        try:
            if schema is not None and schema not in self._unfit and litellm.supports_response_schema(self.name):
                params["response_format"] = schema
            call = self._calling(litellm)
            return LOOP.run(self._read(litellm, call, params, deadline), deadline)
        except EngramError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not pass: it may quote what was sent
            failure = translate(error)
        raise failure  # outside of `except`: the foreign error is not chained to it

    def _calling(self, litellm: Any) -> Callable[..., Coroutine[Any, Any, Any]]:
        import httpx

        # The same limit for every call: LiteLLM keeps a client for each. The deadline is `_read`'s affair.
        limit = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        once = {"num_retries": 0, "max_retries": 0, "timeout": limit}
        if len(self.keys) < 2:
            key = {"api_key": self.keys[0]} if self.keys else {}
            return lambda **params: litellm.acompletion(model=self.name, **self._params, **key, **once, **params)
        with self._lock:
            if self._routers is None:
                turns = range(len(self.keys))
                self._routers = [self._router(litellm, self.keys[n:] + self.keys[:n]) for n in turns]
            router = self._routers[next(self._turns)]
        return lambda **params: router.acompletion(model=self.name, **once, **params)

    def _router(self, litellm: Any, keys: Sequence[str]) -> Any:
        listed_price(self.name)  # a router puts models it does not know on the list, as if they cost nothing
        deployments = [
            {
                "model_name": self.name, "model_info": {"id": str(n)},
                "litellm_params": {"model": self.name, "api_key": key, "order": n + 1, **self._params},
            }
            for n, key in enumerate(keys)
        ]  # fmt: skip
        return litellm.Router(model_list=deployments, num_retries=0, allowed_fails=0, cooldown_time=RETRY_SECONDS)

    async def _read(self, litellm: Any, call: Any, params: dict[str, Any], deadline: float) -> Completion:
        silence = min(SILENCE_SECONDS, deadline / 3)
        parts: list[str] = []
        size, finish, usage = 0, None, None
        async with asyncio.timeout(deadline):
            stream = await self._begun(call, params)
            pieces = aiter(stream)
            piece = await anext(pieces, None)
            while piece is not None:
                usage = getattr(piece, "usage", None) or usage
                for choice in piece.choices[:1]:
                    finish = choice.finish_reason or finish
                    parts.append(choice.delta.content or "")
                    size += len(parts[-1].encode())
                if size > ANSWER_BYTES:
                    raise BadOutput("the answer is too large", reason="too_large", too_long=False, sent=True)
                async with asyncio.timeout(silence):
                    piece = await anext(pieces, None)
        # LiteLLM ends a stream that was cut as if it were whole, and counts tokens where none were told. Its chunks are
        # what the provider really sent.
        sent = getattr(stream, "chunks", ())
        if not any(choice.finish_reason for chunk in sent for choice in chunk.choices[:1]):
            raise Unavailable("the language model's answer ended early", retry_after=RETRY_SECONDS, sent=True)
        told = any(getattr(chunk, "usage", None) is not None for chunk in sent)
        return self._completion(litellm, "".join(parts), finish or "stop", usage if told else None)

    async def _begun(self, call: Any, params: dict[str, Any]) -> Any:
        try:
            return await call(**params)
        except Exception as error:
            # Providers take only a part of JSON Schema. A form they refuse is left to the prompt, and to our own check.
            known = type(translate(error)) is not ModelRejected or getattr(error, "status_code", None) not in UNFIT
            if known or "response_format" not in params:
                raise
            self._unfit.add(params.pop("response_format"))
        return await call(**params)

    def _completion(self, litellm: Any, text: str, finish: str, usage: Any) -> Completion:
        into, out = (_count(getattr(usage, name, None)) for name in ("prompt_tokens", "completion_tokens"))
        cached = _count(getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None))
        cost = None
        if into is not None and out is not None and self.price is not None:
            costs = litellm.cost_per_token(
                model=self.name, prompt_tokens=into, completion_tokens=out, cache_read_input_tokens=cached or 0
            )
            cost = round(sum((Decimal(repr(one)) for one in costs), Decimal(0)), 12)  # they are reckoned as floats
        return Completion(text, self.name, into, out, cached, cost, finish)


@cache
def listed_price(name: str) -> Price | None:
    """The most a token of a model can cost by LiteLLM's list of prices; None when it is not on it."""
    try:
        info = load_litellm().get_model_info(name)
    except SettingsError:
        raise
    except Exception:  # noqa: BLE001 - LiteLLM says "not on the list" in several ways
        return None
    kinds = ("input_cost_per_token", "cache_creation_input_token"), ("output_cost_per_token",)
    into, out = (
        max((Decimal(str(cost)) for name, cost in info.items() if name.startswith(kind) and cost), default=Decimal(0))
        for kind in kinds
    )
    return Price(into, out)


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def translate(error: BaseException) -> EngramError:
    """Engram's own error for one of LiteLLM's: its class, status and request id, and nothing it says.

    `sent` says that the provider may have worked, and been paid, before it failed.
    """
    unsent = _unconnected(error)
    error = getattr(error, "original_exception", None) or error
    kind, body = type(error).__name__, getattr(error, "body", None)
    code = body.get("code") if isinstance(body, Mapping) else None
    found = getattr(error, "status_code", None)
    status = found if isinstance(found, int) else None
    headers: Mapping[str, str] = getattr(error, "litellm_response_headers", None) or {}
    facts: dict[str, Any] = {"kind": kind, "status": status, "request_id": _request_id(headers)}
    if isinstance(error, TimeoutError) or kind == "Timeout":
        return Unavailable(
            "the language model did not answer in time", retry_after=RETRY_SECONDS, sent=not unsent, **facts
        )
    if kind == "ContextWindowExceededError":
        return BadOutput("the input is longer than the language model can read", too_long=True, reason="input", **facts)
    if kind == "ContentPolicyViolationError" or code in ("content_policy_violation", "content_filter"):
        return Refused(**facts)
    if kind == "RouterRateLimitError":
        return RateLimited(retry_after=_bounded(getattr(error, "cooldown_time", None)), **facts)
    if status == 429 and code != "insufficient_quota":
        return RateLimited(retry_after=retry_after(headers.get("retry-after")), **facts)
    if status == 429 or status in REJECTED:
        return ModelRejected(retry_after=LONGEST_RETRY, **facts)
    pause = retry_after(headers.get("retry-after")) if "retry-after" in headers else RETRY_SECONDS
    return Unavailable("the language model failed", retry_after=pause, sent=not headers and not unsent, **facts)


def _unconnected(error: BaseException | None) -> bool:
    for _ in range(20):
        if error is None:
            return False
        if type(error).__name__.startswith(UNCONNECTED):
            return True
        error = error.__cause__ or error.__context__
    return False


def retry_after(value: str | None, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> float:
    """Seconds to wait by a Retry-After header, in seconds or as a date; at most 15 minutes, 30 s for nonsense."""
    try:
        return _bounded(float(value or ""))
    except ValueError:
        pass
    try:
        return _bounded((email.utils.parsedate_to_datetime(value or "") - now()).total_seconds())
    except (ValueError, TypeError):
        return RETRY_SECONDS


def _bounded(seconds: object) -> float:
    if not isinstance(seconds, int | float) or not math.isfinite(seconds):
        return RETRY_SECONDS
    return min(max(0.0, float(seconds)), LONGEST_RETRY)


def _request_id(headers: Mapping[str, str]) -> str | None:
    found = headers.get("x-request-id") or headers.get("request-id")
    return found if found and len(found) <= 100 and found.isascii() and found.isprintable() else None


def load_litellm() -> Any:
    """LiteLLM itself, silenced and without asking the network for prices; SettingsError where it is not installed."""
    if "litellm" not in sys.modules:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # or importing it asks the network for prices
    try:
        import litellm
    except ImportError:
        raise SettingsError("a language model by name needs LiteLLM: pip install 'engram[llm]'") from None
    litellm.suppress_debug_info = True
    for name in ("LiteLLM", "LiteLLM Router"):  # its messages quote requests and answers
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


class _Loop:
    """An event loop in a thread of its own: only a call that is awaited can be cut wherever it is."""

    def __init__(self) -> None:
        self._forget()
        os.register_at_fork(after_in_child=self._forget)  # a child has the loop, and not the thread it runs in

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, coroutine: Coroutine[Any, Any, T], deadline: float) -> T:
        """Run a coroutine and wait for it; who is interrupted while waiting cuts it."""
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._running())
        except BaseException:
            coroutine.close()
            raise
        latest = time.monotonic() + deadline + CONNECT_SECONDS  # beyond its own deadline only when the loop is stuck
        try:
            # In short waits: an exception thrown into this thread is heard between two of them.
            while not wait([future], LISTEN_SECONDS).done and time.monotonic() < latest:
                pass
            return future.result(0)
        except BaseException:
            future.cancel()
            raise

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = asyncio.new_event_loop()
                try:
                    threading.Thread(target=loop.run_forever, name="engram-llm", daemon=True).start()
                except BaseException:  # no thread could be started: a loop that nobody runs would answer no call
                    loop.close()
                    raise
                self._loop = loop
            return self._loop


LOOP: Final = _Loop()
"""Where calls of LiteLLM are awaited, of language models and of others."""
