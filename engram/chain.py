"""What an event is as bytes: its body, its commitment, the hash that chains it, and the way back to a value. Pure.

The header is encoded injectively: fixed widths, a length before every text, a presence byte before everything that
may be missing. `engram.event_hash` in the database writes the same bytes; `ledger.verify` compares the two.

Left out of the hash on purpose: `txid`, which orders followers and may have to be renewed after a restore.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import struct
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, Protocol
from uuid import UUID

from engram import inputs
from engram.values import TRUSTS, Event

SALT_BYTES: Final = 32
GENESIS: Final = bytes(32)
PLAIN: Final = 1
KEYED: Final = 2
DOMAIN: Final = b"engram-event"
BLOCK: Final = 64  # of SHA-256
EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)  # from which PostgreSQL counts microseconds
MICROSECOND: Final = timedelta(microseconds=1)
TEXT_OID: Final = 25
INNER: Final = bytes(byte ^ 0x36 for byte in range(256))
OUTER: Final = bytes(byte ^ 0x5C for byte in range(256))


class Header(Protocol):
    """The columns of an event that its hash covers."""

    tenant_id: str
    stream_id: UUID
    position: int
    event_id: UUID
    scope_id: int
    role: str
    event_type: str
    trust: int
    occurred_at: datetime
    recorded_at: datetime
    session_id: str | None
    task_run_id: UUID | None
    actor: str | None
    idempotency_key: str | None
    derive: Sequence[str]
    hash_version: int
    commitment: bytes
    prev_hash: bytes


class Pads(NamedTuple):
    """The two padded forms of a stream's key, which are all that HMAC-SHA256 needs."""

    inner: bytes
    outer: bytes


def new_salt() -> bytes:
    """A fresh random salt: without it an erased text could be guessed from its commitment."""
    return os.urandom(SALT_BYTES)


def body(content: str | None, payload: Mapping[str, Any], metadata: Mapping[str, Any]) -> bytes:
    """The canonical bytes of what an event says."""
    if not payload and not metadata:  # most events say one text and no more
        return b'{"content":%b,"metadata":{},"payload":{}}' % inputs.canonical_json(content, "value.content")
    return inputs.canonical_json({"content": content, "payload": payload, "metadata": metadata})


def commitment(salt: bytes, body: bytes) -> bytes:
    """What stays in the chain for a body that may be erased."""
    return hashlib.sha256(salt + body).digest()


def pads(key: bytes | None, stream_id: UUID) -> Pads | None:
    """The pads of one stream's own key, or None for an unkeyed chain.

    Every stream gets a key of its own, so that the ledger's key never leaves the process and a stream's key, should a
    server's log ever show it, opens that stream only.
    """
    if key is None:
        return None
    own = hmac.digest(key, b"engram-stream" + stream_id.bytes, "sha256").ljust(BLOCK, b"\0")
    return Pads(own.translate(INNER), own.translate(OUTER))


def event_hash(header: Header, pads: Pads | None) -> bytes:
    """The hash that chains an event: SHA-256 of its header, or HMAC-SHA256 with a key."""
    data = encode(header)
    if pads is None:
        return hashlib.sha256(data).digest()
    return hashlib.sha256(pads.outer + hashlib.sha256(pads.inner + data).digest()).digest()


def encode(header: Header) -> bytes:
    """The header of an event as bytes, such that no two headers have the same."""
    task = header.task_run_id
    return b"".join(
        (
            DOMAIN, struct.pack(">h", header.hash_version), _framed(header.tenant_id), header.stream_id.bytes,
            struct.pack(">q", header.position), header.event_id.bytes, struct.pack(">q", header.scope_id),
            _framed(header.role), _framed(header.event_type), struct.pack(">h", header.trust),
            _moment(header.occurred_at), _moment(header.recorded_at), _framed(header.session_id),
            b"\0" if task is None else b"\1" + task.bytes, _framed(header.actor), _framed(header.idempotency_key),
            _texts(header.derive), bytes(header.commitment), bytes(header.prev_hash),
        )
    )  # fmt: skip


def event(row: Any) -> Event:
    """The event of a row; without content where its payload was erased."""
    said = {} if row.body is None else inputs.load_json(bytes(row.body))
    said = said if isinstance(said, dict) else {}
    return Event(
        event_id=str(row.event_id),
        stream_id=str(row.stream_id),
        position=row.position,
        role=row.role,
        event_type=row.event_type,
        trust=TRUSTS[row.trust],
        content=said.get("content"),
        payload=said.get("payload") or {},
        metadata=said.get("metadata") or {},
        occurred_at=row.occurred_at,
        recorded_at=row.recorded_at,
        session_id=row.session_id,
        task_run_id=None if row.task_run_id is None else str(row.task_run_id),
        actor=row.actor,
        erased=row.body is None,
        hash=bytes(row.hash).hex(),
    )


def _framed(text: str | None) -> bytes:
    if text is None:
        return b"\0"
    data = text.encode()
    return b"\1" + struct.pack(">i", len(data)) + data


def _moment(moment: datetime) -> bytes:
    return struct.pack(">q", (moment - EPOCH) // MICROSECOND)


def _texts(texts: Sequence[str]) -> bytes:
    # PostgreSQL's own binary form of text[]: dimensions, flags, element type; size and lower bound; the elements.
    if not texts:
        return struct.pack(">iii", 0, 0, TEXT_OID)
    items = (struct.pack(">i", len(data)) + data for data in (text.encode() for text in texts))
    return struct.pack(">iiiii", 1, 0, TEXT_OID, len(texts), 1) + b"".join(items)
