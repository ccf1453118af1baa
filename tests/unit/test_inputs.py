"""The door: what is accepted, what it becomes, and what is refused with which error."""

from __future__ import annotations

import enum
import json
import math
import time
import tracemalloc
import unicodedata
import uuid
from collections import UserDict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from badinputs import COURSES, ROWS, BadInput, Word, rows
from hypothesis import given, settings
from hypothesis import strategies as st

from engram import filters, inputs, paging, text
from engram.errors import EngramError, InvalidInput, LimitExceeded

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECRET = "hunter2"

# Which checks stand at the door for each kind of argument of the table.
CHECKS: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "text": (inputs.fact, lambda value: inputs.text(value, "fact", limit=inputs.FACT_CHARACTERS)),
    "query": (inputs.query,),
    "key": (inputs.key_text,),
    "name": (lambda value: inputs.name(value, "session_id"), inputs.idempotency_key),
    "metadata": (inputs.metadata,),
    "json": (inputs.strict_json,),
    "limit": (inputs.limit,),
    "whole": (inputs.position, lambda value: inputs.whole(value, "revision", 1, 2**31 - 1)),
    "tokens": (inputs.max_tokens,),
    "time": (lambda value: inputs.moment(value, "as_of"),),
    "time text": (lambda value: inputs.moment_text(value, "as_of"),),
    "duration": (lambda value: inputs.expiry(None, value, None, NOW),),
    "id": (inputs.memory_id, inputs.event_id),
    "cursor": (lambda value: paging.decode_cursor(value, "list", b"key"),),
    "list": (lambda value: filters.Filter(session_ids=value), lambda value: filters.parse({"topic_keys": value})),
    "filter": (filters.parse,),
    "batch": (lambda value: [inputs.keys(one, "items", ("fact",)) for one in inputs.batch(value)],),
}


def refused(check: Callable[..., Any], *args: Any, **kwargs: Any) -> InvalidInput:
    """The error of a call that must be refused, and not for its size."""
    with pytest.raises(InvalidInput) as caught:
        check(*args, **kwargs)
    assert not isinstance(caught.value, LimitExceeded), caught.value
    return caught.value


def too_large(check: Callable[..., Any], *args: Any, **kwargs: Any) -> LimitExceeded:
    """The error of a call that must be refused for its size."""
    with pytest.raises(LimitExceeded) as caught:
        check(*args, **kwargs)
    return caught.value


# The table


def test_the_table_covers_every_number_from_1_to_96() -> None:
    covered = {row.number for row in ROWS} | set(COURSES)
    assert covered >= set(range(1, 97))
    assert {row.kind for row in ROWS} - {"vector"} == set(CHECKS)


@pytest.mark.parametrize("row", [row for row in ROWS if row.kind in CHECKS], ids=lambda row: row.name)
def test_the_door_does_with_a_bad_input_what_the_table_says(row: BadInput) -> None:
    for check in CHECKS[row.kind]:
        if row.expected in ("invalid", "limit", "refused"):
            with pytest.raises(InvalidInput) as caught:
                check(row.make())
            assert isinstance(caught.value, LimitExceeded) is (row.expected == "limit") or row.expected == "refused"
            assert caught.value.field
        else:
            found = check(row.make())
            assert row.stored is None or found == row.stored
            assert type(found) is not Word


@pytest.mark.parametrize("row", rows("metadata", "filter", "json", heavy=True), ids=lambda row: row.name)
def test_no_depth_or_size_costs_much_time_or_memory(row: BadInput) -> None:
    value = row.make()
    tracemalloc.start()
    began = time.process_time()
    try:
        CHECKS[row.kind][0](value)
    except InvalidInput:
        pass
    finally:
        spent = time.process_time() - began
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert spent < 10  # of the processor: a depth or size that costs, costs minutes
    assert peak < 64 << 20


# Text


def test_text_is_stored_composed_and_otherwise_as_given() -> None:
    assert inputs.fact("  Cafe\u0301\tat  nine\n") == "  Café\tat  nine\n"


@given(st.text(max_size=60))
def test_text_is_either_refused_or_plain_composed_and_stable(value: str) -> None:
    try:
        found = inputs.text(value, "fact", limit=60)
    except InvalidInput:
        assert inputs.is_blank(value) or len(value) > 50 or any(c == "\x00" or 0xD800 <= ord(c) < 0xE000 for c in value)
        return
    assert found == unicodedata.normalize("NFC", value)
    assert inputs.text(found, "fact", limit=60) == found
    found.encode()


