"""Batches: drafts judged in their order and written together, with the effect that one after the other would have.

What the gates need is read once for many drafts, and what goes along with each other is written in one go: new facts,
restatements, and the next revisions of lineages, one of each. A draft that names or negates a row, or is not head of
its lineage at once, is written by itself, after those before it; where that changed what the others were judged by, or
a draft is about what an earlier one has said, the rest is looked at again.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from engram import gates, text, writing
from engram.arrays import Texts
from engram.channels import nearness
from engram.channels.nearness import Nearest
from engram.database import fetch_all
from engram.lineage import Place
from engram.values import trust_rank
from engram.writing import Desk, Draft, Front, Judged, Origin, Quiet, Seen, Settled

NEAR_KEPT: Final = 8  # neighbours a judgement names
NEAR_READ: Final = (10, 24, nearness.NEAREST)  # of the nearest rows of a draft, till enough of them are facts
STORED: Final = ("add", "revise")
LEAST: Final = 8  # drafts looked at again at least
MOST: Final = 128  # drafts judged without a word to the database, which breaks off who is silent for long

Amend = Callable[[Judged], Judged]
Appoint = Callable[[Sequence[tuple[int, Judged]]], list[Origin]]
"""What appends the events of drafts, by their places, once it is known what becomes of them."""


def write_all(desk: Desk, drafts: Sequence[tuple[Draft, Origin]]) -> list[Settled]:
    """Judge and write drafts whose events are there already, in order: later ones see what earlier ones left."""
    settled = settle_all(desk, drafts)
    writing.index(desk, settled)
    return settled


def write_desks(several: Sequence[tuple[Desk, Sequence[tuple[Draft, Origin]]]]) -> None:
    """The same at several desks of one tenant and transaction, each of another scope; their words are indexed together.

    Where a fact has no vector the words say what is near: then those of one scope may be looked for by the next.
    """
    settled = []
    for desk, drafts in several:
        settled.append((desk, settle_all(desk, drafts)))
        if not all(draft.is_evidence or writing.is_compared(desk, draft) for draft, _ in drafts):
            writing.index_all(settled)
            settled.clear()
    if settled:
        writing.index_all(settled)


def settle_all(desk: Desk, drafts: Sequence[tuple[Draft, Origin]]) -> list[Settled]:
    """The same without the text index: `writing.index` must follow in the same transaction. Evidence comes first."""
    plain = [pair for pair in drafts if pair[0].is_evidence and pair[0].refused is None]
    facts = [pair for pair in drafts if not (pair[0].is_evidence and pair[0].refused is None)]
    return settle_in_order(desk, plain) + settle_in_order(desk, facts)


def settle_in_order(
    desk: Desk, drafts: Sequence[tuple[Draft, Origin]], *, amend: Amend | None = None, appoint: Appoint | None = None
) -> list[Settled]:
    """Judge and write drafts in their order, without the text index.

    With `appoint` their events are appended once they are judged, and the origins given say only their ids and trust;
    expiry is then judged by the clock, else by when each event was recorded. `amend` has the last word on a judgement.
    """
    batch = _Batch(desk, drafts, amend, appoint)
    if len(drafts) == 1:
        return [batch.only()]
    settled: list[Settled] = []
    while len(settled) < len(drafts):
        settled += batch.go_on(len(settled))
    return settled


class _Batch:
    """The drafts of one call, and what of them is written by now."""

    def __init__(
        self, desk: Desk, drafts: Sequence[tuple[Draft, Origin]], amend: Amend | None, appoint: Appoint | None
    ) -> None:
        self.desk, self.drafts, self.amend, self.appoint = desk, list(drafts), amend, appoint
        self.size = MOST
        self.standing: list[int] = []  # places of the drafts whose vectors stand in the scope
        self.unindexed: list[Settled] = []  # what words do not find yet
        self.rows: dict[str, _Row | None] = {}  # what was read of rows near the drafts; None of what is not current
        self.clock: datetime | None = None  # when the last of them were read
        self._neighbourhood: _Neighbourhood | None = None

    @property
    def neighbourhood(self) -> _Neighbourhood:
        """The rows near each draft; they are looked for when the first draft asks."""
        if self._neighbourhood is None:
            self._neighbourhood = _Neighbourhood(self)
        return self._neighbourhood

    def now(self, place: int) -> datetime | None:
        """When expiry is judged for a draft; None is the clock."""
        return self.drafts[place][1].recorded_at if self.appoint is None else None

    def memory_id(self, place: int) -> str:
        """The id a draft gets when it becomes a memory."""
        return self.desk.name(*self.drafts[place])[0]

    def is_compared(self, place: int) -> bool:
        """Whether a draft is compared with its neighbours by its vector."""
        draft = self.drafts[place][0]
        plain = draft.refused is not None or draft.is_evidence or draft.revises is not None
        return not plain and writing.is_compared(self.desk, draft)

    def reads_words(self, place: int) -> bool:
        """Whether a draft is compared by its words, so that what was said before it must be found by them."""
        draft = self.drafts[place][0]
        alone = writing.is_plain(draft) and draft.succeeds is None
        return not alone and not writing.is_compared(self.desk, draft)

    def only(self) -> Settled:
        """Judge and write the only draft."""
        draft, origin = self.drafts[0]
        judged = writing.judge(self.desk, draft, origin.trust, self.now(0))
        return self._alone(0, judged if self.amend is None else self.amend(judged))

    def go_on(self, first: int) -> list[Settled]:
        """Judge and write from a place on, as far as one look goes: none only where the first has to be seen anew."""
        window = _Window(self, range(first, min(len(self.drafts), first + self.size)))
        run: list[tuple[int, Judged]] = []
        restated: set[str | None] = set()  # by the run
        done: list[Settled] = []
        for place in window.places:
            if window.is_stale(place):
                break
            if run and self.reads_words(place):
                done += self._together(run, window)
                run, restated = [], set()
            near = self._near(window, place)
            if self._turns(window, place, near) and window.is_stale(place):
                break
            if window.reads_rows(place) and (restated or any(writing.follows(judged) for _, judged in run)):
                done += self._together(run, window)
                run, restated = [], set()
            judged = self._judged(window, place, near)
            if judged is None:
                break
            target_id = judged.judgement.target_id
            if judged.kind == "reinforce" and (target_id in restated or self._becomes(run, target_id)):
                done += self._together(run, window)
                run, restated = [], set()
            if writing.goes_along(judged) or window.is_quiet(place, judged) or window.leads(place, judged):
                run.append((place, judged))
                if judged.kind == "reinforce":
                    restated.add(target_id)
                window.follow(place, judged)
                continue
            done += self._together(run, window)
            run, restated = [], set()
            alone = self._alone(place, judged)
            done.append(alone)
            self._forget(alone.moved)
            if alone.stirred or judged.kind != "reinforce":
                break
            window.touched.add(judged.judgement.target_id)
        done += self._together(run, window)
        self._forget([*window.touched, *window.followed])
        self.size = min(MOST, max(LEAST, 2 * len(done)))
        return done

    def _forget(self, changed: Iterable[str | None] | None) -> None:
        """Let rows be read again that may not be what they were; None says that it may be any."""
        if changed is None:
            self.rows.clear()
            return
        for memory_id in changed:
            self.rows.pop(memory_id or "", None)

    def _near(self, window: _Window, place: int) -> Sequence[gates.Near] | None:
        """The facts near a draft; None of one that is judged without them."""
        return None if writing.is_plain(self.drafts[place][0]) else self._look_near(window, place)

    def _look_near(self, window: _Window, place: int) -> Sequence[gates.Near]:
        return window.near(place) if self.is_compared(place) else self._near_by_words(place)

    def _turns(self, window: _Window, place: int, near: Sequence[gates.Near] | None) -> bool:
        """Whether a draft says the opposite of a memory near it: from then on it is one that takes its place."""
        if near is None:
            return False
        draft, origin = self.drafts[place]
        turned = writing.turning(draft, window.seen(place), near)
        self.drafts[place] = turned, origin
        return turned is not draft

    def _judged(self, window: _Window, place: int, near: Sequence[gates.Near] | None) -> Judged | None:
        """What becomes of a draft; None of one that says that something is over which is gone: it is looked at anew."""
        draft, origin = self.drafts[place]
        judged = writing.judged_plainly(self.desk, draft)
        if judged is None:
            own = writing.alone(draft)
            if near is None and own is not draft:
                self.drafts[place] = own, origin
                return None
            near = self._look_near(window, place) if near is None else near
            judged = writing.judged_by(self.desk, draft, origin.trust, window.seen(place), near)
        return writing.rejoined(self.desk, judged if self.amend is None else self.amend(judged), origin)

    def _near_by_words(self, place: int) -> list[gates.Near]:
        if self.unindexed:
            writing.index_words(self.desk, self.unindexed)
            self.unindexed = []
        return writing.neighbours(self.desk, self.drafts[place][0], self.now(place))

    def _together(self, run: Sequence[tuple[int, Judged]], window: _Window) -> list[Settled]:
        if not run:
            return []
        pairs = [(judged, origin) for (_, judged), origin in zip(run, self._origins(run), strict=True)]
        settled = writing.settle_together(self.desk, pairs, window.fronts)
        self.unindexed += settled
        return settled

    def _alone(self, place: int, judged: Judged) -> Settled:
        [origin] = self._origins([(place, judged)])
        settled = writing.settle(self.desk, judged, origin)
        self.unindexed.append(settled)
        if settled.entry is not None:
            self.stand(place)
        return settled

    def _becomes(self, run: Sequence[tuple[int, Judged]], memory_id: str | None) -> bool:
        """Whether one of some drafts becomes a memory."""
        return any(judged.kind in STORED and self.memory_id(place) == memory_id for place, judged in run)

    def _origins(self, run: Sequence[tuple[int, Judged]]) -> list[Origin]:
        return [self.drafts[place][1] for place, _ in run] if self.appoint is None else self.appoint(run)

    def stand(self, place: int) -> None:
        """Say that the vector of a draft stands in the scope from now on."""
        if writing.is_compared(self.desk, self.drafts[place][0]):
            self.standing.append(place)
            if self._neighbourhood is not None:
                self._neighbourhood.stand(place)


class _Neighbourhood:
    """The rows nearest each draft: those that were there, and the drafts of the batch that have been written since."""

    def __init__(self, batch: _Batch) -> None:
        import numpy as np

        self.batch = batch
        desk, drafts = batch.desk, batch.drafts
        self.ids = [batch.memory_id(place) for place in range(len(drafts))]
        compared = [place for place in range(len(drafts)) if batch.is_compared(place)]
        vectors = [drafts[place][0].vector for place in compared]
        self.scopes = [desk.scope_id]
        if desk.policy.write_mode == "report":
            self.scopes += writing.default_scopes(desk)
        model_id = desk.model_id
        assert model_id is not None
        self.tops: dict[tuple[int, int], Nearest] = {}
        for scope_id in self.scopes:
            found = nearness.nearest(desk.conn, desk.tenant_id, scope_id, model_id, vectors)
            self.tops |= {(place, scope_id): top for place, top in zip(compared, found, strict=True)}
        held = [place for place in range(len(drafts)) if writing.is_compared(desk, drafts[place][0])]
        self.row_of = {place: row for row, place in enumerate(held)}
        self.alike = nearness.cosines([drafts[place][0].vector for place in held])
        self._held, self._stands = held, np.zeros(len(held), dtype=bool)
        for place in batch.standing:
            self.stand(place)

    def stand(self, place: int) -> None:
        """Take in that the vector of a draft stands in the scope."""
        self._stands[self.row_of[place]] = True

    def likely(self, places: Iterable[int], most: int) -> Iterator[str]:
        """The rows that will probably be among the nearest of some drafts."""
        for place in places:
            for scope_id in self.scopes:
                yield from self.tops[place, scope_id].memory_ids[:most]
        yield from (self.ids[place] for place in self.batch.standing)

    def ranked(self, place: int, scope_id: int) -> Iterator[tuple[str, float]]:
        """The ids and cosines of the rows nearest a draft in a scope, as many as are looked at, the nearest first."""
        top = self.tops[place, scope_id]
        if scope_id != self.batch.desk.scope_id or not self.batch.standing:
            return top.ranked()
        cosines = self.alike[self.row_of[place]]
        least = top.cosines[-1] if len(top.cosines) == nearness.NEAREST else -2.0
        [nearer] = (self._stands & (cosines >= least - 1e-6)).nonzero()
        if not len(nearer):
            return top.ranked()
        added = [(self.ids[self._held[n]], round(float(cosines[n]), nearness.DIGITS)) for n in nearer]
        merged = heapq.merge(top.ranked(), sorted(added, key=_order), key=_order)
        return itertools.islice(merged, nearness.NEAREST)


@dataclass(frozen=True, slots=True)
class _Row:
    """A current fact as the gates compare it."""

    memory_id: str
    scope_id: int
    fact: str
    conflict_key: str | None
    valid_from: datetime
    valid_from_stated: bool
    private: bool
    expires_at: datetime | None
    ended_at: datetime | None


@dataclass
class _Window:
    """What was read for some drafts at once, and what the first of them have changed of it.

    Rows near a draft are read once for all windows of a batch, but for those that were changed.
    """

    batch: _Batch
    places: range
    touched: set[str | None] = field(default_factory=set)  # rows that were restated
    followed: list[str] = field(default_factory=list)  # rows that are known from their drafts alone
    fronts: dict[str, Front] = field(default_factory=dict)  # of lineages, as they were before the drafts that join them
    _hashes: set[bytes] = field(default_factory=set)
    _keys: set[str] = field(default_factory=set)
    _types: Counter[str] = field(default_factory=Counter)
    _quiet: dict[str, Quiet | None] = field(default_factory=dict)  # none of rows that are not
    _lineages: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        batch = self.batch
        drafts = [batch.drafts[place][0] for place in self.places]
        facts = any(not draft.is_evidence for draft in drafts)
        found = writing.look(batch.desk, drafts, [batch.now(place) for place in self.places]) if facts else []
        self._seen = dict(zip(self.places, found, strict=False))
        compared = [place for place in self.places if batch.is_compared(place)]
        for most in NEAR_READ:
            if compared:
                self._read(batch.neighbourhood.likely(compared, most))
            compared = [place for place in compared if self._lacks(place, most)]

    def is_stale(self, place: int) -> bool:
        """Whether a draft is about what an earlier one has said since this was read."""
        draft = self.batch.drafts[place][0]
        if draft.is_evidence:
            return False
        if text.fact_hash(draft.fact) in self._hashes or draft.classified.conflict_key in self._keys:
            return True
        if draft.succeeds is not None and text.fact_hash(draft.succeeds) in self._hashes:
            return True
        seen = self._seen[place]
        if seen.lineage_id in self._lineages or (seen.same_type >= writing.TYPE_COUNTED and self._fewer(draft)):
            return True
        named = {row["memory_id"] for row in seen.exact} | ({seen.head["memory_id"]} if seen.head else set())
        return bool(named & self.touched)

    def _fewer(self, draft: Draft) -> bool:
        """Whether there are fewer rows of a draft's type by now: of more than were counted nobody knows how many."""
        return self._types[draft.classified.memory_type] < 0

    def seen(self, place: int) -> Seen:
        """What the scope holds of a draft by now."""
        seen = self._seen[place]
        more = self._types[self.batch.drafts[place][0].classified.memory_type]
        return replace(seen, same_type=seen.same_type + more) if more else seen

    def near(self, place: int) -> list[gates.Near]:
        """The nearest current facts of a draft."""
        near, draft = self.batch.neighbourhood, self.batch.drafts[place][0]
        found = []
        for scope_id in near.scopes:
            in_default, left = scope_id != self.batch.desk.scope_id, NEAR_KEPT
            for memory_id, cosine in near.ranked(place, scope_id):
                row = self._row(memory_id, place, scope_id)
                if row is None or not self._is_near(row, place):
                    continue
                found.append(writing.near_of(draft, row, cosine, in_default=in_default))
                left -= 1
                if left == 0:
                    break
        return writing.as_near(found)

    def reads_rows(self, place: int) -> bool:
        """Whether judging a draft reads rows anew, so that what was decided to restate them must be written before."""
        draft = self.batch.drafts[place][0]
        return bool(draft.supersedes) or draft.succeeds is not None or draft.revises is not None

    def is_quiet(self, place: int, judged: Judged) -> bool:
        """Whether a draft restates a row that has room for its tags, and changes nothing but this row by it."""
        target_id = judged.judgement.target_id
        if judged.kind != "reinforce" or target_id is None or writing.SAME_EVENT in judged.judgement.reasons:
            return False
        if target_id not in self._quiet:
            asked = list(dict.fromkeys((target_id, *([] if self._quiet else self._likely_restated()))))
            found = writing.quiet(self.batch.desk, asked)
            self._quiet |= {memory_id: found.get(memory_id) for memory_id in asked}
        held = self._quiet[target_id]
        if held is None:
            return False
        if held.leads_by is not None and trust_rank(self.batch.drafts[place][1].trust) < held.leads_by:
            self._quiet[target_id] = None  # by then it may be last no more
            return False
        tags = held.tags.union(judged.draft.tags)  # too many once is too many for what comes later
        self._quiet[target_id] = replace(held, tags=tags)
        return len(tags) <= writing.MOST_TAGS

    def _likely_restated(self) -> Iterator[str]:
        """The rows that drafts of this window will probably restate: their twins, heads and nearest rows."""
        for seen in self._seen.values():
            yield from (row["memory_id"] for row in seen.exact)
            if seen.head is not None:
                yield seen.head["memory_id"]
        for place in self.places:
            if self.batch.is_compared(place):
                own = self.batch.neighbourhood.tops[place, self.batch.desk.scope_id]
                yield from own.memory_ids[:1]

    def leads(self, place: int, judged: Judged) -> bool:
        """Whether a draft is at once head of the lineage of its key, and changes nothing but this lineage by it."""
        lineage_id = writing.follows(judged)
        if lineage_id is None:
            return False
        if lineage_id not in self.fronts:
            named = {seen.lineage_id for seen in self._seen.values() if seen.lineage_id is not None}
            self.fronts |= writing.fronts(self.batch.desk, sorted({*named, lineage_id}))
        moved, rows = self._moved(place, judged, lineage_id), self.fronts[lineage_id].rows
        if moved is None or any(row.memory_id in self.touched for row in rows):
            return False
        return not any(row.summarised for row in rows if row.memory_id in moved)

    def _moved(self, place: int, judged: Judged, lineage_id: str) -> Mapping[str, Place] | None:
        """The rows that a draft supersedes as head of a lineage; None where it is not head at once."""
        front, origin = self.fronts[lineage_id], self.batch.drafts[place][1]
        if self.batch.appoint is not None:
            origin = origin.recorded(front.now)  # at the earliest
        return front.moved_by(writing.newcomer(judged.draft, origin, self.batch.memory_id(place)))

    def follow(self, place: int, judged: Judged) -> None:
        """Take in what a draft will have changed that is written along with others."""
        if judged.kind == "reinforce":
            self.touched.add(judged.judgement.target_id)
        if judged.kind not in STORED:
            return
        self._displace(place, judged)
        self.batch.stand(place)
        draft, origin = judged.draft, self.batch.drafts[place][1]  # a key that it was found to stand beside is gone
        memory_id = self.batch.memory_id(place)
        self.followed.append(memory_id)
        self.batch.rows[memory_id] = None
        if draft.is_evidence or judged.quarantined:
            return
        self._hashes.add(text.fact_hash(draft.fact))
        self._types[draft.classified.memory_type] += 1
        key = draft.classified.conflict_key
        if key is not None:
            self._keys.add(key)
        self.batch.rows[memory_id] = _Row(
            memory_id, self.batch.desk.scope_id, draft.fact, key, draft.begins(origin), draft.valid_from is not None,
            draft.private, writing.expiry(draft, origin), draft.valid_to,
        )  # fmt: skip

    def _displace(self, place: int, judged: Judged) -> None:
        """Take in which rows a draft supersedes that leads the lineage of its key."""
        lineage_id = writing.follows(judged)
        if lineage_id is None:
            return
        self._lineages.add(lineage_id)
        moved = self._moved(place, judged, lineage_id) or {}
        for row in self.fronts[lineage_id].rows:
            if row.memory_id in moved:
                self.touched.add(row.memory_id)
                self.batch.rows[row.memory_id] = None
                self._types[row.memory_type] -= row.status == "active" and row.category not in writing.EVIDENCE

    def _lacks(self, place: int, most: int) -> bool:
        """Whether a draft may have more current facts near it than are among so many rows."""
        tops = [
            self.batch.neighbourhood.tops[place, scope_id].memory_ids for scope_id in self.batch.neighbourhood.scopes
        ]
        rows = ([self.batch.rows[memory_id] for memory_id in top[:most]] for top in tops if len(top) > most)
        return any(sum(row is not None and self._is_near(row, place) for row in found) < NEAR_KEPT for found in rows)

    def _row(self, memory_id: str, place: int, scope_id: int) -> _Row | None:
        if memory_id not in self.batch.rows:
            self._read([other for other, _ in self.batch.neighbourhood.ranked(place, scope_id)])
        return self.batch.rows[memory_id]

    def _read(self, memory_ids: Iterable[str]) -> None:
        missing = [one for one in dict.fromkeys(memory_ids) if one not in self.batch.rows]
        if not missing:
            return
        self.batch.rows |= dict.fromkeys(missing)
        desk = self.batch.desk
        for row in fetch_all(desk.conn, "list_near_rows", tenant_id=desk.tenant_id, memory_ids=Texts(missing)):
            self.batch.clock = row.now
            self.batch.rows[row.memory_id] = _Row(
                row.memory_id, int(row.scope_id), row.fact, row.conflict_key, row.valid_from, row.valid_from_stated,
                row.private, row.expires_at, row.ended_at,
            )  # fmt: skip

    def _is_near(self, row: _Row, place: int) -> bool:
        if row.private != self.batch.drafts[place][0].private:
            return False
        if row.private and row.scope_id != self.batch.desk.scope_id:
            return False
        ends = [end for end in (row.expires_at, row.ended_at) if end is not None]
        return not ends or min(ends) > (self.batch.now(place) or self.batch.clock or datetime.now(UTC))


def _order(row: tuple[str, float]) -> tuple[float, str]:
    return -row[1], row[0]
