"""A model whose vectors are kept in a file, so that a benchmark which is run again embeds nothing twice."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path


class Kept:
    """An embedder that asks another one only for texts it has not seen, and remembers its vectors between runs."""

    def __init__(self, model: Any, folder: Path | None = None) -> None:
        self.name: str = model.name
        self.dimensions: int = model.dimensions
        self.max_tokens: int = model.max_tokens
        self._model = model
        self._path = (folder or user_cache_path("engram") / "benchmarks") / f"{model.name}.npz"
        self._known: dict[str, NDArray[np.float32]] = {}
        if self._path.exists():
            with np.load(self._path) as kept:
                self._known = dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))
        self._size = len(self._known)

    def embed(self, texts: Sequence[str], kind: Literal["passage", "query"] = "passage") -> NDArray[np.float32]:
        """One vector a text, as the model gives it."""
        keys = [f"{kind}:{hashlib.sha256(text.encode()).hexdigest()}" for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if missing:
            self._known |= zip(missing, self._model.embed(list(missing.values()), kind), strict=True)
        return np.stack([self._known[key] for key in keys])

    def keep(self) -> None:
        """Write what is new to the file."""
        if len(self._known) > self._size:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self._path, keys=np.array(list(self._known)), vectors=np.stack(list(self._known.values())))
            self._size = len(self._known)
