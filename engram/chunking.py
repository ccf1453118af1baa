"""The seam to Chonkie, which cuts prose recursively: paragraphs, lines, sentences, words."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

_SENTENCES = [". ", "! ", "? ", ".\n", "。", "！", "？", "; "]


def ends_of(text: str, tokens: int, count: Callable[[str], int]) -> list[int] | None:
    """Where Chonkie would end the chunks of a text, in code points; None where it is missing, fails or loses text."""
    try:
        chunker = _chunker("\n" if "\n" in text else "\r")(tokens, count)
        ends, at = [], 0
        for chunk in chunker.chunk(text):
            if not chunk.text or not text.startswith(chunk.text, at):
                return None
            at += len(chunk.text)
            ends.append(at)
        _forget(chunker)
    except Exception:  # noqa: BLE001 - whatever it stumbles over, there is a plainer cut
        return None
    return ends if at == len(text) else None


@lru_cache(maxsize=2)
def _chunker(newline: str) -> Callable[[int, Callable[[str], int]], Any]:
    from chonkie.chunker.recursive import RecursiveChunker
    from chonkie.types import RecursiveLevel, RecursiveRules

    empty_lines = [newline * 2, "\r\n\r\n"] if newline == "\n" else [newline * 2]
    rules = RecursiveRules(
        [
            RecursiveLevel(delimiters=empty_lines),
            RecursiveLevel(delimiters=[newline]),
            RecursiveLevel(delimiters=list(_SENTENCES)),
            RecursiveLevel(whitespace=True),
        ]
    )
    return lambda tokens, count: RecursiveChunker(tokenizer=count, chunk_size=tokens, rules=rules)  # type: ignore[arg-type]


def _forget(chunker: Any) -> None:
    """Chonkie keeps the texts it has counted, thousands of them: a stream has no use for them."""
    clear = getattr(getattr(type(chunker), "_estimate_token_count", None), "cache_clear", None)
    if clear is not None:
        clear()
