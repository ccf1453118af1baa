"""Settings: few, validated at start, read from the environment only where a door is opened without arguments."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, Self, get_args
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import (
    AliasChoices,
    Field,
    ModelWrapValidatorHandler,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from engram import inputs
from engram.errors import SettingsError
from engram.scope import Scope

PREFIX = "ENGRAM_"
PLAINLY: Final = MappingProxyType(
    {
        "extra_forbidden": "no such setting",
        "time_delta_parsing": "expected seconds, or a duration such as PT30S",
        **dict.fromkeys(("int_parsing", "int_from_float"), "expected a whole number"),
        **dict.fromkeys(("float_parsing", "decimal_parsing"), "expected a number"),
    }
)
"""What pydantic says in words of its own, by the type of its error."""
LlmLevel = Literal["off", "auto", "full"]
LLM_LEVELS: Final[tuple[LlmLevel, ...]] = get_args(LlmLevel)
RecallLog = Literal["full", "ids", "off"]
_ENVIRONMENT: Final[ContextVar[Mapping[str, str] | None]] = ContextVar("environment", default=None)
"""What stands for the environment of the process while settings are made from another one."""
TIERS: Final = ("extract", "merge", "expand", "resume", "gate", "audit", "naming")
COMPONENTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        **dict.fromkeys(("extract", "fact_extract"), ("extract",)),
        **dict.fromkeys(("adjudicate", "insert_merge", "merge", "reconcile"), ("merge",)),
        **dict.fromkeys(("intent", "expand", "compose"), ("expand",)),
        **dict.fromkeys(("summary", "checkpoint", "resume_compress"), ("resume",)),
        **dict.fromkeys(("triage", "gate"), ("gate",)),
        **dict.fromkeys(("distill", "audit"), ("audit", "gate")),
        **dict.fromkeys(("consolidate", "naming"), ("naming",)),
    }
)
"""The tiers a component asks for a language model, first to last; behind them all stands the setting `llm_model`.

