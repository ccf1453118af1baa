"""Lists as parameters of statements, each written in one piece and not item by item."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

import psycopg
from psycopg.adapt import Dumper, PyFormat
from psycopg.pq import Format
from psycopg.types.array import ListDumper

ANY: Final = 0  # the type that a statement says its items have: the server minds none that an extension made
BYTEA: Final = 17  # the type of bytea, and of its arrays
BYTEA_ARRAY: Final = 1001
FLOAT_ARRAY: Final = 1022
BOOLEAN_ARRAY: Final = 1000
# The smallest type of whole numbers that holds all of a list, as the driver sends them.
WHOLE_ARRAYS: Final = {2**15: 1005, 2**31: 1007, 2**63: 1016}
NUMBERS, FLOATS, TRUTHS, TEXTS = {int}, {float}, {bool}, {str}
TEXTS_OR_NOT: Final = {str, type(None)}
BYTES: Final = ({bytes}, {bytes, type(None)})


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


class Halves:
    """A vector of half-precision numbers as one parameter, sent as the server keeps it; its statement casts it."""

    __slots__ = ("numbers", "size")

    def __init__(self, size: int, numbers: bytes) -> None:
        self.size, self.numbers = size, numbers


class HalvesList(Halves):
    """Such vectors, all of one size and one behind the other, as one parameter; its statement casts it to a list."""

    __slots__ = ()


class _HalvesDumper(Dumper):
    format = Format.BINARY  # of no type: the extension's has another number in each database

    def dump(self, obj: Halves) -> bytes:
        return _sized(obj.size, obj.numbers)


class _HalvesListDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: HalvesList) -> bytes:
        long = 2 * obj.size
        starts = range(0, len(obj.numbers), max(1, long))
        return binary([_sized(obj.size, obj.numbers[start : start + long]) for start in starts], ANY)


def _sized(size: int, numbers: bytes) -> bytes:
    return struct.pack(">hh", size, 0) + numbers


class _TextsDumper(Dumper):
    def dump(self, obj: Texts) -> bytes:
        return literal(obj.items).encode()


class _BlobsDumper(Dumper):
    format = Format.BINARY
    oid = BYTEA_ARRAY

    def dump(self, obj: Blobs) -> bytes:
        return binary(obj.items)


class _WholeDumper(Dumper):
    def dump(self, obj: list[int]) -> bytes:
        return f"{{{','.join(map(str, obj))}}}".encode()


class _FloatDumper(_WholeDumper):
    oid = FLOAT_ARRAY


class _TruthDumper(Dumper):
    oid = BOOLEAN_ARRAY

    def dump(self, obj: list[bool]) -> bytes:
        return f"{{{','.join(['t' if one else 'f' for one in obj])}}}".encode()


class _BytesDumper(Dumper):
    """In hexadecimal digits: the driver's own form is right for a connection that it asks, and the wire is of none."""

    oid = BYTEA_ARRAY

    def dump(self, obj: list[bytes | None]) -> bytes:
        return literal([None if one is None else f"\\x{one.hex()}" for one in obj]).encode()


class _ListedTextDumper(Dumper):
    def dump(self, obj: list[str | None]) -> bytes:
        return literal(obj).encode()


class Lists(ListDumper):
    """The driver's dumper of lists, item by item; those of texts, bytes, numbers or truths go in one piece."""

    def get_key(self, obj: list[Any], format: PyFormat) -> Any:
        """What the lists have in common that one dumper writes."""
        if not obj:
            return list
        kind = _kind(obj)
        return super().get_key(obj, format) if kind is None else (list, kind)

    def upgrade(self, obj: list[Any], format: PyFormat) -> Any:
        """The dumper of the lists that are like this one."""
        kind = _kind(obj)
        if kind is None:
            return super().upgrade(obj, format)
        made = WRITTEN[kind](list, self._tx)
        if isinstance(kind, int):
            made.oid = kind
        return made

    def dump(self, obj: list[Any]) -> Any:
        """The text of a list."""
        return super().dump(obj) if obj else b"{}"


WRITTEN: Final[Mapping[Any, type[Dumper]]] = {
    str: _ListedTextDumper, bytes: _BytesDumper, float: _FloatDumper, bool: _TruthDumper,
    **dict.fromkeys(WHOLE_ARRAYS.values(), _WholeDumper),
}  # fmt: skip


def _kind(items: list[Any]) -> Any:
    """What a list that is not empty is of: a type, of whole numbers that of the array; None for all others. Pure."""
    kinds = set(map(type, items))
    if kinds == NUMBERS:
        most = max(max(items), -1 - min(items))
        return next((oid for below, oid in WHOLE_ARRAYS.items() if most < below), None)
    if kinds in (TEXTS, TEXTS_OR_NOT):
        return str
    if kinds in BYTES:
        return bytes
    return float if kinds == FLOATS else bool if kinds == TRUTHS else None


psycopg.adapters.register_dumper(Texts, _TextsDumper)
psycopg.adapters.register_dumper(Blobs, _BlobsDumper)
psycopg.adapters.register_dumper(Halves, _HalvesDumper)
psycopg.adapters.register_dumper(HalvesList, _HalvesListDumper)


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


def binary(items: Sequence[bytes], kind: int = BYTEA) -> bytes:
    """The binary form of an array of bytes, or of items of another type that are written already. Pure."""
    if not items:
        return struct.pack(">iii", 0, 0, kind)
    parts = [struct.pack(">iiiii", 1, 0, kind, len(items), 1)]
    for item in items:
        parts += (struct.pack(">i", len(item)), item)
    return b"".join(parts)


def _quoted(item: str) -> str:
    said = item.replace("\\", "\\\\").replace('"', '\\"') if "\\" in item or '"' in item else item
    return f'"{said}"'
