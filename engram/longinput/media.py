"""What a long text is, as its name or its first lines tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, Literal, get_args

from engram.longinput import outlines
from engram.regex import regex

Media = Literal["text", "markdown", "code", "diff", "jsonl"]
MEDIA: Final[tuple[str, ...]] = get_args(Media)

_LOOKED_AT: Final = 20_000
_LINES: Final = 20
_CODE_LINES: Final = 0.5
_ENDINGS: Final[dict[Media, str]] = {
    "markdown": "md markdown mdown mkd mdx",
    "diff": "diff patch",
    "jsonl": "jsonl ndjson",
    "code": "py pyi js jsx mjs cjs ts tsx go rs java c h cc cpp cxx hpp cs kt kts swift rb php scala sh bash sql lua r",
}
_MEDIA_OF: Final[dict[str, Media]] = {
    ending: media for media, endings in _ENDINGS.items() for ending in endings.split()
}
_DIFF = regex(r"(?:diff --git |Index: |commit [0-9a-f]{40}\b|From [0-9a-f]{40} |--- [^\r\n]{1,400}\r?\n\+\+\+ )")
_HUNK = regex(r"(?m)^(?:@@ -\d|diff --git )")
_MARKDOWN = regex(
    r"(?m)^ {0,3}#{1,6} \S|^ {0,3}(?:```|~~~)|\[[^\]\r\n]{1,200}\]\([^)\s]{1,400}\)|^\|[ :-]{3,200}\|"
    r"|\*\*[^*\r\n]{1,200}\*\*"
)
_CODE_LINE = regex(
    r"[^\r\n]*[;{}():,\[\]]\s*\Z|\s+(?:return|self|if|for|let|var|const)\b|(?:import|from|use|package"
    r"|#include)\b|\s*(?:#|//|\*|--|@)"
)


def media_of(source: str | Path) -> Media:
    """What a text is by its first characters, or a file by its name; `text` where nothing tells."""
    if isinstance(source, Path):
        return _MEDIA_OF.get(source.suffix[1:].lower(), "text")
    seen = source[:_LOOKED_AT]
    if _DIFF.match(seen) and _HUNK.search(seen):
        return "diff"
    lines = [line for line in outlines.LINE.findall(seen) if not line.isspace()]
    if len(source) > _LOOKED_AT:
        lines = lines[:-1] or lines
    if lines and all(map(_is_record, lines[:_LINES])):
        return "jsonl"
    definitions = len(outlines.of_code(seen, outlines.Before(), 1)) - 1
    code = sum(1 for line in lines if _CODE_LINE.match(line))
    if lines and definitions and code / len(lines) > _CODE_LINES and not seen.lstrip().startswith(("# ", "```")):
        return "code"
    return "markdown" if len(_MARKDOWN.findall(seen)) > 1 else "text"


def _is_record(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False
