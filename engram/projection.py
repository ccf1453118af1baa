"""A projection of the ledger as something to compare: what its memories say and how they stand, without clocks.

Two projections with the same hash hold the same facts with the same types, keys, states, times, lineages, relations and
citations, whatever their ids are and whenever they were derived.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

# What names memories is told in other words.
NAMES: Final = ("memory_id", "lineage_id", "superseded_by", "consolidated_into", "relations")
APART: Final = ("importance", "revision")  # of when it was written, and of what was near: compared, no part of the hash


@dataclass(frozen=True, slots=True)
class Standing:
    """One memory: what it says and is, in plain data, and the memories it names, told by what they say."""

    memory_id: str
    lineage_id: str
    place: int
    says: Mapping[str, Any]


def standings(rows: Iterable[Mapping[str, Any]]) -> dict[str, Standing]:
    """The memories of a projection by id, from its rows. Pure."""
    held = {row["memory_id"]: row for row in rows}

    def told(memory_id: str | None) -> list[Any] | None:
        row = held.get(memory_id or "")
        return None if memory_id is None else [row["fact"], row["place"], row["status"]] if row else ["elsewhere"]

    def says(row: Mapping[str, Any]) -> dict[str, Any]:
        plain = {name: _plain(value) for name, value in row.items() if name not in NAMES}
        links = sorted(([kind, told(target)] for kind, target in row["relations"]), key=json.dumps)
        heirs = {name: told(row[name]) for name in ("superseded_by", "consolidated_into")}
        return plain | heirs | {"relations": links}

    return {name: Standing(name, str(row["lineage_id"]), int(row["place"]), says(row)) for name, row in held.items()}


def digest(found: Mapping[str, Standing]) -> str:
    """The hash of a projection: of its lineages, each the sequence of its revisions as they stand. Pure."""
    lineages: dict[str, list[tuple[int, str]]] = {}
    for one in found.values():
        said = {name: value for name, value in one.says.items() if name not in APART}
        lineages.setdefault(one.lineage_id, []).append((one.place, json.dumps(said, sort_keys=True)))
    whole = sorted(_sha(json.dumps(sorted(revisions))) for revisions in lineages.values())
    return _sha("\n".join(whole))


def differences(before: Standing, after: Standing) -> tuple[str, ...]:
    """The names of what differs between two forms of a memory. Pure."""
    return tuple(sorted(name for name in before.says if before.says[name] != after.says.get(name)))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
