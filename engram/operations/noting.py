"""Noting: what follows a recall once its answer is ready: counting what was returned, and a row of the log.

Both are best effort and one transaction: a read never fails, and never waits longer, because of what it leaves behind.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import metadata
from typing import Any, Final

from engram import recall
from engram.database import Connection, Sent, ending
from engram.errors import EngramError
from engram.ids import new_id
from engram.operations import steps
from engram.operations.searching import Searched
from engram.operations.setup import Reading, Setup
from engram.operations.steps import Operation
from engram.ranking import AnyProfile
from engram.recall import Asked, log
from engram.recall.log import Entry
from engram.recall.results import Pair
from engram.values import ContextBlock, RecallAnswer, SearchResults

NO_MODEL: Final = "none"


def clock() -> float:
    """When a recall began."""
    return time.perf_counter()


def _since(started: float) -> float:
    return round(1000 * (clock() - started), 3)


@dataclass(slots=True)
class Watch:
    """Milliseconds by phase."""

    timings: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def on(self, phase: str) -> Iterator[None]:
        """Count what is done meanwhile to a phase."""
        started = clock()
        yield
        self.timings[phase] = 1000 * (clock() - started)


def unlogged(setup: Setup) -> Setup:
    """The same setup for a recall that leaves no row: one that only looks at another."""
    return replace(setup, settings=setup.settings.model_copy(update={"recall_log": "off"}))


def versions(setup: Setup, profile: AnyProfile) -> dict[str, str]:
    """What ranks the results of a search, by name and version."""
    told = {
        "engram": _release(),
        "embedding_model": NO_MODEL if setup.embedder is None else setup.embedder.name,
        "profile": log.profile_version(profile),
        "policy": f"{setup.policy.name}@{setup.policy.version}",
    }
    return told if setup.reranker is None else told | {"reranker": setup.reranker.name}


@cache
def _release() -> str:
    try:
        return metadata.version("engram")
    except metadata.PackageNotFoundError:
        return "unknown"


@dataclass(slots=True)
class Beside:
    """The note of a recall, in the message that ends the transaction of its last read.

    Where there is no such message, it is noted when its answer is ready.
    """

    setup: Setup
    reading: Reading
    started: float
    counted: bool
    sent: Sent | None = None
    recall_id: str = field(default_factory=new_id)

    def search(
        self, conn: Connection, searched: Searched, pairs: Sequence[Pair], is_final: Callable[[Asked, float], bool]
    ) -> None:
        """Send it for the rows of a search, where these are the answer: `is_final` says so by the best relevance."""
        setup, asked, self.sent = self.setup, searched.asked, None
        best = max([scores.shown_relevance for _, scores in pairs], default=0.0)
        if not _is_logged(setup, self.recall_id) or not is_final(asked, best):
            return
        entry = _entry(
            setup, self.reading, searched, self.recall_id, "search", {},
            found=log.lines_of(pairs, searched.found.candidates, full=_is_full(setup)),
            chosen=[one.memory.memory_id for one, _ in pairs], degraded=searched.found.degraded, started=self.started,
        )  # fmt: skip
        self.sent = log.add_after(conn, entry, accessed=recall.touched(pairs) if self.counted else ())

    def answer(
        self, conn: Connection, searched: Searched, results: SearchResults, given: RecallAnswer, plan: Mapping[str, Any]
    ) -> None:
        """Send it for the answer to a question."""
        self.sent = None
        if _is_logged(self.setup, self.recall_id):
            entry = _answered(
                self.setup, self.reading, searched, self.recall_id, given, started=self.started, plan=plan
            )
            self.sent = log.add_after(conn, entry, accessed=_touched(results, given) if self.counted else ())

    @property
    def is_told(self) -> bool:
        """Whether it was sent, whatever became of it."""
        return self.sent is not None and self.sent.is_tried

    @property
    def logged(self) -> str | None:
        """The id of the row, where it was written."""
        return self.recall_id if self.sent is not None and self.sent.done else None


def search(
    setup: Setup,
    reading: Reading,
    searched: Searched,
    results: SearchResults,
    *,
    started: float,
    counted: bool,
    kind: str = "search",
    plan: Mapping[str, Any] | None = None,
) -> Operation[SearchResults]:
    """The results of a search, with the id of the row that was logged of it."""
    more = {**({"variants": list(results.variants)} if results.variants else {}), **(plan or {})}

    def entry(recall_id: str) -> Entry:
        return _entry(
            setup, reading, searched, recall_id, kind, more, found=_found(setup, results, searched),
            chosen=_ids(results), degraded=results.degraded, started=started,
        )  # fmt: skip

    recall_id = yield from _noted(setup, reading, recall.accessed(results) if counted else (), entry)
    return replace(results, recall_id=recall_id)


def _entry(
    setup: Setup, reading: Reading, searched: Searched, recall_id: str, kind: str, more: Mapping[str, Any], *,
    found: Sequence[Mapping[str, Any]], chosen: Sequence[str], degraded: Sequence[str], started: float,
) -> Entry:  # fmt: skip
    asked = searched.asked
    return Entry(
        recall_id, kind, asked.query, reading.scope, searched.looked.visible, _known_at(reading, searched),
        plan=_plan(reading, {**log.plan_of(asked), **more}), found=found, chosen=chosen, degraded=degraded,
        versions=versions(setup, asked.profile), milliseconds=_since(started),
    )  # fmt: skip


def answer(
    setup: Setup,
    reading: Reading,
    searched: Searched | None,
    results: SearchResults,
    given: RecallAnswer,
    *,
    started: float,
    counted: bool,
    plan: Mapping[str, Any],
) -> Operation[str | None]:
    """Note the answer to a question; the id of the row that was logged of it.

    `results` is what it was chosen from, `plan` the arguments of the call beside the question.
    """

    def entry(recall_id: str) -> Entry:
        return _answered(setup, reading, searched, recall_id, given, started=started, plan=plan)

    return (yield from _noted(setup, reading, _touched(results, given) if counted else (), entry))


def told(setup: Setup, given: RecallAnswer, recall_id: str | None, watch: Watch) -> RecallAnswer:
    """An answer that names its row in the log, and in its trace what ranked it and where the time went."""
    trace = replace(
        given.trace, recall_id=recall_id, versions=versions(setup, setup.profile()), timings_ms=watch.timings
    )
    return replace(given, recall_id=recall_id, trace=trace)


def _answered(
    setup: Setup, reading: Reading, searched: Searched | None, recall_id: str, given: RecallAnswer, *, started: float,
    plan: Mapping[str, Any],
) -> Entry:  # fmt: skip
    return Entry(
        recall_id, "recall", given.trace.query, reading.scope,
        None if searched is None else searched.looked.visible, _known_at(reading, searched),
        plan=_plan(reading, plan), found=_found(setup, SearchResults(given.evidence), searched),
        chosen=given.trace.kept_ids, intent=given.intent, degraded=given.degraded,
        versions=versions(setup, setup.profile()), milliseconds=_since(started),
    )  # fmt: skip


def _touched(results: SearchResults, given: RecallAnswer) -> Sequence[str]:
    return recall.accessed(results) if given.found else ()


def context(
    setup: Setup,
    reading: Reading,
    searched: Searched | None,
    results: SearchResults,
    block: ContextBlock,
    *,
    started: float,
    plan: Mapping[str, Any],
) -> Operation[ContextBlock]:
    """A context, with the id of the row that was logged of it; nothing is counted as returned."""

    def entry(recall_id: str) -> Entry:
        return Entry(
            recall_id, "build_context", "" if block.trace is None else block.trace.query, reading.scope,
            None if searched is None else searched.looked.visible, _known_at(reading, searched),
            plan=_plan(reading, plan), found=_found(setup, results, searched),
            chosen=tuple(dict.fromkeys(block.citations.values())), degraded=results.degraded,
            versions=versions(setup, setup.profile()), tokens=block.tokens, milliseconds=_since(started),
        )  # fmt: skip

    recall_id = yield from _noted(setup, reading, (), entry)
    trace = None if block.trace is None else replace(block.trace, recall_id=recall_id)
    return replace(block, recall_id=recall_id, trace=trace)


def _noted(
    setup: Setup, reading: Reading, touched: Sequence[str], entry: Callable[[str], Entry]
) -> Operation[str | None]:
    """Count what was returned and write the row, where there is one to write; its id, where it was written."""
    recall_id = new_id()
    row = entry(recall_id) if _is_logged(setup, recall_id) else None
    if row is None and not touched:
        return None
    tenant = reading.scope.tenant_id

    def work(conn: Connection) -> None:
        if row is None:
            recall.track(ending(conn), tenant, touched)
        else:
            log.add(conn, row, kept=setup.settings.recall_log_kept, accessed=touched)

    try:
        yield from steps.write(tenant, work, key=recall_id)
    except EngramError:
        return None
    return None if row is None else recall_id


def _is_logged(setup: Setup, recall_id: str) -> bool:
    return setup.settings.recall_log != "off" and log.is_sampled(recall_id, setup.settings.recall_log_sample)


def _is_full(setup: Setup) -> bool:
    return setup.settings.recall_log == "full"


def _plan(reading: Reading, plan: Mapping[str, Any]) -> dict[str, Any]:
    moments = {"as_of": reading.moment.as_of, "known_at": reading.moment.known_at}
    told = {name: at.isoformat() for name, at in moments.items() if at is not None}
    return {**plan, **told, **({} if reading.scope.shared else {"shared": False})}


def _known_at(reading: Reading, searched: Searched | None) -> Any:
    """What was known by then is what was read; None: by when the row is written."""
    moment = reading.moment
    if moment.known_at is not None:
        return moment.known_at
    return searched.looked.now if searched is not None and moment.as_of is None else None


def _found(setup: Setup, results: SearchResults, searched: Searched | None) -> list[dict[str, Any]]:
    return log.lines(results, () if searched is None else searched.found.candidates, full=_is_full(setup))


def _ids(results: SearchResults) -> tuple[str, ...]:
    return tuple(one.memory.memory_id for one in results)
