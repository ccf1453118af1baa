"""Bad inputs at both doors: the table of bad inputs against every argument of every public call.

Most of it runs against a door whose database is nowhere: a refusal there proves that no connection was taken. The rest
runs against PostgreSQL and looks at what is left behind: no row, no open transaction, and a door that still works.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import math
import re
import time
import typing
import unicodedata
import uuid
from collections import UserDict, UserList, UserString, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta, tzinfo
from datetime import time as time_of_day
from decimal import Decimal
from importlib import resources
from typing import Any, Final

import calls
import numpy as np
import psycopg
import pytest
from badinputs import INJECTIONS, BadInput, Kind, rows
from calls import FIELDS, GROUPS, INSIDE, KEYWORDS, UNKNOWN_ID, VALID, Place
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from engram import AsyncEngram, AsyncOps, Edit, Engram, Filter, Ops, Scope
from engram.database import Database
from engram.embedded import EmbeddedServer
from engram.errors import (
    EngramError,
    IdempotencyMismatch,
    InvalidInput,
    LimitExceeded,
    ModelRejected,
    NotFound,
    SettingsError,
    Unavailable,
)
from engram.settings import load
from engram.values import Receipt

DOORS: Final[tuple[tuple[Any, str], ...]] = ((Engram, ""), (AsyncEngram, ""), (Ops, "ops."), (AsyncOps, "ops."))
NOWHERE: Final = "postgresql://nobody:hunter2@127.0.0.1:1/nowhere"
PLACES: Final = calls.places()
SECRET: Final = "hunter2 was here"

# Rows of the table that no call can meet yet, and why.
NO_CALL_YET: Final[tuple[tuple[str, str], ...]] = (
    ("29, 31-37, 40, 41 as JSON text", "no call reads JSON text: files and the command line do, behind strict_json"),
    ("51 the search effort", "the library chooses it: no call has an argument for it"),
    ("96 notifications", "nothing is notified yet"),
    ("97-120 answers of a language model", "no language model is asked yet"),
)
NAMES_OF_LATER_CALLS: Final = re.compile(r"notif|subscri|listen|watch|offset|ef_search|effort")

# The rows that go to each kind of argument. Of an argument that is stricter than its rows, the rows that would be fine
# elsewhere may be refused too: that is "any". What differs from the table is named in `DIFFERENT`.
ROWS_OF: Final[Mapping[str, tuple[Kind, ...]]] = {
    "fact": ("text",),
    "content": ("text",),
    "content or none": ("text",),
    "long text": ("text",),
    "title": ("text",),
    "label": ("text",),
    "note": ("text",),
    "query": ("query",),
    "question": ("query",),
    "key": ("key",),
    "arguments": ("metadata",),
    "name": ("name",),
    "scope id": ("name",),
    "metadata": ("metadata",),
    "payload": ("metadata",),
    "limit": ("limit",),
    "limit or all": ("limit",),
    "whole": ("whole",),
    "revision": ("whole",),
    "small whole": ("whole",),
    "unit": ("whole", "limit"),
    "number": ("whole", "limit"),
    "wait": ("whole", "limit"),
    "tokens": ("tokens", "whole"),
    "tokens from 0": ("tokens", "whole"),
    "time": ("time",),
    "end": ("time",),  # which is to come after the beginning
    "time or text": ("time", "time text"),
    "window": ("time", "time text"),
    "duration": ("duration",),
    "id": ("id",),
    "cursor": ("cursor",),
    "mark": ("cursor",),
    "filter": ("filter",),
    "tags": ("list",),
    "words": ("list",),
    "ids": ("list",),
    "filter ids": ("list",),
    "choices": ("list",),
    "citations": ("list",),
    "batch": ("batch",),
    "nested batch": ("batch",),
    "messages": ("batch", "text"),
    "filters": ("batch", "list"),
    "choice": ("text", "id", "whole"),
    "flag": ("text", "limit"),
    "scope": ("text", "metadata", "whole"),
    "sections": ("text", "filter", "batch"),
    "ranges": ("text", "filter", "batch"),
    "function": ("text", "metadata", "whole"),
    "path": ("text",),
    "anchors": ("text", "metadata"),
}
WORDS_ARE_FREE: Final = frozenset(
    {"fact", "content", "content or none", "messages", "query", "key", "name", "scope id"}
)
REFUSES_ALL: Final = frozenset({"choice", "scope", "function", "anchors"})
MAY_REFUSE: Final = frozenset(
    {
        "label",
        "note",
        "long text",
        "title",
        "question",
        "tags",
        "words",
        "ids",
        "filter ids",
        "choices",
        "citations",
        "revision",
        "small whole",
        "unit",
    }
    | {"path", "number", "wait", "tokens", "tokens from 0", "filters", "sections", "ranges", "flag", "end"}
)
DIFFERENT: Final[Mapping[tuple[str, str], str]] = {
    ("scope id", "a wildcard"): "invalid",  # a scope is one owner, and `*` would read like all of them
    ("payload", "513 keys"): "ok",  # a payload is bounded by its bytes alone
    ("payload", "513 keys in all"): "ok",
    ("payload", "32 KiB and one byte"): "ok",
    ("payload", "fewer characters than bytes"): "ok",
    ("payload", "a key of 1 MB"): "ok",
    ("arguments", "513 keys"): "ok",
    ("arguments", "513 keys in all"): "ok",
    ("arguments", "32 KiB and one byte"): "ok",
    ("arguments", "fewer characters than bytes"): "ok",
    ("arguments", "depth 32"): "limit",  # they are one level inside the payload of their event
    ("time or text", "a text"): "ok",  # an assistant writes its times
    ("window", "a text"): "ok",  # the JSON form of a filter writes its times
    ("filters", "no items"): "ok",  # an empty collection matches nothing
    ("tokens from 0", "0"): "ok",  # a budget of nothing leaves everything out, and says so
    ("messages", "a text"): "ok",  # one message of the user
    ("nested batch", "no items"): "ok",
    ("limit or all", "None"): "ok",  # all there are
    ("title", "nothing"): "ok",  # a document may have none
    **{  # a tool may give nothing, a file may hold nothing, and an assistant may say nothing
        ("content or none", title): "ok"
        for title in ("nothing", "only spaces", "only zero-width", "only fillers and selectors")
    },
    ("long text", "1 MiB and one byte"): "ok",  # long texts are what it is for
    ("long text", "300,000 different words"): "ok",
}


def cases(kind: str) -> Iterator[tuple[BadInput, str]]:
    """The rows for a kind of argument, each with what is expected of it there."""
    for row in rows(*ROWS_OF[kind]):
        expected: str = row.expected
        if kind in REFUSES_ALL:
            expected = "refused"
        elif expected in ("ok", "empty"):
            expected = "any" if kind in MAY_REFUSE else "ok"
        elif kind in MAY_REFUSE:
            expected = "refused" if _is_refused_anywhere(kind, row) else "any"
        yield row, DIFFERENT.get((kind, row.title), expected)


def _is_refused_anywhere(kind: str, row: BadInput) -> bool:
    """Whether a row that the table refuses is wrong for a related kind as well: 1.5 is a number, True is a flag."""
    value = row.make()
    if value is None:
        return False  # as good as left out
    if kind in ("unit", "number", "wait"):
        return not isinstance(value, int | float) or (isinstance(value, float) and not math.isfinite(value))
    if kind == "flag":
        return not isinstance(value, bool)
    return True


# The doors


class Reached(Unavailable):
    """The call was found valid and asked for its database."""


class Nowhere(Database):
    """A database that cannot be reached: to ask it for a transaction is to have passed the checks."""

    def run(self, *_: Any, **__: Any) -> Any:
        """Say that the checks were passed."""
        raise Reached

    async def run_async(self, *_: Any, **__: Any) -> Any:
        """Say that the checks were passed."""
        raise Reached


def _nowhere(door: type[Any]) -> Any:
    found = door(NOWHERE, settings=load({}), embedder="none")
    found._core._database = Nowhere(NOWHERE, found.settings)
    return found


@pytest.fixture(scope="module")
def nowhere() -> Engram:
    """A door to nowhere."""
    door: Engram = _nowhere(Engram)
    return door


@pytest.fixture(scope="module")
def nowhere_async() -> AsyncEngram:
    """A door to nowhere for event loops."""
    door: AsyncEngram = _nowhere(AsyncEngram)
    return door


def method(door: Any, call: str) -> Callable[..., Any]:
    """A public call of a door, by its name in the table."""
    found: Callable[..., Any] = getattr(door.ops, call[4:]) if call.startswith("ops.") else getattr(door, call)
    return found


async def outcome(door: Any, call: str, arguments: Mapping[str, Any]) -> Exception | None:
    """What came of a call: None when it was accepted, or the exception, of whatever class."""
    if call == "close":
        door = _nowhere(type(door))  # the shared door stays open for the others
    try:
        result = method(door, call)(**arguments)
        if inspect.isawaitable(result):
            await result
    except Reached:
        return None
    except Exception as error:
        return error
    return None


def verdict(place: Place, expected: str, error: Exception | None) -> str | None:
    """What is wrong with an outcome, or None."""
    if place.argument == "use_llm" and isinstance(error, ModelRejected):
        return None if expected in ("ok", "any") else f"accepted instead of {expected}"  # there is no model here
    if error is not None and type(error) not in (InvalidInput, LimitExceeded):
        return f"{type(error).__name__} instead of an InvalidInput"
    if error is None:
        return None if expected in ("ok", "any") else f"accepted instead of {expected}"
    if expected == "ok":
        return f"refused: {error}"
    if expected in ("invalid", "limit") and isinstance(error, LimitExceeded) is not (expected == "limit"):
        return f"{type(error).__name__} instead of {expected}"
    name = re.compile(rf"\b({place.argument}|{place.inside})\b")
    return None if name.search(error.field) else f"{error.field} named instead"  # type: ignore[attr-defined]


def quotes(value: object, error: BaseException | None) -> bool:
    """Whether an error, or what it came from, shows a value that is long enough to be recognised."""
    shown = ""
    while error is not None:
        shown += f"{error}\n{getattr(error, 'facts', '')}\n"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    texts = [value] if isinstance(value, str) else []
    if isinstance(value, Mapping) and len(value) < 20:
        texts = [one for one in value.values() if isinstance(one, str)]
    return any(len(one) >= 6 and str.__str__(one)[:4_000] in shown for one in texts)


# The map of arguments is whole


def _public(door: type) -> dict[str, Any]:
    return {name: one for name, one in vars(door).items() if not name.startswith("_") and callable(one)}


def _own_and_shared(call: Any) -> tuple[set[str], Any]:
    hints = typing.get_type_hints(call)
    own, shared = set(), None
    for name, parameter in inspect.signature(call).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            (shared,) = typing.get_args(hints[name])
        elif name != "self":
            own.add(name)
    return own, shared


def test_every_argument_of_every_public_call_is_in_the_map() -> None:
    seen = set()
    for door, prefix in DOORS:
        methods = {**_public(door), **({"scoped": door.scoped} if door in (Engram, AsyncEngram) else {})}
        for name, call in methods.items():
            own, shared = _own_and_shared(call)
            assert own == set(FIELDS[prefix + name]), f"{prefix}{name}: the map in calls.py does not name its arguments"
            group = KEYWORDS.get(prefix + name)
            assert shared is (GROUPS[group][0] if group else None), f"{prefix}{name}: the map has other keywords"
            seen.add(prefix + name)
    assert seen == set(calls.calls())


def test_every_shared_keyword_is_in_the_map() -> None:
    for group, (keywords, _) in GROUPS.items():
        assert set(keywords.__annotations__) == set(calls.names_of(group)), group
    assert {one.name for one in dataclasses.fields(Filter) if one.init} == set(FIELDS["Filter"])
    spread = {group for _, _, groups, _, _ in INSIDE for group in groups} | {"Filter"}
    kept = {"Ids", "Read", "Write", "TaskWrite", "SessionWrite", "EndorseWrite", "Attributes", "NewMemory"}
    assert spread | kept == {*GROUPS, "Filter"}


def test_every_kind_of_argument_has_rows_and_every_row_of_the_door_has_an_argument() -> None:
    assert {place.kind for place in PLACES} == set(ROWS_OF)
    used = {kind for kinds in ROWS_OF.values() for kind in kinds}
    assert {row.kind for row in rows(*typing.get_args(Kind))} - used == {"json", "vector"}


def test_no_call_has_come_for_the_rows_that_wait_for_one() -> None:
    assert len({number for number, _ in NO_CALL_YET}) == len(NO_CALL_YET)
    words = {*calls.calls(), *(place.inside or place.argument for place in PLACES)}
    assert {word for word in words if NAMES_OF_LATER_CALLS.search(word)} == set()


async def test_the_valid_calls_of_the_map_are_valid(nowhere: Engram, nowhere_async: AsyncEngram) -> None:
    for call in calls.calls():
        if call != "close":
            for door in (nowhere, nowhere_async):
                assert await outcome(door, call, VALID.get(call, {})) is None, call


# The table


@pytest.mark.parametrize("doors", ["in turn", pytest.param("each", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ROWS_OF)
async def test_both_doors_do_with_a_bad_input_what_the_table_says(
    nowhere: Engram, nowhere_async: AsyncEngram, kind: str, doors: str
) -> None:
    """Every row at every argument of its kind, at one door or the other; each row and each argument meets both."""
    wrong = []
    both = (nowhere, nowhere_async)
    for turn, (row, expected) in enumerate(cases(kind)):
        value = row.make()
        for number, place in enumerate(one for one in PLACES if one.kind == kind):
            sides = [[value, None], [None, value]] if kind == "window" else [value]
            for given_value in sides:
                chosen = both if doors == "each" else (both[(turn + number) % 2],)
                for door in chosen if place.call != "scoped" else (nowhere,):
                    error = await outcome(door, place.call, place.given(given_value))
                    problem = verdict(place, expected, error) or (
                        "it quotes the value" if quotes(value, error) else None
                    )
                    if problem is not None:
                        wrong.append(f"{place}, row {row.name}: {problem}")
    if wrong:
        pytest.fail(f"{len(wrong)} of them:\n" + "\n".join(wrong[:60]), pytrace=False)


HEAVY: Final[Mapping[Kind, tuple[str, ...]]] = {"text": ("fact", "content", "label"), "filter": ("filter",)}


@pytest.mark.parametrize(
    "row", [row for kind in HEAVY for row in rows(kind, heavy=True) if row.heavy], ids=lambda r: r.name
)
async def test_an_enormous_value_is_refused_at_once(nowhere: Engram, nowhere_async: AsyncEngram, row: BadInput) -> None:
    value = row.make()
    for kind in HEAVY[row.kind]:
        for place in [one for one in PLACES if one.kind == kind][:8]:
            for door in (nowhere, nowhere_async):
                began = time.process_time()
                error = await outcome(door, place.call, place.given(value))
                assert time.process_time() - began < 10, place  # of the processor: what was read whole takes longer
                assert verdict(place, row.expected, error) is None, place


async def test_an_event_that_would_be_too_large_is_refused_before_a_connection_is_taken(
    nowhere: Engram, nowhere_async: AsyncEngram
) -> None:
    wide, payload, escaped = "日" * 400_000, {"a": "x" * 900_000}, "a" + "\x01" * 199_000
    large: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("remember", {"messages": [{"role": "user", "content": wide}]}, "messages[0]"),
        ("record_event", {"content": wide}, "event"),
        ("record_event", {"content": "x" * 200_000, "payload": payload}, "event"),
        ("record_turn", {"user_message": "Hello", "assistant_message": wide}, "assistant_message"),
        ("record_turn", {"user_message": "Hello", "artifacts": [{"name": "a", "content": wide}]}, "artifacts[0]"),
        ("add", {"fact": "Bo rows", "main_content": escaped}, "main_content"),
        ("add_many", {"items": [{"fact": "Bo"}, {"fact": "Al", "main_content": escaped}]}, "items[1].main_content"),
        ("revise", {"memory_id": UNKNOWN_ID, "fact": "Bo rows", "main_content": escaped}, "main_content"),
        ("revise", {"memory_id": UNKNOWN_ID, "main_content": escaped}, "main_content"),
    )
    for call, arguments, field in large:
        for door in (nowhere, nowhere_async):
            error = await outcome(door, call, arguments)
            assert type(error) is LimitExceeded, call
            assert error.field == field


class Secretive:
    """Something that cannot be printed without telling what it holds."""

    def __repr__(self) -> str:
        return SECRET

    __str__ = __repr__


SECRETS: Final[tuple[Any, ...]] = (
    SECRET + "\x00", SECRET, SECRET.encode(), Secretive(), [SECRET + "\x00"], [Secretive()], {"a": SECRET + "\x00"},
    {"a": Secretive()}, {SECRET: 1}, {SECRET + "\x00": 1}, [{SECRET: 1}], (SECRET, 1, Secretive()),
)  # fmt: skip


async def test_no_error_says_what_was_given(nowhere: Engram, nowhere_async: AsyncEngram) -> None:
    wrong = []
    for place in PLACES:
        for value in SECRETS:
            for door in (nowhere, nowhere_async) if place.call != "scoped" else (nowhere,):
                error = await outcome(door, place.call, place.given(value))
                if error is not None and type(error) not in (InvalidInput, LimitExceeded):
                    wrong.append(f"{place}, {type(value).__name__}: {type(error).__name__}")
                elif error is not None and quotes(SECRET, error):
                    wrong.append(f"{place}, {type(value).__name__}: {error}")
    if wrong:
        pytest.fail(f"{len(wrong)} of them:\n" + "\n".join(wrong[:60]), pytrace=False)


async def test_an_unknown_argument_is_refused_before_anything_is_opened(
    nowhere: Engram, nowhere_async: AsyncEngram
) -> None:
    for call in KEYWORDS:
        for name in ("offset", "ef_search", "memory", "self_", "", "\ud800", "x" * 100_000, "%(x)s"):
            for door in (nowhere, nowhere_async):
                error = await outcome(door, call, {**VALID.get(call, {}), name: 1})
                assert type(error) is InvalidInput, (call, name, error)
                assert len(str(error)) < 1_000


# Anything at all


class Sundial(tzinfo):
    """A time zone that only works by day."""

    def utcoffset(self, _: datetime | None) -> timedelta:
        raise LookupError("it is dark")

    dst = utcoffset

    def tzname(self, _: datetime | None) -> str:
        return "sun"


class Hostile(Mapping[Any, Any]):
    """An object whose keys are not what keys are."""

    def __init__(self, held: Sequence[Any]) -> None:
        self.held = held

    def __getitem__(self, key: Any) -> Any:
        return self.held

    def __iter__(self) -> Iterator[Any]:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)


class Lying(list[Any]):
    """A list that does not know how long it is."""

    def __len__(self) -> int:
        return 3


class Unequal:
    """Something that is not even like itself, nor true or false."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> Any:
        return np.zeros(2)

    def __bool__(self) -> bool:
        raise ValueError("neither true nor false")


