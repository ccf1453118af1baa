"""Embedders: how text becomes a vector, one way per file, and the checks every vector passes before it is believed."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, runtime_checkable

from engram.embedding import local, none
from engram.errors import EngramError, SettingsError, Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

TextKind = Literal["passage", "query"]

MAX_DIMENSIONS: Final = 4_000  # what an index over halfvec can hold
MIN_NORM: Final = 1e-6
MAX_NORM: Final = 1e6
BATCH: Final = 100
CACHE_SIZE: Final = 10_000
DRIFT_TEXTS: Final = 3  # so many texts of different words with one vector: the model is not what it was


@runtime_checkable
class Embedder(Protocol):
    """What Engram asks of an embedding model: a name, a length, and vectors for texts in their order."""

    @property
    def name(self) -> str:
        """The model's name; name and dimensions together say which vectors may be compared."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of every vector."""
        ...

    @property
    def max_tokens(self) -> int | None:
        """The model's window, or None when there is none."""
        ...

    def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """One vector a text, in the order of the texts."""
        ...


@runtime_checkable
class WeighsWords(Protocol):
    """An embedder whose query vector can weigh the words of the question."""

    def embed_query(self, text: str, weights: Mapping[str, float]) -> Vectors:
        """The vector of a question, with each word (casefolded) counted by its weight."""
        ...


BUILT_IN: Final[Mapping[str, Callable[[], Embedder | None]]] = {"wordllama": local.load, "none": none.load}


def resolve(embedder: str | Embedder | None) -> Embedder | None:
    """The embedder of a setting or an argument; None means that there are to be no vectors."""
    if embedder is None:
        return None
    if isinstance(embedder, str):
        if embedder not in BUILT_IN:
            raise SettingsError(f"embedding_model: expected one of {', '.join(BUILT_IN)}, or an object with embed()")
        return BUILT_IN[embedder]()
    if not isinstance(embedder, Embedder):
        raise SettingsError("embedder: expected name, dimensions, max_tokens and embed(texts, kind)")
    if isinstance(embedder.dimensions, bool) or not isinstance(embedder.dimensions, int):
        raise SettingsError("embedder: dimensions must be a whole number")
    if not 1 <= embedder.dimensions <= MAX_DIMENSIONS:
        raise SettingsError(
            f"embedder: between 1 and {MAX_DIMENSIONS} dimensions can be indexed, found {embedder.dimensions}"
        )
    if not isinstance(embedder.name, str) or not 1 <= len(embedder.name) <= 200:
        raise SettingsError("embedder: name must be a text of 1 to 200 characters")
    return embedder


def model_id(embedder: Embedder) -> int:
    """The number the database knows a model by: the same wherever name and dimensions are."""
    digest = hashlib.sha256(f"{embedder.name}:{embedder.dimensions}".encode()).digest()
    return int.from_bytes(digest[:8], "big") & (2**63 - 1) or 1


def to_sql(vector: Sequence[float] | Vectors) -> str:
    """The text form of a vector, to be cast to halfvec."""
    values = vector.tolist() if hasattr(vector, "tolist") else vector
    return "[" + ",".join([f"{value:.6g}" for value in values]) + "]"


def checked(embedder: Embedder, texts: Sequence[str], kind: TextKind) -> Vectors:
    """Unit vectors for texts, one each and in their order; Unavailable when the model's answer cannot be trusted."""
    import numpy as np

    if not texts:
        return np.empty((0, embedder.dimensions), dtype=np.float32)
    parts = [_ask(embedder, texts[start : start + BATCH], kind) for start in range(0, len(texts), BATCH)]
    vectors = np.concatenate(parts)
    # Word order alone may leave a static model's vector as it is, other words may not.
    different = len({frozenset(text.casefold().split()) for text in texts})
    if different >= DRIFT_TEXTS and (vectors == vectors[0]).all():
        raise _failed("the same vector for different texts", "space_drift")
    return vectors


def _ask(embedder: Embedder, texts: Sequence[str], kind: TextKind) -> Vectors:
    try:
        answer = embedder.embed(texts, kind)
    except EngramError:
        raise
    except Exception as error:
        raise _failed("an error instead of vectors") from error
    return unit_vectors(answer, len(texts), embedder.dimensions)


