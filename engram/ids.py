"""Ids: UUIDv7 made by the library, and the short form people read."""

from __future__ import annotations

import hashlib
import re
import uuid
from functools import lru_cache

import uuid_utils

from engram.errors import InvalidInput

SHORT_DIGITS = 8  # of the last, at least
SHORT_ID = re.compile(r"(?:mem|evt)-[0-9a-f]{8}(?:[0-9a-f]{4}){0,6}")  # more digits where eight are ambiguous


def new_id() -> str:
    """A new id: a UUIDv7 in canonical text form, ordered by the time it was made."""
    return str(uuid_utils.uuid7())


@lru_cache(maxsize=4_096)
def id_of(event_id: str, *what: object) -> str:
    """The id of something that comes of an event: a UUIDv7 with the event's clock, the same whenever it is made."""
    made = bytearray(uuid.UUID(event_id).bytes[:6])
    made += hashlib.sha256("/".join(map(str, (event_id, *what))).encode()).digest()[:10]
    made[6], made[8] = 0x70 | made[6] & 0x0F, 0x80 | made[8] & 0x3F
    return str(uuid.UUID(bytes=bytes(made)))


def redigit(value: str, digit: str) -> str:
    """An id as one of another projection: the version digit tells them apart, `7` is that of the live ones."""
    return value[:14] + digit + value[15:]


def short_id(value: str, prefix: str = "mem") -> str:
    """The form printed for people: the prefix and the *last* eight digits (the first are the clock)."""
    return f"{prefix}-{value[-SHORT_DIGITS:]}"


def is_short(value: str) -> bool:
    """Whether a text is a short id such as `mem-1a2b3c4d`."""
    return SHORT_ID.fullmatch(value) is not None


def parse_id(value: object, field: str = "id", expected: str = "a UUID as text") -> str:
    """The canonical text of a UUID; raises InvalidInput for anything else, and for the nil UUID."""
    if not isinstance(value, str):
        raise InvalidInput(field, expected, type(value).__name__)
    try:
        parsed = uuid.UUID(value)
    except ValueError:
        raise InvalidInput(field, expected, f"{len(value)} characters that are not one") from None
    if parsed.int == 0:
        raise InvalidInput(field, "a UUID other than nil", "the nil UUID")
    return str(parsed)
