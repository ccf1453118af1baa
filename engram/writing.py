"""Writing: the one road by which a candidate becomes a memory, or does not, with the decision and its reasons.

A candidate is judged against what its scope holds (pure gates), then placed in its lineage (pure order), then written.
Every function runs inside the caller's transaction, after `lock` has taken the keys in one global order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from types import MappingProxyType
from typing import Any, Final, cast

from sqlalchemy.engine import Row

from engram import embedding, frames, gates, ids, jobs, lineage, memories, secrets, subjects, text
from engram.arrays import Blobs, Texts
from engram.attributes import Echo
from engram.channels import keyword, nearness, semantic, upkeep
from engram.database import (
    Connection,
    Jsonb,
    ending,
    execute,
    fetch_ahead,
    fetch_all,
    fetch_one,
    send_ahead,
    send_now,
)
from engram.lineage import Member, Place
from engram.opposites import are_opposites
from engram.policies import TYPE_WEIGHTS, MemoryPolicy
from engram.policies.classify import Classified, Proposal, classify, says_no_more, value_of
from engram.tenancy import Visible
from engram.values import Citation, Event, Layer, Memory, Neighbour, SurpriseTerms, Trust, WriteDecision, trust_rank

EVIDENCE: Final = ("verbatim", "source_chunk")
EMPTY_HASH: Final = text.fact_hash("")
HEAD: Final = Place("active")
SAME_EVENT: Final = "same_event"
SUCCEEDS: Final = "said_to_have_changed"
LONG_FACT: Final = 1_000
UPKEEP_EVERY: Final = 512  # writes: the ids are random at their end, so this needs no counter
UPKEEP_PRIORITY: Final = 200  # after derivation
LINK_DELAY: Final = 5.0  # seconds in which many writes of a scope are one job of its links and topics
NEAR_FETCHED: Final = 64  # evidence rows among them are left out
TYPE_COUNTED: Final = gates.COUNTED_TO  # rows of a type
NEAR_SIZE: Final = 1_000  # of a scope, for the rarity of words where no vector says what is near
STALE: Final = "something it stood for has changed"
UNTOLD: Final = {"semantic": None, "closest_id": None}  # of a surprise
LISTED: Final = ("reasons", "nearest")  # of a decision, which are there when they are empty too
FREED: Final = "what stood for it was put away"
ENTRIES: Final = {
    "add": "added",
    "revise": "revised",
    "reinforce": "reinforced",
    "conflict": "conflict",
    "reject": "rejected",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """The event a candidate rests on, and the characters of it: what a source row keeps."""

    event_id: str
    recorded_at: datetime
    occurred_at: datetime
    trust: str
    content: str | None
    stream_id: str | None = None
    position: int | None = None
    session_id: str | None = None
    task_run_id: str | None = None
    actor: str | None = None
    char_start: int = 0
    char_end: int = 0
    ordinal: int = 0
    deriver: str | None = None
    deriver_version: int | None = None
    model: str | None = None
    prompt_hash: str | None = None

    def recorded(self, moment: datetime) -> Origin:
        """The origin as that of an event that is recorded at a moment; what happened as it was recorded does so too."""
        happened = moment if self.occurred_at == self.recorded_at else self.occurred_at
        return replace(self, recorded_at=moment, occurred_at=happened)


@dataclass(frozen=True, slots=True)
class Draft:
    """A candidate, validated, classified and embedded: all that is needed to judge and write it."""

    fact: str
    classified: Classified
    vector: Any = None
    main_content: str | None = None
    tags: tuple[str, ...] = ()
    source: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    confidence: float = 0.5
    attribute: str | None = None
    value: str | None = None
    topic_key: str | None = None
    parent_id: str | None = None
    valid_from: datetime | None = None
    still: bool = False
    over: datetime | None = None  # where the latest of the rows stands that it supersedes by name in its own lineage
    valid_to: datetime | None = None
    expires_in: timedelta | None = None
    expires_at: datetime | None = None
    private: bool = False
    force: bool = False
    supersedes: tuple[str, ...] = ()
    revises: str | None = None
    citations: tuple[tuple[str, int, int], ...] = ()
    quotes: tuple[str | None, ...] = ()  # what each citation is said to quote, where a caller counted its span
    captured: bool = False  # from traffic nobody chose to write down, not from a direct call
    echo: Echo | None = None  # of a value said before, until it is found of what
    refused: str | None = None  # the guard of the policy that refused it, and why
    succeeds: str | None = None  # the text of the memory of which it says that it is over or has changed

    def begins(self, origin: Origin) -> datetime:
        """Since when the statement holds: what was stated, otherwise when it was said."""
        return self.valid_from or origin.occurred_at

    def stands(self, origin: Origin) -> datetime:
        """Where the statement stands in its lineage: its beginning, or later where it says that it still holds.

        It stands behind what it supersedes by name, whatever the times say.
        """
        begins = self.begins(origin)
        stands = max(begins, origin.occurred_at) if self.still else begins
        return stands if self.over is None else max(stands, self.over)

    def ends(self, origin: Origin) -> datetime | None:
        """When the statement holds no more, as was stated; a revision of what has ended by then has no end."""
        over = self.revises is not None and self.valid_to is not None and self.valid_to <= self.begins(origin)
        return None if over else self.valid_to

    @property
    def is_evidence(self) -> bool:
        """Whether this is a verbatim row or a source chunk, which are no facts."""
        return self.classified.category in EVIDENCE


Names = Callable[[Draft, Origin], tuple[str, str]]
"""What gives a new memory, and the lineage it may begin, their ids."""


def names_of(tenant_id: str, origin: Origin) -> tuple[str, str]:
    """The ids that follow from the statement itself: deriving it again gives a tenant the same ones."""
    what = (origin.event_id, tenant_id, origin.deriver, origin.deriver_version, origin.ordinal)
    return ids.id_of(*what), ids.id_of(*what, "lineage")


def derived_id(tenant_id: str, event_id: str, deriver: str, version: int, ordinal: int = 0) -> str:
    """The id of the memory that a deriver makes of an event, by `names_of`."""
    return ids.id_of(event_id, tenant_id, deriver, version, ordinal)


@dataclass(frozen=True, slots=True)
class Desk:
    """Where drafts are judged and written: the scope, the policy and the model, for the length of a transaction.

    `model_id` is the model of the drafts' vectors, None when they have none or the tenant uses another by now; `embeds`
    says whether a memory without a vector is to get one, and `building_id` which model is being built meanwhile.
    """

    conn: Connection
    visible: Visible
    scope_id: int
    policy: MemoryPolicy
    model_id: int | None
    thresholds: gates.Thresholds
    config: str = "english"
    reason: str | None = None
    embeds: bool = False
    building_id: int | None = None
    is_long: Callable[[str], bool] | None = None  # whether the model reads a text in several windows
    at: datetime | None = None  # when its changes count as recorded; None is the database's clock
    names: Names | None = None
    left: Callable[[Draft, Origin], str | None] | None = None  # of a replay: the lineage of what is erased but for this
    run_id: str | None = None  # the run of the life cycle whose changes these are
    direct: tuple[int, str] | None = None  # a scope, and the stream of its direct changes, where there is one
    looked: Looked | None = None  # what was looked up of its only draft before it was open

    @property
    def tenant_id(self) -> str:
        """The tenant of the scope."""
        return self.visible.scope.tenant_id

    def name(self, draft: Draft, origin: Origin) -> tuple[str, str]:
        """The ids of a new memory and of the lineage it may begin."""
        return names_of(self.tenant_id, origin) if self.names is None else self.names(draft, origin)

    def load(self, memory_id: str | None) -> Memory | None:
        """A memory of this scope, whole."""
        return None if memory_id is None else next(iter(memories.load(self.conn, self.visible, [memory_id])), None)


@dataclass(frozen=True, slots=True)
class Judged:
    """A draft with what the gates decided and what they saw."""

    draft: Draft
    judgement: gates.Judgement
    lineage_id: str | None = None
    head_importance: float | None = None
    quarantined: bool = False

    @property
    def kind(self) -> str:
        """What becomes of the draft."""
        return self.judgement.kind


def lock(desk: Desk, drafts: Sequence[Draft], *also: str, scopes: Sequence[int] = ()) -> None:
    """Take the locks of everything these drafts may touch, in one order: conflict keys, exact texts, lineages.

    Writers share the projection of the scopes they write to, the desk's own and `scopes`.
    """
    lock_all([(desk, drafts)], *also, scopes=scopes)


def lock_all(several: Sequence[tuple[Desk, Sequence[Draft]]], *also: str, scopes: Sequence[int] = ()) -> None:
    """The same for the drafts of several desks of one tenant and transaction."""
    first = several[0][0]
    shared = {projection_lock(first.tenant_id, one) for one in (*(desk.scope_id for desk, _ in several), *scopes)}
    names = {*shared, *(f"{first.tenant_id}/{name}" for name in also)}
    names.update(name for desk, drafts in several for name in _locks(desk, drafts))
    send_ahead(first.conn, "lock_keys", keys=Texts(sorted(names)), shared=sorted(shared))


def _locks(desk: Desk, drafts: Sequence[Draft]) -> Iterator[str]:
    for draft in drafts:
        if draft.is_evidence:
            continue
        for fact in (draft.fact, draft.succeeds):
            if fact is not None:
                yield f"{desk.tenant_id}/{desk.scope_id}/fact/{text.fact_hash(fact).hex()}"
        if draft.classified.conflict_key is not None:
            yield f"{desk.tenant_id}/{_key_lock(desk.scope_id, draft.classified.conflict_key)}"


def share(conn: Connection, tenant_id: str, scope_id: int) -> None:
    """Keep a switch of the scope's projections out until the end of the transaction, and no writer."""
    name = projection_lock(tenant_id, scope_id)
    send_ahead(conn, "lock_keys", keys=[name], shared=[name])


