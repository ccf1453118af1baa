"""Settings: few, validated at start, read from the environment only where a door is opened without arguments."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from engram.errors import SettingsError
from engram.scope import Scope

PREFIX = "ENGRAM_"


class Settings(BaseSettings):
    """Everything about an Engram that belongs to the process, not to a call or a tenant.

    Each field `name` is read from `ENGRAM_NAME`; `database_url` also from plain `DATABASE_URL`. An unknown name with
    the prefix, or a value that makes no sense, is a SettingsError naming it.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="forbid", env_ignore_empty=True, hide_input_in_errors=True
    )

    database_url: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("database_url", "ENGRAM_DATABASE_URL", "DATABASE_URL"),
        description="PostgreSQL 16 to 18 to use; unset means the embedded one.",
    )
    migration_url: SecretStr | None = Field(
        default=None, description="Where migrations run, when that is not DATABASE_URL (a pooler, say)."
    )
    data_dir: Path | None = Field(
        default=None, description="Folder of the embedded PostgreSQL; unset means the platform's data folder."
    )
    pool_size: int = Field(default=10, ge=1, le=200, description="Connections a door keeps.")
    statement_timeout: timedelta = Field(default=timedelta(seconds=30), description="Longest a statement may run.")
    lock_timeout: timedelta = Field(
        default=timedelta(seconds=5), description="Longest a statement may wait for a lock."
    )
    tenant: str = Field(default="default", description="Tenant of a door opened without a scope.")
    namespace: str = Field(default="default", description="Namespace of a door opened without a scope.")
    agent: str = Field(default="default", description="Agent of a door opened without a scope.")
    user: str | None = Field(default=None, description="User of a door opened without a scope.")
    policy: str = Field(default="default", description="Name of the memory policy.")
    embedding_model: str = Field(
        default="wordllama", description="Embedder: wordllama, or none for keyword search only."
    )
    on_embedding_failure: Literal["fail", "defer"] = Field(
        default="fail", description="Direct writes when the embedder fails: fail, or defer the vector to a job."
    )
    dispatch: Literal["inline", "doorbell"] = Field(
        default="inline", description="Derive in the calling process, or leave the jobs to workers."
    )
    profile: str = Field(default="recall", description="Scoring profile of searches.")
    text_search_config: str = Field(
        default="english", description="PostgreSQL text search configuration of new memories."
    )
    time_zone: str = Field(default="UTC", description="Time zone in which phrases such as 'yesterday' are read.")
    ledger_key: SecretStr | None = Field(
        default=None, description="Key that turns the ledger's hash chain into an HMAC."
    )

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ValueError, OSError, LookupError):
            raise ValueError("expected an IANA time zone such as Europe/Paris") from None
        return value

    @field_validator("text_search_config")
    @classmethod
    def _plain_name(cls, value: str) -> str:
        if not value.replace("_", "").isalnum() or not value.isascii():
            raise ValueError("expected the name of a text search configuration")
        return value

    @property
    def scope(self) -> Scope:
        """The scope of a door opened without one."""
        return Scope(tenant_id=self.tenant, namespace=self.namespace, agent_id=self.agent, user_id=self.user)

    @property
    def secret_key(self) -> bytes | None:
        """The ledger key as bytes, or None for an unkeyed chain."""
        return self.ledger_key.get_secret_value().encode() if self.ledger_key is not None else None


def load(environment: Mapping[str, str] | None = None, **given: Any) -> Settings:
    """The settings of this process: arguments, then the environment; SettingsError names what is wrong."""
    names = os.environ if environment is None else environment
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    for name in sorted(names):
        if name.upper().startswith(PREFIX) and name.upper() not in known:
            raise SettingsError(f"{name}: no such setting; the settings are {', '.join(sorted(known))}", name=name)
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "settings"
        raise SettingsError(f"{name}: {first['msg']}", name=name) from None
