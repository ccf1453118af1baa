"""A provider of embeddings as the tests need it: deterministic vectors over OpenAI's protocol, and how it fails.

    with EmbeddingServer() as server:
        Engram(settings=load({}, embedding_model="openai/a", embedding_api_base=server.url, embedding_api_keys="key"))
        server.fails(lambda request: status(429))

The model `a` has 24 dimensions, `b` has 40, and `c` has 24 too, in another space: its vectors look like those of `a`
and mean something else. Each text's vector is the sum of its words' vectors, so that texts that share words are near.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from model_server import Behaviour, ModelServer, Request, head, raw

DIMENSIONS = {"a": 24, "b": 40, "c": 24}


@lru_cache(maxsize=100_000)
def word_vector(model: str, word: str) -> tuple[float, ...]:
    """The vector of a word: noise that belongs to the model and the word."""
    size = DIMENSIONS[model]
    noise = hashlib.shake_256(f"{model}:{word}".encode()).digest(size)
    return tuple(byte / 127.5 - 1 for byte in noise)


@lru_cache(maxsize=200_000)
def vector(model: str, text: str) -> list[float]:
    """The vector of a text: the sum of its words', of length 1."""
    words = re.findall(r"\w+", text.casefold()) or [text or " "]
    total = [sum(column) for column in zip(*(word_vector(model, word) for word in words), strict=True)]
    length = math.sqrt(sum(value * value for value in total)) or 1.0
    return [value / length for value in total]


def data(request: Request) -> list[dict[str, Any]]:
    """The answer to a request, as it should be."""
    model = str(request.body["model"]).rpartition("/")[2]
    texts = request.body["input"]
    given = [texts] if isinstance(texts, str) else texts
    return [{"object": "embedding", "index": n, "embedding": vector(model, text)} for n, text in enumerate(given)]


def answers(rows: Any) -> Behaviour:
    """An answer with these rows; what JSON does not know (NaN) is written as Python writes it."""
    whole = {"object": "list", "model": "test", "data": rows, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    return raw(head(200, {"content-type": "application/json"}) + json.dumps(whole).encode())


def slowly(behaviour: Behaviour, seconds: float) -> Behaviour:
    """The same answer, late."""

    async def behave(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        await behaviour(request, writer)

    return behave


def held(behaviour: Behaviour, until: threading.Event) -> Behaviour:
    """The same answer, once it is let go."""

    async def behave(request: Request, writer: asyncio.StreamWriter) -> None:
        while not until.is_set():
            await asyncio.sleep(0.01)
        await behaviour(request, writer)

    return behave


class EmbeddingServer(ModelServer):
    """A provider that answers well, unless `fault` has something else for a request."""

    def __init__(self) -> None:
        self.fault: Callable[[Request], Behaviour | None] | None = None
        super().__init__(lambda request: self._answer(request))

    def texts(self) -> list[Sequence[str]]:
        """What was asked for, call by call."""
        return [request.body["input"] for request in self.requests]

    def _answer(self, request: Request) -> Behaviour:
        failed = self.fault(request) if self.fault is not None else None
        return failed if failed is not None else answers(data(request))
