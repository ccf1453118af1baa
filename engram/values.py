"""Values that cross the door: frozen, whole, and easy to print or send as JSON."""

from __future__ import annotations

import itertools
import re
import types
import typing
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Literal, Self

from engram.errors import InvalidInput
from engram.ids import short_id
from engram.scope import ALL_USERS, AllUsers, Scope

MemoryType = Literal[
    "semantic", "episodic", "procedural", "profile", "project", "task", "preference", "constraint", "decision",
    "tool_result",
]  # fmt: skip
Status = Literal["active", "superseded", "contested", "archived", "deleted", "quarantined"]
Layer = Literal["buffer", "working", "core"]
Kind = Literal["semantic", "episodic", "procedural"]
Trust = Literal["operator", "user", "agent", "tool", "document", "web"]
Role = Literal["user", "assistant", "agent", "tool", "system"]
Derive = Literal["skip", "verbatim", "rules", "llm"]
DecisionKind = Literal["add", "reinforce", "revise", "conflict", "reject"]
Intent = Literal["current", "historical", "event", "lineage", "temporal_chain", "chat"]
Mode = Literal["hybrid", "semantic", "keyword"]
Format = Literal["markdown", "bullets", "prose", "xml", "json"]
Grouping = Literal["type", "date", "session"]
Calendar = Literal["day", "week", "month"]
Detail = Literal["full", "compact"]
Provider = Literal["openai", "anthropic"]
CitationState = Literal["verified", "changed", "erased"]
JobState = Literal["queued", "running", "done", "dead", "cancelled", "paused"]
Direction = Literal["outbound", "inbound", "any"]
TaskStatus = Literal["active", "paused", "completed", "failed", "cancelled"]
T = typing.TypeVar("T")
Window = tuple[datetime | None, datetime | None]

MEMORY_TYPES: tuple[str, ...] = typing.get_args(MemoryType)
STATUSES: tuple[str, ...] = typing.get_args(Status)
LAYERS: tuple[str, ...] = typing.get_args(Layer)
TRUSTS: tuple[str, ...] = typing.get_args(Trust)  # best first: the index is what the database stores
ROLES: tuple[str, ...] = typing.get_args(Role)
DERIVES: tuple[str, ...] = typing.get_args(Derive)
KINDS: tuple[str, ...] = typing.get_args(Kind)
TYPE_ALIASES: Final[Mapping[str, tuple[MemoryType, str | None]]] = types.MappingProxyType(
    {
        "fact": ("semantic", None),
        "semantic": ("semantic", None),
        "preference": ("preference", None),
        "skill": ("procedural", None),
        "procedural": ("procedural", None),
        "workflow": ("procedural", None),
        "episode": ("episodic", None),
        "episodic": ("episodic", None),
        "context": ("semantic", "context"),
        "decision": ("decision", None),
        "todo": ("task", None),
        "task": ("task", None),
        "error": ("tool_result", "error"),
        "lesson": ("procedural", "lesson"),
        "meeting_ledger": ("episodic", "meeting"),
        "identity": ("profile", None),
        "profile": ("profile", None),
        "constraint": ("constraint", None),
        "project": ("project", None),
        "tool_result": ("tool_result", None),
    }
)
"""The names a caller may give a type, and the type and category they stand for."""
MODES: tuple[str, ...] = typing.get_args(Mode)
FORMATS: tuple[str, ...] = typing.get_args(Format)
JOB_STATES: tuple[str, ...] = typing.get_args(JobState)
DIRECTIONS: tuple[str, ...] = typing.get_args(Direction)
TASK_STATUSES: tuple[str, ...] = typing.get_args(TaskStatus)
GROUPS: tuple[str, ...] = typing.get_args(Grouping)
CALENDARS: tuple[str, ...] = typing.get_args(Calendar)
DECISIONS: tuple[str, ...] = typing.get_args(DecisionKind)
DETAILS: tuple[str, ...] = typing.get_args(Detail)
CITATION = re.compile(r"(?<![0-9a-z])(mem|evt)[-\u2010-\u2015\u2212]([0-9a-f]{8,32})(?![0-9a-z])")
DATA_SECTION = "Untrusted data"
UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")  # what may stand in a mark without being seen


def trust_rank(trust: str) -> int:
    """The number the database stores for a trust: 0 (operator) is best, 5 (web) is worst."""
    return TRUSTS.index(trust)


def is_of_type(names: Collection[str], memory_type: str, category: str | None) -> bool:
    """Whether a memory is of one of some types; a sister name may stand for a category beside. Pure."""
    known = (TYPE_ALIASES[name] for name in names)
    return any(memory_type == wanted and implied in (None, category) for wanted, implied in known)


def kind_of(memory_type: str) -> Kind:
    """The kind of a memory type, which chooses how it fades."""
    if memory_type in ("episodic", "tool_result"):
        return "episodic"
    return "procedural" if memory_type == "procedural" else "semantic"


class Value:
    """A frozen value that turns itself into plain JSON data and back."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data: dicts, lists, text, numbers; times as ISO 8601."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The value that `to_dict` came from; unknown names are ignored."""
        hints = _hints(cls)
        return cls(
            **{
                name: value if value is None or hints[name] in PLAIN else _revive(hints[name], value)
                for name, value in data.items()
                if name in hints
            }
        )


def _hints(value: type) -> dict[str, Any]:
    found = _HINTS.get(value)
    if found is None:
        found = _HINTS[value] = typing.get_type_hints(value)
    return found


