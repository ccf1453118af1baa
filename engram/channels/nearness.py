"""The memories nearest to many vectors at once: what a batch of candidates is compared with.

A few vectors are compared by the database. For many the vectors of the scope are read once, in blocks, and compared
here: a hundred times less work for a vector than a scan of the scope for each. Where the scope has a graph and is so
large that reading it costs more than walking that for each vector, the graph is asked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from engram import embedding
from engram.database import Connection, fetch_all, fetch_named, statement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

NEAREST: Final = 64  # rows looked at for a vector, evidence among them
FEW: Final = 8  # vectors for which the database compares
BLOCK: Final = 2_500  # vectors of a scope held at a time: what is put together of many more takes twice as long
WALK: Final = 250  # vectors of a scope that are read in the time a graph is walked once
WALKS: Final = 100  # walks of a graph in a statement
DIGITS: Final = 6  # of a cosine: what two ways of adding up agree on
PIECE: Final = 2**18  # multiplications up to which a product of matrices is the work of one thread


@dataclass(frozen=True, slots=True)
class Nearest:
    """The rows nearest one vector, the nearest first: their ids and cosines."""

    memory_ids: tuple[str, ...] = ()
    cosines: tuple[float, ...] = ()

    def ranked(self) -> Iterator[tuple[str, float]]:
        """Each row with its cosine, rounded, one after the other."""
        return (
            (memory_id, round(cosine, DIGITS)) for memory_id, cosine in zip(self.memory_ids, self.cosines, strict=True)
        )


def nearest(conn: Connection, tenant_id: str, scope_id: int, model_id: int, vectors: Sequence[Any]) -> list[Nearest]:
    """The rows of a scope nearest each of some vectors, in their order: through its graph, or all are compared."""
    where = {"tenant_id": tenant_id, "scope_id": scope_id, "model_id": model_id}
    found = _compared(conn, where, vectors) if len(vectors) > FEW else None
    return _asked(conn, where, vectors) if found is None else found


def cosines(vectors: Sequence[Any]) -> Matrix:
    """The cosines of vectors with each other, as the database would find them once they are stored."""
    import numpy as np

    units = _units(vectors)
    return np.minimum(products(units, units), np.float32(1.0))


def _asked(conn: Connection, where: dict[str, Any], vectors: Sequence[Any]) -> list[Nearest]:
    """What the database finds: through the graph of the scope, or of all its vectors."""
    found: list[list[tuple[str, float]]] = [[] for _ in vectors]
    for first in range(0, len(vectors), WALKS):
        given = embedding.all_halves(vectors[first : first + WALKS])
        for row in fetch_all(conn, "list_nearest", vectors=given, most=NEAREST, **where):
            found[first + row.place - 1].append((row.memory_id, row.cosine))
    return [Nearest(tuple(row[0] for row in rows), tuple(row[1] for row in rows)) for rows in found]


def _compared(conn: Connection, where: dict[str, Any], vectors: Sequence[Any]) -> list[Nearest] | None:
    """What comes out here of all vectors of the scope; None where its graph costs less."""
    import numpy as np

    wanted = _units(vectors)
    memory_ids: list[str] = []  # of all blocks: their order is that of their places
    best = _Best(len(vectors))
    while True:
        after = memory_ids[-1] if memory_ids else None
        least = WALK * len(vectors)
        graphed, ids, kept = _block(conn, {"after": after, "most": BLOCK, "least": least, **where})
        if graphed:
            return None
        if not ids:
            break
        stored = np.frombuffer(kept, dtype=">f2").reshape(len(ids), len(kept) // 2 // len(ids))[:, 2:]
        best.take_in(products(wanted, _scaled(stored.astype(np.float32))), len(memory_ids))
        memory_ids += ids
        if len(ids) < BLOCK:
            break
    return [Nearest(tuple(map(memory_ids.__getitem__, places)), tuple(alike)) for places, alike in best.of_each()]


def _block(conn: Connection, params: dict[str, Any]) -> tuple[bool, list[str], bytes]:
    """Whether the graph is to be asked, and else a block of memories with their vectors, as the server keeps them.

    Written in hexadecimal, as answers are by default, they would take the server and the driver twice the time.
    """
    rows = fetch_named(conn, statement("list_scope_vectors"), params, binary=True)
    graphed, memory_ids, vectors = rows[0] if rows else (False, None, None)
    return bool(graphed), memory_ids or [], vectors or b""


def products(left: Matrix, right: Matrix) -> Matrix:
    """The product of each row of `left` with each of `right`, without waking the threads of the library beneath.

    For a large product it starts one a processor, which look out for more work for some milliseconds after each: they
    would take from the database, and from other workers, far more than they give here. A small one it does alone.
    """
    import numpy as np

    found = np.empty((len(left), len(right)), dtype=np.float32)
    fits = max(1, PIECE // max(1, left.shape[1]))
    tall = max(1, min(len(left), math.isqrt(fits)))
    wide = max(1, fits // tall)
    for row in range(0, len(left), tall):
        for column in range(0, len(right), wide):
            part = left[row : row + tall] @ right[column : column + wide].T
            found[row : row + tall, column : column + wide] = part
    return found


class _Best:
    """Of each of some rows of cosines, which come block by block, the greatest, with their places."""

    def __init__(self, rows: int) -> None:
        import numpy as np

        self._rows = np.empty(0, dtype=np.intp)
        self._places = np.empty(0, dtype=np.intp)
        self._cosines: Matrix = np.empty(0, dtype=np.float32)
        self._least: Matrix = np.full((rows, 1), -2.0, dtype=np.float32)  # below it none is among the greatest

    def take_in(self, cosines: Matrix, first: int) -> None:
        """Keep what is among the greatest by now of a block of cosines, whose first place is given."""
        import numpy as np

        if len(self._cosines) < NEAREST * len(self._least):
            self._least = np.maximum(self._least, _bound(cosines))
            reaches = cosines >= self._least
        else:
            reaches = cosines > self._least  # of those that are alike the first are kept
        rows, places = reaches.nonzero()
        self._rows, self._places = np.append(self._rows, rows), np.append(self._places, places + first)
        self._cosines = np.append(self._cosines, cosines[rows, places])
        order = np.lexsort((self._places, -np.round(self._cosines, DIGITS), self._rows))
        rows = self._rows[order]
        order = order[np.arange(len(rows)) - np.searchsorted(rows, rows) < NEAREST]
        self._rows, self._places, self._cosines = self._rows[order], self._places[order], self._cosines[order]
        if len(order) == NEAREST * len(self._least):
            self._least = self._cosines.reshape(len(self._least), NEAREST).min(axis=1, keepdims=True)

    def of_each(self) -> Iterator[tuple[list[int], list[float]]]:
        """The places and cosines of each row, the greatest first."""
        import numpy as np

        ends = np.searchsorted(self._rows, np.arange(len(self._least)), side="right").tolist()
        places, cosines = self._places.tolist(), np.minimum(self._cosines, np.float32(1.0)).tolist()
        return ((places[start:end], cosines[start:end]) for start, end in zip([0, *ends], ends, strict=False))


def _bound(cosines: Matrix) -> Matrix:
    """What of each row of cosines as many are not below as are kept: the least is -2."""
    import numpy as np

    columns = cosines.shape[1]
    if columns <= NEAREST:
        return np.full((len(cosines), 1), -2.0, dtype=np.float32)
    if columns > 4 * NEAREST:  # as many groups have one that is not below the bound of their greatest
        groups = 2 * NEAREST
        cosines = cosines[:, columns % groups :].reshape(len(cosines), groups, -1).max(axis=2)
    bound: Matrix = np.partition(cosines, -NEAREST, axis=1)[:, -NEAREST, None]
    return bound


def _units(vectors: Sequence[Any]) -> Matrix:
    """Vectors as they are stored, in half the precision, and of length one again."""
    import numpy as np

    return _scaled(np.asarray(vectors, dtype=np.float16).astype(np.float32))


def _scaled(rows: Matrix) -> Matrix:
    import numpy as np

    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    scaled: Matrix = rows / np.maximum(lengths, 1e-12)
    return scaled
