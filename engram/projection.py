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
    """One memory: what it says and is, and the memories it names, told by what they say, as JSON.

    As text, since two whole projections are held: it takes little more than half the room of the data.
    """

    memory_id: str
    lineage_id: str
    place: int
    said: str
    apart: str

    @property
    def says(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {**json.loads(self.said), **json.loads(self.apart)}


def standings(rows: Iterable[Mapping[str, Any]]) -> dict[str, Standing]:
    """The memories of a projection by id, from its rows. Pure."""
    held = {row["memory_id"]: row for row in rows}
    names = {name: [row["fact"], row["place"], row["status"]] for name, row in held.items()}

    def told(memory_id: str | None) -> list[Any] | None:
        return None if memory_id is None else names.get(memory_id, ["elsewhere"])

    def standing(row: Mapping[str, Any]) -> Standing:
        plain = {name: _plain(value) for name, value in row.items() if name not in (*NAMES, *APART)}
        links = sorted(([kind, told(target)] for kind, target in row["relations"]), key=json.dumps)
        heirs = {name: told(row[name]) for name in ("superseded_by", "consolidated_into")}
        said = json.dumps(plain | heirs | {"relations": links}, sort_keys=True)
        apart = json.dumps({name: row[name] for name in APART if name in row})
        return Standing(row["memory_id"], str(row["lineage_id"]), int(row["place"]), said, apart)

    return {name: standing(held.pop(name)) for name in names}


def digest(found: Mapping[str, Standing]) -> str:
    """The hash of a projection: of its lineages, each the sequence of its revisions as they stand. Pure."""
    lineages: dict[str, list[tuple[int, str]]] = {}
    for one in found.values():
        lineages.setdefault(one.lineage_id, []).append((one.place, one.said))
    whole = sorted(_sha(json.dumps(sorted(revisions))) for revisions in lineages.values())
    return _sha("\n".join(whole))


def differences(before: Standing, after: Standing) -> tuple[str, ...]:
    """The names of what differs between two forms of a memory. Pure."""
    if (before.said, before.apart) == (after.said, after.apart):
        return ()
    said, other = before.says, after.says
    return tuple(sorted(name for name in said if said[name] != other.get(name)))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
