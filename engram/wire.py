"""The wire: several statements go in one message, with their values beside them, and are answered together."""

from __future__ import annotations

import hashlib
import re
import time
from collections import namedtuple
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.generators import fetch_many, send
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus, Format

Said = tuple[str, Mapping[str, Any] | None]
"""A statement and its values by their names; without them its text is sent as it is."""

_Key = tuple[bytes, tuple[int, ...] | None]
"""A statement as the server reads it, and the types of its values."""
_Written = tuple[_Key, Any, Any, type[str] | None]
"""That, its values with their formats, and whether it is kept: as `Kept`, or as `Keyed`."""


class Fixed(dict[str, Any]):
    """Values that never change, and are of one statement, as what begins a transaction has: a wire writes them once."""

    __slots__ = ()
    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__


class Kept(str):
    """A statement that a session keeps once it was read, since it only calls functions: no plan of it knows a value."""

    __slots__ = ()


class Unplanned(Kept):
    """One that is kept though it names tables, since it finds rows by their keys: a plan for no values serves all."""

    __slots__ = ()


class Keyed(Unplanned):
    """One whose plan for no values depends on the tables: while they are small, any index is as good for any key.

    So it is planned anew when it was used as often again, and from time to time.
    """

    __slots__ = ()


@dataclass(slots=True)
class _Kept:
    """How often a kept statement was sent, how often before it was planned last, and when that was."""

    times: int
    before: int
    since: float

    @property
    def is_stale(self) -> bool:
        """Whether the tables may have grown so much that another plan is better."""
        used = self.times - self.before
        return used >= min(self.before, MOST_USES) or time.monotonic() - self.since >= MOST_SECONDS


_Fresh = dict[int, tuple[_Key, bool]]
"""The statements that a message keeps, by their places, and whether each was kept before and is planned anew."""


WHO: Final[Said] = "SELECT pg_catalog.pg_backend_pid()::text", None
ASKED: Final = 1  # its place in the first message: BEGIN may be told of a moment only where nothing was asked before
MOST_KEPT: Final = 128  # statements of a connection
LONG: Final = 8_000  # bytes of a statement that was composed: its plan takes megabytes of a session's memory,
MOST_LONG: Final = 32  # so that fewer of them are kept, and leave room for those that are short
MOST_USES: Final = 100  # of a plan for no values, which costs as much as some uses of it save
MOST_SECONDS: Final = 10.0
MOST_FIXED: Final = 256  # values of a connection that are written once
# A kept statement is no more, is another now, calls what is no more, or was there before: somebody else was here too.
FORGOTTEN: Final = frozenset({b"26000", b"0A000", b"42883", b"42P05"})
OF_THE_LINE: Final = b"08"  # the class of SQLSTATEs of lost connections
UNASKED: Final = (b"server_login_retry", b"query_wait_timeout")  # in what PgBouncer says where it has asked no server
PLACE: Final = re.compile(r"%(?:\((\w+)\)s|%)")
LOST: Final = "the connection was lost"


