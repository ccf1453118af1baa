"""Restoring: an export of Engram's own brought back as it was, in one transaction, into empty scopes."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from engram import chain, checkpoints, embedding, inputs, jobs, tenancy, text
from engram.channels import events, keyword, semantic, upkeep
from engram.database import Connection, execute, fetch_all, fetch_value, is_of_values
from engram.embedding import Model
from engram.errors import Conflict, EngramError, InvalidInput
from engram.operations import spaces, steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.portable import own
from engram.portable.files import File
from engram.scope import Scope
from engram.values import ImportProgress, ImportReport
from engram.writing import UPKEEP_PRIORITY

BATCH: Final = 500
BATCH_BYTES: Final = 8 * 1024 * 1024
WAITING: Final = (jobs.DERIVE, jobs.EXTRACT)
# Whether lines of a kind name what the file did not bring: asked when all is written, since lines name later ones.
FOREIGN: Final = {
    "event": "foreign_in_events",
    "session": "foreign_in_sessions",
    "task": "foreign_in_tasks",
    "checkpoint": "foreign_in_checkpoints",
    "memory": "foreign_in_memories",
    "run": "foreign_in_runs",
    "change": "foreign_in_changes",
}
# Asked of relations and vectors, which have no scope of their own, before they are written.
NAMED: Final = "names_foreign"
LEFT_OUT: Final = ("vector_left_out", "relation_left_out")
SEALED: Final = ("task_run_id", "version", "position")
NOT_EMPTY: Final = (
    "a scope of the export holds something else here: an export comes back into scopes that are empty,"
    " or hold all of it already"
)
Progress = Callable[[ImportProgress], object]


def restore(setup: Setup, tenant_id: str, file: File, *, dry_run: bool, watch: Progress) -> Operation[ImportReport]:
    """Bring an export back into a tenant, whichever it came from; scopes that hold all of it already are left alone."""
    checked = own.check(file)
    setup = yield from spaces.ready(setup, tenant_id)

    def work(conn: Connection) -> ImportReport:
        restoring = _Restoring(setup, conn, tenant_id, file, checked, watch)
        try:
            return restoring.run()
        except EngramError:
            raise
        except Exception as error:
            of_lines = isinstance(error, TypeError | KeyError | AttributeError | ValueError) or is_of_values(error)
            if restoring.telling or not of_lines:  # the caller's own function failed, or the server, and not the file
                raise
            raise InvalidInput("path", "an export", "lines with values of another kind") from None

    rehearsed = steps.undone(work) if dry_run else work
    report = yield from steps.write(tenant_id, rehearsed, key=f"import/{checked.sha256}")
    if not dry_run:
        yield from steps.ring(tenant_id)
        return report
    return ImportReport(report.path, report.format, report.read, report.counts, report.problems, dry_run=True)


@dataclass
class _Held:
    """The lines of a kind that wait to be written together, and about how large they are."""

    kind: str = ""
    key: Any = None
    lines: list[dict[str, Any]] = field(default_factory=list)
    size: int = 0


class _Restoring:
    """One way through a checked file inside one transaction."""

    def __init__(
        self, setup: Setup, conn: Connection, tenant_id: str, file: File, checked: own.Checked, watch: Progress
    ) -> None:
        self.setup, self.conn, self.tenant_id, self.file = setup, conn, tenant_id, file
        self.checked, self.watch = checked, watch
        self.scopes: dict[int, int] = {}  # the number in the file: the id here
        self.known: set[int] = set()
        self.counts: Counter[str] = Counter()
        self.parents: list[dict[str, Any]] = []
        self.derived: list[str] = []  # streams that derivers may have read
        self.stated: list[str] = []  # memories that say something, which words are to find
        self.streams: dict[str, int] = {}  # only those something still waits for, with their scope
        self.model, self.building = self._models()
        self.mine = False  # whether the vectors of the file are of the model in use here
        self.telling = False  # whether the caller's function is being called

    def run(self) -> ImportReport:
        """Write what is not there yet; Conflict, and nothing is written, where something else is."""
        fetch_all(self.conn, "lock_keys", keys=[f"{self.tenant_id}/import"], shared=[], first=[])
        self._open_scopes()
        self._compare_known()
        fetch_value(self.conn, "quiet_relations", quiet="on")
        self._walk()
        fetch_value(self.conn, "quiet_relations", quiet="off")
        self._refuse_foreign()
        self._settle()
        added = sum(count for kind, count in self.counts.items() if kind not in ("known", *LEFT_OUT))
        self._tell(ImportProgress(own.NAME, self.checked.lines, added, 1.0))
        return ImportReport(str(self.file.path), own.NAME, self.checked.lines, dict(self.counts), ())

    def _tell(self, progress: ImportProgress) -> None:
        self.telling = True
        self.watch(progress)
        self.telling = False

    def _models(self) -> tuple[Model | None, Model | None]:
        return semantic.ensure_model(self.conn, self.tenant_id, self.setup.embedder)

    def _open_scopes(self) -> None:
        """The scopes of the file in this tenant, made where they are missing; those that hold something are known."""
        for kind, line, _ in own.lines(self.file):
            if kind != "scope":
                return
            number, of = _whole(line["scope"]), line["shelf_of"]
            if of is None:
                scope = Scope(self.tenant_id, line["namespace"], line["agent_id"], line["user_id"]).for_write()
                scope_id = tenancy.ensure(self.conn, scope)
            else:
                scope_id = tenancy.ensure_shelf(self.conn, self.tenant_id, self._scope(of))
            if scope_id in self.scopes.values():
                raise InvalidInput("scope", "each scope once", "one of them twice")
            self.scopes[number] = scope_id
            if fetch_value(self.conn, "holds_anything", tenant_id=self.tenant_id, scope_id=scope_id):
                self.known.add(scope_id)
                self.counts["known"] += 1
            else:
                about = {"created_at": line["created_at"], "epoch": line["epoch"]}
                execute(self.conn, "restore_scope", tenant_id=self.tenant_id, scope_id=scope_id, **about)
                self.counts["scope"] += 1

    def _compare_known(self) -> None:
        """Every event and memory of the file must be in a scope that holds anything, saying what it says in the file.

        What has become of a memory since is no difference, be it that another took its place or that it was erased.
        """
        if not self.known:
            return
        held = _Held()
        for kind, line, _ in own.lines(self.file):
            if kind not in ("event", "memory") or self._scope(line["scope"]) not in self.known:
                continue
            key = self._scope(line["scope"])
            if held.lines and (held.kind != kind or held.key != key or len(held.lines) >= BATCH):
                self._assert_known(held)
                held = _Held()
            held.kind, held.key = kind, key
            held.lines.append(line)
        if held.lines:
            self._assert_known(held)

    def _assert_known(self, held: _Held) -> None:
        params: dict[str, Any] = {"tenant_id": self.tenant_id, "scope_id": held.key}
        if held.kind == "event":
            names = {"stream_ids": "stream_id", "positions": "position", "event_ids": "event_id"}
            params |= {name: [line[of] for line in held.lines] for name, of in names.items()}
            params["commitments"] = [_bytes(line["commitment"]) for line in held.lines]
            found = fetch_value(self.conn, "count_known_events", **params)
        else:
            names = {
                "memory_ids": "memory_id",
                "facts": "fact",
                "contents": "main_content",
                "lineage_ids": "lineage_id",
                "revisions": "revision",
                "valid_froms": "valid_from",
                "recorded": "recorded_at",
                "event_ids": "event_id",
                "derivers": "deriver",
                "versions": "deriver_version",
                "ordinals": "ordinal",
            }
            params |= {name: [line[of] for line in held.lines] for name, of in names.items()}
            found = fetch_value(self.conn, "count_known_memories", **params)
        if found != len(held.lines):
            raise Conflict(NOT_EMPTY)

    def _walk(self) -> None:
        held = _Held()
        read = 0
        known_memories: set[str] = set()  # of scopes that are left alone, as long as something of the file may name one
        for kind, line, done in own.lines(self.file):
            read += 1
            if kind == "scope":
                continue
            if "scope" in line:
                line["scope"] = self._scope(line["scope"])
                if line["scope"] in self.known:
                    if kind == "memory" and len(self.known) < len(self.scopes):
                        known_memories.add(line["memory_id"])
                    continue
            elif len(self.known) == len(self.scopes) or line.get("memory_id") in known_memories:
                continue
            elif kind == "relation" and not known_memories.isdisjoint((line["source_id"], line["target_id"])):
                # Both ends known: it is there. One of them: nothing of the file is written to what was here before.
                self.counts["relation_left_out"] += not known_memories.issuperset(
                    (line["source_id"], line["target_id"])
                )
                continue
            key = line["stream_id"] if kind == "event" else None
            size = len(str(line.get("body") or line.get("fact") or "")) * 2
            full = len(held.lines) >= BATCH or held.size + size > BATCH_BYTES
            if held.lines and (held.kind != kind or held.key != key or full):
                self._write(held)
                self._tell(ImportProgress(own.NAME, read, sum(self.counts.values()), done))
                held = _Held()
            held.kind, held.key = kind, key
            held.lines.append(line)
            held.size += size
        if held.lines:
            self._write(held)
        if self.parents:
            self._insert("import_task_parents", self.parents)

    def _write(self, held: _Held) -> None:
        writers: Mapping[str, Callable[[list[dict[str, Any]]], None]] = {
            "stream": self._streams,
            "event": self._events,
            "session": self._sessions,
            "task": self._tasks,
            "checkpoint": self._checkpoints,
            "memory": self._memories,
            "run": self._runs,
            "change": self._changes,
            "relation": self._relations,
            "vector": self._vectors,
        }
        writers[held.kind](held.lines)
        if held.kind not in ("run", "vector"):  # of these not all may be written
            self.counts[held.kind] += len(held.lines)

    def _streams(self, lines: list[dict[str, Any]]) -> None:
        for line in lines:
            names = ("stream_id", "type", "name", "created_at")
            params = {name: line[name] for name in names}
            fetch_value(self.conn, "import_stream", scope_id=line["scope"], **params)
            for job in line["waiting"]:
                kind = inputs.choice(job["job"], "waiting", WAITING)
                jobs.add(
                    self.conn,
                    kind=kind,
                    dedup_key=f"import/{line['stream_id']}/{job['position']}",
                    scope_id=line["scope"],
                    stream_id=line["stream_id"],
                    position=_whole(job["position"]),
                )
        cursors = [{"stream_id": line["stream_id"], **cursor} for line in lines for cursor in line["derived"]]
        self._insert("import_cursors", cursors)
        self.derived += [line["stream_id"] for line in lines]

    def _events(self, lines: list[dict[str, Any]]) -> None:
        pads = chain.pads(self.setup.settings.secret_key, UUID(lines[0]["stream_id"]))
        columns = {
            "event_ids": "event_id",
            "roles": "role",
            "types": "event_type",
            "trusts": "trust",
            "occurred": "occurred_at",
            "recorded": "recorded_at",
            "sessions": "session_id",
            "tasks": "task_run_id",
            "actors": "actor",
            "keys": "idempotency_key",
        }
        fetch_value(
            self.conn,
            "import_events",
            scope_id=lines[0]["scope"],
            stream_id=lines[0]["stream_id"],
            first=lines[0]["position"],
            derive=[",".join(line["derive"]) for line in lines],
            commitments=[_bytes(line["commitment"]) for line in lines],
            salts=[None if line["salt"] is None else _bytes(line["salt"]) for line in lines],
            bodies=[None if line["body"] is None else inputs.canonical_json(line["body"]) for line in lines],
            inner=pads and pads.inner,
            outer=pads and pads.outer,
            **{name: [line[of] for line in lines] for name, of in columns.items()},
        )

    def _sessions(self, lines: list[dict[str, Any]]) -> None:
        self._insert("import_sessions", lines)

    def _tasks(self, lines: list[dict[str, Any]]) -> None:
        self._insert("import_tasks", lines)
        self.parents += [
            {"task_run_id": line["task_run_id"], "parent_task_id": line["parent_task_id"]}
            for line in lines
            if line["parent_task_id"] is not None
        ]

    def _checkpoints(self, lines: list[dict[str, Any]]) -> None:
        written = [
            None if line["body"] is None else inputs.canonical_json(line["body"], limit=2 * checkpoints.STATE_BYTES)
            for line in lines
        ]
        for line, said in zip(lines, written, strict=True):
            if said is None:
                continue
            if hashlib.sha256(_bytes(line["salt"]) + said).hexdigest() != line["sha256"]:
                raise InvalidInput("checkpoint", "what its hash was made of", "something else")
            if any(line["body"][name] != line[name] for name in SEALED):
                raise InvalidInput("checkpoint", "what was said in its place", "what was said in another")
        rows = [
            {**{name: value for name, value in line.items() if name != "body"}, "written": said and said.decode()}
            for line, said in zip(lines, written, strict=True)
        ]
        self._insert("import_checkpoints", rows)

    def _memories(self, lines: list[dict[str, Any]]) -> None:
        embeds = self.setup.embedder is not None or self.model is not None
        rows = [
            {name: value for name, value in line.items() if name not in ("activity", "sources")}
            | {
                "fact_hash": text.fact_hash(line["fact"]).hex(),
                "embed_state": "pending" if embeds and line["fact"] else "none",
            }
            for line in lines
        ]
        self._insert("import_memories", rows)
        said = [line["memory_id"] for line in lines if line["fact"]]
        self.stated += said
        whose = [{"memory_id": line["memory_id"], "scope": line["scope"], **line["activity"]} for line in lines]
        self._insert("import_activity", whose)
        self._insert(
            "import_sources", [{"memory_id": line["memory_id"], **one} for line in lines for one in line["sources"]]
        )
        if self.building is not None:
            semantic.owe(self.conn, self.tenant_id, self.building.model_id, said)

    def _runs(self, lines: list[dict[str, Any]]) -> None:
        """A scope in which runs found nothing to do holds nothing but them: those may be there already."""
        self.counts["run"] += self._insert("import_runs", lines)

    def _changes(self, lines: list[dict[str, Any]]) -> None:
        self._insert("import_changes", [{**line, "place": place} for place, line in enumerate(lines)])

    def _relations(self, lines: list[dict[str, Any]]) -> None:
        ends = [line[end] for line in lines for end in ("source_id", "target_id")]
        origins = [one["event_id"] for line in lines for one in (line, *line["history"]) if one["event_id"] is not None]
        self._refuse("relation", NAMED, memory_ids=ends, event_ids=origins)
        self._insert("import_relations", [{n: v for n, v in line.items() if n != "history"} for line in lines])
        states = [(line, state) for line in lines for state in line["history"]]
        if not states:
            return
        columns = {
            "recorded": "recorded_at",
            "holds": "holds_at",
            "autos": "auto",
            "ended": "ended",
            "event_ids": "event_id",
        }
        fetch_value(
            self.conn,
            "import_relation_changes",
            **{f"{name}s": [line[name] for line, _ in states] for name in ("source_id", "target_id", "relation_type")},
            **{name: [state[of] for _, state in states] for name, of in columns.items()},
            weights=[float(state["weight"]) for _, state in states],
            metadata=[json.dumps(state["metadata"]) for _, state in states],
        )

    def _vectors(self, lines: list[dict[str, Any]]) -> None:
        """Vectors of the model in use here are kept; those of another are left out, and made anew."""
        model = self.model
        fits = [
            line for line in lines if model and (line["model"], line["dimensions"]) == (model.name, model.dimensions)
        ]
        self.counts["vector_left_out"] += len(lines) - len(fits)
        self.counts["vector"] += len(fits)
        if model is None or not fits:
            return
        ids = [line["memory_id"] for line in fits]
        line_of = {line["memory_id"]: line for line in fits}
        by_scope: dict[int, list[dict[str, Any]]] = {}
        self._refuse("vector", NAMED, memory_ids=ids, event_ids=[])
        for row in fetch_all(self.conn, "list_scopes_of_memories", tenant_id=self.tenant_id, memory_ids=ids):
            by_scope.setdefault(int(row.scope_id), []).append(line_of[row.memory_id])
        for scope_id, some in sorted(by_scope.items()):
            vectors = [
                (line["memory_id"], embedding.unit_vectors([line["values"]], 1, model.dimensions)[0]) for line in some
            ]
            long = {line["memory_id"] for line in some if line["windowed"]}
            semantic.store(self.conn, self.tenant_id, scope_id, model.model_id, vectors, long=long)
        execute(self.conn, "mark_embedded", tenant_id=self.tenant_id, memory_ids=ids)

    def _refuse_foreign(self) -> None:
        """No line may name what stands outside the scopes the file fills: a file has no say over what it did not bring.

        Sessions are named within their scope, and so cannot be those of another.
        """
        if self.fresh:
            for kind, name in FOREIGN.items():
                self._refuse(kind, name)

    def _refuse(self, kind: str, name: str, **named: Any) -> None:
        if fetch_value(self.conn, name, tenant_id=self.tenant_id, scope_ids=self.fresh, **named):
            raise InvalidInput(f"a line of kind {kind}", "ids of what the file brings", "the id of something else")

    @property
    def fresh(self) -> list[int]:
        """The scopes the file fills."""
        return sorted(set(self.scopes.values()) - self.known)

    def _settle(self) -> None:
        """What follows from the rows: words, and jobs for vectors and for what large scopes need."""
        for at in range(0, len(self.derived), BATCH):
            jobs.mark_derived(self.conn, self.derived[at : at + BATCH])
        fresh = self.fresh
        if not fresh:
            return
        config = keyword.ensure_config(self.conn, self.tenant_id, self.setup.settings.text_search_config)
        for at in range(0, len(self.stated), BATCH):
            keyword.reindex(self.conn, self.stated[at : at + BATCH], tenant_id=self.tenant_id, config=config)
        params = {"tenant_id": self.tenant_id, "scope_ids": fresh}
        for row in fetch_all(self.conn, "list_scopes_without_vectors", **params):
            self._job(jobs.EMBED, int(row.scope_id))
        for scope_id in fresh:
            if upkeep.is_wanted(self.conn, self.tenant_id, scope_id):
                self._job(upkeep.KIND, scope_id, UPKEEP_PRIORITY)
            if events.read_and_waiting(self.conn, self.tenant_id, scope_id)[1] >= events.MOST_WAITING:
                self._job(events.KIND, scope_id, UPKEEP_PRIORITY)

    def _job(self, kind: str, scope_id: int, priority: int = 100) -> None:
        key = f"import/{self.checked.sha256}/{scope_id}"
        jobs.add(self.conn, kind=kind, dedup_key=key, scope_id=scope_id, priority=priority)

    def _insert(self, name: str, rows: Sequence[Mapping[str, Any]]) -> int:
        return execute(self.conn, name, tenant_id=self.tenant_id, rows=json.dumps(rows)) if rows else 0

    def _scope(self, number: Any) -> int:
        found = self.scopes.get(number) if isinstance(number, int) else None
        if found is None:
            raise InvalidInput("scope", "the number of a scope of the file", "another one")
        return found


def _whole(value: object) -> int:
    return inputs.whole(value, "a number of the export")


def _bytes(value: object) -> bytes:
    try:
        return bytes.fromhex(value if isinstance(value, str) else "")
    except ValueError:
        raise InvalidInput("an event", "bytes in hex", "other text") from None
