"""Core: what the doors of one Engram share, and what every door is: opened, bound to a scope, looked at."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, Never, Self, TypeVar, Unpack

from engram import embedding, inputs, llm, operations, policies, ranking, rerank
from engram.dispatch import Doorbell, RedisDoorbell
from engram.embedding import Embedder, Embedders
from engram.errors import EngramError, InvalidInput, SettingsError, Unavailable
from engram.llm import LanguageModel
from engram.operations.steps import Operation, Ring, Step, Think, Together, Transact
from engram.policies import MemoryPolicy
from engram.rerank import Reranker
from engram.scope import Ids, Scope
from engram.settings import Settings, load

if TYPE_CHECKING:
    from engram.database import Database
    from engram.operations.setup import Setup
    from engram.sessions import Visit

T = TypeVar("T")
ABREAST: Final = 4  # operations that one call carries out at the same time
TokenCounter = Callable[[str], int] | str  # a function, or the name of an encoding or a model of tiktoken


class Core:
    """What the doors of one Engram share: settings, policy, embedder, and the database once it is needed."""

    def __init__(
        self,
        database_url: str | None,
        settings: Settings | None,
        policy: str | MemoryPolicy | None,
        embedder: str | Embedder | None,
        language_model: str | LanguageModel | None,
        reranker: str | Reranker | None = None,
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
        _known_profile(self.settings.profile, self.policy)
        model = embedder if embedder is not None else self.settings.embedding_model
        self.embedders = Embedders(self.settings, embedding.resolve(model, self.settings))
        self.llm = llm.resolve(self.settings, language_model, self.policy.llm)
        self.reranker = rerank.resolve(reranker, self.settings)
        self.closed = False
        self._database: Database | None = None if self.url is None else _database(self.url, self.settings)
        self._server: Any = None
        self._bell: Doorbell | None = None
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

    @property
    def opened(self) -> Database | None:
        """The database where it is open, so that nobody has to wait for a thread to open it."""
        return None if self.closed or self._pid != os.getpid() else self._database

    def _embedded(self) -> Database:
        from engram import migrations
        from engram.embedded import EmbeddedServer

        server = EmbeddedServer.start(self.settings.data_dir)
        if migrations.current(server.superuser_url) != migrations.head():
            migrations.upgrade(server.superuser_url)
        self._server = server
        database = _database(server.url(), self.settings)
        database.recover = server.ensure_running
        return database

    def think(self, step: Think) -> Any:
        """Call a model; while it thinks for jobs, their leases are kept."""
        if not step.jobs:
            return step.work()
        with operations.heartbeat.keeping(self.database(), *step.jobs):
            return step.work()

    def ring(self, step: Ring) -> None:
        """Tell whoever runs jobs that a tenant has some: workers over Redis, or a thread of this process."""
        with self._lock:
            if self._bell is None and not self.closed:
                self._bell = self._hung()
        if self._bell is not None:
            self._bell.ring(step.tenant_id)

    def rung(self, step: Ring) -> bool:
        """Ring where the doorbell hangs already, or none ever will; False where somebody has to hang it first."""
        if self._bell is not None and self._pid == os.getpid():
            self._bell.ring(step.tenant_id)
            return True
        return self.settings.redis_url is None and not self.settings.derives_inline

    def _hung(self) -> Doorbell | None:
        if self.settings.redis_url is not None:
            return RedisDoorbell(self.settings.redis_url.get_secret_value())
        if self.settings.derives_inline:
            from engram.worker import Background

            return Background(self.run, self.setup(self.settings.scope), self._leave, keeps_house=self.url is None)
        return None  # workers poll

    def setup(self, scope: Scope) -> Setup:
        """What operations in a scope work with."""
        known = self.embedders.of(scope.tenant_id) or self.embedders.given
        return operations.setup.Setup(
            self.settings, self.policy, known, scope, self.llm, self.embedders, self.owner_url, reranker=self.reranker
        )

    def owner_url(self) -> str | None:
        """Where the schema's owner is reached: MIGRATION_URL, the embedded server's superuser, else our own login."""
        configured = self.settings.migration_url
        if configured is not None:
            return configured.get_secret_value()
        return self._server.superuser_url if self._server is not None else self.url

    def run(self, operation: Operation[T]) -> T:
        """Carry an operation out, blocking."""
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
            return self.database().run(
                step.tenant_id, step.work, key=step.key, read_only=step.read_only, snapshot=step.snapshot,
                any_schema=step.any_schema, patience=step.patience,
            )  # fmt: skip
        if isinstance(step, Think):
            return self.think(step)
        if isinstance(step, Ring):
            return self.ring(step)
        if isinstance(step, Together):
            return self._together(step)
        return time.sleep(step.seconds)

    def _together(self, step: Together) -> list[Any]:
        with ThreadPoolExecutor(max(1, min(len(step.operations), ABREAST)), "engram-together") as crew:
            return list(crew.map(self._outcome, step.operations))

    def _outcome(self, operation: Operation[T]) -> T | EngramError:
        try:
            return self.run(operation)
        except EngramError as error:
            return error

    def _after_fork(self) -> None:
        # Connections belong to the process that made them: a child begins anew and leaves its parent's alone.
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._bell = None
        if self._database is not None:
            fresh = _database(self._database.url, self.settings)
            fresh.recover = self._database.recover
            self._database = fresh

    def close(self, drain: float) -> None:
        """Finish in the background, close the connections, leave the embedded server; the last to leave stops it."""
        if self._pid != os.getpid():
            self._after_fork()
        if self._bell is not None and not self.closed:
            self._bell.close(drain)
        self.closed = True
        if self._database is not None:
            self._database.recover = None  # a thread that outlives its door starts no server again
            self._database.close()
        if self._server is not None:
            self._server.close()
            self._server = None

    def _leave(self, drain: float) -> None:
        """Give back what runs in the background, as the process ends with its door open: who goes on calling still can.

        An embedded server is left for good: it would be started again, and stopped by nobody.
        """
        if self._server is not None:
            self.close(drain)
        elif self._pid == os.getpid():  # a child of a fork that never called has nothing to give back
            if self._bell is not None:
                self._bell.close(drain)
            if self._database is not None:
                self._database.close()

    async def close_async(self, drain: float) -> None:
        """The asynchronous form of `close`."""
        await asyncio.to_thread(self.close, drain)
        if self._database is not None:
            await self._database.close_async()


def _database(url: str, settings: Settings) -> Database:
    from engram.database import Database  # the driver takes longer to load than all that an import of a door needs

    database = Database(url, settings)
    database.refuse = _refuse_other_revision
    return database


def _refuse_other_revision(found: str) -> None:
    from engram import migrations

    migrations.refuse_other_revision(found)


def _checked(value: object, kind: type[T], name: str) -> T:
    if not isinstance(value, kind):
        raise SettingsError(f"{name}: expected {kind.__name__}, found {type(value).__name__}")
    return value


def naming_all(error: InvalidInput, call: CodeType) -> InvalidInput:
    """A refusal of an unknown argument with all that the call takes: its named arguments, then the others. Pure."""
    named = call.co_varnames[1 : call.co_argcount + call.co_kwonlyargcount]
    takes = ", ".join(dict.fromkeys((*named, *error.facts["known"])))
    return InvalidInput(error.field, f"an argument of this call: {takes}", error.found)


def _no_others(names: Mapping[str, object]) -> None:
    """Refuse what a door is not opened with, and say where it belongs."""
    for name in names:
        if name in Ids.__annotations__:
            raise InvalidInput(name, f"in Engram().scoped({name}=…)", "where a door is opened")
        if name in Settings.model_fields:
            raise InvalidInput(name, f"as ENGRAM_{name.upper()}, or in engram.settings.load({name}=…)", "elsewhere")
        raise InvalidInput(inputs.field_name(name, "a keyword"), f"one of {OPENED_WITH}", "an unknown name")


OPENED_WITH: Final = "database_url, scope, settings, policy, embedder, llm, reranker"


def _known_profile(name: str, policy: MemoryPolicy) -> None:
    try:
        ranking.resolve(name, policy.profiles)
    except InvalidInput as error:
        raise SettingsError(str(error)) from None


class Door:
    """What both doors have: a core, a scope, and the way to look at them."""

    def __init__(
        self,
        database_url: str | None = None,
        *,
        scope: Scope | None = None,
        settings: Settings | None = None,
        policy: str | MemoryPolicy | None = None,
        embedder: str | Embedder | None = None,
        llm: str | LanguageModel | None = None,
        reranker: str | Reranker | None = None,
        **others: Never,
    ) -> None:
        _no_others(others)
        self._core = Core(database_url, settings, policy, embedder, llm, reranker)
        self._scope = _checked(self._core.settings.scope if scope is None else scope, Scope, "scope")
        self._owner = True

    _visit: Visit | None = None  # the session a door is bound to

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
        setup = self._core.setup(self._scope)
        return setup if self._visit is None else replace(setup, session=self._visit)

    def scoped(self, scope: Scope | None = None, **ids: Unpack[Ids]) -> Self:
        """A door to the same Engram bound to another scope, on the same connections; closing it closes nothing."""
        if scope is not None and not isinstance(scope, Scope):
            raise InvalidInput("scope", "a Scope", type(scope).__name__)
        door = object.__new__(type(self))
        door._core, door._owner, door._visit = self._core, False, self._visit
        door._scope = (scope if scope is not None else self._scope).override(**ids)
        return door

    def __repr__(self) -> str:
        return f"{type(self).__name__}(scope={self._scope!r})"