def test_the_limit_counts_code_points_of_the_composed_text() -> None:
    assert len(inputs.fact("e\u0301" * 8_192)) == 8_192
    assert len(inputs.fact("\U0001f600" * 8_192)) == 8_192
    error = too_large(inputs.fact, "é" * 8_193)
    assert (error.field, error.allowed, error.found) == ("fact", 8_192, "8193")


def test_the_composed_text_may_not_be_longer_than_the_limit_either() -> None:
    assert too_large(inputs.text, "\u0958" * 10, "fact", limit=10).found == "20"


@pytest.mark.parametrize(
    ("check", "most"),
    [(inputs.fact, 8_192), (inputs.main_content, 200_000), (inputs.event_content, 500_000), (inputs.query, 32_768)],
)
def test_each_text_has_its_own_limit(check: Callable[[str], str], most: int) -> None:
    assert len(check("x" * most)) == most
    too_large(check, "x" * (most + 1))


def test_length_is_checked_before_anything_reads_the_text() -> None:
    class Long(str):
        def __len__(self) -> int:
            return 1 << 40

    too_large(inputs.fact, Long("\x00"))


def test_a_run_of_combining_marks_without_end_is_refused_before_it_is_put_in_order() -> None:
    began = time.process_time()
    too_large(inputs.event_content, "a" + "\u0301\u0323" * 200_000)
    inputs.event_content(("a" + "\u0301\u0323" * 100) * 2_000)
    assert time.process_time() - began < 10  # of the processor: in order they would take minutes


def test_nul_is_replaced_where_an_importer_asks_for_it() -> None:
    assert inputs.text("a\x00b", "content", limit=10, nul="replace") == "a\ufffdb"


def test_a_query_that_shows_nothing_is_the_empty_query() -> None:
    assert inputs.query("") == inputs.query(" \u200b\n") == ""
    assert inputs.query(" Where? ") == " Where? "


