"""What kind of text a chunk is, by its words, and the type of memory that makes of it."""

from __future__ import annotations

import re
from typing import Final, Literal

from engram.values import MemoryType

ChunkKind = Literal[
    "legal_clause",
    "requirement",
    "constraint",
    "decision",
    "question",
    "tool_result",
    "source_doc",
    "instruction",
    "background_context",
]

MEMORY_TYPE_OF: Final[dict[ChunkKind, MemoryType | None]] = {
    "legal_clause": "constraint",
    "requirement": "constraint",
    "constraint": "constraint",
    "decision": "decision",
    "question": None,
    "tool_result": "tool_result",
    "source_doc": "semantic",
    "instruction": "procedural",
    "background_context": "semantic",
}
"""The type of the memories that are made of a chunk; a question makes none."""

_CLAUSE = re.compile(r"\b(?:Section|Article|Clause|SECTION|ARTICLE|CLAUSE) \d")


def kind_of(text: str, heading: str | None = None, media: str = "text") -> ChunkKind:
    """The kind of a chunk: the first rule that fits decides."""
    if media in ("code", "diff"):
        return "source_doc"
    return "legal_clause" if _CLAUSE.search(heading or text[:200]) else "background_context"
