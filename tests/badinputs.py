"""The table of bad inputs: what must happen when a caller, a file or a model hands over something strange.

One row a case, numbered as in the requirement (a number has several rows where it names several inputs). `kind` says
to which sort of argument the value goes, `expected` what must come of it; the tests choose the calls. Numbers that are
no single value but a course of events stand in `COURSES`.
"""

from __future__ import annotations

import enum
import math
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Final, Literal, TypeVar

import numpy as np

T = TypeVar("T")

Kind = Literal[
    "text",  # facts, contents of events
    "query",
    "key",  # topic keys
    "name",  # ids of scopes, names of sessions
    "metadata",
    "json",  # JSON text from a file or the command line
    "limit",
    "whole",
    "tokens",
    "time",
    "time text",
    "duration",
    "id",
    "cursor",
    "vector",  # what an embedder answers: called with the texts and the dimensions
    "list",  # a list of ids or words in a filter
    "filter",  # a filter in its JSON form
    "batch",
]
Expected = Literal[
    "ok",  # accepted, and read back as `stored` where that is given
    "empty",  # an empty result
    "invalid",  # InvalidInput that is no LimitExceeded
    "limit",  # LimitExceeded
    "refused",  # InvalidInput of either sort
    "embedding failed",  # the vector is refused, visibly; the fact is kept where the caller asked for that
]


@dataclass(frozen=True, slots=True)
class BadInput:
    """One bad (or merely strange) value and what must come of it."""

    number: int
    title: str
    kind: Kind
    make: Callable[[], Any]
    expected: Expected
    stored: Any = None
    heavy: bool = False  # takes a lot of memory to build: tried on few calls only

    @property
    def name(self) -> str:
        """What a test report calls the row."""
        return f"{self.number:02d} {self.kind}: {self.title}"


class Word(str):
    """A text of a caller's own class."""


class Colour(str, enum.Enum):  # noqa: UP042 - the older spelling is the one met in the wild
    """An enum whose members are texts."""

    RED = "red"


def value_of(value: T) -> Callable[[], T]:
    """A factory of one value."""
    return lambda: value


def nested_list(depth: int) -> list[Any]:
    """Lists in lists, `depth` of them."""
    outer: list[Any] = []
    for _ in range(depth - 1):
        outer = [outer]
    return outer


def nested_object(depth: int) -> dict[str, Any]:
    """Objects in objects, `depth` of them."""
    outer: dict[str, Any] = {}
    for _ in range(depth - 1):
        outer = {"a": outer}
    return outer


def circular() -> dict[str, Any]:
    """An object that holds a list that holds itself."""
    inner: list[Any] = []
    inner.append(inner)
    return {"a": inner}


def shared(levels: int) -> dict[str, Any]:
    """A small object that would be 2 ** levels times as large once written."""
    inner: Any = {"a": "x"}
    for _ in range(levels):
        inner = [inner, inner]
    return {"a": inner}


def negations(count: int) -> dict[str, Any]:
    """A filter that negates a negation, `count` times."""
    inner: dict[str, Any] = {"critical": True}
    for _ in range(count):
        inner = {"none_of": [inner]}
    return inner


def filters_side_by_side(count: int) -> dict[str, Any]:
    """One filter over `count` filters."""
    return {"any_of": [{"critical": True}] * count}


def candidates(count: int) -> list[dict[str, Any]]:
    """`count` different candidates."""
    return [{"fact": f"The number of this candidate is {index}"} for index in range(count)]


Answer = Callable[[Sequence[str], int], Any]


def every(vector: Callable[[int], Sequence[Any]]) -> Answer:
    """An embedder's answer that gives each text the same vector."""
    return lambda texts, dimensions: [list(vector(dimensions)) for _ in texts]


def _first(value: Any) -> Answer:
    return every(lambda dimensions: [value] + [0.5] * (dimensions - 1))