@pytest.mark.parametrize("sign", ["\ufdfa", "\u3316", "\u00bd"])
def test_a_query_is_no_longer_than_it_may_be_with_its_signs_written_out(sign: str) -> None:
    """Eight thousand times the ligature of 18 letters took 13 seconds to search by."""
    assert inputs.query(sign * 1_500) == sign * 1_500
    with pytest.raises(LimitExceeded) as caught:
        inputs.query(sign * (inputs.QUERY_BYTES // len(sign.encode())), "question")
    assert caught.value.field == "question"
    assert inputs.query("ü" * (inputs.QUERY_BYTES // 2))


@pytest.mark.parametrize(
    "value", ["", "*", " ", "a\tb", "a\x7f", "a\u2028b", "\u200b", None, 5, b"x", ["x"], "x" * 201]
)
def test_a_scope_id_is_one_visible_line(value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        inputs.scope_id(value, "user_id")
    assert caught.value.field == "user_id"


def test_a_scope_id_keeps_its_case_and_is_composed() -> None:
    assert inputs.scope_id("Zoe\u0308", "user_id") == "Zoë"
    assert inputs.scope_id("ADA", "user_id") != inputs.scope_id("ada", "user_id")


def test_a_name_may_be_an_asterisk_since_only_scopes_have_wildcards() -> None:
    assert inputs.name("*", "session_id") == "*"


def test_a_label_is_trimmed_and_one_line() -> None:
    assert inputs.label("  Book \n", "source") == "Book"
    assert refused(inputs.label, "a\nb", "source").field == "source"
    assert too_large(inputs.label, "x" * 65, "category").allowed == 64


def test_tags_are_trimmed_casefolded_and_kept_once_in_their_order() -> None:
    assert inputs.tags([" Work", "STRASSE", "work ", "straße"]) == ("work", "strasse")
    assert inputs.tags(()) == ()
    assert inputs.tags({"b", "a"}) == ("a", "b")


@pytest.mark.parametrize("value", ["work", None, 5, {"work": 1}, b"work", [None], [""], ["a", 1], [["a"]], object()])
def test_tags_are_a_list_of_texts(value: Any) -> None:
    refused(inputs.tags, value)


def test_more_or_longer_tags_than_allowed_are_refused() -> None:
    assert len(inputs.tags([f"t{n}" for n in range(20)])) == 20
    too_large(inputs.tags, [f"t{n}" for n in range(21)])
    assert too_large(inputs.tags, ["ok", "x" * 33]).field == "tags[1]"
    assert too_large(inputs.tags, ["ß" * 17]).found == "34"


@given(st.text(max_size=300))
def test_an_accepted_key_fits_the_database_in_the_form_it_is_compared_in(value: str) -> None:
    try:
        found = inputs.key_text(value)
    except InvalidInput:
        return
    assert 0 < len(text.normalise_key(found).encode()) <= 1_024


def test_a_key_is_measured_as_it_is_given_and_as_it_is_compared() -> None:
    assert inputs.key_text(" Current  Sprint ") == "Current  Sprint"
    assert len(inputs.key_text("x" * 1_024)) == 1_024
    assert too_large(inputs.key_text, "é" * 513).found == "1026"
    # Its row holds it as it is given: wide letters of three bytes are compared as one byte each, and kept as three.
    assert inputs.key_text("\uff21" * 341)
    assert too_large(inputs.key_text, "\uff21" * 342).found == "1026"
    assert too_large(inputs.key_text, "\N{FAMILY}\u200d" * 200).found == "1400"


# JSON


def test_metadata_becomes_a_plain_copy() -> None:
    class Level(enum.IntEnum):
        HIGH = 3

    given_data = UserDict(a=MappingProxyType({"b": (1, Word("x"))}), n=Level.HIGH, t=True, z=None, f=-0.0)
    found = inputs.metadata(given_data)
    assert json.dumps(found) == '{"a": {"b": [1, "x"]}, "n": 3, "t": true, "z": null, "f": 0.0}'
    assert type(found["n"]) is int
    assert type(found["a"]["b"][1]) is str


def test_metadata_shares_nothing_with_what_was_given() -> None:
    inner = [1]
    found = inputs.metadata({"a": inner, "b": inner})
    inner.append(2)
    assert found == {"a": [1], "b": [1]}
    found["a"].append(3)
    assert found["b"] == [1]


def test_the_same_value_twice_is_no_circle() -> None:
    inner = {"x": 1}
    assert inputs.metadata({"a": [inner, inner], "b": inner}) == {"a": [{"x": 1}, {"x": 1}], "b": {"x": 1}}


def test_what_is_held_at_many_places_is_read_once_and_counted_at_each() -> None:
    reads = 0

    class Watched(UserDict[str, Any]):
        def __iter__(self) -> Iterator[str]:
            nonlocal reads
            reads += 1
            return super().__iter__()

    def doubled(times: int) -> Any:
        inner: Any = Watched(a="x")
        for _ in range(times):
            inner = [inner, inner]
        return inner

    assert inputs.canonical_json({"a": doubled(10)}).count(b'{"a":"x"}') == 1024
    assert reads == 1
    assert too_large(inputs.canonical_json, {"a": doubled(40)}).found == "more"
    assert reads == 2
    assert too_large(inputs.metadata, {"a": doubled(10)}).expected == "at most 512 keys"
    held: list[int] = []  # the names before which it stands are counted once each
    assert inputs.metadata({"k" * 900: held, "list": [held] * 100})["list"] == [[]] * 100
    deep = nested(20)
    assert too_large(inputs.metadata, {"a": deep, "b": {"c": nested(11, deep)}}).expected == "at most 32 levels"
    assert inputs.metadata({"a": deep, "b": {"c": nested(10, deep)}})["a"] == deep
    with pytest.raises(LimitExceeded):  # the same depth, where nothing is held twice
        inputs.metadata({"b": {"c": nested(11, nested(20))}})
    inputs.metadata({"b": {"c": nested(10, nested(20))}})


def nested(levels: int, inner: Any = "x") -> Any:
    """A value in as many lists."""
    for _ in range(levels):
        inner = [inner]
    return inner


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": {"b": [1, {"c": math.nan}]}}, "metadata.a.b[1].c"),
        ({"a": [[{}, object()]]}, "metadata.a[0][1]"),
        ({"a b": {"c": 2**60}}, "metadata.(a key).c"),
        ({SECRET + "!": "\x00"}, "metadata.(a key)"),
        ({"a": {3: 1}}, "metadata.a.(a key)"),
    ],
)
def test_an_error_names_the_path_of_the_offender(value: Any, path: str) -> None:
    assert refused(inputs.metadata, value).field == path


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (NOW, "datetime (write it as ISO 8601 text)"),
        (NOW.date(), "date (write it as ISO 8601 text)"),
        (uuid.UUID(int=1), "UUID (write it as text)"),
        ({1}, "set"),
    ],
)
def test_an_error_names_the_type_and_what_to_do(value: Any, found: str) -> None:
    assert refused(inputs.canonical_json, {"a": value}, "payload").found == found


def test_a_payload_may_be_as_large_as_an_event() -> None:
    assert len(inputs.payload({"a": "x" * ((1 << 20) - 8)})["a"]) == (1 << 20) - 8
    assert too_large(inputs.payload, {"a": "x" * ((1 << 20) - 7)}).found == str((1 << 20) + 1)
    assert len(inputs.payload({f"k{n}": n for n in range(5_000)})) == 5_000


JSON_DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\x00")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\x00"), min_size=1),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON_DATA)
def test_canonical_json_reads_back_and_does_not_depend_on_the_order_of_keys(value: Any) -> None:
    written = inputs.canonical_json(value)
    assert inputs.load_json(written) == value
    assert inputs.strict_json(written) == value
    assert inputs.canonical_json(inputs.load_json(written)) == written
    assert inputs.canonical_json(_reversed(value)) == written


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(one) for one in value] if isinstance(value, list) else value


