"""Finding by meaning: search, recall, and the context a model is given to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engram import filters, inputs, ranking, recall
from engram.database import Connection
from engram.operations import answering, composing, deepening, noting, reranking, searching, understanding
from engram.operations.assembling import build_context
from engram.operations.reading import chosen_filter, named, with_whole_ids
from engram.operations.searching import Searched
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.values import MODES, RecallAnswer, SearchResults

__all__ = ["build_context", "deep_search", "recall_answer", "search"]


def search(
    setup: Setup, query: object, *, mode: object, limit: object, filter: object, profile: object, min_score: object,
    rerank: object, expand: object, depth: object, cut: object, per_session: object, good_enough: object, sort: object,
    include_superseded: object, include_consolidated: object, tail: object, track: object, given: Mapping[str, Any],
) -> Operation[SearchResults]:  # fmt: skip
    """The memories that answer a query best."""
    reading = setup.reading(given)
    wider = inputs.optional(inputs.flag, expand, "expand")
    asked = recall.prepare(
        setup.query(query), mode=inputs.choice(mode, "mode", MODES), limit=inputs.limit(limit),
        filter=chosen_filter(filter), profile=setup.profile(profile), min_score=inputs.number(min_score, "min_score"),
        rerank=inputs.flag(rerank, "rerank"), cut=inputs.choice(cut, "cut", ranking.CUTS),
        per_session=inputs.optional(inputs.whole, per_session, "per_session", 1),
        good_enough=inputs.optional(inputs.number, good_enough, "good_enough"),
        sort=inputs.choice(sort, "sort", ranking.SORTS), depth=inputs.whole(depth, "depth", 0, 3),
        include_superseded=inputs.flag(include_superseded, "include_superseded"), tail=inputs.flag(tail, "tail"),
        include_consolidated=inputs.flag(include_consolidated, "include_consolidated"),
    )  # fmt: skip
    if asked.rerank:
        reranking.wanted(setup)
    asked = yield from named(reading, asked)
    counted = inputs.flag(track, "track") and reading.moment.is_now
    started = noting.clock()
    if asked.rerank:  # the reranker is shown the texts of far more than are returned
        searched = yield from searching.found(setup, reading, asked)
        results = yield from reranking.ranked(setup, searched)
    else:
        beside = noting.Beside(setup, reading, started, counted)
        searched, results = yield from searching.ranked(
            setup, reading, asked,
            lambda conn, searched, pairs: beside.search(
                conn, searched, pairs, lambda asked, best: deepening.is_enough(asked, best, wider)
            ),
        )  # fmt: skip
        if beside.is_told:
            return replace(results, recall_id=beside.logged)
    plain = results
    if not recall.is_good_enough(searched.asked, searched.looked, searched.found):
        results = yield from deepening.expanded(setup, reading, searched, plain, wider)
    plan = {} if results is plain else {"deepened": True}
    return (yield from noting.search(setup, reading, searched, results, started=started, counted=counted, plan=plan))


def deep_search(
    setup: Setup, query: object, *, n_queries: object, queries: object, k: object, limit: object, filter: object,
    profile: object, rerank: object, tail: object, track: object, given: Mapping[str, Any],
) -> Operation[SearchResults]:  # fmt: skip
    """The memories that several ways to ask a question find together."""
    reading = setup.reading(given)
    deep = deepening.wanted(
        setup, query, n_queries=n_queries, queries=queries, k=k, limit=limit, filter=filter, profile=profile,
        rerank=rerank, tail=tail,
    )  # fmt: skip
    counted = inputs.flag(track, "track") and reading.moment.is_now
    deep = replace(deep, asked=(yield from named(reading, deep.asked)))
    started = noting.clock()
    searched = yield from searching.found(setup, reading, deep.asked, light=not deep.asked.rerank)
    results = yield from deepening.deepened(setup, reading, searched, deep)
    plan = {"n_queries": deep.most, "queries": deep.own, "k": deep.k, "variants": results.variants}
    return (
        yield from noting.search(
            setup, reading, searched, results, started=started, counted=counted, kind="deep_search", plan=plan
        )
    )


def recall_answer(
    setup: Setup, question: object, *, intent: object = None, window: object = None, now: object = None,
    tz: object = None, limit: object, filter: object, compose: object = False, session_id: object = None,
    tail: object, track: object, beyond: bool | None = None, given: Mapping[str, Any],
) -> Operation[RecallAnswer]:  # fmt: skip
    """The answer to a question: the first road of its intent that finds something.

    Its evidence may go `beyond` the window, unless the caller named it.
    """
    reading = setup.reading(given)
    wanted = understanding.wanted(
        setup, question, intent_=intent, window=window, now=now, tz=tz, session_id=session_id
    )  # fmt: skip
    shown, checked = inputs.limit(limit), chosen_filter(filter)
    worded = inputs.flag(compose, "compose")
    waiting, counted = inputs.flag(tail, "tail"), inputs.flag(track, "track") and reading.moment.is_now
    chosen = yield from with_whole_ids(reading, checked)
    started, watch = noting.clock(), noting.Watch()
    with watch.on("understanding"):
        understood = yield from understanding.read(setup, reading, wanted)
    asked = recall.prepare(
        understood.searched or understood.question or wanted.question, limit=shown, filter=chosen,
        profile=setup.profile(), tail=waiting, keep_pinned=True,
    )  # fmt: skip
    wider = beyond if beyond is not None else not wanted.windowed
    plan = {
        "limit": shown, "filter": filters.to_dict(chosen), "tail": waiting, "intent": understood.intent,
        **({"question": understood.question} if understood.question != wanted.question else {}),
        "window": None if understood.window is None else [at and at.isoformat() for at in understood.window],
        "beyond": wider,
    }  # fmt: skip
    beside = noting.Beside(setup, reading, started, counted)

    def note(conn: Connection, searched: Searched, results: SearchResults, answer: RecallAnswer) -> None:
        if not worded or not answer.found:
            beside.answer(conn, searched, results, answer, plan)

    completed = understood.question or wanted.question  # what only points back is answered as what it is completed to
    with watch.on("search"):
        walked = yield from answering.walked(
            setup, reading, completed, understood, asked, tz=wanted.zone, beyond=wider, note=note
        )
    answer = walked.answer
    if beside.is_told:
        return noting.told(setup, answer, beside.logged, watch)
    if worded and answer.found:
        with watch.on("composing"):
            answer = yield from composing.composed(setup, reading, answer)
    recall_id = yield from noting.answer(
        setup, reading, walked.searched, walked.results, answer, started=started, counted=counted, plan=plan
    )
    return noting.told(setup, answer, recall_id, watch)
