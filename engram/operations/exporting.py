"""Exporting: everything of some scopes into a file, from one moment of the database, however large it is."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final

from engram import chain, checkpoints, inputs, jobs, ledger, tenancy
from engram.database import Connection, fetch_all, fetch_named, send_ahead, statement
from engram.errors import Conflict, InvalidInput
from engram.ids import new_id
from engram.operations import steps
from engram.operations.setup import Reading, Setup
from engram.operations.steps import Operation
from engram.portable import markdown, own, table
from engram.values import TRUSTS, ExportProgress, ExportReport

FORMATS: Final = ("jsonl", "markdown", "csv")
PAGE: Final = 500
BAD: Final = "the ledger does not hold what it was given: an event's payload was changed; see verify_ledger"
# What is said in place of a private memory's event, to whoever may not see it.
WITHHELD: Final = chain.body(None, ledger.WITHHELD, {})
PATH_CHARACTERS: Final = 4_096
Progress = Callable[[ExportProgress], object]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an export is of: the scopes, those of them whose private rows it shows, and their numbers in the file."""

    tenant_id: str
    scope_ids: Sequence[int]
    own_ids: Sequence[int]
    vectors: bool = False

    @property
    def params(self) -> dict[str, Any]:
        """What every statement is asked with."""
        return {"tenant_id": self.tenant_id, "scope_ids": list(self.scope_ids), "own_ids": list(self.own_ids)}


def export(
    setup: Setup,
    path: object,
    *,
    format: object,
    user: object,
    vectors: object,
    progress: object,
    given: Mapping[str, Any],
) -> Operation[ExportReport]:
    """Write everything of the readable scopes, or of one user, to a file; all of it or nothing."""
    reading = setup.reading(given)
    target = _target(path)
    chosen = inputs.choice(format, "format", FORMATS)
    whose = inputs.optional(inputs.scope_id, user, "user")
    wants_vectors = inputs.flag(vectors, "vectors")
    watch: Progress = inputs.optional(inputs.function, progress, "progress") or (lambda _: None)

    def work(conn: Connection) -> ExportReport:
        wanted = _wanted(conn, reading, whose, wants_vectors)
        send_ahead(conn, "want_all_rows")
        if chosen == "jsonl":
            return _exported(conn, wanted, target, watch)
        return _for_people(conn, wanted, target, chosen, watch)

    return (yield from steps.read_snapshot(reading.scope.tenant_id, work))


def _target(path: object) -> Path:
    if not isinstance(path, str | Path):
        raise InvalidInput("path", "the path of a file", type(path).__name__)
    text = str(path)
    inputs.text(text, "path", limit=PATH_CHARACTERS)
    try:
        target = Path(text)
        taken = target.exists() and not target.is_file()
        if taken or not target.absolute().parent.is_dir():
            raise InvalidInput("path", "a file in a folder that exists", "another path")
    except (OSError, ValueError):
        raise InvalidInput("path", "a path this system can write to", "another one") from None
    return target


def _wanted(conn: Connection, reading: Reading, user: str | None, vectors: bool) -> Wanted:
    """The scopes of one user wherever they are, or those the call names; and which of them are the caller's own."""
    tenant = reading.scope.tenant_id
    if user is not None:
        of_user = [int(row.scope_id) for row in fetch_all(conn, "list_scopes_of_user", tenant_id=tenant, user_id=user)]
        return Wanted(tenant, of_user, of_user, vectors)
    visible = tenancy.visible(conn, reading.scope, shelves="with")
    mine = None if visible.own is None else visible.scopes[visible.own]
    return Wanted(tenant, visible.scope_ids, [i for i, scope in visible.scopes.items() if scope == mine], vectors)


def _exported(conn: Connection, wanted: Wanted, target: Path, watch: Progress) -> ExportReport:
    left_out: Counter[str] = Counter()
    with _replacing(target) as (file, _):
        writer = own.Writer(file, tenant=wanted.tenant_id, vectors=wanted.vectors)
        for kind, rows in _lines(conn, wanted, left_out):
            for number, line in enumerate(rows, start=1):
                writer.put(kind, line)
                if number % PAGE == 0:
                    watch(ExportProgress(kind, sum(writer.counts.values())))
            watch(ExportProgress(kind, sum(writer.counts.values())))
        digest = writer.end()
    return ExportReport(str(target), "jsonl", dict(writer.counts), writer.bytes, digest, dict(+left_out))


