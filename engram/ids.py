"""Ids: UUIDv7 made by the library, and the short form people read."""

from __future__ import annotations

import re
import uuid

import uuid_utils

from engram.errors import InvalidInput

SHORT_ID = re.compile(r"(?:mem|evt)-[0-9a-f]{8}")


def new_id() -> str:
    """A new id: a UUIDv7 in canonical text form, ordered by the time it was made."""
    return str(uuid_utils.uuid7())


def short_id(value: str, prefix: str = "mem") -> str:
    """The form printed for people: the prefix and the *last* eight digits (the first are the clock)."""
    return f"{prefix}-{value[-8:]}"


def is_short(value: str) -> bool:
    """Whether a text is a short id such as `mem-1a2b3c4d`."""
    return SHORT_ID.fullmatch(value) is not None


def parse_id(value: object, field: str = "id") -> str:
    """The canonical text of a UUID; raises InvalidInput for anything else, and for the nil UUID."""
    if not isinstance(value, str):
        raise InvalidInput(field, "a UUID as text", type(value).__name__)
    try:
        parsed = uuid.UUID(value)
    except ValueError:
        raise InvalidInput(field, "a UUID as text", f"{len(value)} characters that are not one") from None
    if parsed.int == 0:
        raise InvalidInput(field, "a UUID other than nil", "the nil UUID")
    return str(parsed)
