"""Echoes: what is said of a value without naming what it is the value of, and of what it was said before.

"No, it's violet, not indigo" and "I don't use Vim anymore" mean something only beside what the scope holds: the newest
value under a key that they name decides. One that names none keeps its words, or is nothing without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from engram import attributes, policies, tenancy
from engram.attributes import Echo
from engram.claims import stem
from engram.database import Connection, fetch_all
from engram.operations import steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.policies import Proposal
from engram.scope import Scope
from engram.subjects import plain
from engram.writing import Draft, Origin

_LIGHT: Final = """
    user user's the a an my from by at with to on in for of off as using use uses using going go goes doing do does
    working work works being is been having has have owning owns own job account subscription membership contract plan
    see sees seeing any more anymore longer now already completely entirely altogether and good
"""
LIGHT: Final = frozenset(_LIGHT.split())
"""What may be said of a value that is over, whatever it is the value of."""
SHORTEST: Final = 3  # characters of a value that is looked for in other words
PREFIX: Final = "slot:profile:"
Pair = tuple[Draft, Origin]


@dataclass(frozen=True, slots=True)
class Known:
    """A value that was said under a key; `is_head` where it is the one that holds."""

    key: str
    value: str
    is_head: bool
    fact: str


def resolved(setup: Setup, scope: Scope, pairs: Sequence[Pair]) -> Operation[list[Pair]]:
    """The drafts with each echo put under the key it is about, or left out where it means nothing alone."""
    if not any(draft.echo for draft, _ in pairs):
        return list(pairs)

    def look(conn: Connection) -> list[Pair]:
        scope_id = tenancy.find(conn, scope)
        return list(pairs) if scope_id is None else resolve(setup, conn, scope.tenant_id, scope_id, pairs)

    return (yield from steps.read(scope.tenant_id, look))


def resolve(setup: Setup, conn: Connection, tenant_id: str, scope_id: int, pairs: Sequence[Pair]) -> list[Pair]:
    """The same within a transaction, against what a scope holds."""
    if not any(draft.echo for draft, _ in pairs):
        return list(pairs)
    return list(_put(setup, pairs, _known(setup, conn, tenant_id, scope_id)))


def _known(setup: Setup, conn: Connection, tenant_id: str, scope_id: int) -> list[Known]:
    """The values of a scope's keys, the newest first."""
    rows = fetch_all(conn, "list_keyed_values", tenant_id=tenant_id, scope_id=scope_id)
    return [
        Known(row.conflict_key, value, row.status == "active", row.fact)
        for row in rows
        if (value := policies.value_of(setup.policy, row.fact, row.conflict_key)) is not None
    ]


def _put(setup: Setup, pairs: Sequence[Pair], known: Sequence[Known]) -> Iterator[Pair]:
    """Each draft in turn; what was drafted before an echo is known to it. Pure."""
    seen = list(known)
    for draft, origin in pairs:
        made = draft if draft.echo is None else _under_its_key(setup, draft, draft.echo, seen)
        if made is None:
            continue
        key = made.classified.conflict_key
        if key is not None and key.startswith(PREFIX):
            value = policies.value_of(setup.policy, made.fact, key)
            seen = [replace(one, is_head=False) if one.key == key else one for one in seen]
            seen = seen if value is None else [Known(key, value, True, made.fact), *seen]
        yield made, origin


def _under_its_key(setup: Setup, draft: Draft, echo: Echo, known: Sequence[Known]) -> Draft | None:
    """The draft under the key its echo is about; unchanged or None where there is none. Pure."""
    left = None if echo.alone or echo.name is not None else replace(draft, echo=None)
    if draft.classified.conflict_key is not None and not echo.alone:
        return left
    about = _named(known, echo.over or echo.same or "") or next((one for one in known if _is_about(one, echo)), None)
    if about is None:
        return left
    if echo.same is not None:
        return replace(
            draft, echo=None, fact=about.fact, classified=policies.classify(setup.policy, Proposal(about.fact))
        )
    if echo.new is None:
        over = replace(draft.classified, conflict_key=about.key, negates=about.value, critical_slot=None)
        return replace(draft, echo=None, classified=over)
    fact = attributes.sentence_of(about.key.removeprefix(PREFIX), _as_written(echo.new, draft.fact))
    classified = policies.classify(setup.policy, Proposal(fact))
    if classified.conflict_key != about.key or policies.value_of(setup.policy, fact, about.key) != plain(echo.new):
        return left
    return replace(draft, echo=None, fact=fact, classified=classified)


def _named(known: Sequence[Known], said: str) -> Known | None:
    """The one value that holds which some words name, and of which they say nothing else. Pure."""
    heads = {one.key: one for one in reversed(known) if one.is_head and len(one.value) >= SHORTEST}
    named = [one for one in heads.values() if _says_only(one, said)]
    return named[0] if len(named) == 1 else None


def _says_only(known: Known, said: str) -> bool:
    """Whether words name a value, and beside it say only what is said of any, or of this one. Pure."""
    rest = re.sub(rf"(?<!\w){re.escape(known.value)}(?!\w)", " ", said)
    own = {stem(word) for word in re.findall(r"\w+", f"{known.key} {plain(known.fact)}")}
    return rest != said and all(word in LIGHT or stem(word) in own for word in re.findall(r"\w[\w']*", rest))


def _is_about(known: Known, echo: Echo) -> bool:
    """Whether a value is the one an echo speaks of: what it ends, or, where it goes back, one that was before. Pure."""
    if echo.name is not None:
        return known.is_head and known.key == PREFIX + echo.name
    if echo.old is not None:
        return known.is_head and known.value == plain(echo.old)
    return not known.is_head and echo.new is not None and known.value == plain(echo.new)


def _as_written(value: str, said: str) -> str:
    match = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", said, re.IGNORECASE)
    return match.group() if match else value
