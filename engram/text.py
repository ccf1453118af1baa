"""Text as Engram stores, compares, cuts and counts it: pure functions, no tables, no settings.

*Stored* text is NFC. *Compared* text is NFKC, case-folded, without format characters, white space collapsed. Words are
cut from the compared text at Unicode word boundaries; identifiers (`v1.2`, `src/a.py`) stay whole and runs of Chinese,
Japanese or Korean become pairs of characters, since those scripts put no spaces between words.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

# Han with its extensions and compatibility forms, kana, bopomofo, hangul, and the half-width forms of kana and hangul.
CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u3099\u309a"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff\uff66-\uff9f\uffa0-\uffdc"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
# Letters and marks of Thai, Lao, Myanmar and Khmer, which put no spaces between words either.
_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d"
    "\u1780-\u17d3\u17d7\u17dc\u17dd\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"
)

# Not here on purpose: not, no, never, without, before, after, until, since. They carry the meaning of a fact.
_STOP = """
    a an the and or but if then than that this these those of to in on at by for with from as into about
    is are was were be been being am do does did has have had will would can could should
    i me my mine you your he him his she her it its we us our they them their there so
"""
STOP_WORDS = frozenset(_STOP.split())

SHORT = 1_000  # characters of a text whose words are kept with those of thousands of others
QUESTION_MARKS = "?？﹖؟՞፧⸮‽⁇⁈⁉❓❔"
"""What ends a question, in any script: none of it means anything in a regular expression's set of characters."""

_CJK_RUN = re.compile(f"[{CJK}]+")
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_ASCII_RUN = re.compile(r"[\x00-\x7f]+")
_PIECE = re.compile(f"([{CJK}]+)|([^{CJK}]+)")
# Between these nothing belongs together; a comma between digits does ("1,000").
_CHUNK = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,15}://[^\s<>\"{}|^`]+|(?:[^\s,;()\[\]{}<>\"|=!?…“”„«»、。，；：！？「」『』（）—–`*^]|(?<=\d),(?=\d))+"
)
_WORD = re.compile(r"[^\W_]+(?:[_'.,](?=[^\W_])[^\W_]+)*|\w+")
_SPECIAL = re.compile(r"[a-z](?:#|\+\+)\Z")  # c#, f#, c++
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\uff07": "'", "\u2010": "-", "\u2011": "-"})


