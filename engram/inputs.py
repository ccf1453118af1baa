"""Validation at the door: every argument is checked, cut to plain values and bounded before a connection is taken.

Cheap checks come before expensive ones (a length before an encoding), nothing recurses on what a caller built, and no
message quotes a value: it names the field, what was expected and the kind of thing that was found.
"""

from __future__ import annotations

import inspect
import json
import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, Final, Literal, NoReturn, TypeGuard, TypeVar
from zoneinfo import ZoneInfo

from engram import ids
from engram.errors import InvalidInput, LimitExceeded

T = TypeVar("T")

FACT_CHARACTERS: Final = 8_192
MAIN_CONTENT_CHARACTERS: Final = 200_000
EVENT_CHARACTERS: Final = 500_000
LONG_INPUT_BYTES: Final = 50 << 20
BODY_BYTES: Final = 1 << 20
BATCH_ITEMS: Final = 500
BATCH_BYTES: Final = 8 << 20
QUERY_BYTES: Final = 32 << 10
NAME_BYTES: Final = 200
KEY_BYTES: Final = 1_024
TAGS: Final = 20
TAG_CHARACTERS: Final = 32
LABEL_CHARACTERS: Final = 64
NOTE_CHARACTERS: Final = 2_000
NOTES: Final = 200
METADATA_BYTES: Final = 32 << 10
METADATA_DEPTH: Final = 32
METADATA_KEYS: Final = 512
JSON_DEPTH: Final = 64
LARGEST_WHOLE: Final = 2**53 - 1
LEAST_SHARE: Final = 1e-30  # a product of ten of them is a number yet; a smaller one PostgreSQL refuses to make
RESULTS: Final = 200
LEAST_TOKENS: Final = 1
MOST_TOKENS: Final = 300_000
FIRST_YEAR: Final = 1900
END_YEAR: Final = 2200