ODD: Final[tuple[Any, ...]] = (
    None, True, False, 0, 1, -1, 10**4_000, -(10**4_000), 0.5, math.nan, math.inf, 1j, Decimal("sNaN"), Decimal(1),
    "", " ", "x", "ok", "x" * 20_000, "e\u0301" * 9_000, "\x00", "\ud800", "*", b"x", bytearray(b"x"), memoryview(b"x"),
    UNKNOWN_ID, "mem-1a2b3c4d", "evt-1a2b3c4d", "mem-1A2B3C4D", (UNKNOWN_ID, 0, 1), (UNKNOWN_ID, 1, 10**4_000),
    [], {}, (), set(), frozenset({"tea", "milk"}), {1, "a"}, {"a", None}, [None], [[]], [{}], {"a": {1}}, {5: 5},
    range(3), range(10**30), iter([1]), Lying(), np.zeros(2), np.zeros((0, 0)), np.float64(0.5), np.int64(1),
    np.str_("x"), object(), Ellipsis, NotImplemented, str, len, ValueError("x"), Unequal(), Secretive(),
    Hostile([]), Hostile([5, None]), Hostile(["fact", "content"]), Hostile([Unequal()]),
    UserString("x"), UserDict(fact="x"), UserList(["tea"]), deque(["tea"]),
    datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=Sundial()),  # noqa: DTZ001
    time_of_day(), timedelta.max, timedelta.min,
    Scope(), Filter(critical=True), Edit.append("x"), Edit.replace("", ""), *INJECTIONS[:4],
    Receipt((), "", 0), Receipt((5,), "x", 0), Receipt(5, "x", 0),  # type: ignore[arg-type]
)  # fmt: skip