def test_canonical_json_is_one_fixed_spelling() -> None:
    value = {"b": [1, 1.0, -0.0, 1e22, True, None], "a": 'é\u2028\x1f"/', "B": {}}
    assert inputs.canonical_json(value) == (
        b'{"B":{},"a":"\xc3\xa9\xe2\x80\xa8\\u001f\\"/","b":[1,1.0,0.0,1e+22,true,null]}'
    )


def test_canonical_json_has_a_limit_of_bytes() -> None:
    assert len(inputs.canonical_json("x" * 8, limit=10)) == 10
    too_large(inputs.canonical_json, "x" * 9, limit=10)
    too_large(inputs.canonical_json, "é" * 5, limit=10)


@settings(max_examples=300)
@given(st.binary(max_size=40) | st.text('[]{}",:0123456789eE+-.truefalsn \\u\ud800\x00', max_size=60))
def test_loading_never_raises(data: bytes | str) -> None:
    found = inputs.load_json(data)
    assert found is inputs.UNREADABLE or json.dumps(found, ensure_ascii=False).encode() is not None


@pytest.mark.parametrize(
    "written",
    [
        "",
        "{",
        "nul",
        "[" * 100_000,
        "[" * 65 + "]" * 65,
        '{"a":' * 70_000,
        b"\xff",
        '"\\ud800"',
        '{"\\udc00": 1}',
        "\ud800",
    ],
)
def test_a_document_that_cannot_be_read_is_unreadable_as_a_whole(written: str | bytes) -> None:
    assert inputs.load_json(written) is inputs.UNREADABLE


def test_a_number_that_cannot_be_read_is_unreadable_in_its_place() -> None:
    digits = "1" + "0" * 131_071
    for number in (digits, "-" + digits, digits + ".5", "1e400", "NaN", "Infinity"):
        found = inputs.load_json(f'{{"a": [1, {number}], "b": "kept"}}')
        assert found["a"][1] is inputs.UNREADABLE
        assert (found["a"][0], found["b"]) == (1, "kept")


def test_brackets_inside_texts_are_no_depth() -> None:
    value = {"a": "[{" * 500, "b": '\\"[[', "c": ["[" * 40] * 3}
    assert inputs.load_json(json.dumps(value)) == inputs.strict_json(json.dumps(value)) == value
    assert inputs.load_json("[" * 64 + "]" * 64) != inputs.UNREADABLE
    assert inputs.load_json("[" + ",".join(["[]"] * 500) + "]") == [[]] * 500


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_written_out_as_jsonb_does_reads_back_as_itself(value: float) -> None:
    assert inputs.load_json(f"{Decimal(repr(value)):f}") == value


