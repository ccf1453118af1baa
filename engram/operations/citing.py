"""Citing: from a memory, an event or a mark to the characters it rests on, and whether they still say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from engram import citations, inputs, tenancy
from engram.database import Connection
from engram.errors import InvalidInput
from engram.operations import steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.regex import regex
from engram.values import Chunk, Citation, CitationState, CitedText

MOST_LINES: Final = 100
HASH: Final = f"the hash of the quote, or its first {citations.SHOWN_DIGITS} hex digits or more"
_DIGITS: Final = regex(rf"[0-9A-Fa-f]{{{citations.SHOWN_DIGITS},64}}")
CITATION: Final = "a Citation, a Chunk, or the JSON form of either"


def verify_citation(setup: Setup, citation: object, given: Mapping[str, Any]) -> Operation[CitationState]:
    """Whether the characters that a citation names still say what they said."""
    scope, wanted = setup.reading(given).scope, _citation(citation)
    return (
        yield from steps.read(
            scope.tenant_id, lambda conn: citations.verify(conn, tenancy.visible(conn, scope), wanted)
        )
    )


def cite(
    setup: Setup, cited_id: object, *, lines: object, given: Mapping[str, Any]
) -> Operation[tuple[CitedText, ...]]:
    """The characters that a memory rests on, or all that an event says, each with what stands around it."""
    reading = setup.reading(given)
    wanted, shown = inputs.cited_id(cited_id), inputs.whole(lines, "lines", 0, MOST_LINES)

    def work(conn: Connection) -> tuple[CitedText, ...]:
        visible = tenancy.visible(conn, reading.scope, shelves="with")
        return citations.cite(conn, visible, wanted, shown, reading.moment)

    return (yield from steps.read(reading.scope.tenant_id, work))


def _citation(value: object) -> Citation:
    fields = value.to_dict() if isinstance(value, Citation | Chunk) else value
    if not isinstance(fields, Mapping):
        raise InvalidInput("citation", CITATION, type(value).__name__)
    digest = fields.get("quote_hash")
    if not isinstance(digest, str):
        raise InvalidInput("citation.quote_hash", HASH, type(digest).__name__)
    if not _DIGITS.fullmatch(digest):
        raise InvalidInput("citation.quote_hash", HASH, f"{len(digest)} characters")
    event_id = inputs.event_id(fields.get("event_id"), "citation.event_id")
    start = inputs.whole(fields.get("char_start"), "citation.char_start")
    end = inputs.whole(fields.get("char_end"), "citation.char_end")
    before = start if "chunk_id" in fields else 0  # the event of a chunk says exactly its text
    return Citation(event_id, start - before, end - before, digest.lower())