@pytest.mark.parametrize("wrapped", ["one way", pytest.param("each way", marks=pytest.mark.slow)])
async def test_whatever_odd_thing_is_given_anywhere_only_errors_of_engram_come_out(
    nowhere: Engram, nowhere_async: AsyncEngram, wrapped: str
) -> None:
    wrong = []
    wraps: tuple[Callable[[Any], Any], ...] = (
        lambda odd: odd, lambda odd: [odd], lambda odd: {"a": odd}, lambda odd: (None, odd),
    )  # fmt: skip
    for number, place in enumerate(PLACES):
        for index, odd in enumerate(ODD):
            chosen = wraps if wrapped == "each way" else (wraps[(index + number) % 4],)
            for value in (wrap(odd) for wrap in chosen):
                door = nowhere_async if index % 4 == 0 and place.call != "scoped" else nowhere
                error = await outcome(door, place.call, place.given(value))
                if error is not None and not isinstance(error, EngramError):
                    wrong.append(f"{place}, {type(value).__name__} of {type(odd).__name__}: {type(error).__name__}")
    if wrong:
        pytest.fail(f"{len(wrong)} of them:\n" + "\n".join(wrong[:60]), pytrace=False)


anything_plain = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(), st.binary(max_size=20),
    st.text(st.characters(exclude_categories=()), max_size=40), st.datetimes(), st.datetimes(timezones=st.timezones()),
    st.dates(), st.timedeltas(), st.decimals(), st.uuids(), st.fractions(), st.functions(like=lambda *_: None),
    st.integers(0, len(ODD) - 1).map(lambda place: ODD[place]),
)  # fmt: skip
words: Final = sorted({place.argument for place in PLACES} | {place.inside for place in PLACES if place.inside})
anything_hashable = st.one_of(
    st.sampled_from(words), st.text(st.characters(exclude_categories=()), max_size=8), st.integers(), st.none(),
    st.tuples(st.integers()), st.sampled_from((10**4_000, UNKNOWN_ID, "x" * 5_000)),
)  # fmt: skip
anything = st.recursive(
    anything_plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(anything_hashable, inner, max_size=4),
        st.lists(anything_hashable, max_size=4).map(Hostile),
        st.frozensets(anything_hashable, max_size=3),
        st.lists(inner, max_size=3).map(iter),
    ),
    max_leaves=5,
)
CHEAP: Final = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)


