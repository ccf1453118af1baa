"""Steps: what an operation asks its door to wait for.

An operation is a generator. It yields a step, the door carries it out, blocking or awaiting, and sends the result back.
So every public call has one body, and the two doors differ only in how they wait. No model is ever called inside a
transaction: both are steps, and a door does one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from engram.errors import EngramError, ModelRejected

if TYPE_CHECKING:
    from engram.database import Connection
    from engram.jobs import Job

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Transact:
    """Run `work` in one transaction of a tenant; with a key it may be run again after a lost connection.

    With `snapshot` all its statements see the database as it was at the first of them; with `any_schema` the schema may
    be of another revision than this library's. `patience` is for how many seconds it is tried again, None for as long
    as any call's.
    """

    tenant_id: str
    work: Callable[[Connection], Any]
    key: str | None = None
    read_only: bool = False
    snapshot: bool = False
    any_schema: bool = False
    patience: float | None = None


@dataclass(frozen=True, slots=True)
class Think:
    """Call a model or another server, never while a transaction is open; leases of `jobs` are kept alive meanwhile."""

    work: Callable[[], Any]
    jobs: Sequence[Job] = ()


@dataclass(frozen=True, slots=True)
class Ring:
    """Ring the doorbell, after a commit: a tenant has jobs. Best effort; the rows are there whoever hears it."""

    tenant_id: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Together:
    """Carry out several operations at the same time; each gives its result, or the error of ours that ended it."""

    operations: Sequence[Operation[Any]]


Step = Transact | Think | Ring | Pause | Together
Operation = Generator[Step, Any, T]


def read(tenant_id: str, work: Callable[[Connection], T]) -> Operation[T]:
    """A read-only transaction; safe to repeat."""
    result: T = yield Transact(tenant_id, work, read_only=True)
    return result


def read_snapshot(tenant_id: str, work: Callable[[Connection], T]) -> Operation[T]:
    """A read-only transaction whose statements all see the same moment; safe to repeat."""
    result: T = yield Transact(tenant_id, work, read_only=True, snapshot=True)
    return result


def inspect(
    tenant_id: str, work: Callable[[Connection], T], *, patience: float | None = None
) -> Operation[T]:  # fmt: skip
    """A read-only transaction on a schema of any revision, for whoever looks what it is; safe to repeat."""
    result: T = yield Transact(tenant_id, work, read_only=True, any_schema=True, patience=patience)
    return result


def write(tenant_id: str, work: Callable[[Connection], T], *, key: str | None) -> Operation[T]:
    """A writing transaction; with a key the work finds what an earlier try did, so that it may be repeated."""
    result: T = yield Transact(tenant_id, work, key=key)
    return result


def think(work: Callable[[], T], *jobs: Job | None) -> Operation[T]:
    """A call of a model or another server, for jobs or for a caller."""
    result: T = yield Think(work, [job for job in jobs if job is not None])
    return result


def ring(tenant_id: str) -> Operation[None]:
    """Word to the workers that a tenant has jobs."""
    yield Ring(tenant_id)


def pause(seconds: float) -> Operation[None]:
    """A rest."""
    yield Pause(seconds)


def together(operations: Sequence[Operation[T]]) -> Operation[list[T | EngramError]]:
    """The results of several operations, in their order, with the error in the place of one that failed."""
    results: list[T | EngramError] = yield Together(operations)
    return results


def carried_out(conn: Connection, operation: Operation[T]) -> T:
    """The result of an operation whose transactions are part of the caller's: a rehearsal, in which no model thinks."""
    said: Any = None
    failed: Exception | None = None
    try:
        while True:
            step = operation.send(said) if failed is None else operation.throw(failed)
            said, failed = None, None
            if isinstance(step, Think):
                failed = ModelRejected("no model is asked in a rehearsal", reason="rehearsal")
            elif isinstance(step, Transact):
                try:
                    with conn.begin_nested():
                        said = step.work(conn)
                except EngramError as error:
                    failed = error
            elif isinstance(step, Together):
                said = [carried_out(conn, one) for one in step.operations]
    except StopIteration as stop:
        result: T = stop.value
        return result


def undone(work: Callable[[Connection], T]) -> Callable[[Connection], T]:
    """The same work, taken back before it can be seen: what a dry run does."""

    def rehearsed(conn: Connection) -> T:
        with conn.begin_nested() as savepoint:
            result = work(conn)
            savepoint.rollback()
        return result

    return rehearsed
