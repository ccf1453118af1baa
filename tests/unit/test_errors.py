"""Errors leave their process and come back the same: a pool of processes hands them over pickled."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from engram import errors
from engram.errors import EngramError

MADE: dict[type[EngramError], EngramError] = {
    errors.InvalidInput: errors.InvalidInput("limit", "a whole number", "a text"),
    errors.LimitExceeded: errors.LimitExceeded("fact", 20_000, 20_001, "bytes"),
    errors.StaleStream: errors.StaleStream(3, 4),
    errors.UnknownOutcome: errors.UnknownOutcome("a-key"),
    errors.RateLimited: errors.RateLimited(retry_after=1.5, status=429),
}
"""Errors whose class asks for more than a text."""


def below(kind: type[EngramError]) -> Iterator[type[EngramError]]:
    yield kind
    for one in kind.__subclasses__():
        yield from below(one)


def pickled(error: EngramError, protocol: int) -> Any:
    return pickle.loads(pickle.dumps(error, protocol))


@pytest.mark.parametrize("kind", sorted(below(EngramError), key=lambda kind: kind.__name__))
def test_an_error_is_the_same_after_a_journey(kind: type[EngramError]) -> None:
    error = MADE.get(kind) or kind("what happened", place="here")
    error.add_note("on the way")
    journeys = [pickled(error, protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for same in (*journeys, copy.copy(error), copy.deepcopy(error)):
        assert type(same) is kind
        assert same is not error
        assert (str(same), same.args, same.facts, same.code) == (str(error), error.args, error.facts, error.code)
        assert same.__notes__ == ["on the way"]
        assert all(getattr(same, name) == fact for name, fact in error.facts.items())


@pytest.mark.parametrize("told", [-5, -0.1, math.nan, math.inf, -math.inf, "soon", "7", Decimal(7), [1], object()])
def test_what_is_no_number_of_seconds_is_no_pause(told: Any) -> None:
    assert errors.RateLimited(retry_after=told).retry_after is None


@pytest.mark.parametrize("told", [0, 0.0, 0.5, 7, 86_400, 10**400])
def test_a_pause_is_kept_as_it_was_told(told: float) -> None:
    assert errors.Unavailable(retry_after=told).retry_after == told


def test_an_error_is_itself_where_docstrings_are_left_out() -> None:
    said = "\n".join((
        "from engram import errors",
        "kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]",
        "of = dict(InvalidInput=('k', 'a key'), LimitExceeded=('k', 1, 2), StaleStream=(3, 4), UnknownOutcome=('k',))",
        "print(*(f'{kind.__name__}: {kind(*of.get(kind.__name__, ()))}' for kind in kinds), sep='\\n')",
    ))  # fmt: skip
    ran = subprocess.run([sys.executable, "-OO", "-c", said], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert "LeaseLost: lease lost" in lines
    assert "UnknownOutcome: unknown outcome (key k)" in lines
    assert all(line.partition(": ")[2] for line in lines)
