"""Scope: whose memory a call speaks of, and which scopes a read may see."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, TypedDict, cast

from engram import inputs
from engram.errors import InvalidInput


class AllUsers:
    """The explicit wish to read the rows of every user."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ALL_USERS"


ALL_USERS: Final = AllUsers()
DEFAULT: Final = "default"
MAX_AGENTS: Final = 4


class Ids(TypedDict, total=False):
    """The scope ids any call may override by keyword."""

    tenant_id: str
    namespace: str
    agent_id: str | tuple[str, ...]
    user_id: str | AllUsers | None
    shared: bool


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory: a tenant, a namespace in it, an agent and perhaps a user.

    `user_id=None` is the agent's own memory, never "all users". A tuple of up to four agents and `ALL_USERS` are for
    reads only; of no agents nothing is read. `shared=False` leaves the namespace `default` out of a read.
    """

    tenant_id: str = DEFAULT
    namespace: str = DEFAULT
    agent_id: str | tuple[str, ...] = DEFAULT
    user_id: str | AllUsers | None = None
    shared: bool = True

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "tenant_id", inputs.scope_id(self.tenant_id, "tenant_id"))
        set_(self, "namespace", inputs.scope_id(self.namespace, "namespace"))
        if isinstance(self.agent_id, tuple | list):
            if len(self.agent_id) > MAX_AGENTS:
                raise InvalidInput("agent_id", f"at most {MAX_AGENTS} agents", str(len(self.agent_id)))
            agents = tuple(dict.fromkeys(inputs.scope_id(agent, "agent_id") for agent in self.agent_id))
            set_(self, "agent_id", agents[0] if len(agents) == 1 else agents)
        else:
            set_(self, "agent_id", inputs.scope_id(self.agent_id, "agent_id"))
        if self.user_id is not None and not isinstance(self.user_id, AllUsers):
            set_(self, "user_id", inputs.scope_id(self.user_id, "user_id"))
        if not isinstance(self.shared, bool):
            raise InvalidInput("shared", "True or False", type(self.shared).__name__)

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents a read may see, in the order given."""
        return self.agent_id if isinstance(self.agent_id, tuple) else (self.agent_id,)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces a read may see, nearest first."""
        return (self.namespace, DEFAULT) if self.shared and self.namespace != DEFAULT else (self.namespace,)

    @property
    def owner(self) -> tuple[str, str, str, str | None]:
        """The names of the one owner of what is written here; InvalidInput where there are several."""
        scope = self.for_write()
        return scope.tenant_id, scope.namespace, str(scope.agent_id), cast("str | None", scope.user_id)

    def override(self, **ids: Any) -> Scope:
        """This scope with some ids replaced; unknown names are InvalidInput."""
        for name in ids:
            if name not in Ids.__annotations__:
                raise InvalidInput(
                    inputs.field_name(name, "scope"), f"one of {', '.join(Ids.__annotations__)}", "an unknown scope id"
                )
        return replace(self, **ids) if ids else self

    def for_write(self) -> Scope:
        """This scope, checked to name exactly one owner of what is written."""
        if isinstance(self.agent_id, tuple):
            raise InvalidInput("agent_id", "one agent on a write", "several" if self.agent_id else "none")
        if isinstance(self.user_id, AllUsers):
            raise InvalidInput("user_id", "one user or None on a write", "ALL_USERS")
        return self
