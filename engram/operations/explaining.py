"""Explaining: why a search does not return a memory, a recall seen from inside, and a logged recall made again.

All three ask as searches ask and rank as searches rank. They count nothing as returned and leave no row in the log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from engram import context, counting, filters, history, ids, inputs, memories, paging, ranking, recall, tenancy, text
from engram.context import Material
from engram.counting import Counter
from engram.database import Connection, fetch_one, statement
from engram.errors import NotFound
from engram.filters import Filter
from engram.memories import Moment
from engram.operations import deepening, noting, recalling, reranking, searching, steps
from engram.operations.assembling import all_critical, build_context
from engram.operations.deepening import Deep
from engram.operations.reading import chosen_filter, named, with_whole_ids
from engram.operations.searching import Searched
from engram.operations.setup import Reading, Setup
from engram.operations.steps import Operation
from engram.recall import Asked, Looked, finding, log, why
from engram.recall.results import Pair, relevant
from engram.rerank import Judge, Judged
from engram.scope import Scope
from engram.values import (
    MODES,
    ContextBlock,
    CriticalMemories,
    LoggedRecall,
    Memory,
    Page,
    RecallDiff,
    RecallTrace,
    SearchResult,
    SearchResults,
    WhyNot,
)

LOOKED: Final = 200  # results for which the channels are asked to see the place of a memory they miss
MOST_TERMS: Final = 200
PACKED: Final = {name: 1.0 if name == context.RELEVANT else 0.0 for name in context.SHARES}


# Why not -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Target:
    """What an id names: a memory, as it is now and at the moment that is read, or an event."""

    name: str
    now: Memory | None = None
    then: Memory | None = None
    known: bool = True  # by then
    made: tuple[str, ...] = ()  # memories of the event


def explain(
    setup: Setup, query: object, memory_id: object, *, mode: object, limit: object, filter: object, profile: object,
    min_score: object, rerank: object, cut: object, per_session: object, max_tokens: object,
    given: Mapping[str, Any],
) -> Operation[WhyNot]:  # fmt: skip
    """Why a search does not return a memory, or that it does."""
    reading = setup.reading(given)
    asked = recall.prepare(
        setup.query(query), mode=inputs.choice(mode, "mode", MODES), limit=inputs.limit(limit),
        filter=chosen_filter(filter), profile=setup.profile(profile), min_score=inputs.number(min_score, "min_score"),
        rerank=inputs.flag(rerank, "rerank"), cut=inputs.choice(cut, "cut", ranking.CUTS),
        per_session=inputs.optional(inputs.whole, per_session, "per_session", 1),
    )  # fmt: skip
    wanted = inputs.memory_id(memory_id)
    most = inputs.optional(inputs.max_tokens, max_tokens)
    if asked.rerank:
        reranking.wanted(setup)
    asked = yield from named(reading, asked)
    target = yield from steps.read(reading.scope.tenant_id, lambda conn: _target(conn, reading, wanted))
    judge = None if setup.reranker is None else _Overheard(setup.reranker)
    heard = replace(setup, reranker=judge)
    searched = yield from searching.found(heard, reading, asked)
    results = yield from reranking.ranked(heard, searched)
    judged = None
    if judge is not None:
        judged, judge.last = judge.last, None
    # A search goes deep by itself where it finds little: what it returns then counts.
    deep = _Deepened()
    made = yield from deepening.expanded(heard, reading, searched, results, None, deep.note)
    variants = {"variants": list(made.variants)} if made.variants else {}
    there = why.found_as(made, target.name, **variants)
    if there is not None:
        return there if most is None else _printed(setup, made, there, most)
    told = yield from _why(reading, searched, target, results, judged)
    if told.reason in why.OF_THE_WORDS and made is not results:
        told = (yield from _outdone(deep, target, made, None if judge is None else judge.last)) or told
    return replace(told, detail={**told.detail, **variants})


class _Deepened:
    """What a deep search found, and the order of its rows, as it was told last."""

    def __init__(self) -> None:
        self.searched: Searched | None = None
        self.ordered: Sequence[Pair] = ()

    def note(self, searched: Searched, ordered: Sequence[Pair]) -> None:
        self.searched, self.ordered = searched, ordered


def _outdone(deep: _Deepened, target: _Target, made: SearchResults, judged: Judged | None) -> Operation[WhyNot | None]:
    """Why a deep search does not return what it found; None where that is not among it."""
    if deep.searched is None:
        return None
    found = replace(deep.searched.found, candidates=tuple(one for one, _ in deep.ordered))
    whole = yield from searching.whole(replace(deep.searched, found=found))
    there = {one.memory.memory_id: one for one in whole.found.candidates}
    ordered = [(there[one.memory.memory_id], scores) for one, scores in deep.ordered if one.memory.memory_id in there]
    return why.outdone(whole.asked, whole.found, ordered, target.name, made, judged)


def _target(conn: Connection, reading: Reading, memory_id: str) -> _Target:
    visible = tenancy.visible(conn, reading.scope, shelves="with")
    now = memories.find(conn, visible, memory_id)
    if now is not None:
        moment = reading.moment
        then = now if moment.is_now else memories.find(conn, visible, now.memory_id, moment)
        known = moment.known_at is None or memories.find(conn, visible, now.memory_id, Moment(None, moment.known_at))
        return _Target(now.memory_id, now, then, bool(known))
    params = {**memories.visible_params(visible), "event_id": memory_id}
    row = None if ids.is_short(memory_id) else fetch_one(conn, "find_event_place", **params)
    if row is None or history.private_events(conn, visible, [row.event_id]):
        raise NotFound("no memory with that id in this scope")
    return _Target(row.event_id, made=tuple(row.memory_ids))


class _Overheard(Judge):
    """A reranker that remembers what it said last."""

    def __init__(self, judge: Judge) -> None:
        self.reranker, self.breaker, self._judge = judge.reranker, judge.breaker, judge
        self.last: Judged | None = None

    def judge(self, query: str, texts: Sequence[str]) -> Judged:
        self.last = self._judge.judge(query, texts)
        return self.last


def _why(
    reading: Reading, searched: Searched, target: _Target, results: SearchResults, judged: Judged | None
) -> Operation[WhyNot]:
    asked, looked, found = searched.asked, searched.looked, searched.found
    if target.now is None:
        return _of_event(searched, target, results, judged)
    if target.then is None:
        return why.not_valid(target.now) if target.known else WhyNot(target.name, False, "not_known_then")
    told = why.standing(asked, target.then, looked.now)
    if told is not None:
        return (yield from _of_what_may_be_seen(reading, looked, told))
    if asked.limit == 0:
        return WhyNot(target.name, False, "outranked", {"limit": 0})
    if any(one.memory.memory_id == target.name and one.stands for one in found.candidates):
        return why.ranked(asked, looked, found, target.then, results, judged)
    wide = replace(asked, limit=max(LOOKED, asked.limit), also=(target.name,))
    channels = [name for name in finding.allowed(wide, searched.meaning) if name not in found.degraded]
    seen = yield from steps.read(
        reading.scope.tenant_id, lambda conn: recall.find(conn, wide, looked, searched.meaning, channels)
    )
    fetched, far = finding.fetched(asked), finding.fetched(wide)
    measured = why.measured(seen, target.name, fetched=fetched, looked=far)
    return why.missed(asked, looked, target.then, measured, vectors=searched.meaning.vector is not None)


def _of_what_may_be_seen(reading: Reading, looked: Looked, told: WhyNot) -> Operation[WhyNot]:
    """A reason without the memory that took the place where the reader may not see that: it may be private."""
    heirs = [told.detail[name] for name in ("superseded_by", "into") if name in told.detail]
    if not heirs:
        return told
    seen = yield from steps.read(
        reading.scope.tenant_id, lambda conn: {one.memory_id for one in memories.load(conn, looked.visible, heirs)}
    )
    kept = {name: value for name, value in told.detail.items() if value not in heirs or value in seen}
    return replace(told, detail=kept)


def _of_event(searched: Searched, target: _Target, results: SearchResults, judged: Judged | None) -> WhyNot:
    """Why an event is not returned: it is derived, is not looked at, or shares too little with the question."""
    asked, looked, found = searched.asked, searched.looked, searched.found
    if target.made:
        return WhyNot(target.name, False, "derived", {"memories": list(target.made)})
    ordered = relevant(replace(asked, min_score=0.0, filter=None), looked, found)
    waiting = next((one.whole for one, _ in ordered if one.memory.memory_id == target.name), None)
    if waiting is None:
        return WhyNot(target.name, False, "not_derived_yet", {"looked_at": len(looked.tail)})
    told = why.standing(asked, waiting, looked.now)
    return told if told is not None else why.ranked(asked, looked, found, waiting, results, judged)


def _printed(setup: Setup, made: SearchResults, there: WhyNot, most: int) -> WhyNot:
    """Whether what is found is printed too, within a budget."""
    block = _packed(setup, (), made, most, text.count_tokens)
    if there.memory_id in block.citations.values():
        return there
    shadowed = "shadowed" in there.detail["labels"]
    return replace(there, found=False, reason="shadowed" if shadowed else "over_budget",
                   detail={**there.detail, "max_tokens": most, "tokens": block.tokens})  # fmt: skip


# A recall from inside ------------------------------------------------------------------------------------------------


def trace_recall(
    setup: Setup, query: object, *, limit: object, max_tokens: object, expected_terms: object, deep: object,
    filter: object, token_counter: object, given: Mapping[str, Any],
) -> Operation[RecallTrace]:  # fmt: skip
    """What is pinned and what a search finds, packed into a budget, with the ids of every step on the way."""
    reading = setup.reading(given)
    asked = setup.query(query)
    shown, most, count = inputs.limit(limit), inputs.max_tokens(max_tokens), counting.chosen(token_counter)
    terms = tuple(
        inputs.text(term, f"expected_terms[{place}]", limit=inputs.FACT_CHARACTERS)
        for place, term in enumerate(inputs.items(expected_terms, "expected_terms", MOST_TERMS))
    )
    wide, checked = inputs.flag(deep, "deep"), chosen_filter(filter)
    chosen = yield from with_whole_ids(reading, checked)
    watch, tenant = noting.Watch(), reading.scope.tenant_id
    with watch.on("critical"):
        pinned = yield from steps.read(tenant, lambda conn: _critical(conn, reading, chosen))
    with watch.on("search"):
        results = yield from _searched(setup, asked, shown, chosen, wide, given)
    alone = chosen is not None and chosen.critical is True
    with watch.on("superseded"):
        lineages = sorted({one.memory.lineage_id for one in results if one.derived})
        superseded = yield from steps.read(tenant, lambda conn: _superseded(conn, reading, lineages))
    with watch.on("packing"):
        block = _packed(setup, pinned.results, results, most, count, alone=alone)
    critical = tuple(memory.memory_id for memory in pinned.results)
    ranked = tuple(one.memory.memory_id for one in _ranked(results) if one.memory.memory_id not in critical)
    kept = tuple(dict.fromkeys(block.citations.values()))
    found = tuple(one.memory.memory_id for one in results)
    return RecallTrace(
        query=asked, variants=results.variants, critical_ids=critical, search_ids=found, ranked_ids=ranked,
        kept_ids=kept, trimmed_ids=tuple(one for one in dict.fromkeys((*critical, *ranked)) if one not in kept),
        superseded_ids=superseded, missing_expected_terms=missing(terms, block.text), context=block.text,
        tokens=block.tokens, notes=(*block.warnings, *_notes(pinned, results, block.citations.values())),
        timings_ms=watch.timings, versions=noting.versions(setup, setup.profile()), degraded=results.degraded,
    )  # fmt: skip


def _critical(conn: Connection, reading: Reading, chosen: Filter | None) -> CriticalMemories:
    visible = tenancy.visible(conn, reading.scope)
    found = all_critical(conn, visible, reading.moment)
    kept = tuple(memory for memory in found.results if chosen is None or filters.matches(chosen, memory))
    return replace(found, results=kept)


def _searched(
    setup: Setup, query: str, limit: int, chosen: Filter | None, deep: bool, given: Mapping[str, Any]
) -> Operation[SearchResults]:
    quiet = noting.unlogged(setup)
    if deep:
        return (
            yield from recalling.deep_search(
                quiet, query, n_queries=4, queries=None, k=ranking.RRF_K, limit=limit, filter=chosen,
                profile="default", rerank=False, tail=True, track=False, given=given,
            )
        )  # fmt: skip
    return (
        yield from recalling.search(
            quiet, query, mode="hybrid", limit=limit, filter=chosen, profile="default", min_score=0.0, rerank=False,
            expand=None, depth=1, cut="none", per_session=None, good_enough=None, sort="score",
            include_superseded=False, include_consolidated=False, tail=True, track=False, given=given,
        )
    )  # fmt: skip


def _superseded(conn: Connection, reading: Reading, lineage_ids: Sequence[str]) -> tuple[str, ...]:
    visible = tenancy.visible(conn, reading.scope)
    if not lineage_ids or not visible.scope_ids:
        return ()
    rows_of = memories.source(reading.moment) if reading.moment.is_now else memories.LINEAGES_THEN
    sql = statement("list_superseded").replace("/*source*/", rows_of)
    params = {**memories.visible_params(visible, reading.moment), "lineage_ids": list(lineage_ids)}
    rows = conn.exec_driver_sql(sql.replace("/*visible*/", memories.VISIBLE), params)
    return tuple(row.memory_id for row in rows)


def _packed(
    setup: Setup, critical: Sequence[Memory], results: SearchResults, most: int, count: Counter, *, alone: bool = False
) -> ContextBlock:
    """The block of what is pinned and what was found; pinned alone may take all of it."""
    return context.pack(
        Material(critical=critical, relevant=_ranked(results)), max_tokens=most, shares=PACKED, count=count,
        key=setup.fence_key, critical_share=1.0 if alone else context.CRITICAL_SHARE,
        grows=False,
    )  # fmt: skip


def _ranked(results: SearchResults) -> tuple[SearchResult, ...]:
    return context.diverse(one for one in results if "shadowed" not in one.labels)


def missing(terms: Sequence[str], shown: str) -> tuple[str, ...]:
    """The terms that a text does not hold, as whole words of compared text. Pure."""
    there = text.compared(shown)
    return tuple(term for term in terms if not _holds(there, text.compared(term)))


def _holds(there: str, term: str) -> bool:
    if text.is_unspaced(term):
        return term in there
    return re.search(rf"(?<!\w){re.escape(term)}(?!\w)", there) is not None


def _notes(pinned: CriticalMemories, results: SearchResults, kept: Any) -> Iterator[str]:
    left = [memory for memory in pinned.results if memory.memory_id not in kept]
    if left:
        yield f"{len(left)} pinned memories did not fit"
    shadowed = sum("shadowed" in one.labels for one in results)
    if shadowed:
        yield f"{shadowed} found memories are left out: a nearer scope says otherwise"
    if results.weak:
        yield "the search is weak: what it found has little to do with the question"


# The log -------------------------------------------------------------------------------------------------------------


def get_recall(setup: Setup, recall_id: object, given: Mapping[str, Any]) -> Operation[LoggedRecall]:
    """A recall as it was logged, or NotFound."""
    scope, wanted = setup.reading(given).scope, inputs.event_id(recall_id, "recall_id")
    return (yield from steps.read(scope.tenant_id, lambda conn: log.get(conn, tenancy.visible(conn, scope), wanted)))


def list_recalls(
    setup: Setup, *, limit: object, cursor: object, given: Mapping[str, Any]
) -> Operation[Page[LoggedRecall]]:
    """The logged recalls of the readable scopes, newest first."""
    scope, most = setup.reading(given).scope, inputs.limit(limit)
    place = inputs.optional(paging.check_cursor, cursor)

    def work(conn: Connection) -> Page[LoggedRecall]:
        visible = tenancy.visible(conn, scope)
        binding = f"recalls\0{scope.tenant_id}\0{sorted(visible.scope_ids)}"
        before = None if place is None else str(paging.decode_cursor(place, binding, setup.cursor_key)[0])
        rows = log.list_(conn, visible, limit=most + 1, before=before)
        more = len(rows) > most > 0
        end = paging.encode_cursor((rows[most - 1].recall_id,), binding, setup.cursor_key) if more else None
        return Page(tuple(rows[:most]), end)

    return (yield from steps.read(scope.tenant_id, work))


def replay_recall(setup: Setup, recall_id: object, given: Mapping[str, Any]) -> Operation[RecallDiff]:
    """A logged recall beside the same one made again, as of what was known then."""
    reader = setup.reading(given).scope
    row = yield from get_recall(setup, recall_id, given)
    if row.query is None:
        raise NotFound("the question of this recall was erased, or is private: it cannot be asked again")
    scope = replace(row.scope, shared=row.plan.get("shared", True))
    moment = Moment(_time(row.plan.get("as_of")), row.known_at)
    quiet = replace(noting.unlogged(setup), scope=scope, llm=None, session=None)
    words = {name: at for name, at in (("as_of", moment.as_of), ("known_at", moment.known_at)) if at is not None}
    profile = setup.profile()
    notes: list[str] = []
    if row.kind == "build_context":
        again = yield from _context_again(quiet, row, words)
        if row.plan.get("counted") is True:
            notes.append("the caller counted tokens in a way of their own")
    elif row.kind == "recall":
        again = yield from _answer_again(quiet, row, words)
    else:
        asked = recall.prepare(row.query, **log.asked_of(row.plan, setup.policy.profiles))
        again = yield from _search_again(quiet, Reading(scope, moment), row, asked)
        profile = asked.profile
    hidden = yield from steps.read(scope.tenant_id, lambda conn: _hidden(conn, reader, [one for one, _ in again]))
    shown = [(one, score) for one, score in again if one not in hidden]
    return log.compared(row, shown, noting.versions(setup, profile), notes)


def _hidden(conn: Connection, reader: Scope, named: Sequence[str]) -> frozenset[str]:
    """What of a recall that was made again, as its own scope sees it, is not for the reader."""
    return log.hidden_among(conn, tenancy.visible(conn, reader), named) if named else frozenset()


Again = list[tuple[str, float | None]]


def _search_again(setup: Setup, reading: Reading, row: LoggedRecall, asked: Asked) -> Operation[Again]:
    """What a search finds now, by the variants it had then: no model is asked for others."""
    searched = yield from searching.found(setup, reading, asked)
    results = yield from reranking.ranked(setup, searched)
    variants = tuple(row.plan.get("variants", ()))
    # Rows of before the plan told it went deep where there were variants.
    if variants or row.kind == "deep_search" or row.plan.get("deepened"):
        deep = Deep(asked, own=variants, k=row.plan.get("k", ranking.RRF_K))
        results = yield from deepening.deepened(setup, reading, searched, deep)
    return _scores(results)


def _answer_again(setup: Setup, row: LoggedRecall, words: Mapping[str, Any]) -> Operation[Again]:
    """What answers now, by the intent and window the question was read to have then."""
    plan = row.plan
    window = plan.get("window")
    answer = yield from recalling.recall_answer(
        setup, plan.get("question", row.query), intent=plan.get("intent"),
        window=None if window is None else tuple(map(_time, window)), limit=plan["limit"], filter=plan.get("filter"),
        tail=plan.get("tail", True), track=False, beyond=plan.get("beyond", False), given=words,
    )  # fmt: skip
    evidence = dict(_scores(SearchResults(answer.evidence)))
    return [(one, evidence.get(one)) for one in dict.fromkeys((*answer.trace.kept_ids, *evidence))]


def _context_again(setup: Setup, row: LoggedRecall, words: Mapping[str, Any]) -> Operation[Again]:
    """What is printed now, within the budget there was then."""
    plan, counted = row.plan, row.plan.get("counted")
    block = yield from build_context(
        setup, row.query, task_run_id=plan.get("task_run_id"), session_id=plan.get("session_id"),
        max_tokens=plan["max_tokens"], sections=plan["sections"], format=plan["format"], min_trust=plan["min_trust"],
        group_by=plan.get("group_by"), detail=plan.get("detail", "full"), metadata=plan.get("metadata", False),
        strict=False, include_graph=plan.get("include_graph", True),
        token_counter=counted if isinstance(counted, str) else None, given=words,
    )  # fmt: skip
    return [(one, None) for one in dict.fromkeys(block.citations.values())]


def _scores(results: SearchResults) -> Again:
    return [(one.memory.memory_id, one.score) for one in results if one.derived]


def _time(said: str | None) -> datetime | None:
    return None if said is None else datetime.fromisoformat(said)
