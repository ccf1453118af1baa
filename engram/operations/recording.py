"""Recording a long input: its parts into the ledger, its chunks onto a shelf, and one event that says so.

Nothing of the text is held but the part and the chunks that are being written. Each step finds what an earlier try left
behind, whatever ended it, and adds what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, cast

from engram import batching, inputs, ledger, streams, tasks, tenancy, writing
from engram.database import Connection, fetch_all
from engram.errors import Conflict, IdempotencyMismatch, InvalidInput
from engram.ledger import AppendedEvent
from engram.longinput import kinds, reading, splitting, store
from engram.longinput.splitting import Media, Piece
from engram.longinput.store import Document, Measure
from engram.operations import capture, deriving, extracting, running, spaces, steps
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.policies.classify import Classified
from engram.values import DERIVES, Chunk, Event, LongInputProgress, LongInputReport, WriteDecision
from engram.writing import Draft, Origin

T = TypeVar("T")
Progress = Callable[[LongInputProgress], None]

TITLE_CHARACTERS: Final = 200
CHUNK_TOKENS: Final = (50, 2_000)
MOST_FACTS: Final = 20  # of a chunk
BATCH: Final = 100  # chunks in one transaction
PARTS: Final = 4  # in one transaction
SHOWN: Final = 5_000_000  # characters of a text whose chunks the report quotes
SOURCE_CHARACTERS: Final = 64
DERIVERS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "skip": (), "verbatim": (), "rules": ("rules",), "llm": ("rules", "llm"),
}  # fmt: skip
MEASURED: Final = 0.05  # of the progress, by when the text is measured
STORED: Final = 0.20
IMPORTANCE: Final = 0.5


@dataclass(slots=True)
class _Watch:
    """Who is told how far it has come."""

    tell: Progress | None
    chars: int = 0

    def at(self, step: Literal["measuring", "storing", "cutting", "done"], share: float, chunks: int = 0) -> None:
        if self.tell is None:
            return
        try:
            self.tell(LongInputProgress(step, min(1.0, share), self.chars, chunks))
        except TypeError as error:
            raise InvalidInput("progress", "a function of one LongInputProgress", type(error).__name__) from error


@dataclass(frozen=True, slots=True)
class _Recording:
    """What is known of a recording once its stream is open."""

    setup: Setup
    call: Writing
    source: str | Path
    measure: Measure
    scope_id: int
    shelf_id: int
    document: Document
    duplicate: bool
    watch: _Watch


def record_long_input(
    setup: Setup, source: object, *, title: object, media: object, max_chunk_tokens: object,
    max_facts_per_chunk: object, derive: object, metadata: object, wait: object, max_bytes: object, progress: object,
    given: Mapping[str, Any],
) -> Operation[LongInputReport]:  # fmt: skip
    """Append a text of any length: parts, chunks and a manifest; and derive facts from its chunks."""
    call = setup.writing(given)
    if not isinstance(source, str | Path):
        raise InvalidInput("text", "text, or the path of a file", type(source).__name__)
    watch = _Watch(inputs.optional(inputs.function, progress, "progress"))
    untitled = isinstance(title, str) and not title
    named = source.name[:TITLE_CHARACTERS] if untitled and isinstance(source, Path) else title
    wished = Document(
        stream_id="",
        title=call.censor.text(_title(named), "title"),
        media=inputs.choice(media, "media", splitting.MEDIA), trust=call.trust or "document",
        max_chunk_tokens=inputs.whole(max_chunk_tokens, "max_chunk_tokens", *CHUNK_TOKENS),
        most_facts=inputs.whole(max_facts_per_chunk, "max_facts_per_chunk", 0, MOST_FACTS),
        derive=_derivers(setup, inputs.optional(inputs.choice, derive, "derive", DERIVES)),
        occurred_at=call.occurred_at, actor=call.actor,
        metadata=call.censor.data(inputs.optional(inputs.metadata, metadata) or {}, "metadata"),
    )  # fmt: skip
    patience = capture.seconds(wait)
    most = inputs.whole(max_bytes, "max_bytes", 1)

    watch.at("measuring", 0.0)
    measure = yield from steps.think(lambda: store.measured(_said(source, call), most))
    watch.chars = measure.chars
    replaced = call.censor.notes  # the text is read again, and its secrets counted again
    if call.dry_run:
        opened = yield from _opened(setup, call, source, measure, wished, watch)
        return (yield from _rehearsed(source, call, opened.document, measure, watch, opened.duplicate))
    setup = yield from spaces.ready(setup, call.tenant_id)
    recording = yield from _opened(setup, call, source, measure, wished, watch)
    spans = yield from _stored(recording)
    recording = yield from _dated(recording)
    chunks, job_ids, notes = yield from _cut(recording, spans)
    parts = tuple(recording.document.name("part", number) for number in sorted(spans))
    manifest_id = yield from _closed(recording, len(parts), len(chunks))
    derived = _derived(recording, chunks, job_ids, patience)
    decisions = yield from running.naming((*parts, manifest_id), derived)
    watch.at("done", 1.0, len(chunks))
    return LongInputReport(
        source_event_ids=parts, manifest_event_id=manifest_id, chars=measure.chars, sha256=measure.sha256,
        chunks=tuple(chunks), decisions=tuple(decisions), duplicate=recording.duplicate, notes=(*replaced, *notes),
    )  # fmt: skip


def _title(given: object) -> str:
    if isinstance(given, str) and not given:
        return ""
    return " ".join(inputs.text(given, "title", limit=TITLE_CHARACTERS).split())


def _derivers(setup: Setup, mode: str | None) -> tuple[str, ...]:
    """The derivers that read the chunks; a model only where there is one, or in a worker, asked for by name."""
    derivers = DERIVERS_OF["llm" if mode is None else mode]
    barred = setup.policy.llm.get(extracting.COMPONENT) == "off"
    if not setup.asks(extracting.COMPONENT) and (mode is None or setup.settings.derives_inline or barred):
        derivers = tuple(name for name in derivers if name != "llm")
    return derivers


# Opening -------------------------------------------------------------------------------------------------------------


def _opened(
    setup: Setup, call: Writing, source: str | Path, measure: Measure, wished: Document, watch: _Watch
) -> Operation[_Recording]:
    """The document's stream and shelf; what was begun goes on as it was begun, whatever is wished now."""

    def work(conn: Connection) -> tuple[int, int, Document, bool]:
        refuse_forgotten = tasks.refuse_forgotten(conn, call.tenant_id, call.task_run_id)
        scope_id = tenancy.ensure(conn, call.scope)
        refuse_forgotten()
        shelf_id = tenancy.ensure_shelf(conn, call.tenant_id, scope_id)
        name = store.stream_name(*call.stream, measure.sha256)
        document = replace(wished, stream_id=streams.open(conn, scope_id, "document", name).stream_id)
        manifest_id = document.name("manifest")
        key = None if call.idempotency_key is None else ledger.find_by_key(conn, scope_id, call.idempotency_key)
        if key is not None and key.event_id != manifest_id:
            raise IdempotencyMismatch
        manifest, first = _begun(conn, document)
        if key is not None and first is not None and not _is_asked_again(call, wished, key, first):
            raise IdempotencyMismatch
        if first is not None:
            document = replace(
                document, title=first.payload["title"], media=first.payload["media"], trust=first.trust,
                max_chunk_tokens=first.payload["max_chunk_tokens"], most_facts=first.payload["most_facts"],
                derive=tuple(first.payload["derive"]), occurred_at=first.occurred_at, actor=first.actor,
            )  # fmt: skip
        return scope_id, shelf_id, document, manifest is not None

    key = f"document:{measure.sha256}"
    tried = steps.undone(work) if call.dry_run else work
    scope_id, shelf_id, document, duplicate = yield from steps.write(call.tenant_id, tried, key=key)
    return _Recording(setup, call, source, measure, scope_id, shelf_id, document, duplicate, watch)


