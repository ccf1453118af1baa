"""Transcripts: conversations in any of the forms that `engram ingest` reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from engram import ingest
from engram.errors import InvalidInput
from engram.ingest import Batch
from engram.portable.files import File

NAME: Final = "transcript"


def recognises(file: File) -> bool:
    """Whether it holds messages with roles, or LoCoMo's layout."""
    if not file.is_json:
        return False
    try:
        ingest.format_of(file.first, file.path.name)
    except InvalidInput:
        return False
    return True


def read(file: File, owner: Sequence[str | None]) -> Iterator[Batch]:
    """The messages in batches of one session each, as events of the scope that the owner's names are of."""
    return ingest.read(file.path, owner=owner)
