"""A provider of reranking as the tests need it: Cohere's, Jina's and Infinity's protocol, and how it fails.

    with RerankServer() as server:
        Engram(settings=load({}, rerank_model="cohere/rerank-v3.5", rerank_api_base=server.url, rerank_api_key="key"))
        server.fails(lambda request: status(429))

A text answers a question as far as it shares its words, from 0.05 to 0.95: `relevance` says how far.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from model_server import Behaviour, ModelServer, Request, head, raw

MODELS = ("cohere/rerank-v3.5", "jina_ai/jina-reranker-v2-base-multilingual", "infinity/mine")


def relevance(query: str, text: str) -> float:
    """How well a text answers a question: the share of the question's words it holds."""
    asked, told = (set(re.findall(r"\w+", one.casefold())) for one in (query, text))
    return 0.05 + 0.9 * len(asked & told) / max(1, len(asked))


def results(request: Request) -> list[dict[str, Any]]:
    """The answer to a request, as it should be: best first, as providers send it."""
    query = str(request.body["query"])
    scored = [
        {"index": place, "relevance_score": relevance(query, text)}
        for place, text in enumerate(request.body["documents"])
    ]
    return sorted(scored, key=lambda one: -one["relevance_score"])


def answers(found: Sequence[Any], **more: Any) -> Behaviour:
    """An answer with these results."""
    body = {
        "id": "r-1", "results": list(found), "usage": {"total_tokens": 50, "prompt_tokens": 50},
        "meta": {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}, **more,
    }  # fmt: skip
    return raw(head(200, {"content-type": "application/json"}), json.dumps(body).encode())


class RerankServer(ModelServer):
    """A server that reranks, or fails in the way a test tells it to."""

    def __init__(self) -> None:
        self.fault: Callable[[Request], Behaviour] | None = None
        super().__init__(self._answer)

    @property
    def url(self) -> str:
        """What a client takes for its `api_base`: each protocol adds a path of its own."""
        return super().url.removesuffix("/v1")

    def fails(self, fault: Callable[[Request], Behaviour] | None) -> None:
        """Answer every request like this from now on; None is in good order again."""
        self.fault = fault

    def _answer(self, request: Request) -> Behaviour:
        return answers(results(request)) if self.fault is None else self.fault(request)
