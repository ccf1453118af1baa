"""A long text read in parts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram.errors import InvalidInput
from engram.longinput import reading
from engram.longinput.reading import parts_of

TEXT = "one\r\ntwo\rthree\n𝒳é漢 \u2028 end"


@given(st.text(max_size=60), st.integers(1, 20))
def test_the_parts_of_a_text_are_the_text(text: str, size: int) -> None:
    parts = list(parts_of(text, size))
    assert "".join(parts) == text
    assert all(len(part) == size for part in parts[:-1])
    assert all(parts)


@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60), size=st.integers(1, 9), read=st.integers(1, 5)
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_parts_of_a_file_are_its_text_however_it_is_read(
    text: str, size: int, read: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_READ_BYTES", read)
    path = tmp_path / "text"
    path.write_bytes(text.encode())
    parts = list(parts_of(path, size))
    assert "".join(parts) == text
    assert parts == list(parts_of(text, size))


def test_line_ends_and_a_byte_order_mark_stay(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    with path.open(encoding="utf-8", newline="") as file:
        assert "".join(parts_of(path, 3)) == file.read() == f"\ufeff{TEXT}"


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for source in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InvalidInput):
            parts_of(source)
    for number, data in enumerate([b"abc\xff", b"abc\xe2\x82", "ø".encode("latin-1")]):
        path = tmp_path / f"file-{number}"
        path.write_bytes(data)
        with pytest.raises(InvalidInput):
            list(parts_of(path))
    with pytest.raises(InvalidInput):
        parts_of(b"bytes")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        parts_of("text", 0)


def test_a_path_that_cannot_even_be_looked_at_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name too long for any file, and a file in a folder that this process may not enter."""
    with pytest.raises(InvalidInput, match="a file that can be read"):
        parts_of(tmp_path / ("long" * 1_000))

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_file", denied)
    with pytest.raises(InvalidInput, match="a file that can be read"):
        parts_of(tmp_path / "text")