NUL: Final = "a\x00b"
LONE: Final = "a\ud800b"
INJECTIONS: Final = (
    "'; drop table agent_memory --",
    "x' or '1'='1",
    's1";CREATE/**/TABLE t();--',
    "\\",
    "$$",
    ":name",
    "%s",
    "%",
    "%(x)s",
    "{0.__class__}",
    "{{7*7}}",
    "$(id)",
    "_",
    "a & | b ( ",
    "-)( :* <->",
    "((((",
    "^(a+)+$",
)
NOT_JSON: Final[tuple[tuple[str, Callable[[], Any]], ...]] = (
    ("an object", object),
    ("a set", lambda: {1, 2}),
    ("a datetime", lambda: datetime(2026, 1, 1, tzinfo=UTC)),
    ("a date", lambda: date(2026, 1, 1)),
    ("a timedelta", lambda: timedelta(1)),
    ("a Decimal", lambda: Decimal("1.5")),
    ("bytes", lambda: b"x"),
    ("a UUID", lambda: uuid.UUID(int=1)),
    ("a numpy integer", lambda: np.int64(1)),
    ("a numpy float", lambda: np.float64(1.5)),
    ("an array", lambda: np.zeros(2)),
    ("a complex number", lambda: 1j),
)

TEXT: Final[tuple[BadInput, ...]] = (
    BadInput(1, "NUL", "text", value_of(NUL), "invalid"),
    BadInput(1, "NUL", "query", value_of(NUL), "invalid"),
    BadInput(2, "NUL in a value", "metadata", value_of({"a": NUL}), "invalid"),
    BadInput(2, "NUL in a value of JSON text", "json", value_of('{"a": "x\\u0000y"}'), "invalid"),
    BadInput(3, "NUL in a key", "metadata", value_of({NUL: 1}), "invalid"),
    BadInput(4, "NUL", "name", value_of(NUL), "invalid"),
    BadInput(4, "NUL", "key", value_of(NUL), "invalid"),
    BadInput(5, "a lone surrogate", "text", value_of(LONE), "invalid"),
    BadInput(5, "a lone surrogate", "query", value_of(LONE), "invalid"),
    BadInput(5, "a lone surrogate", "name", value_of(LONE), "invalid"),
    BadInput(5, "a lone surrogate", "key", value_of(LONE), "invalid"),
    BadInput(6, "a lone surrogate", "metadata", value_of({"a": [LONE]}), "invalid"),
    BadInput(6, "surrogates in the wrong order", "metadata", value_of({"a": "\udc00\ud800"}), "invalid"),
    BadInput(6, "a lone surrogate in a key", "metadata", value_of({LONE: 1}), "invalid"),
    BadInput(6, "surrogates in the wrong order", "json", value_of('["\\udc00\\ud800"]'), "invalid"),
    *(
        BadInput(7, "bytes", kind, value_of(b"\xff\xfe"), "invalid")
        for kind in ("text", "query", "name", "key", "id", "cursor")
    ),
    BadInput(8, "a subclass of str", "text", lambda: Word("kept as text"), "ok", "kept as text"),
    BadInput(8, "an enum of str", "text", value_of(Colour.RED), "ok", "red"),
    BadInput(8, "an enum of str", "name", value_of(Colour.RED), "ok", "red"),
    BadInput(8, "an enum of str", "metadata", value_of({"a": Colour.RED}), "ok", {"a": "red"}),
    *(
        BadInput(9, title, kind, value_of(blank), "empty" if kind == "query" else "invalid")
        for title, blank in (
            ("nothing", ""),
            ("only spaces", " \t\n\u00a0\u3000"),
            ("only zero-width", "\u200b\u200d\ufeff\u2060"),
            ("only fillers and selectors", "\u3164\ufe0f\u034f"),
        )
        for kind in ("text", "query", "name", "key")
    ),
    BadInput(10, "marks of direction, zero-width and tags", "text", value_of("a\u202eb\u200bc\U000e0041"), "ok"),
    BadInput(10, "marks of direction, zero-width and tags", "query", value_of("a\u202eb\u200bc\U000e0041"), "ok"),
    BadInput(11, "no characters, private use, unassigned", "text", value_of("a\uffff\ue000\u0378"), "ok"),
    BadInput(12, "a letter and its accent", "text", value_of("cafe\u0301"), "ok", "caf\u00e9"),
    BadInput(12, "a letter and its accent", "key", value_of("cafe\u0301"), "ok", "caf\u00e9"),
    BadInput(
        13, "letters whose case depends on the country", "key", value_of("\u0130\u0131 \u00df \u1e9e \u212a"), "ok"
    ),
    BadInput(14, "1 MiB and one byte", "text", lambda: "x" * ((1 << 20) + 1), "limit"),
    BadInput(15, "1 GiB", "text", lambda: "x" * (1 << 30), "limit", heavy=True),
    BadInput(16, "60 MiB", "text", lambda: "é" * (60 << 20), "limit", heavy=True),
    BadInput(17, "300,000 different words", "text", lambda: " ".join(f"w{n}" for n in range(300_000)), "limit"),
    BadInput(18, "one word of 3,000 characters", "text", value_of("x" * 3_000), "ok", "x" * 3_000),
    BadInput(19, "one word again and again", "text", lambda: "word " * 1_600, "ok"),
    BadInput(20, "operators of a text search", "query", value_of("a & | b ( "), "ok"),
    BadInput(21, "only quotes", "query", value_of("\"'\"'"), "ok"),
    BadInput(21, "only signs", "query", value_of("-)( :* <->"), "ok"),
    BadInput(22, "only stop words", "query", value_of("the of and to it is"), "ok"),
    BadInput(23, "5 MB", "query", lambda: "word " * 1_000_000, "limit"),
    BadInput(23, "32 KiB and one byte", "query", lambda: "x" * ((32 << 10) + 1), "limit"),
    BadInput(23, "fewer characters than bytes", "query", lambda: "日" * 11_000, "limit"),
    *(BadInput(24, "a sign of LIKE", "query", value_of(sign), "ok") for sign in ("%", "_", "\\", "100%")),
    BadInput(25, "6,000 characters", "key", lambda: "".join(chr(33 + n * 7 % 90) for n in range(6_000)), "limit"),
    BadInput(25, "1,025 bytes", "key", lambda: "x" * 1_025, "limit"),
    BadInput(25, "few characters that become many", "key", lambda: "\ufdfa" * 60, "limit"),
    BadInput(26, "1 MB of one letter", "key", lambda: "x" * 1_000_000, "limit"),
    BadInput(26, "1 MB of one letter", "name", lambda: "x" * 1_000_000, "limit"),
    BadInput(27, "line ends and escapes", "text", value_of("a\r\nb\u2028c\x1b[31md"), "ok", "a\r\nb\u2028c\x1b[31md"),
    BadInput(27, "a line end", "name", value_of("a\nb"), "invalid"),
    BadInput(27, "an escape", "name", value_of("a\x1b[31m"), "invalid"),
    BadInput(28, "Engram's own marks", "text", value_of('<memory id="mem-00000000">\n--- END ---\n{"fact": 1}'), "ok"),
    BadInput(29, "bytes that are no UTF-8", "json", value_of(b'{"a": "\xff"}'), "invalid"),
    *(BadInput(30, f"a template or a statement ({n})", "text", value_of(t), "ok", t) for n, t in enumerate(INJECTIONS)),
    *(BadInput(30, f"a template or a statement ({n})", "query", value_of(t), "ok") for n, t in enumerate(INJECTIONS)),
    *(
        BadInput(30, f"a template or a statement ({n})", "metadata", value_of({t: [t]}), "ok", {t: [t]})
        for n, t in enumerate(INJECTIONS)
    ),
)

