"""Plain JSON: one fact an entry, with whatever else is known of it beside; JSON lines or a list."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from engram.errors import EngramError
from engram.portable.files import File
from engram.portable.items import (
    KEPT,
    Found,
    Item,
    Problem,
    moment,
    object_under,
    objects,
    problem,
    rest,
    text,
    text_under,
)

NAME: Final = "jsonl"
LISTS: Final = ("memories", "facts", "items", "results")
FACTS: Final = ("fact", "memory", "content", "text")
IDS: Final = ("id", "memory_id", "uuid", "key")
BEGINS: Final = ("valid_from", "valid_at")
ENDS: Final = ("valid_to", "invalid_at")
SAID_AT: Final = ("occurred_at", "created_at", "timestamp", "recorded_at", "updated_at")
EXPIRES: Final = ("expires_at",)


def recognises(file: File) -> bool:
    """Whether the entries hold a fact under one of its usual names."""
    if not file.is_json:
        return False
    first = file.first_entry(*LISTS)
    return any(text(first.get(name)) for name in FACTS)


def read(file: File) -> Iterator[Found]:
    """The facts of the file."""
    for place, entry in objects(file.values(*LISTS)):
        yield entry if isinstance(entry, Problem) else item(place, entry, NAME)


def item(place: str, entry: Mapping[str, Any], source: str) -> Found:
    """A fact from an entry with the usual names; what else is there is kept in its metadata."""
    named = next((name for name in FACTS if text(entry.get(name))), None)
    if named is None:
        return Problem(place, f"expected a text under {', '.join(FACTS)}")
    fact = str(text(entry[named]))
    times = {}
    used = {named, "metadata", "user_id", "type", "trust", *KEPT}
    try:
        for what, names in (
            ("valid_from", BEGINS),
            ("valid_to", ENDS),
            ("expires_at", EXPIRES),
            ("occurred_at", SAID_AT),
        ):
            given = next((name for name in names if entry.get(name) not in (None, "")), None)
            times[what] = moment(entry.get(given), f"{place}, {given}") if given else None
            used |= {given} if given else set()
        user = text_under(entry, "user_id", place)
        kept = object_under(entry, "metadata", place)
        trust = text_under(entry, "trust", place) or "user"
    except EngramError as error:
        return problem(place, error)
    own_id = next((str(entry[name]) for name in IDS if entry.get(name) not in (None, "")), None)
    used |= set(IDS) & entry.keys()
    memory = {name: entry[name] for name in KEPT if entry.get(name) not in (None, "", [], ())}
    if "memory_type" not in memory and text(entry.get("type")):
        memory["memory_type"] = entry["type"]
    memory |= {
        "source": source,
        "metadata": {**kept, **rest(entry, *used)},
        "valid_to": times["valid_to"],
        "valid_from": times["valid_from"] or times["occurred_at"],
        "expires_at": times["expires_at"],
    }
    user, session = None if user is None else user.strip(), text(entry.get("session_id"))
    used |= {"session_id"} if session else set()
    # Without an id of its own the fact is its own name, so that a file read twice adds nothing.
    source_id = own_id or hashlib.sha256(f"{user}\0{fact}\0{times['valid_from']}".encode()).hexdigest()
    return Item(
        place, source_id, fact, memory, trust=trust, occurred_at=times["occurred_at"], user_id=user, session_id=session
    )