def _is_asked_again(call: Writing, wished: Document, manifest: Event, first: Event) -> bool:
    """Whether what is wished under a key is what it was recorded by; which derivers there are, models decide. Pure."""
    settings = {name: value for name, value in wished.settings.items() if name != "derive"}
    same = all(first.payload.get(name) == value for name, value in settings.items())
    trusted = call.trust is None or call.trust == first.trust
    return same and trusted and (manifest.erased or manifest.metadata == dict(wished.metadata))


def _begun(conn: Connection, document: Document) -> tuple[Event | None, Event | None]:
    """The manifest, and an event that still says how the document is recorded; Conflict where chunks are all erased."""
    known = ledger.get_many(conn, [document.name("manifest"), document.name("part")])
    manifest, part = known.get(document.name("manifest")), known.get(document.name("part"))
    told = [one for one in (manifest, part) if one is not None]
    if told and all(one.erased for one in told):
        told = ledger.read(
            conn, stream_id=document.stream_id, types=[store.CHUNK], newest_first=True, limit=BATCH
        )  # fmt: skip
        if told and all(one.erased for one in told):
            raise Conflict("how this text was cut is erased: no more of it can be recorded")
    return manifest, next((one for one in told if not one.erased), None)


# Parts ---------------------------------------------------------------------------------------------------------------


