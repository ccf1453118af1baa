"""Counting tokens: the estimate, a function, and tiktoken by name, read from files that are here and never fetched."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engram import counting, text
from engram.context import Material, pack
from engram.errors import InvalidInput, SettingsError

tiktoken = pytest.importorskip("tiktoken")

BITS = st.sampled_from(
    ["\n", "\n\n", "\r\n", " ", "    ", "\t", "/", ".", "]", "- ", "## ", "<<<", "\u2028", "\u00a0", "a", "word",
     " word", "7", "1234", "'s", "é", "漢字", "😀", "\u200d", '",\n"', "{", "|"]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=60), st.lists(BITS, max_size=40).map("".join))
NAMES = ("cl100k_base", "o200k_base")


@pytest.fixture
def forgetful() -> Iterator[None]:
    """Nothing is loaded before or after."""
    kept = dict(tiktoken.registry.ENCODINGS)
    tiktoken.registry.ENCODINGS.clear()
    counting._counter.cache_clear()
    yield
    tiktoken.registry.ENCODINGS.update(kept)
    counting._counter.cache_clear()


def test_without_a_counter_it_is_engrams_estimate() -> None:
    assert counting.chosen(None) is text.count_tokens


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from(NAMES))
@example("].\n/etc", "o200k_base")
@example("a.\n\n    b\n - c", "cl100k_base")
def test_a_named_encoding_counts_as_tiktoken_does(said: str, name: str) -> None:
    said = said.encode("utf-8", "replace").decode()
    assert counting.named(name)(said) == len(tiktoken.get_encoding(name).encode_ordinary(said))


def test_marks_of_a_model_and_half_a_character_are_only_text() -> None:
    count = counting.chosen("o200k_base")
    assert count("<|endoftext|>") > 1
    assert count("\ud800") >= 1


@pytest.mark.parametrize(
    ("name", "encoding"),
    [("gpt-4o", "o200k_base"), ("openai/gpt-4o-mini", "o200k_base"), ("gpt-4", "cl100k_base"), ("o200k_base",) * 2],
)
def test_a_model_names_its_encoding(name: str, encoding: str) -> None:
    assert counting.named(name) is counting.named(encoding)


@pytest.mark.parametrize("name", ["", "nonsense", "o200k", "gpt", "x" * 10_000, "openai/", "O200K_BASE"])
def test_an_unknown_name_is_refused_and_not_repeated(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        counting.chosen(name)
    assert caught.value.field == "token_counter"
    assert len(str(caught.value)) < 400


def test_a_counter_that_is_awaited_is_refused_and_not_called() -> None:
    async def count(_: str) -> int:
        raise AssertionError

    with pytest.raises(InvalidInput, match="to be awaited"):
        counting.chosen(count)


@pytest.mark.usefixtures("forgetful")
def test_the_files_come_from_litellm_and_the_environment_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in counting.FOLDERS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(tiktoken.load, "read_file", _no_network)
    monkeypatch.setattr(counting.tempfile, "gettempdir", lambda: "/nowhere")
    assert counting.named("cl100k_base")("hello world") == 2
    import os

    assert not set(counting.FOLDERS) & set(os.environ)


@pytest.mark.usefixtures("forgetful")
def test_a_file_that_is_not_here_is_not_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(tiktoken.load, "read_file", _no_network)
    monkeypatch.setattr(counting.tempfile, "gettempdir", lambda: str(tmp_path))
    with pytest.raises(SettingsError, match="r50k_base"):
        counting.named("r50k_base")
    assert counting.named("o200k_base")("hello world") == 2, "another folder has it"


def _no_network(*_: Any) -> bytes:
    raise AssertionError("a file was fetched")


def test_without_tiktoken_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(SettingsError, match=r"engram\[llm\]"):
        counting.chosen("o200k_base")


@pytest.mark.parametrize("given", [3, [], b"o200k_base", object()])
def test_what_cannot_count_is_refused(given: Any) -> None:
    with pytest.raises(InvalidInput):
        counting.chosen(given)


@pytest.mark.parametrize("given", [lambda said: -1, lambda said: 1.5, lambda said: True, lambda: 1])
def test_a_function_that_does_not_count_is_refused_at_once(given: Any) -> None:
    with pytest.raises(InvalidInput):
        counting.chosen(given)


def test_a_block_counted_by_an_encoding_is_within_its_budget() -> None:
    from test_context import event

    said = [event(f"第{n}条。 def f_{n}(x): return x ** {n}  # été 😀", n, trust="web") for n in range(40)]
    for most in (100, 200, 900):
        block = pack(Material(events=said), max_tokens=most, count=counting.named("o200k_base"))
        assert block.tokens == len(tiktoken.get_encoding("o200k_base").encode_ordinary(block.text)) <= most
        assert block.citations
