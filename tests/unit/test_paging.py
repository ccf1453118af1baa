"""Cursors continue the list they came from, and nothing else."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.errors import InvalidInput
from engram.paging import decode_cursor, encode_cursor
from engram.values import CriticalMemories, Page

KEY = b"k" * 32
MOMENT = datetime(2026, 3, 1, 12, 30, 0, 123456, tzinfo=UTC)


def refused(cursor: object, binding: str = "list", key: bytes = KEY) -> str:
    with pytest.raises(InvalidInput) as caught:
        decode_cursor(cursor, binding, key)
    assert caught.value.field == "cursor"
    return str(caught.value)


@pytest.mark.parametrize(
    "position", [(), (1,), (0.5, "2026-01-01 00:00:00+00", None), (MOMENT, "an id"), (True, -3, "é\u202e")]
)
def test_a_cursor_gives_back_the_place_it_was_made_from(position: tuple[object, ...]) -> None:
    assert decode_cursor(encode_cursor(position, "list", KEY), "list", KEY) == position


@given(
    st.lists(
        st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(0, 1) | st.text("aé\u4e2d:'%")
    )
)
def test_any_position_of_plain_values_survives_the_round(position: list[object]) -> None:
    assert decode_cursor(encode_cursor(position, "list", KEY), "list", KEY) == tuple(position)


def test_a_cursor_is_one_plain_word_and_the_same_each_time() -> None:
    cursor = encode_cursor((MOMENT, "x"), "list", KEY)
    assert cursor == encode_cursor((MOMENT, "x"), "list", KEY)
    assert set(cursor) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def test_a_cursor_of_another_question_tenant_or_key_is_refused_with_one_text() -> None:
    cursor = encode_cursor((1, "x"), "tenant a", KEY)
    texts = {refused(cursor, "tenant b"), refused(cursor, "tenant a", b"other"), refused("nonsense", "tenant a")}
    assert len(texts) == 1


def test_the_question_and_the_place_cannot_trade_characters() -> None:
    refused(encode_cursor(("bc",), "a", KEY), "ab")
    refused(encode_cursor((), "list", KEY), "list[]")


def test_every_edit_of_one_character_is_refused() -> None:
    cursor = encode_cursor((12, "0199"), "list", KEY)
    for place, char in enumerate(cursor):
        for other in "AZaz09-_":
            if other != char:
                refused(cursor[:place] + other + cursor[place + 1 :])


@pytest.mark.parametrize(
    "cursor", ["", "=", "a", "x" * 5_000, "é", "\x00", "a b", b"bytes", None, 7, ["a"], "====", "\ud800"]
)
def test_what_is_no_cursor_is_refused(cursor: object) -> None:
    refused(cursor)


def test_padding_and_cuts_are_refused() -> None:
    cursor = encode_cursor((1,), "list", KEY)
    refused(cursor + "=")
    for length in range(len(cursor)):
        refused(cursor[:length])


def test_a_forged_body_without_the_key_is_refused() -> None:
    forged = base64.urlsafe_b64encode(b"\x00" * 16 + b"\x01[1]").rstrip(b"=").decode()
    refused(forged)


def test_the_refusal_never_quotes_the_cursor() -> None:
    assert "sekrit" not in refused("sekrit")


def test_what_is_listed_is_taken_by_its_place() -> None:
    page = Page(("a", "b", "c"), "next")
    assert (page[0], page[-1], len(page)) == ("a", "c", 3)
    pinned: Any = CriticalMemories(("a", "b"))  # type: ignore[arg-type]
    assert (pinned[0], pinned[:1]) == ("a", ("a",))
    with pytest.raises(IndexError):
        page[3]