def _stored(recording: _Recording) -> Operation[dict[int, tuple[int, int, bool]]]:
    """Append the parts that are missing; the span of each by its number, and whether it was erased."""
    call, document, total = recording.call, recording.document, max(1, recording.measure.chars)
    spans: dict[int, tuple[int, int, bool]] = {}
    parts = store.storable(store.unchanged(_said(recording.source, recording.call), recording.measure))
    while batch := (yield from steps.think(lambda: list(islice(parts, PARTS)))):
        events = [document.part(part) for part in batch]
        known = yield from _known(recording, [event.event_id for event in events])
        missing = [event for event in events if event.event_id not in known]
        if missing:
            yield from steps.write(call.tenant_id, _appending(recording, missing), key=missing[0].event_id)
        for part, event in zip(batch, events, strict=True):
            spans[part.number] = (part.start, part.end, known.get(event.event_id, False))
        recording.watch.at("storing", MEASURED + (STORED - MEASURED) * batch[-1].end / total)
    return spans


def _dated(recording: _Recording) -> Operation[_Recording]:
    """The recording with its document's date: the caller's, or when its first part was recorded."""
    document = recording.document
    if document.occurred_at is not None:
        return recording
    first = document.name("part")
    known = yield from steps.read(recording.call.tenant_id, lambda conn: ledger.get_many(conn, [first]))
    return replace(recording, document=replace(document, occurred_at=known[first].occurred_at))


def _known(recording: _Recording, event_ids: Sequence[str]) -> Operation[dict[str, bool]]:
    tenant_id, scope_id = recording.call.tenant_id, recording.scope_id
    return (yield from steps.read(tenant_id, lambda conn: store.recorded(conn, tenant_id, scope_id, event_ids)))


def _appending(
    recording: _Recording, events: Sequence[ledger.NewEvent]
) -> Callable[[Connection], tuple[AppendedEvent, ...]]:
    def work(conn: Connection) -> tuple[AppendedEvent, ...]:
        return ledger.append(
            conn, scope_id=recording.scope_id, stream_id=recording.document.stream_id, events=events,
            key=recording.setup.settings.secret_key,
        ).events  # fmt: skip

    return work


# Chunks --------------------------------------------------------------------------------------------------------------


def _cut(
    recording: _Recording, spans: Mapping[int, tuple[int, int, bool]]
) -> Operation[tuple[list[Chunk], list[str], list[str]]]:
    """Write the chunks that are missing, batch by batch, each embedded before its transaction; the jobs, and notes."""
    document, total = recording.document, max(1, recording.measure.chars)
    quotes = recording.measure.chars <= SHOWN
    chunks: list[Chunk] = []
    job_ids: list[str] = []
    left_out = 0
    pieces = _pieces(recording.source, recording.call, document, recording.measure)
    while batch := (yield from steps.think(lambda: list(islice(pieces, BATCH)))):
        known = yield from _known(recording, [document.name("chunk", piece.index) for piece in batch])
        made = yield from _made(recording, known)
        missing = []
        for piece in batch:
            of = _parts_of(piece, spans)
            gone = any(spans[number][2] for number in of)
            event_id = document.name("chunk", piece.index)
            if event_id not in known and not gone:
                missing.append((piece, of))
            left_out += known.get(event_id, gone)
            chunks.append(_chunk(recording, piece, made.get(event_id), quotes=quotes))
        if missing:
            caused, erased = yield from _shelved(recording, missing)
            job_ids += caused
            left_out += erased
        recording.watch.at("cutting", STORED + (1 - STORED) * batch[-1].end / total, len(chunks))
    return chunks, job_ids, [f"{left_out} chunks were erased, and stay so"] if left_out else []


