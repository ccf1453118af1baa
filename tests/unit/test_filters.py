"""Filters: what each field asks, in memory and as SQL text, and how large a tree may be."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from badinputs import INJECTIONS, negations
from hypothesis import given
from hypothesis import strategies as st

from engram import filters, text
from engram.errors import InvalidInput, LimitExceeded
from engram.filters import Filter, matches, parse, short_ids, to_sql, with_whole_ids
from engram.ids import new_id
from engram.scope import Scope
from engram.values import MEMORY_TYPES, TRUSTS, Memory

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
TASK = "0199f2a0-7b1c-7d00-8000-0000000000cd"
OTHER = "0199f2a0-7b1c-7d00-8000-0000000000ce"


def memory(**changes: Any) -> Memory:
    """A memory with everything a filter can ask for."""
    return replace(
        Memory(
            memory_id="0199f2a0-7b1c-7d00-8000-0000000000ab", scope=Scope(), fact="Ada likes tea", main_content=None,
            memory_type="preference", category="drinks", tags=("tea", "work"), importance=0.6, confidence=0.5,
            trust="user", layer="working", status="active", status_reason=None, critical_slot="preference:drink",
            conflict_key="topic:" + text.normalise_key("Café"), topic_key="Café", subject=None, attribute=None,
            value=None,
            lineage_id="0199f2a0-7b1c-7d00-8000-0000000000ab", revision=1, superseded_by=None, superseded_at=None,
            consolidated_into=None, valid_from=NOW, valid_from_stated=False, valid_to=NOW + DAY, recorded_at=NOW,
            expires_at=None, surprise=None, source="chat", session_id="s1", task_run_id=TASK,
            metadata={"a": {"b": [1, 2.5, "x", {"c": True}]}, "n": 5, "t": "m"}, private=False, deriver=None,
            deriver_version=None, policy="default", rule=None, embedded=True, event_id=new_id(),
        ),
        **changes,
    )  # fmt: skip


# What each field asks

HOLDS: list[dict[str, Any]] = [
    {},
    {"memory_types": ["task", "preference"]},
    {"categories": ["drinks"]},
    {"kinds": ["semantic"]},
    {"layers": ["working", "core"]},
    {"statuses": ["active"]},
    {"tags_all": [" TEA ", "work"]},
    {"tags_any": ["coffee", "Work"]},
    {"sources": ["chat"]},
    {"memory_ids": ["{0199F2A0-7B1C-7D00-8000-0000000000AB}"]},
    {"session_ids": ["s1"]},
    {"task_run_ids": [TASK.upper()]},
    {"topic_keys": [" CAFE\u0301"]},
    {"critical": True},
    {"min_trust": "user"},
    {"min_trust": "web"},
    {"min_importance": 0.6},
    {"min_confidence": 0},
    {"valid": (NOW + DAY / 2, None)},
    {"valid": (None, NOW + DAY / 2)},
    {"valid": (NOW - DAY, NOW + 5 * DAY)},
    {"valid": (None, None)},
    {"recorded": (NOW, NOW + DAY)},
    {"metadata": {"n": 5.0}},
    {"metadata": {"a": {"b": ["x", 1, 1]}}},
    {"metadata": {"a": {"b": [{"c": True}]}}},
    {"metadata": {"a": {}}},
    {"metadata": {"a": {"b": []}}},
    {"metadata_range": {"n": (5, None), "t": ("m", "n")}},
    {"metadata_range": {"n": (None, 5.5)}},
    {"metadata_range": {"a.b.1": (2.5, 2.6)}},
    {"metadata_range": {"a.b.-3": (2.5, 2.6)}},
    {"all_of": [Filter(critical=True), Filter(layers=["working"])]},
    {"any_of": [Filter(critical=False), Filter(layers=["working"])]},
    {"none_of": [Filter(critical=False), Filter(layers=["core"])]},
    {"none_of": [Filter(none_of=[Filter()])]},
    {"none_of": [Filter(categories=[])]},
]
FAILS: list[dict[str, Any]] = [
    {"memory_types": ["task"]},
    {"categories": ["Drinks"]},
    {"kinds": ["episodic", "procedural"]},
    {"layers": ["core"]},
    {"statuses": ["archived"]},
    {"tags_all": ["tea", "coffee"]},
    {"tags_any": ["coffee"]},
    {"sources": ["CHAT"]},
    {"memory_ids": [TASK]},
    {"session_ids": ["S1"]},
    {"task_run_ids": ["0199f2a0-7b1c-7d00-8000-0000000000ab"]},
    {"topic_keys": ["tea"]},
    {"critical": False},
    {"min_trust": "operator"},
    {"min_importance": 0.61},
    {"min_confidence": 1},
    {"valid": (NOW + DAY, None)},
    {"valid": (None, NOW)},
    {"recorded": (NOW + DAY, None)},
    {"recorded": (NOW - DAY, NOW)},
    {"metadata": {"n": 6}},
    {"metadata": {"n": True}},
    {"metadata": {"n": [5]}},
    {"metadata": {"a": {"b": "x"}}},
    {"metadata": {"a": {"b": [1.0, "y"]}}},
    {"metadata": {"a": {"b": [1, {"c": 1}]}}},
    {"metadata_range": {"n": (6, None)}},
    {"metadata_range": {"n": (None, 5)}},
    {"metadata_range": {"n": ("5", None)}},
    {"metadata_range": {"t": (0, 10)}},
    {"metadata_range": {"t": (None, "m")}},
    {"metadata_range": {"missing.path": (0, None)}},
    {"metadata_range": {"a.b.9": (0, None)}},
    {"metadata_range": {"a.b.3.c": (0, None)}},
    {"metadata_range": {"n": (0, 10), "t": ("n", None)}},
    {"all_of": [Filter(critical=True), Filter(layers=["core"])]},
    {"any_of": [Filter(critical=False), Filter(layers=["core"])]},
    {"none_of": [Filter(critical=False), Filter(layers=["working"])]},
    {"none_of": [Filter()]},
]


@pytest.mark.parametrize("asked", HOLDS, ids=str)
def test_a_memory_that_is_as_asked_matches(asked: dict[str, Any]) -> None:
    assert matches(Filter(**asked), memory())


@pytest.mark.parametrize("asked", FAILS, ids=str)
def test_a_memory_that_is_not_as_asked_does_not_match(asked: dict[str, Any]) -> None:
    assert not matches(Filter(**asked), memory())
    assert matches(Filter(none_of=[Filter(**asked)]), memory())


def test_every_field_is_tried_by_these_tables() -> None:
    assert (
        {name for asked in HOLDS for name in asked}
        == {name for asked in FAILS for name in asked}
        == set(filters.FIELDS)
    )


@pytest.mark.parametrize(
    "name",
    ["memory_types", "categories", "kinds", "layers", "statuses", "tags_all", "tags_any", "sources", "memory_ids",
     "session_ids", "task_run_ids", "topic_keys", "metadata", "metadata_range", "all_of", "any_of", "none_of"],
)  # fmt: skip
def test_an_empty_collection_matches_nothing(name: str) -> None:
    empty: Any = {} if name.startswith("metadata") else []
    assert not matches(Filter(**{name: empty}), memory())
    assert "false" in to_sql(Filter(**{name: empty}))[0]
    assert matches(Filter(none_of=[Filter(**{name: empty})]), memory())


def test_what_a_memory_lacks_is_not_matched_but_may_be_excluded() -> None:
    bare = memory(
        category=None, source=None, session_id=None, task_run_id=None, conflict_key=None, critical_slot=None, tags=()
    )
    for asked in (
        {"categories": ["x"]},
        {"sources": ["x"]},
        {"session_ids": ["x"]},
        {"topic_keys": ["x"]},
        {"tags_any": ["x"]},
    ):
        assert not matches(Filter(**asked), bare)  # type: ignore[arg-type]
        assert matches(Filter(none_of=[Filter(**asked)]), bare)  # type: ignore[arg-type]


def test_a_memory_without_end_held_at_any_later_time() -> None:
    assert matches(Filter(valid=(NOW + 1_000 * DAY, None)), memory(valid_to=None))
    assert not matches(Filter(valid=(None, NOW)), memory(valid_to=None))


@pytest.mark.parametrize("trust", TRUSTS)
def test_a_least_trust_admits_the_better_ones(trust: Any) -> None:
    admitted = [one for one in TRUSTS if matches(Filter(min_trust=trust), memory(trust=one))]
    assert admitted == list(TRUSTS[: TRUSTS.index(trust) + 1])


@pytest.mark.parametrize(
    "wanted",
    [{"price": {"$gt": 1}}, {"$or": [{"a": 1}]}, {"a": [{"b": {"$in": [1, 2]}}]}, {"a": 1, "b": {"$ne": None}}],
)
def test_an_operator_of_another_language_is_no_metadata(wanted: dict[str, Any]) -> None:
    for ask in (lambda: Filter(metadata=wanted), lambda: parse({"none_of": [{"metadata": wanted}]})):
        with pytest.raises(InvalidInput, match="metadata_range and excluded by none_of") as caught:
            ask()
        assert caught.value.field == "filter.metadata"


def test_a_value_may_begin_with_a_dollar_and_a_key_that_is_no_operator() -> None:
    assert matches(Filter(metadata={"price": "$9", "$9": ["$"]}), memory(metadata={"price": "$9", "$9": ["$", 1]}))


def test_text_ranges_compare_code_points() -> None:
    assert matches(Filter(metadata_range={"t": ("Z", "a")}), memory(metadata={"t": "_"}))
    assert matches(Filter(metadata_range={"t": ("\ufb01", None)}), memory(metadata={"t": "\U0001f600"}))
    assert not matches(Filter(metadata_range={"t": ("a", "z")}), memory(metadata={"t": "é"}))


def test_numbers_and_bools_are_never_compared() -> None:
    assert not matches(Filter(metadata_range={"t": (0, 2)}), memory(metadata={"t": True}))
    assert not matches(Filter(metadata={"t": 1}), memory(metadata={"t": True}))
    assert not matches(Filter(metadata={"t": None}), memory(metadata={}))
    assert matches(Filter(metadata={"t": None}), memory(metadata={"t": None}))


# What is refused


@pytest.mark.parametrize(
    "asked",
    [
        {"memory_types": ["facts"]}, {"memory_types": "semantic"}, {"memory_types": [None]}, {"kinds": ["x"]},
        {"layers": [1]}, {"statuses": ["gone"]}, {"tags_all": "tea"}, {"memory_ids": ["evt-0123abcd"]},
        {"memory_ids": ["00000000-0000-0000-0000-000000000000"]}, {"session_ids": [""]}, {"critical": 1},
        {"critical": "yes"}, {"min_trust": "friend"}, {"min_importance": 2}, {"min_importance": True},
        {"min_confidence": float("nan")}, {"valid": (NOW, NOW)}, {"valid": (NOW, NOW - DAY)}, {"valid": NOW},
        {"recorded": (datetime(2026, 1, 1), None)}, {"recorded": ["2026-01-01T00:00:00Z", None]},  # noqa: DTZ001
        {"metadata": [1]}, {"metadata": {1: 1}}, {"metadata": {"a": {1, 2}}}, {"metadata_range": [1, 2]},
        {"metadata_range": {"a": 5}}, {"metadata_range": {"a": (1,)}}, {"metadata_range": {"a": (None, None)}},
        {"metadata_range": {"a": (1, "b")}}, {"metadata_range": {"a": (2, 1)}}, {"metadata_range": {"a": (True, None)}},
        {"metadata_range": {"a": ([1], None)}}, {"metadata_range": {"a": (float("inf"), None)}},
        {"metadata_range": {"a": ("\x00", None)}}, {"metadata_range": {1: (1, 2)}}, {"all_of": Filter()},
        {"any_of": [{"critical": True}]}, {"none_of": [None]}, {"none_of": "x"},
    ],
    ids=str,
)  # fmt: skip
def test_a_field_that_makes_no_sense_is_refused_by_name(asked: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        Filter(**asked)
    assert not isinstance(caught.value, LimitExceeded)
    assert caught.value.field.startswith(f"filter.{next(iter(asked))}")


def test_a_list_holds_at_most_1_000_values() -> None:
    assert len(Filter(session_ids=[f"s{n}" for n in range(1_000)]).session_ids or ()) == 1_000
    with pytest.raises(LimitExceeded):
        Filter(session_ids=["s"] * 1_001)


def test_a_tree_is_refused_at_its_ninth_level_and_its_sixty_fifth_node() -> None:
    tree = Filter()
    for _ in range(7):
        tree = Filter(none_of=[tree])
    assert (tree.depth, tree.nodes) == (8, 8)
    with pytest.raises(LimitExceeded, match="8 levels"):
        Filter(none_of=[tree])
    assert Filter(all_of=[Filter()] * 63).nodes == 64
    with pytest.raises(LimitExceeded):
        Filter(all_of=[Filter()] * 32, any_of=[Filter()] * 32)


@pytest.mark.parametrize("wide", ["all_of", "any_of", "none_of"])
def test_the_json_form_is_measured_before_it_is_walked(wide: str) -> None:
    with pytest.raises(LimitExceeded):
        parse({wide: [{wide: [{}] * 63}, {}]})
    with pytest.raises(LimitExceeded):
        parse({wide: [{}] * 100_000})
    with pytest.raises(LimitExceeded):
        parse(negations(100_000))


@pytest.mark.parametrize(
    "data",
    [None, [], "x", 5, {"memory_type": ["semantic"]}, {1: 2}, {"depth": 3}, {"nodes": 1}, {"any_of": [["x"]]},
     {"all_of": {}}, {"valid": ["soon", None]}, {"valid": ["2026-01-01T00:00:00", None]},
     {"recorded": "2026-01-01T00:00:00Z"}],
    ids=str,
)  # fmt: skip
def test_a_json_form_that_is_none_is_refused(data: Any) -> None:
    with pytest.raises(InvalidInput):
        parse(data)


# The JSON form

WORDS = st.sampled_from(["a", "b", "c d", "%s", "'"])
MOMENTS = st.sampled_from([NOW - DAY, NOW, NOW + DAY / 3])
LEAVES = st.fixed_dictionaries(
    {},
    optional={
        "memory_types": st.lists(st.sampled_from(MEMORY_TYPES), max_size=2),
        "categories": st.lists(WORDS, max_size=2),
        "tags_any": st.lists(WORDS, max_size=2),
        "critical": st.booleans(),
        "min_trust": st.sampled_from(TRUSTS),
        "min_importance": st.floats(0, 1),
        "valid": st.tuples(MOMENTS, st.none()),
        "recorded": st.tuples(st.none(), MOMENTS),
        "metadata": st.dictionaries(WORDS, st.integers(-5, 5) | WORDS | st.booleans(), max_size=2),
        "metadata_range": st.dictionaries(
            st.sampled_from(["a", "a.b"]), st.tuples(st.integers(0, 5), st.none()), max_size=2
        ),
    },
).map(lambda fields: Filter(**fields))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda branch, below: Filter(**{branch: below}),
        st.sampled_from(["all_of", "any_of", "none_of"]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=6,
)


@given(TREES)
def test_the_json_form_is_the_same_filter(tree: Filter) -> None:
    assert parse(tree.to_dict()) == Filter.from_dict(tree.to_dict()) == tree
    assert parse(tree) is tree
    assert filters.to_dict(tree) == tree.to_dict()


def test_the_json_form_holds_only_what_was_asked() -> None:
    asked = Filter(critical=False, valid=(NOW, None), none_of=[Filter(tags_any=["A"])])
    assert asked.to_dict() == {
        "critical": False,
        "valid": ["2026-03-01T12:00:00+00:00", None],
        "none_of": [{"tags_any": ["a"]}],
    }
    assert Filter().to_dict() == {}
    assert filters.to_dict(None) is None


def test_a_filter_says_whether_it_names_statuses_anywhere() -> None:
    assert Filter(statuses=[]).names_statuses()
    assert Filter(none_of=[Filter(any_of=[Filter(statuses=["archived"])])]).names_statuses()
    assert not Filter(layers=["core"], all_of=[Filter()]).names_statuses()


def test_a_filter_does_not_change_with_what_it_was_made_from() -> None:
    tags, data = ["a"], {"k": [1]}
    asked = Filter(tags_any=tags, metadata=data)
    tags.append("b")
    data["k"].append(2)
    assert (asked.tags_any, asked.metadata) == (("a",), {"k": [1]})


# SQL

_TEXT_OF_SQL = re.compile(r"(?:[a-z0-9_.:,()'\"C\[\] @<>=&]|%\([a-z]+_[0-9]+\)s)*", re.DOTALL)


def test_no_filter_is_true_and_an_empty_one_too() -> None:
    assert to_sql(None) == to_sql(Filter()) == ("true", {})


@given(TREES)
def test_sql_is_made_of_constants_and_names_of_parameters(tree: Filter) -> None:
    sql, params = to_sql(tree, prefix="filter")
    assert _TEXT_OF_SQL.fullmatch(sql), sql
    assert set(re.findall(r"%\((\w+)\)s", sql)) == set(params)
    assert all(name.startswith("filter_") for name in params)
    assert to_sql(tree, prefix="filter")[0] == sql
    assert sql.count("(") == sql.count(")")


@pytest.mark.parametrize("value", INJECTIONS)
def test_a_value_never_reaches_the_text(value: str) -> None:
    def asks(value: str) -> Filter:
        return Filter(categories=[value], sources=[value], tags_any=[value[:32]], topic_keys=[value],
                      session_ids=[value], metadata={value: value}, metadata_range={"a": (value, None)})  # fmt: skip

    hostile, plain = asks(value), asks("x")
    assert to_sql(hostile)[0] == to_sql(plain)[0]


def test_text_is_compared_by_code_points_whatever_the_collation_of_the_database() -> None:
    sql, _ = to_sql(Filter(metadata_range={"t": ("a", "b")}))
    assert sql.count('collate "C"') == 2


def test_the_text_does_not_depend_on_how_many_values_a_list_has() -> None:
    assert to_sql(Filter(sources=["a"]))[0] == to_sql(Filter(sources=["a", "b", "c"]))[0]


def test_numbers_are_sent_as_the_decimals_that_jsonb_holds() -> None:
    _, params = to_sql(Filter(metadata_range={"a": (0.1, 2**53 - 1)}))
    assert [str(value) for value in params.values() if not isinstance(value, list)] == ["0.1", "9007199254740991"]


def test_only_fields_that_the_tables_know_have_conditions() -> None:
    for name in filters.FIELDS:
        asked = next(one for one in FAILS if name in one)
        assert to_sql(Filter(**{name: asked[name]}))[0] != "true"


def test_no_statement_is_formatted_in_this_room() -> None:
    tree = ast.parse(Path(filters.__file__).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            words = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
            assert "m." not in words
        assert not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod))


def test_the_mapping_types_of_callers_are_taken_as_they_are() -> None:
    class Own(Mapping[str, Any]):
        def __getitem__(self, key: str) -> Any:
            return {"critical": True}[key]

        def __iter__(self) -> Any:
            return iter(["critical"])

        def __len__(self) -> int:
            return 1

    assert parse(Own()) == Filter(critical=True)


def test_a_sister_name_of_a_type_asks_for_what_a_write_makes_of_it() -> None:
    assert Filter(memory_types=["fact", "semantic", "todo"]).memory_types == ("semantic", "task")  # type: ignore[list-item]
    lesson = Filter(memory_types=["lesson", "identity"])  # type: ignore[list-item]
    assert parse(lesson.to_dict()) == lesson
    of = (
        ("procedural", "lesson"),
        ("procedural", "other"),
        ("procedural", None),
        ("profile", None),
        ("task", "lesson"),
    )
    kept = [matches(lesson, memory(memory_type=kind, category=category)) for kind, category in of]
    assert kept == [True, False, False, True, False]


def test_short_ids_are_made_whole_anywhere_in_the_tree_and_an_unknown_one_names_nothing() -> None:
    asked = Filter(
        memory_ids=["MEM-0123abcd", TASK],
        any_of=[Filter(memory_ids=["mem-89abcdef"]), Filter(none_of=[Filter(memory_ids=["mem-00000000"])])],
    )
    assert short_ids(asked) == {"mem-0123abcd", "mem-89abcdef", "mem-00000000"}
    whole = with_whole_ids(asked, {"mem-0123abcd": OTHER, "mem-89abcdef": TASK})
    assert whole == Filter(
        memory_ids=[OTHER, TASK],
        any_of=[Filter(memory_ids=[TASK]), Filter(none_of=[Filter(memory_ids=[])])],
    )
    assert short_ids(whole) == frozenset()
