"""Streams: of a session, a task run, a document or a scope's own changes; their heads, and following every event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy.engine import Row

from engram import chain
from engram.database import Connection, fetch_all, fetch_one, fetch_value
from engram.errors import InvalidInput, NotFound
from engram.ids import new_id
from engram.values import Event, Watermark

StreamKind = Literal["session", "task", "scope", "document"]


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream and how far it has come; `recorded_at` is when its newest event was appended."""

    stream_id: str
    position: int
    recorded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a stream: the position and hash of its newest event, which make an anchor when kept elsewhere."""

    stream_id: str
    scope_id: int
    kind: StreamKind
    name: str
    position: int
    derivable: int
    hash: str
    recorded_at: datetime | None

    @property
    def anchor(self) -> str:
        """The text to keep outside the database: `position:hash`."""
        return f"{self.position}:{self.hash}"


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A follower's place: every event up to it has been seen."""

    txid: int = 0
    stream_id: str = str(UUID(int=0))
    position: int = 0

    def __str__(self) -> str:
        return f"{self.txid}.{self.stream_id}.{self.position}"

    @classmethod
    def parse(cls, text: object) -> Mark:
        """The mark that printed this text."""
        if not isinstance(text, str):
            raise InvalidInput("after", "the mark of a followed event", type(text).__name__)
        try:
            txid, stream, position = str.split(text, ".")
            mark = cls(int(txid), str(UUID(stream)), int(position))
        except ValueError:
            mark = None
        if mark is None or not (0 <= mark.txid < 1 << 63 and 0 <= mark.position < 1 << 63) or str(mark) != text:
            raise InvalidInput("after", "the mark of a followed event", "another text")
        return mark


@dataclass(frozen=True, slots=True)
class Followed:
    """An event seen by a follower, the scope it belongs to, and the mark to go on from."""

    mark: Mark
    scope_id: int
    event: Event


@dataclass(frozen=True, slots=True)
class Horizon:
    """The oldest open transaction that has written: events of younger ones wait for it. `seconds` is its age.

    `kind` is session or prepared transaction; `holder` names it: process, application and state, or the prepared name.
    """

    kind: str
    holder: str
    seconds: float


def open(conn: Connection, scope_id: int, kind: StreamKind, name: str) -> Stream:
    """The stream of that kind and name in a scope, made when it is not there yet."""
    row = fetch_one(conn, "open_stream", scope_id=scope_id, stream_id=new_id(), kind=kind, stream_name=name)
    if row is None:  # pragma: no cover - the function answers with a row or an error
        raise NotFound
    return Stream(str(row.stream_id), row.position, row.recorded_at)


def find(conn: Connection, scope_id: int, kind: StreamKind, name: str) -> Stream | None:
    """The stream of that kind and name in a scope, or None; nothing is made."""
    row = fetch_one(conn, "find_stream", scope_id=scope_id, kind=kind, stream_name=name)
    return None if row is None else Stream(str(row.stream_id), row.position, row.recorded_at)


def head(conn: Connection, stream_id: str, *, scope_ids: Sequence[int] | None = None) -> Head | None:
    """The head of a stream, if it is there and in one of the scopes."""
    row = fetch_one(conn, "get_stream", stream_id=stream_id, scope_ids=None if scope_ids is None else list(scope_ids))
    return None if row is None else _head(row)


def edge(conn: Connection) -> Mark:
    """The mark before which nothing new can appear any more: that of the oldest transaction still open."""
    return Mark(int(fetch_value(conn, "get_edge")))


def horizon(conn: Connection) -> Horizon | None:
    """Who holds followers back at this moment, and for how long; None when nobody does."""
    row = fetch_one(conn, "find_horizon")
    if row is None:
        return None
    named = [None if row.pid is None else f"process {row.pid}", row.application, row.state]
    return Horizon(row.kind, ", ".join(one for one in named if one), row.seconds)


def follow(
    conn: Connection,
    after: Mark | None = None,
    limit: int = 100,
    *,
    types: Sequence[str] | None = None,
    scope_ids: Sequence[int] | None = None,
    below: Mark | None = None,
) -> list[Followed]:
    """The next committed events of the tenant after a mark: each exactly once, none skipped behind an open transaction.

    The order is (transaction, stream, position). Events of transactions younger than the oldest one still open are held
    back until that one has ended, since it may yet commit something that belongs before them. On the primary only.
    With `scope_ids` only what belongs to these scopes, with `below` only what an earlier `edge` had passed.
    """
    mark = after or Mark()
    rows = fetch_all(
        conn,
        "list_followed_events",
        txid=str(mark.txid),
        stream_id=mark.stream_id,
        position=mark.position,
        types=None if types is None else list(types),
        scope_ids=None if scope_ids is None else list(scope_ids),
        below=None if below is None else str(below.txid),
        limit=limit,
    )
    return [
        Followed(Mark(int(row.txid), str(row.stream_id), row.position), row.scope_id, chain.event(row)) for row in rows
    ]


def slowest(conn: Connection, scope_ids: Sequence[int], derivers: Sequence[tuple[str, int]]) -> Watermark:
    """How far the slowest of some derivers, each with its version, has come in some scopes: appended, derived, behind.

    The bounds up to which it is exact are those of `Watermark`.
    """
    names, versions = [name for name, _ in derivers], [version for _, version in derivers]
    rows = fetch_all(conn, "get_watermark", scope_ids=list(scope_ids), derivers=names, versions=versions)
    marks = [mark_of(row.streams, row.stream_id, row.head, row.behind) for row in rows]
    return max(marks, key=lambda mark: mark.behind, default=Watermark())


def mark_of(streams: int, stream_id: str | None, head: int, behind: int) -> Watermark:
    """The watermark of a row of `get_watermark`. Pure."""
    return Watermark(stream_id if streams == 1 else None, head - behind, head, behind)


def _head(row: Row[Any]) -> Head:
    return Head(
        str(row.stream_id),
        row.scope_id,
        row.kind,
        row.name,
        row.position,
        row.derivable,
        bytes(row.head_hash).hex(),
        row.recorded_at,
    )
