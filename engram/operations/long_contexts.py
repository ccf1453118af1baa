"""A context of long inputs: the memories and the passages of documents that answer a question, in one budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from engram import citations, context, counting, inputs, ledger, passages, recall, tasks, tenancy
from engram.context import Material
from engram.database import Connection
from engram.errors import InvalidInput, NotFound
from engram.filters import Filter
from engram.longinput import store
from engram.operations import assembling, explaining, searching, steps
from engram.operations.searching import Searched
from engram.operations.setup import Reading, Setup
from engram.operations.steps import Operation
from engram.passages import Paper, Source
from engram.values import TRUSTS, ContextBlock, Event, Memory, RecallTrace, SearchResults, Trust

MOST_CHUNKS: Final = 100
MOST_MEMORIES: Final = 25


@dataclass(frozen=True, slots=True)
class _Asked:
    query: str
    source_event_id: str | None
    task_run_id: str | None
    most: int
    limit: int
    terms: tuple[str, ...]


def build_long_input_context(
    setup: Setup, query: object, *, source_event_id: object, task_run_id: object, max_tokens: object,
    source_chunk_limit: object, expected_terms: object, min_trust: object, token_counter: object,
    given: Mapping[str, Any],
) -> Operation[ContextBlock]:  # fmt: skip
    """The block of at most `max_tokens` of memories and passages that answer a question."""
    reading = setup.reading(given)
    asked = _Asked(
        setup.query(query), inputs.optional(inputs.event_id, source_event_id, "source_event_id"),
        inputs.optional(inputs.event_id, task_run_id, "task_run_id"), inputs.max_tokens(max_tokens),
        inputs.whole(source_chunk_limit, "source_chunk_limit", 0, MOST_CHUNKS), _terms(expected_terms),
    )  # fmt: skip
    if not asked.query:
        raise InvalidInput("query", "a question", "nothing that can be searched for")
    worst = cast("Trust", inputs.choice(min_trust, "min_trust", TRUSTS))
    count = counting.chosen(token_counter)
    material, chosen = yield from steps.read(reading.scope.tenant_id, lambda conn: _gathered(conn, reading, asked))
    _, results = yield from searching.ranked(setup, reading, _of_memories(setup, asked))
    chunks = yield from _of_chunks(setup, reading, asked, chosen)
    ranked = () if chunks is None else tuple(_current(chunks.ranked()))[: asked.limit]
    sources = [Source.of(memory) for memory in ranked]
    papers = yield from _papers(reading, sources)
    degraded = tuple(dict.fromkeys((*results.degraded, *(() if chunks is None else chunks.found.degraded))))
    relevant = context.diverse(results, limit=MOST_MEMORIES)
    material = replace(material, relevant=relevant, notes=assembling.notes_of(degraded))
    block = passages.pack(
        material, sources, papers, max_tokens=asked.most, count=count, key=setup.fence_key, min_trust=worst
    )
    trace = _trace(asked, results, ranked, block, degraded)
    return replace(block, trace=trace)


def _terms(given: object) -> tuple[str, ...]:
    listed = inputs.items(given, "expected_terms", explaining.MOST_TERMS)
    return tuple(
        inputs.text(term, f"expected_terms[{place}]", limit=inputs.FACT_CHARACTERS) for place, term in enumerate(listed)
    )


def _gathered(conn: Connection, reading: Reading, asked: _Asked) -> tuple[Material, Filter | None]:
    """What is critical, and which documents are asked about."""
    visible, moment = tenancy.visible(conn, reading.scope), reading.moment
    chosen = None
    if asked.source_event_id is not None:
        chosen = Filter(metadata={"document": _document(conn, visible.scope_ids, asked.source_event_id)})
    if asked.task_run_id is not None:
        tasks.seen(conn, visible, asked.task_run_id, moment)
        ids = (asked.task_run_id,)
        chosen = replace(chosen, task_run_ids=ids) if chosen is not None else Filter(task_run_ids=ids)
    if not visible.scope_ids:
        return Material(), chosen
    critical = assembling.all_critical(conn, visible, moment)
    return Material(critical=critical.results, critical_omitted=critical.omitted), chosen


def _document(conn: Connection, scope_ids: Sequence[int], event_id: str) -> str:
    """The stream of the document an event is the manifest, a part or a chunk of."""
    event = ledger.get(conn, event_id, scope_ids=scope_ids)
    if event is None:
        raise NotFound(citations.NO_EVENT)
    if store.is_document(conn, event):
        return event.stream_id
    named = store.document_of(event)
    if named is None:
        raise InvalidInput("source_event_id", "the manifest, a part or a chunk of a long input", "another event")
    return named


def _of_memories(setup: Setup, asked: _Asked) -> recall.Asked:
    return recall.prepare(asked.query, limit=MOST_MEMORIES, profile=setup.profile())


def _of_chunks(setup: Setup, reading: Reading, asked: _Asked, chosen: Filter | None) -> Operation[Searched | None]:
    if not asked.limit:
        return None
    prepared = recall.prepare(
        asked.query, limit=asked.limit, profile=setup.profile(), filter=chosen, tail=False, depth=0, shelves="only"
    )
    return (yield from searching.found(setup, reading, prepared))


def _current(results: SearchResults) -> Iterable[Memory]:
    return (one.memory for one in results if one.memory.category == store.CATEGORY and one.memory.metadata)


def _papers(reading: Reading, sources: Sequence[Source]) -> Operation[dict[str, Paper]]:
    """What there is to say of the documents of some chunks, by the stream of each."""
    names = {store.manifest_id(one.document): one.document for one in sources}
    if not names:
        return {}

    def work(conn: Connection) -> dict[str, Event]:
        return ledger.get_many(conn, names, scope_ids=tenancy.visible(conn, reading.scope).scope_ids)

    found = yield from steps.read(reading.scope.tenant_id, work)
    return {
        names[event_id]: Paper(
            names[event_id], event.payload["title"], event.payload["chars"], event.payload["chunks"],
            event.occurred_at, event.trust,
        )
        for event_id, event in found.items() if not event.erased
    }  # fmt: skip


def _trace(
    asked: _Asked, results: SearchResults, chunks: Sequence[Memory], block: ContextBlock, degraded: tuple[str, ...]
) -> RecallTrace:
    """What was found and kept: a chunk by the id of its memory, as everywhere else."""
    chunk_of = {memory.event_id: memory.memory_id for memory in chunks}
    kept = tuple(chunk_of.get(one, one) for one in block.citations.values())
    omitted = (one for section in block.sections for one in section.omitted_ids)
    return RecallTrace(
        query=asked.query,
        search_ids=(*(one.memory.memory_id for one in results), *chunk_of.values()),
        ranked_ids=tuple(chunk_of.values()), kept_ids=kept,
        trimmed_ids=tuple(dict.fromkeys(one for one in omitted if one not in kept)),
        missing_expected_terms=explaining.missing(asked.terms, block.text), notes=block.warnings, degraded=degraded,
        context=block.text, tokens=block.tokens,
    )  # fmt: skip
