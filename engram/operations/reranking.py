"""Asking the reranker about the best of what was found, between two transactions, paid like any other call."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Final

from engram import rerank, spending
from engram.errors import EngramError, InvalidInput, Unavailable
from engram.ids import new_id
from engram.operations import steps
from engram.operations.searching import Searched
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.recall import results
from engram.rerank import Judge, Judged
from engram.spending import Call, Outcome
from engram.values import SearchResults

NO_PROMPT: Final = hashlib.sha256(b"").hexdigest()


def wanted(setup: Setup) -> None:
    """Refuse a search that asks for a reranker where none is configured."""
    if setup.reranker is None:
        told = "a reranker that is configured: set ENGRAM_RERANK_MODEL, or open the door with reranker="
        raise InvalidInput("rerank", told, "none")


def ranked(setup: Setup, searched: Searched) -> Operation[SearchResults]:
    """What a search found, in the reranker's order where it asks for one, and where there is enough to order.

    One that fails, or whose price the day's budget does not hold, leaves the order as it is: `degraded` names it.
    """
    pairs = results.relevant(searched.asked, searched.looked, searched.found)
    return (yield from ordered(setup, searched, pairs))


def ordered(setup: Setup, searched: Searched, pairs: Sequence[results.Pair]) -> Operation[SearchResults]:
    """What was found and scored in one way or another, as `ranked` gives it."""
    asked, found = searched.asked, searched.found
    texts = results.judgeable(asked, pairs) if asked.rerank else []
    if setup.reranker is None or not texts:
        return results.results_of(asked, found, pairs)
    judged = yield from _judged(setup, setup.reranker, searched, texts)
    if judged is not None:
        return results.results_of(asked, found, pairs, judged=judged)
    made = results.results_of(asked, found, pairs)
    return replace(made, degraded=(*made.degraded, rerank.NAME))


def _judged(setup: Setup, judge: Judge, searched: Searched, texts: Sequence[str]) -> Operation[Judged | None]:
    if judge.breaker.is_open:
        return None
    query, tenant = searched.asked.query, searched.looked.tenant_id
    most: Decimal | None = yield from steps.think(lambda: judge.most(query, texts))
    call = None if most is None else _call(judge, searched, most)
    if call is not None:
        try:
            reserve = partial(spending.reserve, call=call, cap=setup.daily_budget)
            if not (yield from steps.write(tenant, reserve, key=call.call_id)):
                return None
        except EngramError:  # what cannot be paid for is not asked: a search needs no more than to read
            return None
    started = time.monotonic()
    judged, failure = yield from steps.think(lambda: _heard(judge, query, texts))
    if call is not None:
        outcome = _outcome(call, judged, failure, time.monotonic() - started)
        with suppress(EngramError):  # then the reservation stands
            yield from steps.write(
                tenant, partial(spending.settle, call=call, done=outcome), key=f"settle:{call.call_id}"
            )
    return judged


def _heard(judge: Judge, query: str, texts: Sequence[str]) -> tuple[Judged | None, Unavailable | None]:
    try:
        return judge.judge(query, texts), None
    except Unavailable as error:
        return None, error


def _call(judge: Judge, searched: Searched, most: Decimal) -> Call:
    call_id = new_id()
    return Call(
        call_id=call_id, component=rerank.NAME, model=judge.name, prompt=rerank.NAME, prompt_version=1,
        prompt_hash=NO_PROMPT, call_key=hashlib.sha256(call_id.encode()).digest(), most=most,
        scope_id=searched.looked.visible.own,
    )  # fmt: skip


def _outcome(call: Call, judged: Judged | None, failure: Unavailable | None, seconds: float) -> Outcome:
    if failure is not None:
        # An answer that makes no sense was paid for, and so, perhaps, was one that broke off; a refusal costs nothing.
        paid = bool(failure.facts.get("sent")) or failure.facts.get("reason") == rerank.BAD_ANSWER
        return Outcome(failure.code, call.most if paid else Decimal(0), seconds, estimated=paid)
    cost = None if judged is None else judged.cost
    if cost is None or not 0 <= cost <= call.most:
        return Outcome("ok", call.most, seconds, estimated=True)
    return Outcome("ok", cost, seconds)
