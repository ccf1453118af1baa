"""What the tests of language models share: a question, the form of its answer, and a door that asks it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from pydantic import BaseModel, ConfigDict

from engram import Engram, Scope, prompting
from engram.llm import LanguageModel
from engram.operations import asking
from engram.settings import load

PROMPT = prompting.parse("question", "---\nversion: 1\n---\n# system\nAnswer {} in JSON.\n# user\n{{question}}\n")
KEY = "sk-canary-5d1f0c"
PAID = "0.14"  # 100 tokens in and 20 out at the price of the door below


class Named(BaseModel):
    """One thing with a name."""

    model_config = ConfigDict(extra="forbid")
    name: str


class Facts(BaseModel):
    """The form of an answer."""

    model_config = ConfigDict(extra="forbid")
    facts: tuple[Named, ...]
    more: int | None = None


GOOD = '{"facts": [{"name": "tea"}]}'


@contextmanager
def door_to(
    database_url: str, tenant: str, llm: str | LanguageModel | None = None, **settings: Any
) -> Iterator[Engram]:
    """A door whose model costs a thousandth of a dollar a token read and two thousandths a token written."""
    policy = settings.pop("policy", None)
    given = load({}, **{"llm_price": "1000/2000", "llm_api_keys": KEY, **settings})
    with Engram(database_url, settings=given, scope=Scope(tenant), policy=policy, embedder="none", llm=llm) as door:
        yield door


def ask(door: Engram, question: str = "What is it?", *, event_ids: Sequence[str] = (), **more: Any) -> Facts:
    """The answer to a question."""
    return door._run(asked(door, question, event_ids=event_ids, **more))


def asked(door: Any, question: str, **more: Any) -> Any:
    """The operation that asks a question."""
    given = {"component": "extract", "prompt": PROMPT, "values": {"question": question}, "schema": Facts}
    return (yield from asking.ask(door._setup, scope=door.scope, **{**given, **more})).value


def rows(database_url: str, tenant: str, query: str) -> list[dict[str, Any]]:
    """Rows of a tenant, as the application sees them."""
    plain = database_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(plain, row_factory=psycopg.rows.dict_row) as conn:
        conn.execute("select set_config('engram.tenant_id', %s, true)", (tenant,))
        return conn.execute(query).fetchall()  # type: ignore[call-overload,no-any-return]


def calls(database_url: str, tenant: str) -> list[dict[str, Any]]:
    """The calls of a tenant, in their order."""
    return rows(database_url, tenant, "select * from engram.llm_calls order by started_at, call_id")