class Wire:
    """A connection of the driver, to which several statements are said in one message.

    The driver's cursors wait for the answer to each statement, and look every one up again. Its adapters write the
    values and read the answers here too, as those of no connection: what a transaction says of its time zone is told to
    a connection after the answers only, and every transaction has UTC.

    A statement that is `Kept` is read by the server once, where nobody stands between: behind a pooler the process that
    answers is not the one that the connection was told of when it was made. Where one conceals that, the first kept
    statement that is not there ends the keeping, and its transaction is tried again.
    """

    def __init__(self, connection: Any, wait: Callable[[Generator[Any, Any, None]], None]) -> None:
        self.connection = connection
        self._wait = wait
        self._values = Transformer(connection.adapters)
        self._is_straight: bool | None = None  # nobody knows before the first message
        self._kept: dict[_Key, _Kept] = {}
        self._fixed: dict[Fixed, _Written] = {}
        self._owed: tuple[int, _Fresh] | None = None  # of what was said behind the last message

    def say(self, statements: Sequence[Said], *, binary: bool = False, behind: Sequence[Said] = ()) -> list[Any]:
        """The answers to statements, which run one after the other until one fails: its answer is the last.

        With `binary` they come as the server keeps them, and not as text. What is said `behind` them runs in the same
        message where none failed, and nobody waits for it: `rest` has its answers, and nothing is said before.
        """
        met = self._is_straight is not None
        # A value that cannot be sent fails here: nothing was.
        written = [
            self._written(*one) for one in (statements if met else [*statements[:ASKED], WHO, *statements[ASKED:]])
        ]
        after = [self._written(*one) for one in behind]
        line = self.connection.pgconn
        if line.status == ConnStatus.BAD:
            raise psycopg.OperationalError(LOST)
        answers: list[Any] = []
        try:
            line.enter_pipeline_mode()
            fresh = self._send(written, Format.BINARY if binary else Format.TEXT)
            if after:
                line.send_flush_request()
                self._owed = len(after), self._send(after, Format.TEXT, [key for key, _ in fresh.values()])
            line.pipeline_sync()
            self._wait(_exchanged(line, answers, len(written) + _steps(fresh) + (not after)))
            if not after:
                line.exit_pipeline_mode()  # cannot be where the server died after its last answer
        except psycopg.Error:
            line.finish()
            if not any(map(is_failure, answers)):
                raise
        except BaseException:
            line.finish()
            raise
        told = _told(self._noted(answers, fresh, len(written)))
        if not met and len(told) > ASKED and not is_failure(told[ASKED]):
            self._is_straight = int(told.pop(ASKED).get_value(0, 0)) == line.backend_pid
        return told

    def rest(self) -> list[Any]:
        """The answers to what was said behind the last message."""
        if self._owed is None:
            return []
        (said, fresh), self._owed = self._owed, None
        line = self.connection.pgconn
        if line.status == ConnStatus.BAD:
            raise psycopg.OperationalError(LOST)
        answers: list[Any] = []
        try:
            self._wait(_exchanged(line, answers, said + _steps(fresh) + 1))
            line.exit_pipeline_mode()
        except BaseException:
            line.finish()
            raise
        return _told(self._noted(answers, fresh, said))

    def _send(self, written: Sequence[_Written], told: Format, said: Collection[_Key] = ()) -> _Fresh:
        """Say statements; those that are kept from now on, by their places, beside those `said` in this message."""
        line = self.connection.pgconn
        fresh: _Fresh = {}
        new = list(said)
        for place, (key, values, formats, kind) in enumerate(written):
            known = self._kept.get(key)
            there = kind is not None and (known is not None or key in new)
            if known is not None and key not in new and kind is Keyed and known.is_stale:
                line.send_query_params(b"DEALLOCATE " + _name_of(key), None)
                line.send_prepare(_name_of(key), *key)
                fresh[place] = key, True
                new.append(key)
            elif kind is not None and not there and self._is_straight and _has_room(key, [*self._kept, *new]):
                line.send_prepare(_name_of(key), *key)
                fresh[place], there = (key, False), True
                new.append(key)
            if known is not None:
                known.times += 1
            if there:
                line.send_query_prepared(_name_of(key), values, formats, told)
            else:
                line.send_query_params(key[0], values, key[1], formats, told)
        return fresh

    def _noted(self, answers: Sequence[Any], fresh: _Fresh, said: int) -> list[Any]:
        """The answers to statements, without those that only say that one is kept; what is kept now is noted."""
        rest, found = iter(answers), []
        for place in range(said):
            answer = next(rest, None)
            if place in fresh:
                key, again = fresh[place]
                if again and _is_done(answer):
                    answer, times = next(rest, None), self._kept.pop(key).times
                else:
                    times = 1
                if _is_done(answer) and key not in self._kept:
                    answer, self._kept[key] = next(rest, None), _Kept(times, times, time.monotonic())
            if answer is None:
                break
            found.append(answer)
            if is_failure(answer) and answer.error_field(DiagnosticField.SQLSTATE) in FORGOTTEN:
                self._is_straight = False
                self._kept.clear()
        return found

    def rows(self, answer: Any) -> list[Any]:
        """The rows of an answer, as named tuples."""
        names = tuple([answer.fname(place) for place in range(answer.nfields)])
        self._values.set_pgresult(answer)
        try:
            return self._values.load_rows(0, answer.ntuples, _row_of(names))
        finally:
            self._values.set_pgresult(None)

    def _written(self, text: str, values: Mapping[str, Any] | None) -> _Written:
        if values is None:
            return (text.encode(), None), None, None, None
        if not isinstance(values, Fixed):
            return self._dumped(text, values)
        if values not in self._fixed:
            if len(self._fixed) >= MOST_FIXED:
                self._fixed.clear()
            self._fixed[values] = self._dumped(text, values)
        return self._fixed[values]

    def _dumped(self, text: str, values: Mapping[str, Any]) -> _Written:
        said, names = _numbered(text)
        given = self._values.dump_sequence([values[name] for name in names], [PyFormat.AUTO] * len(names))
        return (said, self._values.types), given, self._values.formats, type(text) if isinstance(text, Kept) else None