def unit_vectors(answer: Any, count: int, dimensions: int) -> Vectors:
    """An embedder's answer as `count` vectors of length 1, or Unavailable saying what is wrong with it.

    An answer is an array, a sequence of vectors, or a sequence of mappings with `index` and `embedding`, which are put
    in the order of their index: a provider may permute its answers, and a shifted vector would describe another text.
    """
    import numpy as np

    rows = _in_order(answer, count)
    try:
        raw = np.asarray(rows)
    except (TypeError, ValueError):
        raise _failed("vectors of different lengths") from None
    if raw.dtype.kind not in "fiu":
        raise _failed("vectors that are not numbers")
    if raw.ndim != 2 or raw.shape[0] != count:
        raise _failed(f"{raw.shape[0] if raw.ndim else 0} vectors for {count} texts")
    if raw.shape[1] != dimensions:
        raise _failed(f"{raw.shape[1]} dimensions instead of {dimensions}")
    exact = raw.astype(np.float64)
    if not np.isfinite(exact).all():
        raise _failed("numbers that are not finite")
    norms = np.linalg.norm(exact, axis=1, keepdims=True)
    if not ((norms >= MIN_NORM) & (norms <= MAX_NORM)).all():
        raise _failed("vectors without a usable length")
    unit: Vectors = (exact / norms).astype(np.float32)
    if not np.isfinite(unit).all() or not (np.abs(np.linalg.norm(unit, axis=1) - 1) < 1e-3).all():
        raise _failed("vectors that do not survive rounding")
    return unit


def _in_order(answer: Any, count: int) -> Any:
    # numpy reads True as 1 and "1" as a number where it is asked to: what is not a number is looked for here.
    if hasattr(answer, "dtype") or not isinstance(answer, Sequence) or isinstance(answer, str):
        return answer
    if answer and isinstance(answer[0], Mapping):
        by_index = {item.get("index"): item.get("embedding") for item in answer if isinstance(item, Mapping)}
        if len(answer) != count or set(by_index) != set(range(count)):
            raise _failed("vectors whose order is not known")
        answer = [by_index[index] for index in range(count)]
    for vector in answer:
        if isinstance(vector, Sequence) and any(isinstance(value, bool | str | None) for value in vector):
            raise _failed("vectors that are not numbers")
    return answer


def _failed(found: str, reason: str = "embedding_failed") -> Unavailable:
    return Unavailable(f"the embedding model answered with {found}", retry_after=1.0, reason=reason)


class CachedEmbedder:
    """An embedder whose answers are checked, and remembered for as long as the process lives."""

    def __init__(self, embedder: Embedder, size: int = CACHE_SIZE) -> None:
        self.embedder = embedder
        self.name, self.dimensions, self.max_tokens = embedder.name, embedder.dimensions, embedder.max_tokens
        self.model_id = model_id(embedder)
        self._size = size
        self._known: OrderedDict[tuple[str, bytes], Any] = OrderedDict()
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        """One checked unit vector a text; the model is asked only for texts it has not seen."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        keys: list[tuple[str, bytes]] = [(kind, hashlib.sha256(text.encode()).digest()) for text in texts]
        with self._lock:
            found = {key: self._known[key] for key in keys if key in self._known}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            found.update(zip(missing, checked(self.embedder, list(missing.values()), kind), strict=True))
        self._remember(found)
        return np.stack([found[key] for key in keys])

    def embed_query(self, text: str, weights: Mapping[str, float] | None = None) -> Vectors:
        """The vector of a question; its words are weighed where the model can do that."""
        if weights and isinstance(self.embedder, WeighsWords):
            try:
                answer = self.embedder.embed_query(text, weights)
            except Exception as error:
                raise _failed("an error instead of a vector") from error
            first: Vectors = unit_vectors(answer[None, :], 1, self.dimensions)[0]
            return first
        vector: Vectors = self.embed([text], "query")[0]
        return vector

    @property
    def weighs_words(self) -> bool:
        """Whether the model can weigh the words of a question."""
        return isinstance(self.embedder, WeighsWords)

    def _remember(self, found: Mapping[tuple[str, bytes], Any]) -> None:
        with self._lock:
            for key, vector in found.items():
                self._known[key] = vector
                self._known.move_to_end(key)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