PLAIN: Final = (str, int, float, bool, str | None, int | None, float | None)
_HINTS: dict[type, dict[str, Any]] = {}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, AllUsers):
        return {"all_users": True}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def _revive(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if value == {"all_users": True}:
            return ALL_USERS
        chosen = [arg for arg in args if arg is not type(None) and arg is not AllUsers]
        wanted = [arg for arg in chosen if (typing.get_origin(arg) is tuple) == isinstance(value, list)]
        return _revive((wanted or chosen)[0], value)
    if origin is tuple:
        inner = args[0] if len(args) == 2 and args[1] is Ellipsis else None
        return tuple(_revive(inner or args[i], item) for i, item in enumerate(value))
    if hint is datetime:
        return datetime.fromisoformat(value)
    if hint is Decimal:
        return Decimal(value)
    if origin in (Mapping, dict, typing.get_origin(Mapping[str, Any])) and len(args) == 2:
        return {key: _revive(args[1], item) for key, item in value.items()}
    if isinstance(hint, type) and is_dataclass(hint) and isinstance(value, Mapping):
        hints = typing.get_type_hints(hint)
        return hint(**{name: _revive(hints[name], item) for name, item in value.items() if name in hints})
    return value


@dataclass(frozen=True, slots=True)
class Activity(Value):
    """How often a memory was returned, restated and judged: counters that are allowed to lose a beat."""

    access_count: int = 0
    last_accessed_at: datetime | None = None
    repetition_count: int = 0
    positive: int = 0
    negative: int = 0


@dataclass(frozen=True, slots=True)
class Citation(Value):
    """The exact characters of an event that a memory rests on: code points of the stored content, half-open."""

    event_id: str
    char_start: int
    char_end: int
    quote_hash: str
    quote: str | None = None
    verified: bool = False


@dataclass(frozen=True, slots=True)
class Memory(Value):
    """One atomic thing an agent knows, with its state, its times and its sources."""

    memory_id: str
    scope: Scope
    fact: str
    main_content: str | None
    memory_type: MemoryType
    category: str | None
    tags: tuple[str, ...]
    importance: float
    confidence: float
    trust: Trust
    layer: Layer
    status: Status
    status_reason: str | None
    critical_slot: str | None
    conflict_key: str | None
    topic_key: str | None
    subject: str | None
    attribute: str | None
    value: str | None
    lineage_id: str
    revision: int
    superseded_by: str | None
    superseded_at: datetime | None
    consolidated_into: str | None
    valid_from: datetime
    valid_from_stated: bool
    valid_to: datetime | None
    recorded_at: datetime
    expires_at: datetime | None
    surprise: float | None
    source: str | None
    session_id: str | None
    task_run_id: str | None
    metadata: Mapping[str, Any]
    private: bool
    deriver: str | None
    deriver_version: int | None
    policy: str
    rule: str | None
    embedded: bool
    event_id: str
    actor: str | None = None
    labels: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    activity: Activity = field(default_factory=Activity)

    @property
    def content(self) -> str:
        """Another name of `fact`, for code written for other libraries."""
        return self.fact

    @property
    def kind(self) -> Kind:
        """Episodic, procedural or semantic, from the type."""
        return kind_of(self.memory_type)

    @property
    def short_id(self) -> str:
        """The id printed for people: `mem-` and the last eight digits."""
        return short_id(self.memory_id)

    @property
    def is_critical(self) -> bool:
        """Whether a slot pins this memory into every context."""
        return self.critical_slot is not None

    @property
    def is_current(self) -> bool:
        """Whether the row was current when it was read: active, not expired, not ended, and no source of a summary."""
        return self.consolidated_into is None and self.stands

    @property
    def stands(self) -> bool:
        """Whether what the row says held when it was read: like `is_current`, and of a source of a summary as well."""
        return self.status == "active" and not {"expired", "ended"} & set(self.labels)


@dataclass(frozen=True, slots=True)
class Neighbour(Value):
    """An existing memory near a candidate, and in which ways its values differ.

    Memories too far away to be called the same, whatever they say, are not compared: of them `changed` says no more
    than that they belong to another slot.
    """

    memory_id: str
    fact: str
    cosine: float | None
    jaccard: float
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SurpriseTerms(Value):
    """How new a candidate is, term by term, each from 0 (known) to 1 (new).

    `threshold` is what the score was held against: only the write mode `gate` has one.
    """

    semantic: float | None
    keyword: float
    rarity: float
    score: float
    closest_id: str | None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class WriteDecision(Value):
    """What became of a candidate, and why.

    Hints say what is to be known beside: `split` (several facts in one text), `secret` (one was cut out), `tags_full`
    (no room for all tags), and of a repetition what was stated and not taken over, behind the call that changes it, as
    in `annotate:expires_in`.
    """

    kind: DecisionKind
    memory: Memory | None
    head: Memory | None
    target: Memory | None
    event_id: str | None
    reasons: tuple[str, ...]
    nearest: tuple[Neighbour, ...] = ()
    surprise: SurpriseTerms | None = None
    options: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    policy: str = "default"
    rule: str | None = None
    dry_run: bool = False
    erased: bool = False

    @property
    def explanation(self) -> str:
        """What became of the candidate and why, as a sentence for people."""
        return _explained(self)


def _explained(made: WriteDecision) -> str:
    if made.erased:
        return "What was decided here before was erased since, and is not done again."
    closest = made.surprise.closest_id if made.surprise else None
    near = next((one for one in made.nearest if one.memory_id == closest), None)
    target = next((one for one in made.nearest if made.target and one.memory_id == made.target.memory_id), near)
    if made.kind == "reject" and made.reasons[:1] == ("guard",):
        name, _, why = made.reasons[1].partition(": ")
        return f"Not stored: the guard {name} refused it: {why}."
    if made.kind == "reject" and made.reasons[:1] == ("failed",):
        return f"Not stored: {made.reasons[1]}. It is tried again, and a replay reads it too."
    if made.kind == "reject" and made.surprise is not None and "surprise_below_threshold" in made.reasons:
        held = "" if made.surprise.threshold is None else f", under the threshold of {made.surprise.threshold:.3f}"
        reworded = " It says it in other words." if "reworded" in made.reasons else ""
        score = f"{made.surprise.score:.3f}"
        return f"Not stored: it is known already. Its surprise is {score}{held}{_beside(near)}.{reworded}"
    if made.kind == "reject":
        return f"Not stored: {_words(made.reasons)}."
    if made.kind == "conflict" and "two_gates" in made.reasons:
        ways = "Revise it, store both with force, or forget it"
        return f"Not stored: a memory says nearly the same{_beside(target)}. {ways}."
    if made.kind == "conflict":
        return f"Not stored: {_words(made.reasons)}."
    if made.kind == "reinforce":
        why, kept = _words(made.reasons), _kept(made.hints)
        return f"Not stored anew: a memory says it already ({why}){_beside(target)}.{kept}"
    if made.kind == "revise":
        return f"Stored as a new revision ({_words(made.reasons)})."
    return f"Stored ({_words(made.reasons)}){_beside(target) if 'value_changed' in made.reasons else ''}."


def _beside(near: Neighbour | None) -> str:
    if near is None:
        return ""
    cosine = "" if near.cosine is None else f"cosine {near.cosine:.3f}, "
    return f"; the closest memory is {short_id(near.memory_id)} ({cosine}shared words {near.jaccard:.2f})"


def _kept(hints: tuple[str, ...]) -> str:
    """Which attributes a memory keeps though others were stated, and which call changes them."""
    calls = [(hint.partition(":")[0], hint.partition(":")[2]) for hint in hints if ":" in hint]
    named = {call: [name for other, name in calls if other == call] for call, _ in calls}
    return "".join(f" It keeps its {', '.join(names)}: {call} changes that." for call, names in named.items())


def _words(reasons: tuple[str, ...]) -> str:
    return ", ".join(reason.replace("_", " ") for reason in reasons)


@dataclass(frozen=True, slots=True)
class Change(Value):
    """One column of a memory that a run changed: what it held before and after, and why.

    A memory that the run made has the field `memory`, with nothing before and its id after. A relation that an undoing
    put back has the field `relation` and the memory it begins at; where it does not stand, it is None.
    """

    memory_id: str
    field: str
    before: Any
    after: Any
    because: str


@dataclass(frozen=True, slots=True)
class LifecycleRun(Value):
    """What one run of the life cycle did, or with `dry_run` would do.

    `changes` shows the first of them, `changed` counts the memories. Of a cycle, `steps` are those that are done and
    `failed_steps` those that could not be; `undone` says whether the run was taken back.
    """

    run_id: str
    step: str
    reason: str | None
    actor: str | None
    dry_run: bool
    changes: tuple[Change, ...]
    failed_steps: tuple[str, ...]
    started_at: datetime
    undone: bool = False
    changed: int = 0
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cluster(Value):
    """Current memories that are about one thing: `medoid_id` is the one that the others are most like, `fact` its text.

    `mean_similarity` and `deviation` are of its pairs; `redundant` says that they hardly differ (mean at least 0.95,
    deviation at most 0.03).
    """

    memory_ids: tuple[str, ...]
    medoid_id: str
    fact: str
    mean_similarity: float
    deviation: float
    redundant: bool


@dataclass(frozen=True, slots=True)
class Proposal(Value):
    """One change that an audit proposes: which, of what memories, why, and what it would make of them.

    Of a merge `memory_ids` are the one that stays and the one that is put away, and `to` the first; of a demotion `to`
    is the layer, of a reclassification the type.
    """

    kind: typing.Literal["merge", "demote", "reclassify"]
    memory_ids: tuple[str, ...]
    reason: str
    to: str


@dataclass(frozen=True, slots=True)
class AuditReport(Value):
    """What an audit of a scope proposes, and the run that did it; None where nothing was applied."""

    proposals: tuple[Proposal, ...]
    run: LifecycleRun | None = None


@dataclass(frozen=True, slots=True)
class UndoReport(Value):
    """What was taken back, and what was left because it has changed since; `run_id` undoes the undoing."""

    run_id: str
    undone: tuple[Change, ...]
    left: tuple[Change, ...]
    changed: int = 0
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class DecayThreshold(Value):
    """What a fading memory falls under next: `half` of its importance or the `prune` threshold; when, or in how many
    epochs from now.
    """

    name: Literal["half", "prune"]
    value: float
    at: datetime | None = None
    epochs: int | None = None


@dataclass(frozen=True, slots=True)
class DecayPoint(Value):
    """A point of a forgetting curve: what is left so many days, or epochs, from now."""

    after: float
    left: float


@dataclass(frozen=True, slots=True)
class DecayRow(Value):
    """What time has left of a memory's importance by the forgetting curve `curve`.

    `effective` is `base`, the importance, times `factor`, what is left of it, times `boost`, what accesses add; at most
    1. `next_threshold` is None for a memory that does not fade or has nothing left to cross. `points` hold the curve
    of the time to come, where one memory was asked for.
    """

    memory: Memory
    curve: str
    base: float
    factor: float
    boost: float
    effective: float
    next_threshold: DecayThreshold | None
    points: tuple[DecayPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt(Value):
    """What an append did; safe to ask for again with the same key."""

    event_ids: tuple[str, ...]
    stream_id: str
    position: int
    job_ids: tuple[str, ...] = ()
    duplicate: bool = False
    erased: bool = False
    decisions: tuple[WriteDecision, ...] = ()
    dry_run: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event(Value):
    """One immutable entry of the ledger; `content` is None once its payload was erased."""

    event_id: str
    stream_id: str
    position: int
    role: Role
    event_type: str
    trust: Trust
    content: str | None
    payload: Mapping[str, Any]
    metadata: Mapping[str, Any]
    occurred_at: datetime
    recorded_at: datetime
    session_id: str | None
    task_run_id: str | None
    actor: str | None
    erased: bool
    hash: str


@dataclass(frozen=True, slots=True)
class Term(Value):
    """One term of a score: its value, its weight and what it added."""

    value: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class ChannelHit(Value):
    """Where a channel that found a result ranked it (from 1) among what may be returned, and its own value for it."""

    rank: int
    value: float


@dataclass(frozen=True, slots=True)
class Watermark(Value):
    """How far derivation has come: positions derived and appended in the readable streams, and events that wait.

    Of more than a hundred streams only those that wait are summed up, some thousand a scope at most. Behind a deriver
    events are counted that it reads; where more than a thousand were appended behind it, all of these count.
    """

    stream_id: str | None = None
    derived: int = 0
    head: int = 0
    behind: int = 0


@dataclass(frozen=True, slots=True)
class SearchResult(Value):
    """A memory found, its rank and score, and every reason for them."""

    memory: Memory
    score: float
    rank: int
    terms: Mapping[str, Term]
    channels: Mapping[str, ChannelHit]
    matched: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    derived: bool = True
    rerank_score: float | None = None

    @property
    def session_id(self) -> str | None:
        """The session the memory came from."""
        return self.memory.session_id

    @property
    def semantic_score(self) -> float | None:
        """The cosine of query and fact, where there were vectors."""
        return self.terms["cosine"].value if "cosine" in self.terms else None

    @property
    def keyword_score(self) -> float | None:
        """The keyword term of the score, where words matched."""
        for name in ("coverage", "keyword"):
            if name in self.terms:
                return self.terms[name].value
        return None

    @property
    def decay_score(self) -> float | None:
        """How much of the memory's weight time has left."""
        return self.terms["decay"].value if "decay" in self.terms else None


@dataclass(frozen=True, slots=True)
class SearchResults(Value):
    """What a search found, best first; iterates over its results."""

    results: tuple[SearchResult, ...]
    recall_id: str | None = field(default=None, compare=False)  # of its row in the log, where there is one
    profile: str = "recall"
    variants: tuple[str, ...] = ()
    watermark: Watermark = field(default_factory=Watermark)
    degraded: tuple[str, ...] = ()
    weak: bool = False
    channels: Mapping[str, int] = field(default_factory=dict)  # how many each found; who failed is in `degraded`

    def __iter__(self) -> typing.Iterator[SearchResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, index: int) -> SearchResult:
        return self.results[index]


@dataclass(frozen=True, slots=True)
class EventHit(Value):
    """An event found, its score and rank, the words that matched, and where each channel ranked it.

    `score` is the coverage (0 to 1) squared and half the cosine, where a memory was made of the event; 0 in a list.
    """

    event: Event
    score: float
    rank: int
    matched: tuple[str, ...] = ()
    channels: Mapping[str, ChannelHit] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EventResults(Value):
    """What a search of the ledger found, best first; iterates over its results.

    `degraded` names what it had to do without: `semantic` (no vectors), `keyword` (more events hold the words than were
    compared), `unread` (older events are in no index yet and were too many to read). `waiting` are events in no index.
    """

    results: tuple[EventHit, ...]
    watermark: Watermark = field(default_factory=Watermark)
    degraded: tuple[str, ...] = ()
    waiting: int = 0

    def __iter__(self) -> typing.Iterator[EventHit]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, index: int) -> EventHit:
        return self.results[index]


@dataclass(frozen=True, slots=True)
class RecallTrace(Value):
    """What happened inside a recall, for people who ask why.

    `search_ids` is what the search found, `ranked_ids` the order in which it was packed, `kept_ids` what is in the
    context, `trimmed_ids` what is not; `superseded_ids` the earlier values of what was found. `versions` names what
    ranked it: engram, embedding_model, profile, policy. `timings_ms` is told of a recall (understanding, search and
    composing) and by `trace_recall`; `recall_id` of what is logged.
    """

    query: str
    intent: Intent | None = None
    window: Window | None = None
    roads: tuple[str, ...] = ()
    search_ids: tuple[str, ...] = ()
    kept_ids: tuple[str, ...] = ()
    trimmed_ids: tuple[str, ...] = ()
    superseded_ids: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    critical_ids: tuple[str, ...] = ()
    ranked_ids: tuple[str, ...] = ()
    missing_expected_terms: tuple[str, ...] = ()
    context: str = ""
    tokens: int = 0
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    recall_id: str | None = None


@dataclass(frozen=True, slots=True)
class WhyNot(Value):
    """Why a search returns a memory, or why it does not: one reason, with what it rests on.

    `ranks` are the memory's places in the channels, None where a channel does not have it at all; `score` is what it
    was given and `score_needed` the least it would have needed, where a score decided.
    """

    memory_id: str
    found: bool
    reason: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    ranks: Mapping[str, int | None] = field(default_factory=dict)
    score: float | None = None
    score_needed: float | None = None


@dataclass(frozen=True, slots=True)
class LoggedRecall(Value):
    """One recall as it was logged: the question, the plan, and ids with scores; never what a memory says.

    `query` is None once something it may quote was erased, and to other scopes where it was completed with what was
    said in a session. What is private to another scope is in neither `found` nor `chosen`. `found` lists
    `{"id", "score"}`, best first, and more where the log is kept in full; `chosen` is what was answered with or
    printed. `versions` names what ranked it.
    """

    recall_id: str
    kind: str
    query: str | None
    at: datetime
    known_at: datetime
    scope: Scope
    plan: Mapping[str, Any]
    found: tuple[Mapping[str, Any], ...]
    chosen: tuple[str, ...]
    intent: str | None
    degraded: tuple[str, ...]
    versions: Mapping[str, str]
    tokens: int | None
    milliseconds: float


@dataclass(frozen=True, slots=True)
class RankMove(Value):
    """A memory that a replayed recall ranks elsewhere: ranks from 1, and scores, then and now."""

    memory_id: str
    rank_then: int
    rank_now: int
    score_then: float | None
    score_now: float | None


@dataclass(frozen=True, slots=True)
class RecallDiff(Value):
    """A logged recall beside the same one made again, as of what was known then.

    `added`, `dropped` and `moved` compare what was chosen; `same` counts what stands where it stood. `versions` maps
    what ranks differently now to its version then and now. `waiting` was not derived yet and cannot be found so again.
    """

    recall_id: str
    kind: str
    known_at: datetime
    added: tuple[str, ...]
    dropped: tuple[str, ...]
    moved: tuple[RankMove, ...]
    same: int
    versions: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    waiting: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether the recall gives now what it gave then, in the same order."""
        return not (self.added or self.dropped or self.moved)


@dataclass(frozen=True, slots=True)
class RecallAnswer(Value):
    """The answer to a question: its text, the memory it rests on, and what was true before.

    `since` is what users said later that speaks of a change and is about that memory, word for word, newest first: it
    may say that it is so no longer. The text ends with it, a line each. Of the past it is empty.
    """

    answer_text: str
    intent: Intent
    intent_confidence: float
    found: bool
    current: Memory | None
    previous: tuple[Memory, ...]
    when_changed: datetime | None
    sources: tuple[Citation, ...]
    conflict_note: str | None
    evidence: tuple[SearchResult, ...]
    events: tuple[Event, ...]
    window: Window | None
    watermark: Watermark
    degraded: tuple[str, ...]
    trace: RecallTrace
    since: tuple[Memory, ...] = ()
    recall_id: str | None = field(default=None, compare=False)  # of its row in the log, where there is one


@dataclass(frozen=True, slots=True)
class CriticalMemories(Value):
    """The pinned memories of a scope, in their fixed order; what did not fit is named, never dropped in silence."""

    results: tuple[Memory, ...]
    omitted: tuple[str, ...] = ()
    tokens: int = 0
    complete: bool = True

    def __iter__(self) -> typing.Iterator[Memory]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, index: int) -> Memory:
        return self.results[index]


@dataclass(frozen=True, slots=True)
class Trigger(Value):
    """An action that memories are tagged with (`trigger:<action>`), how many, and how often they were read in all."""

    action: str
    memories: int
    access_count: int


@dataclass(frozen=True, slots=True)
class Topic(Value):
    """What some memories of a scope are about; `trust` is that of the least trusted memory the name was made of.

    `topic_id` is `kb1`, `kb2` … and, of another scope than the one that is asked, `kb1.<number of the scope>`.
    `named_by` is the model that named it, or `words`; `parent_id` the wider topic it is part of.
    """

    topic_id: str
    name: str
    members: int
    parent_id: str | None
    trust: Trust
    named_by: str
    scope: Scope


@dataclass(frozen=True, slots=True)
class TopicMemories(Value):
    """A topic opened: the topics under it, and the newest of its current memories, at most 200.

    `redundant` are pairs of these memories that say nearly the same, and how alike they are, the most alike first.
    """

    topic: Topic
    topics: tuple[Topic, ...]
    memories: tuple[Memory, ...]
    redundant: tuple[tuple[str, str, float], ...]


@dataclass(frozen=True, slots=True)
class Lineage(Value):
    """All revisions of one fact, newest first, and who is head."""

    lineage_id: str
    conflict_key: str | None
    head: Memory | None
    revisions: tuple[Memory, ...]
    contested: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class HistoryEntry(Value):
    """One change of one memory: when, what, why and by whom."""

    at: datetime
    entry: str
    memory: Memory
    previous_id: str | None
    superseded_by: str | None
    reason: str | None
    actor: str | None
    event_id: str | None


@dataclass(frozen=True, slots=True)
class Period(Value):
    """A day, a week from its Monday or a month of a timeline: what became true in it, newest first.

    `name` is such as 2026-05-01, 2026-W18 or 2026-05; it lasts from `start` up to `end`.
    """

    name: str
    start: datetime
    end: datetime
    memories: tuple[Memory, ...]

    def __iter__(self) -> typing.Iterator[Memory]:
        return iter(self.memories)

    def __len__(self) -> int:
        return len(self.memories)


@dataclass(frozen=True, slots=True)
class Timeline(Value):
    """Memories by the period in which they became true, newest first; iterates over its periods.

    What is not current says so by its `status` and its `labels`. `earlier` and `later` say whether the limit left
    something out on that side; `around` is the id of the memory the timeline is about, where one was named.
    """

    periods: tuple[Period, ...]
    group_by: Calendar
    time_zone: str
    around: str | None = None
    earlier: bool = False
    later: bool = False

    @property
    def memories(self) -> tuple[Memory, ...]:
        """The memories of all periods, newest first."""
        return tuple(memory for period in self.periods for memory in period.memories)

    def __iter__(self) -> typing.Iterator[Period]:
        return iter(self.periods)

    def __len__(self) -> int:
        return len(self.periods)

    def __getitem__(self, index: int) -> Period:
        return self.periods[index]


@dataclass(frozen=True, slots=True)
class Page(Value, typing.Generic[T]):
    """A part of a list, and the cursor that continues it.

    Its data does not tell of what it is a part: `Page.from_dict(data, Memory)` gives the items their type.
    """

    results: tuple[T, ...]
    cursor: str | None = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], of: type[Value] | None = None) -> Self:
        """The page that `to_dict` came from, its items of the type `of`; without it they stay plain data."""
        items: Any = data["results"] if of is None else map(of.from_dict, data["results"])
        return cls(tuple(items), data.get("cursor"))

    def __iter__(self) -> typing.Iterator[T]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, index: int) -> T:
        return self.results[index]


@dataclass(frozen=True, slots=True)
class MemoryExplanation(Value):
    """Why a memory is believed: sources, deriver, rule, lineage and decisions."""

    memory: Memory
    head: Memory | None
    lineage: Lineage
    supersedes: tuple[str, ...]
    superseded_by: str | None
    citations: tuple[Citation, ...]
    derivation: Mapping[str, str]
    decisions: tuple[WriteDecision, ...]
    feedback: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class CitedText(Value):
    """A citation looked up: whether it holds, and the text around it in its event.

    `citation.quote` is what stands in the event now, None where it was erased. `before` and `after` are whole lines as
    far as they fit, `line` is the line of the event (from 1) the quote begins in. `memory_id` is the memory that cites.
    """

    citation: Citation
    state: CitationState
    before: str
    after: str
    line: int
    role: Role
    event_type: str
    trust: Trust
    occurred_at: datetime
    recorded_at: datetime
    session_id: str | None = None
    actor: str | None = None
    memory_id: str | None = None


@dataclass(frozen=True, slots=True)
class ContextSection(Value):
    """A part of a context block: its text, its cost, and what did not fit.

    `stable` sections hold the same whatever is asked, as long as what they show has room and does not change.
    """

    name: str
    text: str
    tokens: int
    budget: int
    item_ids: tuple[str, ...] = ()
    omitted_ids: tuple[str, ...] = ()
    stable: bool = False


@dataclass(frozen=True, slots=True)
class ContextItem(Value):
    """A printed item of a context block and where it comes from, down to the characters of events it rests on.

    `mark` is what the text cites it by; lines of a task run and of an index have none. `at` is the printed date,
    `source` who or what it came from as far as that is known. `fenced` items stand in the block of untrusted data.
    """

    mark: str
    item_id: str
    section: str
    trust: Trust
    at: datetime | None = None
    source: str = ""
    fenced: bool = False
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextBlock(Value):
    """The block a model is given to read, never larger than its budget, every line cited.

    `trimmed` names what was gathered and is not in it, by id, with the reason.
    """

    text: str
    format: Format
    tokens: int
    max_tokens: int
    sections: tuple[ContextSection, ...]
    citations: Mapping[str, str]
    complete: bool
    critical_omitted: tuple[str, ...]
    max_trust: Trust
    warnings: tuple[str, ...]
    watermark: Watermark
    recall_id: str | None = field(default=None, compare=False)  # of its row in the log, where there is one
    trace: RecallTrace | None = None
    items: tuple[ContextItem, ...] = ()
    trimmed: Mapping[str, str] = field(default_factory=dict)

    def parse_citations(self, answer: str) -> tuple[str, ...]:
        """The full ids that an answer cites, in its order; marks that are not of this block count for nothing.

        A mark is found in any brackets or none, in any case, in bold and in code.
        """
        return tuple(dict.fromkeys(self.citations[mark] for mark in self._marks(answer)))

    def cited(self, answer: str) -> tuple[ContextItem, ...]:
        """The items that an answer cites, in its order, each with the characters of events that it rests on."""
        by_mark = {item.mark: item for item in self.items if item.mark}
        return tuple(by_mark[mark] for mark in dict.fromkeys(self._marks(answer)) if mark in by_mark)

    def _marks(self, answer: str) -> typing.Iterator[str]:
        if not isinstance(answer, str):
            raise InvalidInput("answer", "text", type(answer).__name__)
        said = answer if answer.isascii() else UNSEEN.sub("", answer)
        marks = ("-".join(found) for found in CITATION.findall(said.lower()))
        return (mark for mark in marks if mark in self.citations)

    def to_messages(self, provider: Provider, *, cache: bool = False) -> list[dict[str, Any]]:
        """The block as a message for a model; the role is never `system`, since what is remembered must not command.

        For `openai` the content is the text. For `anthropic` it is up to three parts that joined are the text: what
        stays the same from question to question, the rest, and the block of untrusted data; `cache=True` marks the
        first for the provider's prompt cache. An empty block is no message.
        """
        if provider not in typing.get_args(Provider):
            raise InvalidInput("provider", f"one of {', '.join(typing.get_args(Provider))}", "something else")
        if not isinstance(cache, bool):
            raise InvalidInput("cache", "True or False", type(cache).__name__)
        if not self.text:
            return []
        if provider == "openai":
            return [{"role": "user", "content": self.text}]
        stable, data = self._seams()
        seams = [0]
        for seam in (stable, data):
            if re.search(r"\w", self.text[seams[-1] : seam]):  # what only separates goes with what follows
                seams.append(seam)
        seams = [*seams, len(self.text)] if seams[-1] < len(self.text) else seams
        parts: list[dict[str, Any]] = [
            {"type": "text", "text": self.text[begins:ends]} for begins, ends in itertools.pairwise(seams)
        ]
        if cache and stable:
            parts[0]["cache_control"] = {"type": "ephemeral"}
        return [{"role": "user", "content": parts}]

    def _seams(self) -> tuple[int, int]:
        """Where the stable sections end, and where the block of untrusted data begins."""
        place = stable = 0
        steady, data = True, len(self.text)
        for section in self.sections:
            begins = self.text.find(section.text, place) if section.text else -1
            if begins < 0:
                continue
            place = begins + len(section.text)
            steady = steady and section.stable
            stable = place if steady else stable
            data = begins if section.name == DATA_SECTION else data
        return stable, data


@dataclass(frozen=True, slots=True)
class Relation(Value):
    """A directed edge between two memories: what the first has to do with the second, and how much (0..1).

    `auto` says that nobody stated it; `recorded_at` is when it was first known, `ended_at` when it was ended.
    """

    source_id: str
    target_id: str
    relation_type: str
    weight: float
    auto: bool
    metadata: Mapping[str, Any]
    recorded_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class TraversalResult(Value):
    """A memory that relations lead to: the best path there, from its seed, with the ids of both ends in it.

    `path_weight` is the product of the weights on the path; `directions` says of each relation whether it was gone
    along ("outbound") or against ("inbound"). `labels` says why a memory is not current, where such are asked for.
    """

    memory: Memory
    depth: int
    path: tuple[str, ...]
    relation_types: tuple[str, ...]
    path_weight: float
    score: float
    seed_id: str
    labels: tuple[str, ...] = ()
    directions: tuple[Literal["outbound", "inbound"], ...] = ()


@dataclass(frozen=True, slots=True)
class Traversal(Value):
    """What relations lead to from one or more memories, the best score first; iterates over its results.

    `truncated` says that a limit left something out: of results, of relations followed from one memory, or of paths.
    `degraded` names "semantic" where the question could not be compared; `seeds` are the memories it began with.
    """

    results: tuple[TraversalResult, ...]
    truncated: bool = False
    degraded: tuple[str, ...] = ()
    seeds: tuple[Memory, ...] = ()

    def __iter__(self) -> typing.Iterator[TraversalResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, index: int) -> TraversalResult:
        return self.results[index]


@dataclass(frozen=True, slots=True)
class TaskRun(Value):
    """Long-running work with a goal and a state; `position` is how far its stream has come."""

    task_run_id: str
    goal: str
    status: TaskStatus
    outcome: str | None
    parent_task_id: str | None
    session_id: str | None
    stream_id: str
    position: int
    started_at: datetime
    updated_at: datetime
    ended_at: datetime | None
    metadata: Mapping[str, Any]
    trust: Trust = "agent"
    forgotten: bool = False


@dataclass(frozen=True, slots=True)
class Checkpoint(Value):
    """A compact state of a task run, pinned to a position of its stream; `erased` when a redaction emptied it."""

    checkpoint_id: str
    task_run_id: str
    version: int
    position: int
    summary: str
    completed_steps: tuple[str, ...]
    pending_steps: tuple[str, ...]
    decisions: tuple[str, ...]
    blockers: tuple[str, ...]
    artifacts: tuple[str, ...]
    state: Mapping[str, Any]
    source_event_ids: tuple[str, ...]
    sha256: str
    recorded_at: datetime
    made_by: str = "caller"
    trust: Trust = "agent"
    erased: bool = False


@dataclass(frozen=True, slots=True)
class ResumedTask(Value):
    """A task taken up again: its latest checkpoint, and what happened after that, in order.

    `complete` is False when more happened than is given: the newest events are here, and `list_events` has the rest.
    """

    task: TaskRun
    checkpoint: Checkpoint | None
    events: tuple[Event, ...]
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Session(Value):
    """A conversation: when it began and ended, how far it has come, and its rolling summary up to a position.

    `opened_by` is "engram" where the id is Engram's: such a session ends by itself after a gap, and `continues` names
    the one before it. `outcome` is completed, failed or idle; `summary_by` is extractive, caller, or a model's name.
    """

    session_id: str
    stream_id: str
    position: int
    started_at: datetime
    ended_at: datetime | None = None
    summary: str | None = None
    summary_position: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    outcome: str | None = None
    opened_by: str = "caller"
    continues: str | None = None
    summary_style: str | None = None
    summary_by: str | None = None


@dataclass(frozen=True, slots=True)
class BadPosition(Value):
    """A place in a stream where the chain does not hold, and what is wrong there."""

    stream_id: str
    position: int
    problem: str


@dataclass(frozen=True, slots=True)
class VerifyReport(Value):
    """What recomputing the ledger's chain found."""

    streams: int
    events: int
    erased: int
    ok: bool
    first_bad: BadPosition | None = None
    bad: tuple[BadPosition, ...] = ()
    heads: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ErasureReport(Value):
    """What an erasure took, and what a second look found of it afterwards.

    `erased` counts by kind; `rederived_jobs` derive again what erased memories also rested on. `remaining` counts, by
    table, rows in which something of it was still found: `clean` says that there are none. `out_of_reach` names what no
    database can take back.
    """

    redaction_event_ids: tuple[str, ...]
    erased: Mapping[str, int]
    rederived_jobs: tuple[str, ...]
    remaining: Mapping[str, int]
    clean: bool
    out_of_reach: tuple[str, ...]
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ScopeStats(Value):
    """Counts of what a scope holds."""

    events: int
    memories: int
    by_status: Mapping[str, int]
    by_type: Mapping[str, int]
    by_layer: Mapping[str, int]
    critical: int
    unembedded: int
    duplicates_avoided: int
    oldest: datetime | None
    last_write: datetime | None
    jobs: Mapping[str, int]
    size_bytes: int
    decisions: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Job(Value):
    """A row of work as an operator sees it: how far it has come, and under which class it failed. Never what it holds.

    `attempt` counts the tries, `crashes` the workers it lost; a paused job comes back by itself at `run_at`.
    """

    job_id: str
    kind: str
    state: JobState
    attempt: int
    crashes: int
    error_class: str | None
    run_at: datetime
    created_at: datetime
    finished_at: datetime | None
    stream_id: str | None
    position: int | None


@dataclass(frozen=True, slots=True)
class Backlog(Value):
    """What one deriver has yet to read of one stream: its cursor, the head, and how old the oldest event between is.

    `oldest_age` is in seconds. `state` is what the work is doing: running, queued, paused, dead, or none where no job
    is left for it; `version` is None before the deriver's first event there.
    """

    stream_id: str
    deriver: str
    version: int | None
    position: int
    head: int
    behind: int
    oldest_age: float
    state: str
    last_error: str | None


@dataclass(frozen=True, slots=True)
class FeedItem(Value):
    """An event as a follower sees it, and the mark to keep beside its effect and to go on from."""

    mark: str
    event: Event


@dataclass(frozen=True, slots=True)
class EmbeddingModel(Value):
    """An embedding model of a tenant: `active` is in use, `building` is on its way, `retired` was in use.

    `vectors` are the memories that have one of it, `failed` those that it could not embed while it is being built;
    `calibrated` says whether its thresholds were measured (`ops.calibrate`), which the local model does not need.
    """

    name: str
    dimensions: int
    state: Literal["building", "active", "retired"]
    vectors: int
    failed: int
    created_at: datetime
    changed_at: datetime
    calibrated: bool = False


@dataclass(frozen=True, slots=True)
class Calibration(Value):
    """What the cosines of an embedding model are of texts about which it is known how alike they are.

    `unrelated` is their mean, and `spread` their standard deviation, of questions with facts that have nothing to do
    with them; `alike` is the median of facts said twice, in other words or with another value. `first` is the share of
    questions to which their own fact is the nearest: how well the model does on these pairs. `thresholds` are those
    that go by cosines, where they are by this model; `kept` says whether they hold from now on.
    """

    model: str
    dimensions: int
    pairs: int
    unrelated: float
    spread: float
    alike: float
    first: float
    thresholds: Mapping[str, float]
    kept: bool


@dataclass(frozen=True, slots=True)
class Chunk(Value):
    """A chunk of a long input: the characters `char_start` to `char_end` of the whole text, in code points.

    `event_id` is the event that holds exactly its text, `chunk_id` the memory it is searched by; both are empty in a
    dry run. `text` is None in the report of a text of over 5,000,000 characters: `get_event(event_id)` has it.
    """

    chunk_id: str
    index: int
    kind: str
    heading: str | None
    text: str | None
    char_start: int
    char_end: int
    tokens: int
    quote_hash: str
    event_id: str


@dataclass(frozen=True, slots=True)
class LongInputReport(Value):
    """What became of a long input: its parts, which joined are the text, its chunks in order, and its manifest.

    `decisions` are those about the facts derived from it, where the call waited for them; `notes` what was left out.
    """

    source_event_ids: tuple[str, ...]
    manifest_event_id: str
    chars: int
    sha256: str
    chunks: tuple[Chunk, ...]
    decisions: tuple[WriteDecision, ...] = ()
    duplicate: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LongInputProgress(Value):
    """How far a long input has come: what is being done, and the share of it all that is done, 0..1."""

    step: Literal["measuring", "storing", "cutting", "done"]
    share: float
    chars: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class ExportProgress(Value):
    """How far an export has come: the kind of line it writes, and how many lines are written."""

    kind: str
    lines: int


@dataclass(frozen=True, slots=True)
class ExportReport(Value):
    """What an export wrote: the file, how many lines of each kind, its bytes, and its SHA-256.

    The hash of a `jsonl` file is the one its last line says, of all lines before that; of the others of the whole file.
    `left_out` counts what an export may not show or cannot hold: private events, summaries and checkpoints of other
    scopes, citations of events outside it.
    """

    path: str
    format: str
    counts: Mapping[str, int]
    bytes: int
    sha256: str
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportProgress(Value):
    """How far an import has come: entries read, entries that changed something, and the share of the file, if known."""

    format: str
    read: int
    added: int
    done: float | None = None


@dataclass(frozen=True, slots=True)
class ImportProblem(Value):
    """An entry that was not imported: where it stands in the file, and why."""

    place: str
    message: str


@dataclass(frozen=True, slots=True)
class ImportReport(Value):
    """What an import did: how many entries it read, what became of them, and the ones it could not take.

    `counts` names what was written: of an export the kinds of its lines and the scopes that were `known`; of other
    files what was `said` (the sources), `added`, `revised`, `reinforced`, `known` from before, `skipped`, in `conflict`
    or `rejected`. `problems` shows the first 1,000, `counts["problem"]` tells how many there are.
    """

    path: str
    format: str
    read: int
    counts: Mapping[str, int]
    problems: tuple[ImportProblem, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ReindexProgress(Value):
    """How far the word index has been made again: the configuration, and how many memories are done."""

    config: str
    memories: int
    done: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ReembedProgress(Value):
    """How far a change of the embedding model has come: vectors done of all, how many a second, seconds left.

    `overlap` is the share of the ten nearest neighbours on which the old and the new model agree, over a sample;
    `failing` are up to 100 memories that the new model cannot embed, which are found by their words; `graph` says
    whether large scopes have their vector graph (None when there are none); `dropped` counts the old vectors deleted.
    """

    model: str
    dimensions: int
    state: Literal["building", "active", "retired"]
    done: int
    total: int
    rate: float = 0.0
    seconds_left: float | None = None
    overlap: float | None = None
    failing: tuple[str, ...] = ()
    graph: bool | None = None
    dropped: int = 0
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Check(Value):
    """One thing the doctor looked at: fine or not, and what repairs it where it is not."""

    name: str
    ok: bool
    detail: str
    repair: str | None = None


@dataclass(frozen=True, slots=True)
class DoctorReport(Value):
    """Every check of the doctor; `ok` when all of them are."""

    ok: bool
    checks: tuple[Check, ...]


Tier = Literal["full", "no_llm", "no_embedding", "read_only"]


@dataclass(frozen=True, slots=True)
class Health(Value):
    """How well a process serves a tenant now: the tier, what was looked at, and the work that waits.

    `tier` is `full`, or names the worst that is out: `no_llm` (no language model answers), `no_embedding` (searches go
    by words), `read_only` (the server takes no writes, or refused one of this process within the last minute for a disk
    that is full or fails); None where nothing is served at all. What is out by choice lowers no tier. `backlog_age` is
    how many seconds the oldest job of a deriver has been there, 0 where there is none; `chain_checked_at` when this
    process last found the chain whole. What is not known is None.
    """

    ok: bool
    tier: Tier | None
    checks: tuple[Check, ...]
    schema_revision: str | None = None
    backlog_age: float | None = None
    dead_jobs: int | None = None
    unembedded: int | None = None
    chain_checked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Usage(Value):
    """What language models took: calls, tokens, dollars and seconds of one component, model or day.

    `answered` calls gave what was asked for; of `estimated` ones the provider told no count to believe, and the cost is
    the most they can have taken.
    """

    group: str
    calls: int
    answered: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: Decimal
    estimated: int
    seconds: float


ReplayState = Literal["building", "ready", "former"]


@dataclass(frozen=True, slots=True)
class Replay(Value):
    """A shadow: memories derived again beside the live ones, or those that were live before a switch.

    `done` of `steps` are taken; it is `ready` for a switch when all are. `shadow_id` is what a switch or a drop names.
    """

    shadow_id: str
    state: ReplayState
    policy: str
    derivers: tuple[str, ...] | None
    since: datetime | None
    done: int
    steps: int
    started_at: datetime
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class ReplayChange(Value):
    """A memory that a replay left otherwise, as it is live and as the shadow has it, and in what they differ."""

    before: Memory
    after: Memory
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReplayProblem(Value):
    """A direct change that a replay could not make again, or an event on which it failed: its id, its type, and why."""

    event_id: str
    event_type: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReplayDiff(Value):
    """How the memories of a shadow differ from the live ones of its scope.

    `added`, `dropped` and `changed` show the first of them, `counts` tells how many there are of each; `same` differ in
    nothing. `live_hash` and `shadow_hash` are equal exactly when both hold the same facts, lineages, states and
    citations. Ids are those the memories have, or would have, when live. `cost` is what the language model took, in
    dollars; an answer that was paid for before is free.
    """

    shadow_id: str
    state: ReplayState
    policy: str
    added: tuple[Memory, ...]
    dropped: tuple[Memory, ...]
    changed: tuple[ReplayChange, ...]
    same: int
    counts: Mapping[str, int]
    problems: tuple[ReplayProblem, ...]
    cost: Decimal
    live_hash: str
    shadow_hash: str

    @property
    def is_same(self) -> bool:
        """Whether both projections hold the same."""
        return self.live_hash == self.shadow_hash


@dataclass(frozen=True, slots=True)
class PolicyReport(Value):
    """What a policy would have made of past events, beside what is stored.

    `decisions`, `rules` and `types` count what it decided, by kind, rule and memory type; `stored` counts what was
    decided in fact. `added`, `dropped` and `changed` show the first memories that would differ, `counts` tells how many
    there are of each. Nothing that a language model gave is in any of these: none is asked, and `calls` and `cost`, in
    dollars, are what it took when these events were first read.
    """

    policy: str
    since: datetime | None
    until: datetime | None
    steps: int
    decisions: Mapping[str, int]
    rules: Mapping[str, int]
    types: Mapping[str, int]
    stored: Mapping[str, int]
    added: tuple[Memory, ...]
    dropped: tuple[Memory, ...]
    changed: tuple[ReplayChange, ...]
    counts: Mapping[str, int]
    problems: tuple[ReplayProblem, ...]
    calls: int
    cost: Decimal


@dataclass(frozen=True, slots=True)
class AuditEntry(Value):
    """One change of one memory: who made it, why, and what it did, which is what undoing it would take back.

    `reason` is what the caller said, of what was derived what was said with its event; `because` is what the life cycle
    said. A memory that the change made has the field `memory` in `changes`, with the revision it replaced before and
    itself after.
    """

    at: datetime
    entry: str
    memory_id: str
    fact: str
    actor: str | None
    reason: str | None
    because: str | None
    step: str | None
    run_id: str | None
    event_id: str | None
    undone: bool
    changes: tuple[Change, ...]

    @property
    def undo_id(self) -> str | None:
        """What `ops.undo` takes back this change by, with all of the same run or event; None of what was erased."""
        return None if self.entry == "erased" else self.run_id or self.event_id
