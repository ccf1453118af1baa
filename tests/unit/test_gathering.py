"""Gathering: one request for what several threads ask at once, and nobody waits for a text that is not his."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from engram.embedding.gathering import BAD_ANSWER, Gathering
from engram.errors import RateLimited, Unavailable

LONG = 60.0  # seconds nobody waits: what would wait so long fails by its timeout


class Provider:
    """Answers each text with itself, and holds the first request back until it is let go."""

    def __init__(self, fails: Callable[[Sequence[str]], Exception | None] = lambda _: None) -> None:
        self.requests: list[list[str]] = []
        self.fails = fails
        self.holds = False
        self.held, self.go = threading.Event(), threading.Event()

    def send(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        self.requests.append(list(texts))
        if self.holds:
            self.holds = False
            self.held.set()
            assert self.go.wait(LONG)
        error = self.fails(texts)
        if error is not None:
            raise error
        # In another order than it was asked in.
        return [{"index": n, "embedding": [text]} for n, text in reversed(list(enumerate(texts)))]


def said(answer: list[dict[str, Any]]) -> list[str]:
    return [one["embedding"][0] for one in sorted(answer, key=lambda one: int(one["index"]))]


@contextmanager
def busy(provider: Provider, gathering: Gathering) -> Iterator[ThreadPoolExecutor]:
    """A request is on its way, so that others gather."""
    with ThreadPoolExecutor(17) as pool:
        provider.holds = True
        first: Future[Any] = pool.submit(gathering.ask, ["first"])
        assert provider.held.wait(LONG)
        try:
            yield pool
        finally:
            provider.go.set()
            assert said(first.result(LONG)) == ["first"]


def test_who_asks_alone_waits_for_nobody() -> None:
    provider = Provider()
    gathering = Gathering(provider.send, 100, wait=1e9)
    assert said(gathering.ask(["one", "two"])) == ["one", "two"]
    assert said(gathering.ask(["three"])) == ["three"]
    assert provider.requests == [["one", "two"], ["three"]]


def test_what_is_asked_at_once_goes_in_one_request_and_each_gets_his_own() -> None:
    provider = Provider()
    gathering = Gathering(provider.send, 32, wait=LONG)
    with busy(provider, gathering) as pool:
        # Full with the last of them, so that nobody waits.
        each = {n: pool.submit(gathering.ask, [f"{n} a", f"{n} b"]) for n in range(16)}
        for n, one in each.items():
            assert said(one.result(LONG)) == [f"{n} a", f"{n} b"]
    assert [len(texts) for texts in provider.requests] == [1, 32]


def test_what_does_not_fit_opens_the_next_request() -> None:
    provider = Provider()
    gathering = Gathering(provider.send, 3, wait=0.05)
    with busy(provider, gathering) as pool:
        each = [pool.submit(gathering.ask, [f"{n} a", f"{n} b"]) for n in range(4)]
        assert [said(one.result(LONG)) for one in each] == [[f"{n} a", f"{n} b"] for n in range(4)]
    assert sorted(map(len, provider.requests)) == [1, 2, 2, 2, 2]


def test_a_text_that_is_not_taken_is_nobody_elses() -> None:
    bad = Unavailable("the embedding model did not take the text", reason=BAD_ANSWER)
    provider = Provider(lambda texts: bad if "bad" in texts else None)
    gathering = Gathering(provider.send, 3, wait=LONG)
    with busy(provider, gathering) as pool:
        good, bad_one, last = (pool.submit(gathering.ask, [text]) for text in ("good", "bad", "last"))
        assert (said(good.result(LONG)), said(last.result(LONG))) == (["good"], ["last"])
        with pytest.raises(Unavailable, match="did not take the text"):
            bad_one.result(LONG)
    assert sorted(map(len, provider.requests)) == [1, 1, 1, 1, 3]


def test_an_outage_is_everybodys_and_asked_about_once() -> None:
    def fails(texts: Sequence[str]) -> Exception | None:
        return None if texts == ["first"] else RateLimited("a pause", retry_after=7.0, reason="rate_limited")

    provider = Provider(fails)
    gathering = Gathering(provider.send, 4, wait=LONG)
    with busy(provider, gathering) as pool:
        for one in [pool.submit(gathering.ask, [f"text {n}"]) for n in range(4)]:
            with pytest.raises(RateLimited) as failed:
                one.result(LONG)
            assert failed.value.retry_after == 7.0
    assert len(provider.requests) == 2


@pytest.mark.parametrize("answer", [[], [{"index": 0, "embedding": ["x"]}] * 2, [{"index": 5, "embedding": ["x"]}] * 2])
def test_an_answer_that_cannot_be_told_apart_is_asked_for_again_by_each(answer: list[dict[str, Any]]) -> None:
    provider = Provider()

    def send(texts: Sequence[str]) -> list[dict[str, Any]]:
        found = provider.send(texts)
        return answer if len(texts) > 1 else found

    gathering = Gathering(send, 2, wait=LONG)
    with busy(provider, gathering) as pool:
        each = [pool.submit(gathering.ask, [f"text {n}"]) for n in range(2)]
        assert [said(one.result(LONG)) for one in each] == [["text 0"], ["text 1"]]


def test_who_is_interrupted_while_he_sends_ends_nobody_else() -> None:
    def fails(texts: Sequence[str]) -> Any:
        return KeyboardInterrupt() if len(texts) == 2 else None

    provider = Provider(fails)
    gathering = Gathering(provider.send, 2, wait=LONG)
    with busy(provider, gathering) as pool:
        each = [pool.submit(gathering.ask, [f"text {n}"]) for n in range(2)]
        ended = [type(one.exception(LONG)) for one in each]
    assert sorted(map(str, ended)) == sorted(map(str, [KeyboardInterrupt, type(None)]))
    assert said(gathering.ask(["after"])) == ["after"]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_a_forked_process_waits_for_no_thread_of_the_other() -> None:
    provider = Provider()
    gathering = Gathering(provider.send, 100, wait=LONG)
    with busy(provider, gathering) as pool:
        waits = pool.submit(gathering.ask, ["open"])
        while gathering._open is None:
            pass
        child = os.fork()
        if child == 0:
            os._exit(0 if said(gathering.ask(["mine"])) == ["mine"] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        more = pool.submit(gathering.ask, [f"text {n}" for n in range(99)])
        assert (said(waits.result(LONG)), len(more.result(LONG))) == (["open"], 99)