def test_what_stands_for_unreadable_can_itself_be_written() -> None:
    assert json.loads(json.dumps([inputs.UNREADABLE])) == ["<unreadable>"]


def test_json_from_outside_may_begin_with_a_mark_of_order_and_be_scalar() -> None:
    assert inputs.strict_json(b"\xef\xbb\xbf[1]") == [1]
    assert inputs.strict_json("null") is None


@pytest.mark.parametrize("written", ["", "{'a': 1}", "[1,]", "{", "[1] [2]", '"\t"', "01", b"\xff\xfe[\x00"])
def test_what_is_no_json_is_refused_with_its_place(written: Any) -> None:
    refused(inputs.strict_json, written)


def test_json_from_outside_is_bounded_before_it_is_read() -> None:
    too_large(inputs.strict_json, "[" + " " * 100 + "]", limit=50)


# Numbers


@pytest.mark.parametrize("value", [0, 1, 200])
def test_a_limit_is_a_whole_number_up_to_200(value: int) -> None:
    assert inputs.limit(value) == value


def test_a_whole_number_keeps_within_its_bounds() -> None:
    assert inputs.whole(3, "rating", 1, 5) == 3
    assert refused(inputs.whole, 0, "rating", 1, 5).found == "0"
    assert too_large(inputs.whole, 6, "rating", 1, 5).allowed == 5


def test_a_budget_of_tokens_lies_between_1_and_300_000() -> None:
    assert (inputs.max_tokens(1), inputs.max_tokens(300_000)) == (1, 300_000)
    refused(inputs.max_tokens, 0)
    too_large(inputs.max_tokens, 300_001)
    assert inputs.max_tokens(0, least=0) == 0


@pytest.mark.parametrize("value", [0, 1, 0.5, -0.0])
def test_a_unit_is_a_number_from_0_to_1(value: float) -> None:
    found = inputs.unit(value, "confidence")
    assert found == value
    assert type(found) is float
    assert math.copysign(1, found) == 1


@pytest.mark.parametrize("value", [-0.001, 1.001, math.nan, math.inf, True, "0.5", None, 10**400, -(10**400), 1j])
def test_what_is_no_unit_is_refused(value: Any) -> None:
    assert refused(inputs.unit, value, "confidence").field == "confidence"


def test_an_unbounded_number_is_still_one_that_json_can_say() -> None:
    assert inputs.number(-(2**53) + 1, "weight") == -(2**53) + 1
    refused(inputs.number, 10**400, "weight")


@pytest.mark.parametrize(
    ("said", "becomes"),
    [
        ({}, None),
        ({"value": 0.9}, 0.9),
        ({"value": 0}, 0.0),
        ({"priority": 1}, 0.1),
        ({"priority": 5}, 0.5),
        ({"priority": 10}, 1.0),
        ({"rating": 1}, 0.0),
        ({"rating": 3}, 0.5),
        ({"rating": 5}, 1.0),
    ],
)
def test_importance_is_said_in_one_of_three_ways(said: dict[str, Any], becomes: float | None) -> None:
    assert inputs.importance(**said) == becomes


@pytest.mark.parametrize(
    "said",
    [
        {"value": 0.5, "priority": 5}, {"value": 0.5, "rating": 3}, {"priority": 5, "rating": 3}, {"value": 1.5},
        {"priority": 0}, {"priority": 11}, {"priority": 2.5}, {"rating": 0}, {"rating": 6}, {"rating": True},
        {"value": "high"},
    ],
)  # fmt: skip
def test_importance_said_twice_or_out_of_range_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        inputs.importance(**said)


@pytest.mark.parametrize("value", [0, 1, "true", None, [], 1.0])
def test_only_true_and_false_are_flags(value: Any) -> None:
    refused(inputs.flag, value, "dry_run")
    assert inputs.flag(True, "dry_run") is True


# Times


def test_a_moment_becomes_plain_utc() -> None:
    class Stamp(datetime):
        pass

    found = inputs.moment(Stamp(2026, 1, 1, 3, tzinfo=timezone(timedelta(hours=3))), "as_of")
    assert found == datetime(2026, 1, 1, tzinfo=UTC)
    assert (type(found), found.tzinfo) == (datetime, UTC)


class Broken(tzinfo):
    """A zone whose offset cannot be computed."""

    def utcoffset(self, _: datetime | None) -> timedelta:
        raise NotImplementedError


