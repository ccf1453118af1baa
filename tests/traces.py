"""Where a word can still be read in the database, as the superuser sees it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

import psycopg
from alone import Alone

from engram.embedded import EmbeddedServer

WORDLESS: Final = {
    "uuid", "bool", "int2", "int4", "int8", "float4", "float8", "numeric", "date", "interval", "timestamptz",
    "vector", "halfvec", "sparsevec",
}  # fmt: skip
"""The types of columns in which no word can stand; printing every number of every vector takes longer than the rest."""


def hits(server: EmbeddedServer | Alone, words: Sequence[str]) -> dict[str, set[str]]:
    """Every column of every table of the schema in which one of the words can be read, as text or as bytes."""
    plain = server.superuser_url.replace("postgresql+psycopg://", "postgresql://")
    found: dict[str, set[str]] = {}
    with psycopg.connect(plain) as conn:
        columns = conn.execute(
            "select table_name, column_name, udt_name from information_schema.columns c"
            " join information_schema.tables t using (table_schema, table_name)"
            " where table_schema = 'engram' and table_type = 'BASE TABLE' order by table_name"
        ).fetchall()
        assert len(columns) > 150
        for table, group in itertools.groupby(columns, key=lambda column: column[0]):
            texts = {
                column: f"encode(t.\"{column}\", 'escape')" if kind == "bytea" else f't."{column}"::text'
                for _, column, kind in group
                if kind not in WORDLESS
            }
            if not texts:
                continue
            told = ", ".join(f"({number}, {text})" for number, text in enumerate(texts.values()))
            rows = conn.execute(
                "select distinct said.number, word"  # type: ignore[arg-type]
                f' from engram."{table}" t, lateral (values {told}) said (number, text), unnest(%s::text[]) word'
                f" where concat_ws(' ', {', '.join(texts.values())}) ~* %s and said.text ilike '%%' || word || '%%'",
                (list(words), "|".join(map(re.escape, words))),
            ).fetchall()
            for number, word in rows:
                found.setdefault(word, set()).add(f"{table}.{list(texts)[number]}")
    return found


def tables_with(server: EmbeddedServer, word: str) -> list[str]:
    """The tables in which a word can be read."""
    return sorted({place.partition(".")[0] for place in hits(server, [word]).get(word, ())})
