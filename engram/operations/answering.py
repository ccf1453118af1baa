"""Answering a question: one search for all of its roads, and then one road after the other until one says something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from typing import Final

from engram import intent, recall
from engram.channels import events
from engram.database import Connection
from engram.operations import searching, searching_events, steps
from engram.operations.searching import Searched
from engram.operations.setup import Reading, Setup
from engram.operations.steps import Operation
from engram.recall import Asked, Told
from engram.values import Intent, Memory, RecallAnswer, SearchResults

LEAST_CONSIDERED: Final = 10  # results from which an answer is chosen, however few are shown
Note = Callable[[Connection, Searched, SearchResults, RecallAnswer], None]
"""What is told of an answer, of its first search and of what was found on its road, while its transaction is open."""


@dataclass(frozen=True, slots=True)
class Walked:
    """An answer, the search it was chosen from, and what that search found on the road that answered."""

    answer: RecallAnswer
    searched: Searched | None = None
    results: SearchResults = field(default_factory=lambda: SearchResults(()))


def walked(
    setup: Setup, reading: Reading, question: str, understood: intent.Reading, asked: Asked, *, tz: tzinfo = UTC,
    beyond: bool = False, note: Note | None = None,
) -> Operation[Walked]:  # fmt: skip
    """The first road of a question's intent that leads somewhere.

    One call of the model and one statement find what every road is walked over, and in the same transaction the roads
    read what else they need; where one leads there, the ledger is searched too, in one transaction for all roads.
    `asked` is the search of the question's topic, and its limit that of the evidence shown; `tz` is the zone of the
    dates that are told. `beyond` lets the evidence go on with what was said at another time than the question names;
    that never answers.
    """
    roads = recall.roads(understood)
    if not roads:
        return Walked(recall.empty_answer(question, understood))
    shown = asked.limit
    wider = beyond and recall.goes_on(understood, reading.moment)
    plan = recall.plan(replace(asked, limit=max(shown, LEAST_CONSIDERED)), understood, reading.moment, wider=wider)
    bounded = recall.is_bounded(understood, reading.moment)

    def along(conn: Connection, found: list[Searched]) -> _Walked:
        known: dict[str, Memory] = {}
        anytime = found[-1].returned(conn, known=known) if bounded else None
        walk = _Walk(question, understood, found[:-1] if bounded else found, anytime, tz, known, beyond)
        walked = walk.along(conn, roads, reading)
        trace = replace(walked.answer.trace, notes=tuple(walked.notes))
        answer = replace(walked.answer, evidence=recall.with_told(walked.answer, shown), trace=trace)
        if note is not None and not wider:
            note(conn, found[0], walked.results, answer)
        return replace(walked, answer=answer)

    # The ledger is searched with time of its own; what the other roads read is little.
    apart = "event" in roads
    found, said = yield from searching.found_and(setup, reading, plan, _nothing if apart else along, light=True)
    if said is None:
        said = yield from steps.read(reading.scope.tenant_id, lambda conn: along(conn, found))
    if said.asks:
        yield from searching_events.ask(reading.scope.tenant_id, found[0].looked.visible.scope_ids)
    answer = said.answer
    if wider:
        most = max(shown, recall.LOOKED_AT)
        worded, anytime = (replace(recall.on_road(one.asked, "current"), limit=most) for one in found[-2:])
        later = yield from searching.shown(found[-1], anytime)
        told = yield from searching.shown(found[-2], worded)
        answer = replace(answer, evidence=recall.gone_on(answer.evidence, later, told, understood, shown))
    return Walked(answer, found[0], said.results)


def _nothing(_conn: Connection, _found: list[Searched]) -> _Walked | None:
    return None


@dataclass(frozen=True, slots=True)
class _Walked:
    """What the last road said, what the search found on it, the notes of all, and whether events want an index."""

    answer: RecallAnswer
    results: SearchResults
    notes: Sequence[str]
    asks: bool


@dataclass(frozen=True, slots=True)
class _Walk:
    """A question, the searches that were made for it, and what is known of it at any time, where it asks for one."""

    question: str
    understood: intent.Reading
    found: list[Searched]
    anytime: SearchResults | None
    tz: tzinfo
    known: dict[str, Memory]
    beyond: bool  # the time is the question's own, and no bound that the caller set

    def along(self, conn: Connection, roads: Sequence[Intent], reading: Reading) -> _Walked:
        """One road after the other until one says something; where none does, what is known of another time."""
        tried: list[Intent] = []
        notes = list(self.understood.notes)
        told, results, asks = Told(recall.empty_answer(self.question, self.understood)), SearchResults(()), False
        for road in roads:
            results = self.on(conn, road)
            told = self.down(conn, road, results, tuple(tried))
            asks = asks or told.waiting > events.MOST_WAITING or told.unread
            notes += [note for note in told.answer.trace.notes if note not in notes]
            tried.append(road)
            if told.answer.found:
                break
        if not told.answer.found and recall.names_what_came(self.understood):
            changed = self.on(conn, "current", 1)
            what_came = self.down(conn, "current", changed, tuple(tried))
            if recall.tells_of_a_change(what_came.answer):
                told, results = what_came, changed
        answer = told.answer
        if self.anytime is not None and not answer.found:
            answer, unknown = self.elsewhen(conn, reading, answer)
            notes += unknown
        return _Walked(answer, results, notes, asks)

    def on(self, conn: Connection, road: Intent, place: int = 0) -> SearchResults:
        """What one of the searches found, as a road ranks it; what an earlier road was shown is there already."""
        searched = self.found[place]
        return searched.returned(conn, recall.on_road(searched.asked, road), self.known)

    def down(self, conn: Connection, road: Intent, results: SearchResults, tried: tuple[Intent, ...]) -> Told:
        """What a road says."""
        first = self.found[0]
        if road == "event":
            return recall.of_events(
                conn, self.question, first.looked, first.meaning, self.understood, first.asked, results, tried=tried,
                tz=self.tz,
            )  # fmt: skip
        if road == "temporal_chain":
            each = [self.on(conn, road, place) for place in range(len(self.found))]
            return Told(recall.of_order(self.question, self.understood, each, tried=tried, tz=self.tz))
        return Told(
            recall.answer(
                conn, self.question, first.looked, self.understood, road, results, tried=tried,
                least=0.0 if self.anytime is None else recall.least_of(self.anytime, self.question),
                only=first.asked.filter, tz=self.tz,
            )
        )  # fmt: skip

    def elsewhen(self, conn: Connection, reading: Reading, empty: RecallAnswer) -> tuple[RecallAnswer, list[str]]:
        """What held at the time that was asked for by what is known of any, or else what is known of another; notes."""
        assert self.anytime is not None
        first, moment, only = self.found[0], reading.moment, self.found[0].asked.filter
        near = recall.nearest(self.anytime, self.question)
        looked = replace(first.looked, moment=recall.any_time(moment))
        answer = recall.held(
            conn, looked, self.understood, self.anytime, near, moment, empty, words=self.beyond, only=only, tz=self.tz
        )
        if answer.found:
            return answer, [note for note in answer.trace.notes if note not in empty.trace.notes]
        near = near or recall.of_its_key(conn, looked, self.understood, self.question, self.anytime, only)
        return empty, recall.unknown(conn, looked, self.understood, near, moment, only=only)
