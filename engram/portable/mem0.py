"""Mem0: the answer of `get_all`, a memory export, or one memory a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from engram.errors import EngramError
from engram.portable.files import File
from engram.portable.items import (
    Found,
    Item,
    Problem,
    moment,
    object_under,
    objects,
    problem,
    rest,
    tags,
    text,
    text_under,
)

NAME: Final = "mem0"
LISTS: Final = ("results", "memories")
KNOWN: Final = (
    "id",
    "memory",
    "user_id",
    "metadata",
    "categories",
    "expiration_date",
    "score",
    "created_at",
    "updated_at",
)


def recognises(file: File) -> bool:
    """Whether the entries are memories with an id, as Mem0 writes them."""
    return any("id" in entry and "memory" in entry for entry in _entries(file))


def read(file: File) -> Iterator[Found]:
    """The memories of the file, then the relations of its graph as facts, of the user it is all of, if it is of one."""
    users: set[str | None] = set()
    for place, entry in objects(file.values(*LISTS)):
        named = None if isinstance(entry, Problem) else entry.get("user_id")
        users.add(named if isinstance(named, str) and named else None)
        yield entry if isinstance(entry, Problem) else _memory(place, entry)
    graph = (
        file.document.get("relations")
        if file.is_json and not file.by_lines and isinstance(file.document, dict)
        else None
    )
    for number, relation in enumerate(graph if isinstance(graph, list) else [], start=1):
        yield _relation(f"relation {number}", relation, next(iter(users)) if len(users) == 1 else None)


def _memory(place: str, entry: Mapping[str, Any]) -> Found:
    fact, source_id = text(entry.get("memory")), entry.get("id")
    if fact is None or source_id is None:
        return Problem(place, "expected a memory and its id")
    try:
        created = moment(entry.get("created_at"), f"{place}, created_at")
        updated = moment(entry.get("updated_at"), f"{place}, updated_at")
        expires = moment(entry.get("expiration_date"), f"{place}, expiration_date")
        user = text_under(entry, "user_id", place)
        kept = object_under(entry, "metadata", place)
    except EngramError as error:
        return problem(place, error)
    # The text is replaced in place when it changes, so that it is known to hold since then only.
    since = max((at for at in (created, updated) if at is not None), default=None)
    tagged = tags(entry.get("categories"))
    known = [name for name in KNOWN if name != "categories" or list(tagged) == entry.get(name)]  # a tag is short
    own = {"id": str(source_id), **({"created_at": created.isoformat()} if created else {}), **rest(entry, *known)}
    memory = {
        "metadata": {**kept, NAME: own},
        "tags": tagged,
        "source": NAME,
        "valid_from": since,
        "expires_at": expires,
    }
    return Item(place, str(source_id), fact, memory, occurred_at=created or since, user_id=user)


def _relation(place: str, relation: Any, user: str | None) -> Found:
    parts = [text(relation.get(name)) for name in ("source", "relationship")] if isinstance(relation, dict) else []
    target = text(relation.get("target") or relation.get("destination")) if isinstance(relation, dict) else None
    if len(parts) < 2 or None in parts or target is None:
        return Problem(place, "expected a source, a relationship and a target")
    try:
        user = text_under(relation, "user_id", place) or user
    except EngramError as error:
        return problem(place, error)
    subject, verb = str(parts[0]), str(parts[1])
    fact = f"{subject} {verb.replace('_', ' ')} {target}"
    memory = {"source": NAME, "metadata": {NAME: dict(relation)}}
    return Item(place, f"relation/{subject}/{verb}/{target}", fact, memory, user_id=user)


def _entries(file: File) -> Iterator[Mapping[str, Any]]:
    if isinstance(file.first, dict) and not file.by_lines:
        for name in LISTS:
            if isinstance(file.first.get(name), list):
                yield from (one for one in file.first[name][:1] if isinstance(one, dict))
    yield file.sample
