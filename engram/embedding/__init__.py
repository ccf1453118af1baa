"""Embedders: how text becomes a vector, one way per file, and the checks every vector passes before it is believed."""

from __future__ import annotations

import hashlib
import inspect
import threading
from asyncio import CancelledError
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, runtime_checkable

from engram.embedding import loaded, local, none, remote
from engram.embedding.gathering import BAD_ANSWER, MOST_TEXTS
from engram.errors import EngramError, ModelRejected, RateLimited, SettingsError, Unavailable
from engram.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engram.arrays import Halves, HalvesList

    Vectors = NDArray[np.float32]

TextKind = Literal["passage", "query"]

MAX_DIMENSIONS: Final = 4_000  # what an index over halfvec can hold
DIGITS: Final = 6  # of the numbers of a vector
SMALL: Final = 1e-6  # what is smaller, times a power of ten, may be no double
MIN_NORM: Final = 1e-6
MAX_NORM: Final = 1e6
CACHE_SIZE: Final = 10_000
DRIFT_TEXTS: Final = 3  # so many texts of different words with one vector: the model is not what it was
PROBES: Final = (
    "The cat sleeps on the sofa.",
    "Interest rates rose by half a point in March.",
    "Bitte rufen Sie mich morgen früh an.",
)
SAME_MODEL: Final = 0.999  # cosine of a probe with its stored vector under which the model is another
TENANTS: Final = 10_000  # whose models a process keeps in mind


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


@runtime_checkable
class ReadsWhole(Protocol):
    """An embedder that reads texts of any length, in windows of its own."""

    def is_long(self, text: str) -> bool:
        """Whether a text takes more than one window."""
        ...


BUILT_IN: Final[Mapping[str, Callable[[], Embedder | None]]] = {"wordllama": local.load, "none": none.load}


def resolve(embedder: str | Embedder | None, settings: Settings | None = None) -> Embedder | None:
    """The embedder of a setting or an argument; None means that there are to be no vectors."""
    if embedder is None:
        return None
    if isinstance(embedder, str):
        if embedder in BUILT_IN:
            return BUILT_IN[embedder]()
        if loaded.is_one(embedder):
            return loaded.load(embedder)
        if "/" not in embedder and not remote.is_listed(embedder):
            names = ", ".join(BUILT_IN)
            raise SettingsError(
                f"embedding_model: expected one of {names}, a model that runs here such as"
                " onnx:BAAI/bge-small-en-v1.5, a provider's such as openai/text-embedding-3-small, or an object"
                " with embed()"
            )
        return remote.load(embedder, settings)
    if not isinstance(embedder, Embedder):
        raise SettingsError("embedder: expected name, dimensions, max_tokens and embed(texts, kind)")
    if inspect.iscoroutinefunction(embedder.embed):
        raise SettingsError("embedder: embed must give the vectors, and is one to be awaited (async def)")
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


def windows(text: str, tokens: int) -> list[str]:
    """A text cut, at white space where there is some, into parts that a model of so many tokens reads whole. Pure.

    No tokenizer is asked: two characters of ASCII, or one byte of anything else, are taken for a token, which is more
    than they are.
    """
    if len(text.encode("utf-8", "replace")) <= tokens:
        return [text]
    parts, start, size, gap = [], 0, 0, 0
    for place, character in enumerate(text):
        size += 1 if character.isascii() else 2 * len(character.encode("utf-8", "replace"))
        if size > 2 * tokens and place > start:
            end = gap if gap > start else place
            parts.append(text[start:end])
            start = end
            size = sum(1 if one.isascii() else 2 * len(one.encode("utf-8", "replace")) for one in text[end : place + 1])
        if character.isspace():
            gap = place + 1
    parts.append(text[start:])
    return [part for part in parts if part.strip()] or [text]


def halves(vector: Sequence[float] | Vectors) -> Halves:
    """A vector as the server keeps it: the first six digits of each number, in half precision."""
    from engram.arrays import Halves  # with it comes the driver

    return Halves(len(vector), _in_half(vector))


