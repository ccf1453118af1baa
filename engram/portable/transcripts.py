"""Transcripts: conversations in any of the forms that `engram ingest` reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from engram import ingest
from engram.errors import InvalidInput
from engram.ingest import Batch, Found, Refuse
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


def read(
    file: File, owner: Sequence[str | None], session_id: str | None, check: Callable[[Found], object], refuse: Refuse
) -> Iterator[Batch]:
    """The messages in batches of one session each, as events of the scope that the owner's names are of.

    `session_id` is the session of messages that name none. What cannot be read or does not pass `check` is refused.
    """
    if file.first == []:
        return
    chosen = ingest.format_of(file.first, file.path.name)  # of the first line that can be read
    yield from ingest.read(file.path, format=chosen, session_id=session_id, owner=owner, check=check, refuse=refuse)
