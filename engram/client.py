"""The two doors: Engram for threads, AsyncEngram for event loops. Same names, same arguments, same errors, one body.

A method hands its arguments to an operation, which is a generator of steps; the door carries the steps out, blocking or
awaiting. Nothing is opened before the first call has passed its checks.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, Unpack

from engram import embedding, policies
from engram.database import Database
from engram.embedding import CachedEmbedder, Embedder
from engram.errors import InvalidInput, SettingsError, Unavailable
from engram.filters import Filter
from engram.operations import aliases, capture, changing, reading, recalling, running, watching
from engram.operations.capture import Artifact, Message, ToolCall
from engram.operations.changing import Attributes, Candidate, Edit, NewMemory
from engram.operations.setup import Read, Setup, Write
from engram.operations.steps import Operation, Step, Think, Transact
from engram.policies import MemoryPolicy
from engram.scope import Ids, Scope
from engram.settings import Settings, load
from engram.values import (
    ContextBlock,
    CriticalMemories,
    Derive,
    DoctorReport,
    Event,
    Format,
    HistoryEntry,
    Lineage,
    Memory,
    MemoryExplanation,
    Mode,
    Page,
    RecallAnswer,
    Receipt,
    Role,
    ScopeStats,
    SearchResults,
    Trust,
    VerifyReport,
    WriteDecision,
)  # fmt: skip

T = TypeVar("T")
TokenCounter = Callable[[str], int]


class Core:
    """What the doors of one Engram share: settings, policy, embedder, and the database once it is needed."""

    def __init__(
        self,
        database_url: str | None,
        settings: Settings | None,
        policy: str | MemoryPolicy | None,
        embedder: str | Embedder | None,
    ) -> None:
        self.settings = _checked(load() if settings is None else settings, Settings, "settings")
        configured = self.settings.database_url
        self.url = database_url or (configured.get_secret_value() if configured is not None else None)
        if self.url is not None and not isinstance(self.url, str):
            raise SettingsError("database_url: expected a URL as text")
        chosen = policy if policy is not None else self.settings.policy
        self.policy = _checked(
            policies.get_policy(chosen) if isinstance(chosen, str) else chosen, MemoryPolicy, "policy"
        )
        model = embedding.resolve(embedder if embedder is not None else self.settings.embedding_model)
        self.embedder = None if model is None else CachedEmbedder(model)
        self.closed = False
        self._database: Database | None = None if self.url is None else Database(self.url, self.settings)
        self._server: Any = None
        self._pid = os.getpid()
        self._lock = threading.Lock()

    def database(self) -> Database:
        """The database, opened on first use: the embedded one is started and migrated."""
        if self.closed:
            raise Unavailable("this Engram is closed")
        if self._pid != os.getpid():
            self._after_fork()
        with self._lock:
            if self._database is None:
                self._database = self._embedded()
            return self._database

    def _embedded(self) -> Database:
        from engram import migrations
        from engram.embedded import EmbeddedServer

        server = EmbeddedServer.start(self.settings.data_dir)
        if migrations.current(server.superuser_url) != migrations.head():
            migrations.upgrade(server.superuser_url)
        self._server = server
        database = Database(server.url(), self.settings)
        database.recover = server.ensure_running
        return database

    def _after_fork(self) -> None:
        # Connections belong to the process that made them: a child begins anew and leaves its parent's alone.
        self._pid = os.getpid()
        self._lock = threading.Lock()
        if self._database is not None:
            fresh = Database(self._database.url, self.settings)
            fresh.recover = self._database.recover
            self._database = fresh

    def close(self) -> None:
        """Close the connections and leave the embedded server; the last to leave stops it."""
        self.closed = True
        if self._database is not None:
            self._database.close()
        if self._server is not None:
            self._server.close()
            self._server = None

    async def close_async(self) -> None:
        """The asynchronous form of `close`."""
        if self._database is not None:
            await self._database.close_async()
        await asyncio.to_thread(self.close)


def _checked(value: object, kind: type[T], name: str) -> T:
    if not isinstance(value, kind):
        raise SettingsError(f"{name}: expected {kind.__name__}, found {type(value).__name__}")
    return value


class _Door:
    """What both doors have: a core, a scope, and the way to look at them."""

    def __init__(
        self,
        database_url: str | None = None,
        *,
        scope: Scope | None = None,
        settings: Settings | None = None,
        policy: str | MemoryPolicy | None = None,
        embedder: str | Embedder | None = None,
    ) -> None:
        self._core = Core(database_url, settings, policy, embedder)
        self._scope = _checked(self._core.settings.scope if scope is None else scope, Scope, "scope")
        self._owner = True

    @property
    def scope(self) -> Scope:
        """The scope this door is bound to."""
        return self._scope

    @property
    def settings(self) -> Settings:
        """The settings of this Engram."""
        return self._core.settings

    @property
    def _setup(self) -> Setup:
        return Setup(self._core.settings, self._core.policy, self._core.embedder, self._scope)

    def scoped(self, scope: Scope | None = None, **ids: Unpack[Ids]) -> Self:
        """A door to the same Engram bound to another scope, on the same connections; closing it closes nothing."""
        if scope is not None and not isinstance(scope, Scope):
            raise InvalidInput("scope", "a Scope", type(scope).__name__)
        door = object.__new__(type(self))
        door._core, door._owner = self._core, False
        door._scope = (scope if scope is not None else self._scope).override(**ids)
        return door

    def __repr__(self) -> str:
        return f"{type(self).__name__}(scope={self._scope!r})"


class Engram(_Door):
    """The long-term memory of an agent, in PostgreSQL.

    `Engram()` starts an embedded PostgreSQL in a data folder; `Engram(url)` uses yours. Both remember across processes.
    `scoped(user_id="ada")` binds a door to one user. Use it as a context manager, or call `close()`.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; a door made by `scoped` leaves them to the one it came from."""
        if self._owner:
            self._core.close()

    @property
    def ops(self) -> Ops:
        """What an operator does, apart from what an agent may do."""
        return Ops(self)

    def _run(self, operation: Operation[T]) -> T:
        try:
            step = next(operation)
            while True:
                try:
                    result = self._do(step)
                except BaseException as error:  # noqa: BLE001 - the operation hears of it, and raises
                    step = operation.throw(error)
                else:
                    step = operation.send(result)
        except StopIteration as done:
            value: T = done.value
            return value

    def _do(self, step: Step) -> Any:
        if isinstance(step, Transact):
            return self._core.database().run(step.tenant_id, step.work, key=step.key, read_only=step.read_only)
        if isinstance(step, Think):
            return step.work()
        return time.sleep(step.seconds)

    # Write: the ledger's roads

    def remember(
        self,
        messages: str | Message | Sequence[Message],
        *,
        derive: Derive | None = None,
        wait: bool | float = False,
        **write: Unpack[Write],
    ) -> Receipt:
        """Append what was said to the ledger and derive memories from it.

        A text is one user message; a list is up to 500 messages, all or nothing. Messages with an `event_id`,
        or a call with an
        `idempotency_key`,
        may be sent again: nothing happens twice. `derive` overrides the policy (`skip`, `verbatim`, `rules`);
        the decisions are in the receipt when derivation ran in this process. Raises InvalidInput,
        IdempotencyMismatch, Unavailable.
        """
        return self._run(capture.remember(self._setup, messages, derive=derive, wait=wait, given=write))

    def record_event(
        self,
        content: str,
        *,
        role: Role = "agent",
        event_type: str = "observation",
        payload: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        derive: Derive | None = None,
        expected_position: int | None = None,
        **write: Unpack[Write],
    ) -> Receipt:
        """Append one event to its task's stream, else its session's, else the scope's own.

        With `expected_position` nothing is written, and StaleStream raised, unless the stream is exactly there.
        """
        return self._run(
            capture.record_event(
                self._setup,
                content,
                role=role,
                event_type=event_type,
                payload=payload,
                metadata=metadata,
                derive=derive,
                expected_position=expected_position,
                given=write,
            )
        )

    def record_turn(
        self,
        user_message: str,
        assistant_message: str | None = None,
        *,
        tool_calls: Sequence[ToolCall] = (),
        artifacts: Sequence[Artifact] = (),
        metadata: Mapping[str, Any] | None = None,
        derive: Derive | None = None,
        wait: bool | float = False,
        **write: Unpack[Write],
    ) -> Receipt:
        """Append a whole turn in one transaction: message, tool calls with their results, artifacts, answer."""
        return self._run(
            capture.record_turn(
                self._setup,
                user_message,
                assistant_message,
                tool_calls=tool_calls,
                artifacts=artifacts,
                metadata=metadata,
                derive=derive,
                wait=wait,
                given=write,
            )
        )

    def wait_for(
        self, what: Receipt | str, *, deriver: str | None = None, timeout: float = 10.0, **read: Unpack[Read]
    ) -> tuple[WriteDecision, ...]:
        """Wait until the events of a receipt (or one event, by id) are derived; Unavailable after `timeout` seconds."""
        return self._run(running.wait_for(self._setup, what, deriver=deriver, timeout=timeout, given=read))

    # Write: the direct roads

    def add(self, fact: str, **memory: Unpack[NewMemory]) -> WriteDecision:
        """Remember one fact, unless it is known; the decision says what became of it, and why.

        `topic_key` makes it an upsert that keeps history; `dry_run` writes nothing. Raises InvalidInput for a list of
        messages (use `remember`), Unavailable when the embedder fails.
        """
        return self._run(changing.add(self._setup, fact, memory))

    def add_many(self, items: Sequence[Candidate], **write: Unpack[Write]) -> tuple[WriteDecision, ...]:
        """Remember up to 500 facts in one transaction, all or nothing; a bad item fails the call, naming its index."""
        return self._run(changing.add_many(self._setup, items, write))

    def revise(
        self,
        memory_id: str,
        fact: str | Edit | None = None,
        *,
        main_content: str | None = None,
        valid_from: datetime | None = None,
        expected_revision: int | None = None,
        **write: Unpack[Write],
    ) -> WriteDecision:
        """Write a new revision on the current head of a memory's lineage, whichever revision was named.

        Raises AlreadySuperseded when the head is not `expected_revision`,
        Conflict when nothing of the lineage is current.
        """
        return self._run(
            changing.revise(
                self._setup,
                memory_id,
                fact,
                main_content=main_content,
                valid_from=valid_from,
                expected_revision=expected_revision,
                given=write,
            )
        )

    def annotate(self, memory_id: str, **attributes: Unpack[Attributes]) -> Memory:
        """Change attributes of a memory in place: tags, importance, category, expiry and the like. No new revision."""
        return self._run(changing.annotate(self._setup, memory_id, attributes))

    def end_validity(self, memory_id: str, at: datetime | None = None, **write: Unpack[Write]) -> Memory:
        """Say that a memory stopped holding (at `at`, default now) without a successor."""
        return self._run(changing.end_validity(self._setup, memory_id, at, write))

    def reinforce(self, memory_id: str, amount: float = 0.1, **write: Unpack[Write]) -> Memory:
        """Raise a memory's importance by `amount`, at most to 1."""
        return self._run(changing.reinforce(self._setup, memory_id, amount, write))

    def forget(self, memory_id: str, *, revision_only: bool = False, **write: Unpack[Write]) -> tuple[str, ...]:
        """Forget a fact with all its revisions, so that no older value comes back; the ids. Undone by `restore`.

        `revision_only=True` retracts one revision instead, and its predecessor may become head.
        """
        return self._run(changing.forget(self._setup, memory_id, revision_only, write))

    def restore(self, memory_id: str, **write: Unpack[Write]) -> Memory:
        """Bring back what was forgotten, retracted or archived."""
        return self._run(changing.restore(self._setup, memory_id, write))

    # Read: by id, in order

    def get(self, memory_id: str, **read: Unpack[Read]) -> Memory:
        """The memory with this id, full or short; NotFound outside the scope as for an id that does not exist."""
        return self._run(reading.get(self._setup, memory_id, read))

    def find(self, memory_id: str, **read: Unpack[Read]) -> Memory | None:
        """The memory with this id, or None."""
        return self._run(reading.find(self._setup, memory_id, read))

    def get_current(
        self, memory_id: str | None = None, *, topic_key: str | None = None, **read: Unpack[Read]
    ) -> Memory:
        """The head of the lineage that an id or a topic key names; NotFound when nothing of it is current."""
        return self._run(reading.get_current(self._setup, memory_id, topic_key, read))

    def list_memories(
        self,
        filter: Filter | Mapping[str, Any] | None = None,
        sort: Literal["recent", "oldest", "importance", "accessed"] = "recent",
        limit: int = 50,
        cursor: str | None = None,
        **read: Unpack[Read],
    ) -> Page[Memory]:
        """A page of memories in a total order: current ones, unless the filter names statuses."""
        return self._run(
            reading.list_memories(self._setup, filter=filter, sort=sort, limit=limit, cursor=cursor, given=read)
        )

    def get_lineage(
        self, memory_id: str | None = None, *, topic_key: str | None = None, **read: Unpack[Read]
    ) -> Lineage:
        """All revisions of one fact, newest first, with the head of any revision named."""
        return self._run(reading.get_lineage(self._setup, memory_id, topic_key, read))

    def get_history(
        self,
        memory_id: str | None = None,
        filter: Filter | Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        include_superseded: bool = True,
        limit: int = 50,
        cursor: str | None = None,
        **read: Unpack[Read],
    ) -> Page[HistoryEntry]:
        """The changes of one memory's lineage, or of a whole scope, newest first: what, when, why and by whom."""
        return self._run(
            reading.get_history(
                self._setup,
                memory_id=memory_id,
                filter=filter,
                since=since,
                until=until,
                include_superseded=include_superseded,
                limit=limit,
                cursor=cursor,
                given=read,
            )
        )

    def explain_memory(self, memory_id: str, **read: Unpack[Read]) -> MemoryExplanation:
        """Why a memory is believed: sources and their characters, deriver, rule, lineage, decisions. No model."""
        return self._run(reading.explain_memory(self._setup, memory_id, read))

    # Read: by meaning

    def search(
        self,
        query: str,
        *,
        mode: Mode = "hybrid",
        limit: int = 10,
        filter: Filter | Mapping[str, Any] | None = None,
        profile: str = "default",
        min_score: float = 0.0,
        include_superseded: bool = False,
        tail: bool = True,
        track: bool = True,
        **read: Unpack[Read],
    ) -> SearchResults:
        """The memories that answer a query best, each with every term of its score.

        An empty list means that nothing was found; an outage raises Unavailable,
        and a channel that failed is in `degraded`.
        """
        return self._run(
            recalling.search(
                self._setup,
                query,
                mode=mode,
                limit=limit,
                filter=filter,
                profile=profile,
                min_score=min_score,
                include_superseded=include_superseded,
                tail=tail,
                track=track,
                given=read,
            )
        )

    def recall(
        self,
        question: str,
        *,
        limit: int = 10,
        filter: Filter | Mapping[str, Any] | None = None,
        tail: bool = True,
        track: bool = True,
        **read: Unpack[Read],
    ) -> RecallAnswer:
        """Answer a question from memory: what is true now, what was before, since when, and from which characters."""
        return self._run(
            recalling.recall_answer(
                self._setup, question, limit=limit, filter=filter, tail=tail, track=track, given=read
            )
        )

    def recall_critical(
        self,
        *,
        memory_types: Sequence[str] | None = None,
        limit: int = 50,
        max_tokens: int | None = None,
        strict: bool = False,
        **read: Unpack[Read],
    ) -> CriticalMemories:
        """Every pinned memory, in a fixed order, without vectors, models or ranking; what does not fit is `omitted`.

        `strict=True` raises LimitExceeded instead of leaving anything out.
        """
        return self._run(
            reading.recall_critical(
                self._setup, memory_types=memory_types, limit=limit, max_tokens=max_tokens, strict=strict, given=read
            )
        )

    def build_context(
        self,
        query: str = "",
        *,
        session_id: str | None = None,
        max_tokens: int = 4000,
        sections: Mapping[str, float] | None = None,
        format: Format = "markdown",
        min_trust: Trust = "web",
        strict: bool = False,
        token_counter: TokenCounter | None = None,
        **read: Unpack[Read],
    ) -> ContextBlock:
        """The block a model is given to read: critical first, all cited, untrusted text fenced, never over budget."""
        return self._run(
            recalling.build_context(
                self._setup,
                query,
                session_id=session_id,
                max_tokens=max_tokens,
                sections=sections,
                format=format,
                min_trust=min_trust,
                strict=strict,
                token_counter=token_counter,
                given=read,
            )
        )

    # Read: the ledger

    def get_event(self, event_id: str, **read: Unpack[Read]) -> Event:
        """The event with this id, or NotFound."""
        return self._run(capture.get_event(self._setup, event_id, read))

    def list_events(
        self,
        *,
        stream_id: str | None = None,
        session_id: str | None = None,
        task_run_id: str | None = None,
        after: int = 0,
        before: int | None = None,
        types: Sequence[str] | None = None,
        roles: Sequence[Role] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        newest_first: bool = False,
        limit: int = 50,
        **read: Unpack[Read],
    ) -> tuple[Event, ...]:
        """The events of a stream, a session, a task run, or the scope, in order."""
        return self._run(
            capture.list_events(
                self._setup,
                stream_id=stream_id,
                session_id=session_id,
                task_run_id=task_run_id,
                after=after,
                before=before,
                types=types,
                roles=roles,
                since=since,
                until=until,
                newest_first=newest_first,
                limit=limit,
                given=read,
            )
        )

    def stats(self, **ids: Unpack[Ids]) -> ScopeStats:
        """Counts of what the readable scopes hold."""
        return self._run(watching.stats(self._setup, ids))

    # Names that other memory libraries use

    def get_all(
        self,
        filter: Filter | Mapping[str, Any] | None = None,
        limit: int = 50,
        cursor: str | None = None,
        **read: Unpack[Read],
    ) -> Page[Memory]:
        """Another name of `list_memories`."""
        return self._run(
            reading.list_memories(self._setup, filter=filter, sort="recent", limit=limit, cursor=cursor, given=read)
        )

    def update(self, memory_id: str, fact: str | None = None, **fields: Unpack[Attributes]) -> WriteDecision | Memory:
        """`revise` when a fact is given, otherwise `annotate`."""
        return self._run(aliases.update(self._setup, memory_id, fact, fields))

    def delete(self, memory_id: str, **write: Unpack[Write]) -> tuple[str, ...]:
        """Another name of `forget`."""
        return self._run(changing.forget(self._setup, memory_id, False, write))

    def delete_all(self, **write: Unpack[Write]) -> tuple[str, ...]:
        """Forget every current memory of exactly the scope named by keyword; InvalidInput when none is named."""
        return self._run(aliases.delete_all(self._setup, write))

    def history(self, memory_id: str, **read: Unpack[Read]) -> Page[HistoryEntry]:
        """The history of one memory; another name of `get_history`."""
        return self._run(aliases.history(self._setup, memory_id, read))


