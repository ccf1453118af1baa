"""A long text as parts of a bounded size, so that no more of it than one part is held."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engram.errors import InvalidInput

_READ_BYTES: Final = 1 << 18


def parts_of(source: str | Path, size: int = 500_000) -> Iterator[str]:
    """The text, or the file at a path, as parts of `size` code points (the last may be shorter); joined, they are it.

    A file is decoded as UTF-8 while it is read: line ends and a byte order mark stay: offsets are the file's.
    InvalidInput for a path that is no readable file and, when its place is reached, for bytes that are no UTF-8.
    """
    if size < 1:
        raise InvalidInput("size", "1 or more", "less")
    if isinstance(source, str):
        return (source[at : at + size] for at in range(0, len(source), size))
    if not isinstance(source, Path):
        raise InvalidInput("source", "text or a path", type(source).__name__)
    try:
        is_file, is_folder = source.is_file(), source.is_dir()
    except OSError:  # a folder on the way that may not be entered, or a name no file can have
        raise _unreadable() from None
    if not is_file:
        raise InvalidInput("source", "a file", "a folder" if is_folder else "nothing at that path")
    return _parts_of_file(source, size)


def _unreadable() -> InvalidInput:
    return InvalidInput("source", "a file that can be read", "one that cannot")


def _parts_of_file(path: Path, size: int) -> Iterator[str]:
    decode = codecs.getincrementaldecoder("utf-8")().decode
    held = ""
    try:
        with path.open("rb") as file:
            while data := file.read(_READ_BYTES):
                held += decode(data)
                while len(held) >= size:
                    yield held[:size]
                    held = held[size:]
            held += decode(b"", final=True)
    except UnicodeDecodeError:
        raise InvalidInput("source", "UTF-8 text", "other bytes") from None
    except OSError:
        raise _unreadable() from None
    if held:
        yield held
