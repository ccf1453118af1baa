"""Gathering: what several threads ask a provider for at once is asked in one request."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Final

from engram.errors import Unavailable

BAD_ANSWER: Final = "embedding_failed"  # the reason of an error that a text may be to blame for
MOST_TEXTS: Final = 100  # of one request
LONGEST_WAIT: Final = 0.02  # seconds, for others to join


class _NotTaken(Exception):
    """The provider did not take what several threads asked for together."""


class _Request:
    """The texts of one request, and what will come of it."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.full = threading.Event()
        self.answer: Future[Any] = Future()


def _in_order(answer: Any, count: int) -> list[Any]:
    """The vectors of an answer by their place; _NotTaken where it is not known which is whose."""
    vectors = {one["index"]: one["embedding"] for one in answer}
    if len(answer) != count or set(vectors) != set(range(count)):
        raise _NotTaken
    return [vectors[place] for place in range(count)]


class Gathering:
    """One request for the texts of several threads, of which each gets its own vectors.

    Who asks while nobody else does is sent at once. Who asks while a request is on its way opens the next one, which
    others join until it is full, for 20 ms at most. What the provider makes of one text is nobody else's: where it
    does not take what was gathered, each asks for its own texts alone.
    """

    def __init__(self, send: Callable[[Sequence[str]], Any], most: int, wait: float = LONGEST_WAIT) -> None:
        self._send, self._most, self._wait = send, most, wait
        self._begin()

    def ask(self, texts: Sequence[str]) -> Any:
        """What the provider answers to the texts; texts of nobody else are in it."""
        if self._pid != os.getpid():  # whoever was to send what is open here is a thread of the other process
            self._begin()
        request, first, leads, waits = self._join(texts)
        if leads:
            self._lead(request, len(texts), waits)
        try:
            answer = request.answer.result()
        except _NotTaken:
            return self._send(texts)
        if len(request.texts) == len(texts):
            return answer
        return [{"index": place, "embedding": answer[first + place]} for place in range(len(texts))]

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._open: _Request | None = None
        self._asking = 0

    def _join(self, texts: Sequence[str]) -> tuple[_Request, int, bool, bool]:
        """The request the texts go with, their place in it, and whether this thread sends it, after a while."""
        with self._lock:
            request = self._open
            if request is not None and len(request.texts) + len(texts) <= self._most:
                leads = waits = False
            else:
                request, leads, waits = _Request(), True, self._asking > 0
                self._asking += 1
                if waits:
                    self._open = request
            first = len(request.texts)
            request.texts.extend(texts)
            if len(request.texts) >= self._most:
                request.full.set()
            return request, first, leads, waits

    def _lead(self, request: _Request, own: int, waits: bool) -> None:
        """Send a request, of whose texts the first are this thread's own, and say to all who joined what came of it."""
        try:
            if waits:
                request.full.wait(self._wait)
            self._close(request)
            answer = self._send(request.texts)
            request.answer.set_result(answer if len(request.texts) == own else _in_order(answer, len(request.texts)))
        except Unavailable as error:
            together = len(request.texts) > own and error.facts.get("reason") == BAD_ANSWER
            request.answer.set_exception(_NotTaken() if together else error)
        except BaseException as error:
            # Whoever waits for it must not wait for ever, nor be ended by what ends this thread.
            request.answer.set_exception(error if isinstance(error, Exception) else _NotTaken())
            if not isinstance(error, Exception):
                raise
        finally:
            self._close(request)
            with self._lock:
                self._asking -= 1

    def _close(self, request: _Request) -> None:
        with self._lock:
            if self._open is request:
                self._open = None