@lru_cache(maxsize=1024)
def _name_of(key: _Key) -> bytes:
    """The name of a kept statement: in whatever session it is found, it is this one."""
    return b"engram_" + hashlib.sha256(repr(key).encode()).hexdigest()[:32].encode()


def is_failure(answer: Any) -> bool:
    """Whether the server says that a statement failed."""
    return bool(answer.status == ExecStatus.FATAL_ERROR)


def _loss(failure: Any) -> psycopg.Error | None:
    """The error of a failure that is the client library's or a pooler's own: it tells of the line, and of no statement.

    What the server did of all that it was sent, COMMIT too, nobody knows then. Its own failure ends what it does.
    """
    state = failure.error_field(DiagnosticField.SQLSTATE)
    if state is None:
        return psycopg.OperationalError(LOST)
    said = failure.error_field(DiagnosticField.MESSAGE_PRIMARY) or b""
    if not state.startswith(OF_THE_LINE) or any(words in said for words in UNASKED):
        return None
    return psycopg.errors.error_from_result(failure)


def _is_done(answer: Any) -> bool:
    """Whether there is an answer, and it says that something was done which gives no rows."""
    return answer is not None and bool(answer.status == ExecStatus.COMMAND_OK)


def _steps(fresh: _Fresh) -> int:
    """How many answers there are to what keeps statements, beside their own."""
    return sum(1 + again for _, again in fresh.values())


def _has_room(key: _Key, kept: Sequence[_Key]) -> bool:
    """Whether a statement may be kept beside others."""
    longs = len(key[0]) >= LONG and sum(len(text) >= LONG for text, _ in kept)
    return len(kept) < MOST_KEPT and longs < MOST_LONG


def _told(answers: list[Any]) -> list[Any]:
    """The answers down to the first failure: nothing runs behind it."""
    failed = next((place for place, one in enumerate(answers) if is_failure(one)), len(answers) - 1)
    return answers[: failed + 1]


def _sent(line: Any) -> Generator[Any, Any, None]:
    """Send what was written; the driver, which goes on once it has cancelled the query, says nothing of the line."""
    sending = send(line)
    with suppress(StopIteration):
        wanted = next(sending)
        while True:
            wanted = sending.send((yield wanted) or 0)


def _exchanged(line: Any, answers: list[Any], expected: int) -> Generator[Any, Any, None]:
    """Send what was written, and take the answers as they come."""
    yield from _sent(line)
    while len(answers) < expected:
        come = yield from fetch_many(line)
        if not come:
            raise psycopg.OperationalError(LOST)
        for one in come:
            if is_failure(one) and (lost := _loss(one)) is not None:
                raise lost
            answers.append(one)


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
