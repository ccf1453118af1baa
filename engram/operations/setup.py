"""What an operation needs to know of its door, and the words every call shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, cast
from weakref import WeakKeyDictionary

from sqlalchemy.engine import Engine, Row

from engram import gates, ids, inputs, ranking, scales, sessions, tenancy
from engram.channels import keyword, semantic
from engram.database import Connection, fetch_ahead, fetch_all, fetch_together, is_first_try
from engram.embedding import CachedEmbedder, Embedders, Model
from engram.errors import InvalidInput, ModelRejected
from engram.llm import LanguageModel, Models
from engram.memories import Moment
from engram.policies import MemoryPolicy
from engram.policies.patterns import compile_safe
from engram.ranking import AnyProfile
from engram.rerank import Judge
from engram.scope import Ids, Scope
from engram.secrets import Censor
from engram.sessions import Part, Visit
from engram.settings import LlmLevel, Settings
from engram.streams import StreamKind
from engram.tenancy import Visible
from engram.values import TRUSTS, Trust
from engram.writing import Desk

DIRECT: Final[tuple[StreamKind, str]] = ("scope", "direct")  # the stream of a scope's own changes
MOST_LATELY: Final = 4_096  # desks kept in mind
UNKNOWN: Final = "an unknown name"
READ_WORDS: Final = ("as_of", "known_at")
WRITE_WORDS: Final = (
    "actor",
    "trust",
    "reason",
    "idempotency_key",
    "dry_run",
    "session_id",
    "task_run_id",
    "occurred_at",
)


@dataclass(frozen=True, slots=True)
class Setup:
    """A door's settings, policy, embedder, scope, session if it has one, and language models; None without any.

    `embedder` is fixed for one operation, so that its vectors are of one model; `spaces.ready` takes the tenant's.
    """

    settings: Settings
    policy: MemoryPolicy
    embedder: CachedEmbedder | None
    scope: Scope
    llm: Models | None = None
    embedders: Embedders | None = None
    owner_url: Callable[[], str | None] | None = None  # where the schema's owner may build an index
    session: Visit | None = None
    reranker: Judge | None = None
    deeds: tuple[StreamKind, str] = DIRECT  # the stream that says what the life cycle does

    def censor(self) -> Censor:
        """What takes the secrets out of what a call is given."""
        own = tuple((kind, compile_safe(pattern)) for kind, pattern in self.policy.secret_patterns.items())
        return Censor(self.policy.secrets, self.settings.secret_key, own)

    def query(self, value: object, field: str = "query") -> str:
        """A question, with marks in the place of secrets: it is logged, and sent to models."""
        return self.censored(inputs.query(value, field), field)

    def censored(self, asked: str, field: str) -> str:
        """What is asked for, with marks in the place of secrets, as it was kept if it was."""
        censor = self.censor()
        return asked if censor.mode == "allow" else replace(censor, mode="redact").text(asked, field)

    def profile(self, given: object = "default") -> AnyProfile:
        """The scoring profile of a search: the one given, else the policy's, else the setting's."""
        if isinstance(given, str) and given == "default":
            given = self.policy.profile or self.settings.profile
        return ranking.resolve(given, self.policy.profiles)

    def level_of(self, component: str) -> LlmLevel:
        """How much a language model does of a component's work under the policy; `off` where there is none."""
        return "off" if self.llm is None else self.llm.level_of(component, self.policy.llm)

    def asks(self, component: str) -> bool:
        """Whether a component may ask a language model under the policy."""
        return self.level_of(component) != "off"

    def model_for(self, component: str) -> LanguageModel:
        """The language model a component asks under the policy; ModelRejected where it may ask none."""
        if self.llm is None or not self.asks(component):
            told = "no language model is configured for this, or it is off: see ENGRAM_LLM_MODEL and the policy's llm"
            raise ModelRejected(told, component=component)
        return self.llm.model_for(component, self.policy.llm)

    @property
    def daily_budget(self) -> Decimal | None:
        """The dollars a tenant may spend on language models in a day: the policy's cap or the setting's, the lower."""
        caps = (self.settings.llm_daily_budget, self.policy.daily_budget)
        return min((cap for cap in caps if cap is not None), default=None)

    def reading(self, given: Mapping[str, Any]) -> Reading:
        """The scope and moment of a read; an unknown name is InvalidInput."""
        scope = _scope(self.scope, given, READ_WORDS)
        return Reading(
            scope,
            Moment(
                None if given.get("as_of") is None else inputs.moment(given["as_of"], "as_of"),
                None if given.get("known_at") is None else inputs.moment(given["known_at"], "known_at"),
            ),
        )

    def writing(self, given: Mapping[str, Any], beside: Sequence[str] = ()) -> Writing:
        """The scope and the words of a write; an unknown name is InvalidInput, which tells of words `beside` these."""
        scope = _scope(self.scope, given, (*WRITE_WORDS, *beside)).for_write()
        optional = inputs.optional
        session_id = optional(inputs.name, given.get("session_id"), "session_id")
        censor = self.censor()
        own = self.session is not None and session_id in (None, self.session.session_id)
        visit = self.session if own else None if session_id is None else Visit(session_id)
        return Writing(
            scope=scope,
            actor=optional(censor.checking(inputs.name), given.get("actor"), "actor"),
            trust=cast("Trust | None", optional(inputs.choice, given.get("trust"), "trust", TRUSTS)),
            reason=optional(censor.checking(inputs.note), given.get("reason"), "reason"),
            idempotency_key=optional(inputs.idempotency_key, given.get("idempotency_key")),
            dry_run=inputs.flag(given.get("dry_run", False), "dry_run"),
            visit=visit,
            task_run_id=optional(inputs.event_id, given.get("task_run_id"), "task_run_id"),
            occurred_at=optional(inputs.moment, given.get("occurred_at"), "occurred_at"),
            censor=censor,
        )

    def entered(
        self, conn: Connection, scope_id: int, call: Writing, repeated: Callable[[], bool] = lambda: False
    ) -> Part | None:
        """The part of a session that a write goes to, begun if need be; None when it names no session."""
        if call.visit is None:
            return None
        return sessions.enter(
            conn, scope_id, call.visit, gap=self.policy.session_gap, key=self.settings.secret_key, repeated=repeated
        )

    @property
    def cursor_key(self) -> bytes:
        """What signs the cursors of pages: the ledger key, or a fixed one: a cursor only says where a page ended."""
        return self.settings.secret_key or b"engram-cursor"

    @property
    def fence_key(self) -> bytes:
        """What the marks around untrusted text are made with: the ledger key, or a fixed one."""
        return self.settings.secret_key or b"engram-context"

    def desk(self, conn: Connection, scope: Scope, *, reason: str | None = None) -> Desk:
        """Where a write judges and writes, its scope made if need be."""
        return self._desk(conn, scope, fetch_all(conn, "open_desk", **_opening(scope)), reason)

    def desk_as_it_was(self, conn: Connection, scope: Scope) -> Desk | None:
        """The desk of a write as this process opened it last, which may be another one by now.

        None where it never did, or where the transaction is tried again.
        """
        known = _LATELY.get(conn.engine, {}).get(scope) if is_first_try(conn) else None
        if known is None or self.embedder is None or not self.embedder.is_measured:
            return None
        visible, scope_id, model_id = known
        if self.embedder.model_id != model_id:  # another door of this process embeds otherwise
            return None
        return Desk(conn, visible, scope_id, self.policy, model_id, gates.Thresholds())

    def forget_desk(self, conn: Connection, scope: Scope) -> None:
        """Let the next write open its desk before it looks."""
        _LATELY.get(conn.engine, {}).pop(scope, None)

    def desk_ahead(self, conn: Connection, scope: Scope, *, reason: str | None = None) -> Callable[[], Desk]:
        """Where a write judges and writes: opened in one message with the next statement, which tells it."""
        rows = fetch_ahead(conn, "open_desk", **_opening(scope))
        return lambda: self._desk(conn, scope, rows(), reason)

    def desks(self, conn: Connection, scopes: Sequence[Scope]) -> list[Desk]:
        """The same for several scopes of a tenant, in one message."""
        opened = fetch_together(conn, "open_desk", [_opening(scope) for scope in scopes])
        return [self._desk(conn, scope, rows) for scope, rows in zip(scopes, opened, strict=True)]

    def _desk(self, conn: Connection, scope: Scope, rows: list[Row[Any]], reason: str | None = None) -> Desk:
        visible = tenancy.seen(scope, rows)
        is_new = visible.own is None
        if is_new:
            tenancy.ensure(conn, scope)
            rows = fetch_all(conn, "open_desk", **_opening(scope))
            visible = tenancy.seen(scope, rows)
        own = next(row for row in rows if row.scope_id == visible.own)
        active, building = semantic.ensure_model(conn, scope.tenant_id, self.embedder, semantic.held(own.models))
        config = own.config or keyword.ensure_config(conn, scope.tenant_id, self.settings.text_search_config)
        model_id = self.model_of(scope.tenant_id, active)
        if not is_new:  # nobody else sees it before COMMIT
            _keep_in_mind(conn, scope, visible, model_id)
        return Desk(
            conn=conn, visible=visible, scope_id=int(own.scope_id), policy=self.policy, model_id=model_id,
            thresholds=gates.Thresholds.of(
                {"surprise": self.policy.surprise_threshold}, None if active is None else active.thresholds,
                self.policy.thresholds,
            ),
            config=config, reason=reason, embeds=self.embedder is not None or active is not None,
            building_id=None if building is None else building.model_id,
            is_long=None if self.embedder is None else self.embedder.is_long,
            direct=None if own.stream_id is None else (int(own.scope_id), own.stream_id),
            scale=scales.in_use(None if active is None else active.thresholds),
        )  # fmt: skip

    def model_of(self, tenant_id: str, active: Model | None) -> int | None:
        """The number of the tenant's model if it is this operation's too; otherwise no vector of ours may be kept."""
        if self.embedder is None or active is None:
            return None
        if self.embedder.is_measured and self.embedder.model_id == active.model_id:
            return active.model_id
        if self.embedders is not None:
            self.embedders.forget(tenant_id)
        return None