class Ops:
    """The operator's door: verification, redaction, jobs and checks."""

    def __init__(self, door: Engram) -> None:
        self._door = door
        self._setup = door._setup
        self._run = door._run

    def verify_ledger(self, *, anchors: Mapping[str, Any] | None = None, **read: Unpack[Read]) -> VerifyReport:
        """Recompute the hash chain of the scope's streams from their payloads, and name the first bad position.

        `anchors` are heads kept elsewhere (`report.heads` of an earlier run): only they reveal a cut tail.
        """
        return self._run(watching.verify_ledger(self._setup, anchors, read))

    def redact_event(self, event_id: str, **write: Unpack[Write]) -> Receipt:
        """Erase what an event said, for ever; its place and its hash stay, so the chain still verifies."""
        return self._run(watching.redact_event(self._setup, event_id, write))

    def run_jobs(self, *, limit: int = 10) -> int:
        """Claim due jobs of the tenant and run them here, now; how many were run."""
        return self._run(running.run_jobs(self._setup, limit))

    def doctor(self) -> DoctorReport:
        """Check server, schema, roles, row-level security, indexes, jobs and vectors."""
        return self._run(watching.doctor(self._setup))


class AsyncEngram(_Door):
    """Engram for event loops: every method of `Engram`, awaited."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; a door made by `scoped` leaves them to the one it came from."""
        if self._owner:
            await self._core.close_async()

    @property
    def ops(self) -> AsyncOps:
        """What an operator does, apart from what an agent may do."""
        return AsyncOps(self)

    async def _run(self, operation: Operation[T]) -> T:
        try:
            step = next(operation)
            while True:
                try:
                    result = await self._do(step)
                except BaseException as error:  # noqa: BLE001 - the operation hears of it, and raises
                    step = operation.throw(error)
                else:
                    step = operation.send(result)
        except StopIteration as done:
            value: T = done.value
            return value

    async def _do(self, step: Step) -> Any:
        if isinstance(step, Transact):
            database = await asyncio.to_thread(self._core.database)
            return await database.run_async(step.tenant_id, step.work, key=step.key, read_only=step.read_only)
        if isinstance(step, Think):
            return await asyncio.to_thread(step.work)
        return await asyncio.sleep(step.seconds)

    # Write: the ledger's roads

    async def remember(
        self,
        messages: str | Message | Sequence[Message],
        *,
        derive: Derive | None = None,
        wait: bool | float = False,
        **write: Unpack[Write],
    ) -> Receipt:
        """Append what was said to the ledger and derive memories from it.

        A text is one user message; a list is up to 500 messages, all or nothing. Messages with an `event_id`,
        or a call with an
        `idempotency_key`,
        may be sent again: nothing happens twice. `derive` overrides the policy (`skip`, `verbatim`, `rules`);
        the decisions are in the receipt when derivation ran in this process. Raises InvalidInput,
        IdempotencyMismatch, Unavailable.
        """
        return await self._run(capture.remember(self._setup, messages, derive=derive, wait=wait, given=write))

    async def record_event(
        self,
        content: str,
        *,
        role: Role = "agent",
        event_type: str = "observation",
        payload: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        derive: Derive | None = None,
        expected_position: int | None = None,
        **write: Unpack[Write],
    ) -> Receipt:
        """Append one event to its task's stream, else its session's, else the scope's own.

        With `expected_position` nothing is written, and StaleStream raised, unless the stream is exactly there.
        """
        return await self._run(
            capture.record_event(
                self._setup,
                content,
                role=role,
                event_type=event_type,
                payload=payload,
                metadata=metadata,
                derive=derive,
                expected_position=expected_position,
                given=write,
            )
        )

    async def record_turn(
        self,
        user_message: str,
        assistant_message: str | None = None,
        *,
        tool_calls: Sequence[ToolCall] = (),
        artifacts: Sequence[Artifact] = (),
        metadata: Mapping[str, Any] | None = None,
        derive: Derive | None = None,
        wait: bool | float = False,
        **write: Unpack[Write],
    ) -> Receipt:
        """Append a whole turn in one transaction: message, tool calls with their results, artifacts, answer."""
        return await self._run(
            capture.record_turn(
                self._setup,
                user_message,
                assistant_message,
                tool_calls=tool_calls,
                artifacts=artifacts,
                metadata=metadata,
                derive=derive,
                wait=wait,
                given=write,
            )
        )

    async def wait_for(
        self, what: Receipt | str, *, deriver: str | None = None, timeout: float = 10.0, **read: Unpack[Read]
    ) -> tuple[WriteDecision, ...]:
        """Wait until the events of a receipt (or one event, by id) are derived; Unavailable after `timeout` seconds."""
        return await self._run(running.wait_for(self._setup, what, deriver=deriver, timeout=timeout, given=read))

    # Write: the direct roads

    async def add(self, fact: str, **memory: Unpack[NewMemory]) -> WriteDecision:
        """Remember one fact, unless it is known; the decision says what became of it, and why.

        `topic_key` makes it an upsert that keeps history; `dry_run` writes nothing. Raises InvalidInput for a list of
        messages (use `remember`), Unavailable when the embedder fails.
        """
        return await self._run(changing.add(self._setup, fact, memory))

    async def add_many(self, items: Sequence[Candidate], **write: Unpack[Write]) -> tuple[WriteDecision, ...]:
        """Remember up to 500 facts in one transaction, all or nothing; a bad item fails the call, naming its index."""
        return await self._run(changing.add_many(self._setup, items, write))

    async def revise(
        self,
        memory_id: str,
        fact: str | Edit | None = None,
        *,
        main_content: str | None = None,
        valid_from: datetime | None = None,
        expected_revision: int | None = None,
        **write: Unpack[Write],
    ) -> WriteDecision:
        """Write a new revision on the current head of a memory's lineage, whichever revision was named.

        Raises AlreadySuperseded when the head is not `expected_revision`,
        Conflict when nothing of the lineage is current.
        """
        return await self._run(
            changing.revise(
                self._setup,
                memory_id,
                fact,
                main_content=main_content,
                valid_from=valid_from,
                expected_revision=expected_revision,
                given=write,
            )
        )

    async def annotate(self, memory_id: str, **attributes: Unpack[Attributes]) -> Memory:
        """Change attributes of a memory in place: tags, importance, category, expiry and the like. No new revision."""
        return await self._run(changing.annotate(self._setup, memory_id, attributes))

    async def end_validity(self, memory_id: str, at: datetime | None = None, **write: Unpack[Write]) -> Memory:
        """Say that a memory stopped holding (at `at`, default now) without a successor."""
        return await self._run(changing.end_validity(self._setup, memory_id, at, write))

    async def reinforce(self, memory_id: str, amount: float = 0.1, **write: Unpack[Write]) -> Memory:
        """Raise a memory's importance by `amount`, at most to 1."""
        return await self._run(changing.reinforce(self._setup, memory_id, amount, write))

    async def forget(self, memory_id: str, *, revision_only: bool = False, **write: Unpack[Write]) -> tuple[str, ...]:
        """Forget a fact with all its revisions, so that no older value comes back; the ids. Undone by `restore`.

        `revision_only=True` retracts one revision instead, and its predecessor may become head.
        """
        return await self._run(changing.forget(self._setup, memory_id, revision_only, write))

    async def restore(self, memory_id: str, **write: Unpack[Write]) -> Memory:
        """Bring back what was forgotten, retracted or archived."""
        return await self._run(changing.restore(self._setup, memory_id, write))

    # Read: by id, in order

    async def get(self, memory_id: str, **read: Unpack[Read]) -> Memory:
        """The memory with this id, full or short; NotFound outside the scope as for an id that does not exist."""
        return await self._run(reading.get(self._setup, memory_id, read))

    async def find(self, memory_id: str, **read: Unpack[Read]) -> Memory | None:
        """The memory with this id, or None."""
        return await self._run(reading.find(self._setup, memory_id, read))

    async def get_current(
        self, memory_id: str | None = None, *, topic_key: str | None = None, **read: Unpack[Read]
    ) -> Memory:
        """The head of the lineage that an id or a topic key names; NotFound when nothing of it is current."""
        return await self._run(reading.get_current(self._setup, memory_id, topic_key, read))

    async def list_memories(
        self,
        filter: Filter | Mapping[str, Any] | None = None,
        sort: Literal["recent", "oldest", "importance", "accessed"] = "recent",
        limit: int = 50,
        cursor: str | None = None,
        **read: Unpack[Read],
    ) -> Page[Memory]:
        """A page of memories in a total order: current ones, unless the filter names statuses."""
        return await self._run(
            reading.list_memories(self._setup, filter=filter, sort=sort, limit=limit, cursor=cursor, given=read)
        )

    async def get_lineage(
        self, memory_id: str | None = None, *, topic_key: str | None = None, **read: Unpack[Read]
    ) -> Lineage:
        """All revisions of one fact, newest first, with the head of any revision named."""
        return await self._run(reading.get_lineage(self._setup, memory_id, topic_key, read))

    async def get_history(
        self,
        memory_id: str | None = None,
        filter: Filter | Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        include_superseded: bool = True,
        limit: int = 50,
        cursor: str | None = None,
        **read: Unpack[Read],
    ) -> Page[HistoryEntry]:
        """The changes of one memory's lineage, or of a whole scope, newest first: what, when, why and by whom."""
        return await self._run(
            reading.get_history(
                self._setup,
                memory_id=memory_id,
                filter=filter,
                since=since,
                until=until,
                include_superseded=include_superseded,
                limit=limit,
                cursor=cursor,
                given=read,
            )
        )

    async def explain_memory(self, memory_id: str, **read: Unpack[Read]) -> MemoryExplanation:
        """Why a memory is believed: sources and their characters, deriver, rule, lineage, decisions. No model."""
        return await self._run(reading.explain_memory(self._setup, memory_id, read))

    # Read: by meaning

    async def search(
        self,
        query: str,
        *,
        mode: Mode = "hybrid",
        limit: int = 10,
        filter: Filter | Mapping[str, Any] | None = None,
        profile: str = "default",
        min_score: float = 0.0,
        include_superseded: bool = False,
        tail: bool = True,
        track: bool = True,
        **read: Unpack[Read],
    ) -> SearchResults:
        """The memories that answer a query best, each with every term of its score.

        An empty list means that nothing was found; an outage raises Unavailable,
        and a channel that failed is in `degraded`.
        """
        return await self._run(
            recalling.search(
                self._setup,
                query,
                mode=mode,
                limit=limit,
                filter=filter,
                profile=profile,
                min_score=min_score,
                include_superseded=include_superseded,
                tail=tail,
                track=track,
                given=read,
            )
        )

    async def recall(
        self,
        question: str,
        *,
        limit: int = 10,
        filter: Filter | Mapping[str, Any] | None = None,
        tail: bool = True,
        track: bool = True,
        **read: Unpack[Read],
    ) -> RecallAnswer:
        """Answer a question from memory: what is true now, what was before, since when, and from which characters."""
        return await self._run(
            recalling.recall_answer(
                self._setup, question, limit=limit, filter=filter, tail=tail, track=track, given=read
            )
        )

    async def recall_critical(
        self,
        *,
        memory_types: Sequence[str] | None = None,
        limit: int = 50,
        max_tokens: int | None = None,
        strict: bool = False,
        **read: Unpack[Read],
    ) -> CriticalMemories:
        """Every pinned memory, in a fixed order, without vectors, models or ranking; what does not fit is `omitted`.

        `strict=True` raises LimitExceeded instead of leaving anything out.
        """
        return await self._run(
            reading.recall_critical(
                self._setup, memory_types=memory_types, limit=limit, max_tokens=max_tokens, strict=strict, given=read
            )
        )

    async def build_context(
        self,
        query: str = "",
        *,
        session_id: str | None = None,
        max_tokens: int = 4000,
        sections: Mapping[str, float] | None = None,
        format: Format = "markdown",
        min_trust: Trust = "web",
        strict: bool = False,
        token_counter: TokenCounter | None = None,
        **read: Unpack[Read],
    ) -> ContextBlock:
        """The block a model is given to read: critical first, all cited, untrusted text fenced, never over budget."""
        return await self._run(
            recalling.build_context(
                self._setup,
                query,
                session_id=session_id,
                max_tokens=max_tokens,
                sections=sections,
                format=format,
                min_trust=min_trust,
                strict=strict,
                token_counter=token_counter,
                given=read,
            )
        )

    # Read: the ledger

    async def get_event(self, event_id: str, **read: Unpack[Read]) -> Event:
        """The event with this id, or NotFound."""
        return await self._run(capture.get_event(self._setup, event_id, read))

    async def list_events(
        self,
        *,
        stream_id: str | None = None,
        session_id: str | None = None,
        task_run_id: str | None = None,
        after: int = 0,
        before: int | None = None,
        types: Sequence[str] | None = None,
        roles: Sequence[Role] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        newest_first: bool = False,
        limit: int = 50,
        **read: Unpack[Read],
    ) -> tuple[Event, ...]:
        """The events of a stream, a session, a task run, or the scope, in order."""
        return await self._run(
            capture.list_events(
                self._setup,
                stream_id=stream_id,
                session_id=session_id,
                task_run_id=task_run_id,
                after=after,
                before=before,
                types=types,
                roles=roles,
                since=since,
                until=until,
                newest_first=newest_first,
                limit=limit,
                given=read,
            )
        )

    async def stats(self, **ids: Unpack[Ids]) -> ScopeStats:
        """Counts of what the readable scopes hold."""
        return await self._run(watching.stats(self._setup, ids))

    # Names that other memory libraries use

    async def get_all(
        self,
        filter: Filter | Mapping[str, Any] | None = None,
        limit: int = 50,
        cursor: str | None = None,
        **read: Unpack[Read],
    ) -> Page[Memory]:
        """Another name of `list_memories`."""
        return await self._run(
            reading.list_memories(self._setup, filter=filter, sort="recent", limit=limit, cursor=cursor, given=read)
        )

    async def update(
        self, memory_id: str, fact: str | None = None, **fields: Unpack[Attributes]
    ) -> WriteDecision | Memory:
        """`revise` when a fact is given, otherwise `annotate`."""
        return await self._run(aliases.update(self._setup, memory_id, fact, fields))

    async def delete(self, memory_id: str, **write: Unpack[Write]) -> tuple[str, ...]:
        """Another name of `forget`."""
        return await self._run(changing.forget(self._setup, memory_id, False, write))

    async def delete_all(self, **write: Unpack[Write]) -> tuple[str, ...]:
        """Forget every current memory of exactly the scope named by keyword; InvalidInput when none is named."""
        return await self._run(aliases.delete_all(self._setup, write))

    async def history(self, memory_id: str, **read: Unpack[Read]) -> Page[HistoryEntry]:
        """The history of one memory; another name of `get_history`."""
        return await self._run(aliases.history(self._setup, memory_id, read))


class AsyncOps:
    """The operator's door for event loops."""

    def __init__(self, door: AsyncEngram) -> None:
        self._door = door
        self._setup = door._setup
        self._run = door._run

    async def verify_ledger(self, *, anchors: Mapping[str, Any] | None = None, **read: Unpack[Read]) -> VerifyReport:
        """Recompute the hash chain of the scope's streams from their payloads, and name the first bad position.

        `anchors` are heads kept elsewhere (`report.heads` of an earlier run): only they reveal a cut tail.
        """
        return await self._run(watching.verify_ledger(self._setup, anchors, read))

    async def redact_event(self, event_id: str, **write: Unpack[Write]) -> Receipt:
        """Erase what an event said, for ever; its place and its hash stay, so the chain still verifies."""
        return await self._run(watching.redact_event(self._setup, event_id, write))

    async def run_jobs(self, *, limit: int = 10) -> int:
        """Claim due jobs of the tenant and run them here, now; how many were run."""
        return await self._run(running.run_jobs(self._setup, limit))

    async def doctor(self) -> DoctorReport:
        """Check server, schema, roles, row-level security, indexes, jobs and vectors."""
        return await self._run(watching.doctor(self._setup))
