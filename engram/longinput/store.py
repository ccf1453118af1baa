"""How a long input stands in the ledger: parts that joined are the text, chunks cut from it, and a manifest.

Every id follows from the stream of the document and a number, so that recording it again, after whatever broke off,
finds what is there and adds what is missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from engram import chain, ids, inputs, streams
from engram.database import Connection, fetch_all
from engram.errors import Conflict, InvalidInput, LimitExceeded
from engram.ledger import NewEvent

if TYPE_CHECKING:
    from engram.longinput.splitting import Piece
    from engram.values import Event

PART: Final = "document_part"
CHUNK: Final = "artifact"
CATEGORY: Final = "source_chunk"
DERIVER: Final = "chunks"
VERSION: Final = 1
ROLE: Final = "tool"  # a document speaks for nobody
PART_BYTES: Final = 1_000_000  # of a part as the ledger writes it


@dataclass(frozen=True, slots=True)
class Measure:
    """A text as the first reading of it found it; `digests` are the hashes of its parts as they were read."""

    chars: int
    bytes: int
    sha256: str
    digests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text: its number, where it begins, in code points of the whole, and what it says."""

    number: int
    start: int
    text: str

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Document:
    """A document being recorded: its stream, and all that its events say alike."""

    stream_id: str
    title: str
    media: str
    trust: str
    max_chunk_tokens: int
    most_facts: int
    derive: tuple[str, ...]
    occurred_at: datetime | None = None
    actor: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """How it is recorded, as its first part, its chunks and its manifest keep it."""
        return {
            "title": self.title, "media": self.media, "max_chunk_tokens": self.max_chunk_tokens,
            "most_facts": self.most_facts, "derive": list(self.derive),
        }  # fmt: skip

    def name(self, what: str, number: int = 0) -> str:
        """The id of its part, chunk or manifest."""
        return ids.id_of(self.stream_id, what, number)

    def part(self, part: Part) -> NewEvent:
        """The event of a part."""
        payload = {"part": part.number, "char_start": part.start, "char_end": part.end}
        if part.number == 0:
            payload |= self.settings
        return self._event(PART, part.text, payload, self.name("part", part.number))

    def chunk(self, piece: Piece, parts: Sequence[int]) -> NewEvent:
        """The event of a chunk, which comes of the first to the last of `parts`."""
        payload = {**self.settings, **anchor(piece), "parts": list(parts)}
        return self._event(CHUNK, piece.text, payload, self.name("chunk", piece.index), self.derive)

    def manifest(self, measure: Measure, parts: int, chunks: int, **more: Any) -> NewEvent:
        """The event that says what was recorded; it stands with the conversation, the task or the scope."""
        name = f"Document {self.title!r}" if self.title else "A document"
        said = f"{name}: {measure.chars} characters of {self.media} in {chunks} chunks"
        payload = {
            "document": self.stream_id, "chars": measure.chars, "sha256": measure.sha256, "parts": parts,
            "chunks": chunks, **self.settings,
        }  # fmt: skip
        return NewEvent(
            role=ROLE, event_type=CHUNK, content=said, payload=payload, metadata=self.metadata, trust=self.trust,
            occurred_at=self.occurred_at, actor=self.actor, event_id=self.name("manifest"), **more,
        )  # fmt: skip

    def _event(
        self, kind: str, said: str, payload: Mapping[str, Any], event_id: str, derive: tuple[str, ...] = ()
    ) -> NewEvent:
        return NewEvent(
            role=ROLE, event_type=kind, content=said, payload=payload, trust=self.trust, occurred_at=self.occurred_at,
            actor=self.actor, derive=derive, event_id=event_id,
        )  # fmt: skip


def anchor(piece: Piece) -> dict[str, Any]:
    """Where a chunk stands, as its event and its memory keep it."""
    return {
        "chunk": piece.index, "char_start": piece.start, "char_end": piece.end, "quote_hash": piece.quote_hash,
        "heading": piece.heading, "section": piece.section, "kind": piece.kind, "tokens": piece.tokens,
    }  # fmt: skip