JSON: Final[tuple[BadInput, ...]] = (
    *(
        BadInput(31, title, "metadata", value_of({"a": [number]}), "invalid")
        for title, number in (("NaN", math.nan), ("infinity", math.inf), ("minus infinity", -math.inf))
    ),
    *(BadInput(31, "no number", "json", value_of(f"[{word}]"), "invalid") for word in ("NaN", "Infinity", "-Infinity")),
    BadInput(32, "1e400", "json", value_of("[1e400]"), "invalid"),
    BadInput(33, "1e5000", "json", value_of("[1e5000]"), "invalid"),
    BadInput(34, "1e131071", "json", value_of("[1e131071]"), "invalid"),
    BadInput(35, "1e200000", "json", value_of("[1e200000]"), "invalid"),
    BadInput(35, "a whole number of 5,000 digits", "json", lambda: "[" + "9" * 5_000 + "]", "invalid"),
    BadInput(36, "10 to the 400th", "metadata", lambda: {"a": 10**400}, "invalid"),
    BadInput(36, "10 to the 5000th", "metadata", lambda: {"a": -(10**5_000)}, "invalid"),
    BadInput(36, "2 to the 64th", "metadata", value_of({"a": 2**64}), "invalid"),
    BadInput(36, "2 to the 53rd", "metadata", value_of({"a": -(2**53)}), "invalid"),
    BadInput(36, "2 to the 53rd", "json", value_of(f"[{2**53}]"), "invalid"),
    BadInput(36, "the largest whole number", "metadata", value_of({"a": 2**53 - 1}), "ok", {"a": 2**53 - 1}),
    BadInput(37, "one key twice", "json", value_of('{"a": 1, "a": 2}'), "invalid"),
    BadInput(37, "one key twice, spelled differently", "json", value_of('{"a": 1, "\\u0061": 2}'), "invalid"),
    BadInput(38, "a key that is a number", "metadata", value_of({1: 2, "1": 3}), "invalid"),
    BadInput(38, "a key that is nothing", "metadata", value_of({None: 2}), "invalid"),
    BadInput(39, "depth 32", "metadata", lambda: nested_object(32), "ok"),
    BadInput(39, "depth 33", "metadata", lambda: nested_object(33), "limit"),
    BadInput(39, "depth 33 in lists", "metadata", lambda: {"a": nested_list(32)}, "limit"),
    BadInput(40, "depth 1,000", "metadata", lambda: nested_object(1_000), "limit"),
    BadInput(40, "depth 1,000", "json", value_of("[" * 1_000 + "]" * 1_000), "limit"),
    BadInput(41, "depth 20,000", "metadata", lambda: {"a": nested_list(20_000)}, "limit"),
    BadInput(41, "depth 1,000,000", "metadata", lambda: nested_object(1_000_000), "limit"),
    BadInput(41, "depth 1,000,000", "json", lambda: "[" * 1_000_000, "limit"),
    BadInput(42, "a circle", "metadata", circular, "invalid"),
    BadInput(42, "small, but enormous once written", "metadata", lambda: shared(28), "limit"),
    *(
        BadInput(43, title, "metadata", lambda make=make: {"a": [make()]}, "invalid")  # type: ignore[misc]
        for title, make in NOT_JSON
    ),
    BadInput(44, "512 keys", "metadata", lambda: {f"k{n}": n for n in range(512)}, "ok"),
    BadInput(44, "513 keys", "metadata", lambda: {f"k{n}": n for n in range(513)}, "limit"),
    BadInput(44, "513 keys in all", "metadata", lambda: {"a": [{f"k{n}": n} for n in range(512)]}, "limit"),
    BadInput(44, "a key of 1 MB", "metadata", lambda: {"x" * 1_000_000: 1}, "limit"),
    BadInput(44, "an empty key", "metadata", value_of({"": 1}), "invalid"),
    BadInput(45, "32 KiB", "metadata", lambda: {"a": "x" * ((32 << 10) - 8)}, "ok"),
    BadInput(45, "32 KiB and one byte", "metadata", lambda: {"a": "x" * ((32 << 10) - 7)}, "limit"),
    BadInput(45, "fewer characters than bytes", "metadata", lambda: {"a": "日" * 11_000}, "limit"),
    BadInput(
        46,
        "names that mean something elsewhere",
        "metadata",
        value_of({"__proto__": {"x": 1}, "__class__": "y", "lc": 1, "type": "constructor", "id": ["os", "system"]}),
        "ok",
        {"__proto__": {"x": 1}, "__class__": "y", "lc": 1, "type": "constructor", "id": ["os", "system"]},
    ),
    *(
        BadInput(47, "an object for a text", kind, value_of({"a": 1}), "invalid")
        for kind in ("text", "query", "name", "key")
    ),
    *(BadInput(47, "a number for a text", kind, value_of(5), "invalid") for kind in ("text", "query", "name", "key")),
    *(
        BadInput(48, f"{value!r} for an object", "metadata", value_of(value), "invalid")
        for value in (True, 5, "x", [], [("a", 1)])
    ),
)

