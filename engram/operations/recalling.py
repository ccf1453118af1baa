"""Finding by meaning: search, recall, and the context a model is given to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from engram import inputs, intent, ranking, recall
from engram.database import Connection
from engram.errors import EngramError
from engram.operations import reranking, searching, steps
from engram.operations.assembling import build_context
from engram.operations.reading import chosen_filter
from engram.operations.setup import Reading, Setup
from engram.operations.steps import Operation
from engram.recall import Looked
from engram.values import MODES, RecallAnswer, SearchResults

__all__ = ["build_context", "recall_answer", "search"]

LEAST_CONSIDERED: Final = 10  # results from which an answer is chosen, however few are shown


def search(
    setup: Setup, query: object, *, mode: object, limit: object, filter: object, profile: object, min_score: object,
    rerank: object, cut: object, per_session: object, good_enough: object, sort: object, include_superseded: object,
    tail: object, track: object, given: Mapping[str, Any],
) -> Operation[SearchResults]:  # fmt: skip
    """The memories that answer a query best."""
    reading = setup.reading(given)
    asked = recall.prepare(
        inputs.query(query), mode=inputs.choice(mode, "mode", MODES), limit=inputs.limit(limit),
        filter=chosen_filter(filter), profile=setup.profile(profile), min_score=inputs.number(min_score, "min_score"),
        rerank=inputs.flag(rerank, "rerank"), cut=inputs.choice(cut, "cut", ranking.CUTS),
        per_session=inputs.optional(inputs.whole, per_session, "per_session", 1),
        good_enough=inputs.optional(inputs.number, good_enough, "good_enough"),
        sort=inputs.choice(sort, "sort", ranking.SORTS),
        include_superseded=inputs.flag(include_superseded, "include_superseded"), tail=inputs.flag(tail, "tail"),
    )  # fmt: skip
    if asked.rerank:
        reranking.wanted(setup)
    counted = inputs.flag(track, "track") and reading.moment.is_now
    results = yield from reranking.ranked(setup, (yield from searching.found(setup, reading, asked)))
    if counted:
        yield from _track(reading, results)
    return results


def recall_answer(
    setup: Setup,
    question: object,
    *,
    limit: object,
    filter: object,
    tail: object,
    track: object,
    given: Mapping[str, Any],
) -> Operation[RecallAnswer]:
    """The answer to a question: the first road of its intent that finds something."""
    reading = setup.reading(given)
    text = inputs.query(question, "question")
    understood = intent.read(text)
    shown = inputs.limit(limit)
    asked = recall.prepare(
        text, limit=max(shown, LEAST_CONSIDERED), filter=chosen_filter(filter), profile=setup.profile(),
        tail=inputs.flag(tail, "tail"), keep_pinned=True,
    )  # fmt: skip
    counted = inputs.flag(track, "track") and reading.moment.is_now
    answer = recall.empty_answer(text, understood)
    tried: list[Any] = []
    roads = recall.roads(understood)
    # What was superseded is found beside what is current, so that every road is walked over what was found once.
    wide = recall.on_road(replace(asked, include_superseded=True), "historical", understood)
    if not roads:
        return answer
    searched = yield from searching.found(setup, reading, wide)
    for road in roads:
        results = searched.ranked(recall.on_road(asked, road, understood))

        def work(
            conn: Connection, road: Any = road, results: SearchResults = results, looked: Looked = searched.looked
        ) -> RecallAnswer:
            return recall.answer(conn, text, looked, understood, road, results, tried=tuple(tried))

        answer = yield from steps.read(reading.scope.tenant_id, work)
        answer = replace(answer, evidence=answer.evidence[:shown])
        if answer.found:
            if counted:
                yield from _track(reading, results)
            break
        tried.append(road)
    return answer


def _track(reading: Reading, results: SearchResults) -> Operation[None]:
    """Count what was returned, best effort: a read never fails because a counter could not be moved."""
    touched = recall.accessed(results)
    if not touched:
        return
    try:
        yield from steps.write(
            reading.scope.tenant_id, lambda conn: recall.track(conn, reading.scope.tenant_id, touched), key="track"
        )
    except EngramError:
        return
