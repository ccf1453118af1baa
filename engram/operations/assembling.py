"""Assembling a context: gather what there is in one read and one search, then pack it. Touches nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from engram import (
    checkpoints,
    context,
    counting,
    derivation,
    history,
    inputs,
    ledger,
    memories,
    recall,
    relations,
    streams,
    tasks,
    tenancy,
)
from engram.context import Material, Named, Related, Style
from engram.database import Connection, ending
from engram.errors import InvalidInput
from engram.ledger import Place
from engram.memories import Moment
from engram.operations import noting, searching, steps
from engram.operations.capture import EVENT_TYPES
from engram.operations.searching import Searched
from engram.operations.setup import Reading, Setup
from engram.operations.steps import Operation
from engram.recall import Asked, Looked, nearer, outline
from engram.recall.outline import Outline
from engram.relations import Walk
from engram.tasks import Held
from engram.tenancy import Visible
from engram.values import (
    DETAILS,
    FORMATS,
    GROUPS,
    TRUSTS,
    ContextBlock,
    CriticalMemories,
    Detail,
    Event,
    Format,
    Grouping,
    Memory,
    RecallTrace,
    SearchResults,
    Trust,
    Watermark,
)

MOST_OF_GOAL: Final = 1_000  # characters of a goal that are searched for
MOST_FOUND: Final = 40  # more than are printed, so that one session does not take every place
FETCHED: Final = 100  # that each channel of its search brings
MOST_DECISIONS: Final = 40
MOST_ARTIFACTS: Final = 20
SEEDS: Final = 3  # facts of those found whose relations are shown
TIES: Final = Walk(max_depth=1, direction="any", limit_per_seed=5)
MOST_TRIGGERS: Final = 40
INDEXED: Final = {context.TOPICS: 1.0, context.TRIGGERS: 1.0}
OWN_TYPE: Final = "x."
LAST: Final = ("ffffffff-ffff-ffff-ffff-ffffffffffff", 2**63 - 1)


@dataclass(frozen=True, slots=True)
class _Asked:
    query: str
    task_run_id: str | None
    session_id: str | None
    shares: Mapping[str, float]
    graph: bool = True


def build_context(
    setup: Setup, query: object, *, task_run_id: object, session_id: object, max_tokens: object, sections: object,
    format: object, min_trust: object, strict: object, token_counter: object, given: Mapping[str, Any],
    include_graph: object = True, group_by: object = None, detail: object = "full", metadata: object = False,
) -> Operation[ContextBlock]:  # fmt: skip
    """The block a model is given to read, of at most `max_tokens`."""
    reading = setup.reading(given)
    asked = _Asked(
        setup.query(query), inputs.optional(inputs.event_id, task_run_id, "task_run_id"),
        inputs.optional(inputs.name, session_id, "session_id"),
        context.SHARES if sections is None else context.chosen_shares(sections),
        inputs.flag(include_graph, "include_graph"),
    )  # fmt: skip
    if asked.task_run_id is not None and asked.session_id is not None:
        raise InvalidInput("session_id", "one of task_run_id and session_id", "both")
    most = inputs.max_tokens(max_tokens)
    shown_as = cast("Format", inputs.choice(format, "format", FORMATS))
    style = chosen_style(group_by, detail, metadata, reading.moment)
    worst = cast("Trust", inputs.choice(min_trust, "min_trust", TRUSTS))
    loud = inputs.flag(strict, "strict")
    count = counting.chosen(token_counter)

    started = noting.clock()
    begun = yield from steps.read(reading.scope.tenant_id, lambda conn: _begun(conn, setup, reading, asked))
    asked, material = begun.asked, begun.material
    searched: Searched | None = None
    results = SearchResults(())
    if begun.looked is not None:
        wanted, looked = begun.looked

        def then(conn: Connection, found: list[Searched]) -> tuple[SearchResults, Material]:
            ranked = found[0].returned(conn)
            held = _with_results(replace(begun.material, watermark=found[0].looked.watermark), ranked)
            return ranked, _with_relations(conn, reading, found[0].looked.visible, asked, held)

        (searched,), (results, material) = yield from searching.found_and(
            setup, reading, [(wanted, reading.moment)], then, [(wanted, looked)], light=True
        )
    block = context.pack(
        material, max_tokens=most, shares=asked.shares, format=shown_as, min_trust=worst, strict=loud, count=count,
        key=setup.fence_key, style=style,
    )  # fmt: skip
    plan = {
        "task_run_id": asked.task_run_id, "session_id": asked.session_id, "max_tokens": most,
        "sections": dict(asked.shares), "include_graph": asked.graph, "format": shown_as, "min_trust": worst,
        "strict": loud,
        "group_by": style.group_by, "detail": style.detail, "metadata": style.metadata,
        "counted": token_counter if isinstance(token_counter, str) else token_counter is not None,
    }  # fmt: skip
    trace = _trace(asked, results, material, block, noting.versions(setup, setup.profile()))
    block = replace(block, trace=trace)
    return (yield from noting.context(setup, reading, searched, results, block, started=started, plan=plan))


def chosen_style(group_by: object, detail: object, metadata: object, moment: Moment) -> Style:
    """How items are printed; ages are counted to the moment that is read."""
    grouping = inputs.optional(inputs.choice, group_by, "group_by", GROUPS)
    return Style(
        cast("Grouping | None", grouping), cast("Detail", inputs.choice(detail, "detail", DETAILS)),
        inputs.flag(metadata, "metadata"), moment.clock or datetime.now(UTC),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Begun:
    """What there is beside what a search finds, what is searched for, and what that search must know before."""

    asked: _Asked
    material: Material
    looked: tuple[Asked, Looked] | None


def _begun(conn: Connection, setup: Setup, reading: Reading, asked: _Asked) -> _Begun:
    """Everything but what is found, in one transaction."""
    held = None
    if asked.task_run_id is None:
        looked = _looked(conn, setup, reading, asked)
        visible = tenancy.visible(conn, reading.scope) if looked is None else looked[1].visible
    else:
        visible = tenancy.visible(conn, reading.scope)
        held = tasks.seen(conn, visible, asked.task_run_id, reading.moment)
        if not asked.query:
            asked = replace(asked, query=inputs.query(held.task.goal[:MOST_OF_GOAL]))
        looked = _looked(conn, setup, reading, asked, visible)
    if not visible.scope_ids:
        return _Begun(asked, Material(), looked)
    # A search finds out by itself what is not derived yet.
    mark = Watermark() if looked else streams.slowest(conn, visible.scope_ids, derivation.versions())
    return _Begun(asked, replace(_gathered(conn, setup, reading, asked, visible, held), watermark=mark), looked)


def _looked(
    conn: Connection, setup: Setup, reading: Reading, asked: _Asked, visible: Visible | None = None
) -> tuple[Asked, Looked] | None:
    """The search that a context makes, and what it must know before; None where nothing is asked or shown of it.

    Where the scopes are not known yet, the one statement tells them too.
    """
    if not asked.query or not asked.shares[context.RELEVANT]:
        return None
    wanted = recall.prepare(asked.query, limit=MOST_FOUND, fetched=FETCHED, profile=setup.profile())
    moment, config = reading.moment, setup.settings.text_search_config
    if visible is None:
        return wanted, recall.look_from(conn, reading.scope, [wanted], moment=moment, config=config)[0]
    return wanted, recall.look(conn, visible, wanted, moment=moment, config=config)


def _gathered(
    conn: Connection, setup: Setup, reading: Reading, asked: _Asked, visible: Visible, held: Held | None
) -> Material:
    moment, shares = reading.moment, asked.shares
    told = outlined(conn, setup, visible, moment, shares)
    shadowed = nearer.shadowed(conn, visible, told.decisions, moment)
    saved = () if held is None or not (shares[context.STATE] or shares[context.CHECKPOINTS]) else checkpoints.select(
        conn, reading.scope.tenant_id, held.task.task_run_id, whole=True, limit=context.MOST_CHECKPOINTS,
        recorded_by=moment.earliest, reader=visible,
    )  # fmt: skip
    events, artifacts = _events(conn, visible, reading, asked)
    return Material(
        task=None if held is None else held.task,
        checkpoints=tuple(saved),
        critical=told.critical.results,
        critical_omitted=told.critical.omitted,
        events=events,
        decisions=told.decisions,
        artifacts=artifacts,
        topics=topics_of(told),
        triggers=triggers_of(told),
        shadowed=shadowed,
    )


def outlined(
    conn: Connection, setup: Setup, visible: Visible, moment: Moment, shares: Mapping[str, float] = INDEXED
) -> Outline:
    """What a context begins and ends with, as far as its sections have a share."""
    return outline.read(
        conn, visible, decisions=MOST_DECISIONS if shares.get(context.DECISIONS) else 0,
        with_topics=bool(shares.get(context.TOPICS)), actions=MOST_TRIGGERS if shares.get(context.TRIGGERS) else 0,
        moment=moment, key=setup.cursor_key,
    )  # fmt: skip


def all_critical(conn: Connection, visible: Visible, moment: Moment) -> CriticalMemories:
    """Every pinned memory of a read, whatever the budget."""
    return memories.recall_critical(
        conn, visible, memory_types=None, limit=outline.MOST_CRITICAL, max_tokens=None, strict=False, moment=moment
    )


def topics_of(told: Outline) -> tuple[Named, ...]:
    """What the memories are about, largest first. Pure."""
    return tuple(Named(name, trust, many) for name, many, trust in told.topics)


def triggers_of(told: Outline) -> tuple[Named, ...]:
    """The actions before which memories are to be read, those read most first. Pure."""
    return tuple(Named(name, trust) for name, trust in told.actions)


def _events(
    conn: Connection, visible: Visible, reading: Reading, asked: _Asked
) -> tuple[Sequence[Event], Sequence[Event]]:
    """The newest events of what was said and done, and of what was made; direct changes show as memories already."""
    moment, shares = reading.moment, asked.shares
    said = context.MOST_EVENTS if shares[context.EVENTS] else 0
    made = MOST_ARTIFACTS if shares[context.ARTIFACTS] else 0
    if not said and not made:
        return (), ()
    events, artifacts = ledger.told(
        ending(conn) if visible.own_ids is None else conn, visible.scope_ids, types=EVENT_TYPES, own=OWN_TYPE,
        said=said, made=made, session_id=asked.session_id, task_run_id=asked.task_run_id,
        until=_just_after(moment.as_of), start=None if moment.known_at is None else Place(moment.known_at, *LAST),
    )  # fmt: skip
    hidden = history.private_events(ending(conn), visible, [one.event_id for one in (*events, *artifacts)])
    if not hidden:
        return events, artifacts
    return [one for one in events if one.event_id not in hidden], [
        one for one in artifacts if one.event_id not in hidden
    ]


def is_said(event: Event) -> bool:
    """Whether an event is of what was said and done, and no change of memory."""
    return event.event_type in EVENT_TYPES or event.event_type.startswith(OWN_TYPE)


def _just_after(moment: datetime | None) -> datetime | None:
    """The end of a half-open window that still holds this moment."""
    return None if moment is None else moment + timedelta(microseconds=1)


def _with_results(material: Material, results: SearchResults) -> Material:
    """The material with what the search found; a fact a nearer scope says otherwise is not relevant."""
    return replace(material, relevant=context.diverse(results), notes=(*material.notes, *notes_of(results.degraded)))


def notes_of(degraded: Sequence[str]) -> tuple[str, ...]:
    """What a reader is told of channels that failed."""
    return tuple(f"the search did without its {name} channel" for name in degraded)


def _with_relations(
    conn: Connection, reading: Reading, visible: Visible, asked: _Asked, material: Material
) -> Material:
    """The material with the heaviest relations of the best facts found: one statement for all of them."""
    told = [one for one in material.relevant if one.derived and "shadowed" not in one.labels]
    facts = [one.memory for one in told if one.memory.category not in recall.EVIDENCE]
    seeds = {memory.memory_id: memory for memory in facts[:SEEDS] if context.is_printable(memory)}
    if not seeds or not asked.graph or not asked.shares[context.GRAPH]:
        return material
    rows, ends = relations.ties(conn, visible, list(seeds), TIES, reading.moment)
    return replace(
        material, related=_each_once(seeds, ends | seeds, rows),
        shadowed=material.shadowed | nearer.shadowed(conn, visible, ends.values(), reading.moment),
    )  # fmt: skip


def _each_once(seeds: Mapping[str, Memory], found: Mapping[str, Memory], rows: Sequence[Any]) -> tuple[Related, ...]:
    """The relations of a walk, the best first; one between two of the seeds is met from both ends."""
    met: dict[tuple[str, str, str], Related] = {}
    for row in rows:
        if row.node in found:
            ends = (row.node, row.seed) if row.ways[0] else (row.seed, row.node)
            tie = Related(seeds[row.seed], found[row.node], row.types[0], not row.ways[0])
            met.setdefault((*ends, row.types[0]), tie)
    return tuple(met.values())


def _trace(
    asked: _Asked, results: SearchResults, material: Material, block: ContextBlock, versions: Mapping[str, str]
) -> RecallTrace:
    return RecallTrace(
        query=asked.query,
        critical_ids=tuple(one.memory_id for one in material.critical),
        search_ids=tuple(one.memory.memory_id for one in results),
        ranked_ids=tuple(one.memory.memory_id for one in material.relevant),
        kept_ids=tuple(block.citations.values()),
        trimmed_ids=tuple(dict.fromkeys(one for section in block.sections for one in section.omitted_ids)),
        notes=block.warnings,
        tokens=block.tokens,
        versions=versions,
        degraded=results.degraded,
    )
