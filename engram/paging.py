"""Cursors: where a list stopped, signed, so that it continues the same question and nothing else.

A cursor is bound to its question (tenant, scopes, filter, order) without holding it: edited, sent by another tenant or
with another question it is InvalidInput, all with the same text.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from engram import inputs
from engram.errors import InvalidInput

VERSION: Final = b"\x01"
TAG_BYTES: Final = 16
MAX_CHARACTERS: Final = 4_096
_PURPOSE: Final = b"engram cursor"


def encode_cursor(position: Sequence[Any], binding: str, key: bytes) -> str:
    """The cursor of a place in a list: the sort values of its last row, signed together with the question."""
    body = VERSION + inputs.canonical_json([_written(value) for value in position], "position")
    return base64.urlsafe_b64encode(_tag(body, binding, key) + body).rstrip(b"=").decode()


def check_cursor(cursor: object) -> str:
    """A text that may be a cursor: what can be seen without knowing the question it belongs to."""
    if not isinstance(cursor, str):
        raise InvalidInput("cursor", "a cursor of an earlier page", type(cursor).__name__)
    signed = _decoded(cursor)
    if signed[TAG_BYTES : TAG_BYTES + 1] != VERSION:
        raise _not_ours()
    return str.__str__(cursor)


def decode_cursor(cursor: object, binding: str, key: bytes) -> tuple[Any, ...]:
    """The place a cursor stands for; InvalidInput unless it was made here for the same question."""
    signed = _decoded(check_cursor(cursor))
    tag, body = signed[:TAG_BYTES], signed[TAG_BYTES:]
    if not hmac.compare_digest(tag, _tag(body, binding, key)):
        raise _not_ours()
    return tuple(_read(value) for value in inputs.load_json(body[1:]))


def _decoded(cursor: str) -> bytes:
    if len(cursor) > MAX_CHARACTERS or not cursor.isascii():
        raise _not_ours()
    try:
        found = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _not_ours() from None
    # Base64 leaves spare bits: only the one spelling that was given out is a cursor.
    if base64.urlsafe_b64encode(found).rstrip(b"=").decode() != cursor:
        raise _not_ours()
    return found


def _not_ours() -> InvalidInput:
    return InvalidInput("cursor", "a cursor that an earlier page of the same list gave", "another text")


def _tag(body: bytes, binding: str, key: bytes) -> bytes:
    asked = hashlib.sha256(binding.encode()).digest()  # of fixed length, so that nothing can move between the parts
    return hmac.digest(key, _PURPOSE + asked + body, "sha256")[:TAG_BYTES]


def _written(value: Any) -> Any:
    return {"time": value.isoformat()} if isinstance(value, datetime) else value


def _read(value: Any) -> Any:
    return datetime.fromisoformat(value["time"]) if isinstance(value, dict) else value
