"""How alike two short statements are in what they are about, by the vectors of their words.

Rules read what a statement says has become of something ("no longer", "from now on", "again"); which of the things that
were told it speaks of, people say in words of their own. Those two need not share a word: "The rabbit is gone" is about
what "My pet is a rabbit" is about. The vectors are static, of the package that the local embedder reads, whatever
embedder is chosen: a table of words, no model that is called.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Final

from engram.embedding import local

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_REMEMBERED: Final = 4_096  # of 256 numbers each
_DECIMALS: Final = 4  # what the last bits of a product are is no matter of meaning
_lock = Lock()
_vectors: OrderedDict[str, NDArray[np.float32] | None] = OrderedDict()


def load() -> None:
    """Read the table of words, once a process: a few hundred milliseconds that nobody should wait for in between."""
    _vectors_of(["word"])


def is_loaded() -> bool:
    """Whether the table of words has been read."""
    return bool(_vectors)


def likeness(statement: str, others: Sequence[str]) -> list[float]:
    """The cosine of each of some statements with one, all as compared text; 0 for a text without a word.

    Raises Unavailable where the package of the vectors is missing.
    """
    one, *rest = _vectors_of([statement, *others])
    if one is None:
        return [0.0] * len(others)
    return [0.0 if other is None else round(float(one @ other), _DECIMALS) for other in rest]


def _vectors_of(texts: Sequence[str]) -> list[NDArray[np.float32] | None]:
    """The vectors of some texts, of length 1; those that are not remembered are made at once."""
    with _lock:
        known = {text: _vectors[text] for text in texts if text in _vectors}
    new = [text for text in dict.fromkeys(texts) if text not in known]
    if new:
        known |= _made(new)
    with _lock:
        for text in new:
            _vectors[text] = known[text]
        while len(_vectors) > _REMEMBERED:
            _vectors.popitem(last=False)
    return [known[text] for text in texts]


def _made(texts: Sequence[str]) -> dict[str, NDArray[np.float32] | None]:
    import numpy as np

    found = local.load().embed(texts)
    lengths = np.linalg.norm(found, axis=1)
    return {
        text: vector / length if length > 0.0 else None
        for text, vector, length in zip(texts, found, lengths, strict=True)
    }


__all__ = ["is_loaded", "likeness", "load"]