@dataclass(frozen=True, slots=True)
class Reading:
    """Whose memory a read may see, and as of when."""

    scope: Scope
    moment: Moment


@dataclass(frozen=True, slots=True)
class Writing:
    """Whose memory a write changes, and what it says of itself."""

    scope: Scope
    actor: str | None = None
    trust: Trust | None = None
    reason: str | None = None
    idempotency_key: str | None = None
    dry_run: bool = False
    visit: Visit | None = None
    task_run_id: str | None = None
    occurred_at: datetime | None = None
    censor: Censor = field(default_factory=lambda: Censor("allow"), compare=False)
    is_own_key: bool = False  # whether the key was made here, and is known to nobody before a second try

    @property
    def session_id(self) -> str | None:
        """The session this write names."""
        return None if self.visit is None else self.visit.session_id

    @property
    def tenant_id(self) -> str:
        """The tenant that is written to."""
        return self.scope.tenant_id

    @property
    def stream(self) -> tuple[StreamKind, str]:
        """The kind and name of the stream of this write's events: the task's, the session's or the scope's."""
        if self.task_run_id is not None:
            return "task", self.task_run_id
        return ("session", self.session_id) if self.session_id is not None else DIRECT

    def keyed(self) -> Writing:
        """This write with a key, so that a lost connection can be answered by asking again."""
        if self.idempotency_key is not None:
            return self
        return replace(self, idempotency_key=f"call:{ids.new_id()}", is_own_key=True)

    def is_new(self, conn: Connection) -> bool:
        """Whether nothing can have been written under the key of this write."""
        return self.is_own_key and is_first_try(conn)


