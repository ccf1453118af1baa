"""Engram's own export: JSON lines, a header first, counts and a hash last; each kind of line has its fields."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from engram import ingest, inputs
from engram.errors import InvalidInput
from engram.portable.files import File

NAME: Final = "engram"
VERSION: Final = 3
LINE_BYTES: Final = 128 * 1024 * 1024
HEADER: Final = "engram"
END: Final = "end"
BEGINS: Final = rb'\{"kind":"engram","version":'

# In the order of the file: what a line names comes before it.
KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "scope": ("scope", "shelf_of", "namespace", "agent_id", "user_id", "epoch", "created_at"),
    "stream": ("scope", "stream_id", "type", "name", "position", "created_at", "derived", "waiting"),
    "event": (
        "scope", "stream_id", "position", "event_id", "role", "event_type", "trust", "occurred_at", "recorded_at",
        "session_id", "task_run_id", "actor", "idempotency_key", "derive", "commitment", "salt", "body",
    ),
    "session": (
        "scope", "session_id", "stream_id", "opened_by", "continues", "root", "started_at", "ended_at", "outcome",
        "metadata", "unheard", "summary", "summary_position", "summary_style", "summary_by", "summary_prompt",
        "summarised_at", "redactions",
    ),
    "task": (
        "scope", "task_run_id", "stream_id", "goal", "status", "outcome", "parent_task_id", "session_id", "metadata",
        "trust", "started_at", "updated_at", "ended_at", "forgotten_at", "event_id", "outcome_event_id",
        "metadata_event_id",
    ),
    "checkpoint": (
        "scope", "task_run_id", "version", "checkpoint_id", "stream_id", "position", "salt", "body", "sha256",
        "source_event_ids", "based_on", "trust", "made_by", "prompt_hash", "event_id", "recorded_at",
    ),
    "memory": (
        "scope", "memory_id", "fact", "main_content", "memory_type", "category", "tags", "importance", "confidence",
        "trust", "layer", "status", "status_reason", "critical_slot", "conflict_key", "topic_key", "subject",
        "attribute", "value", "negates", "moot", "lineage_id", "revision", "superseded_by", "superseded_at",
        "put_away", "consolidated_into", "valid_from", "valid_from_stated", "valid_to", "ended_at", "recorded_at",
        "expires_at", "surprise", "source", "session_id", "task_run_id", "metadata", "private", "deriver",
        "deriver_version", "ordinal", "policy", "policy_version", "rule", "event_id", "actor", "stands_at",
        "stands_recorded_at", "stands_event_id", "stands_ordinal", "born_epoch", "layer_epoch", "marks", "activity",
        "sources",
    ),
    "run": (
        "scope", "run_id", "parent_id", "step", "reason", "actor", "started_at", "steps", "failed_steps", "finished",
        "undone_by", "cycle", "tied",
    ),
    "change": (
        "scope", "memory_id", "recorded_at", "entry", "status", "previous_id", "state", "decision", "reason", "actor",
        "event_id", "run_id", "because",
    ),
    "relation": (
        "source_id", "target_id", "relation_type", "weight", "auto", "metadata", "recorded_at", "ended_at",
        "event_id", "holds_at", "changed_at", "history",
    ),
    "vector": ("memory_id", "model", "dimensions", "windowed", "values"),
}  # fmt: skip
SINCE: Final[Mapping[int, Mapping[str, Mapping[str, Any]]]] = {
    2: {"memory": {"born_epoch": 0, "layer_epoch": 0, "marks": {}}, "change": {"run_id": None, "because": None}},
    3: {"run": {"tied": ()}},
}
"""The fields that came with a version, and what they are in a file of one before it."""
ABSENT: Final[Mapping[str, Mapping[str, Any]]] = {
    kind: {name: value for came in SINCE.values() for name, value in came.get(kind, {}).items()} for kind in KINDS
}

# Fields of any kind of line that hold a time or nothing; `holds_at` may also stand before all times.
TIMES: Final = frozenset(
    {
        "changed_at", "created_at", "ended_at", "expires_at", "forgotten_at", "last_accessed_at",
        "occurred_at", "recorded_at", "stands_at", "stands_recorded_at", "started_at", "summarised_at",
        "superseded_at", "updated_at", "valid_from", "valid_to",
    }
)  # fmt: skip
NESTED: Final = ("activity", "state", "sources", "history")  # in which such fields stand, too
OBJECTS: Final = frozenset({"state", "decision", "cycle"})  # fields of any kind of line that hold an object or nothing

ORDER: Final = {kind: place for place, kind in enumerate(KINDS)}
ERASED: Final = "redaction:"


@dataclass(frozen=True, slots=True)
class Checked:
    """A whole file: what its header says, how many lines it has of each kind, and its hash."""

    tenant: str
    vectors: bool
    counts: Mapping[str, int]
    sha256: str

    @property
    def lines(self) -> int:
        """How many lines there are between the first and the last."""
        return sum(self.counts.values())


class Writer:
    """Writes an export: it counts and hashes what goes by, and says so in the last line."""

    def __init__(self, file: BinaryIO, *, tenant: str, vectors: bool) -> None:
        self.counts: Counter[str] = Counter()
        self.bytes = 0
        self._file, self._hash = file, hashlib.sha256()
        self._line({"kind": HEADER, "version": VERSION, "tenant": tenant, "vectors": vectors})

    def put(self, kind: str, line: Mapping[str, Any]) -> None:
        """Write one line of a kind, its fields in their order."""
        self.counts[kind] += 1
        self._line({"kind": kind, **{name: line[name] for name in KINDS[kind]}})

    def end(self) -> str:
        """Write the last line; the hash of all before it."""
        digest = self._hash.hexdigest()
        counts = {kind: self.counts[kind] for kind in KINDS if self.counts[kind]}
        self._line({"kind": END, "lines": counts, "sha256": digest})
        return digest

    def _line(self, line: Mapping[str, Any]) -> None:
        data = dumped(line) + b"\n"
        self._hash.update(data)
        self.bytes += len(data)
        self._file.write(data)


def dumped(line: Mapping[str, Any]) -> bytes:
    """The one form of a line."""
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def recognises(file: File) -> bool:
    """Whether the first line is the header of an export."""
    return file.is_json and file.sample.get("kind") == HEADER and "version" in file.sample


def check(file: File) -> Checked:
    """Read the whole file: its version, the form and the order of its lines, their counts and their hash.

    InvalidInput for a file that is not exactly what was exported; nothing of it is to be written then.
    """
    with file.path.open("rb") as opened:
        header = _parsed(opened.readline(LINE_BYTES), 1)
        if header.get("kind") != HEADER or not isinstance(header.get("tenant"), str):
            raise InvalidInput("line 1", "the header of an export", "something else")
        if header.get("version") not in range(1, VERSION + 1):
            raise InvalidInput(
                "line 1, version", f"version 1 to {VERSION} of the format", "another one: update the package engram"
            )
        opened.seek(0)
        return _walked(opened, header)


def _walked(opened: BinaryIO, header: Mapping[str, Any]) -> Checked:
    digest, counts = hashlib.sha256(), Counter[str]()
    erased: set[str] = set()
    place = -1
    for number, data in enumerate(iter(lambda: opened.readline(LINE_BYTES), b""), start=1):
        if number == 1:
            digest.update(data)
            continue
        line = _parsed(data, number)
        kind = line.pop("kind", None)
        if kind == END:
            _end(line, counts, digest.hexdigest(), opened, number)
            if erased:
                raise InvalidInput(
                    "events", "a redaction for each event without a payload", f"{len(erased)} without one"
                )
            return Checked(str(header["tenant"]), bool(header.get("vectors")), dict(counts), digest.hexdigest())
        if kind not in KINDS or set(line) != _fields(kind, header["version"]):
            raise InvalidInput(f"line {number}", "a line of an export with exactly its fields", "another one")
        if ORDER[kind] < place:
            raise InvalidInput(f"line {number}", "the kinds of lines in their order", "an earlier kind")
        place = ORDER[kind]
        counts[kind] += 1
        digest.update(data)
        _check_held(line, f"line {number}")
        if kind == "event":
            _follow_erasure(line, erased)
    raise InvalidInput("the last line", "the count and the hash that end an export", "none: the file was cut off")


def _fields(kind: str, version: int) -> set[str]:
    """The fields of a kind of line in a version of the format."""
    return set(KINDS[kind]) - {name for since, came in SINCE.items() if since > version for name in came.get(kind, ())}


def _check_held(line: Mapping[str, Any], place: str) -> None:
    """What the database would hold in any form has one that can be read again: times, objects, decisions.

    It holds `infinity` as a time too, which no read could give.
    """
    inner = (one for name in NESTED for one in _objects(line.get(name)))
    for held in (line, *inner):
        for name in TIMES & held.keys():
            if held[name] is not None:
                inputs.moment_text(held[name], f"{place}, {name}")
    for name in OBJECTS & line.keys():
        if not isinstance(line[name], dict | None):
            raise InvalidInput(f"{place}, {name}", "an object", ingest.kind(line[name]))
    if line.get("decision") is not None:
        _check_decision(line["decision"], f"{place}, decision")


def _check_decision(decision: Mapping[str, Any], place: str) -> None:
    """A decision names its kind, its reasons, the memories it is about, and those it compared."""
    nearest, reasons = decision.get("nearest"), decision.get("reasons", [])
    if not isinstance(decision.get("kind"), str) or not isinstance(reasons, list) or not isinstance(nearest, list):
        raise InvalidInput(place, "a kind, a list of reasons and a list of what is nearest", "something else")
    if len(_objects(nearest)) < len(nearest):
        raise InvalidInput(f"{place}, nearest", "objects", "something else")
    for name in ("memory_id", "target_id"):
        inputs.optional(inputs.event_id, decision.get(name), f"{place}, {name}")
    for one in nearest:
        inputs.event_id(one.get("memory_id"), f"{place}, nearest")


def _objects(value: Any) -> list[dict[str, Any]]:
    held = value if isinstance(value, list) else [value]
    return [one for one in held if isinstance(one, dict)]


def _follow_erasure(line: Mapping[str, Any], erased: set[str]) -> None:
    """What has no payload must have been redacted, later and in the same stream."""
    key = line["idempotency_key"]
    if line["body"] is None:
        erased.add(f"{line['stream_id']}/{line['event_id']}")
    if line["event_type"] == "redaction" and isinstance(key, str) and key.startswith(ERASED):
        erased.discard(f"{line['stream_id']}/{key.removeprefix(ERASED)}")


def _end(line: Mapping[str, Any], counts: Counter[str], digest: str, opened: BinaryIO, number: int) -> None:
    if line.get("lines") != dict(counts):
        raise InvalidInput(f"line {number}", "as many lines as the file says it has", "another number")
    if line.get("sha256") != digest:
        raise InvalidInput(f"line {number}", "the hash of all lines before it", "another one: the file was changed")
    if opened.read(1):
        raise InvalidInput(f"line {number + 1}", "nothing after the last line", "more")


def lines(file: File) -> Iterator[tuple[str, dict[str, Any], float]]:
    """The lines of a checked file between its first and its last: kind, fields, and the share of the file read."""
    with file.path.open("rb") as opened:
        opened.readline(LINE_BYTES)
        for number, data in enumerate(iter(lambda: opened.readline(LINE_BYTES), b""), start=2):
            line = _parsed(data, number)
            kind = line.pop("kind")
            if kind == END:
                return
            yield kind, {**ABSENT[kind], **line}, min(opened.tell() / file.size, 1.0)


def _parsed(data: bytes, number: int) -> dict[str, Any]:
    value = ingest.parse(data.rstrip(b"\n"), f"line {number}")
    if not isinstance(value, dict):
        raise InvalidInput(f"line {number}", "a JSON object", ingest.kind(value))
    return value