def all_halves(vectors: Sequence[Sequence[float] | Vectors]) -> HalvesList:
    """The same of vectors of one size."""
    from engram.arrays import HalvesList

    return HalvesList(len(vectors[0]) if len(vectors) else 0, _in_half(vectors))


def _in_half(numbers: Any) -> bytes:
    import numpy as np

    return _in_first_digits(np.asarray(numbers, dtype=np.float32)).astype(">f2").tobytes()


def _in_first_digits(numbers: Vectors) -> Vectors:
    """Numbers of single precision, rounded to their first digits."""
    import numpy as np

    exact = numbers.astype(np.float64)
    scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.maximum(np.abs(exact), SMALL))))
    rounded: Vectors = (np.rint(exact * scale) / scale).astype(np.float32)
    return rounded


def checked(embedder: Embedder, texts: Sequence[str], kind: TextKind) -> Vectors:
    """Unit vectors for texts, one each and in their order; Unavailable when the model's answer cannot be trusted."""
    import numpy as np

    if not texts:
        return np.empty((0, embedder.dimensions), dtype=np.float32)
    parts = [_ask(embedder, texts[start : start + MOST_TEXTS], kind) for start in range(0, len(texts), MOST_TEXTS)]
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
    except (Exception, CancelledError) as error:
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
    norms = np.linalg.norm(exact, axis=1, keepdims=True)
    if not (norms >= MIN_NORM).all() or not (norms <= MAX_NORM).all():  # what is not finite has no length
        finite = np.isfinite(exact).all()
        raise _failed("vectors without a usable length" if finite else "numbers that are not finite")
    unit: Vectors = (exact / norms).astype(np.float32)
    if not (np.abs(np.linalg.norm(unit, axis=1) - 1) < 1e-3).all():
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


def _failed(found: str, reason: str = BAD_ANSWER) -> Unavailable:
    return Unavailable(f"the embedding model answered with {found}", retry_after=1.0, reason=reason)


