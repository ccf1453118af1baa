"""Words are stemmed alike whoever else stems words at the same moment."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from engram.english import claims

WORDS = [f"{stem}{end}" for stem in ("wander", "relat", "hope", "organ", "troubl") for end in
         ("ing", "ed", "ational", "fulness", "ization", "es", "ively")]  # fmt: skip


@pytest.fixture
def hurried() -> Iterator[None]:
    """Threads that change as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hurried")
def test_threads_that_stem_at_once_do_not_mix_their_words() -> None:
    alone = [claims.stem.__wrapped__(word) for word in WORDS]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda _: [claims.stem.__wrapped__(word) for word in WORDS], range(8)))
    assert all(found == alone for found in together)