def _made(recording: _Recording, event_ids: Iterable[str]) -> Operation[dict[str, str]]:
    """The memories of chunks that are there, by their events: those that came with an import were named elsewhere."""
    asked = {"tenant_id": recording.call.tenant_id, "scope_id": recording.shelf_id, "event_ids": list(event_ids)}
    if not asked["event_ids"]:
        return {}
    rows = yield from steps.read(
        recording.call.tenant_id, lambda conn: fetch_all(conn, "list_memories_of_events", **asked)
    )  # fmt: skip
    return {row.event_id: row.memory_id for row in rows if row.deriver == store.DERIVER}


def _said(source: str | Path, call: Writing) -> Iterator[str]:
    """The text as it is kept: without its secrets, the same each time it is read."""
    return call.censor.stream(reading.parts_of(source), "text")


def _pieces(source: str | Path, call: Writing, document: Document, measure: Measure) -> Iterator[Piece]:
    parts = store.unchanged(_said(source, call), measure)
    return splitting.split(parts, media=cast("Media", document.media), max_chunk_tokens=document.max_chunk_tokens)


def _parts_of(piece: Piece, spans: Mapping[int, tuple[int, int, bool]]) -> list[int]:
    """The numbers of the parts that a chunk comes of."""
    return [number for number, (start, end, _) in spans.items() if start < piece.end and piece.start < end]


def _shelved(recording: _Recording, missing: Sequence[tuple[Piece, list[int]]]) -> Operation[tuple[list[str], int]]:
    """Write some chunks: their events and their memories; the jobs they cause, and how many came of an erased part."""
    document, call, setup = recording.document, recording.call, recording.setup
    said = [piece.text[: inputs.FACT_CHARACTERS] for piece, _ in missing]
    vectors = yield from deriving.vectors(setup, said)
    events = [document.chunk(piece, parts) for piece, parts in missing]
    names = {number: document.name("part", number) for _, parts in missing for number in parts}

    def work(conn: Connection) -> tuple[list[str], int]:
        desk = replace(setup.desk(conn, call.scope), scope_id=recording.shelf_id)
        writing.lock(desk, [], writing.deriving_lock(document.stream_id))
        erased = store.recorded(conn, call.tenant_id, recording.scope_id, names.values())
        kept = [
            chunk for chunk in zip(missing, events, said, vectors, strict=True)
            if not any(erased[names[number]] for number in chunk[0][1])
        ]  # fmt: skip
        if not kept:
            return [], len(missing)
        done = _appending(recording, [event for _, event, _, _ in kept])(conn)
        written = [
            (_draft(document, piece, fact, vector), _origin(recording, piece, event))
            for ((piece, _), _, fact, vector), event in zip(kept, done, strict=True)
            if event.status == "appended"
        ]
        batching.write_all(desk, written)
        return [event.job_id for event in done if event.job_id is not None], len(missing) - len(kept)

    return (yield from steps.write(call.tenant_id, work, key=events[0].event_id))


def _draft(document: Document, piece: Piece, fact: str, vector: Any) -> Draft:
    return Draft(
        fact=fact, vector=vector, source=document.title[:SOURCE_CHARACTERS] or None,
        classified=Classified(kinds.MEMORY_TYPE_OF[piece.kind] or "semantic", store.CATEGORY, IMPORTANCE),
        metadata={"document": document.stream_id, **store.anchor(piece)},
    )  # fmt: skip


def _origin(recording: _Recording, piece: Piece, event: AppendedEvent) -> Origin:
    document = recording.document
    # Without its place in the stream: what stands around a chunk is no part of what it is found by.
    return Origin(
        event_id=event.event_id, recorded_at=event.recorded_at, occurred_at=document.occurred_at or event.recorded_at,
        trust=document.trust, content=piece.text, actor=document.actor, char_end=len(piece.text),
        task_run_id=recording.call.task_run_id,
        deriver=store.DERIVER, deriver_version=store.VERSION,
    )  # fmt: skip


