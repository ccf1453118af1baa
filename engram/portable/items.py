"""What a reader finds in a file: texts that were said, facts that rest on them, lines nobody can read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from engram import ingest
from engram.errors import EngramError, InvalidInput

KEPT: Final = (
    "memory_type",
    "category",
    "tags",
    "importance",
    "confidence",
    "topic_key",
    "subject",
    "critical_slot",
    "main_content",
    "value",
    "attribute",
    "private",
)


@dataclass(frozen=True, slots=True)
class Said:
    """A text that facts rest on: an episode, a message, a block of memory."""

    place: str
    source_id: str
    content: str
    role: str = "user"
    trust: str = "agent"
    name: str | None = None
    occurred_at: datetime | None = None
    user_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Item:
    """A fact as another product kept it: its own id, its times, and the texts it rests on.

    `memory` holds what `add` takes beside the fact; `sources` are the ids of texts that came before it; `session_id` is
    the session it was learned in.
    """

    place: str
    source_id: str
    fact: str
    memory: Mapping[str, Any] = field(default_factory=dict)
    trust: str = "agent"
    occurred_at: datetime | None = None
    user_id: str | None = None
    session_id: str | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """A line or an entry that could not be read, and why."""

    place: str
    message: str


Found = Said | Item | Problem


def problem(place: str, error: EngramError) -> Problem:
    """A refusal as a problem of its place; the place is not said twice."""
    return Problem(place, str(error).removeprefix(f"{place}: ").removeprefix(f"{place}, "))


def text(value: Any) -> str | None:
    """A text that says something, without white space around it; None for anything else."""
    return value.strip() if isinstance(value, str) and value.strip() else None


def text_under(entry: Mapping[str, Any], field: str, place: str) -> str | None:
    """The text under a field as it stands, None where there is none; what is no text is refused, not passed over."""
    value = entry.get(field)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InvalidInput(f"{place}, {field}", "text", ingest.kind(value))
    return value


def object_under(entry: Mapping[str, Any], field: str, place: str) -> dict[str, Any]:
    """The JSON object under a field, empty where there is none; what is no object is refused, not passed over."""
    value = entry.get(field)
    if value is None or value in ("", []):
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{place}, {field}", "a JSON object", ingest.kind(value))
    return dict(value)


def moment(value: Any, place: str) -> datetime | None:
    """A time as products write it: ISO 8601, a date, or seconds since 1970; without a zone it is read as UTC."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value.strip())
        except ValueError:
            raise InvalidInput(place, "a time in ISO 8601", "other text") from None
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (ValueError, OverflowError, OSError):
            raise InvalidInput(place, "seconds since 1970", "a number out of range") from None
    raise InvalidInput(place, "a time", "something else")


def rest(value: Mapping[str, Any], *known: str) -> dict[str, Any]:
    """The fields of an entry that nobody asked for, without the empty ones and without vectors."""
    return {
        name: item
        for name, item in value.items()
        if name not in known and item not in (None, "", [], {}) and not name.endswith("embedding")
    }


def tags(*lists: Any) -> tuple[str, ...]:
    """The tags among some lists, at most as many and as long as a memory holds."""
    found = [one.strip()[:32] for some in lists if isinstance(some, list | tuple) for one in some if text(one)]
    return tuple(dict.fromkeys(found))[:20]


def objects(values: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any] | Problem]]:
    """The entries of a file with their places; what is no JSON object is a problem."""
    for place, value in values:
        if isinstance(value, Problem | Mapping):
            yield place, value
        else:
            yield place, Problem(place, "expected a JSON object")