_NUMBERS_THAT_ARE_NONE: Final = (1.5, 1.0, True, math.nan, Decimal(5), Decimal("NaN"), "5", None)

NUMBERS: Final[tuple[BadInput, ...]] = (
    BadInput(49, "0", "limit", value_of(0), "empty"),
    *(BadInput(49, f"{value}", "limit", value_of(value), "invalid") for value in (-1, -(2**63))),
    *(BadInput(49, f"{value}", "limit", value_of(value), "limit") for value in (201, 2**63)),
    BadInput(49, "10 to the 5000th", "limit", lambda: 10**5_000, "limit"),
    BadInput(49, "minus 10 to the 5000th", "limit", lambda: -(10**5_000), "invalid"),
    *(BadInput(49, f"{value!r}", "limit", value_of(value), "invalid") for value in _NUMBERS_THAT_ARE_NONE),
    BadInput(50, "an offset for a cursor", "cursor", value_of(-1), "invalid"),
    BadInput(52, "2 to the 63rd", "whole", value_of(2**63), "limit"),
    BadInput(52, "minus 2 to the 31st", "whole", value_of(-(2**31)), "invalid"),
    *(BadInput(53, f"{value!r}", "whole", value_of(value), "invalid") for value in _NUMBERS_THAT_ARE_NONE[:-1]),
    BadInput(54, "no time zone", "time", value_of(datetime(2026, 1, 1)), "invalid"),  # noqa: DTZ001 - the case itself
    BadInput(54, "no time zone in a gap", "time", value_of(datetime(2026, 3, 29, 2, 30)), "invalid"),  # noqa: DTZ001
    BadInput(54, "a date", "time", value_of(date(2026, 1, 1)), "invalid"),
    BadInput(54, "a text", "time", value_of("2026-01-01T00:00:00Z"), "invalid"),
    BadInput(54, "a number", "time", value_of(1_700_000_000), "invalid"),
    BadInput(54, "no time zone", "time text", value_of("2026-01-01T00:00:00"), "invalid"),
    BadInput(55, "the year 1", "time", value_of(datetime.min.replace(tzinfo=UTC)), "invalid"),
    BadInput(
        55,
        "the year 1 before UTC",
        "time",
        value_of(datetime.min.replace(tzinfo=timezone(timedelta(hours=9)))),
        "invalid",
    ),
    BadInput(55, "the year 9999", "time", value_of(datetime.max.replace(tzinfo=UTC)), "invalid"),
    BadInput(
        55,
        "the year 9999 after UTC",
        "time",
        value_of(datetime.max.replace(tzinfo=timezone(timedelta(hours=-9)))),
        "invalid",
    ),
    BadInput(55, "1899", "time", value_of(datetime(1899, 12, 31, 23, 59, 59, tzinfo=UTC)), "invalid"),
    BadInput(55, "1900", "time", value_of(datetime(1900, 1, 1, tzinfo=UTC)), "ok"),
    BadInput(55, "2200", "time", value_of(datetime(2200, 1, 1, tzinfo=UTC)), "invalid"),
    BadInput(55, "the end of 2199", "time", value_of(datetime(2199, 12, 31, 23, 59, 59, tzinfo=UTC)), "ok"),
    *(
        BadInput(56, "no time", "time text", value_of(written), "invalid")
        for written in ("infinity", "-infinity", "0044-03-15 BC", "10000-01-01T00:00:00Z", "now", "", "x" * 100_000)
    ),
    BadInput(
        57, "a leap second", "time text", value_of("2016-12-31T23:59:60Z"), "ok", datetime(2017, 1, 1, tzinfo=UTC)
    ),
    BadInput(
        58,
        "an offset with seconds",
        "time",
        value_of(datetime(2026, 1, 1, 1, 1, 1, tzinfo=timezone(timedelta(hours=1, minutes=1, seconds=1)))),
        "ok",
        datetime(2026, 1, 1, tzinfo=UTC),
    ),
    BadInput(58, "the second time of that hour", "time", value_of(datetime(2026, 1, 1, tzinfo=UTC, fold=1)), "ok"),
    BadInput(59, "999,999,999 days", "duration", value_of(timedelta(days=999_999_999)), "invalid"),
    BadInput(59, "a negative length", "duration", value_of(timedelta(seconds=-1)), "invalid"),
    BadInput(59, "a length nobody can read", "duration", value_of("soon"), "invalid"),
    BadInput(59, "a length of 9,999,999 weeks", "duration", value_of("9999999w"), "invalid"),
    *(
        BadInput(62, "no UUID", "id", value_of(written), "invalid")
        for written in ("not-a-uuid", "", "mem-", "mem-zzzzzzzz", "0" * 31, "'; drop table x --", "x" * 1_000_000)
    ),
    BadInput(62, "nil", "id", value_of("00000000-0000-0000-0000-000000000000"), "invalid"),
    BadInput(62, "a number", "id", value_of(5), "invalid"),
    BadInput(62, "a UUID object", "id", value_of(uuid.UUID(int=5)), "invalid"),
    BadInput(
        62,
        "capitals in braces",
        "id",
        value_of("{0199F2A0-7B1C-7D00-8000-0000000000AB}"),
        "ok",
        "0199f2a0-7b1c-7d00-8000-0000000000ab",
    ),
    *(
        BadInput(67, "no cursor", "cursor", value_of(written), "invalid")
        for written in ("", "x", "AQEB", "=" * 4, "é", "a" * 100_000, "0", "eyJhIjoxfQ")
    ),
    BadInput(68, "0", "tokens", value_of(0), "invalid"),
    BadInput(68, "1", "tokens", value_of(1), "ok"),
    BadInput(68, "10 to the 9th", "tokens", value_of(10**9), "limit"),
    BadInput(68, "50.0", "tokens", value_of(50.0), "invalid"),
)

