"""Filters: one typed tree that every read understands, evaluated in SQL or in memory with the same answer.

The fields of a `Filter` are ANDed; `None` means "not asked" and an empty collection matches nothing, so that a filter
built from an empty list fails closed. `all_of`, `any_of` and `none_of` nest. Values are sent as parameters; the SQL is
built from constants only, and there is no LIKE and no regular expression for a caller to fill. Operators inside a value
(`$gt`, `$in`) are refused: they would be data that no memory holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from engram import ids, inputs, text
from engram.errors import InvalidInput, LimitExceeded
from engram.values import (
    KINDS,
    LAYERS,
    MEMORY_TYPES,
    STATUSES,
    TRUSTS,
    TYPE_ALIASES,
    Kind,
    Layer,
    Memory,
    MemoryType,
    Status,
    Trust,
    Value,
    Window,
    is_of_type,
    kind_of,
    trust_rank,
)

MAX_DEPTH: Final = 8
MAX_NODES: Final = 64
MAX_VALUES: Final = 1_000
MAX_SEGMENTS: Final = 4
MAX_RANGES: Final = 64

Range = tuple[Any, Any]

_PATH: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_OPERATOR: Final = re.compile(r"\$[A-Za-z]+")
_ARRAY_PLACE: Final = re.compile(r"-?[0-9]+")
_LAST_ARRAY_PLACE: Final = 2**31 - 1
_BRANCHES: Final = ("all_of", "any_of", "none_of")
_WINDOWS: Final = ("valid", "recorded")
_KIND_TYPES: Final = {kind: tuple(one for one in MEMORY_TYPES if kind_of(one) == kind) for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Filter(Value):
    """Which memories a read may return; every field given must hold.

    Windows and ranges are half-open, `(from, to)`, with None for an open side. `valid` asks whether a memory held at
    some time of the window, `recorded` whether it was recorded in it. `metadata` asks for containment, and no key in it
    is an operator such as `$gt`; `metadata_range` maps a dotted path to a range of numbers, or of text compared by code
    points. `memory_types` may be sister names (`fact`, `lesson`), `memory_ids` short ones, as printed (`mem-1a2b3c4d`).
    """

    memory_types: Sequence[MemoryType] | None = None
    categories: Sequence[str] | None = None
    kinds: Sequence[Kind] | None = None
    layers: Sequence[Layer] | None = None
    statuses: Sequence[Status] | None = None
    tags_all: Sequence[str] | None = None
    tags_any: Sequence[str] | None = None
    sources: Sequence[str] | None = None
    memory_ids: Sequence[str] | None = None
    session_ids: Sequence[str] | None = None
    task_run_ids: Sequence[str] | None = None
    topic_keys: Sequence[str] | None = None
    critical: bool | None = None
    min_trust: Trust | None = None
    min_importance: float | None = None
    min_confidence: float | None = None
    valid: Window | None = None
    recorded: Window | None = None
    metadata: Mapping[str, Any] | None = None
    metadata_range: Mapping[str, Range] | None = None
    all_of: Sequence[Filter] | None = None
    any_of: Sequence[Filter] | None = None
    none_of: Sequence[Filter] | None = None
    depth: int = field(default=1, init=False, repr=False, compare=False)
    nodes: int = field(default=1, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, check in _CHECKS.items():
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, check(given, f"filter.{name}"))
        below = [child for branch in _BRANCHES for child in getattr(self, branch) or ()]
        object.__setattr__(self, "depth", 1 + max((child.depth for child in below), default=0))
        object.__setattr__(self, "nodes", 1 + sum(child.nodes for child in below))
        if self.depth > MAX_DEPTH:
            raise LimitExceeded("filter", MAX_DEPTH, self.depth, "levels")
        if self.nodes > MAX_NODES:
            raise LimitExceeded("filter", MAX_NODES, self.nodes, "nodes")

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: only the fields that were asked, times as ISO 8601."""
        return {name: _data(getattr(self, name)) for name in FIELDS if getattr(self, name) is not None}

    def names_category(self, category: str) -> bool:
        """Whether this filter or a branch of it asks for rows of a category."""
        branches = (*(self.all_of or ()), *(self.any_of or ()))
        return category in (self.categories or ()) or any(branch.names_category(category) for branch in branches)

    def names_statuses(self) -> bool:
        """Whether the filter itself says which statuses to read, somewhere in its tree."""
        below = (child for branch in _BRANCHES for child in getattr(self, branch) or ())
        return self.statuses is not None or any(child.names_statuses() for child in below)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Filter:
        """The filter that `to_dict` came from; an unknown name is InvalidInput."""
        return parse(data)