def test_a_zone_without_an_offset_is_refused() -> None:
    refused(inputs.moment, datetime(2026, 1, 1, tzinfo=Broken()), "as_of")


@pytest.mark.parametrize("value", [None, 5, (NOW,), (NOW, NOW), (NOW, NOW - timedelta(1)), (NOW, "x"), NOW, [1, 2]])
def test_a_window_is_a_pair_in_order(value: Any) -> None:
    refused(inputs.window, value)


def test_a_window_may_be_open() -> None:
    assert inputs.window([None, NOW]) == (None, NOW)
    assert inputs.window((None, None)) == (None, None)


def test_a_date_in_words_is_the_beginning_of_its_day_where_the_caller_lives() -> None:
    paris = inputs.zone("Europe/Paris")
    assert inputs.moment_said("2026-05-01", "since", paris) == datetime(2026, 4, 30, 22, tzinfo=UTC)
    for same in ("2026-05-01T10:00:00+02:00", datetime(2026, 5, 1, 8, tzinfo=UTC)):
        assert inputs.moment_said(same, "since", paris) == datetime(2026, 5, 1, 8, tzinfo=UTC)
    for value in ("2026-02-30", "2026-05-01T10:00:00", "yesterday", "1899-12-31", "", 5):
        refused(lambda given: inputs.moment_said(given, "since", paris), value)


@pytest.mark.parametrize(
    ("said", "length"),
    [
        ("90s", timedelta(seconds=90)), ("15m", timedelta(minutes=15)), ("2h", timedelta(hours=2)),
        (" 1d ", timedelta(1)), ("3w", timedelta(weeks=3)), ("7 d", timedelta(7)), ("2 weeks", timedelta(14)),
        ("1 Month", timedelta(30)), ("45 minutes", timedelta(minutes=45)), ("1y", timedelta(365)),
        (timedelta(hours=1), timedelta(hours=1)),
    ],
)  # fmt: skip
def test_a_length_of_time_is_said_in_words_or_as_a_timedelta(said: Any, length: timedelta) -> None:
    assert inputs.duration(said) == length
    assert inputs.expiry(None, said, None, NOW) == NOW + length


@pytest.mark.parametrize(
    "said",
    [
        "",
        "d",
        "1 fortnight",
        "9999999 years",
        "-1d",
        "1.5d",
        "\u0661d",
        "1d2h",
        "1" * 100 + "d",
        5,
        True,
        None,
        timedelta(-1),
    ],
)
def test_a_length_of_time_nobody_can_read_is_refused(said: Any) -> None:
    refused(inputs.duration, said)


def test_what_expires_with_a_date_ends_with_its_day_where_the_caller_lives() -> None:
    rome = ZoneInfo("Europe/Rome")
    assert inputs.expires_in("2026-12-24", UTC) == datetime(2026, 12, 25, tzinfo=UTC)
    assert inputs.expires_in(" 2026-12-24 ", rome) == datetime(2026, 12, 24, 23, tzinfo=UTC)
    assert inputs.expires_in("2026-12-24T10:00:00+01:00", rome) == datetime(2026, 12, 24, 9, tzinfo=UTC)
    assert inputs.expires_in("2 weeks", rome) == timedelta(14)
    for said in ("2026-02-30", "2026-12-24T10:00:00", "2026-12-24 noon", "2299-01-01", "9999-12-31"):
        refused(lambda said=said: inputs.expires_in(said, UTC))


def test_expiry_is_said_in_one_of_three_ways_and_zero_makes_permanent() -> None:
    later = NOW + timedelta(days=2)
    assert inputs.expiry(None, None, None, NOW) is None
    assert inputs.expiry(later, None, None, NOW) == later
    assert inputs.expiry(None, None, 2, NOW) == later
    assert inputs.expiry(None, "0d", None, NOW) is inputs.expiry(None, None, 0, NOW) is None
    assert (inputs.expiry_stated(None, None, None), inputs.expiry_stated(None, None, 0)) == (False, True)
    refused(inputs.expiry, later, "2d", None, NOW)
    refused(inputs.expiry, None, "2d", 2, NOW)


@pytest.mark.parametrize("days", [-1, math.nan, math.inf, True, "2", 10**9, 10**400, 366 * 290])
def test_days_that_lead_nowhere_are_refused(days: Any) -> None:
    refused(inputs.expiry, None, None, days, NOW)