def projection_lock(tenant_id: str, scope_id: int) -> str:
    """The name of the lock that writers of a scope share, and that a switch to another projection takes alone."""
    return f"{tenant_id}/{scope_id}/projection"


def lineage_locks(lineage_id: str, scope_id: int, conflict_key: str | None) -> list[str]:
    """The names, without the tenant, of all the locks that guard a lineage: its own, and that of its key."""
    own = f"lineage/{lineage_id}"
    return [own] if conflict_key is None else [own, _key_lock(scope_id, conflict_key)]


def _key_lock(scope_id: int, conflict_key: str) -> str:
    return f"{scope_id}/key/{conflict_key}"


def judge(
    desk: Desk, draft: Draft, trust: str, now: datetime | None = None, *, head: Memory | None = None
) -> Judged:  # fmt: skip
    """What the gates make of a draft, given what its scope holds. Writes nothing.

    `now` is when expiry is judged: of what is derived, the time its event was recorded, so that deriving it later, or
    again, judges alike. `head` is what a revision is made on, where it was read already.
    """
    plain = judged_plainly(desk, draft, head)
    if plain is not None:
        return plain
    draft = alone(draft)
    if is_compared(desk, draft):
        seen, near = _look_around(desk, draft, now)
    else:
        [seen], near = look(desk, [draft], [now]), neighbours(desk, draft, now)
    turned = turning(draft, seen, near)
    after = None if turned is draft else _succession(desk, turned)
    return after or judged_by(desk, draft, trust, seen, near)


def is_looked_up(desk: Desk, draft: Draft) -> bool:
    """Whether judging a draft takes one look around, and nothing before it that needs an open desk. Pure."""
    told = is_plain(draft) or draft.supersedes or draft.parent_id
    return is_compared(desk, draft) and not told and desk.policy.write_mode != "report"


@dataclass(frozen=True, slots=True)
class Seen:
    """What the gates need to know of a draft beside its neighbours: its exact twins, and what its key and type hold."""

    exact: Sequence[Mapping[str, Any]]
    head: Mapping[str, Any] | None
    lineage_id: str | None
    same_type: int


@dataclass(frozen=True, slots=True)
class Looked:
    """What was seen of a draft, and the facts nearest it."""

    draft: Draft
    seen: Seen
    near: Sequence[gates.Near]


def look_around(desk: Desk, draft: Draft) -> Looked:
    """What a scope holds of a draft, by the clock, and the facts nearest it: for the desk that judges it later."""
    return Looked(draft, *_look_around(desk, draft, None))


def look(desk: Desk, drafts: Sequence[Draft], nows: Sequence[datetime | None]) -> list[Seen]:
    """What a scope holds of each draft, in one statement."""
    return [_seen(row) for row in fetch_all(desk.conn, "list_gate_rows", **_gated(desk, drafts, nows))]


def _look_around(desk: Desk, draft: Draft, now: datetime | None) -> tuple[Seen, Sequence[gates.Near]]:
    """What a scope holds of a draft and the facts nearest it by meaning, in one statement.

    In mode `report` also those of the same owner in `default`.
    """
    if desk.looked is not None and desk.looked.draft is draft and now is None:
        return desk.looked.seen, desk.looked.near
    scopes = [desk.scope_id, *(default_scopes(desk) if desk.policy.write_mode == "report" else ())]
    row = fetch_one(
        desk.conn, "look_at_draft", scope_ids=scopes, model_id=desk.model_id, vector=embedding.halves(draft.vector),
        private=draft.private, now=now, **_gated(desk, [draft], [now]),
    )  # fmt: skip
    assert row is not None
    near = [
        near_of(draft, _Found(**found), float(found["cosine"]), in_default=found["scope_id"] != desk.scope_id)
        for found in (
            {**one, "valid_from": datetime.fromisoformat(one["valid_from"]), "ended_at": _moment(one["ended_at"])}
            for one in row.near or ()
        )
    ]
    return _seen(row), near


@dataclass(frozen=True, slots=True)
class _Found:
    """A fact near a draft, as the database tells it."""

    scope_id: int
    memory_id: str
    fact: str
    cosine: float
    conflict_key: str | None
    valid_from: datetime
    valid_from_stated: bool
    ended_at: datetime | None


def _gated(desk: Desk, drafts: Sequence[Draft], nows: Sequence[datetime | None]) -> dict[str, Any]:
    return {
        "tenant_id": desk.tenant_id, "scope_id": desk.scope_id,
        "fact_hashes": Blobs([text.fact_hash(draft.fact) for draft in drafts]),
        "conflict_keys": Texts([draft.classified.conflict_key for draft in drafts]),
        "memory_types": Texts([draft.classified.memory_type for draft in drafts]),
        "privates": [draft.private for draft in drafts], "nows": list(nows), "most": TYPE_COUNTED,
    }  # fmt: skip


def _seen(row: Row[Any]) -> Seen:
    return Seen(row.exact or [], row.head, row.lineage_id, int(row.same_type))


def is_plain(draft: Draft) -> bool:
    """Whether a draft is judged without what is near it, unless what it names is gone. Pure."""
    named = draft.revises is not None or draft.succeeds is not None
    return draft.refused is not None or draft.is_evidence or named


def judged_plainly(desk: Desk, draft: Draft, head: Memory | None = None) -> Judged | None:
    """The judgement of a draft that is compared with nothing, or only with the row it revises; else None."""
    if not is_plain(draft):
        return None
    if draft.refused is not None:
        return Judged(draft, gates.Judgement("reject", reasons=("guard", draft.refused)))
    if draft.is_evidence:
        return Judged(draft, gates.Judgement("add", reasons=("evidence",)))
    if draft.revises is None:
        return _succession(desk, draft)
    return _revision(draft, desk.load(draft.revises) if head is None else head)


def alone(draft: Draft) -> Draft:
    """The draft as what it says by itself, where what it says is over is gone, or was never written. Pure.

    One that has a key is about what that holds by now.
    """
    is_so = draft.succeeds is None or draft.classified.conflict_key is not None
    return draft if is_so else replace(draft, succeeds=None)


def turning(draft: Draft, seen: Seen, near: Sequence[gates.Near]) -> Draft:
    """The draft as what takes the place of a memory near it, of which it says the opposite; else as it is. Pure.

    Without a key on either side, which would decide, where nothing says the very same, and unless both are wanted
    (`force`).
    """
    if draft.succeeds is not None or draft.force or draft.classified.conflict_key is not None or seen.exact:
        return draft
    own = subjects.plain(draft.fact)
    opposite = next(
        (
            one.fact
            for one in near
            if one.conflict_key is None and not one.in_default and are_opposites(own, subjects.plain(one.fact))
        ),
        None,
    )
    return draft if opposite is None else replace(draft, succeeds=opposite)


def _succession(desk: Desk, draft: Draft) -> Judged | None:
    """A draft that says of a memory without a key that it is over or has changed; None where that is gone by now."""
    if draft.succeeds is None:
        return None
    row, held = _told_fact(desk, draft), None
    while row is not None and row.lineage_id != held:  # it may have changed until its lineage is ours
        held = row.lineage_id  # its text, too: who says the very same meanwhile restates it
        lock(desk, [draft], *lineage_locks(held, desk.scope_id, None))
        row = _told_fact(desk, draft)
    if row is None:
        return None
    return Judged(draft, gates.Judgement("revise", row.memory_id, (SUCCEEDS,)), row.lineage_id, row.importance)


def _told_fact(desk: Desk, draft: Draft) -> Row[Any] | None:
    """The current memory of the scope that tells just what a draft succeeds, has no key, and is as private."""
    assert draft.succeeds is not None
    found: Row[Any] | None = fetch_one(
        desk.conn, "find_told_fact", tenant_id=desk.tenant_id, scope_id=desk.scope_id,
        fact_hash=text.fact_hash(draft.succeeds), private=draft.private,
    )  # fmt: skip
    return found