VECTORS: Final[tuple[BadInput, ...]] = (
    BadInput(69, "NaN", "vector", value_of(_first(math.nan)), "embedding failed"),
    BadInput(70, "infinity", "vector", value_of(_first(math.inf)), "embedding failed"),
    BadInput(70, "minus infinity", "vector", value_of(_first(-math.inf)), "embedding failed"),
    BadInput(70, "1e39", "vector", value_of(_first(1e39)), "embedding failed"),
    BadInput(71, "all zeros", "vector", value_of(every(lambda n: [0.0] * n)), "embedding failed"),
    BadInput(72, "1e-50 everywhere", "vector", value_of(every(lambda n: [1e-50] * n)), "embedding failed"),
    BadInput(73, "1e38 everywhere", "vector", value_of(every(lambda n: [1e38] * n)), "embedding failed"),
    BadInput(74, "one dimension too few", "vector", value_of(every(lambda n: [0.5] * (n - 1))), "embedding failed"),
    BadInput(74, "one dimension too many", "vector", value_of(every(lambda n: [0.5] * (n + 1))), "embedding failed"),
    BadInput(75, "an empty vector", "vector", value_of(every(lambda _: [])), "embedding failed"),
    BadInput(78, "texts", "vector", value_of(every(lambda n: ["0.5"] * n)), "embedding failed"),
    BadInput(78, "bools", "vector", value_of(every(lambda n: [True] * n)), "embedding failed"),
    BadInput(78, "nothing", "vector", value_of(every(lambda n: [None] * n)), "embedding failed"),
    BadInput(
        79, "three dimensions of array", "vector", value_of(lambda t, n: np.ones((len(t), n, 1))), "embedding failed"
    ),
    BadInput(79, "one dimension of array", "vector", value_of(lambda _, n: np.ones(n)), "embedding failed"),
    BadInput(79, "70,000 in one place", "vector", value_of(_first(70_000.0)), "ok"),
    BadInput(81, "one vector too few", "vector", value_of(lambda t, n: np.ones((len(t) - 1, n))), "embedding failed"),
    BadInput(81, "one vector too many", "vector", value_of(lambda t, n: np.ones((len(t) + 1, n))), "embedding failed"),
    BadInput(81, "no answer", "vector", value_of(lambda _, __: None), "embedding failed"),
    BadInput(81, "base64", "vector", value_of(lambda t, _: ["AAAAPw=="] * len(t)), "embedding failed"),
)