def _chunk(recording: _Recording, piece: Piece, memory_id: str | None, *, quotes: bool) -> Chunk:
    event_id = recording.document.name("chunk", piece.index)
    return Chunk(
        chunk_id=memory_id or _memory_id(recording.call.tenant_id, event_id), index=piece.index, kind=piece.kind,
        heading=piece.heading, text=piece.text if quotes else None, char_start=piece.start, char_end=piece.end,
        tokens=piece.tokens, quote_hash=piece.quote_hash, event_id=event_id,
    )  # fmt: skip


def _memory_id(tenant_id: str, event_id: str) -> str:
    """The id of the memory of a chunk, as the writing of it makes it."""
    return writing.derived_id(tenant_id, event_id, store.DERIVER, store.VERSION)


def _rehearsed(
    source: str | Path, call: Writing, document: Document, measure: Measure, watch: _Watch, duplicate: bool
) -> Operation[LongInputReport]:
    """What recording it would give, without ids: nothing is written."""
    quotes = measure.chars <= SHOWN
    chunks: list[Chunk] = []
    pieces = _pieces(source, call, document, measure)
    while batch := (yield from steps.think(lambda: list(islice(pieces, BATCH)))):
        chunks += [
            Chunk(
                "", piece.index, piece.kind, piece.heading, piece.text if quotes else None, piece.start, piece.end,
                piece.tokens, piece.quote_hash, "",
            )
            for piece in batch
        ]  # fmt: skip
        watch.at("cutting", STORED + (1 - STORED) * batch[-1].end / measure.chars, len(chunks))
    watch.at("done", 1.0, len(chunks))
    return LongInputReport(
        (), "", measure.chars, measure.sha256, tuple(chunks), duplicate=duplicate,
        notes=("a dry run: nothing was kept",),
    )  # fmt: skip


# The end -------------------------------------------------------------------------------------------------------------


def _closed(recording: _Recording, parts: int, chunks: int) -> Operation[str]:
    """Append the manifest to the stream of the conversation, the task or the scope; once."""
    setup, call, document = recording.setup, recording.call, recording.document
    manifest_id = document.name("manifest")
    if recording.duplicate:
        return manifest_id

    def work(conn: Connection) -> None:
        if ledger.get_many(conn, [manifest_id]):
            return
        part = setup.entered(conn, recording.scope_id, call)
        session_id = call.session_id if part is None else part.session_id
        stream_id = part.stream_id if part is not None and call.task_run_id is None else None
        event = document.manifest(
            recording.measure, parts, chunks, session_id=session_id, task_run_id=call.task_run_id,
            idempotency_key=call.idempotency_key,
        )  # fmt: skip
        ledger.append(
            conn, scope_id=recording.scope_id, events=[event], key=setup.settings.secret_key,
            stream_id=stream_id or streams.open(conn, recording.scope_id, *call.stream).stream_id,
        )  # fmt: skip

    yield from steps.write(call.tenant_id, work, key=manifest_id)
    return manifest_id


def _derived(
    recording: _Recording, chunks: Sequence[Chunk], job_ids: Sequence[str], patience: float | Literal[False]
) -> Operation[list[WriteDecision]]:
    """Let the facts of the chunks be derived: by workers or the background, or here where the call waits for them."""
    setup, call = recording.setup, recording.call
    if not recording.document.derive:
        return []
    if patience is False:
        yield from steps.ring(call.tenant_id)
        return []
    if setup.settings.derives_inline:  # the first job reads the stream to its end
        yield from running.derive_appended(setup, call.tenant_id, job_ids[:1])
    yield from steps.ring(call.tenant_id)
    yield from deriving.waited(call.scope, [chunks[-1].event_id], timeout=patience)
    decisions: list[WriteDecision] = []
    for at in range(0, len(chunks), BATCH):
        ids = [chunk.event_id for chunk in chunks[at : at + BATCH]]
        found = yield from deriving.decisions_of(call.scope, ids)
        decisions += [one for one in found if one.memory is None or one.memory.category != store.CATEGORY]
    return decisions
