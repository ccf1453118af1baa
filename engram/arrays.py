"""Lists as parameters of statements, each written in one piece and not item by item."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format

BYTEA: Final = 17  # the type of bytea, and of its arrays
BYTEA_ARRAY: Final = 1001


class Texts:
    """Texts, or anything that is cast from text, as one parameter: the statement says the type, as in `::uuid[]`."""

    __slots__ = ("items",)

    def __init__(self, items: Sequence[str | None]) -> None:
        self.items = items


class Blobs:
    """Bytes as one parameter of type bytea[], sent as they are."""

    __slots__ = ("items",)

    def __init__(self, items: Sequence[bytes]) -> None:
        self.items = items


class _TextsDumper(Dumper):
    def dump(self, obj: Texts) -> bytes:
        return literal(obj.items).encode()


class _BlobsDumper(Dumper):
    format = Format.BINARY
    oid = BYTEA_ARRAY

    def dump(self, obj: Blobs) -> bytes:
        return binary(obj.items)


psycopg.adapters.register_dumper(Texts, _TextsDumper)
psycopg.adapters.register_dumper(Blobs, _BlobsDumper)


def literal(items: Sequence[str | None]) -> str:
    """The text form of an array of texts. Pure."""
    if not items:
        return "{}"
    if None in items:
        written = ",".join(["NULL" if item is None else _quoted(item) for item in items])
    else:
        written = '","'.join(items)  # type: ignore[arg-type]
        plain = "\\" not in written and written.count('"') == 2 * len(items) - 2
        written = f'"{written}"' if plain else ",".join([_quoted(item or "") for item in items])
    if "\0" in written:
        raise psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
    return f"{{{written}}}"


def binary(items: Sequence[bytes]) -> bytes:
    """The binary form of an array of bytes. Pure."""
    if not items:
        return struct.pack(">iii", 0, 0, BYTEA)
    parts = [struct.pack(">iiiii", 1, 0, BYTEA, len(items), 1)]
    for item in items:
        parts += (struct.pack(">i", len(item)), item)
    return b"".join(parts)


def _quoted(item: str) -> str:
    said = item.replace("\\", "\\\\").replace('"', '\\"') if "\\" in item or '"' in item else item
    return f'"{said}"'
