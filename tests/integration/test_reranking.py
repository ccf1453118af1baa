"""A provider's reranker through the real LiteLLM: three protocols, and every way in which it fails."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from model_server import Request, head, raw, resets, stalls, status
from rerank_server import MODELS, RerankServer, answers, relevance, results

from engram import rerank
from engram.errors import ModelRejected, RateLimited, Unavailable
from engram.rerank import Judge, LiteReranker
from engram.settings import load

Fault = Callable[[Request], Any]
QUERY = "the cat on the sofa"
TEXTS = ["the secret is 4711", "a cat", "the cat sleeps on the sofa", "on the wall", "a dog"]


@pytest.fixture(scope="module")
def provider() -> Iterator[RerankServer]:
    with RerankServer() as server:
        yield server


@pytest.fixture(autouse=True)
def in_good_order(provider: RerankServer) -> None:
    provider.fails(None)
    provider.requests.clear()


def judge(provider: RerankServer, model: str, timeout: float = 5.0) -> Judge:
    return Judge(LiteReranker(model, "key-4711", provider.url, timeout=timeout))


@pytest.mark.parametrize("model", MODELS)
def test_a_provider_scores_each_text(provider: RerankServer, model: str) -> None:
    found = judge(provider, model).judge(QUERY, TEXTS)
    assert found.scores == pytest.approx([relevance(QUERY, text) for text in TEXTS])
    assert TEXTS[found.order[0]] == "the cat sleeps on the sofa"
    (request,) = provider.requests
    assert request.key == "key-4711"
    assert request.body["query"] == QUERY
    assert request.body["documents"] == TEXTS
    assert request.body.get("top_n") in (5, None)
    assert request.path.endswith("/rerank")


def test_a_provider_says_what_it_cost(provider: RerankServer) -> None:
    cost = judge(provider, MODELS[0]).judge(QUERY, TEXTS).cost
    assert cost is not None
    assert float(cost) == pytest.approx(0.002)


def test_a_server_of_ones_own_is_found_by_its_settings(provider: RerankServer) -> None:
    settings = load({}, rerank_model="infinity/mine", rerank_api_base=provider.url, rerank_api_key="key-1")
    resolved = rerank.resolve(None, settings)
    assert resolved is not None
    assert resolved.judge(QUERY, TEXTS).order[0] == 2
    assert provider.requests[0].key == "key-1"


def test_logits_of_a_provider_become_shares(provider: RerankServer) -> None:
    provider.fails(
        lambda request: answers([{**one, "relevance_score": one["index"] - 2.5} for one in results(request)])
    )
    found = judge(provider, "infinity/mine").judge(QUERY, TEXTS)
    assert found.order == (4, 3, 2, 1, 0)
    assert found.scores[4] == pytest.approx(1 / (1 + math.exp(-1.5)))


def each(**changed: Any) -> Fault:
    """An answer whose rows are changed one by one."""
    return lambda request: answers([{**one, **changed} for one in results(request)])


def rows(change: Callable[[list[Any]], Any]) -> Fault:
    """An answer whose rows are changed together."""
    return lambda request: answers(change(results(request)))


def body(text: str) -> Fault:
    return lambda _: raw(head(200, {"content-type": "application/json"}), text.encode())


FAULTS: dict[str, tuple[Fault, type[Unavailable]]] = {
    "not a number": (each(relevance_score=math.nan), Unavailable),
    "infinite": (each(relevance_score=math.inf), Unavailable),
    "no score": (each(relevance_score=None), Unavailable),
    "a score as text": (each(relevance_score="high"), Unavailable),
    "one row too few": (rows(lambda found: found[:-1]), Unavailable),
    "one row too many": (rows(lambda found: [*found, found[0]]), Unavailable),
    "no rows": (rows(lambda _: []), Unavailable),
    "the same place twice": (each(index=0), Unavailable),
    "places beyond the texts": (rows(lambda found: [{**one, "index": one["index"] + 1} for one in found]), Unavailable),
    "places before the texts": (rows(lambda found: [{**one, "index": one["index"] - 1} for one in found]), Unavailable),
    "no places": (each(index=None), Unavailable),
    "no list": (body(json.dumps({"results": {"0": 1}})), Unavailable),
    "no results": (body("{}"), Unavailable),
    "no JSON": (body("<html>"), Unavailable),
    "nothing": (body(""), Unavailable),
    "hung up": (lambda _: resets(), Unavailable),
    "cut off": (lambda _: raw(head(200, {"content-length": "999"}), b'{"results": ['), Unavailable),
    "silent": (lambda _: stalls(), Unavailable),
    "limited": (lambda _: status(429, {"retry-after": "7"}), RateLimited),
    "refused": (lambda _: status(401), ModelRejected),
    "forbidden": (lambda _: status(403), ModelRejected),
    "unknown": (lambda _: status(404), ModelRejected),
    "too much text": (lambda _: status(400), Unavailable),
    "broken": (lambda _: status(500), Unavailable),
    "overloaded": (lambda _: status(503), Unavailable),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_provider_is_one_error_of_its_class(provider: RerankServer, model: str, name: str) -> None:
    fault, expected = FAULTS[name]
    provider.fails(fault)
    with pytest.raises(expected) as failed:
        judge(provider, model, timeout=0.5).judge(QUERY, TEXTS)
    assert "4711" not in str(failed.value)
    assert failed.value.__cause__ is None
    # LiteLLM connects once more where a connection breaks before the answer has begun.
    assert len(provider.requests) == (2 if name == "hung up" else 1)


def test_a_provider_that_drips_is_cut_at_the_deadline(provider: RerankServer) -> None:
    whole = head(200) + json.dumps({"results": []}).encode()
    provider.fails(lambda _: raw(*(whole[n : n + 1] for n in range(len(whole))), pause=0.2))
    with pytest.raises(Unavailable, match="the reranker failed") as failed:
        judge(provider, "infinity/mine", timeout=0.5).judge(QUERY, TEXTS)
    assert failed.value.kind in ("TimeoutError", "Timeout")


def test_a_provider_nobody_runs_is_unavailable() -> None:
    gone = Judge(LiteReranker("infinity/mine", "key", "http://127.0.0.1:9", timeout=2.0))
    with pytest.raises(Unavailable):
        gone.judge(QUERY, TEXTS)


def test_a_name_that_reranks_nothing_is_unavailable_at_its_first_call(provider: RerankServer) -> None:
    with pytest.raises(Unavailable):
        judge(provider, "openai/gpt-4o-mini").judge(QUERY, TEXTS)
    assert not provider.requests