def one_of(several: Sequence[Place]) -> st.SearchStrategy[Place]:
    """One of several places: by number, because they are many."""
    return st.integers(0, len(several) - 1).map(lambda number: several[number])


one_place = one_of(PLACES)
places_of = {
    call: st.lists(one_of([place for place in PLACES if place.call == call]), max_size=1)
    for call in {place.call for place in PLACES}
}


@examples(max_examples=1_500, deadline=None, derandomize=True, database=None, suppress_health_check=CHEAP)
@given(st.data())
def test_whatever_is_given_only_errors_of_engram_come_out(
    nowhere: Engram, nowhere_async: AsyncEngram, loop: asyncio.AbstractEventLoop, data: st.DataObject
) -> None:
    place = data.draw(one_place)
    arguments = place.given(data.draw(anything))
    for other in data.draw(places_of[place.call]):
        arguments[other.argument] = other.given(data.draw(anything))[other.argument]
    door: Any = nowhere_async if place.call != "scoped" and data.draw(st.booleans()) else nowhere
    error = loop.run_until_complete(outcome(door, place.call, arguments))
    assert error is None or isinstance(error, EngramError), f"{place}: {type(error).__name__}"


@examples(max_examples=300, deadline=None, derandomize=True, database=None, suppress_health_check=CHEAP)
@given(st.data())
def test_whatever_a_scope_a_filter_or_an_edit_is_made_of_only_errors_of_engram_come_out(data: st.DataObject) -> None:
    made = data.draw(st.sampled_from((Scope, Filter, Filter.from_dict, Edit.append, Edit.prepend, Edit.replace, Edit)))
    try:
        if made in (Scope, Filter):
            names = sorted(FIELDS["Ids" if made is Scope else "Filter"])
            made(**data.draw(st.dictionaries(st.sampled_from(names), anything, max_size=3)))
        else:
            count = len(inspect.signature(made).parameters)
            made(*(data.draw(anything) for _ in range(count)))
    except EngramError:
        pass


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop for many short calls."""
    with asyncio.Runner() as runner:
        yield runner.get_loop()


# Against PostgreSQL: nothing is left behind, and the next call works


class Floor:
    """What the superuser sees of the whole database."""

    def __init__(self, conn: psycopg.Connection[Any]) -> None:
        self.conn = conn

    def rows(self) -> dict[str, int]:
        """How many rows there are of what a refused call may not have made, over all tenants."""
        found = self.conn.execute(
            "SELECT (SELECT count(*) FROM engram.memory_scopes), (SELECT count(*) FROM engram.event_streams),"
            " (SELECT count(*) FROM engram.agent_events), (SELECT count(*) FROM engram.agent_event_payloads),"
            " (SELECT count(*) FROM engram.agent_memory), (SELECT count(*) FROM engram.memory_changes),"
            " (SELECT count(*) FROM engram.memory_jobs), (SELECT count(*) FROM engram.memory_embeddings)"
        ).fetchone()
        assert found is not None
        names = ("scopes", "streams", "events", "payloads", "memories", "changes", "jobs", "vectors")
        return dict(zip(names, found, strict=True))

    def open_transactions(self) -> int:
        """Sessions that wait inside a transaction."""
        found = self.conn.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND pid <> pg_backend_pid()"
        ).fetchone()
        assert found is not None
        return int(found[0])


@pytest.fixture(scope="module")
def floor(server: EmbeddedServer, database_url: str) -> Iterator[Floor]:
    """The database as the superuser sees it."""
    plain = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(plain, autocommit=True) as conn:
        yield Floor(conn)


@pytest.fixture(scope="module")
def whole(database_url: str) -> Iterator[Engram]:
    """A door to PostgreSQL that searches by keyword."""
    with Engram(database_url, settings=load({}), embedder="none") as door:
        yield door


@pytest.fixture
async def whole_async(database_url: str) -> Any:
    """The same for event loops."""
    async with AsyncEngram(database_url, settings=load({}), embedder="none") as door:
        yield door


async def assert_sound(door: Any, floor: Floor, tenant: str) -> None:
    """The pool is whole, no transaction is open, and the next valid calls work."""
    database = door._core.database()
    engines = [engine for engine in (database._engine, *database._async_engines.values()) if engine is not None]

    def idle() -> bool:
        return not any(engine.pool.checkedout() for engine in engines) and floor.open_transactions() == 0

    # What runs in the background looks after its jobs now and then; what a call left open would stay open.
    deadline = time.monotonic() + 10
    while not idle():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
    scoped = door.scoped(tenant_id=f"{tenant}-sound")
    assert await outcome(scoped, "add", {"fact": "User drinks tea", "topic_key": "drink"}) is None
    found = scoped.search("tea")
    found = await found if inspect.isawaitable(found) else found
    assert [result.memory.fact for result in found] == ["User drinks tea"]


@pytest.mark.parametrize("kind", ROWS_OF)
async def test_a_refused_call_leaves_nothing_behind(
    whole: Engram, whole_async: AsyncEngram, floor: Floor, tenant: str, kind: str
) -> None:
    bad = [(row, what) for row, what in cases(kind) if what in ("invalid", "limit", "refused")]
    chosen = bad[:: max(1, len(bad) // 4)]
    for turn, door in enumerate((whole, whole_async)):
        scoped = door.scoped(tenant_id=tenant)
        before = floor.rows()
        for row, expected in chosen[turn::2] or chosen:
            value = row.make()
            for place in (one for one in PLACES if one.kind == kind and one.call != "scoped"):
                error = await outcome(scoped, place.call, place.given([value, None] if kind == "window" else value))
                assert verdict(place, expected, error) is None, (str(place), row.name)
        assert floor.rows() == before
        await assert_sound(door, floor, tenant)


TAKEN: Final = sorted(WORDS_ARE_FREE | {"metadata", "payload", "time", "end", "limit", "filter", "words", "id"})
ACCEPTED: Final = tuple(
    (kind, row, what)
    for kind in TAKEN
    for row, what in cases(kind)
    if what in ("ok", "any") and row.expected in ("ok", "empty")
)


@pytest.mark.parametrize("kind", TAKEN)
async def test_what_is_accepted_at_the_door_is_taken_by_postgresql(
    whole: Engram, whole_async: AsyncEngram, floor: Floor, tenant: str, kind: str
) -> None:
    wrong = []
    places = [one for one in PLACES if one.kind == kind and (one.inside or one.argument) != "tenant_id"]
    step = {"content": 4, "metadata": 4, "payload": 2, "words": 5, "name": 9, "scope id": 17, "time": 5}.get(kind, 1)
    for index, (row, what) in enumerate((row, what) for one, row, what in ACCEPTED if one == kind):
        value = row.make()
        for place in places[index % step :: step]:  # every row meets some calls, and every call some rows
            door: Any = (whole, whole_async)[index % 2].scoped(tenant_id=tenant, user_id=str(place))
            error = await outcome(door, place.call, place.given(value))
            fine = (type(None), NotFound, InvalidInput) if what == "any" else (type(None), NotFound)
            if type(error) not in fine or "SQLSTATE" in str(error):
                wrong.append(f"{place}, row {row.name}: {type(error).__name__}: {error}")
    if wrong:
        pytest.fail(f"{len(wrong)} of them:\n" + "\n".join(wrong[:60]), pytrace=False)
    await assert_sound(whole, floor, tenant)
    await assert_sound(whole_async, floor, tenant)


def accepted(kind: Kind) -> Iterator[tuple[Any, Any]]:
    """The values of a kind that are kept, each with what it is read back as."""
    for row in rows(kind):
        if row.expected == "ok":
            value = row.make()
            yield value, unicodedata.normalize("NFC", value) if row.stored is None and kind == "text" else row.stored


async def test_a_fact_comes_back_as_it_was_stored(whole: Engram, whole_async: AsyncEngram, tenant: str) -> None:
    ours, theirs = whole.scoped(tenant_id=tenant), whole_async.scoped(tenant_id=tenant)
    for value, stored in accepted("text"):
        memory = ours.add(value, force=True).memory
        assert memory is not None
        assert type(memory.fact) is str
        assert memory.fact == ours.get(memory.memory_id).fact == (await theirs.get(memory.memory_id)).fact == stored
        event = await theirs.get_event((await theirs.record_event(value, derive="skip")).event_ids[0])
        assert event.content == stored
    assert ours.ops.verify_ledger().ok


async def test_metadata_comes_back_as_it_was_stored(whole: Engram, whole_async: AsyncEngram, tenant: str) -> None:
    ours, theirs = whole.scoped(tenant_id=tenant), whole_async.scoped(tenant_id=tenant)
    for index, (value, stored) in enumerate(accepted("metadata")):
        memory = (await theirs.add(f"The number of this fact is {index}", metadata=value)).memory
        assert memory is not None
        assert ours.get(memory.memory_id).metadata == (value if stored is None else stored)
        assert ours.annotate(memory.memory_id, metadata=value).metadata == (value if stored is None else stored)


async def test_names_are_data_and_each_is_another(whole: Engram, whole_async: AsyncEngram, tenant: str) -> None:
    names = list(dict.fromkeys(stored for _, stored in accepted("name") if stored is not None))
    for place, name in enumerate(names):
        door: Any = whole.scoped(tenant_id=tenant, user_id=name)
        door.add(f"User's number is {place}", topic_key="number", session_id=name, actor=name)
    for place, name in enumerate(names):
        other = whole_async.scoped(tenant_id=tenant, user_id=name)
        (memory,) = await other.list_memories({"session_ids": [name]})
        assert (memory.fact, memory.session_id, memory.scope.user_id) == (f"User's number is {place}", name, name)
    assert len(whole.scoped(tenant_id=tenant).list_memories(user_id="nobody")) == 0


def test_keys_that_look_alike_are_one_key(whole: Engram, tenant: str) -> None:
    door = whole.scoped(tenant_id=tenant)
    for one, other in (("caf\u00e9", "cafe\u0301"), ("\u212a", "K"), ("STRASSE", "stra\u00dfe"), ("a\u200bb", "ab")):
        first = door.add(f"The first of {one}", topic_key=one).memory
        assert first is not None
        assert door.get_current(topic_key=other).memory_id == first.memory_id
        assert door.add(f"The second of {one}", topic_key=other).kind == "revise"


async def test_an_empty_question_filter_or_page_finds_nothing(
    whole: Engram, whole_async: AsyncEngram, tenant: str
) -> None:
    ours, theirs = whole.scoped(tenant_id=tenant), whole_async.scoped(tenant_id=tenant)
    ours.add("User drinks tea", topic_key="drink")
    for row in rows("query"):
        if row.expected == "empty":
            assert (len(ours.search(row.make())), len(await theirs.search(row.make()))) == (0, 0)
            assert len(ours.search_events(row.make())) == len(await theirs.search_events(row.make())) == 0
            assert not ours.recall(row.make()).found
    for row in rows("filter"):
        if row.expected == "empty":
            assert (len(ours.list_memories(row.make())), len(await theirs.search("tea", filter=row.make()))) == (0, 0)
    for name, kind in FIELDS["Filter"].items():
        if kind in ("words", "choices", "filter ids", "filters"):
            assert len(ours.list_memories({name: []})) == 0, name
    for call in ("list_memories", "get_all", "get_history", "timeline", "list_decisions", "list_events"):
        assert len(method(ours, call)()) > 0, call
        assert len(method(ours, call)(limit=0)) == len(await method(theirs, call)(limit=0)) == 0, call
    assert (
        len(ours.search("tea", limit=0))
        == len(ours.search_events("tea", limit=0))
        == len(ours.recall_critical(limit=0).results)
        == ours.ops.run_jobs(limit=0)
        == 0
    )


def test_a_time_is_kept_in_utc_and_an_id_in_its_canonical_form(whole: Engram, tenant: str) -> None:
    door = whole.scoped(tenant_id=tenant)
    for index, (value, stored) in enumerate(accepted("time")):
        memory = door.add(f"The number of this fact is {index}", valid_from=value).memory
        assert memory is not None
        found = door.get("{" + memory.memory_id.upper() + "}")
        assert found.memory_id == memory.memory_id
        assert found.valid_from == value == (stored or value)
        assert found.valid_from.utcoffset() == timedelta(0)


# Courses of events, by the number of their row


def test_50_and_51_no_call_takes_an_offset_or_a_search_effort() -> None:
    taken = {place.argument for place in PLACES}
    assert taken.isdisjoint({"offset", "skip", "page", "ef_search", "effort", "probes"})


async def test_60_and_61_positions_follow_the_order_of_arrival_whatever_the_clock_says(
    whole: Engram, whole_async: AsyncEngram, tenant: str
) -> None:
    now = datetime.now(UTC)
    clocks = [timedelta(0), timedelta(days=2), timedelta(days=-50 * 365), timedelta(hours=-1), timedelta(minutes=1)]
    for door in (whole.scoped(tenant_id=tenant, user_id="a"), whole_async.scoped(tenant_id=tenant, user_id="b")):
        for index, shift in enumerate(clocks):
            made = method(door, "record_event")(f"Event {index}", occurred_at=now + shift, session_id="s")
            receipt = await made if inspect.isawaitable(made) else made
            assert receipt.position == index + 1
    events = whole.scoped(tenant_id=tenant, user_id="b").list_events(session_id="s")
    assert [event.content for event in events] == [f"Event {index}" for index in range(len(clocks))]
    assert [event.occurred_at for event in events] == [now + shift for shift in clocks]


async def test_63_to_65_an_event_id_is_a_promise_within_its_tenant(
    whole: Engram, whole_async: AsyncEngram, tenant: str
) -> None:
    said: Any = [{"role": "user", "content": "I like tea", "event_id": str(uuid.uuid4())}]
    ours, theirs = whole.scoped(tenant_id=tenant), whole_async.scoped(tenant_id=tenant)
    first = ours.remember(said)
    again = await theirs.remember(said)
    assert (first.duplicate, again.duplicate, again.position) == (False, True, first.position)
    changed: Any = [{**said[0], "content": "I like milk"}]
    for door in (ours, theirs):
        assert type(await outcome(door, "remember", {"messages": changed})) is IdempotencyMismatch
    assert len(ours.list_events()) == 1
    elsewhere = whole.scoped(tenant_id=f"{tenant}-2").remember(changed)
    assert (elsewhere.duplicate, elsewhere.event_ids) == (False, first.event_ids)


async def test_66_an_id_of_another_tenant_is_as_unknown_as_one_that_does_not_exist(
    whole: Engram, whole_async: AsyncEngram, floor: Floor, tenant: str
) -> None:
    other = whole.scoped(tenant_id=f"{tenant}-2")
    memory = other.add("Somebody else drinks tea").memory
    assert memory is not None
    event_id = other.list_events()[0].event_id
    before = floor.rows()
    for place in (one for one in PLACES if one.kind == "id" and one.call != "wait_for"):
        name = place.inside or place.argument
        if name in ("task_run_id", "stream_id") or (place.call, name) == ("remember", "event_id"):
            continue  # names of the caller's own, and row 65
        foreign = event_id if name == "event_id" else memory.memory_id
        for door in (whole.scoped(tenant_id=tenant), whole_async.scoped(tenant_id=tenant)):
            known = await outcome(door, place.call, {**place.given(foreign), "tenant_id": tenant})
            unknown = await outcome(door, place.call, {**place.given(UNKNOWN_ID), "tenant_id": tenant})
            assert (type(known), str(known)) == (type(unknown), str(unknown)), place
            assert known is None if place.call == "find" else type(known) is NotFound, place
    for value in (memory.short_id, [(event_id, 0, 1)]):
        name = "parent_id" if isinstance(value, str) else "sources"
        assert type(await outcome(whole.scoped(tenant_id=tenant), "add", {"fact": "x y", name: value})) is NotFound
    assert floor.rows() == before
    await assert_sound(whole, floor, tenant)


async def test_67_a_cursor_belongs_to_its_tenant_and_its_question(
    whole: Engram, whole_async: AsyncEngram, tenant: str
) -> None:
    door = whole.scoped(tenant_id=tenant)
    for index in range(3):
        door.add(f"The number of this fact is {index}", topic_key=f"k{index}")
    whole.scoped(tenant_id=f"{tenant}-2").add("User drinks tea")
    for call in ("list_memories", "get_all", "get_history", "list_decisions"):
        cursor = method(door, call)(limit=1).cursor
        assert len(method(door, call)(limit=5, cursor=cursor)) == 2
        edited = cursor[:-4] + ("AAAA" if cursor[-4:] != "AAAA" else "BBBB")
        flipped = ("A" if cursor[0] != "A" else "B") + cursor[1:]
        asked: list[dict[str, Any]] = [
            {"cursor": edited}, {"cursor": flipped}, {"cursor": cursor[:-8]}, {"cursor": cursor + "AAAA"},
            {"cursor": cursor, "tenant_id": f"{tenant}-2"}, {"cursor": cursor, "user_id": "ada"},
            {"cursor": cursor, "filter": {"min_importance": 0.1}}, {"cursor": cursor, "known_at": datetime.now(UTC)},
        ]  # fmt: skip
        for arguments in asked:
            for one in (door, whole_async.scoped(tenant_id=tenant)):
                assert type(await outcome(one, call, arguments)) is InvalidInput, (call, arguments)


class Answers:
    """An embedder that answers as it is told to."""

    def __init__(self, answer: Callable[[Sequence[str], int], Any], dimensions: int = 8) -> None:
        self.name, self.dimensions, self.max_tokens = f"answers-{dimensions}", dimensions, None
        self.answer = answer

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        """What it was told to answer."""
        return self.answer(texts, self.dimensions)


def good(texts: Sequence[str], dimensions: int) -> Any:
    """A vector that depends on the text alone."""
    return [np.random.default_rng(list(text.encode())).normal(size=dimensions).tolist() for text in texts]


@pytest.fixture(scope="module")
def embedders(database_url: str) -> Iterator[dict[str, tuple[Engram, Answers]]]:
    """Doors whose embedders can be told what to answer, by what the settings say of a failure."""
    with ExitStack() as stack:
        doors = {}
        for wish in ("fail", "defer"):
            model = Answers(good)
            made = load({}, on_embedding_failure=wish)
            doors[wish] = stack.enter_context(Engram(database_url, settings=made, embedder=model)), model
        yield doors


@pytest.mark.parametrize("row", rows("vector"), ids=lambda row: row.name)
async def test_69_to_81_a_bad_vector_is_refused_visibly_and_never_stored(
    database_url: str, embedders: dict[str, tuple[Engram, Answers]], floor: Floor, tenant: str, row: BadInput
) -> None:
    answer = row.make()
    for wish, (door, model) in embedders.items():
        scoped = door.scoped(tenant_id=tenant, user_id=wish)
        scoped.add(f"User drinks tea with {tenant}")
        before, fact = floor.rows(), f"Row {row.name}: {wish}, {tenant}"
        model.answer = answer
        try:
            error = await outcome(scoped, "add", {"fact": fact})
            question = await outcome(scoped, "search", {"query": fact, "mode": "semantic"})
            found = scoped.search(fact, limit=1)
        finally:
            model.answer = good
        if row.expected == "ok":
            assert (error, question) == (None, None)
            assert floor.rows()["vectors"] == before["vectors"] + 1
            continue
        assert type(question) is Unavailable
        if wish == "fail":
            assert type(error) is Unavailable
            assert floor.rows() == before
        else:
            assert (error, found[0].memory.fact, found.degraded) == (None, fact, ("semantic",))
            assert floor.rows()["vectors"] == before["vectors"]
            assert scoped.stats().unembedded == 1
            assert scoped.ops.run_jobs() >= 1
            assert (scoped.stats().unembedded, floor.rows()["vectors"]) == (0, before["vectors"] + 1)
    async with AsyncEngram(database_url, settings=load({}), embedder=Answers(answer)) as theirs:
        error = await outcome(theirs.scoped(tenant_id=tenant), "add", {"fact": f"Row {row.name}"})
        assert type(error) is (type(None) if row.expected == "ok" else Unavailable)
    assert floor.open_transactions() == 0


@pytest.mark.parametrize("dimensions", [0, -1, 4_001, 16_001, 2**63, True, 8.0, "8", None])
def test_76_and_77_a_model_no_index_can_hold_is_refused_when_the_door_is_made(dimensions: Any) -> None:
    for door in (Engram, AsyncEngram):
        with pytest.raises(SettingsError, match="dimensions"):
            door(NOWHERE, embedder=Answers(good, dimensions))


def test_80_vectors_are_sent_with_a_cast_alone() -> None:
    found = 0
    for file in (resources.files("engram") / "sql").iterdir():
        for use in re.finditer(r"%\((vectors?|probes)\)s(.{0,11})", file.read_text()):
            found += 1
            assert use[2].startswith("::halfvec" if use[1] == "vector" else "::halfvec[]"), file.name
    assert found > 10


def test_81_answers_in_another_order_are_put_in_order_by_their_index(
    embedders: dict[str, tuple[Engram, Answers]], tenant: str
) -> None:
    door, model = embedders["fail"]
    facts = [f"The {word} of {tenant}" for word in ("tea", "house", "dog", "manager")]

    def permuted(texts: Sequence[str], dimensions: int) -> Any:
        vectors = good(texts, dimensions)
        return [{"index": place, "embedding": vectors[place]} for place in reversed(range(len(texts)))]

    model.answer = permuted
    try:
        door.scoped(tenant_id=tenant).add_many([{"fact": fact} for fact in facts])
    finally:
        model.answer = good
    for fact in facts:
        first = door.scoped(tenant_id=tenant).search(fact, mode="semantic", limit=1)[0]
        assert first.memory.fact == fact


def test_82_a_model_that_gives_every_text_the_same_vector_is_reported(
    embedders: dict[str, tuple[Engram, Answers]], floor: Floor, tenant: str
) -> None:
    door, model = embedders["fail"]
    before = floor.rows()
    model.answer = lambda texts, dimensions: np.ones((len(texts), dimensions))
    try:
        with pytest.raises(Unavailable, match="same vector") as caught:
            door.scoped(tenant_id=tenant).add_many([{"fact": f"{word} {tenant}"} for word in ("tea", "milk", "water")])
    finally:
        model.answer = good
    assert caught.value.reason == "space_drift"
    assert floor.rows() == before


async def test_93_a_batch_is_written_whole_or_not_at_all(
    whole: Engram, whole_async: AsyncEngram, floor: Floor, tenant: str
) -> None:
    ours, theirs = whole.scoped(tenant_id=tenant), whole_async.scoped(tenant_id=tenant)
    said: Any = {"role": "user", "content": "I like tea", "event_id": str(uuid.uuid4())}
    receipt = ours.remember([said, said, {"role": "assistant", "content": "Noted."}])
    assert (len(receipt.event_ids), receipt.event_ids[0]) == (3, receipt.event_ids[1])
    assert [event.content for event in ours.list_events()] == ["I like tea", "Noted."]
    before = floor.rows()
    for door in (ours, theirs):
        for bad in (
            {"role": "user", "content": "a\x00b"},
            {"role": "nobody", "content": "x"},
            5,
            None,
            {**said, "content": "y"},
        ):
            error = await outcome(door, "remember", {"messages": [{"role": "user", "content": "fine"}, bad]})
            assert type(error) in (InvalidInput, IdempotencyMismatch)
            if type(error) is InvalidInput:
                assert error.field.startswith("messages[1]")
        for item in (
            {"fact": "\x00"},
            {"fact": "x", "no": 1},
            {"fact": "y", "tags": 5},
            {},
            {"fact": "z", "parent_id": UNKNOWN_ID},
        ):
            error = await outcome(door, "add_many", {"items": [{"fact": "A fine fact"}, item]})
            assert type(error) in (InvalidInput, NotFound)
            if type(error) is InvalidInput:
                assert error.field.startswith("items[1]")
        heavy = [{"role": "user", "content": "é" * 499_000}] * 9
        assert type(await outcome(door, "remember", {"messages": heavy, "derive": "skip"})) is LimitExceeded
        described = [{"fact": f"The {n}th fact", "metadata": {"a": "x" * 30_000}} for n in range(300)]
        assert type(await outcome(door, "add_many", {"items": described})) is LimitExceeded
    assert floor.rows() == before
    await assert_sound(whole, floor, tenant)


def test_a_change_with_sets_or_strange_lists_is_known_when_it_is_sent_again(whole: Engram, tenant: str) -> None:
    door = whole.scoped(tenant_id=tenant)
    tags: tuple[Any, ...] = (
        {"tea", "milk", "water"},
        frozenset({"water", "tea", "milk"}),
        UserList(["milk", "tea", "water"]),
    )
    made = [door.add("User drinks", tags=one, metadata=UserDict(a=(1,)), idempotency_key="k") for one in tags]
    assert len({one.memory.memory_id for one in made if one.memory is not None}) == 1
    assert len(door.list_events()) == 1


def test_numbers_of_numpy_are_numbers(whole: Engram, tenant: str) -> None:
    door = whole.scoped(tenant_id=tenant)
    memory = door.add("User drinks tea", importance=np.float64(0.75), confidence=np.float64(0.5)).memory
    assert memory is not None
    assert (memory.importance, memory.confidence) == (0.75, 0.5)
    assert door.reinforce(memory.memory_id, np.float64(0.125)).importance == 0.875


def test_the_heads_of_a_report_are_the_only_anchors(whole: Engram, tenant: str) -> None:
    door = whole.scoped(tenant_id=tenant)
    door.record_event("Looked at the sky")
    heads = door.ops.verify_ledger().heads
    assert door.ops.verify_ledger(anchors=heads).ok
    for stream, head in heads.items():
        for bad in (
            {stream: "9" * 5_000 + head[1:]},
            {stream: (1, head[2:])},
            {stream: head[:-1]},
            {"a": head},
            {1: head},
        ):
            with pytest.raises(InvalidInput, match="anchors"):
                door.ops.verify_ledger(anchors=bad)  # type: ignore[arg-type]


def test_everything_of_a_scope_is_forgotten_under_one_key(whole: Engram, tenant: str) -> None:
    door = whole.scoped(tenant_id=tenant, user_id="ada")
    for index in range(3):
        door.add(f"The number of this fact is {index}", topic_key=f"k{index}")
    assert len(whole.scoped(tenant_id=tenant).delete_all(user_id="ada", idempotency_key="k")) == 3
    assert len(door.list_memories()) == 0
    with pytest.raises(InvalidInput):
        door.delete_all(shared=False)
