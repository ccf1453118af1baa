"""Following: every event of the readable scopes in the order in which it became visible, none skipped, none twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from engram import history, inputs, streams, tenancy
from engram.database import Connection, fetch_value
from engram.errors import Unavailable
from engram.operations import steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.scope import Scope
from engram.streams import Mark
from engram.values import FeedItem

BATCH: Final = 200
LONGEST_POLL: Final = 3_600.0
YOUNGER: Final = "the server is younger than the ledger or the mark: followers would wait for ever, see `engram doctor`"


@dataclass(frozen=True, slots=True)
class Follower:
    """What a follower asked for, and how far it has come."""

    scope: Scope
    types: tuple[str, ...] | None
    poll: float
    mark: Mark


@dataclass(frozen=True, slots=True)
class Part:
    """Some of what a follower sees, the follower that goes on after it, and whether more is there already."""

    items: tuple[FeedItem, ...]
    next: Follower
    more: bool


def start(setup: Setup, after: object, types: object, poll: object, given: Mapping[str, Any]) -> Follower:
    """A follower after a mark; what is wrong with its arguments is said at once."""
    wanted = None if types is None else tuple(inputs.label(one, "types") for one in inputs.items(types, "types", 64))
    return Follower(
        setup.reading(given).scope, wanted, inputs.number(poll, "poll", 0, LONGEST_POLL),
        Mark() if after is None else Mark.parse(after),
    )  # fmt: skip


def read_on(follower: Follower) -> Operation[Part]:
    """The next events of a follower. It moves on past what does not concern it, so that this is looked at once.

    Unavailable where the ledger, or the mark, is of a server that had seen more transactions than this one.
    """

    def work(conn: Connection) -> Part:
        # Taken before the scopes and the events are read, so that everything below it is in them: a scope is born with
        # its first event, and whoever looked for scopes before that would go on past the event.
        edge = streams.edge(conn)
        if follower.mark.txid > edge.txid:
            raise Unavailable(YOUNGER)
        visible = tenancy.visible(conn, follower.scope)
        found = streams.follow(
            conn, follower.mark, BATCH, types=follower.types, scope_ids=visible.scope_ids, below=edge
        )
        hidden = history.private_events(conn, visible, [item.event.event_id for item in found])
        items = tuple(FeedItem(str(item.mark), item.event) for item in found if item.event.event_id not in hidden)
        if not found and not fetch_value(conn, "check_epoch"):
            raise Unavailable(YOUNGER)
        more = len(found) == BATCH
        seen = found[-1].mark if more else max(follower.mark, edge)
        return Part(items, replace(follower, mark=seen), more)

    return (yield from steps.read(follower.scope.tenant_id, work))
