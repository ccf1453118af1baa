"""What is written and where: a draft, what it comes of, the desk it is written at, and the locks that go before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from engram import gates, ids, memories, text
from engram.arrays import Texts
from engram.database import Connection, send_ahead
from engram.english.attributes import Echo
from engram.policies import MemoryPolicy
from engram.policies.classify import Classified
from engram.scales import REFERENCE, Scale
from engram.tenancy import Visible
from engram.values import Memory

EVIDENCE: Final = ("verbatim", "source_chunk")
BESIDE_ORDINAL: Final = 10_000
"""From here on the numbers are those of earlier messages that a statement was read with: it is not theirs."""


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
    ahead: bool = False
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
    refused: str | None = None  # the guard of the policy that refused it, and why; or what failed on it
    failed: bool = False  # whether something failed on it, so that nobody knows what it would have been
    succeeds: str | None = None  # the text of the memory of which it says that it is over or has changed
    beside: tuple[
        Origin, ...
    ] = ()  # what it was read with of the messages before its event, as the question it answers
    stated: tuple[str, ...] = ()  # what a caller gave by name of what a repetition leaves as it is

    def begins(self, origin: Origin) -> datetime:
        """Since when the statement holds: what was stated, otherwise when it was said."""
        return self.valid_from or origin.occurred_at

    def stands(self, origin: Origin) -> datetime:
        """Where the statement stands in its lineage: its beginning, or when it was said, where it holds since or until.

        It stands behind what it supersedes by name, whatever the times say.
        """
        begins = self.begins(origin)
        stands = max(begins, origin.occurred_at) if self.still else begins
        stands = min(stands, origin.occurred_at) if self.ahead else stands
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
    says whether a memory without a vector is to get one, of this process or another, and `building_id` which model is
    being built meanwhile.
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
    scale: Scale = REFERENCE  # of the model's cosines

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


def lock(desk: Desk, drafts: Sequence[Draft], *also: str, scopes: Sequence[int] = ()) -> None:
    """Take the locks of everything these drafts may touch, in one order: conflict keys, exact texts, lineages.

    Writers share the projection of the scopes they write to, the desk's own and `scopes`.
    """
    lock_all([(desk, drafts)], *also, scopes=scopes)


def lock_all(
    several: Sequence[tuple[Desk, Sequence[Draft]]], *also: str, scopes: Sequence[int] = (), alone: Sequence[int] = ()
) -> None:
    """The same for the drafts of several desks of one tenant and transaction, no other writer in scopes `alone`."""
    first = several[0][0]
    written = {*(desk.scope_id for desk, _ in several), *scopes}
    projections = {one: projection_lock(first.tenant_id, one) for one in written}
    shared = [name for one, name in projections.items() if one not in alone]
    names = {*projections.values(), *(f"{first.tenant_id}/{name}" for name in also)}
    names.update(name for desk, drafts in several for name in _locks(desk, drafts))
    send_ahead(
        first.conn, "lock_keys", keys=Texts(sorted(names)), shared=sorted(shared), first=sorted(projections.values())
    )


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
    send_ahead(conn, "lock_keys", keys=[name], shared=[name], first=[name])


def projection_lock(tenant_id: str, scope_id: int) -> str:
    """The name of the lock that writers of a scope share, and that a switch to another projection takes alone."""
    return f"{tenant_id}/{scope_id}/projection"


def lineage_locks(lineage_id: str, scope_id: int, conflict_key: str | None) -> list[str]:
    """The names, without the tenant, of all the locks that guard a lineage: its own, and that of its key."""
    own = f"lineage/{lineage_id}"
    return [own] if conflict_key is None else [own, _key_lock(scope_id, conflict_key)]


def _key_lock(scope_id: int, conflict_key: str) -> str:
    return f"{scope_id}/key/{conflict_key}"


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


def iso(moment: datetime | None) -> str | None:
    """A moment as JSON and arrays of text carry it; None of none."""
    return None if moment is None else moment.isoformat()


def deriving_lock(stream_id: str) -> str:
    """The name of the lock under which memories are made of the events of a stream, or an event of it is erased."""
    return f"derive/{stream_id}"
