"""Counting tokens: Engram's own estimate, a function of the caller's, or an encoding of tiktoken by name.

The estimate needs nothing and is not exact. tiktoken comes with `engram[llm]`, whose LiteLLM carries the files of the
common encodings: they are read from there, and nothing is ever fetched.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from engram import inputs, text
from engram.errors import InvalidInput, SettingsError

Counter = Callable[[str], int]

FUNCTION: Final = "a function from text to a whole number, or the name of an encoding or a model of tiktoken"
MOST_OF_NAME: Final = 200
FOLDERS: Final = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
HOME: Final = "https://openaipublic.blob.core.windows.net"  # tiktoken names its files by a hash of where they come from
FILES: Final[Mapping[str, tuple[str, ...]]] = {
    "gpt2": ("gpt-2/encodings/main/vocab.bpe", "gpt-2/encodings/main/encoder.json"),
    "r50k_base": ("encodings/r50k_base.tiktoken",),
    "p50k_base": ("encodings/p50k_base.tiktoken",),
    "p50k_edit": ("encodings/p50k_base.tiktoken",),
    "cl100k_base": ("encodings/cl100k_base.tiktoken",),
    "o200k_base": ("encodings/o200k_base.tiktoken",),
    "o200k_harmony": ("encodings/o200k_base.tiktoken",),
}
# These encodings cut text before every line that begins with neither white space nor a slash, so that such lines can
# be counted one by one and a line that was counted before need not be counted again.
BY_LINES: Final = ("cl100k_base", "o200k_base", "o200k_harmony")
LINE: Final = re.compile(r"(?<=\n)(?=[^\s/])")
REMEMBERED: Final = 20_000  # lines
_lock: Final = threading.Lock()


def chosen(given: object) -> Counter:
    """The way of counting a caller asks for, held to whole numbers; Engram's own estimate when there is none."""
    if given is None:
        return text.count_tokens
    if isinstance(given, str):
        return named(given)
    tell = inputs.function(given, "token_counter", FUNCTION)

    def count(shown: str) -> int:
        try:
            found = tell(shown)
        except Exception as error:
            raise InvalidInput("token_counter", FUNCTION, type(error).__name__) from error
        if not isinstance(found, int) or isinstance(found, bool) or found < 0:
            raise InvalidInput("token_counter", FUNCTION, type(found).__name__)
        return found

    count("")  # a function that cannot count is found out before anything is read
    return count


def named(name: str) -> Counter:
    """The counter of an encoding ("o200k_base") or of a model ("gpt-4o", "openai/gpt-4o") of tiktoken.

    Raises InvalidInput for a name that tiktoken does not know, and SettingsError where tiktoken or the encoding's file
    is not there.
    """
    if len(name) > MOST_OF_NAME:
        raise InvalidInput("token_counter", FUNCTION, "a longer text")
    try:
        import tiktoken
    except ImportError:
        raise SettingsError("token_counter: tiktoken is not installed: pip install 'engram[llm]'") from None
    known = tiktoken.list_encoding_names()
    encoding = name
    if name not in known:
        try:
            encoding = tiktoken.encoding_name_for_model(name.rpartition("/")[2])
        except KeyError:
            raise InvalidInput("token_counter", f"{FUNCTION}: {', '.join(known)}", "an unknown name") from None
    return _counter(encoding)


@cache
def _counter(name: str) -> Counter:
    encode = _loaded(name).encode_ordinary

    def count(shown: str) -> int:
        return len(encode(shown.encode("utf-16", "surrogatepass").decode("utf-16", "replace")))

    if name not in BY_LINES:
        return count
    one = lru_cache(maxsize=REMEMBERED)(count)
    return lambda shown: sum(map(one, LINE.split(shown)))


def _loaded(name: str) -> Any:
    """The encoding, from files that are there already."""
    import tiktoken

    with _lock, _reading_from(_folder_of(name)):
        return tiktoken.get_encoding(name)


def _folder_of(name: str) -> Path | None:
    """The folder that holds the files of an encoding: the one that is set, tiktoken's own, else LiteLLM's."""
    files = [hashlib.sha1(f"{HOME}/{one}".encode(), usedforsecurity=False).hexdigest() for one in FILES.get(name, ())]
    set_ = [Path(os.environ[one]) for one in FOLDERS if os.environ.get(one)]
    for folder in (*set_, Path(tempfile.gettempdir(), "data-gym-cache"), *_carried()):
        if files and all((folder / one).is_file() for one in files):
            return folder
    if files:
        wanted = "set TIKTOKEN_CACHE_DIR to a folder with them"
        raise SettingsError(f"token_counter: the files of the encoding {name} are not here: {wanted}")
    return None  # an encoding of somebody's own, which knows where its files are


def _carried() -> Iterator[Path]:
    """Where LiteLLM keeps the encodings it comes with, found without importing it."""
    found = importlib.util.find_spec("litellm")
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        yield Path(folder, "litellm_core_utils", "tokenizers")


@contextmanager
def _reading_from(folder: Path | None) -> Iterator[None]:
    before = os.environ.get(FOLDERS[0])
    if folder is not None:
        os.environ[FOLDERS[0]] = str(folder)
    try:
        yield
    finally:
        if before is not None:
            os.environ[FOLDERS[0]] = before
        elif folder is not None:
            del os.environ[FOLDERS[0]]