def _lines(
    conn: Connection, wanted: Wanted, left_out: Counter[str]
) -> Iterator[tuple[str, Iterator[Mapping[str, Any]]]]:
    """The lines of each kind, in the order of the file."""
    scopes = list(_rows(conn, "export_scopes", wanted))
    numbers = {int(row.scope_id): number for number, row in enumerate(scopes, start=1)}
    yield (
        "scope",
        ({**row.line, "scope": numbers[int(row.scope_id)], "shelf_of": numbers.get(row.shelf_of)} for row in scopes),
    )
    plain = partial(_plain, conn, wanted, numbers)
    yield "stream", plain("export_streams", jobs=[jobs.DERIVE, jobs.EXTRACT])
    yield "event", (_event(row, numbers, left_out) for row in _rows(conn, "export_events", wanted))
    yield "session", _sessions(conn, wanted, numbers, left_out)
    yield "task", plain("export_tasks")
    yield "checkpoint", (_checkpoint(row, numbers, left_out) for row in _rows(conn, "export_checkpoints", wanted))
    yield "memory", (_memory(row, numbers, left_out) for row in _rows(conn, "export_memories", wanted))
    yield "run", plain("export_runs")
    yield "change", _changes(conn, wanted, numbers)
    yield "relation", (row.line for row in _rows(conn, "export_relations", wanted))
    if wanted.vectors:
        yield "vector", (row.line for row in _rows(conn, "export_vectors", wanted))


def _rows(conn: Connection, name: str, wanted: Wanted, **more: Any) -> Iterator[Any]:
    """The rows of a statement as they come: the server keeps the rest."""
    if not wanted.scope_ids:
        return
    text = f"DECLARE {name} NO SCROLL CURSOR FOR {statement(name)}"
    conn.exec_driver_sql(text, wanted.params | more)
    full = True
    while full:
        rows = fetch_named(conn, f"FETCH {PAGE} FROM {name}", None)
        yield from rows
        full = len(rows) == PAGE
    conn.exec_driver_sql(f"CLOSE {name}")  # constants


def _plain(
    conn: Connection, wanted: Wanted, numbers: Mapping[int, int], name: str, **more: Any
) -> Iterator[Mapping[str, Any]]:
    for row in _rows(conn, name, wanted, **more):
        yield {**row.line, "scope": numbers[int(row.scope_id)]}


def _event(row: Any, numbers: Mapping[int, int], left_out: Counter[str]) -> Mapping[str, Any]:
    """An event with its payload, from which its commitment follows; Conflict where it does not."""
    line = {
        **row.line,
        "scope": numbers[int(row.scope_id)],
        "commitment": bytes(row.commitment).hex(),
        "salt": None,
        "body": None,
    }
    if row.body is None:
        return line
    salt, said = bytes(row.salt), inputs.load_json(bytes(row.body))
    if row.private:
        # Its place in the stream stays; what it says is for its own scope alone, and so is the proof of it.
        left_out["events"] += 1
        salt = hashlib.sha256(b"engram-withheld" + str(line["event_id"]).encode()).digest()
        said = inputs.load_json(WITHHELD)
        line["commitment"] = chain.commitment(salt, WITHHELD).hex()
    elif chain.commitment(salt, inputs.canonical_json(said)) != bytes(row.commitment):
        raise Conflict(BAD, stream_id=line["stream_id"], position=line["position"])
    return line | {"salt": salt.hex(), "body": said}


def _sessions(
    conn: Connection, wanted: Wanted, numbers: Mapping[int, int], left_out: Counter[str]
) -> Iterator[Mapping[str, Any]]:
    for row in _rows(conn, "export_sessions", wanted):
        left_out["summaries"] += bool(row.private)
        yield {**row.line, "scope": numbers[int(row.scope_id)]}