def parse(data: Filter | Mapping[str, Any]) -> Filter:
    """A filter from its JSON form, whose names are those of `Filter`; times are ISO 8601 with a time zone."""
    if isinstance(data, Filter):
        return data
    if not isinstance(data, Mapping):
        raise InvalidInput("filter", "a Filter or its JSON form", type(data).__name__)
    _check_size(data)
    return _parse(data)


def to_dict(asked: Filter | None) -> dict[str, Any] | None:
    """The JSON form of a filter, or None: what a cursor and a log are bound to."""
    return None if asked is None else asked.to_dict()


def matches(asked: Filter, memory: Memory) -> bool:
    """Whether a memory satisfies a filter: the same answer as the SQL of `to_sql`."""
    for name, holds in _HOLDS.items():
        wanted = getattr(asked, name)
        if wanted is not None and not holds(wanted, memory):
            return False
    return _branches_match(asked, memory)


def short_ids(asked: Filter) -> frozenset[str]:
    """The short ids of memories that a filter names, anywhere in its tree."""
    below = (short_ids(child) for branch in _BRANCHES for child in getattr(asked, branch) or ())
    return frozenset(filter(ids.is_short, asked.memory_ids or ())).union(*below)


def with_whole_ids(asked: Filter, known: Mapping[str, str]) -> Filter:
    """The same filter with full ids in the place of short ones; one that is not known names nothing."""
    changed: dict[str, Any] = {
        branch: tuple(with_whole_ids(child, known) for child in getattr(asked, branch))
        for branch in _BRANCHES
        if getattr(asked, branch) is not None
    }
    if asked.memory_ids is not None:
        whole = (known.get(one) if ids.is_short(one) else one for one in asked.memory_ids)
        changed["memory_ids"] = tuple(one for one in whole if one is not None)
    return replace(asked, **changed)


def to_sql(asked: Filter | None, prefix: str = "f") -> tuple[str, dict[str, Any]]:
    """A condition over alias `m` of `agent_memory`, and its parameters, whose names begin with `prefix`."""
    builder = _Sql(prefix)
    return ("true", {}) if asked is None else (builder.condition(asked), builder.params)


# Checks of single fields


def _list_of(check: Callable[[object, str], str]) -> Callable[[object, str], tuple[str, ...]]:
    def checked(value: object, name: str) -> tuple[str, ...]:
        given = inputs.items(value, name, MAX_VALUES)
        return tuple(dict.fromkeys(check(one, f"{name}[{index}]") for index, one in enumerate(given)))

    return checked


def _choices(options: Collection[str]) -> Callable[[object, str], tuple[str, ...]]:
    return _list_of(lambda value, name: inputs.choice(value, name, options))


def _metadata(value: object, name: str) -> dict[str, Any]:
    """Metadata to be contained: an operator of another query language would be data that nothing holds."""
    found = inputs.metadata(value, name)
    if any(_OPERATOR.fullmatch(key) for key in _keys(found)):
        expected = "metadata to be contained, compared by metadata_range and excluded by none_of"
        raise InvalidInput(name, expected, "a key such as $gt")
    return found


def _keys(value: object) -> Iterator[str]:
    """Every key of JSON data, at any depth."""
    if isinstance(value, dict):
        yield from value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _keys(child)