_Known = dict[Scope, tuple[Visible, int, int]]
_LATELY: Final[WeakKeyDictionary[Engine, _Known]] = WeakKeyDictionary()
"""The desks opened in each database, by their scopes, with their models: only a hint, which the next opened checks."""


def _keep_in_mind(conn: Connection, scope: Scope, visible: Visible, model_id: int | None) -> None:
    known = _LATELY.setdefault(conn.engine, {})
    if len(known) >= MOST_LATELY:
        known.clear()
    if visible.own is not None and model_id is not None:
        known[scope] = visible, visible.own, model_id


def _opening(scope: Scope) -> dict[str, Any]:
    return {
        "tenant_id": scope.tenant_id, "namespaces": list(scope.namespaces), "agents": list(scope.agents),
        "user_id": scope.user_id, "kind": DIRECT[0], "stream_name": DIRECT[1],
    }  # fmt: skip


def _scope(scope: Scope, given: Mapping[str, Any], words: tuple[str, ...]) -> Scope:
    known = {*Ids.__annotations__, *words}
    for name in given:
        if name not in known:
            field = inputs.field_name(name, "argument")
            refused = InvalidInput(field, f"an argument of this call, such as {', '.join(sorted(known))}", UNKNOWN)
            refused.facts["known"] = tuple(sorted(known))  # beside those the call names, which its door adds
            raise refused
    return scope.override(**{name: value for name, value in given.items() if name in Ids.__annotations__})