def _checkpoint(row: Any, numbers: Mapping[int, int], left_out: Counter[str]) -> Mapping[str, Any]:
    """A checkpoint with what it says, Damaged where that is not what was saved; of a private one its place alone."""
    line = {**row.line, "scope": numbers[int(row.scope_id)], "salt": None, "body": None}
    if row.body is None:
        return line
    if row.private:
        left_out["checkpoints"] += 1
        return line
    body = bytes(row.body)
    said = checkpoints.opened(body, bytes(row.sha256), row.task_run_id, row.version, row.position)
    return line | {"salt": body[: checkpoints.SALT].hex(), "body": said}


def _memory(row: Any, numbers: Mapping[int, int], left_out: Counter[str]) -> Mapping[str, Any]:
    left_out["sources"] += row.statements - len(row.second["sources"])
    return {**row.first, **row.second, "scope": numbers[int(row.scope_id)]}


def _changes(conn: Connection, wanted: Wanted, numbers: Mapping[int, int]) -> Iterator[Mapping[str, Any]]:
    """The history, without the private memories of others that a decision compared with."""
    everything = set(wanted.scope_ids) == set(wanted.own_ids)
    held: list[dict[str, Any]] = []
    for row in _rows(conn, "export_changes", wanted):
        held.append({**row.line, "scope": numbers[int(row.scope_id)]})
        if len(held) == PAGE:
            yield from held if everything else _without_private(conn, wanted, held)
            held = []
    yield from held if everything else _without_private(conn, wanted, held)


def _without_private(conn: Connection, wanted: Wanted, changes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    decisions = [change["decision"] for change in changes if change["decision"] is not None]
    named = {near["memory_id"] for one in decisions for near in one["nearest"]}
    named |= {one["surprise"].get("closest_id") for one in decisions if one.get("surprise")} - {None}
    if not named:
        return list(changes)
    params = {"tenant_id": wanted.tenant_id, "memory_ids": sorted(named), "own_ids": list(wanted.own_ids)}
    hidden = {row.memory_id for row in fetch_all(conn, "list_private_among", **params)}
    return [change | {"decision": _decision(change["decision"], hidden)} for change in changes]


def _decision(decision: Mapping[str, Any] | None, hidden: set[str]) -> dict[str, Any] | None:
    if decision is None:
        return None
    told = {**decision, "nearest": [near for near in decision["nearest"] if near["memory_id"] not in hidden]}
    surprise = decision.get("surprise")
    if surprise and surprise.get("closest_id") in hidden:
        told["surprise"] = {**surprise, "closest_id": None}
    return told


def _for_people(conn: Connection, wanted: Wanted, target: Path, format: str, watch: Progress) -> ExportReport:
    def rows() -> Iterator[Mapping[str, Any]]:
        for number, row in enumerate(_rows(conn, "export_current", wanted), start=1):
            if number % PAGE == 0:
                watch(ExportProgress("memory", number))
            yield {**row._mapping, "trust": TRUSTS[row.trust]}

    with _replacing(target) as (file, name):
        with open(file.fileno(), "w", encoding="utf-8", newline="", closefd=False) as out:
            count = table.write(rows(), out) if format == "csv" else markdown.write(rows(), out)
        file.flush()
        with name.open("rb") as written:
            digest = hashlib.file_digest(written, "sha256")
        size = name.stat().st_size
    watch(ExportProgress("memory", count))
    return ExportReport(str(target), format, {"memory": count}, size, digest.hexdigest(), {})


@contextmanager
def _replacing(target: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """A file beside the target that takes its place once it is whole and on disk; nothing is left of it otherwise.

    Nobody but its owner reads it: an export holds everything that was said.
    """
    name = target.with_name(f".{target.name[:100]}.{new_id()}.partial")
    try:
        with open(name, "xb", opener=partial(os.open, mode=0o600)) as file:
            yield file, name
            file.flush()
            os.fsync(file.fileno())
        name.replace(target)
    except BaseException:
        with suppress(OSError):
            name.unlink(missing_ok=True)
        raise
