"""How the work on a text grows with its length, in processor time: what else the machine does has little part in it."""

from __future__ import annotations

import time
from collections.abc import Callable

TIMES = 8  # how much longer the long text is; work in the square of it would take 64 times as long
ALLOWED = 3.5  # how much more than its length the work may grow: memory is slower than the cache
TOO_SHORT = 0.004  # seconds that a clock still measures well


def seconds(work: Callable[[str], object], text: str, tries: int = 3) -> float:
    """The least processor time of some tries."""
    spent = []
    for _ in range(tries):
        start = time.process_time()
        work(text)
        spent.append(time.process_time() - start)
    return min(spent)


def assert_linear(work: Callable[[str], object], unit: str, length: int) -> None:
    """Work on a unit repeated to `length` takes hardly longer, by length, than on a part of it."""
    short = (unit * length)[: length // TIMES]
    few = max(TOO_SHORT, seconds(work, short))
    many = seconds(work, (unit * length)[:length], tries=1)
    if many > TIMES * ALLOWED * few:
        many = seconds(work, (unit * length)[:length])
    assert many <= TIMES * ALLOWED * max(few, seconds(work, short)), (unit, few, many)