COLLECTIONS: Final[tuple[BadInput, ...]] = (
    BadInput(83, "65,536 values", "list", lambda: ["x"] * 65_536, "limit"),
    BadInput(83, "1,001 values", "list", lambda: ["x"] * 1_001, "limit"),
    BadInput(84, "a number among texts", "list", value_of([1, "a"]), "invalid"),
    BadInput(84, "one text for a list", "list", value_of("abc"), "invalid"),
    BadInput(85, "no values", "list", value_of([]), "empty"),
    BadInput(85, "a value that is nothing", "list", value_of([None]), "invalid"),
    BadInput(86, "a statement for a name", "filter", value_of({"x') OR '1'='1": 1}), "invalid"),
    BadInput(86, "an unknown name", "filter", value_of({"memory_type": ["semantic"]}), "invalid"),
    BadInput(86, "a column that is no field", "filter", value_of({"tenant_id": ["other"]}), "invalid"),
    BadInput(
        86, "a statement for a path", "filter", value_of({"metadata_range": {"a') OR ('1'='1": [1, 2]}}), "invalid"
    ),
    BadInput(87, "an operator", "filter", value_of({"$eq; drop": 1}), "invalid"),
    BadInput(87, "an operator for a value", "filter", value_of({"min_importance": {"$gt": 0}}), "invalid"),
    *(
        BadInput(88, f"a template or a statement ({n})", "filter", value_of({"metadata": {"nowhere": t}}), "empty")
        for n, t in enumerate(INJECTIONS)
    ),
    *(
        BadInput(88, f"a template or a statement ({n})", "list", value_of([t]), "empty")
        for n, t in enumerate(INJECTIONS)
    ),
    *(
        BadInput(89, title, "filter", value_of({"metadata_range": {path: [1, 2]}}), "invalid")
        for title, path in (
            ("50 names", ".".join("a" * 50)),
            ("5 names", "a.b.c.d.e"),
            ("a quote", "a.b'c"),
            ("a JSON path", "$.a[*]"),
            ("an empty name", "a..b"),
            ("nothing", ""),
            ("65 characters", "a" * 65),
        )
    ),
    BadInput(90, "8 levels", "filter", lambda: negations(7), "ok"),
    BadInput(90, "9 levels", "filter", lambda: negations(8), "limit"),
    BadInput(90, "64 nodes", "filter", lambda: filters_side_by_side(63), "ok"),
    BadInput(90, "65 nodes", "filter", lambda: filters_side_by_side(64), "limit"),
    BadInput(90, "10,000 negations", "filter", lambda: negations(10_000), "limit"),
    BadInput(90, "1,000,000 negations", "filter", lambda: negations(1_000_000), "limit", heavy=True),
    BadInput(90, "a list for a filter", "filter", value_of([{"critical": True}]), "invalid"),
    *(BadInput(91, f"a statement ({n})", "name", value_of(t), "ok", t) for n, t in enumerate(INJECTIONS)),
    BadInput(91, "a wildcard", "name", value_of("*"), "ok"),
    BadInput(92, "63 letters and an a", "name", value_of("n" * 63 + "a"), "ok", "n" * 63 + "a"),
    BadInput(92, "63 letters and a b", "name", value_of("n" * 63 + "b"), "ok", "n" * 63 + "b"),
    BadInput(92, "200 bytes", "name", value_of("n" * 200), "ok", "n" * 200),
    BadInput(92, "201 bytes", "name", value_of("n" * 201), "limit"),
    BadInput(92, "67 characters of 3 bytes", "name", value_of("日" * 67), "limit"),
    BadInput(93, "no items", "batch", value_of([]), "invalid"),
    BadInput(93, "501 items", "batch", lambda: candidates(501), "limit"),
    BadInput(93, "a text", "batch", value_of("a fact"), "invalid"),
    BadInput(93, "one object", "batch", value_of({"fact": "a fact"}), "invalid"),
    BadInput(93, "texts for objects", "batch", value_of([5]), "invalid"),
    BadInput(94, "a regular expression", "filter", value_of({"metadata": {"a": {"$regex": "(((("}}}), "invalid"),
    BadInput(94, "a regular expression that explodes", "query", value_of("^(a+)+$ " + "a" * 28), "ok"),
)