def stored(text: str) -> str:
    """The text as it is stored: composed (NFC), otherwise untouched."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def counts_alike(stored_text: str) -> bool:
    """Whether every text that is stored as this one has as many characters, so that places in both are the same.

    It has not where a letter and its accent became one, nor where one character became several.
    """
    if stored_text.isascii():
        return True
    return len(unicodedata.normalize("NFD", stored_text)) == len(stored_text) and not _split_up().search(stored_text)


@cache
def _split_up() -> re.Pattern[str]:
    """What the characters that NFC takes apart become."""
    composed = (unicodedata.normalize("NFC", chr(code)) for code in (*range(0x300, 0x3000), *range(0xFB00, 0xFE00)))
    music = (unicodedata.normalize("NFC", chr(code)) for code in range(0x1D15E, 0x1D1C1))
    return re.compile("|".join(sorted({one for one in (*composed, *music) if len(one) > 1}, key=len, reverse=True)))


def compared(text: str) -> str:
    """The text as it is compared: width, case, white space and invisible characters make no difference."""
    if text.isascii():
        return " ".join(text.lower().split())
    before = None
    # Case folding and dropping characters can each leave something to compose: repeat until nothing moves.
    while text != before:
        before = text
        text = unicodedata.normalize("NFKC", text)
        text = "".join([c for c in text if c < "\x7f" or unicodedata.category(c) != "Cf"])
        text = unicodedata.normalize("NFKC", text.casefold())
        text = " ".join(text.split())
    return text


def fact_hash(text: str) -> bytes:
    """SHA-256 of the compared text: equal for texts that are exact duplicates."""
    return hashlib.sha256(compared(text).encode("utf-8", "surrogatepass")).digest()


def normalise_key(text: str) -> str:
    """The text of a conflict key, so that case, width and invisible characters never make two keys of one."""
    return compared(text)


def has_question_mark(said: str) -> bool:
    """Whether a text holds a question mark of any script."""
    return "?" in said or (not said.isascii() and any(mark in said for mark in QUESTION_MARKS))


def ends_in_question(said: str) -> bool:
    """Whether the last character of a text, white space aside, is a question mark of any script."""
    return said.rstrip().endswith(tuple(QUESTION_MARKS))


def has_cjk(text: str) -> bool:
    """Whether the text holds Chinese, Japanese or Korean characters."""
    return not text.isascii() and _CJK_RUN.search(text) is not None


def is_unspaced(text: str) -> bool:
    """Whether the text holds characters of a script that puts no spaces between words."""
    return not text.isascii() and (has_cjk(text) or _UNSPACED_RUN.search(text) is not None)


def with_bigrams(text: str) -> str:
    """The text with every run of a script without spaces as pairs of characters, for a text index.

    A character of Thai, Lao, Myanmar or Khmer is a letter with the marks that stand on it.
    """
    if not is_unspaced(text):
        return text
    spaced = _CJK_RUN.sub(lambda run: f" {' '.join(_bigrams(unicodedata.normalize('NFKC', run.group())))} ", text)
    return _UNSPACED_RUN.sub(lambda run: f" {' '.join(_pairs(run.group()))} ", spaced).strip()


def _pairs(run: str) -> list[str]:
    """The pairs of letters of a run, each letter with its marks."""
    letters = [place for place, char in enumerate(run) if unicodedata.category(char)[0] != "M" or place == 0]
    ends = [*letters[1:], len(run)]
    return [run[start:end] for start, end in zip(letters, ends[1:], strict=False)] or [run]


def quote_hash(quote: str) -> str:
    """What a citation keeps of its quote: SHA-256 of the very characters, as 64 hexadecimal digits."""
    return hashlib.sha256(quote.encode("utf-8", "surrogatepass")).hexdigest()


def count_tokens(text: str) -> int:
    """About how many tokens a model would count: a quarter of the characters, each CJK character one."""
    if text.isascii():
        return -(-len(text) // 4)
    # Most of a text is ASCII, and is told from the rest faster than CJK is.
    cjk = sum(map(len, _CJK_RUN.findall(_ASCII_RUN.sub("", text))))
    return cjk + -(-(len(text) - cjk) // 4)


def words(text: str) -> list[str]:
    """The words of the text in order, identifiers whole, stop words kept."""
    found: list[str] = []
    for piece in compared(text).translate(_QUOTES).split():
        if _is_plain(piece):
            found.append(piece)
            continue
        for chunk in _chunks(piece):
            if _is_plain(chunk):
                found.append(chunk)
                continue
            for run, other in _PIECE.findall(chunk):
                found.extend(_bigrams(run) if run else _split(other))
    return found


def _is_plain(piece: str) -> bool:
    return piece.isascii() and piece.isalnum()


def tokens(text: str) -> frozenset[str]:
    """The set of words that Jaccard similarity compares: no stop words, no stemming."""
    return _tokens_of_short(text) if len(text) <= SHORT else _tokens_of_long(text)


def _compared(text: str) -> frozenset[str]:
    return frozenset(words(text)) - STOP_WORDS


# The words of a text take fifteen times its own room: of thousands of long ones they would fill the memory.
_tokens_of_short = lru_cache(maxsize=4_096)(_compared)
_tokens_of_long = lru_cache(maxsize=256)(_compared)


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """How much two sets of words share, from 0 to 1; two empty sets share nothing."""
    union = len(a | b)
    return len(a & b) / union if union else 0.0


def is_identifier(chunk: str) -> bool:
    """Whether a chunk without spaces is one name for something: a path, address, version, number, handle or code."""
    if "://" in chunk or "::" in chunk or _SPECIAL.match(chunk):
        return True
    digits = any(c.isdigit() for c in chunk)
    if "@" in chunk or "#" in chunk:
        return True
    if "/" in chunk or "\\" in chunk:
        slashes = chunk.count("/") + chunk.count("\\")
        return chunk[0] in "/~." or "." in chunk or "_" in chunk or digits or slashes > 1
    if any(c in chunk for c in "-:+&"):
        return digits
    return "." in chunk or "_" in chunk


def _chunks(text: str) -> Iterator[str]:
    for match in _CHUNK.finditer(text):
        chunk = match.group().rstrip(".,;!?):'-/&~%$€£\\").lstrip(":'-&$€£%+")
        if not chunk.startswith(("./", "../")):
            chunk = chunk.lstrip(".")
        if chunk:
            yield chunk


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _split(piece: str) -> list[str]:
    if is_identifier(piece) and any(c.isalnum() for c in piece):
        return [piece]
    if piece.isascii():
        return _WORD.findall(piece)
    # Python's \w knows no combining marks, which belong to the word in many scripts: match on a shadow without them.
    shadow = "".join(["x" if unicodedata.category(c)[0] == "M" else c for c in piece])
    return [piece[m.start() : m.end()] for m in _WORD.finditer(shadow)]