_REFUSED = re.compile("[\x00\ud800-\udfff]")
_LINE_BREAKING = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PATH_PART = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_FIELD_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_DURATION = re.compile(
    r"([0-9]{1,7}) ?(s|sec|second|m|min|minute|h|hr|hour|d|day|w|wk|week|mo|month|y|yr|year)s?",
    re.IGNORECASE | re.ASCII,
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LEAP_SECOND = re.compile(r"(.*[0-9]{2}:[0-9]{2}:)60((?:[.,][0-9]+)?(?:Z|[+-].*)?)")
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_DURATION_UNITS: Final[Mapping[str, timedelta]] = {
    **dict.fromkeys(("s", "sec", "second"), timedelta(seconds=1)),
    **dict.fromkeys(("m", "min", "minute"), timedelta(minutes=1)),
    **dict.fromkeys(("h", "hr", "hour"), timedelta(hours=1)),
    **dict.fromkeys(("d", "day"), timedelta(days=1)),
    **dict.fromkeys(("w", "wk", "week"), timedelta(weeks=1)),
    **dict.fromkeys(("mo", "month"), timedelta(days=30)),
    **dict.fromkeys(("y", "yr", "year"), timedelta(days=365)),
}
# Letters and marks that draw nothing, beside the categories of white space, control and format characters.
_BLANK_CATEGORIES: Final = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_VARIATION_SELECTORS: Final = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_LONGEST_COMPOSITION: Final = 4  # code points that NFC can join into one: a cheap bound before it is run
_MARKS_IN_A_ROW: Final = 256
_SAFE_TO_NORMALISE: Final = 2_048
_SHOWN_BELOW: Final = 10**15
_MOST_NUMBER_DIGITS: Final = 400


class Unreadable(str):
    """What stands in place of stored JSON that cannot be read; compare with `is UNREADABLE`."""

    __slots__ = ()


UNREADABLE: Final = Unreadable("<unreadable>")


# Text


def text(
    value: object, field: str, *, limit: int, empty: bool = False, nul: Literal["refuse", "replace"] = "refuse"
) -> str:
    """A text as it will be stored: plain `str` in NFC, of at most `limit` code points, that PostgreSQL can hold.

    White space and characters that draw nothing count as empty. `nul="replace"` turns NUL into U+FFFD, for importers.
    """
    given = _plain_text(value, field, limit * _LONGEST_COMPOSITION, "characters")
    if nul == "replace":
        given = given.replace("\x00", "\ufffd")
    stored = _normalised(given, field)
    if len(stored) > limit:
        raise LimitExceeded(field, limit, len(stored), "characters")
    if not empty and is_blank(stored):
        raise InvalidInput(field, "some text", "nothing that can be seen")
    return stored


def fact(value: object, field: str = "fact") -> str:
    """A fact: never empty, at most 8,192 code points."""
    return text(value, field, limit=FACT_CHARACTERS)


def main_content(value: object, field: str = "main_content") -> str:
    """The raw text a fact was taken from: at most 200,000 code points."""
    return text(value, field, limit=MAIN_CONTENT_CHARACTERS)


def event_content(value: object, field: str = "content") -> str:
    """The text of an event: at most 500,000 code points."""
    return text(value, field, limit=EVENT_CHARACTERS)


def query(value: object, field: str = "query") -> str:
    """A question to search by, at most 32 KiB; one that shows nothing is returned as the empty text."""
    asked = text(value, field, limit=QUERY_BYTES, empty=True)
    _within_bytes(asked, field, QUERY_BYTES)
    if not asked.isascii():  # one sign may stand for a sentence, and what is looked for are its words
        written = len(unicodedata.normalize("NFKC", asked))
        if written > QUERY_BYTES:
            raise LimitExceeded(field, QUERY_BYTES, written, "characters with each sign written out")
    return "" if is_blank(asked) else asked


def scope_id(value: object, field: str) -> str:
    """A tenant, namespace, agent or user: case-sensitive, at most 200 bytes, never empty or `*`."""
    found = name(value, field)
    if found == "*":
        raise InvalidInput(field, "one id", "a wildcard")
    return found


def name(value: object, field: str) -> str:
    """The name of a session, task, stream or actor: at most 200 bytes, without control characters."""
    given = _plain_text(value, field, NAME_BYTES * _LONGEST_COMPOSITION, "bytes")
    if _LINE_BREAKING.search(given):
        raise InvalidInput(field, "text without control characters", "a control character")
    found = _normalised(given, field)
    _within_bytes(found, field, NAME_BYTES)
    if is_blank(found):
        raise InvalidInput(field, "some text", "nothing that can be seen")
    return found


def is_model_name(value: object) -> TypeGuard[str]:
    """Whether a language model can have this name: 1 to 200 bytes that can all be printed."""
    return isinstance(value, str) and 1 <= len(value.encode(errors="replace")) <= NAME_BYTES and value.isprintable()


def idempotency_key(value: object, field: str = "idempotency_key") -> str:
    """The caller's name for a change, by which a repetition is known: at most 200 bytes."""
    return name(value, field)


def label(value: object, field: str, limit: int = LABEL_CHARACTERS) -> str:
    """A short text on one line, such as a source or a category, trimmed."""
    found = text(value, field, limit=limit * _LONGEST_COMPOSITION).strip()
    if _LINE_BREAKING.search(found):
        raise InvalidInput(field, "text without control characters", "a control character")
    if len(found) > limit:
        raise LimitExceeded(field, limit, len(found), "characters")
    return found


def note(value: object, field: str = "reason") -> str:
    """A sentence for people, such as the reason of a change: at most 2,000 code points."""
    return text(value, field, limit=NOTE_CHARACTERS)


def notes(value: object, field: str) -> tuple[str, ...]:
    """A list of up to 200 sentences, such as the steps of a plan, each of at most 2,000 code points."""
    return tuple(note(one, f"{field}[{index}]") for index, one in enumerate(items(value, field, NOTES)))


def tag(value: object, field: str = "tag") -> str:
    """One tag, trimmed and casefolded: at most 32 characters."""
    found = _normalised(label(value, field, TAG_CHARACTERS * _LONGEST_COMPOSITION).casefold(), field)
    if len(found) > TAG_CHARACTERS:
        raise LimitExceeded(field, TAG_CHARACTERS, len(found), "characters")
    return found


def tags(value: object, field: str = "tags") -> tuple[str, ...]:
    """The tags of a memory in the order given, without doubles: at most 20."""
    given = items(value, field, TAGS)
    return tuple(dict.fromkeys(tag(one, f"{field}[{index}]") for index, one in enumerate(given)))


def key_text(value: object, field: str = "topic_key") -> str:
    """A key two statements may share, at most 1,024 bytes as given and as compared: without invisible characters."""
    stored = text(value, field, limit=KEY_BYTES).strip()
    _within_bytes(stored, field, KEY_BYTES)
    compared = unicodedata.normalize("NFKC", stored).casefold()
    compared = "".join(char for char in compared if unicodedata.category(char) != "Cf")
    _within_bytes(" ".join(compared.split()), field, KEY_BYTES)
    return stored


def is_blank(value: str) -> bool:
    """Whether a text shows nothing: empty, white space, or only characters that draw nothing."""
    return not any(_draws(char) for char in value)


def _draws(char: str) -> bool:
    if "!" <= char <= "~":
        return True
    if char in _BLANK or unicodedata.category(char) in _BLANK_CATEGORIES:
        return False
    return not any(ord(char) in block for block in _VARIATION_SELECTORS)


def _plain_text(value: object, field: str, cheap_limit: int, unit: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(field, "text", type(value).__name__)
    if len(value) > cheap_limit:
        raise LimitExceeded(field, cheap_limit // _LONGEST_COMPOSITION, len(value), unit)
    return str.__str__(value)  # a subclass, such as an enum of str, becomes plain


def _normalised(value: str, field: str) -> str:
    refused = _refused_in(value)
    if refused:
        found = f"{_refused_kind(refused)} at character {refused.start()}"
        raise InvalidInput(field, "text PostgreSQL can store", found)
    if value.isascii():
        return value
    _check_marks(value, field)
    return unicodedata.normalize("NFC", value)


def _check_marks(value: str, field: str) -> None:
    # Putting a run of combining marks in order costs the square of its length, so a run without end is refused.
    if len(value) <= _SAFE_TO_NORMALISE:
        return
    run = 0
    for char in value:
        run = run + 1 if char > "\u02ff" and unicodedata.combining(char) else 0
        if run > _MARKS_IN_A_ROW:
            raise LimitExceeded(field, _MARKS_IN_A_ROW, "more", "combining marks in a row")


def _within_bytes(value: str, field: str, most: int) -> None:
    size = len(value.encode())
    if size > most:
        raise LimitExceeded(field, most, size, "bytes")


# JSON


def metadata(value: object, field: str = "metadata") -> dict[str, Any]:
    """A plain copy of a caller's metadata: a JSON object of at most 32 KiB, depth 32 and 512 keys."""
    if type(value) is dict and not value:
        return {}  # as most memories have it
    copy = _object(value, field, depth=METADATA_DEPTH, keys=METADATA_KEYS, size=METADATA_BYTES)
    size = len(_dump(copy))
    if size > METADATA_BYTES:
        raise LimitExceeded(field, METADATA_BYTES, size, "bytes")
    return copy


def payload(
    value: object, field: str = "payload", *, depth: int = METADATA_DEPTH, limit: int = BODY_BYTES
) -> dict[str, Any]:
    """A plain copy of an event's payload: a JSON object of at most 1 MiB and depth 32."""
    copy = _object(value, field, depth=depth, keys=None, size=limit)
    size = len(_dump(copy))
    if size > limit:
        raise LimitExceeded(field, limit, size, "bytes")
    return copy


def scalar(value: object, field: str, *, limit: int = KEY_BYTES) -> Any:
    """One JSON text, number, true, false or null, exactly as given: text is not put in NFC."""
    if isinstance(value, Mapping | list | tuple):
        raise InvalidInput(field, "one text or number", type(value).__name__)
    return _Copier(field, depth=1, keys=None, size=limit).copy(value)


def canonical_json(value: object, field: str = "value", *, limit: int = BATCH_BYTES) -> bytes:
    """The one JSON text of a value: sorted keys, no spaces, UTF-8; the same value gives the same bytes for ever.

    Refuses what JSON cannot say exactly (other types, NaN, integers beyond 2^53 - 1, keys that are not text, NUL, lone
    surrogates) with the path of the offender, and more than `limit` bytes.
    """
    plain = type(value) is str and len(value) < limit and not _refused_in(value)
    written = _dump(value if plain else _Copier(field, depth=JSON_DEPTH, keys=None, size=limit).copy(value))
    if len(written) > limit:
        raise LimitExceeded(field, limit, len(written), "bytes")
    return written


def load_json(data: bytes | bytearray | memoryview | str) -> Any:
    """Read JSON the database holds; never raises, whatever is there.

    A number no double can hold becomes UNREADABLE in its place; what is no JSON, or deeper than 64, as a whole.
    """
    if data in (b"{}", "{}"):
        return {}  # what most rows hold as their metadata
    try:
        written = (data if isinstance(data, str) else bytes(data).decode()).strip(" \t\n\r")
        if not written.isascii():
            written.encode()  # a lone surrogate as it stands would raise there, too
        if len(written) > JSON_DEPTH and _too_deep(written):
            return UNREADABLE
        decoder = _STORED if _LONG_NUMBER.search(written) else _STORED_SHORT
        found, end = decoder.raw_decode(written)
        if end < len(written):
            return UNREADABLE
        if "\\u" in written:
            _dump(found)  # an escaped lone surrogate would raise wherever the value is written next
    except (ValueError, RecursionError):
        return UNREADABLE
    return found


def strict_json(data: str | bytes, field: str = "json", *, limit: int | None = None) -> Any:
    """Read JSON from outside: refuses double keys, NaN, numbers that would lose digits, bad UTF-8 and depth over 64."""
    if limit is not None and len(data) > limit:
        raise LimitExceeded(field, limit, len(data), "bytes")
    try:
        written = data.decode("utf-8-sig") if isinstance(data, bytes) else str.__str__(data)
    except UnicodeDecodeError as error:
        raise InvalidInput(field, "UTF-8", f"a byte that is not, at byte {error.start}") from None
    if _too_deep(written):
        raise LimitExceeded(field, JSON_DEPTH, "more", "levels")
    hooks = _StrictHooks(field)
    try:
        found = json.loads(
            written,
            object_pairs_hook=hooks.pairs,
            parse_int=hooks.whole,
            parse_float=hooks.number,
            parse_constant=hooks.constant,
        )
    except json.JSONDecodeError as error:
        raise InvalidInput(field, "JSON", f"something else at line {error.lineno}, column {error.colno}") from None
    return _Copier(field, depth=JSON_DEPTH, keys=None, size=len(written) + 1).copy(found)


class _StrictHooks:
    """The places where `json` would accept in silence what loses data."""

    def __init__(self, field: str) -> None:
        self.field = field

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise InvalidInput(self.field, "an object whose keys differ", "a key given twice")
        return found

    def whole(self, digits: str) -> int:
        if len(digits.lstrip("-")) > len(str(LARGEST_WHOLE)) or abs(int(digits)) > LARGEST_WHOLE:
            raise InvalidInput(self.field, _WHOLE_RANGE, "a larger one")
        return int(digits)

    def number(self, digits: str) -> float:
        found = float(digits)
        if not math.isfinite(found):
            raise InvalidInput(self.field, "a number a double can hold", "a larger one")
        return found

    def constant(self, _: str) -> NoReturn:
        raise InvalidInput(self.field, "finite numbers", "NaN or an infinity")


_WHOLE_RANGE: Final = "integers within 2^53 - 1 of zero"


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def _refused_in(text: str) -> re.Match[str] | None:
    """The first character that cannot be stored. Most texts are ASCII, and tell so at once."""
    return None if text.isascii() and "\0" not in text else _REFUSED.search(text)


def _dump(value: Any) -> bytes:
    return _ENCODER.encode(value).encode()


def _too_deep(written: str) -> bool:
    # Most documents hold too few brackets to be deep; only the others are walked.
    if written.count("[") + written.count("{") <= JSON_DEPTH:
        return False
    depth = 0
    for found in _BRACKETS.finditer(written):
        mark = found.group()
        if mark in "[{":
            depth += 1
            if depth > JSON_DEPTH:
                return True
        elif mark in "]}":
            depth -= 1
    return False


def _stored_int(digits: str) -> Any:
    # jsonb writes the double 1e300 as 301 digits: read it back as the double it was.
    return int(digits) if len(digits.lstrip("-")) <= _WHOLE_DIGITS else _stored_float(digits)


def _stored_float(digits: str) -> Any:
    found = float(digits) if len(digits) <= _MOST_NUMBER_DIGITS * 4 else math.inf
    return found if math.isfinite(found) else UNREADABLE


def _unreadable(_: str) -> Any:
    return UNREADABLE


_WHOLE_DIGITS: Final = len(str(LARGEST_WHOLE))
_LONG_NUMBER: Final = re.compile(rf"[0-9]{{{_WHOLE_DIGITS + 1}}}")
_STORED: Final = json.JSONDecoder(parse_int=_stored_int, parse_float=_stored_float, parse_constant=_unreadable)
# Where no number is that long, as is the rule, the reader makes integers by itself.
_STORED_SHORT: Final = json.JSONDecoder(parse_float=_stored_float, parse_constant=_unreadable)


def _object(value: object, field: str, *, depth: int, keys: int | None, size: int) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(field, "an object with text keys", _kind(value))
    copy: dict[str, Any] = _Copier(field, depth=depth, keys=keys, size=size).copy(value)
    return copy


@dataclass(slots=True)
class _Frame:
    """A list or object that is being copied, and what had been counted before it: of the whole, of what it holds."""

    source: object
    target: Any
    rest: Iterator[tuple[Any, Any]]
    bytes_before: int
    keys_before: int
    levels: int = 1
    key: Any = None


@dataclass(frozen=True, slots=True)
class _Copied:
    """A list or object that has been copied: where it stands again, it counts as much again and is not read again."""

    source: object  # kept, so that its id stays its own
    target: Any
    size: int
    keys: int
    levels: int


class _Copier:
    """Copies JSON data with a stack of its own: no nesting, cycle or sharing can exhaust Python or the memory.

    What is held at several places is read once and counted as often; when all of it fits, each place has its own copy.
    `size` bounds a count from below of the bytes the data takes as JSON; the exact count is made once it is written.
    """

    def __init__(self, field: str, *, depth: int, keys: int | None, size: int) -> None:
        self.field, self.depth, self.keys, self.size = field, depth, keys, size
        self.keys_seen = 0
        self.bytes_seen = 0
        self.stack: list[_Frame] = []
        self.open: set[int] = set()
        self.copied: dict[int, _Copied] = {}
        self.repeated = False

    def copy(self, value: object) -> Any:
        """A plain copy of `value`, or InvalidInput with the path of what is wrong."""
        whole: list[Any] = []
        self.stack.append(_Frame(None, whole, iter([(None, value)]), 0, 0))
        while self.stack:
            frame = self.stack[-1]
            entry = next(frame.rest, None)
            if entry is None:
                self._leave(self.stack.pop())
                continue
            frame.key, child = entry
            target = frame.target
            if isinstance(target, list):
                target.append(self._child(child))
            else:
                name = self._key(frame.key)  # before the child, to which its bytes do not belong
                target[name] = self._child(child)
        return json.loads(json.dumps(whole[0])) if self.repeated else whole[0]

    def _child(self, child: object) -> Any:
        if type(child) is str:
            return self._text(child)
        return self._enter(child) if isinstance(child, Mapping | list | tuple) else self._scalar(child)

    def _enter(self, child: Mapping[Any, Any] | list[Any] | tuple[Any, ...]) -> Any:
        if id(child) in self.open:
            raise InvalidInput(self._path(), "data without cycles", "a value that holds itself")
        again = self.copied.get(id(child))
        levels = again.levels if again else 1
        if len(self.stack) + levels - 1 > self.depth:
            raise LimitExceeded(self.field, self.depth, "more", "levels")
        if again:
            self.repeated = True
            self._spend(again.size)
            self._count_keys(again.keys)
            self.stack[-1].levels = max(self.stack[-1].levels, levels + 1)
            return again.target
        size, keys = self.bytes_seen, self.keys_seen
        self._spend(max(len(child), 1) + 1)
        if isinstance(child, Mapping):
            self._count_keys(len(child))
            frame = _Frame(child, {}, iter(list(child.items())), size, keys)
        else:
            frame = _Frame(child, [], iter(enumerate(child)), size, keys)
        self.open.add(id(child))
        self.stack.append(frame)
        return frame.target

    def _leave(self, frame: _Frame) -> None:
        if not self.stack:
            return
        self.open.discard(id(frame.source))
        self.stack[-1].levels = max(self.stack[-1].levels, frame.levels + 1)
        size, keys = self.bytes_seen - frame.bytes_before, self.keys_seen - frame.keys_before
        self.copied[id(frame.source)] = _Copied(frame.source, frame.target, size, keys, frame.levels)

    def _scalar(self, child: object) -> Any:
        if isinstance(child, str):
            return self._text(child)
        self._spend(1)
        if child is None or isinstance(child, bool):
            return child
        if isinstance(child, int):
            if not -LARGEST_WHOLE <= child <= LARGEST_WHOLE:
                raise InvalidInput(self._path(), _WHOLE_RANGE, "a larger one")
            return int(child)
        if type(child) is float:
            if not math.isfinite(child):
                raise InvalidInput(self._path(), "a finite number", "NaN or an infinity")
            return child or 0.0  # jsonb knows no negative zero
        raise InvalidInput(self._path(), "JSON data: text, numbers, true, false, null, lists, objects", _kind(child))

    def _text(self, child: str) -> str:
        self._spend(len(child) + 2)
        refused = _refused_in(child)
        if refused:
            raise InvalidInput(self._path(), "text PostgreSQL can store", _refused_kind(refused))
        return str.__str__(child)

    def _key(self, key: object) -> str:
        if not isinstance(key, str):
            raise InvalidInput(self._path(), "keys that are text", type(key).__name__)
        if not key:
            raise InvalidInput(self._path(), "keys that are not empty", "an empty key")
        return self._text(key)

    def _count_keys(self, more: int) -> None:
        self.keys_seen += more
        if self.keys is not None and self.keys_seen > self.keys:
            raise LimitExceeded(self.field, self.keys, self.keys_seen, "keys")

    def _spend(self, cost: int) -> None:
        self.bytes_seen += cost
        if self.bytes_seen > self.size:
            raise LimitExceeded(self.field, self.size, "more", "bytes")

    def _path(self) -> str:
        path = self.field
        for frame in self.stack[1:]:
            if isinstance(frame.target, list):
                path += f"[{frame.key}]"
            else:
                shown = isinstance(frame.key, str) and _PATH_PART.fullmatch(frame.key)
                path += f".{frame.key}" if shown else ".(a key)"
        return path


def _refused_kind(found: re.Match[str]) -> str:
    return "a NUL character" if found.group() == "\x00" else "a lone surrogate"


def _kind(value: object) -> str:
    if isinstance(value, date | timedelta):
        return f"{type(value).__name__} (write it as ISO 8601 text)"
    if type(value).__module__ == "uuid":
        return f"{type(value).__name__} (write it as text)"
    return type(value).__name__


# Numbers


def whole(value: object, field: str, least: int = 0, most: int = LARGEST_WHOLE) -> int:
    """A whole number between two bounds; True and 1.0 are not whole numbers."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(field, "a whole number", type(value).__name__)
    if value < least:
        raise InvalidInput(field, f"a whole number from {least}", _shown(value))
    if value > most:
        raise LimitExceeded(field, most, _shown(value))
    return int(value)


def limit(value: object, field: str = "limit", most: int = RESULTS) -> int:
    """How many results a caller wants, 0 to 200; 0 is an empty answer."""
    return whole(value, field, 0, most)


def position(value: object, field: str = "expected_position") -> int:
    """A place in a stream, from 0 (before the first event)."""
    return whole(value, field, 0, LARGEST_WHOLE)


def max_tokens(value: object, field: str = "max_tokens", least: int = LEAST_TOKENS) -> int:
    """A budget of tokens for a context: 1 to 300,000; of a small one the block says what did not fit."""
    return whole(value, field, least, MOST_TOKENS)


def number(value: object, field: str, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number between two bounds; True is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(field, "a number", type(value).__name__)
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(field, "a finite number", "NaN or an infinity")
    if not least <= value <= most:
        raise InvalidInput(field, f"a number from {least} to {most}", "one outside")
    if abs(value) > LARGEST_WHOLE and isinstance(value, int):
        raise InvalidInput(field, _WHOLE_RANGE, "a larger one")
    return float(value) or 0.0


def unit(value: object, field: str) -> float:
    """A number from 0 to 1; what is as good as zero is zero, so that the weights of a path can be multiplied."""
    found = number(value, field, 0, 1)
    return found if found >= LEAST_SHARE else 0.0


def importance(value: object = None, priority: object = None, rating: object = None) -> float | None:
    """The importance said in one of three ways: 0..1, a priority of 1..10, or a rating of 1..5."""
    ways = (("importance", value), ("priority", priority), ("rating", rating))
    given = [field for field, said in ways if said is not None]
    if len(given) > 1:
        raise InvalidInput(given[1], "one of importance, priority and rating", "more than one")
    if priority is not None:
        return whole(priority, "priority", 1, 10) / 10
    if rating is not None:
        return (whole(rating, "rating", 1, 5) - 1) / 4
    return None if value is None else unit(value, "importance")


def flag(value: object, field: str) -> bool:
    """True or False, and nothing that merely looks like it."""
    if not isinstance(value, bool):
        raise InvalidInput(field, "True or False", type(value).__name__)
    return value


def _shown(value: int) -> str:
    # A number of thousands of digits cannot even be printed.
    if abs(value) < _SHOWN_BELOW:
        return str(value)
    return "a larger number" if value > 0 else "a smaller number"


# Times


def moment(value: object, field: str) -> datetime:
    """A point in time in UTC: an aware datetime from 1900 up to 2200. A naive one is refused, never guessed at."""
    if not isinstance(value, datetime):
        raise InvalidInput(field, "a datetime with a time zone", type(value).__name__)
    try:
        offset = value.utcoffset()
        if offset is None:
            raise InvalidInput(field, "a datetime with a time zone", "one without")
        naive = datetime(  # noqa: DTZ001 - the offset is taken off below; a subclass becomes plain
            value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond
        )
        found = (naive - offset).replace(tzinfo=UTC)
    except InvalidInput:
        raise
    except Exception:  # noqa: BLE001 - a time zone is the caller's own code
        raise InvalidInput(field, _TIME_RANGE, "a time that is none") from None
    if not FIRST_YEAR <= found.year < END_YEAR:
        raise InvalidInput(field, _TIME_RANGE, "a time outside")
    return found


_TIME_RANGE: Final = f"a time from {FIRST_YEAR} up to {END_YEAR}"


def moment_text(value: object, field: str) -> datetime:
    """A point in time from ISO 8601 text with a time zone; a leap second is the second after it."""
    if not isinstance(value, str):
        raise InvalidInput(field, "a time in ISO 8601", type(value).__name__)
    leap = _LEAP_SECOND.fullmatch(value) if len(value) <= LABEL_CHARACTERS else None
    try:
        found = datetime.fromisoformat(f"{leap.group(1)}59{leap.group(2)}" if leap else value[: LABEL_CHARACTERS + 1])
    except ValueError:
        raise InvalidInput(field, "a time in ISO 8601 with a time zone", "something else") from None
    return moment(found, field) + timedelta(seconds=1 if leap else 0)


def moment_said(value: object, field: str, zone: tzinfo) -> datetime:
    """A point in time as `moment` takes it, or text: ISO 8601 with a time zone, or a date, which begins in `zone`."""
    if not isinstance(value, str):
        return moment(value, field)
    if len(value) > LABEL_CHARACTERS or not _DATE.fullmatch(value):
        return moment_text(value, field)
    try:
        day = date.fromisoformat(value)
    except ValueError:
        raise InvalidInput(field, "a date of the calendar", "another") from None
    return moment(datetime(day.year, day.month, day.day, tzinfo=zone), field)


def window(value: object, field: str = "window") -> tuple[datetime | None, datetime | None]:
    """A half-open stretch of time, `(start, end)`; None leaves a side open."""
    sides = tuple(value) if isinstance(value, tuple | list) else ()
    if len(sides) != 2:
        raise InvalidInput(field, "a pair of times, either of them None", type(value).__name__)
    start = None if sides[0] is None else moment(sides[0], f"{field}[0]")
    end = None if sides[1] is None else moment(sides[1], f"{field}[1]")
    if start is not None and end is not None and start >= end:
        raise InvalidInput(field, "a start before its end", "one that is not")
    return start, end


def window_said(value: object, field: str = "window") -> tuple[datetime | None, datetime | None]:
    """A half-open stretch of time as `window` takes it, its times also in ISO 8601."""
    sides = tuple(value) if isinstance(value, tuple | list) else value
    if isinstance(sides, tuple):
        sides = tuple(
            moment_text(side, f"{field}[{place}]") if isinstance(side, str) else side
            for place, side in enumerate(sides)
        )
    return window(sides, field)


def zone(value: object, field: str = "tz") -> ZoneInfo:
    """A time zone by its IANA name, such as Europe/Paris."""
    if not isinstance(value, str):
        raise InvalidInput(field, _ZONE, type(value).__name__)
    try:
        return ZoneInfo(str.__str__(value)[: NAME_BYTES + 1])
    except (ValueError, OSError, LookupError):
        raise InvalidInput(field, _ZONE, "another text") from None


_ZONE: Final = "an IANA time zone such as Europe/Paris"


def duration(value: object, field: str = "expires_in") -> timedelta:
    """A length of time that is not negative: a timedelta, or text such as `90m`, `7d`, `2 weeks` or `1 month`.

    A month has 30 days, a year 365.
    """
    found = value
    if isinstance(value, str):
        said = _DURATION.fullmatch(value.strip()) if len(value) <= LABEL_CHARACTERS else None
        if said is None:
            raise InvalidInput(field, "a number and a unit of time, such as 90m, 7d or 2 weeks", "something else")
        found = _times(_DURATION_UNITS[said.group(2).lower()], int(said.group(1)), field)
    if not isinstance(found, timedelta):
        raise InvalidInput(field, "a timedelta or text such as 7d", type(value).__name__)
    if found < timedelta(0):
        raise InvalidInput(field, "a length of time from now on", "a negative one")
    if found.days > 366 * (END_YEAR - FIRST_YEAR):
        raise InvalidInput(field, "less than 300 years", "more")
    return found


def _times(unit: timedelta, count: int, field: str) -> timedelta:
    try:
        return unit * count
    except OverflowError:
        raise InvalidInput(field, "less than 300 years", "more") from None


def expires_in(value: object, zone: tzinfo, field: str = "expires_in") -> timedelta | datetime:
    """When something expires: a length of time, or text of a date, with whose day in the zone it ends, or of a time."""
    if isinstance(value, str) and len(value) <= LABEL_CHARACTERS and _DATE.match(value.strip()):
        said = value.strip()
        if not _DATE.fullmatch(said):
            return moment_text(said, field)
        try:
            day = date.fromisoformat(said) + timedelta(days=1)
        except (ValueError, OverflowError):
            raise InvalidInput(field, "a date of the calendar", "another") from None
        return moment(datetime(day.year, day.month, day.day, tzinfo=zone), field)
    return duration(value, field)


def expiry_stated(expires_at: object, expires_in: object, expires_in_days: object) -> bool:
    """Whether a caller said anything about expiry: a stated 0 makes permanent, which is not the same as silence."""
    return any(said is not None for said in (expires_at, expires_in, expires_in_days))


def expiry(expires_at: object, expires_in: object, expires_in_days: object, now: datetime) -> datetime | None:
    """When a memory expires, said in one of three ways; None where nothing was said or a length of 0 was."""
    ways = (("expires_at", expires_at), ("expires_in", expires_in), ("expires_in_days", expires_in_days))
    given = [field for field, said in ways if said is not None]
    if len(given) > 1:
        raise InvalidInput(given[1], "one of expires_at, expires_in and expires_in_days", "more than one")
    if expires_at is not None:
        return moment(expires_at, "expires_at")
    if expires_in is not None:
        length, field = duration(expires_in, "expires_in"), "expires_in"
    elif expires_in_days is not None:
        length, field = timedelta(days=number(expires_in_days, "expires_in_days", 0, 366 * 300)), "expires_in_days"
    else:
        return None
    return moment(now + length, field) if length else None


# Choices, ids and collections


def choice(value: object, field: str, options: Collection[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str):
        raise InvalidInput(field, f"one of {', '.join(options)}", type(value).__name__)
    if len(value) > NAME_BYTES or value not in options:
        raise InvalidInput(field, f"one of {', '.join(options)}", "another text")
    return str.__str__(value)


def event_id(value: object, field: str = "event_id") -> str:
    """The canonical text of an event's id."""
    return _uuid(value, field)


def memory_id(value: object, field: str = "memory_id") -> str:
    """A memory's id in canonical text, or its short form as printed, such as `mem-1a2b3c4d`."""
    return _short_id(value, "mem-") or _uuid(value, field, "an id such as mem-1a2b3c4d, or a UUID as text")


def named_event_id(value: object, field: str = "event_id") -> str:
    """An event's id in canonical text, or its short form as printed, such as `evt-1a2b3c4d`."""
    return _short_id(value, "evt-") or _uuid(value, field, "an id such as evt-1a2b3c4d, or a UUID as text")


def cited_id(value: object, field: str = "cited_id") -> str:
    """The id of a memory or an event in canonical text, or its short form as printed, such as `evt-1a2b3c4d`."""
    expected = "an id such as mem-1a2b3c4d or evt-1a2b3c4d, or a UUID as text"
    return _short_id(value, "mem-", "evt-") or _uuid(value, field, expected)


def _short_id(value: object, *prefixes: str) -> str | None:
    """A short id with one of the prefixes, in small letters as it is printed; None for anything else."""
    if not isinstance(value, str) or len(value) >= LABEL_CHARACTERS:
        return None
    found = str.__str__(value).lower()
    return found if found.startswith(prefixes) and ids.is_short(found) else None


def _uuid(value: object, field: str, expected: str = "a UUID as text") -> str:
    if isinstance(value, str) and len(value) > LABEL_CHARACTERS:
        raise InvalidInput(field, expected, "a longer text")
    return ids.parse_id(value, field, expected)


def batch(value: object, field: str = "items", most: int = BATCH_ITEMS) -> tuple[Any, ...]:
    """The items of one all-or-nothing call: at least one, at most 500."""
    found = items(value, field, most)
    if not found:
        raise InvalidInput(field, "at least one item", "none")
    return found


def batch_bytes(total: int, field: str = "items") -> int:
    """The size of a whole batch: at most 8 MiB."""
    if total > BATCH_BYTES:
        raise LimitExceeded(field, BATCH_BYTES, total, "bytes")
    return total


def items(value: object, field: str, most: int) -> tuple[Any, ...]:
    """A list of at most `most` things; a text is not a list of its letters, and a set is taken in sorted order."""
    if isinstance(value, set | frozenset):
        if len(value) > most:
            raise LimitExceeded(field, most, len(value), "items")
        return tuple(sorted(value)) if all(isinstance(one, str) for one in value) else tuple(value)
    if not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray | memoryview):
        raise InvalidInput(field, "a list", type(value).__name__)
    try:
        size = len(value)
    except OverflowError:  # a range may be longer than Python can count
        raise LimitExceeded(field, most, "more", "items") from None
    if size > most:
        raise LimitExceeded(field, most, size, "items")
    return tuple(value)


def keys(value: object, field: str, allowed: Collection[str]) -> dict[str, Any]:
    """An object whose keys are all known, as a plain dict; an unknown one is refused, not ignored."""
    if not isinstance(value, Mapping):
        raise InvalidInput(field, f"an object of {', '.join(allowed)}", type(value).__name__)
    if any(not isinstance(key, str) or key not in allowed for key in value):
        raise InvalidInput(field, f"only {', '.join(allowed)}", "an unknown name")
    return dict(value)


def field_name(name: object, otherwise: str) -> str:
    """An unknown field's name as an error may show it: a name like any other, or `otherwise`, never a stray value."""
    return name if isinstance(name, str) and _FIELD_NAME.fullmatch(name) else otherwise


def function(value: object, field: str, expected: str = "a function") -> Callable[..., Any]:
    """A function that is told something, and is not awaited."""
    if not callable(value):
        raise InvalidInput(field, expected, type(value).__name__)
    if inspect.iscoroutinefunction(value):
        raise InvalidInput(field, expected, "one to be awaited (async def)")
    return value


def optional(check: Callable[..., T], value: object, *args: Any, **kwargs: Any) -> T | None:
    """The checked value, or None where None was given."""
    return None if value is None else check(value, *args, **kwargs)
