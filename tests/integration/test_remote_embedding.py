"""A provider's embedding model through the real LiteLLM: its keys, its windows, and every way in which it fails."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from embedding_server import EmbeddingServer, answers, data, held, slowly
from model_server import raw, resets, status

from engram import Engram, Scope, embedding
from engram.database import Database
from engram.embedding import CachedEmbedder, remote
from engram.errors import ModelRejected, RateLimited, SettingsError, Unavailable
from engram.settings import load

Fault = Callable[[Any], Any]


@pytest.fixture(scope="module")
def provider() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server


@pytest.fixture(autouse=True)
def in_good_order(provider: EmbeddingServer) -> None:
    provider.fault = None
    provider.requests.clear()


def model(provider: EmbeddingServer, *keys: str, strategy: Any = "failover", timeout: float = 5.0) -> CachedEmbedder:
    limits = {"passage": timeout, "query": timeout}
    made = remote.RemoteEmbedder("openai/a", keys or ("one",), strategy, api_base=provider.url, timeout=limits)
    made.expect(24)
    return CachedEmbedder(made)


def each(change: Callable[[dict[str, Any]], Any]) -> Fault:
    """An answer whose rows are changed one by one."""
    return lambda request: answers([change(row) or row for row in data(request)])


def rows(change: Callable[[list[Any]], Any]) -> Fault:
    """An answer whose rows are changed together."""
    return lambda request: answers(change(data(request)))


FAULTS: dict[str, tuple[Fault, type[Unavailable]]] = {
    "not a number": (each(lambda row: {**row, "embedding": [math.nan] * 24}), Unavailable),
    "infinite": (each(lambda row: {**row, "embedding": [math.inf, *row["embedding"][1:]]}), Unavailable),
    "all zeros": (each(lambda row: {**row, "embedding": [0.0] * 24}), Unavailable),
    "vanishing": (each(lambda row: {**row, "embedding": [1e-50] * 24}), Unavailable),
    "huge": (each(lambda row: {**row, "embedding": [1e38] * 24}), Unavailable),
    "too few dimensions": (each(lambda row: {**row, "embedding": row["embedding"][1:]}), Unavailable),
    "too many dimensions": (each(lambda row: {**row, "embedding": [*row["embedding"], 0.1]}), Unavailable),
    "an empty vector": (each(lambda row: {**row, "embedding": []}), Unavailable),
    "no vector": (each(lambda row: {**row, "embedding": None}), Unavailable),
    "numbers as text": (each(lambda row: {**row, "embedding": [str(one) for one in row["embedding"]]}), Unavailable),
    "a nested vector": (each(lambda row: {**row, "embedding": [row["embedding"]]}), Unavailable),
    "one vector too few": (rows(lambda found: found[:-1]), Unavailable),
    "one vector too many": (rows(lambda found: [*found, found[0]]), Unavailable),
    "the same index twice": (rows(lambda found: [{**row, "index": 0} for row in [*found, *found]]), Unavailable),
    "an index that is none": (each(lambda row: {**row, "index": 7}), Unavailable),
    "no rows": (rows(lambda _: []), Unavailable),
    "no list": (lambda _: raw(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}"), Unavailable),
    "no JSON": (lambda _: raw(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n<html>"), Unavailable),
    "slow": (lambda request: slowly(answers(data(request)), 4.0), Unavailable),
    "hung up": (lambda _: resets(), Unavailable),
    "limited": (lambda _: status(429, {"retry-after": "7"}), RateLimited),
    "refused": (lambda _: status(401), ModelRejected),
    "forbidden": (lambda _: status(403), ModelRejected),
    "unknown": (lambda _: status(404), ModelRejected),
    "too long a text": (lambda _: status(400), Unavailable),
    "broken": (lambda _: status(500), Unavailable),
    "overloaded": (lambda _: status(529), Unavailable),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_provider_is_one_error_of_its_class_and_one_call(provider: EmbeddingServer, name: str) -> None:
    provider.fault, expected = FAULTS[name]
    with pytest.raises(Unavailable) as failed:
        model(provider, timeout=1.0).embed(["The secret is 4711"])
    assert type(failed.value) is expected
    assert "4711" not in str(failed.value)
    assert len(provider.requests) == 1
    if expected is RateLimited:
        assert failed.value.retry_after == 7


def test_a_memory_whose_vector_fails_is_found_by_words_until_its_job_succeeds(
    provider: EmbeddingServer, database: Database, database_url: str, tenant: str
) -> None:
    settings = load(
        {}, embedding_model="openai/a", embedding_api_base=provider.url, embedding_api_keys="one",
        on_embedding_failure="defer", dispatch="doorbell",
    )  # fmt: skip
    with Engram(database_url, scope=Scope(tenant, user_id="ada"), settings=settings) as door:
        door.add("Person 0 likes order")
        names = [name for name in FAULTS if name != "slow"]
        for place, name in enumerate(names, 1):
            provider.fault = FAULTS[name][0]
            made = door.add(f"Person {place} met word{place} once", force=True).memory
            assert made is not None, name
            assert not made.embedded, name
            door.ops.run_jobs()
            found = door.search(f"word{place}")
            assert found[0].memory.memory_id == made.memory_id, name
            assert found.degraded == ("semantic",), name
        assert door.stats().unembedded == len(names)
        provider.fault = None
        for _ in range(20):
            with database.transaction(tenant) as conn:  # their pauses are over
                conn.exec_driver_sql(
                    "UPDATE engram.memory_jobs SET run_at = clock_timestamp(), state = 'queued'"
                    " WHERE state IN ('queued', 'paused')"
                )
            door.ops.run_jobs(limit=100)
            if door.stats().unembedded == 0:
                break
            time.sleep(0.05)
        assert door.stats().unembedded == 0
        assert door.search("Person 3 met", mode="semantic")


def test_permuted_answers_are_put_in_order(provider: EmbeddingServer) -> None:
    texts = ["tea", "wool", "clay"]
    in_order = model(provider).embed(texts)
    provider.fault = rows(lambda found: found[::-1])
    assert (model(provider).embed(texts) == in_order).all()


# Keys ----------------------------------------------------------------------------------------------------------------


def used(provider: EmbeddingServer) -> list[str]:
    return [request.key for request in provider.requests]


@pytest.mark.parametrize("code", [401, 403, 429, 500, 503])
def test_the_next_key_is_tried_when_one_is_refused_and_that_one_rests(provider: EmbeddingServer, code: int) -> None:
    provider.fault = lambda request: status(code) if request.key == "one" else None
    embedder = model(provider, "one", "two")
    embedder.embed(["tea"])
    embedder.embed(["wool"])
    assert used(provider) == ["one", "two", "two"]


def test_a_key_is_asked_again_after_a_minute() -> None:
    now = [0.0]
    keys = remote.Keys(["one", "two"], "failover", lambda: now[0])
    keys.rest("one")
    assert keys.in_turn() == ["two"]
    now[0] = 59.0
    keys.rest("two")
    assert keys.in_turn() == ["one"]  # all of them rest: the one that comes back first
    now[0] = 60.0
    assert keys.in_turn() == ["one"]
    now[0] = 119.0
    assert keys.in_turn() == ["one", "two"]


def test_keys_take_turns_where_they_are_told_to(provider: EmbeddingServer) -> None:
    embedder = model(provider, "one", "two", strategy="round_robin")
    for text in ("tea", "wool", "clay", "ink"):
        embedder.embed([text])
    assert used(provider) == ["one", "two", "one", "two"]


def test_a_bad_text_or_a_wrong_name_costs_no_other_key(provider: EmbeddingServer) -> None:
    for code in (400, 404):
        provider.requests.clear()
        provider.fault = lambda _, code=code: status(code)  # type: ignore[misc]
        with pytest.raises(Unavailable):
            model(provider, "one", "two").embed(["tea"])
        assert used(provider) == ["one"]


# What is asked -------------------------------------------------------------------------------------------------------


def test_many_texts_are_asked_a_hundred_at_a_time(provider: EmbeddingServer) -> None:
    model(provider).embed([f"text {n}" for n in range(250)])
    assert [len(texts) for texts in provider.texts()] == [100, 100, 50]


def test_what_writers_ask_for_at_once_goes_in_one_request(provider: EmbeddingServer) -> None:
    goes = threading.Event()

    def fault(request: Any) -> Any:
        answer = answers(list(reversed(data(request))))
        return held(answer, goes) if request.body["input"] == ["first"] else answer

    provider.fault = fault
    made = remote.RemoteEmbedder("openai/a", ["one"], api_base=provider.url, wait=30)
    made.expect(24)
    model = CachedEmbedder(made)
    asked = [[f"text {place} of {writer}" for place in range(25)] for writer in range(4)]
    with ThreadPoolExecutor(5) as pool:
        first = pool.submit(model.embed, ["first"])
        while not provider.requests:
            time.sleep(0.01)
        vectors = [one.result(30) for one in [pool.submit(model.embed, texts) for texts in asked]]
        question = model.embed(["Who asks?"], "query")  # does not wait for writers
        goes.set()
        first.result(30)
    assert [len(texts) for texts in provider.texts()] == [1, 100, 1]
    provider.fault = None
    for texts, found in zip(asked, vectors, strict=True):
        alone = CachedEmbedder(made).embed(texts)
        assert (found == alone).all()
    assert question.shape == (1, 24)


def test_a_text_longer_than_the_window_is_read_in_windows_and_never_cut(
    provider: EmbeddingServer, database: Database, database_url: str, tenant: str
) -> None:
    long = " ".join(f"word{n}" for n in range(600))
    settings = load({}, embedding_model="openai/a", embedding_api_base=provider.url, embedding_api_keys="one")
    with Engram(database_url, scope=Scope(tenant), settings=settings) as door:
        door.add("Person 1 likes tea")
        door.add(long)
    sent = next(texts for texts in provider.texts() if texts[0].startswith("word0"))
    assert len(sent) > 1
    assert "".join(sent) == long
    assert all(len(part) <= 2 * remote.WINDOW for part in sent)
    with database.transaction(tenant) as conn:
        marks = conn.exec_driver_sql("SELECT windowed FROM engram.memory_embeddings ORDER BY 1").scalars().all()
    assert marks == [False, True]


@pytest.mark.parametrize("text", ["", " ", "a" * 5000, "é" * 3000, "日本" * 900, "word " * 2000, "\n" * 4000 + "x"])
def test_windows_lose_no_word(text: str) -> None:
    parts = embedding.windows(text, 512)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(
        sum(1 if one.isascii() else 2 * len(one.encode()) for one in part) <= 1024 for part in parts if part.strip()
    )


def test_the_provider_is_asked_for_the_dimensions_only_where_nobody_knows_them(
    provider: EmbeddingServer, database_url: str, tenant: str
) -> None:
    settings = load({}, embedding_model="openai/b", embedding_api_base=provider.url, embedding_api_keys="one")
    with Engram(database_url, scope=Scope(tenant), settings=settings) as door:
        assert provider.requests == []
        door.add("Person 1 likes tea")
    provider.requests.clear()
    provider.fault = lambda _: status(500)
    with Engram(database_url, scope=Scope(tenant), settings=settings) as later:
        assert later.search("tea").degraded == ("semantic",)  # and no failure at the start
        check = next(check for check in later.ops.doctor().checks if check.name == "embedder")
    assert "40 dimensions" in check.detail or "failed" in check.detail


def test_names_with_a_provider_are_providers_models_and_others_are_not() -> None:
    assert isinstance(embedding.resolve("openai/text-embedding-3-small"), remote.RemoteEmbedder)
    assert isinstance(embedding.resolve("text-embedding-3-small"), remote.RemoteEmbedder)
    assert embedding.resolve("text-embedding-3-small").max_tokens == 8191  # type: ignore[union-attr]
    for wrong in ("gpt-4o", "word", "a b/c", "openai/", ""):
        with pytest.raises(SettingsError):
            embedding.resolve(wrong)