def _types(value: object, name: str) -> tuple[str, ...]:
    """Types by their own names; a sister name that stands for a category beside stays, as only that is asked for."""
    given = _choices(TYPE_ALIASES)(value, name)
    known = (one if TYPE_ALIASES[one][1] is not None else TYPE_ALIASES[one][0] for one in given)
    return tuple(dict.fromkeys(known))


def _metadata_range(value: object, name: str) -> dict[str, Range]:
    if not isinstance(value, Mapping):
        raise InvalidInput(name, "an object of paths and ranges", type(value).__name__)
    if len(value) > MAX_RANGES:
        raise LimitExceeded(name, MAX_RANGES, len(value), "paths")
    return {_path(path, name): _range(bounds, name) for path, bounds in value.items()}


def _path(value: object, name: str) -> str:
    if not isinstance(value, str) or not _PATH.fullmatch(value):
        raise InvalidInput(name, "paths of letters, digits, _ and -, joined by dots", "another path")
    segments = value.split(".")
    if len(segments) > MAX_SEGMENTS or not all(segments):
        raise InvalidInput(name, f"paths of 1 to {MAX_SEGMENTS} names, none empty", "another path")
    return str.__str__(value)


def _range(value: object, name: str) -> Range:
    sides = tuple(value) if isinstance(value, tuple | list) else ()
    if len(sides) != 2:
        raise InvalidInput(name, "pairs of bounds, either of them None", type(value).__name__)
    low, high = (_bound(bound, name) for bound in sides)
    given = [bound for bound in (low, high) if bound is not None]
    if not given:
        raise InvalidInput(name, "at least one bound", "two open sides")
    if len(given) == 2 and (isinstance(low, str) != isinstance(high, str) or not low < high):
        raise InvalidInput(name, "a bound before the other, both numbers or both text", "a pair that is not")
    return low, high


def _bound(value: object, name: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        raise InvalidInput(name, "bounds that are numbers or text", type(value).__name__)
    return inputs.scalar(value, name)


def _filters(value: object, name: str) -> tuple[Filter, ...]:
    given = inputs.items(value, name, MAX_NODES)
    for one in given:
        if not isinstance(one, Filter):
            raise InvalidInput(name, "a list of filters", type(one).__name__)
    return given


_CHECKS: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "memory_types": _types,
    "categories": _list_of(inputs.label),
    "kinds": _choices(KINDS),
    "layers": _choices(LAYERS),
    "statuses": _choices(STATUSES),
    "tags_all": _list_of(inputs.tag),
    "tags_any": _list_of(inputs.tag),
    "sources": _list_of(inputs.label),
    "memory_ids": _list_of(inputs.memory_id),
    "session_ids": _list_of(inputs.name),
    "task_run_ids": _list_of(ids.parse_id),
    "topic_keys": _list_of(inputs.key_text),
    "critical": inputs.flag,
    "min_trust": lambda value, name: inputs.choice(value, name, TRUSTS),
    "min_importance": inputs.unit,
    "min_confidence": inputs.unit,
    "valid": inputs.window,
    "recorded": inputs.window,
    "metadata": _metadata,
    "metadata_range": _metadata_range,
    "all_of": _filters,
    "any_of": _filters,
    "none_of": _filters,
}
FIELDS: Final = tuple(one.name for one in fields(Filter) if one.init)


# The JSON form


def _check_size(data: Mapping[str, Any]) -> None:
    # Walked with a stack of its own: what comes from outside may be nested far deeper than a filter may be.
    nodes, level = 0, [data]
    for depth in range(1, MAX_DEPTH + 2):
        if depth > MAX_DEPTH and level:
            raise LimitExceeded("filter", MAX_DEPTH, "more", "levels")
        nodes += len(level)
        if nodes > MAX_NODES:
            raise LimitExceeded("filter", MAX_NODES, "more", "nodes")
        level = [child for node in level for child in _children(node)]


