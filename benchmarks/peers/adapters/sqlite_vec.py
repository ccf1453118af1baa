"""sqlite-vec: exact search in a partition a user; FTS5 beside it and rank fusion for hybrid, as its author's recipe."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from typing import Any

from contract import Item, Place, Vector
from server import versions

if not hasattr(sqlite3.Connection, "enable_load_extension"):  # some builds of Python leave it out
    import pysqlite3 as sqlite3  # type: ignore[no-redef]

TABLES = """
CREATE TABLE memories (id INTEGER PRIMARY KEY, user TEXT NOT NULL, text TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(text, content='memories', content_rowid='id', tokenize='porter');
CREATE TRIGGER worded AFTER INSERT ON memories BEGIN INSERT INTO words (rowid, text) VALUES (new.id, new.text); END;
"""
NEAREST = "SELECT id, distance FROM vectors WHERE user = ? AND vector MATCH ? AND k = ? ORDER BY distance"
MIXED = """
WITH near AS (SELECT id, row_number() OVER (ORDER BY distance) AS place
                FROM vectors WHERE user = :user AND vector MATCH :vector AND k = :k),
     said AS (SELECT w.rowid AS id, row_number() OVER (ORDER BY w.rank) AS place
                FROM words w JOIN memories m ON m.id = w.rowid
               WHERE words MATCH :words AND m.user = :user ORDER BY w.rank LIMIT :k)
SELECT id, sum(1.0 / (60 + place)) AS worth FROM (SELECT * FROM near UNION ALL SELECT * FROM said)
 GROUP BY id ORDER BY worth DESC LIMIT :k
"""


class Adapter:
    """One file; every call is a transaction, and durable."""

    modes = ("vector", "hybrid")
    settings = "vec0 with the user as partition key, cosine; WAL, synchronous FULL; hybrid: FTS5 and rank fusion"

    def open(self, place: Place) -> None:
        import sqlite_vec

        self._conn: Any = sqlite3.connect(place.folder / "memories.db")
        self._conn.enable_load_extension(True)
        sqlite_vec.load(self._conn)
        self._conn.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; {TABLES}")
        self._conn.execute(
            "CREATE VIRTUAL TABLE vectors USING vec0(id INTEGER PRIMARY KEY, user TEXT PARTITION KEY,"
            f" vector FLOAT[{place.model.dimensions}] distance_metric=cosine)"
        )

    def add(self, item: Item) -> None:
        self.add_many([item])

    def add_many(self, items: Sequence[Item]) -> None:
        with self._conn:
            self._conn.executemany("INSERT INTO memories VALUES (?, ?, ?)", [(i.row, i.user, i.text) for i in items])
            self._conn.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?)", [(i.row, i.user, i.vector.tobytes()) for i in items]
            )

    def settle(self) -> None:
        self._conn.execute("PRAGMA optimize")

    def search(self, user: str, text: str, vector: Vector, k: int, mode: str) -> list[int]:
        if mode == "vector":
            found = self._conn.execute(NEAREST, (user, vector.tobytes(), k)).fetchall()
        else:
            words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
            given = {"user": user, "vector": vector.tobytes(), "k": k, "words": words}
            found = self._conn.execute(MIXED, given).fetchall()
        return [one[0] for one in found]

    def close(self) -> None:
        self._conn.close()

    def version(self) -> str:
        return f"{versions('sqlite-vec')}, SQLite {sqlite3.sqlite_version}"