ROWS: Final[tuple[BadInput, ...]] = TEXT + JSON + NUMBERS + VECTORS + COLLECTIONS

COURSES: Final[dict[int, str]] = {
    50: "a negative offset: there are no offsets, only cursors",
    51: "the search effort is chosen by the library and clamped; no caller can pass one",
    60: "an event from the future or long past is kept, in order of position",
    61: "the clock jumps back between two appends: positions are not moved",
    63: "an event id sent again with the same body is a duplicate",
    64: "an event id sent again with another body is IdempotencyMismatch",
    65: "an event id of another tenant is independent",
    66: "an id of another tenant is NotFound with the text of an unknown one",
    76: "a model of more dimensions than an index takes is refused when it is first used",
    77: "the same, beyond what the type takes",
    80: "vectors are only sent in their own text form with a cast",
    82: "an embedder that gives every text the same vector is reported",
    95: "a relation to itself, a cycle, a hub of thousands: refused, ended, capped (see test_relations.py)",
    96: "notifications carry ids only: no call exists yet",
}


def rows(*kinds: Kind, heavy: bool = False) -> tuple[BadInput, ...]:
    """The rows of some kinds, in order; the heavy ones only when asked for."""
    return tuple(row for row in ROWS if row.kind in kinds and (heavy or not row.heavy))
