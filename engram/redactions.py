"""The redaction list: ids of erased events in a file outside the database, for the day an older backup is restored.

A line an event, on disk before the event is erased: `{"tenant_id": ..., "event_id": ...}` and when. It holds no words,
and is never shortened.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from engram import ids
from engram.errors import InvalidInput, Unavailable

START: Final = '{"tenant_id": '  # of every line


def append(path: Path, tenant_id: str, event_ids: Iterable[str]) -> None:
    """Add events to the list, on disk when this returns; Unavailable where that cannot be."""
    at = datetime.now(UTC).isoformat()
    lines = [json.dumps({"tenant_id": tenant_id, "event_id": event_id, "at": at}) for event_id in event_ids]
    block = ("\n" + "\n".join(lines) + "\n").encode()
    try:
        with path.open("ab", buffering=0) as file:
            # One write a call: lines of several processes stand beside each other, never within.
            written = file.write(block)
            os.fsync(file.fileno())
    except OSError as error:
        raise Unavailable(f"the redaction list cannot be written: {error.strerror}") from None
    if written != len(block):  # a disk that fills takes what fits, and says so only to the next write
        raise Unavailable("the redaction list cannot be written: its last line was cut, for want of room")


def read(path: Path, tenant_id: str, *, missing_ok: bool = False) -> list[str]:
    """The events of a tenant that the list names, each once; InvalidInput for a file that is no such list.

    `missing_ok` takes a list that is not there yet for an empty one. A line that was cut when it was written is passed
    over: its event was not erased.
    """
    found: dict[str, None] = {}
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip() or _is_cut(line.rstrip()):
                    continue
                try:
                    said = json.loads(line)
                    event_id = ids.parse_id(said["event_id"], "event_id")
                    own = said["tenant_id"] == tenant_id
                except (ValueError, KeyError, TypeError, RecursionError):
                    raise InvalidInput("path", "a redaction list", f"something else in line {number}") from None
                if own:
                    found[event_id] = None
    except (OSError, UnicodeDecodeError) as error:
        if missing_ok and isinstance(error, FileNotFoundError):
            return []
        raise InvalidInput("path", "a redaction list", "a file that cannot be read") from None
    return list(found)


def _is_cut(line: str) -> bool:
    """Whether a line is the beginning of one, which is what a disk without room for more has of it. Pure."""
    return (line.startswith(START) or START.startswith(line)) and not line.endswith("}")