def manifest_id(stream_id: str) -> str:
    """The id of the manifest of the document that has this stream."""
    return ids.id_of(stream_id, "manifest", 0)


def document_of(event: Event) -> str | None:
    """The stream of the document that an event is the manifest of; None of any other, whatever it names. Pure."""
    named = event.payload.get("document")
    if not isinstance(named, str):
        return None
    try:
        return named if manifest_id(named) == event.event_id else None
    except ValueError:  # no id of a stream: a word of the caller's own
        return None


def stream_name(kind: str, name: str, sha256: str) -> str:
    """The name of the stream of a text that belongs to a session, a task or a scope: the same text is found by it."""
    return f"{hashlib.sha256(f'{kind}/{name}'.encode()).hexdigest()[:32]}/{sha256}"


def is_document(conn: Connection, event: Event) -> bool:
    """Whether an event is a part or a chunk of a document, and no event of a caller that only says so."""
    if event.event_type not in (PART, CHUNK):
        return False
    head = streams.head(conn, event.stream_id)
    return head is not None and head.kind == "document"


def same_words(conn: Connection, tenant_id: str, scope_id: int, event: Event) -> list[str]:
    """The events that hold words of a part or of a chunk as well: the chunks cut from it, or the parts it was cut from.

    What is erased in the one must not stay in the other.
    """
    if event.erased or not is_document(conn, event):
        return []
    if event.event_type == PART:
        rows = fetch_all(
            conn, "list_chunks_within", tenant_id=tenant_id, scope_id=scope_id, category=CATEGORY,
            stream_id=event.stream_id, char_start=event.payload["char_start"], char_end=event.payload["char_end"],
        )  # fmt: skip
        return [row.event_id for row in rows]
    return [ids.id_of(event.stream_id, "part", number) for number in event.payload["parts"]]


def recorded(conn: Connection, tenant_id: str, scope_id: int, event_ids: Iterable[str]) -> dict[str, bool]:
    """Those of some events that are there, each with whether it was erased."""
    rows = fetch_all(conn, "list_recorded", tenant_id=tenant_id, scope_id=scope_id, event_ids=list(event_ids))
    return {row.event_id: row.erased for row in rows}


def measured(parts: Iterable[str], most: int) -> Measure:
    """The length and hash of a text, read once; LimitExceeded beyond `most` bytes, InvalidInput for what is no text."""
    digest, chars, size, blank = hashlib.sha256(), 0, 0, True
    digests: list[str] = []
    for part in parts:
        if "\x00" in part:
            raise InvalidInput("text", "text without NUL characters", f"one at character {chars + part.index(chr(0))}")
        try:
            written = part.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput("text", "whole characters", f"half of one at {chars + error.start}") from None
        digest.update(written)
        digests.append(hashlib.sha256(written).hexdigest())
        chars, size, blank = chars + len(part), size + len(written), blank and inputs.is_blank(part)
        if size > most:
            raise LimitExceeded("text", most, f"more than {most}", "bytes")
    if blank:
        raise InvalidInput("text", "some text", "nothing that can be seen")
    return Measure(chars, size, digest.hexdigest(), tuple(digests))


def unchanged(parts: Iterable[str], measure: Measure) -> Iterator[str]:
    """The parts of a text read again; Conflict before the first that is not as it was when the text was measured."""
    for part, digest in zip_longest(parts, measure.digests):
        if part is None or hashlib.sha256(part.encode()).hexdigest() != digest:
            raise Conflict("the file changed while it was read")
        yield part


def storable(parts: Iterable[str]) -> Iterator[Part]:
    """The same text as parts that an event can hold, each in order with its place."""
    number = start = 0
    for part in parts:
        for said in _fitting(part):
            yield Part(number, start, said)
            number, start = number + 1, start + len(said)


def _fitting(said: str) -> Iterator[str]:
    """A text, or its halves, as short as an event must be."""
    if not said:
        return
    if len(chain.body(said, {}, {})) <= PART_BYTES:
        yield said
        return
    middle = len(said) // 2
    yield from _fitting(said[:middle])
    yield from _fitting(said[middle:])