def _children(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for branch in _BRANCHES:
        below = node.get(branch)
        if isinstance(below, list | tuple):
            yield from (child for child in below[: MAX_NODES + 1] if isinstance(child, Mapping))


def _parse(data: Mapping[str, Any]) -> Filter:
    given = inputs.keys(data, "filter", FIELDS)
    for name in _WINDOWS:
        if given.get(name) is not None:
            given[name] = _parse_window(given[name], f"filter.{name}")
    for name in _BRANCHES:
        if given.get(name) is not None:
            below = inputs.items(given[name], f"filter.{name}", MAX_NODES)
            given[name] = tuple(_parse_child(child, f"filter.{name}") for child in below)
    return Filter(**given)


def _parse_child(data: object, name: str) -> Filter:
    if isinstance(data, Filter):
        return data
    if not isinstance(data, Mapping):
        raise InvalidInput(name, "a list of filters", type(data).__name__)
    return _parse(data)


def _parse_window(value: object, name: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InvalidInput(name, "a pair of times, either of them null", type(value).__name__)
    return tuple(inputs.moment_text(side, name) if isinstance(side, str) else side for side in value)


def _data(value: Any) -> Any:
    if isinstance(value, Filter):
        return value.to_dict()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: _data(one) for key, one in value.items()}
    return [_data(one) for one in value] if isinstance(value, tuple | list) else value


# In memory


def _branches_match(asked: Filter, memory: Memory) -> bool:
    if asked.all_of is not None and not (asked.all_of and all(matches(one, memory) for one in asked.all_of)):
        return False
    if asked.any_of is not None and not any(matches(one, memory) for one in asked.any_of):
        return False
    return asked.none_of is None or bool(asked.none_of and not any(matches(one, memory) for one in asked.none_of))


def _topic_conflict_key(topic_key: str) -> str:
    return "topic:" + text.normalise_key(topic_key)


def _held_during(window: Window, memory: Memory) -> bool:
    start, end = window
    begun = end is None or memory.valid_from < end
    return begun and (start is None or memory.valid_to is None or memory.valid_to > start)


def _recorded_during(window: Window, memory: Memory) -> bool:
    start, end = window
    return (start is None or memory.recorded_at >= start) and (end is None or memory.recorded_at < end)


def _contains(held: Any, wanted: Any) -> bool:
    """What PostgreSQL's `@>` answers for two jsonb values below the top level."""
    if isinstance(wanted, Mapping):
        return isinstance(held, Mapping) and all(
            key in held and _contains(held[key], one) for key, one in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        return isinstance(held, list | tuple) and all(any(_contains(there, one) for there in held) for one in wanted)
    if isinstance(held, Mapping | list | tuple) or isinstance(held, bool) != isinstance(wanted, bool):
        return False
    return bool(held == wanted)


def _at_path(held: Any, segments: Sequence[str]) -> Any:
    """What `jsonb_extract_path` finds, or None; a list is entered by a whole number, from its end by a negative one."""
    for segment in segments:
        if isinstance(held, Mapping):
            held = held.get(segment)
        elif isinstance(held, list | tuple) and _ARRAY_PLACE.fullmatch(segment):
            place = int(segment)
            inside = -len(held) <= place < len(held) and -_LAST_ARRAY_PLACE - 1 <= place <= _LAST_ARRAY_PLACE
            held = held[place] if inside else None
        else:
            return None
    return held


def _in_range(held: Any, bounds: Range) -> bool:
    low, high = bounds
    asks_text = isinstance(high if low is None else low, str)
    comparable = isinstance(held, str) if asks_text else isinstance(held, int | float) and not isinstance(held, bool)
    return comparable and (low is None or held >= low) and (high is None or held < high)


def _ranges_hold(wanted: Mapping[str, Range], memory: Memory) -> bool:
    # An empty mapping matches nothing, as every empty collection does.
    return bool(wanted) and all(
        _in_range(_at_path(memory.metadata, path.split(".")), bounds) for path, bounds in wanted.items()
    )


_HOLDS: Final[Mapping[str, Callable[[Any, Memory], bool]]] = {
    "memory_types": lambda wanted, memory: is_of_type(wanted, memory.memory_type, memory.category),
    "categories": lambda wanted, memory: memory.category in wanted,
    "kinds": lambda wanted, memory: memory.kind in wanted,
    "layers": lambda wanted, memory: memory.layer in wanted,
    "statuses": lambda wanted, memory: memory.status in wanted,
    "tags_all": lambda wanted, memory: bool(wanted) and set(wanted) <= set(memory.tags),
    "tags_any": lambda wanted, memory: not set(wanted).isdisjoint(memory.tags),
    "sources": lambda wanted, memory: memory.source in wanted,
    "memory_ids": lambda wanted, memory: memory.memory_id in wanted,
    "session_ids": lambda wanted, memory: memory.session_id in wanted,
    "task_run_ids": lambda wanted, memory: memory.task_run_id in wanted,
    "topic_keys": lambda wanted, memory: memory.conflict_key in {_topic_conflict_key(key) for key in wanted},
    "critical": lambda wanted, memory: memory.is_critical is wanted,
    "min_trust": lambda wanted, memory: trust_rank(memory.trust) <= trust_rank(wanted),
    "min_importance": lambda wanted, memory: memory.importance >= wanted,
    "min_confidence": lambda wanted, memory: memory.confidence >= wanted,
    "valid": _held_during,
    "recorded": _recorded_during,
    "metadata": lambda wanted, memory: bool(wanted) and _contains(memory.metadata, wanted),
    "metadata_range": _ranges_hold,
}


# In SQL. `$` stands for the parameter; a comparison with null counts as false, also under a negation (`is not true`).

_NOTHING: Final = "false"
_ANY_OF: Final[Mapping[str, str]] = {
    "categories": "m.category = any ($::text[])",
    "layers": "m.layer = any ($::text[])",
    "statuses": "m.status = any ($::text[])",
    "tags_all": "m.tags @> $::text[]",
    "tags_any": "m.tags && $::text[]",
    "sources": "m.source = any ($::text[])",
    "memory_ids": "m.memory_id = any ($::uuid[])",
    "session_ids": "m.session_id = any ($::text[])",
    "task_run_ids": "m.task_run_id = any ($::text[])",
}
_OF_TYPE: Final = "m.memory_type = any ($::text[])"
_OF_CATEGORY: Final = "m.category = $::text"
_AT_LEAST: Final[Mapping[str, str]] = {
    "min_importance": "m.importance >= $::float8",
    "min_confidence": "m.confidence >= $::float8",
}
_NUMBER_RANGE: Final = (
    "case when jsonb_typeof(jsonb_extract_path(m.metadata, variadic $::text[])) = 'number' "
    "then jsonb_extract_path_text(m.metadata, variadic $::text[])::numeric <@ numrange($1::numeric, $2::numeric) "
    "else false end"
)
_TEXT_AT_LEAST: Final = 'jsonb_extract_path_text(m.metadata, variadic $::text[]) collate "C" >= $1::text'
_TEXT_BELOW: Final = 'jsonb_extract_path_text(m.metadata, variadic $::text[]) collate "C" < $1::text'
_IS_TEXT: Final = "jsonb_typeof(jsonb_extract_path(m.metadata, variadic $::text[])) = 'string'"


class _Sql:
    """Collects the conditions of one filter and the parameters they name."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.params: dict[str, Any] = {}

    def condition(self, asked: Filter) -> str:
        """One node of the tree as a condition in brackets."""
        found = [*self._lists(asked), *self._bounds(asked), *self._windows(asked), *self._metadata(asked)]
        for branch, join in (("all_of", " and "), ("any_of", " or ")):
            below = getattr(asked, branch)
            if below is not None:
                found.append(self._joined(below, join))
        if asked.none_of is not None:
            found.append(
                _bracketed([self._joined(asked.none_of, " or "), "is not true"], " ") if asked.none_of else _NOTHING
            )
        return _bracketed(found, " and ") if found else "true"

    def _joined(self, below: Sequence[Filter], join: str) -> str:
        return _bracketed([self.condition(one) for one in below], join) if below else _NOTHING

    def _lists(self, asked: Filter) -> Iterator[str]:
        for name, template in _ANY_OF.items():
            wanted = getattr(asked, name)
            if wanted is not None:
                yield self._fill(template, list(wanted)) if wanted else _NOTHING
        if asked.memory_types is not None:
            yield self._types(asked.memory_types)
        if asked.kinds is not None:
            types = [one for kind in asked.kinds for one in _KIND_TYPES[kind]]
            yield self._fill(_OF_TYPE, types) if types else _NOTHING
        if asked.topic_keys is not None:
            wanted = [_topic_conflict_key(key) for key in asked.topic_keys]
            yield self._fill("m.conflict_key = any ($::text[])", wanted) if wanted else _NOTHING

    def _types(self, wanted: Sequence[str]) -> str:
        known = [TYPE_ALIASES[one] for one in wanted]
        whole = [memory_type for memory_type, category in known if category is None]
        found = [self._fill(_OF_TYPE, whole)] if whole else []
        for memory_type, category in known:
            if category is not None:
                both = [self._fill(_OF_TYPE, [memory_type]), self._fill(_OF_CATEGORY, category)]
                found.append(_bracketed(both, " and "))
        return _bracketed(found, " or ") if found else _NOTHING

    def _bounds(self, asked: Filter) -> Iterator[str]:
        if asked.critical is not None:
            yield "m.critical_slot is not null" if asked.critical else "m.critical_slot is null"
        if asked.min_trust is not None:
            yield self._fill("m.trust <= $::smallint", trust_rank(asked.min_trust))
        for name, template in _AT_LEAST.items():
            if getattr(asked, name) is not None:
                yield self._fill(template, getattr(asked, name))

    def _windows(self, asked: Filter) -> Iterator[str]:
        if asked.valid is not None:
            start, end = asked.valid
            if end is not None:
                yield self._fill("m.valid_from < $::timestamptz", end)
            if start is not None:
                yield self._fill("(m.valid_to is null or m.valid_to > $::timestamptz)", start)
        if asked.recorded is not None:
            start, end = asked.recorded
            if start is not None:
                yield self._fill("m.recorded_at >= $::timestamptz", start)
            if end is not None:
                yield self._fill("m.recorded_at < $::timestamptz", end)

    def _metadata(self, asked: Filter) -> Iterator[str]:
        if asked.metadata is not None:
            from psycopg.types.json import Jsonb

            yield self._fill("m.metadata @> $::jsonb", Jsonb(asked.metadata)) if asked.metadata else _NOTHING
        if asked.metadata_range is not None:
            if not asked.metadata_range:
                yield _NOTHING
            for path, bounds in asked.metadata_range.items():
                yield self._range(path.split("."), bounds)

    def _range(self, segments: list[str], bounds: Range) -> str:
        low, high = bounds
        at = self._param(segments)
        if not isinstance(high if low is None else low, str):
            template = _NUMBER_RANGE.replace("$1", self._param(_exact(low))).replace("$2", self._param(_exact(high)))
            return template.replace("$:", at + ":")
        conditions = [_IS_TEXT.replace("$:", at + ":")]
        for template, bound in ((_TEXT_AT_LEAST, low), (_TEXT_BELOW, high)):
            if bound is not None:
                conditions.append(template.replace("$1", self._param(bound)).replace("$:", at + ":"))
        return _bracketed(conditions, " and ")

    def _fill(self, template: str, value: Any) -> str:
        return template.replace("$", self._param(value))

    def _param(self, value: Any) -> str:
        name = self.prefix + "_" + str(len(self.params) + 1)
        self.params[name] = value
        return "%(" + name + ")s"


def _bracketed(conditions: list[str], join: str) -> str:
    return "(" + join.join(conditions) + ")"


def _exact(value: float | None) -> Decimal | None:
    # A double goes as its shortest decimal, which is what jsonb holds; a cast in PostgreSQL would cut it at 15 digits.
    return None if value is None else Decimal(repr(value))
