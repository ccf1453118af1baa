"""Resuming: the block an agent reads when it starts again. Touches nothing, and leaves no row in the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from engram import checkpoints, context, counting, derivation, inputs, recall, streams, tasks, tenancy
from engram.context import Layout, Material, Open
from engram.database import Connection
from engram.ledger import Place
from engram.operations import assembling, searching, steps
from engram.operations.setup import Reading, Setup
from engram.operations.steps import Operation
from engram.recall import nearer, standing
from engram.tasks import Held
from engram.tenancy import Visible
from engram.values import FORMATS, TRUSTS, ContextBlock, Event, Format, Memory, RecallTrace, Trust

MOST_RUNS: Final = 5
MOST_LISTED: Final = 50  # runs looked through for those that went on at an earlier moment
MOST_AFTER: Final = 10  # events of a run after its checkpoint
PAGE: Final = 40  # events looked through at a time for what was said
PAGES: Final = 5
MOST_EPOCHS: Final = 10_000
GOING_ON: Final = ("active", "paused")
LAYOUT: Final = Layout(context.RESUME_SHARES, tuple(context.RESUME_SHARES), downward=True)
# How much a row must have to do with the question, and what is added for what it is.
CORE_NEEDS: Final = 0.35
RECENT_NEEDS: Final = 0.20
HIGH: Final = 0.25
LOW: Final = 0.10
IDENTITY: Final = ("profile", "preference", "constraint")
LESSON: Final = "lesson"
FAR: Final = "too far from the query"


@dataclass(frozen=True, slots=True)
class _Asked:
    query: str
    epochs: int
    max_tokens: int
    format: Format
    min_trust: Trust
    count: counting.Counter


def resume(
    setup: Setup, query: object, *, recent_epochs: object, max_tokens: object, format: object, min_trust: object,
    token_counter: object, given: Mapping[str, Any],
) -> Operation[ContextBlock]:  # fmt: skip
    """What an agent takes up again: what is pinned, the core, what is recent, open runs, topics and triggers."""
    reading = setup.reading(given)
    asked = _Asked(
        setup.query(query), inputs.whole(recent_epochs, "recent_epochs", 0, MOST_EPOCHS),
        inputs.max_tokens(max_tokens), cast("Format", inputs.choice(format, "format", FORMATS)),
        cast("Trust", inputs.choice(min_trust, "min_trust", TRUSTS)), counting.chosen(token_counter),
    )  # fmt: skip
    material = yield from steps.read(reading.scope.tenant_id, lambda conn: _gathered(conn, setup, reading, asked))
    far: dict[str, str] = {}
    if asked.query:
        near, degraded = yield from _near(setup, reading, asked, [*material.core, *material.recent])
        notes = assembling.notes_of(degraded)
        far = {one.memory_id: FAR for one in (*material.core, *material.recent) if one.memory_id not in near}
        material = replace(
            material, core=[one for one in material.core if one.memory_id in near],
            recent=[one for one in material.recent if one.memory_id in near], notes=(*material.notes, *notes),
        )  # fmt: skip
    block = context.pack(
        material, max_tokens=asked.max_tokens, format=asked.format, min_trust=asked.min_trust, count=asked.count,
        layout=LAYOUT, key=setup.fence_key,
    )  # fmt: skip
    return replace(block, trimmed=far | dict(block.trimmed), trace=_trace(asked, material, block))


def needed(memory: Memory) -> float:
    """How much a memory must have to do with the question to be taken up: less for what holds of whoever asks. Pure."""
    is_lesson = memory.memory_type == "procedural" or LESSON in (memory.category, *memory.tags)
    boost = HIGH if memory.memory_type in IDENTITY else LOW if is_lesson else 0.0
    return (CORE_NEEDS if memory.layer == "core" else RECENT_NEEDS) - boost


def _gathered(conn: Connection, setup: Setup, reading: Reading, asked: _Asked) -> Material:
    """Everything but how near it is to the question, in one snapshot."""
    visible, moment = tenancy.visible(conn, reading.scope), reading.moment
    if not visible.scope_ids:
        return Material()
    told = assembling.outlined(conn, setup, visible, moment)
    core = standing.list_core(conn, visible, moment=moment)
    recent = standing.list_recent(conn, visible, asked.epochs, moment=moment)
    return Material(
        critical=told.critical.results,
        critical_omitted=told.critical.omitted,
        core=core,
        recent=recent,
        open=_open(conn, visible, reading),
        topics=assembling.topics_of(told),
        triggers=assembling.triggers_of(told),
        watermark=streams.slowest(conn, visible.scope_ids, derivation.versions()),
        shadowed=nearer.shadowed(conn, visible, [*core, *recent], moment),
    )


def _open(conn: Connection, visible: Visible, reading: Reading) -> list[Open]:
    """The runs that go on, newest first, each with its latest checkpoint and what happened after it."""
    tenant, then = reading.scope.tenant_id, reading.moment.earliest
    found = tasks.select(
        conn, tenant, visible.scope_ids, statuses=GOING_ON if then is None else None, started_by=then,
        known_at=reading.moment.known_at, limit=MOST_RUNS if then is None else MOST_LISTED,
    )  # fmt: skip
    known = [tasks.at(conn, held, reading.moment) for held in found]
    going = [held for held in known if held.task.status in GOING_ON][:MOST_RUNS]
    saved = checkpoints.latest(conn, visible, [held.task.task_run_id for held in going], recorded_by=then)
    made = []
    for held in going:
        last = saved.get(held.task.task_run_id)
        made.append(Open(held.task, last, _after(conn, held, 0 if last is None else last.position, visible, reading)))
    return made


def _after(conn: Connection, held: Held, position: int, visible: Visible, reading: Reading) -> Sequence[Event]:
    """What was said and done in a run after a position of its stream, newest first."""
    kept: list[Event] = []
    start: Place | None = None
    for _ in range(PAGES):
        page = tasks.happened(
            conn, held, visible, after=position, known_at=reading.moment.earliest, start=start, limit=PAGE
        )
        kept.extend(filter(assembling.is_said, page))
        if len(kept) >= MOST_AFTER or len(page) < PAGE:
            break
        start = Place(page[-1].recorded_at, page[-1].stream_id, page[-1].position)
    return tuple(kept[:MOST_AFTER])


def _near(
    setup: Setup, reading: Reading, asked: _Asked, given: Sequence[Memory]
) -> Operation[tuple[set[str], tuple[str, ...]]]:
    """Which of these have enough to do with the question, and the channels it was told without."""
    wanted = recall.prepare(
        asked.query, limit=1, profile=setup.profile(), tail=False, also=tuple(one.memory_id for one in given)
    )
    searched = yield from searching.briefly(setup, reading, wanted)
    relevance = {
        one.memory.memory_id: max(one.cosine or 0.0, one.coverage or 0.0) for one in searched.found.candidates
    }  # fmt: skip
    near = {one.memory_id for one in given if relevance.get(one.memory_id, 0.0) >= needed(one)}
    return near, searched.found.degraded


def _trace(asked: _Asked, material: Material, block: ContextBlock) -> RecallTrace:
    return RecallTrace(
        query=asked.query,
        critical_ids=tuple(one.memory_id for one in material.critical),
        ranked_ids=tuple(one.memory_id for one in (*material.core, *material.recent)),
        kept_ids=tuple(block.citations.values()),
        trimmed_ids=tuple(block.trimmed),
        notes=block.warnings,
        tokens=block.tokens,
    )
