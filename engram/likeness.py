"""How alike two short statements are in what they are about, by the vectors of their words.

Rules read what a statement says has become of something ("no longer", "from now on", "again"); which of the things that
were told it speaks of, people say in words of their own. Those two need not share a word: "I code in Zed now" is about
what "I use Neovim as my editor" is about. The vectors are static, of the package that the local embedder reads,
whatever embedder is chosen: a table of words, no model that is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from engram.embedding import local
from engram.errors import Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_REMEMBERED: Final = 4_096  # of 256 numbers each


@lru_cache(maxsize=_REMEMBERED)
def _vector(text: str) -> NDArray[np.float32] | None:
    import numpy as np

    try:
        (found,) = local.load().embed([text])
    except Unavailable:
        return None
    length = float(np.linalg.norm(found))
    return found / length if length > 0.0 else None


def likeness(statement: str, others: Sequence[str]) -> list[float]:
    """The cosine of each of some statements with one, all as compared text.

    It is 0 for a text without a word, and for every one where the package of vectors is missing.
    """
    one = _vector(statement)
    if one is None:
        return [0.0] * len(others)
    vectors = (_vector(other) for other in others)
    return [0.0 if vector is None else float(one @ vector) for vector in vectors]


__all__ = ["likeness"]