# Choices, ids, collections


def test_a_choice_names_the_options_and_not_the_value() -> None:
    assert inputs.choice("hybrid", "mode", ("hybrid", "keyword")) == "hybrid"
    error = refused(inputs.choice, SECRET, "mode", ("hybrid", "keyword"))
    assert str(error) == "mode: expected one of hybrid, keyword, found another text"
    refused(inputs.choice, None, "mode", ("hybrid",))
    refused(inputs.choice, ["hybrid"], "mode", ("hybrid",))


def test_ids_become_canonical_and_short_ones_are_read_in_any_letters() -> None:
    written = "{0199F2A0-7B1C-7D00-8000-0000000000AB}"
    assert inputs.event_id(written) == inputs.memory_id(written) == "0199f2a0-7b1c-7d00-8000-0000000000ab"
    assert inputs.named_event_id(written) == inputs.event_id(written)
    assert inputs.memory_id("mem-0123abcd") == inputs.memory_id("MEM-0123ABCD") == "mem-0123abcd"
    assert inputs.named_event_id("evt-0123abcd") == inputs.named_event_id("Evt-0123abCD") == "evt-0123abcd"
    assert [inputs.cited_id(one) for one in ("MEM-0123abcd", "EVT-0123abcd")] == ["mem-0123abcd", "evt-0123abcd"]
    assert "evt-1a2b3c4d" in str(refused(inputs.named_event_id, "mem-0123abcd"))
    assert "mem-1a2b3c4d" in str(refused(inputs.memory_id, "evt-0123abcd"))
    assert "mem-1a2b3c4d" not in str(refused(inputs.event_id, "mem-0123abcd"))
    assert "mem-1a2b3c4d" in str(refused(inputs.memory_id, "mem-xyz"))
    assert "mem-1a2b3c4d" in str(refused(inputs.memory_id, "x" * 1_000))


def test_a_batch_keeps_its_order_and_its_limits() -> None:
    assert inputs.batch([3, 1, 2]) == (3, 1, 2)
    assert len(inputs.batch(list(range(500)))) == 500
    assert inputs.batch_bytes(8 << 20) == 8 << 20
    assert too_large(inputs.batch_bytes, (8 << 20) + 1).field == "items"
    refused(inputs.batch, (one for one in [1]))


def test_unknown_names_in_an_object_are_refused() -> None:
    assert inputs.keys({"role": "user"}, "message", ("role", "content")) == {"role": "user"}
    refused(inputs.keys, {"rolle": "user"}, "message", ("role", "content"))
    refused(inputs.keys, {1: "user"}, "message", ("role", "content"))
    refused(inputs.keys, [("role", "user")], "message", ("role",))


def test_optional_checks_what_is_given_and_leaves_none() -> None:
    assert inputs.optional(inputs.label, None, "source") is None
    assert inputs.optional(inputs.label, " x ", "source") == "x"
    refused(inputs.optional, inputs.label, 5, "source")


# Messages


def test_no_message_quotes_a_value() -> None:
    attempts: list[Callable[[], Any]] = [
        lambda: inputs.fact(SECRET + "\x00"),
        lambda: inputs.fact(SECRET * 5_000),
        lambda: inputs.name(SECRET + "\n", "session_id"),
        lambda: inputs.metadata({SECRET + " ": {1: SECRET}}),
        lambda: inputs.strict_json('{"' + SECRET),
        lambda: inputs.strict_json('{"' + SECRET + '": 1, "' + SECRET + '": 2}'),
        lambda: inputs.moment_text(SECRET, "as_of"),
        lambda: inputs.duration(SECRET),
        lambda: inputs.memory_id(SECRET),
        lambda: inputs.choice(SECRET, "mode", ("hybrid",)),
        lambda: inputs.keys({SECRET: 1}, "message", ("role",)),
        lambda: filters.parse({SECRET: 1}),
        lambda: filters.parse({"metadata_range": {SECRET + "'": [1, 2]}}),
        lambda: paging.decode_cursor(SECRET, "list", b"key"),
    ]
    for attempt in attempts:
        with pytest.raises(EngramError) as caught:
            attempt()
        assert SECRET not in str(caught.value)
        assert SECRET not in repr(caught.value.facts)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
