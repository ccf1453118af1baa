"""LangMem and LangGraph's store: items with a namespace, a key and a value, in a list or one a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from engram.errors import EngramError
from engram.portable.files import File
from engram.portable.items import Found, Item, Problem, moment, objects, problem, rest, text

NAME: Final = "langmem"
LISTS: Final = ("items", "results")
TEXTS: Final = ("content", "memory", "text", "fact", "data")


def recognises(file: File) -> bool:
    """Whether the entries have a namespace, a key and a value."""
    first = file.first_entry(*LISTS)
    return "namespace" in first and "key" in first and "value" in first


def read(file: File) -> Iterator[Found]:
    """The items of the store; a value without a text of its own becomes one of its fields."""
    for place, entry in objects(file.values(*LISTS)):
        yield entry if isinstance(entry, Problem) else _item(place, entry)


def _item(place: str, entry: Mapping[str, Any]) -> Found:
    key, value = text(entry.get("key")), entry.get("value")
    space = entry.get("namespace")
    namespace = [str(part) for part in space] if isinstance(space, list) else str(space or "").split(".")
    if key is None or not isinstance(value, Mapping):
        return Problem(place, "expected a key and a value that is a JSON object")
    fact = said_in(value)
    if fact is None:
        return Problem(place, "expected a value that says something")
    try:
        created = moment(entry.get("created_at"), f"{place}, created_at")
        updated = moment(entry.get("updated_at"), f"{place}, updated_at")
    except EngramError as error:
        return problem(place, error)
    since = max((at for at in (created, updated) if at is not None), default=None)
    own = {
        "namespace": namespace,
        "key": key,
        "value": dict(value),
        **({"created_at": created.isoformat()} if created else {}),
        **rest(entry, "namespace", "key", "value", "created_at", "updated_at", "score"),
    }
    memory = {"source": NAME, "metadata": {NAME: own}, "valid_from": since}
    if kind := text(value.get("kind")):
        memory["category"] = kind[:64]
    parts = (part.replace("\\", "\\\\").replace("/", "\\/") for part in (*namespace, key))
    return Item(place, "/".join(parts), fact, memory, occurred_at=created or since)


def said_in(value: Mapping[str, Any]) -> str | None:
    """The text of a value: its own, that of what it wraps, or its fields as words."""
    for name in TEXTS:
        inner = value.get(name)
        if isinstance(inner, Mapping):
            return said_in(inner)
        if said := text(inner):
            return said
    told = {name: item for name, item in value.items() if item not in (None, "", [], {})}
    parts = [f"{name.replace('_', ' ')}: {_plain(item)}" for name, item in sorted(told.items())]
    return "; ".join(parts) or None


def _plain(item: Any) -> str:
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, sort_keys=True)