def judged_by(desk: Desk, draft: Draft, trust: str, seen: Seen, near: Sequence[gates.Near]) -> Judged:
    """What the gates make of a draft, given what was seen. Pure."""
    if _stands_beside(desk.policy, draft, seen):
        draft = replace(draft, classified=replace(draft.classified, conflict_key=None))
        seen = replace(seen, head=None, lineage_id=None)
    key = draft.classified.conflict_key
    head = _head_row(seen.head, key, desk.policy)
    judgement = gates.decide(
        gates.Statement(
            draft.fact,
            key,
            draft.valid_from,
            draft.valid_to,
            trust_rank(trust),
            draft.force,
            captured=draft.captured,
            value=_only_value(desk.policy, draft, head),
            embedded=is_compared(desk, draft),
        ),
        exact=_exact(seen.exact, draft),
        head=head,
        neighbours=near,
        same_type=seen.same_type,
        mode=desk.policy.write_mode,
        thresholds=desk.thresholds,
        score_surprise=desk.policy.surprise != "off",
    )
    return Judged(draft, judgement, seen.lineage_id, None if seen.head is None else seen.head["importance"])


def _stands_beside(policy: MemoryPolicy, draft: Draft, seen: Seen) -> bool:
    """Whether a draft gives a loose key another value and says of no change: then both are so, and it has no key."""
    key = draft.classified.conflict_key
    if seen.head is None or seen.head["gone"] or not frames.is_loose(key) or draft.classified.negates is not None:
        return False
    if draft.succeeds is not None:
        return False
    value = value_of(policy, draft.fact, key)
    return value != value_of(policy, seen.head["fact"], key) and not frames.says_of_a_change(draft.fact)


def _head_row(head: Mapping[str, Any] | None, key: str | None, policy: MemoryPolicy) -> gates.Row | None:
    """The head of a key as the gates see it; one that ended or expired says nothing any more, so it is told anew."""
    if head is None:
        return None
    fact = "" if head["gone"] else head["fact"]
    return gates.Row(
        head["memory_id"], fact, key, trust=head["trust"], value=value_of(policy, fact, key),
        stated_to=_moment(head["ended_at"]),
    )  # fmt: skip


def _only_value(policy: MemoryPolicy, draft: Draft, head: gates.Row | None) -> str | None:
    """The value a draft gives its key, where it says nothing that the head does not say."""
    if head is None or head.value is None or draft.valid_to is not None:
        return None
    value = value_of(policy, draft.fact, draft.classified.conflict_key)
    known = f"{head.fact} {draft.classified.conflict_key}"  # the name of what it is the value of says nothing more
    return value if value is not None and says_no_more(draft.fact, known, value) else None


def _exact(rows: Sequence[Mapping[str, Any]], draft: Draft) -> gates.Row | None:
    """The row with the very same text: one under the same key before one without, then one of the stated times.

    Of several the eldest.
    """
    twins = [
        gates.Row(
            row["memory_id"], draft.fact, row["conflict_key"], _moment(row["valid_from"]), row["trust"],
            stated_to=_moment(row["ended_at"]),
        )
        for row in rows
    ]  # fmt: skip

    def strangeness(twin: gates.Row) -> tuple[bool, bool, bool, str]:
        begins_otherwise = draft.valid_from not in (None, twin.valid_from)
        ends_otherwise = draft.valid_to not in (None, twin.stated_to)
        return twin.conflict_key != draft.classified.conflict_key, begins_otherwise, ends_otherwise, twin.memory_id

    return min(twins, key=strangeness, default=None)


def _moment(said: str | None) -> datetime | None:
    return None if said is None else datetime.fromisoformat(said)


def _revision(draft: Draft, head: Memory | None) -> Judged:
    """A revision asked for by id: judged only against its own head. Pure."""
    assert head is not None
    same = (
        text.compared(head.fact) == text.compared(draft.fact) and draft.main_content == head.main_content
        and draft.valid_from in (None, head.valid_from)
    )  # fmt: skip
    made = gates.Judgement("reinforce" if same else "revise", head.memory_id, ("same_as_head" if same else "revised",))
    return Judged(draft, made, head.lineage_id, head.importance)


def conflict(judged: Judged, target_id: str, reason: str) -> Judged:
    """The same draft, not to be stored: it does not go together with a row it names."""
    made = replace(judged.judgement, kind="conflict", target_id=target_id, reasons=(*judged.judgement.reasons, reason))
    return replace(judged, judgement=made)


def stored(judged: Judged, reason: str) -> Judged:
    """The same draft, to be stored whatever the gates say: an explicit act asks for it."""
    made = replace(judged.judgement, kind="add", target_id=None, reasons=(*judged.judgement.reasons, reason))
    return replace(judged, judgement=made)


def rejected(judged: Judged, reason: str) -> Judged:
    """The same draft, not to be stored, with the reason why."""
    made = replace(judged.judgement, kind="reject", reasons=(reason,), options=(), contradicts_id=None)
    return replace(judged, judgement=made)


def quarantined(judged: Judged, reason: str) -> Judged:
    """The same draft, to be kept apart: a row of its own that no read shows unless asked, in nobody's lineage."""
    made = replace(judged.judgement, kind="add", target_id=None, reasons=(reason,), options=(), contradicts_id=None)
    return replace(judged, judgement=made, lineage_id=None, quarantined=True)


def told_before(judged: Judged, memory_id: str) -> Judged:
    """The same draft as one more citation of a memory of the same event: said once, however often derived."""
    made = replace(
        judged.judgement, kind="reinforce", target_id=memory_id, reasons=(SAME_EVENT,), options=(), contradicts_id=None
    )
    return replace(judged, judgement=made)


@dataclass(frozen=True, slots=True)
class Written:
    """A memory that was just written: its place, and what the database made of it, once it was sent to it."""

    new: New
    made: Callable[[], Mapping[str, Row[Any]]]

    @property
    def recorded_at(self) -> datetime:
        """When the database wrote it."""
        at: datetime = self.made()[self.new.memory_id].recorded_at
        return at

    @property
    def layer(self) -> str:
        """The layer it was put into."""
        return str(self.made()[self.new.memory_id].layer)


@dataclass(frozen=True, slots=True)
class Settled:
    """What was written: the decision as the history keeps it, and what there is to index."""

    decision: Mapping[str, Any]
    origin: Origin
    judged: Judged
    entry: keyword.Entry | None = None
    pending: bool = False  # whether it waits for its vector
    stirred: bool = False  # whether it changed what the gates see of other rows than its own
    moved: tuple[str, ...] | None = ()  # the other memories it changed; None where it may be any, by their summaries
    written: Written | None = None  # where a memory was written

    @property
    def memory_id(self) -> str | None:
        """The memory that came of it, new or reinforced."""
        found: str | None = self.decision["memory_id"]
        return found

    @property
    def is_quarantined(self) -> bool:
        """Whether a row was written that is kept apart."""
        return "quarantined" in self.decision["reasons"]


def settle(desk: Desk, judged: Judged, origin: Origin) -> Settled:
    """Write what was decided, resting on the event of `origin`; `index` must follow in the same transaction."""
    judged = rejoined(desk, judged, origin)
    if judged.kind in ("reject", "conflict"):
        return _refuse(desk, judged, origin)
    if judged.kind == "reinforce":
        return _reinforce(desk, judged, origin)
    return _store(desk, judged, origin)


def rejoined(desk: Desk, judged: Judged, origin: Origin) -> Judged:
    """A draft that a replay makes anew, in its lineage, where nothing but what was erased holds that by now."""
    key = judged.draft.classified.conflict_key
    if desk.left is None or key is None or judged.lineage_id is not None or judged.kind != "add" or judged.quarantined:
        return judged
    return replace(judged, lineage_id=desk.left(judged.draft, origin))


def index(desk: Desk, settled: Sequence[Settled]) -> None:
    """Put what was written into the text index, and index again what was said just before it."""
    index_all([(desk, settled)])


def index_all(several: Sequence[tuple[Desk, Sequence[Settled]]]) -> None:
    """The same for what was written at several desks of one tenant and transaction."""
    conn, tenant_id = several[0][0].conn, several[0][0].tenant_id
    keyword.index_all(conn, tenant_id, [_indexed(desk, settled) for desk, settled in several])
    for desk, settled in several:
        _queue_work(desk, settled)


def _indexed(desk: Desk, settled: Sequence[Settled]) -> keyword.Indexed:
    entries = [one.entry for one in settled if one.entry is not None]
    firsts: dict[str, int] = {}
    for entry in entries:
        if entry.stream_id is not None and entry.position is not None:
            firsts[entry.stream_id] = min(entry.position, firsts.get(entry.stream_id, entry.position))
    return keyword.Indexed(desk.scope_id, desk.config, entries, firsts)