class CachedEmbedder:
    """An embedder whose answers are checked, and remembered for as long as the process lives."""

    def __init__(self, embedder: Embedder, size: int = CACHE_SIZE) -> None:
        self.embedder = embedder
        self.weighs_words = isinstance(embedder, WeighsWords)
        """Whether the model can weigh the words of a question."""
        self._reads_whole: ReadsWhole | None = embedder if isinstance(embedder, ReadsWhole) else None
        self.name = embedder.name
        self._size = size
        self._known: OrderedDict[tuple[str, bytes], Any] = OrderedDict()
        self._lock = threading.Lock()
        self._model_id: int | None = None
        self.probes: Vectors | None = None

    @property
    def dimensions(self) -> int:
        """The length of every vector; a provider's model is asked for it where it is not measured yet."""
        return self.embedder.dimensions

    @property
    def max_tokens(self) -> int | None:
        """The model's window, or None when there is none; a model that runs in this process is loaded to tell."""
        return self.embedder.max_tokens

    @property
    def model_id(self) -> int:
        """The number the database knows the model by."""
        if self._model_id is None:
            self._model_id = model_id(self.embedder)
        return self._model_id

    @property
    def is_measured(self) -> bool:
        """Whether the dimensions are known without asking a provider."""
        return getattr(self.embedder, "is_measured", True)

    @property
    def silent(self) -> Unavailable | None:
        """Why this process cannot use the model, where it cannot."""
        return self.embedder.error if isinstance(self.embedder, Silent) else None

    @property
    def is_named(self) -> bool:
        """Whether any process can load this model by its name."""
        return isinstance(self.embedder, local.StaticEmbedder | loaded.LoadedEmbedder | remote.RemoteEmbedder)

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
            found.update(zip(missing, self._in_windows(list(missing.values()), kind), strict=True))
        self._remember(found)
        return np.stack([found[key] for key in keys])

    def embed_each(self, texts: Sequence[str]) -> list[Any]:
        """A vector a text, None for each the model cannot embed; Unavailable when it is the model that is out."""
        if not texts:
            return []
        try:
            return list(self.embed(texts))
        except (RateLimited, ModelRejected):
            raise
        except Unavailable as error:
            if error.facts.get("reason") != BAD_ANSWER:
                raise
        # One bad text fails its whole batch. Whether it was the text shows in one that is known to be good.
        checked(self.embedder, PROBES[:1], "passage")
        if len(texts) == 1:
            return [None]
        half = len(texts) // 2
        return [*self.embed_each(texts[:half]), *self.embed_each(texts[half:])]

    def embed_query(self, text: str, weights: Mapping[str, float] | None = None) -> Vectors:
        """The vector of a question; its words are weighed where the model can do that."""
        if weights and self.weighs_words:
            weighing: Any = self.embedder
            try:
                answer = weighing.embed_query(text, weights)
            except Exception as error:
                raise _failed("an error instead of a vector") from error
            first: Vectors = unit_vectors(answer[None, :], 1, self.dimensions)[0]
            return first
        vector: Vectors = self.embed([text], "query")[0]
        return vector

    def embed_questions(
        self, questions: Sequence[tuple[str, Mapping[str, float] | None]], others: Sequence[str]
    ) -> tuple[list[Vectors], Vectors]:
        """The vectors of questions, each with the weights of its words, and those of texts they are compared with.

        One call of a provider at most. The texts are embedded as questions are, where a provider makes a difference:
        two kinds would be two calls.
        """
        if self.weighs_words and any(weights for _, weights in questions):
            return [self.embed_query(text, weights) for text, weights in questions], self.embed(others)
        vectors = self.embed([*(text for text, _ in questions), *others], "query")
        return list(vectors[: len(questions)]), vectors[len(questions) :]

    def probe(self) -> Vectors:
        """The vectors of the texts by which a model is recognised; kept in `probes`."""
        self.probes = self.embed(PROBES)
        return self.probes

    def is_long(self, text: str) -> bool:
        """Whether a text is longer than the model reads at once, so that its vector is the mean of its windows."""
        if self._reads_whole is not None:
            return self._reads_whole.is_long(text)
        return self.max_tokens is not None and len(windows(text, self.max_tokens)) > 1

    def _in_windows(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        import numpy as np

        most = self.max_tokens
        if most is None or self._reads_whole is not None:
            return checked(self.embedder, texts, kind)
        parts = [windows(text, most) for text in texts]
        vectors = checked(self.embedder, [part for several in parts for part in several], kind)
        if len(vectors) == len(texts):
            return vectors
        ends = np.cumsum([len(several) for several in parts])
        means = [vectors[end - len(several) : end].mean(axis=0) for end, several in zip(ends, parts, strict=True)]
        return unit_vectors(np.stack(means), len(texts), vectors.shape[1])

    def _remember(self, found: Mapping[tuple[str, bytes], Any]) -> None:
        with self._lock:
            for key, vector in found.items():
                self._known[key] = vector
                self._known.move_to_end(key)
            while len(self._known) > self._size:
                self._known.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Model:
    """A tenant's row of an embedding model; `probes` are the vectors it is recognised by, where they were read."""

    model_id: int
    name: str
    dimensions: int
    state: str = "active"
    thresholds: Mapping[str, float] = field(default_factory=dict)
    probed: bool = False
    probes: Sequence[str] = ()


class Silent:
    """In the place of a model that this process cannot use: it has its name, and says why whenever it is asked."""

    max_tokens: int | None = None

    def __init__(self, name: str, dimensions: int, error: Unavailable) -> None:
        self.name, self.dimensions, self.error = name, dimensions, error

    def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:  # noqa: ARG002
        """Never a vector."""
        raise self.error


class Embedders:
    """The models of a process: the one it was given, and whichever its tenants use.

    A tenant's memories have the vectors of one model. Which one says the tenant's row, not the setting of a process:
    so a change of model reaches every process by itself.
    """

    def __init__(self, settings: Settings, given: Embedder | None) -> None:
        self.settings = settings
        self.given = None if given is None else CachedEmbedder(given)
        self._loaded: dict[str, CachedEmbedder] = {} if self.given is None else {self.given.name: self.given}
        self._namesakes: dict[tuple[str, int], CachedEmbedder] = {}
        self._in_use: OrderedDict[str, CachedEmbedder] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, tenant_id: str) -> CachedEmbedder | None:
        """The model that a tenant used when this process last looked; None before it has looked."""
        with self._lock:
            return self._in_use.get(tenant_id)

    def forget(self, tenant_id: str) -> None:
        """Look again before the next use: the tenant's model is another one now."""
        with self._lock:
            self._in_use.pop(tenant_id, None)

    def load(self, embedder: str | Embedder) -> CachedEmbedder:
        """A model by its name, or an object, kept for as long as the process lives; SettingsError for neither.

        An object of a known name is another model where its vectors are of another length.
        """
        name = embedder if isinstance(embedder, str) else getattr(embedder, "name", None)
        with self._lock:
            known = self._loaded.get(name) if isinstance(name, str) else None
        if known is not None and (isinstance(embedder, str) or known.embedder is embedder):
            return known
        found = resolve(embedder, self.settings)
        if found is None:
            raise SettingsError("embedding_model: expected a model, found none")
        if known is not None and known.dimensions != found.dimensions:
            with self._lock:
                return self._namesakes.setdefault((found.name, found.dimensions), CachedEmbedder(found))
        with self._lock:
            return self._loaded.setdefault(found.name, CachedEmbedder(found))

    def adopt(self, tenant_id: str, model: Model | None) -> CachedEmbedder | None:
        """The embedder of a tenant's model, recognised by its probes. It may ask a provider: never in a transaction."""
        if model is None:
            return self._measured()
        found, lasts = self._recognised(model)
        if lasts:
            with self._lock:
                self._in_use[tenant_id] = found
                self._in_use.move_to_end(tenant_id)
                while len(self._in_use) > TENANTS:
                    self._in_use.popitem(last=False)
        return found

    def _measured(self) -> CachedEmbedder | None:
        if self.given is not None and self.given.is_named:
            with suppress(Unavailable):
                self.given.probe()
        return self.given

    def _recognised(self, model: Model) -> tuple[CachedEmbedder, bool]:
        with self._lock:
            namesake = self._namesakes.get((model.name, model.dimensions))
        try:
            found = self.load(model.name) if namesake is None else namesake
        except SettingsError:
            why = f"this process cannot load the embedding model {model.name}, which the tenant uses"
            return self._silent(model, ModelRejected(why, retry_after=60.0, reason="model_missing")), True
        if isinstance(found.embedder, remote.RemoteEmbedder):
            found.embedder.expect(model.dimensions)
        try:
            same = found.dimensions == model.dimensions
            if same and found.is_named and model.probes:
                same = is_same_model(model.probes, found.probe())
        except Unavailable as error:
            return self._silent(model, error), False
        if same:
            return found, True
        why = f"the embedding model {model.name} is not the one that made the tenant's vectors: run `engram reembed`"
        return self._silent(model, ModelRejected(why, retry_after=600.0, reason="space_drift")), True

    @staticmethod
    def _silent(model: Model, error: Unavailable) -> CachedEmbedder:
        return CachedEmbedder(Silent(model.name, model.dimensions, error))


def is_same_model(kept: Sequence[str], found: Vectors) -> bool:
    """Whether the vectors of the probes are those that were kept, but for rounding. Pure."""
    import json

    import numpy as np

    before = np.array([json.loads(one) for one in kept], dtype=np.float64)
    if before.shape != found.shape:
        return False
    cosines = (before * found).sum(axis=1) / (np.linalg.norm(before, axis=1) * np.linalg.norm(found, axis=1))
    return bool((cosines >= SAME_MODEL).all())
