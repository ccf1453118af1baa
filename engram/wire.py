"""The wire: several statements go in one message, with their values beside them, and are answered together."""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.generators import fetch_many, send
from psycopg.pq import ConnStatus, ExecStatus, Format, TransactionStatus

Said = tuple[str, Mapping[str, Any] | None]
"""A statement and its values by their names; without them its text is sent as it is."""

PLACE: Final = re.compile(r"%(?:\((\w+)\)s|%)")
LOST: Final = "the connection was lost"


class Wire:
    """A connection of the driver, to which several statements are said in one message.

    The driver's cursors wait for the answer to each statement, and look every one up again. Its adapters write the
    values and read the answers here too, as those of no connection: what a transaction says of its time zone is told to
    a connection after the answers only, and every transaction has UTC.
    """

    def __init__(self, connection: Any, wait: Callable[[Generator[Any, Any, None]], None]) -> None:
        self.connection = connection
        self._wait = wait
        self._values = Transformer(connection.adapters)

    @property
    def is_open(self) -> bool:
        """Whether the server is in a transaction."""
        return bool(self.connection.pgconn.transaction_status != TransactionStatus.IDLE)

    def say(self, statements: Sequence[Said], *, binary: bool = False) -> list[Any]:
        """The answers to statements, which run one after the other until one fails: its answer is the last.

        With `binary` they come as the server keeps them, and not as text.
        """
        written = [self._written(*one) for one in statements]  # a value that cannot be sent fails here: nothing was
        line = self.connection.pgconn
        if line.status == ConnStatus.BAD:
            raise psycopg.OperationalError(LOST)
        answers: list[Any] = []
        try:
            line.enter_pipeline_mode()
            for text, values, types, formats in written:
                line.send_query_params(text, values, types, formats, Format.BINARY if binary else Format.TEXT)
            line.pipeline_sync()
            self._wait(_exchanged(line, answers, len(written) + 1))
            line.exit_pipeline_mode()  # cannot be where the server died after its last answer
        except psycopg.Error:
            line.finish()
            if not any(map(is_failure, answers)):
                raise
        except BaseException:
            line.finish()
            raise
        failed = next((place for place, one in enumerate(answers) if is_failure(one)), len(written) - 1)
        return answers[: failed + 1]

    def rows(self, answer: Any) -> list[Any]:
        """The rows of an answer, as named tuples."""
        names = tuple([answer.fname(place) for place in range(answer.nfields)])
        self._values.set_pgresult(answer)
        try:
            return self._values.load_rows(0, answer.ntuples, _row_of(names))
        finally:
            self._values.set_pgresult(None)

    def _written(self, text: str, values: Mapping[str, Any] | None) -> tuple[bytes, Any, Any, Any]:
        if values is None:
            return text.encode(), None, None, None
        said, names = _numbered(text)
        given = self._values.dump_sequence([values[name] for name in names], [PyFormat.AUTO] * len(names))
        return said, given, self._values.types, self._values.formats


def is_failure(answer: Any) -> bool:
    """Whether the server says that a statement failed."""
    return bool(answer.status == ExecStatus.FATAL_ERROR)


def _exchanged(line: Any, answers: list[Any], expected: int) -> Generator[Any, Any, None]:
    """Send what was written, and take the answers as they come."""
    yield from send(line)
    while len(answers) < expected:
        come = yield from fetch_many(line)
        if not come:
            raise psycopg.OperationalError(LOST)
        answers += come


@lru_cache(maxsize=1024)
def _numbered(text: str) -> tuple[bytes, tuple[str, ...]]:
    """A statement with numbers in the places of its values, and the names of these in the order of the numbers."""
    names: dict[str, str] = {}

    def place(found: re.Match[str]) -> str:
        return "%" if found[1] is None else names.setdefault(found[1], f"${len(names) + 1}")

    return PLACE.sub(place, text).encode(), tuple(names)


@lru_cache(maxsize=512)
def _row_of(names: tuple[bytes, ...]) -> Any:
    """What makes a row of these columns: a named tuple that is also read as a mapping."""
    columns = tuple([name.decode() for name in names])

    class _Row(namedtuple("_Row", columns, rename=True)):  # type: ignore[misc]
        __slots__ = ()

        @property
        def _mapping(self) -> dict[str, Any]:
            return dict(zip(columns, self, strict=True))

    return partial(tuple.__new__, _Row)