def _queue_work(desk: Desk, settled: Sequence[Settled]) -> None:
    """Ask for what is done with memories once they are written."""
    entries = [one.entry for one in settled if one.entry is not None]
    if desk.building_id is not None:
        semantic.owe(desk.conn, desk.tenant_id, desk.building_id, [entry.memory_id for entry in entries])
    pending = [one.entry.memory_id for one in settled if one.entry is not None and one.pending]
    if pending:
        jobs.add(desk.conn, kind=jobs.EMBED, dedup_key=pending[0], scope_id=desk.scope_id)
    if entries and desk.policy.links == "write" and desk.scope_id > 0:
        queue_links(desk.conn, desk.scope_id)
    due = [entry.memory_id for entry in entries if int(entry.memory_id[-3:], 16) % UPKEEP_EVERY == 0]
    if due and desk.scope_id > 0 and upkeep.is_wanted(desk.conn, desk.tenant_id, desk.scope_id):
        jobs.add(desk.conn, kind=upkeep.KIND, dedup_key=due[0], scope_id=desk.scope_id, priority=UPKEEP_PRIORITY)


def queue_links(conn: Connection, scope_id: int) -> None:
    """Ask for the links and topics of what was just written; all writes of a few seconds are one job."""
    window = int(time.time() // LINK_DELAY)
    jobs.add(
        conn, kind=jobs.LINK, dedup_key=f"{scope_id}/{window}", scope_id=scope_id, delay=LINK_DELAY,
        priority=UPKEEP_PRIORITY,
    )  # fmt: skip


def _store(desk: Desk, judged: Judged, origin: Origin) -> Settled:
    draft, rules = judged.draft, judged.draft.classified
    memory_id, fresh = desk.name(draft, origin)
    known = judged.lineage_id if rules.conflict_key is not None or judged.kind == "revise" else None
    if known is not None and draft.supersedes:
        named = [row.stands_at for row in fronts(desk, [known])[known].rows if row.memory_id in draft.supersedes]
        draft = replace(draft, over=max(named, default=None))
        judged = replace(judged, draft=draft)
    lineage_id, member = known or fresh, newcomer(draft, origin, memory_id)
    if judged.quarantined:
        place, moved, revision = Place("quarantined"), dict[str, Place](), 1
    else:
        place, moved, revision = _place(desk, lineage_id, member) if known or rules.negates else (HEAD, {}, 1)
    new = New(memory_id, lineage_id, revision, place)
    judged = _with_place(judged, place)
    decision = _decision(desk, judged, origin, memory_id=memory_id, target_id=judged.judgement.target_id)
    written = _write(desk, [_columns(desk, judged, origin, new, decision)], [(new, draft)])
    _relate(desk, _edges(memory_id, judged, origin, moved))
    summarised = [_put_away(desk, old, memory_id, origin) for old in draft.supersedes]
    for other, placed in moved.items():
        if other not in draft.supersedes:
            summarised.append(_note(desk, other, _entry_of(placed), origin))
    pending = _embed_state(desk, draft) == "pending"
    entry = _entry(memory_id, draft, origin)
    changed = None if any(summarised) else (*draft.supersedes, *moved)
    return Settled(decision, origin, judged, entry, pending, True, changed, written[memory_id])


def newcomer(draft: Draft, origin: Origin, memory_id: str) -> Member:
    """A draft as the order of its lineage sees it. Pure."""
    order = (draft.stands(origin), origin.recorded_at, origin.event_id, origin.ordinal)
    return Member(
        memory_id, order, trust_rank(origin.trust), draft.fact, draft.begins(origin),
        negates=draft.classified.negates,
    )  # fmt: skip


def follows(judged: Judged) -> str | None:
    """The lineage a draft joins by its key alone, naming and negating nothing; None where it does not. Pure."""
    draft = judged.draft
    plain = draft.revises is None and draft.succeeds is None and not draft.supersedes and not judged.quarantined
    keyed = draft.classified.conflict_key is not None and draft.classified.negates is None
    return judged.lineage_id if plain and keyed and judged.kind in ("add", "revise") else None


def _with_place(judged: Judged, place: Place) -> Judged:
    """The judgement with the reason why its row did not become head, where it did not."""
    why = "moot" if place.moot else place.status if place.status != "active" else None
    if why is None:
        return judged
    return replace(judged, judgement=replace(judged.judgement, reasons=(*judged.judgement.reasons, why)))


def goes_along(judged: Judged) -> bool:
    """Whether a draft may be written together with others: it displaces nothing and joins no lineage."""
    if judged.kind in ("reject", "conflict"):
        return True
    draft, rules = judged.draft, judged.draft.classified
    joins = rules.negates is not None or (rules.conflict_key is not None and judged.lineage_id is not None)
    return judged.kind == "add" and not draft.supersedes and (judged.quarantined or not joins)


def quiet(desk: Desk, memory_ids: Sequence[str]) -> set[str]:
    """Those of some memories that may be restated together, since nothing else changes with them.

    No summary has to do with them, and in a lineage of several they are the head and the last to be said: who is said
    again, or better trusted, then stays it.
    """
    asked = fetch_all(desk.conn, "list_restated", tenant_id=desk.tenant_id, memory_ids=Texts(memory_ids))
    lines: dict[str, list[Row[Any]]] = {row.lineage_id: [] for row in asked if row.lineage_id is not None}
    if lines:
        found = fetch_all(desk.conn, "list_lineage_members", tenant_id=desk.tenant_id, lineage_ids=Texts(list(lines)))
        for row in found:
            lines[row.lineage_id].append(row)
    return {row.memory_id for row in asked if row.lineage_id is None or _is_last(lines[row.lineage_id], row.memory_id)}


def _is_last(rows: Sequence[Row[Any]], memory_id: str) -> bool:
    """Whether a row leads a lineage that stands in its order, as its last statement, and nothing in it is negated."""
    members = [_member(row) for row in rows]
    last = max(members, key=lambda member: member.rank, default=None)
    if last is None or last.memory_id != memory_id or any(member.negates is not None for member in members):
        return False
    places = lineage.places(members)
    return places.get(memory_id) == HEAD and not _moved(rows, places)


def settle_together(
    desk: Desk, several: Sequence[tuple[Judged, Origin]], fronts_of: Mapping[str, Front] = MappingProxyType({})
) -> list[Settled]:
    """Write what was decided of drafts that go along with each other, restate quiet rows, or lead lineages at once.

    Each row is restated once, and each lineage gets one draft; `fronts_of` are as these were. `index` must follow in
    the same transaction.
    """
    moves = [_superseded(desk, judged, origin, fronts_of) for judged, origin in several]
    if None in moves:  # the clock went back
        at = moves.index(None)
        before = settle_together(desk, several[:at], fronts_of)
        return [*before, _store(desk, *several[at]), *settle_together(desk, several[at + 1 :], fronts_of)]
    rows: list[dict[str, Any]] = []
    restated: list[dict[str, Any]] = []
    settled: list[Settled] = []
    stored: list[tuple[New, Draft]] = []
    edges: list[Edge] = []
    superseded: dict[str, Place] = {}
    for (judged, origin), moved in zip(several, moves, strict=True):
        if judged.kind in ("reject", "conflict"):
            decision = _decision(desk, judged, origin, memory_id=None, target_id=judged.judgement.target_id)
            rows.append(_refusal(judged, origin, decision))
            settled.append(Settled(decision, origin, judged))
            continue
        if judged.kind == "reinforce":
            target_id = judged.judgement.target_id
            decision = _decision(desk, judged, origin, memory_id=target_id, target_id=target_id)
            restated.append(_restatement(desk, judged, origin))
            rows.append({**_marked("reinforced", origin, decision), "restates": target_id})
            settled.append(Settled(decision, origin, judged))
            continue
        draft, (memory_id, fresh) = judged.draft, desk.name(judged.draft, origin)
        known = follows(judged)
        new = New(
            memory_id, known or fresh, 1 if known is None else fronts_of[known].revision,
            Place("quarantined") if judged.quarantined else HEAD,
        )  # fmt: skip
        placed = _with_place(judged, new.place)
        decision = _decision(desk, placed, origin, memory_id=memory_id, target_id=judged.judgement.target_id)
        rows.append(_columns(desk, placed, origin, new, decision))
        rows += [{**_noted("superseded", origin), "restates": other} for other in moved or ()]
        pending = _embed_state(desk, draft) == "pending"
        entry = _entry(memory_id, draft, origin)
        settled.append(Settled(decision, origin, placed, entry, pending, known is not None, tuple(moved or ())))
        stored.append((new, draft))
        edges += _edges(memory_id, judged, origin, moved or {})
        superseded |= moved or {}
    if restated:
        send_ahead(desk.conn, "restate_memories", tenant_id=desk.tenant_id, rows=Jsonb(restated), at=desk.at)
    _supersede(desk, superseded)
    written = _write(desk, rows, stored)
    _relate(desk, edges)
    return [one if one.entry is None else replace(one, written=written[one.entry.memory_id]) for one in settled]


def _superseded(desk: Desk, judged: Judged, origin: Origin, fronts_of: Mapping[str, Front]) -> dict[str, Place] | None:
    """The rows that a draft supersedes as the next revision of its lineage, none where it is of none. Pure.

    None where it may not be the head at once.
    """
    known = follows(judged)
    if known is None:
        return {}
    return fronts_of[known].moved_by(newcomer(judged.draft, origin, desk.name(judged.draft, origin)[0]))


def _write(
    desk: Desk, rows: Sequence[Mapping[str, Any]], stored: Sequence[tuple[New, Draft]] = ()
) -> dict[str, Written]:
    """Write rows of memories and refusals, and the vectors of those that became memories; these by their ids.

    They go in one message with the next statement.
    """
    if not rows:
        return {}
    vectors = [(new.memory_id, draft) for new, draft in stored if is_compared(desk, draft)]
    rows_of = fetch_ahead(
        desk.conn, "write_memories", tenant_id=desk.tenant_id, scope_id=desk.scope_id, rows=Jsonb(rows),
        policy=desk.policy.name, policy_version=desk.policy.version, reason=desk.reason, run_id=desk.run_id,
        at=desk.at, model_id=desk.model_id,
        memory_ids=Texts([memory_id for memory_id, _ in vectors]),
        vectors=embedding.all_halves([draft.vector for _, draft in vectors]),
        windowed=[desk.is_long is not None and desk.is_long(draft.fact) for _, draft in vectors],
    )  # fmt: skip
    made = cache(lambda: {row.memory_id: row for row in rows_of()})
    return {new.memory_id: Written(new, made) for new, _ in stored}


@dataclass(frozen=True, slots=True)
class New:
    """The ids and the place of a row about to be written."""

    memory_id: str
    lineage_id: str
    revision: int = 1
    place: Place = HEAD


def _entry(memory_id: str, draft: Draft, origin: Origin) -> keyword.Entry:
    return keyword.Entry(memory_id, draft.fact, origin.stream_id, origin.position, origin.occurred_at)


def _columns(desk: Desk, judged: Judged, origin: Origin, new: New, decision: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a new memory, of its first statement and of its first entry in the history, as JSON keeps them."""
    draft, rules, place = judged.draft, judged.draft.classified, new.place
    surprise, quoted = judged.judgement.surprise, _quoted(origin)
    written = {
        "memory_id": new.memory_id, "lineage_id": new.lineage_id, "revision": new.revision, "status": place.status,
        "superseded_by": place.superseded_by, "heir_from": _said(place.valid_to), "moot": place.moot,
        "embed_state": _embed_state(desk, draft),
    }  # fmt: skip
    said = {
        "fact": draft.fact, "fact_hash": text.fact_hash(draft.fact).hex(), "main_content": draft.main_content,
        "tags": list(draft.tags), "confidence": draft.confidence, "topic_key": draft.topic_key,
        "attribute": draft.attribute, "value": draft.value, "source": draft.source, "private": draft.private,
        "metadata": dict(draft.metadata), "valid_from": _said(draft.begins(origin)),
        "holds_at": _said(draft.stands(origin)), "valid_from_stated": draft.valid_from is not None,
        "ended_at": _said(draft.ends(origin)), "expires_at": _said(expiry(draft, origin)),
    }  # fmt: skip
    ruled = {
        "memory_type": rules.memory_type, "category": rules.category, "importance": _importance(judged),
        "layer": _layer(desk, draft), "critical_slot": rules.critical_slot,
        "conflict_key": rules.conflict_key, "subject": rules.subject, "negates": rules.negates, "rule": rules.rule,
        "surprise": None if surprise is None else surprise.score,
    }  # fmt: skip
    came = {
        "event_id": origin.event_id, "ordinal": origin.ordinal, "deriver": origin.deriver,
        "deriver_version": origin.deriver_version, "model": origin.model, "prompt_hash": origin.prompt_hash,
        "actor": origin.actor, "trust": trust_rank(origin.trust),
        "session_id": origin.session_id, "task_run_id": origin.task_run_id,
        "stated_recorded_at": _said(origin.recorded_at), **quoted,
    }  # fmt: skip
    noted = {
        "entry": ENTRIES[judged.kind], "decision": _kept(decision),
        "previous_id": judged.judgement.target_id if judged.kind == "revise" else None,
    }  # fmt: skip
    columns = {**written, **said, **ruled, **came, **noted, "quote_hash": quoted["quote_hash"].hex()}
    return {name: value for name, value in columns.items() if value is not None}


def _refusal(judged: Judged, origin: Origin, decision: Mapping[str, Any]) -> dict[str, Any]:
    return _marked(ENTRIES[judged.kind], origin, decision)


def _marked(entry: str, origin: Origin, decision: Mapping[str, Any]) -> dict[str, Any]:
    """What the history keeps of a decision by which no row is added."""
    return {**_noted(entry, origin), "decision": _kept(decision)}


def _noted(entry: str, origin: Origin) -> dict[str, Any]:
    return {"entry": entry, "actor": origin.actor, "event_id": origin.event_id}


def _restatement(desk: Desk, judged: Judged, origin: Origin) -> dict[str, Any]:
    """A statement more of a memory, and what it gives the row, as JSON keeps them."""
    draft, quoted = judged.draft, _quoted(origin)
    return {
        "memory_id": judged.judgement.target_id, "event_id": origin.event_id, "ordinal": origin.ordinal,
        "valid_from": _said(draft.begins(origin)), "holds_at": _said(draft.stands(origin)),
        "stated_recorded_at": _said(origin.recorded_at), "tags": list(draft.tags), "trust": trust_rank(origin.trust),
        "importance": draft.classified.importance if desk.policy.write_mode == "absorb" else None,
        "deriver": origin.deriver, "deriver_version": origin.deriver_version, "model": origin.model,
        "prompt_hash": origin.prompt_hash, **quoted, "quote_hash": quoted["quote_hash"].hex(),
    }  # fmt: skip


def _said(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _layer(desk: Desk, draft: Draft) -> str:
    """The layer of a new memory: what is pinned is core, and evidence waits in no buffer."""
    if draft.classified.critical_slot is not None:
        return "core"
    return "working" if draft.is_evidence else desk.policy.intake


def _reinforce(desk: Desk, judged: Judged, origin: Origin) -> Settled:
    draft, target_id = judged.draft, judged.judgement.target_id
    target = desk.load(target_id)
    assert target is not None
    if SAME_EVENT in judged.judgement.reasons:
        return _cite_again(desk, judged, origin, target.memory_id)
    send_ahead(desk.conn, "count_repetition", tenant_id=desk.tenant_id, memory_id=target_id, at=desk.at)
    send_ahead(
        desk.conn, "restate_memory", tenant_id=desk.tenant_id, memory_id=target.memory_id,
        holds_at=draft.stands(origin),
        stated_recorded_at=origin.recorded_at, event_id=origin.event_id, ordinal=origin.ordinal,
        tags=sorted({*target.tags, *draft.tags})[:20], trust=trust_rank(origin.trust),
        importance=draft.classified.importance if desk.policy.write_mode == "absorb" else None,
    )  # fmt: skip
    cite(desk, target.memory_id, origin, draft)
    decision = _decision(desk, judged, origin, memory_id=target_id, target_id=target_id)
    stirred = _note(desk, target.memory_id, "reinforced", origin, decision=decision)
    stirred = bool(reorder(desk, target.lineage_id, origin.event_id, origin.actor)) or stirred
    return Settled(decision, origin, judged, stirred=stirred, moved=None if stirred else ())


def _cite_again(desk: Desk, judged: Judged, origin: Origin, memory_id: str) -> Settled:
    """One statement that two derivers found: a citation more, and neither a repetition nor another standing."""
    cite(desk, memory_id, origin, judged.draft)
    decision = _decision(desk, judged, origin, memory_id=memory_id, target_id=memory_id)
    stirred = _note(desk, memory_id, "annotated", origin, decision=decision)
    return Settled(decision, origin, judged, stirred=stirred, moved=None if stirred else ())


def _refuse(desk: Desk, judged: Judged, origin: Origin) -> Settled:
    decision = _decision(desk, judged, origin, memory_id=None, target_id=judged.judgement.target_id)
    _write(desk, [_refusal(judged, origin, decision)])
    return Settled(decision, origin, judged)


def reorder(desk: Desk, lineage_id: str, event_id: str | None, actor: str | None) -> dict[str, Place]:
    """Recompute who is head of a lineage; the rows whose place changed, each noted in the history."""
    rows = fetch_all(desk.conn, "list_lineage_members", tenant_id=desk.tenant_id, lineage_ids=[lineage_id])
    moved = _move(desk, rows, _places(rows))
    for memory_id, place in moved.items():
        _note_change(desk, memory_id, _entry_of(place), event_id, actor)
    return moved


def _entry_of(place: Place) -> str:
    """What the history calls it when a row comes to a place."""
    return place.status if place.status in ("superseded", "contested") and not place.put_away else "reordered"


def deriving_lock(stream_id: str) -> str:
    """The name of the lock under which memories are made of the events of a stream, or an event of it is erased."""
    return f"derive/{stream_id}"


@dataclass(frozen=True, slots=True)
class Rests:
    """What rests on an event: lineages, and the events of whose text a model spoke when it had read this one too.

    `changed` are the lineages of which it changed a memory, whether one was made of it or not.
    """

    lineages: tuple[str, ...]
    changed: tuple[str, ...]
    beside: tuple[str, ...]


def lock_what_rests_on(desk: Desk, event: Event) -> Rests:
    """What rests on an event, with every lock taken that guards it.

    Nothing more is derived from the event's stream until the commit.
    """
    held: set[str] | None = None
    asked = {"tenant_id": desk.tenant_id, "event_id": event.event_id}
    while True:  # until nothing was derived between the look and the locks
        read = fetch_all(desk.conn, "list_events_read_beside", stream_id=event.stream_id, **asked)
        beside = tuple(row.event_id for row in read)
        rows = fetch_all(desk.conn, "list_lineages_of_event", beside=list(beside), **asked)
        names = {name for row in rows for name in lineage_locks(row.lineage_id, row.scope_id, row.conflict_key)}
        if held is not None and names <= held:
            made = dict.fromkeys(row.lineage_id for row in rows if row.made)
            return Rests(tuple(made), tuple(dict.fromkeys(row.lineage_id for row in rows)), beside)
        scopes = [row.scope_id for row in rows if row.scope_id > 0]
        lock(desk, [], deriving_lock(event.stream_id), *names, scopes=scopes)
        held = names


def erase_what_rests_on(desk: Desk, event: Event, rests: Rests, redaction_id: str, actor: str | None) -> list[str]:
    """Empty every memory made of an event: text, words, vector and quoted copies go, the place in the lineage stays.

    So are those a model made of other events when it had read this one too. What the event left on other memories goes
    as well. The ids of those that were emptied.
    """
    rows = fetch_all(
        desk.conn, "erase_memories", tenant_id=desk.tenant_id, event_id=event.event_id, beside=list(rests.beside),
        empty=EMPTY_HASH,
    )  # fmt: skip
    execute(desk.conn, "erase_refusals", tenant_id=desk.tenant_id, event_ids=list(rests.beside))
    execute(desk.conn, "erase_marks", tenant_id=desk.tenant_id, event_id=event.event_id, empty=EMPTY_HASH)
    _erase_inherited(desk, rests.changed)
    for row in rows:
        _note_change(desk, row.memory_id, "erased", redaction_id, actor)
    for lineage_id in rests.lineages:
        reorder(desk, lineage_id, redaction_id, actor)
    keyword.reindex_neighbours(
        desk.conn, event.stream_id, event.position, tenant_id=desk.tenant_id, after=True, config=desk.config
    )
    return [row.memory_id for row in rows]


def _erase_inherited(desk: Desk, lineage_ids: Sequence[str]) -> None:
    """Take from later revisions what they took over from erased ones, but for what their own texts say."""
    found = fetch_all(desk.conn, "list_heirs", tenant_id=desk.tenant_id, lineage_ids=list(lineage_ids))
    if found:
        heirs = [{**row._mapping, **_own_words(desk, row.fact)} for row in found]
        rows = fetch_all(desk.conn, "erase_inherited", tenant_id=desk.tenant_id, heirs=Jsonb(heirs))
        keyword.reindex(desk.conn, [row.memory_id for row in rows], tenant_id=desk.tenant_id, config=desk.config)


def _own_words(desk: Desk, fact: str) -> dict[str, str | None]:
    """What the policy makes of a text alone."""
    user = desk.visible.scope.user_id
    rules = classify(desk.policy, Proposal(fact, user_name=user if isinstance(user, str) else None))
    return {
        "category": rules.category, "critical_slot": rules.critical_slot, "conflict_key": rules.conflict_key,
        "subject": rules.subject,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Front:
    """The rows of a lineage that a newcomer must dominate to be head at once, and the number of its next revision.

    They were read at the moment `now` of the database's clock.
    """

    revision: int
    rows: tuple[Row[Any], ...]
    now: datetime

    def moved_by(self, new: Member) -> dict[str, Place] | None:
        """The places of the rows that a newcomer supersedes, which is head at once; None where it may not be. Pure."""
        members = [_member(row) for row in self.rows]
        if new.negates is not None or not lineage.dominates_front(new, members):
            return None
        beside = {row.memory_id for row in self.rows if row.moot}
        places = {
            m.memory_id: Place("superseded", new.memory_id, new.begins, moot=m.memory_id in beside)
            for m in members
            if not m.put_away and (m.memory_id not in beside or lineage.affirms(new, m))
        }
        return _moved(self.rows, places)


def fronts(desk: Desk, lineage_ids: Sequence[str]) -> dict[str, Front]:
    """The fronts of some lineages."""
    found: dict[str, list[Row[Any]]] = {}
    for row in fetch_all(desk.conn, "list_lineage_fronts", tenant_id=desk.tenant_id, lineage_ids=Texts(lineage_ids)):
        found.setdefault(row.lineage_id, []).append(row)
    return {
        lineage_id: Front(
            int(rows[0].next_revision), tuple(row for row in rows if row.memory_id is not None), rows[0].now
        )
        for lineage_id, rows in found.items()
    }


def _place(desk: Desk, lineage_id: str, new: Member) -> tuple[Place, dict[str, Place], int]:
    """The place of a new statement, the rows it moves (already updated), and the number of its revision."""
    front = fronts(desk, [lineage_id])[lineage_id]
    moved = front.moved_by(new)
    if moved is not None:
        # The common case costs a few rows however long the chain: the newcomer supersedes whatever stood.
        _put(desk, moved)
        return HEAD, moved, front.revision
    rows = fetch_all(desk.conn, "list_lineage_members", tenant_id=desk.tenant_id, lineage_ids=[lineage_id])
    places = _places(rows, new)
    own = places.pop(new.memory_id)
    return own, _move(desk, rows, places), front.revision


def _places(rows: Sequence[Row[Any]], *new: Member) -> dict[str, Place]:
    """The places of the rows of a lineage and of a newcomer; of denials put away only whether they are moot. Pure."""
    members = [*map(_member, rows), *new]
    places = lineage.places(members)
    away = [row for row, member in zip(rows, members, strict=False) if member.put_away and member.negates is not None]
    moot = lineage.moot(members) if away else set()
    return places | {
        row.memory_id: Place(row.status, row.superseded_by, _heir_from(row), row.memory_id in moot, put_away=True)
        for row in away
    }


def _move(desk: Desk, rows: Sequence[Row[Any]], places: Mapping[str, Place]) -> dict[str, Place]:
    moved = _moved(rows, places)
    _put(desk, moved)
    return moved


def _put(desk: Desk, moved: Mapping[str, Place]) -> None:
    # Heads step down before another rises: the unique index allows one at every moment.
    for memory_id, place in sorted(moved.items(), key=lambda item: item[1].status == "active" and not item[1].moot):
        if place.put_away:
            send_ahead(desk.conn, "mark_moot", tenant_id=desk.tenant_id, memory_id=memory_id, moot=place.moot)
            continue
        send_ahead(
            desk.conn, "place_memory", tenant_id=desk.tenant_id, memory_id=memory_id, status=place.status,
            superseded_by=place.superseded_by, heir_from=place.valid_to, moot=place.moot, at=desk.at,
        )  # fmt: skip


def _supersede(desk: Desk, moved: Mapping[str, Place]) -> None:
    """Give rows of several lineages the places of what newcomers supersede."""
    if moved:
        heirs = [place.superseded_by for place in moved.values()]
        send_ahead(
            desk.conn, "supersede_memories", tenant_id=desk.tenant_id, memory_ids=Texts(list(moved)),
            heirs=Texts(heirs), heirs_from=Texts([_said(place.valid_to) for place in moved.values()]), at=desk.at,
        )  # fmt: skip


def _moved(rows: Sequence[Row[Any]], places: Mapping[str, Place]) -> dict[str, Place]:
    before = {row.memory_id: Place(row.status, row.superseded_by, _heir_from(row), row.moot) for row in rows}
    return {i: p for i, p in places.items() if i in before and not _same(before[i], p)}


def _same(before: Place, after: Place) -> bool:
    return (before.status, before.superseded_by, before.moot) == (after.status, after.superseded_by, after.moot)


def _heir_from(row: Row[Any]) -> datetime | None:
    return None if row.valid_to is None or row.valid_to == row.ended_at else row.valid_to


def _member(row: Row[Any]) -> Member:
    return Member(
        row.memory_id, (row.stands_at, row.stands_recorded_at, row.stands_event_id, row.stands_ordinal), row.trust,
        row.fact, row.valid_from, row.put_away or row.status in ("archived", "deleted"), row.negates,
        row.status_reason == "erased",
    )  # fmt: skip


def _importance(judged: Judged) -> float:
    rules, surprise = judged.draft.classified, judged.judgement.surprise
    weight = TYPE_WEIGHTS.get(rules.category or "") or TYPE_WEIGHTS.get(rules.memory_type, 0.8)
    own = rules.importance if rules.importance is not None else surprise.score * weight if surprise is not None else 0.5
    return max(own, judged.head_importance) if judged.kind == "revise" and judged.head_importance is not None else own


def expiry(draft: Draft, origin: Origin) -> datetime | None:
    """When a memory of this draft expires, if ever. Pure."""
    length = draft.expires_in if draft.expires_in is not None else draft.classified.expires_in
    return origin.recorded_at + length if draft.expires_at is None and length else draft.expires_at


def _embed_state(desk: Desk, draft: Draft) -> str:
    if not desk.embeds:
        return "none"
    return "embedded" if draft.vector is not None and desk.model_id is not None else "pending"


def cite(desk: Desk, memory_id: str, origin: Origin, draft: Draft) -> None:
    """Keep the statement a memory rests on: the event, the exact characters, and since when it holds."""
    send_ahead(
        desk.conn, "add_source", tenant_id=desk.tenant_id, memory_id=memory_id, event_id=origin.event_id,
        ordinal=origin.ordinal,
        valid_from=draft.begins(origin), holds_at=draft.stands(origin), deriver=origin.deriver,
        deriver_version=origin.deriver_version, trust=trust_rank(origin.trust), stated_recorded_at=origin.recorded_at,
        model=origin.model, prompt_hash=origin.prompt_hash, **_quoted(origin),
    )  # fmt: skip


def _quoted(origin: Origin) -> dict[str, Any]:
    quote = (origin.content or "")[origin.char_start : origin.char_end]
    return {
        "char_start": origin.char_start, "char_end": origin.char_end, "verified": bool(quote),
        "quote_hash": bytes.fromhex(text.quote_hash(quote)),
    }  # fmt: skip


Edge = tuple[str, str, str, float, bool, str]
"""A relation about to be written: source, target, type, weight, whether the engine found it, and the event."""


def _edges(memory_id: str, judged: Judged, origin: Origin, moved: Mapping[str, Place]) -> list[Edge]:
    event_id = origin.event_id
    edges = [
        (memory_id, old, "supersedes", 1.0, False, event_id)
        for old, place in moved.items()
        if place.superseded_by == memory_id and not place.put_away
    ]
    if judged.judgement.contradicts_id is not None:
        weight = judged.judgement.contradicts_weight
        held = 1.0 if weight is None else min(1.0, max(0.0, weight))
        edges.append((memory_id, judged.judgement.contradicts_id, "contradicts", held, True, event_id))
    if judged.draft.parent_id is not None:
        edges.append((memory_id, judged.draft.parent_id, "part_of", 1.0, False, event_id))
    return edges


def _relate(desk: Desk, edges: Sequence[Edge]) -> None:
    if edges:
        sources, targets, types, weights, autos, events = zip(*edges, strict=True)
        send_ahead(
            desk.conn, "add_relation", tenant_id=desk.tenant_id, source_ids=list(sources), target_ids=list(targets),
            relation_types=list(types), weights=list(weights), autos=list(autos), event_ids=list(events), at=desk.at,
        )  # fmt: skip


def _put_away(desk: Desk, old: str, new: str, origin: Origin) -> bool:
    """W-11: an explicit act supersedes a row of any lineage, whatever the order says. Whether summaries told of it."""
    send_ahead(
        desk.conn, "put_away_memory", tenant_id=desk.tenant_id, memory_id=old, superseded_by=new, at=origin.recorded_at
    )
    _relate(desk, [(new, old, "supersedes", 1.0, False, origin.event_id)])
    return _note(desk, old, "superseded", origin)


def _note(
    desk: Desk,
    memory_id: str,
    entry: str,
    origin: Origin,
    *,
    decision: Mapping[str, Any] | None = None,
    previous_id: str | None = None,
) -> bool:
    return _note_change(desk, memory_id, entry, origin.event_id, origin.actor, decision, previous_id)


def _note_change(
    desk: Desk, memory_id: str, entry: str, event_id: str | None, actor: str | None,
    decision: Mapping[str, Any] | None = None, previous_id: str | None = None,
) -> bool:  # fmt: skip
    """Note a change of a memory; whether summaries have to do with it, which may have changed too."""
    noted = fetch_one(
        desk.conn, "note_change", tenant_id=desk.tenant_id, memory_id=memory_id, entry=entry, previous_id=previous_id,
        decision=None if decision is None else Jsonb(_kept(decision)), reason=desk.reason, actor=actor,
        event_id=event_id, at=desk.at, run_id=desk.run_id,
    )  # fmt: skip
    if noted is None or not noted.summarised:
        return False
    follow_summaries(desk, [memory_id], event_id, actor)
    return True


def note_effects(
    desk: Desk, effects: Sequence[Mapping[str, Any]], event_id: str | None, actor: str | None
) -> list[str]:  # fmt: skip
    """Write down what became of memories: `memory_id`, `entry`, `because`. Those that summaries have to do with.

    `follow_summaries` must follow with these once the order of their lineages has been said.
    """
    rows = fetch_all(
        desk.conn, "note_effects", tenant_id=desk.tenant_id, rows=Jsonb(list(effects)), at=desk.at, reason=desk.reason,
        actor=actor, event_id=event_id, run_id=desk.run_id,
    )  # fmt: skip
    return [row.memory_id for row in rows if row.summarised]


def follow_summaries(desk: Desk, memory_ids: Sequence[str], event_id: str | None, actor: str | None) -> None:
    """Put away the summaries that tell what of these is not so any more, and give back what those that left stood for.

    A summary stands for what is current, for everybody and without an end, and only while it is current itself. One
    that is put away may stand in another, which goes too.
    """
    changed = list(memory_ids)
    while changed:
        told = fetch_all(desk.conn, "put_away_summaries", tenant_id=desk.tenant_id, memory_ids=changed)
        gone = [*changed, *(row.memory_id for row in told)]
        freed = fetch_all(desk.conn, "free_consolidated", tenant_id=desk.tenant_id, memory_ids=gone)
        left = [{"memory_id": row.memory_id, "entry": "archived", "because": STALE} for row in told]
        back = [
            {
                "memory_id": row.memory_id, "entry": "restored" if row.status == "active" else "annotated",
                "because": FREED,
            }
            for row in freed
        ]  # fmt: skip
        changed = note_effects(desk, left + back, event_id, actor) if left or back else []


def note(desk: Desk, memory_id: str, entry: str, event_id: str | None, actor: str | None) -> None:
    """Write down in the history that a memory changed, with the state it has now."""
    _note_change(desk, memory_id, entry, event_id, actor)


def _decision(
    desk: Desk, judged: Judged, origin: Origin, *, memory_id: str | None, target_id: str | None
) -> dict[str, Any]:
    """The decision as the history keeps it, but for what `_kept` leaves out: memories are named by their ids."""
    made = judged.judgement
    hints: tuple[str, ...] = (
        ("split",) if len(judged.draft.fact) > LONG_FACT and f"\n{judged.draft.fact}".count("\n#") >= 2 else ()
    )
    hints += ("secret",) if secrets.MARK.search(judged.draft.fact) else ()
    return {
        "kind": made.kind, "memory_id": memory_id, "target_id": target_id, "event_id": origin.event_id,
        "fact": judged.draft.fact if memory_id is None else None,
        "reasons": list(made.reasons), "nearest": [_kept_near(near) for near in made.nearest],
        "surprise": None if made.surprise is None else _kept_terms(made.surprise), "options": list(made.options),
        "hints": list(hints), "policy": f"{desk.policy.name}@{desk.policy.version}",
        "rule": judged.draft.classified.rule,
    }  # fmt: skip


def _kept_near(near: Neighbour) -> dict[str, Any]:
    """A neighbour as the history keeps it: without its fact, which its own row has."""
    return {
        "memory_id": near.memory_id, "cosine": near.cosine, "jaccard": near.jaccard, "changed": list(near.changed)
    }  # fmt: skip


def _kept_terms(terms: SurpriseTerms) -> dict[str, Any]:
    told: dict[str, Any] = {
        "semantic": terms.semantic, "keyword": terms.keyword, "rarity": terms.rarity, "score": terms.score,
        "closest_id": terms.closest_id, "threshold": terms.threshold,
    }  # fmt: skip
    return {name: value for name, value in told.items() if value is not None}


def _kept(decision: Mapping[str, Any]) -> dict[str, Any]:
    """A decision without what it says nothing in; `history.decisions_of` makes it whole again."""
    return {name: value for name, value in decision.items() if value is not None and (value != [] or name in LISTED)}


def whole(desk: Desk, settled: Sequence[Settled]) -> list[WriteDecision]:
    """The decisions with their memories, as they stand now: read back, but for what could only be as it was written.

    With them the transaction ends: where nothing is to be read, COMMIT goes in the message of what was written.
    """
    alone = len(settled) == 1 or all(one.written is not None and not one.stirred for one in settled)
    plain = {one.memory_id: one for one in settled if alone and _is_plain(desk, one)}
    wanted = {one.decision[name] for one in settled for name in ("memory_id", "target_id")} - {None, *plain}
    if not wanted:
        send_now(ending(desk.conn))
    read = memories.load(desk.conn, desk.visible, sorted(wanted))
    found = {memory_id: _as_written(desk, one) for memory_id, one in plain.items()}
    found |= {memory.memory_id: memory for memory in read}
    pairs = [(found.get(one.decision["memory_id"]), found.get(one.decision["target_id"])) for one in settled]
    behind = {one.lineage_id for memory, target in pairs if (one := memory or target) is not None and not _is_head(one)}
    heads = memories.heads(desk.conn, desk.visible, sorted(behind))
    return [
        _decided(one, memory, _head_of(memory or target, heads), target)
        for one, (memory, target) in zip(settled, pairs, strict=True)
    ]


def _decided(settled: Settled, memory: Memory | None, head: Memory | None, target: Memory | None) -> WriteDecision:
    """A decision as `revive` would make it, of what was judged."""
    kept, judged = settled.decision, settled.judged
    return WriteDecision(
        kind=kept["kind"], memory=memory, head=head, target=target, event_id=kept["event_id"],
        reasons=tuple(kept["reasons"]), nearest=judged.judgement.nearest, surprise=judged.judgement.surprise,
        options=tuple(kept["options"]), hints=tuple(kept["hints"]), policy=kept["policy"], rule=kept["rule"],
    )  # fmt: skip


def _is_plain(desk: Desk, settled: Settled) -> bool:
    """Whether a memory that was just written is read as it was written; else only the database can tell. Pure.

    It is where a row is head, without an end or an expiry, and cites its own event alone; and where its metadata holds
    texts only, whose numbers JSON of the database might write otherwise.
    """
    written, draft = settled.written, settled.judged.draft
    if written is None or desk.scope_id not in desk.visible.scopes or written.new.place != HEAD:
        return False
    told = all(isinstance(value, str | bool | None) for value in draft.metadata.values())
    ends = draft.valid_to is not None or expiry(draft, settled.origin) is not None
    return told and not ends and not draft.citations


def _as_written(desk: Desk, settled: Settled) -> Memory:
    """The memory that was just written, as it would be read, where it is plain. Pure."""
    written, judged, origin = settled.written, settled.judged, settled.origin
    assert written is not None
    draft, rules, surprise = judged.draft, judged.draft.classified, judged.judgement.surprise
    return Memory(
        memory_id=written.new.memory_id, scope=desk.visible.scopes[desk.scope_id], fact=draft.fact,
        main_content=draft.main_content,
        memory_type=rules.memory_type, category=rules.category, tags=draft.tags,
        importance=_importance(judged), confidence=draft.confidence, trust=cast("Trust", origin.trust),
        layer=cast("Layer", written.layer), status="active", status_reason=None, critical_slot=rules.critical_slot,
        conflict_key=rules.conflict_key, topic_key=draft.topic_key, subject=rules.subject, attribute=draft.attribute,
        value=draft.value, lineage_id=written.new.lineage_id, revision=written.new.revision, superseded_by=None,
        superseded_at=None, consolidated_into=None, valid_from=draft.begins(origin),
        valid_from_stated=draft.valid_from is not None, valid_to=None, recorded_at=written.recorded_at,
        expires_at=None, surprise=None if surprise is None else surprise.score, source=draft.source,
        session_id=origin.session_id, task_run_id=origin.task_run_id, metadata=dict(draft.metadata),
        private=draft.private, deriver=origin.deriver, deriver_version=origin.deriver_version,
        policy=f"{desk.policy.name}@{desk.policy.version}", rule=rules.rule,
        embedded=_embed_state(desk, draft) == "embedded", event_id=origin.event_id, actor=origin.actor,
        citations=(_citation(origin),),
    )  # fmt: skip


def _citation(origin: Origin) -> Citation:
    said = _quoted(origin)
    return Citation(
        origin.event_id, origin.char_start, origin.char_end, said["quote_hash"].hex(), None, said["verified"]
    )


def revive(kept: Mapping[str, Any], memory: Memory | None, head: Memory | None, target: Memory | None) -> WriteDecision:
    """A decision from the form the history keeps, with its memories."""
    return WriteDecision(
        kind=kept["kind"], memory=memory, head=head, target=target, event_id=kept["event_id"],
        reasons=tuple(kept["reasons"]),
        nearest=tuple(Neighbour.from_dict(near) for near in kept["nearest"]),
        surprise=None if kept["surprise"] is None else SurpriseTerms.from_dict({**UNTOLD, **kept["surprise"]}),
        options=tuple(kept["options"]), hints=tuple(kept["hints"]), policy=kept["policy"], rule=kept["rule"],
    )  # fmt: skip


def _is_head(memory: Memory) -> bool:
    return memory.status == "active" and "moot" not in memory.labels


def _head_of(memory: Memory | None, heads: Mapping[str, Memory]) -> Memory | None:
    return memory if memory is None or _is_head(memory) else heads.get(memory.lineage_id)


def neighbours(desk: Desk, draft: Draft, now: datetime | None) -> list[gates.Near]:
    """The facts nearest a draft that has no vector, by its words.

    Of the scope, and in mode `report` also of the same owner in `default`.
    """
    own = _near(desk, draft, desk.scope_id, now, in_default=False)
    if desk.policy.write_mode != "report":
        return own
    return own + [
        near for scope_id in default_scopes(desk) for near in _near(desk, draft, scope_id, now, in_default=True)
    ]


def _near(desk: Desk, draft: Draft, scope_id: int, now: datetime | None, *, in_default: bool) -> list[gates.Near]:
    rows = _near_by_words(desk, draft, scope_id, now)
    return [near_of(draft, row, row.cosine, in_default=in_default) for row in rows]


def is_compared(desk: Desk, draft: Draft) -> bool:
    """Whether a draft is compared by its vector, not by its words alone. Pure."""
    return draft.vector is not None and desk.model_id is not None


def near_of(draft: Draft, row: Any, cosine: float | None, *, in_default: bool) -> gates.Near:
    """A row near a draft, as the gates see it. Pure."""
    key = draft.classified.conflict_key
    return gates.Near(
        row.memory_id, row.fact, None if cosine is None else round(cosine, nearness.DIGITS), in_default,
        row.conflict_key,
        stated_from=row.valid_from if row.valid_from_stated else None, stated_to=row.ended_at,
        changed=("slot",) if None not in (key, row.conflict_key) and key != row.conflict_key else (),
    )  # fmt: skip


def _near_by_words(desk: Desk, draft: Draft, scope_id: int, now: datetime | None) -> list[Row[Any]]:
    """Without a vector the words alone say what is near: enough for surprise, never for calling two facts one."""
    words = keyword.parse(draft.fact)
    sought = keyword.look_up(desk.conn, desk.tenant_id, [scope_id], words, size=NEAR_SIZE, config=desk.config)
    hits = keyword.find(desk.conn, desk.tenant_id, [scope_id], sought, limit=NEAR_FETCHED)
    ids_found = [hit.memory_id for hit in hits]
    if not ids_found:
        return []
    return fetch_all(
        desk.conn,
        "list_neighbours",
        tenant_id=desk.tenant_id,
        memory_ids=ids_found,
        own=desk.scope_id,
        private=draft.private,
        now=now,
    )


def default_scopes(desk: Desk) -> list[int]:
    """The scopes of the same owner in the shared namespace, which mode `report` looks at too."""
    own = desk.visible.scopes[desk.scope_id]
    return [
        scope_id
        for scope_id, scope in desk.visible.scopes.items()
        if scope.namespace == "default" != own.namespace
        and (scope.agent_id, scope.user_id) == (own.agent_id, own.user_id)
    ]