Nothing asks for `resume_compress` any more, nor for `fact_extract`, since `extract` brings triples with the facts: a
policy that names one goes on to hold.
"""


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
        validation_alias=AliasChoices("ENGRAM_DATABASE_URL", "DATABASE_URL", "database_url"),
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
        default="wordllama",
        description="Embedder of new tenants: wordllama; onnx:NAME for fastembed or local:NAME for"
        " sentence-transformers, in this process; a provider's model such as openai/text-embedding-3-small; or none"
        " for keyword search only.",
    )
    embedding_api_keys: Annotated[tuple[SecretStr, ...], NoDecode] = Field(
        default=(), description="Keys for the provider of the embedding model, separated by commas."
    )
    embedding_key_strategy: Literal["failover", "round_robin"] = Field(
        default="failover", description="Several keys: the next when one is refused, or all in turn."
    )
    embedding_api_base: str | None = Field(
        default=None, description="Address of the embedding model's provider, where it is not the usual one."
    )
    rerank_model: str | None = Field(
        default=None,
        description="Reranker for searches that ask for one: a LiteLLM name such as cohere/rerank-v3.5, local:NAME for"
        " sentence-transformers, or onnx:NAME for fastembed.",
    )
    rerank_api_key: SecretStr | None = Field(
        default=None, description="Key of the reranker's provider; unset leaves it to the provider's own variable."
    )
    rerank_api_base: str | None = Field(
        default=None, description="Address of the reranker's provider, where it is not the usual one."
    )
    on_embedding_failure: Literal["fail", "defer"] = Field(
        default="fail", description="Direct writes when the embedder fails: fail, or defer the vector to a job."
    )
    redis_url: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("ENGRAM_REDIS_URL", "REDIS_URL", "redis_url"),
        description="Redis or Valkey that rings for the workers; unset means that they poll.",
    )
    dispatch: Literal["inline", "doorbell"] | None = Field(
        default=None,
        description="Derive in the calling process (`inline`), or leave the jobs to workers (`doorbell`); unset means"
        " inline, and doorbell with a Redis.",
    )
    llm_model: str | None = Field(
        default=None, description="Language model by its LiteLLM name, for components without one of their own."
    )
    llm_models: Annotated[dict[str, str], NoDecode] = Field(
        default={},
        description="Language models by tier, as JSON; tiers: extract, merge, expand, resume, gate, audit, naming.",
    )
    llm_level: LlmLevel = Field(
        default="auto", description="Language models: never, where rules are unsure, or wherever one can help."
    )
    llm_timeout: timedelta = Field(default=timedelta(seconds=60), description="Longest a language model may think.")
    llm_daily_budget: Decimal | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="Dollars a tenant may spend on language models in a day (UTC).",
    )
    llm_price: str | None = Field(
        default=None,
        description="Dollars per million tokens, such as 0.15/0.60 (in/out), of models LiteLLM has no price of.",
    )
    llm_api_keys: Annotated[tuple[SecretStr, ...], NoDecode] = Field(
        default=(),
        description="Keys of the provider, separated by commas; unset leaves it to the provider's own variable.",
    )
    llm_key_strategy: Literal["failover", "round_robin"] = Field(
        default="failover", description="Several keys: the next one when one is limited or refused, or each in turn."
    )
    llm_api_base: str | None = Field(default=None, description="Address of a server that speaks a provider's protocol.")
    consolidate_every: timedelta = Field(
        default=timedelta(minutes=30), description="How often scopes that were written to are consolidated."
    )
    profile: str = Field(default="recall", description="Scoring profile of searches.")
    recall_log: RecallLog = Field(
        default="ids",
        description="What is logged of recalls: `ids` and scores of what was returned, `full` also why and what was"
        " left out, or `off`.",
    )
    recall_log_sample: float = Field(default=1.0, ge=0, le=1, description="Share of recalls that are logged.")
    recall_log_kept: timedelta = Field(default=timedelta(days=30), description="How long logged recalls are kept.")
    text_search_config: str = Field(
        default="english", description="PostgreSQL text search configuration of new memories."
    )
    time_zone: str = Field(default="UTC", description="Time zone in which phrases such as 'yesterday' are read.")
    redaction_list: Path | None = Field(
        default=None,
        description="File outside the database to which the ids of erased events are appended, for `engram"
        " apply-redactions` after an older backup was restored.",
    )
    ledger_key: SecretStr | None = Field(
        default=None, description="Key that turns the ledger's hash chain into an HMAC."
    )

    @field_validator("data_dir", "redaction_list", mode="before")
    @classmethod
    def _some_path(cls, value: object) -> object:
        # Without a name it would be the folder one happens to be in.
        if value == "":
            raise ValueError("expected a path, found no text")
        return value

    @field_validator("redis_url")
    @classmethod
    def _redis_address(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and (wrong := _wrong_of_redis(value.get_secret_value())) is not None:
            raise ValueError(f"expected {wrong}")
        return value

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ValueError, OSError, LookupError):
            raise ValueError("expected an IANA time zone such as Europe/Paris") from None
        return value

    @field_validator("llm_models", mode="before")
    @classmethod
    def _as_json(cls, value: object) -> object:
        try:
            return inputs.strict_json(value) if isinstance(value, str) else value
        except ValueError:
            raise ValueError('expected JSON such as {"extract": "openai/gpt-4o-mini"}') from None

    @field_validator("llm_models")
    @classmethod
    def _known_tiers(cls, value: dict[str, str]) -> dict[str, str]:
        if not set(value) <= set(TIERS):
            raise ValueError(f"expected tiers out of {', '.join(TIERS)}")
        return value

    @field_validator("llm_price")
    @classmethod
    def _two_prices(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?/[0-9]{1,6}(\.[0-9]{1,6})?", value):
            raise ValueError("expected two prices such as 0.15/0.60")
        return value

    @field_validator("llm_api_keys", "embedding_api_keys", mode="before")
    @classmethod
    def _several_keys(cls, value: object) -> object:
        return tuple(key.strip() for key in value.split(",") if key.strip()) if isinstance(value, str) else value

    @field_validator(
        "statement_timeout", "lock_timeout", "llm_timeout", "consolidate_every", "recall_log_kept", mode="before"
    )
    @classmethod
    def _seconds(cls, value: object) -> object:
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,6})?", value.strip()):
            return float(value)
        return value

    @field_validator("llm_timeout")
    @classmethod
    def _some_time(cls, value: timedelta) -> timedelta:
        if not timedelta(0) < value <= timedelta(minutes=10):
            raise ValueError("expected more than nothing and at most ten minutes")
        return value

    @field_validator("statement_timeout", "lock_timeout")
    @classmethod
    def _some_wait(cls, value: timedelta) -> timedelta:
        # PostgreSQL takes 0 for no limit at all, and a part of a millisecond for 0.
        if not timedelta(milliseconds=1) <= value <= timedelta(days=1):
            raise ValueError("expected from one millisecond to one day")
        return value

    @field_validator("consolidate_every")
    @classmethod
    def _some_minutes(cls, value: timedelta) -> timedelta:
        if not timedelta(minutes=1) <= value <= timedelta(days=1):
            raise ValueError("expected from one minute to one day")
        return value

    @field_validator("recall_log_kept")
    @classmethod
    def _some_days(cls, value: timedelta) -> timedelta:
        if not timedelta(days=1) <= value <= timedelta(days=3650):
            raise ValueError("expected from one day to ten years")
        return value

    @field_validator("text_search_config")
    @classmethod
    def _plain_name(cls, value: str) -> str:
        if not value.replace("_", "").isalnum() or not value.isascii():
            raise ValueError("expected the name of a text search configuration")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - pydantic names it
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is given comes first, then the environment, in which a misspelt name would do nothing."""
        environment = _ENVIRONMENT.get()
        _refuse_misspelt(os.environ if environment is None else environment)
        if environment is not None and isinstance(env_settings, EnvSettingsSource):
            env_settings.env_vars = {name.lower(): value for name, value in environment.items() if value != ""}
        return init_settings, env_settings, dotenv_settings, file_secret_settings

    @model_validator(mode="wrap")
    @classmethod
    def _in_our_words(cls, given: Any, check: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return check(given)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            name = str(first["loc"][0]).removeprefix(PREFIX).lower() if first["loc"] else "settings"
            said = first["msg"].removeprefix("Value error, ").replace("Input should be", "expected", 1)
            raise SettingsError(f"{name}: {PLAINLY.get(first['type'], said)}", name=name) from None

    @property
    def scope(self) -> Scope:
        """The scope of a door opened without one."""
        return Scope(tenant_id=self.tenant, namespace=self.namespace, agent_id=self.agent, user_id=self.user)

    @property
    def derives_inline(self) -> bool:
        """Whether the calling process derives; otherwise workers do."""
        return self.dispatch == "inline" or (self.dispatch is None and self.redis_url is None)

    @property
    def secret_key(self) -> bytes | None:
        """The ledger key as bytes, or None for an unkeyed chain."""
        return self.ledger_key.get_secret_value().encode() if self.ledger_key is not None else None


def _wrong_of_redis(url: str) -> str | None:
    """What is expected in the place of something in the address of a Redis; None where nothing is wrong with it.

    Its driver takes a database that is no number for 0, and says the rest when it connects.
    """
    usual = "a URL such as redis://host:6379/0"
    if not url.startswith(("redis://", "rediss://", "unix://")):
        return usual
    try:
        told = urlsplit(url)
        host = told.hostname
    except ValueError:
        return usual
    try:
        port = told.port
    except ValueError:
        port = 0
    if port == 0:
        return f"{usual}, with a port from 1 to 65535"
    if told.scheme == "unix":
        wrong = None if told.path.strip("/") else "a URL such as unix:///run/redis.sock"
    elif re.search(r"[\s,@]", host or ""):
        wrong = usual
    else:
        wrong = None if re.fullmatch(r"/?|/[0-9]{1,9}/?", told.path) else f"{usual}, with the number of a database"
    return wrong or (_wrong_of_query(url) if told.query else None)


def _wrong_of_query(url: str) -> str | None:
    """What is expected of what stands behind the ? in the address of a Redis, as its driver takes it."""
    import redis

    try:
        pool = redis.ConnectionPool.from_url(url)
        pool.connection_class(**pool.connection_kwargs)  # it connects where it is used
        wrong = int(pool.connection_kwargs.get("db", 0)) < 0
    except (TypeError, ValueError, redis.RedisError):
        wrong = True
    return "only parameters of redis-py behind the ?, with values it takes" if wrong else None


def load(environment: Mapping[str, str] | None = None, **given: Any) -> Settings:
    """The settings of this process: arguments, then the environment; SettingsError names what is wrong.

    An `environment` that is given stands for that of the process: what is not in it is not set.
    """
    before = _ENVIRONMENT.set(environment)
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    finally:
        _ENVIRONMENT.reset(before)


def _refuse_misspelt(names: Iterable[str]) -> None:
    """Raise SettingsError for a name of an environment that looks like a setting and is none."""
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    for name in sorted(names):
        if name.upper().startswith(PREFIX) and name.upper() not in known:
            raise SettingsError(f"{name}: no such setting; the settings are {', '.join(sorted(known))}", name=name)
